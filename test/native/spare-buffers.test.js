'use strict'
// Buffers of disposed tensors: the next tensors of their size have them, but where somebody has seen them, or may have.
const assert = require('node:assert/strict')
const { add, addAsync, multiply } = require('samebytes/math')
const {
  empty,
  full,
  fromBlob,
  memory,
  ones,
  setMemoryLimit,
  share,
  tensor,
  tidy,
  toNpyBytes,
  zeros,
} = require('samebytes')
const { collectAll, copied, nativeOnly, restoresLimit, settledMemory } = require('../setup')
const { budget } = require('../../js/backend/storage')
const { backend } = require('../../js/backend/call-buffer')

const N = 40_000 // elements: more bytes than are counted together
const MARK = 8191

/** A tensor with MARK in each element, disposed after use(it). */
function disposed(use = () => {}, n = N) {
  const t = empty([n]).fill(MARK)
  const seen = use(t)
  t.dispose()
  return seen
}

/** Is a buffer kept for the next tensor of n elements, and has that MARK in it? */
function isUsedAgain(n = N) {
  const { length } = backend.spare.list
  const t = empty([n])
  return backend.spare.list.length === length - 1 && t.data.every((x) => x === MARK)
}

describe('buffers of disposed tensors', () => {
  restoresLimit(budget)
  nativeOnly()
  beforeEach(() => {
    backend.spare.clear()
  })

  it('are those of the next tensors of their size', () => {
    disposed()
    assert.ok(isUsedAgain())
    assert.ok(!isUsedAgain(), 'once')
    disposed()
    assert.ok(!isUsedAgain(N + 16))
    assert.ok(isUsedAgain())
  })

  it('have results of arithmetic, copies and what tidy disposed', () => {
    const x = ones([N])
    for (const make of [
      () => add(x, MARK - 1),
      () => multiply(x, MARK),
      () => full([N], MARK).clone(),
      () =>
        tidy(() => {
          full([N], MARK).dispose()
          return ones([2])
        }),
    ]) {
      backend.spare.clear()
      make().dispose()
      assert.ok(isUsedAgain(), make)
    }
  })

  it('zeros has none', () => {
    disposed()
    assert.ok(zeros([N]).data.every((x) => x === 0))
  })

  const unseen = () => null // no data to look at
  const SEEN = {
    data: (t) => t.data,
    bytes: (t) => new Float32Array(t.bytes.buffer, t.bytes.byteOffset, N),
    'data of a view': (t) => t.view([2, N / 2]).select(0, 1).data,
    'a typed array that is disposed with it': (t) => t.slice('10:').data,
    dataPtr: (t) => unseen(t.dataPtr),
    'a blob record': (t) => fromBlob({ ...t.toBlob() }).data,
    'a capsule': (t) => unseen(t.__dlpack__()),
    'a tensor over its buffer': (t) => fromBlob(t.data).data,
    accessor: (t) => unseen(t.accessor().get(0)),
    get: (t) => unseen(t.get(0)),
  }
  for (const [what, see] of Object.entries(SEEN)) {
    it(`are nobody's where somebody has seen them: ${what}`, () => {
      const data = disposed(see)
      assert.ok(!isUsedAgain())
      if (data !== null) assert.ok(data.length > 0 && data.every((x) => x === MARK))
    })
  }

  it('stay while a view, or an operation that is pending, has them', async () => {
    const t = full([N], MARK)
    const view = t.narrow(0, 5, 10)
    t.dispose()
    assert.ok(!isUsedAgain())
    const large = 4 * 2 ** 20
    for (const begin of [(x) => zeros([large]).copyFromAsync(x), (x) => addAsync(x, 0)]) {
      const x = full([large], MARK)
      const promise = begin(x)
      x.dispose()
      isUsedAgain(large)
      assert.ok((await promise).data.every((x) => x === MARK))
    }
    assert.deepEqual(view.toArray(), Array(10).fill(MARK))
  })

  it('are not written to by an element that is set, a file that is read from, a token', () => {
    const file = toNpyBytes(full([N], MARK))
    const token = share(tensor(full([N], MARK), { shared: true }))
    assert.ok(!isUsedAgain())
    assert.ok(file.length > 4 * N && token)
  })

  it('count as no memory in use, nor as copies', () => {
    const { copies } = copied(() => {
      const before = settledMemory()
      disposed()
      const after = memory()
      assert.deepEqual(
        [after.tensors, after.storages, after.bytes.v8],
        [before.tensors, before.storages, before.bytes.v8],
      )
    })
    assert.deepEqual(copies, {})
  })

  it('are eight at most, of 64 MiB together, the latest', () => {
    for (let i = 0; i < 12; i++) disposed(undefined, N + 16 * i)
    assert.equal(backend.spare.list.length, 8)
    assert.ok(!isUsedAgain(N + 16 * 3))
    assert.ok(isUsedAgain(N + 16 * 4))
    backend.spare.clear()
    for (const t of Array.from({ length: 6 }, () => empty([5 * 2 ** 20]))) t.dispose()
    assert.equal(backend.spare.list.length, 3)
    assert.ok(backend.spare.nbytes > 60 * 2 ** 20 && backend.spare.nbytes <= 64 * 2 ** 20)
    empty([17 * 2 ** 20]).dispose()
    assert.equal(backend.spare.list.length, 3)
  })

  it("are never there twice, wherever taking one is stopped (by vm's timeout, say, after which no catch runs)", () => {
    for (let writes = 0; writes < 10; writes++) {
      backend.spare.clear()
      for (let i = 0; i < 8; i++) disposed(undefined, N + 16 * i)
      const { spare } = backend
      const { list } = spare
      let left = writes
      spare.list = new Proxy(list, {
        set(target, name, value) {
          if (left-- === 0) throw new Error('stopped')
          return Reflect.set(target, name, value)
        },
      })
      try {
        empty([N])
      } catch (error) {
        assert.equal(error.message, 'stopped')
        spare.list = list
      }
      const found = Array.from({ length: spare.list.length }, (_, i) => spare.list[i][0])
      assert.equal(new Set(found).size, found.length, `${writes} writes`)
      assert.equal(
        spare.nbytes,
        found.reduce((n, buffer) => n + buffer.byteLength, 0),
      )
    }
  })

  it('go when garbage is collected, and before memory is refused', async () => {
    disposed()
    await collectAll()
    assert.equal(backend.spare.list.length, 0)
    disposed()
    setMemoryLimit(2 ** 20)
    assert.throws(() => empty([2 ** 20]), { code: 'ERR_MEMORY' })
    assert.equal(backend.spare.list.length, 0)
  })
})
