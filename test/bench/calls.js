'use strict'
// The small things that programs do all the time.

const { empty, fromBlob, zeros } = require('samebytes')
const { yardstick } = require('./measure')

let kept // what is stored here can't be optimised away

const plainArray = {
  what: 'new Float32Array(16)',
  run(n) {
    for (let i = 0; i < n; i++) kept = new Float32Array(16)
  },
}

const plainBuffer = {
  what: 'new Float32Array(new ArrayBuffer(64))',
  run(n) {
    let sum = 0
    for (let i = 0; i < n; i++) {
      kept = new Float32Array(new ArrayBuffer(64))
      kept[3] = i
      sum += kept[3]
    }
    kept = sum
  },
}

const napiCall = {
  what: 'N-API call with one int',
  run(n) {
    const { noop } = yardstick()
    for (let i = 0; i < n; i++) kept = noop(i)
  },
}

const overBuffer = {
  what: 'new Float32Array(buffer)',
  run(n) {
    for (let i = 0; i < n; i++) kept = new Float32Array(arrays[i % arrays.length].buffer)
  },
}

const matrix = empty([4, 4])
const four = empty([4])
four.fill(1)
const arrays = Array.from({ length: 1024 }, () => new Float32Array(new ArrayBuffer(64)))

/** copyFrom of a few bytes beside the C library's memcpy, called from C, and beside JavaScript's own way. */
function smallCopies(nbytes) {
  const [dst, src] = [zeros([nbytes], 'uint8'), zeros([nbytes], 'uint8')]
  const [to, from] = [new Uint8Array(nbytes), new Uint8Array(nbytes)]
  const run = (n) => {
    for (let i = 0; i < n; i++) dst.copyFrom(src)
  }
  const set = (n) => {
    for (let i = 0; i < n; i++) to.set(from)
  }
  return [
    {
      what: `copyFrom of ${nbytes} bytes`,
      yardstick: {
        what: 'memcpy, called from C',
        run: (n) => yardstick().memcpy(to, from, nbytes, n),
      },
      limit: { over: 100 },
      run,
    },
    {
      what: `the same, ${nbytes} bytes`,
      yardstick: { what: 'set of a typed array', run: set },
      run,
    },
  ]
}

const rows = [
  {
    what: 'empty([4, 4]), whole life',
    yardstick: plainArray,
    limit: { ratio: 2 },
    run(n) {
      for (let i = 0; i < n; i++) kept = empty([4, 4])
    },
  },
  {
    what: 'the same, data read and written',
    yardstick: plainBuffer,
    limit: { ratio: 1.2 },
    run(n) {
      let sum = 0
      for (let i = 0; i < n; i++) {
        const t = (kept = empty([4, 4]))
        t.data[3] = i
        sum += t.data[3]
      }
      kept = sum
    },
  },
  {
    what: 'permute([1, 0])',
    yardstick: napiCall,
    limit: { ratio: 5, value: 100 },
    run(n) {
      for (let i = 0; i < n; i++) kept = matrix.permute([1, 0])
    },
  },
  {
    what: 'T',
    yardstick: napiCall,
    limit: { ratio: 5, value: 100 },
    run(n) {
      for (let i = 0; i < n; i++) kept = matrix.T
    },
  },
  {
    what: 'narrow(0, 1, 2)',
    yardstick: napiCall,
    limit: { ratio: 5, value: 100 },
    run(n) {
      for (let i = 0; i < n; i++) kept = matrix.narrow(0, 1, 2)
    },
  },
  {
    what: "slice('1:3')",
    yardstick: napiCall,
    limit: { ratio: 5, value: 100 },
    run(n) {
      for (let i = 0; i < n; i++) kept = matrix.slice('1:3')
    },
  },
  {
    what: 'fromBlob(typed array)',
    yardstick: overBuffer,
    limit: { value: 300 },
    run(n) {
      for (let i = 0; i < n; i++) kept = fromBlob(arrays[i % arrays.length])
    },
  },
  {
    what: 'data, again',
    yardstick: napiCall,
    limit: { ratio: 1 },
    run(n) {
      for (let i = 0; i < n; i++) kept = matrix.data
    },
  },
  {
    what: 'fill(1) of 4 elements',
    yardstick: napiCall,
    limit: { value: 150 },
    run(n) {
      for (let i = 0; i < n; i++) four.fill(1)
    },
  },
  ...[16, 256, 4096].flatMap(smallCopies),
]

// The whole life includes the collector's part, so enough garbage to wake it many times.
for (const { run } of [...rows, plainArray, plainBuffer, napiCall, overBuffer]) run.count = 5e5

module.exports = { title: 'Calls', rows }
