'use strict'
// What samebytes doctor --try-native runs in a process of its own, which may die of it: the addon loads, computes, maps a file that
// is replaced meanwhile, works in a second thread, and shares memory with a second process. An error says what did not work. Its arguments are a
// folder for files, and in that second process the name of a segment.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { Worker, isMainThread } = require('node:worker_threads')
const samebytes = require('..')
const { add, matmul, sum } = require('../math')

/** @param {boolean} is @param {string} what */
function check(is, what) {
  if (!is) throw new Error(what)
}

function compute() {
  check(samebytes.backend() === 'native', 'the addon does not load')
  const t = samebytes.arange(60000).to('float64').reshape([200, 300])
  const { data } = t.T.contiguous()
  check(data[1] === 300 && data[59999] === 59999, 'a transpose has wrong elements')
  check(sum(add(t, 1)).item() === 1800030000, 'a sum is wrong')
  check(
    matmul(samebytes.ones([64, 64]), samebytes.ones([64, 64])).data[0] === 64,
    'a product of matrices is wrong',
  )
}

/** @param {string} folder */
function map(folder) {
  const file = path.join(folder, '\xe9-\u65e5\u672c.npy')
  samebytes.saveNpySync(file, samebytes.arange(100000).to('float64'))
  const before = samebytes.openNpy(file, { mode: 'r+' })
  before.data[1] = 7
  samebytes.saveNpySync(file, samebytes.ones([3]))
  check(before.data[1] === 7 && before.data[99999] === 99999, 'a mapped file has wrong elements')
  check(samebytes.openNpy(file).data.length === 3, 'a mapped file cannot be replaced')
}

/** @param {string} folder */
async function share(folder) {
  const name = `samebytes-doctor-${process.pid}`
  const shared = samebytes.SharedTensor.create(name, [2], { dtype: 'int32' })
  try {
    const peer = fork(__filename, [folder, name])
    const ended = new Promise((resolve, reject) => peer.once('error', reject).once('exit', resolve))
    while (shared.tensor.get(0) === 0 && peer.exitCode === null && peer.signalCode === null) {
      await Promise.race([shared.wait(0, 0), ended])
    }
    shared.tensor.set(1, 1)
    shared.notify(1)
    check((await ended) === 0, 'a second process does not see what this one writes')
  } finally {
    shared.dispose()
    samebytes.SharedTensor.unlink(name)
  }
}

/** What the second process does. @param {string} name */
async function answer(name) {
  process.once('disconnect', () => process.exit(1)) // the first one was killed
  const shared = samebytes.SharedTensor.open(name)
  shared.tensor.set(1, 0)
  shared.notify(0)
  while (shared.tensor.get(1) === 0) await shared.wait(1, 0)
  process.exit() // the channel would keep it
}

async function main() {
  if (process.argv.length > 3) return await answer(process.argv[3])
  compute()
  if (!isMainThread) return
  map(process.argv[2])
  const worker = new Worker(__filename)
  await once(worker, 'exit')
  if (process.versions.deno === undefined) await share(process.argv[2]) // it opens no files by descriptors
}

main().catch((error) => {
  if (!isMainThread) throw error
  console.error(error)
  process.exitCode = 1
})
