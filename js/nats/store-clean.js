'use strict'
// clean: deletes chunks that no object has, because who wrote them died before there was one.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { nuidNamed, purgeAll } = require('./store-meta')
const { Waits } = require('./store-waits')
const { readMessages } = require('./store-reading')

/** @typedef {import('../base/signals').Signal} Signal */
/** @typedef {import('./store-meta').StoreParts} StoreParts */

/**
 * Chunks come first, objects second: chunks that become an object's between the two are seen as such.
 *
 * @param {StoreParts} store
 * @param {number} age  milliseconds since the last of an object's chunks
 * @param {Signal | undefined} signal
 * @returns {Promise<number>} chunks that are gone
 */
async function cleanStore(store, age, signal) {
  const waits = new Waits(store.core, store.timeout, signal)
  try {
    const root = `$O.${store.bucket}.C.`
    /** of the last chunk, by nuid @type {Map<string, number>} */
    const times = new Map()
    const created = await readMessages(store, waits, {
      filter: `${root}>`,
      isLastOnly: true,
      isHeadersOnly: true,
      take: (data, seq, { subject, time }) => times.set(subject.slice(root.length), time),
    })
    const isOld = (/** @type {[nuid: string, time: number]} */ [nuid, time]) =>
      !nuid.includes('.') && time <= created - age // by the server's clock
    const found = new Set([...times].filter(isOld).map(([nuid]) => nuid))
    const filter = `$O.${store.bucket}.M.>`
    /** Takes out what objects have. @type {import('./store-reading').Take} */
    const take = (data, seq, { subject }) => {
      const nuid = nuidNamed(data)
      if (nuid === null) {
        throw failure(
          'ERR_FORMAT',
          `what the store says under ${show(subject)} is not understood: nobody knows which chunks are its`,
        )
      }
      found.delete(nuid)
    }
    if (found.size > 0) await readMessages(store, waits, { filter, isLastOnly: true, take })
    let count = 0
    for (const nuid of found) {
      waits.check()
      count += await waits.orAborted(purgeAll(store, nuid))
      waits.progress()
    }
    return count
  } finally {
    waits.close()
  }
}

module.exports = { cleanStore }
