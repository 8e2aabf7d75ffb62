'use strict'
// rand, randn, randint: the bits that test/python/random_reference.py gives, on every back end.
const assert = require('node:assert/strict')
const {
  fromBlob,
  rand,
  randn,
  randint,
  randLike,
  randStrided,
  manualSeed,
  Generator,
  zeros,
  memory,
  backend,
} = require('samebytes')
const { fails, makesNothing, refusedUnchanged, refuses } = require('../setup')

const WORDS = {
  float32: Uint32Array,
  float64: BigUint64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
}

/** The elements' bits in hexadecimal. */
function bits(t) {
  const { buffer, byteOffset, length } = t.data
  const words = new WORDS[t.dtype](buffer, byteOffset, length)
  return Array.from(words, (word) => '0x' + word.toString(16).padStart(2 * t.itemsize, '0'))
}

describe('random tensors', () => {
  it('follow one stream: uniform float32, normal float32, integers, wide integers of seed 42', () => {
    const generator = new Generator(42)
    assert.deepEqual(bits(rand([4], { generator })), [
      '0x3f1ceaf0',
      '0x3eefea92',
      '0x3d95fa80',
      '0x3eae8566',
    ])
    assert.deepEqual(bits(randn([3], { generator })), ['0x400370cf', '0x3f8fce46', '0xbd039b8b'])
    assert.deepEqual(randint(0, 10, [8], { generator }).toArray(), [4, 8, 6, 6, 7, 7, 6, 5])
    assert.equal(generator.offset, 15n)
    assert.deepEqual(randint(0n, 1n << 63n, [2], { generator }).toArray(), [
      7738828319101555166n,
      2174131685234287793n,
    ])
    assert.equal(generator.offset, 20n) // from an even word on, two words each
    const whole = randint(0n, 1n << 64n, [1], { dtype: 'uint64', generator })
    assert.deepEqual(whole.toArray(), [5413526666999355401n])
  })

  const first = [
    ['float16', ['0x3b1f', '0x3b28', '0x38af'], ['0x331b', '0x39b7', '0xb5e3']],
    ['bfloat16', ['0x3f63', '0x3f65', '0x3f15'], ['0x3e63', '0x3f37', '0xbebc']],
    [
      'float64',
      ['0x3feca141d78fa019', '0x3fe6c2b54657c88b', '0x3febf8b996b02050'],
      ['0x3fe049103cb9bde8', '0x3ff195fd5567bf56', '0xc00a4369a68b99ad'],
    ],
  ]
  for (const [dtype, uniform, normal] of first) {
    it(`start as they should in ${dtype} of seed 1`, () => {
      assert.deepEqual(bits(rand([3], { dtype, generator: new Generator(1) })), uniform)
      assert.deepEqual(bits(randn([3], { dtype, generator: new Generator(1n) })), normal)
    })
  }

  it('take negative seeds as 64 bits', () => {
    const expected = ['0x3ee548ee', '0x3daa3a38']
    for (const seed of [-1, -1n, 2n ** 64n - 1n, 2n ** 65n - 1n]) {
      assert.deepEqual(bits(rand([2], { generator: new Generator(seed) })), expected)
    }
    assert.equal(new Generator(-1).seed, 2n ** 64n - 1n)
  })

  it('are the same in one call as in several, and in any order of axes', () => {
    const one = rand([3, 4], { generator: new Generator(7) }).toArray()
    const generator = new Generator(7)
    assert.deepEqual(
      [0, 1, 2].map(() => rand([4], { generator }).toArray()),
      one,
    )
    assert.deepEqual(rand([3, 4], { order: 'F', generator: new Generator(7) }).toArray(), one)
  })

  it('begin again with manualSeed, of the generator of all and of one', () => {
    manualSeed(5)
    const once = [rand([2]).toArray(), randn([2]).toArray(), randint(0, 100, [2]).toArray()]
    assert.notDeepEqual(rand([2]).toArray(), once[0])
    assert.equal(manualSeed(5).seed, 5n)
    assert.deepEqual(
      [rand([2]).toArray(), randn([2]).toArray(), randint(0, 100, [2]).toArray()],
      once,
    )
    const generator = new Generator(1)
    rand([9], { generator })
    assert.equal(generator.manualSeed(5).offset, 0n)
    assert.deepEqual(rand([2], { generator }).toArray(), once[0])
  })

  it('have dtypes and shapes as asked, float32 and int32 where nothing is said, int64 for bigints', () => {
    assert.deepEqual([rand(3).dtype, rand(3).shape], ['float32', [3]])
    assert.deepEqual(
      [randn([2, 0]).dtype, randn([2, 0]).shape, randn([]).ndim],
      ['float32', [2, 0], 0],
    )
    assert.deepEqual(
      [randint(0, 2, [2]).dtype, randint(0n, 2, [2]).dtype, randint(0, 2n, [2]).dtype],
      ['int32', 'int64', 'int64'],
    )
    assert.equal(rand([2], 'float64').dtype, 'float64')
    assert.deepEqual(
      randint(0, 2, [64], 'bool')
        .toArray()
        .every((x) => typeof x === 'boolean'),
      true,
    )
    assert.deepEqual(randint(-3, -2, [2], 'int8').toArray(), [-3, -3])
  })

  it('lie in their ranges, reach both ends, and are spread evenly', () => {
    const generator = new Generator(3)
    const n = 1e5
    const u = rand([n], { generator }).data
    assert.ok(u.every((x) => x >= 0 && x < 1))
    const mean = u.reduce((a, b) => a + b, 0) / n
    assert.ok(Math.abs(mean - 0.5) < 5 / Math.sqrt(12 * n), `mean ${mean}`)
    const z = randn([n], { generator }).data
    const square = z.reduce((a, b) => a + b * b, 0) / n
    assert.ok(Math.abs(square - 1) < 5 * Math.sqrt(2 / n), `variance ${square}`)
    const counts = new Int32Array(6)
    for (const x of randint(-2, 4, [n], { generator }).data) counts[x + 2]++
    const chi = counts.reduce((sum, count) => sum + (count - n / 6) ** 2 / (n / 6), 0)
    assert.ok(chi < 30, `chi-square ${chi} of 5 degrees`) // 1.5e-5 by chance
  })

  it('go where other threads can see them', () => {
    const generator = new Generator(42)
    for (const shared of [true, 'sab']) {
      assert.deepEqual(bits(rand([2], { shared, generator: generator.manualSeed(42) })), [
        '0x3f1ceaf0',
        '0x3eefea92',
      ])
    }
  })

  const draws = [
    ...['float16', 'bfloat16', 'float32', 'float64'].flatMap((dtype) => [
      ['rand', dtype, (options) => rand([3, 4], options)],
      ['randn', dtype, (options) => randn([3, 4], options)],
    ]),
    ...['bool', 'uint8', 'int16', 'int32', 'int64'].map((dtype) => [
      'randint',
      dtype,
      (options) => randint(0, 2, [3, 4], options),
    ]),
  ]
  for (const [name, dtype, draw] of draws) {
    it(`fill out, of any strides, with the same numbers: ${name} of ${dtype}`, () => {
      const generator = new Generator(3)
      const expected = draw({ dtype, generator })
      const { offset } = generator
      const { constructor: Type } = expected.data
      const outs = [
        zeros([3, 4], dtype),
        zeros([4, 3], dtype).T,
        zeros([6, 8], dtype).slice('::2', '::-2'),
        fromBlob(new Type(12), [3, 4], dtype),
      ]
      for (const out of outs) {
        const { copied } = memory()
        assert.equal(draw({ out, generator: generator.manualSeed(3) }), out)
        assert.deepEqual(out.toArray(), expected.toArray())
        assert.equal(generator.offset, offset)
        assert.deepEqual(memory().copied, copied)
        assert.equal(draw({ out, dtype, device: 'cpu', generator }), out)
      }
      assert.deepEqual(outs[2].base.select(0, 1).toArray(), zeros([8], dtype).toArray()) // the rows between are as they were
    })
  }

  it('refuse an out of another shape or dtype, read-only, overlapping or none, and draw nothing then: float32', () => {
    const generator = new Generator(1)
    const out = zeros([2, 3])
    refusedUnchanged(out, () => rand([3, 2], { out, generator }), 'ERR_SHAPE')
    refusedUnchanged(out, () => rand([2, 3], { out, dtype: 'float64', generator }), 'ERR_DTYPE')
    refusedUnchanged(out, () => randint(0, 2, [2, 3], { out, generator }), 'ERR_DTYPE')
    refuses(() => randint(0, 300, [2], { out: zeros([2], 'uint8'), generator }), 'ERR_CAST')
    refuses(() => rand([2, 3], { out: zeros([3]).expand(2, 3), generator }), 'ERR_OVERLAP')
    refuses(
      () => randn([2], { out: fromBlob(new Float32Array(2), [2], { readOnly: true }), generator }),
      'ERR_READ_ONLY',
    )
    const gone = zeros([2])
    gone.dispose()
    refuses(() => rand([2], { out: gone, generator }), 'ERR_DISPOSED')
    for (const bad of [null, [1, 2], new Float32Array(2), {}]) {
      fails(() => rand([2], { out: bad, generator }), TypeError, 'ERR_ARGUMENT', /^out is /)
    }
    refusedUnchanged(out, () => randLike(out, { out, generator }), 'ERR_ARGUMENT')
    refusedUnchanged(out, () => randStrided([2, 3], [3, 1], { out, generator }), 'ERR_ARGUMENT')
    refuses(
      () => rand([2, 3], { out, device: 'cuda:9', generator }),
      'ERR_DEVICE',
      'ERR_UNSUPPORTED',
    )
    for (const option of [{ order: 'C' }, { shared: true }, { dynamism: 'static' }]) {
      refuses(() => rand([2, 3], { out, generator, ...option }), 'ERR_ARGUMENT')
    }
    assert.equal(generator.offset, 0n)
  })

  it('refuse dtypes without such numbers, bounds in disorder, and other mistakes; nothing is drawn or left', () => {
    const generator = new Generator(1)
    makesNothing(() => {
      for (const dtype of ['int32', 'bool', 'complex64', 'float8_e5m2']) {
        fails(() => rand([2], { dtype, generator }), TypeError, 'ERR_DTYPE')
        fails(() => randn([2], { dtype, generator }), TypeError, 'ERR_DTYPE')
      }
      fails(() => randint(0, 2, [2], { dtype: 'float32', generator }), TypeError, 'ERR_DTYPE')
      fails(() => randint(5, 5, [2], { generator }), RangeError, 'ERR_BOUNDS', /below/)
      fails(() => randint(0, 257, [2], { dtype: 'uint8', generator }), TypeError, 'ERR_CAST')
      fails(() => randint(-1, 2, [2], { dtype: 'uint8', generator }), TypeError, 'ERR_CAST')
      for (const bad of [0.5, NaN, Infinity, 2 ** 53, '1', null, undefined, {}]) {
        fails(() => randint(bad, 10, [2]), TypeError, 'ERR_ARGUMENT', /low/)
        fails(() => randint(-10, bad, [2]), TypeError, 'ERR_ARGUMENT', /high/)
        fails(() => new Generator(bad), TypeError, 'ERR_ARGUMENT', /seed/)
      }
      fails(
        () => rand([2], { generator: { seed: 1n, offset: 0n } }),
        TypeError,
        'ERR_ARGUMENT',
        /generator/,
      )
      refuses(() => rand([-1], { generator }), 'ERR_SHAPE')
      refuses(() => rand('float32'), 'ERR_ARGUMENT')
      refuses(() => randint(0, 1n << 65n, [1]), 'ERR_BOUNDS')
      assert.equal(generator.offset, 0n)
    })
  })

  it('need no more memory than the tensor', function () {
    const kind = backend() === 'native' ? 'v8' : 'wasm'
    const before = memory().bytes[kind]
    const t = randn([1 << 18])
    const grown = memory().bytes[kind] - before
    assert.ok(grown >= 1 << 20 && grown < (1 << 20) + 65536, `${grown} bytes`)
    assert.equal(
      zeros([1])
        .copyFrom(t.narrow(0, 5, 1))
        .item(),
      t.get(5),
    )
  })
})
