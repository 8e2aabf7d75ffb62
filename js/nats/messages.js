'use strict'
// Tensors as messages: one tensor is headers and its raw bytes, a record of named ones a .safetensors body.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { countCopy, countSent } = require('../backend/storage')
const { dtypes, byName } = require('../backend/dtypes')
const { beginUse, endUse, busy } = require('../copy/async')
const { readBytes } = require('../layout/data')
const { isSameShape } = require('../layout/layouts')
const { Tensor } = require('../tensor/tensor')
const { fromBytes } = require('../tensor/creation')
const { Part } = require('../files/byte-source')
const { parseSafetensors } = require('../files/parse')
const { safetensorsFile } = require('../files/safetensors')
const { tensorGiven, toSafetensorsBytes } = require('../files/writers')
const { CUT } = require('./frames')
const { HeaderBlock, readHeaders } = require('./headers')
const { markStable } = require('./payloads')

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @typedef {Record<string, Tensor>} TensorRecord */
/** @typedef {import('../files/byte-source').Source} Source */
/** @typedef {import('../files/entries').TensorInfo} TensorInfo */
/** @typedef {import('../files/tensor-file').TensorFile} TensorFile */

/**
 * What a message is made of.
 *
 * @typedef {object} Encoded
 * @property {HeaderBlock} headers
 * @property {Uint8Array} payload
 * @property {Storage | null} storage  whose own bytes the payload is; null: the payload is a copy
 */

const SMALL = 2 ** 16 // bytes: fewer are copied when they are sent, so that the caller may write to the tensor at once
const MOST_AXES = 64
const MOST_NAMES = 2 ** 14 // of a record
const RECORD_HEADER = 2 ** 20 // bytes of a record's JSON that are read
const SHAPE = /^(?:(?:0|[1-9]\d{0,15})(?:,(?:0|[1-9]\d{0,15}))*)?$/
const SAFETENSORS = 'safetensors'
const RECORD = { 'Tensor-Format': SAFETENSORS }

/** @param {string} reason */
const malformed = (reason) => failure('ERR_FORMAT', `the message ${reason}`)

// ---- Written ----

/**
 * A value as a message.
 *
 * @param {any} value  a tensor on the CPU, or tensors by name
 * @param {{ isBody?: boolean, fields?: Record<string, string | number | undefined> }} [options]  isBody: the tensor has the bytes of a record; fields: other headers
 * @returns {Encoded} payload: the tensor's own bytes if it is contiguous and they stay where they are, else a counted copy
 * @throws {TypeError} ERR_ARGUMENT, ERR_DTYPE a record with complex128 · ERR_BUSY something writes it · ERR_DEVICE · ERR_DISPOSED, ERR_DETACHED · {RangeError} ERR_MEMORY
 */
function encode(value, { isBody = false, fields } = {}) {
  if (!Tensor.isTensor(value)) {
    if (
      value === null ||
      typeof value !== 'object' ||
      Array.isArray(value) ||
      ArrayBuffer.isView(value)
    ) {
      throw failure(
        'ERR_ARGUMENT',
        `value is ${show(value)}; a tensor, or tensors by name, was expected`,
      )
    }
    const payload = toSafetensorsBytes(value)
    return { headers: new HeaderBlock(RECORD, fields), payload, storage: null }
  }
  const layout = Tensor.attachedOf(tensorGiven(value, 'value'))
  const { storage } = layout
  if ((storage.optional?.written ?? 0) > 0) throw busy('tensor')
  const headers = new HeaderBlock(isBody ? RECORD : kindFields(value), fields)
  const stays = ffi.isContiguous(layout) && layout.size > 0 && storage.kind !== 'wasm' // whose memory moves when it grows
  const payload = stays ? readBytes(layout, 0, layout.nbytes, (bytes) => bytes) : copyOfBytes(value)
  return { headers, payload, storage: stays ? storage : null }
}

/**
 * What the headers say of a value.
 *
 * @param {any} value
 * @returns {Record<string, string>}
 */
function kindFields(value) {
  if (!Tensor.isTensor(value)) return RECORD
  const { dtype, shape } = Tensor.attachedOf(value)
  return { 'Tensor-Dtype': dtypes[dtype].name, 'Tensor-Shape': shape.join(',') }
}

/** @param {Tensor} t @returns {Uint8Array} row-major */
function copyOfBytes(t) {
  const layout = Tensor.attachedOf(t)
  const nbytes = layout.nbytes
  if (nbytes === 0) return new Uint8Array(0)
  countCopy('nats', nbytes)
  if (ffi.isContiguous(layout)) return readBytes(layout, 0, nbytes, (bytes) => bytes.slice())
  let bytes
  try {
    bytes = new Uint8Array(nbytes)
  } catch {
    throw failure('ERR_MEMORY', `${nbytes} bytes for a message could not be allocated`)
  }
  const target = fromBytes(bytes, layout.shape, { dtype: dtypes[layout.dtype].name, copy: false })
  try {
    target.copyFrom(t)
  } finally {
    target.dispose()
  }
  return bytes
}

/**
 * A value as a message that is about to be sent: small bytes are copied now, others stay in place, their tensor busy until `release`.
 *
 * @param {any} value
 * @param {{ isBody?: boolean, fields?: Record<string, string | number | undefined> }} [options]  as of encode
 * @returns {Encoded & { release (): void }}  release: to be called once; also after failures
 * @throws as encode
 */
function outgoing(value, options) {
  const { headers, payload, storage } = encode(value, options)
  const isLarge = payload.length >= SMALL
  countSent('message', payload.length)
  if (isLarge) markStable(payload, storage)
  if (storage === null) return { headers, payload, storage, release() {} }
  if (isLarge) {
    beginUse(storage, 0)
    return { headers, payload, storage, release: () => endUse(storage, 0) }
  }
  countCopy('nats', payload.length)
  return { headers, payload: payload.slice(), storage: null, release() {} }
}

// ---- Read ----

/**
 * The tensor, or the tensors by name, of a message. All that it says is checked before memory is taken.
 *
 * @param {any} message  of the client
 * @param {{ maxBytes?: number, out?: any }} [options]  out: a tensor, or tensors by name, to write into
 * @returns {Tensor | TensorRecord} over the message's own bytes, where they are 64 KiB or more and aligned, else a counted copy; or out
 * @throws ERR_FORMAT · ERR_TOO_LARGE · {TypeError} ERR_DTYPE · {RangeError} ERR_SHAPE of out, which is as before then · as writers of out
 */
const decode = (message, options) => decodeParts(readHeaders(message), message.data, options)

/**
 * The same of a message's parts.
 *
 * @param {Map<string, string>} fields  as of readHeaders
 * @param {Uint8Array} data
 * @param {{ maxBytes?: number, out?: any }} [options]
 * @returns {Tensor | TensorRecord}
 */
function decodeParts(fields, data, { maxBytes = Infinity, out } = {}) {
  if (data.length > maxBytes) {
    throw failure('ERR_TOO_LARGE', `the message has ${data.length} bytes; maxBytes is ${maxBytes}`)
  }
  const cut = fields.get(CUT.toLowerCase())
  if (cut !== undefined) {
    throw failure(
      'ERR_TOO_LARGE',
      `the message had ${cut.slice(0, 16)} bytes, which the transport did not take`,
    )
  }
  if (isRecord(fields)) return decodeRecord(data, out)
  const { dtype, shape, nbytes } = dtypeAndShape(fields)
  if (nbytes !== data.length) {
    throw malformed(`has ${data.length} bytes; ${dtype.name} [${shape.join(', ')}] has ${nbytes}`)
  }
  if (out === undefined) return over(data, dtype, shape)
  checkTarget(out, dtype.name, shape)
  fill(out, data)
  return out
}

/** @param {Map<string, string>} fields @throws ERR_FORMAT it is in a format that is not read */
function isRecord(fields) {
  const format = fields.get('tensor-format')
  if (format !== undefined && format !== SAFETENSORS) {
    throw malformed(`is in the format ${show(format.slice(0, 40))}; '${SAFETENSORS}' was expected`)
  }
  return format !== undefined
}

/**
 * What a message's headers say of its tensor.
 *
 * @param {Map<string, string>} fields
 * @returns {{ dtype: import('../backend/dtypes').Dtype, shape: number[], nbytes: number }}
 * @throws ERR_FORMAT
 */
function dtypeAndShape(fields) {
  const name = fields.get('tensor-dtype')
  const text = fields.get('tensor-shape')
  if (name === undefined || text === undefined) {
    throw malformed('has no headers Tensor-Dtype and Tensor-Shape')
  }
  const dtype = byName.get(name)
  if (dtype === undefined) {
    throw malformed(`is of dtype ${show(name.slice(0, 40))}, which is none of samebytes'`)
  }
  if (text !== '' && !SHAPE.test(text)) {
    throw malformed(`has the shape ${show(text.slice(0, 40))}; '2,3' and the like was expected`)
  }
  const shape = text === '' ? [] : text.split(',').map(Number)
  if (shape.length > MOST_AXES) {
    throw malformed(`has ${shape.length} axes; ${MOST_AXES} are possible`)
  }
  const size = shape.reduce((n, extent) => n * extent, 1) // exact, or larger than any message
  return { dtype, shape, nbytes: size * dtype.itemsize }
}

/**
 * The bytes of a message, in memory that nothing else has: the client reads small messages into one buffer, which a program could see, keep or
 * transfer to another thread by a tensor over it.
 *
 * @param {Uint8Array} data
 * @returns {Uint8Array} itself, or a counted copy
 */
function owned(data) {
  if (data.length >= SMALL || data.buffer.byteLength === data.length) {
    return new Uint8Array(/** @type {ArrayBuffer} */ (data.buffer), data.byteOffset, data.length)
  }
  if (data.length > 0) countCopy('nats', data.length)
  return new Uint8Array(data)
}

/**
 * @param {Uint8Array} data
 * @param {import('../backend/dtypes').Dtype} dtype
 * @param {number[]} shape
 */
function over(data, dtype, shape) {
  const bytes = owned(data)
  try {
    return fromBytes(bytes, shape, { dtype: dtype.name, copy: 'if-needed' })
  } catch (error) {
    throw unshaped(error, `[${shape.join(', ')}]`)
  }
}

/** An error of making a tensor: that of a shape with 0 elements and huge axes is the message's fault. @param {any} error @param {string} [what] */
function unshaped(error, what = error?.message) {
  if (error?.code !== 'ERR_SHAPE' && error?.code !== 'ERR_BOUNDS') return error
  return Object.assign(malformed(`has a shape that no tensor has: ${what}`), { cause: error })
}

/**
 * @param {unknown} out
 * @param {string} dtype
 * @param {readonly number[]} shape
 * @param {string} [name]
 */
function checkTarget(out, dtype, shape, name = 'out') {
  const t = tensorGiven(out, name)
  const layout = Tensor.writableOf(t)
  if (dtypes[layout.dtype].name !== dtype) {
    throw failure(
      'ERR_DTYPE',
      `${name} is of ${dtypes[layout.dtype].name}; the message is of ${dtype}`,
    )
  }
  if (!isSameShape(layout.shape, /** @type {number[]} */ (shape))) {
    throw failure(
      'ERR_SHAPE',
      `${name} has the shape [${layout.shape.join(', ')}]; the message's is [${shape.join(', ')}]`,
    )
  }
}

/**
 * @param {Tensor} out  that was checked
 * @param {Uint8Array} data
 */
function fill(out, data) {
  const layout = Tensor.writableOf(out)
  const n = data.length
  if (n === 0) return
  if (ffi.isContiguous(layout)) return readBytes(layout, 0, n, (bytes) => bytes.set(data))
  const source = over(data, dtypes[layout.dtype], layout.shape)
  out.copyFrom(source)
  source.dispose()
}

/**
 * @param {Uint8Array} data  a .safetensors file
 * @param {any} out
 * @returns {TensorRecord}
 */
function decodeRecord(data, out) {
  if (data.length < 8) throw malformed('is too short for a .safetensors body')
  const open = () => {
    checkHeader(data)
    return parseSafetensors(out === undefined ? owned(data) : data)
  }
  return readRecord(open, out, (target, { byteOffset, nbytes }) =>
    fill(target, data.subarray(byteOffset, byteOffset + nbytes)),
  )
}

/**
 * The record in memory that others may write to.
 *
 * @param {Source} source  a .safetensors file
 * @param {any} [out]
 * @param {(target: Tensor, source: Tensor) => void} [copy]  with out
 * @returns {TensorRecord} over the source; or out
 * @throws as decode
 */
function decodeExported(source, out, copy = () => {}) {
  const open = () => safetensorsFile(new Exported(source))
  return readRecord(open, out, (target, { name }, file) => {
    const t = file.get(name)
    copy(target, t)
    t.dispose()
  })
}

/** A file whose beginning may change after it was looked at, and whose tensors are copied where they are not aligned, whoever may write to it. */
class Exported extends Part {
  /** @param {Source} source */
  constructor(source) {
    super(source, 0, source.size)
    this.writes = false
  }

  /** @param {number} from @param {number} nbytes @override */
  read(from, nbytes) {
    const bytes = super.read(from, nbytes)
    if (from === 0 && nbytes >= 8) checkHeader(bytes)
    return bytes
  }
}

/** @param {Uint8Array} bytes  of a .safetensors file, its first 8 or more */
function checkHeader(bytes) {
  const header = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true)
  if (header > RECORD_HEADER) {
    throw failure('ERR_FORMAT', `its JSON has ${header} bytes; ${RECORD_HEADER} are read`)
  }
}

/**
 * @param {() => TensorFile} open
 * @param {any} out
 * @param {(target: Tensor, info: TensorInfo, file: TensorFile) => void} fill
 * @returns {TensorRecord}
 */
function readRecord(open, out, fill) {
  let file
  try {
    file = open()
  } catch (/** @type {any} */ error) {
    throw error?.code === 'ERR_FORMAT'
      ? Object.assign(malformed(`is no .safetensors body: ${error.message}`), { cause: error })
      : error
  }
  /** @type {[string, Tensor][]} */
  const made = []
  try {
    if (file.size > MOST_NAMES) throw malformed(`has ${file.size} tensors; ${MOST_NAMES} are read`)
    if (out === undefined) {
      for (const name of file.keys()) made.push([name, file.get(name)])
      return Object.fromEntries(made)
    }
    if (out === null || typeof out !== 'object' || Tensor.isTensor(out)) {
      throw malformed(`has tensors by name; out is ${show(out)}`)
    }
    const infos = [...file.keys()].map((name) => file.info(name))
    const targets = infos.map(({ name }) => {
      if (!Object.hasOwn(out, name)) {
        throw failure('ERR_NOT_FOUND', `out has no tensor ${show(name)}, which the message has`)
      }
      return out[name] // once: it may be a getter
    })
    infos.forEach(({ name, dtype, shape }, i) =>
      checkTarget(targets[i], dtype, shape, `out.${name}`),
    )
    infos.forEach((info, i) => fill(targets[i], info, file))
    return out
  } catch (error) {
    for (const [, t] of made) t.dispose() // they would keep the bytes until they are collected
    throw out === undefined ? unshaped(error) : error
  } finally {
    file.close()
  }
}

module.exports = {
  SMALL,
  encode,
  kindFields,
  isRecord,
  outgoing,
  decode,
  decodeParts,
  decodeExported,
  dtypeAndShape,
  checkTarget,
}
