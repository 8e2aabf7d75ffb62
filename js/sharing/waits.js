'use strict'
// Waiting, off the event loop, for words of memory that other threads and processes write: futexes.

const { rootless } = require('../base/records')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, integer, optionsOf } = require('../base/validate')
const { claim, unclaim } = require('../backend/storage')
const { dtypes } = require('../backend/dtypes')
const { signalOf, checkSignal } = require('../base/signals')
const futex = require('./futex')

const { backend, READ_ONLY } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @typedef {'ok' | 'not-equal' | 'timed-out'} Woken */

const WORDS = ['int32', 'uint32', 'int64', 'uint64']
const PENDING = 3 // the wait goes on; by C's sb__wait_result, as OUTCOMES
const CHECK_INTERVAL = 500 // ms between checks that the words of pending waits are still mapped
const OUTCOMES = /** @type {const} */ (['ok', 'not-equal', 'timed-out'])

/**
 * The place of an element's word.
 *
 * @param {Layout} layout  over shared bytes, dense
 * @param {unknown} index  of an element, as in `data`
 * @returns {number} its first byte in the storage
 */
function wordAt(layout, index) {
  const { name, itemsize } = dtypes[layout.dtype]
  if (!WORDS.includes(name)) {
    throw failure('ERR_DTYPE', `a ${name} is no word to wait on; ${WORDS.join(', ')} are`)
  }
  if ((layout.flags & READ_ONLY) !== 0) {
    throw failure(
      'ERR_READ_ONLY',
      'the bytes are read-only, and may be a private copy: nobody can wait on them',
    )
  }
  const i = integer('index', index)
  if (i < 0 || i >= layout.size) {
    throw failure('ERR_BOUNDS', `index is ${i}; there are ${layout.size} elements`)
  }
  return (layout.offset + i) * itemsize // of 64 bits the lower word: all supported systems with futexes are little-endian
}

/**
 * The lower 32 bits of an expected value.
 *
 * @param {Layout} layout
 * @param {unknown} expected
 * @returns {number} unsigned
 */
function bitsOf(layout, expected) {
  const { name, itemsize } = dtypes[layout.dtype]
  if (typeof expected !== 'bigint' && !Number.isSafeInteger(expected)) {
    throw failure(
      typeof expected === 'number' ? 'ERR_CAST' : 'ERR_ARGUMENT',
      `expected is ${show(expected)}; an integer was expected`,
    )
  }
  const value = BigInt(/** @type {number | bigint} */ (expected))
  const fits = name.startsWith('u')
    ? BigInt.asUintN(8 * itemsize, value)
    : BigInt.asIntN(8 * itemsize, value)
  if (fits !== value) throw failure('ERR_CAST', `expected is ${value}; it is none of ${name}`)
  return Number(BigInt.asUintN(32, value))
}

/** @param {unknown} timeout */
function timeoutOf(timeout) {
  if (timeout === undefined) return Infinity
  if (typeof timeout !== 'number') {
    throw failure('ERR_ARGUMENT', `timeout is ${show(timeout)}; milliseconds were expected`)
  }
  if (!(timeout >= 0)) throw failure('ERR_BOUNDS', `timeout is ${timeout}; 0 or more was expected`)
  return timeout
}

/** The pending waits of one object, which end when it is disposed. */
class Waits {
  constructor() {
    /** of each pending wait, the function that ends it and the one that checks its word @type {Map<() => void, () => void>} */
    this.pending = new Map()
    this.ended = false
    /** @type {any} */
    this.timer = null
  }

  /**
   * @param {() => void} stop
   * @param {() => void} look  checks that the word is still mapped: the kernel wakes nobody when the memory is made shorter
   */
  add(stop, look) {
    this.pending.set(stop, look)
    if (this.timer !== null) return
    this.timer = setInterval(() => this.pending.forEach((each) => each()), CHECK_INTERVAL)
    this.timer.unref?.() // the wait itself keeps the process alive
  }

  /** @param {() => void} stop */
  remove(stop) {
    this.pending.delete(stop)
    if (this.pending.size > 0) return
    clearInterval(this.timer)
    this.timer = null
  }

  /**
   * Waits until somebody calls notify for an element, as Atomics.waitAsync.
   *
   * @param {Layout} layout  over native shared bytes, dense
   * @param {unknown} index
   * @param {unknown} expected
   * @param {unknown} [opts]
   * @returns {Promise<Woken>}
   * @throws for wrong arguments
   */
  wait(layout, index, expected, opts) {
    const { timeout, signal: given } = optionsOf(opts, ['timeout', 'signal'], 'wait')
    const ms = timeoutOf(timeout)
    const signal = signalOf(given)
    const at = wordAt(layout, index)
    const bits = bitsOf(layout, expected)
    checkSignal(signal)
    return this.waitFor(layout.storage, at, bits, ms, signal)
  }

  /**
   * Waits for a word, with checked arguments.
   *
   * @param {Storage} storage  with a handle; claimed while the wait is pending
   * @param {number} at  byte of the word
   * @param {number} bits
   * @param {number} ms
   * @param {import('../base/signals').Signal | undefined} signal
   * @returns {Promise<Woken>}
   */
  waitFor(storage, at, bits, ms, signal) {
    return new Promise((resolve, reject) => {
      if (this.ended || storage.released) throw gone() // code of the signal may have disposed it
      let leave = () => {}
      /** @type {unknown} */
      let lost = null
      const { how: first, id } = futex.startWait(storage, at, bits, ms, (how, error) => {
        leave()
        this.remove(stop)
        unclaim(storage, backend)
        if (error !== null) reject(error)
        else if (how !== PENDING) resolve(OUTCOMES[how])
        else reject(this.ended ? gone() : (lost ?? signal?.reason))
      })
      const stop = () => futex.endWait(id)
      const look = () => {
        try {
          futex.checkWord(storage, at)
        } catch (error) {
          lost = error
          stop()
        }
      }
      if (first !== PENDING) return resolve(OUTCOMES[first])
      claim(storage)
      this.add(stop, look)
      if (signal !== undefined) leave = signal.follow(stop)
    })
  }

  /** Rejects pending and later waits with ERR_DISPOSED. */
  end() {
    this.ended = true
    for (const stop of this.pending.keys()) stop()
  }
}

rootless(Waits)

const gone = () => failure('ERR_DISPOSED', 'what was waited on was disposed')

/**
 * Wakes threads, of any process, that wait on an element.
 *
 * @param {Layout} layout  over native shared bytes, dense
 * @param {unknown} index
 * @param {unknown} [n]  at most; all unless told
 * @returns {number} threads woken
 */
function notify(layout, index, n) {
  const at = wordAt(layout, index)
  const count = n === undefined || n === Infinity ? 2 ** 31 : integer('n', n)
  if (count < 0) throw failure('ERR_BOUNDS', `n is ${count}; 0 or more was expected`)
  return futex.wake(layout.storage, at, Math.min(count, 2 ** 31))
}

module.exports = { Waits, notify, timeoutOf }
