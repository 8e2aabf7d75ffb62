'use strict'
// clean: deletes chunks that no object has, because who wrote them died before there was one.

const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { nuidNamed, purgeAll } = require('./store-meta')
const { Waits } = require('./store-waits')
const { Reading } = require('./store-reading')

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
    const reading = new Reading(store, waits, {
      filter: `${root}>`,
      isLastOnly: true,
      isHeadersOnly: true,
      take(data, seq, { subject, time }) {
        times.set(subject.slice(root.length), time)
      },
    })
    await reading.run()
    const isOld = (/** @type {[nuid: string, time: number]} */ [nuid, time]) =>
      !nuid.includes('.') && time <= reading.created - age // by the server's clock
    const found = new Set([...times].filter(isOld).map(([nuid]) => nuid))
    const named = new Reading(store, waits, {
      filter: `$O.${store.bucket}.M.>`,
      isLastOnly: true,
      take(data, seq, { subject }) {
        // takes out what objects have
        const nuid = nuidNamed(data)
        if (nuid === null) {
          throw failure(
            'ERR_FORMAT',
            `what the store says under ${show(subject)} is not understood: nobody knows which chunks are its`,
          )
        }
        found.delete(nuid)
      },
    })
    if (found.size > 0) await named.run()
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
