'use strict'
// Public, in Node: files read into tensors of their own memory. Headers are read at once, all else in turns of the event loop.

const fs = require('node:fs')
const ffi = require('../backend/calls')
const { optionsOf } = require('../base/validate')
const { checkSignal } = require('../base/signals')
const { dtypeOf } = require('../backend/dtypes')
const { onNextTurn } = require('../runtime/host')
const { inflateNow, inflateAsync } = require('./inflate')
const { readArrayHeader, npyTensor } = require('./npy')
const { DEFLATED, membersOf, npzFile, packedBytes } = require('./npz')
const { safetensorsFile } = require('./safetensors')
const { ggufFile } = require('./gguf')
const { pathOf, extensionOf } = require('./paths')
const { ReadFile, endOfFile } = require('./read-file')
const { formatError } = require('./system-errors')
const { CHUNK, transferOptions, rejection, callback } = require('./transfers')

const { backend } = ffi

/** @import { AnyTensor, DtypeName, Signal } from '../base/types' */
/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @template {DtypeName} [D=any] @typedef {import('../tensor/tensor').Tensor<D>} Tensor */
/** @typedef {import('./npz').Member} Member */
/** @typedef {import('./tensor-file').TensorFile} TensorFile */
/** @typedef {import('./transfers').Transfer} Transfer */

const SMALL = 2 ** 18 // bytes: inflating them takes less time than giving them to another thread
const LEAST_READ = 2 ** 12 // packed bytes that are read at a time

/** A file whose tensors are read one after the other; each of them is prepared, and made of what was prepared. */
class LoadedFile extends ReadFile {
  /**
   * @param {string} file
   * @param {Transfer} options
   */
  constructor(file, { signal, onProgress }) {
    super(file)
    this.signal = signal
    this.onProgress = onProgress
    /** bytes that were read, without headers */
    this.done = 0
    this.owned = true
    /** @type {Set<unknown>} */
    this.faults = new Set()
    /** for the tensor that is made next @type {{ from: number, storage: Storage } | null} */
    this.ready = null
  }

  /** @override @param {number} from @param {number} nbytes @param {number} alignment */
  storageAt(from, nbytes, alignment) {
    const { ready } = this
    if (ready === null || ready.from !== from || ready.storage.nbytes !== nbytes) return null
    this.ready = null
    return ready.storage
  }

  /** @param {number} n  bytes more that were read; the sum is less than the size, because of headers */
  step(n) {
    checkSignal(this.signal)
    this.done += n
    this.onProgress?.({ done: this.done, total: this.size })
  }

  /**
   * @param {Uint8Array} target
   * @param {number} from
   * @returns {Promise<number>} bytes, at least one
   */
  async readSome(target, from) {
    const n = await callback((done) => fs.read(this.fd, target, 0, target.length, from, done))
    if (n === 0) throw endOfFile(from)
    return n
  }

  /**
   * @param {number} from
   * @param {number} nbytes
   * @param {number} most  at a time
   * @returns {AsyncGenerator<Uint8Array<ArrayBuffer>>}
   */
  async *pieces(from, nbytes, most) {
    for (let at = 0; at < nbytes;) {
      const piece = new Uint8Array(Math.min(most, nbytes - at))
      const n = await this.readSome(piece, from + at)
      yield piece.subarray(0, n)
      at += n
      this.step(n)
    }
  }

  /**
   * Reads the bytes of the tensor that is made next.
   *
   * @param {number} from
   * @param {number} nbytes
   */
  async prepare(from, nbytes) {
    if (nbytes === 0) return
    const storage = backend.allocate(nbytes, ffi.check)
    this.ready = { from, storage }
    for (let at = 0; at < nbytes;) {
      const size = Math.min(CHUNK, nbytes - at)
      const window = () =>
        new Uint8Array(
          /** @type {any} */ (backend.bufferOf(storage, ffi.check)),
          storage.byteOffset + at,
          size,
        )
      const target = backend.isWasm ? new Uint8Array(size) : window() // WASM memory may move meanwhile
      const n = await this.readSome(target, from + at)
      if (backend.isWasm) window().set(target)
      at += n
      this.step(n)
    }
  }

  /**
   * Inflates a member of an .npz, of which a tensor is made then.
   *
   * @param {Member} member
   */
  async inflate(member) {
    const { at, size } = packedBytes(this, member)
    if (Math.max(size, member.unpacked) <= SMALL) {
      const packed = new Uint8Array(size)
      let n = 0
      for await (const piece of this.pieces(at, size, size)) {
        packed.set(piece, n)
        n += piece.length
      }
      member.bytes = inflateNow(this, member, packed)
      return
    }
    const most = Math.max(LEAST_READ, Math.min(CHUNK, Math.ceil((CHUNK * size) / member.unpacked))) // which is inflated to CHUNK bytes or so
    member.bytes = await inflateAsync(this, member, this.pieces(at, size, most), this.signal)
  }

  /** @override */
  close() {
    super.close()
    if (this.ready !== null) backend.release(this.ready.storage)
    this.ready = null
  }
}

/**
 * What load gives, by the path's extension; any where that is known only when it runs.
 *
 * @template {string | URL} P
 * @template {DtypeName} [D=any]
 * @typedef {P extends `${string}.npy` ? Tensor<D> : P extends `${string}.npz` | `${string}.safetensors` | `${string}.gguf` ? TensorFile : any} Loaded
 */

/**
 * Reads the tensors of a .npy, .npz, .safetensors or .gguf file into memory of their own. Arrays in an .npz that are none of
 * ours, such as Python objects and text, do not keep the others from being read: `get` of such a one throws why.
 *
 * @template {string | URL} P
 * @template {DtypeName} [D=any]
 * @param {P} path  whose extension says what it is; a URL is one of file:, `fetchNpy` and its like read others
 * @param {{ dtype?: D | undefined, signal?: Signal | undefined, onProgress?: ((progress: { done: number, total: number }) => void) | undefined }} [opts]
 * dtype: of arrays in .npy and .npz that NumPy wrote as raw bytes; other files refuse it
 * @returns {Promise<Loaded<P, D>>} a tensor of a .npy, else a file object
 * @throws ERR_FORMAT, with path · ERR_NOT_FOUND, ERR_IO, with errno and path · ERR_UNSUPPORTED another extension · {RangeError} ERR_MEMORY · the signal's
 * reason · as rejections
 * @see PyTorch load, NumPy load
 * @example
 * const weight = async path => (await load(path)).get('weight')
 */
async function load(path, opts) {
  const file = pathOf(path, 'fetchSafetensors, fetchNpy or their like')
  const extension = extensionOf(file, ['.npy', '.npz', '.safetensors', '.gguf'])
  const { dtype } = optionsOf(opts)
  if (dtype !== undefined) dtypeOf(dtype)
  const isNumPy = extension === '.npy' || extension === '.npz'
  const names = isNumPy ? ['dtype', 'signal', 'onProgress'] : ['signal', 'onProgress']
  const options = transferOptions(opts, names, isNumPy ? 'load' : `load of a ${extension}`)
  const { signal } = options
  checkSignal(signal)
  const source = new LoadedFile(file, options)
  /** @type {AnyTensor[]} */
  const made = []
  try {
    let loaded
    if (extension === '.npy') {
      const { entry } = readArrayHeader(source, '', dtype)
      await source.prepare(entry.begin, entry.nbytes)
      loaded = npyTensor(source, dtype)
      made.push(loaded)
    } else {
      const members = extension === '.npz' ? membersOf(source) : undefined
      const parse = extension === '.gguf' ? ggufFile : safetensorsFile
      loaded = members === undefined ? parse(source) : npzFile(source, dtype, members)
      for (const name of loaded.keys()) {
        const { done } = source
        try {
          const member = members?.get(name)
          if (member?.method === DEFLATED) await source.inflate(member)
          const { byteOffset, nbytes, deflated } = loaded.info(name)
          if (deflated === undefined) await source.prepare(byteOffset, nbytes)
          made.push(loaded.get(name))
        } catch (error) {
          if (!source.faults.has(error)) throw error // get() throws it again; the other members are read
        }
        if (source.done === done) {
          // nothing but headers was read: the event loop gets a turn
          await new Promise((resolve) => onNextTurn(() => resolve(undefined)))
          checkSignal(signal)
        }
      }
    }
    checkSignal(signal)
    options.onProgress?.({ done: source.size, total: source.size })
    checkSignal(signal)
    return /** @type {any} */ (loaded)
  } catch (error) {
    for (const t of made) t.dispose()
    throw formatError(rejection(error, signal, file), file)
  } finally {
    source.close()
  }
}

module.exports = { load }
