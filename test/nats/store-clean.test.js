'use strict'
// Chunks in the object store that no object has.
const assert = require('node:assert/strict')
const { connect } = require('@nats-io/transport-node')
const { jetstream } = require('@nats-io/jetstream')
const { Objm } = require('@nats-io/obj')
const { arange, full, ones, toNpyBytes, zeros } = require('samebytes')
const { tensors } = require('samebytes/nats')
const { node, endAll } = require('../other-process')
const { needs } = require('../setup')
const { startServer } = require('./server')

const assertSame = (a, b) =>
  assert.ok(Buffer.from(toNpyBytes(a)).equals(Buffer.from(toNpyBytes(b))), 'the same file')

/** A connection that holds one message or request back until a test lets it go. */
function held(connection, isHeld) {
  let release
  const released = new Promise((resolve) => {
    release = resolve
  })
  let reached
  const isReached = new Promise((resolve) => {
    reached = resolve
  })
  const holds = (subject) => {
    const is = isHeld(subject)
    if (is) reached()
    return is
  }
  const methods = {
    publish(subject, ...rest) {
      if (holds(subject)) released.then(() => connection.publish(subject, ...rest))
      else connection.publish(subject, ...rest)
    },
    async request(subject, ...rest) {
      if (holds(subject)) await released
      return connection.request(subject, ...rest)
    },
  }
  const get = (target, key) =>
    methods[key] ?? (typeof target[key] === 'function' ? target[key].bind(target) : target[key])
  return { connection: new Proxy(connection, { get }), isReached, release }
}

describe('NATS: the object store, cleaned', () => {
  needs('nats-server')
  let server
  let connection
  let store
  let objects
  let js
  let jsm
  let count = 0

  before(async () => {
    server = await startServer({ jetstream: true })
    connection = await connect({ servers: server.url })
    js = jetstream(connection)
    jsm = await js.jetstreamManager()
  })
  beforeEach(async () => {
    store = await tensors(connection).store(`c${++count}`, { storage: 'memory' })
    objects = await new Objm(connection).open(store.name)
  })
  afterEach(endAll)
  after(async () => {
    await connection?.close()
    await server?.stop()
  })

  /** How many chunks are stored, by nuid. */
  const chunks = async () => {
    const { subjects = {} } = (
      await jsm.streams.info(`OBJ_${store.name}`, { subjects_filter: `$O.${store.name}.C.>` })
    ).state
    return Object.fromEntries(
      Object.entries(subjects).map(([subject, n]) => [subject.split('.').at(-1), n]),
    )
  }
  const metaSubject = (name) =>
    `$O.${store.name}.M.${Buffer.from(name).toString('base64').replaceAll('+', '-').replaceAll('/', '_')}`
  const nuidOf = async (name) =>
    (await jsm.streams.getMessage(`OBJ_${store.name}`, { last_by_subj: metaSubject(name) })).json()
      .nuid
  /** 15 chunks, and one of the header. */
  const large = (i) => full([(15 * 65536) / 4], i)
  /** A put that rests where it asks or sends what is held, when so many chunks are stored. */
  const resting = async (name, t, isHeld, wanted) => {
    const holder = held(connection, isHeld)
    const its = await tensors(holder.connection).store(store.name)
    let put
    await new Promise((resolve, reject) => {
      let stored = 0
      put = its.put(name, t, {
        chunk: 65536,
        onProgress() {
          if (++stored === wanted) resolve()
        },
      })
      put.catch(reject)
    })
    await holder.isReached
    return { put, release: holder.release }
  }
  const lastChunk = () => {
    let sent = 0
    return (subject) => subject.includes('.C.') && ++sent === 16
  }
  const count16 = () => {
    let sent = 0
    return (subject) => {
      if (subject.includes('.C.')) sent++
      return sent === 16 && subject.startsWith('$JS.API.STREAM.INFO.')
    }
  }

  it('deletes the chunks of a put whose process was killed, and nothing else', async () => {
    await store.put('before.npy', arange(0, 100000), { chunk: 65536 })
    const child = node()
    child
      .ask(
        `
      const { connect } = require('@nats-io/transport-node')
      const { zeros } = require('samebytes')
      const { tensors } = require('samebytes/nats')
      const connection = await connect({ servers: ${JSON.stringify(server.url)} })
      const store = await tensors(connection).store(${JSON.stringify(store.name)})
      await store.put('x.npy', zeros([8 << 20]), { chunk: 65536, onProgress ({ done, total }) { if (done > total / 2) process.kill(process.pid, 'SIGKILL') } })
    `,
      )
      .catch(() => {})
    assert.equal((await child.ended).signal, 'SIGKILL')
    await store.put('after.npy', ones([100000]), { chunk: 65536 })
    await objects.putBlob({ name: 'theirs.npy' }, toNpyBytes(ones([100000])))
    const mine = await Promise.all(['before.npy', 'after.npy', 'theirs.npy'].map(nuidOf))
    const found = await chunks()
    const [orphan, ...others] = Object.keys(found).filter((nuid) => !mine.includes(nuid))
    assert.ok(found[orphan] >= 256, `${found[orphan]} chunks of half an object`)
    assert.deepEqual(others, [])
    assert.equal(await store.clean(), 0, 'its process might still put')
    assert.deepEqual(await chunks(), found)
    assert.equal(await store.clean({ age: 0 }), found[orphan])
    assert.deepEqual(Object.keys(await chunks()).sort(), mine.sort())
    assert.equal(await store.clean({ age: 0 }), 0)
    assertSame(await store.get('before.npy'), arange(0, 100000))
    assertSame(await store.get('after.npy'), ones([100000]))
    assertSame(await store.get('theirs.npy'), ones([100000]))
  })

  it('leaves a put that goes on, and what another writer of the name has finished', async () => {
    await store.put('x.npy', zeros([2]))
    const { put, release } = await resting('x.npy', large(1), lastChunk(), 15)
    await store.put('x.npy', large(2), { chunk: 65536 })
    assert.equal(Object.keys(await chunks()).length, 2)
    assert.equal(await store.clean(), 0)
    assert.equal(await store.clean({ age: 600000 }), 0)
    assertSame(await store.get('x.npy'), large(2))
    release()
    await put
    assertSame(await store.get('x.npy'), large(1))
    assert.deepEqual(Object.keys(await chunks()), [await nuidOf('x.npy')])
  })

  for (const [when, isHeld, stored] of [
    ['its last chunk was sent', lastChunk, 15],
    ['it was an object', count16, 16],
  ]) {
    it(`fails a put whose chunks were deleted because it rested before ${when}; the old object stays`, async () => {
      await store.put('x.npy', large(1), { chunk: 65536 })
      const { put, release } = await resting('x.npy', large(2), isHeld(), stored)
      assert.equal(await store.clean({ age: 0 }), stored)
      release()
      await assert.rejects(put, {
        code: 'ERR_STALE',
        message: new RegExp(`${16 - stored} chunks are in the store where 16 were sent`),
      })
      assertSame(await store.get('x.npy'), large(1))
      assert.deepEqual(Object.keys(await chunks()), [await nuidOf('x.npy')])
    })
  }

  it('counts the chunks of a put again where a server does not know of all yet', async () => {
    let asked = 0
    const late = new Proxy(connection, {
      get(target, key) {
        if (key !== 'request') {
          return typeof target[key] === 'function' ? target[key].bind(target) : target[key]
        }
        return async (subject, payload, ...rest) => {
          const answer = await connection.request(subject, payload, ...rest)
          const isCount =
            subject.startsWith('$JS.API.STREAM.INFO.') &&
            String(Buffer.from(payload ?? '')).includes('.C.')
          if (!isCount || ++asked > 2) return answer
          const text = JSON.stringify({
            ...answer.json(),
            state: { ...answer.json().state, subjects: {} },
          })
          return new Proxy(answer, {
            get: (it, name) =>
              name === 'json'
                ? () => JSON.parse(text)
                : name === 'data'
                  ? Buffer.from(text)
                  : it[name],
          })
        }
      },
    })
    const its = await tensors(late).store(store.name)
    await its.put('x.npy', large(1), { chunk: 65536 })
    assert.equal(asked, 3)
    assertSame(await store.get('x.npy'), large(1))
  })

  it('deletes what a deleted object left, and keeps the chunks of objects that it cannot read', async () => {
    const bucket = store.name
    const says = (name, more) =>
      js.publish(
        metaSubject(name),
        JSON.stringify({ name, bucket, size: 8, chunks: 1, digest: 'MD5=abc', ...more }),
      )
    for (const nuid of ['kept', 'gone']) await js.publish(`$O.${bucket}.C.${nuid}`, Buffer.alloc(8))
    await js.publish(`$O.${bucket}.C.not.ours`, Buffer.alloc(8))
    await says('a.bin', { nuid: 'kept' })
    await says('b.bin', { nuid: 'gone', deleted: true })
    await says('c.bin', { nuid: undefined, options: { link: { bucket, name: 'a.bin' } } })
    assert.equal(await store.clean({ age: 0 }), 1)
    assert.deepEqual(await chunks(), { kept: 1, ours: 1 })
  })

  it('deletes nothing where it does not understand what the store says', async () => {
    await js.publish(`$O.${store.name}.C.lost`, Buffer.alloc(8))
    for (const text of [
      '{',
      'null',
      '[]',
      '"x"',
      '{"name":"x"',
      '{"name":"x","nuid":7}',
      `"${'x'.repeat(300000)}"`,
    ]) {
      await js.publish(metaSubject('x.npy'), text)
      await assert.rejects(store.clean({ age: 0 }), { code: 'ERR_FORMAT' })
      assert.deepEqual(await chunks(), { lost: 1 })
    }
    await jsm.streams.purge(`OBJ_${store.name}`, { filter: metaSubject('x.npy') })
    assert.equal(await store.clean({ age: 0 }), 1)
  })

  it('refuses wrong arguments, and stops when its signal aborts', async () => {
    await js.publish(`$O.${store.name}.C.lost`, Buffer.alloc(8))
    await assert.rejects(store.clean({ age: -1 }), { code: 'ERR_BOUNDS' })
    await assert.rejects(store.clean({ age: '1' }), { code: 'ERR_ARGUMENT' })
    await assert.rejects(store.clean(7), { code: 'ERR_ARGUMENT' })
    await assert.rejects(store.clean({ signal: 7 }), { code: 'ERR_ARGUMENT' })
    const reason = new Error('enough')
    await assert.rejects(
      store.clean({ age: 0, signal: AbortSignal.abort(reason) }),
      (error) => error === reason,
    )
    await assert.rejects(store.clean.call({}), { code: 'ERR_ARGUMENT' })
    assert.deepEqual(await chunks(), { lost: 1 })
  })
})
