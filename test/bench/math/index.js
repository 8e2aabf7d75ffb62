'use strict'
// samebytes/math beside NumPy and loops by hand, all in turn in this process (and NumPy in one of its own).
//
//   npm run bench -- math [--seed N] [--count 100] [--all] [--no-numpy] [--only rows | layouts]
//
// Rows: functions over usual shapes. Layouts: add, multiply, less, where and clip over operands that are drawn from a seed as layouts/draw.js
// draws them, with a second operand that is one of the same shape, transposed, broadcast or a number. Prints every case that is slower than
// one of the others (--all: each case). SAMEBYTES_BACKEND=wasm runs WebAssembly. Fails where a result is not the loop's, never by speed.

const path = require('node:path')
const { parseArgs } = require('node:util')
const { backend, fromBlob, tensor, zeros } = require('samebytes')
const math = require('samebytes/math')
const { drawCase, numelOf, randomly } = require('../layouts/draw')
const { inTurn, mean, startNumpy, timed, times } = require('../rivals')

const BYTES = { least: 1024, most: 2 ** 24 }

/** Functions of drawn operands: what they are in a loop. b: an operand, or a number. */
const DRAWN = {
  add: '(a, b) => a + b',
  multiply: '(a, b) => a * b',
  less: '(a, b) => a < b',
  where: '(a, b) => a > 0.5 ? a : b', // of a mask that is made before
  clip: '(a) => a < 0.25 ? 0.25 : a > 0.75 ? 0.75 : a',
}

/** Functions over usual shapes: what NumPy is asked, and what that is here. */
const ROWS = [
  ...['add', 'multiply', 'less'].map((name) => ({
    title: `${name}, 1M float32`,
    python: `np.${name}(a, b, out=o)`,
    shapes: [[1000, 1000]],
    run: ({ a, b, o, bools }) => math[name](a, b, { out: name === 'less' ? bools : o }),
  })),
  // The result's memory: reused, touched for the first time each time, or the caller's.
  {
    title: 'add, new and disposed of',
    python: 'a + b',
    shapes: [[1024, 1024]],
    run: ({ a, b }) => math.add(a, b).dispose(),
  },
  {
    title: 'add, new and left to the collector',
    python: 'a + b',
    shapes: [[1024, 1024]],
    run: ({ a, b }) => math.add(a, b),
  },
  {
    title: 'add, given',
    python: 'np.add(a, b, out=o)',
    shapes: [[1024, 1024]],
    run: ({ a, b, o }) => math.add(a, b, { out: o }),
  },
  {
    title: 'where, 1M float32',
    python: 'np.where(m, a, b)',
    shapes: [[1000, 1000]],
    run: ({ mask, a, b }) => math.where(mask, a, b).dispose(),
  },
  {
    title: 'clip, 1M float32',
    python: 'np.clip(a, 0.25, 0.75, out=o)',
    shapes: [[1000, 1000]],
    run: ({ a, o }) => math.clip(a, 0.25, 0.75, { out: o }),
  },
  ...['exp', 'log', 'sin', 'tanh', 'sqrt'].map((name) => ({
    title: `${name}, 1M float32`,
    python: `np.${name}(a, out=o)`,
    shapes: [[1000, 1000]],
    run: ({ a, o }) => math[name](a, { out: o }),
  })),
  ...['sum', 'mean', 'max', 'argmax', 'std'].flatMap((name) =>
    [0, 1, null].map((axis) => ({
      title: `${name} along ${axis ?? 'all'}`,
      python: `np.${name}(a, axis=${axis ?? 'None'})`,
      shapes: [
        [4096, 4096],
        [65536, 64],
      ],
      run: ({ a }) => math[name](a, { axis }).dispose(),
    })),
  ),
  ...(math.softmax === undefined
    ? []
    : [
        {
          title: 'softmax over rows',
          python:
            'e = np.exp(a - a.max(axis=-1, keepdims=True)); e / e.sum(axis=-1, keepdims=True)',
          shapes: [[1000, 1000]],
          run: ({ a }) => math.softmax(a).dispose(),
        },
      ]),
]

async function main(args) {
  const { values: options } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: '1' },
      count: { type: 'string', default: '100' },
      all: { type: 'boolean', default: false },
      'no-numpy': { type: 'boolean', default: false },
      only: { type: 'string' },
    },
  })
  const numpy =
    options['no-numpy'] || backend() !== 'native'
      ? null
      : await startNumpy(path.join(__dirname, 'peer.py'), { row: 'a', shape: [2] })
  if (options.only !== 'layouts') {
    for (const row of ROWS) {
      for (const shape of row.shapes) console.log(await measureRow(row, shape, numpy))
    }
  }
  if (options.only !== 'rows') await measureLayouts(options, numpy)
  numpy?.close()
}

const values = (n) => Float32Array.from({ length: n }, (_, i) => ((i * 37) % 1000) / 1000)

/** Memory of our own, as NumPy's arrays are in its own. */
const owned = (t) => tensor(t)

async function measureRow({ title, python, run }, shape, numpy) {
  const n = numelOf(shape)
  const operands = {
    a: owned(fromBlob(values(n), shape)),
    b: owned(fromBlob(values(n).reverse(), shape)),
    o: zeros(shape),
    bools: zeros(shape, 'bool'),
  }
  operands.mask = math.greater(operands.a, 0.5)
  await numpy?.prepare({ row: python, shape })
  const seconds = await inTurn({
    own: (n) => timed(n, () => run(operands)),
    ...(numpy && { numpy: (n) => numpy.seconds(n) }),
  })
  for (const t of Object.values(operands)) t.dispose()
  return `${times(seconds.numpy / seconds.own)} NumPy, ${(seconds.own * 1e6).toFixed(0)} us: ${title} of [${shape.join(' ')}]`
}

// ---- Drawn layouts ----

/** A second operand beside a view: { view (null: a number), what }. */
function secondOf(draw, { shape }) {
  const dense = (order) => {
    const strides = []
    let size = 1
    for (const d of order.toReversed()) {
      strides[d] = size
      size *= shape[d]
    }
    return { size, offset: 0, shape, strides }
  }
  const axes = shape.map((_, d) => d)
  const kind = draw.among(['dense', 'transposed', 'row', 'column', 'number'])
  if (kind === 'number') return { kind, view: null }
  if (kind === 'dense') return { kind, view: dense(axes) }
  if (kind === 'transposed') return { kind, view: dense(axes.toReversed()) }
  const axis = kind === 'row' ? shape.length - 1 : 0
  return {
    kind,
    view: { size: shape[axis], offset: 0, shape, strides: axes.map((d) => (d === axis ? 1 : 0)) },
  }
}

/** One case of a seed: a function over a view and another operand. */
function drawMath(seed) {
  const draw = randomly(seed ^ 0x5eed)
  const { from, family } = drawCase(seed, BYTES)
  const name = draw.among(Object.keys(DRAWN))
  return { seed, family, name, a: from, b: secondOf(draw, from) }
}

/** The nested loop over the operands' elements. */
function loopOf({ name, a, b }) {
  const { shape } = a
  const lines = [`const f = ${DRAWN[name]}; let o = 0; const a0 = ${a.offset}, b0 = 0`]
  for (const [d, n] of shape.entries()) {
    lines.push(`for (let i${d} = 0; i${d} < ${n}; i${d}++) {`)
    lines.push(
      `const a${d + 1} = a${d} + i${d} * ${a.strides[d]}, b${d + 1} = b${d} + i${d} * ${b.view === null ? 0 : b.view.strides[d]}`,
    )
  }
  lines.push(`to[o++] = f(x[a${shape.length}], ${b.view === null ? '0.5' : `y[b${shape.length}]`})`)
  // eslint-disable-next-line no-new-func -- constants are the point
  return new Function('to', 'x', 'y', [...lines, ...shape.map(() => '}')].join('\n'))
}

async function measureLayouts({ seed, count, all }, numpy) {
  const results = []
  for (let i = 0; i < Number(count); i++) {
    const drawn = drawMath(Number(seed) * 100003 + i)
    const result = await measureDrawn(drawn, numpy)
    results.push(result)
    if (all || result.loop < 1 || result.numpy < 0.9) console.log(lineOf(result))
  }
  const line = (what, list) =>
    list.length > 0
      ? `${what}: geometric mean ${times(mean(list))}, least ${times(Math.min(...list))}, ${list.filter((x) => x < 0.9).length} of ${list.length} below 0.9`
      : ''
  console.log(
    `\n${backend()}, as fast as\n${line('NumPy', results.map(({ numpy }) => numpy).filter(Number.isFinite))}\n${line(
      'the loop',
      results.map(({ loop }) => loop),
    )}`,
  )
}

async function measureDrawn(drawn, numpy) {
  const { a, b, name } = drawn
  const [x, y] = [values(a.size), values(b.view?.size ?? 1).reverse()]
  const view = (data, { shape, strides, offset }) =>
    owned(fromBlob(data)).view(shape, { strides, offset })
  const [ta, tb] = [view(x, a), b.view === null ? 0.5 : view(y, b.view)]
  const out = zeros(a.shape, name === 'less' ? 'bool' : 'float32')
  const mask = math.greater(ta, 0.5)
  const to = name === 'less' ? new Uint8Array(out.size) : new Float32Array(out.size)
  const loop = loopOf(drawn)
  const own =
    name === 'clip'
      ? () => math.clip(ta, 0.25, 0.75, { out })
      : name === 'where'
        ? () => math.where(mask, ta, tb, { out })
        : () => math[name](ta, tb, { out })
  const byHand = () => loop(to, x, y)
  own()
  byHand()
  const at = to.findIndex((x, i) => x !== out.data[i])
  if (at !== -1) {
    throw new Error(
      `element ${at} is ${out.data[at]}, by hand ${to[at]}: ${titleOf(drawn)} (seed ${drawn.seed})`,
    )
  }
  await numpy?.prepare({ name, a, b: b.view })
  const seconds = await inTurn({
    own: (n) => timed(n, own),
    loop: (n) => timed(n, byHand),
    ...(numpy && { numpy: (n) => numpy.seconds(n) }),
  })
  for (const t of [ta, out, mask]) t.dispose()
  return { drawn, loop: seconds.loop / seconds.own, numpy: seconds.numpy / seconds.own }
}

const titleOf = ({ name, family, a, b }) =>
  `${name} of ${family} [${a.shape.join(' ')}] (${a.strides.join(' ')}), ${b.kind}`
const lineOf = ({ drawn, loop, numpy }) =>
  `${times(loop)} loop, ${times(numpy)} NumPy: ${titleOf(drawn)} (${numelOf(drawn.a.shape)} elements, seed ${drawn.seed})`

module.exports = { main }
