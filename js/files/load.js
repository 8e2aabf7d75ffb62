'use strict'
// Public, in Node: files read into tensors of their own memory.

const fs = require('node:fs')
const { failure } = require('../base/errors')
const { optionsOf } = require('../base/validate')
const { checkSignal } = require('../base/signals')
const { dtypeOf } = require('../backend/dtypes')
const { npyEntry, npyTensor } = require('./npy')
const { npzFile } = require('./npz')
const { safetensorsFile } = require('./safetensors')
const { ggufFile } = require('./gguf')
const { pathOf, extensionOf } = require('./paths')
const { ReadFile } = require('./read-file')
const { named } = require('./system-errors')
const { membersOf } = require('./tensor-file')
const { transferOptions, rejection } = require('./transfers')

/** @import { AnyTensor, DtypeName } from '../base/types' */
/** @typedef {import('../tensor/tensor').Tensor} Tensor */
/** @typedef {import('./entries').TensorInfo} TensorInfo */
/** @typedef {import('./tensor-file').TensorFile} TensorFile */

/** @type {Record<string, (source: any, dtype?: string) => TensorFile>} */
const FILES = { '.npz': npzFile, '.safetensors': safetensorsFile, '.gguf': ggufFile }

/**
 * @param {ReadFile} source
 * @param {string} extension
 * @param {DtypeName | undefined} dtype
 * @param {AnyTensor[]} made  is given the tensors
 */
async function ownTensors (source, extension, dtype, made) {
  if (extension === '.npy') {
    const { entry } = npyEntry(source, '', dtype)
    await source.prepare(entry.begin, entry.nbytes)
    const t = npyTensor(source, dtype)
    made.push(t)
    return t
  }
  const file = FILES[extension](source, dtype)
  const members = extension === '.npz' ? membersOf(file) : null
  for (const name of file.keys()) {
    const { done } = source
    try {
      const member = members?.get(name)
      if (member?.method === 8) await source.inflate(member)
      const { byteOffset, nbytes, deflated } = /** @type {TensorInfo} */ (file.info(name))
      if (deflated === undefined) await source.prepare(byteOffset, nbytes)
      made.push(/** @type {AnyTensor} */ (file.get(name)))
    } catch (error) {
      if (!source.faults.has(error)) throw error // else get() throws it, and the other members are as good as without this one
    }
    if (source.done === done) await source.turn() // nothing but headers was read
  }
  return file
}

/**
 * What load gives, by the path's extension; any where that is known only when it runs.
 *
 * @template {string | URL} P
 * @typedef {P extends `${string}.npy` ? Tensor : P extends `${string}.npz` | `${string}.safetensors` | `${string}.gguf` ? TensorFile : any} Loaded
 */

/**
 * Reads the tensors of a .npy, .npz, .safetensors or .gguf file into memory of their own. Arrays in an .npz that are none of
 * ours, such as Python objects and text, do not keep the others from being read: `get` of such a one throws why.
 *
 * @template {string | URL} P
 * @param {P} path  whose extension says what it is
 * @param {{ dtype?: DtypeName, signal?: AbortSignal, onProgress?: (progress: { done: number, total: number }) => void }} [opts]
 * dtype: of arrays in .npy and .npz that NumPy wrote as raw bytes
 * @returns {Promise<Loaded<P>>} a tensor of a .npy, else a file object
 * @throws ERR_FORMAT · ERR_NOT_FOUND, ERR_IO, with errno and path · ERR_UNSUPPORTED another extension · {RangeError} ERR_MEMORY · the signal's
 * reason · as rejections
 * @see PyTorch load, NumPy load
 * @example
 * const weight = async path => (await load(path)).get('weight')
 */
async function load (path, opts) {
  const file = pathOf(path)
  const extension = extensionOf(file, ['.npy', '.npz', '.safetensors', '.gguf'])
  const { dtype } = optionsOf(opts)
  if (dtype !== undefined) dtypeOf(dtype)
  const options = transferOptions(opts)
  const { signal } = options
  checkSignal(signal)
  const fd = named(file, () => fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK))
  try {
    const stat = fs.fstatSync(fd)
    if (!stat.isFile()) throw failure('ERR_IO', `${file} is no regular file`)
    const source = new ReadFile(fd, stat.size, options)
    /** @type {AnyTensor[]} */
    const made = []
    try {
      const loaded = await ownTensors(source, extension, dtype, made)
      source.end()
      return /** @type {any} */ (loaded)
    } catch (error) {
      for (const t of made) t.dispose()
      throw error
    } finally {
      source.settle()
    }
  } catch (error) {
    throw rejection(error, signal, file)
  } finally {
    fs.closeSync(fd)
  }
}

module.exports = { load }
