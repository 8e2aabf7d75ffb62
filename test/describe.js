'use strict'
// How results are reported, in Node and in pages.

const titleOf = (test) => test.titlePath().join(' › ')

/** What test/setup.js's skip noted for the test or a suite around it. */
function reasonOf(test) {
  for (let at = test; at; at = at.parent) if (at.skipReason) return at.skipReason
  return 'no reason was given'
}

function describeError(error) {
  if (!(error instanceof Error)) return `thrown: ${String(error)}`
  let text = error.stack || String(error)
  if (!text.includes(error.message)) text = `${error}\n${text}` // only V8 has the message there
  if (error.code && !text.includes(error.code)) text = `${error.code} ${text}`
  if (error.cause) text += `\ncause: ${error.cause?.stack || error.cause}`
  return text
}

module.exports = { titleOf, reasonOf, describeError }
