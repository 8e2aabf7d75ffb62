'use strict'
// Debian's browsers for the tests: Chromium over CDP, Firefox over WebDriver BiDi; and what puppeteer has no function for.

const fs = require('node:fs')
const puppeteer = require('puppeteer-core')

const STARTS = 3
const START_LIMIT_MS = 120_000

/** By what --browser says. All have a camera and a microphone that nobody has to allow, sound without a click, and the collector at hand. */
const BROWSERS = {
  chromium: {
    title: 'Chromium',
    options: {
      browser: 'chrome',
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--js-flags=--expose-gc',
        '--autoplay-policy=no-user-gesture-required',
        '--use-fake-device-for-media-stream',
        '--use-fake-ui-for-media-stream',
        '--enable-unsafe-webgpu',
        '--use-webgpu-adapter=swiftshader',
      ],
    },
  },
  firefox: {
    title: 'Firefox',
    options: {
      browser: 'firefox',
      executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
      extraPrefsFirefox: {
        'dom.testing.testutils.enabled': true, // TestUtils.gc()
        'layout.css.prefers-color-scheme.content-override': 1, // light
        'media.autoplay.default': 0,
        'media.navigator.permission.disabled': true,
        'media.navigator.streams.fake': true,
      },
    },
  },
}

/** For parseArgs. */
const BROWSER_OPTION = { browser: { type: 'string', short: 'b', default: 'chromium' } }

/** @param {string} name  of BROWSERS */
function titleOf(name) {
  if (!Object.hasOwn(BROWSERS, name)) {
    throw new Error(`--browser is one of ${Object.keys(BROWSERS).join(', ')}, not ${name}`)
  }
  return BROWSERS[name].title
}

/**
 * A browser with a profile of its own, which goes when it is closed. On a machine that is short of time or memory it does
 * not always come up at once.
 *
 * @param {string} [name]  of BROWSERS
 * @returns {Promise<puppeteer.Browser>}
 */
async function launch(name = 'chromium') {
  const title = titleOf(name)
  for (let attempt = 1; ; attempt++) {
    try {
      const browser = await puppeteer.launch({
        ...BROWSERS[name].options,
        headless: true,
        timeout: START_LIMIT_MS,
        protocolTimeout: 0,
      })
      removeAtExit(browser)
      return browser
    } catch (error) {
      if (attempt === STARTS) throw error
      process.stdout.write(`\n${title} did not start, once more: ${error.message.split('\n')[0]}\n`)
    }
  }
}

/** Removes the profile of a browser that was killed with us. */
function removeAtExit(browser) {
  const { spawnargs } = browser.process()
  const profile =
    spawnargs.find((each, i) => spawnargs[i - 1] === '--profile') ??
    spawnargs.find((each) => each.startsWith('--user-data-dir=')).replace(/^[^=]*=/, '')
  process.once('exit', () => fs.rmSync(profile, { recursive: true, force: true, maxRetries: 3 }))
}

/** The text of the first element, as the DOM has it. */
const textOf = (page, selector) => page.$eval(selector, (element) => element.textContent)

/** The texts of all elements. */
const textsOf = (page, selector) =>
  page.$$eval(selector, (all) => all.map((each) => each.textContent))

/** Is a message of the console a warning or worse? */
const isTrouble = (message) => ['error', 'warn'].includes(message.type())

/** What console.log was given, objects as JSON with spaces: message.text() only names their kind. */
async function printed(message) {
  const values = await Promise.all(message.args().map((each) => each.jsonValue()))
  return values
    .map((value) =>
      typeof value === 'object' ? JSON.stringify(value).replaceAll(',', ', ') : String(value),
    )
    .join(' ')
}

module.exports = { BROWSER_OPTION, isTrouble, launch, printed, textOf, textsOf, titleOf }
