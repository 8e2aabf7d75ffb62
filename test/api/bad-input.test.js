'use strict'
const assert = require('node:assert/strict')
const {
  canCast,
  empty,
  fromBlob,
  full,
  memory,
  ones,
  sharesMemory,
  tensor,
  zeros,
} = require('samebytes')
const { fails, isPage, refusedUnchanged, refuses, settledMemory, within } = require('../setup')

const detach = (buffer) => structuredClone(buffer, { transfer: [buffer] })

// What is no integer at all, or none that a shape, an index or an offset can hold.
const NO_INTEGERS = [
  NaN,
  1.5,
  -0.5,
  Infinity,
  -Infinity,
  2 ** 53,
  -(2 ** 53),
  1e308,
  '1',
  '',
  'x',
  null,
  true,
  {},
  [],
  [1],
  [[1]],
  Symbol('s'),
  () => 1,
  new Date(0),
  new Map(),
  new Float32Array(1),
  Object.create(null),
  { valueOf: () => 1 },
  { toString: () => '1' },
  { [Symbol.toPrimitive]: () => 1 },
]

const NO_EXTENTS = [...NO_INTEGERS, -1, -2147483649, undefined]

const sample = () =>
  tensor([
    [1, 2, 3],
    [4, 5, 6],
  ])

describe('bad input', () => {
  describe('in a shape', () => {
    for (const [name, make] of Object.entries({
      empty,
      zeros,
      ones,
      full: (shape) => full(shape, 1),
    })) {
      it(`of ${name} is a typed error for float32`, () => {
        for (const bad of NO_EXTENTS) {
          refuses(() => make([bad]))
          refuses(() => make([2, bad]))
          refuses(() => make([bad, 0]))
        }
        for (const bad of [
          NaN,
          1.5,
          -1,
          Infinity,
          2 ** 53,
          'x',
          null,
          true,
          undefined,
          () => 1,
          Symbol('s'),
        ]) {
          refuses(() => make(bad))
        }
      })
    }

    it('of tensor, fromBlob, view and reshape is a typed error for float32', () => {
      const t = sample()
      const source = new Float32Array(6)
      for (const bad of NO_EXTENTS) {
        refuses(() => tensor([1, 2, 3, 4, 5, 6], [6, bad]))
        refuses(() => fromBlob(source, [2, bad]))
        refusedUnchanged(t, () => t.view([bad, 6, 7]))
        refusedUnchanged(t, () => t.reshape([bad, 6, 7]))
        refusedUnchanged(t, () => t.reshape(bad === undefined ? [bad] : bad, 7))
      }
    })

    it('whose product overflows is a RangeError for float32', () => {
      const shapes = [
        [2 ** 40, 2 ** 40],
        [2 ** 52, 2 ** 52, 2 ** 52],
        [3037000500, 3037000500],
        [2 ** 53 - 1, 2 ** 53 - 1],
        [2 ** 61],
        [2 ** 31, 2 ** 31, 2],
        new Array(64).fill(2),
        new Array(64).fill(2 ** 53 - 1),
        [2 ** 30, 2 ** 30, 4],
      ]
      for (const shape of shapes) {
        assert.ok(refuses(() => empty(shape)) instanceof Error)
        refuses(() => zeros(shape, 'int8'), 'ERR_SHAPE', 'ERR_MEMORY', 'ERR_ARGUMENT')
        refuses(
          () => fromBlob(new Float32Array(4), shape),
          'ERR_SHAPE',
          'ERR_BOUNDS',
          'ERR_ARGUMENT',
        )
        refuses(
          () => sample().view(shape, { strides: shape.map(() => 0) }),
          'ERR_SHAPE',
          'ERR_BOUNDS',
          'ERR_ARGUMENT',
        )
      }
    })

    it('of rank 65, of four billion axes or of a sparse list is refused at once', () => {
      const sparse = []
      sparse.length = 4294967295
      for (const shape of [new Array(65).fill(1), sparse]) {
        within(15000, () => {
          // else it takes minutes
          refuses(() => empty(shape), 'ERR_SHAPE', 'ERR_ARGUMENT')
          refuses(() => sample().reshape(shape), 'ERR_SHAPE', 'ERR_ARGUMENT')
          refuses(() => fromBlob(new Float32Array(6), shape), 'ERR_SHAPE', 'ERR_ARGUMENT')
          refuses(
            () => fromBlob(new Float32Array(6), [6], { strides: shape }),
            'ERR_SHAPE',
            'ERR_ARGUMENT',
          )
          refuses(() => sample().view([6], { dimOrder: shape }), 'ERR_SHAPE', 'ERR_ARGUMENT')
        })
      }
      // eslint-disable-next-line no-sparse-arrays
      refuses(() => empty([2, , 3]), 'ERR_ARGUMENT')
    })
  })

  describe('as an axis, an index, a size or an offset', () => {
    const methods = {
      get: (t, x) => t.get(0, x),
      'set, as index': (t, x) => t.set(1, x, 0),
      select: (t, x) => t.select(0, x),
      'select, as axis': (t, x) => t.select(x, 0),
      narrow: (t, x) => t.narrow(0, x, 1),
      'narrow, as length': (t, x) => t.narrow(0, 0, x),
      permute: (t, x) => t.permute([0, x]),
      transpose: (t, x) => t.transpose(x, 1),
      unfold: (t, x) => t.unfold(1, x, 1),
      'unfold, as step': (t, x) => t.unfold(1, 1, x),
      'slice, as start': (t, x) => t.slice({ start: x, stop: 1 }),
      'slice, as step': (t, x) => t.slice({ step: x }),
      'view, as stride': (t, x) => t.view([2, 2], { strides: [x, 1] }),
      'view, as offset': (t, x) => t.view([1], { offset: x }),
      'view, as dim order': (t, x) => t.view([2, 3], { dimOrder: [x, 0] }),
      'copyFrom, as axis': (t, x) => t.copyFrom(t, { scale: [1, 2], axis: x }),
    }
    for (const [name, use] of Object.entries(methods)) {
      it(`${name}: a typed error, and the float32 tensor is as it was`, () => {
        const t = sample()
        for (const bad of NO_INTEGERS) {
          if (bad === null && name.startsWith('slice')) continue // None: runs to the end
          refusedUnchanged(t, () => use(t, bad))
        }
      })
    }
  })

  it('as a third axis of transpose, which swaps two', () => {
    fails(
      () => zeros([2, 3, 4]).transpose(2, 0, 1),
      TypeError,
      'ERR_ARGUMENT',
      /^transpose swaps two axes; permute orders all of them$/,
    )
  })

  describe('as a value', () => {
    const bad = [
      undefined,
      null,
      '1',
      'x',
      {},
      Symbol('s'),
      () => 1,
      new Date(0),
      [1],
      [1, 2, 3],
      [[1, 2]],
      { valueOf: () => 1 },
      new Float32Array(1),
      /x/,
    ]
    for (const dtype of ['float32', 'int32', 'int64', 'bool', 'complex64', 'float16']) {
      it(`of set and fill is a typed error for ${dtype}`, () => {
        const t = zeros([2], { dtype })
        for (const value of bad) {
          refusedUnchanged(t, () => t.fill(value))
          refusedUnchanged(t, () => t.set(value, 0))
          refuses(() => full([2], value, { dtype }))
        }
      })
    }

    it('of a complex64 pair with wrong parts is a typed error', () => {
      const t = zeros([1], 'complex64')
      for (const pair of [
        [1, '2'],
        [null, 1],
        [1, undefined],
        [1, [2]],
        [{}, 1],
      ]) {
        refusedUnchanged(t, () => t.set(pair, 0))
        refusedUnchanged(t, () => t.fill(pair))
        refusedUnchanged(t, () => t.copyFrom([pair]))
      }
    })
  })

  describe('as options or as a dtype', () => {
    it('is a typed error for float32', () => {
      const t = sample()
      for (const bad of [7, true, 1n, Symbol('s'), () => 1]) {
        refusedUnchanged(t, () => zeros([2], bad))
        refusedUnchanged(t, () => tensor([2], [1], bad))
        refusedUnchanged(t, () => fromBlob(new Float32Array(2), [2], bad))
        refusedUnchanged(t, () => t.copyFrom(1, bad))
        refusedUnchanged(t, () => t.clone(bad))
        refusedUnchanged(t, () => t.astype('float64', bad))
      }
    })

    it('that is a name of Object.prototype is a typed error for float32', () => {
      const t = sample()
      for (const dtype of [
        '__proto__',
        'constructor',
        'hasOwnProperty',
        'valueOf',
        'length',
        '0',
        '-1',
      ]) {
        refuses(() => zeros([1], dtype), 'ERR_DTYPE')
        refuses(() => fromBlob(new ArrayBuffer(8), [1], dtype), 'ERR_DTYPE')
        refuses(() => t.view(dtype), 'ERR_DTYPE')
        refuses(() => t.astype(dtype), 'ERR_DTYPE')
        refuses(() => canCast('float32', dtype), 'ERR_DTYPE')
      }
    })

    it('takes null-prototype and frozen options', () => {
      const opts = Object.freeze(Object.assign(Object.create(null), { dtype: 'int8' }))
      assert.equal(zeros([1], opts).dtype, 'int8')
    })

    it("does not look at options of Object.prototype's own making", () => {
      const t = sample()
      assert.deepEqual(t.copyFrom(1, {}).toArray(), [
        [1, 1, 1],
        [1, 1, 1],
      ])
    })
  })

  describe('that is no tensor', () => {
    const { Tensor } = require('samebytes')
    const prototype = Object.getPrototypeOf(zeros([1]))
    const fakes = [
      Object.create(prototype),
      { ...zeros([1]) },
      { shape: [1], dtype: 'float32', data: new Float32Array(1) },
      new Proxy(zeros([1]), {}),
      prototype,
    ]

    it('is a typed error wherever a float32 tensor stands', () => {
      const t = sample()
      for (const fake of fakes) {
        fails(() => t.copyFrom(fake), TypeError, 'ERR_ARGUMENT')
        fails(() => sharesMemory(t, fake), TypeError, 'ERR_ARGUMENT')
        fails(() => prototype.get.call(fake, 0), TypeError, 'ERR_ARGUMENT')
        fails(() => prototype.fill.call(fake, 0), TypeError, 'ERR_ARGUMENT')
        fails(() => prototype.permute.call(fake, [0]), TypeError, 'ERR_ARGUMENT')
        fails(() => prototype.dispose.call(fake), TypeError, 'ERR_ARGUMENT')
      }
      assert.deepEqual(t.toArray(), [
        [1, 2, 3],
        [4, 5, 6],
      ])
    })

    it('because a method was taken from its float32 tensor says so', () => {
      const t = sample()
      const { slice, clone } = t
      const without =
        /^a method was called without its tensor; t\.method\(\.\.\.\), or t => t\.method\(\.\.\.\) as a function, was expected$/
      fails(() => slice(0), TypeError, 'ERR_ARGUMENT', without)
      fails(() => [t].map(clone), TypeError, 'ERR_ARGUMENT', without)
      fails(() => [t].map(Tensor.prototype.clone), TypeError, 'ERR_ARGUMENT', without)
      fails(
        () => ({ slice }).slice(0),
        TypeError,
        'ERR_ARGUMENT',
        /was used on an object; a tensor was expected/,
      )
      fails(() => new Proxy(t, {}).shape, TypeError, 'ERR_ARGUMENT', /a Proxy of one/)
    })

    it('is described in messages by what it is, without a look at its properties', () => {
      const liar = (make) =>
        Object.defineProperties(make, {
          dtype: {
            get() {
              throw new Error('looked at')
            },
          },
          constructor: {
            get() {
              throw new Error('looked at')
            },
          },
        })
      const disposed = zeros([2])
      disposed.dispose()
      const kinds = [
        [[1], 'an array'],
        [new Float32Array(2), 'a Float32Array'],
        [new Int8Array(2), 'an Int8Array'],
        [Buffer.alloc(2), isPage ? 'a Uint8Array' : 'a Buffer'],
        [new Uint8Array(2), 'a Uint8Array'],
        [new DataView(new ArrayBuffer(2)), 'a DataView'],
        [new ArrayBuffer(2), 'an ArrayBuffer'],
        ...(typeof SharedArrayBuffer === 'function'
          ? [[new SharedArrayBuffer(2), 'a SharedArrayBuffer']]
          : []),
        [zeros([2, 3], 'bool'), 'a tensor of bool and shape \\[2, 3\\]'],
        [zeros([], 'int8'), 'a tensor of int8 and shape \\[\\]'],
        [disposed, 'a disposed tensor'],
        [new Map(), 'an object'],
        [{}, 'an object'],
        [
          new Proxy(zeros([1]), {
            get() {
              throw new Error('looked at')
            },
          }),
          'an object',
        ],
      ]
      for (const [value, words] of kinds) {
        fails(
          () => zeros([2]).select(0, value),
          TypeError,
          'ERR_ARGUMENT',
          new RegExp(`^index is ${words}; an integer was expected$`),
        )
      }
      fails(
        () => zeros([2]).select(0, liar(new Int16Array(1))),
        TypeError,
        'ERR_ARGUMENT',
        /^index is an Int16Array; /,
      )
      fails(
        () => zeros([2]).select(0, liar(Buffer.alloc(1))),
        TypeError,
        'ERR_ARGUMENT',
        isPage ? /^index is a Uint8Array; / : /^index is a Buffer; /,
      )
    })

    it('cannot be made with new Tensor', () => {
      for (const args of [
        [],
        [{}],
        [{ shape: [1e6], strides: [1], offset: 0 }],
        [zeros([1])],
        [null, null],
      ]) {
        assert.throws(() => new Tensor(...args).toArray())
      }
    })
  })

  describe('that is no object of its class', () => {
    const {
      cuda,
      forBlob,
      Generator,
      parseSafetensors,
      Scope,
      SharedRing,
      SharedTensor,
      toSafetensorsBytes,
    } = require('samebytes')
    const file = parseSafetensors(toSafetensorsBytes({ a: tensor([1, 2]) }))
    const builder = forBlob(new Float32Array(2))
    const accessors = [1, 2, 3, 4, 5].map((ndim) => [
      `Accessor${ndim}`,
      Object.getPrototypeOf(zeros(Array(ndim).fill(1)).accessor()),
      'accessor',
    ])
    const CLASSES = [
      ['Generator', Generator.prototype, 'generator'],
      ['Scope', Scope.prototype, 'scope'],
      ['TensorFile', Object.getPrototypeOf(file), 'file'],
      ['BlobBuilder', Object.getPrototypeOf(builder), 'builder'],
      ['SharedTensor', SharedTensor.prototype, 'shared tensor'],
      ['SharedRing', SharedRing.prototype, 'ring'],
      ['cuda.Stream', cuda.Stream.prototype, 'cuda.Stream'],
      ['cuda.Event', cuda.Event.prototype, 'cuda.Event'],
      ['Module', require('samebytes/module').Module.prototype, 'module'],
      ...accessors,
    ]

    for (const [name, prototype, noun] of CLASSES) {
      it(`is a typed error for every method and getter of ${name}`, async () => {
        for (const key of Reflect.ownKeys(prototype)) {
          const { value, get } = Object.getOwnPropertyDescriptor(prototype, key)
          const member = get ?? value
          if (
            key === 'constructor' ||
            typeof member !== 'function' ||
            key === Symbol.for('nodejs.util.inspect.custom')
          ) {
            continue
          }
          const use = async (it) => {
            const result = member.call(it, 0)
            return typeof result?.next === 'function' ? result.next() : result // a generator begins here
          }
          for (const it of [
            undefined,
            null,
            1,
            'x',
            {},
            sample(),
            prototype,
            Object.create(prototype),
            new Proxy(Object.create(prototype), {}),
          ]) {
            await assert.rejects(use(it), (error) => {
              assert.equal(error.code, 'ERR_ARGUMENT', `${String(key)}: ${error.stack}`)
              assert.ok(error instanceof TypeError)
              assert.match(
                error.message,
                noun === 'accessor'
                  ? /without its accessor/
                  : new RegExp(
                      it === undefined || it === null
                        ? `^a method was called without its ${noun}; `
                        : `^a method or property of ${noun}s was used on .*; a ${noun} was expected`,
                    ),
              )
              return true
            })
          }
        }
      })
    }

    it('says so of a method that was taken from its file, builder or generator', () => {
      const [{ get }, { offset }, { manualSeed }] = [file, builder, new Generator(1)]
      fails(
        () => get('a'),
        TypeError,
        'ERR_ARGUMENT',
        /^a method was called without its file; file\.method\(\.\.\.\), or file => file\.method\(\.\.\.\) as a function, was expected$/,
      )
      fails(
        () => offset(0),
        TypeError,
        'ERR_ARGUMENT',
        /^a method was called without its builder; /,
      )
      fails(
        () => ({ manualSeed }).manualSeed(0),
        TypeError,
        'ERR_ARGUMENT',
        /^a method or property of generators was used on an object; a generator was expected/,
      )
      assert.deepEqual(
        [...file].map(([name, t]) => [name, t.toArray()]),
        [['a', [1, 2]]],
      )
    })
  })

  // Everything a caller passes may run a caller's code: it must not find the library half-way.
  describe('that calls back', () => {
    const busy = () => {
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
    const sly = (list, act = busy) =>
      Object.defineProperties(
        [...list],
        Object.fromEntries(
          list.map((x, i) => [
            i,
            {
              get() {
                act()
                return x
              },
              enumerable: true,
            },
          ]),
        ),
      )
    const proxy = (list, act = busy) =>
      new Proxy(list, {
        get(target, key, receiver) {
          act()
          return Reflect.get(target, key, receiver)
        },
      })

    it('from getters and proxies of lists gives the right float32 result', () => {
      for (const trick of [sly, proxy]) {
        const t = sample()
        assert.deepEqual([...zeros(trick([2, 3])).shape], [2, 3])
        assert.deepEqual(tensor(trick([1, 2, 3])).toArray(), [1, 2, 3])
        assert.deepEqual(tensor(trick([trick([1, 2]), trick([3, 4])])).toArray(), [
          [1, 2],
          [3, 4],
        ])
        assert.deepEqual(t.permute(trick([1, 0])).toArray(), [
          [1, 4],
          [2, 5],
          [3, 6],
        ])
        assert.deepEqual(t.reshape(trick([3, 2])).toArray(), [
          [1, 2],
          [3, 4],
          [5, 6],
        ])
        assert.deepEqual(t.view(trick([2, 2]), { strides: trick([1, 2]), offset: 1 }).toArray(), [
          [2, 4],
          [3, 5],
        ])
        assert.deepEqual(
          fromBlob(new Float32Array([1, 2]), trick([2]), { strides: trick([1]) }).toArray(),
          [1, 2],
        )
        t.copyFrom(trick([6, 5, 4, 3, 2, 1]))
        assert.deepEqual(t.toArray(), [
          [6, 5, 4],
          [3, 2, 1],
        ])
        t.copyFrom(t, { scale: trick([1, 2]), bias: trick([0, 1]), axis: 0 })
        assert.deepEqual(t.toArray(), [
          [6, 5, 4],
          [7, 5, 3],
        ])
      }
    })

    it('from getters of options and iterators gives the right float32 result', () => {
      const t = sample()
      const opts = {
        get scale() {
          busy()
          return 2
        },
        get bias() {
          busy()
          return 1
        },
        get casting() {
          busy()
        },
      }
      assert.deepEqual(t.copyFrom(t, opts).toArray(), [
        [3, 5, 7],
        [9, 11, 13],
      ])
      const spec = {
        get start() {
          busy()
          return 1
        },
        get stop() {
          busy()
          return 3
        },
        get step() {
          busy()
          return 1
        },
      }
      assert.deepEqual(t.slice(':', spec).toArray(), [
        [5, 7],
        [11, 13],
      ])
      function* values() {
        busy()
        yield 1
        busy()
        yield 2
      }
      assert.deepEqual(tensor(values()).toArray(), [1, 2])
      const source = new Float32Array([1, 2, 3])
      const layout = {
        get dtype() {
          busy()
        },
        get offset() {
          busy()
          return 1
        },
        get strides() {
          busy()
        },
      }
      assert.deepEqual(fromBlob(source, [2], layout).toArray(), [2, 3])
    })

    it('and throws passes its own error on, with the float32 tensor as it was', () => {
      const t = sample()
      const reason = new Error('mine')
      const act = () => {
        throw reason
      }
      const calls = [
        () => zeros(sly([2, 3], act)),
        () => tensor(sly([1], act)),
        () => t.permute(sly([1, 0], act)),
        () => t.copyFrom(sly([1, 2, 3], act)),
        () =>
          t.copyFrom(1, {
            get scale() {
              return act()
            },
          }),
        () =>
          t.slice({
            get start() {
              return act()
            },
          }),
        () => t.reshape(sly([6], act)),
      ]
      for (const call of calls) {
        assert.throws(call, (error) => error === reason)
        assert.deepEqual(t.toArray(), [
          [1, 2, 3],
          [4, 5, 6],
        ])
      }
    })

    it('and disposes of the float32 tensor in use is ERR_DISPOSED', () => {
      const uses = [
        (t, act) => t.permute(sly([1, 0], act)),
        (t, act) => t.reshape(sly([6], act)),
        (t, act) => t.copyFrom(sly([1, 2, 3], act)),
        (t, act) =>
          t.copyFrom(1, {
            get scale() {
              act()
              return 2
            },
          }),
        (t, act) =>
          zeros([2, 3]).copyFrom(t, {
            get scale() {
              act()
              return 2
            },
          }),
        (t, act) =>
          t.slice({
            get start() {
              act()
              return 0
            },
          }),
        (t, act) =>
          t.view([6], {
            get offset() {
              act()
              return 0
            },
          }),
        (t, act) =>
          t.clone({
            get dtype() {
              act()
              return 'float64'
            },
          }),
      ]
      for (const use of uses) {
        const t = sample()
        const act = () => {
          t.dispose()
          for (let i = 0; i < 50; i++) full([2, 3], 8)
        }
        refuses(() => use(t, act), 'ERR_DISPOSED')
      }
    })

    it('and detaches the float32 source in use is ERR_DETACHED', () => {
      const uses = [
        (t, act) => t.copyFrom(sly([1, 2, 3], act)),
        (t, act) =>
          t.copyFrom(1, {
            get scale() {
              act()
              return 2
            },
          }),
        (t, act) =>
          t.copyFrom(zeros([3]), {
            get casting() {
              act()
              return 'safe'
            },
          }),
        (t, act) =>
          zeros([2, 3]).copyFrom(t, {
            get bias() {
              act()
              return 2
            },
          }),
        (t, act) =>
          t.clone({
            get dtype() {
              act()
              return 'float64'
            },
          }),
        (t, act) => t.T.reshape(sly([6], act)),
        (t, act) =>
          t
            .slice({
              get start() {
                act()
                return 0
              },
            })
            .get(0, 0),
        (t, act) => t.permute(sly([1, 0], act)).toArray(),
        (t, act) =>
          t.astype('float64', {
            get casting() {
              act()
              return 'safe'
            },
          }),
      ]
      for (const use of uses) {
        const source = new Float32Array(6)
        const t = fromBlob(source, [2, 3])
        let done = false
        const act = () => {
          if (!done) {
            done = true
            detach(source.buffer)
          }
        }
        refuses(() => use(t, act), 'ERR_DETACHED')
        const resizable = new ArrayBuffer(24, { maxByteLength: 24 })
        const r = fromBlob(resizable, [2, 3], 'float32')
        refuses(() => use(r, () => resizable.resize(4)), 'ERR_DETACHED')
      }
    })

    it('and detaches the Float32Array that fromBlob or tensor is reading', () => {
      for (const make of [fromBlob, tensor]) {
        for (const name of ['dtype', 'offset', 'strides', 'casting', 'owner', 'readOnly']) {
          const source = new Float32Array([1, 2, 3, 4])
          let asked = false
          const opts = {
            get [name]() {
              asked = true
              detach(source.buffer)
            },
          }
          try {
            const t = make(source, [4], opts)
            if (asked) refuses(() => t.get(0), 'ERR_DETACHED')
          } catch (error) {
            assert.equal(error.code, 'ERR_DETACHED', error.stack)
          }
        }
      }
    })

    it('with a length that is a lie ends in a typed error, soon', () => {
      const t = sample()
      const lie = (length) =>
        new Proxy([1, 2, 3], {
          get(target, key) {
            return key === 'length' ? length : target[key]
          },
        })
      for (const length of [2 ** 32, 2 ** 53, 1e9, 65, 4]) {
        within(15000, () => {
          refuses(() => zeros(lie(length)))
          refusedUnchanged(t, () => t.permute(lie(length)))
        })
      }
    })

    it('while a list shrinks or grows under it ends in a typed error or in what was there', () => {
      for (const change of [
        (list) => {
          list.length = 1
        },
        (list) => list.push(5, 6, 7),
      ]) {
        const list = [0, 2, 3]
        Object.defineProperty(list, 0, {
          configurable: true,
          enumerable: true,
          get() {
            change(this)
            return 1
          },
        })
        let t
        try {
          t = tensor(list)
        } catch (error) {
          assert.match(String(error.code), /^ERR_(SHAPE|ARGUMENT)$/)
          continue
        }
        assert.equal(t.get(0), 1)
        assert.ok(
          t
            .toArray()
            .slice(1)
            .every((x, i) => x === [2, 3, 5, 6, 7, 5, 6, 7][i] || x === 5),
        )
      }
    })

    it('that breaks Array.prototype, Symbol.iterator or Math does not break float32 views', () => {
      const saved = Array.prototype[Symbol.iterator]
      let result
      // eslint-disable-next-line no-extend-native
      Array.prototype[Symbol.iterator] = () => {
        throw new Error('broken')
      }
      try {
        const t = zeros([2, 3])
        result = t.permute([1, 0]).shape
      } catch (error) {
        result = error
      } finally {
        // eslint-disable-next-line no-extend-native
        Array.prototype[Symbol.iterator] = saved
      }
      if (result instanceof Error) assert.equal(result.message, 'broken')
      else assert.deepEqual(Array.from(result), [3, 2])
      assert.deepEqual(sample().permute([1, 0]).toArray(), [
        [1, 4],
        [2, 5],
        [3, 6],
      ])
    })
  })

  it('leaves no tensor behind, for float32', () => {
    const [t, other, whole] = [sample(), zeros([7]), zeros([2, 3], 'int32')]
    const calls = [
      () => empty([2, -1]),
      () => tensor([1, 1e39]),
      () => tensor([[1], [2, 3]]),
      () => full([2], 1.5, 'int8'),
      () => fromBlob(new Float32Array(2), [3]),
      () => t.copyFrom(other),
      () => whole.copyFrom(t),
      () => t.reshape([4]),
      () => t.view([7]),
      () => t.slice(5),
      () => t.permute([0, 0]),
      () => t.unfold(0, 9, 1),
      () => t.astype('int8'),
      () => t.clone({ dtype: 'int8' }),
      () => t.copyFrom([1, 2]),
      () => tensor(t, 'int8'),
      () => t.view('nope'),
    ]
    const before = settledMemory().tensors
    for (const call of calls) {
      refuses(call)
      assert.ok(memory().tensors <= before, String(call))
    }
  })

  it('leaves no storage behind: ten thousand refusals', () => {
    const before = settledMemory()
    for (let i = 0; i < 2000; i++) {
      refuses(() => empty([2, -1]))
      refuses(() => tensor([1, 1e39]))
      refuses(() => full([64], 1.5, 'int32'))
      refuses(() => fromBlob(new Float32Array(2), [3]))
      refuses(() => tensor([[1], [2, 3]]))
    }
    const after = memory()
    assert.ok(after.tensors <= before.tensors)
    assert.ok(after.bytes.native <= before.bytes.native)
    assert.ok(after.bytes.wasm <= before.bytes.wasm + 65536)
  })
})
