'use strict'
// Limits end what hangs; no test may fail because the machine is busy. A limit in a test file says what a quiet machine surely needs:
// this many times as long ends it.
const PATIENCE = 10

/** Makes mocha's limits as patient. */
function makePatient ({ Runnable }) {
  const { timeout } = Runnable.prototype
  Runnable.prototype.timeout = function (...limit) {
    return limit.length === 0 ? this._timeout * PATIENCE : timeout.apply(this, limit)
  }
}

module.exports = { PATIENCE, makePatient }
