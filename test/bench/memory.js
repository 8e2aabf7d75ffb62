'use strict'
// How far the resident memory of a fresh process grows at most in one synchronous loop.

const { inFreshProcess } = require('./measure')

const TEMPORARIES = '2e6 4 × 4 temporaries'
const LARGE = '4000 × 1 MiB, every byte written'
const SURVIVORS = 'keep 1 of 4096, 10,000 survivors'

const EMPTY = 'empty([4, 4])'
const ARRAY = 'new Float32Array(16)'
const BUFFER = 'new Float32Array(new ArrayBuffer(64))'

const many =
  (make) =>
  ({ quick }) =>
    growth(`for (let i = 0; i < ${quick ? 5e5 : 2e6}; i++) { ${make} }`)
const large =
  (make) =>
  ({ quick }) =>
    growth(`for (let i = 0; i < ${quick ? 1000 : 4000}; i++) { ${make} }`)
const survivors =
  (make) =>
  ({ quick }) =>
    growth(`
  const survivors = []
  while (survivors.length < ${quick ? 2000 : 10000}) {
    for (let i = 0; i < 4095; i++) { ${make} }
    survivors.push((() => { ${make}; return kept })())
  }
  globalThis.survivors = survivors`)

const rows = [
  row(TEMPORARIES, 16, many, `kept = ${EMPTY}`, ARRAY, `kept = ${ARRAY}`),
  row(
    `${TEMPORARIES}, fill(1)`,
    16,
    many,
    `kept = ${EMPTY}; kept.fill(1)`,
    ARRAY,
    `kept = ${ARRAY}; kept.fill(1)`,
  ),
  row(
    `${TEMPORARIES}, data[0] = 1`,
    undefined,
    many,
    `kept = ${EMPTY}; kept.data[0] = 1`,
    BUFFER,
    `kept = ${BUFFER}; kept[0] = 1`,
  ),
  row(
    LARGE,
    128,
    large,
    'kept = empty([262144]); kept.fill(i)',
    'Float32Array',
    'kept = new Float32Array(262144); kept.fill(i)',
  ),
  row(SURVIVORS, 128, survivors, `kept = ${EMPTY}`, ARRAY, `kept = ${ARRAY}`),
  row(
    `${SURVIVORS}, fill(1)`,
    128,
    survivors,
    `kept = ${EMPTY}; kept.fill(1)`,
    ARRAY,
    `kept = ${ARRAY}; kept.fill(1)`,
  ),
]

function row(what, value, kind, make, yardstick, makeYardstick) {
  return {
    what,
    unit: 'MiB',
    limit: { value },
    measure: kind(make),
    yardstick: { what: yardstick, measure: kind(makeYardstick) },
  }
}

/** MiB between the resident memory before the loop and its highest while it ran, as the system saw it. */
function growth(loop) {
  return inFreshProcess(`
    'use strict'
    const fs = require('node:fs')
    const { empty } = require('samebytes')
    let kept
    empty([4, 4]).fill(1)
    const status = field => Number(new RegExp(field + ':\\\\s*(\\\\d+) kB').exec(fs.readFileSync('/proc/self/status', 'latin1'))[1])
    try { fs.writeFileSync('/proc/self/clear_refs', '5') } catch {} // forgets the highest so far
    const before = status('VmRSS')
    ;(function loop () { ${loop} })()
    process.stdout.write(String((status('VmHWM') - before) / 1024))`)
}

module.exports = {
  title: 'Memory: growth of the resident set, undisposed, one synchronous loop',
  rows,
}
