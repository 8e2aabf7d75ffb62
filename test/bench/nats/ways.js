'use strict'
// A tensor of one process becomes one of another, by each way that docs/machines.md names, in turn, beside a bare TCP socket. Medians.
//
//   node test/bench/nats/ways.js [MiB]...

const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { SharedRing, SharedTensor, full, zeros } = require('samebytes')
const { tensors, transport } = require('samebytes/nats')
const { startServer } = require('../../nats/server')
const { median } = require('../measure')

const MIB = 2 ** 20
const ROUNDS = 25
const WARM = 4

/** The other process: receives, and counts in `control`; serves what is fetched from it. */
async function peer(url, name, size, port) {
  const control = SharedTensor.open(`${name}-control`)
  const received = () => {
    control.tensor.set(control.tensor.get(0) + 1, 0)
    control.notify(0)
  }
  const each = async (frames, free) => {
    for await (const frame of frames) {
      received()
      free(frame)
    }
  }
  const connection = await transport.connect({ servers: url })
  const bus = tensors(connection)
  await bus.serve((x) => x.narrow(0, 0, 1).clone(), 'first')
  each(bus.subscribe('messages'), ({ tensor }) => tensor.dispose())
  each(SharedRing.open(`${name}-ring`).read(), () => {})
  const store = await bus.store('ways')
  await store.put('x.npy', zeros([size], { dtype: 'uint8' }))
  await connection.flush()

  const body = Buffer.alloc(size)
  let got = 0
  const socket = net.connect({
    host: '127.0.0.1',
    port,
    onread: {
      buffer: () => body.subarray(got),
      callback(n) {
        got = (got + n) % size
        if (got === 0) received()
        return true
      },
    },
  })
  await once(socket, 'connect')
  const pages = http
    .createServer((_, response) => response.writeHead(200, { 'content-length': size }).end(body))
    .listen(0, '127.0.0.1')
  await once(pages, 'listening')
  process.send(pages.address().port)
}

/** Puts a page's body into a tensor. */
function fetchInto(agent, port, out) {
  const bytes = new Uint8Array(out.data.buffer, out.data.byteOffset, out.nbytes)
  return new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port, agent }, (response) => {
        let at = 0
        response.on('data', (data) => {
          bytes.set(data, at)
          at += data.length
        })
        response.once('end', resolve)
      })
      .once('error', reject)
  })
}

async function compare(size) {
  const name = `samebytes-ways-${process.pid}`
  const server = await startServer({ jetstream: true, config: 'max_payload: 64MB' })
  const control = SharedTensor.create(`${name}-control`, [1], { dtype: 'int32' })
  const ring = SharedRing.create(`${name}-ring`, [size], { slots: 4, dtype: 'uint8' })
  const listener = net.createServer()
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const other = fork(__filename, [
    'peer',
    server.url,
    name,
    String(size),
    String(listener.address().port),
  ])
  const connection = await transport.connect({ servers: server.url })
  const agent = new http.Agent({ keepAlive: true })
  try {
    const [[socket], [port]] = await Promise.all([
      once(listener, 'connection'),
      once(other, 'message'),
    ])
    const bus = tensors(connection)
    const store = await bus.store('ways')
    const x = full([size], 7, { dtype: 'uint8' })
    const out = zeros([size], { dtype: 'uint8' })
    const shared = SharedTensor.create(null, [size], { dtype: 'uint8' })

    /** Waits until the other process has one more. */
    const until = async (send) => {
      const before = control.tensor.get(0)
      await send()
      while (control.tensor.get(0) === before) await control.wait(0, before)
    }
    const rows = {
      'bare TCP socket, into memory that is there': () =>
        until(() => {
          socket.write(x.data)
        }),
      'SharedRing.write': () =>
        until(() => {
          ring.write(x)
        }),
      'bus.request on one host': async () => (await bus.request('first', x)).dispose(),
      'bus.request on one host, of a SharedTensor': async () =>
        (await bus.request('first', shared.tensor)).dispose(),
      'bus.publish': () => until(() => bus.publish('messages', x)),
      'HTTP GET, into a tensor': () => fetchInto(agent, port, out),
      'store.get, into a tensor, verified': () => store.get('x.npy', { out }),
    }
    const times = Object.fromEntries(Object.keys(rows).map((each) => [each, []]))
    for (let round = -WARM; round < ROUNDS; round++) {
      for (const [each, run] of Object.entries(rows)) {
        const from = performance.now()
        await run()
        if (round >= 0) times[each].push(performance.now() - from)
      }
    }
    const [bare] = Object.values(times).map(median)
    console.log(`\n${size / MIB} MiB`)
    for (const [each, list] of Object.entries(times)) {
      console.log(
        `${each.padEnd(44)} ${median(list).toFixed(2).padStart(8)} ms ${((1000 * size) / MIB / median(list)).toFixed(0).padStart(7)} MiB/s ${(bare / median(list)).toFixed(2).padStart(7)} x`,
      )
    }
    socket.destroy()
  } finally {
    other.kill()
    agent.destroy()
    listener.close()
    await connection.close()
    SharedTensor.unlink(`${name}-control`)
    SharedRing.unlink(`${name}-ring`)
    await server.stop()
  }
}

async function main() {
  for (const size of process.argv.length > 2 ? process.argv.slice(2) : [1, 8]) {
    await compare(Number(size) * MIB)
  }
}

const [role, url, name, size, port] = process.argv.slice(2)
const run = role === 'peer' ? peer(url, name, Number(size), Number(port)) : main()
run.catch((error) => {
  console.error(error)
  process.exit(1)
})
