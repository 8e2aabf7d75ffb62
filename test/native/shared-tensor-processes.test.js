'use strict'
// Memory between processes: what real ones do to each other, and what is left when they are killed.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const { SharedTensor } = require('samebytes')
const { ROOT, can, childJson, generator, needs, refuses, skip, skipWithout } = require('../setup')
const { PYTHON } = require('../tools')
const {
  FOLDER,
  abilities,
  clean,
  fresh,
  here,
  pathOf,
  recordOf,
  removeName,
  unnamed,
  writeRecord,
} = require('../segments')
const { node, endAll, inSmallFolder } = require('../other-process')

const { errno } = os.constants
const KILLS = process.env.SAMEBYTES_FULL === '1' ? 1000 : 12
const isRoot = process.geteuid?.() === 0

describe('SharedTensor between processes', function () {
  needs('the addon')
  needs('shared memory with a name')
  afterEach(async () => {
    await endAll()
    clean()
  })

  it('shows in each what the other writes: by name, by descriptor, by an inherited file', async () => {
    const named = SharedTensor.create(fresh(), [4], 'int32')
    const sealed = SharedTensor.create(unnamed(), [4], 'int32')
    const other = node({ stdio: [sealed.fd] }) // 3 there
    for (const [a, where] of [
      [named, named.name],
      [named, named.descriptor],
      [sealed, sealed.descriptor],
      [sealed, { fd: 3 }],
      ...(can('/proc') ? [[sealed, '/proc/self/fd/3']] : []),
    ]) {
      a.tensor.fill(2)
      assert.deepEqual(
        await other.run(`
        const s = things.s = SharedTensor.open(${JSON.stringify(where)})
        const before = s.tensor.toArray()
        s.tensor.set(7, 3)
        return [before, s.isSealed]
      `),
        [[2, 2, 2, 2], a === sealed && abilities.sealedMemory],
      )
      assert.deepEqual(a.tensor.toArray(), [2, 2, 2, 7])
      a.tensor.set(9, 0)
      assert.equal(await other.run('return things.s.tensor.get(0)'), 9)
    }
    const back = SharedTensor.open(
      await other.run(
        `return (things.mine = SharedTensor.create(${JSON.stringify(unnamed())}, [2], 'float64')).descriptor`,
      ),
    )
    back.tensor.fill(0.5)
    assert.deepEqual(await other.run('return things.mine.tensor.toArray()'), [0.5, 0.5])
    assert.deepEqual(await other.end(), { code: 0, signal: null })
    assert.deepEqual(back.tensor.toArray(), [0.5, 0.5]) // the last one that has it keeps it
    assert.equal(refuses(() => SharedTensor.open(`/proc/${other.pid}/fd/3`)).code, 'ERR_NOT_FOUND')
  })

  it('a name lives when its process has ended; sweep takes it away, unless it was to stay or its process is alive', () =>
    undisturbed(async () => {
      const [gone, stays, alive, killed, mine] = [fresh(), fresh(), fresh(), fresh(), fresh()]
      SharedTensor.create(mine, [1])
      const [a, b, c] = [node(), node(), node()]
      await a.run(
        `SharedTensor.create('${gone}', [2]).tensor.fill(4); SharedTensor.create('${stays}', [2], { persist: true })`,
      )
      await b.run(`SharedTensor.create('${alive}', [2])`)
      await c.run(`things.s = SharedTensor.create('${killed}', [2])`)
      assert.deepEqual(await a.end(), { code: 0, signal: null })
      await c.kill()
      const known = () =>
        Object.fromEntries(
          SharedTensor.list()
            .filter(({ name }) => name.includes(`-${process.pid}-`))
            .map(({ name, isAlive, persist, pid }) => [name, [isAlive, persist, pid]]),
        )
      assert.deepEqual(known(), {
        [gone]: [false, false, a.pid],
        [stays]: [false, true, a.pid],
        [alive]: [true, false, b.pid],
        [killed]: [false, false, c.pid],
        [mine]: [true, false, process.pid],
      })
      const held = SharedTensor.open(gone)
      const swept = SharedTensor.sweep()
      assert.deepEqual(
        [gone, killed].filter((name) => !swept.includes(name)),
        [],
      )
      assert.deepEqual(
        [stays, alive, mine].filter((name) => swept.includes(name)),
        [],
      )
      assert.deepEqual(held.tensor.toArray(), [4, 4])
      assert.deepEqual(Object.keys(known()).sort(), [stays, alive, mine].sort())
      refuses(() => SharedTensor.open(gone), 'ERR_NOT_FOUND')
      SharedTensor.unlink(stays)
      assert.deepEqual(known()[stays], undefined)
      await b.kill()
      assert.ok(SharedTensor.sweep().includes(alive))
    }))

  const known = (name) => SharedTensor.list().find((each) => each.name === name)

  it('who opens what a killed process made, by ifExists, owns it: sweep leaves it until the last owner has ended', () =>
    undisturbed(async () => {
      const name = fresh()
      const [a, b, c, d] = [node(), node(), node(), node()]
      await a.run(`things.s = SharedTensor.create('${name}', [2], { persist: false })`)
      await b.run(`things.s = SharedTensor.create('${name}', [2], { ifExists: 'open' })`) // its first owner lives
      await a.kill()
      assert.deepEqual(
        [SharedTensor.sweep().includes(name), known(name).pid, known(name).isAlive],
        [false, a.pid, true],
      )
      await c.run(`things.t = SharedTensor.create('${name}', [2], { ifExists: 'open' }).tensor`) // takes the record over
      assert.deepEqual([SharedTensor.sweep().includes(name), known(name).pid], [false, c.pid])
      await b.kill()
      await d.run(`
      const s = SharedTensor.create('${name}', [2], { ifExists: 'open' })
      things.t = s.tensor // whose mapping counts
      s.dispose()
    `)
      await c.kill()
      assert.deepEqual([SharedTensor.sweep().includes(name), known(name).isAlive], [false, true])
      await d.run('things.t.fill(3)')
      assert.deepEqual(SharedTensor.open(name).tensor.toArray(), [3, 3]) // who only opens it is no owner
      await d.kill()
      assert.equal(known(name).isAlive, false)
      assert.ok(SharedTensor.sweep().includes(name))
      assert.deepEqual(here(), [])
    }))

  it('who owns a segment has its name, while others sweep all the time', () =>
    undisturbed(async () => {
      const name = fresh()
      const owners = [node(), node(), node()]
      const sweepers = [node(), node()]
      const ends = owners.map((owner) =>
        owner.run(`
      const fs = require('node:fs')
      const { pathOf, recordOf, writeRecord } = require('./test/segments')
      let [swept, seen] = [0, '']
      for (let round = 0; round < 150; round++) {
        const s = SharedTensor.create('${name}', [2], { ifExists: 'open' })
        const id = s.descriptor.id.split('-')[1]
        const tag = '.samebytes-' + id
        writeRecord(tag, recordOf(tag).replace(/^\\d+:\\d*/, (2 ** 22 - 1) + ':1')) // as if that one had been killed
        for (let i = 0; i < 20; i++) if (String(fs.statSync(pathOf('${name}'), { bigint: true }).ino) !== id) throw new Error('another has its name')
        if (id !== seen) swept++
        seen = id
        s.dispose()
        await new Promise(resolve => { setTimeout(resolve, Math.random() * 3) })
      }
      return swept
    `),
      )
      for (const sweeper of sweepers) sweeper.ask('for (;;) SharedTensor.sweep()').catch(() => {}) // until it is killed
      const swept = await Promise.all(ends)
      assert.ok(
        swept.some((n) => n > 1),
        `the name was swept between: ${swept}`,
      )
    }))

  it('a process number that somebody else has by now means no owner; one of another namespace is left alone', async function () {
    skipWithout(this, 'process start times')
    await undisturbed(async () => {
      const marks = () =>
        fs
          .readdirSync(FOLDER)
          .filter((name) => name.startsWith('.samebytes-') && here().includes(name))
      const forge = (change) => {
        const shared = SharedTensor.create(fresh(), [1])
        const { name } = shared
        shared.dispose() // a process that has ended has it no more
        const mark = marks().find((entry) => recordOf(entry).endsWith(`:${name}`))
        writeRecord(mark, change(recordOf(mark).split(':')).join(':'))
        return name
      }
      const reused = forge(([pid, start, ...rest]) => [pid, Number(start) - 1, ...rest])
      const system = process.platform === 'win32' ? 4 : 1 // which nobody but the system may look into
      const reusedBySystem = forge(([, start, ...rest]) => [system, Number(start) - 1, ...rest])
      const elsewhere = forge(([pid, start, , ...rest]) => [2 ** 22 - 1, start, 5, ...rest])
      const unknown = forge(([, , , ...rest]) => [2 ** 22 - 1, '', '', ...rest])
      const nonsense = forge(() => ['nonsense'])
      const another = forge((fields) => [...fields.slice(0, 4), 'sb-test-another'])
      const swept = SharedTensor.sweep()
      assert.ok(swept.includes(reused) && swept.includes(reusedBySystem))
      for (const name of [elsewhere, unknown, nonsense, another, 'sb-test-another']) {
        assert.equal(swept.includes(name), false, name)
      }
      for (const name of [elsewhere, unknown, nonsense, another]) {
        assert.ok(fs.existsSync(`${FOLDER}/${name}`), name)
      }
      for (const entry of fs.readdirSync(FOLDER)) {
        if (/^(nonsense|.*:sb-test-another)$/.test(recordOf(entry))) {
          fs.unlinkSync(`${FOLDER}/${entry}`)
        }
      }
    })
  })

  it('two owners of one name: one makes it, the others are told, or have the same, or take its place', async () => {
    const others = [node(), node(), node()]
    for (let round = 0; round < 5; round++) {
      const names = [fresh(), fresh(), fresh()]
      const all = (name, ifExists) =>
        Promise.all(
          others.map((other, i) =>
            other.ask(`
        const s = SharedTensor.create('${name}', [4], { ifExists: '${ifExists}' })
        things[s.name] = s
        s.tensor.set(1, ${i})
        return s.descriptor.id
      `),
          ),
        )
      const error = await all(names[0], 'error')
      assert.equal(error.filter((answer) => answer.error === undefined).length, 1)
      for (const answer of error) if (answer.error) assert.equal(answer.error.code, 'ERR_EXISTS')
      const open = await all(names[1], 'open')
      assert.equal(new Set(open.map((answer) => answer.result)).size, 1, JSON.stringify(open))
      assert.deepEqual(SharedTensor.open(names[1]).tensor.toArray(), [1, 1, 1, 0])
      for (const name of names.slice(0, 2)) {
        assert.equal(
          here().filter((entry) => recordOf(entry).endsWith(`:${name}`)).length,
          1,
          'who came late left nothing',
        )
      }
      const replace = await all(names[2], 'replace')
      const { descriptor, tensor } = SharedTensor.open(names[2])
      const winner = replace.findIndex((answer) => answer.result === descriptor.id)
      assert.deepEqual(
        tensor.toArray(),
        [0, 1, 2, 3].map((i) => (i === winner ? 1 : 0)),
      )
      assert.deepEqual(SharedTensor.list().filter(({ name }) => names.includes(name)).length, 3)
    }
  })

  it('who opens a name finds all of it or nothing, while others make, replace and remove it, and are killed', async () => {
    const name = fresh()
    const source = `
      process.stdin.unref()
      for (;;) {
        for (const ifExists of ['replace', 'error', 'open']) {
          try { const s = SharedTensor.create('${name}', [3000], { ifExists }); s.tensor.set(7, 2999); s.tensor.dispose(); s.dispose() } catch (error) { if (error.code !== 'ERR_EXISTS') throw error }
        }
        try { SharedTensor.unlink('${name}') } catch (error) { if (error.code !== 'ERR_NOT_FOUND') throw error }
      }
    `
    let [found, missing] = [0, 0]
    for (let round = 0; round < 6; round++) {
      const others = [node(), node()]
      const ends = others.map(async (other) =>
        other.ask(source).then(
          (answer) => assert.fail(JSON.stringify(answer)),
          () => {},
        ),
      )
      for (const until = found + 50; found < until;) {
        try {
          const s = SharedTensor.open(name, { shape: [3000], dtype: 'float32' })
          assert.ok([0, 7].includes(s.tensor.get(2999)))
          s.tensor.dispose()
          s.dispose()
          found++
        } catch (error) {
          assert.equal(error.code, 'ERR_NOT_FOUND', error.stack)
          missing++
        }
        if ((found + missing) % 16 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      for (const other of others) await other.kill()
      await Promise.all(ends)
    }
    SharedTensor.sweep() // all of them are dead
    assert.deepEqual(here(), [])
  })

  it('a peer that ends, killed or not, takes nothing from the others', async () => {
    const a = SharedTensor.create(fresh(), [2])
    for (const how of ['SIGKILL', 'SIGTERM', 'end']) {
      const other = node()
      await other.run(`things.s = SharedTensor.open('${a.name}'); things.s.tensor.set(3, 1)`)
      await (how === 'end' ? other.end() : other.kill(how))
      a.tensor.set(4, 0)
      assert.deepEqual(SharedTensor.open(a.name).tensor.toArray(), [4, 3])
    }
  })

  it('what the system left that ended before its processes, sweep takes away; not what somebody has', async function () {
    skipWithout(this, 'segments that outlive the system')
    const lost = ['sealed-1', 'draft-of-1'].map((rest) => pathOf(`.samebytes-${rest}`))
    for (const file of lost) fs.writeFileSync(file, 'bytes')
    const other = node()
    const descriptor = await other.run(
      `return (things.s = SharedTensor.create(null, [2], 'int32')).descriptor`,
    )
    const mine = SharedTensor.create(null, [2], 'int32')
    SharedTensor.sweep()
    assert.deepEqual(lost.filter(fs.existsSync), [])
    assert.ok(fs.existsSync(descriptor.path) && fs.existsSync(mine.path))
    assert.deepEqual(SharedTensor.open(descriptor).tensor.toArray(), [0, 0])
    await other.end()
    mine.dispose()
    assert.ok(!fs.existsSync(mine.path))
  })

  it('a sealed segment cannot be made shorter by a peer', async function () {
    skipWithout(this, 'sealed memory')
    const a = SharedTensor.create(null, [1000])
    const other = node({ stdio: [a.fd] })
    const [code, ...longer] = can('mapped files that change')
      ? ['EPERM', 'fs.ftruncateSync(3, 2 ** 20)']
      : ['UNKNOWN'] // Windows lets files grow
    for (const change of [
      `fs.truncateSync(${JSON.stringify(a.path)}, 0)`,
      'fs.ftruncateSync(3, 10)',
      ...longer,
    ]) {
      assert.equal((await other.ask(`const fs = require('node:fs'); ${change}`)).error.code, code)
    }
    a.tensor.fill(1)
    assert.equal(await other.run('return SharedTensor.open({ fd: 3 }).tensor.get(999)'), 1)
  })

  it('a named one that a peer makes shorter is ERR_IO; without a guard it ends who uses what was cut off', async function () {
    skipWithout(this, 'mapped files that change')
    const use = `
      const cut = async () => require('node:child_process').execFileSync('truncate', ['-s', '4096', things.s.path])
      const code = fn => { try { fn(); return 'fine' } catch (error) { return error.code } }
    `
    for (const [make, guard] of [
      ['create', ''],
      ['open', ''],
      ['create', '{ guard: true }'],
      ['open', '{ guard: true }'],
    ]) {
      const name = fresh()
      if (make === 'open') SharedTensor.create(name, [2 ** 16])
      const other = node()
      assert.deepEqual(
        await other.run(`${use}
        things.s = SharedTensor.${make}('${name}', ${make === 'open' ? '' : '[2 ** 16], '}${guard})
        const t = things.s.tensor
        t.set(1, 0)
        await cut()
        return [code(() => t.get(0)), code(() => t.get(2 ** 16 - 1)), code(() => t.fill(1)), code(() => things.s.tensor.get(0))]
      `),
        ['fine', 'ERR_IO', 'ERR_IO', 'ERR_IO'],
      )
      assert.deepEqual(await other.end(), { code: 0, signal: null })
    }
    const careless = node()
    const asked = careless
      .ask(
        `${use} things.s = SharedTensor.create('${fresh()}', [2 ** 16], { guard: false }); await cut(); things.s.tensor.get(2 ** 16 - 1)`,
      )
      .catch(() => 'it ended')
    assert.equal(await asked, 'it ended')
    const { code, signal } = await careless.ended
    assert.ok(signal === 'SIGBUS' || code > 0, 'a sanitizer says so by its exit code')
  })

  it('a name that is removed while it is open: everybody keeps the bytes, nobody finds them', async () => {
    const a = SharedTensor.create(fresh(), [2])
    const other = node()
    await other.run(
      `things.s = SharedTensor.open('${a.name}'); SharedTensor.unlink('${a.name}'); things.s.tensor.fill(6)`,
    )
    assert.deepEqual(a.tensor.toArray(), [6, 6])
    refuses(() => SharedTensor.open(a.descriptor), 'ERR_NOT_FOUND')
    assert.deepEqual(SharedTensor.open({ fd: a.fd }).tensor.toArray(), [6, 6])
    refuses(() => SharedTensor.unlink(a.name), 'ERR_NOT_FOUND')
    const b = SharedTensor.create(a.name, [1])
    refuses(() => SharedTensor.open(a.descriptor), 'ERR_STALE')
    removeName(b.name)
    b.dispose()
    assert.deepEqual(here(), [])
  })

  it('without permission it is ERR_IO, with errno and path, and nothing is taken away', async function () {
    if (!isRoot) skip(this, 'only root can become somebody else')
    const a = SharedTensor.create(fresh(), [2])
    const readable = SharedTensor.create(fresh(), [2], { mode: 0o644 })
    const sealed = SharedTensor.create(unnamed(), [2])
    readable.tensor.fill(3)
    const other = node()
    const attempt = (source) =>
      other
        .ask(source)
        .then(({ error, result }) =>
          error === undefined ? result : [error.code, error.errno, error.path],
        )
    const own = fresh()
    // What is loaded late is loaded before: files may be out of reach afterwards.
    await other.run(
      `SharedTensor.create(${JSON.stringify(unnamed())}, [1]).tensor; SharedTensor.list(); process.setgroups([]); process.setgid(65534); process.setuid(65534); things.s = SharedTensor.create('${own}', [1])`,
    )
    assert.deepEqual(await attempt(`SharedTensor.open('${a.name}')`), [
      'ERR_IO',
      -errno.EACCES,
      a.path,
    ])
    assert.deepEqual(await attempt(`SharedTensor.open('${a.name}', { mode: 'r' })`), [
      'ERR_IO',
      -errno.EACCES,
      a.path,
    ])
    assert.deepEqual(await attempt(`SharedTensor.open('${readable.name}')`), [
      'ERR_IO',
      -errno.EACCES,
      readable.path,
    ])
    assert.deepEqual(
      await attempt(`return SharedTensor.open('${readable.name}', { mode: 'r' }).tensor.toArray()`),
      [3, 3],
    )
    assert.equal((await attempt(`SharedTensor.open('${sealed.path}')`))[0], 'ERR_IO')
    assert.deepEqual(await attempt(`SharedTensor.unlink('${a.name}')`), [
      'ERR_IO',
      -errno.EPERM,
      a.path,
    ])
    for (const ifExists of ['replace', 'open', 'error']) {
      const [code] = await attempt(
        `SharedTensor.create('${a.name}', [2], { ifExists: '${ifExists}' })`,
      )
      assert.equal(code, ifExists === 'error' ? 'ERR_EXISTS' : 'ERR_IO')
    }
    assert.deepEqual(
      await attempt(
        `return SharedTensor.list().filter(({ name }) => ['${a.name}', '${own}'].includes(name)).length`,
      ),
      2,
    )
    await other.kill()
    assert.equal(SharedTensor.sweep().includes(own), false, 'what others left is theirs')
    fs.writeFileSync(a.path + '-x', '') // others' marks say nothing of our files
    assert.deepEqual(a.tensor.toArray(), [0, 0])
    fs.unlinkSync(a.path + '-x')
    SharedTensor.unlink(own)
  })

  it("a mark of somebody else's for our name does not make us remove it", async function () {
    if (!isRoot) skip(this, 'only root can become somebody else')
    const a = SharedTensor.create(fresh(), [2])
    const inode = fs.statSync(a.path).ino
    const mark = `${FOLDER}/.samebytes-${inode}`
    const text = fs.readlinkSync(mark).replace(/^\d+:\d+/, '4194303:1')
    fs.unlinkSync(mark)
    const other = node()
    await other.run(
      `process.setgroups([]); process.setgid(65534); process.setuid(65534); require('node:fs').symlinkSync('${text}', '${mark}')`,
    )
    assert.equal(
      SharedTensor.list().some(({ name }) => name === a.name),
      false,
    )
    assert.equal(SharedTensor.sweep().includes(a.name), false)
    assert.ok(fs.existsSync(a.path))
  })

  it('what a process leaves that is killed between the steps of making a name, sweep takes away', async function () {
    skipWithout(this, 'mapped files that change')
    await undisturbed(async () => {
      const [name, draft] = [fresh(), fresh()]
      const other = node()
      await other.run(`SharedTensor.create('${name}', [1]); SharedTensor.create('${draft}', [1])`)
      const inode = fs.statSync(`${FOLDER}/${draft}`).ino
      const whole = `${FOLDER}/.samebytes-draft-${inode}`
      fs.unlinkSync(`${FOLDER}/${name}`) // as if it had said who it is, and no more
      fs.renameSync(`${FOLDER}/${draft}`, whole) // as if it were about to replace a name
      try {
        SharedTensor.sweep()
        assert.ok(fs.existsSync(whole), 'it is alive')
        assert.equal(here().length, 2, 'it may be in the middle of it')
        await other.kill()
        assert.deepEqual(
          SharedTensor.sweep().filter((swept) => [name, draft].includes(swept)),
          [],
        )
        assert.deepEqual([here(), fs.existsSync(whole)], [[], false])
      } finally {
        fs.rmSync(whole, { force: true })
      }
    })
  })

  it(`who is killed at a random moment of making, opening and removing names leaves nothing that sweep does not take: ${KILLS} times`, async () => {
    const { next } = generator(5)
    const names = [fresh(), fresh()]
    const all = names.map((name) => `'${name}'`)
    const busy = `
      const names = [${all}]
      for (let i = 0; ; i++) {
        const s = SharedTensor.create(names[i % 2], [64], { ifExists: ['open', 'replace'][i % 3 % 2] })
        s.tensor.fill(i)
        if (i % 4 === 3) try { SharedTensor.unlink(names[i % 2]) } catch (error) { if (error.code !== 'ERR_NOT_FOUND') throw error }
        s.tensor.dispose()
        s.dispose()
      }`
    for (let kill = 0; kill < KILLS; kill++) {
      const others = [node(), node()]
      await Promise.all(others.map((other) => other.run('return 1')))
      const ends = others.map((other) => other.run(busy).catch((error) => error))
      await new Promise((resolve) => setTimeout(resolve, next(30)))
      await Promise.all(others.map((other) => other.kill()))
      for (const { message } of await Promise.all(ends)) {
        assert.match(message, /the process ended/)
      }
      SharedTensor.sweep()
      assert.deepEqual(here(), [], `kill ${kill}`)
    }
  })

  it("a name that is another file's by now is not taken from it", () =>
    undisturbed(async () => {
      const name = fresh()
      const other = node()
      await other.run(`SharedTensor.create('${name}', [1])`)
      await other.kill()
      fs.writeFileSync(pathOf(`${name}-new`), 'mine') // at once, so that it has an inode of its own
      fs.renameSync(pathOf(`${name}-new`), pathOf(name))
      assert.equal(
        SharedTensor.list().some((entry) => entry.name === name),
        false,
      )
      assert.equal(SharedTensor.sweep().includes(name), false)
      assert.equal(fs.readFileSync(`${FOLDER}/${name}`, 'utf8'), 'mine')
      assert.deepEqual(
        here().filter((entry) => recordOf(entry).endsWith(`:${name}`)),
        [],
        'what said who made it has gone',
      )
    }))

  it('who opens again and again and disposes nothing runs out of nothing', async function () {
    skipWithout(this, 'limits of a shell')
    const { name } = SharedTensor.create(fresh(), [4])
    assert.equal(
      limited(
        '-n 1024',
        `
      const { SharedTensor } = require('samebytes')
      let sum = 0
      for (let i = 0; i < 5000; i++) sum += SharedTensor.open('${name}').tensor.size
      console.log(sum)
    `,
      ),
      20000,
    )
  })

  it('who creates again and again, holds nothing and never waits runs out of nothing', function () {
    skipWithout(this, 'limits of a shell')
    skipWithout(this, 'sealed memory')
    const { made, mapped } = limited(
      '-n 128',
      `
      const { SharedTensor, memory } = require('samebytes')
      let made = 0, mapped = 0
      for (let i = 0; i < 3000; i++) {
        made += SharedTensor.create(null, [179200]).tensor.size / 179200
        mapped = Math.max(mapped, memory().bytes.mapped)
      }
      console.log(JSON.stringify({ made, mapped }))
    `,
    )
    assert.equal(made, 3000)
    assert.ok(mapped < 128 * 716928, `${mapped} bytes were mapped`)
  })

  it('without a limit on files the collector hears of what nobody holds', function () {
    skipWithout(this, 'limits of a shell')
    skipWithout(this, 'sealed memory')
    const mapped = limited(
      '-n 4096',
      `
      const { SharedTensor, memory } = require('samebytes')
      const turn = () => new Promise(resolve => setImmediate(resolve))
      ;(async () => {
        let mapped = 0
        for (let i = 0; i < 1000; i++) {
          SharedTensor.create(null, [179200])
          mapped = Math.max(mapped, memory().bytes.mapped)
          await turn()
        }
        console.log(mapped)
      })()
    `,
    )
    assert.ok(mapped < 500 * 716928, `${mapped} bytes were mapped`)
  })

  it('without descriptors files, saves and parts of the package are ERR_IO, and go on when there are some', function () {
    skipWithout(this, 'limits of a shell')
    skipWithout(this, 'sealed memory')
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-files-'))
    const said = limited(
      '-n 64',
      `
      const fs = require('node:fs')
      const { SharedTensor, openNpy, parseNpy, parseSafetensors, toNpyBytes, toSafetensorsBytes, saveNpySync, zeros } = require('samebytes')
      const file = ${JSON.stringify(path.join(folder, 'x.npy'))}
      const uses = {
        bytes: () => parseNpy(toNpyBytes(zeros([3]))).size,
        save: () => { saveNpySync(file, zeros([3])); return 3 },
        open: () => openNpy(file).size,
        create: () => { const shared = SharedTensor.create(null, [3]); shared.dispose(); return 3 },
        others: () => parseSafetensors(toSafetensorsBytes({ x: zeros([3]) })).get('x').size
      }
      const saying = fn => { try { return fn() } catch ({ code, errno, message }) { return [code, errno, message.includes('open files')] } }
      const fill = () => { const held = []; try { for (;;) held.push(fs.openSync('/dev/null')) } catch { return held } }
      const without = fill()
      const refused = saying(uses.bytes)
      for (const fd of without) fs.closeSync(fd)
      const before = saying(uses.bytes)
      saying(uses.create)
      saying(uses.save)
      const full = fill()
      const all = ['save', 'open', 'create'].map(name => saying(uses[name]))
      for (const fd of full) fs.closeSync(fd)
      // what nobody holds gives its descriptors back to whoever needs some
      const waste = () => { const kept = []; try { for (;;) kept.push(SharedTensor.create(null, [3])) } catch {} }
      const seen = []
      for (const name of ['others', 'save', 'open', 'create']) {
        waste()
        seen.push(saying(uses[name]))
      }
      console.log(JSON.stringify({ refused, before, all, seen }))
    `,
    )
    fs.rmSync(folder, { recursive: true })
    const error = ['ERR_IO', -errno.EMFILE, true]
    assert.deepEqual(said, {
      refused: error,
      before: 3,
      all: [error, error, error],
      seen: [3, 3, 3, 3],
    })
  })

  it('a sealed segment of large pages, which the system may not have, is read or ERR_IO', async function () {
    skipWithout(this, 'Python')
    skipWithout(this, 'sealed memory')
    const peer = spawn(PYTHON, ['-c', HUGE], { stdio: ['pipe', 'pipe', 'inherit'] })
    try {
      const [line] = await once(peer.stdout, 'data')
      const place = String(line).trim()
      if (place === 'none') skip(this, 'this system has no large pages')
      const said = await childJson(`
        const { SharedTensor, memory } = require('samebytes')
        const maps = () => require('node:fs').readFileSync('/proc/self/maps', 'utf8').match(/memfd:huge/g)?.length ?? 0
        const said = []
        for (const mode of ['r', 'c', 'r+']) {
          try {
            const shared = SharedTensor.open(${JSON.stringify(place)}, { format: 'raw', dtype: 'float32', shape: [600000], mode })
            const { tensor, isSealed } = shared
            let value
            try { value = tensor.get(599999) } catch ({ code }) { value = code }
            tensor.dispose()
            shared.dispose()
            said.push([value, isSealed, maps(), memory().bytes.mapped])
          } catch ({ code }) { said.push([code]) }
        }
        process.stdout.write(JSON.stringify(said))`)
      for (const [value, ...rest] of said) {
        assert.ok(value === 0 || value === 'ERR_IO', String(value))
        if (rest.length > 0) assert.deepEqual(rest, [false, 0, 0])
      }
      assert.equal(said[0].length, 4, 'a private mapping reserves no pages')
    } finally {
      peer.kill()
    }
  })

  it('without space it is an error at creation, and nothing is left', async function () {
    skipWithout(this, 'limits of a shell')
    const source = `
      const { SharedTensor } = require('samebytes')
      const fs = require('node:fs')
      const text = name => { try { return fs.readlinkSync('/dev/shm/' + name) } catch { return name } }
      const codes = []
      for (const name of ['sb-test-full-' + process.pid, ...${abilities.sealedMemory} ? [null] : []]) {
        for (const format of ['npy', 'raw']) {
          try {
            const s = SharedTensor.create(name, [2 ** 20], { format })
            s.tensor.fill(1)
            codes.push('made')
          } catch (error) { codes.push([error.code, error.errno, error.path.replace(/-\\d+$/, '')].join(' ')) }
        }
      }
      const small = SharedTensor.create('sb-test-small-' + process.pid, [16])
      small.tensor.fill(1)
      SharedTensor.unlink(small.name)
      console.log(JSON.stringify({ codes, left: fs.readdirSync('/dev/shm').filter(name => text(name).endsWith('-' + process.pid)).length }))
    `
    const full = await inSmallFolder('/dev/shm', source)
    if (full !== null) {
      const none = `ERR_MEMORY -${errno.ENOSPC} /dev/shm/sb-test-full`
      assert.deepEqual(full, {
        codes: [none, none, ...(abilities.sealedMemory ? ['made', 'made'] : [])],
        left: 0,
      })
    }
    const beyond = (where) => `ERR_IO -${errno.EFBIG} ${where}`
    assert.deepEqual(limited('-f 1024', source), {
      codes: [
        '/dev/shm/sb-test-full',
        '/dev/shm/sb-test-full',
        ...(abilities.sealedMemory ? ['/dev/shm', '/dev/shm'] : []),
      ].map(beyond),
      left: 0,
    })
    if (full === null) skip(this, 'this user may mount no folder of its own')
  })
})

/** Others of this user may sweep as well, such as these tests in another process: then it is tried again. */
async function undisturbed(fn) {
  for (let left = 5; ; left--) {
    try {
      return await fn()
    } catch (error) {
      if (left === 1) throw error
      await endAll()
      clean()
    }
  }
}

/** Says where it has 4 MiB, sealed, of a kind of memory that only some systems have. */
const HUGE = `
import fcntl, os, sys
try:
    fd = os.memfd_create('huge', os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING | 4)
    os.ftruncate(fd, 4 << 20)
    fcntl.fcntl(fd, 1033, 1 | 2 | 4)  # F_ADD_SEALS: SEAL, SHRINK, GROW
    print('/proc/%d/fd/%d' % (os.getpid(), fd), flush=True)
except OSError:
    print('none', flush=True)
sys.stdin.read()
`

/** What a program says that may use no more than that of something. */
const limited = (limit, source) =>
  JSON.parse(
    execFileSync('bash', ['-c', `ulimit ${limit}; exec "$0" -e "$1"`, process.execPath, source], {
      cwd: ROOT,
      encoding: 'utf8',
    }),
  )
