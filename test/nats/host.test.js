'use strict'
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { connect } = require('@nats-io/transport-node')
const { SharedTensor, arange, full, memory, openNpy, saveNpySync, zeros } = require('samebytes')
const { add, sum } = require('samebytes/math')
const { TensorBus, tensors } = require('samebytes/nats')
const host = require('../../js/nats/host')
const { TokenPage, TOKENS, newSealed, page } = require('../../js/nats/host-tokens')
const { parseBlock } = require('../../js/nats/headers')
const { needs, skipWithout } = require('../setup')
const { startPeer } = require('./host-parent')
const { startServer } = require('./server')
const { PYTHON } = require('../tools')

const LARGE = 2 ** 18 // elements of float32: 1 MiB
const LIMITS = { maxBytes: 2 ** 26 }

const coreOf = (bus) => TensorBus.coreOf(bus)
const hostCopies = () => ({ count: 0, bytes: 0, ...memory().copied.host })
const fieldsOf = (offer, reply = 'r') => parseBlock(offer.headersFor(reply).encode())
const bytesOf = (t) =>
  (({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength))(
    t.contiguous().data,
  )
const isSame = (a, b) => bytesOf(a).equals(bytesOf(b))
const finish = (offer) => {
  offer.release()
  offer.end()
}
const openFiles = () => fs.readdirSync('/proc/self/fd').length
const segments = () =>
  fs.readdirSync('/proc/self/fd').filter((fd) => linkOf(fd).startsWith('/memfd:')).length
const maps = () =>
  fs
    .readFileSync('/proc/self/maps', 'latin1')
    .split('\n')
    .filter((line) => line.includes('memfd:samebytes')).length
const turns = async (n = 20) => {
  for (let i = 0; i < n; i++) await new Promise((resolve) => setImmediate(resolve))
}

function linkOf(fd) {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return '' // readdir's own
  }
}

/** Waits until something is so; a hang ends with the test. */
async function until(isSo) {
  while (!(await isSo())) await turns(1)
}

describe('NATS: on one host', () => {
  needs('nats-server')
  needs('paths of descriptors')
  let server
  let bus
  let remote // another connection, for services of this process
  let connections = []
  const peers = []

  const newBus = async (options) => {
    const connection = await connect({ servers: server.url })
    connections.push(connection)
    return tensors(connection, { maxBytes: 2 ** 28, ...options })
  }
  const newPeer = async () => {
    const peer = startPeer()
    peers.push(peer)
    await peer.ask('connect', server.url)
    return peer
  }

  before(async () => {
    connections = []
    server = await startServer()
    bus = await newBus()
    remote = await newBus()
    finish(host.offer(coreOf(bus), 'page', full([LARGE], 1))) // from now on there is a page of tickets
  })

  after(async () => {
    await Promise.all(peers.map((peer) => peer.kill()))
    for (const connection of connections) await connection.close()
    await server?.stop()
  })

  /** The same request by bytes. */
  async function byBytes(subject, value, options) {
    const { away } = host.stateOf(coreOf(bus))
    away.set(subject, Infinity)
    try {
      return await bus.request(subject, value, options)
    } finally {
      away.delete(subject)
    }
  }

  describe('requests', () => {
    it('have equal results with and without descriptors, one copy each way', async () => {
      const peer = await newPeer()
      await peer.ask('serve', ['equal', 'add'])
      const x = arange(0, LARGE / 2, { dtype: 'float32' })
      const values = [
        x,
        x.reshape([2, 2, -1]).transpose(0, 2),
        x.to('int32', { casting: 'unsafe' }),
        x.to('float64').reshape([-1, 4]),
      ]
      for (const value of values) {
        const bytes = await byBytes('equal', value)
        await bus.request('equal', value) // teaches how large replies are
        const before = hostCopies()
        const theirs = await peer.ask('copied')
        const shared = await bus.request('equal', value)
        assert.equal(shared.dtype, value.dtype)
        assert.deepEqual(shared.shape, bytes.shape)
        assert.ok(isSame(shared, bytes))
        assert.deepEqual(
          { count: hostCopies().count - before.count, bytes: hostCopies().bytes - before.bytes },
          { count: 1, bytes: value.nbytes },
        )
        assert.equal((await peer.ask('copied')).count - theirs.count, 1)
      }
      await peer.kill()
    })

    it('write into out, also where out is what was sent', async () => {
      const service = await remote.serve((x) => add(x, 1), 'out')
      const x = full([LARGE], 1)
      for (let i = 0; i < 3; i++) assert.equal(await bus.request('out', x, { out: x }), x)
      assert.equal(x.get(LARGE - 1), 4)
      const wrong = zeros([LARGE + 1])
      await assert.rejects(bus.request('out', x, { out: wrong }), { code: 'ERR_SHAPE' })
      await assert.rejects(
        bus.request('out', x, { out: wrong.narrow(0, 0, LARGE).reshape([1, LARGE]) }),
        { code: 'ERR_SHAPE' },
      )
      await assert.rejects(bus.request('out', x, { out: zeros([LARGE], { dtype: 'float64' }) }), {
        code: 'ERR_DTYPE',
      })
      assert.equal(sum(wrong).item(), 0)
      x.set(8, 0) // nothing is busy
      await service.drain()
    })

    it('are larger than the server takes, and so are replies', async () => {
      const service = await remote.serve((x) => add(x, 1), 'large')
      const small = await remote.serve(() => full([LARGE * 4], 7), 'grows')
      const x = full([LARGE * 4], 2)
      assert.equal((await bus.request('large', x)).get(5), 3)
      assert.equal((await bus.request('grows', full([LARGE / 2], 0))).get(LARGE), 7)
      await service.drain()
      await small.drain()
      await assert.rejects(bus.request('large', x), { code: 'ERR_TOO_LARGE' })
    })

    it('are answered whatever a program has put on Object.prototype', async () => {
      const service = await remote.serve((x) => x.clone(), 'polluted')
      const names = ['inbox', 'host', 'steerings', 'seqs', 'link']
      const fresh = await newBus()
      for (const name of names) {
        // eslint-disable-next-line no-extend-native
        Object.defineProperty(Object.prototype, name, {
          value: 'polluted',
          writable: true,
          configurable: true,
        })
      }
      try {
        assert.deepEqual((await fresh.request('polluted', full([3], 7))).toArray(), [7, 7, 7])
      } finally {
        for (const name of names) delete Object.prototype[name]
      }
      await service.drain()
    })

    it('of few bytes are sent as bytes', async () => {
      const service = await remote.serve((x) => x, 'few')
      const before = hostCopies()
      await bus.request('few', full([4], 1))
      const record = await bus.request('few', { a: full([2 ** 13], 1), b: full([4], 2) })
      assert.deepEqual([record.a.get(3), record.b.get(3)], [1, 2])
      assert.deepEqual(hostCopies(), before)
      await service.drain()
    })

    it("are batched straight from the callers' memory", async () => {
      const seen = []
      const service = await remote.serve(
        (x) => {
          seen.push([x.shape[0], x.isReadOnly])
          return add(x, 1)
        },
        'batched',
        { batch: { max: 4, wait: 30_000 } },
      )
      const all = [1, 2, 3, 4].map((n) => bus.request('batched', full([1, LARGE / 4], n)))
      assert.deepEqual(
        (await Promise.all(all)).map((y) => [y.get(0, 9), ...y.shape]),
        [2, 3, 4, 5].map((n) => [n, 1, LARGE / 4]),
      )
      assert.deepEqual(seen, [[4, false]])
      await service.drain()
    })

    it('are read-only tensors, and the pages that a function writes through data are not kept', async () => {
      const seen = []
      const service = await remote.serve((x) => {
        seen.push(x.isReadOnly, x.get(0))
        x.data[0] = 77
        return sum(x)
      }, 'scribble')
      for (const n of [1, 2, 3]) await bus.request('scribble', full([LARGE], n))
      assert.deepEqual(seen, [true, 1, true, 2, true, 3])
      await service.drain()
    })

    it('are not copied where the tensor lies in a sealed segment of this process', async () => {
      const peer = await newPeer()
      await peer.ask('serve', ['mine', 'first'])
      const shared = SharedTensor.create(null, [LARGE])
      shared.tensor.fill(5)
      const before = hostCopies()
      const copied = memory().copied.nats?.bytes ?? 0
      const y = await bus.request('mine', shared.tensor.narrow(0, 10, LARGE / 2))
      assert.equal(y.get(0), 5)
      assert.deepEqual(hostCopies(), before)
      assert.equal(memory().copied.nats.bytes - copied, y.nbytes) // of the reply alone, which is small
      shared.dispose()
      await peer.kill()
    })

    it('are sent as bytes where no service of the host listens, and soon no descriptor is tried', async () => {
      const seen = []
      const raw = connections[1].subscribe('elsewhere', {
        callback: (error, m) => {
          seen.push(error ?? m.data.length)
          m.respond(m.data, { headers: m.headers })
        },
      })
      await connections[1].flush()
      const x = full([LARGE / 8], 3)
      assert.ok(isSame(await bus.request('elsewhere', x), x))
      const before = hostCopies()
      assert.ok(isSame(await bus.request('elsewhere', x), x))
      assert.deepEqual(seen, [x.nbytes, x.nbytes])
      assert.deepEqual(hostCopies(), before)
      raw.unsubscribe()
    })

    it("are sent as bytes where the server allows no messages to the host's subject", async () => {
      const strict = await startServer({
        config:
          'authorization { users = [{ user: u, password: p, permissions: { publish: { deny: ["*.host.>"] } } }] }',
      })
      const connection = await connect({ servers: strict.url, user: 'u', pass: 'p' })
      try {
        const own = tensors(connection)
        await own.serve((x) => add(x, 1), 'allowed')
        assert.equal((await own.request('allowed', full([LARGE / 8], 1))).get(3), 2)
      } finally {
        await connection.close()
        await strict.stop()
      }
    })

    it('go elsewhere where the service of the host is busy', async () => {
      let goOn
      const mayGo = new Promise((resolve) => {
        goOn = resolve
      })
      const service = await remote.serve(
        async (x) => {
          await mayGo
          return sum(x)
        },
        'full',
        { maxQueued: 1 },
      )
      const held = []
      for (const isSo of [
        () => service.stats().batches === 1,
        () => service.stats().queued === 1,
      ]) {
        held.push(bus.request('full', full([LARGE / 8], 0), { deadline: 60_000 }))
        await until(isSo)
      }
      const raw = connections[1].subscribe('full', {
        queue: 'q',
        callback: (_, m) => m.respond(m.data, { headers: m.headers }),
      })
      await connections[1].flush()
      assert.equal(
        (await bus.request('full', full([LARGE / 8], 4), { attempts: 50, deadline: 15_000 })).get(
          1,
        ),
        4,
      )
      goOn()
      await Promise.all(held)
      raw.unsubscribe()
      await service.drain()
    })
  })

  describe('memory', () => {
    it('is the same on both sides, in both directions', async () => {
      const peer = await newPeer()
      const shared = SharedTensor.create(null, [LARGE])
      const offer = host.offer(coreOf(bus), 'same', shared.tensor, { out: zeros([LARGE]) })
      const fields = fieldsOf(offer)
      assert.equal(await peer.ask('borrow', [...fields]), true)
      shared.tensor.data[123] = 42
      assert.equal(await peer.ask('read', 123), 42)
      const told = await peer.ask('put', [[...fields], [LARGE], 6])
      const out = zeros([LARGE])
      offer.result(
        'r',
        new Map(Object.entries(told).map(([name, value]) => [name.toLowerCase(), value])),
        new Uint8Array(0),
        out,
      )
      assert.equal(out.get(LARGE - 1), 6)
      finish(offer)
      shared.dispose()
      await peer.kill()
    })

    it('of replies goes with its tensors, and has no descriptor', async () => {
      const service = await remote.serve((x) => add(x, 1), 'again')
      await bus.request('again', full([LARGE], 0)) // teaches how large replies are
      const [mapped, lent] = [maps(), segments()]
      const replies = []
      for (let i = 0; i < 10; i++) replies.push(await bus.request('again', full([LARGE], i)))
      assert.equal(segments(), lent)
      assert.deepEqual(
        replies.map((y) => y.get(9)),
        Array.from({ length: 10 }, (_, i) => i + 1),
      )
      for (const y of replies) y.dispose()
      await turns()
      assert.ok(maps() <= mapped, `${maps()}, ${mapped} before`)
      await service.drain()
    })

    it('comes back where the bytes are gone, such as those of a file that was cut', async () => {
      const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-nats-')), 'x.npy')
      saveNpySync(file, zeros([2 ** 15]))
      const x = openNpy(file, { guard: true })
      fs.truncateSync(file, 128)
      const [lent, inFlight] = [segments(), memory().inFlight]
      for (let i = 0; i <= TOKENS; i++) {
        await assert.rejects(bus.request('none', x), { code: 'ERR_IO' })
      }
      assert.deepEqual([segments(), memory().inFlight], [lent, inFlight])
      const offer = host.offer(coreOf(bus), 'tickets', zeros([2 ** 15])) // there is one
      assert.notEqual(offer, null)
      finish(offer)
      x.dispose()
      fs.rmSync(path.dirname(file), { recursive: true })
    })

    it('is closed at the end, also where a message that lent it was not answered', () => {
      const x = full([LARGE], 1)
      const lend = (replies) => {
        const lent = segments()
        const offer = host.offer(coreOf(bus), 'lent', x, { out: x })
        for (const [i, headers] of replies.entries()) {
          offer.headersFor(`r${i}`)
          if (headers !== null) offer.heard(`r${i}`, new Map(Object.entries(headers)))
        }
        finish(offer)
        host.stateOf(coreOf(bus)).away.clear()
        return segments() - lent
      }
      for (const replies of [
        [],
        [{ ':status': '503' }],
        [{ 'tensor-host': 'refused' }],
        [{ 'nats-service-error-code': '500' }, { 'nats-service-error-code': '503' }],
        [null],
        [{ 'tensor-error': 'ERR_TIMEOUT' }],
        [null, { 'tensor-host': 'refused' }],
      ]) {
        assert.equal(lend(replies), 0, JSON.stringify(replies))
      }
      x.set(2, 0)
    })

    it('is lent by no more tickets than there are', () => {
      const tickets = new TokenPage()
      const shared = newSealed(2 ** 16)
      const part = { writes: false, at: 0, nbytes: 4 }
      const all = Array.from({ length: TOKENS + 1 }, () => tickets.write(shared, part))
      assert.equal(all.pop(), null)
      all[3].close()
      assert.notEqual(tickets.write(shared, part), null)
      shared.close()
    })

    it('is lent by 128 segments at a time; what is beyond is sent', () => {
      const few = full([2 ** 14], 1)
      const all = Array.from({ length: 130 }, () => host.offer(coreOf(bus), 'many', few))
      assert.equal(all.filter((offer) => offer !== null).length, 128)
      all.slice(0, 1).forEach(finish)
      const another = host.offer(coreOf(bus), 'many', few)
      assert.notEqual(another, null)
      for (const offer of [another, ...all.slice(1, 128)]) finish(offer)
    })

    it('leaks neither descriptors nor mappings', async () => {
      const service = await remote.serve((x) => add(x, 1), 'leaks')
      const round = async () => {
        for (let i = 0; i < 30; i++) {
          const x = full([2 ** 14 + 1024 * i], i)
          const y = await bus.request('leaks', x)
          y.dispose()
          x.dispose()
          await bus
            .request('leaks', full([2 ** 14], 1), {
              out: zeros([2 ** 14]),
              signal: AbortSignal.abort(),
            })
            .catch(() => {})
        }
        await turns()
        gc()
        await turns()
      }
      await round()
      const before = [openFiles(), maps()]
      for (let i = 0; i < 3; i++) await round()
      assert.equal(openFiles(), before[0])
      assert.ok(maps() <= before[1], `${maps()} mappings; there were ${before[1]}`)
      await service.drain()
    })
  })

  describe('processes that die', () => {
    it('after sending: the service goes on, and frees what it held', async () => {
      const before = maps()
      const peer = await newPeer()
      let arrived
      const isThere = new Promise((resolve) => {
        arrived = resolve
      })
      let goOn
      const mayGo = new Promise((resolve) => {
        goOn = resolve
      })
      let read
      const service = await remote.serve(async (x) => {
        arrived()
        await mayGo
        read = sum(x).item()
        return x
      }, 'orphan')
      await peer.ask('request', ['orphan', [LARGE], 2])
      await isThere
      await peer.kill()
      goOn()
      await service.drain()
      assert.equal(read, 2 * LARGE)
      await until(() => maps() <= before)
    })

    it('with a request: another attempt is answered, and the memory is closed', async () => {
      const peer = await newPeer()
      await peer.ask('serve', ['dies', 'die'])
      const lent = segments()
      const asked = bus.request('dies', full([LARGE], 3), { deadline: 20_000, attempts: 20 })
      await peer.ended
      const service = await remote.serve((x) => add(x, 1), 'dies')
      const y = await asked
      assert.equal(y.get(4), 4)
      y.dispose()
      await turns()
      assert.ok(segments() <= lent, `${segments()}, ${lent} before`)
      await service.drain()
    })
  })

  describe('messages that lie', () => {
    let x
    let offer
    let fields
    const others = [] // files that are no segments of ours

    before(() => {
      x = full([LARGE], 1)
      offer = host.offer(coreOf(bus), 'lies', x, { out: x })
      fields = fieldsOf(offer)
    })
    after(() => {
      finish(offer)
      for (const close of others) close()
    })

    /** Fields with parts of their texts replaced. */
    const forged = (changes, from = fields) => {
      const made = new Map(from)
      for (const [name, change] of Object.entries(changes)) {
        made.set(
          name,
          typeof change === 'function' ? change(made.get(name).split(' ')).join(' ') : change,
        )
      }
      return made
    }
    const at = (i, text) => (parts) =>
      parts.with(i, typeof text === 'function' ? text(parts[i]) : String(text))
    const refused = (made) => host.accept(made, LIMITS) === null

    it('is what the other tests change: as it is, it is accepted', () => {
      const before = openFiles()
      const t = host.accept(fields, LIMITS)
      assert.equal(t.get(7), 1)
      assert.equal(openFiles(), before)
      t.dispose()
    })

    const wrongNumbers = [
      '-1',
      '1.5',
      '1e3',
      '0x10',
      '',
      'NaN',
      '99999999999',
      '../../../etc/passwd',
      '1/../../1',
      'self',
      '4294967296',
      '9'.repeat(400),
    ]

    it('of a process', () => {
      for (const text of [...wrongNumbers, '0', process.ppid, 1, 2 ** 31 - 1]) {
        assert.ok(refused(forged({ 'tensor-host': at(0, text) })), String(text))
      }
    })

    it('of a descriptor or an inode', () => {
      for (const text of wrongNumbers) {
        assert.ok(refused(forged({ 'tensor-host': at(1, text) })), text)
        assert.ok(refused(forged({ 'tensor-host-data': at(3, text) })), text)
      }
      const other = (id) => id.replace(/.$/, (digit) => String((Number(digit) + 1) % 10))
      assert.ok(refused(forged({ 'tensor-host': at(2, other) })))
      assert.ok(refused(forged({ 'tensor-host-data': at(4, other) })))
    })

    it('of a ticket, an offset or a size', () => {
      for (const i of [0, 1, 5, 6]) {
        for (const text of [
          ...wrongNumbers,
          '1',
          '64',
          '511',
          '512',
          '4096',
          String(2 ** 40),
          String(2 ** 53),
          '999999999999999',
        ].filter((each) => each !== fields.get('tensor-host-data').split(' ')[i])) {
          assert.ok(refused(forged({ 'tensor-host-data': at(i, text) })), text)
        }
      }
      assert.ok(refused(forged({ 'tensor-host-data': at(0, 'a'.repeat(32)) })))
      assert.ok(refused(forged({ 'tensor-host-data': at(2, 'w') })))
      assert.ok(
        refused(forged({ 'tensor-host-data': fields.get('tensor-host-reply') })),
        'memory to write to',
      )
    })

    it('of a shape or a dtype', () => {
      for (const shape of [
        '',
        '0',
        '1',
        `${LARGE + 1}`,
        `${LARGE},2`,
        '-1',
        '1e3',
        '999999999999,9999999999',
        '1,'.repeat(70) + LARGE,
      ]) {
        assert.ok(refused(forged({ 'tensor-shape': shape })), shape)
      }
      for (const dtype of ['float64', 'uint8', 'nothing', '']) {
        assert.ok(refused(forged({ 'tensor-dtype': dtype })), dtype)
      }
      assert.equal(host.accept(fields, { maxBytes: x.nbytes - 1 }), null)
      for (const name of fields.keys()) {
        const less = new Map(fields)
        less.delete(name)
        if (name !== 'tensor-host-reply') assert.ok(refused(less), name)
      }
    })

    /** Makes this process lend a file that is no sealed segment, by a real ticket. */
    const lending = (fd, size) => {
      const { dev, ino } = fs.fstatSync(fd, { bigint: true })
      const ticket = page.write(/** @type {any} */ ({ fd, id: `${dev}-${ino}` }), {
        writes: false,
        at: 0,
        nbytes: size,
      })
      others.push(() => ticket.close())
      return forged({ 'tensor-host-data': ticket.text, 'tensor-shape': String(size / 4) })
    }

    it('of files, unsealed segments, pipes, sockets and devices, with tickets that are real', async function () {
      skipWithout(this, 'Python')
      const file = path.join(os.tmpdir(), `samebytes-host-${process.pid}`)
      const fd = fs.openSync(file, 'w+')
      others.push(() => {
        fs.closeSync(fd)
        fs.rmSync(file)
      })
      fs.writeSync(fd, Buffer.alloc(4096))
      assert.ok(refused(lending(fd, 4096)))
      const named = SharedTensor.create(`host-test-${process.pid}`, [1024], { format: 'raw' })
      others.push(() => {
        named.dispose()
        SharedTensor.unlink(`host-test-${process.pid}`)
      })
      assert.ok(refused(lending(named.fd, 4096)))
      const python = spawn(
        PYTHON,
        [
          '-c',
          'import os; fd = os.memfd_create("x"); os.ftruncate(fd, 4096); print(fd, flush=True); input()',
        ],
        { stdio: ['pipe', 'pipe', 'inherit'] },
      )
      const [text] = await once(python.stdout, 'data')
      const memory = fs.openSync(`/proc/${python.pid}/fd/${Number(text)}`, 'r+')
      others.push(() => {
        fs.closeSync(memory)
        python.stdin.end('\n')
      })
      assert.ok(refused(lending(memory, 4096)))
      const device = fs.openSync('/dev/zero', 'r')
      others.push(() => fs.closeSync(device))
      assert.ok(refused(lending(device, 4096)))
      const listener = net.createServer().listen(0, '127.0.0.1')
      await new Promise((resolve) => listener.once('listening', resolve))
      others.push(() => listener.close())
      assert.ok(refused(lending(listener._handle.fd, 4096)))
      assert.ok(refused(lending(0, 4096)))
      assert.ok(refused(lending(1, 4096)))
    })

    it("of bytes behind a segment's end, with a ticket that is real", () => {
      const segment = newSealed(2 ** 16)
      const past = page.write(segment, { writes: false, at: segment.size - 4, nbytes: 8 })
      assert.ok(refused(forged({ 'tensor-host-data': past.text, 'tensor-shape': '2' })))
      const odd = page.write(segment, { writes: false, at: 2, nbytes: 8 })
      assert.ok(refused(forged({ 'tensor-host-data': odd.text, 'tensor-shape': '2' })))
      past.close()
      odd.close()
      segment.close()
    })

    it('of what was lent before', () => {
      const before = host.offer(coreOf(bus), 'lies', x)
      const old = fieldsOf(before)
      assert.ok(!refused(old))
      finish(before)
      assert.ok(refused(old))
    })

    it('of memory to write to: nothing is written', () => {
      const result = full([LARGE], 9)
      for (const i of [0, 1, 2, 3, 4, 5, 6]) {
        assert.equal(
          host.put(forged({ 'tensor-host-reply': at(i, i === 2 ? 'r' : '7') }), result),
          null,
        )
      }
      assert.equal(
        host.put(forged({ 'tensor-host-reply': fields.get('tensor-host-data') }), result),
        null,
      )
      assert.equal(host.put(fields, full([2 ** 21], 9)), null) // longer than it is
      assert.equal(x.get(0), 1)
    })

    it('are answered with a request for bytes, which are sent', async () => {
      const runs = []
      const service = await remote.serve((t) => {
        runs.push(t.isReadOnly)
        return add(t, 1)
      }, 'lied')
      const replies = []
      const inbox = connections[0].subscribe('lied-inbox', {
        callback: (_, m) => replies.push(m.headers?.get('Tensor-Host')),
      })
      const headers = offer.headersFor('other')
      headers.set('Tensor-Host-Data', headers.get('Tensor-Host-Data').replace(/^./, 'x'))
      connections[0].publish(host.subjectOfHost('lied'), new Uint8Array(0), {
        headers,
        reply: 'lied-inbox',
      })
      await until(() => replies.length === 1)
      assert.deepEqual(replies, ['refused'])
      inbox.unsubscribe()
      const small = await newBus({ maxBytes: 2 ** 17 }) // takes descriptors of fewer bytes only
      const limited = await small.serve((t) => t, 'limited')
      await assert.rejects(bus.request('limited', full([2 ** 16], 1)), {
        code: 'ERR_REMOTE',
        remoteCode: 'ERR_TOO_LARGE',
      })
      const y = await bus.request('lied', full([LARGE / 8], 5))
      assert.equal(y.get(0), 6)
      assert.deepEqual(runs, [true])
      assert.equal(service.stats().requests, 1)
      await service.drain()
      await limited.drain()
    })

    it('in replies fail the request', () => {
      const own = host.offer(coreOf(bus), 'reply', x, { out: x })
      const tell = (more) =>
        new Map(
          Object.entries({
            'tensor-host': 'written',
            'tensor-dtype': 'float32',
            'tensor-shape': String(LARGE),
            ...more,
          }),
        )
      const out = zeros([LARGE])
      for (const [i, more] of [
        { 'tensor-shape': '999999' },
        { 'tensor-shape': '9999999999999999,99' },
        { 'tensor-shape': '0' },
        { 'tensor-dtype': 'x' },
        { 'tensor-shape': `${'9999999999999999,'.repeat(25)}0` },
      ].entries()) {
        own.headersFor(`r${i}`)
        assert.throws(() => own.result(`r${i}`, tell(more), new Uint8Array(0), out), {
          code: i === 1 ? 'ERR_TOO_LARGE' : 'ERR_FORMAT',
        })
      }
      assert.throws(() => own.result('never sent', tell({}), new Uint8Array(0), out), {
        code: 'ERR_FORMAT',
      })
      assert.equal(sum(out).item(), 0)
      finish(own)
    })
  })
})
