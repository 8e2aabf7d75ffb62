'use strict'
// Sessions for onnxruntime-node's programs, run by onnxruntime's C library. What they take, give and refuse is what onnxruntime-node does,
// with its words. Node alone.

const { setImmediate } = require('node:timers')
const ffi = require('../backend/calls')
const { dtypeOf, itemsizes } = require('../backend/dtypes')
const { partsOfArray, tagOf } = require('../base/buffers')
const { countStaged } = require('../backend/storage')
const { fromBits } = require('../interop/onnxruntime')
const { isSameShape } = require('../layout/layouts')
const { Tensor } = require('../tensor/tensor')
const { fromBlob } = require('../tensor/blob')
const { stagedCopy } = require('./library')
const { MANY, SHORT_NS, isBusy, spend } = require('./library-run')
const { expectedShape, namedExtents, slotsOf } = require('./signature')

const { backend } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** An onnxruntime tensor's fields, read once. @typedef {{ type: string, dims: number[], data: any, nbytes: number }} Fields data: a typed array, which may be longer */
/** Where an output goes. @typedef {{ type: string, dims: number[], data: any, blob: Tensor, given: Fields | null }} Place */

/** What shows the elements of each type. */
const ARRAYS = {
  ...{ float32: Float32Array, float64: Float64Array, float16: Uint16Array, bool: Uint8Array },
  ...{ int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array },
  ...{ uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array },
}

/** Node-API's numbers of typed arrays, which onnxruntime-node's messages have. */
const NUMBERS = [
  ...['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array'],
  ...['Uint32Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array'],
  'Float16Array',
]
const LOCATIONS = ['cpu', 'cpu-pinned', 'texture', 'gpu-buffer', 'ml-tensor']
const MOST_EXTENT = 2 ** 32 - 1
const MOST_SPARE = 2 ** 25 // bytes of copies that a session keeps for its next run: new memory takes longer than the copy itself
const LEAST_SPARE = 2 ** 16

/** @param {number} d @param {unknown} n  an axis' extent */
function checkExtent(d, n) {
  if (typeof n !== 'number') throw new TypeError(`Tensor.dims[${d}] is not a number.`)
  if (!(Number.isInteger(n) && n >= 0 && n <= MOST_EXTENT)) {
    throw new RangeError(`Tensor.dims[${d}] is invalid: ${n}`)
  }
}

/**
 * Reads a tensor by its fields: a program may have several classes of them.
 *
 * @param {any} value
 * @param {import('./signature').Slot} slot  what it is for
 * @returns {Fields}
 */
function fieldsOf(value, slot) {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) {
    throw new TypeError('Tensor must be an object.')
  }
  const given = value.dims
  if (!Array.isArray(given)) throw new TypeError('Tensor.dims must be an array.')
  const dims = Array.from(given)
  for (const [d, n] of dims.entries()) checkExtent(d, n)
  const { location, type } = value
  if (typeof location !== 'string') throw new TypeError('Tensor.location must be a string.')
  if (!LOCATIONS.includes(location)) throw new RangeError('Tensor.location is not supported.')
  if (typeof type !== 'string') throw new TypeError('Tensor.type must be a string.')
  if (type === 'string') throw refusedStrings(location, value.data, slot)
  if (!Object.hasOwn(ARRAYS, type)) throw new TypeError(`Tensor.type is not supported: ${type}`)
  if (location !== 'cpu') {
    throw new TypeError(
      location === 'gpu-buffer'
        ? 'Tensor.gpuBuffer must be an external object.'
        : "Tensor.location must be 'gpu-buffer' for IO binding.",
    )
  }
  const { data } = value
  const kind = tagOf(data)
  if (kind === undefined) {
    throw new TypeError('Tensor.data must be a typed array for numeric tensor.')
  }
  const { name } = ARRAYS[/** @type {keyof ARRAYS} */ (type)]
  if (kind !== name && !(type === 'float16' && kind === 'Float16Array')) {
    const expected = `${NUMBERS.indexOf(name)}${type === 'float16' ? ' or Float16Array' : ''}`
    throw new TypeError(
      `Tensor.data must be a typed array (${expected}) for ${type} tensors, but got typed array (${NUMBERS.indexOf(kind)}).`,
    )
  }
  const nbytes = dims.reduce((product, n) => product * n, 1) * itemsizes[dtypeOf(type).index]
  const room = partsOfArray(data).byteLength
  if (room < nbytes) throw new Error(`not enough space: expected ${nbytes}, got ${room}`)
  return { type, dims, data, nbytes }
}

/**
 * Models with strings are left to onnxruntime-node, so they fit no input here.
 *
 * @param {string} location
 * @param {unknown} data
 * @param {import('./signature').Slot} slot
 */
function refusedStrings(location, data, { kind, dtype }) {
  if (location !== 'cpu') {
    return new TypeError("Tensor.location must be 'cpu' for string tensors.")
  }
  if (!Array.isArray(data)) {
    return new TypeError('Tensor.data must be an array for string tensors.')
  }
  const expected = { float32: 'float', float64: 'double' }[String(dtype)] ?? dtype
  return new Error(
    `Unexpected ${kind} data type. Actual: (tensor(string)) , expected: (tensor(${expected}))`,
  )
}

/** @param {Fields} fields @returns {Tensor} over its bytes */
function blobOf({ type, dims, data, nbytes }) {
  const { buffer, byteOffset } = partsOfArray(data)
  const bytes = new Uint8Array(/** @type {ArrayBuffer} */ (buffer), byteOffset, nbytes)
  return fromBlob(bytes, dims, /** @type {any} */ (type))
}

/**
 * A result's bytes, in V8's memory as onnxruntime-node's results are, so that programs may transfer them. Nobody else knows the buffer before
 * the run has ended: a thread can write there.
 *
 * @param {string} type
 * @param {readonly number[]} dims
 * @param {Fields | null} given  what the result will be copied to; onnxruntime may leave its bytes as they are
 * @returns {Place}
 */
function newPlace(type, dims, given) {
  const Type = /** @type {any} */ (ARRAYS)[type]
  const size = dims.reduce((product, n) => product * n, 1)
  const bytes = Buffer.allocUnsafeSlow(size * Type.BYTES_PER_ELEMENT)
  if (given !== null) bytes.set(bytesOf(given))
  const data = new Type(bytes.buffer, bytes.byteOffset, size)
  const blob = fromBlob(
    /** @type {any} */ (fromBits(data, type)),
    [...dims],
    /** @type {any} */ (type),
  )
  return { type, dims: [...dims], data, blob, given }
}

/** @param {Fields} fields */
function bytesOf({ data, nbytes }) {
  const { buffer, byteOffset } = partsOfArray(data)
  return new Uint8Array(/** @type {ArrayBuffer} */ (buffer), byteOffset, nbytes)
}

/**
 * @param {any} options  of a run; what onnxruntime-node does not know, it ignores
 * @returns {boolean} nothing is logged where the run fails
 */
function isQuietBy(options) {
  if ('logSeverityLevel' in options) {
    const level = options.logSeverityLevel
    const title = 'Invalid argument: runOptions.logSeverityLevel must be'
    if (typeof level !== 'number') throw new TypeError(`${title} a number.`)
    if (![0, 1, 2, 3, 4].includes(level)) {
      throw new RangeError(`${title} one of the following: 0, 1, 2, 3, 4.`)
    }
  }
  if ('tag' in options && typeof options.tag !== 'string') {
    throw new TypeError('Invalid argument: runOptions.tag must be a string.')
  }
  return options.logSeverityLevel === 4
}

/** What onnxruntime-common's InferenceSession calls its handler. */
class OrtSession {
  #session
  #Class
  #inputs
  #outputs
  /** how many runs wait or go on */
  #pending = 0
  /** the last one's end @type {Promise<unknown>} */
  #last = Promise.resolve()
  #isDisposed = false
  /** of the last run's inputs @type {readonly (readonly number[])[]} */
  #shapes = []
  /** runs of these shapes that were short, since one was not */
  #short = 0
  /** by output: its shape in the last run of these shapes, and in how many runs it was so @type {({ dims: readonly number[], times: number } | undefined)[]} */
  #learned = []
  /** copies of the last run's inputs, to be written again @type {Layout[]} */
  #spare = []
  /** by output: it had another shape than was expected, which cost a run @type {boolean[]} */
  #isUnsteady = []

  /**
   * @param {import('./library').LibrarySession} session
   * @param {any} Class  of results
   */
  constructor(session, Class) {
    this.#session = session
    this.#Class = Class
    const { inputNames, outputNames, inputMetadata, outputMetadata } = session
    Object.assign(this, { inputNames, outputNames, inputMetadata, outputMetadata })
    this.#inputs = slotsOf('input', inputNames, inputMetadata)
    this.#outputs = slotsOf('output', outputNames, outputMetadata)
    for (const slot of this.#outputs) slot.isInput = inputNames.includes(slot.name)
  }

  async dispose() {
    this.#checkLive()
    this.#isDisposed = true
    releaseAll(this.#spare.splice(0))
    if (this.#pending === 0) await this.#session.release()
  }

  startProfiling() {}

  endProfiling() {
    this.#checkLive()
  }

  #checkLive() {
    if (this.#isDisposed) throw new Error('Session already disposed.')
  }

  /**
   * @param {any} feeds  tensors by name
   * @param {any} fetches  tensors to write into by name; null: a new one
   * @param {any} options
   * @returns {Promise<Record<string, any>>}
   */
  async run(feeds, fetches, options) {
    await new Promise((resolve) => setImmediate(resolve)) // when onnxruntime-node reads what it is given
    this.#checkLive()
    const inputs = this.#inputs.map((slot) => fieldsOf(feeds[slot.name], slot))
    const wanted = this.#outputs.map((slot) => {
      if (!(slot.name in fetches)) return undefined
      const given = fetches[slot.name]
      return given === null ? null : fieldsOf(given, slot)
    })
    const isQuiet = isQuietBy(options)
    const isHere =
      this.#pending === 0 &&
      this.#short >= MANY &&
      !isBusy() &&
      this.#areShapes(inputs.map(({ dims }) => dims))
    const blobs = inputs.map(blobOf)
    try {
      const layouts = blobs.map((blob) => Tensor.layoutOf(blob))
      const copies = isHere ? null : copiesOf(layouts, this.#spare.splice(0))
      if (copies === null) return await this.#perform(layouts, wanted, isQuiet, true)
      return await this.#runOnThread(copies, wanted, isQuiet)
    } finally {
      for (const blob of blobs) blob.dispose()
    }
  }

  /**
   * Runs on a thread, when earlier runs are over, as those of onnxruntime-node.
   *
   * @param {Layout[]} copies  of inputs, which go when the run is over
   * @param {(Fields | null | undefined)[]} wanted
   * @param {boolean} isQuiet
   */
  async #runOnThread(copies, wanted, isQuiet) {
    const ended = this.#last.then(() => this.#perform(copies, wanted, isQuiet, false))
    this.#last = ended.catch(() => {})
    this.#pending++
    try {
      return await ended
    } finally {
      const nbytes = copies.reduce((sum, copy) => sum + copy.nbytes, 0)
      const isKept = !this.#isDisposed && nbytes >= LEAST_SPARE && nbytes <= MOST_SPARE
      if (isKept && this.#spare.length === 0) this.#spare = copies
      else releaseAll(copies)
      if (--this.#pending === 0 && this.#isDisposed) await this.#session.release()
    }
  }

  /** @param {(readonly number[])[]} shapes  of inputs @returns {boolean} are they those of the last run? */
  #areShapes(shapes) {
    return (
      shapes.length === this.#shapes.length &&
      shapes.every((shape, i) => isSameShape(shape, this.#shapes[i]))
    )
  }

  /**
   * @param {Layout[]} inputs  which stay where they are
   * @param {(Fields | null | undefined)[]} wanted  by output
   * @param {boolean} isQuiet
   * @param {boolean} isHere  on this thread
   */
  async #perform(inputs, wanted, isQuiet, isHere) {
    const shapes = inputs.map(({ shape }) => shape)
    if (!this.#areShapes(shapes)) {
      this.#shapes = shapes.map((shape) => [...shape])
      this.#short = 0
      this.#learned = []
    }
    const { places, guesses } = this.#placesOf(wanted, namedExtents(this.#inputs, shapes))
    try {
      let results
      try {
        const isUnsure = guesses.length > 0
        results = await this.#runOnce(inputs, places, isQuiet || isUnsure, isHere)
      } catch (error) {
        if (guesses.length === 0 || /** @type {any} */ (error)?.code !== 'ERR_MODEL') throw error
        const guessed = guesses.map((k) => places[k])
        for (const k of guesses) places[k] = null
        for (const each of guessed) each?.blob.dispose()
        results = await this.#runOnce(inputs, places, isQuiet, isHere)
        for (const [i, k] of guesses.entries()) {
          const dims = guessed[i]?.dims ?? []
          this.#isUnsteady[k] ||= !isSameShape(results[k]?.shape ?? [], dims)
        }
      }
      return this.#resultsOf(places, results)
    } catch (error) {
      const { code, cause } = /** @type {any} */ (error)
      throw code === 'ERR_MODEL' ? cause : error
    } finally {
      for (const place of places) place?.blob.dispose()
    }
  }

  /**
   * @param {(Fields | null | undefined)[]} wanted
   * @param {Map<string, number>} named  extents of inputs
   * @returns {{ places: (Place | null | undefined)[], guesses: number[] }} null: onnxruntime allocates it; guesses: whose shapes may be others
   */
  #placesOf(wanted, named) {
    /** @type {number[]} */
    const guesses = []
    const places = wanted.map((given, k) => {
      const slot = this.#outputs[k]
      if (given === undefined) return undefined
      if (given !== null) return newPlace(given.type, given.dims, given)
      if (slot.isInput || this.#isUnsteady[k]) return null
      const learned = this.#learned[k]
      const dims =
        expectedShape(slot, named) ??
        (learned !== undefined && learned.times >= 2 ? learned.dims : null)
      if (dims === null) return null
      try {
        const place = newPlace(/** @type {string} */ (slot.dtype), dims, null)
        guesses.push(k)
        return place
      } catch {
        return null // there is no memory for what may be wrong
      }
    })
    return { places, guesses }
  }

  /**
   * @param {Layout[]} inputs
   * @param {(Place | null | undefined)[]} places
   * @param {boolean} isQuiet
   * @param {boolean} isHere
   * @returns {Promise<(Layout | null)[]>} results that onnxruntime allocated
   */
  async #runOnce(inputs, places, isQuiet, isHere) {
    const outputs = places.map((place) => place && Tensor.layoutOf(place.blob))
    for (const { storage } of inputs) backend.addressOf(storage)
    for (const layout of outputs) if (layout) backend.addressOf(layout.storage)
    const { results, took } = isHere
      ? this.#session.runHere(inputs, outputs, isQuiet)
      : await this.#session.run(inputs, outputs, isQuiet, undefined)
    if (isHere) spend(took)
    this.#short = took < SHORT_NS ? this.#short + 1 : 0
    return results
  }

  /**
   * @param {(Place | null | undefined)[]} places
   * @param {(Layout | null)[]} results
   * @returns {Record<string, any>}
   */
  #resultsOf(places, results) {
    /** @type {Record<string, any>} */
    const found = {}
    try {
      for (const [k, place] of places.entries()) {
        if (place === undefined) continue
        const { name, dtype } = this.#outputs[k]
        const { type, dims, data } = place ?? copied(/** @type {Layout} */ (results[k]), dtype)
        this.#learn(k, dims)
        if (place?.given) giveBack(place.given, data)
        found[name] = new this.#Class(type, data, dims)
      }
    } finally {
      for (const layout of results) if (layout !== null) backend.release(layout.storage)
    }
    return found
  }

  /** @param {number} k  an output @param {readonly number[]} dims */
  #learn(k, dims) {
    const before = this.#learned[k]
    const isAgain = before !== undefined && isSameShape(dims, before.dims)
    this.#learned[k] = { dims, times: isAgain ? before.times + 1 : 1 }
  }
}

/**
 * A result that onnxruntime allocated, in V8's memory.
 *
 * @param {Layout} layout
 * @param {string | null} dtype
 * @returns {Place}
 */
function copied(layout, dtype) {
  const place = newPlace(/** @type {string} */ (dtype), layout.shape, null)
  if (layout.size > 0) ffi.copy(Tensor.layoutOf(place.blob), layout, 0)
  place.blob.dispose()
  return place
}

/**
 * Inputs for a thread. They are copied, whatever memory they are in: the program may write, transfer or resize its own while the run goes on,
 * and a buffer that is marked, so that it cannot be transferred, stays marked.
 *
 * @param {Layout[]} layouts
 * @param {Layout[]} spare  written if they fit, else released
 * @returns {Layout[] | null} null: there is no memory for them
 */
function copiesOf(layouts, spare) {
  const isFit = (/** @type {Layout} */ copy, /** @type {number} */ i) =>
    copy.dtype === layouts[i].dtype && isSameShape(copy.shape, layouts[i].shape)
  if (spare.length > 0 && spare.every(isFit)) {
    for (const [i, copy] of spare.entries()) {
      ffi.copy(copy, layouts[i], 0)
      countStaged(copy.nbytes)
    }
    return spare
  }
  releaseAll(spare)
  /** @type {Layout[]} */
  const copies = []
  try {
    for (const layout of layouts) copies.push(stagedCopy(layout, true))
    return copies
  } catch (error) {
    releaseAll(copies)
    if (/** @type {any} */ (error)?.code === 'ERR_MEMORY') return null
    throw error
  }
}

/** @param {Layout[]} layouts */
function releaseAll(layouts) {
  for (const { storage } of layouts) backend.release(storage)
}

/** @param {Fields} given  a fetch, whose buffer may be gone by now @param {any} data */
function giveBack(given, data) {
  if (partsOfArray(given.data).byteLength < given.nbytes) return
  const { buffer, byteOffset } = partsOfArray(data)
  bytesOf(given).set(new Uint8Array(/** @type {ArrayBuffer} */ (buffer), byteOffset, given.nbytes))
}

module.exports = { OrtSession, ARRAYS }
