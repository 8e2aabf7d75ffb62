'use strict'
// What `npm test` leaves out, and what does not run beside others. Names are from test/ on; a file that is in no list runs
// on every back end, beside others. CI runs everything (node test/run.js --rest after npm test).

/** Left out on wasm and wasm-shared. */
const NATIVE_ONLY = []

/** Left out on wasm-shared: what differs from native there is the same as on wasm. */
const NOT_SHARED = []

/** Run when no other tests run. */
const ALONE = []

module.exports = { ALONE, NATIVE_ONLY, NOT_SHARED }
