'use strict'
// A transport for the client that reads large messages into memory of their own, and sends large payloads without packing. It touches what is
// private in the client, whose versions it knows: with any other the client's own transport is used.

const net = require('node:net')
const { failure } = require('../base/errors')
const { integer, optionsOf } = require('../base/validate')
const { countCopy } = require('../backend/storage')
const { onNextTurn } = require('../runtime/host')
const { Frames } = require('./frames')
const { isStable, stays } = require('./payloads')
const { peer } = require('./peers')

const KNOWN = /^3\.[0-4]\.\d+$/ // versions of @nats-io/transport-node: test/nats/clients.test.js tries them
const MOST_BYTES = 2 ** 26 // of a message, unless told
const MOST_GREETING = 2 ** 20 // bytes of the server's first line
const LARGE = 2 ** 14 // bytes: payloads that are at least as long are sent where they lie, if they stay as they are
const SETTLE_MS = 250 // that a connection which is given up has to send what is queued
const NEEDED = {
  protocol: ['prepare', 'dialLoop', 'flushPending', 'sendCommand', 'resetOutbound'],
  outbound: ['fill', 'size', 'length', 'drain', 'reset'],
  transport: [
    'connect',
    'dial',
    'peekInfo',
    'setupHandlers',
    'iterate',
    'send',
    '_send',
    '_closed',
    'disconnect',
    'discard',
    'closed',
  ],
}

/** The client's insides, if they are as known. @typedef {{ Connection: any, Protocol: any, NodeTransport: any, INFO: RegExp, deferred: () => any, useStock: () => void }} Insides */

// ---- Sending ----

/** What is to be sent next, in parts. */
class Parcel {
  /** @param {Uint8Array[]} parts @param {number} nbytes */
  constructor(parts, nbytes) {
    this.parts = parts
    this.nbytes = nbytes
  }
}

/** Takes the place of the client's buffer of what is to be sent, which packs all. */
class Outbound {
  /** @type {Uint8Array[]} */
  #parts = []
  #nbytes = 0

  /** @param {...Uint8Array} parts */
  fill(...parts) {
    for (const part of parts) {
      if (part.length === 0) continue
      this.#parts.push(part)
      this.#nbytes += part.length
    }
  }

  size() {
    return this.#nbytes
  }
  length() {
    return this.#parts.length
  }

  reset() {
    this.#parts = []
    this.#nbytes = 0
  }

  drain() {
    const parcel = new Parcel(this.#parts, this.#nbytes)
    this.reset()
    return parcel
  }
}

/** @param {Uint8Array[]} parts @returns {Uint8Array} */
const packed = (parts) => (parts.length === 1 ? parts[0] : new Uint8Array(Buffer.concat(parts)))

/**
 * Parts as they are written: large ones that stay as they are alone, all others packed.
 *
 * @param {Parcel} parcel
 * @returns {Uint8Array[]}
 */
function writes({ parts }) {
  const out = []
  /** @type {Uint8Array[]} */
  let run = []
  for (const part of parts) {
    const isOurs = part.length >= LARGE && isStable(part)
    if (!isOurs || !stays(part)) {
      if (isOurs) countCopy('nats', part.length)
      run.push(part)
      continue
    }
    if (run.length > 0) out.push(packed(run))
    out.push(part)
    run = []
  }
  if (run.length > 0) out.push(packed(run))
  return out
}

// ---- Receiving ----

/** @param {Insides} insides */
function makeTransport({ NodeTransport, INFO, deferred }) {
  return class InPlaceTransport extends NodeTransport {
    /** false: as the client's own, for TLS */
    isInPlace = true
    /** @type {Frames} */
    frames
    /** the server's first line as far as it came; null: it was read */
    greeting = /** @type {string | null} */ ('')
    /** @type {any} */
    greeted = deferred()
    /** @type {any} */
    host

    /** @param {number} maxBytes  of a message's payload */
    constructor(maxBytes) {
      super()
      this.greeted.catch(() => {})
      this.frames = new Frames((frame) => {
        this.yields.push(frame)
        this.signal.resolve()
      }, maxBytes)
    }

    /** @param {any} host @param {any} options */
    async connect(host, options) {
      this.host = host
      this.isInPlace = !options.tls
      await super.connect(host, options)
    }

    /** @param {any} host */
    dial(host) {
      if (!this.isInPlace) return super.dial(host)
      const dialled = deferred()
      const onread = { buffer: () => this.frames.target(), callback: this.took.bind(this) }
      const socket = net.connect(
        /** @type {any} */ ({ port: host.port, host: host.hostname, onread }),
        () => {
          socket.removeAllListeners()
          dialled.resolve(socket)
        },
      )
      rejectWhenClosed(dialled, socket)
      socket.setNoDelay(true)
      return dialled
    }

    /** @param {number} n  bytes that were read @returns {boolean} go on */
    took(n) {
      if (this.done || !this.isInPlace) return true
      if (this.greeting !== null) this.greet(this.frames.target().subarray(0, n))
      this.frames.took(n)
      return true
    }

    /** @param {Uint8Array} bytes */
    greet(bytes) {
      const text = this.greeting + Buffer.from(bytes).toString('latin1')
      this.greeting = text
      if (!text.includes('\r\n') && text.length < MOST_GREETING) return
      this.greeting = null
      try {
        this.greeted.resolve(
          JSON.parse(Buffer.from(/** @type {any} */ (INFO.exec(text))[1], 'latin1').toString()),
        )
      } catch {
        this.greeted.reject(new Error('unexpected response from server'))
      }
    }

    /** What the server says of itself; by TLS it is asked again over a socket of the client's own. */
    async peekInfo() {
      if (!this.isInPlace) return super.peekInfo()
      rejectWhenClosed(this.greeted, this.socket)
      const info = await this.greeted
      this.socket.removeAllListeners()
      if (!info.tls_required && !(info.tls_available && this.options.tls !== null)) return info
      this.isInPlace = false
      this.socket.destroy()
      this.yields.length = 0
      this.socket = await super.dial(this.host)
      return super.peekInfo()
    }

    setupHandlers() {
      super.setupHandlers()
      if (this.isInPlace) this.socket.removeAllListeners('data')
    }

    /** What the client's loop reads. It leaves the loop early where its parser refuses what the server sent: then the connection is made again. */
    [Symbol.asyncIterator]() {
      const pieces = super.iterate()
      const leave = async () => {
        onNextTurn(() =>
          this._closed(new Error('the server sent what the client does not understand'), false),
        ) // the client may still be about to note that it is connected
        return pieces.return()
      }
      return { next: () => pieces.next(), return: leave }
    }

    /** @param {any} frame */
    send(frame) {
      if (!(frame instanceof Parcel)) return super.send(frame)
      if (!this.isInPlace) return super.send(packed(frame.parts))
      const parts = writes(frame)
      const { socket } = this
      if (this.isClosed || socket === undefined) return
      socket.cork()
      for (const part of parts) socket.write(part, ignore)
      socket.uncork()
    }

    /** Gives the connection up. The client's own waits until all is sent, for ever where the server is frozen. */
    disconnect() {
      const { socket } = this
      const settled = new Promise((resolve) => {
        // when what is queued was sent, or after a while
        if (socket === undefined || socket.destroyed || socket.writableLength === 0) {
          return resolve(undefined)
        }
        const timer = setTimeout(resolve, SETTLE_MS)
        socket.write(new Uint8Array(0), () => {
          clearTimeout(timer)
          resolve(undefined)
        })
      })
      settled.then(() => this._closed(undefined, false)).catch(() => {})
    }
  }
}

/** Rejects a promise with the socket's error, unless its listeners are removed before. @param {any} deferred @param {net.Socket} socket */
function rejectWhenClosed(deferred, socket) {
  /** @type {unknown} */
  let reason
  socket.on('error', (error) => {
    reason = error
  })
  socket.on('close', () => deferred.reject(reason))
}

/** Errors of the socket are told by its own events. */
const ignore = () => {}

// ---- The client ----

/** @type {Insides | null | undefined} */
let known

/** @returns {Insides | null} null: the client is another than is known here */
function insides() {
  if (known !== undefined) return known
  known = null
  try {
    const client = peer('transport-node')
    const { NodeTransport, VERSION, nodeResolveHost } = peer('transport-node/lib/node_transport.js')
    const {
      NatsConnectionImpl: Connection,
      ProtocolHandler: Protocol,
      INFO,
      deferred,
      setTransportFactory,
    } = client
    const protocol = new Protocol({ servers: ['127.0.0.1'] }, {})
    const transport = new NodeTransport()
    const isKnown =
      KNOWN.test(VERSION) &&
      INFO instanceof RegExp &&
      typeof nodeResolveHost === 'function' &&
      has(protocol, NEEDED.protocol) &&
      has(protocol.outbound, NEEDED.outbound) &&
      has(transport, NEEDED.transport) &&
      Array.isArray(transport.yields) &&
      typeof transport.signal.resolve === 'function' &&
      typeof transport.closedNotification.resolve === 'function' &&
      has(new Connection({}), ['publish', 'flush'])
    const stock = { factory: () => new NodeTransport(), dnsResolveFn: nodeResolveHost }
    const useStock = () => setTransportFactory(stock)
    if (isKnown) known = { Connection, Protocol, NodeTransport, INFO, deferred, useStock }
  } catch {} // another version, whose insides are elsewhere
  return known
}

/** @param {any} it @param {string[]} names */
const has = (it, names) => names.every((name) => typeof it[name] === 'function')

/** @type {ReturnType<typeof makeTransport> | undefined} */
let InPlaceTransport

/**
 * Connects as the client's own `connect` does. Large messages are then received without copies, their payload at a multiple of 64 in memory, and large
 * payloads of a bus are sent without copies. The ArrayBuffers that these lie in are not transferred any more: Node 20 copies them instead, later ones refuse that
 * (DataCloneError); a resizable one is sent with one copy. Over TLS, and with a version of the client later than 3.4, the client's own transport does the work: nothing else changes.
 * `bus.stats()` says which one runs.
 *
 * @param {any} [options]  of the client, and maxBytes: of a message's payload; what is longer comes without it, and is no tensor then. 64 MiB unless told, which is the most
 * @returns {Promise<any>} a connection of the client's
 * @throws ERR_UNSUPPORTED the package `@nats-io/transport-node` is not installed · {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS · the client's errors; each as a rejection
 * @example
 * const busOf = async servers => tensors(await transport.connect({ servers }))
 */
async function connect(options) {
  const { maxBytes = MOST_BYTES, ...rest } = optionsOf(options)
  if (integer('maxBytes', maxBytes) < 1 || maxBytes > MOST_BYTES) {
    throw failure('ERR_BOUNDS', `maxBytes is ${maxBytes}; 1 to ${MOST_BYTES} were expected`)
  }
  const client = peer('transport-node')
  const parts = insides()
  if (parts === null || client.hasWsProtocol(rest)) return client.connect(rest)
  const Transport = (InPlaceTransport ??= makeTransport(parts))
  parts.useStock() // the client's global choice of a transport is as its own `connect` leaves it
  const connection = new parts.Connection(rest)
  const protocol = new parts.Protocol(connection.options, connection)
  const { prepare } = protocol
  protocol.outbound = new Outbound()
  protocol.prepare = function () {
    // also when the connection is made again
    const pong = prepare.call(protocol)
    const transport = /** @type {any} */ (new Transport(maxBytes))
    transport.closedNotification = protocol.transport.closedNotification // which the protocol waits for
    protocol.transport = transport
    return pong
  }
  await protocol.dialLoop()
  connection.protocol = protocol
  return connection
}

/**
 * Does a connection read large messages in place now? Not over TLS, nor one that the client's own `connect` made.
 *
 * @param {any} connection
 * @returns {boolean}
 * @throws nothing
 * @example
 * const isFast = connection => transport.isInPlace(connection)
 */
const isInPlace = (connection) => connection?.protocol?.transport?.isInPlace === true

/**
 * Which transport a connection has now, and of which client.
 *
 * @param {any} connection
 * @returns {import('./bus').BusStats} a copy
 */
function statsOf(connection) {
  const version = connection.protocol?.transport?.version
  const clientVersion = typeof version === 'string' ? version : undefined
  return { transport: isInPlace(connection) ? 'in-place' : 'client', clientVersion }
}

/**
 * Gives the memory of a message back to the transport that made it, for further ones: nobody reads the message any more. Of others nothing happens.
 *
 * @param {any} connection
 * @param {Uint8Array} data  of the message
 */
const giveBack = (connection, data) => connection.protocol?.transport?.frames?.reuse(data.buffer)

module.exports = { connect, isInPlace, statsOf, giveBack, Outbound, writes }
