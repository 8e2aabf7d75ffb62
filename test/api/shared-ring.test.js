'use strict'
// Where there is no addon; test/native has the tests of what it does.
const assert = require('node:assert/strict')
const { SharedRing } = require('samebytes')
const { can, isWasm, refuses } = require('../setup')

describe('SharedRing', () => {
  it('is made by its functions, which need the addon', () => {
    assert.throws(() => new SharedRing(), { code: 'ERR_ARGUMENT' })
    const calls = [
      () => SharedRing.create('sb-test-none', [1], { slots: 2, ifExists: 'no' }),
      () => SharedRing.open('sb-test-none'),
      () => SharedRing.unlink('sb-test-none'),
    ]
    const isHere = !isWasm && can('shared memory with a name')
    const codes = !isHere ? ['ERR_UNSUPPORTED', 'ERR_ARGUMENT'] : ['ERR_NOT_FOUND', 'ERR_ARGUMENT']
    for (const call of calls) refuses(call, ...codes)
    if (!isHere) {
      refuses(() => SharedRing.create('sb-test-none', [1], { slots: 2 }), 'ERR_UNSUPPORTED')
    }
  })
})
