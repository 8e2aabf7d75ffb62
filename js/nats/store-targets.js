'use strict'
// Where an object's bytes go as they come: new memory of which tensors are made, tensors that exist, or a file.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { countStaged } = require('../backend/storage')
const { dtypes } = require('../backend/dtypes')
const { isSameShape } = require('../layout/layouts')
const { Tensor } = require('../tensor/tensor')
const { beginUse, endUse } = require('../copy/async')
const { newBytes } = require('../files/allocate')
const { readArrayHeader, npyTensor } = require('../files/npy')
const { DEFLATED, membersOf, npzFile } = require('../files/npz')
const { safetensorsFile } = require('../files/safetensors')
const { copyIn, copyOut } = require('../files/native-bytes')
const { Digest } = require('./digest')
const { tensorOver } = require('./host-content')

const { backend } = ffi

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @typedef {import('../tensor/tensor').Tensor} TensorOf */
/** @typedef {import('../files/byte-source').Source} Source */
/** @typedef {import('./store-meta').Meta} Meta */
/** @typedef {{ extension: string, dtype: any, maxBytes: number }} Kind of a file; dtype: of arrays that NumPy wrote as raw bytes */

/**
 * @typedef {object} Target
 * @property {number} at  bytes that came
 * @property {number} seq  in the stream, of the last chunk that came
 * @property {(bytes: Uint8Array, seq: number) => void} write  what comes next
 * @property {() => Promise<string>} digest  of all, base64url
 * @property {() => Promise<any>} finish  all came, and the digest is right: the result
 * @property {(error: any) => void} discard  it ended without; after finish it does nothing
 */

/** An object, or its beginning, for the parsers: what all of them have. */
const SOURCE = { flags: 0, reason: 'store.get', writes: false, owned: true, close() {} }

/**
 * @param {Source} source
 * @param {Kind} kind
 * @returns {Promise<TensorOf | Record<string, TensorOf>>}
 */
async function tensorsOf(source, { extension, dtype, maxBytes }) {
  if (extension === '.npy') return npyTensor(source, dtype)
  const members = extension === '.npz' ? membersOf(source) : undefined
  let inflated = 0
  for (const { method, unpacked } of members?.values() ?? []) {
    if (method === DEFLATED) inflated += unpacked
  }
  if (inflated > maxBytes) {
    throw failure(
      'ERR_TOO_LARGE',
      `the arrays would be inflated to ${inflated} bytes; maxBytes is ${maxBytes}`,
    )
  }
  const file = members === undefined ? safetensorsFile(source) : npzFile(source, dtype, members)
  /** @type {[string, TensorOf][]} */
  const made = []
  try {
    for (const name of file.keys()) made.push([name, await file.load(name)])
    return Object.fromEntries(made)
  } catch (error) {
    for (const [, t] of made) t.dispose()
    throw error
  }
}

/** Bytes that all go to one block of memory. */
class Arriving {
  /** @param {Meta} meta @param {TensorOf} bytes */
  constructor(meta, bytes) {
    this.meta = meta
    this.at = 0
    this.seq = 0
    this.bytes = bytes
    this.layout = Tensor.layoutOf(bytes)
    this.hash = new Digest([bytes])
  }

  /** @param {Uint8Array} bytes @param {number} seq */
  write(bytes, seq) {
    copyIn(this.layout, this.at, bytes)
    countStaged(bytes.length)
    this.at += bytes.length
    this.seq = seq
    this.note()
    this.hash.reach(this.at)
  }

  /** Bytes were written. */
  note() {}

  digest() {
    return this.hash.end(this.meta.size)
  }

  discard() {
    this.hash.drop()
    this.bytes.dispose()
  }
}

/** New memory, which the file's tensors then lie in. @implements {Target} */
class BlockTarget extends Arriving {
  /** @param {Meta} meta @param {Kind} kind */
  constructor(meta, kind) {
    super(meta, tensorOver(backend.allocateNative(meta.size, ffi.check)))
    this.kind = kind
  }

  async finish() {
    const { layout } = this
    /** @type {Source['read']} */
    const read = (from, nbytes) => {
      const bytes = newBytes(nbytes, 'a header')
      copyOut(layout, from, bytes)
      return bytes
    }
    /** @type {Source['storageAt']} */
    const storageAt = (from, nbytes, alignment) =>
      backend.isWasm || from % alignment !== 0
        ? null
        : /** @type {any} */ (backend).partOf(layout.storage, from, nbytes)
    const source = { ...SOURCE, size: layout.size, first: 4096, read, view: read, storageAt }
    const result = await tensorsOf(source, this.kind)
    this.bytes.dispose()
    return result
  }
}

/**
 * A tensor that is written, at its place in the file.
 *
 * @typedef {{ begin: number, nbytes: number, layout: InstanceType<typeof ffi.Layout>, tensor: TensorOf }} Part
 */

/** Tensors that exist: the header's bytes are kept until they tell where all others go. @implements {Target} */
class TensorTarget {
  /** @param {Meta} meta @param {Kind} kind @param {TensorOf | Record<string, TensorOf>} out */
  constructor(meta, kind, out) {
    this.meta = meta
    this.kind = kind
    this.out = out
    this.at = 0
    this.seq = 0
    /** with the file's beginning until the header was parsed, and room for more */
    this.head = new Uint8Array(0)
    /** bytes that are needed before it is worth a try */
    this.wanted = 1
    /** null: the header is not known yet @type {Part[] | null} */
    this.parts = null
    /** for a file of another layout than the tensors have @type {BlockTarget | null} */
    this.block = null
    /** @type {Digest | null} */
    this.hash = null
    /** @type {Record<string, TensorOf>} */
    this.tensors = Tensor.isTensor(out) ? { '': out } : out
    /** @type {Storage[]} */
    this.held = Object.values(this.tensors).map((t) => Tensor.writableOf(t).storage)
    for (const storage of this.held) beginUse(storage, 1)
  }

  /** @param {Uint8Array} bytes @param {number} seq */
  write(bytes, seq) {
    this.seq = seq
    if (this.block === null && this.parts === null) this.begin(bytes, seq)
    else if (this.block !== null) this.block.write(bytes, seq)
    else this.scatter(bytes, this.at)
    this.at += bytes.length
    this.hash?.reach(this.at)
  }

  /** Keeps bytes of the header; writes all that came once it is whole. @param {Uint8Array} bytes @param {number} seq */
  begin(bytes, seq) {
    const n = this.at + bytes.length
    if (n > this.head.length) {
      const larger = newBytes(
        Math.min(this.meta.size, Math.max(n, 2 * this.head.length)),
        'a header',
      )
      larger.set(this.head)
      this.head = larger
    }
    this.head.set(bytes, this.at)
    if (n < this.wanted) return
    const all = this.head.subarray(0, n)
    let wanted = 0 // bytes that the parser asks for and that did not come
    /** @type {Source['read']} */
    const read = (from, nbytes) => {
      if (from + nbytes <= n) return all.slice(from, from + nbytes)
      wanted = from + nbytes
      throw new Error('more of the file is needed')
    }
    const { size } = this.meta
    const first = Math.min(n, 4096)
    const source = { ...SOURCE, size, first, read, view: read, storageAt: () => null }
    try {
      this.parts =
        this.kind.extension === '.npy' ? this.npyParts(source) : this.safetensorsParts(source)
    } catch (error) {
      if (wanted === 0) throw error
      this.wanted = wanted
      return
    }
    if (this.parts === null) {
      // the tensors lie otherwise in the file
      this.block = new BlockTarget(this.meta, this.kind)
      this.block.write(all, seq)
    } else {
      this.hash = new Digest([
        all.slice(0, this.parts[0].begin),
        ...this.parts.map(({ tensor }) => tensor),
      ])
      this.scatter(all, 0)
    }
    this.head = new Uint8Array(0)
  }

  /** @param {Source} source */
  npyParts(source) {
    const out = /** @type {TensorOf} */ (this.out)
    const isRaw = out.dtype === 'bfloat16' || out.dtype.startsWith('float8') // NumPy has no name for it
    const dtype = this.kind.dtype ?? (isRaw ? out.dtype : undefined)
    const { entry, how } = readArrayHeader(source, '', dtype)
    const part = partFor(
      'out',
      out,
      dtypes[entry.dtype].name,
      entry.shape,
      entry.begin,
      entry.nbytes,
    )
    const isStraight =
      !how.swapped && (!how.fortran || entry.shape.length < 2) && ffi.isContiguous(part.layout)
    return isStraight && entry.begin + entry.nbytes === this.meta.size ? [part] : null
  }

  /** @param {Source} source */
  safetensorsParts(source) {
    const file = safetensorsFile(source)
    const { tensors } = this
    for (const name of Object.keys(tensors)) {
      if (!file.has(name)) {
        throw failure(
          'ERR_SHAPE',
          `out has a tensor ${show(name)}; the object has none of that name`,
        )
      }
    }
    const parts = [...file.keys()]
      .map((name) => {
        const { dtype, shape, byteOffset, nbytes } = file.info(name)
        if (!Object.hasOwn(tensors, name)) {
          throw failure(
            'ERR_SHAPE',
            `the object has a tensor ${show(name)}; out has none of that name`,
          )
        }
        return partFor(`out[${show(name)}]`, tensors[name], dtype, shape, byteOffset, nbytes)
      })
      .sort((a, b) => a.begin - b.begin || a.nbytes - b.nbytes)
    const ends = parts.map(({ begin, nbytes }) => begin + nbytes)
    const isStraight = parts.every(
      ({ begin, layout }, i) => (i === 0 || begin === ends[i - 1]) && ffi.isContiguous(layout),
    )
    return parts.length > 0 && isStraight && ends[ends.length - 1] === this.meta.size ? parts : null
  }

  /** Writes bytes to the tensors that have them. @param {Uint8Array} bytes @param {number} from  where they begin in the file */
  scatter(bytes, from) {
    for (const { begin, nbytes, layout } of /** @type {Part[]} */ (this.parts)) {
      const low = Math.max(from, begin)
      const high = Math.min(from + bytes.length, begin + nbytes)
      if (low < high) copyIn(layout, low - begin, bytes.subarray(low - from, high - from))
    }
    countStaged(bytes.length)
  }

  async digest() {
    if (this.block !== null) return this.block.digest()
    if (this.hash === null) {
      throw failure('ERR_FORMAT', `the file ends in its header, at byte ${this.at}`)
    }
    return this.hash.end(this.meta.size)
  }

  async finish() {
    const made = await this.block?.finish()
    this.release()
    if (made === undefined) return this.out
    const from = Tensor.isTensor(made) ? { '': made } : made
    for (const [name, t] of Object.entries(this.tensors)) {
      t.copyFrom(from[name])
      from[name].dispose()
    }
    return this.out
  }

  release() {
    for (const storage of this.held) endUse(storage, 1)
    this.held = []
  }

  discard() {
    this.hash?.drop()
    this.block?.discard()
    this.release()
  }
}

/**
 * @param {string} title
 * @param {TensorOf} tensor
 * @param {string} dtype @param {readonly number[]} shape  of the object
 * @param {number} begin @param {number} nbytes
 * @returns {Part}
 */
function partFor(title, tensor, dtype, shape, begin, nbytes) {
  const layout = Tensor.attachedOf(tensor)
  if (tensor.dtype !== dtype) {
    throw failure('ERR_DTYPE', `${title} is of ${tensor.dtype}; the object is of ${dtype}`)
  }
  if (!isSameShape(layout.shape, shape)) {
    throw failure(
      'ERR_SHAPE',
      `${title} has shape [${layout.shape.join(', ')}]; the object has [${shape.join(', ')}]`,
    )
  }
  return { begin, nbytes, layout, tensor }
}

module.exports = { Arriving, BlockTarget, TensorTarget }
