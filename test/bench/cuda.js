'use strict'
// npm run bench:cuda [-- MiB per buffer (1024)] [repetitions (20)]
//
// What the first GPU does in a second, as a fraction of its copy from device to device, beside PyTorch on the same GPU where
// /usr/bin/python3 (or SAMEBYTES_PYTHON) has one that sees it. Each row: several operations given to the device in a row, then one
// wait; the median of rounds. Results are not compared here: the tests do that.

const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { cuda, empty, rand } = require('../..')
const { median } = require('./measure')

const MIB = Number(process.argv[2] || 1024)
const REPETITIONS = Number(process.argv[3] || 20)
const BYTES = MIB * 2 ** 20
const ITEMSIZE = {
  uint8: 1,
  int8: 1,
  float16: 2,
  bfloat16: 2,
  int32: 4,
  float32: 4,
  float64: 8,
  complex128: 16,
}

/** Gigabytes (read and written) in a second. */
function rate(nbytes, operation) {
  const rounds = []
  for (let round = 0; round < 7; round++) {
    operation()
    cuda.synchronize()
    const begin = performance.now()
    for (let i = 0; i < REPETITIONS; i++) operation()
    cuda.synchronize()
    rounds.push((performance.now() - begin) / REPETITIONS)
  }
  return nbytes / median(rounds) / 1e6
}

/** [name, goal in percent of the copy, what PyTorch is asked for, bytes, operation]; its tensors go with the row. */
function rows() {
  let side = 1
  while (side * side * 16 <= BYTES) side *= 2
  const all = []
  const on = { device: 'cuda:0' }
  const permute = (name, goal, dtype, shape, axes) => {
    const nbytes = 2 * shape.reduce((a, b) => a * b) * ITEMSIZE[dtype]
    all.push([
      name,
      goal,
      { kind: 'permute', dtype, shape, axes },
      nbytes,
      () => {
        const source = empty(shape, { dtype, ...on })
        const target = empty(
          axes.map((axis) => shape[axis]),
          { dtype, ...on },
        )
        const view = source.permute(...axes)
        return [() => target.copyFrom(view), source, target]
      },
    ])
  }
  const cast = (to, from) => {
    const n = Math.floor(BYTES / Math.max(ITEMSIZE[to], ITEMSIZE[from]))
    all.push([
      `cast ${from} to ${to}`,
      95,
      { kind: 'cast', to, from, n },
      n * (ITEMSIZE[to] + ITEMSIZE[from]),
      () => {
        const source = empty([n], { dtype: from, ...on })
        const target = empty([n], { dtype: to, ...on })
        return [() => target.copyFrom(source, { casting: 'unsafe' }), source, target]
      },
    ])
  }
  permute('copy', 100, 'float32', [BYTES / 4], [0])
  all.push([
    'fill float32',
    95,
    { kind: 'fill', n: BYTES / 4 },
    BYTES,
    () => {
      const target = empty([BYTES / 4], { dtype: 'float32', ...on })
      return [() => target.fill(1.5), target]
    },
  ])
  permute(
    'rows (B,S,H,D) to (B,H,S,D) float16',
    95,
    'float16',
    [8, BYTES / 2 / (8 * 32 * 128), 32, 128],
    [0, 2, 1, 3],
  )
  permute('transpose 1 byte', 80, 'uint8', [2 * side, 2 * side], [1, 0])
  permute('transpose 2 bytes', 88, 'float16', [side, 2 * side], [1, 0])
  permute('transpose 4 bytes', 90, 'float32', [side, side], [1, 0])
  permute('transpose 8 bytes', 90, 'float64', [side / 2, side], [1, 0])
  permute('transpose 16 bytes', 90, 'complex128', [side / 2, side / 2], [1, 0])
  permute('transpose 4 bytes, odd sides', 65, 'float32', [side - 3, side - 5], [1, 0])
  permute(
    'NHWC to NCHW, 64 channels, float16',
    80,
    'float16',
    [Math.max(1, BYTES / 2 / 64 ** 3), 64, 64, 64],
    [0, 3, 1, 2],
  )
  permute(
    'NCHW to NHWC, 64 channels, float16',
    80,
    'float16',
    [Math.max(1, BYTES / 2 / 64 ** 3), 64, 64, 64],
    [0, 2, 3, 1],
  )
  permute(
    'NHWC to NCHW, 3 channels, uint8',
    50,
    'uint8',
    [Math.max(1, BYTES / 4 / 65536), 256, 256, 3],
    [0, 3, 1, 2],
  )
  permute(
    'NCHW to NHWC, 3 channels, uint8',
    50,
    'uint8',
    [Math.max(1, BYTES / 4 / 65536), 3, 256, 256],
    [0, 2, 3, 1],
  )
  permute(
    'NHWC to NCHW, 3 channels, float32',
    50,
    'float32',
    [Math.max(1, BYTES / 16 / 65536), 256, 256, 3],
    [0, 3, 1, 2],
  )
  permute(
    '4 dimensions backwards, float32',
    55,
    'float32',
    [64, 64, 64, Math.max(1, BYTES / 4 / 64 ** 3)],
    [3, 2, 1, 0],
  )
  cast('bfloat16', 'float32')
  cast('float32', 'bfloat16')
  cast('float16', 'float32')
  cast('float32', 'uint8')
  cast('uint8', 'float32')
  cast('float64', 'float32')
  all.push([
    'uniform float32',
    85,
    { kind: 'uniform', n: BYTES / 4 },
    BYTES,
    () => [() => rand([BYTES / 4], on).dispose()],
  ])
  return all
}

/** From the call in JavaScript until the kernel is in the stream, in microseconds: small copies that need one, not waited for. */
function launchTime() {
  const source = empty([16, 16], { dtype: 'float32', device: 'cuda:0' }).T
  const target = empty([16, 16], { dtype: 'float32', device: 'cuda:0' })
  const rounds = []
  for (let round = 0; round < 20; round++) {
    const begin = performance.now()
    for (let i = 0; i < 500; i++) target.copyFrom(source)
    rounds.push((performance.now() - begin) * 2)
    cuda.synchronize()
  }
  source.dispose()
  target.dispose()
  return median(rounds)
}

/** Between pinned memory and the device, gigabytes in a second: [to it, from it]. */
function link() {
  const host = empty([BYTES / 4], { dtype: 'float32', pinMemory: true })
  const there = empty([BYTES / 4], { dtype: 'float32', device: 'cuda:0' })
  const both = [rate(BYTES, () => there.copyFrom(host)), rate(BYTES, () => host.copyFrom(there))]
  host.dispose()
  there.dispose()
  return both
}

/** PyTorch's rates for the same work, or the reason why there are none. */
function peer(asked) {
  const python = process.env.SAMEBYTES_PYTHON || '/usr/bin/python3'
  const run = spawnSync(
    python,
    [path.join(__dirname, 'cuda_peer.py'), String(REPETITIONS), String(BYTES)],
    { input: JSON.stringify(asked), encoding: 'utf8', maxBuffer: 2 ** 26 },
  )
  if (run.status !== 0) {
    return { reason: (run.stderr || String(run.error)).trim().split('\n').at(-1) }
  }
  return JSON.parse(run.stdout)
}

function main() {
  if (!cuda.isAvailable()) {
    console.log(`Nothing was measured: ${cuda.whyNot()}`)
    return
  }
  const { name } = cuda.properties(0)
  const table = rows().map(([title, goal, asked, nbytes, prepare]) => {
    const [operation, ...tensors] = prepare()
    const ours = rate(nbytes, operation)
    for (const tensor of tensors) tensor.dispose()
    cuda.emptyCache()
    return { title, goal, asked, ours }
  })
  const [upwards, downwards] = link()
  const launch = launchTime()
  cuda.emptyCache()
  const torch = peer(table.map((row) => row.asked))
  const copy = Math.max(table[0].ours, torch.rates?.[0] ?? 0)

  console.log(
    `${name}, ${new Date().toISOString().slice(0, 10)}, buffers of ${MIB} MiB; the copy from device to device: ${copy.toFixed(0)} GB/s`,
  )
  console.log(
    torch.reason ? `PyTorch was not measured: ${torch.reason}` : `PyTorch ${torch.version}`,
  )
  console.log(
    '\n| operation | GB/s | of the copy | goal | PyTorch, GB/s | |\n|---|---|---|---|---|---|',
  )
  for (const [i, { title, goal, ours }] of table.entries()) {
    const theirs = torch.rates?.[i]
    const fraction = (100 * ours) / copy
    const verdict = [
      fraction < goal && 'below the goal',
      theirs > ours * 1.02 && 'slower than PyTorch',
    ]
      .filter(Boolean)
      .join(', ')
    console.log(
      `| ${title} | ${ours.toFixed(0)} | ${fraction.toFixed(0)} % | ${goal} % | ${theirs ? theirs.toFixed(0) : ''} | ${verdict} |`,
    )
  }
  const links = torch.link || []
  console.log(
    `| pinned to device | ${upwards.toFixed(1)} | | 95 % of the link | ${links[0] ? links[0].toFixed(1) : ''} | |`,
  )
  console.log(
    `| device to pinned | ${downwards.toFixed(1)} | | 95 % of the link | ${links[1] ? links[1].toFixed(1) : ''} | |`,
  )
  console.log(
    `\nFrom the call in JavaScript to the launched kernel: ${launch.toFixed(2)} us (goal: 4)`,
  )
}

main()
