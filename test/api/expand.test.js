'use strict'
const assert = require('node:assert/strict')
const { fromBlob, rand, sharesMemory, tensor, zeros } = require('samebytes')
const { agrees } = require('../oracle')
const { fails, refusedUnchanged } = require('../setup')

describe('expand', () => {
  agrees('expand', { seed: 106 }, ({ array, next, pick }) => {
    const one = array(next(5), { extents: [1, 1, 1, 2, 3] })
    const kept = one.now.map((n) => pick(n === 1 ? [1, 2, 3, 4, -1, 0] : [n, n, n, -1]))
    const shape = [...Array.from({ length: next(3) }, () => pick([0, 1, 2, 3])), ...kept]
    const wrong = shape.map((n) => (next(5) ? n : pick([5, -1, -2])))
    return { ...one, args: [pick([shape, shape, wrong, shape.slice(1)])] }
  })

  it('repeats float32 elements without copying them, also under the name broadcastTo', () => {
    const t = tensor([[1], [2]])
    for (const name of ['expand', 'broadcastTo']) {
      const v = t[name](2, 2, -1)
      assert.deepEqual(v.toArray(), [
        [[1], [2]],
        [[1], [2]],
      ])
      assert.deepEqual(t[name]([2, 3]).toArray(), [
        [1, 1, 1],
        [2, 2, 2],
      ])
      assert.deepEqual(tensor(7)[name]([2]).toArray(), [7, 7])
      assert.equal(tensor(7)[name]().item(), 7)
      assert.equal(sharesMemory(v, t), true)
      t.set(5, 1, 0)
      assert.deepEqual(v.get(0, 1, 0), 5)
      t.set(2, 1, 0)
    }
  })

  it('of one element has as many as a number counts', () => {
    const t = tensor([3]).expand(2 ** 53 - 1)
    assert.equal(t.size, 2 ** 53 - 1)
    assert.equal(t.get(2 ** 53 - 2), 3)
    assert.equal(t.capacity, 2 ** 53 - 1)
    fails(() => t.resize(1), RangeError, 'ERR_SHAPE', /gaps/)
    fails(() => t.toArray(), RangeError, 'ERR_MEMORY')
    fails(() => tensor([3]).expand(2 ** 53 - 1, 2 ** 53 - 1), RangeError, 'ERR_SHAPE')
    fails(() => tensor([3]).expand(2 ** 30, 2 ** 30), RangeError, 'ERR_SHAPE')
  })

  it('names the shapes that do not fit', () => {
    const t = tensor([1, 2])
    fails(() => t.expand(3), RangeError, 'ERR_SHAPE', /\[2\] does not broadcast to \[3\]/)
    fails(() => t.expand(-1, 2), RangeError, 'ERR_SHAPE', /shape\[0\] is -1/)
    fails(() => t.expand(), RangeError, 'ERR_SHAPE')
    fails(() => t.expand(new Array(65).fill(1)), RangeError, 'ERR_SHAPE')
    for (const bad of [null, '2', undefined, true, {}, 2n]) {
      refusedUnchanged(t, () => t.expand(bad), 'ERR_ARGUMENT')
    }
  })
})

// What shows an element twice cannot be copied into; one value everywhere, or one element, is no question.
describe('ERR_OVERLAP', () => {
  const views = {
    'expand of float32': (t) => t.narrow(0, 0, 1).expand(3, 6),
    'an overlapping unfold of float32': (t) => t.select(0, 0).unfold(0, 3, 2),
    'an overlapping asStrided of float32': (t) => t.asStrided([2, 3], [2, 1], 0),
    'asStrided of float32 with a zero stride': (t) => t.asStrided([2, 3], [6, 0], 0),
    'asStrided of float32 with strides that meet': (t) => t.asStrided([3, 3], [2, -2], 4),
    'half of an expanded float32': (t) => t.narrow(0, 0, 1).expand(4, 6).narrow(0, 1, 2),
  }
  const targets = {
    'of ours': () =>
      tensor([
        [0, 1, 2, 3, 4, 5],
        [6, 7, 8, 9, 10, 11],
        [12, 13, 14, 15, 16, 17],
      ]),
    'of the caller': () =>
      fromBlob(
        new Float32Array(18).map((_, i) => i),
        [3, 6],
      ),
  }
  for (const [name, make] of Object.entries(views)) {
    for (const [whose, base] of Object.entries(targets)) {
      it(`${name}, bytes ${whose}: copyFrom, setBytes and copyFromAsync are refused, and nothing is written`, async () => {
        const t = base()
        const v = make(t)
        const sources = [
          1,
          zeros(v.shape),
          new Float32Array(v.size),
          v,
          t.narrow(0, 0, 1).narrow(1, 0, 1),
        ]
        for (const source of sources) {
          refusedUnchanged(t, () => v.copyFrom(source), 'ERR_OVERLAP')
          refusedUnchanged(
            t,
            () => v.copyFrom(source, { scale: 2, casting: 'unsafe' }),
            'ERR_OVERLAP',
          )
          await assert.rejects(v.copyFromAsync(source), { code: 'ERR_OVERLAP' })
        }
        refusedUnchanged(t, () => v.setBytes(new Uint8Array(v.nbytes)), 'ERR_OVERLAP')
        assert.deepEqual(t.toArray(), base().toArray())
      })

      it(`${name}, bytes ${whose}: fill, zero and set write, as PyTorch does`, () => {
        const t = base()
        const v = make(t)
        v.fill(7)
        assert.ok(
          v
            .toArray()
            .flat()
            .every((x) => x === 7),
        )
        v.set(8, 0, 0)
        assert.equal(v.get(0, 0), 8)
        v.zero()
        assert.ok(
          v
            .toArray()
            .flat()
            .every((x) => x === 0),
        )
        assert.equal(
          t
            .toArray()
            .flat()
            .filter((x, i) => x !== base().toArray().flat()[i]).length > 0,
          true,
        )
      })
    }
  }

  it('does not concern float32 targets that only look so: one element, none, or disjoint windows', () => {
    const t = rand([4, 4])
    t.asStrided([1, 1], [0, 0], 5).copyFrom(3)
    assert.equal(t.get(1, 1), 3)
    t.asStrided([0, 5], [0, 0], 5).copyFrom(3)
    t.view([16]).unfold(0, 4, 4).copyFrom(1)
    t.asStrided([2, 2], [3, 2], 0).copyFrom([
      [1, 2],
      [3, 4],
    ])
    assert.deepEqual(t.toArray().flat().slice(0, 6), [1, 1, 2, 3, 1, 4])
  })
})
