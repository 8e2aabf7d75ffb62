'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { ROOT, child, needs, isWasm, skipWithout } = require('../setup')

describe('NODE_DEBUG=samebytes', function () {
  needs('a Node of its own')

  /** The lines that a program logs, without the process' number. */
  async function logged(source, env = {}) {
    const { code, stderr } = await child(`const samebytes = require('samebytes')\n${source}`, {
      env: { NODE_DEBUG: 'samebytes', ...env },
    })
    assert.equal(code, 0, stderr)
    return stderr
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        assert.match(line, /^SAMEBYTES \d+: /)
        return line.replace(/^SAMEBYTES \d+: /, '')
      })
  }

  it('writes nothing, and reads no file for it, unless it is asked for', async () => {
    const file = path.join(os.tmpdir(), `samebytes-log-${process.pid}.npy`)
    const source = `
      const path = require('node:path')
      const file = ${JSON.stringify(file)}
      const { ones, saveNpySync, openNpy, backend } = require('samebytes')
      saveNpySync(file, ones([3]))
      if (backend() === 'native') openNpy(file).data
      ones([3]).data
      console.log(Object.keys(require.cache).some(name => name.endsWith(path.join('js', 'base', 'log.js'))))`
    for (const NODE_DEBUG of ['', 'fs,samebyte', undefined]) {
      const { code, stdout, stderr } = await child(source, { env: { NODE_DEBUG } })
      assert.equal(code, 0, stderr)
      assert.equal(stdout, 'false\n')
      assert.doesNotMatch(stderr, /SAMEBYTES/)
    }
    assert.equal((await child(source, { env: { NODE_DEBUG: 'samebytes' } })).stdout, 'true\n')
    fs.rmSync(file) // not there: Windows deletes nothing that is mapped
  })

  it('says which back end was chosen, and why', async () => {
    const lines = await logged('')
    const name = process.env.SAMEBYTES_BACKEND
    assert.equal(lines[lines.length - 1], `back end ${name}: SAMEBYTES_BACKEND asks for it`)
    if (!isWasm) assert.match(lines[0], /^addon (\/|[A-Z]:\\).*\.node$/)
  })

  it('says why there is no addon', async () => {
    const { stderr } = await child("require('samebytes')", {
      env: { NODE_DEBUG: 'samebytes', SAMEBYTES_BACKEND: '', SAMEBYTES_BINARY: '/no such addon' },
    })
    assert.match(
      stderr,
      /^SAMEBYTES \d+: no addon .*no such addon: .*\nSAMEBYTES \d+: back end wasm: no addon could be loaded$/m,
    )
  })

  it('says what was staged, promoted, and that WASM memory grew', async () => {
    const lines = await logged(`
      const { fromBlob, ones, zeros } = samebytes
      ones([4]).data
      const t = fromBlob(new Float32Array(4))
      t.slice(':3').copyFrom(t.slice('1:')) // overlaps
      zeros([2, 2]).copyFrom(t.reshape(2, 2).T) // of bytes that WASM does not see
      zeros([2 ** 22]).dispose()`)
    assert.ok(
      lines.includes('staged 12 bytes: a temporary copy') ||
        lines.includes('staged 16 bytes: a temporary copy'),
      lines.join('\n'),
    )
    assert.equal(
      lines.some((line) => /^WASM memory grew from \d+ to \d+ bytes$/.test(line)),
      isWasm,
    )
    assert.equal(
      lines.includes('promoted a tensor of 16 bytes: it has a buffer of its own'),
      !isWasm,
    )
  })

  it('says what was mapped and shared, in letters', async function () {
    skipWithout(this, 'the addon')
    skipWithout(this, 'shared memory with a name')
    const { plain } = require('../../js/base/errors')
    const { pathOf } = require(path.join(ROOT, 'test', 'segments')) // bundles of the tests leave it out
    const letters = process.platform === 'win32' ? '\u200b\u2028' : '\x1b[31m\n' // Windows has no names with the others
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-log-'))
    const name = `sb-test-${process.pid}`
    const file = path.join(folder, `a${letters}.npy`)
    const lines = await logged(`
      const { ones, openNpy, saveNpySync, SharedTensor } = samebytes
      saveNpySync(${JSON.stringify(file)}, ones([4]))
      openNpy(${JSON.stringify(file)}, { mode: 'c', guard: true })
      SharedTensor.create('${name}', [2]).dispose()
      SharedTensor.open('${name}').dispose()
      SharedTensor.unlink('${name}')`)
    fs.rmSync(folder, { recursive: true })
    for (const line of [
      `mapped ${plain(file)}: 144 bytes, mode c, guarded`,
      `made a segment of 136 bytes: ${pathOf(name)}`,
      `named the segment ${pathOf(name)}`,
      `opened the segment ${pathOf(name)}`,
      `removed the name ${pathOf(name)}`,
    ]) {
      assert.ok(lines.includes(line), `${line} is not in\n${lines.join('\n')}`)
    }
  })
})
