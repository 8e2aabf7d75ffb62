'use strict'
// Threads of a page that have one memory. Nobody is told when a worker is terminated, but its Web Lock becomes free:
// each thread holds one for as long as it lives. One of them, the keeper, waits for the others' and gives back what a dead
// one held. Only one: a thread that tidies up may be terminated in the middle of that, and workers often go
// together. The first thread is the keeper, the page's main thread as a rule; where it goes, another one is.

const { failure } = require('./errors')

/** @typedef {import('./wasm-shared').SharedBackend} SharedBackend */

/** Locks are held until these settle, which they never do. @type {Promise<void>[]} */
const held = []

/**
 * @param {string} name
 * @returns {Promise<void>} when this thread has the lock, which it keeps
 */
function take (name) {
  return new Promise((resolve, reject) => {
    const forever = new Promise(() => {})
    held.push(forever)
    navigator.locks.request(name, () => {
      resolve()
      return forever
    }).catch(reject)
  })
}

/**
 * @param {SharedBackend} engine  this thread's
 * @returns {Promise<void>} when the others know of this thread
 * @throws {Error} ERR_UNSUPPORTED where there are no Web Locks, as a rejection
 */
async function guard (engine) {
  const { name } = engine.group
  const lockOf = (/** @type {number} */ id) => `samebytes ${name} ${id}`
  /** @type {Set<number>} */
  const waited = new Set([engine.id])

  // What memory says counts: a thread is in its list when it has its lock, and stays there until it is given up.
  const watchAll = () => {
    for (const id of engine.watched()) {
      if (waited.has(id)) continue
      waited.add(id)
      navigator.locks.request(lockOf(id), () => { engine.end(id) })
    }
  }
  try {
    await take(lockOf(engine.id))
  } catch (error) {
    throw failure('ERR_UNSUPPORTED', `shared memory needs Web Locks: ${/** @type {Error} */ (error).message}`)
  }
  engine.beWatched()
  const channel = new BroadcastChannel(`samebytes ${name}`)
  channel.postMessage('here')
  take(`samebytes ${name} keeper`).then(() => {
    channel.onmessage = watchAll
    watchAll()
  }, () => {}) // the thread ends first
}

module.exports = { guard }
