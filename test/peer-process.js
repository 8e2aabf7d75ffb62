'use strict'
// Programs in other processes that tests talk to: Node's by messages, Python's by lines.
const { spawn } = require('node:child_process')
const { createInterface } = require('node:readline')
const { ROOT } = require('./setup')
const { PYTHON } = require('./tools')

/** What a process says, one after the other; next() rejects where it ends instead. */
class Heard {
  constructor() {
    this.said = []
    this.waiting = []
    this.ended = null
  }

  say(message) {
    const first = this.waiting.shift()
    if (first) first.resolve(message)
    else this.said.push(message)
  }

  end(how) {
    this.ended = how
    for (const { reject } of this.waiting.splice(0)) reject(new Error(how))
  }

  next() {
    if (this.said.length > 0) return Promise.resolve(this.said.shift())
    if (this.ended !== null) return Promise.reject(new Error(this.ended))
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }))
  }
}

const running = new Set()

function started(command, args, options, say) {
  const { LD_PRELOAD, ...env } = process.env // a sanitizer's runtime is for this process's addon
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...(command === PYTHON ? env : process.env), ...options.env },
    ...options.spawn,
  })
  const heard = new Heard()
  let errors = ''
  child.stderr.on('data', (text) => {
    errors += text
  })
  const exit = new Promise((resolve) => {
    child.on('close', (code, signal) => {
      running.delete(child)
      heard.end(`the process ended (${code ?? signal}): ${errors}`)
      resolve({ code, signal, errors })
    })
  })
  running.add(child)
  say(child, heard)
  return {
    child,
    next: () => heard.next(),
    exit,
    kill: (signal) => {
      child.kill(signal)
      return exit
    },
  }
}

/**
 * A Node that has `send(message)` and `next()` (a promise of what the test sends), and runs source, an async function's body.
 * It ends when that settles, or when the test does.
 */
function nodePeer(source, { env = {}, flags = [] } = {}) {
  const program = `
    const said = [], waiting = []
    process.on('message', message => { waiting.length > 0 ? waiting.shift()(message) : said.push(message) })
    const next = () => said.length > 0 ? Promise.resolve(said.shift()) : new Promise(resolve => waiting.push(resolve))
    const send = message => new Promise(resolve => process.send(message, resolve))
    async function main () { ${source} }
    main().then(() => process.disconnect(), async error => { await send({ error: error.stack, code: error.code }); process.exit(1) })`
  const options = { env, spawn: { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] } }
  const peer = started(process.execPath, [...flags, '-e', program], options, (child, heard) =>
    child.on('message', (message) => heard.say(message)),
  )
  return { ...peer, send: (message) => peer.child.send(message) }
}

/** A Python that gets lines by \`input()\` and says lines by \`say(…)\`. */
function pythonPeer(source, args = []) {
  const program = `import sys\ndef say(*words): print(*words, flush=True)\n${source}`
  const options = {
    env: { PYTHONDONTWRITEBYTECODE: '1' },
    spawn: { stdio: ['pipe', 'pipe', 'pipe'] },
  }
  const peer = started(PYTHON, ['-c', program, ...args], options, (child, heard) =>
    createInterface(child.stdout).on('line', (line) => heard.say(line)),
  )
  return { ...peer, send: (line) => peer.child.stdin.write(line + '\n') }
}

/** Any other program that says lines. */
function programPeer(program, args) {
  const options = { spawn: { stdio: ['ignore', 'pipe', 'pipe'] } }
  return started(program, args, options, (child, heard) =>
    createInterface(child.stdout).on('line', (line) => heard.say(line)),
  )
}

/** For afterEach: what a failed test left running. */
async function endPeers() {
  await Promise.all(
    [...running].map(
      (child) =>
        new Promise((resolve) => {
          child.on('close', resolve)
          child.kill('SIGKILL')
        }),
    ),
  )
}

module.exports = { nodePeer, programPeer, pythonPeer, endPeers }
