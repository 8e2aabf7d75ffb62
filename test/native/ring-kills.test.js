'use strict'
// Writers of each kind, killed at random moments: what was counted is whole, and the next writer goes on.
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: wait } = require('node:timers/promises')
const { SharedRing, pythonPath } = require('samebytes')
const { include } = require('samebytes/native')
const { generator, nativeOnly, skip } = require('../setup')
const { PYTHON, nodePeer, programPeer, pythonPeer, endPeers } = require('../peer-process')
const { clean, fresh } = require('../segments')

const KILLS = process.env.SAMEBYTES_FULL === '1' ? 1000 : 12
const MOST_MS = 8 // from a frame of it to the kill

describe('writers that are killed at random moments', function () {
  this.timeout(KILLS * 10000)
  nativeOnly()
  let folder
  before(function () {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-kills-'))
    try {
      execFileSync(process.env.CC ?? 'gcc', ['-O2', '-I', include, '-o', path.join(folder, 'ring-page'), path.join(__dirname, 'ring-page.c')], { stdio: 'pipe' })
    } catch (error) {
      if (error.code === 'ENOENT') skip(this, 'a C compiler is missing')
      throw error
    }
  })
  after(() => { fs.rmSync(folder, { recursive: true, force: true }) })
  afterEach(async () => {
    await endPeers()
    clean()
  })

  const writers = {
    C: name => programPeer(path.join(folder, 'ring-page'), ['write', name, '1000000000']),
    Python: name => pythonPeer(`sys.path.insert(0, ${JSON.stringify(pythonPath)})\nfrom samebytes import Ring\nring = Ring.open(sys.argv[1])\nwhile True: ring.write(ring.count)`, [name]),
    Node: name => nodePeer("const ring = require('samebytes').SharedRing.open(process.env.RING); for (;;) ring.write(ring.count)", { env: { RING: name } })
  }

  for (const [kind, start] of Object.entries(writers)) {
    it(`${kind}: ${KILLS} kills, and every frame that was counted is whole`, async function () {
      if (kind === 'Python' && !fs.existsSync(PYTHON)) return skip(this, 'Python is missing')
      const { next } = generator(kind.length)
      const ring = SharedRing.create(fresh(), { slots: 4, shape: [2, 5000], dtype: 'int32' })
      let count = 0
      for (let i = 0; i < KILLS; i++) {
        const writer = start(ring.name)
        const frames = ring.read({ from: count })
        const first = frames.next()
        await Promise.race([first, writer.exit.then(({ errors }) => assert.fail(errors))])
        await frames.return()
        await wait(next(MOST_MS))
        await writer.kill('SIGKILL')
        assert.ok(ring.count > count, `kill ${i}`)
        const reader = SharedRing.open(ring.name) // counts what was whole, drops what was not
        count = reader.count
        let seen = 0
        for (let n = Math.max(0, count - 4); n < count; n++) {
          if (!reader.intact(n)) continue // its slot was begun anew
          const { value } = await reader.read({ from: n }).next()
          assert.ok(value.tensor.data.every(x => x === n), `frame ${n} after kill ${i} is not whole`)
          seen++
        }
        assert.ok(seen >= 3, `${seen} frames after kill ${i}`)
        reader.dispose()
      }
      assert.equal(ring.write(0), count)
      ring.dispose()
    })
  }
})
