'use strict'
// The program's output: text for people, JSON for programs, errors as one sentence and the code, a transfer's progress. Names come from
// files that anybody may have made, so control characters are escaped.

const { failure, UNSEEN, plain } = require('../base/errors')

const MOST_SHOWN = 160 // characters of a name or text

const LEAST_WIDTH = 24 // of a terminal that says how wide it is

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/**
 * A name or text on one line; only its ends if it is long.
 *
 * @param {string} text
 */
function brief(text) {
  const half = MOST_SHOWN / 2
  return plain(text.length <= MOST_SHOWN ? text : `${text.slice(0, half)}...${text.slice(-half)}`)
}

/**
 * A number of bytes as people read it.
 *
 * @param {number} nbytes
 */
function size(nbytes) {
  let [n, unit] = [nbytes, 0]
  for (; n >= 1024 && unit < UNITS.length - 1; unit++) n /= 1024
  return `${unit === 0 ? n : n.toFixed(n < 10 ? 2 : n < 100 ? 1 : 0)} ${UNITS[unit]}`
}

/** @param {readonly number[]} shape */
const shapeText = (shape) => `[${shape.join(', ')}]`

/**
 * @param {number} n
 * @param {string} word
 */
const counted = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`

/**
 * Whether text to this stream has colours, with FORCE_COLOR and NO_COLOR as in Node.
 *
 * @param {{ isTTY?: boolean }} stream
 */
function hasColours(stream) {
  const { FORCE_COLOR: forced, NO_COLOR: refused, TERM } = process.env
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  if (refused !== undefined && refused !== '') return false
  return stream.isTTY === true && TERM !== 'dumb'
}

/** @typedef {'bold' | 'dim' | 'red' | 'green' | 'yellow'} Style */
const STYLES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] }

/**
 * @param {Style} style
 * @param {string} text
 * @param {{ isTTY?: boolean }} [stream]
 */
function styled(style, text, stream = process.stdout) {
  const [on, off] = STYLES[style]
  return hasColours(stream) ? `\x1b[${on}m${text}\x1b[${off}m` : text
}

/** @param {string} text  of lines */
function print(text) {
  process.stdout.write(`${text}\n`)
}

/** Prints to stderr. @param {string} text */
function note(text) {
  process.stderr.write(`${text}\n`)
}

/** Says what is wrong. @param {string} who  program and command @param {string} text */
function complain(who, text) {
  note(`${styled('red', `${who}:`, process.stderr)} ${text}`)
}

/**
 * @param {unknown} value  bigint: numbers where they are exact, else text; numbers that JSON lacks: text
 * @throws {RangeError} ERR_MEMORY
 */
function printJson(value) {
  let text
  try {
    text = JSON.stringify(
      value,
      (key, x) => {
        if (typeof x === 'bigint') return Number.isSafeInteger(Number(x)) ? Number(x) : String(x)
        if (typeof x === 'number' && !Number.isFinite(x)) return String(x)
        return ArrayBuffer.isView(x) ? Array.from(/** @type {any} */ (x)) : x
      },
      2,
    )
  } catch (error) {
    if (error instanceof RangeError) {
      throw failure(
        'ERR_MEMORY',
        `as JSON it is longer than a text can be (${error.message}); take a part`,
      )
    }
    throw error
  }
  const escaped = (/** @type {string} */ c) =>
    [...c].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
  print(text.replace(UNSEEN, (c) => (c === '\n' ? c : escaped(c))))
}

/** A column: its title, whether it is of numbers, how a cell is styled. @typedef {{ title: string, isNumber?: boolean, style?: (cell: string) => Style | null }} Column */

/**
 * A table, without the columns that are empty in all rows.
 *
 * @param {Column[]} columns
 * @param {string[][]} rows
 * @returns {string}
 */
function table(columns, rows) {
  const shown = columns
    .map((column, i) => ({
      ...column,
      i,
      width: rows.reduce((width, row) => Math.max(width, row[i].length), column.title.length),
    }))
    .filter(({ i }) => rows.some((row) => row[i] !== ''))
  const lines = [columns.map(({ title }) => title), ...rows].map((cells, line) =>
    shown.map(({ i, width, isNumber, style }, k) => {
      const look = line === 0 ? 'bold' : style?.(cells[i])
      const text = look ? styled(look, cells[i]) : cells[i]
      const space = ' '.repeat(width - cells[i].length)
      if (isNumber) return space + text
      return k === shown.length - 1 ? text : text + space
    }),
  )
  return lines.map((cells) => cells.join('  ')).join('\n')
}

/** A closed pipe ends the program without an error; output that cannot be written is one. */
function endWithReader() {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (/** @type {any} */ (error).code === 'EPIPE') process.exit()
      if (stream === process.stdout) {
        complain('samebytes', `the output could not be written: ${plain(error.message)} (ERR_IO)`)
      }
      process.exit(1)
    })
  }
}

/**
 * Characters of a line: the terminal's, up to a limit.
 *
 * @param {number} most
 * @param {{ isTTY?: boolean, columns?: number }} [stream]
 */
function widthOf(most, { isTTY, columns } = process.stdout) {
  return isTTY && columns !== undefined && columns >= LEAST_WIDTH ? Math.min(most, columns) : most
}

/**
 * Calls what, whose errors get the file's name; those of its promise as well.
 *
 * @template T
 * @param {string} label  of the file
 * @param {() => T} what
 * @returns {T}
 */
function about(label, what) {
  /** @param {any} error @returns {never} */
  const named = (error) => {
    // Only the parsers' errors: the messages of others have the name.
    if (
      (error?.code === 'ERR_FORMAT' || error?.code === 'ERR_DTYPE') &&
      !String(error.message).startsWith(label)
    ) {
      error.message = `${label}: ${error.message}`
    }
    throw error
  }
  try {
    const result = what()
    return result instanceof Promise ? /** @type {any} */ (result.catch(named)) : result
  } catch (error) {
    return named(error)
  }
}

/**
 * Prints an error's message and code, without its stack.
 *
 * @param {string} who  program and command
 * @param {any} error
 * @returns {number} exit status
 */
function failed(who, error) {
  const message = plain(String(error?.message ?? error))
  complain(who, typeof error?.code === 'string' ? `${message} (${plain(error.code)})` : message)
  if (/\bsamebytes\b/i.test(process.env.NODE_DEBUG ?? '') && error?.stack !== undefined) {
    note(plain(error.stack).replaceAll('\\n', '\n'))
  }
  return 1
}

const BAR = 30 // characters of a transfer's bar
const MOST_LINE = 120 // of its line
const PERIOD = 80 // ms between two lines

/**
 * A transfer's progress in one line of a terminal; nothing without a terminal.
 *
 * @returns {{ onProgress: ((progress: { done: number, total: number }) => void) | undefined, end: () => void }}
 */
function progress() {
  const { stderr: stream } = process
  if (stream.isTTY !== true || process.env.TERM === 'dumb') {
    return { onProgress: undefined, end() {} }
  }
  const began = performance.now()
  let last = -Infinity
  return {
    onProgress({ done, total }) {
      const now = performance.now()
      if (now - last < PERIOD && done < total) return
      last = now
      const part = total === 0 ? 1 : done / total
      const full = Math.floor(part * BAR)
      const speed = now > began ? `${size(Math.round((done / (now - began)) * 1000))}/s` : ''
      const line = `[${'='.repeat(full)}${' '.repeat(BAR - full)}] ${String(Math.floor(part * 100)).padStart(3)} %  ${size(done)} of ${size(total)}  ${speed}`
      stream.write(`\r${line.slice(0, widthOf(MOST_LINE, stream) - 1)}\x1b[K`) // a wider line would wrap, and stay each time
    },
    end() {
      stream.write('\r\x1b[K')
    },
  }
}

module.exports = {
  plain,
  brief,
  size,
  shapeText,
  counted,
  styled,
  print,
  note,
  complain,
  printJson,
  table,
  endWithReader,
  widthOf,
  about,
  failed,
  progress,
}
