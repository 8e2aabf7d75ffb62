'use strict'
// The environment variable SAMEBYTES_TRACE starts tracing before the program runs.

/** 1: a report at exit of the tensors that are left. `map:` and this process: the map's server set it, so that workers send their maps. */
function traceIfAsked() {
  const { SAMEBYTES_TRACE: asked } = process.env
  if (asked === undefined) return
  if (asked === '1') require('./report').start()
  else if (asked === `map:${process.pid}`) require('./public')
}

module.exports = { traceIfAsked }
