'use strict'
// Serves the page and the files that it needs, by name.
//
//   node examples/camera-filter/serve.js [--port 8080]     any free port unless told

const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.wasm': 'application/wasm',
}
const DIST = path.join(__dirname, '..', '..', 'dist')

const FILES = new Map([
  ['/', path.join(__dirname, 'index.html')],
  ...['page.mjs', 'filters.mjs'].map((name) => [`/${name}`, path.join(__dirname, name)]),
  ['/edges.wasm', path.join(__dirname, 'build', 'edges.wasm')],
  ...['samebytes.mjs', 'samebytes.wasm', 'samebytes-shared.wasm'].map((name) => [
    `/dist/${name}`,
    path.join(DIST, name),
  ]),
])

/** @returns {Promise<{ url: string, close(): Promise<void> }>} */
async function serve(port = 0) {
  const server = http.createServer(async (request, response) => {
    const file = FILES.get(request.url.split('?')[0])
    try {
      if (file === undefined) throw new Error('not found')
      const bytes = await fs.promises.readFile(file)
      response
        .writeHead(200, { 'Content-Type': TYPES[path.extname(file)], 'Cache-Control': 'no-cache' })
        .end(bytes)
    } catch (error) {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end(`${error.message}\n`)
    }
  })
  await new Promise((resolve, reject) =>
    server.once('error', reject).listen(port, 'localhost', resolve),
  )
  return {
    url: `http://localhost:${server.address().port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  }
}

async function main() {
  const { values } = require('node:util').parseArgs({
    options: { port: { type: 'string', default: '0' } },
  })
  const { url } = await serve(Number(values.port))
  console.log(`  ${url}`)
}

if (require.main === module) {
  main().catch((error) => {
    console.error(error.message)
    process.exitCode = 1
  })
}

module.exports = { serve }
