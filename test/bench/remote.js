'use strict'
// A file of 200 MB at a URL, from nginx on this machine: time beside the shortest way to have its bytes at all, and the most memory beyond the tensors.

const fs = require('node:fs')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { ROOT, median } = require('./measure')

const TENSORS = 20
const EACH = 10_000_000 // bytes
const TOTAL = TENSORS * EACH
const MiB = 2 ** 20
const PERIOD = 10 // ms between two looks at memory
const NAME = 'weights.safetensors'

/** Writes a file: bytes that no file system leaves out. @param {string} file @param {number} count  of tensors */
function write(file, count) {
  const entries = Array.from({ length: count }, (_, i) => [
    `layer.${i}.weight`,
    { dtype: 'F32', shape: [1000, EACH / 4000], data_offsets: [i * EACH, (i + 1) * EACH] },
  ])
  const text = JSON.stringify(Object.fromEntries(entries))
  const header = Buffer.from(text + ' '.repeat(-(text.length + 8) & 63))
  const size = Buffer.alloc(8)
  size.writeBigUInt64LE(BigInt(header.length))
  const data = Buffer.from(Float32Array.from({ length: EACH / 4 }, (_, i) => i).buffer)
  fs.writeFileSync(file, Buffer.concat([size, header]))
  for (let i = 0; i < count; i++) fs.appendFileSync(file, data)
}

/** Runs fn with nginx that has the file, and the package for pages. @template R @param {(url: string) => Promise<R>} fn @returns {Promise<R>} */
async function withServer(fn) {
  const { startNginx } = require('../remote/nginx')
  const server = await startNginx({
    config: 'types { text/javascript mjs; application/wasm wasm; text/html html; }',
  })
  try {
    write(path.join(server.root, NAME), TENSORS)
    write(path.join(server.root, NAME.replace('weights', 'small')), 0)
    for (const name of ['samebytes.mjs', 'samebytes.wasm']) {
      if (fs.existsSync(path.join(ROOT, 'dist', name))) {
        fs.copyFileSync(path.join(ROOT, 'dist', name), path.join(server.root, name))
      }
    }
    server.write('index.html', Buffer.from('<!doctype html>'))
    return await fn(server.url)
  } finally {
    await server.stop()
  }
}

/** In a process of its own: ms, and the most MiB beyond the bytes. */
const PROGRAMS = {
  load: `
    const { fetchSafetensors } = require(${JSON.stringify(path.join(ROOT, 'js'))})
    run(async url => {
      const file = await fetchSafetensors(url)
      return file.loadAll()
    })`,
  get: `
    const http = require('node:http')
    run(url => new Promise((resolve, reject) => {
      http.get(url, response => {
        const all = Buffer.allocUnsafe(Number(response.headers['content-length']))
        let n = 0
        response.on('data', piece => { n += piece.copy(all, n) }).on('end', () => resolve(all)).on('error', reject)
      }).on('error', reject)
    }))`,
}
const RUN = `
  const { performance } = require('node:perf_hooks')
  async function run (fn) {
    await fn(process.argv[1].replace('weights', 'small')) // what it loads of samebytes and Node
    const before = process.memoryUsage.rss()
    const start = performance.now()
    const all = await fn(process.argv[1])
    const ms = performance.now() - start
    console.log(JSON.stringify({ ms, peak: (process.resourceUsage().maxRSS * 1024 - before - ${TOTAL}) / ${MiB}, isThere: all !== null }))
  }
`

/** @param {'load' | 'get'} way @param {string} url @returns {{ ms: number, peak: number }} */
function inProcess(way, url) {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['-e', RUN + PROGRAMS[way], `${url}/${NAME}`],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

/** @param {boolean} quick */
function inNode(quick) {
  return withServer(async (url) => {
    const seen = { load: [], get: [] }
    for (let i = quick ? 3 : 9; i > 0; i--) {
      for (const way of ['load', 'get']) seen[way].push(inProcess(way, url))
    }
    return { load: mediansOf(seen.load), get: mediansOf(seen.get) }
  })
}

/** @param {{ ms: number, peak: number }[]} seen */
const mediansOf = (seen) => ({
  ms: median(seen.map(({ ms }) => ms)),
  peak: median(seen.map(({ peak }) => peak)),
})

/**
 * Bytes that a browser's processes have in memory. Of Firefox without the first one, which has the network: it keeps what any fetch brought, and
 * gives it back later.
 *
 * @param {number} root  id of its first process
 * @param {string} name
 */
function residentOf(root, name) {
  const processes = fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [parent] = fs
          .readFileSync(`/proc/${name}/stat`, 'latin1')
          .replace(/^.*\) \S /s, '')
          .split(' ')
        return [{ id: Number(name), parent: Number(parent) }]
      } catch {
        return [] // it ended
      }
    })
  const family = new Set([root])
  for (let size = 0; size < family.size;) {
    size = family.size
    for (const { id, parent } of processes) if (family.has(parent)) family.add(id)
  }
  if (name === 'firefox') family.delete(root)
  return [...family].reduce((sum, id) => {
    try {
      const text = fs.readFileSync(`/proc/${id}/status`, 'latin1')
      return (
        sum +
        1024 *
          (Number(/RssAnon:\s+(\d+)/.exec(text)?.[1] ?? 0) +
            Number(/RssShmem:\s+(\d+)/.exec(text)?.[1] ?? 0))
      )
    } catch {
      return sum
    }
  }, 0)
}

/* global fetch, location */
/** In a page: ms. What comes is kept. */
const IN_PAGE = {
  async load(name) {
    const start = performance.now()
    const file = await globalThis.samebytes.fetchSafetensors(new URL(name, location))
    globalThis.kept = await file.loadAll()
    return performance.now() - start
  },
  async get(name) {
    const start = performance.now()
    globalThis.kept = await (await fetch(name, { cache: 'no-store' })).arrayBuffer()
    return performance.now() - start
  },
}

/** A page of its own for each way and round. @param {string} name  of a browser @param {boolean} quick */
function inBrowser(name, quick) {
  const { launch } = require('../browser/launch')
  return withServer(async (url) => {
    const seen = { load: [], get: [] }
    for (let i = quick ? 2 : 5; i > 0; i--) {
      for (const way of ['load', 'get']) {
        const browser = await launch(name)
        try {
          const page = await browser.newPage()
          await page.goto(url)
          await page.evaluate(async () => {
            globalThis.samebytes = await import('/samebytes.mjs')
            await globalThis.samebytes.init()
          })
          const { pid } = browser.process()
          const before = residentOf(pid, name)
          let most = 0
          const watch = setInterval(() => {
            most = Math.max(most, residentOf(pid, name))
          }, PERIOD)
          const ms = await page.evaluate(IN_PAGE[way], NAME)
          most = Math.max(most, residentOf(pid, name))
          clearInterval(watch)
          seen[way].push({ ms, peak: (most - before - TOTAL) / MiB })
        } finally {
          await browser.close()
        }
      }
    }
    return { load: mediansOf(seen.load), get: mediansOf(seen.get) }
  })
}

/** Is there what the place needs? @param {string} where */
function isThere(where) {
  const browser = {
    chromium: process.env.CHROMIUM ?? '/usr/bin/chromium',
    firefox: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
  }[where]
  return (
    require('../remote/nginx').hasNginx &&
    (browser === undefined ||
      (fs.existsSync(browser) && fs.existsSync(path.join(ROOT, 'dist', 'samebytes.mjs'))))
  )
}

/** @type {Map<string, Promise<any>>} */
const known = new Map()
/** Once for all rows of a place; undefined where something is missing for it. */
function measured(where, quick) {
  if (!isThere(where)) return undefined
  const before = known.get(where) ?? (where === 'node' ? inNode(quick) : inBrowser(where, quick))
  known.set(where, before)
  return before
}

/** @param {string} where @param {'load' | 'get'} way @param {'ms' | 'peak'} what */
const of =
  (where, way, what) =>
  async ({ quick }) =>
    (await measured(where, quick))?.[way][what]

const rows = [
  ['node', 'in Node', 'http.get into a Buffer'],
  ['chromium', 'in Chromium', 'fetch and arrayBuffer()'],
  ['firefox', 'in Firefox', 'fetch and arrayBuffer()'],
].flatMap(([where, place, other]) => [
  {
    what: `200 MB at a URL into 20 tensors, ${place}`,
    unit: 'ms',
    limit: where === 'node' ? { ratio: 1.11 } : {}, // 0.9 of the speed
    measure: of(where, 'load', 'ms'),
    yardstick: { what: other, measure: of(where, 'get', 'ms') },
  },
  {
    what: `the most memory beyond those of a URL, ${place}`,
    unit: 'MiB',
    limit: { value: 40 },
    measure: of(where, 'load', 'peak'),
    yardstick: { what: other, measure: of(where, 'get', 'peak') },
  },
])

module.exports = { title: 'Files at URLs', rows }
