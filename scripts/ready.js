'use strict'
// Makes ready what a task needs: on Linux what bash scripts/setup says; on macOS and Windows npm's packages, the addons by the system's compiler
// (darwin.js, windows.js), and the WebAssembly modules where they can be had. What is missing there is left out by the tests, and counted.
//
//   node scripts/ready.js demo|test
//
// SAMEBYTES_DIST=samebytes.tgz: a packed samebytes, whose modules become dist/ where there is no Emscripten, on Linux too.

const fs = require('node:fs')
const path = require('node:path')
const { gunzipSync } = require('node:zlib')
const { ROOT, run, runs, start } = require('./cross')

const ADDONS = ['samebytes', 'samebytes_math']

/** npm ci, where package-lock.json is newer than what is installed. No package's install script runs. */
function packages() {
  const [wanted, there] = ['package-lock.json', 'node_modules/.package-lock.json'].map(
    (file) => fs.statSync(path.join(ROOT, file), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  )
  if (there >= wanted) return
  const npm = process.env.npm_execpath
  if (npm === undefined) throw new Error('npm starts this: npm test')
  run([process.execPath, npm, 'ci', '--ignore-scripts', '--no-audit', '--no-fund'])
  const now = new Date()
  fs.utimesSync(path.join(ROOT, 'node_modules/.package-lock.json'), now, now)
}

/** @param {string} what */
function addons(what) {
  const products = what === 'demo' ? ADDONS : [...ADDONS, 'samebytes_test']
  const options = ['--out', 'build/Release', ...(what === 'demo' ? [] : ['--addons'])]
  if (process.platform === 'win32') {
    run([process.execPath, 'scripts/windows.js', ...options, ...products])
  } else {
    const named = [process.arch, ...options, ...products, 'libsamebytes']
    run([process.execPath, 'scripts/darwin.js', ...named])
  }
}

/** @param {Buffer} bytes  a tar @returns {{ name: string, data: Buffer }[]} its plain files */
function filesOf(bytes) {
  const text = (/** @type {number} */ from, /** @type {number} */ length) =>
    bytes.toString('utf8', from, from + length).replace(/\0.*$/s, '')
  const files = []
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0;) {
    const from = at + 512
    const end = from + parseInt(text(at + 124, 12), 8)
    if (!(end <= bytes.length)) throw new Error('it is cut off')
    if (/^0?$/.test(text(at + 156, 1))) {
      files.push({ name: text(at, 100), data: bytes.subarray(from, end) })
    }
    at = from + Math.ceil((end - from) / 512) * 512
  }
  return files
}

/** The modules of a packed samebytes, into dist/. @param {string} packed  what `npm pack` wrote */
function unpackDist(packed) {
  const dist = path.join(ROOT, 'dist')
  let modules
  try {
    const files = filesOf(gunzipSync(fs.readFileSync(path.resolve(packed))))
    const about = files.find(({ name }) => name === 'package/package.json')?.data.toString() ?? '{}'
    if (JSON.parse(about).name !== 'samebytes') throw new Error('it is no packed samebytes')
    modules = files.filter(({ name }) => /^package\/dist\/samebytes[\w.-]*$/.test(name))
  } catch (error) {
    throw new Error(`SAMEBYTES_DIST=${packed}: ${/** @type {Error} */ (error).message}`)
  }
  fs.rmSync(dist, { recursive: true, force: true })
  fs.mkdirSync(dist)
  for (const { name, data } of modules) fs.writeFileSync(path.join(dist, path.basename(name)), data)
}

async function main() {
  const [what, ...rest] = process.argv.slice(2)
  if (!['demo', 'test'].includes(what) || rest.length > 0) throw new Error('demo or test?')
  const { SAMEBYTES_DIST: packed } = process.env
  const isLinux = process.platform === 'linux'
  if (packed && isLinux && runs('emcc')) {
    console.error('ready: emcc is here, so SAMEBYTES_DIST is left')
  } else if (packed) unpackDist(packed)
  if (isLinux) return run(['bash', 'scripts/setup', what])
  if (process.platform === 'win32' && process.arch !== 'x64') {
    throw new Error('the addons are for Windows on x64, whose Node.js runs on this machine as well')
  }
  packages()
  addons(what)
}

start('ready', main)
