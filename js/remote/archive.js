'use strict'
// The arrays of an .npz at a URL. Stored ones are read to where they belong; deflated ones are inflated as they come.

const ffi = require('../backend/calls')
const { Stop } = require('../base/signals')
const { countCopy } = require('../backend/storage')
const { dtypes } = require('../backend/dtypes')
const { Tensor } = require('../tensor/tensor')
const { canInflateBeginning, inflateAsync } = require('../files/inflate')
const {
  DEFLATED,
  membersOf,
  npzFile,
  packedBytes,
  memberEntry,
  memberTensor,
} = require('../files/npz')
const { wantedOfArray } = require('./remote-source')
const { SAME_KIND, checkCast, checkOut } = require('./targets')

/** @typedef {import('../base/signals').Signal} Signal */
/** @typedef {import('../files/npz').Member} Member */
/** @typedef {import('../tensor/tensor').Tensor} TensorOf */
/** @typedef {import('./known-bytes').Part} Part */
/** @typedef {import('./options').Loading} Loading */
/** @typedef {import('./options').Opening} Opening */
/** @typedef {import('./remote-file').Plan} Plan */
/** @typedef {import('./remote-source').RemoteSource} RemoteSource */

/**
 * An .npz: its directory says where members are, and each member's own header where its array is.
 *
 * @param {RemoteSource} source
 * @param {Opening} opening
 * @returns {Promise<Plan>}
 */
async function npzPlan(source, { dtype: given, signal }) {
  const members = await source.parsed(membersOf, signal)
  const file = npzFile(source.known, given, members)
  const memberOf = (/** @type {string} */ name) => /** @type {Member} */ (members.get(name))
  const info = async (/** @type {string} */ name) => {
    const member = memberOf(name)
    if (member.method === DEFLATED && member.bytes === null && !canInflateBeginning) {
      member.bytes = await inflated(source, member)
    }
    return using(source, (added) => source.parsed(() => file.info(name), undefined, added))
  }
  return {
    entries: members,
    hasRows: false,
    metadata: () => ({}),
    info,
    async nbytesOf(name) {
      const { method, packed } = memberOf(name)
      return method === DEFLATED ? packed : (await info(name)).nbytes
    },
    async load(name, loading) {
      const member = memberOf(name)
      if (member.method !== DEFLATED) {
        return using(source, async (added) => {
          const wanted = await source.parsed(
            (known) => {
              const bytes = packedBytes(known, member)
              const { entry, how = { fortran: false, swapped: false } } = memberEntry(
                known,
                bytes,
                member,
                given,
              )
              return wantedOfArray(entry, how, bytes.at)
            },
            loading.signal,
            added,
          )
          return source.load(wanted, loading)
        })
      }
      const { out, dtype, signal, onProgress } = loading
      const bytes = await inflated(source, member, signal, onProgress)
      const t = memberTensor(source.known, bytes, member, given)
      if (out === undefined && (dtype === undefined || dtype.name === t.dtype)) return t
      try {
        return converted(t, out, dtype)
      } finally {
        t.dispose()
      }
    },
    close: () => source.close(),
  }
}

/**
 * Members have headers of their own; what came for one is not kept.
 *
 * @template R
 * @param {RemoteSource} source
 * @param {(added: Part[]) => Promise<R>} work
 * @returns {Promise<R>}
 */
async function using({ known }, work) {
  /** @type {Part[]} */
  const added = []
  try {
    return await work(added)
  } finally {
    known.drop(added)
  }
}

/** @param {RemoteSource} source @param {Member} member @param {Signal} [signal] @param {Loading['onProgress']} [onProgress] */
function inflated(source, member, signal, onProgress) {
  return using(source, async (added) => {
    const { at, size: total } = await source.parsed(
      (known) => packedBytes(known, member),
      signal,
      added,
    )
    const pieces = new Pieces()
    let done = 0
    const stop = new Stop()
    const coming = source.loads.add(
      at,
      total,
      {
        write: (piece) => pieces.give(piece),
        came(n) {
          done += n
          onProgress?.({ done, total })
        },
      },
      stop,
    )
    coming.then(
      () => pieces.end(null),
      (error) => pieces.end({ error }),
    )
    const leave = signal?.follow(() => stop.abort(signal.reason))
    try {
      const [bytes] = await Promise.all([
        inflateAsync(source.known, member, pieces.taken(), signal),
        coming,
      ])
      return bytes
    } catch (error) {
      stop.abort(error)
      throw error
    } finally {
      leave?.()
    }
  })
}

/** Pieces that come from one side, and are taken by the other. */
class Pieces {
  constructor() {
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
  give(piece) {
    if (this.isOver) return Promise.resolve()
    return new Promise((resolve) => {
      this.piece = /** @type {Uint8Array<ArrayBuffer>} */ (piece)
      this.used = resolve
      this.changed()
    })
  }

  /** @param {{ error: unknown } | null} failed  null: all came */
  end(failed) {
    this.ended = failed ?? { error: null }
    this.changed()
  }

  async *taken() {
    try {
      for (;;) {
        while (this.piece === null && this.ended === null) {
          await new Promise((resolve) => {
            this.changed = () => resolve(undefined)
          })
        }
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
function converted(t, out, dtype) {
  if (out === undefined) return t.astype(/** @type {any} */ (dtype).name)
  const layout = Tensor.attachedOf(out)
  checkOut(layout, t.shape, dtype)
  const from = Tensor.layoutOf(t)
  checkCast(
    { name: 'the array', dtype: dtypes[from.dtype], isForeign: false, type: t.dtype },
    dtypes[layout.dtype],
  )
  ffi.copy(layout, from, SAME_KIND)
  countCopy('load', layout.nbytes)
  return out
}

module.exports = { npzPlan }
