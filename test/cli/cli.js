'use strict'
// Runs `samebytes` as people do, in a process of its own.
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { spawn } = require('node:child_process')
const { HANG_MS } = require('../hang')
const { ROOT, collectAll } = require('../setup')

const PROGRAM = path.join(ROOT, require('samebytes/package.json').bin.samebytes)

/** For describe: a folder of its own, removed afterwards, when nothing in it is mapped any more; a function that gives its path. */
function folder() {
  let made
  before(() => {
    made = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-cli-'))
  })
  after(async () => {
    await collectAll()
    if (made) fs.rmSync(made, { recursive: true, force: true })
  })
  return (...names) => path.join(made, ...names)
}

/** Resolves to { code, signal, stdout, stderr }; nothing of the surroundings decides on colours. */
function cli(args, { cwd = ROOT, env = {}, command = [process.execPath, PROGRAM] } = {}) {
  const { FORCE_COLOR, NO_COLOR, NODE_DEBUG, ...rest } = process.env
  if (rest.SAMEBYTES_SANITIZED === '1') {
    // hundreds of processes: what they do to memory, other tests do sanitized
    delete rest.LD_PRELOAD
    delete rest.SAMEBYTES_BINARY
  }
  return new Promise((resolve, reject) => {
    const running = spawn(command[0], [...command.slice(1), ...args], {
      cwd,
      env: { ...rest, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: HANG_MS,
      killSignal: 'SIGKILL',
    })
    let stdout = ''
    let stderr = ''
    running.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text
    })
    running.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text
    })
    running.once('error', reject)
    running.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
}

module.exports = { PROGRAM, cli, folder }
