'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { constants } = require('node:buffer')
const { createNpy, flush, fromBlob, full, memory, tidy } = require('samebytes')
const { childJson, nativeOnly, refuses, skip } = require('../setup')

// Electron refuses external ArrayBuffers; the switch makes this process refuse them as well.
describe('without external buffers', function () {
  nativeOnly()
  const env = { SAMEBYTES_NO_EXTERNAL_BUFFERS: '1', SAMEBYTES_BACKEND: 'native' }

  it('owned float32 tensors work, small and large', async () => {
    const result = await childJson(
      `
      const { backend, tensor, zeros, fromBlob } = require('samebytes')
      const small = tensor([1, 2, 3])
      small.data[0] = 10
      const large = zeros([100000])
      large.slice('::2').fill(1)
      const source = new Float32Array([5, 6])
      const blob = fromBlob(source)
      blob.set(50, 0)
      console.log(JSON.stringify([backend(), small.toArray(), large.data.slice(0, 4).join(), [...source], [...blob.data]]))
    `,
      { env },
    )
    assert.deepEqual(result, ['native', [10, 2, 3], '1,0,1,0', [50, 6], [50, 6]])
  })

  it('data of shared float32 memory is ERR_UNSUPPORTED, and the rest works', async () => {
    const result = await childJson(
      `
      const { empty, fromBlob } = require('samebytes')
      const codes = []
      const code = fn => { try { fn(); return 'none' } catch (error) { return error.code } }
      const t = empty([4], { shared: true }).fill(2)
      t.set(7, 1)
      const blob = fromBlob(t.dataPtr, [4], { dtype: 'float32', owner: t })
      console.log(JSON.stringify([code(() => t.data), code(() => t.bytes), code(() => blob.data),
        blob.toArray(), t.slice('1:').clone().data.join()]))
    `,
      { env },
    )
    assert.deepEqual(result, [
      'ERR_UNSUPPORTED',
      'ERR_UNSUPPORTED',
      'ERR_UNSUPPORTED',
      [2, 7, 2, 2],
      '7,2,2',
    ])
  })
})

describe('a buffer larger than the runtime makes', function () {
  nativeOnly()

  it('is ERR_UNSUPPORTED and leaves the uint8 memory alive, and its deleter where it is', async function () {
    if (constants.MAX_LENGTH >= 2 ** 52) return skip(this, 'this runtime makes buffers of any size')
    const calls = []
    const kept = full([16], 7, { dtype: 'uint8', shared: true })
    const storages = memory().storages
    // More bytes than there are, none of which is touched but the first.
    const t = fromBlob(kept.dataPtr, {
      dtype: 'uint8',
      nbytes: 2 ** 52,
      deleter: (address) => calls.push(address),
    })
    for (let i = 0; i < 5; i++) {
      refuses(() => t.data, 'ERR_UNSUPPORTED')
      refuses(() => t.bytes, 'ERR_UNSUPPORTED')
    }
    globalThis.gc()
    await flush()
    assert.deepEqual(calls, [])
    assert.equal(t.get(0), 7)
    assert.equal(
      tidy(() => t.narrow(0, 0, 16).clone().get(15)),
      7,
    )
    t.dispose()
    await flush()
    assert.deepEqual(calls, [kept.dataPtr])
    assert.ok(memory().storages <= storages + 1) // + 1: what single elements are read through
  })
})

describe('a buffer over a mapped file', function () {
  nativeOnly()

  it('may be collected together with its tensor, several collections before the event loop turns', async () => {
    const file = path.join(os.tmpdir(), `samebytes-${process.pid}-collected.npy`)
    try {
      createNpy(file, [2 ** 22]).dispose()
      const rounds = await childJson(
        `
        const { openNpy } = require('samebytes')
        async function main () {
          for (let round = 0; round < 3; round++) {
            (() => { openNpy(${JSON.stringify(file)}).data[0] })()
            for (let i = 0; i < 4; i++) {
              for (let n = 0; n < 3; n++) gc() // V8 counts the buffer out before its watch hears of it
              await new Promise(resolve => setImmediate(resolve))
            }
          }
          console.log(3)
        }
        main()`,
        { flags: ['--expose-gc'] },
      )
      assert.equal(rounds, 3)
    } finally {
      fs.rmSync(file, { force: true })
    }
  })
})
