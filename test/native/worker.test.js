'use strict'
const assert = require('node:assert/strict')
const { childJson, nativeOnly } = require('../setup')
const { WORK } = require('./work')

// Every test has a process of its own, which must end with exit code 0.
describe('worker_threads', function () {
  nativeOnly()

  it('use the library, 8 at once, with the main thread busy too', async () => {
    const results = await childJson(`
      const { Worker } = require('node:worker_threads')
      const { full, zeros } = require('samebytes')
      const mine = full([1000], 5)
      const other = zeros([1000], { shared: true })
      const run = () => new Promise((resolve, reject) => {
        const worker = new Worker(${JSON.stringify(WORK + "require('node:worker_threads').parentPort.postMessage(sum)")}, { eval: true })
        let said
        worker.on('message', message => { said = message }).on('error', reject).on('exit', code => resolve(said + ' ' + code))
      })
      const timer = setInterval(() => { for (let i = 0; i < 100; i++) other.copyFrom(mine).fill(i) }, 1)
      Promise.all(Array.from({ length: 8 }, run)).then(results => {
        clearInterval(timer)
        console.log(JSON.stringify([[...new Set(results)], mine.get(999)]))
      })
    `)
    assert.deepEqual(results, [['1,3,2,4 0'], 5])
  })

  it('load it where the main thread never did', async () => {
    const result = await childJson(`
      const { Worker } = require('node:worker_threads')
      const source = "require('node:worker_threads').parentPort.postMessage(require('samebytes').tensor([1, 2]).toArray())"
      async function main () {
        let last
        for (let i = 0; i < 5; i++) {
          const worker = new Worker(source, { eval: true })
          worker.on('message', message => { last = message })
          await new Promise((resolve, reject) => worker.on('error', reject).on('exit', resolve))
        }
        console.log(JSON.stringify(last))
      }
      main()
    `)
    assert.deepEqual(result, [1, 2])
  })

  it('end by process.exit and by an uncaught error with tensors alive', async () => {
    const result = await childJson(`
      const { Worker } = require('node:worker_threads')
      const end = source => new Promise(resolve => {
        let error
        const worker = new Worker(${JSON.stringify(WORK)} + source, { eval: true })
        worker.on('error', reason => { error = reason.message }).on('exit', code => resolve([code, error]))
      })
      end('process.exit(3)').then(async first => {
        console.log(JSON.stringify([first, await end("throw new Error('mine')")]))
      })
    `)
    assert.deepEqual(result, [
      [3, null],
      [1, 'mine'],
    ])
  })
})
