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
 * May this thread have Web Locks? Not every page that is isolated may: a sandboxed frame has no storage to have them in.
 *
 * @returns {Promise<Error | null>} what is in the way
 */
async function whyNoLocks () {
  try {
    await navigator.locks.request(`samebytes ${Math.random()}`, () => {})
    return null
  } catch (error) {
    return /** @type {Error} */ (error)
  }
}

/** Is this an AudioWorklet? It has no Web Locks, and lives as long as its context: what it holds stays that long, or longer. */
const isWorklet = () => typeof navigator !== 'object' && typeof (/** @type {any} */ (globalThis).AudioWorkletGlobalScope) === 'function'

/**
 * @param {SharedBackend} engine  this thread's, where locks can be had
 * @returns {Promise<void>} when the others know of this thread
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
  await take(lockOf(engine.id))
  engine.beWatched()
  const channel = new BroadcastChannel(`samebytes ${name}`)
  channel.postMessage('here')
  take(`samebytes ${name} keeper`).then(() => {
    channel.onmessage = watchAll
    watchAll()
  }, () => {}) // the thread ends first
}

module.exports = { guard, isWorklet, whyNoLocks }
