'use strict'
// What samebytes doctor --try-native runs in a process of its own, which may die of it: the addon loads, computes, maps a file that
// is replaced meanwhile, and works in a second thread. An error says what did not work. Its argument is a folder for files.

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

async function main() {
  compute()
  if (!isMainThread) return
  map(process.argv[2])
  const worker = new Worker(__filename)
  await new Promise((resolve, reject) => {
    worker.once('error', reject).once('exit', resolve)
  })
}

main().catch((error) => {
  if (!isMainThread) throw error
  console.error(error)
  process.exitCode = 1
})
