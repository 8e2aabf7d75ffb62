'use strict'
// What the benches share: medians, fresh processes, the addon's own yardstick.

const { execFileSync } = require('node:child_process')
const path = require('node:path')

const ROOT = path.join(__dirname, '..', '..')

function median(values) {
  const sorted = Float64Array.from(values).sort()
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Runs source text in a fresh process and returns the number that it prints. */
function inFreshProcess(source, flags = []) {
  const output = execFileSync(process.execPath, [...flags, '-e', source], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const value = Number(output)
  if (output.trim() === '' || Number.isNaN(value)) {
    throw new Error(`expected a number, got: ${output}`)
  }
  return value
}

/** The addon that the package loads. */
function addonPath() {
  return process.env.SAMEBYTES_BINARY || path.join(ROOT, 'build', 'Release', 'samebytes.node')
}

/** What test/bench/c/yardstick.c exports: memcpy, noop and so on. */
function yardstick() {
  return require(path.join(ROOT, 'build', 'Release', 'samebytes_bench.node'))
}

module.exports = { ROOT, median, inFreshProcess, addonPath, yardstick }
