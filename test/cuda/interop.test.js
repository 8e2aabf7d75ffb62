'use strict'
// Addresses on devices, and what others know them by.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const samebytes = require('samebytes')
const {
  arange,
  cuda,
  flush,
  forBlob,
  fromBlob,
  fromDlpack,
  fromShared,
  memory,
  saveNpySync,
  share,
  sharesMemory,
  tensor,
  toNpyBytes,
  toOrt,
  unshare,
  zeros,
} = samebytes
const { ROOT, collectUntil, copied, fails, refuses, skip } = require('../setup')
const { twoDevices } = require('./device')

const device = 'cuda:0'

describe('blobs on a device', () => {
  it('toBlob names the device, and its record makes a tensor of the same bytes', () => {
    const t = arange(6, { device }).view([2, 3])
    const blob = t.T.toBlob()
    assert.deepEqual(
      { ...blob, owner: null },
      {
        ptr: t.dataPtr,
        shape: [3, 2],
        strides: [1, 3],
        dtype: 'int32',
        device,
        elementSize: 4,
        owner: null,
      },
    )
    const { result: again, copies } = copied(() => fromBlob(blob))
    assert.deepEqual(copies, {})
    assert.deepEqual(
      [again.device, again.dataPtr, again.toArray()],
      [device, t.dataPtr, t.T.toArray()],
    )
    again.set(60, 0, 1)
    assert.equal(t.get(1, 0), 60)
    t.set(70, 0, 1)
    assert.equal(again.get(1, 0), 70)
    fails(() => fromBlob(blob, { device: 'cpu' }), Error, 'ERR_DEVICE', /cuda:0/)
    assert.equal(fromBlob(blob, { device }).device, device)
  })

  it('an address with its device is memory there, kept by its owner', () => {
    const kept = arange(6, { dtype: 'float32', device })
    const { result: t, copies } = copied(() =>
      fromBlob(kept.dataPtr, [3, 2], { dtype: 'float32', device, owner: kept }),
    )
    assert.deepEqual(copies, {})
    assert.deepEqual([t.device, t.dataPtr, t.owner], [device, kept.dataPtr, kept])
    assert.deepEqual(t.toArray(), [
      [0, 1],
      [2, 3],
      [4, 5],
    ])
    t.fill(8)
    assert.equal(kept.get(5), 8)
    kept.set(9, 0)
    assert.equal(t.get(0, 0), 9)
    kept.dispose()
    assert.equal(t.get(0, 0), 9, 'held by t')
    const there = forBlob({
      ptr: t.dataPtr,
      shape: [2, 3],
      strides: [1, 2],
      dtype: 'float',
      device,
      owner: t,
    }).makeTensor()
    assert.deepEqual(
      there.toArray(),
      t.T.toArray().map((_, i) => t.cpu().asStrided([2, 3], [1, 2]).toArray()[i]),
    )
    assert.deepEqual(
      forBlob(t.dataPtr, [2], 'float32').device('cuda').offset(1).owner(t).makeTensor().toArray(),
      [8, 8],
    )
  })

  it('its deleter is called once, with the address', async () => {
    const kept = zeros([4], { device })
    const called = []
    const t = fromBlob(kept.dataPtr, [4], {
      dtype: 'float32',
      device,
      deleter: (address) => {
        called.push(address)
      },
    })
    const view = t.slice('1:').fill(2)
    t.dispose()
    await flush()
    assert.deepEqual(called, [])
    view.dispose()
    assert.ok(await collectUntil(() => called.length > 0))
    await flush()
    assert.deepEqual(called, [kept.dataPtr])
    assert.deepEqual(kept.toArray(), [0, 2, 2, 2])
  })

  it('a pointer that is not memory of that device is refused, and nothing is taken over', async () => {
    const here = zeros([4], { shared: true })
    const called = []
    const deleter = () => {
      called.push(1)
    }
    fails(
      () => fromBlob(here.dataPtr, [4], { dtype: 'float32', device, deleter }),
      Error,
      'ERR_DEVICE',
      /cuda:0/,
    )
    fails(
      () => fromBlob(4096n, [4], { dtype: 'float32', device, deleter }),
      Error,
      'ERR_DEVICE',
      /cuda:0/,
    )
    fails(() => fromBlob(new Float32Array(2), { device }), Error, 'ERR_DEVICE', /to\(\)/)
    fails(
      () => fromBlob({ ptr: 4096n, shape: [2], dtype: 'float32', device, owner: here }),
      Error,
      'ERR_DEVICE',
    )
    fails(
      () => fromBlob({ ptr: 4096n, shape: [2], dtype: 'float32', device: 'cuda:70', owner: here }),
      Error,
      'ERR_DEVICE',
      /record/,
    )
    await flush()
    assert.deepEqual(called, [])
    assert.equal(fromBlob(0n, [0], { dtype: 'float32', device, borrowed: true }).device, device)
  })

  it('does not move when it is resized', () => {
    const kept = zeros([4], { device })
    const t = fromBlob(kept.dataPtr, [4], {
      dtype: 'float32',
      device,
      owner: kept,
      dynamism: 'unbound',
    })
    refuses(() => t.resize(5), 'ERR_SHAPE')
    assert.equal(t.resize(2).dataPtr, kept.dataPtr)
  })
})

describe('DLPack of a device', () => {
  it('says where it is, and gives the same bytes to whoever takes them, both ways', () => {
    const t = arange(6, { dtype: 'float32', device }).view([2, 3])
    assert.deepEqual(t.__dlpack_device__(), [2, 0])
    for (const opts of [
      {},
      { maxVersion: [1, 0] },
      { maxVersion: [1, 0], stream: 1 },
      { stream: -1 },
      { stream: 2n },
      { dlDevice: [2, 0] },
      { stream: new cuda.Stream().handle },
    ]) {
      const { result: again, copies } = copied(() => fromDlpack(t.__dlpack__(opts)))
      assert.deepEqual(copies, {})
      assert.deepEqual([again.device, again.dataPtr, again.shape], [device, t.dataPtr, [2, 3]])
      again.fill(7)
      assert.equal(t.get(1, 2), 7)
      t.set(3, 0, 0)
      assert.equal(again.get(0, 0), 3)
    }
    assert.equal(sharesMemory(fromDlpack(t), t), true)
  })

  it('takes what other libraries have, asking for the default stream', () => {
    const t = arange(4, { device })
    const asked = []
    const x = {
      __dlpack_device__: () => [2, 0],
      __dlpack__: (options) => {
        asked.push(options)
        return t.__dlpack__(options)
      },
    }
    assert.deepEqual(fromDlpack(x).toArray(), [0, 1, 2, 3])
    assert.deepEqual(asked, [{ maxVersion: [1, 2], stream: 1 }])
    fails(() => fromDlpack({ ...x, __dlpack_device__: () => [8, 0] }), Error, 'ERR_DEVICE')
  })

  it("a copy is the consumer's alone", () => {
    const t = arange(4, { device })
    const { result: again, copies } = copied(() =>
      fromDlpack(t.__dlpack__({ maxVersion: [1, 0], copy: true })),
    )
    assert.deepEqual(copies, { __dlpack__: { count: 1, bytes: 16 } })
    assert.equal(again.device, device)
    again.fill(0)
    assert.deepEqual(t.toArray(), [0, 1, 2, 3])
  })

  it('holds the bytes until it is gone', async () => {
    const before = memory().bytes.cuda
    let t = zeros([1 << 18], { device })
    let again = fromDlpack(t.__dlpack__())
    t.dispose()
    t = null
    again.fill(2)
    assert.equal(again.get(100), 2)
    assert.ok(memory().bytes.cuda >= before + 2 ** 20)
    again.dispose()
    again = null
    assert.ok(await collectUntil(() => memory().bytes.cuda <= before))
  })

  it('refuses what the tensor is not', () => {
    const t = zeros([2], { device })
    fails(() => t.__dlpack__({ dlDevice: [1, 0] }), Error, 'ERR_DEVICE', /cpu\(\)/)
    fails(() => zeros([2]).__dlpack__({ dlDevice: [2, 0] }), Error, 'ERR_DEVICE', /to\(\)/)
    for (const stream of [0, 0n, -2]) {
      fails(() => t.__dlpack__({ stream }), TypeError, 'ERR_ARGUMENT', /stream/)
    }
    for (const stream of ['1', 1.5, {}]) refuses(() => t.__dlpack__({ stream }), 'ERR_ARGUMENT')
    fails(() => zeros([2]).__dlpack__({ stream: 1 }), TypeError, 'ERR_ARGUMENT', /CPU/)
    const used = t.__dlpack__()
    fromDlpack(used)
    refuses(() => fromDlpack(used), 'ERR_STALE')
  })
})

describe('__cudaArrayInterface__', () => {
  it('has the fields of version 3', () => {
    const t = arange(6, { dtype: 'float32', device }).view([2, 3])
    assert.deepEqual(t.__cudaArrayInterface__, {
      shape: [2, 3],
      typestr: '<f4',
      data: [t.dataPtr, false],
      version: 3,
      strides: null,
      stream: 1,
    })
    const { strides, data } = t.T.slice('1:').__cudaArrayInterface__
    assert.deepEqual(
      [strides, data],
      [
        [4, 12],
        [t.dataPtr + 4n, false],
      ],
    )
    assert.equal(zeros([2], { device, dtype: 'bfloat16' }).__cudaArrayInterface__.typestr, '<u2')
    assert.deepEqual(zeros([0], { device }).__cudaArrayInterface__.data, [0n, false])
    assert.equal(fromBlob(t.toBlob(), { readOnly: true }).__cudaArrayInterface__.data[1], true)
  })

  it('is nothing on the CPU', () => {
    assert.equal(zeros([2]).__cudaArrayInterface__, undefined)
  })
})

describe("what needs the CPU's memory", () => {
  it('refuses tensors on a device, and names cpu()', () => {
    const t = zeros([2], { device })
    class OrtTensor {}
    const FNS = [
      () => t.data,
      () => toNpyBytes(t),
      () => saveNpySync('never.npy', t),
      () => toOrt(t, { Tensor: OrtTensor }),
      () => t.pinMemory(),
    ]
    for (const fn of FNS) fails(fn, Error, 'ERR_DEVICE', /cpu\(\)/)
  })

  it('as addons do, which read and write what they get', function () {
    const file = path.join(ROOT, 'test', 'peers', 'addon', 'build', 'Release', 'peer.node')
    if (!fs.existsSync(file)) skip(this, 'the peer addon is not built')
    const peer = require(file)
    peer.open(samebytes)
    const t = zeros([2], { device })
    for (const given of [
      t,
      t.slice('1:'),
      fromBlob(t.dataPtr, [2], { dtype: 'float32', device, owner: t }),
      zeros([0], { device }),
    ]) {
      fails(() => peer.describe(given), Error, 'ERR_DEVICE', /cpu\(\)/)
    }
    assert.equal(memory().exported, 0)
    assert.equal(peer.describe(t.cpu())[3], 2)
    peer.release()
  })
})

describe('tokens of tensors on a device', () => {
  it('go to other threads of the process', () => {
    const t = arange(4, { device })
    const there = fromShared(structuredClone(share(t)))
    assert.deepEqual(
      [there.device, there.dataPtr, there.toArray()],
      [device, t.dataPtr, [0, 1, 2, 3]],
    )
    there.fill(5)
    assert.equal(t.get(0), 5)
    const token = share(t)
    refuses(() => fromShared(token, { shared: 'sab' }), 'ERR_DEVICE', 'ERR_UNSUPPORTED')
    unshare(token)
  })

  it("carry a copy in the CPU's memory where that is asked for", () => {
    const t = arange(6, { device }).view([2, 3]).T
    const { result: token, copies } = copied(() => share(t, { copy: true }))
    assert.deepEqual(copies, { share: { count: 1, bytes: 24 } })
    const there = fromShared(structuredClone(token))
    assert.deepEqual(
      [token.isCopy, there.device, there.toArray()],
      [
        true,
        'cpu',
        [
          [0, 3],
          [1, 4],
          [2, 5],
        ],
      ],
    )
    there.fill(9)
    assert.equal(t.get(0, 1), 3)
  })
})

describe('capsules on two devices', () => {
  twoDevices()

  it('say which one they are on', () => {
    const t = tensor([1, 2], { device: 'cuda:1' })
    assert.deepEqual(t.__dlpack_device__(), [2, 1])
    assert.equal(fromDlpack(t.__dlpack__()).device, 'cuda:1')
    fails(
      () => fromBlob(t.dataPtr, [2], { dtype: 'float32', device: 'cuda:0', owner: t }),
      Error,
      'ERR_DEVICE',
    )
  })
})
