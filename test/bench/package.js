'use strict'
// What it takes to have the package and to load it.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { FILES } = require('../../scripts/sizes.js')
const { ROOT, addonPath, median } = require('./measure')

const rows = [
  {
    what: "require('samebytes')",
    unit: 'ms',
    limit: { value: 15 },
    measure: ({ quick }) => loadTimes(quick)[0],
    yardstick: { what: 'an empty module', measure: ({ quick }) => loadTimes(quick)[1] },
  },
  {
    what: 'addon, stripped',
    unit: 'KB',
    limit: { value: FILES['samebytes.node'].bytes / 1000 },
    measure: () => strippedSize(addonPath()) / 1000,
  },
  {
    what: 'WebAssembly',
    unit: 'KB',
    limit: { value: FILES['samebytes.wasm'].bytes / 1000 },
    measure: wasmSize,
  },
]

// Not by performance.now(): a process' first look at it takes a millisecond.
const PROGRAM = `const start = process.hrtime.bigint()
require(process.argv[2])
console.log(Number(process.hrtime.bigint() - start) / 1e6)`

let loaded
/** Milliseconds for samebytes and for an empty module in fresh processes, in turn. */
function loadTimes(quick) {
  if (loaded) return loaded
  loaded = withFolder((folder) => {
    const [program, nothing] = ['program.js', 'nothing.js'].map((name) => path.join(folder, name))
    fs.writeFileSync(nothing, '')
    fs.writeFileSync(program, PROGRAM)
    const modules = [ROOT, nothing]
    const times = [[], []]
    for (let i = 0; i < (quick ? 5 : 15); i++) {
      modules.forEach((module, k) => times[k].push(loadTime(program, module)))
    }
    return times.map(median)
  })
  return loaded
}

/** In a program that is a file, as programs are: with -e, Node sets up more on the first require. */
function loadTime(program, module) {
  return Number(execFileSync(process.execPath, [program, module], { cwd: ROOT, encoding: 'utf8' }))
}

function strippedSize(file) {
  return withFolder((folder) => {
    const stripped = path.join(folder, 'stripped.node')
    execFileSync('strip', ['--strip-unneeded', '-o', stripped, file])
    return fs.statSync(stripped).size
  })
}

function wasmSize() {
  const size = fs.statSync(path.join(ROOT, 'dist', 'samebytes.wasm'), {
    throwIfNoEntry: false,
  })?.size
  return size && size / 1000
}

function withFolder(use) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-bench-'))
  try {
    return use(folder)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

module.exports = { title: 'Package', rows }
