'use strict'
// Runs test/python/dlpack.py: real NumPy and PyTorch over libsamebytes, in a process of their own.
const path = require('node:path')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { library } = require('samebytes/native')
const { HANG_MS } = require('./hang')
const { ROOT } = require('./setup')
const { PYTHON } = require('./tools')

/** A Python's output and exit code. */
function python(args) {
  const { LD_PRELOAD, ...env } = process.env // a sanitizer's runtime is for the addon
  const options = {
    cwd: ROOT,
    env: { ...env, PYTHONDONTWRITEBYTECODE: '1' },
    timeout: HANG_MS,
    maxBuffer: 1 << 24,
  }
  return new Promise((resolve) => {
    const running = execFile(PYTHON, args, options, (error, stdout, stderr) => {
      resolve({ code: running.exitCode, signal: error?.signal ?? null, stdout, stderr })
    })
  })
}

/** What dlpack.py says of a peer: by title, null or a traceback. */
async function resultsOf(peer) {
  assert.ok(library, 'libsamebytes is missing; first: bash scripts/build library')
  const { code, signal, stdout, stderr } = await python([
    path.join('test', 'python', 'dlpack.py'),
    library,
    peer,
  ])
  assert.deepEqual({ code, signal }, { code: 0, signal: null }, stderr)
  return JSON.parse(stdout)
}

module.exports = { resultsOf }
