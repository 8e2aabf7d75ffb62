'use strict'
// Frees onnxruntime's surplus result buffers at once, instead of at the next garbage collection.

/** smaller buffers are cheaper to leave to the garbage collector */
const LEAST_BYTES = 2 ** 16

/** a closed port: buffers that are transferred to it are freed @type {MessagePort | undefined} */
let nowhere

/**
 * Frees a result's buffer. onnxruntime-node writes into the caller's tensor and then copies that into a result, which nobody
 * uses.
 *
 * @param {{ data: any }} result  onnxruntime's
 * @param {ArrayBufferLike | null} buffer  the caller's, which must not be freed
 */
function discard(result, buffer) {
  const { data } = result
  const bytes = data?.buffer
  if (
    !(bytes instanceof ArrayBuffer) ||
    bytes === buffer ||
    bytes.byteLength < LEAST_BYTES ||
    data.byteLength !== bytes.byteLength
  ) {
    return
  }
  if (typeof (/** @type {any} */ (bytes).transfer) === 'function') {
    ;/** @type {any} */ (bytes).transfer(0)
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
