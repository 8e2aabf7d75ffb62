'use strict'
// The other process of messages.js: receives and answers, by the stock client or by a bus.

const { connect: stock } = require('@nats-io/transport-node')
const { tensors, transport } = require('samebytes/nats')

const ROLES = {
  /** Counts messages of the stock client, and says when all have come. */
  async stockReceiver (url) {
    const connection = await stock({ servers: url })
    let left = -1
    connection.subscribe('one', { callback (_, { data }) { if (data.length > 0 && --left === 0) process.send('done') } })
    process.on('message', count => { left = count; process.send('counting') })
    await connection.flush()
  },
  async busReceiver (url) {
    const connection = await transport.connect({ servers: url })
    let left = -1
    process.on('message', count => { left = count; process.send('counting') })
    const messages = tensors(connection).subscribe('one', { maxPending: 2 ** 28 })
    await connection.flush()
    ;(async () => {
      for await (const { tensor } of messages) {
        tensor.dispose()
        if (--left === 0) process.send('done')
      }
    })()
  },
  async stockService (url) {
    const connection = await stock({ servers: url })
    connection.subscribe('echo.stock', { queue: 'q', callback (_, message) { message.respond(message.data) } })
    await connection.flush()
  },
  async busService (url) {
    const connection = await transport.connect({ servers: url })
    await tensors(connection).serve(x => x.clone(), 'echo.bus')
  },
  /** A model that takes 8 ms a run, however many rows it has. */
  async model (url, batch) {
    const connection = await transport.connect({ servers: url })
    const run = async x => { await new Promise(resolve => setTimeout(resolve, 8)); return x.clone() }
    await tensors(connection).serve(run, 'model', batch === 'true' ? { batch: { max: 32, wait: 2 }, maxQueued: 256 } : { maxQueued: 256 })
  },
  /** Work that takes 50 ms. */
  async sleeper (url) {
    const connection = await transport.connect({ servers: url })
    await tensors(connection).serve(async x => { await new Promise(resolve => setTimeout(resolve, 50)); return x.clone() }, 'sleep', { maxQueued: 256 })
  }
}

const [role, ...given] = process.argv.slice(2)
process.once('disconnect', () => process.exit(0))
ROLES[role](...given).then(() => process.send('ready'), error => {
  console.error(error)
  process.exit(1)
})
