'use strict'
// Programs and libraries that tests use beside Node, and what is said where one is missing. setup.js's needs and
// skipWithout take their names; each is looked for once, when a test first asks.
const fs = require('node:fs')
const path = require('node:path')
const { spawnSync } = require('node:child_process')

const ROOT = path.join(__dirname, '..')
const SYSTEM_PYTHON = '/usr/bin/python3' // because Debian's NumPy and PyTorch are its
const GOPATH = '/usr/share/gocode'
const TORCH_ADDONS = [
  'examples/libtorch/build/Release/blobs.node',
  'test/peers/torch/build/Release/odd.node',
].map((file) => path.join(ROOT, file))

const isPage = typeof document === 'object'
const load = (name) => require(name) // a name in a variable: bundles of the tests leave the package out
const PYTHON =
  process.env.PYTHON ?? (isPage || fs.existsSync(SYSTEM_PYTHON) ? SYSTEM_PYTHON : 'python3')

/** A program by PATH, or null. Debian has servers in sbin, which is on root's PATH only: beside each bin. */
function find(name) {
  if (path.isAbsolute(name)) return fs.existsSync(name) ? name : null
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => folder !== '')
  const file = process.platform === 'win32' ? `${name}.exe` : name
  return (
    folders
      .flatMap((folder) => [folder, folder.replace(/\bbin\/?$/, 'sbin')])
      .map((folder) => path.join(folder, file))
      .find((place) => fs.existsSync(place)) ?? null
  )
}

/** What Python says to a line; null: it fails. A sanitizer's runtime is for the addon. */
function said(source) {
  const { status, stdout } = spawnSync(PYTHON, ['-c', source], {
    env: { ...process.env, LD_PRELOAD: '' },
    encoding: 'utf8',
  })
  return status === 0 ? stdout : null
}

/** Has Python such a module? One that is there and cannot be imported is no reason to skip. The server of pages knows imports only. */
const hasModule = (name) =>
  said(
    isPage
      ? `import ${name}`
      : `from importlib.util import find_spec; raise SystemExit(find_spec('${name}') is None)`,
  ) !== null

/**
 * isThere: cheap, because each process of tests asks. where: how one gets it. notInCi: scripts/setup all, which CI runs, does not install it;
 * of the others CI has to have all.
 *
 * @type {{ [name: string]: { isThere: () => boolean, where: string, notInCi?: boolean } }}
 */
const TOOLS = {
  Python: {
    isThere: () => isPage || said('pass') !== null,
    where: "Debian's python3; the variable PYTHON names another one",
  },
  NumPy: {
    isThere: () => hasModule('numpy'),
    where:
      "Debian's python3-numpy, or pip install numpy; the variable PYTHON names the Python that has it",
  },
  PyTorch: {
    isThere: () => hasModule('torch'),
    where:
      "Debian's python3-torch, or pip install torch; the variable PYTHON names the Python that has it",
  },
  'PyTorch 1.13': {
    isThere: () => /^1\.13\b/.test(said('import torch; print(torch.__version__)') ?? ''),
    where: 'python3-torch of Debian 12; others print otherwise',
  },
  LibTorch: {
    isThere: () => fs.existsSync('/usr/include/torch/csrc/api/include') && find('g++') !== null,
    where: 'bash scripts/setup libtorch',
  },
  'an addon with LibTorch': {
    isThere: () =>
      process.platform === 'linux' && TORCH_ADDONS.every((file) => fs.existsSync(file)),
    where: 'bash scripts/setup libtorch, on Linux',
  },
  'a C compiler': {
    isThere: () => find(process.env.CC ?? 'gcc') !== null,
    where: "Debian's gcc; the variable CC names another one",
  },
  bash: { isThere: () => find('bash') !== null, where: "Debian's bash" },
  'nats-server': {
    isThere: () => find('nats-server') !== null,
    where: "Debian's nats-server, or nats.io",
  },
  libnats: {
    isThere: () => fs.existsSync('/usr/include/nats/nats.h'),
    where: "Debian's libnats-dev",
  },
  'nats.go': {
    isThere: () =>
      find('go') !== null && fs.existsSync(`${GOPATH}/src/github.com/nats-io/nats.go/nats.go`),
    where: "Debian's golang-go and golang-github-nats-io-go-nats-dev",
    notInCi: true,
  },
  npm: {
    isThere: () =>
      !isPage &&
      spawnSync('npm', ['view', '@nats-io/transport-node', 'version'], { timeout: 60000 })
        .status === 0,
    where: 'Node.js has it; it has to reach a registry',
  },
  nginx: { isThere: () => find('nginx') !== null, where: "Debian's nginx-light, or nginx.org" },
  openssl: { isThere: () => find('openssl') !== null, where: 'the package openssl' },
  Go: { isThere: () => find('go') !== null, where: "Debian's golang-go, or go.dev", notInCi: true },
  Rust: {
    isThere: () => find('rustc') !== null,
    where: "Debian's rustc, or rust-lang.org",
    notInCi: true,
  },
  sharp: {
    isThere: () => {
      try {
        return Boolean(load('sharp'))
      } catch {
        return false
      }
    },
    where: 'npm install sharp, for this system',
  },
  'the fake driver': {
    isThere: () => fs.existsSync(path.join(ROOT, 'build', 'fakecuda', 'libcuda_fake.so')),
    where: 'bash scripts/build fakecuda, on Linux, whose CUDA it stands in for',
  },
  'the fake onnxruntime': {
    isThere: () =>
      fs.existsSync(path.join(ROOT, 'build', 'fakeort', 'libonnxruntime_fake.so')) &&
      process.platform === 'linux',
    where: 'bash scripts/build fakeort, on Linux',
  },
  'the WebAssembly build': {
    isThere: () => fs.existsSync(path.join(ROOT, 'dist', 'samebytes-algorithms-shared.wasm')),
    where:
      "Debian's emscripten, or emscripten.org; then bash scripts/build wasm; or SAMEBYTES_DIST=samebytes.tgz, a packed one",
  },
}

const known = new Map()

/** where scripts/windows.js and scripts/darwin.js put such addons */
const OTHERS = { win32: 'build-win32', darwin: `build-darwin-${process.arch}` }

/** An addon that is built of a folder's binding.gyp: by node-gyp, for Windows and macOS by scripts/ready.js. @param {string} folder @param {string} name */
const addonOf = (folder, name) =>
  process.platform === 'win32' || process.platform === 'darwin'
    ? path.join(ROOT, OTHERS[process.platform], `${name}.node`)
    : path.join(ROOT, folder, 'build', 'Release', `${name}.node`)

/** Why tests without this tool are skipped; null: it is there. In CI, which must not skip what it is to test, a missing one is an error. */
function lackOf(name) {
  const { isThere, where, notInCi } = TOOLS[name]
  if (!known.has(name)) known.set(name, isThere())
  if (known.get(name)) return null
  const reason = `${name} is missing: ${where}`
  if (process.env.CI && !notInCi) throw new Error(reason)
  return reason
}

module.exports = { GOPATH, PYTHON, TOOLS, TORCH_ADDONS, addonOf, find, lackOf }
