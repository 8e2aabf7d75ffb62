'use strict'
// Keeps ranges of files in the page's Cache API, which holds whole answers only: each range is one, under the file's URL with the range and the
// file's version behind it. The first request of a file always goes to the server, so a file that was changed or may not be read any more is not
// taken from here.

const { failure } = require('../base/errors')
const { countCopy } = require('../backend/storage')
const { newBytes } = require('../files/allocate')
const { bodyOf } = require('./answers')

/** @typedef {import('./answers').Body} Body */
/** @typedef {import('./answers').Version} Version */
/** @typedef {import('./fetch-transport').Answer} Answer */
/** @typedef {import('./fetch-transport').Transport} Transport */
/** Bytes of the file that are kept. @typedef {{ from: number, end: number, key: string }} Entry */

const NAME = 'samebytes'
const CHUNK = 2 ** 20 // bytes of an entry at most

function hasCaches() {
  try {
    return typeof caches === 'object'
  } catch {
    // the getter throws in a sandboxed frame
    return false
  }
}

/** @param {Transport} transport @returns {Transport} for one file */
function keptTransport(transport) {
  if (!hasCaches()) {
    throw failure(
      'ERR_UNSUPPORTED',
      'caches needs the Cache API, which pages have at https: and on localhost alone, and sandboxed frames with allow-same-origin',
    )
  }
  /** null: nothing is kept @type {Ranges | null} */
  let ranges = null
  let isFirst = true
  return async (url, headers, stop, shownUrl) => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
    const from = Number(first)
    const end = Number(last) + 1
    const kept = last === undefined ? null : ranges // its end, or all of the file, is asked for
    const known = kept === null ? null : await kept.read(from, end, url)
    if (known !== null) return known
    const limit = kept === null ? end : kept.gapFrom(from, end)
    const range = `bytes=${from}-${limit - 1}`
    const asked = kept === null || limit === end ? headers : { ...headers, range }
    const answer = await transport(url, asked, stop, shownUrl)
    if (answer.status !== 206) return answer
    const body = bodyOf(answer, shownUrl)
    if (isFirst) {
      isFirst = false
      ranges = await Ranges.open(url, body.version)
      return answer
    }
    return ranges === null ? answer : ranges.keeping(answer, body)
  }
}

class Ranges {
  /** @param {Cache} cache @param {string} prefix  of keys @param {Version} version @param {Entry[]} entries */
  constructor(cache, prefix, version, entries) {
    this.cache = cache
    this.prefix = prefix
    this.version = version
    this.entries = entries
    this.isFull = false
  }

  /**
   * @param {string} url
   * @param {Version} version
   * @returns {Promise<Ranges | null>} null: nothing can be kept
   */
  static async open(url, version) {
    const { size, etag, modified } = version
    if (etag === null && modified === null) return null // nothing tells whether the file is still the same
    const mark = `${url}${url.includes('?') ? '&' : '?'}samebytes=`
    const prefix = new URL(`${mark}${encodeURIComponent([size, etag, modified].join(' '))}:`).href
    try {
      const cache = await caches.open(NAME)
      /** @type {Entry[]} */
      const entries = []
      for (const { url: key } of await cache.keys(url, { ignoreSearch: true })) {
        const [, from, end] = key.startsWith(prefix)
          ? (/^(\d+)-(\d+)$/.exec(key.slice(prefix.length)) ?? [])
          : []
        if (end !== undefined) entries.push({ from: Number(from), end: Number(end), key })
        else if (key.startsWith(mark)) await cache.delete(key)
      }
      return new Ranges(cache, prefix, version, entries)
    } catch {
      // the browser refuses it: storage is full, or switched off
      return null
    }
  }

  /** @param {number} from @param {number} end @returns {number} end, or the first byte that is kept before it */
  gapFrom(from, end) {
    return this.entries.reduce(
      (least, entry) => (entry.from > from ? Math.min(least, entry.from) : least),
      end,
    )
  }

  /**
   * An answer with what is kept, from a byte on.
   *
   * @param {number} from
   * @param {number} end
   * @param {string} url
   * @returns {Promise<Answer | null>}
   */
  async read(from, end, url) {
    const entry = this.entries.find((each) => each.from <= from && from < each.end)
    if (entry === undefined) return null
    const { size, etag, modified } = this.version
    const to = Math.min(end, entry.end)
    const kept = await this.cache
      .match(entry.key)
      .then((response) => response?.arrayBuffer())
      .catch(() => {})
    if (kept?.byteLength !== entry.end - entry.from) {
      // the browser dropped it
      this.entries = this.entries.filter((each) => each !== entry)
      return this.read(from, end, url)
    }
    const bytes = new Uint8Array(kept, from - entry.from, to - from)
    const headers = new Map([
      ['content-range', `bytes ${from}-${to - 1}/${size}`],
      ['etag', etag],
      ['last-modified', modified],
    ])
    return {
      status: 206,
      url,
      header: (name) => headers.get(name) ?? null,
      pump: async (take) => take(bytes),
    }
  }

  /**
   * The same answer, whose bytes are kept as they come.
   *
   * @param {Answer} answer
   * @param {Body} body
   * @returns {Answer}
   */
  keeping(answer, { from, end, version }) {
    if (
      version.size !== this.version.size ||
      version.etag !== this.version.etag ||
      version.modified !== this.version.modified
    ) {
      return answer
    }
    const { status, url } = answer
    return {
      status,
      url,
      header: (name) => answer.header(name),
      pump: async (take) => {
        const chunk = newBytes(Math.min(CHUNK, end - from), 'a range')
        let n = 0
        const flush = async () => {
          await this.keep(from, chunk.subarray(0, n))
          from += n
          n = 0
        }
        try {
          await answer.pump(async (piece) => {
            for (let at = 0; at < piece.length && from + n < end && !this.isFull;) {
              const part = piece.subarray(at, at + Math.min(chunk.length, end - from) - n)
              chunk.set(part, n)
              n += part.length
              at += part.length
              if (n === chunk.length || from + n === end) await flush() // the last one before the load is done
            }
            await take(piece)
          })
        } finally {
          await flush()
        }
      },
    }
  }

  /** @param {number} from @param {Uint8Array<ArrayBuffer>} bytes  that are copied */
  async keep(from, bytes) {
    if (bytes.length === 0 || this.isFull) return
    const end = from + bytes.length
    const key = `${this.prefix}${from}-${end}`
    try {
      countCopy('caches', bytes.length)
      await this.cache.put(key, new Response(bytes))
      this.entries.push({ from, end, key })
    } catch {
      // storage is full
      this.isFull = true
    }
  }
}

module.exports = { keptTransport }
