'use strict'
// Random programs of calls, run on the library and on test/model.js side by side. After each call everything that can
// be seen of every tensor is compared; what the model refuses the library must refuse, with one of the codes it names.
const assert = require('node:assert/strict')
const samebytes = require('samebytes')
const math = require('samebytes/math')
const { readRows } = require('../scripts/generate/math-functions')
const { generator } = require('./setup')
const {
  DTYPES,
  INTEGERS,
  ITEMSIZE,
  Model,
  cast,
  fail,
  flat,
  indices,
  mayCast,
  product,
} = require('./model')

const { Tensor, memory } = samebytes
const MOST_LIVE = 8
const MOST_ELEMENTS = 48

// ---- Random arguments ----

function randomArguments(seed) {
  const random = generator(seed)
  const { next, pick, shuffle } = random
  const rarely = (n = 15) => next(n) === 0
  const extent = () => (rarely(12) ? 0 : pick([1, 1, 2, 2, 3, 4]))
  function shape(ndim = pick([0, 1, 1, 2, 2, 3, 3, 4])) {
    const list = Array.from({ length: ndim }, extent)
    while (product(list) > MOST_ELEMENTS) list[list.indexOf(Math.max(...list))]--
    return list
  }
  /** mostly one of ndim, from either end */
  const axis = (ndim) =>
    rarely() || ndim === 0 ? pick([ndim, -ndim - 1, ndim + 3]) : next(2 * ndim) - ndim
  const bits = (n) => Array.from({ length: n }, () => random.uint32() & 255)
  /** a shape of as many elements */
  function sameSize(t) {
    if (rarely()) return shape()
    if (t.size === 0) return shuffle([0, ...shape(next(3))])
    const list = []
    let rest = t.size
    for (let d = next(4); d > 0 && rest > 1; d--) {
      const divisors = [1, 2, 3, 4, 5, 6].filter((n) => rest % n === 0)
      list.push(pick(divisors))
      rest /= list.at(-1)
    }
    return rest === 1 && next(2) ? list : shuffle([...list, rest])
  }
  return { ...random, rarely, shape, axis, bits, sameSize }
}

const real = (axis, ndim) =>
  axis < -ndim || axis >= ndim ? fail('ERR_BOUNDS') : axis < 0 ? axis + ndim : axis
const without = (list, d) => list.filter((_, i) => i !== d)
const put = (list, d, x) => [...list.slice(0, d), x, ...list.slice(d)]
const changed = (list, d, x) => list.map((y, i) => (i === d ? x : y))

/** A plain value of a dtype, and now and then one that does not fit. */
function valueFor(r, dtype) {
  if (dtype === 'bool') return r.next(2) === 1
  if (INTEGERS[dtype] && r.rarely(10)) return r.pick([1.5, dtype.startsWith('u') ? -1 : -0.5])
  if (dtype.startsWith('complex')) return [r.next(4), r.next(4)]
  return r.next(4)
}

function bytesOf(value, dtype) {
  const number = Array.isArray(value) ? value[0] : Number(value)
  if (INTEGERS[dtype] && (!Number.isInteger(number) || (number < 0 && dtype.startsWith('u')))) {
    fail('ERR_CAST')
  }
  return cast(value, typeof value === 'boolean' ? 'bool' : 'float64', dtype)
}

function pythonRange(n, [start, stop, step]) {
  const list = []
  const end = (x, missing, low, high) =>
    x === null ? missing : Math.min(Math.max(x < 0 ? x + n : x, low), high)
  if (step > 0) for (let i = end(start, 0, 0, n); i < end(stop, n, 0, n); i += step) list.push(i)
  else {
    for (let i = end(start, n - 1, -1, n - 1); i > end(stop, -1, -1, n - 1); i += step) list.push(i)
  }
  return list
}

/** Which index of a list of [kind, …] specs stands where: { shape, f } for Model.pick. */
function slicing(t, specs) {
  const rest = t.shape.length - specs.filter(([kind]) => kind === 'at' || kind === 'range').length
  if (rest < 0) fail('ERR_SHAPE')
  const full = specs.some(([kind]) => kind === '...') ? specs : [...specs, ['...']]
  const expanded = full.flatMap((spec) =>
    spec[0] === '...' ? new Array(rest).fill(['range', null, null, 1]) : [spec],
  )
  let d = 0
  const parts = expanded.map(([kind, ...more]) => {
    if (kind === 'new') return { added: true, list: [0] }
    const n = t.shape[d++]
    if (kind === 'at') return { dropped: true, list: [real(more[0], n)] }
    return { list: pythonRange(n, more) }
  })
  return {
    shape: parts.filter((part) => !part.dropped).map((part) => part.list.length),
    f(index) {
      let i = 0
      return parts.flatMap(({ added, dropped, list }) => {
        const place = dropped ? list[0] : list[index[i++]]
        return added ? [] : [place]
      })
    },
  }
}

/** Does one step per axis lead to each place of a shape? Then it is a view. */
function canView(t, shape) {
  if (t.size === 0) return true
  const step = shape.map((_, d) => product(shape.slice(d + 1)))
  const steps = shape.map((extent, d) => (extent > 1 ? t.places[step[d]] - t.places[0] : 0))
  return indices(shape).every(
    (index, i) => t.places[i] === index.reduce((at, x, d) => at + x * steps[d], t.places[0]),
  )
}

function filled(made, from, casting = 'unsafe') {
  const values = from.values
  const bytes = from.bytes
  const { itemsize } = from
  made.places.forEach((at, i) => {
    made.write(
      at,
      from.dtype === made.dtype
        ? bytes.subarray(i * itemsize, (i + 1) * itemsize)
        : cast(values[i], from.dtype, made.dtype),
    )
  })
  return made
}

function broadcast(t, shape) {
  const added = shape.length - t.shape.length
  if (added < 0 || t.shape.some((n, d) => n !== shape[d + added] && n !== 1)) fail('ERR_SHAPE')
  return t.pick(shape, (index) => index.slice(added).map((i, d) => (t.shape[d] === 1 ? 0 : i)))
}

/** All that is wrong with a target, for whoever writes into it. */
function refuse(...codes) {
  const found = codes.filter(Boolean)
  if (found.length > 0) throw Object.assign(new Error(found.join()), { codes: found })
}

const caught = (fn) => {
  try {
    fn()
    return false
  } catch (error) {
    return error.code
  }
}

// ---- The calls: arguments (null: not for this tensor), the model's, the library's ----

const ARRAYS = {
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  uint64: BigUint64Array,
  int64: BigInt64Array,
}
const bySize = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array }
const options = (r) => ({
  dynamism: r.pick(['static', 'bounded', 'bounded', 'unbound', 'unbound']),
  order: r.pick(['C', 'C', 'F']),
})
const inOrder = (shape, { dynamism, order }) => ({
  dynamism,
  order: shape.map((_, d) => (order === 'F' ? shape.length - 1 - d : d)),
})

const MAKERS = {
  zeros: {
    args: (r) => [r.pick(DTYPES), r.shape(), options(r)],
    model: (_, dtype, shape, opts) => Model.make(dtype, shape, inOrder(shape, opts)),
    library: (_, dtype, shape, opts) => samebytes.zeros(shape, { dtype, ...opts }),
  },
  tensor: {
    args: (r) => {
      const [dtype, shape] = [r.pick(DTYPES), r.shape()]
      return [
        dtype,
        shape,
        Array.from({ length: product(shape) }, () => valueFor(r, dtype)),
        options(r),
      ]
    },
    model(_, dtype, shape, values, opts) {
      const t = Model.make(dtype, shape, inOrder(shape, opts))
      t.places.forEach((at, i) => t.write(at, bytesOf(values[i], dtype)))
      return t
    },
    library: (_, dtype, shape, values, opts) => samebytes.tensor(values, shape, { dtype, ...opts }),
  },
  fromBytes: {
    args: (r) => {
      const [dtype, shape] = [r.pick(DTYPES), r.shape()]
      return [dtype, shape, r.bits(product(shape) * ITEMSIZE[dtype]), options(r)]
    },
    model(_, dtype, shape, bytes, opts) {
      const t = Model.make(dtype, shape, inOrder(shape, opts))
      t.places.forEach((at, i) => t.write(at, bytes.slice(i * t.itemsize, (i + 1) * t.itemsize)))
      return t
    },
    library: (_, dtype, shape, bytes, opts) =>
      samebytes.fromBytes(Uint8Array.from(bytes), shape, { dtype, ...opts }),
  },
  fromBlob: {
    args: (r) => {
      const [dtype, shape, before, after] = [r.pick(DTYPES), r.shape(), r.next(3), r.next(3)]
      return [
        dtype,
        shape,
        before,
        r.bits((before + product(shape) + after) * ITEMSIZE[dtype]),
        { dynamism: options(r).dynamism, readOnly: r.rarely(8) },
      ]
    },
    model(_, dtype, shape, offset, bytes, { dynamism, readOnly }) {
      const whole = new Model({
        storage: { bytes: Uint8Array.from(bytes), ours: false },
        dtype,
        shape: [0],
        places: [],
        start: 0,
        dynamism,
        readOnly,
      })
      return strided(
        whole,
        shape,
        shape.map((_, d) => product(shape.slice(d + 1).map((n) => Math.max(n, 1)))),
        offset,
      )
    },
    library: (_, dtype, shape, offset, bytes, opts) =>
      samebytes.fromBlob(Uint8Array.from(bytes).buffer, shape, { dtype, offset, ...opts }),
  },
}

/** Elements of the storage, in steps of elements from its first byte. */
function strided(t, shape, strides, offset) {
  const places = indices(shape).map(
    (index) => index.reduce((at, i, d) => at + i * strides[d], offset) * t.itemsize,
  )
  const end = t.storage.bytes.length - t.itemsize
  if (places.some((at) => at < 0 || at > end)) fail('ERR_BOUNDS')
  if (places.length === 0 && (offset < 0 || offset * t.itemsize > t.storage.bytes.length)) {
    fail('ERR_BOUNDS')
  }
  return t.viewed({ shape, places, start: offset * t.itemsize })
}

function narrowed(t, d, start, length) {
  return t.pick(changed(t.shape, d, length), (index) => changed(index, d, index[d] + start))
}

const VIEWS = {
  slice: {
    args: (r, t) => {
      const specs = t.shape
        .slice(0, r.next(t.shape.length + 1))
        .map((n) =>
          r.rarely(4)
            ? ['at', r.axis(n)]
            : [
                'range',
                ...[0, 1].map(() => (r.next(2) ? null : r.next(2 * n + 5) - n - 2)),
                r.pick([1, 1, 2, -1, -2, 3]),
              ],
        )
      if (r.rarely(4)) specs.splice(r.next(specs.length + 1), 0, ['new'])
      if (r.rarely(4)) specs.splice(r.next(specs.length + 1), 0, ['...'])
      if (r.rarely(40)) specs.push(...new Array(5).fill(['range', null, null, 1]))
      return [specs]
    },
    model(t, specs) {
      const { shape, f } = slicing(t, specs)
      return t.pick(shape, f)
    },
    library: (t, specs) =>
      t.slice(
        ...specs.map(([kind, ...more]) => {
          if (kind === 'range') return more.map((x) => x ?? '').join(':')
          return kind === 'at' ? more[0] : kind === 'new' ? null : '...'
        }),
      ),
  },
  select: {
    args: (r, t) => {
      const axis = r.axis(t.shape.length)
      return [axis, r.axis(t.shape.at(axis) ?? 1)]
    },
    model(t, axis, index) {
      const d = real(axis, t.shape.length)
      const i = real(index, t.shape[d])
      return t.pick(without(t.shape, d), (rest) => put(rest, d, i))
    },
    library: (t, axis, index) => t.select(axis, index),
  },
  narrow: {
    args: (r, t) => {
      const axis = r.axis(t.shape.length)
      const n = t.shape.at(axis) ?? 1
      const start = r.next(n + 1)
      return [
        axis,
        r.next(2) && start < n ? start - n : start,
        r.rarely() ? n + 1 : r.next(n - start + 1),
      ]
    },
    model(t, axis, start, length) {
      const d = real(axis, t.shape.length)
      const n = t.shape[d]
      const first = start < 0 ? start + n : start
      if (first < 0 || first + length > n) fail('ERR_BOUNDS')
      return narrowed(t, d, first, length)
    },
    library: (t, ...args) => t.narrow(...args),
  },
  permute: {
    args: (r, t) => [
      r.shuffle(t.shape.map((_, d) => (r.rarely(30) ? 0 : r.pick([d, d - t.shape.length])))),
    ],
    model(t, order) {
      const axes = order.map((axis) => real(axis, t.shape.length))
      if (new Set(axes).size < axes.length) fail('ERR_BOUNDS')
      return t.pick(
        axes.map((d) => t.shape[d]),
        (index) => t.shape.map((_, d) => index[axes.indexOf(d)]),
      )
    },
    library: (t, order) => t.permute(order),
  },
  transpose: {
    args: (r, t) => [r.axis(t.shape.length), r.axis(t.shape.length)],
    model(t, a, b) {
      const [x, y] = [a, b].map((axis) => real(axis, t.shape.length))
      const order = t.shape.map((_, d) => (d === x ? y : d === y ? x : d))
      return t.pick(
        order.map((d) => t.shape[d]),
        (index) => order.map((d) => index[d]),
      )
    },
    library: (t, a, b) => t.transpose(a, b),
  },
  mT: {
    args: () => [],
    model: (t) => (t.shape.length < 2 ? fail('ERR_SHAPE') : VIEWS.transpose.model(t, -1, -2)),
    library: (t) => t.mT,
  },
  reshape: {
    args: (r, t) => [r.sameSize(t)],
    model(t, shape) {
      if (product(shape) !== t.size) fail('ERR_SHAPE')
      if (canView(t, shape)) return t.viewed({ shape, places: t.places })
      return filled(Model.make(t.dtype, shape, { dynamism: t.dynamism }), t)
    },
    library: (t, shape) => t.reshape(shape),
  },
  view: {
    args: (r, t) => [r.sameSize(t)],
    model(t, shape) {
      if (product(shape) !== t.size || !canView(t, shape)) fail('ERR_SHAPE')
      return t.viewed({ shape, places: t.places })
    },
    library: (t, shape) => t.view(shape),
  },
  'view of another dtype': {
    args: (r, t) => [r.pick(DTYPES)],
    model(t, dtype) {
      const [from, to] = [t.itemsize, ITEMSIZE[dtype]]
      if (from === to) return t.viewed({ dtype, shape: t.shape, places: t.places })
      if (t.shape.length === 0) fail('ERR_SHAPE')
      const last = t.shape.at(-1)
      const rows = indices(t.shape.slice(0, -1))
      const isRow = (_, i) =>
        t.places.slice(i * last, (i + 1) * last).every((at, k, row) => at === row[0] + k * from) &&
        t.places[i * last] % to === 0
      if ((t.size > 0 && !rows.every(isRow)) || (last * from) % to !== 0 || t.start % to !== 0) {
        refuse('ERR_SHAPE', 'ERR_ALIGNMENT')
      }
      const count = (last * from) / to
      const places =
        t.size === 0
          ? []
          : rows.flatMap((_, i) =>
              Array.from({ length: count }, (_, k) => t.places[i * last] + k * to),
            )
      return t.viewed({ dtype, shape: [...t.shape.slice(0, -1), count], places })
    },
    library: (t, dtype) => t.view(dtype),
  },
  squeeze: {
    args: (r, t) =>
      r.next(2)
        ? []
        : [
            r.rarely()
              ? [r.axis(t.shape.length)]
              : t.shape.flatMap((n, d) => (n === 1 && r.next(2) ? [d] : [])),
          ],
    model(t, given) {
      const axes =
        given === undefined
          ? t.shape.flatMap((n, d) => (n === 1 ? [d] : []))
          : given.map((axis) => real(axis, t.shape.length))
      if (axes.some((d) => t.shape[d] !== 1)) fail('ERR_SHAPE')
      return t.viewed({ shape: t.shape.filter((_, d) => !axes.includes(d)), places: t.places })
    },
    library: (t, ...args) => t.squeeze(...args),
  },
  unsqueeze: {
    args: (r, t) => (t.shape.length > 5 ? null : [r.axis(t.shape.length + 1)]),
    model: (t, axis) =>
      t.viewed({ shape: put(t.shape, real(axis, t.shape.length + 1), 1), places: t.places }),
    library: (t, axis) => t.unsqueeze(axis),
  },
  expand: {
    args: (r, t) => {
      const shape = [
        ...r.shape(r.next(2)),
        ...t.shape.map((n) =>
          r.rarely(20) ? 3 : n === 1 ? r.pick([1, 2, 3, -1]) : r.pick([n, -1]),
        ),
      ]
      return product(shape.map(Math.abs)) > MOST_ELEMENTS ? null : [shape]
    },
    model(t, shape) {
      const added = shape.length - t.shape.length
      return broadcast(
        t,
        shape.map((n, d) => (n === -1 ? t.shape[d - added] : n)),
      )
    },
    library: (t, shape) => t.expand(shape),
  },
  flip: {
    args: (r, t) =>
      r.next(2)
        ? []
        : [
            r.rarely(4)
              ? [r.axis(t.shape.length)]
              : t.shape.flatMap((_, d) => (r.next(2) ? [d] : [])),
          ],
    model(t, given = t.shape.map((_, d) => d)) {
      const axes = given.map((axis) => real(axis, t.shape.length))
      return t.pick(t.shape, (index) =>
        index.map((i, d) => (axes.includes(d) ? t.shape[d] - 1 - i : i)),
      )
    },
    library: (t, ...args) => t.flip(...args),
  },
  diagonal: {
    args: (r, t) => [r.next(7) - 3, r.axis(t.shape.length), r.axis(t.shape.length)],
    model(t, offset, a, b) {
      const [x, y] = [a, b].map((axis) => real(axis, t.shape.length))
      if (x === y) fail('ERR_BOUNDS')
      const [down, right] = [Math.max(-offset, 0), Math.max(offset, 0)]
      const length = Math.max(Math.min(t.shape[x] - down, t.shape[y] - right), 0)
      return t.pick([...t.shape.filter((_, d) => d !== x && d !== y), length], (index) => {
        const rest = index.slice(0, -1)
        return t.shape.map((_, d) =>
          d === x ? index.at(-1) + down : d === y ? index.at(-1) + right : rest.shift(),
        )
      })
    },
    library: (t, ...args) => t.diagonal(...args),
  },
  unfold: {
    args: (r, t) => {
      const axis = r.axis(t.shape.length)
      return t.shape.length > 4 ? null : [axis, r.next((t.shape.at(axis) ?? 1) + 1), 1 + r.next(3)]
    },
    model(t, axis, size, step) {
      const d = real(axis, t.shape.length)
      const windows = Math.floor((t.shape[d] - size) / step) + 1
      if (size > t.shape[d]) fail('ERR_BOUNDS')
      return t.pick([...changed(t.shape, d, windows), size], (index) =>
        changed(index.slice(0, -1), d, index[d] * step + index.at(-1)),
      )
    },
    library: (t, ...args) => t.unfold(...args),
  },
  asStrided: {
    args: (r) => {
      const shape = r.shape(r.next(4))
      return [shape, shape.map(() => r.pick([0, 1, 1, 2, 3, -1, -2, 5])), r.next(12)]
    },
    model: strided,
    library: (t, ...args) => t.asStrided(...args),
  },
  split: {
    args: (r, t) => {
      const axis = r.axis(t.shape.length)
      return [r.next(3) + (r.rarely() ? 0 : 1), axis]
    },
    model(t, size, axis) {
      const d = real(axis, t.shape.length)
      const n = t.shape[d]
      if (size === 0 && n > 0) fail('ERR_BOUNDS')
      const parts = []
      for (let at = 0; at < n; at += size) parts.push(narrowed(t, d, at, Math.min(size, n - at)))
      return n === 0 ? [narrowed(t, d, 0, 0)] : parts
    },
    library: (t, ...args) => t.split(...args),
  },
  unbind: {
    args: (r, t) => [r.axis(t.shape.length)],
    model: (t, axis) =>
      Array.from({ length: t.shape[real(axis, t.shape.length)] }, (_, i) =>
        VIEWS.select.model(t, axis, i),
      ),
    library: (t, axis) => t.unbind(axis),
  },
}

const COPIES = {
  clone: {
    args: (r, t) =>
      r.next(2) ? [{}] : [{ dtype: r.pick(DTYPES), casting: r.pick(['same_kind', 'unsafe']) }],
    model(t, { dtype = t.dtype, casting = 'same_kind' }) {
      if (!mayCast(t.dtype, dtype, casting)) fail('ERR_CAST')
      return filled(
        Model.make(dtype, t.shape, {
          order: t.dimOrder,
          dynamism: t.dynamism,
          remembered: t.order,
        }),
        t,
      )
    },
    library: (t, opts) => t.clone(opts),
  },
  contiguous: {
    args: () => [],
    model: (t) =>
      t.isContiguous ? t : filled(Model.make(t.dtype, t.shape, { dynamism: t.dynamism }), t),
    library: (t) => t.contiguous(),
  },
  toMemoryFormat: {
    args: (r, t) => (r.rarely() || t.shape.length === 4 ? ['channels_last'] : null),
    model(t) {
      const order = { 4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1] }[t.shape.length] ?? fail('ERR_SHAPE')
      return t.isDenseIn(order)
        ? t
        : filled(Model.make(t.dtype, t.shape, { order, dynamism: t.dynamism }), t)
    },
    library: (t, format) => t.toMemoryFormat(format),
  },
}

const WRITES = {
  set: {
    args: (r, t) => [valueFor(r, t.dtype), t.shape.map((n) => r.axis(n))],
    model(t, value, index) {
      const bytes = caught(() => bytesOf(value, t.dtype))
      const place = caught(() => index.forEach((i, d) => real(i, t.shape[d])))
      refuse(t.readOnly && 'ERR_READ_ONLY', bytes, place)
      t.write(
        t.places[
          flat(
            t.shape,
            index.map((i, d) => real(i, t.shape[d])),
          )
        ],
        bytesOf(value, t.dtype),
      )
    },
    library: (t, value, index) => t.set(value, ...index),
  },
  fill: {
    args: (r, t) => [valueFor(r, t.dtype)],
    model(t, value) {
      refuse(
        t.readOnly && 'ERR_READ_ONLY',
        caught(() => bytesOf(value, t.dtype)),
      )
      for (const at of t.places) t.write(at, bytesOf(value, t.dtype))
      return t
    },
    library: (t, value) => t.fill(value),
  },
  zero: {
    args: () => [],
    model: (t) => WRITES.fill.model(t, t.dtype === 'bool' ? false : 0),
    library: (t) => t.zero(),
  },
  copyFrom: {
    args: (r, t, state) => [
      { ref: r.pick(state.fitting(t)) },
      r.pick(['same_kind', 'unsafe', 'unsafe']),
    ],
    model(t, src, casting) {
      const shape = caught(() => broadcast(src, t.shape))
      refuse(
        t.readOnly && 'ERR_READ_ONLY',
        shape,
        !mayCast(src.dtype, t.dtype, casting) && 'ERR_CAST',
        t.overlapsItself && 'ERR_OVERLAP',
      )
      const from = broadcast(src, t.shape)
      return filled(t, new Model({ ...from, storage: { bytes: from.storage.bytes.slice() } }))
    },
    library: (t, src, casting) => t.copyFrom(src, { casting }),
  },
  'copyFrom of a typed array': {
    args: (r, t) => {
      const from = r.pick(Object.keys(INTEGERS))
      return [from, r.bits((t.size + (r.rarely() ? 1 : 0)) * ITEMSIZE[from])]
    },
    model(t, from, bytes) {
      const n = bytes.length / ITEMSIZE[from]
      refuse(
        t.readOnly && 'ERR_READ_ONLY',
        n !== t.size && 'ERR_SHAPE',
        t.overlapsItself && 'ERR_OVERLAP',
      )
      const src = Model.make(from, t.shape)
      src.storage.bytes.set(bytes)
      return filled(t, src)
    },
    library: (t, from, bytes) =>
      t.copyFrom(new ARRAYS[from](Uint8Array.from(bytes).buffer), { casting: 'unsafe' }),
  },
  setBytes: {
    args: (r, t) => [r.bits(t.size * t.itemsize + (r.rarely() ? 1 : 0))],
    model(t, bytes) {
      refuse(
        t.readOnly && 'ERR_READ_ONLY',
        bytes.length !== t.size * t.itemsize && 'ERR_SHAPE',
        t.overlapsItself && 'ERR_OVERLAP',
      )
      t.places.forEach((at, i) => t.write(at, bytes.slice(i * t.itemsize, (i + 1) * t.itemsize)))
      return t
    },
    library: (t, bytes) => t.setBytes(Uint8Array.from(bytes)),
  },
  'write through data': {
    args: (r, t) => [r.bits(t.size * t.itemsize)],
    model(t, bytes) {
      if (!t.isContiguous) fail('ERR_SHAPE')
      t.places.forEach((at, i) => t.write(at, bytes.slice(i * t.itemsize, (i + 1) * t.itemsize)))
    },
    library(t, bytes) {
      const { data } = t
      const Type = bySize[data.BYTES_PER_ELEMENT]
      new Type(data.buffer, data.byteOffset, data.length).set(
        new Type(Uint8Array.from(bytes).buffer),
      )
    },
  },
}

const CHANGES = {
  resize: {
    args: (r, t) => {
      const shape = r.shape(t.shape.length + (r.rarely(30) ? 1 : 0))
      return [r.next(3) ? shape : t.shape.map((n) => r.next(n + 2))]
    },
    model(t, shape) {
      const size = product(shape)
      const order = t.order ?? (t.isContiguous ? null : t.dimOrder)
      const rows = t.shape.map((_, d) => d)
      const tooLarge = size > t.capacity && t.shape.length > 0
      refuse(
        shape.length !== t.shape.length && 'ERR_SHAPE',
        t.dynamism === 'static' && shape.join() !== t.shape.join() && 'ERR_SHAPE',
        !t.isDenseIn(order ?? rows) && 'ERR_SHAPE',
        tooLarge && (t.dynamism !== 'unbound' || !t.storage.ours) && 'ERR_SHAPE',
      )
      const made = Model.make(t.dtype, shape, { order: order ?? rows, dynamism: t.dynamism })
      if (!tooLarge) {
        return Object.assign(t, {
          shape,
          size,
          places: made.places.map((at) => at + t.start),
          order,
        })
      }
      made.storage.bytes.set(t.storage.bytes.subarray(t.start, t.start + t.capacity * t.itemsize))
      return Object.assign(t, made, { order })
    },
    library(t, shape) {
      const before = t.capacity
      t.resize(shape)
      if (t.capacity > before) {
        // what it did not have has any content
        const rest = t.asStrided([t.size - before], [1], before)
        rest.zero()
        rest.dispose()
      }
      return t
    },
  },
  setData: {
    args: (r, t, state) => [
      {
        ref: r.pick(
          state.ids(
            (other) =>
              r.rarely(10) ||
              (other.dtype === t.dtype && other.isContiguous && other.size >= t.size),
          ),
        ),
      },
    ],
    model(t, src) {
      const low = Math.min(0, ...t.places.map((at) => (at - t.start) / t.itemsize))
      const high = Math.max(-1, ...t.places.map((at) => (at - t.start) / t.itemsize))
      refuse(
        src.dtype !== t.dtype && 'ERR_DTYPE',
        !src.isContiguous && 'ERR_SHAPE',
        (low < 0 || high >= src.size) && 'ERR_BOUNDS',
      )
      const { storage, readOnly, start } = src
      return Object.assign(t, {
        storage,
        readOnly,
        places: t.places.map((at) => at - t.start + start),
        start,
        capacity: t.size,
      })
    },
    library: (t, src) => t.setData(src),
  },
}

/** Result of copies put together: a new one, dense. */
const gathered = (t, shape, f) =>
  filled(Model.make(t.dtype, shape, { dynamism: 'bounded' }), t.pick(shape, f))

const COMBINED = {
  concat: {
    args: (r, t, state) => {
      const axis = r.axis(t.shape.length)
      const same = (other) =>
        other.dtype === t.dtype &&
        other.shape.length === t.shape.length &&
        other.shape.every((n, d) => n === t.shape[d] || d === axis || d === axis + t.shape.length)
      return [Array.from({ length: r.next(3) }, () => ({ ref: r.pick(state.ids(same)) })), axis]
    },
    model(t, others, axis) {
      const all = [t, ...others]
      const ranks = all.some((other) => other.shape.length !== t.shape.length)
      const place = caught(() => real(axis, t.shape.length))
      refuse(ranks && 'ERR_SHAPE', place, t.shape.length === 0 && 'ERR_SHAPE')
      const d = real(axis, t.shape.length)
      if (all.some((other) => other.shape.some((n, k) => k !== d && n !== t.shape[k]))) {
        fail('ERR_SHAPE')
      }
      const made = Model.make(
        t.dtype,
        changed(
          t.shape,
          d,
          all.reduce((sum, other) => sum + other.shape[d], 0),
        ),
      )
      let at = 0
      for (const other of all) {
        filled(narrowed(made, d, at, other.shape[d]), other)
        at += other.shape[d]
      }
      return made
    },
    library: (t, others, axis) => samebytes.concat([t, ...others], axis),
  },
  stack: {
    args: (r, t, state) => [
      Array.from({ length: r.next(3) }, () => ({
        ref: r.pick(
          state.ids((other) => other.dtype === t.dtype && other.shape.join() === t.shape.join()),
        ),
      })),
      r.axis(t.shape.length + 1),
    ],
    model(t, others, axis) {
      const all = [t, ...others]
      refuse(
        all.some((other) => other.shape.join() !== t.shape.join()) && 'ERR_SHAPE',
        caught(() => real(axis, t.shape.length + 1)),
      )
      return COMBINED.concat.model(
        ...[
          VIEWS.unsqueeze.model(t, axis),
          others.map((other) => VIEWS.unsqueeze.model(other, axis)),
          axis,
        ],
      )
    },
    library: (t, others, axis) => samebytes.stack([t, ...others], axis),
  },
  roll: {
    args: (r, t) => (r.next(3) ? [r.next(13) - 6, r.axis(t.shape.length)] : [r.next(13) - 6]),
    model(t, shift, axis) {
      const move = (i, n) => (((i - shift) % n) + n) % n
      if (axis !== undefined) {
        const d = real(axis, t.shape.length)
        return gathered(t, t.shape, (index) => changed(index, d, move(index[d], t.shape[d])))
      }
      const all = indices(t.shape)
      return gathered(t, t.shape, (index) => all[move(flat(t.shape, index), t.size)])
    },
    library: (t, ...args) => t.roll(...args),
  },
  take: {
    args: (r, t) => {
      const axis = r.next(3) ? r.axis(t.shape.length) : undefined
      const n = axis === undefined ? t.size : (t.shape.at(axis) ?? 1)
      return [
        Array.from({ length: r.next(4) }, () =>
          n === 0 && !r.rarely() ? null : r.axis(Math.max(n, 1)),
        ).filter((i) => i !== null),
        ...(axis === undefined ? [] : [axis]),
      ]
    },
    model(t, list, axis) {
      if (axis === undefined) {
        const all = indices(t.shape)
        const found = list.map((i) => real(i, t.size))
        return gathered(t, [list.length], ([i]) => all[found[i]])
      }
      const d = real(axis, t.shape.length)
      const found = list.map((i) => real(i, t.shape[d]))
      return gathered(t, changed(t.shape, d, list.length), (index) =>
        changed(index, d, found[index[d]]),
      )
    },
    library: (t, ...args) => t.take(...args),
  },
  tile: {
    args: (r, t) => {
      const reps = Array.from({ length: r.next(t.shape.length + 2) }, () => r.next(3))
      return t.size * product(reps) > MOST_ELEMENTS ? null : [reps]
    },
    model(t, reps) {
      const added = Math.max(reps.length - t.shape.length, 0)
      const shape = [...new Array(added).fill(1), ...t.shape]
      const times = [...new Array(shape.length - reps.length).fill(1), ...reps]
      const result = shape.map((n, d) => n * times[d])
      return gathered(t, result, (index) => index.slice(added).map((i, d) => i % t.shape[d]))
    },
    library: (t, reps) => t.tile(reps),
  },
  repeat: {
    args: (r, t) => (r.next(2) ? [r.next(3), r.axis(t.shape.length)] : [r.next(3)]),
    model(t, n, axis) {
      if (axis !== undefined) {
        const d = real(axis, t.shape.length)
        return gathered(t, changed(t.shape, d, n * t.shape[d]), (index) =>
          changed(index, d, Math.floor(index[d] / n)),
        )
      }
      const all = indices(t.shape)
      return gathered(t, [t.size * n], ([i]) => all[Math.floor(i / n)])
    },
    library: (t, n, axis) => t.repeat(n, axis === undefined ? undefined : { axis }),
  },
}

// What a function of samebytes/math gives is what it gives for tensors of the same values side by side, into a tensor of its own:
// test/math compares values with NumPy's.

/** A tensor of the same values side by side, over bytes that nobody else has. */
const dense = (t) => samebytes.fromBytes(Uint8Array.from(t.bytes), t.shape, { dtype: t.dtype })

/**
 * The model of what compute makes of tensors, and of no others.
 *
 * @param {Model | null} out  gets the result; null: there is none
 * @param {Model[]} operands
 * @param {(given: samebytes.Tensor[], out: samebytes.Tensor | undefined) => samebytes.Tensor} compute
 */
function computed(out, operands, compute) {
  const given = operands.map(dense)
  const into = out === null ? undefined : dense(out)
  let found
  try {
    const codes = caught(() => {
      found = compute(given, into)
    })
    refuse(codes, out?.readOnly && 'ERR_READ_ONLY', out?.overlapsItself && 'ERR_OVERLAP')
    const made = Model.make(found.dtype, found.shape)
    made.storage.bytes.set(found.bytes)
    return out === null ? made : filled(out, made)
  } finally {
    for (const t of [...given, into, found]) t?.dispose()
  }
}

const ROWS = new Map(readRows().map((row) => [row.js, row]))
const REDUCTIONS = [
  'sum',
  'prod',
  'mean',
  'var',
  'std',
  'min',
  'max',
  'any',
  'all',
  'countNonzero',
  'argmin',
  'argmax',
  'cumulativeSum',
  'cumulativeProd',
  'diff',
  'softmax',
  'logSoftmax',
  'logSumExp',
  'vectorNorm',
  'normalize',
  'median',
]
const CASTING = ['same_kind', 'unsafe']

const COMPUTED = {
  'elementwise function': {
    args: (r, t, state) => {
      const { js, count } = r.pick([...ROWS.values()])
      const others = Array.from({ length: count - 1 }, () => ({
        ref: r.pick(r.next(2) ? state.ids((other) => other.dtype === t.dtype) : state.fitting(t)),
      }))
      return [
        js,
        others,
        r.next(2)
          ? null
          : {
              ref: r.pick(
                r.next(3)
                  ? state.ids((other) => other.shape.join() === t.shape.join())
                  : state.ids(),
              ),
            },
        r.pick(CASTING),
      ]
    },
    model: (t, name, others, out, casting) =>
      computed(out, [t, ...others], (given, into) => math[name](...given, { out: into, casting })),
    library: (t, name, others, out, casting) =>
      math[name](t, ...others, { out: out ?? undefined, casting }),
  },
  'function along axes': {
    args: (r, t, state) => {
      const name = r.pick(REDUCTIONS)
      const axis = r.axis(t.shape.length)
      return [
        name,
        /^(cum|diff)/.test(name) || r.next(2) ? { axis } : r.next(2) ? { keepdims: true } : {},
        r.next(3) ? null : { ref: r.pick(state.ids()) },
        r.pick(CASTING),
      ]
    },
    model: (t, name, opts, out, casting) =>
      computed(out, [t], ([given], into) => math[name](given, { ...opts, out: into, casting })),
    library: (t, name, opts, out, casting) =>
      math[name](t, { ...opts, out: out ?? undefined, casting }),
  },
}

const CALLS = { ...MAKERS, ...VIEWS, ...COPIES, ...WRITES, ...CHANGES, ...COMBINED, ...COMPUTED }
const GROUPS = [
  [MAKERS, 2],
  [VIEWS, 10],
  [COPIES, 2],
  [WRITES, 6],
  [CHANGES, 3],
  [COMBINED, 2],
  [COMPUTED, 4],
]

// ---- Programs ----

/** Live tensors by number, on both sides. */
class State {
  constructor() {
    this.live = new Map()
    this.next = 0
  }

  ids(condition = () => true) {
    const some = [...this.live].filter(([, { model }]) => condition(model)).map(([id]) => id)
    return some.length > 0 ? some : [...this.live.keys()]
  }

  /** those that broadcast to t, mostly */
  fitting(t) {
    return this.ids((model) => !caught(() => broadcast(model, t.shape)))
  }

  /** step.out keeps the numbers, so that they are the same when other steps are left out. */
  add(model, library, step, i) {
    const out = (step.out ??= [])
    this.live.set((out[i] ??= this.next++), { model, library })
  }
}

/** Tensors in place of { ref }, also in lists. */
const resolved = (args, state, side) =>
  args.map((arg) => {
    if (Array.isArray(arg)) return resolved(arg, state, side)
    return arg !== null && typeof arg === 'object' && 'ref' in arg
      ? state.live.get(arg.ref)[side]
      : arg
  })

/** The next step of a program, as plain data. */
function newStep(r, state) {
  if (state.live.size > MOST_LIVE || (state.live.size > 1 && r.rarely(12))) {
    return { name: 'dispose', on: r.pick(state.ids()) }
  }
  const total = GROUPS.reduce((sum, [, weight]) => sum + weight, 0)
  for (;;) {
    let at = r.next(total)
    const [group] =
      state.live.size === 0 ? GROUPS[0] : GROUPS.find(([, weight]) => (at -= weight) < 0)
    const name = r.pick(Object.keys(group))
    const on = group === MAKERS ? null : r.pick(state.ids())
    const args = CALLS[name].args(r, on === null ? null : state.live.get(on).model, state)
    if (args !== null) return { name, on, args }
  }
}

function attempt(fn) {
  try {
    return { result: fn() }
  } catch (error) {
    if (error.code === undefined && error.codes === undefined) throw error
    return { error }
  }
}

const isReady = (step, state) =>
  [step.on, ...(step.args ?? []).flat().map((arg) => arg?.ref)].every(
    (id) => id === null || id === undefined || state.live.has(id),
  )

/** Takes one step on both sides, and compares all. */
function take(step, state) {
  if (step.name === 'dispose') {
    state.live.get(step.on).library.dispose()
    state.live.delete(step.on)
    return
  }
  const { model, library } = CALLS[step.name]
  const on = step.on === null ? {} : state.live.get(step.on)
  const [args, given] = [resolved(step.args, state, 'model'), resolved(step.args, state, 'library')]
  const expected = attempt(() => model(on.model, ...args))
  const got = attempt(() => library(on.library, ...given))
  if (expected.error) {
    const codes = expected.error.codes ?? [expected.error.code]
    for (const t of [got.result].flat()) {
      if (![...state.live.values()].some(({ library }) => library === t)) t?.dispose?.()
    }
    assert.ok(
      codes.includes(got.error?.code),
      `expected ${codes}, got ${got.error?.stack ?? 'a result'}`,
    )
  } else {
    if (got.error) throw got.error
    const made = Array.isArray(expected.result) ? expected.result : [expected.result]
    const found = Array.isArray(got.result) ? got.result : [got.result]
    assert.equal(found.length, made.length)
    made.forEach((result, i) => {
      const known = [...state.live.values()].find(({ model }) => model === result) // the tensor itself, or an out
      if (result === undefined || known) assert.equal(found[i], known?.library)
      else state.add(result, found[i], step, i)
    })
  }
  for (const [id, { model, library }] of state.live) compare(model, library, `tensor ${id}`)
}

function compare(model, t, what) {
  assert.ok(Tensor.isTensor(t))
  const { dtype, shape, capacity, dynamism, readOnly } = model
  assert.deepEqual(
    {
      dtype: t.dtype,
      shape: t.shape,
      capacity: t.capacity,
      dynamism: t.dynamism,
      readOnly: t.isReadOnly,
      size: t.size,
    },
    { dtype, shape, capacity, dynamism, readOnly, size: model.size },
    what,
  )
  assert.deepEqual(t.dimOrder, model.dimOrder, `${what}: dimOrder`)
  const { strides } = t
  model.strides.forEach((stride, d) => {
    if (stride !== null) assert.equal(strides[d], stride, `${what}: strides[${d}]`)
  })
  assert.equal(t.isContiguous(), model.isContiguous, `${what}: isContiguous`)
  const copy = samebytes.tensor(t)
  const same = Buffer.compare(copy.bytes, model.bytes) === 0
  const text = same
    ? ''
    : `${what}: bytes ${Buffer.from(copy.bytes).toString('hex')}, expected ${Buffer.from(model.bytes).toString('hex')}`
  copy.dispose()
  assert.ok(same, text)
}

/**
 * Runs a program to its end, or its first difference.
 *
 * @param {(state: State) => object | null} nextStep
 * @returns {{ steps: object[], error: Error | null }}
 */
function run(nextStep) {
  const state = new State()
  const steps = []
  const before = memory().tensors
  let error = null
  try {
    for (let step = nextStep(state); step !== null; step = nextStep(state)) {
      if (!isReady(step, state)) continue // what it was for is gone
      steps.push(step)
      take(step, state)
      assert.equal(memory().tensors - before, state.live.size, 'tensors that memory() counts')
    }
  } catch (thrown) {
    error = thrown
  }
  for (const { library } of state.live.values()) library.dispose()
  if (error === null && memory().tensors !== before) {
    error = new Error(`${memory().tensors - before} tensors are left at the end`)
  }
  return { steps, error }
}

const replay = (steps) => {
  let i = 0
  return run(() => steps[i++] ?? null)
}

/** Leaves out what the failure does not need. */
function shortened(steps) {
  let best = steps
  for (
    let size = Math.ceil(best.length / 2);
    size > 0;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = best.length - size; at >= 0; at -= size) {
      const { error, steps: done } = replay([...best.slice(0, at), ...best.slice(at + size)])
      if (error) best = done
    }
  }
  return best
}

module.exports = { CALLS, newStep, randomArguments, replay, run, shortened }
