'use strict'
// Things that do the same, timed in turn: in this process, and NumPy in one of its own.

const { spawn } = require('node:child_process')
const readline = require('node:readline')
const { performance } = require('node:perf_hooks')
const { median } = require('./measure')

const ROUNDS = 7
const LEAST_SECONDS = 0.02 // of a measurement: what a rival left in the caches counts little

/**
 * A Python process that answers a line of JSON for each that it gets: { n } runs what was prepared n times, and answers { seconds }.
 *
 * @param {string} script
 * @param {object} first  what it is asked to prepare to see whether it has NumPy
 * @returns {Promise<{ prepare (what: object): Promise<void>, seconds (n: number): Promise<number>, close (): void } | null>} null: there is none
 */
async function startNumpy(script, first) {
  const { OPENBLAS_CORETYPE, OPENBLAS_L2_SIZE, ...env } = process.env // they would make it slow
  const child = spawn(process.env.PYTHON ?? '/usr/bin/python3', [script], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env,
  })
  const ended = new Promise((resolve) =>
    child.once('exit', () => resolve(null)).once('error', () => resolve(null)),
  )
  child.stdin.on('error', () => {})
  const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (what) => {
    child.stdin.write(`${JSON.stringify(what)}\n`)
    const answer = await Promise.race([lines.next(), ended])
    if (answer === null || answer.done) throw new Error("NumPy's process has ended")
    return JSON.parse(answer.value)
  }
  try {
    await ask(first)
  } catch {
    console.log('without NumPy: /usr/bin/python3 (or PYTHON) has none\n')
    return null
  }
  return {
    prepare: async (what) => {
      await ask(what)
    },
    seconds: async (n) => (await ask({ n })).seconds,
    close: () => {
      child.stdin.end()
    },
  }
}

/** Seconds of n runs. */
function timed(n, run) {
  const begin = performance.now()
  for (let i = 0; i < n; i++) run()
  return (performance.now() - begin) / 1000
}

/**
 * Seconds of one run of each: medians of rounds in which all take part.
 *
 * @param {Record<string, (n: number) => number | Promise<number>>} rivals  seconds of n runs
 */
async function inTurn(rivals) {
  const names = Object.keys(rivals)
  const counts = {}
  for (const name of names) {
    let [n, seconds] = [1, await rivals[name](1)]
    while (seconds < LEAST_SECONDS / 4) seconds = await rivals[name]((n *= 4)) // which warms up as well
    counts[name] = Math.max(1, Math.ceil((n * LEAST_SECONDS) / seconds))
  }
  const samples = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      samples[name].push((await rivals[name](counts[name])) / counts[name])
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(samples[name])]))
}

const times = (x) => (Number.isFinite(x) ? `${x.toFixed(2)} x` : '–')

/** The geometric mean. */
const mean = (values) => Math.exp(values.reduce((sum, x) => sum + Math.log(x), 0) / values.length)

module.exports = { inTurn, mean, startNumpy, timed, times }
