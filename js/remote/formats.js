'use strict'
// Files at URLs, by format.

const { dtypeOf } = require('../backend/dtypes')
const { infoOf, rawInfo } = require('../files/entries')
const { readArrayHeader } = require('../files/npy')
const { safetensorsFile } = require('../files/safetensors')
const { ggufFile } = require('../files/gguf')
const { npzPlan } = require('./archive')
const { FIRST } = require('./range-reader')
const { shardsPlan } = require('./shards')
const { RemoteSource, rowsOf, wantedOf, wantedOfArray } = require('./remote-source')

/** @typedef {import('../files/byte-source').Source} Source */
/** @typedef {import('../files/entries').TensorInfo} TensorInfo */
/** @typedef {import('../files/tensor-file').TensorFile} TensorFile */
/** @typedef {import('./options').Opening} Opening */
/** @typedef {import('./remote-file').Plan} Plan */
/** @typedef {import('./targets').Wanted} Wanted */
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
async function opened(url, opening, fromEnd, use) {
  const source = await RemoteSource.open(url, opening, fromEnd)
  try {
    return await use(source)
  } catch (error) {
    source.close()
    throw error
  }
}

/**
 * A plan for tensors that lie in the file as they are.
 *
 * @param {RemoteSource} source
 * @param {Iterable<string>} names
 * @param {() => Record<string, any>} metadata
 * @param {(name: string) => TensorInfo} info
 * @param {(name: string) => Wanted} wanted
 * @param {boolean} [hasRows]
 * @returns {Plan}
 */
const planOf = (source, names, metadata, info, wanted, hasRows = true) => ({
  entries: new Map(Array.from(names, (name) => [name, null])),
  hasRows,
  metadata,
  info: async (name) => info(name),
  load: (name, loading) => source.load(rowsOf(wanted(name), loading.rows), loading),
  forget: () => source.known.forget(0),
  close: () => source.close(),
})

/**
 * A file whose header says where all tensors are.
 *
 * @param {(source: Source) => TensorFile} parse
 * @returns {MakePlan}
 */
const plainPlan =
  (parse) =>
  async (source, { signal }) => {
    const header = await source.parsed(parse, signal)
    source.known.forget(FIRST)
    const info = (/** @type {string} */ name) => header.info(name)
    const wanted = (/** @type {string} */ name) => wantedOf(info(name))
    return planOf(source, header.keys(), () => header.metadata, info, wanted)
  }

/** A file with one array, which has no name. @param {RemoteSource} source @param {TensorInfo} info @param {Wanted} wanted */
const arrayPlan = (source, info, wanted) =>
  planOf(
    source,
    [''],
    () => ({}),
    () => info,
    () => wanted,
    !wanted.fortran,
  )

/** @type {MakePlan} */
async function npyPlan(source, { dtype, signal }) {
  const { entry, how } = await source.parsed((known) => readArrayHeader(known, '', dtype), signal)
  return arrayPlan(source, infoOf(entry), wantedOfArray(entry, how))
}

/** A file of one dtype and nothing else. @type {MakePlan} */
async function rawPlan(source, { dtype }) {
  const info = rawInfo(dtypeOf(dtype), source.size)
  return arrayPlan(source, info, wantedOf(info))
}

const plans = {
  safetensors: plainPlan(safetensorsFile),
  gguf: plainPlan(ggufFile),
  npz: npzPlan,
  npy: npyPlan,
  raw: rawPlan,
}

/** @param {URL} url @param {Opening} opening */
const indexPlan = (url, opening) =>
  shardsPlan(url, opening, (shard, each) => planAt(shard, each, 'safetensors'))

/** @param {URL} url @param {Opening} opening @param {keyof typeof plans} format @returns {Promise<Plan>} */
const planAt = (url, opening, format) =>
  opened(url, opening, format === 'npz', (source) => plans[format](source, opening))

module.exports = { plans, planAt, indexPlan, opened }
