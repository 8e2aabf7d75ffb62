'use strict'
// Open files and mappings, of which a process may have so many, and shared memory, which has its own limit. In bundles for browsers descriptors.browser.js takes this file's place.

const { collectGarbage } = require('./host') // first: it tells a bundle without require what to do
const fs = require('node:fs')
const os = require('node:os')
const { failure } = require('../base/errors')

const { EMFILE, ENFILE, ENOMEM, ENOSPC } = os.constants.errno

/** Releases what was collected: finalizers run in a later turn of the event loop. */
let release = () => {}

/** @param {() => void} fn */
function onShortage (fn) { release = fn }

/** @param {any} error */
const isShortage = ({ errno, code, message }) => [-EMFILE, -ENFILE, -ENOMEM, -ENOSPC].includes(errno) || (code === 'ERR_DLOPEN_FAILED' && /too many open files/i.test(message))

/**
 * Calls fn. Where there are too many open files or mappings, or too little shared memory, what nobody holds any more is collected, and fn called again.
 *
 * @template R
 * @param {() => R} fn  does nothing where it fails
 * @returns {R}
 */
function retried (fn) {
  try {
    return fn()
  } catch (error) {
    if (!isShortage(error)) throw error
    try {
      collectGarbage()
    } catch {} // a runtime without V8
    release()
    return fn()
  }
}

/** As fs.openSync. @param {string} file @param {number} flags @param {number} [mode] @returns {number} */
const openSync = (file, flags, mode) => retried(() => fs.openSync(file, flags, mode))

/**
 * Reads a part of the package.
 *
 * @template R
 * @param {() => R} load  calls require
 * @returns {R}
 * @throws ERR_IO there are too many open files
 */
function loaded (load) {
  try {
    return retried(load)
  } catch (/** @type {any} */ error) {
    if (!isShortage(error) || error.syscall === undefined) throw error
    throw Object.assign(failure('ERR_IO', `a part of samebytes could not be loaded: ${error.message}`), { errno: error.errno, path: error.path, cause: error })
  }
}

module.exports = { onShortage, retried, openSync, loaded }
