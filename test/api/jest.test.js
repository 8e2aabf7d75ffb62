'use strict'
const assert = require('node:assert/strict')
const { childJson, needs, nativeOnly } = require('../setup')

// Jest's resetModules gives files that are read afterwards other copies of those that were read before. Here the
// cache is emptied; test/bundlers has Jest itself.
describe("after Jest's resetModules", function () {
  needs('a Node of its own')

  /** What the program finds once Node's cache of modules was emptied. */
  const emptied = (program, env) =>
    childJson(
      `
    const sb = require('samebytes')
    const math = require('samebytes/math')
    const t = sb.tensor([1, 2, 3])
    for (const name of Object.keys(require.cache)) delete require.cache[name]
    const found = {}
    const attempt = (name, use) => { try { found[name] = use() } catch (error) { found[name] = String(error) } }
    ${program}
    console.log(JSON.stringify(found))
  `,
      { env: { JEST_WORKER_ID: '1', ...env } },
    )

  it("functions know this instance's float32 tensors, and read no file anew", async () => {
    const found = await emptied(`
      attempt('arange', () => sb.zeros([3]).copyFrom(sb.arange(3)).toArray())
      attempt('asarray', () => sb.asarray(t) === t)
      attempt('concat', () => sb.concat([t, t]).toArray())
      attempt('allClose', () => sb.allClose(t, sb.onesLike(t)))
      attempt('eye', () => sb.Tensor.isTensor(sb.eye(2)))
      attempt('roll', () => t.roll(1).toArray())
      attempt('flip', () => t.flip(0).toArray())
      attempt('accessor', () => t.accessor().get(2))
      attempt('add', () => math.add(t, 1).toArray())
      attempt('sum', () => math.sum(t).item())
      attempt('npy', () => sb.parseNpy(sb.toNpyBytes(t)).toArray())
      attempt('text', () => String(t))
      attempt('blob', () => sb.fromBlob(t.toBlob()).toArray())
      attempt('dtypes', () => sb.promoteTypes('int8', 'float64'))
      attempt('refusal', () => { try { t.get(3) } catch (error) { return error.code } })
      attempt('read', () => Object.keys(require.cache).filter(name => name.includes('/js/')))`)
    assert.deepEqual(found, {
      arange: [0, 1, 2],
      asarray: true,
      concat: [1, 2, 3, 1, 2, 3],
      allClose: false,
      eye: true,
      roll: [3, 1, 2],
      flip: [3, 2, 1],
      accessor: 3,
      add: [2, 3, 4],
      sum: 6,
      npy: [1, 2, 3],
      text: 'tensor([1., 2., 3.])',
      blob: [1, 2, 3],
      dtypes: 'float64',
      refusal: 'ERR_BOUNDS',
      read: [],
    })
  })

  it('every function, class and method that is there was read: nothing is declared for later', async () => {
    const found = await emptied(`
      const call = (object, name) => {
        try {
          if (typeof object[name] === 'function') Promise.resolve(object[name]()).catch(() => {})
        } catch {}
      }
      for (const name of Object.keys(sb)) call(sb, name)
      for (const name of Object.keys(sb.cuda)) call(sb.cuda, name)
      for (const name of Object.keys(math)) call(math, name)
      for (const name of Object.getOwnPropertyNames(sb.Tensor.prototype)) {
        if (name !== 'constructor') call(sb.tensor([[1, 2], [3, 4]]), name)
      }
      attempt('read', () => Object.keys(require.cache).filter(name => name.includes('/js/')))`)
    assert.deepEqual(found, { read: [] })
  })
})

// The addon outlives the files of a test, and has a handle of the event loop; test/bundlers runs Jest's own detectors.
describe('what the addon keeps', function () {
  needs('a Node of its own')
  nativeOnly()

  it('its handle tells whether the event loop stays alive', async () => {
    const found = await childJson(`
      const found = []
      require('node:async_hooks').createHook({ init: (id, type, trigger, resource) => { if (type === 'samebytes') found.push(resource) } }).enable()
      const { fromBlob, tensor } = require('samebytes')
      const kept = tensor([1])
      const made = found.length
      const told = () => found.map(resource => resource.hasRef())
      const seen = { made, unused: [], due: [], after: [] }
      const t = fromBlob(kept.dataPtr, [1], { dtype: 'float32', deleter: () => { setImmediate(() => { seen.after = told(); console.log(JSON.stringify(seen)) }) } })
      seen.unused = told()
      t.dispose()
      seen.due = told()`)
    assert.deepEqual(found, { made: 1, unused: [false], due: [true], after: [false] })
  })

  it('no AsyncLocalStorage of whoever loads the package or first waits', async () => {
    assert.deepEqual(
      await childJson(
        `
      const { AsyncLocalStorage } = require('node:async_hooks')
      const use = () => {
        const store = {}
        new AsyncLocalStorage().run(store, () => {
          const { fromBlob, tensor } = require('samebytes')
          const kept = tensor([1])
          fromBlob(kept.dataPtr, [1], { dtype: 'float32', deleter () { kept.dispose() } }).dispose()
        })
        return new WeakRef(store)
      }
      const store = use()
      setTimeout(() => {
        gc()
        console.log(JSON.stringify({ isGone: store.deref() === undefined }))
      }, 20)`,
        { flags: ['--expose-gc'] },
      ),
      { isGone: true },
    )
  })

  it('nothing of an instance of the package that is forgotten', async () => {
    assert.deepEqual(
      await childJson(
        `
      const path = require('node:path')
      const isAddon = name => name.endsWith('.node')
      const use = () => {
        const { memory, tensor, fromDlpack } = require('samebytes')
        const { sum } = require('samebytes/math')
        const capsule = tensor([1, 2]).__dlpack__()
        if (memory().exported !== 1) throw new Error('nothing is pinned')
        sum(fromDlpack(capsule))
        if (tensor([1]).__samebytes__ === undefined) throw new Error('no addon')
        const made = new Map()
        for (const [file, { exports }] of Object.entries(require.cache)) {
          if (isAddon(file)) continue
          const name = path.basename(file, '.js')
          made.set(name, new WeakRef(exports))
          for (const key of Object.keys(exports)) {
            const isClass = typeof exports[key] === 'function' && /^class /.test(exports[key])
            if (isClass) made.set(name + '.' + key, new WeakRef(exports[key]))
          }
        }
        return made
      }
      const made = use()
      const addons = Object.keys(require.cache).filter(isAddon).map(name => require.cache[name].exports)
      for (const name of Object.keys(require.cache)) delete require.cache[name]
      module.children.length = 0
      let turns = 0
      const later = () => {
        gc()
        if (++turns < 5) return setTimeout(later, 5)
        const left = [...made].filter(([name, ref]) => ref.deref() !== undefined).map(([name]) => name)
        console.log(JSON.stringify({ left, isMade: made.has('tensor.Tensor') && made.has('storage.SlotTable'), addons: addons.length }))
      }
      setTimeout(later, 5)`,
        { flags: ['--expose-gc'] },
      ),
      { left: [], isMade: true, addons: 2 },
    )
  })
})
