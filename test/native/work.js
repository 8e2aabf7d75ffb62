'use strict'

/** What a worker does with the library in worker.test.js and workers-many.test.js: tensors of each kind, some disposed, the others left alive. */
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

module.exports = { WORK }
