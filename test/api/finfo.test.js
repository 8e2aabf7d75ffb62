'use strict'
const assert = require('node:assert/strict')
const path = require('node:path')
const { execFileSync } = require('node:child_process')
const { dtypes, fromBlob, finfo, iinfo, tensor, zeros } = require('samebytes')
const { ROOT, fails, refuses, skipWithout } = require('../setup')
const { PYTHON } = require('../tools')

// From NumPy; bfloat16 and float8 from ml_dtypes and the OCP specification of float8.
const FLOATS = {
  float16: { bits: 16, eps: 0.0009765625, max: 65504, smallestNormal: 0.00006103515625 },
  bfloat16: {
    bits: 16,
    eps: 0.0078125,
    max: 3.3895313892515355e38,
    smallestNormal: 1.1754943508222875e-38,
  },
  float32: {
    bits: 32,
    eps: 1.1920928955078125e-7,
    max: 3.4028234663852886e38,
    smallestNormal: 1.1754943508222875e-38,
  },
  float64: {
    bits: 64,
    eps: Number.EPSILON,
    max: Number.MAX_VALUE,
    smallestNormal: 2.2250738585072014e-308,
  },
  float8_e4m3fn: { bits: 8, eps: 0.125, max: 448, smallestNormal: 0.015625 },
  float8_e5m2: { bits: 8, eps: 0.25, max: 57344, smallestNormal: 0.00006103515625 },
}
const INTEGERS = {
  uint8: [8, 0, 255],
  int8: [8, -128, 127],
  int16: [16, -32768, 32767],
  uint16: [16, 0, 65535],
  int32: [32, -2147483648, 2147483647],
  uint32: [32, 0, 4294967295],
  int64: [64, -9223372036854775808n, 9223372036854775807n],
  uint64: [64, 0n, 18446744073709551615n],
}

describe('finfo', () => {
  for (const [dtype, expected] of Object.entries(FLOATS)) {
    it(`of ${dtype}`, () => {
      assert.deepEqual(finfo(dtype), { ...expected, min: -expected.max, dtype })
      assert.deepEqual(finfo(zeros([1], dtype)), finfo(dtype))
    })

    it(`gives numbers that ${dtype} holds, and nothing beyond them`, () => {
      const { max, min, eps, smallestNormal } = finfo(dtype)
      const values = [max, min, 1 + eps, smallestNormal]
      assert.deepEqual(tensor(values, dtype).toArray(), values)
      assert.equal(tensor(1 + eps / 2, dtype).item(), 1)
      if (dtype !== 'float64') refuses(() => tensor(max * (1 + eps), dtype), 'ERR_CAST')
    })
  }

  it('of complex64 and complex128 is that of their parts', () => {
    assert.deepEqual(finfo('complex64'), finfo('float32'))
    assert.deepEqual(finfo('complex128'), finfo('float64'))
  })

  it("is NumPy's", function () {
    skipWithout(this, 'NumPy')
    const names = ['float16', 'float32', 'float64', 'complex64', 'complex128']
    const expected = JSON.parse(
      execFileSync(PYTHON, [path.join(ROOT, 'test', 'python', 'finfo.py'), ...names], {
        encoding: 'utf8',
      }),
    )
    assert.deepEqual(
      names.map((name) => {
        const { bits, eps, max, min, smallestNormal, dtype } = finfo(name)
        return [bits, eps, max, min, smallestNormal, dtype]
      }),
      expected,
    )
  })

  it('refuses what is not floating', () => {
    for (const dtype of ['bool', ...Object.keys(INTEGERS)]) {
      fails(() => finfo(dtype), TypeError, 'ERR_DTYPE', /iinfo/)
    }
    refuses(() => finfo('f32'), 'ERR_DTYPE')
    refuses(() => finfo(), 'ERR_DTYPE')
  })
})

describe('iinfo', () => {
  for (const [dtype, [bits, min, max]] of Object.entries(INTEGERS)) {
    it(`of ${dtype}`, () => {
      assert.deepEqual(iinfo(dtype), { bits, min, max, dtype })
      assert.deepEqual(iinfo(fromBlob(new ArrayBuffer(8), dtype)), iinfo(dtype))
      assert.deepEqual(tensor([min, max], dtype).toArray(), [min, max])
    })
  }

  it('refuses what is no integer', () => {
    for (const dtype of dtypes.filter((name) => !(name in INTEGERS))) {
      fails(() => iinfo(dtype), TypeError, 'ERR_DTYPE', /"/)
    }
    refuses(() => iinfo(), 'ERR_DTYPE')
  })
})
