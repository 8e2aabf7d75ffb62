'use strict'
// What browsers offer: a page, a worker, or an AudioWorklet, which has almost none of the web's functions.

const { ballasts } = require('./ballast')
const { UNCLONEABLE } = require('./uncloneable.browser')

/**
 * Calls a function on a later turn of the event loop. Timers would wait for milliseconds. Each call has a channel of its own, because
 * an open one would keep other runtimes alive. An AudioWorklet has no channels: there it is a microtask.
 *
 * @param {() => void} fn
 */
function onNextTurn(fn) {
  if (typeof MessageChannel !== 'function') {
    Promise.resolve().then(fn)
    return
  }
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = () => {
    port1.close()
    fn()
  }
  port2.postMessage(null)
}

/** Browsers have no NODE_DEBUG. */
const isLogged = false

function log() {}

const isEager = false

/** @param {Uint8Array} bytes  UTF-8, of memory that is not shared; invalid sequences become U+FFFD */
const textOf = (bytes) =>
  typeof TextDecoder === 'function'
    ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
    : escaped(bytes).replace(SEQUENCE, unescaped)

/** @param {string} text  @returns {Uint8Array<ArrayBuffer>} UTF-8; half a surrogate pair becomes U+FFFD */
const bytesOf = (text) => new TextEncoder().encode(text)

/**
 * @param {Uint8Array} bytes  of memory that is not shared
 * @returns {string | null} null: they are not UTF-8
 */
function exactTextOf(bytes) {
  try {
    return typeof TextDecoder === 'function'
      ? new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(bytes)
      : decodeURIComponent(escaped(bytes))
  } catch {
    return null
  }
}

/** In escaped bytes: a run of ASCII, the length of one character by its first byte, or one byte. */
const SEQUENCE = /(?:%[0-7].)+|%[cd].%[89ab].|%e.(?:%[89ab].){2}|%f.(?:%[89ab].){3}|%../g

/** @param {Uint8Array} bytes */
const escaped = (bytes) =>
  Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

/** @param {string} sequence */
function unescaped(sequence) {
  try {
    return decodeURIComponent(sequence)
  } catch {
    return '\ufffd'
  }
}

/** @returns {number} ms */
const now = () => (typeof performance === 'object' ? performance : Date).now()

/** Browsers inflate asynchronously only, which a file object's load() does. */
const inflate = null
const inflateSome = null

/** @returns {undefined} browsers have no CRC-32 */
const findCrc32 = () => undefined

/** @returns {string} a unique name */
const newName = () => crypto.getRandomValues(new Uint32Array(4)).join('-')

/**
 * @param {string} text  for the developer; nothing failed
 */
const warn = (text) => console.warn(`samebytes: ${text}`)

/** @returns {number} browsers do not tell */
const memoryOfMachine = () => Infinity

/** @returns {null} browsers do not tell */
const heapAvailable = () => null

/** Browsers have no native code that buffers are pinned for. */
function keepAttached() {}

/** They have no such mark. */
const isUntransferable = () => false

const { ballastOf, keepSpare } = ballasts(2 ** 14, 8, (length) => new ArrayBuffer(length))

const pythonPath = null

/** What pages load is a part of the bundle. @template R @param {() => R} load @returns {R} */
const loaded = (load) => load()

/** @param {number} number */
const errnoOf = (number) => -number

module.exports = {
  errnoOf,
  retried: loaded,
  loaded,
  UNCLONEABLE,
  isEager,
  isLogged,
  log,
  onNextTurn,
  textOf,
  bytesOf,
  exactTextOf,
  inflate,
  inflateSome,
  findCrc32,
  now,
  newName,
  warn,
  memoryOfMachine,
  heapAvailable,
  keepAttached,
  isUntransferable,
  ballastOf,
  keepSpare,
  pythonPath,
}
