'use strict'
// Chooses the back end once. Everything above sees one interface and does not know which it is:
//
//   name               'native' or 'wasm'
//   tables             C's lists
//   frame              { f64, i64 }: the shared block, renewed where memory can move
//   call(row)          runs a row on the frame
//   text()             the last failure in words
//   allocate(n, zero)  a Storage of n bytes that this back end likes best
//   ...                see native.js and wasm.js, which name the same functions

const { failure } = require('./errors')

/** @returns {import('./native').Backend | import('./wasm').Backend} */
function choose () {
  const wanted = process.env.SAMEBYTES_BACKEND
  if (wanted === 'wasm') return require('./wasm').start()
  if (wanted !== undefined && wanted !== '' && wanted !== 'native') {
    throw failure('ERR_ARGUMENT', `SAMEBYTES_BACKEND is '${wanted}'; 'native' or 'wasm' was expected`)
  }
  const native = require('./native')
  try {
    return native.start()
  } catch (error) {
    if (wanted === 'native') throw error
    if (native.isExpected()) {
      process.emitWarning(`the native addon is missing, WASM is used instead: ${/** @type {Error} */ (error).message}`, 'SamebytesWarning')
    }
    return require('./wasm').start()
  }
}

module.exports = choose()
