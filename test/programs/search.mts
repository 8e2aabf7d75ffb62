// Search among embeddings: a file of them is mapped, its rows are brought to length 1, and the rows nearest to a query are found by
// dot products.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Generator, arrayEqual, backend, memory, openSafetensors, parseSafetensors, randn, save, type Tensor, type TensorFile } from 'samebytes'
import { matmul, normalize, topK } from 'samebytes/math'

const ROWS = 2000
const WIDTH = 64
const BEST = 5

interface Hit { row: number, score: number }

/** Mapped; where nothing can be mapped, read. */
function open (path: string): TensorFile {
  return backend() === 'native' ? openSafetensors(path) : parseSafetensors(readFileSync(path))
}

function matrix (file: TensorFile, name: string): Tensor<'float32'> {
  const found = file.get(name)
  if (found.ndim !== 2) throw new Error(`${name} should be a matrix, not ${found.shape}`)
  return found.to('float32')
}

/** The rows with the greatest products, the best first. */
function search (index: Tensor<'float32'>, query: Tensor<'float32'>, count: number): Hit[] {
  const { values, indices } = topK(matmul(index, query), count)
  return indices.toArray<1>().map((row, k) => ({ row, score: values.get(k) }))
}

// ---- What should be found ----

/** The numbers of a tensor in a .safetensors file, by the format's description: a length, JSON, bytes. */
function numbersOf (path: string, name: string): number[] {
  const bytes = readFileSync(path)
  const length = Number(bytes.readBigUInt64LE(0))
  const header: Record<string, { data_offsets: [number, number] }> = JSON.parse(bytes.toString('utf8', 8, 8 + length))
  const [from, to] = header[name]!.data_offsets
  return Array.from({ length: (to - from) / 4 }, (_, i) => bytes.readFloatLE(8 + length + from + 4 * i))
}

function expected (all: number[], query: number[]): Hit[] {
  const hits = []
  for (let row = 0; row < ROWS; row++) {
    let [product, square] = [0, 0]
    for (let i = 0; i < WIDTH; i++) {
      product += all[row * WIDTH + i]! * query[i]!
      square += all[row * WIDTH + i]! ** 2
    }
    hits.push({ row, score: product / Math.sqrt(square) })
  }
  return hits.sort((a, b) => b.score - a.score).slice(0, BEST)
}

const folder = mkdtempSync(join(tmpdir(), 'search-'))
try {
  const path = join(folder, 'embeddings.safetensors')
  const generator = new Generator(7)
  await save(path, { embeddings: randn([ROWS, WIDTH], { generator }), queries: randn([3, WIDTH], { generator }) }, { metadata: { model: 'random' } })

  const file = open(path)
  assert.equal(file.metadata['model'], 'random')
  const embeddings = matrix(file, 'embeddings')
  const queries = matrix(file, 'queries')
  assert.ok(arrayEqual(embeddings, randn([ROWS, WIDTH], { generator: new Generator(7) })), 'a seed gives the same numbers')
  const before = memory().copied
  const unit = normalize(embeddings) // in bytes of its own: the file is only read
  assert.deepEqual(memory().copied, before, 'rows are read where the file is')
  file.close()
  assert.throws(() => file.get('queries'), { code: 'ERR_DISPOSED' })

  for (const [i, query] of queries.unbind(0).entries()) {
    const hits = search(unit, query, BEST)
    const wanted = expected(numbersOf(path, 'embeddings'), numbersOf(path, 'queries').slice(i * WIDTH, (i + 1) * WIDTH))
    assert.deepEqual(hits.map(hit => hit.row), wanted.map(hit => hit.row))
    hits.forEach((hit, k) => assert.ok(Math.abs(hit.score - wanted[k]!.score) < 1e-5))
    const found = unit.take(hits.map(hit => hit.row), { axis: 0 })
    assert.deepEqual(found.shape, [BEST, WIDTH])
    assert.deepEqual(matmul(found, query).toArray(), hits.map(hit => hit.score), 'a row has the same product beside other rows')
  }
} finally {
  rmSync(folder, { recursive: true })
}
