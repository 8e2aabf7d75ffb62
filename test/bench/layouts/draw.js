'use strict'
// Layouts that users have, drawn from a seed: a case is a target and a source of one shape, each with its elements' places in a plain array,
// and what is computed on the way.

const FLOATS = ['float32', 'float64']
const SMALL = ['uint8', 'int8', 'int16', 'uint16']
const NUMBERS = [...SMALL, 'int32', 'uint32', ...FLOATS]
const SIZES = {
  uint8: 1,
  int8: 1,
  int16: 2,
  uint16: 2,
  int32: 4,
  uint32: 4,
  float32: 4,
  float64: 8,
}

/**
 * Numbers from a seed (xorshift32).
 *
 * @param {number} seed
 */
function randomly(seed) {
  let state = (Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995) >>> 0 || 1
  const next = () => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 2 ** 32
  }
  const below = (n) => Math.floor(next() * n)
  return { below, among: (list) => list[below(list.length)], chance: (p) => next() < p }
}

// ---- Views: { size, offset, shape, strides }, in elements ----

function dense(shape) {
  const strides = []
  let size = 1
  for (let d = shape.length - 1; d >= 0; d--) {
    strides[d] = size
    size *= shape[d]
  }
  return { size, offset: 0, shape, strides }
}

const replaced = (list, i, value) => list.map((each, k) => (k === i ? value : each))

/** Every step-th index of an axis from start on; a negative step goes back from the last one. */
function sliced(view, axis, { start = 0, length, step = 1 }) {
  const from = step < 0 ? start + (length - 1) * -step : start
  return {
    ...view,
    offset: view.offset + from * view.strides[axis],
    shape: replaced(view.shape, axis, length),
    strides: replaced(view.strides, axis, view.strides[axis] * step),
  }
}

const flipped = (view, axis) => sliced(view, axis, { length: view.shape[axis], step: -1 })
const permuted = (view, axes) => ({
  ...view,
  shape: axes.map((d) => view.shape[d]),
  strides: axes.map((d) => view.strides[d]),
})
const expanded = (view, axis, n) => ({
  ...view,
  shape: replaced(view.shape, axis, n),
  strides: replaced(view.strides, axis, 0),
})

/** A view of a part of a larger array, as concatenation and crops have it. */
function inside(shape, draw) {
  const larger = shape.map((n) => n + (draw.chance(0.5) ? 1 + draw.below(Math.max(2, n >> 2)) : 0))
  let view = dense(larger)
  for (const [axis, length] of shape.entries()) {
    view = sliced(view, axis, { start: draw.below(larger[axis] - length + 1), length })
  }
  return view
}

// ---- Families: each gives a target and a source of one shape, of about so many elements ----

const FAMILIES = {
  images(draw, n) {
    const channels = draw.among([1, 3, 3, 4, 4])
    const kept = channels === 4 && draw.chance(0.5) ? 3 : channels
    const side = Math.max(4, Math.round(Math.sqrt(n / channels)))
    const shape = [side + draw.below(5), side + draw.below(5), channels]
    let from = draw.chance(0.4) ? inside(shape, draw) : dense(shape)
    from = sliced(from, 2, { length: kept })
    if (draw.chance(0.2)) from = flipped(from, draw.below(2)) // mirrored
    if (kept >= 3 && draw.chance(0.2)) from = flipped(from, 2) // BGR
    if (draw.chance(0.15)) from = flipped(permuted(from, [1, 0, 2]), draw.below(2)) // rotated
    if (draw.chance(0.15)) {
      for (const axis of [0, 1]) {
        from = sliced(from, axis, { length: from.shape[axis] >> 1, step: 2 })
      }
    }
    if (draw.chance(0.4)) from = permuted(from, [2, 0, 1]) // planes
    const wide =
      kept === 3 && from.shape.at(-1) === 3 && draw.chance(0.25)
        ? sliced(dense(replaced(from.shape, 2, 4)), 2, { length: 3 })
        : dense(from.shape)
    return [wide, from]
  },
  planesToPixels(draw, n) {
    const channels = 2 + draw.below(3)
    const side = Math.max(4, Math.round(Math.sqrt(n / channels)))
    return [dense([side, side, channels]), permuted(dense([channels, side, side]), [1, 2, 0])]
  },
  audio(draw, n) {
    const channels = draw.among([1, 2, 2, 6])
    const frames = Math.max(16, Math.floor(n / channels))
    const interleaved = permuted(dense([frames, channels]), [1, 0])
    const planes = dense([channels, frames])
    if (draw.chance(0.3)) {
      // overlapping windows
      const width = Math.min(512, frames >> 1)
      const hop = width >> 1
      const count = Math.floor((frames - width) / hop) + 1
      const windows = { size: frames, offset: 0, shape: [count, width], strides: [hop, 1] }
      return [dense([count, width]), windows]
    }
    return draw.chance(0.5) ? [planes, interleaved] : [interleaved, planes]
  },
  heads(draw, n) {
    const heads = draw.among([4, 8, 12])
    const width = draw.among([32, 64, 80])
    const tokens = Math.max(2, Math.floor(n / heads / width))
    const from = permuted(dense([tokens, heads, width]), draw.chance(0.7) ? [1, 0, 2] : [1, 2, 0])
    return draw.chance(0.3) ? [inside(from.shape, draw), from] : [dense(from.shape), from]
  },
  columns(draw, n) {
    const width = 2 + draw.below(30)
    const rows = Math.max(8, Math.floor(n / width))
    const count = 1 + draw.below(Math.min(width, 8))
    const part = sliced(dense([rows, width]), 1, {
      start: draw.below(width - count + 1),
      length: count,
    })
    const whole = draw.chance(0.3) ? permuted(dense([count, rows]), [1, 0]) : dense([rows, count])
    return draw.chance(0.6) ? [whole, part] : [part, whole]
  },
  matrices(draw, n) {
    const rows = draw.among([2, 3, 3, 4, 4, 6])
    const columns = draw.chance(0.7) ? rows : draw.among([2, 3, 4, 6, 8])
    const count = Math.max(4, Math.floor(n / rows / columns))
    return [dense([count, columns, rows]), permuted(dense([count, rows, columns]), [0, 2, 1])]
  },
  patches(draw, n) {
    const side = draw.among([4, 8, 16])
    const across = Math.max(2, Math.round(Math.sqrt(n / side / side)))
    const image = dense([across, side, across, side])
    return draw.chance(0.7)
      ? [dense([across, across, side, side]), permuted(image, [0, 2, 1, 3])]
      : [permuted(image, [0, 2, 1, 3]), dense([across, across, side, side])]
  },
  broadcast(draw, n) {
    const short = draw.among([1, 3, 4, 7, 16])
    const long = Math.max(4, Math.floor(n / short))
    const shape = draw.chance(0.5) ? [long, short] : [short, long]
    const axis = draw.below(2)
    return [dense(shape), expanded(dense(replaced(shape, axis, 1)), axis, shape[axis])]
  },
  concatenation(draw, n) {
    const side = Math.max(4, Math.round(Math.sqrt(n)))
    const shape = [side, Math.max(2, draw.chance(0.5) ? side : draw.below(24))]
    return [inside(shape, draw), dense(shape)]
  },
  permuted(draw, n) {
    const ndim = 3 + draw.below(2)
    const shape = Array.from({ length: ndim }, () => 1 + draw.below(2 * Math.ceil(n ** (1 / ndim))))
    const axes = shape.map((_, d) => d)
    for (let d = ndim - 1; d > 0; d--) {
      const k = draw.below(d + 1)
      ;[axes[d], axes[k]] = [axes[k], axes[d]]
    }
    const from = permuted(dense(shape), axes)
    return [dense(from.shape), draw.chance(0.2) ? flipped(from, draw.below(ndim)) : from]
  },
}

/** One dtype, small integers that become floats, or any other two. */
function drawDtypes(draw) {
  if (!draw.chance(0.45)) return Array(2).fill(draw.among(NUMBERS))
  return draw.chance(0.3)
    ? [draw.among(NUMBERS), draw.among(NUMBERS)]
    : [draw.among(SMALL), draw.among(FLOATS)]
}

/**
 * One case of a seed.
 *
 * @param {number} seed
 * @param {{ least: number, most: number }} bytes  of the target, about
 */
function drawCase(seed, { least, most }) {
  const draw = randomly(seed)
  const family = draw.among(Object.keys(FAMILIES))
  const [fromDtype, toDtype] = drawDtypes(draw)
  const nbytes = least * (most / least) ** (draw.below(1000) / 1000)
  const [to, from] = FAMILIES[family](draw, Math.max(16, Math.floor(nbytes / SIZES[toDtype])))
  const scales = toDtype === 'float32' && draw.chance(0.5)
  const axis = scales ? channelAxis(to.shape) : -1
  const factors = scales
    ? Array.from({ length: axis < 0 ? 1 : to.shape[axis] }, (_, i) => (i + 1) / 8)
    : []
  return {
    seed,
    family,
    to: { ...to, dtype: toDtype },
    from: { ...from, dtype: fromDtype },
    axis,
    scale: factors,
    bias: factors.map((x) => x - 1),
  }
}

/** An axis with few indices, as channels are; -1: none. */
function channelAxis(shape) {
  return shape.findIndex((n) => n > 1 && n <= 4)
}

const numelOf = (shape) => shape.reduce((a, b) => a * b, 1)

const LINE = 64 // bytes of a cache line

/** Bytes that are read and written at least, each element once. */
const movedBytes = ({ to, from }) => numelOf(to.shape) * (SIZES[to.dtype] + SIZES[from.dtype])

/** Bytes of the cache lines that a side's elements lie in: memory gives and takes whole ones. */
function lineBytes({ size, offset, shape, strides, dtype }) {
  const itemsize = SIZES[dtype]
  const lines = new Uint8Array(Math.ceil((size * itemsize) / LINE) + 1)
  const axes = shape.map((_, d) => d).sort((a, b) => Math.abs(strides[b]) - Math.abs(strides[a]))
  const mark = (first, i) => {
    const d = axes[i]
    const step = (strides[d] ?? 0) * itemsize
    if (i >= axes.length - 1 && Math.abs(step) <= LINE) {
      // no line between its ends is left out
      const last = first + ((shape[d] ?? 1) - 1) * step
      lines.fill(
        1,
        Math.floor(Math.min(first, last) / LINE),
        Math.floor((Math.max(first, last) + itemsize - 1) / LINE) + 1,
      )
      return
    }
    for (let k = 0; k < shape[d]; k++) {
      if (i < axes.length - 1) mark(first + k * step, i + 1)
      else lines[Math.floor((first + k * step) / LINE)] = 1
    }
  }
  mark(offset * itemsize, 0)
  return LINE * lines.reduce((sum, x) => sum + x, 0)
}

/** In words. */
function titleOf({ family, to, from, scale, axis }) {
  const side = ({ dtype, strides }) => `${dtype} (${strides.join(' ')})`
  return `${family} [${to.shape.join(' ')}] ${side(from)} to ${side(to)}${scale.length > 0 ? `, scaled${axis < 0 ? '' : ` by axis ${axis}`}` : ''}`
}

module.exports = { FAMILIES, SIZES, drawCase, lineBytes, movedBytes, numelOf, randomly, titleOf }
