'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { spawn, spawnSync } = require('node:child_process')
const { ROOT, needs, skipWithout } = require('../setup')

const PROGRAM = path.join(ROOT, 'examples', 'weights', 'index.js')

describe('the example of weights', function () {
  needs('the addon')

  let folder // its temporary folder: what it leaves is there
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-example-'))
  })
  after(() => {
    if (folder) fs.rmSync(folder, { recursive: true, force: true })
  })
  const env = () => ({ ...process.env, TMPDIR: folder, TEMP: folder })

  it('makes a file, opens it, sums up a tensor, and leaves nothing', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, '8'], {
      env: env(),
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    assert.match(
      stdout,
      /^made .*weights\.safetensors in [\d.]+ s\nopened +400 tensors, 8 MiB, in [\d.]+ ms\nRSS .*\nviews .*\nsum +of blocks\.203\.weight: 648, 5184 elements/,
    )
    assert.deepEqual(fs.readdirSync(folder), [])
  })

  it('refuses sizes that are none, or for which there is no room', () => {
    for (const [size, reason] of [
      ['0', /no number/],
      ['x', /no number/],
      ['1e12', /too little/],
    ]) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, size], {
        env: env(),
        encoding: 'utf8',
      })
      assert.deepEqual({ status, stdout }, { status: 1, stdout: '' })
      assert.match(stderr, reason)
    }
    assert.deepEqual(fs.readdirSync(folder), [])
  })

  it('leaves nothing when it is stopped', async function () {
    skipWithout(this, 'signals of POSIX')
    const running = spawn(process.execPath, [PROGRAM, '64'], {
      env: env(),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise((resolve) => running.once('exit', resolve))
    await new Promise((resolve) => running.stdout.once('data', resolve)) // the file is made
    running.kill('SIGTERM')
    await ended
    assert.deepEqual(fs.readdirSync(folder), [])
  })
})
