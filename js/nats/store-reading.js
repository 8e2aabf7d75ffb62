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

class Reading {
  /**
   * @param {StoreParts} store
   * @param {Waits} waits
   * @param {{ filter: string, after?: number, isLastOnly?: boolean, isHeadersOnly?: boolean, take: Take }} options  after: the sequence behind which it begins; isLastOnly: of each
   * subject; isHeadersOnly: without data
   */
  constructor(store, waits, options) {
    this.store = store
    this.waits = waits
    this.options = options
    /** of the last message in the stream */
    this.seq = options.after ?? 0
    /** when the server made the consumer, milliseconds by its clock */
    this.created = 0
    /** messages of this consumer */
    this.count = 0
    this.isEnded = false
    /** something is missing: another consumer is needed */
    this.isBroken = false
    this.isIdle = false
    /** @type {{ error: any } | null} */
    this.failed = null
  }

  /** Resolves when the server has no more. @throws what take throws · ERR_DISCONNECTED · ERR_NOT_FOUND the store is gone · the signal's reason */
  async run() {
    for (let attempts = 0; !this.isEnded; attempts++) {
      await this.waits.connected()
      if (attempts > 1) await this.waits.wait(PAUSE_MS)
      await this.attempt()
    }
  }

  /** Makes a consumer. @param {string} inbox @returns {Promise<string>} its name; '': not now */
  async begin(inbox) {
    const { waits } = this
    const { jsm, stream } = this.store
    const { filter, isLastOnly, isHeadersOnly = false } = this.options
    const start = isLastOnly
      ? { deliver_policy: 'last_per_subject' }
      : { deliver_policy: 'by_start_sequence', opt_start_seq: this.seq + 1 }
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
      this.created = Date.parse(made.created)
      if (made.num_pending + made.delivered.consumer_seq === 0) this.isEnded = true
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

  async attempt() {
    const { core, jsm, stream } = this.store
    const { connection } = core
    this.count = 0
    this.isBroken = false
    const inbox = peer('transport-node').createInbox(jsm.getOptions().watcherPrefix)
    const subscription = connection.subscribe(inbox, { callback: this.receive.bind(this) })
    let name = ''
    try {
      name = await this.begin(inbox)
      if (name !== '') await this.follow(name)
    } finally {
      if (!connection.isClosed()) {
        subscription.unsubscribe()
        if (name !== '') jsm.consumers.delete(stream, name).catch(() => {})
      }
    }
  }

  /** Until all is there, or the consumer is of no use any more. @param {string} name */
  async follow(name) {
    const { waits } = this
    let before = -1
    while (!this.isEnded && !this.isBroken && !waits.isLost) {
      const woken = await waits.wait(QUIET_MS)
      if (this.failed !== null) throw this.failed.error
      if (!woken && this.count === before) return
      before = this.count
      if (this.isIdle) await this.checkIdle(name)
    }
    if (this.failed !== null) throw this.failed.error
  }

  /** The consumer has nothing to send: is there nothing more? @param {string} name */
  async checkIdle(name) {
    this.isIdle = false
    const { count, waits } = this
    const { jsm, stream } = this.store
    try {
      const { num_pending: pending, delivered } = await waits.orAborted(
        jsm.consumers.info(stream, name),
      )
      if (count !== this.count) return
      if (delivered.consumer_seq !== count) this.isBroken = true
      else if (pending === 0) this.isEnded = true
    } catch {
      waits.check()
      this.isBroken = true
    }
  }

  /** @param {any} error @param {any} message */
  receive(error, message) {
    if (this.isEnded || this.isBroken || this.failed !== null) return
    try {
      if (error !== null && error !== undefined) throw error
      const delivery = deliveryOf(message.reply ?? '')
      if (delivery === null) this.status(message)
      else this.accept(message, delivery)
    } catch (thrown) {
      this.failed = { error: thrown }
    }
    if (this.isEnded || this.isBroken || this.isIdle || this.failed !== null) this.waits.wake()
  }

  /** @param {any} message @param {Delivery} delivery */
  accept(message, { seq, count, pending, time }) {
    this.isBroken = count !== this.count + 1
    if (this.isBroken) return
    this.count = count
    this.isIdle = false
    if (this.options.isLastOnly || seq > this.seq) {
      this.seq = seq
      this.waits.progress()
      this.options.take(message.data, seq, { subject: message.subject, time })
    }
    giveBack(this.store.core.connection, message.data)
    this.isEnded = pending === 0
  }

  /** The consumer asks to be told that all before was taken, or says that it has nothing. @param {any} message */
  status(message) {
    const { connection } = this.store.core
    if (typeof message.reply === 'string' && message.reply.startsWith('$JS.FC.')) {
      return connection.publish(message.reply)
    }
    if (message.data.length > 0 || message.size() > LONGEST_STATUS) return
    const stalled = message.headers?.get('Nats-Consumer-Stalled')
    if (stalled) connection.publish(stalled)
    else this.isIdle = true
  }
}

module.exports = { Reading }
