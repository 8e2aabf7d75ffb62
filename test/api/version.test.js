'use strict'
const assert = require('node:assert/strict')
const { skipWithout } = require('../setup')

describe('the version', () => {
  it('is one in package.json, in JavaScript and in C', function () {
    skipWithout(this, 'the package\'s sources')
    const { backend } = require('../../js/ffi')
    const { version } = require('../../js/version')
    assert.equal(version, require('samebytes/package.json').version)
    assert.equal(backend.tables.version, version)
  })
})
