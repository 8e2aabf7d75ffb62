'use strict'
// samebytes show: prints a tensor of a file, or part of it.

const { failure } = require('../base/errors')
const { checkHeap } = require('../runtime/heap')
const { findPlace, openContent, isRaw } = require('./open')
const { about } = require('./failures')
const { UsageError, didYouMean } = require('./arguments')
const { plain, brief, shapeText, styled, print, printJson } = require('./output')

/**
 * Slices as slice() takes them: `0,1:5`, `[..., ::2]`, or an argument each.
 *
 * @param {string[]} texts
 * @returns {(number | string | null)[]}
 */
function slicesOf (texts) {
  return texts.flatMap(text => text.trim().replace(/^\[(.*)\]$/, '$1').split(',')).map(each => {
    const slice = each.trim()
    if (slice === 'null' || slice === 'None') return null
    if (slice === '...' || /^(-?\d+)?:(-?\d+)?(:(-?\d+)?)?$/.test(slice.replace(/\s/g, ''))) return slice
    if (/^-?\d+$/.test(slice)) return Number(slice)
    throw new UsageError(`a slice is ${JSON.stringify(plain(slice))}; an index, '1:5', '::-1', '...' or null was expected`)
  })
}

/**
 * The names of the tensors that are asked for.
 *
 * @param {import('./open').Content} file
 * @param {string | null} wanted
 * @param {string} label
 * @returns {string[]}
 */
function chosenNames (file, wanted, label) {
  if (wanted === null) {
    if (file.names.length === 0 && file.format === 'raw') throw new UsageError(`${plain(label)} is raw bytes; --dtype says what they are`)
    return file.names
  }
  if (file.names.includes(wanted)) return [wanted]
  throw failure('ERR_NOT_FOUND', `${label} has no tensor ${JSON.stringify(wanted)}${didYouMean(wanted, file.names.slice(0, 10000))}`)
}

const JSON_BYTES = 96 // of heap for a value, its text and its line

/** @param {import('./arguments').Given} given */
function show ({ values: { json, dtype }, operands: [operand, ...texts] }) {
  const slices = slicesOf(texts)
  const { path, label, tensor } = findPlace(operand, true)
  const file = about(label, () => openContent(path, { dtype, isMapped: true }))
  try {
    const names = chosenNames(file, tensor, label)
    if (slices.length > 0 && names.length > 1) throw new UsageError(`${plain(label)} has ${names.length} tensors; ${plain(label)}:TENSOR says which one is sliced`)
    const results = about(label, () => names.map(name => showTensor(file, label, name, slices, json)))
    if (json) printJson(results.length === 1 ? results[0] : results)
  } finally {
    file.close()
  }
}

/**
 * @param {import('./open').TensorInfo} info
 * @param {string} label  of the file
 */
function checkKnown (info, label) {
  if (!isRaw(info)) return
  const name = plain(info.name === '' ? label : JSON.stringify(info.name))
  throw new UsageError(`${name} is of ${info.block.bytes} raw ${info.block.bytes === 1 ? 'byte' : 'bytes'} an element (NumPy has no bfloat16 and no float8); --dtype says what they are`)
}

/**
 * @param {import('./open').Content} file
 * @param {string} label
 * @param {string} name
 * @param {(number | string | null)[]} slices
 * @param {boolean} json
 */
function showTensor (file, label, name, slices, json) {
  const info = file.info(name)
  checkKnown(info, label)
  const { type, block, fileShape } = info
  const whole = file.get(name)
  const found = slices.length === 0 ? whole : /** @type {any} */ (whole).slice(...slices)
  try {
    if (json) checkHeap(JSON_BYTES * found.size, () => `${found.size} values as JSON; take a part`)
    if (json) return { name, dtype: found.dtype, shape: [...found.shape], values: found.toJSON() }
    const foreign = block.elements > 1 || block.bytes !== whole.itemsize ? `; bytes of ${brief(type)} ${shapeText(fileShape)}` : ''
    print(`${styled('bold', name === '' ? '' : `${brief(name)}  `)}${styled('dim', `${found.dtype} ${shapeText(found.shape)}${foreign}`)}\n${String(found)}`)
  } finally {
    found.dispose()
    if (!whole.isDisposed) whole.dispose()
  }
}

module.exports = { show, chosenNames, checkKnown }
