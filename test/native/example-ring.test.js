'use strict'
// examples/ring-in-go and ring-in-rust beside Node, both ways. Where there is no compiler it is skipped; .ci/full has them.
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { SharedRing, SharedTensor } = require('samebytes')
const { ROOT, nativeOnly, needs, skip, skipWithout, turn } = require('../setup')
const { nodePeer, programPeer, endPeers } = require('../peer-process')
const { clean, fresh } = require('../segments')

/** Of a program at a path. */
const COMPILERS = {
  Go: ['go', (to) => ['build', '-o', to, 'ring.go']],
  Rust: ['rustc', (to) => ['-O', '-D', 'warnings', '-o', to, 'ring.rs']],
}

for (const [language, [compiler, argumentsOf]] of Object.entries(COMPILERS)) {
  describe(`the example of a ring in ${language}`, function () {
    nativeOnly()
    needs('the ring protocol of Linux')
    let folder
    before(function () {
      folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-ring-'))
      if (process.env.SAMEBYTES_SANITIZED) {
        skip(this, 'compilers do not run with a sanitizer in them')
      }
      skipWithout(this, language)
      execFileSync(compiler, argumentsOf(path.join(folder, 'ring')), {
        cwd: path.join(ROOT, 'examples', `ring-in-${language.toLowerCase()}`),
        stdio: 'pipe',
        env: { ...process.env, GOCACHE: path.join(folder, 'cache'), GOPROXY: 'off' },
      })
    })
    after(() => {
      if (folder) fs.rmSync(folder, { recursive: true, force: true })
    })
    afterEach(async () => {
      await endPeers()
      clean()
    })
    const start = (...args) => programPeer(path.join(folder, 'ring'), args)
    const ringOf = () => SharedRing.create(fresh(), [500], { slots: 4, dtype: 'int32' })

    it('writes frames that we read whole, and goes on after a Node that was killed inside one', async () => {
      const ring = ringOf()
      const killed = nodePeer(
        "const ring = require('samebytes').SharedRing.open(process.env.RING); ring.write(0); ring.next().fill(9); await send('inside'); await next()",
        { env: { RING: ring.name } },
      )
      assert.equal(await killed.next(), 'inside')
      assert.match(
        (await start('write', ring.name, '1').exit).errors,
        new RegExp(`process ${killed.child.pid} writes the ring`),
      )
      await killed.kill('SIGKILL')
      const writer = start('write', ring.name, '2000')
      let [next, whole] = [0, 0]
      for await (const { tensor, index, lost, tag } of ring.read({ from: 0 })) {
        assert.deepEqual([index, tag], [next + lost, BigInt(index)])
        next = index + 1
        const values = tensor.data.slice()
        if (ring.intact(index)) {
          assert.ok(
            values.every((value) => value === index),
            `frame ${index}`,
          )
          whole++
        }
        if (index === 2000) break
      }
      assert.ok(whole > 0)
      assert.deepEqual(await writer.exit, { code: 0, signal: null, errors: '' })
      assert.equal(ring.write(1), 2001) // it has given the role up
      ring.dispose()
    })

    it('refuses words that do not fit, and a count that is none', async () => {
      for (const [at, value, text] of [
        [1, 2n ** 63n + 4n, /fit/],
        [1, 5n, /fit/],
        [5, 1n, /readers/],
        [0, 0x32676e69722d6273n, /kind/],
        [8, 2n ** 53n, /count/],
        [8, 2n ** 64n - 1n, /count/],
      ]) {
        const ring = ringOf()
        const words = SharedTensor.open(`${ring.name}.control`)
        words.tensor.set(value, at)
        if (at === 1) words.tensor.set(0n, 2)
        const { code, errors } = await start('write', ring.name, '1').exit
        assert.deepEqual([code, words.tensor.get(3)], [1, 0n], errors)
        assert.match(errors, text)
        words.dispose()
        ring.dispose()
      }
    })

    it('runs by one command', () => {
      const env = { ...process.env, GOCACHE: path.join(folder, 'cache'), GOPROXY: 'off' }
      const said = execFileSync(
        process.execPath,
        [path.join(ROOT, 'examples', 'rings.js'), language.toLowerCase()],
        { encoding: 'utf8', env },
      )
      assert.match(
        said,
        new RegExp(
          `^  ${language.toLowerCase()}: \\{"whole":\\d+,"torn":0,"lost":\\d+\\}\n  Node: frame 999 begins with 999\n$`,
        ),
      )
    })

    it('reads whole frames only of what we write', async () => {
      const ring = ringOf()
      const reader = start('read', ring.name, '2000')
      assert.equal(await reader.next(), 'ready')
      for (let i = 0; i < 2000; i++) {
        ring.write(i, { tag: i })
        if (i % 50 === 0) await turn()
      }
      const { whole, torn, lost } = JSON.parse(await reader.next())
      assert.deepEqual([torn, whole + lost], [0, 2000])
      assert.ok(whole > 0)
      ring.dispose()
    })
  })
}
