'use strict'
// What the tests of messages share: connections by both transports, a client that is only a socket, random tensors.

const net = require('node:net')
const { once } = require('node:events')
const { connect } = require('@nats-io/transport-node')
const { Tensor, tensor, fromBytes, arange } = require('samebytes')
const { transport } = require('samebytes/nats')

const TRANSPORTS = {
  "the client's transport": connect,
  'the transport in place': transport.connect,
}

const DTYPES = [
  'bool',
  'uint8',
  'int8',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'float16',
  'bfloat16',
  'float32',
  'float64',
  'complex64',
  'complex128',
  'float8_e4m3fn',
  'float8_e5m2',
]
const ITEMSIZES = {
  bool: 1,
  uint8: 1,
  int8: 1,
  int16: 2,
  uint16: 2,
  int32: 4,
  uint32: 4,
  int64: 8,
  uint64: 8,
  float16: 2,
  bfloat16: 2,
  float32: 4,
  float64: 8,
  complex64: 8,
  complex128: 16,
  float8_e4m3fn: 1,
  float8_e5m2: 1,
}

/** Runs fn with connections to a server, which are closed afterwards. */
async function withConnections(server, connects, fn) {
  const connections = []
  try {
    for (const each of connects) {
      connections.push(
        await each({ servers: server.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 }),
      )
    }
    return await fn(...connections)
  } finally {
    for (const connection of connections) await connection.close()
  }
}

/** A client that writes what it likes. */
class RawClient {
  static async connect(server, { user, pass } = {}) {
    const socket = net.connect(server.port, '127.0.0.1')
    socket.setNoDelay(true)
    const client = new RawClient(socket)
    await once(socket, 'connect')
    socket.write(
      `CONNECT ${JSON.stringify({ verbose: false, headers: true, protocol: 1, no_responders: true, user, pass })}\r\n`,
    )
    await client.flush()
    return client
  }

  constructor(socket) {
    this.socket = socket
    this.text = ''
    this.wakes = new Set()
    socket.on('data', (data) => {
      this.text += data.toString('latin1')
      for (const wake of this.wakes) wake()
    })
    socket.on('error', () => {})
  }

  /** Waits until the server has taken all. */
  async flush() {
    const before = this.text.split('PONG\r\n').length
    this.socket.write('PING\r\n')
    while (this.text.split('PONG\r\n').length === before) {
      await new Promise((resolve) => {
        const wake = () => {
          this.wakes.delete(wake)
          resolve()
        }
        this.wakes.add(wake)
      })
    }
  }

  /** @param {string} subject @param {string | Buffer} headers  the whole block, or its fields in lines @param {Uint8Array} data */
  publish(subject, headers, data) {
    const block = Buffer.isBuffer(headers)
      ? headers
      : Buffer.from(
          `NATS/1.0\r\n${headers
            .split('\n')
            .filter((line) => line !== '')
            .map((line) => line + '\r\n')
            .join('')}\r\n`,
          'latin1',
        )
    this.socket.write(
      Buffer.concat([
        Buffer.from(`HPUB ${subject} ${block.length} ${block.length + data.length}\r\n`),
        block,
        data,
        Buffer.from('\r\n'),
      ]),
    )
  }

  close() {
    this.socket.destroy()
  }
}

/** Numbers from 0 to 1 that are the same in each run. */
function randomOf(seed) {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** A tensor of random bytes, in one of several layouts. */
function randomTensor(random, dtype) {
  const ndim = Math.floor(random() * 5)
  const shape = Array.from({ length: ndim }, () => Math.floor(random() * 6))
  const n = shape.reduce((a, b) => a * b, 1) * ITEMSIZES[dtype]
  const bytes = Uint8Array.from({ length: n }, () =>
    Math.floor(random() * (dtype === 'bool' ? 2 : 256)),
  )
  const t = fromBytes(bytes, shape, { dtype })
  return ndim > 1 && random() < 0.5 ? t.permute(shape.map((_, d) => ndim - 1 - d)) : t
}

/** The bytes of a tensor in row-major order. */
function bytesOf(t) {
  const dense = t.contiguous()
  const { data } = dense
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
}

module.exports = {
  TRANSPORTS,
  DTYPES,
  RawClient,
  withConnections,
  randomOf,
  randomTensor,
  bytesOf,
  Tensor,
  tensor,
  arange,
}
