'use strict'
// Inputs and outputs of a method: their names, dtypes and shapes, and checks of values against them. Every message names the input or
// output, what was expected and what was given.

const { instance } = require('./internals')
const { gpuOutputs } = require('./gpu-output')

/** @typedef {import('../tensor/tensor').Tensor} Tensor */
/** @typedef {import('./gpu-output').GpuOutput} GpuOutput */
/** @typedef {InstanceType<typeof import('../backend/calls').Layout>} Layout */

/**
 * Describes one input or output.
 *
 * @typedef {object} ValueInfo
 * @property {string} name
 * @property {string | null} dtype  'string' for strings; null: not a tensor, or unknown
 * @property {(number | string | null)[] | null} shape  extents: numbers, names, or null for open ones; null: unknown. [] means
 *   a single element or any shape: onnxruntime does not tell which
 */

/** @typedef {{ strings: string[], dims: number[] }} Strings */

/** A checked value of an input: a tensor's layout, strings, or an output on the GPU. @typedef {{ layout: Layout | null, strings: Strings | null, output: GpuOutput | null }} Operand */

/** One input or output of a method. */
class Slot {
  /**
   * @param {'input' | 'output'} kind
   * @param {number} index
   * @param {string} name
   * @param {any} declared  onnxruntime's metadata; undefined: none
   */
  constructor(kind, index, name, declared) {
    this.kind = kind
    this.index = index
    this.name = name
    const isTensor = declared !== undefined && declared.isTensor !== false
    /** @type {string | null} */
    this.dtype = isTensor && typeof declared.type === 'string' ? declared.type : null
    /** @type {(number | string | null)[] | null} */
    this.shape = isTensor && Array.isArray(declared.shape) ? declared.shape.map(extentOf) : null
    /** false: a list or a map, which onnxruntime's JavaScript API does not support */
    this.isTensor = declared === undefined || isTensor
    /** an output that is an input of the model itself: onnxruntime-node does not write it into a given tensor, without an error */
    this.isInput = false
  }

  /** for messages */
  get title() {
    return `${this.kind} '${this.name}' (${this.index})`
  }

  /** @returns {ValueInfo} a copy */
  get info() {
    const { name, dtype, shape } = this
    return { name, dtype, shape: shape === null ? null : shape.slice() }
  }
}

/**
 * @param {unknown} extent  from onnxruntime's metadata
 * @returns {number | string | null}
 */
function extentOf(extent) {
  if (typeof extent === 'string') return extent === '' ? null : extent
  return typeof extent === 'number' && extent >= 0 && extent < 0xffffffff ? extent : null // onnxruntime-web gives 2^32 - 1 for -1
}

/**
 * A method's inputs or outputs.
 *
 * @param {'input' | 'output'} kind
 * @param {readonly string[]} names
 * @param {readonly any[] | undefined} declared  metadata; undefined in older versions of onnxruntime
 */
function slotsOf(kind, names, declared) {
  return names.map((name, i) => {
    const metadata = declared?.find((one) => one.name === name)
    return new Slot(kind, i, name, metadata)
  })
}

/**
 * @param {Slot[]} slots
 * @param {unknown} key  a name, or an index
 * @param {'input' | 'output'} kind
 * @returns {Slot}
 */
function slotOf(slots, key, kind) {
  const { failure, show } = instance()
  if (typeof key === 'string') {
    const slot = slots.find(({ name }) => name === key)
    if (slot === undefined) {
      throw failure(
        'ERR_NOT_FOUND',
        `there is no ${kind} ${show(key)}; ${kind}s are ${namesOf(slots)}`,
      )
    }
    return slot
  }
  if (typeof key !== 'number') {
    throw failure('ERR_ARGUMENT', `the ${kind} is ${show(key)}; a name or an index was expected`)
  }
  const slot = slots[key]
  if (slot === undefined) {
    throw failure(
      'ERR_BOUNDS',
      `${kind} ${key} was asked for; there are ${slots.length}: ${namesOf(slots)}`,
    )
  }
  return slot
}

/** @param {Slot[]} slots */
const namesOf = (slots) =>
  slots.length === 0 ? 'none' : slots.map(({ name }) => `'${name}'`).join(', ')

/** @param {readonly unknown[] | null} shape */
const shapeText = (shape) =>
  shape === null ? 'any shape' : `[${shape.map((n) => n ?? '?').join(', ')}]`

/**
 * The same error with the input or output in its message.
 *
 * @param {Slot} slot
 * @param {any} error
 */
function errorAbout(slot, error) {
  if (typeof error?.code !== 'string') return error
  const made = instance().failure(error.code, `${slot.title}: ${error.message}`)
  return Object.assign(made, { cause: error })
}

/**
 * Calls fn; adds the input or output to the message of what it throws.
 *
 * @template R
 * @param {Slot} slot
 * @param {() => R} fn
 * @returns {R}
 */
function naming(slot, fn) {
  try {
    return fn()
  } catch (error) {
    throw errorAbout(slot, error)
  }
}

/**
 * @param {Slot} slot
 * @param {Layout} layout
 */
function checkDtype(slot, layout) {
  const { dtype } = slot
  const { failure, dtypes, TYPES } = instance()
  const { name } = dtypes[layout.dtype]
  if (dtype !== null && name !== dtype) {
    throw failure('ERR_DTYPE', `${slot.title} is of ${dtype}; a tensor of ${name} was given`)
  }
  if (!TYPES.has(name)) {
    throw failure('ERR_DTYPE', `${slot.title}: onnxruntime has no type for ${name}`)
  }
}

/**
 * @param {Slot} slot
 * @param {Layout} layout
 */
function checkDense(slot, layout) {
  const { failure, ffi } = instance()
  if (layout.size > 0 && !ffi.isContiguous(layout)) {
    throw failure(
      'ERR_SHAPE',
      `${slot.title}: a row-major contiguous tensor was expected; one of shape ${shapeText(layout.shape)} and strides ${shapeText(layout.strides)} was given, contiguous() copies`,
    )
  }
}

/**
 * @param {Slot} slot
 * @param {readonly number[]} shape
 */
function checkShape(slot, shape) {
  const declared = slot.shape
  if (declared === null || declared.length === 0) return // [] is declared for a single element and for any shape; onnxruntime checks those
  if (
    shape.length === declared.length &&
    shape.every((n, d) => typeof declared[d] !== 'number' || declared[d] === n)
  ) {
    return
  }
  throw instance().failure(
    'ERR_SHAPE',
    `${slot.title} has shape ${shapeText(declared)}; one of shape ${shapeText(shape)} was given`,
  )
}

/** @param {Slot} slot */
function checkKind(slot) {
  if (!slot.isTensor) {
    throw instance().failure(
      'ERR_UNSUPPORTED',
      `${slot.title} is a list or a map, which onnxruntime does not have in JavaScript`,
    )
  }
}

// ---- Inputs ----

/** Storages of values that were made of numbers and lists: nobody but the module has them, so nothing moves or takes away their bytes. @type {WeakSet<object>} */
const unseen = new WeakSet()

/**
 * Reads a value for an input, once. This may run the caller's code, which may change values that were read before.
 *
 * @param {Slot} slot
 * @param {unknown} value
 * @returns {Tensor | Strings | GpuOutput} a tensor as it is, or one of the input's dtype
 */
function readOf(slot, value) {
  checkKind(slot)
  if (instance().Tensor.isTensor(value) || gpuOutputs.isOne(value)) return value
  return stringsOf(slot, value) ?? tensorOfFeed(slot, value)
}

/**
 * Checks a value against its input. Runs no code of the caller's.
 *
 * @param {Slot} slot
 * @param {Tensor | Strings | GpuOutput} value  from readOf
 * @returns {Operand}
 */
function operandOf(slot, value) {
  const { Tensor, dtypes } = instance()
  if (gpuOutputs.isOne(value)) {
    const { type, dims } = naming(slot, () => gpuOutputs.living(value))
    if (slot.dtype !== null && type !== slot.dtype) {
      throw instance().failure(
        'ERR_DTYPE',
        `${slot.title} is of ${slot.dtype}; an output of ${type} was given`,
      )
    }
    checkShape(slot, dims)
    return { layout: null, strings: null, output: value }
  }
  if (!Tensor.isTensor(value)) {
    return { layout: null, strings: /** @type {Strings} */ (value), output: null }
  }
  const layout = naming(slot, () => Tensor.attachedOf(/** @type {Tensor} */ (value)))
  if (slot.dtype === 'string') {
    throw instance().failure(
      'ERR_DTYPE',
      `${slot.title} is of strings; a tensor of ${dtypes[layout.dtype].name} was given`,
    )
  }
  checkDtype(slot, layout)
  checkShape(slot, layout.shape)
  checkDense(slot, layout)
  return { layout, strings: null, output: null }
}

/**
 * The strings of a value; null: it has none.
 *
 * @param {Slot} slot
 * @param {any} value  a string, nested lists of strings, or onnxruntime's tensor of strings
 * @returns {Strings | null}
 */
function stringsOf(slot, value) {
  const { title, dtype, shape } = slot
  const isTheirs = isOrt(value) && value.type === 'string'
  const found = naming(slot, () =>
    isTheirs ? theirStrings(value) : flatStrings(value, dtype === 'string'),
  )
  if (found === null) return null
  const { failure, show } = instance()
  if (dtype !== null && dtype !== 'string') {
    throw failure(
      'ERR_DTYPE',
      `${title} is of ${dtype}; ${typeof value === 'string' ? show(value) : 'strings'} was given`,
    )
  }
  if (!isTheirs) found.dims = padded(found.dims, shape)
  checkShape(slot, found.dims)
  return found
}

/**
 * @param {{ data: unknown, dims: number[] }} value  onnxruntime's
 * @returns {Strings}
 */
function theirStrings({ data, dims }) {
  const { failure, show, shapeOf, valuesOfIterable } = instance()
  if (!Array.isArray(data)) {
    throw failure('ERR_ARGUMENT', `its data is ${show(data)}; an array of strings was expected`)
  }
  const strings = valuesOfIterable('its data', data, (each) => {
    if (typeof each === 'string') return each
    throw failure('ERR_ARGUMENT', `its data has ${show(each)}; a string was expected`)
  })
  return { strings, dims: shapeOf(dims, 'dims') }
}

/**
 * @param {unknown} value
 * @param {boolean} canBeEmpty  takes an empty list for a list of strings
 * @returns {Strings | null} null: it is neither a string nor a list that begins with one
 */
function flatStrings(value, canBeEmpty) {
  let first = value
  for (let depth = 0; Array.isArray(first) && depth < 64; depth++) first = first[0]
  const isEmpty = canBeEmpty && first === undefined && Array.isArray(value)
  if (typeof first !== 'string' && !isEmpty) return null
  const { failure, show, valuesOfIterable } = instance()
  /** @type {string[]} */
  const strings = []
  /** @type {number[]} */
  const dims = []
  /**
   * @param {unknown} each
   * @param {number} depth
   */
  const walk = (each, depth) => {
    if (!Array.isArray(each)) {
      if (typeof each !== 'string') {
        throw failure('ERR_ARGUMENT', `the list has ${show(each)} among strings`)
      }
      if (depth !== dims.length) throw failure('ERR_SHAPE', 'the list of strings is ragged')
      strings.push(each)
      return
    }
    if (depth === dims.length && strings.length === 0) dims.push(each.length)
    if (dims[depth] !== each.length) throw failure('ERR_SHAPE', 'the list of strings is ragged')
    valuesOfIterable('the list of strings', each, (item) => walk(item, depth + 1))
  }
  walk(value, 0)
  return { strings, dims }
}

/**
 * Is it onnxruntime's tensor? Decided by its fields, because there may be several copies of its class.
 *
 * @param {any} value
 */
function isOrt(value) {
  return (
    value !== null &&
    typeof value === 'object' &&
    typeof value.type === 'string' &&
    typeof value.location === 'string' &&
    Array.isArray(value.dims)
  )
}

/**
 * A tensor of numbers, booleans, lists of them, a typed array or onnxruntime's tensor.
 *
 * @param {Slot} slot
 * @param {any} value
 * @returns {Tensor}
 */
function tensorOfFeed(slot, value) {
  const { failure, show, tensor, fromBits, fromBlob, fromOrt, dtypeOfArray } = instance()
  const { title, dtype, shape } = slot
  const isObject = value !== null && typeof value === 'object'
  if (!isObject && !['number', 'bigint', 'boolean'].includes(typeof value)) {
    throw failure(
      'ERR_ARGUMENT',
      `${title} is ${show(value)}; a tensor, number, string, boolean or a list of them was expected`,
    )
  }
  if (dtype === 'string') {
    throw failure('ERR_DTYPE', `${title} is of strings; ${show(value)} was given`)
  }
  return naming(slot, () => {
    if (isOrt(value)) return fromOrt(value)
    const type = dtypeOfArray(value)
    if (type !== undefined) {
      // half floats come as Uint16Array, booleans as Uint8Array
      const isBits =
        (dtype === 'bool' && type === 'uint8') || (dtype === 'float16' && type === 'uint16')
      const name = /** @type {any} */ (isBits ? dtype : type)
      return fromBlob(fromBits(value, name), padded([value.length], shape), name)
    }
    const made = tensor(value, /** @type {any} */ (dtype === null ? undefined : { dtype }))
    unseen.add(instance().Tensor.layoutOf(made).storage)
    const dims = padded([...made.shape], shape)
    if (dims.length === made.ndim) return made
    const view = made.view(dims)
    made.dispose()
    return view
  })
}

/**
 * A shape with leading axes of one element, up to the number of declared axes.
 *
 * @param {number[]} dims
 * @param {readonly unknown[] | null} declared
 */
function padded(dims, declared) {
  const missing = (declared?.length ?? 0) - dims.length
  return missing > 0 ? [...new Array(missing).fill(1), ...dims] : dims
}

// ---- Outputs ----

/**
 * Checks a tensor that an output shall be written into, as far as possible before the run.
 *
 * @param {Slot} slot
 * @param {unknown} t
 * @returns {Layout}
 */
function targetOf(slot, t) {
  const { Tensor, failure, show, ffi } = instance()
  const { shape: declared } = slot
  checkKind(slot)
  if (!Tensor.isTensor(t)) {
    throw failure(
      'ERR_ARGUMENT',
      `${slot.title}: a tensor to be written into was expected; ${show(t)} was given`,
    )
  }
  const layout = naming(slot, () => Tensor.writableOf(t))
  if (slot.dtype === 'string') {
    throw failure('ERR_DTYPE', `${slot.title} is of strings, which no tensor holds`)
  }
  checkDtype(slot, layout)
  checkDense(slot, layout)
  const rank = declared?.length ?? 0
  const canResize = (layout.flags & ffi.STATIC) === 0 && layout.shape.length === rank
  if (rank > 0 && !canResize) checkShape(slot, layout.shape)
  return layout
}

/**
 * The values of named extents, from the inputs of a run.
 *
 * @param {Slot[]} slots
 * @param {(readonly number[])[]} shapes  of the values
 * @returns {Map<string, number>}
 */
function namedExtents(slots, shapes) {
  const named = new Map()
  for (const [i, { shape }] of slots.entries()) {
    if (shape === null || shape.length !== shapes[i].length) continue
    for (const [d, n] of shape.entries()) if (typeof n === 'string') named.set(n, shapes[i][d])
  }
  return named
}

/**
 * An output's shape, if it follows from the inputs' named extents; null: unknown before the run.
 *
 * @param {Slot} slot
 * @param {Map<string, number>} named
 * @returns {number[] | null}
 */
function expectedShape({ shape }, named) {
  if (shape === null || shape.length === 0) return null
  const dims = shape.map((n) => (typeof n === 'string' ? named.get(n) : n))
  return dims.every((n) => typeof n === 'number') ? /** @type {number[]} */ (dims) : null
}

/**
 * Strings as nested lists of a shape.
 *
 * @param {readonly string[]} strings
 * @param {readonly number[]} dims
 * @returns {any} a string without axes
 */
function nestedStrings(strings, dims) {
  const { checkHeap } = instance()
  const lists = dims.reduce(([sum, n], extent) => [sum + n, n * extent], [0, 1])[0]
  const LIST_BYTES = 192 // of heap, for one list that was filled by push
  checkHeap(
    lists * LIST_BYTES + strings.length * 16,
    () => `${lists} lists of ${strings.length} strings`,
  )
  let next = 0
  /** @type {(d: number) => any} */
  const nest = (d) => {
    if (d === dims.length) return strings[next++]
    const list = []
    for (let i = 0; i < dims[d]; i++) list.push(nest(d + 1))
    return list
  }
  return nest(0)
}

module.exports = {
  Slot,
  unseen,
  slotsOf,
  slotOf,
  namesOf,
  shapeText,
  errorAbout,
  naming,
  readOf,
  operandOf,
  targetOf,
  namedExtents,
  expectedShape,
  nestedStrings,
}
