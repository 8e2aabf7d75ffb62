'use strict'
const assert = require('node:assert/strict')
const {
  backend,
  empty,
  flush,
  fromBlob,
  full,
  memory,
  sharesMemory,
  tensor,
  zeros,
} = require('samebytes')
const {
  collectAll,
  collectUntil,
  copied,
  fails,
  leavesNothing,
  quietMemory,
  refusedUnchanged,
  settledMemory,
} = require('../setup')
const { SAMPLES } = require('../tables')

const total = () => Object.values(memory().bytes).reduce((a, b) => a + b, 0)

describe('setData', () => {
  describe('of a typed array', () => {
    it('adopts a Float32Array: the same bytes both ways, nothing copied', () => {
      const t = zeros([2, 2])
      const source = new Float32Array([1, 2, 3, 4])
      const { result, copies } = copied(() => t.setData(source))
      assert.equal(result, t)
      assert.deepEqual(copies, {})
      assert.deepEqual(t.toArray(), [
        [1, 2],
        [3, 4],
      ])
      source[3] = 40
      assert.equal(t.get(1, 1), 40)
      t.set(10, 0, 0)
      assert.equal(source[0], 10)
      assert.equal(t.data.buffer, source.buffer)
    })

    for (const { dtype, values } of SAMPLES) {
      it(`takes what data of ${dtype} gives`, () => {
        const t = zeros([2, 3], dtype)
        const from = tensor(values, [6], { dtype })
        t.setData(from.data)
        assert.deepEqual(t.toArray(), [values.slice(0, 3), values.slice(3)])
        t.set(values[0], 1, 2)
        assert.deepEqual(from.get(5), values[0])
        from.dispose()
        assert.deepEqual(t.get(1, 2), values[0])
      })
    }

    it('makes it the owner, and the tensor no view', () => {
      const base = zeros([4])
      const view = base.slice('1:3')
      const source = new Float32Array(2)
      view.setData(source)
      assert.deepEqual([view.owner, view.base, view.isView], [source, undefined, false])
      assert.equal(view.slice('1:').owner, source)
      assert.equal(sharesMemory(view, base), false)
    })

    it('keeps shape, strides and dynamism; capacity is then numel', () => {
      const t = tensor([
        [1, 2],
        [3, 4],
      ]).T.clone()
      t.setData(new Float32Array([1, 2, 3, 4, 5]))
      assert.deepEqual([t.shape, t.strides, t.offset, t.capacity], [[2, 2], [1, 2], 0, 4])
      assert.deepEqual(t.toArray(), [
        [1, 3],
        [2, 4],
      ])
      assert.equal(
        zeros([2], { dynamism: 'static' }).setData(new Float32Array(2)).dynamism,
        'static',
      )
    })

    it("makes a read-only tensor writable: the flag is the bytes'", () => {
      const t = fromBlob(new Float32Array(2), { readOnly: true })
      t.setData(new Float32Array(2)).fill(1)
      assert.deepEqual(t.toArray(), [1, 1])
      t.setData(fromBlob(new Float32Array(2), { readOnly: true }))
      fails(() => t.fill(1), Error, 'ERR_READ_ONLY')
    })

    it('refuses another dtype, too few elements, misaligned, detached and other things, and changes nothing', () => {
      const t = tensor([
        [1, 2],
        [3, 4],
      ])
      const gone = new Float32Array(4)
      structuredClone(gone.buffer, { transfer: [gone.buffer] })
      const refusals = [
        [new Float64Array(4), 'ERR_DTYPE'],
        [new Int32Array(4), 'ERR_DTYPE'],
        [Buffer.alloc(16), 'ERR_DTYPE'],
        [new Float32Array(3), 'ERR_BOUNDS'],
        [new Float32Array(0), 'ERR_BOUNDS'],
        [gone, 'ERR_DETACHED'],
        [new ArrayBuffer(16), 'ERR_ARGUMENT'],
        [new DataView(new ArrayBuffer(16)), 'ERR_ARGUMENT'],
        [[1, 2, 3, 4], 'ERR_ARGUMENT'],
        [1n, 'ERR_ARGUMENT'],
        [undefined, 'ERR_ARGUMENT'],
      ]
      const before = settledMemory()
      for (const [source, code] of refusals) refusedUnchanged(t, () => t.setData(source), code)
      assert.ok(memory().storages <= before.storages)
      const complex = zeros([2], 'complex128')
      complex.setData(new Float64Array([1, 2, 3, 4]))
      assert.deepEqual(complex.toArray(), [
        [1, 2],
        [3, 4],
      ])
      refusedUnchanged(complex, () => complex.setData(new Float64Array(3)), 'ERR_BOUNDS')
      assert.equal(t.isView, false)
    })

    it('lets go of data of another tensor that it refuses: float32', () => {
      const t = zeros([100000])
      leavesNothing(
        () => {
          const other = zeros([50000])
          refusedUnchanged(t, () => t.setData(other.data), 'ERR_BOUNDS')
          other.dispose()
        },
        () => [total()],
      )
    })

    it('is ERR_DISPOSED of a disposed tensor', () => {
      const t = zeros([2])
      t.dispose()
      fails(() => t.setData(new Float32Array(2)), Error, 'ERR_DISPOSED')
      fails(() => zeros([2]).setData(t), Error, 'ERR_DISPOSED')
    })
  })

  describe('of a tensor', () => {
    it("shows its float32 bytes both ways; base and owner are the source's", () => {
      const [t, source] = [zeros([2]), full([4], 3)]
      t.setData(source.slice('1:3'))
      assert.deepEqual([t.base, t.isView, t.owner], [source, true, undefined])
      t.set(8, 0)
      assert.deepEqual(source.toArray(), [3, 8, 3, 3])
      const array = new Float32Array(2)
      t.setData(fromBlob(array))
      assert.equal(t.owner, array)
      const kept = full([2], 4)
      t.setData(fromBlob(kept.toBlob()))
      assert.equal(t.owner, kept)
    })

    it('of a view of itself is no view of itself', () => {
      const t = tensor([
        [1, 2],
        [3, 4],
      ])
      const row = t.select(0, 0)
      row.setData(t.select(0, 1))
      assert.equal(row.base, t)
      assert.deepEqual(row.toArray(), [3, 4])
      t.setData(t.view([4]))
      assert.deepEqual([t.base, t.isView], [undefined, false])
      t.setData(t)
      assert.deepEqual(
        [t.base, t.toArray()],
        [
          undefined,
          [
            [1, 2],
            [3, 4],
          ],
        ],
      )
    })
  })

  describe('and lifetimes:', () => {
    it('views made before stay on the old float32 bytes', () => {
      const t = tensor([1, 2, 3, 4])
      const view = t.slice('1:')
      const { data } = t
      t.setData(new Float32Array([5, 6, 7, 8]))
      t.fill(9)
      assert.deepEqual(view.toArray(), [2, 3, 4])
      if (backend() === 'native') assert.deepEqual([...data], [1, 2, 3, 4])
      assert.equal(sharesMemory(t, view), false)
      assert.equal(view.base, t)
    })

    it('the old float32 storage is freed at once, or with the last view of it', async () => {
      const size = 100000
      const t = empty([size], { shared: true })
      const view = empty([size], { shared: true })
      await quietMemory()
      const before = total()
      t.setData(new Float32Array(size))
      assert.equal(total(), before - 4 * size)
      const [a, b] = [view.slice('1:'), view.slice('2:')]
      view.setData(new Float32Array(size))
      a.dispose()
      assert.equal(total(), before - 4 * size)
      b.dispose()
      assert.equal(total(), before - 8 * size)
    })

    it('an adopted Float32Array is given up by the next setData and by dispose', async () => {
      let gone = 0
      const registry = new FinalizationRegistry(() => gone++)
      const make = () => {
        const array = new Float32Array(4).fill(7)
        registry.register(array)
        return array
      }
      const t = zeros([4])
      ;(() => t.setData(make()))()
      await collectAll()
      assert.deepEqual([gone, t.get(3)], [0, 7])
      ;(() => t.setData(make()))()
      assert.equal(await collectUntil(() => gone === 1), true)
      t.dispose()
      assert.equal(await collectUntil(() => gone === 2), true)
    })

    it('a deleter runs once, when the last user is gone, with the address it was given: not the new one', async () => {
      const calls = []
      const source = new Float32Array(4)
      const t = fromBlob(source, [4], { deleter: (address) => calls.push(address) })
      const address = backend() === 'native' ? t.dataPtr : 0n
      const view = t.slice('1:')
      t.setData(new Float32Array(4))
      await flush()
      assert.deepEqual(calls, [])
      view.dispose()
      await flush()
      assert.deepEqual(calls, [address])
      t.dispose()
      await flush()
      assert.equal(calls.length, 1)
    })

    it('memory() is as before after a thousand rounds', () => {
      const t = zeros([4])
      const array = new Float32Array(4)
      t.setData(array)
      const before = settledMemory()
      for (let i = 0; i < 1000; i++) t.setData(i % 2 ? array : full([4], 1, { shared: true }))
      const after = memory()
      assert.ok(
        after.storages <= before.storages + 500,
        `${after.storages - before.storages} storages`,
      ) // the 500 sources are not disposed
      t.setData(array)
      for (let i = 0; i < 1000; i++) {
        const source = full([4], i, { shared: true })
        t.setData(source)
        source.dispose()
      }
      assert.equal(t.get(0), 999)
      t.setData(array)
      assert.ok(memory().tensors <= after.tensors + 1)
    })
  })
})
