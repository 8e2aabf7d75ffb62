'use strict'
// A long random program over a few blocks of memory: copies, casts, scales, fills, random numbers. Its
// checksum is one number, however it is run.
const { createHash } = require('node:crypto')
const { Generator, dtypes, rand, randint, randn, zeros } = require('samebytes')
const { generator } = require('./setup')

const SIZE = 1 << 17 // bytes of a block
const LARGE = 18 << 20 // from 32 MiB of both sides on copies go past the caches, from 4 MiB of the target on to several threads
const NAMES = dtypes.filter((name) => !name.startsWith('complex'))

/** @returns {string} SHA-256 of all blocks as they were on the way, in hexadecimal */
function program(rounds) {
  const { next, pick, shuffle, uint32 } = generator(46)
  const numbers = new Generator(46)
  const hash = createHash('sha256')
  const blocks = [zeros([SIZE], 'uint8'), zeros([SIZE], 'uint8')]

  /** A layout with its axes in some order, from somewhere on; some go backwards, one may leave gaps. */
  function place(dtype, shape) {
    const base = pick(blocks).view(dtype)
    let gaps = true
    const strides = []
    let step = 1
    for (const d of shuffle(shape.map((_, d) => d))) {
      if (gaps && next(6) === 0) {
        step *= 2
        gaps = false
      }
      strides[d] = step
      step *= shape[d]
    }
    let offset = next(4)
    shape.forEach((extent, d) => {
      if (next(6)) return
      offset += strides[d] * (extent - 1)
      strides[d] *= -1
    })
    return base.view(shape, { strides, offset })
  }

  function randomShape() {
    let room = SIZE / 16 / 2 - 8
    return Array.from({ length: 1 + next(4) }, () => {
      const extent = Math.min(1 + next(pick([5, 5, 5, 90, 4000])), room)
      room = Math.max(Math.floor(room / extent), 1)
      return extent
    })
  }

  function copy(from, to, more) {
    const shape = randomShape()
    const source = place(
      from,
      shape.map((extent) => (next(9) ? extent : 1)),
    )
    place(to, shape).copyFrom(source, { casting: 'unsafe', ...more?.(shape) })
  }

  function factors(shape) {
    const axis = next(shape.length)
    const one = () => (next(4001) - 2000) / 8
    const some = () =>
      next(2) || shape[axis] > 300 ? one() : Array.from({ length: shape[axis] }, one)
    return { axis, scale: some(), bias: some() }
  }

  function draw(dtype) {
    const shape = randomShape()
    const options = { dtype, generator: numbers }
    const make = [
      () => rand(shape, options),
      () => randn(shape, options),
      () => randint(next(100), 101 + next(20), shape, { generator: numbers }),
    ]
    const made = make[dtype.startsWith('float') || dtype === 'bfloat16' ? next(2) : 2]()
    place(dtype, shape).copyFrom(made, { casting: 'unsafe' })
    made.dispose()
  }

  for (let round = 0; round < rounds; round++) {
    if (round % 64 === 0) {
      // values do not all become 0
      for (const block of blocks) {
        block.copyFrom(randint(0, 256, [SIZE], { dtype: 'uint8', generator: numbers }))
      }
    }
    const from = pick(dtypes)
    const to = next(2) ? from : pick(dtypes)
    const what = next(20)
    if (what === 0) place(to, randomShape()).fill(next(2))
    else if (what < 3) {
      draw(pick(['float16', 'bfloat16', 'float32', 'float64', 'uint8', 'int32', 'int64']))
    } else if (what < 8) copy(pick(NAMES), pick(NAMES), factors)
    else copy(from, to)
    if (uint32() % 16 === 0) for (const block of blocks) hash.update(block.bytes)
  }
  for (const block of blocks) block.dispose()
  large(numbers, hash)
  return hash.digest('hex')
}

/** What is streamed and shared out. */
function large(numbers, hash) {
  const [from, to] = [zeros([2 * LARGE], 'uint8'), zeros([2 * LARGE], 'uint8')]
  const part = (block, dtype, shape, offset) => block.view(dtype).view(shape, { offset })
  const note = (t) => {
    hash.update(t.bytes)
  }

  from.view('float32').copyFrom(rand([LARGE / 2], { generator: numbers }))
  note(part(to, 'float32', [2151, 2099], 3).copyFrom(part(from, 'float32', [2099, 2151], 1).T))
  note(part(to, 'float32', [3200003], 1).copyFrom(part(from, 'float64', [3200003], 0)))
  note(
    part(to, 'bfloat16', [2, 3301, 1000], 0).copyFrom(
      part(from, 'float32', [1000, 2, 3301], 5).permute([1, 2, 0]),
    ),
  )
  from.copyFrom(randint(0, 256, [2 * LARGE], { dtype: 'uint8', generator: numbers }))
  note(
    part(to, 'float32', [2, 3, 1051, 1080], 0).copyFrom(
      part(from, 'uint8', [2, 1051, 1080, 3], 7).permute([0, 3, 1, 2]),
      { axis: 1, scale: [0.1, 0.3, 0.7], bias: [1, -2, 3] },
    ),
  )
  note(part(to, 'uint8', [4300, 4100], 1).copyFrom(part(from, 'uint8', [4100, 4300], 2).T))
  note(
    part(to, 'int16', [1400, 1520, 4], 0).copyFrom(
      part(from, 'int16', [4, 1400, 1520], 9).permute([1, 2, 0]),
    ),
  )
  note(
    part(to, 'float64', [2, 1900001], 1).copyFrom(part(from, 'int16', [2, 1900001], 1), {
      casting: 'unsafe',
    }),
  )
  note(
    part(to, 'float32', [5700001], 1).copyFrom(part(from, 'int16', [5700001], 3), {
      scale: 0.3,
      bias: -1,
    }),
  )
  note(randn([1 << 21], { generator: numbers }))
  note(to.view('float32').fill(0.3))
  for (const block of [from, to]) block.dispose()
}

/** What program(4000) gives. */
const PROGRAM = '149c8d45bc168861fde244637739b7efd08f8cb179967a8475deb5b261685b0d'

module.exports = { PROGRAM, program }
