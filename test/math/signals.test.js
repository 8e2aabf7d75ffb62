'use strict'
// Transforms, frames and mel spectrograms beside NumPy and transformers.js; out, layouts, bits, bad input.
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const {
  arange,
  arrayEqual,
  fromBlob,
  memory,
  ones,
  rand,
  setMemoryLimit,
  tensor,
  tidy,
  zeros,
} = require('samebytes')
const {
  ROOT,
  copied,
  fails,
  generator,
  hex,
  leavesNothing,
  needs,
  refusedUnchanged,
  restoresLimit,
  skip,
} = require('../setup')
const { budget } = require('../../js/backend/storage')
const { PYTHON } = require('../tools')
const { math, needsMath, some } = require('./load')
const { FLOATS, INTEGERS, arranged } = require('./numpy-reductions')

const COMPLEX = ['complex64', 'complex128']

const NORMS = ['backward', 'ortho', 'forward']
const {
  fft,
  ifft,
  rfft,
  irfft,
  hfft,
  ihfft,
  fftn,
  ifftn,
  rfftn,
  irfftn,
  fft2,
  fftfreq,
  rfftfreq,
  fftshift,
  ifftshift,
  hann,
  hamming,
  stft,
  istft,
  melFilterbank,
  logMelSpectrogram,
} = math

const given = (t) => ({
  dtype: t.dtype,
  shape: [...t.shape],
  bytes: Buffer.from(t.contiguous().bytes).toString('base64'),
})

/** What NumPy makes of cases: { shape, values (complex ones as pairs) }, or null. */
function askNumpy(cases) {
  const input = JSON.stringify(
    cases.map(({ t, window, ...rest }) => ({
      ...rest,
      ...(t && given(t)),
      ...(window && { window: given(window) }),
    })),
  )
  const { status, stdout, stderr } = spawnSync(
    PYTHON,
    [path.join(ROOT, 'test', 'python', 'signals.py')],
    { input, env: { ...process.env, LD_PRELOAD: '' }, encoding: 'utf8', maxBuffer: 1 << 29 },
  )
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout).map(
    (each) =>
      each && {
        ...each,
        values: new Float64Array(new Uint8Array(Buffer.from(each.values, 'base64')).buffer),
      },
  )
}

/** Numbers of a tensor as NumPy's answer has them. */
const flat = (t) =>
  new Float64Array(
    t
      .astype(t.dtype.startsWith('complex') ? 'complex128' : 'float64')
      .contiguous()
      .bytes.slice().buffer,
  )

/** Each number is within `unit` of its own size, and within `scale` of the greatest one. */
function assertNear(got, wanted, unit, scale, what) {
  const values = flat(got)
  assert.deepEqual([...got.shape], wanted.shape, what)
  assert.equal(got.dtype.startsWith('complex'), wanted.complex, what)
  const most = wanted.values.reduce((a, x) => Math.max(a, Math.abs(x)), 1e-30)
  wanted.values.forEach((x, i) => {
    if (!(Math.abs(values[i] - x) <= unit * Math.abs(x) + scale * most)) {
      assert.fail(`${what} at ${i}: ${values[i]}, not ${x}; the greatest is ${most}`)
    }
  })
}

const unitOf = (t) => (/^(float32|complex64)$/.test(t.dtype) ? 2 ** -23.9 : 0)

describe('transforms beside NumPy', function () {
  needsMath()
  needs('NumPy')

  const LINES = ['fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft']
  const isReal = (name) => /^(rfft|ihfft)/.test(name)
  const dtypeFor = (random, name) =>
    random.pick([
      ...FLOATS,
      ...FLOATS,
      ...INTEGERS,
      ...(isReal(name) ? [] : [...COMPLEX, ...COMPLEX, ...COMPLEX]),
    ])

  it('agree on random tensors, lengths, axes, norms, dtypes and layouts', () => {
    const random = generator(51)
    const { next, pick } = random
    const cases = []
    while (cases.length < some(600)) {
      const name = pick(LINES)
      const t = next(3)
        ? arranged(random, dtypeFor(random, name), [1, 2, 3, 5, 8], 4)
        : arranged(random, dtypeFor(random, name), [1, 3, 17, 33, 70, 300], 2)
      if (t.ndim === 0) continue
      const axis = next(t.ndim) - pick([0, t.ndim])
      const length = t.shape.at(axis)
      const n = pick([
        undefined,
        undefined,
        length,
        Math.max(1, length - 1),
        length + 1,
        2 * length,
        1,
        6,
        37,
      ])
      if (n === undefined && /^(irfft|hfft)$/.test(name) && length < 2) continue
      cases.push({ t, name, n, axis, norm: pick(NORMS) })
    }
    askNumpy(cases).forEach((wanted, i) => {
      const { t, name, n, axis, norm } = cases[i]
      const got = math[name](t, { n, axis, norm })
      const what = JSON.stringify({
        name,
        dtype: t.dtype,
        n,
        axis,
        norm,
        shape: t.shape,
        strides: t.strides,
      })
      assert.equal(
        got.dtype,
        /^(irfft|hfft)$/.test(name)
          ? /64$|128/.test(t.dtype) && /^(float64|complex128)$/.test(t.dtype)
            ? 'float64'
            : 'float32'
          : /^(float64|complex128)$/.test(t.dtype)
            ? 'complex128'
            : 'complex64',
        what,
      )
      assertNear(got, wanted, unitOf(got), 4e-15, what)
    })
  })

  it('agree on each length to 300, and on long ones of all kinds', () => {
    const lengths = [
      ...Array.from({ length: 300 }, (_, i) => i + 1),
      441,
      480,
      512,
      514,
      720,
      961,
      997,
      1001,
      1021,
      1024,
      1800,
      2048,
      2187,
      2310,
      3125,
      4099,
      4800,
      8192,
      10007,
      16807,
      30000,
      65536,
    ]
    const { next } = generator(52)
    const cases = lengths.flatMap((n) => {
      const real = tensor(
        Float64Array.from({ length: n }, () => next(2 ** 30) / 2 ** 29 - 1),
        [n],
      )
      const complex = tensor(
        Float64Array.from({ length: 2 * n }, () => next(2 ** 30) / 2 ** 29 - 1),
        [n, 2],
      )
        .view('complex128')
        .squeeze(-1)
      return [
        { name: 'fft', t: complex },
        { name: 'ifft', t: complex },
        { name: 'rfft', t: real },
        { name: 'irfft', t: complex.slice(`:${Math.floor(n / 2) + 1}`), n },
      ].map((each) => ({ ...each, axis: 0, norm: 'backward' }))
    })
    askNumpy(cases).forEach((wanted, i) => {
      const { t, name, n } = cases[i]
      assertNear(math[name](t, { n }), wanted, 0, 2e-15, `${name} of ${t.shape}, n ${n}`)
    })
  })

  it('agree along several axes, cut and filled up', () => {
    const random = generator(53)
    const { next, pick, shuffle } = random
    const cases = []
    while (cases.length < some(250)) {
      const name = pick(['fftn', 'ifftn', 'fft2', 'ifft2', 'rfftn', 'irfftn', 'rfft2', 'irfft2'])
      const t = arranged(random, dtypeFor(random, name), [2, 3, 4, 5, 9], 4)
      if (t.ndim < 2) continue
      const two = name.includes('2')
      const axes =
        next(2) && !two
          ? undefined
          : two && next(2)
            ? undefined
            : shuffle(t.shape.map((_, d) => d - pick([0, t.ndim]))).slice(
                0,
                two ? 2 : 1 + next(t.ndim),
              )
      const count = axes?.length ?? (two ? 2 : t.ndim)
      const s = next(2)
        ? Array.from(
            { length: axes === undefined && !two && next(2) ? Math.max(1, count - 1) : count },
            () => 1 + next(7),
          )
        : undefined
      if (name.startsWith('irfft') && s === undefined && t.shape.at(axes?.at(-1) ?? -1) < 2) {
        continue
      }
      cases.push({ t, name, s, axes, norm: pick(NORMS) })
    }
    askNumpy(cases).forEach((wanted, i) => {
      const { t, name, s, axes, norm } = cases[i]
      const got = math[name](t, { s, axes, norm })
      const what = JSON.stringify({
        name,
        dtype: t.dtype,
        s,
        axes,
        norm,
        shape: t.shape,
        strides: t.strides,
      })
      assertNear(got, wanted, unitOf(got), unitOf(got) * 2 + 4e-15, what)
    })
  })

  it('agree on windows, frequencies and shifts', () => {
    const random = generator(54)
    const { next, pick } = random
    const cases = []
    for (let n = 1; n < 40; n++) {
      for (const periodic of [true, false]) {
        cases.push({ name: 'hann', n, periodic }, { name: 'hamming', n, periodic })
      }
      cases.push({ name: 'fftfreq', n, d: 0.25 }, { name: 'rfftfreq', n, d: 1 / 3 })
      const t = arranged(
        random,
        pick([...FLOATS.slice(0, 3), ...INTEGERS, ...COMPLEX]),
        [1, 2, 5, 8],
        4,
      )
      const axes = pick([undefined, t.shape.map((_, d) => d).filter(() => next(2))])
      if (t.ndim === 0 || axes?.length === 0) {
        assert.ok(arrayEqual(fftshift(t, { axes }), t))
      } // NumPy refuses no axes
      else cases.push({ name: 'fftshift', t, axes }, { name: 'ifftshift', t, axes })
    }
    askNumpy(cases).forEach((wanted, i) => {
      const { name, n, t, axes, d, periodic } = cases[i]
      const got = t
        ? math[name](t, { axes })
        : math[name](n, { dtype: 'float64', ...(d ? { d } : { periodic }) })
      assertNear(
        got,
        wanted,
        t ? 0 : 4e-16,
        t ? 0 : 2e-15,
        JSON.stringify({ name, n, axes, d, shape: t?.shape }),
      )
    })
  })
})

describe('frames beside NumPy', function () {
  needsMath()
  needs('NumPy')

  it('stft and istft agree with their definitions on random signals', () => {
    const random = generator(55)
    const { next, pick } = random
    const cases = Array.from({ length: some(150) }, () => {
      const nFft = pick([4, 7, 8, 16, 25, 32])
      const hopLength = 1 + next(Math.ceil(nFft / 3))
      const winLength = pick([undefined, undefined, nFft, Math.max(1, nFft - 3)])
      const window =
        next(3) === 0
          ? undefined
          : hamming(winLength ?? nFft, pick(['float32', 'float64', 'float16']))
      const t = rand([...pick([[], [2], [2, 3]]), nFft + next(90)], { dtype: 'float64' }).astype(
        pick(['float64', 'float32', 'float16']),
      )
      return {
        name: 'stft',
        t,
        nFft,
        hopLength,
        winLength,
        window,
        center: next(3) > 0,
        padMode: pick(['reflect', 'constant', 'replicate', 'circular']),
        normalized: next(2) === 0,
        onesided: next(4) > 0,
      }
    })
    const backs = []
    askNumpy(cases).forEach((wanted, i) => {
      const { name, t, ...options } = cases[i]
      const got = stft(t, options)
      assertNear(
        got,
        wanted,
        unitOf(got),
        4e-15,
        JSON.stringify({ ...options, window: options.window?.dtype, shape: t.shape }),
      )
      const { padMode, onesided, ...same } = options
      if (onesided && got.shape.at(-1) > 1) {
        backs.push({
          name: 'istft',
          t: got,
          ...same,
          length: pick([undefined, undefined, t.shape.at(-1)]),
          original: t,
        })
      }
    })
    askNumpy(backs.map(({ original, ...rest }) => rest)).forEach((wanted, i) => {
      const { name, t, original, ...options } = backs[i]
      if (wanted.values.some((x) => !Number.isFinite(x))) {
        return fails(() => istft(t, options), TypeError, 'ERR_ARGUMENT', /add up to 0/)
      }
      const got = istft(t, options)
      assertNear(
        got,
        wanted,
        0,
        got.dtype === 'float32' ? 2e-6 : 1e-12,
        JSON.stringify({ ...options, window: options.window?.dtype, shape: t.shape }),
      )
    })
    assert.ok(backs.length > some(80))
  })

  it("mel filters agree with librosa's formula", () => {
    const cases = []
    for (const scale of ['slaney', 'htk']) {
      for (const norm of ['slaney', null]) {
        cases.push(
          { sampleRate: 16000, nFft: 400, nMels: 80, scale, norm },
          { sampleRate: 16000, nFft: 400, nMels: 128, scale, norm },
          { sampleRate: 22050, nFft: 2048, nMels: 40, fMin: 20, fMax: 8000, scale, norm },
          { sampleRate: 8000, nFft: 255, nMels: 3, fMin: 1200, scale, norm },
        )
      }
    }
    askNumpy(cases.map((each) => ({ name: 'melFilterbank', ...each }))).forEach((wanted, i) => {
      assertNear(
        melFilterbank({ ...cases[i], dtype: 'float64' }),
        wanted,
        1e-12,
        1e-13,
        JSON.stringify(cases[i]),
      )
      assertNear(melFilterbank(cases[i]), wanted, 2 ** -23.9, 1e-13, JSON.stringify(cases[i]))
    })
  })

  it("logMelSpectrogram agrees with Whisper's formula within 1e-5", () => {
    const { next } = generator(56)
    const noise = Float64Array.from(
      { length: 16000 },
      (_, i) =>
        ((next(2 ** 20) / 2 ** 20 - 0.5) * (i % 4000)) / 4000 + 0.3 * Math.sin((i * i) / 4e6),
    )
    const quiet = Float64Array.from(noise, (x, i) => (i < 9000 ? 0 : x / 1000))
    const base = {
      name: 'logMelSpectrogram',
      sampleRate: 16000,
      nFft: 400,
      hopLength: 160,
      nMels: 80,
    }
    const cases = [
      { ...base, t: tensor(noise, [16000]).astype('float32') },
      { ...base, nMels: 128, t: tensor(quiet, [16000]) },
      { ...base, t: tensor([...noise, ...quiet], [2, 16000]).astype('float32') },
      { ...base, t: zeros([700]) },
      {
        ...base,
        nFft: 512,
        hopLength: 100,
        sampleRate: 8000,
        t: tensor(noise, [16000]).slice('::-2'),
      },
    ]
    askNumpy(cases).forEach((wanted, i) => {
      const { name, t, ...options } = cases[i]
      const got = logMelSpectrogram(t, i < 4 ? { nMels: options.nMels } : options)
      assert.deepEqual([...got.shape], wanted.shape)
      const values = flat(got)
      wanted.values.forEach((x, k) => {
        if (!(Math.abs(values[k] - x) <= (got.dtype === 'float32' ? 1e-6 : 1e-9))) {
          assert.fail(`case ${i} at ${k}: ${values[k]}, not ${x}`)
        }
      })
    })
  })
})

describe('logMelSpectrogram', () => {
  needsMath()

  it('is what transformers.js gives Whisper, within 1e-5', async function () {
    if (typeof document === 'object') {
      return skip(this, 'in pages transformers.js fetches its own module from the network')
    }
    const { WhisperFeatureExtractor, mel_filter_bank: bank } =
      await import('@huggingface/transformers').catch(() => ({}))
    if (WhisperFeatureExtractor === undefined) {
      return skip(this, '@huggingface/transformers is missing')
    }
    const { next } = generator(57)
    const audio = Float32Array.from({ length: 16000 * 30 }, (_, i) =>
      i < 16000 * 4
        ? ((next(2 ** 20) / 2 ** 20 - 0.5) * (i % 9000)) / 9000 + 0.3 * Math.sin((i * i) / 4e6)
        : 0,
    )
    for (const size of [80, 128]) {
      const extractor = new WhisperFeatureExtractor({
        feature_size: size,
        sampling_rate: 16000,
        n_fft: 400,
        hop_length: 160,
        chunk_length: 30,
        n_samples: 480000,
        nb_max_frames: 3000,
      })
      const { input_features: features } = await extractor(audio)
      const got = logMelSpectrogram(tensor(audio, [1, 480000]), { nMels: size })
      assert.deepEqual([...got.shape], features.dims)
      const values = flat(got)
      assert.ok(
        features.data.every((x, i) => Math.abs(x - values[i]) <= 1e-5),
        `${size} mels`,
      )
      if (bank) {
        const filters = flat(melFilterbank({ nMels: size, dtype: 'float64' }))
        assert.ok(
          bank(201, size, 0, 8000, 16000, 'slaney', 'slaney')
            .flatMap((row) => [...row])
            .every((x, i) => Math.abs(x - filters[i]) < 1e-9),
        )
      }
    }
  })

  it('takes filters, and writes into out of any float', () => {
    const x = rand([2, 900])
    const filters = melFilterbank({ nMels: 7 })
    const wanted = logMelSpectrogram(x, { nMels: 7 })
    assert.ok(arrayEqual(logMelSpectrogram(x, { filters }), wanted))
    for (const out of [
      zeros([2, 7, 5]),
      zeros([5, 2, 7]).permute([1, 2, 0]),
      zeros([2, 7, 5], 'float64'),
      zeros([2, 7, 5], 'float16'),
    ]) {
      assert.equal(logMelSpectrogram(x, { nMels: 7, out }), out)
      const most = { float16: 1e-3, float32: 0, float64: 1e-6 }[out.dtype]
      flat(wanted).forEach((value, i) => assert.ok(Math.abs(flat(out)[i] - value) <= most))
    }
    refusedUnchanged(
      zeros([2, 7, 6]).fill(3),
      () => logMelSpectrogram(x, { nMels: 7, out: zeros([2, 7, 6]).fill(3) }),
      'ERR_SHAPE',
    )
    assert.equal(logMelSpectrogram(x, { filters: zeros([0, 201]) }).size, 0)
    fails(() => logMelSpectrogram(x, { filters: ones([7, 200]) }), RangeError, 'ERR_SHAPE', /201/)
    fails(() => logMelSpectrogram(x, { filters, nMels: 8 }), RangeError, 'ERR_SHAPE', /7 rows/)
    fails(() => logMelSpectrogram(zeros([150])), RangeError, 'ERR_SHAPE', /150 elements/)
    fails(() => logMelSpectrogram(zeros([900], 'complex64')), TypeError, 'ERR_DTYPE', /complex64/)
  })
})

describe('transforms', () => {
  restoresLimit(budget)
  needsMath()

  it('are exact where numbers are', () => {
    for (const n of [2, 4, 8, 16, 64, 256, 1024, 4096]) {
      const one = zeros([n], 'float64')
      one.set(1, 0)
      assert.ok(
        fft(one)
          .toArray()
          .every(([re, im]) => re === 1 && im === 0),
        `${n}`,
      )
      assert.deepEqual([...flat(rfft(ones([n])))].map(Math.abs), [n, ...Array(n + 1).fill(0)])
    }
    assert.deepEqual(
      fft(
        tensor([
          [1, 2],
          [3, 4],
        ]),
        { axis: 0 },
      ).toArray(),
      [
        [
          [4, 0],
          [6, 0],
        ],
        [
          [-2, 0],
          [-2, 0],
        ],
      ],
    )
  })

  it('are of infinities and NaN all NaN, canonical', () => {
    for (const bad of [NaN, Infinity, -Infinity]) {
      for (const n of [5, 8, 37, 512]) {
        const x = ones([n], 'float64')
        x.set(bad, 1)
        const bits = new BigUint64Array(fft(x).bytes.slice().buffer)
        assert.ok(flat(fft(x)).some(Number.isNaN))
        assert.ok(
          [...flat(fft(x))].every(
            (value, i) => !Number.isNaN(value) || bits[i] === 0x7ff8000000000000n,
          ),
        )
      }
    }
  })

  it('along several axes, and istft, are rounded once: what they are in float64', async () => {
    const single = (t) =>
      t.astype(t.dtype.startsWith('complex') ? 'complex64' : 'float32', { casting: 'same_kind' })
    for (const shape of [
      [20, 33],
      [3, 16, 25],
      [5, 7, 6, 10],
    ]) {
      const real = rand(shape)
      const spectrum = fft(rand(shape))
      for (const [name, x] of [
        ['fftn', real],
        ['ifftn', spectrum],
        ['fft2', spectrum],
        ['ifft2', real],
        ['rfftn', real],
        ['rfft2', real],
        ['irfftn', spectrum],
        ['irfft2', spectrum],
      ]) {
        const wide = x.astype(x === real ? 'float64' : 'complex128')
        for (const opts of [{}, { norm: 'ortho' }, { s: [8, 12], axes: [-1, 0] }]) {
          const wanted = hex(single(math[name](wide, opts)))
          assert.equal(hex(math[name](x, opts)), wanted, name)
          assert.equal(hex(await math[`${name}Async`](x, opts)), wanted, name)
          const out = zeros(math[name](x, opts).shape, math[name](x, opts).dtype)
          assert.equal(hex(math[name](x, { ...opts, out })), wanted, name)
        }
      }
    }
    const frames = stft(rand([900]), { nFft: 64 })
    const wanted = hex(single(istft(frames.astype('complex128'))))
    assert.equal(hex(istft(frames)), wanted)
    assert.equal(hex(istft(frames, { out: zeros([896]), casting: 'safe' })), wanted)
    assert.equal(hex(await math.istftAsync(frames)), wanted)
    const out = zeros([896], 'float16')
    refusedUnchanged(out, () => istft(frames, { out, casting: 'safe' }), 'ERR_CAST')
  })

  it('of a line are the same bits alone, in any batch, and in any layout', () => {
    const { next } = generator(58)
    for (const n of [6, 37, 100, 256, 300, 1024]) {
      const t = tensor(
        Float32Array.from({ length: 27 * n }, () => next(2 ** 20) / 2 ** 19 - 1),
        [27, n],
      )
      const wanted = rfft(t)
      for (const i of [0, 9, 26]) assert.equal(hex(rfft(t.select(0, i))), hex(wanted.select(0, i)))
      assert.equal(hex(rfft(t.T.contiguous(), { axis: 0 }).T), hex(wanted))
      assert.equal(
        hex(rfft(t.slice('::-1', '::-1').contiguous().slice('::-1', '::-1'))),
        hex(wanted),
      )
      assert.equal(hex(rfft(t.slice('3:12'))), hex(wanted.slice('3:12')))
    }
  })

  it('write into out: transposed, of another dtype, x itself, and overlapping it', () => {
    const { next } = generator(59)
    for (const n of [5, 16, 300]) {
      const x = tensor(
        Float64Array.from({ length: 6 * n }, () => next(2 ** 20) / 2 ** 19 - 1),
        [3, n, 2],
      )
        .view('complex128')
        .squeeze(-1)
      const wanted = fft(x)
      const out = zeros([n, 3], 'complex128').T
      assert.equal(fft(x, { out }), out)
      assert.equal(hex(out), hex(wanted))
      assert.equal(
        hex(fft(x, { out: zeros([3, n], 'complex64') })),
        hex(wanted.astype('complex64')),
      )
      assert.equal(hex(fft(x, 'complex64')), hex(wanted.astype('complex64')))
      const before = memory().staged.bytes
      const own = x.clone()
      fft(own, { out: own })
      assert.equal(hex(own), hex(wanted))
      assert.equal(memory().staged.bytes, before)
      const room = zeros([4, n], 'complex128')
      room.slice('1:').copyFrom(x)
      fft(room.slice('1:'), { out: room.slice(':3') })
      assert.equal(hex(room.slice(':3')), hex(wanted))
      assert.equal(memory().staged.bytes - before, 3 * n * 16)
    }
    const line = rand([8], { dtype: 'float64' })
    assert.equal(
      hex(irfft(rfft(line), { out: zeros([8]) })),
      hex(irfft(rfft(line)).astype('float32')),
    )
  })

  it('of contiguous operands copy nothing', () => {
    const x = rand([20, 100])
    const out = zeros([20, 51], 'complex64')
    const rows = () => [
      rfft(x, { out }),
      fft(x, { out: zeros([20, 100], 'complex64') }),
      stft(x, { nFft: 10, center: false, window: hann(10), hopLength: 10 }),
    ]
    const before = memory().staged.bytes
    assert.deepEqual(copied(rows).copies, {})
    assert.equal(memory().staged.bytes, before)
  })

  it('leave nothing behind, also after failures', () => {
    const x = rand([3, 64])
    const all = () => {
      irfftn(rfftn(x))
      istft(stft(x, { nFft: 16, window: hann(12), winLength: 12 }), {
        window: hann(12),
        winLength: 12,
      })
      logMelSpectrogram(x, { nFft: 16, hopLength: 4, nMels: 3 })
      assert.throws(
        () =>
          istft(stft(x, { nFft: 16, hopLength: 16 }), {
            hopLength: 17,
            nFft: 16,
            window: zeros([16]),
          }),
        { code: 'ERR_ARGUMENT' },
      )
      assert.throws(() => irfftn(x, { s: [3, 0] }), { code: 'ERR_BOUNDS' })
    }
    tidy(all)
    leavesNothing(() => tidy(all))
  })

  it('have no elements to transform, or one', () => {
    assert.deepEqual([...fft(zeros([0, 4])).shape], [0, 4])
    for (const n of [2 ** 40 - 87, 2 ** 48]) {
      assert.deepEqual([...rfft(zeros([0, 4]), { n }).shape], [0, Math.floor(n / 2) + 1])
    }
    assert.deepEqual(fft(zeros([2, 0]), { n: 2 }).toArray(), [
      [
        [0, 0],
        [0, 0],
      ],
      [
        [0, 0],
        [0, 0],
      ],
    ])
    assert.deepEqual(fft(tensor([3])).toArray(), [[3, 0]])
    assert.deepEqual(irfft(tensor([3]), { n: 1 }).toArray(), [3])
    assert.deepEqual(fft2(zeros([2, 0]), { s: [2, 1] }).toArray(), [[[0, 0]], [[0, 0]]])
    for (const fn of [fft, ifft, rfft, ihfft]) {
      fails(() => fn(zeros([2, 0])), RangeError, 'ERR_SHAPE', /0 elements/)
    }
    for (const fn of [irfft, hfft]) {
      fails(() => fn(zeros([2, 1])), RangeError, 'ERR_SHAPE', /1 elements/)
    }
    assert.deepEqual([...fftshift(zeros([0, 3])).shape], [0, 3])
    assert.equal(fftshift(zeros([...Array(50).fill(2), 0])).size, 0)
  })

  it('exchanges the halves of as many axes as there may be, and nothing beside them', () => {
    const others = Array.from({ length: 100 }, (_, i) => zeros([1000]).fill(i))
    const x = arange(6).reshape([2, ...Array(61).fill(1), 3])
    assert.deepEqual(fftshift(x).reshape([6]).toArray(), [5, 3, 4, 2, 0, 1])
    assert.deepEqual(ifftshift(fftshift(x.flip())).reshape([6]).toArray(), [5, 4, 3, 2, 1, 0])
    assert.ok(others.every((t, i) => t.toArray().every((value) => value === i)))
  })

  it('add up no frames that are too far apart for any memory', () => {
    const out = zeros([1]).fill(7)
    for (const options of [
      { nFft: 1, center: false },
      { nFft: 1, length: 1 },
    ]) {
      refusedUnchanged(
        out,
        () =>
          istft(zeros([1, 2 ** 16 + 1], 'complex64'), {
            ...options,
            hopLength: 2 ** 48,
            length: 1,
            out,
          }),
        'ERR_MEMORY',
      )
    }
    refusedUnchanged(
      out,
      () => istft(zeros([2, 2 ** 16 + 1], 'complex64'), { hopLength: 2 ** 48, length: 1, out }),
      'ERR_MEMORY',
    )
  })

  it('refuse what they are not for, and leave out as it was', () => {
    const x = tensor([1, 2, 3, 4])
    const out = zeros([4], 'complex64').fill(7)
    refusedUnchanged(out, () => fft(zeros([5]), { out }), 'ERR_SHAPE')
    refusedUnchanged(out, () => fft(x, { out, n: 3 }), 'ERR_SHAPE')
    refusedUnchanged(
      out,
      () => irfft(x, { n: 4, out, casting: 'safe', dtype: 'float64' }),
      'ERR_CAST',
    )
    refusedUnchanged(out, () => fft(x, { out, norm: 'none' }), 'ERR_ARGUMENT')
    refusedUnchanged(out, () => fft(zeros([4], 'bool'), { out }), 'ERR_DTYPE')
    refusedUnchanged(out, () => stft(x, { nFft: 4, out }), 'ERR_SHAPE')
    const real = zeros([4]).fill(7)
    refusedUnchanged(real, () => fft(x, { out: real }), 'ERR_CAST')
    for (const fn of [rfft, ihfft]) {
      fails(() => fn(zeros([4], 'complex64')), TypeError, 'ERR_DTYPE', /complex64/)
    }
    for (const fn of [fft, rfft]) {
      fails(() => fn(x, 'float32'), TypeError, 'ERR_DTYPE', /complex64 or complex128/)
    }
    fails(() => irfft(x, 'complex64'), TypeError, 'ERR_DTYPE', /float32 or float64/)
    fails(() => fft(zeros([4], 'float8_e5m2')), TypeError, 'ERR_DTYPE', /astype/)
    fails(() => fft(x, 8), TypeError, 'ERR_ARGUMENT', /\{ n: 8 \}/)
    fails(() => fft(tensor(1)), RangeError, 'ERR_BOUNDS', /0 axes/)
    fails(() => fftn(x, { s: [2, 2] }), RangeError, 'ERR_BOUNDS')
    fails(() => fftn(zeros([2, 2]), { s: [2], axes: [0, 1] }), RangeError, 'ERR_SHAPE', /2 axes/)
    fails(() => fftn(zeros([2, 2]), { axes: [0, -2] }), RangeError, 'ERR_BOUNDS', /repeats/)
    fails(() => fftn(tensor(1)), RangeError, 'ERR_SHAPE', /no axis/)
    fails(() => fftshift(x, { out: zeros([4], 'float64') }), TypeError, 'ERR_DTYPE', /float32/)
    fails(() => stft(x), TypeError, 'ERR_ARGUMENT', /nFft/)
    fails(
      () => stft(x, { nFft: 8, center: false }),
      RangeError,
      'ERR_SHAPE',
      /4 elements; a frame has 8/,
    )
    fails(() => stft(x, { nFft: 8 }), RangeError, 'ERR_SHAPE', /cannot be padded/)
    fails(() => stft(x, { nFft: 4, window: ones([3]) }), RangeError, 'ERR_SHAPE', /one axis of 4/)
    fails(
      () => stft(x, { nFft: 4, window: 'hann' }),
      TypeError,
      'ERR_ARGUMENT',
      /a tensor was expected, as hann/,
    )
    fails(() => stft(x, { nFft: 4, winLength: 5 }), RangeError, 'ERR_SHAPE', /winLength is 5/)
    fails(
      () => stft(x, { nFft: 4, window: ones([4], 'complex64') }),
      TypeError,
      'ERR_DTYPE',
      /window/,
    )
    fails(
      () => istft(zeros([3, 2], 'complex64'), { nFft: 6 }),
      RangeError,
      'ERR_SHAPE',
      /4 were expected/,
    )
    fails(() => melFilterbank({ fMin: 9000 }), TypeError, 'ERR_ARGUMENT', /fMin/)
    fails(() => hann(4, 'int32'), TypeError, 'ERR_DTYPE', /float/)
    const sealed = fromBlob(new Float32Array(8), [4], { dtype: 'complex64', readOnly: true })
    refusedUnchanged(sealed, () => fft(x, { out: sealed }), 'ERR_READ_ONLY')
  })

  it('refuses frames that are longer than the signal before it makes a window of them', () => {
    const x = zeros([2000])
    setMemoryLimit(2 ** 27)
    fails(() => stft(x, { nFft: 2 ** 25, center: false }), RangeError, 'ERR_SHAPE')
  })

  it('shifts in place', () => {
    const t = tensor([0, 1, 2, 3, 4])
    fftshift(t, { out: t })
    assert.deepEqual(t.toArray(), [3, 4, 0, 1, 2])
    ifftshift(t, { out: t })
    assert.deepEqual(t.toArray(), [0, 1, 2, 3, 4])
    assert.deepEqual(
      fftshift(
        tensor([
          [true, false],
          [true, true],
        ]),
        { axes: 1 },
      ).toArray(),
      [
        [false, true],
        [true, true],
      ],
    )
  })

  it('gives the same asynchronously', async () => {
    const x = rand([3, 600], { shared: true })
    for (const y of [x, x.clone()]) {
      assert.ok(arrayEqual(await math.rfftAsync(y), rfft(y)))
      assert.ok(arrayEqual(await math.irfftnAsync(y), irfftn(y)))
      assert.ok(arrayEqual(await math.ifftnAsync(y), ifftn(y)))
      assert.ok(
        arrayEqual(
          await math.stftAsync(y, { nFft: 32, window: hann(32) }),
          stft(y, { nFft: 32, window: hann(32) }),
        ),
      )
      assert.ok(
        arrayEqual(
          await math.logMelSpectrogramAsync(y, { nMels: 8 }),
          logMelSpectrogram(y, { nMels: 8 }),
        ),
      )
      assert.ok(arrayEqual(await math.fftshiftAsync(y), fftshift(y)))
    }
    assert.ok(arrayEqual(await math.hammingAsync(9), hamming(9)))
    assert.ok(arrayEqual(await math.melFilterbankAsync(), melFilterbank()))
    assert.deepEqual((await math.rfftfreqAsync(4)).toArray(), rfftfreq(4).toArray())
    assert.deepEqual(fftfreq(4).toArray(), [0, 0.25, -0.5, -0.25])
    assert.deepEqual(hfft(ihfft(tensor([1, 2, 3, 4]))).toArray(), [1, 2, 3, 4])
  })
})
