'use strict'
// samebytes info: a file's tensors, by its header alone.

const { locate, openLocated, isRaw } = require('./open')
const {
  brief,
  size,
  shapeText,
  counted,
  styled,
  print,
  printJson,
  table,
  about,
  failed,
} = require('./output')

const MOST_ALIGNED = 4096
const MOST_METADATA = 24 // entries that are shown to people

/** @param {import('./open').TensorInfo} info */
function describeTensor(info) {
  const { name, type, fileShape, block, byteOffset, nbytes, deflated } = info
  const [dtype, shape] = isRaw(info) ? [null, fileShape] : [info.dtype, info.shape]
  let alignment = MOST_ALIGNED
  while (alignment > 1 && byteOffset % alignment !== 0) alignment /= 2
  const position = deflated === undefined ? { byteOffset, alignment } : { deflated }
  return { name, dtype, shape, type, ...(block.elements > 1 && { fileShape }), ...position, nbytes }
}

/** Name, dtype, shape, offset, alignment and size, for a table. @param {ReturnType<typeof describeTensor>} tensor @returns {string[]} */
function cellsOf({ name, dtype, type, shape, fileShape, byteOffset, alignment, deflated, nbytes }) {
  return [
    brief(name),
    fileShape !== undefined ? brief(type) : (dtype ?? `raw ${type}`),
    shapeText(fileShape ?? shape),
    byteOffset === undefined ? 'deflated' : String(byteOffset),
    alignment === undefined ? '' : String(alignment),
    size(deflated ?? nbytes),
  ]
}

const COLUMNS = ['name', 'dtype', 'shape', 'offset', 'alignment', 'size'].map((title, i) => ({
  title,
  isNumber: i > 2,
}))

/**
 * @param {string} operand
 * @param {string | undefined} dtype
 * @param {Error[]} refused  gets what is wrong with members of an .npz that are none of ours
 */
async function describeFile(operand, dtype, refused) {
  const located = locate(operand, false)
  const { label } = located
  return about(label, async () => {
    const file = await openLocated(located, { dtype })
    try {
      await file.describe?.(file.names)
      const tensors = file.names.flatMap((name) => {
        try {
          return [describeTensor(about(label, () => file.info(name)))]
        } catch (/** @type {any} */ error) {
          if (file.format !== 'npz' || file.names.length === 1 || typeof error.code !== 'string') {
            throw error
          }
          refused.push(error)
          return []
        }
      })
      const { format, nbytes, metadata } = file
      return { file: label, format, nbytes, metadata, tensors }
    } finally {
      file.close()
    }
  })
}

/** @param {unknown} value  of metadata */
function valueText(value) {
  if (typeof value === 'string') return brief(value)
  const list =
    Array.isArray(value) || ArrayBuffer.isView(value) ? /** @type {any[]} */ (value) : null
  if (list === null) return String(value)
  const begin = Array.from(list.slice(0, 4))
    .map((each) => (typeof each === 'string' ? JSON.stringify(each) : String(each)))
    .join(', ')
  return brief(list.length <= 4 ? `[${begin}]` : `[${begin}, ...] (${list.length})`)
}

/** @param {Awaited<ReturnType<typeof describeFile>>} file */
function textOfFile({ file, format, nbytes, metadata, tensors }) {
  const what =
    format === 'raw' && tensors.length === 0
      ? 'raw bytes; --dtype says what they are'
      : counted(tensors.length, 'tensor')
  const lines = [`${styled('bold', brief(file))}  ${format}, ${size(nbytes)}, ${what}`]
  const entries = Object.entries(metadata)
  for (const [key, value] of entries.slice(0, MOST_METADATA)) {
    lines.push(`  ${brief(key)}: ${valueText(value)}`)
  }
  if (entries.length > MOST_METADATA) {
    lines.push(`  and ${entries.length - MOST_METADATA} more (--json has all)`)
  }
  if (tensors.length === 0) return lines.join('\n')
  const raw = tensors.some(({ dtype }) => dtype === null)
    ? ['', 'raw: NumPy has no bfloat16 and no float8; --dtype says which it is']
    : []
  return [...lines, '', table(COLUMNS, tensors.map(cellsOf)), ...raw].join('\n')
}

/**
 * Prints the files, and the arrays of an .npz, that can be read, and the errors of the others.
 *
 * @param {import('./arguments').Given} given
 * @returns {Promise<number>} exit status
 */
async function info({ values: { json, dtype }, operands }) {
  let status = 0
  /** @type {Error[]} */
  const refused = []
  const files = []
  for (const operand of operands) {
    try {
      files.push(await describeFile(operand, dtype, refused))
    } catch (error) {
      if (operands.length === 1) throw error
      status = failed('samebytes info', error)
    }
  }
  if (json) printJson(operands.length === 1 ? files[0] : files)
  else if (files.length > 0) print(files.map(textOfFile).join('\n\n'))
  for (const error of refused) status = failed('samebytes info', error)
  return status
}

module.exports = { info, describeTensor, cellsOf, COLUMNS }
