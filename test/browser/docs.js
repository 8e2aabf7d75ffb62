'use strict'
// The code blocks of README.md and docs/ that need a page, in a browser: with isolation and without.
//
//   node test/browser/docs.js [--browser firefox]

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { BROWSER_OPTION, launch, printed: printedBy } = require('./launch')
const { answerWeights, putWeights } = require('./weights')
const { ROOT, blocksOf, missing, pages, programs } = require('../docs/blocks')

const LIMIT = 600_000 // ms, for what should take seconds
const TYPES = { '.mjs': 'text/javascript; charset=utf-8', '.wasm': 'application/wasm' }
const ISOLATION = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
}

const IMPORT_MAP =
  '<script type="importmap">{ "imports": { "samebytes": "/dist/samebytes.mjs", "samebytes/math": "/dist/samebytes-math.mjs", "samebytes/module": "/dist/samebytes-module.mjs", "samebytes/inspect": "/dist/samebytes-inspect.mjs" } }</script>'

const list = pages().flatMap((page) =>
  programs(blocksOf(page).filter((block) => block.browser)).map((program) => ({
    ...program,
    body: bodyOf(program.source),
  })),
)

/** A block of JavaScript is a page's module; one of HTML has its own. */
function bodyOf(source) {
  const page = source.startsWith('<')
    ? source
    : `<body><script type="module">${source}</script></body>`
  return page.replace(/<\/script>(?![^]*<\/script>)/, '\nglobalThis.finished = true</script>')
}

/** A model for the pages: eight matrices. */
function putModel() {
  const { arange, toSafetensorsBytes } = require(ROOT)
  const layer = arange(4096).reshape(64, 64).astype('bfloat16')
  putWeights(
    'model.safetensors',
    toSafetensorsBytes(
      Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`layer.${i}.weight`, layer])),
    ),
  )
}

/** Serves dist/, a model and a page for each program, by its number. */
async function serve(headers) {
  const server = http.createServer((request, response) => {
    const file = /^(?:\/node_modules\/samebytes)?\/dist\/([\w-]+\.(?:mjs|wasm))$/.exec(request.url)
    const number = /^\/(\d+)$/.exec(request.url)
    const place = file && path.join(ROOT, 'dist', file[1])
    if (request.url.startsWith('/weights/')) answerWeights(request, response, headers)
    else if (request.url === '/service-worker.js') {
      response
        .writeHead(200, { 'Content-Type': 'text/javascript', ...headers })
        .end(fs.readFileSync(path.join(__dirname, 'service-worker.js')))
    } else if (place && fs.existsSync(place)) {
      response
        .writeHead(200, { 'Content-Type': TYPES[path.extname(place)], ...headers })
        .end(fs.readFileSync(place))
    } else if (number && list[number[1]]) {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', ...headers })
        .end(`<!doctype html><link rel="icon" href="data:,">
        ${list[number[1]].body.includes('"importmap"') ? '' : IMPORT_MAP}
        <script>addEventListener('unhandledrejection', event => { globalThis.failure = String(event.reason) }); addEventListener('error', event => { globalThis.failure = event.message })</script>
        ${list[number[1]].body}`)
    } else response.writeHead(404).end()
  })
  await new Promise((resolve, reject) =>
    server.once('error', reject).listen(0, 'localhost', resolve),
  )
  return {
    url: `http://localhost:${server.address().port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  }
}

/** The page shows the file, without the comment that it begins with. */
function checkServiceWorker() {
  const shown = blocksOf('docs/wasm-in-a-page.md').find(({ reason }) =>
    reason?.includes('service-worker.js'),
  ).code
  assert.equal(
    fs
      .readFileSync(path.join(__dirname, 'service-worker.js'), 'utf8')
      .replace(/^(\/[/*].*\n)+/, ''),
    shown,
  )
}

async function main() {
  putModel()
  checkServiceWorker()
  const total = { passed: 0, failed: 0 }
  const { values } = parseArgs({ options: BROWSER_OPTION })
  const browser = await launch(values.browser)
  try {
    for (const [kind, headers] of [
      ['isolated', ISOLATION],
      ['not isolated', {}],
    ]) {
      const server = await serve(headers)
      for (const [i, { page: file, line, printed }] of list.entries()) {
        const page = await browser.newPage()
        const output = []
        page.on('console', (message) => output.push(printedBy(message)))
        try {
          await page.goto(`${server.url}/${i}`)
          await page.waitForFunction(() => globalThis.finished || globalThis.failure, {
            timeout: LIMIT,
          })
          assert.equal(await page.evaluate(() => globalThis.failure), undefined)
          const text = (await Promise.all(output)).join('\n')
          if (kind === 'isolated') {
            assert.equal(missing(printed, text), null, `this was not printed; what was:\n${text}`)
          }
          total.passed++
          console.log(`ok - ${file}:${line}, ${kind}`)
        } catch (error) {
          total.failed++
          console.log(
            `not ok - ${file}:${line}, ${kind}\n${String(error.stack).replace(/^/gm, '    ')}`,
          )
        } finally {
          await page.close()
        }
      }
      await server.close()
    }
  } finally {
    await browser.close()
  }
  console.log(`${total.passed} passed, ${total.failed} failed`)
  process.exitCode = total.failed === 0 && total.passed >= 8 ? 0 : 1
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
