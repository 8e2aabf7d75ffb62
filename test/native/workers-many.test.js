'use strict'
const assert = require('node:assert/strict')
const { childJson, nativeOnly } = require('../setup')
const { WORK } = require('./work')

// Every test has a process of its own, which must end with exit code 0.
describe('many worker_threads', function () {
  nativeOnly()

  it('use the library, 40 in turn, and leave the process well', async () => {
    const results = await childJson(`
      const { Worker } = require('node:worker_threads')
      async function main () {
        const results = []
        for (let i = 0; i < 40; i++) {
          const worker = new Worker(${JSON.stringify(WORK + "require('node:worker_threads').parentPort.postMessage(sum)")}, { eval: true })
          let said
          worker.on('message', message => { said = message })
          const code = await new Promise((resolve, reject) => worker.on('error', reject).on('exit', resolve))
          results.push(said + ' ' + code)
        }
        console.log(JSON.stringify([...new Set(results)]))
      }
      main()
    `)
    assert.deepEqual(results, ['1,3,2,4 0'])
  })

  it('are terminated while they spin with tensors alive, 20 times', async () => {
    const spin =
      WORK +
      `
      require('node:worker_threads').parentPort.postMessage('spinning')
      const big = zeros([4096])
      for (let i = 0; ; i++) { held[i % 100] = big.slice('1:').clone().fill(i); kept.fill(i) }
    `
    const codes = await childJson(`
      const { Worker } = require('node:worker_threads')
      async function main () {
        const codes = []
        for (let i = 0; i < 20; i++) {
          const worker = new Worker(${JSON.stringify(spin)}, { eval: true })
          await new Promise((resolve, reject) => worker.on('message', resolve).on('error', reject))
          await new Promise(resolve => setTimeout(resolve, i))
          codes.push(await worker.terminate())
        }
        console.log(JSON.stringify(codes.length))
      }
      main()
    `)
    assert.equal(codes, 20)
  })
})
