'use strict'
// What saving and loading have in common: options, progress, errors.

const { failure } = require('../base/errors')
const { show, optionsOf, oneOf } = require('../base/validate')
const { signalOf } = require('../base/signals')
const { systemError } = require('./system-errors')

/** @typedef {import('../base/signals').Signal} Signal */

const CHUNK = 2 ** 24 // bytes that are written or read at a time

/**
 * @typedef {object} SaveOptions
 * @property {Record<string, string> | undefined} [metadata]  of .safetensors; other files have none, and refuse it
 * @property {import('../base/types').Signal | undefined} [signal]  what was there stays then
 * @property {((progress: { done: number, total: number }) => void) | undefined} [onProgress]  bytes; what it throws ends the transfer
 * @property {'replace' | 'error' | undefined} [ifExists]  'error': what is there stays, and that is ERR_EXISTS; 'replace' unless told
 */

/** @typedef {{ metadata: any, signal: Signal | undefined, onProgress: ((progress: { done: number, total: number }) => void) | undefined, replace: boolean }} Transfer */

/** What the options of saving may name. */
const OF_SAVING = ['signal', 'onProgress', 'ifExists']

/**
 * @param {any} opts
 * @param {readonly string[]} names  of options
 * @param {string} where  the function
 * @returns {Transfer}
 */
function transferOptions(opts, names, where) {
  const { metadata, signal, onProgress, ifExists } = optionsOf(opts, names, where)
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw failure('ERR_ARGUMENT', `onProgress is ${show(onProgress)}; a function was expected`)
  }
  const given = signalOf(signal)
  const replace = replaces(ifExists)
  return { metadata, signal: given, onProgress: onProgress && marked(onProgress), replace }
}

/** Carries what a caller's function threw back to the caller, unchanged. */
class CallbackError extends Error {}

/**
 * The caller's function, whose errors become CallbackErrors.
 *
 * @param {(progress: { done: number, total: number }) => void} fn
 * @returns {(progress: { done: number, total: number }) => void}
 */
const marked = (fn) => (progress) => {
  try {
    fn(progress)
  } catch (cause) {
    throw new CallbackError('onProgress threw', { cause })
  }
}

/**
 * What a transfer is rejected with.
 *
 * @param {any} error
 * @param {Signal | undefined} signal
 * @param {string} file
 */
function rejection(error, signal, file) {
  if (error instanceof CallbackError) return error.cause
  return signal?.isAborted && Object.is(error, signal.reason) ? error : systemError(error, file)
}

/** @param {unknown} ifExists @returns {boolean} whether what is there may be replaced */
const replaces = (ifExists) =>
  ifExists === undefined || oneOf('ifExists', ifExists, ['replace', 'error']) === 0

/**
 * What a function of Node gives to its callback.
 *
 * @param {(done: (error: any, result?: any) => void) => void} start
 * @returns {Promise<any>}
 */
function callback(start) {
  return new Promise((resolve, reject) => {
    start((error, result) => (error ? reject(error) : resolve(result)))
  })
}

module.exports = { CHUNK, OF_SAVING, transferOptions, replaces, rejection, callback }
