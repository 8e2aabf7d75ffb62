'use strict'
// What pages need, on 127.0.0.1: the tests, the package, the repository's files to read, files at URLs, and Python for the oracles.
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { AS_SEEN, ROOT } = require('./bundle')
const { answerWeights } = require('./weights')

const ISOLATED = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
}
const TYPES = {
  '.html': 'text/html',
  '.mjs': 'text/javascript',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
}
const PYTHONS = [process.env.PYTHON, '/usr/bin/python3', 'python3'].filter(Boolean)
const IMPORT = /^import (numpy|torch)(; print\(torch\.__version__\))?$/ // may be asked for without a script
const SCRATCH = '/scratch/' // temporary files, in pages

/**
 * @param {object} options
 * @param {boolean} options.isolated  pages are cross-origin isolated
 * @param {Record<string, string | Buffer | Function>} options.pages  by path; a function answers by itself
 * @returns {Promise<{ url: string, close: () => void }>}
 */
async function serve({ isolated, pages }) {
  const server = http.createServer((request, response) => {
    answer(request, response).catch((error) => response.destroy(error))
  })

  async function answer(request, response) {
    const place = decodeURIComponent(new URL(request.url, 'http://x').pathname)
    const headers = {
      'Content-Type': TYPES[path.extname(place)] ?? 'text/html',
      'Cache-Control': 'no-store',
      ...(isolated && ISOLATED),
    }
    const send = (status, body) => {
      response.writeHead(status, headers).end(body)
    }
    const page = pages[place]
    if (typeof page === 'function') return page(request, response, headers)
    if (page !== undefined) return send(200, page)
    if (request.method === 'POST' && place === '/python') {
      return send(...(await answerOf(await textOf(request))))
    }
    if (place.startsWith('/weights/')) return answerWeights(request, response, headers)
    if (request.method !== 'GET') return send(405, 'only GET')
    send(...read(place))
  }

  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  function close() {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${server.address().port}`, close }
}

/** [status, body] of a file, or of a folder's names. */
function read(place) {
  const [, root, ...rest] = place.split('/')
  const base = {
    dist: 'dist',
    second: 'dist',
    files: rest[0] === AS_SEEN.slice(1) ? '.' : undefined,
  }[root]
  if (base === undefined || rest.includes('..')) return [404, 'not there']
  const file = path.join(ROOT, base, ...rest.slice(root === 'files' ? 1 : 0))
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) return [404, 'not there']
  return [200, stat.isDirectory() ? JSON.stringify(fs.readdirSync(file)) : fs.readFileSync(file)]
}

async function textOf(request) {
  const parts = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}

/** what was asked, and the answer: each run asks the same @type {Map<string, Promise<[number, string]>>} */
const answers = new Map()

function answerOf(text) {
  const known = answers.get(text) ?? python(text)
  answers.set(text, known)
  return known
}

/** Runs a script of test/python: [status, JSON of { status, stdout, stderr, files }]. */
async function python(text) {
  const {
    command,
    args: [first, ...more],
    input,
    files,
  } = JSON.parse(text)
  const script = new RegExp(`^${AS_SEEN}/test/python/(\\w+\\.py)$`).exec(first)?.[1]
  const isAllowed = script ? true : first === '-c' && more.length === 1 && IMPORT.test(more[0])
  if (!PYTHONS.includes(command) || !isAllowed) {
    return [403, `${command} ${first} is not run for pages`]
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-page-'))
  try {
    const here = (name) =>
      name.startsWith(SCRATCH) ? path.join(folder, path.basename(name)) : name
    const inside = Object.keys(files).map(path.posix.dirname)
    for (const name of inside) fs.mkdirSync(here(name), { recursive: true })
    const at = (name) => path.join(here(path.posix.dirname(name)), path.posix.basename(name))
    for (const [name, data] of Object.entries(files)) fs.writeFileSync(at(name), data, 'base64')
    const first = script ? [path.join(ROOT, 'test', 'python', script)] : ['-c']
    const result = await finished(command, [...first, ...more.map(here)], input)
    const found = inside.flatMap((name) =>
      fs.readdirSync(here(name)).map((file) => `${name}/${file}`),
    )
    const written = found
      .filter((name) => !(name in files))
      .map((name) => [name, fs.readFileSync(at(name), 'base64')])
    return [200, JSON.stringify({ ...result, files: Object.fromEntries(written) })]
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

function finished(command, args, input) {
  return new Promise((resolve) => {
    const run = spawn(command, args, { env: { ...process.env, LD_PRELOAD: '' } })
    const texts = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr']) {
      run[name].setEncoding('utf8').on('data', (text) => {
        texts[name] += text
      })
    }
    run.once('error', (error) => resolve({ status: null, stdout: '', stderr: error.message }))
    run.once('close', (status) => resolve({ status, ...texts }))
    run.stdin.on('error', () => {}).end(input)
  })
}

module.exports = { serve }
