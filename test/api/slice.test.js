'use strict'
const assert = require('node:assert/strict')
const { empty, tensor, zeros } = require('samebytes')
const { index, indexPut } = require('samebytes/math')
const { fails, isPage, refusedUnchanged, refuses } = require('../setup')

const ten = () => tensor([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 'int32')

describe('slice', () => {
  // Recorded with Python: list(range(10))[spec]
  const ranges = [
    [':', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ['2:5', [2, 3, 4]],
    ['2:', [2, 3, 4, 5, 6, 7, 8, 9]],
    [':3', [0, 1, 2]],
    ['::3', [0, 3, 6, 9]],
    ['1:8:3', [1, 4, 7]],
    ['1:7:3', [1, 4]],
    ['::-1', [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]],
    ['::-4', [9, 5, 1]],
    ['7:2:-2', [7, 5, 3]],
    ['2:7:-1', []],
    ['7:2', []],
    ['-3:', [7, 8, 9]],
    [':-7', [0, 1, 2]],
    ['-4:-2', [6, 7]],
    ['-100:2', [0, 1]],
    ['5:100', [5, 6, 7, 8, 9]],
    ['100:', []],
    ['100::-3', [9, 6, 3, 0]],
    [':-100:-1', [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]],
    ['-100::-1', []],
    ['3:3', []],
    ['::100', [0]],
    ['4:-1:2', [4, 6, 8]],
    ['-1:0:-3', [9, 6, 3]],
    ['::9007199254740991', [0]],
    ['::-9007199254740991', [9]],
  ]
  for (const [spec, expected] of ranges) {
    it(`'${spec}' of int32 0…9 is [${expected}], as in Python`, () => {
      assert.deepEqual(ten().slice(spec).toArray(), expected)
    })
  }

  it('takes {start, stop, step} with any of them missing, for int32', () => {
    assert.deepEqual(ten().slice({ start: 2, stop: 8, step: 3 }).toArray(), [2, 5])
    assert.deepEqual(ten().slice({ start: -2 }).toArray(), [8, 9])
    assert.deepEqual(ten().slice({ stop: 2 }).toArray(), [0, 1])
    assert.deepEqual(ten().slice({ step: -3 }).toArray(), [9, 6, 3, 0])
    assert.deepEqual(ten().slice({ start: 3, step: -1 }).toArray(), [3, 2, 1, 0])
    assert.deepEqual(ten().slice({}).toArray(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert.deepEqual(ten().slice({ start: undefined, stop: 1 }).toArray(), [0])
  })

  it('a number drops its axis', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual(t.slice(1).toArray(), [4, 5, 6])
    assert.deepEqual(t.slice(':', -1).toArray(), [3, 6])
    assert.equal(t.slice(1, 0).item(), 4)
    assert.deepEqual([...t.slice(1, 0).shape], [])
  })

  it('keeps axes that have no spec', () => {
    assert.deepEqual([...zeros([4, 5, 6]).slice('1:3').shape], [2, 5, 6])
    assert.deepEqual([...zeros([4, 5, 6]).slice().shape], [4, 5, 6])
  })

  it("'...' stands for the axes that the others leave, none too", () => {
    const t = zeros([2, 3, 4, 5])
    assert.deepEqual([...t.slice('...', 0).shape], [2, 3, 4])
    assert.deepEqual([...t.slice(0, '...', '1:3').shape], [3, 4, 2])
    assert.deepEqual([...t.slice(0, 0, '...', 0, 0).shape], [])
    assert.deepEqual([...t.slice('...').shape], [2, 3, 4, 5])
  })

  it('null adds an axis of extent 1', () => {
    const t = zeros([2, 3])
    assert.deepEqual([...t.slice(null).shape], [1, 2, 3])
    assert.deepEqual([...t.slice(':', null, '1:').shape], [2, 1, 2])
    assert.deepEqual([...t.slice('...', null).shape], [2, 3, 1])
    assert.deepEqual([...t.slice(0, null, 0, null).shape], [1, 1])
  })

  it('of a sliced, reversed int32 tensor composes', () => {
    assert.deepEqual(ten().slice('::-1').slice('1:8:2').slice('::-1').toArray(), [2, 4, 6, 8])
  })

  it('walks a reversed float64 matrix', () => {
    const t = tensor(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      'float64',
    ).slice('::-1', '::-2')
    assert.deepEqual(t.toArray(), [
      [6, 4],
      [3, 1],
    ])
    assert.deepEqual([...t.strides], [-3, -2])
  })

  it('refuses an index outside', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    fails(() => t.slice(2), RangeError, 'ERR_BOUNDS', /2/)
    fails(() => t.slice(-3), RangeError, 'ERR_BOUNDS', /-3/)
    fails(() => t.slice(':', 3), RangeError, 'ERR_BOUNDS')
    fails(() => zeros([0]).slice(0), RangeError, 'ERR_BOUNDS')
  })

  it('refuses more specs than axes, and two ellipses', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    fails(() => t.slice(0, 0, 0), RangeError, 'ERR_SHAPE')
    fails(() => t.slice('...', '...'), RangeError, 'ERR_SHAPE')
    fails(() => tensor(1).slice(0), RangeError, 'ERR_SHAPE')
    fails(() => empty(new Array(64).fill(1)).slice(null), RangeError, 'ERR_SHAPE')
    refusedUnchanged(t, () => t.slice(...new Array(300).fill(null)), 'ERR_SHAPE')
  })

  it('refuses a step of 0', () => {
    fails(() => ten().slice('::0'), TypeError, 'ERR_ARGUMENT', /step|0/)
    fails(() => ten().slice({ step: 0 }), TypeError, 'ERR_ARGUMENT')
  })

  it('refuses lists, typed arrays and tensors of indices, and says that take takes them', () => {
    const t = ten()
    const words = [
      [[0, 1], 'an array'],
      [new Int32Array(2), 'an Int32Array'],
      [Buffer.alloc(2), isPage ? 'a Uint8Array' : 'a Buffer'],
      [tensor([true, false]), 'a tensor of bool and shape \\[2\\]'],
      [tensor([1], 'int8'), 'a tensor of int8 and shape \\[1\\]'],
    ]
    for (const [spec, is] of words) {
      fails(
        () => t.slice(spec),
        Error,
        'ERR_UNSUPPORTED',
        new RegExp(`^slice 0 is ${is}; .*take\\(\\[0, 2\\], axis\\)`),
      )
      fails(() => t.slice('...', spec), Error, 'ERR_UNSUPPORTED', new RegExp(`^slice 1 is ${is}; `))
    }
    assert.deepEqual(t.take([0, 2], 0).toArray(), [0, 2])
  })

  it('refuses lists, which are reserved, and every other kind of spec', () => {
    const t = ten()
    for (const spec of [[0, 1], [], new Int32Array(2), true, Symbol('s'), () => 0, 1n, t]) {
      refusedUnchanged(t, () => t.slice(spec), 'ERR_ARGUMENT', 'ERR_UNSUPPORTED')
    }
    const texts = [
      '',
      'a',
      '1:b',
      '1:2:3:4',
      '....',
      '..',
      '1,2',
      '0x1:',
      '1.5:',
      'NaN:',
      ':Infinity',
      '- 1:',
      '--1:',
      'None',
      '1e1:',
      '9007199254740993:',
      ':99999999999999999999',
    ]
    for (const spec of texts) {
      refusedUnchanged(t, () => t.slice(spec), 'ERR_ARGUMENT', 'ERR_BOUNDS')
    }
    for (const index of [0.5, NaN, Infinity, -Infinity, 2 ** 53]) {
      refuses(() => t.slice(index), 'ERR_ARGUMENT', 'ERR_BOUNDS')
      refuses(() => t.slice({ start: index }), 'ERR_ARGUMENT', 'ERR_BOUNDS')
      refuses(() => t.slice({ step: index }), 'ERR_ARGUMENT', 'ERR_BOUNDS')
    }
    for (const stop of ['1', [1], {}, 1n, true]) refuses(() => t.slice({ stop }), 'ERR_ARGUMENT')
  })

  it('refuses fields that no range has, which would take all of the axis', () => {
    const t = ten()
    for (const spec of [
      { start: 0, end: 3 },
      { end: 3 },
      { stpo: 3 },
      Object.assign(Object.create(null), { end: 3 }),
    ]) {
      fails(
        () => t.slice(spec),
        TypeError,
        'ERR_ARGUMENT',
        /^slice 0 has no option "(end|stpo)"; stop was expected$/,
      )
      fails(
        () => index(t, spec),
        TypeError,
        'ERR_ARGUMENT',
        /^entry 0 has no option "(end|stpo)"; stop was expected$/,
      )
      fails(() => indexPut(t, spec, 7), TypeError, 'ERR_ARGUMENT')
    }
    assert.deepEqual(t.toArray(), ten().toArray())
    assert.deepEqual(t.slice({ end: undefined, stop: 2 }).toArray(), [0, 1])
    assert.deepEqual(
      t
        .slice(
          new (class {
            stop = 2
            label = 'first two'
          })(),
        )
        .toArray(),
      [0, 1],
    )
  })
})

describe('select', () => {
  it('takes one index along an axis of int32 and drops the axis', () => {
    const t = tensor(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      'int32',
    )
    assert.deepEqual(t.select(0, 1).toArray(), [4, 5, 6])
    assert.deepEqual(t.select(1, 0).toArray(), [1, 4])
    assert.deepEqual(t.select(-1, -1).toArray(), [3, 6])
  })

  it('refuses an axis or an index outside', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    for (const [axis, index] of [
      [2, 0],
      [-3, 0],
      [0, 2],
      [0, -3],
      [1, 3],
    ]) {
      fails(() => t.select(axis, index), RangeError, 'ERR_BOUNDS')
    }
    for (const bad of [0.5, NaN, '0', null, undefined, {}, [0], 0n]) {
      refusedUnchanged(t, () => t.select(bad, 0), 'ERR_ARGUMENT', 'ERR_BOUNDS')
      refusedUnchanged(t, () => t.select(0, bad), 'ERR_ARGUMENT', 'ERR_BOUNDS')
    }
  })
})

describe('narrow', () => {
  it('keeps length elements from start, for int32', () => {
    assert.deepEqual(ten().narrow(0, 3, 4).toArray(), [3, 4, 5, 6])
    assert.deepEqual(ten().narrow(-1, -2, 2).toArray(), [8, 9])
    assert.deepEqual(ten().narrow(0, 10, 0).toArray(), [])
    assert.deepEqual(ten().narrow(0, 0, 10).toArray(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('refuses what leaves the axis', () => {
    const t = ten()
    const bad = [
      [0, 0, 11],
      [0, 1, 10],
      [0, 11, 0],
      [0, -11, 1],
      [0, -1, 2],
      [1, 0, 1],
      [-2, 0, 1],
      [0, 0, -1],
      [0, 9007199254740991, 9007199254740991],
      [0, 1, 9007199254740991],
    ]
    for (const args of bad) fails(() => t.narrow(...args), RangeError, 'ERR_BOUNDS')
    for (const value of [0.5, NaN, '1', null, undefined, {}, 1n, 2 ** 53]) {
      refusedUnchanged(t, () => t.narrow(value, 0, 1), 'ERR_ARGUMENT', 'ERR_BOUNDS')
      refusedUnchanged(t, () => t.narrow(0, value, 1), 'ERR_ARGUMENT', 'ERR_BOUNDS')
      refusedUnchanged(t, () => t.narrow(0, 0, value), 'ERR_ARGUMENT', 'ERR_BOUNDS')
    }
  })
})
