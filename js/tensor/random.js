'use strict'
// Random tensors and their generators. Each value depends on the seed and the position in the stream alone, on all back ends; C computes them.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, receiver, optionsOf, shapeOf } = require('../base/validate')
const { dtypeOf } = require('../backend/dtypes')
const { emptyLayout, dtypeLike, written, OF_MAKING } = require('../layout/layouts')
const { deviceOf } = require('../layout/placement')
const { checkOut } = require('../copy/results')
const { Tensor, wrap, tensorOf, checkDeviceOfOut } = require('./tensor')

const { opcodes } = ffi

/** @import { NameOf, Or, Shape, DrawOptions, RandomFloating, RandomInteger, DtypeOfBounds } from '../base/types' */

/**
 * @param {unknown} seed
 * @returns {bigint} 64 bits
 */
function seedOf(seed) {
  if (typeof seed === 'bigint') return BigInt.asUintN(64, seed)
  if (Number.isSafeInteger(seed)) return BigInt.asUintN(64, BigInt(/** @type {number} */ (seed)))
  throw failure(
    'ERR_ARGUMENT',
    `the seed is ${show(seed)}; a safe integer or a bigint was expected`,
  )
}

/** what a generator's method was called on @type {(it: any) => Generator} */
let own

/**
 * A position in a seed's stream of random numbers (Philox4x32-10). The same seed gives the same bits on every back end; each
 * call continues where the one before ended.
 *
 * @see PyTorch Generator
 * @example
 * const draw = () => rand([3], { generator: new Generator(42) })
 * arrayEqual(draw(), draw()) // true
 */
class Generator {
  #seed
  #offset = 0n

  static {
    own = receiver('generator', (it) => #seed in it)
  }

  /**
   * @param {number | bigint} seed  its low 64 bits are used
   * @throws {TypeError} ERR_ARGUMENT
   */
  constructor(seed) {
    this.#seed = seedOf(seed)
  }

  /** The seed, as 64 bits. @returns {bigint} */
  get seed() {
    return own(this).#seed
  }
  /** 32-bit words of the stream that have been used. @returns {bigint} */
  get offset() {
    return own(this).#offset
  }

  /**
   * Restarts at the beginning of a seed's stream.
   *
   * @param {number | bigint} seed  its low 64 bits are used
   * @returns {this}
   * @throws {TypeError} ERR_ARGUMENT
   * @see PyTorch Generator.manual_seed
   * @example
   * new Generator(1).manualSeed(2).seed // 2n
   */
  manualSeed(seed) {
    const generator = own(this)
    generator.#seed = seedOf(seed)
    generator.#offset = 0n
    return this
  }

  /**
   * @param {unknown} value
   * @returns {value is Generator}
   * @ignore
   */
  static isGenerator(value) {
    return value !== null && typeof value === 'object' && #offset in value
  }

  /**
   * @param {Generator} generator
   * @param {number} words
   * @ignore
   */
  static advance(generator, words) {
    generator.#offset += BigInt(words)
  }
}

/** the generator of calls that name none; its seed differs in each process */
const shared = new Generator(Math.floor(Math.random() * 2 ** 53))

/**
 * Seeds the default generator, which is used where none is given.
 *
 * @param {number | bigint} seed  its low 64 bits are used
 * @returns {Generator} the default one
 * @throws {TypeError} ERR_ARGUMENT
 * @see PyTorch manual_seed
 * @example
 * manualSeed(7).seed // 7n
 */
function manualSeed(seed) {
  return shared.manualSeed(seed)
}

const FLOAT32 = dtypeOf('float32')
const OF_DRAWING = [...OF_MAKING, 'generator', 'out']

/**
 * A layout to draw into: of the caller's `out`.
 *
 * @param {unknown} out
 * @param {unknown} shape  that it must have
 * @param {Record<string, any>} options
 */
function layoutOfOut(out, shape, { dtype, device, dynamism, order, shared, pinMemory }) {
  const ofNew = Object.entries({ dynamism, order, shared, pinMemory }).find(
    ([_, value]) => value !== undefined,
  )
  if (ofNew !== undefined) {
    throw failure(
      'ERR_ARGUMENT',
      `${ofNew[0]} is ${show(ofNew[1])}, which is for new tensors; out has it already`,
    )
  }
  const extents = shapeOf(shape)
  const wanted = dtype === undefined ? undefined : dtypeOf(dtype)
  const there = device === undefined ? undefined : deviceOf(device)
  const layout = Tensor.writableOf(tensorOf(out, 'out'))
  checkOut(layout, extents, wanted)
  checkDeviceOfOut(layout, there)
  return layout
}

/**
 * A tensor of random numbers: a new one, or the option `out`.
 *
 * @param {string} where  the function
 * @param {number} row  of the distribution, as C numbers its functions
 * @param {import('../layout/layouts').Lay} lay
 * @param {unknown} what  lay's second argument
 * @param {unknown} opts
 * @param {number | bigint} [a]  of the distribution: the low end
 * @param {number | bigint} [b]  the high end
 * @param {import('../backend/dtypes').Dtype} [missing]  where neither the options nor lay tell a dtype
 * @returns {import('./tensor').Tensor}
 */
function draw(where, row, lay, what, opts, a = 0, b = 1, missing = FLOAT32) {
  const options = optionsOf(opts, OF_DRAWING, where)
  const { dtype: name, generator = shared, out } = options
  if (!Generator.isGenerator(generator)) {
    throw failure('ERR_ARGUMENT', `generator is ${show(generator)}; a Generator was expected`)
  }
  const generate = (/** @type {import('../layout/layouts').Layout} */ layout) => {
    const words = ffi.generate(row, layout, [a, b, generator.seed, generator.offset], 0) // stream 0
    Generator.advance(generator, words)
  }
  if (out !== undefined) {
    if (lay !== emptyLayout) {
      throw failure('ERR_ARGUMENT', 'out is an option of rand, randn and randint')
    }
    generate(layoutOfOut(out, what, options))
    return out
  }
  const dtype = name === undefined ? (dtypeLike(lay, what) ?? missing) : dtypeOf(name)
  return wrap(written(lay(dtype, what, options, false), generate))
}

/**
 * A new tensor of random integers.
 *
 * @param {string} where  the function
 * @param {import('../layout/layouts').Lay} lay
 * @param {unknown} what  lay's second argument
 * @param {number | bigint} low
 * @param {number | bigint} high  exclusive
 * @param {unknown} opts
 * @returns {import('./tensor').Tensor}
 */
function drawIntegers(where, lay, what, low, high, opts) {
  for (const [name, value] of Object.entries({ low, high })) {
    if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) {
      throw failure(
        'ERR_ARGUMENT',
        `${name} is ${show(value)}; a safe integer or a bigint was expected`,
      )
    }
  }
  if (high === 1n << 64n) high = 2 ** 64 // C takes this bound as a number: no 64-bit integer holds it
  const missing = typeof low === 'bigint' || typeof high === 'bigint' ? 'int64' : 'int32'
  return draw(where, opcodes.randint, lay, what, opts, low, high, dtypeOf(missing))
}

/**
 * A tensor of numbers from [0, 1), all equally likely.
 *
 * @template {RandomFloating} E
 * @overload
 * @param {Shape} shape  extents; an integer for one axis
 * @param {E | (DrawOptions<E> & { dtype: E })} opts  a dtype, or options with one: float16, bfloat16, float32 and float64 are possible
 * @returns {Tensor<E>} owns its bytes, or out
 * @throws {TypeError} ERR_DTYPE no floating dtype, ERR_ARGUMENT · {RangeError} ERR_SHAPE, ERR_MEMORY · of out: as copyFrom, ERR_DEVICE
 * @see PyTorch rand
 * @example
 * rand([2, 3], { generator: new Generator(1) }).shape // [2, 3]
 */
/**
 * The same with options that need not have a dtype.
 *
 * @template {RandomFloating} [D=never]
 * @overload
 * @param {Shape} shape  extents; an integer for one axis
 * @param {DrawOptions<D> | NameOf<D>} [opts]  float32 where no dtype is given; float16, bfloat16 and float64 are possible. out: a tensor of that
 *   shape, with any strides, which gets the same numbers, in its dtype, and is returned
 * @returns {Tensor<Or<D, 'float32'>>} owns its bytes, or out
 * @throws as with a dtype
 */
/**
 * @param {any} shape
 * @param {any} [opts]
 * @returns {any}
 */
function rand(shape, opts) {
  return draw('rand', opcodes.uniform, emptyLayout, shape, opts)
}

/**
 * A tensor of normally distributed numbers, mean 0 and standard deviation 1.
 *
 * @template {RandomFloating} E
 * @overload
 * @param {Shape} shape  extents; an integer for one axis
 * @param {E | (DrawOptions<E> & { dtype: E })} opts  as rand
 * @returns {Tensor<E>} owns its bytes, or out
 * @throws as rand
 * @see PyTorch randn
 * @example
 * randn(4, 'float64').dtype // 'float64'
 */
/**
 * The same with options that need not have a dtype.
 *
 * @template {RandomFloating} [D=never]
 * @overload
 * @param {Shape} shape  extents; an integer for one axis
 * @param {DrawOptions<D> | NameOf<D>} [opts]  as rand
 * @returns {Tensor<Or<D, 'float32'>>} owns its bytes, or out
 * @throws as with a dtype
 */
/**
 * @param {any} shape
 * @param {any} [opts]
 * @returns {any}
 */
function randn(shape, opts) {
  return draw('randn', opcodes.normal, emptyLayout, shape, opts)
}

/**
 * A tensor of integers from [low, high), all exactly equally likely.
 *
 * @template {RandomInteger} E
 * @overload
 * @param {number | bigint} low
 * @param {number | bigint} high  exclusive
 * @param {Shape} shape  extents; an integer for one axis
 * @param {E | (DrawOptions<E> & { dtype: E })} opts  a dtype, or options with one; out as rand
 * @returns {Tensor<E>} owns its bytes, or out
 * @throws {RangeError} ERR_BOUNDS low is not below high, ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_CAST the dtype does not hold them, ERR_DTYPE, ERR_ARGUMENT
 * @see PyTorch randint
 * @example
 * randint(3, 4, [2]).toArray() // [3, 3]
 */
/**
 * The same with options that need not have a dtype.
 *
 * @template {number | bigint} N
 * @template {number | bigint} M
 * @template {RandomInteger} [D=never]
 * @overload
 * @param {N} low
 * @param {M} high  exclusive
 * @param {Shape} shape  extents; an integer for one axis
 * @param {DrawOptions<D> | NameOf<D>} [opts]  int32 where no dtype is given, int64 for bigints; out as rand
 * @returns {Tensor<Or<D, DtypeOfBounds<N | M>>>} owns its bytes, or out
 * @throws as with a dtype
 */
/**
 * @param {any} low
 * @param {any} high
 * @param {any} shape
 * @param {any} [opts]
 * @returns {any}
 */
function randint(low, high, shape, opts) {
  return drawIntegers('randint', emptyLayout, shape, low, high, opts)
}

module.exports = { Generator, manualSeed, rand, randn, randint, draw, drawIntegers }
