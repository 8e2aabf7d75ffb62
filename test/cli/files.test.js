'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const {
  arange,
  load,
  ones,
  openNpz,
  saveNpzSync,
  saveNpySync,
  saveSafetensorsSync,
  tensor,
  zeros,
} = require('samebytes')
const { gguf, floats, npyOf, u32, text, zip } = require('../files')
const { can, isWasm, skipWithout } = require('../setup')
const { PYTHON } = require('../tools')
const { cli, folder } = require('./cli')

describe('samebytes info, show and convert', function () {
  const at = folder()
  const run = (...args) => cli(args, { cwd: at() })
  /** What a command prints, which must succeed. */
  const out = async (...args) => {
    const { code, stdout, stderr } = await run(...args)
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, stdout)
    return stdout
  }
  const json = async (...args) => JSON.parse(await out(...args, '--json'))

  before(() => {
    saveNpySync(at('a.npy'), arange(0, 24).reshape(2, 3, 4))
    saveNpzSync(at('b.npz'), { x: ones([3]), 'y:z': tensor([[1n, 2n ** 60n]]) })
    saveSafetensorsSync(
      at('m.safetensors'),
      { 'layer.0.weight': zeros([16, 16]), bias: ones([3], { dtype: 'bfloat16' }) },
      { metadata: { format: 'pt' } },
    )
    fs.writeFileSync(
      at('g.gguf'),
      gguf(
        [
          ['general.name', 8, text('tiny')],
          ['n', 4, u32(7)],
        ],
        [
          ['w', [3], 0, 0],
          ['q', [32], 2, 32],
        ],
        Buffer.concat([floats(1, 2, 3), Buffer.alloc(20), Buffer.alloc(18, 1)]),
      ),
    )
    fs.writeFileSync(at('samples.raw'), Buffer.from(Int16Array.from([1, -2, 3, 4]).buffer))
  })

  it('says what a file has', async () => {
    const { tensors, ...file } = await json('info', 'm.safetensors')
    assert.deepEqual(file, {
      file: 'm.safetensors',
      format: 'safetensors',
      nbytes: fs.statSync(at('m.safetensors')).size,
      metadata: { format: 'pt' },
    })
    assert.deepEqual(
      tensors.map(({ name, dtype, shape, nbytes }) => [name, dtype, shape, nbytes]),
      [
        ['layer.0.weight', 'float32', [16, 16], 1024],
        ['bias', 'bfloat16', [3], 6],
      ],
    )
    const bytes = fs.readFileSync(at('m.safetensors'))
    for (const { byteOffset, alignment, nbytes } of tensors) {
      assert.equal(byteOffset % alignment, 0)
      assert.ok(byteOffset + nbytes <= bytes.length)
    }
    const table = await out('info', 'm.safetensors')
    assert.match(
      table,
      /^m\.safetensors {2}safetensors, 1\.\d\d KiB, 2 tensors\n {2}format: pt\n\nname +dtype +shape +offset +alignment +size\nlayer\.0\.weight {2}float32 +\[16, 16\] +\d+ +64 +1\.00 KiB\nbias +bfloat16 +\[3\] +\d+ +\d+ +6 B\n$/,
    )
  })

  it('says where arrays in an .npz are: in the file', async () => {
    const { tensors } = await json('info', 'b.npz')
    const bytes = fs.readFileSync(at('b.npz'))
    assert.deepEqual(
      tensors.map(({ name, dtype }) => [name, dtype]),
      [
        ['x', 'float32'],
        ['y:z', 'int64'],
      ],
    )
    assert.deepEqual(
      new Float32Array(bytes.buffer.slice(bytes.byteOffset + tensors[0].byteOffset).slice(0, 12)),
      Float32Array.of(1, 1, 1),
    )
    assert.equal(bytes.readBigInt64LE(tensors[1].byteOffset + 8), 2n ** 60n)
  })

  it('names arrays in an .npz that are none of ours, and says where the others are', async () => {
    fs.writeFileSync(
      at('mixed.npz'),
      zip([
        ['objects.npy', npyOf('|O', '(1,)', Buffer.alloc(8))],
        ['a.npy', npyOf('<f4', '(2,)', Buffer.alloc(8))],
      ]),
    )
    const { code, stdout, stderr } = await run('info', 'mixed.npz', '--json')
    assert.deepEqual([code, JSON.parse(stdout).tensors.map(({ name }) => name)], [1, ['a']])
    assert.match(
      stderr,
      /^samebytes info: mixed\.npz: "objects": byte \d+: descr names a dtype .*\(ERR_FORMAT\)\n$/,
    )
  })

  it('says of a quantised tensor what it is', async () => {
    const { metadata, tensors } = await json('info', 'g.gguf')
    assert.deepEqual(metadata, { 'general.name': 'tiny', n: 7 })
    assert.deepEqual(
      tensors.map(({ name, dtype, type, fileShape = null, shape }) => [
        name,
        dtype,
        type,
        fileShape,
        shape,
      ]),
      [
        ['w', 'float32', 'F32', null, [3]],
        ['q', 'uint8', 'Q4_0', [32], [18]],
      ],
    )
    assert.match(await out('info', 'g.gguf'), /^q +Q4_0 +\[32\]/m)
    assert.match(
      await out('show', 'g.gguf:q', '0'),
      /^q {2}uint8 \[\]; bytes of Q4_0 \[32\]\ntensor\(1, dtype=uint8\)\n$/,
    )
  })

  it('goes by the content, not by the name', async () => {
    fs.copyFileSync(at('a.npy'), at('a.bin'))
    assert.equal((await json('info', 'a.bin')).format, 'npy')
    assert.match(
      await out('info', 'samples.raw'),
      /raw, 8 B, raw bytes; --dtype says what they are/,
    )
    assert.deepEqual((await json('info', 'samples.raw', '--dtype', 'int16')).tensors[0].shape, [4])
    const several = await json('info', 'a.npy', 'b.npz')
    assert.deepEqual(
      several.map(({ format }) => format),
      ['npy', 'npz'],
    )
  })

  it('shows tensors as the library prints them', async () => {
    assert.equal(await out('show', 'a.npy', '0'), `int32 [3, 4]\n${arange(0, 12).reshape(3, 4)}\n`)
    const t = arange(0, 24).reshape(2, 3, 4)
    const slices = [
      ['0,1'],
      ['...,-1'],
      ['[0, ::2, 1:3]'],
      ['-1', '::-1'],
      ['null', '1'],
      [':', '-2:'],
    ]
    for (const args of slices) {
      const specs = args
        .flatMap((arg) => arg.replace(/[[\] ]/g, '').split(','))
        .map((spec) => (spec === 'null' ? null : /^-?\d+$/.test(spec) ? Number(spec) : spec))
      const { dtype, shape, values } = await json('show', 'a.npy', ...args)
      const wanted = t.slice(...specs)
      assert.deepEqual(
        { dtype, shape, values },
        { dtype: 'int32', shape: [...wanted.shape], values: wanted.toArray() },
        String(args),
      )
    }
    assert.deepEqual(
      (await json('show', 'samples.raw', '--dtype', 'int16', '-3:')).values,
      [-2, 3, 4],
    )
    assert.deepEqual((await json('show', 'b.npz:y:z')).values, [['1', String(2n ** 60n)]])
    const all = await json('show', 'b.npz')
    assert.deepEqual(
      all.map(({ name }) => name),
      ['x', 'y:z'],
    )
    saveNpySync(at('odd.npy'), tensor([NaN, Infinity, -Infinity]))
    assert.deepEqual((await json('show', 'odd.npy')).values, ['NaN', 'Infinity', '-Infinity'])
  })

  it('shows all of a small file, and of a larger one a table that says how to see more', async () => {
    saveNpzSync(at('small.npz'), { x: ones([500]), y: ones([500]) })
    assert.match(
      await out('show', 'small.npz'),
      /^x {2}float32 \[500\]\ntensor\(\[1\., [^]*\ny {2}float32 \[500\]\ntensor\(/,
    )
    const many = Object.fromEntries(
      Array.from({ length: 400 }, (_, i) => [`layers.${i}`, ones([2])]),
    )
    saveSafetensorsSync(at('many.safetensors'), many, { metadata: { format: 'pt' } })
    const rows = (await out('show', 'many.safetensors')).trimEnd().split('\n')
    assert.match(rows[0], /^many\.safetensors {2}safetensors, \d+\.\d KiB, 400 tensors$/)
    assert.match(rows[2], /^name +dtype +shape +size$/)
    assert.equal(rows.filter((row) => /^layers\.\d+ +float32 +\[2\] +8 B$/.test(row)).length, 20)
    assert.deepEqual(
      [rows.length, rows.at(-1)],
      [
        25,
        'and 380 more; samebytes info many.safetensors lists all. samebytes show many.safetensors:NAME prints one, --all prints every one',
      ],
    )
    assert.equal(
      (await out('show', 'many.safetensors', '--all')).match(
        /^layers\.\d+ {2}float32 \[2\]\ntensor\(\[1\., 1\.\]\)$/gm,
      ).length,
      400,
    )
    assert.equal((await json('show', 'many.safetensors')).length, 400)
    assert.equal(
      await out('show', 'many.safetensors:layers.7'),
      'layers.7  float32 [2]\ntensor([1., 1.])\n',
    )
    saveNpzSync(at('large.npz'), { x: ones([3]), y: ones([999]), raw: ones([2], 'bfloat16') })
    const shown = await out('show', 'large.npz') // none of it is read, so nobody has to say what the raw bytes are
    assert.match(
      shown,
      /^large\.npz {2}npz, [^\n]* 3 tensors\n\nname +dtype +shape +size\nx +float32 +\[3\] +12 B\ny +float32 +\[999\] +3\.90 KiB\nraw +raw <V2 +\[2\] +4 B\n\nsamebytes show large\.npz:NAME prints one, --all prints every one\n$/,
    )
  })

  it('shows the edges of a large tensor, and no more than 60 lines of any', async () => {
    saveNpySync(at('large.npy'), zeros([40, 40, 40, 40]))
    const lines = (await out('show', 'large.npy')).trimEnd().split('\n')
    assert.equal(
      lines[0],
      'float32 [40, 40, 40, 40]; 9.77 MiB, of which the edges are shown: a slice shows a part',
    )
    assert.deepEqual(
      [lines.length, lines.at(-1)],
      [62, '... 247 more lines: a slice shows a part, --all prints them'],
    )
    assert.equal((await out('show', 'large.npy', '--all')).trimEnd().split('\n').length, 308)
    assert.equal(await out('show', 'large.npy', '0,0,0,:2'), 'float32 [2]\ntensor([0., 0.])\n')
    saveNpySync(at('tall.npy'), zeros([100, 1]))
    assert.deepEqual((await out('show', 'tall.npy')).trimEnd().split('\n').slice(-2), [
      '        [0.],',
      '... 40 more lines: a slice shows a part, --all prints them',
    ])
  })

  it('refuses a dtype for a file that has its own', async () => {
    for (const file of ['m.safetensors', 'g.gguf']) {
      const { code, stdout, stderr } = await run('show', file, '--dtype', 'int16')
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(
        stderr,
        /--dtype says what raw bytes are; \S+ is a \.(safetensors|gguf) file and has dtypes\n/,
      )
    }
  })

  it('finds a file whose name has a colon before the tensor of another', async () => {
    fs.copyFileSync(at('a.npy'), at('b.npz:x'))
    assert.deepEqual((await json('show', 'b.npz:x', '0,0')).values, [0, 1, 2, 3])
    fs.unlinkSync(at('b.npz:x'))
    assert.deepEqual((await json('show', 'b.npz:x')).values, [1, 1, 1])
  })

  it('says of raw bytes in arrays of NumPy that they are, and asks what they are', async () => {
    saveNpySync(at('half.npy'), tensor([1, 2], 'bfloat16'))
    saveNpzSync(at('mixed.npz'), {
      w: tensor([[1, 2]], 'bfloat16'),
      e: tensor([1], 'float8_e5m2'),
      b: ones([3]),
    })
    assert.match(await out('info', 'half.npy'), /^raw <V2 +\[2\] +128 +128 +4 B\n\nraw: .*--dtype/m)
    assert.deepEqual(
      (await json('info', 'mixed.npz')).tensors.map(({ name, dtype, type, shape }) => [
        name,
        dtype,
        type,
        shape,
      ]),
      [
        ['w', null, '<V2', [1, 2]],
        ['e', null, '|V1', [1]],
        ['b', 'float32', '<f4', [3]],
      ],
    )
    assert.deepEqual(
      (await json('info', 'half.npy', '--dtype', 'bfloat16')).tensors.map(({ dtype, shape }) => [
        dtype,
        shape,
      ]),
      [['bfloat16', [2]]],
    )
    assert.deepEqual((await json('show', 'half.npy', '--dtype', 'bfloat16')).values, [1, 2])
    assert.deepEqual((await json('show', 'mixed.npz:b')).values, [1, 1, 1])
    for (const [args, name] of [
      [['show', 'half.npy'], 'half.npy'],
      [['show', 'mixed.npz:w'], '"w"'],
      [['convert', 'mixed.npz', 'other.safetensors'], '"w"'],
      [['convert', 'mixed.npz:e', 'other.npy'], '"e"'],
    ]) {
      const { code, stdout, stderr } = await run(...args)
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' })
      assert.ok(
        stderr.startsWith(`samebytes ${args[0]}: ${name} is of `) &&
          stderr.includes(`; ${args[0] === 'convert' ? '--raw' : '--dtype'} says what they are\n`),
        stderr,
      )
    }
  })

  it('says of several files which one cannot be read, and shows the others', async () => {
    fs.writeFileSync(at('cut.npy'), '\x93NUMPY')
    const { code, stdout, stderr } = await run('info', 'a.npy', 'cut.npy', 'nothing.npy', 'b.npz')
    assert.equal(code, 1)
    assert.match(stdout, /^a\.npy {2}npy[^]*^b\.npz {2}npz/m)
    assert.match(
      stderr,
      /^samebytes info: cut\.npy: byte 0: [^\n]+ \(ERR_FORMAT\)\nsamebytes info: nothing\.npy: [^\n]+ \(ERR_NOT_FOUND\)\n$/,
    )
    const told = await run('info', '--json', 'cut.npy', 'a.npy')
    assert.deepEqual([told.code, JSON.parse(told.stdout).map(({ file }) => file)], [1, ['a.npy']])
    for (const command of [['info'], ['show'], ['convert']]) {
      const { stderr } = await run(
        ...command,
        'cut.npy',
        ...(command[0] === 'convert' ? ['whole.npy'] : []),
      )
      assert.match(stderr, /^samebytes \w+: cut\.npy: byte 0: /)
    }
  })

  it('names what is not there', async () => {
    const rows = [
      [
        ['info', 'nothing.npy'],
        /^samebytes info: nothing\.npy: there is no such file, and no shared segment of that name \(ERR_NOT_FOUND\)\n$/,
      ],
      [['show', 'nothing.npy:x'], /there is no such file/],
      [
        ['show', 'm.safetensors:bais'],
        /^samebytes show: m\.safetensors has no tensor "bais"; did you mean bias\? \(ERR_NOT_FOUND\)\n$/,
      ],
      [['info', '.'], /^samebytes info: \. is no regular file \(ERR_IO\)\n$/],
      [
        ['show', 'm.safetensors:nothing'],
        /has no tensor "nothing"; it has \d+ tensors: "[^\n]*"(, \.\.\.)? \(ERR_NOT_FOUND\)\n$/,
      ],
      [['show', 'a.npy', '0', '0', '0', '0'], /\(ERR_(SHAPE|BOUNDS)\)\n$/],
      [['show', 'a.npy', '7'], /\(ERR_BOUNDS\)\n$/],
      [
        ['convert', 'a.npy', 'no/such/folder.npy'],
        /^samebytes convert: ENOENT: [^']*'no\/such\/folder\.npy' \(ERR_NOT_FOUND\)\n$/,
      ],
    ]
    for (const [args, pattern] of rows) {
      const { code, stdout, stderr } = await run(...args)
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' }, stderr)
      assert.match(stderr, pattern)
    }
    for (const args of [
      ['show', 'b.npz', '0'],
      ['show', 'samples.raw'],
      ['convert', 'b.npz', 'x.npy'],
      ['convert', 'b.npz', 'x.npz', '--name', 'y'],
      ['convert', 'samples.raw', 'x.npy'],
    ]) {
      const { code, stderr } = await run(...args)
      assert.equal(code, 2, `${args}: ${stderr}`)
    }
  })

  it('converts, and the values stay', async () => {
    assert.match(await out('convert', 'b.npz', 'b.safetensors'), /^b\.safetensors: 2 tensors, /)
    assert.deepEqual(await json('convert', 'b.safetensors', 'back.npz'), {
      from: 'b.safetensors',
      to: 'back.npz',
      tensors: 2,
      nbytes: fs.statSync(at('back.npz')).size,
    })
    const back = await load(at('back.npz'))
    assert.deepEqual(Object.fromEntries([...back].map(([name, t]) => [name, t.toArray()])), {
      x: [1, 1, 1],
      'y:z': [[1n, 2n ** 60n]],
    })
    await out('convert', 'b.npz:y:z', 'y.npy')
    assert.deepEqual((await load(at('y.npy'))).toArray(), [[1n, 2n ** 60n]])
    await out('convert', 'm.safetensors', 'copy.safetensors')
    assert.deepEqual((await json('info', 'copy.safetensors')).metadata, { format: 'pt' })
    await out('convert', 'a.npy', 'named.npz')
    await out('convert', 'a.npy', 'other.npz', '--name', 'q')
    assert.deepEqual(
      [
        (await json('info', 'named.npz')).tensors[0].name,
        (await json('info', 'other.npz')).tensors[0].name,
      ],
      ['named', 'q'],
    )
    await out('convert', 'samples.raw', 'samples.npy', '--dtype', 'int16')
    assert.deepEqual((await load(at('samples.npy'))).toArray(), [1, -2, 3, 4])
    await out('convert', 'g.gguf:w', 'w.npy')
    assert.deepEqual((await load(at('w.npy'))).toArray(), [1, 2, 3])
  })

  it('replaces nothing without --force, and leaves nothing behind', async () => {
    fs.writeFileSync(at('there.npz'), 'mine')
    const refused = await run('convert', 'b.npz', 'there.npz')
    assert.equal(refused.code, 1)
    assert.match(
      refused.stderr,
      /^samebytes convert: there\.npz is there; --force replaces it \(ERR_EXISTS\)\n$/,
    )
    assert.equal(fs.readFileSync(at('there.npz'), 'utf8'), 'mine')
    if (can('permissions of files')) {
      fs.symlinkSync('nowhere', at('link.npz')) // a name that is taken, too
      assert.equal((await run('convert', 'b.npz', 'link.npz')).code, 1)
    }
    await out('convert', 'b.npz', 'there.npz', '--force')
    assert.equal(openSize(at('there.npz')), 2)
    await out('convert', 'there.npz', 'there.npz', '--force') // over itself
    assert.equal(openSize(at('there.npz')), 2)
    const bad = await run('convert', 'g.gguf', 'g.safetensors')
    assert.equal(bad.code, 1)
    assert.match(bad.stderr, /"q" is of type Q4_0, .* \(ERR_UNSUPPORTED\)/)
    assert.ok(!fs.existsSync(at('g.safetensors')))
    assert.deepEqual(
      fs.readdirSync(at()).filter((name) => name.startsWith('.samebytes-')),
      [],
    )
  })

  function openSize(file) {
    if (isWasm) return require('samebytes').parseNpz(fs.readFileSync(file)).size
    const found = openNpz(file)
    const { size } = found
    found.close()
    return size
  }

  it('shows how far it is on a terminal, and only there', async function () {
    skipWithout(this, 'Python')
    const { PROGRAM } = require('./cli')
    const wrapped = [
      'import fcntl,os,pty,struct,sys,termios',
      'pid, fd = pty.fork()',
      'if pid == 0:',
      "  fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, int(sys.argv[1]), 0, 0))",
      '  os.execv(sys.argv[2], sys.argv[2:])',
      'while True:',
      '  try: part = os.read(fd, 65536)',
      '  except OSError: break',
      '  if not part: break',
      '  os.write(1, part)',
      'sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))',
    ].join('\n')
    const terminal = async (columns, ...args) => {
      const { code, stdout, stderr } = await cli(
        [String(columns), process.execPath, PROGRAM, ...args],
        { command: [PYTHON, '-c', wrapped], env: { TERM: 'xterm', NO_COLOR: '1' }, cwd: at() },
      )
      assert.equal(code, 0, stdout + stderr)
      return stdout
    }
    const shown = await terminal(120, 'convert', 'a.npy', 'terminal.npz')
    assert.match(shown, /\r\[={30}\] 100 % {2}\S+ \S+ of /)
    assert.match(shown, /terminal\.npz: 1 tensor/)
    // No line is wider than the terminal: it would be broken, and a part of the bar would stay behind each time.
    const bars = (await terminal(40, 'convert', 'a.npy', 'narrow.npz'))
      .split('\r')
      .filter((each) => each.startsWith('['))
    assert.ok(bars.length > 0)
    for (const bar of bars) {
      // eslint-disable-next-line no-control-regex
      assert.ok(bar.replace(/\x1b\[K.*/s, '').length < 40, JSON.stringify(bar))
    }
    assert.ok(
      (await terminal(48, 'help', 'show'))
        .split('\r\n')
        .filter((each) => !/^(Usage| {2}samebytes)/.test(each))
        .every(({ length }) => length <= 48),
    )
    // What comes with no width, or none worth the name, is as anywhere.
    assert.ok(
      (await terminal(0, '--help')).includes(
        'run a program, and show which of its tensors share memory',
      ),
    )
    assert.equal((await run('convert', 'a.npy', 'piped.npz')).stderr, '')
  })
})
