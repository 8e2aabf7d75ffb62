'use strict'
// Ends while bytes of SharedArrayBuffers are copied on another thread: the buffers go with the runtime, not before.
const { fromBlob } = require('samebytes')

const nbytes = 2 ** 26
const buffers = Array.from({ length: 6 }, () => new SharedArrayBuffer(nbytes))
const tensors = buffers.map((buffer) => fromBlob(buffer, [nbytes / 4], 'float32').fill(1))
for (let i = 0; i < 6; i += 2) tensors[i].copyFromAsync(tensors[i + 1]).catch(() => {})
throw new Error('mine')
