'use strict'
// Where there is no addon; test/native has the tests of what it does.
const assert = require('node:assert/strict')
const { SharedTensor } = require('samebytes')
const { can, isWasm, refuses } = require('../setup')

describe('SharedTensor', () => {
  it('is made by its functions, which need the addon', () => {
    assert.throws(() => new SharedTensor(), { code: 'ERR_ARGUMENT' })
    const calls = [
      () => SharedTensor.create(null, [1]),
      () => SharedTensor.open('sb-test-none'),
      () => SharedTensor.unlink('sb-test-none'),
      () => SharedTensor.list(),
      () => SharedTensor.sweep(),
    ]
    if (isWasm || !can('shared memory with a name')) {
      for (const call of calls) refuses(call, 'ERR_UNSUPPORTED')
    } else assert.ok(Array.isArray(calls[3]()))
  })
})
