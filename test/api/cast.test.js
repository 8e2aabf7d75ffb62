'use strict'
const assert = require('node:assert/strict')
const {
  arrayEqual,
  canCast,
  dtypes,
  empty,
  fromBlob,
  Generator,
  randint,
  randn,
  tensor,
  zeros,
} = require('samebytes')
const { copied, fails, fromHex, hex, refuses } = require('../setup')
const { CANONICAL_NAN, CASTS, ODD_NAN, SAMPLES } = require('../tables')

const text = (list) =>
  '[' + list.map((x) => (Object.is(x, -0) ? '-0' : typeof x === 'bigint' ? `${x}n` : `${x}`)) + ']'

describe('casts', () => {
  for (const [from, to, values, expected] of CASTS) {
    it(`${from} ${text(values)} to ${to}`, () => {
      const t = tensor(values, [values.length], { dtype: from })
      assert.deepEqual(t.astype(to, { casting: 'unsafe' }).toArray(), expected)
    })

    it(`${from} to ${to} is the same through copyFrom, strided and in bulk`, () => {
      const n = values.length
      const many = Array.from({ length: 37 }, () => values).flat()
      const t = tensor(many, [37, n], { dtype: from })
      const dst = zeros([n, 37, 2], { dtype: to })
      dst.select(2, 1).copyFrom(t.T, { casting: 'unsafe' })
      for (const row of [0, 17, 36]) {
        assert.deepEqual(dst.select(2, 1).select(1, row).toArray(), expected)
      }
      assert.match(hex(dst.select(2, 0)), /^0*$/)
    })
  }

  it('float32 beyond the range of float8_e4m3fn is NaN, as in PyTorch', () => {
    const t = tensor([465, Infinity, -1e10, NaN]).astype('float8_e4m3fn')
    assert.deepEqual(t.toArray(), [NaN, NaN, NaN, NaN])
  })

  it('every float8_e4m3fn to float32', () => {
    const t = fromBlob(
      new Uint8Array(256).map((_, i) => i),
      [256],
      'float8_e4m3fn',
    ).astype('float32')
    // Recorded by the format's definition (OFP8 E4M3): bias 7, NaN at 0x7f and 0xff
    const seen = t.toArray()
    const bits = [
      0x00, 0x80, 0x01, 0x07, 0x08, 0x0f, 0x38, 0x39, 0x40, 0x77, 0x78, 0x7e, 0x7f, 0xff, 0xfe,
      0x81,
    ]
    assert.deepEqual(
      bits.map((i) => seen[i]),
      [
        0,
        -0,
        0.001953125,
        0.013671875,
        0.015625,
        0.029296875,
        1,
        1.125,
        2,
        240,
        256,
        448,
        NaN,
        NaN,
        -448,
        -0.001953125,
      ],
    )
    for (let i = 1; i < 0x7f; i++) {
      assert.ok(seen[i] > seen[i - 1])
      assert.equal(seen[i | 0x80], -seen[i])
    }
  })

  it('every float8_e5m2 to float32', () => {
    const t = fromBlob(
      new Uint8Array(256).map((_, i) => i),
      [256],
      'float8_e5m2',
    ).astype('float32')
    // Recorded by the format's definition (OFP8 E5M2): the upper half of a float16
    const seen = t.toArray()
    const bits = [
      0x00, 0x80, 0x01, 0x03, 0x04, 0x3c, 0x3d, 0x7b, 0x7c, 0xfc, 0x7d, 0x7f, 0xff, 0xfb,
    ]
    assert.deepEqual(
      bits.map((i) => seen[i]),
      [
        0,
        -0,
        0.0000152587890625,
        0.0000457763671875,
        0.00006103515625,
        1,
        1.25,
        57344,
        Infinity,
        -Infinity,
        NaN,
        NaN,
        NaN,
        -57344,
      ],
    )
    for (let i = 1; i <= 0x7c; i++) assert.ok(seen[i] > seen[i - 1])
  })

  for (const dtype of ['float8_e4m3fn', 'float8_e5m2', 'float16', 'bfloat16']) {
    it(`every ${dtype} survives float32, float64 and back, NaN apart`, () => {
      const wide = dtype.includes('float8') ? 256 : 65536
      const source =
        wide === 256
          ? new Uint8Array(256).map((_, i) => i)
          : new Uint16Array(65536).map((_, i) => i)
      const t = fromBlob(source.buffer, [wide], dtype)
      const before = t.view(wide === 256 ? 'uint8' : 'uint16').data
      for (const through of ['float32', 'float64']) {
        const middle = t.astype(through)
        const after = middle.astype(dtype).view(wide === 256 ? 'uint8' : 'uint16').data
        const numbers = middle.data
        const nan = parseInt(CANONICAL_NAN[dtype].match(/../g).reverse().join(''), 16)
        const wrong = after.findIndex(
          (bits, i) => bits !== (Number.isNaN(numbers[i]) ? nan : before[i]),
        )
        assert.equal(wrong, -1)
      }
    })
  }

  for (const [from, bits] of Object.entries(ODD_NAN)) {
    it(`copies keep the bits of a ${from} NaN`, () => {
      const t = fromBlob(fromHex(bits.repeat(4)), [2, 2], { dtype: from })
      assert.equal(hex(t.clone()), bits.repeat(4))
      assert.equal(hex(tensor(t)), bits.repeat(4))
      assert.equal(hex(t.T.contiguous()), bits.repeat(4))
      assert.equal(hex(t.T.reshape([4])), bits.repeat(4))
      assert.equal(hex(zeros([2, 2], from).copyFrom(t)), bits.repeat(4))
      assert.equal(
        hex(zeros([2, 4], from).slice(':', '::2').copyFrom(t.slice('::-1'))),
        bits.repeat(4),
      )
    })

    for (const [to, canonical] of Object.entries(CANONICAL_NAN)) {
      if (to === from) continue
      it(`${from} NaN becomes the canonical NaN of ${to}`, () => {
        const t = fromBlob(fromHex(bits.repeat(19)), [19], { dtype: from })
        assert.equal(hex(t.astype(to)), canonical.repeat(19))
      })
    }
  }

  // Long rows are converted by pages in turn, short ones as they lie.
  for (const other of [
    'bool',
    'uint8',
    'int8',
    'uint16',
    'int16',
    'int32',
    'float16',
    'bfloat16',
    'float64',
  ]) {
    for (const [from, to] of [
      [other, 'float32'],
      ['float32', other],
    ]) {
      it(`a long row of ${from} becomes the ${to} that its parts become`, () => {
        const n = 2 ** 19 + 2 ** 14 + 1237
        const size = empty([], to).itemsize
        const t = randint(0, 256, [n * empty([], from).itemsize], {
          dtype: 'uint8',
          generator: new Generator(7),
        }).view(from)
        const whole = t
          .narrow(0, 3, n - 3)
          .astype(to, { casting: 'unsafe' })
          .view('uint8')
        for (let i = 3; i < n; i += 4999) {
          const part = t
            .narrow(0, i, Math.min(4999, n - i))
            .astype(to, { casting: 'unsafe' })
            .view('uint8')
          const at = (i - 3) * size
          assert.ok(arrayEqual(part, whole.narrow(0, at, part.numel)), `${i}`)
        }
      })
    }
  }

  it('copies keep the bits of a signalling float32 and float64 NaN', () => {
    const f = fromBlob(fromHex('0100807f010080ff'), [2], 'float32')
    assert.equal(hex(f.clone()), '0100807f010080ff')
    const d = fromBlob(fromHex('010000000000f07f'), [1], 'float64')
    assert.equal(hex(zeros([1], 'float64').copyFrom(d)), '010000000000f07f')
    assert.equal(hex(f.astype('float64')), '000000000000f87f'.repeat(2))
  })

  it('complex64 NaN parts become canonical in complex128', () => {
    const t = fromBlob(fromHex('4523c1ff0000803f'), [1], 'complex64')
    assert.equal(hex(t.astype('complex128')), '000000000000f87f000000000000f03f')
  })

  for (const from of ['float64', 'float32']) {
    it(`${from} beside the limits of integers is rounded toward zero and saturated`, () => {
      const limits = [0, 1, 7, 8, 15, 16, 31, 32, 51, 52, 53, 63, 64].flatMap((bits) => [
        2 ** bits,
        -(2 ** bits),
        2 ** bits - 1,
        1 - 2 ** bits,
      ])
      const beside = (x) => [
        x,
        x - 0.5,
        x + 0.5,
        x * (1 + 2 ** -52),
        x * (1 - 2 ** -53),
        x * (1 + 2 ** -23),
        x * (1 - 2 ** -24),
      ]
      const x = tensor([NaN, Infinity, -Infinity, -0, ...limits.flatMap(beside)], {
        dtype: 'float64',
      }).astype(from, { casting: 'unsafe' })
      for (const bits of [8n, 16n, 32n, 64n]) {
        for (const [to, low, high] of [
          [`int${bits}`, -(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n],
          [`uint${bits}`, 0n, 2n ** bits - 1n],
        ]) {
          const wanted = x.toArray().map((value) => {
            if (!Number.isFinite(value)) return value > 0 ? high : value < 0 ? low : 0n
            const whole = BigInt(Math.trunc(value))
            return whole < low ? low : whole > high ? high : whole
          })
          for (const start of [0, 1, 5]) {
            // groups of vectors begin elsewhere
            assert.deepEqual(
              x.slice(`${start}:`).astype(to, { casting: 'unsafe' }).toArray().map(BigInt),
              wanted.slice(start),
              to,
            )
          }
        }
      }
    })
  }

  it('integers in one buffer become narrower ones and others of their width, also where both sides overlap', () => {
    const gen = new Generator(77)
    const below = (n) => randint(0, n, [1], { generator: gen }).toArray()[0]
    const ints = ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64']
    const sizeOf = (name) => Number(/\d+/.exec(name)) / 8
    for (let round = 0; round < 600; round++) {
      const [to, from] = [ints[below(8)], ints[below(8)]]
      if (sizeOf(to) > sizeOf(from)) continue
      const bytes = randint(0, 256, [4096], { dtype: 'uint8', generator: gen })
      const shape = [1 + below(9), 1 + below(20)]
      const viewOf = (name) => {
        const strides =
          below(3) === 0 ? [1, shape[0]] : below(2) ? [shape[1], 1] : [40, below(2) ? 2 : -1]
        return bytes
          .view(name)
          .view(shape, { strides, offset: below(30) + (strides[1] < 0 ? shape[1] : 0) })
      }
      const [target, source] = [viewOf(to), viewOf(from)]
      const cut = to[0] === 'u' ? BigInt.asUintN : BigInt.asIntN
      const wanted = source
        .toArray()
        .flat()
        .map((x) => cut(8 * sizeOf(to), BigInt(x)))
      const before = bytes.clone()
      target.copyFrom(source, { casting: 'unsafe' })
      assert.deepEqual(
        target.toArray().flat().map(BigInt),
        wanted,
        `${from} to ${to} [${shape}] (${source.strides}) to (${target.strides})`,
      )
      target.fill(0)
      before.view(to).view(shape, { strides: target.strides, offset: target.offset }).fill(0)
      assert.ok(arrayEqual(bytes, before), 'no other byte was written')
    }
  })

  it('bool bytes 2 to 255 are true in casts, and kept by copies', () => {
    const t = fromBlob(
      new Uint8Array(256).map((_, i) => i),
      [256],
      'bool',
    )
    const ones = [0, ...new Array(255).fill(1)]
    assert.deepEqual(t.astype('uint8').toArray(), ones)
    assert.deepEqual(t.astype('float32').toArray(), ones)
    assert.deepEqual(t.astype('int64').toArray(), ones.map(BigInt))
    assert.deepEqual(t.toArray(), ones.map(Boolean))
    assert.equal(hex(t.clone()), Buffer.from(new Uint8Array(256).map((_, i) => i)).toString('hex'))
  })

  for (const { dtype, values } of SAMPLES) {
    it(`${dtype} reaches every dtype, unsafe, and rank and elements stay`, () => {
      const t = tensor(values, [3, 2], { dtype })
      for (const to of dtypes) {
        const cast = t.T.astype(to, { casting: 'unsafe' })
        assert.equal(cast.dtype, to)
        assert.deepEqual([...cast.shape], [2, 3])
        assert.deepEqual(
          cast.toArray(),
          zeros([2, 3], to).copyFrom(t.T, { casting: 'unsafe' }).toArray(),
        )
      }
    })
  }
})

describe('canCast', () => {
  // [from, to, safe, same_kind]
  const table = [
    ['int32', 'float64', true, true],
    ['int32', 'float32', false, true],
    ['int64', 'float64', false, true],
    ['int64', 'float16', false, true],
    ['uint8', 'int16', true, true],
    ['uint8', 'float16', true, true],
    ['uint16', 'float16', false, true],
    ['int8', 'uint8', false, true],
    ['uint8', 'int8', false, true],
    ['int64', 'int8', false, true],
    ['uint64', 'int64', false, true],
    ['uint32', 'int64', true, true],
    ['bool', 'int8', true, true],
    ['bool', 'float16', true, true],
    ['bool', 'complex64', true, true],
    ['float16', 'float32', true, true],
    ['float16', 'bfloat16', false, true],
    ['bfloat16', 'float16', false, true],
    ['bfloat16', 'float32', true, true],
    ['float32', 'float64', true, true],
    ['float64', 'float32', false, true],
    ['float8_e5m2', 'float16', true, true],
    ['float8_e4m3fn', 'float16', true, true],
    ['float32', 'float8_e5m2', false, true],
    ['float32', 'complex64', true, true],
    ['float64', 'complex64', false, true],
    ['int32', 'complex128', true, true],
    ['complex128', 'complex64', false, true],
    ['complex64', 'complex128', true, true],
    ['complex64', 'float32', false, false],
    ['complex64', 'int32', false, false],
    ['float32', 'int32', false, false],
    ['float32', 'int64', false, false],
    ['float16', 'uint8', false, false],
    ['uint8', 'bool', false, false],
    ['float32', 'bool', false, false],
    ['complex64', 'bool', false, false],
  ]
  for (const [from, to, safe, sameKind] of table) {
    it(`${from} to ${to}: safe ${safe}, same_kind ${sameKind}, unsafe true`, () => {
      assert.equal(canCast(from, to, 'safe'), safe)
      assert.equal(canCast(from, to, 'same_kind'), sameKind)
      assert.equal(canCast(from, to), sameKind)
      assert.equal(canCast(from, to, 'unsafe'), true)
      const t = zeros([1], from)
      if (sameKind) assert.equal(t.astype(to).dtype, to)
      else fails(() => t.astype(to), TypeError, 'ERR_CAST', new RegExp(`${from}.*${to}`))
    })
  }

  it('every dtype to itself is safe', () => {
    for (const dtype of dtypes) assert.equal(canCast(dtype, dtype, 'safe'), true)
  })

  it('refuses unknown names', () => {
    fails(() => canCast('float32', 'f32'), TypeError, 'ERR_DTYPE')
    fails(() => canCast('nope', 'float32'), TypeError, 'ERR_DTYPE')
    refuses(() => canCast('float32', 'float64', 'often'), 'ERR_ARGUMENT')
    refuses(() => canCast(), 'ERR_ARGUMENT', 'ERR_DTYPE')
  })
})

describe('astype', () => {
  it('makes a tensor of its own and counts the bytes made', () => {
    const t = tensor([1, 2, 3])
    const { result, copies } = copied(() => t.astype('float64'))
    assert.deepEqual(copies, { astype: { count: 1, bytes: 24 } })
    result.fill(0)
    assert.deepEqual(t.toArray(), [1, 2, 3])
  })

  for (const [from, to, options] of [
    ['float32', 'float16'],
    ['float64', 'float32'],
    ['float32', 'uint8', { casting: 'unsafe' }],
    ['float64', 'int32', { casting: 'unsafe' }],
    ['float32', 'bfloat16', { scale: 0.5, bias: 3 }],
  ]) {
    it(`${from} to ${to} of megabytes is as in small pieces`, () => {
      const n = 2 ** 21 + 77
      const source = randn([n], from, { generator: new Generator(5) })
      const whole = zeros([n + 3], to)
      const pieces = zeros([n + 3], to)
      whole.narrow(0, 1, n).copyFrom(source, options)
      for (let i = 0; i < n; i += 50000) {
        const count = Math.min(50000, n - i)
        pieces.narrow(0, 1 + i, count).copyFrom(source.narrow(0, i, count), options)
      }
      assert.ok(arrayEqual(whole, pieces))
      assert.ok(!arrayEqual(whole, zeros([n + 3], to)))
    })
  }

  it('names the casting that allows what it refuses', () => {
    fails(
      () => tensor([1.5]).astype('uint8'),
      TypeError,
      'ERR_CAST',
      /under casting 'same_kind'; 'unsafe' allows it$/,
    )
  })

  it('refuses unknown dtypes', () => {
    fails(() => zeros([1]).astype('float'), TypeError, 'ERR_DTYPE')
    refuses(() => zeros([1]).astype(), 'ERR_DTYPE', 'ERR_ARGUMENT')
    refuses(() => zeros([1]).astype(5), 'ERR_DTYPE', 'ERR_ARGUMENT')
  })
})

describe('clone', () => {
  for (const { dtype, values, bytes, itemsize } of SAMPLES) {
    it(`of ${dtype} owns its bytes and is counted once`, () => {
      const t = tensor(values, [2, 3], { dtype })
      const { result, copies } = copied(() => t.clone())
      assert.deepEqual(copies, { clone: { count: 1, bytes: 6 * itemsize } })
      t.zero()
      assert.equal(hex(result), bytes)
      assert.equal(result.isView, false)
    })
  }

  it('casts float32 to float64 when asked, under a rule', () => {
    assert.deepEqual(tensor([0.5]).clone({ dtype: 'float64' }).toArray(), [0.5])
    fails(() => tensor([0.5]).clone({ dtype: 'int32' }), TypeError, 'ERR_CAST')
    assert.deepEqual(tensor([1.5]).clone({ dtype: 'int32', casting: 'unsafe' }).toArray(), [1])
  })

  it('of overlapping, reversed and empty float32 views holds what they show', () => {
    const t = tensor([1, 2, 3, 4])
    assert.deepEqual(t.unfold(0, 3, 1).clone().toArray(), [
      [1, 2, 3],
      [2, 3, 4],
    ])
    assert.deepEqual(t.slice('::-1').clone().toArray(), [4, 3, 2, 1])
    assert.deepEqual(t.narrow(0, 0, 0).clone().toArray(), [])
    assert.equal(tensor(5).clone().item(), 5)
    t.unfold(0, 3, 1).clone().copyFrom(0)
  })
})
