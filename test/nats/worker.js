'use strict'
// A replica in a process of its own: doubles tensors. Started by tests with fork, with the servers' addresses and a subject.

const { connect } = require('@nats-io/transport-node')
const { tensors } = require('samebytes/nats')
const { multiply } = require('samebytes/math')

async function main() {
  const [servers, subject] = process.argv.slice(2)
  const connection = await connect({
    servers: servers.split(','),
    noRandomize: true,
    timeout: 500,
    waitOnFirstConnect: true,
    reconnectTimeWait: 50,
    maxReconnectAttempts: -1,
    pingInterval: 500,
    maxPingOut: 2,
  })
  await tensors(connection).serve((x) => multiply(x, 2), subject)
  process.send('ready')
}

process.once('disconnect', () => process.exit(0)) // the test has ended, however
main().catch((error) => {
  console.error(error)
  process.exit(1)
})
