'use strict'
// Processes that share GPU memory, for tests: vram-peer.js in Node, vram_peer.py in Python.
const path = require('node:path')
const { once } = require('node:events')
const { spawn, execFileSync } = require('node:child_process')
const { createInterface } = require('node:readline')
const { pythonPath } = require('samebytes')
const { HANG_MS } = require('../hang')
const { ROOT } = require('../setup')
const { PYTHON } = require('../tools')

/** all that were started in a test @type {Set<Peer>} */
const peers = new Set()

class Peer {
  constructor(command, args, env) {
    const { LD_PRELOAD, ...inherited } = process.env // a sanitizer's runtime is for the addon
    const preload = command === process.execPath && LD_PRELOAD !== undefined ? { LD_PRELOAD } : {}
    const paths = {
      PYTHONPATH: [pythonPath, process.env.PYTHONPATH].filter(Boolean).join(path.delimiter),
      PYTHONDONTWRITEBYTECODE: '1',
    }
    this.process = spawn(command, args, {
      cwd: ROOT,
      env: { ...inherited, ...preload, ...paths, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.ended = once(this.process, 'exit')
    this.process.stdin.on('error', () => {}) // it has ended
    this.errors = ''
    this.process.stderr.setEncoding('utf8').on('data', (text) => {
      this.errors += text
    })
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]()
    peers.add(this)
  }

  /** One question's answer; what it answers with as an error is thrown, with its code. */
  async ask(op, more = {}) {
    this.process.stdin.write(JSON.stringify({ op, ...more }) + '\n')
    const { value: line, done } = await this.lines.next()
    if (done) throw new Error(`the other process has ended: ${this.errors}`)
    const { value, error } = JSON.parse(line)
    if (error !== undefined) {
      throw Object.assign(new Error(`${error.message} ${this.errors}`), { code: error.code })
    }
    return value
  }

  /** Its exit code or signal, once it has gone. */
  async end(signal) {
    if (signal === undefined) this.process.stdin.end()
    else this.process.kill(signal)
    const [code, by] = await this.ended
    peers.delete(this)
    return by ?? code
  }
}

/** A Node, or a Python with 'torch', 'cupy' or no library. */
function start(kind, env) {
  if (kind === 'node') {
    return new Peer(process.execPath, [path.join(__dirname, 'vram-peer.js')], env)
  }
  return new Peer(
    PYTHON,
    [path.join(__dirname, 'vram_peer.py'), kind === 'python' ? 'none' : kind],
    env,
  )
}

/** For afterEach: nothing is left behind by a test that failed. */
async function endAll() {
  for (const peer of peers) await peer.end('SIGKILL')
}

/** Can the Python use a GPU through this library? */
function hasGpu(library) {
  const source =
    library === 'torch'
      ? 'import torch; assert torch.cuda.is_available()'
      : 'import cupy; assert cupy.cuda.is_available()'
  try {
    execFileSync(PYTHON, ['-c', source], { stdio: 'ignore', timeout: HANG_MS })
    return true
  } catch {
    return false
  }
}

/** Asks until the answer is right; the test's own limit ends it. */
async function until(ask, isRight) {
  for (;;) {
    const value = await ask()
    if (isRight(value)) return value
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

module.exports = { endAll, hasGpu, start, until }
