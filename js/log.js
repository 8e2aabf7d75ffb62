'use strict'
// What NODE_DEBUG=samebytes writes to stderr. Read when there is something to write: host.js knows whether anybody asked.

const { debuglog, format } = require('node:util')
const { plain } = require('./plain')

const write = debuglog('samebytes')

/**
 * @param {string} text  as util.format takes it
 * @param {unknown[]} values
 */
function log (text, values) {
  write('%s', plain(format(text, ...values)))
}

module.exports = { log }
