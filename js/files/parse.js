'use strict'
// Public: the tensors in bytes that are in memory, in Node and in browsers.

const { failure } = require('../base/errors')
const { integer, optionsOf } = require('../base/validate')
const { dtypeOf } = require('../backend/dtypes')
const { denseLayout, withBytes } = require('../layout/layouts')
const { wrap } = require('../tensor/tensor')
const { ofBytes } = require('./byte-source')
const { onlyTensor } = require('./npy')
const { npzFile } = require('./npz')
const { safetensorsFile } = require('./safetensors')
const { ggufFile } = require('./gguf')

/** @import { DtypeName, NameOf, Or } from '../base/types' */
/** @template {DtypeName} [D=any] @typedef {import('../tensor/tensor').Tensor<D>} Tensor */
/** @typedef {import('./tensor-file').TensorFile} TensorFile */

/**
 * The array in the bytes of a .npy file, without copying it: what is written to the tensor is in the bytes. Only
 * arrays that are not aligned there, and big-endian ones, are copied (counted in `memory().copied`).
 *
 * @template {DtypeName} [D=never]
 * @param {ArrayBufferView | ArrayBufferLike} bytes  of the file, which may be longer
 * @param {{ dtype?: D | undefined } | NameOf<D>} [opts]  dtype: of an array that NumPy wrote as raw bytes (bfloat16, float8)
 * @returns {Tensor<Or<D, any>>} over the bytes, which stay the caller's; in Fortran order where the file is
 * @throws ERR_FORMAT, with the byte and the reason · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_DETACHED
 * @see NumPy lib.format
 * @example
 * parseNpy(toNpyBytes(tensor([1, 2]))).toArray() // [1, 2]
 */
function parseNpy(bytes, opts) {
  const { dtype } = optionsOf(opts, ['dtype'], 'parseNpy')
  if (dtype !== undefined) dtypeOf(dtype)
  return ofBytes(bytes, 'parseNpy', (source) => onlyTensor(source, dtype))
}

/**
 * The arrays in the bytes of an .npz file, by name. Stored ones are views of the bytes where they are aligned; deflated ones
 * are inflated, which a browser does asynchronously only: `await file.load(name)`.
 *
 * @param {ArrayBufferView | ArrayBufferLike} bytes  of the whole file
 * @param {{ dtype?: DtypeName | undefined } | DtypeName} [opts]  dtype: of arrays that NumPy wrote as raw bytes (bfloat16, float8)
 * @returns {TensorFile}
 * @throws ERR_FORMAT, with the byte and the reason · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_DETACHED
 * @see NumPy load
 * @example
 * const names = bytes => [...parseNpz(bytes).keys()]
 */
function parseNpz(bytes, opts) {
  const { dtype } = optionsOf(opts, ['dtype'], 'parseNpz')
  if (dtype !== undefined) dtypeOf(dtype)
  return ofBytes(bytes, 'parseNpz', (source) => npzFile(source, dtype))
}

/**
 * The tensors in the bytes of a .safetensors file, by name: views of the bytes, but of those that are not aligned.
 *
 * @param {ArrayBufferView | ArrayBufferLike} bytes  of the whole file
 * @returns {TensorFile}
 * @throws ERR_FORMAT, with the byte and the reason · {TypeError} ERR_ARGUMENT · ERR_DETACHED
 * @see safetensors load
 * @example
 * const shapes = bytes => [...parseSafetensors(bytes)].map(([name, t]) => [name, t.shape])
 */
function parseSafetensors(bytes) {
  return ofBytes(bytes, 'parseSafetensors', safetensorsFile)
}

/**
 * The tensors in the bytes of a .gguf file, by name: views of the bytes. Quantised ones come as uint8, their last axis
 * counting bytes; `info(name)` says what a block of them is.
 *
 * @param {ArrayBufferView | ArrayBufferLike} bytes  of the whole file
 * @returns {TensorFile}
 * @throws ERR_FORMAT, with the byte and the reason · {TypeError} ERR_ARGUMENT · ERR_DETACHED
 * @see ggml gguf_init_from_file
 * @example
 * const names = bytes => [...parseGguf(bytes).keys()]
 */
function parseGguf(bytes) {
  return ofBytes(bytes, 'parseGguf', ggufFile)
}

/**
 * Uninitialised bytes that are cheapest to parse from here: aligned, and in WASM in linear memory, where C reads them without
 * a copy. There they are gone when the memory grows, and a subarray does not keep them: fill and parse them before another await.
 *
 * @param {number} n  bytes
 * @returns {Uint8Array}
 * @throws {RangeError} ERR_BOUNDS, ERR_MEMORY · {TypeError} ERR_ARGUMENT
 * @example
 * alloc(4096).length // 4096
 */
function alloc(n) {
  const nbytes = integer('n', n)
  if (nbytes < 0) throw failure('ERR_BOUNDS', `n is ${n}; 0 or more was expected`)
  const bare = denseLayout(dtypeOf('uint8').index, [nbytes])
  return /** @type {any} */ (wrap(withBytes(bare, 0, false)).data)
}

module.exports = { parseNpy, parseNpz, parseSafetensors, parseGguf, alloc }
