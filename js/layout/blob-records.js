'use strict'
// Blob records: what toBlob() gave, and the bytes that each of them stands for.

const { FinalizationRegistry, WeakMap, register, weakMapGet, weakMapSet } = require('../base/primordials')
const { Extra } = require('../backend/storage')

/** @typedef {InstanceType<typeof import('../backend/calls').Layout>} Layout */

/** by record: a private link, so that no forged or copied one has it @type {WeakMap<object, Layout>} */
const layouts = new WeakMap()

// A record's storage goes with it: nothing else keeps the one whose tensors were disposed. Neither this registry nor a
// WeakRef holds a storage, not even until the next turn of the event loop.
const gone = new FinalizationRegistry((/** @type {{ live: number }} */ records) => { records.live-- })

/**
 * A record keeps the bytes, as a tensor does.
 *
 * @param {object} record
 * @param {Layout} layout
 */
function remember (record, layout) {
  const extra = layout.storage.extra ??= new Extra()
  const records = extra.records ??= { live: 0 }
  weakMapSet(layouts, record, layout)
  records.live++
  register(gone, record, records)
}

/**
 * @param {unknown} record
 * @returns {Layout | undefined} undefined: it is none of ours
 */
function layoutOf (record) {
  return weakMapGet(layouts, /** @type {object} */ (record))
}

module.exports = { remember, layoutOf }
