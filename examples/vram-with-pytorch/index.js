'use strict'
// One block of GPU memory in two processes: Node makes a tensor, and PyTorch (or CuPy) doubles it in place in a Python process;
// then Python makes a tensor, and Node reads it and writes to it. Only descriptors cross.
const { once } = require('node:events')
const { spawn } = require('node:child_process')
const path = require('node:path')
const { createInterface } = require('node:readline')
const { cuda, empty, memory, pythonPath } = require('samebytes')

const PYTHON = process.env.PYTHON ?? '/usr/bin/python3'
const env = {
  ...process.env,
  PYTHONPATH: [pythonPath, process.env.PYTHONPATH].filter(Boolean).join(path.delimiter),
  PYTHONDONTWRITEBYTECODE: '1',
}

async function main() {
  if (!cuda.isAvailable()) return console.log(cuda.whyNot())
  const python = spawn(PYTHON, [path.join(__dirname, 'peer.py')], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(python, 'exit')
  const lines = createInterface({ input: python.stdout })[Symbol.asyncIterator]()
  const ask = async (question) => {
    python.stdin.write(JSON.stringify(question) + '\n')
    const { value, done } = await lines.next()
    if (done) throw new Error('Python has ended')
    return JSON.parse(value)
  }
  try {
    const t = empty([1024, 1024], { device: 'cuda:0', shared: true }).fill(1.5)
    console.log(`Node, process ${process.pid}: ${describe(t)}, all 1.5`)
    const { text } = await ask({ double: await cuda.share(t) })
    console.log(text)
    console.log(
      `Node sees ${t.select(0, 0).select(0, 0).item()} … ${t.select(0, 1023).select(0, 1023).item()}`,
    )

    const made = await ask({ make: [4, 256] })
    console.log(made.text)
    const theirs = await cuda.open(made.descriptor)
    console.log(
      `Node opened it: ${describe(theirs)}, lease '${made.descriptor.lease}', ${theirs.select(0, 3).select(0, 255).item()} at its end`,
    )
    theirs.fill(7)
    cuda.synchronize()
    console.log((await ask({ look: true })).text)
    const copied = Object.keys(memory().copied).filter((what) => what !== 'item')
    console.log(
      `copied: ${copied.length === 0 ? 'nothing but the elements that were printed' : copied.join(', ')}`,
    )
  } finally {
    python.stdin.end()
    await ended
  }
}

const describe = (t) =>
  `${t.dtype} [${t.shape.join(', ')}] on ${t.device}, address 0x${t.dataPtr.toString(16)}`

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
