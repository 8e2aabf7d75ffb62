'use strict'
const assert = require('node:assert/strict')
const {
  empty,
  fromBlob,
  fromBytes,
  full,
  memory,
  sharesMemory,
  tensor,
  zeros,
} = require('samebytes')
const { childJson, fails, needs, refuses, settledMemory } = require('../setup')

const detach = (buffer) => structuredClone(buffer, { transfer: [buffer] })

/** What a caller's getter may do in the middle of a call: use the library, with its frame. */
function busy() {
  const t = zeros([3, 4]).fill(9)
  t.T.clone()
    .slice('::-1')
    .copyFrom(tensor([1, 2, 3]))
  tensor(
    [
      [7, 8],
      [9, 10],
    ],
    'int64',
  )
    .reshape([4])
    .toArray()
  try {
    empty([-1])
  } catch {}
  t.dispose()
}

/** options whose every field runs act when it is read */
function options(fields, act) {
  return Object.defineProperties(
    {},
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        name,
        {
          enumerable: true,
          get() {
            act()
            return value
          },
        },
      ]),
    ),
  )
}

/** [re, im] whose entries are these in turn, the last one for ever after */
function changing(...pairs) {
  const reads = [0, 0]
  return new Proxy([0, 0], {
    get(target, key) {
      if (key !== '0' && key !== '1') return Reflect.get(target, key)
      return pairs[Math.min(reads[key]++, pairs.length - 1)][key]
    },
  })
}

/** [re, im] whose reads run act */
const pair = (re, im, act) =>
  new Proxy([re, im], {
    get(target, key) {
      act()
      return Reflect.get(target, key)
    },
  })

describe('a complex value that changes between reads', () => {
  for (const dtype of ['complex64', 'complex128']) {
    const first = () => changing([1, 2], ['text', null])
    const uses = {
      set: (value) => {
        const t = zeros([2], dtype)
        t.set(value, 1)
        return t.get(1)
      },
      'set of rank 0': (value) => {
        const t = zeros([], dtype)
        t.set(value)
        return t.item()
      },
      fill: (value) => zeros([2], dtype).fill(value).get(1),
      full: (value) => full([2], value, dtype).get(1),
      tensor: (value) => tensor([value, [5, 6]], dtype).get(0),
      'tensor of one value': (value) => tensor(value, dtype).item(),
      copyFrom: (value) =>
        zeros([2], dtype)
          .copyFrom([value, [5, 6]])
          .get(0),
    }
    for (const [name, use] of Object.entries(uses)) {
      it(`is read once by ${name} of ${dtype}`, () => {
        assert.deepEqual(use(first()), [1, 2])
        refuses(() => use(changing(['text', 2], [1, 2])), 'ERR_ARGUMENT', 'ERR_CAST', 'ERR_SHAPE')
      })
    }
  }

  it('is read once by full where no dtype is given: complex64', () => {
    const t = full([2], changing([1, 2], ['text', null]))
    assert.equal(t.dtype, 'complex64')
    assert.deepEqual(t.toArray(), [
      [1, 2],
      [1, 2],
    ])
  })
})

describe('user code in the middle of a call', () => {
  const six = () =>
    tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])

  describe('that uses the library', () => {
    it('leaves set and fill of complex64 right', () => {
      const t = zeros([3], 'complex64')
      t.set(pair(1, 2, busy), 1)
      assert.deepEqual(t.toArray(), [
        [0, 0],
        [1, 2],
        [0, 0],
      ])
      assert.deepEqual(t.fill(pair(3, -4, busy)).toArray(), [
        [3, -4],
        [3, -4],
        [3, -4],
      ])
      assert.deepEqual(full([2], pair(5, 6, busy)).toArray(), [
        [5, 6],
        [5, 6],
      ])
    })

    it('leaves float32 reshape right, whatever copy is', () => {
      for (const copy of [undefined, true, false]) {
        const t = six()
        assert.deepEqual(t.reshape([3, 2], options({ copy }, busy)).toArray(), [
          [1, 2],
          [3, 4],
          [5, 6],
        ])
        assert.equal(sharesMemory(t, t.reshape([3, 2], options({ copy }, busy))), copy !== true)
      }
    })

    it('leaves tensor, zeros, full and fromBytes right, for int16', () => {
      const fields = { dtype: 'int16', device: 'cpu', order: 'F', shared: false }
      const opts = (more) => options({ ...fields, ...more }, busy)
      assert.deepEqual(
        tensor(
          [
            [1, 2],
            [3, 4],
          ],
          opts({ casting: 'unsafe' }),
        ).toArray(),
        [
          [1, 2],
          [3, 4],
        ],
      )
      assert.deepEqual(
        tensor(new Float32Array([1, 2, 3, 4]), [2, 2], opts({ casting: 'unsafe' })).toArray(),
        [
          [1, 2],
          [3, 4],
        ],
      )
      assert.deepEqual(tensor(six(), opts({ casting: 'unsafe' })).toArray(), [
        [1, 2, 3],
        [4, 5, 6],
      ])
      assert.deepEqual([...tensor(six(), opts({ casting: 'unsafe' })).strides], [1, 2])
      assert.deepEqual(zeros([2, 2], opts()).toArray(), [
        [0, 0],
        [0, 0],
      ])
      assert.deepEqual(full([2, 2], 7, opts()).toArray(), [
        [7, 7],
        [7, 7],
      ])
      assert.deepEqual(fromBytes(new Uint8Array([1, 0, 2, 0]), [2], opts()).toArray(), [1, 2])
    })

    it('leaves float32 slices right: getters, has traps, prototypes', () => {
      const t = six()
      assert.deepEqual(t.slice(options({ start: 1 }, busy)).toArray(), [[4, 5, 6]])
      const trapped = new Proxy(
        { start: 0, stop: 3, step: 2 },
        {
          getPrototypeOf() {
            busy()
            return {}
          },
          has(target, key) {
            busy()
            return key in target
          },
          get(target, key) {
            busy()
            return target[key]
          },
        },
      )
      assert.deepEqual(t.slice(':', trapped).toArray(), [
        [1, 3],
        [4, 6],
      ])
    })

    it('leaves copyFrom with iterables right, for float32', () => {
      function* values(...list) {
        for (const x of list) {
          busy()
          yield x
        }
      }
      assert.deepEqual(
        zeros([3])
          .copyFrom(values(1, 2, 3))
          .toArray(),
        [1, 2, 3],
      )
      assert.deepEqual(
        zeros([2])
          .copyFrom([1, 2], { scale: values(2, 3), axis: 0 })
          .toArray(),
        [2, 6],
      )
      assert.deepEqual(tensor([values(1, 2), values(3, 4)]).toArray(), [
        [1, 2],
        [3, 4],
      ])
    })
  })

  it('is never run for an index, an axis or a value that is an object', () => {
    const t = six()
    let ran = 0
    const two = {
      valueOf() {
        ran++
        return 1
      },
      toString() {
        ran++
        return '1'
      },
      [Symbol.toPrimitive]() {
        ran++
        return 1
      },
    }
    const calls = [
      () => t.get(two, 0),
      () => t.at(two),
      () => t.set(1, two, 0),
      () => t.set(two, 0, 0),
      () => t.fill(two),
      () => t.select(two, 0),
      () => t.select(0, two),
      () => t.narrow(0, two, 1),
      () => t.unfold(0, two, 1),
      () => t.transpose(two, 0),
      () => t.permute([two, 0]),
      () => t.reshape([two, 6]),
      () => t.reshape(two, 6),
      () => zeros([two]),
      () => tensor([two]),
      () => full([1], two),
      () => t.slice({ start: two }),
      () => t.view([2], { strides: [two] }),
      () => t.view([2], { offset: two }),
      () => fromBlob(new Float32Array(4), [2], { offset: two }),
      () => t.copyFrom(1, { scale: [two, two], axis: 0 }),
      () => t.copyFrom(1, { scale: two }),
    ]
    for (const call of calls) refuses(call, 'ERR_ARGUMENT')
    assert.equal(ran, 0)
    assert.deepEqual(t.toArray(), [
      [1, 2, 3],
      [4, 5, 6],
    ])
  })

  it('in a length gives the float32 shape that was meant, or a typed error', () => {
    const withLength = (list, length) =>
      new Proxy(list, {
        get(target, key) {
          return key === 'length' ? length : Reflect.get(target, key)
        },
      })
    const clobbering = (n) => ({
      valueOf() {
        zeros([9, 9, 9]).reshape([27, 27])
        return n
      },
    })
    refuses(() => tensor(withLength([5, 7], clobbering(2))), 'ERR_ARGUMENT', 'ERR_SHAPE')
    refuses(() => zeros([2]).copyFrom(withLength([5, 7], clobbering(2))), 'ERR_ARGUMENT')
    refuses(() => tensor(withLength([5, 7], 1.5)), 'ERR_ARGUMENT')
    refuses(() => tensor([withLength([5, 7], NaN)]), 'ERR_ARGUMENT')
    zeros([1, 1, 1, 1, 1, 1, 1, 1], 'float8_e5m2') // a layout remembered beside bool's of rank 8.5
    refuses(() => zeros(withLength([1, 1, 1, 1, 1, 1, 1, 1], 8.5), 'bool'), 'ERR_SHAPE')
    zeros([2, 3])
    let asked = 0
    const shrinking = { valueOf: () => (asked++ === 0 ? 2 : 0) }
    let made = null
    try {
      made = zeros(withLength([5, 7], shrinking))
    } catch (error) {
      assert.match(error.code, /^ERR_/)
    }
    if (made !== null) assert.notDeepEqual([...made.shape], [2, 3])
  })

  it('that disposes of the tensor is ERR_DISPOSED, with nothing made', () => {
    const uses = [
      [zeros, 'complex64', (t, act) => t.set(pair(1, 2, act), 0, 0)],
      [zeros, 'complex64', (t, act) => t.fill(pair(1, 2, act))],
      [zeros, 'float32', (t, act) => t.reshape([6], options({ copy: true }, act))],
      [zeros, 'float32', (t, act) => t.reshape([6], options({ copy: false }, act))],
      [zeros, 'float32', (t, act) => t.reshape([6], options({ copy: undefined }, act))],
      [zeros, 'float32', (t, act) => tensor(t, options({ dtype: 'float64' }, act))],
      [zeros, 'float32', (t, act) => tensor(t, [6], options({ order: 'F' }, act))],
      [zeros, 'float32', (t, act) => tensor(t, options({ shared: true }, act))],
      [zeros, 'float32', (t, act) => t.slice(options({ stop: 1 }, act))],
      [zeros, 'float32', (t, act) => t.copyFrom([1, 2, 3], options({ casting: 'safe' }, act))],
      [zeros, 'float32', (t, act) => t.astype('float64', options({ casting: 'safe' }, act))],
      [
        zeros,
        'float32',
        (t, act) =>
          t.copyFrom(
            (function* () {
              act()
              yield 1
            })(),
          ),
      ],
    ]
    for (const [make, dtype, use] of uses) {
      const t = make([2, 3], dtype)
      const act = () => {
        t.dispose()
        for (let i = 0; i < 50; i++) full([2, 3], 8).dispose()
      }
      const before = settledMemory().tensors
      refuses(() => use(t, act), 'ERR_DISPOSED')
      assert.ok(memory().tensors < before, `${use}: something was made`)
    }
  })

  it('that detaches the bytes is ERR_DETACHED, with nothing made', () => {
    const uses = [
      ['complex64', (t, act) => t.set(pair(1, 2, act), 0, 0)],
      ['complex64', (t, act) => t.fill(pair(1, 2, act))],
      ['float32', (t, act) => t.reshape([6], options({ copy: true }, act))],
      ['float32', (t, act) => t.T.reshape([6], options({ copy: undefined }, act))],
      ['float32', (t, act) => tensor(t, options({ dtype: 'float64' }, act))],
      ['float32', (t, act) => tensor(t.data, [6], options({ shared: false }, act))],
      ['float32', (t, act) => fromBytes(t.data, [2, 3], options({ dtype: 'float32' }, act))],
      ['float32', (t, act) => t.copyFrom(1, options({ casting: 'safe' }, act))],
      ['float32', (t, act) => zeros([6]).copyFrom(t.data, options({ bias: 1 }, act))],
    ]
    for (const [dtype, use] of uses) {
      const buffer = new ArrayBuffer(48)
      const t = fromBlob(buffer, [2, 3], dtype)
      let done = false
      const act = () => {
        if (!done) {
          done = true
          detach(buffer)
        }
      }
      const before = settledMemory().storages
      refuses(() => use(t, act), 'ERR_DETACHED', 'ERR_SHAPE') // ERR_SHAPE: an array without elements by then
      assert.equal(done, true)
      assert.ok(memory().storages <= before + 1, `${use}: something was made`) // + 1: the target of copyFrom
    }
  })

  it('that shrinks the bytes is ERR_DETACHED for int32', () => {
    const buffer = new ArrayBuffer(24, { maxByteLength: 24 })
    const t = fromBlob(buffer, [6], 'int32')
    fails(
      () =>
        t.copyFrom(
          (function* () {
            buffer.resize(8)
            yield 1
          })(),
        ),
      Error,
      'ERR_DETACHED',
    )
    assert.deepEqual([...new Int32Array(buffer)], [0, 0])
    buffer.resize(24)
    assert.deepEqual(t.toArray(), [0, 0, 0, 0, 0, 0])
  })

  it('in the shape of fromBlob sees no float32 array half taken', () => {
    const source = new Float32Array([1, 2, 3, 4])
    const shape = new Proxy([2, 2], {
      get(target, key) {
        busy()
        return Reflect.get(target, key)
      },
    })
    assert.deepEqual(fromBlob(source, shape).toArray(), [
      [1, 2],
      [3, 4],
    ])
    const away = new Proxy([2, 2], {
      get(target, key) {
        if (source.length > 0) detach(source.buffer)
        return Reflect.get(target, key)
      },
    })
    fails(() => fromBlob(source, away), Error, 'ERR_DETACHED')
  })
})

describe('a float32 tensor that goes away while its shape is read', () => {
  /** A list whose entries dispose the tensor when they are read. */
  const disposing = (t, list) =>
    new Proxy(list, {
      get(target, key) {
        if (key === '0') t.dispose()
        return target[key]
      },
    })
  const USES = {
    expand: (t, list) => t.expand(list([3, 2])),
    broadcastTo: (t, list) => t.broadcastTo(list([3, 2])),
    split: (t, list) => t.split(list([1, 1])),
    reshape: (t, list) => t.reshape(list([2])),
    view: (t, list) => t.view(list([2])),
    permute: (t, list) => t.permute(list([0])),
    flip: (t, list) => t.flip(list([0])),
    squeeze: (t, list) => t.squeeze(list([0])),
    asStrided: (t, list) => t.asStrided([1], list([1])),
    resize: (t, list) => t.resize(list([1])),
    tile: (t, list) => t.tile(list([2])),
    repeat: (t, list) => t.repeat(list([1, 1])),
    roll: (t, list) => t.roll(list([1])),
    take: (t, list) => t.take(list([1])),
    tensor: (t, list) => tensor(t, list([2])),
  }

  for (const [name, use] of Object.entries(USES)) {
    it(`is refused by ${name}`, () => {
      const t = tensor([1, 2])
      const { tensors } = memory()
      refuses(() => use(t, (list) => disposing(t, list)), 'ERR_DISPOSED')
      assert.equal(memory().tensors, tensors - 1)
    })
  }
})

describe("a program's getHeapStatistics, which is asked before large arrays are made,", () => {
  needs('a Node of its own')
  const program = (act) => `
    const { fromBlob, full, tensor } = require('samebytes')
    const v8 = require('node:v8')
    const n = 1 << 18
    const heap = v8.getHeapStatistics
    const answers = []
    for (const read of [t => t.toArray(), t => t.toJSON(), t => tensor([t], { dtype: 'int32' })]) {
      const buffer = new ArrayBuffer(4 * n)
      let t, other
      const act = () => { ${act} }
      v8.getHeapStatistics = () => { v8.getHeapStatistics = heap; act(); return heap() }
      t = MAKE
      let said
      try { said = read(t)[0] } catch (error) { said = error.code ?? String(error) }
      v8.getHeapStatistics = heap
      answers.push(said)
    }
    console.log(JSON.stringify(answers))`

  it("may dispose the tensor: its bytes are not read, which may be another one's now", async () => {
    const dispose = program('t.dispose(); other = full([n], 7)').replace('MAKE', 'full([n], 3)')
    assert.deepEqual(
      await childJson(dispose, {
        env: { SAMEBYTES_BACKEND: process.env.SAMEBYTES_BACKEND ?? 'native' },
      }),
      Array(3).fill('ERR_DISPOSED'),
    )
  })

  it('may detach the buffer', async () => {
    const take = program('structuredClone(buffer, { transfer: [buffer] })').replace(
      'MAKE',
      'fromBlob(new Float32Array(buffer))',
    )
    assert.deepEqual(await childJson(take), Array(3).fill('ERR_DETACHED'))
  })
})
