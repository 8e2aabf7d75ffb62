'use strict'
// Runs a command and ends it if it hangs: it and what it started computed for too long, or computed nothing for a long time. How busy
// others keep the machine makes no difference. Linux; elsewhere there is no limit.
//
//   node .ci/limit.js SECONDS COMMAND...    SECONDS of processor time; the status is the command's, 124 when it was ended

const { spawn } = require('node:child_process')
const { constants } = require('node:os')
const { secondsOfTree } = require('../test/processor-time')

const IDLE_MS = Number(process.env.IDLE_LIMIT ?? 900) * 1000
const IDLE_SECONDS = 0.5 // of processor time in IDLE_MS; what only waits takes less
const LOOK_MS = 2000
const GRACE_MS = 10_000

const [limit, command, ...args] = process.argv.slice(2)
if (!(Number(limit) > 0) || command === undefined) {
  console.error('node .ci/limit.js SECONDS COMMAND...')
  process.exit(2)
}

// A group of its own, so that what it has started ends with it.
const run = spawn(command, args, { stdio: 'inherit', detached: true })
const send = signal => { try { process.kill(-run.pid, signal) } catch {} }
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => { send(signal) })

let isOver = false
let since = performance.now() // when it had computed `before` s
let before = 0
const watch = setInterval(() => {
  const seconds = secondsOfTree(run.pid)
  const now = performance.now()
  if (Math.abs(seconds - before) > IDLE_SECONDS) [since, before] = [now, seconds] // less, when what it started left it
  if (seconds > Number(limit)) end(`it computed for more than ${limit} s`)
  else if (now - since > IDLE_MS && secondsOfTree(process.pid) > 0) end(`it did nothing for ${IDLE_MS / 1000} s`)
}, LOOK_MS)

function end (why) {
  clearInterval(watch)
  isOver = true
  console.error(`${[command, ...args].join(' ')}: ${why}, and was ended`)
  send('SIGTERM')
  setTimeout(() => send('SIGKILL'), GRACE_MS).unref()
}

run.once('error', error => {
  console.error(`${command}: ${error.message}`)
  process.exit(127)
})
run.once('exit', (code, signal) => {
  clearInterval(watch)
  if (isOver) send('SIGKILL') // what outlived it
  process.exitCode = isOver ? 124 : code ?? 128 + constants.signals[signal]
})
