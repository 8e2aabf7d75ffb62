'use strict'
// Capsules between this addon and another one that knows samebytes_dlpack.h alone.

const path = require('node:path')
const { empty, fromDlpack } = require('samebytes')
const { ROOT, median } = require('./measure')

const BATCH = 500 // capsules between two turns of the event loop, on which Node frees their cells
const VERSION = { maxVersion: [1, 0] }

let peer // another addon: bash scripts/build addon
const other = () =>
  (peer ??= require(
    path.join(ROOT, 'test', 'peers', 'dlpack', 'build', 'Release', 'dlpack_peer.node'),
  ))

const t = empty([4, 4])
t.fill(1)

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Median nanoseconds of fn; whole: with the turns of the event loop in between, on which its garbage is freed. */
function timed(fn, whole = false) {
  return async ({ quick }) => {
    const batches = quick ? 20 : 100
    const rounds = []
    for (let round = 0; round < 9; round++) {
      let sum = 0n
      const begin = process.hrtime.bigint()
      for (let batch = 0; batch < batches; batch++) {
        const start = process.hrtime.bigint()
        for (let i = 0; i < BATCH; i++) fn()
        sum += process.hrtime.bigint() - start
        await turn()
      }
      rounds.push(Number(whole ? process.hrtime.bigint() - begin : sum) / (batches * BATCH))
    }
    return median(rounds)
  }
}

const out = () => other().use(t.__dlpack__(VERSION))
const into = () => fromDlpack(other().quick()).dispose()

const rows = [
  {
    what: 'DLPack: a tensor out to another addon, used there',
    unit: 'ns',
    limit: { value: 1000 },
    measure: timed(out),
  },
  {
    what: 'DLPack: a capsule of another addon in, disposed',
    unit: 'ns',
    limit: { value: 1000 },
    measure: timed(into),
  },
  {
    what: 'DLPack: out and in again',
    unit: 'ns',
    limit: { value: 1000 },
    measure: timed(() => fromDlpack(t.__dlpack__(VERSION)).dispose()),
  },
  {
    what: 'DLPack: the other addon alone, out and in',
    unit: 'ns',
    measure: timed(() => other().use(other().quick())),
  },
  {
    what: 'DLPack: a tensor out, with what is freed on later turns',
    unit: 'ns',
    measure: timed(out, true),
  },
  {
    what: 'DLPack: a capsule in, with what is freed on later turns',
    unit: 'ns',
    measure: timed(into, true),
  },
]

module.exports = { title: 'Capsules', rows }
