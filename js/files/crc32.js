'use strict'
// The checksum of a zip's members, by the runtime where it has one.

const { findCrc32 } = require('../runtime/host')

/** @type {Uint32Array | null} */
let table = null

/** @type {((bytes: Uint8Array, crc: number) => number) | undefined} */
let chosen

/**
 * @param {Uint8Array} bytes
 * @param {number} crc  of the bytes before them; 0: there are none
 * @returns {number}
 */
const crc32 = (bytes, crc) => (chosen ??= findCrc32() ?? crc32Here)(bytes, crc)

/** crc32 in JavaScript. @type {typeof crc32} */
function crc32Here(bytes, crc) {
  table ??= Uint32Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1
    return n
  })
  let c = ~crc
  for (let i = 0; i < bytes.length; i++) c = table[(c ^ bytes[i]) & 255] ^ (c >>> 8)
  return ~c >>> 0
}

module.exports = { crc32, crc32Here }
