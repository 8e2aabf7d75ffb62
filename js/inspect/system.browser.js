'use strict'
// What the memory map takes from the system, here a browser.

/** the files of this bundle and the page's other one, as stacks have them @type {Set<string>} */
const own = new Set()

/** @param {string | undefined} stack */
function firstFile (stack) {
  for (const line of String(stack).split('\n')) {
    const found = /(?:^|[(@ ])([^()@ ]+?):\d+:\d+\)?$/.exec(line)
    if (found !== null) return found[1]
  }
  return ''
}

/** @param {string} file  of a frame */
const isOwn = file => own.has(file)

/**
 * Learns the two files' names from errors that are made in them.
 *
 * @param {() => Error} make  in the other bundle
 */
function learnOwn (make) {
  for (const error of [new Error(), make()]) own.add(firstFile(error.stack))
  own.delete('')
}

/** @param {import('./sites').Site} site @returns {import('./sites').Site} its path from the page's own server */
function shownSite ({ file, line, column, call }) {
  const origin = `${globalThis.location?.origin}/`
  return { file: file.startsWith(origin) ? file.slice(origin.length) : file, line, column, call }
}

/** Nothing is mapped here. @returns {{ path: string, key: string } | null} */
const fileOf = () => null

/** @param {{ path: string, key: string }} file @returns {{ kind: 'file' | 'shm', name: string }} */
const nameOfFile = ({ path }) => ({ kind: 'file', name: path })

const programName = () => String(globalThis.location?.pathname ?? 'worker').split('/').pop() || 'page'

/** @returns {number} pages do not know */
const pid = () => 0

module.exports = { isNode: false, isOwn, learnOwn, shownSite, fileOf, nameOfFile, programName, pid }
