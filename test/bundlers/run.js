'use strict'

// Bundlers and test runners, on the packed package: what docs/bundlers.md shows is built, opened in Chromium with and
// without isolation, and tested with Jest and Vitest.
//
//   node test/bundlers/run.js [samebytes.tgz]     packs the package if none is given
//
// The tools of ./package.json are installed into a temporary folder. The last line is `N passed, N failed`.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const zlib = require('node:zlib')
const { launch, serve, inPage, resultOf, lineOf } = require('./pages')
const { readGuide } = require('./guide')
const { onnx } = require('../onnx')
const {
  ROOT,
  STEP_LIMIT_MS,
  scratchFolder,
  runAll,
  step: test,
  ended,
  packedIn,
  ...steps
} = require('../steps')

const scratch = scratchFolder('bundlers')
const app = path.join(scratch, 'app')
const dist = path.join(app, 'dist')
const guide = readGuide()
const { policy } = guide['Content-Security-Policy']

runAll(main)

async function main() {
  if (!(await test('the package and the tools install', install))) return
  const browser = await launch()
  try {
    await testBundlers(browser)
    for (const version of ['vite', 'vite-7']) await testServer(browser, version)
    await testReact(browser)
    await testFew(browser)
    await testPrograms(browser)
  } finally {
    await browser.close()
  }
  await testNext()
  await testRunners()
  await testTypes()
}

// ---- Installing and running ----

async function install() {
  const tarball = process.argv[2] ? path.resolve(process.argv[2]) : await pack()
  fs.cpSync(path.join(__dirname, 'app'), app, { recursive: true })
  fs.copyFileSync(path.join(__dirname, 'package.json'), path.join(scratch, 'package.json'))
  const quiet = [
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
    '--loglevel=error',
  ]
  await run('npm', ['install', ...quiet], { cwd: scratch })
  await run('npm', ['install', '--offline', ...quiet, tarball], { cwd: app })
  fs.copyFileSync(tarball, path.join(scratch, 'samebytes.tgz'))
}

async function pack() {
  await run('bash', ['scripts/build', 'package'], { cwd: ROOT })
  await run(
    'npm',
    ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', scratch],
    { cwd: ROOT },
  )
  return packedIn(scratch)
}

function start(command, args, { cwd = app, env = {} } = {}) {
  const { SAMEBYTES_BINARY, SAMEBYTES_BACKEND, NODE_PATH, NODE_OPTIONS, ...clean } = process.env
  const PATH = `${path.join(scratch, 'node_modules', '.bin')}:${process.env.PATH}`
  return steps.start(command, args, {
    cwd,
    env: { ...clean, PATH, NO_COLOR: '1', CI: 'true', ...env },
  })
}

/** Runs a command to its end. @returns {Promise<{ code: number, text: string }>} */
function ending(command, args, options) {
  return ended(start(command, args, options))
}

async function run(command, args, options) {
  const { code, text } = await ending(command, args, options)
  assert.equal(code, 0, `${command} ${args.join(' ')} ended with ${code}\n${text}`)
  return text
}

/** Does what a section of the guide says, in a folder without the output of another one. */
async function follow(title, folder = app) {
  fs.rmSync(path.join(folder, 'dist'), { recursive: true, force: true })
  const section = guide[title]
  assert.ok(section !== undefined, `docs/bundlers.md has no section ${title}`)
  write(section.files, folder)
  for (const command of section.commands) await run('bash', ['-euc', command], { cwd: folder })
}

function write(files, folder) {
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    fs.writeFileSync(path.join(folder, name), text)
  }
}

// ---- Bundlers ----

const COMPUTED = {
  sum: 28,
  softmax: [0.5, 0.5, 0],
  isSame: true,
  added: [
    [11, 24],
    [12, 28],
    [17, 26],
  ],
  crossed: [-44, 22, 0],
  copied: 'nothing',
}
const ISOLATED = {
  early: Array(3).fill('ERR_UNSUPPORTED'),
  names: [
    'SamebytesError',
    'SamebytesError',
    'Tensor',
    'SamebytesError',
    'Tensor',
    'memory',
    'init',
    'softmax',
    'cross',
    'Tensor(',
  ], // minified or not
  isolated: true,
  backend: 'wasm-shared',
  seen: [7, 8],
  computed: COMPUTED,
  worker: {
    backend: 'wasm-shared',
    before: [
      [1, 2, 7],
      [4, 8, 6],
    ],
    computed: COMPUTED,
  },
  after: [
    [1, 2, 7],
    [9, 8, 6],
  ],
}
const ALONE = {
  ...ISOLATED,
  isolated: false,
  backend: 'wasm',
  worker: null,
  after: [
    [1, 2, 7],
    [4, 8, 6],
  ],
}

async function testBundlers(browser) {
  for (const tool of ['webpack', 'Rollup', 'esbuild', 'Vite']) {
    if (!(await test(`${tool} builds`, () => follow(tool)))) continue
    await test(`what ${tool} built runs in an isolated page and its worker`, async () => {
      const { value, modules } = await opened(resultOf, browser, { isolated: true, policy })
      assert.deepEqual(value, ISOLATED)
      assert.equal(modules.length, 5, `the page and its worker asked for ${modules}`) // both for two of samebytes/math
    })
    await test(`what ${tool} built runs in a page that is not isolated`, async () => {
      const { value, modules } = await opened(resultOf, browser, { isolated: false, policy })
      assert.deepEqual(value, ALONE)
      assert.equal(modules.length, 3, `the page asked for ${modules}`)
    })
    await test(`what ${tool} built without arithmetic has none of it`, () => testWithout(tool))
  }
  await test('init says what is missing where a policy forbids WebAssembly', async () => {
    await assert.rejects(
      opened(resultOf, browser, {
        isolated: true,
        policy: policy.replace(" 'wasm-unsafe-eval'", ''),
      }),
      (error) => /WebAssembly is not allowed here.*'wasm-unsafe-eval'/.test(error.message),
    )
  })
}

/** The program that the guide begins with does not import samebytes/math. */
async function testWithout(tool) {
  assert.ok(hasMath(dist), 'the program before it has arithmetic')
  await follow(tool, example())
  assert.ok(!hasMath(path.join(example(), 'dist')))
}

/** Does a program name a function of arithmetic, or did a bundler bring its module? esbuild's user copies all modules. */
function hasMath(folder) {
  const files = fs.readdirSync(folder, { recursive: true })
  const isCopied = files.includes('samebytes-parsers.wasm')
  const programs = files
    .filter((file) => file.endsWith('.js'))
    .map((file) => fs.readFileSync(path.join(folder, file), 'utf8'))
  assert.ok(programs.some((text) => text.includes('ERR_UNSUPPORTED')))
  return (
    programs.some((text) => text.includes('logaddexp')) ||
    (!isCopied && files.filter((file) => file.endsWith('.wasm')).length > 2)
  )
}

/** A folder with the program that the guide begins with. */
function example() {
  const folder = path.join(app, 'example')
  if (fs.existsSync(folder)) return folder
  fs.mkdirSync(folder)
  fs.copyFileSync(path.join(app, 'index.html'), path.join(folder, 'index.html'))
  fs.symlinkSync(path.join('..', 'node_modules'), path.join(folder, 'node_modules'))
  write(guide[''].files, folder)
  return folder
}

/** Of the bytes of the package's module, compressed, what a program carries at most that imports tensor and fromBlob, by any of the tools. */
const FEW = 0.62

async function testFew(browser) {
  const all = zlib.gzipSync(fs.readFileSync(path.join(ROOT, 'dist', 'samebytes.mjs')), {
    level: 9,
  }).length
  const commands = {
    esbuild: guide['What a program carries'].commands[0],
    webpack: 'webpack --entry-reset --entry ./src/few.js',
    Rollup: 'rollup --config few.config.js',
    Vite: 'vite build few',
  }
  write(
    {
      ...guide['What a program carries'].files,
      'few/index.html': '<script type="module" src="../src/few.js"></script>',
    },
    app,
  )
  write(
    {
      'few.config.js':
        "import { nodeResolve } from '@rollup/plugin-node-resolve'\nexport default { input: 'src/few.js', output: { dir: 'dist', format: 'es' }, plugins: [nodeResolve({ browser: true })] }\n",
    },
    app,
  )
  for (const [tool, command] of Object.entries(commands)) {
    await test(`${tool} leaves out what a program does not import`, async () => {
      fs.rmSync(dist, { recursive: true, force: true })
      await run('bash', ['-euc', command])
      if (tool === 'Vite') fs.renameSync(path.join(app, 'few', 'dist'), dist)
      const programs = fs
        .readdirSync(dist, { recursive: true })
        .filter((file) => file.endsWith('.js'))
        .map((file) => fs.readFileSync(path.join(dist, file)))
      const sum = programs.reduce((sum, text) => sum + zlib.gzipSync(text, { level: 9 }).length, 0)
      assert.ok(sum > 0 && sum < FEW * all, `${sum} bytes of ${all}`)
    })
  }
  await test('a program with few names does what it says', async () => {
    await follow('What a program carries')
    assert.equal((await opened(lineOf, browser, { policy, entry: 'few.js' })).value, '[2]')
  })
}

/** With the guide's page alone, and with its setting as well. */
async function testNext() {
  const folder = path.join(app, 'next')
  const { files, commands } = guide['Next.js']
  const { 'next.config.js': config, ...pages } = files
  write({ ...pages, 'package.json': '{ "private": true }' }, folder)
  write({ 'package-lock.json': '{ "lockfileVersion": 3, "packages": {} }' }, scratch) // where it lies Turbopack's files end
  for (const [title, more] of [
    ['without settings', {}],
    ["with the package outside of the server's bundle", { 'next.config.js': config }],
  ]) {
    await test(`Next.js builds a client component, ${title}`, async () => {
      write(more, folder)
      const text = await run('bash', ['-euc', commands[0]], {
        cwd: folder,
        env: { NEXT_TELEMETRY_DISABLED: '1' },
      })
      assert.match(text, /static content/)
      assert.doesNotMatch(text, /SamebytesWarning|WASM is used/)
      assert.ok(
        fs
          .readdirSync(path.join(folder, '.next', 'static', 'media'))
          .some((name) => /^samebytes\..*wasm$/.test(name)),
      )
    })
  }
}

async function opened(read, browser, options) {
  const server = await serve(dist, options)
  try {
    return { value: await read(browser, server.url), modules: server.modules }
  } finally {
    server.close()
  }
}

/** Vite's development server, with the configuration of the build before it. */
async function testServer(browser, version) {
  const port = await freePort()
  const script = path.join(scratch, 'node_modules', version, 'bin', 'vite.js')
  const server = start(process.execPath, [
    script,
    '--port',
    String(port),
    '--strictPort',
    '--host',
    'localhost',
  ])
  const url = `http://localhost:${port}/`
  try {
    await test(`the development server of ${version} starts`, () =>
      until(() => /ready in/.test(server.text), server))
    await test(`the development server of ${version} serves an isolated page and its worker`, async () => {
      assert.deepEqual(await resultOf(browser, url), ISOLATED)
    })
    await test(`the development server of ${version} serves the module for one thread`, async () => {
      assert.deepEqual(await resultOf(browser, `${url}?plain`), { ...ALONE, isolated: true })
    })
  } finally {
    server.end()
  }
}

/** React in development walks the props and the state of a component, to show them in the browser's profiler. */
async function testReact(chromium) {
  const folder = path.join(app, 'react')
  const port = await freePort()
  const server = start(
    process.execPath,
    [
      path.join(scratch, 'node_modules', 'vite', 'bin', 'vite.js'),
      '--port',
      String(port),
      '--strictPort',
      '--host',
      'localhost',
    ],
    { cwd: folder },
  )
  const file = path.join(folder, 'App.jsx')
  const text = fs.readFileSync(file, 'utf8')
  const firefox = await launch('firefox')
  try {
    await until(() => /ready in/.test(server.text), server)
    for (const [name, browser] of Object.entries({ Chromium: chromium, Firefox: firefox })) {
      await test(`React in ${name} takes a tensor as prop and as state, in StrictMode and after a hot reload`, async () => {
        fs.writeFileSync(file, text)
        await inPage(browser, `http://localhost:${port}/`, async (page, lines, troubles) => {
          const shown = (what) =>
            page.waitForFunction(
              (what) => document.querySelector('p')?.textContent === what,
              {},
              what,
            )
          await shown('shows 1,2 and 1,2')
          for (const first of [2, 3]) {
            await page.click('button')
            await shown(`shows ${first},2 and ${first},2`)
          }
          fs.writeFileSync(file, text.replace('shows', 'is'))
          await shown('is 3,2 and 3,2')
          await page.click('button')
          await shown('is 4,2 and 4,2')
          assert.deepEqual(troubles, [])
        })
      })
    }
  } finally {
    await firefox.close()
    server.end()
  }
}

async function freePort() {
  const server = net.createServer().listen(0, 'localhost')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

async function until(isTrue, child) {
  const deadline = Date.now() + STEP_LIMIT_MS
  while (!isTrue()) {
    assert.ok(
      child.exitCode === null && Date.now() < deadline,
      `the server did not start\n${child.text}`,
    )
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The whole programs in the guide. */
async function testPrograms(browser) {
  await test('the program that the guide begins with does what it says', async () => {
    await follow('Vite', example())
    fs.rmSync(dist, { recursive: true, force: true })
    fs.renameSync(path.join(example(), 'dist'), dist)
    assert.equal((await opened(lineOf, browser, { isolated: true, policy })).value, '[4, 2, 3]')
  })
  await test('a module elsewhere is found where init is told', async () => {
    await follow('Modules elsewhere')
    const { value, modules } = await opened(lineOf, browser, { policy, entry: 'elsewhere.js' })
    assert.equal(value, '[1, 2]')
    assert.match(modules.join(), /^samebytes-\w{8}\.wasm$/)
  })
  await test('samebytes/inline is a single file', async () => {
    await follow('A single file')
    assert.deepEqual(fs.readdirSync(dist), ['single.js'])
    const { value, modules } = await opened(lineOf, browser, {
      policy: `${policy}; connect-src 'none'`,
      entry: 'single.js',
    })
    assert.deepEqual({ value, modules }, { value: '[1, 2]', modules: [] })
  })
  await test('modules of arithmetic are found elsewhere, and inside samebytes/inline/math', async () => {
    await follow('Arithmetic')
    const elsewhere = await opened(lineOf, browser, { policy, entry: 'sum.js' })
    assert.equal(elsewhere.value, '2')
    assert.match(
      elsewhere.modules.sort().join(),
      /^samebytes-\w{8}\.wasm,samebytes-algorithms-\w{8}\.wasm,samebytes-math-\w{8}\.wasm$/,
    )
    const { value, modules } = await opened(lineOf, browser, {
      policy: `${policy}; connect-src 'none'`,
      entry: 'single-sum.js',
    })
    assert.deepEqual({ value, modules }, { value: '2', modules: [] })
  })
  await test('a model runs over the smaller build of onnxruntime-web', async () => {
    fs.symlinkSync(
      path.join(ROOT, 'node_modules', 'onnxruntime-web'),
      path.join(app, 'node_modules', 'onnxruntime-web'),
    )
    await follow('Models')
    fs.writeFileSync(
      path.join(dist, 'model.onnx'),
      onnx({
        inputs: { a: 'float32[2]' },
        nodes: ['Add(a, a) -> b'],
        outputs: { b: 'float32[2]' },
      }),
    )
    const { value, modules } = await opened(lineOf, browser, { policy, entry: 'model.js' })
    assert.equal(value, '[2, 4]')
    assert.deepEqual(modules.sort(), ['ort-wasm-simd-threaded.wasm', 'samebytes.wasm'])
    assert.ok(
      fs.statSync(path.join(dist, 'model.js')).size < 400_000,
      'it has the larger build, too',
    )
  })
  await test('samebytes/module/bare takes along the given build of onnxruntime-web alone', async () => {
    write({ 'bare/index.html': '<script type="module" src="../src/bare.js"></script>' }, app)
    await run('vite', ['build', 'bare'])
    const folder = path.join(app, 'bare', 'dist')
    const modules = fs
      .readdirSync(folder, { recursive: true })
      .filter((name) => name.endsWith('.wasm'))
      .map((name) => path.basename(name).replace(/-[\w-]{8}\.wasm$/, ''))
    assert.deepEqual(
      modules.filter((name) => name.startsWith('ort')),
      ['ort-wasm-simd-threaded'],
    )
    fs.rmSync(dist, { recursive: true })
    fs.renameSync(folder, dist)
    fs.writeFileSync(
      path.join(dist, 'model.onnx'),
      onnx({
        inputs: { a: 'float32[2]' },
        nodes: ['Add(a, a) -> b'],
        outputs: { b: 'float32[2]' },
      }),
    )
    assert.equal((await opened(lineOf, browser, { policy })).value, '[2, 4]')
  })
  await test('an import of samebytes/math without a name makes it known to init', async () => {
    fs.rmSync(dist, { recursive: true })
    await run('bash', [
      '-euc',
      'esbuild src/unnamed.js --bundle --format=esm --outdir=dist; cp node_modules/samebytes/dist/*.wasm dist',
    ])
    assert.equal((await opened(lineOf, browser, { policy, entry: 'unnamed.js' })).value, 'ready')
  })
  await test('CommonJS in a bundle for browsers gets the ES module, and names taken before init come alive', async () => {
    fs.rmSync(dist, { recursive: true })
    await run('webpack', ['--entry-reset', '--entry', './src/required.cjs'])
    const { value } = await opened(resultOf, browser, { policy })
    assert.deepEqual(value, {
      codes: Array(6).fill('ERR_UNSUPPORTED'),
      is: [true, true, true, true],
      values: [1, 2],
      sum: 3,
      crossed: [0, 0, 1],
      map: 'object',
    })
  })
  await test('bundles for Node leave the package out, and have the addons', async () => {
    await follow('Programs for Node')
    for (const file of ['esbuild.cjs', 'rollup.cjs', 'vite/server.js', 'webpack.cjs']) {
      assert.equal(await run(process.execPath, [path.join('dist', file)]), 'native 3\n', file)
    }
  })
}

// ---- Jest and Vitest ----

const RUNNERS = [
  { title: 'Jest, in processes', tool: 'Jest', flags: ['--maxWorkers=2'] },
  { title: 'Jest, in threads', tool: 'Jest', flags: ['--maxWorkers=2', '--workerThreads'] },
  { title: 'Jest, both files in one process', tool: 'Jest', flags: ['--runInBand'], workers: 1 },
  { title: 'Jest with jsdom', tool: 'Jest', flags: ['--maxWorkers=2', '--env=jsdom'] },
  { title: 'Vitest, in processes', tool: 'Vitest', flags: ['--pool=forks'] },
  { title: 'Vitest, in threads', tool: 'Vitest', flags: ['--pool=threads'] },
  { title: 'Vitest with jsdom', tool: 'Vitest', flags: ['--environment=jsdom'] },
]

async function testRunners() {
  for (const [i, { title, tool, flags, workers = 2 }] of RUNNERS.entries()) {
    await test(`${title}: tests pass`, async () => {
      const [seen, cache] = [`seen-${i}`, `cache-${i}`].map((name) => path.join(scratch, name))
      fs.mkdirSync(seen)
      fs.mkdirSync(cache) // Jest starts no workers for tests that it remembers as fast
      const { code, text } = await withRunner(tool, tool.toLowerCase(), flags, {
        SEEN: seen,
        TMPDIR: cache,
      })
      assert.equal(code, 0, text)
      assert.match(text, /Tests\D+11 passed/)
      assert.doesNotMatch(text, /did not exit|failed to exit|open handle/i)
      assert.equal(
        new Set(fs.readdirSync(seen).map((name) => name.replace(/-\w+$/, ''))).size,
        workers,
        'workers that tests ran in',
      )
    })
  }
  for (const name of ['native', 'wasm']) {
    await test(`Jest, ${name}: --detectLeaks and --detectOpenHandles find nothing`, async () => {
      const { code, text } = await withRunner(
        'Jest',
        'jest-leaks',
        ['--detectLeaks', '--detectOpenHandles'],
        { SAMEBYTES_BACKEND: name },
      )
      assert.equal(code, 0, text)
      assert.match(text, /Tests\D+3 passed/)
      assert.doesNotMatch(text, /open handle/i)
    })
  }
  for (const tool of ['Jest', 'Vitest']) {
    await test(`${tool}: tensors that differ fail, and are shown`, async () => {
      const { code, text } = await withRunner(tool, `${tool.toLowerCase()}-failing`, [], {})
      assert.equal(code, 1, text)
      assert.match(text, /Tests\D+2 failed\D+1 passed/)
      assert.doesNotMatch(text, /RangeError|TypeError/)
      if (tool === 'Jest') assert.match(text, /Expected: \[1, 3\]\s+Received: \[1, 2\]/)
      else {
        assert.match(text, /expected tensor\(\[1\., 2\.\]\) to deeply equal tensor\(\[1\., 3\.\]\)/)
      }
    })
  }
}

/** The guide's command in a folder of tests. */
function withRunner(tool, folder, flags, env) {
  const [command] = guide[tool].commands
  return ending('bash', ['-euc', [command.trim(), ...flags].join(' ')], {
    cwd: path.join(app, folder),
    env,
  })
}

// ---- Types ----

const WASM = ['', '-shared', '-math', '-math-shared', '-algorithms', '-algorithms-shared'].map(
  (name) => `samebytes${name}.wasm`,
)

async function testTypes() {
  for (const moduleResolution of ['bundler', 'nodenext']) {
    await test(`types are found by moduleResolution ${moduleResolution}, without those of Node`, async () => {
      const module = moduleResolution === 'bundler' ? 'esnext' : 'nodenext'
      const compilerOptions = {
        noEmit: true,
        strict: true,
        types: [],
        target: 'es2022',
        lib: ['es2022', 'dom'],
        module,
        moduleResolution,
      }
      fs.writeFileSync(
        path.join(app, 'tsconfig.json'),
        JSON.stringify({ compilerOptions, files: ['types.ts'] }),
      )
      await run(process.execPath, [
        path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'),
        '--project',
        app,
      ])
    })
  }
  await test('attw finds nothing but what cannot be otherwise', async () => {
    // Into a file: it ends before a pipe has taken all of it.
    const args = [
      path.join(scratch, 'samebytes.tgz'),
      '--format',
      'json',
      '--profile',
      'node16',
      '--exclude-entrypoints',
      ...WASM,
    ]
    const report = path.join(scratch, 'attw.json')
    const { text } = await ending('bash', [
      '-c',
      'report=$1; shift; attw "$@" >"$report"',
      'bash',
      report,
      ...args,
    ])
    assert.ok(fs.statSync(report).size > 0, text)
    const { analysis } = JSON.parse(fs.readFileSync(report, 'utf8'))
    const problems = analysis.problems.map(
      ({ kind, entrypoint, resolutionKind }) => `${kind} ${entrypoint} ${resolutionKind}`,
    )
    assert.deepEqual(
      problems.filter((problem) => !problem.endsWith('node10')),
      [
        './inline',
        './inline/module',
        './inline/module/bare',
        './inline/math',
        './inline/inspect',
      ].map((name) => `CJSResolvesToESM ${name} node16-cjs`),
    )
  })
}
