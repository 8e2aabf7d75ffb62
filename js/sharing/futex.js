'use strict'
// Calls of C on words of shared memory: futex waits and wakes, and the control words of a ring.

const { rootless } = require('../base/records')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')

const { backend, opcodes, tables, frame, check, invoke, putStorage } = ffi
const { RESULTS, OPERANDS, ARGS, SIZE_OF_OPERAND } = tables.frame

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */

/**
 * Starts a futex wait on a thread of the addon. The caller keeps the storage claimed meanwhile.
 *
 * @param {Storage} storage  with a handle
 * @param {number} at  first byte of the word
 * @param {number} expected  its 32 bits, unsigned
 * @param {number} ms
 * @param {(how: number, error: Error | null) => void} done  called on a later turn if the wait is pending
 * @returns {{ how: number, id: number }} how: outcome, by C's sb__wait_result; the last one means pending, with an id for endWait
 */
function startWait(storage, at, expected, ms, done) {
  putWord(storage, at, expected)
  const { addon } = /** @type {any} */ (backend)
  addon.wait(ms, (/** @type {number} */ how) => {
    let error = null
    try {
      check()
    } catch (reason) {
      error = /** @type {Error} */ (reason)
    }
    done(how, error)
  })
  check()
  return { how: frame.f64[RESULTS], id: frame.f64[RESULTS + 1] }
}

/** @param {number} id  of a wait, pending or not */
const endWait = (id) => /** @type {any} */ (backend).addon.endWait(id)

/**
 * @param {Storage} storage  with a handle
 * @param {number} at  first byte of a word
 * @param {number} count  to wake at most
 * @returns {number} threads woken
 */
function wake(storage, at, count) {
  putWord(storage, at, count)
  invoke(opcodes.wake)
  return frame.f64[RESULTS]
}

/**
 * @param {Storage} storage
 * @param {number} at
 * @param {number} value
 */
function putWord(storage, at, value) {
  putStorage(frame.f64, OPERANDS, storage)
  frame.f64[ARGS] = at
  frame.f64[ARGS + 1] = value
}

/**
 * Checks that a word's memory is still there. The kernel wakes nobody when a file is made shorter.
 *
 * @param {Storage} storage  with a handle
 * @param {number} at  its first byte
 * @throws ERR_IO
 */
function checkWord(storage, at) {
  putWord(storage, at, 0)
  invoke(opcodes.wait_check)
}

/**
 * Adds a ring's name to an ERR_IO.
 *
 * @param {string} name
 * @param {any} error
 */
function ofRing(name, error) {
  return error?.code === 'ERR_IO' && !error.message.startsWith('the ring ')
    ? Object.assign(failure('ERR_IO', `the ring ${show(name)}: ${error.message}`), { cause: error })
    : error
}

/** The writer of a ring, as long as its role is held. count: frames committed; mine: its word. @typedef {{ role: Storage, count: number, mine: [number, number] }} Writer */
/** A reader's place in a ring; mine: its word. @typedef {{ role: Storage, next: number, place: number, mine: [number, number] }} Seat */

/** The control words of a ring, read and written by C (src/ipc/ring.c). */
class RingWords {
  /**
   * @param {string} name
   * @param {Storage} control  with a handle
   * @param {number} slots
   * @param {Storage} [frames]  the frames' storage, with a handle
   */
  constructor(name, control, slots, frames = control) {
    this.name = name
    this.control = control
    this.slots = slots
    this.frames = frames
    this.readers = 0 // places for them, once judged
  }

  /**
   * @param {number} row
   * @param {number[]} numbers
   */
  call(row, ...numbers) {
    const { f64 } = frame
    putStorage(f64, OPERANDS, this.control)
    f64[ARGS] = this.slots
    for (let i = 0; i < numbers.length; i++) f64[ARGS + 1 + i] = numbers[i]
    try {
      invoke(row)
    } catch (error) {
      throw ofRing(this.name, error)
    }
  }

  /** @param {number} frameBytes @param {number} readers */
  make(frameBytes, readers) {
    this.call(opcodes.ring_make, frameBytes, readers)
    this.readers = readers
  }

  /** @param {number} frameBytes */
  judge(frameBytes) {
    this.call(opcodes.ring_judge, frameBytes)
    this.readers = frame.f64[RESULTS]
  }

  /**
   * @param {number} index  of a control word before those of the slots
   * @returns {[number, number]} upper and lower 32 bits
   */
  word(index) {
    this.call(opcodes.ring_word, index)
    return [frame.f64[RESULTS], frame.f64[RESULTS + 1]]
  }

  /**
   * Becomes the writer.
   *
   * @returns {Writer}
   * @throws ERR_BUSY there is another
   */
  claim() {
    this.call(opcodes.ring_claim)
    const [handle, address, count, high, low] = frame.f64.slice(RESULTS, RESULTS + 5)
    return { role: backend.hold(handle, address, 0), count, mine: [high, low] }
  }

  /** Drops what a writer left half-written whose process has ended. */
  recover() {
    this.call(opcodes.ring_recover)
  }

  /**
   * @param {number} n  index of the frame
   * @param {[number, number]} mine
   */
  begin(n, mine) {
    this.call(opcodes.ring_begin, n, mine[0], mine[1])
  }

  /** @param {number} n @param {bigint} tag */
  commit(n, tag) {
    putStorage(frame.f64, OPERANDS + SIZE_OF_OPERAND, this.frames)
    this.call(opcodes.ring_commit, n, Number(tag >> 32n), Number(tag & 0xffffffffn))
  }

  /**
   * @param {number} n
   * @returns {bigint | null} the frame's tag; null: it is not in its slot, committed and not overwritten
   */
  tagOf(n) {
    putStorage(frame.f64, OPERANDS + SIZE_OF_OPERAND, this.frames)
    this.call(opcodes.ring_has, n)
    const { f64 } = frame
    if (f64[RESULTS] === 0) return null
    return f64[RESULTS + 1] === 0 && f64[RESULTS + 2] === 0
      ? 0n
      : (BigInt(f64[RESULTS + 1]) << 32n) | BigInt(f64[RESULTS + 2])
  }

  /**
   * Takes a reader's place.
   *
   * @param {number} from  first frame that it needs; -1: the newest
   * @returns {Seat} next: the first frame that the writer keeps for it
   * @throws ERR_BUSY all places are taken
   */
  join(from) {
    this.call(opcodes.ring_join, this.readers, from)
    const [handle, address, next, place, high, low] = frame.f64.slice(RESULTS, RESULTS + 6)
    return { role: backend.hold(handle, address, 0), next, place, mine: [high, low] }
  }

  /**
   * Says that a reader is done with the frames before next.
   *
   * @param {Seat} seat
   * @param {number} next
   */
  advance(seat, next) {
    this.call(opcodes.ring_advance, this.readers, next, seat.place, seat.mine[0], seat.mine[1])
  }

  /**
   * May frame n be begun?
   *
   * @param {number} n
   * @returns {{ moves: number, reader: number, behind: number } | null} null: yes; moves: what to sleep on; reader: the slowest one's process
   */
  room(n) {
    this.call(opcodes.ring_room, this.readers, n)
    const { f64 } = frame
    if (f64[RESULTS] === 1) return null
    return { moves: f64[RESULTS + 1], reader: f64[RESULTS + 2], behind: f64[RESULTS + 3] }
  }
}

rootless(RingWords)

module.exports = { startWait, endWait, checkWord, wake, ofRing, RingWords }
