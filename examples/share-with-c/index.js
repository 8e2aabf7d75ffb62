'use strict'
// One block of memory in two processes: the classic C program (ints.c) doubles integers that Node made, and Node
// doubles integers that the C program made.
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { SharedTensor } = require('samebytes')

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-example-'))
const program = path.join(folder, 'ints')
const run = (...args) => execFileSync(program, args, { encoding: 'utf8' }).trim()
const raw = { format: 'raw', dtype: 'int32' } // the elements alone: what the C program expects

const ours = `samebytes-example-${process.pid}`
const theirs = `${ours}-c`
try {
  execFileSync(
    process.env.CC ?? 'gcc',
    ['-O2', '-Wall', '-o', program, path.join(__dirname, 'ints.c'), '-lrt'],
    { stdio: 'inherit' },
  )

  const { tensor } = SharedTensor.create(ours, [8], raw)
  tensor.copyFrom([1, 2, 3, 4, 5, 6, 7, 8])
  console.log(
    `Node, process ${process.pid}, address 0x${tensor.dataPtr.toString(16)}: ${tensor.toArray().join(' ')}`,
  )
  console.log(run('double', `/${ours}`, '8'))
  console.log(`Node sees: ${tensor.toArray().join(' ')}`)

  console.log()
  run('make', `/${theirs}`, '8')
  const squares = SharedTensor.open(theirs, raw).tensor
  console.log(`Node sees the C program's: ${squares.toArray().join(' ')}`)
  squares.copyFrom(squares, { scale: 2, casting: 'unsafe' })
  console.log(run('double', `/${theirs}`, '8'))
} finally {
  fs.rmSync(folder, { recursive: true })
  for (const name of [ours, theirs]) {
    try {
      SharedTensor.unlink(name)
    } catch {} // it was not made
  }
}
