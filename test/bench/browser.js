'use strict'
// Headless Chromium beside Node, on the very same module: kernels, views, how long init takes.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { gzipSync } = require('node:zlib')
const { FILES } = require('../../scripts/sizes.js')
const { ROOT, median } = require('./measure')

const CHROMIUM = process.env.CHROMIUM || '/usr/bin/chromium'
const DIST = path.join(ROOT, 'dist')
const WORK = fs
  .readFileSync(path.join(__dirname, 'browser', 'work.js'), 'utf8')
  .replace(/^[^]*module\.exports = /, '')
const KERNELS = [
  'contiguous copy, 16 MiB',
  'transpose 4096 × 1024, float32',
  'float32 → float16',
  'NHWC → NCHW, uint8 → float32',
  'fill, 16 MiB',
  '1000 casts of 16 elements',
]

const rows = [
  ...KERNELS.map((what) => ({
    what: `${what}, in Chromium`,
    unit: 'ms',
    limit: { ratio: 1.11 }, // 0.9 of the speed
    measure: async () => inMs((await times())?.chromium[what]),
    yardstick: {
      what: 'the same module in Node',
      measure: async () => inMs((await times())?.node[what]),
    },
  })),
  {
    what: 'a view (T), in Chromium',
    unit: 'ns',
    limit: { value: 200 },
    measure: async () => (await times())?.chromium['a view (T)'],
  },
  {
    what: 'data, again, in Chromium',
    unit: 'ns',
    limit: { value: 25 },
    measure: async () => (await times())?.chromium['data, again'],
  },
  {
    what: 'init() in Chromium, local server',
    unit: 'ms',
    limit: { value: 30 },
    measure: async () => (await times())?.init,
  },
  ...['samebytes.wasm', 'samebytes-shared.wasm'].flatMap((file) => [
    {
      what: file,
      unit: 'KB',
      limit: { value: FILES[file].bytes / 1000 },
      measure: () => sizeOf(file, (bytes) => bytes),
    },
    {
      what: `${file}, gzip`,
      unit: 'KB',
      limit: { value: FILES[file].gzip / 1000 },
      measure: () => sizeOf(file, gzipSync),
    },
  ]),
]

const inMs = (ns) => (ns === undefined ? undefined : ns / 1e6)

function sizeOf(file, pack) {
  const full = path.join(DIST, file)
  return fs.existsSync(full) ? pack(fs.readFileSync(full), { level: 9 }).length / 1000 : undefined
}

const LOADS = 5

let measured
/** Both in turn; undefined without a browser or the bundle. */
function times() {
  measured ??= measureAll()
  return measured
}

async function measureAll() {
  if (!fs.existsSync(CHROMIUM) || !fs.existsSync(path.join(DIST, 'samebytes.mjs'))) return undefined
  const { launch } = require('../browser/launch')
  const server = http.createServer(serve).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const browser = await launch()
  try {
    const all = []
    for (let i = 0; i < LOADS; i++) {
      all.push({
        node: inNode(),
        ...(await inPage(browser, `http://127.0.0.1:${server.address().port}/`)),
      })
    }
    // Where a process' pages lie decides as much as the engine, differently each time: the luckiest one of each side.
    const least = (side) =>
      Object.fromEntries(
        Object.keys(all[0][side]).map((name) => [
          name,
          Math.min(...all.map((each) => each[side][name])),
        ]),
      )
    return {
      node: least('node'),
      chromium: least('chromium'),
      init: median(all.map(({ init }) => init)),
    }
  } finally {
    await browser.close()
    server.close()
  }
}

/** The page, and what is in dist. Isolated pages have a finer clock. */
function serve({ url }, response) {
  const name = path.basename(url)
  const file = path.join(DIST, name)
  const isThere = /^samebytes[-.\w]*\.(mjs|wasm)$/.test(name) && fs.existsSync(file)
  response.writeHead(name === '' || isThere ? 200 : 404, {
    'Content-Type': name.endsWith('.mjs')
      ? 'text/javascript'
      : name.endsWith('.wasm')
        ? 'application/wasm'
        : 'text/html',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
  })
  response.end(isThere ? fs.readFileSync(file) : '<!doctype html><title>bench</title>')
}

function inNode() {
  const source = `console.log(JSON.stringify((${WORK})(require('samebytes'), 9)))`
  return JSON.parse(
    execFileSync(process.execPath, ['-e', source], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, SAMEBYTES_BACKEND: 'wasm' },
    }),
  )
}

async function inPage(browser, address) {
  const page = await browser.newPage()
  await page.goto(address)
  const result = await page.evaluate(async (work) => {
    const sb = await import('/samebytes.mjs')
    const start = performance.now()
    await sb.init()
    const init = performance.now() - start
    return { init, chromium: (0, eval)(`(${work})`)(sb, 9) } // eslint-disable-line no-eval
  }, WORK)
  await page.close()
  return result
}

module.exports = { title: 'In the browser', rows }
