'use strict'
// A Python process that tells of each frame what it found. It may die: whoever waits is told, and a new process goes on with the
// next frame. The frames are in shared memory and belong to nobody's process, so nothing is lost with it.

const { spawn } = require('node:child_process')
const path = require('node:path')
const readline = require('node:readline')
const { pythonPath } = require('samebytes')

const PYTHON = process.env.PYTHON ?? '/usr/bin/python3'

/** @param {string} ring  its name @param {string} grey  the picture's */
function pythonPeer(ring, grey) {
  let child = null
  let waiting = null // { resolve, reject } of the question that is open
  let started = 0

  /** @param {number} first  frame that it reads */
  function start(first) {
    const { LD_PRELOAD, ...env } = process.env // what is loaded into Node is not meant for Python
    const python = spawn(PYTHON, [path.join(__dirname, 'find.py'), ring, grey, String(first)], {
      env: { ...env, PYTHONPATH: pythonPath, PYTHONDONTWRITEBYTECODE: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const settle = (how) => {
      const settled = waiting
      waiting = null
      settled?.[how[0]](how[1])
    }
    const failed = (reason) => {
      if (child !== python) return
      child = null
      settle(['reject', new Error(`${PYTHON} ${reason}`)])
    }
    python.once('error', (error) => failed(`could not be started: ${error.message}`))
    python.once('exit', (code, signal) => failed(`ended with ${signal ?? code}`))
    readline
      .createInterface({ input: python.stdout })
      .on('line', (line) => settle(['resolve', JSON.parse(line)]))
    started++
    return python
  }

  return {
    get started() {
      return started
    },
    get pid() {
      return child?.pid
    },
    /** @param {number} index  of a frame @returns {Promise<{ index: number, whole: boolean, x: number | null, y: number | null }>} */
    ask(index) {
      child ??= start(index)
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject }
      })
    },
    end() {
      const ending = child
      child = null
      if (ending === null) return
      return new Promise((resolve) => {
        ending.once('exit', resolve)
        ending.kill() // it waits for the next frame
      })
    },
  }
}

module.exports = { pythonPeer }
