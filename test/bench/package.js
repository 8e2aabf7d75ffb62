'use strict'
// What it takes to have the package and to load it.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { ROOT, addonPath, inFreshProcess, median } = require('./measure')

const rows = [
  {
    what: "require('samebytes')",
    unit: 'ms',
    limit: { value: 15 },
    measure: ({ quick }) => loadTimes(quick)[0],
    yardstick: { what: 'an empty module', measure: ({ quick }) => loadTimes(quick)[1] }
  },
  { what: 'addon, stripped', unit: 'KB', limit: { value: 600 }, measure: () => strippedSize(addonPath()) / 1000 },
  { what: 'WebAssembly', unit: 'KB', limit: { value: 150 }, measure: wasmSize }
]

let loaded
/** Milliseconds for samebytes and for an empty module in fresh processes, in turn. */
function loadTimes (quick) {
  if (loaded) return loaded
  loaded = withFolder(folder => {
    const nothing = path.join(folder, 'nothing.js')
    fs.writeFileSync(nothing, '')
    const modules = ['samebytes', nothing]
    const times = [[], []]
    for (let i = 0; i < (quick ? 5 : 15); i++) modules.forEach((module, k) => times[k].push(loadTime(module)))
    return times.map(median)
  })
  return loaded
}

function loadTime (module) {
  // Not by performance.now(): a process' first look at it takes a millisecond.
  return inFreshProcess(`
    const start = process.hrtime.bigint()
    require(${JSON.stringify(module)})
    process.stdout.write(String(Number(process.hrtime.bigint() - start) / 1e6))`)
}

function strippedSize (file) {
  return withFolder(folder => {
    const stripped = path.join(folder, 'stripped.node')
    execFileSync('strip', ['--strip-unneeded', '-o', stripped, file])
    return fs.statSync(stripped).size
  })
}

function wasmSize () {
  const size = fs.statSync(path.join(ROOT, 'dist', 'samebytes.wasm'), { throwIfNoEntry: false })?.size
  return size && size / 1000
}

function withFolder (use) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-bench-'))
  try {
    return use(folder)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

module.exports = { title: 'Package', rows }
