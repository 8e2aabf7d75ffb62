'use strict'
// Frames that one process writes and others read, over two segments of shared memory. What the control words mean is in
// docs/rings.md; they are read and written by C (src/share/ring.c), and nothing that they say is an index here.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { laterFile } = require('../runtime/lazy')
const { show, integer, optionsOf, shapeOf, oneOf } = require('../base/validate')
const { dtypeOf, itemsizes } = require('../backend/dtypes')
const { denseLayout } = require('../layout/layouts')
const { onNextTurn } = require('../runtime/host')
const { signalOf, checkSignal } = require('../base/signals')
const { Tensor: TensorClass, wrap } = require('../tensor/tensor')
const { SharedTensor, unless, codeOf } = require('./shared-tensor')

const { backend, rows, READ_ONLY } = ffi

/** @import { DtypeName, Shape } from '../base/types' */
/** @template {DtypeName} [D=any] @typedef {import('../tensor/tensor').Tensor<D>} Tensor */
/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @typedef {[number, number]} Halves  of a word of 64 bits, the upper one first */

const KEY = Symbol('samebytes shared ring')
const IF_EXISTS = /** @type {const} */ (['error', 'open', 'replace'])
const WRITER = 3 // words of src/share/ring.h
const NAMESPACE = 4
const COUNT = 8
const FIRST = 16
const START_BITS = 42n // of the writer's word; its process id is above them
const TRIES = 100 // while others make, remove or take it
const STRETCH = 64 // frames that are read or passed over without a turn of the event loop

const segments = laterFile(() => require('./segments'))
const waits = laterFile(() => require('./waits'))
const words = laterFile(() => require('./futex'))

/**
 * @param {string} name
 * @param {SharedTensor<any>} control
 * @param {number} slots
 * @param {SharedTensor<any>} [frames]
 */
function newWords (name, control, slots, frames) {
  const { RingWords } = words()
  return new RingWords(name, storageOf(control), slots, frames && storageOf(frames))
}

/** @param {SharedTensor<any>} shared */
const storageOf = ({ tensor }) => TensorClass.attachedOf(tensor).storage

/** @param {string} name */
const controlOf = name => `${name}.control`

/**
 * @template {DtypeName} [D=any]
 * @typedef {object} Frame
 * @property {Tensor<D>} tensor  a view of the slot, read-only; the writer comes back to it after `slots` frames
 * @property {number} index  of the frame, from 0 on
 * @property {number} lost  frames since the last one that the writer was too quick for
 */

/**
 * @template {DtypeName} [D=any]
 * @typedef {object} RingOptions
 * @property {number} slots  frames that are there at a time, at least 1
 * @property {Shape} shape  of a frame, elements
 * @property {D} [dtype]  'float32' unless told
 * @property {number} [mode]  permissions, 0o600 unless told
 * @property {'error' | 'open' | 'replace'} [ifExists]  'error' unless told, as of SharedTensor.create
 * @property {boolean} [persist]  `SharedTensor.sweep` leaves it
 */

/**
 * A ring of frames in shared memory: one process writes, others read, nobody waits for a lock. The frames are a .npy file,
 * `path`, of shape `[slots, ...shape]`; the control words are another, `controlPath`, of uint64. Made by `SharedRing.create`
 * and `SharedRing.open`. On Linux, in Node, with the native addon. Who makes one of the two shorter makes the use of what was cut
 * off ERR_IO for everybody.
 *
 * @template {DtypeName} [D=any]
 * @example
 * const camera = () => SharedRing.create('camera', { slots: 8, shape: [480, 640, 3], dtype: 'uint8' })
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
  /** while it is, this ring is the writer @type {Storage | null} */
  #role = null
  /** @type {Halves} */
  #mine = [0, 0]
  /** frames, as the writer counts them */
  #written = 0
  /** next() was called */
  #isBegun = false

  /**
   * @param {symbol} key  that only samebytes has
   * @param {string} name
   * @param {SharedTensor<any>} frames
   * @param {SharedTensor<any>} control
   * @private
   */
  constructor (key, name, frames, control) {
    if (key !== KEY) throw failure('ERR_ARGUMENT', 'rings are made by SharedRing.create() and SharedRing.open()')
    const { Waits } = waits()
    const [slots, ...shape] = frames.tensor.shape
    this.#name = name
    this.#frames = frames
    this.#control = control
    this.#slots = slots
    this.#shape = Object.freeze(shape)
    this.#words = newWords(name, control, slots, frames)
    this.#waits = new Waits()
    this.#mend()
  }

  /**
   * A new ring without frames: two segments, `name` and `name.control`, whose memory is reserved. Who writes first is the
   * writer. The names stay until `unlink`, as those of SharedTensor do.
   *
   * @template {DtypeName} [D='float32']
   * @param {string} name  as of SharedTensor.create, at most 247 bytes
   * @param {RingOptions<D>} opts
   * @returns {SharedRing<D>}
   * @throws as SharedTensor.create · {RangeError} ERR_BOUNDS slots below 1
   * @example
   * const ring = () => SharedRing.create('levels', { slots: 64, shape: [2], ifExists: 'replace' })
   */
  static create (name, opts) {
    const { slots: given, shape, dtype: dtypeName = 'float32', mode, ifExists, persist } = optionsOf(opts)
    const { nameOf, checkPlatform } = segments()
    const called = nameOf(name)
    nameOf(controlOf(called))
    const slots = integer('slots', given)
    if (slots < 1) throw failure('ERR_BOUNDS', `slots is ${slots}; at least 1 was expected`)
    const dtype = dtypeOf(dtypeName)
    const whole = [slots, ...shapeOf(shape)]
    denseLayout(dtype.index, whole)
    const which = ifExists === undefined ? 0 : oneOf('ifExists', ifExists, IF_EXISTS)
    checkPlatform()
    for (let tries = 0; ; tries++) {
      if (which === 1) {
        const there = unless('ERR_NOT_FOUND', () => opened(called, dtype.name))
        if (there !== undefined) return checked(there, dtype.name, whole)
      }
      try {
        return made(called, dtype.name, whole, { mode, persist, ifExists: which === 2 ? 'replace' : 'error' })
      } catch (error) {
        if (which !== 1 || tries === TRIES || codeOf(error) !== 'ERR_EXISTS') throw error
      }
    }
  }

  /**
   * A ring that is there, to read or to write. A frame that a writer left half-written when it was killed is made none.
   *
   * @template {DtypeName} [D=any]
   * @param {string} name
   * @param {{ dtype?: D } | D} [opts]  dtype: it has to be that one, or says what NumPy calls raw bytes (bfloat16)
   * @returns {SharedRing<D>}
   * @throws ERR_NOT_FOUND · ERR_FORMAT · ERR_IO, with errno and path · {TypeError} ERR_ARGUMENT, ERR_DTYPE · ERR_UNSUPPORTED
   * @example
   * const newest = () => SharedRing.open('levels').count - 1
   */
  static open (name, opts) {
    const { dtype } = optionsOf(opts)
    const wanted = dtype === undefined ? undefined : dtypeOf(dtype).name
    const { nameOf, checkPlatform } = segments()
    const called = nameOf(name)
    nameOf(controlOf(called))
    checkPlatform()
    return opened(called, wanted)
  }

  /**
   * Takes both names away: nobody can open the ring any more, and who has it open keeps it.
   *
   * @param {string} name
   * @throws ERR_NOT_FOUND neither is there · ERR_IO, with errno and path · {TypeError} ERR_ARGUMENT · ERR_UNSUPPORTED
   * @example
   * const gone = () => SharedRing.unlink('levels')
   */
  static unlink (name) {
    const { nameOf } = segments()
    const called = nameOf(name)
    const found = [called, controlOf(called)].map(each => unless('ERR_NOT_FOUND', () => SharedTensor.unlink(each) === undefined))
    if (!found.includes(true)) SharedTensor.unlink(called) // which says so
  }

  #live () {
    if (!this.#isOpen) throw failure('ERR_DISPOSED', 'the ring was disposed')
    return this.#words
  }

  /** @returns {string} @throws nothing */
  get name () { return this.#name }

  /** @returns {string} of the frames, a .npy file of shape `[slots, ...shape]` @throws nothing */
  get path () { return this.#frames.path }

  /** @returns {string} of the control words, a .npy file of uint64 @throws nothing */
  get controlPath () { return this.#control.path }

  /** @returns {number} @throws nothing */
  get slots () { return this.#slots }

  /** @returns {ReadonlyArray<number>} of a frame, elements @throws nothing */
  get shape () { return this.#shape }

  /** @returns {D} @throws nothing */
  get dtype () { return /** @type {D} */ (this.#frames.descriptor.dtype) }

  /**
   * Frames that were committed: the next one has this index.
   *
   * @returns {number}
   * @throws ERR_DISPOSED · ERR_FORMAT a number that no writer writes · ERR_IO a peer made the control words shorter
   * @example
   * const newest = ring => ring.count - 1
   */
  get count () { return countOf(this.#live().word(COUNT)) }

  /**
   * Begins the next frame: a view of its slot, with what an older frame left there. Readers see the frame after commit(); from
   * then on the view is not to be written. Once more before commit() it is the same slot. The first call makes this ring
   * the writer, till it is disposed or its process ends.
   *
   * @returns {Tensor<D>}
   * @throws ERR_BUSY another one is the writer, and its process has not ended · ERR_DISPOSED · ERR_FORMAT · ERR_IO as count
   * @example
   * const count = ring => {
   *   ring.next().fill(ring.count)
   *   return ring.commit()
   * }
   */
  next () {
    const words = this.#live()
    if (this.#role === null) this.#claim()
    words.begin(this.#written, this.#mine)
    this.#isBegun = true
    return this.#frames.tensor.select(0, this.#written % this.#slots)
  }

  /**
   * The frame that next() began is there: who waits for it is woken.
   *
   * @returns {number} its index
   * @throws ERR_STALE next() was not called · ERR_DISPOSED · ERR_IO as count, or bytes of the frame are gone
   * @example
   * const put = (ring, byte) => {
   *   ring.next().fill(byte)
   *   return ring.commit()
   * }
   */
  commit () {
    const words = this.#live()
    if (!this.#isBegun) throw failure('ERR_STALE', 'no frame was begun: next() comes before commit()')
    words.commit(this.#written)
    this.#isBegun = false
    return this.#written++
  }

  /**
   * A frame with the values of src: next(), copyFrom and commit() in one.
   *
   * @param {Parameters<Tensor<D>['copyFrom']>[0]} src  as of copyFrom; broadcast to a frame's shape
   * @param {Parameters<Tensor<D>['copyFrom']>[1]} [opts]
   * @returns {number} the frame's index
   * @throws as next and copyFrom; the frame is begun then, and none that anybody sees
   * @example
   * const put = (ring, samples) => ring.write(samples, { scale: 0.5 })
   */
  write (src, opts) {
    const t = this.next()
    try {
      t.copyFrom(src, opts)
    } catch (error) {
      throw words().ofRing(this.#name, error)
    } finally {
      t.dispose()
    }
    return this.commit()
  }

  /**
   * Frames as they come, from the oldest that is there unless told. The tensor is a view, and the writer does not wait: use it or
   * copy it, then ask `intact(index)` whether it was overwritten meanwhile. A reader that was overtaken goes on half a ring
   * behind the writer. Ends when the ring is disposed; no writer's end ends it, as another one may come.
   *
   * @param {{ from?: number, signal?: AbortSignal }} [opts]  from: index of the first frame; older ones count as lost where they
   * are not there any more. `ring.count`: new ones only
   * @returns {AsyncGenerator<Frame<D>, void, void>}
   * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS · ERR_DISPOSED · and while it is read ERR_FORMAT, ERR_IO, the signal's reason
   * @example
   * const watch = async (ring, see) => {
   *   for await (const { tensor, lost } of ring.read({ from: ring.count })) see(tensor.get(0), lost)
   * }
   */
  read (opts) {
    const { from, signal: given } = optionsOf(opts)
    const first = from === undefined ? null : integer('from', from)
    if (first !== null && first < 0) throw failure('ERR_BOUNDS', `from is ${first}; frames count from 0`)
    const signal = signalOf(given)
    this.#live()
    return this.#reading(first, signal)
  }

  /**
   * @param {number | null} from
   * @param {import('../base/signals').Signal | undefined} signal
   * @returns {AsyncGenerator<Frame<D>, void, void>}
   */
  async * #reading (from, signal) {
    let at = from
    let lost = 0
    let isAhead = false // of what could be overtaken: the first frames are the oldest
    for (let stretch = 1; ; stretch++) {
      checkSignal(signal)
      if (!this.#isOpen) return
      const word = this.#words.word(COUNT)
      const count = countOf(word)
      at ??= Math.max(0, count - this.#slots)
      if (at >= count) {
        stretch = 0
        if (await this.#changed(word[1], signal)) continue
        return
      }
      if (stretch % STRETCH === 0) await new Promise(resolve => onNextTurn(() => resolve(undefined)))
      if (!this.#isOpen) return
      if (at < count - this.#slots) {
        const next = count - (isAhead ? Math.max(1, this.#slots >> 1) : this.#slots)
        lost += next - at
        at = next
      }
      isAhead = true
      const index = at++
      if (!this.#words.has(index)) {
        lost++
        continue
      }
      const passed = lost
      lost = 0
      yield { tensor: this.#view(index), index, lost: passed }
    }
  }

  /**
   * @param {number} seen  lower half of the count
   * @param {import('../base/signals').Signal | undefined} signal
   * @returns {Promise<boolean>} false: the ring was disposed
   */
  async #changed (seen, signal) {
    try {
      await this.#waits.waitFor(this.#words.control, COUNT * 8, seen, Infinity, signal)
    } catch (error) {
      if (this.#isOpen) throw words().ofRing(this.#name, error)
      return false
    }
    return true
  }

  /**
   * @param {number} index
   * @returns {Tensor<D>} which our writers refuse
   */
  #view (index) {
    const layout = ffi.viewByNumbers(rows.select, TensorClass.attachedOf(this.#frames.tensor), 0, index % this.#slots)
    layout.flags |= READ_ONLY
    return wrap(layout)
  }

  /**
   * Is a frame there, and was it till now? What was read of it before the call is the frame's then.
   *
   * @param {number} index
   * @returns {boolean} false: it was overwritten, or is being, or is not there yet
   * @throws ERR_DISPOSED · {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS · ERR_IO what was read may have been zeros: a peer made
   * the frames or the control words shorter
   * @example
   * const copied = (ring, { tensor, index }) => {
   *   const copy = tensor.clone()
   *   return ring.intact(index) ? copy : null
   * }
   */
  intact (index) {
    const n = integer('index', index)
    if (n < 0) throw failure('ERR_BOUNDS', `index is ${n}; frames count from 0`)
    return this.#live().has(n)
  }

  #claim () {
    const { identity } = segments()
    const { pid, start, namespace } = identity()
    const mine = halvesOf(BigInt(pid) << START_BITS | BigInt.asUintN(Number(START_BITS), BigInt(start === '' ? 0 : start)))
    for (let tries = 0; ; tries++) {
      const before = this.#words.word(WRITER)
      if (tries === TRIES || !this.#isFree(before)) throw failure('ERR_BUSY', `process ${writerOf(before).pid} writes the ring; there is one writer at a time`)
      const claim = this.#words.claim(before, mine, halvesOf(BigInt(namespace === '' ? 0 : namespace)))
      if (claim === null) continue
      this.#role = claim.role
      this.#mine = mine
      this.#written = claim.count
      return
    }
  }

  /**
   * Has nobody the writer's word, or somebody who has ended for certain?
   *
   * @param {Halves} word
   */
  #isFree (word) {
    if (word[0] === 0 && word[1] === 0) return true
    const [high, low] = this.#words.word(NAMESPACE)
    return segments().isDead({ ...writerOf(word), namespace: high === 0 && low === 0 ? '' : String(bitsOf([high, low])), persist: false, name: '' })
  }

  #giveUp () {
    if (this.#role !== null) backend.release(this.#role)
    this.#role = null
    this.#isBegun = false
  }

  /** What a dead writer left. */
  #mend () {
    const word = this.#words.word(WRITER)
    if ((word[0] === 0 && word[1] === 0) || !this.#isFree(word)) return
    try {
      this.#claim()
    } catch (error) {
      if (codeOf(error) !== 'ERR_BUSY') throw error // a new writer mends it
    }
    this.#giveUp()
  }

  /**
   * Closes the ring here: loops over read() end, and another ring may write. Views that were taken stay mapped, and the
   * names stay. Disposing twice does nothing.
   *
   * @throws nothing
   * @example
   * const once = (name, values) => {
   *   const ring = SharedRing.open(name)
   *   ring.write(values)
   *   ring.dispose()
   * }
   */
  dispose () {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#giveUp()
    this.#waits.end()
    close(this.#frames)
    close(this.#control)
  }
}
if (Symbol.dispose !== undefined) Object.defineProperty(SharedRing.prototype, Symbol.dispose, { value: SharedRing.prototype.dispose, configurable: true, writable: true })

/** @param {Halves} word */
const bitsOf = ([high, low]) => BigInt(high) << 32n | BigInt(low)

/** @param {bigint} bits @returns {Halves} */
const halvesOf = bits => [Number(bits >> 32n), Number(BigInt.asUintN(32, bits))]

/** @param {Halves} word  not 0 */
function writerOf (word) {
  const start = BigInt.asUintN(Number(START_BITS), bitsOf(word))
  return { pid: Number(bitsOf(word) >> START_BITS), start: start === 0n ? '' : String(start) }
}

/** @param {Halves} word */
function countOf ([high, low]) {
  const count = high * 2 ** 32 + low
  if (count > Number.MAX_SAFE_INTEGER) throw failure('ERR_FORMAT', `byte ${8 * COUNT}: the count of frames is ${count}`)
  return count
}

/**
 * The control words are there, whole, before the frames have their name: who finds the frames finds a ring.
 *
 * @param {string} name
 * @param {DtypeName} dtype
 * @param {number[]} shape  of all frames
 * @param {{ mode?: number, persist?: boolean, ifExists: 'error' | 'replace' }} opts
 * @returns {SharedRing<any>}
 */
function made (name, dtype, shape, opts) {
  const replaces = opts.ifExists === 'replace'
  if (!replaces && isThere(name)) throw failure('ERR_EXISTS', `there is a segment ${show(name)}`)
  if (replaces) unless('ERR_NOT_FOUND', () => SharedTensor.unlink(name))
  const frameBytes = denseLayout(dtypeOf(dtype).index, shape.slice(1)).size * dtypeOf(dtype).itemsize
  const control = SharedTensor.create(controlOf(name), [FIRST + shape[0]], { ...opts, dtype: 'uint64' })
  try {
    newWords(name, control, shape[0]).make(frameBytes)
    const frames = SharedTensor.create(name, shape, { ...opts, dtype })
    try {
      // @ts-expect-error The constructor is private to everybody else.
      return new SharedRing(KEY, name, frames, control)
    } catch (error) {
      close(frames)
      unless('ERR_NOT_FOUND', () => SharedTensor.unlink(name))
      throw error
    }
  } catch (error) {
    close(control)
    unless('ERR_NOT_FOUND', () => SharedTensor.unlink(controlOf(name)))
    throw error
  }
}

/**
 * Its tensor as well, which nobody else has.
 *
 * @param {SharedTensor<any>} shared
 */
function close (shared) {
  try {
    shared.tensor.dispose()
  } catch {} // without memory there is none
  shared.dispose()
}

/** @param {string} name */
function isThere (name) {
  const { pathOf, systemError } = segments()
  const path = pathOf(name)
  try {
    return require('node:fs').existsSync(path)
  } catch (error) {
    throw systemError(error, path) // of the permission model
  }
}

/**
 * @param {string} name
 * @param {DtypeName | undefined} dtype
 * @returns {SharedRing<any>}
 */
function opened (name, dtype) {
  for (let tries = 0; ; tries++) {
    const frames = SharedTensor.open(name, { dtype })
    try {
      const control = SharedTensor.open(controlOf(name))
      try {
        SharedTensor.open(frames.descriptor).dispose() // both are of one ring, which nobody has replaced meanwhile
        return judged(name, frames, control)
      } catch (error) {
        close(control)
        throw error
      }
    } catch (error) {
      close(frames)
      if (tries === TRIES || codeOf(error) !== 'ERR_STALE') throw error
    }
  }
}

/**
 * @param {string} name
 * @param {SharedTensor<any>} frames
 * @param {SharedTensor<any>} control
 * @returns {SharedRing<any>}
 */
function judged (name, frames, control) {
  const { shape, dtype } = frames.descriptor
  const words = control.descriptor
  const [slots = 0, ...rest] = shape
  if (slots < 1 || words.dtype !== 'uint64' || words.shape.length !== 1 || words.shape[0] !== FIRST + slots) {
    throw failure('ERR_FORMAT', `byte 0: ${name} is no ring: ${FIRST + slots} words of uint64 were expected beside it, not ${words.dtype} [${words.shape.join(', ')}]`)
  }
  newWords(name, control, slots).judge(denseLayout(dtypeOf(dtype).index, rest).size * itemsizes[dtypeOf(dtype).index])
  // @ts-expect-error The constructor is private to everybody else.
  return new SharedRing(KEY, name, frames, control)
}

/**
 * @param {SharedRing<any>} ring
 * @param {DtypeName} dtype
 * @param {number[]} shape  of all frames
 */
function checked (ring, dtype, shape) {
  const there = [ring.slots, ...ring.shape]
  if (ring.dtype === dtype && String(there) === String(shape)) return ring
  ring.dispose()
  throw failure(ring.dtype === dtype ? 'ERR_SHAPE' : 'ERR_DTYPE', `the ring that is there has ${there[0]} slots of ${ring.dtype} [${there.slice(1).join(', ')}]; ${shape[0]} of ${dtype} [${shape.slice(1).join(', ')}] were expected`)
}

module.exports = { SharedRing }
