'use strict'
const assert = require('node:assert/strict')
const { PROGRAM, program } = require('../program')

describe('a long random program of copies, casts, scales, fills and random numbers', function () {
  it('has the same checksum on every back end', () => {
    // test/native/levels.test.js has the same for every instruction set and number of threads
    assert.equal(program(4000), PROGRAM)
  })
})
