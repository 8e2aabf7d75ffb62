'use strict'
// Reads the stored messages of some subjects in their order, each once, whatever happens to the connection: a consumer that is made
// anew behind the last message where one is missing, or nothing comes.

const { peer } = require('./peers')
const { giveBack } = require('./transport')
const { isPassing, storeError } = require('./store-meta')

/** @typedef {import('./store-meta').StoreParts} StoreParts */
/** @typedef {import('./store-waits').Waits} Waits */
/** What a message's delivery says of it. time: when it was stored, milliseconds. @typedef {{ seq: number, count: number, pending: number, time: number }} Delivery */
/** @typedef {(data: Uint8Array, seq: number, about: { subject: string, time: number }) => void} Take keeps nothing of the data; what it throws ends the reading */

const HEARTBEAT_MS = 1000 // a consumer without messages says so after this time
const QUIET_MS = 3000 // a consumer that says nothing for so long is gone
const PAUSE_MS = 100
const INACTIVE_MS = 30000 // after which the server forgets a consumer that nobody listens to
const NANOS = 1000000
const LONGEST_STATUS = 2048 // bytes of a message that tells of the consumer itself

/** @param {string} reply  subject of a delivered message @returns {Delivery | null} */
function deliveryOf(reply) {
  const parts = reply.split('.')
  if (parts[0] !== '$JS' || parts[1] !== 'ACK' || parts.length < 9) return null
  const [seq, count, nanos, pending] = parts.slice(parts.length === 9 ? 5 : 7).map(Number)
  return { seq, count, time: Math.floor(nanos / NANOS), pending }
}

/**
 * Resolves when the server has no more.
 *
 * @param {StoreParts} store
 * @param {Waits} waits
 * @param {{ filter: string, after?: number, isLastOnly?: boolean, isHeadersOnly?: boolean, take: Take }} options  after: the sequence behind which it begins; isLastOnly: of each
 * subject; isHeadersOnly: without data
 * @returns {Promise<number>} when the server made the consumer, milliseconds by its clock
 * @throws what take throws · ERR_DISCONNECTED · ERR_NOT_FOUND the store is gone · the signal's reason
 */
async function readMessages(store, waits, options) {
  const { filter, after = 0, isLastOnly = false, isHeadersOnly = false, take } = options
  const { core, jsm, stream } = store
  const { connection } = core
  let seq = after // of the last message in the stream
  let created = 0
  let count = 0 // messages of this consumer
  /** isBroken: something is missing, another consumer is needed @type {{ isEnded: boolean, isBroken: boolean, isIdle: boolean, failed: { error: any } | null }} */
  const state = { isEnded: false, isBroken: false, isIdle: false, failed: null }

  /** Makes a consumer. @param {string} inbox @returns {Promise<string>} its name; '': not now */
  const begin = async (inbox) => {
    const start = isLastOnly
      ? { deliver_policy: 'last_per_subject' }
      : { deliver_policy: 'by_start_sequence', opt_start_seq: seq + 1 }
    const adding = jsm.consumers.add(stream, {
      ...start,
      headers_only: isHeadersOnly,
      deliver_subject: inbox,
      filter_subject: filter,
      ack_policy: 'none',
      flow_control: true,
      idle_heartbeat: HEARTBEAT_MS * NANOS,
      inactive_threshold: INACTIVE_MS * NANOS,
      mem_storage: true,
      num_replicas: 1,
    })
    try {
      const made = await waits.orAborted(adding)
      created = Date.parse(made.created)
      if (made.num_pending + made.delivered.consumer_seq === 0) state.isEnded = true
      return made.name
    } catch (error) {
      adding
        .then((/** @type {any} */ made) => jsm.consumers.delete(stream, made.name))
        .catch(() => {}) // it may come later
      waits.check()
      if (!isPassing(error)) throw storeError(error, filter)
      return ''
    }
  }

  /** Until all is there, or the consumer is of no use any more. @param {string} name */
  const follow = async (name) => {
    let before = -1
    while (!state.isEnded && !state.isBroken && !waits.isLost) {
      const woken = await waits.wait(QUIET_MS)
      if (state.failed !== null) throw state.failed.error
      if (!woken && count === before) return
      before = count
      if (state.isIdle) await checkIdle(name)
    }
    if (state.failed !== null) throw state.failed.error
  }

  /** The consumer has nothing to send: is there nothing more? @param {string} name */
  const checkIdle = async (name) => {
    state.isIdle = false
    const before = count
    try {
      const { num_pending: pending, delivered } = await waits.orAborted(
        jsm.consumers.info(stream, name),
      )
      if (count !== before) return
      if (delivered.consumer_seq !== count) state.isBroken = true
      else if (pending === 0) state.isEnded = true
    } catch {
      waits.check()
      state.isBroken = true
    }
  }

  /** @param {any} error @param {any} message */
  const receive = (error, message) => {
    if (state.isEnded || state.isBroken || state.failed !== null) return
    try {
      if (error) throw error
      const delivery = deliveryOf(message.reply ?? '')
      if (delivery === null) heed(message)
      else accept(message, delivery)
    } catch (thrown) {
      state.failed = { error: thrown }
    }
    if (state.isEnded || state.isBroken || state.isIdle || state.failed !== null) waits.wake()
  }

  /** @param {any} message @param {Delivery} delivery */
  const accept = ({ subject, data }, delivery) => {
    state.isBroken = delivery.count !== count + 1
    if (state.isBroken) return
    count++
    state.isIdle = false
    if (isLastOnly || delivery.seq > seq) {
      seq = delivery.seq
      waits.progress()
      take(data, seq, { subject, time: delivery.time })
    }
    giveBack(connection, data)
    state.isEnded = delivery.pending === 0
  }

  /** The consumer asks to be told that all before was taken, or says that it has nothing. @param {any} message */
  const heed = (message) => {
    if (typeof message.reply === 'string' && message.reply.startsWith('$JS.FC.')) {
      return connection.publish(message.reply)
    }
    if (message.data.length > 0 || message.size() > LONGEST_STATUS) return
    const stalled = message.headers?.get('Nats-Consumer-Stalled')
    if (stalled) connection.publish(stalled)
    else state.isIdle = true
  }

  for (let attempts = 0; !state.isEnded; attempts++) {
    await waits.connected()
    if (attempts > 1) await waits.wait(PAUSE_MS)
    count = 0
    state.isBroken = false
    const inbox = peer('transport-node').createInbox(jsm.getOptions().watcherPrefix)
    const subscription = connection.subscribe(inbox, { callback: receive })
    let name = ''
    try {
      name = await begin(inbox)
      if (name !== '') await follow(name)
    } finally {
      if (!connection.isClosed()) {
        subscription.unsubscribe()
        if (name !== '') jsm.consumers.delete(stream, name).catch(() => {})
      }
    }
  }
  return created
}

module.exports = { readMessages }
