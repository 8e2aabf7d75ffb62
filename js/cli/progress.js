'use strict'
// A transfer's progress in one line of a terminal; nothing without a terminal.

const { size, widthOf } = require('./output')

const WIDTH = 30 // of the bar
const MOST = 120 // characters of the line
const PERIOD = 80 // ms between two lines

/**
 * @param {NodeJS.WriteStream} [stream]
 * @returns {{ onProgress: ((progress: { done: number, total: number }) => void) | undefined, end: () => void }}
 */
function progress (stream = process.stderr) {
  if (stream.isTTY !== true || process.env.TERM === 'dumb') return { onProgress: undefined, end () {} }
  const began = performance.now()
  let last = -Infinity
  return {
    onProgress ({ done, total }) {
      const now = performance.now()
      if (now - last < PERIOD && done < total) return
      last = now
      const part = total === 0 ? 1 : done / total
      const full = Math.floor(part * WIDTH)
      const speed = now > began ? `${size(Math.round(done / (now - began) * 1000))}/s` : ''
      const line = `[${'='.repeat(full)}${' '.repeat(WIDTH - full)}] ${String(Math.floor(part * 100)).padStart(3)} %  ${size(done)} of ${size(total)}  ${speed}`
      stream.write(`\r${line.slice(0, widthOf(MOST, stream) - 1)}\x1b[K`) // a wider line would wrap, and stay each time
    },
    end () { stream.write('\r\x1b[K') }
  }
}

module.exports = { progress }
