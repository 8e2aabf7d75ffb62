'use strict'
// Files of a million entries: what is read, and what is refused because there are more.
const assert = require('node:assert/strict')
const { parseGguf, parseNpy, parseNpz, parseSafetensors } = require('samebytes')
const { refuses } = require('../setup')
const { u32, u64, gguf, placed, floats } = require('../files')

describe('files with very much in them', function () {
  const MOST = 1000000
  /** That many times the same bytes. */
  const repeated = (n, bytes) => Buffer.alloc(n * bytes.length, bytes)
  const refusal = (parse, bytes) => refuses(() => parse(bytes), 'ERR_FORMAT').message

  /** A .safetensors file of n entries, all of one name: what is refused once they were counted. */
  function many(n, before, entry, after) {
    const entries = repeated(n, Buffer.from(`${entry},`)).subarray(0, -1)
    return Buffer.concat([
      u64(before.length + entries.length + after.length),
      Buffer.from(before),
      entries,
      Buffer.from(after),
    ])
  }
  /** A zip of n members, of which there is the directory alone. */
  function directory(n) {
    const entry = Buffer.concat([u32(0x02014b50), Buffer.alloc(42)])
    const wide = Buffer.concat([
      u32(0x06064b50),
      u64(44),
      Buffer.alloc(12),
      u64(n),
      u64(n),
      u64(46 * n),
      u64(0),
      u32(0x07064b50),
      u32(0),
      u64(46 * n),
      u32(1),
    ])
    return Buffer.concat([
      repeated(n, entry),
      wide,
      u32(0x06054b50),
      Buffer.alloc(4),
      Buffer.alloc(12, 0xff),
      Buffer.alloc(2),
    ])
  }
  /** A .gguf file of one list of n times these bytes. */
  const listed = (n, type, bytes) => [
    'k',
    9,
    Buffer.concat([u32(type), u64(n), repeated(n, bytes)]),
  ]
  const emptyArray = Buffer.concat([u32(0), u64(0)])

  it('.safetensors: up to a million pairs of metadata', () => {
    const pairs = (n) => many(n, '{"__metadata__":{', '"":""', '}}')
    assert.equal(refusal(parseSafetensors, pairs(MOST)), 'byte 32: this name is there twice')
    assert.equal(
      refusal(parseSafetensors, pairs(MOST + 1)),
      `byte ${8 + 17 + 6 * MOST}: 1000001 pairs of __metadata__ are more than the 1000000 that are read`,
    )
  })

  it('.safetensors: up to a million tensors', () => {
    const entry = '"":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}'
    const tensors = (n) => many(n, '{', entry, '}')
    assert.equal(
      refusal(parseSafetensors, tensors(MOST)),
      `byte ${8 + 1 + entry.length + 2}: this name is there twice`,
    )
    assert.equal(
      refusal(parseSafetensors, tensors(MOST + 1)),
      `byte ${8 + 1 + (entry.length + 1) * MOST + 1}: 1000001 tensors are more than the 1000000 that are read`,
    )
  })

  it('.gguf: up to a million values, and tensors', () => {
    const counted = (...counts) => gguf([], [], Buffer.alloc(1100000), { counts })
    assert.match(refusal(parseGguf, counted(0, MOST)), /ends before/)
    assert.equal(
      refusal(parseGguf, counted(0, MOST + 1)),
      'byte 16: 1000001 values are more than the 1000000 that are read',
    )
    assert.match(refusal(parseGguf, counted(MOST, 0)), /ends before/)
    assert.equal(
      refusal(parseGguf, counted(MOST + 1, 0)),
      'byte 8: 1000001 tensors are more than the 1000000 that are read',
    )
  })

  it('.gguf: up to a million arrays, those in arrays counted', () => {
    const nested = (n) => gguf([listed(n, 9, emptyArray), ['j', 9, emptyArray]], [])
    assert.deepEqual(parseGguf(nested(MOST - 2)).metadata.j, new Uint8Array(0))
    assert.match(
      refusal(parseGguf, nested(MOST - 1)),
      /^byte \d+: 1000001 arrays are more than the 1000000 that are read$/,
    )
  })

  it('.gguf: up to four million texts, booleans and arrays in arrays, together', () => {
    const lists = (n) =>
      gguf(
        [
          listed(n - 1000003, 7, Buffer.of(1)),
          ['j', 9, Buffer.concat([u32(8), u64(MOST), repeated(MOST, u64(0))])],
          ['l', 9, Buffer.concat([u32(9), u64(3), repeated(3, emptyArray)])],
        ],
        [],
      )
    const { k, j, l } = parseGguf(lists(4 * MOST)).metadata
    assert.deepEqual(
      [k.length, k.at(-1), j.length, j[0], l.length],
      [4 * MOST - 1000003, true, MOST, '', 3],
    )
    assert.match(
      refusal(parseGguf, lists(4 * MOST + 1)),
      /^byte \d+: 4000001 texts, booleans and arrays in arrays are more than the 4000000 that are read$/,
    )
  })

  it('.npz: up to a million members', () => {
    assert.match(refusal(parseNpz, directory(MOST)), /the member reaches into/)
    assert.equal(
      refusal(parseNpz, directory(MOST + 1)),
      `byte ${46 * MOST}: 1000001 members are more than the 1000000 that are read`,
    )
  })

  it('.npy: a header of up to a mebibyte', () => {
    const long = (n) => {
      const header = Buffer.alloc(n, ' ')
      header.write("{'descr': '<f4', 'fortran_order': False, 'shape': (), }")
      return Buffer.concat([Buffer.from('\x93NUMPY\x02\0', 'latin1'), u32(n), header, floats(7)])
    }
    assert.equal(parseNpy(placed(long(2 ** 20))).item(), 7)
    assert.equal(
      refusal(parseNpy, long(2 ** 20 + 1)),
      'byte 8: 1048577 bytes of a header are more than the 1048576 that are read',
    )
  })
})
