import { expect, test } from 'vitest'
import { tensor } from 'samebytes'

test('one dimension differs', () => {
  expect(tensor([1, 2])).toEqual(tensor([1, 3]))
})

test('two dimensions differ', () => {
  expect(tensor([[1, 2]])).toStrictEqual(tensor([[1, 3]]))
})

test('nothing differs', () => {
  expect(tensor([1, 2])).toEqual(tensor([1, 2]))
})
