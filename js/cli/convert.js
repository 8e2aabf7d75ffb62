'use strict'
// samebytes convert: writes a file's tensors in another format.

const fs = require('node:fs')
const path = require('node:path')
const { failure } = require('../base/errors')
const samebytes = require('..')
const { TYPES } = require('../files/entries')
const { saveLate } = require('../files/save')
const { dtypeOf } = require('../backend/dtypes')
const { locate, openLocated, isRaw: isRawArray } = require('./open')
const { chosenNames, checkKnown } = require('./show')
const { UsageError } = require('./arguments')
const { brief, plain, size, counted, print, note, printJson, about, progress } = require('./output')

/** @typedef {import('./open').Content} Content */
/** @typedef {import('../tensor/tensor').Tensor} Tensor */

const KNOWN = ['.npy', '.npz', '.safetensors']

/** Whether NumPy lacks the dtype, so that .npy and .npz have raw bytes of it. @param {string} dtype */
const isForeignToNumPy = (dtype) => TYPES[dtype].npy[1] === 'V'

/** @param {string} name @param {string} label */
const nameOrLabel = (name, label) => plain(name === '' ? label : JSON.stringify(name))

/**
 * The dtype that A's raw bytes are read as: --raw. Without it --dtype decides, if it cannot be meant as a conversion: of files of no
 * format, and of arrays for the dtypes that NumPy lacks.
 *
 * @param {Content} file  opened without a dtype
 * @param {string} label
 * @param {string[]} names
 * @param {{ raw?: string, dtype?: string }} options
 * @returns {string | undefined}
 */
function rawDtype(file, label, names, { raw, dtype }) {
  if (file.format === 'raw') return raw ?? dtype
  if (!names.some((name) => isRawArray(file.info(name)))) {
    if (raw === undefined) return undefined
    throw new UsageError(`--raw is ${raw}; ${plain(label)} has no raw bytes`)
  }
  return raw ?? (dtype !== undefined && isForeignToNumPy(dtype) ? dtype : undefined)
}

/** @param {string} a  a path; '': it is none @param {string} b @returns {boolean} */
function isSameFile(a, b) {
  const [one, other] = [a, b].map((file) =>
    file === '' ? undefined : fs.statSync(file, { bigint: true, throwIfNoEntry: false }),
  )
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino
}

/**
 * @param {import('./open').Located} located
 * @param {{ raw?: string, dtype?: string }} options
 * @param {{ isMapped: boolean, signal: AbortSignal, onProgress: ((progress: { done: number, total: number }) => void) | undefined }} how  signal,
 * onProgress: of a file at a URL
 * @returns {Promise<Content>}
 */
async function openSource(located, options, how) {
  const { label, tensor } = located
  const file = await openLocated(located, how)
  let readAs
  try {
    const names = file.format === 'raw' ? [] : chosenNames(file, tensor, label)
    await file.describe?.(names)
    readAs = rawDtype(file, label, arraysOf(file, names), options)
  } catch (error) {
    file.close()
    throw error
  }
  if (readAs === undefined) return file
  file.close()
  return openLocated(located, { dtype: readAs, ...how })
}

/** Without an .npz file's members that are no arrays. @param {Content} file @param {string[]} names */
const arraysOf = (file, names) =>
  names.filter((name) => file.format !== 'npz' || file.info(name).type !== 'bytes')

/**
 * The names of the tensors that are written. Types that samebytes has no dtype for are refused, not written as uint8.
 *
 * @param {Content} file
 * @param {string} label
 * @param {string[]} names
 * @returns {string[]}
 */
function writable(file, label, names) {
  const kept = arraysOf(file, names)
  for (const name of names) {
    if (!kept.includes(name)) note(`samebytes convert: ${brief(name)} is no array, and is left out`)
  }
  for (const name of kept) {
    const info = file.info(name)
    checkKnown(info, label, '--raw')
    const { type, block, dtype } = info
    const { itemsize } = dtypeOf(dtype)
    const isOther =
      dtype === 'uint8' &&
      ((file.format === 'safetensors' && type !== 'U8') || file.format === 'gguf') // uint8 stands for it
    if (block.elements > 1 || block.bytes !== itemsize || isOther) {
      throw failure(
        'ERR_UNSUPPORTED',
        `${JSON.stringify(name)} is of type ${type}, which is none of samebytes' own and cannot be written`,
      )
    }
    if (file.format === 'raw' && file.nbytes % itemsize !== 0) {
      throw failure(
        'ERR_FORMAT',
        `${label} has ${file.nbytes} bytes, no multiple of the ${itemsize} of ${dtype}`,
      )
    }
  }
  return kept
}

/**
 * Refuses what B cannot have, before a tensor is read.
 *
 * @param {import('./open').TensorInfo} info
 * @param {string} label
 * @param {string} extension  B's
 * @param {string | undefined} dtype  --dtype
 */
function checkTarget({ name, dtype: from }, label, extension, dtype) {
  const who = nameOrLabel(name, label)
  if (extension === '.safetensors') {
    if ((dtype ?? from) === 'complex128') {
      throw failure(
        'ERR_DTYPE',
        `${who} would be of complex128, which .safetensors does not have; --dtype complex64 rounds it`,
      )
    }
  } else if (dtype === undefined && isForeignToNumPy(from)) {
    throw new UsageError(
      `${who} is of ${from}, which NumPy does not have; --dtype float32 (or float16) converts it, --dtype ${from} writes raw bytes that NumPy cannot compute with`,
    )
  }
  if (dtype !== undefined && !samebytes.canCast(from, /** @type {any} */ (dtype), 'same_kind')) {
    throw failure(
      'ERR_CAST',
      `${who} is of ${from}, which is not converted to ${dtype}: it would lose ${from.startsWith('complex') ? 'imaginary parts' : dtype === 'bool' ? 'all but zero or not' : 'fractions'}`,
    )
  }
}

/**
 * A tensor in the dtype of B.
 *
 * @param {Content} file
 * @param {string} name
 * @param {string} label
 * @param {any} dtype  undefined: as it is
 * @returns {Tensor}
 */
function tensorIn(file, name, label, dtype) {
  const t = file.get(name)
  if (dtype === undefined || t.dtype === dtype) return t
  try {
    const made = t.astype(dtype)
    if (
      /^u?int/.test(dtype) &&
      !samebytes.canCast(t.dtype, dtype, 'safe') &&
      !samebytes.arrayEqual(t, made)
    ) {
      throw failure(
        'ERR_BOUNDS',
        `${nameOrLabel(name, label)} has values of ${t.dtype} that ${dtype} cannot hold`,
      )
    }
    return made
  } finally {
    t.dispose()
  }
}

/**
 * @param {string} from
 * @param {string} to
 * @param {{ force?: boolean, name?: string, dtype?: string, raw?: string }} options  as on the command line
 * @returns {Promise<{ label: string, count: number, nbytes: number, isRaw: boolean }>} label: A without the tensor; count: tensors of B; nbytes: of B;
 * isRaw: B has raw bytes, for a dtype that NumPy lacks
 */
async function convertFile(from, to, { force, name: called, dtype, raw }) {
  const extension = path.extname(to).toLowerCase()
  if (!KNOWN.includes(extension)) {
    throw new UsageError(
      `${plain(to)} ends in none of ${KNOWN.join(', ')}, which say how it is written`,
    )
  }
  if (!force && fs.lstatSync(to, { throwIfNoEntry: false }) !== undefined) {
    throw failure('ERR_EXISTS', `${to} is there; --force replaces it`)
  }
  const located = locate(from, true)
  const { label, tensor } = located
  const isMapped = !isSameFile(located.path, to) // Windows replaces no file that is mapped
  const stop = new AbortController()
  const { signal } = stop
  const interrupt = () => stop.abort()
  process.once('SIGINT', interrupt)
  process.once('SIGTERM', interrupt)
  const { onProgress, end } = progress()
  /** @type {Content | undefined} */
  let opened
  /** @type {Tensor[]} */
  const tensors = [] // disposed of at the end
  try {
    const file = (opened = await about(label, () =>
      openSource(located, { raw, dtype }, { isMapped, signal, onProgress }),
    ))
    const chosen = about(label, () => chosenNames(file, tensor, label))
    await about(label, async () => file.describe?.(chosen))
    const names = about(label, () => writable(file, label, chosen))
    if (called !== undefined && names.length !== 1) {
      throw new UsageError(`--name names one tensor; ${plain(label)} has ${names.length}`)
    }
    if (extension === '.npy' && names.length !== 1) {
      throw new UsageError(
        `a .npy file has one tensor; ${plain(label)} has ${names.length}: ${plain(label)}:TENSOR says which`,
      )
    }
    for (const name of names) checkTarget(file.info(name), label, extension, dtype)
    const nameIn = (/** @type {string} */ name) =>
      called ?? (name === '' ? path.basename(to, path.extname(to)) : name) // in B
    /** @type {import('../files/transfers').SaveOptions} */
    const options = { signal, onProgress, ifExists: force ? 'replace' : 'error' }
    if (extension === '.safetensors' && file.format === 'safetensors') {
      options.metadata = file.metadata
    }
    if (extension === '.npy' || (file.fetch === undefined && dtype === undefined)) {
      await about(label, async () => file.fetch?.(names, () => null)) // else it is mapped
      about(label, () => names.forEach((name) => tensors.push(tensorIn(file, name, label, dtype))))
      const named = tensors.map((t, i) => /** @type {[string, Tensor]} */ ([nameIn(names[i]), t]))
      await samebytes.save(to, extension === '.npy' ? tensors[0] : named, options)
    } else {
      const sources = new Map(names.map((name) => [nameIn(name), name]))
      const specs = [...sources].map(([name, source]) => {
        const info = file.info(source)
        return { name, dtype: dtype ?? info.dtype, shape: info.shape }
      })
      const come = (/** @type {string[]} */ some) =>
        about(label, async () => {
          const wanted = some.map((name) => /** @type {string} */ (sources.get(name)))
          await file.fetch?.(wanted, () => null, names)
          return wanted.map((name) => {
            // nothing else has the tensors
            const t = tensorIn(file, name, label, dtype)
            file.drop?.(name, t)
            return t
          })
        })
      if (file.fetch !== undefined) options.onProgress = undefined // what is fetched is told
      await saveLate(to, specs, come, options)
    }
    const isRaw = extension !== '.safetensors' && dtype !== undefined && isForeignToNumPy(dtype)
    return { label, count: names.length, nbytes: fs.statSync(to).size, isRaw }
  } finally {
    end()
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
    for (const t of tensors) t.dispose()
    opened?.close()
  }
}

/** @param {import('./arguments').Given} given */
async function convert({ values: { json, prepacked, ...options }, operands: [from, to] }) {
  if (prepacked) {
    await convertModel(from, to, options, json)
    return
  }
  const { label, count, nbytes, isRaw } = await convertFile(from, to, options)
  if (isRaw) {
    note(
      `samebytes convert: ${brief(to)} has raw bytes, because NumPy has no ${options.dtype}: reading them takes the dtype again`,
    )
  }
  if (json) printJson({ from: label, to, tensors: count, nbytes })
  else print(`${brief(to)}: ${counted(count, 'tensor')}, ${size(nbytes)}`)
}

/**
 * convert --prepacked
 *
 * @param {string} from
 * @param {string} to
 * @param {any} options
 * @param {boolean} json
 */
async function convertModel(from, to, { dtype, raw, name, force }, json) {
  if ((dtype ?? raw ?? name) !== undefined) {
    throw new UsageError('--prepacked takes neither --dtype nor --raw nor --name')
  }
  if (!to.endsWith('.onnx')) throw new UsageError(`${plain(to)} does not end in .onnx`)
  const { savePrepacked } = require('../model/prepacked')
  const files = await savePrepacked(from, to, force === true)
  const written = files.map((file) => ({ file, nbytes: fs.statSync(file).size }))
  if (json) printJson({ from, files: written })
  else for (const { file, nbytes } of written) print(`${brief(file)}: ${size(nbytes)}`)
}

module.exports = { convert, convertFile }
