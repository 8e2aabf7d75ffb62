'use strict'
// JavaScript's own functions, replaced one by one while public calls run: test/hostile/primordials.js says which and how.
const assert = require('node:assert/strict')
const { needs } = require('../setup')
const path = require('node:path')
const { spawn } = require('node:child_process')
const { places } = require('../hostile/primordials')

const CHILD = path.join(__dirname, '..', 'hostile', 'primordials-child.js')
const ROUNDS = process.env.SAMEBYTES_FULL === '1' ? 20 : 1
const SEED = 1

/** @returns {Promise<{ how: string, last: string, found: object[] }>} how the child ended, and what it had found by then */
function run (group) {
  return new Promise(resolve => {
    const child = spawn(process.execPath, ['--stack-trace-limit=30', '--no-warnings', CHILD, SEED, ROUNDS, group], { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let errors = ''
    child.stdout.on('data', text => { out += text })
    child.stderr.on('data', text => { errors += text })
    child.on('close', (code, signal) => {
      const lines = out.trim().split('\n')
      const found = lines.filter(line => line.startsWith('{')).map(line => JSON.parse(line))
      const last = lines.filter(line => !line.startsWith('{')).pop()
      resolve({ how: code === 0 ? 'well' : `with ${signal ?? code}: ${errors.slice(0, 2000)}`, last, found })
    })
  })
}

describe('functions of JavaScript that a program replaced', () => {
  needs('a Node of its own')
  const groups = [...new Set(places().map(place => place.group))]
  for (const group of groups) {
    it(`are shown no float32 tensor's private bytes and end nothing: ${group}`, async function () {
      assert.deepEqual(await run(group), { how: 'well', last: 'done', found: [] })
    })
  }

  it('are all that there are: more than 700 of them', () => {
    assert.ok(places().length > 700, `${places().length} places`)
  })
})
