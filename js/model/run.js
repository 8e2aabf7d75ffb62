'use strict'
// One run of a method: what it is given is taken and held when it is called, fed and written into when its turn comes.

const { arraySlice, rootless } = require('../base/primordials')
const { instance } = require('./internals')
const { about, said, expectedShape, namedExtents, nestedStrings, operandOf, readOf, shown, targetOf } = require('./signature')
const { abilitiesOf, messageOf } = require('./sessions')
const { discard } = require('./discard')

/** @typedef {import('../tensor/tensor').Tensor} Tensor */
/** @typedef {InstanceType<typeof import('../backend/calls').Layout>} Layout */
/** @typedef {import('./signature').Slot} Slot */
/** @typedef {import('./signature').Operand} Operand */

/**
 * A method: its session, and what it takes and gives.
 *
 * @typedef {object} Method
 * @property {string} name
 * @property {any} session
 * @property {import('./sessions').Runtime} runtime
 * @property {import('./sessions').Abilities | null} abilities  of the session; null: not asked yet
 * @property {Slot[]} inputs
 * @property {Slot[]} outputs
 * @property {number[]} all  the indices of those that onnxruntime gives
 * @property {(Tensor | import('./signature').Strings | undefined)[]} given  what setInput was given, by index: the module's own views
 * @property {(Tensor | undefined)[]} targets  what setOutput was given, by index
 * @property {any[] | null} results  of the last run that ended well, by index
 */

/** A tensor that a run writes into. */
class Target {
  /**
   * @param {Slot} slot
   * @param {Tensor} tensor
   * @param {Layout} layout
   */
  constructor (slot, tensor, layout) {
    this.slot = slot
    this.tensor = tensor
    this.layout = layout
  }
}

rootless(Target)

/** Bytes on their way to onnxruntime: looked up when it reads them, because WebAssembly's memory moves. */
class LiveFeed {
  #layout
  /** @param {Layout} layout */
  constructor (layout) {
    const { dtypes } = instance()
    this.#layout = layout
    this.type = dtypes[layout.dtype].name
    this.dims = arraySlice(layout.shape)
    this.location = 'cpu'
  }

  get data () {
    return shownBy(this.#layout)
  }
}

rootless(LiveFeed)

/** What onnxruntime threw. */
class Failed {
  /** @param {unknown} cause */
  constructor (cause) {
    this.cause = cause
  }
}

/** of runs that may fail for a reason that is looked into then */
const QUIET = { logSeverityLevel: 4 }

class Run {
  /**
   * Takes what is given: all is judged, nothing is held yet.
   *
   * @param {Method} method
   * @param {unknown[]} values  by input's index
   * @param {(Tensor | undefined)[]} targets  by output's index
   * @param {number[]} wanted  outputs' indices
   */
  constructor (method, values, targets, wanted) {
    const { failure } = instance()
    this.method = method
    this.wanted = wanted
    /** may a target have to have another shape than it has? */
    this.isOpen = false
    const { inputs, outputs } = method
    /** @type {(Tensor | import('./signature').Strings | undefined)[]} */
    const read = []
    for (let i = 0; i < inputs.length; i++) read.push(values[i] === undefined ? undefined : readOf(inputs[i], values[i]))
    // no user code from here on
    /** @type {Operand[]} */
    this.operands = []
    for (let i = 0; i < inputs.length; i++) {
      const value = read[i] ?? method.given[i]
      if (value === undefined) throw failure('ERR_ARGUMENT', `${inputs[i].title} has no value: neither the call nor setInput gave one`)
      this.operands.push(operandOf(inputs[i], value))
    }
    /** @type {Target[]} */
    this.targets = []
    for (let k = 0; k < wanted.length; k++) {
      const slot = outputs[wanted[k]]
      const tensor = targets[slot.index]
      if (tensor !== undefined) this.targets.push(new Target(slot, tensor, targetOf(slot, tensor)))
    }
    this.#checkOthers()
  }

  /** Nothing is read while somebody writes it, and nothing written twice. */
  #checkOthers () {
    const { operands, targets, method: { inputs } } = this
    for (let i = 0; i < operands.length; i++) {
      const { layout } = operands[i]
      if (layout === null || layout.storage.extra === null || layout.storage.extra.written === 0) continue
      throw instance().failure('ERR_BUSY', `${inputs[i].title}: the tensor is being written to by a pending copyFromAsync or by a model's run; await it first`)
    }
    for (let k = 0; k < targets.length; k++) {
      const place = new Place(targets[k].layout)
      for (let i = 0; i < operands.length; i++) {
        const { layout } = operands[i]
        if (layout !== null && place.meets(new Place(layout))) throw overlap(targets[k].slot, inputs[i])
      }
      for (let i = 0; i < k; i++) if (place.meets(new Place(targets[i].layout))) throw overlap(targets[k].slot, targets[i].slot)
    }
  }

  /** From now on the bytes are busy, and stay. */
  hold () {
    const { hold, stats } = instance()
    for (const { layout } of this.operands) if (layout !== null) hold(layout.storage, 0)
    for (const { layout } of this.targets) hold(layout.storage, 1)
    stats.inFlight++
  }

  letGo () {
    const { letGo, stats } = instance()
    stats.inFlight--
    for (const { layout } of this.targets) letGo(layout.storage, 1)
    for (const { layout } of this.operands) if (layout !== null) letGo(layout.storage, 0)
  }

  /** @returns {Promise<any[]>} what was wanted, by output's index */
  async perform () {
    const { method } = this
    if (this.targets.length > 0 || this.#hasShared()) this.#check(method.abilities ??= await abilitiesOf(method.runtime, method.session))
    let found
    try {
      if (this.targets.length > 0) this.#shape()
      found = await this.#once()
    } catch (error) {
      found = await this.#again(error)
    }
    const values = this.#valuesOf(found)
    this.#checkIntact()
    return values
  }

  /** What onnxruntime read or wrote of mapped files may have proved to be gone meanwhile. */
  #checkIntact () {
    const { ffi } = instance()
    const { operands, targets, method: { inputs } } = this
    for (let i = 0; i < operands.length; i++) {
      const { layout } = operands[i]
      if (layout !== null && ffi.isGuarded(layout.storage)) about(inputs[i], () => ffi.checkIntact(layout.storage))
    }
    for (let k = 0; k < targets.length; k++) {
      const { slot, layout } = targets[k]
      if (ffi.isGuarded(layout.storage)) about(slot, () => ffi.checkIntact(layout.storage))
    }
  }

  /** Are there bytes that not every onnxruntime reads? */
  #hasShared () {
    const { operands } = this
    for (let i = 0; i < operands.length; i++) {
      const { layout } = operands[i]
      if (layout !== null && isShared(layout)) return true
    }
    return false
  }

  /** @param {import('./sessions').Abilities} abilities */
  #check ({ inPlace, writesShared }) {
    for (const { slot, layout } of this.targets) {
      if (inPlace && (writesShared || !isShared(layout))) continue
      const { failure } = instance()
      if (!inPlace) throw failure('ERR_UNSUPPORTED', `${slot.title}: this onnxruntime writes results to memory of its own, not into a tensor; run without that output, and copyFrom the result`)
      throw failure('ERR_UNSUPPORTED', `${slot.title}: this onnxruntime cannot write to a SharedArrayBuffer (onnxruntime-node can in Node 22 and later)`)
    }
  }

  /** Gives outputs the shapes that the inputs make them have, as far as that can be told. */
  #shape () {
    const { inputs } = this.method
    const shapes = this.operands.map(({ layout, strings }) => layout === null ? /** @type {any} */ (strings).dims : layout.shape)
    const named = namedExtents(inputs, shapes)
    for (const target of this.targets) {
      const shape = expectedShape(target.slot, named)
      if (shape !== null) fit(target, shape)
      else this.isOpen = true
    }
  }

  /**
   * What onnxruntime throws comes as Failed: all else is ours.
   *
   * @returns {Promise<Record<string, any>>} onnxruntime's results
   */
  #once () {
    const { method, targets } = this
    const feeds = this.#feeds()
    if (targets.every(({ slot }) => slot.isInput)) return this.#ask(feeds, this.#wantsAll() ? undefined : this.#names(), undefined)
    /** @type {Record<string, any>} */
    const fetches = {}
    if (targets.length < this.wanted.length) for (const name of this.#names()) fetches[name] = null
    let k = 0
    try {
      for (; k < targets.length; k++) {
        const { slot, layout } = targets[k]
        fetches[slot.name] = slot.isInput ? null : fetchOf(layout, method.runtime.ort)
      }
    } catch (error) {
      throw said(targets[k].slot, error)
    }
    return this.#ask(feeds, fetches, this.isOpen ? QUIET : undefined)
  }

  #feeds () {
    const { operands, method: { inputs, abilities } } = this
    /** @type {Record<string, any>} */
    const feeds = {}
    let i = 0
    try {
      for (; i < inputs.length; i++) feeds[inputs[i].name] = feedOf(operands[i], abilities)
    } catch (error) {
      throw said(inputs[i], error)
    }
    return feeds
  }

  /**
   * @param {Record<string, any>} feeds
   * @param {string[] | Record<string, any> | undefined} fetches
   * @param {{} | undefined} options
   * @returns {Promise<Record<string, any>>}
   */
  #ask (feeds, fetches, options) {
    const { session } = this.method
    const found = fetches === undefined ? session.run(feeds) : options === undefined ? session.run(feeds, fetches) : session.run(feeds, fetches, options)
    return found.catch(failed)
  }

  #wantsAll () {
    return this.wanted.length === this.method.outputs.length
  }

  #names () {
    return this.wanted.map(i => this.method.outputs[i].name)
  }

  /**
   * The run failed. If it was because outputs have other shapes than the run gives them, they are resized and it runs again.
   *
   * @param {unknown} error
   * @returns {Promise<Record<string, any>>}
   */
  async #again (error) {
    if (!(error instanceof Failed)) throw error
    this.#checkAttached()
    this.#checkIntact()
    try {
      if (this.targets.length > 0 && await this.#learn()) return await this.#once()
    } catch (later) {
      if (!(later instanceof Failed)) throw later
      error = later
    }
    const { cause } = /** @type {Failed} */ (error)
    const said = instance().failure('ERR_MODEL', `method '${this.method.name}' failed: ${messageOf(cause)}`)
    said.cause = cause
    throw said
  }

  /** The caller may have transferred a buffer away while the call waited. */
  #checkAttached () {
    const { ffi } = instance()
    for (const [i, { layout }] of this.operands.entries()) if (layout !== null) about(this.method.inputs[i], () => ffi.checkAttached(layout.storage))
    for (const { slot, layout } of this.targets) about(slot, () => ffi.checkAttached(layout.storage))
  }

  /**
   * A run without the caller's tensors tells the shapes that they must have.
   *
   * @returns {Promise<boolean>} was one of another shape?
   */
  async #learn () {
    const { targets } = this
    const found = await this.#ask(this.#feeds(), targets.map(({ slot }) => slot.name), undefined)
    let changed = false
    for (const target of targets) {
      const { dims } = found[target.slot.name]
      if (instance().isSameShape(dims, target.layout.shape)) continue
      changed = true
      fit(target, [...dims])
    }
    return changed
  }

  /**
   * @param {Record<string, any>} found
   * @returns {any[]} by output's index
   */
  #valuesOf (found) {
    const { targets, wanted, method: { outputs } } = this
    /** @type {any[]} */
    const values = []
    for (let i = 0; i < outputs.length; i++) values.push(undefined)
    for (let k = 0; k < wanted.length; k++) {
      const slot = outputs[wanted[k]]
      const theirs = found[slot.name]
      const target = targets.length === 0 ? undefined : targets.find(each => each.slot === slot)
      values[slot.index] = target === undefined ? valueOf(slot, theirs) : written(target, theirs)
    }
    return values
  }
}

rootless(Run)

/**
 * @param {Slot} slot
 * @param {any} theirs  onnxruntime's tensor
 * @returns {any}
 */
function valueOf (slot, theirs) {
  if (theirs.type === 'string') return nestedStrings(theirs.data, theirs.dims)
  try {
    return instance().fromOrt(theirs)
  } catch (error) {
    throw said(slot, error)
  }
}

/**
 * @param {Target} target
 * @param {any} theirs  onnxruntime's copy of what it wrote
 */
function written (target, theirs) {
  if (target.slot.isInput) return copiedTo(target, theirs)
  if (!instance().isSameShape(theirs.dims, target.layout.shape)) throw misfit(target, theirs.dims)
  discard(theirs, target.layout.storage.buffer)
  return target.tensor
}

/**
 * The one thing that is copied here.
 *
 * @param {Target} target  of an output that is an input, too
 * @param {any} theirs
 */
function copiedTo (target, { dims, data }) {
  const { asBits, countCopy } = instance()
  fit(target, [...dims])
  const { layout, tensor } = target
  if (layout.size > 0) shownBy(layout).set(asBits(data))
  countCopy('run', data.byteLength)
  return tensor
}

/** @param {unknown} error  onnxruntime's */
function failed (error) {
  throw new Failed(error)
}

/**
 * @param {Slot} written
 * @param {Slot} other
 */
function overlap (written, other) {
  return instance().failure('ERR_OVERLAP', `${written.title} would be written over bytes of ${other.title}`)
}

/**
 * Own properties of the tensor's are not asked.
 *
 * @param {Tensor} tensor
 * @returns {Layout | null} null: it was disposed
 */
function layoutNow (tensor) {
  try {
    return instance().Tensor.layoutOf(tensor)
  } catch {
    return null
  }
}

/**
 * Gives a target another shape.
 *
 * @param {Target} target  held
 * @param {number[]} shape
 */
function fit (target, shape) {
  const { Tensor, hold, letGo, isSameShape } = instance()
  const { tensor, layout } = target
  if (isSameShape(shape, layout.shape)) return
  if (layoutNow(tensor) === null) throw misfit(target, shape)
  const { storage } = layout
  letGo(storage, 1)
  try {
    if (storage.claims < 0 || (storage.extra !== null && storage.extra.busy > 0)) throw misfit(target, shape)
    Tensor.prototype.resize.call(tensor, shape)
  } catch (error) {
    throw misfit(target, shape, error)
  } finally {
    target.layout = layoutNow(tensor) ?? layout
    hold(target.layout.storage, 1)
  }
}

/**
 * @param {Target} target
 * @param {readonly number[]} shape  that the run gives
 * @param {unknown} [cause]
 */
function misfit ({ slot, layout, tensor }, shape, cause) {
  const now = layoutNow(tensor)
  const room = now === null ? 'it was disposed' : (now.flags & instance().ffi.STATIC) !== 0 ? 'it is static' : `there is room for ${now.capacity} elements`
  const error = instance().failure('ERR_SHAPE', `${slot.title} has shape ${shown(shape)} in this run; the tensor to write into has ${shown(layout.shape)}, and ${room}`)
  error.cause = cause
  return error
}

/** @param {Layout} layout */
function isShared ({ storage: { kind, buffer } }) {
  const { ffi: { backend }, isSharedArrayBuffer } = instance()
  if (kind === 'wasm') return backend.name === 'wasm-shared'
  return !(buffer === null || buffer instanceof ArrayBuffer) && isSharedArrayBuffer(buffer) // the slow way only where it may be
}

/** Which bytes of which memory a dense layout has. */
class Place {
  /** @param {Layout} layout */
  constructor ({ storage, offset, size, dtype }) {
    const { ffi: { backend }, itemsizes } = instance()
    const itemsize = itemsizes[dtype]
    const isOutside = backend.isWasm && storage.kind !== 'wasm'
    if (!isOutside && size > 0) backend.promote(storage)
    const first = isOutside ? storage.byteOffset : size === 0 ? 0 : backend.addressOf(storage)
    this.memory = isOutside ? storage.buffer : null
    this.from = first + offset * itemsize
    this.to = this.from + size * itemsize
  }

  /** @param {Place} other */
  meets ({ memory, from, to }) {
    return memory === this.memory && from < this.to && this.from < to
  }
}

rootless(Place)

/**
 * The bytes as a typed array, the same one as long as it is good.
 *
 * @param {Layout} layout
 * @returns {any}
 */
function shownBy (layout) {
  const { asBits, dataOf, dtypes } = instance()
  const { data } = layout
  const array = data !== null && data.length > 0 ? data : dataOf(layout)
  return dtypes[layout.dtype].name === 'float16' ? asBits(array) : array
}

/**
 * @param {Operand} operand
 * @param {import('./sessions').Abilities | null} abilities
 * @returns {any} what a session takes
 */
function feedOf ({ layout, strings }, abilities) {
  if (layout === null) {
    const { strings: data, dims } = /** @type {import('./signature').Strings} */ (strings)
    return { type: 'string', dims, data, location: 'cpu' }
  }
  const { ffi: { backend }, dtypes } = instance()
  if (abilities !== null && !abilities.readsShared && isShared(layout)) return stagedFeed(layout)
  if (backend.isWasm) return new LiveFeed(layout)
  return { type: dtypes[layout.dtype].name, dims: arraySlice(layout.shape), data: shownBy(layout), location: 'cpu' }
}

/**
 * For an onnxruntime that reads no SharedArrayBuffer: a counted copy.
 *
 * @param {Layout} layout
 */
function stagedFeed (layout) {
  const { countStaged, dtypes } = instance()
  const data = shownBy(layout).slice()
  countStaged(data.byteLength)
  return { type: dtypes[layout.dtype].name, dims: arraySlice(layout.shape), data, location: 'cpu' }
}

/**
 * @param {Layout} layout
 * @param {any} ort
 * @returns {any} a tensor of onnxruntime's that it writes into
 */
function fetchOf (layout, ort) {
  const { ffi: { backend }, dtypes } = instance()
  const { name } = dtypes[layout.dtype]
  const made = new ort.Tensor(name, shownBy(layout), arraySlice(layout.shape))
  if (backend.isWasm || name === 'float16') Object.defineProperty(made, 'data', { get: () => shownBy(layout) })
  return made
}

module.exports = { Run }
