'use strict'
// What is made of JavaScript's values and objects lies in the runtime's heap, which is small beside the memory of tensors.
// V8 ends the process where it is full, so what may be large is counted before it is made.

const { failure } = require('../base/errors')
const { heapRoom } = require('./host')

const FEW = 2 ** 20 // bytes that nobody asks for: asking takes a microsecond or two
const UNTOLD = 2 ** 31 // bytes, where the runtime does not tell

// Bytes of V8's objects, at most: where pointers are compressed they are smaller.
const LIST = 48 // an array without its entries
const ENTRY = 8 // of an array
const NUMBER = 16 // that is no small integer
const BIGINT = 24 // of 64 bits
const PAIR = LIST + 2 * ENTRY // of numbers
const TEXT = 48 // of a 64-bit integer in decimal
const TENSOR = 288 // with its layout, shape and strides, but for their entries

/**
 * @param {number} nbytes  that objects will have
 * @param {() => string} what  the objects and the way around them, for the message
 * @throws {RangeError} ERR_MEMORY there is no room for them
 */
function checkHeap (nbytes, what) {
  if (nbytes <= FEW) return
  const room = heapRoom(nbytes) ?? UNTOLD
  if (nbytes > room) throw failure('ERR_MEMORY', `${nbytes} bytes of the runtime's heap are needed and ${room} are available: ${what()}`)
}

module.exports = { checkHeap, LIST, ENTRY, NUMBER, BIGINT, PAIR, TEXT, TENSOR }
