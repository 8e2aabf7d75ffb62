'use strict'
// The live page's server, which only this machine reaches, and what `npx samebytes map` runs.

const http = require('node:http')
const path = require('node:path')
const fs = require('node:fs')
const { spawn } = require('node:child_process')
const { randomBytes, timingSafeEqual } = require('node:crypto')
const Module = require('node:module')
const { pathToFileURL } = require('node:url')
const { instance } = require('../model/internals')
const { takeMap, trace } = require('./map')
const { ask, withOthers } = require('./threads')
const { pageOf, policyOf, newNonce } = require('./page')
const { mapText } = require('./text')

/**
 * @typedef {object} MapServer
 * @property {string} url  for a browser; who has it sees the map
 * @property {number} port
 * @property {() => Promise<void>} close  ends the server and what is connected to it
 */

/** @typedef {MapServer & { end: (text: string) => Promise<void>, hold: () => void }} Server end: sends pages the last map and why no other follows; hold: keeps the process alive */

const HOST = '127.0.0.1'
const PERIOD = 300 // ms between two maps while a page is open, at least
const PAUSE = 10 // times as long as the last map took the program runs until the next

/** Of every answer: it is not cached, framed or read by other pages. */
const HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

/**
 * @param {{ port: number, limit: number }} options
 * @returns {Promise<Server>}
 */
async function serve({ port: wanted, limit }) {
  trace()
  const secret = randomBytes(24).toString('base64url')
  /** @type {Set<http.ServerResponse>} */
  const pages = new Set()
  /** @type {NodeJS.Timeout | null} */
  let timer = null
  let last = ''
  let port = 0

  const take = () => withOthers(takeMap(limit))
  /** @param {http.ServerResponse} response @param {string} event @param {string} data */
  const send = (response, event, data) => {
    if (response.writableLength < 2 ** 24) response.write(`event: ${event}\ndata: ${data}\n\n`) // a page that does not read gets no more
  }
  const look = () => {
    ask(limit)
    const now = JSON.stringify(take())
    if (now === last) return
    last = now
    for (const response of pages) send(response, 'map', now)
  }
  const follow = () => {
    const from = performance.now()
    look()
    const wait = Math.max(PERIOD, (performance.now() - from) * PAUSE)
    timer = pages.size === 0 ? null : setTimeout(follow, wait).unref()
  }

  /** @param {http.ServerResponse} response */
  const join = (response) => {
    response.writeHead(200, { ...HEADERS, 'Content-Type': 'text/event-stream; charset=utf-8' })
    pages.add(response)
    response.on('close', () => {
      pages.delete(response)
      if (pages.size > 0 || timer === null) return
      clearTimeout(timer)
      timer = null
    })
    last = JSON.stringify(take())
    send(response, 'map', last)
    timer ??= setTimeout(follow, PERIOD).unref()
  }

  const server = http.createServer((request, response) => {
    const { headers, method, url = '' } = request
    const [, given = '', rest = ''] = /^\/([\w-]+)\/(events)?$/.exec(url) ?? []
    const isOurs = headers.host === `${HOST}:${port}` // no other name: DNS rebinding makes another site's name lead here
    const isSecret =
      given.length === secret.length && timingSafeEqual(Buffer.from(given), Buffer.from(secret)) // in constant time
    if (!isOurs || !isSecret) {
      response.writeHead(404, { ...HEADERS, 'Content-Type': 'text/plain' }).end('not found\n')
    } else if (method !== 'GET') {
      response.writeHead(405, { ...HEADERS, Allow: 'GET' }).end()
    } else if (rest === 'events') {
      join(response)
    } else {
      const nonce = newNonce()
      const page = pageOf(take(), { events: 'events', nonce })
      const policy = `${policyOf(nonce, true)}; frame-ancestors 'none'`
      const type = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy }
      response.writeHead(200, { ...HEADERS, ...type }).end(page)
    }
  })
  server.on('connection', (socket) => socket.unref())
  await new Promise((resolve, reject) => {
    server.once('error', (/** @type {any} */ { message, errno }) => {
      const error = instance().failure('ERR_IO', `the map could not be served: ${message}`)
      reject(Object.assign(error, { errno }))
    })
    server.listen(wanted, HOST, () => resolve(undefined))
  })
  server.unref()
  port = /** @type {import('node:net').AddressInfo} */ (server.address()).port
  /** @returns {Promise<void>} */
  const close = () =>
    new Promise((resolve) => {
      if (timer !== null) clearTimeout(timer)
      timer = null
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    url: `http://${HOST}:${port}/${secret}/`,
    port,
    close,
    hold: () => server.ref(),
    end: async (text) => {
      look()
      for (const response of pages) send(response, 'end', JSON.stringify(text))
    },
  }
}

/** @param {string} url @returns {void} a browser that cannot be started is no failure: the URL is printed */
function openBrowser(url) {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '""', url]
        : ['xdg-open', url]
  const opener = spawn(command, args, { stdio: 'ignore', detached: true })
  opener.on('error', () => {})
  opener.unref()
}

/**
 * Runs a program with its map: live on a page, or written when the program is done.
 *
 * @param {string} script  its path
 * @param {readonly string[]} args  for it, as process.argv has them
 * @param {object} [options]
 * @param {number} [options.port]  0: any that is free
 * @param {boolean} [options.open]  starts a browser
 * @param {string} [options.snapshot]  a file to write when the program has nothing more to do, or ends: .html, .json, else text; no server then
 * @param {(line: string) => void} [options.print]  where the page is; to stderr
 * @returns {Promise<void>} before the program begins, in the next turn; what it throws is uncaught, as ever
 * @throws ERR_IO the port
 */
async function run(script, args, options = {}) {
  const { port = 0, open = false, snapshot } = options
  const { print = (line) => process.stderr.write(`${line}\n`) } = options
  const file = path.resolve(script)
  process.argv = [process.argv[0], file, ...args]
  process.env.SAMEBYTES_TRACE ??= `map:${process.pid}` // its workers load this as well
  trace()
  if (snapshot !== undefined) {
    const target = path.resolve(snapshot)
    process.once('exit', () => {
      const map = takeMap(1000)
      const extension = path.extname(target).toLowerCase()
      const isPage = extension === '.html' || extension === '.htm'
      const json = () => JSON.stringify(map, null, 2) + '\n'
      writeAnew(target, isPage ? pageOf(map) : extension === '.json' ? json() : mapText(map))
      print(`The memory map: ${target}`)
    })
  } else {
    const { url, end, hold } = await serve({ port, limit: 1000 })
    print(`The memory map: ${url}`)
    if (open) openBrowser(url)
    process.once('beforeExit', () => {
      hold()
      end('the program has nothing more to do').catch(() => {})
      print('The program has nothing more to do. The map stays until Ctrl-C.')
    })
  }
  setImmediate(() => {
    // the program is the main one, as if Node had been given it, and so are its failures
    const { runMain } = /** @type {any} */ (Module)
    if (typeof runMain === 'function') runMain(file)
    else import(pathToFileURL(file).href)
  })
}

/** Writes a new file in the place of one that others may read or have mapped. @param {string} target @param {string} text */
function writeAnew(target, text) {
  const there = fs.statSync(target, { throwIfNoEntry: false })
  if (there !== undefined && !there.isFile()) return fs.writeFileSync(target, text) // a terminal, a pipe
  const file = there === undefined ? target : fs.realpathSync(target)
  const temporary = `${file}.${process.pid}`
  fs.rmSync(temporary, { force: true })
  fs.writeFileSync(temporary, text, { flag: 'wx', mode: there?.mode })
  fs.renameSync(temporary, file)
}

module.exports = { serve, run }
