'use strict'
// A Python process that is asked about frames, one after the other. It may die: whoever waits is told, and the next question
// goes to a new process. The frames are in shared memory and belong to nobody's process, so nothing is lost with it.

const { spawn } = require('node:child_process')
const path = require('node:path')
const readline = require('node:readline')

const PYTHON = process.env.PYTHON ?? '/usr/bin/python3'

/** @param {string[]} paths  of the frames, of their control words, of the grey picture */
function pythonPeer (paths) {
  let child = null
  let waiting = null // { resolve, reject } of the question that is open
  let started = 0

  function start () {
    const { LD_PRELOAD, ...env } = process.env // what is loaded into Node is not meant for Python
    const python = spawn(PYTHON, [path.join(__dirname, 'find.py'), ...paths], { env: { ...env, PYTHONDONTWRITEBYTECODE: '1' }, stdio: ['pipe', 'pipe', 'inherit'] })
    const settle = how => {
      const settled = waiting
      waiting = null
      settled?.[how[0]](how[1])
    }
    const failed = reason => {
      if (child !== python) return
      child = null
      settle(['reject', new Error(`${PYTHON} ${reason}`)])
    }
    python.stdin.on('error', () => {}) // it is gone; 'exit' says how
    python.once('error', error => failed(`could not be started: ${error.message}`))
    python.once('exit', (code, signal) => failed(`ended with ${signal ?? code}`))
    readline.createInterface({ input: python.stdout }).on('line', line => settle(['resolve', JSON.parse(line)]))
    started++
    return python
  }

  return {
    get started () { return started },
    get pid () { return child?.pid },
    /** @param {number} index  of a frame @returns {Promise<{ index: number, whole: boolean, x: number | null, y: number | null }>} */
    ask (index) {
      child ??= start()
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        child.stdin.write(`${index}\n`)
      })
    },
    end () {
      const ending = child
      child = null
      if (ending === null) return
      return new Promise(resolve => {
        ending.once('exit', resolve)
        ending.stdin.end() // its loop over stdin ends
      })
    }
  }
}

module.exports = { pythonPeer }
