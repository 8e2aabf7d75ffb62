'use strict'
// One run of a method: what it is given is taken and held when it is called, fed and written into when its turn comes.

const { instance } = require('./instance')
const { about, expectedShape, namedExtents, nestedStrings, operandOf, shown, targetOf } = require('./signature')
const { abilitiesOf, messageOf } = require('./sessions')
const { discard } = require('./discard')

/** @typedef {import('./tensor').Tensor} Tensor */
/** @typedef {InstanceType<typeof import('./ffi').Layout>} Layout */
/** @typedef {import('./signature').Slot} Slot */
/** @typedef {import('./signature').Operand} Operand */

/**
 * A method: its session, and what it takes and gives.
 *
 * @typedef {object} Method
 * @property {string} name
 * @property {any} session
 * @property {import('./sessions').Runtime} runtime
 * @property {Slot[]} inputs
 * @property {Slot[]} outputs
 * @property {unknown[]} given  what setInput was given, by index
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

/** Bytes on their way to onnxruntime: looked up when it reads them, because WebAssembly's memory moves. */
class LiveFeed {
  #layout
  /** @param {Layout} layout */
  constructor (layout) {
    const { dtypes } = instance()
    this.#layout = layout
    this.type = dtypes[layout.dtype].name
    this.dims = layout.shape.slice()
    this.location = 'cpu'
  }

  get data () {
    const { asBits, dataOf } = instance()
    return asBits(dataOf(this.#layout))
  }
}

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
    /** @type {Operand[]} */
    this.operands = []
    for (const slot of method.inputs) {
      const value = values[slot.index]
      if (value === undefined) throw failure('ERR_ARGUMENT', `${slot.title} has no value: neither the call nor setInput gave one`)
      this.operands.push(operandOf(slot, value))
    }
    /** @type {Target[]} */
    this.targets = []
    for (const i of wanted) {
      const tensor = targets[i]
      if (tensor !== undefined) this.targets.push(new Target(method.outputs[i], tensor, targetOf(method.outputs[i], tensor)))
    }
    this.#checkOthers()
  }

  /** Nothing is read while somebody writes it, and nothing written twice. */
  #checkOthers () {
    const { failure } = instance()
    const { inputs } = this.method
    for (const [i, { layout }] of this.operands.entries()) {
      if (layout !== null && layout.storage.extra !== null && layout.storage.extra.written > 0) {
        throw failure('ERR_BUSY', `${inputs[i].title}: the tensor is being written to by a pending copyFromAsync or by a model's run; await it first`)
      }
    }
    if (this.targets.length === 0) return
    const read = this.operands.flatMap(({ layout }, i) => layout === null ? [] : [{ title: inputs[i].title, ...placeOf(layout) }])
    for (const { slot, layout } of this.targets) {
      const place = { title: slot.title, ...placeOf(layout) }
      const other = read.find(each => each.memory === place.memory && each.from < place.to && place.from < each.to)
      if (other !== undefined) throw failure('ERR_OVERLAP', `${place.title} would be written over bytes of ${other.title}`)
      read.push(place)
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
    if (this.targets.length > 0 || this.#hasShared()) await this.#checkAbilities()
    let found
    try {
      if (this.targets.length > 0) this.#shape()
      found = await this.#once()
    } catch (error) {
      found = await this.#again(error)
    }
    return this.#valuesOf(found)
  }

  /** Are there bytes that not every onnxruntime reads? */
  #hasShared () {
    for (const { layout } of this.operands) if (layout !== null && isShared(layout)) return true
    return false
  }

  async #checkAbilities () {
    const { failure } = instance()
    const { runtime, session } = this.method
    const { inPlace, writesShared } = runtime.abilities ?? await abilitiesOf(runtime, session)
    for (const { slot, layout } of this.targets) {
      if (!inPlace) throw failure('ERR_UNSUPPORTED', `${slot.title}: this onnxruntime writes results to memory of its own, not into a tensor; run without that output, and copyFrom the result`)
      if (!writesShared && isShared(layout)) throw failure('ERR_UNSUPPORTED', `${slot.title}: this onnxruntime cannot write to a SharedArrayBuffer (onnxruntime-node can in Node 22 and later)`)
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

  /** @returns {Promise<Record<string, any>>} onnxruntime's results */
  async #once () {
    const { method, targets } = this
    const feeds = this.#feeds()
    if (targets.length === 0) return await this.#ask(feeds, this.#wantsAll() ? undefined : this.#names(), undefined)
    /** @type {Record<string, any>} */
    const fetches = {}
    for (const i of this.wanted) fetches[method.outputs[i].name] = null
    for (const { slot, layout } of targets) fetches[slot.name] = fetchOf(layout, method.runtime.ort)
    return await this.#ask(feeds, fetches, this.isOpen ? QUIET : undefined)
  }

  #feeds () {
    const { inputs, runtime: { abilities } } = this.method
    /** @type {Record<string, any>} */
    const feeds = {}
    for (const [i, operand] of this.operands.entries()) feeds[inputs[i].name] = about(inputs[i], () => feedOf(operand, abilities))
    return feeds
  }

  /**
   * @param {Record<string, any>} feeds
   * @param {string[] | Record<string, any> | undefined} fetches
   * @param {{} | undefined} options
   * @returns {Promise<Record<string, any>>}
   */
  async #ask (feeds, fetches, options) {
    const { session } = this.method
    try {
      if (fetches === undefined) return await session.run(feeds)
      return await (options === undefined ? session.run(feeds, fetches) : session.run(feeds, fetches, options))
    } catch (error) {
      throw new Failed(error)
    }
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
      if (isSame(dims, target.layout.shape)) continue
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
    const { fromOrt } = instance()
    const values = new Array(this.method.outputs.length).fill(undefined)
    for (const i of this.wanted) {
      const slot = this.method.outputs[i]
      const theirs = found[slot.name]
      const target = this.targets.find(each => each.slot === slot)
      if (target !== undefined) {
        if (!isSame(theirs.dims, target.layout.shape)) throw misfit(target, theirs.dims)
        values[i] = target.tensor
        discard(theirs, target.layout.storage.buffer)
      } else {
        values[i] = theirs.type === 'string' ? nestedStrings(theirs.data, theirs.dims) : about(slot, () => fromOrt(theirs))
      }
    }
    return values
  }
}

/**
 * Gives a target another shape.
 *
 * @param {Target} target  held
 * @param {number[]} shape
 */
function fit (target, shape) {
  const { Tensor, hold, letGo } = instance()
  const { tensor, layout } = target
  if (isSame(shape, layout.shape)) return
  if (tensor.isDisposed) throw misfit(target, shape)
  const { storage } = layout
  letGo(storage, 1)
  try {
    if (storage.claims < 0 || (storage.extra !== null && storage.extra.busy > 0)) throw misfit(target, shape)
    tensor.resize(shape)
  } catch (error) {
    throw misfit(target, shape, error)
  } finally {
    target.layout = tensor.isDisposed ? layout : Tensor.layoutOf(tensor)
    hold(target.layout.storage, 1)
  }
}

/**
 * @param {Target} target
 * @param {readonly number[]} shape  that the run gives
 * @param {unknown} [cause]
 */
function misfit ({ slot, layout, tensor }, shape, cause) {
  const room = tensor.isDisposed ? 'it was disposed' : tensor.dynamism === 'static' ? 'it is static' : `there is room for ${tensor.capacity} elements`
  const error = instance().failure('ERR_SHAPE', `${slot.title} has shape ${shown(shape)} in this run; the tensor to write into has ${shown(layout.shape)}, and ${room}`)
  error.cause = cause
  return error
}

/**
 * @param {readonly number[]} a
 * @param {readonly number[]} b
 */
function isSame (a, b) {
  if (a.length !== b.length) return false
  for (let d = 0; d < a.length; d++) if (a[d] !== b[d]) return false
  return true
}

/** @param {Layout} layout */
function isShared ({ storage: { kind, buffer } }) {
  const { ffi: { backend }, isSharedArrayBuffer } = instance()
  return kind === 'wasm' ? backend.name === 'wasm-shared' : isSharedArrayBuffer(buffer)
}

/**
 * Which bytes: of which memory, from where to where.
 *
 * @param {Layout} layout  dense
 * @returns {{ memory: unknown, from: number, to: number }}
 */
function placeOf ({ storage, offset, size, dtype }) {
  const { ffi: { backend }, itemsizes } = instance()
  const itemsize = itemsizes[dtype]
  const outside = backend.isWasm && storage.kind !== 'wasm'
  if (!outside && size > 0) backend.promote(storage)
  const first = outside ? storage.byteOffset : size === 0 ? 0 : backend.addressOf(storage)
  const from = first + offset * itemsize
  return { memory: outside ? storage.buffer : null, from, to: from + size * itemsize }
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
  const { ffi: { backend }, asBits, dataOf, dtypes } = instance()
  if (abilities !== null && !abilities.readsShared && isShared(layout)) return stagedFeed(layout)
  if (backend.isWasm) return new LiveFeed(layout)
  return { type: dtypes[layout.dtype].name, dims: layout.shape.slice(), data: asBits(dataOf(layout)), location: 'cpu' }
}

/**
 * For an onnxruntime that reads no SharedArrayBuffer: a counted copy.
 *
 * @param {Layout} layout
 */
function stagedFeed (layout) {
  const { asBits, countStaged, dataOf, dtypes } = instance()
  const data = asBits(dataOf(layout)).slice()
  countStaged(data.byteLength)
  return { type: dtypes[layout.dtype].name, dims: layout.shape.slice(), data, location: 'cpu' }
}

/**
 * @param {Layout} layout
 * @param {any} ort
 * @returns {any} a tensor of onnxruntime's that it writes into
 */
function fetchOf (layout, ort) {
  const { ffi: { backend }, asBits, dataOf, dtypes } = instance()
  const data = asBits(dataOf(layout))
  const made = new ort.Tensor(dtypes[layout.dtype].name, data, layout.shape.slice())
  if (backend.isWasm || dtypes[layout.dtype].name === 'float16') Object.defineProperty(made, 'data', { get: () => asBits(dataOf(layout)) })
  return made
}

module.exports = { Run }
