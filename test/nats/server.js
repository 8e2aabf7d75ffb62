'use strict'
// nats-server, the real one, for tests: on ports of its own of the loopback interface, in a folder of its own, stopped by its process id.
//
//   const server = await startServer({ jetstream: true, config: 'max_payload: 8MB' })
//   const cluster = await startCluster(3, { config: '…' })
//   server.url; server.kill('SIGSTOP'); await server.restart(); await server.stop()

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: wait } = require('node:timers/promises')
const { find } = require('../tools')

const ATTEMPTS = 5 // ports that were free may be taken a moment later
const STEP_MS = 20
const STEPS = 3000 // a minute, to end hangs

/** @type {Set<Server>} */
const running = new Set()
process.on('exit', () => {
  for (const server of running) server.end()
})

/** @returns {Promise<number>} a port that nobody listened on a moment ago */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {net.AddressInfo} */ (server.address())
      server.close(() => resolve(port))
    })
  })
}

/** @param {number} port @returns {Promise<boolean>} does somebody greet there as NATS does? */
function answers(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    const done = (is) => {
      socket.destroy()
      resolve(is)
    }
    socket.once('data', (data) => done(data.toString('latin1').startsWith('INFO')))
    socket.once('error', () => done(false))
    socket.once('close', () => resolve(false))
  })
}

class Server {
  /** @param {number} port @param {string} folder @param {string} config */
  constructor(port, folder, config) {
    this.port = port
    this.folder = folder
    this.url = `127.0.0.1:${port}`
    this.config = path.join(folder, `server-${port}.conf`)
    fs.writeFileSync(this.config, config)
    /** @type {import('node:child_process').ChildProcess | null} */
    this.child = null
    this.output = ''
  }

  get pid() {
    return this.child?.pid
  }

  /** Starts it, or starts it again after kill('SIGKILL'); resolves when it answers. */
  async restart() {
    const child = spawn(find('nats-server') ?? 'nats-server', ['-c', this.config], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.child = child
    this.ended = new Promise((resolve) => child.once('exit', resolve))
    running.add(this)
    child.stderr.on('data', (data) => {
      this.output += data
    })
    for (let i = 0; i < STEPS; i++) {
      if (child.exitCode !== null) throw new Error(`nats-server ended: ${this.output}`)
      if (await answers(this.port)) return
      await wait(STEP_MS)
    }
    throw new Error(`nats-server does not answer: ${this.output}`)
  }

  /** @param {NodeJS.Signals} signal */
  kill(signal) {
    this.child?.kill(signal)
  }

  /** Without waiting: for the exit of this process. */
  end() {
    this.child?.kill('SIGCONT')
    this.child?.kill('SIGKILL')
  }

  async stop() {
    this.end()
    await this.ended
    running.delete(this)
    fs.rmSync(this.folder, { recursive: true, force: true })
  }
}

const newFolder = () => fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-nats-'))
const jetstreamIn = (folder) =>
  `jetstream { store_dir: "${folder}/js", max_file_store: 2GB, max_memory_store: 256MB }`

/** @param {() => Promise<any>} start  tried again where a port was taken meanwhile */
async function attempted(start) {
  for (let i = 1; ; i++) {
    try {
      return await start()
    } catch (error) {
      if (i === ATTEMPTS || !/address already in use/.test(error.message)) throw error
    }
  }
}

/**
 * @param {{ jetstream?: boolean, config?: string }} [options]  config: further lines of its configuration file
 * @returns {Promise<Server>}
 */
const startServer = ({ jetstream = false, config = '' } = {}) =>
  attempted(async () => {
    const port = await freePort()
    const folder = newFolder()
    const server = new Server(
      port,
      folder,
      [`listen: 127.0.0.1:${port}`, jetstream ? jetstreamIn(folder) : '', config].join('\n'),
    )
    await server.restart()
    return server
  })

/**
 * @param {number} count  of nodes
 * @param {{ jetstream?: boolean, config?: string }} [options]
 * @returns {Promise<{ nodes: Server[], urls: string[], stop (): Promise<void> }>}
 */
const startCluster = (count, { jetstream = false, config = '' } = {}) =>
  attempted(async () => {
    const ports = await Promise.all(Array.from({ length: 2 * count }, freePort))
    const routes = ports
      .slice(count)
      .map((port) => `nats://127.0.0.1:${port}`)
      .join(', ')
    const nodes = ports.slice(0, count).map((port, i) => {
      const folder = newFolder()
      return new Server(
        port,
        folder,
        [
          `server_name: n${i}`,
          `listen: 127.0.0.1:${port}`,
          jetstream ? jetstreamIn(folder) : '',
          `cluster { name: c, listen: 127.0.0.1:${ports[count + i]}, routes: [${routes}] }`,
          config,
        ].join('\n'),
      )
    })
    const stop = async () => {
      await Promise.all(nodes.map((node) => node.stop()))
    }
    try {
      await Promise.all(nodes.map((node) => node.restart()))
    } catch (error) {
      for (const node of nodes) node.end()
      throw error
    }
    return { nodes, urls: nodes.map((node) => node.url), stop }
  })

module.exports = { startServer, startCluster, freePort }
