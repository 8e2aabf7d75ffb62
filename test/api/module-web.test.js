'use strict'
// Modules over onnxruntime-web, in a Node of its own: what is loaded beside onnxruntime-node works with that one's sessions.
const assert = require('node:assert/strict')
const { Module } = require('samebytes/module')
const { memory, ones, zeros } = require('samebytes')
const { ADD, DOUBLE, loadOrt } = require('../models')
const { ALL_SHARED, childJson, isPage, needs, skip } = require('../setup')

const PROGRAM = `
  const { memory, ones, tensor, zeros } = require('samebytes')
  const { Module } = require('samebytes/module')
  const { ADD, BOTH, same } = require('./test/models')
  const ort = require('onnxruntime-web')
  const refusal = promise => promise.then(() => 'none', ({ code, message }) => [code, message])
  ;(async () => {
    const module = await Module.load({ forward: ADD, both: BOTH, text: same('string'), halves: same('float16') }, { ort })
    const x = ones([2, 3])
    const told = []
    const before = memory()
    told.push((await module.forward(x, x))[0].toArray())
    told.push(memory().staged.bytes - before.staged.bytes, JSON.stringify(memory().copied) === JSON.stringify(before.copied))
    told.push((await module.execute('text', ['a', 'é']))[0], (await module.execute('halves', [0.5]))[0].item())
    const c = zeros([2, 3])
    told.push((await module.run([x, x], { outputs: [c] }))[0] === c && c.toArray(), memory().copied.run)
    module.setOutput('c', c.fill(7))
    told.push((await module.forward(x, x))[0] === c && c.toArray(), memory().copied.run)
    module.setOutput('c', null)
    told.push((await module.forward(x, x))[0].shape, c.fill(5).toArray(), memory().inFlight)
    told.push((await refusal(module.run([x, x], { outputs: [zeros([1, 3])] })))[0])
    const all = await Promise.all(Array.from({ length: 10 }, (_, i) => module.execute('both', [i], [i])))
    told.push(all.map(([sum]) => sum.item()))
    told.push(await refusal(Module.load(Uint8Array.of(1, 2, 3), { ort }).catch(error => { throw Object.assign(error, { message: '' }) })))
    await module.dispose()
    console.log(JSON.stringify(told))
    process.exit(0) // onnxruntime-web keeps threads
  })()
`

const MIXED = `
  const { ones, zeros } = require('samebytes')
  const { Module } = require('samebytes/module')
  const { ADD } = require('./test/models')
  const ort = require('onnxruntime-web')
  ;(async () => {
    const x = ones([2, 3])
    const module = await Module.load(ADD, { ort })
    require('onnxruntime-node') // new sessions are this one's
    const other = await Module.load(ADD)
    const told = []
    for (let i = 0; i < 2; i++) {
      const c = zeros([2, 3])
      told.push(await module.run([x, x], { outputs: [c] }).then(() => c.toArray(), ({ code }) => code))
      if (!process.env.SAMEBYTES_BACKEND?.includes('shared')) {
        await other.run([x, x], { outputs: [c] })
        told.push(c.toArray())
      }
    }
    console.log(JSON.stringify(told.map(String)))
    process.exit(0) // onnxruntime-web keeps threads
  })()
`

describe('samebytes/module over onnxruntime-web', function () {
  describe('in Node', () => {
    needs('a Node of its own')
    it('runs models on float32, and copies results into given tensors, which is counted', async () => {
      const told = await childJson(PROGRAM)
      assert.deepEqual(told, [
        [
          [2, 2, 2],
          [2, 2, 2],
        ],
        0,
        true,
        ['a', 'é'],
        0.5,
        [
          [2, 2, 2],
          [2, 2, 2],
        ],
        { count: 1, bytes: 24 },
        [
          [2, 2, 2],
          [2, 2, 2],
        ],
        { count: 2, bytes: 48 },
        [2, 3],
        [
          [5, 5, 5],
          [5, 5, 5],
        ],
        0,
        'ERR_SHAPE',
        [0, 2, 4, 6, 8, 10, 12, 14, 16, 18],
        ['ERR_FORMAT', ''],
      ])
    })
  })

  describe('beside onnxruntime-node', () => {
    needs('a Node of its own')
    it('copies into given tensors, also when others now write them', async () => {
      const told = await childJson(MIXED)
      const right = ALL_SHARED ? ['2,2,2,2,2,2'] : ['2,2,2,2,2,2', '2,2,2,2,2,2']
      assert.deepEqual(told, [...right, ...right])
    })
  })

  describe('in a page', () => {
    before(function () {
      if (!isPage) skip(this, 'about onnxruntime-web in a page')
    })
    it('copies results into given tensors, by run and by setOutput, which is counted', async () => {
      const module = await Module.load({ forward: ADD, double: DOUBLE }, { ort: await loadOrt() })
      const [x, c] = [ones([2, 3]), zeros([2, 3])]
      const before = memory().copied.run ?? { count: 0, bytes: 0 }
      const runs = [
        () => module.run([x, x], { outputs: [c] }),
        () => {
          module.setOutput('c', c)
          return module.forward(x, x)
        },
      ]
      for (const run of runs) {
        c.zero()
        const pending = run()
        assert.throws(() => c.fill(1), { code: 'ERR_BUSY' })
        assert.equal((await pending)[0], c)
        assert.deepEqual(c.toArray(), [
          [2, 2, 2],
          [2, 2, 2],
        ])
      }
      const { count, bytes } = memory().copied.run
      assert.deepEqual([count - before.count, bytes - before.bytes], [2, 48])
      await module.dispose()
    })

    it('gives the event loop a turn in each run, so that a loop of runs is collected', async () => {
      const module = await Module.load(DOUBLE, { ort: await loadOrt() })
      await module.forward([1, 2])
      for (let i = 0; i < 3; i++) {
        let turned = false
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = () => {
          turned = true
        }
        port2.postMessage(null)
        await module.forward([1, 2])
        port1.close()
        assert.ok(turned)
      }
      await module.dispose()
    })

    it('does not wait for pending copies, which take a turn each', async () => {
      const module = await Module.load(DOUBLE, { ort: await loadOrt() })
      await module.forward([1, 2])
      const order = []
      const [from, ...targets] = Array.from({ length: 31 }, () => zeros([1000000]))
      const copies = targets.map((to, i) => to.copyFromAsync(from).then(() => order.push(i)))
      await module.forward([1, 2])
      assert.ok(order.length < 15, `${order.length} copies were done first`)
      await Promise.all(copies)
      for (const t of [from, ...targets]) t.dispose()
      await module.dispose()
    })
  })
})
