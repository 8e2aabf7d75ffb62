'use strict'
// The least that a client of NATS can do: a socket, lines that are looked for by hand, payloads read into memory that is there already and used again,
// or into new memory each, as for who keeps them.

const net = require('node:net')
const { once } = require('node:events')

const MOST = 2 ** 26 + 2 // bytes of a payload and its end of line

class BareClient {
  /** @param {string} url  HOST:PORT @param {() => void} onMessage  a payload has come @param {boolean} keeps  each into new memory */
  static async connect(url, onMessage = () => {}, keeps = false) {
    const [host, port] = url.split(':')
    const client = new BareClient(onMessage, keeps)
    client.socket = net.connect({
      host,
      port: Number(port),
      onread: { buffer: () => client.target(), callback: (n) => client.took(n) },
    })
    client.socket.setNoDelay(true)
    await once(client.socket, 'connect')
    client.socket.write('CONNECT {"verbose":false,"headers":true}\r\n')
    await client.flush()
    return client
  }

  constructor(onMessage, keeps) {
    this.onMessage = onMessage
    this.keeps = keeps
    this.lines = Buffer.alloc(2 ** 16)
    this.body = Buffer.alloc(MOST)
    this.line = ''
    this.left = 0 // bytes of the payload that are still to come
    this.got = 0
    this.waiting = []
  }

  target() {
    return this.left > 0 ? this.body.subarray(this.got, this.got + this.left) : this.lines
  }

  took(n) {
    if (this.left > 0) this.#payload(n)
    else for (let at = 0; at < n;) at = this.#next(at, n)
    return true
  }

  /** Reads on in `lines`. @returns {number} where */
  #next(at, n) {
    if (this.left > 0) {
      const some = Math.min(this.left, n - at)
      this.lines.copy(this.body, this.got, at, at + some)
      this.#payload(some)
      return at + some
    }
    const end = this.lines.subarray(0, n).indexOf(10, at)
    this.line += this.lines.latin1Slice(at, end === -1 ? n : end + 1)
    if (end === -1) return n
    if (this.line.startsWith('MSG')) {
      this.left = Number(this.line.slice(this.line.lastIndexOf(' '))) + 2
      this.got = 0
      if (this.keeps) this.body = Buffer.allocUnsafeSlow(this.left)
    } else if (this.line.startsWith('PONG')) {
      this.waiting.shift()()
    } else if (this.line.startsWith('PING')) {
      this.socket.write('PONG\r\n')
    }
    this.line = ''
    return end + 1
  }

  #payload(n) {
    this.got += n
    this.left -= n
    if (this.left === 0) this.onMessage()
  }

  /** Waits until the server has taken all. */
  flush() {
    this.socket.write('PING\r\n')
    return new Promise((resolve) => this.waiting.push(resolve))
  }

  subscribe(subject) {
    this.socket.write(`SUB ${subject} 1\r\n`)
    return this.flush()
  }

  /** @param {string} subject @param {Uint8Array} bytes @param {number} [headers]  bytes of it that are a header block */
  publish(subject, bytes, headers) {
    this.socket.cork()
    this.socket.write(
      headers === undefined
        ? `PUB ${subject} ${bytes.length}\r\n`
        : `HPUB ${subject} ${headers} ${bytes.length}\r\n`,
    )
    this.socket.write(bytes)
    this.socket.write('\r\n')
    const done = this.flush()
    this.socket.uncork()
    return done
  }

  close() {
    this.socket.destroy()
  }
}

module.exports = { BareClient }
