'use strict'
// samebytes as a child of ../copy.js, and what it is held against, on the same memory: some pages are
// faster than others.

const { backend, empty, rand, randn, tensor, wasmMemory, Generator } = require('samebytes')
const measure = require('../measure')
const { boundsOf, inWasm } = require('./bounds')
const { serve } = require('./serve')

const MOST = 208 << 20 // bytes
const [to, from, room] = [MOST, MOST, 1 << 20].map((nbytes, i) =>
  empty([nbytes], 'uint8').fill(i + 1),
)

const yardstick = backend() === 'native' ? measure.yardstick() : null
const bare = backend() === 'native' ? null : inWasm(wasmMemory())
const address = (tensor) => tensor.data.byteOffset // in WebAssembly's memory

const generator = new Generator(1)
const pattern = tensor(Float32Array.from({ length: 4096 }, (_, i) => i / 32))

serve(({ kind, ...work }) => {
  if (kind === 'uniform') return { samebytes: () => rand([work.count], { generator }).dispose() }
  if (kind === 'normal') return { samebytes: () => randn([work.count], { generator }).dispose() }
  return kind === 'fill' ? fill(work) : copy(work)
})

function copy({ from: source, to: target, shape, order, scale, bias }) {
  const flat = part(from, source, shape)
  flat.view([-1, pattern.size]).copyFrom(pattern, { casting: 'unsafe' })
  const src = order ? flat.permute(order) : flat
  const dst = part(to, target, src.shape)
  const options = scale ? { scale, bias, axis: 1 } : { casting: 'unsafe' }
  const runs = { samebytes: () => dst.copyFrom(src, options) }
  if (yardstick) {
    const nbytes = Math.floor((src.nbytes + dst.nbytes) / 128) * 64 // read, and as many written
    const [a, b] = [to.data, from.data]
    runs.memcpy = () => yardstick.memcpy(a, b, nbytes, 1)
    runs.stream = () => yardstick.stream(a, b, nbytes)
    Object.assign(
      runs,
      boundsOf({ from: source, to: target, shape, order }, yardstick, a, b, [0, 1]),
    )
  }
  if (bare) {
    Object.assign(
      runs,
      boundsOf(
        { from: source, to: target, shape, order },
        bare,
        ...[to, from].map(address),
        [0],
        address(room),
      ),
    )
  }
  return runs
}

function fill({ to: target, shape }) {
  const dst = part(to, target, shape)
  const bytes = dst.view('uint8').data
  const runs = { samebytes: () => dst.fill(1.5) }
  if (yardstick) runs.memset = () => yardstick.memset(bytes, 1, bytes.length)
  if (bare) {
    for (const atOnce of [0, 1]) {
      runs[`bound fill ${atOnce}`] = () => bare.fill(address(to), bytes.length, atOnce)
    }
  }
  return runs
}

function part(base, dtype, shape) {
  const { itemsize } = empty([], dtype)
  return base
    .narrow(
      0,
      0,
      shape.reduce((a, b) => a * b, itemsize),
    )
    .view(dtype)
    .view(shape)
}
