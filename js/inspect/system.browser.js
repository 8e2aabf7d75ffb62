'use strict'
// What the memory map takes from the system, here a browser.

const { bundles } = require('../model/internals')
const { frameOf } = require('./frames')

/** the files of the page's bundles, as stacks have them @type {Set<string | undefined>} */
const own = new Set()

let learned = 0 // of bundles: each adds itself when it is loaded

/** @param {string} file  of a frame */
function isOwn(file) {
  for (; learned < bundles.length; learned++) {
    const frames = String(bundles[learned].stack).split('\n').map(frameOf)
    own.add(frames.find((frame) => frame !== null)?.file)
  }
  return own.has(file)
}

/** @param {import('./sites').Site} site @returns {import('./sites').Site} its path from the page's own server */
function shownSite({ file, line, column, call }) {
  const origin = `${globalThis.location?.origin}/`
  return { file: file.startsWith(origin) ? file.slice(origin.length) : file, line, column, call }
}

/** Nothing is mapped here. @returns {{ path: string, key: string } | null} */
const fileOf = () => null

/** @param {{ path: string, key: string }} file @returns {{ kind: 'file' | 'shm', name: string }} */
const nameOfFile = ({ path }) => ({ kind: 'file', name: path })

const programName = () =>
  String(globalThis.location?.pathname ?? 'worker')
    .split('/')
    .pop() || 'page'

module.exports = { isNode: false, isOwn, shownSite, fileOf, nameOfFile, programName, pid: 0 }
