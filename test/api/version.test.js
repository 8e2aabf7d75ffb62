'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { skipWithout } = require('../setup')

describe('the version', () => {
  it('is one in package.json, in JavaScript, in C and in Python', function () {
    skipWithout(this, "the package's sources")
    const { backend } = require('../../js/backend/calls')
    const { version } = require('../../js/base/version')
    assert.equal(version, require('samebytes/package.json').version)
    assert.equal(backend.tables.version, version)
    const python = fs.readFileSync(
      path.join(__dirname, '..', '..', 'python', 'samebytes', '__init__.py'),
      'utf8',
    )
    assert.equal(/^__version__ = '(.*)'$/m.exec(python)[1], version)
  })
})
