// A checkpoint made smaller: the matrices of a .safetensors file become float16, what is small stays as it is, and the new file says so in
// its metadata. An .npz of the same weights is compared with it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Generator, allClose, arange, arrayEqual, backend, load, openSafetensors, parseSafetensors, randn, save, type Tensor, type TensorFile } from 'samebytes'

const PYTHON = process.env['PYTHON'] ?? '/usr/bin/python3'

/** Mapped; where nothing can be mapped, read. */
function open (path: string): TensorFile {
  return backend() === 'native' ? openSafetensors(path) : parseSafetensors(readFileSync(path))
}

function stringsOf (metadata: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, String(value)]))
}

async function halve (from: string, to: string): Promise<string[]> {
  const file = open(from)
  const converted: string[] = []
  const tensors: Record<string, Tensor> = {}
  for (const [name, t] of file) {
    const isMatrix = t.dtype === 'float32' && t.ndim > 1
    if (isMatrix) converted.push(name)
    tensors[name] = isMatrix ? t.to('float16') : t
  }
  await save(to, tensors, { metadata: { ...stringsOf(file.metadata), converted: converted.join() }, ifExists: 'error' })
  file.close()
  return converted
}

// ---- What should be in the files ----

/** The nearest float16, ties to even, as a number. */
function half (x: number): number {
  const magnitude = Math.abs(x)
  if (magnitude === 0) return x
  const step = 2 ** (Math.max(Math.floor(Math.log2(magnitude)), -14) - 10)
  const steps = magnitude / step
  const below = Math.floor(steps)
  const nearest = steps - below > 0.5 || (steps - below === 0.5 && below % 2 === 1) ? below + 1 : below
  return Math.sign(x) * nearest * step
}

const folder = mkdtempSync(join(tmpdir(), 'weights-'))
try {
  const at = (name: string): string => join(folder, name)
  const generator = new Generator(11)
  const layers = {
    'encoder.weight': randn([96, 64], { generator }),
    'encoder.bias': randn(96, { generator }),
    'decoder.weight': randn([64, 96], { generator }),
    ids: arange(96n)
  }
  await save(at('model.safetensors'), layers, { metadata: { format: 'pt', step: '1200' } })
  await save(at('model.npz'), layers)

  assert.deepEqual(await halve(at('model.safetensors'), at('half.safetensors')), ['encoder.weight', 'decoder.weight'])
  await assert.rejects(halve(at('model.safetensors'), at('half.safetensors')), { code: 'ERR_EXISTS' })

  const small = open(at('half.safetensors'))
  assert.deepEqual({ ...small.metadata }, { format: 'pt', step: '1200', converted: 'encoder.weight,decoder.weight' })
  assert.deepEqual([...small.keys()].sort(), Object.keys(layers).sort())
  assert.equal(small.info('encoder.weight').type, 'F16')
  assert.ok(statSync(at('half.safetensors')).size < statSync(at('model.safetensors')).size * 0.6)

  const archive: TensorFile = await load(at('model.npz'))
  for (const [name, t] of archive) {
    const other = small.get(name)
    if (other.dtype === 'float16') {
      assert.ok(allClose(other, t, { rtol: 2 ** -11, atol: 2 ** -25 }), name)
      assert.ok(!allClose(other, t, { rtol: 2 ** -14, atol: 0 }), `${name} was rounded`)
      const [got, full] = [other.to('float32').data, t.to('float32').data]
      full.forEach((x, i) => assert.equal(got[i], half(x)))
    } else {
      assert.equal(other.dtype, t.dtype)
      assert.ok(arrayEqual(other, t), name)
      assert.ok(!arrayEqual(other, t.flip(0)), name)
    }
  }

  const script = 'import sys, numpy as np; z = np.load(sys.argv[1]); print(*(f"{n}:{z[n].dtype}:{z[n].shape}:{z[n].astype(float).sum():.6f}" for n in sorted(z)), sep="|")'
  const numpy = spawnSync(PYTHON, ['-c', `${script}`, at('model.npz')], { encoding: 'utf8' })
  if (numpy.status === 0) {
    const said = Object.entries(layers).sort(([a], [b]) => a < b ? -1 : 1).map(([name, t]) => {
      let sum = 0
      for (const x of t.data) sum += Number(x)
      return `${name}:${t.dtype}:(${t.shape.join(', ')}${t.ndim === 1 ? ',' : ''}):${sum.toFixed(6)}`
    })
    assert.deepEqual(numpy.stdout.trim().split('|'), said)
  } else {
    assert.match(numpy.stderr || 'No module named numpy', /No module named/)
  }
} finally {
  rmSync(folder, { recursive: true })
}
