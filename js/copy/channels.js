'use strict'
// AudioBuffers and lists of typed arrays: one array per row of the target. Each is copied straight into its row.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { dtypeOfArray, partsOfArray, partsOfLive } = require('../base/buffers')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { layoutOver, subLayout, scalingOfPart } = require('../layout/layouts')
const { copyElements } = require('./results')

const { opcodes } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {Omit<import('../backend/calls').Copy, 'src'>} CopyOfAny */
/** @typedef {{ arrays: ArrayBufferView[], count: number, length: number, isAudio: boolean }} Channels  length: frames of an AudioBuffer, else 0 */

/**
 * Makes one copy per row. Checks all of them first, so that a wrong row leaves the target unwritten.
 *
 * @param {CopyOfAny} copy
 * @param {Channels} channels
 * @returns {import('../backend/calls').Copy[] | null} null: a list that must be read value by value
 */
function copiesOfRows({ dst, scaling, casting }, { arrays, count, length, isAudio }) {
  const { shape } = dst
  if (isAudio) {
    if (shape.length !== 2 || shape[0] !== arrays.length || shape[1] !== length) {
      throw failure(
        'ERR_SHAPE',
        `the AudioBuffer has ${show(count)} channels of ${show(length)} frames; the target has shape [${shape.join(', ')}]: (channels, frames) was expected, and T shows (frames, channels) so`,
      )
    }
    arrays.forEach((array, i) => {
      if (partsOfArray(array).length !== length) {
        throw failure('ERR_DETACHED', `channel ${i} of the AudioBuffer was transferred away`)
      }
    })
  } else if (!areRows(arrays, dst)) return null
  const extents = [1, dst.shape[1]]
  const sources = arrays.map((array) =>
    layoutOver(array, dtypeOf(dtypeOfArray(array)).index, extents),
  )
  // Writing one row of the target may overwrite a later row of a list.
  if (!isAudio && sources.some((src) => ffi.sharesMemory(dst, src))) return null
  ffi.checkCopy({
    dst,
    src: ffi.viewByList(opcodes.broadcast_to, sources[0], dst.shape),
    scaling,
    casting,
  })
  return sources.map((src, c) => {
    const start = [c, 0]
    return {
      dst: subLayout(dst, start, extents),
      src,
      scaling: scaling && scalingOfPart(scaling, start, extents),
      casting,
    }
  })
}

/**
 * @param {unknown[]} arrays
 * @param {Layout} target
 */
function areRows(arrays, { dtype, shape }) {
  const { name } = dtypes[dtype]
  return (
    shape.length === 2 &&
    shape[0] === arrays.length &&
    shape[1] > 0 &&
    arrays.every(
      (array) =>
        dtypeOfArray(array) === name && partsOfLive(array, 'a row of src').length === shape[1],
    )
  )
}

/**
 * @param {CopyOfAny} copy
 * @param {Channels} channels
 * @returns {boolean} false: not rows, nothing was copied
 */
function copyRows(copy, channels) {
  const copies = copiesOfRows(copy, channels)
  if (copies === null) return false
  for (const { dst, src, scaling, casting } of copies) copyElements(dst, src, scaling, casting)
  return true
}

module.exports = { copiesOfRows, copyRows }
