'use strict'
// nonzero, index, indexPut, maskedSelect and maskedFill: NumPy's answers on random shapes and entries, bad input, copies that are counted, and
// threads that write indices meanwhile.
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { dtypes, fromBlob, fromBytes, full, memory, tensor, zeros } = require('samebytes')
const { python } = require('../copies')
const { ROOT, childJson, copied, fails, generator, isWasm, refusedUnchanged, skip } = require('../setup')
const { math, needsMath } = require('./load')

const { index, indexPut, maskedFill, maskedSelect, nonzero } = math
const INTEGERS = ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64']
const sizeOf = shape => shape.reduce((a, b) => a * b, 1)
const base64 = t => Buffer.from(t.contiguous().bytes).toString('base64')

/** A tensor of random bytes and layout: permuted, with gaps, backwards. */
function arranged ({ next, shuffle }, shape, make) {
  const order = shuffle(shape.map((_, d) => d))
  const steps = shape.map(() => [1, 1, 2, -1][next(4)])
  const inMemory = order.map(d => shape[d] * Math.abs(steps[d]))
  const whole = make(sizeOf(inMemory)).view(inMemory)
  return whole.permute(shape.map((_, d) => order.indexOf(d))).slice(...steps.map(step => step === 2 ? '::2' : step === -1 ? '::-1' : ':'))
}

function randomBytes ({ next }, dtype, n) {
  const { itemsize } = zeros([1], dtype)
  const bytes = Uint8Array.from({ length: n * itemsize }, () => dtype === 'bool' ? next(2) : next(256))
  return fromBytes(bytes, [n], { dtype })
}

/** Integers in range but for one case in forty, of any dtype. */
function integersFor (random, extent, shape) {
  const { next, pick } = random
  const dtype = pick(INTEGERS)
  const isSigned = !dtype.startsWith('u')
  const values = Array.from({ length: sizeOf(shape) }, () => next(160) === 0 ? extent : extent === 0 ? 0 : next(extent) - (isSigned && next(2) ? extent : 0))
  const t = arranged(random, shape, n => tensor(Array.from({ length: n }, () => dtype.endsWith('64') ? 0n : 0), [n], { dtype }))
  if (t.size > 0) t.copyFrom(tensor(dtype.endsWith('64') ? values.map(BigInt) : values, shape, { dtype }))
  return { sent: { kind: 'integers', dtype, values, shape }, given: t }
}

function maskFor (random, shape) {
  const { next } = random
  const values = Array.from({ length: sizeOf(shape) }, () => next(2) === 1)
  const t = arranged(random, shape, n => zeros([n], 'bool'))
  if (t.size > 0) t.copyFrom(tensor(values, shape, 'bool'))
  return { sent: { kind: 'mask', values, shape }, given: t }
}

function sliceFor ({ next }, extent) {
  const bound = () => next(3) ? null : next(2 * extent + 3) - extent - 1
  const step = [1, 1, 2, -1, -2][next(5)]
  const [start, stop] = [bound(), bound()]
  const given = next(2) ? { start, stop, step } : `${start ?? ''}:${stop ?? ''}:${step}`
  return { sent: { kind: 'slice', slice: [start, stop, step] }, given }
}

/** Entries for a shape, as NumPy and as index get them. */
function entriesFor (random, shape) {
  const { next, pick } = random
  const shared = pick([[], [1], [3], [2, 3], [4], [0]])
  const out = []
  let hasEllipsis = false
  for (let d = 0; d < shape.length;) {
    const kind = next(12)
    if (kind === 0) {
      out.push({ sent: { kind: 'newaxis' }, given: null })
    } else if (kind === 1 && !hasEllipsis) {
      hasEllipsis = true
      out.push({ sent: { kind: 'ellipsis' }, given: '...' })
      d += next(shape.length - d + 1)
    } else if (kind <= 4) {
      out.push(sliceFor(random, shape[d++]))
    } else if (kind === 5) {
      const i = next(60) === 0 ? shape[d] : shape[d] === 0 ? 0 : next(2 * shape[d]) - shape[d]
      out.push({ sent: { kind: 'number', index: i }, given: i })
      d++
    } else if (kind === 6) {
      const axes = Math.min(next(3), shape.length - d)
      const own = shape.slice(d, d + axes)
      if (next(30) === 0 && axes > 0) own[0]++
      out.push(maskFor(random, own))
      d += axes
    } else if (kind === 7) {
      const values = Array.from({ length: sizeOf(shared) }, () => shape[d] === 0 ? 0 : next(2 * shape[d]) - shape[d])
      out.push({ sent: { kind: 'list', dtype: 'int64', values, shape: [values.length] }, given: next(2) ? values : Int32Array.from(values) })
      d++
    } else {
      const own = shared.map(n => next(4) ? n : 1).slice(next(shared.length + 1))
      out.push(integersFor(random, shape[d++], own))
    }
    if (next(6) === 0) break
  }
  return out
}

function makeCase (random) {
  const { next, pick } = random
  const shape = Array.from({ length: next(5) }, () => pick([1, 2, 3, 5, next(12) ? 4 : 0, next(8) ? 3 : 21]))
  const dtype = pick(dtypes)
  const t = arranged(random, shape, n => randomBytes(random, dtype, n))
  return { t, dtype, entries: entriesFor(random, shape) }
}

function ask (cases) {
  const { status, stdout, stderr } = spawnSync(python(), [path.join(ROOT, 'test', 'python', 'indexing.py')], { input: JSON.stringify(cases), env: { ...process.env, LD_PRELOAD: '' }, encoding: 'utf8', maxBuffer: 2 ** 28 })
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

const sentCase = ({ t, entries, value }) => ({
  itemsize: t.itemsize, shape: t.shape, bytes: base64(t), entries: entries.map(({ sent }) => sent), ...value && { value: { shape: value.shape, bytes: base64(value) } }
})
const textOf = ({ t, dtype, entries, value }) => JSON.stringify({ dtype, shape: t.shape, strides: t.strides, entries: entries.map(({ sent }) => sent), value: value?.shape })

/** A value that broadcasts to a shape. */
function valueFor (random, dtype, shape) {
  const own = shape.map(n => random.next(4) ? n : 1).slice(random.next(3) ? 0 : random.next(shape.length + 1))
  return arranged(random, own, n => randomBytes(random, dtype, n))
}

describe('indexing beside NumPy', function () {
  this.timeout(60_000)
  needsMath()
  before(function () { if (!python()) skip(this, 'Python with NumPy is missing') })

  it('gives its elements and views on 1500 random tensors and lists of entries', () => {
    const random = generator(271)
    const cases = Array.from({ length: 1500 }, () => makeCase(random))
    const expected = ask(cases.map(sentCase))
    let results = 0
    cases.forEach((one, i) => {
      const { t, entries } = one
      const wanted = expected[i]
      const what = `${textOf(one)} ${wanted.error ?? ''}`
      const run = () => index(t, ...entries.map(({ given }) => given))
      if (wanted.error !== undefined) {
        assert.throws(run, ({ code }) => /^ERR_(BOUNDS|SHAPE)$/.test(code), what)
        return
      }
      results++
      const got = run()
      assert.deepEqual([...got.shape], wanted.shape, what)
      assert.equal(got.dtype, t.dtype)
      assert.equal(base64(got), wanted.bytes, what)
      const isBasic = entries.every(({ sent }) => !['integers', 'list', 'mask'].includes(sent.kind))
      assert.equal(got.isView, isBasic, what)
      if (t.ndim > 0 && wanted.shape.length > 0 && got.size > 0) assert.equal(got.isView, wanted.isView, what)
    })
    assert.ok(results > 1000, `only ${results}`)
  })

  it('writes what it writes, on 1500 random tensors, entries and values', () => {
    const random = generator(272)
    const drawn = Array.from({ length: 1500 }, () => makeCase(random))
    const shapes = ask(drawn.map(sentCase))
    const cases = drawn.filter((_, i) => shapes[i].error === undefined)
    const found = shapes.filter(({ error }) => error === undefined)
    cases.forEach((one, i) => { one.value = valueFor(random, one.dtype, found[i].shape) })
    const expected = ask(cases.map(sentCase))
    cases.forEach((one, i) => {
      assert.equal(expected[i].error, undefined, textOf(one))
      assert.equal(indexPut(one.t, ...one.entries.map(({ given }) => given), one.value), one.t)
      assert.equal(base64(one.t), expected[i].after, textOf(one))
    })
    assert.ok(cases.length > 1000, `only ${cases.length}`)
  })

  it('selects by masks that are broadcast', () => {
    const random = generator(273)
    const cases = Array.from({ length: 300 }, () => {
      const one = makeCase(random)
      const { shape } = one.t
      const mask = maskFor(random, shape.map(n => random.next(3) ? n : 1).slice(random.next(3) ? 0 : random.next(shape.length + 1)))
      const whole = mask.given.broadcastTo(shape)
      return { ...one, mask: mask.given, entries: [{ sent: { kind: 'mask', shape, values: whole.reshape([whole.size]).toArray() } }] }
    })
    ask(cases.map(sentCase)).forEach((wanted, i) => {
      const { t, mask } = cases[i]
      const got = maskedSelect(t, mask)
      assert.deepEqual([...got.shape], wanted.shape)
      assert.equal(base64(got), wanted.bytes, textOf(cases[i]))
    })
  })
})
