'use strict'
// Memory of the CPU that devices see.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const {
  arange,
  cuda,
  empty,
  emptyLike,
  full,
  fromBlob,
  hostRegister,
  memory,
  ones,
  openNpy,
  rand,
  saveNpySync,
  sharesMemory,
  tensor,
  zeros,
  zerosStrided,
} = require('samebytes')
const { collectUntil, copied, fails, leavesNothing, refuses } = require('../setup')

const device = 'cuda:0'

describe('pinned memory', () => {
  it('is made by all makers that take pinMemory', () => {
    const MAKERS = [
      (o) => empty([3], o),
      (o) => zeros([3], o),
      (o) => ones([3], o),
      (o) => full([3], 2, o),
      (o) => tensor([1, 2, 3], o),
      (o) => arange(3, o),
      (o) => rand([3], o),
      (o) => emptyLike(zeros([3]), o),
      (o) => zerosStrided([2], [2], o),
    ]
    for (const make of MAKERS) {
      const t = make({ pinMemory: true })
      assert.deepEqual([t.isPinned, t.device], [true, 'cpu'])
      assert.equal(make({ pinMemory: false }).isPinned, false)
    }
    assert.deepEqual(zeros([2, 3], { pinMemory: true }).toArray(), zeros([2, 3]).toArray())
    assert.deepEqual(empty([2, 3], { pinMemory: true, order: 'F' }).strides, [1, 2])
    assert.equal(zeros([0], { pinMemory: true }).size, 0)
  })

  it('is the same bytes for JavaScript and for devices', () => {
    const t = arange(8, { dtype: 'float32', pinMemory: true })
    const { data } = t
    assert.deepEqual([...data], [0, 1, 2, 3, 4, 5, 6, 7])
    data[0] = 50
    assert.equal(t.to(device).get(0), 50)
    t.copyFrom(full([8], 9, { device }))
    assert.deepEqual([...data], [9, 9, 9, 9, 9, 9, 9, 9])
    assert.equal(t.dataPtr % 64n, 0n)
  })

  it('t.pinMemory() copies, once', () => {
    const t = tensor([
      [1, 2],
      [3, 4],
    ]).T
    const { result, copies } = copied(() => t.pinMemory())
    assert.deepEqual(copies, { pinMemory: { count: 1, bytes: 16 } })
    assert.deepEqual(
      [result.isPinned, result.strides, result.toArray()],
      [
        true,
        [1, 2],
        [
          [1, 3],
          [2, 4],
        ],
      ],
    )
    assert.equal(result.pinMemory(), result)
    assert.equal(result.slice('1:').pinMemory().isView, true)
    fails(() => zeros([2], { device }).pinMemory(), Error, 'ERR_DEVICE', /cpu\(\)/)
    refuses(() => empty([2], { pinMemory: true, shared: 'sab' }), 'ERR_ARGUMENT')
  })

  it('copies do not stage it, also off the event loop', async () => {
    const here = arange(1000, { dtype: 'float32', pinMemory: true })
    const staged = memory().staged
    const there = zeros([1000], { device })
    await there.copyFromAsync(here)
    const back = empty([1000], { pinMemory: true })
    await back.copyFromAsync(there)
    assert.deepEqual(back.data, here.data)
    assert.deepEqual(memory().staged, staged)
    const pending = there.copyFromAsync(here)
    refuses(() => here.fill(1), 'ERR_BUSY')
    assert.equal(here.get(5), 5)
    await pending
    here.fill(1)
  })

  it('is counted and freed', async () => {
    leavesNothing(() => {
      empty([10], { pinMemory: true }).dispose()
    })
    const before = memory().bytes.pinned
    const t = empty([1 << 18], { pinMemory: true })
    assert.equal(memory().bytes.pinned, before + 2 ** 20)
    t.dispose()
    assert.equal(memory().bytes.pinned, before)
    ;(() => {
      empty([1 << 18], { pinMemory: true }).data.fill(1)
    })()
    assert.ok(await collectUntil(() => memory().bytes.pinned <= before))
  })

  it('lives as long as what was taken of it', async () => {
    const before = memory().bytes.pinned
    let data = (() => {
      const t = full([1 << 16], 3, { pinMemory: true })
      const { data } = t
      t.dispose()
      return data
    })()
    for (let i = 0; i < 3; i++) globalThis.gc()
    assert.equal(data[65535], 3)
    data = null
    assert.ok(await collectUntil(() => memory().bytes.pinned <= before))
  })
})

describe('hostRegister', () => {
  it("pins an ArrayBuffer, a SharedArrayBuffer, V8's and shared memory where they are", () => {
    const SOURCES = {
      'an ArrayBuffer': () => fromBlob(new Float32Array(4096)),
      'a SharedArrayBuffer': () => fromBlob(new Float32Array(new SharedArrayBuffer(16384))),
      'a large tensor': () => zeros([4096]),
      'a small tensor': () => zeros([4]),
      'shared memory': () => zeros([4096], { shared: true }),
    }
    for (const [name, make] of Object.entries(SOURCES)) {
      const t = make()
      assert.equal(t.isPinned, false, name)
      const { data } = t
      assert.equal(hostRegister(t), t)
      assert.equal(t.isPinned, true, name)
      assert.equal(hostRegister(t), t, 'again')
      assert.equal(t.slice('1:').isPinned, true)
      assert.equal(t.data.buffer, data.buffer)
      data[1] = 7
      assert.equal(t.to(device).get(1), 7)
    }
  })

  it('keeps the buffer where it is', () => {
    const buffer = new ArrayBuffer(8192)
    hostRegister(fromBlob(new Float32Array(buffer)))
    try {
      structuredClone(buffer, { transfer: [buffer] })
    } catch {}
    assert.equal(buffer.byteLength, 8192)
  })

  it('pins a mapped file', function () {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-pinned-'))
    try {
      const file = path.join(folder, 'a.npy')
      saveNpySync(file, arange(4096, 'float32'))
      for (const mode of ['r+', 'r']) {
        const t = openNpy(file, { mode })
        if (mode === 'r' && !cuda.properties(0).registersReadOnly) {
          refuses(() => hostRegister(t), 'ERR_UNSUPPORTED')
        } else {
          assert.equal(hostRegister(t).isPinned, true)
          assert.deepEqual(t.to(device).slice('-2:').toArray(), [4094, 4095])
        }
        t.dispose()
      }
    } finally {
      fs.rmSync(folder, { recursive: true, force: true })
    }
  })

  it('lasts until no tensor uses the memory', async () => {
    const before = cuda.memoryStats().registeredBytes
    const array = new Float32Array(1 << 16)
    ;(() => {
      hostRegister(fromBlob(array))
    })()
    assert.ok(cuda.memoryStats().registeredBytes >= before + array.byteLength)
    assert.ok(await collectUntil(() => cuda.memoryStats().registeredBytes <= before))
    assert.equal(fromBlob(array).isPinned, false)
    assert.equal(hostRegister(fromBlob(array)).isPinned, true, 'and may be pinned anew')
  })

  it('refuses what cannot be pinned', () => {
    refuses(() => hostRegister(zeros([2], { device })), 'ERR_DEVICE')
    refuses(() => hostRegister(new Float32Array(2)), 'ERR_ARGUMENT')
    refuses(() => hostRegister(), 'ERR_ARGUMENT')
    const t = zeros([2])
    t.dispose()
    refuses(() => hostRegister(t), 'ERR_DISPOSED')
    const array = new Float32Array(2048)
    hostRegister(fromBlob(array))
    assert.equal(fromBlob(array.subarray(16, 32)).isPinned, false, 'its address is not looked up')
    assert.equal(sharesMemory(fromBlob(array), fromBlob(array)), true)
    const resizable = new ArrayBuffer(4096, { maxByteLength: 8192 })
    if (resizable.resizable) {
      refuses(() => hostRegister(fromBlob(new Uint8Array(resizable))), 'ERR_UNSUPPORTED')
    }
    assert.equal(hostRegister(zeros([0])).isPinned, false)
  })
})
