'use strict'
// The parsers of src/share in JavaScript, for the WASM module, which has no room for them. They find the same records,
// word for word, and refuse the same with the same message; test/native/parsers.test.js holds them to it. Whoever
// changes one changes the other.

const { tables } = require('./ffi')
const { failure } = require('./errors')

const PAIR = 0
const TENSOR = 1
const MEMBER = 2

const MOST = 2 ** 53
const MOST_IN_GGUF = 1000000
const LONGEST = 100000000 // bytes of a header of .gguf, or of a zip's directory
const MOST_AXES = 64

const code = (/** @type {string} */ c) => c.charCodeAt(0)
const [OPEN, CLOSE, OPEN_ROUND, CLOSE_ROUND, OPEN_SQUARE, CLOSE_SQUARE] = Array.from('{}()[]', code)
const [COMMA, COLON, SINGLE, DOUBLE, BACKSLASH, SMALL_U] = Array.from(',:\'"\\u', code)
const ESCAPES = Array.from('"\\/bfnrt', code)
const CONTROLS = new Map([[code('b'), 8], [code('t'), 9], [code('n'), 10], [code('f'), 12], [code('r'), 13]])

/** @typedef {import('./layouts').Bytes} Bytes */

/** What src/share/formats.c offers to parsers. */
class Reader {
  /**
   * @param {Bytes} bytes
   * @param {number} total
   * @param {number} base
   */
  constructor ({ buffer, byteOffset, byteLength }, total, base) {
    this.view = new DataView(buffer, byteOffset, byteLength)
    this.bytes = new Uint8Array(buffer, byteOffset, byteLength)
    this.given = byteLength
    this.total = total
    this.base = base
    this.at = 0
    this.longest = Infinity // header
    this.room = new Float64Array(512)
    this.count = 0
  }

  /** What was found. */
  get words () { return this.room.subarray(0, this.count) }

  /** @param {number[]} words */
  put (...words) {
    this.reserve(words.length)
    this.room.set(words, this.count)
    this.count += words.length
  }

  /** @param {number} n  more words that there has to be room for */
  reserve (n) {
    if (this.count + n <= this.room.length) return
    const room = Math.max(this.count + n, 2 * this.room.length)
    try {
      const kept = this.room
      this.room = new Float64Array(room)
      this.room.set(kept)
    } catch {
      throw failure('ERR_MEMORY', `${room * 8} bytes for what is in the file cannot be allocated`)
    }
  }

  /**
   * @param {number} at
   * @param {string} reason
   * @returns {never}
   */
  bad (at, reason) {
    throw failure('ERR_FORMAT', `byte ${this.base + at}: ${reason}`)
  }

  /** @param {number} n  bytes that have to be there next */
  need (n) {
    if (n > this.total - this.at) this.bad(this.at, 'the file ends before what has to be here')
    if (n > this.longest - this.at) this.bad(this.at, 'the header is longer than 100000000 bytes')
    if (n > this.given - this.at) throw new Wanted(this.at + n)
  }

  /** @param {number} n */
  skip (n) {
    this.need(n)
    this.at += n
  }

  /** @param {number} at */
  u16 (at) { return this.view.getUint16(at, true) }
  /** @param {number} at */
  u32 (at) { return this.view.getUint32(at, true) }
  /** Rounded beyond 2^53, where nothing is right any more. @param {number} at */
  u64 (at) { return this.u32(at) + this.u32(at + 4) * 2 ** 32 }

  take32 () {
    this.need(4)
    this.at += 4
    return this.u32(this.at - 4)
  }

  take64 () {
    this.need(8)
    this.at += 8
    return this.u64(this.at - 8)
  }

  /** Takes the character, and spaces before it, if it is there. @param {number} c */
  take (c) {
    this.skipSpaces()
    const isThere = this.at < this.given && this.bytes[this.at] === c
    if (isThere) this.at++
    return isThere
  }

  skipSpaces () {
    for (; this.at < this.given; this.at++) {
      const c = this.bytes[this.at]
      if (c !== 32 && c !== 9 && c !== 13 && c !== 10) return
    }
  }

  /** Takes digits; more than 2^53: the last one that was looked at is not taken. @returns {number} NaN: too many */
  takeDigits () {
    let n = 0
    for (; this.at < this.given; this.at++) {
      const digit = this.bytes[this.at] - 48
      if (!(digit >= 0 && digit <= 9)) break
      if (n * 10 > MOST - digit) return NaN
      n = n * 10 + digit
    }
    return n
  }

  /** @param {number} at @param {number} length @param {string} text */
  is (at, length, text) {
    if (length !== text.length) return false
    for (let i = 0; i < length; i++) if (this.bytes[at + i] !== text.charCodeAt(i)) return false
    return true
  }

  /**
   * @param {number} at
   * @param {number} end
   * @returns {number} length of the UTF-8 sequence; 0: it is none
   */
  utf8 (at, end) {
    const { bytes } = this
    const first = bytes[at]
    if (first < 0x80) return 1
    if (first < 0xc2 || first > 0xf4) return 0
    const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
    if (length > end - at) return 0
    const second = bytes[at + 1]
    const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
    const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
    if (second < least || second > most) return 0
    for (let i = 2; i < length; i++) if ((bytes[at + i] & 0xc0) !== 0x80) return 0
    return length
  }

  /** @param {number} at @param {number} end */
  isUtf8 (at, end) {
    for (let length; at < end; at += length) {
      length = this.utf8(at, end)
      if (length === 0) return false
    }
    return true
  }
}

/** More bytes have to be given. */
class Wanted {
  /** @param {number} n */
  constructor (n) {
    this.n = n
  }
}

/**
 * As parse of parsers.js.
 *
 * @param {number} which
 * @param {Bytes} bytes
 * @param {number} total
 * @param {number} base
 */
function parse (which, bytes, total, base) {
  const r = new Reader(bytes, total, base)
  try {
    const run = [npy, safetensors, gguf, zipEnd, zipDirectory, zipMember][which]
    run(r)
    return { words: r.words, wanted: 0 }
  } catch (error) {
    if (error instanceof Wanted) return { words: new Float64Array(0), wanted: error.n }
    throw error
  }
}

/**
 * A TENSOR; whether there is room for its data is not checked.
 *
 * @param {Reader} r
 * @param {number} name  where it is
 * @param {number} length
 * @param {string | null} dtype  null: none of ours
 * @param {number} foreign
 * @param {number} elements  of a block
 * @param {number} bytes  of a block
 * @param {number} begin
 * @param {number[]} shape
 * @returns {number} bytes of its data
 */
function putTensor (r, name, length, dtype, foreign, elements, bytes, begin, shape) {
  let numel = 1
  for (const extent of shape) {
    if (extent > 0 && numel > MOST / extent) r.bad(name, 'the shape has too many elements') // the product may be rounded
    numel *= extent || 1
  }
  if (shape.includes(0)) numel = 0
  if (numel % elements * bytes % elements !== 0) r.bad(name, 'the shape is no whole number of bytes or blocks')
  const nbytes = numel / elements * bytes
  const index = dtype === null ? -1 : tables.dtypes.findIndex((/** @type {[string] | null} */ row) => row?.[0] === dtype)
  r.put(11 + shape.length, TENSOR, name, length, index, foreign, elements, bytes, begin, nbytes, shape.length, ...shape)
  return nbytes
}

// ---- Order ----

/**
 * Once all records are there and fit, as sb__check_records: names differ, data has no overlaps, nor holes if tiled.
 *
 * @param {Reader} r
 * @param {boolean} escaped  names are JSON
 * @param {boolean} tiled
 * @param {number} end
 */
function checkRecords (r, escaped, tiled, end) {
  let n = 0
  for (let at = 1; at < r.count; at += r.room[at]) n++
  r.reserve(n)
  const { words } = r
  const list = r.room.subarray(r.count, r.count + n)
  r.count += n
  for (let i = 0, at = 1; i < n; at += words[at]) list[i++] = at
  list.sort((a, b) => words[a + 1] - words[b + 1] || compareNames(r, a, b, escaped) || words[a + 2] - words[b + 2])
  for (let i = 1; i < n; i++) {
    const [a, b] = [list[i - 1], list[i]]
    if (words[a + 1] === words[b + 1] && compareNames(r, a, b, escaped) === 0) r.bad(words[b + 2], 'this name is there twice')
  }
  list.sort((a, b) => words[a + 1] - words[b + 1] || (words[a + 1] === PAIR ? 0 : words[a + 8] - words[b + 8] || words[a + 9] - words[b + 9]) || words[a + 2] - words[b + 2])
  checkPlaces(r, list, tiled, end)
}

/**
 * @param {Reader} r
 * @param {Float64Array} list  where the records are, sorted by where their data is
 * @param {boolean} tiled
 * @param {number} end
 */
function checkPlaces (r, list, tiled, end) {
  const { words } = r
  let last = words[0]
  list.forEach((at, i) => {
    const name = words[at + 2]
    const begin = words[at + 8]
    if (words[at + 1] === MEMBER) {
      words[at + 9] = i + 1 < list.length ? words[list[i + 1] + 8] : end
      if (words[at + 9] - begin < 30 + words[at + 3] + words[at + 6]) r.bad(name, 'the member reaches into what comes after it')
    }
    if (words[at + 1] !== TENSOR) return
    const nbytes = words[at + 9]
    if (begin < last && (tiled || nbytes > 0)) r.bad(name, 'the data of this tensor overlaps that of another one')
    if (tiled && begin > last) r.bad(name, "there are bytes before this tensor's data that belong to none")
    if (begin + nbytes > end) r.bad(name, 'the data of this tensor ends after the file')
    if (nbytes > 0 || tiled) last = begin + nbytes
  })
  if (tiled && last !== end) r.bad(last, 'the bytes from here on belong to no tensor')
}

/**
 * @param {Reader} r
 * @param {number} a  where the record is
 * @param {number} b
 * @param {boolean} escaped
 */
function compareNames (r, a, b, escaped) {
  let p = r.room[a + 2]
  let q = r.room[b + 2]
  const pEnd = p + r.room[a + 3]
  const qEnd = q + r.room[b + 3]
  while (p < pEnd && q < qEnd) {
    const x = codeAt(r.bytes, p, escaped)
    p += step
    const y = codeAt(r.bytes, q, escaped)
    q += step
    if (x !== y) return x - y
  }
  return Number(p < pEnd) - Number(q < qEnd)
}

/** Bytes of the character that codeAt was asked for last. */
let step = 0

/**
 * One character of a name that is valid JSON, if escaped; else one byte.
 *
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {boolean} escaped
 */
function codeAt (bytes, at, escaped) {
  const c = bytes[at]
  step = 1
  if (!escaped || (c < 0x80 && c !== BACKSLASH)) return c
  if (c !== BACKSLASH) {
    step = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4
    let code = c & (0x7f >> step)
    for (let i = 1; i < step; i++) code = code << 6 | (bytes[at + i] & 0x3f)
    return code
  }
  const escape = bytes[at + 1]
  step = 2
  if (escape !== SMALL_U) return CONTROLS.get(escape) ?? escape
  const first = hexadecimal(bytes, at + 2)
  step = 6
  if (first < 0xd800 || first >= 0xe000) return first
  step = 12
  return 0x10000 + ((first & 0x3ff) << 10 | (hexadecimal(bytes, at + 8) & 0x3ff))
}

/**
 * @param {Uint8Array} bytes
 * @param {number} at
 * @returns {number} of four digits; -1: they are none
 */
function hexadecimal (bytes, at) {
  let code = 0
  for (let i = at; i < at + 4; i++) {
    const c = bytes[i]
    if (!((c >= 48 && c <= 57) || ((c | 32) >= 97 && (c | 32) <= 102))) return -1
    code = code << 4 | (c <= 57 ? c - 48 : (c & 7) + 9)
  }
  return code
}

// ---- .npy ----

/** Names of dtypes without their byte order: dtype and bytes @type {Map<string, [string | null, number]>} */
const DESCRS = new Map([
  ['b1', ['bool', 1]],
  ['i1', ['int8', 1]],
  ['u1', ['uint8', 1]],
  ['i2', ['int16', 2]],
  ['u2', ['uint16', 2]],
  ['i4', ['int32', 4]],
  ['u4', ['uint32', 4]],
  ['i8', ['int64', 8]],
  ['u8', ['uint64', 8]],
  ['f2', ['float16', 2]],
  ['f4', ['float32', 4]],
  ['f8', ['float64', 8]],
  ['c8', ['complex64', 8]],
  ['c16', ['complex128', 16]],
  ['V1', [null, 1]],
  ['V2', [null, 2]]
])

const FORTRAN = 1
const SWAPPED = 2

/** @param {Reader} r */
function npy (r) {
  r.need(10)
  if (!r.is(0, 6, '\x93NUMPY')) r.bad(0, 'this is no .npy file')
  const version = r.bytes[6]
  if (version < 1 || version > 3 || r.bytes[7] !== 0) r.bad(6, 'this version of .npy is not known')
  const width = version === 1 ? 2 : 4
  r.need(8 + width)
  const length = width === 2 ? r.u16(8) : r.u32(8)
  r.at = 8 + width
  if (length > 2 ** 20) r.bad(8, 'the header is too long')
  r.need(length)
  const begin = r.at + length
  if (version === 3 && !r.isUtf8(r.at, begin)) r.bad(r.at, 'the header is not UTF-8')
  r.given = begin // texts end with the header
  const { dtype, itemsize, flags, shape } = npyDict(r)
  r.put(begin)
  const nbytes = putTensor(r, 0, 0, dtype, flags, 1, itemsize, begin, shape)
  if (nbytes > r.total - begin) r.bad(begin, 'the file ends before its data does')
}

/** @param {Reader} r */
function npyDict (r) {
  const found = { dtype: /** @type {string | null} */ (null), itemsize: 0, flags: 0, shape: /** @type {number[]} */ ([]) }
  const seen = new Set()
  let comma = true
  if (!r.take(OPEN)) r.bad(r.at, 'the header is no dict')
  while (!r.take(CLOSE)) {
    const { at } = r
    const key = comma ? npyText(r) : null
    if (key === null || !r.take(COLON)) r.bad(r.at, "the header's dict is malformed")
    r.skipSpaces()
    if (key === 'descr') npyDescr(r, found)
    else if (key === 'fortran_order') npyOrder(r, found)
    else if (key === 'shape') found.shape = npyShape(r)
    else r.bad(at, 'the header has another key, or one twice')
    if (seen.has(key)) r.bad(at, 'the header has another key, or one twice')
    seen.add(key)
    comma = r.take(COMMA)
  }
  r.skipSpaces()
  if (seen.size !== 3) r.bad(r.at, 'the header lacks descr, fortran_order or shape')
  if (r.at !== r.given) r.bad(r.at, 'the header goes on after its dict')
  return found
}

/**
 * @param {Reader} r
 * @returns {string | null} a quoted text without escapes, of a few characters at most what it is; null: it is none
 */
function npyText (r) {
  r.skipSpaces()
  const from = r.at + 1
  const quote = r.bytes[r.at]
  if (from >= r.given || (quote !== SINGLE && quote !== DOUBLE)) return null
  const end = r.bytes.subarray(0, r.given).indexOf(quote, from)
  if (end < 0) return null
  r.at = end + 1
  return String.fromCharCode(...r.bytes.subarray(from, Math.min(end, from + 16)))
}

/**
 * @param {Reader} r
 * @param {{ dtype: string | null, itemsize: number, flags: number }} found
 */
function npyDescr (r, found) {
  const text = npyText(r)
  if (text === null) r.bad(r.at, 'descr is no text: arrays of records are not read')
  const known = '<>|='.includes(text.charAt(0)) ? DESCRS.get(text.slice(1)) : undefined
  if (known === undefined) r.bad(r.at, 'descr names a dtype that has no counterpart here, such as Python objects or text')
  const [dtype, itemsize] = known
  found.dtype = dtype
  found.itemsize = itemsize
  if (text.startsWith('>') && itemsize > 1 && dtype !== null) found.flags |= SWAPPED
}

/**
 * @param {Reader} r
 * @param {{ flags: number }} found
 */
function npyOrder (r, found) {
  const isFortran = startsWith(r, 'True')
  if (!isFortran && !startsWith(r, 'False')) r.bad(r.at, 'fortran_order is neither True nor False')
  if (isFortran) found.flags |= FORTRAN
  r.at += isFortran ? 4 : 5
}

/**
 * @param {Reader} r
 * @param {string} text
 */
const startsWith = (r, text) => text.length <= r.given - r.at && r.is(r.at, text.length, text)

/** @param {Reader} r */
function npyShape (r) {
  /** @type {number[]} */
  const shape = []
  let comma = true
  if (!r.take(OPEN_ROUND)) r.bad(r.at, 'shape is no tuple')
  while (!r.take(CLOSE_ROUND)) {
    if (!comma) r.bad(r.at, 'a comma is missing in shape')
    if (shape.length === MOST_AXES) r.bad(r.at, 'shape has more than 64 axes')
    const from = r.at
    const extent = r.takeDigits()
    if (Number.isNaN(extent) || !isPlain(r, from)) r.bad(r.at, 'shape has an entry that is no extent')
    shape.push(extent)
    comma = r.take(COMMA)
    r.skipSpaces()
  }
  if (shape.length === 1 && !comma) r.bad(r.at, 'shape is no tuple') // (3) is a number
  return shape
}

/** Were there digits, and no zero before others? @param {Reader} r @param {number} from */
const isPlain = (r, from) => r.at > from && (r.at - from === 1 || r.bytes[from] !== 48)

// ---- .safetensors ----

/** dtype, elements and bytes of the smallest whole, by name @type {[string, string | null, number, number][]} */
const TYPES = [
  ['BOOL', 'bool', 1, 1],
  ['U8', 'uint8', 1, 1],
  ['I8', 'int8', 1, 1],
  ['I16', 'int16', 1, 2],
  ['U16', 'uint16', 1, 2],
  ['I32', 'int32', 1, 4],
  ['U32', 'uint32', 1, 4],
  ['I64', 'int64', 1, 8],
  ['U64', 'uint64', 1, 8],
  ['F16', 'float16', 1, 2],
  ['BF16', 'bfloat16', 1, 2],
  ['F32', 'float32', 1, 4],
  ['F64', 'float64', 1, 8],
  ['C64', 'complex64', 1, 8],
  ['F8_E4M3', 'float8_e4m3fn', 1, 1],
  ['F8_E5M2', 'float8_e5m2', 1, 1],
  ['F8_E8M0', null, 1, 1],
  ['F8_E4M3FNUZ', null, 1, 1],
  ['F8_E5M2FNUZ', null, 1, 1],
  ['F4', null, 2, 1],
  ['F6_E2M3', null, 4, 3],
  ['F6_E3M2', null, 4, 3]
]

/** @param {Reader} r */
function safetensors (r) {
  r.need(8)
  const length = r.u64(0)
  r.at = 8
  if (length > 100000000) r.bad(0, 'the header is longer than 100000000 bytes')
  r.need(length)
  r.given = 8 + length
  r.put(r.given)
  let hasMetadata = false
  if (!r.take(OPEN)) r.bad(r.at, 'the header is no JSON object')
  for (let first = true; !r.take(CLOSE); first = false) {
    if (!first && !r.take(COMMA)) r.bad(r.at, 'a comma is missing')
    const [at, nbytes] = jsonString(r)
    if (!r.take(COLON)) r.bad(r.at, 'a colon is missing')
    if (!r.is(at, nbytes, '__metadata__')) {
      safetensor(r, at, nbytes)
    } else if (hasMetadata) {
      r.bad(at, '__metadata__ is there twice')
    } else {
      hasMetadata = true
      safetensorsMetadata(r)
    }
  }
  r.skipSpaces()
  if (r.at !== r.given) r.bad(r.at, 'the header goes on after its object')
  checkRecords(r, true, true, r.total)
}

/**
 * @param {Reader} r
 * @returns {[number, number]} where it is and its bytes, without the quotes
 */
function jsonString (r) {
  if (!r.take(DOUBLE)) r.bad(r.at, 'a string was expected')
  const from = r.at
  while (r.at < r.given && r.bytes[r.at] !== DOUBLE) {
    const length = character(r, r.at)
    if (length === 0) r.bad(r.at, 'the string is neither UTF-8 nor valid JSON')
    r.at += length
  }
  const length = r.at - from
  if (!r.take(DOUBLE)) r.bad(from, 'the string has no end')
  return [from, length]
}

/**
 * @param {Reader} r
 * @param {number} at
 * @returns {number} bytes of the character or escape sequence; 0: it is none
 */
function character (r, at) {
  const { bytes } = r
  const left = r.given - at
  if (bytes[at] < 0x20) return 0
  if (bytes[at] !== BACKSLASH) return r.utf8(at, r.given)
  if (left < 2) return 0
  if (bytes[at + 1] !== SMALL_U) return ESCAPES.includes(bytes[at + 1]) ? 2 : 0
  const first = left < 6 ? -1 : hexadecimal(bytes, at + 2)
  if (first < 0xd800 || first >= 0xe000) return first < 0 ? 0 : 6
  if (first >= 0xdc00 || left < 12 || bytes[at + 6] !== BACKSLASH || bytes[at + 7] !== SMALL_U) return 0
  const second = hexadecimal(bytes, at + 8)
  return second >= 0xdc00 && second < 0xe000 ? 12 : 0
}

/**
 * @param {Reader} r
 * @param {number} most
 * @returns {number[]} integers from 0 to 2^53
 */
function jsonList (r, most) {
  const list = []
  if (!r.take(OPEN_SQUARE)) r.bad(r.at, 'a list was expected')
  while (!r.take(CLOSE_SQUARE)) {
    if (list.length > 0 && !r.take(COMMA)) r.bad(r.at, 'a comma is missing')
    if (list.length === most) r.bad(r.at, 'the list has too many entries')
    r.skipSpaces()
    const from = r.at
    const n = r.takeDigits()
    if (Number.isNaN(n)) r.bad(from, 'the integer is too large')
    if (!isPlain(r, from)) r.bad(from, 'an integer, not negative, was expected')
    list.push(n)
  }
  return list
}

/**
 * @param {Reader} r
 * @param {number} name
 * @param {number} length
 */
function safetensor (r, name, length) {
  let [text, bytesOfText] = [0, 0]
  /** @type {number[]} */
  let shape = []
  /** @type {number[]} */
  let offsets = []
  let seen = 0
  if (!r.take(OPEN)) r.bad(r.at, "a tensor's entry is no object")
  while (seen !== 7) {
    if (seen !== 0 && !r.take(COMMA)) r.bad(r.at, 'dtype, shape or data_offsets is missing')
    const [key, nbytes] = jsonString(r)
    if (!r.take(COLON)) r.bad(r.at, 'a colon is missing')
    let bit = 0
    if (r.is(key, nbytes, 'dtype')) {
      bit = 1;
      [text, bytesOfText] = jsonString(r)
    } else if (r.is(key, nbytes, 'shape')) {
      bit = 2
      shape = jsonList(r, MOST_AXES)
    } else if (r.is(key, nbytes, 'data_offsets')) {
      bit = 4
      offsets = jsonList(r, 2)
    }
    if (bit === 0 || (seen & bit) !== 0) r.bad(key, 'an entry has another field, or one twice')
    seen |= bit
  }
  if (!r.take(CLOSE)) r.bad(r.at, "a tensor's entry goes on after its three fields")
  const type = TYPES.find(([known]) => r.is(text, bytesOfText, known))
  if (type === undefined) r.bad(text, 'this dtype is not known')
  const [begin, end] = offsets
  if (offsets.length !== 2 || begin > end) r.bad(name, 'data_offsets of this tensor are not a beginning and an end')
  const nbytes = putTensor(r, name, length, type[1], text, type[2], type[3], r.room[0] + begin, shape)
  if (nbytes !== end - begin) r.bad(name, 'data_offsets of this tensor do not fit its shape and dtype')
}

/** @param {Reader} r */
function safetensorsMetadata (r) {
  r.skipSpaces()
  if (startsWith(r, 'null')) {
    r.at += 4
    return
  }
  if (!r.take(OPEN)) r.bad(r.at, '__metadata__ is no object')
  for (let first = true; !r.take(CLOSE); first = false) {
    if (!first && !r.take(COMMA)) r.bad(r.at, 'a comma is missing')
    const [name, length] = jsonString(r)
    if (!r.take(COLON)) r.bad(r.at, 'a colon is missing')
    const [value, nbytes] = jsonString(r)
    r.put(7, PAIR, name, length, 0, value, nbytes)
  }
}

// ---- .gguf ----

const DEEPEST = 8
const SIZES = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8]
const STRING = 8

/** dtype, elements and bytes of a block, by type @type {Record<number, [string | null, number, number]>} */
const GGUF_TYPES = {
  0: ['float32', 1, 4],
  1: ['float16', 1, 2],
  2: [null, 32, 18],
  3: [null, 32, 20],
  6: [null, 32, 22],
  7: [null, 32, 24],
  8: [null, 32, 34],
  9: [null, 32, 36],
  10: [null, 256, 84],
  11: [null, 256, 110],
  12: [null, 256, 144],
  13: [null, 256, 176],
  14: [null, 256, 210],
  15: [null, 256, 292],
  16: [null, 256, 66],
  17: [null, 256, 74],
  18: [null, 256, 98],
  19: [null, 256, 50],
  20: [null, 32, 18],
  21: [null, 256, 110],
  22: [null, 256, 82],
  23: [null, 256, 136],
  24: ['int8', 1, 1],
  25: ['int16', 1, 2],
  26: ['int32', 1, 4],
  27: ['int64', 1, 8],
  28: ['float64', 1, 8],
  29: [null, 256, 56],
  30: ['bfloat16', 1, 2],
  34: [null, 256, 54],
  35: [null, 256, 66],
  39: [null, 32, 17]
}

/** @param {Reader} r */
function gguf (r) {
  r.need(24)
  if (r.u32(0) !== 0x46554747) r.bad(0, 'this is no .gguf file')
  const version = r.u32(4)
  if (version !== 2 && version !== 3) r.bad(4, version % 2 ** 24 !== 0 ? 'this version of .gguf is not read' : 'a big-endian .gguf is not read')
  const tensors = r.u64(8)
  const pairs = r.u64(16)
  if (tensors > r.total || pairs > r.total) r.bad(8, 'there are more tensors or values than bytes')
  if (tensors > MOST_IN_GGUF || pairs > MOST_IN_GGUF) r.bad(8, 'there are more than 1000000 tensors or values')
  r.at = 24
  r.longest = LONGEST
  r.put(0)
  const state = { alignment: 32 }
  for (let i = 0; i < pairs; i++) ggufPair(r, state)
  const first = r.count
  for (let i = 0; i < tensors; i++) ggufTensor(r, state.alignment)
  const begin = Math.ceil(r.at / state.alignment) * state.alignment
  const { words } = r
  words[0] = begin
  for (let at = first; at < words.length; at += words[at]) words[at + 8] += begin
  checkRecords(r, false, false, r.total)
}

/**
 * @param {Reader} r
 * @returns {[number, number]} where it is, bytes
 */
function ggufName (r) {
  const length = r.take64()
  if (length > 65535) r.bad(r.at - 8, 'the name is too long')
  const at = r.at
  r.skip(length)
  if (!r.isUtf8(at, r.at)) r.bad(at, 'the name is not UTF-8')
  return [at, length]
}

/**
 * @param {Reader} r
 * @param {{ alignment: number }} state
 */
function ggufPair (r, state) {
  const [name, length] = ggufName(r)
  const type = r.take32()
  const at = r.at
  skipValue(r, type, 0)
  r.put(7, PAIR, name, length, type, at, r.at - at)
  if (!r.is(name, length, 'general.alignment')) return
  state.alignment = type === 4 ? r.u32(at) : 0
  if (state.alignment === 0 || state.alignment % 8 !== 0) r.bad(at, 'general.alignment is no multiple of 8 in 32 bits')
}

/**
 * @param {Reader} r
 * @param {number} type
 * @param {number} depth
 */
function skipValue (r, type, depth) {
  if (type >= SIZES.length) r.bad(r.at, 'this type of value is not known')
  if (SIZES[type] > 0) return r.skip(SIZES[type])
  if (type === STRING) return r.skip(r.take64())
  if (depth === DEEPEST) r.bad(r.at, 'arrays are nested too deeply')
  const inner = r.take32()
  const n = r.take64()
  if (n > r.total - r.at) r.bad(r.at - 8, 'the array has more elements than the file')
  if (SIZES[inner] > 0) return r.skip(n * SIZES[inner])
  for (let i = 0; i < n; i++) skipValue(r, inner, depth + 1)
}

/**
 * @param {Reader} r
 * @param {number} alignment
 */
function ggufTensor (r, alignment) {
  const [name, length] = ggufName(r)
  const ndim = r.take32()
  if (ndim > 4) r.bad(r.at - 4, 'the tensor has more than 4 axes')
  const shape = []
  for (let d = 0; d < ndim; d++) {
    const extent = r.take64()
    if (extent > MOST || (extent === MOST && r.u32(r.at - 8) !== 0)) r.bad(r.at - 8, 'the extent is too large') // 2^53 + 1 is rounded to 2^53
    shape.unshift(extent)
  }
  const type = r.take32()
  const begin = r.take64()
  const known = GGUF_TYPES[type]
  if (known === undefined) r.bad(r.at - 12, 'this type of tensor is not known')
  const [dtype, elements, bytes] = known
  if (begin > r.total) r.bad(r.at - 8, 'the data of this tensor begins after the file')
  if (begin % alignment !== 0) r.bad(r.at - 8, 'the offset is no multiple of the alignment')
  if (elements > 1 && !(shape.length > 0 && shape[shape.length - 1] % elements === 0)) r.bad(name, 'the innermost extent is no whole number of blocks')
  putTensor(r, name, length, dtype, type, elements, bytes, begin, shape)
}

// ---- .zip ----

/** @param {Reader} r */
function zipEnd (r) {
  let at = r.given - 22
  const lowest = Math.max(0, at - 65535)
  const isAt = (/** @type {number} */ i, /** @type {number} */ signature) => i >= 0 && r.given - i >= 4 && r.u32(i) === signature
  while (at >= lowest && !(isAt(at, 0x06054b50) && r.u16(at + 20) === r.given - at - 22)) at--
  if (at < lowest) r.bad(r.given, 'there is no end of a zip directory before')
  if (r.u32(at + 4) !== 0 || r.u16(at + 8) !== r.u16(at + 10)) r.bad(at, 'the zip has several parts')
  let [count, nbytes, begin, end] = [r.u16(at + 10), r.u32(at + 12), r.u32(at + 16), at]
  if (isAt(at - 20, 0x07064b50)) {
    end = r.u64(at - 20 + 8) - r.base
    if (end < 0 || end > at - 20 - 56 || !isAt(end, 0x06064b50)) r.bad(at - 20, 'the zip64 directory has no end where it has to be')
    count = r.u64(end + 32)
    nbytes = r.u64(end + 40)
    begin = r.u64(end + 48)
  }
  const room = r.base + end
  if (nbytes > room || begin > room - nbytes || begin + nbytes !== room || count > Math.floor(nbytes / 46)) r.bad(end, 'the zip directory is not where it has to be')
  if (nbytes > LONGEST) r.bad(end, 'the zip directory is longer than 100000000 bytes')
  r.put(begin, nbytes, count)
}

/** @param {Reader} r */
function zipDirectory (r) {
  r.put(0)
  while (r.at < r.given) {
    const { at } = r
    if (r.given - at < 46 || r.u32(at) !== 0x02014b50) r.bad(at, 'this is no entry of a zip directory')
    const method = r.u16(at + 10)
    const length = r.u16(at + 28)
    const name = at + 46
    const after = name + length + r.u16(at + 30)
    r.at = after + r.u16(at + 32)
    if (r.at > r.given) r.bad(at, 'the entry ends after the zip directory')
    const fields = [r.u32(at + 24), r.u32(at + 20), r.u32(at + 42)] // in the order of the zip64 field
    if (!readWide(r, name + length, after, fields)) r.bad(at, "the entry's zip64 field is malformed")
    const [unpacked, packed, header] = fields
    if (r.u16(at + 8) & 1) r.bad(at, 'the member is encrypted')
    if (method !== 0 && method !== 8) r.bad(at, 'the member is neither stored nor deflated')
    if (header > r.base || packed > r.base - header) r.bad(at, 'the member reaches into the zip directory')
    if (method === 8 ? Math.floor(unpacked / 1032) > packed : unpacked !== packed) r.bad(at, 'the member cannot have as many bytes as the zip directory says')
    r.put(10, MEMBER, name, length, method, r.u32(at + 16), packed, unpacked, header, 0)
  }
  checkRecords(r, false, false, r.base)
}

/**
 * @param {Reader} r
 * @param {number} at
 * @param {number} end
 * @param {number[]} fields
 */
function readWide (r, at, end, fields) {
  while (end - at >= 4) {
    const next = at + 4 + r.u16(at + 2)
    if (next > end) return false
    if (r.u16(at) === 1) {
      at += 4
      for (let i = 0; i < 3; i++) {
        if (fields[i] !== 0xffffffff) continue
        if (next - at < 8) return false
        fields[i] = r.u64(at)
        at += 8
      }
      return true
    }
    at = next
  }
  return true
}

/** @param {Reader} r */
function zipMember (r) {
  r.need(30)
  if (r.u32(0) !== 0x04034b50) r.bad(0, 'this is no header of a member')
  const n = 30 + r.u16(26) + r.u16(28)
  r.need(n)
  r.put(n, 30, r.u16(26), r.u16(8))
}

module.exports = { parse }
