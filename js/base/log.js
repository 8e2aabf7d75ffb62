'use strict'
// NODE_DEBUG=samebytes: lines for stderr. They are kept when something happens, which may be in the middle of a call, and written by
// a timer: programs may replace the functions that write.

const { debuglog, format } = require('node:util')
const { setInterval } = require('node:timers')
const { plain } = require('./errors')

const EVERY = 50 // ms
const MOST = 10_000 // lines that are kept: a program that never reaches the event loop should not fill the heap with them
const write = debuglog('samebytes')

/** Formats and values for util.format. @type {[string, unknown[]][]} */
let lines = []
let leftOut = 0

/**
 * @param {string} text
 * @param {unknown[]} values  strings and numbers
 */
function log(text, values) {
  if (lines.length < MOST) lines.push([text, values])
  else leftOut++
}

function flush() {
  const written = lines
  if (leftOut > 0) written[MOST] = ['%d more lines came too fast', [leftOut]]
  lines = []
  leftOut = 0
  try {
    for (const [text, values] of written) write('%s', plain(format(text, ...values)))
  } catch {} // functions that the program has put in place of stderr's may throw
}

setInterval(flush, EVERY).unref()
process.on('exit', flush)

module.exports = { log }
