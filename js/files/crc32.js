'use strict'
// The checksum of zips.

const { findCrc32 } = require('../runtime/host')

/** @type {Uint32Array | null} */
let crcTable = null

/** @type {((bytes: Uint8Array, crc: number) => number) | undefined} */
let crc32Found

/** @param {Uint8Array} bytes @param {number} crc  of what came before */
const crc32 = (bytes, crc) => (crc32Found ??= findCrc32() ?? crc32Here)(bytes, crc)

/**
 * @param {Uint8Array} bytes
 * @param {number} crc  of what came before
 * @returns {number}
 */
function crc32Here (bytes, crc) {
  crcTable ??= Uint32Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1
    return n
  })
  let c = ~crc
  for (let i = 0; i < bytes.length; i++) c = crcTable[(c ^ bytes[i]) & 255] ^ (c >>> 8)
  return ~c >>> 0
}

module.exports = { crc32, crc32Here }
