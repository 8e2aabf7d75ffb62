'use strict'
// Folders of src/ include and call downward only, and files of one folder call each other in no circle: looks at #include lines, and at the
// symbols of what `scripts/build native` compiled.
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const ROOT = path.join(__dirname, '..')
const OBJECTS = path.join(ROOT, 'build', 'Release', 'obj.target')

/** The lowest first. */
const ORDER = [
  'platform',
  'core',
  'kernels',
  'ops',
  'formats',
  'ipc',
  'cuda',
  'onnx',
  'interop',
  'bind',
  'math',
  'node',
]

/** It has functions of the core's names, which call the core by its table. */
const STAND_INS = 'node/math.c'

/** @param {string} place @param {RegExp} name @returns {string[]} files, from the place on */
const filesIn = (place, name) =>
  fs
    .readdirSync(place, { recursive: true })
    .map(String)
    .filter((file) => name.test(file))
    .sort()

/** Above what uses it? @type {string[]} */
const wrong = []

/** @param {string} from @param {string} to  files of src/ @param {string} how */
function judge(from, to, how) {
  const [above, below] = [to, from].map((file) => ORDER.indexOf(file.split('/')[0]))
  if (below < 0) wrong.push(`src/${from}: its folder has no place in scripts/calls.js`)
  else if (above > below) wrong.push(`src/${from} ${how}, which is above it: src/${to}`)
}

for (const file of filesIn(path.join(ROOT, 'src'), /\/.*\.(c|h|inc|cu)$/)) {
  const text = fs.readFileSync(path.join(ROOT, 'src', file), 'utf8')
  for (const [, name] of text.matchAll(/^\s*#\s*include "([a-z]+\/[^"]+)"/gm)) {
    judge(file, name, 'includes a file')
  }
}

/** symbol: the file that has it @type {Map<string, string>} */
const homes = new Map()
/** file: symbols that it uses @type {Map<string, string[]>} */
const uses = new Map()
for (const object of filesIn(
  OBJECTS,
  /^(samebytes|samebytes_cuda|samebytes_platform|samebytes_build|samebytes_math|samebytes_math_small)\/src\/.*\.o$/,
)) {
  const file = object.split('/src/')[1].replace(/\.o$/, '.c')
  if (!fs.existsSync(path.join(ROOT, 'src', file))) continue // of before a move
  for (const line of execFileSync('nm', [path.join(OBJECTS, object)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).split('\n')) {
    const [, kind, symbol] = /^[\da-f ]+ (\w) (sb_\w*)$/.exec(line) ?? []
    if (kind === 'U') uses.set(file, [...(uses.get(file) ?? []), symbol])
    else if (/[TDBR]/.test(kind ?? '') && file !== STAND_INS) homes.set(symbol, file)
  }
}
if (homes.size < 300) {
  wrong.push(`${OBJECTS} has ${homes.size} symbols; first: bash scripts/build native`)
}
/** file: symbols that it takes from other files of its folder, by file @type {Map<string, Map<string, string>>} */
const beside = new Map()
for (const [file, symbols] of uses) {
  for (const symbol of symbols) {
    const home = homes.get(symbol)
    if (home === undefined) continue
    judge(file, home, `calls ${symbol}`)
    if (home !== file && path.dirname(home) === path.dirname(file)) {
      beside.set(file, (beside.get(file) ?? new Map()).set(home, symbol))
    }
  }
}

/** @param {string} from @param {string} to @returns {string[] | undefined} files on the shortest way by calls, both ends included */
function way(from, to) {
  const ways = [[from]]
  const seen = new Set(ways[0])
  for (const walked of ways) {
    const last = walked[walked.length - 1]
    if (last === to) return walked
    for (const next of beside.get(last)?.keys() ?? []) {
      if (!seen.has(next)) seen.add(next) && ways.push([...walked, next])
    }
  }
  return undefined
}

const told = new Set()
for (const [file, others] of beside) {
  for (const other of others.keys()) {
    const circle = way(other, file)
    const key = circle?.slice().sort().join()
    if (!circle || told.has(key)) continue
    told.add(key)
    const steps = circle.map(
      (at, i) => `src/${at} (${beside.get(at).get(circle[(i + 1) % circle.length])})`,
    )
    wrong.push(`files call each other in a circle: ${steps.join(' → ')}`)
  }
}

for (const line of wrong) console.error(line)
process.exitCode = wrong.length > 0 ? 1 : 0
