'use strict'
const { Buffer } = require('buffer')

module.exports = { Buffer, constants: { MAX_LENGTH: 2 ** 32 } }
