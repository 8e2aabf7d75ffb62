import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { SamebytesError, backend, fromBlob, tensor } from 'samebytes'
import { add, sum } from 'samebytes/math'

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

test('arithmetic is native as well', () => {
  expect(add(matrix(), 1)).toEqual(
    tensor([
      [2, 3],
      [4, 5],
    ]),
  )
  expect(sum(matrix()).item()).toBe(10)
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

test('errors are of the classes that the test has', () => {
  expect(() => matrix().get(9, 9)).toThrow(RangeError)
  const gone = matrix()
  gone.dispose()
  expect(() => gone.toArray()).toThrow(SamebytesError)
})
