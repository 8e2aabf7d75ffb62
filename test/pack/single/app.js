'use strict'
// A single executable application, told where the package is: JavaScript 'inside' the bundle and the rest in node_modules beside the
// executable, all of it 'beside', or JavaScript inside and the addons as assets ('alone').

const { createRequire } = require('node:module')
const [, , where, backend] = process.argv

if (where === 'alone') require('./alone.js')
const beside = createRequire(__filename)
const [samebytes, math] =
  where === 'beside'
    ? [beside('samebytes'), beside('samebytes/math')]
    : [require('samebytes'), require('samebytes/math')]
require('./body.cjs')(samebytes, math, backend).catch((error) => {
  console.error(error)
  process.exitCode = 1
})
