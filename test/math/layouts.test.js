'use strict'
// Elementwise functions over operands of any layout, of up to some tiles and parts: the same bits as of operands without gaps, written where they
// belong and nowhere else.
const assert = require('node:assert/strict')
const { manualSeed, rand, zeros } = require('samebytes')
const { generator } = require('../setup')
const { math, needsMath } = require('./load')

const SEED = Number(process.env.SAMEBYTES_SEED ?? 1)
const COUNT = process.env.SAMEBYTES_FULL === '1' ? 600 : 80

/** A view of that shape of a larger tensor, permuted, turned, with gaps or repeated. */
function viewOf(whole, shape, random, repeats = true) {
  const { next, pick, shuffle } = random
  const own = shape.map((n) => (repeats && !next(5) ? 1 : n))
  const order = shuffle(shape.map((_, d) => d))
  const wide = next(2 * shape.length) // the dimension that has gaps, if any
  const steps = shape.map((_, d) => (d === wide ? pick([2, -3]) : pick([1, 1, -1])))
  const there = order.map((d) => own[d] * Math.abs(steps[d]))
  const flat = whole.slice(`:${there.reduce((a, b) => a * b, 1)}`)
  return flat
    .view(there)
    .permute(own.map((_, d) => order.indexOf(d)))
    .slice(...steps.map((step) => `::${step}`))
    .broadcastTo(shape)
}

/** From some elements to some hundred thousand, in one to four dimensions, short ones among them. */
function shapeOf({ next, pick }) {
  const shape = []
  for (let n = 1, d = 1 + next(4); d > 0; d--) {
    const extent = Math.min(
      pick([1, 2, 3, 4, 7, 17, 33, 40, 65, 100, 300, 1000, 9000]),
      Math.max(1, Math.floor(250_000 / n)),
    )
    n *= extent
    shape.push(extent)
  }
  return shape
}

const CALLS = {
  add: (a, b, c, options) => math.add(a, b, options),
  exp: (a, b, c, options) => math.exp(a, options),
  clip: (a, b, c, options) => math.clip(a, b, c, options),
  where: (a, b, c, options) => math.where(math.less(a, 0.5), b, c, options),
  less: (a, b, c, options) => math.less(a, b, options),
  multiply: (a, b, c, options) => math.multiply(a, 0.3, options),
}

describe('layouts of large operands', function () {
  needsMath()

  it('change no bit of a result, and no byte beside it', () => {
    manualSeed(SEED)
    const random = generator(SEED)
    const sources = [0, 1, 2].map(() => rand([750_000]))
    for (let i = 0; i < COUNT; i++) {
      const [name, shape] = [random.pick(Object.keys(CALLS)), shapeOf(random)]
      const dtype = random.pick(['float32', 'float32', 'float32', 'float64', 'float16'])
      const operands = sources.map((whole) => {
        const view = viewOf(whole, shape, random)
        return dtype === 'float32' || random.next(2) ? view.astype(dtype) : view
      })
      const dense = CALLS[name](...operands.map((t) => t.contiguous()))
      const numel = shape.reduce((a, b) => a * b, 1)
      const guarded = zeros([3 * numel + 1], dense.dtype).fill(1)
      const out = viewOf(guarded.slice('1:'), shape, random, false)
      CALLS[name](...operands, { out })
      const what = `${name} of [${shape}] ${dtype}, ${operands.map((t) => `(${t.strides})`).join(' ')} to (${out.strides}), case ${i}, SAMEBYTES_SEED=${SEED}`
      assert.deepEqual(Buffer.compare(out.contiguous().bytes, dense.bytes), 0, what)
      out.fill(1)
      assert.ok(math.all(math.equal(guarded, 1)).item(), `beside: ${what}`)
      for (const t of [dense, guarded]) t.dispose()
    }
  })

  it('keep what is gathered within its room, though rows are cut where a mask’s other dimensions share lines', () => {
    const mask = math.less(rand([300, 100, 3]), 0.5).permute(2, 1, 0)
    const [a, b] = [0, 1].map(() => rand([3, 100, 300]).astype('complex128'))
    assert.equal(
      Buffer.compare(math.where(mask, a, b).bytes, math.where(mask.contiguous(), a, b).bytes),
      0,
    )
  })
})
