'use strict'
// concat, stack, tile, repeat, take, roll and others on layouts: each gives a recipe, which writes the result by copies of parts.

const { bufferOf } = require('../base/buffers')
const { arrayOf, sumOf } = require('../base/records')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { axisFromStart } = require('../base/validate')
const { countStaged } = require('../backend/storage')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { placementLike } = require('../layout/placement')
const {
  denseLayout,
  withTemporary,
  isSameShape,
  broadcast,
  layoutOver,
} = require('../layout/layouts')
const { doublesFor } = require('../layout/elements')

const { opcodes, nothing } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */

/**
 * How to write a result.
 *
 * @typedef {object} Recipe
 * @property {number} dtype  of the result unless the caller asks for another
 * @property {number[]} shape
 * @property {Layout[]} sources  read by write
 * @property {(target: Layout, casting: number) => void} write  writes all elements of a target of that shape, which shares
 *   no byte with the sources
 * @property {(target: Layout) => boolean} [canWriteTo]  false: write takes a contiguous target of `dtype` only; absent: any target
 */

const INT32 = dtypeOf('int32').index
const INT64 = dtypeOf('int64').index
const FLOAT64 = dtypeOf('float64').index
const UNSAFE = 2 // casting, as C numbers it
const MOST_AXES = 64
const MOST_INDICES = 2 ** 16 // in one call of take

/**
 * @param {Layout} layout
 * @param {number} axis
 * @param {number} start
 * @param {number} length
 * @returns {Layout}
 */
const narrow = (layout, axis, start, length) =>
  ffi.viewByNumbers(opcodes.narrow, layout, axis, start, length)

/** @param {readonly number[]} shape */
const shapeText = (shape) => `[${shape.join(', ')}]`

/**
 * A shape with another extent. Array.prototype.with takes longer than all else that a small result needs.
 *
 * @param {readonly number[]} shape
 * @param {number} d
 * @param {number} n
 * @returns {number[]}
 */
function withExtent(shape, d, n) {
  const out = shape.slice()
  out[d] = n
  return out
}

/**
 * A shape with an axis of n elements inserted before axis d.
 *
 * @param {readonly number[]} shape
 * @param {number} d
 * @param {number} n
 * @returns {number[]}
 */
const withAxis = (shape, d, n) =>
  arrayOf(shape.length + 1, (i) => (i < d ? shape[i] : i === d ? n : shape[i - 1]))

/**
 * Calls fn with a row-major temporary, which is freed afterwards.
 *
 * @param {number} dtype
 * @param {readonly number[]} shape
 * @param {Layout} beside  gives the device
 * @param {(copy: Layout) => void} fn
 */
function withCopy(dtype, shape, beside, fn) {
  const counted = (/** @type {Layout} */ copy) => {
    countStaged(copy.nbytes)
    fn(copy)
  }
  withTemporary(denseLayout(dtype, shape.slice()), counted, placementLike(beside.storage))
}

/**
 * Calls fn with a layout flattened to one axis: a view where strides allow it, else a temporary copy.
 *
 * @param {Layout} layout
 * @param {(flat: Layout) => void} fn
 */
function withFlat(layout, fn) {
  const flat = ffi.reshape(layout, [layout.size])
  if (flat.storage !== nothing) return fn(flat)
  withCopy(layout.dtype, layout.shape, layout, (copy) => {
    ffi.copy(copy, layout, 0)
    fn(ffi.reshape(copy, [layout.size]))
  })
}

/**
 * The promoted dtype of all sources.
 *
 * @param {Layout[]} sources
 */
const commonDtype = (sources) =>
  sources.map(({ dtype }) => dtype).reduce((a, b) => ffi.promoteTypes(a, b))

/**
 * @param {Layout[]} sources
 * @param {number} but  an axis whose extents may differ; -1: none
 * @throws ERR_SHAPE they have not the first one's shape
 */
function checkShapes(sources, but) {
  const { shape: first } = sources[0]
  sources.forEach(({ shape }, i) => {
    if (isSameShape(shape, first, but)) return
    throw failure(
      'ERR_SHAPE',
      `tensor ${i} has shape ${shapeText(shape)}; ${shapeText(first)} was expected, ${but < 0 ? 'as of the first' : `which axis ${but} alone may differ from`}`,
    )
  })
}

/**
 * Joins sources along an axis that they have.
 *
 * @param {Layout[]} sources  at least one
 * @param {number | null} axis  null: flattens each first
 * @returns {Recipe}
 */
function concat(sources, axis) {
  const dtype = commonDtype(sources)
  const { shape: first } = sources[0]
  if (axis !== null && first.length === 0) {
    throw failure(
      'ERR_SHAPE',
      'tensors without axes cannot be concatenated; stack makes an axis for them',
    )
  }
  const d = axis === null ? 0 : axisFromStart(axis, first.length)
  if (axis !== null) checkShapes(sources, d)
  const lengths = sources.map(({ shape, size }) => (axis === null ? size : shape[d]))
  const total = sumOf(lengths)
  return {
    dtype,
    shape: axis === null ? [total] : withExtent(first, d, total),
    sources,
    write(target, casting) {
      let at = 0
      sources.forEach((source, i) => {
        const part = narrow(target, d, at, lengths[i])
        at += lengths[i]
        if (source.size === 0) return
        ffi.copy(axis === null ? ffi.reshape(part, source.shape) : part, source, casting)
      })
    },
  }
}

/**
 * Joins sources along a new axis.
 *
 * @param {Layout[]} sources  at least one
 * @param {number} axis  of the result
 * @returns {Recipe}
 */
function stack(sources, axis) {
  const dtype = commonDtype(sources)
  const { shape: first } = sources[0]
  const d = axisFromStart(axis, first.length + 1)
  checkShapes(sources, -1)
  return {
    dtype,
    shape: withAxis(first, d, sources.length),
    sources,
    write(target, casting) {
      sources.forEach((source, i) =>
        ffi.copy(ffi.viewByNumbers(opcodes.select, target, d, i), source, casting),
      )
    },
  }
}

/**
 * Repeats a source along axes: the target's repeated axes are split in two, and the source is broadcast along the new ones.
 *
 * @param {Layout} source
 * @param {number[]} shape  of the result
 * @param {number[]} split  the result's shape with an extra axis per repetition
 * @param {number[]} one  the source's shape with an axis of 1 for each of those
 * @returns {Recipe}
 */
function repeatRecipe(source, shape, split, one) {
  return {
    dtype: source.dtype,
    shape,
    sources: [source],
    write(target, casting) {
      if (target.size > 0) ffi.copy(ffi.reshape(target, split), ffi.reshape(source, one), casting)
    },
  }
}

/**
 * Repeats the whole source.
 *
 * @param {Layout} source
 * @param {number[]} reps  per axis, aligned at the last one; not negative
 * @returns {Recipe}
 */
function tile(source, reps) {
  const n = Math.max(reps.length, source.shape.length)
  const from = [...arrayOf(n - source.shape.length, () => 1), ...source.shape]
  const times = [...arrayOf(n - reps.length, () => 1), ...reps]
  const shape = from.map((length, d) => length * times[d])
  const split = []
  const one = []
  for (let d = 0; d < n; d++) {
    if (times[d] !== 1) {
      split.push(times[d])
      one.push(1)
    }
    if (from[d] !== 1) {
      split.push(from[d])
      one.push(from[d])
    }
  }
  return repeatRecipe(source, shape, split, one)
}

/**
 * Repeats each element.
 *
 * @param {Layout} source
 * @param {number | Float64Array} counts  one for all, or one per index of the axis; not negative
 * @param {number | null} axis  null: flattens first
 * @returns {Recipe}
 */
function repeat(source, counts, axis) {
  if (axis === null) return flatRecipe(source, (flat) => repeat(flat, counts, 0))
  const { shape } = source
  const d = axisFromStart(axis, shape.length)
  if (typeof counts !== 'number' && counts.length === 1) counts = counts[0]
  if (typeof counts === 'number' && shape.length < MOST_AXES) {
    const split = withAxis(shape, d + 1, counts)
    return repeatRecipe(
      source,
      withExtent(shape, d, shape[d] * counts),
      split,
      withExtent(split, d + 1, 1),
    )
  }
  if (typeof counts !== 'number' && counts.length !== shape[d]) {
    throw failure(
      'ERR_SHAPE',
      `repeats has ${counts.length} entries; axis ${d} has ${shape[d]} elements`,
    )
  }
  const total = typeof counts === 'number' ? shape[d] * counts : sumOf(counts)
  return takeRecipe(source, d, total, (target) => takeRepeated(target, source, d, counts))
}

/**
 * Writes each index of an axis counts times, with lists of at most MOST_INDICES indices.
 *
 * @param {Layout} target
 * @param {Layout} source
 * @param {number} d
 * @param {number | Float64Array} counts  one for all, or one per index
 */
function takeRepeated(target, source, d, counts) {
  const total = target.shape[d]
  const most = Math.min(total, MOST_INDICES)
  const indices = new Int32Array(most)
  /** @param {number} i */
  const count = (i) => (typeof counts === 'number' ? counts : counts[i])
  let index = -1
  let left = 0 // repetitions of that index
  for (let at = 0; at < total; at += most) {
    const n = Math.min(total - at, most)
    while (left === 0) left = count(++index)
    const first = index
    for (let i = 0; i < n;) {
      while (left === 0) left = count(++index)
      const m = Math.min(left, n - i)
      indices.fill(index - first, i, (i += m))
      left -= m
    }
    ffi.take(
      narrow(target, d, at, n),
      narrow(source, d, first, source.shape[d] - first),
      layoutOver(new Int32Array(bufferOf(indices), 0, n), INT32, [n]),
      d,
    )
  }
}

/**
 * Takes the elements with certain indices.
 *
 * @param {Layout} source
 * @param {Layout} indices  one axis of integers
 * @param {number | null} axis  null: flattens first
 * @returns {Recipe}
 */
function take(source, indices, axis) {
  if (axis === null) return flatRecipe(source, (flat) => take(flat, indices, 0))
  if (indices.shape.length !== 1) {
    throw failure(
      'ERR_SHAPE',
      `indices has shape ${shapeText(indices.shape)}; one axis was expected, and samebytes/math's index takes any`,
    )
  }
  const d = axisFromStart(axis, source.shape.length)
  return takeRecipe(source, d, indices.size, (target) => ffi.take(target, source, indices, d))
}

/**
 * @param {Layout} source
 * @param {number} d
 * @param {number} n  indices
 * @param {(target: Layout) => void} write
 * @returns {Recipe}
 */
function takeRecipe(source, d, n, write) {
  return {
    dtype: source.dtype,
    shape: withExtent(source.shape, d, n),
    sources: [source],
    canWriteTo: (target) => target.dtype === source.dtype,
    write,
  }
}

/**
 * Takes an element for each index: of the line along the axis that the index stands in.
 *
 * @param {Layout} source
 * @param {Layout} indices  of integers; broadcast with the source, but for the axis
 * @param {number} axis
 * @returns {Recipe}
 */
function takeAlongAxis(source, indices, axis) {
  const { dtype, shape: extents, size, storage, offset } = source
  const { name, kind } = dtypes[indices.dtype]
  if (kind !== 'SIGNED' && kind !== 'UNSIGNED') {
    throw failure('ERR_DTYPE', `indices is ${name}; integers were expected`)
  }
  const n = extents.length
  if (indices.shape.length !== n) {
    throw failure('ERR_SHAPE', `indices has ${indices.shape.length} axes; the tensor has ${n}`)
  }
  const d = axisFromStart(axis, n)
  const shape = withExtent(
    broadcast(withExtent(extents, d, 1), withExtent(indices.shape, d, 1)),
    d,
    indices.shape[d],
  )
  const { low, high } = size === 0 ? { low: 0, high: -1 } : ffi.extent(source)
  const all = new ffi.Layout(storage, dtype, [high - low + 1], [1], offset + low, high - low + 1, 0) // also what is between the elements
  return {
    dtype,
    shape,
    sources: [all],
    canWriteTo: (target) => target.dtype === dtype && ffi.isContiguous(target),
    write(target) {
      if (target.size === 0) return
      const list = doublesFor('indices', target.size, Infinity)
      countStaged(8 * target.size)
      ffi.copy(
        layoutOver(list, FLOAT64, shape),
        ffi.viewByList(opcodes.broadcast_to, indices, shape),
        UNSAFE,
      )
      ffi.take(ffi.reshape(target, [target.size]), all, offsetsOf(list, source, d, shape, all), 0)
    },
  }
}

/**
 * Replaces indices along an axis by places in memory.
 *
 * @param {Float64Array} list  in the result's order; is overwritten
 * @param {Layout} source
 * @param {number} d  the axis
 * @param {number[]} shape  of the result
 * @param {Layout} all  what the source's elements lie in
 * @returns {Layout} integers, which count elements from the lowest one; over the list's memory
 * @throws ERR_BOUNDS
 */
function offsetsOf(list, { shape: extents, strides, offset }, d, shape, all) {
  const words = new Int32Array(bufferOf(list)) // two for each place, the lower half first
  const last = shape.length - 1
  const extent = extents[d]
  const along = strides[d]
  let first = 0
  /** @param {number} axis @param {number} at  the place of index 0 along all later axes */
  const walk = (axis, at) => {
    const n = shape[axis]
    const step = axis === d || extents[axis] === 1 ? 0 : strides[axis]
    if (axis < last) {
      for (let k = 0; k < n; k++) walk(axis + 1, at + k * step)
      return
    }
    const end = first + n
    for (let i = first; i < end; i++, at += step) {
      const index = list[i]
      if (index < -extent || index >= extent) {
        throw failure('ERR_BOUNDS', `indices has ${index}; axis ${d} has ${extent} elements`)
      }
      const offsetOfIndex = at + (index < 0 ? index + extent : index) * along
      words[2 * i] = offsetOfIndex
      words[2 * i + 1] = offsetOfIndex / 2 ** 32
    }
    first = end
  }
  walk(0, offset - all.offset)
  return layoutOver(words, INT64, [first])
}

/**
 * Keeps the elements on one side of a diagonal of the last two axes, and writes zeros on the other.
 *
 * @param {Layout} source
 * @param {number} k  the diagonal, which is kept; above the main one positive
 * @param {boolean} isLower  keeps what is below it, else what is above
 * @returns {Recipe}
 */
function triangle(source, k, isLower) {
  const { dtype, shape } = source
  const n = shape.length
  if (n < 2) throw failure('ERR_SHAPE', `x has ${n} axes; 2 or more were expected`)
  const rows = shape[n - 2]
  const columns = shape[n - 1]
  const within = (/** @type {number} */ i) => Math.max(0, Math.min(rows, i))
  return {
    dtype,
    shape,
    sources: [source],
    write(target, casting) {
      if (target.size === 0) return
      ffi.copy(target, source, casting)
      const first = within(-k) // rows from here to `last` are on the diagonal
      const last = within(columns - k)
      /** @param {number} row @param {number} end @param {number} column @param {number} stop */
      const zero = (row, end, column, stop) => {
        if (row >= end) return
        ffi.fill(narrow(narrow(target, -2, row, end - row), -1, column, stop - column), false)
      }
      zero(isLower ? 0 : last, isLower ? first : rows, 0, columns)
      for (let i = first; i < last; i++) {
        zero(i, i + 1, isLower ? i + k + 1 : 0, isLower ? columns : i + k)
      }
    },
  }
}

/**
 * A recipe over the flattened source. Where strides allow no flat view, write makes a flat copy first.
 *
 * @param {Layout} source
 * @param {(flat: Layout) => Recipe} recipeOf
 * @returns {Recipe}
 */
function flatRecipe(source, recipeOf) {
  const flat = ffi.reshape(source, [source.size]) // has no storage where strides allow no such view
  const recipe = recipeOf(flat)
  if (flat.storage !== nothing) return recipe
  return {
    ...recipe,
    sources: [source],
    write(target, casting) {
      withFlat(source, (elements) => recipeOf(elements).write(target, casting))
    },
  }
}

/**
 * Moves elements along axes; those beyond one end reappear at the other.
 *
 * @param {Layout} source
 * @param {number[]} shifts
 * @param {number[] | null} axes  one for each shift, or a single one of either for all; null: rolls the flattened elements and keeps the shape
 * @returns {Recipe}
 */
function roll(source, shifts, axes) {
  const { dtype, shape, size } = source
  const along = axes ?? [0]
  if (shifts.length !== along.length && shifts.length !== 1 && along.length !== 1) {
    throw failure(
      'ERR_SHAPE',
      `${shifts.length} shifts and ${along.length} axes were given; one for each was expected`,
    )
  }
  const moves = arrayOf(axes === null ? 1 : shape.length, () => 0)
  for (
    let i = 0;
    i < Math.max(shifts.length, along.length) && shifts.length > 0 && along.length > 0;
    i++
  ) {
    const d = axes === null ? 0 : axisFromStart(along[along.length === 1 ? 0 : i], shape.length)
    const n = axes === null ? size : shape[d]
    const shift = (shifts[shifts.length === 1 ? 0 : i] % n) + moves[d]
    moves[d] = n === 0 ? 0 : ((shift % n) + n) % n
  }
  /** @type {Recipe['write']} */
  const write = (target, casting) => {
    if (size > 0) rollAxes(target, source, moves, casting, 0)
  }
  if (axes !== null || shape.length === 1) return { dtype, shape, sources: [source], write }
  return {
    dtype,
    shape,
    sources: [source],
    canWriteTo: (target) => ffi.reshape(target, [size]).storage !== nothing,
    write(target, casting) {
      withFlat(source, (flat) => {
        if (size > 0) rollAxes(ffi.reshape(target, [size]), flat, moves, casting, 0)
      })
    },
  }
}

/**
 * @param {Layout} target
 * @param {Layout} source
 * @param {number[]} moves  elements per axis, 0 to the extent - 1
 * @param {number} casting
 * @param {number} d  first axis not yet rolled
 */
function rollAxes(target, source, moves, casting, d) {
  if (d === moves.length) return ffi.copy(target, source, casting)
  const shift = moves[d]
  if (shift === 0) return rollAxes(target, source, moves, casting, d + 1)
  const kept = source.shape[d] - shift
  rollAxes(narrow(target, d, shift, kept), narrow(source, d, 0, kept), moves, casting, d + 1)
  rollAxes(narrow(target, d, 0, shift), narrow(source, d, kept, shift), moves, casting, d + 1)
}

/**
 * Writes a result into a target that shares no byte with the sources.
 *
 * @param {Recipe} recipe
 * @param {Layout} target  of its shape
 * @param {number} casting
 */
function write(recipe, target, casting) {
  if (recipe.canWriteTo === undefined || recipe.canWriteTo(target)) recipe.write(target, casting)
  else writeThroughTemporary(recipe, recipe.dtype, target, casting)
}

/**
 * @param {Recipe} recipe
 * @param {number} dtype  of the temporary
 * @param {Layout} target
 * @param {number} casting
 */
function writeThroughTemporary(recipe, dtype, target, casting) {
  withCopy(dtype, recipe.shape, target, (copy) => {
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
function writeInto(recipe, target, casting) {
  const { sources, canWriteTo } = recipe
  ffi.checkCopy({ dst: target, src: target, scaling: null, casting })
  const isShared = sources.some((source) => ffi.sharesMemory(target, source))
  if (isShared && (canWriteTo === undefined || canWriteTo(target))) {
    writeThroughTemporary(recipe, target.dtype, target, casting)
  } else write(recipe, target, casting)
}

module.exports = {
  concat,
  stack,
  tile,
  repeat,
  take,
  takeAlongAxis,
  triangle,
  roll,
  write,
  writeInto,
}
