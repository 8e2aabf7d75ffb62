'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const {
  allClose,
  arrayEqual,
  concat,
  empty,
  eye,
  flush,
  fromBlob,
  full,
  memory,
  openNpy,
  openSafetensors,
  saveNpySync,
  saveSafetensorsSync,
  sharesMemory,
  stack,
  tensor,
  zeros,
} = require('samebytes')
const math = require('samebytes/math')
const { frame, backend, opcodes, tables } = require('../../js/backend/calls')
const { hex, nativeOnly, refuses, skip } = require('../setup')

/** The n-th allocation in C from now on fails; 0: none. Gives how many there are by now that were not freed. */
function failAllocation(n) {
  frame.f64[tables.frame.ARGS] = n
  backend.call(opcodes.fail_allocation)
  assert.equal(frame.f64[tables.frame.STATUS], 0)
  return frame.f64[tables.frame.RESULTS]
}

/** tensors, storages, bytes and allocations, without what was copied in all this time */
function alive() {
  const { tensors, storages, bytes } = memory()
  return {
    tensors,
    storages,
    native: bytes.native,
    shared: bytes.shared,
    mapped: bytes.mapped,
    allocations: failAllocation(0),
  }
}

/** Nothing is alive that was not before. */
function noMoreThan(before, n) {
  const after = alive()
  for (const name of Object.keys(before)) {
    assert.ok(
      after[name] <= before[name],
      `request ${n}: ${after[name] - before[name]} ${name} more`,
    )
  }
}

let folder // of files, made with the first one
const at = (name) => {
  folder ??= fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-no-memory-'))
  return path.join(folder, name)
}

/**
 * An algorithm that writes into out, which a failure leaves as it was, and gives the right bytes once it does not fail.
 *
 * @param {() => any[]} operands
 * @param {(...operands: any[]) => any} compute  with options as the last one
 * @param {number} least
 */
const intoOut = (operands, compute, least) => [
  () => {
    const list = operands()
    const wanted = compute(...list, undefined)
    const out = full(wanted.shape, 1, wanted.dtype)
    const sevens = hex(out)
    const act = () => {
      compute(...list, { out: out.fill(1) })
      assert.equal(hex(out), hex(wanted))
      return null
    }
    return [act, () => {}, () => assert.equal(hex(out), sevens)]
  },
  least,
]

/** One that gives new tensors: their bytes are right once it does not fail. */
const ofNew = (operands, compute, least) => [
  () => {
    const list = operands()
    const flat = (made) => Object.values(made).filter((each) => each?.shape !== undefined)
    const wanted = flat(compute(...list)).map(hex)
    const act = () => {
      const made = flat(compute(...list))
      const found = made.map(hex)
      made.forEach((t) => t.dispose())
      assert.deepEqual(found, wanted)
      return null
    }
    return [act, () => {}]
  },
  least,
]

/** Some numbers from -50 to 50. */
const numbers = (shape, dtype = 'float32') =>
  full(shape, 0, dtype).copyFrom(
    Float64Array.from(
      { length: shape.reduce((a, b) => a * b, 1) },
      (_, i) => (((i * 7919) % 1009) % 101) - 50,
    ),
    { casting: 'unsafe' },
  )
const matrix = (n) =>
  math.add(numbers([n, n], 'float64'), math.multiply(eye(n, { dtype: 'float64' }), 60 * n))
const symmetric = (n) => math.add(matrix(n), matrix(n).T)

const ALGORITHMS = {
  'sort of float16 columns': intoOut(
    () => [numbers([3000, 4], 'float16')],
    (x, o) => math.sort(x, { axis: 0, ...o }),
    1,
  ),
  'sort of float32 into itself, reversed': [
    () => {
      const x = numbers([5000])
      const [reversed, before] = [x.slice('::-1'), hex(x)]
      return [
        () => {
          math.sort(reversed, { out: x })
          return null
        },
        () => {},
        () => assert.equal(hex(x), before),
      ]
    },
    1,
  ],
  'argsort of int64': intoOut(
    () => [numbers([5000], 'int64')],
    (x, o) => math.argsort(x, o),
    1,
  ),
  'topK of float16': ofNew(
    () => [numbers([4, 9000], 'float16')],
    (x) => math.topK(x, 50),
    1,
  ),
  'searchsorted of int32 in float64': intoOut(
    () => [math.sort(numbers([900], 'float64')), numbers([4000], 'int32')],
    (x, y, o) => math.searchsorted(x, y, o),
    1,
  ),
  'searchsorted with a sorter': intoOut(
    () => [numbers([900]), numbers([4000]), math.argsort(numbers([900]))],
    (x, y, sorter, o) => math.searchsorted(x, y, { sorter, ...o }),
    1,
  ),
  'isin of float32': intoOut(
    () => [numbers([5000]), numbers([3000])],
    (x, y, o) => math.isin(x, y, o),
    1,
  ),
  'uniqueAll of float32': ofNew(
    () => [numbers([5000])],
    (x) => math.uniqueAll(x),
    1,
  ),
  'uniqueCounts of uint8': ofNew(
    () => [numbers([5000], 'uint8')],
    (x) => math.uniqueCounts(x),
    1,
  ),
  'uniqueInverse of float64': ofNew(
    () => [numbers([5000], 'float64')],
    (x) => math.uniqueInverse(x),
    1,
  ),
  'uniqueValues of int16': ofNew(
    () => [numbers([5000], 'int16')],
    (x) => [math.uniqueValues(x)],
    1,
  ),
  'bincount of int16 with weights': intoOut(
    () => [numbers([5000], 'uint8'), numbers([5000])],
    (x, weights, o) => math.bincount(x, { weights, ...o }),
    1,
  ),
  'matmul of float32': intoOut(
    () => [numbers([130, 520]), numbers([520, 200])],
    (x, y, o) => math.matmul(x, y, o),
    1,
  ),
  'matmul of bfloat16, precise': intoOut(
    () => [numbers([60, 520], 'bfloat16'), numbers([520, 70], 'bfloat16')],
    (x, y, o) => math.matmul(x, y, { accuracy: 'precise', ...o }),
    1,
  ),
  'matmul of long complex128 vectors': intoOut(
    () => [numbers([2, 9000], 'complex128'), numbers([9000, 3], 'complex128')],
    (x, y, o) => math.matmul(x, y, o),
    1,
  ),
  'vecdot of long float64 vectors': intoOut(
    () => [numbers([100000], 'float64'), numbers([100000], 'float64')],
    (x, y, o) => math.vecdot(x, y, o),
    1,
  ),
  'vecdot of int64': intoOut(
    () => [numbers([77, 600], 'int64'), numbers([77, 600], 'int64')],
    (x, y, o) => math.vecdot(x, y, o),
    0,
  ),
  'tensordot of transposed float32': intoOut(
    () => [numbers([20, 6, 30]), numbers([30, 7, 20])],
    (x, y, o) =>
      math.tensordot(x, y, {
        axes: [
          [0, 2],
          [2, 0],
        ],
        ...o,
      }),
    1,
  ),
  'einsum of three operands': intoOut(
    () => [numbers([30, 40]), numbers([40, 50]), numbers([50, 20])],
    (x, y, z, o) => math.einsum('ij,jk,kl->li', x, y, z, o ?? {}),
    1,
  ),
  'cosineSimilarity of float32': intoOut(
    () => [numbers([9000, 60]), numbers([9000, 60])],
    (x, y, o) => math.cosineSimilarity(x, y, o),
    1,
  ),
  'cosineSimilarity of float16': intoOut(
    () => [numbers([77, 600], 'float16'), numbers([77, 600], 'float16')],
    (x, y, o) => math.cosineSimilarity(x, y, o),
    1,
  ),
  'linalg.cross of many int32': intoOut(
    () => [numbers([3000, 3], 'int32'), numbers([3000, 3], 'int32')],
    (x, y, o) => math.linalg.cross(x, y, o),
    1,
  ),
  ...Object.fromEntries(
    ['det', 'inv', 'pinv', 'svdvals', 'matrixRank', 'trace'].map((name) => [
      `linalg.${name} of float64`,
      intoOut(
        () => [matrix(60)],
        (x, o) => math.linalg[name](x, o),
        name === 'trace' ? 0 : 1,
      ),
    ]),
  ),
  ...Object.fromEntries(
    ['slogdet', 'qr', 'svd'].map((name) => [
      `linalg.${name} of float64`,
      ofNew(
        () => [matrix(60)],
        (x) => math.linalg[name](x),
        1,
      ),
    ]),
  ),
  'linalg.solve of float32': intoOut(
    () => [matrix(60).astype('float32'), numbers([60, 5])],
    (x, y, o) => math.linalg.solve(x, y, o),
    1,
  ),
  'linalg.matrixPower of float64': intoOut(
    () => [matrix(60)],
    (x, o) => math.linalg.matrixPower(x, -3, o),
    1,
  ),
  'linalg.cholesky of float64': intoOut(
    () => [symmetric(60)],
    (x, o) => math.linalg.cholesky(x, o),
    1,
  ),
  'linalg.eigh of complex128': ofNew(
    () => [symmetric(60).astype('complex128')],
    (x) => math.linalg.eigh(x),
    1,
  ),
  'linalg.eigvalsh of float32': intoOut(
    () => [symmetric(60).astype('float32', { casting: 'same_kind' })],
    (x, o) => math.linalg.eigvalsh(x, o),
    1,
  ),
  'linalg.matrixNorm of float64': intoOut(
    () => [matrix(60)],
    (x, o) => math.linalg.matrixNorm(x, { ord: 'nuc', ...o }),
    1,
  ),
  'resize of uint8, scaled': intoOut(
    () => [numbers([60, 80, 3], 'uint8')],
    (x, o) => math.resize(x, [33, 50], { axes: [0, 1], scale: [1, 2, 3], dtype: 'float32', ...o }),
    2,
  ),
  'resize of float64, nearest': intoOut(
    () => [numbers([60, 80], 'float64')],
    (x, o) => math.resize(x, [33, 50], { method: 'nearest', ...o }),
    1,
  ),
  'resize of float16, bicubic': intoOut(
    () => [numbers([3, 60, 80], 'float16')],
    (x, o) => math.resize(x, [90, 50], { method: 'bicubic', ...o }),
    2,
  ),
  'letterbox of uint8': ofNew(
    () => [numbers([60, 80, 3], 'uint8')],
    (x) => math.letterbox(x, [64, 64], { axes: [0, 1], scale: 1 / 255, dtype: 'float32' }),
    2,
  ),
  'letterbox of float32 into out': [
    () => {
      const [x, out] = [numbers([3, 60, 80]), full([3, 200, 190], 1)]
      const before = hex(out)
      return [
        () => {
          math.letterbox(x, [200, 190], { scale: [1, 2, 3], out: out.fill(1) })
          return null
        },
        () => {},
        () => assert.equal(hex(out), before),
      ]
    },
    1,
  ],
  'pad of float32 that out has in it': [
    () => {
      const out = numbers([54, 60])
      const [inner, before] = [out.slice('1:-3', '5:-5'), hex(out)]
      return [
        () => {
          math.pad(
            inner,
            [
              [2, 2],
              [5, 5],
            ],
            { out, mode: 'reflect' },
          )
          return null
        },
        () => {},
        () => assert.equal(hex(out), before),
      ]
    },
    1,
  ],
  'nms of float32': ofNew(
    () => [math.add(math.abs(numbers([400, 4])), tensor([0, 0, 60, 60])), numbers([400])],
    (x, scores) => [math.nms(x, scores)],
    1,
  ),
  'iou of int32': intoOut(
    () => [numbers([300, 4], 'int32'), numbers([301, 4], 'int32')],
    (x, y, o) => math.iou(x, y, o),
    1,
  ),
  'unletterbox of float16': intoOut(
    () => [numbers([900, 4], 'float16')],
    (x, o) => math.unletterbox(x, { scale: [0.3, 0.7], padding: [3, 5], size: [40, 50] }, o),
    0,
  ),
  'oneHot of int32': intoOut(
    () => [math.abs(numbers([900], 'int32'))],
    (x, o) => math.oneHot(x, 51, o),
    0,
  ),
  ...Object.fromEntries(
    [7, 400, 1009, 2310].map((n) => [
      `fft of ${n} elements`,
      intoOut(
        () => [numbers([5, n])],
        (x, o) => math.fft(x, o),
        1,
      ),
    ]),
  ),
  'rfftn of float64': intoOut(
    () => [numbers([40, 60], 'float64')],
    (x, o) => math.rfftn(x, o),
    1,
  ),
  'fft2 of float32': intoOut(
    () => [numbers([40, 60])],
    (x, o) => math.fft2(x, o),
    1,
  ),
  'irfftn of complex64': intoOut(
    () => [numbers([40, 31], 'complex64')],
    (x, o) => math.irfftn(x, o),
    1,
  ),
  'irfft of complex64': intoOut(
    () => [numbers([5, 501], 'complex64')],
    (x, o) => math.irfft(x, o),
    1,
  ),
  'fftshift of float32 in itself': [
    () => {
      const out = numbers([40, 60])
      const before = hex(out)
      return [
        () => {
          math.fftshift(out, { out })
          return null
        },
        () => {},
        () => assert.equal(hex(out), before),
      ]
    },
    0,
  ],
  'stft of float32': intoOut(
    () => [numbers([9000])],
    (x, o) => math.stft(x, { nFft: 400, hopLength: 160, ...o }),
    2,
  ),
  'istft of complex64': intoOut(
    () => [numbers([201, 30], 'complex64')],
    (x, o) => math.istft(x, { hopLength: 160, ...o }),
    2,
  ),
  'melFilterbank of float32': intoOut(
    () => [],
    (o) => math.melFilterbank(o),
    1,
  ),
  'histogram of float32': ofNew(
    () => [numbers([5000])],
    (x) => math.histogram(x, { bins: 7, density: true }),
    1,
  ),
  'histogram of uint8 with weights and edges': ofNew(
    () => [numbers([5000], 'uint8'), numbers([5000]), numbers([9]), math.sort(numbers([9]))],
    (x, weights, _, bins) => math.histogram(x, { bins, weights }),
    1,
  ),
  'digitize of float16, descending': intoOut(
    () => [numbers([5000], 'float16'), math.sort(numbers([9], 'float16'), { descending: true })],
    (x, bins, o) => math.digitize(x, bins, o),
    1,
  ),
  'cov of float32': intoOut(
    () => [numbers([20, 300]), math.abs(numbers([300]))],
    (x, aweights, o) => math.cov(x, { aweights, ...o }),
    1,
  ),
  'corrcoef of float16': intoOut(
    () => [numbers([20, 300], 'float16')],
    (x, o) => math.corrcoef(x, o),
    1,
  ),
  'interp of float32 in a period': intoOut(
    () => [numbers([5000]), numbers([90]), numbers([90], 'int32')],
    (x, xp, fp, o) => math.interp(x, xp, fp, { period: 33, ...o }),
    1,
  ),
  'convolve of float32 and int16': intoOut(
    () => [numbers([5000]), numbers([70], 'int16')],
    (x, y, o) => math.convolve(x, y, o),
    1,
  ),
  'nanstd of float32': intoOut(
    () => [math.sqrt(numbers([50, 60]))],
    (x, o) => math.nanstd(x, { axis: 0, ...o }),
    1,
  ),
  'nanmin of float16': intoOut(
    () => [math.sqrt(numbers([50, 60], 'float16'))],
    (x, o) => math.nanmin(x, { axis: 1, ...o }),
    0,
  ),
  'logMelSpectrogram of float32': intoOut(
    () => [numbers([9000])],
    (x, o) => math.logMelSpectrogram(x, o),
    2,
  ),
}

// What allocates in C: prepare() → [act, check], and how many of its requests there are at least.
const CASES = {
  'empty, small float32': [() => [() => empty([4]), (t) => assert.equal(t.size, 4)], 0],
  'empty, large float32': [() => [() => empty([100000]), (t) => assert.equal(t.size, 100000)], 0],
  'zeros, small float32': [
    () => [() => zeros([4]), (t) => assert.deepEqual(t.toArray(), [0, 0, 0, 0])],
    0,
  ],
  'empty, shared float32': [
    () => [
      () => empty([4], { shared: true }).fill(2),
      (t) => assert.deepEqual(t.toArray(), [2, 2, 2, 2]),
    ],
    2,
  ],
  'zeros, shared float32': [
    () => [() => zeros([4], { shared: true }), (t) => assert.deepEqual(t.toArray(), [0, 0, 0, 0])],
    2,
  ],
  'full, shared complex64': [
    () => [() => full([2], [1, 2], { shared: true }), (t) => assert.deepEqual(t.get(1), [1, 2])],
    2,
  ],
  'tensor of a list': [
    () => [
      () =>
        tensor([
          [1, 2],
          [3, 4],
        ]),
      (t) =>
        assert.deepEqual(t.toArray(), [
          [1, 2],
          [3, 4],
        ]),
    ],
    0,
  ],
  'tensor of a list, shared': [
    () => [() => tensor([1, 2], { shared: true }), (t) => assert.deepEqual(t.toArray(), [1, 2])],
    2,
  ],
  'tensor of a transposed float32 matrix, reshaped': [
    () => {
      const source = tensor([
        [1, 2],
        [3, 4],
      ]).T
      return [
        () => tensor(source, [4], { shared: true }),
        (t) => assert.deepEqual(t.toArray(), [1, 3, 2, 4]),
      ]
    },
    2,
  ],
  'copyFrom of overlapping int32': [
    () => {
      const t = tensor(new Int32Array(5000).map((_, i) => i)) // more than the scratch that C has anyway
      const matrix = t.view([50, 100]).narrow(1, 0, 50)
      const turned = matrix.view([50, 50], { strides: [1, 100] })
      const before = t.toArray()
      return [
        () => {
          matrix.copyFrom(turned)
          return null
        },
        () =>
          assert.deepEqual(
            [t.get(1), t.get(100), t.get(49), t.get(50), t.get(4949)],
            [100, 1, 4900, 50, 4949],
          ),
        () => assert.deepEqual(t.toArray(), before),
      ]
    },
    1,
  ],
  'copyFrom of overlapping int32 with a scale': [
    () => {
      const t = tensor(new Int32Array(5000).map((_, i) => i))
      const [from, to] = [t.slice(':-1'), t.slice('1:')]
      const before = t.toArray()
      return [
        () => {
          to.copyFrom(from, { scale: 2, casting: 'unsafe' })
          return null
        },
        () => assert.deepEqual([t.get(0), t.get(1), t.get(4999)], [0, 0, 9996]),
        () => assert.deepEqual(t.toArray(), before),
      ]
    },
    1,
  ],
  'sharesMemory of interleaved int8': [
    () => {
      const t = empty([64, 64], 'int8')
      const a = t.view([16, 16, 3], { strides: [192, 5, 7] })
      const b = t.view([16, 16, 3], { strides: [192, 5, 7], offset: 3 })
      return [
        () => sharesMemory(a, b) && null,
        (shared) => assert.ok(shared === null || shared === false),
      ]
    },
    0,
  ],
  'reshape that copies, of shared float32': [
    () => {
      const turned = tensor(
        [
          [1, 2],
          [3, 4],
        ],
        { shared: true },
      ).T
      return [() => turned.reshape([4]), (r) => assert.deepEqual(r.toArray(), [1, 3, 2, 4])]
    },
    0,
  ],
  'toArray and toString of bfloat16': [
    () => {
      const t = tensor([1, 2], 'bfloat16')
      return [
        () => {
          assert.deepEqual(
            [t.toArray(), String(t), t.get(1)],
            [[1, 2], 'tensor([1., 2.], dtype=bfloat16)', 2],
          )
          return null
        },
        () => {},
      ]
    },
    0,
  ],
  'concat of float32': [
    () => {
      const t = tensor([
        [1, 2],
        [3, 4],
      ])
      const turned = t.T
      return [
        () => concat(t, turned, 1),
        (made) =>
          assert.deepEqual(made.toArray(), [
            [1, 2, 1, 3],
            [3, 4, 2, 4],
          ]),
      ]
    },
    0,
  ],
  'stack of float32': [
    () => {
      const t = tensor([1, 2])
      return [
        () => stack([t, t], 1),
        (made) =>
          assert.deepEqual(made.toArray(), [
            [1, 1],
            [2, 2],
          ]),
      ]
    },
    0,
  ],
  'tile of float32': [
    () => {
      const t = tensor([
        [1, 2],
        [3, 4],
      ]).T
      return [
        () => t.tile(2),
        (made) =>
          assert.deepEqual(made.toArray(), [
            [1, 3, 1, 3],
            [2, 4, 2, 4],
          ]),
      ]
    },
    0,
  ],
  'repeat of each float32, of a transposed matrix': [
    () => {
      const t = tensor([
        [1, 2],
        [3, 4],
      ]).T
      return [() => t.repeat([1, 0, 2, 0]), (made) => assert.deepEqual(made.toArray(), [1, 2, 2])]
    },
    1,
  ],
  'roll of float32 in itself': [
    () => {
      const t = tensor([
        [1, 2],
        [3, 4],
      ])
      return [
        () => {
          t.copyFrom([
            [1, 2],
            [3, 4],
          ]).roll(1, { out: t })
          return null
        },
        () =>
          assert.deepEqual(t.toArray(), [
            [4, 1],
            [2, 3],
          ]),
        () => {},
      ]
    },
    0,
  ],
  'take of int32': [
    () => {
      const t = tensor([5, 6, 7], 'int32')
      return [() => t.take([2, 0]), (made) => assert.deepEqual(made.toArray(), [7, 5])]
    },
    1,
  ],
  'take of int32 into the indices': [
    () => {
      const [t, indices] = [tensor([5, 6, 7], 'int32'), tensor([2, 0, 1], 'int32')]
      return [
        () => {
          t.take(indices.copyFrom([2, 0, 1]), { out: indices })
          return null
        },
        () => assert.deepEqual(indices.toArray(), [7, 5, 6]),
        () => assert.deepEqual(indices.toArray(), [2, 0, 1]),
      ]
    },
    1,
  ],
  'add of float32 to the elements before them': [
    () => {
      const t = tensor(new Float32Array(5000).map((_, i) => i))
      const [from, to] = [t.slice(':-1'), t.slice('1:')]
      const before = t.toArray()
      return [
        () => {
          math.add(from, from, { out: to })
          return null
        },
        () => assert.deepEqual([t.get(0), t.get(1), t.get(4999)], [0, 0, 9996]),
        () => assert.deepEqual(t.toArray(), before),
      ]
    },
    1,
  ],
  'exp of a transposed bfloat16 matrix': [
    () => {
      const t = zeros([300, 200], 'bfloat16').T
      const out = zeros([200, 300], 'int32')
      return [
        () => {
          math.exp(t, { out: out.fill(0), casting: 'unsafe' })
          return null
        },
        () => assert.equal(out.get(199, 299), 1),
        () => assert.equal(out.get(0, 0), 0),
      ]
    },
    0,
  ],
  'less of float32 and a scalar': [
    () => {
      const t = tensor([1, 2, 3])
      return [
        () => math.less(t, 2),
        (made) => assert.deepEqual(made.toArray(), [true, false, false]),
      ]
    },
    0,
  ],
  'where of a mask and scalars': [
    () => {
      const t = tensor([true, false])
      return [() => math.where(t, 1, 2), (made) => assert.deepEqual(made.toArray(), [1, 2])]
    },
    0,
  ],
  'sum of float32 over an axis of a transposed matrix': [
    () => {
      const t = full([500, 400], 1).T
      return [
        () => math.sum(t, { axis: 0 }),
        (made) => assert.deepEqual([made.size, made.get(499)], [500, 400]),
      ]
    },
    0,
  ],
  'sum of many float32 over all axes': [
    () => {
      const t = full([2000000], 1)
      return [() => math.sum(t), (made) => assert.equal(made.item(), 2000000)]
    },
    1,
  ],
  'var of bfloat16 into itself': [
    () => {
      const t = full([1, 4], 3, 'bfloat16')
      const out = t.view([4])
      return [
        () => {
          math.var(t.fill(3), { axis: 0, out })
          return null
        },
        () => assert.equal(t.get(0, 0), 0),
        () => assert.equal(t.get(0, 0), 3),
      ]
    },
    0,
  ],
  'cumulativeSum of int8 in itself': [
    () => {
      const t = tensor([1, 2, 3], 'int8')
      return [
        () => {
          math.cumulativeSum(t.copyFrom([1, 2, 3]), { out: t, casting: 'unsafe' })
          return null
        },
        () => assert.deepEqual(t.toArray(), [1, 3, 6]),
        () => assert.deepEqual(t.toArray(), [1, 2, 3]),
      ]
    },
    0,
  ],
  'diff of float32, twice': [
    () => {
      const [t, prepend] = [tensor([1, 4, 9, 16]), tensor([0])]
      return [
        () => math.diff(t, { n: 2, prepend }),
        (made) => assert.deepEqual(made.toArray(), [2, 2, 2]),
      ]
    },
    0,
  ],
  'shareMemory of float32': [
    () => {
      const t = tensor([
        [1, 2],
        [3, 4],
      ]).T
      return [
        () => t.shareMemory(),
        (made) =>
          assert.deepEqual(made.toArray(), [
            [1, 3],
            [2, 4],
          ]),
      ]
    },
    2,
  ],
  'arrayEqual and allClose of float32': [
    () => {
      const [t, other] = [
        tensor([
          [1, 2],
          [3, 4],
        ]).T,
        tensor([1, 2]),
      ]
      return [
        () => {
          assert.deepEqual([arrayEqual(t, t), allClose(t, other)], [true, false])
          return null
        },
        () => {},
      ]
    },
    0,
  ],
  'toImageData, and copyFrom of it': [
    () => {
      const t = zeros([2, 2, 3], 'uint8')
      return [
        () => {
          t.copyFrom(t.toImageData())
          return null
        },
        () => {},
      ]
    },
    0,
  ],
  'data of shared float32': [
    () => {
      const t = full([4], 3, { shared: true })
      return [
        () => {
          assert.deepEqual([...t.data], [3, 3, 3, 3])
          return null
        },
        () => {},
      ]
    },
    0,
  ],
  'openNpy of float32': [
    () => {
      saveNpySync(at('a.npy'), tensor([1, 2]))
      return [() => openNpy(at('a.npy')), (t) => assert.deepEqual(t.toArray(), [1, 2])]
    },
    2,
  ],
  'openNpy of float32, guarded': [
    () => {
      saveNpySync(at('a.npy'), tensor([1, 2]))
      return [
        () => openNpy(at('a.npy'), { guard: true }),
        (t) => assert.deepEqual(t.toArray(), [1, 2]),
      ]
    },
    3,
  ],
  'a tensor of a safetensors file': [
    () => {
      saveSafetensorsSync(at('a.safetensors'), { a: tensor([1, 2]) })
      const file = openSafetensors(at('a.safetensors'))
      return [() => file.get('a'), (t) => assert.deepEqual(t.toArray(), [1, 2])]
    },
    1,
  ],
  'fromBlob of an address': [
    () => {
      const kept = full([4], 3, { shared: true })
      return [
        () => fromBlob(kept.dataPtr, [4], { dtype: 'float32', owner: kept }),
        (t) => assert.equal(t.get(3), 3),
      ]
    },
    1,
  ],
  'fromBlob of a plain record, float32': [
    () => {
      const record = { ...full([4], 3, { shared: true }).toBlob() }
      return [() => fromBlob(record), (t) => assert.equal(t.get(3), 3)]
    },
    1,
  ],
  "fromBlob of a tensor's record, float32": [
    () => {
      const record = full([4], 3, { shared: true }).toBlob()
      return [() => fromBlob(record), (t) => assert.equal(t.get(3), 3)]
    },
    0,
  ],
}

describe('where the n-th allocation fails', function () {
  nativeOnly()
  before(function () {
    if (opcodes.fail_allocation === undefined) skip(this, 'needs the test addon (SB_TEST)')
  })
  afterEach(() => {
    if (opcodes.fail_allocation !== undefined) failAllocation(0)
  })
  after(() => {
    if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true })
  })

  /** act with the n-th allocation failing, for n = 1, 2, …; gives how many failures there were. */
  function everyFailure(act, check, unchanged) {
    let failures = 0
    for (let n = 1; n <= 40; n++) {
      const before = alive()
      failAllocation(n)
      let result
      let error = null
      try {
        result = act()
      } catch (thrown) {
        error = thrown
      }
      failAllocation(0)
      if (error === null) {
        check(result)
        result?.dispose()
      } else {
        failures++
        assert.equal(error.code, 'ERR_MEMORY', error.stack)
        assert.ok(error instanceof RangeError)
        unchanged?.()
      }
      noMoreThan(before, n)
    }
    const result = act() // and now it works
    check(result)
    result?.dispose()
    return failures
  }

  /** make() with the n-th allocation failing, for n = 1, 2, … until it succeeds; how many failed. */
  function untilItSucceeds(make, held) {
    for (let n = 1; ; n++) {
      const { allocations, ...before } = alive() // tables that grow stay
      failAllocation(n)
      try {
        held.push(make())
        failAllocation(0)
        return n - 1
      } catch (error) {
        failAllocation(0)
        assert.equal(error.code, 'ERR_MEMORY', error.stack)
        noMoreThan(before, n)
      }
    }
  }

  /** Watches for what is made next: where a group of adopted buffers gets none, it goes without, and nothing fails. */
  function spareWatches() {
    const spare = Array.from({ length: 512 }, () => empty([4], { shared: true }))
    spare.forEach((t) => t.dispose())
  }

  // All that is made is held, so that each needs a new place and the tables of handles and watches grow.
  for (const [name, make] of Object.entries({
    'a float32 address': (kept) => (deleter) =>
      fromBlob(kept.dataPtr, [4], { dtype: 'float32', deleter }),
    'a Float32Array': () => (deleter) => fromBlob(new Float32Array([0, 0, 0, 3]), [4], { deleter }),
  })) {
    it(`fromBlob of ${name} with a deleter takes nothing over: the deleter does not run`, async () => {
      const blob = make(full([4], 3, { shared: true }))
      if (name === 'a Float32Array') spareWatches()
      const held = []
      let failures = 0
      let calls = 0
      for (let i = 0; i < 150; i++) failures += untilItSucceeds(() => blob(() => calls++), held)
      assert.ok(failures >= 300, `${failures} failures`) // the deleter's and the storage's record, each time
      globalThis.gc()
      await flush()
      assert.equal(calls, 0)
      assert.ok(held.every((t) => t.get(3) === 3))
      held.forEach((t) => t.dispose())
      await flush()
      assert.equal(calls, 150)
    })
  }

  it('fromBlob with transfer and a deleter leaves the Float32Array to its holder, and the deleter does not run', async () => {
    const held = []
    let failures = 0
    let calls = 0
    spareWatches()
    for (let i = 0; i < 150; i++) {
      const source = new Float32Array([0, 0, 0, 3])
      const take = () => {
        assert.deepEqual([...source], [0, 0, 0, 3]) // after each failure, too
        return fromBlob(source, [4], { transfer: true, deleter: () => calls++ })
      }
      failures += untilItSucceeds(take, held)
      assert.equal(source.length, 0)
    }
    assert.ok(failures >= 300, `${failures} failures`)
    globalThis.gc()
    await flush()
    assert.equal(calls, 0)
    assert.ok(held.every((t) => t.get(3) === 3))
    held.forEach((t) => t.dispose())
    await flush()
    assert.equal(calls, 150)
  })

  it('empty, shared float32, gives its memory back', () => {
    const held = []
    let failures = 0
    for (let i = 0; i < 300; i++) {
      failures += untilItSucceeds(() => empty([4], { shared: true }).fill(i), held)
    }
    assert.ok(failures >= 600, `${failures} failures`) // the bytes and the storage's record, each time
    assert.ok(held.every((t, i) => t.get(3) === i))
    held.forEach((t) => t.dispose())
  })

  for (const [name, [prepare, least]] of Object.entries({ ...CASES, ...ALGORITHMS })) {
    it(`${name} is ERR_MEMORY, nothing stays, and works afterwards`, () => {
      globalThis.gc()
      for (let round = 0; round < 2; round++) {
        const [act, check, unchanged] = prepare()
        const first = act() // what is made once and for all
        check(first)
        first?.dispose()
        const [again, checkAgain, unchangedAgain] = unchanged ? prepare() : [act, check]
        const failures = everyFailure(again, unchangedAgain ? () => {} : checkAgain, unchangedAgain)
        assert.ok(failures >= least, `${failures} requests failed; ${least} were expected`)
      }
    })
  }

  it('copyFrom of overlapping int32 is done afterwards, and not half before', () => {
    for (const name of Object.keys(CASES).filter((name) => name.startsWith('copyFrom'))) {
      const [act, check, unchanged] = CASES[name][0]()
      failAllocation(1)
      refuses(act, 'ERR_MEMORY')
      unchanged()
      act()
      check()
    }
  })
})
