'use strict'
const assert = require('node:assert/strict')
const path = require('node:path')
const { askNumpy, checksum, copySets, largeSets } = require('../copies')
const { PROGRAM } = require('../program')
const { ROOT, child, childJson, nativeOnly } = require('../setup')
const { lackOf } = require('../tools')

// The same bits on every instruction set and number of threads, as NumPy has them. A level that this
// processor lacks counts for nothing: its test is that of another one again.
//
// The test addon streams and shares out from a few kilobytes on, so it is given the many small copies;
// the addon that ships is given large ones.
const LEVELS = process.arch === 'arm64' ? ['scalar', 'neon'] : ['scalar', 'avx2', 'avx512']
const testAddon =
  process.env.SAMEBYTES_BINARY ?? path.join(ROOT, 'build', 'Release', 'samebytes_test.node')
const ADDONS = [
  { title: 'the test addon', sets: copySets },
  {
    title: 'the addon that ships',
    binary: path.join(path.dirname(testAddon), 'samebytes.node'),
    sets: largeSets,
  },
]
const FULL = process.env.SAMEBYTES_FULL === '1'

const source = (sets) => `
  const { checksum, compute, ${sets.name} } = require('./test/copies')
  const sums = { program: require('./test/program').program(4000) }
  for (const [name, cases] of Object.entries(${sets.name}())) sums[name] = checksum(cases.map(one => compute(one, true)))
  console.log(JSON.stringify(sums))`

describe('every instruction set and number of threads', function () {
  nativeOnly()

  it('warn once of a name that counts for nothing, and of no other', async () => {
    const program =
      "require('samebytes'); new (require('node:worker_threads').Worker)('require(\\'samebytes\\')', { eval: true })"
    const { code, stderr } = await child(program, { env: { SAMEBYTES_ISA: 'mmx' } })
    assert.equal(code, 0, stderr)
    assert.equal(
      stderr.match(
        /SamebytesWarning: SAMEBYTES_ISA is 'mmx', which is no instruction set of this processor and build; \w+ is used\n/g,
      )?.length,
      1,
      stderr,
    )
    for (const level of ['scalar', '']) {
      assert.equal((await child(program, { env: { SAMEBYTES_ISA: level } })).stderr, '')
    }
  })

  for (const { title, binary, sets } of ADDONS) {
    describe(`with ${title}`, () => {
      const run = (level, threads) => {
        const env = {
          SAMEBYTES_ISA: level,
          SAMEBYTES_THREADS: String(threads),
          ...(binary && { SAMEBYTES_BINARY: binary }),
        }
        return childJson(source(sets), { env })
      }
      let expected

      before(async () => {
        const found =
          lackOf('NumPy') === null
            ? Object.entries(sets()).map(([name, cases]) => [name, checksum(askNumpy(cases))])
            : Object.entries(await run('scalar', 1))
        expected = { ...Object.fromEntries(found), program: PROGRAM }
      })

      for (const level of LEVELS) {
        const best = level === LEVELS.at(-1)
        for (const threads of FULL ? [1, 2, 5] : best ? [1, 2] : [2]) {
          it(`gives the same bytes as NumPy, or as scalar where that is missing, and one checksum: ${level}, ${threads === 1 ? '1 thread' : `${threads} threads`}`, async () => {
            assert.deepEqual(await run(level, threads), expected)
          })
        }
      }
    })
  }
})
