'use strict'
// samebytes/onnxruntime: programs of onnxruntime-node's, run with it and without.
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { MISDECLARED } = require('../models')
const { onnx } = require('../onnx')
const { ROOT, needs } = require('../setup')
const { HANG_MS } = require('../hang')

const ENTRY = ['--import', 'samebytes/onnxruntime']

/** some ten million multiplications, thirty times: long beside a turn of the event loop */
const LONG = onnx({
  inputs: { x: 'float32[256, 256]' },
  nodes: Array.from({ length: 30 }, (_, i) => `MatMul(${i === 0 ? 'x' : `x${i}`}, x) -> x${i + 1}`),
  outputs: { x30: 'float32[256, 256]' },
})
const ADD = onnx({
  inputs: { a: 'float32[n]', b: 'float32[n]' },
  nodes: ['Add(a, b) -> c'],
  outputs: { c: 'float32[n]' },
})
const STRINGS = onnx({
  inputs: { x: 'string[n]' },
  nodes: ['Identity(x) -> y'],
  outputs: { y: 'string[n]' },
})

describe('samebytes/onnxruntime', function () {
  needs("onnxruntime's library")
  let folder

  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-onnxruntime-'))
    for (const [name, model] of Object.entries({ LONG, ADD, STRINGS, MISDECLARED })) {
      fs.writeFileSync(path.join(folder, `${name}.onnx`), model)
    }
  })
  after(() => {
    if (folder) fs.rmSync(folder, { recursive: true, force: true })
  })

  /** Runs Node in the package's folder: { code, signal, stdout, stderr }. */
  const node = (args, env = {}) =>
    new Promise((resolve) => {
      const options = {
        cwd: ROOT,
        env: { ...process.env, SAMEBYTES_ONNXRUNTIME: '', FOLDER: folder, ...env },
        maxBuffer: 1 << 26,
        timeout: HANG_MS,
        killSignal: 'SIGKILL',
      }
      const running = execFile(process.execPath, args, options, (error, stdout, stderr) => {
        const signal = error?.signal ?? null
        resolve({ code: running.exitCode, signal, stdout, stderr })
      })
    })

  /** What a program prints as JSON; it must end well, and say nothing else. */
  async function printed(args, env) {
    const { code, signal, stdout, stderr } = await node(args, env)
    assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' })
    return JSON.parse(stdout)
  }

  const PRELUDE = `
    const model = (name) => require('node:path').join(process.env.FOLDER, name + '.onnx')
    const print = (value) => console.log(JSON.stringify(value))
    const by = (session) => session.handler.constructor.name
    const floats = (values, dims) => new ort.Tensor('float32', Float32Array.from(values), dims)
  `
  const commonJs = (source) => [
    '--input-type=commonjs',
    '-e',
    `const ort = require('onnxruntime-node')\n${PRELUDE}\n;(async () => {${source}})()`,
  ]
  const esModule = (source) => [
    '--input-type=module',
    '-e',
    `import * as ort from 'onnxruntime-node'\nimport { createRequire } from 'node:module'\nconst require = createRequire(process.cwd() + '/x')\n${PRELUDE}\n${source}`,
  ]

  it('gives, takes and refuses in every case what onnxruntime-node does alone', async function () {
    const file = path.join(__dirname, 'onnxruntime-cases.js')
    const alone = await printed([file, folder])
    const ours = await printed([...ENTRY, file, folder])
    assert.deepEqual([alone.by, ours.by], ['OnnxruntimeSessionHandler', 'OrtSession'])
    assert.ok(Object.keys(alone.found).length > 140)
    const isNewer = 'Float16Array' in globalThis // of which onnxruntime-node 1.30 reads nothing
    for (const title of Object.keys(alone.found)) {
      if (isNewer && title.startsWith('float16')) continue
      assert.deepEqual(ours.found[title], alone.found[title], title)
    }
  })

  for (const [title, program] of [
    ['CommonJS', commonJs],
    ['ES modules', esModule],
  ]) {
    it(`runs sessions of ${title} with the same results, several at once`, async () => {
      const source = program(`
        const sessions = [await ort.InferenceSession.create(model('ADD')), await ort.InferenceSession.create(model('ADD'))]
        const long = await ort.InferenceSession.create(model('LONG'))
        const x = floats(Array.from({ length: 65536 }, (_, i) => ((i * 7) % 11) / 1000), [256, 256])
        const all = await Promise.all([
          long.run({ x }),
          ...sessions.map((each, i) => each.run({ a: floats([1, i], [2]), b: floats([i, 2], [2]) })),
          long.run({ x }),
        ])
        print([by(long), all.map((result) => Object.values(result).map(({ data, dims }) => [[...data], dims]))])
      `)
      const [[theirs, expected], [ours, found]] = [
        await printed(source),
        await printed([...ENTRY, ...source]),
      ]
      assert.deepEqual([theirs, ours], ['OnnxruntimeSessionHandler', 'OrtSession'])
      assert.ok(found[0][0][0].every(Number.isFinite))
      assert.deepEqual(found, expected)
    })
  }

  it('is imported or required by the program itself as well', async () => {
    const source = `
      const { InferenceSession } = await import('onnxruntime-node')
      const session = await InferenceSession.create(process.env.FOLDER + '/ADD.onnx')
      console.log(JSON.stringify(session.handler.constructor.name))
    `
    const imported = `import 'samebytes/onnxruntime'\n${source}`
    assert.equal(await printed(['--input-type=module', '-e', imported]), 'OrtSession')
    const required = `require('samebytes/onnxruntime'); (async () => {${source}})()`
    assert.equal(await printed(['--input-type=commonjs', '-e', required]), 'OrtSession')
  })

  it('finds the onnxruntime-node of the main script, in another folder', async () => {
    const place = path.join(folder, 'elsewhere')
    fs.mkdirSync(path.join(place, 'node_modules'), { recursive: true })
    for (const name of ['onnxruntime-node', 'onnxruntime-common']) {
      const to = path.join(place, 'node_modules', name)
      fs.cpSync(path.join(ROOT, 'node_modules', name), to, {
        recursive: true,
        filter: (from) => !/win32|darwin|arm64|\.map$/.test(path.relative(ROOT, from)),
      })
    }
    const file = path.join(place, 'app.cjs')
    fs.writeFileSync(
      file,
      `require('onnxruntime-node').InferenceSession.create(process.env.FOLDER + '/ADD.onnx').then(async (session) => {
        const maps = require('node:fs').readFileSync('/proc/self/maps', 'utf8')
        const libraries = new Set(maps.match(/\\S*libonnxruntime\\.so\\S*/g))
        console.log(JSON.stringify([session.handler.constructor.name, [...libraries]]))
      })`,
    )
    const [by, libraries] = await printed([...ENTRY, file])
    assert.equal(by, 'OrtSession')
    assert.equal(libraries.length, 1, 'the library of that onnxruntime-node alone')
    assert.ok(libraries[0].startsWith(place))
  })

  it('leaves the event loop free while a model runs and while it loads', async () => {
    const source = commonJs(`
      let turns = 0
      let isOver = false
      const count = () => { if (!isOver) { turns++; setImmediate(count) } }
      const session = await ort.InferenceSession.create(model('LONG'))
      const x = floats(new Float32Array(65536), [256, 256])
      await session.run({ x })
      count()
      await session.run({ x })
      isOver = true
      print([by(session), turns])
    `)
    const [theirs, few] = await printed(source)
    const [ours, many] = await printed([...ENTRY, ...source])
    assert.deepEqual([theirs, ours], ['OnnxruntimeSessionHandler', 'OrtSession'])
    assert.ok(few <= 2, `${few} turns without`)
    assert.ok(many > 10, `${many} turns`)
  })

  it("runs transformers.js' pipelines, with the same results", async () => {
    const place = path.join(folder, 'models', 'tiny')
    fs.mkdirSync(path.join(place, 'onnx'), { recursive: true })
    const words = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'the', 'same', 'bytes', '##s']
    const width = 4
    const table = Float32Array.from({ length: words.length * width }, (_, i) => Math.sin(i))
    const constants = {
      table: { dtype: 'float32', shape: [words.length, width], data: table },
    }
    fs.writeFileSync(
      path.join(place, 'onnx', 'model.onnx'),
      onnx({
        inputs: { input_ids: 'int64[batch, n]', attention_mask: 'int64[batch, n]' },
        nodes: ['Gather(table, input_ids) -> last_hidden_state'],
        outputs: { last_hidden_state: `float32[batch, n, ${width}]` },
        constants,
      }),
    )
    const files = {
      'config.json': { model_type: 'bert', architectures: ['BertModel'], hidden_size: width },
      'tokenizer_config.json': { tokenizer_class: 'BertTokenizer', model_max_length: 16 },
      'tokenizer.json': {
        version: '1.0',
        ...{ truncation: null, padding: null, added_tokens: [], normalizer: null },
        ...{ pre_tokenizer: { type: 'Whitespace' }, post_processor: null, decoder: null },
        model: {
          type: 'WordPiece',
          unk_token: '[UNK]',
          continuing_subword_prefix: '##',
          max_input_chars_per_word: 100,
          vocab: Object.fromEntries(words.map((word, i) => [word, i])),
        },
      },
    }
    for (const [name, text] of Object.entries(files)) {
      fs.writeFileSync(path.join(place, name), JSON.stringify(text))
    }
    const source = `
      import { env, pipeline } from '@huggingface/transformers'
      env.allowRemoteModels = false
      env.localModelPath = process.env.FOLDER + '/models'
      const extract = await pipeline('feature-extraction', 'tiny', { dtype: 'fp32' })
      const all = []
      for (const text of ['the same bytes', 'the same', 'bytess', 'the', ...new Array(12).fill('the bytes')]) {
        const { type, dims, data } = await extract(text, { pooling: 'mean', normalize: true })
        all.push({ type, dims, data: [...data] })
      }
      const [{ handler }] = Object.values(extract.model.sessions)
      console.log(JSON.stringify([handler.constructor.name, all]))
    `
    const args = ['--input-type=module', '-e', source]
    const [theirs, expected] = await printed(args)
    const [ours, found] = await printed([...ENTRY, ...args])
    assert.deepEqual([theirs, ours], ['OnnxruntimeSessionHandler', 'OrtSession'])
    assert.deepEqual(found, expected)
    assert.deepEqual(found[0].dims, [1, width])
  })

  it('leaves to onnxruntime-node what the library does not know: strings, other options, profiling', async () => {
    const source = commonJs(`
      const strings = await ort.InferenceSession.create(model('STRINGS'))
      const { y } = await strings.run({ x: new ort.Tensor('string', ['a', 'b'], [2]) })
      const profileFilePrefix = process.env.FOLDER + '/profile'
      const profiled = await ort.InferenceSession.create(model('ADD'), { enableProfiling: true, profileFilePrefix })
      const { c } = await profiled.run({ a: floats([1], [1]), b: floats([2], [1]) })
      profiled.endProfiling()
      const optimized = process.env.FOLDER + '/optimized.onnx'
      const saved = await ort.InferenceSession.create(model('ADD'), { optimizedModelFilePath: optimized, logSeverityLevel: 3 })
      class Options { get intraOpNumThreads () { return 'bad' } }
      const inherited = await ort.InferenceSession.create(model('ADD'), new Options()).catch((error) => error.message)
      const isThere = require('node:fs').existsSync(optimized)
      print([[strings, profiled, saved].map(by), y.data, [...c.data], isThere, inherited])
    `)
    const theirs = await printed(source)
    fs.rmSync(path.join(folder, 'optimized.onnx'))
    const found = await printed([...ENTRY, ...source])
    assert.deepEqual(found, theirs)
    assert.deepEqual(found[0], new Array(3).fill('OnnxruntimeSessionHandler'))
    assert.ok(found[3])
    assert.match(found[4], /intraOpNumThreads/)
    assert.equal(fs.readdirSync(folder).filter((name) => name.startsWith('profile')).length, 2)
  })

  it('runs a program whose inputs are written, transferred or let go of while a run goes on', async () => {
    const source = commonJs(`
      const session = await ort.InferenceSession.create(model('LONG'))
      const half = () => floats(new Float32Array(65536).fill(1 / 256), [256, 256])
      const expected = (await session.run({ x: half() })).x30.data[5]
      const turn = () => new Promise(setImmediate)
      const begun = async (x, fetches) => {
        const pending = session.run({ x }, fetches ?? ['x30'])
        await turn()
        await turn()
        return pending
      }
      const seen = []
      const x = half()
      const first = session.run({ x })
      await turn()
      await turn()
      x.data.fill(5)
      seen.push((await first).x30.data[5])
      const y = half()
      const second = session.run({ x: y })
      await turn()
      await turn()
      structuredClone(y.data, { transfer: [y.data.buffer] })
      seen.push((await second).x30.data[5])
      const given = half()
      const third = session.run({ x: half() }, { x30: given })
      await turn()
      await turn()
      structuredClone(given.data, { transfer: [given.data.buffer] })
      seen.push((await third).x30.data[5])
      const bytes = new Uint8Array(require('node:fs').readFileSync(model('LONG')))
      const loading = ort.InferenceSession.create(bytes)
      await turn()
      await turn()
      structuredClone(bytes, { transfer: [bytes.buffer] })
      seen.push((await (await loading).run({ x: half() })).x30.data[5])
      const fourth = session.run({ x: half() })
      const fifth = session.run({ x: half() })
      await turn()
      await turn()
      await session.release()
      seen.push((await fourth).x30.data[5], (await fifth).x30.data[5])
      const again = await ort.InferenceSession.create(model('LONG'))
      for (const n of [0, 1]) seen.push((await again.run({ x: floats(new Float32Array(65536).fill(n / 256), [256, 256]) })).x30.data[5] === n * expected ? expected : NaN)
      print([by(session), seen.map((each) => each === expected)])
    `)
    for (const flags of [[], ENTRY]) {
      const [by, seen] = await printed([...flags, ...source])
      assert.equal(by, flags.length === 0 ? 'OnnxruntimeSessionHandler' : 'OrtSession')
      assert.deepEqual(seen, new Array(8).fill(true))
    }
  })

  it('runs what is short on this thread: it copies no input after a few runs', async () => {
    const source = commonJs(`
      const { memory } = require('samebytes')
      const session = await ort.InferenceSession.create(model('ADD'))
      const [a, b] = [floats([1, 2], [2]), floats([3, 4], [2])]
      const counts = [memory().staged.count]
      for (let i = 0; i < 400; i++) {
        await session.run({ a, b })
        counts.push(memory().staged.count)
      }
      const x = floats(new Float32Array(65536), [256, 256])
      const long = await ort.InferenceSession.create(model('LONG'))
      const before = memory().staged.count
      for (let i = 0; i < 20; i++) await long.run({ x })
      print([counts[1] - counts[0], counts[400] - counts[0], memory().staged.count - before])
    `)
    const [first, all, ofLong] = await printed([...ENTRY, ...source])
    assert.equal(first, 2)
    assert.ok(all < 600, `${all} copies of 800 inputs`)
    assert.equal(ofLong, 20)
  })

  it('writes to stderr what onnxruntime-node writes, as ort.env.logLevel and options say', async () => {
    const logged = async (flags, level, options) => {
      const source = commonJs(`
        ${level && `ort.env.logLevel = '${level}'`}
        const session = await ort.InferenceSession.create(model('MISDECLARED'), ${options})
        await session.run({ a: floats([1, 2], [2]), b: floats([1, 2, 3], [3]) }).catch(({ message }) => print(message))
      `)
      const { code, stdout, stderr } = await node([...flags, ...source])
      assert.equal(code, 0, stderr)
      assert.match(JSON.parse(stdout), /axis == 1/)
      return (stderr.match(/Status Message/g) ?? []).length
    }
    for (const [level, options, lines] of [
      ['', '{}', 1],
      ['fatal', '{}', 0],
      ['', '{ logSeverityLevel: 4 }', 0],
      ['fatal', '{ logSeverityLevel: 3 }', 1],
    ]) {
      const alone = await logged([], level, options)
      assert.equal(alone, lines, `${level} ${options}`)
      assert.equal(await logged(ENTRY, level, options), lines, `${level} ${options}`)
    }
  })

  it('leaves no tensor and no copy behind', async () => {
    const source = commonJs(`
      const { memory } = require('samebytes')
      const session = await ort.InferenceSession.create(model('ADD'))
      const [a, b] = [floats([1, 2], [2]), floats([3, 4], [2])]
      const counts = () => {
        const { tensors, storages, bytes } = memory()
        return [tensors, storages, bytes.native]
      }
      const before = counts()
      for (let i = 0; i < 50; i++) await session.run({ a, b }, i % 2 ? { c: a } : ['c'])
      for (const c of [floats([1], [1]), floats([1, 2, 3], [3])]) {
        for (let i = 0; i < 3; i++) await session.run({ a, b }, { c }, { logSeverityLevel: 4 }).catch(() => {})
      }
      await session.run({ a, b: floats([1, 2, 3], [3]) }, { logSeverityLevel: 4 }).catch(() => {})
      await session.run({ a, b: 5 }).catch(() => {})
      const long = await ort.InferenceSession.create(model('LONG'))
      const x = () => floats(new Float32Array(65536), [256, 256])
      await Promise.all([long.run({ x: x() }), long.run({ x: x() }), long.run({ x: x() })])
      await long.run({ x: x() })
      const pending = long.run({ x: x() })
      await new Promise((resolve) => setTimeout(resolve))
      await long.release()
      await pending
      print([by(session), before, counts()])
    `)
    const [by, before, after] = await printed([...ENTRY, ...source])
    assert.equal(by, 'OrtSession')
    assert.deepEqual(after, before)
  })

  it('reaches worker threads, which may end in a run', async () => {
    const file = path.join(folder, 'worker.cjs')
    fs.writeFileSync(
      file,
      `
      const ort = require(${JSON.stringify(require.resolve('onnxruntime-node'))})
      const { parentPort } = require('node:worker_threads')
      ort.InferenceSession.create(process.env.FOLDER + '/LONG.onnx').then(async (session) => {
        const x = new ort.Tensor('float32', new Float32Array(65536), [256, 256])
        await session.run({ x })
        const runAgain = () => session.run({ x }).then(runAgain)
        runAgain()
        setImmediate(() => setImmediate(() => parentPort.postMessage(session.handler.constructor.name)))
      })`,
    )
    const program = path.join(folder, 'starts-worker.cjs')
    fs.writeFileSync(
      program,
      `
      const { Worker } = require('node:worker_threads')
      const worker = new Worker(process.env.FOLDER + '/worker.cjs')
      worker.once('message', async (name) => console.log(JSON.stringify([name, await worker.terminate()])))`,
    )
    for (const flag of ['--import', '--require']) {
      const found = await printed([flag, 'samebytes/onnxruntime', program])
      assert.deepEqual(found, ['OrtSession', 1], flag)
    }
  })

  it('refuses to come after onnxruntime-node, and says what to do', async () => {
    const { code, stderr } = await node([
      '--input-type=commonjs',
      '-e',
      "require('onnxruntime-node'); require('samebytes/onnxruntime')",
    ])
    assert.equal(code, 1)
    assert.match(stderr, /ERR_UNSUPPORTED/)
    assert.match(stderr, /is loaded already.*node --import samebytes\/onnxruntime/)
  })

  it('can be caught where it comes too late', async () => {
    const { code, stdout } = await node([
      '--input-type=module',
      '-e',
      `import 'onnxruntime-node'
      try { await import('samebytes/onnxruntime') } catch (error) { console.log(error.code) }
      await new Promise((resolve) => setTimeout(resolve, 1))
      console.log('goes on')`,
    ])
    assert.deepEqual([code, stdout], [0, 'ERR_UNSUPPORTED\ngoes on\n'])
  })

  describe('where the library cannot be used', () => {
    const source = commonJs(`
      const session = await ort.InferenceSession.create(model('ADD'))
      const { c } = await session.run({ a: floats([1], [1]), b: floats([2], [1]) })
      print([by(session), [...c.data]])
    `)
    const THEIRS = ['OnnxruntimeSessionHandler', [3]]

    it('is silent if SAMEBYTES_ONNXRUNTIME asks for the binding', async () => {
      const env = { SAMEBYTES_ONNXRUNTIME: 'binding' }
      assert.deepEqual(await printed([...ENTRY, ...source], env), THEIRS)
    })

    for (const [title, flags, env, reason] of [
      ['WebAssembly', [], { SAMEBYTES_BACKEND: 'wasm' }, /the back end is WebAssembly/],
      ['Bun', ['bun'], {}, /Bun has not been tried/],
      ['Deno', ['deno'], {}, /Deno has not been tried/],
    ]) {
      it(`warns once and changes nothing: ${title}`, async () => {
        const before = flags.flatMap((name) => {
          const file = path.join(folder, `${name}.cjs`)
          fs.writeFileSync(
            file,
            `Object.defineProperty(process, 'versions', { value: { ...process.versions, ${name}: '1.0.0' } })`,
          )
          return ['--require', file]
        })
        const { code, stdout, stderr } = await node([...before, ...ENTRY, ...source], env)
        assert.equal(code, 0, stderr)
        assert.deepEqual(JSON.parse(stdout), THEIRS)
        const [warning, ...others] = stderr.match(/SamebytesWarning.*/g)
        assert.match(warning, /samebytes\/onnxruntime has no effect/)
        assert.match(warning, reason)
        assert.deepEqual(others, [])
      })
    }

    it('lets a library that is none fail, and goes on with onnxruntime-node', async () => {
      const file = path.join(folder, 'none.so')
      fs.writeFileSync(file, 'no library')
      const env = { SAMEBYTES_ONNXRUNTIME: file }
      assert.deepEqual(await printed([...ENTRY, ...source], env), THEIRS)
    })
  })

  it('throws ERR_UNSUPPORTED in a page', async () => {
    const { exports } = require('samebytes/package.json')
    const file = path.join(ROOT, exports['./onnxruntime'].default.default)
    await assert.rejects(import(pathToFileURL(file).href), {
      code: 'ERR_UNSUPPORTED',
      name: 'SamebytesError',
      message: /needs Node\.js/,
    })
  })
})
