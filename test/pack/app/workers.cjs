'use strict'
// A program and two workers of it; says which back end each has.
const { Worker, isMainThread, parentPort } = require('node:worker_threads')
const { backend } = require('samebytes')

async function main() {
  const seen = [backend()]
  for (let i = 0; i < 2; i++) {
    const worker = new Worker(__filename)
    seen.push(
      await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject)),
    )
    await worker.terminate()
  }
  console.log(seen.join(' '))
}

if (isMainThread) main()
else parentPort.postMessage(backend())
