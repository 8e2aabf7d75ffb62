'use strict'
// Whoever gives an array over a tensor's bytes, in whatever form, keeps that tensor's bytes.
const assert = require('node:assert/strict')
const {
  alloc,
  asarray,
  backend,
  empty,
  flush,
  fromBlob,
  fromBytes,
  memory,
  parseNpy,
  parseNpz,
  parseSafetensors,
  sharesMemory,
  tensor,
  toNpyBytes,
  toNpzBytes,
  toSafetensorsBytes,
  zeros,
} = require('samebytes')
const { needs, refuses, settledMemory, skipWithout, turn } = require('../setup')
const IS_WASM = backend() !== 'native'

const N = 64

/** 0, 1, 2 … of a tensor that nobody but what `over` makes of it knows. */
function held(over) {
  return over(tensor(new Float32Array(N).map((_, i) => i)))
}

/** Collects, and has others take what became free. */
async function takeWhatIsFree() {
  for (let round = 0; round < 4; round++) {
    globalThis.gc()
    await turn()
    await turn()
  }
  return Array.from({ length: 100 }, () => empty([N]).fill(-1))
}

/** What a tensor is made over, and the value that its first float32 has then. */
const WAYS = {
  'its data': [(t) => fromBlob(t.data), 0],
  'its bytes': [(t) => fromBlob(t.bytes, 'float32'), 0],
  'a part of its data': [(t) => fromBlob(t.data.subarray(8, 12)), 8],
  'a part of its bytes': [(t) => fromBlob(t.bytes.subarray(4), 'float32'), 1],
  "a part of a view's data": [(t) => fromBlob(t.narrow(0, 3, 9).data.subarray(2)), 5],
  'another array over the buffer': [
    (t) => fromBlob(new Float32Array(t.data.buffer, t.data.byteOffset + 16, 2)),
    4,
  ],
  'a DataView': [
    (t) => fromBlob(new DataView(t.data.buffer, t.data.byteOffset + 8, 8), 'float32'),
    2,
  ],
  'the last byte alone': [(t) => fromBlob(t.bytes.subarray(-1)), 66],
  'an array over a blob over it': [
    (t) => fromBlob(fromBlob(t.data.subarray(4)).data.subarray(2)),
    6,
  ],
  'a part of its data, by setData': [(t) => zeros([2]).setData(t.data.subarray(7, 9)), 7],
  'a part of its data, by asarray': [(t) => asarray(t.data.subarray(9), { copy: false }), 9],
}

describe("a tensor over an array over another tensor's bytes keeps them when that one is collected", () => {
  for (const [name, [make, first]] of Object.entries(WAYS)) {
    it(`over ${name}: float32`, async () => {
      const made = Array.from({ length: 20 }, () => held(make))
      const others = await takeWhatIsFree()
      for (const u of made) assert.equal(u.get(0), first)
      made[0].fill(7)
      for (const u of made.slice(1)) assert.equal(u.get(0), first)
      for (const other of others) assert.equal(other.get(0), -1)
    })
  }

  const FILES = {
    npy: [() => toNpyBytes(tensor([1, 2, 3])), (bytes) => parseNpy(bytes)],
    npz: [() => toNpzBytes({ a: tensor([1, 2, 3]) }), (bytes) => parseNpz(bytes).get('a')],
    safetensors: [
      () => toSafetensorsBytes({ a: tensor([1, 2, 3]) }),
      (bytes) => parseSafetensors(bytes).get('a'),
    ],
  }
  for (const [format, [write, parse]] of Object.entries(FILES)) {
    it(`over a part of what alloc gave that has a .${format}: float32`, async () => {
      const file = write()
      const made = Array.from({ length: 20 }, () => {
        const bytes = alloc(4096).subarray(0, file.length)
        bytes.set(file)
        return parse(bytes)
      })
      await takeWhatIsFree()
      for (let i = 0; i < 100; i++) empty([1024]).fill(-1)
      for (const t of made) assert.deepEqual(t.toArray(), [1, 2, 3])
    })
  }

  it('from when it is parsed, for tensors of the file that are asked for later: float32', async () => {
    const file = toSafetensorsBytes({ a: tensor([1, 2, 3]), b: zeros([2]) })
    const files = Array.from({ length: 20 }, () => {
      const bytes = alloc(4096).subarray(0, file.length)
      bytes.set(file)
      return parseSafetensors(bytes)
    })
    await takeWhatIsFree()
    for (let i = 0; i < 100; i++) empty([1024]).fill(-1)
    for (const each of files) assert.deepEqual(each.get('a').toArray(), [1, 2, 3])
  })

  it('until the file is closed: float32', function () {
    skipWithout(this, 'memory that grows') // natively an array keeps its buffer
    const file = toSafetensorsBytes({ a: tensor([1, 2, 3]) })
    const { wasm } = memory().bytes
    const t = zeros([4096], 'uint8')
    t.bytes.set(file)
    const parsed = parseSafetensors(t.bytes.subarray(0, file.length))
    t.dispose()
    const a = parsed.get('a')
    parsed.close()
    assert.deepEqual(a.toArray(), [1, 2, 3])
    a.dispose()
    assert.equal(memory().bytes.wasm, wasm)
    const u = zeros([64], 'uint8')
    for (const parse of [parseNpy, parseNpz, parseSafetensors]) {
      refuses(() => parse(u.data.subarray(1)), 'ERR_FORMAT')
    }
    u.dispose()
    assert.equal(memory().bytes.wasm, wasm) // what could not be parsed is let go of
  })

  it('also while it is copied in turns of the event loop: float32', async () => {
    const target = zeros([N])
    const done = held((t) => target.copyFromAsync(t.data.subarray(0, N)))
    await takeWhatIsFree()
    await done
    assert.deepEqual(target.toArray().slice(0, 3), [0, 1, 2])
  })

  it('until the last of them is disposed: float32', () => {
    const before = settledMemory().tensors
    const t = tensor([1, 2, 3, 4])
    const u = fromBlob(t.data.subarray(1, 3))
    const v = u.narrow(0, 1, 1)
    assert.equal(sharesMemory(u, t), true)
    if (IS_WASM) assert.equal(u.dataPtr, t.dataPtr + 4n)
    t.dispose()
    u.dispose()
    for (let i = 0; i < 10; i++) empty([4]).fill(-1)
    assert.equal(v.get(0), 3)
    v.set(9, 0)
    assert.equal(v.item(), 9)
    v.dispose()
    assert.ok(memory().tensors >= before)
  })

  it('gives memory back at once when the last of them is disposed: uint8', function () {
    skipWithout(this, 'memory that grows') // natively V8 does, some time after collection
    const { wasm } = memory().bytes
    const t = zeros([1000], 'uint8')
    const u = fromBlob(t.bytes.subarray(3))
    t.dispose()
    assert.ok(memory().bytes.wasm >= wasm + 1000)
    u.dispose()
    assert.equal(memory().bytes.wasm, wasm)
  })

  it('and its deleter is called once nobody uses the part: float32', async () => {
    const calls = []
    const t = tensor([1, 2, 3])
    const u = fromBlob(t.data.subarray(1), { deleter: () => calls.push(1) })
    u.dispose()
    await flush()
    assert.deepEqual([calls, t.toArray()], [[1], [1, 2, 3]])
  })
})

describe('linear memory that no tensor has', () => {
  const { wasmMemory } = require('samebytes')
  needs('memory that grows')

  /** A part of what a tensor had that was disposed, far from where smaller ones are put next. */
  function freed() {
    const t = zeros([20000])
    const part = t.data.subarray(15000, 15002)
    t.dispose()
    return part
  }

  /** Each way in that takes bytes. */
  const USES = {
    fromBlob: (array) => fromBlob(array),
    setData: (array) => zeros([2]).setData(array),
    copyFrom: (array) => zeros([2]).copyFrom(array),
    setBytes: (array) => zeros([2]).setBytes(array),
    tensor: (array) => tensor(array),
    fromBytes: (array) => fromBytes(array, [2], 'float32'),
    asarray: (array) => asarray(array, { copy: false }),
    'copyFrom of a list of it': (array) => zeros([2, 2]).copyFrom([array, array]),
    take: (array) => zeros([2]).take(new Int32Array(array.buffer, array.byteOffset, 2)),
  }
  for (const [name, use] of Object.entries(USES)) {
    it(`is ERR_STALE to ${name} after its tensor was disposed: float32`, () => {
      const part = freed()
      assert.match(refuses(() => use(part), 'ERR_STALE').message, /freed/)
    })
  }

  it('is ERR_STALE to copyFromAsync: float32', async () => {
    const part = freed()
    await assert.rejects(async () => zeros([2]).copyFromAsync(part), { code: 'ERR_STALE' })
  })

  it('is ERR_STALE where others have the bytes by now, if it is the data itself: float32', () => {
    const t = zeros([4])
    const { data } = t
    t.dispose()
    const others = [zeros([4]), zeros([4])]
    refuses(() => fromBlob(data), 'ERR_STALE')
    assert.equal(others[0].get(0), 0)
  })

  it("is ERR_STALE where it never was a tensor's, and ERR_BOUNDS beyond one: uint8", () => {
    const t = zeros([4], 'uint8')
    const { buffer } = wasmMemory()
    refuses(() => fromBlob(new Uint8Array(buffer, 1024, 16)), 'ERR_STALE')
    refuses(() => fromBlob(new Uint8Array(buffer, Number(t.dataPtr) - 16, 16)), 'ERR_STALE')
    refuses(() => fromBlob(new Uint8Array(buffer, buffer.byteLength - 16, 16)), 'ERR_STALE')
    assert.match(
      refuses(() => fromBlob(new Uint8Array(buffer, Number(t.dataPtr) + 1, 4)), 'ERR_BOUNDS')
        .message,
      /3 are its own/,
    )
    assert.equal(fromBlob(new Uint8Array(buffer, Number(t.dataPtr) + 4, 0)).size, 0)
  })

  it("by an offset in all of memory is that tensor's, which it keeps: float32", () => {
    const t = tensor([1, 2, 3, 4])
    const u = fromBlob(wasmMemory().buffer, [3], {
      dtype: 'float32',
      offset: Number(t.dataPtr) / 4 + 3,
      strides: [-1],
    })
    t.dispose()
    for (let i = 0; i < 10; i++) empty([4]).fill(-1)
    assert.deepEqual(u.toArray(), [4, 3, 2])
    refuses(
      () =>
        fromBlob(wasmMemory().buffer, [3], {
          dtype: 'float32',
          offset: wasmMemory().buffer.byteLength / 4,
        }),
      'ERR_BOUNDS',
    )
  })
})
