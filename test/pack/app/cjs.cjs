'use strict'
require('./body.cjs')(require('samebytes'), process.argv[2]).catch(error => {
  console.error(error)
  process.exitCode = 1
})
