'use strict'
const assert = require('node:assert/strict')
const { dtypes, empty, fromBlob, tensor, zeros } = require('samebytes')
const { fails, hex, refuses } = require('../setup')
const { SAMPLES } = require('../tables')

const SHORT = ['float16', 'bfloat16', 'float8_e4m3fn', 'float8_e5m2']

describe('elements', () => {
  it('are tested on every dtype', () => {
    assert.deepEqual(SAMPLES.map(({ dtype }) => dtype).sort(), [...dtypes].sort())
  })

  for (const { dtype, values } of SAMPLES) {
    it(`of ${dtype} come out of item, at, iteration, toArray and tolist as out of get`, () => {
      const t = tensor(values, [2, 3], dtype)
      const nested = [values.slice(0, 3), values.slice(3)]
      assert.deepEqual(t.toArray(), nested)
      assert.deepEqual(
        t.T.tolist(),
        [0, 1, 2].map((i) => [values[i], values[i + 3]]),
      )
      assert.deepEqual(
        [...t].map((row) => [...row]),
        nested,
      )
      assert.deepEqual([...t.slice('::-1', 1)], [values[4], values[1]])
      assert.deepEqual(
        Array.from(t.rows(), (row) => [row.base === t, row.toArray()]),
        nested.map((row) => [true, row]),
      )
      assert.deepEqual(
        Array.from(t.slice('::-1', 1).rows(), (row) => [row.shape, row.dtype, row.item()]),
        [
          [[], dtype, values[4]],
          [[], dtype, values[1]],
        ],
      )
      assert.deepEqual(
        values.map((_, i) => t.at(Math.floor(i / 3), i % 3)),
        values,
      )
      assert.deepEqual(t.at(-1).toArray(), nested[1])
      assert.equal(t.at().base, t)
      assert.deepEqual(
        values.map((_, i) => t.reshape(6).select(0, i).item()),
        values,
      )
      assert.deepEqual(t.slice('1:', '2:').item(), values[5])
      assert.deepEqual(t.select(0, 0).select(0, 1).toArray(), values[1])
      assert.deepEqual(zeros([0, 3], dtype).toArray(), [])
      assert.deepEqual(zeros([2, 0], dtype).toArray(), [[], []])
    })

    it(`of ${dtype} are filled, one by one and all at once, in views too`, () => {
      for (const value of values) {
        const t = zeros([2, 3], dtype)
        const one = zeros([2, 3], dtype)
        for (let i = 0; i < 6; i++) one.set(value, Math.floor(i / 3), i % 3)
        assert.equal(t.fill(value), t)
        assert.equal(hex(t), hex(one))
        const strided = zeros([3, 4], dtype)
        strided.T.slice('1:3', '::2').fill(value)
        assert.deepEqual(strided.get(2, 2), value)
        assert.deepEqual(strided.toArray()[1], zeros([4], dtype).toArray())
        assert.equal(hex(t.zero()), hex(zeros([2, 3], dtype)))
      }
    })

    it(`of ${dtype} lie in shared memory, too`, () => {
      const t = empty([6], { dtype, shared: true })
      values.forEach((value, i) => t.set(value, i))
      assert.deepEqual(
        values.map((_, i) => t.get(i)),
        values,
      )
      assert.deepEqual(t.toArray(), values)
      assert.equal(hex(t), hex(tensor(values, dtype)))
      assert.deepEqual([...t], values)
    })
  }

  for (const dtype of SHORT) {
    it(`of all bits of ${dtype} read as what their cast to float32 gives`, () => {
      const wide = dtype.startsWith('float8')
      const bits = (wide ? Uint8Array : Uint16Array).from(
        { length: wide ? 256 : 65536 },
        (_, i) => i,
      )
      const t = fromBlob(bits.buffer, { dtype })
      const expected = [...t.astype('float32').data]
      assert.deepEqual(t.toArray(), expected)
      for (let i = 0; i < bits.length; i += 7) assert.ok(Object.is(t.get(i), expected[i]))
      assert.deepEqual([...t.slice(`${bits.length - 100}:`)], expected.slice(-100))
    })
  }

  it('that are NaN have one pattern of bits, whatever calculation they come from', () => {
    const bits = new BigUint64Array([0xfff8000000000001n, 0x7ff8000000000123n])
    const odd = new Float64Array(bits.buffer)
    for (const [dtype, expected] of [
      ['float32', '0000c07f'],
      ['float64', '000000000000f87f'],
      ['float16', '007e'],
      ['bfloat16', 'c07f'],
    ]) {
      for (const value of [...odd, odd[0], -odd[1], Math.sqrt(-1), Infinity - Infinity]) {
        const t = zeros([1], dtype)
        t.set(value, 0)
        assert.equal(hex(t), expected)
        t.zero()
        t.accessor().set(value, 0)
        assert.equal(hex(t), expected)
      }
    }
  })

  it('of float32 are written through rows, of which there are none on an axis without elements', () => {
    const t = zeros([2, 2])
    for (const [i, row] of [...t.rows()].entries()) row.fill(i + 1)
    for (const x of t.select(1, 0).rows()) x.fill(7)
    assert.deepEqual(t.toArray(), [
      [7, 1],
      [7, 2],
    ])
    assert.deepEqual([...zeros([0, 3]).rows()], [])
    const rows = t.rows()
    t.dispose()
    refuses(() => rows.next(), 'ERR_DISPOSED')
  })

  it('of float32 are refused by item() where there are none or several, and by iteration where there are no axes', () => {
    fails(() => zeros([2]).item(), RangeError, 'ERR_SHAPE', /2 elements/)
    refuses(() => zeros([0]).item(), 'ERR_SHAPE')
    refuses(() => [...tensor(1)], 'ERR_SHAPE')
    refuses(() => [...tensor(1).rows()], 'ERR_SHAPE')
    refuses(() => zeros([2]).at(0, 0), 'ERR_SHAPE')
    refuses(() => zeros([2]).at(2), 'ERR_BOUNDS')
    refuses(() => zeros([2, 2]).at('0'), 'ERR_ARGUMENT')
  })
})
