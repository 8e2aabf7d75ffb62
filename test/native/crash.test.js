'use strict'
const assert = require('node:assert/strict')
const { child, nativeOnly } = require('../setup')

// What could end a process if a check were missing runs in a process of its own.
const PROGRAMS = {
  'writes to data after dispose and collection': `
    const { full } = require('samebytes')
    const arrays = []
    for (let i = 0; i < 2000; i++) {
      const t = full([i % 50 + 1], i, i % 2 ? { shared: true } : {})
      arrays.push(t.data)
      t.dispose()
    }
    gc()
    arrays.forEach((array, i) => { if (array[0] !== i) throw new Error('lost ' + i); array.fill(-1) })
    for (let i = 0; i < 2000; i++) full([i % 50 + 1], i, { shared: true })
    gc()
    arrays.forEach(array => { if (array[0] !== -1) throw new Error('lost') })`,
  'exits while data of shared float32 memory is held': `
    const { full } = require('samebytes')
    globalThis.held = Array.from({ length: 1000 }, (_, i) => full([100], i, { shared: true })).map(t => [t, t.data])
    process.on('exit', () => { for (const [t, data] of held) { data[0] = t.get(1) } })`,
  'is asked for more memory than there is': `
    const { empty, zeros } = require('samebytes')
    let refused = 0
    for (const opts of [{}, { shared: true }, { dtype: 'complex128' }]) {
      for (const n of [2 ** 45, 2 ** 48, 2 ** 52, 2 ** 53 - 1]) {
        try { empty([n], opts) } catch (error) { if (!error.code) throw error; refused++ }
      }
    }
    if (refused !== 12) throw new Error('refused ' + refused)
    if (zeros([3]).get(2) !== 0) throw new Error('broken')`,
  'prints, inspects and serialises a detached, a disposed and a huge float32 tensor': `
    const { fromBlob, zeros } = require('samebytes')
    const util = require('node:util')
    const source = new Float32Array(4)
    const detached = fromBlob(source)
    structuredClone(source.buffer, { transfer: [source.buffer] })
    const disposed = zeros([3])
    disposed.dispose()
    const huge = zeros([1]).view([2 ** 26, 2 ** 26], { strides: [0, 0] })
    for (const t of [detached, disposed, huge]) {
      for (const show of [t => util.inspect(t), t => String(t), t => console.log(t)]) {
        try { show(t) } catch (error) { if (!error.code) throw error }
      }
    }`,
  'transfers buffers while views are alive': `
    const { fromBlob, full, zeros } = require('samebytes')
    for (let i = 0; i < 500; i++) {
      const t = full([i + 1], i)
      const views = [t.slice('::-1'), t.view([i + 1, 1]), t]
      const { buffer } = t.data
      structuredClone(buffer, { transfer: [buffer] })
      for (const v of views) {
        try { v.fill(1); throw new Error('filled') } catch (error) { if (error.code !== 'ERR_DETACHED') throw error }
        try { zeros([i + 1]).copyFrom(v); throw new Error('copied') } catch (error) { if (!error.code) throw error }
      }
      if (i % 50 === 0) gc()
    }`,
  'recurses deeply while it makes tensors': `
    const { zeros } = require('samebytes')
    const deep = n => { const t = zeros([2]); deep(n + 1); return t }
    try { deep(0) } catch (error) { if (!(error instanceof RangeError)) throw error }
    const list = []
    let inner = list
    for (let i = 0; i < 100000; i++) { const next = []; inner.push(next); inner = next }
    try { require('samebytes').tensor(list) } catch (error) { if (!(error instanceof Error)) throw error }
    if (zeros([2]).fill(4).get(1) !== 4) throw new Error('broken')`,
  'loads the library twice under two names': `
    const first = require('samebytes')
    for (const key of Object.keys(require.cache)) if (!key.endsWith('.node')) delete require.cache[key]
    const second = require('samebytes')
    const a = first.full([4], 1, { shared: true })
    const b = second.full([4], 2, { shared: true })
    const c = second.zeros([4])
    try { c.copyFrom(a) } catch (error) { if (!(error instanceof TypeError)) throw error }
    a.dispose()
    b.fill(3)
    if (b.get(0) !== 3) throw new Error('broken')
    gc()`,
}

describe('a process', function () {
  nativeOnly()

  for (const [name, program] of Object.entries(PROGRAMS)) {
    it(`that ${name} ends well`, async () => {
      const { code, signal, stderr } = await child(program, { flags: ['--expose-gc'] })
      assert.deepEqual({ code, signal }, { code: 0, signal: null }, stderr)
    })
  }
})
