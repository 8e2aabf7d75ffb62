'use strict'
// The site of `npm run docs:site`, behind a server of files, in a browser: its examples print what they say, the search finds, and no page
// breaks its own Content-Security-Policy.
//
//   node test/browser/site.js [--browser firefox]

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { BROWSER_OPTION, launch } = require('./launch')
const { ROOT, missing, printedOf } = require('../docs/blocks')

const SITE = path.join(ROOT, 'docs', '.vitepress', 'dist')
const LIMIT = 120_000 // ms, for what should take a second
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/** A server of files, as any is: no headers but the type. */
async function serve() {
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost')
    const file = path.join(SITE, pathname.endsWith('/') ? `${pathname}index.html` : pathname)
    if (!file.startsWith(SITE) || !fs.existsSync(file)) response.writeHead(404).end()
    else {
      const type = TYPES[path.extname(file)] ?? 'application/octet-stream'
      response.writeHead(200, { 'Content-Type': type }).end(fs.readFileSync(file))
    }
  })
  await new Promise((resolve) => server.listen(0, 'localhost', resolve))
  return {
    url: `http://localhost:${server.address().port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const total = { passed: 0, failed: 0 }

async function check(what, act) {
  try {
    await act()
    total.passed++
    console.log(`ok - ${what}`)
  } catch (error) {
    total.failed++
    console.log(`not ok - ${what}\n${String(error.stack).replace(/^/gm, '    ')}`)
  }
}

/** A page whose violations of its policy and errors are kept. */
async function open(browser, url) {
  const page = await browser.newPage()
  const wrong = []
  page.on('pageerror', (error) => wrong.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') wrong.push(message.text())
  })
  await page.goto(url, { timeout: LIMIT, waitUntil: 'domcontentloaded' })
  await page.waitForFunction(() => document.querySelector('#app')?.__vue_app__ !== undefined, {
    timeout: LIMIT,
  })
  return { page, wrong }
}

/** What the example prints whose button is clicked. @param {any} page @param {number} i */
async function outcome(page, i) {
  const example = (await page.$$('.example'))[i]
  const code = await example.$eval('.vp-code, textarea', (each) => each.value ?? each.textContent)
  await example.$eval('.example-buttons button', (button) => button.click())
  await page.waitForFunction(
    (at) => {
      const one = document.querySelectorAll('.example')[at]
      return (
        one.querySelector('.example-buttons button').disabled === false &&
        one.querySelector('iframe').src !== ''
      )
    },
    { timeout: LIMIT },
    i,
  )
  const frame = await (await example.$('iframe')).contentFrame()
  return { code, text: await frame.evaluate(() => document.body.innerText) }
}

/** What an example says behind its comments, by console.log or by lines of the reference. @param {string} code */
function wordsOf(code) {
  if (code.includes('console.log')) return printedOf(code)
  return [...code.matchAll(/^(?!const |let |\/\/).+? \/\/ (.+)$/gm)].map(([, words]) => words)
}

const squeezed = (text) => text.replaceAll(/\[ /g, '[').replaceAll(/ \]/g, ']')

async function main() {
  const { values } = parseArgs({ options: BROWSER_OPTION })
  const server = await serve()
  const browser = await launch(values.browser)
  try {
    for (const name of ['index', 'docs/views-and-copies', 'docs/arithmetic', 'docs/api']) {
      const { page, wrong } = await open(browser, `${server.url}/${name}.html`)
      const count = await page.$$eval('.example', (list) => list.length)
      const step = name === 'docs/api' ? 24 : 1 // test/api/examples.test.js runs all of them
      await check(`${name}: has examples that run`, () => assert.ok(count > 0))
      for (let i = 0; i < count; i += step) {
        await check(`${name}: example ${i} prints what it says`, async () => {
          const { code, text } = await outcome(page, i)
          const left = missing(wordsOf(code).map(squeezed), squeezed(text))
          assert.equal(left, null, `${code}\nprinted\n${text}`)
        })
      }
      await check(`${name}: breaks no policy`, () => assert.deepEqual(wrong, []))
      await page.close()
    }
    const { page, wrong } = await open(browser, `${server.url}/`)
    await check('an example can be edited, and shows its tensors', async () => {
      const example = await page.$('.example')
      await (await example.$$('.example-buttons button'))[1].click()
      await page.$eval('.example textarea', (area) => {
        area.value = "import { arange } from 'samebytes'\nconsole.log(arange(12).reshape(3, 4).T)"
        area.dispatchEvent(new Event('input'))
      })
      const { text } = await outcome(page, 0)
      assert.match(text, /strides \[1, 4\]/)
      const frame = await (await example.$('iframe')).contentFrame()
      const cells = await frame.$$eval('td', (list) => list.map((each) => each.textContent))
      assert.deepEqual(cells.slice(0, 4), ['0', '4', '8', '1'])
    })
    await check(
      "an example's error is shown, and its frame reaches nothing of the site",
      async () => {
        await page.$eval('.example textarea', (area) => {
          area.value = 'console.log(parent.document.title)'
          area.dispatchEvent(new Event('input'))
        })
        assert.match((await outcome(page, 0)).text, /SecurityError/)
      },
    )
    await check('the search finds a function', async () => {
      await page.keyboard.press('/')
      await page.waitForSelector('.VPLocalSearchBox input', { timeout: LIMIT })
      await page.type('.VPLocalSearchBox input', 'letterbox')
      await page.waitForSelector('.VPLocalSearchBox .result', { timeout: LIMIT })
    })
    await check('the switch makes the site dark and light', async () => {
      const isDark = () => page.evaluate(() => document.documentElement.classList.contains('dark'))
      const before = await isDark()
      await page.keyboard.press('Escape')
      await page.$eval('.VPSwitchAppearance', (button) => button.click())
      assert.equal(await isDark(), !before)
    })
    await check('the first page breaks no policy', () => assert.deepEqual(wrong, []))
  } finally {
    await browser.close()
    server.close()
  }
  console.log(`${total.passed} passed, ${total.failed} failed`)
  process.exitCode = total.failed === 0 && total.passed >= 12 ? 0 : 1
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
