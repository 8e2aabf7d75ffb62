'use strict'
// The live page's server, and what `npx samebytes map` runs; the page itself is in test/browser/memory-map.js.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { spawn } = require('node:child_process')
const { ROOT, child, childJson, errnoOf, needs } = require('../setup')

const JS = JSON.stringify(path.join(ROOT, 'js'))

/** A Node that runs source, and what it says on stderr until it matches. */
async function started(source, pattern) {
  const running = spawn(process.execPath, ['-e', source], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  const ended = new Promise((resolve) =>
    running.once('exit', (code, signal) => resolve({ code, signal })),
  )
  let said = ''
  const until = (pattern) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(said)
        if (found) resolve(found)
      }
      running.stderr.on('data', look)
      running.once('exit', () => reject(new Error(`it ended: ${said}`)))
      look()
    })
  running.stderr.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  const found = await until(pattern)
  return { found, until, running, ended }
}

/** The events of a live page, one after the other. */
async function* events(url) {
  const response = await new Promise((resolve, reject) =>
    http.get(`${url}events`, { agent: false }, resolve).once('error', reject),
  )
  response.setEncoding('utf8')
  let text = ''
  for await (const part of response) {
    text += part
    for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n')) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, at))
      text = text.slice(at + 2)
      yield { event, data: JSON.parse(data) }
    }
  }
}

describe('serveMap', function () {
  needs('a Node of its own')

  it('keeps no process alive, and once closed leaves nothing', async () => {
    const { code, stderr } = await child(`
      const { serveMap } = require('samebytes/inspect')
      serveMap().then(({ url, port }) => { if (!url.startsWith('http://127.0.0.1:' + port + '/')) process.exitCode = 3 })
    `)
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    const { before, open, after, refused, secrets } = await childJson(`
      const http = require('node:http')
      const { serveMap } = require('samebytes/inspect')
      const used = () => process.getActiveResourcesInfo().filter(name => name.startsWith('TCP') || name === 'Timeout').length
      const main = async () => {
        const before = used()
        const [a, b] = [await serveMap(), await serveMap({ port: 0 })]
        const response = await new Promise(resolve => http.get(a.url + 'events', { agent: false }, resolve))
        await new Promise(resolve => response.once('data', resolve))
        response.resume()
        const gone = new Promise(resolve => response.once('close', resolve).once('error', () => {}))
        const open = process.getActiveResourcesInfo().length
        await Promise.all([a.close(), b.close()])
        await gone
        const refused = await new Promise(resolve => http.get(a.url, { agent: false }).once('error', error => resolve(error.code)))
        await a.close()
        while (used() > before) await new Promise(resolve => setImmediate(resolve)) // the client's own sockets
        console.log(JSON.stringify({ before, open, after: used(), refused, secrets: [a, b].map(({ url }) => url.split('/')[3]) }))
      }
      main()
    `)
    assert.deepEqual([before, after, refused], [0, 0, 'ECONNREFUSED'])
    assert.ok(open > 0)
    assert.notEqual(secrets[0], secrets[1])
    for (const secret of secrets) assert.match(secret, /^[\w-]{32}$/)
  })

  it('refuses a port that is taken', async () => {
    const [code, errno] = await childJson(`
      const { serveMap } = require('samebytes/inspect')
      serveMap().then(first => serveMap({ port: first.port })).catch(({ code, errno }) => console.log(JSON.stringify([code, errno])))
    `)
    assert.deepEqual([code, errno], ['ERR_IO', errnoOf('EADDRINUSE')])
  })
})

describe('a program run for its map', function () {
  needs('a Node of its own')
  let folder
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-map-'))
  })
  after(() => {
    fs.rmSync(folder, { recursive: true })
  })

  const write = (name, source) => {
    const file = path.join(folder, name)
    fs.writeFileSync(file, source)
    return file
  }
  const run = (file, args, options) =>
    `require('./js/inspect/serve').run(${JSON.stringify(file)}, ${JSON.stringify(args)}, ${JSON.stringify(options)})`

  it('has its arguments, and leaves a snapshot however it ends', async () => {
    for (const [extension, end, status] of [
      ['txt', '', 0],
      ['json', 'process.exit(5)', 5],
      ['html', "throw new Error('failed')", 1],
    ]) {
      const file = write(
        `ends-${extension}.mjs`,
        `
        import { createRequire } from 'node:module'
        const s = createRequire(${JS} + '/x')('./index.js')
        globalThis.t = s.zeros([Number(process.argv[2])], 'int8')
        if (process.argv.length !== 3 || process.argv[1] !== ${JSON.stringify(path.join(folder, `ends-${extension}.mjs`))}) process.exit(9)
        ${end}
      `,
      )
      const place = path.join(folder, `map.${extension}`)
      const code = await new Promise((resolve) =>
        spawn(process.execPath, ['-e', run(file, ['77'], { snapshot: place })], {
          cwd: ROOT,
          stdio: 'ignore',
        }).once('exit', resolve),
      )
      assert.equal(code, status)
      const text = fs.readFileSync(place, 'utf8')
      if (extension === 'json') {
        assert.deepEqual(
          JSON.parse(text).regions.map(({ nbytes, site }) => [nbytes, site.line]),
          [[77, 4]],
        )
      } else if (extension === 'html') assert.match(text, /^<!doctype html>[^]*int8[^]*\[77\]/)
      else {
        assert.match(
          text,
          /^samebytes memory map · .*ends-txt\.mjs · \S+ · 1 tensor on 1 block of 77 B\n\n#1 · 77 B/,
        )
      }
    }
  })

  it('is followed, and its map stays after its end', async () => {
    const go = path.join(folder, 'go')
    const file = write(
      'lives.cjs',
      `
      const fs = require('node:fs')
      if (require.main !== module) throw new Error('it is not the main program')
      const s = require(${JS} + '/index.js')
      globalThis.held = [s.zeros([10])]
      const timer = setInterval(() => {
        if (!fs.existsSync(${JSON.stringify(go)})) return
        clearInterval(timer)
        held.push(s.ones([20], 'float64'))
      }, 10)
    `,
    )
    const {
      found: [, url],
      until,
      running,
      ended,
    } = await started(run(file, [], {}), /The memory map: (http:\S+)\n/)
    try {
      const seen = []
      for await (const { event, data } of events(url)) {
        if (event === 'end') {
          seen.push(data)
          break
        }
        seen.push(data.totals.tensors)
        if (data.totals.tensors === 1) fs.writeFileSync(go, '')
      }
      assert.equal(seen.at(-1), 'the program has nothing more to do')
      assert.deepEqual(
        [...new Set(seen.slice(0, -1))].filter((n) => n > 0),
        [1, 2],
      )
      await until(/The map stays until Ctrl-C/)
      const page = await new Promise((resolve, reject) =>
        http.get(url, { agent: false }, resolve).once('error', reject),
      )
      assert.equal(page.statusCode, 200)
      page.resume()
    } finally {
      running.kill('SIGINT')
    }
    assert.deepEqual(await ended, { code: null, signal: 'SIGINT' })
  })

  it('has its workers on the map, on the bytes that they share', async function () {
    if (process.env.SAMEBYTES_BACKEND !== 'native') {
      return require('../setup').skipWithout(this, 'addresses')
    }
    const file = write(
      'threads.cjs',
      `
      const { Worker, isMainThread, workerData, parentPort } = require('node:worker_threads')
      const s = require(${JS} + '/index.js')
      if (isMainThread) {
        globalThis.t = s.zeros([64], { shared: true })
        new Worker(__filename, { workerData: s.share(t) })
      } else {
        globalThis.held = [s.fromShared(workerData).slice('32:'), s.ones([9], 'uint8')]
        parentPort.on('message', () => {})
      }
    `,
    )
    const {
      found: [, url],
      running,
      ended,
    } = await started(run(file, [], {}), /The memory map: (http:\S+)\n/)
    try {
      for await (const { data } of events(url)) {
        const region = data.regions.find(({ nbytes }) => nbytes === 256)
        const theirs = region?.tensors.filter(({ thread }) => thread === 'worker 1') ?? []
        if (theirs.length === 0) continue
        assert.ok(theirs.some(({ shape, starts }) => shape[0] === 32 && starts[0] === 128))
        assert.deepEqual(region.owners, [{ kind: 'threads', name: 'worker 1', count: 1 }])
        assert.deepEqual(
          data.regions.filter(({ nbytes }) => nbytes === 9).map(({ owners }) => owners[0].name),
          ['worker 1'],
        )
        break
      }
    } finally {
      running.kill('SIGKILL')
    }
    await ended
  })
})
