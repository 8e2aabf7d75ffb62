'use strict'
// How results are reported, in Node and in pages.

const titleOf = test => test.titlePath().join(' › ')

function describeError (error) {
  if (!(error instanceof Error)) return `thrown: ${String(error)}`
  let text = error.stack || String(error)
  if (error.code && !text.includes(error.code)) text = `${error.code} ${text}`
  if (error.cause) text += `\ncause: ${error.cause?.stack || error.cause}`
  return text
}

module.exports = { titleOf, describeError }
