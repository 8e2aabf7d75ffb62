'use strict'

const WHAT = 'a Tensor (share(t) gives a token that can be posted)'
const symbol = Symbol(WHAT)

/** Has this engine's error room for the name of the symbol that it refused? Firefox has 36 characters for all of them. */
function isNamed() {
  if (typeof structuredClone !== 'function') return true // an AudioWorklet: take it as it is
  try {
    structuredClone(symbol)
  } catch (error) {
    return /** @type {Error} */ (error).message.length > WHAT.length
  }
  return false
}

/**
 * An object that refuses a clone by itself. Programs that walk it, as React in development walks props, see no properties: the getter that throws
 * is inside a Map, which a clone recognizes by what it is, although it lost the methods by which programs read one. JSON leaves it out.
 */
function refusing() {
  const refusal = {
    get tensor() {
      throw new globalThis.DOMException(`${WHAT} could not be cloned.`, 'DataCloneError')
    },
  }
  return Object.setPrototypeOf(
    new Map([[0, refusal]]),
    Object.create(Object.prototype, { toJSON: { value() {} } }),
  )
}

/** What each tensor has, so that no structured clone takes it: the error says what was to be cloned. @type {symbol | object} */
const UNCLONEABLE = isNamed() ? symbol : refusing()

module.exports = { UNCLONEABLE }
