'use strict'
// SharedRing: frames that one process writes and others read, in two segments of shared memory. docs/ring-protocol.md describes the control
// words. C reads and writes them (src/ipc/ring.c); their values are untrusted, and none is used as an index here.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { lazyFile } = require('../runtime/lazy')
const { receiver, boolean, integer, optionsOf, shapeOf, oneOf, show } = require('../base/validate')
const { dtypeOf } = require('../backend/dtypes')
const { denseLayout } = require('../layout/layouts')
const { onNextTurn } = require('../runtime/host')
const { signalOf, checkSignal } = require('../base/signals')
const { Tensor: TensorClass, wrap } = require('../tensor/tensor')
const { TRIES, newWords, controlOf, makeRing, openRing, close } = require('./ring-segments')
const { SharedTensor, permissionsOf, unless, codeOf } = require('./shared-tensor')

const { backend, opcodes, READ_ONLY } = ffi

/** @import { DtypeName, NameOf, Or, Shape, Signal } from '../base/types' */
/** @template {DtypeName} [D=any] @typedef {import('../tensor/tensor').Tensor<D>} Tensor */
/** @typedef {import('./futex').Seat} Seat */
/** @typedef {import('./futex').Writer} Writer */
/** Upper and lower 32 bits of a word. @typedef {[number, number]} Halves */

const KEY = Symbol('samebytes shared ring')
const IF_EXISTS = /** @type {const} */ (['error', 'open', 'replace'])
const MOVES = 6 // indices of control words, as in src/samebytes_ring.h
const COUNT = 8
const MOST_READERS = 1024
const MOST_SLOTS = 2 ** 51 // so that their words can be counted
const LOOK_MS = 100 // between looks whether a reader has ended, which wakes nobody
const OPTIONS = ['slots', 'dtype', 'readers', 'mode', 'ifExists', 'persist'] // of create
const COPY_OPTIONS = /** @type {const} */ (['casting', 'scale', 'bias', 'axis', 'stream'])
const FRAMES_PER_TURN = 64 // frames read or skipped before a turn of the event loop

const segments = lazyFile(() => require('./segments'))
const waits = lazyFile(() => require('./waits'))
const words = lazyFile(() => require('./futex'))

/**
 * @template {DtypeName} [D=any]
 * @typedef {object} Frame
 * @property {Tensor<D>} tensor  a read-only view of the slot, which the writer reuses after `slots` frames
 * @property {number} index  of the frame, from 0 on
 * @property {number} lost  frames since the last one that were overwritten before they were read
 * @property {bigint} tag  as its writer gave it to commit(); 0n: none
 */

/** tag: a number for readers of the frame, such as a timestamp: 0 to 2^64 - 1, 0 unless told. @typedef {{ tag?: bigint | number | undefined }} TagOptions */

/**
 * @template {DtypeName} [D=any]
 * @typedef {object} RingOptions
 * @property {number} slots  frames kept at a time, at least 1
 * @property {D | undefined} [dtype]  'float32' unless told
 * @property {number | undefined} [readers]  loops over `read()` at a time, of all processes, that the writer waits for, at most 1024; 0 unless
 *   told: it waits for none
 * @property {number | undefined} [mode]  permissions, 0o600 unless told. On Windows it does nothing
 * @property {'error' | 'open' | 'replace' | undefined} [ifExists]  'error' unless told, as of SharedTensor.create
 * @property {boolean | undefined} [persist]  `SharedTensor.sweep` leaves it
 */

/** what a ring's method was called on @type {(it: any) => SharedRing} */
let own

/**
 * A ring of frames in shared memory: one process writes, others read, without locks. The frames are a .npy file, `path`, of shape
 * `[slots, ...shape]`; the control words are another, `controlPath`, of uint64. Made by `SharedRing.create` and `SharedRing.open`.
 * In Node, with the native addon. If a process makes one of the files shorter, use of the missing bytes throws ERR_IO
 * in all processes.
 *
 * @template {DtypeName} [D=any]
 * @example
 * const camera = () => SharedRing.create('camera', [480, 640, 3], { slots: 8, dtype: 'uint8' })
 * const watch = async see => {
 *   const ring = SharedRing.open('camera')
 *   for await (const { tensor, index } of ring.read()) {
 *     const copy = tensor.clone()
 *     if (ring.intact(index)) see(copy)
 *   }
 * }
 */
class SharedRing {
  #name
  #frames
  #control
  #slots
  /** @type {ReadonlyArray<number>} */
  #shape
  #words
  #waits
  #isOpen = true
  /** not null: this ring is the writer, until its role is released @type {Writer | null} */
  #writer = null
  /** next() was called, commit() not yet */
  #isBegun = false
  #isWaiting = false
  /** places of loops over read() @type {Set<Seat>} */
  #seats = new Set()

  static {
    own = receiver('ring', (it) => #words in it)
  }

  /**
   * @param {symbol} key  that only samebytes has
   * @param {string} name
   * @param {SharedTensor<any>} frames
   * @param {SharedTensor<any>} control
   * @param {number} readers
   * @private
   */
  constructor(key, name, frames, control, readers) {
    if (key !== KEY) {
      throw failure('ERR_ARGUMENT', 'rings are made by SharedRing.create() and SharedRing.open()')
    }
    const [slots, ...shape] = frames.tensor.shape
    this.#name = name
    this.#frames = frames
    this.#control = control
    this.#slots = slots
    this.#shape = Object.freeze(shape)
    this.#words = newWords(name, control, slots, frames)
    this.#words.readers = readers
    this.#waits = new (waits().Waits)()
    this.#words.recover()
  }

  /**
   * Creates a ring without frames: two segments, `name` and `name.control`, whose memory is reserved. The first to write becomes the
   * writer. The names stay until `unlink`, as those of SharedTensor do.
   *
   * @template {DtypeName} [D=never]
   * @param {string} name  as of SharedTensor.create, at most 247 bytes
   * @param {Shape} shape  of a frame, in elements
   * @param {RingOptions<D>} opts
   * @returns {SharedRing<Or<D, 'float32'>>}
   * @throws as SharedTensor.create · {RangeError} ERR_BOUNDS slots outside 1 to 2^51, or readers outside 0 to 1024
   * @example
   * const ring = () => SharedRing.create('levels', [2], { slots: 64, ifExists: 'replace' })
   */
  static create(name, shape, opts) {
    const {
      slots,
      dtype: dtypeName = 'float32',
      readers = 0,
      mode: permissions,
      ifExists = 'error',
      persist: stays,
    } = optionsOf(opts, OPTIONS, 'SharedRing.create')
    const { checkPlatform, pause } = segments()
    const called = ringName(name)
    if (integer('slots', slots) < 1 || slots > MOST_SLOTS) {
      throw failure('ERR_BOUNDS', `slots is ${slots}; 1 to 2^51 were expected`)
    }
    if (integer('readers', readers) < 0 || readers > MOST_READERS) {
      throw failure('ERR_BOUNDS', `readers is ${readers}; 0 to ${MOST_READERS} were expected`)
    }
    const dtype = dtypeOf(dtypeName)
    const whole = [slots, ...shapeOf(shape)]
    denseLayout(dtype.index, whole)
    oneOf('ifExists', ifExists, IF_EXISTS)
    const isOpened = ifExists === 'open'
    const how = { mode: permissionsOf(permissions), persist: boolean('persist', stays), ifExists } // checked before a ring is replaced
    checkPlatform()
    for (let tries = 0; ; tries++) {
      if (isOpened) {
        const there = unless('ERR_NOT_FOUND', () => openRing(called, dtype.name, build, true))
        if (there !== undefined) return checkMatches(there, dtype.name, whole, readers)
      }
      try {
        return makeRing(called, dtype.name, whole, readers, how, build)
      } catch (error) {
        if (!isOpened || tries === TRIES || codeOf(error) !== 'ERR_EXISTS') throw error
        pause(tries)
      }
    }
  }

  /**
   * Opens an existing ring, to read or to write. A frame that a killed writer left half-written is dropped.
   *
   * @template {DtypeName} [D=never]
   * @param {string} name
   * @param {{ dtype?: D | undefined } | NameOf<D>} [opts]  dtype: must be the ring's, or names the dtype of what NumPy stores as raw bytes (bfloat16)
   * @returns {SharedRing<Or<D, any>>}
   * @throws ERR_NOT_FOUND · ERR_FORMAT · ERR_IO, with errno and path · {TypeError} ERR_ARGUMENT, ERR_DTYPE · ERR_UNSUPPORTED
   * @example
   * const newest = () => SharedRing.open('levels').count - 1
   */
  static open(name, opts) {
    const { dtype } = optionsOf(opts, ['dtype'], 'SharedRing.open')
    const wanted = dtype === undefined ? undefined : dtypeOf(dtype).name
    const called = ringName(name)
    segments().checkPlatform()
    return openRing(called, wanted, build)
  }

  /**
   * Removes both names: the ring cannot be opened any more; processes that have it open keep it.
   *
   * @param {string} name
   * @throws ERR_NOT_FOUND neither exists · ERR_IO, with errno and path · {TypeError} ERR_ARGUMENT · ERR_UNSUPPORTED
   * @example
   * const gone = () => SharedRing.unlink('levels')
   */
  static unlink(name) {
    const { nameOf } = segments()
    const called = nameOf(name)
    const found = [called, controlOf(called)].map((each) =>
      unless('ERR_NOT_FOUND', () => SharedTensor.unlink(each) === undefined),
    )
    if (!found.includes(true)) SharedTensor.unlink(called) // throws ERR_NOT_FOUND
  }

  /** @param {unknown} it  what a method was called on */
  static #live(it) {
    const ring = own(it)
    if (!ring.#isOpen) throw failure('ERR_DISPOSED', 'the ring was disposed')
    return ring.#words
  }

  /** The name. @returns {string} @throws nothing */
  get name() {
    return own(this).#name
  }

  /** Path of the frames' file: .npy of shape `[slots, ...shape]`. @returns {string} @throws nothing */
  get path() {
    return own(this).#frames.path
  }

  /** Path of the control words' file: .npy of uint64. @returns {string} @throws nothing */
  get controlPath() {
    return own(this).#control.path
  }

  /** Frames that the ring keeps at a time. @returns {number} @throws nothing */
  get slots() {
    return own(this).#slots
  }

  /** Loops over `read()` at a time that the writer waits for; 0: for none. @returns {number} @throws nothing */
  get readers() {
    return own(this).#words.readers
  }

  /** Shape of a frame, in elements. @returns {ReadonlyArray<number>} @throws nothing */
  get shape() {
    return own(this).#shape
  }

  /** Dtype of the frames. @returns {D} @throws nothing */
  get dtype() {
    return /** @type {D} */ (own(this).#frames.descriptor.dtype)
  }

  /**
   * Number of committed frames; also the index of the next one.
   *
   * @returns {number}
   * @throws ERR_DISPOSED · ERR_FORMAT the count is not a safe integer · ERR_IO a process made the control words shorter
   * @example
   * const newest = ring => ring.count - 1
   */
  get count() {
    return numberOfHalves(SharedRing.#live(this).word(COUNT))
  }

  /**
   * Begins the next frame. Readers see it after commit(), from when on the view must not be written. A second call before commit()
   * gives the same slot. The first call makes this ring the writer, until it is disposed or its process ends.
   *
   * @returns {Tensor<D>} a view of the frame's slot; its elements are those of an older frame
   * @throws ERR_BUSY another ring is the writer, and its process has not ended; or a reader that the writer waits for still needs what is
   *   in the slot (nextAsync waits) · ERR_DISPOSED · ERR_FORMAT · ERR_IO as count
   * @example
   * const count = ring => {
   *   ring.next().fill(ring.count)
   *   return ring.commit()
   * }
   */
  next() {
    const words = SharedRing.#live(this)
    const room = this.#room()
    if (room !== null) throw this.#full(room)
    const { count, mine } = /** @type {Writer} */ (this.#writer)
    words.begin(count, mine)
    this.#isBegun = true
    return this.#frames.tensor.select(0, count % this.#slots)
  }

  /**
   * Publishes the frame that next() began, and wakes readers.
   *
   * @param {TagOptions} [opts]  tag: what readers get as the frame's `tag`
   * @returns {number} its index
   * @throws ERR_STALE next() was not called · ERR_DISPOSED · ERR_IO as count, or bytes of the frame are gone · {TypeError} ERR_ARGUMENT,
   *   {RangeError} ERR_BOUNDS the tag is none: the frame is then begun, but not published
   * @example
   * const put = (ring, byte) => {
   *   ring.next().fill(byte)
   *   return ring.commit({ tag: process.hrtime.bigint() })
   * }
   */
  commit(opts) {
    own(this)
    const { tag } = optionsOf(opts, ['tag'], 'commit')
    return this.#commit(tagOf(tag))
  }

  /** @param {bigint} tag */
  #commit(tag) {
    const words = SharedRing.#live(this)
    if (!this.#isBegun) {
      throw failure('ERR_STALE', 'no frame was begun: next() comes before commit()')
    }
    const writer = /** @type {Writer} */ (this.#writer)
    words.commit(writer.count, tag)
    this.#isBegun = false
    return writer.count++
  }

  /**
   * Writes a frame with the values of src: next(), copyFrom and commit() in one.
   *
   * @param {Parameters<Tensor<D>['copyFrom']>[0]} src  as of copyFrom; broadcast to a frame's shape
   * @param {Parameters<Tensor<D>['copyFrom']>[1] & TagOptions} [opts]  as of copyFrom and commit
   * @returns {number} the frame's index
   * @throws as next, copyFrom and commit; the frame is then begun, but not published
   * @example
   * const put = (ring, samples) => ring.write(samples, { scale: 0.5, tag: Date.now() })
   */
  write(src, opts) {
    own(this)
    const { tag, ...how } = optionsOf(opts, [...COPY_OPTIONS, 'tag'], 'write')
    return this.#write(src, how, tagOf(tag))
  }

  /** @param {any} src @param {any} opts  of copyFrom @param {bigint} tag */
  #write(src, opts, tag) {
    const t = this.next()
    try {
      t.copyFrom(src, opts)
    } catch (error) {
      throw words().ofRing(this.#name, error)
    } finally {
      t.dispose()
    }
    return this.#commit(tag)
  }

  /**
   * Begins the next frame as next() does, once no reader needs what is in its slot. Of a ring without `readers` at once. A reader whose process
   * has ended is not waited for.
   *
   * @param {{ timeout?: number | undefined, signal?: Signal | undefined }} [opts]  timeout: milliseconds, no end unless told
   * @returns {Promise<Tensor<D>>}
   * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS · and later, as next: ERR_BUSY also if the time is up, or another nextAsync or
   *   writeAsync is pending · the signal's reason
   * @example
   * const put = async (ring, render) => {
   *   render(await ring.nextAsync({ timeout: 1000 }))
   *   return ring.commit()
   * }
   */
  nextAsync(opts) {
    own(this)
    const { timeout, signal } = optionsOf(opts, ['timeout', 'signal'], 'nextAsync')
    return this.#acting(waits().timeoutOf(timeout), signalOf(signal), () => this.next())
  }

  /**
   * Writes a frame as write() does, once no reader needs what is in its slot. src is read then.
   *
   * @param {Parameters<Tensor<D>['copyFrom']>[0]} src
   * @param {Parameters<Tensor<D>['copyFrom']>[1] & TagOptions & { timeout?: number | undefined, signal?: Signal | undefined }} [opts]  as of write and nextAsync
   * @returns {Promise<number>} the frame's index
   * @throws as nextAsync; later also as write
   * @example
   * const put = (ring, job) => ring.writeAsync(job, { timeout: 1000 })
   */
  writeAsync(src, opts) {
    own(this)
    const {
      timeout,
      signal,
      tag: given,
      ...how
    } = optionsOf(opts, [...COPY_OPTIONS, 'timeout', 'signal', 'tag'], 'writeAsync')
    const tag = tagOf(given)
    const act = () => this.#write(src, how, tag)
    return this.#acting(waits().timeoutOf(timeout), signalOf(signal), act)
  }

  /**
   * @template R
   * @param {number} ms
   * @param {import('../base/signals').Signal | undefined} signal
   * @param {() => R} act  called in the turn in which there is room
   * @returns {Promise<R>}
   */
  async #acting(ms, signal, act) {
    const end = performance.now() + ms
    if (this.#isWaiting) {
      throw failure('ERR_BUSY', 'another nextAsync() or writeAsync() of this ring is pending')
    }
    this.#isWaiting = true
    try {
      for (;;) {
        checkSignal(signal)
        const { control } = SharedRing.#live(this)
        const room = this.#room()
        if (room === null) return act()
        const left = end - performance.now()
        if (left <= 0) throw this.#full(room)
        try {
          await this.#waits.waitFor(control, MOVES * 8, room.moves, Math.min(left, LOOK_MS), signal)
        } catch (error) {
          throw words().ofRing(this.#name, error)
        }
      }
    } finally {
      this.#isWaiting = false
    }
  }

  /** Makes this ring the writer, and says who still needs the next frame's slot; null: nobody. */
  #room() {
    this.#writer ??= this.#words.claim()
    if (this.#isBegun || this.#words.readers === 0) return null
    return this.#words.room(this.#writer.count)
  }

  /** @param {{ reader: number, behind: number }} room */
  #full({ reader, behind }) {
    const { count } = /** @type {Writer} */ (this.#writer)
    return failure(
      'ERR_BUSY',
      `process ${reader} still reads frame ${count - behind}; the ring has no slot for frame ${count} until then`,
    )
  }

  /**
   * Iterates over frames as they are published, from the oldest one in the ring unless told. The writer does not wait for readers: use or
   * copy the tensor, then ask `intact(index)` whether it was overwritten meanwhile. A reader that was overtaken continues half a
   * ring behind the writer. Ends when the ring is disposed, but not when a writer ends, because another may follow.
   *
   * Of a ring with `readers` the loop begins with the newest frame unless told, and the writer waits for it: a frame is the loop's until it
   * asks for the next one. Its place is free again when the loop ends.
   *
   * @param {{ from?: number | undefined, signal?: Signal | undefined }} [opts]  from: index of the first frame; frames from there on that were
   *   overwritten count as lost. `ring.count`: only new frames
   * @returns {AsyncGenerator<Frame<D>, void, void>}
   * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS · ERR_DISPOSED · and while it is read ERR_FORMAT, ERR_IO, the signal's reason,
   *   of a ring with `readers` ERR_BUSY all places are taken, ERR_STALE another process has taken this one's
   * @example
   * const watch = async (ring, see) => {
   *   for await (const { tensor, lost } of ring.read({ from: ring.count })) see(tensor.get(0), lost)
   * }
   */
  read(opts) {
    own(this)
    const { from, signal: given } = optionsOf(opts, ['from', 'signal'], 'read')
    const first = from === undefined ? null : integer('from', from)
    if (first !== null && first < 0) {
      throw failure('ERR_BOUNDS', `from is ${first}; frames count from 0`)
    }
    const signal = signalOf(given)
    SharedRing.#live(this)
    return this.#reading(first, signal)
  }

  /**
   * @param {number | null} from
   * @param {import('../base/signals').Signal | undefined} signal
   * @returns {AsyncGenerator<Frame<D>, void, void>}
   */
  async *#reading(from, signal) {
    checkSignal(signal)
    if (!this.#isOpen) return
    const seat = this.#words.readers > 0 ? this.#words.join(from ?? -1) : null
    if (seat !== null) this.#seats.add(seat)
    let at = seat === null ? from : seat.next
    let lost = 0
    let hasSeen = false
    let isStarted = false // the first frame may be the oldest one; a later overtaken reader skips half the ring
    try {
      for (let stretch = 1; ; stretch++) {
        checkSignal(signal)
        if (!this.#isOpen) return
        const word = this.#words.word(COUNT)
        const count = numberOfHalves(word)
        at ??= Math.max(0, count - this.#slots)
        if (seat !== null) this.#words.advance(seat, at)
        if (at >= count) {
          stretch = 0
          try {
            await this.#waits.waitFor(this.#words.control, COUNT * 8, word[1], Infinity, signal)
          } catch (error) {
            if (!this.#isOpen) return
            throw words().ofRing(this.#name, error)
          }
          continue
        }
        if (stretch % FRAMES_PER_TURN === 0) {
          await new Promise((resolve) => onNextTurn(() => resolve(undefined)))
        }
        if (!this.#isOpen) return
        if (at < count - this.#slots) {
          const next = count - (isStarted ? Math.max(1, this.#slots >> 1) : this.#slots)
          lost += next - at
          at = next
        }
        isStarted = true
        const index = at++
        const tag = this.#words.tagOf(index)
        if (tag === null) {
          if (seat === null || from !== null || hasSeen) lost++ // else it was begun anew while this reader came
          continue
        }
        hasSeen = true
        const frames = TensorClass.attachedOf(this.#frames.tensor)
        const layout = ffi.viewByNumbers(opcodes.select, frames, 0, index % this.#slots)
        layout.flags |= READ_ONLY
        const passed = lost
        lost = 0
        yield { tensor: wrap(layout), index, lost: passed, tag }
      }
    } finally {
      if (seat !== null && this.#seats.delete(seat)) backend.release(seat.role)
    }
  }

  /**
   * Is a frame still in its slot? If so, all that was read of it before this call belongs to that frame.
   *
   * @param {number} index
   * @returns {boolean} false: it was or is being overwritten, or is not published yet
   * @throws ERR_DISPOSED · {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS · ERR_IO a process made the frames or the control words
   * shorter, and zeros may have been read
   * @example
   * const copied = (ring, { tensor, index }) => {
   *   const copy = tensor.clone()
   *   return ring.intact(index) ? copy : null
   * }
   */
  intact(index) {
    const ring = own(this)
    const n = integer('index', index)
    if (n < 0) throw failure('ERR_BOUNDS', `index is ${n}; frames count from 0`)
    return SharedRing.#live(ring).tagOf(n) !== null
  }

  /**
   * Closes the ring in this process: loops over read() end, and another ring may become the writer. Views that were taken stay
   * mapped, and the names stay. A second dispose does nothing.
   *
   * @throws nothing
   * @example
   * const once = (name, values) => {
   *   const ring = SharedRing.open(name)
   *   ring.write(values)
   *   ring.dispose()
   * }
   */
  dispose() {
    own(this).close()
  }

  /**
   * The same as dispose, as of files and buses, and of rings in Python.
   *
   * @throws nothing
   * @example
   * const forget = ring => ring.close()
   */
  close() {
    if (!own(this).#isOpen) return
    this.#isOpen = false
    if (this.#writer !== null) backend.release(this.#writer.role)
    this.#writer = null
    this.#isBegun = false
    for (const { role } of this.#seats) backend.release(role)
    this.#seats.clear()
    this.#waits.end()
    close(this.#frames)
    close(this.#control)
  }
}
if (Symbol.dispose !== undefined) {
  Object.defineProperty(SharedRing.prototype, Symbol.dispose, {
    value: SharedRing.prototype.dispose,
    configurable: true,
    writable: true,
  })
}

/** @type {import('./ring-segments').Build<SharedRing<any>>} */
function build(name, frames, control, readers) {
  // @ts-expect-error The constructor is private to everybody else.
  return new SharedRing(KEY, name, frames, control, readers)
}

/** @param {unknown} given @returns {string} checked, as is that of the control words */
function ringName(given) {
  const { nameOf } = segments()
  const name = nameOf(given)
  nameOf(controlOf(name))
  return name
}

/**
 * @param {unknown} value
 * @returns {bigint}
 */
function tagOf(value = 0n) {
  if (typeof value === 'number' && value > Number.MAX_SAFE_INTEGER) {
    throw failure('ERR_BOUNDS', `tag is ${value}; from 2^53 on a bigint was expected`)
  }
  const tag = typeof value === 'bigint' ? value : BigInt(integer('tag', value))
  if (BigInt.asUintN(64, tag) !== tag) {
    throw failure('ERR_BOUNDS', `tag is ${show(value)}; 0 to 2^64 - 1 were expected`)
  }
  return tag
}

/** @param {Halves} word */
function numberOfHalves([high, low]) {
  const count = high * 2 ** 32 + low
  if (count > Number.MAX_SAFE_INTEGER) {
    throw failure('ERR_FORMAT', `byte ${8 * COUNT}: the count of frames is ${count}`)
  }
  return count
}

/**
 * Checks that an existing ring is as asked for, else disposes it.
 *
 * @param {SharedRing<any>} ring
 * @param {DtypeName} dtype
 * @param {number[]} shape  of all frames
 * @param {number} readers
 */
function checkMatches(ring, dtype, shape, readers) {
  const there = [ring.slots, ...ring.shape]
  const isLike = ring.dtype === dtype && String(there) === String(shape)
  if (isLike && ring.readers === readers) return ring
  ring.dispose()
  if (isLike) {
    throw failure(
      'ERR_ARGUMENT',
      `the ring that is there has ${ring.readers} readers; ${readers} were expected`,
    )
  }
  throw failure(
    ring.dtype === dtype ? 'ERR_SHAPE' : 'ERR_DTYPE',
    `the ring that is there has ${there[0]} slots of ${ring.dtype} [${there.slice(1).join(', ')}]; ${shape[0]} of ${dtype} [${shape.slice(1).join(', ')}] were expected`,
  )
}

module.exports = { SharedRing }
