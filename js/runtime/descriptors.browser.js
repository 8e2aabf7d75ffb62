'use strict'
// Pages have no files; what they load is a part of the bundle.

/** @template R @param {() => R} load @returns {R} */
const loaded = load => load()

module.exports = { retried: loaded, loaded }
