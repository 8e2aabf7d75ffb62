'use strict'
// The package's version, which whoever shares memory has to have as well.

module.exports = { version: '0.1.0' }
