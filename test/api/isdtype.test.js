'use strict'
const assert = require('node:assert/strict')
const { canCast, dtypes, isdtype, zeros } = require('samebytes')
const { fails, refuses } = require('../setup')

const KINDS = {
  bool: ['bool'],
  'signed integer': ['int8', 'int16', 'int32', 'int64'],
  'unsigned integer': ['uint8', 'uint16', 'uint32', 'uint64'],
  'real floating': ['float16', 'bfloat16', 'float32', 'float64', 'float8_e4m3fn', 'float8_e5m2'],
  'complex floating': ['complex64', 'complex128'],
}
KINDS.integral = [...KINDS['signed integer'], ...KINDS['unsigned integer']]
KINDS.numeric = [...KINDS.integral, ...KINDS['real floating'], ...KINDS['complex floating']]

describe('isdtype', () => {
  for (const [kind, members] of Object.entries(KINDS)) {
    it(`knows the dtypes that are ${kind}`, () => {
      assert.deepEqual(dtypes.filter((dtype) => isdtype(dtype, kind)).sort(), [...members].sort())
    })
  }

  it('compares with dtypes, and with each of a list', () => {
    for (const a of dtypes) for (const b of dtypes) assert.equal(isdtype(a, b), a === b)
    assert.equal(isdtype('int8', ['bool', 'real floating', 'int8']), true)
    assert.equal(isdtype('int16', ['bool', 'real floating', 'int8']), false)
    assert.equal(isdtype('int16', []), false)
  })

  it('refuses what is no dtype, and what is no kind, wherever it stands', () => {
    fails(() => isdtype('integral', 'integral'), TypeError, 'ERR_DTYPE', /dtype is "integral"/)
    fails(
      () => isdtype('int8', 'integer'),
      TypeError,
      'ERR_ARGUMENT',
      /kind is "integer"; a dtype or one of bool, signed integer/,
    )
    fails(() => isdtype('int8', ['int8', 'integer']), TypeError, 'ERR_ARGUMENT')
    for (const kind of [
      undefined,
      null,
      1,
      {},
      'constructor',
      '__proto__',
      [['int8']],
      Symbol('s'),
    ]) {
      refuses(() => isdtype('int8', kind), 'ERR_ARGUMENT')
    }
  })
})

describe('canCast of a tensor', () => {
  it('is that of its dtype, whatever its values', () => {
    const t = zeros([2], 'float64')
    for (const to of dtypes) {
      for (const casting of ['safe', 'same_kind', 'unsafe']) {
        assert.equal(canCast(t, to, casting), canCast('float64', to, casting))
      }
    }
    assert.equal(canCast(t, 'float32'), true)
    t.dispose()
    fails(() => canCast(t, 'float32'), Error, 'ERR_DISPOSED')
    fails(() => canCast('int8', zeros([1])), TypeError, 'ERR_DTYPE')
  })
})
