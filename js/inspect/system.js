'use strict'
// What the memory map takes from the system, here Node. In the bundle for browsers system.browser.js takes this file's place.

const fs = require('node:fs')
const path = require('node:path')
const { findSourceMap } = require('node:module')
const { fileURLToPath } = require('node:url')
const { threadId, isMainThread } = require('node:worker_threads')

const OWN = path.join(__dirname, '..') + path.sep

/** Is the package in its own files? Else a bundler put it beside the program, and nobody can tell them apart. */
const isPackage = path.basename(__dirname) === 'inspect' && path.basename(__filename) === 'system.js'

/** @param {string} file  a path or a URL */
function pathOf (file) {
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
function isOwn (file) {
  return isPackage ? (file.startsWith('file:') ? pathOf(file) : file).startsWith(OWN) : file === __filename
}

/** Nothing has to be learnt here. @param {() => Error} make */
function learnOwn (make) {}

/**
 * A site as people read it: the source that a source map names, and its path from where the program was started.
 *
 * @param {import('./sites').Site} site
 * @returns {import('./sites').Site}
 */
function shownSite ({ file, line, column, call }) {
  try {
    /** @type {any} */ const entry = findSourceMap(file)?.findEntry(line - 1, column - 1)
    if (typeof entry?.originalSource === 'string') [file, line, column] = [entry.originalSource, entry.originalLine + 1, entry.originalColumn + 1]
  } catch {} // a source map that is none
  return { file: shownPath(pathOf(file)), line, column, call }
}

/** @param {string} file */
function shownPath (file) {
  if (!path.isAbsolute(file)) return file
  const short = path.relative(process.cwd(), file)
  return short.startsWith('..') || path.isAbsolute(short) || short === '' ? file : short
}

/**
 * The file that a descriptor is of.
 *
 * @param {number} fd
 * @returns {{ path: string, key: string } | null} key tells it from all others
 */
function fileOf (fd) {
  try {
    const { dev, ino } = fs.fstatSync(fd, { bigint: true })
    return { path: fs.readlinkSync(`/proc/self/fd/${fd}`), key: `${dev}-${ino}` }
  } catch {
    return null // not Linux
  }
}

const MOST = 10000 // names that a file's own is looked for among

/** names of files that were mapped before they had one, by key @type {Map<string, string>} */
const names = new Map()

/**
 * @param {string} folder
 * @param {string} key  of a file
 * @returns {string | undefined} its name there
 */
function nameIn (folder, key) {
  try {
    const all = fs.readdirSync(folder)
    return all.length > MOST
      ? undefined
      : all.find(each => {
        const found = fs.lstatSync(path.join(folder, each), { bigint: true, throwIfNoEntry: false })
        return found !== undefined && `${found.dev}-${found.ino}` === key
      })
  } catch {
    return undefined
  }
}

/**
 * What a mapped file is called now: files and shared memory that we make get their names when they are whole.
 *
 * @param {{ path: string, key: string }} file
 * @returns {{ kind: 'file' | 'shm', name: string }}
 */
function nameOfFile ({ path: file, key }) {
  if (file.startsWith('/memfd:')) return { kind: 'shm', name: '(sealed, without a name)' }
  if (file.startsWith('/dev/shm/')) {
    const name = file.slice('/dev/shm/'.length)
    const isNamed = !name.endsWith(' (deleted)') && !name.startsWith('#')
    return { kind: 'shm', name: isNamed ? name : nameIn('/dev/shm', key) ?? '(without a name)' }
  }
  const draft = /^\.samebytes-[\w-]+\.tmp$/.test(path.basename(file))
  const name = names.get(key) ?? (draft ? nameIn(path.dirname(file), key) : undefined)
  if (name === undefined) return { kind: 'file', name: shownPath(file) }
  names.set(key, name)
  return { kind: 'file', name: shownPath(path.join(path.dirname(file), name)) }
}

/** @returns {string} what runs: the program's file, and the thread where it is not the first */
function programName () {
  const script = process.argv[1]
  const name = script === undefined ? 'node' : shownPath(script)
  return isMainThread ? name : `${name}, worker ${threadId}`
}

/** @returns {number} */
const pid = () => process.pid

module.exports = { isNode: true, isOwn, learnOwn, shownSite, fileOf, nameOfFile, programName, pid }
