'use strict'
// A layout's bytes for the outside: `data` as a typed array, bytes for writers, an address, records of toBlob().

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { dtypes, itemsizes } = require('../backend/dtypes')
const { isResizable } = require('../base/buffers')
const { OptionalFields, isOnDevice, outOfSight } = require('../backend/storage')

const { backend } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */

const MOST_BYTES = 2 ** 32 - 1 // bytes that any runtime makes a typed array of

/**
 * What tensor.data gives: a typed array over the layout's bytes.
 *
 * @param {Layout} layout
 */
function dataOf(layout) {
  const { storage, guardedData } = layout
  if (guardedData !== null && guardedData.length > 0) {
    ffi.checkIntact(storage)
    return guardedData
  }
  const { Type, kind, itemsize } = dtypes[layout.dtype]
  ffi.checkAttached(storage)
  if (isOnDevice(storage)) throw outOfSight(storage)
  if (layout.size === 0) return new Type(0)
  ffi.checkIntact(storage)
  if (!ffi.isContiguous(layout)) {
    throw failure(
      'ERR_SHAPE',
      `the tensor of shape [${layout.shape.join(', ')}] and strides [${layout.strides.join(', ')}] is not contiguous; contiguous() copies`,
    )
  }
  const n = kind === 'COMPLEX' ? 2 * layout.size : layout.size
  if (storage.block !== null && layout.size * itemsize === storage.nbytes) {
    const data = backend.moveToHeap(storage, Type)
    if (data !== null) return (layout.data = data)
  }
  const { buffer, begin } = bufferWith(storage, layout.offset * itemsize, layout.size * itemsize)
  let data
  try {
    data = new Type(buffer, begin, n)
  } catch (error) {
    throw failure(
      'ERR_UNSUPPORTED',
      `no typed array of ${n} elements can be made; narrow first (${/** @type {Error} */ (error).message})`,
    )
  }
  if (storage.kind === 'wasm') backend.expose(data, storage)
  // Remembered. Guarded mappings are checked at each use; over resizable buffers a new array is made each time.
  if (ffi.isGuarded(storage)) layout.guardedData = data
  else if (storage.kind !== 'js' || !isResizable(buffer)) layout.data = data
  return data
}

/**
 * A buffer over some bytes of a storage: the whole storage's, or one of that part alone, because Node 20 makes no external
 * buffer over more than 4 GiB.
 *
 * @param {Storage} storage
 * @param {number} at  bytes from the storage's start
 * @param {number} nbytes
 * @returns {{ buffer: ArrayBufferLike, begin: number }} begin: bytes from the buffer's start
 */
function bufferWith(storage, at, nbytes) {
  try {
    return { buffer: backend.bufferOf(storage, ffi.check), begin: storage.byteOffset + at }
  } catch (error) {
    if (
      storage.kind !== 'native' ||
      storage.nbytes <= MOST_BYTES ||
      nbytes > MOST_BYTES ||
      !storage.optional?.handle
    ) {
      throw error
    }
    const part = /** @type {any} */ (backend).partOf(storage, at, nbytes)
    return { buffer: backend.bufferOf(part, ffi.check), begin: 0 }
  }
}

/**
 * Calls `use` with some bytes of a contiguous layout on the CPU. All that files are written from is read through here. The file
 * behind a guarded mapping may get shorter meanwhile, whose bytes then read as zeros: that is checked when `use` has
 * returned, or its promise has settled.
 *
 * @template R
 * @param {Layout} layout  may have more bytes than a typed array can
 * @param {number} at  bytes from the layout's first element
 * @param {number} nbytes
 * @param {(bytes: Uint8Array) => R} use  must not keep the bytes; may return a promise
 * @returns {R}
 * @throws ERR_IO bytes of the mapping are gone · ERR_DETACHED · as use
 */
function readBytes({ storage, offset, dtype }, at, nbytes, use) {
  if (nbytes === 0) return use(new Uint8Array(0))
  ffi.checkAttached(storage)
  ffi.checkIntact(storage)
  const { buffer, begin } = bufferWith(storage, offset * itemsizes[dtype] + at, nbytes)
  const result = use(new Uint8Array(/** @type {ArrayBuffer} */ (buffer), begin, nbytes))
  const checked = (/** @type {any} */ value) => {
    ffi.checkIntact(storage)
    return value
  }
  return /** @type {any} */ (result instanceof Promise ? result.then(checked) : checked(result))
}

/**
 * Are the bytes in a buffer outside WebAssembly's memory? Only what is inside has an address there.
 *
 * @param {Layout} layout
 */
const hasNoAddress = ({ storage }) => backend.isWasm && storage.kind !== 'wasm'

/**
 * Address of the first element. From now on the storage does not move.
 *
 * @param {Layout} layout
 * @returns {bigint} 0n without elements
 */
function addressOf({ storage, size, offset, dtype }) {
  if (size === 0) return 0n
  ffi.checkIntact(storage)
  backend.promote(storage)
  return BigInt(backend.addressOf(storage) + offset * itemsizes[dtype])
}

/** Layouts by the record that toBlob() gave of each; a forged or copied record is not in it. @type {WeakMap<object, Layout>} */
const layouts = new WeakMap()

// Counts records that were collected. A record keeps its storage alive through the WeakMap alone, which drops both together;
// a WeakRef would keep the storage until the turn of the event loop ends.
const gone = new FinalizationRegistry((/** @type {{ live: number }} */ records) => {
  records.live--
})

/**
 * Links a record to its layout, whose bytes it keeps alive.
 *
 * @param {object} record
 * @param {Layout} layout
 */
function remember(record, layout) {
  const optional = (layout.storage.optional ??= new OptionalFields())
  const records = (optional.records ??= { live: 0 })
  layouts.set(record, layout)
  records.live++
  gone.register(record, records)
}

/**
 * @param {unknown} record
 * @returns {Layout | undefined} undefined: toBlob of this package did not make it
 */
const layoutOf = (record) => layouts.get(/** @type {object} */ (record))

module.exports = { dataOf, readBytes, hasNoAddress, addressOf, remember, layoutOf }
