'use strict'
// Results that are put together by copies: what goes where. Layouts only; who calls makes the tensors.

const { Int32Array, Math, arrayConcat, arrayJoin, arrayMap, arrayOf, arraySlice, arraySome, bufferOf, newList, sumOf, typedFill } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { countStaged } = require('../backend/storage')
const { itemsizes, dtypeOf } = require('../backend/dtypes')
const { placeLike } = require('../layout/placement')
const { denseLayout, withBytes, isSameShape, layoutOver } = require('../layout/layouts')

const { backend, rows, nothing } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */

/**
 * A result that has no place yet.
 *
 * @typedef {object} Recipe
 * @property {number} dtype  where none is asked for
 * @property {number[]} shape
 * @property {Layout[]} sources  whose elements it has
 * @property {(target: Layout, casting: number) => void} write  all elements of a target of that shape, which shares
 *   no byte with the sources
 * @property {(target: Layout) => boolean} [suits]  can it be written at once? Else a dense one of dtype can
 */

const INT32 = dtypeOf('int32').index
const MOST_AXES = 64
const PIECE = 2 ** 16 // indices at a time

/**
 * @param {Layout} layout
 * @param {number} axis
 * @param {number} start
 * @param {number} length
 * @returns {Layout}
 */
function narrow (layout, axis, start, length) {
  return ffi.viewByNumbers(rows.narrow, layout, axis, start, length)
}

/**
 * @param {number} axis
 * @param {number} ndim
 * @returns {number} counted from the first one
 */
function place (axis, ndim) {
  if (axis < -ndim || axis >= ndim) throw failure('ERR_BOUNDS', `axis is ${axis}; there are ${ndim} axes`)
  return axis < 0 ? axis + ndim : axis
}

/** @param {readonly number[]} shape */
const text = shape => `[${arrayJoin(shape)}]`

/**
 * A shape with another extent. Not `with`, which takes longer than all the rest of a small result.
 *
 * @param {readonly number[]} shape
 * @param {number} d
 * @param {number} n
 * @returns {number[]}
 */
function replaced (shape, d, n) {
  const out = arraySlice(shape)
  out[d] = n
  return out
}

/**
 * A shape with one axis more.
 *
 * @param {readonly number[]} shape
 * @param {number} d
 * @param {number} n
 * @returns {number[]}
 */
const inserted = (shape, d, n) => arrayOf(shape.length + 1, i => i < d ? shape[i] : i === d ? n : shape[i - 1])

/**
 * Calls fn with a row-major layout over new bytes, in the order and in the dtype given, which lives as long.
 *
 * @param {number} dtype
 * @param {readonly number[]} shape
 * @param {Layout} beside  the bytes are on its device
 * @param {(copy: Layout) => void} fn
 */
function withTemporary (dtype, shape, beside, fn) {
  const copy = withBytes(denseLayout(dtype, arraySlice(shape)), 0, false, placeLike(beside.storage))
  try {
    countStaged(copy.size * itemsizes[dtype])
    fn(copy)
  } finally {
    backend.release(copy.storage)
  }
}

/**
 * Calls fn with a layout's elements along one axis: a view where there is one, else a copy.
 *
 * @param {Layout} layout
 * @param {(flat: Layout) => void} fn
 */
function withFlat (layout, fn) {
  const flat = ffi.reshape(layout, [layout.size])
  if (flat.storage !== nothing) return fn(flat)
  withTemporary(layout.dtype, layout.shape, layout, copy => {
    ffi.copy(copy, layout, 0)
    fn(ffi.reshape(copy, [layout.size]))
  })
}

/**
 * The dtype in which all of them meet.
 *
 * @param {Layout[]} sources
 */
function commonDtype (sources) {
  let { dtype } = sources[0]
  for (let i = 1; i < sources.length; i++) dtype = ffi.promoteTypes(dtype, sources[i].dtype)
  return dtype
}

/**
 * One after the other along an axis.
 *
 * @param {Layout[]} sources  at least one
 * @param {number | null} axis  null: along one axis, all of each
 * @returns {Recipe}
 */
function concat (sources, axis) {
  const dtype = commonDtype(sources)
  const { shape: first } = sources[0]
  if (axis !== null && first.length === 0) throw failure('ERR_SHAPE', 'tensors without axes cannot be concatenated; stack makes an axis for them')
  const d = axis === null ? 0 : place(axis, first.length)
  if (axis !== null) {
    for (let i = 0; i < sources.length; i++) {
      const { shape } = sources[i]
      if (!isSameShape(shape, first, d)) throw failure('ERR_SHAPE', `tensor ${i} has shape ${text(shape)}; ${text(first)} was expected, which axis ${d} alone may differ from`)
    }
  }
  const lengths = arrayMap(sources, ({ shape, size }) => axis === null ? size : shape[d])
  const total = sumOf(lengths)
  return {
    dtype,
    shape: axis === null ? [total] : replaced(first, d, total),
    sources,
    write (target, casting) {
      let at = 0
      for (let i = 0; i < sources.length; i++) {
        const source = sources[i]
        const part = narrow(target, d, at, lengths[i])
        at += lengths[i]
        if (source.size > 0) ffi.copy(axis === null ? ffi.reshape(part, source.shape) : part, source, casting)
      }
    }
  }
}

/**
 * Beside each other along a new axis.
 *
 * @param {Layout[]} sources  at least one
 * @param {number} axis  of the result
 * @returns {Recipe}
 */
function stack (sources, axis) {
  const dtype = commonDtype(sources)
  const { shape: first } = sources[0]
  const d = place(axis, first.length + 1)
  for (let i = 0; i < sources.length; i++) {
    const { shape } = sources[i]
    if (!isSameShape(shape, first)) throw failure('ERR_SHAPE', `tensor ${i} has shape ${text(shape)}; ${text(first)} was expected, as of the first`)
  }
  return {
    dtype,
    shape: inserted(first, d, sources.length),
    sources,
    write (target, casting) {
      for (let i = 0; i < sources.length; i++) {
        ffi.copy(ffi.viewByNumbers(rows.select, target, d, i), sources[i], casting)
      }
    }
  }
}

/**
 * A target gets a source again and again: the axes of which there are several are split, and the source
 * broadcast along what is new.
 *
 * @param {Layout} source
 * @param {number[]} shape  of the result
 * @param {number[]} split  the same elements, with an axis for each repetition
 * @param {number[]} one  the source's shape among these axes
 * @returns {Recipe}
 */
function broadcast (source, shape, split, one) {
  return {
    dtype: source.dtype,
    shape,
    sources: [source],
    write (target, casting) {
      if (target.size > 0) ffi.copy(ffi.reshape(target, split), ffi.reshape(source, one), casting)
    }
  }
}

/**
 * The whole again and again.
 *
 * @param {Layout} source
 * @param {number[]} reps  per axis, the last for the last one; none is negative
 * @returns {Recipe}
 */
function tile (source, reps) {
  const n = Math.max(reps.length, source.shape.length)
  const from = arrayConcat(arrayOf(n - source.shape.length, () => 1), source.shape)
  const times = arrayConcat(arrayOf(n - reps.length, () => 1), reps)
  const shape = arrayMap(from, (length, d) => length * times[d])
  const split = newList()
  const one = newList()
  for (let d = 0; d < n; d++) {
    if (times[d] !== 1) {
      split[split.length] = times[d]
      one[one.length] = 1
    }
    if (from[d] !== 1) {
      split[split.length] = from[d]
      one[one.length] = from[d]
    }
  }
  return broadcast(source, shape, split, one)
}

/**
 * Each element again and again.
 *
 * @param {Layout} source
 * @param {number | Float64Array} counts  for all, or of each index of the axis; none is negative
 * @param {number | null} axis  null: of all elements along one axis
 * @returns {Recipe}
 */
function repeat (source, counts, axis) {
  if (axis === null) return flattened(source, flat => repeat(flat, counts, 0))
  const { shape } = source
  const d = place(axis, shape.length)
  if (typeof counts !== 'number' && counts.length === 1) counts = counts[0]
  if (typeof counts === 'number' && shape.length < MOST_AXES) {
    const split = inserted(shape, d + 1, counts)
    return broadcast(source, replaced(shape, d, shape[d] * counts), split, replaced(split, d + 1, 1))
  }
  if (typeof counts !== 'number' && counts.length !== shape[d]) throw failure('ERR_SHAPE', `repeats has ${counts.length} entries; axis ${d} has ${shape[d]} elements`)
  const total = typeof counts === 'number' ? shape[d] * counts : sumOf(counts)
  return picked(source, d, total, target => takeRuns(target, source, d, counts))
}

/**
 * Each index as often as it is wanted, a piece of the target at a time.
 *
 * @param {Layout} target
 * @param {Layout} source
 * @param {number} d
 * @param {number | Float64Array} counts  for all, or of each index
 */
function takeRuns (target, source, d, counts) {
  const total = target.shape[d]
  const most = Math.min(total, PIECE)
  const indices = new Int32Array(most)
  /** @param {number} i */
  const count = i => typeof counts === 'number' ? counts : counts[i]
  let index = -1
  let left = 0 // of that index
  for (let at = 0; at < total; at += most) {
    const n = Math.min(total - at, most)
    while (left === 0) left = count(++index)
    const first = index
    for (let i = 0; i < n;) {
      while (left === 0) left = count(++index)
      const m = Math.min(left, n - i)
      typedFill(indices, index - first, i, i += m)
      left -= m
    }
    ffi.take(narrow(target, d, at, n), narrow(source, d, first, source.shape[d] - first), layoutOver(new Int32Array(bufferOf(indices), 0, n), INT32, [n]), d)
  }
}

/**
 * Those with certain indices.
 *
 * @param {Layout} source
 * @param {Layout} indices  one axis of integers
 * @param {number | null} axis  null: among all elements along one axis
 * @returns {Recipe}
 */
function take (source, indices, axis) {
  if (axis === null) return flattened(source, flat => take(flat, indices, 0))
  if (indices.shape.length !== 1) throw failure('ERR_SHAPE', `indices has shape ${text(indices.shape)}; one axis was expected`)
  const d = place(axis, source.shape.length)
  return picked(source, d, indices.size, target => ffi.take(target, source, indices, d))
}

/**
 * @param {Layout} source
 * @param {number} d
 * @param {number} n  indices
 * @param {(target: Layout) => void} write
 * @returns {Recipe}
 */
function picked (source, d, n, write) {
  return {
    dtype: source.dtype,
    shape: replaced(source.shape, d, n),
    sources: [source],
    suits: target => target.dtype === source.dtype,
    write
  }
}

/**
 * What a recipe makes of all elements along one axis; where no view shows them so, they are copied when it is written.
 *
 * @param {Layout} source
 * @param {(flat: Layout) => Recipe} recipeOf
 * @returns {Recipe}
 */
function flattened (source, recipeOf) {
  const flat = ffi.reshape(source, [source.size]) // without bytes where there is no such view
  const recipe = recipeOf(flat)
  if (flat.storage !== nothing) return recipe
  const { dtype, shape, suits } = recipe
  return {
    dtype,
    shape,
    sources: [source],
    suits,
    write (target, casting) { withFlat(source, elements => recipeOf(elements).write(target, casting)) }
  }
}

/**
 * Elements moved along, those beyond an end coming back at the other one.
 *
 * @param {Layout} source
 * @param {number[]} shifts
 * @param {number[] | null} axes  one for each shift, or one of the two stands for all; null: along one axis,
 *   the shape being kept
 * @returns {Recipe}
 */
function roll (source, shifts, axes) {
  const { dtype, shape, size } = source
  const along = axes ?? [0]
  if (shifts.length !== along.length && shifts.length !== 1 && along.length !== 1) {
    throw failure('ERR_SHAPE', `${shifts.length} shifts and ${along.length} axes were given; one for each was expected`)
  }
  const moves = arrayOf(axes === null ? 1 : shape.length, () => 0)
  for (let i = 0; i < Math.max(shifts.length, along.length) && shifts.length > 0 && along.length > 0; i++) {
    const d = axes === null ? 0 : place(along[along.length === 1 ? 0 : i], shape.length)
    const n = axes === null ? size : shape[d]
    const shift = shifts[shifts.length === 1 ? 0 : i] % n + moves[d]
    moves[d] = n === 0 ? 0 : (shift % n + n) % n
  }
  /** @type {Recipe['write']} */
  const write = (target, casting) => { if (size > 0) rollAxes(target, source, moves, casting, 0) }
  if (axes !== null || shape.length === 1) return { dtype, shape, sources: [source], write }
  return {
    dtype,
    shape,
    sources: [source],
    suits: target => ffi.reshape(target, [size]).storage !== nothing,
    write (target, casting) {
      withFlat(source, flat => { if (size > 0) rollAxes(ffi.reshape(target, [size]), flat, moves, casting, 0) })
    }
  }
}

/**
 * @param {Layout} target
 * @param {Layout} source
 * @param {number[]} moves  how far, by axis, from 0 on and less than the axis has
 * @param {number} casting
 * @param {number} d  the first axis that is still to be moved along
 */
function rollAxes (target, source, moves, casting, d) {
  if (d === moves.length) return ffi.copy(target, source, casting)
  const shift = moves[d]
  if (shift === 0) return rollAxes(target, source, moves, casting, d + 1)
  const kept = source.shape[d] - shift
  rollAxes(narrow(target, d, shift, kept), narrow(source, d, 0, kept), moves, casting, d + 1)
  rollAxes(narrow(target, d, 0, shift), narrow(source, d, kept, shift), moves, casting, d + 1)
}

/**
 * Writes a result into a target that shares no byte with what is read.
 *
 * @param {Recipe} recipe
 * @param {Layout} target  of its shape
 * @param {number} casting
 */
function write (recipe, target, casting) {
  if (recipe.suits === undefined || recipe.suits(target)) recipe.write(target, casting)
  else writeByWay(recipe, recipe.dtype, target, casting)
}

/**
 * @param {Recipe} recipe
 * @param {number} dtype  on the way
 * @param {Layout} target
 * @param {number} casting
 */
function writeByWay (recipe, dtype, target, casting) {
  withTemporary(dtype, recipe.shape, target, copy => {
    recipe.write(copy, casting)
    ffi.copy(target, copy, casting)
  })
}

/**
 * Writes a result into any target.
 *
 * @param {Recipe} recipe
 * @param {Layout} target  of its shape
 * @param {number} casting
 * @throws ERR_OVERLAP two elements of the target share a byte; nothing is written then
 */
function writeInto (recipe, target, casting) {
  const { sources, suits } = recipe
  ffi.checkCopy({ dst: target, src: target, scaling: null, casting })
  const isShared = arraySome(sources, source => ffi.sharesMemory(target, source))
  if (isShared && (suits === undefined || suits(target))) writeByWay(recipe, target.dtype, target, casting)
  else write(recipe, target, casting)
}

module.exports = { concat, stack, tile, repeat, take, roll, write, writeInto }
