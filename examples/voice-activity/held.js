'use strict'
// The memory that a listener leaves to the garbage collector: bytes of buffers beyond those that it began with.

const v8 = require('node:v8')
const vm = require('node:vm')

v8.setFlagsFromString('--expose-gc')
const collect = vm.runInNewContext('gc')

/**
 * @param {{ reset(): void, hear(i: number): Promise<void> }} listener
 * @param {number} count  windows in a pass
 * @returns {Promise<{ most: number, each: number }>} bytes: held at most in the pass, and made new for each window
 */
async function heldBy(listener, count) {
  for (let i = 0; i < 3; i++) {
    // what was collected is freed on later turns of the event loop, and by a thread of V8's
    collect()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  listener.reset()
  const before = process.memoryUsage().arrayBuffers
  let [last, most, made] = [before, before, 0]
  for (let i = 0; i < count; i++) {
    await listener.hear(i)
    const now = process.memoryUsage().arrayBuffers
    made += Math.max(0, now - last) // less: the collector ran
    most = Math.max(most, now)
    last = now
  }
  return { most: most - before, each: made / count }
}

module.exports = { heldBy }
