'use strict'
// toOrt and fromOrt: onnxruntime's tensors over samebytes' bytes, and the other way round.

const { failure } = require('../base/errors')
const { show, shapeOf } = require('../base/validate')
const { dtypeOfArray, partsOfArray } = require('../base/buffers')
const { Tensor, tensorOf } = require('../tensor/tensor')
const { fromBlob } = require('../tensor/blob')

/** @import { DtypeName } from '../base/types' */
/** The fields that are read here. @template {string} [T=string] @typedef {{ type: T, dims: readonly number[], data: any, location: string }} OrtTensor */
/** @typedef {{ Tensor: new (type: any, data: any, dims: readonly number[]) => any }} Ort what onnxruntime-node and onnxruntime-web export */

/** onnxruntime's tensor types that are dtypes here; the names are the same */
const TYPES = new Set([
  'bool',
  'uint8',
  'int8',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'float16',
  'float32',
  'float64',
])

/** What shows complex numbers as pairs, in place. */
const PAIRS = new Map(Object.entries({ complex64: 'float32', complex128: 'float64' }))

/**
 * Float16Array to Uint16Array: onnxruntime-node reads nothing from a Float16Array, onnxruntime-web takes both.
 *
 * @param {any} data
 * @returns {any} over the same bytes
 */
function asBits(data) {
  if (dtypeOfArray(data) !== 'float16') return data
  const { buffer, byteOffset, length } = partsOfArray(data)
  return new Uint16Array(/** @type {ArrayBuffer} */ (buffer), byteOffset, length)
}

/**
 * Uint16Array with half floats to bytes, which fromBlob takes for float16 in all runtimes.
 *
 * @param {any} data  a typed array
 * @param {string} type  of its elements
 * @returns {any} over the same bytes
 */
function fromBits(data, type) {
  if (type !== 'float16' || dtypeOfArray(data) !== 'uint16') return data
  const { buffer, byteOffset, byteLength } = partsOfArray(data)
  return new Uint8Array(/** @type {ArrayBuffer} */ (buffer), byteOffset, byteLength)
}

/**
 * Does onnxruntime-web work in a worker of its own (`env.wasm.proxy`)? It then transfers the buffers of models and inputs there, so that
 * their owners lose them. What cannot be posted leaves an entry in its queue of answers, so that a later call never settles.
 *
 * @param {any} ort
 */
const isProxied = (ort) =>
  typeof globalThis.document !== 'undefined' && Boolean(ort.env?.wasm?.proxy)

/**
 * A tensor of onnxruntime's class over the same bytes; no copy. It can be an input of a session, or an output to write into
 * (onnxruntime-node writes into it; onnxruntime-web never does). Its `data` getter gives the current typed array, so it stays valid
 * when WebAssembly's memory moves. It keeps the bytes alive until it is disposed or collected, also after t's dispose.
 *
 * @template {Ort} O
 * @param {Tensor} t  row-major contiguous, of a dtype that onnxruntime has; half floats are shown as bits (Uint16Array)
 * @param {O} ort  onnxruntime-node, onnxruntime-web or onnxruntime-common, whose Tensor class is used
 * @returns {InstanceType<O['Tensor']>} an ort.Tensor with t's shape as it is now
 * @throws {TypeError} ERR_DTYPE onnxruntime has no such type, ERR_ARGUMENT · {RangeError} ERR_SHAPE not contiguous (contiguous() copies) · ERR_DETACHED ·
 *   ERR_UNSUPPORTED `ort.env.wasm.proxy` is on in a page: onnxruntime-web would transfer the bytes to its worker
 * @see onnxruntime-common Tensor
 * @example
 * const run = (session, ort, t) => session.run({ input: toOrt(t, ort) })
 */
function toOrt(t, ort) {
  tensorOf(t)
  const Class =
    ort === null || (typeof ort !== 'object' && typeof ort !== 'function') ? undefined : ort.Tensor
  if (typeof Class !== 'function') {
    throw failure(
      'ERR_ARGUMENT',
      `ort is ${show(ort)}; onnxruntime-node, onnxruntime-web or another object with its Tensor was expected`,
    )
  }
  if (isProxied(ort)) {
    throw failure(
      'ERR_UNSUPPORTED',
      'ort.env.wasm.proxy is true: onnxruntime-web would transfer the bytes to its worker; new ort.Tensor(t.dtype, t.data.slice(), t.shape) copies them, as Module does',
    )
  }
  const { dtype } = t
  const shape = t.shape.slice() // ort.Tensor keeps the list
  if (!TYPES.has(dtype)) {
    const pairs = PAIRS.get(dtype)
    const advice =
      pairs === undefined
        ? "astype('float32') copies"
        : `view('${pairs}') shows its numbers as pairs`
    throw failure(
      'ERR_DTYPE',
      `the tensor is of ${dtype}, which onnxruntime has no type for; ${advice}`,
    )
  }
  const data = asBits(t.data)
  const own = t.view(shape) // keeps the bytes after t's dispose
  try {
    const made = new Class(dtype, data, shape)
    follow(made, own)
    return made
  } catch (error) {
    own.dispose()
    throw failure(
      'ERR_ARGUMENT',
      `ort.Tensor refuses ${dtype} of shape [${shape.join(', ')}]: ${error instanceof Error ? error.message : show(error)}`,
    )
  }
}

/**
 * Lets onnxruntime's tensor read `data` from ours at each access, and dispose both.
 *
 * @param {any} made  onnxruntime's, over the bytes of own
 * @param {Tensor} own
 */
function follow(made, own) {
  const { dispose } = made
  Object.defineProperties(made, {
    data: {
      get() {
        if (own.isDisposed) throw failure('ERR_DISPOSED', 'the tensor of onnxruntime was disposed')
        return asBits(own.data)
      },
    },
    dispose: {
      value() {
        try {
          if (typeof dispose === 'function') dispose.call(made)
        } finally {
          own.dispose()
        }
      },
    },
  })
}

/**
 * A tensor over the bytes of onnxruntime's; no copy. Each sees the other's writes, and the bytes live as long as either tensor.
 *
 * @template {string} T
 * @param {OrtTensor<T>} x  a tensor of onnxruntime's on the CPU: of a session's results, or made by ort.Tensor
 * @returns {Tensor<T extends DtypeName ? T : any>} of its type and dims, row-major
 * @throws {TypeError} ERR_DTYPE strings and sub-byte types, ERR_ARGUMENT · ERR_DEVICE it is not in the CPU's memory (await x.getData() first)
 * @see onnxruntime-common Tensor
 * @example
 * fromOrt({ type: 'float32', dims: [2], data: new Float32Array(2), location: 'cpu' }).shape // [2]
 */
function fromOrt(x) {
  if (Tensor.isTensor(x)) {
    throw failure('ERR_ARGUMENT', 'x is a tensor of samebytes; one of onnxruntime was expected')
  }
  const isOne =
    x !== null &&
    typeof x === 'object' &&
    typeof x.type === 'string' &&
    'dims' in x &&
    'location' in x
  if (!isOne) throw failure('ERR_ARGUMENT', `x is ${show(x)}; a tensor of onnxruntime was expected`)
  const { type, dims, location } = x
  if (location !== 'cpu' && location !== 'cpu-pinned') {
    throw failure(
      'ERR_DEVICE',
      `x is at ${show(location)}; a tensor in the CPU's memory was expected (await x.getData() brings it there)`,
    )
  }
  if (!TYPES.has(type)) {
    const what =
      type === 'string'
        ? 'x holds strings, which are no bytes; its data is an array of them'
        : `x is of ${show(type)}, which samebytes has no dtype for`
    throw failure('ERR_DTYPE', what)
  }
  const { data } = x
  const held = dtypeOfArray(data)
  if (held === undefined) {
    throw failure('ERR_ARGUMENT', `x.data is ${show(data)}; a typed array was expected`)
  }
  if (!Array.isArray(dims)) {
    throw failure('ERR_ARGUMENT', `x.dims is ${show(dims)}; an array of integers was expected`)
  }
  const shape = shapeOf(dims, 'x.dims')
  if (held === type) return fromBlob(data, shape)
  return fromBlob(fromBits(data, type), shape, /** @type {any} */ (type))
}

module.exports = { TYPES, asBits, fromBits, isProxied, toOrt, fromOrt }
