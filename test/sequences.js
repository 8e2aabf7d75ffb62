'use strict'
// NumPy's arange, linspace and eye, for tests.
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { ROOT } = require('./setup')
const { PYTHON } = require('./tools')

/** Bounds within which a test's values fit each dtype. */
const BOUNDS = {
  bool: [0, 1],
  uint8: [0, 255],
  int8: [-128, 127],
  int16: [-32768, 32767],
  uint16: [0, 65535],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
  float16: [-60000, 60000],
  bfloat16: [-1e30, 1e30],
  float32: [-1e30, 1e30],
  float64: [-1e300, 1e300],
  complex64: [-1e30, 1e30],
  complex128: [-1e300, 1e300],
  float8_e4m3fn: [-440, 440],
  float8_e5m2: [-50000, 50000],
}

/** What test/python/sequences_reference.py says to each case: bytes in hexadecimal. */
function askNumpy(cases) {
  const script = path.join(ROOT, 'test', 'python', 'sequences_reference.py')
  const input = JSON.stringify(cases, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  const { status, stdout, stderr } = spawnSync(PYTHON, [script], {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

module.exports = { BOUNDS, askNumpy }
