'use strict'
// Files in bytes for tests: put together by hand, so that each of their rules can be broken.

const le = (width, value) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)))
  return bytes.subarray(0, width)
}
const u16 = (value) => le(2, value)
const u32 = (value) => le(4, value)
const u64 = (value) => le(8, value)

/** A .npy file of this header, whose spaces are added. */
function npy(header, data = Buffer.alloc(0), version = 1) {
  const width = version === 1 ? 2 : 4
  const text = header + ' '.repeat(-(8 + width + header.length + 1) & 63) + '\n'
  return Buffer.concat([
    Buffer.from('\x93NUMPY', 'latin1'),
    Buffer.from([version, 0]),
    le(width, text.length),
    Buffer.from(text, 'latin1'),
    data,
  ])
}

const npyOf = (descr, shape, data, fortran = 'False', version) =>
  npy(`{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': ${shape}, }`, data, version)

/** A .safetensors file of this header: text, or what becomes JSON. */
function safetensors(header, data = Buffer.alloc(0)) {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header))
  return Buffer.concat([u64(text.length), text, data])
}

const text = (s) => Buffer.concat([u64(Buffer.byteLength(s)), Buffer.from(s)])

/** A .gguf file. pairs: [key, type, bytes]; tensors: [name, extents as in the file, type, offset]. */
function gguf(
  pairs,
  tensors,
  data = Buffer.alloc(0),
  { version = 3, alignment = 32, counts = [tensors.length, pairs.length] } = {},
) {
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    u32(version),
    u64(counts[0]),
    u64(counts[1]),
    ...pairs.flatMap(([key, type, bytes]) => [text(key), u32(type), bytes]),
    ...tensors.flatMap(([name, shape, type, offset]) => [
      text(name),
      u32(shape.length),
      ...shape.map(u64),
      u32(type),
      u64(offset),
    ]),
  ])
  return Buffer.concat([head, Buffer.alloc(-head.length & (alignment - 1)), data])
}

function crc32(bytes) {
  let c = -1
  for (const byte of bytes) {
    c ^= byte
    for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1
  }
  return ~c >>> 0
}

/** A zip of stored members. members: [name, bytes, what differs]; end: what differs there; wide: zip64 wherever there is such a field. */
function zip(members, { comment = '', end = {}, wide = false } = {}) {
  const most = 0xffffffff
  const field = (...values) =>
    wide ? Buffer.concat([u16(1), u16(8 * values.length), ...values.map(u64)]) : Buffer.alloc(0)
  const parts = []
  const entries = []
  let at = 0
  for (const [
    name,
    bytes,
    {
      packed = bytes.length,
      unpacked = bytes.length,
      method = 0,
      flags = 0,
      crc = crc32(bytes),
      header,
      itsName = name,
      pad = 0,
    } = {},
  ] of members) {
    const common = [
      u16(20),
      u16(flags),
      u16(method),
      u32(0),
      u32(crc),
      u32(wide ? most : packed),
      u32(wide ? most : unpacked),
    ]
    const extra = Buffer.concat([field(unpacked, packed), Buffer.alloc(pad)])
    const head = Buffer.concat([
      u32(0x04034b50),
      ...common,
      u16(Buffer.byteLength(itsName)),
      u16(extra.length),
      Buffer.from(itsName),
      extra,
    ])
    const more = field(unpacked, packed, header ?? at)
    entries.push(
      Buffer.concat([
        u32(0x02014b50),
        u16(20),
        ...common,
        u16(Buffer.byteLength(name)),
        u16(more.length),
        u16(0),
        u16(0),
        u16(0),
        u32(0),
        u32(wide ? most : (header ?? at)),
        Buffer.from(name),
        more,
      ]),
    )
    parts.push(head, bytes)
    at += head.length + bytes.length
  }
  const directory = Buffer.concat(entries)
  const { count = members.length, nbytes = directory.length, begin = at } = end
  if (wide) {
    parts.push(
      directory,
      u32(0x06064b50),
      u64(44),
      u16(45),
      u16(45),
      u32(0),
      u32(0),
      u64(count),
      u64(count),
      u64(nbytes),
      u64(begin),
    )
    return Buffer.concat([
      ...parts,
      u32(0x07064b50),
      u32(0),
      u64(begin + nbytes),
      u32(1),
      u32(0x06054b50),
      u32(0),
      u16(0xffff),
      u16(0xffff),
      u32(most),
      u32(most),
      u16(comment.length),
      Buffer.from(comment),
    ])
  }
  return Buffer.concat([
    ...parts,
    directory,
    u32(0x06054b50),
    u32(0),
    u16(count),
    u16(count),
    u32(nbytes),
    u32(begin),
    u16(comment.length),
    Buffer.from(comment),
  ])
}

/** The same bytes from a multiple of 64 on, or so many bytes behind one. */
function placed(bytes, shift = 0) {
  const buffer = new ArrayBuffer(bytes.length + shift)
  const copy = new Uint8Array(buffer, shift)
  copy.set(bytes)
  return copy
}

const floats = (...values) => Buffer.from(Float32Array.from(values).buffer)

module.exports = { u16, u32, u64, npy, npyOf, safetensors, text, gguf, zip, crc32, placed, floats }
