'use strict'
// Node makes frames and a Python process looks at them: the frames are in a ring of shared memory, and so is the grey
// picture that Python makes of each. Through the pipe between the two go only its answers.
//
//   node examples/frames-with-python/index.js [--frames 300] [--kill 100]
//
// --kill ends the Python process, as a crash would, at that frame: another one goes on.

const { parseArgs } = require('node:util')
const { SharedRing, SharedTensor, memory } = require('samebytes')
const { pythonPeer } = require('./peer')

const [HEIGHT, WIDTH, SIDE] = [480, 640, 40]

/** Draws into the ring's slot, in place: a bright square that moves over a dark ground. */
function draw(frame, i) {
  const [top, left] = [(i * 3) % (HEIGHT - SIDE), (i * 7) % (WIDTH - SIDE)]
  frame.fill(20)
  frame.slice(`${top}:${top + SIDE}`, `${left}:${left + SIDE}`).fill(250)
  return { x: left + (SIDE - 1) / 2, y: top + (SIDE - 1) / 2 }
}

async function main() {
  const { values } = parseArgs({
    options: {
      frames: { type: 'string', default: '300' },
      kill: { type: 'string', default: '100' },
    },
  })
  const [count, kill] = [Number(values.frames), Number(values.kill)]
  const name = `samebytes-frames-${process.pid}`
  const ring = SharedRing.create(name, [HEIGHT, WIDTH, 3], { slots: 8, dtype: 'uint8' })
  const grey = SharedTensor.create(`${name}-grey`, [HEIGHT, WIDTH])
  const python = pythonPeer(name, `${name}-grey`)
  const unlink = () => {
    for (const each of [() => SharedRing.unlink(name), () => SharedTensor.unlink(`${name}-grey`)]) {
      try {
        each()
      } catch {} // it is gone
    }
  }
  process.once('exit', unlink)
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

  console.log(`  frames  uint8 [${HEIGHT}, ${WIDTH}, 3], 8 of them in ${ring.path}`)
  console.log(`  grey    float32 [${HEIGHT}, ${WIDTH}] in ${grey.path}`)
  const seen = { right: 0, wrong: 0, unanswered: 0, grey: 0 }
  const before = memory().copied
  let started = 0 // when the clock began: with the second frame, because the first waits for Python to start
  for (let i = 0; i < count; i++) {
    const frame = ring.next()
    const { x, y } = draw(frame, i)
    frame.dispose()
    const index = ring.commit()
    const answer = python.ask(index)
    if (i === kill) process.kill(python.pid, 'SIGKILL')
    try {
      const found = await answer
      if (found.whole && found.x === x && found.y === y) seen.right++
      else seen.wrong++
      if (grey.tensor.get(Math.round(y), Math.round(x)) === 250) seen.grey++ // Python wrote it, Node reads it
    } catch (error) {
      if (i === 0) {
        throw new Error(
          `${error.message}; Python with NumPy is needed: bash scripts/setup python, or PYTHON=… names another one`,
        )
      }
      console.log(`  frame ${i}: ${error.message}; the next one goes to another process`)
      seen.unanswered++
    }
    if (i === 0) started = performance.now()
  }
  const each = (performance.now() - started) / Math.max(1, count - 1)
  await python.end()
  ring.dispose()
  grey.dispose()

  const megabytes = (count * HEIGHT * WIDTH * 3) / 1e6
  console.log(
    `  ${seen.right} of ${count} frames: Python found the square where Node drew it; ${seen.grey} grey pictures came back`,
  )
  console.log(
    `  ${seen.wrong} wrong, ${seen.unanswered} unanswered, ${python.started} Python processes, ${each.toFixed(2)} ms a frame`,
  )
  console.log(
    `  ${megabytes.toFixed(0)} MB of frames went from one process to the other; copied by samebytes: ${JSON.stringify(memory().copied) === JSON.stringify(before) ? 'nothing' : JSON.stringify(memory().copied)}`,
  )
  // Who was killed may have answered just before.
  if (seen.wrong > 0 || seen.grey !== seen.right || seen.unanswered > 1) process.exitCode = 1
}

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 1
})
