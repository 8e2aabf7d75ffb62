'use strict'
const assert = require('node:assert/strict')
const { tensor, zeros } = require('samebytes')
const { Batches, axisOf, batchFor, checkResult, keyOf, rowsOf } = require('../../js/nats/batches')

const request = (key, rows = 1) => ({ key, rows })
const batches = (max, wait = 0) => new Batches({ max, wait })

describe('NATS: batches', () => {
  it('take requests with the same key, up to the number of rows', () => {
    const waiting = batches(4)
    const all = Array.from({ length: 6 }, () => request('a'))
    for (const each of all) waiting.add(each, 0)
    assert.equal(waiting.size, 6)
    assert.deepEqual(waiting.take(0), all.slice(0, 4))
    assert.deepEqual(waiting.take(0), all.slice(4))
    assert.equal(waiting.take(0), null)
    assert.equal(waiting.size, 0)
  })

  it('keep kinds apart, each in its order, the oldest first', () => {
    const waiting = batches(8)
    const [a1, b1, a2, b2] = ['a', 'b', 'a', 'b'].map((key) => request(key))
    for (const each of [a1, b1, a2, b2]) waiting.add(each, 0)
    const taken = [waiting.take(0), waiting.take(0)]
    assert.ok(taken[0][0] === a1 && taken[0][1] === a2 && taken[1][0] === b1 && taken[1][1] === b2)
  })

  it('wait to be full, and no longer than they may', () => {
    const waiting = batches(3, 10)
    waiting.add(request('a'), 100)
    waiting.add(request('a'), 105)
    assert.equal(waiting.due, 110)
    assert.equal(waiting.take(109), null)
    waiting.add(request('a'), 109)
    assert.equal(waiting.due, -Infinity)
    assert.equal(waiting.take(109).length, 3)
    waiting.add(request('a'), 200)
    assert.equal(waiting.take(210).length, 1)
    assert.equal(waiting.due, Infinity)
  })

  it('have a full one go before an older one that waits', () => {
    const waiting = batches(2, 10)
    waiting.add(request('old'), 0)
    waiting.add(request('new'), 1)
    waiting.add(request('new'), 1)
    assert.equal(waiting.take(1)[0].key, 'new')
    assert.equal(waiting.take(1), null)
    assert.equal(waiting.take(Infinity)[0].key, 'old')
  })

  it('do not split a request, and run a larger one alone', () => {
    const waiting = batches(4)
    for (const rows of [3, 2, 9, 1]) waiting.add(request('a', rows), 0)
    const taken = []
    for (let group = waiting.take(0); group !== null; group = waiting.take(0)) {
      taken.push(group.map(({ rows }) => rows))
    }
    assert.deepEqual(taken, [[3], [2], [9], [1]])
  })

  it('never join requests without a key', () => {
    const waiting = batches(4, 100)
    waiting.add(request(null), 0)
    waiting.add(request(null), 0)
    assert.equal(waiting.take(0).length, 1)
    assert.equal(waiting.take(0).length, 1)
  })

  it('join shapes that differ along the axis alone', () => {
    const key = (shape, axis = 0, dtype = 'float32', method = '') =>
      keyOf(method, '', dtype, shape, axis)
    assert.equal(key([1, 3]), key([7, 3]))
    assert.notEqual(key([1, 3]), key([1, 4]))
    assert.notEqual(key([1, 3]), key([1, 3], 1))
    assert.notEqual(key([1, 3]), key([1, 3], 0, 'int32'))
    assert.notEqual(key([1, 3]), key([1, 3], 0, 'float32', 'encode'))
    assert.deepEqual([axisOf(0, 2), axisOf(-1, 2), axisOf(2, 2), axisOf(-4, 2)], [0, 1, -1, -1])
  })

  it('give each request its rows of a result, as views', () => {
    const batch = batchFor('int32', [1, 2], 0, 3)
    assert.deepEqual([...batch.shape], [3, 2])
    batch.copyFrom([
      [1, 2],
      [3, 4],
      [5, 6],
    ])
    const rows = rowsOf(batch, 0, 1, 2)
    assert.deepEqual(rows.toArray(), [
      [3, 4],
      [5, 6],
    ])
    batch.set(9, 1, 0)
    assert.equal(rows.get(0, 0), 9)
    assert.deepEqual(rowsOf({ y: batch }, 1, 1, 1).y.toArray(), [[2], [4], [6]])
  })

  it('refuse results that are no tensors, or of other rows', () => {
    for (const wrong of [undefined, null, 1, [zeros([2])], {}, { y: 1 }]) {
      assert.throws(() => checkResult(wrong, 0, 2), { code: 'ERR_ARGUMENT' })
    }
    for (const wrong of [zeros([3, 2]), tensor(1), { y: zeros([2]), z: zeros([1]) }]) {
      assert.throws(() => checkResult(wrong, 0, 2), { code: 'ERR_SHAPE' })
    }
    const good = zeros([5, 2])
    assert.equal(checkResult(good, -1, 2), good)
    assert.equal(checkResult(good, 0, -1), good)
  })
})
