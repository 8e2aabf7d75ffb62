'use strict'
// Giving memory back at once that only we have: a collection would come to it much later.

/** below it, a collection costs less */
const WORTH_IT = 2 ** 16

/** a closed port: what is transferred to it goes nowhere, and its memory is freed @type {MessagePort | undefined} */
let nowhere

/**
 * Onnxruntime-node copies what it wrote into the caller's tensor once more, into its result, which nobody will see.
 *
 * @param {{ data: any }} result  of onnxruntime's
 * @param {ArrayBufferLike | null} buffer  the caller's
 */
function discard (result, buffer) {
  const { data } = result
  const bytes = data?.buffer
  if (!(bytes instanceof ArrayBuffer) || bytes === buffer || bytes.byteLength < WORTH_IT || data.byteLength !== bytes.byteLength) return
  if (typeof (/** @type {any} */ (bytes).transfer) === 'function') {
    /** @type {any} */ (bytes).transfer(0)
    return
  }
  if (typeof MessageChannel !== 'function') return
  if (nowhere === undefined) {
    const { port1, port2 } = new MessageChannel()
    port2.close()
    port1.close()
    nowhere = port1
  }
  nowhere.postMessage(null, [bytes])
}

module.exports = { discard }
