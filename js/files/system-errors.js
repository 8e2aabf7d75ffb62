'use strict'
// What the system says of files, as errors of ours.

const path = require('node:path')
const { failure } = require('../base/errors')

/**
 * What the system said, as one of ours: with errno and path.
 *
 * @param {any} error
 * @param {string} file
 */
function systemError (error, file) {
  if (error?.code === 'ERR_ACCESS_DENIED') return Object.assign(forbidden(error, file), { cause: error })
  if (typeof error?.code === 'string' && error.code.startsWith('ERR_') && error.syscall === undefined) {
    return error.errno === undefined ? error : Object.assign(error, { path: file })
  }
  const code = { ENOENT: 'ERR_NOT_FOUND', ENOTDIR: 'ERR_NOT_FOUND', EEXIST: 'ERR_EXISTS' }[/** @type {string} */ (error.code)] ?? 'ERR_IO'
  // Of a draft nobody has heard: the words are of the file that was to be.
  const isDraft = typeof error.path === 'string' && DRAFT.test(path.basename(error.path))
  const message = isDraft ? error.message.replace(/, (\w+) '[^]*$/, (/** @type {string} */ _, /** @type {string} */ call) => `, ${call} '${file}'`) : error.message
  return Object.assign(failure(code, message), { errno: error.errno, path: file, cause: error })
}

const DRAFT = /^\.samebytes-[\w-]+\.tmp$/

/**
 * What Node's permission model refused, with what allows it.
 *
 * @param {any} error  permission and resource say what was missing; links need everything, and say it in words only
 * @param {string} file
 */
function forbidden ({ permission, resource }, file) {
  const flag = { FileSystemRead: '--allow-fs-read', FileSystemWrite: '--allow-fs-write' }[/** @type {string} */ (permission)]
  const folder = path.dirname(path.resolve(file))
  let needs = '--allow-fs-read=* --allow-fs-write=*'
  if (flag !== undefined) needs = `${flag}=${resource || file}`
  if (flag !== undefined && resource && path.basename(resource) !== path.basename(file)) {
    needs = `--allow-fs-read=${folder}/* --allow-fs-write=${folder}/*` // of a draft beside the file
  }
  return Object.assign(failure('ERR_IO', `${file}: the permission model forbids it; ${needs} is needed`), { path: file })
}

/**
 * @template R
 * @param {string} file
 * @param {() => R} fn
 * @returns {R}
 */
function named (file, fn) {
  try {
    return fn()
  } catch (error) {
    throw systemError(error, file)
  }
}

module.exports = { systemError, named }
