'use strict'
// The object that openSafetensors, parseNpz and their like give: the tensors of a file by name.

const { failure, plain } = require('../base/errors')
const { nearest } = require('../base/nearest')
const { show, receiver } = require('../base/validate')
const { tensorFromEntry, infoOf } = require('./entries')

/** @import { DtypeName } from '../base/types' */
/** @template {DtypeName} [D=any] @typedef {import('../tensor/tensor').Tensor<D>} Tensor */
/** @typedef {import('./byte-source').Source} Source */
/** @typedef {import('./entries').Entry} Entry */
/** @typedef {import('./entries').TensorInfo} TensorInfo */

/**
 * How a file object finds and makes its tensors; entries are of the format's own kind.
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
const MOST_COMPARED = 10000 // names
const INSPECT = Symbol.for('nodejs.util.inspect.custom')
const MOST_SHOWN = 20 // tensors that console.log lists

/** what a file's method was called on @type {(it: any) => TensorFile} */
let own

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
  constructor(key, plan) {
    if (key !== KEY) {
      throw failure(
        'ERR_ARGUMENT',
        'file objects are made by openSafetensors(), parseNpz() and their like',
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

  /**
   * How many tensors there are.
   *
   * @returns {number}
   * @throws ERR_DISPOSED the file was closed
   */
  get size() {
    return TensorFile.#open(this).entries.size
  }

  /**
   * What the file says of itself: strings in .safetensors; in .gguf numbers, bigint (64-bit), booleans, strings and lists
   * of them (typed arrays where they are numbers); nothing in .npz. Bytes of a .gguf's strings that are not UTF-8 become U+FFFD.
   *
   * @returns {Record<string, any>} the same object each time
   * @throws ERR_DISPOSED the file was closed
   */
  get metadata() {
    const plan = TensorFile.#open(this)
    return (this.#metadata ??= plan.metadata())
  }

  /**
   * The names of the tensors.
   *
   * @returns {IterableIterator<string>} the names, in the order of the file
   * @throws ERR_DISPOSED the file was closed
   */
  keys() {
    return TensorFile.#open(this).entries.keys()
  }

  /**
   * Is there a tensor of this name?
   *
   * @param {string} name
   * @returns {boolean}
   * @throws ERR_DISPOSED the file was closed
   */
  has(name) {
    return TensorFile.#open(this).entries.has(name)
  }

  /**
   * A tensor: the same one each time until it is disposed. Over the file's bytes, but for what is not aligned, in another byte
   * order or deflated: a copy, counted in `memory().copied`. Types that are none of ours come as uint8; `info` says what they are.
   *
   * @param {string} name
   * @returns {Tensor}
   * @throws ERR_NOT_FOUND there is none of that name · ERR_FORMAT · ERR_DTYPE · {RangeError} ERR_MEMORY · ERR_ALIGNMENT, ERR_UNSUPPORTED a
   * copy that could not be written back (mode 'r+'), or deflated in a browser (load() inflates) · ERR_DISPOSED the file was closed ·
   * {TypeError} ERR_ARGUMENT
   */
  get(name) {
    const { entries } = TensorFile.#open(this)
    const found = this.find(name)
    if (found === undefined) throw missingTensor(entries, name)
    return found
  }

  /**
   * The same, of a name that the file may not have.
   *
   * @param {string} name
   * @returns {Tensor | undefined} undefined: there is none of that name
   * @throws as get, but for ERR_NOT_FOUND
   */
  find(name) {
    const { entries, make } = TensorFile.#open(this)
    const known = this.#made.get(name)
    if (known !== undefined && !known.isDisposed) return known
    const entry = entries.get(name)
    if (entry === undefined) {
      if (typeof name !== 'string') throw missingTensor(entries, name)
      return undefined
    }
    const made = make(entry)
    this.#made.set(name, made)
    return made
  }

  /**
   * The same on a later turn, for what browsers inflate asynchronously only.
   *
   * @param {string} name
   * @returns {Promise<Tensor>}
   * @throws as get, as rejections
   */
  async load(name) {
    const { entries, makeAsync } = TensorFile.#open(this)
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
   * @returns {TensorInfo}
   * @throws ERR_NOT_FOUND there is none of that name · ERR_FORMAT · ERR_DISPOSED the file was closed · {TypeError} ERR_ARGUMENT
   */
  info(name) {
    const { entries, info } = TensorFile.#open(this)
    const entry = entries.get(name)
    if (entry === undefined) throw missingTensor(entries, name)
    return info(entry)
  }

  /** Names and tensors, each as get gives it. @returns {Generator<[string, Tensor]>} */
  *[Symbol.iterator]() {
    const file = own(this)
    for (const name of file.keys()) yield [name, file.get(name)]
  }

  /**
   * For console.log, which must not throw: names, dtypes and shapes, from the header alone.
   *
   * @param {number} [depth]  how much deeper lists and objects are shown
   * @returns {string}
   */
  [INSPECT](depth = 0) {
    let plan
    try {
      plan = own(this).#plan
    } catch (/** @type {any} */ error) {
      // of a Proxy console.log calls the target's method, with the Proxy as this
      return `[TensorFile: ${error.message}]`
    }
    if (plan === null) return 'TensorFile(closed)'
    const { size } = plan.entries
    if (typeof depth === 'number' && depth < 0) return `[TensorFile(${size})]`
    const lines = []
    for (const [name, entry] of plan.entries) {
      if (lines.length === MOST_SHOWN) break
      let text // 'float32 [2, 3]', or why there is none
      try {
        const { dtype, shape } = plan.info(entry)
        text = `${dtype} [${shape.join(', ')}]`
      } catch (/** @type {any} */ error) {
        text = `<${plain(String(error?.message))}>`
      }
      lines.push(`\n  ${plain(JSON.stringify(name))}: ${text}`)
    }
    if (size > MOST_SHOWN) lines.push(`\n  ... ${size - MOST_SHOWN} more`)
    return `TensorFile(${size}) {${lines.join(',')}${size > 0 ? '\n' : ''}}`
  }

  /** Tensors that were taken stay as they are. Closing twice does nothing. */
  close() {
    own(this).#plan?.source?.close()
    this.#plan = null
    this.#made.clear()
  }

  /** The same as close, as of tensors. @throws nothing */
  dispose() {
    own(this).close()
  }
}
if (Symbol.dispose !== undefined) {
  const dispose = { value: TensorFile.prototype.close, configurable: true, writable: true }
  Object.defineProperty(TensorFile.prototype, Symbol.dispose, dispose)
}

/**
 * @param {Map<string, any>} entries
 * @param {unknown} name  that no tensor has
 */
function missingTensor(entries, name) {
  if (typeof name !== 'string') {
    return failure('ERR_ARGUMENT', `name is ${show(name)}; a string was expected`)
  }
  const names = [...entries.keys()]
  const meant = nearest(name, names.slice(0, MOST_COMPARED))
  const first = names.slice(0, 3).map(show).join(', ') || 'none'
  const more = names.length > 3 ? ` and ${names.length - 3} more` : ''
  const hint = meant === null ? `tensors are ${first}${more}` : `did you mean ${show(meant)}?`
  return failure('ERR_NOT_FOUND', `there is no tensor ${show(name)}; ${hint}`)
}

/**
 * A file whose tensors lie in it as they are.
 *
 * @param {Source} source
 * @param {Map<string, Entry>} entries
 * @param {() => Record<string, any>} metadata
 */
function plainFile(source, entries, metadata) {
  const make = (/** @type {Entry} */ entry) => tensorFromEntry(source, entry)
  const makeAsync = async (/** @type {Entry} */ entry) => make(entry)
  // @ts-expect-error The constructor is private to everybody else.
  return new TensorFile(KEY, { source, entries, metadata, make, makeAsync, info: infoOf })
}

module.exports = { KEY, TensorFile, missingTensor, plainFile }
