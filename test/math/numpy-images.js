'use strict'
// Asks Python for what images and boxes become (test/python/images.py).
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { ROOT } = require('../setup')
const { PYTHON } = require('../tools')

/** Cases with a tensor `t`, as Python gets them: row-major bytes. */
function sent({ t, ...rest }) {
  return {
    ...rest,
    dtype: t.dtype,
    shape: [...t.shape],
    bytes: Buffer.from(t.contiguous().bytes).toString('base64'),
  }
}

/** @returns {{ shape: number[], values: string[], off: number | null }[]} */
function askPython(cases) {
  const { status, stdout, stderr } = spawnSync(
    PYTHON,
    [path.join(ROOT, 'test', 'python', 'images.py')],
    {
      input: JSON.stringify(cases.map(sent)),
      env: { ...process.env, LD_PRELOAD: '', OMP_NUM_THREADS: '1' },
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    },
  )
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

/** A tensor's elements in row-major order. */
const flat = (t) => (t.size === 0 ? [] : t.contiguous().reshape([t.size]).toArray())

module.exports = { askPython, flat }
