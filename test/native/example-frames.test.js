'use strict'
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawn, spawnSync } = require('node:child_process')
const { HANG_MS } = require('../hang')
const { ROOT, nativeOnly, needs, skipWithout } = require('../setup')
const { namesWith } = require('../segments')

const PROGRAM = path.join(ROOT, 'examples', 'frames-with-python', 'index.js')

const run = (args, env = {}) =>
  spawnSync(process.execPath, [PROGRAM, ...args], {
    encoding: 'utf8',
    timeout: HANG_MS,
    env: { ...process.env, ...env },
  })
const left = (pid) => namesWith(`samebytes-frames-${pid}`)

describe('the example of frames with Python', function () {
  nativeOnly()
  needs('shared memory with a name')

  it('shows each frame to a Python process and gets a picture back, with nothing copied', function () {
    skipWithout(this, 'NumPy')
    const { status, stdout, stderr, pid } = run(['--frames', '30', '--kill', '30'])
    assert.equal(status, 0, stdout + stderr)
    assert.match(
      stdout,
      /\n {2}30 of 30 frames: .*; 30 grey pictures came back\n {2}0 wrong, 0 unanswered, 1 Python processes, .*\n.*copied by samebytes: nothing\n$/,
    )
    assert.deepEqual(left(pid), [])
  })

  it('goes on with another Python process when one is killed', function () {
    skipWithout(this, 'NumPy')
    const { status, stdout, stderr, pid } = run(['--frames', '20', '--kill', '5'])
    assert.equal(status, 0, stdout + stderr)
    assert.match(stdout, /0 wrong, [01] unanswered, 2 Python processes/)
    assert.deepEqual(left(pid), [])
  })

  it('says what is missing where there is no Python', () => {
    const { status, stderr, pid } = run(['--frames', '3'], { PYTHON: '/nowhere/python3' })
    assert.equal(status, 1)
    assert.match(stderr, /could not be started: .*ENOENT; Python with NumPy is needed/)
    assert.deepEqual(left(pid), [])
  })

  it('leaves no names when it is stopped', async function () {
    skipWithout(this, 'NumPy')
    const running = spawn(process.execPath, [PROGRAM, '--frames', '100000', '--kill', '100000'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = new Promise((resolve) => running.once('exit', resolve))
    await new Promise((resolve) => running.stdout.once('data', resolve)) // the names are there
    running.kill('SIGTERM')
    assert.equal(await ended, 1)
    assert.deepEqual(left(running.pid), [])
  })
})
