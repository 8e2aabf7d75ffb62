'use strict'
// Tensors on cuda:0 beside the same on the CPU.
const assert = require('node:assert/strict')
const {
  Generator,
  allClose,
  arange,
  arrayEqual,
  asarray,
  canCast,
  concat,
  dtypes,
  emptyLike,
  empty,
  emptyStrided,
  eye,
  fromBytes,
  full,
  fullLike,
  fullStrided,
  linspace,
  manualSeed,
  memory,
  ones,
  onesLike,
  onesStrided,
  rand,
  randLike,
  randStrided,
  randint,
  randintLike,
  randn,
  scalarTensor,
  setMemoryLimit,
  sharesMemory,
  stack,
  tensor,
  tidy,
  zeros,
  zerosLike,
  zerosStrided,
} = require('samebytes')
const {
  collectUntil,
  copied,
  fails,
  generator,
  hex,
  leavesNothing,
  refuses,
  restoresLimit,
} = require('../setup')
const { budget } = require('../../js/backend/storage')
const ffi = require('../../js/backend/calls')
const fileCalls = require('../../js/backend/file-calls')
const { Tensor } = require('../../js/tensor/tensor')
const { twoDevices } = require('./device')

const device = 'cuda:0'

describe('tensors on a device', () => {
  restoresLimit(budget)
  const like = arange(6).reshape(2, 3).to('float32')
  const bytes = new Uint8Array(24).map((_, i) => i)
  const seeded = () => ({ generator: new Generator(7) })
  const MAKERS = {
    zeros: (o) => zeros([2, 3], o),
    ones: (o) => ones([2, 3], { dtype: 'int16', ...o }),
    full: (o) => full([2, 3], 7n, o),
    'full of a pair': (o) => full([2], [1, -1], o),
    scalarTensor: (o) => scalarTensor(1.5, o),
    'tensor of lists': (o) =>
      tensor(
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
        o,
      ),
    'tensor of a typed array': (o) => tensor(new Float64Array([1, 2, 3, 4, 5, 6]), [3, 2], o),
    'tensor of a tensor': (o) => tensor(like, { dtype: 'float64', ...o }),
    'tensor of a view in another shape': (o) => tensor(like.T, [6], o),
    'tensor with order F': (o) =>
      tensor(
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
        { order: 'F', ...o },
      ),
    fromBytes: (o) => fromBytes(bytes, [2, 3], { dtype: 'float32', ...o }),
    arange: (o) => arange(2, 20, 3, o),
    linspace: (o) => linspace(0, 1, 7, o),
    eye: (o) => eye(3, 4, { k: 1, ...o }),
    'asarray of a list': (o) => asarray([1, 2], o),
    'asarray of a typed array': (o) => asarray(new Int8Array([1, 2]), o),
    'asarray of bytes': (o) => asarray(new DataView(new ArrayBuffer(8)), { dtype: 'int32', ...o }),
    zerosLike: (o) => zerosLike(like.T, o),
    onesLike: (o) => onesLike(like, o),
    fullLike: (o) => fullLike(like, 3, o),
    zerosStrided: (o) => zerosStrided([2, 3], [1, 2], o),
    onesStrided: (o) => onesStrided([2, 3], [1, 2], o),
    fullStrided: (o) => fullStrided([2, 3], [3, 1], true, o),
    rand: (o) => rand([3, 5], { ...seeded(), ...o }),
    'rand float64': (o) => rand([7], { dtype: 'float64', ...seeded(), ...o }),
    randLike: (o) => randLike(like.T, { ...seeded(), ...o }),
    randStrided: (o) => randStrided([2, 3], [1, 2], { ...seeded(), ...o }),
    randn: (o) => randn([33], { ...seeded(), ...o }),
    'randn bfloat16': (o) => randn([9], { dtype: 'bfloat16', ...seeded(), ...o }),
    randint: (o) => randint(-5, 100, [11], { ...seeded(), ...o }),
    'randint int64': (o) => randint(0n, 2n ** 62n, [11], { ...seeded(), ...o }),
    randintLike: (o) => randintLike(zeros([4], 'uint8'), 0, 200, { ...seeded(), ...o }),
  }

  for (const [name, make] of Object.entries(MAKERS)) {
    it(`${name}: the same elements, dtype and strides as on the CPU`, () => {
      const here = make({})
      const there = make({ device })
      assert.equal(there.device, device)
      assert.equal(there.location, 'gpu-buffer')
      for (const key of [
        'dtype',
        'shape',
        'strides',
        'offset',
        'size',
        'dynamism',
        'dimOrder',
        'capacity',
      ]) {
        assert.deepEqual(there[key], here[key], key)
      }
      assert.equal(hex(there.cpu()), hex(here), 'the same bits')
      assert.deepEqual(there.toArray(), here.toArray())
    })
  }

  it("'cuda' is the first device, and empty ones have no bytes", () => {
    assert.equal(zeros([2], { device: 'cuda' }).device, device)
    for (const t of [zeros([0], { device }), empty([2, 0, 3], { device, dtype: 'int8' })]) {
      assert.equal(t.device, device)
      assert.deepEqual([t.size, t.nbytes, t.dataPtr], [0, 0, 0n])
      assert.deepEqual(t.cpu().toArray(), t.toArray())
    }
    assert.equal(empty([2, 3], { device }).device, device)
    assert.equal(emptyLike(zeros([2]), { device }).device, device)
    assert.equal(emptyStrided([2], [3], { device }).device, device)
  })

  it('say which devices are not there', () => {
    for (const wrong of ['cuda:99', 'cuda:4294967296', 'cuda:99999999999999999999']) {
      fails(() => zeros([2], { device: wrong }), Error, 'ERR_DEVICE', /'cpu' is there/)
    }
    for (const wrong of ['gpu', 'cuda:', 'cuda:-1', 'CUDA', 0, null, {}]) {
      refuses(() => zeros([2], { device: wrong }), 'ERR_DEVICE')
    }
    fails(() => zeros([2], { device, pinMemory: true }), TypeError, 'ERR_ARGUMENT', /pinMemory/)
    fails(() => zeros([2], { device, shared: 'sab' }), TypeError, 'ERR_ARGUMENT', /sab/)
    fails(() => zeros([2], { device, shared: 'yes' }), TypeError, 'ERR_ARGUMENT', /shared/)
  })

  it('go by to, cuda and cpu, each itself where nothing changes', () => {
    const here = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    const there = here.to(device)
    assert.deepEqual(there.toArray(), here.toArray())
    for (const same of [
      there.to(device),
      there.to('cuda'),
      there.cuda(),
      there.cuda(0),
      there.to('float32'),
      there.to({ device }),
    ]) {
      assert.equal(same, there)
    }
    for (const same of [here.cpu(), here.to('cpu')]) assert.equal(same, here)
    const { result: back, copies } = copied(() => there.cpu())
    assert.deepEqual(copies, { to: { count: 1, bytes: 24 } })
    assert.deepEqual([back.device, back.data[5]], ['cpu', 6])
    there.fill(9)
    assert.equal(back.data[5], 6, 'a copy')
    const other = there.to('cuda', { copy: true })
    assert.equal(sharesMemory(other, there), false)
    assert.deepEqual(there.to('cpu', { dtype: 'int8', casting: 'unsafe' }).dtype, 'int8')
    assert.deepEqual(
      [
        here.to({ device, dtype: 'float16' }).dtype,
        here.to({ device, dtype: 'float16' }).toArray(),
      ],
      ['float16', here.toArray()],
    )
    refuses(() => here.to(device, { dtype: 'int8' }), 'ERR_CAST')
  })

  it('keep dim order and dynamism on their way', () => {
    const here = empty([2, 3], { order: 'F', dynamism: 'unbound' }).copyFrom([
      [1, 2, 3],
      [4, 5, 6],
    ])
    const there = here.cuda()
    assert.deepEqual([there.strides, there.dynamism, there.dimOrder], [[1, 2], 'unbound', [1, 0]])
    assert.deepEqual([there.cpu().strides, there.cpu().dynamism], [[1, 2], 'unbound'])
  })

  it('come back by promises as well', async () => {
    const here = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    const there = await here.cudaAsync()
    assert.equal(there.device, device)
    assert.equal(await there.toAsync(device), there)
    const half = await there.T.toAsync('cpu', { dtype: 'float16' })
    assert.deepEqual(
      [half.device, half.toArray()],
      [
        'cpu',
        [
          [1, 4],
          [2, 5],
          [3, 6],
        ],
      ],
    )
    assert.deepEqual((await there.cpuAsync()).toArray(), here.toArray())
    const large = arange(3 << 20)
    assert.equal(
      arrayEqual(await (await large.cudaAsync()).cpuAsync(), large),
      true,
      'in several pieces',
    )
    assert.equal(memory().inFlight, 0)
    await assert.rejects(there.toAsync('cpu', { dtype: 'int8' }), { code: 'ERR_CAST' })
  })

  it('are busy while a copy is under way', async () => {
    const there = zeros([4], { device })
    const pending = there.copyFromAsync(tensor([1, 2, 3, 4]))
    refuses(() => there.fill(1), 'ERR_BUSY')
    await assert.rejects(zeros([4]).copyFromAsync(there), { code: 'ERR_BUSY' })
    there.dispose()
    await pending
    assert.equal(memory().inFlight, 0)
  })

  it('a copy that was given up rejects with the reason', async () => {
    const aborted = AbortSignal.abort(new Error('no more'))
    await assert.rejects(
      zeros([4], { device }).copyFromAsync(ones([4]), { signal: aborted }),
      /no more/,
    )
    const controller = new AbortController()
    const target = zeros([6 << 20], { device })
    const pending = target.copyFromAsync(ones([6 << 20]), { signal: controller.signal })
    controller.abort(new Error('stop'))
    await assert.rejects(pending, /stop/)
    assert.equal(target.fill(2).get(5), 2, 'free again')
  })

  it('have no data, and say where it is to be had', () => {
    const t = zeros([2], { device })
    fails(() => t.data, Error, 'ERR_DEVICE', /cpu\(\)/)
    fails(() => t.bytes, Error, 'ERR_DEVICE', /cpu\(\)/)
    fails(() => zeros([0], { device }).data, Error, 'ERR_DEVICE', /cpu\(\)/)
    assert.equal(t.isShared, false)
    assert.equal(t.isPinned, false)
    assert.ok(t.dataPtr > 0n)
    assert.equal(t.dataPtr % 64n, 0n)
  })

  it('single elements are read and written', () => {
    const t = tensor(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      { device },
    )
    assert.equal(t.get(1, -1), 6)
    assert.equal(t.at(0, 1), 2)
    assert.deepEqual(t.at(1).toArray(), [4, 5, 6])
    t.set(50, 1, 1)
    assert.equal(t.get(1, 1), 50)
    assert.equal(t.slice(1, '1:2').item(), 50)
    assert.deepEqual(Array.from(t.select(1, 0)), [1, 4])
    refuses(() => t.set('x', 0, 0), 'ERR_ARGUMENT')
    refuses(() => t.get(2, 0), 'ERR_BOUNDS')
    refuses(() => tensor([1], 'int8').to(device).set(300, 0), 'ERR_CAST')
    const a = t.accessor({ dtype: 'float32', ndim: 2 })
    a.set(a.get(0, 0) + 10, 0, 0)
    assert.equal(t.get(0, 0), 11)
  })

  it('elements of every dtype are read as they were written', () => {
    for (const dtype of dtypes) {
      const value =
        dtype === 'bool'
          ? true
          : dtype.startsWith('complex')
            ? [1, -2]
            : dtype.includes('64') && dtype.includes('int')
              ? 5n
              : 1.5
      const fitting = typeof value === 'number' && !dtype.includes('float') ? 5 : value
      const t = full([3], fitting, { dtype, device })
      assert.deepEqual(t.toArray(), [fitting, fitting, fitting], dtype)
      assert.deepEqual(t.get(2), fitting, dtype)
    }
  })

  it('print as tensors do, with their device', () => {
    assert.equal(String(tensor([1, 2.5], { device })), "tensor([1.0000, 2.5000], device='cuda:0')")
    assert.equal(String(zeros([2, 0], { device })), "tensor([], device='cuda:0', size=(2, 0))")
    assert.equal(
      String(arange(10000, { device })),
      String(arange(10000)).replace(', dtype', ", device='cuda:0',\n       dtype"),
    )
    assert.equal(require('node:util').inspect(tensor(7n, { device })), "tensor(7, device='cuda:0')")
    assert.equal(JSON.stringify(tensor([1n], { device })), '["1"]')
  })

  it('views share their bytes, both ways, and nothing is copied', () => {
    const t = arange(24, { device }).view([2, 3, 4])
    const { result: view, copies } = copied(() =>
      t.permute(2, 0, 1).slice('::-2', 1, '...').unsqueeze(0),
    )
    assert.deepEqual(copies, {})
    assert.equal(view.device, device)
    assert.equal(view.isView, true)
    assert.equal(sharesMemory(view, t), true)
    view.fill(-1)
    assert.deepEqual(t.cpu().toArray(), arange(24).view([2, 3, 4]).copyFrom(t.cpu()).toArray())
    assert.equal(t.get(1, 0, 3), -1)
    t.fill(3)
    assert.equal(view.get(0, 0, 0), 3)
    t.dispose()
    assert.equal(view.get(0, 1, 2), 3, 'a view outlives its base')
  })

  it('fill and zero reach through strides', () => {
    const here = arange(60, { dtype: 'int16' }).view([3, 4, 5])
    const there = here.cuda()
    for (const t of [here, there]) {
      t.slice('::2', '1:', '::-1').fill(7)
      t.select(1, 0).zero()
    }
    assert.deepEqual(there.toArray(), here.toArray())
    refuses(() => there.fill(1e9), 'ERR_CAST')
  })

  it('copyFrom takes everything that it takes on the CPU', () => {
    const there = zeros([2, 3], { device })
    there.copyFrom([
      [1, 2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual(there.toArray(), [
      [1, 2, 3],
      [4, 5, 6],
    ])
    assert.deepEqual(there.copyFrom([7, 8, 9]).toArray(), [
      [7, 8, 9],
      [7, 8, 9],
    ])
    assert.deepEqual(there.copyFrom(5).toArray(), [
      [5, 5, 5],
      [5, 5, 5],
    ])
    assert.deepEqual(
      there.copyFrom(new Float64Array([1, 2, 3, 4, 5, 6]), { casting: 'same_kind' }).toArray(),
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
    )
    assert.deepEqual(there.copyFrom(tensor([1, 2, 3]), { scale: 2, bias: 1 }).toArray(), [
      [3, 5, 7],
      [3, 5, 7],
    ])
    assert.deepEqual(
      there
        .copyFrom(
          tensor(
            [
              [1, 2, 3],
              [4, 5, 6],
            ],
            { device },
          ),
          { scale: [1, 2, 3], axis: 1 },
        )
        .toArray(),
      [
        [1, 4, 9],
        [4, 10, 18],
      ],
    )
    refuses(() => there.copyFrom(zeros([4], { device })), 'ERR_SHAPE')
    refuses(() => there.expand(2, 2, 3).copyFrom(1), 'ERR_OVERLAP')
    refuses(() => zeros([2], { device, dtype: 'int8' }).copyFrom([300, 1]), 'ERR_CAST')
    assert.deepEqual(there.setBytes(new Uint8Array(24)).toArray(), [
      [0, 0, 0],
      [0, 0, 0],
    ])
    const image = { data: new Uint8ClampedArray(8).fill(7), width: 1, height: 2 }
    assert.deepEqual(zeros([2, 1, 4], { device, dtype: 'uint8' }).copyFrom(image).toArray(), [
      [[7, 7, 7, 7]],
      [[7, 7, 7, 7]],
    ])
  })

  it('copies between devices and the CPU, in any dtype and strides, give what the CPU gives', () => {
    const random = generator(11)
    for (let round = 0; round < 120; round++) {
      const [from, to] = [random.pick(dtypes), random.pick(dtypes)]
      const shape = Array.from({ length: random.next(4) }, () => random.next(6))
      const source = layoutAt(random, shape, from)
      const target = layoutAt(random, shape, to)
      const casting = 'unsafe'
      if (!canCast(from, to, casting)) continue
      const expected = target.view.contiguous().copyFrom(source.view, { casting })
      for (const [a, b] of [
        [device, 'cpu'],
        ['cpu', device],
        [device, device],
      ]) {
        const x = viewAt(source, a)
        const y = viewAt(target, b)
        const result = y.copyFrom(x, { casting })
        assert.equal(result, y)
        assert.equal(
          hex(y.cpu()),
          hex(expected),
          `${from} → ${to} ${shape} ${x.strides} → ${y.strides}, ${a} → ${b}`,
        )
      }
    }
  })

  it('bytes that overlap are copied right', () => {
    const here = arange(10, { dtype: 'int32' })
    const there = here.cuda()
    for (const t of [here, there]) t.slice('2:').copyFrom(t.slice(':-2'))
    assert.deepEqual(there.toArray(), here.toArray())
    for (const t of [here, there]) t.copyFrom(t.flip())
    assert.deepEqual(there.toArray(), here.toArray())
  })

  it('what has strides is staged on its way between the CPU and a device, and counted', () => {
    const here = arange(600, 'float32').view([20, 30])
    const before = memory().staged.bytes
    const there = here.T.cuda()
    assert.deepEqual(there.toArray(), here.T.toArray())
    zeros([30, 20]).T.copyFrom(there.T)
    assert.ok(memory().staged.bytes >= before)
    const plain = memory().staged
    zeros([600], { device }).copyFrom(here.reshape(600)).cpu()
    assert.deepEqual(memory().staged, plain, 'dense bytes go straight')
  })

  it('clone, contiguous, reshape, astype, to memory formats stay there', () => {
    const here = arange(24).view([1, 2, 3, 4])
    const there = here.cuda()
    const FNS = [
      (t) => t.clone(),
      (t) => t.permute(0, 3, 1, 2).contiguous(),
      (t) => t.permute(0, 3, 1, 2).reshape(24),
      (t) => t.astype('float16'),
      (t) => t.toMemoryFormat('channels_last'),
      (t) => t.clone({ dtype: 'float64' }),
    ]
    for (const fn of FNS) {
      const result = fn(there)
      assert.equal(result.device, device)
      assert.deepEqual([result.strides, result.toArray()], [fn(here).strides, fn(here).toArray()])
    }
  })

  it('concat, stack, tile, repeat, roll and take give what they give on the CPU', () => {
    const here = [
      tensor([
        [1, 2, 3],
        [4, 5, 6],
      ]),
      tensor([[7, 8, 9]]),
      tensor([
        [10n, 11n, 12n],
        [13n, 14n, 15n],
      ]),
    ]
    const FNS = {
      concat: ([a, b]) => concat([a, b]),
      'concat of two dtypes': ([a, , c]) => concat([a, c], 1),
      'concat of all': ([a, b, c]) => concat(a, b, c, null),
      stack: ([a, , c]) => stack([a, c], 1),
      tile: ([a]) => a.tile([2, 2]),
      repeat: ([a]) => a.repeat(2, { axis: 1 }),
      'repeat of each': ([a]) => a.repeat([0, 3], { axis: 0 }),
      'repeat of all': ([a]) => a.T.repeat(2),
      roll: ([a]) => a.roll(1),
      'roll of two axes': ([a]) => a.roll([1, -1], [0, 1]),
      take: ([a]) => a.take([2, 0, -1], 1),
      'take of all': ([a]) => a.T.take([5, 0]),
    }
    for (const [name, fn] of Object.entries(FNS)) {
      const result = fn(here.map((t) => t.cuda()))
      assert.equal(result.device, device, name)
      assert.equal(result.dtype, fn(here).dtype, name)
      assert.deepEqual(result.toArray(), fn(here).toArray(), name)
    }
    const out = zeros([3, 3], { device })
    assert.equal(concat([here[0].cuda(), here[1].cuda()], { out }), out)
    assert.deepEqual(out.toArray(), concat(here[0], here[1]).toArray())
  })

  it('comparisons and hashes read them', () => {
    const [a, b] = [arange(6, { device }), arange(6, { device })]
    assert.equal(arrayEqual(a, b), true)
    assert.equal(allClose(a.to('float32'), b.to('float32')), true)
    b.set(9, 3)
    assert.equal(arrayEqual(a, b), false)
    assert.notDeepStrictEqual(a, b)
    assert.deepStrictEqual(a, arange(6, { device }))
    assert.deepEqual(
      tensor([[[1, 2, 3]]], { dtype: 'uint8', device }).toImageData().data,
      Uint8ClampedArray.of(1, 2, 3, 255),
    )
  })

  it("are refused by what is C's where JavaScript asked for it all the same", () => {
    const { storage } = Tensor.layoutOf(ones([8], { device, dtype: 'float64' }))
    const { storage: here } = Tensor.layoutOf(zeros([8], { dtype: 'float64', shared: true }))
    for (let parser = 0; parser < 6; parser++) {
      fails(
        () => fileCalls.parse(parser, storage, here, 64, 0),
        Error,
        'ERR_DEVICE',
        /what is parsed lies on cuda:0.*cpu\(\)/,
      )
      refuses(() => fileCalls.parse(parser, here, storage, 64, 0), 'ERR_ARGUMENT')
    }
    for (const itemsize of [2, 4, 8]) {
      fails(
        () => fileCalls.swapBytes(storage, itemsize),
        Error,
        'ERR_DEVICE',
        /the storage lies on cuda:0/,
      )
    }
    const buffer = ffi.backend.addon.buffer(storage.optional.watch)
    assert.equal(buffer, undefined)
    fails(ffi.check, Error, 'ERR_DEVICE', /the tensor lies on cuda:0/)
  })

  it('do not go together with tensors elsewhere', () => {
    const [here, there] = [zeros([2]), zeros([2], { device })]
    const FNS = [
      () => concat([here, there]),
      () => stack([there, here]),
      () => concat([there, there], { out: zeros([4]) }),
      () => here.clone({ out: there }),
      () => there.take(tensor([0, 1])),
      () => here.setData(there),
      () => there.setData(here),
      () => there.setData(new Float32Array(2)),
      () => there.to('cpu', { out: zeros([2], { device }) }),
    ]
    for (const fn of FNS) fails(fn, Error, 'ERR_DEVICE', /cpu\(\)|to\(\)|copyFrom/)
    assert.equal(sharesMemory(here, there), false)
    const out = zeros([2])
    assert.equal(there.fill(4).to('cpu', { out }), out)
    assert.deepEqual(out.toArray(), [4, 4])
  })

  it('setData shows other bytes of the device', () => {
    const t = zeros([2, 2], { device })
    const source = arange(6, { dtype: 'float32', device })
    t.setData(source)
    assert.deepEqual(t.toArray(), [
      [0, 1],
      [2, 3],
    ])
    source.fill(8)
    assert.equal(t.get(1, 1), 8)
    t.set(1, 0, 0)
    assert.equal(source.get(0), 1)
  })

  it('resize in place, and unbound ones move to more memory of the device', () => {
    const t = arange(12, { device, dynamism: 'unbound' })
    const ptr = t.dataPtr
    t.resize(6)
    assert.deepEqual([t.dataPtr, t.toArray()], [ptr, [0, 1, 2, 3, 4, 5]])
    const { copies } = copied(() => t.resize(100))
    assert.deepEqual(copies, { resize: { count: 1, bytes: 48 } })
    assert.deepEqual([t.device, t.slice(':12').toArray()], [device, arange(12).toArray()])
    refuses(() => zeros([2], { device }).resize(3), 'ERR_SHAPE')
  })

  it('random numbers have the same bits as on the CPU, wherever the stream is', () => {
    manualSeed(5)
    const here = [rand([1001]), randn([77], 'float64'), randint(0, 9, [13]), rand([5], 'float16')]
    manualSeed(5)
    const there = [
      rand([1001], { device }),
      randn([77], { dtype: 'float64', device }),
      randint(0, 9, [13], { device }),
      rand([5], { dtype: 'float16', device }),
    ]
    for (const [i, t] of there.entries()) assert.equal(hex(t.cpu()), hex(here[i]))
    manualSeed(Math.floor(Math.random() * 2 ** 53))
  })

  it('dispose, tidy and collection free their memory', async () => {
    leavesNothing(() => {
      for (let i = 0; i < 100; i++) zeros([100], { device }).dispose()
    })
    leavesNothing(() => {
      assert.equal(
        tidy(() => zeros([10, 10], { device }).T.contiguous().fill(1).get(9, 9)),
        1,
      )
    })
    const before = memory().bytes.cuda
    const t = zeros([1 << 20], { device })
    const view = t.slice('1:')
    assert.ok(memory().bytes.cuda >= before + 4 * 2 ** 20)
    t.dispose()
    assert.ok(memory().bytes.cuda >= before + 4 * 2 ** 20, 'its view has them')
    view.dispose()
    assert.equal(memory().bytes.cuda, before)
    ;(() => {
      for (let i = 0; i < 10; i++) zeros([1 << 18], { device })
    })()
    assert.ok(await collectUntil(() => memory().bytes.cuda <= before))
  })

  it('what fails leaves nothing behind', () => {
    leavesNothing(() => {
      refuses(() => tensor([300], { dtype: 'int8', device }), 'ERR_CAST')
      refuses(() => zeros([2, 2], { device }).copyFrom([1, 2, 3]), 'ERR_SHAPE')
      refuses(() => rand([2], { dtype: 'int8', device }), 'ERR_DTYPE')
      refuses(() => tensor([1.5]).to(device, { dtype: 'int8' }), 'ERR_CAST')
    })
  })

  it('are no part of what setMemoryLimit limits', () => {
    setMemoryLimit(memory().bytes.v8 + memory().bytes.native + 2 ** 20)
    assert.equal(empty([2 ** 22], { device }).device, device)
  })
})

describe('tensors on two devices', () => {
  twoDevices()

  it('copies between them, with casts and strides', () => {
    const a = arange(600, { device: 'cuda:0' }).view([20, 30])
    const b = a.T.to('cuda:1')
    assert.equal(b.device, 'cuda:1')
    assert.deepEqual(b.toArray(), a.T.toArray())
    const c = zeros([30, 20], { dtype: 'float64', device: 'cuda:1' }).copyFrom(a.T)
    assert.deepEqual(c.to('cuda:0').to('int32', { casting: 'unsafe' }).toArray(), a.T.toArray())
    assert.deepEqual(a.cuda(1).cuda(0).toArray(), a.toArray())
  })

  it('nothing else goes together', () => {
    const [a, b] = [zeros([2], { device: 'cuda:0' }), zeros([2], { device: 'cuda:1' })]
    fails(() => concat([a, b]), Error, 'ERR_DEVICE', /cuda:0.*cuda:1/)
    fails(() => a.setData(b), Error, 'ERR_DEVICE')
    fails(() => arrayEqual(a, b), Error, 'ERR_DEVICE')
  })
})

/** A layout of a shape inside a buffer, with bits in it: { base, strides, offset, shape, view }. */
function layoutAt(random, shape, dtype) {
  const order = random.shuffle(shape.map((_, d) => d))
  const strides = []
  let n = 1 + random.next(2)
  for (const d of order) {
    strides[d] = n
    n *= Math.max(1, shape[d]) + random.next(2)
  }
  const flipped = shape.map((extent, d) => extent > 1 && random.next(4) === 0)
  const offset = shape.reduce(
    (at, extent, d) => at + (flipped[d] ? (extent - 1) * strides[d] : 0),
    random.next(3),
  )
  const base = zeros([n + offset + 3], 'float64')
    .copyFrom(randint(-3, 4, [n + offset + 3], 'int8'))
    .to(dtype, { casting: 'unsafe' })
  const layout = { base, shape, strides: strides.map((n, d) => (flipped[d] ? -n : n)), offset }
  return { ...layout, view: base.clone().asStrided(shape, layout.strides, offset) }
}

const viewAt = ({ base, shape, strides, offset }, device) =>
  base.to(device, { copy: true }).asStrided(shape, strides, offset)
