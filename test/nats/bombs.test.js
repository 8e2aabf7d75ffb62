'use strict'
// Messages that are made to cost much: how many steps JavaScript takes until each is refused, which V8 counts.

const assert = require('node:assert/strict')
const inspector = require('node:inspector/promises')
const { tensors } = require('samebytes/nats')
const { needs } = require('../setup')
const { startServer } = require('./server')
const { TRANSPORTS, RawClient, withConnections } = require('./wire')

const MIB = 2 ** 20
const MOST_STEPS = 20000 // calls and runs of blocks, for a bomb and a good message behind it: hundreds for each read of a socket
const GOOD = 'Tensor-Dtype: float32\r\nTensor-Shape: 2'
const lines = (n, line) => Array.from({ length: n }, (_, i) => line(i)).join('\r\n')
const blockOf = (text) => Buffer.from(`NATS/1.0\r\n${text}\r\n\r\n`)

const BOMBS = {
  'with 40,000 headers': [lines(40000, (i) => `H${i}: x`), 8, 'ERR_TOO_LARGE'],
  'with 40,000 headers of one name': [lines(40000, () => 'H: x'), 8, 'ERR_TOO_LARGE'],
  'with a header of 1 MiB': [`H: ${'x'.repeat(MIB)}`, 8, 'ERR_TOO_LARGE'],
  'with as many axes as its headers hold': [
    `Tensor-Dtype: uint8\r\nTensor-Shape: ${'1,'.repeat(8000)}1`,
    1,
    'ERR_FORMAT',
  ],
  'over the limit': ['Tensor-Dtype: uint8\r\nTensor-Shape: 1048577', MIB + 1, 'ERR_TOO_LARGE'],
}

/** Steps of JavaScript while something is done. */
async function stepsOf(run) {
  const session = new inspector.Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
    await session.post('Profiler.takePreciseCoverage') // what was counted until now
    await run()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    await session.post('Profiler.stopPreciseCoverage')
    return result
      .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
      .reduce((sum, { count }) => sum + count, 0)
  } finally {
    session.disconnect()
  }
}

describe('NATS: messages that are made to cost much', () => {
  needs('nats-server')
  let server
  before(async () => {
    server = await startServer({ config: 'max_payload: 4MB' })
  })
  after(() => server?.stop())

  for (const [name, connect] of Object.entries(TRANSPORTS)) {
    it(`are refused in few steps by ${name}, and the connection goes on`, () =>
      withConnections(server, [connect], async (connection) => {
        const raw = await RawClient.connect(server)
        try {
          const errors = []
          const received = tensors(connection, { maxBytes: MIB }).subscribe('bomb', {
            onError: ({ code }) => errors.push(code),
          })
          await connection.flush()
          for (const [what, [headers, n, code]] of Object.entries(BOMBS)) {
            const [bomb, good] = [blockOf(headers), blockOf(GOOD)]
            for (const isCounted of [false, true]) {
              const send = async () => {
                raw.publish('bomb', bomb, new Uint8Array(n))
                raw.publish('bomb', good, new Uint8Array(8))
                assert.deepEqual((await received.next()).value.tensor.toArray(), [0, 0])
              }
              const steps = isCounted ? await stepsOf(send) : await send()
              assert.deepEqual(errors.splice(0), [code], what)
              if (isCounted) assert.ok(steps <= MOST_STEPS, `${steps} steps for a message ${what}`)
            }
          }
          await received.return()
        } finally {
          raw.close()
        }
      }))
  }
})
