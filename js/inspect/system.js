'use strict'
// What the memory map asks the system, in Node. In browsers system.browser.js takes this file's place.

const fs = require('node:fs')
const path = require('node:path')
const { findSourceMap } = require('node:module')
const { fileURLToPath } = require('node:url')
const { threadId, isMainThread } = require('node:worker_threads')
const { instance } = require('../model/internals')

const OWN = path.join(__dirname, '..') + path.sep

/** Whether the package has its own files. Else a bundler put it into the program's file, and the two cannot be told apart. */
const isPackage =
  path.basename(__dirname) === 'inspect' && path.basename(__filename) === 'system.js'

/** @param {string} file  a path or a URL */
function pathOf(file) {
  if (!file.startsWith('file:')) return file
  try {
    return fileURLToPath(file)
  } catch {
    return file
  }
}

/**
 * @param {string} file  of a frame
 * @returns {boolean} whether it is samebytes'
 */
const isOwn = (file) => (isPackage ? pathOf(file).startsWith(OWN) : file === __filename)

/**
 * A site as it is shown: in the source that a source map names, with a path relative to the current folder.
 *
 * @param {import('./sites').Site} site
 * @returns {import('./sites').Site}
 */
function shownSite({ file, line, column, call }) {
  try {
    /** @type {any} */ const entry = findSourceMap(file)?.findEntry(line - 1, column - 1)
    if (typeof entry?.originalSource === 'string') {
      ;[file, line, column] = [
        entry.originalSource,
        entry.originalLine + 1,
        entry.originalColumn + 1,
      ]
    }
  } catch {} // the source map is broken
  return { file: shownPath(pathOf(file)), line, column, call }
}

/** @param {string} file */
function shownPath(file) {
  if (!path.isAbsolute(file)) return file
  const short = path.relative(process.cwd(), file)
  return short.startsWith('..') || path.isAbsolute(short) || short === '' ? file : short
}

/**
 * The file of a descriptor.
 *
 * @param {number} fd
 * @returns {{ path: string, key: string } | null} key tells it from all others
 */
function fileOf(fd) {
  try {
    const { dev, ino } = fs.fstatSync(fd, { bigint: true })
    const given = /** @type {any} */ (instance().ffi.backend).addon.segmentPath(fd)
    const file = fs.lstatSync(given).isSymbolicLink() ? fs.readlinkSync(given) : given
    return { path: file, key: `${dev}-${ino}` }
  } catch {
    return null // this system does not say it
  }
}

const MOST = 10000 // names of a folder in which a file's is looked up

/** Names of files that were mapped before they had one, by key @type {Map<string, string>} */
const names = new Map()

/**
 * @param {string} folder
 * @param {string} key  of a file
 * @returns {string | undefined} its name there
 */
function nameIn(folder, key) {
  try {
    const all = fs.readdirSync(folder)
    if (all.length > MOST) return undefined
    return all.find((each) => {
      const found = fs.lstatSync(path.join(folder, each), { bigint: true, throwIfNoEntry: false })
      return found !== undefined && `${found.dev}-${found.ino}` === key
    })
  } catch {
    return undefined
  }
}

/** @param {string} folder */
function isInSegments(folder) {
  const { segments } = instance().ffi.backend.abilities
  if (segments === undefined || folder === segments) return folder === segments
  try {
    return folder === fs.realpathSync.native(segments) // on Windows it may have been given as DOCUME~1
  } catch {
    return false
  }
}

/**
 * A mapped file's name now: files and segments that samebytes makes get theirs after they were mapped.
 *
 * @param {{ path: string, key: string }} file
 * @returns {{ kind: 'file' | 'shm', name: string }}
 */
function nameOfFile({ path: file, key }) {
  const name = path.basename(file)
  const isSegment = isInSegments(path.dirname(file))
  if (file.startsWith('/memfd:') || (isSegment && name.startsWith('.samebytes-sealed-'))) {
    return { kind: 'shm', name: '(sealed, without a name)' }
  }
  if (isSegment) {
    const isNamed =
      !name.endsWith(' (deleted)') && !name.startsWith('#') && !name.startsWith('.samebytes-')
    const shown = isNamed ? name : nameIn(path.dirname(file), key)
    return { kind: 'shm', name: shown ?? '(without a name)' }
  }
  const isTemporary = /^\.samebytes-[\w-]+\.tmp$/.test(name)
  const later = names.get(key) ?? (isTemporary ? nameIn(path.dirname(file), key) : undefined)
  if (later === undefined) return { kind: 'file', name: shownPath(file) }
  names.set(key, later)
  return { kind: 'file', name: shownPath(path.join(path.dirname(file), later)) }
}

/** @returns {string} the program's file, and the thread if it is a worker */
function programName() {
  const script = process.argv[1]
  const name = script === undefined ? 'node' : shownPath(script)
  return isMainThread ? name : `${name}, worker ${threadId}`
}

module.exports = {
  isNode: true,
  isOwn,
  shownSite,
  fileOf,
  nameOfFile,
  programName,
  pid: process.pid,
}
