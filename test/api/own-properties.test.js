'use strict'
const assert = require('node:assert/strict')
const util = require('node:util')
const vm = require('node:vm')
const {
  Tensor,
  arrayEqual,
  asarray,
  backend,
  empty,
  fromBlob,
  fromBytes,
  memory,
  tensor,
  toNpyBytes,
  toNpzBytes,
  toSafetensorsBytes,
  wasmMemory,
  zeros,
} = require('samebytes')
const { childJson, fails, needs, refuses } = require('../setup')

const detach = (buffer) => structuredClone(buffer, { transfer: [buffer] })

const NAMES = ['length', 'byteOffset', 'byteLength', 'buffer', 'constructor', 'BYTES_PER_ELEMENT']
const LIES = [0, 1, 1e9, -4, new ArrayBuffer(64), undefined]

/** the array, with a property of its own that tells a lie */
function lying(array, name, value) {
  Object.defineProperty(array, name, { value, configurable: true })
  return array
}

/** a class over Base whose getters tell lies */
function liar(Base, name, value) {
  class Liar extends Base {}
  Object.defineProperty(Liar.prototype, name, { get: () => value })
  return Liar
}

const floats = (Array) => new Array([1, 2, 3, 4])

// What the array really holds, whatever its properties say: float32 1, 2, 3, 4.
const USES = {
  tensor: (a) => assert.deepEqual(tensor(a).toArray(), [1, 2, 3, 4]),
  'tensor with a shape': (a) =>
    assert.deepEqual(tensor(a, [2, 2]).toArray(), [
      [1, 2],
      [3, 4],
    ]),
  'tensor of a list of them': (a) =>
    assert.deepEqual(tensor([a, a]).toArray(), [
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ]),
  fromBlob: (a) => {
    const t = fromBlob(a)
    assert.deepEqual(t.toArray(), [1, 2, 3, 4])
    t.set(9, 3)
    assert.equal(a[3], 9)
    refuses(() => fromBlob(a, [5]), 'ERR_BOUNDS')
    refuses(() => fromBlob(a, [5], {}), 'ERR_BOUNDS')
  },
  'fromBlob with options': (a) =>
    assert.deepEqual(fromBlob(a, [2], { offset: 1, dtype: 'float32' }).toArray(), [2, 3]),
  copyFrom: (a) => {
    assert.deepEqual(zeros([2, 2]).copyFrom(a).toArray(), [
      [1, 2],
      [3, 4],
    ])
    refuses(() => zeros([3]).copyFrom(a), 'ERR_SHAPE')
  },
  'copyFrom, as scale': (a) =>
    assert.deepEqual(zeros([4]).copyFrom(1, { scale: a, axis: 0 }).toArray(), [1, 2, 3, 4]),
  setBytes: (a) => {
    assert.deepEqual(zeros([4]).setBytes(a).toArray(), [1, 2, 3, 4])
    refuses(() => zeros([5]).setBytes(a), 'ERR_SHAPE')
  },
  fromBytes: (a) => {
    assert.deepEqual(fromBytes(a, [4], 'float32').toArray(), [1, 2, 3, 4])
    refuses(() => fromBytes(a, [5], 'float32'), 'ERR_SHAPE')
  },
}

describe("a Float32Array's own properties", () => {
  for (const [name, use] of Object.entries(USES)) {
    it(`do not fool ${name}`, () => {
      for (const key of NAMES) {
        for (const lie of LIES) {
          use(lying(floats(Float32Array), key, lie))
          use(floats(liar(Float32Array, key, lie)))
        }
      }
    })
  }

  it("do not fool fromBlob where they are the prototype's: bits of bfloat16 in a subclass", () => {
    class Bits extends Uint16Array {}
    assert.deepEqual(fromBlob(new Bits([0x3f80, 0x4000]), { dtype: 'bfloat16' }).toArray(), [1, 2])
    const bare = Object.setPrototypeOf(new Uint16Array([0x3f80]), null)
    assert.deepEqual(fromBlob(bare, { dtype: 'bfloat16' }).toArray(), [1])
    const named = lying(new Float32Array([1]), 'constructor', Uint16Array)
    fails(() => fromBlob(named, { dtype: 'bfloat16' }), TypeError, 'ERR_DTYPE')
    fails(() => fromBlob(new Bits(2), { dtype: 'float32' }), TypeError, 'ERR_DTYPE')
    const foreign = vm.runInNewContext('new Uint16Array([0x3f80])')
    assert.deepEqual(fromBlob(foreign, { dtype: 'bfloat16' }).toArray(), [1])
  })
})

describe('the own properties of buffers', () => {
  for (const name of ['ArrayBuffer', 'SharedArrayBuffer']) {
    it(`do not fool samebytes about a ${name} of 16 bytes`, () => {
      const Buffer = globalThis[name]
      for (const lie of [0, 8, 1e9, undefined]) {
        const made = [
          lying(new Buffer(16), 'byteLength', lie),
          new (liar(Buffer, 'byteLength', lie))(16),
        ]
        for (const buffer of made) {
          const t = fromBlob(buffer, 'float32')
          assert.deepEqual([...t.shape], [4])
          t.fill(2)
          assert.deepEqual(t.toArray(), [2, 2, 2, 2])
          assert.deepEqual([...new Float32Array(buffer)], [2, 2, 2, 2])
          refuses(() => fromBlob(buffer, [5], 'float32'), 'ERR_BOUNDS')
          assert.deepEqual(zeros([4]).setBytes(buffer).toArray(), [2, 2, 2, 2])
          refuses(() => zeros([5]).setBytes(buffer), 'ERR_SHAPE')
          assert.deepEqual(fromBytes(buffer, [4], 'float32').toArray(), [2, 2, 2, 2])
        }
      }
    })
  }

  it('do not hide that an ArrayBuffer was detached, from float32', () => {
    const buffer = lying(new ArrayBuffer(16), 'byteLength', 16)
    const t = fromBlob(buffer, [4], 'float32')
    structuredClone(buffer, { transfer: [buffer] })
    for (const use of [
      () => t.get(0),
      () => t.fill(1),
      () => t.data,
      () => t.clone(),
      () => fromBlob(buffer, [4], 'float32'),
      () => t.setBytes(buffer),
    ]) {
      refuses(use, 'ERR_DETACHED')
    }
  })

  it('do not fool samebytes about a DataView of float32', () => {
    for (const key of ['buffer', 'byteOffset', 'byteLength']) {
      for (const lie of LIES) {
        const bytes = new Float32Array([0, 1, 2, 3])
        for (const Kind of [DataView, liar(DataView, key, lie)]) {
          const view = new Kind(bytes.buffer, 4, 8)
          if (Kind === DataView) lying(view, key, lie)
          assert.deepEqual(fromBlob(view, 'float32').toArray(), [1, 2])
          assert.deepEqual(zeros([2]).setBytes(view).toArray(), [1, 2])
          assert.deepEqual(fromBytes(view, [2], 'float32').toArray(), [1, 2])
        }
      }
    }
  })

  it('that data gave do not fool bytes and data of float32', () => {
    for (const opts of [{}, { shared: true }, { shared: 'sab' }]) {
      for (const lie of LIES) {
        const t = empty([2], opts).fill(3)
        wasmMemory()?.grow(1) // views of it are made anew, while it lies
        const { grown } = memory()
        const { buffer } = t.data
        for (const key of ['buffer', 'byteOffset', 'byteLength']) lying(t.data, key, lie)
        const isFrozen = Object.isFrozen(buffer) // of shared memory everywhere but in Firefox; it tells no lies
        if (!isFrozen) lying(buffer, 'byteLength', lie)
        assert.deepEqual([...t.bytes], [0, 0, 64, 64, 0, 0, 64, 64])
        assert.deepEqual([...t.slice('1:').data], [3])
        assert.deepEqual(t.toArray(), [3, 3])
        assert.equal(t.slice('1:').data.buffer, buffer)
        assert.equal(memory().grown, grown)
        if (!isFrozen) delete buffer.byteLength // in WASM it is everybody's
      }
    }
  })

  it("of another realm's DataView are no list: a typed error", () => {
    const view = vm.runInNewContext('new DataView(new ArrayBuffer(8))')
    refuses(() => zeros(view), 'ERR_ARGUMENT')
    refuses(() => tensor(view), 'ERR_ARGUMENT')
    refuses(() => zeros([2]).copyFrom(view), 'ERR_ARGUMENT')
    refuses(() => zeros([2]).permute(view), 'ERR_ARGUMENT')
    assert.deepEqual(fromBlob(view, 'float32').toArray(), [0, 0])
  })
})

describe('the own properties of a float32 tensor', () => {
  const PUBLIC = [
    'shape',
    'strides',
    'dtype',
    'ndim',
    'size',
    'nbytes',
    'itemsize',
    'data',
    'device',
    'isDisposed',
    'dynamism',
    'capacity',
    'isReadOnly',
    'item',
    'get',
    'toArray',
    'contiguous',
    'permute',
    'view',
    'select',
    'narrow',
  ]
  const two = () =>
    tensor([
      [1, 2],
      [3, 4],
    ])
  const text = 'tensor([[1., 2.],\n        [3., 4.]])'
  // What each gives of a tensor that is [[1, 2], [3, 4]], or of its transpose.
  const CALLS = {
    toString: (t) => t.toString(),
    'console.log': (t) => util.inspect(t),
    tolist: (t) => zeros([2, 2]).copyFrom(t).toArray(),
    toJSON: (t) => t.toJSON(),
    bytes: (t) => [...t.bytes],
    setBytes: (t) => {
      t.setBytes(new Float32Array([1, 2, 3, 4]))
    },
    'copyFrom of a list': (t) => {
      t.copyFrom([
        [1, 2],
        [3, 4],
      ])
    },
    'copyFrom of rows': (t) => {
      t.copyFrom([new Float32Array([1, 2]), new Float32Array([3, 4])])
    },
    asarray: (t) => asarray(t, { copy: true }).shape,
    toNpyBytes: (t) => toNpyBytes(t).length,
    'toNpyBytes of a transpose': (t) => toNpyBytes(t.T).length,
    toNpzBytes: (t) => toNpzBytes({ t }).length,
    toSafetensorsBytes: (t) => toSafetensorsBytes({ t }).length,
    clone: (t) => t.clone().shape,
    arrayEqual: (t) => arrayEqual(t, two()),
  }

  for (const [name, call] of Object.entries(CALLS)) {
    it(`are not asked by ${name}`, () => {
      const right = call(two())
      const asked = new Set()
      const buffer = new ArrayBuffer(16)
      const t = fromBlob(buffer, [2, 2], 'float32').copyFrom(two())
      for (const key of PUBLIC) {
        Object.defineProperty(t, key, {
          get() {
            asked.add(key)
            detach(buffer)
            t.dispose()
            return undefined
          },
        })
      }
      const transposed = name.endsWith('a transpose')
        ? Object.getOwnPropertyDescriptor(Tensor.prototype, 'T').get.call(t)
        : t
      assert.deepEqual(
        call(transposed === t ? t : Object.defineProperty(transposed, 'T', { value: transposed })),
        right,
      )
      assert.deepEqual([...asked], [])
    })
  }

  it('do not make toString fail without a code, nor console.log, whatever they are', () => {
    const buffer = new ArrayBuffer(16)
    const t = fromBlob(buffer, [2, 2], 'float32').copyFrom(two())
    Object.defineProperty(t, 'device', {
      get() {
        detach(buffer)
        return 'cpu'
      },
    })
    assert.equal(String(t), text)
    detach(buffer)
    fails(() => String(t), Error, 'ERR_DETACHED')
    assert.equal(util.inspect(t), 'tensor(detached)')
    for (const thrown of [null, undefined, 5, 'no', { message: {} }]) {
      const own = Object.defineProperty(two(), 'toString', {
        value() {
          throw thrown
        },
      })
      assert.match(util.inspect(own), /^\[Tensor: /)
    }
  })
})

describe('a property of Object.prototype', () => {
  needs('a Node of its own')

  it('called device is no option of what makes a float64 tensor of another one', async () => {
    assert.deepEqual(
      await childJson(
        `
      const { tensor } = require('samebytes')
      const t = tensor([1, 2])
      Object.prototype.device = 1
      const made = [t.clone(), t.astype('float64'), t.contiguous(), t.flip(0).contiguous()]
      delete Object.prototype.device
      console.log(JSON.stringify(made.map(u => [u.device, u.toArray()])))
    `,
        { env: { SAMEBYTES_BACKEND: backend() } },
      ),
      [
        ['cpu', [1, 2]],
        ['cpu', [1, 2]],
        ['cpu', [1, 2]],
        ['cpu', [2, 1]],
      ],
    )
  })
})
