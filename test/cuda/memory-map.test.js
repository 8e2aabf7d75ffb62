'use strict'
// Tensors on a GPU on the memory map: their blocks have the device's addresses, and are on no block of the CPU's.
const assert = require('node:assert/strict')
const { onFake, fakeOnly } = require('./device')

describe('the memory map, with a GPU', function () {
  fakeOnly()

  it('shows whose memory it is, and the views of it', async () => {
    const regions = await onFake(`
      const { memoryMap } = require('samebytes/inspect')
      const a = zeros([4, 6], { device: 'cuda:0' })
      const held = [a, a.T, a.select(1, 2), samebytes.empty([8], { pinMemory: true }), ones([5])]
      held.push(held[4].to('cuda:0'))
      say(memoryMap().regions.map(({ kind, device, nbytes, owners, tensors }) => ({ kind, device, nbytes, owners, starts: tensors.map(({ starts }) => starts[0]) })))
      globalThis.held = held
    `)
    const device = [{ kind: 'device', name: 'cuda:0', count: 1 }]
    assert.deepEqual(regions.map(({ kind, device }) => [kind, device]).sort(), [
      ['cuda', 'cuda:0'],
      ['cuda', 'cuda:0'],
      ['pinned', 'cpu'],
      ['v8', 'cpu'],
    ])
    assert.deepEqual(
      regions.find(({ nbytes }) => nbytes === 96),
      { kind: 'cuda', device: 'cuda:0', nbytes: 96, owners: device, starts: [0, 0, 8] },
    )
    assert.deepEqual(
      regions.find(({ nbytes, kind }) => nbytes === 20 && kind === 'cuda').owners,
      device,
    )
  })
})
