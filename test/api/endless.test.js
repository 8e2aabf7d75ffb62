'use strict'
// What would take hours, or more memory than there is, is quick or refused.
const assert = require('node:assert/strict')
const { arrayEqual, ones, tensor, zeros } = require('samebytes')
const { fails, refuses } = require('../setup')

const HUGE = 2 ** 52
const huge = () => zeros([1]).expand(HUGE)

function* endless() {
  for (;;) yield 1
}

/** Every one must be refused. */
function refusesAll(fns, ...codes) {
  for (const fn of fns) refuses(fn, ...codes)
}

describe('a float32 tensor of 2 ** 52 elements that are one', () => {
  it('equals its like, also for deepStrictEqual', () => {
    assert.equal(arrayEqual(huge(), huge()), true)
    assert.deepStrictEqual({ a: [huge()] }, { a: [huge()] })
    assert.notDeepStrictEqual(huge(), ones([1]).expand(HUGE))
    assert.notDeepStrictEqual(zeros([1]).expand(HUGE - 1), huge())
    const pair = tensor([1, 2]).expand(2 ** 40, 2)
    assert.deepStrictEqual(pair, tensor([1, 2]).expand(2 ** 40, 2))
    assert.notDeepStrictEqual(pair, tensor([1, 3]).expand(2 ** 40, 2))
  })

  it('equals none where its elements are too many and not the same', () => {
    const t = zeros([2 ** 21]).unfold(0, 2 ** 20, 1)
    assert.match(Object.prototype.toString.call(t), /not hashed/)
  })

  it('is not taken apart', () => {
    const t = huge()
    refusesAll(
      [() => t.unbind(), () => t.split(1), () => t.split(2 ** 26), () => t.chunk(2 ** 31)],
      'ERR_MEMORY',
    )
    refusesAll(
      [
        () =>
          zeros([1])
            .expand(2 ** 30)
            .unbind(),
      ],
      'ERR_MEMORY',
    )
  })

  it('is not repeated, whatever the way', () => {
    const axes = new Array(64).fill(1)
    const t = zeros(axes).expand(axes.with(63, 2 ** 33))
    refusesAll(
      [
        () => t.repeat(2, { axis: 63 }),
        () => huge().repeat(2 ** 20),
        () => zeros([2]).repeat([HUGE, 2]),
      ],
      'ERR_MEMORY',
      'ERR_SHAPE',
    )
    assert.deepEqual(t.repeat(0, { axis: 63 }).shape, axes.with(63, 0))
    assert.deepEqual(t.narrow(63, 0, 3).repeat(2, { axis: 63 }).shape, axes.with(63, 6))
  })
})

describe('values without end', () => {
  it('are refused by their shape: lists that hold themselves', () => {
    let a = [1]
    for (let i = 0; i < 40; i++) a = [a, a]
    let empty = []
    for (let i = 0; i < 60; i++) empty = [empty, empty]
    const length = new Proxy([], { get: (_, key) => (key === 'length' ? 2 ** 50 : 1) })
    refusesAll(
      [() => tensor(a), () => tensor(empty), () => tensor(length), () => tensor(a, 'complex64')],
      'ERR_MEMORY',
    )
    const t = zeros([1])
    refusesAll([() => t.copyFrom(a), () => t.take(length), () => t.repeat(length)], 'ERR_MEMORY')
    refusesAll([() => t.copyFrom(1, { scale: length, axis: 0 })], 'ERR_SHAPE')
  })

  it('of an iterable are refused', function () {
    fails(
      () => zeros([2]).take({ [Symbol.iterator]: endless }),
      RangeError,
      'ERR_MEMORY',
      /iterable/,
    )
  })

  it('close the iterable', () => {
    const closed = []
    const iterable = {
      *[Symbol.iterator]() {
        try {
          yield* [1, 2]
        } finally {
          closed.push(1)
        }
      },
    }
    assert.deepEqual(tensor(iterable).toArray(), [1, 2])
    assert.deepEqual(closed, [1])
  })
})

describe('elements as values and as text', () => {
  it('are refused where V8 could not hold them', () => {
    const one = zeros([1, 1], 'uint8')
    refusesAll(
      [
        () => one.expand(2 ** 26, 2).toArray(), // lists weigh more than values
        () =>
          one
            .view([1])
            .expand(2 ** 27)
            .toArray(),
        () =>
          zeros([1], 'int64')
            .expand(2 ** 26, 2)
            .toArray(),
        () => JSON.stringify(zeros([1], 'complex64').expand(2 ** 26)),
      ],
      'ERR_MEMORY',
    )
    assert.equal(one.expand(2 ** 10, 2 ** 10).toArray().length, 2 ** 10)
  })

  it('are left out where even the edges are too many to print', () => {
    const t = zeros([1], 'uint8').expand(new Array(26).fill(2))
    assert.equal(
      String(t),
      `tensor([...],\n       size=(${new Array(26).fill(2).join(', ')}),\n       dtype=uint8)`,
    )
    assert.match(
      String(zeros([1]).expand(new Array(20).fill(6))),
      /^tensor\(\[\.\.\.\],\n {7}size=\(6, 6/,
    )
    assert.match(
      String(zeros([1]).expand(7, 7, 7, 7, 7, 7)),
      /^tensor\(\[\[\[\[\[\[0\., 0\., 0\., /,
    )
  })
})
