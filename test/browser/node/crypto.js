'use strict'
const { sha256 } = require('@noble/hashes/sha2.js')
const { Buffer } = require('buffer')

function createHash(name) {
  if (name !== 'sha256') throw new Error(`${name} is not there`)
  const hash = sha256.create()
  return {
    update(data) {
      hash.update(
        typeof data === 'string'
          ? new TextEncoder().encode(data)
          : new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
      )
      return this
    },
    digest: (encoding) => Buffer.from(hash.digest()).toString(encoding),
  }
}

module.exports = { createHash }
