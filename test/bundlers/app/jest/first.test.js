'use strict'
const { writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { threadId } = require('node:worker_threads')
const {
  SamebytesError,
  arange,
  backend,
  concat,
  fromBlob,
  parseNpy,
  tensor,
  toNpyBytes,
  zeros,
} = require('samebytes')
const { add, sum } = require('samebytes/math')

const matrix = () =>
  tensor([
    [1, 2],
    [3, 4],
  ])

test('tensors are native, and this worker has them', () => {
  expect(backend()).toBe('native')
  writeFileSync(join(process.env.SEEN, `${process.pid}-${threadId}-first`), '')
})

test('a view shows what is written to its tensor, and the other way round', () => {
  const m = matrix()
  const t = m.permute([1, 0])
  m.set(5, 0, 1)
  t.set(6, 0, 1)
  expect(t).toEqual(
    tensor([
      [1, 6],
      [5, 4],
    ]),
  )
  expect(m).toStrictEqual(
    tensor([
      [1, 5],
      [6, 4],
    ]),
  )
  expect({ list: [t] }).toEqual({ list: [m.transpose(0, 1)] })
})

test('toEqual tells other elements and shapes apart', () => {
  expect(matrix()).not.toEqual(
    tensor([
      [1, 2],
      [3, 5],
    ]),
  )
  expect(matrix()).not.toEqual(tensor([1, 2, 3, 4]))
  expect(tensor([1, 2])).not.toEqual(tensor([2, 1]))
})

test('data, and memory of the test, are of the classes that the test has', () => {
  const bytes = new Float32Array([1, 2, 3])
  const t = fromBlob(bytes)
  t.set(9, 0)
  expect(bytes).toEqual(new Float32Array([9, 2, 3]))
  expect(t.data).toBeInstanceOf(Float32Array)
  expect(t.toArray()).toEqual([9, 2, 3])
  expect(tensor(new Float64Array(2)).dtype).toBe('float64')
})

test('after resetModules functions still know the tensors that were made before', () => {
  const m = matrix()
  jest.resetModules() // eslint-disable-line no-undef
  expect(concat([m, m]).shape).toEqual([4, 2])
  expect(m.roll(1).toArray()).toEqual([
    [4, 1],
    [2, 3],
  ])
  expect(zeros([3]).copyFrom(arange(3)).toArray()).toEqual([0, 1, 2])
  expect(add(m, 1).toArray()).toEqual([
    [2, 3],
    [4, 5],
  ])
  expect(sum(m).item()).toBe(10)
  expect(String(m)).toMatch('[3., 4.]')
  expect(parseNpy(toNpyBytes(m))).toEqual(m)
})

test('errors are of the classes that the test has', () => {
  expect(() => matrix().get(9, 9)).toThrow(RangeError)
  const gone = matrix()
  gone.dispose()
  expect(() => gone.toArray()).toThrow(SamebytesError)
})
