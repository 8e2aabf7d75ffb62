'use strict'
// How large is what is shipped? Two sizes have a limit: what a page loads first, and the tarball. For scripts/check, the tests of the package and releases.
//
//   node scripts/sizes.js    tells what was built in build/Release (stripped) and dist

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const zlib = require('node:zlib')
const { unpacked } = require('./tarball.js')

const ROOT = path.dirname(__dirname)
const KB = 1024
const MB = 1024 * KB

/** Files whose sizes are told, so that a jump is seen. They have no limit. */
const FILES = [
  'samebytes.node',
  'samebytes_math.node',
  'libsamebytes.so.1',
  'samebytes.wasm',
  'samebytes-shared.wasm',
  'samebytes-parsers.wasm',
  'samebytes-math.wasm',
  'samebytes-math-shared.wasm',
  'samebytes-algorithms.wasm',
  'samebytes-algorithms-shared.wasm',
  'samebytes.mjs',
]

/** Names that programs of pages import, whose JavaScript is told as esbuild minifies it. The first is the page with the budget. */
const PROGRAMS = ['init, tensor, fromBlob', 'init, fromBlob, parseNpy']

/** What a page loads first, compressed: the JavaScript of the first program, and samebytes.wasm. */
const FIRST_LOAD = 124 * KB

/** Bytes of the tarball. */
const TARBALL = 10 * MB

const lineOf = (what, size, limit) => ({
  text: `${what}: ${size} bytes, at most ${limit}`,
  isTooLarge: size > limit,
})

const gzipped = (content) => zlib.gzipSync(content, { level: 9 }).length

/** @param {string} file @returns {string} a line */
function sizeOf(file) {
  const content = fs.readFileSync(file)
  const isForPages = /\.(wasm|mjs)$/.test(file)
  return `${path.basename(file)}: ${content.length} bytes${isForPages ? `, gzip ${gzipped(content)}` : ''}`
}

/** Bytes of a tarball, and of the package in it without device code, compressed. @returns {{ all: number, withoutDeviceCode: number }} */
function bytesOfTarball(tarball) {
  return unpacked(tarball, (folder) => {
    const scratch = path.dirname(folder)
    const smaller = path.join(scratch, 'smaller.tgz')
    execFileSync('tar', [
      '-czf',
      smaller,
      '-C',
      scratch,
      '--exclude=package/prebuilds/cuda',
      'package',
    ])
    return { all: fs.statSync(tarball).size, withoutDeviceCode: fs.statSync(smaller).size }
  })
}

/**
 * @param {string} tarball
 * @param {string} folder  what is in it, unpacked
 * @returns {{ text: string, isTooLarge: boolean }[]} a line for each file, and one for the tarball
 */
function sizesOfPackage(tarball, folder) {
  const told = fs
    .readdirSync(folder, { recursive: true })
    .filter((name) => FILES.includes(path.basename(name)))
    .sort()
  const lines = told.map((name) => ({
    text: path.posix.join(path.dirname(name), sizeOf(path.join(folder, name))),
    isTooLarge: false,
  }))
  return [...lines, lineOf('the tarball', fs.statSync(tarball).size, TARBALL)]
}

/** @returns {{ text: string, isTooLarge: boolean }[]} a line for each program, and one for the first load */
function sizesOfPages() {
  const { buildSync } = require('esbuild')
  const sizes = PROGRAMS.map((names) => {
    const contents = `import { ${names} } from './dist/samebytes.mjs'; console.log(${names})`
    const {
      outputFiles: [{ contents: program }],
    } = buildSync({
      stdin: { contents, resolveDir: ROOT },
      bundle: true,
      minify: true,
      format: 'esm',
      write: false,
    })
    return gzipped(program)
  })
  const module = gzipped(fs.readFileSync(path.join(ROOT, 'dist', 'samebytes.wasm')))
  const lines = PROGRAMS.map((names, i) => ({
    text: `a program with ${names}, gzip: ${sizes[i]} bytes`,
    isTooLarge: false,
  }))
  return [
    ...lines,
    lineOf(`what a page with ${PROGRAMS[0]} loads, gzip`, sizes[0] + module, FIRST_LOAD),
  ]
}

function main() {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-sizes-'))
  try {
    const tell = ({ text, isTooLarge }) => {
      console.log(isTooLarge ? `${text}: too large` : text)
      if (isTooLarge) process.exitCode = 1
    }
    for (const name of FILES) {
      const isModule = !/\.(node|so\.1)$/.test(name)
      const file = path.join(isModule ? path.join(ROOT, 'dist') : scratch, name)
      if (!isModule) {
        execFileSync('strip', [
          '--strip-unneeded',
          '-o',
          file,
          path.join(ROOT, 'build', 'Release', name),
        ])
      }
      console.log(sizeOf(file))
    }
    sizesOfPages().forEach(tell)
  } finally {
    fs.rmSync(scratch, { recursive: true })
  }
}

module.exports = { FILES, TARBALL, bytesOfTarball, sizesOfPackage }

if (require.main === module) main()
