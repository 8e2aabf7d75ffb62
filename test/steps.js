'use strict'
// What the tests of the packed package have in common: steps that are counted one by one, and commands in process groups.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const ROOT = path.join(__dirname, '..')
const STEP_LIMIT_MS = 1_800_000

/** A folder that goes with this process, however it ends. */
function scratchFolder(name) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), `samebytes-${name}-`))
  process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
  return scratch
}

const total = { passed: 0, failed: 0 }

/** Runs all steps; the last line is `N passed, N failed`. */
function runAll(main) {
  main()
    .catch((error) => {
      console.log(error)
      total.failed++
    })
    .finally(() => {
      console.log(`${total.passed} passed, ${total.failed} failed`)
      process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1
    })
}

/** @returns {Promise<boolean>} whether it passed */
async function step(title, body) {
  const start = performance.now()
  try {
    await body()
    total.passed++
    console.log(`ok - ${title} (${((performance.now() - start) / 1000).toFixed(1)} s)`)
    return true
  } catch (error) {
    total.failed++
    console.log(`not ok - ${title}\n${String(error.stack ?? error).replace(/^/gm, '    ')}`)
    return false
  }
}

/** Starts a command; it and what it starts are one group, so nothing stays behind. out, err, text: what it has written; end() ends it. */
function start(command, args, options) {
  const child = Object.assign(
    spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true }),
    { out: '', err: '', text: '', end() {} },
  )
  child.stdout.on('data', (data) => {
    child.out += data
    child.text += data
  })
  child.stderr.on('data', (data) => {
    child.err += data
    child.text += data
  })
  child.end = () => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {}
  }
  process.on('exit', child.end)
  child.once('close', () => process.off('exit', child.end))
  return child
}

/** Waits for a command's end. @returns {Promise<{ code: number, out: string, err: string, text: string }>} */
async function ended(child) {
  const timer = setTimeout(child.end, STEP_LIMIT_MS)
  try {
    const [code, signal] = await once(child, 'close')
    const { out, err, text } = child
    assert.equal(signal, null, `${child.spawnargs.join(' ')} died or took too long\n${text}`)
    return { code, out, err, text }
  } finally {
    clearTimeout(timer)
  }
}

/** The package as scripts/build leaves it, packed into a folder. @returns {string} the tarball */
function packedIn(folder) {
  return path.join(
    folder,
    fs.readdirSync(folder).find((name) => /^samebytes-.*\.tgz$/.test(name)),
  )
}

module.exports = { ROOT, STEP_LIMIT_MS, scratchFolder, runAll, step, start, ended, packedIn }
