'use strict'
// Reads and writes elements as JavaScript's values: single ones, nested arrays, lists of numbers.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, integer } = require('../base/validate')
const { countStaged } = require('../backend/storage')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { MOST_VALUES, listOf } = require('./values')
const { dtypeOfArray, partsOfLive, lengthOf } = require('../base/buffers')
const { tensors } = require('../base/tensors')
const { denseLayout, layoutOver, withTemporary } = require('./layouts')
const { checkHeap, LIST, ENTRY, NUMBER, BIGINT, PAIR, TEXT } = require('../runtime/heap')

const { backend, Layout } = ffi

/** @typedef {import('../backend/dtypes').Dtype} Dtype */

const FLOAT32 = dtypeOf('float32')
const FLOAT64 = dtypeOf('float64')
const MOST_PREALLOCATED = 2 ** 25 // entries; `new Array(n)` of more has dictionary elements in V8

// ---- Single elements ----

/**
 * Is it a short float that no typed array of this runtime reads?
 *
 * @param {Dtype} dtype
 */
function needsDecoding(dtype) {
  return (
    dtype.kind === 'FLOATING' &&
    dtype.itemsize < 4 &&
    (dtype.name !== 'float16' || dtype.Type === Uint16Array)
  )
}

/**
 * The values of all bit patterns of a short float, which C casts once.
 *
 * @param {Dtype} dtype
 * @returns {Float32Array} indexed by the bits
 */
function decodingTable(dtype) {
  const n = 2 ** (8 * dtype.itemsize)
  return withTemporary(denseLayout(dtype.index, [n]), (bits) =>
    withTemporary(denseLayout(FLOAT32.index, [n]), (floats) => {
      const from = backend.window(bits.storage, dtype.index, dtype.Type, ffi.check)
      const start = backend.windowOffset(bits.storage) / dtype.itemsize
      for (let i = 0; i < n; i++) from[start + i] = i
      ffi.copy(floats, bits, 0)
      const { window, first } = windowOf(floats)
      return window.slice(first, first + n)
    }),
  )
}

/**
 * A typed array over a storage, for load and store. A decoding table is made before it, because that may grow memory.
 *
 * @param {import('../backend/storage').Storage} storage
 * @param {number} dtype
 * @returns {any}
 */
function windowFor(storage, dtype) {
  const codec = codecs[dtype]
  if (codec >= FIRST_TABLE && decodingTables[codec] === undefined) {
    decodingTables[codec] = decodingTable(dtypes[dtype])
  }
  return backend.window(storage, dtype, dtypes[dtype].Type, ffi.check)
}

/**
 * A typed array over a layout's storage, and the index of the layout's first element in it.
 *
 * @param {InstanceType<typeof Layout>} layout
 * @returns {{ window: any, first: number }}
 */
function windowOf({ storage, dtype, offset }) {
  const window = windowFor(storage, dtype)
  return { window, first: backend.windowOffset(storage) / dtypes[dtype].itemsize + offset }
}

const CODECS = [
  'uint8',
  'int8',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'float32',
  'float64',
  'float16',
  'bool',
  'complex64',
  'complex128',
]
const FIRST_TABLE = CODECS.length

/** by dtype, the case of load and store: an index of CODECS; from FIRST_TABLE on, of decodingTables @type {number[]} */
const codecs = dtypes.map((dtype) =>
  needsDecoding(dtype) ? FIRST_TABLE + dtype.index : CODECS.indexOf(dtype.name),
)

/** values of short floats by their bits; made at first use @type {Float32Array[]} */
const decodingTables = []

/**
 * Element `at` of a window. One line per kind of typed array, so that each access site sees a single kind: V8's fast path
 * (5 instead of 12 ns).
 *
 * @param {any} window
 * @param {number} at
 * @param {number} codec
 * @returns {any}
 */
function load(window, at, codec) {
  switch (codec) {
    case 0:
      return window[at]
    case 1:
      return window[at]
    case 2:
      return window[at]
    case 3:
      return window[at]
    case 4:
      return window[at]
    case 5:
      return window[at]
    case 6:
      return window[at]
    case 7:
      return window[at]
    case 8:
      return window[at]
    case 9:
      return window[at]
    case 10:
      return window[at]
    case 11:
      return window[at] !== 0
    case 12:
      return [window[2 * at], window[2 * at + 1]]
    case 13:
      return [window[2 * at], window[2 * at + 1]]
    default:
      return decodingTables[codec][window[at]]
  }
}

/**
 * Writes an element where storing the value into a typed array is all that is needed.
 *
 * @param {any} window
 * @param {number} at
 * @param {number} codec
 * @param {any} value  as scalarFor gives it
 * @returns {boolean} false: C has to write or refuse it
 */
function store(window, at, codec, value) {
  switch (codec) {
    case 0:
      return isWhole(value, 0, 255) && stored((window[at] = value))
    case 1:
      return isWhole(value, -128, 127) && stored((window[at] = value))
    case 2:
      return isWhole(value, -32768, 32767) && stored((window[at] = value))
    case 3:
      return isWhole(value, 0, 65535) && stored((window[at] = value))
    case 4:
      return isWhole(value, -2147483648, 2147483647) && stored((window[at] = value))
    case 5:
      return isWhole(value, 0, 4294967295) && stored((window[at] = value))
    case 6:
      return (
        typeof value === 'bigint' &&
        BigInt.asIntN(64, value) === value &&
        stored((window[at] = value))
      )
    case 7:
      return (
        typeof value === 'bigint' &&
        BigInt.asUintN(64, value) === value &&
        stored((window[at] = value))
      )
    case 8:
      return (
        typeof value === 'number' &&
        (Number.isFinite(Math.fround(value)) || !Number.isFinite(value)) &&
        stored((window[at] = canonical(value)))
      )
    case 9:
      return typeof value === 'number' && stored((window[at] = canonical(value)))
    case 11:
      return typeof value === 'boolean' && stored((window[at] = value ? 1 : 0))
    default:
      return false
  }
}

/** @param {any} _  the value just stored */
const stored = (_) => true

/**
 * C stores one bit pattern for NaN; JavaScript's operations give several.
 *
 * @param {number} x
 */
const canonical = (x) => (Number.isNaN(x) ? NaN : x)

/**
 * @param {any} value
 * @param {number} low
 * @param {number} high
 */
function isWhole(value, low, high) {
  return typeof value === 'number' && value >= low && value <= high && Math.floor(value) === value
}

/**
 * One element.
 *
 * @param {InstanceType<typeof Layout>} layout
 * @param {number} position  elements from the storage's first byte
 * @returns {any}
 */
function read(layout, position) {
  const dtype = dtypes[layout.dtype]
  const { storage } = layout
  if (!backend.canView(storage, dtype.Type)) return readThroughCopy(layout, position)
  const window = windowFor(storage, layout.dtype)
  const value = load(
    window,
    backend.windowOffset(storage) / dtype.itemsize + position,
    codecs[layout.dtype],
  )
  ffi.checkIntact(storage)
  return value
}

/** by dtype, a layout of one element that others are copied to, to be read @type {InstanceType<typeof Layout>[]} */
const scratch = []

/**
 * @param {InstanceType<typeof Layout>} layout
 * @param {number} position
 */
function readThroughCopy(layout, position) {
  const { itemsize, index } = dtypes[layout.dtype]
  const copy = (scratch[index] ??= new Layout(ffi.allocate(itemsize), index, [], [], 0, 1, 0))
  ffi.copy(copy, new Layout(layout.storage, index, [], [], position, 1, 0), 0)
  countStaged(itemsize)
  return read(copy, 0)
}

/**
 * Writes one element; the value must fit the dtype.
 *
 * @param {InstanceType<typeof Layout>} layout  that may be written to
 * @param {number} position  elements from the storage's first byte
 * @param {boolean | number | bigint | [number, number]} value  as scalarFor gives it
 * @throws {TypeError} ERR_CAST
 */
function write(layout, position, value) {
  const dtype = dtypes[layout.dtype]
  const { storage } = layout
  if (backend.canView(storage, dtype.Type)) {
    const window = backend.window(storage, layout.dtype, dtype.Type, ffi.check)
    if (
      store(
        window,
        backend.windowOffset(storage) / dtype.itemsize + position,
        codecs[layout.dtype],
        value,
      )
    ) {
      ffi.checkIntact(storage)
      return
    }
  }
  ffi.fill(new Layout(storage, layout.dtype, [], [], position, 1, layout.flags), value)
}

// ---- Lists of elements ----

/**
 * Bytes of V8's heap that one value takes beside its array entry.
 *
 * @param {Dtype} dtype
 * @param {boolean} asText  64-bit integers as text
 */
function bytesOfValue({ kind, itemsize, name }, asText) {
  if (kind === 'COMPLEX') return PAIR
  if (kind === 'FLOATING' || name === 'uint32') return NUMBER
  return itemsize < 8 ? 0 : asText ? TEXT : BIGINT
}

/**
 * All elements as nested arrays.
 *
 * @param {InstanceType<typeof Layout>} layout
 * @param {boolean} [asText]  64-bit integers as text
 * @returns {any} a value for 0-d
 * @throws {RangeError} ERR_MEMORY more values and lists than the runtime's heap has room for
 */
function nested(layout, asText = false) {
  const { shape } = layout
  let nbytes = 0
  let entries = 1
  for (let i = 0; i < shape.length; i++) {
    const extent = shape[i]
    if (extent > MOST_VALUES) {
      throw failure(
        'ERR_MEMORY',
        `an array of ${extent} entries was asked for; ${MOST_VALUES} are possible: take a part, or data`,
      )
    }
    nbytes += entries * LIST
    entries *= extent
    nbytes += entries * (extent > MOST_PREALLOCATED ? 3 * ENTRY : ENTRY) // a growing array is copied
  }
  nbytes += entries * bytesOfValue(dtypes[layout.dtype], asText)
  checkHeap(
    nbytes,
    () =>
      `nested arrays of shape [${shape.join(', ')}] with ${entries} values; take a part, or data`,
  )
  if (layout.storage.released) throw failure('ERR_DISPOSED', 'the tensor was disposed') // asking for the heap's room runs code that a program may have replaced
  ffi.checkAttached(layout.storage)
  if (backend.canView(layout.storage, dtypes[layout.dtype].Type)) {
    const result = nest(layout, asText)
    ffi.checkIntact(layout.storage)
    return result
  }
  // The runtime makes no buffer over the memory.
  return withTemporary(denseLayout(layout.dtype, shape), (copy) => {
    ffi.copy(copy, layout, 0)
    countStaged(copy.nbytes)
    return nest(copy, asText)
  })
}

/**
 * @param {InstanceType<typeof Layout>} layout  readable by JavaScript
 * @param {boolean} asText
 * @returns {any}
 */
function nest(layout, asText) {
  const { shape, strides } = layout
  const elementText = (/** @type {any} */ value) =>
    asText && typeof value === 'bigint' ? String(value) : value
  if (shape.length === 0) return elementText(read(layout, layout.offset))
  const codec = codecs[layout.dtype]
  const { window, first } = windowOf(layout)
  const last = shape.length - 1
  /**
   * @param {number} d
   * @param {number} at
   * @returns {any[]}
   */
  function list(d, at) {
    const n = shape[d]
    const out = n <= MOST_PREALLOCATED ? new Array(n) : []
    for (let i = 0; i < n; i++, at += strides[d]) {
      out[i] = d < last ? list(d + 1, at) : elementText(load(window, at, codec))
    }
    return out
  }
  return list(0, first)
}

/**
 * Writes flattened lists into a layout, in logical order; each value must fit its dtype.
 *
 * @param {InstanceType<typeof Layout>} target
 * @param {ReturnType<typeof import('./values').flatten>['values']} values
 */
function writeValues(target, values) {
  const { array, dtype } = values.packed(dtypes[target.dtype])
  ffi.copyValues(target, layoutOver(array, dtypeOf(dtype).index, target.shape))
}

/**
 * Reads scale or bias: a number, or a list of numbers.
 *
 * @param {string} name
 * @param {unknown} value
 * @param {number} missing
 * @param {(name: string, n: number) => void} checkCount  of a list, before room is made for it
 * @returns {number | Float64Array} one number, or a copy of the list
 */
function factorOf(name, value, missing, checkCount) {
  if (value === undefined) return missing
  if (typeof value === 'number') return value
  const given = tensors.layoutOf(value)
  if (given !== null) {
    const { shape, size } = given
    if (shape.length > 1) {
      throw failure('ERR_SHAPE', `${name} has ${shape.length} axes; none or one was expected`)
    }
    if (shape.length === 1) checkCount(name, size)
    const copy = doublesFor(name, size)
    ffi.copy(layoutOver(copy, FLOAT64.index, shape), given, 1) // as 'same_kind' casts
    countStaged(8 * size)
    return shape.length === 0 ? copy[0] : copy
  }
  const list = listOf(name, value)
  if (list === null) {
    throw failure(
      'ERR_ARGUMENT',
      `${name} is ${show(value)}; a number, or a list or tensor of numbers was expected`,
    )
  }
  const n = lengthOfList(name, list)
  checkCount(name, n)
  const numbers = doublesFor(name, n)
  for (let i = 0; i < n; i++) {
    const x = list[i]
    if (typeof x !== 'number') {
      throw failure('ERR_ARGUMENT', `${name}[${i}] is ${show(x)}; a number was expected`)
    }
    numbers[i] = x
  }
  return numbers
}

/**
 * @param {number | Float64Array} factor  as factorOf gives it
 * @returns {InstanceType<typeof Layout>} for one call; without axes for one number
 */
function layoutOfFactor(factor) {
  return typeof factor === 'number'
    ? layoutOver(Float64Array.of(factor), FLOAT64.index, [])
    : layoutOver(factor, FLOAT64.index, [lengthOf(factor)])
}

/**
 * @param {string} name
 * @param {ArrayLike<unknown>} list  as listOf gives it
 * @returns {number} of entries; a Proxy's length may be anything
 */
const lengthOfList = (name, list) =>
  dtypeOfArray(list) === undefined ? list.length : partsOfLive(list, name).length

/**
 * @param {string} name  of the list, for errors
 * @param {number} n  of entries; a Proxy's length may be anything
 * @param {number} [most]  entries
 * @returns {Float64Array}
 * @throws {RangeError} ERR_MEMORY
 */
function doublesFor(name, n, most = MOST_VALUES) {
  if (!(Number.isInteger(n) && n >= 0 && n <= most)) {
    throw failure('ERR_MEMORY', `${name} has ${show(n)} entries; ${most} are possible`)
  }
  try {
    return new Float64Array(n)
  } catch {
    throw failure('ERR_MEMORY', `${name} has ${n} entries, for which there is no memory`)
  }
}

/**
 * The integers of a list or iterable; each is read once.
 *
 * @param {string} name
 * @param {unknown} value
 * @returns {Float64Array}
 */
function integerList(name, value) {
  const list = listOf(name, value)
  if (list === null) {
    throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; a list of integers was expected`)
  }
  const n = lengthOfList(name, list)
  const numbers = doublesFor(name, n)
  for (let i = 0; i < n; i++) {
    const x = list[i]
    numbers[i] = Number.isSafeInteger(x)
      ? /** @type {number} */ (x)
      : integer(`${name}[${i}]`, typeof x === 'bigint' ? Number(x) : x)
  }
  return numbers
}

/**
 * A layout over indices: over a typed array itself, or over a copy of a list.
 *
 * @param {string} name
 * @param {unknown} value
 * @returns {InstanceType<typeof Layout>} 1-D
 */
function indicesOf(name, value) {
  const arrayType = dtypeOfArray(value)
  if (arrayType !== undefined) {
    const { length } = partsOfLive(value, name)
    return layoutOver(value, dtypeOf(arrayType).index, [length])
  }
  const list = integerList(name, value)
  const isSmall = list.every((x) => x === (x | 0))
  const array = isSmall ? new Int32Array(list) : BigInt64Array.from(list, BigInt)
  return layoutOver(array, dtypeOf(isSmall ? 'int32' : 'int64').index, [lengthOf(list)])
}

module.exports = {
  codecs,
  windowFor,
  load,
  store,
  read,
  write,
  nested,
  writeValues,
  factorOf,
  layoutOfFactor,
  doublesFor,
  integerList,
  indicesOf,
}
