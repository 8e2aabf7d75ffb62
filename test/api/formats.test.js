'use strict'
const assert = require('node:assert/strict')
const { inspect } = require('node:util')
const {
  alloc,
  cuda,
  dtypes,
  forBlob,
  Generator,
  memory,
  parseGguf,
  parseNpy,
  parseNpz,
  parseSafetensors,
  Scope,
  SharedRing,
  SharedTensor,
  sharesMemory,
  tensor,
  toNpyBytes,
  toNpzBytes,
  toSafetensorsBytes,
  zeros,
} = require('samebytes')
const { copied, fails, makesNothing, refuses } = require('../setup')
const { crc32, u32, u64, npyOf, safetensors, text, gguf, zip, placed, floats } = require('../files')
const { npyFiles, safetensorsFiles, ggufFiles, npzFiles } = require('../corpora')

/** Names of dtypes in .npy, and bytes of one element. */
const NPY = {
  bool: ['|b1', 1],
  uint8: ['|u1', 1],
  int8: ['|i1', 1],
  uint16: ['<u2', 2],
  int16: ['<i2', 2],
  uint32: ['<u4', 4],
  int32: ['<i4', 4],
  uint64: ['<u8', 8],
  int64: ['<i8', 8],
  float16: ['<f2', 2],
  float32: ['<f4', 4],
  float64: ['<f8', 8],
  complex64: ['<c8', 8],
  complex128: ['<c16', 16],
}

/** Types of .gguf by number: the name, elements and bytes of a block, from the structs of ggml. */
const GGUF = {
  0: ['F32', 1, 4],
  1: ['F16', 1, 2],
  2: ['Q4_0', 32, 18],
  3: ['Q4_1', 32, 20],
  6: ['Q5_0', 32, 22],
  7: ['Q5_1', 32, 24],
  8: ['Q8_0', 32, 34],
  9: ['Q8_1', 32, 36],
  10: ['Q2_K', 256, 84],
  11: ['Q3_K', 256, 110],
  12: ['Q4_K', 256, 144],
  13: ['Q5_K', 256, 176],
  14: ['Q6_K', 256, 210],
  15: ['Q8_K', 256, 292],
  16: ['IQ2_XXS', 256, 66],
  17: ['IQ2_XS', 256, 74],
  18: ['IQ3_XXS', 256, 98],
  19: ['IQ1_S', 256, 50],
  20: ['IQ4_NL', 32, 18],
  21: ['IQ3_S', 256, 110],
  22: ['IQ2_S', 256, 82],
  23: ['IQ4_XS', 256, 136],
  24: ['I8', 1, 1],
  25: ['I16', 1, 2],
  26: ['I32', 1, 4],
  27: ['I64', 1, 8],
  28: ['F64', 1, 8],
  29: ['IQ1_M', 256, 56],
  30: ['BF16', 1, 2],
  34: ['TQ1_0', 256, 54],
  35: ['TQ2_0', 256, 66],
  39: ['MXFP4', 32, 17],
}
const GGUF_DTYPES = {
  F32: 'float32',
  F16: 'float16',
  BF16: 'bfloat16',
  F64: 'float64',
  I8: 'int8',
  I16: 'int16',
  I32: 'int32',
  I64: 'int64',
}

/** Every beginning of a file is refused with the byte at fault. */
function refusesBeginnings(parse, file, ...open) {
  for (let n = 0; n < file.length; n++) {
    const error = refuses(
      () => open.reduce((result, name) => result.get(name), parse(placed(file.subarray(0, n)))),
      'ERR_FORMAT',
    )
    assert.match(error.message, /^byte \d+: \S{2}/)
  }
}

/** The file with one byte changed, for each: parsed, or refused with a typed error. */
function survivesChanges(parse, file, use) {
  for (let i = 0; i < file.length; i++) {
    for (const change of [1, 0x20, 0x80, 0xff]) {
      const bytes = placed(file)
      bytes[i] ^= change
      try {
        use(parse(bytes))
      } catch (error) {
        assert.match(
          error.code ?? error.stack,
          /^ERR_(FORMAT|DTYPE|UNSUPPORTED|MEMORY)$/,
          `byte ${i} ^ ${change}: ${error.stack}`,
        )
      }
    }
  }
}

describe('parseNpy', () => {
  for (const [dtype, [descr, itemsize]] of Object.entries(NPY)) {
    it(`${dtype} is a view of the bytes, and what is written is in them`, () => {
      const data = Buffer.from(
        Array.from({ length: 6 * itemsize }, (_, i) => (dtype === 'bool' ? i & 1 : i)),
      )
      const bytes = placed(npyOf(descr, '(2, 3)', data))
      const { result: t, copies } = copied(() => parseNpy(bytes))
      assert.deepEqual(
        { dtype: t.dtype, shape: t.shape, copies },
        { dtype, shape: [2, 3], copies: {} },
      )
      assert.deepEqual(Buffer.from(t.bytes), data)
      assert.equal(t.data.buffer, bytes.buffer)
      t.zero()
      assert.deepEqual(Buffer.from(bytes.subarray(-6 * itemsize)), Buffer.alloc(6 * itemsize))
      bytes[bytes.length - itemsize] = 1
      assert.notDeepEqual(t.get(1, 2), t.get(0, 0))
    })

    if (itemsize === 1) continue
    it(`big-endian ${dtype} is converted by one copy`, () => {
      const values = tensor([1, 2, 3], dtype).clone()
      const width = dtype.startsWith('complex') ? itemsize / 2 : itemsize
      const swapped = Buffer.from(values.bytes)
      for (let i = 0; i < swapped.length; i += width) swapped.subarray(i, i + width).reverse()
      const { result: t, copies } = copied(() =>
        parseNpy(placed(npyOf('>' + descr.slice(1), '(3,)', swapped))),
      )
      assert.deepEqual(t.toArray(), values.toArray())
      assert.equal(t.dtype, dtype)
      assert.deepEqual(copies, { parseNpy: { count: 1, bytes: swapped.length } })
    })

    it(`${dtype} that is not aligned is copied, and counted`, () => {
      const data = Buffer.from(Array.from({ length: 2 * itemsize }, (_, i) => i))
      const bytes = placed(npyOf(descr, '(2,)', data), 1)
      const { result: t, copies } = copied(() => parseNpy(bytes))
      assert.deepEqual(Buffer.from(t.bytes), data)
      assert.deepEqual(copies, { parseNpy: { count: 1, bytes: data.length } })
    })
  }

  it('Fortran order is kept by strides', () => {
    const t = parseNpy(placed(npyOf('<f4', '(2, 3)', floats(1, 2, 3, 4, 5, 6), 'True')))
    assert.deepEqual(
      [t.toArray(), t.strides],
      [
        [
          [1, 3, 5],
          [2, 4, 6],
        ],
        [1, 2],
      ],
    )
  })

  it('reads versions 2 and 3, no axes, no elements, and leaves bytes behind the array alone', () => {
    assert.deepEqual(parseNpy(placed(npyOf('<f4', '(1,)', floats(1), 'False', 2))).toArray(), [1])
    assert.deepEqual(parseNpy(placed(npyOf('<f4', '(1,)', floats(1), 'False', 3))).toArray(), [1])
    assert.equal(parseNpy(placed(npyOf('<f4', '()', floats(7)))).item(), 7)
    assert.deepEqual(parseNpy(placed(npyOf('<f4', '(0, 3)'))).shape, [0, 3])
    assert.deepEqual(parseNpy(placed(npyOf('<f4', '(1,)', floats(1, 2)))).toArray(), [1])
    assert.equal(parseNpy(placed(npyOf('<f4', `(${'1, '.repeat(64)})`, floats(7)))).ndim, 64)
  })

  it('raw bytes are what dtype says', () => {
    const bytes = placed(npyOf('<V2', '(2,)', Buffer.of(0x80, 0x3f, 0, 0x40)))
    assert.deepEqual(parseNpy(bytes, { dtype: 'bfloat16' }).toArray(), [1, 2])
    assert.deepEqual(parseNpy(bytes, 'bfloat16').toArray(), [1, 2])
    assert.deepEqual(
      parseNpy(placed(npyOf('|V1', '(1,)', Buffer.of(0x38))), 'float8_e4m3fn').toArray(),
      [1],
    )
    fails(() => parseNpy(bytes), TypeError, 'ERR_DTYPE', /dtype/)
    fails(() => parseNpy(bytes, 'float32'), TypeError, 'ERR_DTYPE')
    fails(() => parseNpy(placed(npyOf('<f4', '(1,)', floats(1))), 'int32'), TypeError, 'ERR_DTYPE')
  })

  const { bad } = npyFiles()
  for (const [what, bytes] of Object.entries(bad)) {
    it(`refuses ${what}`, () => {
      fails(() => parseNpy(placed(bytes)), Error, 'ERR_FORMAT', /^byte \d+: \S/)
    })
  }

  it('refuses every beginning of a file, and survives every changed byte', () => {
    const file = npyOf('<f4', '(2, 3)', floats(1, 2, 3, 4, 5, 6))
    refusesBeginnings(parseNpy, file)
    survivesChanges(parseNpy, file, (t) => t.toArray())
  })
})

describe('parseSafetensors', () => {
  const { plain, entry, bad } = safetensorsFiles()

  it('gives names, metadata and tensors', () => {
    const file = parseSafetensors(placed(plain()))
    assert.equal(file.size, 3)
    assert.deepEqual([...file.keys()].sort(), ['b', 'none', 'ü"\\'])
    assert.deepEqual(file.metadata, { format: 'pt', __proto__0: 'é "x"\n' })
    assert.equal(file.metadata, file.metadata)
    assert.deepEqual(file.get('b').toArray(), [
      [1, 2],
      [3, 4],
    ])
    assert.equal(file.get('ü"\\').item(), -5n)
    assert.deepEqual(file.get('none').shape, [3, 0])
    assert.deepEqual([file.has('b'), file.has('x'), file.has('toString')], [true, false, false])
    assert.deepEqual(Object.fromEntries([...file].map(([name, t]) => [name, t.dtype])), {
      b: 'float32',
      none: 'uint8',
      'ü"\\': 'int64',
    })
  })

  it('says which names there are where one is missing', async () => {
    const named = (names) =>
      parseSafetensors(
        placed(
          safetensors(
            Object.fromEntries(
              names.map((name) => [name, { dtype: 'U8', shape: [0], data_offsets: [0, 0] }]),
            ),
            floats(),
          ),
        ),
      )
    const file = named(['layer.0.weight', 'layer.0.bias', 'head', 'tail'])
    for (const [name, message] of [
      ['layer.0.wieght', 'there is no tensor "layer.0.wieght"; did you mean "layer.0.weight"?'],
      ['layer.0.b', 'there is no tensor "layer.0.b"; did you mean "layer.0.bias"?'],
      [
        'toString',
        'there is no tensor "toString"; tensors are "layer.0.weight", "layer.0.bias", "head" and 1 more',
      ],
    ]) {
      for (const use of [() => file.get(name), () => file.info(name)]) {
        assert.equal(refuses(use, 'ERR_NOT_FOUND').message, message)
      }
      await assert.rejects(file.load(name), { code: 'ERR_NOT_FOUND', message })
      assert.deepEqual([file.has(name), file.find(name)], [false, undefined])
    }
    assert.equal(file.find('head'), file.get('head'))
    assert.equal(
      refuses(() => named(['a', 'b']).get('weights'), 'ERR_NOT_FOUND').message,
      'there is no tensor "weights"; tensors are "a", "b"',
    )
    assert.equal(
      refuses(() => named([]).get('a'), 'ERR_NOT_FOUND').message,
      'there is no tensor "a"; tensors are none',
    )
    for (const name of [undefined, 1, null, {}, Symbol('a')]) {
      for (const use of [() => file.get(name), () => file.find(name), () => file.info(name)]) {
        fails(use, TypeError, 'ERR_ARGUMENT', /^name is .*; a string was expected$/)
      }
      await assert.rejects(file.load(name), { code: 'ERR_ARGUMENT' })
    }
  })

  it('gives the same tensor until it is disposed', () => {
    const file = parseSafetensors(placed(plain()))
    const first = file.get('b')
    assert.equal(file.get('b'), first)
    first.dispose()
    const second = file.get('b')
    assert.notEqual(second, first)
    assert.deepEqual(second.toArray(), [
      [1, 2],
      [3, 4],
    ])
  })

  it('gives views where they are aligned, copies where not; both ways', () => {
    for (const shift of [0, 1, 2, 3, 4]) {
      const header = JSON.stringify({ a: { dtype: 'F32', shape: [2], data_offsets: [0, 8] } })
      const bytes = placed(
        safetensors(header + ' '.repeat(-header.length & 7), floats(1, 2)),
        shift,
      )
      const { result: t, copies } = copied(() => parseSafetensors(bytes).get('a'))
      assert.deepEqual(t.toArray(), [1, 2])
      const isView = shift % 4 === 0
      assert.deepEqual(copies, isView ? {} : { parseSafetensors: { count: 1, bytes: 8 } })
      t.set(5, 1)
      assert.equal(
        new DataView(bytes.buffer).getFloat32(bytes.buffer.byteLength - 4, true),
        isView ? 5 : 2,
      )
    }
  })

  it('tensors stay when the file is closed, which can be done twice', () => {
    makesNothing(() => {
      const file = parseSafetensors(placed(plain()))
      const t = file.get('b')
      file.close()
      file.dispose()
      assert.deepEqual(t.toArray(), [
        [1, 2],
        [3, 4],
      ])
      for (const use of [
        () => file.get('b'),
        () => file.size,
        () => [...file],
        () => file.metadata,
        () => file.keys(),
        () => file.has('b'),
        () => file.find('b'),
        () => file.info('b'),
      ]) {
        refuses(use, 'ERR_DISPOSED')
      }
      t.dispose()
    })
  })

  const TYPES = {
    BOOL: 'bool',
    U8: 'uint8',
    I8: 'int8',
    I16: 'int16',
    U16: 'uint16',
    F16: 'float16',
    BF16: 'bfloat16',
    I32: 'int32',
    U32: 'uint32',
    F32: 'float32',
    C64: 'complex64',
    F64: 'float64',
    I64: 'int64',
    U64: 'uint64',
    F8_E4M3: 'float8_e4m3fn',
    F8_E5M2: 'float8_e5m2',
  }
  for (const [type, dtype] of Object.entries(TYPES)) {
    it(`${type} is ${dtype}`, () => {
      const nbytes = 2 * tensor([0], dtype).itemsize
      const t = parseSafetensors(
        placed(
          safetensors(
            { a: { dtype: type, shape: [2], data_offsets: [0, nbytes] } },
            Buffer.alloc(nbytes),
          ),
        ),
      ).get('a')
      assert.deepEqual([t.dtype, t.shape], [dtype, [2]])
    })
  }
  it('all dtypes but complex128 have a type', () => {
    assert.deepEqual(
      dtypes.filter((dtype) => !Object.values(TYPES).includes(dtype)),
      ['complex128'],
    )
  })

  it('types that are none of ours come as bytes, and info says what they are', () => {
    for (const [type, shape, bytes, given] of [
      ['F8_E8M0', [2, 2], 4, [2, 2]],
      ['F4', [2, 4], 4, [2, 2]],
      ['F6_E2M3', [8], 6, [6]],
      ['F4', [2, 3], 3, [3]],
    ]) {
      const file = parseSafetensors(
        placed(
          safetensors({ a: { dtype: type, shape, data_offsets: [0, bytes] } }, Buffer.alloc(bytes)),
        ),
      )
      const { type: found, fileShape, nbytes } = file.info('a')
      assert.deepEqual(
        [found, fileShape, nbytes, file.get('a').dtype, file.get('a').shape],
        [type, shape, bytes, 'uint8', given],
      )
    }
  })

  it('spaces around the header, no metadata, null metadata', () => {
    assert.equal(parseSafetensors(placed(safetensors('{}'))).size, 0)
    assert.equal(parseSafetensors(placed(safetensors(' \n{} \t '))).size, 0)
    assert.deepEqual(parseSafetensors(placed(safetensors('{"__metadata__":null}'))).metadata, {})
    assert.deepEqual(
      Object.entries(
        parseSafetensors(placed(safetensors('{"__metadata__":{"__proto__":"x"}}'))).metadata,
      ),
      [['__proto__', 'x']],
    )
  })

  for (const [what, bytes] of Object.entries(bad)) {
    it(`refuses ${what}`, () => {
      fails(() => parseSafetensors(placed(bytes)), Error, 'ERR_FORMAT', /^byte \d+: \S/)
    })
  }

  it('names where it is', () => {
    fails(
      () => parseSafetensors(placed(entry('"dtype":"F33","shape":[1],"data_offsets":[0,4]'))),
      Error,
      'ERR_FORMAT',
      /^byte 23: this dtype/,
    )
  })

  it('refuses every beginning of a file, and survives every changed byte', () => {
    refusesBeginnings(parseSafetensors, plain())
    survivesChanges(parseSafetensors, plain(), (file) => [...file].map(([, t]) => t.toArray()))
  })

  it('keeps what looks like a byte order mark in a name', () => {
    const entry = { dtype: 'U8', shape: [0], data_offsets: [0, 0] }
    const file = parseSafetensors(
      placed(safetensors({ a: entry, '\ufeffa': entry, __metadata__: { '\ufeffk': '\ufeffv' } })),
    )
    assert.deepEqual([...file.keys()], ['a', '\ufeffa'])
    assert.deepEqual(file.metadata, { '\ufeffk': '\ufeffv' })
  })

  it('reads ten thousand tensors', () => {
    const n = 10000
    const header = Object.fromEntries(
      Array.from({ length: n }, (_, i) => [
        `layer.${(i * 7) % n}`,
        { dtype: 'F32', shape: [1], data_offsets: [4 * i, 4 * i + 4] },
      ]),
    )
    const text = JSON.stringify(header)
    const file = parseSafetensors(
      placed(
        safetensors(
          text + ' '.repeat(-text.length & 7),
          Buffer.from(new Float32Array(n).map((_, i) => i).buffer),
        ),
      ),
    )
    assert.equal(file.size, n)
    assert.equal(file.get('layer.7').item(), 1)
  })
})

describe('parseGguf', () => {
  const { plain, bad } = ggufFiles()

  it('gives metadata, views of plain types, and bytes of quantised ones', () => {
    const bytes = placed(plain())
    const { result: file, copies } = copied(() => parseGguf(bytes))
    assert.deepEqual([...file.keys()], ['w', 'q', 'none'])
    const { result } = copied(() => ({
      w: file.get('w'),
      q: file.get('q'),
      none: file.get('none'),
    }))
    assert.deepEqual(copies, {})
    assert.deepEqual(
      [result.w.dtype, result.w.toArray()],
      [
        'float32',
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
      ],
    )
    assert.deepEqual([result.q.dtype, result.q.shape, result.q.get(1, 35)], ['uint8', [2, 36], 9])
    assert.deepEqual(result.none.shape, [5, 0])
    const { type, block, fileShape } = file.info('q')
    assert.deepEqual(
      { type, block, fileShape },
      { type: 'Q4_0', block: { elements: 32, bytes: 18 }, fileShape: [2, 64] },
    )
    assert.deepEqual(file.metadata, {
      'general.architecture': 'llama',
      'general.alignment': 32,
      'a.u8': 200,
      'a.i8': -56,
      'a.f32': 1.5,
      'a.bool': true,
      'a.u64': 2n ** 63n,
      'a.i64': -1n,
      'a.tokens': ['é', '', 'b'],
      'a.scores': Float32Array.of(1, 2),
      'a.flags': [false, true],
      'a.nested': [Uint8Array.of(7), ['x']],
    })
    result.w.set(9, 0, 0)
    assert.equal(parseGguf(bytes).get('w').get(0, 0), 9)
  })

  for (const [number, [type, elements, bytes]] of Object.entries(GGUF)) {
    it(`${type}: blocks of ${elements} elements in ${bytes} bytes`, () => {
      const dtype = GGUF_DTYPES[type] ?? 'uint8'
      const file = (extent, nbytes) =>
        gguf([], [['w', [extent], Number(number), 0]], Buffer.alloc(nbytes, 1))
      const whole = placed(file(3 * elements, 3 * bytes))
      const read = parseGguf(whole)
      const { byteOffset, ...found } = read.info('w')
      const shape = [dtype === 'uint8' ? 3 * bytes : 3]
      assert.deepEqual(found, {
        name: 'w',
        dtype,
        shape,
        type,
        fileShape: [3 * elements],
        block: { elements, bytes },
        nbytes: 3 * bytes,
      })
      assert.equal(byteOffset, whole.length - 3 * bytes)
      assert.deepEqual(
        [read.get('w').dtype, read.get('w').shape, read.get('w').nbytes],
        [dtype, shape, 3 * bytes],
      )
      fails(
        () => parseGguf(whole.subarray(0, -1)),
        Error,
        'ERR_FORMAT',
        /^byte 32: the data of this tensor ends after the file$/,
      )
      if (elements > 1) {
        for (const extent of [elements - 1, elements + 1, elements / 2]) {
          fails(
            () => parseGguf(placed(file(extent, 3 * bytes))),
            Error,
            'ERR_FORMAT',
            /^byte 32: the innermost extent is no whole number of blocks$/,
          )
        }
      }
    })
  }

  it('other numbers are no types', () => {
    for (let number = 0; number < 300; number++) {
      if (!(number in GGUF)) {
        fails(
          () => parseGguf(placed(gguf([], [['w', [256], number, 0]], Buffer.alloc(2048)))),
          Error,
          'ERR_FORMAT',
          /this type of tensor is not known/,
        )
      }
    }
  })

  it('reads version 2, and files without tensors', () => {
    assert.equal(parseGguf(placed(plain({ version: 2 }))).size, 3)
    assert.deepEqual(parseGguf(placed(gguf([], []))).metadata, {})
  })

  it('strings of metadata that are not UTF-8 have U+FFFD there; names do not', () => {
    const bytes = (...list) => Buffer.from(list)
    const list = [bytes(0xc3), bytes(0x41, 0xff, 0x42), text('\xe9')].map((s, i) =>
      i < 2 ? text(s) : s,
    )
    const file = parseGguf(
      placed(
        gguf(
          [
            ['one', 8, text(bytes(0xe2, 0x96, 0x41))],
            ['tokens', 9, Buffer.concat([u32(8), u64(3), ...list])],
          ],
          [['\ufffd', [2], 0, 0]],
          floats(1, 2),
        ),
      ),
    )
    assert.deepEqual([...file.keys()], ['\ufffd'])
    assert.deepEqual(file.get('\ufffd').toArray(), [1, 2])
    assert.deepEqual(file.metadata, { one: '\ufffdA', tokens: ['\ufffd', 'A\ufffdB', '\xe9'] })
    for (const { message } of [bad['a key that is not UTF-8'], bad['a name that is not UTF-8']].map(
      (each) => refuses(() => parseGguf(placed(each)), 'ERR_FORMAT'),
    )) {
      assert.match(message, /^byte 32: the name is not UTF-8$/)
    }
  })

  for (const [what, bytes] of Object.entries(bad)) {
    it(`refuses ${what}`, () => {
      fails(() => parseGguf(placed(bytes)), Error, 'ERR_FORMAT', /^byte \d+: \S/)
    })
  }

  it('refuses every beginning of a file, and survives every changed byte', () => {
    refusesBeginnings(parseGguf, plain())
    survivesChanges(
      parseGguf,
      plain(),
      (file) => [...file].map(([, t]) => t.shape) && file.metadata,
    )
  })

  it('reads long metadata', () => {
    const words = Array.from({ length: 20000 }, (_, i) => `word ${i}`)
    const bytes = gguf(
      [['tokens', 9, Buffer.concat([u32(8), u64(words.length), ...words.map(text)])]],
      [['w', [2], 0, 0]],
      floats(1, 2),
    )
    const file = parseGguf(placed(bytes))
    assert.deepEqual(file.metadata.tokens, words)
    assert.deepEqual(file.get('w').toArray(), [1, 2])
  })
})

describe('a file object in console.log', () => {
  it('lists names, dtypes and shapes, makes no tensor, and reads nothing but headers: .npz and .safetensors', () => {
    const tensors = {
      weight: zeros([2, 3], 'float16'),
      'layer.0': zeros([], 'int64'),
      'a\u202e\x1b[31m': zeros([0]),
    }
    const listed =
      'TensorFile(3) {\n  "weight": float16 [2, 3],\n  "layer.0": int64 [],\n  "a\\u{202e}\\u001b[31m": float32 [0]\n}'
    for (const file of [
      parseNpz(toNpzBytes(tensors)),
      parseSafetensors(toSafetensorsBytes(tensors)),
    ]) {
      makesNothing(() => {
        const lines = (text) => text.split(/,?\n/).sort()
        assert.deepEqual(lines(inspect(file)), lines(listed))
      })
      assert.equal(inspect({ a: [file] }, { depth: 0 }), '{ a: [Array] }')
      assert.equal(inspect([file], { depth: 0 }), '[ [TensorFile(3)] ]')
      file.close()
      assert.equal(inspect(file), 'TensorFile(closed)')
    }
    assert.equal(inspect(parseNpz(toNpzBytes({}))), 'TensorFile(0) {}')
  })

  it('is short for hundreds of tensors, and says how many there are', () => {
    const many = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [`layer.${i}`, zeros([2])]),
    )
    const text = inspect(parseSafetensors(toSafetensorsBytes(many)))
    assert.equal(text.split('\n').length, 23)
    assert.match(text, /^TensorFile\(300\) \{\n {2}"layer\.0": float32 \[2\],\n/)
    assert.match(text, /,\n {2}\.\.\. 280 more\n\}$/)
  })

  it('says that a Proxy of one is none, as that of a tensor is; neither throws, nor do those of other classes', () => {
    const file = parseSafetensors(toSafetensorsBytes({ a: zeros([1]) }))
    for (const fake of [
      new Proxy(file, {}),
      Object.create(file),
      Object.create(Object.getPrototypeOf(file)),
    ]) {
      for (const options of [{}, { showHidden: true }, { getters: true }]) {
        assert.match(
          inspect(fake, options),
          /^\[TensorFile: a method or property of files was used on an object; a file was expected \(a Proxy of one, .*\)\]$/,
        )
      }
    }
    assert.match(
      inspect(new Proxy(zeros([1]), {})),
      /^\[Tensor: a method or property of tensors was used on an object; /,
    )
    for (const one of [
      new Generator(1),
      new Scope(),
      forBlob(new Float32Array(1)),
      zeros([1]).accessor(),
      ...[SharedTensor, SharedRing, cuda.Stream, cuda.Event].map(({ prototype }) =>
        Object.create(prototype),
      ),
    ]) {
      for (const options of [{}, { showHidden: true }, { getters: true }, { showProxy: true }]) {
        inspect(new Proxy(one, {}), options)
      }
    }
  })

  it('says of what is no array why, and throws never', () => {
    const file = parseNpz(
      placed(
        zip([
          ['a.npy', npyOf('<f4', '(2,)', floats(1, 2))],
          ['b.npy', npyOf('|O', '(1,)', Buffer.alloc(8))],
        ]),
      ),
    )
    assert.match(
      inspect(file),
      /^TensorFile\(2\) \{\n {2}"a": float32 \[2\],\n {2}"b": <"b": .+>\n\}$/,
    )
  })
})

describe('parseNpz', () => {
  const { array, plain, deflated, wide, packed, bad } = npzFiles()

  it('gives stored arrays by name, without .npy; other members as bytes', () => {
    const file = parseNpz(placed(plain({ comment: 'a comment' })))
    assert.deepEqual([...file.keys()], ['a', 'b', 'note.txt'])
    assert.deepEqual([file.get('a').toArray(), file.get('b').toArray()], [[1, 2], [3]])
    assert.deepEqual(Buffer.from(file.get('note.txt').bytes).toString(), 'hi')
    assert.deepEqual(file.metadata, {})
    assert.deepEqual(file.info('a').shape, [2])
  })

  it('load gives the same tensor to all who ask at once', async () => {
    const bytes = npyOf('<f4', '(2,)', floats(1, 2))
    const packed = Buffer.concat([Buffer.of(1, bytes.length, 0, ~bytes.length, 255), bytes]) // a deflated block that is stored
    const file = parseNpz(
      placed(zip([['a.npy', packed, { method: 8, unpacked: bytes.length, crc: crc32(bytes) }]])),
    )
    const [first, second] = await Promise.all([file.load('a'), file.load('a')])
    assert.ok(first === second && first === file.get('a'))
    assert.deepEqual(first.toArray(), [1, 2])
  })

  it('stored arrays that are aligned are views', () => {
    const bytes = placed(plain())
    const { result: t, copies } = copied(() => parseNpz(bytes).get('a'))
    assert.deepEqual(copies, {})
    t.set(7, 1)
    assert.deepEqual(parseNpz(bytes).get('a').toArray(), [1, 7])
    assert.equal(t.data.buffer, bytes.buffer)
  })

  it('an empty zip has no arrays', () => {
    assert.equal(parseNpz(placed(zip([]))).size, 0)
  })

  const bytes = array(1)
  for (const [what, bytes] of Object.entries(bad)) {
    it(`refuses ${what}`, () => {
      fails(() => parseNpz(placed(bytes)), Error, 'ERR_FORMAT', /^byte \d+: \S/)
    })
  }

  it('names are ASCII or UTF-8, with and without the flag that says so', () => {
    for (const flags of [0, 0x800]) {
      for (const name of ['a', '\xe9', '\u{1f600}', '\ufeffa', '\ufffd']) {
        assert.deepEqual(
          [...parseNpz(placed(zip([[`${name}.npy`, bytes, { flags }]]))).keys()],
          [name],
        )
      }
    }
  })

  it('names in another code page are refused with where they are', () => {
    const other = (...codes) => Buffer.from([...codes, ...Buffer.from('.npy')])
    const at = 2 * (30 + 5 + bytes.length) + 46 + 5 + 46 // of the second one in the directory
    for (const code of [0x82, 0xc3, 0xff]) {
      for (const flags of [0, 0x800]) {
        const file = zip([
          ['a.npy', bytes],
          [other(code), bytes, { flags }],
        ])
        assert.equal(file[at], code)
        assert.equal(
          refuses(() => parseNpz(placed(file)), 'ERR_FORMAT').message,
          `byte ${at}: the name of the member at byte ${35 + bytes.length} is not UTF-8`,
        )
      }
    }
    fails(
      () =>
        parseNpz(placed(zip([['\ufffd.npy', bytes, { itsName: other(0xf0, 0x9f, 0x98) }]]))).get(
          '\ufffd',
        ),
      Error,
      'ERR_FORMAT',
      /own header/,
    )
  })

  it('refuses a member whose own header says something else', () => {
    fails(
      () => parseNpz(placed(zip([['a.npy', bytes, { itsName: 'b.npy' }]]))).get('a'),
      Error,
      'ERR_FORMAT',
    )
    fails(
      () => parseNpz(placed(zip([['a.npy', bytes.subarray(0, 40)]]))).get('a'),
      Error,
      'ERR_FORMAT',
    )
  })

  it('refuses every beginning of a file, and survives every changed byte', () => {
    refusesBeginnings(parseNpz, plain())
    survivesChanges(parseNpz, plain(), (file) => [...file].map(([, t]) => t.toArray()))
  })

  it('refuses every beginning of a file of zip64, and survives every changed byte', async () => {
    const file = parseNpz(placed(wide()))
    assert.deepEqual(
      [[...file.keys()], file.get('a').toArray(), (await file.load('b')).toArray()],
      [
        ['a', 'b'],
        [1, 2],
        [1, 2],
      ],
    )
    refusesBeginnings(parseNpz, wide())
    survivesChanges(parseNpz, wide(), (file) => [...file].map(([, t]) => t.toArray()))
  })

  it('refuses every beginning of a file with a deflated member, and of what is deflated, and survives every changed byte', async () => {
    const open = async (bytes) => [(await parseNpz(placed(bytes)).load('a')).toArray()]
    const refused = (bytes, what) =>
      open(bytes).then(
        () => assert.fail(`${what} were read`),
        (error) =>
          assert.match(`${error.code} ${error.message}`, /^ERR_FORMAT byte \d+: \S{2}/, what),
      )
    assert.deepEqual(await open(deflated()), [[1, 2]])
    for (let n = 0; n < deflated().length; n++) {
      await refused(deflated().subarray(0, n), `${n} bytes of the file`)
    }
    for (let n = 0; n < packed.length; n++) await refused(deflated(n), `${n} deflated bytes`)
    survivesChanges(parseNpz, deflated(), (file) => [...file].map(([, t]) => t.toArray()))
    for (let i = 0; i < deflated().length; i++) {
      const bytes = deflated()
      bytes[i] ^= 0x55
      const error = await open(bytes).then(
        () => null,
        (error) => error,
      )
      if (error !== null) {
        assert.match(
          error.code ?? error.stack,
          /^ERR_(FORMAT|DTYPE|UNSUPPORTED|NOT_FOUND)$/,
          `byte ${i}: ${error.stack}`,
        )
      } // the name may be what changed
    }
  })
})

describe('bytes to parse', () => {
  const file = npyOf('<f4', '(2,)', floats(1, 2))

  it('may be an ArrayBuffer, any view, a SharedArrayBuffer', () => {
    const { buffer } = placed(file)
    const sources = [
      buffer,
      new Uint8Array(buffer),
      new DataView(buffer),
      new Uint8Array(buffer).subarray(0),
    ]
    if (typeof SharedArrayBuffer === 'function') {
      const shared = new SharedArrayBuffer(file.length)
      new Uint8Array(shared).set(file)
      sources.push(shared)
    }
    for (const source of sources) assert.deepEqual(parseNpy(source).toArray(), [1, 2])
  })

  it('of alloc are aligned, and parsed without a copy', () => {
    const bytes = alloc(file.length)
    assert.equal(bytes.constructor, Uint8Array)
    assert.equal(bytes.length, file.length)
    bytes.set(file)
    const staged = memory().staged.bytes
    const { result: t, copies } = copied(() => parseNpy(bytes))
    assert.deepEqual([t.toArray(), copies, memory().staged.bytes - staged], [[1, 2], {}, 0])
    assert.equal(t.dataPtr % 64n, 0n)
    bytes[bytes.length - 1] ^= 0x80
    assert.deepEqual(t.toArray(), [1, -2])
  })

  it('that are gone when a tensor is asked for are ERR_DETACHED', async () => {
    const { array, packed } = npzFiles()
    const pair = array(1, 2)
    const stored = (name, bytes) => [name, bytes, { pad: 9 }]
    const files = [
      [
        parseNpz,
        zip([
          stored('a.npy', pair),
          stored('note', Buffer.from('hi')),
          ['b.npy', packed, { method: 8, unpacked: pair.length, crc: crc32(pair) }],
        ]),
      ],
      [parseSafetensors, safetensorsFiles().plain()],
      [parseGguf, ggufFiles().plain()],
    ]
    const gone = {
      transferred: (n) => [
        new ArrayBuffer(n),
        (buffer) => structuredClone(buffer, { transfer: [buffer] }),
      ],
      shrunk: (n) => [new ArrayBuffer(n, { maxByteLength: n }), (buffer) => buffer.resize(8)],
    }
    for (const [parse, bytes] of files) {
      for (const [how, make] of Object.entries(gone)) {
        const [buffer, lose] = make(bytes.length)
        new Uint8Array(buffer).set(bytes)
        const file = parse(buffer)
        lose(buffer)
        for (const name of file.keys()) {
          if (parse !== parseNpz && file.info(name).nbytes === 0) continue
          const uses = [
            () => file.get(name),
            () => file.load(name),
            ...(parse === parseNpz && name !== 'note' ? [() => file.info(name)] : []),
          ]
          for (const use of uses) {
            await assert.rejects(
              async () => use(),
              { code: 'ERR_DETACHED' },
              `${parse.name}, ${how}, ${name}`,
            )
          }
        }
      }
    }
  })

  it('several tensors of one buffer share it', () => {
    const bytes = placed(file)
    assert.equal(sharesMemory(parseNpy(bytes), parseNpy(bytes)), true)
  })
})

describe('what is no file of these formats', () => {
  it('but a page of HTML, as a server sends it for a file that is not there, is named', () => {
    for (const page of [
      '<!DOCTYPE html><title>404</title>',
      ' \n<html lang="en"></html>',
      '\ufeff<!doctype  html>',
      `<html>${' '.repeat(70000)}</html>`,
    ]) {
      for (const parse of [parseNpy, parseSafetensors, parseGguf]) {
        fails(
          () => parse(new TextEncoder().encode(page)),
          Error,
          'ERR_FORMAT',
          /^byte 0: this is a page of HTML/,
        )
      }
    }
    fails(
      () => parseNpz(new TextEncoder().encode('<!DOCTYPE html>')),
      Error,
      'ERR_FORMAT',
      /^byte 0: this is a page of HTML/,
    )
    fails(
      () => parseNpy(new TextEncoder().encode('<htm> and no page')),
      Error,
      'ERR_FORMAT',
      /no \.npy file/,
    )
  })

  it('but of another one is named: of ours, a zip as .pt is, and what is compressed', () => {
    const t = tensor([1, 2, 3])
    const files = {
      npy: toNpyBytes(t),
      safetensors: toSafetensorsBytes({ t }),
      gguf: gguf([], []),
      npz: toNpzBytes({ t }),
      gzip: Uint8Array.of(0x1f, 0x8b, 8, ...new Uint8Array(60)),
    }
    const names = {
      npy: 'a .npy file',
      safetensors: 'a .safetensors file',
      gguf: 'a .gguf file',
      npz: "a zip file, as .npz and PyTorch's .pt are",
      gzip: 'compressed with gzip',
    }
    for (const [wanted, parse] of Object.entries({
      npy: parseNpy,
      safetensors: parseSafetensors,
      gguf: parseGguf,
      npz: parseNpz,
    })) {
      for (const name of Object.keys(files)) {
        if (name === wanted) parse(placed(files[name]))
        else {
          assert.throws(
            () => parse(placed(files[name])),
            { code: 'ERR_FORMAT', message: `byte 0: this is ${names[name]}` },
            `${name} as ${wanted}`,
          )
        }
      }
      const broken = files[wanted].slice(0, -1)
      fails(
        () => parse(placed(wanted === 'gguf' ? files.gguf.slice(0, 9) : broken)),
        Error,
        'ERR_FORMAT',
        /^byte (?!0: this is )/,
      )
    }
  })

  it('but a Blob or a Response is named, and how its bytes are read', () => {
    const words = /is a (Blob|Response) \(await its arrayBuffer\(\) for the bytes\)/
    for (const given of [new Blob(['x']), new Response('x')]) {
      for (const call of [
        () => parseNpy(given),
        () => tensor(given),
        () => zeros([1]).copyFrom(given),
      ]) {
        fails(call, TypeError, 'ERR_ARGUMENT', words)
      }
    }
  })
})
