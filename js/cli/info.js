'use strict'
// samebytes info: what tensors a file has, by its header.

const { find, content } = require('./open')
const { brief, plain, size, shapeText, counted, styled, print, note, printJson, table } = require('./output')

/** @typedef {import('./open').Content} Content */

const MOST_ALIGNED = 4096
const MOST_METADATA = 24 // entries that are shown to people

/** @param {number} at  byte of a file */
function alignmentOf (at) {
  for (let n = MOST_ALIGNED; n > 1; n /= 2) if (at % n === 0) return n
  return 1
}

/**
 * @param {string} label
 * @param {Content} file
 * @param {Error[]} refused  what is wrong with members of an .npz that are none of ours
 */
function described (label, file, refused) {
  const tensors = file.names.flatMap(name => {
    try {
      const { type, dtype, shape, fileShape, block, byteOffset, nbytes, deflated } = file.info(name)
      const place = deflated === undefined ? { byteOffset, alignment: alignmentOf(byteOffset) } : { deflated }
      return [{ name, dtype, shape, type, ...(block.elements > 1 && { fileShape }), ...place, nbytes }]
    } catch (/** @type {any} */ error) {
      if (file.format !== 'npz' || file.names.length === 1 || typeof error.code !== 'string') throw error
      refused.push(error)
      return []
    }
  })
  return { file: label, format: file.format, nbytes: file.nbytes, metadata: file.metadata, tensors }
}

/** @param {unknown} value  of metadata */
function valueText (value) {
  if (typeof value === 'string') return brief(value)
  const list = Array.isArray(value) || ArrayBuffer.isView(value) ? Array.from(/** @type {any} */ (value)) : null
  if (list === null) return String(value)
  const begin = list.slice(0, 4).map(each => typeof each === 'string' ? JSON.stringify(each) : String(each)).join(', ')
  return brief(list.length <= 4 ? `[${begin}]` : `[${begin}, ...] (${list.length})`)
}

/** @param {ReturnType<typeof described>} file @returns {string} */
function text ({ file, format, nbytes, metadata, tensors }) {
  const what = format === 'raw' && tensors.length === 0 ? 'raw bytes; --dtype says what they are' : counted(tensors.length, 'tensor')
  const lines = [`${styled('bold', brief(file))}  ${format}, ${size(nbytes)}, ${what}`]
  const entries = Object.entries(metadata)
  for (const [key, value] of entries.slice(0, MOST_METADATA)) lines.push(`  ${brief(key)}: ${valueText(value)}`)
  if (entries.length > MOST_METADATA) lines.push(`  and ${entries.length - MOST_METADATA} more (--json has all)`)
  if (tensors.length === 0) return lines.join('\n')
  const rows = tensors.map(({ name, dtype, type, shape, fileShape, byteOffset, alignment, deflated, nbytes: n }) => [
    brief(name), fileShape === undefined ? dtype : brief(type), shapeText(fileShape ?? shape),
    byteOffset === undefined ? 'deflated' : String(byteOffset), alignment === undefined ? '' : String(alignment), size(deflated ?? n)
  ])
  const columns = ['name', 'dtype', 'shape', 'offset', 'alignment', 'size'].map((title, i) => ({ title, isNumber: i > 2 }))
  return [...lines, '', table(columns, rows)].join('\n')
}

/** @param {import('./arguments').Given} given */
function info ({ values: { json, dtype }, operands }) {
  /** @type {any[]} */
  const refused = []
  const files = operands.map(operand => {
    const { path, label } = find(operand, false)
    const file = content(path, { dtype })
    try {
      return described(label, file, refused)
    } finally {
      file.close()
    }
  })
  if (json) printJson(files.length === 1 ? files[0] : files)
  else print(files.map(text).join('\n\n'))
  for (const { message, code } of refused) note(`samebytes info: ${plain(message)} (${code})`)
  return refused.length > 0 ? 1 : 0
}

module.exports = { info }
