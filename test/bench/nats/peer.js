'use strict'
// The other process of messages.js: receives and answers, by the stock client, by a bus or by a bare socket; and counts what JavaScript copies.

const { connect: stock, headers } = require('@nats-io/transport-node')
const { Svcm } = require('@nats-io/services')
const { fromBlob, zeros } = require('samebytes')
const { tensors, transport } = require('samebytes/nats')
const { BareClient } = require('./raw')

const MIB = 2 ** 20

const ROLES = {
  /** Counts messages of the stock client, and says when all have come. */
  async stockReceiver(url) {
    const connection = await stock({ servers: url })
    let left = -1
    connection.subscribe('one.stock', {
      callback(_, { data }) {
        if (data.length > 0 && --left === 0) process.send('done')
      },
    })
    process.on('message', (count) => {
      left = count
      process.send('counting')
    })
    await connection.flush()
  },
  async busReceiver(url) {
    const connection = await transport.connect({ servers: url })
    let left = -1
    process.on('message', (count) => {
      left = count
      process.send('counting')
    })
    const messages = tensors(connection).subscribe('one.bus', { maxPending: 2 ** 28 })
    await connection.flush()
    ;(async () => {
      for await (const { tensor } of messages) {
        tensor.dispose()
        if (--left === 0) process.send('done')
      }
    })()
  },
  bareReceiver: (url) => bareReceiver(url, 'bare', false),
  keepingReceiver: (url) => bareReceiver(url, 'keeping', true),
  /** Bytes that JavaScript copies, and what a message holds and where it lies, of one message of so many bytes. */
  async copies(url, size) {
    const counter = countCopies()
    const bytes = new Uint8Array(Number(size))
    const tensor = zeros([bytes.length], 'uint8')
    const kinds = {
      stock: {
        connect: stock,
        send: (connection, subject) => {
          connection.publish(subject, bytes)
          return connection.flush()
        },
      },
      bus: {
        connect: transport.connect,
        send: (connection, subject) => tensors(connection).publish(subject, tensor),
      },
    }
    const result = {}
    for (const [kind, { connect, send }] of Object.entries(kinds)) {
      const [a, b] = [await connect({ servers: url }), await connect({ servers: url })]
      const received = receivers[kind](b, `copies.${kind}`)
      await b.flush()
      counter.begin()
      await send(a, `copies.${kind}`)
      const data = await received
      result[kind] = {
        copied: counter.bytes / bytes.length,
        holds: data.buffer.byteLength / data.length,
        isAligned: fromBlob(data).dataPtr % 64n === 0n,
      }
      await Promise.all([a.close(), b.close()])
    }
    process.on('message', () => process.send(result))
  },
  /** Says how many milliseconds of processor time it took to receive and refuse so many messages. */
  async refuser(url) {
    const connection = await transport.connect({ servers: url })
    let left = 0
    let before
    process.on('message', (count) => {
      left = count
      before = process.cpuUsage()
      process.send('counting')
    })
    const onError = () => {
      if (--left > 0) return
      const { user, system } = process.cpuUsage(before)
      process.send((user + system) / 1000)
    }
    tensors(connection, { maxBytes: MIB }).subscribe('bombs', { onError }).next()
    await connection.flush()
  },
  async stockService(url) {
    const connection = await stock({ servers: url })
    connection.subscribe('echo.stock', {
      queue: 'q',
      callback(_, message) {
        message.respond(message.data)
      },
    })
    const service = await new Svcm(connection).add({ name: 'echo', version: '1.0.0', queue: 'q' })
    service.addEndpoint('run', {
      subject: 'echo.service',
      handler(_, message) {
        const fields = headers()
        for (const name of ['Tensor-Dtype', 'Tensor-Shape']) {
          fields.set(name, message.headers.get(name))
        }
        message.respond(message.data.slice(), { headers: fields })
      },
    })
    await connection.flush()
  },
  async busService(url) {
    const connection = await transport.connect({ servers: url })
    await tensors(connection).serve((x) => x.clone(), 'echo.bus')
  },
  /** A model that takes 8 ms a run, however many rows it has. */
  async model(url, batch) {
    const connection = await transport.connect({ servers: url })
    const run = async (x) => {
      await new Promise((resolve) => setTimeout(resolve, 8))
      return x.clone()
    }
    await tensors(connection).serve(
      run,
      'model',
      batch === 'true' ? { batch: { max: 32, wait: 2 }, maxQueued: 256 } : { maxQueued: 256 },
    )
  },
  /** Work that takes 50 ms. */
  async sleeper(url) {
    const connection = await transport.connect({ servers: url })
    await tensors(connection).serve(
      async (x) => {
        await new Promise((resolve) => setTimeout(resolve, 50))
        return x.clone()
      },
      'sleep',
      { maxQueued: 256 },
    )
  },
}

async function bareReceiver(url, name, keeps) {
  let left = -1
  process.on('message', (count) => {
    left = count
    process.send('counting')
  })
  const client = await BareClient.connect(
    url,
    () => {
      if (--left === 0) process.send('done')
    },
    keeps,
  )
  await client.subscribe(`one.${name}`)
}

/** The bytes of the next message. */
const receivers = {
  stock: (connection, subject) =>
    new Promise((resolve) =>
      connection.subscribe(subject, {
        max: 1,
        callback(_, { data }) {
          resolve(data)
        },
      }),
    ),
  bus: async (connection, subject) =>
    (await tensors(connection).subscribe(subject).next()).value.tensor.data,
}

/** Counts bytes that JavaScript copies, from `begin` on. */
function countCopies() {
  const counter = {
    bytes: 0,
    begin() {
      this.bytes = 0
    },
  }
  const wrap = (object, name, bytesOf) => {
    const original = object[name]
    object[name] = function (...args) {
      const result = original.apply(this, args)
      counter.bytes += bytesOf(args, result)
      return result
    }
  }
  const bytes = Object.getPrototypeOf(Uint8Array.prototype)
  wrap(bytes, 'set', ([source]) => source.byteLength ?? source.length)
  wrap(bytes, 'slice', (_, result) => result.byteLength)
  wrap(Buffer, 'concat', (_, result) => result.length)
  wrap(Buffer.prototype, 'copy', (_, n) => n)
  return counter
}

const [role, ...given] = process.argv.slice(2)
process.once('disconnect', () => process.exit(0))
ROLES[role](...given).then(
  () => process.send('ready'),
  (error) => {
    console.error(error)
    process.exit(1)
  },
)
