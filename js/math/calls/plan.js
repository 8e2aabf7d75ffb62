'use strict'
// What an asynchronous function has still to do. While it prepares that, calls of C are noted in its plan instead of being run (math/offload.js runs them).

const { claim } = require('../../backend/storage')

/** @typedef {InstanceType<typeof import('../../backend/layout').Layout>} Layout */

/**
 * How a call may be cut into pieces of its target.
 *
 * @typedef {object} Cut
 * @property {readonly number[] | null} whole  axes of the target that are not cut; null: none is, the call runs whole
 * @property {readonly number[] | null} follows  the target's axis that each axis of the one source follows, -1: a piece needs all of it; null: each
 *   source is broadcast to the target
 * @property {boolean} isHere  it runs functions of the core, so it stays on this thread
 */

/**
 * A call of C.
 *
 * @typedef {object} Call
 * @property {Layout} to
 * @property {readonly Layout[]} from
 * @property {readonly Layout[]} also  more targets, of a call that runs whole
 * @property {Cut} cut
 * @property {(to: Layout, from: readonly Layout[], also: readonly Layout[]) => void} run  calls C on the operands, on pieces of them, or on copies
 */

/** The cut of elementwise functions. @type {Cut} */
const ANYWHERE = { whole: [], follows: null, isHere: false }

/** The cut of what needs all of its operands. @type {Cut} */
const NOWHERE = { whole: null, follows: null, isHere: false }

/** @type {readonly Layout[]} */
const NOTHING = []

class Plan {
  /** @param {boolean} isFixed  results are over bytes that other threads may write */
  constructor(isFixed) {
    this.isFixed = isFixed
    /** in their order @type {Call[]} */
    this.calls = []
    /** layouts over new bytes @type {Layout[]} */
    this.made = []
  }

  /**
   * Notes a call, and claims its operands' storages.
   *
   * @param {Cut} cut
   * @param {Layout} to
   * @param {readonly Layout[]} from
   * @param {Call['run']} run
   * @param {readonly Layout[]} [also]
   */
  add(cut, to, from, run, also = NOTHING) {
    claim(to.storage)
    for (const { storage } of also) claim(storage)
    for (const { storage } of from) claim(storage)
    this.calls.push({ to, from, also, cut, run })
  }
}

/** @type {Plan | null} */
let current = null

/** @returns {Plan | null} that calls are noted in; null: they run at once */
const planned = () => current

/**
 * @template T
 * @param {Plan | null} plan
 * @param {() => T} fn  whose calls are noted in the plan
 * @returns {T}
 */
function within(plan, fn) {
  const before = current
  current = plan
  try {
    return fn()
  } finally {
    current = before
  }
}

/**
 * Runs what a plan can't wait for: the caller's code (getters of lists and options), and numbers that decide what is computed.
 *
 * @template T
 * @param {() => T} fn  whose calls run at once
 * @returns {T}
 */
const atOnce = (fn) => within(null, fn)

module.exports = { ANYWHERE, NOWHERE, Plan, planned, within, atOnce }
