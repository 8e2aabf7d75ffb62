'use strict'
// Another process of this host, for host.test.js: serves, requests, borrows and lends as its parent tells it.

const { connect } = require('@nats-io/transport-node')
const { tensors } = require('samebytes/nats')
const { full, memory } = require('samebytes')
const { add } = require('samebytes/math')
const host = require('../../js/nats/host')

const held = []
let bus

const commands = {
  async connect(url) {
    bus = tensors(await connect({ servers: url, ignoreClusterUpdates: true }), {
      maxBytes: 2 ** 28,
    })
  },
  async serve([subject, kind, options]) {
    await bus.serve(FUNCTIONS[kind], subject, options)
  },
  borrow(fields) {
    const t = host.accept(new Map(fields), { maxBytes: 2 ** 28 })
    if (t !== null) held.push(t)
    return t !== null
  },
  read(at) {
    return held[0].get(at)
  },
  put([fields, shape, value]) {
    return host.put(new Map(fields), full(shape, value))
  },
  request([subject, shape, value]) {
    bus.request(subject, full(shape, value), { deadline: 30_000 }).catch(() => {})
  },
  copied() {
    return memory().copied.host ?? { count: 0, bytes: 0 }
  },
}

const FUNCTIONS = {
  add: (x) => add(x, 1),
  same: (x) => x,
  one: ({ image }) => image.narrow(0, 0, 1).clone(),
  first: (x) => x.narrow(0, 0, 1).clone(),
  die: () => {
    process.kill(process.pid, 'SIGKILL')
  },
  never: () => new Promise(() => {}),
}

process.on('message', async ({ id, name, value }) => {
  try {
    process.send({ id, result: await commands[name](value) })
  } catch (error) {
    process.send({ id, error: String(error) })
  }
})
