'use strict'
// Limits end what hangs; no test may fail because the machine is busy. A limit in a test file says what a quiet machine surely needs:
// this many times as long ends it.
const PATIENCE = 10

/**
 * Makes mocha's limits as patient.
 *
 * @param {typeof import('mocha')} mocha
 * @param {(limit: number) => void} changed  what a test that runs sets its limit to, in ms
 */
function makePatient ({ Context, Runnable }, changed) {
  const { timeout } = Runnable.prototype
  Runnable.prototype.timeout = function (...limit) {
    return limit.length === 0 ? this._timeout * PATIENCE : timeout.apply(this, limit)
  }
  const { timeout: ofContext } = Context.prototype
  Context.prototype.timeout = function (...limit) {
    if (limit.length > 0) changed(limit[0])
    return ofContext.apply(this, limit)
  }
}

module.exports = { PATIENCE, makePatient }
