'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { connect } = require('@nats-io/transport-node')
const { arange, empty, full, memory, tensor, toSafetensorsBytes, zeros } = require('samebytes')
const { add, sum } = require('samebytes/math')
const { TensorBus, tensors } = require('samebytes/nats')
const host = require('../../js/nats/host')
const { newSealed, page } = require('../../js/nats/host-tokens')
const { parseBlock } = require('../../js/nats/headers')
const { needs } = require('../setup')
const { startPeer } = require('./host-parent')
const { startServer } = require('./server')

const LARGE = 2 ** 18 // elements of float32: 1 MiB
const LIMITS = { maxBytes: 2 ** 26 }

const coreOf = (bus) => TensorBus.coreOf(bus)
const sentBytes = (way) => memory().sent[way]?.bytes ?? 0
const copied = () => memory().copied.host?.bytes ?? 0
const turns = async (n = 20) => {
  for (let i = 0; i < n; i++) await new Promise((resolve) => setImmediate(resolve))
}
const bytesOf = (t) =>
  (({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength))(
    t.contiguous().data,
  )
const fieldsOf = (offer, reply = 'r') => parseBlock(offer.headersFor(reply).encode())
const finish = (offer) => {
  offer.release()
  offer.end()
}
/** Mapped segments of at least so many bytes. */
const mapped = (nbytes) =>
  fs
    .readFileSync('/proc/self/maps', 'latin1')
    .split('\n')
    .filter((line) => line.includes('memfd:samebytes'))
    .map((line) =>
      line
        .split(' ')[0]
        .split('-')
        .map((text) => parseInt(text, 16)),
    )
    .filter(([from, to]) => to - from >= nbytes).length
const disposeAll = (record) => {
  for (const t of Object.values(record)) t.dispose()
}

/** Layouts and dtypes of every kind, also tensors without elements. */
function someRecord() {
  const x = arange(0, LARGE, { dtype: 'float32' })
  return {
    plain: x,
    odd: full([7], 3, 'uint8'),
    moved: x.reshape([2, 4, -1]).transpose(0, 2),
    whole: x.narrow(0, 5, 1001).to('int64', { casting: 'unsafe' }),
    half: x.narrow(0, 0, 33).to('float16'),
    pair: full([3], [1, 2], 'complex64'),
    none: zeros([0, 3]),
    one: tensor(4),
    'a b\n"é': x.narrow(0, 9, 100),
  }
}

function assertSame(a, b) {
  assert.deepEqual(Object.keys(a).sort(), Object.keys(b).sort())
  for (const [name, t] of Object.entries(a)) {
    assert.deepEqual([b[name].dtype, b[name].shape], [t.dtype, t.shape], name)
    assert.ok(bytesOf(b[name]).equals(bytesOf(t)), name)
  }
}

describe('NATS: records on one host', () => {
  needs('nats-server')
  needs('paths of descriptors')
  let server
  let bus
  let remote // another connection, for services of this process
  const connections = []
  const peers = []

  const newBus = async (options) => {
    const connection = await connect({ servers: server.url })
    connections.push(connection)
    return tensors(connection, { maxBytes: 2 ** 28, ...options })
  }

  before(async () => {
    server = await startServer()
    bus = await newBus()
    remote = await newBus()
  })
  after(async () => {
    await Promise.all(peers.map((peer) => peer.kill()))
    for (const connection of connections) await connection.close()
    await server?.stop()
  })

  it('are the same as by bytes, with one copy each way, to another process', async () => {
    const peer = startPeer()
    peers.push(peer)
    await peer.ask('connect', server.url)
    await peer.ask('serve', ['echo', 'same'])
    const record = someRecord()
    const nbytes = toSafetensorsBytes(record).length
    assertSame(record, await bus.request('echo', record)) // teaches how large replies are
    const before = {
      copied: copied(),
      host: sentBytes('host'),
      message: sentBytes('message'),
      theirs: await peer.ask('copied'),
    }
    assertSame(record, await bus.request('echo', record))
    assert.equal(copied() - before.copied, nbytes)
    assert.equal(sentBytes('host') - before.host, nbytes)
    assert.equal(sentBytes('message'), before.message)
    assert.equal((await peer.ask('copied')).bytes - before.theirs.bytes, nbytes)
    await peer.kill()
  })

  it("are read-only views of the caller's memory", async () => {
    const record = { a: full([LARGE], 1), b: full([LARGE], 2) }
    const offer = host.offer(coreOf(bus), 'views', record)
    const seen = host.accept(fieldsOf(offer), LIMITS)
    assert.deepEqual([seen.a.isReadOnly, seen.a.get(5), seen.b.get(5)], [true, 1, 2])
    const before = copied()
    record.a.set(9, 5) // the copy is made
    assert.equal(seen.a.get(5), 1)
    assert.equal(copied(), before)
    disposeAll(seen)
    finish(offer)
  })

  it('are written into out, which is untouched where it does not fit', async () => {
    const service = await remote.serve(({ x }) => ({ y: add(x, 1), z: sum(x) }), 'out')
    const x = full([LARGE], 1)
    const out = { y: zeros([LARGE]), z: zeros([]) }
    for (let i = 0; i < 3; i++) assert.equal(await bus.request('out', { x }, { out }), out)
    assert.deepEqual([out.y.get(9), out.z.item()], [2, LARGE])
    const before = sentBytes('message')
    await bus.request('out', { x }, { out })
    assert.equal(sentBytes('message'), before, 'the reply came as bytes')
    const wrong = { y: zeros([LARGE]), z: zeros([1]) }
    await assert.rejects(bus.request('out', { x }, { out: wrong }), { code: 'ERR_SHAPE' })
    await assert.rejects(bus.request('out', { x }, { out: { y: wrong.y, other: wrong.z } }), {
      code: 'ERR_NOT_FOUND',
    })
    await assert.rejects(bus.request('out', { x }, { out: wrong.y }), { code: 'ERR_FORMAT' })
    assert.equal(sum(wrong.y).item(), 0)
    x.set(8, 0) // nothing is busy
    wrong.y.set(8, 0)
    await service.drain()
  })

  it('go where a tensor comes back, and come back where a tensor went', async () => {
    const one = await remote.serve(({ x }) => add(x, 1), 'to-one')
    const many = await remote.serve((x) => ({ x, y: add(x, 1) }), 'to-many')
    const x = full([LARGE], 1)
    for (let i = 0; i < 2; i++) {
      assert.equal((await bus.request('to-one', { x })).get(3), 2)
      const { x: same, y } = await bus.request('to-many', x)
      assert.deepEqual([same.get(3), y.get(3)], [1, 2])
    }
    await one.drain()
    await many.drain()
  })

  it('are larger than the server takes, and so are replies', async () => {
    const service = await remote.serve(({ x }) => ({ y: add(x, 1) }), 'large')
    const grows = await remote.serve(() => ({ a: full([LARGE * 4], 7), b: full([3], 8) }), 'grows')
    const x = full([LARGE * 4], 2)
    assert.equal((await bus.request('large', { x })).y.get(5), 3)
    const { a, b } = await bus.request('grows', { x: full([LARGE / 2], 0) })
    assert.deepEqual([a.get(LARGE), b.get(2)], [7, 8])
    await service.drain()
    await grows.drain()
    await assert.rejects(bus.request('large', { x }), { code: 'ERR_TOO_LARGE' })
  })

  it('are sent as bytes where no service of the host listens, as they were when they were sent', async () => {
    const { away } = host.stateOf(coreOf(bus))
    const lengths = []
    const record = { x: full([LARGE / 8], 5), y: full([2], 6) }
    const subscription = connections[1].subscribe('bytes', {
      callback: (_, message) => {
        lengths.push(message.data.length)
        message.respond(message.data, { headers: message.headers })
      },
    })
    await connections[1].flush()
    const asked = bus.request('bytes', record)
    record.x.set(1, 0)
    const got = await asked
    assert.deepEqual([got.x.get(0), got.y.get(1)], [5, 6])
    assert.deepEqual(lengths, [toSafetensorsBytes(record).length])
    assert.ok(away.has('bytes'))
    subscription.unsubscribe()
  })

  it("are batched straight from the callers' memory", async () => {
    const seen = []
    const service = await remote.serve(
      ({ x, k }) => {
        seen.push([x.shape[0], k.shape[0], x.isReadOnly])
        return { y: add(x, k) }
      },
      'batched',
      { batch: { max: 4, wait: 30_000 } },
    )
    const before = sentBytes('message')
    const all = [1, 2, 3, 4].map((n) =>
      bus.request('batched', { x: full([1, LARGE / 4], n), k: full([1, 1], 10) }),
    )
    const [first] = await Promise.all(all)
    assert.deepEqual(
      (await Promise.all(all)).map(({ y }) => [y.get(0, 9), ...y.shape]),
      [11, 12, 13, 14].map((n) => [n, 1, LARGE / 4]),
    )
    assert.deepEqual(seen, [[4, 4, false]])
    assert.equal(
      sentBytes('message') - before,
      4 * toSafetensorsBytes(first).length,
      'requests came as bytes: replies alone may, which nobody lent memory for',
    )
    await service.drain()
  })

  it("run alone if their one tensor is called '', as a tensor without a name is no record", async () => {
    const service = await remote.serve((x) => x, 'nameless', { batch: { max: 2, wait: 30_000 } })
    for (const n of [4, LARGE]) {
      // by bytes, by descriptor
      const all = [1, 2].map((value) => bus.request('nameless', { '': full([1, n], value) }))
      assert.deepEqual(
        (await Promise.all(all)).map((record) => [Object.keys(record), record[''].get(0, 3)]),
        [
          [[''], 1],
          [[''], 2],
        ],
      )
    }
    await service.drain()
  })

  it('give the memory of replies back with the last of their tensors', async () => {
    const service = await remote.serve(
      ({ x }) => ({ a: x, b: add(x, 1), none: zeros([0]) }),
      'again',
    )
    const x = full([4 * LARGE], 1)
    disposeAll(
      await bus.request(
        'again',
        { x },
        { out: { a: zeros([4 * LARGE]), b: zeros([4 * LARGE]), none: zeros([0]) } },
      ),
    )
    await turns()
    const size = 8 * x.size // nothing else is as large
    const before = mapped(size)
    const { a, b, none } = await bus.request('again', { x })
    assert.equal(mapped(size), before + 1)
    a.dispose()
    none.dispose()
    await turns()
    assert.equal(mapped(size), before + 1)
    assert.equal(b.get(LARGE - 1), 2)
    const view = b.narrow(0, 1, 2)
    b.dispose()
    await turns()
    assert.equal(mapped(size), before + 1)
    view.dispose()
    await turns()
    assert.equal(mapped(size), before)
    await service.drain()
  })

  it('are refused where they cannot be a record, as those sent by bytes', async () => {
    const service = await remote.serve(
      ({ x }) => ({ x: full([LARGE], [1, 1], 'complex128') }),
      'kinds',
    )
    await assert.rejects(bus.request('kinds', { x: empty([LARGE], { dtype: 'complex128' }) }), {
      code: 'ERR_DTYPE',
    })
    await assert.rejects(bus.request('kinds', { __metadata__: full([LARGE], 1) }), {
      code: 'ERR_ARGUMENT',
    })
    await assert.rejects(
      bus.request('kinds', { x: full([LARGE], 1) }, { out: { x: zeros([LARGE * 2]) } }),
      { code: 'ERR_REMOTE', remoteCode: 'ERR_DTYPE' },
    )
    assert.equal(memory().inFlight, 0)
    await service.drain()
  })

  describe('messages that lie', () => {
    let fields
    let offer
    let segment // what this process lends by real tickets
    const tickets = []

    before(() => {
      offer = host.offer(coreOf(bus), 'lies', { x: full([LARGE], 1) })
      fields = fieldsOf(offer)
      segment = newSealed(2 ** 21)
    })
    after(() => {
      for (const ticket of tickets) ticket.close()
      segment.close()
      finish(offer)
    })

    /** What a service makes of a body that this process lends. */
    const accepted = (body, nbytes = body.length) => {
      fs.writeSync(segment.fd, body, 0, body.length, 0)
      const ticket = page.write(segment, { writes: false, at: 0, nbytes })
      tickets.push(ticket)
      return host.accept(new Map([...fields, ['tensor-host-data', ticket.text]]), LIMITS)
    }
    const withHeader = (text, length = Buffer.byteLength(text), rest = 16) => {
      const body = Buffer.alloc(8 + Buffer.byteLength(text) + rest)
      body.writeBigUInt64LE(BigInt(length), 0)
      body.write(text, 8)
      return body
    }

    it('is what the other tests change: as it is, it is accepted', () => {
      const body = toSafetensorsBytes({ x: full([64], 3) })
      const record = accepted(Buffer.from(body))
      assert.equal(record.x.get(9), 3)
      disposeAll(record)
      disposeAll(host.accept(fields, LIMITS))
    })

    it('of the header', () => {
      const entry = (begin, end, shape = '[4]', name = 'a') =>
        `{"${name}":{"dtype":"F32","shape":${shape},"data_offsets":[${begin},${end}]}}`
      assert.notEqual(accepted(withHeader(entry(0, 16))), null)
      for (const body of [
        Buffer.alloc(7),
        Buffer.alloc(8),
        Buffer.alloc(4096, 255),
        withHeader('{}', 2 ** 20 + 1, 2 ** 16),
        withHeader('{}', 2 ** 40),
        withHeader('{}', 3),
        withHeader(entry(0, 17)),
        withHeader(entry(16, 32)),
        withHeader(entry(0, 16, '[5]')),
        withHeader(entry(0, 16, '[-4]')),
        withHeader(entry(0, 16).slice(1)),
        withHeader(entry(0, 2 ** 30, `[${2 ** 28}]`)),
        withHeader(entry(0, 16).replace('F32', 'F33')),
      ]) {
        assert.equal(accepted(body), null, body.subarray(0, 60).toString('latin1'))
      }
      assert.equal(accepted(withHeader(entry(0, 16)), 2 ** 19), null, 'bytes behind its end')
      disposeAll(accepted(withHeader(entry(0, 16).padEnd(2 ** 20))))
      assert.equal(
        accepted(withHeader(entry(0, 16).padEnd(2 ** 20 + 8))),
        null,
        'a header of more than 1 MiB',
      )
    })

    it('of a shape that no tensor has: those before it are released', async () => {
      const body = withHeader(
        `{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"z":{"dtype":"F32","shape":[0,${2 ** 53}],"data_offsets":[16,16]}}`,
      )
      const { tensors } = memory()
      assert.equal(accepted(body), null)
      assert.ok(memory().tensors <= tensors)
      const own = host.offer(
        coreOf(bus),
        'shape',
        { x: full([LARGE], 1) },
        { out: { x: zeros([LARGE]) } },
      )
      const before = memory().tensors
      assert.throws(() => replied(own, body, body.length), {
        code: 'ERR_FORMAT',
        message: /no tensor has/,
      })
      assert.ok(memory().tensors <= before)
      finish(own)
    })

    it('of a format', () => {
      for (const format of ['npz', '', 'Safetensors', 'x'.repeat(400)]) {
        assert.equal(
          host.accept(new Map([...fields, ['tensor-format', format]]), LIMITS),
          null,
          format,
        )
      }
      assert.equal(host.accept(fields, { maxBytes: 4 * LARGE }), null) // the header is counted
    })

    it('of bytes that are not aligned: those are copied', () => {
      const text =
        '{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F64","shape":[2],"data_offsets":[1,17]}}'
      const body = withHeader(text, undefined, 17)
      body.writeDoubleLE(2.5, body.length - 8)
      const { a, b } = accepted(body)
      assert.deepEqual([a.get(0), b.get(1), b.isReadOnly], [0, 2.5, true])
      disposeAll({ a, b })
    })

    /** Writes a body where a reply may be written, and says so. */
    const replied = (own, body, nbytes, out) => {
      const [, , , fd] = fieldsOf(own, 'made').get('tensor-host-reply').split(' ')
      fs.writeSync(Number(fd), body, 0, body.length, 0)
      return own.result(
        'made',
        new Map([
          ['tensor-format', 'safetensors'],
          ['tensor-host', 'written'],
          ['tensor-host-size', String(nbytes)],
        ]),
        new Uint8Array(0),
        out,
      )
    }

    it('of more bytes than there are for a reply', () => {
      const own = host.offer(
        coreOf(bus),
        'more',
        { x: full([LARGE], 1) },
        { out: { x: zeros([LARGE]) } },
      )
      const body = withHeader(
        `{"a":{"dtype":"U8","shape":[${2 ** 22}],"data_offsets":[0,${2 ** 22}]}}`,
      )
      assert.throws(() => replied(own, body, body.length - 16 + 2 ** 22), {
        code: 'ERR_FORMAT',
        message: /where there are/,
      })
      finish(own)
    })

    it('of replies that are not aligned: those are copied', () => {
      const own = host.offer(
        coreOf(bus),
        'unaligned',
        { x: full([LARGE], 1) },
        { out: { x: zeros([LARGE]) } },
      )
      const body = withHeader(
        '{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F64","shape":[2],"data_offsets":[1,17]}}',
        undefined,
        17,
      )
      body.writeDoubleLE(2.5, body.length - 8)
      const got = replied(own, body, body.length)
      assert.equal(got.b.get(1), 2.5)
      disposeAll(got)
      const out = { a: zeros([1], 'uint8'), b: zeros([2], 'float64') }
      assert.equal(replied(own, body, body.length, out), out)
      assert.equal(out.b.get(1), 2.5)
      finish(own)
    })

    it('in replies fail the request, and leave out as it was', () => {
      const x = full([LARGE], 1)
      const out = { x: zeros([LARGE]) }
      const own = host.offer(coreOf(bus), 'reply', { x }, { out })
      const result = { x: full([LARGE], 9) }
      const told = host.put(fieldsOf(own), result)
      assert.equal(told['Tensor-Host'], 'written')
      const lower = (more) =>
        new Map(
          Object.entries({ ...told, ...more }).map(([name, value]) => [name.toLowerCase(), value]),
        )
      for (const [i, more] of [
        { 'Tensor-Host-Size': '0' },
        { 'Tensor-Host-Size': '-1' },
        { 'Tensor-Host-Size': '' },
        { 'Tensor-Host-Size': '7' },
        { 'Tensor-Host-Size': `${4 * LARGE}` },
        { 'Tensor-Host-Size': '9'.repeat(15) },
        { 'Tensor-Format': 'npz' },
      ].entries()) {
        assert.notEqual(host.put(fieldsOf(own, `r${i}`), result), null)
        assert.throws(
          () => own.result(`r${i}`, lower(more), new Uint8Array(0), out),
          { code: i === 5 ? 'ERR_TOO_LARGE' : 'ERR_FORMAT' },
          JSON.stringify(more),
        )
      }
      assert.equal(sum(out.x).item(), 0)
      assert.equal(own.result('r', lower({}), new Uint8Array(0), out), out)
      assert.equal(out.x.get(0), 9)
      finish(own)
    })
  })
})
