'use strict'
// Small files that are read, and what may be wrong with them, by format.

const { u32, u64, npy, npyOf, safetensors, text, gguf, zip, crc32, floats } = require('./files')

const SHORT = Buffer.alloc(0)

function npyFiles() {
  const plain = () => npyOf('<f4', '(2, 3)', floats(1, 2, 3, 4, 5, 6))
  const bad = {
    'another magic number': Buffer.from('\x93NUMPX\x01\0\x02\0{}', 'latin1'),
    'version 4': Buffer.concat([
      Buffer.from('\x93NUMPY\x04\0', 'latin1'),
      u32(2),
      Buffer.from('{}'),
    ]),
    'a header that is longer than the file': Buffer.concat([
      Buffer.from('\x93NUMPY\x02\0', 'latin1'),
      u32(0xffffffff),
      Buffer.from('{}'),
    ]),
    'no dict': npy('[]'),
    'no shape': npy("{'descr': '<f4', 'fortran_order': False}"),
    'a key twice': npy(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'shape': ()}",
      floats(1),
    ),
    'another key': npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': ()}", floats(1)),
    'no comma': npy("{'descr': '<f4' 'fortran_order': False, 'shape': ()}", floats(1)),
    'two commas': npy("{'descr': '<f4',, 'fortran_order': False, 'shape': ()}", floats(1)),
    'something behind the dict': npy(
      "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
      floats(1),
    ),
    'Python objects': npyOf('|O', '(1,)', Buffer.alloc(8)),
    text: npyOf('<U3', '(1,)', Buffer.alloc(12)),
    dates: npyOf('<M8', '(1,)', Buffer.alloc(8)),
    'long doubles': npyOf('<f16', '(1,)', Buffer.alloc(16)),
    records: npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", floats(1)),
    'a negative extent': npyOf('<f4', '(-1,)'),
    'a hexadecimal extent': npyOf('<f4', '(0x2,)', floats(1, 2)),
    'a leading zero': npyOf('<f4', '(02,)', floats(1, 2)),
    'a number for shape': npyOf('<f4', '(2)', floats(1, 2)),
    'a huge extent': npyOf('<f4', '(99999999999999999999,)'),
    'a shape that overflows': npyOf('<f8', '(9007199254740992, 9007199254740992)'),
    'a shape that overflows beside no elements': npyOf(
      '<f8',
      '(0, 9007199254740992, 9007199254740992)',
    ),
    'more data than the file': npyOf('<f4', '(2,)', floats(1)),
    'more data than memory': npyOf('<f4', '(1000000000000,)', floats(1)),
    '65 axes': npyOf('<f4', `(${'1, '.repeat(65)})`, floats(7)),
    'an order that is neither': npyOf('<f4', '(1,)', floats(1), '1'),
    'a header of version 3 that is not UTF-8': npyOf(
      '<f4',
      '(1,)',
      floats(1),
      "False, '\xff': 1",
      3,
    ),
  }
  return { plain, bad }
}

function safetensorsFiles() {
  const plain = () =>
    safetensors(
      {
        __metadata__: { format: 'pt', __proto__0: 'é "x"\n' },
        b: { dtype: 'F32', shape: [2, 2], data_offsets: [8, 24] },
        'ü"\\': { shape: [], data_offsets: [0, 8], dtype: 'I64' },
        none: { dtype: 'U8', shape: [3, 0], data_offsets: [24, 24] },
      },
      Buffer.concat([u64(-5n), floats(1, 2, 3, 4)]),
    )
  const entry = (fields, data = floats(1)) => safetensors(`{"a":{${fields}}}`, data)
  const good = '"dtype":"F32","shape":[1],"data_offsets":[0,4]'
  const two = (a, b, data) =>
    safetensors(
      `{"a":{"dtype":"U8","shape":[${a[1] - a[0]}],"data_offsets":[${a}]},"b":{"dtype":"U8","shape":[${b[1] - b[0]}],"data_offsets":[${b}]}}`,
      Buffer.alloc(data),
    )
  const bad = {
    'no header': Buffer.alloc(7),
    'a header of 2^63 bytes': Buffer.concat([u64(2n ** 63n), Buffer.from('{}')]),
    'a header of 2^64 - 1 bytes': Buffer.concat([u64(2n ** 64n - 1n), Buffer.from('{}')]),
    'a header that is longer than allowed': Buffer.concat([u64(100000001), Buffer.from('{}')]),
    'a list': safetensors('[]'),
    'half an object': safetensors('{'),
    'something behind the object': safetensors('{}x'),
    'bytes that belong to no tensor': safetensors('{}', floats(1)),
    'trailing bytes': entry(good, floats(1, 2)),
    'missing bytes': entry(good, SHORT),
    'a comma at the end': safetensors(`{"a":{${good}},}`, floats(1)),
    'no dtype': entry('"shape":[1],"data_offsets":[0,4]'),
    'no offsets': entry('"dtype":"F32","shape":[1]'),
    'one offset': entry('"dtype":"F32","shape":[1],"data_offsets":[0]'),
    'three offsets': entry('"dtype":"F32","shape":[1],"data_offsets":[0,4,4]'),
    'offsets the wrong way around': entry('"dtype":"F32","shape":[1],"data_offsets":[4,0]'),
    'a field twice': entry(`${good},"dtype":"F32"`),
    'another field': entry(`${good},"x":1`),
    'an unknown dtype': entry('"dtype":"F33","shape":[1],"data_offsets":[0,4]'),
    'a dtype that is no text': entry('"dtype":32,"shape":[1],"data_offsets":[0,4]'),
    'a fraction in shape': entry('"dtype":"F32","shape":[1.0],"data_offsets":[0,4]'),
    'an exponent in shape': entry('"dtype":"F32","shape":[1e0],"data_offsets":[0,4]'),
    'a negative extent': entry('"dtype":"F32","shape":[-1],"data_offsets":[0,4]'),
    'minus zero': entry('"dtype":"F32","shape":[-0],"data_offsets":[0,4]'),
    'a leading zero': entry('"dtype":"F32","shape":[01],"data_offsets":[0,4]'),
    'an extent beyond 2^64': entry(
      '"dtype":"F32","shape":[18446744073709551617],"data_offsets":[0,4]',
    ),
    'a shape that overflows': entry(
      '"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,4]',
    ),
    'a shape that does not fit': entry('"dtype":"F32","shape":[2],"data_offsets":[0,4]'),
    'half a byte': entry('"dtype":"F4","shape":[1],"data_offsets":[0,1]', Buffer.alloc(1)),
    'deep nesting': safetensors('{"a":'.repeat(50000)),
    'deep lists': entry(`"shape":${'['.repeat(100000)}`),
    'a name twice': safetensors(
      '{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}',
    ),
    'a name twice, once escaped': safetensors(
      '{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\\u0061":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}',
    ),
    'a name twice beyond the first plane': safetensors(
      '{"😀":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"\\ud83d\\ude00":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}',
    ),
    'metadata twice': safetensors('{"__metadata__":{},"__metadata__":{}}'),
    'a key of metadata twice': safetensors('{"__metadata__":{"a":"1","a":"2"}}'),
    'a number in metadata': safetensors('{"__metadata__":{"a":1}}'),
    'metadata that is a list': safetensors('{"__metadata__":[]}'),
    'half a surrogate': safetensors('{"\\ud83d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'),
    'an unknown escape': safetensors('{"\\x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'),
    'a control character': safetensors('{"\n":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'),
    'a name that is not UTF-8': Buffer.concat([u64(8), Buffer.from('{"\xff":{}', 'latin1')]),
    'an overlong character': Buffer.concat([u64(9), Buffer.from('{"\xc0\xaf":{}', 'latin1')]),
    'an overlap': two([0, 4], [3, 7], 7),
    'a hole': two([0, 4], [5, 8], 8),
    'a hole at the beginning': two([1, 4], [4, 8], 8),
    'the same bytes twice': two([0, 4], [0, 4], 4),
    'an empty tensor in another one': two([0, 4], [2, 2], 4),
    '65 axes': entry(`"dtype":"F32","shape":[${Array(65).fill(1)}],"data_offsets":[0,4]`),
  }
  return { plain, entry, bad }
}

function ggufFiles() {
  const plain = (opts) =>
    gguf(
      [
        ['general.architecture', 8, text('llama')],
        ['general.alignment', 4, u32(32)],
        ['a.u8', 0, Buffer.of(200)],
        ['a.i8', 1, Buffer.of(200)],
        ['a.f32', 6, floats(1.5)],
        ['a.bool', 7, Buffer.of(1)],
        ['a.u64', 10, u64(2n ** 63n)],
        ['a.i64', 11, u64(-1n)],
        ['a.tokens', 9, Buffer.concat([u32(8), u64(3), text('é'), text(''), text('b')])],
        ['a.scores', 9, Buffer.concat([u32(6), u64(2), floats(1, 2)])],
        ['a.flags', 9, Buffer.concat([u32(7), u64(2), Buffer.of(0, 1)])],
        [
          'a.nested',
          9,
          Buffer.concat([u32(9), u64(2), u32(0), u64(1), Buffer.of(7), u32(8), u64(1), text('x')]),
        ],
      ],
      [
        ['w', [3, 2], 0, 0],
        ['q', [64, 2], 2, 32],
        ['none', [0, 5], 28, 128],
      ],
      Buffer.concat([floats(1, 2, 3, 4, 5, 6), Buffer.alloc(8), Buffer.alloc(96, 9)]),
      opts,
    )
  const one = (shape, type, offset, data = 64) =>
    gguf([], [['w', shape, type, offset]], Buffer.alloc(data))
  const value = (type, ...bytes) => gguf([['k', type, Buffer.concat(bytes)]], [])
  const bad = {
    'another magic number': Buffer.concat([Buffer.from('GGUG'), Buffer.alloc(20)]),
    'version 1': plain({ version: 1 }),
    'big-endian numbers': plain({ version: 0x03000000 }),
    'more tensors than bytes': plain({ counts: [2n ** 40n, 0] }),
    'more values than bytes': plain({ counts: [0, 2n ** 64n - 1n] }),
    'more than a million values': gguf([], [], Buffer.alloc(1100000), { counts: [0, 1000001] }),
    'more than a million tensors': gguf([], [], Buffer.alloc(1100000), { counts: [1000001, 0] }),
    'a name twice': gguf(
      [],
      [
        ['w', [1], 0, 0],
        ['w', [1], 0, 32],
      ],
      Buffer.alloc(64),
    ),
    'a key twice': gguf(
      [
        ['k', 0, Buffer.of(1)],
        ['k', 0, Buffer.of(2)],
      ],
      [],
    ),
    'a key that is not UTF-8': Buffer.concat([
      Buffer.from('GGUF'),
      u32(3),
      u64(0),
      u64(1),
      u64(1),
      Buffer.of(0xff),
      u32(0),
      Buffer.of(1),
    ]),
    'a name that is not UTF-8': gguf([], [[Buffer.of(0xe9), [1], 0, 0]], Buffer.alloc(32)),
    'an unknown type of value': value(13, u64(0)),
    'a text that is longer than the file': value(8, u64(2n ** 63n)),
    'an array that is longer than the file': value(9, u32(0), u64(2n ** 60n)),
    'an array that overflows': value(9, u32(10), u64(2n ** 61n)),
    'deep arrays': value(9, ...Array(1000).fill(Buffer.concat([u32(9), u64(1)])), u32(0), u64(0)),
    'an unknown type': one([32], 4, 0),
    'another unknown type': one([32], 4000000000, 0),
    'five axes': one([1, 1, 1, 1, 1], 0, 0),
    'an offset between the alignment': one([1], 0, 16),
    'an offset behind the file': one([1], 0, 2n ** 62n),
    'data behind the file': one([32], 0, 0),
    'half a block': one([33], 2, 0),
    'a block without an axis': one([], 2, 0),
    'an extent beyond 2^53': one([2n ** 60n], 0, 0),
    'an extent of 2^53 + 1': one([2n ** 53n + 1n, 0], 0, 0),
    'a shape that overflows': one([2 ** 40, 2 ** 40], 0, 0),
    'an overlap': gguf(
      [],
      [
        ['v', [16], 0, 0],
        ['w', [1], 0, 32],
      ],
      Buffer.alloc(64),
    ),
    'an alignment of 0': gguf([['general.alignment', 4, u32(0)]], []),
    'an alignment of 12': gguf([['general.alignment', 4, u32(12)]], []),
    'an alignment that is a text': gguf([['general.alignment', 8, text('32')]], []),
  }
  return { plain, bad }
}

function npzFiles() {
  const array = (...values) => npyOf('<f4', `(${values.length},)`, floats(...values))
  const plain = (opts) =>
    zip(
      [
        ['a.npy', array(1, 2), { pad: 29 }],
        ['b.npy', array(3)],
        ['note.txt', Buffer.from('hi')],
      ],
      opts,
    )
  const pair = array(1, 2)
  const packed = Buffer.from(
    'm+wX6hsQychQxlCtnpJanFykbqWgbpNmoq6joJ6WX1RSlJgXn1+UkgoSd0vMKU7VUVAvzkgsSFW3UtAw0tHUUahVoABwMTA02DMwMDgAAA==',
    'base64',
  ) // pair, deflated
  const deflated = (n = packed.length) =>
    zip([['a.npy', packed.subarray(0, n), { method: 8, unpacked: pair.length, crc: crc32(pair) }]])
  const wide = () =>
    zip(
      [
        ['a.npy', pair, { pad: 9 }],
        ['b.npy', packed, { method: 8, unpacked: pair.length, crc: crc32(pair) }],
      ],
      { wide: true, comment: 'hi' },
    )
  const bytes = array(1)
  const bad = {
    'no zip': Buffer.alloc(100),
    'a directory behind the file': zip([['a.npy', bytes]], { end: { begin: 2 ** 31 } }),
    'a directory that is too long': zip([['a.npy', bytes]], { end: { nbytes: 2 ** 31 } }),
    'more members than the directory has room for': zip([['a.npy', bytes]], {
      end: { count: 60000 },
    }),
    'a name twice': zip([
      ['a.npy', bytes],
      ['a.npy', bytes],
    ]),
    'a name twice, once without .npy': zip([
      ['a.npy', bytes],
      ['a', bytes],
    ]),
    'members in each other': zip([
      ['a.npy', bytes],
      ['b.npy', bytes, { header: 0 }],
    ]),
    'a member that reaches into the directory': zip([
      ['a.npy', bytes, { packed: bytes.length + 1, unpacked: bytes.length + 1 }],
    ]),
    'a member behind the file': zip([['a.npy', bytes, { header: 2 ** 31 }]]),
    'a stored member of two sizes': zip([['a.npy', bytes, { unpacked: 2 ** 31 }]]),
    'more than deflate can hold': zip([['a.npy', bytes, { method: 8, unpacked: 2 ** 31 }]]),
    'an encrypted member': zip([['a.npy', bytes, { flags: 1 }]]),
    'another method': zip([['a.npy', bytes, { method: 9 }]]),
    'a name in another code page': zip([[Buffer.from('\x82.npy', 'latin1'), bytes]]),
    'a name that is said to be UTF-8': zip([
      [Buffer.from('\xc3.npy', 'latin1'), bytes, { flags: 0x800 }],
    ]),
    'two names that are not UTF-8': zip([
      [Buffer.from('\x82.npy', 'latin1'), bytes],
      [Buffer.from('\x8a.npy', 'latin1'), bytes],
    ]),
  }
  return { array, plain, deflated, wide, packed, bad }
}

module.exports = { npyFiles, safetensorsFiles, ggufFiles, npzFiles }
