'use strict'
// Each function of arithmetic, and each dtype: the same bits on every back end and instruction set, with any number of threads.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { childJson } = require('../setup')
const { isAlias, namesIn } = require('../signatures')
const algorithms = require('./algorithm-hashes')
const arithmetic = require('./hashes')
const { math, needsMath } = require('./load')

const isNative = process.env.SAMEBYTES_BACKEND === 'native'
const LEVELS = !isNative ? [] : process.arch === 'arm64' ? ['scalar'] : ['scalar', 'avx2']
/** Of some threads, and of one. */
const threadsFor = level => level === 'scalar' ? '3' : '1'
const SOURCE = "console.log(JSON.stringify(['hashes', 'algorithm-hashes'].map(name => require('./test/math/' + name).hashes())))"

/** What makes no new numbers, and what norms.test.js, quantile.test.js, reductions.test.js and softmax.test.js compare with NumPy, or with a hash. */
const NOT_LISTED = ['init', 'crop', 'index', 'indexPut', 'nonzero', 'maskedSelect', 'maskedFill', 'diff', 'vectorNorm', 'normalize', 'median', 'quantile', 'softmax', 'logSoftmax', 'logSumExp']

describe('hashes of arithmetic', function () {
  this.timeout(120_000)
  needsMath()
  const wanted = [arithmetic, algorithms].map(({ LIST }) => JSON.parse(fs.readFileSync(LIST, 'utf8')))

  it('are those of the list (node test/math/hashes.js --write makes it anew)', () => {
    assert.deepEqual(arithmetic.hashes(), wanted[0])
  })

  it('of algorithms are those of their list (node test/math/algorithm-hashes.js --write makes it anew)', () => {
    assert.deepEqual(algorithms.hashes(), wanted[1])
  })

  it('are there of each function that makes new numbers', () => {
    const listed = wanted.flatMap(list => Object.keys(list)).map(name => name.split(',')[0])
    assert.deepEqual(namesIn(math).filter(name => !name.endsWith('Async') && !NOT_LISTED.includes(name) && !listed.includes(name) && !isAlias(math, name)), [])
  })

  for (const level of LEVELS) {
    it(`are those of the lists on ${level}, threads: ${threadsFor(level)}`, async () => {
      assert.deepEqual(await childJson(SOURCE, { env: { SAMEBYTES_ISA: level, SAMEBYTES_THREADS: threadsFor(level) } }), wanted)
    })
  }
})
