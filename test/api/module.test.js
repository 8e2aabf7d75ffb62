'use strict'
const assert = require('node:assert/strict')
const {
  arange,
  empty,
  flush,
  fromBlob,
  full,
  memory,
  ones,
  scope,
  tensor,
  tidy,
  zeros,
} = require('samebytes')
const { Module } = require('samebytes/module')
const { onnx } = require('../onnx')
const { ADD, BOTH, DOUBLE, FIXED, input, loadOrt, same, target } = require('../models')
const {
  ALL_SHARED,
  CLASSES,
  collectUntil,
  copied,
  isPage,
  isWasm,
  skip,
  skipWithout,
} = require('../setup')

/** The promise must be rejected with this code; its error. */
async function rejects(promise, code, pattern = /\S{3}/) {
  const error = await promise.then(
    (value) => assert.fail(`it resolved to ${String(value)}`),
    (error) => error,
  )
  assert.equal(error.code, code, error.stack)
  assert.ok(error instanceof CLASSES[code], error.stack)
  assert.match(error.message, pattern)
  return error
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 0))

describe('samebytes/module', function () {
  let ort
  const loaded = []

  before(async () => {
    ort = await loadOrt()
  })
  afterEach(async () => {
    for (const module of loaded.splice(0)) await module.dispose()
  })

  async function load(source, options) {
    const module = await Module.load(source, { ort, ...options })
    loaded.push(module)
    return module
  }

  // ---- What it is ----

  it('tells what its method takes and gives', async () => {
    const module = await load(ADD)
    assert.deepEqual(module.methodNames, ['forward'])
    assert.deepEqual(module.inputs, [
      { name: 'a', dtype: 'float32', shape: ['n', 3] },
      { name: 'b', dtype: 'float32', shape: ['n', 3] },
    ])
    assert.deepEqual(module.outputs, [{ name: 'c', dtype: 'float32', shape: ['n', 3] }])
    assert.deepEqual(module.meta(), { inputs: module.inputs, outputs: module.outputs })
    module.inputs[0].shape[1] = 7
    assert.deepEqual(module.inputs[0].shape, ['n', 3])
  })

  it('tells extents without a name as null, and every dtype by its name', async () => {
    for (const dtype of [
      'bool',
      'uint8',
      'int8',
      'int16',
      'uint16',
      'int32',
      'uint32',
      'int64',
      'uint64',
      'float16',
      'float32',
      'float64',
      'string',
    ]) {
      const module = await load(same(dtype, '[?, 2]'))
      assert.deepEqual(module.inputs, [{ name: 'x', dtype, shape: [null, 2] }])
    }
  })

  it('has the methods of a record', async () => {
    const module = await load({ encode: ADD, forward: DOUBLE })
    assert.deepEqual(module.methodNames, ['encode', 'forward'])
    assert.deepEqual(
      module.inputs.map(({ name }) => name),
      ['x'],
    )
    const [c] = await module.execute('encode', input([1, 3]), input([1, 3]))
    assert.deepEqual(c.toArray(), [[2, 2, 2]])
    const { y } = await module.run({ x: input([2]) })
    assert.deepEqual(y.toArray(), [2, 2])
    assert.deepEqual(
      (
        await module.run([input([1, 3]), 5].slice(0, 1).concat(input([1, 3])), { method: 'encode' })
      )[0].toArray(),
      [[2, 2, 2]],
    )
    const other = await load({ encode: ADD })
    assert.throws(() => other.inputs, { code: 'ERR_NOT_FOUND' })
    await rejects(other.forward(1), 'ERR_NOT_FOUND', /'encode'/)
  })

  it("takes a model's bytes at once: memory that grows meanwhile does not take them away", async () => {
    const pending = load(tensor(ADD, 'uint8').bytes)
    const { grown } = memory()
    const held = []
    if (isWasm) {
      while (held.length < 60 && memory().grown === grown) held.push(empty([2 ** 23], 'uint8'))
    }
    assert.deepEqual(
      (await pending).outputs.map(({ name }) => name),
      ['c'],
    )
    held.forEach((t) => t.dispose())
  })

  it('says that a page of HTML is none, as servers send it for a model that is not there', async () => {
    const page = new TextEncoder().encode('\n<!doctype html>\n<html><body>not found</body></html>')
    for (const bytes of [page, page.buffer, tensor(page, 'uint8')]) {
      await rejects(load(bytes), 'ERR_FORMAT', /^source is a page of HTML, /)
    }
    await rejects(load({ encode: page }), 'ERR_FORMAT', /^source\.encode is a page of HTML/)
    await rejects(
      load(new TextEncoder().encode('<htmlx')),
      'ERR_FORMAT',
      /no model that onnxruntime can load/,
    )
  })

  it('refuses bytes that are gone: ERR_DETACHED', async () => {
    for (const bytes of [Uint8Array.from(ADD), Uint8Array.from(ADD).buffer]) {
      structuredClone(bytes, { transfer: [bytes.buffer ?? bytes] })
      await rejects(load(bytes), 'ERR_DETACHED', /source/)
    }
  })

  it('loads bytes in every wrapping, and a tensor of them', async () => {
    const bytes = ADD
    const shared =
      ALL_SHARED || typeof SharedArrayBuffer !== 'function'
        ? []
        : [new Uint8Array(new SharedArrayBuffer(bytes.length))]
    for (const array of shared) array.set(bytes)
    const padded = new Uint8Array(bytes.length + 7)
    padded.set(bytes, 7)
    for (const source of [
      bytes,
      bytes.slice().buffer,
      Buffer.from(bytes),
      padded.subarray(7),
      tensor(bytes, 'uint8'),
    ]) {
      const module = await load(source)
      assert.deepEqual(
        module.outputs.map(({ name }) => name),
        ['c'],
      )
    }
  })

  // ---- Values ----

  it('gives an array for an array, a record for a record', async () => {
    const module = await load(BOTH)
    const [a, b] = [input([2]), target([2]).copyFrom([3, 4])]
    const list = await module.forward(a, b)
    assert.deepEqual(
      list.map((t) => t.toArray()),
      [
        [4, 5],
        [3, 4],
      ],
    )
    const record = await module.forward({ b, a })
    assert.deepEqual(Object.keys(record), ['sum', 'product'])
    assert.deepEqual(record.product.toArray(), [3, 4])
    assert.deepEqual(
      (await module.run([a, b])).map((t) => t.dtype),
      ['float32', 'float32'],
    )
    assert.deepEqual(Object.keys(await module.run({ a, b })), ['sum', 'product'])
  })

  it('reads inputs where they are: nothing is copied', async () => {
    const module = await load(ADD)
    const source = new Float32Array(12).map((_, i) => i)
    const whole = fromBlob(source, [4, 3])
    const view = whole.narrow(0, 1, 2)
    const before = memory()
    const [c] = await module.forward(view, view)
    assert.deepEqual(c.toArray(), [
      [6, 8, 10],
      [12, 14, 16],
    ])
    const after = memory()
    assert.deepEqual(after.copied, before.copied)
    assert.equal(after.staged.bytes, before.staged.bytes)
    source[3] = 100 // seen by the next run: the bytes are the caller's
    assert.equal((await module.forward(view, view))[0].get(0, 0), 200)
  })

  it('reads its own memory where it is, or counts what it has to stage', async () => {
    const module = await load(ADD)
    const t = ones([2, 3])
    const before = memory()
    await module.forward(t, t)
    const { copied, staged } = memory()
    assert.deepEqual(copied, before.copied)
    const bytes = staged.bytes - before.staged.bytes
    assert.ok(bytes === 0 || (ALL_SHARED && bytes === 48), `${bytes} bytes`)
  })

  it('makes tensors of numbers, in the dtype and with the axes that the input has', async () => {
    const module = await load({
      floats: same('float32', '[?, ?]'),
      longs: same('int64', '[?]'),
      flag: same('bool', '[?]'),
      scalar: same('float64', '[]'),
      halves: same('float16', '[?]'),
    })
    const value = async (method, x) => (await module.execute(method, x))[0]
    assert.deepEqual(
      [(await value('floats', 1.5)).shape, (await value('floats', 1.5)).item()],
      [[1, 1], 1.5],
    )
    assert.deepEqual((await value('floats', [1, 2])).toArray(), [[1, 2]])
    assert.deepEqual((await value('floats', [[1], [2]])).toArray(), [[1], [2]])
    assert.deepEqual((await value('longs', 7)).toArray(), [7n])
    assert.deepEqual((await value('longs', [1n, 2])).toArray(), [1n, 2n])
    assert.deepEqual((await value('flag', [true, false])).toArray(), [true, false])
    assert.deepEqual((await value('flag', true)).toArray(), [true])
    assert.deepEqual((await value('halves', [0.5, 2])).toArray(), [0.5, 2])
    const scalar = await value('scalar', 3)
    assert.deepEqual([scalar.shape, scalar.dtype, scalar.item()], [[], 'float64', 3])
    await rejects(module.execute('longs', 1.5), 'ERR_CAST', /input 'x' \(0\)/)
    await rejects(module.execute('floats', [[1], [2, 3]]), 'ERR_SHAPE', /input 'x' \(0\).*ragged/)
  })

  it('reads typed arrays where they are', async () => {
    const module = await load({
      floats: same('float32'),
      halves: same('float16'),
      flag: same('bool'),
      matrix: same('float32', '[?, 2]'),
    })
    const { result, copies } = copied(() => module.execute('floats', Float32Array.of(1, 2)))
    assert.deepEqual((await result)[0].toArray(), [1, 2])
    assert.deepEqual(copies, {})
    assert.deepEqual((await module.execute('matrix', Float32Array.of(1, 2)))[0].toArray(), [[1, 2]])
    assert.deepEqual((await module.execute('halves', Uint16Array.of(0x3c00)))[0].toArray(), [1])
    assert.deepEqual((await module.execute('flag', Uint8Array.of(1, 0)))[0].toArray(), [
      true,
      false,
    ])
    await rejects(
      module.execute('floats', Float64Array.of(1)),
      'ERR_DTYPE',
      /input 'x' \(0\).*float32.*float64/,
    )
  })

  it('takes and gives strings, alone and in lists', async () => {
    const module = await load({
      one: same('string', '[]'),
      list: same('string', '[?]'),
      matrix: same('string', '[?, 2]'),
    })
    assert.equal((await module.execute('one', 'naïve 漢字'))[0], 'naïve 漢字')
    assert.deepEqual((await module.execute('list', 'x'))[0], ['x'])
    assert.deepEqual((await module.execute('list', ['a', '', 'c']))[0], ['a', '', 'c'])
    assert.deepEqual(
      (
        await module.execute('matrix', [
          ['a', 'b'],
          ['c', 'd'],
        ])
      )[0],
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    )
    assert.deepEqual(
      (await module.execute('matrix', new ort.Tensor('string', ['a', 'b'], [1, 2])))[0],
      [['a', 'b']],
    )
    await rejects(module.execute('list', [1]), 'ERR_DTYPE', /input 'x' \(0\) is of strings/)
    await rejects(module.execute('list', zeros([1])), 'ERR_DTYPE', /float32/)
    await rejects(
      module.execute('matrix', [['a'], ['b', 'c']]),
      'ERR_SHAPE',
      /input 'x' \(0\).*ragged/,
    )
    await rejects(
      module.execute('matrix', ['a', 1]),
      'ERR_ARGUMENT',
      /input 'x' \(0\).*1 among strings/,
    )
    await rejects(
      module.execute('list', [undefined]),
      'ERR_ARGUMENT',
      /input 'x' \(0\).*undefined among strings/,
    )
    await rejects(module.execute('matrix', [['a', 'b', 'c']]), 'ERR_SHAPE', /\[\?, 2\].*\[1, 3\]/)
    for (const data of [undefined, null, 'ab', { length: 1 }]) {
      await rejects(
        module.execute('list', { type: 'string', dims: [1], data, location: 'cpu' }),
        'ERR_ARGUMENT',
        /input 'x' \(0\).*data/,
      )
    }
  })

  it('takes and gives no strings in lists without any', async () => {
    const module = await load({ list: same('string', '[?]'), matrix: same('string', '[?, ?]') })
    assert.deepEqual((await module.execute('list', []))[0], [])
    assert.deepEqual((await module.execute('matrix', [[], []]))[0], [[], []])
    await rejects(module.execute('matrix', [[], ['a']]), 'ERR_SHAPE', /input 'x' \(0\).*ragged/)
  })

  it("takes onnxruntime's own tensors, over the same bytes", async () => {
    const module = await load(DOUBLE)
    const x = new ort.Tensor('float32', Float32Array.of(1, 2), [2])
    assert.deepEqual((await module.forward(x))[0].toArray(), [2, 4])
  })

  it('gives results that no later run writes to', async () => {
    const module = await load(DOUBLE)
    const x = input([3])
    const [first] = await module.forward(x)
    x.fill(5)
    const [second] = await module.forward(x)
    assert.deepEqual(
      [first.toArray(), second.toArray()],
      [
        [2, 2, 2],
        [10, 10, 10],
      ],
    )
    first.fill(-1)
    assert.deepEqual(second.toArray(), [10, 10, 10])
    await module.dispose()
    assert.deepEqual(second.toArray(), [10, 10, 10])
  })

  it('does without elements', async () => {
    const module = await load(DOUBLE)
    const [y] = await module.forward(zeros([0]))
    assert.deepEqual([y.shape, y.toArray()], [[0], []])
  })

  it('computes only the outputs that are named', async () => {
    const module = await load(BOTH)
    const [a, b] = [input([2]), input([2])]
    const list = await module.run([a, b], { outputs: ['product'] })
    assert.equal(list.length, 1)
    assert.deepEqual(list[0].toArray(), [1, 1])
    assert.deepEqual(Object.keys(await module.run({ a, b }, { outputs: ['product', 'sum'] })), [
      'product',
      'sum',
    ])
    await rejects(
      module.run([a, b], { outputs: ['quotient'] }),
      'ERR_NOT_FOUND',
      /'sum', 'product'/,
    )
    await module.run([a, b], { outputs: ['product'] })
    assert.throws(() => module.getOutput('sum'), { code: 'ERR_NOT_FOUND' })
  })

  // ---- What is set ----

  it('keeps inputs that were set until they are set again', async () => {
    const module = await load(ADD)
    const a = input([1, 3])
    module.setInput('a', a)
    module.setInput(1, [[1, 2, 3]])
    assert.deepEqual((await module.forward())[0].toArray(), [[2, 3, 4]])
    a.fill(10)
    assert.deepEqual((await module.forward())[0].toArray(), [[11, 12, 13]])
    assert.deepEqual((await module.forward({ b: [[0, 0, 0]] })).c.toArray(), [[10, 10, 10]])
    assert.deepEqual((await module.forward(undefined, [[5, 5, 5]]))[0].toArray(), [[15, 15, 15]])
    assert.deepEqual((await module.run([undefined, undefined]))[0].toArray(), [[11, 12, 13]])
    module.setInput('b', [[0, 0, 1]])
    assert.deepEqual((await module.run({})).c.toArray(), [[10, 10, 11]])
    module.setInput('b', null)
    await rejects(module.forward(), 'ERR_ARGUMENT', /input 'b' \(1\) has no value/)
    assert.throws(() => module.setInput('b', undefined), { code: 'ERR_ARGUMENT' })
  })

  it('keeps what was set alive', async () => {
    const module = await load(DOUBLE)
    module.setInput('x', input([1000]).fill(3))
    for (let i = 0; i < 5; i++) {
      globalThis.gc()
      await turn()
    }
    assert.ok((await module.forward())[0].toArray().every((x) => x === 6))
  })

  it('keeps what was set whoever disposes it, in a scope or not, and gives it back', async () => {
    const module = await load(ADD)
    const one = [[1, 1, 1]]
    const tensors = () => memory().tensors
    const before = tensors()
    tidy(() => {
      module.setInput('a', [[1, 2, 3]])
    })
    assert.equal(tensors() - before, 1)
    const first = await module.run({ b: one })
    assert.deepEqual(first.c.toArray(), [[2, 3, 4]])
    const x = input([1, 3])
    const view = x.view([1, 3])
    const start = tensors()
    module.setInput('a', x) // the one that was set before is given back
    assert.equal(tensors(), start)
    view.fill(4) // seen: its bytes are not copied
    x.dispose()
    view.dispose()
    const second = await module.run({ b: one })
    assert.deepEqual(second.c.toArray(), [[5, 5, 5]])
    const held = tensors()
    assert.throws(() => module.setInput('a', zeros([2, 2])), { code: 'ERR_SHAPE' })
    const third = await module.run({ b: one })
    assert.deepEqual(third.c.toArray(), [[5, 5, 5]])
    const waiting = module.run({ b: one })
    module.setInput('a', null) // what a call took stays
    assert.deepEqual((await waiting).c.toArray(), [[5, 5, 5]])
    assert.ok(held > 0)
    const y = input([1, 3])
    const least = tensors()
    module.setInput('b', y)
    assert.equal(tensors() - least, 1)
    await module.dispose()
    assert.equal(tensors(), least)
    y.fill(3) // the caller's own stays
  })

  it('takes what is set when it is called', async () => {
    const module = await load(DOUBLE)
    module.setInput('x', [1])
    const first = module.forward()
    module.setInput('x', [2])
    const second = module.forward()
    module.setInput('x', [3])
    assert.deepEqual([(await first)[0].item(), (await second)[0].item()], [2, 4])
  })

  it('does calls in their order', async () => {
    const module = await load(DOUBLE)
    const ended = []
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => module.forward([i]).then(([y]) => ended.push(y.item()))),
    )
    assert.deepEqual(
      ended,
      Array.from({ length: 20 }, (_, i) => 2 * i),
    )
    assert.equal(memory().inFlight, 0)
  })

  it('goes on after a call that failed', async () => {
    const module = await load(ADD, { logSeverityLevel: 4 })
    const good = module.forward(input([2, 3]), input([2, 3]))
    const bad = rejects(module.forward(input([2, 3]), input([5, 3])), 'ERR_MODEL', /forward/) // known when it runs
    const last = module.forward(input([1, 3]), input([1, 3]))
    assert.deepEqual((await good)[0].shape, [2, 3])
    await bad
    assert.deepEqual((await last)[0].shape, [1, 3])
    assert.equal(memory().inFlight, 0)
  })

  it('gives the last results again', async () => {
    const module = await load(BOTH)
    assert.throws(() => module.getOutput(), { code: 'ERR_NOT_FOUND', message: /no run/ })
    const [sum, product] = await module.forward(input([2]), input([2]))
    assert.equal(module.getOutput(), sum)
    assert.equal(module.getOutput('product'), product)
    assert.equal(module.getOutput(1, 'forward'), product)
    assert.throws(() => module.getOutput(2), { code: 'ERR_BOUNDS' })
    assert.throws(() => module.getOutput('x'), { code: 'ERR_NOT_FOUND' })
    assert.throws(() => module.getOutput(0, 'x'), { code: 'ERR_NOT_FOUND' })
  })

  // ---- Outputs in place ----

  describe('with outputs that are given', () => {
    it('writes into them: the same tensor, its bytes, nothing copied', async function () {
      skipWithout(this, 'results in place')
      const module = await load(ADD)
      const [a, b, c] = [input([2, 3]), input([2, 3]), target([2, 3])]
      const window = c.data
      for (const outputs of [[c], { c }]) {
        c.zero()
        const before = memory()
        const [result] = await module.run([a, b], { outputs })
        const after = memory()
        assert.equal(result, c)
        assert.deepEqual([...window], [2, 2, 2, 2, 2, 2])
        assert.deepEqual(after.copied, before.copied)
        assert.equal(after.tensors, before.tensors)
      }
      assert.equal((await module.run({ a, b }, { outputs: { c } })).c, c)
    })

    it('writes into views, and only there', async () => {
      const module = await load(ADD)
      const whole = target([4, 3]).fill(-1)
      const c = whole.narrow(0, 1, 2)
      await module.run([input([2, 3]), input([2, 3])], { outputs: [c] })
      assert.deepEqual(whole.toArray(), [
        [-1, -1, -1],
        [2, 2, 2],
        [2, 2, 2],
        [-1, -1, -1],
      ])
    })

    it('keeps those that were set, until others are', async () => {
      const module = await load(BOTH)
      const [sum, other] = [target([2]), target([2])]
      module.setOutput('sum', sum)
      const [a, b] = [input([2]), input([2])]
      const first = await module.forward(a, b)
      assert.equal(first[0], sum)
      assert.notEqual(first[1], sum)
      assert.equal((await module.run([a, b], { outputs: { sum: other } }))[0], other)
      assert.equal((await module.run([a, b], { outputs: [null] }))[0] === sum, false)
      assert.equal((await module.forward(a, b))[0], sum)
      assert.equal(module.getOutput('sum'), sum)
      module.setOutput(0, null)
      assert.notEqual((await module.forward(a, b))[0], sum)
    })

    it('copies an output that is an input of the model, too, and counts it', async () => {
      const module = await load(
        onnx({
          inputs: { a: 'float32[n]', h: 'float16[?]' },
          nodes: ['Neg(a) -> b'],
          outputs: { a: 'float32[n]', b: 'float32[n]', h: 'float16[?]' },
        }),
      )
      const [a, b] = [target([4]), target([4])]
      const h = ALL_SHARED ? fromBlob(new Uint8Array(8), [4], 'float16') : zeros([4], 'float16')
      const start = { ...memory().copied.run }
      const results = await module.run(
        [
          [1, 2],
          [0.5, 3],
        ],
        { outputs: [a, b, h] },
      )
      assert.deepEqual(results, [a, b, h])
      assert.deepEqual(
        results.map((t) => t.toArray()),
        [
          [1, 2],
          [-1, -2],
          [0.5, 3],
        ],
      )
      const { count, bytes } = memory().copied.run
      assert.deepEqual(
        [count - (start.count ?? 0), bytes - (start.bytes ?? 0)],
        isPage ? [3, 20] : [2, 12],
      ) // in a page all are copied
      const alone = await module.run({ a: [5], h: [1, 2, 3] }, { outputs: { h } })
      assert.deepEqual(
        [alone.a.toArray(), alone.b.toArray(), alone.h === h, h.toArray()],
        [[5], [-5], true, [1, 2, 3]],
      )
      const small = target([1])
      await rejects(
        module.run([[1, 2], [1]], { outputs: { a: small } }),
        'ERR_SHAPE',
        /output 'a' \(0\)/,
      )
      const seen = a.view([2])
      const call = module.run([[7, 8], [1]], { outputs: [a] })
      assert.throws(() => a.fill(1), { code: 'ERR_BUSY' })
      a.dispose()
      await call
      assert.deepEqual(seen.toArray(), [7, 8])
      assert.equal(memory().inFlight, 0)
    })

    it("feeds one run's output to the next, to and fro", async () => {
      const module = await load(DOUBLE)
      const states = [input([3]), target([3])]
      for (let i = 0; i < 6; i++) {
        await module.run([states[i % 2]], { outputs: [states[1 - (i % 2)]] })
      }
      assert.deepEqual(states[0].toArray(), [64, 64, 64])
      assert.deepEqual(states[1].toArray(), [32, 32, 32])
    })

    it("resizes a bounded one to the run's shape, as named extents tell it", async () => {
      const module = await load(ADD)
      const c = target([4, 3])
      const window = c.data
      for (const n of [2, 4, 1, 3]) {
        const x = input([n, 3])
        const [result] = await module.run([x, x], { outputs: [c] })
        assert.equal(result, c)
        assert.deepEqual(c.shape, [n, 3])
        assert.ok([...window.subarray(0, 3 * n)].every((v) => v === 2))
        assert.equal(c.data.buffer, window.buffer)
      }
    })

    it('resizes those whose extents only the run tells', async () => {
      const module = await load(BOTH)
      const [sum, product] = [target([6]), target([6])]
      for (const n of [2, 5, 5, 1, 6]) {
        const x = input([n])
        const results = await module.run([x, x], { outputs: [sum, product] })
        assert.deepEqual(results, [sum, product])
        assert.deepEqual(
          [sum.toArray(), product.toArray()],
          [new Array(n).fill(2), new Array(n).fill(1)],
        )
      }
    })

    it('lets an unbound one grow', async function () {
      if (ALL_SHARED) return skip(this, 'not every onnxruntime writes to shared memory')
      const module = await load(ADD)
      const c = zeros([1, 3], { dynamism: 'unbound' })
      const old = c.view([3])
      const x = input([5, 3])
      await module.run([x, x], { outputs: [c] })
      assert.deepEqual(c.toArray(), new Array(5).fill([2, 2, 2]))
      assert.deepEqual(old.toArray(), [0, 0, 0])
    })

    it('says which output has no room, what is needed and what was given', async () => {
      const module = await load({ forward: ADD, both: BOTH })
      const x = input([4, 3])
      const c = target([2, 3])
      await rejects(
        module.run([x, x], { outputs: [c] }),
        'ERR_SHAPE',
        /output 'c' \(0\).*\[4, 3\].*\[2, 3\].*room for 6/,
      )
      assert.deepEqual(c.toArray(), [
        [0, 0, 0],
        [0, 0, 0],
      ])
      const y = input([4])
      await rejects(
        module.run([y, y], { method: 'both', outputs: { product: target([3]) } }),
        'ERR_SHAPE',
        /output 'product' \(1\).*\[4\].*\[3\].*room for 3/,
      )
      assert.equal(memory().inFlight, 0)
      c.fill(1) // not busy any more
    })

    it('says that a static one has another shape', async () => {
      const module = await load(ADD)
      const c = fromBlob(new Float32Array(12), [4, 3], { dynamism: 'static' })
      await rejects(
        module.run([input([2, 3]), input([2, 3])], { outputs: [c] }),
        'ERR_SHAPE',
        /static/,
      )
      assert.deepEqual(c.shape, [4, 3])
    })

    it('refuses wrong dtypes, ranks, layouts and read-only ones', async () => {
      const module = await load({ forward: ADD, fixed: FIXED })
      const x = input([2, 3])
      const run = (c) => module.run([x, x], { outputs: [c] })
      await rejects(
        run(zeros([2, 3], 'float64')),
        'ERR_DTYPE',
        /output 'c' \(0\) is of float32; a tensor of float64 was given/,
      )
      await rejects(
        run(zeros([6])),
        'ERR_SHAPE',
        /output 'c' \(0\) has shape \[n, 3\]; one of shape \[6\]/,
      )
      await rejects(run(zeros([3, 2]).T), 'ERR_SHAPE', /output 'c' \(0\).*contiguous/)
      await rejects(
        run(fromBlob(new Float32Array(6), [2, 3], { readOnly: true })),
        'ERR_READ_ONLY',
        /output 'c' \(0\)/,
      )
      await rejects(run(new Float32Array(6)), 'ERR_ARGUMENT', /output 'c' \(0\)/)
      await rejects(run({}), 'ERR_ARGUMENT', /output 'c' \(0\)/)
      await rejects(module.run([x, x], { outputs: [x, x] }), 'ERR_SHAPE', /2 outputs.*has 1/)
      await rejects(module.run([x, x], { outputs: { d: x } }), 'ERR_NOT_FOUND', /'c'/)
      await rejects(module.run([x, x], { outputs: 5 }), 'ERR_ARGUMENT', /outputs/)
      const gone = target([2, 3])
      gone.dispose()
      await rejects(run(gone), 'ERR_DISPOSED', /output 'c' \(0\)/)
      assert.throws(() => module.setOutput('c', zeros([2, 3], 'int8')), { code: 'ERR_DTYPE' })
      assert.throws(() => module.setOutput('d', zeros([2, 3])), { code: 'ERR_NOT_FOUND' })
      assert.throws(() => module.setOutput(1, zeros([2, 3])), { code: 'ERR_BOUNDS' })
      assert.throws(() => module.setOutput(null, zeros([2, 3])), { code: 'ERR_ARGUMENT' })
    })

    it('refuses one that shares bytes with an input or another output', async () => {
      const module = await load({ forward: BOTH, double: DOUBLE })
      const whole = target([8])
      const part = (from, n) => whole.narrow(0, from, n)
      await rejects(
        module.run([part(0, 4), part(4, 4)], { outputs: [part(2, 4)] }),
        'ERR_OVERLAP',
        /output 'sum' \(0\).*input 'a' \(0\)/,
      )
      await rejects(
        module.run([input([4]), input([4])], { outputs: [part(0, 4), part(3, 4)] }),
        'ERR_OVERLAP',
        /output 'product' \(1\).*output 'sum' \(0\)/,
      )
      const array = new Float32Array(4)
      await rejects(
        module.run([fromBlob(array)], { method: 'double', outputs: [fromBlob(array)] }),
        'ERR_OVERLAP',
      )
      whole.fill(1)
      await module.run([part(0, 2), part(0, 2)], { outputs: [part(2, 2), part(4, 2)] }) // side by side
      assert.deepEqual(whole.toArray(), [1, 1, 2, 2, 1, 1, 1, 1])
    })

    it('holds and writes it although it is disposed while the call waits', async () => {
      const module = await load(DOUBLE)
      const y = target([3])
      const seen = y.view([3])
      const call = module.run([input([3])], { outputs: [y] })
      y.dispose()
      assert.equal((await call)[0], y)
      assert.ok(y.isDisposed)
      assert.deepEqual(seen.toArray(), [2, 2, 2])
    })

    it("says that an output's buffer went away while the call waited", async () => {
      const module = await load(DOUBLE)
      const bytes = new Float32Array(3)
      const first = module.forward([1])
      const refused = rejects(
        module.run([input([3])], { outputs: [fromBlob(bytes)] }),
        'ERR_DETACHED',
        /output 'y' \(0\)/,
      )
      structuredClone(bytes, { transfer: [bytes.buffer] })
      await first
      await refused
      assert.equal(memory().inFlight, 0)
    })

    it('is busy with both until the call settles', async () => {
      const module = await load(DOUBLE)
      const [x, y] = [input([3]), target([3])]
      const call = module.run([x], { outputs: [y] })
      assert.equal(memory().inFlight, 1)
      for (const t of [x, y]) {
        for (const write of [
          () => t.fill(1),
          () => t.set(1, 0),
          () => t.resize([2]),
          () => t.setData(new Float32Array(3)),
          () => t.copyFrom([1, 2, 3]),
          () => t.zero(),
        ]) {
          assert.throws(write, { code: 'ERR_BUSY' })
        }
      }
      await rejects(module.run([x], { outputs: [y] }), 'ERR_BUSY', /output 'y' \(0\)/)
      await rejects(module.run([y]), 'ERR_BUSY', /input 'x' \(0\)/)
      await rejects(module.run([input([3])], { outputs: [x] }), 'ERR_BUSY')
      const both = module.run([x]) // reading at the same time is fine
      await call
      await both
      assert.deepEqual(y.toArray(), [2, 2, 2])
      for (const t of [x, y]) t.fill(1).resize([2])
      assert.equal(memory().inFlight, 0)
    })
  })

  // ---- Bad input ----

  it('refuses what is no model', async () => {
    for (const source of [
      new Uint8Array(0),
      Uint8Array.of(1, 2, 3, 4),
      new TextEncoder().encode('no model'),
      ADD.subarray(0, 30),
    ]) {
      const error = await rejects(Module.load(source, { ort }), 'ERR_FORMAT', /source/)
      assert.ok(error.cause instanceof Error)
    }
    await rejects(
      Module.load({ encode: ADD, decode: Uint8Array.of(1, 2, 3) }, { ort }),
      'ERR_FORMAT',
      /source\.decode/,
    )
    for (const source of [
      undefined,
      null,
      5,
      true,
      [],
      {},
      new Float32Array(4),
      Symbol('x'),
      () => 1,
    ]) {
      await rejects(Module.load(source, { ort }), 'ERR_ARGUMENT', /source/)
    }
  })

  it('refuses options that are none, and those that onnxruntime refuses', async () => {
    await rejects(Module.load(ADD, 5), 'ERR_ARGUMENT', /sessionOptions/)
    await rejects(Module.load(ADD, { ort: {} }), 'ERR_ARGUMENT', /ort/)
    await rejects(Module.load(ADD, { ort: 5 }), 'ERR_ARGUMENT', /ort/)
    await rejects(
      Module.load(ADD, { ort, executionProviders: ['quantum'] }),
      'ERR_UNSUPPORTED',
      /sessionOptions/,
    )
    await rejects(
      Module.load(ADD, { ort, graphOptimizationLevel: 'quantum' }),
      'ERR_UNSUPPORTED',
      /sessionOptions/,
    )
  })

  it('says which input, what was expected and what was given', async () => {
    const module = await load({ forward: ADD, fixed: FIXED })
    const x = input([2, 3])
    await rejects(
      module.forward(zeros([2, 3], 'int32'), x),
      'ERR_DTYPE',
      /input 'a' \(0\) is of float32; a tensor of int32 was given/,
    )
    await rejects(
      module.forward(x, zeros([2, 4])),
      'ERR_SHAPE',
      /input 'b' \(1\) has shape \[n, 3\]; one of shape \[2, 4\] was given/,
    )
    await rejects(
      module.forward(x, zeros([3])),
      'ERR_SHAPE',
      /input 'b' \(1\) has shape \[n, 3\]; one of shape \[3\] was given/,
    )
    await rejects(
      module.execute('fixed', x, zeros([1, 3])),
      'ERR_SHAPE',
      /\[2, 3\]; one of shape \[1, 3\]/,
    )
    await rejects(
      module.forward(x, zeros([3, 2]).T),
      'ERR_SHAPE',
      /input 'b' \(1\).*strides \[1, 2\].*contiguous\(\)/,
    )
    await rejects(module.forward(x), 'ERR_ARGUMENT', /input 'b' \(1\) has no value/)
    await rejects(
      module.forward(x, x, x),
      'ERR_SHAPE',
      /3 inputs were given; 'forward' takes 2: 'a', 'b'/,
    )
    await rejects(module.forward({ a: x, d: x }), 'ERR_NOT_FOUND', /no input "d".*'a', 'b'/)
    await rejects(module.forward(x, zeros([2, 3], 'bfloat16')), 'ERR_DTYPE', /bfloat16/)
    await rejects(module.forward(x, null), 'ERR_ARGUMENT', /input 'b' \(1\)/)
    await rejects(module.forward(x, Symbol('x')), 'ERR_ARGUMENT', /input 'b' \(1\)/)
    await rejects(
      module.forward(x, () => 1),
      'ERR_ARGUMENT',
      /input 'b' \(1\)/,
    )
    await rejects(
      module.forward(x, 'text'),
      'ERR_DTYPE',
      /input 'b' \(1\) is of float32; "text" was given/,
    )
    await rejects(module.forward(x, new Date(0)), 'ERR_ARGUMENT', /input 'b' \(1\)/)
    await rejects(module.run(5), 'ERR_ARGUMENT', /inputs/)
    await rejects(module.run('x'), 'ERR_ARGUMENT', /inputs/)
    await rejects(module.run(x), 'ERR_ARGUMENT', /inputs/)
    await rejects(module.run([x, x], 5), 'ERR_ARGUMENT', /options/)
    await rejects(module.run([x, x], { method: 'decode' }), 'ERR_NOT_FOUND', /'forward', 'fixed'/)
    await rejects(module.run([x, x], { method: 5 }), 'ERR_ARGUMENT', /method/)
    await rejects(module.run([x, x], { signal: 5 }), 'ERR_ARGUMENT', /signal/)
    await rejects(
      module.run([x, x], { output: [x] }),
      'ERR_ARGUMENT',
      /^run has no option "output"; outputs was expected$/,
    )
    await rejects(module.execute(undefined, x, x), 'ERR_ARGUMENT', /method/)
    assert.throws(() => module.setInput('d', x), { code: 'ERR_NOT_FOUND' })
    assert.throws(() => module.setInput(2, x), { code: 'ERR_BOUNDS' })
    assert.throws(() => module.setInput(0.5, x), { code: 'ERR_BOUNDS' })
    assert.throws(() => module.setInput('a', zeros([2, 3], 'int8')), { code: 'ERR_DTYPE' })
    assert.throws(() => module.setInput('a', x, 'decode'), { code: 'ERR_NOT_FOUND' })
    assert.throws(() => module.meta('decode'), { code: 'ERR_NOT_FOUND' })
    assert.throws(() => module.meta(5), { code: 'ERR_ARGUMENT' })
    assert.equal(memory().inFlight, 0)
    assert.deepEqual((await module.forward(x, x))[0].shape, [2, 3])
  })

  it('refuses disposed and detached inputs, also those that went away while the call waited', async () => {
    const module = await load(DOUBLE)
    const gone = input([3])
    gone.dispose()
    await rejects(module.forward(gone), 'ERR_DISPOSED', /input 'x' \(0\)/)
    const source = new Float32Array(3)
    const t = fromBlob(source)
    const first = module.forward([1])
    const refused = rejects(module.forward(t), 'ERR_DETACHED', /input 'x' \(0\)/)
    structuredClone(source, { transfer: [source.buffer] })
    await first
    await refused
    await rejects(module.forward(t), 'ERR_DETACHED', /input 'x' \(0\)/)
    assert.equal(memory().inFlight, 0)
  })

  it('reads an input that is disposed while the call waits', async () => {
    const module = await load(DOUBLE)
    const before = memory().tensors
    const x = tensor([1, 2, 3, 4])
    const waiting = module.forward(x) // and one behind it
    const next = module.forward(x)
    x.dispose()
    const others = Array.from({ length: 100 }, () => full([4], 9))
    assert.deepEqual((await waiting)[0].toArray(), [2, 4, 6, 8])
    assert.deepEqual((await next)[0].toArray(), [2, 4, 6, 8])
    for (const t of others) t.dispose()
    assert.ok(memory().tensors - before <= 3)
  })

  it('leaves a blob record the bytes of an input that was disposed while it ran', async () => {
    const module = await load(DOUBLE)
    const x = tensor([1, 2, 3, 4])
    const record = x.toBlob()
    const call = module.forward(x)
    x.dispose()
    await call
    const others = Array.from({ length: 100 }, () => full([4], 9))
    assert.deepEqual(fromBlob(record).toArray(), [1, 2, 3, 4])
    for (const t of others) t.dispose()
  })

  it('is disposed after the calls that are pending; later ones are refused', async () => {
    const module = await load(DOUBLE)
    const calls = [module.forward([1]), module.forward([2])]
    const ending = module.dispose()
    assert.ok(module.isDisposed)
    assert.equal(module.dispose(), ending)
    const refused = rejects(module.forward([3]), 'ERR_DISPOSED')
    assert.deepEqual(
      (await Promise.all(calls)).map(([y]) => y.item()),
      [2, 4],
    )
    await refused
    await ending
    for (const use of [
      () => module.inputs,
      () => module.meta(),
      () => module.setInput('x', 1),
      () => module.setOutput('y', null),
      () => module.getOutput(),
    ]) {
      assert.throws(use, { code: 'ERR_DISPOSED' })
    }
    assert.deepEqual(module.methodNames, ['forward'])
    await module.dispose()
  })

  it('has a dispose for `await using`', async () => {
    const module = await load(DOUBLE)
    await module[Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]()
    assert.ok(module.isDisposed)
  })

  it('stops calls that have not begun when their signal says so', async () => {
    const module = await load(DOUBLE)
    const stop = new AbortController()
    const reason = new Error('enough')
    const first = module.run([[1]])
    const second = assert.rejects(
      module.run([[2]], { signal: stop.signal }),
      (error) => error === reason,
    )
    const third = module.run([[3]])
    stop.abort(reason)
    await second
    await assert.rejects(module.run([[4]], { signal: stop.signal }), (error) => error === reason)
    assert.deepEqual([(await first)[0].item(), (await third)[0].item()], [2, 6])
    assert.equal(memory().inFlight, 0)
  })

  it("ends with what a signal of the caller's own throws, at whichever look, and nothing stays in use", async () => {
    const module = await load(DOUBLE)
    const x = tensor([1])
    for (let n = 1; n <= 4; n++) {
      let asked = 0
      const thrown = new Error(`look ${n}`)
      const signal = {
        get aborted() {
          if (++asked === n) throw thrown
          return false
        },
        addEventListener() {},
        removeEventListener() {},
      }
      const run = module.run([x], { signal })
      if (n < 4) await assert.rejects(run, thrown)
      else assert.deepEqual([(await run)[0].item(), asked], [2, 3])
      x.fill(1)
      assert.equal(memory().inFlight, 0)
    }
  })

  it('refuses outputs without end', async () => {
    const module = await load(DOUBLE)
    const x = tensor([1])
    const holes = (first) => {
      const list = [first]
      list.length = 2 ** 32 - 1
      return list
    }
    const lying = (entry) =>
      new Proxy([], {
        get: (of, key) =>
          key === 'length' ? 2 ** 32 - 1 : typeof key === 'symbol' ? of[key] : entry,
      })
    for (const outputs of [holes('y'), holes(undefined), lying('y'), lying(undefined)]) {
      await rejects(module.run([x], { outputs }), 'ERR_SHAPE', /4294967295 outputs were given/)
    }
    for (const inputs of [holes(x), lying(x)]) {
      await rejects(module.run(inputs), 'ERR_SHAPE', /4294967295 inputs were given/)
    }
  })

  it('cannot be made by its constructor', () => {
    assert.throws(() => new Module(), { code: 'ERR_ARGUMENT' })
  })

  it('lets user code that runs while it reads its arguments do no harm', async () => {
    const module = await load(ADD)
    const x = input([1, 3])
    const inputs = {
      a: x,
      get b() {
        module.dispose()
        return x
      },
    }
    await rejects(module.run(inputs), 'ERR_DISPOSED')
    assert.equal(memory().inFlight, 0)
    x.fill(2)
    const other = await load(ADD)
    const list = [x]
    Object.defineProperty(list, 1, {
      enumerable: true,
      get() {
        x.dispose()
        return [[1, 1, 1]]
      },
    })
    await rejects(other.run(list), 'ERR_DISPOSED')
    const liar = new Proxy([x, x], {
      get: (target, key) => (key === 'length' ? 2 ** 53 : Reflect.get(target, key)),
    })
    await rejects(other.run(liar), 'ERR_SHAPE')
  })

  it('judges inputs when no user code runs any more', async () => {
    const module = await load(ADD)
    const kinds = [{}, { dynamism: 'unbound' }, ...(ALL_SHARED ? [] : [{ shared: true }])]
    for (const options of kinds) {
      const x = ones([1, 3], options)
      const others = []
      const list = {
        *[Symbol.iterator]() {
          x.dispose()
          for (let i = 0; i < 40; i++) others.push(full([1, 3], 99, options))
          yield [1, 1, 1]
        },
      }
      await rejects(module.forward(x, list), 'ERR_DISPOSED', /input 'a' \(0\)/)
      for (const t of others) t.dispose()
    }
    const x = ones([1, 3], { dynamism: 'unbound' })
    const growing = {
      *[Symbol.iterator]() {
        x.resize([3, 3]).fill(2)
        yield [1, 1, 1]
      },
    }
    assert.deepEqual((await module.forward(x, growing))[0].toArray(), new Array(3).fill([3, 3, 3]))
    // ... and what is set is that of the call's end
    module.setInput('a', [[1, 1, 1]])
    const setting = {
      *[Symbol.iterator]() {
        module.setInput('a', [[5, 5, 5]])
        yield [1, 1, 1]
      },
    }
    assert.deepEqual((await module.forward({ b: setting })).c.toArray(), [[6, 6, 6]])
    const ending = {
      *[Symbol.iterator]() {
        module.dispose()
        yield [1, 1, 1]
      },
    }
    assert.throws(() => module.setInput('a', ending), { code: 'ERR_DISPOSED' })
    assert.equal(memory().inFlight, 0)
  })

  it('asks again what onnxruntime can do, when it could not be found out', async () => {
    let failures = 0
    const flaky = {
      ...ort,
      Tensor: ort.Tensor,
      InferenceSession: {
        create: async (model, options) => {
          if (options.logSeverityLevel === 4 && failures++ === 0) throw new Error('not now')
          return ort.InferenceSession.create(model, options)
        },
      },
    }
    const module = await Module.load(DOUBLE, {
      ort: flaky,
      executionProviders: [{ name: isPage ? 'wasm' : 'cpu', asked: Math.random() }], // as nobody has asked before
      preferredOutputLocation: 'cpu',
    })
    const ask = () =>
      module.run([[1]], { outputs: [target([1])] }).then(
        () => 'done',
        (error) => error,
      )
    const error = await ask()
    assert.deepEqual([error.code, error.cause?.message], ['ERR_MODEL', 'not now'], error.stack)
    const next = await ask()
    assert.ok(next === 'done' || next.code === 'ERR_UNSUPPORTED', next.stack)
    assert.equal(failures, 2)
    await module.dispose()
  })

  it('says what runs it, of which version, and why it is not the library', async () => {
    const module = await Module.load(DOUBLE)
    const { name, version, reason } = module.runtime
    assert.match(version, /^1\.\d+\.\d+/)
    assert.equal(name, reason === '' ? 'library' : 'binding', reason)
    if (isPage) assert.equal(reason, 'pages have no C library')
    if (name === 'binding') assert.throws(() => module.share(), { code: 'ERR_UNSUPPORTED' })
    else await Module.fromShared(module.share()).dispose()
    await module.dispose()
  })

  it('leaves no tensors: a thousand calls', async () => {
    const module = await load(BOTH)
    await collectUntil(() => true)
    const before = memory()
    await scope(async (s) => {
      const [a, b] = s.track([input([10]), input([10])])
      for (let i = 0; i < 1000; i++) for (const t of await module.forward(a, b)) t.dispose()
    })
    await flush()
    const done = await collectUntil(() => memory().tensors <= before.tensors + 2)
    assert.ok(done, `${memory().tensors} tensors, ${before.tensors} before`)
  })

  it("takes other runs' results as they are", async () => {
    const module = await load({ forward: BOTH, double: DOUBLE })
    const { sum } = await module.forward({
      a: arange(4, { dtype: 'float32' }).contiguous(),
      b: empty([4]).fill(1),
    })
    const [y] = await module.execute('double', sum)
    assert.deepEqual(y.toArray(), [2, 4, 6, 8])
  })

  it('has models with inputs that nobody needs', async () => {
    const module = await load(
      onnx({
        inputs: { x: 'float32[n]', unused: 'float32[]' },
        nodes: ['Identity(x) -> y'],
        outputs: { y: 'float32[n]' },
      }),
    )
    assert.deepEqual((await module.forward([1, 2], 5))[0].toArray(), [1, 2])
  })
})
