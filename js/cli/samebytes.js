#!/usr/bin/env node
'use strict'
// The program `samebytes`.

const { main } = require('./main')

main(process.argv.slice(2)).then((status) => {
  if (status) process.exitCode = status
})
