'use strict'
const assert = require('node:assert/strict')
const { fromBlob, tensor, zeros } = require('samebytes')
const { copied, fails, hex, refusedUnchanged } = require('../setup')
const { SAMPLES } = require('../tables')

describe('copyFrom', () => {
  for (const { dtype, itemsize } of SAMPLES) {
    it(`transposes ${dtype} of many sizes, as single elements have it`, () => {
      const bytes = new Uint8Array(itemsize).map((_, i) => i + 1)
      const sizes = [1, 2, 5, 13, 16, 17, 20, 33]
      for (const rows of sizes) {
        for (const columns of sizes) {
          const n = rows * columns
          const source = new Uint8Array(n * itemsize).map(
            (_, i) => bytes[i % itemsize] + 7 * Math.floor(i / itemsize),
          )
          const from = fromBlob(source).view(dtype).view([rows, columns]).transpose(0, 1)
          const to = zeros([columns, rows], { dtype }).copyFrom(from)
          const wanted = new Uint8Array(n * itemsize)
          for (let i = 0; i < n; i++) {
            const at = (i % rows) * columns + Math.floor(i / rows)
            wanted.set(source.subarray(at * itemsize, (at + 1) * itemsize), i * itemsize)
          }
          assert.equal(hex(to), Buffer.from(wanted).toString('hex'), `${rows} × ${columns}`)
        }
      }
    })
  }

  it('returns its float32 target', () => {
    const t = zeros([2])
    assert.equal(t.copyFrom(1), t)
  })

  for (const { dtype, values, bytes, itemsize } of SAMPLES) {
    it(`copies ${dtype} bits and counts them once`, () => {
      const src = tensor(values, [2, 3], { dtype })
      const dst = zeros([2, 3], { dtype })
      const { copies } = copied(() => dst.copyFrom(src))
      assert.deepEqual(copies, { copyFrom: { count: 1, bytes: 6 * itemsize } })
      assert.equal(hex(dst), bytes)
    })

    it(`copies strided ${dtype} to strided and leaves the gaps alone`, () => {
      const [a, b, c, d, e, f] = values
      const src = tensor(values, [2, 3], { dtype })
      const dst = tensor([f, f, f, f, f, f, f, f, f, f, f, f], [3, 4], { dtype })
      dst.slice(':', '::-2').copyFrom(src.T)
      assert.deepEqual(dst.toArray(), [
        [f, d, f, a],
        [f, e, f, b],
        [f, f, f, c],
      ])
    })
  }

  it('broadcasts a number, a row, a column and a nest over float32', () => {
    const t = zeros([2, 3])
    assert.deepEqual(t.copyFrom(7).toArray(), [
      [7, 7, 7],
      [7, 7, 7],
    ])
    assert.deepEqual(t.copyFrom(tensor([1, 2, 3])).toArray(), [
      [1, 2, 3],
      [1, 2, 3],
    ])
    assert.deepEqual(t.copyFrom(tensor([[1], [2]])).toArray(), [
      [1, 1, 1],
      [2, 2, 2],
    ])
    assert.deepEqual(t.copyFrom([4, 5, 6]).toArray(), [
      [4, 5, 6],
      [4, 5, 6],
    ])
    assert.deepEqual(t.copyFrom([[8], [9]]).toArray(), [
      [8, 8, 8],
      [9, 9, 9],
    ])
    assert.deepEqual(
      t
        .copyFrom(
          [
            [
              [1, 2, 3],
              [4, 5, 6],
            ],
          ].flat(),
        )
        .toArray(),
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
    )
  })

  it('fills row-major from a typed array or a flat list of equal count', () => {
    const t = zeros([2, 3])
    t.copyFrom(new Float32Array([1, 2, 3, 4, 5, 6]))
    assert.deepEqual(t.toArray(), [
      [1, 2, 3],
      [4, 5, 6],
    ])
    t.copyFrom([6, 5, 4, 3, 2, 1])
    assert.deepEqual(t.toArray(), [
      [6, 5, 4],
      [3, 2, 1],
    ])
    t.T.copyFrom(new Int16Array([1, 2, 3, 4, 5, 6]))
    assert.deepEqual(t.toArray(), [
      [1, 3, 5],
      [2, 4, 6],
    ])
  })

  it('takes a list of typed arrays as rows, also of its own data, and of another dtype', () => {
    const t = zeros([2, 3])
    const { copies } = copied(() =>
      t.copyFrom([new Float32Array([1, 2, 3]), new Float32Array([4, 5, 6])]),
    )
    assert.deepEqual(copies, { copyFrom: { count: 1, bytes: 24 } })
    assert.deepEqual(t.toArray(), [
      [1, 2, 3],
      [4, 5, 6],
    ])
    t.copyFrom([t.data.subarray(3), t.data.subarray(0, 3)])
    assert.deepEqual(t.toArray(), [
      [4, 5, 6],
      [1, 2, 3],
    ])
    t.T.copyFrom([new Float32Array([1, 2]), new Float32Array([3, 4]), new Float32Array([5, 6])], {
      scale: [1, 10, 100],
      axis: 0,
    })
    assert.deepEqual(t.toArray(), [
      [1, 30, 500],
      [2, 40, 600],
    ])
    t.copyFrom([new Int16Array([1, 2, 3]), [4, 5, 6]])
    assert.deepEqual(t.toArray(), [
      [1, 2, 3],
      [4, 5, 6],
    ])
    t.copyFrom([new Float32Array([7, 8, 9])])
    assert.deepEqual(t.toArray(), [
      [7, 8, 9],
      [7, 8, 9],
    ])
    assert.equal(zeros([2, 0]).copyFrom([new Float32Array(0), new Float32Array(0)]).size, 0)
    fails(() => t.copyFrom([new Float32Array(3), new Float32Array(2)]), RangeError, 'ERR_SHAPE')
    fails(
      () => zeros([2, 3], 'int32').copyFrom([new Float32Array([0.5, 1, 2]), new Float32Array(3)]),
      TypeError,
      'ERR_CAST',
    )
  })

  it('of a list of typed arrays reads it before it looks at the tensor', () => {
    const t = zeros([2, 3])
    const list = [new Float32Array(3), new Float32Array(3)]
    Object.defineProperty(list, 1, {
      get() {
        t.dispose()
        return new Float32Array(3)
      },
    })
    fails(() => t.copyFrom(list), Error, 'ERR_DISPOSED')
  })

  it('copies nothing into tensors without elements, but still looks at the dtypes', () => {
    const t = zeros([0, 3], 'int32')
    assert.equal(t.copyFrom(zeros([3], 'int32')), t)
    fails(() => t.copyFrom(zeros([3])), TypeError, 'ERR_CAST')
    fails(() => t.copyFrom(1.5), TypeError, 'ERR_CAST')
    assert.equal(t.copyFrom(zeros([0, 3]), { casting: 'unsafe' }), t)
  })

  it('copies between float32 tensors of rank 0', () => {
    assert.equal(zeros([]).copyFrom(tensor(4)).item(), 4)
    assert.deepEqual(zeros([2]).copyFrom(tensor(4)).toArray(), [4, 4])
  })

  it('refuses shapes that do not broadcast', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    for (const shape of [[2], [4], [3, 2], [1, 4], [2, 3, 1]]) {
      refusedUnchanged(t, () => t.copyFrom(zeros(shape)), 'ERR_SHAPE')
    }
    refusedUnchanged(t, () => t.copyFrom(zeros([0])), 'ERR_SHAPE')
    refusedUnchanged(t, () => t.copyFrom([1, 2]), 'ERR_SHAPE')
    refusedUnchanged(t, () => t.copyFrom([[1, 2], [3]]), 'ERR_SHAPE')
    refusedUnchanged(t, () => t.copyFrom(new Float32Array(5)), 'ERR_SHAPE')
  })

  describe('of matrices of some kilobytes and megabytes', () => {
    /** Between other bytes on both sides, from rows that come backwards. */
    function transposes(dtype, rows, columns) {
      const { itemsize } = zeros([], { dtype })
      const whole = zeros([rows, columns + 2], { dtype })
      const bytes = new Uint8Array(whole.nbytes).map((_, i) => Math.imul(i + 1, 2654435761) >>> 17)
      whole.view([-1]).view('uint8').data.set(bytes)
      const src = whole.narrow(1, 1, columns).flip(0).T
      const dst = zeros([columns + 1, rows + 2], { dtype })
      dst.narrow(0, 0, columns).narrow(1, 1, rows).copyFrom(src)

      const expected = new Uint8Array((columns + 1) * (rows + 2) * itemsize)
      for (let r = 0; r < rows; r++) {
        for (let c = 0; c < columns; c++) {
          const from = ((rows - 1 - r) * (columns + 2) + c + 1) * itemsize
          const to = (c * (rows + 2) + r + 1) * itemsize
          for (let k = 0; k < itemsize; k++) expected[to + k] = bytes[from + k]
        }
      }
      assert.equal(Buffer.compare(dst.view([-1]).view('uint8').data, expected), 0)
    }

    for (const [rows, columns] of [
      [2048, 4096],
      [4101, 2053],
      [1040, 8208],
      [16400, 513],
    ]) {
      it(`transposes uint8, ${rows} rows of ${columns}`, () => transposes('uint8', rows, columns))
    }

    for (const dtype of ['uint8', 'int16']) {
      for (const [rows, columns] of [
        [128, 257],
        [255, 131],
        [300, 1090],
      ]) {
        it(`transposes ${dtype}, ${rows} rows of ${columns}`, () =>
          transposes(dtype, rows, columns))
      }
    }

    for (const dtype of ['uint8', 'int16', 'float32', 'float64', 'complex128']) {
      it(`transposes ${dtype}, with what is left over at every edge`, () => {
        const { itemsize } = zeros([], { dtype })
        transposes(dtype, 1029, 4 * Math.ceil(520 / itemsize) + 3)
      })

      it(`moves ${dtype} items of many small matrices that continue each other's rows`, () => {
        const { itemsize } = zeros([], { dtype })
        const [a, b, c, d] = [40, 2, 39, 35]
        const src = zeros([a, b, c, d], { dtype })
        const bytes = new Uint8Array(src.nbytes).map((_, i) => Math.imul(i + 1, 2654435761) >>> 17)
        src.view([-1]).view('uint8').data.set(bytes)
        const dst = zeros([d, b, a, c], { dtype }).copyFrom(src.permute(3, 1, 0, 2))

        const expected = new Uint8Array(src.nbytes)
        for (let at = 0; at < expected.length; at += itemsize) {
          let rest = at / itemsize
          const [k, i] = [rest % c, (rest = (rest / c) | 0) % a]
          const [j, l] = [(rest = (rest / a) | 0) % b, (rest / b) | 0]
          const from = (((i * b + j) * c + k) * d + l) * itemsize
          for (let n = 0; n < itemsize; n++) expected[at + n] = bytes[from + n]
        }
        assert.equal(Buffer.compare(dst.view([-1]).view('uint8').data, expected), 0)
      })
    }
  })

  describe('with overlapping memory', () => {
    for (const {
      dtype,
      values: [a, b, c, d, e, f],
    } of SAMPLES) {
      it(`moves ${dtype} elements forwards and backwards`, () => {
        const t = tensor([a, b, c, d, e, f], [6], { dtype })
        t.narrow(0, 1, 5).copyFrom(t.narrow(0, 0, 5))
        assert.deepEqual(t.toArray(), [a, a, b, c, d, e])
        const u = tensor([a, b, c, d, e, f], [6], { dtype })
        u.narrow(0, 0, 5).copyFrom(u.narrow(0, 1, 5))
        assert.deepEqual(u.toArray(), [b, c, d, e, f, f])
      })

      it(`reverses ${dtype} in place`, () => {
        const t = tensor([a, b, c, d, e, f], [6], { dtype })
        t.copyFrom(t.slice('::-1'))
        assert.deepEqual(t.toArray(), [f, e, d, c, b, a])
      })

      it(`transposes ${dtype} in place`, () => {
        const t = tensor([a, b, c, d], [2, 2], { dtype })
        t.copyFrom(t.T)
        assert.deepEqual(t.toArray(), [
          [a, c],
          [b, d],
        ])
      })
    }

    it('moves 100,003 int32 elements by one, both ways', () => {
      const n = 100003
      const t = tensor(new Int32Array(n).map((_, i) => i))
      t.slice('1:').copyFrom(t.slice(':-1'))
      assert.equal(
        t.data.findIndex((x, i) => x !== Math.max(0, i - 1)),
        -1,
      )
      t.slice(':-1').copyFrom(t.slice('1:'))
      assert.equal(
        t.data.findIndex((x, i) => x !== Math.min(i, n - 2)),
        -1,
      )
    })

    it('broadcasts an int32 row over the matrix that it is part of', () => {
      const t = tensor(
        [
          [1, 2],
          [3, 4],
          [5, 6],
        ],
        'int32',
      )
      t.copyFrom(t.select(0, 1))
      assert.deepEqual(t.toArray(), [
        [3, 4],
        [3, 4],
        [3, 4],
      ])
    })

    it('reads overlapping windows while it writes their int32 source', () => {
      const t = tensor([1, 2, 3, 4, 0, 0], 'int32')
      t.view([2, 3]).copyFrom(t.narrow(0, 0, 4).unfold(0, 3, 1))
      assert.deepEqual(t.toArray(), [1, 2, 3, 2, 3, 4])
    })

    it('casts between a float32 tensor and its own bytes as int32', () => {
      const t = tensor([1, 2, 3, 4])
      t.view('int32').copyFrom(t, { casting: 'unsafe' })
      assert.deepEqual(t.view('int32').toArray(), [1, 2, 3, 4])
    })

    it('casts int8 to int32 over the bytes that it reads', () => {
      const t = zeros([4], 'int32')
      const bytes = t.view([16], 'int8')
      bytes.narrow(0, 0, 4).copyFrom([9, -10, 11, -12])
      t.copyFrom(bytes.narrow(0, 0, 4))
      assert.deepEqual(t.toArray(), [9, -10, 11, -12])
    })

    it('sees overlap between two tensors of one Float32Array', () => {
      const source = new Float32Array([1, 2, 3, 4, 5])
      const a = fromBlob(source, [4])
      const b = fromBlob(source.subarray(1), [4])
      b.copyFrom(a)
      assert.deepEqual([...source], [1, 1, 2, 3, 4])
    })
  })

  describe('into a target in which elements share bytes', () => {
    it('is refused: overlapping float32 windows, zero strides', () => {
      const t = tensor([1, 2, 3, 4])
      refusedUnchanged(t, () => t.unfold(0, 3, 1).copyFrom(1), 'ERR_OVERLAP')
      refusedUnchanged(t, () => t.unfold(0, 2, 1).copyFrom(zeros([3, 2])), 'ERR_OVERLAP')
      refusedUnchanged(
        t,
        () => t.view([3], { strides: [0] }).copyFrom(tensor([1, 2, 3])),
        'ERR_OVERLAP',
      )
      refusedUnchanged(t, () => t.view([2, 2], { strides: [1, 1] }).copyFrom(0), 'ERR_OVERLAP')
    })

    it('is fine where windows do not overlap, and where strides only interleave', () => {
      const t = zeros([6])
      t.unfold(0, 2, 2).copyFrom([
        [1, 2],
        [3, 4],
        [5, 6],
      ])
      assert.deepEqual(t.toArray(), [1, 2, 3, 4, 5, 6])
      t.view([3, 2], { strides: [2, 1] }).copyFrom(0)
      t.view([2, 3], { strides: [1, 2] }).copyFrom([
        [1, 2, 3],
        [4, 5, 6],
      ])
      assert.deepEqual(t.toArray(), [1, 4, 2, 5, 3, 6])
      t.view([1, 2], { strides: [0, 1] }).copyFrom(9)
      assert.deepEqual(t.toArray(), [9, 9, 2, 5, 3, 6])
    })
  })

  it('takes a flat list of a class with methods of its own as any other, also into complex numbers', () => {
    class Readings extends Array {
      every() {
        return false
      }
    }
    assert.deepEqual(zeros([2], 'complex64').copyFrom(Readings.of(1, 2)).toArray(), [
      [1, 0],
      [2, 0],
    ])
    assert.deepEqual(
      zeros([3])
        .copyFrom(Readings.of(1, 2, 3))
        .toArray(),
      [1, 2, 3],
    )
  })

  describe('casting', () => {
    it('is same_kind by default', () => {
      const t = tensor([1, 2], 'int32')
      refusedUnchanged(t, () => t.copyFrom(tensor([1.5, 2])), 'ERR_CAST')
      refusedUnchanged(
        t,
        () =>
          t.copyFrom(
            tensor(
              [
                [1, 2],
                [3, 4],
              ],
              [2],
              'complex64',
            ),
          ),
        'ERR_CAST',
      )
      assert.deepEqual(t.copyFrom(tensor([4294967295n, 5n])).toArray(), [-1, 5])
      assert.deepEqual(
        zeros([1])
          .copyFrom(tensor([0.1], 'float64'))
          .toArray(),
        [0.10000000149011612],
      )
      const flags = tensor([true, false])
      refusedUnchanged(flags, () => flags.copyFrom(tensor([1, 0], 'uint8')), 'ERR_CAST')
    })

    it('safe refuses what could lose a value', () => {
      const t = zeros([1])
      refusedUnchanged(t, () => t.copyFrom(tensor([1], 'float64'), { casting: 'safe' }), 'ERR_CAST')
      refusedUnchanged(t, () => t.copyFrom(tensor([1], 'int32'), { casting: 'safe' }), 'ERR_CAST')
      assert.equal(t.copyFrom(tensor([7], 'int16'), { casting: 'safe' }).item(), 7)
    })

    it('unsafe takes anything', () => {
      const t = zeros([3], 'uint8').copyFrom(tensor([-1, 2.9, NaN]), { casting: 'unsafe' })
      assert.deepEqual(t.toArray(), [0, 2, 0])
    })

    it('refuses JavaScript values that do not fit, and writes none of them', () => {
      const t = tensor([1, 2, 3], 'uint8')
      refusedUnchanged(t, () => t.copyFrom(300), 'ERR_CAST')
      refusedUnchanged(t, () => t.copyFrom([4, 5, 300]), 'ERR_CAST')
      refusedUnchanged(t, () => t.copyFrom([4, 1.5, 6]), 'ERR_CAST')
      assert.deepEqual(t.copyFrom([4, 5, 255]).toArray(), [4, 5, 255])
    })

    it('refuses an unknown rule', () => {
      const t = zeros([1])
      for (const casting of ['Safe', 'same-kind', '', 1, null, {}, 'constructor', '__proto__']) {
        refusedUnchanged(t, () => t.copyFrom(tensor([1]), { casting }), 'ERR_ARGUMENT')
      }
    })
  })

  it('refuses what is no source', () => {
    const t = tensor([1, 2])
    for (const src of [
      undefined,
      null,
      'text',
      {},
      () => 1,
      Symbol('s'),
      [undefined, 1],
      ['1', '2'],
    ]) {
      refusedUnchanged(t, () => t.copyFrom(src), 'ERR_ARGUMENT')
    }
  })
})
