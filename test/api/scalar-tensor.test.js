'use strict'
const assert = require('node:assert/strict')
const { scalarTensor } = require('samebytes')
const { fails, makesNothing, refuses } = require('../setup')
const { SAMPLES } = require('../tables')

describe('scalarTensor', () => {
  it('has no axes, and the dtype that the value has', () => {
    for (const [value, dtype] of [
      [3, 'float32'],
      [0.5, 'float32'],
      [3n, 'int64'],
      [true, 'bool'],
      [[1, 2], 'complex64'],
    ]) {
      const t = scalarTensor(value)
      assert.deepEqual([t.shape, t.dtype, t.item()], [[], dtype, value])
    }
  })

  for (const { dtype, values } of SAMPLES) {
    it(`holds every ${dtype} value`, () => {
      for (const value of values) assert.deepEqual(scalarTensor(value, dtype).item(), value)
    })
  }

  it('goes where it is asked to', () => {
    assert.equal(scalarTensor(1, { dynamism: 'static' }).dynamism, 'static')
    assert.ok(scalarTensor(1, { shared: true }).isShared)
    assert.equal(scalarTensor(1, { order: 'F' }).item(), 1)
  })

  it('refuses values that do not fit, and what is none; nothing is left', () => {
    makesNothing(() => {
      fails(() => scalarTensor(1.5, 'int32'), TypeError, 'ERR_CAST')
      fails(() => scalarTensor([1, 2], 'float32'), TypeError, 'ERR_CAST')
      for (const bad of [undefined, null, 'x', {}, [1], [1, 2, 3]]) {
        fails(() => scalarTensor(bad), TypeError, 'ERR_ARGUMENT')
      }
      refuses(() => scalarTensor(1, 'int'), 'ERR_DTYPE')
    })
  })
})
