'use strict'
// The system's errors, as errors of ours.

const path = require('node:path')
const { getSystemErrorName } = require('node:util')
const { SamebytesError, failure } = require('../base/errors')
const { errnoOf } = require('../runtime/host')

const TEMPORARY = /^\.samebytes-[\w-]+\.tmp$/ // the names that atomic-write.js gives

/** @type {Record<string, import('../base/errors').ErrorCode>} */
const CODES = { ENOENT: 'ERR_NOT_FOUND', ENOTDIR: 'ERR_NOT_FOUND', EEXIST: 'ERR_EXISTS' }

/**
 * An error of the system as one of ours, with errno and path; one of ours stays what it is.
 *
 * @param {any} error
 * @param {string} file
 */
function systemError(error, file) {
  if (error?.code === 'ERR_ACCESS_DENIED') {
    // by Node's permission model: the message has the flag that would allow it
    const { permission, resource } = error // of links it says neither, and they need everything
    const flags = { FileSystemRead: '--allow-fs-read', FileSystemWrite: '--allow-fs-write' }
    const flag = flags[/** @type {keyof typeof flags} */ (permission)]
    let needs =
      flag === undefined ? '--allow-fs-read=* --allow-fs-write=*' : `${flag}=${resource || file}`
    if (flag !== undefined && resource && path.basename(resource) !== path.basename(file)) {
      const folder = path.dirname(path.resolve(file)) // which has the temporary file as well
      needs = `--allow-fs-read=${folder}/* --allow-fs-write=${folder}/*`
    }
    return Object.assign(
      failure('ERR_IO', `${file}: the permission model forbids it; ${needs} is needed`),
      { path: file, cause: error },
    )
  }
  if (
    typeof error?.code === 'string' &&
    error.code.startsWith('ERR_') &&
    error.syscall === undefined
  ) {
    return error.errno === undefined ? error : Object.assign(error, { path: file })
  }
  const code = CODES[/** @type {string} */ (error.code)] ?? 'ERR_IO'
  // Users never see the temporary file, so errors name the destination.
  const isTemporary = typeof error.path === 'string' && TEMPORARY.test(path.basename(error.path))
  const message = isTemporary
    ? error.message.replace(
        /, (\w+) '[^]*$/,
        (/** @type {string} */ _, /** @type {string} */ call) => `, ${call} '${file}'`,
      )
    : error.message
  return Object.assign(failure(code, message), { errno: error.errno, path: file, cause: error })
}

/**
 * The error of a call in C, as Node's fs would throw it.
 *
 * @param {number} number  positive, as C has it
 * @param {string} syscall
 * @param {string} file
 */
function callError(number, syscall, file) {
  const errno = errnoOf(number)
  const code = getSystemErrorName(errno)
  const error = new Error(`${code}: ${syscall} '${file}'`)
  return Object.assign(error, { code, errno, syscall, path: file })
}

/** What Node's permission model calls what it asks for. @type {Record<string, string>} */
const PERMISSIONS = { 'fs.read': 'FileSystemRead', 'fs.write': 'FileSystemWrite' }

/**
 * Does Node's permission model, where it is on, allow what C is about to do?
 *
 * @param {'fs' | 'fs.read' | 'fs.write'} scope  fs: all of the file system, which links need
 * @param {string} file
 * @returns {boolean}
 */
function isAllowed(scope, file) {
  const { permission } = /** @type {any} */ (process)
  return permission === undefined || permission.has(scope, file)
}

/**
 * @param {'fs' | 'fs.read' | 'fs.write'} scope
 * @param {string} file
 * @param {string} [all]  what is accessed with it
 * @throws ERR_IO
 */
function checkAllowed(scope, file, all = file) {
  if (isAllowed(scope, all)) return
  const error = new Error('Access to this API has been restricted')
  const details = { code: 'ERR_ACCESS_DENIED', permission: PERMISSIONS[scope], resource: file }
  throw systemError(Object.assign(error, details), file)
}

/**
 * An error with the path of the file that was read, where the file is not of its format: the message has the byte alone.
 *
 * @param {any} error
 * @param {string} file
 */
function formatError(error, file) {
  return error instanceof SamebytesError && error.code === 'ERR_FORMAT'
    ? Object.assign(error, { path: file })
    : error
}

/**
 * Calls fn, whose errors become ours.
 *
 * @template R
 * @param {string} file
 * @param {() => R} fn
 * @returns {R}
 */
function withFileName(file, fn) {
  try {
    return fn()
  } catch (error) {
    throw systemError(error, file)
  }
}

module.exports = { callError, checkAllowed, formatError, isAllowed, systemError, withFileName }
