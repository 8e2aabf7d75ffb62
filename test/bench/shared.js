'use strict'
// Memory between processes: what it costs to make it, and to open it in another process.

const { spawn } = require('node:child_process')
const readline = require('node:readline')
const { SharedTensor } = require('samebytes')
const { ROOT, median } = require('./measure')

const ELEMENTS = 2 ** 28 // float32: 1 GiB
const NAME = `sb-bench-${process.pid}`

// Opens what it is told, several times, and says how many microseconds each took; once with something else before, so
// that its own files are read.
const OTHER = `
  const { SharedTensor } = require('samebytes')
  const time = name => {
    const start = process.hrtime.bigint()
    const { tensor } = SharedTensor.open(name)
    const spent = Number(process.hrtime.bigint() - start) / 1000
    if (tensor.get(tensor.size - 1) !== 7) throw new Error('another segment')
    return spent
  }
  const first = SharedTensor.create(null, [1])
  first.tensor.fill(7)
  time(first.path)
  require('node:readline').createInterface({ input: process.stdin }).on('line', name => console.log(JSON.stringify(Array.from({ length: 30 }, () => time(name)))))
`

/** Microseconds to open a segment of so many elements in a process that has just started. */
function opened(elements) {
  return async () => {
    const child = spawn(process.execPath, ['-e', OTHER], {
      cwd: ROOT,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const made = SharedTensor.create(NAME, [elements], { ifExists: 'replace' })
    try {
      made.tensor.set(7, elements - 1)
      child.stdin.end(NAME + '\n')
      const lines = readline.createInterface({ input: child.stdout })
      const { value: line } = await lines[Symbol.asyncIterator]().next()
      return median(JSON.parse(line))
    } finally {
      SharedTensor.unlink(NAME)
      made.tensor.dispose()
      made.dispose()
      child.kill()
    }
  }
}

/** Milliseconds to make 1 GiB: its pages are taken. */
async function made({ quick }) {
  const spent = []
  for (let round = 0; round < (quick ? 2 : 5); round++) {
    const start = performance.now()
    const segment = SharedTensor.create(NAME, [ELEMENTS], { ifExists: 'replace' })
    spent.push(performance.now() - start)
    SharedTensor.unlink(NAME)
    segment.dispose()
  }
  return median(spent)
}

const rows = [
  {
    what: '1 GiB of shared memory opened in another process',
    unit: 'µs',
    limit: { value: 200 },
    measure: opened(ELEMENTS),
    yardstick: { what: 'of 4 KiB', measure: opened(1024) },
  },
  { what: '1 GiB of shared memory made and reserved', unit: 'ms', measure: made },
]

module.exports = { title: 'Memory between processes', rows }
