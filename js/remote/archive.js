'use strict'
// The arrays of an .npz at a URL. Stored ones are read to where they belong; deflated ones are inflated as they come.

const ffi = require('../backend/calls')
const { countCopy } = require('../backend/storage')
const { dtypes } = require('../backend/dtypes')
const { inflateSome } = require('../runtime/host')
const { Tensor } = require('../tensor/tensor')
const { Inflation } = require('../files/inflate')
const {
  DEFLATED,
  membersOf,
  npzFile,
  packedBytes,
  memberEntry,
  memberTensor,
} = require('../files/npz')
const { receiverOf, wantedOfArray } = require('./remote-source')
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
    if (member.method === DEFLATED && member.bytes === null && inflateSome === null) {
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
              const { entry, how } = memberEntry(known, bytes, member, given)
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
    const { at, size } = await source.parsed((known) => packedBytes(known, member), signal, added)
    const inflation = new Inflation(source.known, member, signal)
    const write = (/** @type {any} */ piece) => inflation.add(piece)
    try {
      await source.loads.add(at, size, receiverOf(write, size, onProgress), signal)
      return await inflation.end()
    } finally {
      inflation.close()
    }
  })
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
