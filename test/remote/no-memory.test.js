'use strict'
// Each allocation of a load fails in turn: ERR_MEMORY, nothing stays, and the file is as usable as before.
const assert = require('node:assert/strict')
const zlib = require('node:zlib')
const {
  arange,
  arrayEqual,
  memory,
  fetchGguf,
  fetchNpy,
  fetchNpz,
  fetchSafetensors,
  setMemoryLimit,
  toNpyBytes,
  toNpzBytes,
  toSafetensorsBytes,
  zeros,
} = require('samebytes')
const { backend } = require('../../js/backend/calls')
const { budget } = require('../../js/backend/storage')
const { failure } = require('../../js/base/errors')
const { crc32, gguf, zip } = require('../files')
const { needs, restoresLimit } = require('../setup')
const { startNginx } = require('./nginx')

const N = 2 ** 16

/** Calls fn with the n-th block that a tensor is given missing. @returns {Promise<{ result: any, error: any, asked: number }>} asked: blocks */
async function withoutBlock(n, fn) {
  const { allocate } = backend
  let asked = 0
  backend.allocate = (...args) => {
    if (++asked === n) throw failure('ERR_MEMORY', 'there is none')
    return allocate.apply(backend, args)
  }
  try {
    return { result: await fn(), error: null, asked }
  } catch (error) {
    return { result: null, error, asked }
  } finally {
    delete backend.allocate
  }
}

/** Tensors that are alive, and blocks and bytes that are not given back. */
function alive() {
  const { tensors, storages, bytes } = memory()
  return [tensors, storages, Object.values(bytes).reduce((a, b) => a + b)]
}

describe('loads without memory', function () {
  needs('nginx')
  let server
  before(async () => {
    server = await startNginx()
  })
  after(() => server?.stop())
  restoresLimit(budget)

  const values = () => arange(N).astype('float32')
  const packed = () => {
    const array = Buffer.from(toNpyBytes(values()))
    return zip([
      [
        'a.npy',
        zlib.deflateRawSync(array),
        { method: 8, unpacked: array.length, crc: crc32(array) },
      ],
    ])
  }
  /** [the file, how it is opened, how it is read: the tensors that came] */
  const CASES = {
    'of a .safetensors': [
      () => toSafetensorsBytes({ a: values() }),
      fetchSafetensors,
      async (file) => [await file.load('a')],
    ],
    'of a .gguf': [
      () => gguf([], [['q', [64, 2], 2, 0]], Buffer.alloc(96, 9)),
      fetchGguf,
      async (file) => [await file.load('q')],
    ],
    'of a stored array': [
      () => toNpzBytes({ a: values() }),
      fetchNpz,
      async (file) => [await file.load('a')],
    ],
    'of a deflated array into another dtype': [
      packed,
      fetchNpz,
      async (file) => [await file.load('a', { dtype: 'float64' })],
    ],
    'into another dtype': [
      () => toSafetensorsBytes({ a: values() }),
      fetchSafetensors,
      async (file) => [await file.load('a', { dtype: 'float64' })],
    ],
    'into every second element': [
      () => toSafetensorsBytes({ a: values() }),
      fetchSafetensors,
      async (file) => {
        const base = zeros([2 * N])
        const out = base.slice('::2')
        try {
          await file.load('a', { out })
          return [out, base]
        } catch (error) {
          out.dispose()
          base.dispose()
          throw error
        }
      },
    ],
    'of several': [
      () => toSafetensorsBytes({ a: values(), b: arange(5), c: values() }),
      fetchSafetensors,
      async (file) => Object.values(await file.loadAll({ dtype: 'float64' })),
    ],
  }

  for (const [name, [bytes, open, read]] of Object.entries(CASES)) {
    it(`${name} are ERR_MEMORY, and leave nothing`, async () => {
      const file = await open(server.write('file', Buffer.from(bytes())))
      const expected = await read(file)
      for (let n = 1; ; n++) {
        const before = alive()
        const { result, error, asked } = await withoutBlock(n, () => read(file))
        for (const [i, t] of (result ?? []).entries()) assert.ok(arrayEqual(t, expected[i]))
        for (const t of result ?? []) t.dispose()
        const after = alive() // others may have been collected
        assert.ok(
          after.every((count, i) => count <= before[i]),
          `block ${n}: ${before} before, ${after} now`,
        )
        if (error === null) {
          assert.ok(n > 1 && asked < n)
          break
        }
        assert.equal(error.code, 'ERR_MEMORY', error.stack)
      }
      file.close()
    })
  }

  it('beyond the limit are ERR_MEMORY before anything is asked for', async () => {
    const url = server.write(
      'limit.safetensors',
      Buffer.from(toSafetensorsBytes({ a: values(), b: arange(3) })),
    )
    const file = await fetchSafetensors(url)
    await server.requests(1)
    const array = server.write('limit.npy', Buffer.from(toNpyBytes(values())))
    setMemoryLimit(2 ** 17) // less than the array takes, whatever else is collected meanwhile
    await assert.rejects(file.load('a'), { code: 'ERR_MEMORY', message: /setMemoryLimit/ })
    await assert.rejects(file.loadAll(), { code: 'ERR_MEMORY' })
    await assert.rejects(fetchNpy(array), { code: 'ERR_MEMORY' })
    assert.deepEqual(
      (await server.requests(1)).map(({ uri }) => uri),
      ['/limit.npy'],
    ) // its header
    setMemoryLimit(alive()[2] + 2 ** 17) // collecting makes more room
    assert.deepEqual((await file.load('b')).toArray(), [0, 1, 2])
    setMemoryLimit(Infinity)
    assert.equal((await file.load('a')).get(N - 1), N - 1)
    file.close()
  })
})
