'use strict'
// What ../browser.js times, as a program for Node and for a page: the text of the function crosses over.

/** @returns {Record<string, number>} nanoseconds, medians */
module.exports = function work(sb, rounds) {
  const { empty, ones, zeros } = sb
  let kept
  const a = ones([4096, 1024])
  const b = empty([4096, 1024])
  const c = empty([1024, 4096])
  const half = empty([4096, 1024], 'float16')
  const image = ones([1080, 1920, 3], 'uint8')
  const planes = empty([3, 1080, 1920])
  const matrix = zeros([4, 4])
  const smallHalf = empty([4, 4], 'float16')
  const things = {
    'contiguous copy, 16 MiB': (n) => {
      for (let i = 0; i < n; i++) b.copyFrom(a)
    },
    'transpose 4096 × 1024, float32': (n) => {
      for (let i = 0; i < n; i++) c.copyFrom(a.T)
    },
    'float32 → float16': (n) => {
      for (let i = 0; i < n; i++) half.copyFrom(a)
    },
    'NHWC → NCHW, uint8 → float32': (n) => {
      for (let i = 0; i < n; i++) planes.copyFrom(image.permute(2, 0, 1), { casting: 'unsafe' })
    },
    'fill, 16 MiB': (n) => {
      for (let i = 0; i < n; i++) b.fill(i)
    },
    '1000 casts of 16 elements': (n) => {
      for (let i = 0; i < n * 1000; i++) smallHalf.copyFrom(matrix)
    },
    'a view (T)': (n) => {
      for (let i = 0; i < n * 20000; i++) kept = matrix.T
    },
    'data, again': (n) => {
      for (let i = 0; i < n * 100000; i++) kept = matrix.data
    },
  }
  const per = { 'a view (T)': 20000, 'data, again': 100000 }
  const times = {}
  for (const [name, run] of Object.entries(things)) {
    for (const end = performance.now() + 300; performance.now() < end;) run(1) // until the compiler is done with it
    const samples = []
    for (let round = 0; round < rounds; round++) {
      const start = performance.now()
      run(1)
      samples.push(((performance.now() - start) * 1e6) / (per[name] ?? 1))
    }
    times[name] = samples.sort((x, y) => x - y)[rounds >> 1]
  }
  return { ...times, kept: kept === undefined ? 0 : 1 }
}
