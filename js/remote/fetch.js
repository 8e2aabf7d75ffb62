'use strict'
// Public: files at URLs, which are read by ranges.

const { optionsOf } = require('../base/validate')
const { planAt, indexPlan } = require('./formats')
const { OF_FETCHING, loadingOf, openingOf, urlOf } = require('./options')
const { remoteFile } = require('./remote-file')
const { whileBusy } = require('./remote-source')
const { isIndex } = require('./shards')

/** @import { AnyTensor, DtypeName, Or } from '../base/types' */
/** @template {DtypeName} [D=any] @typedef {import('../tensor/tensor').Tensor<D>} Tensor */
/** @typedef {import('./remote-file').RemoteFile} RemoteFile */
/** @typedef {import('./options').RemoteOptions} RemoteOptions */

/**
 * The array of a .npy file at a URL, read into memory of its own or of `out`.
 *
 * @template {DtypeName} [D=never]
 * @param {string | URL} url  of http: or https:; in a page it may be relative, as for `fetch`
 * @param {RemoteOptions & { dtype?: D | undefined, out?: AnyTensor | undefined, onProgress?: ((progress: { done: number, total: number }) => void) | undefined }} [opts]
 * dtype: of an array that NumPy wrote as raw bytes; out and onProgress: as of `load` of a file object; signal: of all of it
 * @returns {Promise<Tensor<Or<D, any>>>} out, or a new tensor
 * @throws ERR_FORMAT · ERR_NOT_FOUND, ERR_IO, ERR_UNSUPPORTED what the server answers, with status where it has one · ERR_STALE the file was changed
 * meanwhile · {TypeError} ERR_ARGUMENT no URL, such as a path · as `load` of a file object · as rejections
 * @see NumPy load
 * @example
 * const shape = async url => (await fetchNpy(url)).shape
 */
async function fetchNpy(url, opts) {
  const from = urlOf(url, 'openNpy')
  const opening = openingOf(opts, [...OF_FETCHING, 'dtype', 'out', 'onProgress'], 'fetchNpy')
  const loading = loadingOf({ ...optionsOf(opts), dtype: undefined })
  return whileBusy(loading.out, async () => {
    const plan = await planAt(from, opening, 'npy')
    try {
      return await plan.load('', loading)
    } finally {
      plan.close()
    }
  })
}

/**
 * The arrays of an .npz file at a URL, by name: its directory is read, each array when it is loaded.
 *
 * @param {string | URL} url  as of fetchNpy
 * @param {RemoteOptions & { dtype?: DtypeName | undefined }} [opts]  dtype: of arrays that have none
 * @returns {Promise<RemoteFile>}
 * @throws as fetchNpy
 * @see NumPy load
 * @example
 * const names = async url => [...(await fetchNpz(url)).keys()]
 */
async function fetchNpz(url, opts) {
  const from = urlOf(url, 'openNpz')
  return remoteFile(
    await planAt(from, openingOf(opts, [...OF_FETCHING, 'dtype'], 'fetchNpz'), 'npz'),
  )
}

/**
 * The tensors of a .safetensors file at a URL, by name: its header is read, each tensor when it is loaded. A URL that ends in `.index.json` is
 * that of an index of several files, which reads as one.
 *
 * @param {string | URL} url  as of fetchNpy
 * @param {RemoteOptions} [opts]
 * @returns {Promise<RemoteFile>}
 * @throws as fetchNpy
 * @see safetensors safe_open
 * @example
 * const weight = async url => (await fetchSafetensors(url)).load('weight')
 */
async function fetchSafetensors(url, opts) {
  const from = urlOf(url, 'openSafetensors')
  const opening = openingOf(opts, OF_FETCHING, 'fetchSafetensors')
  return remoteFile(
    await (isIndex(from) ? indexPlan(from, opening) : planAt(from, opening, 'safetensors')),
  )
}

/**
 * The tensors of a .gguf file at a URL, by name: its header is read, each tensor when it is loaded.
 *
 * @param {string | URL} url  as of fetchNpy
 * @param {RemoteOptions} [opts]
 * @returns {Promise<RemoteFile>}
 * @throws as fetchNpy
 * @see ggml gguf_init_from_file
 * @example
 * const architecture = async url => (await fetchGguf(url)).metadata['general.architecture']
 */
async function fetchGguf(url, opts) {
  const from = urlOf(url, 'openGguf')
  return remoteFile(await planAt(from, openingOf(opts, OF_FETCHING, 'fetchGguf'), 'gguf'))
}

module.exports = { fetchNpy, fetchNpz, fetchSafetensors, fetchGguf }
