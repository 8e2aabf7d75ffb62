'use strict'
// Validates arguments. Results are primitive values or our own arrays of them, so that no user code runs afterwards.

const { arrayOf, rootless } = require('./records')
const { failure } = require('./errors')
const { dtypeOfArray, nameOfBuffer, partsOfLive, isView } = require('./buffers')
const { tensors } = require('./tensors')

/**
 * Describes a value for an error message. Never runs user code.
 *
 * @param {unknown} value
 * @returns {string}
 */
function show(value) {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'symbol') return 'a symbol'
  if (value !== null && typeof value === 'object') {
    return Array.isArray(value)
      ? 'an array'
      : (tensors.describe(value) ?? nameOfBuffer(value) ?? 'an object')
  }
  return String(value)
}

/**
 * The error for a method or getter that was called on no object of its class, as after `const { get } = file`.
 *
 * @param {string} noun  for objects of the class
 * @param {unknown} it  what it was called on
 * @param {string} [name]  a variable's, for the example in the message; noun where none is given
 */
function wrongReceiver(noun, it, name = noun) {
  return failure(
    'ERR_ARGUMENT',
    it === undefined || it === null
      ? `a method was called without its ${noun}; ${name}.method(...), or ${name} => ${name}.method(...) as a function, was expected`
      : `a method or property of ${noun}s was used on ${show(it)}; a ${noun} was expected (a Proxy of one, or an object that inherits from one, is none)`,
  )
}

/**
 * Makes the function that a class' methods begin with. `this.#method()` would be a TypeError of V8's own, without a code, where a method
 * is called without its object.
 *
 * @param {string} noun  for objects of the class
 * @param {(it: any) => boolean} isOne  is an object of the class?
 * @param {string} [name]  as of wrongReceiver
 * @returns {(it: any) => any} gives the object
 */
function receiver(noun, isOne, name) {
  return (it) => {
    if (it === null || typeof it !== 'object' || !isOne(it)) throw wrongReceiver(noun, it, name)
    return it
  }
}

/**
 * Checks a flag; undefined is false.
 *
 * @param {string} name  the argument's name, for messages
 * @param {unknown} value
 * @returns {boolean}
 */
function boolean(name, value) {
  if (value === undefined) return false
  if (typeof value !== 'boolean') {
    throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; true or false was expected`)
  }
  return value
}

/**
 * Checks that a value is a safe integer.
 *
 * @param {string} name  the argument's name, for messages
 * @param {unknown} value
 * @param {import('./errors').ErrorCode} [code]  of the error for other numbers
 * @returns {number}
 */
function integer(name, value, code = 'ERR_BOUNDS') {
  if (Number.isSafeInteger(value)) return /** @type {number} */ (value)
  throw noInteger(name, value, code)
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {number} least
 * @returns {number}
 */
function integerFrom(name, value, least) {
  const n = integer(name, value)
  if (n < least) throw failure('ERR_BOUNDS', `${name} is ${n}; at least ${least} was expected`)
  return n
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {import('./errors').ErrorCode} code
 */
function noInteger(name, value, code) {
  if (typeof value !== 'number') {
    return failure('ERR_ARGUMENT', `${name} is ${show(value)}; an integer was expected`)
  }
  return failure(code, `${name} is ${value}; a safe integer was expected`)
}

/**
 * Checks an index into an axis. Short, so that V8 inlines the usual case.
 *
 * @param {unknown} i  negative counts from the end
 * @param {number} extent  elements along the axis
 * @param {number} d  the axis, for messages
 * @returns {number} 0 to extent - 1
 */
const inside = (i, extent, d) =>
  typeof i === 'number' && i >>> 0 === i && i < extent ? i : slowlyInside(i, extent, d)

/**
 * @param {unknown} i
 * @param {number} extent
 * @param {number} d
 */
function slowlyInside(i, extent, d) {
  const index = integer(`index ${d}`, i)
  if (index < -extent || index >= extent) {
    throw failure('ERR_BOUNDS', `index ${index} is outside axis ${d} of ${extent} elements`)
  }
  return index < 0 ? index + extent : index
}

/**
 * Checks and copies a list of safe integers. Short, so that V8 inlines the most frequent case, two entries.
 *
 * @param {string} name
 * @param {unknown} list  an array or an integer typed array
 * @param {import('./errors').ErrorCode} [code]
 * @param {number} [most]  entries
 * @returns {number[]} a copy
 */
function integers(name, list, code = 'ERR_BOUNDS', most = 64) {
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
 * @param {import('./errors').ErrorCode} code
 * @param {number} most
 * @returns {number[]}
 */
function anyIntegers(name, list, code, most) {
  if (!Array.isArray(list) && dtypeOfArray(list) === undefined) {
    throw failure('ERR_ARGUMENT', `${name} is ${show(list)}; an array of integers was expected`)
  }
  const { length } = Array.isArray(list) ? list : partsOfLive(list, name)
  if (!(Number.isInteger(length) && length >= 0 && length <= most)) {
    throw failure('ERR_SHAPE', `${name} has ${show(length)} entries; ${most} are possible`)
  } // a Proxy may return any length
  const given = /** @type {ArrayLike<number>} */ (list)
  const out = arrayOf(length, (i) => given[i]) // each is read once
  for (let i = 0; i < out.length; i++) {
    if (!Number.isSafeInteger(out[i])) throw noInteger(`${name}[${i}]`, out[i], code)
  }
  return out
}

/**
 * Checks a shape: an array, or one integer for one axis.
 *
 * @param {unknown} value
 * @param {string} [name]
 * @returns {number[]}
 */
function shapeOf(value, name = 'shape') {
  if (typeof value === 'number') return [integer(name, value, 'ERR_SHAPE')]
  return integers(name, value, 'ERR_SHAPE')
}

/**
 * Checks a shape given as one list or as separate arguments.
 *
 * @param {unknown[]} args
 * @returns {number[]}
 */
const shapeOfArguments = (args) =>
  args.length === 1 ? shapeOf(args[0]) : integers('shape', args, 'ERR_SHAPE')

/**
 * Checks axes: an array, or one integer.
 *
 * @param {unknown} value
 * @param {string} [name]
 * @returns {number[]}
 */
const axesOf = (value, name = 'axis') =>
  typeof value === 'number' ? [integer(name, value)] : integers(name, value)

/**
 * @param {number} axis
 * @param {number} ndim
 * @param {string} [name]
 * @returns {number} 0 or more
 */
function axisFromStart(axis, ndim, name = 'axis') {
  if (axis < -ndim || axis >= ndim) {
    throw failure('ERR_BOUNDS', `${name} is ${axis}; there are ${ndim} axes`)
  }
  return axis < 0 ? axis + ndim : axis
}

/**
 * @param {number[]} axes
 * @param {number} ndim
 * @param {string} name
 * @returns {number[]} each 0 or more
 * @throws ERR_BOUNDS one is outside or repeated
 */
function axesFromStart(axes, ndim, name) {
  const out = axes.map((axis) => axisFromStart(axis, ndim, name))
  for (let i = 1; i < out.length; i++) {
    if (out.indexOf(out[i]) < i) {
      throw failure('ERR_BOUNDS', `${name} has ${axes[i]}, and so axis ${out[i]} repeated`)
    }
  }
  return out
}

/** No options, and what a program has put on Object.prototype is none. */
class Options {
  /** @param {string} [dtype] */
  constructor(dtype) {
    if (dtype !== undefined) this.dtype = dtype
  }
}

rootless(Options)

/** @type {Record<string, any>} */
const NOTHING = Object.freeze(new Options())
const PLAIN = {}

/** Has a program put values on Object.prototype? */
function isPolluted() {
  for (const _ in PLAIN) return true // eslint-disable-line no-unreachable-loop
  return false
}

/**
 * The caller's object, or its fields without those that every object inherits. A class of the caller's may have fields as getters.
 *
 * @param {Record<string, any>} given
 * @returns {Record<string, any>}
 */
function ownFields(given) {
  if (!isPolluted()) return given
  const own = /** @type {Record<string, any>} */ (new Options())
  for (const name in given) {
    const value = given[name]
    if (Object.hasOwn(given, name) || value !== /** @type {any} */ (PLAIN)[name]) own[name] = value
  }
  return own
}

/**
 * Checks options. A string counts as { dtype }, undefined as {}.
 *
 * @param {unknown} value
 * @param {readonly string[]} [names]  of the options that the function has; any where none are given
 * @param {string} [where]  the function
 * @returns {Record<string, any>}
 */
function optionsOf(value, names, where) {
  if (value === undefined) return NOTHING
  const options = /** @type {any} */ (typeof value === 'string' ? new Options(value) : value)
  if (
    options === null ||
    typeof options !== 'object' ||
    Array.isArray(options) ||
    isView(options)
  ) {
    throw failure('ERR_ARGUMENT', `options is ${show(value)}; an object or a dtype was expected`)
  }
  // One that the function does not have is refused: without what was meant by it the result is another.
  if (names !== undefined) {
    for (const name in options) {
      if (!names.includes(name) && Object.hasOwn(options, name) && options[name] !== undefined) {
        throw unknownOption(name, names, where)
      }
    }
  }
  return ownFields(options)
}

/** What NumPy, PyTorch and others call options. @type {Record<string, string>} */
const OTHERS = Object.assign(Object.create(null), {
  dim: 'axis',
  dims: 'axis',
  axes: 'axis',
  type: 'dtype',
  keepdim: 'keepdims',
  ddof: 'correction',
  unbiased: 'correction',
  p: 'ord',
  interpolation: 'method',
  mode: 'method',
  fill: 'value',
  color: 'value',
  constant_values: 'value',
  constantValues: 'value',
  labels: 'classes',
  idxs: 'classes',
  begin: 'start',
  end: 'stop',
  maxOutputSize: 'limit',
  sym: 'periodic',
  kind: 'stable',
})

/**
 * @param {string} name  that no option has
 * @param {readonly string[]} names  of the options that there are
 * @param {string} [where]  the function
 */
function unknownOption(name, names, where) {
  const { nearest } = require('./nearest')
  const meant = OTHERS[name] ?? nearest(name, names)
  const last = names.length - 1
  const wanted =
    last < 0
      ? 'none'
      : meant !== null && names.includes(meant)
        ? meant
        : last === 0
          ? names[0]
          : `${names.slice(0, last).join(', ')} or ${names[last]}`
  return failure(
    'ERR_ARGUMENT',
    `${where === undefined ? 'there is' : `${where} has`} no option ${show(name)}; ${wanted} was expected`,
  )
}

/**
 * Is the value options or a dtype, so that the argument before it was omitted?
 *
 * @param {unknown} value
 * @returns {boolean}
 */
function isOptions(value) {
  return (
    typeof value === 'string' ||
    (value !== null && typeof value === 'object' && !Array.isArray(value) && !isView(value))
  )
}

/**
 * Checks that a value is one of the words.
 *
 * @template {string} W
 * @param {string} name
 * @param {unknown} value
 * @param {readonly W[]} words
 * @returns {number} its index
 */
function oneOf(name, value, words) {
  const i = words.indexOf(/** @type {W} */ (value))
  if (i < 0) {
    throw failure(
      'ERR_ARGUMENT',
      `${name} is ${show(value)}; one of ${words.map((w) => `'${w}'`).join(', ')} was expected`,
    )
  }
  return i
}

/** Options of functions that give a tensor or write into one. */
const OF_RESULT = ['dtype', 'casting', 'out']
/** The same of those along an axis. */
const ALONG = ['axis', 'dtype', 'casting', 'out']

const CASTINGS = /** @type {const} */ (['safe', 'same_kind', 'unsafe'])

/**
 * Checks a casting rule; undefined is 'same_kind'.
 *
 * @param {unknown} value
 * @returns {number} as in C's enum
 */
const castingOf = (value) => (value === undefined ? 1 : oneOf('casting', value, CASTINGS))

/**
 * Sorts out the arguments (axis, options), (options) and (): options may contain the axis where no argument is one.
 *
 * @param {unknown} axis
 * @param {unknown} opts
 * @param {string} where  the function
 * @returns {{ along: unknown, asked: Record<string, any> | undefined }}
 */
function axisAndOptions(axis, opts, where) {
  if (opts === undefined && axis !== undefined && axis !== null && isOptions(axis)) {
    opts = axis
    axis = undefined
  }
  if (opts === undefined) return { along: axis, asked: undefined }
  const asked = optionsOf(opts, ALONG, where)
  const { axis: named } = asked
  if (axis !== undefined && named !== undefined) {
    throw failure(
      'ERR_ARGUMENT',
      `axis is an argument of ${where}, and an option as well; one of them was expected`,
    )
  }
  return { along: axis === undefined ? named : axis, asked }
}

/**
 * @param {string} name
 * @param {number[] | Float64Array} counts
 */
function checkCounts(name, counts) {
  for (let i = 0; i < counts.length; i++) {
    if (counts[i] < 0) {
      throw failure('ERR_SHAPE', `${name} has ${counts[i]}; 0 or more was expected`)
    }
  }
}

/** Axes from outermost to innermost, by memory format and ndim @type {Record<string, Record<number, number[]>>} */
const FORMATS = {
  channels_last: { 4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1] },
  channels_last_3d: { 5: [0, 2, 3, 4, 1] },
}

/**
 * @param {unknown} format
 * @param {number} ndim
 * @returns {number[] | null} null: row-major
 */
function formatOf(format, ndim) {
  if (format === 'contiguous') return null
  if (typeof format !== 'string' || !Object.hasOwn(FORMATS, format)) {
    throw failure(
      'ERR_ARGUMENT',
      `memoryFormat is ${show(format)}; 'contiguous', 'channels_last' or 'channels_last_3d' was expected`,
    )
  }
  const order = FORMATS[format][ndim]
  if (order === undefined) {
    throw failure(
      'ERR_SHAPE',
      `${format} is for ${Object.keys(FORMATS[format]).join(' or ')} axes; the tensor has ${ndim}`,
    )
  }
  return order
}

const MOST_PARTS = 2 ** 20 // of one tensor; far more would exhaust V8's heap and end the process

/**
 * @param {number} count
 * @param {number} size
 * @returns {number[]}
 */
function sameParts(count, size) {
  if (count > MOST_PARTS) {
    throw failure(
      'ERR_MEMORY',
      `${count} parts were asked for; ${MOST_PARTS} can be made at once, narrow or select takes one`,
    )
  }
  return arrayOf(count, () => size)
}

/**
 * Splits an axis into parts of equal size.
 *
 * @param {number} size  of each part but the last
 * @param {number} extent  elements along the axis
 * @returns {number[]}
 */
function equalSizes(size, extent) {
  if (size < 0 || (size === 0 && extent > 0)) {
    throw failure('ERR_BOUNDS', `size is ${size}; at least 1 was expected`)
  }
  if (extent === 0) return [0]
  const sizes = sameParts(Math.ceil(extent / size), size)
  sizes[sizes.length - 1] = extent - size * (sizes.length - 1)
  return sizes
}

/**
 * Checks that the sizes of parts add up to the axis.
 *
 * @param {number[]} sizes
 * @param {number} extent  elements along the axis
 * @returns {number[]} sizes
 */
function checkSizes(sizes, extent) {
  let rest = extent
  for (let i = 0; i < sizes.length; i++) {
    const size = sizes[i]
    if (size < 0 || size > rest) rest = NaN
    rest -= size
  }
  if (rest !== 0) {
    throw failure(
      'ERR_SHAPE',
      `sizes are [${sizes.slice(0, 16).join(', ')}${sizes.length > 16 ? ', ...' : ''}]; ${extent} elements together, as the axis has, were expected`,
    )
  }
  return sizes
}

/**
 * @param {number} given  number of indices
 * @param {number} ndim  the tensor's
 */
function wrongCount(given, ndim) {
  return failure(
    'ERR_SHAPE',
    `${given} ${given === 1 ? 'index was' : 'indices were'} given; the tensor has ${ndim} ${ndim === 1 ? 'axis' : 'axes'}`,
  )
}

module.exports = {
  show,
  wrongReceiver,
  receiver,
  boolean,
  integer,
  integerFrom,
  integers,
  shapeOf,
  shapeOfArguments,
  axesOf,
  axisFromStart,
  axesFromStart,
  optionsOf,
  unknownOption,
  isOptions,
  isPolluted,
  oneOf,
  ownFields,
  OF_RESULT,
  ALONG,
  CASTINGS,
  castingOf,
  axisAndOptions,
  checkCounts,
  formatOf,
  MOST_PARTS,
  sameParts,
  equalSizes,
  checkSizes,
  inside,
  wrongCount,
}
