'use strict'
const assert = require('node:assert/strict')
const { getEnvironmentData, setEnvironmentData, Worker } = require('node:worker_threads')
const { zeros } = require('samebytes')
const { anotherCopy, fails } = require('../setup')
const { start } = require('../../js/backend/wasm-shared')
const { version } = require('../../js/base/version')
const { environments } = require('./workers')

const KEY = 'samebytes.memory'

describe('another copy of the package over one memory', () => {
  const place = getEnvironmentData(KEY)
  const other = { ...place, group: { ...place.group, version: '0.0.9' } }

  it('joins it where its version is the same', () => {
    const copy = anotherCopy()
    const t = zeros([2])
    assert.equal(copy.wasmMemory(), require('samebytes').wasmMemory())
    const u = copy.fromBlob(t.data).fill(5)
    assert.deepEqual([t.toArray(), u.dataPtr], [[5, 5], t.dataPtr])
  })

  it('of another version is refused, and says both', () => {
    const count = environments()
    fails(
      () => start(other.group),
      Error,
      'ERR_UNSUPPORTED',
      new RegExp(`0\\.0\\.9; this is ${version.replaceAll('.', '\\.')}`),
    )
    assert.equal(environments(), count)
  })

  it('of another version in a worker is refused there', async () => {
    let worker
    setEnvironmentData(KEY, other)
    try {
      worker = new Worker("require('samebytes')", { eval: true })
    } finally {
      setEnvironmentData(KEY, place)
    }
    const error = await new Promise((resolve, reject) =>
      worker.once('error', resolve).once('exit', reject),
    )
    assert.equal(error.code, 'ERR_UNSUPPORTED')
    assert.match(error.message, /0\.0\.9/)
  })
})
