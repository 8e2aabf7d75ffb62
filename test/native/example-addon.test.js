'use strict'
const assert = require('node:assert/strict')
const { fromBlob, memory, sharesMemory, tensor, zeros } = require('samebytes')
const { childJson, collectUntil, copied, fails, nativeOnly } = require('../setup')
const { addonOf } = require('../tools')

const ADDON = addonOf('examples/addon', 'levels')

describe('the example addon', () => {
  nativeOnly()
  let stretch

  before(() => {
    ;({ stretch } = require(ADDON))
  })

  it('works on a uint8 picture in place and returns a tensor of its own', async () => {
    const picture = tensor(
      [
        [10, 20],
        [30, 60],
      ],
      { dtype: 'uint8' },
    )
    const { result: counts, copies } = copied(() => stretch(picture))
    assert.deepEqual(copies, {})
    assert.deepEqual(picture.toArray(), [
      [0, 51],
      [102, 255],
    ])
    assert.deepEqual(
      [counts.dtype, counts.shape, counts.get(10), counts.get(60), counts.get(11)],
      ['int32', [256], 1, 1, 0],
    )
    counts.set(5, 0)
    assert.equal(counts.data[0], 5)
    assert.equal(sharesMemory(counts, picture), false)
    assert.equal(memory().exported, 0)
    const before = memory().bytes.native
    counts.dispose()
    assert.ok(await collectUntil(() => memory().bytes.native <= before - 1024))
  })

  it("works on the caller's bytes, and on views that are flipped and transposed", () => {
    const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6)
    stretch(fromBlob(bytes, [2, 3]).T.flip(0).slice('1:'))
    assert.deepEqual([...bytes], [0, 63, 3, 191, 255, 6])
  })

  it('refuses other tensors, and what is none', () => {
    assert.throws(() => stretch(zeros([2, 2])), { code: 'ERR_PICTURE', name: 'TypeError' })
    assert.throws(() => stretch(zeros([1, 2], 'uint8').expand(2, 2)), { code: 'ERR_PICTURE' })
    fails(() => stretch([1, 2]), TypeError, 'ERR_ARGUMENT')
    fails(
      () => stretch(fromBlob(new Uint8Array(4), [2, 2], { readOnly: true })),
      Error,
      'ERR_READ_ONLY',
    )
    assert.equal(memory().exported, 0)
  })

  it("needs nothing of samebytes' when it is loaded", async () => {
    assert.deepEqual(
      await childJson(
        `console.log(JSON.stringify(Object.keys(require(${JSON.stringify(ADDON)}))))`,
      ),
      ['stretch'],
    )
  })
})
