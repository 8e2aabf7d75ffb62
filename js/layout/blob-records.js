'use strict'
// The records that toBlob() gave, and the layout of each.

const { FinalizationRegistry, WeakMap, register, weakMapGet, weakMapSet } = require('../base/primordials')
const { OptionalFields } = require('../backend/storage')

/** @typedef {InstanceType<typeof import('../backend/calls').Layout>} Layout */

/** by record; a forged or copied record is not in it @type {WeakMap<object, Layout>} */
const layouts = new WeakMap()

// Counts records that were collected. A record keeps its storage alive through the WeakMap alone, which drops both together;
// a WeakRef would keep the storage until the turn of the event loop ends.
const gone = new FinalizationRegistry((/** @type {{ live: number }} */ records) => { records.live-- })

/**
 * Links a record to its layout, whose bytes it keeps alive.
 *
 * @param {object} record
 * @param {Layout} layout
 */
function remember (record, layout) {
  const extra = layout.storage.extra ??= new OptionalFields()
  const records = extra.records ??= { live: 0 }
  weakMapSet(layouts, record, layout)
  records.live++
  register(gone, record, records)
}

/**
 * @param {unknown} record
 * @returns {Layout | undefined} undefined: toBlob of this package did not make it
 */
function layoutOf (record) {
  return weakMapGet(layouts, /** @type {object} */ (record))
}

module.exports = { remember, layoutOf }
