'use strict'
// Waits that end because a word changes, as they do on systems without futexes as well.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { createNpy } = require('samebytes')
const { Tensor } = require('../../js/tensor/tensor')
const { Waits, notify } = require('../../js/sharing/waits')
const { fails, nativeOnly, skipWithout, turn } = require('../setup')
const { nodePeer, endPeers } = require('../peer-process')

describe('a wait for a word', function () {
  nativeOnly()
  let folder
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-waits-'))
  })
  const tensors = []
  after(() => {
    for (const t of tensors) t.dispose() // Windows deletes nothing that is mapped
    fs.rmSync(folder, { recursive: true, force: true })
  })
  afterEach(endPeers)

  function words(name) {
    const file = path.join(folder, name)
    const t = createNpy(file, [4096], 'int32')
    tensors.push(t)
    return { file, t, layout: Tensor.attachedOf(t), waits: new Waits() }
  }

  it('ends where it changes, in this process and in another: a hundred times', async () => {
    const { file, t, layout, waits } = words('changes.npy')
    const peer = nodePeer(
      `
      const { openNpy } = require('samebytes')
      const { Tensor } = require('./js/tensor/tensor')
      const { Waits, notify } = require('./js/sharing/waits')
      const waits = new Waits()
      const t = openNpy(process.env.SHARED, { mode: 'r+' })
      const layout = Tensor.attachedOf(t)
      for (let i = 1; i <= 100; i++) {
        while (t.get(0) !== i) await waits.wait(layout, 0, i - 1)
        t.set(i, 1)
        notify(layout, 1)
      }`,
      { env: { SHARED: file } },
    )
    for (let i = 1; i <= 100; i++) {
      t.set(i, 0)
      notify(layout, 0)
      while (t.get(1) !== i) {
        assert.ok(['ok', 'not-equal'].includes(await waits.wait(layout, 1, i - 1)))
      }
    }
    assert.equal((await peer.exit).code, 0)
    assert.equal(waits.pending.size, 0)
  })

  it('says that it differs, or that the time is up; ends by its signal, and with what has it', async () => {
    const { layout, waits } = words('ends.npy')
    assert.equal(await waits.wait(layout, 0, 1), 'not-equal')
    assert.equal(await waits.wait(layout, 0, 0, { timeout: 1 }), 'timed-out')
    const controller = new AbortController()
    const aborted = waits.wait(layout, 0, 0, { signal: controller.signal })
    controller.abort()
    await assert.rejects(aborted, { name: 'AbortError' })
    const left = waits.wait(layout, 0, 0)
    waits.end()
    await assert.rejects(left, { code: 'ERR_DISPOSED' })
  })

  it('is ERR_IO where the file became shorter, before or meanwhile; so is notify', async function () {
    skipWithout(this, 'mapped files that change')
    const { file, layout, waits } = words('shorter.npy')
    const gone = waits.wait(layout, 4000, 0)
    const here = waits.wait(layout, 0, 0)
    for (let i = 0; i < 20; i++) await turn()
    fs.truncateSync(file, 4096)
    await assert.rejects(gone, { code: 'ERR_IO' })
    await assert.rejects(async () => waits.wait(layout, 4000, 0), { code: 'ERR_IO' })
    fails(() => notify(layout, 4000), Error, 'ERR_IO', /shorter/)
    waits.end()
    await assert.rejects(here, { code: 'ERR_DISPOSED' })
  })
})
