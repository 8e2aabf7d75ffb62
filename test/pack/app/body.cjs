'use strict'
// What each runtime does with the installed package, on the back end that it is told.

const assert = require('node:assert')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

module.exports = async function use(sb, math, backend) {
  assert.equal(sb.backend(), backend)
  const m = sb.tensor([1, 2, 3, 4, 5, 6], [2, 3], { dtype: 'float32' })
  const t = m.permute([1, 0])
  m.set(7, 0, 2)
  assert.equal(t.get(2, 0), 7, 'the view does not show what was written')
  t.set(8, 1, 1)
  assert.equal(m.get(1, 1), 8, 'the tensor does not show what the view wrote')
  assert.deepEqual(math.add(m, t.T).toArray(), [
    [2, 4, 14],
    [8, 16, 12],
  ])
  assert.deepEqual(math.linalg.cross(m.slice('0'), m.slice('1')).toArray(), [-44, 22, 0])
  m.data[0] = 9
  assert.equal(t.get(0, 0), 9, 'the tensor does not show what its data was given')
  assert.deepEqual(t.astype('int16', { casting: 'unsafe' }).toArray(), [
    [9, 4],
    [2, 8],
    [7, 6],
  ])

  const bytes = new Float64Array(4)
  const blob = sb.fromBlob(bytes, [2, 2])
  blob.fill(3)
  assert.deepEqual([...bytes], backend === 'native' ? [3, 3, 3, 3] : [...bytes])
  if (backend === 'native') {
    assert.ok(blob.data.buffer === bytes.buffer, 'the same buffer')
    bytes[3] = 4
    assert.equal(blob.get(1, 1), 4)
  }
  assert.throws(() => sb.zeros([-1]), { code: 'ERR_SHAPE' })
  assert.deepEqual(
    sb
      .concat([sb.arange(3), sb.arange(2)])
      .toArray()
      .map(Number),
    [0, 1, 2, 0, 1],
  )
  assert.deepEqual(sb.parseNpy(sb.toNpyBytes(m)).toArray(), m.toArray())

  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-app-'))
  try {
    const file = path.join(folder, 'm.npy')
    await sb.saveNpy(file, m)
    assert.deepEqual((await sb.load(file)).toArray(), m.toArray())
    if (backend === 'native') {
      const opened = sb.openNpy(file, { mode: 'r+' })
      opened.set(5, 0, 0)
      opened.dispose()
      assert.equal((await sb.load(file)).get(0, 0), 5)
      if (process.versions.deno !== undefined) {
        assert.throws(() => sb.SharedTensor.create(null, [4]), { code: 'ERR_UNSUPPORTED' })
        return console.log(`done on ${backend}`)
      }
      const shared = sb.SharedTensor.create(null, [4], 'int32')
      const again = sb.SharedTensor.open(shared.descriptor)
      shared.tensor.fill(6)
      assert.deepEqual(again.tensor.toArray(), [6, 6, 6, 6])
      for (const one of [again, shared]) one.dispose()
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
  console.log(`done on ${backend}`)
}
