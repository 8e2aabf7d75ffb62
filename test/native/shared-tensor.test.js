'use strict'
// Memory between processes: real ones, of Node, Python and C.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { execFileSync } = require('node:child_process')
const { SharedTensor, memory } = require('samebytes')
const { collectUntil, copied, nativeOnly, refuses, skip } = require('../setup')

const FOLDER = '/dev/shm'
const names = new Set()
let made = 0
/** A name that nobody else has, taken away at the end. */
function fresh () {
  const name = `sb-test-${process.pid}-${made++}`
  names.add(name)
  return name
}
/** What this process has in the folder. */
const here = () => fs.readdirSync(FOLDER).filter(name => name.includes(`-${process.pid}-`) || targetOf(name).includes(`-${process.pid}-`)).sort()
function targetOf (name) {
  try {
    return fs.readlinkSync(`${FOLDER}/${name}`)
  } catch {
    return '' // no link, or gone
  }
}
function clean () {
  for (const name of names) {
    try { SharedTensor.unlink(name) } catch {}
  }
  names.clear()
}

const PYTHON = '/usr/bin/python3'
const python = (source, ...args) => execFileSync(PYTHON, ['-c', source, ...args], { encoding: 'utf8' })
const needsPython = () => before(function () { if (!fs.existsSync(PYTHON)) skip(this, 'Python with NumPy is missing') })

describe('SharedTensor', () => {
  nativeOnly()
  afterEach(clean)

  it('makes a segment that is opened by name, path, descriptor and file descriptor: the same bytes, nothing copied', async () => {
    const name = fresh()
    const { result: a, copies } = copied(() => SharedTensor.create(name, [2, 3], { dtype: 'int32' }))
    const { tensor: t } = a
    assert.deepEqual([a.name, a.path, t.toArray(), t.dtype], [name, `${FOLDER}/${name}`, [[0, 0, 0], [0, 0, 0]], 'int32'])
    const others = [name, `/${name}`, a.path, a.descriptor, JSON.parse(JSON.stringify(a)), { fd: a.fd }, `/proc/${process.pid}/fd/${a.fd}`].map(where => SharedTensor.open(where))
    others.forEach((b, i) => b.tensor.set(i + 1, 0, 0))
    assert.equal(t.get(0, 0), others.length)
    t.set(9, 1, 2)
    for (const b of others) assert.equal(b.tensor.get(1, 2), 9)
    assert.deepEqual(copies, {})
    for (const b of [a, ...others]) b.dispose()
    refuses(() => a.fd, 'ERR_DISPOSED')
    refuses(() => a.tensor, 'ERR_DISPOSED')
    t.set(7, 0, 0)
    assert.equal(others[0].name, name)
    assert.equal(SharedTensor.open(name).tensor.get(0, 0), 7)
    assert.ok(memory().bytes.mapped >= 152)
    t.dispose()
    assert.ok(await collectUntil(() => memory().bytes.mapped === 0))
    SharedTensor.unlink(name)
    refuses(() => SharedTensor.open(name), 'ERR_NOT_FOUND')
    assert.deepEqual(here(), [])
  })
})

describe('SharedTensor and NumPy', function () {
  this.timeout(120000)
  nativeOnly()
  needsPython()
  afterEach(clean)

  it('a named segment is a .npy file, a sealed one is one behind /proc: both ways', () => {
    for (const a of [SharedTensor.create(fresh(), [2, 2]), SharedTensor.create(null, [2, 2])]) {
      a.tensor.copyFrom([[1, 2], [3, 4]])
      assert.equal(python("import sys, numpy as np; a = np.load(sys.argv[1], mmap_mode='r+'); print(a.tolist()); a *= 2", a.path).trim(), '[[1.0, 2.0], [3.0, 4.0]]')
      assert.deepEqual(a.tensor.toArray(), [[2, 4], [6, 8]])
    }
  })
})
