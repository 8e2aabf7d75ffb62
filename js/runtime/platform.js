'use strict'
// The name of this platform, and the folder in prebuilds/ with binaries for it.

const fs = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { root } = require('./host')

const PT_INTERP = 3 // the program header that names the loader

/** @type {Record<string, string>} */
const MUSL = { x64: '/lib/ld-musl-x86_64.so.1', arm64: '/lib/ld-musl-aarch64.so.1' }

/**
 * Linux has two C libraries, and binaries linked to one do not run on the other. If both are installed, the loader of the running
 * executable tells which one it is.
 *
 * @returns {boolean} whether it is musl, as on Alpine
 */
function isMusl() {
  if (process.platform !== 'linux') return false
  if (process.versions.deno !== undefined) return false // there is no Deno for musl
  if (!isThere(MUSL[process.arch])) return false
  const loader = loaderOf('/proc/self/exe')
  if (loader !== null) return loader.includes('musl')
  const report = /** @type {any} */ (process.report?.getReport()) // milliseconds, but no file
  return report !== undefined && report.header.glibcVersionRuntime === undefined
}

/** @param {string | undefined} file  @returns {boolean}  true as well if access is denied */
function isThere(file) {
  if (file === undefined) return false
  try {
    return fs.statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

/**
 * @param {string} file  an ELF file for this machine, of 64 bits
 * @returns {string | null}  null: the file may not be read, or has none
 */
function loaderOf(file) {
  const bytes = Buffer.alloc(4096)
  let fd
  try {
    fd = fs.openSync(file, 'r')
    const length = fs.readSync(fd, bytes, 0, bytes.length, 0)
    const [from, size, count] = [
      Number(bytes.readBigUInt64LE(32)),
      bytes.readUInt16LE(54),
      bytes.readUInt16LE(56),
    ]
    for (let at = from; at < from + count * size && at + size <= length; at += size) {
      if (bytes.readUInt32LE(at) !== PT_INTERP) continue
      const n = fs.readSync(fd, bytes, 0, 256, Number(bytes.readBigUInt64LE(at + 8)))
      const text = bytes.toString('latin1', 0, n)
      return text.slice(0, text.indexOf('\0'))
    }
  } catch {
    // no such file, or access is denied
  } finally {
    if (fd !== undefined) fs.closeSync(fd)
  }
  return null
}

/** @type {string | undefined} */
let name

/** @returns {string} such as 'linux-x64' or 'linux-x64-musl' */
function platformName() {
  name ??= `${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`
  return name
}

/** Loads an addon by its absolute path; such a bundler's own `require` would find none. @type {(file: string) => any} */
const requireAddon =
  root === path.join(__dirname, '..', '..')
    ? require
    : createRequire(path.join(root, 'package.json'))

/** @returns {string} the folder that has binaries for this machine, if the package has them; absolute */
const prebuilt = () => path.join(root, 'prebuilds', platformName())

/**
 * Never called. Tracers of files, such as @vercel/nft of Next.js and Vercel, take along what a literal path in a call of readFileSync
 * names, and nothing else; what is not there they leave out. Linux's names are there on every system: servers run it, wherever they
 * were built.
 */
// eslint-disable-next-line no-unused-vars
function traced() {
  fs.readFileSync(path.join(__dirname, '../../prebuilds/linux-x64/samebytes.node'))
  fs.readFileSync(path.join(__dirname, '../../prebuilds/linux-x64/samebytes_math.node'))
  fs.readFileSync(path.join(__dirname, '../../prebuilds/linux-x64/libsamebytes.so.1'))
  fs.readFileSync(path.join(__dirname, '../../prebuilds/linux-arm64/samebytes.node'))
  fs.readFileSync(path.join(__dirname, '../../prebuilds/linux-arm64/samebytes_math.node'))
  fs.readFileSync(path.join(__dirname, '../../prebuilds/linux-arm64/libsamebytes.so.1'))
  fs.readFileSync(path.join(__dirname, '../../prebuilds/linux-x64-musl/samebytes.node'))
  fs.readFileSync(path.join(__dirname, '../../prebuilds/linux-x64-musl/samebytes_math.node'))
  fs.readFileSync(path.join(__dirname, '../../prebuilds/linux-x64-musl/libsamebytes.so.1'))
  fs.readFileSync(
    path.join(__dirname, `../../prebuilds/${process.platform}-${process.arch}/samebytes.node`),
  )
  fs.readFileSync(
    path.join(__dirname, `../../prebuilds/${process.platform}-${process.arch}/samebytes_math.node`),
  )
  fs.readFileSync(path.join(__dirname, '../../dist/samebytes.wasm'))
  fs.readFileSync(path.join(__dirname, '../../dist/samebytes-shared.wasm'))
  fs.readFileSync(path.join(__dirname, '../../dist/samebytes-parsers.wasm'))
  fs.readFileSync(path.join(__dirname, '../../dist/samebytes-math.wasm'))
  fs.readFileSync(path.join(__dirname, '../../dist/samebytes-math-shared.wasm'))
  fs.readFileSync(path.join(__dirname, '../../dist/samebytes-algorithms.wasm'))
  fs.readFileSync(path.join(__dirname, '../../dist/samebytes-algorithms-shared.wasm'))
  fs.readFileSync(path.join(__dirname, '../../prebuilds/cuda/copy.fatbin'))
  fs.readFileSync(path.join(__dirname, '../../prebuilds/cuda/copy.ptx'))
  fs.readFileSync(path.join(__dirname, '../../prebuilds/cuda/cast.fatbin'))
  fs.readFileSync(path.join(__dirname, '../../prebuilds/cuda/cast.ptx'))
  fs.readFileSync(path.join(__dirname, '../../prebuilds/cuda/random.fatbin'))
  fs.readFileSync(path.join(__dirname, '../../prebuilds/cuda/random.ptx'))
}

/** what scripts/build package-all makes */
const shipped = [
  'linux-x64',
  'linux-arm64',
  'linux-x64-musl',
  'win32-x64',
  'darwin-arm64',
  'darwin-x64',
]

/** @returns {boolean} whether the package is published with binaries for this machine */
const isShipped = () => shipped.includes(platformName())

module.exports = { requireAddon, platformName, prebuilt, isShipped, loaderOf }
