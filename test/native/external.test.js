'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { childJson, nativeOnly, skipWithout } = require('../setup')

// What Node.js says of memory outside V8's heap. `arrayBuffers` is what its own allocator gave for ArrayBuffers, and
// SharedArrayBuffers; `external` is the length of all ArrayBuffers that are not shared, whosever bytes they show. Neither knows
// what V8 was told of native memory: that is `pressure`, a number that the test addon gives.
const MIB = 2 ** 20
const NBYTES = 8 * MIB
const SLACK = 256 * 1024 // bytes: alignment, headers of files, what Node.js itself does meanwhile
const FILE_PRESSURE = 65536 // what a mapping counts as, so that those which nobody closes are collected at last

/** How far a number of a process grew while it made tensors, asked for `data`, disposed them and collected. */
const PROGRAM = `
  const samebytes = require('samebytes')
  const { backend } = require(process.cwd() + '/js/backend/calls')
  const turn = () => new Promise(resolve => setImmediate(resolve))
  const sample = () => {
    const { external, arrayBuffers } = process.memoryUsage()
    const { v8, native, mapped, shared } = samebytes.memory().bytes
    return { external, arrayBuffers, pressure: backend.addon.pressure(), v8, native, mapped, shared }
  }
  const collect = async () => { for (let i = 0; i < 6; i++) { gc(); await turn(); await turn() } }
  const since = before => { const now = sample(); return Object.fromEntries(Object.keys(before).map(key => [key, now[key] - before[key]])) }
  const grow = async make => {
    await collect()
    const before = sample()
    let tensors = make()
    const made = since(before)
    let data = tensors.map(t => t.data)
    const seen = since(before)
    for (const t of tensors) t.dispose()
    const disposed = since(before)
    tensors = data = null
    await collect()
    return { made, seen, disposed, gone: since(before) }
  }
  const main = async make => {
    await grow(make) // the first time something is read and compiled
    console.log(JSON.stringify(await grow(make)))
  }`

describe('process.memoryUsage', function () {
  nativeOnly()
  const file = path.join(os.tmpdir(), `samebytes-external-${process.pid}.npy`)
  after(() => {
    fs.rmSync(file, { force: true })
  })

  const grown = (make) =>
    childJson(`${PROGRAM}\nmain(() => { ${make} })`, { flags: ['--expose-gc'] })

  /** Each number grew by this much, within what alignment explains. */
  function grew(found, wanted, when) {
    for (const [key, nbytes] of Object.entries(wanted)) {
      assert.ok(
        Math.abs(found[key] - nbytes) <= SLACK,
        `${when}: ${key} grew by ${found[key]}; ${nbytes} was expected`,
      )
    }
  }

  const NOTHING = {
    external: 0,
    arrayBuffers: 0,
    pressure: 0,
    v8: 0,
    native: 0,
    mapped: 0,
    shared: 0,
  }

  it('counts owned tensors, once, until they are collected', async () => {
    const { made, seen, disposed, gone } = await grown(
      `return [samebytes.empty([${NBYTES}], { dtype: 'uint8' })]`,
    )
    const all = {
      external: NBYTES,
      arrayBuffers: NBYTES,
      pressure: NBYTES,
      native: 0,
      mapped: 0,
      shared: 0,
    }
    grew(made, { ...all, v8: NBYTES }, 'made')
    grew(seen, { ...all, v8: NBYTES }, 'seen')
    grew(disposed, all, 'disposed') // V8 frees it, when it collects
    grew(gone, NOTHING, 'gone')
  })

  it('counts small tensors by their blocks', async () => {
    const { made, gone } = await grown(
      "return Array.from({ length: 20000 }, () => samebytes.zeros([64], { dtype: 'float32' }))",
    )
    const nbytes = 20000 * 256
    assert.ok(
      Math.abs(made.external - made.v8) <= SLACK + made.v8 / 32,
      `${made.external} beside ${made.v8}`,
    ) // a block is 64 bytes longer than what it holds
    assert.ok(made.v8 >= nbytes - SLACK && made.v8 <= nbytes + SLACK, String(made.v8))
    grew(gone, NOTHING, 'gone')
  })

  it('tells V8 of native tensors at once, and counts them with their buffer, once', async () => {
    const { made, seen, gone } = await grown(
      `return [samebytes.empty([${NBYTES}], { dtype: 'uint8', shared: true })]`,
    )
    grew(
      made,
      {
        external: 0,
        arrayBuffers: 0,
        pressure: NBYTES,
        v8: 0,
        native: NBYTES,
        mapped: 0,
        shared: 0,
      },
      'made',
    )
    grew(
      seen,
      {
        external: NBYTES,
        arrayBuffers: 0,
        pressure: NBYTES,
        v8: 0,
        native: NBYTES,
        mapped: 0,
        shared: 0,
      },
      'seen',
    )
    grew(gone, NOTHING, 'gone')
  })

  it('counts SharedArrayBuffers where Node.js does', async () => {
    const { made, seen, gone } = await grown(
      `return [samebytes.empty([${NBYTES}], { dtype: 'uint8', shared: 'sab' })]`,
    )
    for (const found of [made, seen]) {
      grew(
        found,
        { external: 0, arrayBuffers: NBYTES, v8: 0, native: 0, mapped: 0, shared: NBYTES },
        'made',
      )
    }
    grew(gone, NOTHING, 'gone')
  })

  const isCorrected = Number(process.versions.node.split('.')[0]) < 23 // newer ones end the process where it would be taken back too late

  it('does not take mapped files for memory that V8 should save; external has them once data is asked for', async () => {
    const { ones, saveNpySync } = require('samebytes')
    saveNpySync(file, ones([NBYTES], { dtype: 'uint8' }))
    const { made, seen, gone } = await grown(`return [samebytes.openNpy(${JSON.stringify(file)})]`)
    grew(
      made,
      {
        external: 0,
        arrayBuffers: 0,
        pressure: FILE_PRESSURE,
        v8: 0,
        native: 0,
        mapped: NBYTES,
        shared: 0,
      },
      'made',
    )
    grew(
      seen,
      {
        external: NBYTES,
        arrayBuffers: 0,
        pressure: FILE_PRESSURE + (isCorrected ? 0 : NBYTES),
        v8: 0,
        native: 0,
        mapped: NBYTES,
        shared: 0,
      },
      'seen',
    )
    grew(gone, NOTHING, 'gone')
  })

  it('tells V8 of the segments that it makes, so that it collects those that nobody holds; external has them once data is asked for', async function () {
    skipWithout(this, 'sealed memory')
    const { made, seen, gone } = await grown(
      `return [samebytes.SharedTensor.create(null, [${NBYTES}], { dtype: 'uint8' }).tensor]`,
    )
    const known = { arrayBuffers: 0, v8: 0, native: 0, mapped: NBYTES, shared: 0 }
    grew(made, { ...known, external: 0, pressure: FILE_PRESSURE + NBYTES }, 'made')
    grew(
      seen,
      { ...known, external: NBYTES, pressure: FILE_PRESSURE + NBYTES + (isCorrected ? 0 : NBYTES) },
      'seen',
    )
    grew(gone, NOTHING, 'gone')
  })

  it("leaves the caller's bytes to the caller", async () => {
    const { made, seen, gone } = await grown(
      `globalThis.bytes ??= new Uint8Array(${NBYTES}); return [samebytes.fromBlob(bytes)]`,
    )
    grew(made, NOTHING, 'made')
    grew(seen, NOTHING, 'seen')
    grew(gone, NOTHING, 'gone')
  })
})
