'use strict'
// The examples for a GPU: on one, or on the fake driver; and where there is none.
const assert = require('node:assert/strict')
const path = require('node:path')
const { execFile } = require('node:child_process')
const { HANG_MS } = require('../hang')
const { ROOT, skipWithout } = require('../setup')

/** { code, stdout, stderr } of an example's program. */
function run(name, args = [], env = {}) {
  return new Promise((resolve) => {
    const running = execFile(
      process.execPath,
      [path.join(ROOT, 'examples', name, 'index.js'), ...args],
      { env: { ...process.env, ...env }, timeout: HANG_MS },
      (error, stdout, stderr) => {
        resolve({ code: running.exitCode ?? error.signal, stdout, stderr })
      },
    )
  })
}

describe('examples for a GPU', function () {
  it('cuda-blob says how fast bytes come to the GPU and back, by each way', async () => {
    const { code, stdout, stderr } = await run('cuda-blob', ['2'])
    assert.equal(code, 0, stderr)
    const lines = stdout.trim().split('\n')
    assert.equal(lines.length, 6)
    for (const [i, what] of ['pageable', 'pinned', 'pinned', 'mapped'].entries()) {
      assert.match(
        lines[1 + i],
        new RegExp(`^${what}: .* to the GPU +[\\d.]+ GB/s +back +[\\d.]+ GB/s$`),
      )
    }
  })

  it('cuda-blob refuses sizes that are none', async () => {
    for (const size of ['0', 'x', '1.5']) {
      const { code, stderr } = await run('cuda-blob', [size])
      assert.equal(code, 1)
      assert.match(stderr, /no number of MiB/)
    }
  })

  it('vram-with-pytorch has Python double what Node made, and Node write what Python made', async function () {
    skipWithout(this, 'Python')
    const { code, stdout, stderr } = await run('vram-with-pytorch')
    assert.equal(code, 0, stderr)
    assert.match(
      stdout,
      /^Node, process \d+: float32 \[1024, 1024\] on cuda:0, .*, all 1\.5\nPython, process \d+: doubled, .*\nNode sees 3 … 3\nPython, .*: made \[4, 256\], all 3\.0\nNode opened it: .* 3 at its end\nPython sees 7\.0\ncopied: nothing /,
    )
  })

  for (const name of ['cuda-blob', 'vram-with-pytorch']) {
    it(`${name} says what is missing where there is no driver`, async () => {
      const { code, stdout, stderr } = await run(name, [], {
        SAMEBYTES_LIBCUDA: '/nowhere/libcuda.so.1',
      })
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
      assert.match(stdout, /^CUDA is not available: /)
    })
  }
})
