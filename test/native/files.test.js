'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { inspect } = require('node:util')
const zlib = require('node:zlib')
const { execFileSync } = require('node:child_process')
const samebytes = require('samebytes')
const {
  can,
  child,
  childJson,
  collectUntil,
  copied,
  errnoOf,
  fails,
  hex,
  isWasm,
  needs,
  quietMemory,
  refuses,
  settledMemory,
  skip,
  skipWithout,
} = require('../setup')
const { PYTHON, lackOf } = require('../tools')
const { inSmallFolder } = require('../other-process')
const { crc32, floats, npy, npyOf, safetensors, u16, u32, u64, zip } = require('../files')
const { budget } = require('../../js/backend/storage')
const { crc32: checksum } = require('../../js/files/crc32')
const {
  arange,
  createNpy,
  createSafetensors,
  load,
  memory,
  openGguf,
  openNpy,
  openNpz,
  openRaw,
  openSafetensors,
  save,
  saveNpy,
  saveNpySync,
  saveNpz,
  saveNpzSync,
  saveSafetensorsSync,
  setMemoryLimit,
  tensor,
  zeros,
  toNpyBytes,
} = samebytes

let folder
before(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-files-'))
})
after(() => {
  fs.rmSync(folder, { recursive: true, force: true })
})
const at = (name) => path.join(folder, name)
const put = (name, bytes) => {
  fs.writeFileSync(at(name), bytes)
  return at(name)
}
/** Files of the folder that are open. */
function openHere() {
  if (!can('/proc')) return 0
  return fs.readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder)
    } catch {
      return false // the one that lists them
    }
  }).length
}

/** What is there but under a name of its own. */
const drafts = () => fs.readdirSync(folder).filter((name) => name.endsWith('.tmp'))

/** Has the folder's file system files without a name? */
function hasUnnamed(place) {
  try {
    fs.closeSync(
      fs.openSync(place, 0o20000000 | fs.constants.O_DIRECTORY | fs.constants.O_RDWR, 0o600),
    ) // O_TMPFILE
    return true
  } catch {
    return false
  }
}

/** Nothing is mapped any more: what other tests left is collected first. */
const unmapped = () => collectUntil(() => memory().bytes.mapped === 0)

async function rejects(promise, code, pattern = /./) {
  const error = await promise.then(
    () => assert.fail('nothing was thrown'),
    (error) => error,
  )
  assert.equal(error.code, code, error.stack)
  assert.match(error.message, pattern)
  return error
}

describe('mapped files', () => {
  needs('the addon')

  it('a .npy: nothing is copied, its buffer is its own range, mapped bytes are counted until the last one is gone', async () => {
    const file = put(
      'a.npy',
      toNpyBytes(
        tensor([
          [1, 2],
          [3, 4],
        ]),
      ),
    )
    assert.ok(await unmapped())
    const { result: t, copies } = copied(() => openNpy(file))
    assert.deepEqual(
      [t.toArray(), copies, t.isReadOnly],
      [
        [
          [1, 2],
          [3, 4],
        ],
        {},
        true,
      ],
    )
    assert.equal(memory().bytes.mapped, 144)
    assert.equal(t.data.buffer.byteLength, 16)
    assert.equal(t.dataPtr % 64n, 0n)
    t.dispose()
    assert.ok(await unmapped())
  })

  it("mode 'r' refuses our writers, and what data writes stays private", () => {
    const file = put('r.npy', toNpyBytes(tensor([1, 2])))
    const t = openNpy(file)
    const said = `the tensor is read-only: ${JSON.stringify(file)} is mapped in mode 'r'; 'r+' writes to the file, 'c' to a private copy`
    for (const write of [
      () => t.set(5, 0),
      () => t.fill(1),
      () => t.slice('1:').copyFrom(0),
      () => t.accessor().set(1, 0),
    ]) {
      assert.throws(write, { code: 'ERR_READ_ONLY', message: said })
    }
    t.data[0] = 5
    assert.deepEqual(openNpy(file).toArray(), [1, 2])
  })

  it("mode 'r+' writes to the file, which others see, and sees what they write", () => {
    const file = put('rw.npy', toNpyBytes(tensor([1, 2])))
    const t = openNpy(file, { mode: 'r+' })
    t.set(5, 0)
    assert.equal(fs.readFileSync(file).readFloatLE(128), 5)
    const fd = fs.openSync(file, 'r+')
    fs.writeSync(fd, floats(7), 0, 4, 132)
    fs.closeSync(fd)
    assert.deepEqual(t.toArray(), [5, 7])
    assert.deepEqual(openNpy(file).toArray(), [5, 7])
  })

  it("mode 'c' writes to a copy of its own", () => {
    const file = put('c.npy', toNpyBytes(tensor([1, 2])))
    const t = openNpy(file, { mode: 'c' })
    t.set(5, 0)
    assert.deepEqual(
      [t.toArray(), openNpy(file).toArray()],
      [
        [5, 2],
        [1, 2],
      ],
    )
  })

  it('tensors of a file stay when it is closed and replaced; each has a buffer of its own', async () => {
    const file = at('w.safetensors')
    saveSafetensorsSync(
      file,
      { a: arange(16), b: tensor([1, 2]), c: zeros([0]) },
      { metadata: { by: 'us' } },
    )
    assert.ok(await unmapped())
    const weights = openSafetensors(file)
    assert.deepEqual([weights.size, weights.metadata], [3, { by: 'us' }])
    const [a, b, c] = [weights.get('a'), weights.get('b'), weights.get('c')]
    weights.close()
    refuses(() => weights.get('a'), 'ERR_DISPOSED')
    saveSafetensorsSync(file, { a: zeros([16]) })
    assert.deepEqual([a.toArray(), b.toArray(), c.shape], [arange(16).toArray(), [1, 2], [0]])
    assert.deepEqual([a.data.buffer.byteLength, b.data.buffer.byteLength], [64, 8])
    assert.ok(memory().bytes.mapped > 0)
    for (const t of [a, b, c]) t.dispose()
    assert.ok(await unmapped())
  })

  it('what is not aligned is copied and counted; where it could not be written back, refused', () => {
    const header = '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
    const file = put(
      'odd.safetensors',
      safetensors(header + ' '.repeat(1 + (-header.length & 7)), floats(1, 2)),
    )
    const weights = openSafetensors(file)
    const { result: t, copies } = copied(() => weights.get('a'))
    assert.deepEqual([t.toArray(), copies], [[1, 2], { openSafetensors: { count: 1, bytes: 8 } }])
    refuses(() => openSafetensors(file, { mode: 'r+' }).get('a'), 'ERR_ALIGNMENT')
    refuses(
      () => openNpy(put('big.npy', npyOf('>f4', '(1,)', floats(1))), { mode: 'r+' }),
      'ERR_UNSUPPORTED',
    )
  })

  it('raw bytes of any file', () => {
    const file = put('raw', Buffer.concat([Buffer.alloc(4), floats(1, 2, 3)]))
    assert.deepEqual(openRaw(file, { dtype: 'float32', byteOffset: 4 }).toArray(), [1, 2, 3])
    assert.deepEqual(openRaw(file, [1, 2], { dtype: 'float32', byteOffset: 8 }).toArray(), [[2, 3]])
    openRaw(file, [1], { dtype: 'float32', mode: 'r+' }).fill(9)
    assert.equal(fs.readFileSync(file).readFloatLE(0), 9)
    refuses(() => openRaw(file), 'ERR_DTYPE')
    refuses(() => openRaw(file, [5], 'float32'), 'ERR_BOUNDS')
    refuses(() => openRaw(file, [1], { dtype: 'float32', byteOffset: 2 }), 'ERR_ALIGNMENT')
    refuses(() => openRaw(file, [1], { dtype: 'float32', byteOffset: -4 }), 'ERR_BOUNDS')
    refuses(() => openRaw(file, [1], { dtype: 'float32', byteOffset: 17 }), 'ERR_BOUNDS')
  })

  it('new files are mapped, all zero, and replace or refuse what is there', () => {
    const t = createNpy(at('new.npy'), [2, 3], { dtype: 'int16', order: 'F' })
    assert.deepEqual(
      [t.toArray(), t.strides],
      [
        [
          [0, 0, 0],
          [0, 0, 0],
        ],
        [1, 2],
      ],
    )
    t.set(7, 1, 2)
    assert.deepEqual(openNpy(at('new.npy')).toArray(), [
      [0, 0, 0],
      [0, 0, 7],
    ])
    assert.equal(
      fails(() => createNpy(at('new.npy'), [1], { ifExists: 'error' }), Error, 'ERR_EXISTS'),
      undefined,
    )
    const other = createNpy(at('new.npy'), [1])
    other.fill(1)
    assert.equal(t.get(1, 2), 7)
    assert.deepEqual(createNpy(at('none.npy'), [0, 2]).shape, [0, 2])
    fails(() => createNpy(at('huge.npy'), [2 ** 50], { dtype: 'float64' }), RangeError, 'ERR_SHAPE')
    fails(
      () =>
        createSafetensors(at('huge.safetensors'), { a: { shape: [2 ** 50], dtype: 'float64' } }),
      RangeError,
      'ERR_SHAPE',
    )
    const weights = createSafetensors(
      at('new.safetensors'),
      { a: { shape: [3], dtype: 'float64' }, b: { shape: [], dtype: 'bool' } },
      { metadata: { x: 'y' } },
    )
    weights.get('a').copyFrom([1, 2, 3])
    const again = openSafetensors(at('new.safetensors'))
    assert.deepEqual(
      [again.get('a').toArray(), again.get('b').item(), again.metadata],
      [[1, 2, 3], false, { x: 'y' }],
    )
    assert.deepEqual(drafts(), [])
  })

  it('a file is opened again and again, and nothing stays behind', async () => {
    const file = at('again.safetensors')
    saveSafetensorsSync(file, { a: arange(16) })
    assert.ok(await unmapped())
    const before = openHere()
    for (let i = 0; i < 200; i++) {
      const weights = openSafetensors(file)
      weights.get('a').dispose()
      weights.close()
    }
    assert.deepEqual([memory().bytes.mapped, openHere()], [0, before])
  })

  it('who opens in a loop and disposes nothing runs out of no mappings', function () {
    skipWithout(this, '/proc')
    const most = Number(fs.readFileSync('/proc/sys/vm/max_map_count', 'latin1'))
    if (most > 100000) skip(this, `${most} mappings are too many to run out of`)
    const file = put('loop.npy', toNpyBytes(tensor([1, 2])))
    for (let i = 0; i < most + 1000; i++) openNpy(file)
  })

  it('a collected file is unmapped', async () => {
    const file = at('dropped.safetensors')
    saveSafetensorsSync(file, { a: arange(16) })
    const drop = () => {
      for (let i = 0; i < 10; i++) openSafetensors(file).get('a')
    }
    drop()
    assert.ok(await unmapped())
  })

  it('wrong files and arguments are refused, and nothing stays mapped or open', async () => {
    assert.ok(await unmapped())
    const before = openHere()
    for (const open of [openNpy, openNpz, openSafetensors, openGguf]) {
      const error = refuses(() => open(at('missing')), 'ERR_NOT_FOUND')
      assert.deepEqual([error.errno, error.path], [errnoOf('ENOENT'), at('missing')])
      refuses(() => open(folder), 'ERR_IO')
      refuses(() => open(put('empty', '')), 'ERR_FORMAT')
      assert.equal(refuses(() => open(put('short', 'PK')), 'ERR_FORMAT').path, at('short'))
      if (can('/proc')) refuses(() => open('/dev/null'), 'ERR_IO')
      for (const wrong of [undefined, null, 1, '', 'a\0b', {}, Symbol('x')]) {
        fails(() => open(wrong), TypeError, 'ERR_ARGUMENT', /path/)
      }
      fails(() => open(at('a.npy'), { mode: 'w' }), TypeError, 'ERR_ARGUMENT', /mode/)
      fails(
        () => open(at('a.npy'), 'r+'),
        TypeError,
        'ERR_ARGUMENT',
        /^options is "r\+"; { mode: 'r\+' } was expected$/,
      )
      fails(() => open(at('a.npy'), { guard: 1 }), TypeError, 'ERR_ARGUMENT', /guard/)
      fails(() => open(at('a.npy'), 5), TypeError, 'ERR_ARGUMENT')
    }
    refuses(() => createNpy(path.join(at('missing'), 'a.npy'), [1]), 'ERR_NOT_FOUND')
    refuses(() => createNpy(at('huge.npy'), [2 ** 50], 'uint8'), 'ERR_IO')
    fails(
      () => createSafetensors(at('x.safetensors'), { a: 1 }),
      TypeError,
      'ERR_ARGUMENT',
      /specs/,
    )
    assert.deepEqual(drafts(), [])
    assert.deepEqual([memory().bytes.mapped, openHere()], [0, before])
  })
})

describe('saving and loading', () => {
  before(function () {
    if (typeof document === 'object') skip(this, 'a page has no files')
  })

  const all = () => ({
    a: tensor([
      [1, 2],
      [3, 4],
    ]),
    b: arange(100),
    c: zeros([0, 2], 'uint8'),
  })

  for (const extension of ['.npz', '.safetensors']) {
    it(`${extension} is saved, loaded, and what was there is replaced as a whole`, async () => {
      const file = at('s' + extension)
      await save(file, { old: zeros([3]) })
      const steps = []
      await save(file, new Map(Object.entries(all())), { onProgress: (step) => steps.push(step) })
      const { done, total } = steps.at(-1)
      assert.equal(done, total)
      assert.equal(total, fs.statSync(file).size)
      const loaded = await load(file)
      assert.deepEqual([...loaded.keys()].sort(), ['a', 'b', 'c'])
      for (const [name, t] of loaded) {
        assert.deepEqual(
          [t.dtype, t.shape, hex(t)],
          [all()[name].dtype, all()[name].shape, hex(all()[name])],
        )
      }
      loaded.get('a').set(9, 0, 0)
      assert.equal((await load(file)).get('a').get(0, 0), 1)
      loaded.get('b').resize([50])
      assert.deepEqual(drafts(), [])
    })
  }

  it('an .npz of a tensor that somebody writes to meanwhile: checksums are those of what was written', async function () {
    skipWithout(this, 'Python')
    const t = tensor(new Uint8Array(2 ** 25 + 5))
    let turns = 0
    const changing = () => {
      t.data.fill(++turns, 2 ** 24)
    } // around the library, as other processes do
    await save(
      at('live.npz'),
      { before: tensor([1]), t, after: tensor([2]) },
      { onProgress: changing },
    )
    assert.ok(turns > 3)
    execFileSync(PYTHON, [
      '-c',
      'import sys, zipfile; assert zipfile.ZipFile(sys.argv[1]).testzip() is None',
      at('live.npz'),
    ])
    const bytes = openNpz(at('live.npz')).get('t').data
    assert.deepEqual(
      [bytes[0], bytes[2 ** 24], openNpz(at('live.npz')).get('after').item()],
      [0, bytes[2 ** 24 + 1], 2],
    )
    assert.ok(bytes[2 ** 24] > 0)
  })

  it('raw bytes of an .npz are what dtype says', async () => {
    saveNpzSync(at('raw.npz'), { half: tensor([1, 2], 'bfloat16'), plain: tensor([3], 'int32') })
    for (const file of [
      openNpz(at('raw.npz'), 'bfloat16'),
      openNpz(at('raw.npz'), { dtype: 'bfloat16' }),
      await load(at('raw.npz'), { dtype: 'bfloat16' }),
    ]) {
      assert.deepEqual([file.get('half').toArray(), file.get('plain').toArray()], [[1, 2], [3]])
    }
    assert.match((await rejects(load(at('raw.npz')), 'ERR_DTYPE')).message, /^"half": /)
  })

  it('an array of an .npz that is none of ours is refused by name; the others are read', async () => {
    const arrays = {
      a: npyOf('<f4', '(2,)', floats(1, 2)),
      objects: npyOf('|O', '(2,)', Buffer.alloc(16)),
      text: npyOf('<U3', '(1,)', Buffer.alloc(12)),
      z: npyOf('|u1', '(1,)', Buffer.from([7])),
    }
    const packed = (bytes) => {
      const short = zlib.deflateRawSync(bytes)
      return [short, { method: 8, unpacked: bytes.length, crc: crc32(bytes) }]
    }
    for (const [name, pack] of [
      ['mixed.npz', (bytes) => [bytes]],
      ['packed.npz', packed],
    ]) {
      const file = put(
        name,
        zip(Object.entries(arrays).map(([name, bytes]) => [`${name}.npy`, ...pack(bytes)])),
      )
      for (const found of [openNpz(file), await load(file)]) {
        assert.deepEqual(
          [[...found.keys()], found.get('a').toArray(), found.get('z').toArray()],
          [Object.keys(arrays), [1, 2], [7]],
        )
        assert.deepEqual([found.info('a').shape, found.info('z').dtype], [[2], 'uint8'])
        for (const name of ['objects', 'text', 'objects']) {
          for (const ask of [() => found.get(name), () => found.info(name)]) {
            assert.match(
              refuses(ask, 'ERR_FORMAT').message,
              new RegExp(`^"${name}": byte \\d+: descr names a dtype`),
            )
          }
          assert.match(
            (await rejects(found.load(name), 'ERR_FORMAT')).message,
            new RegExp(`^"${name}": `),
          )
        }
        refuses(() => [...found], 'ERR_FORMAT') // nobody takes the rest for all there is
        found.close()
      }
    }
  })

  it('info of a deflated array inflates its header only, however large the array is', () => {
    const nbytes = 2 ** 23
    const arrays = {
      a: npyOf('|u1', `(${nbytes},)`, Buffer.alloc(nbytes)),
      long: npy(
        `{'descr': '<f4', 'fortran_order': False, 'shape': (2,), ${' '.repeat(50000)}}`,
        floats(1, 2),
      ), // begins beyond what is inflated first, or not
      noise: npyOf(
        '|u1',
        '(9999,)',
        Buffer.from(Array.from({ length: 9999 }, (_, i) => ((i * i * 7919) >> 3) & 255)),
      ),
    }
    const file = put(
      'deflated.npz',
      zip(
        Object.entries(arrays).map(([name, bytes]) => {
          const packed = zlib.deflateRawSync(bytes)
          return [
            `${name}.npy`,
            packed,
            { method: 8, packed: packed.length, unpacked: bytes.length, crc: crc32(bytes) },
          ]
        }),
      ),
    )
    for (const mode of ['r', 'r+']) {
      // where a copy could not be written back, info can be had
      const found = openNpz(file, { mode })
      const { result: info, copies } = copied(() => found.info('a'))
      assert.deepEqual(copies, {})
      assert.deepEqual(
        [info.dtype, info.shape, info.nbytes, info.deflated > 0 && info.deflated < 20000],
        ['uint8', [nbytes], nbytes, true],
      )
      assert.deepEqual([found.info('long').shape, found.info('noise').shape], [[2], [9999]])
      if (mode === 'r') {
        assert.deepEqual(
          [found.get('a').size, found.get('long').toArray(), hex(found.get('noise'))],
          [nbytes, [1, 2], arrays.noise.subarray(-9999).toString('hex')],
        )
      }
      found.close()
    }
    const lies = put(
      'lies.npz',
      zip([
        ['a.npy', Buffer.from('not deflated'), { method: 8, unpacked: 1000 }],
        ['b.npy', zlib.deflateRawSync(Buffer.alloc(500)), { method: 8, unpacked: 500 }],
      ]),
    )
    const found = openNpz(lies)
    for (const name of ['a', 'b']) refuses(() => found.info(name), 'ERR_FORMAT')
    found.close()
  })

  it('a tensor alone is arr_0 of an .npz, as by NumPy, and console.log lists what was loaded', async () => {
    await save(at('alone.npz'), all().a)
    const file = await load(at('alone.npz'))
    assert.deepEqual(
      [[...file.keys()], file.get('arr_0').toArray()],
      [
        ['arr_0'],
        [
          [1, 2],
          [3, 4],
        ],
      ],
    )
    assert.equal(inspect(file), `TensorFile(1) {\n  "arr_0": ${all().a.dtype} [2, 2]\n}`)
    saveNpzSync(at('alone.npz'), all().a)
    assert.equal(inspect(openNpz(at('alone.npz'))), inspect(file))
  })

  it('what is not of its format is named by path', async () => {
    for (const name of ['page.npy', 'page.npz', 'page.safetensors', 'page.gguf']) {
      await assert.rejects(load(put(name, '<!doctype html>')), {
        code: 'ERR_FORMAT',
        path: at(name),
      })
    }
  })

  it('.npy is saved and loaded', async () => {
    await save(at('s.npy'), all().a)
    assert.deepEqual((await load(at('s.npy'))).toArray(), [
      [1, 2],
      [3, 4],
    ])
    saveNpySync(at('s.npy'), all().b)
    assert.deepEqual((await load(at('s.npy'))).shape, [100])
  })

  it("a blob record has its tensor's bytes also where the tensor is disposed while it is saved", async () => {
    const t = samebytes.full([2 ** 12], 7, { shared: true })
    const record = t.toBlob()
    const saving = saveNpy(at('record.npy'), t)
    t.dispose()
    await saving
    assert.deepEqual([...new Set(samebytes.fromBlob(record).toArray())], [7])
  })

  it('a tensor that is being saved is busy; an aborted save leaves what was there', async () => {
    const t = zeros([2 ** 24], 'uint8')
    const file = put('kept.npy', toNpyBytes(tensor([1])))
    const before = fs.readFileSync(file)
    const controller = new AbortController()
    const saving = saveNpy(file, t, {
      signal: controller.signal,
      onProgress: () => controller.abort(new Error('enough')),
    })
    refuses(() => t.fill(1), 'ERR_BUSY')
    await assert.rejects(saving, /enough/)
    t.fill(1)
    assert.deepEqual(fs.readFileSync(file), before)
    await assert.rejects(
      saveNpy(file, t, { signal: AbortSignal.abort(new Error('at once')) }),
      /at once/,
    )
    await assert.rejects(load(file, { signal: AbortSignal.abort(new Error('at once')) }), /at once/)
    assert.deepEqual(drafts(), [])
  })

  it('what a save is given is held until it settles, whatever is disposed, and no longer', async () => {
    const { storages } = memory()
    for (const name of ['disposed.npy', 'disposed.npz', 'disposed.safetensors']) {
      for (const n of [10, 20_000_000]) {
        // the second one in several steps
        const t = zeros([n], 'uint8').fill(7)
        const saving = save(at(name), name.endsWith('npy') ? t : { t })
        t.dispose()
        await saving
        const loaded = await load(at(name))
        const back = name.endsWith('npy') ? loaded : loaded.get('t')
        assert.equal(Buffer.compare(back.bytes, Buffer.alloc(n, 7)), 0, `${name}, ${n}`)
        back.dispose()
      }
    }
    assert.ok(memory().storages <= storages)
  })

  it('a process that is killed in the middle of a save leaves what was there, and nothing else', async function () {
    skipWithout(this, 'files without a name')
    const place = [folder, '/dev/shm'].find(hasUnnamed)
    if (place === undefined) skip(this, 'no file system here has files without a name')
    const killed = fs.mkdtempSync(path.join(place, 'samebytes-killed-'))
    try {
      const before = toNpyBytes(tensor([1]))
      fs.writeFileSync(path.join(killed, 'old.npy'), before)
      for (const name of ['old.npy', 'new.npy', 'new.npz', 'new.safetensors']) {
        const { signal, stdout, stderr } = await child(
          `
          const { save, zeros } = require('samebytes')
          const t = zeros([2 ** 25], 'uint8')
          const file = ${JSON.stringify(path.join(killed, name))}
          let last = 0
          save(file, file.endsWith('.npy') ? t : { t }, {
            onProgress ({ done, total }) {
              if (done < 2 ** 20 || done === total) return
              console.log('half')
              process.kill(process.pid, 'SIGKILL')
            }
          })
        `,
          { env: { SAMEBYTES_BACKEND: 'native' } },
        )
        assert.deepEqual([stdout, signal], ['half\n', 'SIGKILL'], stderr)
        assert.deepEqual(fs.readdirSync(killed), ['old.npy'], name)
      }
      assert.deepEqual(fs.readFileSync(path.join(killed, 'old.npy')), Buffer.from(before))
    } finally {
      fs.rmSync(killed, { recursive: true })
    }
  })

  it('a new file has the permissions that the umask leaves', async function () {
    skipWithout(this, 'permissions of files')
    const umask = process.umask(0o027)
    try {
      await save(at('masked.npy'), all().a)
      saveNpzSync(at('masked.npz'), all())
      createNpy(at('masked-too.npy'), [1]).dispose()
    } finally {
      process.umask(umask)
    }
    for (const name of ['masked.npy', 'masked.npz', 'masked-too.npy']) {
      assert.equal(fs.statSync(at(name)).mode & 0o777, 0o640, name)
    }
  })

  it('files in a folder that nobody may write to are read, and errors say what was refused; one that nobody may list takes files', async function () {
    skipWithout(this, 'permissions of files')
    const places = { tried: 0o777, kept: 0o555, blind: 0o333 }
    fs.chmodSync(folder, 0o755)
    for (const [name, mode] of Object.entries(places)) {
      fs.mkdirSync(at(name))
      for (const [file, t] of [
        ['a.npy', tensor([1, 2])],
        ['a.npz', { a: tensor([3]) }],
      ]) {
        await save(path.join(at(name), file), t)
      }
      for (const file of ['a.npy', 'a.npz']) {
        fs.chmodSync(path.join(at(name), file), name === 'tried' ? 0o666 : 0o444)
      }
      fs.chmodSync(at(name), mode)
    }
    const said = await childJson(
      `
      const samebytes = require('samebytes')
      const path = require('node:path')
      const t = samebytes.ones([3])
      const codeOf = error => [error.code, error.errno, path.basename(error.path ?? '')]
      const tries = async fn => {
        try { return (await fn()) ?? 'done' } catch (error) { return codeOf(error) }
      }
      async function all (folder) {
        const at = name => path.join(folder, name)
        return {
          read: await tries(async () => [samebytes.openNpy(at('a.npy')).toArray(), (await samebytes.load(at('a.npz'))).get('a').toArray(), samebytes.openNpz(at('a.npz')).get('a').toArray()]),
          written: await tries(() => { samebytes.openNpy(at('a.npy'), { mode: 'r+' }).dispose() }),
          saved: await tries(() => samebytes.save(at('b.npy'), t)),
          savedSync: await tries(() => samebytes.saveNpzSync(at('b.npz'), { t })),
          replaced: await tries(() => samebytes.save(at('a.npy'), t)),
          created: await tries(() => { samebytes.createNpy(at('c.npy'), [2]).dispose() }),
          back: await tries(async () => (await samebytes.load(at('b.npy'))).toArray())
        }
      }
      async function main () {
        process.chdir(${JSON.stringify(folder)}) // and names from there: not everybody may come to the temporary folder, where root has its own
        const [tried, kept, blind] = ${JSON.stringify(Object.keys(places))}
        const first = await all(tried) // and what is read when it is first needed is, while everything may be read
        if (process.geteuid() === 0) process.seteuid(65534)
        console.log(JSON.stringify([first, await all(kept), await all(blind)]))
      }
      main()
    `,
      { env: { SAMEBYTES_BACKEND: 'native' } },
    )
    const refused = (code, errno, name) => [code, -os.constants.errno[errno], name]
    const read = [[1, 2], [3], [3]]
    const written = {
      saved: 'done',
      savedSync: 'done',
      replaced: 'done',
      created: 'done',
      back: [1, 1, 1],
    }
    assert.deepEqual(said[0], { read, written: 'done', ...written })
    assert.deepEqual(said[1], {
      read,
      written: refused('ERR_IO', 'EACCES', 'a.npy'),
      saved: refused('ERR_IO', 'EACCES', 'b.npy'),
      savedSync: refused('ERR_IO', 'EACCES', 'b.npz'),
      replaced: refused('ERR_IO', 'EACCES', 'a.npy'),
      created: refused('ERR_IO', 'EACCES', 'c.npy'),
      back: refused('ERR_NOT_FOUND', 'ENOENT', 'b.npy'),
    })
    assert.deepEqual(said[2], { read, written: refused('ERR_IO', 'EACCES', 'a.npy'), ...written })
    for (const name of ['kept', 'blind']) fs.chmodSync(at(name), 0o755)
    assert.deepEqual(
      [fs.readdirSync(at('kept')), fs.readdirSync(at('blind')).sort()],
      [
        ['a.npy', 'a.npz'],
        ['a.npy', 'a.npz', 'b.npy', 'b.npz', 'c.npy'],
      ],
    )
  })

  const LARGE = 2 ** 32 + 100 // elements of a member whose sizes 32 bits do not hold, and what is behind it

  it('members of 4 GiB of an .npz, and those behind them, are where the zip says', async function () {
    const file = at('wide.npz')
    const descriptor = fs.openSync(file, 'w+')
    try {
      const directory = []
      let end = 0
      for (const [name, header, nbytes] of [
        ['large.npy', npyOf('|u1', `(${LARGE},)`), LARGE],
        ['after.npy', npyOf('<f4', '(2,)'), 8],
      ]) {
        const size = header.length + nbytes
        const common = [
          u16(45),
          u16(0),
          u16(0),
          u32(0),
          u32(0),
          u32(0xffffffff),
          u32(0xffffffff),
          u16(name.length),
        ]
        directory.push(
          u32(0x02014b50),
          u16(45),
          ...common,
          u16(28),
          u16(0),
          u16(0),
          u16(0),
          u32(0),
          u32(0xffffffff),
          Buffer.from(name),
          u16(1),
          u16(24),
          u64(size),
          u64(size),
          u64(end),
        )
        const head = Buffer.concat([
          u32(0x04034b50),
          ...common,
          u16(20),
          Buffer.from(name),
          u16(1),
          u16(16),
          u64(size),
          u64(size),
          header,
        ])
        fs.writeSync(descriptor, head, 0, head.length, end)
        end += head.length + nbytes
        fs.writeSync(
          descriptor,
          nbytes === 8 ? floats(5, 6) : Buffer.from([7]),
          0,
          nbytes === 8 ? 8 : 1,
          end - (nbytes === 8 ? 8 : 1),
        ) // the rest is a hole
      }
      const list = Buffer.concat(directory)
      const last = Buffer.concat([
        list,
        u32(0x06064b50),
        u64(44),
        u16(45),
        u16(45),
        u32(0),
        u32(0),
        u64(2),
        u64(2),
        u64(list.length),
        u64(end),
        u32(0x07064b50),
        u32(0),
        u64(end + list.length),
        u32(1),
        u32(0x06054b50),
        u32(0),
        u16(2),
        u16(2),
        u32(list.length),
        u32(0xffffffff),
        u16(0),
      ])
      fs.writeSync(descriptor, last, 0, last.length, end)
      const found = openNpz(file)
      const {
        result: [large, after],
        copies,
      } = copied(() => [found.get('large'), found.get('after')])
      assert.deepEqual(
        [large.numel, large.get(0), large.get(LARGE - 2), large.get(LARGE - 1), after.toArray()],
        [LARGE, 0, 0, 7, [5, 6]],
      )
      assert.deepEqual(
        [...large.narrow(0, LARGE - 2, 2).data, ...large.narrow(0, 2 ** 31, 1).bytes],
        [0, 7, 0],
      ) // Node 20 makes no buffer over all of it
      assert.ok(found.info('after').byteOffset > LARGE)
      assert.equal(copies.openNpz?.bytes ?? 0, copies.openNpz === undefined ? 0 : 8) // the large one is none
      found.close()
      for (const t of [large, after]) t.dispose()
      if (lackOf('NumPy') === null) {
        const said = execFileSync(
          PYTHON,
          [
            '-c',
            'import sys, numpy\nf = numpy.load(sys.argv[1])\nprint(f.files, [i.file_size for i in f.zip.infolist()])',
            file,
          ],
          { encoding: 'utf8' },
        )
        assert.equal(
          said,
          `['large', 'after'] [${LARGE + npyOf('|u1', `(${LARGE},)`).length}, ${8 + npyOf('<f4', '(2,)').length}]\n`,
        )
      }
    } finally {
      fs.closeSync(descriptor)
      await unmapped() // Windows deletes no file that is mapped
      fs.unlinkSync(file)
    }
  })

  it('opening leaves nothing but the mapping behind, aligned or not', () => {
    for (const [name, padding] of [
      ['even.safetensors', 0],
      ['odd.safetensors', 1],
    ]) {
      const header = '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
      const bytes = safetensors(header + ' '.repeat(padding + (-header.length & 7)), floats(1, 2))
      const file = put(name, bytes)
      for (const mode of ['r', 'r+', 'c']) {
        const {
          bytes: { mapped },
          ...before
        } = settledMemory()
        const opened = openSafetensors(file, { mode })
        const {
          bytes: { mapped: now },
          ...after
        } = memory()
        assert.deepEqual([{ ...after, bytes: now - mapped }], [{ ...before, bytes: bytes.length }])
        if (padding === 0) {
          assert.deepEqual([opened.get('a').isDisposed, opened.get('a').toArray()], [false, [1, 2]])
        }
        if (padding === 0) opened.get('a').dispose()
        opened.close()
        assert.equal(memory().bytes.mapped, mapped)
      }
    }
  })

  /** Data of two hundred views of a mapped file of more than 4 GiB: each has a part of its own; half of the views are disposed. */
  function dataOfParts(file) {
    const large = openRaw(file, { dtype: 'uint8' })
    const taken = []
    for (let i = 0; i < 200; i++) {
      const view = large.narrow(0, i * 2 ** 21, 100)
      taken.push(view.data, view.bytes)
      if (i % 2 === 0) view.dispose()
    }
    large.dispose()
    return taken
  }

  it('data and bytes of a mapped file of more than 4 GiB leave nothing behind', async function () {
    const file = put('hole', '')
    fs.truncateSync(file, LARGE)
    const kept = ({ tensors, storages, bytes: { mapped } }) => [tensors, storages, mapped]
    const before = kept(await quietMemory())
    try {
      let taken = dataOfParts(file)
      assert.equal(kept(await quietMemory())[2], before[2] + LARGE) // arrays keep the file mapped
      assert.ok(taken.every((array) => array.length === 100 && array[99] === 0))
      taken = null
      const isLess = (counts) => counts.every((n, i) => n <= before[i]) // what earlier tests left may go, too
      await collectUntil(() => isLess(kept(memory())))
      const after = kept(await quietMemory())
      assert.ok(isLess(after), `${after}, not ${before}`)
    } finally {
      fs.unlinkSync(file)
    }
  })

  it('an .npz with a member of 4 GiB is saved as Python reads it, and loaded', async function () {
    if (process.env.SAMEBYTES_FULL !== '1') skip(this, 'takes minutes: SAMEBYTES_FULL=1')
    skipWithout(this, 'Python')
    const [from, file] = [at('hole'), at('whole.npz')]
    put('hole', '')
    fs.truncateSync(from, LARGE)
    const large = openRaw(from, [LARGE], { dtype: 'uint8', mode: 'r+' })
    large.set(7, LARGE - 1)
    try {
      await save(file, { before: tensor([1, 2]), large, after: tensor([3]) })
      execFileSync(PYTHON, [
        '-c',
        'import sys, zipfile; assert zipfile.ZipFile(sys.argv[1]).testzip() is None',
        file,
      ])
      const found = await load(file)
      assert.deepEqual(
        [[...found.keys()], found.get('before').toArray(), found.get('after').toArray()],
        [['before', 'large', 'after'], [1, 2], [3]],
      )
      assert.deepEqual(
        [
          found.get('large').numel,
          found.get('large').get(LARGE - 2),
          found.get('large').get(LARGE - 1),
        ],
        [LARGE, 0, 7],
      )
      found.get('large').dispose()
    } finally {
      large.dispose()
      for (const name of [from, file]) fs.rmSync(name, { force: true })
    }
  })

  it('what onProgress throws comes back as it is, and leaves what was there', async () => {
    const file = put('told.npy', toNpyBytes(tensor([1])))
    const before = fs.readFileSync(file)
    for (const thrown of [new TypeError('mine'), null]) {
      const onProgress = () => {
        throw thrown
      }
      assert.equal(
        await save(file, all().b, { onProgress }).then(assert.fail, (error) => error),
        thrown,
      )
      assert.equal(await load(file, { onProgress }).then(assert.fail, (error) => error), thrown)
    }
    assert.deepEqual([fs.readFileSync(file), drafts()], [before, []])
  })

  it("ifExists: 'error' leaves what is there, a link to nothing as well, and no draft", async () => {
    for (const [name, tensors] of [
      ['kept.npy', all().b],
      ['kept.npz', all()],
      ['kept.safetensors', { b: all().b }],
    ]) {
      const file = put(name, Buffer.from('mine'))
      const error = await rejects(save(file, tensors, { ifExists: 'error' }), 'ERR_EXISTS')
      assert.deepEqual([error.path, error.errno < 0], [file, true])
      assert.equal(fs.readFileSync(file, 'utf8'), 'mine')
      await save(file, tensors, { ifExists: 'replace' })
      assert.notEqual(fs.readFileSync(file, 'utf8'), 'mine')
      fs.unlinkSync(file)
      await save(file, tensors, { ifExists: 'error' })
      assert.ok(fs.existsSync(file))
    }
    if (can('permissions of files')) {
      fs.symlinkSync('nowhere', at('dangling.npy'))
      await rejects(save(at('dangling.npy'), all().b, { ifExists: 'error' }), 'ERR_EXISTS')
    }
    await rejects(save(at('other.npy'), all().b, { ifExists: 'open' }), 'ERR_ARGUMENT')
    assert.deepEqual(drafts(), [])
  })

  it("ifExists: 'error' of what writes at once leaves what is there as well", () => {
    const { b } = all()
    const writers = {
      npy: (file, opts) => saveNpySync(file, b, opts),
      npz: (file, opts) => saveNpzSync(file, { b }, opts),
      safetensors: (file, opts) => saveSafetensorsSync(file, { b }, opts),
    }
    for (const [extension, write] of Object.entries(writers)) {
      const file = put(`kept-at-once.${extension}`, Buffer.from('mine'))
      const error = refuses(() => write(file, { ifExists: 'error' }), 'ERR_EXISTS')
      assert.deepEqual(
        [error.code, error.path, error.errno < 0, fs.readFileSync(file, 'utf8')],
        ['ERR_EXISTS', file, true, 'mine'],
      )
      for (const wrong of [{ ifExists: 'open' }, { signal: undefined, onProgress() {} }, 1]) {
        refuses(() => write(file, wrong), 'ERR_ARGUMENT')
      }
      assert.equal(fs.readFileSync(file, 'utf8'), 'mine')
      write(file, { ifExists: 'replace' })
      assert.notEqual(fs.readFileSync(file, 'utf8'), 'mine')
      fs.unlinkSync(file)
      write(file, { ifExists: 'error' })
      assert.ok(fs.existsSync(file))
    }
    assert.deepEqual(drafts(), [])
  })

  it('metadata is of .safetensors alone: others refuse it, and write nothing', async () => {
    const metadata = { format: 'pt' }
    const { b } = all()
    for (const name of ['no-metadata.npy', 'no-metadata.npz']) {
      await rejects(save(at(name), b, { metadata }), 'ERR_ARGUMENT', /has no option "metadata"/)
      assert.ok(!fs.existsSync(at(name)))
    }
    await rejects(
      saveNpy(at('no-metadata.npy'), b, { metadata }),
      'ERR_ARGUMENT',
      /^saveNpy has no option "metadata"/,
    )
    await rejects(
      saveNpz(at('no-metadata.npz'), { b }, { metadata }),
      'ERR_ARGUMENT',
      /^saveNpz has no option "metadata"/,
    )
    await save(at('metadata.safetensors'), { b }, { metadata })
    await rejects(
      load(at('metadata.safetensors'), { dtype: 'bfloat16' }),
      'ERR_ARGUMENT',
      /^load of a .safetensors has no option "dtype"/,
    )
    assert.deepEqual({ ...openSafetensors(at('metadata.safetensors')).metadata }, metadata)
  })

  it('a link stays a link, and permissions stay', async function () {
    skipWithout(this, 'permissions of files')
    const file = put('target.npy', '')
    fs.chmodSync(file, 0o662) // what a umask would take away
    fs.symlinkSync(file, at('link.npy'))
    await saveNpy(at('link.npy'), all().a)
    assert.ok(fs.lstatSync(at('link.npy')).isSymbolicLink())
    assert.equal(fs.statSync(file).mode & 0o777, 0o662)
    assert.deepEqual((await load(file)).shape, [2, 2])
  })

  it('the owner stays where root saves', function () {
    skipWithout(this, 'permissions of files')
    if (process.geteuid() !== 0) skip(this, 'only root gives files away')
    const file = put('theirs.npy', '')
    fs.chownSync(file, 65534, 65533)
    saveNpySync(file, all().a)
    const { uid, gid } = fs.statSync(file)
    assert.deepEqual([uid, gid], [65534, 65533])
  })

  it('where the system replaces no mapped file, the old one is renamed aside, and goes when nobody has it mapped', async () => {
    fs.mkdirSync(at('aside'))
    const said = await childJson(
      `
      const fs = require('node:fs')
      const path = require('node:path')
      const { rename, unlink } = { rename: fs.renameSync, unlink: fs.unlinkSync }
      const refuse = code => { throw Object.assign(new Error(code), { code, errno: -1, syscall: 'rename' }) }
      let isMapped = true
      let isBroken = false
      let isStuck = false
      fs.renameSync = (from, to) => { // as Windows does
        if (fs.existsSync(to)) refuse('EPERM')
        if (isBroken && from.endsWith('.tmp')) refuse('ENOSPC')
        if (isStuck && from.endsWith('.was')) refuse('EIO')
        rename(from, to)
      }
      fs.unlinkSync = file => { if (isMapped && file.endsWith('.old')) refuse('EPERM'); unlink(file) }
      const { ones, openNpy, saveNpySync } = require('samebytes')
      const folder = ${JSON.stringify(at('aside'))}
      const file = path.join(folder, 'a.npy')
      const names = () => fs.readdirSync(folder).map(name => name.replace(/[0-9a-f]{8}-[0-9a-f-]+/, 'X').replace(String(process.pid), 'PID')).sort()
      const length = () => { const t = openNpy(file); const { size } = t; t.dispose(); return size }
      const said = []
      const note = () => said.push([length(), names()])
      for (const n of [1, 2]) saveNpySync(file, ones([n]))
      note()
      isMapped = false
      saveNpySync(file, ones([3]))
      note()
      isBroken = true
      try { saveNpySync(file, ones([4])) } catch (error) { said.push(error.cause.code) }
      note()
      isBroken = false
      fs.writeFileSync(path.join(folder, '.samebytes-999999999-00000000-0.old'), '') // of a process that was killed
      saveNpySync(file, ones([5]))
      note()
      isBroken = isStuck = true // neither gets the name: the old file stays, whoever saves there next
      try { saveNpySync(file, ones([6])) } catch (error) { said.push(error.cause.code) }
      isBroken = isStuck = false
      for (const n of [7, 8]) saveNpySync(file, ones([n]))
      note()
      console.log(JSON.stringify(said))
    `,
      { env: { SAMEBYTES_BACKEND: 'native' } },
    )
    assert.deepEqual(said, [
      [2, ['.samebytes-PID-X.old', 'a.npy']],
      [3, ['a.npy']],
      'ENOSPC',
      [3, ['a.npy']],
      [5, ['a.npy']],
      'EIO',
      [8, ['.samebytes-PID-X.was', 'a.npy']],
    ])
  })

  it('what is no regular file is not replaced', async () => {
    const pipe = at('pipe.npy')
    const isPipe = can('named pipes in folders')
    if (isPipe) execFileSync('mkfifo', [pipe])
    fs.mkdirSync(at('folder.npy'))
    for (const file of [...(isPipe ? [pipe] : []), at('folder.npy')]) {
      refuses(() => saveNpySync(file, all().a), 'ERR_IO')
      await rejects(save(file, all().a), 'ERR_IO')
      refuses(() => createNpy(file, [2]), 'ERR_IO')
    }
    assert.deepEqual([!isPipe || fs.statSync(pipe).isFIFO(), drafts()], [true, []])
  })

  it('without space it is ERR_IO, what was there stays, and nothing else is left', async function () {
    skipWithout(this, '/proc')
    fs.mkdirSync(at('full'))
    const said = await inSmallFolder(
      at('full'),
      `
      const samebytes = require('samebytes')
      const { quietMemory } = require('./test/setup')
      const fs = require('node:fs')
      const path = require('node:path')
      const { tensor, zeros } = samebytes
      const large = zeros([2 ** 19])
      const shape = { shape: [2 ** 19], dtype: 'float32' }
      const attempts = {
        'save .npy': ['a.npy', (file, how) => samebytes.save(file, large, how)],
        'save .npz': ['a.npz', (file, how) => samebytes.save(file, { small: tensor([1]), large }, how)],
        'save .safetensors': ['a.safetensors', (file, how) => samebytes.save(file, { small: tensor([1]), large }, how)],
        saveNpySync: ['a.npy', file => samebytes.saveNpySync(file, large)],
        saveNpzSync: ['a.npz', file => samebytes.saveNpzSync(file, { large })],
        saveSafetensorsSync: ['a.safetensors', file => samebytes.saveSafetensorsSync(file, { large })],
        createNpy: ['a.npy', (file, how) => samebytes.createNpy(file, shape.shape, how)],
        createSafetensors: ['a.safetensors', (file, how) => samebytes.createSafetensors(file, { small: { shape: [1], dtype: 'int8' }, shape }, how)]
      }
      const folder = ${JSON.stringify(at('full'))}
      const textOf = fd => { try { return fs.readlinkSync('/proc/self/fd/' + fd) } catch { return '' } }
      /** The folder's files and free blocks, this process' files there, what is counted. */
      async function state () {
        const { tensors, storages, bytes, inFlight } = await quietMemory()
        const files = fs.readdirSync(folder).map(name => [name, fs.readFileSync(path.join(folder, name), 'hex')])
        return JSON.stringify([files, fs.statfsSync(folder).bfree, fs.readdirSync('/proc/self/fd').filter(fd => textOf(fd).startsWith(folder)).length, tensors, storages, bytes, inFlight])
      }
      async function main () {
        const said = {}
        for (const name of ['a.npy', 'a.npz', 'a.safetensors']) await samebytes.save(path.join(folder, name), name === 'a.npy' ? tensor([1, 2]) : { a: tensor([1, 2]) })
        const old = samebytes.openNpy(path.join(folder, 'a.npy'))
        for (const [what, [name, attempt]] of Object.entries(attempts)) {
          const answers = []
          said[what] = [name, answers]
          const before = [] // the first attempt may load more of this and that
          for (const [file, how] of [[name, {}], [name, {}], ['new-' + name, {}], ['new-' + name, { ifExists: 'error' }]]) {
            before.push(await state())
            try {
              await attempt(path.join(folder, file), how)
              answers.push('done')
            } catch (error) {
              answers.push([error.code, error.errno, path.relative(folder, error.path)].join(' '))
            }
            large.fill(1) // it is not busy
          }
          before.push(await state())
          const ofFolder = text => JSON.stringify(JSON.parse(text).slice(0, 3))
          for (const one of before.slice(2)) if (one !== before[1]) answers.push('before: ' + before[1] + ', after: ' + one)
          if (ofFolder(before[0]) !== ofFolder(before[1])) answers.push('before: ' + before[0] + ', after: ' + before[1])
        }
        said.old = old.toArray()
        samebytes.saveNpySync(path.join(folder, 'a.npy'), zeros([2 ** 17]))
        console.log(JSON.stringify(said))
      }
      main()
    `,
    )
    if (said === null) skip(this, 'this user may mount no folder of its own')
    const { old, ...attempts } = said
    assert.deepEqual(old, [1, 2])
    assert.equal(Object.keys(attempts).length, 8)
    for (const [what, [name, answers]] of Object.entries(attempts)) {
      assert.deepEqual(
        answers,
        [name, name, `new-${name}`, `new-${name}`].map(
          (file) => `ERR_IO -${os.constants.errno.ENOSPC} ${file}`,
        ),
        what,
      )
    }
  })

  it('refuses wrong files and arguments', async () => {
    await rejects(load(at('missing.npy')), 'ERR_NOT_FOUND')
    await rejects(load(at('s.xyz')), 'ERR_UNSUPPORTED')
    await rejects(load(put('bad.npy', 'x'.repeat(20))), 'ERR_FORMAT')
    await rejects(save(at('s.gguf'), all()), 'ERR_UNSUPPORTED')
    await rejects(save(path.join(at('missing'), 's.npy'), all().a), 'ERR_NOT_FOUND')
    await rejects(save(at('s.npy'), all()), 'ERR_ARGUMENT')
    assert.match(
      (await rejects(save(at('s.safetensors'), all().a), 'ERR_ARGUMENT')).message,
      /tensors by name were expected/,
    )
    await rejects(save(5, all()), 'ERR_ARGUMENT')
    for (const url of [
      ...(can('/proc') ? ['file://host/s.npz'] : []),
      'file:///a%2fs.npz',
      'file:///a%00s.npz',
      'http://host/s.npz',
    ]) {
      await rejects(save(new URL(url), all()), 'ERR_ARGUMENT')
    }
    await rejects(saveNpy(at('s.npy'), all().a, { signal: 1 }), 'ERR_ARGUMENT')
    await rejects(saveNpy(at('s.npy'), all().a, { onProgress: 1 }), 'ERR_ARGUMENT')
    assert.deepEqual(drafts(), [])
  })
})

describe('transfers that are watched and stopped', function () {
  needs('the addon')

  const LONG = 2 ** 25 + 5 // bytes that are read and written in three pieces
  const reason = new Error('enough')

  /** @param {Record<string, Buffer>} arrays  .npy files by name */
  const deflatedNpz = (arrays) =>
    zip(
      Object.entries(arrays).map(([name, bytes]) => {
        const packed = zlib.deflateRawSync(bytes, { level: 1 })
        return [
          `${name}.npy`,
          packed,
          { method: 8, unpacked: bytes.length, crc: checksum(bytes, 0) },
        ]
      }),
    )

  let long
  let loads
  before(async () => {
    long = Buffer.alloc(LONG)
    for (let i = 0; i < LONG; i += 16) long[i] = Math.imul(i, 2654435761) >>> 24
    const t = tensor(long)
    const few = tensor([1, 2])
    for (const [name, tensors] of [
      ['long.npy', t],
      ['long.npz', { few, t, last: few }],
      ['long.safetensors', { few, t, last: few }],
    ]) {
      await save(at(name), tensors)
    }
    const small = toNpyBytes(few)
    put(
      'long-deflated.npz',
      deflatedNpz({
        few: small,
        objects: npyOf('|O', '(2,)', Buffer.alloc(16)),
        none: npyOf('<f4', '(0,)'),
        t: npyOf('|u1', `(${LONG},)`, long),
        last: small,
      }),
    )
    loads = ['long.npy', 'long.npz', 'long-deflated.npz', 'long.safetensors'].map(at)
  })
  after(() => {
    for (const file of loads) fs.unlinkSync(file)
  })

  /** Every load and save there is: what it is called, what does it with these options, the file. */
  function* transfers() {
    const [t, few] = [tensor(long), tensor([1, 2])]
    for (const file of loads) {
      yield [`load ${path.basename(file)}`, (options) => load(file, options), file]
    }
    for (const extension of ['.npy', '.npz', '.safetensors']) {
      const file = at(`saved${extension}`)
      yield [
        `save ${extension}`,
        (options) => save(file, extension === '.npy' ? t : { few, t }, options),
        file,
      ]
    }
  }

  /** The steps of a transfer that comes to its end. */
  async function stepsOf(transfer) {
    const steps = []
    const result = await transfer({ onProgress: (step) => steps.push(step) })
    return { steps, result }
  }

  /** What is counted, without what others have left. */
  const counts = ({ tensors, storages, bytes: { v8, native, mapped } }) => [
    tensors,
    storages,
    v8 + native + mapped,
  ]

  /** A transfer must be rejected with this error, and then at once nothing be left of it, before any collection. */
  async function leavesNothingOf(what, transfer, isExpected) {
    const open = openHere()
    const names = fs.readdirSync(folder)
    const before = counts(settledMemory())
    const error = await transfer().then(
      () => assert.fail(`${what} came to its end`),
      (error) => error,
    )
    const after = counts(memory())
    assert.ok(isExpected(error), `${what}: ${error.stack}`)
    const slack = [0, 0, 2 ** 20] // bytes: small tensors come in blocks
    assert.ok(
      after.every((count, i) => count <= before[i] + slack[i]),
      `${what}: ${after}, not ${before}`,
    )
    assert.deepEqual([openHere(), fs.readdirSync(folder)], [open, names], what)
  }

  it('progress grows with each step, counts bytes of the file, and is whole at the end only', async () => {
    for (const [what, transfer, file] of transfers()) {
      const { steps } = await stepsOf(transfer)
      const { size } = fs.statSync(file)
      assert.ok(steps.length > 3, what)
      steps.forEach(({ done, total }, i) => {
        assert.ok(done > (steps[i - 1]?.done ?? 0), `${what}: ${done} in step ${i}`)
        assert.deepEqual([total, done === total], [size, i === steps.length - 1], what)
      })
      if (what.startsWith('save')) fs.unlinkSync(file)
    }
  })

  it('a load gives what is in the file, whichever way it is read', async () => {
    for (const file of loads) {
      const loaded = await load(file)
      const t = file.endsWith('.npy') ? loaded : loaded.get('t')
      assert.ok(long.equals(t.bytes), file)
      if (t === loaded) continue
      assert.deepEqual(
        [loaded.get('few').toArray(), loaded.get('last').toArray()],
        [
          [1, 2],
          [1, 2],
        ],
      )
      if (loaded.has('none')) {
        assert.deepEqual(
          [
            loaded.get('none').shape,
            refuses(() => loaded.get('objects'), 'ERR_FORMAT').message.slice(0, 10),
          ],
          [[0], '"objects":'],
        )
      }
    }
  })

  it('onProgress may stop it at any step: nothing is left', async () => {
    for (const [what, transfer, file] of transfers()) {
      const {
        steps: { length },
      } = await stepsOf(transfer)
      if (what.startsWith('save')) fs.unlinkSync(file)
      for (let n = 0; n < length; n++) {
        const controller = new AbortController()
        let step = 0
        const onProgress = () => {
          if (step++ === n) controller.abort(reason)
        }
        await leavesNothingOf(
          `${what}, step ${n}`,
          () => transfer({ signal: controller.signal, onProgress }),
          (error) => error === reason,
        )
        assert.ok(step <= n + 2, `${what}: ${step} steps`)
        step = 0
        const thrower = () => {
          if (step++ === n) throw reason
        }
        await leavesNothingOf(
          `${what}, thrown in step ${n}`,
          () => transfer({ onProgress: thrower }),
          (error) => error === reason,
        )
      }
    }
  })

  it('a signal that fires while it runs, in another turn or by a timer, stops it: nothing is left', async () => {
    for (const [what, transfer] of transfers()) {
      const controller = new AbortController()
      await leavesNothingOf(
        `${what}, setImmediate`,
        () => {
          setImmediate(() => controller.abort(reason))
          return transfer({ signal: controller.signal })
        },
        (error) => error === reason,
      )
      let signal
      const due = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5) // which the timer needs no more after the first step
      await leavesNothingOf(
        `${what}, timer`,
        () => {
          signal = AbortSignal.timeout(1)
          return transfer({ signal, onProgress: due })
        },
        (error) => error === signal.reason && error.name === 'TimeoutError',
      )
    }
  })

  it('a file that is made shorter meanwhile leaves nothing', async () => {
    for (const file of loads) {
      const whole = fs.readFileSync(file)
      const onProgress = ({ done, total }) => {
        if (done > total / 8) fs.truncateSync(file, done >> 1)
      }
      await leavesNothingOf(
        file,
        () => load(file, { onProgress }),
        (error) =>
          error.code === 'ERR_FORMAT' && /^byte \d+: the file ends here/.test(error.message),
      )
      fs.writeFileSync(file, whole)
    }
  })

  /** How many turns the event loop has while fn runs. */
  async function turnsOf(fn) {
    let turns = 0
    let isOver = false
    const count = () => {
      if (isOver) return
      turns++
      setImmediate(count)
    }
    setImmediate(count)
    await fn()
    isOver = true
    return turns
  }

  it('the event loop has its turns while members are inflated, and where there is nothing to read of them', async () => {
    assert.ok((await turnsOf(() => load(at('long-deflated.npz')))) > 100) // 128 parts
    const none = npyOf('<f4', '(0,)')
    const few = npyOf('<f4', '(2,)', floats(1, 2))
    const objects = npyOf('|O', '(2,)', Buffer.alloc(16))
    const members = (bytes) => Array.from({ length: 100 }, (_, i) => [`${i}`, bytes])
    for (const bytes of [none, few, objects]) {
      const stored = put(
        'turns.npz',
        zip(members(bytes).map(([name, bytes]) => [`${name}.npy`, bytes])),
      )
      assert.ok((await turnsOf(() => load(stored))) > 90)
      const deflated = put('turns.npz', deflatedNpz(Object.fromEntries(members(bytes))))
      assert.ok((await turnsOf(() => load(deflated))) > 90)
    }
  })

  it('load asks the memory limit before it inflates, however large a member is', async () => {
    for (const n of [2 ** 16, 2 ** 22]) {
      // at once, and on another thread
      const file = put('limit.npz', deflatedNpz({ a: npyOf('|u1', `(${n},)`, Buffer.alloc(n)) }))
      const was = { ...budget }
      setMemoryLimit(Object.values(memory().bytes).reduce((sum, bytes) => sum + bytes, 0) + n / 2)
      try {
        await rejects(load(file), 'ERR_MEMORY')
      } finally {
        Object.assign(budget, { limit: was.limit, isKnown: was.isKnown })
      }
      assert.equal((await load(file)).get('a').size, n)
    }
  })

  it('big-endian arrays are read once, and swapped where they are', async () => {
    const array = npyOf('>f4', '(2,)', Buffer.from('3f80000040000000', 'hex'))
    const files = [put('swapped.npy', array), put('swapped.npz', zip([['a.npy', array]]))]
    const before = memory().copied.load
    const [t, found] = [await load(files[0]), await load(files[1])]
    assert.deepEqual(
      [t.toArray(), found.get('a').toArray(), memory().copied.load],
      [[1, 2], [1, 2], before],
    )
    assert.deepEqual(
      (await load(put('swapped.npz', deflatedNpz({ a: array })))).get('a').toArray(),
      [1, 2],
    )
  })
})

describe('NumPy and files', function () {
  needs('NumPy')
  const python = (source, ...args) =>
    execFileSync(PYTHON, ['-c', source, ...args], { encoding: 'utf8' })

  it('reads what we write, bit for bit', async () => {
    const named = [
      'bool',
      'uint8',
      'int8',
      'int16',
      'uint16',
      'int32',
      'uint32',
      'int64',
      'uint64',
      'float16',
      'float32',
      'float64',
      'complex64',
      'complex128',
    ]
    const tensors = Object.fromEntries(
      named.map((dtype, i) => [
        dtype,
        samebytes.fromBytes(
          Uint8Array.from({ length: 6 * zeros([1], { dtype }).itemsize }, (_, k) =>
            dtype === 'bool' ? k & 1 : k * 3 + i,
          ),
          [2, 3],
          { dtype },
        ),
      ]),
    )
    tensors.fortran = tensors.float32.T
    saveNpzSync(at('ours.npz'), tensors)
    for (const [name, t] of Object.entries(tensors)) saveNpySync(at(`ours-${name}.npy`), t)
    const said = JSON.parse(
      python(
        `
import json, sys, numpy as np, zipfile
z = np.load(sys.argv[1] + '/ours.npz')
out = {}
for k in z:
    a, b = z[k], np.load(sys.argv[1] + '/ours-' + k + '.npy', mmap_mode='r')
    assert a.tobytes() == b.tobytes() and a.dtype == b.dtype and b.ctypes.data % 64 == 0
    out[k] = [str(a.dtype), list(a.shape), a.tobytes().hex(), bool(a.flags.f_contiguous)]
assert zipfile.ZipFile(sys.argv[1] + '/ours.npz').testzip() is None
print(json.dumps(out))`,
        folder,
      ),
    )
    for (const [name, t] of Object.entries(tensors)) {
      assert.deepEqual(said[name], [t.dtype, t.shape, hex(t), name === 'fortran'])
    }
  })

  it('writes what we read: all dtypes, byte orders, Fortran order, stored and deflated', async () => {
    const said = JSON.parse(
      python(
        `
import json, sys, numpy as np
out, arrays = {}, {}
for d in 'b1 u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8 c8 c16'.split():
    for order in '<>':
        a = np.frombuffer(bytes((k & 1 if d == 'b1' else k * 5 + 1) & 127 for k in range(6 * np.dtype(d).itemsize)), order + d).reshape(2, 3)
        for f in ('C', 'F'):
            name = d + {'<': 'l', '>': 'b'}[order] + f
            arrays[name] = np.array(a, order=f)
            np.save(sys.argv[1] + '/np-' + name + '.npy', arrays[name])
            little = a.astype(a.dtype.newbyteorder('<'))
            out[name] = [str(np.dtype(d)), little.tobytes().hex()]
np.savez(sys.argv[1] + '/np.npz', **arrays)
np.savez_compressed(sys.argv[1] + '/npc.npz', **arrays)
np.savez_compressed(sys.argv[1] + '/bomb.npz', a=np.zeros(1 << 20, 'f4'))
print(json.dumps(out))`,
        folder,
      ),
    )
    const parse = (name) => fs.readFileSync(at(name))
    for (const file of ['np.npz', 'npc.npz']) {
      const parsed = samebytes.parseNpz(parse(file))
      const loaded = await load(at(file))
      for (const [name, [dtype, bytes]] of Object.entries(said)) {
        assert.deepEqual(
          [parsed.get(name).dtype, hex(parsed.get(name))],
          [dtype, bytes],
          `${file} ${name}`,
        )
        assert.deepEqual(
          [loaded.get(name).dtype, hex(loaded.get(name))],
          [dtype, bytes],
          `${file} ${name}`,
        )
        assert.equal(hex(await samebytes.parseNpz(parse(file)).load(name)), bytes)
      }
    }
    for (const [name, [dtype, bytes]] of Object.entries(said)) {
      const t = samebytes.parseNpy(parse(`np-${name}.npy`))
      assert.deepEqual([t.dtype, hex(t)], [dtype, bytes], name)
      if (!isWasm) assert.equal(hex(openNpy(at(`np-${name}.npy`))), bytes, name)
    }
    const bomb = parse('bomb.npz')
    assert.equal(samebytes.parseNpz(bomb).get('a').size, 1 << 20)
    bomb[bomb.length >> 1] ^= 0xff
    refuses(() => samebytes.parseNpz(bomb).get('a'), 'ERR_FORMAT')
  })

  /** Every shape with a header of its own kind; so many digits in an extent leave less room behind the dict. */
  const SHAPES = [
    [],
    [1],
    [5],
    [0],
    [2, 3],
    [5, 1],
    [0, 2],
    [2, 3, 4],
    [2, 1, 3, 1, 2],
    [2 ** 40, 0],
    [0, 1, 2 ** 33, 3],
    Array(16).fill(1),
    [2 ** 33, ...Array(12).fill(1), 0],
    Array(32).fill(1),
  ]

  /** What NumPy saves of what it loaded of these files, the same names in another folder. */
  const savedAgain = (names, to) =>
    JSON.parse(
      python(
        `
import json, os, sys, numpy as np
out = []
for name in sys.argv[3:]:
    a = np.load(os.path.join(sys.argv[1], name))
    np.save(os.path.join(sys.argv[2], name), a)
    out.append([list(a.shape), a.tobytes().hex()])
print(json.dumps([np.lib.NumpyVersion(np.__version__) >= '1.24.0', out]))`,
        folder,
        to,
        ...names,
      ),
    )

  /** A .npy file of version 1 or 2: its magic number and version, what its dict says, its data. */
  function partsOf(bytes) {
    const begin = 10 + bytes.readUInt16LE(8)
    assert.deepEqual([begin % 64, bytes[begin - 1]], [0, 10])
    return [
      bytes.toString('latin1', 0, 8),
      bytes.toString('latin1', 10, begin).trim(),
      bytes.toString('hex', begin),
    ]
  }

  it('saves again what we saved: the same files, byte for byte', async function () {
    const to = at('again')
    fs.mkdirSync(to)
    const names = []
    const kept = async (name, t) => {
      names.push(name)
      await save(at(name), t)
      assert.deepEqual(fs.readFileSync(at(name)), Buffer.from(toNpyBytes(t)), name)
    }
    for (const dtype of samebytes.dtypes) {
      const bytesOf = (shape) =>
        Uint8Array.from({ length: zeros(shape, { dtype }).nbytes }, (_, k) =>
          dtype === 'bool' ? k & 1 : (k * 7) & 127,
        )
      for (const [i, shape] of SHAPES.entries()) {
        const t = samebytes.fromBytes(bytesOf(shape), shape, { dtype })
        await kept(`again-${dtype}-${i}.npy`, t)
        if (shape.length > 1) {
          await kept(
            `again-${dtype}-${i}T.npy`,
            t.permute(shape.map((_, d) => shape.length - 1 - d)),
          )
        }
      }
    }
    const [hasRoom, said] = savedAgain(names, to) // for a longer first axis, as ours have; older ones write the same in fewer bytes
    for (const [i, name] of names.entries()) {
      const [ours, theirs] = [fs.readFileSync(at(name)), fs.readFileSync(path.join(to, name))]
      if (/bfloat16|float8/.test(name)) {
        // raw bytes, whose order NumPy drops
        const descr = ours.indexOf("'descr': '") + 10
        assert.match(ours.toString('latin1', descr, descr + 4), /^[<|]V[12]'?$/)
        ours.write('|', descr)
      }
      assert.deepEqual(partsOf(theirs), partsOf(ours), name)
      if (hasRoom) assert.ok(theirs.equals(ours), name)
      const t = openNpy(at(name), /bfloat16|float8\w+/.exec(name)?.[0])
      assert.deepEqual(said[i], [t.shape, hex(t)], name)
      t.dispose()
    }
  })

  it('is saved again byte for byte, what it saved in our order of bytes', async function () {
    const [from, to] = [at('theirs'), at('ours')]
    for (const place of [from, to]) fs.mkdirSync(place)
    const [hasRoom, names] = JSON.parse(
      python(
        `
import json, os, sys, numpy as np
names = []
for d in 'b1 u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8 c8 c16'.split():
    for i, shape in enumerate(json.loads(sys.argv[2])):
        n = int(np.prod(shape, dtype='O')) * np.dtype(d).itemsize
        a = np.frombuffer(bytes((k & 1 if d == 'b1' else k * 5 + 1) & 127 for k in range(n)), d).reshape(shape)
        for order in 'CF':
            names.append('%s-%d%s.npy' % (d, i, order))
            np.save(os.path.join(sys.argv[1], names[-1]), np.array(a, order=order))
print(json.dumps([np.lib.NumpyVersion(np.__version__) >= '1.24.0', names]))`,
        from,
        JSON.stringify(SHAPES),
      ),
    )
    assert.equal(names.length, 14 * 2 * SHAPES.length)
    for (const name of names) {
      const t = openNpy(path.join(from, name))
      saveNpySync(path.join(to, name), t)
      t.dispose()
      const [theirs, ours] = [from, to].map((place) => fs.readFileSync(path.join(place, name)))
      assert.deepEqual(partsOf(ours), partsOf(theirs), name)
      if (hasRoom) assert.ok(ours.equals(theirs), name)
    }
  })

  it('writes versions 1, 2 and 3 of .npy, which we read: both orders of bytes, C and Fortran', async () => {
    const said = JSON.parse(
      python(
        `
import json, sys, numpy as np
out = {}
for version in (1, 2, 3):
    for d in 'b1 u1 i2 u4 i8 f2 f4 f8 c8 c16'.split():
        for order in '<>':
            a = np.frombuffer(bytes((k & 1 if d == 'b1' else k * 3 + version) & 127 for k in range(24 * np.dtype(d).itemsize)), order + d).reshape(2, 3, 4)
            for f in 'CF':
                name = 'v%d-%s%s%s.npy' % (version, d, {'<': 'l', '>': 'b'}[order], f)
                with open(sys.argv[1] + '/' + name, 'wb') as file: np.lib.format.write_array(file, np.array(a, order=f), version=(version, 0))
                out[name] = [version, str(np.dtype(d)), f, order == '>' and a.itemsize > 1, a.astype(a.dtype.newbyteorder('<')).tobytes().hex()]
print(json.dumps(out))`,
        folder,
      ),
    )
    assert.equal(Object.keys(said).length, 3 * 10 * 2 * 2)
    for (const [name, [version, dtype, order, isSwapped, bytes]] of Object.entries(said)) {
      const file = fs.readFileSync(at(name))
      assert.equal(file[6], version)
      const { result: mapped, copies } = copied(() => openNpy(at(name)))
      assert.deepEqual(
        copies,
        isSwapped ? { openNpy: { count: 1, bytes: bytes.length / 2 } } : {},
        name,
      )
      const found = [mapped, await load(at(name)), samebytes.parseNpy(file)]
      if (isSwapped) refuses(() => openNpy(at(name), { mode: 'r+' }), 'ERR_UNSUPPORTED')
      else {
        found.push(openNpy(at(name), { mode: 'r+' }), samebytes.SharedTensor.open(at(name)).tensor)
      }
      for (const t of found) {
        assert.deepEqual(
          [t.dtype, t.shape, t.strides, hex(t)],
          [dtype, [2, 3, 4], order === 'C' ? [12, 4, 1] : [1, 2, 6], bytes],
          name,
        )
        t.dispose()
      }
    }
  })

  it('sees what is written to a mapped file, and the other way around', function () {
    if (isWasm) skip(this, 'WASM maps no files')
    const t = createNpy(at('both.npy'), [4], 'int32')
    t.copyFrom([1, 2, 3, 4])
    assert.equal(
      python(
        "import sys, numpy as np; a = np.load(sys.argv[1], mmap_mode='r+'); print(a.tolist()); a *= 2",
        at('both.npy'),
      ).trim(),
      '[1, 2, 3, 4]',
    )
    assert.deepEqual(t.toArray(), [2, 4, 6, 8])
  })
})

describe('a program that calls process.exit while it saves', () => {
  it('leaves no draft behind', async function () {
    skipWithout(this, 'the WebAssembly build')
    fs.mkdirSync(at('exits'))
    for (const env of [{}, { SAMEBYTES_BACKEND: 'wasm' }]) {
      for (const begin of [
        'saveNpy(file(i), zeros([2 ** 20])).catch(() => {})',
        'createNpy?.(file(i), [2 ** 10])',
      ]) {
        const { code, stdout, stderr } = await child(
          `
        const { createNpy, saveNpy, zeros } = require('samebytes')
        const file = i => ${JSON.stringify(at('exits'))} + '/' + i + '.npy'
        for (let i = 0; i < 6; i++) { try { ${begin} } catch ({ code }) { if (code !== 'ERR_UNSUPPORTED') throw code } }
        setImmediate(() => process.exit(0))`,
          { env },
        )
        assert.deepEqual([code, stdout], [0, ''], stderr)
        assert.deepEqual(
          fs.readdirSync(at('exits')).filter((name) => name.endsWith('.tmp')),
          [],
        )
      }
    }
  })
})
