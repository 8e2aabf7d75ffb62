'use strict'
// .npz: NumPy's zip of .npy files, whose members are stored or deflated.

const { failure } = require('../base/errors')
const { exactTextOf, inflate, inflateSome } = require('../runtime/host')
const { dtypeOf } = require('../backend/dtypes')
const { Part } = require('./byte-source')
const { tensorFromEntry, infoOf } = require('./entries')
const { inflateNow, inflateAsync, Beginning } = require('./inflate')
const { readHeader, readArrayHeader } = require('./npy')
const { PARSERS, parse, recordsOf } = require('./parsers')
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
 * @property {number} method  STORED or DEFLATED
 * @property {number} crc
 * @property {number} packed  bytes in the file
 * @property {number} unpacked  bytes
 * @property {number} header  byte of the file
 * @property {number} end  byte of the file
 * @property {Source | null} bytes  stored or inflated; null: not looked at yet
 * @property {Error | null} fault  why load() could not read it: get and info throw it
 * @property {TensorInfo | null} info  noted by load(), because its file is closed afterwards
 */

const STORED = 0
const DEFLATED = 8
const MOST_DEFLATED = 2 ** 31 - 1 // bytes of a member: they have to be in memory together
const LONGEST_END = 22 + 65535 + 20 + 56 // bytes of a zip's end: with a comment, and with zip64's before it
const LONGEST_HEADER = 30 + 2 * 65535 // bytes of a member's own header
const USUAL_HEADER = 1024 // bytes that are read of it first
const PIECE = 2 ** 16 // packed bytes that are inflated at a time

/** @param {Source} source @returns {Map<string, Member>} by name, in the order of the zip's directory */
function membersOf(source) {
  const { size } = source
  const tail = Math.min(size, LONGEST_END)
  const from = size - tail
  const [begin, nbytes] = parse(PARSERS.ZIP_END, source.read(from, tail), size, from).words
  const directory = source.read(begin, nbytes)
  const { words } = parse(PARSERS.ZIP_DIRECTORY, directory, nbytes, begin)
  /** @type {Map<string, Member>} */
  const members = new Map()
  for (const { nameAt, nameLength, words: found } of recordsOf(words)) {
    const full = exactTextOf(directory.subarray(nameAt, nameAt + nameLength)) // whether or not a flag says UTF-8: other code pages are not guessed
    if (full === null) {
      throw failure(
        'ERR_FORMAT',
        `byte ${begin + nameAt}: the name of the member at byte ${found[8]} is not UTF-8`,
      )
    }
    const isArray = full.endsWith('.npy')
    const name = isArray ? full.slice(0, -4) : full
    if (members.has(name)) {
      throw failure(
        'ERR_FORMAT',
        `byte ${begin + nameAt}: two members are called ${JSON.stringify(name)}`,
      )
    }
    members.set(name, {
      name,
      isArray,
      method: found[4],
      crc: found[5],
      packed: found[6],
      unpacked: found[7],
      header: found[8],
      end: found[9],
      bytes: null,
      fault: null,
      info: null,
    })
  }
  return members
}

/**
 * @param {Source} source
 * @param {string} [dtype]  of arrays that have none in the file
 * @param {Map<string, Member>} [members]  of the source, for who needs them as well
 * @returns {TensorFile}
 */
function npzFile(source, dtype, members = membersOf(source)) {
  const make = (/** @type {Member} */ member) =>
    memberTensor(source, memberBytes(source, checkReadable(member)), member, dtype)
  // @ts-expect-error The constructor is private to everybody else.
  return new TensorFile(KEY, {
    source,
    entries: members,
    metadata: () => ({}),
    make,
    makeAsync: async (/** @type {Member} */ member) => {
      if (checkReadable(member).method === DEFLATED) {
        member.bytes ??= await inflateAsync(source, member, piecesOf(packedBytes(source, member)))
      }
      return make(member)
    },
    info: (/** @type {Member} */ member) => {
      if (source.faults === undefined) return memberInfo(source, member, dtype)
      member.info ??= memberInfo(source, checkReadable(member), dtype)
      const { shape, fileShape } = member.info
      return { ...member.info, shape: shape.slice(), fileShape: fileShape.slice() }
    },
  })
}

/** @param {Member} member @throws why load() could not read it */
function checkReadable(member) {
  if (member.fault !== null) throw member.fault
  return member
}

/**
 * @param {Source} source
 * @param {Source} bytes  of the member
 * @param {Member} member
 * @param {string | undefined} dtype
 * @param {typeof readHeader} [read]  readHeader: also of raw bytes that cannot become a tensor
 * @returns {{ entry: Entry, how?: { fortran: boolean, swapped: boolean } }}
 * @throws ERR_FORMAT an array that is none of ours: Python objects, text, records · ERR_DTYPE raw bytes
 */
function memberEntry(source, bytes, member, dtype, read = readArrayHeader) {
  const { name, isArray, unpacked } = member
  if (!isArray) {
    return {
      entry: {
        name,
        type: 'bytes',
        dtype: dtypeOf('uint8').index,
        foreign: 0,
        blockElements: 1,
        blockBytes: 1,
        begin: 0,
        nbytes: unpacked,
        shape: [unpacked],
      },
    }
  }
  try {
    return read(bytes, name, dtype, false)
  } catch (/** @type {any} */ error) {
    if (error.code !== 'ERR_FORMAT' && error.code !== 'ERR_DTYPE') throw error
    const fault = failure(error.code, `${JSON.stringify(name)}: ${error.message}`)
    if (source.faults !== undefined && error.code === 'ERR_FORMAT') {
      // ERR_DTYPE fails all of load(): the caller can give a dtype
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
function memberTensor(source, bytes, member, dtype) {
  const { entry, how } = memberEntry(source, bytes, member, dtype)
  if (member.method === DEFLATED) member.bytes = null // inflated bytes are one tensor's
  return tensorFromEntry(bytes, entry, how)
}

/**
 * @param {Source} source
 * @param {Member} member
 * @param {string | undefined} dtype
 * @returns {TensorInfo}
 */
function memberInfo(source, member, dtype) {
  const inflatesLittle =
    member.bytes === null &&
    member.method === DEFLATED &&
    inflateSome !== null &&
    source.faults === undefined
  const bytes = inflatesLittle
    ? new Beginning(source, member, packedBytes(source, member), () =>
        inflatedBytes(source, member),
      )
    : memberBytes(source, member)
  const found = infoOf(memberEntry(source, bytes, member, dtype, readHeader).entry)
  return bytes instanceof Part
    ? { ...found, byteOffset: bytes.at + found.byteOffset }
    : { ...found, deflated: member.packed }
}

/**
 * The bytes that a member has in the file, after its own header was compared with the directory.
 *
 * @param {Source} source
 * @param {Member} member
 * @returns {Part}
 */
function packedBytes(source, { name, header, packed, end, method }) {
  const given = Math.min(source.size - header, LONGEST_HEADER)
  let bytes = source.read(header, Math.min(given, USUAL_HEADER))
  let found = parse(PARSERS.ZIP_MEMBER, bytes, given, header)
  if (found.wanted > 0) {
    bytes = source.read(header, given)
    found = parse(PARSERS.ZIP_MEMBER, bytes, given, header)
  }
  const [begin, nameAt, nameLength, itsMethod] = found.words
  const itsName = exactTextOf(bytes.subarray(nameAt, nameAt + nameLength))
  if ((itsName !== name && itsName !== `${name}.npy`) || itsMethod !== method) {
    throw failure(
      'ERR_FORMAT',
      `byte ${header}: the member's own header says something else than the zip directory`,
    )
  }
  if (header + begin + packed > end) {
    throw failure('ERR_FORMAT', `byte ${header}: the member reaches into what comes after it`)
  }
  if (method === DEFLATED && packed > MOST_DEFLATED) {
    throw failure(
      'ERR_UNSUPPORTED',
      `${JSON.stringify(name)} has ${packed} deflated bytes; at most ${MOST_DEFLATED} are inflated`,
    )
  }
  return new Part(source, header + begin, packed)
}

/**
 * A member's bytes, from the file or inflated; the same ones until a tensor has them.
 *
 * @param {Source} source
 * @param {Member} member
 * @returns {Source}
 */
function memberBytes(source, member) {
  return (member.bytes ??=
    member.method === STORED ? packedBytes(source, member) : inflatedBytes(source, member))
}

/**
 * @param {Source} source
 * @param {Member} member
 * @returns {Source}
 */
function inflatedBytes(source, member) {
  const packed = packedBytes(source, member)
  if (inflate === null) {
    throw failure(
      'ERR_UNSUPPORTED',
      `${JSON.stringify(member.name)} is deflated, which a browser inflates asynchronously only; await file.load(name)`,
    )
  }
  if (source.writes) {
    throw failure(
      'ERR_UNSUPPORTED',
      `${JSON.stringify(member.name)} is deflated: what is written could not be written back; mode 'c' or 'r' copies`,
    )
  }
  return inflateNow(source, member, packed.view(0, packed.size))
}

/**
 * Deflated bytes in pieces. All are read when the first one is asked for, because the file may be closed before the last one is.
 *
 * @param {Part} packed
 */
function* piecesOf(packed) {
  const bytes = packed.read(0, packed.size)
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE)
}

module.exports = { DEFLATED, membersOf, npzFile, packedBytes, memberEntry, memberTensor }
