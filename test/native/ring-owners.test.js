'use strict'
// Who owns a ring's two names: what sweep leaves while real processes write and are killed, and halves of rings.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { SharedRing, SharedTensor, pythonPath } = require('samebytes')
const { LOCKS, lockFile } = require('../../js/backend/file-calls')
const { nativeOnly, needs, refuses, skipWithout } = require('../setup')
const { FOLDER, clean, fresh, removeName } = require('../segments')
const { node, python, endAll } = require('../other-process')

const OPTIONS = "{ slots: 4, ifExists: 'open' }"
const ring = (name, more = OPTIONS) =>
  `things.r = require('samebytes').SharedRing.create('${name}', [2], ${more})`
const namesOf = (name) => [name, `${name}.control`]
const sweptOf = (name) =>
  SharedTensor.sweep()
    .filter((each) => namesOf(name).includes(each))
    .sort()
const thereOf = (name) => namesOf(name).filter((each) => fs.existsSync(`${FOLDER}/${each}`))
const infoOf = (name) =>
  SharedTensor.list()
    .filter((each) => namesOf(name).includes(each.name))
    .map(({ pid, isAlive }) => [pid, isAlive])

describe('the owners of a ring', function () {
  nativeOnly()
  needs('shared memory with a name')
  afterEach(async () => {
    await endAll()
    clean()
  })

  it('are a restarted program that opens what its killed run left; sweep takes both names when it has ended', async () => {
    const name = fresh()
    const [first, second] = [node(), node()]
    await first.run(`${ring(name)}.write(1)`)
    await first.kill()
    assert.deepEqual(infoOf(name), [
      [first.pid, false],
      [first.pid, false],
    ])
    await second.run(ring(name))
    assert.deepEqual(sweptOf(name), [])
    assert.deepEqual(infoOf(name), [
      [second.pid, true],
      [second.pid, true],
    ])
    assert.equal(await second.run('return things.r.write(2)'), 1)
    await second.kill()
    assert.deepEqual(sweptOf(name), namesOf(name))
    assert.deepEqual(thereOf(name), [])
  })

  it('are left as long as a process writes the ring, or has a place as a reader, however it opened it', async () => {
    const name = fresh()
    const [maker, writer, reader] = [node(), node(), node()]
    await maker.run(ring(name, '{ slots: 4, readers: 2 }'))
    const open = `things.r = require('samebytes').SharedRing.open('${name}')`
    await writer.run(open)
    await reader.run(open)
    await maker.kill()
    await writer.run('things.r.write(1)')
    await reader.run('things.frames = things.r.read(); await things.frames.next()')
    assert.deepEqual(
      [sweptOf(name), infoOf(name).map(([, isAlive]) => isAlive)],
      [[], [true, true]],
    )
    await writer.kill()
    assert.deepEqual(sweptOf(name), [])
    await reader.run('await things.frames.return()')
    assert.deepEqual(sweptOf(name), namesOf(name))
  })

  it('are Python processes as well, of rings and tensors', async function () {
    skipWithout(this, 'NumPy')
    const [name, plain] = [fresh(), fresh()]
    const maker = node()
    await maker.run(`${ring(name)}; SharedTensor.create('${plain}', [2])`)
    await maker.kill()
    const other = python()
    await other.run(`
import sys
sys.path.insert(0, ${JSON.stringify(pythonPath)})
from samebytes import SharedRing, SharedTensor
things['r'] = SharedRing.create('${name}', 2, slots=4, if_exists='open')
t = SharedTensor.create('${plain}', 2, if_exists='open')
things['a'] = t.array # whose mapping counts
t.close()
`)
    assert.deepEqual(
      SharedTensor.list()
        .filter((each) => [...namesOf(name), plain].includes(each.name))
        .map(({ pid, isAlive }) => [pid, isAlive]),
      Array(3).fill([other.pid, true]),
    )
    const second = node()
    await second.run(
      `${ring(name)}; things.s = SharedTensor.create('${plain}', [2], { ifExists: 'open' })`,
    ) // beside it
    assert.equal(
      SharedTensor.sweep().some((each) => [...namesOf(name), plain].includes(each)),
      false,
    )
    await other.kill()
    assert.deepEqual([sweptOf(name), SharedTensor.sweep().includes(plain)], [[], false])
    await second.kill()
    const swept = SharedTensor.sweep()
    assert.ok([...namesOf(name), plain].every((each) => swept.includes(each)))
  })

  it('find half a ring that was left: control words alone are removed, whoever has them open', async () => {
    for (const ifExists of ['error', 'open', 'replace']) {
      const name = fresh()
      const maker = node()
      await maker.run(ring(name))
      removeName(name)
      assert.deepEqual(thereOf(name), [`${name}.control`])
      refuses(() => SharedRing.open(name), 'ERR_NOT_FOUND')
      if (ifExists === 'open') await maker.kill()
      const made = SharedRing.create(name, [2], { slots: 4, ifExists })
      assert.equal(made.write(1), 0)
      assert.equal(SharedRing.open(name).count, 1)
      made.dispose()
    }
  })

  it('leave control words alone whose ring a process is making', async () => {
    const name = fresh()
    const words = SharedTensor.create(`${name}.control`, [20], { dtype: 'uint64' })
    assert.equal(lockFile(words.fd, LOCKS.exclusive), 0)
    const { ino } = fs.statSync(words.path)
    for (const ifExists of ['error', 'open']) {
      refuses(() => SharedRing.create(name, [2], { slots: 4, ifExists }), 'ERR_EXISTS')
    }
    assert.equal(fs.statSync(words.path).ino, ino)
    words.dispose()
  })

  it('find frames alone: those that a process has are refused, those that sweep would remove are', async () => {
    const name = fresh()
    const maker = node()
    await maker.run(`${ring(name)}.write(1)`)
    removeName(`${name}.control`)
    for (const ifExists of ['error', 'open']) {
      refuses(() => SharedRing.create(name, [2], { slots: 4, ifExists }), 'ERR_EXISTS')
    }
    await maker.kill()
    refuses(() => SharedRing.create(name, [2], { slots: 4 }), 'ERR_EXISTS')
    assert.equal(SharedRing.create(name, [2], { slots: 4, ifExists: 'open' }).count, 0)
  })
})
