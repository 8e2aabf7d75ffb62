'use strict'
// The server's bytes, cut into pieces for the client's parser: small messages as they come, each large one in memory of its own, read where it stays.

const ffi = require('../backend/calls')

const { backend } = ffi

const SLAB = 2 ** 16 // bytes that small messages are read into
const LEAST_CAPACITY = 2 ** 13 // of a slab for another read
const MOST_READ = 3 * 2 ** 14 // bytes of a read: of a large message that begins in it these are copied
const AFTER_LARGE = 2 ** 12 // bytes that are read at most behind a large message: of the next one these are copied
const LARGE = 2 ** 17 // bytes of a message behind which others of its kind are expected
const MOST_LINE = 2 ** 13 // bytes of a message's control line
const MOST_PARSED = 2 ** 26 // bytes of headers and payload that the client's parser takes
const MOST_HEADERS = 2 ** 14 // bytes of headers that are kept of a message that is cut
const MOST_FREE = 2 // buffers that are kept for further messages
const LARGEST_FREE = 2 ** 21 // bytes of one of them
const ALIGNMENT = 64
const LF = 10
const SPACE = 32
const M = 109 // in lower case
const H = 104
const CUT = 'Tensor-Cut'

/**
 * A message that is read into memory of its own.
 *
 * @typedef {object} Own
 * @property {Uint8Array} bytes  from the control line on
 * @property {number} have
 * @property {number} line  bytes of the control line
 * @property {number} rest  bytes behind `bytes` that are thrown away; 0: it is all there
 */

/** Finds messages in what is read from a socket. */
class Frames {
  #emit
  #most
  #slab = newSlab()
  /** of the slab: where bytes begin that are not handed on, and end */
  #start = 0
  #end = 0
  /** up to where they were looked at */
  #at = 0
  /** bytes of the next read */
  #capacity = SLAB
  /** @type {Own | null} */
  #own = null
  /** bytes of a message that are still to be thrown away */
  #skipped = 0
  /** of messages that were handed on, and may be given back @type {WeakSet<ArrayBufferLike>} */
  #borrowed = new WeakSet()
  /** of messages that nobody reads any more @type {ArrayBufferLike[]} */
  #free = []
  /** inside a line that is no message's, of which a part was handed on */
  #isInLine = false
  /** messages in memory of their own, bytes that were copied to there, messages that were cut, and those whose memory was another's before */
  counts = { inPlace: 0, copied: 0, cut: 0, reused: 0 }

  /**
   * @param {(frame: Uint8Array) => void} emit  gets the pieces in order
   * @param {number} most  bytes of a message's payload; longer ones are cut: they come without payload, with a header Tensor-Cut
   */
  constructor(emit, most) {
    this.#emit = emit
    this.#most = most
  }

  /** @returns {Uint8Array} where the next bytes go */
  target() {
    if (this.#own !== null) return this.#own.bytes.subarray(this.#own.have)
    if (SLAB - this.#end < LEAST_CAPACITY) {
      const slab = newSlab()
      slab.set(this.#slab.subarray(this.#start, this.#end))
      this.#slab = slab
      this.#end -= this.#start
      this.#at -= this.#start
      this.#start = 0
    }
    return this.#slab.subarray(
      this.#end,
      Math.min(SLAB, this.#end + Math.min(this.#capacity, MOST_READ)),
    )
  }

  /** Takes the memory of a message back, for further ones: nobody reads it any more. Other memory stays what it is. @param {ArrayBufferLike} buffer */
  reuse(buffer) {
    if (!this.#borrowed.delete(buffer)) return
    if (this.#free.length === MOST_FREE) this.#free.shift()
    this.#free.push(buffer)
  }

  /** @param {number} n  bytes that were read into the target */
  took(n) {
    if (this.#own !== null) {
      this.#own.have += n
      return this.#complete()
    }
    this.#end += n
    this.#capacity = SLAB
    this.#at = this.#start
    while (this.#at < this.#end && this.#advance());
    this.#handOn()
  }

  /** Hands on a message in memory of its own that is complete. */
  #complete() {
    const own = /** @type {Own} */ (this.#own)
    if (own.have < own.bytes.length) return
    this.#own = null
    if (own.rest > 0) {
      // it comes without its payload
      this.counts.cut++
      this.#skipped = own.rest
      const line = Buffer.from(own.bytes.subarray(0, own.line)).toString('latin1')
      const words = line.trim().split(/[ \t]+/)
      const names = words.slice(1, words[0].length === 4 ? -2 : -1)
      const text = Buffer.from(own.bytes.subarray(own.line)).toString('latin1') // headers, or nothing
      const block = `${text.startsWith('NATS/1.0') && text.endsWith('\r\n\r\n') ? text.slice(0, -2) : 'NATS/1.0\r\n'}${CUT}: ${own.rest - 2}\r\n\r\n`
      return this.#emit(
        new Uint8Array(
          Buffer.from(
            `HMSG ${names.join(' ')} ${block.length} ${block.length}\r\n${block}\r\n`,
            'latin1',
          ),
        ),
      )
    }
    this.counts.inPlace++
    this.#capacity = own.bytes.length >= LARGE ? AFTER_LARGE : SLAB
    if (own.bytes.length <= LARGEST_FREE) this.#borrowed.add(own.bytes.buffer)
    this.#emit(own.bytes)
  }

  /** Hands on what is complete in the slab. */
  #handOn() {
    if (this.#at > this.#start) this.#emit(this.#slab.subarray(this.#start, this.#at))
    this.#start = this.#at
  }

  /** @returns {boolean} false: more bytes are needed */
  #advance() {
    if (this.#skipped > 0) {
      this.#handOn()
      const n = Math.min(this.#skipped, this.#end - this.#at)
      this.#skipped -= n
      if (this.#at + n < this.#end) this.#start = this.#at += n
      else this.#end = this.#at // nobody was given these bytes
      return true
    }
    const end = this.#slab.indexOf(LF, this.#at) + 1
    const isWhole = end > 0 && end <= this.#end
    const kind = this.#slab[this.#at] | SPACE
    if (!this.#isInLine && (kind === M || kind === H)) {
      if (isWhole) {
        const [size, headers] = sizesOf(this.#slab, this.#at, end, kind === H)
        if (size < 0) {
          this.#slab[this.#at] = 0 // now the parser of each version of the client refuses the line: those before 3.4 take sizes of any length
          this.#at = end
        } else if (size - headers > this.#most || size > MOST_PARSED) {
          this.#begin(end, headers <= MOST_HEADERS ? headers : 0, size, headers)
        } else if (end + size + 2 > this.#end) this.#begin(end, size + 2, size, headers)
        else this.#at = end + size + 2
        return true
      }
      if (this.#end - this.#at <= MOST_LINE) return false
    } // a longer line is none that servers send: the client's parser refuses it
    this.#isInLine = !isWhole
    this.#at = isWhole ? end : this.#end
    return true
  }

  /**
   * Gives a message memory of its own.
   *
   * @param {number} end  of the control line
   * @param {number} kept  bytes behind it that are kept
   * @param {number} size  of headers and payload
   * @param {number} headers  bytes
   */
  #begin(end, kept, size, headers) {
    this.#handOn()
    const line = end - this.#at
    let bytes
    try {
      const nbytes = line + kept + ALIGNMENT - 1
      const i = this.#free.findIndex(
        ({ byteLength }) => byteLength >= nbytes && byteLength < 2 * nbytes,
      )
      if (i >= 0) this.counts.reused++
      const buffer = i < 0 ? Buffer.allocUnsafeSlow(nbytes).buffer : this.#free.splice(i, 1)[0]
      const address = backend.isWasm ? 0 : /** @type {any} */ (backend).locate(buffer)
      bytes = new Uint8Array(buffer, -(address + line + headers) & (ALIGNMENT - 1), line + kept) // the payload lies at a multiple of 64
    } catch {
      bytes = new Uint8Array(line) // there is no memory: the message is cut
    }
    const have = Math.min(this.#end - this.#at, bytes.length)
    bytes.set(this.#slab.subarray(this.#at, this.#at + have))
    this.counts.copied += have
    this.#start = this.#at += have
    this.#own = { bytes, have, line, rest: size + 2 - (bytes.length - line) }
    this.#complete()
  }
}

const newSlab = () => new Uint8Array(Buffer.allocUnsafeSlow(SLAB).buffer)

/**
 * The sizes at the end of a control line: `HMSG subject sid [reply] headers all`, `MSG subject sid [reply] all`.
 *
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {number} end
 * @param {boolean} hasHeaders
 * @returns {[size: number, headers: number]} of headers and payload; -1: the line has none
 */
function sizesOf(bytes, at, end, hasHeaders) {
  const [size, before] = numberBefore(bytes, at, end - 1)
  if (!hasHeaders) return [size, 0]
  const [headers] = numberBefore(bytes, at, before)
  return headers < 0 || headers > size ? [-1, 0] : [size, headers]
}

/**
 * @param {Uint8Array} bytes
 * @param {number} from
 * @param {number} i  its last digit, or the last space behind that
 * @returns {[value: number, before: number]} -1: there is no number
 */
function numberBefore(bytes, from, i) {
  while (i > from && bytes[i] <= SPACE) i--
  let value = 0
  const last = i
  for (let unit = 1; i > from && bytes[i] >= 48 && bytes[i] <= 57; unit *= 10) {
    value += (bytes[i--] - 48) * unit
  }
  return [i < last && bytes[i] <= SPACE && Number.isSafeInteger(value) ? value : -1, i]
}

module.exports = { Frames, CUT }
