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

/** A request of one message, until it is answered. */
class MessageJob {
  #core
  #data
  #reply
  #headers
  #terms
  /** bytes of the result that could not be sent @type {Record<string, string>} */
  #needed = {}
  /** over the caller's memory; null: the message has the bytes @type {Value | null} */
  #exported
  /** of a record, read when it came @type {Record<string, import('../tensor/tensor').Tensor> | null} */
  #record = null
  /** @type {Record<string, Kind>} */
  kinds = {}

  /**
   * @param {Core} core
   * @param {{ headers: Map<string, string>, data: Uint8Array, reply: string, exported?: Value | null }} message  exported: of the caller's memory
   * @param {Terms} terms
   * @throws ERR_FORMAT a record that is none · ERR_TOO_LARGE
   */
  constructor(core, { headers, data, reply, exported = null }, terms) {
    this.#core = core
    this.#data = data
    this.#reply = reply
    this.#headers = headers
    this.#terms = terms
    this.#exported = exported
    this.method = headers.get('tensor-method') ?? ''
    this.nbytes = exported === null ? data.length : nbytesOfValue(exported)
    const ms = Number(headers.get('tensor-deadline') ?? NaN)
    /** milliseconds of `now` */
    this.expiresAt = Number.isNaN(ms) ? Infinity : now() + ms
    /** @type {string | null} */
    this.key = null
    this.rows = 0
    if (terms.axis !== null) this.#sort(terms.axis)
  }

  /** Finds out which requests it may run with. @param {number} axis */
  #sort(axis) {
    const isRecord = this.#headers.has('tensor-format')
    if (isRecord && this.#exported === null) this.#record = /** @type {any} */ (this.#decoded())
    const kinds = isRecord
      ? kindsOfRecord(/** @type {any} */ (this.#exported ?? this.#record))
      : kindsOfTensor(this.#headers, this.nbytes)
    if (kinds === null) return
    const all = Object.entries(kinds)
    if (isRecord && all.length === 1 && all[0][0] === '') return // in a batch it would be a tensor without a name
    const extents = new Set(all.map(([, { shape }]) => shape[axisOf(axis, shape.length)]))
    const [rows] = extents
    if (extents.size !== 1 || rows === undefined) return
    this.kinds = kinds
    this.rows = rows
    this.key = all
      .map(([name, { dtype, shape }]) =>
        keyOf(this.method, name, dtype, shape, axisOf(axis, shape.length)),
      )
      .sort()
      .join()
  }

  /** @param {Value} [out] @returns {Value} the message's */
  #decoded(out) {
    return messages.decodeParts(this.#headers, this.#data, { maxBytes: this.#core.maxBytes, out })
  }

  /** @returns {Value} */
  read() {
    return this.#record ?? this.#takeExported() ?? this.#decoded()
  }

  /** @param {Value} out @returns {Value} */
  readInto(out) {
    const exported = this.#takeExported()
    if (exported === null) {
      for (const t of tensorsOf(this.#record ?? {})) t.dispose()
      return this.#decoded(out)
    }
    const targets = Tensor.isTensor(out) ? { '': out } : out // of the same kind
    const sources = Tensor.isTensor(exported) ? { '': exported } : exported
    for (const [name, t] of Object.entries(sources)) {
      copyTo(targets[name], t)
      t.dispose()
    }
    return out
  }

  /** @returns {Value | null} the reader's to dispose */
  #takeExported() {
    const exported = this.#exported
    this.#exported = null
    return exported
  }

  /** @param {Value} result @returns {boolean} */
  succeed(result) {
    const written = host.put(this.#headers, result)
    if (written !== null) {
      post(
        this.#core,
        this.#reply,
        undefined,
        new HeaderBlock(written, { 'Tensor-Replica': this.#terms.replica }),
      )
      return false
    }
    try {
      return answer(this.#core, this.#reply, result, this.#terms.replica)
    } catch (/** @type {any} */ error) {
      if (error?.code === 'ERR_TOO_LARGE') this.#needed = host.needed(this.#headers, result)
      throw error
    }
  }

  /** @param {{ code?: unknown, message: string }} error */
  fail(error) {
    this.expire()
    refuse(this.#core, this.#reply, error, this.#terms.replica, this.#needed)
  }

  /** Nobody waits for it, or it has failed: releases what was not read. */
  expire() {
    for (const t of [...tensorsOf(this.#exported ?? {}), ...tensorsOf(this.#record ?? {})]) {
      t.dispose()
    }
  }
}

/** @param {Record<string, import('../tensor/tensor').Tensor>} record @returns {Record<string, Kind>} */
const kindsOfRecord = (record) =>
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

module.exports = { MessageJob }
