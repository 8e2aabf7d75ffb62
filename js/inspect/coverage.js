'use strict'
// Which part of a block of bytes tensors have.

/**
 * How much of each of some equal cells of a block tensors touch. Self-contained: pages have its text.
 *
 * @param {number} cells
 * @param {number} nbytes  of the block
 * @param {{ shape: number[], strides: number[], itemsize: number, starts: number[] }} tensor  starts: bytes, of the first element of each
 * @returns {number[]} 0 to 1
 */
function coverage(cells, nbytes, { shape, strides, itemsize, starts }) {
  const filled = new Array(cells).fill(0)
  if (nbytes <= 0 || shape.includes(0)) return filled
  const width = nbytes / cells
  let low = 0
  /** @type {{ step: number, n: number }[]} */
  const axes = []
  for (let d = 0; d < shape.length; d++) {
    const step = strides[d] * itemsize
    if (step < 0) low += (shape[d] - 1) * step
    if (step !== 0 && shape[d] > 1) axes.push({ step: Math.abs(step), n: shape[d] })
  }
  axes.sort((a, b) => b.step - a.step)
  // Of the axes from each one on: bytes from the first to the last, and how many of them elements have.
  const spans = new Array(axes.length + 1).fill(itemsize)
  const touched = spans.slice()
  for (let d = axes.length - 1; d >= 0; d--) {
    spans[d] = (axes[d].n - 1) * axes[d].step + spans[d + 1]
    touched[d] = Math.min(
      spans[d],
      axes[d].step >= spans[d + 1] ? axes[d].n * touched[d + 1] : spans[d],
    )
  }
  /** @param {number} from @param {number} to @param {number} share */
  const add = (from, to, share) => {
    const last = Math.min(cells - 1, Math.ceil(to / width) - 1)
    for (let c = Math.max(0, Math.floor(from / width)); c <= last; c++) {
      filled[c] +=
        (share * Math.max(0, Math.min(to, (c + 1) * width) - Math.max(from, c * width))) / width
    }
  }
  let budget = 40000 // steps, whatever strides there are
  /** @param {number} at @param {number} d */
  const cover = (at, d) => {
    if (--budget < 0 || d === axes.length || touched[d] >= spans[d] || axes[d].step <= width / 4) {
      add(at, at + spans[d], touched[d] / spans[d])
      return
    }
    for (let i = 0; i < axes[d].n; i++) cover(at + i * axes[d].step, d + 1)
  }
  for (const start of starts) cover(start + low, 0)
  return filled.map((share) => (share > 0.999999 ? 1 : share))
}

module.exports = { coverage }
