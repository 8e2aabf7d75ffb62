'use strict'
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const {
  allClose,
  arrayEqual,
  canCast,
  concat,
  fromBlob,
  promoteTypes,
  stack,
  takeAlongAxis,
  tensor,
  tril,
  triu,
} = require('samebytes')
const { ROOT, generator, needs } = require('../setup')
const { PYTHON } = require('../tools')

const WHOLE = ['bool', 'uint8', 'int8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64']
const DTYPES = [...WHOLE, 'float16', 'float32', 'float64', 'complex64', 'complex128']
const isWhole = (dtype) => WHOLE.includes(dtype)
const { next, pick, shuffle } = generator(20261128)

const product = (list) => list.reduce((a, b) => a * b, 1)

/** A layout with gaps, axes in any order, some walked backwards, some repeated where that is allowed. */
function layoutOf(shape, repeats) {
  const strides = []
  let step = pick([1, 1, 2])
  for (const d of shuffle(shape.map((_, i) => i))) {
    strides[d] = repeats && next(6) === 0 ? 0 : step
    step *= Math.max(shape[d], 1) + pick([0, 0, 1])
  }
  let offset = next(3)
  for (const d of shape.keys()) {
    if (next(3) > 0) continue
    offset += strides[d] * Math.max(shape[d] - 1, 0)
    strides[d] *= -1
  }
  return { shape, strides, offset, length: step + offset + 2 }
}

const valueOf = (dtype) =>
  dtype === 'bool' ? next(2) : dtype.startsWith('complex') ? [next(100), next(100)] : next(100)

function inputOf(dtype, shape, repeats = true) {
  const { length, ...layout } = layoutOf(shape, repeats)
  return { dtype, ...layout, values: Array.from({ length }, () => valueOf(dtype)) }
}

const randomShape = (least) =>
  Array.from({ length: least + next(4 - least) }, () => pick([0, 1, 2, 3, 4, 2, 3]))

const OPS = {
  concat() {
    const shape = randomShape(1)
    const axis = next(5) === 0 ? null : next(2 * shape.length) - shape.length
    const dtypes = Array.from({ length: 1 + next(4) }, () => pick(DTYPES))
    const shapes = dtypes.map(() =>
      axis === null
        ? randomShape(0)
        : shape.map((n, d) => (d === (axis + shape.length) % shape.length ? next(4) : n)),
    )
    return { dtypes, shapes, args: { axis }, call: (inputs, opts) => concat(inputs, axis, opts) }
  },
  stack() {
    const shape = randomShape(0)
    const axis = next(2 * shape.length + 2) - shape.length - 1
    const dtypes = Array.from({ length: 1 + next(4) }, () => pick(DTYPES))
    return {
      dtypes,
      shapes: dtypes.map(() => shape),
      args: { axis },
      call: (inputs, opts) => stack(...inputs, axis, opts),
    }
  },
  tile() {
    const reps = Array.from({ length: next(5) }, () => pick([0, 1, 2, 3, 1, 2]))
    const one = reps.length === 1 && next(2) ? reps[0] : reps
    return { shapes: [randomShape(0)], args: { reps }, call: ([t], opts) => t.tile(one, opts) }
  },
  repeat() {
    const shape = randomShape(1)
    const axis = next(4) === 0 ? null : next(2 * shape.length) - shape.length
    const length = axis === null ? product(shape) : shape.at(axis)
    const repeats = next(2) ? next(4) : Array.from({ length }, () => next(4))
    const given =
      typeof repeats !== 'number' && next(2) ? tensor(Int16Array.from(repeats)) : repeats
    return {
      shapes: [shape],
      args: { repeats, axis },
      call: ([t], opts) => t.repeat(given, { axis, ...opts }),
    }
  },
  roll() {
    const shape = randomShape(0)
    const axes = shuffle(shape.map((_, d) => d - (next(2) ? shape.length : 0)))
    const several = axes.slice(0, next(axes.length + 1))
    const axis =
      several.length === 0 ? null : several.length === 1 && next(2) ? several[0] : several
    const shift = Array.isArray(axis) && next(2) ? axis.map(() => next(11) - 5) : next(11) - 5
    return {
      shapes: [shape],
      args: { shift, axis },
      call: ([t], opts) => t.roll(shift, axis, opts),
    }
  },
  take() {
    const shape = randomShape(1).map((n) => n || 1)
    const axis = next(4) === 0 ? null : next(2 * shape.length) - shape.length
    const length = axis === null ? product(shape) : shape.at(axis)
    const indices = Array.from({ length: next(7) }, () => next(2 * length) - length)
    const given = pick([
      indices,
      Int8Array.from(indices),
      BigInt64Array.from(indices, BigInt),
      tensor(Int16Array.from(indices.flatMap((i) => [i, 0]))).slice('::2'),
    ])
    return {
      shapes: [shape],
      args: { indices, axis },
      call: ([t], opts) => t.take(given, axis, opts),
    }
  },
  take_along_axis() {
    const lengths = randomShape(1)
    const axis = next(2 * lengths.length) - lengths.length
    const d = axis < 0 ? axis + lengths.length : axis
    const one = (n) => (next(4) ? n : 1)
    const source = lengths.map((n, i) => (i === d ? n || 1 : one(n)))
    const shape = lengths.map((n, i) => (i === d ? next(4) : one(n)))
    const indices = Array.from({ length: product(shape) }, () => next(2 * source[d]) - source[d])
    const dtype = pick(['int8', 'int16', 'int32', 'int64'])
    const given = pick([
      tensor(indices, dtype).reshape(shape),
      tensor(
        indices.flatMap((i) => [i, 0]),
        dtype,
      )
        .slice('::2')
        .reshape(shape),
    ])
    const whole = axis === -1 ? {} : { axis }
    return {
      shapes: [source],
      args: { indices, shape, axis },
      call: ([t], opts) => takeAlongAxis(t, given, { ...whole, ...opts }),
    }
  },
  tril: () => triangle(tril),
  triu: () => triangle(triu),
}

function triangle(fn) {
  const k = next(9) - 4
  return { shapes: [randomShape(2)], args: { k }, call: ([t], opts) => fn(t, { k, ...opts }) }
}

/** A case for Python, and the call that does the same. */
function makeCase(op, withOut) {
  const { dtypes = [pick(DTYPES)], shapes, args, call } = OPS[op]()
  const inputs = shapes.map((shape, i) => inputOf(dtypes[i], shape))
  const dtype = dtypes.reduce((a, b) => promoteTypes(a, b))
  return { op, inputs, args, dtype, out: null, call, withOut }
}

/** Numbers as a typed array of their own: what `data` shows goes away when WASM memory grows. */
function bufferOf({ dtype, values }) {
  return tensor(
    values.flat(),
    dtype.startsWith('complex') ? { complex64: 'float32', complex128: 'float64' }[dtype] : dtype,
  ).data.slice()
}

const adopt = ({ dtype, shape, strides, offset }, buffer) =>
  fromBlob(buffer.buffer, shape, { dtype, strides, offset })

const plain = (t) =>
  t
    .reshape(-1)
    .toArray()
    .map((x) => (typeof x === 'bigint' || typeof x === 'boolean' ? Number(x) : x))

function ask(cases) {
  const script = path.join(ROOT, 'test', 'python', 'combine_oracle.py')
  const list = cases.map(({ op, inputs, args, dtype, out }) => ({ op, inputs, args, dtype, out }))
  const { status, stdout, stderr } = spawnSync(PYTHON, [script], {
    input: JSON.stringify(list),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

describe('agrees with NumPy', function () {
  needs('NumPy')

  for (const op of Object.keys(OPS)) {
    it(`${op} of 200 random shapes, strides and dtypes`, () => {
      const cases = Array.from({ length: 200 }, () => makeCase(op))
      const expected = ask(cases)
      for (const [i, { inputs, dtype, call, ...rest }] of cases.entries()) {
        const got = call(inputs.map((input) => adopt(input, bufferOf(input))))
        const about = JSON.stringify({ ...rest, inputs })
        assert.equal(got.dtype, dtype, about)
        assert.deepEqual({ shape: got.shape, values: plain(got) }, expected[i], about)
        assert.ok(got.isContiguous(), about)
      }
    })

    it(`${op} into out of another layout and dtype, leaving its gaps`, () => {
      const cases = Array.from({ length: 150 }, () => makeCase(op))
      const shapes = ask(cases).map(({ shape }) => shape)
      for (const [i, one] of cases.entries()) {
        const dtypes = DTYPES.filter(
          (to) => one.inputs.every(({ dtype }) => canCast(dtype, to)) && to !== 'int8',
        )
        one.out = inputOf(pick(dtypes), shapes[i], false)
      }
      const expected = ask(cases)
      for (const [i, { inputs, out, call, ...rest }] of cases.entries()) {
        const buffer = bufferOf(out)
        const target = adopt(out, buffer)
        const about = JSON.stringify({ ...rest, inputs, out })
        assert.equal(
          call(
            inputs.map((input) => adopt(input, bufferOf(input))),
            { out: target },
          ),
          target,
        )
        const whole = adopt(
          { dtype: out.dtype, shape: [out.values.length], strides: [1], offset: 0 },
          buffer,
        )
        assert.deepEqual(plain(whole), expected[i].values, about)
      }
    })

    it(`${op} into out that overlaps what it reads`, () => {
      let overlaps = 0
      for (let i = 0; i < 300; i++) {
        const { inputs, call, dtype } = makeCase(op)
        if (inputs.some((input) => input.dtype !== dtype)) continue
        const fresh = call(inputs.map((input) => adopt(input, bufferOf(input))))
        const [input] = inputs
        const { length, ...layout } = layoutOf(fresh.shape, false)
        const room = Math.max(length, input.values.length)
        const values = [
          ...input.values,
          ...Array.from({ length: room - input.values.length }, () => valueOf(dtype)),
        ]
        const buffer = bufferOf({ dtype, values })
        const out = adopt({ dtype, ...layout }, buffer)
        const others = inputs.slice(1).map((other) => adopt(other, bufferOf(other)))
        call([adopt(input, buffer), ...others], { out })
        assert.deepEqual(plain(out), plain(fresh), JSON.stringify({ op, inputs, layout }))
        overlaps++
      }
      assert.ok(overlaps > 50)
    })
  }

  it('arrayEqual and allClose of 600 random pairs', () => {
    const numbers = [0, 1, 1 + 1e-6, 1 + 1e-4, -1, 1.5, 'nan', 'inf', '-inf', 100, 100.0001]
    const kinds = ['float32', 'float64', 'complex128', 'int32', 'uint8', 'bool', 'int64', 'float16']
    const valueFor = (dtype) => {
      if (dtype === 'bool') return next(2)
      if (isWhole(dtype)) return pick([0, 1, 100])
      const real = () => (dtype === 'float16' ? pick([0, 1, 1.5, 'nan', 'inf']) : pick(numbers))
      return dtype === 'complex128'
        ? [pick([0, 1, 1 + 1e-6, 'nan', 'inf']), pick([0, 0, 1e-6])]
        : real()
    }
    const mostlyOne = (value, dtype) =>
      next(8) === 0
        ? value
        : dtype === 'complex128'
          ? [1, 0]
          : next(8) === 0 && !isWhole(dtype)
            ? 1 + 1e-6
            : 1
    const cases = Array.from({ length: 600 }, () => {
      const op = pick(['array_equal', 'allclose'])
      const shape = randomShape(0)
      const dtypes = [pick(kinds), pick(kinds)]
      const shapes = [
        shape,
        op === 'allclose' || next(8)
          ? shape.map((n) => (op === 'allclose' && next(5) === 0 ? 1 : n))
          : randomShape(0),
      ]
      const inputs = shapes.map((shape, i) => {
        const { length, ...layout } = layoutOf(shape, true)
        return {
          dtype: dtypes[i],
          ...layout,
          values: Array.from({ length }, () => valueFor(dtypes[i])),
        }
      })
      if (next(2)) {
        for (const input of inputs) {
          input.values = input.values.map((v) => mostlyOne(v, input.dtype))
        }
      }
      const args =
        op === 'array_equal'
          ? { equal_nan: next(2) === 1 }
          : { rtol: pick([1e-5, 1e-3, 0]), atol: pick([1e-8, 1e-2, 0]), equal_nan: next(2) === 1 }
      return { op, inputs, args, dtype: null, out: null }
    })
    const expected = ask(cases)
    const toBuffer = ({ dtype, values }) =>
      bufferOf({
        dtype,
        values: values.map((v) => (Array.isArray(v) ? v.map(toNumber) : toNumber(v))),
      })
    const wrong = cases.filter(({ op, inputs, args: { equal_nan: equalNaN, ...within } }, i) => {
      const [a, b] = inputs.map((input) => adopt(input, toBuffer(input)))
      return (
        expected[i] !==
        (op === 'allclose'
          ? allClose(a, b, { ...within, equalNaN })
          : arrayEqual(a, b, { equalNaN }))
      )
    })
    assert.equal(wrong.length, 0, JSON.stringify(wrong[0]))
    const yes = expected.filter(Boolean).length
    assert.ok(yes > 100 && yes < 500, `${yes} of 600 are equal or close`)
  })
})

const toNumber = (x) => (x === 'nan' ? NaN : x === 'inf' ? Infinity : x === '-inf' ? -Infinity : x)
