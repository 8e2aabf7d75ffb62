#!/usr/bin/env node
'use strict'
// samebytes-build: compiles the addons and libsamebytes from the package's C sources, for machines that it has no binaries for. What it makes
// lies where shipped binaries do, prebuilds/<platform>/, so that nothing has to be set. On Linux node-gyp compiles; for Windows and macOS the
// package's own scripts do, by mingw's GCC and by clang (scripts/windows.js, darwin.js).

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { isDefault } = require('../backend/native')
const { platformName, prebuilt } = require('../runtime/platform')

const ROOT = path.join(__dirname, '..', '..')
const ADDONS = ['samebytes.node', 'samebytes_math.node']
/** What is made for a system. @type {Record<string, string[]>} */
const PRODUCTS = {
  linux: [...ADDONS, 'libsamebytes.so.1'],
  darwin: [...ADDONS, 'libsamebytes.dylib'],
  win32: ADDONS,
}
const { npm_config_arch: otherArch, npm_config_platform: otherSystem } = process.env
const system = otherSystem || process.platform
const arch = otherArch || process.arch
/** Processors that it compiles for; of Linux any. @type {Record<string, string[]>} */
const PROCESSORS = { darwin: ['arm64', 'x64'], win32: ['x64'] }
const HELP = `Usage: samebytes-build [--out FOLDER] [--verbose]

Compiles the native addons of samebytes from source, for machines that the package has no binaries for.

  --out FOLDER  where ${Object.hasOwn(PRODUCTS, system) ? PRODUCTS[system].join(', ') : 'they'} go; otherwise into the package, where they are found
  --verbose     show what the compiler is told and says
  --help        show this

On Linux it takes node-gyp, Python 3, make and a C11 compiler (CC, else cc). node-gyp downloads the headers of Node.js
unless they lie beside the executable, or npm_config_nodedir says where they are. On Windows it takes the GCC of
w64devkit or MSYS2, on macOS Apple's command line tools (xcode-select --install), and on both the package
node-api-headers. npm_config_platform and npm_config_arch name another system: win32 and x64 take GCC for mingw-w64,
darwin and arm64 or x64 take clang, lld and llvm.`

class Failure extends Error {}

/** Does another machine load what is built? */
const isCross = Boolean(otherArch || otherSystem)

/** @param {string[]} args */
function main(args) {
  const { out, verbose, help } = optionsOf(args)
  if (help) return console.log(HELP)
  if (out === '') throw new Failure('--out names no folder')
  const isKnown = Object.hasOwn(PRODUCTS, system)
  if (!isKnown || (Object.hasOwn(PROCESSORS, system) && !PROCESSORS[system].includes(arch))) {
    throw new Failure(
      `it compiles for Linux, for macOS on arm64 and x64, and for Windows on x64; on ${system}-${arch} the package runs on WASM`,
    )
  }
  if (os.endianness() !== 'LE') {
    throw new Failure(
      `${arch} is big-endian, and the C sources are for little-endian machines; the package runs on WASM here`,
    )
  }
  // in the root of a checkout; beside the binaries in the package, where no installer takes it for an order to build
  const sources = [
    path.join(ROOT, 'binding.gyp'),
    path.join(ROOT, 'prebuilds', 'binding.gyp'),
  ].find((file) => fs.existsSync(file))
  if (sources === undefined) throw new Failure(`${ROOT} has no C sources; is the package whole?`)
  const gyp = system === 'linux' ? findNodeGyp() : []
  const compiler = system === 'linux' ? findCompiler() : system === 'win32' ? 'GCC' : 'clang'
  const target = path.resolve(
    out ?? (isCross ? path.join(ROOT, 'prebuilds', `${system}-${arch}`) : prebuilt()),
  )
  try {
    fs.mkdirSync(target, { recursive: true })
    fs.accessSync(target, fs.constants.W_OK)
  } catch (error) {
    throw new Failure(
      `${target} cannot be written (${/** @type {any} */ (error).code}); give another one with --out FOLDER`,
    )
  }
  const scratch = newFolder()
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {}) // Ctrl-C ends what was started, whose failure ends this
  try {
    fs.cpSync(path.join(ROOT, 'src'), path.join(scratch, 'src'), { recursive: true })
    fs.copyFileSync(sources, path.join(scratch, 'binding.gyp'))
    console.log(
      `samebytes-build: compiling for ${isCross ? `${system}-${arch}` : platformName()} with ${compiler}`,
    )
    const made = path.join(scratch, 'build', 'Release')
    if (system === 'linux') runNodeGyp(gyp, compiler, scratch, verbose)
    else runScript(scratch, made, verbose)
    for (const name of PRODUCTS[system]) replaceFile(path.join(made, name), path.join(target, name))
    if (system === 'linux') copyDeviceCode(target)
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true })
  }
  const addon = path.join(target, ADDONS[0])
  if (!isCross) check(addon)
  const how = [
    ...(out === undefined ? [] : [`SAMEBYTES_BINARY="${addon}"`]),
    ...(isDefault() ? [] : ['SAMEBYTES_BACKEND=native']),
  ].join(' ')
  console.log(
    `samebytes-build: made ${addon}${isCross || how === '' ? '' : `; set ${how} to use it`}`,
  )
}

/** @returns {string} a new folder for what is compiled */
function newFolder() {
  try {
    return fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-build-'))
  } catch (/** @type {any} */ error) {
    throw new Failure(`the temporary folder ${os.tmpdir()} cannot be written (${error.code})`)
  }
}

/** @param {string[]} args */
function optionsOf(args) {
  try {
    return parseArgs({
      args,
      options: {
        out: { type: 'string' },
        verbose: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values
  } catch (error) {
    throw Object.assign(
      new Failure(`${/** @type {Error} */ (error).message}; --help shows the options`),
      { status: 2 },
    )
  }
}

/** @returns {string[]} command and first arguments */
function findNodeGyp() {
  const { npm_config_node_gyp: told, npm_execpath: npm } = process.env
  const inNpm = path.join('node_modules', 'node-gyp', 'bin', 'node-gyp.js')
  let own // of the project, or beside the package
  try {
    own = require.resolve('node-gyp/bin/node-gyp.js', { paths: [process.cwd(), ROOT] })
  } catch {}
  const candidates = [
    told,
    own,
    path.join(path.dirname(process.execPath), '..', 'lib', 'node_modules', 'npm', inNpm),
  ]
  if (npm !== undefined) candidates.push(path.join(path.dirname(npm), '..', inNpm))
  const found = candidates.find((each) => each !== undefined && fs.existsSync(each))
  if (found !== undefined) return [process.execPath, found]
  if (runs('node-gyp')) return ['node-gyp']
  throw new Failure('node-gyp is missing; npm install --save-dev node-gyp, then try again')
}

/** @returns {string} */
function findCompiler() {
  const told = process.env.CC
  const found = (told ? [told] : ['cc', 'gcc', 'clang']).find(runs)
  if (found === undefined) {
    throw new Failure(
      `${told ? `the C compiler ${told} (CC) does not run` : 'a C compiler is missing'}; on Debian: apt-get install gcc make, on Alpine: apk add gcc make musl-dev linux-headers`,
    )
  }
  if (!runs('make')) {
    throw new Failure('make is missing; on Debian: apt-get install make, on Alpine: apk add make')
  }
  return found
}

/** @param {string} command  @returns {boolean} */
function runs(command) {
  const [name, ...args] = command.split(' ')
  return spawnSync(name, [...args, '--version'], { stdio: 'ignore' }).error === undefined
}

/**
 * @param {string[]} gyp
 * @param {string} compiler
 * @param {string} folder
 * @param {boolean} verbose
 */
function runNodeGyp(gyp, compiler, folder, verbose) {
  // gyp links with the C++ compiler; there is no C++ here, so the C one does it.
  const env = { ...process.env, CC: compiler, CXX: compiler, LINK: compiler }
  for (const args of [
    ['configure', ...headers()],
    ['build', 'samebytes', 'samebytes_math', 'libsamebytes', '--jobs', 'max'],
  ]) {
    const all = [...gyp.slice(1), '-C', folder, ...(verbose ? ['--verbose'] : []), ...args]
    const { status, signal, stdout, stderr } = spawnSync(gyp[0], all, {
      env,
      stdio: verbose ? 'inherit' : 'pipe',
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    })
    if (status === 0) continue
    if (!verbose) process.stderr.write(`${stdout}${stderr}`)
    throw new Failure(`node-gyp ${args[0]} failed (${signal ?? `exit status ${status}`})`)
  }
}

/**
 * Compiles as the published addons for Windows and macOS are compiled.
 *
 * @param {string} folder  with the sources
 * @param {string} made  a folder for what is made
 * @param {boolean} verbose
 */
function runScript(folder, made, verbose) {
  const scripts = path.join(folder, 'scripts')
  for (const name of ['cross.js', 'windows.js', 'darwin.js', 'darwin']) {
    fs.cpSync(path.join(ROOT, 'scripts', name), path.join(scripts, name), { recursive: true })
  }
  let api // Node-API's headers, of the project or beside the package
  try {
    api = require.resolve('node-api-headers/package.json', { paths: [process.cwd(), ROOT] })
  } catch {}
  if (api !== undefined) {
    const copy = path.join(folder, 'node_modules', 'node-api-headers', 'include')
    fs.cpSync(path.join(path.dirname(api), 'include'), copy, { recursive: true })
  }
  const [script, ...args] =
    system === 'win32' ? ['windows.js'] : ['darwin.js', arch, 'libsamebytes']
  const all = [path.join(scripts, script), ...args, 'samebytes', 'samebytes_math', '--out', made]
  const { status, signal, stderr } = spawnSync(process.execPath, all, {
    stdio: verbose ? 'inherit' : ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  if (status === 0) return
  throw new Failure(verbose ? `it failed (${signal ?? status})` : stderr.trim() || `${signal}`)
}

/** @returns {string[]} Node's headers, where they lie beside the executable */
function headers() {
  const root = path.join(path.dirname(fs.realpathSync(process.execPath)), '..')
  if (process.env.npm_config_nodedir || process.versions.bun !== undefined) return []
  try {
    const text = fs.readFileSync(path.join(root, 'include', 'node', 'node_version.h'), 'utf8')
    const [, major] = /NODE_MAJOR_VERSION (\d+)/.exec(text) ?? []
    if (
      major === process.versions.node.split('.')[0] &&
      fs.existsSync(path.join(root, 'include', 'node', 'node_api.h'))
    ) {
      return [`--nodedir=${root}`]
    }
  } catch {}
  return []
}

/** Replaces a file as a whole. The old one stays where it is linked: package managers share files between projects. */
function replaceFile(/** @type {string} */ file, /** @type {string} */ target, mode = 0o755) {
  const temporary = `${target}.${process.pid}`
  try {
    fs.rmSync(temporary, { force: true })
    fs.copyFileSync(file, temporary, fs.constants.COPYFILE_EXCL)
    fs.chmodSync(temporary, mode)
    fs.renameSync(temporary, target)
  } catch (error) {
    fs.rmSync(temporary, { force: true })
    throw new Failure(`${target} could not be written: ${/** @type {Error} */ (error).message}`)
  }
}

/**
 * Copies the GPU code, which is the same on all machines, beside an addon that is not in the package.
 *
 * @param {string} target
 */
function copyDeviceCode(target) {
  const [from, to] = [path.join(ROOT, 'prebuilds', 'cuda'), path.join(target, 'cuda')]
  if (isCross || path.dirname(target) === path.dirname(from) || !fs.existsSync(from)) return
  fs.mkdirSync(to, { recursive: true })
  for (const name of fs.readdirSync(from)) {
    replaceFile(path.join(from, name), path.join(to, name), 0o644)
  }
}

/** @param {string} addon */
function check(addon) {
  const program =
    "require(process.argv[1]).zeros([2]).fill(1); require(process.argv[2]); if (require(process.argv[1]).backend() !== 'native') process.exit(1)"
  const env = { ...process.env, SAMEBYTES_BINARY: addon, SAMEBYTES_BACKEND: 'native' }
  const { status, stderr } = spawnSync(
    process.execPath,
    ['-e', program, path.join(ROOT, 'js', 'index.js'), path.join(ROOT, 'js', 'math.js')],
    { env, encoding: 'utf8' },
  )
  if (status !== 0) throw new Failure(`${addon} was made but does not load:\n${stderr}`)
}

try {
  main(process.argv.slice(2))
} catch (/** @type {any} */ error) {
  console.error(error instanceof Failure ? `samebytes-build: ${error.message}` : error)
  process.exitCode = error.status ?? 1
}
