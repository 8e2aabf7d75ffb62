'use strict'
module.exports = require('node-inspect-extracted') // Node's own inspect
