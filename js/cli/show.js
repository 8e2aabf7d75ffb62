'use strict'
// samebytes show: prints a tensor of a file, or part of it; of a file that has many, a table.

const { failure } = require('../base/errors')
const { checkHeap } = require('../runtime/heap')
const { locate, openLocated, isRaw } = require('./open')
const { UsageError, didYouMean } = require('./arguments')
const { describeTensor, cellsOf, COLUMNS } = require('./info')
const {
  plain,
  brief,
  size,
  shapeText,
  counted,
  styled,
  print,
  printJson,
  table,
  about,
  progress,
} = require('./output')

/**
 * Slices as slice() takes them: `0,1:5`, `[..., ::2]`, or an argument each.
 *
 * @param {string[]} texts
 * @returns {(number | string | null)[]}
 */
function slicesOf(texts) {
  const lists = texts.map((text) => text.trim().replace(/^\[(.*)\]$/, '$1'))
  const parts = lists.flatMap((list) => list.split(','))
  return parts.map((text) => {
    const slice = text.trim()
    if (slice === 'null' || slice === 'None') return null
    if (slice === '...' || /^(-?\d+)?:(-?\d+)?(:(-?\d+)?)?$/.test(slice.replace(/\s/g, ''))) {
      return slice
    }
    if (/^-?\d+$/.test(slice)) return Number(slice)
    throw new UsageError(
      `a slice is ${JSON.stringify(plain(slice))}; an index, '1:5', '::-1', '...' or null was expected; a tensor of a file is FILE:TENSOR`,
    )
  })
}

const MOST_NAMES = 5 // in a message

/**
 * The names of the tensors that are asked for.
 *
 * @param {import('./open').Content} file
 * @param {string | null} wanted
 * @param {string} label
 * @returns {string[]}
 */
function chosenNames({ names, format }, wanted, label) {
  if (wanted === null) {
    if (names.length > 0 || format !== 'raw') return names
    throw new UsageError(`${plain(label)} is raw bytes; --dtype says what they are`)
  }
  if (names.includes(wanted)) return [wanted]
  const some = names.slice(0, MOST_NAMES).map((name) => JSON.stringify(name))
  if (names.length > MOST_NAMES) some.push('...')
  const there = `; it has ${counted(names.length, 'tensor')}${some.length === 0 ? '' : `: ${some.join(', ')}`}`
  throw failure(
    'ERR_NOT_FOUND',
    `${label} has no tensor ${JSON.stringify(wanted)}${didYouMean(wanted, names.slice(0, 10000)) || there}`,
  )
}

const JSON_BYTES = 96 // of heap for a value, its text and its line
const MOST_ELEMENTS = 1000 // of a file whose tensors are all printed; of a tensor that is printed in full
const MOST_ROWS = 20 // tensors of such a file, and rows of the table that stands for others
const MOST_LINES = 60 // of one tensor
const TABLE = [0, 1, 2, 5] // the columns of info that show has

/**
 * @param {import('./open').TensorInfo} info
 * @returns {number}
 */
const elementsOf = ({ shape }) => shape.reduce((n, extent) => n * extent, 1)

/**
 * A file with many or large tensors: their number and size, and the first of them in a table.
 *
 * @param {import('./open').Content} file
 * @param {string} label
 * @returns {string}
 */
function summaryOf(file, label) {
  const { names, format, nbytes } = file
  const rows = names.slice(0, MOST_ROWS).map((name) => cellsOf(describeTensor(file.info(name))))
  const more =
    names.length > rows.length
      ? `and ${names.length - rows.length} more; samebytes info ${brief(label)} lists all. `
      : ''
  return [
    `${styled('bold', brief(label))}  ${format}, ${size(nbytes)}, ${counted(names.length, 'tensor')}`,
    '',
    table(
      TABLE.map((i) => COLUMNS[i]),
      rows.map((row) => TABLE.map((i) => row[i])),
    ),
    '',
    styled('dim', `${more}samebytes show ${brief(label)}:NAME prints one, --all prints every one`),
  ].join('\n')
}

/** @param {import('./arguments').Given} given */
async function show({ values: { json, all, dtype }, operands: [operand, ...texts] }) {
  const slices = slicesOf(texts)
  const located = locate(operand, true)
  const { label, tensor } = located
  const { onProgress, end } = progress()
  const file = await about(label, () => openLocated(located, { dtype, isMapped: true, onProgress }))
  try {
    const names = chosenNames(file, tensor, label)
    if (slices.length > 0 && names.length > 1) {
      throw new UsageError(
        `${plain(label)} has ${names.length} tensors; ${plain(label)}:TENSOR says which one is sliced`,
      )
    }
    if (dtype !== undefined && (file.format === 'safetensors' || file.format === 'gguf')) {
      throw new UsageError(
        `--dtype says what raw bytes are; ${plain(label)} is a .${file.format} file and has dtypes`,
      )
    }
    await about(label, async () => file.describe?.(names.slice(0, MOST_ROWS)))
    const isLong = () =>
      names.length > MOST_ROWS ||
      names.reduce((n, name) => n + elementsOf(file.info(name)), 0) > MOST_ELEMENTS
    const isSummary = !json && !all && names.length > 1 && about(label, isLong)
    if (isSummary) return print(summaryOf(file, label))
    await about(label, async () =>
      file.fetch?.(names, (info) => {
        checkKnown(info, label)
        return rowsShown(info, slices, json)
      }),
    )
    end()
    const results = about(label, () =>
      names.map((name) => showTensor(file, label, name, slices, { json, all })),
    )
    if (json) printJson(results.length === 1 ? results[0] : results)
  } finally {
    end()
    file.close()
  }
}

const EDGE = 3 // rows at each end that String(t) has of a tensor of more than MOST_ELEMENTS

/**
 * The rows of a tensor that are printed.
 *
 * @param {import('./open').TensorInfo} info
 * @param {(number | string | null)[]} slices
 * @param {boolean} json
 * @returns {[number, number][] | null} [from, end] each; null: all
 */
function rowsShown(info, [first], json) {
  const n = info.shape[0] ?? 0
  if (first === undefined) {
    return json || elementsOf(info) <= MOST_ELEMENTS || n <= 2 * EDGE
      ? null
      : [
          [0, EDGE],
          [n - EDGE, n],
        ]
  }
  const [, from, end] =
    typeof first === 'number'
      ? [0, first, first === -1 ? undefined : first + 1]
      : (/^\s*(-?\d+)?\s*:\s*(-?\d+)?\s*$/.exec(first ?? '') ?? [])
  if (from === undefined && end === undefined) return null
  const at = (/** @type {number | string} */ given) =>
    Math.max(0, Math.min(n, Number(given) < 0 ? n + Number(given) : Number(given)))
  const [low, high] = [at(from ?? 0), at(end ?? n)]
  return low < high ? [[low, high]] : []
}

/**
 * @param {import('./open').TensorInfo} info
 * @param {string} label  of the file
 * @param {string} [option]  that says what raw bytes are
 */
function checkKnown(info, label, option = '--dtype') {
  if (!isRaw(info)) return
  const name = plain(info.name === '' ? label : JSON.stringify(info.name))
  throw new UsageError(
    `${name} is of ${info.block.bytes} raw ${info.block.bytes === 1 ? 'byte' : 'bytes'} an element (NumPy has no bfloat16 and no float8); ${option} says what they are`,
  )
}

/**
 * @param {import('./open').Content} file
 * @param {string} label
 * @param {string} name
 * @param {(number | string | null)[]} slices
 * @param {{ json: boolean, all: boolean }} options
 */
function showTensor(file, label, name, slices, { json, all }) {
  const info = file.info(name)
  checkKnown(info, label)
  const { type, block, fileShape } = info
  const whole = file.get(name)
  const found = slices.length === 0 ? whole : /** @type {any} */ (whole).slice(...slices)
  try {
    if (json) checkHeap(JSON_BYTES * found.size, () => `${found.size} values as JSON; take a part`)
    if (json) return { name, dtype: found.dtype, shape: [...found.shape], values: found.toJSON() }
    const foreign =
      block.elements > 1 || block.bytes !== whole.itemsize
        ? `; bytes of ${brief(type)} ${shapeText(fileShape)}`
        : ''
    const cut =
      found.size > MOST_ELEMENTS
        ? `; ${size(found.nbytes)}, of which the edges are shown: a slice shows a part`
        : ''
    const lines = String(found).split('\n')
    const rest = all ? [] : lines.splice(MOST_LINES)
    if (rest.length > 0) {
      lines.push(
        styled('dim', `... ${rest.length} more lines: a slice shows a part, --all prints them`),
      )
    }
    const head =
      styled('bold', name === '' ? '' : `${brief(name)}  `) +
      styled('dim', `${found.dtype} ${shapeText(found.shape)}${foreign}${cut}`)
    print([head, ...lines].join('\n'))
  } finally {
    found.dispose()
    if (!whole.isDisposed) whole.dispose()
  }
}

module.exports = { show, chosenNames, checkKnown }
