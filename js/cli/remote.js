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
    return remoteContent('safetensors', null, await indexPlan(url, opening), loading)
  }
  return opened(url, opening, false, async (source) => {
    const format = formatOf(source.known, url.pathname)
    const isUnknown = format === 'raw' && dtype === undefined // nobody says what the bytes are
    const none = /** @type {any} */ ({
      entries: new Map(),
      metadata: () => ({}),
      close: () => source.close(),
    })
    return remoteContent(
      format,
      source.size,
      isUnknown ? none : await plans[format](source, opening),
      loading,
    )
  })
}

/**
 * @param {Format} format
 * @param {number | null} size  bytes; null: of several files
 * @param {Plan} plan
 * @param {Pick<Loading, 'signal' | 'onProgress'>} loading
 * @returns {Content}
 */
function remoteContent(format, size, plan, loading) {
  /** what info says, or why it does not @type {Map<string, { info?: TensorInfo, error?: unknown }>} */
  const infos = new Map()
  /** @type {Map<string, any>} */
  const tensors = new Map()
  /** @type {(() => Loading) | undefined} */
  let newLoading

  /** @param {string} name */
  const infoOf = (name) => {
    const { info, error } = /** @type {any} */ (infos.get(name))
    if (info === undefined) throw error
    return /** @type {TensorInfo} */ (info)
  }

  /** @param {string[]} names  that info will be asked for */
  const describe = async (names) => {
    const rest = names.filter((name) => !infos.has(name)).values() // which all workers take from
    const work = async () => {
      for (const name of rest) {
        try {
          infos.set(name, { info: await plan.info(name) })
        } catch (error) {
          infos.set(name, { error })
        }
      }
    }
    await Promise.all(Array.from({ length: REQUESTS }, work))
  }

  return {
    format,
    names: [...plan.entries.keys()],
    describe,
    info: infoOf,
    get: (name) => tensors.get(name),
    close: () => plan.close(),

    /** Of several files: bytes of their tensors. */
    get nbytes() {
      return size ?? [...infos.values()].reduce((sum, { info }) => sum + (info?.nbytes ?? 0), 0)
    },

    get metadata() {
      return plan.metadata()
    },

    async fetch(names, rowsOf, all = names) {
      await describe(all)
      const wantedOf = (/** @type {string} */ name) => {
        const info = infoOf(name)
        const rows = plan.hasRows ? rowsOf(info) : null
        return { name, info, rows: info.shape.length > 0 && info.nbytes > 0 ? rows : null }
      }
      const bytesOf = (/** @type {string} */ name) => {
        const { info, rows } = wantedOf(name)
        if (rows === null) return info.deflated ?? info.nbytes
        return rows.reduce((n, [from, end]) => n + ((end - from) * info.nbytes) / info.shape[0], 0)
      }
      const sumOf = () => all.reduce((sum, name) => sum + bytesOf(name), 0)
      const next = (newLoading ??= loadingsOf(loading, sumOf()))
      const wanted = names.map(wantedOf)
      await Promise.all(
        wanted.map(async ({ name, info, rows }) => {
          if (rows === null) return tensors.set(name, await plan.load(name, next()))
          const t = samebytes.empty(info.shape, { dtype: info.dtype })
          await Promise.all(
            rows.map(async ([from, end]) => {
              const out = t.slice(`${from}:${end}`)
              await plan.load(name, { ...next(), out, rows: [from, end] })
              out.dispose()
            }),
          )
          tensors.set(name, t) // nothing but these rows of it is looked at
        }),
      )
    },

    drop(name, but) {
      const t = tensors.get(name)
      tensors.delete(name)
      if (t !== but) t.dispose()
    },
  }
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
    return {
      out: undefined,
      dtype: undefined,
      signal,
      onProgress({ done }) {
        sum += done - last
        last = done
        onProgress?.({ done: sum, total })
      },
    }
  }
}

module.exports = { findUrl, openRemote }
