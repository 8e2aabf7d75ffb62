'use strict'
// The loops of ../c/bounds.c for a piece of work, in the orders that were found to be best somewhere.

const fs = require('node:fs')
const path = require('node:path')
const { ROOT } = require('../measure')

const BANDS = [
  [4096, 64],
  [512, 256],
  [4096, 256],
  [256, 4096],
]
const WIDTHS = [64, 256] // bytes
const PACKED = [
  [512, 512, 32],
  [512, 512, 64],
  [1024, 256, 64],
] // rows, bytes of each, of a square
const STRIPS = [
  [256, 1024],
  [512, 512],
] // rows, bytes of each
const TOGETHER = [1, 8, 64]
const CASTS = [
  'uint8 float32',
  'float32 float64',
  'float64 float32',
  'float32 float16',
  'float16 float32',
  'float32 bfloat16',
  'bfloat16 float32',
]
const SIZES = { uint8: 1, int16: 2, float32: 4, float64: 8 }

/**
 * @param {{ from: string, to: string, shape: number[], order?: number[] }} work
 * @param {Record<string, Function>} loops  lines, runs, cast, copy: those that there are
 * @param {unknown} target
 * @param {unknown} source
 * @param {number[]} streams  0: stores go through the caches, 1: past them; casts in WebAssembly have
 * both ways, of which 1 takes pages in turn
 * @param {unknown} [room]  1 MiB, for `packed` and `strips`
 * @returns {Record<string, () => void>} by names that begin with `bound`
 */
function boundsOf({ from, to, shape, order }, loops, target, source, streams, room) {
  const runs = {}
  const add = (name, run) =>
    streams.forEach((stream) => {
      runs[`bound ${name} ${stream}`] = () => run(stream)
    })
  const count = shape.reduce((a, b) => a * b, 1)
  if (from === to && shape.length === 2 && loops.lines) {
    for (const [rows, columns] of BANDS) {
      for (const width of WIDTHS) {
        add(`lines ${rows} ${columns} ${width}`, (stream) =>
          loops.lines(target, source, shape[0], SIZES[from], rows, columns, width, stream),
        )
      }
    }
    for (const [rows, width, line] of loops.packed ? PACKED : []) {
      runs[`bound packed ${rows} ${width} ${line}`] = () =>
        loops.packed(target, source, shape[0], SIZES[from], rows, width, line, room)
    }
    for (const [rows, width] of loops.strips ? STRIPS : []) {
      runs[`bound strips ${rows} ${width}`] = () =>
        loops.strips(target, source, shape[0], SIZES[from], rows, width, room)
    }
  } else if (from === to && String(order) === '3,1,0,2' && loops.runs) {
    const [a, b, c, d] = shape
    for (const together of TOGETHER) {
      add(`runs ${together}`, (stream) =>
        loops.runs(target, source, a, b, d, c * SIZES[from], together, stream),
      )
    }
  } else if (from === to && !order && loops.copy) {
    for (const atOnce of [0, 1]) {
      runs[`bound copy ${atOnce}`] = () => loops.copy(target, source, count * SIZES[from], atOnce)
    }
  } else if (CASTS.includes(`${from} ${to}`) && loops.cast) {
    for (const way of [0, 1]) {
      runs[`bound cast ${way}`] = () =>
        loops.cast(target, source, count, CASTS.indexOf(`${from} ${to}`), way)
    }
  }
  return runs
}

/**
 * The same loops in WebAssembly, over the library's memory: they have no data and no stack of their own.
 *
 * @param {WebAssembly.Memory} memory  larger than 16 MiB
 */
function inWasm(memory) {
  const file = path.join(ROOT, 'build', 'bounds.wasm')
  if (!fs.existsSync(file)) return null
  const module = new WebAssembly.Module(fs.readFileSync(file))
  return new WebAssembly.Instance(module, { env: { memory, emscripten_notify_memory_growth() {} } })
    .exports
}

module.exports = { boundsOf, inWasm }
