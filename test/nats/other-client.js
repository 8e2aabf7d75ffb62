'use strict'
// Preloaded by NODE_OPTIONS=--require=…: NATS' packages come from the folder that SAMEBYTES_NATS_CLIENT names, in all processes and workers of a test.

const Module = require('node:module')

const folder = process.env.SAMEBYTES_NATS_CLIENT
const resolve = Module._resolveFilename
Module._resolveFilename = function (request, parent, isMain, options) {
  const isElsewhere = request.startsWith('@nats-io/') && !parent?.filename?.startsWith(folder) // packages find their own beside them
  return resolve.call(this, request, parent, isMain, isElsewhere ? { paths: [folder] } : options)
}
