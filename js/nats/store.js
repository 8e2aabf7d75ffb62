'use strict'
// A bucket of NATS' object store whose objects are whole .npy, .npz and .safetensors files.

const { failure } = require('../base/errors')
const { show, receiver, integerFrom, optionsOf, boolean, oneOf } = require('../base/validate')
const { signalOf } = require('../base/signals')
const { Tensor } = require('../tensor/tensor')
const { pathOf, extensionOf } = require('../files/paths')
const { ReadFile } = require('../files/read-file')
const { readHeader } = require('../files/npy')
const { membersOf } = require('../files/npz')
const { safetensorsFile } = require('../files/safetensors')
const writers = require('../files/writers')
const { peer } = require('./peers')
const { streamOf, objectName, infoOf, storeError, readMeta, checkFound } = require('./store-meta')
const { mappedBytes } = require('./store-files')
const { getObject, listObjects } = require('./store-get')
const { putObject, deleteObject } = require('./store-put')
const { cleanStore } = require('./store-clean')

/** @import { AnyTensor } from '../base/types' */
/** @typedef {import('./store-meta').StoreParts} StoreParts */
/** @typedef {import('./store-meta').ObjectInfo} ObjectInfo */
/** @typedef {import('../base/types').Signal} AbortSignalLike */
/** @typedef {{ done: number, total: number }} StoreProgress bytes, of the whole file */

/**
 * @typedef {object} StoreOptions
 * @property {boolean | undefined} [create]  the bucket if there is none; true unless told
 * @property {'file' | 'memory' | undefined} [storage]  of a new bucket; 'file' unless told
 * @property {number | undefined} [replicas]  of a new bucket; 1 unless told
 * @property {number | undefined} [chunk]  bytes of a chunk, at most; 524288 unless told, and no more than the server takes
 * @property {number | undefined} [maxBytes]  of an object that is read; 4 GiB unless told
 * @property {number | undefined} [timeout]  milliseconds without progress after which a transfer ends; 30000 unless told
 */

/**
 * @typedef {object} PutOptions
 * @property {number | undefined} [chunk]  as of the store
 * @property {'replace' | 'error' | undefined} [ifExists]  'error': what is there stays, and that is ERR_EXISTS
 * @property {AbortSignalLike | undefined} [signal]
 * @property {((progress: StoreProgress) => void) | undefined} [onProgress]  of bytes that the server has; what it throws ends the transfer
 */

/** Where get writes. @typedef {AnyTensor | Record<string, AnyTensor> | { file: string | URL }} Out */

/**
 * @template {Out | undefined} [O=Out | undefined]
 * @template {import('../base/types').DtypeName} [D=any]
 * @typedef {object} GetOptions
 * @property {O} [out]  where the bytes go; new tensors unless told
 * @property {string | URL | undefined} [resume]  of out: { file }: path of a side file, which tells another process how far this one came
 * @property {D | undefined} [dtype]  of arrays that NumPy keeps as raw bytes
 * @property {number | undefined} [maxBytes]  as of the store
 * @property {AbortSignalLike | undefined} [signal]
 * @property {((progress: StoreProgress) => void) | undefined} [onProgress]  of bytes in their place; what it throws ends the transfer
 */

/**
 * What get gives, by the object's extension; any where that is known only when it runs.
 *
 * @template {string} N
 * @template {Out | undefined} [O=undefined]
 * @template {import('../base/types').DtypeName} [D=any]
 * @typedef {[O] extends [undefined] ? (N extends `${string}.npy` ? Tensor<D> : N extends `${string}.npz` | `${string}.safetensors` ? Record<string, Tensor> : any) :
 *   [O] extends [{ file: string | URL }] ? ObjectInfo : [O] extends [Out] ? O : any} Got
 */

const KEY = Symbol('samebytes store')
const EXTENSIONS = ['.npy', '.npz', '.safetensors']
const OF_STORE = ['create', 'storage', 'replicas', 'chunk', 'maxBytes', 'timeout'] // options
const OF_PUT = ['chunk', 'ifExists', 'signal', 'onProgress']
const OF_GET = ['out', 'resume', 'dtype', 'maxBytes', 'signal', 'onProgress']
const CHUNK = 2 ** 19
const LEAST_CHUNK = 1024
const MOST_OBJECT = 2 ** 32
const TIMEOUT_MS = 30000
const AGE_MS = 3600000
const RESERVED = 1024 // bytes of the server's largest message that are not payload

/** @param {string} name @param {unknown} value @param {number} least @param {number} usual */
const integerOr = (name, value, least, usual) =>
  integerFrom(name, value === undefined ? usual : value, least)

/** @param {any} core @param {number} chunk */
const sendable = (core, chunk) =>
  Math.max(LEAST_CHUNK, Math.min(chunk, (core.connection.info?.max_payload ?? 2 ** 20) - RESERVED))

/** @param {unknown} onProgress @returns {any} */
function progressOf(onProgress) {
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw failure('ERR_ARGUMENT', `onProgress is ${show(onProgress)}; a function was expected`)
  }
  return onProgress
}

/** @param {unknown} value @returns {value is { file: string | URL }} */
const isFile = (value) =>
  value !== null &&
  typeof value === 'object' &&
  !Tensor.isTensor(value) &&
  Object.keys(value).join() === 'file' &&
  !Tensor.isTensor(/** @type {any} */ (value).file)

/** what a store's method was called on @type {(it: any) => TensorStore} */
let own

/**
 * A bucket of the object store. Made by `bus.store`. Its objects are whole .npy (a tensor), .npz and .safetensors (tensors by name) files in
 * the format of NATS' own clients, which read and write them as well.
 */
class TensorStore {
  /** @type {StoreParts} */
  #parts

  /** @param {symbol} key @param {StoreParts} parts @private */
  constructor(key, parts) {
    if (key !== KEY) throw failure('ERR_ARGUMENT', 'stores are made by bus.store()')
    this.#parts = parts
  }

  static {
    own = receiver('store', (it) => #parts in it, 'store')
  }

  /** The bucket's name. @returns {string} */
  get name() {
    return own(this).#parts.bucket
  }

  /**
   * Writes an object. Chunks are sent from where a contiguous tensor's bytes lie; others are sent of one copy. The tensors are busy until the
   * promise settles; what is written through their `data` meanwhile makes the object unreadable (ERR_CHECKSUM), or becomes part of it. Readers have
   * the old object until the new one is whole; of two writers the later one stays. A put that fails deletes what it wrote, unless the server is away.
   *
   * @param {string} name  whose extension says what it is: .npy, .npz or .safetensors
   * @param {AnyTensor | import('../files/writers').Tensors | { file: string | URL }} value  a tensor for .npy; tensors by name; or a file of that
   * format, which is mapped and sent as it is
   * @param {PutOptions} [options]
   * @returns {Promise<ObjectInfo>}
   * @throws {TypeError} ERR_ARGUMENT, ERR_DTYPE · ERR_UNSUPPORTED another extension · ERR_FORMAT the file is none · ERR_NOT_FOUND the file, the bucket · ERR_EXISTS ·
   * ERR_TOO_LARGE the bucket is full · ERR_DISCONNECTED closed, or away for too long · ERR_REMOTE · ERR_DISPOSED, ERR_STALE the tensor, meanwhile; its chunks, by clean · the
   * signal's reason · as rejections
   * @example
   * const putLayer = (store, weight) => store.put('layer.safetensors', { weight }, { signal: AbortSignal.timeout(60000) })
   */
  async put(name, value, options) {
    const parts = own(this).#parts
    objectName(name)
    const extension = extensionOf(name, EXTENSIONS)
    const { chunk, ifExists, signal, onProgress } = optionsOf(options, OF_PUT, 'store.put')
    const how = {
      chunk: sendable(parts.core, integerOr('chunk', chunk, LEAST_CHUNK, parts.chunk)),
      replace:
        ifExists === undefined ||
        oneOf('ifExists', ifExists, /** @type {const} */ (['replace', 'error'])) === 0,
      signal: signalOf(signal),
      onProgress: progressOf(onProgress),
    }
    if (!isFile(value)) {
      let pieces
      if (extension === '.npy') pieces = writers.npyPieces(writers.tensorGiven(value, 'value'))
      else if (extension === '.npz') pieces = writers.npzPieces(writers.npzEntriesOf(value))
      else pieces = writers.safetensorsPieces(writers.entriesOf(value), [])
      return putObject(parts, name, pieces, how)
    }
    const file = pathOf(value.file)
    if (extensionOf(file, EXTENSIONS) !== extension) {
      throw failure(
        'ERR_ARGUMENT',
        `${file} does not end in ${extension}, as the object's name does`,
      )
    }
    const looked = new ReadFile(file)
    try {
      if (extension === '.npy') readHeader(looked, '', undefined)
      else if (extension === '.npz') membersOf(looked)
      else safetensorsFile(looked)
    } finally {
      looked.close()
    }
    const { bytes, source } = mappedBytes(file)
    try {
      return await putObject(parts, name, [new writers.TensorPiece(bytes)], how)
    } finally {
      bytes.dispose()
      source.close()
    }
  }

  /**
   * Reads an object. Chunks are written straight to their place; lost ones are asked for again, also after the server was away. The digest is
   * compared before anything is given. An object that is replaced meanwhile is read anew.
   *
   * Without out: new tensors, over one block of memory. With out: a tensor (.npy), or tensors by name (.safetensors) of the object's dtypes and
   * shapes; they may be mapped (mode 'r+') or a SharedTensor's, and are busy until the promise settles. After a failure their content is
   * undefined, but untouched if dtype, shape or names were wrong. { file }: a file, which gets its name when it is whole; with resume another process goes on where this one
   * ended, from `file.part`, which one get() at a time writes: the others are ERR_BUSY meanwhile.
   *
   * @template {string} N
   * @template {Out | undefined} [O=undefined]
   * @template {import('../base/types').DtypeName} [D=any]
   * @param {N} name
   * @param {GetOptions<O, D>} [options]
   * @returns {Promise<Got<N, O, D>>} a tensor of a .npy, else tensors by name; out; of a file the object's ObjectInfo
   * @throws ERR_NOT_FOUND · ERR_FORMAT · ERR_CHECKSUM · ERR_TOO_LARGE more than maxBytes · ERR_STALE replaced or deleted while it was read, again and again · ERR_DISCONNECTED closed,
   * or away for too long · ERR_UNSUPPORTED another extension, a link, out for an .npz · ERR_SHAPE, {TypeError} ERR_DTYPE, ERR_READ_ONLY, ERR_BUSY out, or another get() writes the file · ERR_IO the file · {RangeError} ERR_MEMORY ·
   * the signal's reason · as rejections
   * @example
   * const weight = async store => (await store.get('layer.safetensors')).weight
   */
  async get(name, options) {
    const parts = own(this).#parts
    objectName(name)
    const { out, resume, dtype, maxBytes, signal, onProgress } = optionsOf(
      options,
      OF_GET,
      'store.get',
    )
    const file = isFile(out) ? pathOf(out.file) : undefined
    if (resume !== undefined && file === undefined) {
      throw failure('ERR_ARGUMENT', 'resume is for files: out: { file } was expected')
    }
    const extension = file === undefined ? extensionOf(name, EXTENSIONS) : ''
    const isInto = file === undefined && out !== undefined
    if (isInto && extension === '.npz') {
      throw failure(
        'ERR_UNSUPPORTED',
        'the arrays of an .npz cannot be written to tensors that exist; get without out gives new ones',
      )
    }
    /** @type {any} */
    let targets
    if (isInto) {
      targets =
        extension === '.npy'
          ? writers.tensorGiven(out, 'out')
          : Object.fromEntries(writers.entriesOf(/** @type {any} */ (out)))
    }
    const got = await getObject(parts, name, {
      extension,
      out: targets,
      file,
      resume: resume === undefined ? undefined : pathOf(resume),
      dtype,
      maxBytes: integerOr('maxBytes', maxBytes, 0, parts.maxBytes),
      signal: signalOf(signal),
      onProgress: progressOf(onProgress),
    })
    return /** @type {any} */ (isInto ? out : got)
  }

  /**
   * What there is, by name.
   *
   * @param {{ signal?: AbortSignalLike | undefined }} [options]
   * @returns {Promise<ObjectInfo[]>} also files of other formats, which other clients put there
   * @throws as get
   * @example
   * const names = async store => (await store.list()).map(({ name }) => name)
   */
  async list(options) {
    const { signal } = optionsOf(options, ['signal'], 'store.list')
    return listObjects(own(this).#parts, signalOf(signal))
  }

  /**
   * @param {string} name
   * @returns {Promise<ObjectInfo>}
   * @throws ERR_NOT_FOUND · ERR_FORMAT · ERR_UNSUPPORTED a link · ERR_DISCONNECTED, ERR_TIMEOUT
   * @example
   * const size = async (store, name) => (await store.info(name)).size
   */
  async info(name) {
    const parts = own(this).#parts
    return infoOf(checkFound(parts, name, await readMeta(parts, objectName(name))))
  }

  /**
   * Who reads it meanwhile gets ERR_STALE or ERR_NOT_FOUND.
   *
   * @param {string} name
   * @returns {Promise<void>}
   * @throws ERR_NOT_FOUND · ERR_DISCONNECTED, ERR_TIMEOUT
   * @example
   * const forget = (store, name) => store.delete(name)
   */
  async delete(name) {
    await deleteObject(own(this).#parts, objectName(name))
  }

  /**
   * Deletes chunks that no object has: of puts whose process died, of replaced and deleted objects whose chunks could not be deleted. Those of a put that goes on are
   * younger than age; one that rests for longer fails then, with ERR_STALE. To be called now and then, by any process.
   *
   * @param {{ age?: number | undefined, signal?: AbortSignalLike | undefined }} [options]  age: milliseconds, by the server's clock, since the last chunk was stored; an hour unless told,
   * and more than the timeouts of all who put
   * @returns {Promise<number>} how many chunks are gone
   * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS · ERR_FORMAT what the store says of an object is not understood: nothing is deleted · ERR_DISCONNECTED, ERR_TIMEOUT · the signal's
   * reason · as rejections
   * @example
   * const clean = store => store.clean({ age: 86400000 })
   */
  async clean(options) {
    const parts = own(this).#parts
    const { age, signal } = optionsOf(options, ['age', 'signal'], 'store.clean')
    return cleanStore(parts, integerOr('age', age, 0, AGE_MS), signalOf(signal))
  }
}

/**
 * Opens a bucket. bus.store calls it.
 *
 * @param {any} core  the bus's
 * @param {string} name
 * @param {StoreOptions} [options]
 * @returns {Promise<TensorStore>}
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS · ERR_NOT_FOUND there is none, and create is false · ERR_NO_RESPONDERS the server has no
 * JetStream · ERR_UNSUPPORTED the package `@nats-io/jetstream` is not installed
 */
async function openStore(core, name, options) {
  const stream = streamOf(name)
  const { create, storage, replicas, chunk, maxBytes, timeout } = optionsOf(
    options,
    OF_STORE,
    'bus.store',
  )
  const wanted = {
    storage:
      storage === undefined
        ? 'file'
        : ['file', 'memory'][oneOf('storage', storage, /** @type {const} */ (['file', 'memory']))],
    num_replicas: integerOr('replicas', replicas, 1, 1),
  }
  const isNew = create === undefined || boolean('create', create)
  const limits = {
    chunk: integerOr('chunk', chunk, LEAST_CHUNK, CHUNK),
    maxBytes: integerOr('maxBytes', maxBytes, 0, MOST_OBJECT),
    timeout: integerOr('timeout', timeout, 1, TIMEOUT_MS),
  }
  const { jetstream } = peer('jetstream')
  try {
    const js = jetstream(core.connection)
    const jsm = await js.jetstreamManager()
    try {
      await jsm.streams.info(stream)
    } catch (/** @type {any} */ error) {
      if (error?.name !== 'StreamNotFoundError' || !isNew) throw error
      await jsm.streams.add({
        name: stream,
        subjects: [`$O.${name}.C.>`, `$O.${name}.M.>`],
        ...wanted,
        allow_direct: true,
        allow_rollup_hdrs: true,
        discard: 'new',
      })
    }
    // @ts-expect-error The constructor is private to everybody else.
    return new TensorStore(KEY, { core, js, jsm, bucket: name, stream, ...limits })
  } catch (error) {
    throw storeError(error, `store ${show(name)}`)
  }
}

module.exports = { TensorStore, openStore }
