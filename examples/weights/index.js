'use strict'
// A model's weights, opened without being read: a safetensors file of 400 tensors is made in the temporary folder,
// opened by mapping it, and one of its tensors is summed up. The file is removed at the end.
//
//   node examples/weights [MiB]      1024 unless told
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { createSafetensors, openSafetensors } = require('samebytes')
const math = require('samebytes/math')

const TENSORS = 400
const MiB = 2 ** 20

const milliseconds = (since) => Number(process.hrtime.bigint() - since) / 1e6
const resident = () => process.memoryUsage.rss() / MiB
const nameOf = (i) => `blocks.${i}.weight`
const valueOf = (i) => 2 ** -(i % 8)

/** Fills a new file in place, a tensor at a time. */
function make(file, columns) {
  const specs = Object.fromEntries(
    Array.from({ length: TENSORS }, (_, i) => [
      nameOf(i),
      { shape: [64, columns], dtype: 'float32' },
    ]),
  )
  const weights = createSafetensors(file, specs, { metadata: { format: 'pt' } })
  for (let i = 0; i < TENSORS; i++) {
    const t = weights.get(nameOf(i))
    t.fill(valueOf(i))
    t.dispose()
  }
  weights.close()
}

function show(file) {
  const { size } = fs.statSync(file)
  const before = resident()
  let start = process.hrtime.bigint()
  const weights = openSafetensors(file)
  const opened = milliseconds(start)
  const after = resident()
  console.log(
    `opened     ${weights.size} tensors, ${(size / MiB).toFixed(0)} MiB, in ${opened.toFixed(2)} ms`,
  )
  console.log(`RSS        ${before.toFixed(1)} MiB before, ${after.toFixed(1)} MiB after`)

  start = process.hrtime.bigint()
  const first = weights.get(nameOf(0))
  const one = milliseconds(start)
  start = process.hrtime.bigint()
  const others = Array.from({ length: TENSORS - 1 }, (_, i) => weights.get(nameOf(i + 1)))
  const rest = milliseconds(start) / (TENSORS - 1)
  console.log(
    `views      the first ${first.dtype} [${first.shape}] in ${(one * 1000).toFixed(1)} µs, the others in ${(rest * 1000).toFixed(1)} µs each`,
  )

  const i = TENSORS / 2 + 3
  const t = weights.get(nameOf(i))
  start = process.hrtime.bigint()
  const sum = math.sum(t).item()
  const summed = milliseconds(start)
  if (sum !== t.size * valueOf(i)) throw new Error(`the sum of ${nameOf(i)} is ${sum}`)
  console.log(
    `sum        of ${nameOf(i)}: ${sum}, ${t.size} elements, in ${summed.toFixed(2)} ms; RSS + ${(resident() - after).toFixed(1)} MiB`,
  )
  for (const each of [first, ...others, t]) each.dispose() // Windows removes no file that is mapped, and `data` would keep it so until it is collected
  weights.close()
}

function main() {
  const size = Number(process.argv[2] ?? 1024)
  if (!(size >= 1)) throw new Error(`${process.argv[2]} is no number of MiB`)
  const columns = Math.floor((size * MiB) / TENSORS / 64 / 4) // 64 rows of float32
  const { bavail, bsize } = fs.statfsSync(os.tmpdir())
  if (bavail * bsize < 1.1 * size * MiB) {
    throw new Error(
      `${os.tmpdir()} has ${((bavail * bsize) / MiB).toFixed(0)} MiB of room, too little for ${size} (node examples/weights MiB, or another TMPDIR)`,
    )
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-weights-'))
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

  const file = path.join(folder, 'weights.safetensors')
  const start = process.hrtime.bigint()
  make(file, columns)
  console.log(`made       ${file} in ${(milliseconds(start) / 1000).toFixed(1)} s`)
  show(file)
}

try {
  main()
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
