'use strict'
// What NODE_DEBUG=samebytes writes to stderr. Lines are noted where something happens, which may be in the middle of a call,
// and written when no call runs: a program may replace what writes them.

const { debuglog, format } = require('node:util')
const { setInterval } = require('node:timers')
const { newList } = require('./primordials')
const { plain } = require('./escape')

const EVERY = 50 // ms
const MOST = 10_000 // lines that wait: a program that never gives the event loop a turn does not fill the heap with them
const write = debuglog('samebytes')

/** texts as util.format takes them, and their values @type {[string, unknown[]][]} */
let lines = newList()
let leftOut = 0

/**
 * @param {string} text
 * @param {unknown[]} values  strings and numbers
 */
function log (text, values) {
  if (lines.length < MOST) lines[lines.length] = [text, values]
  else leftOut++
}

function flush () {
  const written = lines
  if (leftOut > 0) written[MOST] = ['%d more lines came too fast', [leftOut]]
  lines = newList()
  leftOut = 0
  try {
    for (let i = 0; i < written.length; i++) write('%s', plain(format(written[i][0], ...written[i][1])))
  } catch {} // what the program put in the place of stderr's functions threw
}

setInterval(flush, EVERY).unref()
process.on('exit', flush)

module.exports = { log }
