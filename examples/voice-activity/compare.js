'use strict'
// Times two listeners fairly: window by window in turn, each going first every other time.

/**
 * @param {{ reset(): void, hear(i: number): Promise<void> }} ours
 * @param {{ reset(): void, hear(i: number): Promise<void> }} plain
 * @returns {Promise<{ ours: number[], plain: number[] }>} the median milliseconds per window in each
 *   round; the first round warms both up and isn't among them
 */
async function compare (ours, plain, count, rounds, onProgress) {
  const medians = { ours: [], plain: [] }
  for (let round = 0; round < rounds; round++) {
    const times = { ours: [], plain: [] }
    ours.reset()
    plain.reset()
    for (let i = 0; i < count; i++) {
      if ((i + round) % 2 === 0) {
        times.ours.push(await timed(ours, i))
        times.plain.push(await timed(plain, i))
      } else {
        times.plain.push(await timed(plain, i))
        times.ours.push(await timed(ours, i))
      }
      if (i % 16 === 15 || i === count - 1) onProgress(round * count + i + 1)
    }
    if (round === 0) continue
    medians.ours.push(median(times.ours))
    medians.plain.push(median(times.plain))
  }
  return medians
}

async function timed (listener, i) {
  const start = performance.now()
  await listener.hear(i)
  return performance.now() - start
}

function median (values) {
  const sorted = Float64Array.from(values).sort()
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

module.exports = { compare, median }
