'use strict'
// A request of 64 MiB to another process of this host, beside an empty request and two copies of as many bytes, and beside bytes through the server.
//
//   node test/bench/nats/host.js [MiB]

const { fork } = require('node:child_process')
const path = require('node:path')
const { connect } = require('@nats-io/transport-node')
const { TensorBus, tensors } = require('samebytes/nats')
const { full, memory, zeros } = require('samebytes')
const host = require('../../../js/nats/host')
const { startServer } = require('../../nats/server')

const MIB = Number(process.argv[2] ?? 64)
const ROUNDS = 15
const median = (times) => times.sort((a, b) => a - b)[times.length >> 1]

async function timed(run) {
  const from = performance.now()
  await run()
  return performance.now() - from
}

async function main() {
  const server = await startServer({ config: 'max_payload: 64MB' })
  const child = fork(path.join(__dirname, '..', '..', 'nats', 'host-peer.js'), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ask = (name, value) =>
    new Promise((resolve, reject) => {
      child.once('message', ({ result, error }) =>
        error === undefined ? resolve(result) : reject(new Error(error)),
      )
      child.send({ id: 0, name, value })
    })
  await ask('connect', server.url)
  await ask('serve', ['first', 'first'])
  await ask('serve', ['same', 'same'])
  await ask('serve', ['one', 'one'])
  const connection = await connect({ servers: server.url })
  const bus = tensors(connection, { maxBytes: 2 ** 30 })
  const x = full([MIB * 2 ** 18], 1)
  const out = zeros([MIB * 2 ** 18])
  const few = full([16], 1)
  const record = { image: x.narrow(0, 0, x.size / 2), mask: x.narrow(0, x.size / 2, x.size / 2) }
  const options = { deadline: 60_000 }
  const byBytes = (subject) => host.stateOf(TensorBus.coreOf(bus)).away.set(subject, Infinity)
  const byHost = (subject) => host.stateOf(TensorBus.coreOf(bus)).away.delete(subject)
  const rows = {
    'an empty request': () => bus.request('first', few, options),
    'a copy (memcpy)': () => out.copyFrom(x),
    'a request, the reply a few bytes': () => bus.request('first', x, options),
    'a request of a record, the reply a few bytes': () => bus.request('one', record, options),
    'a request and a reply as large, into out': () => bus.request('same', x, { ...options, out }),
    'the same, a new tensor': async () => (await bus.request('same', x, options)).dispose(),
  }
  if (x.nbytes < 2 ** 26) {
    rows['bytes through the server, the reply a few bytes'] = async () => {
      byBytes('first')
      await bus.request('first', x, options).finally(() => byHost('first'))
    }
    rows['a record through the server, the reply a few bytes'] = async () => {
      byBytes('one')
      await bus.request('one', record, options).finally(() => byHost('one'))
    }
  }
  const times = Object.fromEntries(Object.keys(rows).map((name) => [name, []]))
  for (let i = -3; i < ROUNDS; i++) {
    for (const [name, run] of Object.entries(rows)) {
      const ms = await timed(run)
      if (i >= 0) times[name].push(ms)
    }
  }
  const medians = Object.fromEntries(
    Object.entries(times).map(([name, all]) => [name, median(all)]),
  )
  for (const [name, ms] of Object.entries(medians)) {
    console.log(`${ms.toFixed(2).padStart(9)} ms  ${name}`)
  }
  const yardstick = medians['an empty request'] + 2 * medians['a copy (memcpy)']
  console.log(
    `${yardstick.toFixed(2).padStart(9)} ms  an empty request + 2 copies of ${MIB} MiB; the request takes ${(medians['a request, the reply a few bytes'] / yardstick).toFixed(2)} of that`,
  )
  console.log('copies here:', JSON.stringify(memory().copied))
  child.kill()
  await connection.close()
  await server.stop()
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
