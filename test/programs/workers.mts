// Workers that share a matrix: each takes the next row by an atomic counter, and writes what it finds into a result that all of them
// see. Nothing is posted but the tokens at the start.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Worker, isMainThread, workerData } from 'node:worker_threads'
import { backend, fromShared, memory, share, zeros, type Tensor, type Token } from 'samebytes'

const ROWS = 500
const COLUMNS = 400
const WORKERS = 3
const HELD: Record<string, number> = { native: WORKERS, wasm: 0, 'wasm-shared': 4 * WORKERS } // by tokens; those over a SharedArrayBuffer hold nothing

interface Job { rows: Token<'float32'>, spreads: Token<'float32'>, next: Token<'int32'>, done: Token<'int32'>, worker: number }

/** Mean and standard deviation of each row that nobody else has taken. */
function work (job: Job): void {
  const rows = fromShared(job.rows).unbind(0)
  const spreads = fromShared(job.spreads).accessor()
  const next = fromShared(job.next)
  const done = fromShared(job.done)
  for (;;) {
    const i = Atomics.add(next.data, 0, 1)
    const row = rows[i]
    if (row === undefined) break
    const values = row.data
    const mean = values.reduce((sum, x) => sum + x, 0) / values.length
    const variance = values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / values.length
    spreads.set(mean, i, 0)
    spreads.set(Math.sqrt(variance), i, 1)
    Atomics.add(done.data, job.worker, 1)
  }
  assert.deepEqual(memory().copied, {})
}

async function main (): Promise<void> {
  const rows = zeros([ROWS, COLUMNS], { shared: true }) // the others are for Atomics, too
  const spreads = zeros([ROWS, 2], { shared: 'sab' })
  const next = zeros([1], { dtype: 'int32', shared: 'sab' })
  const done = zeros([WORKERS], { dtype: 'int32', shared: 'sab' })
  const value = (i: number, k: number): number => Math.fround(Math.sin(i * 7 + k) * (i + 1) + k)
  rows.copyFrom(Float32Array.from({ length: ROWS * COLUMNS }, (_, n) => value(Math.floor(n / COLUMNS), n % COLUMNS)))

  const copied = memory().copied
  assert.deepEqual(Object.keys(copied), ['copyFrom'])
  const jobs: Job[] = Array.from({ length: WORKERS }, (_, worker) => ({ rows: share(rows), spreads: share(spreads), next: share(next), done: share(done), worker }))
  assert.equal(memory().inFlight, HELD[backend()])
  await Promise.all(jobs.map(async job => {
    const [code] = await once(new Worker(new URL(import.meta.url), { workerData: job }), 'exit')
    assert.equal(code, 0)
  }))
  assert.deepEqual(memory().copied, copied)
  assert.equal(memory().inFlight, 0)
  assert.equal(next.get(0), ROWS + WORKERS, 'each of them came once too often')
  assert.equal(done.data.reduce((a, b) => a + b), ROWS)

  for (let i = 0; i < ROWS; i++) {
    let [sum, squares] = [0, 0]
    for (let k = 0; k < COLUMNS; k++) sum += value(i, k)
    for (let k = 0; k < COLUMNS; k++) squares += (value(i, k) - sum / COLUMNS) ** 2
    assert.equal(spreads.get(i, 0), Math.fround(sum / COLUMNS))
    assert.equal(spreads.get(i, 1), Math.fround(Math.sqrt(squares / COLUMNS)))
  }
}

if (isMainThread) await main()
else work(workerData)
