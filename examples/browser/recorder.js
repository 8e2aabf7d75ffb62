'use strict'
// Runs in the audio thread, which hands over 128 samples at a time.
/* global AudioWorkletProcessor, registerProcessor */

const BATCH = 512 // samples between two messages

class Recorder extends AudioWorkletProcessor {
  /** @param {{ processorOptions: { buffer?: SharedArrayBuffer, byteOffset: number, length: number, at: number } }} options */
  constructor({ processorOptions: { buffer, byteOffset, length, at } }) {
    super()
    this.at = at
    // Shared memory that grows leaves its old buffers valid, over the same bytes.
    this.samples = buffer && new Float32Array(buffer, byteOffset, length)
    this.chunk = new Float32Array(BATCH)
    this.filled = 0
  }

  process([[input]]) {
    if (input === undefined) return true
    if (this.samples) this.write(input)
    else this.chunk.set(input, this.filled)
    this.filled += input.length
    if (this.filled === BATCH) this.tell()
    return true
  }

  write(input) {
    const room = Math.max(0, this.samples.length - this.at)
    this.samples.set(
      input.length > room ? input.subarray(0, room) : input,
      this.samples.length - room,
    )
    this.at += Math.min(room, input.length)
  }

  tell() {
    if (this.samples) {
      this.port.postMessage({ at: this.at }) // only how far it is
    } else {
      this.port.postMessage({ at: this.at, chunk: this.chunk })
      this.at += BATCH
    }
    this.filled = 0
  }
}

registerProcessor('recorder', Recorder)
