'use strict'
// What the tests of several threads share: workers over this thread's memory.
const { Worker } = require('node:worker_threads')
const { backend: engine } = require('../../js/backend/calls')
const { closeGroups, turn } = require('../setup')

/**
 * Starts a thread that runs a program after `const s = require('samebytes')`, with `port` to this thread.
 *
 * @returns {{ worker: Worker, next: () => Promise<any>, send: (message: any) => void, ended: Promise<number> }}
 */
function start(source, workerData) {
  const head =
    "const s = require('samebytes'); const { parentPort: port, workerData } = require('node:worker_threads');"
  const worker = new Worker(`${head}\n${source}`, { eval: true, workerData })
  const messages = []
  const waiting = []
  const failed = []
  const settle = () => {
    while (waiting.length > 0 && messages.length > 0) waiting.shift().resolve(messages.shift())
    if (failed.length > 0) for (const { reject } of waiting.splice(0)) reject(failed[0])
  }
  worker.on('message', (message) => {
    messages.push(message)
    settle()
  })
  worker.on('error', (error) => {
    failed.push(error)
    settle()
  })
  const ended = new Promise((resolve) =>
    worker.once('exit', (code) => {
      failed.push(new Error(`the worker ended with ${code}`))
      settle()
      resolve(code)
    }),
  )
  const next = () =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      settle()
    })
  return { worker, next, send: (message) => worker.postMessage(message), ended }
}

/** How many environments the memory has: one a thread and copy of the package. */
function environments() {
  let count = 0
  for (let id = engine.exports.sb_next_id(0); id !== 0; id = engine.exports.sb_next_id(id)) count++
  return count
}

/** Collects what earlier tests left, so that only what a test does changes memory(). */
async function settle() {
  closeGroups()
  for (let round = 0; round < 3; round++) {
    globalThis.gc()
    await turn()
  }
}

module.exports = { environments, settle, start }
