'use strict'
const assert = require('node:assert/strict')
const {
  backend,
  empty,
  fromBlob,
  fromBytes,
  full,
  memory,
  sharesMemory,
  tensor,
  tidy,
  wasmMemory,
  zeros,
} = require('samebytes')
const { childJson, needs, refuses } = require('../setup')

const grow = () => wasmMemory().grow(1)
/** Memory that threads share grows at its end: what shows the old part goes on to show it. */
const KEEPS = backend() === 'wasm-shared'

/** memory().grown since before, after the caller made memory grow n times and then used it or not. */
function assertGrown(before, n) {
  const noticed = memory().grown - before
  if (KEEPS) {
    assert.ok(noticed >= 1 && noticed <= n, `${noticed} of ${n}`)
  } // nobody tells a thread; several may look like one
  else assert.equal(noticed, n)
}

// Each is made before the memory grows, and used after; what it must give then.
const USES = {
  get: [
    () =>
      tensor([
        [1, 2],
        [3, 4],
      ]),
    (t) => t.get(1, 0),
    3,
  ],
  'get of bfloat16': [() => tensor([1, 2], 'bfloat16'), (t) => t.get(1), 2],
  'get of complex64': [() => tensor([[1, 2]], 'complex64'), (t) => t.get(0), [1, 2]],
  'set of float64': [
    () => zeros([2], 'float64'),
    (t) => {
      t.set(7, 1)
      return t.toArray()
    },
    [0, 7],
  ],
  'set of int64': [
    () => zeros([2], 'int64'),
    (t) => {
      t.set(7n, 1)
      return t.toArray()
    },
    [0n, 7n],
  ],
  item: [() => tensor(5), (t) => t.item(), 5],
  toArray: [
    () =>
      tensor([
        [1, 2],
        [3, 4],
      ]),
    (t) => t.toArray(),
    [
      [1, 2],
      [3, 4],
    ],
  ],
  'toArray of float8_e5m2': [() => tensor([1, 2], 'float8_e5m2'), (t) => t.toArray(), [1, 2]],
  toString: [() => tensor([1, 2]), (t) => String(t), 'tensor([1., 2.])'],
  'toString of bfloat16': [
    () => tensor([1, 2], 'bfloat16'),
    (t) => String(t),
    'tensor([1., 2.], dtype=bfloat16)',
  ],
  iteration: [() => tensor([1, 2]), (t) => [...t], [1, 2]],
  data: [() => tensor([1, 2]), (t) => [...t.data], [1, 2]],
  bytes: [() => tensor([1], 'int16'), (t) => [...t.bytes], [1, 0]],
  'slice and other views': [
    () =>
      tensor([
        [1, 2],
        [3, 4],
      ]),
    (t) => [
      t.slice('::-1').get(0, 0),
      t.T.get(0, 1),
      t.select(0, 1).get(1),
      t.narrow(1, 1, 1).get(0, 0),
      t.permute([1, 0]).get(1, 0),
      t.reshape([4]).get(3),
      t.view([4]).get(2),
      t.unfold(0, 1, 1).get(1, 0, 0),
      t.view('int32').get(0, 0),
    ],
    [3, 3, 4, 2, 2, 4, 3, 3, 1065353216],
  ],
  fill: [() => zeros([3]), (t) => t.fill(2).toArray(), [2, 2, 2]],
  zero: [() => full([3], 5), (t) => t.zero().toArray(), [0, 0, 0]],
  'copyFrom of a tensor': [
    () => [zeros([2]), tensor([1, 2])],
    ([a, b]) => a.copyFrom(b).toArray(),
    [1, 2],
  ],
  'copyFrom of a list': [() => zeros([2]), (t) => t.copyFrom([3, 4]).toArray(), [3, 4]],
  'copyFrom of a Float64Array': [
    () => zeros([2]),
    (t) => t.copyFrom(Float64Array.of(3, 4)).toArray(),
    [3, 4],
  ],
  'copyFrom with scale and bias': [
    () => tensor([1, 2]),
    (t) => t.copyFrom(t, { scale: [2, 3], bias: 1, axis: 0 }).toArray(),
    [3, 7],
  ],
  'copyFrom over itself': [
    () => tensor([1, 2, 3]),
    (t) => t.slice('1:').copyFrom(t.slice(':-1')).toArray(),
    [1, 2],
  ],
  "copyFrom into the caller's bytes": [
    () => [fromBlob(new Float32Array(3)), tensor([1, 2, 3])],
    ([a, b]) => a.copyFrom(b).toArray(),
    [1, 2, 3],
  ],
  "fill of the caller's bytes": [
    () => fromBlob(new Int16Array(3)).slice('::2'),
    (t) => t.fill(4).base.toArray(),
    [4, 0, 4],
  ],
  'clone and contiguous': [
    () =>
      tensor([
        [1, 2],
        [3, 4],
      ]),
    (t) => [
      t.clone().get(1, 1),
      t.T.contiguous().get(0, 1),
      t.astype('int8', { casting: 'unsafe' }).get(1, 0),
    ],
    [4, 3, 3],
  ],
  'reshape that copies': [
    () =>
      tensor([
        [1, 2],
        [3, 4],
      ]),
    (t) => t.T.reshape([4]).toArray(),
    [1, 3, 2, 4],
  ],
  setBytes: [() => zeros([2], 'int8'), (t) => t.setBytes(Uint8Array.of(1, 255)).toArray(), [1, -1]],
  fromBytes: [
    () => Uint8Array.of(1, 2),
    (bytes) => fromBytes(bytes, [2], 'uint8').toArray(),
    [1, 2],
  ],
  'tensor, zeros and full': [
    () => null,
    () => [tensor([1, 2]).get(1), zeros([3]).get(2), full([2], 9).get(1), empty([2]).size],
    [2, 0, 9, 2],
  ],
  'tensor of a tensor': [
    () =>
      tensor([
        [1, 2],
        [3, 4],
      ]),
    (t) => tensor(t.T, [4], 'float64').toArray(),
    [1, 3, 2, 4],
  ],
  sharesMemory: [
    () => tensor([1, 2]),
    (t) => [sharesMemory(t, t.slice('1:')), sharesMemory(t, t.clone())],
    [true, false],
  ],
  dispose: [
    () => tensor([1, 2]),
    (t) => {
      const v = t.slice('1:')
      t.dispose()
      return v.toArray()
    },
    [2],
  ],
  tidy: [
    () => tensor([1, 2]),
    (t) => tidy(() => t.clone().copyFrom(t, { scale: 2 })).toArray(),
    [2, 4],
  ],
  'a refusal': [
    () => tensor([1, 2]),
    (t) => [refuses(() => t.reshape([5])).code, refuses(() => t.fill(1e39)).code, t.get(1)],
    ['ERR_SHAPE', 'ERR_CAST', 2],
  ],
  dataPtr: [
    () => tensor([1, 2]),
    (t) => new Float32Array(wasmMemory().buffer, Number(t.dataPtr), 2)[1],
    2,
  ],
  isContiguous: [
    () => zeros([3, 3]).view([2, 2], { strides: [3, 1] }),
    (t) => t.isContiguous(),
    false,
  ],
}

describe('WASM memory that the caller makes grow', () => {
  needs('memory that grows')

  for (const [name, [make, use, expected]] of Object.entries(USES)) {
    it(`leaves ${name} right, before the first use and between uses, and is counted`, () => {
      const operand = make()
      const before = memory().grown
      grow()
      assert.deepEqual(use(operand), expected)
      assertGrown(before, 1)
      for (let i = 0; i < 3; i++) {
        const again = make()
        grow()
        assert.deepEqual(use(again), expected)
      }
      assertGrown(before, 4)
    })
  }

  it('is counted by memory() alone, too', () => {
    const before = memory().grown
    grow()
    assert.equal(memory().grown, before + 1)
    assert.equal(memory().grown, before + 1)
  })

  it(`${KEEPS ? 'keeps' : 'ends'} data taken before; data taken again works, both ways: float32`, () => {
    const t = tensor([1, 2, 3])
    const view = t.slice('1:')
    const old = [t.data, view.data, t.bytes]
    grow()
    assert.deepEqual(
      old.map((array) => array.length),
      KEEPS ? [3, 2, 12] : [0, 0, 0],
    )
    assert.deepEqual([...t.data], [1, 2, 3])
    t.data[1] = 20
    assert.deepEqual([...view.data], [20, 3])
    assert.equal(t.get(1), 20)
    view.set(30, 1)
    assert.equal(t.data[2], 30)
    if (KEEPS) {
      assert.deepEqual([t.data, view.data], old.slice(0, 2))
      assert.equal(t.data, old[0])
      assert.deepEqual([...old[0]], [1, 20, 30])
      old[0][0] = 10
      assert.equal(t.get(0), 10)
      assert.equal(new Float32Array(wasmMemory().buffer, Number(t.dataPtr), 1)[0], 10)
      assert.ok(old[0].buffer.byteLength < wasmMemory().buffer.byteLength)
    } else {
      assert.equal(t.data.buffer, wasmMemory().buffer)
    }
    assert.equal(t.data, t.data)
  })

  it("does not end data of the caller's and of shared bytes: float32", () => {
    const t = fromBlob(new Float32Array([1, 2]))
    const s = full([2], 3, { shared: true })
    const [a, b] = [t.data, s.data]
    grow()
    assert.deepEqual([...a, ...b], [1, 2, 3, 3])
    assert.equal(t.data, a)
    assert.equal(s.data, b)
  })

  it('in the middle of a call, from getters and iterators, leaves float32 right', () => {
    const opts = (fields) =>
      Object.defineProperties(
        {},
        Object.fromEntries(
          Object.entries(fields).map(([name, value]) => [
            name,
            {
              get() {
                grow()
                return value
              },
            },
          ]),
        ),
      )
    function* values(...list) {
      for (const x of list) {
        grow()
        yield x
      }
    }
    const t = tensor([
      [1, 2],
      [3, 4],
    ])
    const before = memory().grown
    assert.deepEqual(
      tensor(values(1, 2), opts({ dtype: 'int8', order: 'F', shared: false })).toArray(),
      [1, 2],
    )
    assert.deepEqual(
      t.copyFrom(values(values(5, 6), values(7, 8)), opts({ casting: 'safe' })).toArray(),
      [
        [5, 6],
        [7, 8],
      ],
    )
    assert.deepEqual(t.copyFrom(t, opts({ scale: values(2, 3), axis: 1 })).toArray(), [
      [10, 18],
      [14, 24],
    ])
    assert.deepEqual(t.slice(opts({ start: 1 }), opts({ stop: 1 })).toArray(), [[14]])
    assert.deepEqual(t.view([2], opts({ strides: [2], offset: 1 })).toArray(), [18, 24])
    assert.deepEqual(t.reshape([4], opts({ copy: true })).toArray(), [10, 18, 14, 24])
    assert.deepEqual(fromBlob(Float32Array.of(1, 2), [1], opts({ offset: 1 })).toArray(), [2])
    assert.deepEqual(
      fromBytes(t.data.slice(), [2, 2], opts({ dtype: 'float32', order: 'C' })).toArray(),
      [
        [10, 18],
        [14, 24],
      ],
    )
    assert.ok(memory().grown > before)
  })

  it('by its own needs leaves arrays over it right that are being copied: float32 from data', async () => {
    // Each source is as large as the memory was: making its copy makes the memory grow under it.
    const results = await childJson(`
      const { empty, fromBytes, memory, tensor, tidy, wasmMemory } = require('samebytes')
      const uses = [array => tensor(array), array => tensor(array, 'float64'), array => fromBytes(array, [array.length], 'float32')]
      console.log(JSON.stringify(uses.map(use => tidy(() => {
        const source = empty([wasmMemory().buffer.byteLength / 4]).fill(2)
        const { data } = source
        const KEPT = ${KEEPS} ? source.size : 0
        const before = memory().grown
        const made = use(data)
        return [memory().grown > before, data.length === KEPT, made.size === source.size, made.get(0), made.get(-1)]
      }))))
    `)
    assert.deepEqual(results, [
      [true, true, true, 2, 2],
      [true, true, true, 2, 2],
      [true, true, true, 2, 2],
    ])
  })

  it('by its own needs: copyFrom, setBytes and a blob over data, with their operands where they are', () => {
    const t = tensor([1, 2, 3, 4])
    const before = memory().staged.count
    assert.deepEqual(zeros([4]).copyFrom(t.data).toArray(), [1, 2, 3, 4])
    assert.deepEqual(zeros([2]).setBytes(t.slice('2:').data).toArray(), [3, 4])
    assert.deepEqual(tensor(t.data, [2, 2]).toArray(), [
      [1, 2],
      [3, 4],
    ])
    assert.deepEqual(t.slice('1:').copyFrom(t.slice(':3').data).toArray(), [1, 2, 3])
    const blob = fromBlob(t.data, [2, 2])
    blob.fill(6)
    assert.deepEqual(t.toArray(), [6, 6, 6, 6])
    assert.equal(sharesMemory(blob, t), true)
    assert.equal(sharesMemory(blob.select(0, 0), t.slice('2:')), false)
    assert.equal(memory().staged.count - before, 1) // the overlapping copy
    grow()
    assert.equal(blob.get(0, 0), 6)
    blob.fill(1)
    assert.deepEqual(t.toArray(), [1, 1, 1, 1])
    t.dispose() // the blob has a claim on the same bytes
    zeros([4])
    assert.deepEqual(blob.toArray(), [
      [1, 1],
      [1, 1],
    ])
  })

  describe('between two growths: an array over it that was taken then', () => {
    /** Arrays over the bytes of t that the package never saw, of a buffer that memory had for a while. */
    function taken(t) {
      grow()
      const { buffer } = wasmMemory()
      const arrays = [
        new Float32Array(buffer, Number(t.dataPtr), t.size),
        new Uint8Array(buffer, Number(t.dataPtr), t.nbytes),
        new DataView(buffer, Number(t.dataPtr), t.nbytes),
      ]
      grow()
      return arrays
    }

    if (KEEPS) {
      it('shows the same float32 where memory keeps its buffers: nothing is staged, and it has an address', () => {
        const t = tensor([1, 2, 3, 4])
        const [floats, bytes, view] = taken(t)
        const before = memory().staged.count
        for (const u of [
          fromBlob(floats),
          fromBlob(bytes, 'float32'),
          fromBlob(view, 'float32'),
          zeros([4]).setData(floats),
        ]) {
          assert.deepEqual(
            [u.dataPtr, u.toArray(), sharesMemory(u, t)],
            [t.dataPtr, [1, 2, 3, 4], true],
          )
          u.slice('1:').copyFrom(u.slice(':-1')) // in one memory overlaps are seen
          assert.deepEqual(t.toArray(), [1, 1, 2, 3])
          t.copyFrom([1, 2, 3, 4])
        }
        assert.equal(memory().staged.count - before, 8) // the overlapping copies, and the lists
        assert.deepEqual(zeros([4]).copyFrom(floats).toArray(), [1, 2, 3, 4])
        assert.deepEqual(t.slice('1:').copyFrom(floats.subarray(0, 3)).toArray(), [1, 2, 3])
        assert.deepEqual(zeros([4]).setBytes(bytes).toArray(), [1, 1, 2, 3])
      })
    } else {
      it('is refused where memory gave its buffer up, in whatever place it stands: float32', () => {
        const t = tensor([1, 2, 3, 4])
        const indices = new Int32Array(wasmMemory().buffer, Number(t.dataPtr), 1)
        const [floats, bytes, view] = taken(t)
        const uses = [
          () => fromBlob(floats),
          () => fromBlob(bytes, 'float32'),
          () => fromBlob(view, 'float32'),
          () => fromBlob(floats, [0]),
          () => zeros([0]).setData(floats),
          () => zeros([4]).copyFrom(floats),
          () => zeros([0]).copyFrom(floats),
          () => zeros([4]).copyFrom(1, { scale: floats, axis: 0 }),
          () => zeros([2, 0]).copyFrom([floats, floats]),
          () => zeros([4]).setBytes(bytes),
          () => zeros([0]).setBytes(view),
          () => zeros([4]).copyFrom({ data: bytes, width: 1, height: 1 }),
          () => tensor(floats),
          () => tensor([floats]),
          () => fromBytes(bytes, [0], 'float32'),
          () => t.take(indices),
          () => zeros(indices),
        ]
        for (const use of uses) assert.equal(refuses(use).code, 'ERR_DETACHED', String(use))
        assert.deepEqual(t.toArray(), [1, 2, 3, 4])
      })
    }
  })

  it('is known from its first byte on, where an offset says what is meant: float32', () => {
    const t = tensor([1, 2, 3, 4])
    const offset = Number(t.dataPtr) / 4
    const before = memory().staged.count
    const u = fromBlob(wasmMemory().buffer, [4], { dtype: 'float32', offset })
    const back = fromBlob(new Float32Array(wasmMemory().buffer), [4], {
      strides: [-1],
      offset: offset + 3,
    })
    const rest = fromBlob(wasmMemory().buffer, { dtype: 'float32', offset })
    assert.deepEqual(
      [u.dataPtr, u.toArray(), back.toArray(), rest.dataPtr],
      [t.dataPtr, [1, 2, 3, 4], [4, 3, 2, 1], t.dataPtr],
    )
    assert.equal(rest.size + offset, wasmMemory().buffer.byteLength / 4)
    u.fill(5)
    assert.deepEqual([t.toArray(), memory().staged.count - before], [[5, 5, 5, 5], 0])
    refuses(
      () =>
        fromBlob(wasmMemory().buffer, [2], {
          dtype: 'float32',
          strides: [-1],
          offset: wasmMemory().buffer.byteLength / 4,
        }),
      'ERR_BOUNDS',
    )
  })

  it('in the middle of a call over the whole of it is noticed: uint8', async () => {
    // In a program of its own: here earlier tests may have made it so large that twice as much is more than there can be.
    const { size, made } = await childJson(`
      const { fromBlob, wasmMemory } = require('samebytes')
      const whole = fromBlob(wasmMemory().buffer, 'uint8') // as much again is never free
      const { size } = whole
      let made
      try { made = whole.clone().size } catch (error) { made = error.code }
      console.log(JSON.stringify({ size, made }))
    `)
    assert.ok(size >= 2 ** 20)
    assert.equal(made, KEEPS ? size : 'ERR_DETACHED')
  })

  for (const [way, read] of Object.entries({
    toArray: 't.toArray()',
    get: '[t.get(0), t.get(1)]',
    accessor: '[0, 1].map(i => a.get(i))',
    printing: 'String(t)',
  })) {
    it(`by its own needs when bfloat16 is read for the first time, by ${way}`, async () => {
      const { read: values, grown } = await childJson(
        `
        const { empty, memory, tensor, wasmMemory, zeros } = require('samebytes')
        const t = tensor([1, 2.5], 'bfloat16')
        const a = t.accessor()
        const left = wasmMemory().buffer.byteLength - Number(zeros([1]).dataPtr)
        const kept = empty([left - 65536], 'uint8') // the table of all values takes more than is left then
        const before = memory().grown
        const read = ${read}
        console.log(JSON.stringify({ read, grown: memory().grown - before + kept.size * 0 }))
      `,
        { env: { SAMEBYTES_BACKEND: backend() } },
      )
      assert.deepEqual(
        values,
        way === 'printing' ? 'tensor([1.0000, 2.5000], dtype=bfloat16)' : [1, 2.5],
      )
      assert.ok(grown >= 1)
    })
  }

  it('from address 0 on can be copied: uint8', () => {
    const start = new Uint8Array(wasmMemory().buffer, 0, 4)
    const copy = Array.from(start)
    assert.deepEqual(tensor(start).toArray(), copy)
  })

  it('to no avail, past its maximum, is ERR_MEMORY, and all goes on', () => {
    const t = tensor([1, 2])
    refuses(() => empty([2 ** 30]), 'ERR_MEMORY')
    refuses(
      () =>
        fromBlob(new Float32Array(1))
          .view([2 ** 31], { strides: [0] })
          .clone(),
      'ERR_MEMORY',
    )
    assert.deepEqual(t.toArray(), [1, 2])
  })
})

describe('the tables of short floats', () => {
  // At its first use a table is made, for which memory may grow in the middle of a read.
  const program = (dtype) => `
    const { tensor, zeros } = require('samebytes')
    const dtype = '${dtype}'
    const kept = []
    const t = tensor([1.5, 2], dtype)
    const accessor = t.accessor()
    accessor.set(3, 0)
    for (let i = 0; i < 400; i++) kept.push(zeros([4096], 'uint8')) // no room is left for the table
    const read = { toArray: () => t.toArray(), get: () => [t.get(0), t.get(1)], accessor: () => [accessor.get(0), accessor.get(1)] }
    console.log(JSON.stringify(read[process.env.READ]()))`

  for (const dtype of ['float16', 'bfloat16', 'float8_e4m3fn']) {
    for (const READ of ['toArray', 'get', 'accessor']) {
      it(`of ${dtype} are made when ${READ} needs them`, async () => {
        assert.deepEqual(await childJson(program(dtype), { env: { READ } }), [3, 2])
      })
    }
  }

  it('leave nothing behind where there is no memory: float16', async () => {
    const { before, after, code } = await childJson(`
      const { memory, setMemoryLimit, tensor } = require('samebytes')
      const t = tensor([1.5], 'bfloat16')
      const before = memory().bytes
      setMemoryLimit(before.v8 + before.wasm + 2 ** 18)
      let code
      try { t.toArray() } catch (error) { code = error.code }
      console.log(JSON.stringify({ before, after: memory().bytes, code }))`)
    assert.equal(code, 'ERR_MEMORY')
    assert.deepEqual(after, before)
  })
})
