'use strict'
// Builds the addons for macOS, by clang and LLVM's linker on any system: build-darwin-ARCH/samebytes.node and samebytes_math.node. Headers and the
// names of the C library are ours (darwin/README.md). Nothing here could run it; what was linked is checked instead.
//
//   node scripts/darwin.js arm64|x64 [--out FOLDER] [samebytes samebytes_math]
//
// Every function of the host is allowed by its name, because a linker that allows what is not there finds no mistake.

const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { Cross, outputOf, run, start } = require('./cross')

const HEADERS = path.join('scripts', 'darwin')
const OLDEST = '11.0' // macOS
/** @type {Record<string, string>} */
const NAMES = { arm64: 'arm64', x64: 'x86_64' } // of architectures
const HOST = /^_(napi|node_api)_\w+$/
const WITHOUT =
  /^(-flto.*|-fno-lto|-fno-semantic-interposition|-fvect-cost-model.*|--param=.*|-fno-align-.*|-Wno-pedantic|-isystem|<\(node_root_dir\).*)$/

/** @param {string} arch @returns {Cross} */
const crossOf = (arch) =>
  new Cross({
    build: `build-darwin-${arch}`,
    platforms: 'native|posix|darwin',
    command: ['clang', '-target', `${NAMES[arch]}-apple-macos${OLDEST}`],
    flags: [
      '-nostdlibinc',
      '-isystem',
      path.join(HEADERS, 'include'),
      '-Isrc',
      '-fno-common',
      '-Wno-pass-failed',
      '-Wno-empty-translation-unit',
      '-MMD',
    ],
    without: WITHOUT,
  })

/** @param {string[]} files  objects, or one addon @returns {string[]} what they leave undefined */
const wantedBy = (files) =>
  [...new Set(outputOf(['llvm-nm', '--undefined-only', '-j', ...files]).match(/^_\S+$/gm))].sort()

/** @returns {string} LLVM's linker, which Debian has under its version's name alone */
const linker = () =>
  ['/usr/bin/ld64.lld', '/usr/bin/ld64.lld-14'].find((file) => fs.existsSync(file)) ?? 'ld64.lld'

/** @param {string} arch @param {string[]} objects @param {string} file  the addon */
function link(arch, objects, file) {
  run([
    linker(),
    ...['-arch', NAMES[arch], '-platform_version', 'macos', OLDEST, OLDEST],
    ...['-bundle', '-dead_strip', '-adhoc_codesign', `-L${HEADERS}`, '-lSystem'],
    ...wantedBy(objects)
      .filter((name) => HOST.test(name))
      .flatMap((name) => ['-U', name]),
    ...['-o', file, ...objects],
  ])
}

/** @param {string} file  an addon @param {string} arch @returns {string[]} what is wrong with it */
function faultsOf(file, arch) {
  const text = outputOf(['llvm-objdump', '--macho', '--private-headers', file])
  const libraries = [...text.matchAll(/cmd LC_LOAD_(?:WEAK_)?DYLIB[^]*?name (\S+)/g)].map(
    (each) => each[1],
  )
  return [
    ...(/\bBUNDLE\b/.test(text) ? [] : ['is no bundle']),
    ...(new RegExp(`\\b${arch === 'arm64' ? 'ARM64' : 'X86_64'}\\b`).test(text)
      ? []
      : [`is not for ${arch}`]),
    ...(/LC_CODE_SIGNATURE/.test(text) ? [] : ['is not signed']),
    ...(new RegExp(`minos ${OLDEST}\\b`).test(text) ? [] : [`is not for macOS ${OLDEST}`]),
    ...libraries
      .filter((name) => name !== '/usr/lib/libSystem.B.dylib')
      .map((name) => `needs ${name}`),
  ].map((what) => `${file} ${what}`)
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { out: { type: 'string' } },
  })
  const [arch, ...names] = positionals
  if (!Object.hasOwn(NAMES, arch ?? '')) throw new Error('which architecture, arm64 or x64?')
  const products = names.length > 0 ? names : ['samebytes', 'samebytes_math']
  const cross = crossOf(arch)
  const folder = values.out ?? cross.tool.build
  cross.compile(products)
  fs.mkdirSync(folder, { recursive: true })
  const faults = products.flatMap((name) => {
    const file = path.join(folder, `${name}.node`)
    link(arch, cross.objectsOf(name), file)
    return faultsOf(file, arch)
  })
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

start('darwin', main)
