'use strict'
// What programs on the fake onnxruntime share: model-failures.test.js runs them. They say what each failure led to, and what it left.
const fs = require('node:fs')
const path = require('node:path')
const { memory } = require('samebytes')
const { Module } = require('samebytes/module')
const { frame, backend, opcodes, tables } = require('../../../js/backend/calls')

/** fakeort.c's numbers */
const WORDS = [
  ...['failAt', 'nullAt', 'failAlways', 'pause', 'waiting', 'half', 'calls', 'faults', 'last'],
  ...['env', 'options', 'session', 'runOptions', 'value', 'typeInfo', 'tensorInfo', 'memory'],
  ...['status', 'name'],
]
const LIVE = WORDS.slice(WORDS.indexOf('env'))

const file = fs.openSync(/** @type {string} */ (process.env.FAKEORT_STATE), 'r+')
const room = new BigInt64Array(1)

/** @param {string} word */
function asked(word) {
  room[0] = 0n
  fs.readSync(file, room, 0, 8, 8 * WORDS.indexOf(word))
  return Number(room[0])
}

/** @param {string} word @param {number} value */
function tell(word, value) {
  room[0] = BigInt(value)
  fs.writeSync(file, room, 0, 8, 8 * WORDS.indexOf(word))
}

/** an entry's name by its place */
const ENTRIES = new Map(
  [
    ...fs
      .readFileSync(path.join(__dirname, '../../../src/onnx/table.h'), 'utf8')
      .matchAll(/X\((\d+), (\w+),/g),
  ].map(([, place, name]) => [Number(place), name]),
)

/** The n-th allocation in C from now on fails; of -n the n-th on other threads; 0: none. Gives how many the last one still waited for. @param {number} n */
function failAllocation(n) {
  frame.f64[tables.frame.ARGS] = n
  backend.call(opcodes.fail_allocation)
  return frame.f64[tables.frame.RESULTS + 1]
}

/** Objects of the library's, and what memory() has of tensors, that are alive. */
function alive() {
  const { tensors, storages, inFlight } = memory()
  return {
    ...Object.fromEntries(LIVE.map((word) => [word, asked(word)])),
    ...{ tensors, storages, inFlight, faults: asked('faults') },
  }
}

/** @param {any} before @param {any} after  of alive() */
const differences = (before, after) =>
  Object.fromEntries(
    Object.keys(before)
      .filter((name) => after[name] !== before[name])
      .map((name) => [name, after[name] - before[name]]),
  )

/** @param {() => any} act @returns {Promise<{ code: string, message: string }>} */
async function outcomeOf(act) {
  try {
    return { code: 'none', message: String((await act()) ?? '') }
  } catch (error) {
    const { code, message, stack } = /** @type {any} */ (error)
    return { code: code ?? 'untyped', message: code === undefined ? stack : message }
  }
}

/**
 * Acts while the first call fails, then the second, and so on until there are no more.
 *
 * @param {'failAt' | 'nullAt' | 'allocation' | 'allocationElsewhere'} word
 * @param {() => any} act  leaves nothing
 */
async function inTurn(word, act) {
  await act()
  const said = []
  const isCall = !word.startsWith('allocation')
  const set = (/** @type {number} */ n) =>
    isCall ? tell(word, n) : failAllocation(word === 'allocation' ? n : -n)
  for (let n = 1; n < 1000; n++) {
    const before = alive()
    let isOver = false
    set(n)
    const outcome = await outcomeOf(async () => {
      try {
        return await act()
      } finally {
        if (isCall) {
          isOver = asked(word) > 0
          tell(word, 0)
        } else isOver = failAllocation(0) > 0
      }
    })
    const entry = isCall ? ENTRIES.get(asked('last')) : ''
    if (isOver) return { said, last: outcome }
    said.push({ n, entry, ...outcome, left: differences(before, alive()) })
  }
  throw new Error('it goes on and on')
}

const bytes = (/** @type {string} */ text) => new TextEncoder().encode(`fakeort\n${text}`)

/** @param {string} text @param {any} [options] */
const load = (text, options) => Module.load(bytes(text), { runtime: 'library', ...options })

const ADD = 'input a 1 n 3\ninput b 1 n 3\noutput c 1 n 3 = add\n'
const BOTH = 'input a 1 ?\ninput b 1 ?\noutput sum 1 ? = add\noutput product 1 ? = multiply\n'

const turn = () => new Promise((resolve) => setImmediate(resolve))
/** @param {() => boolean} condition */
async function until(condition) {
  while (!condition()) await turn()
}

const say = (/** @type {any} */ value) => console.log(JSON.stringify(value))

module.exports = {
  ...{ ADD, BOTH, Module, alive, asked, bytes, differences, failAllocation, inTurn, load },
  ...{ outcomeOf, say, tell, turn, until },
}
