'use strict'
// Public, in Node: new files, mapped, to write tensors into.

const fs = require('node:fs')
const ffi = require('../backend/calls')
const fileCalls = require('../backend/file-calls')
const { failure } = require('../base/errors')
const { show, optionsOf, shapeOf, oneOf } = require('../base/validate')
const { dtypeOf } = require('../backend/dtypes')
const { denseLayout } = require('../layout/layouts')
const { errnoOf } = require('../runtime/host')
const { Tensor } = require('../tensor/tensor')
const { TemporaryFile } = require('./atomic-write')
const { layoutWithout } = require('./entries')
const { MappedFile } = require('./mapped-file')
const { onlyTensor } = require('./npy')
const { pathOf } = require('./paths')
const { safetensorsFile } = require('./safetensors')
const { systemError } = require('./system-errors')
const { replaces } = require('./transfers')
const { npyHeader, safetensorsHeader, metadataOf } = require('./writers')

const { backend, GUARDS } = ffi

/** @import { DtypeName, NameOf, Or, Shape } from '../base/types' */
/** @typedef {import('./tensor-file').TensorFile} TensorFile */

/**
 * Makes a file of zeros behind a header, maps it, and gives it its name.
 *
 * @template {{ dispose: () => void }} R
 * @param {string} file
 * @param {Uint8Array} header
 * @param {number} total  bytes, with the header
 * @param {boolean} replace  a file that is there
 * @param {(source: MappedFile) => R} make
 * @returns {R}
 */
function createMapped(file, header, total, replace, make) {
  if (backend.isWasm) {
    throw failure(
      'ERR_UNSUPPORTED',
      `mapping a file needs the native addon${backend.hint}; save() writes one`,
    )
  }
  if (!Number.isSafeInteger(total)) {
    throw failure('ERR_SHAPE', `${file} would have ${total} bytes, which is more than a file has`)
  }
  const temporary = new TemporaryFile(file, true)
  try {
    const errno = fileCalls.reserveFile(temporary.fd, total)
    if (errno !== 0) {
      throw Object.assign(
        failure('ERR_IO', `${total} bytes could not be reserved for ${file} (errno ${errno})`),
        { errno: errnoOf(errno) },
      )
    }
    fs.writeSync(temporary.fd, header, 0, header.length, 0)
    const source = new MappedFile(file, { mode: 1, guard: GUARDS.none }, 'created', temporary.fd)
    temporary.fd = -1 // the source closes it
    /** @type {R | undefined} */
    let result
    try {
      result = make(source)
      temporary.publish(replace)
      source.closeDescriptor()
      return result
    } catch (error) {
      result?.dispose() // Windows deletes no draft that is mapped
      source.close()
      throw error
    }
  } catch (error) {
    temporary.discard()
    throw systemError(error, file)
  }
}

/**
 * A new .npy file, mapped, all zero: what is written to the tensor is in it. Its space on the disk is reserved.
 *
 * @template {DtypeName} [D=never]
 * @param {string | URL} path
 * @param {Shape} shape  elements
 * @param {{ dtype?: D | undefined, order?: 'C' | 'F' | undefined, ifExists?: 'replace' | 'error' | undefined } | NameOf<D>} [opts]  what exists is replaced unless told;
 * who maps the old file keeps it
 * @returns {Tensor<Or<D, 'float32'>>} over the file, as openNpy in mode 'r+'
 * @throws ERR_EXISTS · ERR_IO, ERR_NOT_FOUND, with errno and path · ERR_UNSUPPORTED in WASM · {RangeError} ERR_SHAPE · {TypeError} ERR_DTYPE, ERR_ARGUMENT
 * @see NumPy lib.format.open_memmap
 * @example
 * const rows = path => createNpy(path, [1000, 3], { dtype: 'float64' })
 */
function createNpy(path, shape, opts) {
  const file = pathOf(path)
  const {
    dtype: name = 'float32',
    order,
    ifExists,
  } = optionsOf(opts, ['dtype', 'order', 'ifExists'], 'createNpy')
  const replace = replaces(ifExists)
  const dtype = dtypeOf(name)
  const fortran =
    order !== undefined && oneOf('order', order, /** @type {const} */ (['C', 'F'])) === 1
  const bare = layoutWithout(dtype, denseLayout(dtype.index, shapeOf(shape)).shape, fortran)
  const header = npyHeader(dtype.name, bare.shape, fortran && bare.shape.length > 1)
  return createMapped(file, header, header.length + bare.size * dtype.itemsize, replace, (source) =>
    onlyTensor(source, dtype.name),
  )
}

/**
 * A new .safetensors file, mapped, all zero, to copy tensors into.
 *
 * @param {string | URL} path
 * @param {Record<string, { shape: Shape, dtype: DtypeName }>} specs  by name
 * @param {{ metadata?: Record<string, string> | undefined, ifExists?: 'replace' | 'error' | undefined }} [opts]
 * @returns {TensorFile} as openSafetensors in mode 'r+'
 * @throws as createNpy · {TypeError} ERR_DTYPE complex128
 * @example
 * const layer = path => createSafetensors(path, { weight: { shape: [64, 64], dtype: 'bfloat16' } })
 */
function createSafetensors(path, specs, opts) {
  const file = pathOf(path)
  const { metadata, ifExists } = optionsOf(opts, ['metadata', 'ifExists'], 'createSafetensors')
  const replace = replaces(ifExists)
  if (
    specs === null ||
    typeof specs !== 'object' ||
    Array.isArray(specs) ||
    Tensor.isTensor(specs)
  ) {
    throw failure(
      'ERR_ARGUMENT',
      `specs is ${show(specs)}; a record of { shape, dtype } was expected`,
    )
  }
  const list = Object.entries(specs).map(([name, spec]) => {
    if (spec === null || typeof spec !== 'object') {
      throw failure(
        'ERR_ARGUMENT',
        `specs[${show(name)}] is ${show(spec)}; { shape, dtype } was expected`,
      )
    }
    const dtype = dtypeOf(spec.dtype)
    const { shape, size } = denseLayout(dtype.index, shapeOf(spec.shape))
    return { name, dtype: dtype.name, shape, nbytes: size * dtype.itemsize }
  })
  const { header, total } = safetensorsHeader(list, metadataOf(metadata))
  return createMapped(file, header, total, replace, safetensorsFile)
}

module.exports = { createNpy, createSafetensors }
