'use strict'
// What the tests share: refusals, counters, collection, skips, child processes.
const assert = require('node:assert/strict')
const os = require('node:os')
const path = require('node:path')
const util = require('node:util')
const { execFile } = require('node:child_process')
const { backend, empty, fromBlob, memory } = require('samebytes')
const { anotherCopy } = require('./another-copy')
const { CANNOT } = require('./cannot')
const { HANG_MS } = require('./hang')
const { TOOLS, lackOf } = require('./tools')

const ROOT = path.join(__dirname, '..')

// The class that comes with each code; what is not listed is a plain SamebytesError.
const CLASSES = {
  ERR_ARGUMENT: TypeError,
  ERR_SHAPE: RangeError,
  ERR_BOUNDS: RangeError,
  ERR_DTYPE: TypeError,
  ERR_CAST: TypeError,
  ERR_ALIGNMENT: RangeError,
  ERR_MEMORY: RangeError,
  ERR_DISPOSED: Error,
  ERR_DETACHED: Error,
  ERR_STALE: Error,
  ERR_BUSY: Error,
  ERR_READ_ONLY: Error,
  ERR_OVERLAP: Error,
  ERR_UNSUPPORTED: Error,
  ERR_DEVICE: Error,
  ERR_FORMAT: Error,
  ERR_IO: Error,
  ERR_EXISTS: Error,
  ERR_CUDA_CONTEXT_LOST: Error,
  ERR_NOT_FOUND: Error,
  ERR_MODEL: Error,
}

function thrownBy(fn) {
  let result
  try {
    result = fn()
  } catch (error) {
    return error
  }
  assert.fail(`nothing was thrown; the result was ${String(result).slice(0, 200)}`)
}

/** fn must throw an error of this class and code whose message matches the pattern. */
function fails(fn, Class, code, pattern = /\S{3}/) {
  const error = thrownBy(fn)
  assert.equal(error.code, code, `expected ${code}, got ${error.stack}`)
  assert.ok(error instanceof Class, `${code} should be a ${Class.name}: ${error.stack}`)
  assert.match(error.message, pattern)
}

/** fn must throw a typed error; codes narrows which ones. */
function refuses(fn, ...codes) {
  const error = thrownBy(fn)
  const Class = CLASSES[error.code]
  assert.ok(Class, `not a typed error: ${error.stack}`)
  assert.ok(error instanceof Class, `${error.code} should be a ${Class.name}: ${error.stack}`)
  if (codes.length > 0) {
    assert.ok(codes.includes(error.code), `expected one of ${codes}, got ${error.stack}`)
  }
  assert.match(error.message, /\S{3}/)
  return error
}

function describeTensor(t) {
  return {
    dtype: t.dtype,
    shape: [...t.shape],
    strides: [...t.strides],
    offset: t.offset,
    values: t.toArray(),
    isReadOnly: t.isReadOnly,
  }
}

/** fn must be refused and leave t as it was. */
function refusedUnchanged(t, fn, ...codes) {
  const before = describeTensor(t)
  const error = refuses(fn, ...codes)
  assert.deepEqual(describeTensor(t), before)
  return error
}

/** What fn made samebytes copy: { result, copies: { [reason]: { count, bytes } } }. */
function copied(fn) {
  const before = memory().copied
  const result = fn()
  const after = memory().copied
  const copies = {}
  for (const reason of Object.keys(after)) {
    const count = after[reason].count - (before[reason]?.count ?? 0)
    const bytes = after[reason].bytes - (before[reason]?.bytes ?? 0)
    if (count !== 0 || bytes !== 0) copies[reason] = { count, bytes }
  }
  return { result, copies }
}

/** fn must give a tensor that shares t's bytes, both ways, with nothing copied. */
function assertView(t, fn) {
  const { result, copies } = copied(fn)
  assert.deepEqual(copies, {})
  assert.notEqual(result, t)
  return result
}

/** The bytes of a tensor as hexadecimal digits. */
function hex(t) {
  return Buffer.from(t.contiguous().bytes).toString('hex')
}

/** An ArrayBuffer of exactly these bytes. */
function fromHex(digits) {
  const bytes = Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16))
  return bytes.buffer
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Collects until condition() holds or the rounds are over; gives what condition() said last. */
async function collectUntil(condition, rounds = 50) {
  assert.equal(typeof globalThis.gc, 'function', 'run mocha with --expose-gc')
  for (let round = 0; round < rounds && !condition(); round++) {
    await globalThis.gc() // a promise in Firefox
    await turn()
    await turn()
  }
  return condition()
}

/** Collects what nobody holds, and what its finalizers held, and so on: what is not gone then is held. */
const collectAll = () => collectUntil(() => false, 8)

/**
 * Tensors are counted by groups: one that died undisposed counts until its group is collected, and a freed slot
 * that waits for reuse keeps its group. Afterwards no slot waits and no group is open that has a dead tensor.
 */
function closeGroups() {
  const make = (nbytes) => empty([nbytes], { dtype: 'uint8' })
  if (isWasm) {
    // a group is of 32 small tensors
    for (const t of Array.from({ length: 32 }, () => make(4))) t.dispose()
    return
  }
  for (let nbytes = 64; nbytes <= 1024; nbytes += 64) {
    for (let i = 0; i < 64; i++) make(nbytes) // taken out of the lists of free slots, and never given back
  }
  const last = Array.from({ length: 128 }, () => make(1024))
  last.push(
    ...Array.from({ length: 70 }, () => make(2048)),
    ...Array.from({ length: 70 }, () => fromBlob(new Uint8Array(1))),
  )
  for (const t of last.reverse()) t.dispose() // the lists are full before it is the turn of those in an old group
}

/** Lets go of what nobody holds any more, so that only what a test does changes memory(). */
function settle(rounds = 2) {
  closeGroups()
  for (let round = 0; round < rounds; round++) globalThis.gc?.()
}

/** memory() without what nobody holds any more. */
function settledMemory() {
  settle()
  return memory()
}

/**
 * fn must leave as many tensors and storages as there were. Other numbers are no answer yet, since V8 and mocha hold on to this and that for
 * a while, and so to a group of small tensors that settle() made: then it is tried again. What leaks does so each time. counted: other
 * numbers of memory().
 */
function leavesNothing(fn, counted = ({ tensors, storages }) => [tensors, storages]) {
  const counts = () => counted(settledMemory())
  let before
  let after
  for (let attempt = 0; attempt < 5; attempt++) {
    before = counts()
    fn()
    after = counts()
    if (after.every((count, i) => count === before[i])) break
  }
  assert.deepEqual(after, before)
}

/** memory() without what nobody holds any more, nor what only a later turn gives back, such as bytes that other threads see. */
async function quietMemory() {
  let last = ''
  for (let same = 0, round = 0; same < 3 && round < 50; round++) {
    settle(1)
    const now = JSON.stringify(memory())
    same = now === last ? same + 1 : 0
    last = now
    await turn()
    await turn()
  }
  return memory()
}

/** Tensors that are alive, without those that a collection would find dead. */
const alive = () => settledMemory().tensors

/** fn must make no tensor that outlives it, not even one that a collection would take. Fewer than before are no answer, as for leavesNothing. */
function makesNothing(fn) {
  let before
  let after
  for (let attempt = 0; attempt < 5; attempt++) {
    before = alive()
    fn()
    after = memory().tensors
    if (after >= before) break
  }
  assert.equal(after, before)
}

/** ms of processor time of this process; pages have none, and take real time that counts as little as a limit does. */
function processorTime() {
  if (isPage) return performance.now() / 10
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Gives what fn gives, which must not compute for longer than so many ms. */
function within(limit, fn) {
  const from = processorTime()
  const result = fn()
  const took = processorTime() - from
  assert.ok(took < limit, `it computed for ${took} ms`)
  return result
}

/** Runs a program in a Node of its own; resolves to { code, signal, stdout, stderr }. */
function child(source, { flags = [], env = {}, type = 'commonjs' } = {}) {
  const args = [...flags, `--input-type=${type}`, '-e', source]
  const options = {
    cwd: ROOT,
    env: { ...process.env, ...env },
    maxBuffer: 1 << 24,
    timeout: HANG_MS,
    killSignal: /** @type {const} */ ('SIGKILL'),
  }
  return new Promise((resolve) => {
    const running = execFile(process.execPath, args, options, (error, stdout, stderr) => {
      resolve({ code: running.exitCode, signal: error?.signal ?? null, stdout, stderr })
    })
  })
}

/** A program's JSON output; the program must end well. */
async function childJson(source, options) {
  const { code, signal, stdout, stderr } = await child(source, options)
  assert.deepEqual({ code, signal }, { code: 0, signal: null }, stderr)
  return JSON.parse(stdout)
}

/**
 * How much a native addon's work lets the resident set grow, once it is warm: { grown, exported } after a hundred thousand rounds.
 *
 * @param {string} prelude  a program that has `samebytes`, and says what round needs
 * @param {string} round  what is done each time; i counts
 */
function growth(prelude, round) {
  return childJson(
    `
    const samebytes = require('samebytes')
    ${prelude}
    const rounds = n => { for (let i = 0; i < n; i++) { ${round} } }
    const turn = () => new Promise(resolve => setImmediate(resolve))
    async function main () {
      for (let i = 0; i < 20; i++) { rounds(1000); await turn() }
      gc()
      const before = process.memoryUsage.rss()
      for (let i = 0; i < 100; i++) { rounds(1000); await turn() }
      gc()
      console.log(JSON.stringify({ grown: process.memoryUsage.rss() - before, exported: samebytes.memory().exported }))
    }
    main()
  `,
    { env: { SAMEBYTES_BACKEND: 'native' }, flags: ['--expose-gc'] },
  )
}

/** Is the back end one of the two over linear memory? */
const isWasm = backend() !== 'native'

/** Does every tensor with bytes of its own lie where other threads see it? */
const ALL_SHARED = backend() === 'wasm-shared'

/** Skips a test, or in a hook the tests of its suite, and says why: test/run.js prints the reasons. */
function skip(context, reason) {
  const { test } = context
  const skipped = test.type === 'hook' ? test.parent : test
  skipped.skipReason = reason
  return context.skip()
}

const isPage = typeof document === 'object'

/** By its version, so that a lookup that fails is no reason to skip. */
function makesExternalSabs() {
  const [major, minor, patch] = process.versions.node.split('.').map(Number)
  if (major === 22) return minor > 23 || (minor === 23 && patch >= 3)
  return (major === 24 && minor >= 16) || (major === 26 && minor >= 1) || major > 26
}

const MAJOR = isPage ? 0 : parseInt(process.versions.node)

/** What the system lacks, by the addon's abilities. */
function lacks() {
  const { abilities } = require(path.join(ROOT, 'js', 'backend', 'calls')).backend
  return [
    'segments',
    'unnamedFiles',
    'sealedMemory',
    'descriptorPaths',
    'processStartTimes',
    'futexes',
  ].filter((name) => !abilities[name])
}

/** Wine instead of Windows: it has a program of its own among the system's. */
const isWine = () => require('node:fs').existsSync('C:\\windows\\system32\\winecfg.exe')

/** Does Module use onnxruntime's C library here? Not asked of Module, which might say no where it should not. */
const hasModelLibrary = () =>
  backend() === 'native' &&
  process.platform === 'linux' &&
  process.arch === 'x64' &&
  process.versions.bun === undefined &&
  process.report.getReport().header.glibcVersionRuntime !== undefined

/** What test/cannot.js calls the place where the tests run. */
const PLACES = [
  backend(),
  ...(backend() === 'native' ? lacks().map((name) => `system without ${name}`) : []),
  ...(hasModelLibrary() ? [] : ['system without onnxruntime in C']),
  ...(isPage ? ['page', `page of ${globalThis.RUN.browser}`] : []),
  ...(isPage && !globalThis.crossOriginIsolated ? ['page without isolation'] : []),
  ...(isPage
    ? []
    : [
        makesExternalSabs()
          ? 'Node with external SharedArrayBuffers'
          : 'Node without external SharedArrayBuffers',
      ]),
  ...(globalThis.process?.platform === 'win32'
    ? ['Windows', ...(isWine() ? ['Wine'] : [])]
    : ['no Windows']),
  ...(isPage || MAJOR >= 22 ? [] : ['Node without ArrayBuffer.prototype.transfer']),
  ...(isPage || MAJOR >= 24 ? [] : ['Node without buffers that stay', 'Node without Float16Array']),
]

/** Is a feature of test/cannot.js here? For what a part of a test needs; skipWithout is for all of it. */
const can = (feature) => !PLACES.some((place) => CANNOT[feature].places.includes(place))

/** The `errno` of Node's errors with this code. */
const errnoOf = (code) => [...util.getSystemErrorMap()].find(([, [name]]) => name === code)[0]

/** Skips where this back end or page lacks a feature of test/cannot.js, or the machine a tool of test/tools.js. */
function skipWithout(context, feature) {
  if (TOOLS[feature]) {
    const lack = lackOf(feature)
    return lack === null ? undefined : skip(context, lack)
  }
  const { places, reason } = CANNOT[feature]
  if (PLACES.some((place) => places.includes(place))) skip(context, reason)
}

/** For use in describe: all its tests need a feature of test/cannot.js, or a tool of test/tools.js. */
function needs(feature) {
  assert.ok(CANNOT[feature] ?? TOOLS[feature], feature)
  before(function () {
    skipWithout(this, feature)
  })
}

/** For use in describe: its tests take so many GiB of memory, and are skipped where others have them. */
function needsMemory(gib) {
  before(function () {
    const free = Math.min(os.freemem(), globalThis.process?.availableMemory?.() ?? Infinity)
    if (free < gib * 2 ** 30) skip(this, `it needs ${gib} GiB of free memory`)
  })
}

/**
 * For use in describe: its tests set limits of memory, and the one that was there before is there afterwards. Without any, a system may grant
 * what it does not have. budget: js/backend/storage's.
 */
function restoresLimit(budget) {
  let before
  beforeEach(() => {
    before = { limit: budget.limit, isKnown: budget.isKnown }
  })
  afterEach(() => {
    Object.assign(budget, before)
  })
}

/** For use in describe: its tests are about the native addon. */
const nativeOnly = () => needs('the addon')

/** Makes all generators give other numbers: test/math/seeds.js draws more cases by it. */
const OTHER = Math.imul(Number(process.env.SAMEBYTES_SEED ?? 0), 0x9e3779b1)

/** The same numbers on every run: mulberry32; next(n) is an integer in [0, n). */
function generator(seed) {
  seed += OTHER
  function uint32() {
    seed = (seed + 0x6d2b79f5) | 0
    let x = Math.imul(seed ^ (seed >>> 15), seed | 1)
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61)
    return (x ^ (x >>> 14)) >>> 0
  }
  const next = (n) => Math.floor((uint32() / 4294967296) * n)
  const pick = (list) => list[next(list.length)]
  function shuffle(list) {
    const result = [...list]
    for (let i = result.length - 1; i > 0; i--) {
      const j = next(i + 1)
      const kept = result[i]
      result[i] = result[j]
      result[j] = kept
    }
    return result
  }
  return { uint32, next, pick, shuffle }
}

/** what asking for a CUDA device is answered with where there is none */
const NO_CUDA = isWasm ? 'ERR_UNSUPPORTED' : 'ERR_DEVICE'

module.exports = {
  ALL_SHARED,
  CLASSES,
  NO_CUDA,
  ROOT,
  alive,
  anotherCopy,
  closeGroups,
  assertView,
  can,
  child,
  childJson,
  collectAll,
  collectUntil,
  copied,
  describeTensor,
  errnoOf,
  fails,
  fromHex,
  generator,
  growth,
  hex,
  isPage,
  isWasm,
  leavesNothing,
  makesNothing,
  nativeOnly,
  needs,
  needsMemory,
  quietMemory,
  refusedUnchanged,
  refuses,
  restoresLimit,
  settledMemory,
  skip,
  skipWithout,
  turn,
  within,
}
