'use strict'
// What autostart.js does in Node: a page has no environment that could ask.

module.exports = { traceIfAsked () {} }
