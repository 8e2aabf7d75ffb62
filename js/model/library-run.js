'use strict'
// A method's runs by onnxruntime's C library: on another thread, or on this one where they are short.

const { rootless } = require('../base/records')
const ffi = require('../backend/calls')
const { checkSignal } = require('../base/signals')
const { countCopy } = require('../backend/storage')
const { dtypeOf } = require('../backend/dtypes')
const { isSameShape } = require('../layout/layouts')
const { onNextTurn } = require('../runtime/host')
const { wrap } = require('../tensor/tensor')
const { forThread, releaseTwin } = require('./library')
const { naming } = require('./signature')
const { resizeTarget, namedExtents, expectedShape } = require('./targets')

const { backend } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @typedef {import('./run').Run} Run */
/** @typedef {import('../base/signals').Signal} Signal */
/** By output's index: where a result goes; null: to new memory that onnxruntime allocates; undefined: it is not asked for. @typedef {(Layout | null | undefined)[]} Places */

const MANY = 8 // runs that were short, one after the other, before the next is short as well
const SHORT_NS = 100_000
const MOST_NS = 1_000_000 // of short runs in a turn of the event loop
const SMALL_BYTES = 4096 // of results that V8's memory holds: nobody sees it before they are the caller's

/** nanoseconds that short runs have taken in this turn of the event loop */
let spent = 0

/** @param {number} ns */
function spend(ns) {
  if (spent === 0) onNextTurn(() => (spent = 0))
  spent += ns
}

/** Have short runs taken so much of this turn that the next has to wait? */
const isBusy = () => spent >= MOST_NS

/** Microtasks alone would starve timers. */
async function turnOver() {
  if (isBusy()) await new Promise((resolve) => onNextTurn(() => resolve(undefined)))
}

/** What is known of a method's runs. */
class LibraryRuns {
  /**
   * @param {import('./library').LibrarySession} session
   * @param {'auto' | 'always' | 'never'} thread
   */
  constructor(session, thread) {
    this.session = session
    this.thread = thread
    /** of the last run's inputs @type {readonly (readonly number[])[]} */
    this.shapes = []
    /** extents' values by their names, in these shapes @type {Map<string, number>} */
    this.named = new Map()
    /** runs of these shapes that were short, since one was not */
    this.short = 0
    /** results' shapes in the last run of these shapes, and in how many runs they were so @type {({ dims: readonly number[], times: number } | undefined)[]} */
    this.learned = []
    /** extents' names have promised a shape that was none */
    this.isMisled = false
  }

  /**
   * Runs the session.
   *
   * @param {Run} run  pinned
   * @param {Signal | undefined} signal
   * @param {boolean} isAlone  no earlier call waits
   * @returns {Promise<any[]>} the wanted results, by output's index
   */
  async perform(run, signal, isAlone) {
    await undefined // the caller's synchronous code goes on first: no tidy of its own gets the results
    const shapes = run.operands.map(({ layout }) => /** @type {Layout} */ (layout).shape)
    const isSame =
      shapes.length === this.shapes.length &&
      shapes.every((shape, i) => isSameShape(shape, this.shapes[i]))
    if (!isSame) {
      this.shapes = shapes.map((shape) => [...shape])
      this.named = namedExtents(run.method.inputs, shapes)
      this.short = 0
      this.learned = []
    }
    const { named } = this
    const isHere =
      this.thread === 'never' || (this.thread === 'auto' && isAlone && this.short >= MANY)
    if (isHere && isBusy()) await turnOver()
    if (!this.isMisled) resizeTargets(run, named)
    const { places, guesses } = this.#placesOf(run, named, isHere)
    const isUnsure = guesses.length > 0 || run.targets.some(({ isCopied }) => !isCopied)
    let results
    try {
      results = isHere
        ? this.#runHere(run, places, isUnsure, signal)
        : await this.#runOnThread(run, places, isUnsure, signal)
    } catch (error) {
      releaseAll(guesses.map((k) => places[k]))
      if (!isOfModel(error, signal)) throw error
      run.checkStorages(ffi.checkAttached)
      run.checkStorages(ffi.checkIntact)
      if (!isUnsure || run.isInPlace) throw run.failed(error)
      results = await this.#runUnsure(run, places, named, guesses, isHere, signal)
    }
    return this.#valuesOf(run, places, results, signal)
  }

  /**
   * Where each wanted result goes: to its target, to new memory where its shape is known, or looks known, or to onnxruntime's.
   *
   * @param {Run} run
   * @param {Map<string, number>} named
   * @param {boolean} isHere
   * @returns {{ places: Places, guesses: number[] }} guesses: outputs whose places are ours and may have the wrong shape
   */
  #placesOf({ method, targets, wanted }, named, isHere) {
    /** @type {Places} */
    const places = method.outputs.map(() => undefined)
    /** @type {number[]} */
    const guesses = []
    for (const k of wanted) places[k] = null
    for (const { slot, layout, isCopied } of targets) {
      if (!isCopied) places[slot.index] = layout
    }
    try {
      for (const k of wanted) {
        const slot = method.outputs[k]
        if (places[k] !== null || slot.isInput || slot.dtype === null) continue
        const learned = this.learned[k]
        const promised = this.isMisled ? null : expectedShape(slot, named)
        const shape =
          promised ?? (learned !== undefined && learned.times >= 2 ? learned.dims : null)
        if (shape === null || targets.some((target) => target.slot === slot)) continue
        places[k] = newPlace(slot.dtype, shape, isHere)
        guesses.push(k)
      }
    } catch (error) {
      releaseAll(guesses.map((k) => places[k]))
      throw error
    }
    return { places, guesses }
  }

  /**
   * @param {Run} run
   * @param {Signal | undefined} signal  which may have aborted since the call: no event tells of that any more
   * @returns {Layout[]} whose bytes are there
   */
  #inputsOf(run, signal) {
    if (signal !== undefined) checkSignal(signal)
    run.checkStorages(ffi.checkAttached)
    return run.operands.map(({ layout }) => /** @type {Layout} */ (layout))
  }

  /**
   * Runs the session once, on this thread.
   *
   * @param {Run} run
   * @param {Places} places
   * @param {boolean} isQuiet  nothing is logged where it fails
   * @param {Signal | undefined} signal
   * @returns {(Layout | null)[]} results in new memory
   */
  #runHere(run, places, isQuiet, signal) {
    const inputs = this.#inputsOf(run, signal)
    for (const { storage } of inputs) backend.addressOf(storage)
    for (const place of places) if (place) backend.addressOf(place.storage)
    const { results, took } = this.session.runHere(inputs, places, isQuiet)
    spend(took)
    this.#count(took)
    return results
  }

  /**
   * Runs the session once, on another thread.
   *
   * @param {Run} run
   * @param {Places} places
   * @param {boolean} isQuiet
   * @param {Signal | undefined} signal
   * @returns {Promise<(Layout | null)[]>} results in new memory
   */
  async #runOnThread(run, places, isQuiet, signal) {
    const inputs = this.#inputsOf(run, signal)
    /** @type {[Layout, Layout][]} */
    const used = []
    /** @type {(layout: Layout, isRead: boolean) => Layout} */
    const threaded = (layout, isRead) => {
      const made = forThread(layout, isRead)
      used.push([made, layout])
      backend.addressOf(made.storage)
      return made
    }
    try {
      const from = inputs.map((layout, i) =>
        naming(run.method.inputs[i], () => threaded(layout, true)),
      )
      const to = places.map((place) => {
        if (!place) return place
        return place.storage.claims === 0 ? place : threaded(place, false) // one of ours, that nobody sees
      })
      for (const place of to) if (place) backend.addressOf(place.storage)
      const { results, took } = await this.session.run(from, to, isQuiet, signal)
      this.#count(took)
      try {
        for (const [k, place] of places.entries()) {
          const written = to[k]
          if (place && written && written !== place) copyBack(place, written)
        }
      } catch (error) {
        releaseAll(results)
        throw error
      }
      return results
    } finally {
      for (const [made, layout] of used) releaseTwin(made, layout)
    }
  }

  /** @param {number} took  nanoseconds */
  #count(took) {
    this.short = took < SHORT_NS ? this.short + 1 : 0
  }

  /**
   * Runs again after a failure that may have been for want of the right shapes: all results go to new memory, from where those of
   * targets are copied.
   *
   * @param {Run} run
   * @param {Places} places  which change
   * @param {Map<string, number>} named
   * @param {number[]} guesses
   * @param {boolean} isHere
   * @param {Signal | undefined} signal
   */
  async #runUnsure(run, places, named, guesses, isHere, signal) {
    this.learned = []
    for (const k of guesses) places[k] = null
    for (const target of run.targets) {
      places[target.slot.index] = null
      target.isCopied = true
    }
    try {
      const results = isHere
        ? this.#runHere(run, places, false, signal)
        : await this.#runOnThread(run, places, false, signal)
      this.isMisled ||= results.some((result, k) => {
        if (result === null) return false
        const promised = expectedShape(run.method.outputs[k], named)
        return promised !== null && !isSameShape(promised, result.shape)
      })
      return results
    } catch (later) {
      throw isOfModel(later, signal) ? run.failed(later) : later
    }
  }

  /**
   * @param {Run} run
   * @param {Places} places
   * @param {(Layout | null)[]} results
   * @param {Signal | undefined} signal
   * @returns {any[]} tensors, by output's index
   */
  #valuesOf(run, places, results, signal) {
    const { targets, wanted } = run
    const { outputs } = run.method
    /** @type {any[]} */
    const values = outputs.map(() => undefined)
    const made = wanted.map((k) => results[k] ?? (isTarget(targets, k) ? null : places[k]))
    try {
      run.checkStorages(ffi.checkIntact)
      for (const k of wanted) {
        const target = targets.find(({ slot }) => slot.index === k)
        const result = results[k]
        if (result !== null) this.#learn(k, result.shape)
        if (target === undefined) continue
        if (result !== null) {
          resizeTarget(target, [...result.shape])
          if (result.size > 0) naming(target.slot, () => ffi.copy(target.layout, result, 0))
          countCopy('run', result.nbytes)
        }
        values[k] = target.tensor
      }
      if (signal !== undefined) checkSignal(signal)
    } catch (error) {
      releaseAll(made)
      throw error
    }
    for (const [i, k] of wanted.entries()) {
      const layout = made[i]
      if (values[k] === undefined) values[k] = wrap(/** @type {Layout} */ (layout))
      else if (layout) backend.release(layout.storage)
    }
    return values
  }

  /** @param {number} k  an output's index @param {readonly number[]} shape */
  #learn(k, shape) {
    const before = this.learned[k]
    const isAgain = before !== undefined && isSameShape(shape, before.dims)
    this.learned[k] = { dims: shape, times: isAgain ? before.times + 1 : 1 }
  }
}

rootless(LibraryRuns)

/**
 * @param {any} error
 * @param {Signal | undefined} signal  whose reason may have any code
 * @returns {boolean} is it onnxruntime's?
 */
function isOfModel(error, signal) {
  const isReason = signal !== undefined && signal.isAborted && error === signal.reason
  return !isReason && error?.code === 'ERR_MODEL'
}

/** @param {import('./targets').Target[]} targets @param {number} k  an output's index */
const isTarget = (targets, k) => targets.some(({ slot }) => slot.index === k)

/**
 * Resizes targets to their shapes in this run, as far as those follow from the inputs.
 *
 * @param {Run} run
 * @param {Map<string, number>} named
 */
function resizeTargets({ targets }, named) {
  for (const target of targets) {
    const shape = expectedShape(target.slot, named)
    if (shape !== null) resizeTarget(target, shape)
  }
}

/**
 * New memory for a result.
 *
 * @param {string} dtype
 * @param {readonly number[]} shape
 * @param {boolean} isHere  small results of short runs are in V8's memory, which is sooner made
 * @returns {Layout}
 */
function newPlace(dtype, shape, isHere) {
  const layout = ffi.dense(dtypeOf(dtype).index, [...shape])
  const { nbytes } = layout
  layout.storage =
    isHere && nbytes <= SMALL_BYTES
      ? ffi.allocate(nbytes)
      : backend.allocateNative(nbytes, ffi.check)
  return layout
}

/** @param {Layout} to @param {Layout} from  a copy for the thread */
function copyBack(to, from) {
  ffi.checkAttached(to.storage)
  ffi.copy(to, from, 0)
}

/** @param {(Layout | null | undefined)[]} layouts */
function releaseAll(layouts) {
  for (const each of layouts) if (each) backend.release(each.storage)
}

module.exports = { LibraryRuns, MANY, SHORT_NS, isBusy, spend }
