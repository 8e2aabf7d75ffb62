'use strict'
// samebytes doctor: what works on this machine, and what to do about the rest. If one check fails the others still run, so the library
// is loaded inside of them.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { version } = require('../base/version')
const { platformName } = require('../runtime/platform')
const { brief, plain, size, counted, styled, print, printJson } = require('./output')

/**
 * A check's result. missing: not available here, which is no fault. broken: it should work.
 *
 * @typedef {object} Finding
 * @property {string} about
 * @property {'ok' | 'missing' | 'broken'} state
 * @property {string} text
 * @property {string} [advice]  what to do
 */

const LITTLE_SHM = 64 * 2 ** 20 // bytes: containers' default
const ROOT = path.join(__dirname, '..', '..')

/** @param {Finding['state']} state @returns {(about: string, text: string, advice?: string) => Finding} */
const finding = (state) => (about, text, advice) => ({ about, state, text, advice })
const ok = finding('ok')
const missing = finding('missing')
const broken = finding('broken')

/** The first line, without what nobody sees. @param {string} text */
const line = (text) => plain(text.split('\n')[0])

/** @returns {string | undefined} the version of the C library that Node.js was linked with; undefined: it is another one */
const glibc = () => /** @type {any} */ (process.report?.getReport())?.header?.glibcVersionRuntime

/** @returns {Finding[]} */
function versions() {
  const isNew = Number(process.versions.node.split('.')[0]) >= 20
  const library = glibc()
  const text = `${process.version} on ${platformName()}${library === undefined ? '' : `, glibc ${library}`}`
  return [
    ok('samebytes', `${version} in ${brief(ROOT)}`),
    isNew
      ? ok('Node.js', text)
      : broken('Node.js', process.version, 'samebytes needs Node.js 20 or newer'),
  ]
}

/** @param {typeof import('..')} samebytes @returns {Finding[]} */
function backEnd(samebytes) {
  const wanted = process.env.SAMEBYTES_BACKEND
  const name = samebytes.backend()
  const asked = wanted ? `, by SAMEBYTES_BACKEND=${wanted}` : ''
  if (name === 'native') {
    const { backend } = require('../backend/calls')
    const [level, threads] = /** @type {any} */ (backend).addon.about()
    return [ok('back end', `native${asked}`), instructions(level), threadsOf(threads)]
  }
  const without =
    'files are read, not mapped; shared memory, addresses, addons and CUDA are not there'
  return [
    wanted ? ok('back end', `${name}${asked}: ${without}`) : whyNotNative(name, without),
    ok('instruction set', 'WebAssembly SIMD'),
    ok('threads', '1, each copy runs on the thread that asked for it'),
  ]
}

/** @param {string} name  of the back end that nobody asked for @param {string} without  what it lacks @returns {Finding} */
function whyNotNative(name, without) {
  const native = require('../backend/native')
  if (!native.isDefault()) {
    return missing(
      'back end',
      `${name}: ${without}`,
      native.isExpected()
        ? 'samebytes doctor --try-native tries the addon, SAMEBYTES_BACKEND=native uses it: its suite has not run on this system itself'
        : 'there is no addon for this system',
    )
  }
  let why = 'it loads now'
  try {
    native.start()
  } catch (/** @type {any} */ error) {
    why = line(error.message)
  }
  if (process.env.SAMEBYTES_BINARY) {
    return broken(
      'back end',
      `${name}: ${why}`,
      "SAMEBYTES_BINARY is the path of an addon to load, and of no other; without it the package's own is loaded",
    )
  }
  if (native.isExpected()) {
    return broken(
      'back end',
      `${name}: the native addon is shipped for this platform, but ${why}`,
      'install the package again; if that does not help, this text belongs in a bug report',
    )
  }
  return missing(
    'back end',
    `${name}: ${without}`,
    'the addon is not shipped for this platform: npx samebytes-build compiles it',
  )
}

/** @param {string} level @returns {Finding} */
function instructions(level) {
  const wanted = process.env.SAMEBYTES_ISA
  if (wanted && wanted !== level) {
    return missing(
      'instruction set',
      `${level}; SAMEBYTES_ISA=${plain(wanted)} counts for nothing`,
      'it names a set that this processor has: scalar, avx2, avx512, neon',
    )
  }
  if (wanted) return ok('instruction set', `${level}, by SAMEBYTES_ISA`)
  if (level === 'scalar') {
    return missing(
      'instruction set',
      'scalar: the processor has no AVX2',
      'copies and casts take longer; nothing else differs',
    )
  }
  return ok('instruction set', level)
}

/** @param {number} threads @returns {Finding} */
function threadsOf(threads) {
  const wanted = process.env.SAMEBYTES_THREADS
  const processors = os.cpus().length
  if (wanted && wanted !== String(threads)) {
    return missing(
      'threads',
      `${threads}; SAMEBYTES_THREADS=${plain(wanted)} counts for nothing`,
      'it is a number from 1 to 1024',
    )
  }
  const why = wanted
    ? 'by SAMEBYTES_THREADS'
    : threads < processors
      ? `of ${counted(processors, 'processor')}: affinity or the container leaves no more`
      : 'as many as processors'
  return ok('threads', `${threads} for a large copy, ${why}`)
}

/** @param {typeof import('..') | undefined} samebytes @returns {Finding[]} */
function memory(samebytes) {
  const limit = require('../runtime/host').memoryOfMachine()
  const found = [
    ok('memory', `${size(limit)} for all tensors together, unless setMemoryLimit says otherwise`),
  ]
  if (samebytes?.backend() !== 'native') return found
  found.push(firstTouch())
  try {
    const t = samebytes.empty([64], { shared: true })
    if (t.data.length === 64) found.push(ok('buffers over native memory', 'allowed'))
    t.dispose()
  } catch (/** @type {any} */ error) {
    const advice = '`data` of native tensors is refused here (Electron, say); clone() copies'
    found.push(missing('buffers over native memory', line(error.message), advice))
  }
  return found
}

const PAGE = 4096 // bytes
const DEAR = 2000 // ns for the first write to a page; commonly 100 to 500

/** How long memory takes that nobody has touched yet, as each new tensor's is that is not given back. @returns {Finding} */
function firstTouch() {
  const bytes = Buffer.allocUnsafeSlow(2 ** 25)
  const from = process.hrtime.bigint()
  for (let i = 0; i < bytes.length; i += PAGE) bytes[i] = 1
  const took = Number(process.hrtime.bigint() - from) / (bytes.length / PAGE)
  const text = `${(took / 1000).toFixed(2)} µs for a page of 4 KiB that nobody has touched`
  if (took < DEAR) return ok('new memory', text)
  const isGlibc = glibc() !== undefined && !process.env.GLIBC_TUNABLES?.includes('hugetlb')
  const hint = isGlibc ? '; GLIBC_TUNABLES=glibc.malloc.hugetlb=1 maps 2 MiB at once' : ''
  return missing('new memory', text, `give tensors back in loops, by tidy, dispose or out${hint}`)
}

/** @param {typeof import('..') | undefined} samebytes @returns {Finding | Finding[]} */
function sharedMemory(samebytes) {
  const folder = samebytes && require('../backend/calls').backend.abilities.segments
  if (samebytes === undefined || folder === undefined) {
    return missing(
      'shared memory',
      'SharedTensor and SharedRing need the native addon',
      'share() works between threads; files do between processes',
    )
  }
  let space
  try {
    space = fs.statfsSync(folder)
  } catch (/** @type {any} */ error) {
    return error.code === 'ERR_ACCESS_DENIED'
      ? missing(
          'shared memory',
          `the permission model forbids ${folder}`,
          '--allow-fs-read=* --allow-fs-write=* allow it',
        )
      : broken(
          'shared memory',
          `${folder}: ${line(error.message)}`,
          `mount a tmpfs there: mount -t tmpfs tmpfs ${folder}`,
        )
  }
  return [spaceIn(folder, space), segments(samebytes, folder), ...limits()]
}

/** @param {string} folder @param {fs.StatsFs} space @returns {Finding} */
function spaceIn(folder, { blocks, bavail, bsize }) {
  const about = 'shared memory'
  try {
    fs.accessSync(folder, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
  } catch {
    return broken(
      about,
      `${folder} cannot be written to by user ${os.userInfo().uid}`,
      `chmod 1777 ${folder}, or run as another user`,
    )
  }
  const [total, free] = [blocks * bsize, bavail * bsize]
  const text = `${folder} has ${size(free)} free of ${size(total)}`
  if (total <= LITTLE_SHM) {
    return missing(
      about,
      text,
      'that is little: docker run --shm-size=1g, or an emptyDir with medium: Memory in Kubernetes',
    )
  }
  return free < LITTLE_SHM
    ? missing(
        about,
        text,
        '`samebytes ls` says who has it; `samebytes sweep` removes what dead processes left',
      )
    : ok(about, text)
}

/** @param {typeof import('..')} samebytes @param {string} folder @returns {Finding} */
function segments(samebytes, folder) {
  try {
    const all = samebytes.SharedTensor.list()
    const left = all.filter(({ isAlive, persist }) => !isAlive && !persist)
    if (left.length === 0) return ok('segments', String(all.length))
    const bytes = left.reduce((sum, { nbytes }) => sum + nbytes, 0)
    return missing(
      'segments',
      `${all.length}, of which dead processes left ${left.length} (${size(bytes)})`,
      '`samebytes sweep` removes them',
    )
  } catch (/** @type {any} */ error) {
    return broken('segments', line(error.message), `${folder} has to be readable`)
  }
}

/** Each segment, ring and mapped file takes an open file or a mapping. @returns {Finding[]} */
function limits() {
  /** @type {Finding[]} */
  const found = []
  const files = /^Max open files\s+(\d+)/m.exec(readText('/proc/self/limits'))
  const mappings = readText('/proc/sys/vm/max_map_count').trim()
  if (files !== null) {
    const text = `${files[1]} at a time`
    found.push(
      Number(files[1]) < 1024
        ? missing('open files', text, 'each SharedTensor has one open: ulimit -n 65536')
        : ok('open files', text),
    )
  }
  if (mappings !== '') found.push(ok('mappings', `${mappings} at a time`))
  return found
}

/** @param {string} file */
function readText(file) {
  try {
    return fs.readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

/** @param {typeof import('..')} samebytes @returns {Finding | Finding[]} */
function cudaDevices({ cuda }) {
  try {
    const why = cuda.whyNot()
    if (why !== '') {
      return missing(
        'CUDA',
        line(why.replace(/^CUDA is not available: /, '')),
        'tensors are on the CPU; CUDA needs Linux, an NVIDIA GPU and its driver (docs/gpu.md)',
      )
    }
    return Array.from({ length: cuda.deviceCount() }, (_, i) => {
      const { name, major, minor, totalMemory, freeMemory, driverVersion } = cuda.properties(i)
      const memory =
        freeMemory < 0 ? size(totalMemory) : `${size(freeMemory)} free of ${size(totalMemory)}`
      return ok(
        `cuda:${i}`,
        `${plain(name)}, ${major}.${minor}, ${memory}, driver of CUDA ${driverVersion}`,
      )
    })
  } catch (/** @type {any} */ error) {
    return broken('CUDA', line(error.message), 'nvidia-smi says whether the driver works')
  }
}

/** @param {string} entry  of an onnxruntime-node @returns {string} what runs its models in samebytes/module */
function runtimeOf(entry) {
  const { library } = require('../model/runtimes')
  const { openLibrary, whyNotHere } = /** @type {NonNullable<typeof library>} */ (library)()
  let reason = whyNotHere(entry)
  try {
    if (reason === '') return `its C library ${openLibrary()} runs models, off the event loop`
  } catch (/** @type {any} */ error) {
    reason = line(error.message)
  }
  return `its JavaScript runs models, which blocks the event loop: ${reason}`
}

/** @param {typeof import('..') | undefined} samebytes @returns {Finding} */
function models(samebytes) {
  for (const name of ['onnxruntime-node', 'onnxruntime-web']) {
    let main
    try {
      main = require.resolve(name, { paths: [process.cwd(), ROOT] })
    } catch {
      continue
    }
    const isRun = name === 'onnxruntime-node' && samebytes !== undefined
    return ok('models', `${name} ${versionOf(main, name)}${isRun ? `: ${runtimeOf(main)}` : ''}`)
  }
  return missing(
    'models',
    'no onnxruntime is installed here',
    'npm install onnxruntime-node, for samebytes/module; nothing else needs it',
  )
}

/** @param {string} main  of a package @param {string} name */
function versionOf(main, name) {
  for (
    let folder = path.dirname(main);
    folder !== path.dirname(folder);
    folder = path.dirname(folder)
  ) {
    try {
      const found = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))
      if (found.name === name) return plain(String(found.version))
    } catch {}
  }
  return ''
}

/** @returns {Finding} */
function webAssembly() {
  const folder = path.join(ROOT, 'dist')
  const lost = ['samebytes.wasm', 'samebytes-shared.wasm', 'samebytes-parsers.wasm'].filter(
    (name) => !fs.existsSync(path.join(folder, name)),
  )
  if (lost.length > 0) {
    return broken(
      'WebAssembly',
      `${lost.join(', ')} ${lost.length === 1 ? 'is' : 'are'} not in ${brief(folder)}`,
      'install the package again, or build it: npm run build:wasm',
    )
  }
  return typeof WebAssembly === 'object'
    ? ok('WebAssembly', 'the three modules are there')
    : missing(
        'WebAssembly',
        'this Node.js has none',
        'it was started with --jitless; only the native addon works',
      )
}

/** @returns {Finding} what an addon does in a process of its own */
function tryNative() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-try-'))
  try {
    const env = { ...process.env, SAMEBYTES_BACKEND: 'native' }
    const { status, signal, stderr } = spawnSync(
      process.execPath,
      [path.join(__dirname, 'try-native.js'), folder],
      { env, encoding: 'utf8' },
    )
    if (status === 0) {
      return ok(
        'native addon',
        'loads, computes, maps and replaces files, works in a second thread, and shares memory with a second process',
      )
    }
    return broken(
      'native addon',
      signal ?? (/^\w*Error.*/m.exec(stderr)?.[0] || `the process ended with ${status}`),
      'this text belongs in a bug report; WebAssembly does without the addon',
    )
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

const STATES = { ok: ['ok', 'green'], missing: ['--', 'yellow'], broken: ['!!', 'red'] }

/**
 * @param {import('./arguments').Given} given
 * @returns {number} exit status
 */
function doctor({ values: { json, 'try-native': isTried } }) {
  /** @type {typeof import('..') | undefined} */
  let samebytes
  let cannotLoad = ''
  try {
    samebytes = require('..')
  } catch (/** @type {any} */ error) {
    cannotLoad = line(error.message)
  }
  const findings = [
    versions(),
    samebytes === undefined
      ? broken(
          'back end',
          cannotLoad,
          process.env.SAMEBYTES_BACKEND
            ? 'without SAMEBYTES_BACKEND another one is chosen'
            : 'install the package again',
        )
      : backEnd(samebytes),
    isTried ? tryNative() : [],
    webAssembly(),
    memory(samebytes),
    sharedMemory(samebytes),
    samebytes === undefined ? [] : cudaDevices(samebytes),
    models(samebytes),
  ].flat()
  if (json) {
    const { version: node, platform, arch } = process
    printJson({ version, node, platform, arch, findings })
  } else {
    const width = Math.max(...findings.map(({ about }) => about.length))
    for (const { about, state, text, advice } of findings) {
      const [mark, style] = STATES[state]
      print(`${styled(/** @type {any} */ (style), mark)}  ${about.padEnd(width)}  ${text}`)
      if (advice !== undefined) print(`${' '.repeat(width + 6)}${styled('dim', advice)}`)
    }
  }
  return findings.some(({ state }) => state === 'broken') ? 1 : 0
}

module.exports = { doctor }
