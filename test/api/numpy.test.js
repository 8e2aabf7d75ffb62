'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { fromBlob, zeros } = require('samebytes')
const { ROOT, generator } = require('../setup')

// NumPy as the oracle: random shapes, strides and dtypes, compared bit for bit, gaps included.
// test/python/oracle.py runs np.copyto over the same buffers.

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
  complex128: 16
}
const DTYPES = Object.keys(ITEMSIZE)
const isComplex = dtype => dtype.startsWith('complex')
const isInteger = dtype => dtype.includes('int')
const isUnsigned = dtype => dtype.startsWith('uint')
const RANGE = { float16: 65504, float32: 3e38, float64: 1e300, complex64: 3e38, complex128: 1e300 }

const random = generator(20261121)
const { next, pick, shuffle, uint32 } = random

function python () {
  for (const command of [process.env.PYTHON, '/usr/bin/python3', 'python3'].filter(Boolean)) {
    if (spawnSync(command, ['-c', 'import numpy']).status === 0) return command
  }
  return null
}

/** Strides over a buffer in which no two elements share a byte, and the offset that goes with them. */
function injective (shape) {
  const strides = []
  let step = pick([1, 1, 1, 2, 3])
  for (const d of shuffle(shape.map((_, i) => i))) {
    strides[d] = step
    step *= Math.max(shape[d], 1) + pick([0, 0, 0, 1])
  }
  return flip(shape, strides)
}

/** Any strides: zero, negative, overlapping. */
function anyStrides (shape) {
  if (next(3) === 0) return injective(shape)
  return flip(shape, shape.map(() => pick([0, 1, 1, 2, 3, 4, 5, 7])))
}

function flip (shape, strides) {
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

/** n elements of `from` that a cast to `to` treats alike here and in NumPy. */
function write (buffer, from, to, n) {
  const view = new DataView(buffer)
  const size = ITEMSIZE[from]
  if (from === to) { // copies keep all bits, NaN payloads included
    const bytes = new Uint8Array(buffer)
    for (let i = 0; i < bytes.length; i++) bytes[i] = from === 'bool' ? next(2) : uint32() & 255
    return
  }
  for (let i = 0; i < n; i++) {
    if (from === 'bool') view.setUint8(i, next(2))
    else if (isInteger(from)) writeInteger(view, i * size, from, to)
    else if (isComplex(from)) {
      const half = from === 'complex64' ? 'float32' : 'float64'
      writeFloat(view, i * size, half, to)
      writeFloat(view, i * size + size / 2, half, to)
    } else {
      writeFloat(view, i * size, from, to)
    }
  }
}

function writeInteger (view, at, from, to) {
  const bits = 8 * ITEMSIZE[from]
  let value = BigInt.asUintN(bits, (BigInt(uint32()) << 32n) | BigInt(uint32())) >> BigInt(next(bits))
  // NumPy rounds twice on the way to float16, so its numbers are small ones there
  if (to === 'float16') value &= 2047n
  if (next(2) && (to !== 'float16' || !isUnsigned(from))) value = -value
  if (to === 'float16' && from.endsWith('int8')) value &= 127n
  if (bits === 8) view.setUint8(at, Number(BigInt.asUintN(8, value)))
  else if (bits === 16) view.setUint16(at, Number(BigInt.asUintN(16, value)), true)
  else if (bits === 32) view.setUint32(at, Number(BigInt.asUintN(32, value)), true)
  else view.setBigUint64(at, BigInt.asUintN(64, value), true)
}

function writeFloat (view, at, from, to) {
  let value
  if (isInteger(to)) { // what is out of range is undefined in NumPy
    const bits = 8 * ITEMSIZE[to] - (isUnsigned(to) ? 0 : 1)
    const top = Math.min(2 ** bits * 0.99, RANGE[from])
    value = uint32() / 4294967296 * Math.min(top, 2 ** next(bits + 1))
    if (!isUnsigned(to) && next(2)) value = -value
    if (next(8) === 0) value = Math.trunc(value)
  } else {
    const special = [0, -0, 1, Infinity, -Infinity, 65504, 65519, 65520, 2 ** -25, 3 * 2 ** -25, 2 ** -149, 1 + 2 ** -11]
    const exponent = to === 'float16' ? 2 ** (next(48) - 28) : 2 ** (next(300) - 150)
    value = next(6) === 0 ? pick(special) : (uint32() / 2147483648 - 1) * exponent
  }
  if (from === 'float64') view.setFloat64(at, value, true)
  else if (from === 'float32') view.setFloat32(at, value, true)
  else view.setUint16(at, halfBits(value, to), true)
}

// float16 sources need bits, not values; whole numbers that every integer dtype holds when it must
function halfBits (value, to) {
  if (!isInteger(to)) return [0x7c00, 0x7e00].includes(uint32() & 0x7fff) ? 0 : finiteHalf(uint32() & 0xffff)
  const n = Math.trunc(Math.abs(value)) & 63
  const bits = n === 0 ? 0 : ((15 + Math.floor(Math.log2(n))) << 10) | Math.round((n / 2 ** Math.floor(Math.log2(n)) - 1) * 1024)
  return value < 0 ? bits | 0x8000 : bits
}

const finiteHalf = bits => (bits & 0x7c00) === 0x7c00 ? (bits & 0x83ff) | 0x3c00 : bits

function makeCase (i) {
  const from = DTYPES[i % DTYPES.length]
  const to = next(3) === 0 ? from : pick(DTYPES)
  const shape = Array.from({ length: next(6) }, () => pick([0, 1, 2, 3, 4, 5, 2, 3]))
  if (next(4) && shape.includes(0)) shape.forEach((extent, d) => { shape[d] = extent || 1 })
  let srcShape = shape.map(extent => next(6) === 0 ? 1 : extent)
  srcShape = srcShape.slice(next(4) === 0 ? next(srcShape.length + 1) : 0)
  const dst = injective(shape)
  const src = anyStrides(srcShape)
  const srcBytes = new ArrayBuffer(src.length * ITEMSIZE[from])
  write(srcBytes, from, to, src.length)
  const dstBytes = new ArrayBuffer(dst.length * ITEMSIZE[to])
  const filler = new Uint8Array(dstBytes)
  for (let k = 0; k < filler.length; k++) filler[k] = to === 'bool' ? next(2) : uint32() & 255
  return { from, to, shape, srcShape, src, dst, srcBytes, dstBytes }
}

/** Source and target in one buffer, of one dtype: the result must be as if the source were copied away first. */
function makeOverlap (i) {
  const from = DTYPES[i % DTYPES.length]
  const shape = Array.from({ length: 1 + next(4) }, () => pick([1, 2, 3, 4, 5]))
  const dst = injective(shape)
  const src = anyStrides(shape)
  const length = Math.max(src.length, dst.length) + next(4)
  const bytes = new ArrayBuffer(length * ITEMSIZE[from])
  write(bytes, from, from, length)
  if (next(2)) dst.offset += length - dst.length
  return { from, to: from, shape, srcShape: shape, src, dst, srcBytes: null, dstBytes: bytes }
}

function askNumpy (command, cases) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-numpy-'))
  try {
    const buffers = []
    let at = 0
    const add = buffer => {
      if (!buffer) return null
      const place = [at, buffer.byteLength]
      buffers.push(Buffer.from(buffer))
      at += buffer.byteLength
      return place
    }
    const list = cases.map(({ from, to, shape, srcShape, src, dst, srcBytes, dstBytes }) => ({
      from, to, shape, srcShape, src, dst, srcBytes: add(srcBytes), dstBytes: add(dstBytes)
    }))
    fs.writeFileSync(path.join(folder, 'cases.json'), JSON.stringify(list))
    fs.writeFileSync(path.join(folder, 'cases.bin'), Buffer.concat(buffers))
    const script = path.join(ROOT, 'test', 'python', 'oracle.py')
    const { status, stderr } = spawnSync(command, [script, folder], { encoding: 'utf8' })
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

function compute ({ from, to, shape, srcShape, src, dst, srcBytes, dstBytes }, owned) {
  const target = dstBytes.slice(0)
  const adopt = (buffer, shape, dtype, { strides, offset }) => fromBlob(buffer, shape, { dtype, strides, offset })
  if (!owned) {
    const out = adopt(target, shape, to, dst)
    const input = adopt(srcBytes ?? target, srcShape, from, src)
    out.copyFrom(input, { casting: 'unsafe' })
    return Buffer.from(target)
  }
  // the same in memory that the library made
  const make = (bytes, dtype) => {
    const t = zeros([bytes.byteLength], 'uint8')
    t.bytes.set(new Uint8Array(bytes))
    return t.view(dtype)
  }
  const outBase = make(target, to)
  const inBase = srcBytes ? make(srcBytes, from) : outBase
  const out = outBase.view(shape, dst)
  out.copyFrom(inBase.view(srcShape, src), { casting: 'unsafe' })
  return Buffer.from(outBase.view('uint8').bytes)
}

describe('copyFrom agrees with NumPy, bit for bit', function () {
  this.timeout(120000)
  const sets = {
    'casts between strided tensors': Array.from({ length: 2400 }, (_, i) => makeCase(i)),
    'copies within one buffer': Array.from({ length: 700 }, (_, i) => makeOverlap(i))
  }
  const expected = {}

  before(function () {
    const command = python()
    if (!command) {
      if (process.env.CI) throw new Error('Python with NumPy is missing')
      return this.skip()
    }
    for (const [name, cases] of Object.entries(sets)) expected[name] = askNumpy(command, cases)
  })

  for (const [name, cases] of Object.entries(sets)) {
    for (const owned of [false, true]) {
      it(`${cases.length} ${name}, ${owned ? 'owned' : 'adopted'} memory`, () => {
        const wrong = []
        cases.forEach((one, i) => {
          const got = compute(one, owned)
          if (!got.equals(expected[name][i])) {
            const { from, to, shape, srcShape, src, dst } = one
            wrong.push({
              from,
              to,
              shape,
              srcShape,
              src,
              dst,
              bytes: Buffer.from(one.srcBytes ?? one.dstBytes).toString('hex'),
              got: got.toString('hex'),
              expected: expected[name][i].toString('hex')
            })
          }
        })
        const pairs = [...new Set(wrong.map(({ from, to }) => `${from} → ${to}`))]
        assert.equal(wrong.length, 0, `${wrong.length} differ (${pairs.join(', ')}); the first: ${JSON.stringify(wrong[0], null, 1)}`)
      })
    }
  }
})
