'use strict'
// Where somebody speaks, from one probability per window, and a picture of it for the terminal.

const BEGIN = 0.5 // speech begins at this probability
const END = 0.35 // and ends below this one, if it stays there for
const PATIENCE = 0.1 // seconds
const SHORTEST = 0.25 // seconds; anything shorter isn't speech

/** Speech as a list of { from, to } in seconds. */
function speechSegments(probabilities, secondsPerWindow) {
  const segments = []
  let from = null
  let quiet = null
  for (let i = 0; i <= probabilities.length; i++) {
    const p = i < probabilities.length ? probabilities[i] : -Infinity // the end is quiet for good
    const now = i * secondsPerWindow
    if (from === null) {
      if (p >= BEGIN) from = now
    } else if (p >= END) {
      quiet = null
    } else {
      quiet ??= now
      if (now - quiet >= PATIENCE || i === probabilities.length) {
        if (quiet - from >= SHORTEST) segments.push({ from, to: quiet })
        from = quiet = null
      }
    }
  }
  return segments
}

/**
 * Lines that show probability over time, speech below it, the recording's loudness and a time axis.
 *
 * @param {{ probabilities: Float32Array, levels: number[], segments: { from: number, to: number }[],
 *   seconds: number, width: number, height?: number, style: object }} what
 */
function plotTimeline({ probabilities, levels, segments, seconds, width, height = 7, style }) {
  const margin = 12
  const columns = Math.min(width - margin - 1, probabilities.length)
  const timeOf = (column) => ((column + 0.5) * seconds) / columns
  const speech = Array.from({ length: columns }, (_, c) =>
    segments.some(({ from, to }) => timeOf(c) >= from && timeOf(c) < to),
  )
  const paint = (text, c) => (speech[c] ? style.green(text) : style.dim(text))
  const line = (label, cells) => label.padStart(margin - 2) + ' ' + cells.join('')

  const shares = inColumns(probabilities, columns)
  const lines = []
  for (let row = height - 1; row >= 0; row--) {
    const label =
      row === height - 1 ? 'speech 1.0' : row === 0 ? '0.0' : row === (height - 1) / 2 ? '0.5' : ''
    const cells = shares.map((p, c) => paint(partOfBlock(p * height - row), c))
    lines.push(line(label, ['│', ...cells]))
  }
  const axis = new Array(columns).fill('─')
  const numbers = new Array(columns).fill(' ')
  for (let second = 0; second <= seconds; second++) {
    const column = Math.round((second / seconds) * columns)
    if (column < columns) axis[column] = '┬'
    const text = second % 2 === 0 ? `${second} s` : ''
    if (column + text.length <= columns) {
      ;[...text].forEach((c, i) => {
        numbers[column + i] = c
      })
    }
  }
  lines.push(line('', ['└', ...axis]))
  lines.push(line('', [' ', ...numbers]))
  lines.push(
    line('heard', [' ', ...speech.map((on, c) => (on ? style.green('━') : style.dim('·')))]),
  )
  const loudest = Math.max(...levels)
  lines.push(
    line('loudness', [
      ' ',
      ...inColumns(levels, columns).map((level, c) =>
        paint('▁▂▃▄▅▆▇█'[Math.min(7, Math.floor((8 * level) / loudest))], c),
      ),
    ]),
  )
  return lines.map((text) => text.trimEnd())
}

/** As many values as there are columns, each the mean of those that fall into it. */
function inColumns(values, columns) {
  return Array.from({ length: columns }, (_, c) => {
    const first = Math.floor((c * values.length) / columns)
    const end = Math.max(first + 1, Math.floor(((c + 1) * values.length) / columns))
    let sum = 0
    for (let i = first; i < end; i++) sum += values[i]
    return sum / (end - first)
  })
}

/** A block filled to a part between 0 and 1, in eighths. */
function partOfBlock(part) {
  return ' ▁▂▃▄▅▆▇█'[Math.max(0, Math.min(8, Math.round(part * 8)))]
}

module.exports = { speechSegments, plotTimeline }
