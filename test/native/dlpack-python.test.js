'use strict'
// The C library in a Python, with NumPy and PyTorch as they are. What each title means stands in test/python/dlpack.py.
const assert = require('node:assert/strict')
const { nativeOnly, skipWithout } = require('../setup')
const { resultsOf } = require('../python-process')

const BOTH = [
  'takes every dtype that it knows, over the same bytes',
  'reads strided views, and sees what C writes',
  'holds the bytes until its last array is gone; the deleter runs once',
  'frees on another thread',
  'leaves a capsule that nobody used to its destructor',
  'takes tensors without elements and without axes, and holds nothing of the former',
  'is refused what it would read wrongly',
  'refuses dtypes that it lacks, and the deleter runs once',
  'gives every dtype that it exports, over the same bytes',
  'gives views with any strides',
  'is kept alive by what it gave, and let go of',
  'gives what is empty, and what has no axes',
  'gives a capsule that can be used once',
  'refuses what cannot be shared',
  'goes there and back over one block, 20,000 times',
]
const TORCH = [
  ...BOTH,
  'writes what C sees',
  "NumPy and PyTorch are two more views of one block of C's",
]

for (const [module, name, titles] of [
  ['numpy', 'NumPy', BOTH],
  ['torch', 'PyTorch', TORCH],
]) {
  describe(`${name}, with libsamebytes by DLPack,`, function () {
    nativeOnly()
    let results = {}

    before(async function () {
      skipWithout(this, 'NumPy')
      if (module === 'torch') skipWithout(this, 'PyTorch')
      results = await resultsOf(module)
    })

    for (const title of titles) {
      it(title, () => assert.equal(results[title], null))
    }

    it('has no other case', () => assert.deepEqual(Object.keys(results).sort(), [...titles].sort()))
  })
}
