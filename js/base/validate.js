'use strict'
// Validation of arguments. It comes first: afterwards all values are of primitive types, or our own lists of them, and no user code runs.

const { Array, JSON, Math, Number, Object, arrayIndexOf, arrayJoin, arrayMap, arrayOf, arraySlice, isView } = require('./primordials')
const { failure } = require('./errors')
const { dtypeOfArray, nameOfBuffer, partsOfLive } = require('./buffers')
const { tensors } = require('./tensors')

/**
 * A value in words, for messages. Never runs user code.
 *
 * @param {unknown} value
 * @returns {string}
 */
function show (value) {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'symbol') return 'a symbol'
  if (value !== null && typeof value === 'object') return Array.isArray(value) ? 'an array' : tensors.describe(value) ?? nameOfBuffer(value) ?? 'an object'
  return String(value)
}

/**
 * true or false; false where nothing is given.
 *
 * @param {string} name  of the argument, for messages
 * @param {unknown} value
 * @returns {boolean}
 */
function boolean (name, value) {
  if (value === undefined) return false
  if (typeof value !== 'boolean') throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; true or false was expected`)
  return value
}

/**
 * A safe integer.
 *
 * @param {string} name  of the argument, for messages
 * @param {unknown} value
 * @param {string} [code]  for numbers that are none
 * @returns {number}
 */
function integer (name, value, code = 'ERR_BOUNDS') {
  if (!Number.isSafeInteger(value)) throw noInteger(name, value, code)
  return /** @type {number} */ (value)
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {string} code
 */
function noInteger (name, value, code) {
  if (typeof value !== 'number') return failure('ERR_ARGUMENT', `${name} is ${show(value)}; an integer was expected`)
  return failure(code, `${name} is ${value}; a safe integer was expected`)
}

/**
 * An index into an axis. Short, so that V8 inlines the usual case.
 *
 * @param {unknown} i  negative counts from the end
 * @param {number} extent  elements of the axis
 * @param {number} d  the axis, for messages
 * @returns {number} from 0 on
 */
function inside (i, extent, d) {
  return typeof i === 'number' && i >>> 0 === i && i < extent ? i : slowlyInside(i, extent, d)
}

/**
 * @param {unknown} i
 * @param {number} extent
 * @param {number} d
 */
function slowlyInside (i, extent, d) {
  const index = integer(`index ${d}`, i)
  if (index < -extent || index >= extent) throw failure('ERR_BOUNDS', `index ${index} is outside axis ${d} of ${extent} elements`)
  return index < 0 ? index + extent : index
}

/**
 * @param {string} name
 * @param {unknown} list
 */
function noList (name, list) {
  return failure('ERR_ARGUMENT', `${name} is ${show(list)}; an array of integers was expected`)
}

/**
 * @param {string} name
 * @param {unknown} n
 * @param {number} most
 */
function tooMany (name, n, most) {
  return failure('ERR_SHAPE', `${name} has ${show(n)} entries; ${most} are possible`)
}

/**
 * Reads each entry once. Literals for short lists, which are the most frequent.
 *
 * @param {ArrayLike<number>} list
 * @param {number} n
 * @returns {number[]}
 */
function copyOf (list, n) {
  if (n === 2) return [list[0], list[1]]
  if (n === 1) return [list[0]]
  if (n === 3) return [list[0], list[1], list[2]]
  if (n === 4) return [list[0], list[1], list[2], list[3]]
  return arrayOf(n, i => list[i])
}

/**
 * A list of safe integers, copied. Short, so that V8 inlines the most frequent case: two of them.
 *
 * @param {string} name
 * @param {unknown} list  an array or an integer typed array
 * @param {string} [code]
 * @param {number} [most]  entries
 * @returns {number[]}
 */
function integers (name, list, code = 'ERR_BOUNDS', most = 64) {
  if (Array.isArray(list) && list.length === 2) {
    const first = list[0]
    const second = list[1]
    if (Number.isSafeInteger(first) && Number.isSafeInteger(second)) return [first, second]
  }
  return anyIntegers(name, list, code, most)
}

/**
 * @param {string} name
 * @param {unknown} list
 * @param {string} code
 * @param {number} most
 * @returns {number[]}
 */
function anyIntegers (name, list, code, most) {
  if (!Array.isArray(list) && dtypeOfArray(list) === undefined) throw noList(name, list)
  const { length } = Array.isArray(list) ? list : partsOfLive(list, name)
  if (!(Number.isInteger(length) && length >= 0 && length <= most)) throw tooMany(name, length, most) // a Proxy may say anything
  const out = copyOf(/** @type {ArrayLike<number>} */ (/** @type {unknown} */ (list)), length)
  for (let i = 0; i < out.length; i++) {
    if (!Number.isSafeInteger(out[i])) throw noInteger(`${name}[${i}]`, out[i], code)
  }
  return out
}

/**
 * A shape: an array, or an integer for one axis.
 *
 * @param {unknown} value
 * @param {string} [name]
 * @returns {number[]}
 */
function shapeOf (value, name = 'shape') {
  if (typeof value === 'number') return [integer(name, value, 'ERR_SHAPE')]
  return integers(name, value, 'ERR_SHAPE')
}

/**
 * A shape, given as a list or as arguments.
 *
 * @param {unknown[]} args
 * @returns {number[]}
 */
function shapeOfArguments (args) {
  return args.length === 1 ? shapeOf(args[0]) : integers('shape', args, 'ERR_SHAPE')
}

/**
 * Axes: an array, or one integer.
 *
 * @param {unknown} value
 * @param {string} [name]
 * @returns {number[]}
 */
function axesOf (value, name = 'axis') {
  return typeof value === 'number' ? [integer(name, value)] : integers(name, value)
}

/**
 * An options object; a dtype may stand in its place.
 *
 * @param {unknown} value
 * @returns {Record<string, any>}
 */
function optionsOf (value) {
  if (value === undefined) return {}
  if (typeof value === 'string') return { dtype: value }
  if (value !== null && typeof value === 'object' && !Array.isArray(value) && !isView(value)) return value
  throw failure('ERR_ARGUMENT', `options is ${show(value)}; an object or a dtype was expected`)
}

/**
 * Is it an options object or a dtype, in place of an omitted argument?
 *
 * @param {unknown} value
 * @returns {boolean}
 */
function isOptions (value) {
  return typeof value === 'string' ||
    (value !== null && typeof value === 'object' && !Array.isArray(value) && !isView(value))
}

/**
 * One of a few words.
 *
 * @template {string} W
 * @param {string} name
 * @param {unknown} value
 * @param {readonly W[]} words
 * @returns {number} its index
 */
function oneOf (name, value, words) {
  const i = arrayIndexOf(words, /** @type {W} */ (value))
  if (i < 0) throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; one of ${arrayJoin(arrayMap(words, w => `'${w}'`))} was expected`)
  return i
}

const CASTINGS = /** @type {const} */ (['safe', 'same_kind', 'unsafe'])

/**
 * A casting rule as C numbers it; 'same_kind' where none is given.
 *
 * @param {unknown} value
 * @returns {number}
 */
function castingOf (value) {
  return value === undefined ? 1 : oneOf('casting', value, CASTINGS)
}

/**
 * (axis, options), or options in place of an omitted axis, which they may name.
 *
 * @param {unknown} axis
 * @param {unknown} opts
 * @returns {{ along: unknown, asked: unknown }}
 */
function axisAndOptions (axis, opts) {
  if (opts === undefined && axis !== undefined && axis !== null && isOptions(axis)) {
    opts = axis
    axis = undefined
  }
  return { along: axis === undefined ? optionsOf(opts).axis : axis, asked: opts }
}

/**
 * @param {string} name
 * @param {number[] | Float64Array} counts
 */
function checkCounts (name, counts) {
  for (let i = 0; i < counts.length; i++) {
    if (counts[i] < 0) throw failure('ERR_SHAPE', `${name} has ${counts[i]}; 0 or more was expected`)
  }
}

/** axes from outermost to innermost, by format and number of axes @type {Record<string, Record<number, number[]>>} */
const FORMATS = {
  channels_last: { 4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1] },
  channels_last_3d: { 5: [0, 2, 3, 4, 1] }
}

/**
 * @param {unknown} format
 * @param {number} ndim
 * @returns {number[] | null} null: row-major
 */
function formatOf (format, ndim) {
  if (format === 'contiguous') return null
  if (typeof format !== 'string' || !Object.hasOwn(FORMATS, format)) {
    throw failure('ERR_ARGUMENT', `memoryFormat is ${show(format)}; 'contiguous', 'channels_last' or 'channels_last_3d' was expected`)
  }
  const order = FORMATS[format][ndim]
  if (order === undefined) throw failure('ERR_SHAPE', `${format} is for ${arrayJoin(Object.keys(FORMATS[format]), ' or ')} axes; the tensor has ${ndim}`)
  return order
}

const MOST_PARTS = 2 ** 20 // of one tensor; with many more, V8 would end the process

/**
 * @param {number} count
 * @param {number} size
 * @returns {number[]}
 */
function sameParts (count, size) {
  if (count > MOST_PARTS) throw failure('ERR_MEMORY', `${count} parts were asked for; ${MOST_PARTS} can be made at once, narrow or select takes one`)
  return arrayOf(count, () => size)
}

/**
 * @param {number} size  of each part but the last
 * @param {number} extent  of all
 * @returns {number[]}
 */
function equalSizes (size, extent) {
  if (size < 0 || (size === 0 && extent > 0)) throw failure('ERR_BOUNDS', `size is ${size}; at least 1 was expected`)
  if (extent === 0) return [0]
  const sizes = sameParts(Math.ceil(extent / size), size)
  sizes[sizes.length - 1] = extent - size * (sizes.length - 1)
  return sizes
}

/**
 * @param {number[]} sizes
 * @param {number} extent  of all
 * @returns {number[]} sizes
 */
function checkSizes (sizes, extent) {
  let rest = extent
  for (let i = 0; i < sizes.length; i++) {
    const size = sizes[i]
    if (size < 0 || size > rest) rest = NaN
    rest -= size
  }
  if (rest !== 0) throw failure('ERR_SHAPE', `sizes are [${arrayJoin(arraySlice(sizes, 0, 16))}${sizes.length > 16 ? ', ...' : ''}]; ${extent} elements together, as the axis has, were expected`)
  return sizes
}

/**
 * @param {number} given  indices
 * @param {number} ndim  that the tensor has
 */
function wrongCount (given, ndim) {
  return failure('ERR_SHAPE', `${given} ${given === 1 ? 'index was' : 'indices were'} given; the tensor has ${ndim} ${ndim === 1 ? 'axis' : 'axes'}`)
}

module.exports = { show, boolean, integer, integers, shapeOf, shapeOfArguments, axesOf, optionsOf, isOptions, oneOf, CASTINGS, castingOf, axisAndOptions, checkCounts, formatOf, MOST_PARTS, sameParts, equalSizes, checkSizes, inside, wrongCount }
