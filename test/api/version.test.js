'use strict'
const assert = require('node:assert/strict')
const { backend } = require('../../js/ffi')
const { version } = require('../../js/version')

describe('the version', () => {
  it('is one in package.json, in JavaScript and in C', () => {
    assert.equal(version, require('samebytes/package.json').version)
    assert.equal(backend.tables.version, version)
  })
})
