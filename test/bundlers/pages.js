'use strict'

// Pages in Chromium, served as a web server would: with or without isolation, under a Content-Security-Policy.

const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { setTimeout: after } = require('node:timers/promises')
const { isTrouble, launch, printed } = require('../browser/launch')

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' }
const ISOLATION = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
}
const PAGE_LIMIT_MS = 600_000

/**
 * Serves a folder; where it has no index.html, a page that loads `entry`.
 *
 * @returns {Promise<{ url: string, modules: string[], close: () => void }>} modules: the .wasm files asked for
 */
async function serve(folder, { isolated, policy, entry = 'main.js' }) {
  const headers = {
    ...(isolated ? ISOLATION : {}),
    ...(policy ? { 'Content-Security-Policy': policy } : {}),
  }
  const modules = []
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost')
    const file = path.join(folder, pathname === '/' ? 'index.html' : path.normalize(pathname))
    const type = TYPES[path.extname(file)] ?? 'text/plain'
    if (type === 'application/wasm') modules.push(path.basename(file))
    if (fs.existsSync(file)) {
      response.writeHead(200, { ...headers, 'Content-Type': type }).end(fs.readFileSync(file))
    } else if (pathname === '/') {
      response
        .writeHead(200, { ...headers, 'Content-Type': type })
        .end(`<script type="module" src="${entry}"></script>`)
    } else response.writeHead(pathname === '/favicon.ico' ? 204 : 404).end()
  })
  server.listen(0, 'localhost')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://localhost:${server.address().port}/`, modules, close }
}

/** What a page leaves in window.result; throws what went wrong in it. */
async function resultOf(browser, url) {
  return inPage(browser, url, async (page) => {
    await page.waitForFunction('window.result', { timeout: PAGE_LIMIT_MS })
    return page.evaluate('window.result')
  })
}

/** The first line that a page prints. */
async function lineOf(browser, url) {
  return inPage(browser, url, async (page, lines) => {
    const deadline = Date.now() + PAGE_LIMIT_MS
    while (lines.length === 0) {
      if (Date.now() > deadline) throw new Error('the page printed nothing')
      await after(20)
    }
    return lines[0]
  })
}

/** What `use` finds in a page, with the lines that it prints and its errors and warnings; throws what went wrong in it. */
async function inPage(browser, url, use) {
  const page = await browser.newPage()
  page.setDefaultTimeout(PAGE_LIMIT_MS)
  const [lines, troubles] = [[], []]
  let failed
  const failure = new Promise((resolve, reject) => {
    failed = reject
  })
  page.on('console', (message) => {
    if (message.type() === 'log') lines.push(printed(message))
    if (isTrouble(message)) troubles.push(message.text())
  })
  page.on('pageerror', failed)
  try {
    await page.goto(url)
    return await Promise.race([use(page, lines, troubles), failure])
  } finally {
    await page.close()
  }
}

module.exports = { launch, serve, inPage, resultOf, lineOf }
