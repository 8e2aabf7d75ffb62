'use strict'
// A slow tensor that is plainly right: for each element the place of its first byte, in logical order. No strides.
// Views pick places; copies move bytes one by one. What the library must refuse throws { code }.

const INTEGERS = {
  uint8: [1, false],
  int8: [1, true],
  uint16: [2, false],
  int16: [2, true],
  uint32: [4, false],
  int32: [4, true],
  uint64: [8, false],
  int64: [8, true],
}
// bits of the exponent and of the significand, code of the first that is no number, code of NaN
const SHORT = {
  float16: [5, 10, 0x7c00, 0x7e00],
  bfloat16: [8, 7, 0x7f80, 0x7fc0],
  float8_e4m3fn: [4, 3, 0x7f, 0x7f],
  float8_e5m2: [5, 2, 0x7c, 0x7e],
}
const ITEMSIZE = {
  bool: 1,
  float32: 4,
  float64: 8,
  complex64: 8,
  complex128: 16,
  float16: 2,
  bfloat16: 2,
  float8_e4m3fn: 1,
  float8_e5m2: 1,
}
for (const [name, [itemsize]] of Object.entries(INTEGERS)) ITEMSIZE[name] = itemsize
const DTYPES = Object.keys(ITEMSIZE)

const fail = (code) => {
  throw Object.assign(new Error(code), { code })
}
const product = (list) => list.reduce((a, b) => a * b, 1)

// ---- Elements ----

/** What the codes of a short float stand for, up to infinity or NaN. */
const tables = {}
function tableOf(name) {
  if (tables[name]) return tables[name]
  const [exponents, mantissa, beyond] = SHORT[name]
  const bias = 2 ** (exponents - 1) - 1
  return (tables[name] = Array.from({ length: beyond }, (_, code) => {
    const exponent = code >> mantissa
    const fraction = code & (2 ** mantissa - 1)
    return exponent === 0
      ? fraction * 2 ** (1 - bias - mantissa)
      : (2 ** mantissa + fraction) * 2 ** (exponent - bias - mantissa)
  }))
}

function decodeShort(name, code) {
  const [exponents, mantissa, beyond, nan] = SHORT[name]
  const sign = 1 << (exponents + mantissa)
  const low = code & (sign - 1)
  const magnitude =
    low < beyond ? tableOf(name)[low] : low === beyond && beyond !== nan ? Infinity : NaN
  return code & sign ? -magnitude : magnitude
}

/** To the nearest, ties to the even code. */
function encodeShort(name, value) {
  const [exponents, mantissa, beyond, nan] = SHORT[name]
  if (Number.isNaN(value)) return nan
  const table = tableOf(name)
  const top = 2 * table[beyond - 1] - table[beyond - 2]
  const magnitude = Math.min(Math.abs(value), top)
  let low = 0
  for (let high = beyond - 1; low < high;) {
    const middle = (low + high + 1) >> 1
    if (table[middle] <= magnitude) low = middle
    else high = middle - 1
  }
  const [below, above] = [
    magnitude - table[low],
    (low + 1 < beyond ? table[low + 1] : top) - magnitude,
  ]
  const code = above < below || (above === below && low % 2 === 1) ? low + 1 : low
  if (code === beyond && beyond === nan) return nan
  return (value < 0 || Object.is(value, -0) ? 1 << (exponents + mantissa) : 0) | code
}

const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The value whose bytes are at a place: number, bigint, boolean or [re, im]. */
function decode(dtype, bytes, at) {
  const view = viewOf(bytes)
  if (dtype === 'bool') return bytes[at] !== 0
  if (dtype === 'float32') return view.getFloat32(at, true)
  if (dtype === 'float64') return view.getFloat64(at, true)
  if (dtype === 'complex64') return [view.getFloat32(at, true), view.getFloat32(at + 4, true)]
  if (dtype === 'complex128') return [view.getFloat64(at, true), view.getFloat64(at + 8, true)]
  if (SHORT[dtype]) {
    return decodeShort(dtype, ITEMSIZE[dtype] === 2 ? view.getUint16(at, true) : bytes[at])
  }
  const [itemsize, signed] = INTEGERS[dtype]
  const big = itemsize === 8
  return view[`get${big ? 'Big' : ''}${signed ? 'Int' : 'Uint'}${8 * itemsize}`](at, true)
}

const isFloat = (dtype) => !INTEGERS[dtype] && dtype !== 'bool'

/** Integers wrap; floats lose their fraction and stay inside the range, NaN is 0. */
function toInteger(value, from, [itemsize, signed]) {
  if (!isFloat(from)) return BigInt(value)
  if (Number.isNaN(value)) return 0n
  const low = signed ? -(2n ** BigInt(8 * itemsize - 1)) : 0n
  const high = low + 2n ** BigInt(8 * itemsize) - 1n
  if (value <= Number(low)) return low
  return value >= Number(high) ? high : BigInt(Math.trunc(value))
}

/** The bytes of a dtype's value as another one, cast as 'unsafe' does it. */
function cast(value, from, to) {
  const bytes = new Uint8Array(ITEMSIZE[to])
  const view = viewOf(bytes)
  if (to === 'bool') {
    const isTrue = (x) => Boolean(x) || Number.isNaN(x)
    bytes[0] = (Array.isArray(value) ? value.some(isTrue) : isTrue(value)) ? 1 : 0
    return bytes
  }
  if (to.startsWith('complex')) {
    const [re, im] = Array.isArray(value) ? value : [value, 0]
    const part = to === 'complex64' ? 'float32' : 'float64'
    bytes.set(cast(re, from, part))
    bytes.set(cast(im, 'float64', part), bytes.length / 2)
    return bytes
  }
  const real = Array.isArray(value) ? value[0] : value
  if (INTEGERS[to]) {
    const integer = BigInt.asUintN(64, toInteger(real, from, INTEGERS[to]))
    for (let i = 0; i < bytes.length; i++) bytes[i] = Number((integer >> BigInt(8 * i)) & 255n)
    return bytes
  }
  const x = Number(real)
  if (SHORT[to]) {
    const code = encodeShort(to, x)
    for (let i = 0; i < bytes.length; i++) bytes[i] = code >> (8 * i)
  } else if (Number.isNaN(x)) {
    // the canonical one
    bytes[bytes.length - 1] = 0x7f
    bytes[bytes.length - 2] = to === 'float32' ? 0xc0 : 0xf8
  } else if (to === 'float32') {
    view.setFloat32(0, x, true)
  } else {
    view.setFloat64(0, x, true)
  }
  return bytes
}

/** same_kind, and unsafe: everything. */
function mayCast(from, to, casting) {
  if (casting === 'unsafe') return true
  const rank = (dtype) =>
    dtype === 'bool' ? 0 : INTEGERS[dtype] ? 1 : dtype.startsWith('complex') ? 3 : 2
  return rank(from) <= rank(to)
}

// ---- Tensors ----

/** Every index of a shape, row-major. */
function indices(shape) {
  let list = [[]]
  for (const extent of shape) {
    list = list.flatMap((head) => Array.from({ length: extent }, (_, i) => [...head, i]))
  }
  return list
}

const flat = (shape, index) => index.reduce((at, i, d) => at * shape[d] + i, 0)

/** { storage: { bytes, ours }, dtype, shape, places, start, capacity, dynamism, order, readOnly } */
class Model {
  constructor(fields) {
    Object.assign(this, { order: null, readOnly: false }, fields)
    this.size = product(this.shape)
    this.itemsize = ITEMSIZE[this.dtype]
    this.start = this.places.length > 0 ? this.places[0] : fields.start
    this.capacity = fields.capacity ?? this.size
  }

  /** New bytes, dense in an order of axes. */
  static make(
    dtype,
    shape,
    {
      order = shape.map((_, d) => d),
      dynamism = 'bounded',
      ours = true,
      extra = 0,
      remembered = null,
    } = {},
  ) {
    const itemsize = ITEMSIZE[dtype]
    const storage = { bytes: new Uint8Array((product(shape) + extra) * itemsize), ours }
    return new Model({
      storage,
      dtype,
      shape,
      places: densePlaces(shape, order, 0, itemsize),
      start: 0,
      dynamism,
      order: remembered,
    })
  }

  /** What lies where f says: an index of this tensor for each one of the shape. */
  pick(shape, f) {
    return this.viewed({
      shape,
      places: indices(shape).map((index) => this.places[flat(this.shape, f(index))]),
    })
  }

  viewed(fields) {
    const view = new Model({
      storage: this.storage,
      dtype: this.dtype,
      dynamism: this.dynamism,
      readOnly: this.readOnly,
      start: this.start,
      ...fields,
    })
    const whole =
      view.shape.length > 0 &&
      view.size * view.itemsize === this.size * this.itemsize &&
      view.start === this.start
    if (fields.capacity === undefined && whole && this.capacity !== this.size) {
      view.capacity = Math.floor((this.capacity * this.itemsize) / view.itemsize)
    }
    return view
  }

  /** Elements from one to the next; null along axes that have no say. */
  get strides() {
    return this.shape.map((extent, d) => {
      if (extent < 2 || this.size === 0) return null
      const step = this.shape.slice(d + 1).reduce((a, b) => a * b, 1)
      return (this.places[step] - this.places[0]) / this.itemsize
    })
  }

  get values() {
    return this.places.map((at) => decode(this.dtype, this.storage.bytes, at))
  }

  /** The bytes of all elements in logical order. */
  get bytes() {
    return Uint8Array.from(
      this.places.flatMap((at) => [...this.storage.bytes.subarray(at, at + this.itemsize)]),
    )
  }

  get isContiguous() {
    return this.isDenseIn(this.shape.map((_, d) => d))
  }

  isDenseIn(order) {
    const dense = densePlaces(this.shape, order, this.start, this.itemsize)
    return this.places.every((at, i) => at === dense[i])
  }

  /** Axes from outermost to innermost, as sb_dim_order documents it. */
  get dimOrder() {
    if (this.order) return this.order
    const rows = this.shape.map((_, d) => d)
    if (this.size === 0) return rows
    const last = { 4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1] }[this.shape.length]
    if (last && !this.isContiguous && this.isDenseIn(last)) return last
    const steps = this.strides.map(Math.abs)
    const sorted = rows
      .filter((d) => this.shape[d] !== 1)
      .sort((a, b) => steps[b] - steps[a] || a - b)
    return rows.map((d) => (this.shape[d] === 1 ? d : sorted.shift()))
  }

  get overlapsItself() {
    const seen = new Set()
    for (const at of this.places) {
      for (let i = 0; i < this.itemsize; i++) {
        if (seen.has(at + i)) return true
        seen.add(at + i)
      }
    }
    return false
  }

  write(at, bytes) {
    this.storage.bytes.set(bytes, at)
  }
}

function densePlaces(shape, order, start, itemsize) {
  const steps = []
  let step = itemsize
  for (const d of [...order].reverse()) {
    steps[d] = step
    step *= Math.max(shape[d], 1)
  }
  return indices(shape).map((index) => index.reduce((at, i, d) => at + i * steps[d], start))
}

module.exports = {
  DTYPES,
  INTEGERS,
  ITEMSIZE,
  Model,
  cast,
  decode,
  densePlaces,
  fail,
  flat,
  indices,
  isFloat,
  mayCast,
  product,
}
