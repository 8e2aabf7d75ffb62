'use strict'
// samebytes convert: writes a file's tensors in another format.

const fs = require('node:fs')
const path = require('node:path')
const { failure } = require('../base/errors')
const samebytes = require('..')
const { findPlace, openContent } = require('./open')
const { chosenNames, checkKnown } = require('./show')
const { about } = require('./failures')
const { progress } = require('./progress')
const { UsageError } = require('./arguments')
const { brief, plain, size, counted, print, note, printJson } = require('./output')

/** @typedef {import('./open').Content} Content */
/** @typedef {import('../tensor/tensor').Tensor} Tensor */

const KNOWN = ['.npy', '.npz', '.safetensors']

/**
 * The names of the tensors that are written. Types that samebytes has no dtype for are refused, not written as uint8.
 *
 * @param {Content} file
 * @param {string} label
 * @param {string[]} names
 * @returns {string[]}
 */
function writable (file, label, names) {
  const left = names.filter(name => file.format === 'npz' && file.info(name).type === 'bytes')
  for (const name of left) note(`samebytes convert: ${brief(name)} is no array, and is left out`)
  const kept = names.filter(name => !left.includes(name))
  for (const name of kept) {
    const info = file.info(name)
    checkKnown(info, label)
    const { type, block, dtype } = info
    const { itemsize } = require('../backend/dtypes').dtypeOf(dtype)
    if (block.elements > 1 || block.bytes !== itemsize || isForeign(file, type, dtype)) {
      throw failure('ERR_UNSUPPORTED', `${JSON.stringify(name)} is of type ${type}, which is none of samebytes' own and cannot be written`)
    }
  }
  return kept
}

/**
 * Whether uint8 stands for a type that samebytes has no dtype for.
 *
 * @param {Content} file
 * @param {string} type
 * @param {string} dtype
 */
function isForeign ({ format }, type, dtype) {
  return dtype === 'uint8' && ((format === 'safetensors' && type !== 'U8') || format === 'gguf')
}

/** @param {import('./arguments').Given} given */
async function convert ({ values: { force, name: called, dtype, json }, operands: [from, to] }) {
  const extension = path.extname(to).toLowerCase()
  if (!KNOWN.includes(extension)) throw new UsageError(`${plain(to)} ends in none of ${KNOWN.join(', ')}, which say how it is written`)
  if (!force) checkFree(to)
  const { path: source, label, tensor } = findPlace(from, true)
  const file = about(label, () => openContent(source, { dtype, isMapped: true }))
  const stop = new AbortController()
  const interrupt = () => stop.abort()
  process.once('SIGINT', interrupt)
  process.once('SIGTERM', interrupt)
  const { onProgress, end } = progress()
  try {
    const names = about(label, () => writable(file, label, chosenNames(file, tensor, label)))
    if (called !== undefined && names.length !== 1) throw new UsageError(`--name names one tensor; ${plain(label)} has ${names.length}`)
    if (extension === '.npy' && names.length !== 1) throw new UsageError(`a .npy file has one tensor; ${plain(label)} has ${names.length}: ${plain(label)}:TENSOR says which`)
    const metadata = extension === '.safetensors' && file.format === 'safetensors' ? file.metadata : undefined
    const options = { signal: stop.signal, onProgress, ifExists: force ? /** @type {const} */ ('replace') : /** @type {const} */ ('error'), ...(metadata && { metadata }) }
    const tensors = about(label, () => names.map(name => /** @type {[string, Tensor]} */ ([called ?? nameIn(name, to), file.get(name)])))
    if (extension === '.npy') await samebytes.saveNpy(to, tensors[0][1], options)
    else if (extension === '.npz') await samebytes.saveNpz(to, tensors, options)
    else await samebytes.saveSafetensors(to, tensors, options)
    end()
    const nbytes = fs.statSync(to).size
    if (json) printJson({ from: label, to, tensors: names.length, nbytes })
    else print(`${brief(to)}: ${counted(names.length, 'tensor')}, ${size(nbytes)}`)
  } catch (error) {
    end()
    throw error
  } finally {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
    file.close()
  }
}

/** @param {string} name @param {string} to */
const nameIn = (name, to) => name === '' ? path.basename(to, path.extname(to)) : name

/** @param {string} to */
function checkFree (to) {
  if (fs.lstatSync(to, { throwIfNoEntry: false }) === undefined) return
  throw failure('ERR_EXISTS', `${to} is there; --force replaces it`)
}

module.exports = { convert }
