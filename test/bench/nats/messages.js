'use strict'
// Messages, requests and services of samebytes/nats beside the stock client and a bare socket, in turn, over a server that this starts.
//
//   node test/bench/nats/messages.js [one-way | copies | refusals | requests | batching | scaling]...

const path = require('node:path')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { connect: stock, headers } = require('@nats-io/transport-node')
const { empty, zeros } = require('samebytes')
const { tensors, transport } = require('samebytes/nats')
const { startServer } = require('../../nats/server')
const { median } = require('../measure')
const { BareClient } = require('./raw')

const ROUNDS = 7
const MIB = 2 ** 20

/** @type {import('node:child_process').ChildProcess[]} */
const peers = []

async function start(...args) {
  const child = fork(path.join(__dirname, 'peer.js'), args)
  peers.push(child)
  await once(child, 'message')
  return child
}

/** Seconds until the peer has all messages. */
async function sendTo(peer, count, send) {
  peer.send(count)
  await once(peer, 'message') // it counts
  const done = once(peer, 'message')
  const begin = performance.now()
  await send()
  await done
  return (performance.now() - begin) / 1000
}

async function oneWay(url, size, count) {
  const names = ['stock', 'bus', 'bare', 'keeping']
  const own = {}
  for (const name of names) own[name] = await start(`${name}Receiver`, url)
  const [stockConnection, busConnection, bare] = [
    await stock({ servers: url }),
    await transport.connect({ servers: url }),
    await BareClient.connect(url),
  ]
  const bus = tensors(busConnection)
  const bytes = new Uint8Array(size)
  const tensor = zeros([size], 'uint8')
  const send = {
    stock() {
      stockConnection.publish('one.stock', bytes)
      return stockConnection.flush()
    },
    bus: () => bus.publish('one.bus', tensor),
    bare: () => bare.publish('one.bare', bytes),
    keeping: () => bare.publish('one.keeping', bytes),
  }
  const took = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of names) {
      took[name].push(
        await sendTo(own[name], count, async () => {
          for (let i = 0; i < count; i++) await send[name]()
        }),
      )
    }
  }
  bare.close()
  await Promise.all([stockConnection.close(), busConnection.close()])
  for (const peer of Object.values(own)) peer.kill()
  const speed = (list) => ((size * count) / MIB / median(list)).toFixed(0)
  const times = (name) => `${(median(took[name]) / median(took.bus)).toFixed(2)} x`
  console.log(
    `${size / MIB} MiB one way: ${speed(took.bus)} MiB/s; stock client ${speed(took.stock)}: ${times('stock')}; bare socket, into memory that is used again ${speed(took.bare)}: ${times('bare')}, into new memory ${speed(took.keeping)}: ${times('keeping')}`,
  )
}

async function copies(url, size) {
  const peer = await start('copies', url, String(size))
  peer.send('tell')
  const [result] = await once(peer, 'message')
  peer.kill()
  const text = ({ copied, holds, isAligned }) =>
    `${copied.toFixed(3)} bytes copied in JavaScript for each byte, holds ${holds.toFixed(3)} x, ${isAligned ? '' : 'not '}at a multiple of 64`
  console.log(
    `${size / MIB} MiB sent and received: ${text(result.bus)}; stock client ${text(result.stock)}`,
  )
}

/** Processor time until messages are refused. */
async function refusals(url) {
  const peer = await start('refuser', url)
  const bare = await BareClient.connect(url)
  const many = 50
  const block = (text) => Buffer.from(`NATS/1.0\r\n${text}\r\n\r\n`)
  const bombs = {
    'of 40,000 headers': [
      block(Array.from({ length: 40000 }, (_, i) => `H${i}: x`).join('\r\n')),
      8,
    ],
    'over the limit of 1 MiB': [block('Tensor-Dtype: uint8\r\nTensor-Shape: 1048577'), MIB + 1],
  }
  for (const [what, [headers, size]] of Object.entries(bombs)) {
    const bytes = Buffer.concat([headers, Buffer.alloc(size)])
    const times = []
    for (let round = 0; round < ROUNDS; round++) {
      peer.send(many)
      await once(peer, 'message')
      const done = once(peer, 'message')
      for (let i = 0; i < many; i++) await bare.publish('bombs', bytes, headers.length)
      times.push((await done)[0] / many)
    }
    console.log(
      `a message ${what}: received and refused in ${median(times).toFixed(2)} ms of processor time`,
    )
  }
  bare.close()
  peer.kill()
}

/**
 * Small requests, one after the other. What a tensor's message needs besides its bytes are two headers: the stock client's own service with the same two, and
 * a copy of the bytes on both sides, is what they cost there.
 */
async function requests(url) {
  await start('stockService', url)
  await start('busService', url)
  const [stockConnection, busConnection] = [
    await stock({ servers: url }),
    await transport.connect({ servers: url }),
  ]
  const bus = tensors(busConnection)
  const bytes = new Uint8Array(64)
  const tensor = zeros([16])
  const ways = {
    bus: async () => (await bus.request('echo.bus', tensor)).dispose(),
    'the stock client': () => stockConnection.request('echo.stock', bytes),
    'its service, with the two headers': async () => {
      const fields = headers()
      fields.set('Tensor-Dtype', 'float32')
      fields.set('Tensor-Shape', '16')
      const { data, headers: got } = await stockConnection.request('echo.service', bytes.slice(), {
        timeout: 5000,
        headers: fields,
      })
      return new Float32Array(data.slice().buffer, 0, Number(got.get('Tensor-Shape')))
    },
  }
  const took = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))
  const many = 1000
  for (let round = -10; round < ROUNDS; round++) {
    // the first ones until the code is compiled
    for (const [name, way] of Object.entries(ways)) {
      const begin = performance.now()
      for (let i = 0; i < many; i++) await way()
      if (round >= 0) took[name].push(((performance.now() - begin) / many) * 1000)
    }
  }
  await Promise.all([stockConnection.close(), busConnection.close()])
  const { bus: own, ...others } = Object.fromEntries(
    Object.entries(took).map(([name, all]) => [name, median(all)]),
  )
  console.log(
    `request of 64 bytes: ${own.toFixed(0)} us; ${Object.entries(others)
      .map(([name, us]) => `${name} ${us.toFixed(0)}: ${(own / us).toFixed(2)} x as long`)
      .join('; ')}`,
  )
}

/** Requests a second of callers that each wait for their answer. */
async function rate(url, subject, callers, seconds) {
  const connection = await transport.connect({ servers: url })
  const bus = tensors(connection)
  const end = performance.now() + seconds * 1000
  let answered = 0
  await Promise.all(
    Array.from({ length: callers }, async () => {
      const x = empty([1, 1024]).fill(1)
      while (performance.now() < end) {
        ;(await bus.request(subject, x, { deadline: 20000, attempts: 10 })).dispose()
        if (performance.now() < end) answered++
      }
    }),
  )
  await connection.close()
  return answered / seconds
}

async function batching(url) {
  const rates = {}
  for (const batch of [false, true]) {
    const peer = await start('model', url, String(batch))
    rates[batch] = await rate(url, 'model', 32, 3)
    peer.kill()
    await once(peer, 'exit')
  }
  console.log(
    `32 callers, a model of 8 ms: ${rates.true.toFixed(0)} requests/s in batches, ${rates.false.toFixed(0)} one by one: ${(rates.true / rates.false).toFixed(1)} x`,
  )
}

/**
 * A queue group chooses workers at random: with few callers a worker is idle at times while others have a queue. In a simulation of that, 4 callers a
 * worker reach 0.94 and 0.91 of linear with 2 and 4 workers, 16 a worker 0.99 and 0.98.
 */
async function scaling(url) {
  const rates = []
  for (const workers of [1, 2, 4]) {
    const own = []
    for (let i = 0; i < workers; i++) own.push(await start('sleeper', url))
    rates.push(await rate(url, 'sleep', 16 * workers, 4))
    for (const worker of own) {
      worker.kill()
      await once(worker, 'exit')
    }
  }
  console.log(
    `work of 50 ms: ${rates.map((r) => r.toFixed(1)).join(', ')} a second with 1, 2 and 4 workers: ${rates.map((r, i) => (r / rates[0] / 2 ** i).toFixed(2)).join(', ')} of linear`,
  )
}

const PARTS = {
  async 'one-way'(url) {
    for (const size of [8 * MIB, MIB]) await oneWay(url, size, (96 * MIB) / size)
  },
  async copies(url) {
    for (const size of [8 * MIB, MIB]) await copies(url, size)
  },
  refusals,
  requests,
  batching,
  scaling,
}

async function main() {
  const server = await startServer({ config: 'max_payload: 64MB\nmax_pending: 256MB' })
  try {
    const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(PARTS)
    for (const part of wanted) await PARTS[part](server.url)
  } finally {
    for (const peer of peers) peer.kill('SIGKILL')
    await server.stop()
  }
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
