'use strict'
const assert = require('node:assert/strict')
const { childJson, nativeOnly } = require('../setup')

// Electron refuses external ArrayBuffers; the switch makes this process refuse them as well.
describe('without external buffers', function () {
  this.timeout(30000)
  nativeOnly()
  const env = { SAMEBYTES_NO_EXTERNAL_BUFFERS: '1', SAMEBYTES_BACKEND: 'native' }

  it('owned float32 tensors work, small and large', async () => {
    const result = await childJson(`
      const { backend, tensor, zeros, fromBlob } = require('samebytes')
      const small = tensor([1, 2, 3])
      small.data[0] = 10
      const large = zeros([100000])
      large.slice('::2').fill(1)
      const source = new Float32Array([5, 6])
      const blob = fromBlob(source)
      blob.set(50, 0)
      console.log(JSON.stringify([backend(), small.toArray(), large.data.slice(0, 4).join(), [...source], [...blob.data]]))
    `, { env })
    assert.deepEqual(result, ['native', [10, 2, 3], '1,0,1,0', [50, 6], [50, 6]])
  })

  it('data of shared float32 memory is ERR_UNSUPPORTED, and the rest works', async () => {
    const result = await childJson(`
      const { empty, fromBlob } = require('samebytes')
      const codes = []
      const code = fn => { try { fn(); return 'none' } catch (error) { return error.code } }
      const t = empty([4], { shared: true }).fill(2)
      t.set(7, 1)
      const blob = fromBlob(t.dataPtr, [4], { dtype: 'float32', owner: t })
      console.log(JSON.stringify([code(() => t.data), code(() => t.bytes), code(() => blob.data),
        blob.toArray(), t.slice('1:').clone().data.join()]))
    `, { env })
    assert.deepEqual(result, ['ERR_UNSUPPORTED', 'ERR_UNSUPPORTED', 'ERR_UNSUPPORTED', [2, 7, 2, 2], '7,2,2'])
  })
})
