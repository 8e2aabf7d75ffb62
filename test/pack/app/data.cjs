'use strict'
// Takes `data` over native memory, here or in workers, and ends; says `done` before.
//   data.cjs main     the program itself ends with it
//   data.cjs workers  15 workers end with it, one after another; what they moved to this thread is read afterwards
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')
const { fromBlob, openNpy, saveNpy, zeros } = require('samebytes')
const assert = require('node:assert')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const file = isMainThread ? path.join(os.tmpdir(), `samebytes-data-${process.pid}.npy`) : workerData

/** Kept by the module until the environment ends. */
function take() {
  const owner = zeros([64], { shared: true })
  return [
    openNpy(file),
    zeros([1000], { shared: true }),
    fromBlob(owner.dataPtr, [64], { dtype: 'float32', owner }),
  ].map((t) => t.data)
}

async function main(how) {
  await saveNpy(file, zeros([1000]))
  globalThis.taken = take()
  if (how === 'workers') {
    for (let i = 0; i < 15; i++) await work(i)
    for (const t of globalThis.taken) assert.equal(t[0], 0)
  }
  fs.unlinkSync(file)
  console.log('done')
}

/** A worker that ends by itself, or is terminated. */
async function work(i) {
  const worker = new Worker(__filename, { workerData: file })
  const moved = await new Promise((resolve, reject) =>
    worker.once('message', resolve).once('error', reject),
  )
  if (i % 2 === 0) {
    worker.postMessage('end')
    await new Promise((resolve) => worker.once('exit', resolve))
  } else {
    await worker.terminate()
  }
  if (moved !== null) assert.deepEqual([...new Float32Array(moved)], new Array(4096).fill(7))
  for (let round = 0; round < 8; round++) globalThis.taken = take() // uses memory that the worker had
}

/** Sends bytes to the main thread, where this runtime can move such buffers, and has others of its own. */
function worker() {
  globalThis.taken = take()
  const { buffer } = zeros([4096], { shared: true }).fill(7).data
  parentPort.once('message', () => process.exit())
  try {
    const moved = typeof buffer.transfer === 'function' ? buffer.transfer() : buffer
    parentPort.postMessage(moved, [moved])
  } catch {
    parentPort.postMessage(null)
  }
}

if (isMainThread) main(process.argv[2])
else worker()
