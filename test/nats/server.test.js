'use strict'
const assert = require('node:assert/strict')
const { connect } = require('@nats-io/transport-node')
const { tensors } = require('samebytes/nats')
const { startServer } = require('./server')

describe('NATS: a bus', () => {
  it('is made of a connection', async () => {
    const server = await startServer()
    const connection = await connect({ servers: server.url })
    try {
      assert.equal(Object.prototype.toString.call(tensors(connection)), '[object Object]')
    } finally {
      await connection.close()
      await server.stop()
    }
  })
})
