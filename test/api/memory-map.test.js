'use strict'
// samebytes/inspect, in Nodes of their own: what is loaded here would see the tensors of all other tests.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { execFile } = require('node:child_process')
const { backend } = require('samebytes')
const { ROOT, child, childJson, isWasm, needs, nativeOnly, skipWithout } = require('../setup')
const { HANG_MS } = require('../hang')

const OWN = isWasm ? 'wasm' : 'v8'

const FIXED = `
const { memoryMap } = require('samebytes/inspect')
const { arange, fromBlob, ones, scalarTensor, zeros } = require('samebytes')
const image = zeros([4, 6])
const views = [image.slice('1:3'), image.T, image.select(1, 2), image.flip(1)]
const windows = arange(20).unfold(0, 5, 2)
const wide = scalarTensor(3).expand([1000, 1000])
const bytes = new ArrayBuffer(64)
const both = [fromBlob(new Float32Array(bytes, 0, 4)), fromBlob(new Float32Array(bytes, 32, 8))]
both[1].data
const many = Array.from({ length: 300 }, () => ones([3], 'uint8'))
const copy = image.clone()
for (let i = 0; i < 2; i++) copy.copyFrom(image)
zeros([9]).dispose()
console.log(JSON.stringify(memoryMap({ format: FORMAT, limit: LIMIT })))
globalThis.held = [image, views, windows, wide, both, many, copy]
`
const fixed = (format, limit) =>
  childJson(FIXED.replace('FORMAT', JSON.stringify(format)).replace('LIMIT', String(limit)))

const TEXT = `samebytes memory map · node · ${backend()} · 312 tensors on 305 blocks of 1.2 KiB

#6 · 300 × 3 B · OWN
  ▕████████████████████████████████████████▏ uint8 [3] · ones at [eval]:11

#1 · 96 B · OWN
  ▕████████████████████████████████████████▏ float32 [4, 6] · zeros at [eval]:4
  ▕          ████████████████████          ▏ float32 [2, 6] · slice at [eval]:5
  ▕████████████████████████████████████████▏ float32 [6, 4] · strides [1, 6] · T at [eval]:5
  ▕   ▒█        ▒█        ▒█        ▒█     ▏ float32 [4] · strides [6] · select at [eval]:5
  ▕████████████████████████████████████████▏ float32 [4, 6] · strides [6, -1] · flip at [eval]:5

#306 · 96 B · OWN
  ▕████████████████████████████████████████▏ float32 [4, 6] · clone at [eval]:12

#2 · 80 B · OWN
  ▕████████████████████████████████████████▏ int32 [20] · arange at [eval]:6
  ▕██████████████████████████████████████  ▏ int32 [8, 5] · strides [2, 1] · unfold at [eval]:6

#4 · 64 B · js · the caller's float32 array × 2
  ▕██████████                              ▏ float32 [4] · fromBlob at [eval]:9
  ▕                    ████████████████████▏ float32 [8] · data taken · fromBlob at [eval]:9

#3 · 4 B · OWN
  ▕████████████████████████████████████████▏ float32 [] · scalarTensor at [eval]:7
  ▕████████████████████████████████████████▏ float32 [1000, 1000] · strides [0, 0] · expand at [eval]:7

copies
  copyFrom: 2 ×, 192 B
    [eval]:13: 2 ×, 192 B
  clone: 1 ×, 96 B
    [eval]:12: 1 ×, 96 B
`.replaceAll('OWN', OWN)

describe('memoryMap', function () {
  needs('a Node of its own')

  it('says in lines what shares what, on int32 and float32', async () => {
    assert.equal(await fixed('text', 1000), TEXT)
  })

  it('says the same as data', async () => {
    const map = await fixed('json', 1000)
    assert.deepEqual(Object.keys(map), [
      'format',
      'samebytes',
      'backend',
      'program',
      'pid',
      'totals',
      'regions',
      'more',
      'copied',
      'staged',
      'sent',
      'memory',
    ])
    assert.equal(map.format, 1)
    assert.equal(map.samebytes, require('../../package.json').version)
    assert.equal(map.backend, backend())
    assert.ok(Number.isSafeInteger(map.pid) && map.pid > 0)
    assert.deepEqual(map.more, { regions: 0, tensors: 0, bytes: 0 })
    assert.equal(map.totals.untraced, 0)
    assert.equal(
      map.totals.regions,
      map.regions.reduce((sum, { count }) => sum + count, 0),
    )
    assert.equal(
      map.totals.bytes,
      map.regions.reduce((sum, { count, nbytes }) => sum + count * nbytes, 0),
    )
    assert.equal(
      map.totals.tensors,
      map.regions.reduce(
        (sum, { count, tensors }) => sum + count * tensors.reduce((n, row) => n + row.count, 0),
        0,
      ),
    )
    for (const region of map.regions) {
      assert.deepEqual(Object.keys(region), [
        'id',
        'count',
        'kind',
        'nbytes',
        'address',
        'device',
        'owners',
        'site',
        'tensors',
        'more',
      ])
      assert.equal(region.device, 'cpu')
      assert.ok(region.address === null || /^0x[0-9a-f]+$/.test(region.address))
      for (const row of region.tensors) assertRow(row, region)
    }
    const image = map.regions.find(({ tensors }) => tensors[0].site.line === 4)
    const [whole, rows, , column, mirrored] = image.tensors
    assert.deepEqual(
      [whole.starts, rows.starts, column.starts, mirrored.starts],
      [[0], [24], [8], [20]],
    )
    assert.deepEqual(
      [whole.reach, rows.reach, column.reach, mirrored.reach],
      [
        [0, 96],
        [0, 48],
        [0, 76],
        [-20, 76],
      ],
    )
    assert.deepEqual([whole.isView, rows.isView], [false, true])
    assert.deepEqual(whole.site, { file: '[eval]', line: 4, column: 15, call: 'zeros' })
    const given = map.regions.find(({ kind }) => kind === 'js')
    assert.deepEqual(given.owners, [{ kind: 'object', name: 'float32 array', count: 2 }])
    assert.deepEqual(
      given.tensors.map(({ exposed }) => exposed),
      [0, 1],
    )
    assert.deepEqual(map.copied.copyFrom, {
      count: 2,
      bytes: 192,
      sites: [
        { site: { file: '[eval]', line: 13, column: 34, call: 'copyFrom' }, count: 2, bytes: 192 },
      ],
    })
    const { count, bytes } = map.copied.clone
    assert.deepEqual(map.memory.copied.clone, { count, bytes })
  })

  it('names what arithmetic made, on float32', async () => {
    const calls = [
      'm.add(a, 1)',
      'm.var(a)',
      'm.softmax(a)',
      'm.sort(a)',
      'm.fft(a)',
      'm.linalg.det(square)',
      'await m.addAsync(a, 1)',
      'await m.varAsync(a)',
      's.stack([a, a])',
      's.arange(7)',
    ]
    const sites = await childJson(`
      const { memoryMap } = require('samebytes/inspect')
      const s = require('samebytes')
      const m = require('samebytes/math')
      const main = async () => {
        const [a, square] = [s.tensor([1, 2, 3], 'float32'), s.tensor([[2, 1], [1, 3]], 'float32')]
        const held = []
        ${calls.map((text) => `held.push(${text})`).join('\n')}
        console.log(JSON.stringify(memoryMap().regions.flatMap(({ tensors }) => tensors).map(({ site }) => site)))
        globalThis.held = [a, square, held]
      }
      main()
    `)
    const named = sites
      .sort((a, b) => a.line - b.line)
      .slice(2)
      .map(({ file, line, call }) => `${call} ${file}:${line - 8}`)
    assert.deepEqual(
      named,
      [
        'add',
        'var',
        'softmax',
        'sort',
        'fft',
        'det',
        'addAsync',
        'varAsync',
        'stack',
        'arange',
      ].map((call, i) => `${call} [eval]:${i}`),
    )
  })

  it('says which copies were staged on the way, and by whom, on int32', async () => {
    const { staged, memory } = await childJson(`
      const { memoryMap } = require('samebytes/inspect')
      const { arange } = require('samebytes')
      const t = arange(16).reshape([4, 4])
      t.copyFrom(t.T)
      console.log(JSON.stringify(memoryMap()))
    `)
    assert.deepEqual(staged, {
      count: 1,
      bytes: 64,
      sites: [
        { site: { file: '[eval]', line: 5, column: 9, call: 'copyFrom' }, count: 1, bytes: 64 },
      ],
    })
    assert.deepEqual(memory.staged, { count: 1, bytes: 64 })
  })

  it('leaves the smallest out, and says how many', async () => {
    const { regions, more, totals } = await fixed('json', 1)
    assert.equal(regions.length, 1)
    assert.equal(more.regions, totals.regions - 300)
    assert.equal(more.bytes, totals.bytes - 900)
    assert.match(await fixed('text', 1), /and \d+ blocks of 340 B more, with \d+ tensors/)
  })

  it('leaves out the smallest of many tensors on one block, which are all different, and says how many', async () => {
    const { regions, page, text } = await childJson(`
      const { memoryMap } = require('samebytes/inspect')
      const { zeros } = require('samebytes')
      const base = zeros([1000])
      const views = Array.from({ length: 900 }, (_, i) => base.asStrided([i + 1], [1]))
      const others = Array.from({ length: 30 }, (_, i) => zeros([i + 1]))
      console.log(JSON.stringify({ regions: memoryMap({ limit: 20 }).regions, page: memoryMap({ format: 'html', limit: 20 }).length, text: memoryMap({ format: 'text', limit: 20 }) }))
      if (views.length + others.length === 0) throw new Error('they are alive until here')
    `)
    assert.deepEqual(
      [regions[0].nbytes, regions[0].tensors.length, regions[0].more],
      [4000, 20, 881],
    )
    assert.deepEqual(
      regions[0].tensors.map(({ size }) => size),
      [1000, ...Array.from({ length: 19 }, (_, i) => 882 + i)],
    )
    assert.ok(
      regions.length === 20 &&
        regions.every(({ more, tensors }, i) => i === 0 || (more === 0 && tensors.length > 0)),
    )
    assert.match(text, /\n {2}and 881 tensors more\n/)
    assert.ok(page < 100000, String(page))
  })

  it('gives a page that needs nothing else and runs nothing but its own', async () => {
    const page = await fixed('html', 1000)
    assert.match(page, /^<!doctype html>\n<html lang="en">/)
    const [, policy] = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(page)
    const [, nonce] = /script-src 'nonce-(\w{20,})'/.exec(policy)
    assert.ok(
      policy.startsWith("default-src 'none';") && !/unsafe|https?:|connect-src/.test(policy),
      policy,
    )
    assert.deepEqual(
      [...page.matchAll(/<(?:script|style)[^>]*>/g)].map(([tag]) => tag),
      [
        `<style nonce="${nonce}">`,
        '<script type="application/json" id="data">',
        `<script nonce="${nonce}">`,
      ],
    )
    assert.doesNotMatch(
      page.replaceAll('http://www.w3.org/2000/svg', ''),
      /\b(?:https?:|src=|@import|url\()/,
    )
    const data = JSON.parse(
      /<script type="application\/json" id="data">(.*)<\/script>/.exec(page)[1],
    )
    assert.deepEqual(data.map.copied, (await fixed('json', 1000)).copied)
    assert.match(page, /<noscript><pre>samebytes memory map · node/)
  })

  it('lets no name of a file become markup, or speak to a terminal', async function () {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-map-'))
    try {
      const hostile = '<img src=x onerror=alert(1)>&\'"<!--<script>\u001b[31m\u2028.js'
      const name = process.platform === 'win32' ? hostile.replace(/[<>"\p{Cc}]/gu, '') : hostile // what is allowed there
      const file = path.join(folder, name)
      fs.writeFileSync(
        file,
        `
        const vm = require('node:vm')
        const { memoryMap } = require(${JSON.stringify(path.join(ROOT, 'js', 'inspect.js'))})
        globalThis.samebytes = require(${JSON.stringify(path.join(ROOT, 'js', 'index.js'))})
        vm.runInThisContext('\\n\\nglobalThis.t = samebytes.zeros([2])', ${JSON.stringify({ filename: path.join(folder, hostile) })})
        console.log(JSON.stringify(['html', 'text'].map(format => memoryMap({ format }))))
      `,
      )
      const stdout = await new Promise((resolve, reject) =>
        execFile(process.execPath, [file], { timeout: HANG_MS }, (error, stdout) =>
          error ? reject(error) : resolve(stdout),
        ),
      )
      const [page, text] = JSON.parse(stdout)
      assert.doesNotMatch(page, /<img|<!--/)
      assert.equal(page.match(/<script/g).length, 2)
      assert.ok(
        page.includes('&lt;img src=x onerror=alert(1)&gt;&amp;&#39;&quot;&lt;!--&lt;script&gt;'),
      )
      const { map } = JSON.parse(/id="data">(.*)<\/script>/.exec(page)[1])
      assert.ok(map.program.includes(name) && map.regions[0].site.file.includes(hostile))
      // eslint-disable-next-line no-control-regex -- it must not be there
      assert.doesNotMatch(text, /[\u001b\u2028]/)
      assert.match(text, /<script>\\u001b\[31m\\u2028\.js:3/)
    } finally {
      fs.rmSync(folder, { recursive: true })
    }
  })

  it('shows a hundred thousand tensors at once', async () => {
    const { rows, tensors, starts, sums } = await childJson(`
      const { memoryMap } = require('samebytes/inspect')
      const { zeros } = require('samebytes')
      const base = zeros([50000, 3], 'int16')
      const held = [...base]
      for (let i = 0; i < 50000; i++) held.push(zeros([1 + i % 5]))
      const { regions, totals } = memoryMap()
      const [first] = regions.find(region => region.tensors.length === 2).tensors.slice(1)
      console.log(JSON.stringify({ rows: regions.length, tensors: totals.tensors, starts: first.starts.length, sums: regions.map(({ count }) => count).sort() }))
      globalThis.held = [base, held]
    `)
    assert.deepEqual({ rows, tensors }, { rows: 6, tensors: 100001 })
    assert.deepEqual(sums, [1, 10000, 10000, 10000, 10000, 10000])
    assert.ok(starts > 10 && starts <= 128)
  })

  it('does what the examples of its functions say', async () => {
    const examples = ['inspect/public.js', 'inspect/map.js']
      .flatMap((file) => [
        ...fs
          .readFileSync(path.join(ROOT, 'js', file), 'utf8')
          .matchAll(/ \* @example\n((?: \* .*\n)+) \*\//g),
      ])
      .map(([, lines]) =>
        lines.replace(/^ \* /gm, '').replace(/^(.+) \/\/ (true)$/gm, 'check($1, $2)'),
      )
    assert.equal(examples.length, 5)
    const checked = await childJson(`
      const { zeros } = require('samebytes')
      const { memoryMap, serveMap, mapElement, trace, untrace } = require('samebytes/inspect')
      let checked = 0
      const check = (value, wanted) => { if (value !== wanted) throw new Error(String(value)); checked++ }
      const main = async () => {
        ${examples.map((text) => `{\n${text}}`).join('\n')}
        console.log(checked)
      }
      main()
    `)
    assert.equal(checked, 2)
  })

  it('refuses what it cannot show', async () => {
    const told = await childJson(`
      const { memoryMap, mapElement, serveMap } = require('samebytes/inspect')
      const refusal = fn => { try { return fn() && 'none' } catch ({ code, message }) { return [code, message] } }
      const main = async () => {
        const told = [{ format: 'pdf' }, null, 'text', { limit: -1 }, { limit: 1.5 }, { limit: '3' }].map(options => refusal(() => memoryMap(options)))
        for (const options of [{ port: -1 }, { port: 65536 }, { port: 'x' }, 7]) told.push(await serveMap(options).then(() => 'none', ({ code, message }) => [code, message]))
        told.push(refusal(() => mapElement()))
        console.log(JSON.stringify(told))
      }
      main()
    `)
    assert.deepEqual(
      told.map(([code]) => code),
      [
        'ERR_ARGUMENT',
        'ERR_ARGUMENT',
        'ERR_ARGUMENT',
        'ERR_BOUNDS',
        'ERR_ARGUMENT',
        'ERR_ARGUMENT',
        'ERR_BOUNDS',
        'ERR_BOUNDS',
        'ERR_ARGUMENT',
        'ERR_ARGUMENT',
        'ERR_UNSUPPORTED',
      ],
    )
    for (const [, message] of told) assert.match(message, /expected|memoryMap/)
  })
})

function assertRow(row, { nbytes }) {
  assert.deepEqual(Object.keys(row), [
    'id',
    'count',
    'dtype',
    'itemsize',
    'shape',
    'strides',
    'size',
    'starts',
    'reach',
    'isView',
    'isReadOnly',
    'exposed',
    'site',
    'thread',
  ])
  assert.equal(
    row.size,
    row.shape.reduce((a, b) => a * b, 1),
  )
  assert.equal(row.shape.length, row.strides.length)
  assert.ok(row.starts.length >= 1 && row.starts.length <= row.count)
  for (const start of row.starts) {
    assert.ok(start + row.reach[0] >= 0 && start + row.reach[1] <= nbytes, JSON.stringify(row))
  }
  assert.deepEqual([row.thread, row.isReadOnly], [null, false])
}

describe('lines of stacks', () => {
  needs('a Node of its own')

  it('are read whatever is in the names of files', () => {
    const { frameOf } = require('../../js/inspect/frames')
    const read = (line) => Object.values(frameOf(line) ?? {}).join(' | ')
    const lines = {
      '    at zeros (/a (1)/b@2/c.js:3:4)': 'zeros | /a (1)/b@2/c.js | 3 | 4',
      '    at async Tensor.to [as to] (file:///a.js:3:4)':
        'Tensor.to [as to] | file:///a.js | 3 | 4',
      '    at http://host:80/a(1)/b@2/c.js?v=5:3:4': ' | http://host:80/a(1)/b@2/c.js?v=5 | 3 | 4',
      '    at async https://host/a.js:3:4': ' | https://host/a.js | 3 | 4',
      'zeros@https://host/samebytes@1.0.0/a(1).mjs:3:4':
        'zeros | https://host/samebytes@1.0.0/a(1).mjs | 3 | 4',
      '@http://host:80/a.js:3:4': ' | http://host:80/a.js | 3 | 4',
      'async*get T@http://host/a.js line 5 > eval:3:4':
        'async*get T | http://host/a.js line 5 > eval | 3 | 4',
      'f@http://host/a.wasm:wasm-function[5]:0x12': '',
      'forEach@[native code]': '',
      'Error: at some place': '',
      '': '',
    }
    assert.deepEqual(
      Object.fromEntries(Object.keys(lines).map((line) => [line, read(line)])),
      lines,
    )
  })
})

describe('trace and untrace', function () {
  needs('a Node of its own')

  it('replace nothing: one listener is told, and none before and after', async () => {
    const told = await childJson(`
      const { zeros, tidy, memory } = require('samebytes')
      const lifetime = require('./js/layout/lifetime')
      const { events } = require('./js/backend/storage')
      const { stats } = require('./js/backend/storage')
      const ffi = require('./js/backend/calls')
      const fileCalls = require('./js/backend/file-calls')
      const seen = () => [lifetime.made, lifetime.tracking, ffi.sendStorage, ffi.receiveStorage, fileCalls.mapFile, ffi.backend.partOf, ffi.takeCapsule, ffi.backend.wrap, ffi.backend.sweep, stats.copied, stats.sent]
      const kinds = () => JSON.stringify([Object.getOwnPropertyDescriptor(lifetime.tracking, 'on'), Object.keys(ffi.backend), Object.getOwnPropertyDescriptor(stats.staged, 'bytes')])
      zeros([2]).clone()
      const [before, kindsBefore, deaf] = [seen(), kinds(), events.listener === null]
      const { trace, untrace, memoryMap } = require('samebytes/inspect')
      const during = seen().map((value, i) => value === before[i])
      const heard = events.listener !== null
      const t = zeros([2]).clone()
      const copied = memory().copied.clone
      const mapped = memoryMap().totals
      trace()
      untrace()
      untrace()
      const silent = events.listener === null
      const after = seen().map((value, i) => value === before[i])
      const same = kinds() === kindsBefore
      zeros([2]).clone()
      const count = memory().copied.clone.count
      const inside = tidy(() => { trace(); const a = zeros([3]); untrace(); const b = zeros([4]); return [a, b].map(t => t.isDisposed) })
      const tracked = []
      tidy(() => { tracked.push(zeros([3])); trace(); tracked.push(zeros([3])); untrace(); tracked.push(zeros([3])) })
      console.log(JSON.stringify({ deaf, heard, silent, during, copied, mapped: mapped.tensors, untraced: mapped.untraced > 0, after, same, count, inside, gone: tracked.map(t => t.isDisposed), on: lifetime.tracking.on }))
    `)
    assert.ok(told.mapped >= 1 && told.mapped <= 2)
    delete told.mapped
    assert.deepEqual(told, {
      deaf: true,
      heard: true,
      silent: true,
      during: Array(11).fill(true),
      copied: { count: 2, bytes: 16 },
      untraced: true,
      after: Array(11).fill(true),
      same: true,
      count: 3,
      inside: [false, false],
      gone: [true, true, true],
      on: false,
    })
  })

  it('hold nothing: what nobody has is collected in the same turn', async () => {
    const { made, tensors } = await childJson(
      `
      const { memoryMap } = require('samebytes/inspect')
      const { empty, setMemoryLimit } = require('samebytes')
      setMemoryLimit(2 ** 27)
      let made = 0
      const main = async () => {
        for (; made < 2000; made++) {
          const t = empty([2 ** 18])
          if (${isWasm}) t.dispose() // its memory never goes by itself within a turn
          if (made % 16 === 0) gc()
        }
        await new Promise(resolve => setImmediate(resolve))
        gc()
        console.log(JSON.stringify({ made, tensors: memoryMap().totals.tensors }))
      }
      main()
    `,
      { flags: ['--expose-gc'] },
    )
    assert.equal(made, 2000)
    assert.ok(tensors < 20, `${tensors} tensors`)
  })

  it('work with source maps, and with programs that prepare stacks themselves', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-map-'))
    try {
      const map = {
        version: 3,
        sources: ['first.ts'],
        names: [],
        mappings: 'AAAA;AAUA;AACA;AACA',
        file: 'first.js',
      } // line 2 is line 11 there
      const program = `require(${JSON.stringify(path.join(ROOT, 'js', 'inspect.js'))}); Error.prepareStackTrace = () => { throw new Error('it ran') }; Error.stackTraceLimit = 0
globalThis.t = require(${JSON.stringify(path.join(ROOT, 'js', 'index.js'))}).zeros([2])
console.log(JSON.stringify([require(${JSON.stringify(path.join(ROOT, 'js', 'inspect.js'))}).memoryMap().regions[0].site, Error.stackTraceLimit]))
//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`
      fs.writeFileSync(path.join(folder, 'first.js'), program)
      const told = await new Promise((resolve, reject) =>
        execFile(
          process.execPath,
          ['--enable-source-maps', path.join(folder, 'first.js')],
          { timeout: HANG_MS },
          (error, stdout) => (error ? reject(error) : resolve(JSON.parse(stdout))),
        ),
      )
      assert.equal(path.basename(told[0].file), 'first.ts')
      assert.deepEqual([told[0].line, told[0].call, told[1]], [11, 'zeros', 0])
    } finally {
      fs.rmSync(folder, { recursive: true })
    }
  })
})

describe('SAMEBYTES_TRACE=1', function () {
  needs('a Node of its own')
  const traced = (program, options) => child(program, { env: { SAMEBYTES_TRACE: '1' }, ...options })

  it('reports at exit which tensors are left, by who made them', async () => {
    const { code, stdout, stderr } = await traced(`
      const { ones, zeros } = require('samebytes')
      function leak () {
        return zeros([2, 8])
      }
      globalThis.held = [leak(), leak(), leak(), ones([100], 'float64')]
      globalThis.view = held[0].T
      zeros([7]).dispose()
      setImmediate(() => { zeros([5]) })
      console.log('done')
    `)
    assert.equal(stdout, 'done\n')
    assert.equal(code, 0)
    assert.equal(
      stderr,
      `samebytes: 5 tensors were alive at exit, on 992 B
  1 × float64 [100], ones, on 800 B: [eval]:6:50
  3 × float32 [2, 8], zeros, on 192 B: [eval]:4:16
  1 × float32 [8, 2], T, on 64 B: [eval]:7:33
`,
    )
  })

  it('says nothing where nothing is left, and nothing without it', async () => {
    const program = `
      const { zeros } = require('samebytes')
      const t = zeros([2])
      globalThis.t = process.env.SAMEBYTES_TRACE === '1' ? null : t
      t.dispose()
    `
    assert.deepEqual((({ code, stderr }) => ({ code, stderr }))(await traced(program)), {
      code: 0,
      stderr: '',
    })
    const { stderr } = await child("globalThis.t = require('samebytes').zeros([2])")
    assert.equal(stderr, '')
  })

  it('reports when a program ends itself, or fails', async () => {
    for (const [end, status] of [
      ['process.exit(3)', 3],
      ["throw new Error('failed')", 1],
    ]) {
      const { code, stderr } = await traced(
        `globalThis.t = require('samebytes').zeros([2]); ${end}`,
      )
      assert.equal(code, status)
      assert.match(
        stderr,
        /samebytes: 1 tensor was alive at exit, on 8 B\n {2}1 × float32 \[2\], zeros, on 8 B: \[eval\]:1:37\n/,
      )
    }
  })

  it('reports of workers as well', async () => {
    const { code, stderr } = await traced(`
      const { Worker, isMainThread } = require('node:worker_threads')
      const { zeros } = require('samebytes')
      new Worker("globalThis.t = require('samebytes').zeros([3])", { eval: true })
    `)
    assert.equal(code, 0)
    assert.match(
      stderr,
      /samebytes: 1 tensor of worker 1 was alive at exit, on 12 B\n {2}1 × float32 \[3\], zeros/,
    )
  })
})

describe("the memory map of others' memory", function () {
  nativeOnly()
  let folder

  after(() => {
    if (folder) fs.rmSync(folder, { recursive: true }) // not before the program ends: Windows deletes no mapped file
  })

  it('names files, shared memory, native code, threads, blobs and what is pending', async function () {
    skipWithout(this, 'sealed memory')
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-map-'))
    const regions = await childJson(`
      const path = require('node:path')
      const { memoryMap } = require('samebytes/inspect')
      const s = require('samebytes')
      const folder = ${JSON.stringify(folder)}
      const name = 'samebytes-map-' + process.pid
      try {
        const file = path.join(folder, 'weights.safetensors')
        s.saveSafetensorsSync(file, { a: s.ones([16]), b: s.zeros([8, 8]) })
        const weights = s.openSafetensors(file)
        const a = weights.get('a')
        const b = weights.get('b')
        const made = s.createNpy(path.join(folder, 'made.npy'), [4])
        const named = s.SharedTensor.create(name, [4, 4])
        const sealed = s.SharedTensor.create(null, [5], { sealed: true })
        const segments = [named.tensor, sealed.tensor]
        const sent = s.zeros([6], { shared: true })
        const token = s.share(sent)
        const sab = s.zeros([7], { shared: 'sab' })
        const lent = s.zeros([9])
        const capsule = lent.__dlpack__({ maxVersion: [1, 0] })
        const record = lent.toBlob()
        const address = s.fromBlob(sent.dataPtr, [3], { dtype: 'float32', owner: sent })
        const foreign = s.fromBlob(4096n, [0], { dtype: 'float32', owner: {} })
        const taken = s.fromDlpack(s.ones([13]).__dlpack__({ maxVersion: [1, 0], copy: true }))
        const ours = s.zeros([14], { shared: true })
        const theirs = s.fromShared(s.share(ours))
        const target = s.zeros([11], { shared: true })
        const pending = target.copyFromAsync(s.ones([11], { shared: true }))
        const { regions } = memoryMap()
        console.log(JSON.stringify(regions.map(({ kind, nbytes, owners, tensors }) => ({ kind, nbytes, owners: owners.map(({ kind, name, count }) => kind + ' ' + path.basename(name) + ' ' + count), starts: tensors.map(row => row.starts) }))))
        pending.then(() => s.unshare(token))
        globalThis.held = [a, b, weights, made, named, sealed, segments, sab, capsule, record, address, foreign, taken, ours, theirs]
      } finally {
        s.SharedTensor.unlink(name)
      }
    `)
    const one = (kind) => {
      const found = regions.filter((region) => region.kind === kind)
      return found
    }
    const [weights] = one('file').filter(({ starts }) => starts.length === 2)
    assert.deepEqual(weights.owners, ['file weights.safetensors (private) 1'])
    assert.deepEqual(
      [weights.starts[1][0] - weights.starts[0][0], weights.starts[1][0] + 256],
      [64, weights.nbytes],
    )
    assert.ok(
      one('file').some(
        ({ owners, nbytes, starts }) =>
          owners[0] === 'file made.npy 1' && nbytes === starts[0][0] + 16,
      ),
    )
    assert.ok(
      one('shm').some(
        ({ owners, nbytes }) => /^shm samebytes-map-\d+ 1$/.test(owners[0]) && nbytes === 128 + 64,
      ),
    )
    assert.ok(one('shm').some(({ owners }) => owners[0] === 'shm (sealed, without a name) 1'))
    const [shared] = one('native').filter(({ nbytes }) => nbytes === 24)
    assert.deepEqual(
      [shared.owners, shared.starts],
      [
        ['threads a token was given 1', 'object Tensor 1'],
        [[0], [0]],
      ],
    )
    assert.deepEqual(
      one('dlpack').map(({ nbytes }) => nbytes),
      [52],
    )
    assert.deepEqual(
      one('foreign').map(({ nbytes, owners }) => [nbytes, owners]),
      [[0, ['object object 1']]],
    )
    assert.deepEqual(one('native').find(({ nbytes }) => nbytes === 56).owners, [
      'threads a token was given 1',
      'threads of another thread 1',
    ])
    assert.equal(one('sab').length, 1)
    assert.deepEqual(regions.find(({ nbytes }) => nbytes === 36).owners, [
      'native native code 1',
      'record toBlob 1',
    ])
    assert.deepEqual(
      one('native')
        .filter(({ nbytes }) => nbytes === 44)
        .map(({ owners }) => owners[0])
        .sort(),
      ['operation read 1', 'operation written 1'],
    )
  })
})
