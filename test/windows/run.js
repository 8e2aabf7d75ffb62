'use strict'
// The addons for Windows, under Wine: in npm's node.exe and bun.exe, and as a renamed host loads them. It takes bash scripts/setup all.
//
//   node test/windows/run.js                          programs of a few seconds, on Node 20 and 22, and in Bun; and builds there
//   node test/windows/run.js [--node 22] test/math …   test/run.js with these arguments, natively
//
// The last line is `N passed, N failed`. Node 24 and Deno do not start in Debian's Wine 8, so they are not tried.

const { spawn, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { fromNpm } = require('../from-npm')
const { prepare } = require('./compiler')
const { WINE, Wine, nodeOf } = require('./wine')

const ROOT = path.join(__dirname, '..', '..')
const BUN = require('../pack/runtimes/package.json').dependencies['@oven/bun-linux-x64']
const BUILT = path.join(ROOT, 'build-win32')
const wine = new Wine({
  SAMEBYTES_BACKEND: 'native',
  SAMEBYTES_BINARY: `Z:${path.join(BUILT, 'samebytes.node')}`, // whatever the drive of a process' folder
  SAMEBYTES_TEST_BINARY: `Z:${path.join(BUILT, 'samebytes_test.node')}`,
})
const { env, scratch } = wine

/** serves programs that compile @type {import('node:child_process').ChildProcess | null} */
let compiler = null

/** Runs a program of Windows in the checkout. @param {string[]} command */
const run = (command, options) => wine.run([WINE, ...command], { cwd: ROOT, ...options })

/** What Bun asks Windows for random numbers, which Wine 8 has not. */
const RANDOM = `
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(void *bytes, ULONG n);
__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *bytes, SIZE_T n) {
  for (SIZE_T at = 0; at < n; at += 65536)
    if (!SystemFunction036(bytes + at, n - at < 65536 ? (ULONG)(n - at) : 65536)) return FALSE;
  return TRUE;
}
`

/** @returns {string} bun.exe, beside what it lacks */
function bun() {
  const program = path.join(scratch, 'bun.exe')
  const source = path.join(scratch, 'random.c')
  fs.copyFileSync(fromNpm('@oven/bun-windows-x64', BUN, path.join('bin', 'bun.exe')), program)
  fs.writeFileSync(source, RANDOM)
  const library = path.join(scratch, 'bcryptprimitives.dll')
  wine.must(['x86_64-w64-mingw32-gcc', '-shared', '-O2', '-o', library, source, '-ladvapi32'])
  return program
}

function programs() {
  const renamed = path.join(scratch, 'electron.exe')
  const folder = fs.mkdtempSync(path.join(scratch, 'files-'))
  fs.copyFileSync(nodeOf('20'), renamed)
  let failed = 0
  const hosts = {
    'Node 20': nodeOf('20'),
    'a host of another name': renamed,
    'Node 22': nodeOf('22'),
    Bun: bun(),
  }
  for (const [title, host] of Object.entries(hosts)) {
    const { status, text } = run([host, 'js/cli/try-native.js', folder])
    console.log(
      `${status === 0 ? 'ok' : 'not ok'} - ${title} loads the addons, computes, maps and replaces files, has them in a second thread, and shares memory with a second process`,
    )
    if (status === 0) continue
    failed++
    console.log(text)
  }
  for (const [title, test] of Object.entries({
    'samebytes-build makes the addons that are shipped': testBuild,
    'a contributor builds and tests a checkout': testCheckout,
  })) {
    const fault = test(nodeOf('20'))
    console.log(`${fault === null ? 'ok' : 'not ok'} - ${title}`)
    if (fault === null) continue
    failed++
    console.log(fault)
  }
  console.log(`${Object.keys(hosts).length + 2 - failed} passed, ${failed} failed`)
  return failed === 0
}

/** What goes beside it where programs compile: Linux' mingw as tools of Windows. */
function withCompiler() {
  const folder = path.join(scratch, 'tools')
  if (!fs.existsSync(folder)) {
    fs.mkdirSync(folder)
    prepare(folder)
    const served = [path.join(__dirname, 'compiler.js'), folder, `${env.WINEPREFIX}/drive_c`]
    compiler = spawn(process.execPath, served, { stdio: 'inherit' })
  }
  return { ...env, WINEPATH: `Z:${folder}` }
}

/** @param {string} node @returns {string | null} what is wrong */
function testBuild(node) {
  const out = path.join(scratch, 'built')
  const asked = [node, 'js/cli/build.js', '--out', `Z:${out}`]
  const { status, text } = run(asked, { env: withCompiler() })
  if (status !== 0) return text
  const differ = ['samebytes.node', 'samebytes_math.node'].filter(
    (name) =>
      !fs.readFileSync(path.join(out, name)).equals(fs.readFileSync(path.join(BUILT, name))),
  )
  return differ.length === 0 ? null : `${differ} differ from those that scripts/build windows made`
}

/** npm test, without npm, which Wine 8 does not run. @param {string} node @returns {string | null} what is wrong */
function testCheckout(node) {
  const checkout = path.join(scratch, 'checkout')
  const packed = path.join(scratch, 'samebytes.tgz')
  const files = spawnSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).stdout
  for (const file of files.split('\0').filter(Boolean)) {
    if (fs.existsSync(path.join(ROOT, file))) {
      fs.cpSync(path.join(ROOT, file), path.join(checkout, file), { preserveTimestamps: true })
    }
  }
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(checkout, 'node_modules'))
  wine.must(['tar', '-czf', packed, '--transform', 's,^,package/,', 'dist', 'package.json'])
  const { SAMEBYTES_BINARY, SAMEBYTES_TEST_BINARY, ...rest } = withCompiler()
  const options = { cwd: checkout, env: { ...rest, SAMEBYTES_DIST: `Z:${packed}` } }
  for (const args of [
    ['scripts/ready.js', 'test'],
    ['test/run.js', 'test\\api\\flip', 'test/native/external.test', 'test/cuda/failures'],
  ]) {
    const { status, text } = run([node, ...args], options)
    if (status !== 0) return text
  }
  return null
}

/** @param {string[]} args */
function suite(args) {
  const at = args.indexOf('--node')
  const [, major] = at < 0 ? [] : args.splice(at, 2)
  const { status, text } = run([
    nodeOf(major ?? '20'),
    'test/run.js',
    ...args,
    '--backend',
    'native',
  ])
  process.stdout.write(text)
  return status === 0
}

try {
  wine.must(['bash', 'scripts/build', 'windows'], { cwd: ROOT, env: process.env })
  const args = process.argv.slice(2)
  process.exitCode = (args.length === 0 ? programs() : suite(args)) ? 0 : 1
} catch (error) {
  console.error(error)
  console.log('0 passed, 1 failed')
  process.exitCode = 1
} finally {
  compiler?.kill()
  wine.end()
}
