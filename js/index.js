'use strict'
// The public package: names only. What they do is in the files that they come from.

const { SamebytesError, failure } = require('./errors')
const { stats, counts, budget, countedBytes } = require('./storage')
const { show } = require('./validate')
const ffi = require('./ffi')
const { Tensor } = require('./tensor')
const { tensor, empty, zeros, ones, full, scalarTensor, fromBytes, clone, sharesMemory, canCast } = require('./make')
const { promoteTypes, finfo, iinfo } = require('./typeinfo')
const { concat, stack, arrayEqual, allClose } = require('./combine')
const { fromBlob, forBlob } = require('./blob')
const { Generator, manualSeed, rand, randn, randint } = require('./random')
const { emptyLike, zerosLike, onesLike, fullLike, randLike, randnLike, randintLike } = require('./like')
const { emptyStrided, zerosStrided, onesStrided, fullStrided, randStrided, randnStrided, randintStrided } = require('./strided')
const { arange, linspace, eye } = require('./sequences')
const { asarray } = require('./asarray')
const { dtypes: dtypeList } = require('./dtypes')
const lifetime = require('./lifetime')
const { Scope, keep } = require('./lifetime')

const { backend: engine } = ffi

/** @returns {'native' | 'wasm'} what does the work */
function backend () {
  return /** @type {'native' | 'wasm'} */ (engine.name)
}

/** @returns {import('./wasm').WasmMemory | undefined} the WebAssembly.Memory in which dataPtr is an address; undefined on native */
function wasmMemory () {
  return 'memory' in engine ? engine.memory : undefined
}

/**
 * Runs a function and disposes every tensor made inside but what it returns (also inside arrays and
 * objects) or keeps. Synchronous: a returned promise throws.
 *
 * @template R
 * @param {() => R} fn
 * @returns {R}
 */
function tidy (fn) {
  return lifetime.tidy(fn, Tensor.isTensor)
}

/**
 * Runs an asynchronous function with a scope; what it tracks is disposed at the end, but for what is
 * returned or kept.
 *
 * @template R
 * @param {(scope: InstanceType<typeof Scope>) => Promise<R> | R} fn
 * @returns {Promise<R>}
 */
function scope (fn) {
  return lifetime.scope(fn, Tensor.isTensor)
}

/**
 * Disposes each tensor of a list.
 *
 * @param {Tensor[] | Tensor} list
 */
function dispose (list) {
  const all = Tensor.isTensor(list) ? [list] : Array.isArray(list) ? list : null
  if (all === null || !all.every(Tensor.isTensor)) throw failure('ERR_ARGUMENT', 'dispose takes a tensor or an array of them')
  for (const t of all) t.dispose()
}

/**
 * @typedef {object} Memory
 * @property {number} tensors  neither disposed nor known to be collected
 * @property {number} storages  blocks of bytes behind them
 * @property {Record<'v8' | 'native' | 'mapped' | 'shared' | 'pinned' | 'cuda' | 'wasm', number>} bytes
 * @property {Record<string, { count: number, bytes: number }>} copied  by the function that copied
 * @property {{ count: number, bytes: number }} staged  temporary copies: overlap, the caller's bytes in WASM
 * @property {number} promoted  small tensors whose bytes got a buffer of their own
 * @property {number} grown  times that WASM memory grew
 * @property {number} inFlight
 * @property {number} deleterErrors  deleters that threw
 */

/**
 * What is alive and what was copied, as plain numbers. What V8 owns is counted until it is known to be
 * collected: small tensors by the block that they share.
 *
 * @returns {Memory}
 */
function memory () {
  engine.sweep()
  let tensors = 0
  let storages = 0
  for (const row of counts.values()) {
    tensors += row.tensors
    storages += row.storages
  }
  const { v8, sab } = countedBytes()
  const { heap } = ffi.totals()
  const bytes = { v8, native: 0, mapped: 0, shared: sab, pinned: 0, cuda: 0, wasm: 0 }
  bytes[engine.name === 'wasm' ? 'wasm' : 'native'] = heap
  return {
    tensors,
    storages,
    bytes,
    copied: structuredClone(stats.copied),
    staged: { ...stats.staged },
    promoted: stats.promoted,
    grown: stats.grown,
    inFlight: stats.inFlight,
    deleterErrors: stats.deleterErrors
  }
}

/**
 * Sets how many bytes tensors may take together: what they own, whoever allocated it, but not the caller's bytes. A
 * request beyond it is ERR_MEMORY; what exists stays.
 *
 * @param {number} nbytes  Infinity for no limit; without a call it is the container's memory, else the machine's
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS below 0
 * @example
 * setMemoryLimit(2 ** 30)
 */
function setMemoryLimit (nbytes) {
  if (typeof nbytes !== 'number' || Number.isNaN(nbytes)) throw failure('ERR_ARGUMENT', `nbytes is ${show(nbytes)}; a number was expected`)
  if (nbytes < 0) throw failure('ERR_BOUNDS', `nbytes is ${nbytes}; it is 0 or more`)
  budget.limit = nbytes
}

/** Waits until deleters that are due have run. @returns {Promise<void>} */
function flush () {
  return engine.flush()
}

/** The names of all dtypes. @type {readonly string[]} */
const dtypes = Object.freeze(dtypeList.map(d => d.name))

module.exports = {
  Tensor,
  Scope,
  SamebytesError,
  tensor,
  empty,
  zeros,
  ones,
  full,
  fromBytes,
  fromBlob,
  forBlob,
  rand,
  randn,
  randint,
  manualSeed,
  Generator,
  scalarTensor,
  arange,
  linspace,
  eye,
  asarray,
  emptyLike,
  zerosLike,
  onesLike,
  fullLike,
  randLike,
  randnLike,
  randintLike,
  emptyStrided,
  zerosStrided,
  onesStrided,
  fullStrided,
  randStrided,
  randnStrided,
  randintStrided,
  clone,
  concat,
  stack,
  arrayEqual,
  allClose,
  sharesMemory,
  canCast,
  promoteTypes,
  finfo,
  iinfo,
  dtypes,
  tidy,
  scope,
  keep,
  dispose,
  memory,
  setMemoryLimit,
  flush,
  backend,
  wasmMemory
}
