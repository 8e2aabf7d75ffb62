'use strict'
// One child of run.js: programs of one family, with seeds in a row. What it has to say goes to a file, a line of JSON each, so
// that it is there whatever ends this process.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { inspect, types } = require('node:util')
const { memory } = require('samebytes')
const { CLASSES } = require('../setup')
const { drawing } = require('./random')

// Taken before a program can replace them.
const { parse, stringify } = JSON
const { appendFileSync } = fs
const { isNativeError } = types
const { setTimeout, clearTimeout } = globalThis

const { family, seed: first, count, long, trace, log } = parse(process.argv[2])
const note = (line) => appendFileSync(log, stringify(line) + '\n')

const codes = { __proto__: null }
for (const code of Object.keys(CLASSES)) codes[code] = true
const SETTLES_WITHIN = process.env.SAMEBYTES_SANITIZED === '1' ? 300_000 : 150_000 // ms: what takes longer never ends, also on a busy machine

/** What a hostile callback throws: it may come through. */
class Thrown extends Error {
  isThrown = true
}

/** What is wrong with the library: ends the program. */
class Finding extends Error {}

/** What a program has to work with. */
class Program {
  constructor(seed) {
    this.r = drawing(seed)
    this.long = long
    this.calls = 0
    this.Thrown = Thrown
    /** other errors that are the caller's own: said by a family @type {(error: any) => boolean} */
    this.isOwn = () => false
  }

  /** @param {string} what @returns {never} */
  fail(what) {
    throw new Finding(what)
  }

  /**
   * One public call. What it throws is typed, or comes from a hostile callback.
   *
   * @param {string} what  names it
   * @param {() => any} fn
   * @param {{ undo?: () => void, shown?: any }} [more]  undo: what was done to the realm; shown: with --trace, what it is given
   * @returns {{ value?: any, error?: any }}
   */
  call(what, fn, { undo = () => {}, shown } = {}) {
    this.calls++
    const began = trace ? say(shown === undefined ? what : `${what} of ${described(shown)}`) : 0
    let value
    try {
      value = fn()
    } catch (error) {
      undo()
      this.judge(what, error)
      return { error }
    } finally {
      undo()
      if (trace && performance.now() - began > 500) {
        say(`  took ${Math.round(performance.now() - began)} ms`)
      }
    }
    return { value }
  }

  /** With --trace, what happens meanwhile. @param {string} text */
  trace(text) {
    if (trace) say(text)
  }

  /** The same of a call that gives a promise, which settles. @param {string} what @param {() => Promise<any>} fn */
  async later(what, fn) {
    const { value: promise, error } = this.call(what, fn)
    if (error !== undefined) return { error }
    let timer
    const late = new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new Finding(`${what} never settles`)), SETTLES_WITHIN)
    })
    try {
      return { value: await Promise.race([promise, late]) }
    } catch (error) {
      this.judge(what, error)
      return { error }
    } finally {
      clearTimeout(timer)
    }
  }

  /** @param {string} what @param {any} error */
  judge(what, error) {
    if (error instanceof Finding) throw error
    if (isNativeError(error) ? codes[error.code] || error.isThrown : error?.isThrown) return
    if (this.isOwn(error)) return
    throw new Finding(
      `${what}: ${isNativeError(error) ? error.stack : `${typeof error} was thrown: ${show(error)}`}`,
    )
  }
}

function say(text) {
  fs.writeSync(2, text + '\n')
  return performance.now()
}

function described(value) {
  try {
    return inspect(value, {
      depth: 3,
      maxArrayLength: 4,
      maxStringLength: 60,
      breakLength: Infinity,
      customInspect: false,
    })
  } catch (error) {
    return `what cannot be shown (${show(error)})`
  }
}

function show(value) {
  try {
    return String(value)
  } catch {
    return 'which cannot be shown'
  }
}

/** Counters below 0, or none at all. */
function insane(counters, at = 'memory()') {
  for (const [name, value] of Object.entries(counters)) {
    if (
      typeof value === 'object'
        ? insane(value, `${at}.${name}`)
        : !(Number.isInteger(value) && value >= 0)
    ) {
      throw new Finding(`${at}.${name} is ${show(value)}`)
    }
  }
  return false
}

async function main() {
  process.chdir(fs.mkdtempSync(path.join(os.tmpdir(), 'child-'))) // where files go that a program names by chance
  const { run, before, after } = require(`./families/${family}`)
  await before?.()
  for (let seed = first; seed < first + count; seed++) {
    note({ begin: seed })
    const program = new Program(seed)
    try {
      await run(program)
      insane(memory())
    } catch (error) {
      note({
        seed,
        finding:
          error instanceof Finding
            ? error.message
            : `the program itself: ${error?.stack ?? show(error)}`,
      })
    }
    note({ end: seed, calls: program.calls })
    globalThis.gc() // no program changes what the next one finds
    for (let i = 0; i < 3; i++) await new Promise(setImmediate) // what was collected is given back
  }
  await after?.()
  process.exit() // whatever hostile promises are pending
}

main()
