'use strict'
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { childJson, needs } = require('../setup')

// The package reads most of its files when they are first needed. Whoever has replaced the loader runs code of its own then, in the middle
// of a call: here it takes the bytes away that the call is about, and writes over them where they are now.

const PROGRAM = `
  const { Worker } = require('node:worker_threads')
  const CALLS = {
    parseNpy: (s, x) => s.parseNpy(x.file).toArray(),
    parseSafetensors: (s, x) => [...s.parseSafetensors(x.file)].map(([name, t]) => [name, t.toArray()]),
    concat: (s, x) => s.concat([x.t, x.u]).toArray(),
    arrayEqual: (s, x) => [s.arrayEqual(x.t, x.t), s.allClose(x.t, x.t)],
    take: (s, x) => x.t.take([1, 0]).toArray(),
    toArray: (s, x) => x.t.toArray(),
    toString: (s, x) => [String(x.t)],
    copyFrom: (s, x) => s.zeros([4]).copyFrom(x.t.flip(0), { scale: 2 }).toArray(),
    copyFromAsync: async (s, x) => (await s.zeros([4]).copyFromAsync(x.t)).toArray(),
    copyOverAsync: async (s, x) => (await x.t.copyFromAsync(s.ones([4]))).toArray(),
    toNpyBytes: (s, x) => Array.from(s.toNpyBytes(x.t)),
    toSafetensorsBytes: (s, x) => Array.from(s.toSafetensorsBytes({ x: x.t })),
    accessor: (s, x) => x.t.accessor().get(2),
    hash: (s, x) => s.sharesMemory(x.t, x.u),
    asarray: (s, x) => s.asarray(x.t.data, { dtype: 'float64' }).toArray(),
    share: (s, x) => s.fromShared(s.share(s.tensor(x.t, { shared: true }))).toArray(),
    random: (s, x) => { s.manualSeed(1); return s.rand([4], { out: x.t }).toArray() },
    toImageData: (s, x) => Array.from(x.t.view({ dtype: 'uint8' }).reshape([4, 4]).toImageData().data),
    view: (s, x) => x.t.view({ dtype: 'int32' }).toArray(),
    tile: (s, x) => x.t.tile([2]).toArray(),
    resize: (s, x) => x.t.resize([2]).toArray()
  }
  const work = async ({ name, which }) => {
    const loader = require('node:module')
    const s = require('samebytes')
    const x = { file: s.toNpyBytes(s.tensor([1, 2, 3, 4])) }
    if (name === 'parseSafetensors') x.file = s.toSafetensorsBytes({ x: s.tensor([1, 2, 3, 4]) })
    x.file = new Uint8Array(x.file)
    const values = new Float32Array([1, 2, 3, 4])
    x.t = s.fromBlob(values)
    x.u = s.ones([2])
    const { _load } = loader
    let loads = 0
    const take = buffer => { if (buffer.byteLength > 0) new Uint8Array(structuredClone(buffer, { transfer: [buffer] })).fill(255) }
    loader._load = function (request) {
      const loaded = Reflect.apply(_load, this, arguments)
      if (/^[.]/.test(request) && ++loads === which) { take(values.buffer); take(x.file.buffer) }
      return loaded
    }
    let said
    try { said = await CALLS[name](s, x) } catch (error) { said = error.code ?? String(error) }
    loader._load = _load
    require('node:worker_threads').parentPort.postMessage({ said, loads })
  }
  const run = workerData => new Promise((resolve, reject) => {
    const worker = new Worker('const CALLS = ' + SOURCE + '; (' + work + ')(require("node:worker_threads").workerData)', { eval: true, workerData })
    worker.once('message', resolve).once('error', reject)
  })
  const SOURCE = '{' + Object.entries(CALLS).map(([name, call]) => name + ': ' + call).join(',') + '}'
  const main = async name => {
    const good = await run({ name, which: -1 })
    const seen = []
    for (let which = 1; which <= good.loads; which += which < good.loads - 4 ? 5 : 1) seen.push((await run({ name, which })).said)
    console.log(JSON.stringify({ good: good.said, seen }))
  }`

describe('a loader that a program replaced, which takes the bytes away while a file is read,', function () {
  needs('a Node of its own')

  const names = [...PROGRAM.matchAll(/^ {4}(\w+): (?:async )?\(s, x\)/gm)].map(([, name]) => name)
  for (const name of names) {
    it(`has ${name} fail or give what it gave before`, async () => {
      const { good, seen } = await childJson(`${PROGRAM}\nmain('${name}')`)
      assert.notEqual(typeof good, 'string', good)
      for (const said of seen) {
        if (said !== 'ERR_DETACHED') assert.deepEqual(said, good)
      }
    })
  }
})

describe('a Node without WebAssembly', function () {
  needs('a Node of its own')

  for (const name of ['wasm', 'wasm-shared']) {
    it(`refuses ${name} with a code, and says what works`, async () => {
      const told = await childJson(
        `
        try { require('samebytes') } catch ({ code, message }) { console.log(JSON.stringify([code, message])) }
      `,
        { flags: ['--jitless'], env: { SAMEBYTES_BACKEND: name } },
      )
      assert.deepEqual(told, [
        'ERR_UNSUPPORTED',
        'this runtime has no WebAssembly: Node has none under --jitless, where only the native addon works',
      ])
    })
  }
})

describe('a startup snapshot', function () {
  needs('a Node of its own')

  it('is refused while it is built, and may load the package when it starts', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-snapshot-'))
    const blob = path.join(folder, 'snapshot.blob')
    const program = path.join(folder, 'program.js')
    const load = `require('node:module').createRequire(${JSON.stringify(__filename)})('samebytes')`
    const start = (...flags) =>
      spawnSync(process.execPath, ['--snapshot-blob', blob, ...flags], { encoding: 'utf8' })
    const run = (...flags) => {
      const { status, stdout, stderr } = start(...flags)
      assert.equal(status, 0, stderr)
      return JSON.parse(stdout)
    }
    try {
      // Node's own loader does not survive in a snapshot: this one is not started. On Windows Node cannot even write it.
      fs.writeFileSync(
        program,
        `try { ${load} } catch ({ code, message }) { console.log(JSON.stringify([code, message])) }`,
      )
      const { stdout, stderr } = start('--build-snapshot', program)
      assert.notEqual(stdout, '', stderr)
      const [code, message] = JSON.parse(stdout)
      assert.equal(code, 'ERR_UNSUPPORTED')
      assert.match(message, /while Node builds a startup snapshot.*setDeserializeMainFunction/)
      fs.writeFileSync(
        program,
        `
        require('node:v8').startupSnapshot.setDeserializeMainFunction(() => { console.log(JSON.stringify(${load}.ones([2]).toArray())) })
        console.log('"built"')
      `,
      )
      assert.equal(run('--build-snapshot', program), 'built')
      assert.deepEqual(run('a'), [1, 1])
    } finally {
      fs.rmSync(folder, { recursive: true, force: true })
    }
  })
})
