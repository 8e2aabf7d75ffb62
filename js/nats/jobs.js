'use strict'
// Requests as a service receives them: what kind of tensors they have, and how their bytes come into a batch.

const { now } = require('../runtime/host')
const { Tensor } = require('../tensor/tensor')
const { axisOf, keyOf, nbytesOfValue, tensorsOf } = require('./batches')
const { HeaderBlock } = require('./headers')
const host = require('./host')
const { copyTo } = require('./host-content')
const messages = require('./messages')
const { answer, post, refuse } = require('./replies')

/** @typedef {import('./batches').Value} Value */
/** @typedef {import('./inbox').Core} Core */
/** What a batch needs to know of a tensor. @typedef {{ dtype: string, shape: readonly number[] }} Kind */
/** @typedef {{ replica: string, axis: number | null }} Terms axis: null, requests run one by one */

/**
 * A request of one message, until it is answered.
 *
 * @param {Core} core
 * @param {{ headers: Map<string, string>, data: Uint8Array, reply: string, exported: Value | null }} message  exported: of the caller's memory, null: the message has the bytes
 * @param {Terms} terms
 * @returns {import('./runs').Job}
 * @throws ERR_FORMAT a record that is none · ERR_TOO_LARGE
 */
function newJob(core, { headers, data, reply, exported }, { replica, axis }) {
  const method = headers.get('tensor-method') ?? ''
  const nbytes = exported === null ? data.length : nbytesOfValue(exported)
  const ms = Number(headers.get('tensor-deadline') ?? NaN)
  const expiresAt = Number.isNaN(ms) ? Infinity : now() + ms
  const isRecord = headers.has('tensor-format')
  /** bytes of the result that could not be sent @type {Record<string, string>} */
  let needed = {}

  /** @param {Value} [out] @returns {Value} the message's */
  const decoded = (out) => messages.decodeParts(headers, data, { maxBytes: core.maxBytes, out })

  /** of a record that may run with others, read now @type {Value | null} */
  const record = axis !== null && isRecord && exported === null ? decoded() : null
  /** @type {Record<string, Kind> | null} */
  let kinds = null
  if (axis !== null) {
    kinds = isRecord ? kindsOf(exported ?? record ?? {}) : kindsOfTensor(headers, nbytes)
  }

  /** @returns {Value | null} the reader's to dispose */
  const takeExported = () => {
    const taken = exported
    exported = null
    return taken
  }

  return {
    ...groupOf(method, kinds, isRecord, axis),
    method,
    nbytes,
    expiresAt,
    read: () => record ?? takeExported() ?? decoded(),
    readInto(out) {
      const taken = takeExported()
      if (taken === null) {
        for (const t of tensorsOf(record ?? {})) t.dispose()
        return decoded(out)
      }
      const targets = Tensor.isTensor(out) ? { '': out } : out // of the same kind
      const sources = Tensor.isTensor(taken) ? { '': taken } : taken
      for (const [name, t] of Object.entries(sources)) {
        copyTo(targets[name], t)
        t.dispose()
      }
      return out
    },
    succeed(result) {
      const written = host.put(headers, result)
      if (written !== null) {
        post(core, reply, undefined, new HeaderBlock(written, { 'Tensor-Replica': replica }))
        return false
      }
      try {
        return answer(core, reply, result, replica)
      } catch (/** @type {any} */ error) {
        if (error?.code === 'ERR_TOO_LARGE') needed = host.needed(headers, result)
        throw error
      }
    },
    fail(error) {
      this.expire()
      refuse(core, reply, error, replica, needed)
    },
    expire() {
      for (const t of [...tensorsOf(exported ?? {}), ...tensorsOf(record ?? {})]) t.dispose()
    },
  }
}

/**
 * Which requests it may run with.
 *
 * @param {string} method
 * @param {Record<string, Kind> | null} kinds
 * @param {boolean} isRecord
 * @param {number | null} axis
 * @returns {Pick<import('./runs').Job, 'key' | 'rows' | 'kinds'>}
 */
function groupOf(method, kinds, isRecord, axis) {
  const alone = { key: null, rows: 0, kinds: {} }
  if (axis === null || kinds === null) return alone
  const all = Object.entries(kinds)
  if (isRecord && all.length === 1 && all[0][0] === '') return alone // in a batch it would be a tensor without a name
  const extents = new Set(all.map(([, { shape }]) => shape[axisOf(axis, shape.length)]))
  const [rows] = extents
  if (extents.size !== 1 || rows === undefined) return alone
  const keys = all.map(([name, { dtype, shape }]) =>
    keyOf(method, name, dtype, shape, axisOf(axis, shape.length)),
  )
  return { key: keys.sort().join(), rows, kinds }
}

/** @param {Value} record @returns {Record<string, Kind>} */
const kindsOf = (record) =>
  Object.fromEntries(
    Object.entries(record).map(([name, { dtype, shape }]) => [name, { dtype, shape }]),
  )

/**
 * What a message says of its tensor; decoding says what is wrong with it otherwise.
 *
 * @param {Map<string, string>} headers
 * @param {number} nbytes
 * @returns {Record<string, Kind> | null} null: it does not fit its bytes
 */
function kindsOfTensor(headers, nbytes) {
  try {
    const { dtype, shape, nbytes: told } = messages.dtypeAndShape(headers)
    return told === nbytes ? { '': { dtype: dtype.name, shape } } : null
  } catch {
    return null
  }
}

module.exports = { newJob }
