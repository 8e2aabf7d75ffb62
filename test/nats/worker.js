'use strict'
// A replica in a process of its own: doubles tensors, or, with 'hang', never answers. Started by tests with fork, with the servers' addresses, a subject and options of
// serve as JSON.

const { connect } = require('@nats-io/transport-node')
const { tensors } = require('samebytes/nats')
const { multiply } = require('samebytes/math')

async function main () {
  const [servers, subject, options, mode] = process.argv.slice(2)
  const connection = await connect({ servers: servers.split(','), noRandomize: true, timeout: 500, waitOnFirstConnect: true, reconnectTimeWait: 50, maxReconnectAttempts: -1, pingInterval: 500, maxPingOut: 2 })
  const service = await tensors(connection).serve(mode === 'hang' ? hang : x => multiply(x, 2), subject, JSON.parse(options))
  process.on('message', async what => {
    if (what === 'stats') process.send(service.stats())
  })
  process.send('ready')
}

function hang () {
  process.send('runs')
  return new Promise(() => {})
}

process.once('disconnect', () => process.exit(0)) // the test has ended, however
main().catch(error => {
  console.error(error)
  process.exit(1)
})
