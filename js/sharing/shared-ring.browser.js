'use strict'

const { nodeOnly } = require('./node-only.browser')

const SharedRing = nodeOnly('SharedRing', 'rings', ['create', 'open', 'unlink'])

module.exports = { SharedRing }
