'use strict'
// Tensors as the bytes of .npy, .npz and .safetensors files, in pieces: headers, and the tensors' own bytes.

const { rootless } = require('../base/records')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { textOf, bytesOf } = require('../runtime/host')
const { show, optionsOf } = require('../base/validate')
const { countCopy, CPU, deviceOfStorage, nameOfDevice } = require('../backend/storage')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { isSameShape } = require('../layout/layouts')
const { valuesOfIterable } = require('../layout/values')
const { checkHeap } = require('../runtime/heap')
const { Tensor } = require('../tensor/tensor')
const { readBytes } = require('../layout/data')
const { crc32 } = require('./crc32')
const { TYPES } = require('./entries')

/** @import { AnyTensor } from '../base/types' */
/** @typedef {InstanceType<typeof ffi.Layout>} Layout */

/**
 * A piece of a file. A tensor's bytes are looked up at each use, because WASM memory may grow (withPart).
 *
 * @typedef {Uint8Array | TensorPiece | LatePiece | ChecksummedTensor} Piece
 */

/** A tensor as it was when the file's header was made. */
class TensorPiece {
  /** @param {Tensor} tensor  contiguous in the header's order where its bytes are written */
  constructor(tensor) {
    this.tensor = tensor
    this.layout = Tensor.attachedOf(tensor)
    this.nbytes = this.layout.nbytes
    /** the storage is claimed and busy until the file is there: the tensor may be disposed, and not be given other bytes */
    this.isHeld = false
  }

  /** @throws ERR_STALE the tensor was resized or got other bytes since, by code of a program's that ran meanwhile · ERR_DISPOSED, ERR_DETACHED */
  check() {
    if (!this.isHeld && Tensor.attachedOf(this.tensor) !== this.layout) {
      throw failure(
        'ERR_STALE',
        'a tensor was resized, or given other bytes, while a file was made of it',
      )
    }
  }
}

rootless(TensorPiece)

/** A tensor that is there only while its bytes are written (saveLate). */
class LatePiece {
  /** @param {string} name @param {string} dtype @param {readonly number[]} shape */
  constructor(name, dtype, shape) {
    this.name = name
    this.dtype = dtype
    this.shape = shape
    this.nbytes = shape.reduce((n, extent) => n * extent, dtypeOf(dtype).itemsize)
    /** null: it did not come yet, or was written @type {TensorPiece | null} */
    this.content = null
  }

  /** @param {Tensor} t  taken over @throws ERR_STALE it has another dtype or shape */
  come(t) {
    if (t.dtype !== this.dtype || !isSameShape(t.shape, this.shape)) {
      throw failure(
        'ERR_STALE',
        `${show(this.name)} is another array than before: the file was changed while it was read`,
      )
    }
    const made = compact(t)
    this.content = new TensorPiece(made)
    if (made !== t) t.dispose()
  }

  end() {
    this.content?.tensor.dispose()
    this.content = null
  }
}

rootless(LatePiece)

/**
 * A tensor in a zip. Others may write to it meanwhile, so its checksum is taken of the bytes that were written.
 */
class ChecksummedTensor {
  /**
   * @param {TensorPiece | LatePiece} content
   * @param {number} crc  of the bytes before it in its member
   */
  constructor(content, crc) {
    this.content = content
    this.nbytes = content.nbytes
    this.crc = crc
    /** the checksum's bytes in the zip's directory, which is written later @type {Uint8Array} */
    this.field = new Uint8Array(4)
    /** byte of the file where the checksum is as well: in the member's header */
    this.at = 0
  }

  /** @param {Uint8Array} bytes  that were written; a copy */
  add(bytes) {
    this.crc = crc32(bytes, this.crc)
  }

  /** @returns {Uint8Array} what is written at byte `at` after all bytes were added */
  sum() {
    this.field.set(packed('4', this.crc))
    return this.field
  }
}

rootless(ChecksummedTensor)

const ALIGNMENT = 64
const ENTRY_BYTES = 2048 // of heap, for the pieces of one tensor
const MOST_32 = 0xffffffff // of four bytes in a zip; zip64 has more
const COMMON = '22222444' // widths of the fields that both headers of a member have
const MOST = 1000000 // tensors, and pairs of metadata: the parsers read no more

/**
 * @param {unknown} t
 * @param {string} [name]
 * @returns {Tensor}
 */
function tensorGiven(t, name = 't') {
  if (!Tensor.isTensor(t)) {
    throw failure('ERR_ARGUMENT', `${name} is ${show(t)}; a tensor was expected`)
  }
  const device = deviceOfStorage(Tensor.layoutOf(t).storage)
  if (device !== CPU) {
    throw failure(
      'ERR_DEVICE',
      `${name} is on ${nameOfDevice(device)}; cpu() copies it to where files are written from`,
    )
  }
  return t
}

/**
 * The tensor if it is contiguous, else a contiguous copy.
 *
 * @param {Tensor} t
 * @returns {Tensor}
 */
function compact(t) {
  const layout = Tensor.attachedOf(t)
  if (ffi.isContiguous(layout)) return t
  return Tensor.prototype.contiguous.call(t, {}) // the class's: the tensor may have a property of that name
}

// ---- npy ----

/**
 * A header of version 1, or 2 where there are very many axes; the data behind it begins at a multiple of 64.
 *
 * @param {string} dtype
 * @param {readonly number[]} shape
 * @param {boolean} fortran
 * @returns {Uint8Array}
 */
function npyHeader(dtype, shape, fortran) {
  const tuple = shape.length === 1 ? `${shape[0]},` : shape.join(', ')
  let text = `{'descr': '${TYPES[dtype].npy}', 'fortran_order': ${fortran ? 'True' : 'False'}, 'shape': (${tuple}), }`
  const first = String((fortran ? shape[shape.length - 1] : shape[0]) ?? 0)
  text += ' '.repeat(Math.max(0, 21 - first.length)) // so that NumPy can write a longer first axis in place
  const length = Math.ceil((10 + text.length + 1) / ALIGNMENT) * ALIGNMENT - 10
  const header = new Uint8Array(10 + length).fill(32)
  header.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, length & 255, length >> 8])
  header.set(bytesOf(text), 10)
  header[header.length - 1] = 10
  return header
}

/** @param {Tensor | LatePiece} t @returns {[Uint8Array, TensorPiece | LatePiece]} */
function npyPieces(t) {
  if (t instanceof LatePiece) return [npyHeader(t.dtype, t.shape, false), t]
  const layout = Tensor.attachedOf(t)
  const { shape } = layout
  const reversed = shape.map((_, d) => shape.length - 1 - d)
  const fortran =
    shape.length > 1 && !ffi.isContiguous(layout) && ffi.isContiguousIn(layout, reversed)
  const piece = new TensorPiece(fortran ? Tensor.prototype.permute.call(t, reversed) : compact(t))
  return [npyHeader(dtypes[layout.dtype].name, shape, fortran), piece]
}

// ---- Several tensors ----

/**
 * Names and tensors of a record, a Map, a file object or a list of entries, each of which is read once.
 *
 * @param {unknown} given
 * @returns {[string, Tensor][]}
 */
function entriesOf(given) {
  if (given === null || typeof given !== 'object' || Tensor.isTensor(given)) {
    throw failure(
      'ERR_ARGUMENT',
      `tensors is ${show(given)}; tensors by name were expected: a record such as { weight: t }, a Map, a file object or entries`,
    )
  }
  const isIterable = typeof (/** @type {any} */ (given)[Symbol.iterator]) === 'function'
  const seen = new Set()
  const entries = valuesOfIterable(
    'tensors',
    isIterable ? /** @type {any} */ (given) : Object.entries(given),
    (entry) => {
      if (!Array.isArray(entry) || entry.length !== 2) {
        throw failure(
          'ERR_ARGUMENT',
          `an entry of tensors is ${show(entry)}; [name, tensor] was expected`,
        )
      }
      const [name, t] = entry
      if (typeof name !== 'string') {
        throw failure('ERR_ARGUMENT', `a name of tensors is ${show(name)}; a string was expected`)
      }
      if (!isWellFormed(name)) {
        throw failure(
          'ERR_ARGUMENT',
          `a name of tensors is ${show(name)}, which has half a surrogate pair`,
        )
      }
      if (seen.has(name)) throw failure('ERR_ARGUMENT', `tensors has the name ${show(name)} twice`)
      seen.add(name)
      if (seen.size > MOST) throw tooMany('tensors')
      return /** @type {[string, Tensor]} */ ([name, tensorGiven(t, `tensors[${show(name)}]`)])
    },
  )
  checkHeap(entries.length * ENTRY_BYTES, () => `headers for ${entries.length} tensors`)
  return entries
}

/**
 * Tensors by name for an .npz, in which a tensor alone has NumPy's name.
 *
 * @param {unknown} given
 * @returns {[string, Tensor][]}
 */
const npzEntriesOf = (given) => entriesOf(Tensor.isTensor(given) ? [['arr_0', given]] : given)

/** @param {string} what */
const tooMany = (what) =>
  failure(
    'ERR_UNSUPPORTED',
    `${what} has ${MOST + 1} entries or more; at most ${MOST} would be read`,
  )

/**
 * @param {string} text
 * @returns {boolean} whether UTF-8 has it: no half of a surrogate pair is alone
 */
const isWellFormed = (text) =>
  /** @type {any} */ (text).isWellFormed?.() || text === textOf(bytesOf(text))

/**
 * @param {unknown} metadata
 * @returns {[string, string][]}
 */
function metadataOf(metadata) {
  if (metadata === undefined) return []
  if (metadata === null || typeof metadata !== 'object' || Array.isArray(metadata)) {
    throw failure('ERR_ARGUMENT', `metadata is ${show(metadata)}; a record of strings was expected`)
  }
  const entries = Object.entries(metadata)
  if (entries.length > MOST) throw tooMany('metadata')
  return entries.map(([key, value]) => {
    if (typeof value !== 'string') {
      throw failure(
        'ERR_ARGUMENT',
        `metadata[${show(key)}] is ${show(value)}; a string was expected`,
      )
    }
    if (!isWellFormed(key) || !isWellFormed(value)) {
      throw failure(
        'ERR_ARGUMENT',
        `metadata[${show(key)}] is ${show(value)}: one of them has half a surrogate pair`,
      )
    }
    return [key, value]
  })
}

/** @typedef {{ name: string, dtype: string, shape: readonly number[], nbytes: number }} Spec */

/**
 * The header of a .safetensors file, and where each tensor begins behind it. The format allows no holes, so tensors of multiples
 * of 64 bytes come first, each at such a multiple, then the others by the size of their elements.
 *
 * @template {Spec} S
 * @param {readonly S[]} specs
 * @param {[string, string][]} metadata
 * @returns {{ header: Uint8Array, order: { spec: S, begin: number }[], total: number }}
 */
function safetensorsHeader(specs, metadata) {
  const rank = (/** @type {Spec} */ { dtype, nbytes }) =>
    nbytes % ALIGNMENT === 0 ? ALIGNMENT : dtypeOf(dtype).itemsize
  const sorted = specs.map((spec) => ({ spec, rank: rank(spec) })).sort((a, b) => b.rank - a.rank)
  const fields = []
  if (metadata.length > 0) {
    const pairs = metadata.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
    fields.push(`"__metadata__":{${pairs}}`)
  }
  let at = 0
  const order = sorted.map(({ spec }) => {
    const { name, dtype, shape, nbytes } = spec
    const type = TYPES[dtype].safetensors
    if (name === '__metadata__') {
      throw failure(
        'ERR_ARGUMENT',
        'a tensor cannot be called "__metadata__": the format uses the name',
      )
    }
    if (type === null) {
      throw failure('ERR_DTYPE', `${show(name)} is of ${dtype}; .safetensors has no such type`)
    }
    fields.push(
      `${JSON.stringify(name)}:{"dtype":"${type}","shape":[${shape.join(',')}],"data_offsets":[${at},${at + nbytes}]}`,
    )
    at += nbytes
    return { spec, begin: at - nbytes }
  })
  const text = bytesOf(`{${fields}}`)
  const length = Math.ceil((8 + text.length) / ALIGNMENT) * ALIGNMENT
  if (length - 8 > 100000000) {
    throw failure(
      'ERR_UNSUPPORTED',
      'the header would be longer than .safetensors allows: 100000000 bytes',
    )
  }
  const header = new Uint8Array(length).fill(32)
  new DataView(header.buffer).setUint32(0, length - 8, true)
  header.fill(0, 4, 8)
  header.set(text, 8)
  for (const item of order) item.begin += length
  return { header, order, total: length + at }
}

/**
 * @param {[string, Tensor | LatePiece][]} entries
 * @param {[string, string][]} metadata
 * @returns {Piece[]}
 */
function safetensorsPieces(entries, metadata) {
  const specs = entries.map(([name, t]) => {
    if (t instanceof LatePiece) {
      return { name, dtype: t.dtype, shape: t.shape, nbytes: t.nbytes, piece: t }
    }
    const piece = new TensorPiece(t)
    const { layout, nbytes } = piece
    return { name, dtype: dtypes[layout.dtype].name, shape: layout.shape, nbytes, piece }
  })
  const { header, order } = safetensorsHeader(specs, metadata)
  const pieces = order.map(({ spec: { piece } }) => {
    if (piece instanceof LatePiece) return piece
    piece.check()
    return new TensorPiece(compact(piece.tensor))
  })
  return [header, ...pieces]
}

/**
 * A zip of stored .npy files, each array at a multiple of 64.
 *
 * @param {[string, Tensor | LatePiece][]} entries
 * @returns {Piece[]}
 */
function npzPieces(entries) {
  /** @type {Piece[]} */
  const pieces = []
  const directory = []
  /** @type {ChecksummedTensor[]} */
  const all = []
  let at = 0
  for (const [name, t] of entries) {
    const [header, content] = npyPieces(t)
    const size = header.length + content.nbytes
    const summed = new ChecksummedTensor(content, crc32(header, 0))
    const file = bytesOf(`${name}.npy`)
    if (file.length > 0xffff || name.includes('\0')) {
      throw failure(
        'ERR_ARGUMENT',
        `a name of tensors is ${show(name.slice(0, 300))}; a zip takes ${0xffff - 4} bytes without a character 0`,
      )
    }
    const wide = zip64(size, size)
    const pad = -(at + 30 + file.length + wide.length + 4) & (ALIGNMENT - 1)
    const padding = joined(packed('22', 0xd935, pad), new Uint8Array(pad))
    // version, flags (names are UTF-8), method, time, date, checksum, sizes
    const common = [45, 0x800, 0, 0, 0x21, 0, Math.min(size, MOST_32), Math.min(size, MOST_32)]
    const extra = wide.length + padding.length
    const start = packed(`4${COMMON}22`, 0x04034b50, ...common, file.length, extra)
    const head = joined(start, file, wide, padding)
    const far = zip64(size, size, at)
    const rest = [file.length, far.length, 0, 0, 0, 0, Math.min(at, MOST_32)]
    directory.push(
      joined(packed(`42${COMMON}2222244`, 0x02014b50, 45, ...common, ...rest), file, far),
    )
    summed.at = at + 14
    all.push(summed)
    pieces.push(head, header, summed)
    at += head.length + size
  }
  const list = joined(...directory)
  const end = at + list.length
  const n = entries.length
  const isWide = n >= 0xffff || end >= MOST_32
  const zip64End = [0x06064b50, 44, 45, 45, 0, 0, n, n, list.length, at]
  const locator = [0x07064b50, 0, end, 1]
  const wide = isWide ? packed('48224488884484', ...zip64End, ...locator) : new Uint8Array(0)
  const short = Math.min(n, 0xffff)
  const where = [Math.min(list.length, MOST_32), Math.min(at, MOST_32)]
  const last = joined(list, wide, packed('4422442', 0x06054b50, 0, short, short, ...where, 0))
  let from = 16
  directory.forEach((entry, i) => {
    all[i].field = last.subarray(from, from + 4)
    from += entry.length
  })
  return [...pieces, last]
}

/**
 * The zip64 field: the numbers that need more than 32 bits; empty if none does.
 *
 * @param {...number} values
 */
function zip64(...values) {
  const large = values.filter((value) => value >= MOST_32)
  const n = large.length
  return n === 0 ? new Uint8Array(0) : packed(`22${'8'.repeat(n)}`, 1, 8 * n, ...large)
}

/**
 * @param {string} widths  bytes of each value, a digit each
 * @param {...number} values
 * @returns {Uint8Array} little-endian
 */
function packed(widths, ...values) {
  const bytes = []
  for (const [i, value] of values.entries()) {
    for (let j = 0, rest = value; j < Number(widths[i]); j++, rest = Math.floor(rest / 256)) {
      bytes.push(rest % 256)
    }
  }
  return Uint8Array.from(bytes)
}

/**
 * @param {Uint8Array[]} parts
 * @returns {Uint8Array}
 */
function joined(...parts) {
  const bytes = new Uint8Array(parts.reduce((n, part) => n + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** @param {Piece} piece  no LatePiece that did not come, but in save.js @returns {Uint8Array | TensorPiece} */
const contentOf = (piece) =>
  lateOf(piece)?.content ??
  /** @type {any} */ (piece instanceof ChecksummedTensor ? piece.content : piece)

/** @param {Piece} piece @returns {LatePiece | null} */
function lateOf(piece) {
  const what = piece instanceof ChecksummedTensor ? piece.content : piece
  return what instanceof LatePiece ? what : null
}

/**
 * Calls use with some bytes of a piece, which may be gone afterwards.
 *
 * @template R
 * @param {Piece} piece
 * @param {number} at
 * @param {number} nbytes
 * @param {(bytes: Uint8Array) => R} use  as of readBytes
 * @returns {R}
 */
function withPart(piece, at, nbytes, use) {
  const what = contentOf(piece)
  if (!(what instanceof TensorPiece)) return use(what.subarray(at, at + nbytes))
  what.check()
  return readBytes(what.layout, at, nbytes, use)
}

/** @param {Piece} piece @returns {number} bytes */
const sizeOf = (piece) => (piece instanceof Uint8Array ? piece.length : piece.nbytes)

/**
 * @param {Piece[]} pieces
 * @param {string} reason
 * @returns {Uint8Array<ArrayBuffer>}
 */
function bytesOfPieces(pieces, reason) {
  const nbytes = pieces.reduce((n, piece) => n + sizeOf(piece), 0)
  let bytes
  try {
    bytes = new Uint8Array(nbytes)
  } catch {
    throw failure(
      'ERR_MEMORY',
      `${nbytes} bytes could not be allocated; save writes to a file piece by piece`,
    )
  }
  let at = 0
  for (const piece of pieces) {
    const n = sizeOf(piece)
    withPart(piece, 0, n, (part) => bytes.set(part, at))
    if (piece instanceof ChecksummedTensor) {
      piece.add(bytes.subarray(at, at + n))
      bytes.set(piece.sum(), piece.at)
    }
    at += n
  }
  countCopy(reason, nbytes)
  return bytes
}

// ---- Public ----

/**
 * A tensor as the bytes of a .npy file, which NumPy's load reads. Fortran order stays; other layouts are made
 * row-major. bfloat16 and float8, which NumPy lacks, become raw bytes: parseNpy needs their dtype then.
 *
 * @param {AnyTensor} t
 * @returns {Uint8Array<ArrayBuffer>} a copy; the data begins at a multiple of 64
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_MEMORY · ERR_DETACHED, ERR_DISPOSED · ERR_STALE code of the program's resized it meanwhile
 * @see NumPy save
 * @example
 * toNpyBytes(zeros([2, 3])).length // 152
 */
function toNpyBytes(t) {
  return bytesOfPieces(npyPieces(tensorGiven(t)), 'toNpyBytes')
}

/**
 * Tensors as the bytes of an .npz file, stored, each array at a multiple of 64.
 *
 * @param {AnyTensor | Tensors} tensors  by name; one alone is called arr_0
 * @returns {Uint8Array<ArrayBuffer>} a copy
 * @throws as toNpyBytes
 * @see NumPy savez
 * @example
 * [...parseNpz(toNpzBytes({ a: zeros([2]), b: ones([3]) })).keys()] // ['a', 'b']
 */
function toNpzBytes(tensors) {
  return bytesOfPieces(npzPieces(npzEntriesOf(tensors)), 'toNpzBytes')
}

/**
 * Tensors as the bytes of a .safetensors file. Those that fill multiples of 64 bytes begin at one; the others, behind
 * them, at multiples of their elements' sizes: the format has no room for more.
 *
 * @param {Tensors} tensors
 * @param {{ metadata?: Record<string, string> }} [opts]
 * @returns {Uint8Array<ArrayBuffer>} a copy
 * @throws {TypeError} ERR_DTYPE complex128 · as toNpyBytes
 * @see safetensors save
 * @example
 * parseSafetensors(toSafetensorsBytes({ a: ones([2]) })).get('a').toArray() // [1, 1]
 */
function toSafetensorsBytes(tensors, opts) {
  const { metadata } = optionsOf(opts, ['metadata'], 'toSafetensorsBytes')
  return bytesOfPieces(
    safetensorsPieces(entriesOf(tensors), metadataOf(metadata)),
    'toSafetensorsBytes',
  )
}

/** @typedef {Record<string, AnyTensor> | Iterable<readonly [string, AnyTensor]>} Tensors by name: a record, a Map, a file object, entries */

module.exports = {
  toNpyBytes,
  toNpzBytes,
  toSafetensorsBytes,
  tensorGiven,
  entriesOf,
  npzEntriesOf,
  metadataOf,
  npyHeader,
  npyPieces,
  npzPieces,
  safetensorsHeader,
  safetensorsPieces,
  TensorPiece,
  ChecksummedTensor,
  LatePiece,
  lateOf,
  contentOf,
  withPart,
  sizeOf,
}
