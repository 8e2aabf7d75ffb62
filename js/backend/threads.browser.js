'use strict'
// Threads of a page that share memory. A page is not told when a worker is terminated, but the worker's Web Locks become free. So each
// thread holds a lock for as long as it lives, and one of them, the keeper, waits for the others' locks and frees what a dead thread
// held. There is one keeper because workers often end together, and one that ends while it frees would leave it half done. The first
// thread is the keeper, as a rule the page's main thread; when it ends, another one becomes it.

/** @typedef {import('./wasm-shared').SharedBackend} SharedBackend */

/** The locks are held until these promises settle, which they never do. @type {Promise<void>[]} */
const held = []

/**
 * @param {string} name
 * @returns {Promise<void>} when this thread has the lock, which it keeps
 */
function take(name) {
  return new Promise((resolve, reject) => {
    const forever = new Promise(() => {})
    held.push(forever)
    navigator.locks
      .request(name, () => {
        resolve()
        return forever
      })
      .catch(reject)
  })
}

/**
 * May this thread have Web Locks? An isolated page may not if it is a sandboxed frame.
 *
 * @returns {Promise<Error | null>} why not; null: it may
 */
async function whyNoLocks() {
  try {
    await navigator.locks.request(`samebytes ${Math.random()}`, () => {})
    return null
  } catch (error) {
    return /** @type {Error} */ (error)
  }
}

/** Is this an AudioWorklet? It has no Web Locks, so what it holds is never freed for it. */
const isWorklet = () =>
  typeof navigator !== 'object' &&
  typeof (/** @type {any} */ (globalThis).AudioWorkletGlobalScope) === 'function'

/**
 * @param {SharedBackend} engine  this thread's, where locks can be had
 * @returns {Promise<void>} when the others know of this thread
 */
async function guard(engine) {
  const { name } = engine.group
  const lockOf = (/** @type {number} */ id) => `samebytes ${name} ${id}`
  /** @type {Set<number>} */
  const waited = new Set([engine.id])

  // The list in memory counts: a thread is in it from when it has its lock until its environment is freed.
  const watchAll = () => {
    for (const id of engine.watched()) {
      if (waited.has(id)) continue
      waited.add(id)
      navigator.locks.request(lockOf(id), () => {
        engine.end(id)
        watchAll() // one that was terminated as well may not have been heard
      })
    }
  }
  await take(lockOf(engine.id))
  engine.beWatched()
  const channel = new BroadcastChannel(`samebytes ${name}`)
  channel.postMessage('here')
  take(`samebytes ${name} keeper`).then(
    () => {
      channel.onmessage = watchAll
      watchAll()
    },
    () => {},
  ) // the thread ends first
}

module.exports = { guard, isWorklet, whyNoLocks }
