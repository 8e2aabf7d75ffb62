'use strict'
// Tensors in the bytes of .npy, .npz, .safetensors and .gguf files: views where the bytes' place allows it.

const { arrayMap, nbytesOf, rootless, typedSet } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { textOf, exactTextOf, inflate, inflateSome, findCrc32 } = require('../runtime/host')
const { integer, optionsOf } = require('../base/validate')
const { isSharedArrayBuffer, byteLengthOf } = require('../base/buffers')
const { countCopy, grant } = require('../backend/storage')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { bytesOf, denseLayout } = require('../layout/layouts')
const { wrap } = require('../tensor/tensor')
const { tracking } = require('../layout/lifetime')
const { checkHeap } = require('../runtime/heap')
const { roomFor } = require('./allocate')
const { NPY, SAFETENSORS, GGUF, ZIP_END, ZIP_DIRECTORY, ZIP_MEMBER, PAIR, TENSOR, WIDEST, parse, recordsOf } = require('./parsers')

const { backend, Layout, READ_ONLY } = ffi

/** @import { DtypeName } from '../base/types' */
/** @template {DtypeName} [D=any] @typedef {import('../tensor/tensor').Tensor<D>} Tensor */
/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @typedef {import('./parsers').Found} Found */

const FORTRAN = 1
const SWAPPED = 2

/**
 * Where a tensor is in a file, and what it is.
 *
 * @typedef {object} TensorInfo
 * @property {string} name
 * @property {DtypeName} dtype  of the tensor that get() gives; 'uint8' for NumPy's raw bytes (type '<V2', '|V1') of which nobody said what they are
 * @property {number[]} shape  of that tensor
 * @property {string} type  what the format calls the type: '<f4', 'BF16', 'Q4_K'
 * @property {number[]} fileShape  elements, as the file says; another than shape where elements come in blocks
 * @property {{ elements: number, bytes: number }} block  of the type; one element, but of quantised types
 * @property {number} byteOffset  in the file, or in what the member of an .npz was inflated to
 * @property {number} nbytes
 * @property {number} [deflated]  bytes that it has in an .npz that deflates it; else absent
 */

/**
 * Bytes that a file has, in memory or not.
 *
 * @typedef {object} Source
 * @property {number} size  bytes
 * @property {number} first  bytes that a parser is given first
 * @property {number} flags  of layouts over it
 * @property {string} reason  under which copies are counted
 * @property {boolean} writes  whether what is written to a tensor has to reach it
 * @property {(from: number, nbytes: number) => Uint8Array<ArrayBuffer>} read  a copy that nobody else can write to: what is looked at more than once
 * @property {(from: number, nbytes: number) => Uint8Array} view  the same, or the file's own bytes, where they are in memory: what is read once
 * @property {(from: number, nbytes: number, alignment: number) => Storage | null} place  null: they are not aligned
 * @property {() => void} close
 * @property {boolean} [owned]  what place gives is the tensor's alone
 * @property {Set<unknown>} [faults]  where members of an .npz are read once, what was wrong with those that are no arrays of ours
 */

/** A caller's bytes as a file. @implements {Source} */
class Bytes {
  /**
   * @param {unknown} bytes
   * @param {string} reason
   */
  constructor (bytes, reason) {
    const { buffer, byteOffset, byteLength } = bytesOf(bytes)
    this.buffer = buffer
    this.byteOffset = byteOffset
    this.size = byteLength
    this.source = /** @type {object} */ (bytes)
    this.flags = 0
    this.reason = reason
    this.writes = false
    this.first = 4096
    /** keeps linear memory, which the caller's array does not keep @type {Storage | null} */
    this.holder = byteOffset > 0 && backend.isOwn(buffer) ? backend.adopt(buffer, byteOffset, byteLength, this.source) : null
  }

  /** The buffer that has the bytes now: that of linear memory is another one after growth. */
  current () {
    return this.holder === null ? this.buffer : backend.bufferOf(this.holder, ffi.check)
  }

  /**
   * Another thread or process may write to the caller's bytes, whatever their buffer: it may lie over shared or mapped memory.
   *
   * @param {number} from
   * @param {number} nbytes
   */
  read (from, nbytes) {
    const bytes = roomFor(nbytes, 'a header')
    bytes.set(this.view(from, nbytes))
    return bytes
  }

  /**
   * @param {number} from
   * @param {number} nbytes
   */
  view (from, nbytes) {
    const at = this.live(from, nbytes)
    return new Uint8Array(/** @type {ArrayBuffer} */ (this.current()), at, nbytes)
  }

  /**
   * @param {number} from
   * @param {number} nbytes
   * @returns {number} where they are in the buffer
   * @throws ERR_DETACHED they are there no more: tensors are made later than the file object
   */
  live (from, nbytes) {
    const at = this.byteOffset + from
    if (byteLengthOf(this.current()) < at + nbytes) throw failure('ERR_DETACHED', 'the bytes of the file are gone: their buffer was transferred away or shrunk, or is that of WASM memory which grew since')
    return at
  }

  /**
   * @param {number} from
   * @param {number} nbytes
   * @param {number} alignment
   */
  place (from, nbytes, alignment) {
    const at = this.live(from, nbytes)
    if (at % alignment !== 0) return null
    const storage = backend.adopt(this.current(), at, nbytes, this.source)
    if (backend.addressOf(storage) % alignment !== 0) {
      backend.release(storage)
      return null
    }
    storage.owner ??= this.source
    return storage
  }

  close () {
    if (this.holder !== null) backend.release(this.holder)
  }
}

/**
 * What make makes of a caller's bytes. Where it fails, they are let go of.
 *
 * @template R
 * @param {unknown} bytes
 * @param {string} reason
 * @param {(source: Bytes) => R} make
 * @returns {R}
 */
function ofBytes (bytes, reason, make) {
  const source = new Bytes(bytes, reason)
  try {
    return make(source)
  } catch (error) {
    source.close()
    throw error
  }
}

rootless(Bytes)

/** Part of a file as one. @implements {Source} */
class Part {
  /**
   * @param {Source} whole
   * @param {number} at
   * @param {number} size
   */
  constructor (whole, at, size) {
    this.whole = whole
    this.at = at
    this.size = size
    this.flags = whole.flags
    this.reason = whole.reason
    this.writes = whole.writes
    this.owned = whole.owned === true
    this.first = whole.first
  }

  /** @param {number} from @param {number} nbytes */
  read (from, nbytes) { return this.whole.read(this.at + from, nbytes) }
  /** @param {number} from @param {number} nbytes */
  view (from, nbytes) { return this.whole.view(this.at + from, nbytes) }
  /** @param {number} from @param {number} nbytes @param {number} alignment */
  place (from, nbytes, alignment) { return this.whole.place(this.at + from, nbytes, alignment) }
  close () {}
}

rootless(Part)

/**
 * What a parser finds in a file, of whose beginning it is given as much as it asks for; and that beginning, to which the words refer.
 *
 * @param {number} which
 * @param {Source} source
 */
function parsed (which, source) {
  const { size } = source
  for (let n = Math.min(size, source.first); ;) {
    const bytes = source.read(0, n)
    const { words, wanted } = parse(which, bytes, size)
    if (wanted === 0) return { words, bytes }
    n = Math.min(size, Math.max(wanted, 2 * n))
  }
}

/**
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {number} n
 */
function textAt (bytes, at, n) {
  return textOf(bytes.subarray(at, at + n))
}

/**
 * A string of JSON, which was checked.
 *
 * @param {Uint8Array} bytes
 * @param {number} at  after its quote
 * @param {number} n
 * @returns {string}
 */
function jsonAt (bytes, at, n) {
  const text = textAt(bytes, at, n)
  if (!text.includes('\\')) return text
  checkHeap(2 * WIDEST * n, () => `a text of ${n} bytes with its escapes`)
  return JSON.parse(`"${text}"`)
}

// ---- Tensors ----

/**
 * A tensor's record in words that programs understand.
 *
 * @typedef {object} Entry
 * @property {string} name
 * @property {number} dtype  -1: none of ours
 * @property {number} foreign
 * @property {string} type
 * @property {number} blockElements
 * @property {number} blockBytes
 * @property {number} begin
 * @property {number} nbytes
 * @property {number[]} shape
 */

/**
 * @param {Float64Array} words
 * @param {string} name
 * @param {string} type
 * @returns {Entry}
 */
function entryOf (words, name, type) {
  return {
    name,
    type,
    dtype: words[4],
    foreign: words[5],
    blockElements: words[6],
    blockBytes: words[7],
    begin: words[8],
    nbytes: words[9],
    shape: Array.from(words.subarray(11, 11 + words[10]))
  }
}

/**
 * dtype and shape of the tensor for an entry: bytes where the type is none of ours.
 *
 * @param {Entry} entry
 * @returns {{ dtype: import('../backend/dtypes').Dtype, shape: number[] }}
 */
function tensorOf ({ dtype, shape, blockElements, blockBytes, nbytes }) {
  if (dtype >= 0) return { dtype: dtypes[dtype], shape }
  const bytes = dtypeOf('uint8')
  if (blockElements === 1 && blockBytes === 1) return { dtype: bytes, shape }
  const last = shape[shape.length - 1]
  if (shape.length === 0 || last % blockElements !== 0) return { dtype: bytes, shape: [nbytes] }
  return { dtype: bytes, shape: [...shape.slice(0, -1), last / blockElements * blockBytes] }
}

/**
 * @param {import('../backend/dtypes').Dtype} dtype
 * @param {number[]} shape
 * @param {boolean} fortran
 */
function layoutWithout (dtype, shape, fortran) {
  return fortran && shape.length > 1 ? ffi.denseOrdered(dtype.index, shape, arrayMap(shape, (_, d) => shape.length - 1 - d)) : denseLayout(dtype.index, shape)
}

/**
 * The tensor of an entry: over the file's bytes, or over a copy of them where they are not aligned or in another order.
 *
 * @param {Source} source
 * @param {Entry} entry
 * @param {{ fortran?: boolean, swapped?: boolean }} [how]
 */
function madeOf (source, entry, { fortran = false, swapped = false } = {}) {
  const { dtype, shape } = tensorOf(entry)
  const bare = layoutWithout(dtype, shape, fortran)
  let storage = (swapped && !source.owned) || entry.nbytes === 0 ? null : source.place(entry.begin, entry.nbytes, Math.min(dtype.itemsize, dtype.kind === 'COMPLEX' ? dtype.itemsize / 2 : 8))
  if (storage === null) {
    if (source.writes && entry.nbytes > 0) throw unwritable(entry, swapped)
    storage = copyOf(source, entry)
  }
  if (swapped) ffi.swapBytes(storage, dtype.kind === 'COMPLEX' ? dtype.itemsize / 2 : dtype.itemsize)
  return wrap(new Layout(storage, dtype.index, bare.shape, bare.strides, 0, bare.size, (bare.flags & ~READ_ONLY) | source.flags))
}

/**
 * @param {Entry} entry
 * @param {boolean} swapped
 */
function unwritable ({ name, begin }, swapped) {
  const what = name === '' ? 'the tensor' : JSON.stringify(name)
  return swapped
    ? failure('ERR_UNSUPPORTED', `${what} is big-endian: a copy could not be written back; mode 'c' or 'r' copies`)
    : failure('ERR_ALIGNMENT', `${what} begins at byte ${begin}, which its dtype cannot be written at in place; mode 'c' or 'r' copies`)
}

/**
 * @param {Source} source
 * @param {Entry} entry
 * @returns {Storage} with a copy of the entry's bytes
 */
function copyOf (source, { begin, nbytes }) {
  const storage = backend.allocate(nbytes, ffi.check)
  if (nbytes === 0) return storage
  const buffer = /** @type {ArrayBuffer} */ (backend.bufferOf(storage, ffi.check))
  for (let at = 0; at < nbytes;) {
    const piece = source.view(begin + at, Math.min(nbytes - at, 2 ** 26))
    typedSet(new Uint8Array(buffer, storage.byteOffset + at, nbytesOf(piece)), piece) // of them all there may be no typed array
    at += nbytesOf(piece)
  }
  countCopy(source.reason, nbytes)
  return storage
}

// ---- npy ----

/**
 * @param {Source} source
 * @param {string} name
 * @param {string | undefined} dtype  of what has none in the file
 * @param {boolean} [isOnly]  the file's only array: where it has a dtype, it is that one
 * @returns {{ entry: Entry, how: { fortran: boolean, swapped: boolean } }} of raw bytes where nobody said what they are
 */
function npyHeader (source, name, dtype, isOnly = true) {
  const words = parsed(NPY, source).words.subarray(1)
  const entry = entryOf(words, name, '')
  const how = { fortran: (entry.foreign & FORTRAN) !== 0, swapped: (entry.foreign & SWAPPED) !== 0 }
  entry.type = `${entry.blockBytes === 1 ? '|' : how.swapped ? '>' : '<'}${entry.dtype < 0 ? 'V' : NUMPY_KINDS[dtypes[entry.dtype].name]}${entry.blockBytes}`
  if (dtype !== undefined && (isOnly || entry.dtype < 0)) giveDtype(entry, dtype)
  return { entry, how }
}

/** The same, of what can be a tensor. @type {typeof npyHeader} */
function npyEntry (source, name, dtype, isOnly) {
  const found = npyHeader(source, name, dtype, isOnly)
  const { entry } = found
  if (entry.dtype < 0) {
    throw failure('ERR_DTYPE', `the array is of ${entry.blockBytes} raw bytes an element (NumPy has no ${entry.blockBytes === 2 ? 'bfloat16' : 'float8'}); dtype says what they are`)
  }
  return found
}

/** What NumPy calls dtypes, without the size. @type {Record<string, string>} */
const NUMPY_KINDS = {
  bool: 'b',
  uint8: 'u',
  uint16: 'u',
  uint32: 'u',
  uint64: 'u',
  int8: 'i',
  int16: 'i',
  int32: 'i',
  int64: 'i',
  float16: 'f',
  float32: 'f',
  float64: 'f',
  complex64: 'c',
  complex128: 'c'
}

/**
 * @param {Entry} entry
 * @param {string} dtype
 */
function giveDtype (entry, dtype) {
  const { index, itemsize, name } = dtypeOf(dtype)
  if (entry.dtype >= 0 && entry.dtype !== index) throw failure('ERR_DTYPE', `dtype is ${name}; the array is of ${dtypes[entry.dtype].name}`)
  if (entry.dtype < 0 && itemsize !== entry.blockBytes) throw failure('ERR_DTYPE', `dtype is ${name}; the array has ${entry.blockBytes} bytes an element`)
  entry.dtype = index
}

/**
 * @param {Source} source
 * @param {string | undefined} dtype
 * @returns {Tensor}
 */
function npyTensor (source, dtype) {
  const { entry, how } = npyEntry(source, '', dtype)
  return madeOf(source, entry, how)
}

// ---- Files of several tensors ----

/**
 * How a file object finds and makes its tensors.
 *
 * @typedef {object} Plan
 * @property {Source | null} source
 * @property {Map<string, any>} entries  by name
 * @property {() => Record<string, any>} metadata
 * @property {(entry: any) => Tensor} make
 * @property {(entry: any) => Promise<Tensor>} makeAsync
 * @property {(entry: any) => TensorInfo} info
 */

const KEY = Symbol('samebytes file')

/**
 * Makes a tensor of a file that was just mapped, and gives it up again: the first one that somebody asks for then meets code that was
 * compiled, and is in the caches. Not where its bytes would be copied, and not of an .npz, whose members have no place before they are read.
 *
 * @type {(file: TensorFile) => void}
 */
let rehearse

/** The members of an .npz by name. @type {(file: TensorFile) => Map<string, Member>} */
let membersOf

/**
 * The tensors of a file by name. Made by `openSafetensors`, `parseNpz` and their like; only the header was read. A
 * tensor is made when it is first asked for, and stays valid after `close()`.
 */
class TensorFile {
  /** null: closed @type {Plan | null} */
  #plan
  /** made and not disposed @type {Map<string, Tensor>} */
  #made = new Map()
  /** @type {Record<string, any> | null} */
  #metadata = null

  /**
   * @param {symbol} key  that only samebytes has
   * @param {Plan} plan
   * @private
   */
  constructor (key, plan) {
    if (key !== KEY) throw failure('ERR_ARGUMENT', 'file objects are made by openSafetensors(), parseNpz() and their like')
    this.#plan = plan
  }

  #open () {
    if (this.#plan === null) throw failure('ERR_DISPOSED', 'the file was closed')
    return this.#plan
  }

  static {
    membersOf = file => file.#open().entries
    rehearse = file => {
      const [first] = file.#open().entries.values()
      if (first === undefined || first.nbytes === 0 || first.begin % 8 !== 0 || tracking.on) return
      try {
        file.get(first.name)?.dispose()
      } catch {} // who asks for it is told
      file.#made.delete(first.name)
    }
  }

  /**
   * How many tensors there are.
   *
   * @returns {number}
   * @throws ERR_DISPOSED the file was closed
   */
  get size () { return this.#open().entries.size }

  /**
   * What the file says of itself: strings in .safetensors; in .gguf numbers, bigint (64-bit), booleans, strings and lists
   * of them (typed arrays where they are numbers); nothing in .npz. Bytes of a .gguf's strings that are not UTF-8 become U+FFFD.
   *
   * @returns {Record<string, any>} the same object each time
   * @throws ERR_DISPOSED the file was closed
   */
  get metadata () {
    const plan = this.#open()
    return (this.#metadata ??= plan.metadata())
  }

  /**
   * @returns {IterableIterator<string>} the names, in the order of the file
   * @throws ERR_DISPOSED the file was closed
   */
  keys () { return this.#open().entries.keys() }

  /**
   * @param {string} name
   * @returns {boolean}
   * @throws ERR_DISPOSED the file was closed
   */
  has (name) { return this.#open().entries.has(name) }

  /**
   * A tensor: the same one each time until it is disposed. Over the file's bytes, but for what is not aligned, in another byte
   * order or deflated: a copy, counted in `memory().copied`. Types that are none of ours come as uint8; `info` says what they are.
   *
   * @param {string} name
   * @returns {Tensor | undefined} undefined: there is none of that name
   * @throws ERR_FORMAT · ERR_DTYPE · {RangeError} ERR_MEMORY · ERR_ALIGNMENT, ERR_UNSUPPORTED a copy that could not be written
   * back (mode 'r+'), or deflated in a browser (load() inflates) · ERR_DISPOSED the file was closed
   */
  get (name) {
    const { entries, make } = this.#open()
    const known = this.#made.get(name)
    if (known !== undefined && !known.isDisposed) return known
    const entry = entries.get(name)
    if (entry === undefined) return undefined
    const made = make(entry)
    this.#made.set(name, made)
    return made
  }

  /**
   * The same on a later turn, for what browsers inflate asynchronously only.
   *
   * @param {string} name
   * @returns {Promise<Tensor | undefined>}
   * @throws as get, as rejections
   */
  async load (name) {
    const { entries, makeAsync } = this.#open()
    const entry = entries.get(name)
    const known = this.#made.get(name)
    if (entry === undefined || (known !== undefined && !known.isDisposed)) return this.get(name)
    const made = await makeAsync(entry)
    const meanwhile = this.#made.get(name)
    if (meanwhile !== undefined && !meanwhile.isDisposed) {
      made.dispose()
      return meanwhile
    }
    if (this.#plan !== null) this.#made.set(name, made)
    return made
  }

  /**
   * What the file says of a tensor; its bytes are not touched.
   *
   * @param {string} name
   * @returns {TensorInfo | undefined} undefined: there is none of that name
   * @throws ERR_FORMAT · ERR_DISPOSED the file was closed
   */
  info (name) {
    const { entries, info } = this.#open()
    const entry = entries.get(name)
    return entry === undefined ? undefined : info(entry)
  }

  /** @returns {Generator<[string, Tensor]>} */
  * [Symbol.iterator] () {
    for (const name of this.keys()) yield [name, /** @type {Tensor} */ (this.get(name))]
  }

  /** Tensors that were taken stay as they are. Closing twice does nothing. */
  close () {
    this.#plan?.source?.close()
    this.#plan = null
    this.#made.clear()
  }
}
if (Symbol.dispose !== undefined) Object.defineProperty(TensorFile.prototype, Symbol.dispose, { value: TensorFile.prototype.close, configurable: true, writable: true })

/** @param {Entry} entry @returns {TensorInfo} */
function infoOf (entry) {
  const { dtype, shape } = tensorOf(entry)
  const { name, type, shape: fileShape, blockElements: elements, blockBytes: bytes, begin: byteOffset, nbytes } = entry
  return { name, dtype: dtype.name, shape: shape.slice(), type, fileShape: fileShape.slice(), block: { elements, bytes }, byteOffset, nbytes }
}

/**
 * @param {Source} source
 * @param {Map<string, Entry>} entries
 * @param {() => Record<string, any>} metadata
 */
function plainFile (source, entries, metadata) {
  const make = (/** @type {Entry} */ entry) => madeOf(source, entry)
  // @ts-expect-error The constructor is private to everybody else.
  return new TensorFile(KEY, { source, entries, metadata, make, makeAsync: async entry => make(entry), info: infoOf })
}

/** @param {Source} source @returns {TensorFile} */
function safetensorsFile (source) {
  /** @type {Map<string, Entry>} */
  const entries = new Map()
  /** @type {Map<string, string>} */
  const pairs = new Map()
  const { words: all, bytes } = parsed(SAFETENSORS, source)
  for (const { tag, nameAt, nameLength, words } of recordsOf(all)) {
    const name = jsonAt(bytes, nameAt, nameLength)
    if (tag === PAIR) put(pairs, name, nameAt, jsonAt(bytes, words[5], words[6]))
    else put(entries, name, nameAt, entryOf(words, name, typeAt(bytes, words[5])))
  }
  return plainFile(source, entries, () => Object.fromEntries(pairs))
}

/**
 * @param {Map<string, any>} map
 * @param {string} name
 * @param {number} at  byte of the file where it is
 * @param {any} value
 */
function put (map, name, at, value) {
  if (map.has(name)) throw failure('ERR_FORMAT', `byte ${at}: this name is there twice`)
  map.set(name, value)
}

/**
 * @param {Uint8Array} bytes
 * @param {number} at
 */
function typeAt (bytes, at) {
  return String.fromCharCode(...bytes.subarray(at, bytes.indexOf(34, at)))
}

const GGUF_NAMES = Object.fromEntries(('0 F32,1 F16,2 Q4_0,3 Q4_1,6 Q5_0,7 Q5_1,8 Q8_0,9 Q8_1,10 Q2_K,11 Q3_K,12 Q4_K,13 Q5_K,14 Q6_K,15 Q8_K,16 IQ2_XXS,17 IQ2_XS,' +
  '18 IQ3_XXS,19 IQ1_S,20 IQ4_NL,21 IQ3_S,22 IQ2_S,23 IQ4_XS,24 I8,25 I16,26 I32,27 I64,28 F64,29 IQ1_M,30 BF16,34 TQ1_0,35 TQ2_0,39 MXFP4').split(',').map(each => each.split(' ')))

/** @param {Source} source @returns {TensorFile} */
function ggufFile (source) {
  const { words, bytes } = parsed(GGUF, source)
  const header = bytes.slice(0, words[0]) // values are read when they are asked for
  /** @type {Map<string, Entry>} */
  const entries = new Map()
  /** type, and where the value is @type {Map<string, [number, number]>} */
  const pairs = new Map()
  const text = (/** @type {number} */ at, /** @type {number} */ n) => textOf(header.subarray(at, at + n))
  for (const { tag, nameAt, nameLength, words: found } of recordsOf(words)) {
    const name = text(nameAt, nameLength)
    if (tag === TENSOR) put(entries, name, nameAt, entryOf(found, name, GGUF_NAMES[found[5]]))
    else put(pairs, name, nameAt, [found[4], found[5]])
  }
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength)
  return plainFile(source, entries, () => {
    checkHeap(WIDEST * header.length, () => 'the metadata of the file')
    return Object.fromEntries(Array.from(pairs, ([name, [type, at]]) => [name, ggufValue(view, type, { at })]))
  })
}

/** readers of plain values by type, their bytes, and the arrays of them @type {Record<number, [(view: DataView, at: number) => any, number, any]>} */
const GGUF_VALUES = {
  0: [(view, at) => view.getUint8(at), 1, Uint8Array],
  1: [(view, at) => view.getInt8(at), 1, Int8Array],
  2: [(view, at) => view.getUint16(at, true), 2, Uint16Array],
  3: [(view, at) => view.getInt16(at, true), 2, Int16Array],
  4: [(view, at) => view.getUint32(at, true), 4, Uint32Array],
  5: [(view, at) => view.getInt32(at, true), 4, Int32Array],
  6: [(view, at) => view.getFloat32(at, true), 4, Float32Array],
  7: [(view, at) => view.getUint8(at) !== 0, 1, null],
  10: [(view, at) => view.getBigUint64(at, true), 8, BigUint64Array],
  11: [(view, at) => view.getBigInt64(at, true), 8, BigInt64Array],
  12: [(view, at) => view.getFloat64(at, true), 8, Float64Array]
}

/** bytes of heap for values that no typed array holds, by type: their places in a list that grows, strings, lists @type {Record<number, number>} */
const GGUF_WEIGHTS = { 8: 56, 9: 384 }

/**
 * @param {DataView} view  that was checked
 * @param {number} type
 * @param {{ at: number }} place  of the value; afterwards behind it
 * @returns {any}
 */
function ggufValue (view, type, place) {
  const plain = GGUF_VALUES[type]
  if (plain !== undefined) {
    const [read, nbytes] = plain
    place.at += nbytes
    return read(view, place.at - nbytes)
  }
  if (type === 8) {
    const n = Number(view.getBigUint64(place.at, true))
    const at = place.at + 8
    place.at = at + n
    return textOf(new Uint8Array(view.buffer, view.byteOffset + at, n))
  }
  const inner = view.getUint32(place.at, true)
  const n = Number(view.getBigUint64(place.at + 4, true))
  place.at += 12
  const Type = GGUF_VALUES[inner]?.[2] ?? null
  if (Type !== null) {
    const bytes = n * Type.BYTES_PER_ELEMENT
    const from = view.byteOffset + place.at
    place.at += bytes
    return new Type(view.buffer.slice(from, from + bytes))
  }
  const list = []
  const text = inner === 8 ? WIDEST * (view.byteLength - place.at) : 0
  checkHeap(n * (GGUF_WEIGHTS[inner] ?? 24) + text, () => `a list of ${n} values in the metadata`)
  for (let i = 0; i < n; i++) list.push(ggufValue(view, inner, place))
  return list
}

// ---- npz ----

/**
 * A member of a zip.
 *
 * @typedef {object} Member
 * @property {string} name  without .npy
 * @property {boolean} isArray
 * @property {number} method  0 stored, 8 deflated
 * @property {number} crc
 * @property {number} packed  bytes in the file
 * @property {number} unpacked  bytes
 * @property {number} header  byte of the file
 * @property {number} end  byte of the file
 * @property {Source | null} bytes  once it was looked at
 * @property {Error | null} fault  of one that was read, which whoever asks for it is told
 * @property {TensorInfo | null} info  of one that was read
 */

const MOST_DEFLATED = 2 ** 31 - 1 // bytes of a member, which have to be in memory together
const LONGEST_END = 22 + 65535 + 20 + 56 // of a zip: its end with a comment, and what zip64 has before

/**
 * @param {Source} source
 * @param {string} [dtype]  of arrays that have none in the file
 * @returns {TensorFile}
 */
function npzFile (source, dtype) {
  const { size } = source
  const tail = Math.min(size, LONGEST_END)
  const [begin, nbytes] = parse(ZIP_END, source.read(size - tail, tail), size, size - tail).words
  const directory = source.read(begin, nbytes)
  const { words } = parse(ZIP_DIRECTORY, directory, nbytes, begin)
  /** @type {Map<string, Member>} */
  const entries = new Map()
  for (const { nameAt, nameLength, words: found } of recordsOf(words)) {
    const full = exactTextOf(directory.subarray(nameAt, nameAt + nameLength)) // also without the flag that says so; other code pages are not guessed
    if (full === null) throw failure('ERR_FORMAT', `byte ${begin + nameAt}: the name of the member at byte ${found[8]} is not UTF-8`)
    const isArray = full.endsWith('.npy')
    const name = isArray ? full.slice(0, -4) : full
    if (entries.has(name)) throw failure('ERR_FORMAT', `byte ${begin + nameAt}: two members are called ${JSON.stringify(name)}`)
    entries.set(name, { name, isArray, method: found[4], crc: found[5], packed: found[6], unpacked: found[7], header: found[8], end: found[9], bytes: null, fault: null, info: null })
  }
  const open = (/** @type {Member} */ member) => (member.bytes ??= memberBytes(source, member))
  const make = (/** @type {Member} */ member) => memberTensor(source, open(sound(member)), member, dtype)
  const info = (/** @type {Member} */ member) => {
    const bytes = member.bytes ?? (member.method === 8 && inflateSome !== null && source.faults === undefined ? new Beginning(source, member) : open(member))
    const found = infoOf(memberEntry(source, bytes, member, dtype, npyHeader).entry)
    return bytes instanceof Part ? { ...found, byteOffset: bytes.at + found.byteOffset } : { ...found, deflated: member.packed }
  }
  // @ts-expect-error The constructor is private to everybody else.
  return new TensorFile(KEY, {
    source,
    entries,
    metadata: () => ({}),
    make,
    makeAsync: async (/** @type {Member} */ member) => {
      if (sound(member).method === 8) member.bytes ??= await inflatedLater(source, member)
      return make(member)
    },
    info: (/** @type {Member} */ member) => {
      if (source.faults === undefined) return info(member)
      member.info ??= info(sound(member)) // now, because the file is closed once it is read
      return { ...member.info, shape: member.info.shape.slice(), fileShape: member.info.fileShape.slice() }
    }
  })
}

/** @param {Member} member @throws what was wrong with it when it was read */
function sound (member) {
  if (member.fault !== null) throw member.fault
  return member
}

/**
 * @param {Source} source
 * @param {Source} bytes  of the member
 * @param {Member} member
 * @param {string | undefined} dtype
 * @param {typeof npyHeader} [read]  npyHeader, of what need not become a tensor
 * @returns {{ entry: Entry, how?: { fortran: boolean, swapped: boolean } }}
 * @throws ERR_FORMAT an array that is none of ours: Python objects, text, records · ERR_DTYPE raw bytes
 */
function memberEntry (source, bytes, member, dtype, read = npyEntry) {
  const { name, isArray, unpacked } = member
  if (!isArray) return { entry: { name, type: 'bytes', dtype: dtypeOf('uint8').index, foreign: 0, blockElements: 1, blockBytes: 1, begin: 0, nbytes: unpacked, shape: [unpacked] } }
  try {
    return read(bytes, name, dtype, false)
  } catch (/** @type {any} */ error) {
    if (error.code !== 'ERR_FORMAT' && error.code !== 'ERR_DTYPE') throw error
    const fault = failure(error.code, `${JSON.stringify(name)}: ${error.message}`)
    if (source.faults !== undefined && error.code === 'ERR_FORMAT') { // a dtype can be given
      source.faults.add(fault)
      member.fault = fault
      member.bytes = null
    }
    throw fault
  }
}

/**
 * @param {Source} source
 * @param {Source} bytes  of the member
 * @param {Member} member
 * @param {string | undefined} dtype
 */
function memberTensor (source, bytes, member, dtype) {
  const { entry, how } = memberEntry(source, bytes, member, dtype)
  if (member.method === 8) member.bytes = null // inflated bytes are one tensor's
  return madeOf(bytes, entry, how)
}

/**
 * Where a member's data is.
 *
 * @param {Source} source
 * @param {Member} member
 * @returns {Part}
 */
function packedBytes (source, { name, header, packed, end, method }) {
  const given = Math.min(source.size - header, 30 + 2 * 65535)
  let bytes = source.read(header, Math.min(given, 1024))
  let found = parse(ZIP_MEMBER, bytes, given, header)
  if (found.wanted > 0) {
    bytes = source.read(header, given)
    found = parse(ZIP_MEMBER, bytes, given, header)
  }
  const [begin, nameAt, nameLength, itsMethod] = found.words
  const itsName = exactTextOf(bytes.subarray(nameAt, nameAt + nameLength))
  if ((itsName !== name && itsName !== `${name}.npy`) || itsMethod !== method) throw failure('ERR_FORMAT', `byte ${header}: the member's own header says something else than the zip directory`)
  if (header + begin + packed > end) throw failure('ERR_FORMAT', `byte ${header}: the member reaches into what comes after it`)
  if (method === 8 && packed > MOST_DEFLATED) throw failure('ERR_UNSUPPORTED', `${JSON.stringify(name)} has ${packed} deflated bytes; at most ${MOST_DEFLATED} are inflated`)
  return new Part(source, header + begin, packed)
}

/**
 * @param {Source} source
 * @param {Member} member
 * @returns {Source}
 */
function memberBytes (source, member) {
  const packed = packedBytes(source, member)
  if (member.method === 0) return packed
  if (inflate === null) throw failure('ERR_UNSUPPORTED', `${JSON.stringify(member.name)} is deflated, which a browser inflates asynchronously only; await file.load(name)`)
  if (source.writes) throw failure('ERR_UNSUPPORTED', `${JSON.stringify(member.name)} is deflated: what is written could not be written back; mode 'c' or 'r' copies`)
  return inflatedNow(source, member, packed.view(0, packed.size))
}

/**
 * @param {Source} source
 * @param {Member} member
 * @param {Uint8Array} packed
 * @returns {Source}
 */
function inflatedNow (source, member, packed) {
  grant(member.unpacked, backend.inUse)
  let inflated
  try {
    inflated = /** @type {NonNullable<typeof inflate>} */ (inflate)(isSharedArrayBuffer(packed.buffer) ? packed.slice() : packed, member.unpacked)
  } catch (error) {
    throw badMember(member, /** @type {Error} */ (error).message)
  }
  return inflatedBytes(source, member, inflated)
}

/**
 * @param {Member} member
 * @returns {Uint8Array<ArrayBuffer>} for all that it is inflated to: at most 1032 times what is packed, as the parser saw to
 */
const roomOf = ({ name, unpacked }) => roomFor(unpacked, `${JSON.stringify(name)}, inflated,`)

/**
 * @param {Source} source
 * @param {Member} member
 * @returns {Promise<Source>}
 */
async function inflatedLater (source, member) {
  const packed = packedBytes(source, member)
  grant(member.unpacked, backend.inUse)
  const inflated = roomOf(member)
  let n = 0
  try {
    const stream = new Blob([packed.read(0, packed.size)]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
    const reader = stream.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (n + value.length > inflated.length) {
        await reader.cancel()
        throw new Error(TOO_MANY)
      }
      inflated.set(value, n)
      n += value.length
    }
  } catch (error) {
    throw badMember(member, /** @type {Error} */ (error).message)
  }
  return inflatedBytes(source, member, inflated.subarray(0, n))
}

const TOO_MANY = 'it has more bytes than the zip directory says'
const FIRST_PACKED = 4096 // deflated bytes, which nearly always have all of an array's header: they hold 4 MiB at most

/** A deflated member, of which no more is inflated than is read. @implements {Source} */
class Beginning {
  /**
   * @param {Source} source
   * @param {Member} member
   */
  constructor (source, member) {
    this.size = member.unpacked
    this.flags = source.flags
    this.reason = source.reason
    this.writes = source.writes
    this.source = source
    this.member = member
    /** @type {ReturnType<typeof memberBytes> | null} */
    this.whole = null
    /** @type {Uint8Array<ArrayBuffer>} */
    this.bytes = new Uint8Array(0)
    const packed = packedBytes(source, member)
    const some = packed.read(0, Math.min(packed.size, FIRST_PACKED))
    try {
      this.bytes = /** @type {NonNullable<typeof inflateSome>} */ (inflateSome)(some)
    } catch {} // who reads it is told
    this.first = this.bytes.length
  }

  all () { return (this.whole ??= memberBytes(this.source, this.member)) }
  /** @param {number} from @param {number} nbytes */
  read (from, nbytes) { return from + nbytes <= this.bytes.length ? this.bytes.subarray(from, from + nbytes) : this.all().read(from, nbytes) }
  /** @param {number} from @param {number} nbytes */
  view (from, nbytes) { return this.all().view(from, nbytes) }
  /** @param {number} from @param {number} nbytes @param {number} alignment */
  place (from, nbytes, alignment) { return this.all().place(from, nbytes, alignment) }
  close () {}
}

/**
 * @param {Member} member
 * @param {string} why
 */
function badMember ({ name, header }, why) {
  return failure('ERR_FORMAT', `byte ${header}: the member ${JSON.stringify(name)} cannot be inflated: ${why}`)
}

/**
 * @param {Source} source
 * @param {Member} member
 * @param {Uint8Array} inflated
 * @param {number} [crc]  of them
 * @returns {Source}
 */
function inflatedBytes (source, member, inflated, crc = crc32(inflated, 0)) {
  if (inflated.length !== member.unpacked) throw badMember(member, `it has ${inflated.length} bytes; the zip directory says ${member.unpacked}`)
  if (crc !== member.crc) throw badMember(member, 'its checksum is wrong')
  const bytes = new Bytes(inflated, source.reason)
  bytes.flags = source.flags
  countCopy(source.reason, inflated.length)
  return bytes
}

/** @type {Uint32Array | null} */
let crcTable = null

/** @type {((bytes: Uint8Array, crc: number) => number) | undefined} */
let crc32Found

/** @param {Uint8Array} bytes @param {number} crc  of what came before */
const crc32 = (bytes, crc) => (crc32Found ??= findCrc32() ?? crc32Here)(bytes, crc)

/**
 * @param {Uint8Array} bytes
 * @param {number} crc  of what came before
 * @returns {number}
 */
function crc32Here (bytes, crc) {
  crcTable ??= Uint32Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1
    return n
  })
  let c = ~crc
  for (let i = 0; i < bytes.length; i++) c = crcTable[(c ^ bytes[i]) & 255] ^ (c >>> 8)
  return ~c >>> 0
}

// ---- Public ----

/**
 * The array in the bytes of a .npy file, without copying it: what is written to the tensor is in the bytes. Only
 * arrays that are not aligned there, and big-endian ones, are copied (counted in `memory().copied`).
 *
 * @template {DtypeName} [D=any]
 * @param {ArrayBufferView | ArrayBufferLike} bytes  of the file, which may be longer
 * @param {{ dtype?: D } | D} [opts]  dtype: of an array that NumPy wrote as raw bytes (bfloat16, float8)
 * @returns {Tensor<D>} over the bytes, which stay the caller's; in Fortran order where the file is
 * @throws ERR_FORMAT, with the byte and the reason · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_DETACHED
 * @see NumPy lib.format
 * @example
 * parseNpy(toNpyBytes(tensor([1, 2]))).toArray() // [1, 2]
 */
function parseNpy (bytes, opts) {
  const { dtype } = optionsOf(opts)
  if (dtype !== undefined) dtypeOf(dtype)
  return ofBytes(bytes, 'parseNpy', source => {
    const t = npyTensor(source, dtype)
    source.close()
    return t
  })
}

/**
 * The arrays in the bytes of an .npz file, by name. Stored ones are views of the bytes where they are aligned; deflated ones
 * are inflated, which a browser does asynchronously only: `await file.load(name)`.
 *
 * @param {ArrayBufferView | ArrayBufferLike} bytes  of the whole file
 * @param {{ dtype?: DtypeName } | DtypeName} [opts]  dtype: of arrays that NumPy wrote as raw bytes (bfloat16, float8)
 * @returns {TensorFile}
 * @throws ERR_FORMAT, with the byte and the reason · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_DETACHED
 * @see NumPy load
 * @example
 * const names = bytes => [...parseNpz(bytes).keys()]
 */
function parseNpz (bytes, opts) {
  const { dtype } = optionsOf(opts)
  if (dtype !== undefined) dtypeOf(dtype)
  return ofBytes(bytes, 'parseNpz', source => npzFile(source, dtype))
}

/**
 * The tensors in the bytes of a .safetensors file, by name: views of the bytes, but of those that are not aligned.
 *
 * @param {ArrayBufferView | ArrayBufferLike} bytes  of the whole file
 * @returns {TensorFile}
 * @throws ERR_FORMAT, with the byte and the reason · {TypeError} ERR_ARGUMENT · ERR_DETACHED
 * @see safetensors load
 * @example
 * const shapes = bytes => [...parseSafetensors(bytes)].map(([name, t]) => [name, t.shape])
 */
function parseSafetensors (bytes) {
  return ofBytes(bytes, 'parseSafetensors', safetensorsFile)
}

/**
 * The tensors in the bytes of a .gguf file, by name: views of the bytes. Quantised ones come as uint8, their last axis
 * counting bytes; `info(name)` says what a block of them is.
 *
 * @param {ArrayBufferView | ArrayBufferLike} bytes  of the whole file
 * @returns {TensorFile}
 * @throws ERR_FORMAT, with the byte and the reason · {TypeError} ERR_ARGUMENT · ERR_DETACHED
 * @see ggml gguf_init_from_file
 * @example
 * const names = bytes => [...parseGguf(bytes).keys()]
 */
function parseGguf (bytes) {
  return ofBytes(bytes, 'parseGguf', ggufFile)
}

/**
 * Uninitialised bytes that are cheapest to parse from here: aligned, and in WASM in linear memory, where C reads them without
 * a copy. There they are gone when the memory grows, and a subarray does not keep them: fill and parse them before another await.
 *
 * @param {number} n  bytes
 * @returns {Uint8Array}
 * @throws {RangeError} ERR_BOUNDS, ERR_MEMORY · {TypeError} ERR_ARGUMENT
 * @example
 * alloc(4096).length // 4096
 */
function alloc (n) {
  const nbytes = integer('n', n)
  if (nbytes < 0) throw failure('ERR_BOUNDS', `n is ${n}; 0 or more was expected`)
  const { index } = dtypeOf('uint8')
  const bare = denseLayout(index, [nbytes])
  return /** @type {any} */ (wrap(new Layout(backend.allocate(nbytes, ffi.check), index, bare.shape, bare.strides, 0, bare.size, bare.flags)).data)
}

/**
 * @param {unknown} file
 * @returns {file is TensorFile}
 */
const isFile = file => file instanceof TensorFile

module.exports = { parseNpy, parseNpz, parseSafetensors, parseGguf, alloc, TensorFile, isFile, rehearse, KEY, Bytes, npyTensor, npzFile, safetensorsFile, ggufFile, npyEntry, npyHeader, infoOf, madeOf, tensorOf, layoutWithout, membersOf, packedBytes, roomFor, roomOf, inflatedNow, inflatedBytes, badMember, TOO_MANY, crc32, crc32Here }
