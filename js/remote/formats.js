'use strict'
// Files at URLs, by format.

const { optionsOf } = require('../base/validate')
const { readArrayHeader } = require('../files/npy')
const { membersOf } = require('../files/npz')
const { safetensorsFile } = require('../files/safetensors')
const { ggufFile } = require('../files/gguf')
const { Archive } = require('./archive')
const { loadingOf, openingOf } = require('./options')
const { FIRST } = require('./range-reader')
const { remoteFile } = require('./remote-file')
const { isIndex, shardsPlan } = require('./shards')
const { RemoteSource, wantedOf, wantedOfArray, whileBusy } = require('./remote-source')

/** @typedef {import('../files/byte-source').Source} Source */
/** @typedef {import('../files/tensor-file').TensorFile} TensorFile */
/** @typedef {import('./options').Opening} Opening */
/** @typedef {import('./remote-file').Plan} Plan */

/**
 * Opens a file of which a part comes first; if that fails, nothing is left of it.
 *
 * @template R
 * @param {URL} url
 * @param {Opening} opening
 * @param {boolean} fromEnd
 * @param {(source: RemoteSource) => Promise<R>} use
 * @returns {Promise<R>}
 */
async function opened (url, opening, fromEnd, use) {
  const source = await RemoteSource.open(url, opening, fromEnd)
  try {
    return await use(source)
  } catch (error) {
    source.close()
    throw error
  }
}

/** @param {TensorFile} header @returns {Map<string, null>} */
const namesOf = header => new Map([...header.keys()].map(name => [name, null]))

/**
 * A file whose header says where all tensors are.
 *
 * @param {(source: Source) => TensorFile} parse
 * @returns {(url: URL, opening: Opening) => Promise<Plan>}
 */
const plainPlan = parse => (url, opening) => opened(url, opening, false, async source => {
  const header = await source.parsed(parse, opening.signal)
  source.known.forget(FIRST)
  return {
    entries: namesOf(header),
    metadata: () => header.metadata,
    info: async name => header.info(name),
    load: (name, loading) => source.load(wantedOf(header.info(name)), loading),
    close: () => source.close()
  }
})

const safetensorsPlan = plainPlan(safetensorsFile)
const ggufPlan = plainPlan(ggufFile)

/** @param {URL} url @param {unknown} opts */
async function remoteSafetensors (url, opts) {
  const opening = openingOf(opts)
  return remoteFile(await (isIndex(url) ? shardsPlan(url, opening, safetensorsPlan) : safetensorsPlan(url, opening)))
}

/** @param {URL} url @param {unknown} opts */
const remoteGguf = async (url, opts) => remoteFile(await ggufPlan(url, openingOf(opts)))

/**
 * An .npz: its directory says where members are, and each member's own header where its array is.
 *
 * @param {URL} url
 * @param {Opening} opening
 * @returns {Promise<Plan>}
 */
const npzPlan = (url, opening) => opened(url, opening, true, async source => {
  const { dtype, signal } = opening
  const members = await source.parsed(membersOf, signal)
  const archive = new Archive(source, members, dtype)
  return {
    entries: members,
    metadata: () => ({}),
    info: name => archive.info(name),
    load: (name, loading) => archive.load(name, loading),
    close: () => source.close()
  }
})

/** @param {URL} url @param {unknown} opts */
const remoteNpz = async (url, opts) => remoteFile(await npzPlan(url, openingOf(opts)))

/**
 * @param {URL} url
 * @param {any} opts
 */
async function remoteNpy (url, opts) {
  const opening = openingOf(opts)
  const loading = loadingOf({ ...optionsOf(opts), dtype: undefined })
  const { dtype, signal } = opening
  return whileBusy(loading.out, () => opened(url, opening, false, async source => {
    const { entry, how } = await source.parsed(known => readArrayHeader(known, '', dtype), signal)
    const t = await source.load(wantedOfArray(entry, how), loading)
    source.close()
    return t
  }))
}

module.exports = { remoteNpy, remoteNpz, remoteSafetensors, remoteGguf }
