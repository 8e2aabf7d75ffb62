'use strict'
// Capsules between this addon and another one that knows samebytes_dlpack.h alone.

const path = require('node:path')
const { empty, fromDlpack } = require('samebytes')
const { ROOT, median } = require('./measure')

const BATCH = 500 // capsules between two turns of the event loop, on which Node frees their cells
const VERSION = { maxVersion: [1, 0] }

let peer // another addon: bash .ci/build addon
const other = () => (peer ??= require(path.join(ROOT, 'test', 'peers', 'dlpack', 'build', 'Release', 'dlpack_peer.node')))

const t = empty([4, 4])
t.fill(1)

const turn = () => new Promise(resolve => setImmediate(resolve))

/** Median nanoseconds of fn, the turns of the event loop and what is collected on them included. */
function whole (fn) {
  return async ({ quick }) => {
    const batches = quick ? 20 : 100
    const rounds = []
    for (let round = 0; round < 9; round++) {
      const start = process.hrtime.bigint()
      for (let batch = 0; batch < batches; batch++) {
        for (let i = 0; i < BATCH; i++) fn()
        await turn()
      }
      rounds.push(Number(process.hrtime.bigint() - start) / (batches * BATCH))
    }
    return median(rounds)
  }
}

const rows = [
  { what: 'DLPack: a tensor out to another addon, used there', unit: 'ns', limit: { value: 1000 }, measure: whole(() => other().use(t.__dlpack__(VERSION))) },
  { what: 'DLPack: a capsule of another addon in, disposed', unit: 'ns', limit: { value: 1000 }, measure: whole(() => fromDlpack(other().quick()).dispose()) },
  { what: 'DLPack: out and in again', unit: 'ns', limit: { value: 1000 }, measure: whole(() => fromDlpack(t.__dlpack__(VERSION)).dispose()) },
  { what: 'DLPack: the other addon alone, out and in', unit: 'ns', measure: whole(() => other().use(other().quick())) }
]

module.exports = { title: 'Capsules', rows }
