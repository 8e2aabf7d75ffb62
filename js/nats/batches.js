'use strict'
// Requests that wait for a run, grouped into batches; and the rows of a batch. Knows nothing of NATS.

const { failure } = require('../base/errors')
const { empty } = require('../tensor/creation')
const { Tensor } = require('../tensor/tensor')

/** @typedef {import('../tensor/tensor').Tensor} AnyTensor */
/** One tensor, or several by name. @typedef {AnyTensor | Record<string, AnyTensor>} Value */

/**
 * What waits. Those with the same key run together; null: with no other.
 *
 * @typedef {object} Waiting
 * @property {string | null} key
 * @property {number} rows  extent along the batch's axis
 */

/**
 * Requests that will run together.
 *
 * @template {Waiting} R
 * @typedef {object} Requests
 * @property {string | null} key
 * @property {number} due  when it runs at the latest, in milliseconds of `now`
 * @property {number} rows
 * @property {boolean} isFull  it takes no more
 * @property {R[]} requests
 */

/**
 * Groups of waiting requests, in the order of their first ones.
 *
 * @template {Waiting} R
 */
class Batches {
  #limits
  /** @type {Requests<R>[]} */
  #groups = []
  /** groups that take more, by key @type {Map<string, Requests<R>>} */
  #open = new Map()
  #size = 0

  /** @param {{ max: number, wait: number }} limits  max: rows of a batch; wait: milliseconds that a batch waits to be full */
  constructor(limits) {
    this.#limits = limits
  }

  /** Requests that wait. */
  get size() {
    return this.#size
  }

  /** @param {R} request @param {number} now  milliseconds */
  add(request, now) {
    const { key, rows } = request
    let group = key === null ? undefined : this.#open.get(key)
    if (group !== undefined && group.rows + rows > this.#limits.max) {
      this.#close(group)
      group = undefined
    }
    if (group === undefined) {
      group = { key, due: now + this.#limits.wait, rows: 0, isFull: key === null, requests: [] }
      this.#groups.push(group)
      if (key !== null) this.#open.set(key, group)
    }
    group.requests.push(request)
    group.rows += rows
    this.#size++
    if (group.rows >= this.#limits.max) this.#close(group)
  }

  /** @param {Requests<R>} group */
  #close(group) {
    group.isFull = true
    if (group.key !== null && this.#open.get(group.key) === group) this.#open.delete(group.key)
  }

  /**
   * Takes the first group that is full or has waited long enough.
   *
   * @param {number} now  Infinity: none waits any longer
   * @returns {R[] | null}
   */
  take(now) {
    const i = this.#groups.findIndex((group) => group.isFull || group.due <= now)
    if (i < 0) return null
    const [group] = this.#groups.splice(i, 1)
    this.#close(group)
    this.#size -= group.requests.length
    return group.requests
  }

  /** When `take` has a group. @returns {number} Infinity: nothing waits */
  get due() {
    return this.#groups.reduce(
      (due, group) => Math.min(due, group.isFull ? -Infinity : group.due),
      Infinity,
    )
  }
}

/**
 * The key of requests that may run together: what is equal in all of them.
 *
 * @param {string} method
 * @param {string} name  of the tensor in a record; '': it is alone
 * @param {string} dtype
 * @param {readonly number[]} shape
 * @param {number} axis
 */
const keyOf = (method, name, dtype, shape, axis) =>
  JSON.stringify([method, name, dtype, shape.map((n, d) => (d === axis ? -1 : n))])

/** @param {number} axis @param {number} ndim @returns {number} from 0; -1: there is no such axis */
function axisOf(axis, ndim) {
  const from = axis < 0 ? axis + ndim : axis
  return from >= 0 && from < ndim ? from : -1
}

/**
 * Memory for a batch.
 *
 * @param {any} dtype
 * @param {readonly number[]} shape  of one of its requests
 * @param {number} axis
 * @param {number} rows  of all
 * @returns {AnyTensor} not initialised
 */
const batchFor = (dtype, shape, axis, rows) => empty(shape.with(axis, rows), { dtype })

/**
 * Views of a request's rows in a result.
 *
 * @param {Value} result
 * @param {number} axis
 * @param {number} at
 * @param {number} rows
 * @returns {Value}
 */
const rowsOf = (result, axis, at, rows) => mapTensors(result, (t) => t.narrow(axis, at, rows))

/**
 * @param {Value} value
 * @param {(t: AnyTensor, name: string) => AnyTensor} fn
 * @returns {Value}
 */
function mapTensors(value, fn) {
  if (Tensor.isTensor(value)) return fn(value, '')
  return Object.fromEntries(Object.entries(value).map(([name, t]) => [name, fn(t, name)]))
}

/** @param {Value} value @returns {AnyTensor[]} */
const tensorsOf = (value) => (Tensor.isTensor(value) ? [value] : Object.values(value))

/** @param {Value} value */
const nbytesOfValue = (value) => tensorsOf(value).reduce((n, t) => n + t.nbytes, 0)

/**
 * @param {any} value
 * @returns {value is Value} a tensor, or a plain object with at least one and nothing else?
 */
function isValue(value) {
  if (Tensor.isTensor(value)) return true
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const all = Object.values(value)
  return all.length > 0 && all.every((t) => Tensor.isTensor(t))
}

/**
 * @param {any} value
 * @returns {any} of a record a copy, which has no getters and which nobody changes; anything else itself
 */
const ownValue = (value) =>
  value === null || typeof value !== 'object' || Array.isArray(value) || Tensor.isTensor(value)
    ? value
    : Object.fromEntries(Object.entries(value))

/**
 * Checks what a run gave.
 *
 * @param {unknown} result
 * @param {number} axis
 * @param {number} rows  that it must have along the axis; -1: any number
 * @returns {Value}
 * @throws ERR_ARGUMENT it is no tensor and no record of tensors · ERR_SHAPE
 */
function checkResult(result, axis, rows) {
  if (!isValue(result)) {
    throw failure('ERR_ARGUMENT', 'the function returned neither a tensor nor a record of tensors')
  }
  for (const t of rows < 0 ? [] : tensorsOf(result)) {
    const extent = t.shape[axisOf(axis, t.ndim)]
    if (extent !== rows) {
      throw failure(
        'ERR_SHAPE',
        `the function returned a tensor of shape [${t.shape.join(', ')}] for a batch of ${rows} rows along axis ${axis}`,
      )
    }
  }
  return result
}

module.exports = {
  Batches,
  keyOf,
  axisOf,
  batchFor,
  rowsOf,
  mapTensors,
  tensorsOf,
  nbytesOfValue,
  isValue,
  ownValue,
  checkResult,
}
