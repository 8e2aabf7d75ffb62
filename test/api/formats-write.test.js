'use strict'
const assert = require('node:assert/strict')
const {
  dtypes,
  fromBytes,
  parseNpy,
  parseNpz,
  parseSafetensors,
  tensor,
  toNpyBytes,
  toNpzBytes,
  toSafetensorsBytes,
  zeros,
} = require('samebytes')
const { fails, hex } = require('../setup')

const SHAPES = [[], [1], [3], [64], [2, 3], [0, 4], [3, 1, 2, 5]]

/** A tensor whose bytes all differ, as far as they can. */
function filled(dtype, shape, from = 0) {
  const t = zeros(shape, { dtype })
  const bytes = new Uint8Array(t.nbytes).map((_, i) =>
    dtype === 'bool' ? (i + from) & 1 : (i * 7 + from) & 127,
  )
  return fromBytes(bytes, shape, { dtype })
}

const same = (a, b) => assert.deepEqual([a.dtype, a.shape, hex(a)], [b.dtype, b.shape, hex(b)])

describe('writing formats', function () {
  for (const dtype of dtypes) {
    it(`${dtype} goes through each format and comes back bit for bit, at multiples of its size`, () => {
      const all = Object.fromEntries(
        SHAPES.map((shape, i) => [`é ${shape.join('x')}`, filled(dtype, shape, i)]),
      )
      for (const t of Object.values(all)) same(parseNpy(toNpyBytes(t), dtype), t)
      const named = dtype.startsWith('bfloat') || dtype.startsWith('float8') ? {} : all // NumPy has none: their dtype must be told
      const npz = parseNpz(toNpzBytes(named))
      assert.deepEqual([...npz.keys()], Object.keys(named))
      for (const [name, t] of npz) same(t, named[name])
      if (dtype === 'complex128') {
        return fails(() => toSafetensorsBytes(all), TypeError, 'ERR_DTYPE', /complex128/)
      }
      const bytes = toSafetensorsBytes(new Map(Object.entries(all)), {
        metadata: { a: '"é"', __proto__0: '' },
      })
      const file = parseSafetensors(bytes)
      assert.deepEqual(file.metadata, { a: '"é"', __proto__0: '' })
      assert.deepEqual([...file.keys()].sort(), Object.keys(all).sort())
      for (const [name, t] of file) {
        same(t, all[name])
        const { byteOffset, nbytes } = file.info(name)
        assert.equal(byteOffset % (nbytes % 64 === 0 ? 64 : t.itemsize), 0)
      }
    })
  }

  it('reads what a tensor is from the tensor, whatever its own properties say', () => {
    for (const [name, ...lies] of [
      ['nbytes', 8, 80],
      ['nbytes', 8, -1],
      ['nbytes', 1e15],
      ['shape', [3]],
      ['shape', null],
      ['dtype', 'complex128'],
      ['dtype', 'x'],
    ]) {
      const t = tensor([1, 2])
      Object.defineProperty(t, name, { get: () => (lies.length > 1 ? lies.shift() : lies[0]) })
      const lists = [
        parseNpy(toNpyBytes(t)),
        parseNpz(toNpzBytes({ t })).get('t'),
        parseSafetensors(toSafetensorsBytes({ t })).get('t'),
      ].map((t) => t.toArray())
      assert.deepEqual(
        lists,
        [
          [1, 2],
          [1, 2],
          [1, 2],
        ],
        name,
      )
    }
  })

  it('metadata is written as it is, whatever Object.prototype has', () => {
    const metadata = { z: '1', 2: 'é', 1: '', __proto__0: '"' }
    // eslint-disable-next-line no-extend-native
    Object.defineProperty(Object.prototype, 'toJSON', { value: () => 5, configurable: true })
    let bytes
    try {
      bytes = toSafetensorsBytes({ t: zeros([1]) }, { metadata })
    } finally {
      delete Object.prototype.toJSON
    }
    assert.deepEqual(parseSafetensors(bytes).metadata, metadata)
  })

  it('takes no more tensors and metadata than are read: a million, also where there is no end', () => {
    const t = zeros([1])
    function* endless() {
      for (let i = 0; ; i++) yield [`${i}`, t]
    }
    fails(
      () => toNpzBytes(endless()),
      Error,
      'ERR_UNSUPPORTED',
      /^tensors has 1000001 entries or more; at most 1000000 would be read$/,
    )
    fails(() => toSafetensorsBytes(endless()), Error, 'ERR_UNSUPPORTED', /^tensors has 1000001/)
    const metadata = Object.fromEntries(Array.from({ length: 1000001 }, (_, i) => [`${i}`, '']))
    fails(
      () => toSafetensorsBytes({ t }, { metadata }),
      Error,
      'ERR_UNSUPPORTED',
      /^metadata has 1000001 entries or more; at most 1000000 would be read$/,
    )
    delete metadata[7]
    assert.equal(
      Object.keys(parseSafetensors(toSafetensorsBytes({ t }, { metadata })).metadata).length,
      1000000,
    )
  })

  it('a .npy has 128 bytes before its data, in version 1', () => {
    const bytes = toNpyBytes(zeros([2, 3]))
    assert.deepEqual([bytes.length, bytes[6], bytes[127]], [152, 1, 10])
    assert.equal(parseNpy(toNpyBytes(zeros(Array(64).fill(1)))).ndim, 64)
  })

  it('Fortran order is kept, other layouts are made row-major', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual(
      [parseNpy(toNpyBytes(t.T)).strides, parseNpy(toNpyBytes(t.T)).toArray()],
      [[1, 3], t.T.toArray()],
    )
    assert.deepEqual(parseNpy(toNpyBytes(t.flip(1))).toArray(), [
      [3, 2, 1],
      [6, 5, 4],
    ])
    assert.deepEqual(
      parseSafetensors(toSafetensorsBytes({ t: t.T }))
        .get('t')
        .toArray(),
      t.T.toArray(),
    )
    assert.deepEqual(
      parseNpz(toNpzBytes({ t: t.T }))
        .get('t')
        .toArray(),
      t.T.toArray(),
    )
  })

  it('names that a zip cannot hold are refused', () => {
    const longest = 'x'.repeat(65531)
    assert.deepEqual([...parseNpz(toNpzBytes({ [longest]: zeros([1]) })).keys()], [longest])
    for (const name of [`${longest}x`, 'é'.repeat(32766), 'a\0b']) {
      fails(() => toNpzBytes({ [name]: zeros([1]) }), TypeError, 'ERR_ARGUMENT')
    }
  })

  it('half a surrogate pair in metadata is refused: nobody could read it', () => {
    for (const metadata of [{ key: '\ud800' }, { '\udc00': 'value' }]) {
      fails(() => toSafetensorsBytes({ a: zeros([1]) }, { metadata }), TypeError, 'ERR_ARGUMENT')
    }
    const metadata = { '💥': '日本' }
    assert.deepEqual(
      parseSafetensors(toSafetensorsBytes({ a: zeros([1]) }, { metadata })).metadata,
      metadata,
    )
  })

  it('arrays of an .npz are at multiples of 64', () => {
    const file = parseNpz(
      toNpzBytes({
        a: zeros([1]),
        'a longer name': zeros([3]),
        b: zeros([2], 'uint8'),
        c: zeros([0]),
      }),
    )
    for (const [name, t] of file) if (t.size > 0) assert.equal(t.data.byteOffset % 64, 0, name)
  })

  it('raw bytes in an .npz are what dtype says; arrays that have a dtype keep it', () => {
    const bytes = toNpzBytes({ half: tensor([1, 2], 'bfloat16'), plain: tensor([3], 'int32') })
    for (const opts of ['bfloat16', { dtype: 'bfloat16' }]) {
      const file = parseNpz(bytes, opts)
      assert.deepEqual(
        [...file].map(([, t]) => [t.dtype, t.toArray()]),
        [
          ['bfloat16', [1, 2]],
          ['int32', [3]],
        ],
      )
      assert.equal(file.info('half').dtype, 'bfloat16')
    }
    // What there is can be asked without saying it.
    const info = parseNpz(bytes).info('half')
    assert.deepEqual(
      [info.dtype, info.type, info.fileShape, info.block],
      ['uint8', '<V2', [2], { elements: 1, bytes: 2 }],
    )
    assert.equal(parseNpz(bytes).info('plain').type, '<i4')
    fails(() => parseNpz(bytes).get('half'), TypeError, 'ERR_DTYPE')
    fails(() => parseNpz(bytes, 'float8_e5m2').get('half'), TypeError, 'ERR_DTYPE')
    fails(() => parseNpz(bytes, 'half'), TypeError, 'ERR_DTYPE')
  })

  it('takes records, Maps, entries and file objects; refuses what a file cannot name', () => {
    const t = tensor([1, 2])
    const file = parseSafetensors(toSafetensorsBytes([['a', t]]))
    assert.deepEqual(parseNpz(toNpzBytes(file)).get('a').toArray(), [1, 2])
    fails(() => toSafetensorsBytes({ __metadata__: t }), TypeError, 'ERR_ARGUMENT', /__metadata__/)
    assert.deepEqual([...parseNpz(toNpzBytes(t)).keys()], ['arr_0']) // as NumPy's savez names it
    assert.deepEqual(parseNpz(toNpzBytes(t)).get('arr_0').toArray(), [1, 2])
    fails(
      () => toSafetensorsBytes(t),
      TypeError,
      'ERR_ARGUMENT',
      /^tensors is a tensor of float32 and shape \[2\]; tensors by name were expected: a record such as \{ weight: t \}/,
    )
    fails(
      () => toNpzBytes([t]),
      TypeError,
      'ERR_ARGUMENT',
      /^an entry of tensors is a tensor of float32 and shape \[2\]; \[name, tensor\] was expected$/,
    )
    assert.equal(parseNpz(toNpzBytes({})).size, 0)
    assert.equal(parseSafetensors(toSafetensorsBytes({})).size, 0)
  })
})
