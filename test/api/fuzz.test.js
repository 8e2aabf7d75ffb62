'use strict'
const assert = require('node:assert/strict')
const { CALLS, newStep, randomArguments, run, shortened } = require('../fuzz')
const { settledMemory } = require('../setup')

const FULL = process.env.SAMEBYTES_FULL === '1'
const SEED = Number(process.env.SAMEBYTES_FUZZ_SEED ?? 1) // the first one; with it a failure can be repeated
const PROGRAMS = Number(process.env.SAMEBYTES_FUZZ_PROGRAMS ?? (FULL ? 20000 : 300))
const STEPS = 40

/** Runs the program of a seed; what fails is said with the seed and the shortest program that was found. */
function runSeed(seed, counts) {
  const r = randomArguments(seed)
  let left = STEPS
  const { steps, error } = run((state) => (left-- > 0 ? newStep(r, state) : null))
  for (const { name } of steps) counts[name] = (counts[name] ?? 0) + 1
  if (error === null) return
  const program = shortened(steps)
    .map((step) => JSON.stringify(step))
    .join('\n')
  assert.fail(
    `seed ${seed} (SAMEBYTES_FUZZ_SEED=${seed} SAMEBYTES_FUZZ_PROGRAMS=1): ${error.stack}\nthe program:\n${program}`,
  )
}

describe('random programs agree with a model that has no strides', function () {
  it(`${PROGRAMS} programs of ${STEPS} calls, from seed ${SEED}, all dtypes: values, layouts, errors, memory()`, () => {
    settledMemory()
    const counts = {}
    for (let seed = SEED; seed < SEED + PROGRAMS; seed++) runSeed(seed, counts)
    if (PROGRAMS >= 300) {
      for (const name of Object.keys(CALLS)) {
        assert.ok(counts[name] > 20, `${counts[name]} calls of ${name}`)
      }
    }
  })
})
