'use strict'
// Files at URLs, as open.js has those on a disk. Only what a command prints or writes is fetched, in the order: describe, info, fetch, get.

const samebytes = require('..')
const { plans, indexPlan, opened } = require('../remote/formats')
const { openingOf, urlOf } = require('../remote/options')
const { isIndex } = require('../remote/shards')

/** @typedef {import('./open').Content} Content */
/** @typedef {import('./open').Format} Format */
/** @typedef {import('../files/byte-source').Source} Source */
/** @typedef {import('../files/entries').TensorInfo} TensorInfo */
/** @typedef {import('../remote/remote-file').Plan} Plan */
/** @typedef {import('../tensor/tensor').Tensor} Tensor */
/** Some rows of a tensor: [from, end] each. @typedef {[number, number][]} Rows */
/** @typedef {{ done: number, total: number }} Progress */
/** @typedef {import('../remote/options').Loading} Loading */

const REQUESTS = 4 // for headers, at once

/**
 * The URL of URL or URL:TENSOR: the first colon behind host and port begins the tensor's name.
 *
 * @param {string} given
 * @param {boolean} mayName  a tensor
 * @returns {{ url: URL, label: string, tensor: string | null } | null} null: it is none; label: without what may be a signature
 * @throws {TypeError} ERR_ARGUMENT
 */
function findUrl(given, mayName) {
  const [, host, rest] = /^(https?:\/\/[^/]*)(.*)$/is.exec(given) ?? []
  if (host === undefined) return null
  const colon = mayName ? rest.indexOf(':') : -1
  const url = urlOf(host + (colon < 0 ? rest : rest.slice(0, colon)))
  return { url, label: url.origin + url.pathname, tensor: colon < 0 ? null : rest.slice(colon + 1) }
}

/**
 * @param {URL} url
 * @param {(source: Source, name: string) => Format} formatOf
 * @param {{ dtype?: any, signal?: AbortSignal, onProgress?: (progress: Progress) => void }} options  dtype: of raw bytes; onProgress: of what is fetched
 * @returns {Promise<Content>}
 */
async function openRemote(url, formatOf, { dtype, signal, onProgress }) {
  const opening = openingOf({ dtype, signal })
  const loading = { signal: opening.signal, onProgress }
  if (isIndex(url)) {
    return new RemoteContent('safetensors', null, await indexPlan(url, opening), loading)
  }
  return opened(url, opening, false, async (source) => {
    const format = formatOf(source.known, url.pathname)
    const isUnknown = format === 'raw' && dtype === undefined // nobody says what the bytes are
    const none = /** @type {any} */ ({
      entries: new Map(),
      metadata: () => ({}),
      close: () => source.close(),
    })
    return new RemoteContent(
      format,
      source.size,
      isUnknown ? none : await plans[format](source, opening),
      loading,
    )
  })
}

/** @implements {Content} */
class RemoteContent {
  /** what info says, or why it does not @type {Map<string, { info?: TensorInfo, error?: unknown }>} */
  #infos = new Map()
  /** @type {Map<string, Tensor>} */
  #tensors = new Map()
  /** @type {(() => Loading) | undefined} */
  #newLoading

  /**
   * @param {Format} format
   * @param {number | null} size  bytes; null: of several files
   * @param {Plan} plan
   * @param {Pick<Loading, 'signal' | 'onProgress'>} loading
   */
  constructor(format, size, plan, loading) {
    this.format = format
    this.size = size
    this.plan = plan
    this.loading = loading
    this.names = [...plan.entries.keys()]
  }

  /** Of several files: bytes of their tensors. */
  get nbytes() {
    return (
      this.size ?? [...this.#infos.values()].reduce((sum, { info }) => sum + (info?.nbytes ?? 0), 0)
    )
  }

  get metadata() {
    return this.plan.metadata()
  }

  /** @param {string[]} names  that info will be asked for */
  async describe(names) {
    const rest = names.filter((name) => !this.#infos.has(name))
    const work = async () => {
      for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
        this.#infos.set(
          name,
          await this.plan.info(name).then(
            (info) => ({ info }),
            (error) => ({ error }),
          ),
        )
      }
    }
    await Promise.all(Array.from({ length: REQUESTS }, work))
  }

  /**
   * @param {string[]} names  that get will be asked for
   * @param {(info: TensorInfo) => Rows | null} rowsOf  what of it is looked at; null: all
   * @param {string[]} [all]  names of all calls, whose progress is told as one
   */
  async fetch(names, rowsOf, all = names) {
    await this.describe(all)
    const wantedOf = (/** @type {string} */ name) => {
      const info = this.info(name)
      const rows = this.plan.hasRows ? rowsOf(info) : null
      return { name, info, rows: info.shape.length > 0 && info.nbytes > 0 ? rows : null }
    }
    this.#newLoading ??= loadingsOf(
      this.loading,
      all.map(wantedOf).reduce((sum, { info, rows }) => sum + fetchedBytes(info, rows), 0),
    )
    const newLoading = this.#newLoading
    const wanted = names.map(wantedOf)
    await Promise.all(
      wanted.map(async ({ name, info, rows }) => {
        this.#tensors.set(
          name,
          rows === null
            ? await this.plan.load(name, newLoading())
            : await this.someRows(info, rows, newLoading),
        )
      }),
    )
  }

  /** A tensor of which nothing but these rows is looked at. @param {TensorInfo} info @param {Rows} rows @param {() => Loading} newLoading */
  async someRows({ name, dtype, shape }, rows, newLoading) {
    const t = samebytes.empty(shape, { dtype })
    await Promise.all(
      rows.map(async ([from, end]) => {
        const out = t.slice(`${from}:${end}`)
        await this.plan.load(name, { ...newLoading(), out, rows: [from, end] })
        out.dispose()
      }),
    )
    return t
  }

  /** @param {string} name */
  info(name) {
    const { info, error } = /** @type {{ info?: TensorInfo, error?: unknown }} */ (
      this.#infos.get(name)
    )
    if (info === undefined) throw error
    return info
  }

  /** @param {string} name */
  get(name) {
    return /** @type {Tensor} */ (this.#tensors.get(name))
  }

  /** @param {string} name @param {Tensor} but */
  drop(name, but) {
    const t = this.get(name)
    this.#tensors.delete(name)
    if (t !== but) t.dispose()
  }

  close() {
    this.plan.close()
  }
}

/** What comes over the network. @param {TensorInfo} info @param {Rows | null} rows @returns {number} */
function fetchedBytes({ shape, nbytes, deflated }, rows) {
  if (rows === null) return deflated ?? nbytes
  return rows.reduce((sum, [from, end]) => sum + ((end - from) * nbytes) / shape[0], 0)
}

/**
 * Options of loads whose progress is told as one.
 *
 * @param {Pick<Loading, 'signal' | 'onProgress'>} common
 * @param {number} total  bytes
 * @returns {() => Loading}
 */
function loadingsOf({ signal, onProgress }, total) {
  let sum = 0
  return () => {
    let last = 0
    /** @param {Progress} progress  of one load */
    const came = ({ done }) => {
      sum += done - last
      last = done
      onProgress?.({ done: sum, total })
    }
    return { out: undefined, dtype: undefined, signal, onProgress: came }
  }
}

module.exports = { findUrl, openRemote }
