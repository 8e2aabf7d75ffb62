'use strict'
// Python's wheel, installed as users do it, and tried beside Node.
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { PYTHON } = require('./tools')

const UNPACKS = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])'
const BESIDE = `
import array, json, sys
import samebytes
ring, shared = samebytes.SharedRing.open(sys.argv[1]), samebytes.SharedTensor.open(sys.argv[1] + '-t')
read = memoryview(next(ring.read()).array).cast('B').cast('i').tolist()
memoryview(ring.next()).cast('B')[:] = memoryview(array.array('i', [7, 8, 9])).cast('B')
ring.commit()
memoryview(shared.array).cast('B').cast('q')[1] = 4
shared.notify(1)
print(json.dumps([read, samebytes.__version__, samebytes.__file__, samebytes._library.find().path]))`
const ENV = { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1' }

function hasPip() {
  try {
    execFileSync(PYTHON, ['-m', 'pip', '--version'], { stdio: 'pipe', env: ENV })
    return true
  } catch {
    return false
  }
}

/** @param {string} site  a folder of modules @param {{ byPip?: boolean }} [options]  else, and where there is no pip, it is unpacked: that is faster */
function install(wheel, site, { byPip = false } = {}) {
  const args =
    byPip && hasPip()
      ? [
          '-m',
          'pip',
          'install',
          '--no-index',
          '--quiet',
          '--root-user-action=ignore',
          '--disable-pip-version-check',
          '--target',
          site,
          wheel,
        ]
      : ['-c', UNPACKS, wheel, site]
  execFileSync(PYTHON, args, { stdio: 'pipe', env: { ...ENV, PIP_CONFIG_FILE: '/dev/null' } })
}

/**
 * One import, which is the installed one, and a ring and a tensor that this process's Node has as well.
 *
 * @param {object} samebytes  the package to try it beside
 * @param {string} site  where it was installed
 * @param {string} name  of shared memory that nobody has; it is gone afterwards
 * @returns {Promise<{ version: string, library: string }>} what Python says of itself
 */
async function tryBeside({ SharedRing, SharedTensor }, site, name) {
  const made = SharedRing.create(name, [3], { slots: 2, dtype: 'int32' })
  made.write(5)
  made.dispose() // another process may write
  const ring = SharedRing.open(name)
  const shared = SharedTensor.create(`${name}-t`, [2], { dtype: 'int64' })
  try {
    const frames = ring.read({ from: 1 })
    const [read, version, file, library] = JSON.parse(
      execFileSync(PYTHON, ['-c', BESIDE, name], {
        encoding: 'utf8',
        cwd: site,
        env: { ...ENV, PYTHONPATH: site },
      }),
    )
    assert.deepEqual(read, [5, 5, 5])
    assert.equal(path.dirname(path.dirname(file)), fs.realpathSync(site))
    assert.deepEqual((await frames.next()).value.tensor.tolist(), [7, 8, 9])
    assert.equal(shared.tensor.get(1), 4n)
    return { version, library }
  } finally {
    ring.dispose()
    shared.dispose()
    SharedRing.unlink(name)
    SharedTensor.unlink(`${name}-t`)
  }
}

module.exports = { install, tryBeside }
