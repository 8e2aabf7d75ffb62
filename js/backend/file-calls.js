'use strict'
// Calls about files: parsers, mappings, segments of shared memory.

const { retried, errnoOf } = require('../runtime/host')
const {
  backend,
  opcodes,
  frame,
  held,
  invoke,
  invokeWith,
  putStorage,
  RESULTS,
  OPERANDS,
  ARGS,
  SIZE_OF_OPERAND,
} = require('./call-buffer')
const { events } = require('./storage')

/** @typedef {InstanceType<typeof import('./storage').Storage>} Storage */

/**
 * Has C parse a header.
 *
 * @param {number} which  the parser
 * @param {Storage} input
 * @param {Storage} output  for doubles
 * @param {number} total  bytes of the whole file
 * @param {number} base  where the given bytes begin in it
 * @returns {{ count: number, wanted: number }} count: doubles, which may be more than fit; wanted: input bytes that the whole header takes, 0 if those given do
 */
function parse(which, input, output, total, base) {
  backend.addressOf(input)
  backend.addressOf(output)
  held.a = input
  held.b = output
  const { f64 } = frame
  putStorage(f64, OPERANDS, input)
  putStorage(f64, OPERANDS + SIZE_OF_OPERAND, output)
  f64[ARGS] = which
  f64[ARGS + 1] = total
  f64[ARGS + 2] = base
  try {
    invoke(opcodes.parse)
  } finally {
    held.a = held.b = null
  }
  return { count: f64[RESULTS], wanted: f64[RESULTS + 1] }
}

/**
 * Changes the byte order of each item.
 *
 * @param {Storage} storage
 * @param {number} itemsize  2, 4 or 8
 */
function swapBytes(storage, itemsize) {
  backend.addressOf(storage)
  held.a = storage
  putStorage(frame.f64, OPERANDS, storage)
  frame.f64[ARGS] = itemsize
  try {
    invoke(opcodes.swap_bytes)
  } finally {
    held.a = null
  }
}

/**
 * @param {number} opcode  of a call whose first result is errno where the system refused
 * @param {...number} numbers
 * @throws ERR_IO, with errno
 */
function invokeRetried(opcode, ...numbers) {
  retried(() => {
    try {
      invokeWith(opcode, ...numbers)
    } catch (error) {
      const errno = frame.f64[RESULTS]
      throw errno > 0
        ? Object.assign(/** @type {Error} */ (error), { errno: errnoOf(errno) })
        : error
    }
  })
}

/**
 * Maps a file into memory. The descriptor may be closed afterwards.
 *
 * @param {number} fd
 * @param {number} nbytes  from its beginning, at least 1
 * @param {boolean} shared  whether writes reach it
 * @param {number} guard  of GUARDS; with a guard checkIntact (staging.js) tells when bytes are gone
 * @returns {Storage}
 * @throws ERR_IO, with errno
 */
function mapFile(fd, nbytes, shared, guard) {
  invokeRetried(opcodes.map_file, fd, 0, nbytes, shared ? 1 : 0, guard)
  const { f64 } = frame
  const storage = backend.hold(f64[RESULTS], f64[RESULTS + 1], nbytes)
  if (events.listener !== null) events.listener.mapped(storage, fd, shared)
  return storage
}

/**
 * Makes a file as long, and allocates its blocks on the disk.
 *
 * @param {number} fd
 * @param {number} nbytes
 * @returns {number} errno; 0: done
 */
function reserveFile(fd, nbytes) {
  return invokeWith(opcodes.reserve_file, fd, nbytes)
}

/**
 * @param {number} opcode
 * @param {...number} numbers  that it gets
 * @returns {{ holder: Storage, fd: number }} a file that is closed when its holder is released
 * @throws ERR_IO, with errno
 */
function heldFile(opcode, ...numbers) {
  invokeRetried(opcode, ...numbers)
  const { f64 } = frame
  const fd = f64[RESULTS + 1]
  return { holder: backend.hold(f64[RESULTS], 0, 0), fd }
}

/**
 * Another descriptor of an open file.
 *
 * @param {number} fd
 */
const holdFile = (fd) => heldFile(opcodes.file_hold, fd)

/**
 * Shared memory for several processes, without a name, all zero.
 *
 * @param {boolean} sealed  nobody can make it shorter or give it a name
 * @param {number} mode  permissions
 * @param {number} nbytes  at least 1
 */
const newSegment = (sealed, mode, nbytes) =>
  heldFile(opcodes.segment_new, sealed ? 1 : 0, mode, nbytes)

/**
 * Gives an open file a name, which may be its first.
 *
 * @param {number} fd
 * @param {string} path  of some 300 bytes at most
 * @returns {number} errno; 0: done
 */
function linkFile(fd, path) {
  ;/** @type {any} */ (backend).leaveText(path)
  return invokeWith(opcodes.link_file, fd)
}

/**
 * @param {number} fd
 * @returns {boolean} whether nobody can make the file shorter
 */
function isSealed(fd) {
  return invokeWith(opcodes.file_is_sealed, fd) === 1
}

/** How a file is locked, as in src/platform/platform.h; asked: could it be, exclusively? */
const LOCKS = { none: 0, shared: 1, exclusive: 2, asked: 3 }

/**
 * Locks a file against other openings of it, of any process, or unlocks it. It is unlocked when the opening has no descriptor and no mapping any more.
 *
 * @param {number} fd
 * @param {number} how  of LOCKS
 * @returns {number} errno; 0: done; EAGAIN: another opening has it locked
 */
function lockFile(fd, how) {
  return invokeWith(opcodes.lock_file, fd, how)
}

module.exports = {
  parse,
  swapBytes,
  mapFile,
  reserveFile,
  holdFile,
  newSegment,
  linkFile,
  LOCKS,
  lockFile,
  isSealed,
}
