'use strict'
// Times two listeners fairly: whole passes in turn, each going first every other time, so that each
// pays for its own garbage.

/**
 * @param {{ reset(): void, hear(i: number): Promise<void> }} ours
 * @param {{ reset(): void, hear(i: number): Promise<void> }} plain
 * @param {number} count  windows in a pass
 * @param {number} rounds  the first warms both up and isn't among the times
 * @param {(passes: number) => void} onProgress
 * @returns {Promise<{ ours: number[], plain: number[] }>} milliseconds per window, the mean of each pass
 */
async function compare(ours, plain, count, rounds, onProgress) {
  const times = { ours: [], plain: [] }
  for (let round = 0; round < rounds; round++) {
    const turns = [
      [ours, times.ours],
      [plain, times.plain],
    ]
    if (round % 2 === 1) turns.reverse()
    for (const [listener, list] of turns) {
      const time = await pass(listener, count)
      if (round > 0) list.push(time)
    }
    onProgress(round + 1)
  }
  return times
}

async function pass(listener, count) {
  const start = performance.now()
  listener.reset()
  for (let i = 0; i < count; i++) await listener.hear(i)
  return (performance.now() - start) / count
}

function median(values) {
  const sorted = Float64Array.from(values).sort()
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

module.exports = { compare, median }
