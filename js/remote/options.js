'use strict'
// URLs and options, checked and read once.

const { failure } = require('../base/errors')
const { show, boolean, integerFrom, optionsOf } = require('../base/validate')
const { signalOf } = require('../base/signals')
const { dtypeOf } = require('../backend/dtypes')
const { Tensor } = require('../tensor/tensor')
const { transportOf } = require('./transport')
const { Turns } = require('./loads')

/** @import { AnyTensor, DtypeName } from '../base/types' */
/** @typedef {import('../base/signals').Signal} Signal */
/** @typedef {import('../backend/dtypes').Dtype} Dtype */
/** @typedef {import('../tensor/tensor').Tensor} TensorOf */

/**
 * How a file at a URL is opened.
 *
 * @typedef {object} RemoteOptions
 * @property {typeof fetch | undefined} [fetch]  called in place of the one here: adds tokens, asks caches, goes through proxies
 * @property {boolean | undefined} [caches]  keeps what is read in the page's Cache API, under the name 'samebytes', for the same version of the file; the header is asked for again
 * @property {import('../base/types').Signal | undefined} [signal]  ends the opening; loads have their own
 * @property {number | undefined} [retries]  requests that may fail one after the other, each waiting longer; 4 unless told
 * @property {number | undefined} [idleTimeout]  ms in which a request has to bring 4096 bytes, else it failed; 30000 unless told
 */

/**
 * How a tensor is read.
 *
 * @template {DtypeName} [D=any]
 * @typedef {object} LoadOptions
 * @property {AnyTensor | undefined} [out]  gets the elements, of the same shape, also cast ('same_kind') and in any layout; nobody else may use it meanwhile, but other loads those parts of its memory that do not overlap it
 * @property {D | undefined} [dtype]  of a new tensor, where it is not to be the file's; elements are cast ('same_kind') as they come
 * @property {import('../base/types').Signal | undefined} [signal]
 * @property {((progress: { done: number, total: number }) => void) | undefined} [onProgress]  bytes of the tensor in the file; what it throws ends the load
 */

const MOST_MS = 2 ** 31 - 1 // that timers take

/**
 * @param {unknown} given
 * @param {string} [opening]  what opens a file by its path, for the message
 * @returns {URL}
 * @throws {TypeError} ERR_ARGUMENT
 */
function urlOf(given, opening) {
  const text =
    typeof given === 'string' || Object.prototype.toString.call(given) === '[object URL]'
      ? String(given)
      : null
  const { document, location } = /** @type {any} */ (globalThis)
  const base = document?.baseURI ?? location?.href // in pages as `fetch` resolves relative URLs; elsewhere there is nothing
  const url = text !== null && URL.canParse(text, base) ? new URL(text, base) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw failure(
      'ERR_ARGUMENT',
      `url is ${url === null ? show(given) : `one of ${url.protocol}`}; a URL of http: or https: was expected${opening === undefined ? '' : `, ${opening} takes a path`}`,
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw failure(
      'ERR_ARGUMENT',
      'the URL has a user or a password; { fetch } was expected to send them',
    )
  }
  url.hash = ''
  return url
}

/** @typedef {{ transport: import('./fetch-transport').Transport, caches: boolean, retries: number, idleTimeout: number, dtype: any, signal: Signal | undefined,
 * headers: Turns, tensors: Turns }} Opening  headers, tensors: requests for these, which do not wait for each other */

/** What the options of fetchSafetensors and its like may name. */
const OF_FETCHING = ['fetch', 'caches', 'signal', 'retries', 'idleTimeout']
const OF_LOADING = ['out', 'dtype', 'signal', 'onProgress']

/**
 * @param {unknown} opts
 * @param {readonly string[]} [names]  of options
 * @param {string} [where]  the function
 * @returns {Opening}
 */
function openingOf(opts, names, where) {
  const { fetch, caches, retries, idleTimeout, dtype, signal } = optionsOf(opts, names, where)
  const given = functionOf('fetch', fetch)
  const keeps = boolean('caches', caches)
  if (dtype !== undefined) dtypeOf(dtype)
  const ms = idleTimeout === undefined ? 30000 : integerFrom('idleTimeout', idleTimeout, 1)
  return {
    transport: transportOf(given),
    caches: keeps,
    retries: retries === undefined ? 4 : integerFrom('retries', retries, 0),
    idleTimeout: Math.min(ms, MOST_MS),
    dtype,
    signal: signalOf(signal),
    headers: new Turns(),
    tensors: new Turns(),
  }
}

/** @typedef {{ out: TensorOf | undefined, dtype: Dtype | undefined, signal: Signal | undefined, onProgress: ((progress: { done: number, total: number }) => void) | undefined,
 * rows?: [number, number] }} Loading  rows: of a tensor whose rows follow each other, these alone, [from, end] */

/**
 * @param {unknown} opts
 * @param {string} [where]  the function, of which these are all options
 * @returns {Loading}
 */
function loadingOf(opts, where) {
  const names = where === undefined ? undefined : OF_LOADING
  const { out, dtype, signal, onProgress } = optionsOf(opts, names, where)
  if (out !== undefined && !Tensor.isTensor(out)) {
    throw failure('ERR_ARGUMENT', `out is ${show(out)}; a tensor was expected`)
  }
  const type = dtype === undefined ? undefined : dtypeOf(dtype)
  return { out, dtype: type, signal: signalOf(signal), onProgress: progressOf(onProgress) }
}

/** @param {string} name  of the option @param {unknown} value @returns {any} a function or undefined */
function functionOf(name, value) {
  if (value !== undefined && typeof value !== 'function') {
    throw failure('ERR_ARGUMENT', `${name} is ${show(value)}; a function was expected`)
  }
  return value
}

/** @param {unknown} onProgress @returns {((progress: { done: number, total: number }) => void) | undefined} */
const progressOf = (onProgress) => functionOf('onProgress', onProgress)

module.exports = { OF_FETCHING, OF_LOADING, urlOf, openingOf, loadingOf, progressOf }
