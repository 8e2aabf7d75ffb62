'use strict'
// Threads of a page that have one memory. Nobody is told when a worker is terminated, but its Web Lock becomes free:
// each thread holds one for as long as it lives. One of them, the keeper, waits for the others' and gives back what a dead
// one held. Only one: a thread that tidies up may be terminated in the middle of that, and workers often go
// together. The first thread is the keeper, the page's main thread as a rule; where it goes, another one is.

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
 * @returns {Promise<void>} when the others can know of this thread
 */
async function guard (engine) {
  const { name } = engine.group
  const lockOf = (/** @type {number} */ id) => `samebytes ${name} ${id}`
  const channel = new BroadcastChannel(`samebytes ${name}`)
  /** @type {Set<number>} */
  const watched = new Set([engine.id])
  let isKeeper = false

  /** @param {number} id  of a thread, which has its lock */
  const watch = id => {
    if (watched.has(id)) return
    watched.add(id)
    navigator.locks.request(lockOf(id), () => { engine.end(id) })
  }
  channel.onmessage = ({ data }) => {
    if (data === 'who?') channel.postMessage(engine.id)
    else if (isKeeper) watch(data)
  }
  await take(lockOf(engine.id))
  channel.postMessage(engine.id)
  take(`samebytes ${name} keeper`).then(() => {
    isKeeper = true
    channel.postMessage('who?')
  }, () => {}) // the thread ends first
}

module.exports = { guard }
