'use strict'
// MB/s of an object's way into a tensor, digest compared, beside the client's own store: its get by default, and with Node's SHA-256.
//
//   node --expose-gc test/bench/nats/store.js [MiB] [rounds] [fast]
//
// fast: over samebytes' transport. Each round takes all ways, one after the other; medians. RSS is what a process that only gets has grown by.

const { spawnSync } = require('node:child_process')
const nats = require('@nats-io/transport-node')
const { Objm, setSha256Backend } = require('@nats-io/obj')
const { rand, zeros, toNpyBytes } = require('samebytes')
const { tensors, transport } = require('samebytes/nats')
const { startServer } = require('../../nats/server')

const MIB = Number(process.argv[2] ?? 64)
const ROUNDS = Number(process.argv[3] ?? 5)
const isFast = process.argv[4] === 'fast'
const NAME = 'x.npy'

const median = list => list.slice().sort((a, b) => a - b)[list.length >> 1]
const connect = options => isFast ? transport.connect(options) : nats.connect(options)

/** A get in a process of its own: prints how much its RSS grew beyond what it had when its connection was there. */
async function child (url, bucket) {
  const connection = await connect({ servers: url })
  const store = await tensors(connection).store(bucket)
  await store.put('small.npy', zeros([1 << 20]))
  await store.get('small.npy')
  globalThis.gc()
  const before = process.memoryUsage().rss
  let most = before
  const { size } = await store.info(NAME)
  const t = await store.get(NAME, { onProgress () { most = Math.max(most, process.memoryUsage().rss) } })
  console.log(((most - before - t.nbytes) / 2 ** 20).toFixed(1), 'MiB of RSS more than the tensor has, of', (size / 2 ** 20).toFixed(0))
  await connection.close()
}

async function main () {
  const server = await startServer({ jetstream: true })
  const connection = await connect({ servers: server.url })
  try {
    const store = await tensors(connection).store('bench')
    const objects = await new Objm(connection).open('bench')
    const t = rand([MIB << 18])
    const out = zeros([MIB << 18]).fill(1)
    const bytes = toNpyBytes(t)
    const theirs = async (backend, chunk) => {
      setSha256Backend(backend)
      const got = await objects.get(chunk)
      const into = new Uint8Array(bytes.length)
      let at = 0
      for await (const each of got.data) {
        into.set(each, at)
        at += each.length
      }
      await got.error
    }
    const stream = () => new ReadableStream({ start (c) { c.enqueue(bytes); c.close() } })
    const ways = {
      'put, obj with native SHA-256': () => { setSha256Backend('native'); return objects.put({ name: NAME }, stream(), { timeout: 60000 }) },
      put: () => store.put(NAME, t),
      'get, obj': () => theirs('js', NAME),
      'get, obj with native SHA-256': () => theirs('native', NAME),
      get: async () => { (await store.get(NAME)).dispose() },
      'get into a tensor': () => store.get(NAME, { out })
    }
    await store.put(NAME, t)
    /** @type {Record<string, number[]>} */
    const rates = Object.fromEntries(Object.keys(ways).map(name => [name, []]))
    /** milliseconds of this process @type {Record<string, number[]>} */
    const processor = Object.fromEntries(Object.keys(ways).map(name => [name, []]))
    for (let i = 0; i < ROUNDS; i++) {
      for (const [name, way] of Object.entries(ways)) {
        globalThis.gc?.()
        const from = performance.now()
        const spent = process.cpuUsage()
        await way()
        const { user, system } = process.cpuUsage(spent)
        rates[name].push(bytes.length / 1000 / (performance.now() - from))
        processor[name].push((user + system) / 1000)
      }
    }
    for (const [name, list] of Object.entries(rates)) console.log(name.padEnd(32), median(list).toFixed(0).padStart(6), 'MB/s', median(processor[name]).toFixed(0).padStart(6), 'ms of processor time')
    const { stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', __filename, 'child', server.url, store.name, isFast ? 'fast' : ''], { encoding: 'utf8' })
    process.stdout.write(stdout + stderr)
  } finally {
    await connection.close()
    await server.stop()
  }
}

if (process.argv[2] === 'child') child(process.argv[3], process.argv[4])
else main()
