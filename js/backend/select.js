'use strict'
// Chooses the back end once, in Node. Everything above sees one interface and does not know which it is:
//
//   name               'native', 'wasm' or 'wasm-shared'
//   tables             C's lists
//   frame              { f64, i64, i32 }: the shared block, renewed where memory can move
//   call(row)          runs a row on the frame
//   text()             the last failure in words
//   allocate(n, zero)  a Storage of n bytes that this back end likes best
//   ...                see native.js and wasm.js, which name the same functions
//
// In the bundle for browsers backend.browser.js takes this file's place.

const { failure } = require('../base/errors')
const { warn, log } = require('../runtime/host')
const { compile } = require('../runtime/wasm-modules')

/** @returns {import('./native').Backend | import('./wasm').Backend} */
function choose () {
  const wanted = process.env.SAMEBYTES_BACKEND
  if (wanted === 'wasm') return chosen(startWasm(), 'SAMEBYTES_BACKEND asks for it')
  if (wanted === 'wasm-shared') return chosen(startShared(), 'SAMEBYTES_BACKEND asks for it')
  if (wanted !== undefined && wanted !== '' && wanted !== 'native') {
    throw failure('ERR_ARGUMENT', `SAMEBYTES_BACKEND is '${wanted}'; 'native', 'wasm' or 'wasm-shared' was expected`)
  }
  const native = require('./native')
  try {
    return chosen(native.start(), wanted === 'native' ? 'SAMEBYTES_BACKEND asks for it' : 'the addon could be loaded')
  } catch (error) {
    if (wanted === 'native') throw error
    if (native.isExpected()) warnOnce(`WASM is used instead of the native addon: ${/** @type {Error} */ (error).message}`)
    return chosen(startWasm(), 'no addon could be loaded')
  }
}

/**
 * @template B
 * @param {B & { name: string }} backend
 * @param {string} why
 * @returns {B}
 */
function chosen (backend, why) {
  log('back end %s: %s', backend.name, why)
  return backend
}

/** @param {string} text  which workers that this thread starts do not say again */
function warnOnce (text) {
  const { getEnvironmentData, setEnvironmentData } = require('node:worker_threads')
  const KEY = 'samebytes.warned'
  if (getEnvironmentData(KEY) === true) return
  setEnvironmentData(KEY, true)
  warn(text)
}

function startWasm () {
  const { start, newMemory } = require('./wasm')
  return start(compile('samebytes.wasm'), newMemory({}))
}

/** One memory for all threads that the first one starts, and those that they start. */
function startShared () {
  const { getEnvironmentData, setEnvironmentData, threadId } = require('node:worker_threads')
  const { start, newGroup } = require('./wasm-shared')
  const KEY = 'samebytes.memory'
  const found = /** @type {any} */ (getEnvironmentData(KEY))
  const group = found?.group ?? newGroup(compile('samebytes-shared.wasm'), {})
  const backend = start(group, { thread: threadId, parent: found?.parent ?? 0 })
  setEnvironmentData(KEY, { group, parent: threadId })
  endWithWorkers(backend)
  return backend
}

/**
 * What a worker's environment holds goes when its thread is gone, however it ended. The thread that started it does
 * that: a worker itself would give up the stack and bytes that it may still use, because nothing says which of
 * its `exit` listeners is the last one. Where that thread has not loaded the package, one above it has to end first.
 *
 * @param {import('./wasm-shared').SharedBackend} backend
 */
function endWithWorkers (backend) {
  process.on('worker', worker => {
    const { threadId } = worker
    worker.prependOnceListener('exit', () => { backend.endThread(threadId) })
  })
}

module.exports = choose()
