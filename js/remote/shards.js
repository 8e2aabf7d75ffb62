'use strict'
// An index of several files (model.safetensors.index.json) that reads as one file: each is opened when one of its tensors is asked for.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { Stop, checkSignal, unlessAborted } = require('../base/signals')
const { checkHeap } = require('../runtime/heap')
const { exactTextOf, onNextTurn } = require('../runtime/host')
const { RemoteSource } = require('./remote-source')

/** @typedef {import('../base/signals').Signal} Signal */
/** @typedef {import('./options').Opening} Opening */
/** @typedef {import('./remote-file').Plan} Plan */

const MOST = 2 ** 24 // bytes of an index
const WIDEST = 4 // bytes of heap for a byte of it: the text and its parts, two for a character where one is above U+00FF
const VALUE = 200 // bytes of heap for each comma, colon and bracket: what JSON.parse makes of them, and the map of names
const STRUCTURE = new Uint8Array(256)
for (const sign of ',:[{') STRUCTURE[sign.charCodeAt(0)] = 1

/** @param {URL} url */
const isIndex = (url) => url.pathname.endsWith('.index.json')

/**
 * @param {URL} url
 * @param {Opening} opening
 * @param {(url: URL, opening: Opening) => Promise<Plan>} openShard
 * @returns {Promise<Plan>}
 * @throws ERR_FORMAT · as RangeReader
 */
async function shardsPlan(url, opening, openShard) {
  const { metadata, fileNames } = await indexAt(url, opening)
  /** @type {Map<string, Promise<Plan>>} */
  const shards = new Map()
  const stop = new Stop()
  const each = { ...opening, signal: stop }
  /** @param {string} name @param {Signal | undefined} signal */
  const shardOf = async (name, signal) => {
    const file = /** @type {string} */ (fileNames.get(name))
    const fileUrl = fileUrlOf(file, url)
    const shard = shards.get(file) ?? openShard(fileUrl, each)
    if (!shards.has(file)) {
      shards.set(file, shard)
      shard.then(
        (plan) => onNextTurn(() => plan.forget?.()),
        () => shards.delete(file), // the next one tries again
      )
    }
    const plan = await unlessAborted(signal, shard)
    checkSignal(stop)
    if (!plan.entries.has(name)) {
      throw failure(
        'ERR_FORMAT',
        `the index says that ${show(name)} is in ${fileUrl.origin}${fileUrl.pathname}, which has none of that name`,
      )
    }
    return plan
  }
  return {
    entries: fileNames,
    hasRows: true,
    metadata: () => metadata,
    info: async (name) => (await shardOf(name, undefined)).info(name),
    load: async (name, loading) => (await shardOf(name, loading.signal)).load(name, loading),
    close() {
      stop.abort(failure('ERR_DISPOSED', 'the file was closed'))
      for (const shard of shards.values()) {
        shard.then(
          (plan) => plan.close(),
          () => {},
        )
      }
    },
  }
}

/**
 * @param {URL} url
 * @param {Opening} opening
 * @returns {Promise<{ metadata: Record<string, any>, fileNames: Map<string, string> }>} places: files by tensors' names; tensors of a file share its name
 */
async function indexAt(url, opening) {
  const source = await RemoteSource.open(url, opening, false)
  let text
  try {
    const { size } = source
    if (size > MOST) {
      throw failure('ERR_FORMAT', `${url.pathname} has ${size} bytes; an index has ${MOST} at most`)
    }
    const bytes = await source.parsed((known) => known.read(0, size), opening.signal)
    const heap = WIDEST * size + VALUE * bytes.reduce((n, byte) => n + STRUCTURE[byte], 0)
    checkHeap(heap, () => `an index of ${size} bytes; each of its files can be read without it`)
    text = exactTextOf(bytes)
    if (text === null) throw failure('ERR_FORMAT', `${url.pathname} is no UTF-8`)
  } finally {
    source.close()
  }
  let index
  try {
    index = JSON.parse(text)
  } catch (error) {
    throw failure(
      'ERR_FORMAT',
      `${url.pathname} is no JSON: ${/** @type {Error} */ (error).message}`,
    )
  }
  const { weight_map: map, metadata = {} } = index ?? {}
  if (!isObject(map) || !isObject(metadata)) {
    throw failure('ERR_FORMAT', `${url.pathname} has no weight_map, which says where tensors are`)
  }
  /** @type {Map<unknown, string>} */
  const files = new Map()
  /** @type {Map<string, string>} */
  const fileNames = new Map()
  for (const name of Object.keys(map)) {
    // no entries: that would take more heap
    const file = map[name]
    if (!files.has(file)) {
      fileUrlOf(file, url)
      files.set(file, file)
    }
    fileNames.set(name, /** @type {string} */ (files.get(file)))
  }
  return { metadata, fileNames }
}

/** @param {unknown} value */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A file beside the index or below: an index cannot send anybody elsewhere.
 *
 * @param {unknown} file
 * @param {URL} url  of the index
 */
function fileUrlOf(file, url) {
  const beside = new URL('.', url).href
  const fileUrl = typeof file === 'string' && URL.canParse(file, url) ? new URL(file, url) : null
  if (fileUrl === null || !fileUrl.href.startsWith(beside)) {
    throw failure(
      'ERR_FORMAT',
      `${url.pathname} names the file ${show(file)}; one beside it was expected`,
    )
  }
  fileUrl.search = url.search // a token or a signature of a folder
  fileUrl.hash = ''
  return fileUrl
}

module.exports = { isIndex, shardsPlan }
