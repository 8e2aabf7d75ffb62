'use strict'
// Arrays of NumPy's and tensors of PyTorch's that may be written to, over the C library's bytes: test/python/dlpack.py.
const assert = require('node:assert/strict')
const { nativeOnly, skipWithout } = require('../setup')
const { resultsOf } = require('../python-process')

const TITLES = [
  'is a writable array over the same bytes, of every dtype that NumPy has',
  'reads and writes views, also those that walk back',
  'keeps the tensor alive, through torch.from_numpy as well',
  'of a read-only tensor is a read-only array',
  'is not there where NumPy has no such dtype',
]

describe('__array_interface__ of a tensor of libsamebytes', function () {
  nativeOnly()
  let results = {}

  before(async function () {
    skipWithout(this, 'NumPy')
    skipWithout(this, 'PyTorch')
    results = await resultsOf('interface')
  })

  for (const title of TITLES) {
    it(title, () => assert.equal(results[title], null))
  }

  it('has no other case', () => assert.deepEqual(Object.keys(results).sort(), [...TITLES].sort()))
})
