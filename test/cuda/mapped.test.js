'use strict'
// Page-locked memory of the host as a tensor of a device: the same bytes, of which nothing is copied.
const assert = require('node:assert/strict')
const { cuda, empty, fromBlob, hostRegister, memory, zeros } = require('samebytes')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { copied, fails, settledMemory } = require('../setup')
const { fakeOnly, onFake, twoDevices } = require('./device')

/** A device's tensor over a tensor's page-locked bytes. */
const mapped = (t) =>
  fromBlob(t.dataPtr, t.shape, { dtype: t.dtype, device: 'cuda:0', nbytes: t.nbytes, owner: t })

describe("page-locked memory as a device's", () => {
  for (const [title, make] of [
    ['made pinned', () => empty([4, 6], { pinMemory: true })],
    [
      'an ArrayBuffer that was registered',
      () => hostRegister(fromBlob(new ArrayBuffer(1 << 16), [4, 6], { dtype: 'float32' })),
    ],
  ]) {
    it(`has the same bytes, both ways: ${title}`, () => {
      const t = make()
      const { data } = t
      const { result: there, copies } = copied(() => mapped(t))
      assert.deepEqual(copies, {})
      assert.equal(there.dataPtr, t.dataPtr)
      assert.equal(there.device, 'cuda:0')
      assert.equal(t.device, 'cpu')
      data.fill(3)
      assert.deepEqual(there.cpu().toArray(), Array(4).fill(Array(6).fill(3)))
      there.fill(5)
      cuda.synchronize()
      assert.deepEqual([...data], Array(24).fill(5))
      there.T.copyFrom(
        Array.from({ length: 6 }, (_, i) => Array.from({ length: 4 }, (_, j) => 10 * i + j)),
      )
      cuda.synchronize()
      assert.deepEqual([...data.subarray(0, 8)], [0, 10, 20, 30, 40, 50, 1, 11])
      const device = empty([4, 6], { device: 'cuda:0', dtype: 'float64' }).copyFrom(there)
      assert.equal(device.cpu().get(1, 1), 11)
    })
  }

  it('keeps the memory that it is over', async () => {
    const before = settledMemory()
    let there = mapped(empty([1000], { pinMemory: true }).fill(2))
    assert.ok(memory().bytes.pinned >= 4000)
    assert.deepEqual([...there.cpu().data.subarray(0, 2)], [2, 2])
    there.dispose()
    there = null
    assert.equal(settledMemory().tensors, before.tensors)
  })

  describe('between two devices', () => {
    twoDevices()

    it('goes to the other one, and comes from it', async () => {
      const t = empty([4, 6], { pinMemory: true })
      const there = mapped(t.fill(2))
      const other = there.to('cuda:1')
      assert.equal(other.device, 'cuda:1')
      assert.equal(other.get(3, 5), 2)
      there.copyFrom(other.fill(4))
      await there.ready()
      assert.deepEqual([...t.data], Array(24).fill(4))
      await there.T.copyFromAsync(other.fill(6).T)
      assert.deepEqual([...t.data], Array(24).fill(6))
    })
  })

  describe('that ends while the device is at work on it', () => {
    fakeOnly()

    it('is not used again before', async () => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-pause-'))
      const FAKECUDA_PAUSE = path.join(folder, 'pause')
      try {
        const answer = await onFake(
          `
          const { empty, fromBlob, tidy } = samebytes
          const fs = require('node:fs')
          const mapped = t => fromBlob(t.dataPtr, t.shape, { dtype: t.dtype, device: 'cuda:0', nbytes: t.nbytes, owner: t })
          mapped(empty([100], { pinMemory: true })).fill(1).cpu() // device code is there
          fs.writeFileSync(${JSON.stringify(FAKECUDA_PAUSE)}, '')
          tidy(() => { mapped(empty([1000], { pinMemory: true })).fill(7) })
          const other = empty([1000], { pinMemory: true })
          other.data.fill(1)
          fs.rmSync(${JSON.stringify(FAKECUDA_PAUSE)})
          cuda.synchronize()
          say(other.data.every(x => x === 1))
        `,
          { FAKECUDA_PAUSE },
        )
        assert.equal(answer, true)
      } finally {
        fs.rmSync(folder, { recursive: true, force: true })
      }
    })
  })

  it('is refused of memory that no device sees', () => {
    const pageable = zeros([1 << 16], { shared: true })
    fails(() => mapped(pageable), Error, 'ERR_DEVICE', /is not memory of cuda:0/)
  })
})
