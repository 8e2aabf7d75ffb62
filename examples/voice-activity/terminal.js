'use strict'
// Colour where a person is looking, plain text everywhere else.

const live = Boolean(process.stdout.isTTY)
const colour = live && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
const code = (on, off) => (text) => (colour ? `\x1b[${on}m${text}\x1b[${off}m` : String(text))

const style = { bold: code(1, 22), dim: code(2, 22), green: code(32, 39), red: code(31, 39) }
const width = Math.max(60, Math.min(process.stdout.columns || 80, 120))

/** A progress bar that is redrawn on a terminal, and one line when it is done elsewhere. */
function progress(label, total) {
  let shown = -1
  return (done) => {
    const percent = Math.floor((100 * done) / total)
    if (percent === shown) return
    shown = percent
    const bar = '█'.repeat(Math.round(percent / 5)).padEnd(20, '░')
    const line = fact(label, `${style.green(bar)} ${String(percent).padStart(3)} %`)
    if (live) process.stdout.write('\r' + line + (done === total ? '\n' : ''))
    else if (done === total) process.stdout.write(line + '\n')
  }
}

/** A label and what there is to say about it. */
function fact(label, text) {
  return `  ${style.dim(label.padEnd(11))} ${text}`
}

/** Rows of cells as aligned lines; `right` lists the columns that are numbers. */
function table(head, rows, right = []) {
  const widths = head.map((_, c) =>
    Math.max(...[head, ...rows].map((row) => String(row[c]).length)),
  )
  const line = (row) =>
    '  ' +
    row
      .map((cell, c) =>
        right.includes(c) ? String(cell).padStart(widths[c]) : String(cell).padEnd(widths[c]),
      )
      .join('   ')
      .trimEnd()
  return [style.dim(line(head)), ...rows.map(line)]
}

module.exports = { style, width, progress, fact, table }
