'use strict'
const assert = require('node:assert/strict')
const path = require('node:path')
const { execFileSync } = require('node:child_process')
const { dtypes, promoteTypes } = require('samebytes')
const { ROOT, fails, refuses, skipWithout } = require('../setup')
const { PYTHON } = require('../tools')

// Rows and columns: the array API's lattice with the other floats and the mixed kinds that it leaves open.
const NAMES = ['bool', 'uint8', 'int8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64']
const INTEGERS = [
  ['bool', 'uint8', 'int8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64'],
  ['uint8', 'uint8', 'int16', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64'],
  ['int8', 'int16', 'int8', 'int16', 'int32', 'int32', 'int64', 'int64', 'float64'],
  ['int16', 'int16', 'int16', 'int16', 'int32', 'int32', 'int64', 'int64', 'float64'],
  ['uint16', 'uint16', 'int32', 'int32', 'uint16', 'int32', 'uint32', 'int64', 'uint64'],
  ['int32', 'int32', 'int32', 'int32', 'int32', 'int32', 'int64', 'int64', 'float64'],
  ['uint32', 'uint32', 'int64', 'int64', 'uint32', 'int64', 'uint32', 'int64', 'uint64'],
  ['int64', 'int64', 'int64', 'int64', 'int64', 'int64', 'int64', 'int64', 'float64'],
  ['uint64', 'uint64', 'float64', 'float64', 'uint64', 'float64', 'uint64', 'float64', 'uint64'],
]
const FLOATS = [
  'float16',
  'bfloat16',
  'float32',
  'float64',
  'complex64',
  'complex128',
  'float8_e4m3fn',
  'float8_e5m2',
]
const FLOATING = [
  ['float16', 'float32', 'float32', 'float64', 'complex64', 'complex128', 'float16', 'float16'],
  ['float32', 'bfloat16', 'float32', 'float64', 'complex64', 'complex128', 'bfloat16', 'bfloat16'],
  ['float32', 'float32', 'float32', 'float64', 'complex64', 'complex128', 'float32', 'float32'],
  ['float64', 'float64', 'float64', 'float64', 'complex128', 'complex128', 'float64', 'float64'],
  [
    'complex64',
    'complex64',
    'complex64',
    'complex128',
    'complex64',
    'complex128',
    'complex64',
    'complex64',
  ],
  [
    'complex128',
    'complex128',
    'complex128',
    'complex128',
    'complex128',
    'complex128',
    'complex128',
    'complex128',
  ],
  [
    'float16',
    'bfloat16',
    'float32',
    'float64',
    'complex64',
    'complex128',
    'float8_e4m3fn',
    'float16',
  ],
  [
    'float16',
    'bfloat16',
    'float32',
    'float64',
    'complex64',
    'complex128',
    'float16',
    'float8_e5m2',
  ],
]

describe('promoteTypes', () => {
  it('knows every dtype', () => {
    assert.deepEqual([...NAMES, ...FLOATS].sort(), [...dtypes].sort())
  })

  NAMES.forEach((a, i) =>
    it(`of ${a} and each integer or bool`, () => {
      assert.deepEqual(
        NAMES.map((b) => promoteTypes(a, b)),
        INTEGERS[i],
      )
    }),
  )

  FLOATS.forEach((a, i) =>
    it(`of ${a} and each float or complex`, () => {
      assert.deepEqual(
        FLOATS.map((b) => promoteTypes(a, b)),
        FLOATING[i],
      )
    }),
  )

  it('of an integer or bool and a float or complex is the latter, on either side', () => {
    for (const a of NAMES) {
      for (const b of FLOATS) assert.deepEqual([promoteTypes(a, b), promoteTypes(b, a)], [b, b])
    }
  })

  it('agrees with NumPy within a kind', function () {
    skipWithout(this, 'NumPy')
    const known = dtypes.filter((name) => !/^bfloat|^float8/.test(name))
    const expected = JSON.parse(
      execFileSync(PYTHON, [path.join(ROOT, 'test', 'python', 'promote_types.py'), ...known], {
        encoding: 'utf8',
      }),
    )
    for (const [i, a] of known.entries()) {
      for (const [j, b] of known.entries()) {
        if (expected[i][j] !== null) {
          assert.equal(promoteTypes(a, b), expected[i][j], `${a} with ${b}`)
        }
      }
    }
  })

  it('refuses what is no dtype', () => {
    fails(() => promoteTypes('float32', 'f32'), TypeError, 'ERR_DTYPE', /"f32"/)
    refuses(() => promoteTypes('nope', 'float32'), 'ERR_DTYPE')
    refuses(() => promoteTypes('float32'), 'ERR_DTYPE')
  })
})
