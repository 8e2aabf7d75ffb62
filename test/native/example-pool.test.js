'use strict'
// examples/worker-pool: 20,000 jobs, a worker that is stopped, and one that is killed.
const assert = require('node:assert/strict')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { HANG_MS } = require('../hang')
const { ROOT, nativeOnly, needs } = require('../setup')
const { namesWith } = require('../segments')

describe('the example of a pool of workers', function () {
  nativeOnly()
  needs('shared memory with a name')

  it('loses no job, and does none twice but the one that it names', () => {
    const { status, stdout, stderr, pid } = spawnSync(
      process.execPath,
      [path.join(ROOT, 'examples', 'worker-pool', 'index.js')],
      { encoding: 'utf8', timeout: HANG_MS },
    )
    assert.equal(status, 0, stdout + stderr)
    const lines = stdout.split('\n')
    assert.match(
      lines[0],
      /^ {2}process \d+ still reads frame \d+; .*: it was stopped; now it is continued$/,
    )
    assert.match(
      lines[1],
      /^ {2}process \d+ was killed; what it had begun was done again: (job \d+|nothing)$/,
    )
    assert.deepEqual(lines.slice(2), [
      '  20000 jobs by 3 workers, and 1 that came for a dead one: 20000 right, 0 wrong, 0 lost, 0 done twice and not said',
      '  copied by samebytes: nothing',
      '',
    ])
    assert.deepEqual(namesWith(`samebytes-pool-${pid}`), [])
  })
})
