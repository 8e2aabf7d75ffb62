'use strict'
// Linear memory up to its last page: addresses beyond 2 GiB are negative where somebody takes them for signed.
const assert = require('node:assert/strict')
const { backend } = require('samebytes')
const { childJson, isPage, needs, needsMemory, skip } = require('../setup')

const JOINS = backend() === 'wasm-shared'

const FILL = `
  const { arange, arrayEqual, empty, memory, setMemoryLimit, sharesMemory, wasmMemory } = require('samebytes')
  setMemoryLimit(Infinity)
  const kept = []
  function fill (nbytes) {
    for (;;) {
      try { kept.push(empty([nbytes], 'uint8')) } catch (error) { return [error.code, error.message] }
    }
  }
  const half = fill(2 ** 29)
  const rest = [2 ** 25, 2 ** 20, 2 ** 16].map(fill)
  const last = kept.reduce((a, b) => a.dataPtr > b.dataPtr ? a : b)
  const other = kept.findLast(t => t !== last) // gives room for what the tests do
  kept.splice(kept.indexOf(other), 1)[0].dispose()
  const end = last.narrow(0, last.size - 65536, 65536)
`

describe('WASM memory of 4 GiB', function () {
  needs('memory that grows')
  needsMemory(2) // most of the 4 GiB is never touched

  it('is used to its end: views, elements, data and kernels work there', async () => {
    const { nbytes, top, seen, values, equal, copied, data, both } = await childJson(`${FILL}
      end.fill(7)
      const seen = [end.get(0), end.get(-1), last.get(-1), last.data[last.size - 1]]
      const floats = end.narrow(0, 65536 - 4096, 4096).view('float32').view([32, 32])
      floats.copyFrom(arange(1024).view([32, 32]))
      const values = floats.T.slice('30:', '30:').toArray()
      console.log(JSON.stringify({
        nbytes: wasmMemory().buffer.byteLength,
        top: Number(last.dataPtr) + last.nbytes,
        seen,
        values,
        equal: arrayEqual(floats, arange(1024).view([32, 32])),
        copied: floats.T.slice(0).contiguous().toArray().slice(-2),
        data: [floats.data[1023], floats.data.byteOffset > 2 ** 31],
        both: sharesMemory(floats, last) && !sharesMemory(floats, kept[0])
      }))`)
    assert.ok(nbytes > 2 ** 32 - 2 ** 20 && nbytes <= 2 ** 32, `${nbytes} bytes`)
    assert.ok(top > 2 ** 32 - 2 ** 21 && top <= 2 ** 32, `up to ${top}`)
    assert.deepEqual(seen, [7, 7, 7, 7])
    assert.deepEqual(values, [
      [990, 1022],
      [991, 1023],
    ])
    assert.equal(equal, true)
    assert.deepEqual(copied, [960, 992])
    assert.deepEqual(data, [1023, true])
    assert.equal(both, true)
  })

  it('lets arithmetic be opened where it is full, and another thread join', async function () {
    if (isPage) skip(this, 'in a page init makes arithmetic ready')
    const { at, got, joined } = await childJson(`${FILL}
      const { share, tensor } = require('samebytes')
      kept.splice(0).forEach(t => t.dataPtr < 2 ** 31 ? kept.push(t) : t.dispose())
      const t = tensor([3, 1, 2])
      const math = require('samebytes/math')
      const got = [math.add(t, 1), math.sort(t), math.linalg.inv(tensor([[2]]))].map(x => x.toArray())
      const tell = joined => console.log(JSON.stringify({ at: Number(t.dataPtr), got, joined }))
      if (!${JOINS}) tell(null)
      else {
        const { Worker } = require('node:worker_threads')
        const worker = new Worker(\`
          const { workerData, parentPort } = require('node:worker_threads')
          const { fromShared, init } = require('samebytes')
          init({ from: workerData }).then(() => {
            const t = fromShared(workerData).fill(9)
            parentPort.postMessage(require('samebytes/math').add(t, 1).toArray())
          })\`, { eval: true, workerData: share(t) })
        worker.on('message', tell)
        worker.on('error', error => tell(error.stack))
      }`)
    assert.ok(at > 2 ** 31, `${at}`)
    assert.deepEqual(got, [[4, 2, 3], [1, 2, 3], [[0.5]]])
    assert.ok(joined === null || joined.toString() === '10,10,10', joined)
  })

  it('is whole again when all is disposed', async () => {
    const { small, large } = await childJson(`${FILL}
      kept.splice(0).forEach(t => t.dispose())
      const counts = {}
      for (const [name, nbytes] of [['small', 3686400], ['large', 2 ** 30 - 2 ** 20]]) {
        fill(nbytes)
        counts[name] = kept.length
        kept.splice(0).forEach(t => t.dispose())
      }
      console.log(JSON.stringify(counts))`)
    assert.ok(small > 1150, `${small}`)
    assert.ok(large >= 3, `${large}`)
  })

  it('and no further: the message names the request and the limit, and all goes on', async () => {
    const { half, rest, after } = await childJson(`${FILL}
      const before = memory().tensors
      let beyond
      try { empty([2 ** 32], 'uint8') } catch (error) { beyond = error.code }
      kept.pop().dispose()
      const t = empty([1000], 'uint8').fill(3)
      console.log(JSON.stringify({ half, rest, after: [beyond, t.get(999), memory().tensors - before] }))`)
    assert.equal(half[0], 'ERR_MEMORY')
    assert.match(half[1], /^536870912 bytes .* of at most 4096 MiB\. Dispose tensors/)
    for (const [code] of rest) assert.equal(code, 'ERR_MEMORY')
    assert.deepEqual(after, ['ERR_MEMORY', 3, 0])
  })

  for (const seed of process.env.SAMEBYTES_FULL === '1' ? [1, 2, 3, 4, 5, 6, 7, 8] : [1]) {
    it(`by a random program of tensors of all sizes, none overlap, none reach beyond, and all keep their bytes (seed ${seed})`, async () => {
      const { overlaps, beyond, changed, refused, top } = await childJson(`
        const { empty, setMemoryLimit } = require('samebytes')
        setMemoryLimit(Infinity)
        let state = ${seed}
        const next = n => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32 * n | 0
        const SIZES = [100, 5000, 2 ** 20, 2 ** 26, 2 ** 28]
        const live = []
        const result = { overlaps: 0, beyond: 0, changed: 0, refused: 0, top: 0 }
        const canary = t => Number(t.dataPtr / 64n % 251n)
        const ends = t => [t.get(0), t.get(-1)]
        const drop = () => {
          const [t] = live.splice(next(live.length), 1)
          if (ends(t).some(value => value !== canary(t))) result.changed++
          t.dispose()
        }
        for (let step = 0; step < 3000; step++) {
          if (live.length > 0 && next(100) < 40) {
            drop()
            continue
          }
          let t
          try {
            t = empty([1 + next(SIZES[next(5)])], 'uint8')
          } catch (error) {
            if (error.code !== 'ERR_MEMORY') throw error
            result.refused++
            drop()
            continue
          }
          const from = Number(t.dataPtr)
          const to = from + t.nbytes
          result.top = Math.max(result.top, to)
          if (to > 2 ** 32) result.beyond++
          if (live.some(u => from < Number(u.dataPtr) + u.nbytes && Number(u.dataPtr) < to)) result.overlaps++
          t.set(canary(t), 0)
          t.set(canary(t), -1)
          live.push(t)
        }
        while (live.length > 0) drop()
        console.log(JSON.stringify(result))`)
      assert.deepEqual([overlaps, beyond, changed], [0, 0, 0])
      assert.ok(refused > 50 && top > 2 ** 32 - 2 ** 26, `${refused} refused, up to ${top}`)
    })
  }
})
