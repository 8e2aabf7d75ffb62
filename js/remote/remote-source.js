'use strict'
// A file at a URL: its header, by the parsers of files/, and its tensors.

const ffi = require('../backend/calls')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { checkSignal, unlessAborted } = require('../base/signals')
const { beginUse, endUse } = require('../copy/async')
const { Tensor } = require('../tensor/tensor')
const { KnownBytes, Missing } = require('./known-bytes')
const { Loads } = require('./loads')
const { keptTransport } = require('./range-cache')
const { FIRST, RangeReader } = require('./range-reader')
const { targetFor } = require('./targets')

/** @typedef {import('../backend/storage').Storage} Storage */
/** @typedef {import('../base/signals').Signal} Signal */
/** @typedef {import('../files/byte-source').Source} Source */
/** @typedef {import('../files/entries').TensorInfo} TensorInfo */
/** @typedef {import('../files/tensor-file').TensorFile} TensorFile */
/** @typedef {import('../tensor/tensor').Tensor} TensorOf */
/** @typedef {import('./options').Opening} Opening */
/** @typedef {import('./options').Loading} Loading */
/** @typedef {import('./known-bytes').Part} Part */
/** @typedef {import('./targets').Wanted} Wanted */

const OURS = ['U8', '|u1', 'bytes'] // what formats call uint8; other types come as such bytes

class RemoteSource {
  /** @param {RangeReader} reader @param {KnownBytes} known @param {Opening} opening */
  constructor(reader, known, { headers, tensors }) {
    this.reader = reader
    this.known = known
    this.headers = headers
    this.loads = new Loads(reader, known, tensors)
  }

  get size() {
    return this.known.size
  }

  /**
   * @param {URL} url
   * @param {Opening} opening
   * @param {boolean} fromEnd  the header is there
   * @returns {Promise<RemoteSource>}
   */
  static async open(url, opening, fromEnd) {
    checkSignal(opening.signal)
    const reader = new RangeReader(
      url,
      opening.caches ? { ...opening, transport: keptTransport(opening.transport) } : opening,
    )
    const { from, bytes } = await opening.headers.run(() => reader.open(fromEnd, opening.signal))
    const known = new KnownBytes(reader.size)
    known.add(from, bytes)
    if (!fromEnd) known.first = Math.min(known.size, FIRST)
    return new RemoteSource(reader, known, opening)
  }

  /**
   * What a parser gives, once all came that it reads.
   *
   * @template R
   * @param {(known: KnownBytes) => R} parse
   * @param {Signal | undefined} signal
   * @param {Part[]} [added]  gets what came for it
   * @returns {Promise<R>}
   */
  async parsed(parse, signal, added = []) {
    for (;;) {
      try {
        return parse(this.known)
      } catch (error) {
        if (!(error instanceof Missing)) throw error
        const { from, end } = error
        const coming = this.headers.run(() => this.reader.read(from, end, signal))
        const bytes = await unlessAborted(signal, coming)
        added.push(this.known.add(from, bytes))
      }
    }
  }

  /**
   * Reads a tensor into memory of its own, or the caller's.
   *
   * @param {Wanted} wanted
   * @param {Loading} loading
   * @returns {Promise<TensorOf>}
   */
  async load(wanted, loading) {
    const { signal, onProgress } = loading
    const { begin, nbytes } = wanted
    const target = targetFor(wanted, loading)
    const write = (/** @type {Uint8Array} */ bytes) => target.write(bytes)
    try {
      await this.loads.add(begin, nbytes, receiverOf(write, nbytes, onProgress), signal)
      return target.finish()
    } finally {
      target.discard()
    }
  }

  close() {
    this.loads.close()
    this.known.close()
  }
}

/**
 * Gets a load's bytes, and tells its progress.
 *
 * @param {import('./loads').Receiver['write']} write
 * @param {number} total  bytes
 * @param {Loading['onProgress']} onProgress
 * @returns {import('./loads').Receiver}
 */
function receiverOf(write, total, onProgress) {
  let done = 0
  return {
    write,
    came(n) {
      done += n
      onProgress?.({ done, total })
    },
  }
}

/**
 * @param {TensorInfo} info
 * @returns {Wanted}
 */
function wantedOf(info) {
  const dtype = dtypeOf(info.dtype)
  const isForeign = info.block.elements > 1 || (info.dtype === 'uint8' && !OURS.includes(info.type))
  return { ...info, dtype, isForeign, fortran: false, swapped: false, begin: info.byteOffset }
}

/**
 * @param {import('../files/entries').Entry} entry  of an array, with a dtype
 * @param {{ fortran: boolean, swapped: boolean }} [how]
 * @param {number} [at]  byte of the file where that of the array begins
 * @returns {Wanted}
 */
function wantedOfArray(entry, how = { fortran: false, swapped: false }, at = 0) {
  const begin = at + entry.begin
  return { ...entry, dtype: dtypes[entry.dtype], isForeign: false, ...how, begin }
}

/**
 * @param {Wanted} wanted  whose rows follow each other in the file
 * @param {[number, number] | undefined} rows
 * @returns {Wanted} of these rows alone
 */
function rowsOf(wanted, rows) {
  if (rows === undefined) return wanted
  const [from, end] = rows
  const [n, ...rest] = wanted.shape
  const row = wanted.nbytes / n // bytes
  const begin = wanted.begin + from * row
  return { ...wanted, shape: [end - from, ...rest], begin, nbytes: (end - from) * row }
}

/** Bytes of storages that loads write, [low, high] each @type {WeakMap<Storage, [number, number][]>} */
const written = new WeakMap()

/**
 * Runs work with a tensor that is busy meanwhile. Other loads may have other parts of its storage.
 *
 * @template R
 * @param {TensorOf | undefined} out
 * @param {() => Promise<R>} work
 * @returns {Promise<R>}
 */
async function whileBusy(out, work) {
  if (out === undefined) return work()
  const layout = Tensor.attachedOf(out)
  const { storage, offset } = layout
  const { itemsize } = dtypes[layout.dtype]
  const { low, high } = layout.size === 0 ? { low: 0, high: -1 } : ffi.extent(layout)
  /** from the first byte that out has to the one behind its last @type {[number, number]} */
  const bytes = [(offset + low) * itemsize, (offset + high + 1) * itemsize]
  const parts = written.get(storage) ?? []
  Tensor.writableOf(
    out,
    parts.some(([low, high]) => low < bytes[1] && bytes[0] < high) ? 0 : parts.length,
  )
  written.set(storage, parts)
  parts.push(bytes)
  beginUse(storage, 1)
  try {
    return await work()
  } finally {
    parts.splice(parts.indexOf(bytes), 1)
    endUse(storage, 1)
  }
}

module.exports = { RemoteSource, receiverOf, rowsOf, wantedOf, wantedOfArray, whileBusy }
