'use strict'
// What parsers find in the bytes of files, as records. C's parsers do it; the WASM module has no room for those of .gguf
// and .zip, so that there the ones at the end of this file do. Both find the same.

const ffi = require('./ffi')
const { failure } = require('./errors')
const { isUtf8 } = require('./host')
const { countStaged } = require('./storage')

const { backend } = ffi

const NPY = 0
const SAFETENSORS = 1
const GGUF = 2
const ZIP_END = 3
const ZIP_DIRECTORY = 4
const ZIP_MEMBER = 5

const PAIR = 0
const TENSOR = 1
const MEMBER = 2

/**
 * A record of src/share/formats.h.
 *
 * @typedef {{ tag: number, nameAt: number, nameLength: number, words: Float64Array }} Found  words: the record from its length on
 */

/** @typedef {import('./layouts').Bytes} Bytes */

/**
 * Words that a parser found.
 *
 * @param {number} which
 * @param {Bytes} bytes  of the file, or of its beginning
 * @param {number} total  bytes of the whole file
 * @param {number} [base]  where the given ones begin in it, for pieces of a zip
 * @returns {{ words: Float64Array, wanted: number }} wanted: bytes that have to be given for all; 0: no more
 * @throws ERR_FORMAT
 */
function parse (which, bytes, total, base = 0) {
  if (backend.isWasm && which >= GGUF) return parseHere(which, bytes, total, base)
  const input = inReach(bytes)
  try {
    for (let room = 512; ;) {
      const found = parseInto(which, input, total, base, room)
      if (found.words.length <= room) return found
      room = found.words.length
    }
  } finally {
    if (backend.isWasm && input.extra !== null) backend.release(input)
  }
}

/**
 * @param {number} which
 * @param {import('./storage').Storage} input
 * @param {number} total
 * @param {number} base
 * @param {number} room  words
 */
function parseInto (which, input, total, base, room) {
  if (!backend.isWasm) {
    const words = new Float64Array(room)
    const { count, wanted } = ffi.parse(which, input, backend.borrow(words.buffer, 0, room * 8), total, base)
    return { words: count <= room ? words.subarray(0, count) : new Float64Array(count), wanted }
  }
  const output = backend.allocate(room * 8, ffi.check)
  try {
    const { count, wanted } = ffi.parse(which, input, output, total, base)
    const words = new Float64Array(count)
    if (count <= room) words.set(new Float64Array(/** @type {any} */ (backend.bufferOf(output, ffi.check)), output.byteOffset, count))
    return { words, wanted }
  } finally {
    backend.release(output)
  }
}

/**
 * Bytes where C sees them: in WASM a copy, unless they are in linear memory.
 *
 * @param {Bytes} bytes
 */
function inReach ({ buffer, byteOffset, byteLength }) {
  const borrowed = backend.borrow(buffer, byteOffset, byteLength)
  if (!backend.isWasm || borrowed.kind === 'wasm') return borrowed
  const copy = backend.allocate(byteLength, ffi.check)
  new Uint8Array(/** @type {any} */ (backend.bufferOf(copy, ffi.check)), copy.byteOffset, byteLength).set(new Uint8Array(buffer, byteOffset, byteLength))
  countStaged(byteLength)
  return copy
}

/**
 * The records among a parser's words.
 *
 * @param {Float64Array} words
 * @returns {Generator<Found>}
 */
function * recordsOf (words) {
  // After them comes as much room as they were sorted in: one word each.
  for (let at = 1, end = endOf(words); at < end; at += words[at]) {
    yield { tag: words[at + 1], nameAt: words[at + 2], nameLength: words[at + 3], words: words.subarray(at, at + words[at]) }
  }
}

/** @param {Float64Array} words */
function endOf (words) {
  let at = 1
  let n = 0
  while (at + n < words.length) {
    at += words[at]
    n++
  }
  return at
}

// ---- In JavaScript ----

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
    /** @type {number[]} */
    this.words = []
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
    if (n <= this.given - this.at) return
    if (n > this.total - this.at) this.bad(this.at, 'the file ends before what has to be here')
    throw new Wanted(this.at + n)
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
}

/** More bytes have to be given. */
class Wanted {
  /** @param {number} n */
  constructor (n) {
    this.n = n
  }
}

/**
 * @param {number} which
 * @param {Bytes} bytes
 * @param {number} total
 * @param {number} base
 */
function parseHere (which, bytes, total, base) {
  const r = new Reader(bytes, total, base)
  try {
    const run = [gguf, zipEnd, zipDirectory, zipMember][which - GGUF]
    run(r)
    return { words: Float64Array.from(r.words), wanted: 0 }
  } catch (error) {
    if (error instanceof Wanted) return { words: new Float64Array(0), wanted: error.n }
    throw error
  }
}

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
  r.at = 24
  r.words.push(0)
  const state = { alignment: 32 }
  for (let i = 0; i < pairs; i++) ggufPair(r, state)
  const first = r.words.length
  for (let i = 0; i < tensors; i++) ggufTensor(r, state.alignment)
  const begin = Math.ceil(r.at / state.alignment) * state.alignment
  r.words[0] = begin
  for (let at = first; at < r.words.length; at += r.words[at]) r.words[at + 8] += begin
  checkRecords(r, r.total)
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
  if (!isUtf8(r.bytes.slice(at, r.at))) r.bad(at, 'the name is not UTF-8')
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
  r.words.push(7, PAIR, name, length, type, at, r.at - at)
  if (String.fromCharCode(...r.bytes.subarray(name, name + Math.min(length, 18))) !== 'general.alignment') return
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
    if (extent > 2 ** 53) r.bad(r.at - 8, 'the extent is too large')
    shape.unshift(extent)
  }
  const type = r.take32()
  const begin = r.take64()
  const known = GGUF_TYPES[type]
  if (known === undefined) r.bad(r.at - 12, 'this type of tensor is not known')
  const [dtype, elements, bytes] = known
  if (begin % alignment !== 0) r.bad(r.at - 8, 'the offset is no multiple of the alignment')
  if (begin > r.total) r.bad(r.at - 8, 'the data of this tensor begins after the file')
  if (elements > 1 && !(shape.length > 0 && shape[shape.length - 1] % elements === 0)) r.bad(name, 'the innermost extent is no whole number of blocks')
  const numel = shape.reduce((n, extent) => n * (extent || 1), 1)
  if (numel > 2 ** 53) r.bad(name, 'the shape has too many elements')
  const nbytes = shape.includes(0) ? 0 : numel / elements * bytes
  const index = dtype === null ? -1 : ffi.tables.dtypes.findIndex((/** @type {[string] | null} */ row) => row?.[0] === dtype)
  r.words.push(11 + ndim, TENSOR, name, length, index, type, elements, bytes, begin, nbytes, ndim, ...shape)
}

/**
 * @param {Reader} r
 * @param {number} end
 */
function checkRecords (r, end) {
  const all = Float64Array.from(r.words)
  /** @type {Found[]} */
  const records = []
  for (let at = 1; at < all.length; at += all[at]) {
    records.push({ tag: all[at + 1], nameAt: all[at + 2], nameLength: all[at + 3], words: all.subarray(at, at + all[at]) })
  }
  const seen = new Set()
  for (const { tag, nameAt, nameLength } of records) {
    const key = tag + Array.from(r.bytes.subarray(nameAt, nameAt + nameLength), c => String.fromCharCode(c)).join('')
    if (seen.has(key)) r.bad(nameAt, 'this name is there twice')
    seen.add(key)
  }
  const placed = records.filter(({ tag }) => tag !== PAIR).sort((a, b) => a.words[8] - b.words[8] || a.words[9] - b.words[9])
  let last = all[0]
  placed.forEach(({ tag, nameAt, nameLength, words }, i) => {
    if (tag === MEMBER) {
      words[9] = i + 1 < placed.length ? placed[i + 1].words[8] : end
      if (words[9] - words[8] < 30 + nameLength + words[6]) r.bad(nameAt, 'the member reaches into what comes after it')
      return
    }
    const [begin, nbytes] = [words[8], words[9]]
    if (begin < last && nbytes > 0) r.bad(nameAt, 'the data of this tensor overlaps that of another one')
    if (begin + nbytes > end) r.bad(nameAt, 'the data of this tensor ends after the file')
    if (nbytes > 0) last = begin + nbytes
  })
  r.words = [...all, ...records.map(() => 0)]
}

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
  r.words.push(begin, nbytes, count)
}

/** @param {Reader} r */
function zipDirectory (r) {
  r.words.push(0)
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
    r.words.push(10, MEMBER, name, length, method, r.u32(at + 16), packed, unpacked, header, 0)
  }
  checkRecords(r, r.base)
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
  r.words.push(n, 30, r.u16(26), r.u16(8))
}

module.exports = { NPY, SAFETENSORS, GGUF, ZIP_END, ZIP_DIRECTORY, ZIP_MEMBER, PAIR, TENSOR, MEMBER, parse, parseHere, recordsOf }
