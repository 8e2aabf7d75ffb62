'use strict'
// Runs one program of cases.js in a process of its own.

const { execFile } = require('node:child_process')
const path = require('node:path')
const { HANG_MS } = require('../hang')
const { CASES } = require('./cases')

/**
 * @param {string} name
 * @param {number} seed
 * @param {string} folder  for models
 * @returns {Promise<string>} what was wrong with its end; '': nothing
 */
function launch(name, seed, folder) {
  const [, code, stdout, stderr = /^$/] = CASES[name]
  const options = {
    env: { ...process.env, MODEL_ENDS_FOLDER: folder, SAMEBYTES_BACKEND: 'native' },
    timeout: HANG_MS,
    killSignal: /** @type {const} */ ('SIGKILL'),
  }
  const args = [path.join(__dirname, 'cases.js'), name, String(seed)]
  return new Promise((resolve) => {
    const running = execFile(process.execPath, args, options, (error, out, err) => {
      const signal = error?.signal ?? null
      const is = signal === null && running.exitCode === code && out === stdout && stderr.test(err)
      const end = signal === null ? `exit code ${running.exitCode}` : `signal ${signal}`
      resolve(is ? '' : `${end}, not exit code ${code}\nstdout: ${out}\nstderr: ${err}`)
    })
  })
}

module.exports = { launch }
