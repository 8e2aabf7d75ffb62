'use strict'
// Blob records: what toBlob() gave, and the bytes that each of them stands for.

const { backend } = require('./ffi')
const { claim, unclaim } = require('./storage')

/** @typedef {InstanceType<typeof import('./ffi').Layout>} Layout */

/**
 * @typedef {object} Blob  where some bytes are, in plain words
 * @property {bigint} ptr  address of the first element; 0n without elements, and for the caller's bytes in WASM
 * @property {readonly number[]} shape
 * @property {readonly number[]} strides  elements
 * @property {string} dtype
 * @property {string} device
 * @property {number} elementSize  bytes
 * @property {import('./tensor').Tensor} owner
 */

/** by record: a private link, so that no forged or copied one has it @type {WeakMap<object, Layout>} */
const layouts = new WeakMap()

// A record's claim ends with it. The storage is held weakly: without an event loop, too, collection frees it.
const gone = new FinalizationRegistry((/** @type {WeakRef<import('./storage').Storage>} */ ref) => {
  const storage = ref.deref()
  if (storage !== undefined) unclaim(storage, backend)
})

/**
 * A record keeps the bytes, as a tensor does.
 *
 * @param {object} record
 * @param {Layout} layout
 */
function remember (record, layout) {
  layouts.set(record, layout)
  claim(layout.storage)
  gone.register(record, new WeakRef(layout.storage))
}

/**
 * @param {unknown} record
 * @returns {Layout | undefined} undefined: it is none of ours
 */
function layoutOf (record) {
  return layouts.get(/** @type {object} */ (record))
}

module.exports = { remember, layoutOf }
