'use strict'
// MB/s of an object's way into a tensor, digest compared, beside the client's own store: its get by default, and with Node's SHA-256.
//
//   node --expose-gc test/bench/nats/store.js [MiB] [rounds]
//
// Each round takes all ways, one after the other: those of the client's own connection, and those over samebytes' transport; medians, and medians of the
// ratios within a round. All read the same object of one server, check its digest, and keep all bytes. Thrown away: what the
// server sends, neither checked nor kept, which bounds the others. RSS is what a process that only gets has grown by.

const { spawnSync } = require('node:child_process')
const nats = require('@nats-io/transport-node')
const { jetstreamManager } = require('@nats-io/jetstream')
const { Objm, setSha256Backend } = require('@nats-io/obj')
const { rand, zeros, toNpyBytes } = require('samebytes')
const { tensors, transport } = require('samebytes/nats')
const { giveBack } = require('../../../js/nats/transport')
const { startServer } = require('../../nats/server')

const MIB = Number(process.argv[2] ?? 64)
const ROUNDS = Number(process.argv[3] ?? 5)
const NAME = 'x.npy'
const DEFAULT = 'get, obj'
const NATIVE = 'get, obj with native SHA-256'

const median = (list) => list.slice().sort((a, b) => a - b)[list.length >> 1]

/** A get in a process of its own: prints how much its RSS grew beyond what it had when its connection was there. */
async function child(url, bucket, isFast) {
  const connection = await (isFast ? transport : nats).connect({ servers: url })
  const store = await tensors(connection).store(bucket)
  await store.put('small.npy', zeros([1 << 20]))
  await store.get('small.npy')
  globalThis.gc()
  const before = process.memoryUsage().rss
  let most = before
  const { size } = await store.info(NAME)
  const t = await store.get(NAME, {
    onProgress() {
      most = Math.max(most, process.memoryUsage().rss)
    },
  })
  console.log(
    ((most - before - t.nbytes) / 2 ** 20).toFixed(1),
    'MiB of RSS more than the tensor has, of',
    (size / 2 ** 20).toFixed(0),
  )
  await connection.close()
}

/** All that the server sends of an object. */
async function drain(connection, jsm, bucket) {
  const { nuid, chunks } = (
    await jsm.streams.getMessage(`OBJ_${bucket}`, {
      last_by_subj: `$O.${bucket}.M.${Buffer.from(NAME).toString('base64')}`,
    })
  ).json()
  const inbox = nats.createInbox()
  let came = 0
  await new Promise((resolve, reject) => {
    const subscription = connection.subscribe(inbox, {
      callback(error, message) {
        if (error) return reject(error)
        if (message.reply?.startsWith('$JS.FC.')) return connection.publish(message.reply)
        giveBack(connection, message.data)
        if (++came < chunks) return
        subscription.unsubscribe()
        resolve()
      },
    })
    jsm.consumers
      .add(`OBJ_${bucket}`, {
        deliver_subject: inbox,
        filter_subject: `$O.${bucket}.C.${nuid}`,
        ack_policy: 'none',
        flow_control: true,
        idle_heartbeat: 1e9,
        mem_storage: true,
        num_replicas: 1,
      })
      .catch(reject)
  })
}

async function main() {
  const server = await startServer({ jetstream: true })
  const connections = await Promise.all(
    [nats, transport].map(({ connect }) => connect({ servers: server.url })),
  )
  try {
    const t = rand([MIB << 18])
    const out = zeros([MIB << 18]).fill(1)
    const bytes = toNpyBytes(t)
    /** @type {Record<string, () => Promise<unknown>>} */
    const ways = {}
    for (const [i, connection] of connections.entries()) {
      const over = i === 0 ? '' : ', in place'
      const store = await tensors(connection).store('bench')
      const objects = await new Objm(connection).open('bench')
      const jsm = await jetstreamManager(connection)
      const theirs = async (backend) => {
        setSha256Backend(backend)
        const got = await objects.get(NAME)
        const into = new Uint8Array(bytes.length)
        let at = 0
        for await (const each of got.data) {
          into.set(each, at)
          at += each.length
        }
        await got.error
      }
      const stream = () =>
        new ReadableStream({
          start(c) {
            c.enqueue(bytes)
            c.close()
          },
        })
      ways[`put, obj with native SHA-256${over}`] = () => {
        setSha256Backend('native')
        return objects.put({ name: NAME }, stream(), { timeout: 60000 })
      }
      ways[`put${over}`] = () => store.put(NAME, t)
      if (i === 0) ways[DEFAULT] = () => theirs('js')
      ways[NATIVE + over] = () => theirs('native')
      ways[`get${over}`] = async () => {
        ;(await store.get(NAME)).dispose()
      }
      ways[`get into a tensor${over}`] = () => store.get(NAME, { out })
      ways[`get, thrown away${over}`] = () => drain(connection, jsm, 'bench')
      await store.put(NAME, t)
      await store.get(NAME)
    }
    await measure(ways, bytes.length)
    for (const how of ['', 'in place']) {
      const { stdout, stderr } = spawnSync(
        process.execPath,
        ['--expose-gc', __filename, 'child', server.url, 'bench', how],
        { encoding: 'utf8' },
      )
      process.stdout.write(`${how === '' ? '' : `${how}: `}${stdout}${stderr}`)
    }
  } finally {
    for (const connection of connections) await connection.close()
    await server.stop()
  }
}

/** @param {Record<string, () => Promise<unknown>>} ways @param {number} nbytes */
async function measure(ways, nbytes) {
  /** milliseconds, and those of this process' threads @type {Record<string, { wall: number[], processor: number[] }>} */
  const spent = Object.fromEntries(
    Object.keys(ways).map((name) => [name, { wall: [], processor: [] }]),
  )
  for (let i = 0; i < ROUNDS; i++) {
    for (const [name, way] of Object.entries(ways)) {
      globalThis.gc?.()
      const from = performance.now()
      const before = process.cpuUsage()
      await way()
      const { user, system } = process.cpuUsage(before)
      spent[name].wall.push(performance.now() - from)
      spent[name].processor.push((user + system) / 1000)
    }
  }
  const times = (name, other) =>
    median(spent[name].wall.map((ms, i) => spent[other].wall[i] / ms))
      .toFixed(1)
      .padStart(6)
  for (const [name, { wall, processor }] of Object.entries(spent)) {
    const beside = name.startsWith('get')
      ? `${times(name, DEFAULT)} x ${times(name, NATIVE)} x`
      : ''
    console.log(
      name.padEnd(38),
      (nbytes / 1000 / median(wall)).toFixed(0).padStart(6),
      'MB/s',
      median(processor).toFixed(0).padStart(6),
      'ms of processor time',
      beside,
    )
  }
  console.log(`x: as fast as "${DEFAULT}" and as "${NATIVE}"`)
}

if (process.argv[2] === 'child') child(process.argv[3], process.argv[4], process.argv[5] !== '')
else main()
