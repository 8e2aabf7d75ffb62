'use strict'
// Algorithms and their WebAssembly module: when its instance is made, what it leaves, growth during calls.
const assert = require('node:assert/strict')
const samebytes = require('samebytes')
const math = require('samebytes/math')
const { childJson, isPage, leavesNothing, needs, quietMemory, refuses } = require('../setup')
const { needsMath } = require('./load')

const { arange, backend, empty, fromBlob, memory, tensor, tidy, wasmMemory, zeros } = samebytes
const { linalg } = math

/** Begins programs: MADE gets the name of each module over the main one's memory that an instance is made of. */
const WATCH = `
  const made = []
  const { Instance } = WebAssembly
  WebAssembly.Instance = class extends Instance {
    constructor (module, imports) {
      super(module, imports)
      const { name } = WebAssembly.Module.exports(module).find(({ name }) => /^sb_\\w+_call$/.test(name)) ?? {}
      if (name !== undefined) made.push(name)
    }
  }
  const { arange, fromBlob, memory, tensor, tidy, wasmMemory, empty } = require('samebytes')
  const cross = () => require('samebytes/math').linalg.cross(tensor([1, 0, 0]), tensor([0, 1, 0])).toArray().join()
`
const AXES = '0,0,1'

describe('algorithms', () => {
  needsMath()

  it('come beside arithmetic, whose numbers stay what they are', async () => {
    const [a, b] = [tensor([1, 2, 3]), tensor([4, 5, 6])]
    for (let i = 0; i < 3; i++) {
      assert.deepEqual(math.add(a, b).toArray(), [5, 7, 9])
      assert.deepEqual(linalg.cross(a, b).toArray(), [-3, 6, -3])
      assert.equal(math.sum(a).item(), 6)
    }
    assert.deepEqual((await linalg.crossAsync(a, b)).toArray(), [-3, 6, -3])
    assert.deepEqual([linalg.cross.name, linalg.crossAsync.name], ['cross', 'crossAsync'])
  })

  it('leave nothing behind: results, operands that are staged, and refusals', async () => {
    const x = arange(9000, undefined, undefined, { dtype: 'float32' }).reshape([3000, 3])
    const caller = fromBlob(new Float32Array(9000), [3000, 3])
    await quietMemory()
    leavesNothing(() => {
      tidy(() => {
        for (let i = 0; i < 20; i++) {
          linalg.cross(x, caller)
          linalg.cross(x.flip(0), x, { out: x })
          linalg.cross(caller, x, { out: caller })
          refuses(() => linalg.cross(x, zeros([2])))
          refuses(() => linalg.cross(x, x, { out: zeros([3]) }))
          refuses(() => linalg.cross(x, x, { out: empty([3000, 3], 'int32') }))
        }
      })
    })
  })

  it("go on after the engine's stack overflowed in the middle of calls", () => {
    const x = arange(30).reshape([10, 3])
    const out = zeros([10, 3])
    let failed = 0
    const dive = () => {
      try {
        dive()
      } catch {
        failed++
      }
      linalg.cross(x.flip(0), x, { out })
      math.add(x, 1, { out })
    }
    for (let i = 0; i < 40; i++) {
      try {
        dive()
      } catch {}
    }
    assert.ok(failed > 0)
    assert.deepEqual(linalg.cross(tensor([1, 2, 3]), tensor([4, 5, 6])).toArray(), [-3, 6, -3])
    assert.deepEqual(math.less(arange(4), 2).toArray(), [true, true, false, false])
  })
})

describe('algorithms in memory that grows', () => {
  needsMath()
  needs('memory that grows')

  it('during a call, for a copy of a source, go on with the right bytes', () => {
    const rows = () => (wasmMemory().buffer.byteLength / 8 / 12) | 0
    const x = tensor([1, 0, 0]).expand([rows(), 3]).contiguous()
    const y = tensor([0, 1, 0])
    const [grown, size] = [memory().grown, wasmMemory().buffer.byteLength]
    const held = []
    const piece = Math.max(1 << 16, x.size >> 4) // of what the copy needs: earlier tests may have left gigabytes to fill
    let calls = 0
    while (wasmMemory().buffer.byteLength === size) {
      // fills what is left, so that the copy has no room
      linalg.cross(y, x.flip(0), { out: x })
      calls++
      if (wasmMemory().buffer.byteLength === size) held.push(empty([piece]))
    }
    assert.ok(memory().grown > grown)
    const wanted = [
      [1, 0, 0],
      [0, 0, -1],
      [-1, 0, 0],
      [0, 0, 1],
    ][calls % 4]
    for (const i of [0, 1, -1]) {
      assert.deepEqual(
        math.equal(x.slice(`${i}`), tensor(wanted)).toArray(),
        [true, true, true],
        `${calls} calls`,
      )
    }
    for (const t of [x, ...held]) t.dispose()
  })
})

describe('the module of algorithms', () => {
  needs('a Node of its own')
  needs('memory that grows')
  needsMath()

  it('has an instance once the first of its functions is called: who only adds has none', async () => {
    const seen = await childJson(`${WATCH}
      const math = require('samebytes/math')
      const seen = [math.add(tensor([1]), 1).item(), ...made]
      seen.push(cross(), ...made, cross(), made.length)
      console.log(JSON.stringify(seen))`)
    assert.deepEqual(seen, [2, 'sb_math_call', AXES, 'sb_math_call', 'sb_algorithms_call', AXES, 2])
  })

  it('changes no count of memory(), and outlives tidy() that it is first used in', async () => {
    const [before, after, later] = await childJson(
      `
      ${WATCH}
      const x = arange(100)
      const before = memory()
      const first = tidy(cross)
      gc()
      const after = memory()
      console.log(JSON.stringify([before, after, [first, cross()]]))`,
      { flags: ['--expose-gc'] },
    )
    assert.deepEqual(later, [AXES, AXES])
    const counts = ({ tensors, storages, bytes }) => [tensors, storages, bytes.wasm, bytes.native]
    assert.deepEqual(counts(after), counts(before))
  })

  it("is placed in memory that has to grow for it, while operands are the caller's", async () => {
    const [grew, sums] = await childJson(`
      ${WATCH}
      const math = require('samebytes/math')
      math.add(tensor([1]), 1)
      const caller = fromBlob(Float32Array.of(1, 0, 0), [3])
      const y = tensor([0, 1, 0])
      const held = []
      const { byteLength } = wasmMemory().buffer
      while (wasmMemory().buffer.byteLength === byteLength) held.push(empty([1 << 14])) // of 64 KB
      const more = Math.floor((wasmMemory().buffer.byteLength - byteLength) / (65536 + 64)) - 1
      for (let i = 0; i < more; i++) held.push(empty([1 << 14])) // fills what it grew by: the module takes more than is left
      const before = wasmMemory().buffer.byteLength
      const z = math.linalg.cross(caller, y)
      const grew = wasmMemory().buffer.byteLength - before
      math.linalg.cross(y, caller, { out: caller })
      console.log(JSON.stringify([grew, [z.toArray().join(), caller.toArray().join(), held.every(t => t.fill(1).get(-1) === 1), cross()]]))`)
    assert.ok(grew > 0)
    assert.deepEqual(sums, [AXES, '0,0,-1', true, AXES])
  })

  it('that cannot be read is refused, arithmetic goes on, and later calls try again', async () => {
    const [error, sum, out, later] = await childJson(`
      const fs = require('fs')
      const { readFileSync } = fs
      fs.readFileSync = (file, ...rest) => {
        if (String(file).includes('samebytes-algorithms')) throw Object.assign(new Error('ENOENT: no such file, ' + file), { code: 'ENOENT' })
        return readFileSync(file, ...rest)
      }
      ${WATCH}
      const math = require('samebytes/math')
      const out = tensor([7, 7, 7])
      let error
      try { math.linalg.cross(tensor([1, 0, 0]), tensor([0, 1, 0]), { out }) } catch ({ code, message }) { error = [code, message] }
      const sum = math.add(out, 1).toArray()
      fs.readFileSync = readFileSync
      console.log(JSON.stringify([error, sum, out.toArray(), cross()]))`)
    assert.equal(error[0], 'ERR_UNSUPPORTED')
    assert.match(error[1], /could not be read: ENOENT.*samebytes-algorithms(-shared)?\.wasm/)
    assert.deepEqual([sum, out, later], [[8, 8, 8], [7, 7, 7], AXES])
  })

  it('that is another one, or of another build, is refused, and leaves no bytes', async () => {
    const [other, none, older, grown] = await childJson(`
      const fs = require('fs')
      const { readFileSync } = fs
      let name = 'samebytes-math.wasm'
      fs.readFileSync = (file, ...rest) => readFileSync(String(file).replace(/samebytes-algorithms(-shared)?\\.wasm/, name ?? '$&'), ...rest)
      ${WATCH}
      const refusal = () => { try { return cross() } catch ({ code, message }) { return code + ' ' + message } }
      const other = refusal()
      name = 'samebytes-parsers.wasm'
      const none = refusal()
      name = undefined
      WebAssembly.Instance = class { constructor () { throw new WebAssembly.LinkError('import sb_later') } }
      const older = refusal()
      const { byteLength } = wasmMemory().buffer
      for (let i = 0; i < 100; i++) refusal()
      console.log(JSON.stringify([other, none, older, wasmMemory().buffer.byteLength - byteLength]))`)
    for (const text of [other, none]) {
      assert.match(
        text,
        /^ERR_FORMAT the module is not the one for algorithms \(samebytes-algorithms\.wasm\)$/,
      )
    }
    assert.match(
      older,
      /^ERR_FORMAT samebytes-algorithms\.wasm is not of this build: import sb_later$/,
    )
    assert.equal(grown, 0)
  })
})

describe("init's options in Node", () => {
  it('are checked, though the import makes everything ready', async () => {
    await samebytes.init({
      math: true,
      algorithms: false,
      ...(isPage ? {} : { shared: backend() === 'wasm-shared' }),
    })
    await assert.rejects(samebytes.init({ algorithms: 5 }), {
      code: 'ERR_ARGUMENT',
      message: /^algorithms is 5; true, false, a URL/,
    })
  })
})
