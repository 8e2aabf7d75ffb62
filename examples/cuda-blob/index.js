'use strict'
// A blob of the host's memory into a tensor on a GPU and back: as it is (pageable), made pinned, pinned after the fact, and mapped:
// the GPU's kernels work on the host's bytes themselves.
// node examples/cuda-blob/index.js [MiB]
const { cuda, empty, fromBlob, hostRegister, memory } = require('samebytes')

const MIB = Number(process.argv[2] ?? 256)
const ROUNDS = 5

/** The best of a few rounds, each of them to its end, in GB/s. */
function bandwidth(nbytes, copy) {
  let best = Infinity
  for (let i = 0; i < ROUNDS; i++) {
    const start = process.hrtime.bigint()
    copy()
    cuda.synchronize()
    best = Math.min(best, Number(process.hrtime.bigint() - start))
  }
  return nbytes / best
}

function show(title, host, device, back) {
  const { nbytes } = host
  const there = bandwidth(nbytes, () => device.copyFrom(host))
  back.fill(0)
  const here = bandwidth(nbytes, () => back.copyFrom(device))
  const [a, b] = [host.data, back.data]
  for (let i = 0; i < a.length; i += 4093) {
    if (a[i] !== b[i]) throw new Error(`element ${i} came back as ${b[i]}, not ${a[i]}`)
  }
  line(title, there, here)
}

function line(title, there, here) {
  console.log(
    `${title.padEnd(46)} to the GPU ${there.toFixed(2).padStart(7)} GB/s   back ${here.toFixed(2).padStart(7)} GB/s`,
  )
}

function main() {
  if (!(MIB >= 1 && Number.isInteger(MIB))) {
    throw new RangeError(`${process.argv[2]} is no number of MiB`)
  }
  if (!cuda.isAvailable()) return console.log(cuda.whyNot())
  const { name, driverVersion } = cuda.properties(0)
  const n = (MIB * 2 ** 20) / 4
  console.log(`${name}, CUDA ${driverVersion}; ${MIB} MiB of float32, the best of ${ROUNDS}`)

  const samples = new Float32Array(n).map((_, i) => i % 1000) // whatever a program has
  const blob = fromBlob(samples)
  const device = empty([n], { device: 'cuda:0' })
  show('pageable: an ArrayBuffer', blob, device, empty([n]))

  const pinned = empty([n], { pinMemory: true })
  pinned.data.set(samples) // pinned.data and what the GPU reads are the same bytes
  show('pinned: empty(…, { pinMemory: true })', pinned, device, empty([n], { pinMemory: true }))

  show(
    'pinned: hostRegister of the same ArrayBuffer',
    hostRegister(blob),
    device,
    hostRegister(empty([n])),
  )
  // The same bytes as pinned.data, as a tensor of the GPU's: nothing is copied before a kernel reads or writes them.
  const mapped = fromBlob(pinned.dataPtr, [n], {
    dtype: 'float32',
    device: 'cuda:0',
    owner: pinned,
  })
  const read = bandwidth(mapped.nbytes, () => device.copyFrom(mapped))
  device.fill(2.5)
  const written = bandwidth(mapped.nbytes, () => mapped.copyFrom(device))
  if (pinned.data[n - 1] !== 2.5) throw new Error(`the GPU wrote ${pinned.data[n - 1]}, not 2.5`)
  line('mapped: a tensor on the GPU over pinned.data', read, written)

  console.log(
    `on the GPU: ${cuda.memoryStats().allocatedBytes / 2 ** 20} MiB; pinned: ${memory().bytes.pinned / 2 ** 20} MiB`,
  )
}

main()
