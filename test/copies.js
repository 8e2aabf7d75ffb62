'use strict'
// Random copies: layouts, dtypes, bytes. The same list in every process, so that each back end,
// instruction set and number of threads can be asked for the same results.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { createHash } = require('node:crypto')
const os = require('node:os')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { fromBlob, zeros } = require('samebytes')
const { ROOT, generator } = require('./setup')
const { PYTHON } = require('./tools')

const ITEMSIZE = {
  bool: 1,
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  uint32: 4,
  int32: 4,
  uint64: 8,
  int64: 8,
  float16: 2,
  float32: 4,
  float64: 8,
  complex64: 8,
  complex128: 16,
  bfloat16: 2,
  float8_e4m3fn: 1,
  float8_e5m2: 1,
}
const DTYPES = Object.keys(ITEMSIZE)
const REAL = DTYPES.filter((dtype) => !dtype.startsWith('complex'))
const isComplex = (dtype) => dtype.startsWith('complex')
const isInteger = (dtype) => dtype.includes('int')
const isUnsigned = (dtype) => dtype.startsWith('uint')
const RANGE = { float16: 65504, float32: 3e38, float64: 1e300, complex64: 3e38, complex128: 1e300 }

let random
const next = (n) => random.next(n)
const pick = (list) => random.pick(list)
const shuffle = (list) => random.shuffle(list)
const uint32 = () => random.uint32()

/** Strides over a buffer in which no two elements share a byte, and the offset that goes with them. */
function injective(shape) {
  const strides = []
  let step = pick([1, 1, 1, 2, 3])
  for (const d of shuffle(shape.map((_, i) => i))) {
    strides[d] = step
    step *= Math.max(shape[d], 1) + pick([0, 0, 0, 1])
  }
  return flip(shape, strides)
}

/** Any strides: zero, negative, overlapping. */
function anyStrides(shape) {
  if (next(3) === 0) return injective(shape)
  return flip(
    shape,
    shape.map(() => pick([0, 1, 1, 2, 3, 4, 5, 7])),
  )
}

function flip(shape, strides) {
  let low = 0
  let high = 0
  const signed = strides.map((stride, d) => {
    const s = next(3) === 0 ? -stride : stride
    const reach = s * Math.max(shape[d] - 1, 0)
    if (reach < 0) low += reach
    else high += reach
    return s
  })
  const padding = next(4)
  return { strides: signed, offset: padding - low, length: padding + high - low + 1 + next(3) }
}

function noise(bytes, dtype) {
  for (let i = 0; i < bytes.length; i++) bytes[i] = dtype === 'bool' ? next(2) : uint32() & 255
}

/** n elements of `from` that a cast to `to` treats alike here and in NumPy. */
function write(buffer, from, to, n) {
  const view = new DataView(buffer)
  const size = ITEMSIZE[from]
  if (from === to) {
    // copies keep all bits, NaN payloads included
    noise(new Uint8Array(buffer), from)
    return
  }
  for (let i = 0; i < n; i++) {
    if (from === 'bool') view.setUint8(i, next(2))
    else if (isInteger(from)) writeInteger(view, i * size, from)
    else if (isComplex(from)) {
      const half = from === 'complex64' ? 'float32' : 'float64'
      writeFloat(view, i * size, half, to)
      writeFloat(view, i * size + size / 2, half, to)
    } else {
      writeFloat(view, i * size, from, to)
    }
  }
}

function writeInteger(view, at, from) {
  const bits = 8 * ITEMSIZE[from]
  let value =
    BigInt.asUintN(bits, (BigInt(uint32()) << 32n) | BigInt(uint32())) >> BigInt(next(bits))
  if (next(2)) value = -value
  if (bits === 8) view.setUint8(at, Number(BigInt.asUintN(8, value)))
  else if (bits === 16) view.setUint16(at, Number(BigInt.asUintN(16, value)), true)
  else if (bits === 32) view.setUint32(at, Number(BigInt.asUintN(32, value)), true)
  else view.setBigUint64(at, BigInt.asUintN(64, value), true)
}

function writeFloat(view, at, from, to) {
  let value
  if (isInteger(to)) {
    // what is out of range is undefined in NumPy
    const bits = 8 * ITEMSIZE[to] - (isUnsigned(to) ? 0 : 1)
    const top = Math.min(2 ** bits * 0.99, RANGE[from] ?? Infinity)
    value = (uint32() / 4294967296) * Math.min(top, 2 ** next(bits + 1))
    if (!isUnsigned(to) && next(2)) value = -value
    if (next(8) === 0) value = Math.trunc(value)
  } else {
    const special = [
      0,
      -0,
      1,
      Infinity,
      -Infinity,
      65504,
      65519,
      65520,
      2 ** -25,
      3 * 2 ** -25,
      2 ** -149,
      1 + 2 ** -11,
    ]
    const exponent = ITEMSIZE[to] <= 2 ? 2 ** (next(48) - 28) : 2 ** (next(300) - 150)
    value = next(6) === 0 ? pick(special) : (uint32() / 2147483648 - 1) * exponent
  }
  if (from === 'float64') view.setFloat64(at, value, true)
  else if (from === 'float32') view.setFloat32(at, value, true)
  else if (from === 'float16') view.setUint16(at, halfBits(value, to), true)
  else if (from === 'bfloat16') {
    view.setUint16(at, uint32() & 0xffff, true)
  } // any bits: the oracle decodes them itself
  else view.setUint8(at, uint32() & 0xff)
}

// float16 sources need bits, not values; whole numbers that every integer dtype holds when it must
function halfBits(value, to) {
  if (!isInteger(to)) {
    return [0x7c00, 0x7e00].includes(uint32() & 0x7fff) ? 0 : finiteHalf(uint32() & 0xffff)
  }
  const n = Math.trunc(Math.abs(value)) & 63
  const bits =
    n === 0
      ? 0
      : ((15 + Math.floor(Math.log2(n))) << 10) |
        Math.round((n / 2 ** Math.floor(Math.log2(n)) - 1) * 1024)
  return value < 0 ? bits | 0x8000 : bits
}

const finiteHalf = (bits) => ((bits & 0x7c00) === 0x7c00 ? (bits & 0x83ff) | 0x3c00 : bits)

/** Extents: mostly small, sometimes such that blocks, tiles and vectors end inside. */
function randomShape() {
  const shape = Array.from({ length: next(7) }, () => pick([0, 1, 2, 3, 4, 5, 2, 3]))
  if (next(4) && shape.includes(0)) {
    shape.forEach((extent, d) => {
      shape[d] = extent || 1
    })
  }
  if (shape.length === 0 || next(8)) return shape
  const few = shape.slice(0, 3)
  few[next(few.length)] = pick([63, 64, 65, 130, 1025, 2100])
  if (few.length > 1 && next(2)) few[next(few.length)] = pick([3, 4, 17, 33, 70])
  return few
}

/** Layouts as images and matrices have them: dense, with axes in any order. */
function dense(shape) {
  const strides = []
  let step = 1
  for (const d of shuffle(shape.map((_, i) => i))) {
    strides[d] = step
    step *= Math.max(shape[d], 1)
  }
  const offset = next(3)
  return { strides, offset, length: offset + step + next(3) }
}

const factorsOf = (length) =>
  Array.from({ length }, () => (next(4001) - 2000) / pick([1, 7, 8, 255]))

/** One number, or one for each index of an axis; none for complex dtypes. */
function randomScale(shape) {
  const axis = next(Math.max(shape.length, 1))
  const one = () => (shape.length === 0 || next(2) ? factorsOf(1)[0] : factorsOf(shape[axis]))
  return { scale: one(), bias: one(), axis }
}

function makeCase(i, scaled = false) {
  const from = scaled ? REAL[i % REAL.length] : DTYPES[i % DTYPES.length]
  const to = next(3) === 0 ? from : pick(scaled ? REAL : DTYPES)
  const shape = randomShape()
  let srcShape = shape.map((extent) => (next(6) === 0 ? 1 : extent))
  srcShape = srcShape.slice(next(4) === 0 ? next(srcShape.length + 1) : 0)
  const dst = next(3) ? injective(shape) : dense(shape)
  const src = next(3) ? anyStrides(srcShape) : dense(srcShape)
  const srcBytes = new ArrayBuffer(src.length * ITEMSIZE[from])
  write(srcBytes, from, scaled ? 'float32' : to, src.length)
  const dstBytes = new ArrayBuffer(dst.length * ITEMSIZE[to])
  noise(new Uint8Array(dstBytes), to)
  return {
    from,
    to,
    shape,
    srcShape,
    src,
    dst,
    srcBytes,
    dstBytes,
    ...(scaled && randomScale(shape)),
  }
}

/** Source and target in one buffer: the result must be as if the source were copied away first. */
function makeOverlap(i) {
  const from = DTYPES[i % DTYPES.length]
  const to = next(2) ? from : pick(DTYPES)
  const shape = Array.from({ length: 1 + next(4) }, () => pick([1, 2, 3, 4, 5]))
  const dst = injective(shape)
  const src = next(4) ? anyStrides(shape) : dst // in place
  const nbytes = Math.max(src.length * ITEMSIZE[from], dst.length * ITEMSIZE[to]) + 16 * next(3)
  const bytes = new ArrayBuffer(Math.ceil(nbytes / 16) * 16)
  write(bytes, from, to, Math.floor(bytes.byteLength / ITEMSIZE[from]))
  if (src !== dst && next(2)) dst.offset += bytes.byteLength / ITEMSIZE[to] - dst.length
  const scaled = next(4) === 0 && REAL.includes(from) && REAL.includes(to)
  return {
    from,
    to,
    shape,
    srcShape: shape,
    src,
    dst,
    srcBytes: null,
    dstBytes: bytes,
    ...(scaled && randomScale(shape)),
  }
}

/** Channels of pixels into planes, turned and mirrored: matrices with few columns, that lie side by side in the source. */
function makePixels(i, scaled) {
  const from = scaled ? REAL[i % REAL.length] : DTYPES[i % DTYPES.length]
  const to = next(2) === 0 ? from : pick(scaled ? REAL : DTYPES)
  const sizes = {
    channels: pick([2, 3, 4, 5, 7, 12, 15]),
    x: pick([1, 3, 7, 16, 23]),
    y: pick([5, 9, 33, 40, 70]),
  }
  const pixel = sizes.channels + pick([0, 0, 1, 5, 9])
  const steps = { channels: 1, x: pixel, y: pixel * sizes.x + pick([0, 0, 1, 30]) }
  const order = shuffle(['channels', 'x', 'y'])
  const shape = order.map((name) => sizes[name])
  const src = flip(
    shape,
    order.map((name) => steps[name]),
  )
  if (next(2)) {
    src.length =
      src.offset + shape.reduce((sum, n, d) => sum + Math.max(0, (n - 1) * src.strides[d]), 1)
  } // nothing behind it
  const dst = next(2) ? injective(shape) : dense(shape)
  const srcBytes = new ArrayBuffer(src.length * ITEMSIZE[from])
  write(srcBytes, from, scaled ? 'float32' : to, src.length)
  const dstBytes = new ArrayBuffer(dst.length * ITEMSIZE[to])
  noise(new Uint8Array(dstBytes), to)
  return {
    from,
    to,
    shape,
    srcShape: shape,
    src,
    dst,
    srcBytes,
    dstBytes,
    ...(scaled && randomScale(shape)),
  }
}

/** Copies that are streamed, cut into blocks and shared out to threads. */
function makeLarge() {
  const contiguous = (shape, offset = 0) => {
    const strides = shape.map((_, d) => shape.slice(d + 1).reduce((a, b) => a * b, 1))
    return { strides, offset, length: offset + shape.reduce((a, b) => a * b, 1) }
  }
  const permuted = (shape, order, offset = 0) => {
    const { strides, length } = contiguous(shape, offset)
    return { strides: order.map((d) => strides[d]), offset, length }
  }
  const one = (from, to, shape, src, dst, more) => {
    const tile = new ArrayBuffer(4099 * 16)
    write(tile, from, to, Math.floor(tile.byteLength / ITEMSIZE[from]))
    const srcBytes = new Uint8Array(src.length * ITEMSIZE[from])
    for (let at = 0; at < srcBytes.length; at += tile.byteLength) {
      srcBytes.set(new Uint8Array(tile, 0, Math.min(tile.byteLength, srcBytes.length - at)), at)
    }
    const dstBytes = new ArrayBuffer(dst.length * ITEMSIZE[to])
    new Uint8Array(dstBytes).fill(1)
    return {
      from,
      to,
      shape,
      srcShape: shape,
      src,
      dst,
      srcBytes: srcBytes.buffer,
      dstBytes,
      ...more,
    }
  }
  const scale = { scale: [0.017, 0.018, 0.019], bias: [-2.1, -2, -1.8], axis: 1 }
  const images = [2, 3, 700, 801]
  const mixed = [40, 48, 60, 28]
  const line = [3200001]
  const matrix = [1777, 1801]
  return [
    one('uint8', 'uint8', [12700001], contiguous([12700001], 3), contiguous([12700001], 2)),
    one('float32', 'float32', matrix, permuted([1801, 1777], [1, 0]), contiguous(matrix)),
    one(
      'float32',
      'float32',
      [1792, 1792],
      permuted([1792, 1792], [1, 0]),
      contiguous([1792, 1792]),
    ),
    one(
      'uint8',
      'uint8',
      [3600, 3700],
      permuted([3700, 3600], [1, 0]),
      contiguous([3600, 3700], 5),
    ),
    one(
      'uint8',
      'float32',
      images,
      permuted([2, 700, 801, 3], [0, 3, 1, 2]),
      contiguous(images),
      scale,
    ),
    one(
      'uint16',
      'uint16',
      [4, 1000, 1600],
      contiguous([4, 1000, 1600]),
      permuted([1000, 1600, 4], [2, 0, 1]),
    ),
    one('float32', 'float32', mixed, permuted([60, 48, 28, 40], [3, 1, 0, 2]), contiguous(mixed)),
    one('float64', 'float32', line, contiguous(line, 1), contiguous(line, 3)),
    one(
      'int32',
      'float32',
      line,
      { strides: [-1], offset: line[0] - 1, length: line[0] },
      contiguous(line),
    ),
    one(
      'float32',
      'float16',
      matrix.concat(2),
      { strides: [0, 2, 1], offset: 2, length: 3700 },
      contiguous(matrix.concat(2)),
    ),
  ]
}

let sets
/** Lists of copies by what they are, made once. */
function copySets() {
  if (sets) return sets
  random = generator(20261121)
  sets = {
    'casts between strided tensors': Array.from({ length: 2000 }, (_, i) => makeCase(i)),
    'scaled copies': Array.from({ length: 700 }, (_, i) => makeCase(i, true)),
    'copies within one buffer': Array.from({ length: 800 }, (_, i) => makeOverlap(i)),
    'pixels into planes': Array.from({ length: 600 }, (_, i) => makePixels(i, i % 3 === 0)),
  }
  return sets
}

let large
function largeSets() {
  if (large) return large
  random = generator(20261122)
  large = { 'copies of 12 MB and more': makeLarge() }
  return large
}

/** What becomes of the target's buffer: adopted, or in memory that the library made. */
function compute(
  { from, to, shape, srcShape, src, dst, srcBytes, dstBytes, scale, bias, axis },
  owned,
) {
  const target = dstBytes.slice(0)
  const options = { casting: 'unsafe', ...(scale !== undefined && { scale, bias, axis }) }
  if (!owned) {
    const adopt = (buffer, shape, dtype, { strides, offset }) =>
      fromBlob(buffer, shape, { dtype, strides, offset })
    adopt(target, shape, to, dst).copyFrom(adopt(srcBytes ?? target, srcShape, from, src), options)
    return Buffer.from(target)
  }
  const make = (bytes) => {
    const t = zeros([bytes.byteLength], 'uint8')
    t.bytes.set(new Uint8Array(bytes))
    return t
  }
  const outBase = make(target)
  const inBase = srcBytes ? make(srcBytes) : outBase
  const placed = (t, shape, { strides, offset }) => t.view(shape, { strides, offset })
  placed(outBase.view(to), shape, dst).copyFrom(placed(inBase.view(from), srcShape, src), options)
  return Buffer.from(outBase.bytes)
}

function checksum(results) {
  const hash = createHash('sha256')
  for (const result of results) hash.update(result)
  return hash.digest('hex')
}

/** The same by test/python/oracle.py: every target buffer afterwards. */
function askNumpy(cases) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-numpy-'))
  try {
    const buffers = []
    let at = 0
    const add = (buffer) => {
      if (!buffer) return null
      const place = [at, buffer.byteLength]
      buffers.push(Buffer.from(buffer))
      at += buffer.byteLength
      return place
    }
    const list = cases.map(
      ({ from, to, shape, srcShape, src, dst, srcBytes, dstBytes, scale, bias, axis }) => ({
        from,
        to,
        shape,
        srcShape,
        src,
        dst,
        srcBytes: add(srcBytes),
        dstBytes: add(dstBytes),
        scale,
        bias,
        axis,
      }),
    )
    fs.writeFileSync(path.join(folder, 'cases.json'), JSON.stringify(list))
    fs.writeFileSync(path.join(folder, 'cases.bin'), Buffer.concat(buffers))
    const script = path.join(ROOT, 'test', 'python', 'oracle.py')
    const { status, stderr } = spawnSync(PYTHON, [script, folder], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    const results = fs.readFileSync(path.join(folder, 'results.bin'))
    let end = 0
    return cases.map(({ dstBytes }) => {
      const start = end
      end += dstBytes.byteLength
      return results.subarray(start, end)
    })
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

module.exports = { askNumpy, checksum, compute, copySets, largeSets }
