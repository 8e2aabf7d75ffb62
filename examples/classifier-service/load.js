'use strict'
// Puts the service under load, and says what it took: a service of its own process unless it is told of one.
//
//   node examples/classifier-service/load.js [--seconds 300] [--connections 8] [--url http://localhost:8080]

const { spawn } = require('node:child_process')
const http = require('node:http')
const path = require('node:path')
const { createHistogram } = require('node:perf_hooks')
const { parseArgs } = require('node:util')
const sharp = require('sharp')

const PICTURES = { red: '#e01010', green: '#109010', blue: '#1010e0', yellow: '#f0f010' }

/** Pictures of one colour each, with some noise and detail, so that decoding them is work. */
async function pictures() {
  return Promise.all(
    Object.entries(PICTURES).map(async ([label, background], i) => {
      const plain = sharp({
        create: {
          width: 640,
          height: 480,
          channels: 3,
          background,
          noise: { type: 'gaussian', mean: 0, sigma: 1 },
        },
      })
      const coloured = sharp({
        create: { width: 640, height: 480, channels: 3, background },
      }).composite([{ input: await plain.png().toBuffer(), blend: 'soft-light' }])
      return { label, bytes: await (i % 2 === 0 ? coloured.jpeg() : coloured.png()).toBuffer() }
    }),
  )
}

/** A service in a process of its own, on a port that is free. */
async function start(flags = []) {
  const child = spawn(
    process.execPath,
    [...flags, path.join(__dirname, 'index.js'), '--port', '0'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  process.once('exit', () => child.kill())
  const url = await new Promise((resolve, reject) => {
    let text = ''
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)))
    child.stdout.on('data', (data) => {
      text += data
      const found = /(http:\S+)\/classify takes/.exec(text)
      if (found) resolve(found[1])
    })
  })
  return {
    url,
    end: () =>
      new Promise((resolve) => {
        child.once('exit', resolve)
        child.kill()
      }),
  }
}

/** One request: { status, body, milliseconds }. */
function ask(url, agent, body) {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const request = http.request(
      url,
      { agent, method: body === undefined ? 'GET' : 'POST' },
      (response) => {
        const chunks = []
        response
          .on('data', (chunk) => chunks.push(chunk))
          .on('error', reject)
          .on('end', () => {
            resolve({
              status: response.statusCode,
              body: JSON.parse(Buffer.concat(chunks)),
              milliseconds: performance.now() - started,
            })
          })
      },
    )
    request.on('error', reject).end(body)
  })
}

/**
 * Asks again and again, over a number of connections at a time.
 *
 * @param {string} url
 * @param {{ bytes: Buffer, label: string }[]} list
 * @param {{ connections: number, until: (asked: number) => boolean }} options
 */
async function load(url, list, { connections, until }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  const times = createHistogram()
  const wrong = []
  let asked = 0
  async function connection() {
    while (!until(asked)) {
      const { bytes, label } = list[asked++ % list.length]
      const { status, body, milliseconds } = await ask(`${url}/classify`, agent, bytes)
      if (status !== 200 || body.labels[0].label !== label) wrong.push({ label, status, body })
      times.record(Math.max(1, Math.round(milliseconds * 1000)))
    }
  }
  await Promise.all(Array.from({ length: connections }, connection))
  agent.destroy()
  return { asked, wrong, times }
}

/** milliseconds below which a share of the answers came */
const at = (times, percent) => times.percentile(percent) / 1000

const stats = async (url) => (await ask(`${url}/stats`, new http.Agent())).body

async function main() {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '300' },
      connections: { type: 'string', default: '8' },
      url: { type: 'string' },
    },
  })
  const [seconds, connections] = [Number(values.seconds), Number(values.connections)]
  const list = await pictures()
  const service = values.url === undefined ? await start() : { url: values.url, end() {} }
  const mebibytes = (bytes) => (bytes / 2 ** 20).toFixed(1).padStart(7)

  await load(service.url, list, { connections, until: (asked) => asked >= 2000 }) // warm
  const began = performance.now()
  const rows = Math.min(10, seconds)
  const sums = { asked: 0, wrong: 0, times: createHistogram() }
  const seen = []
  console.log(
    '     s  requests/s  median ms     p99 ms  RSS MiB  heap MiB  tensors  storages  native+V8 MiB',
  )
  for (let row = 1; row <= rows; row++) {
    const from = performance.now()
    const until = began + (seconds * 1000 * row) / rows
    const { asked, wrong, times } = await load(service.url, list, {
      connections,
      until: () => performance.now() >= until,
    })
    const {
      rss,
      heapUsed,
      samebytes: { tensors, storages, bytes },
    } = await stats(service.url)
    sums.asked += asked
    sums.wrong += wrong.length
    sums.times.add(times)
    seen.push({ rss, tensors, storages })
    const rate = (asked / (performance.now() - from)) * 1000
    console.log(
      `${String(Math.round((performance.now() - began) / 1000)).padStart(6)}  ${rate.toFixed(0).padStart(10)}  ` +
        `${at(times, 50).toFixed(2).padStart(9)}  ${at(times, 99).toFixed(2).padStart(9)}  ${mebibytes(rss)}  ${mebibytes(heapUsed)}  ` +
        `${String(tensors).padStart(7)}  ${String(storages).padStart(8)}  ${mebibytes(bytes.v8 + bytes.native)}`,
    )
  }
  await service.end()
  console.log(
    `\n  ${sums.asked} pictures over ${connections} connections: median ${at(sums.times, 50).toFixed(2)} ms, p99 ${at(sums.times, 99).toFixed(2)} ms`,
  )
  const isFlat = seen.every(
    ({ tensors, storages }) => tensors === seen[0].tensors && storages === seen[0].storages,
  )
  console.log(
    `  ${sums.wrong} wrong answers; tensors and storages ${isFlat ? 'stay' : 'do NOT stay'} as they are`,
  )
  if (sums.wrong > 0 || !isFlat) process.exitCode = 1
}

if (require.main === module) {
  main().catch((error) => {
    console.error(error)
    process.exitCode = 1
  })
}

module.exports = { ask, load, pictures, start, stats }
