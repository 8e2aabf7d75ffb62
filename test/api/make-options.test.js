'use strict'
// The options that all functions which make tensors have in common.
const assert = require('node:assert/strict')
const {
  arange,
  asarray,
  backend,
  empty,
  emptyLike,
  emptyStrided,
  eye,
  fromBytes,
  full,
  fullLike,
  fullStrided,
  linspace,
  ones,
  onesLike,
  onesStrided,
  rand,
  randLike,
  randStrided,
  randint,
  randintLike,
  randintStrided,
  randn,
  randnLike,
  randnStrided,
  scalarTensor,
  tensor,
  zeros,
  zerosLike,
  zerosStrided,
} = require('samebytes')
const { ALL_SHARED, NO_CUDA, fails, leavesNothing } = require('../setup')

const like = zeros([2, 3])
const bytes = new Uint8Array(24)
const PLAIN = {
  empty: (o) => empty([2, 3], o),
  zeros: (o) => zeros([2, 3], o),
  ones: (o) => ones([2, 3], o),
  full: (o) => full([2, 3], 1, o),
  rand: (o) => rand([2, 3], o),
  randn: (o) => randn([2, 3], o),
  randint: (o) => randint(0, 9, [2, 3], { dtype: 'int32', ...o }),
  tensor: (o) =>
    tensor(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      o,
    ),
  'tensor of a tensor': (o) => tensor(like, o),
  'tensor of a typed array': (o) => tensor(new Float32Array(6), [2, 3], o),
  fromBytes: (o) => fromBytes(bytes, [2, 3], { dtype: 'float32', ...o }),
  eye: (o) => eye(2, 3, o),
  emptyLike: (o) => emptyLike(like, o),
  zerosLike: (o) => zerosLike(like, o),
  onesLike: (o) => onesLike(like, o),
  fullLike: (o) => fullLike(like, 1, o),
  randLike: (o) => randLike(like, o),
  randnLike: (o) => randnLike(like, o),
  randintLike: (o) => randintLike(like, 0, 9, { dtype: 'int32', ...o }),
}
const OTHERS = {
  scalarTensor: (o) => scalarTensor(1, o),
  arange: (o) => arange(6, o),
  linspace: (o) => linspace(0, 1, 6, o),
  emptyStrided: (o) => emptyStrided([2, 3], [1, 2], o),
  zerosStrided: (o) => zerosStrided([2, 3], [1, 2], o),
  onesStrided: (o) => onesStrided([2, 3], [1, 2], o),
  fullStrided: (o) => fullStrided([2, 3], [1, 2], 1, o),
  randStrided: (o) => randStrided([2, 3], [1, 2], o),
  randnStrided: (o) => randnStrided([2, 3], [1, 2], o),
  randintStrided: (o) => randintStrided(0, 9, [2, 3], [1, 2], o),
}

describe('options of what makes tensors', () => {
  for (const [name, make] of Object.entries({ ...PLAIN, ...OTHERS })) {
    it(`${name}: pinMemory names CUDA, which is not there; false is fine; nothing is left`, () => {
      leavesNothing(() => {
        fails(() => make({ pinMemory: true }), Error, 'ERR_UNSUPPORTED', /pinMemory.*CUDA/)
        for (const bad of [1, 'yes', null]) {
          fails(() => make({ pinMemory: bad }), TypeError, 'ERR_ARGUMENT', /pinMemory/)
        }
        fails(() => make({ device: 'cuda:0' }), Error, NO_CUDA)
        fails(() => make({ dynamism: 'some' }), TypeError, 'ERR_ARGUMENT', /dynamism/)
        fails(() => make({ shared: 'yes' }), TypeError, 'ERR_ARGUMENT', /shared/)
        fails(() => make({ order: 'A' }), TypeError, 'ERR_ARGUMENT', /order/)
      })
      assert.equal(make({ pinMemory: false, device: 'cpu' }).device, 'cpu')
    })

    it(`${name}: dynamism and shared memory as asked for`, () => {
      assert.equal(make().dynamism, 'bounded')
      for (const dynamism of ['static', 'bounded', 'unbound']) {
        assert.equal(make({ dynamism }).dynamism, dynamism)
      }
      for (const shared of [true, 'sab']) {
        const t = make({ shared })
        assert.equal(t.isShared, true)
        t.fill(1)
        const inSab = shared === 'sab' || backend() !== 'native'
        if (t.isContiguous()) assert.equal(t.data.buffer instanceof SharedArrayBuffer, inSab)
      }
      assert.equal(make({ shared: false }).isShared, ALL_SHARED)
    })
  }

  for (const [name, make] of Object.entries(PLAIN)) {
    it(`${name}: order F`, () => {
      assert.deepEqual(make({ order: 'F' }).strides, [1, 2])
      assert.deepEqual(make({ order: 'C' }).strides, [3, 1])
    })
  }

  it('asarray takes pinMemory, device, dynamism and order as well', () => {
    fails(() => asarray([1], { pinMemory: true }), Error, 'ERR_UNSUPPORTED', /pinMemory.*CUDA/)
    fails(() => asarray([1], { device: 'cuda:0' }), Error, NO_CUDA)
    assert.equal(asarray([1], { dynamism: 'static', pinMemory: false }).dynamism, 'static')
    assert.deepEqual(
      asarray(
        [
          [1, 2],
          [3, 4],
        ],
        { order: 'F' },
      ).strides,
      [1, 2],
    )
  })
})
