'use strict'
// Random tensors. Seed and place decide each value, on every back end alike; C has the arithmetic.

const ffi = require('./ffi')
const { failure } = require('./errors')
const { show, optionsOf } = require('./validate')
const { dtypeOf } = require('./dtypes')
const { emptyLayout } = require('./layouts')
const { Tensor, wrap } = require('./tensor')

const { rows } = ffi

/** @typedef {import('./tensor').Shape} Shape */
/** @typedef {import('./make').MakeOptions & { generator?: Generator }} RandomOptions */

/**
 * @param {unknown} seed
 * @returns {bigint} 64 bits
 */
function seedOf (seed) {
  if (typeof seed === 'bigint') return BigInt.asUintN(64, seed)
  if (Number.isSafeInteger(seed)) return BigInt.asUintN(64, BigInt(/** @type {number} */ (seed)))
  throw failure('ERR_ARGUMENT', `the seed is ${show(seed)}; a safe integer or a bigint was expected`)
}

/**
 * A place in the stream of random numbers that a seed stands for (Philox4x32-10). The same seed gives
 * the same bits on every back end; each call takes up where the one before ended.
 *
 * @example
 * const generator = new Generator(42)
 * rand([3], { generator }) // the same three numbers for every generator of seed 42
 */
class Generator {
  #seed
  #offset = 0n

  /** @param {number | bigint} seed  64 bits of it count */
  constructor (seed) {
    this.#seed = seedOf(seed)
  }

  /** What it was made or seeded with. @returns {bigint} */
  get seed () { return this.#seed }
  /** 32-bit words of the stream that are used up. @returns {bigint} */
  get offset () { return this.#offset }

  /**
   * Goes to the start of another seed's stream.
   *
   * @param {number | bigint} seed
   * @returns {this}
   */
  manualSeed (seed) {
    this.#seed = seedOf(seed)
    this.#offset = 0n
    return this
  }

  /**
   * @param {unknown} value
   * @returns {value is Generator}
   * @ignore
   */
  static isGenerator (value) {
    return value !== null && typeof value === 'object' && #offset in value
  }

  /**
   * @param {Generator} generator
   * @param {number} words
   * @ignore
   */
  static advance (generator, words) {
    generator.#offset += BigInt(words)
  }
}

/** what is used where no generator is given; seeded anew in each process */
const shared = new Generator(Math.floor(Math.random() * 2 ** 53))

/**
 * Seeds the generator that is used where none is given.
 *
 * @param {number | bigint} seed
 * @returns {Generator} that one
 */
function manualSeed (seed) {
  return shared.manualSeed(seed)
}

/**
 * @param {number} row
 * @param {unknown} shape
 * @param {Record<string, any>} options
 * @param {string} dtype  where the options name none
 * @param {number | bigint} a  of the distribution
 * @param {number | bigint} b
 * @returns {Tensor}
 */
function draw (row, shape, { dtype: name, device, dynamism, order, shared: visible, generator = shared }, dtype, a, b) {
  if (!Generator.isGenerator(generator)) throw failure('ERR_ARGUMENT', `generator is ${show(generator)}; a Generator was expected`)
  const t = wrap(emptyLayout(dtypeOf(name ?? dtype), shape, { device, dynamism, order, shared: visible }, false))
  try {
    Generator.advance(generator, ffi.draw(row, Tensor.layoutOf(t), a, b, generator.seed, generator.offset))
  } catch (error) {
    t.dispose()
    throw error
  }
  return t
}

/**
 * A tensor of numbers from [0, 1), all equally likely.
 *
 * @param {Shape} shape
 * @param {RandomOptions | string} [opts]  float32 where no dtype is given; float16, bfloat16 and float64 are there
 * @returns {Tensor}
 * @throws {TypeError} ERR_DTYPE no floating dtype · {RangeError} ERR_SHAPE, ERR_MEMORY
 * @example
 * rand([2, 3], { generator: new Generator(1) })
 */
function rand (shape, opts) {
  return draw(rows.uniform, shape, optionsOf(opts), 'float32', 0, 1)
}

/**
 * A tensor of normally distributed numbers, mean 0 and standard deviation 1.
 *
 * @param {Shape} shape
 * @param {RandomOptions | string} [opts]  as rand
 * @returns {Tensor}
 * @throws as rand
 */
function randn (shape, opts) {
  return draw(rows.normal, shape, optionsOf(opts), 'float32', 0, 1)
}

/**
 * A tensor of integers from [low, high), all exactly equally likely.
 *
 * @param {number | bigint} low
 * @param {number | bigint} high  exclusive
 * @param {Shape} shape
 * @param {RandomOptions | string} [opts]  int32 where no dtype is given, int64 for bigints
 * @returns {Tensor}
 * @throws {RangeError} ERR_BOUNDS low is not below high · {TypeError} ERR_CAST the dtype does not hold them, ERR_DTYPE
 */
function randint (low, high, shape, opts) {
  for (const [name, value] of Object.entries({ low, high })) {
    if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) {
      throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; a safe integer or a bigint was expected`)
    }
  }
  if (high === 1n << 64n) high = 2 ** 64 // as a number, it is what lets uint64 have all its values
  const wide = typeof low === 'bigint' || typeof high === 'bigint'
  return draw(rows.randint, shape, optionsOf(opts), wide ? 'int64' : 'int32', low, high)
}

module.exports = { Generator, manualSeed, rand, randn, randint }
