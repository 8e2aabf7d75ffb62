'use strict'
// How large may what is shipped be? The only list of limits: for .ci/check, the tests of the package and releases.
//
//   node .ci/sizes.js    checks what was built in build/Release (stripped) and dist

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const zlib = require('node:zlib')
const { unpacked } = require('./tarball.js')

const ROOT = path.dirname(__dirname)
const KB = 1024
const MB = 1024 * KB

/** Bytes of a file, and of it compressed. */
const FILES = {
  'samebytes.node': { bytes: 660 * KB },
  'samebytes_math.node': { bytes: 800 * KB },
  'libsamebytes.so.1': { bytes: 500 * KB },
  'samebytes.wasm': { bytes: 150 * KB, gzip: 54 * KB },
  'samebytes-shared.wasm': { bytes: 150 * KB, gzip: 54 * KB },
  'samebytes-parsers.wasm': { bytes: 16 * KB, gzip: 8 * KB },
  'samebytes-math.wasm': { bytes: 240 * KB, gzip: 60 * KB },
  'samebytes-math-shared.wasm': { bytes: 240 * KB, gzip: 60 * KB },
  'samebytes-algorithms.wasm': { bytes: 160 * KB, gzip: 60 * KB },
  'samebytes-algorithms-shared.wasm': { bytes: 160 * KB, gzip: 60 * KB },
  'samebytes.mjs': { bytes: 300 * KB, gzip: 106 * KB }
}

/** JavaScript of a page, as esbuild minifies it with what the names below need, compressed. */
const PROGRAMS = {
  'init, tensor, fromBlob': 64 * KB,
  'init, fromBlob, parseNpy': 82 * KB
}

/** Bytes of the tarball without device code, which most users of the package have no use for, and what that may add. */
const TARBALL = 6 * MB
const DEVICE_CODE = 1.25 * MB

const lineOf = (what, size, limit) => ({ text: `${what}: ${size} bytes, at most ${limit}`, isTooLarge: size > limit })

/**
 * @param {string} file  its name says which limits it has
 * @returns {{ text: string, isTooLarge: boolean }[]} a line for each limit
 */
function sizesOf (file) {
  const name = path.basename(file)
  const content = fs.readFileSync(file)
  const { bytes, gzip } = FILES[name]
  const lines = [lineOf(name, content.length, bytes)]
  if (gzip !== undefined) lines.push(lineOf(`${name}, gzip`, zlib.gzipSync(content, { level: 9 }).length, gzip))
  return lines
}

/** Bytes of a tarball, and of the package in it without device code, compressed. @returns {{ all: number, withoutDeviceCode: number }} */
function bytesOfTarball (tarball) {
  return unpacked(tarball, folder => {
    const scratch = path.dirname(folder)
    const smaller = path.join(scratch, 'smaller.tgz')
    execFileSync('tar', ['-czf', smaller, '-C', scratch, '--exclude=package/prebuilds/cuda', 'package'])
    return { all: fs.statSync(tarball).size, withoutDeviceCode: fs.statSync(smaller).size }
  })
}

/**
 * @param {string} tarball
 * @param {string} folder  what is in it, unpacked
 * @returns {{ text: string, isTooLarge: boolean }[]} a line for each limit
 */
function sizesOfPackage (tarball, folder) {
  const limited = fs.readdirSync(folder, { recursive: true }).filter(name => path.basename(name) in FILES).sort()
  const lines = limited.flatMap(name => sizesOf(path.join(folder, name)).map(({ text, isTooLarge }) => ({ text: path.posix.join(path.dirname(name), text), isTooLarge })))
  const { all, withoutDeviceCode } = bytesOfTarball(tarball)
  return [...lines, lineOf('the tarball without device code', withoutDeviceCode, TARBALL), lineOf('device code in the tarball', Math.max(0, all - withoutDeviceCode), DEVICE_CODE)]
}

/** @returns {{ text: string, isTooLarge: boolean }[]} a line for each program */
function sizesOfPrograms () {
  const { buildSync } = require('esbuild')
  return Object.entries(PROGRAMS).map(([names, limit]) => {
    const contents = `import { ${names} } from './dist/samebytes.mjs'; console.log(${names})`
    const { outputFiles: [{ contents: program }] } = buildSync({ stdin: { contents, resolveDir: ROOT }, bundle: true, minify: true, format: 'esm', write: false })
    return lineOf(`a program with ${names}, gzip`, zlib.gzipSync(program, { level: 9 }).length, limit)
  })
}

function main () {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-sizes-'))
  try {
    const tell = ({ text, isTooLarge }) => {
      console.log(isTooLarge ? `${text}: too large` : text)
      if (isTooLarge) process.exitCode = 1
    }
    for (const name of Object.keys(FILES)) {
      const isModule = !/\.(node|so\.1)$/.test(name)
      const file = path.join(isModule ? path.join(ROOT, 'dist') : scratch, name)
      if (!isModule) execFileSync('strip', ['--strip-unneeded', '-o', file, path.join(ROOT, 'build', 'Release', name)])
      sizesOf(file).forEach(tell)
    }
    sizesOfPrograms().forEach(tell)
  } finally {
    fs.rmSync(scratch, { recursive: true })
  }
}

module.exports = { FILES, TARBALL, DEVICE_CODE, sizesOf, bytesOfTarball, sizesOfPackage }

if (require.main === module) main()
