'use strict'
// nginx, the real one, for tests: on a port of its own of the loopback interface, in a folder of its own, stopped by its process id.
//
//   const server = await startNginx({ config: 'location /whole/ { max_ranges 0; }' })
//   fs.writeFileSync(path.join(server.root, 'a.npy'), …); `${server.url}/a.npy`; server.requests(); await server.stop()

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: wait } = require('node:timers/promises')
const { freePort } = require('../nats/server')
const { find } = require('../tools')

const ATTEMPTS = 5 // ports that were free may be taken a moment later
const STEP_MS = 20
const STEPS = 3000 // a minute, to end hangs
const NGINX = find('nginx')

/** @type {Set<Nginx>} */
const running = new Set()
process.on('exit', () => {
  for (const server of running) server.child?.kill('SIGKILL')
})

/** @param {number} port @returns {Promise<boolean>} does somebody listen there? */
function answers(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

class Nginx {
  /** @param {number} port @param {{ config: string, tls?: { cert: string, key: string } }} options */
  constructor(port, { config, tls }) {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-nginx-'))
    this.root = path.join(this.folder, 'root')
    this.log = path.join(this.folder, 'access.log')
    this.url = `${tls ? 'https://localhost' : 'http://127.0.0.1'}:${port}`
    this.port = port
    fs.mkdirSync(this.root)
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${this.folder}/${name};`)
      .join('\n')
    if (tls) {
      for (const name of ['cert', 'key']) fs.writeFileSync(path.join(this.folder, name), tls[name])
    }
    const secured = tls
      ? `ssl_certificate ${this.folder}/cert; ssl_certificate_key ${this.folder}/key;`
      : ''
    fs.writeFileSync(
      path.join(this.folder, 'nginx.conf'),
      `
      daemon off; master_process off; pid ${this.folder}/pid; error_log ${this.folder}/error.log;
      events {}
      http {
        ${places}
        log_format tested '$request_method $uri $status $http_range $body_bytes_sent';
        access_log ${this.log} tested;
        sendfile on; default_type application/octet-stream;
        server { listen 127.0.0.1:${port}${tls ? ' ssl' : ''}; root ${this.root}; ${secured}
          location /whole/ { alias ${this.root}/; max_ranges 0; }
          location /untold/ { alias ${this.root}/; sub_filter_types *; sub_filter 'there is no such text' ''; }
          location /refusing/ { alias ${this.root}/; if ($http_range ~ '^bytes=(0-524287|-524288)$') { return 416; } }
          ${config}
        }
      }`,
    )
  }

  async start() {
    const child = (this.child = spawn(
      NGINX,
      ['-p', this.folder, '-c', path.join(this.folder, 'nginx.conf')],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    ))
    this.ended = new Promise((resolve) => child.once('exit', resolve))
    this.output = ''
    running.add(this)
    child.stderr.on('data', (data) => {
      this.output += data
    })
    for (let i = 0; i < STEPS; i++) {
      if (child.exitCode !== null) throw new Error(`nginx ended: ${this.output}`)
      if (await answers(this.port)) return
      await wait(STEP_MS)
    }
    throw new Error(`nginx does not answer: ${this.output}`)
  }

  /** @param {string} name @param {Uint8Array} bytes */
  write(name, bytes) {
    const file = path.join(this.root, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, bytes)
    return `${this.url}/${name}`
  }

  /** What was asked for since the last call: { method, uri, status, range, sent } each, once `count` are there. */
  async requests(count = 0) {
    for (let i = 0; i < STEPS; i++) {
      const lines = fs
        .readFileSync(this.log, 'latin1')
        .split('\n')
        .filter((line) => line !== '')
      if (lines.length >= count) {
        fs.truncateSync(this.log, 0)
        return lines.map((line) => {
          const [method, uri, status, range, sent] = line.split(' ')
          return { method, uri, status: Number(status), range, sent: Number(sent) }
        })
      }
      await wait(STEP_MS)
    }
    throw new Error(`nginx was asked less than ${count} times`)
  }

  async stop() {
    this.child?.kill('SIGKILL')
    await this.ended
    running.delete(this)
    fs.rmSync(this.folder, { recursive: true, force: true })
  }
}

/**
 * @param {{ config?: string, tls?: { cert: string, key: string } }} [options]  config: further lines of its server
 * @returns {Promise<Nginx>}
 */
async function startNginx({ config = '', tls } = {}) {
  for (let i = 1; ; i++) {
    const server = new Nginx(await freePort(), { config, tls })
    try {
      await server.start()
      return server
    } catch (error) {
      await server.stop()
      if (i === ATTEMPTS || !/Address already in use/.test(error.message)) throw error
    }
  }
}

module.exports = { hasNginx: NGINX !== null, startNginx }
