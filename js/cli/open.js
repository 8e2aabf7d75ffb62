'use strict'
// Finds the file or shared segment that a command line names, and opens its tensors; remote.js has those at URLs. Names and content may be hostile.

const fs = require('node:fs')
const path = require('node:path')
const { failure } = require('../base/errors')
const { infoOf, rawInfo } = require('../files/entries')
const { ggufFile } = require('../files/gguf')
const { readHeader, npyTensor } = require('../files/npy')
const { openNpz, openSafetensors, openGguf } = require('../files/open')
const { npzFile } = require('../files/npz')
const { ReadFile } = require('../files/read-file')
const { safetensorsFile } = require('../files/safetensors')
const { backend } = require('../backend/calls')
const { dtypeOf } = require('../backend/dtypes')
const { findUrl, openRemote } = require('./remote')
const samebytes = require('..')

/** @typedef {import('../files/byte-source').Source} Source */
/** @typedef {import('../files/entries').TensorInfo} TensorInfo */
/** @typedef {import('../files/tensor-file').TensorFile} TensorFile */
/** @typedef {'npy' | 'npz' | 'safetensors' | 'gguf' | 'raw'} Format */

/**
 * What a command line names.
 *
 * @typedef {object} Located
 * @property {string} path  '': it is at a URL
 * @property {URL | null} url
 * @property {string} label  as it was given, without the tensor
 * @property {string | null} tensor  that was named with it
 */

const MOST_HEADER = 100_000_000 // bytes that a .safetensors' header has at most

/** What is there, devices of Windows as well, of which existsSync knows nothing. @param {string} file @param {boolean} [isOwn]  false: in a folder that everybody writes to, so links are not followed */
function statOf(file, isOwn = true) {
  try {
    return isOwn ? fs.statSync(file) : fs.lstatSync(file)
  } catch {
    return undefined
  }
}

/** @param {string} name @returns {string | null} the segment of that name */
function segmentOf(name) {
  const bare = name.startsWith('/') ? name.slice(1) : name
  if (bare === '' || path.basename(bare) !== bare || bare.includes('\0')) return null
  const { segments } = backend.abilities
  if (segments === undefined) return null
  const file = path.join(segments, bare)
  return statOf(file, false)?.isFile() ? file : null
}

/**
 * The place of FILE, NAME, URL, FILE:TENSOR, NAME:TENSOR or URL:TENSOR. Names may have colons: the longest part that exists is the file.
 *
 * @param {string} given
 * @param {boolean} mayName  a tensor
 * @returns {Located}
 * @throws ERR_NOT_FOUND · {TypeError} ERR_ARGUMENT of a URL
 */
function locate(given, mayName) {
  const remote = findUrl(given, mayName)
  if (remote !== null) return { path: '', ...remote }
  for (let end = given.length; end > 0; end = mayName ? given.lastIndexOf(':', end - 1) : 0) {
    const label = given.slice(0, end)
    const tensor = end === given.length ? null : given.slice(end + 1)
    if (statOf(label)?.isFile()) return { path: label, url: null, label, tensor }
    const segment = segmentOf(label)
    if (segment !== null) return { path: segment, url: null, label, tensor }
  }
  if (statOf(given) !== undefined) throw failure('ERR_IO', `${given} is no regular file`)
  throw failure(
    'ERR_NOT_FOUND',
    `${given === '' ? '""' : given}: there is no such file, and no shared segment of that name`,
  )
}

/** @param {Source} source @param {string} name @returns {Format} by its content, else by its name */
function formatOf(source, name) {
  const head = Buffer.from(source.read(0, Math.min(16, source.size)))
  const text = head.toString('latin1')
  if (text.startsWith('\x93NUMPY')) return 'npy'
  if (/^PK(\x03\x04|\x05\x06)/.test(text)) return 'npz' // eslint-disable-line no-control-regex
  if (text.startsWith('GGUF')) return 'gguf'
  if (head.length > 8 && head.readBigUInt64LE(0) <= MOST_HEADER && head[8] === 123) {
    return 'safetensors'
  }
  const extension = path.extname(name).toLowerCase().slice(1)
  return ['npy', 'npz', 'safetensors', 'gguf'].includes(extension)
    ? /** @type {Format} */ (extension)
    : 'raw'
}

/**
 * A file's tensors, whatever its format.
 *
 * @typedef {object} Content
 * @property {Format} format
 * @property {number} nbytes  of the file
 * @property {Record<string, any>} metadata
 * @property {string[]} names  of its tensors; '': the tensor has no name
 * @property {(names: string[]) => Promise<void>} [describe]  fetches what info will be asked for: of a file at a URL
 * @property {(names: string[], rowsOf: (info: TensorInfo) => [number, number][] | null, all?: string[]) => Promise<void>} [fetch]  what get will be asked for,
 * and which rows of it are looked at, [from, end] each; null: all. all: names that it is called with in the end, whose bytes are told as one
 * @property {(name: string, but: import('../tensor/tensor').Tensor) => void} [drop]  forgets what was fetched, and frees it unless it is that tensor
 * @property {(name: string) => TensorInfo} info
 * @property {(name: string) => import('../tensor/tensor').Tensor} get
 * @property {() => void} close
 */

/** What parses a file of several tensors, and what maps it. @type {Record<string, [(source: Source, dtype?: any) => TensorFile, (file: string, options: any) => TensorFile]>} */
const SEVERAL = {
  npz: [npzFile, openNpz],
  gguf: [ggufFile, openGguf],
  safetensors: [safetensorsFile, openSafetensors],
}

/**
 * @param {Located} located
 * @param {{ dtype?: any, isMapped?: boolean, signal?: AbortSignal, onProgress?: (progress: { done: number, total: number }) => void }} options
 * isMapped: if that is possible; else tensors are read when they are asked for; signal, onProgress: of a file at a URL
 * @returns {Promise<Content>}
 */
async function openLocated({ path: file, url }, options) {
  if (url !== null) return openRemote(url, formatOf, options)
  const { dtype, isMapped = false } = options
  const source = new ReadFile(file)
  try {
    const format = formatOf(source, file)
    if (format === 'raw' || format === 'npy') return single(source, format, dtype, isMapped)
    const [parse, open] = SEVERAL[format]
    const several = parse(source, dtype)
    const options = { guard: true, ...(format === 'npz' && { dtype }) }
    const mapped = isMapped ? whereMapped(() => open(file, options)) : null
    const tensors = mapped ?? several
    return {
      format,
      nbytes: source.size,
      get metadata() {
        return several.metadata
      },
      names: [...several.keys()],
      info: (name) => several.info(name),
      get: (name) => tensors.get(name),
      close() {
        mapped?.close()
        several.close()
        source.close()
      },
    }
  } catch (error) {
    source.close()
    throw error
  }
}

/**
 * @param {ReadFile} source
 * @param {'npy' | 'raw'} format
 * @param {any} dtype
 * @param {boolean} isMapped
 * @returns {Content}
 */
function single(source, format, dtype, isMapped) {
  const { file, size } = source
  return {
    format,
    nbytes: size,
    metadata: {},
    names: format === 'raw' && dtype === undefined ? [] : [''],
    info: () =>
      format === 'npy'
        ? infoOf(readHeader(source, '', dtype).entry)
        : rawInfo(dtypeOf(dtype), size),
    get() {
      const options = { guard: true, dtype }
      const open = () =>
        format === 'npy' ? samebytes.openNpy(file, options) : samebytes.openRaw(file, null, options)
      const mapped = isMapped ? whereMapped(open) : null
      if (mapped !== null) return mapped
      if (format === 'npy') return npyTensor(source, dtype)
      const { nbytes, shape } = this.info('')
      return samebytes.fromBytes(source.read(0, nbytes), shape, { dtype })
    },
    close: () => source.close(),
  }
}

/**
 * Calls open, which maps a file; null if it cannot be mapped here.
 *
 * @template T
 * @param {() => T} open
 * @returns {T | null}
 */
function whereMapped(open) {
  if (backend.isWasm) return null
  try {
    return open()
  } catch (error) {
    if (/** @type {any} */ (error).code !== 'ERR_UNSUPPORTED') throw error
    return null
  }
}

/**
 * Whether an array is of NumPy's raw bytes, as bfloat16 and float8 are, and no dtype was given.
 *
 * @param {TensorInfo} info
 */
const isRaw = ({ dtype, type }) => dtype === 'uint8' && /^[<>|]V\d+$/.test(type)

module.exports = { locate, openLocated, segmentOf, isRaw }
