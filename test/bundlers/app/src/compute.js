// Arithmetic and an algorithm over a matrix, which is read where it is.
import { memory, tensor, zeros } from 'samebytes'
import { add, linalg, softmax, sum } from 'samebytes/math'

export function compute(m) {
  const [out, more] = [zeros([3, 2]), tensor([10, 20])]
  const before = copies()
  const isSame = add(m.permute([1, 0]), more, { out }) === out
  const copied = copies() === before ? 'nothing' : `${before}, then ${copies()}`
  return {
    sum: sum(m).item(),
    softmax: softmax(tensor([5, 5, -1000])).toArray(),
    isSame,
    added: out.toArray(),
    crossed: linalg.cross(m.slice('0'), m.slice('1')).toArray(),
    copied,
  }
}

function copies() {
  const { copied, staged } = memory()
  return JSON.stringify({ copied, staged })
}
