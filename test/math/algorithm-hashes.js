'use strict'
// Hashes of what each algorithm makes of fixed numbers, dense and strided: one list for all back ends, instruction sets and numbers of threads.
// algorithm-hashes.json has it. With SAMEBYTES_SEED they are of other numbers, which seeds.js compares.
//
//   node test/math/algorithm-hashes.js           prints them as this back end has them
//   node test/math/algorithm-hashes.js --write   writes the list anew
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { Tensor, dtypes, eye, fromBlob, tensor, tidy, zeros } = require('samebytes')
const { math } = require('./load')
const { SIZES } = require('./matrices-rule')

const { linalg } = math
const LIST = path.join(__dirname, 'algorithm-hashes.json')

const isComplex = (dtype) => dtype.startsWith('complex')
const REAL = dtypes.filter((dtype) => !isComplex(dtype))
const INTEGERS = dtypes.filter((dtype) => dtype.includes('int'))
const HALVES = ['float16', 'bfloat16']
const SINGLE = ['float32', 'float64']
const COMPLEX = ['complex64', 'complex128']
const NUMBERS = [...INTEGERS, ...HALVES, ...SINGLE, ...COMPLEX]
const SPECIAL = [NaN, -0, 0, Infinity, -Infinity, 1e-40, -3]

const SCALES = Float64Array.from({ length: 9 }, (_, i) => 2 ** -(20 + i))
const OTHER = Math.imul(Number(process.env.SAMEBYTES_SEED ?? 0), 0x9e3779b1)
const drawn = [] // by seed

/** Numbers of any size, of both signs. @returns {Float64Array} */
function series(n, seed) {
  if (!(drawn[seed]?.length >= n)) {
    const values = (drawn[seed] = new Float64Array(Math.max(n, 50_000)))
    for (let i = 0, x = (seed + OTHER) | 0; i < values.length; i++) {
      values[i] = (x = (Math.imul(x, 1664525) + 1013904223) | 0) * SCALES[4 + (x % 5)]
    }
  }
  return drawn[seed].subarray(0, n)
}

/** The same elements, neither dense nor in order in memory. */
function scattered(t) {
  if (t.ndim === 0 || t.size === 0) return t
  const order = t.shape.map((_, d) => t.ndim - 1 - d)
  const wide = zeros(
    order.map((d) => (d === t.ndim - 1 ? 2 * t.shape[d] : t.shape[d])),
    t.dtype,
  )
  const view = wide
    .permute(order)
    .slice(...t.shape.map((_, d) => (d === t.ndim - 1 ? '::-2' : ':')))
  return view.copyFrom(t)
}

/** Makes operands of a dtype: any numbers; few: of few values; counts: from 0 on; special: with NaN and the like; definite: matrices whose diagonals outweigh the rest, as they are their own transposes. */
function operandsOf(dtype, isDense) {
  const arranged = isDense ? (t) => t : scattered
  const made = (values, shape, from = 'float64') =>
    arranged(fromBlob(values, shape, { dtype: from }).astype(dtype, { casting: 'unsafe' }))
  const size = (shape) => shape.reduce((a, b) => a * b, 1)
  const any = (shape, seed = 1) =>
    isComplex(dtype)
      ? made(series(2 * size(shape), seed), shape, 'complex128')
      : made(series(size(shape), seed), shape)
  return {
    isDense,
    any,
    few: (shape, seed = 1) =>
      made(
        series(size(shape), seed).map((x) => Math.trunc(x) % 7),
        shape,
      ),
    counts: (shape, most, seed = 1) =>
      made(
        series(size(shape), seed).map((x) => Math.abs(Math.trunc(x)) % most),
        shape,
      ),
    special: (shape, seed = 1) =>
      made(
        series(size(shape), seed).map((x, i) => (i % 11 === 3 ? SPECIAL[i % SPECIAL.length] : x)),
        shape,
      ),
    definite: (batch, n, seed = 1) => {
      const part = any([batch, n, n], seed)
        .slice(':', ':', ':')
        .astype(isComplex(dtype) ? 'complex128' : 'float64')
      const small = math.multiply(part, 1 / 512)
      const whole = math.add(
        small,
        isComplex(dtype) ? math.conj(small.transpose(-1, -2)) : small.transpose(-1, -2),
      )
      const sum = math.add(whole, math.multiply(eye(n, { dtype: 'float64' }), 12 * n))
      return arranged(sum.astype(dtype, { casting: 'unsafe' }))
    },
  }
}

/** Batches and sizes of matrices: large ones of float64 alone, few of dtypes that are converted first. */
const STACKS = {
  float64: [
    [1, 131],
    [3, 37],
    [7, 8],
    [2, 1],
  ],
  float32: [
    [40, 19],
    [2, 37],
  ],
  complex128: [
    [2, 37],
    [7, 8],
  ],
}
const MATRICES = ['int16', ...HALVES, ...SINGLE, ...COMPLEX]
const onMatrices =
  (compute) =>
  ({ definite }, dtype) =>
    (STACKS[dtype] ?? [[7, 8]]).flatMap(([batch, n]) => compute(definite(batch, n)))
/** And on some of their columns, and rows. */
const onAny = (compute) =>
  onMatrices((t) => [t, t.slice(':', ':', '::7'), t.slice(':', '::3', ':')].flatMap(compute))
/** What takes long, of large matrices once. */
const onSmall = (compute) => onAny((t) => (t.shape[1] > 100 && t.shape[2] > 100 ? [] : compute(t)))

// each way of C: short lengths of all factors, matrices, and convolutions of both kinds
const LENGTHS = [
  1, 2, 3, 4, 5, 7, 8, 11, 26, 31, 37, 60, 97, 210, 256, 257, 400, 512, 720, 1009, 1024, 2310, 4096,
  10007,
]
const TRANSFORMED = ['int16', ...HALVES, ...SINGLE]
const lengths = (dtype) => (SINGLE.includes(dtype) || isComplex(dtype) ? LENGTHS : [3, 60, 400])
const lines =
  (compute, count = 9000) =>
  ({ any }, dtype) =>
    lengths(dtype).flatMap((n) => compute(any([Math.max(1, Math.min(21, (count / n) | 0)), n]), n))
const plane =
  (compute) =>
  ({ any }) =>
    [any([20, 33]), any([3, 16, 25])].flatMap(compute)
const FRAMES = { nFft: 400, hopLength: 160 }

const IMAGES = ['uint8', 'int16', 'float16', ...SINGLE]
const PIXELS = [
  [24, 31],
  [224, 97],
  [310, 430],
]

/** Boxes of all sizes, some of which have much in common. */
const boxes = ({ any, counts }, n, seed) =>
  math.add(
    counts([n, 4], 40, seed),
    tensor([0, 0, 30, 30]).astype(any([1]).dtype, { casting: 'unsafe' }),
  )

/** Functions by name: dtypes of operands, and what to compute of these. */
const CASES = {
  sort: [
    REAL,
    ({ special, few }) => [
      math.sort(special([20, 300])),
      math.sort(special([300, 20]), { axis: 0, descending: true }),
      math.sort(special([5000])),
      math.sort(few([3, 700])),
    ],
  ],
  argsort: [
    REAL,
    ({ special, few }) => [
      math.argsort(few([20, 300])),
      math.argsort(special([300, 20]), { axis: 0, descending: true }),
      math.argsort(special([5000], 2)),
    ],
  ],
  topK: [
    REAL,
    ({ special, few }) => [
      math.topK(special([20, 300]), 7),
      math.topK(few([300, 20]), 30, { axis: 0, largest: false }),
      math.topK(special([9000], 2), 50),
      math.topK(special([900]), 500),
    ],
  ],
  searchsorted: [
    REAL,
    ({ special, few }) => {
      const [sorted, x] = [math.sort(special([900])), special([60, 40], 2)]
      return [
        math.searchsorted(sorted, x),
        math.searchsorted(math.sort(few([50])), few([999], 2), { side: 'right' }),
        math.searchsorted(x.select(0, 0), x, { sorter: math.argsort(x.select(0, 0)) }),
      ]
    },
  ],
  isin: [
    REAL,
    ({ special, few }) => [
      math.isin(special([60, 40]), special([300], 1)),
      math.isin(few([999]), few([2], 3), { invert: true }),
    ],
  ],
  uniqueAll: [
    REAL,
    ({ special, few }) => [math.uniqueAll(few([60, 40])), math.uniqueAll(special([2000]))],
  ],
  uniqueCounts: [
    REAL,
    ({ special, few }) => [math.uniqueCounts(few([60, 40])), math.uniqueCounts(special([2000]))],
  ],
  uniqueInverse: [
    REAL,
    ({ special, few }) => [math.uniqueInverse(few([60, 40])), math.uniqueInverse(special([2000]))],
  ],
  uniqueValues: [
    REAL,
    ({ special, few }) => [math.uniqueValues(few([60, 40])), math.uniqueValues(special([2000]))],
  ],
  bincount: [
    ['bool', ...INTEGERS],
    ({ counts }) => [
      math.bincount(counts([9000], 100)),
      math.bincount(counts([9000], 100), { weights: tensor(series(9000, 5)), minlength: 120 }),
    ],
  ],

  histogram: [
    ['bool', ...INTEGERS, ...HALVES, ...SINGLE],
    ({ any, few, special }) => [
      math.histogram(any([60, 40])),
      math.histogram(any([2000], 3), { bins: 33, range: [-70, 90.5], density: true }),
      math.histogram(few([999]), { bins: math.sort(few([9], 2)), weights: tensor(series(999, 5)) }),
      math.histogram(special([900]), { bins: [-3, 0, 1] }),
    ],
  ],
  digitize: [
    REAL,
    ({ special, few }) => [
      math.digitize(special([60, 40]), [-3, 0, 2]),
      math.digitize(few([999]), math.sort(few([9], 2), { descending: true }), { right: true }),
    ],
  ],
  cov: [
    ['bool', ...INTEGERS, ...HALVES, ...SINGLE],
    ({ any }) => [
      math.cov(any([17, 300])),
      math.cov(any([300, 5], 2), {
        rowvar: false,
        correction: 0,
        y: any([300, 3]),
        fweights: math.round(math.abs(tensor(series(300, 4)))),
      }),
    ],
  ],
  corrcoef: [
    ['bool', ...INTEGERS, ...HALVES, ...SINGLE],
    ({ any }) => [math.corrcoef(any([17, 300])), math.corrcoef(any([300]), { y: any([300], 2) })],
  ],
  interp: [
    ['bool', ...INTEGERS, ...HALVES, ...SINGLE],
    ({ any, special }) => [
      math.interp(special([60, 40]), [-3, 0, 2, 9], [1, 7, -2, 0.3]),
      math.interp(any([999]), any([50], 2).astype('float64'), any([50], 3), { period: 7.5 }),
    ],
  ],
  convolve: [
    NUMBERS,
    ({ any }) => [
      math.convolve(any([3000]), any([70], 2)),
      math.convolve(any([50]), any([501], 2), { mode: 'same' }),
      math.convolve(any([300]), any([7], 2), { mode: 'valid' }),
    ],
  ],
  ...Object.fromEntries(
    ['nansum', 'nanprod', 'nanmean', 'nanvar', 'nanstd', 'nanmin', 'nanmax'].map((name) => [
      name,
      [
        ['bool', ...INTEGERS, ...HALVES, ...SINGLE],
        ({ special }) => [
          math[name](special([60, 40])),
          math[name](special([60, 41], 2), { axis: 0 }),
          math[name](special([60, 41], 2), { axis: 1 }),
        ],
      ],
    ]),
  ),

  matmul: [
    NUMBERS,
    ({ any, isDense }, dtype) =>
      SIZES.flatMap(([m, k, n]) => {
        const isLarge = m * k * n > 1e6
        if (isLarge && !(isDense && /^(float32|float64|int32|int64|complex64)$/.test(dtype))) {
          return []
        }
        const [a, b] = [any([m, k]), any([k, n], 2)]
        return [
          math.matmul(a, b),
          ...(isLarge || dtype.includes('int') ? [] : [math.matmul(a, b, { accuracy: 'precise' })]),
        ]
      }),
  ],
  vecdot: [
    NUMBERS,
    ({ any }) => [
      math.vecdot(any([77, 600]), any([77, 600], 2)),
      math.vecdot(any([300, 9]), any([300, 1], 2), { axis: 0 }),
    ],
  ],
  tensordot: [
    NUMBERS,
    ({ any }) => [
      math.tensordot(any([6, 20, 30]), any([20, 30, 7], 2)),
      math.tensordot(any([20, 6, 30]), any([30, 7, 20], 2), {
        axes: [
          [0, 2],
          [2, 0],
        ],
      }),
      math.tensordot(any([3]), any([4], 2), { axes: 0 }),
    ],
  ],
  outer: [NUMBERS, ({ any }) => [math.outer(any([77]), any([130], 2))]],
  einsum: [
    NUMBERS,
    ({ any }) => [
      math.einsum('ij,kj->ki', any([77, 600]), any([5, 600], 2)),
      math.einsum('bij,bjk,kl->bil', any([4, 5, 6]), any([4, 6, 7], 2), any([7, 3], 3)),
      math.einsum('ii->i', any([9, 9])),
      math.einsum('ij->j', any([90, 70])),
    ],
  ],
  cosineSimilarity: [
    [...INTEGERS, ...HALVES, ...SINGLE],
    ({ any }) => [
      math.cosineSimilarity(any([77, 600]), any([77, 600], 2)),
      math.cosineSimilarity(any([300, 9]), any([300, 9], 2), { axis: 0 }),
    ],
  ],

  'linalg.cross': [
    NUMBERS,
    ({ any }) => [
      linalg.cross(any([3000, 3]), any([3000, 3], 2)),
      linalg.cross(any([3, 50]), any([3, 1], 2), { axis: 0 }),
    ],
  ],
  'linalg.matrixPower': [
    MATRICES,
    onMatrices((t) => [
      linalg.matrixPower(t, 3),
      linalg.matrixPower(t, -5),
      linalg.matrixPower(t, 0),
    ]),
  ],
  'linalg.trace': [
    NUMBERS,
    ({ any }) => [linalg.trace(any([30, 40, 50])), linalg.trace(any([40, 50]), { offset: -3 })],
  ],
  'linalg.vectorNorm': [
    [...INTEGERS, ...HALVES, ...SINGLE, ...COMPLEX],
    ({ any }) => [
      linalg.vectorNorm(any([30, 400])),
      linalg.vectorNorm(any([30, 400]), { axis: 1, ord: 3 }),
      linalg.vectorNorm(any([30, 400]), { axis: 0, ord: Infinity }),
    ],
  ],
  'linalg.matrixNorm': [
    MATRICES,
    onMatrices((t) =>
      ['fro', 1, Infinity, ...(t.shape[2] < 100 ? ['nuc', -2] : [])].map((ord) =>
        linalg.matrixNorm(t, { ord }),
      ),
    ),
  ],
  'linalg.matrixRank': [
    MATRICES,
    onSmall((t) => [linalg.matrixRank(t), linalg.matrixRank(t, { rtol: 0.9 })]),
  ],
  'linalg.det': [MATRICES, onMatrices((t) => [linalg.det(t)])],
  'linalg.slogdet': [MATRICES, onMatrices((t) => [linalg.slogdet(t)])],
  'linalg.inv': [MATRICES, onMatrices((t) => [linalg.inv(t)])],
  'linalg.solve': [
    MATRICES,
    onMatrices((t) => [
      linalg.solve(t, t.slice(':', ':', '::7')),
      linalg.solve(t, t.select(0, 0).select(0, 0)),
    ]),
  ],
  'linalg.cholesky': [
    MATRICES,
    onMatrices((t) => [linalg.cholesky(t), linalg.cholesky(t, { upper: true })]),
  ],
  'linalg.qr': [MATRICES, onAny((t) => [linalg.qr(t), linalg.qr(t, { mode: 'complete' })])],
  'linalg.eigh': [MATRICES, onMatrices((t) => [linalg.eigh(t)])],
  'linalg.eigvalsh': [MATRICES, onMatrices((t) => [linalg.eigvalsh(t)])],
  'linalg.svd': [
    MATRICES,
    onAny((t) => [
      linalg.svd(t, { fullMatrices: false }),
      ...(t.shape.at(-1) < 100 ? [linalg.svd(t)] : []),
    ]),
  ],
  'linalg.svdvals': [MATRICES, onSmall((t) => [linalg.svdvals(t)])],
  'linalg.pinv': [MATRICES, onSmall((t) => [linalg.pinv(t)])],

  resize: [
    IMAGES,
    ({ any }, dtype) => {
      const [t, planes] = [any([200, 311, 3]), any([3, 90, 130])]
      const methods = ['bilinear', 'bicubic'].flatMap((method) =>
        [true, false].map((antialias) => ({ method, antialias })),
      )
      return [
        ...methods.flatMap((how) =>
          (/^(uint8|float32)$/.test(dtype) ? PIXELS : PIXELS.slice(0, 1)).map((size) =>
            math.resize(t, size, { axes: [0, 1], ...how }),
          ),
        ),
        ...methods.flatMap((how) =>
          [
            [33, 200],
            [130, 61],
          ].map((size) =>
            math.resize(planes, size, { ...how, dtype: 'float32', scale: [0.5, 2, 3], bias: -7 }),
          ),
        ),
        math.resize(planes, [33, 200], { method: 'nearest' }),
        ...methods.map((how) =>
          math.resize(any([90, 130, 4]), [33, 200], { axes: [0, 1], alpha: true, ...how }),
        ),
      ]
    },
  ],
  letterbox: [
    IMAGES,
    ({ any }) => [
      math.letterbox(any([90, 130, 3]), [64, 64], { axes: [0, 1] }).image,
      math.letterbox(any([3, 90, 130]), [200, 190], {
        align: 'end',
        dtype: 'float32',
        scale: 1 / 255,
        value: 7,
      }).image,
    ],
  ],
  pad: [
    dtypes,
    ({ any }) =>
      ['constant', 'edge', 'reflect'].map((mode) =>
        math.pad(
          any([20, 30]),
          [
            [3, 4],
            [5, 0],
          ],
          { mode, ...(mode === 'constant' && { value: 1 }) },
        ),
      ),
  ],
  nms: [
    ['int16', 'float16', ...SINGLE],
    (operands) =>
      [0.3, 0.7].flatMap((iouThreshold) => [
        math.nms(boxes(operands, 900), operands.counts([900], 100, 3), { iouThreshold }),
        math.nms(boxes(operands, 300), operands.counts([300], 100, 3), {
          iouThreshold,
          classes: operands.counts([300], 3, 9).astype('int32', { casting: 'unsafe' }),
        }),
      ]),
  ],
  iou: [
    ['int16', 'float16', ...SINGLE],
    (operands) => [math.iou(boxes(operands, 300), boxes(operands, 301, 2))],
  ],
  unletterbox: [
    ['int16', 'float16', ...SINGLE],
    (operands) =>
      [true, false].map((clip) =>
        math.unletterbox(
          boxes(operands, 900),
          { scale: [0.3, 0.7], padding: [3, 5], size: [40, 50] },
          { clip },
        ),
      ),
  ],
  oneHot: [
    INTEGERS,
    ({ counts }) => [
      math.oneHot(counts([9, 20], 11), 11),
      math.oneHot(counts([9, 20], 11), 12, { axis: 1, dtype: 'int16' }),
    ],
  ],

  fft: [
    [...TRANSFORMED, ...COMPLEX],
    lines((t, n) => [
      math.fft(t),
      ...(n < 300 ? [math.fft(t, { n: n + 3, norm: 'ortho' }), math.fft(t, { axis: 0 })] : []),
    ]),
  ],
  ifft: [[...TRANSFORMED, ...COMPLEX], lines((t) => [math.ifft(t)])],
  rfft: [TRANSFORMED, lines((t) => [math.rfft(t)])],
  irfft: [
    [...SINGLE, ...COMPLEX],
    lines((t, n) => [math.irfft(t, { n }), ...(n > 1 && n < 300 ? [math.irfft(t)] : [])]),
  ],
  hfft: [[...SINGLE, ...COMPLEX], lines((t, n) => [math.hfft(t, { n })])],
  ihfft: [TRANSFORMED, lines((t) => [math.ihfft(t)])],
  fftn: [[...TRANSFORMED, ...COMPLEX], plane((t) => [math.fftn(t)])],
  ifftn: [
    [...TRANSFORMED, ...COMPLEX],
    plane((t) => [math.ifftn(t, { s: [16, 40], axes: [-2, -1] })]),
  ],
  fft2: [[...TRANSFORMED, ...COMPLEX], plane((t) => [math.fft2(t)])],
  ifft2: [[...TRANSFORMED, ...COMPLEX], plane((t) => [math.ifft2(t)])],
  rfftn: [TRANSFORMED, plane((t) => [math.rfftn(t)])],
  irfftn: [[...SINGLE, ...COMPLEX], plane((t) => [math.irfftn(t)])],
  rfft2: [TRANSFORMED, plane((t) => [math.rfft2(t)])],
  irfft2: [[...SINGLE, ...COMPLEX], plane((t) => [math.irfft2(t)])],
  fftfreq: [
    SINGLE,
    (_, dtype) => [math.fftfreq(1001, { d: 0.3, dtype }), math.fftfreq(8, { dtype })],
  ],
  rfftfreq: [
    SINGLE,
    (_, dtype) => [math.rfftfreq(1001, { d: 0.3, dtype }), math.rfftfreq(8, { dtype })],
  ],
  fftshift: [
    dtypes,
    ({ any }) => [math.fftshift(any([20, 33])), math.fftshift(any([20, 33]), { axes: 1 })],
  ],
  ifftshift: [
    dtypes,
    ({ any }) => [math.ifftshift(any([20, 33])), math.ifftshift(any([20, 33]), { axes: 0 })],
  ],
  hann: [
    [...HALVES, ...SINGLE],
    (_, dtype) => [math.hann(1001, { dtype }), math.hann(77, { periodic: false, dtype })],
  ],
  hamming: [
    [...HALVES, ...SINGLE],
    (_, dtype) => [math.hamming(1001, { dtype }), math.hamming(77, { periodic: false, dtype })],
  ],
  stft: [
    TRANSFORMED,
    ({ any }) => [
      math.stft(any([20000]), { ...FRAMES, window: math.hann(400) }),
      math.stft(any([2, 900]), {
        nFft: 64,
        onesided: false,
        padMode: 'replicate',
        normalized: true,
      }),
    ],
  ],
  istft: [
    COMPLEX,
    ({ any }) => [
      math.istft(any([201, 90]), { hopLength: 160, window: math.hann(400) }),
      math.istft(any([2, 33, 40]), { normalized: true }),
    ],
  ],
  melFilterbank: [
    SINGLE,
    (_, dtype) => [
      math.melFilterbank({ dtype }),
      math.melFilterbank({ scale: 'htk', norm: null, nMels: 128, dtype }),
    ],
  ],
  logMelSpectrogram: [
    [...HALVES, ...SINGLE],
    ({ any }) => [
      math.logMelSpectrogram(any([20000])),
      math.logMelSpectrogram(any([2, 3000], 2), { nFft: 256, hopLength: 100, nMels: 40 }),
    ],
  ],
}

const listed = (result) => (Tensor.isTensor(result) ? [result] : Object.values(result))

/** What a function makes of dense and of strided operands of a dtype. */
function hash(compute, dtype) {
  const sum = createHash('sha256')
  for (const isDense of [true, false]) {
    tidy(() => {
      for (const t of compute(operandsOf(dtype, isDense), dtype).flatMap(listed)) {
        sum.update(`${t.dtype} ${t.shape}`).update(t.contiguous().bytes)
      }
    })
  }
  return sum.digest('hex').slice(0, 12)
}

/** @returns {Record<string, Record<string, string>>} hashes of results by function and dtype */
const hashes = () =>
  Object.fromEntries(
    Object.entries(CASES).map(([name, [taken, compute]]) => [
      name,
      Object.fromEntries(taken.map((dtype) => [dtype, hash(compute, dtype)])),
    ]),
  )

module.exports = { CASES, LIST, hash, hashes }

if (require.main === module) {
  const lines = Object.entries(hashes()).map(
    ([name, found]) => `  ${JSON.stringify(name)}: ${JSON.stringify(found)}`,
  )
  const text = `{\n${lines.join(',\n')}\n}\n`
  if (process.argv[2] === '--write') fs.writeFileSync(LIST, text)
  else process.stdout.write(text)
}
