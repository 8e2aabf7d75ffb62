'use strict'
// Public, in Node: files mapped as tensors.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { boolean, integer, optionsOf, isOptions, shapeOf, oneOf } = require('../base/validate')
const { dtypeOf } = require('../backend/dtypes')
const { denseLayout } = require('../layout/layouts')
const { wrap } = require('../tensor/tensor')
const { widthOf } = require('./entries')
const { MODES, MappedFile } = require('./mapped-file')
const { onlyTensor } = require('./npy')
const { npzFile } = require('./npz')
const { safetensorsFile } = require('./safetensors')
const { ggufFile } = require('./gguf')
const { pathOf } = require('./paths')
const { formatError } = require('./system-errors')

const { backend, Layout, GUARDS } = ffi

/** What reads a file at a URL @type {Record<string, string | undefined>} */
const FETCHING = {
  openNpy: 'fetchNpy',
  openNpz: 'fetchNpz',
  openSafetensors: 'fetchSafetensors',
  openGguf: 'fetchGguf',
}

/** @import { DtypeName, NameOf, Or, Shape } from '../base/types' */
/** @template {DtypeName} [D=any] @typedef {import('../tensor/tensor').Tensor<D>} Tensor */
/** @typedef {import('./tensor-file').TensorFile} TensorFile */

const OF_FILE = ['mode', 'guard']
const OF_ARRAYS = ['mode', 'guard', 'dtype']

/**
 * @param {unknown} opts
 * @param {readonly string[]} names  of options
 * @param {string} where  the function
 * @returns {{ mode: number, guard: number, dtype: any, byteOffset: any }}
 */
function openOptions(opts, names, where) {
  if (/** @type {readonly unknown[]} */ (MODES).includes(opts)) {
    throw failure('ERR_ARGUMENT', `options is "${opts}"; { mode: '${opts}' } was expected`)
  } // as NumPy's load has it
  const { mode, guard, dtype, byteOffset } = optionsOf(opts, names, where)
  const modeIndex = mode === undefined ? 0 : oneOf('mode', mode, MODES)
  const guards = boolean('guard', guard) ? GUARDS.needed : GUARDS.none
  if (dtype !== undefined) dtypeOf(dtype)
  return { mode: modeIndex, guard: guards, dtype, byteOffset }
}

/**
 * Maps a file and makes something of it; if that fails, the file is closed.
 *
 * @template R
 * @param {unknown} path
 * @param {{ mode: number, guard: number }} options
 * @param {string} reason  under which copies are counted
 * @param {(source: MappedFile) => R} make
 * @returns {R}
 */
function openMapped(path, options, reason, make) {
  const file = pathOf(path, FETCHING[reason])
  if (backend.isWasm) {
    throw failure(
      'ERR_UNSUPPORTED',
      `mapping a file needs the native addon${backend.hint}; load() reads one, as does parse... of its bytes`,
    )
  }
  const source = new MappedFile(file, options, reason)
  try {
    const result = make(source)
    source.closeDescriptor()
    return result
  } catch (error) {
    source.close()
    throw formatError(error, file)
  }
}

/**
 * The array of a .npy file, mapped: its header is read, its data when it is used. Mode 'r': read-only (what is written through
 * `data` nevertheless stays private); 'r+': writes reach the file; 'c': writes stay private. Who makes the file shorter while it
 * is mapped makes the use of what was cut off end the process, or with `guard: true` fail.
 *
 * @template {DtypeName} [D=never]
 * @param {string | URL} path  a URL is one of file:; `fetchNpy` reads others
 * @param {{ mode?: 'r' | 'r+' | 'c' | undefined, dtype?: D | undefined, guard?: boolean | undefined } | NameOf<D>} [opts]  dtype: of an array that NumPy wrote as raw bytes.
 * guard: pages that are cut off read as zeros, and once one was touched each use of the file's tensors is ERR_IO; until then
 * nobody looks, and data that was taken before goes on giving zeros
 * @returns {Tensor<Or<D, any>>} over the file, which is unmapped when nobody uses it. A copy where it is big-endian or not aligned
 * @throws ERR_FORMAT, with path · ERR_NOT_FOUND, ERR_IO, with errno and path · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_UNSUPPORTED in
 * WASM; big-endian in mode 'r+'
 * @see NumPy load(mmap_mode)
 * @example
 * const sum = path => openNpy(path).toArray().reduce((a, b) => a + b)
 */
function openNpy(path, opts) {
  const options = openOptions(opts, OF_ARRAYS, 'openNpy')
  return openMapped(path, options, 'openNpy', (source) => onlyTensor(source, options.dtype))
}

/**
 * The arrays of an .npz file by name, as parseNpz gives them, over the mapped file.
 *
 * @param {string | URL} path  a URL is one of file:; `fetchNpz` reads others
 * @param {{ mode?: 'r' | 'r+' | 'c' | undefined, dtype?: DtypeName | undefined, guard?: boolean | undefined } | DtypeName} [opts]  as openNpy; dtype: of arrays that have none
 * @returns {TensorFile}
 * @throws as openNpy
 * @see NumPy load
 * @example
 * const names = path => [...openNpz(path).keys()]
 */
function openNpz(path, opts) {
  const options = openOptions(opts, OF_ARRAYS, 'openNpz')
  return openMapped(path, options, 'openNpz', (source) => npzFile(source, options.dtype))
}

/**
 * The tensors of a .safetensors file by name, over the mapped file.
 *
 * @param {string | URL} path  a URL is one of file:; `fetchSafetensors` reads others
 * @param {{ mode?: 'r' | 'r+' | 'c' | undefined, guard?: boolean | undefined }} [opts]  as openNpy
 * @returns {TensorFile}
 * @throws as openNpy · ERR_ALIGNMENT from get(), in mode 'r+', where a tensor is not aligned in the file
 * @see safetensors safe_open
 * @example
 * const shapes = path => [...openSafetensors(path)].map(([name, t]) => [name, t.shape])
 */
function openSafetensors(path, opts) {
  return openMapped(
    path,
    openOptions(opts, OF_FILE, 'openSafetensors'),
    'openSafetensors',
    safetensorsFile,
  )
}

/**
 * The tensors of a .gguf file by name, as parseGguf gives them, over the mapped file.
 *
 * @param {string | URL} path  a URL is one of file:; `fetchGguf` reads others
 * @param {{ mode?: 'r' | 'r+' | 'c' | undefined, guard?: boolean | undefined }} [opts]  as openNpy
 * @returns {TensorFile}
 * @throws as openNpy
 * @see ggml gguf_init_from_file
 * @example
 * const architecture = path => openGguf(path).metadata['general.architecture']
 */
function openGguf(path, opts) {
  return openMapped(path, openOptions(opts, OF_FILE, 'openGguf'), 'openGguf', ggufFile)
}

/**
 * The bytes of any file as a tensor, mapped.
 *
 * @template {DtypeName} [D=never]
 * @param {string | URL} path
 * @param {Shape | null} [shape]  elements; 1-D over the rest of the file unless told
 * @param {{ dtype?: D | undefined, byteOffset?: number | undefined, mode?: 'r' | 'r+' | 'c' | undefined, guard?: boolean | undefined } | NameOf<D>} [opts]  dtype is needed
 * @returns {Tensor<Or<D, any>>} over the file, as openNpy
 * @throws {TypeError} ERR_DTYPE · {RangeError} ERR_BOUNDS outside the file, ERR_ALIGNMENT · ERR_NOT_FOUND, ERR_IO · ERR_UNSUPPORTED
 * @see NumPy memmap
 * @example
 * const samples = path => openRaw(path, { dtype: 'int16', byteOffset: 44 })
 */
function openRaw(path, shape, opts) {
  if (opts === undefined && shape !== undefined && shape !== null && isOptions(shape)) {
    ;[shape, opts] = [undefined, /** @type {any} */ (shape)]
  }
  const options = openOptions(opts, ['mode', 'guard', 'dtype', 'byteOffset'], 'openRaw')
  const { dtype: name, byteOffset = 0 } = options
  if (name === undefined) {
    throw failure('ERR_DTYPE', 'dtype is needed: a file of raw bytes does not tell what they are')
  }
  const dtype = dtypeOf(name)
  const { index, itemsize } = dtype
  const at = integer('byteOffset', byteOffset)
  const extents = shape === undefined || shape === null ? null : shapeOf(shape)
  return openMapped(path, options, 'openRaw', (source) => {
    if (at < 0 || at > source.size) {
      throw failure('ERR_BOUNDS', `byteOffset is ${at}; the file has ${source.size} bytes`)
    }
    const bare = denseLayout(index, extents ?? [Math.floor((source.size - at) / itemsize)])
    const nbytes = bare.size * itemsize
    if (nbytes > source.size - at) {
      throw failure(
        'ERR_BOUNDS',
        `shape [${bare.shape.join(', ')}] of ${name} from byte ${at} on needs ${nbytes} bytes; the file has ${source.size}`,
      )
    }
    const alignment = widthOf(dtype)
    const storage =
      nbytes === 0 ? backend.allocate(0, ffi.check) : source.storageAt(at, nbytes, alignment)
    if (storage === null) {
      throw failure(
        'ERR_ALIGNMENT',
        `byteOffset is ${at}; ${name} needs a multiple of ${alignment}`,
      )
    }
    const t = wrap(
      new Layout(storage, index, bare.shape, bare.strides, 0, bare.size, bare.flags | source.flags),
    )
    source.close()
    return t
  })
}

module.exports = { openNpy, openNpz, openSafetensors, openGguf, openRaw }
