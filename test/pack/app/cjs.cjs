'use strict'
require('./body.cjs')(require('samebytes'), require('samebytes/math'), process.argv[2]).catch(
  (error) => {
    console.error(error)
    process.exitCode = 1
  },
)
