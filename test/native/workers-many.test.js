'use strict'
const assert = require('node:assert/strict')
const { childJson, nativeOnly } = require('../setup')

// Every test has a process of its own, which must end with exit code 0.
const WORK = `
  const { empty, fromBlob, full, memory, tensor, tidy, zeros } = require('samebytes')
  const held = []
  for (let i = 0; i < 300; i++) {
    held.push(full([i + 1], i), zeros([4], { shared: true }).fill(i))
    held.push(held[0].slice(':'), fromBlob(new Float32Array(4)))
  }
  const kept = full([4], 8, { shared: true })
  held.push(fromBlob(kept.dataPtr, [4], { dtype: 'float32', deleter () {} }))
  held.push(kept.data, held[1].data, held[0].data)
  for (let i = 0; i < 300; i += 2) held[i * 4 + 1].dispose()
  const sum = tensor([[1, 2], [3, 4]]).T.contiguous().toArray().flat().join()
`

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
    const spin = WORK + `
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
