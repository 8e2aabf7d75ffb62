'use strict'
// Functions that make tensors with bytes of their own.

const { Array, arrayJoin } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { countCopy, countStaged } = require('../backend/storage')
const { show, shapeOf, optionsOf, isOptions, castingOf } = require('../base/validate')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { dtypeOfArray, partsOfLive } = require('../base/buffers')
const { flatten, scalarFor } = require('../layout/values')
const { placeLike } = require('../layout/placement')
const { denseLayout, allocated, withBytes, emptyLayout, written, layoutOver, layoutOverBytes, bytesOf } = require('../layout/layouts')
const { writeValues } = require('../layout/elements')
const { Tensor, wrap } = require('./tensor')

/** @import { DtypeName, NameOf, Or, Shape, Value, Casting, TensorData, MakeOptions, RequiredDtype, ResultOptions, DtypeOfValue, DtypeOfData } from '../base/types' */

/**
 * (shape, options), or options in place of an omitted shape.
 *
 * @param {unknown} shape
 * @param {unknown} opts
 * @returns {{ given: unknown, asked: Record<string, any> }}
 */
function shapeAndOptions (shape, opts) {
  return opts === undefined && shape !== undefined && shape !== null && isOptions(shape)
    ? { given: undefined, asked: optionsOf(shape) }
    : { given: shape === null ? undefined : shape, asked: optionsOf(opts) }
}

const FLOAT32 = dtypeOf('float32')

/**
 * A tensor of uninitialised elements.
 *
 * @template {DtypeName} [D=never]
 * @param {Shape} shape  extents; an integer for one axis
 * @param {MakeOptions<D> | NameOf<D>} [opts]  float32 where no dtype is given
 * @returns {Tensor<Or<D, 'float32'>>} row-major; owns its bytes, 64-byte aligned (at most 64 of them whose `data` was read
 *   before their address: 16)
 * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_DEVICE, ERR_UNSUPPORTED
 * @see array API empty
 * @example
 * empty([2, 3], 'uint8').nbytes // 6
 */
function empty (shape, opts) {
  if (opts === undefined && Array.isArray(shape)) return wrap(allocated(denseLayout(FLOAT32.index, shape)))
  return make(emptyLayout, shape, opts, false)
}

/**
 * @param {import('../layout/layouts').Lay} lay
 * @param {unknown} what  for lay
 * @param {unknown} opts
 * @param {boolean} zeroed
 * @param {import('../backend/dtypes').Dtype} [missing]  where the options name no dtype
 * @returns {Tensor}
 */
function make (lay, what, opts, zeroed, missing = FLOAT32) {
  const options = optionsOf(opts)
  const { dtype: name } = options
  return wrap(lay(name === undefined ? missing : dtypeOf(name), what, options, zeroed))
}

/**
 * @param {import('../layout/layouts').Lay} lay
 * @param {unknown} what  for lay
 * @param {unknown} value
 * @param {unknown} opts
 * @param {import('../backend/dtypes').Dtype} [missing]  where the options name no dtype; else the value's
 * @returns {Tensor}
 */
function makeFull (lay, what, value, opts, missing) {
  const options = optionsOf(opts)
  const { dtype: name } = options
  const dtype = name === undefined && missing !== undefined
    ? missing
    : dtypeOf(name !== undefined ? name : Array.isArray(value) ? 'complex64' : typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'int64' : 'float32')
  const scalar = scalarFor(value, dtype)
  return wrap(written(lay(dtype, what, options, false), layout => ffi.fill(layout, scalar)))
}

/**
 * A tensor of zeros.
 *
 * @template {DtypeName} [D=never]
 * @param {Shape} shape  extents; an integer for one axis
 * @param {MakeOptions<D> | NameOf<D>} [opts]  float32 where no dtype is given
 * @returns {Tensor<Or<D, 'float32'>>} owns its bytes
 * @throws as empty
 * @see array API zeros
 * @example
 * zeros([2], 'int64').toArray() // [ 0n, 0n ]
 */
function zeros (shape, opts) {
  return make(emptyLayout, shape, opts, true)
}

/**
 * A tensor of ones.
 *
 * @template {DtypeName} [D=never]
 * @param {Shape} shape  extents; an integer for one axis
 * @param {MakeOptions<D> | NameOf<D>} [opts]  float32 where no dtype is given
 * @returns {Tensor<Or<D, 'float32'>>} owns its bytes
 * @throws as empty
 * @see array API ones
 * @example
 * ones(3, { dtype: 'bool' }).toArray() // [true, true, true]
 */
function ones (shape, opts) {
  return make(emptyLayout, shape, opts, false).fill(1)
}

/**
 * A tensor with one value everywhere.
 *
 * @template {Value} V
 * @template {DtypeName} [D=never]
 * @param {Shape} shape  extents; an integer for one axis
 * @param {V} value  number -> float32, bigint -> int64, boolean -> bool, pair -> complex64, unless a dtype is given
 * @param {MakeOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, DtypeOfValue<V>>>} owns its bytes
 * @throws as empty · {TypeError} ERR_CAST the value does not fit
 * @see array API full
 * @example
 * full([2, 2], 7, 'uint8').toArray() // [[7, 7], [7, 7]]
 */
function full (shape, value, opts) {
  return makeFull(emptyLayout, shape, value, opts)
}

/**
 * A tensor without axes.
 *
 * @template {Value} V
 * @template {DtypeName} [D=never]
 * @param {V} value  dtype as full
 * @param {MakeOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, DtypeOfValue<V>>>} owns its bytes
 * @throws as full
 * @see PyTorch scalar_tensor, ExecuTorch scalar_tensor
 * @example
 * scalarTensor(2n).dtype // 'int64'
 */
function scalarTensor (value, opts) {
  return makeFull(emptyLayout, [], value, opts)
}

/**
 * Copies values into a new tensor: a number, bigint, boolean, nested or iterable lists of them,
 * a typed array, or a tensor. Numbers become float32, not float64.
 *
 * @template {TensorData} T
 * @template {DtypeName} [D=never]
 * @param {T} data  in logical order; it stays the caller's
 * @param {Shape | null | MakeOptions<D> | NameOf<D>} [shape]  the data's where none is given
 * @param {MakeOptions<D> | NameOf<D>} [opts]
 * @returns {Tensor<Or<D, DtypeOfData<T>>>} owns its bytes
 * @throws {RangeError} ERR_SHAPE ragged, or another count, ERR_MEMORY · {TypeError} ERR_CAST a value or a dtype does not fit, ERR_DTYPE, ERR_ARGUMENT ·
 *   ERR_DETACHED
 * @see PyTorch tensor, array API asarray with copy
 * @example
 * tensor([[1, 2], [3, 4]]).shape // [2, 2]
 */
function tensor (data, shape, opts) {
  const { given, asked } = shapeAndOptions(shape, opts)
  const { dtype, device, dynamism, order, shared, pinMemory, casting } = asked
  const made = copyOf(data, given === undefined ? null : shapeOf(given), { dtype, device, dynamism, order, shared, pinMemory, casting })
  countCopy('tensor', made.nbytes)
  return made
}

/**
 * @param {any} data
 * @param {number[] | null} extents  null: the data's
 * @param {MakeOptions} options  without getters
 * @returns {Tensor}
 */
function copyOf (data, extents, options) {
  const casting = castingOf(options.casting)
  const named = options.dtype === undefined ? undefined : dtypeOf(options.dtype)
  const arrayType = dtypeOfArray(data)
  if (Tensor.isTensor(data)) {
    const source = Tensor.layoutOf(data)
    const made = emptyLayout(named ?? dtypes[source.dtype], countFits(extents ?? source.shape, source.size), options, false)
    return wrap(written(made, made => fillFrom(made, source, casting, extents !== null)))
  }
  if (arrayType !== undefined) {
    const from = dtypeOf(arrayType)
    const { length } = partsOfLive(data, 'the typed array')
    const source = layoutOver(data, from.index, [length]) // before memory grows under it
    const made = emptyLayout(named ?? from, countFits(extents ?? [length], length), options, false)
    return wrap(written(made, made => fillFrom(made, source, casting, true)))
  }
  const { values, shape: found } = flatten('data', data, named !== undefined && named.kind === 'COMPLEX')
  const made = emptyLayout(named ?? dtypeOf(values.dtype), countFits(extents ?? found, values.count), options, false)
  return wrap(written(made, made => writeValues(made, values)))
}

/**
 * @param {number[]} shape
 * @param {number} count
 * @returns {number[]}
 */
function countFits (shape, count) {
  const { size } = ffi.dense(0, shape)
  if (size !== count) throw failure('ERR_SHAPE', `shape [${arrayJoin(shape)}] has ${size} elements; the data has ${count}`)
  return shape
}

/**
 * @param {InstanceType<typeof ffi.Layout>} target
 * @param {InstanceType<typeof ffi.Layout>} source
 * @param {number} casting
 * @param {boolean} reshaped  the source's shape is not the target's
 */
function fillFrom (target, source, casting, reshaped) {
  if (!reshaped) {
    ffi.copy(target, source, casting)
    return
  }
  const viewed = ffi.reshape(source, target.shape)
  if (viewed.storage !== ffi.nothing || source.storage === ffi.nothing) {
    ffi.copy(target, viewed, casting)
  } else { // strides that no view can follow: in logical order first
    const flat = withBytes(ffi.dense(source.dtype, source.shape), 0, false, placeLike(source.storage))
    viewed.storage = flat.storage
    try {
      ffi.copy(flat, source, 0)
      countStaged(viewed.storage.nbytes)
      ffi.copy(target, viewed, casting)
    } finally {
      ffi.backend.release(viewed.storage)
    }
  }
}

/**
 * Copies raw bytes and reads them as a dtype.
 *
 * @template {DtypeName} [D=any]
 * @param {ArrayBufferView | ArrayBufferLike} bytes  exactly as many as the shape needs; they stay the caller's
 * @param {Shape} shape  elements
 * @param {RequiredDtype<D> | NameOf<D>} opts  dtype is required
 * @returns {Tensor<D>} owns its bytes
 * @throws {RangeError} ERR_SHAPE another length, ERR_MEMORY · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_DETACHED
 * @see NumPy frombuffer, which does not copy, ExecuTorch make_tensor_ptr over std::vector<uint8_t>
 * @example
 * fromBytes(Uint8Array.of(1, 0, 0, 1), [2], 'int16').toArray() // [1, 256]
 */
function fromBytes (bytes, shape, opts) {
  const { dtype: name, device, dynamism, order, shared, pinMemory } = optionsOf(opts)
  const options = { device, dynamism, order, shared, pinMemory }
  const dtype = dtypeOf(name)
  const parts = bytesOf(bytes)
  const extents = shapeOf(shape)
  const nbytes = ffi.dense(dtype.index, extents).size * dtype.itemsize
  if (parts.byteLength !== nbytes) throw failure('ERR_SHAPE', `bytes has ${parts.byteLength} bytes; the shape needs ${nbytes}`)
  const source = layoutOverBytes(parts, dtype.index, extents)
  const made = written(emptyLayout(dtype, extents, options, false), made => ffi.copy(made, source, 0))
  countCopy('fromBytes', nbytes)
  return wrap(made)
}

/**
 * A copy with bytes of its own, its axes in the same order of storage.
 *
 * @template {DtypeName} D
 * @template {DtypeName} [E=never]
 * @param {Tensor<D>} t
 * @param {ResultOptions<E> | NameOf<E>} [opts]
 * @returns {Tensor<Or<E, D>>}
 * @throws {TypeError} ERR_ARGUMENT t is no tensor · as the method of this name
 * @see PyTorch clone, ExecuTorch clone_tensor_ptr
 * @example
 * clone(zeros([2]), 'float64').dtype // 'float64'
 */
function clone (t, opts) {
  Tensor.layoutOf(tensorOf(t))
  return t.clone(opts)
}

/**
 * @param {unknown} t
 * @param {string} [name]  of the argument, for messages
 * @returns {Tensor}
 */
function tensorOf (t, name = 't') {
  if (!Tensor.isTensor(t)) throw failure('ERR_ARGUMENT', `${name} is ${show(t)}; a tensor was expected`)
  return t
}

/**
 * Do two tensors have a byte in common? Judged by address.
 *
 * @overload
 * @param {Tensor} a
 * @param {Tensor} b
 * @returns {boolean}
 * @throws {TypeError} ERR_ARGUMENT other than two tensors · {RangeError} ERR_MEMORY interleaved layouts need a bit for each byte · ERR_DISPOSED
 * @see NumPy shares_memory
 * @example
 * const t = zeros([4])
 * sharesMemory(t.slice(':2'), t.slice('2:')) // false
 */
/**
 * The same of a list of two tensors.
 *
 * @overload
 * @param {readonly [Tensor, Tensor]} list
 * @returns {boolean}
 * @throws as with two
 */
/**
 * @param {...any} args
 * @returns {boolean}
 */
function sharesMemory (...args) {
  const given = args.length === 1 && Array.isArray(args[0]) ? args[0] : args
  const { length } = given
  if (length !== 2) throw failure('ERR_ARGUMENT', `${length} tensors were given; two were expected`)
  const a = tensorOf(given[0], 'a')
  const b = tensorOf(given[1], 'b')
  return ffi.sharesMemory(Tensor.layoutOf(a), Tensor.layoutOf(b))
}

/**
 * May one dtype be cast to another?
 *
 * @param {DtypeName} from
 * @param {DtypeName} to
 * @param {Casting} [casting]  'same_kind' where none is given
 * @returns {boolean}
 * @throws {TypeError} ERR_DTYPE, ERR_ARGUMENT
 * @see array API can_cast, with NumPy's levels
 * @example
 * canCast('int64', 'float64', 'safe') // false
 */
function canCast (from, to, casting) {
  return ffi.canCast(dtypeOf(from).index, dtypeOf(to).index, castingOf(casting))
}

module.exports = { tensor, empty, zeros, ones, full, scalarTensor, fromBytes, clone, sharesMemory, canCast, make, makeFull, copyOf, tensorOf }
