'use strict'
// The environment can ask for notes on who makes tensors, before a program does.

/** SAMEBYTES_TRACE=1 asks for a report at the end of who made the tensors that are left; the map's server has its workers answer. */
function traceIfAsked () {
  const { SAMEBYTES_TRACE: asked } = process.env
  if (asked === undefined) return
  if (asked === '1') require('./report').start()
  else if (asked === `map:${process.pid}`) require('./public')
}

module.exports = { traceIfAsked }
