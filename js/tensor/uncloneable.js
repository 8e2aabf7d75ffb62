'use strict'

/** What each tensor has, so that no structured clone takes it: the error says `Symbol(...) could not be cloned`. @type {symbol | object} */
const UNCLONEABLE = Symbol('a Tensor (share(t) gives a token that can be posted)')

module.exports = { UNCLONEABLE }
