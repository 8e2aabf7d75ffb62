'use strict'
module.exports = { async testInit () {} }
