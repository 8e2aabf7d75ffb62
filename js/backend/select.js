'use strict'
// Chooses the back end, once. All above use one interface:
//
//   name               'native', 'wasm' or 'wasm-shared'
//   tables             C's lists
//   abilities          what this system offers, as the addon's abilities(); nothing on WASM
//   frame              { f64, i64, i32 }: the call buffer, over new typed arrays when WASM memory grew
//   call(opcode)       calls C, which reads and writes the call buffer
//   text()             the last error's message
//   allocate(n)        a Storage of n bytes
//   ...                native.js and wasm.js have the same methods
//
// In the bundle for browsers select.browser.js takes this file's place.

const { failure, plain } = require('../base/errors')
const { warn, log } = require('../runtime/host')

/** @returns {import('./native').Backend | import('./wasm').Backend} */
function choose() {
  const wanted = process.env.SAMEBYTES_BACKEND
  if (wanted === 'wasm') return chosen(startWasm(), 'SAMEBYTES_BACKEND asks for it')
  if (wanted === 'wasm-shared') return chosen(startShared(), 'SAMEBYTES_BACKEND asks for it')
  if (wanted !== undefined && wanted !== '' && wanted !== 'native') {
    throw failure(
      'ERR_ARGUMENT',
      `SAMEBYTES_BACKEND is '${wanted}'; 'native', 'wasm' or 'wasm-shared' was expected`,
    )
  }
  const native = require('./native')
  if (wanted !== 'native' && !native.isDefault()) {
    const wasm = startWasm()
    if (native.isExpected()) wasm.hint = '; SAMEBYTES_BACKEND=native turns it on'
    return chosen(
      wasm,
      'the addon has not passed its suite on this system, SAMEBYTES_BACKEND=native asks for it',
    )
  }
  try {
    return chosen(
      withLevel(native.start()),
      wanted === 'native' ? 'SAMEBYTES_BACKEND asks for it' : 'the addon could be loaded',
    )
  } catch (error) {
    if (wanted === 'native') throw error
    if (native.isExpected()) {
      warnOnce(`WASM is used instead of the native addon: ${/** @type {Error} */ (error).message}`)
    }
    return chosen(startWasm(), 'no addon could be loaded')
  }
}

/**
 * @template B
 * @param {B & { name: string }} backend
 * @param {string} why
 * @returns {B}
 */
function chosen(backend, why) {
  log('back end %s: %s', backend.name, why)
  return backend
}

/**
 * Warns where SAMEBYTES_ISA names another level than the one in use.
 *
 * @param {import('./native').Backend} native
 */
function withLevel(native) {
  const wanted = process.env.SAMEBYTES_ISA
  if (wanted) {
    const [level] = /** @type {any} */ (native).addon.about()
    if (wanted !== level) {
      warnOnce(
        `SAMEBYTES_ISA is '${plain(wanted)}', which is no instruction set of this processor and build; ${level} is used`,
        'samebytes.warned.isa',
      )
    }
  }
  return native
}

/** Warns, but not again in workers that this thread starts. @param {string} text @param {string} [KEY]  of what was said */
function warnOnce(text, KEY = 'samebytes.warned') {
  const { getEnvironmentData, setEnvironmentData } = require('node:worker_threads')
  if (getEnvironmentData(KEY) === true) return
  setEnvironmentData(KEY, true)
  warn(text)
}

function startWasm() {
  const { compile } = require('../runtime/wasm-modules')
  const { start, newMemory } = require('./wasm')
  return start(compile('samebytes.wasm'), newMemory({}))
}

/** One memory for the first thread, those that it starts, and those that they start. */
function startShared() {
  const { getEnvironmentData, setEnvironmentData, threadId } = require('node:worker_threads')
  const { compile } = require('../runtime/wasm-modules')
  const { start, newGroup } = require('./wasm-shared')
  const KEY = 'samebytes.memory'
  const found = /** @type {any} */ (getEnvironmentData(KEY))
  const group = found?.group ?? newGroup(compile('samebytes-shared.wasm'))
  const backend = start(group, { thread: threadId, parent: found?.parent ?? 0 })
  setEnvironmentData(KEY, { group, parent: threadId })
  // Frees what a worker's environment holds when its thread is gone, however it ended. The thread that started it does that: a worker
  // would free the stack and bytes that its own later `exit` listeners use. If that thread has not loaded the package, one above it
  // that has does it at its own end.
  process.on('worker', (worker) => {
    const { threadId: ended } = worker
    worker.prependOnceListener('exit', () => backend.endThread(ended))
  })
  return backend
}

module.exports = choose()
