'use strict'

// The memory map in a headless browser: live beside a program, as a file, and as an element of a page over WebAssembly.
//
//   node test/browser/memory-map.js [words of a test's title] [--browser firefox]
//   node test/browser/memory-map.js --screenshot       makes docs/memory-map.png
//
// The last line is `N passed, N failed`.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { spawn } = require('node:child_process')
const { pathToFileURL } = require('node:url')
const { parseArgs } = require('node:util')
const { BROWSER_OPTION, isTrouble, launch, textOf, textsOf } = require('./launch')
const { fewColours } = require('./png')

const ROOT = path.join(__dirname, '..', '..')
const LIMIT = 600_000 // ms, for what should take seconds

/** A program in a Node of its own, and the URL that it prints. */
async function program(args) {
  const running = spawn(process.execPath, args, { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => running.once('exit', resolve))
  let said = ''
  const url = await new Promise((resolve, reject) => {
    running.stdout.on('data', (data) => {
      said += data
      const found = /(http:\S+)\n/.exec(said)
      if (found) resolve(found[1])
    })
    running.once('exit', () => reject(new Error(`the program ended: ${said}`)))
  })
  return {
    url,
    tell: (line) => running.stdin.write(`${line}\n`),
    stop: (signal) => {
      running.kill(signal)
      return ended
    },
  }
}

const example = (...args) => program([path.join('examples', 'memory-map', 'index.js'), ...args])

/** A program that does what it is told, line by line. */
const OBEDIENT = `
  const { serveMap } = require('./js/inspect')
  const s = require('./js/index')
  const held = {}
  require('node:readline').createInterface({ input: process.stdin }).on('line', line => { eval(line) })
  serveMap().then(({ url, close }) => { held.close = close; console.log(url) })
`

const obedient = () => program(['-e', OBEDIENT])

/** What a page of its own loads: the bundles and their modules. */
const DIST = Object.fromEntries(
  fs
    .readdirSync(path.join(ROOT, 'dist'))
    .filter((name) => /\.(?:mjs|wasm)$/.test(name))
    .map((name) => [`/${name}`, path.join(ROOT, 'dist', name)]),
)

/**
 * A server of a page over WebAssembly.
 *
 * @param {string} html
 * @param {Record<string, string>} [scripts]  by path
 */
async function serve(html, scripts = {}) {
  const server = http.createServer((request, response) => {
    const file = DIST[request.url]
    if (request.url === '/') response.writeHead(200, { 'Content-Type': 'text/html' }).end(html)
    else if (Object.hasOwn(scripts, request.url)) {
      response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(scripts[request.url])
    } else if (file === undefined) response.writeHead(404).end()
    else {
      response
        .writeHead(200, {
          'Content-Type': file.endsWith('wasm') ? 'application/wasm' : 'text/javascript',
        })
        .end(fs.readFileSync(file))
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Each line makes one tensor; `a` and `square` are there, and `early` has what was taken before init. [function, the line] */
const CALLS = [
  ['tensor', 's.tensor([1, 2])'],
  ['zeros', 's.zeros([3])'],
  ['rand', 's.rand([3])'],
  ['onesLike', 's.onesLike(a)'],
  ['fromBlob', 's.fromBlob(new Uint8Array(9))'],
  ['arange', 's.arange(7)'],
  ['stack', 's.stack([a, a])'],
  ['full', 'early.full([5], 1)'],
  ['eye', 'early.eye(5)'],
  ['slice', "a.slice('1:')"],
  ['T', 'square.T'],
  ['clone', 'a.clone()'],
  ['iterator', '[...square.narrow(0, 0, 1)][0]'],
  ['add', 'm.add(a, 1)'],
  ['multiply', 'm.multiply(a, 2)'],
  ['exp', 's.tidy(() => m.exp(a))'],
  ['subtract', 'early.subtract(a, 1)'],
  ['sum', 'm.sum(a)'],
  ['var', 'm.var(a)'],
  ['softmax', 'm.softmax(a)'],
  ['normalize', 'm.normalize(a)'],
  ['median', 'm.median(a)'],
  ['sort', 'm.sort(a)'],
  ['pad', 'm.pad(a, [[1, 1]])'],
  ['fft', 'm.fft(a)'],
  ['hann', 'm.hann(4)'],
  ['matmul', 'm.matmul(square, square)'],
  ['cov', 'm.cov(square)'],
  ['nansum', 'm.nansum(a)'],
  ['det', 'm.linalg.det(square)'],
  ['addAsync', 'await m.addAsync(a, 1)'],
  ['varAsync', 'await m.varAsync(a)'],
  ['invAsync', 'await m.linalg.invAsync(square)'],
  ['padAsync', 'await m.padAsync(a, [[1, 1]])'],
]

/** A program whose place has all signs that stacks have. */
const PROGRAM = '/app@1.0.0/a(1)/main.mjs'
const PROGRAM_TEXT = `import * as s from '/samebytes.mjs'
import * as m from '/samebytes-math.mjs'
import { memoryMap, trace } from '/samebytes-inspect.mjs'
const early = { full: s.full, eye: s.eye, subtract: m.subtract }
await s.init()
await m.init()
const [a, square] = [s.tensor([1, 2, 3, 4], 'float32'), s.tensor([[2, 1], [1, 3]], 'float32')]
trace()
const told = []
const held = []
async function tell (fn) {
  held.push(await fn())
  const { regions } = memoryMap()
  told.push(regions.flatMap(({ tensors }) => tensors).map(({ site }) => site))
}
${CALLS.map(([, text]) => `await tell(async () => ${text})`).join('\n')}
globalThis.told = told
`

const wait = (page, fn) => page.waitForFunction(fn, { timeout: LIMIT })

const tests = {
  async 'shows a program: its bytes, its views, and who else has them'({ open }) {
    const running = await example('2')
    try {
      const { page } = await open(running.url)
      await wait(
        page,
        () =>
          /in 6 copies/.test(document.querySelector('[data-number=copied]').textContent) &&
          document.querySelector('.thread'),
      )
      const heads = await textsOf(page, '.region h2')
      assert.match(heads[0], /^2\.3 MiBnativethreads: worker 1examples\/memory-map\/index\.js:\d+$/)
      assert.match(heads[1], /^900 KiByoursyour Buffer/)
      assert.match(heads[2], /^435 KiBmapped file.*weights\.safetensors \(private\)/)
      assert.ok(
        heads.some((head) => /^16 KiBshared memoryshared memory scores-\d+/.test(head)),
        heads.join('\n'),
      )
      const rows = await textsOf(page, '.region:first-child .stripe')
      assert.deepEqual(
        rows.map((row) => row.replace(/index\.js:\d+/, '')),
        [
          'float32 [4, 3, 224, 224]empty ',
          'float32 [4, 3, 224, 224]worker 1fromShared ',
          'float32 [2, 3, 224, 224]worker 1slice ',
          'float32 [2, 3][150528, 50176]worker 1slice ',
        ],
      )
      assert.deepEqual(
        new Set(await textsOf(page, '.legend li')),
        new Set(['float32', 'uint8', 'float16', 'bfloat16', 'int16', 'int32', 'float64']),
      )
      assert.match(
        (await textsOf(page, '.copy'))[0],
        /^copyFrom4\.6 MiB in 4index\.js:\d+ × 2index/,
      )
      assert.equal(await textOf(page, 'h1'), 'samebytes memory map')
    } finally {
      await running.stop('SIGINT')
    }
  },

  async 'draws bytes where they are, and explains strides'({ open }) {
    const running = await obedient()
    try {
      running.tell(
        "held.a = s.zeros([4, 6], 'int16'); held.b = held.a.flip(1); held.c = held.a.select(1, 2); held.d = s.arange(6).unfold(0, 3, 1); held.e = s.scalarTensor(1).expand([5])",
      )
      const { page } = await open(running.url)
      await wait(page, () => document.querySelectorAll('.stripe').length === 7)
      const paths = await page.$$eval('.stripe', (all) =>
        all.map((each) => [
          each.getAttribute('aria-label').split(',')[0] + each.querySelector('.shape').textContent,
          each.querySelector('svg').getAttribute('viewBox'),
          [...each.querySelectorAll('path')].map((path) => path.getAttribute('d')).join(' '),
        ]),
      )
      const column = paths.find(([name]) => name.startsWith('int16 [4]'))
      assert.deepEqual(column.slice(1), [
        '0 0 48 1',
        'M4 0h2v1h-2zM16 0h2v1h-2zM28 0h2v1h-2zM40 0h2v1h-2z',
      ])
      // Backwards: the first element of each row is the last in memory.
      await page.click('.stripe::-p-text(flip)')
      assert.deepEqual((await textsOf(page, '.diagram text:not(.at)')).slice(0, 12), [
        '5',
        '4',
        '3',
        '2',
        '1',
        '0',
        '11',
        '10',
        '9',
        '8',
        '7',
        '6',
      ])
      assert.deepEqual(await textsOf(page, '.diagram .at'), ['0', '12', '24', '36'])
      assert.deepEqual(await textsOf(page, '.axes li'), [
        'axis 04 elements+12 B',
        'axis 16 elements\u22122 B: backwards',
      ])
      assert.equal(await textOf(page, '.diagram rect:first-child title'), 'bytes 0 to 1: [0, 5]')
      // Gaps.
      await page.click('.stripe::-p-text(select)')
      assert.equal((await page.$$('.diagram .gap')).length, 15)
      // Windows that overlap, and one element again and again.
      await page.click('.stripe::-p-text(unfold)')
      assert.deepEqual(await textsOf(page, '.diagram text:not(.at)'), [
        '0',
        '\u00d72',
        '\u00d73',
        '\u00d73',
        '\u00d72',
        '11',
      ])
      assert.match(await textOf(page, '.details figcaption'), /several elements share the bytes/)
      await page.click('.stripe::-p-text(expand)')
      assert.deepEqual(await textsOf(page, '.diagram text:not(.at)'), ['\u00d75'])
      assert.deepEqual(await textsOf(page, '.axes li'), [
        'axis 05 elements0 B: the same bytes again',
      ])
    } finally {
      await running.stop()
    }
  },

  async 'follows what is made and disposed'({ open }) {
    const running = await obedient()
    try {
      const { page } = await open(running.url)
      await wait(page, () =>
        /No tensors are alive/.test(document.querySelector('.regions').textContent),
      )
      running.tell("held.t = s.zeros([123], 'float64'); held.u = held.t.slice('5:')")
      await wait(page, () => document.querySelectorAll('.stripe').length === 2)
      assert.match(await textOf(page, '.stripe:nth-of-type(2)'), /float64 \[118\]slice/)
      running.tell(
        'held.t.dispose(); held.t = null; held.c = s.ones([4]).to("int32", { casting: "unsafe" })',
      )
      await wait(
        page,
        () =>
          document.querySelector('.copy b')?.textContent === 'to' &&
          !/\[123\]/.test(document.querySelector('.regions').textContent),
      )
      assert.match(await textOf(page, '.status'), /live/)
      running.tell('held.close()')
      await wait(page, () => /waiting|ended/.test(document.querySelector('.status').textContent))
      assert.equal(await page.$eval('.status', (each) => each.className), 'status over')
    } finally {
      await running.stop()
    }
  },

  async 'is found, sorted, scaled and walked through with the keyboard alone'({ open }) {
    const running = await obedient()
    try {
      running.tell(
        "held.a = s.zeros([1000]); held.b = s.zeros([10], 'uint8'); held.v = Array.from({ length: 5 }, (_, i) => held.b.narrow(0, i, 10 - i)); held.c = s.zeros([100], 'int16')",
      )
      const { page } = await open(running.url)
      await wait(page, () => document.querySelectorAll('.stripe').length === 8)
      const first = () => textOf(page, '.region .stripe')
      assert.match(await first(), /float32/)
      const width = () =>
        page.$eval(
          '.region:last-child .room',
          (each) =>
            each.getBoundingClientRect().width / each.parentElement.getBoundingClientRect().width,
        )
      assert.ok((await width()) > 0.25)
      await page.focus('button::-p-text(Linear)')
      await page.keyboard.press('Enter')
      assert.ok((await width()) < 0.1)
      assert.equal(
        await page.$eval('button::-p-text(Linear)', (button) =>
          button.getAttribute('aria-pressed'),
        ),
        'true',
      )
      await page.focus('button::-p-text(Most shared)')
      await page.keyboard.press(' ')
      assert.match(await first(), /uint8/)
      await page.focus('button::-p-text(Newest)')
      await page.keyboard.press(' ')
      assert.match(await first(), /int16/)
      await page.keyboard.press('/')
      await page.keyboard.type('UINT8')
      assert.equal((await page.$$('.region')).length, 1)
      await page.keyboard.press('Escape')
      assert.equal((await page.$$('.region')).length, 3)
      await page.focus('.stripe')
      for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp']) {
        await page.keyboard.press(key)
      }
      const focused = await page.evaluate(() =>
        [...document.querySelectorAll('.stripe')].indexOf(document.activeElement),
      )
      assert.equal(focused, 2)
      assert.equal(
        await page.$$eval('.stripe', (all) => all[2].getAttribute('aria-pressed')),
        'true',
      )
      // What is drawn anew keeps the focus.
      running.tell('held.d = s.zeros([7], "bool")')
      await wait(page, () => document.querySelectorAll('.region').length === 4)
      assert.match(await page.evaluate(() => document.activeElement.textContent), /^uint8/)
      const unnamed = await page.$$eval(
        'button, input',
        (all) =>
          all.filter((each) => !(each.textContent || each.getAttribute('aria-label'))).length,
      )
      assert.equal(unnamed, 0)
    } finally {
      await running.stop()
    }
  },

  async 'is for who has the secret alone, and lets nothing else run'({ open }) {
    const running = await obedient()
    try {
      const { page, requests } = await open(running.url)
      await wait(page, () => document.querySelector('.status').textContent === 'live')
      const { origin, pathname, host } = new URL(running.url)
      assert.ok(
        requests.length >= 2 &&
          requests.every((url) => url.startsWith(running.url) || url === 'data:,'),
        requests.join(' '),
      )
      const ran = await page.evaluate(async () => {
        const script = document.createElement('script')
        script.textContent = 'globalThis.ran = true'
        document.body.append(script)
        const outside = await fetch('http://127.0.0.1:9/').then(
          () => 'answered',
          () => 'refused',
        )
        return [globalThis.ran === true, outside]
      })
      assert.deepEqual(ran, [false, 'refused'])
      const secret = pathname.slice(1, -1)
      assert.ok(secret.length >= 32)
      const other = secret.slice(0, -1) + (secret.endsWith('A') ? 'B' : 'A')
      for (const place of [
        '/',
        '/events',
        `/${other}/`,
        `/${other}/events`,
        `/${secret}`,
        `/${secret}/x`,
        `/${secret}/events/`,
        `//${secret}/`,
        '/../etc/passwd',
        `/${secret.slice(0, -1)}/`,
      ]) {
        assert.equal((await ask(origin, place)).statusCode, 404, place)
      }
      const { statusCode, headers } = await ask(origin, pathname)
      assert.equal(statusCode, 200)
      assert.match(
        headers['content-security-policy'],
        /^default-src 'none'; script-src 'nonce-\w+'; style-src 'nonce-\w+'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      )
      assert.deepEqual(
        [
          headers['cache-control'],
          headers['referrer-policy'],
          headers['x-content-type-options'],
          headers['access-control-allow-origin'],
        ],
        ['no-store', 'no-referrer', 'nosniff', undefined],
      )
      assert.equal((await ask(origin, pathname, { method: 'POST' })).statusCode, 405)
      assert.equal(
        (
          await ask(origin, pathname, {
            headers: { Host: `rebound.example:${host.split(':')[1]}` },
          })
        ).statusCode,
        404,
      )
    } finally {
      await running.stop()
    }
  },

  async 'is a file that needs nothing, whatever the names in it'({ open }) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-map-'))
    try {
      const hostile = '<img src=x onerror="globalThis.ran = 1">\'&<\u2044script>.js'
      const file = path.join(folder, hostile)
      fs.writeFileSync(
        file,
        `globalThis.t = require(${JSON.stringify(path.join(ROOT, 'js', 'index.js'))}).zeros([3], 'complex64')\n`,
      )
      const page = path.join(folder, 'map.html')
      const status = await new Promise((resolve) =>
        spawn(
          process.execPath,
          [
            '-e',
            `require('./js/inspect/serve').run(${JSON.stringify(file)}, [], { snapshot: ${JSON.stringify(page)} })`,
          ],
          { cwd: ROOT, stdio: 'inherit' },
        ).once('exit', resolve),
      )
      assert.equal(status, 0)
      const { page: shown, requests } = await open(pathToFileURL(page).href)
      assert.equal(await textOf(shown, '.status'), 'snapshot')
      assert.ok((await textOf(shown, '.stripe')).includes(`complex64 [3]zeros ${hostile}:1`))
      assert.ok((await shown.title()).includes(hostile))
      assert.equal(
        await shown.evaluate(() => [globalThis.ran, document.images.length].join()),
        ',0',
      )
      assert.deepEqual(
        requests.filter((url) => !url.startsWith('file:') && url !== 'data:,'),
        [],
      )
    } finally {
      fs.rmSync(folder, { recursive: true })
    }
  },

  async 'draws a part of thousands at a time'({ open }) {
    const running = await obedient()
    try {
      running.tell(
        'held.all = Array.from({ length: 900 }, (_, i) => s.zeros([i + 1])); held.rows = Array.from({ length: 30 }, (_, i) => held.all[899].narrow(0, 0, i + 1)); held.same = Array.from({ length: 20000 }, () => s.zeros([5000 + held.all.length]).slice("1:"))',
      )
      const { page } = await open(running.url)
      await wait(page, () => document.querySelectorAll('.region').length === 100)
      assert.match(await textOf(page, '.region.several h2'), /^20,000 × 23 KiB/)
      assert.match(await textOf(page, '.regions > .more'), /^801 more rows of blocks$/)
      await page.evaluate(() => document.querySelector('.regions > .more').click()) // may be drawn anew meanwhile
      assert.equal((await page.$$('.region')).length, 200)
      const second = (selector) =>
        page.$$eval(
          '.region',
          (regions, selector) =>
            [...regions[1].querySelectorAll(selector)].map((each) => each.textContent),
          selector,
        )
      const more = () =>
        page.evaluate(() => document.querySelectorAll('.region')[1].querySelector('.more').click())
      assert.equal((await second('.stripe')).length, 8)
      assert.deepEqual(await second('.more'), ['23 more kinds of views'])
      await more()
      assert.equal((await second('.stripe')).length, 31)
      running.tell(
        'held.base = s.zeros([300000]); held.views = Array.from({ length: 1100 }, (_, i) => held.base.narrow(0, 0, i + 1))',
      )
      await wait(
        page,
        () =>
          document.querySelectorAll('.region')[1]?.querySelector('.more')?.textContent ===
          '992 more kinds of views',
      )
      assert.deepEqual(await second('.none'), [])
      await more()
      assert.equal((await second('.stripe')).length, 1000)
      assert.deepEqual(await second('.none'), ['101 smaller tensors are not on the map.'])
    } finally {
      await running.stop()
    }
  },

  async 'is light or dark, as the system is'({ open }) {
    const running = await obedient()
    try {
      const { page } = await open(running.url)
      const ground = () =>
        page.evaluate(() => globalThis.getComputedStyle(document.body).backgroundColor)
      const light = await ground()
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }])
      const dark = await ground()
      assert.deepEqual([light, dark], ['rgb(245, 246, 250)', 'rgb(13, 16, 28)'])
    } finally {
      await running.stop()
    }
  },

  async 'is an element in a page over WebAssembly, out of reach of its styles'({ open }) {
    const server = await serve(
      '<!doctype html><title>page</title><link rel="icon" href="data:,"><style>.stripe, h2 { display: none !important }</style><body>',
    )
    try {
      const { page } = await open(server.url)
      const told = await page.evaluate(async () => {
        const s = await import('/samebytes.mjs')
        const inspect = await import('/samebytes-inspect.mjs')
        const early = (() => {
          try {
            inspect.memoryMap()
            return 'none'
          } catch (error) {
            return error.code
          }
        })()
        await s.init()
        inspect.trace()
        globalThis.t = s.zeros([4, 6])
        globalThis.v = globalThis.t.select(1, 0)
        globalThis.given = s.fromBlob(new Uint8Array(9))
        globalThis.map = inspect.mapElement()
        document.body.append(globalThis.map)
        const refused = await inspect.serveMap().then(
          () => 'none',
          ({ code }) => code,
        )
        return {
          early,
          refused,
          text: inspect.memoryMap({ format: 'text' }),
          html: inspect.memoryMap({ format: 'html' }).length,
          json: inspect.memoryMap().regions[0].site !== undefined,
        }
      })
      assert.deepEqual(
        { ...told, text: '', html: told.html > 20000 },
        { early: 'ERR_UNSUPPORTED', refused: 'ERR_UNSUPPORTED', text: '', html: true, json: true },
      )
      assert.match(
        told.text,
        /^samebytes memory map · page · wasm · 3 tensors on 2 blocks of 105 B\n\n#1 · 96 B · wasm\n/,
      )
      const stripes = () => page.$$('>>> .stripe') // through the shadow tree
      assert.equal((await stripes()).length, 3)
      assert.ok(await (await stripes())[0].isVisible(), "the page's styles reach it")
      await page.evaluate(() => {
        globalThis.t.dispose()
        globalThis.v.dispose()
        globalThis.map.refresh()
      })
      assert.equal((await stripes()).length, 1)
    } finally {
      server.close()
    }
  },

  async 'names the functions and the lines that made tensors in a page, and those of arithmetic, on float32'({
    open,
  }) {
    const server = await serve(
      `<!doctype html><title>page</title><link rel="icon" href="data:,"><script type="module" src="${PROGRAM}"></script>`,
      { [PROGRAM]: PROGRAM_TEXT },
    )
    try {
      const { page } = await open(server.url)
      await wait(page, () => globalThis.told !== undefined)
      const told = JSON.parse(await page.evaluate(() => JSON.stringify(globalThis.told)))
      const first = PROGRAM_TEXT.split('\n').findIndex((line) => line.startsWith('await tell')) + 1
      const seen = new Set()
      const key = ({ file, line, column, call }) => `${call} at ${file}:${line}:${column}`
      told.forEach((sites, i) => {
        assert.ok(
          sites.every((site) => site !== null),
          CALLS[i][0],
        )
        const here = sites.filter((site) => !seen.has(key(site)))
        const others = here.filter(({ call }) => call !== CALLS[i][0])
        assert.ok(
          here.some(
            ({ call, file, line }) =>
              call === CALLS[i][0] && file === PROGRAM.slice(1) && line === first + i,
          ),
          `${CALLS[i]}: ${here.map(key)}`,
        )
        assert.deepEqual(
          others.map(({ call }) => call),
          CALLS[i][0] === 'iterator' ? ['narrow'] : [],
        )
        for (const site of here) seen.add(key(site))
      })
    } finally {
      server.close()
    }
  },
}

/** A request whose path is sent as it is. */
function ask(origin, place, { method = 'GET', headers = {} } = {}) {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin)
    http
      .request({ hostname, port, path: place, method, headers, agent: false }, (response) => {
        response.resume()
        resolve(response)
      })
      .on('error', reject)
      .end()
  })
}

/** What a page is asked to do that it must refuse is no trouble. */
const EXPECTED =
  /Refused to execute inline script|Refused to connect|violates the following Content Security Policy|Fetch API cannot load|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|ERR_BLOCKED_BY_CSP|net::ERR_ABORTED|^Content-Security-Policy: .* blocked /

/** Nothing in WebDriver BiDi makes the system dark. */
const NOT_IN_FIREFOX = 'is light or dark, as the system is'

async function runTests(words, name) {
  let [passed, failed] = [0, 0]
  const browser = await launch(name)
  for (const [title, test] of Object.entries(tests).filter(([title]) => title.includes(words))) {
    if (name === 'firefox' && title === NOT_IN_FIREFOX) {
      console.log(`skipped in Firefox, which cannot be told: ${title}`)
      continue
    }
    const troubles = []
    const pages = []
    const open = async (url) => {
      const page = await browser.newPage()
      await page.setViewport({ width: 1320, height: 900 })
      page.setDefaultTimeout(LIMIT)
      const requests = []
      page.on('request', (request) => requests.push(request.url()))
      page.on('console', (message) => {
        if (isTrouble(message) && !EXPECTED.test(message.text())) troubles.push(message.text())
      })
      page.on('pageerror', (error) => {
        if (!EXPECTED.test(error.message)) troubles.push(error.stack)
      })
      page.on('dialog', (dialog) => troubles.push(dialog.message()))
      pages.push(page)
      await page.goto(url)
      return { page, requests }
    }
    try {
      await test({ open })
      assert.deepEqual(troubles, [])
      passed++
    } catch (error) {
      failed++
      console.log(`FAILED ${title}\n${error.stack}\n${troubles.join('\n')}`)
    }
    for (const page of pages) await page.close()
  }
  await browser.close()
  console.log(`${passed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}

/** The example's map once all its frames were looked at. */
async function makeScreenshot() {
  const running = await example('2')
  const browser = await launch()
  const page = await browser.newPage()
  await page.setViewport({ width: 1280, height: 860 })
  await page.goto(running.url)
  await wait(
    page,
    () =>
      /in 6 copies/.test(document.querySelector('[data-number=copied]').textContent) &&
      document.querySelector('.thread'),
  )
  await page.evaluate(() => {
    document.activeElement.blur()
  })
  const png = fewColours(await page.screenshot())
  fs.writeFileSync(path.join(ROOT, 'docs', 'memory-map.png'), png)
  console.log(`docs/memory-map.png: ${png.length} bytes`)
  await browser.close()
  await running.stop('SIGINT')
}

const {
  values,
  positionals: [words = ''],
} = parseArgs({
  options: { ...BROWSER_OPTION, screenshot: { type: 'boolean' } },
  allowPositionals: true,
})
const done = values.screenshot ? makeScreenshot() : runTests(words, values.browser)
done.catch((error) => {
  console.error(error)
  console.log('0 passed, 1 failed')
  process.exit(1)
})
