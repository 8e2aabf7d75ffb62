'use strict'
// Waiting for words of memory that other threads and processes write, off the event loop: a futex each.

const { BigInt, Math, Number, Promise, Map, arrayIncludes, arrayJoin, mapDelete, mapForEach, mapSet, rootless, sizeOfMap } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, integer, optionsOf } = require('../base/validate')
const { claim, unclaim } = require('../backend/storage')
const { dtypes } = require('../backend/dtypes')
const { signalOf, checkSignal } = require('../base/signals')
const words = require('./futex')

const { backend, READ_ONLY } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @typedef {'ok' | 'not-equal' | 'timed-out'} Woken */

const WORDS = ['int32', 'uint32', 'int64', 'uint64']
const RUNG = 3 // in the order of C's sb__waking
const LOOK = 500 // ms after which those that wait look again whether their words are there
const HOW = /** @type {const} */ (['ok', 'not-equal', 'timed-out'])

/**
 * Where the word of an element is.
 *
 * @param {Layout} layout  over shared bytes, dense
 * @param {unknown} index  of an element, as in `data`
 * @returns {number} its first byte in the storage
 */
function wordAt (layout, index) {
  const { name, itemsize } = dtypes[layout.dtype]
  if (!arrayIncludes(WORDS, name)) throw failure('ERR_DTYPE', `a ${name} is no word to wait on; ${arrayJoin(WORDS)} are`)
  if ((layout.flags & READ_ONLY) !== 0) throw failure('ERR_READ_ONLY', 'the bytes are read-only, and may be a private copy: nobody can wait on them')
  const i = integer('index', index)
  if (i < 0 || i >= layout.size) throw failure('ERR_BOUNDS', `index is ${i}; there are ${layout.size} elements`)
  return (layout.offset + i) * itemsize // the lower word of 64 bits: all systems that have futexes here are little-endian
}

/**
 * The 32 bits that an element should have.
 *
 * @param {Layout} layout
 * @param {unknown} expected
 * @returns {number} unsigned
 */
function bitsOf (layout, expected) {
  const { name, itemsize } = dtypes[layout.dtype]
  if (typeof expected === 'number' && (expected >>> 0 === expected || (expected | 0) === expected)) { // spares most the bigints
    if (name.startsWith('u') ? expected >= 0 : itemsize === 8 || (expected | 0) === expected) return expected >>> 0
  }
  if (typeof expected !== 'bigint' && !Number.isSafeInteger(expected)) {
    throw failure(typeof expected === 'number' ? 'ERR_CAST' : 'ERR_ARGUMENT', `expected is ${show(expected)}; an integer was expected`)
  }
  const value = BigInt(/** @type {number | bigint} */ (expected))
  const fits = name.startsWith('u') ? BigInt.asUintN(8 * itemsize, value) : BigInt.asIntN(8 * itemsize, value)
  if (fits !== value) throw failure('ERR_CAST', `expected is ${value}; it is none of ${name}`)
  return Number(BigInt.asUintN(32, value))
}

/** @param {unknown} timeout */
function timeoutOf (timeout) {
  if (timeout === undefined) return Infinity
  if (typeof timeout !== 'number') throw failure('ERR_ARGUMENT', `timeout is ${show(timeout)}; milliseconds were expected`)
  if (!(timeout >= 0)) throw failure('ERR_BOUNDS', `timeout is ${timeout}; 0 or more was expected`)
  return timeout
}

/** The waits of one object, which end with it. */
class Waits {
  constructor () {
    /** those that are pending: what ends each, and what looks after its word @type {Map<() => void, () => void>} */
    this.pending = new Map()
    this.ended = false
    /** @type {any} */
    this.timer = null
  }

  /**
   * @param {() => void} stop
   * @param {() => void} look  whether the word is still there: nobody is woken when others make the memory shorter
   */
  add (stop, look) {
    mapSet(this.pending, stop, look)
    if (this.timer !== null) return
    this.timer = setInterval(() => { mapForEach(this.pending, each => { each() }) }, LOOK)
    this.timer.unref?.() // it is the wait that keeps the process
  }

  /** @param {() => void} stop */
  remove (stop) {
    mapDelete(this.pending, stop)
    if (sizeOfMap(this.pending) > 0) return
    clearInterval(this.timer)
    this.timer = null
  }

  /**
   * Waits until somebody calls notify for an element, as Atomics.wait does, without holding anything up.
   *
   * @param {Layout} layout  over native shared bytes, dense
   * @param {unknown} index
   * @param {unknown} expected
   * @param {unknown} [opts]
   * @returns {Promise<Woken>}
   * @throws what is wrong with them
   */
  wait (layout, index, expected, opts) {
    const { timeout, signal: given } = optionsOf(opts)
    const ms = timeoutOf(timeout)
    const signal = signalOf(given)
    const at = wordAt(layout, index)
    const bits = bitsOf(layout, expected)
    checkSignal(signal)
    return this.waitFor(layout.storage, at, bits, ms, signal)
  }

  /**
   * The same, of what has been checked.
   *
   * @param {Storage} storage  with a handle; held meanwhile
   * @param {number} at  byte of the word
   * @param {number} bits
   * @param {number} ms
   * @param {import('../base/signals').Signal | undefined} signal
   * @returns {Promise<Woken>}
   */
  waitFor (storage, at, bits, ms, signal) {
    return new Promise((resolve, reject) => {
      if (this.ended || storage.released) throw gone() // the signal's doing
      let leave = () => {}
      /** @type {unknown} */
      let lost = null
      const { how: first, id } = words.startWait(storage, at, bits, ms, (how, error) => {
        leave()
        this.remove(stop)
        unclaim(storage, backend)
        if (error !== null) reject(error)
        else if (how !== RUNG) resolve(HOW[how])
        else reject(this.ended ? gone() : lost ?? signal?.reason)
      })
      const stop = () => { words.endWait(id) }
      const look = () => {
        try {
          words.look(storage, at)
        } catch (error) {
          lost = error
          stop()
        }
      }
      if (first !== RUNG) {
        resolve(HOW[first])
        return
      }
      claim(storage)
      this.add(stop, look)
      if (signal !== undefined) leave = signal.follow(stop)
    })
  }

  /** All that are pending are rejected, ERR_DISPOSED; later ones as well. */
  end () {
    this.ended = true
    mapForEach(this.pending, (_, stop) => { stop() })
  }
}

rootless(Waits)

function gone () {
  return failure('ERR_DISPOSED', 'what was waited on was disposed')
}

/**
 * Wakes who waits on an element, in whatever thread or process.
 *
 * @param {Layout} layout  over native shared bytes, dense
 * @param {unknown} index
 * @param {unknown} [n]  how many at most; all unless told
 * @returns {number} how many were woken
 */
function notify (layout, index, n) {
  const at = wordAt(layout, index)
  const count = n === undefined || n === Infinity ? 2 ** 31 : integer('n', n)
  if (count < 0) throw failure('ERR_BOUNDS', `n is ${count}; 0 or more was expected`)
  return words.wake(layout.storage, at, Math.min(count, 2 ** 31))
}

module.exports = { Waits, notify }
