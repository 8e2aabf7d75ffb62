'use strict'
// The maps of a process' threads: each thread sends its own, and the one that asked merges them by address.

const { BroadcastChannel, isMainThread, threadId } = require('node:worker_threads')

/** @typedef {import('./map').MemoryMap} MemoryMap */
/** @typedef {{ map: MemoryMap, name: string, age: number }} Answer age: requests since then */

const STALE = 20 // requests that a busy thread may leave unanswered before its map is dropped

/** @type {BroadcastChannel | null} */
let channel = null
/** The last maps of other threads, by thread number @type {Map<number, Answer>} */
const answers = new Map()

/**
 * Lets this thread answer, without keeping the process alive.
 *
 * @param {(limit: number) => MemoryMap} take
 */
function open(take) {
  const isWhole = typeof BroadcastChannel?.prototype?.unref === 'function' // other runtimes lack parts of it
  if (channel !== null || !isWhole) return
  const mine = (channel = new BroadcastChannel(`samebytes.inspect.${process.pid}`))
  mine.onmessage = (/** @type {any} */ { data }) => {
    if (typeof data?.ask === 'number') mine.postMessage({ from: threadId, map: take(data.ask) })
    else if (data?.gone !== undefined) answers.delete(data.gone)
    else if (data?.map !== undefined) {
      const name = data.from === 0 ? 'the main thread' : `worker ${data.from}`
      answers.set(data.from, { map: data.map, name, age: 0 })
    }
  }
  mine.unref()
  if (isMainThread) return
  process.on('exit', () => {
    try {
      channel?.postMessage({ gone: threadId })
    } catch {} // the thread ends anyway
  })
}

function close() {
  channel?.close()
  channel = null
  answers.clear()
}

/** Asks the other threads, which answer in a turn of their event loops. @param {number} limit */
function ask(limit) {
  for (const [id, answer] of answers) if (++answer.age > STALE) answers.delete(id)
  channel?.postMessage({ ask: limit })
}

/**
 * This thread's map merged with the others': memory that two threads have is one region.
 *
 * @param {MemoryMap} map
 * @returns {MemoryMap}
 */
function withOthers(map) {
  if (answers.size === 0) return map
  const regions = map.regions.map((region) => ({ ...region, tensors: [...region.tensors] }))
  const totals = { ...map.totals }
  for (const [id, { map: other, name }] of [...answers].sort((a, b) => a[0] - b[0])) {
    const first = id * 2 ** 32 // what its ids begin at, so that they differ from other threads'
    const thread = /** @type {import('./map').Owner} */ ({ kind: 'threads', name, count: 1 })
    totals.tensors += other.totals.tensors
    totals.untraced += other.totals.untraced
    for (const theirs of other.regions) {
      const tensors = theirs.tensors.map((row) => ({ ...row, id: first + row.id, thread: name }))
      const [begin, end] = [Number(theirs.address), Number(theirs.address) + theirs.nbytes]
      const ours = regions.find(({ address, nbytes, count, device }) => {
        if (address === null || theirs.address === null) return false
        const isNear = Number(address) < end && begin < Number(address) + nbytes
        return isNear && count === 1 && device === theirs.device
      })
      if (ours === undefined) {
        const owners = [...theirs.owners, thread]
        regions.push({ ...theirs, id: first + theirs.id, owners, tensors })
        totals.regions += theirs.count
        totals.bytes += theirs.count * theirs.nbytes
        continue
      }
      const shift = begin - Number(ours.address)
      ours.tensors.push(
        ...tensors.map((row) => ({ ...row, starts: row.starts.map((start) => start + shift) })),
      )
      ours.more += theirs.more
      const others = ours.owners.filter(
        (owner) => owner.kind !== 'threads' || owner.name.startsWith('worker'),
      )
      ours.owners = [...others, thread]
    }
  }
  regions.sort((a, b) => b.nbytes * b.count - a.nbytes * a.count || a.id - b.id)
  return { ...map, totals, regions }
}

module.exports = { open, close, ask, withOthers }
