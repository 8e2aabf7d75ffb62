'use strict'
// Public: files by their paths, which are mapped, and at URLs, which are read by ranges.

const { functionsOf } = require('../runtime/lazy')
const files = require('../files/files')
const { urlOf } = require('./options')

const { remoteNpy, remoteNpz, remoteSafetensors, remoteGguf } = functionsOf(() => require('./formats'))

/** @import { AnyTensor, DtypeName, NameOf, Or } from '../base/types' */
/** @template {DtypeName} [D=any] @typedef {import('../tensor/tensor').Tensor<D>} Tensor */
/** @typedef {import('../files/tensor-file').TensorFile} TensorFile */
/** @typedef {import('./remote-file').RemoteFile} RemoteFile */
/** @typedef {import('./options').RemoteOptions} RemoteOptions */

/** A URL of http: or https:. A file: URL is a path; TypeScript takes it for one where options of paths are given, else `fileURLToPath(url)` says so. @typedef {URL | `http://${string}` | `https://${string}`} RemoteUrl */

/**
 * The array of a .npy file at a URL, read into memory of its own or of `out`.
 *
 * @template {DtypeName} [D=never]
 * @overload
 * @param {RemoteUrl} url
 * @param {RemoteOptions & { dtype?: D | undefined, out?: AnyTensor | undefined, onProgress?: ((progress: { done: number, total: number }) => void) | undefined }} [opts]
 * dtype: of an array that NumPy wrote as raw bytes; out and onProgress: as of `load` of a file object; signal: of all of it
 * @returns {Promise<Tensor<Or<D, any>>>} out, or a new tensor
 * @throws ERR_FORMAT · ERR_NOT_FOUND, ERR_IO, ERR_UNSUPPORTED what the server answers, with status where it has one · ERR_STALE the file was changed
 * meanwhile · as `load` of a file object · as rejections
 * @example
 * const shape = async url => (await openNpy(url)).shape
 */
/**
 * The array of a .npy file, mapped: its header is read, its data when it is used. Mode 'r': read-only (what is written through
 * `data` nevertheless stays private); 'r+': writes reach the file; 'c': writes stay private. Who makes the file shorter while it
 * is mapped makes the use of what was cut off end the process, or with `guard: true` fail.
 *
 * @template {DtypeName} [D=never]
 * @overload
 * @param {string | URL} path  a URL is one of file:
 * @param {{ mode?: 'r' | 'r+' | 'c' | undefined, dtype?: D | undefined, guard?: boolean | undefined } | NameOf<D>} [opts]  dtype: of an array that NumPy wrote as raw bytes.
 * guard: pages that are cut off read as zeros, and once one was touched each use of the file's tensors is ERR_IO; until then
 * nobody looks, and data that was taken before goes on giving zeros
 * @returns {Tensor<Or<D, any>>} over the file, which is unmapped when nobody uses it. A copy where it is big-endian or not aligned
 * @throws ERR_FORMAT · ERR_NOT_FOUND, ERR_IO, with errno and path · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_UNSUPPORTED in
 * WASM; big-endian in mode 'r+'; guard, where a handler of SIGBUS was installed after ours
 * @see NumPy load(mmap_mode)
 * @example
 * const sum = path => openNpy(path).toArray().reduce((a, b) => a + b)
 */
/**
 * @param {any} path
 * @param {any} [opts]
 * @returns {any}
 */
function openNpy (path, opts) {
  const url = urlOf(path)
  return url === null ? files.openNpy(path, opts) : remoteNpy(url, opts)
}

/**
 * The arrays of an .npz file at a URL, by name: its directory is read, each array when it is loaded.
 *
 * @overload
 * @param {RemoteUrl} url
 * @param {RemoteOptions & { dtype?: DtypeName | undefined }} [opts]  dtype: of arrays that have none
 * @returns {Promise<RemoteFile>}
 * @throws as openNpy of a URL
 * @example
 * const names = async url => [...(await openNpz(url)).keys()]
 */
/**
 * The arrays of an .npz file by name, as parseNpz gives them, over the mapped file.
 *
 * @overload
 * @param {string | URL} path  a URL is one of file:
 * @param {{ mode?: 'r' | 'r+' | 'c' | undefined, dtype?: DtypeName | undefined, guard?: boolean | undefined } | DtypeName} [opts]  as openNpy; dtype: of arrays that have none
 * @returns {TensorFile}
 * @throws as openNpy
 * @see NumPy load
 * @example
 * const names = path => [...openNpz(path).keys()]
 */
/**
 * @param {any} path
 * @param {any} [opts]
 * @returns {any}
 */
function openNpz (path, opts) {
  const url = urlOf(path)
  return url === null ? files.openNpz(path, opts) : remoteNpz(url, opts)
}

/**
 * The tensors of a .safetensors file at a URL, by name: its header is read, each tensor when it is loaded. A URL that ends in `.index.json` is
 * that of an index of several files, which reads as one.
 *
 * @overload
 * @param {RemoteUrl} url
 * @param {RemoteOptions} [opts]
 * @returns {Promise<RemoteFile>}
 * @throws as openNpy of a URL
 * @example
 * const weight = async url => (await openSafetensors(url)).load('weight')
 */
/**
 * The tensors of a .safetensors file by name, over the mapped file.
 *
 * @overload
 * @param {string | URL} path  a URL is one of file:
 * @param {{ mode?: 'r' | 'r+' | 'c' | undefined, guard?: boolean | undefined }} [opts]  as openNpy
 * @returns {TensorFile}
 * @throws as openNpy · ERR_ALIGNMENT from get(), in mode 'r+', where a tensor is not aligned in the file
 * @see safetensors safe_open
 * @example
 * const shapes = path => [...openSafetensors(path)].map(([name, t]) => [name, t.shape])
 */
/**
 * @param {any} path
 * @param {any} [opts]
 * @returns {any}
 */
function openSafetensors (path, opts) {
  const url = urlOf(path)
  return url === null ? files.openSafetensors(path, opts) : remoteSafetensors(url, opts)
}

/**
 * The tensors of a .gguf file at a URL, by name: its header is read, each tensor when it is loaded.
 *
 * @overload
 * @param {RemoteUrl} url
 * @param {RemoteOptions} [opts]
 * @returns {Promise<RemoteFile>}
 * @throws as openNpy of a URL
 * @example
 * const architecture = async url => (await openGguf(url)).metadata['general.architecture']
 */
/**
 * The tensors of a .gguf file by name, as parseGguf gives them, over the mapped file.
 *
 * @overload
 * @param {string | URL} path  a URL is one of file:
 * @param {{ mode?: 'r' | 'r+' | 'c' | undefined, guard?: boolean | undefined }} [opts]  as openNpy
 * @returns {TensorFile}
 * @throws as openNpy
 * @see ggml gguf_init_from_file
 * @example
 * const architecture = path => openGguf(path).metadata['general.architecture']
 */
/**
 * @param {any} path
 * @param {any} [opts]
 * @returns {any}
 */
function openGguf (path, opts) {
  const url = urlOf(path)
  return url === null ? files.openGguf(path, opts) : remoteGguf(url, opts)
}

module.exports = { openNpy, openNpz, openSafetensors, openGguf }
