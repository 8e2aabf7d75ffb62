'use strict'
// Threads of a page that have one memory. Nobody is told when a worker is terminated, but its Web Lock becomes free:
// each thread holds one for as long as it lives, and whoever gets it after that gives back what the thread held.

/** @typedef {import('./wasm-shared').SharedBackend} SharedBackend */

/**
 * @param {SharedBackend} engine  this thread's
 * @returns {Promise<void>} when the others know of this thread
 */
async function guard (engine) {
  const { name } = engine.group
  const lockOf = (/** @type {number} */ id) => `samebytes ${name} ${id}`
  const channel = new BroadcastChannel(`samebytes ${name}`)
  /** @type {Set<number>} */
  const watched = new Set([engine.id])

  /** @param {number} id  of a thread, which has its lock */
  const watch = id => {
    if (watched.has(id)) return
    watched.add(id)
    navigator.locks.request(lockOf(id), () => { engine.end(id) })
    channel.postMessage(engine.id) // it may not know this one yet
  }
  channel.onmessage = ({ data }) => { watch(data) }
  await new Promise((resolve, reject) => {
    navigator.locks.request(lockOf(engine.id), () => {
      resolve(undefined)
      return new Promise(() => {}) // held until the thread is gone
    }).catch(reject)
  })
  channel.postMessage(engine.id)
}

module.exports = { guard }
