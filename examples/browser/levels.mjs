// What the waveform is drawn from: of each window the lowest, the highest and the mean-square sample.
// The worker does this where there is one, else the page.

import { tidy } from './dist/samebytes.mjs'

/**
 * @param {{ windows: object, levels: object }} tensors  windows: [count, samples]; levels: [count, 3], written
 * @param {number} from  the first window to measure
 * @param {number} end  the first one not to
 */
export function measure({ windows, levels }, from, end) {
  for (let i = from; i < end; i++) {
    tidy(() => levels.select(0, i).data.set(levelsOf(windows.select(0, i).data))) // taken anew: memory may have grown
  }
}

/** @param {Float32Array} samples */
function levelsOf(samples) {
  let [low, high, squares] = [0, 0, 0]
  for (const x of samples) {
    if (x < low) low = x
    if (x > high) high = x
    squares += x * x
  }
  return [low, high, Math.sqrt(squares / samples.length)]
}
