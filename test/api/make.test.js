'use strict'
const assert = require('node:assert/strict')
const { backend, dtypes, empty, full, memory, ones, tensor, zeros } = require('samebytes')
const { fails, hex, refuses } = require('../setup')
const { SAMPLES } = require('../tables')

const zeroOf = (value) =>
  Array.isArray(value) ? [0, 0] : { number: 0, bigint: 0n, boolean: false }[typeof value]
const oneOf = (value) =>
  Array.isArray(value) ? [1, 0] : { number: 1, bigint: 1n, boolean: true }[typeof value]

describe('dtypes', () => {
  it('lists the seventeen dtypes', () => {
    assert.deepEqual([...dtypes].sort(), [
      'bfloat16',
      'bool',
      'complex128',
      'complex64',
      'float16',
      'float32',
      'float64',
      'float8_e4m3fn',
      'float8_e5m2',
      'int16',
      'int32',
      'int64',
      'int8',
      'uint16',
      'uint32',
      'uint64',
      'uint8',
    ])
  })

  it('cannot be changed by a caller for others', () => {
    try {
      dtypes.length = 0
    } catch {}
    assert.equal(require('samebytes').dtypes.length, 17)
    assert.equal(zeros([1], 'int8').dtype, 'int8')
  })
})

describe('empty', () => {
  for (const { dtype, itemsize, array } of SAMPLES) {
    it(`makes a writable row-major ${dtype} tensor with all its properties`, () => {
      const t = empty([2, 3], { dtype })
      assert.equal(t.dtype, dtype)
      assert.deepEqual([...t.shape], [2, 3])
      assert.deepEqual([...t.strides], [3, 1])
      assert.equal(t.ndim, 2)
      assert.equal(t.size, 6)
      assert.equal(t.numel, 6)
      assert.equal(t.itemsize, itemsize)
      assert.equal(t.nbytes, 6 * itemsize)
      assert.equal(t.device, 'cpu')
      assert.equal(t.isView, false)
      assert.equal(t.isReadOnly, false)
      assert.equal(t.isContiguous(), true)
      assert.equal(t.owner, undefined)
      assert.equal(t.base ?? null, null)
      assert.ok(t.data instanceof array)
      assert.equal(t.bytes.length, 6 * itemsize)
    })

    it(`starts every ${dtype} tensor at a multiple of 64 bytes`, () => {
      for (const shape of [[1], [3], [5, 7], [5000]]) {
        const t = empty(shape, { dtype })
        assert.equal(t.dataPtr % 64n, 0n)
        assert.ok(t.dataPtr > 0n)
      }
    })
  }

  it('makes float32 by default', () => {
    assert.equal(empty([1]).dtype, 'float32')
    assert.equal(empty(4).dtype, 'float32')
  })

  it('takes an integer as a shape of rank 1 and [] as rank 0', () => {
    assert.deepEqual([...empty(4).shape], [4])
    assert.deepEqual([...empty([]).shape], [])
    assert.equal(empty([]).size, 1)
  })

  it('makes float32 tensors without elements, whose address is 0', () => {
    for (const shape of [[0], [0, 3], [3, 0], [2, 0, 5]]) {
      const t = empty(shape)
      assert.deepEqual([...t.shape], shape)
      assert.equal(t.size, 0)
      assert.equal(t.nbytes, 0)
      assert.equal(t.data.length, 0)
      assert.equal(t.bytes.length, 0)
      assert.equal(t.dataPtr, 0n)
      assert.equal(t.isContiguous(), true)
    }
  })

  it('makes float32 tensors of rank 64, and not of 65', () => {
    const t = empty(new Array(64).fill(1))
    assert.equal(t.ndim, 64)
    assert.equal(t.size, 1)
    fails(() => empty(new Array(65).fill(1)), RangeError, 'ERR_SHAPE', /6[45]/)
  })

  it('refuses shapes whose size overflows or cannot be had', () => {
    fails(() => empty([2 ** 32, 2 ** 32]), RangeError, 'ERR_SHAPE')
    fails(() => empty([2 ** 31, 2 ** 31, 2]), RangeError, 'ERR_SHAPE')
    fails(() => empty([2 ** 52, 2 ** 11], 'int8'), RangeError, 'ERR_SHAPE')
    refuses(() => empty([2 ** 48]), 'ERR_MEMORY', 'ERR_SHAPE')
    refuses(() => empty([2 ** 48], { shared: true }), 'ERR_MEMORY', 'ERR_SHAPE')
  })

  it('refuses unknown dtypes', () => {
    const bad = [
      'float',
      'Float32',
      'f4',
      '',
      'constructor',
      '__proto__',
      'toString',
      'hasOwnProperty',
    ]
    for (const dtype of bad) fails(() => empty([1], { dtype }), TypeError, 'ERR_DTYPE')
    for (const dtype of bad) fails(() => empty([1], dtype), TypeError, 'ERR_DTYPE')
    for (const dtype of [7, {}, [], Symbol('s'), null, () => 'int8']) {
      refuses(() => empty([1], { dtype }), 'ERR_DTYPE', 'ERR_ARGUMENT')
    }
  })

  it('makes shared float32 memory whose writes are seen through data, both ways', () => {
    const t = empty([4], { shared: true })
    const { data } = t
    t.fill(2)
    assert.deepEqual([...t.data], [2, 2, 2, 2])
    t.data[3] = 7
    assert.equal(t.get(3), 7)
    if (backend() === 'native') assert.equal(data.buffer, t.data.buffer)
  })
})

describe('order', () => {
  it('F stores int16 axes from the first one on, with the data in logical order', () => {
    for (const make of [
      (o) => empty([2, 3, 4], o),
      (o) => zeros([2, 3, 4], o),
      (o) => ones([2, 3, 4], o),
      (o) => full([2, 3, 4], 7, o),
    ]) {
      const t = make({ dtype: 'int16', order: 'F' })
      assert.deepEqual([...t.strides], [1, 2, 6])
      assert.equal(t.nbytes, 48)
      assert.deepEqual([...make({ dtype: 'int16', order: 'C' }).strides], [12, 4, 1])
    }
    const t = tensor(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      { dtype: 'int16', order: 'F' },
    )
    assert.deepEqual(t.toArray(), [
      [1, 2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual([...t.T.data], [1, 4, 2, 5, 3, 6])
    assert.deepEqual(
      [...tensor(Int16Array.of(1, 2, 3, 4), [2, 2], { order: 'F' }).T.data],
      [1, 3, 2, 4],
    )
  })

  it('F of rank 0, of rank 1 and without elements is as C, for float32', () => {
    for (const shape of [[], [3], [0], [1, 1]]) {
      assert.deepEqual([...zeros(shape, { order: 'F' }).strides], [...zeros(shape).strides])
    }
    assert.equal(zeros([2, 0, 3], { order: 'F' }).size, 0)
  })

  it('F refuses what cannot be had, and other words are refused', () => {
    refuses(() => empty([2 ** 26, 2 ** 25], { order: 'F' }), 'ERR_MEMORY')
    refuses(
      () => empty([2 ** 26, 2 ** 30], { order: 'F' }),
      'ERR_MEMORY',
      'ERR_SHAPE',
      'ERR_BOUNDS',
    )
    for (const order of ['f', 'A', '', 0, null, true, ['F']]) {
      refuses(() => empty([2, 2], { order }), 'ERR_ARGUMENT')
    }
  })
})

describe('zeros, ones and full', () => {
  for (const { dtype, values } of SAMPLES) {
    it(`fill ${dtype} tensors`, () => {
      const zero = zeroOf(values[0])
      const one = oneOf(values[0])
      assert.deepEqual(zeros([2, 2], { dtype }).toArray(), [
        [zero, zero],
        [zero, zero],
      ])
      assert.deepEqual(ones([3], dtype).toArray(), [one, one, one])
      const t = full([2], values[3], { dtype })
      assert.equal(t.dtype, dtype)
      assert.deepEqual(t.toArray(), [values[3], values[3]])
    })
  }

  it('give zeros in reused memory too', () => {
    for (let round = 0; round < 200; round++) {
      const t = full([4, 4], 7)
      t.dispose()
      const z = zeros([4, 4])
      assert.equal(hex(z), '00'.repeat(64))
      z.dispose()
    }
  })

  it('make float32 for zeros and ones, and what the value is for full', () => {
    assert.equal(zeros([1]).dtype, 'float32')
    assert.equal(ones([1]).dtype, 'float32')
    assert.equal(full([1], 3).dtype, 'float32')
    assert.equal(full([1], 3n).dtype, 'int64')
    assert.equal(full([1], true).dtype, 'bool')
  })

  it('refuse values that do not fit, also without elements', () => {
    fails(() => full([2], 1.5, 'int32'), TypeError, 'ERR_CAST')
    fails(() => full([0], 300, 'uint8'), TypeError, 'ERR_CAST')
    fails(() => full([2], 1e39), TypeError, 'ERR_CAST')
    fails(() => full([2], 'x'), TypeError, 'ERR_ARGUMENT')
    fails(() => full([2]), TypeError, 'ERR_ARGUMENT')
  })

  it('copy nothing', () => {
    const before = memory().copied
    zeros([3])
    ones([3])
    full([3], 4)
    empty([3])
    assert.deepEqual(memory().copied, before)
  })
})

describe('properties', () => {
  it('cannot be changed by a caller, for float32 [2, 3]', () => {
    const t = zeros([2, 3])
    for (const name of ['shape', 'strides', 'dims']) {
      try {
        t[name][0] = 99
      } catch {}
      try {
        t[name].length = 0
      } catch {}
      try {
        t[name] = [1]
      } catch {}
    }
    for (const name of ['offset', 'dtype', 'size', 'nbytes', 'isReadOnly', 'data']) {
      try {
        t[name] = 1
      } catch {}
    }
    assert.deepEqual([...t.shape], [2, 3])
    assert.deepEqual([...t.strides], [3, 1])
    assert.equal(t.offset, 0)
    assert.equal(t.dtype, 'float32')
    assert.equal(t.size, 6)
    assert.equal(t.get(1, 2), 0)
  })

  it("count an int16 view's offset in elements and in bytes", () => {
    const t = zeros([4, 5], 'int16')
    const v = t.slice('1:', '2:')
    assert.equal(v.offset - t.offset, 7)
    assert.equal(v.byteOffset - t.byteOffset, 14)
    assert.equal(v.itemsize, 2)
    assert.equal(v.nbytes, 18)
  })

  it('are what onnxruntime asks for: dims, type and location on the prototype', () => {
    const t = zeros([2, 3], 'int64')
    assert.deepEqual([...t.dims], [2, 3])
    assert.equal(t.type, 'int64')
    assert.equal(t.location, 'cpu')
    for (const name of ['dims', 'type', 'location']) assert.equal(Object.hasOwn(t, name), false)
    assert.deepEqual(Object.keys(t), ['uncloneable']) // test/api/identity.test.js says why
  })

  for (const { dtype, array, values, bytes } of SAMPLES) {
    it(`data of ${dtype} is a ${array.name} over the elements`, () => {
      const { tensor } = require('samebytes')
      const t = tensor(values, [6], { dtype })
      const { data } = t
      assert.ok(data instanceof array)
      assert.equal(data.byteLength, t.nbytes)
      assert.equal(
        Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('hex'),
        bytes,
      )
      assert.ok(t.bytes instanceof Uint8Array)
      assert.equal(Buffer.from(t.bytes).toString('hex'), bytes)
      data.fill(data[1], 0, 1)
      assert.deepEqual(
        hex(t).slice(0, 2 * data.BYTES_PER_ELEMENT),
        bytes.slice(2 * data.BYTES_PER_ELEMENT, 4 * data.BYTES_PER_ELEMENT),
      )
    })
  }

  it('data of a float32 view covers that view and nothing else', () => {
    const { tensor } = require('samebytes')
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual([...t.select(0, 1).data], [4, 5, 6])
    assert.deepEqual([...t.slice('0:1', '1:').data], [2, 3])
    t.select(0, 1).data[0] = 40
    assert.equal(t.get(1, 0), 40)
    assert.equal(t.bytes.byteLength, 24)
  })

  it('data of a tensor that is not row-major names contiguous()', () => {
    const t = zeros([2, 3])
    for (const view of [t.T, t.slice('...', '::2'), t.slice('::-1')]) {
      assert.match(refuses(() => view.data).message, /contiguous\(\)/)
      assert.match(refuses(() => view.bytes).message, /contiguous\(\)/)
    }
  })
})
