'use strict'
// Arithmetic and memory: what a call holds, growth during it, and the same bits as other back ends.
const assert = require('node:assert/strict')
const samebytes = require('samebytes')
const math = require('samebytes/math')
const {
  childJson,
  isPage,
  leavesNothing,
  needs,
  quietMemory,
  refuses,
  skipWithout,
} = require('../setup')

const { arange, empty, fromBlob, memory, tensor, tidy, wasmMemory, zeros } = samebytes

/** Hashes of results: functions, dtypes and layouts drawn at random. Run here, and in a program of its own; NaNs are canonical. */
function hashes(samebytes, math, count) {
  let seed = 7
  const next = (n) => {
    seed = (Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return (seed >>> 0) % n
  }
  const { tensor } = samebytes
  const draw = (dtype, shape) => {
    const size = shape.reduce((a, b) => a * b, 1)
    const values = Array.from({ length: 2 * size }, () =>
      next(9) === 0
        ? 0
        : dtype === 'uint8'
          ? next(100)
          : ((next(4001) - 2000) / (dtype[0] === 'f' ? 16 : 1)) | 0,
    )
    return tensor(values, [2 * size], dtype).slice(next(2) === 0 ? '::2' : ':' + size)
  }
  /** the same elements in another order of memory: reversed, or transposed */
  const laidOut = (t) =>
    next(3) === 0
      ? t.flip(0)
      : t.ndim > 1 && next(2) === 0
        ? t
            .permute([...t.shape.keys()].reverse())
            .contiguous()
            .permute([...t.shape.keys()].reverse())
        : t
  const found = []
  for (let i = 0; i < count; i++) {
    const dtype = ['float32', 'float64', 'int32', 'uint8', 'float16'][next(5)]
    const shape = [[1000], [7, 33], [64, 65], [3, 4, 5], [300, 3]][next(5)]
    const name = ['add', 'subtract', 'multiply', 'maximum', 'less'].filter((name) => name in math)[
      next(5) % 3
    ]
    const a = laidOut(draw(dtype, shape).reshape(shape))
    const b =
      next(3) === 0 ? draw(dtype, shape.slice(-1)) : laidOut(draw(dtype, shape).reshape(shape))
    let hash = 0
    const { bytes } = math[name](a, b).contiguous()
    for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ bytes[at], 0x01000193)
    found.push(`${i} ${name} ${dtype} [${shape}] ${hash}`)
  }
  return found
}

describe('arithmetic', () => {
  it('gives the same bits on every back end, for functions and layouts drawn at random', async function () {
    if (isPage) return this.skip()
    skipWithout(this, 'the WebAssembly build')
    const here = hashes(samebytes, math, 300)
    const there = await childJson(
      `${hashes}; console.log(JSON.stringify(hashes(require('samebytes'), require('samebytes/math'), 300)))`,
      {
        env: {
          SAMEBYTES_BACKEND: samebytes.backend() === 'native' ? 'wasm' : 'native',
          SAMEBYTES_BINARY: '',
        },
      },
    )
    assert.deepEqual(here, there)
  })

  it('first used inside tidy() works after it, and changes no count of memory()', async () => {
    if (isPage) return
    const [before, after, sum] = await childJson(
      `
      const { arange, memory, tidy } = require('samebytes')
      const x = arange(100)
      const before = memory()
      tidy(() => { require('samebytes/math').add(x, 1) })
      gc()
      const after = memory()
      console.log(JSON.stringify([before, after, require('samebytes/math').add(x, x).get(99)]))`,
      { flags: ['--expose-gc'] },
    )
    assert.equal(sum, 198)
    const { tensors, storages, bytes } = before
    assert.deepEqual(
      [after.tensors, after.storages, after.bytes.wasm, after.bytes.native],
      [tensors, storages, bytes.wasm, bytes.native],
    )
  })

  it('leaves nothing behind: results, operands that are staged, and refusals', async () => {
    const x = arange(5000)
    const caller = fromBlob(new Float32Array(5000))
    await quietMemory()
    leavesNothing(() => {
      tidy(() => {
        for (let i = 0; i < 20; i++) {
          math.add(x, x)
          math.add(x.flip(0), 0, { out: x })
          math.add(caller, 1, { out: caller })
          refuses(() => math.add(x, zeros([3])))
          refuses(() => math.multiply(x.flip(0), x, { out: x.slice('1:') }))
        }
      })
    })
  })

  it("goes on after the engine's stack overflowed in the middle of calls", () => {
    const x = arange(64).reshape([8, 8])
    const out = zeros([8, 8])
    let failed = 0
    const dive = () => {
      try {
        dive()
      } catch {
        failed++
      }
      math.add(x.T, x, { out })
    }
    for (let i = 0; i < 40; i++) {
      try {
        dive()
      } catch {}
    }
    assert.ok(failed > 0)
    assert.deepEqual(
      math.add(x.T, x).toArray(),
      x.toArray().map((row, i) => row.map((value, j) => value + 8 * j + i)),
    )
    assert.equal(
      math
        .less(x, 5)
        .astype('int32')
        .toArray()
        .flat()
        .reduce((a, b) => a + b),
      5,
    )
  })

  it('stages what the target overwrites, and counts it', () => {
    const x = arange(6)
    const { count, bytes } = memory().staged
    math.add(x.flip(0), 1, { out: x })
    assert.deepEqual(x.toArray(), [6, 5, 4, 3, 2, 1])
    assert.deepEqual([memory().staged.count, memory().staged.bytes], [count + 1, bytes + 24])
  })

  it('goes on after a call that was given no numbers', () => {
    refuses(() => math.add(tensor([1]), 'x'))
    refuses(() => math.sqrt(zeros([2], 'bool')))
    assert.deepEqual(math.add(tensor([1]), 1).toArray(), [2])
  })
})

describe('arithmetic in memory that grows', () => {
  needs('memory that grows')

  it('during a call, for a copy of a source, goes on with the right bytes', () => {
    const half = () => (wasmMemory().buffer.byteLength / 8) | 0
    const x = empty([half()]).fill(1)
    x.set(3, 0)
    const [grown, size] = [memory().grown, wasmMemory().buffer.byteLength]
    const held = []
    while (wasmMemory().buffer.byteLength === size) {
      // fills what is left, so that the copy has no room
      math.add(x.flip(0), 1, { out: x })
      if (wasmMemory().buffer.byteLength === size) held.push(empty([1 << 16]))
    }
    assert.ok(memory().grown > grown)
    const calls = held.length + 1
    assert.deepEqual(
      [x.get(0), x.get(1), x.get(-1)],
      calls % 2 === 1 ? [1 + calls, 1 + calls, 3 + calls] : [3 + calls, 1 + calls, 1 + calls],
    )
    for (const t of [x, ...held]) t.dispose()
  })

  it('by the program between calls', () => {
    const x = arange(4)
    wasmMemory().grow(1)
    assert.deepEqual(math.add(x, x).toArray(), [0, 2, 4, 6])
    wasmMemory().grow(1)
    assert.deepEqual(
      tidy(() => math.multiply(x, 2).toArray()),
      [0, 2, 4, 6],
    )
  })
})
