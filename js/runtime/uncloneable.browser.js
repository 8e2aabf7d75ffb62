'use strict'

const { Object, clone } = require('../base/primordials')

const WHAT = 'a Tensor (share(t) gives a token that can be posted)'
const symbol = Symbol(WHAT)

/** Has this engine's error room for the name of the symbol that it refused? Firefox has 36 characters for all of them. */
function isNamed () {
  if (clone === undefined) return true // an AudioWorklet: take it as it is
  try {
    clone(symbol)
  } catch (error) {
    return /** @type {Error} */ (error).message.length > WHAT.length
  }
  return false
}

/** An object that refuses by itself when its properties are read, as a clone does; JSON leaves it out. */
const refusing = () => Object.create({ toJSON () {} }, {
  tensor: {
    enumerable: true,
    get () { throw new globalThis.DOMException(`${WHAT} could not be cloned.`, 'DataCloneError') }
  }
})

/** What each tensor has, so that no structured clone takes it: the error says what was to be cloned. @type {symbol | object} */
const UNCLONEABLE = isNamed() ? symbol : refusing()

module.exports = { UNCLONEABLE }
