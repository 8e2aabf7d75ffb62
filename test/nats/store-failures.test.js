'use strict'
// What happens to objects when servers, connections, processes and other writers do what they like.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { connect } = require('@nats-io/transport-node')
const { jetstream } = require('@nats-io/jetstream')
const { Objm } = require('@nats-io/obj')
const { memory, zeros, ones, full, arange, openRaw, toNpyBytes, toNpzBytes } = require('samebytes')
const { tensors } = require('samebytes/nats')
const { node, endAll } = require('../other-process')
const { needs } = require('../setup')
const { startServer } = require('./server')

const failsWith = (promise, code, pattern = /./) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.code, code, error.stack)
    assert.match(error.message, pattern)
    return true
  })
const assertSame = (a, b) =>
  assert.ok(Buffer.from(toNpyBytes(a)).equals(Buffer.from(toNpyBytes(b))), 'the same file')
const until = async (isSo) => {
  for (let i = 0; i < 2000 && !isSo(); i++) {
    await new Promise((resolve) => {
      setTimeout(resolve, 5)
    })
  }
}

const turn = () =>
  new Promise((resolve) => {
    setTimeout(resolve, 5)
  })

/** A connection with other methods. */
const over = (connection, methods) =>
  new Proxy(connection, {
    get(target, key) {
      if (Object.hasOwn(methods, key)) return methods[key]
      return typeof target[key] === 'function' ? target[key].bind(target) : target[key]
    },
  })

describe('NATS: the object store, when things go wrong', () => {
  needs('nats-server')
  let server
  let connection
  let folder
  let bus
  let store
  let objects
  let js
  let jsm
  let count = 0

  const file = (name) => path.join(folder, name)
  const subjects = async () =>
    (await jsm.streams.info(`OBJ_${store.name}`, { subjects_filter: '>' })).state.subjects ?? {}
  const chunkSubjects = async () =>
    Object.keys(await subjects()).filter((subject) => subject.includes('.C.'))
  const metaSubject = (name) =>
    `$O.${store.name}.M.${Buffer.from(name).toString('base64').replaceAll('+', '-').replaceAll('/', '_')}`
  const says = (name, more) =>
    js.publish(
      metaSubject(name),
      JSON.stringify({
        name,
        bucket: store.name,
        nuid: 'n',
        size: 8,
        chunks: 1,
        digest: `SHA-256=${'A'.repeat(43)}=`,
        ...more,
      }),
    )
  const meta = async (name) =>
    (await jsm.streams.getMessage(`OBJ_${store.name}`, { last_by_subj: metaSubject(name) })).json()
  /** Kills the server, and starts it again. */
  const restart = async () => {
    server.kill('SIGKILL')
    await server.ended
    await server.restart()
  }

  before(async () => {
    server = await startServer({ jetstream: true })
    connection = await connect({
      servers: server.url,
      reconnectTimeWait: 20,
      maxReconnectAttempts: -1,
    })
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-store-'))
    bus = tensors(connection)
    js = jetstream(connection)
    jsm = await js.jetstreamManager()
  })
  beforeEach(async () => {
    store = await bus.store(`f${++count}`)
    objects = await new Objm(connection).open(store.name)
  })
  afterEach(endAll)
  after(async () => {
    await connection?.close()
    await server?.stop()
    if (folder) fs.rmSync(folder, { recursive: true, force: true })
  })

  it('finds a chunk that was changed, is missing, or is there twice', async () => {
    const t = arange(0, 100000, { dtype: 'float32' })
    for (const change of ['changed', 'missing', 'twice']) {
      await store.put('x.npy', t, { chunk: 65536 })
      const said = await meta('x.npy')
      const subject = `$O.${store.name}.C.${said.nuid}`
      const last = await jsm.streams.getMessage(`OBJ_${store.name}`, { last_by_subj: subject })
      if (change !== 'twice') await jsm.streams.deleteMessage(`OBJ_${store.name}`, last.seq)
      const bytes = Uint8Array.from(last.data)
      if (change === 'changed') bytes[77] ^= 1
      if (change !== 'missing') await js.publish(subject, bytes)
      const out = zeros([100000])
      await failsWith(store.get('x.npy'), 'ERR_CHECKSUM')
      await failsWith(store.get('x.npy', { out }), 'ERR_CHECKSUM')
      await failsWith(store.get('x.npy', { out: { file: file('bad.npy') } }), 'ERR_CHECKSUM')
      await failsWith(
        store.get('x.npy', { out: { file: file('bad.npy') }, resume: file('bad.side') }),
        'ERR_CHECKSUM',
      )
      out.fill(0)
      assert.deepEqual(fs.readdirSync(folder), [])
    }
  })

  it('finds it also in a large object, whose memory it releases', async () => {
    await store.put('x.npy', zeros([2 << 20]))
    const subject = (await chunkSubjects())[0]
    const last = await jsm.streams.getMessage(`OBJ_${store.name}`, { last_by_subj: subject })
    await jsm.streams.deleteMessage(`OBJ_${store.name}`, last.seq)
    await js.publish(
      subject,
      last.data.map((byte) => byte ^ 1),
    )
    const before = memory()
    await failsWith(store.get('x.npy'), 'ERR_CHECKSUM')
    await until(() => memory().bytes.native <= before.bytes.native)
    assert.ok(memory().bytes.native <= before.bytes.native)
  })

  it('believes nothing that the store says of an object', async () => {
    const before = memory().bytes.native
    await says('x.npy', { size: 2 ** 50, chunks: 3 })
    await failsWith(store.get('x.npy'), 'ERR_TOO_LARGE', /maxBytes/)
    await says('x.npy', { size: 1000 })
    await failsWith(store.get('x.npy', { maxBytes: 999 }), 'ERR_TOO_LARGE')
    await failsWith(store.get('x.npy'), 'ERR_CHECKSUM', /0 of its 1000/)
    for (const wrong of [
      { size: -1 },
      { size: 1.5 },
      { size: '8' },
      { chunks: 9 },
      { nuid: '>' },
      { nuid: 'a.b' },
      { nuid: 5 },
      { name: { toString: 1 } },
    ]) {
      await says('x.npy', wrong)
      await failsWith(store.get('x.npy'), 'ERR_FORMAT')
    }
    for (const unknown of [
      { digest: 'MD5=abc' },
      { digest: 7 },
      { options: { link: { bucket: 'other', name: 'y' } } },
    ]) {
      await says('x.npy', unknown)
      await failsWith(store.get('x.npy'), 'ERR_UNSUPPORTED')
    }
    for (const text of ['', '{', 'null', '[]', `"${'x'.repeat(300000)}"`]) {
      await js.publish(metaSubject('x.npy'), text)
      await failsWith(store.get('x.npy'), 'ERR_FORMAT')
    }
    assert.deepEqual(await store.list(), [])
    assert.equal(memory().bytes.native, before)
    await store.put('x.npy', ones([2]))
    assertSame(await store.get('x.npy'), ones([2]))
  })

  it('inflates no more than maxBytes', async () => {
    const { deflateRawSync, crc32 } = require('node:zlib')
    const packed = Buffer.from(toNpzBytes({ a: zeros([100000]) }))
    assert.ok(packed.length > 400000)
    const source = toNpyBytes(zeros([100000]))
    const small = deflateRawSync(source)
    const le = (width, n) => {
      const b = Buffer.alloc(width)
      b.writeUIntLE(n, 0, width)
      return b
    }
    const common = [
      le(2, 0),
      le(2, 8),
      le(2, 0),
      le(2, 33),
      le(4, crc32?.(source) ?? 0),
      le(4, small.length),
      le(4, source.length),
      le(2, 5),
    ]
    const head = Buffer.concat([
      le(4, 0x04034b50),
      le(2, 20),
      ...common,
      le(2, 0),
      Buffer.from('a.npy'),
    ])
    const directory = Buffer.concat([
      le(4, 0x02014b50),
      le(2, 20),
      le(2, 20),
      ...common,
      le(2, 0),
      le(2, 0),
      le(2, 0),
      le(2, 0),
      le(4, 0),
      le(4, 0),
      Buffer.from('a.npy'),
    ])
    const end = Buffer.concat([
      le(4, 0x06054b50),
      le(4, 0),
      le(2, 1),
      le(2, 1),
      le(4, directory.length),
      le(4, head.length + small.length),
      le(2, 0),
    ])
    await objects.putBlob({ name: 'z.npz' }, Buffer.concat([head, small, directory, end]))
    await failsWith(store.get('z.npz', { maxBytes: 10000 }), 'ERR_TOO_LARGE', /inflated/)
    if (crc32 !== undefined) assertSame((await store.get('z.npz')).a, zeros([100000]))
  })

  it('sends again what was lost on its way, and deletes what had come behind it', async () => {
    const lost = [3, 4, 9]
    let sent = 0
    const lossy = over(connection, {
      publish(subject, ...rest) {
        if (!subject.includes('.C.') || !lost.includes(++sent)) connection.publish(subject, ...rest)
      },
    })
    const its = await tensors(lossy).store(store.name)
    const t = arange(0, 1 << 18, { dtype: 'float32' })
    const { chunks } = await its.put('x.npy', t, { chunk: 65536 })
    assert.ok(sent > chunks + 3)
    assert.equal(
      Object.values(await subjects()).reduce((a, b) => a + b),
      chunks + 1,
    )
    assertSame(await store.get('x.npy'), t)
  })

  it('asks again for what was lost on its way to here, and takes nothing twice', async () => {
    const t = arange(0, 1 << 18, { dtype: 'float32' })
    const { chunks } = await store.put('x.npy', t, { chunk: 65536 })
    for (const times of [0, 2]) {
      let came = 0
      const faulty = over(connection, {
        subscribe(subject, { callback, ...rest }) {
          return connection.subscribe(subject, {
            ...rest,
            callback(error, message) {
              const isChunk = message?.reply?.startsWith('$JS.ACK.')
              for (let i = isChunk && [3, 7].includes(++came) ? times : 1; i > 0; i--) {
                callback(error, message)
              }
            },
          })
        },
      })
      let calls = 0
      assertSame(
        await (
          await tensors(faulty).store(store.name)
        ).get('x.npy', {
          onProgress() {
            calls++
          },
        }),
        t,
      )
      assert.equal(calls, chunks)
      if (times === 0) assert.ok(came > chunks)
    }
  })

  it('goes on with a put when the server was killed', async () => {
    const t = arange(0, 2 << 20, { dtype: 'float32' })
    let restarted = null
    await store.put('x.npy', t, {
      chunk: 65536,
      onProgress({ done, total }) {
        if (done > total / 3) restarted ??= restart()
      },
    })
    await restarted
    assert.ok(restarted !== null)
    const info = await store.info('x.npy')
    assert.equal(
      Object.values(await subjects()).reduce((a, b) => a + b),
      info.chunks + 1,
    )
    assert.ok(Buffer.from(await objects.getBlob('x.npy')).equals(Buffer.from(toNpyBytes(t))))
  })

  it('goes on with a get when the server was killed, and asks for no chunk twice', async () => {
    const t = arange(0, 2 << 20, { dtype: 'float32' })
    const { size, chunks } = await store.put('x.npy', t, { chunk: 65536 })
    for (const out of [undefined, zeros([2 << 20]), { file: file('got.npy') }]) {
      let restarted = null
      let calls = 0
      const got = await store.get('x.npy', {
        out,
        onProgress({ done }) {
          calls++
          if (done > size / 3) restarted ??= restart()
        },
      })
      await restarted
      assert.equal(calls, chunks)
      if (got.size === size) {
        assert.ok(fs.readFileSync(file('got.npy')).equals(Buffer.from(toNpyBytes(t))))
      } else assertSame(got, t)
    }
  })

  it("waits for a frozen server, and gives up after the store's timeout", async () => {
    await store.put('x.npy', zeros([1 << 20]))
    let isFrozen = false
    const freezing = over(connection, {
      subscribe(subject, { callback, ...rest }) {
        return connection.subscribe(subject, {
          ...rest,
          callback(error, message) {
            if (!isFrozen) callback(error, message) // what was on its way by then is lost, however much it was
            if (!isFrozen && message?.reply?.startsWith('$JS.ACK.')) {
              server.kill('SIGSTOP')
              isFrozen = true
            }
          },
        })
      },
    })
    const patient = await tensors(freezing).store(store.name, { timeout: 100 })
    try {
      await failsWith(patient.get('x.npy'), 'ERR_DISCONNECTED', /100 ms/)
    } finally {
      server.kill('SIGCONT')
    }
    assertSame(await store.get('x.npy'), zeros([1 << 20]))
  })

  it('ends with ERR_DISCONNECTED when the connection is closed', async () => {
    await store.put('x.npy', zeros([1 << 20]))
    for (const act of ['put', 'get']) {
      const other = await connect({ servers: server.url })
      const its = await tensors(other).store(store.name)
      const t = zeros([1 << 20])
      const close = () => {
        other.close()
      }
      await failsWith(
        act === 'put'
          ? its.put('y.npy', t, { onProgress: close })
          : its.get('x.npy', { out: t, onProgress: close }),
        'ERR_DISCONNECTED',
      )
      t.fill(1) // not busy
      for (const later of [
        its.put('y.npy', t),
        its.get('x.npy'),
        its.list(),
        its.info('x.npy'),
        its.delete('x.npy'),
      ]) {
        await failsWith(later, 'ERR_DISCONNECTED')
      }
    }
  })

  it('stops when its signal aborts, and leaves nothing', async () => {
    const t = zeros([1 << 20])
    await failsWith(
      store.put('x.npy', t, {
        signal: AbortSignal.abort(Object.assign(new Error('no'), { code: 'before' })),
      }),
      'before',
    )
    const { size } = await store.put('there.npy', t)
    const aborted = AbortSignal.abort(Object.assign(new Error('no'), { code: 'before' }))
    for (const early of [
      store.get('there.npy', { signal: aborted }),
      store.list({ signal: aborted }),
    ]) {
      await failsWith(early, 'before')
    }
    const before = memory()
    for (const act of ['put', 'get', 'out', 'file']) {
      const controller = new AbortController()
      const reason = new Error('enough')
      const options = {
        signal: controller.signal,
        onProgress({ done }) {
          if (done > size / 3) controller.abort(reason)
        },
      }
      if (act === 'out') options.out = t
      if (act === 'file') options.out = { file: file('never.npy') }
      await assert.rejects(
        act === 'put' ? store.put('x.npy', t, options) : store.get('there.npy', options),
        (error) => error === reason,
      )
      t.fill(1)
    }
    assert.equal((await chunkSubjects()).length, 1)
    assert.deepEqual(
      fs.readdirSync(folder).filter((name) => name.startsWith('.') || name === 'never.npy'),
      [],
    )
    await until(() => memory().bytes.native <= before.bytes.native)
    assert.ok(memory().bytes.native <= before.bytes.native)
    for (
      let i = 0;
      i < 500 && (await jsm.streams.info(`OBJ_${store.name}`)).state.consumer_count > 0;
      i++
    ) {
      await turn()
    }
    assert.equal((await jsm.streams.info(`OBJ_${store.name}`)).state.consumer_count, 0)
  })

  it('lets one of two writers win whole', async () => {
    for (let i = 0; i < 5; i++) {
      const values = [1, 2, 3].map((x) => full([300000 + x], x + 3 * i))
      await Promise.all(values.map((t) => store.put('x.npy', t, { chunk: 65536 })))
      const got = await store.get('x.npy')
      assertSame(got, values[got.size - 300001])
      assert.equal((await chunkSubjects()).length, 1)
    }
    const results = await Promise.allSettled(
      [1, 2].map((x) => store.put('y.npy', full([300000], x), { ifExists: 'error' })),
    )
    assert.deepEqual(results.map(({ status, reason }) => reason?.code ?? status).sort(), [
      'ERR_EXISTS',
      'fulfilled',
    ])
    assert.equal((await chunkSubjects()).length, 2)
  })

  it('reads the new object where the old one is replaced meanwhile, and ERR_STALE where it is deleted', async () => {
    await store.put('x.npy', ones([2 << 20]), { chunk: 65536 })
    let replaced = null
    const got = await store.get('x.npy', {
      onProgress() {
        replaced ??= store.put('x.npy', full([1 << 20], 2))
      },
    })
    await replaced
    const value = got.get(5)
    assertSame(got, full([value === 1 ? 2 << 20 : 1 << 20], value))
    let deleted = null
    const result = await store
      .get('x.npy', {
        onProgress() {
          deleted ??= store.delete('x.npy')
        },
      })
      .catch((error) => error.code)
    await deleted
    assert.ok(['ERR_STALE', 'ERR_NOT_FOUND'].includes(result) || result.get(5) === 2)
  })

  for (const [when, again, killer] of [
    ['after it noted a chunk', 0, ''],
    [
      'before it noted a chunk that is in its place',
      1,
      `
      const { writeSync } = fs
      fs.writeSync = (fd, text, ...rest) => {
        const at = Number(/^(\\d+) \\d+ *\\n$/.exec(text)?.[1])
        if (at > size / 2) die(at)
        return writeSync(fd, text, ...rest)
      }
    `,
    ],
  ]) {
    it(`lets another process go on where one was killed ${when}: ${again} chunks are read again`, async () => {
      const chunk = 65536
      const t = arange(0, 2 << 20, { dtype: 'float32' })
      const { size } = await store.put('x.npy', t, { chunk })
      const name = `big${again}`
      const target = { out: { file: file(`${name}.npy`) }, resume: file(`${name}.side`) }
      const child = node()
      child
        .ask(
          `
        const fs = require('node:fs')
        const { connect } = require('@nats-io/transport-node')
        const { tensors } = require('samebytes/nats')
        const connection = await connect({ servers: ${JSON.stringify(server.url)} })
        const store = await tensors(connection).store(${JSON.stringify(store.name)})
        const size = ${size}
        const die = at => {
          fs.writeFileSync(${JSON.stringify(file('came'))}, String(at))
          process.kill(process.pid, 'SIGKILL')
        }
        ${killer}
        await store.get('x.npy', { ...${JSON.stringify(target)}, onProgress ({ done }) { if (done > size / 2) die(done) } })
      `,
        )
        .catch(() => {})
      assert.equal((await child.ended).signal, 'SIGKILL')
      assert.equal(fs.existsSync(file(`${name}.npy`)), false)
      const came = Number(fs.readFileSync(file('came'), 'utf8'))
      assert.ok(came > size / 2 && came <= size / 2 + chunk, `${came} of ${size}`)
      const seen = []
      const before = connection.stats().inBytes
      await store.get('x.npy', {
        ...target,
        onProgress({ done }) {
          seen.push(done)
        },
      })
      const received = connection.stats().inBytes - before
      assert.equal(seen[0] - chunk, came - again * chunk)
      assert.ok(
        received < size - came + again * chunk + 8192,
        `${received} bytes were received for the ${size - came} that were missing`,
      )
      assert.ok(fs.readFileSync(file(`${name}.npy`)).equals(Buffer.from(toNpyBytes(t))))
      assert.deepEqual(
        fs.readdirSync(folder).filter((each) => each.startsWith(name)),
        [`${name}.npy`],
      )
    })
  }

  it('resumes after an abort; begins anew where the object or the side file is another', async () => {
    const target = { out: { file: file('r.npy') }, resume: file('r.side') }
    const half = async () => {
      const controller = new AbortController()
      await assert.rejects(
        store.get('x.npy', {
          ...target,
          signal: controller.signal,
          onProgress({ done, total }) {
            if (done > total / 2) controller.abort()
          },
        }),
      )
    }
    const first = async () => {
      const seen = []
      await store.get('x.npy', {
        ...target,
        onProgress({ done }) {
          seen.push(done)
        },
      })
      return seen[0]
    }
    const t = arange(0, 1 << 19, { dtype: 'float32' })
    const { size } = await store.put('x.npy', t, { chunk: 65536 })
    await half()
    assert.ok((await first()) > size / 2)
    for (const spoil of [
      () => fs.writeFileSync(file('r.side'), 'nonsense'),
      () => fs.truncateSync(file('r.npy.part'), 100),
      () => store.put('x.npy', t, { chunk: 65536 }),
      () =>
        fs.writeFileSync(
          file('r.side'),
          fs.readFileSync(file('r.side'), 'latin1').replace(/\d+ +\n$/, 'x\n'),
        ),
    ]) {
      await half()
      await spoil()
      assert.ok((await first()) <= 65536)
      assert.ok(fs.readFileSync(file('r.npy')).equals(Buffer.from(toNpyBytes(t))))
    }
    await half()
    fs.writeSync(fs.openSync(file('r.npy.part'), 'r+'), 'changed', 1000)
    await failsWith(store.get('x.npy', target), 'ERR_CHECKSUM')
    assert.ok((await first()) <= 65536)
  })

  it('is written by one get at a time, of all workers that start at once; the others are ERR_BUSY', async () => {
    const t = arange(0, 1 << 19, { dtype: 'float32' })
    await store.put('x.npy', t, { chunk: 65536 })
    const target = { out: { file: file('one.npy') }, resume: file('one.side') }
    const isRight = () =>
      assert.ok(fs.readFileSync(file('one.npy')).equals(Buffer.from(toNpyBytes(t))))
    const settled = await Promise.allSettled([
      store.get('x.npy', target),
      store.get('x.npy', target),
      store.get('x.npy', target),
    ])
    assert.deepEqual(settled.map(({ status, reason }) => reason?.code ?? status).sort(), [
      'ERR_BUSY',
      'ERR_BUSY',
      'fulfilled',
    ])
    isRight()
    const workers = Array.from({ length: 4 }, () => node())
    await Promise.all(
      workers.map((worker) =>
        worker.run(`
      const { connect } = require('@nats-io/transport-node')
      const { tensors } = require('samebytes/nats')
      things.store = await tensors(await connect({ servers: ${JSON.stringify(server.url)} })).store(${JSON.stringify(store.name)})
    `),
      ),
    )
    for (let round = 0; round < 5; round++) {
      fs.rmSync(file('one.npy'))
      const came = await Promise.all(
        workers.map((worker) =>
          worker.run(
            `return things.store.get('x.npy', ${JSON.stringify(target)}).then(() => 'whole', error => error.code)`,
          ),
        ),
      )
      assert.ok(came.includes('whole'), String(came))
      assert.deepEqual(
        came.filter((each) => each !== 'whole' && each !== 'ERR_BUSY'),
        [],
      )
      isRight()
    }
    assert.deepEqual(
      fs.readdirSync(folder).filter((each) => each.startsWith('one.')),
      ['one.npy'],
    )
    const asked = workers[0].ask(
      `await things.store.get('x.npy', { ...${JSON.stringify(target)}, onProgress ({ done }) { if (done > 1 << 20) process.kill(process.pid, 'SIGKILL') } })`,
    )
    await assert.rejects(asked, /SIGKILL/)
    await store.get('x.npy', target) // its lock is gone with it
    isRight()
    for (const resume of [file('one.npy'), file('one.npy.part')]) {
      await failsWith(
        store.get('x.npy', { ...target, resume }),
        'ERR_ARGUMENT',
        /beside it was expected/,
      )
    }
  })

  it('begins anew in another file: who has the draft mapped keeps all of it', async () => {
    const t = arange(0, 1 << 19, { dtype: 'float32' })
    await store.put('x.npy', t, { chunk: 65536 })
    const target = { out: { file: file('again.npy') }, resume: file('again.side') }
    await assert.rejects(
      store.get('x.npy', {
        ...target,
        onProgress({ done, total }) {
          if (done > total / 2) throw new Error('enough')
        },
      }),
      /enough/,
    )
    const draft = openRaw(file('again.npy.part'), [1 << 19], 'float32')
    const side = fs.openSync(file('again.side'), 'r')
    const before = [draft.get(32 + 16), fs.fstatSync(side).size]
    await store.put('x.npy', zeros([1 << 19]), { chunk: 65536 })
    await store.get('x.npy', target)
    assert.deepEqual([draft.get(32 + 16), fs.fstatSync(side).size], before)
    assert.notEqual(draft.get(32 + 16), 0)
    fs.closeSync(side)
    draft.dispose()
  })

  it('rejects when the draft gets shorter, and is not ended by it', async () => {
    await store.put('x.npy', arange(0, 1 << 20, { dtype: 'float32' }), { chunk: 65536 })
    for (const resume of [undefined, file('short.side')]) {
      let cut = false
      const draft = () =>
        fs
          .readdirSync(folder)
          .find((each) => each === 'short.npy.part' || each.startsWith('.samebytes-'))
      await failsWith(
        store.get('x.npy', {
          out: { file: file('short.npy') },
          resume,
          onProgress({ done, total }) {
            if (done > total / 2 && !cut) fs.truncateSync(file(draft()), 4096)
            cut ||= done > total / 2
          },
        }),
        'ERR_IO',
      )
      assert.equal(fs.existsSync(file('short.npy')), false)
    }
  })

  it('rejects when a tensor is disposed or its file gets shorter meanwhile, and goes on with others', async () => {
    const t = ones([1 << 20])
    const putting = store.put('x.npy', t, {
      onProgress() {
        t.dispose()
      },
    })
    await failsWith(putting, 'ERR_DISPOSED')
    const out = ones([1 << 20])
    await store.put('y.npy', out)
    await store
      .get('y.npy', {
        out,
        onProgress() {
          out.dispose()
        },
      })
      .then(
        () => assert.ok(out.isDisposed),
        (error) => assert.equal(error.code, 'ERR_DISPOSED'),
      )
    assert.equal((await chunkSubjects()).length, 1)
    assertSame(await store.get('y.npy'), ones([1 << 20]))
  })

  it('makes no object of a file that gets shorter meanwhile', async () => {
    fs.writeFileSync(file('short.npy'), toNpyBytes(ones([1 << 20])))
    await failsWith(
      store.put(
        'x.npy',
        { file: file('short.npy') },
        {
          chunk: 65536,
          onProgress() {
            fs.truncateSync(file('short.npy'), 4096)
          },
        },
      ),
      'ERR_IO',
    )
    assert.deepEqual(await subjects(), {})
    fs.rmSync(file('short.npy'))
  })

  it('says that a bucket is full, and leaves no chunks', async () => {
    await jsm.streams.add({
      name: 'OBJ_full',
      subjects: ['$O.full.C.>', '$O.full.M.>'],
      allow_rollup_hdrs: true,
      allow_direct: true,
      discard: 'new',
      max_bytes: 500000,
      storage: 'memory',
    })
    const small = await bus.store('full')
    await failsWith(small.put('x.npy', zeros([1 << 20])), 'ERR_TOO_LARGE')
    assert.equal((await jsm.streams.info('OBJ_full')).state.messages, 0)
    await small.put('x.npy', zeros([1000]))
  })

  it('says that a server has no JetStream', async () => {
    const plain = await startServer()
    const other = await connect({ servers: plain.url })
    try {
      await failsWith(tensors(other).store('w'), 'ERR_NO_RESPONDERS')
    } finally {
      await other.close()
      await plain.stop()
    }
  })
})
