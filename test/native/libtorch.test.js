'use strict'
const assert = require('node:assert/strict')
const samebytes = require('samebytes')
const {
  childJson,
  collectUntil,
  copied,
  fails,
  growth,
  nativeOnly,
  refuses,
  skip,
  skipWithout,
} = require('../setup')
const { TORCH_ADDONS } = require('../tools')

const { arange, dtypes, empty, flush, fromBlob, full, memory, ones, tensor, zeros } = samebytes

const [BLOBS, ODD] = TORCH_ADDONS
const sanitized = process.env.SAMEBYTES_SANITIZED === '1'

const NAMES = {
  bool: 'Bool',
  uint8: 'Byte',
  int8: 'Char',
  int16: 'Short',
  int32: 'Int',
  int64: 'Long',
  float16: 'Half',
  bfloat16: 'BFloat16',
  float32: 'Float',
  float64: 'Double',
  complex64: 'ComplexFloat',
  complex128: 'ComplexDouble',
}
/** what later versions of LibTorch have */
const LATER = {
  uint16: 'UInt16',
  uint32: 'UInt32',
  uint64: 'UInt64',
  float8_e4m3fn: 'Float8_e4m3fn',
  float8_e5m2: 'Float8_e5m2',
}

describe('LibTorch', function () {
  nativeOnly()
  let torch
  let odd

  before(function () {
    skipWithout(this, 'an addon with LibTorch')
    torch = require(BLOBS)
    odd = require(ODD)
    torch.open(samebytes)
    odd.open(samebytes)
  })

  afterEach(() => {
    odd?.release()
    assert.equal(memory().exported, 0)
  })

  /** What LibTorch says of a tensor. */
  function seen(t) {
    const [dtype, address, offset, numel, ndim, ...layout] = odd.describe(t)
    return {
      dtype,
      address,
      offset,
      numel,
      shape: layout.slice(0, ndim),
      strides: layout.slice(ndim),
    }
  }

  describe('sees', () => {
    for (const dtype of dtypes) {
      it(`a ${dtype} tensor where it is, or has no such dtype`, () => {
        const t = empty([2, 3], dtype)
        let what
        try {
          what = seen(t)
        } catch (error) {
          assert.ok(dtype in LATER, dtype)
          assert.equal(error.code, 'ERR_DTYPE')
          assert.match(error.message, new RegExp(dtype))
          return
        }
        assert.deepEqual(what, {
          dtype: NAMES[dtype] ?? LATER[dtype],
          address: Number(t.dataPtr),
          offset: 0,
          numel: 6,
          shape: [2, 3],
          strides: [3, 1],
        })
        assert.equal(torch.same(t).dtype, dtype)
      })
    }

    it('strides, offsets, scalars and nothing', () => {
      const t = arange(24).reshape(2, 3, 4)
      const view = t.slice(':', '1:', '::2').permute([2, 0, 1])
      const what = seen(view)
      assert.deepEqual(
        [what.shape, what.strides, what.address],
        [view.shape, view.strides, Number(view.dataPtr)],
      )
      assert.deepEqual(seen(ones([3]).expand([2, 3])).strides, [0, 1])
      assert.deepEqual([seen(tensor(5)).shape, seen(tensor(5)).numel], [[], 1])
      assert.deepEqual([seen(zeros([0, 3])).shape, seen(zeros([0, 3])).numel], [[0, 3], 0])
    })
  })

  describe('and back', () => {
    for (const dtype of ['float32', 'int64', 'uint8', 'complex128']) {
      it(`is the same ${dtype} bytes: views, scalars, nothing`, () => {
        const t = tensor([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], [3, 4], {
          dtype,
          casting: 'unsafe',
        })
        for (const view of [
          t,
          t.T,
          t.slice('1:', '::2'),
          t.select(0, 1),
          t.select(0, 1).select(0, 2),
          t.slice('1:1'),
        ]) {
          const { result, copies } = copied(() => torch.same(view))
          assert.deepEqual(copies, {})
          assert.deepEqual(
            [result.shape, result.dtype, result.dataPtr],
            [view.shape, dtype, view.dataPtr],
          )
          assert.deepEqual(result.toArray(), view.toArray())
          if (view.size > 1) assert.deepEqual(result.strides, view.strides)
          result.dispose()
        }
        const same = torch.same(t)
        same.set(dtype === 'int64' ? 99n : dtype === 'complex128' ? [99, 1] : 99, 0, 0)
        assert.deepEqual(t.get(0, 0), same.get(0, 0))
        t.fill(dtype === 'int64' ? 5n : 5)
        assert.deepEqual(same.get(2, 3), t.get(2, 3))
      })
    }

    it('is the same storage: data is the same buffer', () => {
      const t = ones([4])
      assert.equal(torch.same(t).data.buffer, t.data.buffer)
    })

    it('gives what LibTorch made: scalars, nothing, parts, repeated elements', () => {
      assert.equal(odd.make('scalar').item(), 2.5)
      assert.deepEqual(odd.make('empty').shape, [0, 3])
      assert.deepEqual(
        [odd.make('part').shape, odd.make('part').strides, odd.make('part').dtype],
        [[2, 3], [5, 1], 'int64'],
      )
      assert.deepEqual(odd.make('expanded').strides, [0, 1])
      assert.deepEqual(odd.make('conjugate resolved').toArray(), [
        [1, -0],
        [1, -0],
      ])
    })
  })

  describe('assigns a blob to an output', () => {
    it('by a copy', () => {
      const output = zeros([2, 3])
      const blob = tensor([1, 2, 3, 4, 5, 6], [2, 3])
      const { copies } = copied(() => torch.assign(output, blob))
      assert.deepEqual(copies, {})
      assert.deepEqual(output.toArray(), [
        [1, 2, 3],
        [4, 5, 6],
      ])
    })

    it('by a copy through views of both', () => {
      const output = zeros([3, 4])
      torch.assign(output.slice(':', '::2').T, tensor([1, 2, 3, 4, 5, 6], [3, 2]).T)
      assert.deepEqual(output.toArray(), [
        [1, 0, 2, 0],
        [3, 0, 4, 0],
        [5, 0, 6, 0],
      ])
    })

    it('casts, broadcasts, and takes read-only blobs', () => {
      const output = zeros([2, 2], 'int32')
      torch.assign(output, fromBlob(Float32Array.of(1.5, 2), { readOnly: true }))
      assert.deepEqual(output.toArray(), [
        [1, 2],
        [1, 2],
      ])
    })

    it('without any copy: from_blob of a vector, alive as long as it is looked at', async () => {
      const native = memory().storages
      const { result, copies } = copied(() => torch.blob(1000))
      assert.deepEqual(copies, {})
      assert.equal(result.get(999), 999)
      let part = torch.transposed(result.reshape(10, 100))
      assert.equal(seen(part).address, Number(result.dataPtr))
      part.set(7, 0, 0)
      assert.equal(result.get(0), 7)
      result.dispose()
      gc()
      await flush()
      assert.equal(part.get(99, 9), 999)
      part.dispose()
      part = null
      assert.ok(await collectUntil(() => memory().storages <= native))
    })
  })

  it('writes a layer into an output that was made beforehand', () => {
    const input = tensor([1, 2, 3, 4], [2, 2])
    const weight = tensor([1, 0, 0, -1, 1, 1], [3, 2])
    const bias = tensor([0, 0, 1])
    const output = zeros([2, 3])
    const address = output.dataPtr
    const { copies } = copied(() => torch.layer(input, weight, bias, output))
    assert.deepEqual(copies, {})
    assert.deepEqual(output.toArray(), [
      [1, 0, 4],
      [3, 0, 8],
    ])
    assert.equal(output.dataPtr, address)
    const wide = zeros([2, 6])
    torch.layer(input, weight, bias, wide.slice(':', '::2'))
    assert.deepEqual(wide.toArray(), [
      [1, 0, 0, 0, 4, 0],
      [3, 0, 0, 0, 8, 0],
    ])
    fails(() => torch.layer(input, weight, bias, zeros([2, 2])), RangeError, 'ERR_SHAPE')
  })

  it('keeps bytes past dispose and collection, and may drop them on a thread of its own', async () => {
    const t = full([1000], 2)
    odd.hold(t)
    odd.hold(t.slice(':10'))
    odd.hold(full([10], 3, { shared: true }))
    t.dispose()
    gc()
    await flush()
    for (let i = 0; i < 200; i++) full([1000], 9)
    assert.equal(memory().exported, 3)
    assert.equal(odd.sum(), 2050)
    odd.releaseElsewhere()
    assert.equal(memory().exported, 0)
  })

  describe('has no counterpart, and says so', () => {
    const kinds = {
      undefined: ['ERR_ARGUMENT', /undefined/],
      sparse: ['ERR_UNSUPPORTED', /to_dense\(\)/],
      quantised: ['ERR_UNSUPPORTED', /dequantize\(\)/],
      conjugated: ['ERR_UNSUPPORTED', /resolve_conj\(\)/],
      negated: ['ERR_UNSUPPORTED', /resolve_neg\(\)/],
      'requires grad': ['ERR_UNSUPPORTED', /detach\(\)/],
      meta: ['ERR_DEVICE', /not on the CPU/],
      'complex half': ['ERR_DTYPE', /ComplexHalf/],
      'many axes': ['ERR_SHAPE', /64 axes/],
    }
    for (const [kind, [code, message]] of Object.entries(kinds)) {
      it(`for ${kind}`, () => assert.match(refuses(() => odd.make(kind), code).message, message))
    }

    it('for strides that walk back', () => {
      assert.match(
        refuses(() => torch.same(arange(4).flip(0)), 'ERR_UNSUPPORTED').message,
        /contiguous\(\)/,
      )
    })

    it('for read-only tensors that it would write to', () => {
      const t = fromBlob(new Float32Array(2), [2], { readOnly: true })
      refuses(() => odd.write(t), 'ERR_READ_ONLY')
      assert.equal(seen(t).numel, 2)
      assert.equal(odd.readOnly(t).isReadOnly, true)
      assert.equal(torch.same(ones([2])).isReadOnly, false)
    })

    it('for what is no tensor, or no more', () => {
      const t = ones([2])
      t.dispose()
      refuses(() => torch.same(t), 'ERR_DISPOSED')
      refuses(() => torch.same([1]), 'ERR_ARGUMENT')
      assert.throws(() => odd.fails(), { code: 'ERR_TORCH', message: /shape '\[3\]' is invalid/ })
    })
  })

  it('goes there and back 100,000 times without growing', async function () {
    if (sanitized) return skip(this, "a sanitizer's own memory grows")
    const { grown, exported } = await growth(
      `
      const torch = require(${JSON.stringify(BLOBS)})
      torch.open(samebytes)
      const t = samebytes.ones([16])`,
      'torch.same(t).dispose(); if (i % 10 === 0) torch.blob(64).dispose()',
    )
    assert.equal(exported, 0)
    assert.ok(grown < 16 * 2 ** 20, `grew by ${grown} bytes`)
  })

  it('is told where it gives a tensor before samebytes is open', async () => {
    const said = await childJson(`
      const torch = require(${JSON.stringify(BLOBS)})
      try { torch.blob(3) } catch ({ code, message }) { console.log(JSON.stringify([code, message])) }
    `)
    assert.deepEqual(said, [
      'ERR_ARGUMENT',
      'samebytes is not open: sb_napi_open comes before this',
    ])
  })

  it('works on workers that end while it holds tensors', async () => {
    const codes = await childJson(
      `
      const { Worker } = require('node:worker_threads')
      const run = () => new Promise((resolve, reject) => {
        new Worker(${JSON.stringify(`
          const samebytes = require('samebytes')
          const odd = require(${JSON.stringify(ODD)})
          odd.open(samebytes)
          for (let i = 0; i < 300; i++) odd.hold(samebytes.full([i + 1], i, i % 2 ? { shared: true } : {}))
          if (odd.make('part').size !== 6) throw new Error('wrong')
        `)}, { eval: true }).on('error', reject).on('exit', resolve)
      })
      Promise.all([run(), run(), run()]).then(codes => console.log(JSON.stringify(codes)))
    `,
      { env: { SAMEBYTES_BACKEND: 'native' } },
    )
    assert.deepEqual(codes, [0, 0, 0])
  })
})
