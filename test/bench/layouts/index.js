'use strict'
// Copies between layouts that are drawn from a seed, each beside the loop by hand, NumPy's assignment and a contiguous copy of as many bytes,
// all in turn in this process (and NumPy in one of its own).
//
//   npm run bench -- layouts [--seed N] [--count 300] [--family NAME] [--all] [--no-numpy] [--small | --quick]
//
// Prints every case that is slower than one of them (--all: each case), then by family: how many, the geometric mean in times the loop and in
// times NumPy, the slowest, and how many reach 0.35 of memory's speed or 6 times the loop's, in WebAssembly half of that; last the same where memory's speed is that of the
// cache lines that are touched, and a call's own time, that of copying one element, comes on top. --small: 16 to 1,000 elements. --quick: up to 1 MiB. SAMEBYTES_BACKEND=wasm runs WebAssembly. Fails where a
// copy writes something else than the loop, never by speed.

const path = require('node:path')
const { parseArgs } = require('node:util')
const { backend, empty, fromBlob, ones, tensor } = require('samebytes')
const { inTurn, mean, startNumpy, timed, times } = require('../rivals')
const { drawCase, lineBytes, movedBytes, numelOf, titleOf } = require('./draw')
const { loopOf } = require('./by-hand')

const BYTES = {
  usual: { least: 4096, most: 2 ** 26 },
  quick: { least: 4096, most: 2 ** 20 },
  small: { least: 64, most: 4000 },
}
const ARRAYS = {
  uint8: Uint8Array,
  int8: Int8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  float32: Float32Array,
  float64: Float64Array,
}

const GOAL = backend() === 'native' ? 1 : 0.5 // WebAssembly's vectors have 128 bits

async function main(args) {
  const { values: options } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: '1' },
      count: { type: 'string', default: '300' },
      family: { type: 'string' },
      all: { type: 'boolean', default: false },
      'no-numpy': { type: 'boolean', default: false },
      small: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
    },
  })
  const bytes = options.small ? BYTES.small : options.quick ? BYTES.quick : BYTES.usual
  const numpy =
    options['no-numpy'] || backend() !== 'native'
      ? null
      : await startNumpy(path.join(__dirname, 'assign.py'), { case: drawCase(1, BYTES.small) })
  const results = []
  for (let i = 0; results.length < Number(options.count); i++) {
    const drawn = drawCase(Number(options.seed) * 100003 + i, bytes)
    if (options.family !== undefined && drawn.family !== options.family) continue
    const result = await measure(drawn, numpy)
    results.push(result)
    if (options.all || result.loop < 1 || result.numpy < 1) console.log(lineOf(result))
  }
  numpy?.close()
  console.log(summary(results))
}

/** A tensor over all of a side's elements, and its view. */
function sideOf({ size, offset, shape, strides, dtype }) {
  const data = new ARRAYS[dtype](size).map((_, i) => i % 100)
  const whole = fromBlob(data)
  const own = backend() === 'native' ? whole : tensor(whole) // WebAssembly's own memory
  return { data, whole: own, view: own.view(shape, { strides, offset }) }
}

/** Throws where a copy writes other bytes than the loop, between the target's elements as well. */
function compare(drawn, to, copy, loop) {
  to.whole.data.fill(99)
  copy()
  const ours = to.whole.data.slice()
  to.data.fill(99)
  loop()
  const at = ours.findIndex((x, i) => !Object.is(x, to.data[i]))
  if (at !== -1) {
    throw new Error(
      `element ${at} is ${ours[at]}, by hand ${to.data[at]}: ${titleOf(drawn)} (seed ${drawn.seed})`,
    )
  }
}

/** Times the rival's, by rival: above 1 samebytes is faster. */
async function measure(drawn, numpy) {
  const to = sideOf(drawn.to)
  const from = sideOf(drawn.from)
  const [scale, bias] = [Float32Array.from(drawn.scale), Float32Array.from(drawn.bias)]
  const casting = 'unsafe'
  const options =
    scale.length === 0
      ? { casting }
      : drawn.axis < 0
        ? { scale: scale[0], bias: bias[0], casting }
        : { scale, bias, axis: drawn.axis, casting }
  const loop = loopOf(drawn)
  const made = []
  const flat = (bytes) => {
    const half = Math.max(1, bytes >> 1)
    const [flatTo, flatFrom] = [empty([half], 'uint8'), ones([half], 'uint8')] // memory that was never written is read from one page
    made.push(flatTo, flatFrom)
    return (n) => timed(n, () => flatTo.copyFrom(flatFrom))
  }
  const [oneTo, oneFrom] = [to, from].map(({ view }) => view.asStrided([1], [1]))
  const optionsOfOne = scale.length === 0 ? options : { scale: scale[0], bias: bias[0], casting }
  const copy = () => to.view.copyFrom(from.view, options)
  const byHand = () => loop(to.data, from.data, scale, bias)
  compare(drawn, to, copy, byHand)
  const rivals = {
    own: (n) => timed(n, copy),
    loop: (n) => timed(n, byHand),
    memory: flat(movedBytes(drawn)),
    lines: flat(lineBytes(drawn.to) + lineBytes(drawn.from)),
    call: (n) => timed(n, () => oneTo.copyFrom(oneFrom, optionsOfOne)),
    ...(numpy && { numpy: (n) => numpy.seconds(n) }),
  }
  await numpy?.prepare({ case: drawn })
  const seconds = await inTurn(rivals)
  for (const t of [...made, oneTo, oneFrom, to.view, to.whole, from.view, from.whole]) t.dispose()
  const bound = seconds.call + Math.max(seconds.lines / 0.35, seconds.loop / 6)
  return {
    drawn,
    bound: bound / seconds.own,
    speed: movedBytes(drawn) / seconds.own / 1e9,
    loop: seconds.loop / seconds.own,
    numpy: seconds.numpy / seconds.own,
    memory: seconds.memory / seconds.own,
  }
}

// ---- What is printed ----

function lineOf({ drawn, speed, loop, numpy, memory, bound }) {
  return `${times(loop)} loop, ${times(numpy)} NumPy, ${times(memory)} memory, ${times(bound)} bound, ${speed.toFixed(1)} GB/s: ${titleOf(drawn)} (${numelOf(drawn.to.shape)} elements, seed ${drawn.seed})`
}

function summary(results) {
  const families = [...new Set(results.map(({ drawn }) => drawn.family))].sort()
  const rows = [...families, 'all'].map((family) => {
    const some = results.filter(({ drawn }) => family === 'all' || drawn.family === family)
    const loops = some.map(({ loop }) => loop)
    const others = some.map(({ numpy }) => numpy).filter(Number.isFinite)
    const part = (test) => `${Math.round((100 * some.filter(test).length) / some.length)} %`
    return [
      family,
      some.length,
      times(mean(loops)),
      times(Math.min(...loops)),
      loops.filter((x) => x < 0.9).length,
      others.length > 0 ? times(mean(others)) : '–',
      others.length > 0 ? times(Math.min(...others)) : '–',
      others.filter((x) => x < 0.9).length,
      part(({ loop, memory }) => memory >= 0.35 * GOAL || loop >= 6 * GOAL),
      part(({ bound }) => bound >= GOAL),
    ]
  })
  const head = [
    'family',
    'cases',
    'loop, mean',
    'least',
    'below 0.9',
    'NumPy, mean',
    'least',
    'below 0.9',
    `${0.35 * GOAL} of memory or ${6 * GOAL} x the loop`,
    'of whole lines, after a call',
  ]
  return [
    `\nNode ${process.version}, ${backend()}: how many times as fast as\n`,
    head,
    head.map(() => '---'),
    ...rows,
  ]
    .map((row) => (typeof row === 'string' ? row : `| ${row.join(' | ')} |`))
    .join('\n')
}

module.exports = { main }
