'use strict'
// The two segments of a SharedRing: frames, and control words beside them.

const { failure } = require('../base/errors')
const { lazyFile } = require('../runtime/lazy')
const { show } = require('../base/validate')
const { dtypeOf } = require('../backend/dtypes')
const { denseLayout } = require('../layout/layouts')
const { Tensor: TensorClass } = require('../tensor/tensor')
const { SharedTensor, newShared, openOwned, unless, codeOf } = require('./shared-tensor')

/** @import { DtypeName } from '../base/types' */

const TRIES = 100 // while other processes make or remove it

const segments = lazyFile(() => require('./segments'))
const words = lazyFile(() => require('./futex'))

/**
 * @param {string} name
 * @param {SharedTensor<any>} control
 * @param {number} slots
 * @param {SharedTensor<any>} [frames]
 */
function newWords(name, control, slots, frames) {
  const { RingWords } = words()
  return new RingWords(name, storageOf(control), slots, frames && storageOf(frames))
}

/** @param {SharedTensor<any>} shared */
const storageOf = ({ tensor }) => TensorClass.attachedOf(tensor).storage

/** @param {DtypeName} dtype @param {number[]} shape  of a frame */
const frameBytesOf = (dtype, shape) =>
  denseLayout(dtypeOf(dtype).index, shape).size * dtypeOf(dtype).itemsize

/** @param {string} name */
const controlOf = (name) => `${name}.control`

/**
 * @template R
 * @typedef {(name: string, frames: SharedTensor<any>, control: SharedTensor<any>, readers: number) => R} Build  the ring's object; where it throws, both are closed
 */

/**
 * Creates both segments, the control words first: whoever can open the frames finds a complete ring. Control words without frames are removed
 * before, and where the ring may be opened as well, frames without control words that sweep would remove.
 *
 * @template R
 * @param {string} name
 * @param {DtypeName} dtype
 * @param {number[]} shape  of all frames
 * @param {number} readers
 * @param {{ mode?: number, persist?: boolean, ifExists: 'error' | 'open' | 'replace' }} opts
 * @param {Build<R>} build
 * @returns {R}
 */
function makeRing(name, dtype, shape, readers, { ifExists, ...how }, build) {
  const { complete, controlWords, isThere, removeHalf, sweep } = segments()
  const isReplaced = ifExists === 'replace'
  const opts = { ...how, ifExists: isReplaced ? ifExists : 'error' }
  if (isReplaced) {
    unless('ERR_NOT_FOUND', () => SharedTensor.unlink(name))
  } else {
    if (ifExists === 'open' && isThere(name) && !isThere(controlOf(name))) sweep(name)
    if (isThere(name)) throw failure('ERR_EXISTS', `there is a segment ${show(name)}`)
    removeHalf(name)
  }
  const frameBytes = frameBytesOf(dtype, shape.slice(1))
  const count = controlWords(shape[0], readers)
  const control = newShared(controlOf(name), [count], { ...opts, dtype: 'uint64' }, true)
  try {
    newWords(name, control, shape[0]).make(frameBytes, readers)
    const frames = newShared(name, shape, { ...opts, dtype })
    try {
      complete(control.fd)
      return build(name, frames, control, readers)
    } catch (error) {
      close(frames)
      unless('ERR_NOT_FOUND', () => SharedTensor.unlink(name))
      throw error
    }
  } catch (error) {
    close(control)
    unless('ERR_NOT_FOUND', () => SharedTensor.unlink(controlOf(name)))
    throw error
  }
}

/**
 * Disposes a segment and its tensor, which only the ring has.
 *
 * @param {SharedTensor<any>} shared
 */
function close(shared) {
  try {
    shared.tensor.dispose()
  } catch {} // there may be no memory to make it
  shared.dispose()
}

/**
 * Opens both segments, again if they were replaced meanwhile.
 *
 * @template R
 * @param {string} name
 * @param {DtypeName | undefined} dtype
 * @param {Build<R>} build
 * @param {boolean} [owns]  as `ifExists: 'open'`
 * @returns {R}
 */
function openRing(name, dtype, build, owns = false) {
  const open = owns
    ? openOwned
    : (/** @type {string} */ part, /** @type {DtypeName | undefined} */ wanted) =>
        SharedTensor.open(part, { dtype: wanted })
  for (let tries = 0; ; tries++) {
    if (owns && !segments().isThere(controlOf(name))) {
      throw failure('ERR_NOT_FOUND', `there is no ring ${show(name)}`)
    } // frames alone stay whose they are
    const frames = partOfRing(name, () => open(name, dtype))
    try {
      const control = partOfRing(name, () => open(controlOf(name), undefined))
      try {
        SharedTensor.open(frames.descriptor).dispose() // ERR_STALE if the frames were replaced meanwhile: then the control words may be another ring's
        return validated(name, frames, control, build)
      } catch (error) {
        close(control)
        throw error
      }
    } catch (error) {
      close(frames)
      if (tries === TRIES || codeOf(error) !== 'ERR_STALE') throw error
    }
  }
}

/**
 * @template R
 * @param {string} name  of the ring
 * @param {() => R} open  one of its two segments
 * @returns {R}
 * @throws ERR_NOT_FOUND there is no such ring
 */
function partOfRing(name, open) {
  try {
    return open()
  } catch (/** @type {any} */ error) {
    if (codeOf(error) !== 'ERR_NOT_FOUND') throw error
    const { errno, path } = error
    throw Object.assign(
      failure('ERR_NOT_FOUND', `there is no ring ${show(name)}: ${path} is not there`),
      { errno, path, cause: error },
    )
  }
}

/**
 * Checks that two segments are a ring, and makes its object.
 *
 * @template R
 * @param {string} name
 * @param {SharedTensor<any>} frames
 * @param {SharedTensor<any>} control
 * @param {Build<R>} build
 * @returns {R}
 */
function validated(name, frames, control, build) {
  const { controlWords } = segments()
  const { shape, dtype } = frames.descriptor
  const words = control.descriptor
  const [slots = 0, ...rest] = shape
  const isRing =
    slots >= 1 &&
    words.dtype === 'uint64' &&
    words.shape.length === 1 &&
    words.shape[0] >= controlWords(0, 0)
  const judged = newWords(name, control, slots)
  if (isRing) judged.judge(frameBytesOf(dtype, rest))
  const { readers } = judged
  const expected = controlWords(slots, readers)
  if (!isRing || words.shape[0] !== expected) {
    throw failure(
      'ERR_FORMAT',
      `byte 0: ${name} is no ring: ${expected} words of uint64 were expected beside it, not ${words.dtype} [${words.shape.join(', ')}]`,
    )
  }
  return build(name, frames, control, readers)
}

module.exports = { TRIES, newWords, controlOf, makeRing, openRing, close }
