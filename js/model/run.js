'use strict'
// One run of a method. Arguments are checked and pinned when `run` is called; the session reads and writes them when its turn comes.

const { rootless } = require('../base/records')
const { instance } = require('./internals')
const { naming, nestedStrings, operandOf, readOf, targetOf } = require('./signature')
const { abilitiesOf, messageOf, runInTurn, usesGpu } = require('./sessions')
const { discard } = require('./discard')
const { Target, resizeTarget, wrongShape, namedExtents, expectedShape } = require('./targets')
const { gpuOutputs } = require('./gpu-output')

/** @typedef {import('../tensor/tensor').Tensor} Tensor */
/** @typedef {import('./gpu-output').GpuOutput} GpuOutput */
/** @typedef {InstanceType<typeof import('../backend/calls').Layout>} Layout */
/** @typedef {import('./signature').Slot} Slot */
/** @typedef {import('./signature').Operand} Operand */

/**
 * A method: its session, inputs and outputs.
 *
 * @typedef {object} Method
 * @property {string} name
 * @property {any} session
 * @property {import('./sessions').Runtime} runtime
 * @property {{ perform: (run: Run, signal: import('../base/signals').Signal | undefined, isAlone: boolean) => Promise<any[]> } | null} library  what runs it by the C library; null: onnxruntime's JavaScript does
 * @property {import('./sessions').Abilities | null} abilities  of the session; null: not tried yet
 * @property {import('./gpu-output').SessionHold} hold  keeps the session open for outputs on the GPU
 * @property {Slot[]} inputs
 * @property {Slot[]} outputs
 * @property {number[]} all  indices of the outputs that are tensors
 * @property {(Tensor | import('./signature').Strings | GpuOutput | undefined)[]} given  setInput's values by index; of tensors, the module's own views
 * @property {(Tensor | undefined)[]} targets  setOutput's tensors by index
 * @property {any[] | null} results  of the last successful run, by index; null: none yet
 */

/** An input whose `data` is made when onnxruntime reads it, because WebAssembly's memory may move before. */
class LiveFeed {
  #layout
  /** @param {Layout} layout */
  constructor(layout) {
    this.#layout = layout
    this.type = instance().dtypes[layout.dtype].name
    this.dims = layout.shape.slice()
    this.location = 'cpu'
  }

  get data() {
    return typedArrayOf(this.#layout)
  }
}

rootless(LiveFeed)

/** Wraps what onnxruntime threw, to tell it from samebytes' own errors. */
class SessionError {
  /** @param {unknown} cause */
  constructor(cause) {
    this.cause = cause
  }
}

/** options for runs that may fail because of an output's shape, and are then repeated: no logged errors */
const QUIET = { logSeverityLevel: 4 }

/**
 * @param {Map<string, string> | null} pairs  inputs that may have an output's bytes, by the output; null: inPlace was not asked for
 * @returns {string} what would be allowed
 */
function overlapHint(pairs) {
  if (pairs === null) return '; inPlace: true allows it where the graph says that it is safe'
  const list = [...pairs].map(([to, from]) => `'${to}' over '${from}'`).join(', ')
  return `; the graph says that it is safe for ${list || 'no output'}`
}

class Run {
  /**
   * Reads and checks the arguments; pins nothing yet.
   *
   * @param {Method} method
   * @param {unknown[]} values  by input's index
   * @param {(Tensor | undefined)[]} targets  by output's index
   * @param {number[]} wanted  outputs' indices
   * @param {Map<string, string> | null} pairs  inputs that may have an output's bytes, by the output
   */
  constructor(method, values, targets, wanted, pairs) {
    const { failure } = instance()
    this.method = method
    this.wanted = wanted
    /** a target's shape in this run is unknown before it */
    this.isOpen = false
    /** an output is over an input's bytes: the run cannot be repeated */
    this.isInPlace = false
    const { inputs, outputs } = method
    const read = inputs.map((input, i) =>
      values[i] === undefined ? undefined : readOf(input, values[i]),
    )
    // No code of the caller's runs from here on.
    this.operands = inputs.map((input, i) => {
      const value = read[i] ?? method.given[i]
      if (value === undefined) {
        throw failure(
          'ERR_ARGUMENT',
          `${input.title} has no value: neither the call nor setInput gave one`,
        )
      }
      const operand = operandOf(input, value)
      if (operand.output === null || usesGpu(method.runtime.options)) return operand
      throw failure(
        'ERR_DEVICE',
        `${input.title}: the output is on the GPU, which this module does not use (executionProviders: ['webgpu']); await toAsync('cpu') brings it to the CPU`,
      )
    })
    /** @type {Target[]} */
    this.targets = []
    for (const k of wanted) {
      const slot = outputs[k]
      const tensor = targets[slot.index]
      if (tensor !== undefined) this.targets.push(new Target(slot, tensor, targetOf(slot, tensor)))
    }
    for (const [i, { layout }] of this.operands.entries()) {
      if ((layout?.storage.optional?.written ?? 0) > 0) {
        throw failure(
          'ERR_BUSY',
          `${inputs[i].title}: the tensor is being written to by a pending copyFromAsync or by a model's run; await it first`,
        )
      }
    }
    const others = this.operands.map(({ layout }, i) => ({ layout, slot: inputs[i] }))
    for (const { slot, layout } of this.targets) {
      const range = new ByteRange(layout)
      for (const other of others) {
        if (other.layout === null || !range.overlaps(new ByteRange(other.layout))) continue
        if (pairs?.get(slot.name) === other.slot.name && isSameView(layout, other.layout)) {
          this.isInPlace = true
          continue
        }
        const hint = isSameView(layout, other.layout) ? overlapHint(pairs) : ''
        throw failure(
          'ERR_OVERLAP',
          `${slot.title} would be written over bytes of ${other.slot.title}${hint}`,
        )
      }
      others.push({ layout, slot })
    }
  }

  /** Keeps the bytes of inputs and outputs, and marks them busy, until unpin. */
  pin() {
    const { beginUse, stats } = instance()
    for (const { layout, output } of this.operands) {
      if (layout !== null) beginUse(layout.storage, 0)
      if (output !== null) gpuOutputs.pin(output)
    }
    for (const { layout } of this.targets) beginUse(layout.storage, 1)
    stats.inFlight++
  }

  unpin() {
    const { endUse, stats } = instance()
    stats.inFlight--
    for (const { layout } of this.targets) endUse(layout.storage, 1)
    for (const { layout, output } of this.operands) {
      if (layout !== null) endUse(layout.storage, 0)
      if (output !== null) gpuOutputs.unpin(output)
    }
  }

  /**
   * Runs the session.
   *
   * @param {import('../base/signals').Signal | undefined} signal  asked once more when the session has run
   * @param {boolean} isAlone  no earlier call waits
   * @returns {Promise<any[]>} the wanted results, by output's index
   */
  perform(signal, isAlone) {
    const { library } = this.method
    return library === null ? this.#perform(signal) : library.perform(this, signal, isAlone)
  }

  /** @param {import('../base/signals').Signal | undefined} signal @returns {Promise<any[]>} */
  async #perform(signal) {
    const { method, operands, targets } = this
    // Not every onnxruntime reads shared memory, or writes into targets: results are copied into these then.
    if (targets.length > 0 || operands.some(({ layout }) => layout !== null && isShared(layout))) {
      method.abilities ??= await abilitiesOf(method.runtime, method.session)
      const { inPlace, writesShared } = method.abilities
      for (const target of targets) {
        target.isCopied ||= !inPlace || (!writesShared && isShared(target.layout))
      }
    }
    let found
    try {
      if (targets.length > 0) this.#resizeTargets()
      found = await this.#runOnce()
    } catch (error) {
      found = await this.#retry(error)
    }
    try {
      for (const { slot, isCopied } of targets) {
        if (!isCopied || !isOnGpu(found[slot.name])) continue
        try {
          await found[slot.name].getData(true) // to the CPU, where it is copied
        } catch (cause) {
          throw this.failed(cause)
        }
      }
      const values = this.#valuesOf(found)
      this.#checkIntact()
      if (signal !== undefined) instance().checkSignal(signal)
      this.#wrapOnGpu(found, values)
      return values
    } catch (error) {
      disposeOnGpu(found) // nobody gets them
      throw error
    }
  }

  /** Makes outputs of results that stay on the GPU. @param {Record<string, any>} found @param {any[]} values  by output's index */
  #wrapOnGpu(found, values) {
    const { outputs, runtime, hold } = this.method
    for (const k of this.wanted) {
      const { name, index } = outputs[k]
      const theirs = found[name]
      if (values[index] !== theirs || !isOnGpu(theirs)) continue
      const { gpuBuffer } = theirs
      const source = this.operands.find(
        ({ output }) => output !== null && gpuOutputs.pinned(output).gpuBuffer === gpuBuffer,
      )
      values[index] = gpuOutputs.of(theirs, runtime.ort, hold, source?.output ?? null)
    }
  }

  /** Names the input or output in what a check of its storage throws. @param {(storage: Layout['storage']) => void} check */
  checkStorages(check) {
    for (const [i, { layout }] of this.operands.entries()) {
      if (layout !== null) naming(this.method.inputs[i], () => check(layout.storage))
    }
    for (const { slot, layout } of this.targets) naming(slot, () => check(layout.storage))
  }

  /** Checks that mapped files that onnxruntime read or wrote have not got shorter meanwhile. */
  #checkIntact() {
    this.checkStorages(instance().ffi.checkIntact)
  }

  /** Resizes targets to their shapes in this run, as far as those follow from the inputs. */
  #resizeTargets() {
    const { inputs } = this.method
    const shapes = this.operands.map(
      ({ layout, strings, output }) =>
        layout?.shape ??
        (output === null ? /** @type {any} */ (strings) : gpuOutputs.pinned(output)).dims,
    )
    const named = namedExtents(inputs, shapes)
    for (const target of this.targets) {
      const shape = expectedShape(target.slot, named)
      if (shape !== null) resizeTarget(target, shape)
      else if (!target.isCopied) this.isOpen = true
    }
  }

  /**
   * Runs the session once. Errors of onnxruntime come as SessionError.
   *
   * @returns {Promise<Record<string, any>>} onnxruntime's results
   */
  #runOnce() {
    const { method, targets, wanted } = this
    const feeds = this.#feeds()
    const names = wanted.map((i) => method.outputs[i].name)
    if (targets.every(({ isCopied }) => isCopied)) {
      return names.length === method.outputs.length
        ? this.#runSession(feeds)
        : this.#runSession(feeds, names)
    }
    /** @type {Record<string, any>} */
    const fetches = {}
    if (targets.length < names.length) for (const name of names) fetches[name] = null
    for (const { slot, layout, isCopied } of targets) {
      fetches[slot.name] = isCopied ? null : naming(slot, () => fetchOf(layout, method.runtime.ort))
    }
    return this.isOpen ? this.#runSession(feeds, fetches, QUIET) : this.#runSession(feeds, fetches)
  }

  /** The inputs as onnxruntime takes them. */
  #feeds() {
    const { inputs, abilities, runtime } = this.method
    const isProxied = instance().isProxied(runtime.ort)
    /** @type {Record<string, any>} */
    const feeds = {}
    for (const [i, input] of inputs.entries()) {
      feeds[input.name] = naming(input, () => feedOf(this.operands[i], abilities, isProxied))
    }
    return feeds
  }

  /**
   * @param {any[]} args  feeds, and what else onnxruntime's run takes
   * @returns {Promise<Record<string, any>>}
   */
  #runSession(...args) {
    const { session, runtime } = this.method
    return runInTurn(session, runtime, () => session.run(...args)).catch((error) => {
      throw new SessionError(error)
    })
  }

  /**
   * Handles a failed run. If targets have other shapes than this run's outputs, resizes them and runs again.
   *
   * @param {unknown} error
   * @returns {Promise<Record<string, any>>}
   */
  async #retry(error) {
    if (!(error instanceof SessionError)) throw error
    this.checkStorages(instance().ffi.checkAttached) // a buffer may have been transferred while the call waited
    this.#checkIntact()
    try {
      if (this.targets.some(({ isCopied }) => !isCopied) && (await this.#learnShapes())) {
        return await this.#runOnce()
      }
    } catch (later) {
      if (!(later instanceof SessionError)) throw later
      error = later
    }
    throw this.failed(/** @type {SessionError} */ (error).cause)
  }

  /** @param {unknown} cause  onnxruntime's error */
  failed(cause) {
    const text = `method '${this.method.name}' failed: ${messageOf(cause)}`
    return Object.assign(instance().failure('ERR_MODEL', text), { cause })
  }

  /**
   * Runs without the caller's targets to learn the outputs' shapes, and resizes the targets.
   *
   * @returns {Promise<boolean>} was a target resized?
   */
  async #learnShapes() {
    const { targets } = this
    const names = targets.map(({ slot }) => slot.name)
    const found = await this.#runSession(this.#feeds(), names)
    let changed = false
    for (const target of targets) {
      const { dims } = found[target.slot.name]
      if (instance().isSameShape(dims, target.layout.shape)) continue
      changed = true
      resizeTarget(target, [...dims])
    }
    disposeOnGpu(found)
    return changed
  }

  /**
   * @param {Record<string, any>} found
   * @returns {any[]} by output's index; of what is on the GPU, onnxruntime's tensors
   */
  #valuesOf(found) {
    const { outputs } = this.method
    /** @type {any[]} */
    const values = outputs.map(() => undefined)
    for (const k of this.wanted) {
      const slot = outputs[k]
      const theirs = found[slot.name]
      const target = this.targets.find((each) => each.slot === slot)
      values[slot.index] = target === undefined ? valueOf(slot, theirs) : written(target, theirs)
    }
    return values
  }
}

rootless(Run)

/**
 * A result as a tensor or strings; on the GPU, onnxruntime's tensor.
 *
 * @param {Slot} slot
 * @param {any} theirs  onnxruntime's tensor
 * @returns {any}
 */
function valueOf(slot, theirs) {
  if (isOnGpu(theirs)) return theirs
  if (theirs.type === 'string') return nestedStrings(theirs.data, theirs.dims)
  return naming(slot, () => instance().fromOrt(theirs))
}

/**
 * The tensor of a target. onnxruntime has written it, unless the target is an input of the model itself, or one that this onnxruntime cannot
 * write: the result is copied into these.
 *
 * @param {Target} target
 * @param {any} theirs  onnxruntime's own copy of the output
 */
function written(target, theirs) {
  const { asBits, countCopy, isSameShape } = instance()
  const { dims } = theirs
  if (target.isCopied) resizeTarget(target, [...dims])
  else if (!isSameShape(dims, target.layout.shape)) throw wrongShape(target, dims)
  const { slot, layout, tensor } = target
  if (target.isCopied) {
    const { data } = theirs
    if (layout.size > 0) naming(slot, () => typedArrayOf(layout)).set(asBits(data))
    countCopy('run', data.byteLength)
  }
  if (!slot.isInput) discard(theirs, layout.storage.buffer) // an input's bytes may be the caller's
  return tensor
}

/** @param {any} theirs  onnxruntime's tensor */
const isOnGpu = (theirs) => theirs?.location === 'gpu-buffer'

/** @param {Record<string, any>} found  onnxruntime's tensors by name */
function disposeOnGpu(found) {
  for (const theirs of Object.values(found)) if (isOnGpu(theirs)) theirs.dispose()
}

/** @param {Layout} layout */
function isShared({ storage: { kind, buffer } }) {
  const { ffi, isSharedArrayBuffer } = instance()
  if (kind === 'wasm') return ffi.backend.name === 'wasm-shared'
  return !(buffer === null || buffer instanceof ArrayBuffer) && isSharedArrayBuffer(buffer) // isSharedArrayBuffer is slow, so other buffers are sorted out first
}

/** @param {Layout} a @param {Layout} b @returns {boolean} of the same elements */
const isSameView = (a, b) =>
  a.storage === b.storage &&
  a.offset === b.offset &&
  a.dtype === b.dtype &&
  instance().isSameShape(a.shape, b.shape)

/** The bytes of a contiguous layout. */
class ByteRange {
  /** @param {Layout} layout */
  constructor({ storage, offset, size, dtype }) {
    const { ffi, itemsizes } = instance()
    const { backend } = ffi
    const itemsize = itemsizes[dtype]
    const isOutside = backend.isWasm && storage.kind !== 'wasm'
    if (!isOutside && size > 0) backend.promote(storage)
    const first = isOutside ? storage.byteOffset : size === 0 ? 0 : backend.addressOf(storage)
    this.memory = isOutside ? storage.buffer : null
    this.from = first + offset * itemsize
    this.to = this.from + size * itemsize
  }

  /** @param {ByteRange} other */
  overlaps({ memory, from, to }) {
    return memory === this.memory && from < this.to && this.from < to
  }
}

rootless(ByteRange)

/**
 * The elements as a typed array, remembered as long as it is valid.
 *
 * @param {Layout} layout
 * @returns {any}
 */
function typedArrayOf(layout) {
  const { asBits, dataOf, dtypes } = instance()
  const { data } = layout
  const array = data !== null && data.length > 0 ? data : dataOf(layout)
  return dtypes[layout.dtype].name === 'float16' ? asBits(array) : array
}

/**
 * @param {Operand} operand
 * @param {import('./sessions').Abilities | null} abilities
 * @param {boolean} isProxied  onnxruntime would transfer the bytes away
 * @returns {any} an input as a session takes it
 */
function feedOf({ layout, strings, output }, abilities, isProxied) {
  if (output !== null) return gpuOutputs.pinned(output)
  if (layout === null) {
    const { strings: data, dims } = /** @type {import('./signature').Strings} */ (strings)
    return { type: 'string', dims, data, location: 'cpu' }
  }
  const { ffi, countStaged, dtypes } = instance()
  const isCopied = isProxied || (abilities !== null && !abilities.readsShared && isShared(layout)) // of inputs that onnxruntime can't read, or takes away
  if (ffi.backend.isWasm && !isCopied) return new LiveFeed(layout)
  const data = isCopied ? typedArrayOf(layout).slice() : typedArrayOf(layout)
  if (isCopied) countStaged(data.byteLength)
  return { type: dtypes[layout.dtype].name, dims: layout.shape.slice(), data, location: 'cpu' }
}

/**
 * @param {Layout} layout
 * @param {any} ort
 * @returns {any} onnxruntime's tensor over the layout's bytes, to write into
 */
function fetchOf(layout, ort) {
  const { ffi, dtypes } = instance()
  const { name } = dtypes[layout.dtype]
  const made = new ort.Tensor(name, typedArrayOf(layout), layout.shape.slice())
  if (ffi.backend.isWasm || name === 'float16') {
    Object.defineProperty(made, 'data', { get: () => typedArrayOf(layout) })
  }
  return made
}

module.exports = { Run }
