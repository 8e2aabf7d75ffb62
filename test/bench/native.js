'use strict'
// Tensors on their way through other people's addons.

const fs = require('node:fs')
const path = require('node:path')
const samebytes = require('samebytes')
const { ROOT, yardstick } = require('./measure')

let kept // what is stored here can't be optimised away

const napiCall = {
  what: 'N-API call with one int',
  run(n) {
    const { noop } = yardstick()
    for (let i = 0; i < n; i++) kept = noop(i)
  },
}

/** The rows of an addon that gives each tensor back, where it was built. */
function through(what, limit, file) {
  if (!fs.existsSync(file)) return []
  const addon = require(file)
  addon.open(samebytes)
  const t = samebytes.ones([4, 4])
  return [
    {
      what,
      yardstick: napiCall,
      limit,
      run(n) {
        for (let i = 0; i < n; i++) kept = addon.same(t, 0)
      },
    },
  ]
}

const rows = [
  ...through(
    'tensor → sb_tensor in an addon → tensor',
    { value: 1000 },
    path.join(ROOT, 'test/peers/addon/build/Release/peer.node'),
  ),
  ...through(
    'tensor → at::Tensor → tensor',
    { value: 1500 },
    path.join(ROOT, 'examples/libtorch/build/Release/blobs.node'),
  ),
]

module.exports = { title: 'Through native code', rows, kept: () => kept }
