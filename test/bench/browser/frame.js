'use strict'
// A frame of 1280 × 720, RGBA, to planar float32 from 0 to 1, in a page: samebytes beside a loop and what others have for it.
//
//   node test/bench/browser/frame.js [--browser firefox]
//
// NODE_PATH may name a folder that has numpy-ts. Milliseconds: the median of many calls, each library in turn, several times.

const http = require('node:http')
const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { build } = require('esbuild')
const { ROOT } = require('../measure')
const { BROWSER_OPTION, launch, titleOf } = require('../../browser/launch')

const DIST = path.join(ROOT, 'dist')

const hasNumpy = () => {
  try {
    return require.resolve('numpy-ts') !== ''
  } catch {
    return false
  }
}

const PAGE = (withNumpy) => `
import { init, fromBlob, empty } from '/dist/samebytes.mjs'
import { Tensor as OrtTensor } from 'onnxruntime-web'
import * as tf from '@tensorflow/tfjs-core'
import '@tensorflow/tfjs-backend-cpu'
${withNumpy ? "import * as np from 'numpy-ts'" : 'const np = null'}

const [WIDTH, HEIGHT, ROUNDS] = [1280, 720, 5]
const SIZE = WIDTH * HEIGHT

const image = new ImageData(WIDTH, HEIGHT)
for (let i = 0; i < image.data.length; i++) image.data[i] = i * 7 % 251

function loop (data, out) {
  for (let i = 0; i < SIZE; i++) {
    out[i] = data[4 * i] / 255
    out[SIZE + i] = data[4 * i + 1] / 255
    out[2 * SIZE + i] = data[4 * i + 2] / 255
  }
}

globalThis.measure = async () => {
  await init()
  await tf.setBackend('cpu')
  const [floats, own] = [new Float32Array(3 * SIZE), new Float32Array(3 * SIZE)]
  const planes = empty([3, HEIGHT, WIDTH])
  const pixels = planes.permute(1, 2, 0)
  const outer = fromBlob(own, [3, HEIGHT, WIDTH]).permute(1, 2, 0)
  const ways = {
    'the loop': () => loop(image.data, floats),
    'samebytes, into a tensor': () => { pixels.copyFrom(image, { scale: 1 / 255 }) },
    'samebytes, into an array of the program': () => { outer.copyFrom(image, { scale: 1 / 255 }) },
    'onnxruntime-web, Tensor.fromImage': async () => (await OrtTensor.fromImage(image, { tensorFormat: 'RGB' })).data,
    'tfjs (cpu), fromPixels': () => tf.tidy(() => tf.transpose(tf.div(tf.cast(tf.browser.fromPixels(image), 'float32'), 255), [2, 0, 1]).dataSync()),
    ...(np && { 'numpy-ts': () => np.array(image.data, 'float32').reshape(HEIGHT, WIDTH, 4).transpose([2, 0, 1]).slice('0:3').divide(255).copy().data })
  }
  const times = Object.fromEntries(Object.keys(ways).map(name => [name, []]))
  const failed = {}
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, way] of Object.entries(ways)) {
      if (name in failed) continue
      try {
        const begin = performance.now()
        for (let i = 0; i < 20 && performance.now() - begin < 1500; i++) {
          const start = performance.now()
          await way()
          times[name].push(performance.now() - start)
        }
      } catch (error) { failed[name] = String(error) }
    }
  }
  loop(image.data, floats)
  const isSame = [planes.data, own].every(made => floats.every((value, i) => Math.abs(made[i] - value) < 1e-6))
  const median = list => list.sort((a, b) => a - b)[list.length >> 1]
  return { times: Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list) ?? null])), failed, isSame }
}
`

async function bundled() {
  const {
    outputFiles: [{ text }],
  } = await build({
    stdin: { contents: PAGE(hasNumpy()), resolveDir: ROOT },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    external: ['/dist/*', 'node:*'],
    nodePaths: process.env.NODE_PATH?.split(path.delimiter) ?? [],
    logLevel: 'error',
  })
  return text
}

const ISOLATED = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
} // for a finer clock

async function main() {
  const { values } = parseArgs({ options: BROWSER_OPTION })
  const program = await bundled()
  const server = http
    .createServer(({ url }, response) => {
      const send = (type, body) =>
        response.writeHead(200, { 'Content-Type': type, ...ISOLATED }).end(body)
      if (url === '/') {
        send(
          'text/html',
          '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/frame.mjs"></script>',
        )
      } else if (url === '/frame.mjs') send('text/javascript', program)
      else if (/^\/dist\/samebytes[\w-]*\.(mjs|wasm)$/.test(url)) {
        send(
          url.endsWith('.mjs') ? 'text/javascript' : 'application/wasm',
          fs.readFileSync(path.join(DIST, path.basename(url))),
        )
      } else response.writeHead(404).end()
    })
    .listen(0, 'localhost')
  await new Promise((resolve) => server.once('listening', resolve))
  const browser = await launch(values.browser)
  try {
    const page = await browser.newPage()
    page.on('pageerror', (error) => console.error(String(error)))
    await page.goto(`http://localhost:${server.address().port}/`)
    await page.waitForFunction(() => globalThis.measure)
    const { times, failed, isSame } = await page.evaluate(() => globalThis.measure())
    console.log(
      `${titleOf(values.browser)} ${await browser.version()}: the results are ${isSame ? 'the same' : 'NOT THE SAME'}`,
    )
    for (const [name, time] of Object.entries(times)) {
      console.log(
        name in failed ? `  ${name}: ${failed[name]}` : `  ${name}: ${time.toFixed(2)} ms`,
      )
    }
    if (!isSame) process.exitCode = 1
  } finally {
    await browser.close()
    server.close()
    server.closeAllConnections()
  }
}

main()
