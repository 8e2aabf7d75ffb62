'use strict'
// .npz: NumPy's zip of .npy files, whose members are stored or deflated.

const { failure } = require('../base/errors')
const { exactTextOf, inflate, inflateSome } = require('../runtime/host')
const { dtypeOf } = require('../backend/dtypes')
const { Part } = require('./byte-source')
const { madeOf, infoOf } = require('./entries')
const { inflatedNow, inflatedLater } = require('./inflate')
const { npyHeader, npyEntry } = require('./npy')
const { ZIP_END, ZIP_DIRECTORY, ZIP_MEMBER, parse, recordsOf } = require('./parsers')
const { KEY, TensorFile } = require('./tensor-file')

/** @typedef {import('./byte-source').Source} Source */
/** @typedef {import('./entries').Entry} Entry */
/** @typedef {import('./entries').TensorInfo} TensorInfo */

/**
 * A member of a zip.
 *
 * @typedef {object} Member
 * @property {string} name  without .npy
 * @property {boolean} isArray
 * @property {number} method  0 stored, 8 deflated
 * @property {number} crc
 * @property {number} packed  bytes in the file
 * @property {number} unpacked  bytes
 * @property {number} header  byte of the file
 * @property {number} end  byte of the file
 * @property {Source | null} bytes  once it was looked at
 * @property {Error | null} fault  of one that was read, which whoever asks for it is told
 * @property {TensorInfo | null} info  of one that was read
 */

const MOST_DEFLATED = 2 ** 31 - 1 // bytes of a member, which have to be in memory together
const LONGEST_END = 22 + 65535 + 20 + 56 // of a zip: its end with a comment, and what zip64 has before

/**
 * @param {Source} source
 * @param {string} [dtype]  of arrays that have none in the file
 * @returns {TensorFile}
 */
function npzFile (source, dtype) {
  const { size } = source
  const tail = Math.min(size, LONGEST_END)
  const [begin, nbytes] = parse(ZIP_END, source.read(size - tail, tail), size, size - tail).words
  const directory = source.read(begin, nbytes)
  const { words } = parse(ZIP_DIRECTORY, directory, nbytes, begin)
  /** @type {Map<string, Member>} */
  const entries = new Map()
  for (const { nameAt, nameLength, words: found } of recordsOf(words)) {
    const full = exactTextOf(directory.subarray(nameAt, nameAt + nameLength)) // also without the flag that says so; other code pages are not guessed
    if (full === null) throw failure('ERR_FORMAT', `byte ${begin + nameAt}: the name of the member at byte ${found[8]} is not UTF-8`)
    const isArray = full.endsWith('.npy')
    const name = isArray ? full.slice(0, -4) : full
    if (entries.has(name)) throw failure('ERR_FORMAT', `byte ${begin + nameAt}: two members are called ${JSON.stringify(name)}`)
    entries.set(name, { name, isArray, method: found[4], crc: found[5], packed: found[6], unpacked: found[7], header: found[8], end: found[9], bytes: null, fault: null, info: null })
  }
  const open = (/** @type {Member} */ member) => (member.bytes ??= memberBytes(source, member))
  const make = (/** @type {Member} */ member) => memberTensor(source, open(sound(member)), member, dtype)
  const info = (/** @type {Member} */ member) => {
    const bytes = member.bytes ?? (member.method === 8 && inflateSome !== null && source.faults === undefined ? new Beginning(source, member) : open(member))
    const found = infoOf(memberEntry(source, bytes, member, dtype, npyHeader).entry)
    return bytes instanceof Part ? { ...found, byteOffset: bytes.at + found.byteOffset } : { ...found, deflated: member.packed }
  }
  // @ts-expect-error The constructor is private to everybody else.
  return new TensorFile(KEY, {
    source,
    entries,
    metadata: () => ({}),
    make,
    makeAsync: async (/** @type {Member} */ member) => {
      if (sound(member).method === 8) member.bytes ??= await inflatedLater(source, member, packedBytes(source, member))
      return make(member)
    },
    info: (/** @type {Member} */ member) => {
      if (source.faults === undefined) return info(member)
      member.info ??= info(sound(member)) // now, because the file is closed once it is read
      return { ...member.info, shape: member.info.shape.slice(), fileShape: member.info.fileShape.slice() }
    }
  })
}

/** @param {Member} member @throws what was wrong with it when it was read */
function sound (member) {
  if (member.fault !== null) throw member.fault
  return member
}

/**
 * @param {Source} source
 * @param {Source} bytes  of the member
 * @param {Member} member
 * @param {string | undefined} dtype
 * @param {typeof npyHeader} [read]  npyHeader, of what need not become a tensor
 * @returns {{ entry: Entry, how?: { fortran: boolean, swapped: boolean } }}
 * @throws ERR_FORMAT an array that is none of ours: Python objects, text, records · ERR_DTYPE raw bytes
 */
function memberEntry (source, bytes, member, dtype, read = npyEntry) {
  const { name, isArray, unpacked } = member
  if (!isArray) return { entry: { name, type: 'bytes', dtype: dtypeOf('uint8').index, foreign: 0, blockElements: 1, blockBytes: 1, begin: 0, nbytes: unpacked, shape: [unpacked] } }
  try {
    return read(bytes, name, dtype, false)
  } catch (/** @type {any} */ error) {
    if (error.code !== 'ERR_FORMAT' && error.code !== 'ERR_DTYPE') throw error
    const fault = failure(error.code, `${JSON.stringify(name)}: ${error.message}`)
    if (source.faults !== undefined && error.code === 'ERR_FORMAT') { // a dtype can be given
      source.faults.add(fault)
      member.fault = fault
      member.bytes = null
    }
    throw fault
  }
}

/**
 * @param {Source} source
 * @param {Source} bytes  of the member
 * @param {Member} member
 * @param {string | undefined} dtype
 */
function memberTensor (source, bytes, member, dtype) {
  const { entry, how } = memberEntry(source, bytes, member, dtype)
  if (member.method === 8) member.bytes = null // inflated bytes are one tensor's
  return madeOf(bytes, entry, how)
}

/**
 * Where a member's data is.
 *
 * @param {Source} source
 * @param {Member} member
 * @returns {Part}
 */
function packedBytes (source, { name, header, packed, end, method }) {
  const given = Math.min(source.size - header, 30 + 2 * 65535)
  let bytes = source.read(header, Math.min(given, 1024))
  let found = parse(ZIP_MEMBER, bytes, given, header)
  if (found.wanted > 0) {
    bytes = source.read(header, given)
    found = parse(ZIP_MEMBER, bytes, given, header)
  }
  const [begin, nameAt, nameLength, itsMethod] = found.words
  const itsName = exactTextOf(bytes.subarray(nameAt, nameAt + nameLength))
  if ((itsName !== name && itsName !== `${name}.npy`) || itsMethod !== method) throw failure('ERR_FORMAT', `byte ${header}: the member's own header says something else than the zip directory`)
  if (header + begin + packed > end) throw failure('ERR_FORMAT', `byte ${header}: the member reaches into what comes after it`)
  if (method === 8 && packed > MOST_DEFLATED) throw failure('ERR_UNSUPPORTED', `${JSON.stringify(name)} has ${packed} deflated bytes; at most ${MOST_DEFLATED} are inflated`)
  return new Part(source, header + begin, packed)
}

/**
 * @param {Source} source
 * @param {Member} member
 * @returns {Source}
 */
function memberBytes (source, member) {
  const packed = packedBytes(source, member)
  if (member.method === 0) return packed
  if (inflate === null) throw failure('ERR_UNSUPPORTED', `${JSON.stringify(member.name)} is deflated, which a browser inflates asynchronously only; await file.load(name)`)
  if (source.writes) throw failure('ERR_UNSUPPORTED', `${JSON.stringify(member.name)} is deflated: what is written could not be written back; mode 'c' or 'r' copies`)
  return inflatedNow(source, member, packed.view(0, packed.size))
}

const FIRST_PACKED = 4096 // deflated bytes, which nearly always have all of an array's header: they hold 4 MiB at most

/** A deflated member, of which no more is inflated than is read. @implements {Source} */
class Beginning {
  /**
   * @param {Source} source
   * @param {Member} member
   */
  constructor (source, member) {
    this.size = member.unpacked
    this.flags = source.flags
    this.reason = source.reason
    this.writes = source.writes
    this.source = source
    this.member = member
    /** @type {ReturnType<typeof memberBytes> | null} */
    this.whole = null
    /** @type {Uint8Array<ArrayBuffer>} */
    this.bytes = new Uint8Array(0)
    const packed = packedBytes(source, member)
    const some = packed.read(0, Math.min(packed.size, FIRST_PACKED))
    try {
      this.bytes = /** @type {NonNullable<typeof inflateSome>} */ (inflateSome)(some)
    } catch {} // who reads it is told
    this.first = this.bytes.length
  }

  all () { return (this.whole ??= memberBytes(this.source, this.member)) }
  /** @param {number} from @param {number} nbytes */
  read (from, nbytes) { return from + nbytes <= this.bytes.length ? this.bytes.subarray(from, from + nbytes) : this.all().read(from, nbytes) }
  /** @param {number} from @param {number} nbytes */
  view (from, nbytes) { return this.all().view(from, nbytes) }
  /** @param {number} from @param {number} nbytes @param {number} alignment */
  place (from, nbytes, alignment) { return this.all().place(from, nbytes, alignment) }
  close () {}
}

module.exports = { npzFile, packedBytes }
