'use strict'
// One block of memory in two processes: Node makes a tensor, and NumPy and PyTorch double it in place in a Python process;
// then NumPy makes an array, and Node doubles it.
const { execFileSync } = require('node:child_process')
const path = require('node:path')
const { SharedTensor, memory } = require('samebytes')

const PYTHON = process.env.PYTHON ?? '/usr/bin/python3'
const python = (...args) =>
  execFileSync(PYTHON, [path.join(__dirname, 'double.py'), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
const timed = (fn) => {
  const start = performance.now()
  fn()
  return `${(performance.now() - start).toFixed(1)} ms`
}
const at = (t) => `address 0x${t.dataPtr.toString(16)}`

const ours = `samebytes-example-${process.pid}`
const theirs = `${ours}-numpy`
try {
  const made = SharedTensor.create(ours, [4096, 4096])
  made.tensor.fill(1.5)
  console.log(
    `Node, process ${process.pid}: float32 [4096, 4096] in ${made.path}, ${at(made.tensor)}`,
  )
  console.log(python('double', made.path))
  const sum = made.tensor.data.reduce((a, b) => a + b, 0)
  console.log(`Node sees ${made.tensor.get(0, 0)} … ${made.tensor.get(4095, 4095)}, sum ${sum}`)

  console.log()
  const place = path.join(path.dirname(made.path), theirs)
  console.log(python('make', place))
  let array
  console.log(
    `Node opened it in ${timed(() => {
      array = SharedTensor.open(theirs).tensor
    })}: ${array.dtype} [${array.shape.join(', ')}], ${at(array)}`,
  )
  const { data } = array
  console.log(
    `Node doubled it in ${timed(() => {
      for (let i = 0; i < data.length; i++) data[i] *= 2
    })}`,
  )
  console.log(python('show', place))
  console.log(
    `copied: ${Object.keys(memory().copied).length === 0 ? 'nothing' : JSON.stringify(memory().copied)}`,
  )
} finally {
  for (const name of [ours, theirs]) {
    try {
      SharedTensor.unlink(name)
    } catch {} // it was not made
  }
}
