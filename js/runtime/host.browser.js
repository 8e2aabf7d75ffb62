'use strict'
// What the runtime has, here a browser: a page, a worker or an AudioWorklet, which has none of the web's functions.

/**
 * A later turn of the event loop: timers would wait for milliseconds. Each turn has a channel of its own, because an
 * open one would keep other runtimes alive. An AudioWorklet has neither; there what is due comes right after this.
 *
 * @param {() => void} fn
 */
function onNextTurn (fn) {
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

/** There is no NODE_DEBUG here. */
const isLogged = false

function log () {}

const isEager = false

/** @param {Uint8Array} bytes  UTF-8, of memory that nobody shares; what is none becomes U+FFFD */
const textOf = bytes => typeof TextDecoder === 'function' ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : escaped(bytes).replace(SEQUENCE, unescaped)

/** @param {string} text  @returns {Uint8Array<ArrayBuffer>} UTF-8; half a surrogate pair becomes U+FFFD */
const bytesOf = text => new TextEncoder().encode(text)

/**
 * @param {Uint8Array} bytes  of memory that nobody shares
 * @returns {string | null} null: they are not UTF-8
 */
function exactTextOf (bytes) {
  try {
    return typeof TextDecoder === 'function' ? new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(bytes) : decodeURIComponent(escaped(bytes))
  } catch {
    return null
  }
}

/** Escaped bytes that are UTF-8 if they begin a sequence of it: text of ASCII, a character, a byte. */
const SEQUENCE = /(?:%[0-7].)+|%[cd].%[89ab].|%e.(?:%[89ab].){2}|%f.(?:%[89ab].){3}|%../g

/** @param {Uint8Array} bytes */
const escaped = bytes => Array.from(bytes, byte => `%${byte.toString(16).padStart(2, '0')}`).join('')

/** @param {string} sequence */
function unescaped (sequence) {
  try {
    return decodeURIComponent(sequence)
  } catch {
    return '\ufffd'
  }
}

/** @returns {number} ms */
const now = () => (typeof performance === 'object' ? performance : Date).now()

/** A browser inflates asynchronously only: a file object's load() does. */
const inflate = null
const inflateSome = null

/** @returns {undefined} it has no CRC-32 */
const findCrc32 = () => undefined

/** @returns {string} a name that nobody else has */
const newName = () => crypto.getRandomValues(new Uint32Array(4)).join('-')

/**
 * @param {string} text  what the developer should know though nothing failed
 */
function warn (text) {
  console.warn(`samebytes: ${text}`)
}

/** @returns {number} nobody tells */
function memoryOfMachine () {
  return Infinity
}

/** @returns {null} nobody tells */
const heapRoom = () => null

/** Nothing is lent to native code here. */
function keepAttached () {}

const pythonPath = null

module.exports = { isEager, isLogged, log, onNextTurn, textOf, bytesOf, exactTextOf, inflate, inflateSome, findCrc32, now, newName, warn, memoryOfMachine, heapRoom, keepAttached, pythonPath }
