'use strict'
// Blob records: what toBlob() gave, and the bytes that each of them stands for.

const { Extra } = require('./storage')

/** @typedef {InstanceType<typeof import('./ffi').Layout>} Layout */

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
  layouts.set(record, layout)
  records.live++
  gone.register(record, records)
}

/**
 * @param {unknown} record
 * @returns {Layout | undefined} undefined: it is none of ours
 */
function layoutOf (record) {
  return layouts.get(/** @type {object} */ (record))
}

module.exports = { remember, layoutOf }
