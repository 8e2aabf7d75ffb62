'use strict'
// The page of examples/camera-filter in a browser, which brings a camera of its own.
//
//   node test/browser/camera.js [WORDS] [--browser firefox]     the tests, or those whose titles contain the words

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { serve } = require('../../examples/camera-filter/serve')
const { BROWSER_OPTION, launch, textOf } = require('./launch')

const {
  values,
  positionals: [words = ''],
} = parseArgs({ options: BROWSER_OPTION, allowPositionals: true })
const LIMIT = 600_000 // ms, for what should take seconds
const COLOURS = { chromium: 9, firefox: 2 } // values in a frame: Firefox's camera shows one colour after the other
const FILTERS = ['mirror', 'negative', 'red ↔ blue', 'mosaic', 'edges']

/** What a filter makes of a frame, pixel by pixel: [red, green, blue, alpha] of (y, x). */
const MODELS = {
  mirror: (at, y, x, height, width) => at(y, width - 1 - x),
  negative: (at, y, x) => [
    ...at(y, x)
      .slice(0, 3)
      .map((value) => 255 - value),
    255,
  ],
  'red ↔ blue': (at, y, x) => [...at(y, x).slice(0, 3).reverse(), 255],
  mosaic: (at, y, x) => at(y - (y % 8), x - (x % 8)),
  edges(at, y, x, height, width) {
    const brightness = (y, x) => {
      const [red, green, blue] = at(y, x)
      return (2 * red + 5 * green + blue) >> 3
    }
    const here = brightness(y, x)
    const right = x + 1 < width ? brightness(y, x + 1) : here
    const below = y + 1 < height ? brightness(y + 1, x) : here
    const edge = Math.min(255, 4 * (Math.abs(right - here) + Math.abs(below - here)))
    return [edge, edge, edge, 255]
  },
}

const tests = {
  async 'filters the camera as it should, with no pixel staged'(page) {
    for (const filter of FILTERS) {
      await page.click(`[id="${filter}"]`)
      await frames(page, 2) // the next one may have begun before the click
      const { from, to, same, height, width, staged, count } = await stopped(page)
      assert.ok(staged.bytes <= 16 * count, `${staged.bytes} bytes staged in ${count} frames`) // scale and bias of one copy
      assert.ok(same, 'the canvases show the tensors')
      const [before, after] = [from, to].map((text) => {
        const bytes = Buffer.from(text, 'base64')
        return (y, x) => [...bytes.subarray(4 * (y * width + x), 4 * (y * width + x) + 4)]
      })
      assert.ok(
        new Set(Buffer.from(from, 'base64')).size >= COLOURS[values.browser],
        'the camera shows something',
      )
      for (let y = 0; y < height; y += 7) {
        for (let x = y % 5; x < width; x += 5) {
          assert.deepEqual(
            after(y, x),
            MODELS[filter](before, y, x, height, width),
            `${filter} at ${y}, ${x}`,
          )
        }
      }
      await page.evaluate(() => {
        globalThis.camera.paused = false
      })
    }
  },

  async 'copies what the filters say, and leaves no tensors behind'(page) {
    await page.click('#mirror')
    await frames(page, 2)
    const first = await page.evaluate(() => ({ ...globalThis.camera, from: null, to: null }))
    await frames(page, 20)
    const last = await page.evaluate(() => ({ ...globalThis.camera, from: null, to: null }))
    const bytes = (last.frames - first.frames) * first.width * first.height * 4
    assert.equal(last.tensors, first.tensors)
    assert.deepEqual(Object.keys(last.copied).sort(), ['copyFrom', 'copyFromAsync'])
    assert.equal(last.copied.copyFromAsync.bytes - first.copied.copyFromAsync.bytes, bytes)
    assert.equal(last.copied.copyFrom.bytes - first.copied.copyFrom.bytes, bytes)
  },

  async 'goes on when memory grows'(page) {
    await page.click('#edges')
    await frames(page, 2)
    await page.evaluate(async () => {
      const { empty, memory } = await import('samebytes')
      const { grown } = memory()
      globalThis.more = []
      while (memory().grown === grown) globalThis.more.push(empty([2 ** 20], 'uint8'))
    })
    await frames(page, 3)
    assert.equal(await textOf(page, '#trouble'), '')
  },

  async 'stops, gives back what it had, and starts again'(page) {
    await frames(page, 2)
    const tensors = () => page.evaluate(async () => (await import('samebytes')).memory().tensors)
    const during = await tensors()
    await page.click('#stop')
    await page.waitForFunction(() => !document.getElementById('start').disabled, { timeout: LIMIT })
    assert.equal(await tensors(), during - 2)
    const { frames: count } = await page.evaluate(() => ({ frames: globalThis.camera.frames }))
    await page.click('#start')
    await page.waitForFunction(
      (count) => globalThis.camera.frames > count + 2,
      { timeout: LIMIT },
      count,
    )
    assert.equal(await textOf(page, '#trouble'), '')
  },
}

/** Waits for so many more frames. */
async function frames(page, count) {
  const now = await page.evaluate(() => globalThis.camera.frames)
  await page.waitForFunction(
    (wanted) => globalThis.camera.frames >= wanted,
    { timeout: LIMIT },
    now + count,
  )
}

/** Stops between two frames: what came in, what came out, and what the canvas shows. */
function stopped(page) {
  return page.evaluate(async () => {
    const { camera, document } = globalThis
    camera.paused = true
    while (!camera.isIdle) await new Promise((resolve) => setTimeout(resolve, 10)) // a frame that was begun is finished
    const { from, to, width, height, staged } = camera
    const shown = document
      .getElementById('canvas')
      .getContext('2d')
      .getImageData(0, 0, width, height).data
    const text = (bytes) =>
      btoa(
        Array.from({ length: height }, (_, y) =>
          String.fromCharCode(...bytes.subarray(4 * width * y, 4 * width * (y + 1))),
        ).join(''),
      )
    const source = document
      .getElementById('before')
      .getContext('2d')
      .getImageData(0, 0, width, height).data
    return {
      from: text(from.data),
      to: text(to.data),
      same:
        shown.every((value, i) => value === to.data[i]) &&
        source.every((value, i) => value === from.data[i]),
      width,
      height,
      staged,
      count: camera.frames,
    }
  })
}

async function main() {
  execFileSync(
    'bash',
    [path.join(__dirname, '..', '..', 'examples', 'camera-filter', 'build.sh')],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  )
  const total = { passed: 0, failed: 0 }
  const server = await serve()
  const browser = await launch(values.browser)
  try {
    for (const [title, test] of Object.entries(tests).filter(([title]) => title.includes(words))) {
      const page = await browser.newPage()
      const troubles = []
      page.on('pageerror', (error) => troubles.push(error.stack))
      try {
        await page.goto(server.url)
        await page.waitForFunction(() => globalThis.camera?.ready, { timeout: LIMIT })
        await page.click('#start')
        await page.waitForFunction(
          () => globalThis.camera.frames > 0 || !document.getElementById('trouble').hidden,
          { timeout: LIMIT },
        )
        assert.equal(await textOf(page, '#trouble'), '')
        await test(page)
        assert.deepEqual(troubles, [])
        total.passed++
        console.log(`ok - ${title}`)
      } catch (error) {
        total.failed++
        console.log(`not ok - ${title}\n${String(error.stack).replace(/^/gm, '    ')}`)
      } finally {
        await page.close()
      }
    }
  } finally {
    await browser.close()
    await server.close()
  }
  console.log(`${total.passed} passed, ${total.failed} failed`)
  process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
