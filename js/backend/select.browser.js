'use strict'
// The back end in browsers: the one that init has made ready.

const { engineOfPage } = require('./init.browser')

module.exports = engineOfPage()
