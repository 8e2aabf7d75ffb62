'use strict'
// A worker of index.js: how bright frames are, up to eight at once. Every one that is started with the same subject shares the work.

const { connect } = require('@nats-io/transport-node')
const { tensors } = require('samebytes/nats')
const math = require('samebytes/math')

/** @param {import('samebytes').Tensor} frames  uint8 [n, height, width, 3] @returns {import('samebytes').Tensor} float32 [n] */
const brightness = (frames) => math.mean(frames, { axis: [1, 2, 3] })

async function main() {
  const connection = await connect({
    servers: process.argv[2].split(','),
    reconnectTimeWait: 50,
    maxReconnectAttempts: -1,
    pingInterval: 500,
  })
  const service = await tensors(connection).serve(brightness, 'models.brightness', {
    batch: { max: 8, wait: 2 },
  })
  process.once('SIGTERM', async () => {
    await service.drain()
    await connection.close()
  })
  process.send?.('ready')
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
