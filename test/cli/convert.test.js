'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const zlib = require('node:zlib')
const {
  SharedTensor,
  dtypes,
  load,
  saveNpySync,
  saveSafetensorsSync,
  tensor,
  toNpyBytes,
  zeros,
} = require('samebytes')
const { convertFile } = require('../../js/cli/convert')
const { UsageError } = require('../../js/cli/arguments')
const { crc32, gguf, npyOf, zip } = require('../files')
const { isWasm, skipWithout } = require('../setup')
const { python, endAll } = require('../other-process')
const { clean, fresh } = require('../segments')
const { cli, folder } = require('./cli')

const VALUES = [1, 0, 1] // of any dtype
const NOT_NUMPY = ['bfloat16', 'float8_e4m3fn', 'float8_e5m2']
const GGUF_TYPES = {
  float32: 0,
  float16: 1,
  int8: 24,
  int16: 25,
  int32: 26,
  int64: 27,
  float64: 28,
  bfloat16: 30,
}
const TARGETS = ['.npy', '.npz', '.safetensors']
const SHARE = 4 // every fourth pair of dtypes with each format, every pair with some

const ones = (dtype) => tensor(VALUES).astype(dtype, { casting: 'unsafe' })
const INTEGERS = dtypes.filter((dtype) => /^u?int/.test(dtype))
const kindOf = (dtype) =>
  dtype === 'bool'
    ? 'bool'
    : dtype.startsWith('complex')
      ? 'complex'
      : /^u?int/.test(dtype)
        ? 'integer'
        : 'float'
const held = [] // segments
const bytesOf = (t) => Buffer.from(t.bytes.slice())

/** By format: writes a file with one tensor of the dtype. isRaw: the file does not say the dtype. null: the format lacks it. */
const SOURCES = {
  npy(at, dtype) {
    saveNpySync(at(`${dtype}.npy`), ones(dtype))
    return { from: at(`${dtype}.npy`), isRaw: NOT_NUMPY.includes(dtype) }
  },
  'npz, stored'(at, dtype) {
    fs.writeFileSync(at(`${dtype}.npz`), zip([['t.npy', Buffer.from(toNpyBytes(ones(dtype)))]]))
    return { from: at(`${dtype}.npz`), isRaw: NOT_NUMPY.includes(dtype) }
  },
  'npz, deflated'(at, dtype) {
    const bytes = Buffer.from(toNpyBytes(ones(dtype)))
    fs.writeFileSync(
      at(`${dtype}.npz`),
      zip([
        [
          't.npy',
          zlib.deflateRawSync(bytes),
          { method: 8, unpacked: bytes.length, crc: crc32(bytes) },
        ],
      ]),
    )
    return { from: at(`${dtype}.npz`), isRaw: NOT_NUMPY.includes(dtype) }
  },
  safetensors(at, dtype) {
    if (dtype === 'complex128') return null
    saveSafetensorsSync(at(`${dtype}.safetensors`), { t: ones(dtype) })
    return { from: at(`${dtype}.safetensors`), isRaw: false }
  },
  gguf(at, dtype) {
    if (!(dtype in GGUF_TYPES)) return null
    fs.writeFileSync(
      at(`${dtype}.gguf`),
      gguf([], [['t', [VALUES.length], GGUF_TYPES[dtype], 0]], bytesOf(ones(dtype))),
    )
    return { from: at(`${dtype}.gguf`), isRaw: false }
  },
  'raw bytes'(at, dtype) {
    fs.writeFileSync(at(`${dtype}.raw`), bytesOf(ones(dtype)))
    return { from: at(`${dtype}.raw`), isRaw: true }
  },
  'a segment'(at, dtype) {
    if (isWasm) return null
    const name = fresh()
    const segment = SharedTensor.create(name, [VALUES.length], { dtype })
    segment.tensor.copyFrom(ones(dtype))
    held.push(segment)
    return { from: name, isRaw: NOT_NUMPY.includes(dtype) }
  },
}

/** B's dtype, or why there is no B. */
function outcome(from, extension, dtype) {
  const to = dtype ?? from
  if (extension === '.safetensors' && to === 'complex128') {
    return { code: 'ERR_DTYPE', says: /\.safetensors does not have/ }
  }
  if (extension !== '.safetensors' && dtype === undefined && NOT_NUMPY.includes(from)) {
    return { code: undefined, says: /which NumPy does not have; --dtype float32 \(or float16\)/ }
  }
  if (from === to) return { to }
  const [a, b] = [kindOf(from), kindOf(to)]
  if (b === 'bool' || (a === 'complex' && b !== 'complex') || (a === 'float' && b === 'integer')) {
    return { code: 'ERR_CAST', says: new RegExp(`of ${from}, which is not converted to ${to}`) }
  }
  return { to }
}

describe('samebytes convert --dtype', function () {
  const at = folder()
  afterEach(endAll)
  after(() => {
    for (const segment of held.splice(0)) segment.dispose()
    clean()
  })

  for (const [turn, [format, write]] of Object.entries(SOURCES).entries()) {
    it(`is obeyed or refused for every dtype and target: ${format}`, async () => {
      let written = 0
      for (const [i, from] of dtypes.entries()) {
        const source = write(at, from)
        if (source === null) continue
        for (const extension of TARGETS) {
          for (const dtype of [
            undefined,
            ...dtypes.filter((_, k) => (i + k + turn) % SHARE === 0),
          ]) {
            const to = at(`b${extension}`)
            const about = `${format} of ${from} to ${extension}, --dtype ${dtype}`
            const { to: wanted, code, says } = outcome(from, extension, dtype)
            const converted = convertFile(source.from, to, {
              force: true,
              dtype,
              raw: source.isRaw ? from : undefined,
            })
            if (wanted === undefined) {
              const error = await converted.then(
                () => assert.fail(about),
                (error) => error,
              )
              if (code === undefined) {
                assert.ok(error instanceof UsageError, `${about}: ${error.stack}`)
              } else assert.equal(error.code, code, about)
              assert.match(error.message, says, about)
              continue
            }
            await converted
            const found = await load(
              to,
              NOT_NUMPY.includes(wanted) && extension.startsWith('.np') ? { dtype: wanted } : {},
            )
            const t = extension === '.npy' ? found : [...found][0][1]
            assert.deepEqual(
              [t.dtype, t.astype('complex128').toArray()],
              [wanted, VALUES.map((x) => [x, 0])],
              about,
            )
            written++
          }
        }
      }
      assert.ok(written > 50 || (isWasm && format === 'a segment'), String(written))
      assert.deepEqual(
        fs.readdirSync(at()).filter((name) => name.startsWith('.samebytes-')),
        [],
      )
    })
  }

  it('replaces a file by itself, and leaves nothing else', async () => {
    fs.mkdirSync(at('own'))
    saveNpySync(at('own', 'a.npy'), tensor([1, 2, 3]))
    const { code, stderr } = await cli(
      ['convert', 'a.npy', 'a.npy', '--force', '--dtype', 'float64'],
      { cwd: at('own') },
    )
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    const found = await load(at('own', 'a.npy'))
    assert.deepEqual([found.dtype, found.toArray()], ['float64', [1, 2, 3]])
    assert.deepEqual(fs.readdirSync(at('own')), ['a.npy'])
  })

  it('is obeyed for arrays in Fortran order, of other byte order, and of several tensors', async () => {
    const data = Buffer.from(Float32Array.of(1, 2, 3, 4).buffer)
    fs.writeFileSync(at('f.npy'), npyOf('<f4', '(2, 2)', data, 'True'))
    fs.writeFileSync(at('b.npy'), npyOf('>f4', '(4,)', Buffer.from(data).swap32()))
    for (const [from, wanted] of [
      [
        'f.npy',
        [
          [1, 3],
          [2, 4],
        ],
      ],
      ['b.npy', [1, 2, 3, 4]],
    ]) {
      for (const extension of TARGETS) {
        await convertFile(at(from), at(`c${extension}`), { force: true, dtype: 'float64' })
        const found = await load(at(`c${extension}`))
        const t = extension === '.npy' ? found : [...found][0][1]
        assert.deepEqual([t.dtype, t.toArray()], ['float64', wanted])
      }
    }
    saveSafetensorsSync(at('m.safetensors'), {
      w: tensor([0.5]),
      b: tensor([1, 2], 'bfloat16'),
      i: tensor([7n]),
    })
    await convertFile(at('m.safetensors'), at('m.npz'), { dtype: 'float64' })
    assert.deepEqual(
      [...(await load(at('m.npz')))].map(([name, t]) => [name, t.dtype, t.toArray()]).sort(),
      [
        ['b', 'float64', [1, 2]],
        ['i', 'float64', [7]],
        ['w', 'float64', [0.5]],
      ],
    )
  })

  it('refuses integers that do not fit, and a rest of raw bytes', async () => {
    saveNpySync(at('large.npy'), tensor([1, 300], 'int64'))
    fs.writeFileSync(at('odd.raw'), Buffer.alloc(7))
    for (const [from, options, code, says] of [
      ['large.npy', { dtype: 'uint8' }, 'ERR_BOUNDS', /has values of int64 that uint8 cannot hold/],
      [
        'odd.raw',
        { dtype: 'int16' },
        'ERR_FORMAT',
        /odd\.raw has 7 bytes, no multiple of the 2 of int16/,
      ],
      ['large.npy', { raw: 'int64' }, undefined, /--raw is int64; .*large\.npy has no raw bytes/],
    ]) {
      await assert.rejects(
        convertFile(at(from), at('none.npz'), options),
        (error) => error.code === code && says.test(error.message),
      )
      assert.ok(!fs.existsSync(at('none.npz')))
    }
    await convertFile(at('large.npy'), at('small.npy'), { dtype: 'int16' })
    assert.deepEqual((await load(at('small.npy'))).toArray(), [1, 300])
  })

  it('takes raw arrays of NumPy as what --raw says, or --dtype if NumPy lacks it', async () => {
    saveNpySync(at('half.npy'), tensor([1, 2], 'bfloat16'))
    await convertFile(at('half.npy'), at('half.safetensors'), { dtype: 'bfloat16' })
    assert.deepEqual([(await load(at('half.safetensors'))).get('half').dtype], ['bfloat16'])
    await convertFile(at('half.npy'), at('single.npy'), { raw: 'bfloat16', dtype: 'float32' })
    assert.deepEqual((await load(at('single.npy'))).toArray(), [1, 2])
    for (const dtype of ['float16', 'float32', 'int16', undefined]) {
      // their bits would be read as another dtype's
      await assert.rejects(
        convertFile(at('half.npy'), at('none.npz'), { dtype }),
        (error) =>
          error instanceof UsageError &&
          /half\.npy is of 2 raw bytes an element .* --raw says what they are/.test(error.message),
      )
    }
  })

  it('says on the command line what is refused, and what it wrote in raw bytes', async () => {
    saveSafetensorsSync(at('h.safetensors'), { w: tensor([1, 2], 'bfloat16') })
    const run = (...args) => cli(['convert', ...args], { cwd: at() })
    const refused = await run('h.safetensors', 'h.npz')
    assert.deepEqual([refused.code, refused.stdout, fs.existsSync(at('h.npz'))], [2, '', false])
    assert.match(
      refused.stderr,
      /^samebytes convert: "w" is of bfloat16, which NumPy does not have; --dtype float32 \(or float16\) converts it, --dtype bfloat16 writes raw bytes that NumPy cannot compute with\n/,
    )
    const cast = await run('h.safetensors', 'h.npz', '--dtype', 'int8')
    assert.deepEqual([cast.code, cast.stdout], [1, ''])
    assert.match(
      cast.stderr,
      /^samebytes convert: "w" is of bfloat16, which is not converted to int8: it would lose fractions \(ERR_CAST\)\n$/,
    )
    const raw = await run('h.safetensors', 'h.npz', '--dtype', 'bfloat16')
    assert.deepEqual(
      [raw.code, raw.stderr],
      [
        0,
        'samebytes convert: h.npz has raw bytes, because NumPy has no bfloat16: reading them takes the dtype again\n',
      ],
    )
    const { code, stderr } = await run('h.safetensors:w', 'w.npy', '--dtype', 'float16')
    assert.deepEqual([code, stderr], [0, ''])
  })

  it('writes what NumPy reads, dtype by dtype', async function () {
    skipWithout(this, 'NumPy')
    const other = python()
    saveSafetensorsSync(at('n.safetensors'), {
      a: ones('bfloat16'),
      b: ones('float32').reshape(3, 1),
      c: zeros([0, 2], 'float8_e5m2'),
    })
    for (const dtype of dtypes.filter(
      (each) => !NOT_NUMPY.includes(each) && !['bool', ...INTEGERS].includes(each),
    )) {
      await convertFile(at('n.safetensors'), at('n.npz'), { force: true, dtype })
      await convertFile(at('n.safetensors:a'), at('n.npy'), { force: true, dtype })
      const found = await other.run(`import numpy
z = numpy.load(${JSON.stringify(at('n.npz'))})
arrays = [z['a'], z['b'], z['c'], numpy.load(${JSON.stringify(at('n.npy'))})]
result = [[str(a.dtype), list(a.shape), a.astype('complex128').real.ravel().tolist(), float(abs(a).sum())] for a in arrays]`)
      assert.deepEqual(
        found,
        [
          [dtype, [3], VALUES, 2],
          [dtype, [3, 1], VALUES, 2],
          [dtype, [0, 2], [], 0],
          [dtype, [3], VALUES, 2],
        ],
        dtype,
      )
    }
    for (const dtype of INTEGERS) {
      saveSafetensorsSync(at('n.safetensors'), { a: ones(dtype) })
      await convertFile(at('n.safetensors'), at('n.npz'), { force: true })
      assert.deepEqual(
        await other.run(
          `import numpy; a = numpy.load(${JSON.stringify(at('n.npz'))})['a']; result = [str(a.dtype), a.tolist()]`,
        ),
        [dtype, VALUES],
      )
    }
  })
})
