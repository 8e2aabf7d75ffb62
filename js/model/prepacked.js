'use strict'
// Models with their weights as kernels want them: written by onnxruntime, which maps them when it loads such a file. Node alone.

const fs = require('node:fs')
const path = require('node:path')
const { failure } = require('../base/errors')
const { platformName } = require('../runtime/platform')

const KEY = 'samebytes.prepacked'
const MOST_STAMP = 1024 // bytes at a file's end

/** Instructions by which onnxruntime chooses its kernels, and so how weights lie. */
const DECIDING =
  /^(avx2?|fma|avx512(f|bw|dq|vl|_vnni|_bf16|_fp16)|avx_vnni(_int8)?|amx_(tile|int8|bf16)|asimd|asimddp|i8mm|bf16|sve)$/

/** @returns {string} the processor's level */
function levelOf() {
  let about = ''
  try {
    about = fs.readFileSync('/proc/cpuinfo', 'utf8')
  } catch {} // another system: its platform alone
  const flags = /^(?:flags|Features)\s*:(.*)$/m.exec(about)?.[1].trim().split(/\s+/) ?? []
  return flags
    .filter((each) => DECIDING.test(each))
    .sort()
    .join(' ')
}

/** @param {string} version  of onnxruntime @returns {string} where such a file can be used */
const stampFor = (version) => `onnxruntime ${version}, ${platformName()}, ${levelOf()}`

/** A text of at most 16,383 bytes as a field of a message of protobuf. @param {number} number @param {Buffer} bytes */
function fieldOf(number, bytes) {
  const n = bytes.length
  const length = n < 128 ? [n] : [(n & 127) | 128, n >> 7]
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes])
}

/** @param {string} version @returns {Buffer} one of metadata_props; at a model's end it is the last of them */
const stampBytes = (version) =>
  fieldOf(
    14,
    Buffer.concat([
      fieldOf(1, Buffer.from(KEY)),
      fieldOf(2, Buffer.from(stampFor(version).slice(0, MOST_STAMP / 2))),
    ]),
  )

/** @param {string | Uint8Array} model  a path, or bytes @returns {Buffer} its end; nothing where it cannot be read, which onnxruntime will say */
function endOf(model) {
  if (typeof model !== 'string') return Buffer.from(model.subarray(-MOST_STAMP))
  const bytes = Buffer.alloc(MOST_STAMP)
  let fd = -1
  try {
    fd = fs.openSync(model, 'r')
    const from = Math.max(0, fs.fstatSync(fd).size - MOST_STAMP)
    return bytes.subarray(0, fs.readSync(fd, bytes, 0, MOST_STAMP, from))
  } catch {
    return bytes.subarray(0, 0)
  } finally {
    if (fd >= 0) fs.closeSync(fd)
  }
}

/**
 * Refuses a prepacked model that another onnxruntime or another processor would read wrongly.
 *
 * @param {string | Uint8Array} model  a path, or bytes
 * @param {string | null} version  of the onnxruntime that is to load it
 * @throws ERR_UNSUPPORTED
 */
function checkStamp(model, version) {
  const end = endOf(model)
  const at = end.lastIndexOf(KEY)
  if (at < 0 || version === null) return
  const expected = stampBytes(version)
  if (end.subarray(-expected.length).equals(expected)) return
  const text = end
    .subarray(at + KEY.length)
    .toString()
    .replace(/^[^ -~]+/, '')
  throw failure(
    'ERR_UNSUPPORTED',
    `the model was prepacked for ${text.slice(text.indexOf('onnxruntime'))}; this is ${stampFor(version)}: samebytes convert --prepacked writes it anew, of the model that it was made of`,
  )
}

/**
 * onnxruntime writes some models, with branches say, in a way that it does not read itself.
 *
 * @param {string} from
 * @param {string} file  what it wrote of that
 * @throws ERR_UNSUPPORTED
 */
async function checkWritten(from, file) {
  const { nativeOptions, loadSession } = require('./library')
  const plain = /** @type {import('./library').NativeOptions} */ (
    nativeOptions({ logSeverityLevel: 4 })
  )
  try {
    await (await loadSession(file, plain)).release()
  } catch (cause) {
    const text = `onnxruntime cannot read what it writes of ${from} with prepacked weights: ${/** @type {Error} */ (cause).message}`
    throw Object.assign(failure('ERR_UNSUPPORTED', text), { cause })
  }
}

/**
 * Writes a model with prepacked weights, beside it the file of those.
 *
 * @param {string} from  a path
 * @param {string} to  a path; `${to}.data` has the weights
 * @param {boolean} replaces  what is there
 * @returns {Promise<string[]>} the files that were written
 * @throws ERR_EXISTS · ERR_NOT_FOUND · ERR_FORMAT · ERR_IO · ERR_UNSUPPORTED the library cannot be used here
 */
async function savePrepacked(from, to, replaces) {
  const { openLibrary, nativeOptions, loadSession } = require('./library')
  const version = openLibrary()
  const names = [to, `${to}.data`]
  const taken = replaces ? undefined : names.find((name) => fs.existsSync(name))
  if (taken !== undefined) throw failure('ERR_EXISTS', `${taken} is there already`)
  if (!fs.existsSync(from)) throw failure('ERR_NOT_FOUND', `there is no model at ${from}`)
  if (endOf(from).includes(KEY)) {
    throw failure(
      'ERR_UNSUPPORTED',
      `${from} is prepacked already; give the model that it was made of`,
    )
  }
  let folder
  try {
    folder = fs.mkdtempSync(path.join(path.dirname(path.resolve(to)), '.samebytes-'))
  } catch (cause) {
    const text = `${to} cannot be written: ${/** @type {Error} */ (cause).message}`
    throw Object.assign(failure('ERR_IO', text), { cause })
  }
  const file = path.join(folder, path.basename(to))
  try {
    const native = nativeOptions({
      logSeverityLevel: 3, // else it says what the stamp is for
      extra: {
        session: {
          optimized_model_external_initializers_file_name: path.basename(names[1]),
          optimized_model_external_initializers_min_size_in_bytes: 1024,
          save_external_prepacked_constant_initializers: true,
        },
      },
    })
    if (typeof native === 'string') throw failure('ERR_UNSUPPORTED', native)
    native.texts.push('save', file, '')
    try {
      await (await loadSession(from, native)).release()
    } catch (/** @type {any} */ error) {
      if (error.code !== 'ERR_MODEL') throw error
      const text = `${from} is no model that onnxruntime can load: ${error.message}`
      throw Object.assign(failure('ERR_FORMAT', text), { cause: error })
    }
    await checkWritten(from, file)
    fs.appendFileSync(file, stampBytes(version))
    const written = [`${file}.data`, file].filter((each) => fs.existsSync(each))
    for (const each of written) {
      const fd = fs.openSync(each, 'r+')
      fs.fsyncSync(fd)
      fs.closeSync(fd)
      fs.renameSync(each, path.join(path.dirname(to), path.basename(each)))
    }
    return written.map((each) => path.join(path.dirname(to), path.basename(each)))
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

module.exports = { checkStamp, savePrepacked }
