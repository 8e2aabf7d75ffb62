// Frames that a Python process writes by NumPy into a ring in shared memory, and Node reads where they are. Python is told by a line when
// it may write another one.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { SharedRing } from 'samebytes'

const PYTHON = process.env['PYTHON'] ?? '/usr/bin/python3'
const FRAMES = 20
const AHEAD = 3 // frames that Python may write before Node has seen them
const ROWS = 4
const COLUMNS = 6

async function read (): Promise<void> {
  const name = `frames-${process.pid}`
  const ring = SharedRing.create(name, [ROWS, COLUMNS], { slots: AHEAD + 1, dtype: 'float32' })
  try {
    const python = spawn(PYTHON, ['frames.py', ring.path, ring.controlPath], { stdio: ['pipe', 'pipe', 'inherit'] })
    const ended = once(python, 'close')
    let said = ''
    python.stdout.setEncoding('utf8').on('data', text => { said += text })
    // Not to wait for frames of a process that has ended.
    const stopped = new AbortController()
    python.once('exit', code => { if (code !== 0) stopped.abort(new Error(`Python ended with ${code}`)) })
    python.stdin.write('\n'.repeat(AHEAD))

    let seen = 0
    for await (const { tensor, index, lost } of ring.read({ signal: stopped.signal })) {
      const values = tensor.clone()
      assert.ok(ring.intact(index))
      assert.deepEqual([index, lost], [seen, 0])
      for (let row = 0; row < ROWS; row++) {
        for (let column = 0; column < COLUMNS; column++) assert.equal(values.get(row, column), 100 * index + 10 * row + column / 4)
      }
      if (++seen === FRAMES) break
      if (seen <= FRAMES - AHEAD) python.stdin.write('\n')
    }
    python.stdin.end()
    const [code] = await ended
    assert.equal(code, 0)
    assert.equal(said.trim(), `float32 ${AHEAD + 1} ${ROWS} ${COLUMNS} ${FRAMES}`)
    assert.equal(ring.count, FRAMES)

    // Who comes late is told what is gone, and nobody waits for ever.
    assert.deepEqual([ring.intact(0), ring.intact(FRAMES - 1)], [false, true])
    for await (const { index, lost } of ring.read({ from: 0 })) {
      assert.equal(lost, index)
      assert.ok(index >= FRAMES - ring.slots && index < FRAMES)
      break
    }
    await assert.rejects(async () => {
      for await (const { index } of ring.read({ from: FRAMES, signal: AbortSignal.timeout(20) })) assert.fail(`frame ${index}`)
    }, { name: 'TimeoutError' })
  } finally {
    ring.dispose()
    SharedRing.unlink(name)
  }
}

const { status } = spawnSync(PYTHON, ['-c', 'import numpy'], { stdio: 'ignore' })
if (status === 0) await read()
else if (process.env['CI']) assert.fail(`${PYTHON} has no NumPy`)
else console.log(`skipped: ${PYTHON} has no NumPy`)
