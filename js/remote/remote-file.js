'use strict'
// The object that fetchSafetensors and its like give: the tensors of a file by name, each read when it is asked for.

const { failure, plain } = require('../base/errors')
const { receiver, show, optionsOf } = require('../base/validate')
const { Stop, signalOf } = require('../base/signals')
const { checkHeap } = require('../runtime/heap')
const { missingTensor } = require('../files/tensor-file')
const { Tensor } = require('../tensor/tensor')
const { OF_LOADING, loadingOf, progressOf } = require('./options')
const { whileBusy } = require('./remote-source')

/** @import { AnyTensor, DtypeName } from '../base/types' */
/** @template {DtypeName} [D=any] @typedef {import('../tensor/tensor').Tensor<D>} TensorOf */
/** @template {DtypeName} [D=any] @typedef {import('./options').LoadOptions<D>} LoadOptions */
/** @typedef {import('../files/entries').TensorInfo} TensorInfo */
/** @typedef {import('./options').Loading} Loading */

/**
 * How a file object finds and reads its tensors.
 *
 * @typedef {object} Plan
 * @property {Map<string, any>} entries  by name
 * @property {boolean} hasRows  load takes some of a tensor's rows
 * @property {() => Record<string, any>} metadata
 * @property {(name: string) => Promise<TensorInfo>} info
 * @property {(name: string) => Promise<number>} [nbytesOf]  bytes that load reads, where they are others than the tensor's
 * @property {(name: string, loading: Loading) => Promise<TensorOf>} load
 * @property {() => void} [forget]  drops what came with the header
 * @property {() => void} close
 */

const KEY = Symbol('samebytes remote file')
const INSPECT = Symbol.for('nodejs.util.inspect.custom')
const MOST_SHOWN = 20 // names that console.log lists
const LOAD = 3072 // bytes of heap for a load that is under way, and its tensor
const SIZE = 1024 // for what its header says, where progress is told

/** what a file's method was called on @type {(it: any) => RemoteFile} */
let own

/**
 * The tensors of a file at a URL, by name. Made by `fetchSafetensors` and its like; only the header was read. Each `load` reads the
 * tensor's bytes from the server, into a new tensor or the caller's.
 */
class RemoteFile {
  /** null: closed @type {Plan | null} */
  #plan
  /** @type {Record<string, any> | null} */
  #metadata = null

  /**
   * @param {symbol} key  that only samebytes has
   * @param {Plan} plan
   * @private
   */
  constructor(key, plan) {
    if (key !== KEY) {
      throw failure(
        'ERR_ARGUMENT',
        'file objects are made by fetchSafetensors(), fetchNpz() and fetchGguf()',
      )
    }
    this.#plan = plan
  }

  static {
    own = receiver('file', (it) => #plan in it)
  }

  /** @param {unknown} it  what a method was called on */
  static #open(it) {
    const plan = own(it).#plan
    if (plan === null) throw failure('ERR_DISPOSED', 'the file was closed')
    return plan
  }

  /** @param {unknown} it @param {unknown} name @returns {Plan} that has it */
  static #with(it, name) {
    const plan = RemoteFile.#open(it)
    if (typeof name !== 'string' || !plan.entries.has(name)) throw missingTensor(plan.entries, name)
    return plan
  }

  /**
   * How many tensors there are.
   *
   * @returns {number}
   * @throws ERR_DISPOSED the file was closed
   */
  get size() {
    return RemoteFile.#open(this).entries.size
  }

  /**
   * What the file says of itself, as `metadata` of a file on a disk; of an index of several files what the index says.
   *
   * @returns {Record<string, any>} the same object each time
   * @throws ERR_DISPOSED the file was closed
   */
  get metadata() {
    const plan = RemoteFile.#open(this)
    return (this.#metadata ??= plan.metadata())
  }

  /**
   * The names of the tensors.
   *
   * @returns {IterableIterator<string>} the names, in the order of the file
   * @throws ERR_DISPOSED the file was closed
   */
  keys() {
    return RemoteFile.#open(this).entries.keys()
  }

  /**
   * Is there a tensor of this name?
   *
   * @param {string} name
   * @returns {boolean}
   * @throws ERR_DISPOSED the file was closed
   */
  has(name) {
    return RemoteFile.#open(this).entries.has(name)
  }

  /**
   * What the file says of a tensor. Nothing is read for it, but in an .npz the header of that array, and in an index the header of the file that
   * has the tensor.
   *
   * @param {string} name
   * @returns {Promise<TensorInfo>}
   * @throws ERR_NOT_FOUND there is none of that name · ERR_FORMAT · ERR_IO · ERR_STALE the file was changed meanwhile · ERR_DISPOSED the file was
   * closed · {TypeError} ERR_ARGUMENT · as rejections
   */
  async info(name) {
    return RemoteFile.#with(this, name).info(name)
  }

  /**
   * Reads a tensor. Several at once share requests where they are neighbours in the file. Types that are none of ours come as uint8; `info` says
   * what they are.
   *
   * @template {DtypeName} [D=any]
   * @param {string} name
   * @param {LoadOptions<D>} [opts]
   * @returns {Promise<TensorOf<D>>} out, or a new tensor each time
   * @throws ERR_NOT_FOUND there is none of that name · ERR_FORMAT, ERR_IO what the server sends is wrong, or it sends nothing · ERR_STALE the file
   * was changed after it was opened · ERR_BUSY, ERR_READ_ONLY, {RangeError} ERR_SHAPE, {TypeError} ERR_DTYPE, ERR_CAST of out and dtype · {RangeError}
   * ERR_MEMORY · ERR_DISPOSED the file was closed · the signal's reason, what onProgress throws · as rejections. What out has then is some old and
   * some new elements
   * @example
   * const bias = async url => (await fetchSafetensors(url)).load('bias', { dtype: 'float32' })
   */
  async load(name, opts) {
    const plan = RemoteFile.#with(this, name)
    const loading = loadingOf(opts, 'load')
    return whileBusy(loading.out, () => plan.load(name, loading))
  }

  /**
   * Reads all tensors, or those that `out` has. None is given where one could not be read.
   *
   * @param {{ out?: Record<string, AnyTensor> | undefined, dtype?: DtypeName | undefined, signal?: import('../base/types').Signal | undefined,
   * onProgress?: ((progress: { done: number, total: number }) => void) | undefined }} [opts]  out: tensors by name, as `out` of load; dtype: as of load, of every
   * tensor; onProgress: bytes of all tensors
   * @returns {Promise<Record<string, TensorOf>>} by name
   * @throws as load
   * @example
   * const weights = async url => (await fetchSafetensors(url)).loadAll()
   */
  async loadAll(opts) {
    const plan = RemoteFile.#open(this)
    const { out, dtype, signal, onProgress } = optionsOf(opts, OF_LOADING, 'loadAll')
    if (
      out !== undefined &&
      (out === null || typeof out !== 'object' || Array.isArray(out) || Tensor.isTensor(out))
    ) {
      throw failure(
        'ERR_ARGUMENT',
        `out is ${show(out)}; an object of tensors by name was expected`,
      )
    }
    /** null: new tensors are made @type {Map<string, any> | null} */
    const outs = out === undefined ? null : new Map(Object.entries(out))
    const names = [...(outs ?? plan.entries).keys()]
    for (const name of names) if (!plan.entries.has(name)) throw missingTensor(plan.entries, name)
    const heap = names.length * (LOAD + (onProgress === undefined ? 0 : SIZE))
    const many = `${names.length} loads at once`
    checkHeap(heap, () => `${many}; load reads one tensor, { out } some of them`)
    const given = signalOf(signal)
    const tell = progressOf(onProgress)
    const stop = new Stop() // all end when one fails
    const leave = given?.follow(() => stop.abort(given.reason))
    if (given?.look()) stop.abort(given.reason)
    /** bytes that came, by name @type {Map<string, number>} */
    const came = new Map()
    let done = 0
    /** of all tensors; null until all headers are known @type {number | null} */
    let total = null
    let told = -1
    const tellMore = () => {
      if (total === null || done === told) return
      told = done
      tell?.({ done, total })
    }
    const loads = names.map(async (name) => {
      /** @param {{ done: number }} progress */
      const cameOf = ({ done: n }) => {
        done += n - (came.get(name) ?? 0)
        came.set(name, n)
        if (done > 0) tellMore()
      }
      const out = outs?.get(name)
      const loading = loadingOf({ out, dtype, onProgress: tell && cameOf })
      return whileBusy(loading.out, () => plan.load(name, { ...loading, signal: stop }))
    })
    try {
      const sizeOf = async (/** @type {string} */ name) =>
        plan.nbytesOf === undefined ? (await plan.info(name)).nbytes : plan.nbytesOf(name)
      const sizes = tell === undefined ? [] : names.map(sizeOf)
      const sized = Promise.all(sizes).then((all) => {
        total = all.reduce((sum, n) => sum + n, 0)
      })
      const [, ...made] = await Promise.all([sized, ...loads])
      tellMore() // where all came before all headers were known
      return Object.fromEntries(names.map((name, i) => [name, made[i]]))
    } catch (error) {
      stop.abort(error)
      for (const result of await Promise.allSettled(loads)) {
        if (outs === null && result.status === 'fulfilled') result.value.dispose()
      }
      throw error
    } finally {
      leave?.()
    }
  }

  /**
   * For console.log, which must not throw.
   *
   * @returns {string}
   */
  [INSPECT]() {
    let plan
    try {
      plan = own(this).#plan
    } catch (/** @type {any} */ error) {
      return `[RemoteFile: ${error.message}]`
    }
    if (plan === null) return 'RemoteFile(closed)'
    const { size } = plan.entries
    const names = [...plan.entries.keys()]
      .slice(0, MOST_SHOWN)
      .map((name) => plain(JSON.stringify(name)))
    return `RemoteFile(${size}) { ${names.join(', ')}${size > MOST_SHOWN ? `, ... ${size - MOST_SHOWN} more` : ''} }`
  }

  /** Loads that are under way are ended, as ERR_DISPOSED; tensors that were read stay as they are. Closing twice does nothing. */
  close() {
    own(this).#plan?.close()
    this.#plan = null
  }

  /** The same as close, as of tensors. @throws nothing */
  dispose() {
    own(this).close()
  }
}
if (Symbol.dispose !== undefined) {
  const dispose = { value: RemoteFile.prototype.close, configurable: true, writable: true }
  Object.defineProperty(RemoteFile.prototype, Symbol.dispose, dispose)
}

/** @param {Plan} plan @returns {RemoteFile} */
// @ts-expect-error The constructor is private to everybody else.
const remoteFile = (plan) => new RemoteFile(KEY, plan)

module.exports = { RemoteFile, remoteFile }
