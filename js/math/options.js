'use strict'
// The options of arithmetic. A name that a function does not know is refused: without what was meant by it the result is another one.

const { failure } = require('../base/errors')
const {
  boolean,
  integer,
  optionsOf,
  ownFields,
  show,
  unknownOption,
  isPolluted,
} = require('../base/validate')
const { dtypes } = require('../backend/dtypes')
const { atOnce, planned } = require('./calls/plan')
const { Tensor, resultIn, resultOf } = require('../tensor/tensor')
const { FLOAT32 } = require('./constants')

/** The names of options that a function knows. @typedef {{ names: Record<string, boolean>, number: string | null }} Known number: the one that is meant where a number stands in the place of options: 'axis' is taken, others are named in the error */

/**
 * @param {string[]} list
 * @param {string | null} [number]
 * @returns {Known}
 */
function known(list, number = null) {
  /** @type {Record<string, boolean>} */
  const names = Object.create(null)
  for (const name of list) names[name] = true
  return { names, number }
}

const OF_RESULT = known(['dtype', 'out', 'casting'])
const MOST = 2 ** 48 // elements of a transform

// The loops below compare with words first: that takes a few nanoseconds, a look into a list as many for each name.

/**
 * Reads the options of an elementwise function.
 *
 * @param {any} opts
 * @returns {ReturnType<typeof resultOf>}
 * @throws ERR_ARGUMENT
 */
function resultOptions(opts) {
  if (opts === undefined) return resultOf(opts)
  let isKnown = false
  if (typeof opts === 'object') {
    for (const name in opts) {
      isKnown = name === 'out' || name === 'dtype' || name === 'casting'
      if (!isKnown) break
    }
  }
  return resultIn(isKnown && !isPolluted() ? opts : optionsFor(opts, OF_RESULT))
}

/**
 * Checks the options of a function along axes, as optionsFor does. They may be a second argument, after an axis.
 *
 * @param {any} opts  or the axis
 * @param {any} more  options, where that is one
 * @param {Known} known  which have axis and out
 * @returns {Record<string, any>}
 */
function optionsAlong(opts, more, known) {
  if (more !== undefined) return optionsBeside(opts, more, known)
  let isKnown = false
  if (typeof opts === 'object') {
    for (const name in opts) {
      isKnown = name === 'axis' || name === 'out' || known.names[name] === true
      if (!isKnown) break
    }
  }
  return isKnown && !isPolluted() ? opts : optionsFor(opts, known)
}

/**
 * @param {unknown} axis
 * @param {any} opts
 * @param {Known} known
 * @returns {Record<string, any>} each option, read once
 */
function optionsBeside(axis, opts, known) {
  if (axis !== undefined && typeof axis !== 'number' && !Array.isArray(axis)) {
    throw failure('ERR_ARGUMENT', `axis is ${show(axis)}; an axis was expected before options`)
  }
  if (typeof opts === 'number' || Array.isArray(opts)) {
    throw failure(
      'ERR_ARGUMENT',
      `options is ${show(opts)}; an object was expected behind the axis`,
    )
  }
  const given = optionsFor(opts, known)
  const read = Object.create(null)
  for (const name in known.names) read[name] = given[name]
  if (axis === undefined) return read
  if (read.axis !== undefined) {
    throw failure(
      'ERR_ARGUMENT',
      'axis is an argument, and an option as well; one of them was expected',
    )
  }
  read.axis = axis
  return read
}

/**
 * Checks options. A string counts as { dtype }, a number or a list of numbers as { axis } where that is what a number means, undefined as {}.
 *
 * @param {any} opts
 * @param {Known} known
 * @returns {Record<string, any>}
 * @throws ERR_ARGUMENT
 */
function optionsFor(opts, known) {
  if (opts === undefined) return optionsOf(undefined)
  if (known.number === 'axis' && (typeof opts === 'number' || Array.isArray(opts))) {
    return ownFields({ axis: opts })
  }
  if (typeof opts === 'number' || Array.isArray(opts) || Tensor.isTensor(opts)) {
    throw noOptions(opts, known)
  }
  const options = optionsOf(opts)
  const names =
    planned() === null
      ? known.names
      : Object.assign(Object.create(null), known.names, { signal: true }) // of the asynchronous form
  // a Proxy tells its names by code of the caller's
  const unknown = atOnce(() => {
    for (const name in options) {
      if (names[name] !== true && Object.hasOwn(options, name) && options[name] !== undefined) {
        return name
      }
    }
    return undefined
  })
  if (unknown === undefined) return options
  throw unknown === 'dtype'
    ? failure('ERR_ARGUMENT', 'there is no option "dtype" here; astype converts x, or the result')
    : unknownOption(unknown, Object.keys(names))
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {(n: number) => boolean} [isOne]  which numbers it takes; all but NaN where none is given
 * @returns {number}
 * @throws ERR_ARGUMENT
 */
function numberOf(name, value, isOne = (n) => !Number.isNaN(n)) {
  if (typeof value === 'number' && isOne(value)) return value
  throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; a number was expected`)
}

/**
 * @param {import('../backend/dtypes').Dtype | undefined} asked
 * @param {readonly [number, number]} both  dtypes; the first one where none was asked for
 * @param {string} [of]  what has them, for the message
 * @returns {number} one of them
 * @throws ERR_DTYPE
 */
function dtypeAmong(asked, [usual, other], of = '') {
  if (asked === undefined) return usual
  if (asked.index === usual || asked.index === other) return asked.index
  throw failure(
    'ERR_DTYPE',
    `dtype is ${asked.name}; ${dtypes[usual].name} or ${dtypes[other].name} was expected${of}`,
  )
}

/** @param {string} name @param {unknown} value @returns {number} 1 or more */
function count(name, value) {
  const n = integer(name, value)
  if (n < 1 || n > MOST) throw failure('ERR_BOUNDS', `${name} is ${n}; 1 to ${MOST} was expected`)
  return n
}

/** @param {string} name @param {unknown} value @returns {number} finite */
function number(name, value) {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; a finite number was expected`)
}

/** @param {string} name @param {unknown} value @returns {boolean} true where it is not given */
const unlessFalse = (name, value) => value === undefined || boolean(name, value)

/** @param {{ index: number, kind: string, name: string } | undefined} dtype @returns {number} float32 where none is given */
function floatOf(dtype) {
  if (dtype === undefined) return FLOAT32
  if (dtype.kind !== 'FLOATING') {
    throw failure('ERR_DTYPE', `dtype is ${dtype.name}; a float was expected`)
  }
  return dtype.index
}

/** @param {unknown} opts @param {Known} known */
function noOptions(opts, { names, number }) {
  let wanted = 'an object or a dtype'
  if (typeof opts === 'number' && number !== null) wanted = `{ ${number}: ${opts} }`
  else if (Array.isArray(opts) && (names.axis === true || names.axes === true)) {
    wanted = names.axis === true ? '{ axis }' : '{ axes }'
  } else if (Tensor.isTensor(opts) && names.weights === true) wanted = '{ weights }'
  else if (Tensor.isTensor(opts) && names.out === true) {
    wanted =
      names.keepdims === true ? '{ out }, or a function of two tensors as maximum is,' : '{ out }'
  }
  return failure('ERR_ARGUMENT', `options is ${show(opts)}; ${wanted} was expected`)
}

module.exports = {
  known,
  resultOptions,
  optionsAlong,
  optionsFor,
  numberOf,
  count,
  number,
  unlessFalse,
  floatOf,
  dtypeAmong,
}
