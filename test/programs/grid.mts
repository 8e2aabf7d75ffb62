// A program as one writes it with scijs' ndarray, ported: heat that spreads on a plate by a stencil over shifted views, then what is looked
// at: a transposed picture, every other pixel backwards, the means of boxes, a column. There hi, lo, step, pick and transpose are what slice
// and permute are here.
import assert from 'node:assert/strict'
import { arrayEqual, memory, zeros, type Tensor } from 'samebytes'
import { add, countNonzero, greater, mean, multiply, subtract } from 'samebytes/math'

const N = 24
const M = 32
const BOX = 8
const STEPS = 30
const RATE = 0.2

/** One step of the heat equation: a.lo(1, 1).hi(n - 2, m - 2) and its four neighbours are views of one plate. */
function spread (to: Tensor<'float64'>, from: Tensor<'float64'>): void {
  const centre = from.slice('1:-1', '1:-1')
  const sum = to.slice('1:-1', '1:-1') // computed where it will be
  add(from.slice(':-2', '1:-1'), from.slice('2:', '1:-1'), { out: sum })
  add(sum, from.slice('1:-1', ':-2'), { out: sum })
  add(sum, from.slice('1:-1', '2:'), { out: sum })
  subtract(sum, multiply(centre, 4), { out: sum })
  multiply(sum, RATE, { out: sum })
  add(centre, sum, { out: sum })
}

/** Means of boxes of BOX by BOX: a view of four axes, of which two are summed up. */
function boxes (plate: Tensor<'float64'>): Tensor<'float64'> {
  return mean(plate.view([N / BOX, BOX, M / BOX, BOX]), { axis: [1, 3] })
}

/** How many elements are above a bound. */
function count (t: Tensor<'float64'>, bound: number): number {
  return Number(countNonzero(greater(t, bound)).item())
}

let plate = zeros([N, M], 'float64')
let next = zeros([N, M], 'float64')
for (const p of [plate, next]) p.slice(0).fill(100) // an edge that stays hot
plate.slice('8:12', '4:20').fill(50)
for (let step = 0; step < STEPS; step++) {
  spread(next, plate)
  ;[plate, next] = [next, plate]
}
const turned = plate.permute(1, 0).slice('::2', '::-1')
const copied = memory().copied
const means = boxes(plate)
assert.deepEqual(memory().copied, copied)
const column = plate.slice(':', 5)
turned.slice(0, 0).fill(-1) // a view of a view: the plate's last row, first column

// ---- The same by lists of lists ----

let lists: number[][] = Array.from({ length: N }, (_, i) => Array.from({ length: M }, (_, j) => i === 0 ? 100 : i >= 8 && i < 12 && j >= 4 && j < 20 ? 50 : 0))
for (let step = 0; step < STEPS; step++) {
  lists = lists.map((row, i) => row.map((x, j) => {
    if (i === 0 || j === 0 || i === N - 1 || j === M - 1) return i === 0 ? 100 : 0
    return x + RATE * (lists[i - 1]![j]! + lists[i + 1]![j]! + lists[i]![j - 1]! + lists[i]![j + 1]! - 4 * x)
  }))
}
means.toArray<2>().forEach((row, bi) => row.forEach((each, bj) => {
  let sum = 0
  for (let i = 0; i < BOX; i++) for (let j = 0; j < BOX; j++) sum += lists[bi * BOX + i]![bj * BOX + j]!
  assert.ok(Math.abs(each - sum / BOX ** 2) < 1e-12)
}))
lists[N - 1]![0] = -1
assert.deepEqual(plate.toArray(), lists)
assert.deepEqual(turned.shape, [M / 2, N])
assert.deepEqual(turned.strides, [2, -M])
assert.deepEqual(turned.toArray(), Array.from({ length: M / 2 }, (_, j) => Array.from({ length: N }, (_, i) => lists[N - 1 - i]![2 * j]!)))
assert.deepEqual(column.toArray(), lists.map(row => row[5]!))
assert.equal(count(turned, 20), lists.flat().filter((x, n) => n % 2 === 0 && x > 20).length)
assert.ok(arrayEqual(turned.flip(1).permute(1, 0), plate.slice(':', '::2')))
assert.ok(!arrayEqual(turned.permute(1, 0), plate.slice(':', '::2')))
