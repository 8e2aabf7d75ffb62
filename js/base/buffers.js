'use strict'
// Kinds of buffers, told by internal slots: that holds for objects of all realms (Jest, vm), and properties cannot forge it. A caller's typed array
// may have a `length` of its own, or be of a class that has another `set`. So what was given is read by the getters here, taken when the package is loaded.

const { failure } = require('./errors')

const { isView } = ArrayBuffer
const typed = Object.getPrototypeOf(Uint8Array.prototype)
const shared = typeof SharedArrayBuffer === 'undefined' ? undefined : SharedArrayBuffer.prototype

/**
 * A getter as a function of the object.
 *
 * @param {object} of
 * @param {PropertyKey} name
 * @returns {any} undefined: this runtime has none
 */
function getter(of, name) {
  const get = Object.getOwnPropertyDescriptor(of, name)?.get
  return get === undefined ? undefined : uncurried(get)
}

/** The function with `this` as its first argument. @param {any} fn @returns {any} */
const uncurried = (fn) => Function.prototype.call.bind(fn)

/** @type {(array: unknown) => ArrayBufferLike} */
const bufferOf = getter(typed, 'buffer')
/** @type {(array: unknown) => number} */
const byteOffsetOf = getter(typed, 'byteOffset')
/** @type {(array: unknown) => number} bytes; 0: detached */
const nbytesOf = getter(typed, 'byteLength')
/** @type {(array: unknown) => number} */
const lengthOf = getter(typed, 'length')
/** @type {(value: unknown) => string | undefined} */
const tagOf = getter(typed, Symbol.toStringTag)
/** @type {(array: unknown) => unknown} throws where there are no bytes any more */
const typedValues = uncurried(typed.values)
/** @type {(buffer: unknown) => number} */
const lengthOfBuffer = getter(ArrayBuffer.prototype, 'byteLength')
/** @type {((buffer: unknown) => number) | undefined} */
const lengthOfShared = shared && getter(shared, 'byteLength')
/** @type {((buffer: unknown) => boolean) | undefined} */
const resizableOf = getter(ArrayBuffer.prototype, 'resizable')
/** @type {((buffer: unknown) => ArrayBuffer) | undefined} */
const transferred =
  'transfer' in ArrayBuffer.prototype ? uncurried(ArrayBuffer.prototype.transfer) : undefined
/** @type {(view: unknown) => ArrayBufferLike} */
const bufferOfView = getter(DataView.prototype, 'buffer')
/** @type {(view: unknown) => number} */
const byteOffsetOfView = getter(DataView.prototype, 'byteOffset')
/** @type {(view: unknown) => number} */
const nbytesOfView = getter(DataView.prototype, 'byteLength')

/**
 * subarray, which does not look up the array's class.
 *
 * @param {Uint8Array} bytes
 * @param {number} start  from 0 on
 * @param {number} [end]  inside
 * @returns {Uint8Array<ArrayBuffer>}
 */
function bytesFrom(bytes, start, end = lengthOf(bytes)) {
  return new Uint8Array(
    /** @type {ArrayBuffer} */ (bufferOf(bytes)),
    byteOffsetOf(bytes) + start,
    end - start,
  )
}

/**
 * A copy of some bytes.
 *
 * @param {Uint8Array} bytes
 * @param {number} [start]
 * @param {number} [end]
 * @returns {Uint8Array<ArrayBuffer>}
 */
function bytesCopied(bytes, start = 0, end = lengthOf(bytes)) {
  const copy = new Uint8Array(end - start)
  copy.set(bytesFrom(bytes, start, end))
  return copy
}

/**
 * Where a typed array's bytes are. Own properties of the same names are ignored.
 *
 * @param {unknown} array
 * @returns {{ buffer: ArrayBufferLike, byteOffset: number, byteLength: number, length: number }}
 */
function partsOfArray(array) {
  return {
    buffer: bufferOf(array),
    byteOffset: byteOffsetOf(array),
    byteLength: nbytesOf(array),
    length: lengthOf(array),
  }
}

/**
 * partsOfArray for an array that is about to be read: throws where its buffer was detached or shrunk, which makes it look empty.
 *
 * @param {unknown} array
 * @param {string} name  of the argument, for messages
 */
function partsOfLive(array, name) {
  const parts = partsOfArray(array)
  if (parts.byteLength === 0 && isOut(array)) throw gone(name)
  return parts
}

/** @param {unknown} array  a typed array @returns {boolean} whether its buffer was detached or shrunk */
function isOut(array) {
  try {
    return typedValues(array) === null
  } catch {
    return true
  }
}

/** @param {string} name */
function gone(name) {
  return failure(
    'ERR_DETACHED',
    `${name} has no bytes any more: its buffer was transferred away or shrunk, or is that of WASM memory which grew since`,
  )
}

/**
 * Where a DataView's bytes are.
 *
 * @param {unknown} view
 * @param {string} name  of the argument, for messages
 * @returns {{ buffer: ArrayBufferLike, byteOffset: number, byteLength: number }}
 */
function partsOfView(view, name) {
  const buffer = bufferOfView(view)
  try {
    return { buffer, byteOffset: byteOffsetOfView(view), byteLength: nbytesOfView(view) }
  } catch {
    throw gone(name)
  }
}

/**
 * Bytes that an ArrayBuffer or SharedArrayBuffer has now; 0: detached.
 *
 * @param {ArrayBufferLike} buffer
 * @returns {number}
 */
function byteLengthOf(buffer) {
  if (buffer instanceof ArrayBuffer) return lengthOfBuffer(buffer)
  return isSharedArrayBuffer(buffer)
    ? /** @type {any} */ (lengthOfShared)(buffer)
    : lengthOfBuffer(buffer)
}

/**
 * May the buffer become shorter? Shared ones never do.
 *
 * @param {ArrayBufferLike} buffer
 * @returns {boolean}
 */
const isResizable = (buffer) =>
  resizableOf !== undefined && isArrayBuffer(buffer) && resizableOf(buffer)

const MAX_LENGTH = 2 ** 32 - 1 // elements of a typed array on every runtime

/** @type {Record<string, string>} */
const DTYPES = {
  Uint8Array: 'uint8',
  Uint8ClampedArray: 'uint8',
  Int8Array: 'int8',
  Int16Array: 'int16',
  Uint16Array: 'uint16',
  Int32Array: 'int32',
  Uint32Array: 'uint32',
  BigInt64Array: 'int64',
  BigUint64Array: 'uint64',
  Float16Array: 'float16',
  Float32Array: 'float32',
  Float64Array: 'float64',
}

/**
 * The dtype of a typed array's elements; undefined for anything else.
 *
 * @param {unknown} value
 * @returns {string | undefined}
 */
function dtypeOfArray(value) {
  const tag = tagOf(value)
  return tag === undefined ? undefined : DTYPES[tag]
}

/**
 * The dtype of a kind of typed array.
 *
 * @param {{ name: string }} Type
 */
const dtypeOfType = (Type) => DTYPES[Type.name]

/**
 * @param {unknown} value
 * @param {((value: unknown) => any) | undefined} field  a getter that throws for objects of other kinds
 */
function has(value, field) {
  if (field === undefined || value === null || typeof value !== 'object') return false
  try {
    field(value)
    return true
  } catch {
    return false
  }
}

/**
 * @param {unknown} value
 * @returns {value is ArrayBuffer}
 */
const isArrayBuffer = (value) => has(value, lengthOfBuffer)

/**
 * @param {unknown} value
 * @returns {value is SharedArrayBuffer}
 */
const isSharedArrayBuffer = (value) => has(value, lengthOfShared)

/**
 * Is it of a class that some runtimes have? Arrays and views are told apart without a getter: a throw takes 4 µs in Chromium.
 *
 * @param {string} name  of the class
 * @param {string} field  that each of its objects has
 * @returns {(value: unknown) => boolean}
 */
function testFor(name, field) {
  const Class = /** @type {any} */ (globalThis)[name]
  const get = typeof Class === 'function' ? getter(Class.prototype, field) : undefined
  return (value) => !Array.isArray(value) && !isView(value) && has(value, get)
}

const isVideoFrame = testFor('VideoFrame', 'timestamp')
const isAudioBuffer = testFor('AudioBuffer', 'length')

/** undefined outside of Node @type {object | undefined} */
const nodeBuffer = /** @type {any} */ (globalThis).Buffer?.prototype

const ON_CANVAS = 'drawImage puts it on a canvas, which can be read'
const AS_BYTES = 'await its arrayBuffer() for the bytes'

/** What is given in place of pixels or bytes: a class of the web, a getter of it that throws for others, what to do. */
const INDIRECT = [
  ['HTMLImageElement', 'naturalWidth', ON_CANVAS],
  ['HTMLVideoElement', 'videoWidth', ON_CANVAS],
  ['ImageBitmap', 'width', ON_CANVAS],
  ['SVGImageElement', 'href', ON_CANVAS],
  ['Blob', 'size', AS_BYTES],
  ['Response', 'status', AS_BYTES],
]

/**
 * @param {unknown} value
 * @returns {string | null} null: it is none of these
 */
function nameOfIndirect(value) {
  for (const [name, field, advice] of INDIRECT) {
    const Class = Object.getOwnPropertyDescriptor(globalThis, name)?.value // in Node a getter, which loads the class, until a program has used it
    if (typeof Class === 'function' && has(value, getter(Class.prototype, field))) {
      return `${name[0] === 'B' || name[0] === 'R' ? 'a' : 'an'} ${name} (${advice})`
    }
  }
  return null
}

/**
 * Does it begin as a page of HTML, which servers send in place of a file that is not there? No format of ours begins so.
 *
 * @param {Uint8Array} bytes  that nobody else can write to
 */
const isHtml = (bytes) =>
  /^(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html)[\s>]/i.test(latin1Of(bytes, 200))

/** @param {Uint8Array} bytes @param {number} most @returns {string} of the first bytes, a character for each */
function latin1Of(bytes, most) {
  let text = ''
  for (let i = 0; i < Math.min(lengthOf(bytes), most); i++) text += String.fromCharCode(bytes[i])
  return text
}

/**
 * A buffer or view in words, for messages; what gives pixels or bytes in another way, as well. Runs no code of the caller's.
 *
 * @param {unknown} value
 * @returns {string | null} null: it is none
 */
function nameOfBuffer(value) {
  const tag = tagOf(value)
  if (tag !== undefined) {
    return nodeBuffer !== undefined && Object.getPrototypeOf(value) === nodeBuffer
      ? 'a Buffer'
      : `${tag[0] === 'I' ? 'an' : 'a'} ${tag}`
  }
  if (isView(value)) return 'a DataView'
  if (isArrayBuffer(value)) return 'an ArrayBuffer'
  return isSharedArrayBuffer(value) ? 'a SharedArrayBuffer' : nameOfIndirect(value)
}

/**
 * Is the buffer detached? Then no typed array can be made over it.
 *
 * @param {ArrayBufferLike} buffer
 */
function isGone(buffer) {
  try {
    return new Uint8Array(/** @type {ArrayBuffer} */ (buffer)) === null
  } catch {
    return true
  }
}

module.exports = {
  bufferOf,
  byteOffsetOf,
  bytesCopied,
  bytesFrom,
  dtypeOfArray,
  isView,
  lengthOf,
  lengthOfBuffer,
  nbytesOf,
  tagOf,
  transferred,
  nameOfBuffer,
  dtypeOfType,
  isArrayBuffer,
  isSharedArrayBuffer,
  isVideoFrame,
  isAudioBuffer,
  isGone,
  isHtml,
  latin1Of,
  partsOfArray,
  partsOfLive,
  partsOfView,
  byteLengthOf,
  isResizable,
  MAX_LENGTH,
}
