'use strict'
// Each function of arithmetic, and each dtype: the same bits on every back end and instruction set, with any number of threads.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { childJson, skip } = require('../setup')
const { isAlias, namesIn } = require('../signatures')
const algorithms = require('./algorithm-hashes')
const arithmetic = require('./hashes')
const { math, needsMath } = require('./load')

const isNative = process.env.SAMEBYTES_BACKEND === 'native'
const LEVELS = !isNative ? [] : process.arch === 'arm64' ? ['scalar'] : ['scalar', 'avx2']
/** Of some threads, and of one. */
const threadsFor = (level) => (level === 'scalar' ? '3' : '1')
const SOURCE =
  "console.log(JSON.stringify(['hashes', 'algorithm-hashes'].map(name => require('./test/math/' + name).hashes())))"

/** Of operands that are large enough for threads: dense, transposed and repeated ones, converted on the way or not. */
const LARGE = `
  const { manualSeed, rand } = require('samebytes')
  manualSeed(7)
  const math = require('samebytes/math')
  const [a, b, row] = [[700, 801], [801, 700], [801]].map(shape => rand(shape))
  const made = [math.add(a, row), math.multiply(a, b.permute(1, 0)), math.exp(b.permute(1, 0)), math.less(a, b.permute(1, 0).astype('float16'))]
  console.log(JSON.stringify(made.map(t => require('node:crypto').createHash('sha256').update(t.bytes).digest('hex'))))`

/** What makes no new numbers, and what norms.test.js, quantile.test.js, reductions.test.js and softmax.test.js compare with NumPy, or with a hash. */
const NOT_LISTED = [
  'init',
  'crop',
  'index',
  'indexPut',
  'nonzero',
  'maskedSelect',
  'maskedFill',
  'diff',
  'vectorNorm',
  'normalize',
  'median',
  'quantile',
  'softmax',
  'logSoftmax',
  'logSumExp',
]

describe('hashes of arithmetic', function () {
  needsMath()
  const wanted = [arithmetic, algorithms].map(({ LIST }) =>
    JSON.parse(fs.readFileSync(LIST, 'utf8')),
  )

  it('are those of the list (node test/math/hashes.js --write makes it anew)', () => {
    assert.deepEqual(arithmetic.hashes(), wanted[0])
  })

  it('of algorithms are those of their list (node test/math/algorithm-hashes.js --write makes it anew)', () => {
    assert.deepEqual(algorithms.hashes(), wanted[1])
  })

  it('are there of each function that makes new numbers', () => {
    const listed = wanted.flatMap((list) => Object.keys(list)).map((name) => name.split(',')[0])
    assert.deepEqual(
      namesIn(math).filter(
        (name) =>
          !name.endsWith('Async') &&
          !NOT_LISTED.includes(name) &&
          !listed.includes(name) &&
          !isAlias(math, name),
      ),
      [],
    )
  })

  it('of large operands are the same with any number of threads', async function () {
    if (!isNative) skip(this, 'threads compute natively')
    const [one, three] = await Promise.all(
      ['1', '3'].map((SAMEBYTES_THREADS) => childJson(LARGE, { env: { SAMEBYTES_THREADS } })),
    )
    assert.deepEqual(one, three)
  })

  for (const level of LEVELS) {
    it(`are those of the lists on ${level}, threads: ${threadsFor(level)}`, async () => {
      assert.deepEqual(
        await childJson(SOURCE, {
          env: { SAMEBYTES_ISA: level, SAMEBYTES_THREADS: threadsFor(level) },
        }),
        wanted,
      )
    })
  }
})
