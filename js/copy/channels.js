'use strict'
// Sound as Web Audio has it: an array of samples for each channel. Each one is copied into its row of the target, so that
// no channel is put into a temporary first.

const { arrayEvery, arrayJoin, arrayMap, arraySome } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show } = require('../base/validate')
const { dtypeOfArray, partsOfArray, partsOfLive } = require('../base/buffers')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { layoutOver, part, scalingOfPart } = require('../layout/layouts')
const { copyElements } = require('./results')

const { rows } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {Omit<import('../backend/calls').Copy, 'src'>} CopyOfAny */
/** @typedef {{ arrays: ArrayBufferView[], count: number, length: number, isAudio: boolean }} Channels  length: of each, where they are an AudioBuffer's */

/**
 * The copy of each row. All is checked here: no row is written where another one cannot be.
 *
 * @param {CopyOfAny} copy
 * @param {Channels} channels
 * @returns {import('../backend/calls').Copy[] | null} null: a list that is to be read value by value
 */
function copiesOfRows ({ dst, scaling, casting }, { arrays, count, length, isAudio }) {
  if (isAudio) checkAudio(arrays, count, length, dst.shape)
  else if (!areRows(arrays, dst)) return null
  const extents = [1, dst.shape[1]]
  const sources = arrayMap(arrays, array => layoutOver(array, dtypeOf(dtypeOfArray(array)).index, extents))
  // Of a list, a row that is written may be one that is yet to be read.
  if (!isAudio && arraySome(sources, src => ffi.sharesMemory(dst, src))) return null
  ffi.checkCopy({ dst, src: ffi.viewByList(rows.broadcast_to, sources[0], dst.shape), scaling, casting })
  return arrayMap(sources, (src, c) => {
    const start = [c, 0]
    return { dst: part(dst, start, extents), src, scaling: scaling && scalingOfPart(scaling, start, extents), casting }
  })
}

/**
 * @param {ArrayBufferView[]} arrays
 * @param {number} count  that there are
 * @param {number} length
 * @param {number[]} shape
 */
function checkAudio (arrays, count, length, shape) {
  if (shape.length !== 2 || shape[0] !== arrays.length || shape[1] !== length) {
    throw failure('ERR_SHAPE', `the AudioBuffer has ${show(count)} channels of ${show(length)} frames; the target has shape [${arrayJoin(shape)}]: (channels, frames) was expected, and T shows (frames, channels) so`)
  }
  for (let i = 0; i < arrays.length; i++) if (partsOfArray(arrays[i]).length !== length) throw failure('ERR_DETACHED', `channel ${i} of the AudioBuffer was transferred away`)
}

/**
 * @param {unknown[]} arrays
 * @param {Layout} target
 */
function areRows (arrays, { dtype, shape }) {
  const { name } = dtypes[dtype]
  return shape.length === 2 && shape[0] === arrays.length && shape[1] > 0 &&
    arrayEvery(arrays, array => dtypeOfArray(array) === name && partsOfLive(array, 'a row of src').length === shape[1])
}

/**
 * @param {CopyOfAny} copy
 * @param {Channels} channels
 * @returns {boolean} whether they could be copied as rows
 */
function copyRows (copy, channels) {
  const copies = copiesOfRows(copy, channels)
  if (copies === null) return false
  for (let i = 0; i < copies.length; i++) {
    const { dst, src, scaling, casting } = copies[i]
    copyElements(dst, src, scaling, casting)
  }
  return true
}

module.exports = { copiesOfRows, copyRows }
