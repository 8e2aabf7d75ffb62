'use strict'
const assert = require('node:assert/strict')
const { fromBlob, memory, sharesMemory, tensor, zeros } = require('samebytes')
const { copied, refusedUnchanged, refuses, settledMemory } = require('../setup')
const { SAMPLES } = require('../tables')

describe('setData of a tensor', () => {
  for (const { dtype, values } of SAMPLES) {
    it(`shows another tensor's ${dtype} bytes; views made before stay on the old ones`, () => {
      const t = tensor(values, [2, 3], { dtype })
      const view = t.flip()
      const other = tensor([...values].reverse(), [6], { dtype })
      const { result, copies } = copied(() => t.setData(other))
      assert.equal(result, t)
      assert.deepEqual(copies, {})
      assert.equal(sharesMemory(t, other), true)
      assert.equal(sharesMemory(t, view), false)
      assert.deepEqual(t.view([6]).toArray(), other.toArray())
      assert.deepEqual(view.flip().view([6]).toArray(), values)
      t.set(values[1], 0, 0)
      assert.deepEqual(other.get(0), values[1])
      other.dispose()
      assert.deepEqual(t.get(0, 0), values[1])
    })
  }

  it("keeps shape and strides, from the float32 source's first element on", () => {
    const t = zeros([2, 3]).T
    t.setData(tensor([0, 1, 2, 3, 4, 5, 6, 7]).narrow(0, 2, 6))
    assert.deepEqual([t.shape, t.strides, t.offset, t.capacity], [[3, 2], [1, 3], 2, 6])
    assert.deepEqual(t.toArray(), [
      [2, 5],
      [3, 6],
      [4, 7],
    ])
    refuses(() => t.asStrided([9], [1], 0), 'ERR_BOUNDS')
  })

  it('counts tensors and storages: the old one goes when nobody has it', () => {
    const before = settledMemory()
    const [t, other] = [zeros([1000]), zeros([1000])]
    const view = t.view()
    t.setData(other)
    assert.equal(memory().storages - before.storages, 2)
    view.dispose()
    assert.equal(memory().storages - before.storages, 1)
    other.dispose()
    const last = t.view()
    t.setData(t).setData(last).dispose()
    assert.equal(memory().storages - before.storages, 1)
    assert.equal(memory().tensors - before.tensors, 1)
    last.dispose()
    assert.equal(memory().storages, before.storages)
  })

  it('makes no tensor its own base, however they go round', () => {
    const [a, b, c] = [zeros([2]), zeros([2]), zeros([2])]
    for (const [to, from] of [
      [a, b],
      [b, c],
      [c, a],
      [b, c],
      [a, a.view()],
      [c, b],
      [b, a],
    ]) {
      to.setData(from)
      for (const t of [a, b, c]) {
        let base = t
        for (let steps = 0; base !== undefined; steps++, { base } = base) assert.ok(steps < 4)
      }
    }
  })

  it('refuses another dtype, too few elements, gaps, other bytes before the first; nothing has changed', () => {
    const t = tensor([1, 2, 3])
    refusedUnchanged(t, () => t.setData(zeros([3], 'int32')), 'ERR_DTYPE')
    refusedUnchanged(t, () => t.setData(zeros([2])), 'ERR_BOUNDS')
    refusedUnchanged(t, () => t.setData(zeros([6]).slice('::2')), 'ERR_SHAPE')
    const back = t.flip()
    refusedUnchanged(back, () => back.setData(zeros([9])), 'ERR_BOUNDS')
    for (const bad of [undefined, null, 1, 'x', {}, [1, 2, 3]]) {
      refusedUnchanged(t, () => t.setData(bad), 'ERR_ARGUMENT')
    }
    const gone = zeros([3])
    gone.dispose()
    refusedUnchanged(t, () => t.setData(gone), 'ERR_DISPOSED')
    const source = new Float32Array(3)
    const detached = fromBlob(source, [3])
    structuredClone(source, { transfer: [source.buffer] })
    refusedUnchanged(t, () => t.setData(detached), 'ERR_DETACHED')
  })

  it('is read-only where the float32 source is', () => {
    const t = zeros([2]).setData(fromBlob(new Float32Array(2), { readOnly: true }))
    refuses(() => t.fill(1), 'ERR_READ_ONLY')
    assert.equal(t.setData(zeros([2])).isReadOnly, false)
  })
})
