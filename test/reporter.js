'use strict'
// mocha's reporter below test/run.js: a dot for each test on the terminal, a line for each event in the file SAMEBYTES_TEST_LOG. Lines are
// written at once, so that a crash loses nothing.
const fs = require('node:fs')
const { titleOf, reasonOf, describeError } = require('./describe')

const END_MS = 60_000 // for a process to end after its last test

/** Seconds that this process computed, with those of its children that have ended; 0 where there is no /proc. */
function secondsComputed() {
  if (!fs.existsSync('/proc/self/stat')) return 0
  const text = fs.readFileSync('/proc/self/stat', 'latin1')
  return (
    text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
      .reduce((sum, ticks) => sum + Number(ticks), 0) / 100
  )
}

/** Handles and requests that keep the process alive, by kind. */
const alive = () => process.getActiveResourcesInfo().sort().join(' ')

class Reporter {
  #fd = fs.openSync(process.env.SAMEBYTES_TEST_LOG, 'a')
  #file = null
  #from = { wall: performance.now() / 1000, computed: 0 }
  #grew = [] // files after which other things kept the process alive than before
  #alive = alive()

  constructor(runner) {
    delete process.env.SAMEBYTES_TEST_LOG // for the processes that tests start
    runner.on('suite', (suite) => {
      if (suite.file) this.#begin(suite)
    })
    runner.on('test', (test) =>
      this.#note({ event: 'test', file: test.file, title: titleOf(test) }),
    )
    runner.on('pass', () => this.#count('.', { event: 'pass' }))
    runner.on('pending', (test) => this.#count(',', { event: 'skip', reason: reasonOf(test) }))
    runner.on('fail', (test, error) =>
      this.#count('!', { event: 'fail', title: titleOf(test), text: describeError(error) }),
    )
    runner.on('end', () => this.#end())
  }

  #note(entry) {
    fs.writeSync(this.#fd, JSON.stringify(entry) + '\n')
  }

  #count(dot, entry) {
    this.#note(entry)
    process.stdout.write(dot)
  }

  /** Hooks run before the first test: a crash in them belongs to this file. */
  #begin(suite) {
    this.#note({ event: 'test', file: suite.file, title: `${titleOf(suite)} (hooks)` })
    if (suite.file !== this.#file) this.#enter(suite.file)
  }

  #enter(file) {
    const now = { wall: performance.now() / 1000, computed: secondsComputed() }
    const kept = alive()
    if (this.#file !== null) {
      this.#note({
        event: 'time',
        file: this.#file,
        wall: now.wall - this.#from.wall,
        computed: now.computed - this.#from.computed,
      })
      if (kept !== this.#alive) this.#grew.push(`${this.#file}: ${kept}`)
    }
    this.#alive = kept
    this.#file = file
    this.#from = now
  }

  #end() {
    this.#enter(null)
    this.#note({ event: 'end' })
    setTimeout(() => {
      this.#note({
        event: 'fail',
        title: 'after the last test',
        text: `the process is kept alive by ${alive()}; what did so after a file:\n${this.#grew.join('\n')}`,
      })
      process.exit(0)
    }, END_MS).unref()
  }
}

module.exports = Reporter
module.exports.secondsComputed = secondsComputed
