'use strict'

const { nodeOnly } = require('./node-only.browser')

const NAMES = ['create', 'open', 'unlink', 'list', 'sweep']
const SharedTensor = nodeOnly('SharedTensor', 'shared tensors', NAMES)

module.exports = { SharedTensor }
