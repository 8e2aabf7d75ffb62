'use strict'
// Makes ready what a task needs: on Linux what bash scripts/setup says; on macOS and Windows npm's packages, the addons by the system's compiler
// (darwin.js, windows.js), and the WebAssembly modules where they can be had. What is missing there is left out by the tests, and counted.
//
//   node scripts/ready.js demo|test
//
// SAMEBYTES_DIST=samebytes.tgz: a packed samebytes, whose modules are taken where there is no Emscripten, on Linux too.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { gunzipSync } = require('node:zlib')
const { start } = require('./cross')

const ROOT = path.join(__dirname, '..')
const ADDONS = ['samebytes', 'samebytes_math']

/** @param {string[]} command */
function must([name, ...args]) {
  const { status, error } = spawnSync(name, args, { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) {
    throw new Error(`${path.basename(name)} ${args[0]} failed: ${error?.message ?? status}`)
  }
}

/** npm ci, where package-lock.json is newer than what is installed. No package's install script runs. */
function packages() {
  const [wanted, there] = ['package-lock.json', 'node_modules/.package-lock.json'].map(
    (file) => fs.statSync(path.join(ROOT, file), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  )
  if (there >= wanted) return
  const npm = process.env.npm_execpath
  if (npm === undefined) throw new Error('npm starts this: npm test')
  must([process.execPath, npm, 'ci', '--ignore-scripts', '--no-audit', '--no-fund'])
  const now = new Date()
  fs.utimesSync(path.join(ROOT, 'node_modules/.package-lock.json'), now, now)
}

/** @param {string} what */
function addons(what) {
  const products = what === 'demo' ? ADDONS : [...ADDONS, 'samebytes_test']
  const options = ['--out', 'build/Release', ...(what === 'demo' ? [] : ['--addons'])]
  if (process.platform === 'win32') {
    must([process.execPath, 'scripts/windows.js', ...options, ...products])
  } else {
    const named = [process.arch, ...options, ...products, 'libsamebytes']
    must([process.execPath, 'scripts/darwin.js', ...named])
  }
}

/**
 * The files of a package's dist/, into dist/.
 *
 * @param {string} file  what `npm pack` wrote: a tar of plain files, compressed by gzip
 */
function unpackDist(file) {
  const bytes = gunzipSync(fs.readFileSync(file))
  const text = (/** @type {number} */ from, /** @type {number} */ length) =>
    bytes.toString('utf8', from, from + length).replace(/\0.*$/s, '')
  const files = []
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0;) {
    const nbytes = parseInt(text(at + 124, 12), 8)
    const [, name] = /^package\/dist\/([\w.-]+)$/.exec(text(at, 100)) ?? []
    if (name !== undefined) files.push({ name, data: bytes.subarray(at + 512, at + 512 + nbytes) })
    at += 512 + Math.ceil(nbytes / 512) * 512
  }
  if (files.length === 0) throw new Error(`${file} has no package/dist; is it a packed samebytes?`)
  fs.mkdirSync(path.join(ROOT, 'dist'), { recursive: true })
  for (const { name, data } of files) fs.writeFileSync(path.join(ROOT, 'dist', name), data)
}

async function main() {
  const [what, ...rest] = process.argv.slice(2)
  if (!['demo', 'test'].includes(what) || rest.length > 0) throw new Error('demo or test?')
  const { SAMEBYTES_DIST: packed } = process.env
  if (packed !== undefined) unpackDist(path.resolve(packed))
  if (process.platform === 'linux') return must(['bash', 'scripts/setup', what])
  packages()
  addons(what)
}

start('ready', main)
