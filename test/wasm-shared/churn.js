'use strict'
// Three threads that make and dispose tensors in one memory, in a process of their own: there memory is still small.
const { full, memory, tensor, wasmMemory, zeros } = require('samebytes')
const { start } = require('./workers')

const LARGEST = 200000 // elements

/**
 * Makes, fills, checks and disposes tensors, some of them large; each holds a number that only this thread writes.
 * The same runs in each thread.
 *
 * @param {number} mine  the thread's number
 */
function churn(mine, rounds) {
  const held = []
  let random = (mine * 2654435761) >>> 0
  const next = (n) => {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0
    return Math.floor((random / 2 ** 32) * n)
  }
  const drop = (at) => {
    const [{ t, value }] = held.splice(at, 1)
    const { data } = t
    for (let i = 0; i < data.length; i += data.length > 5000 ? 509 : 1) {
      if (data[i] !== value) {
        throw new Error(`thread ${mine}: ${data[i]} instead of ${value} at ${i} of ${data.length}`)
      }
    }
    if (data.at(-1) !== value || t.get(0) !== value) {
      throw new Error(`thread ${mine}: an end is not ${value}`)
    }
    t.dispose()
  }
  for (let round = 0; round < rounds; round++) {
    const value = mine * rounds + round
    const size = 1 + next(round % 100 === 0 ? LARGEST : 2000)
    const one = tensor(value, 'int32')
    const t = next(2) ? full([size], value, 'int32') : zeros([size], 'int32').copyFrom(one)
    one.dispose()
    held.push({ t, value })
    if (held.length > 20) drop(next(held.length))
  }
  while (held.length > 0) drop(0)
}

/** Runs it in this thread and two others; prints what was seen, as JSON. */
async function main(rounds) {
  const [before, { byteLength }] = [memory(), wasmMemory().buffer]
  const meeting = zeros([1], 'int32')
  const source = `
    const meeting = new Int32Array(s.wasmMemory().buffer, workerData.at, 1)
    const { churn } = require('./test/wasm-shared/churn')
    Atomics.add(meeting, 0, 1)
    while (Atomics.load(meeting, 0) < 3) continue
    churn(workerData.mine, ${rounds})
    port.once('message', () => {}) // it lives on
    port.postMessage('done')`
  const threads = [1, 2].map((mine) => start(source, { mine, at: Number(meeting.dataPtr) }))
  while (Atomics.load(meeting.data, 0) < 2) await new Promise((resolve) => setImmediate(resolve))
  Atomics.add(meeting.data, 0, 1)
  churn(3, rounds)
  const said = [...(await Promise.all(threads.map(({ next }) => next()))), 'done']
  meeting.dispose()
  const after = memory()
  const result = {
    said,
    left: after.bytes.wasm - before.bytes.wasm,
    hasGrown: wasmMemory().buffer.byteLength > byteLength,
    hasNoticed: after.grown > before.grown,
  }
  for (const { send } of threads) send('end')
  console.log(JSON.stringify(result))
}

module.exports = { churn, main }
