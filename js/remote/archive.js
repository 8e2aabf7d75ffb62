'use strict'
// The arrays of an .npz at a URL. Stored ones are read to where they belong; deflated ones are inflated as they come.

const ffi = require('../backend/calls')
const { Stop } = require('../base/signals')
const { countCopy } = require('../backend/storage')
const { dtypes } = require('../backend/dtypes')
const { Tensor } = require('../tensor/tensor')
const { canInflateBeginning, inflateLater } = require('../files/inflate')
const { DEFLATED, npzFile, packedBytes, memberEntry, memberTensor } = require('../files/npz')
const { wantedOfArray } = require('./remote-source')
const { SAME_KIND, checkCast, checkOut } = require('./targets')

/** @typedef {import('../base/signals').Signal} Signal */
/** @typedef {import('../files/npz').Member} Member */
/** @typedef {import('../tensor/tensor').Tensor} TensorOf */
/** @typedef {import('./known-bytes').Part} Part */
/** @typedef {import('./options').Loading} Loading */
/** @typedef {import('./remote-source').RemoteSource} RemoteSource */

class Archive {
  /** @param {RemoteSource} source @param {Map<string, Member>} members @param {string | undefined} dtype  of arrays that have none */
  constructor (source, members, dtype) {
    this.source = source
    this.members = members
    this.dtype = dtype
    this.file = npzFile(source.known, dtype, members)
  }

  /** @param {string} name */
  async info (name) {
    const member = this.memberOf(name)
    if (member.method === DEFLATED && member.bytes === null && !canInflateBeginning) member.bytes = await this.inflated(member, undefined, undefined)
    return this.using(added => this.source.parsed(() => this.file.info(name), undefined, added))
  }

  /** Bytes that load reads, as its onProgress counts them. @param {string} name */
  async nbytesOf (name) {
    const { method, packed } = this.memberOf(name)
    return method === DEFLATED ? packed : (await this.info(name)).nbytes
  }

  /**
   * Members have headers of their own; what came for one is not kept.
   *
   * @template R
   * @param {(added: Part[]) => Promise<R>} work
   * @returns {Promise<R>}
   */
  async using (work) {
    /** @type {Part[]} */
    const added = []
    try {
      return await work(added)
    } finally {
      this.source.known.drop(added)
    }
  }

  /** @param {string} name */
  memberOf (name) { return /** @type {Member} */ (this.members.get(name)) }

  /** @param {string} name @param {Loading} loading @returns {Promise<TensorOf>} */
  load (name, loading) {
    const member = this.memberOf(name)
    return member.method === DEFLATED ? this.loadDeflated(member, loading) : this.loadStored(member, loading)
  }

  /** @param {Member} member @param {Loading} loading */
  loadStored (member, loading) {
    return this.using(async added => {
      const wanted = await this.source.parsed(known => {
        const bytes = packedBytes(known, member)
        const { entry, how = { fortran: false, swapped: false } } = memberEntry(known, bytes, member, this.dtype)
        return wantedOfArray(entry, how, bytes.at)
      }, loading.signal, added)
      return this.source.load(wanted, loading)
    })
  }

  /** @param {Member} member @param {Loading} loading */
  async loadDeflated (member, { out, dtype, signal, onProgress }) {
    const bytes = await this.inflated(member, signal, onProgress)
    const t = memberTensor(this.source.known, bytes, member, this.dtype)
    if (out === undefined && (dtype === undefined || dtype.name === t.dtype)) return t
    try {
      return converted(t, out, dtype)
    } finally {
      t.dispose()
    }
  }

  /**
   * @param {Member} member
   * @param {Signal | undefined} signal
   * @param {Loading['onProgress']} onProgress
   */
  inflated (member, signal, onProgress) {
    return this.using(async added => {
      const { at, size } = await this.source.parsed(known => packedBytes(known, member), signal, added)
      return this.inflatedAt(at, size, member, signal, onProgress)
    })
  }

  /**
   * @param {number} at  byte of the file
   * @param {number} total  bytes
   * @param {Member} member
   * @param {Signal | undefined} signal
   * @param {Loading['onProgress']} onProgress
   */
  async inflatedAt (at, total, member, signal, onProgress) {
    const pieces = new Pieces()
    let done = 0
    const stop = new Stop()
    const coming = this.source.loads.add(at, total, {
      write: piece => pieces.give(piece),
      came (n) {
        done += n
        onProgress?.({ done, total })
      }
    }, stop)
    coming.then(() => pieces.end(null), error => pieces.end({ error }))
    const leave = signal?.follow(() => stop.abort(signal.reason))
    try {
      const [bytes] = await Promise.all([inflateLater(this.source.known, member, pieces.taken(), signal), coming])
      return bytes
    } catch (error) {
      stop.abort(error)
      throw error
    } finally {
      leave?.()
    }
  }
}

/** Pieces that come from one side, and are taken by the other. */
class Pieces {
  constructor () {
    /** @type {Uint8Array<ArrayBuffer> | null} */
    this.piece = null
    /** @type {{ error: unknown } | null} */
    this.ended = null
    /** nothing is taken any more */
    this.isOver = false
    this.changed = () => {}
    this.used = () => {}
  }

  /** @param {Uint8Array} piece @returns {Promise<void>} settles once it was used */
  give (piece) {
    if (this.isOver) return Promise.resolve()
    return new Promise(resolve => {
      this.piece = /** @type {Uint8Array<ArrayBuffer>} */ (piece)
      this.used = resolve
      this.changed()
    })
  }

  /** @param {{ error: unknown } | null} failed  null: all came */
  end (failed) {
    this.ended = failed ?? { error: null }
    this.changed()
  }

  async * taken () {
    try {
      for (;;) {
        while (this.piece === null && this.ended === null) await new Promise(resolve => { this.changed = () => resolve(undefined) })
        if (this.ended !== null && this.ended.error !== null) throw this.ended.error
        if (this.piece === null) return
        yield this.piece
        this.piece = null
        this.used()
      }
    } finally {
      this.isOver = true
      this.used()
    }
  }
}

/**
 * @param {TensorOf} t
 * @param {TensorOf | undefined} out  busy
 * @param {Loading['dtype']} dtype
 * @returns {TensorOf}
 */
function converted (t, out, dtype) {
  if (out === undefined) return t.astype(/** @type {any} */ (dtype).name)
  const layout = Tensor.attachedOf(out)
  checkOut(layout, t.shape, dtype)
  const from = Tensor.layoutOf(t)
  checkCast({ name: 'the array', dtype: dtypes[from.dtype], isForeign: false, type: t.dtype }, dtypes[layout.dtype])
  ffi.copy(layout, from, SAME_KIND)
  countCopy('load', layout.size * dtypes[layout.dtype].itemsize)
  return out
}

module.exports = { Archive }
