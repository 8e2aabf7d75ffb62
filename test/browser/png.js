'use strict'
// Makes screenshots small: a PNG with a palette instead of three bytes for each pixel.

const zlib = require('node:zlib')

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

/**
 * @param {Buffer} png  8 bits for each of red, green and blue, as Chromium writes it
 * @returns {Buffer} the same picture in the 256 colours that are used most; others become the nearest of them
 */
function fewColours(png) {
  const { width, height, pixels } = read(png)
  const counts = new Map()
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const palette = choose(counts)
  const index = new Map()
  for (const colour of counts.keys()) index.set(colour, nearest(palette, colour))
  const rows = Buffer.alloc(height * (width + 1)) // each begins with its filter: none
  pixels.forEach((colour, i) => {
    rows[i + Math.floor(i / width) + 1] = index.get(colour)
  })
  return write(width, height, palette, rows)
}

/** The most used colours as they are, then colours that are far from those, then what is between. */
function choose(counts) {
  const byUse = [...counts].sort((a, b) => b[1] - a[1]).map(([colour]) => colour)
  const palette = byUse.slice(0, 80)
  for (const [apart, size] of [
    [400, 200],
    [60, 256],
  ]) {
    // squared distances
    for (const colour of byUse) {
      if (palette.length >= size) break
      if (palette.every((other) => distance(colour, other) > apart)) palette.push(colour)
    }
  }
  return palette
}

function nearest(palette, colour) {
  let best = 0
  for (let i = 1; i < palette.length; i++) {
    if (distance(palette[i], colour) < distance(palette[best], colour)) best = i
  }
  return best
}

function distance(a, b) {
  return (
    ((a >> 16) - (b >> 16)) ** 2 +
    (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 +
    ((a & 255) - (b & 255)) ** 2
  )
}

function read(png) {
  const data = []
  let header
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    const body = png.subarray(at + 8, at + 8 + length)
    if (type === 'IHDR') header = body
    if (type === 'IDAT') data.push(body)
    at += length + 12
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  if (header[8] !== 8 || header[9] !== 2) {
    throw new Error('a PNG with 8 bits for red, green and blue was expected')
  }
  const bytes = unfilter(zlib.inflateSync(Buffer.concat(data)), width * 3, height)
  const pixels = Uint32Array.from({ length: width * height }, (_, i) => bytes.readUIntBE(3 * i, 3))
  return { width, height, pixels }
}

/** Rows are stored as differences to what is left of and above each byte. */
function unfilter(rows, length, height) {
  const bytes = Buffer.alloc(length * height)
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (length + 1)]
    for (let x = 0; x < length; x++) {
      const i = y * length + x
      const left = x < 3 ? 0 : bytes[i - 3]
      const up = y === 0 ? 0 : bytes[i - length]
      const corner = x < 3 || y === 0 ? 0 : bytes[i - length - 3]
      bytes[i] =
        rows[y * (length + 1) + 1 + x] +
        [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]
    }
  }
  return bytes
}

function paeth(left, up, corner) {
  const [a, b, c] = [
    Math.abs(up - corner),
    Math.abs(left - corner),
    Math.abs(left + up - 2 * corner),
  ]
  return a <= b && a <= c ? left : b <= c ? up : corner
}

function write(width, height, palette, rows) {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  header[9] = 3 // with a palette
  const colours = Buffer.alloc(palette.length * 3)
  palette.forEach((colour, i) => colours.writeUIntBE(colour, 3 * i, 3))
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', zlib.deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type, body) {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body])
  const whole = Buffer.alloc(named.length + 8)
  whole.writeUInt32BE(body.length, 0)
  named.copy(whole, 4)
  whole.writeUInt32BE(checksum(named), named.length + 4)
  return whole
}

/** CRC-32; zlib.crc32 is not in every Node.js 20. */
function checksum(bytes) {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

module.exports = { fewColours }
