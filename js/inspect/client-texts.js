'use strict'
// The page's words: numbers, places, kinds of memory, owners.

/** @typedef {import('./map').Region} Region */
/** @typedef {import('./map').MappedTensors} MappedTensors */
/** @typedef {import('./map').Owner} Owner */
/** @typedef {import('./sites').Site} Site */

/** What says things in words. Self-contained: pages have its text. */
function textsOf() {
  /** @type {Record<Region['kind'], [name: string, meaning: string]>} */
  const kinds = {
    v8: ['V8 heap', "memory of JavaScript's own, which samebytes made"],
    js: ['yours', 'a buffer that the program gave'],
    sab: ['SharedArrayBuffer', 'memory that other threads see'],
    native: ['native', "memory outside of JavaScript's heap, which other threads may see"],
    wasm: ['WASM', "a part of WebAssembly's linear memory"],
    file: ['mapped file', 'a file, mapped into memory'],
    shm: ['shared memory', 'a segment that other processes see'],
    foreign: ['foreign', 'memory at an address that the program gave'],
    dlpack: ['DLPack', 'memory that another library lent'],
    pinned: ['pinned', 'page-locked memory, for devices'],
    cuda: ['GPU', 'memory of a graphics processor'],
  }

  /** @param {number} n */
  const grouped = (n) => n.toLocaleString('en-US')

  /** @param {number} n @param {string} what */
  const many = (n, what) => `${grouped(n)} ${what}${n === 1 ? '' : 's'}`

  /** @param {string} path */
  const nameOf = (path) => String(path.split(/[\\/]/).pop())

  return {
    kinds,
    grouped,
    many,
    nameOf,

    /** @param {number} n */
    bytes(n) {
      if (n < 1024) return `${n} B`
      let i = 0
      for (n /= 1024; n >= 1023.95 && i < 5; i++) n /= 1024
      return `${n.toFixed(n < 9.95 ? 1 : 0)} ${['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'][i]}B`
    },

    /** @param {number} n */
    signed: (n) => (n < 0 ? `\u2212${grouped(-n)}` : `+${grouped(n)}`),

    /** Before something, where there are several. @param {number} n */
    times: (n) => (n > 1 ? `${grouped(n)} \u00d7 ` : ''),

    /** @param {readonly number[]} list */
    listed: (list) => `[${list.join(', ').replace(/-/g, '\u2212')}]`,

    /** @param {Site | null} site */
    where: (site) => (site === null ? '' : `${site.file}:${site.line}`),

    /** @param {Site} site */
    shortly: (site) => `${nameOf(site.file)}:${site.line}`,

    /** @param {Owner} owner */
    owner({ kind, name, count }) {
      const times = count > 1 ? ` \u00d7 ${grouped(count)}` : ''
      if (kind === 'object') return `your ${name}${times}`
      if (kind === 'file') return `file ${name}`
      if (kind === 'shm') return `shared memory ${name}`
      if (kind === 'native') return `lent to native code${times}`
      if (kind === 'threads') return `threads: ${name}`
      if (kind === 'record') return many(count, 'blob record')
      if (kind === 'operation') return `pending: ${name}`
      return `device ${name}`
    },

    /** The class of what has a dtype's colour. @param {string} dtype */
    hue: (dtype) => `d-${dtype}`,

    /** @param {MappedTensors} row */
    isRowMajor({ shape, strides }) {
      let next = 1
      for (let d = shape.length - 1; d >= 0; d--) {
        if (shape[d] !== 1 && strides[d] !== next) return false
        next *= shape[d]
      }
      return true
    },
  }
}

module.exports = { textsOf }
