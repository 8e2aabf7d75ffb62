'use strict'
// Files at URLs, by format.

const { optionsOf } = require('../base/validate')
const { dtypeOf } = require('../backend/dtypes')
const { infoOf } = require('../files/entries')
const { readArrayHeader } = require('../files/npy')
const { membersOf } = require('../files/npz')
const { safetensorsFile } = require('../files/safetensors')
const { ggufFile } = require('../files/gguf')
const { Archive } = require('./archive')
const { OF_FETCHING, loadingOf, openingOf } = require('./options')
const { FIRST } = require('./range-reader')
const { remoteFile } = require('./remote-file')
const { isIndex, shardsPlan } = require('./shards')
const { RemoteSource, rowsOf, wantedOf, wantedOfArray, whileBusy } = require('./remote-source')

/** @typedef {import('../files/byte-source').Source} Source */
/** @typedef {import('../files/tensor-file').TensorFile} TensorFile */
/** @typedef {import('./options').Opening} Opening */
/** @typedef {import('./remote-file').Plan} Plan */
/** @typedef {(source: RemoteSource, opening: Opening) => Promise<Plan>} MakePlan  of a source whose first part came */

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
 * @returns {MakePlan}
 */
const plainPlan = parse => async (source, { signal }) => {
  const header = await source.parsed(parse, signal)
  source.known.forget(FIRST)
  return {
    entries: namesOf(header),
    hasRows: true,
    metadata: () => header.metadata,
    info: async name => header.info(name),
    load: (name, loading) => source.load(rowsOf(wantedOf(header.info(name)), loading.rows), loading),
    forget: () => source.known.forget(0),
    close: () => source.close()
  }
}

/** An .npz: its directory says where members are, and each member's own header where its array is. @type {MakePlan} */
async function npzPlan (source, { dtype, signal }) {
  const members = await source.parsed(membersOf, signal)
  const archive = new Archive(source, members, dtype)
  return {
    entries: members,
    hasRows: false,
    metadata: () => ({}),
    info: name => archive.info(name),
    nbytesOf: name => archive.nbytesOf(name),
    load: (name, loading) => archive.load(name, loading),
    close: () => source.close()
  }
}

/** A file with one array, which has no name. @type {MakePlan} */
async function npyPlan (source, { dtype, signal }) {
  const { entry, how } = await source.parsed(known => readArrayHeader(known, '', dtype), signal)
  return {
    entries: new Map([['', null]]),
    hasRows: !how.fortran,
    metadata: () => ({}),
    info: async () => infoOf(entry),
    load: (name, loading) => source.load(rowsOf(wantedOfArray(entry, how), loading.rows), loading),
    close: () => source.close()
  }
}

/** A file of one dtype and nothing else. @type {MakePlan} */
async function rawPlan (source, { dtype }) {
  const { name: type, itemsize } = dtypeOf(dtype)
  const shape = [Math.floor(source.size / itemsize)]
  const info = { name: '', dtype: type, shape, type, fileShape: shape, block: { elements: 1, bytes: itemsize }, byteOffset: 0, nbytes: shape[0] * itemsize }
  return {
    entries: new Map([['', null]]),
    hasRows: true,
    metadata: () => ({}),
    info: async () => info,
    load: (name, loading) => source.load(rowsOf(wantedOf(info), loading.rows), loading),
    close: () => source.close()
  }
}

const plans = { safetensors: plainPlan(safetensorsFile), gguf: plainPlan(ggufFile), npz: npzPlan, npy: npyPlan, raw: rawPlan }

/** @param {URL} url @param {Opening} opening */
const indexPlan = (url, opening) => shardsPlan(url, opening, (shard, each) => planAt(shard, each, 'safetensors'))

/** @param {URL} url @param {Opening} opening @param {keyof typeof plans} format @returns {Promise<Plan>} */
const planAt = (url, opening, format) => opened(url, opening, format === 'npz', source => plans[format](source, opening))

/** @param {URL} url @param {unknown} opts */
async function remoteSafetensors (url, opts) {
  const opening = openingOf(opts, OF_FETCHING, 'fetchSafetensors')
  return remoteFile(await (isIndex(url) ? indexPlan(url, opening) : planAt(url, opening, 'safetensors')))
}

/** @param {URL} url @param {unknown} opts */
const remoteGguf = async (url, opts) => remoteFile(await planAt(url, openingOf(opts, OF_FETCHING, 'fetchGguf'), 'gguf'))

/** @param {URL} url @param {unknown} opts */
const remoteNpz = async (url, opts) => remoteFile(await planAt(url, openingOf(opts, [...OF_FETCHING, 'dtype'], 'fetchNpz'), 'npz'))

/**
 * @param {URL} url
 * @param {any} opts
 */
async function remoteNpy (url, opts) {
  const opening = openingOf(opts, [...OF_FETCHING, 'dtype', 'out', 'onProgress'], 'fetchNpy')
  const loading = loadingOf({ ...optionsOf(opts), dtype: undefined })
  return whileBusy(loading.out, async () => {
    const plan = await planAt(url, opening, 'npy')
    try {
      return await plan.load('', loading)
    } finally {
      plan.close()
    }
  })
}

module.exports = { remoteNpy, remoteNpz, remoteSafetensors, remoteGguf, plans, indexPlan, opened }
