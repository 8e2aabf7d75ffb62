'use strict'
// JavaScript's values and objects are in the runtime's heap, which is small beside the memory of tensors, and V8 ends the process when
// it is full. So the size of what may be large is computed before it is made.

const { failure } = require('../base/errors')
const { heapAvailable } = require('./host')

const FEW = 2 ** 20 // bytes below which no check is made: one takes a microsecond or two
const UNTOLD = 2 ** 31 // bytes of room, where the runtime does not tell

// Bytes of V8's objects, at most: with compressed pointers they are smaller.
const LIST = 48 // an array without its entries
const ENTRY = 8 // of an array
const NUMBER = 16 // unless it is a small integer
const BIGINT = 24 // of 64 bits
const PAIR = LIST + 2 * ENTRY // of numbers
const TEXT = 48 // of a 64-bit integer in decimal
const TENSOR = 304 // with its layout, shape and strides, without their entries

/**
 * @param {number} nbytes  that objects will have
 * @param {() => string} what  the objects, and how to do without, for the message
 * @throws {RangeError} ERR_MEMORY there is no room for them
 */
function checkHeap(nbytes, what) {
  if (nbytes <= FEW) return
  const available = heapAvailable(nbytes) ?? UNTOLD
  if (nbytes > available) {
    throw failure(
      'ERR_MEMORY',
      `${nbytes} bytes of the runtime's heap are needed and ${available} are available: ${what()}`,
    )
  }
}

module.exports = { checkHeap, LIST, ENTRY, NUMBER, BIGINT, PAIR, TEXT, TENSOR }
