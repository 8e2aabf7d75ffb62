'use strict'
// memory(), setMemoryLimit() and what else programs ask of the back end.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { stats, counts, budget, countedBytes } = require('./storage')
const { pinCount } = require('./pins')
const ffi = require('./calls')

const { backend: engine } = ffi

/**
 * Which back end does the work: the same calls give the same bits on each.
 *
 * @returns {'native' | 'wasm' | 'wasm-shared'}
 * @throws nothing
 * @example
 * ['native', 'wasm', 'wasm-shared'].includes(backend()) // true
 */
function backend() {
  return /** @type {'native' | 'wasm' | 'wasm-shared'} */ (engine.name)
}

/**
 * A WebAssembly.Memory, of the type that the program's own declarations have for it.
 *
 * @typedef {typeof globalThis extends { WebAssembly: { Memory: { prototype: infer M } } } ? M : { readonly buffer: ArrayBuffer, grow (pages: number): number }} LinearMemory
 */

/**
 * The WebAssembly.Memory in which dataPtr is an address; its buffer is another one after it grows. Where the native addon is used
 * there is none: the type leaves that out, so that it can be imported by a module as it is.
 *
 * @returns {LinearMemory} undefined natively
 * @throws nothing
 * @example
 * (wasmMemory() === undefined) === (backend() === 'native') // true
 */
function wasmMemory() {
  return /** @type {any} */ ('memory' in engine ? engine.memory : undefined)
}

/**
 * @typedef {object} Memory
 * @property {number} tensors  neither disposed nor known to be collected
 * @property {number} storages  blocks of bytes behind them
 * @property {Record<'v8' | 'native' | 'mapped' | 'shared' | 'pinned' | 'cuda' | 'wasm', number>} bytes
 * @property {Record<string, { count: number, bytes: number }>} copied  by the function that copied
 * @property {{ count: number, bytes: number }} staged  temporary copies: overlap, the caller's bytes in WASM
 * @property {Partial<Record<'message' | 'host', { count: number, bytes: number }>>} sent  tensors and records on their way over NATS: in messages, or in memory that both processes of a host see
 * @property {number} promoted  small tensors whose bytes got a buffer of their own
 * @property {number} grown  times that WASM memory grew; where threads share it: that this one noticed
 * @property {number} maximum  bytes that WASM memory may grow to; 0 natively, where the machine's memory is the limit
 * @property {number} inFlight  copies that are pending, uses of tokens that nobody has taken yet, and device memory that is kept for others
 * @property {number} exported  pins of this thread's tensors that native code has
 * @property {number} deleterErrors  deleters that threw
 */

/**
 * What is alive and what was copied, as plain numbers. What V8 owns is counted until it is known to be
 * collected: small tensors by the block that they share.
 *
 * @returns {Memory} a snapshot
 * @throws nothing
 * @example
 * const { count } = memory().copied.clone ?? { count: 0 }
 * zeros([2]).clone()
 * memory().copied.clone.count - count // 1
 */
function memory() {
  const pins = pinCount() // first, because it unpins what native code is done with
  engine.sweep()
  let tensors = 0
  let storages = 0
  counts.forEach((row) => {
    tensors += row.tensors
    storages += row.storages
  })
  const { v8, sab } = countedBytes()
  const { heap, inFlight, mapped, pinned, cuda: there } = ffi.totals()
  const bytes = { v8, native: 0, mapped, shared: sab, pinned, cuda: there, wasm: 0 }
  bytes[engine.isWasm ? 'wasm' : 'native'] = heap
  return {
    tensors,
    storages,
    bytes,
    copied: copyOfRows(stats.copied),
    staged: { ...stats.staged },
    sent: copyOfRows(stats.sent),
    promoted: stats.promoted,
    grown: stats.grown,
    maximum: 'maximum' in engine ? engine.maximum : 0,
    inFlight: stats.inFlight + inFlight + ffi.sharedVram(),
    exported: pins,
    deleterErrors: stats.deleterErrors,
  }
}

/** @param {Record<string, { count: number, bytes: number }>} rows */
const copyOfRows = (rows) =>
  Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, { ...row }]))

/**
 * Sets how many bytes tensors may take together: what they own, whoever allocated it, but not the caller's bytes. What a function takes for
 * itself while it runs, from 64 KiB on, has to fit beside them. A
 * request beyond it is ERR_MEMORY; what exists stays.
 *
 * @param {number} nbytes  Infinity for no limit; without a call it is the container's memory, else the machine's
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS below 0
 * @example
 * setMemoryLimit(2 ** 34)
 */
function setMemoryLimit(nbytes) {
  if (typeof nbytes !== 'number' || Number.isNaN(nbytes)) {
    throw failure('ERR_ARGUMENT', `nbytes is ${show(nbytes)}; a number was expected`)
  }
  if (nbytes < 0) throw failure('ERR_BOUNDS', `nbytes is ${nbytes}; 0 or more was expected`)
  budget.limit = nbytes
  budget.isKnown = true
}

/**
 * Waits until deleters that are due have run.
 *
 * @returns {Promise<void>}
 * @throws nothing
 * @example
 * await flush()
 */
function flush() {
  return engine.flush()
}

module.exports = { backend, wasmMemory, memory, setMemoryLimit, flush }
