'use strict'

// Packing and releasing, from clones: what is refused, and with --full what comes of it.
//
//   node test/pack/release.js           refusals, in seconds: nothing is built
//   node test/pack/release.js --full    a release to a registry of its own, which builds the whole package twice
//     [--only TEXT]                     tests whose title has TEXT
//
// --full takes what bash scripts/setup full installs, and npm's registry. The last line is `N passed, N failed`.

const assert = require('node:assert/strict')
const { createHash } = require('node:crypto')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { findCompiler } = require('../../scripts/cuda.js')
const { bump, newestOf, publishing } = require('../../scripts/release.js')
const { differencesOf } = require('../../scripts/tarball.js')
const wheel = require('../wheel')
const { ROOT, scratchFolder, runAll, step, start, ended, packedIn } = require('../steps')

const REPOSITORY = { type: 'git', url: 'git+https://forge.example/owner/samebytes.git' }
const { version: VERSION, name: NAME } = require('../../package.json')
const { version: NEXT } = newestOf(fs.readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8'))
const RELEASED = '99.0.0-rc.1' // what the tests release
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

const { values: options } = parseArgs({
  options: { full: { type: 'boolean', default: false }, only: { type: 'string', default: '' } },
})
const scratch = scratchFolder('release')

runAll(main)

async function main() {
  const registry = await startRegistry()
  try {
    await test('no install script of a package runs', testInstallScripts)
    await test('npm pack refuses half a package, and says what is missing', () =>
      testHalf('half', []))
    await test('npm publish refuses a checkout', () => testCheckout(registry))
    await test('a release is refused, with all reasons', testRefusals)
    await test('a release that may be made needs all compilers', testMayBeMade)
    await test(
      'a release that takes a commit needs a branch, and is refused where the CI gives provenance',
      testCommit,
    )
    await test('provenance is asked for where the CI offers it', testArguments)
    await test('a release writes its version everywhere, and its date', testBump)
    await test('npm publish refuses what npm pack made of a checkout', () => testPacked(registry))
    await test('what two tarballs do not share is named', testDifferences)
    await test(
      'wheels are of each platform, and have the same bytes in two folders',
      testWheelBytes,
    )
    if (findCompiler()) await test('device code has the same bytes in two folders', testDeviceCode)
    if (options.full) await testFull(registry)
  } finally {
    registry.server.close()
  }
}

async function test(title, body) {
  if (title.includes(options.only)) await step(title, body)
}

// ---- Commands and clones ----

/** Runs a command without what npm and tests have set. @returns {Promise<{ code: number, out: string, err: string, text: string }>} */
function ending(folder, [command, ...args], env = {}) {
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^(SAMEBYTES_|npm_|NODE_PATH$|NODE_OPTIONS$|LD_|GIT_|ACTIONS_|SIGSTORE_)/.test(name),
    ),
  )
  return ended(
    start(command, args, {
      cwd: folder,
      env: {
        ...clean,
        npm_config_cache: path.join(scratch, 'cache'),
        npm_config_update_notifier: 'false',
        NVCC: findCompiler() ?? '0',
        ...env,
      },
    }),
  )
}

async function run(folder, command, env) {
  const { code, out, text } = await ending(folder, command, env)
  assert.equal(code, 0, `${command.join(' ')} ended with ${code}\n${text}`)
  return out
}

const git = (folder, ...args) =>
  run(folder, ['git', '-c', 'user.name=tests', '-c', 'user.email=tests@forge.example', ...args])
const release = (folder, args, env) =>
  ending(folder, [process.execPath, 'scripts/release.js', ...args], env)

/** What a clone of this checkout would be, with its changes committed, and with a repository. @returns {Promise<string>} its folder */
async function clone(name) {
  const folder = path.join(scratch, name)
  const files = (
    await run(ROOT, ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  )
    .split('\0')
    .filter((file) => file !== '' && fs.existsSync(path.join(ROOT, file)))
  for (const file of files) fs.cpSync(path.join(ROOT, file), path.join(folder, file))
  editPackage(folder, { repository: REPOSITORY })
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  await git(folder, 'init', '--quiet', '--initial-branch=main')
  fs.appendFileSync(path.join(folder, '.git', 'info', 'exclude'), '/node_modules\n')
  for (const [key, value] of [
    ['user.name', 'tests'],
    ['user.email', 'tests@forge.example'],
  ]) {
    await git(folder, 'config', key, value)
  }
  await git(folder, 'add', '--all')
  await git(folder, 'commit', '--quiet', '--message=everything')
  return folder
}

function editPackage(folder, fields) {
  const file = path.join(folder, 'package.json')
  fs.writeFileSync(
    file,
    JSON.stringify({ ...JSON.parse(fs.readFileSync(file, 'utf8')), ...fields }, null, 2) + '\n',
  )
}

/** The PATH without what only the whole package takes. @returns {string} a folder */
function withoutCompilers() {
  const folder = path.join(scratch, 'bin')
  if (fs.existsSync(folder)) return folder
  fs.mkdirSync(folder)
  for (const place of process.env.PATH.split(path.delimiter).filter((place) =>
    fs.existsSync(place),
  )) {
    for (const name of fs.readdirSync(place)) {
      if (
        !/^(emcc|aarch64-linux-gnu-|musl-gcc)/.test(name) &&
        !fs.existsSync(path.join(folder, name))
      ) {
        fs.symlinkSync(path.join(place, name), path.join(folder, name))
      }
    }
  }
  return folder
}

/** A registry that has nothing, and remembers what is published. */
async function startRegistry() {
  const published = []
  const server = http
    .createServer(async (request, response) => {
      const parts = []
      for await (const part of request) parts.push(part)
      if (request.method === 'PUT') published.push(JSON.parse(Buffer.concat(parts)))
      response
        .writeHead(request.method === 'PUT' ? 201 : 404, { 'content-type': 'application/json' })
        .end('{}')
    })
    .listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `//127.0.0.1:${server.address().port}/`
  const config = path.join(scratch, 'npmrc')
  fs.writeFileSync(config, `registry=http:${host}\n${host}:_authToken=token\n`)
  return { server, published, env: { npm_config_userconfig: config } }
}

// ---- Refusals ----

function testInstallScripts() {
  const { packages } = require('../../package-lock.json')
  const { allowScripts } = require('../../package.json')
  const names = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([place]) => place.split('node_modules/').at(-1))
  assert.deepEqual(
    Object.keys(allowScripts).sort(),
    [...new Set(names)].sort(),
    'allowScripts of package.json denies each',
  )
  assert.ok(Object.values(allowScripts).every((isAllowed) => isAllowed === false))
  // npm 10 knows no allowScripts.
  const scripts = ['.ci', 'scripts'].flatMap((folder) =>
    fs
      .readdirSync(path.join(ROOT, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) =>
        fs.readFileSync(path.join(ROOT, folder, entry.name), 'utf8').replaceAll('\\\n', ' '),
      ),
  )
  const commands = scripts.flatMap((text) => text.match(/\bnpm (ci|install) -.*/g) ?? [])
  assert.ok(commands.length >= 4, commands.join('\n'))
  assert.deepEqual(
    commands.filter((command) => !command.includes('--ignore-scripts')),
    [],
  )
}

/** @param {string[]} npm  what comes before PATH's npm */
async function testHalf(name, npm) {
  const folder = await clone(name)
  const { code, err } = await ending(folder, ['npm', 'pack'], {
    PATH: [...npm, withoutCompilers()].join(path.delimiter),
  })
  assert.notEqual(code, 0)
  assert.match(
    err,
    /build: the package is not whole without emcc aarch64-linux-gnu-gcc aarch64-linux-gnu-strip musl-gcc; bash scripts\/setup full installs what is missing/,
  )
  for (const name of ['prebuilds', 'dist', 'build', 'types']) {
    assert.ok(!fs.existsSync(path.join(folder, name)), `${name} was made`)
  }
  assert.deepEqual(
    fs.readdirSync(folder).filter((file) => file.endsWith('.tgz')),
    [],
  )
}

async function testCheckout({ env, published }) {
  const folder = await clone('checkout')
  const plain = await ending(folder, ['npm', 'publish'], env)
  assert.notEqual(plain.code, 0)
  assert.match(plain.err, /node scripts\/release\.js publishes: docs\/releasing\.md/)
  // Nothing of ours runs here.
  const silent = await ending(folder, ['npm', 'publish', '--ignore-scripts'], env)
  assert.notEqual(silent.code, 0)
  assert.match(silent.err, /EPRIVATE/)
  assert.equal(published.length, 0)
}

async function testRefusals() {
  const folder = await clone('refused')
  const refused = async (args, env, ...reasons) => {
    const { code, out, err } = await release(folder, args, env)
    assert.equal(code, 1, err)
    assert.equal(out, '')
    assert.match(err, /^release: refused; nothing was done:\n/)
    assert.equal(err.match(/^ {2}- /gm).length, reasons.length, err)
    for (const reason of reasons) assert.match(err, reason)
  }
  const dry = [NEXT, '--dry-run']
  const head = (await git(folder, 'rev-parse', 'HEAD')).trim()

  assert.equal((await release(folder, [])).code, 2)
  assert.equal((await release(folder, [...dry, '--fast'])).code, 2)
  await refused([NEXT], {}, /there is no remote origin/)
  await refused(dry, { NVCC: '/nowhere' }, /no nvcc.*NVCC=0/)
  for (const repository of [
    undefined,
    'owner/samebytes',
    { type: 'git', url: 'git@forge.example:owner/samebytes' },
  ]) {
    editPackage(folder, { repository })
    await refused(dry, {}, /the working tree is not clean/, /package\.json has .* as repository/)
  }
  await git(folder, 'checkout', '--quiet', 'package.json')

  await refused(
    ['99.0.0', '--dry-run'],
    {},
    /CHANGELOG\.md has \S+ as its newest heading: .*"## 99\.0\.0 \(unreleased\)"/,
  )
  const changelog = path.join(folder, 'CHANGELOG.md')
  const text = fs.readFileSync(changelog, 'utf8')
  fs.writeFileSync(changelog, text.replace(/^## .*$/m, '## 99.0.0\n\n- New.\n\n$&'))
  await refused(
    dry,
    {},
    /the working tree is not clean:\n {5}M CHANGELOG\.md/,
    /CHANGELOG\.md has 99\.0\.0 as its newest heading/,
  )
  await git(folder, 'commit', '--quiet', '--all', '--message=a heading')
  await refused(['99.0.0', '--dry-run'], {}, /shall be "## 99\.0\.0 \(unreleased\)"/)
  fs.writeFileSync(changelog, text.replace(/^## .*$/m, '## 99.0.0 (unreleased)\n\n$&'))
  await git(folder, 'commit', '--quiet', '--all', '--message=a heading with nothing under it')
  await refused(['99.0.0', '--dry-run'], {}, /CHANGELOG\.md says nothing of 99\.0\.0/)

  await git(folder, 'tag', `v${NEXT}`, head)
  await git(folder, 'reset', '--quiet', '--hard', head)
  await git(folder, 'commit', '--quiet', '--allow-empty', '--message=after the tag')
  await git(folder, 'remote', 'add', 'elsewhere', folder)
  await refused([NEXT, '--remote', 'elsewhere'], {}, new RegExp(`the tag v${NEXT} exists`))
  await refused(dry, {}, new RegExp(`the tag v${NEXT} exists, elsewhere`))
  fs.writeFileSync(path.join(folder, 'new'), '')
  await refused(
    ['1.x', '--dry-run'],
    { NVCC: '/nowhere' },
    /1\.x is no version/,
    /not clean/,
    /CHANGELOG\.md has/,
    /no nvcc/,
  )
}

/** It comes to its first build, and has changed nothing. */
async function testMayBeMade() {
  const folder = await clone('made')
  const before = await git(folder, 'for-each-ref')
  const { code, out, err } = await release(folder, [NEXT, '--dry-run'], {
    PATH: withoutCompilers(),
  })
  assert.equal(code, 1)
  assert.equal(out, `release: building ${NEXT}, and packing it\n`)
  assert.match(err, /not whole without emcc/)
  assert.equal(await git(folder, 'for-each-ref'), before)
  assert.equal(await git(folder, 'status', '--porcelain', '--ignored'), '!! node_modules\n')
}

async function withHeading(name) {
  const folder = await clone(name)
  const changelog = path.join(folder, 'CHANGELOG.md')
  fs.writeFileSync(
    changelog,
    fs
      .readFileSync(changelog, 'utf8')
      .replace(/^## .*$/m, `## ${RELEASED} (unreleased)\n\n- New.\n\n$&`),
  )
  await git(folder, 'commit', '--quiet', '--all', '--message=what is new')
  return folder
}

async function testCommit() {
  const folder = await withHeading('committed')
  const args = [RELEASED, '--dry-run']
  const inCI = await release(folder, args, {
    ACTIONS_ID_TOKEN_REQUEST_URL: 'https://forge.example/',
  })
  assert.match(
    inCI.err,
    /provenance is of the commit that the CI runs on, which lacks version or date/,
  )
  await git(folder, 'checkout', '--quiet', '--detach')
  assert.match(
    (await release(folder, args)).err,
    /takes a commit \(version, date\), and this is no branch/,
  )
}

function testArguments() {
  const names = ['ACTIONS_ID_TOKEN_REQUEST_URL', 'SIGSTORE_ID_TOKEN']
  const before = names.map((name) => process.env[name])
  for (const name of names) delete process.env[name]
  assert.deepEqual(publishing('a.tgz', '1.2.3'), ['publish', 'a.tgz', '--access', 'public'])
  assert.deepEqual(publishing('a.tgz', '1.2.3-rc.1'), [
    'publish',
    'a.tgz',
    '--access',
    'public',
    '--tag',
    'next',
  ])
  for (const name of names) {
    process.env[name] = 'there'
    assert.deepEqual(publishing('a.tgz', '1.2.3'), [
      'publish',
      'a.tgz',
      '--access',
      'public',
      '--provenance',
    ])
    delete process.env[name]
  }
  for (const [i, name] of names.entries()) {
    if (before[i] !== undefined) process.env[name] = before[i]
  }
}

async function testBump() {
  const folder = await clone('bumped')
  fs.writeFileSync(
    path.join(folder, 'CHANGELOG.md'),
    '# Changelog\n\n## 99.0.0-rc.1 (unreleased)\n\n- New.\n\n## 1.0.0 (2030-01-31)\n\n- Old.\n',
  )
  bump(folder, '99.0.0-rc.1', '2030-02-28')
  assert.equal(
    fs.readFileSync(path.join(folder, 'CHANGELOG.md'), 'utf8'),
    '# Changelog\n\n## 99.0.0-rc.1 (2030-02-28)\n\n- New.\n\n## 1.0.0 (2030-01-31)\n\n- Old.\n',
  )
  const lines = (await git(folder, 'diff', '--unified=0', '--', ':!CHANGELOG.md'))
    .split('\n')
    .filter((line) => /^[-+] /.test(line) || /^[-+][^-+]/.test(line))
  const [old, now] = ['-', '+'].map((sign) =>
    lines.filter((line) => line.startsWith(sign)).map((line) => line.slice(1)),
  )
  assert.deepEqual(
    now,
    old.map((line) => line.replace(VERSION, '99.0.0-rc.1')),
  )
  assert.equal(now.length, 7)
  assert.deepEqual(newestOf('# Changelog\n\n## 2.0.0 (soon)\n\n- New.\n## 1.0.0 (2030-01-31)\n'), {
    version: '2.0.0',
    isDated: false,
    text: '- New.',
  })
  assert.equal(
    newestOf('# Changelog\n\n## 2.0.0 (unreleased)\n\n## 1.0.0 (2030-01-31)\n\n- Old.\n').text,
    '',
  )
  assert.equal(newestOf('# Changelog\n'), null)
}

async function testPacked({ env, published }) {
  const folder = await clone('packed')
  await run(folder, ['npm', 'pack', '--ignore-scripts', '--loglevel=error'])
  const { code, err } = await ending(
    folder,
    ['npm', 'publish', `./${path.basename(packedIn(folder))}`],
    env,
  )
  assert.notEqual(code, 0)
  assert.match(err, /EPRIVATE/)
  assert.equal(published.length, 0)
}

async function testDifferences() {
  const made = async (name, files) => {
    const root = path.join(scratch, name, 'package')
    fs.mkdirSync(root, { recursive: true })
    for (const [file, text, mode = 0o644] of files) {
      fs.writeFileSync(path.join(root, file), text)
      fs.chmodSync(path.join(root, file), mode)
    }
    const tarball = path.join(scratch, `${name}.tgz`)
    await run(path.dirname(root), ['tar', '-czf', tarball, 'package'])
    return tarball
  }
  const one = await made('tarball-1', [
    ['a', 'a'],
    ['b', 'b'],
    ['c', 'c'],
    ['d', 'd'],
  ])
  const other = await made('tarball-2', [
    ['e', 'e'],
    ['d', 'd', 0o755],
    ['c', 'C'],
    ['a', 'a'],
  ])
  assert.deepEqual(differencesOf(one, other), [
    'b is in the first alone',
    'c has other bytes',
    'd has another mode',
    'e is in the second alone',
  ])
  assert.deepEqual(
    differencesOf(
      one,
      await made('tarball-3', [
        ['d', 'd'],
        ['c', 'c'],
        ['b', 'b'],
        ['a', 'a'],
      ]),
    ),
    [],
  )
  const { code, out } = await ending(scratch, [
    process.execPath,
    path.join(ROOT, 'scripts', 'tarball.js'),
    one,
    other,
  ])
  assert.equal(code, 1)
  assert.match(out, /^b is .*\nc has .*\nd has .*\ne is .*\n$/)
}

async function testWheelBytes() {
  const made = async (name, TZ) => {
    const folder = path.join(scratch, name)
    fs.cpSync(path.join(ROOT, 'python'), path.join(folder, 'python'), {
      recursive: true,
      filter: (file) => !file.endsWith('__pycache__'),
    })
    fs.cpSync(path.join(ROOT, 'LICENSE'), path.join(folder, 'LICENSE'))
    for (const place of ['linux-x64', 'linux-x64-musl', 'linux-arm64', 'cuda']) {
      fs.mkdirSync(path.join(folder, 'prebuilds', place), { recursive: true })
      if (place !== 'cuda') {
        fs.writeFileSync(path.join(folder, 'prebuilds', place, 'libsamebytes.so.1'), place)
      }
    }
    fs.mkdirSync(path.join(folder, 'wheels'))
    const names = (await run(folder, ['python3', 'python/backend.py', 'wheels', '--all'], { TZ }))
      .trim()
      .split('\n')
    return names.map((wheel) => [
      wheel,
      createHash('sha256')
        .update(fs.readFileSync(path.join(folder, 'wheels', wheel)))
        .digest('hex'),
    ])
  }
  const one = await made('wheels', 'UTC')
  assert.deepEqual(
    one.map(([name]) => name),
    ['aarch64', 'x86_64', 'x86_64'].map(
      (machine, i) =>
        `samebytes-${VERSION}-py3-none-${i === 2 ? 'musllinux_1_2' : 'manylinux_2_28'}_${machine}.whl`,
    ),
  )
  assert.deepEqual(await made(path.join('another-place', 'wheels'), 'Pacific/Chatham'), one)
}

/** For one GPU: the text that all machine code is made of is the same for each. */
async function testDeviceCode() {
  const [one, other] = [
    await clone('device-code'),
    await clone(path.join('device-code-of', 'another-place')),
  ].map((folder) => path.join(folder, 'build', 'cuda'))
  for (const folder of [one, other]) {
    await run(path.join(folder, '..', '..'), [process.execPath, 'scripts/cuda.js', 'build'], {
      SAMEBYTES_CUDA_ARCHS: '75',
    })
  }
  const names = fs.readdirSync(one)
  assert.ok(names.includes('cast.ptx') && names.includes('cast.fatbin'), names.join())
  assert.deepEqual(
    names.filter(
      (name) =>
        !fs.readFileSync(path.join(one, name)).equals(fs.readFileSync(path.join(other, name))),
    ),
    [],
  )
}

// ---- Whole packages ----

async function testFull(registry) {
  const paths = {}
  for (const major of [10, 11]) {
    await test(`npm ${major} packs nothing rather than half a package`, async () => {
      const place = path.join(scratch, `npm-${major}`)
      const bin = path.join(place, 'node_modules', '.bin')
      await run(scratch, [
        'npm',
        'install',
        '--prefix',
        place,
        '--no-save',
        '--no-package-lock',
        ...QUIET,
        `npm@${major}`,
      ])
      paths[major] = [bin, process.env.PATH].join(path.delimiter)
      assert.match(
        await run(scratch, ['npm', '--version'], { PATH: paths[major] }),
        new RegExp(`^${major}\\.`),
      )
      await testHalf(`half-by-${major}`, [bin])
    })
  }
  const folder = path.join(scratch, 'released')
  const remote = path.join(scratch, 'remote.git')
  await test('a release by npm 11 publishes one tarball, and pushes commit and tag', () =>
    testRelease(folder, remote, paths[11], registry))
  await test('a dry run at the tag in another folder, by npm 10, makes its tarball anew, and changes nothing', () =>
    testAnew(remote, paths[10], registry))
}

async function install(name, tarball) {
  const app = path.join(scratch, name)
  fs.mkdirSync(app)
  fs.writeFileSync(
    path.join(app, 'package.json'),
    JSON.stringify({ name: 'app', version: '1.0.0', private: true }),
  )
  await run(app, ['npm', 'install', '--offline', ...QUIET, tarball])
  return app
}

const readSums = (app) =>
  fs.readFileSync(path.join(app, 'node_modules', NAME, 'prebuilds', 'SHA256SUMS'), 'utf8')

/** The native back end runs, hashes are right, and the bill of materials names what it was built with. @returns {Promise<string>} the hashes */
async function testInstalled(app, version) {
  const root = path.join(app, 'node_modules', NAME)
  assert.equal(
    await run(app, [
      process.execPath,
      '-p',
      "const { backend, tensor } = require('samebytes'); backend() + tensor([1, 2]).tolist()",
    ]),
    'native1,2\n',
  )
  const sums = readSums(app)
  const listed = sums
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(66))
  const expected = ['linux-arm64', 'linux-x64-musl', `${process.platform}-${process.arch}`].flatMap(
    (place) =>
      ['libsamebytes.so.1', 'samebytes.node', 'samebytes_math.node'].map(
        (name) => `prebuilds/${place}/${name}`,
      ),
  )
  for (const place of ['win32-x64', 'darwin-arm64', 'darwin-x64']) {
    expected.push(`prebuilds/${place}/samebytes.node`, `prebuilds/${place}/samebytes_math.node`)
  }
  for (const name of [
    ...expected,
    'dist/samebytes.wasm',
    'dist/samebytes-shared.wasm',
    'dist/samebytes-parsers.wasm',
    'dist/samebytes.mjs',
  ]) {
    assert.ok(listed.includes(name), name)
  }
  const isBinary = (file) =>
    /^(\x7fELF|\0asm|MZ)/.test(
      fs.readFileSync(path.join(root, file)).subarray(0, 4).toString('latin1'),
    )
  const files = fs
    .readdirSync(root, { recursive: true })
    .filter((name) => fs.statSync(path.join(root, name)).isFile())
  assert.deepEqual(
    files.filter(isBinary).filter((name) => !listed.includes(name)),
    [],
    'binaries that are not listed',
  )

  await run(root, ['sha256sum', '--check', '--strict', '--quiet', 'prebuilds/SHA256SUMS'])
  fs.appendFileSync(path.join(root, expected[0]), '.')
  assert.equal(
    (await ending(root, ['sha256sum', '--check', '--strict', '--quiet', 'prebuilds/SHA256SUMS']))
      .code,
    1,
  )

  const sbom = JSON.parse(fs.readFileSync(path.join(root, 'prebuilds', 'sbom.cdx.json'), 'utf8'))
  assert.equal(sbom.bomFormat, 'CycloneDX')
  assert.equal(sbom.metadata.component.version, version)
  const tools = sbom.formulation[0].components
  for (const name of [
    'gcc',
    'binutils',
    'emscripten',
    'aarch64-linux-gnu-gcc',
    'musl',
    'x86_64-w64-mingw32-binutils',
    'clang',
    'lld',
    'node',
    'node-gyp',
    'esbuild',
    'typescript',
  ]) {
    assert.match(tools.find((tool) => tool.name === name)?.version ?? 'none', /^\d+\.\d+/, name)
  }
  assert.match(tools.find(({ name }) => name === 'x86_64-w64-mingw32-gcc').version, /^\d+/)
  assert.doesNotMatch(JSON.stringify(sbom) + sums, new RegExp(`${scratch}|${ROOT}`), 'no place')
  return sums
}

async function testRelease(folder, remote, PATH, { env, published }) {
  await withHeading('released')
  await git(scratch, 'init', '--quiet', '--bare', '--initial-branch=main', remote)
  await git(folder, 'remote', 'add', 'origin', remote)
  await git(folder, 'push', '--quiet', 'origin', 'main')
  const { code, text } = await release(folder, [RELEASED], { ...env, PATH })
  assert.equal(code, 0, text)
  assert.match(text, new RegExp(`^Version: ${RELEASED}, after ${VERSION}$`, 'm'))
  assert.match(
    text,
    new RegExp(
      `^ {2}the commit "release: ${RELEASED}", .* on main\n {2}the tag v${RELEASED}, and a push to origin$`,
      'm',
    ),
  )
  assert.doesNotMatch(text, /--provenance/)

  assert.equal(published.length, 1)
  const [{ versions, 'dist-tags': tags, _attachments: attachments }] = published
  assert.deepEqual(tags, { next: RELEASED })
  assert.equal(versions[RELEASED].private, undefined)
  const file = path.join(folder, 'build', 'release', `${NAME}-${RELEASED}.tgz`)
  const tarball = fs.readFileSync(file)
  assert.ok(
    Buffer.from(Object.values(attachments)[0].data, 'base64').equals(tarball),
    'what was built is what was published',
  )
  testReport(text, tarball)

  const commit = (await git(folder, 'rev-parse', `v${RELEASED}^{commit}`)).trim()
  assert.equal((await git(folder, 'rev-parse', 'HEAD')).trim(), commit)
  assert.equal((await git(remote, 'rev-parse', `v${RELEASED}^{commit}`)).trim(), commit)
  assert.equal((await git(remote, 'rev-parse', 'main')).trim(), commit)
  assert.equal(await git(folder, 'status', '--porcelain'), '')
  assert.match(
    await git(folder, 'show', '--stat', '--format=%s', commit),
    new RegExp(`^release: ${RELEASED.replaceAll('.', '\\.')}\n\n CHANGELOG.md `),
  )

  const app = await install('app-released', file)
  await testInstalled(app, RELEASED)
  await testWheels(folder, app)
  assert.deepEqual(
    JSON.parse(fs.readFileSync(path.join(app, 'node_modules', NAME, 'package.json'), 'utf8'))
      .repository,
    REPOSITORY,
  )
}

/** One for each platform; this one's, beside the package. */
async function testWheels(folder, app) {
  const place = path.join(folder, 'build', 'release')
  const names = fs
    .readdirSync(place)
    .filter((name) => name.endsWith('.whl'))
    .sort()
  assert.deepEqual(
    names,
    ['manylinux_2_28_aarch64', 'manylinux_2_28_x86_64', 'musllinux_1_2_x86_64'].map(
      (tag) => `samebytes-99.0.0rc1-py3-none-${tag}.whl`,
    ),
  )
  const site = path.join(scratch, 'site')
  wheel.install(path.join(place, names[1]), site, { byPip: true })
  const { version, library } = await wheel.tryBeside(
    require(path.join(app, 'node_modules', NAME)),
    site,
    `samebytes-wheel-${process.pid}`,
  )
  assert.equal(version, RELEASED)
  assert.ok(
    fs
      .readFileSync(library)
      .equals(
        fs.readFileSync(
          path.join(app, 'node_modules', NAME, 'prebuilds', 'linux-x64', 'libsamebytes.so.1'),
        ),
      ),
  )
}

/** What a person wants to see before it is published. */
function testReport(text, tarball) {
  const hash = (algorithm, encoding) => createHash(algorithm).update(tarball).digest(encoding)
  const found = (name) => assert.ok(text.includes(name), `${name} is missing:\n${text}`)
  found('What is new:\n  - New.\n')
  for (const place of ['linux-x64', 'linux-arm64', 'linux-x64-musl']) {
    for (const name of ['samebytes.node', 'samebytes_math.node', 'libsamebytes.so.1']) {
      assert.match(text, new RegExp(`^  prebuilds/${place}/${name}: \\d+ bytes$`, 'm'))
    }
  }
  for (const name of ['samebytes.node', 'samebytes_math.node']) {
    assert.match(text, new RegExp(`^  prebuilds/win32-x64/${name}: \\d+ bytes$`, 'm'))
  }
  assert.match(text, /^ {2}the tarball: \d+ bytes, at most \d+$/m)
  assert.match(text, /^ {2}[0-9a-f]{64} {2}dist\/samebytes\.wasm$/m)
  found(`  sha256 ${hash('sha256', 'hex')}\n`)
  found(`  integrity sha512-${hash('sha512', 'base64')}\n`)
  assert.match(
    text,
    /^ {2}npm publish \.\/build\/release\/samebytes-\S+\.tgz --access public --tag next, to http:\/\/127\.0\.0\.1:\d+\/$/m,
  )
  assert.match(
    text,
    /^ {2}[0-9a-f]{64} {2}samebytes-99\.0\.0rc1-py3-none-manylinux_2_28_x86_64\.whl$/m,
  )
  found(`  the tag v${RELEASED}, and a push to origin\n`)
}

/** It comes to its first build: a release itself has compared two, which takes minutes. */
async function testAnew(remote, PATH, { env, published }) {
  const folder = path.join(scratch, 'another-place', 'at-the-tag')
  await git(scratch, 'clone', '--quiet', remote, folder)
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  const refs = await git(folder, 'for-each-ref')
  const { code, out, err } = await release(folder, [RELEASED, '--dry-run'], {
    ...env,
    PATH: [PATH.split(path.delimiter)[0], withoutCompilers()].join(path.delimiter),
  })
  assert.equal(code, 1)
  assert.equal(out, `release: building ${RELEASED}, and packing it\n`)
  assert.match(err, /not whole without emcc/)
  assert.equal(published.length, 1)
  assert.equal(await git(folder, 'for-each-ref'), refs)
  assert.equal(await git(folder, 'status', '--porcelain'), '')
}
