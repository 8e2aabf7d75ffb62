'use strict'
// Builds for macOS: build-darwin-ARCH/samebytes.node, samebytes_math.node and libsamebytes.dylib. On macOS by Apple's compiler, elsewhere by clang and LLVM's
// linker, with headers and the names of the C library that are ours (darwin/README.md). What was linked is checked.
//
//   node scripts/darwin.js arm64|x64 [--out FOLDER] [--addons] [samebytes samebytes_math libsamebytes samebytes_test]
//   node scripts/darwin.js --check FILE…    of prebuilds/darwin-ARCH: what was linked, and that nothing has changed it since
//
// --addons: those of ADDONS as well, which know our headers alone, in build-darwin-ARCH/.
//
// Every function of the host is allowed by its name, because a linker that allows what is not there finds no mistake.

const { createHash } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { Cross, ROOT, outputOf, run, runs, start } = require('./cross')

const HERE = 'scripts/darwin'
const isMac = process.platform === 'darwin'
const ADDONS = ['test/peers/addon', 'test/peers/dlpack', 'examples/addon']
const OLDEST = '11.0' // macOS
/** @type {Record<string, string>} */
const NAMES = { arm64: 'arm64', x64: 'x86_64' } // of architectures
const HOST = /^_(napi|node_api)_\w+$/
const WITHOUT =
  /^(-flto.*|-fno-lto|-fno-semantic-interposition|-Wno-pedantic|-isystem|<\(node_root_dir\).*)$/

/** @param {string} arch @returns {string[]} */
const compilerOf = (arch) => [
  ...['clang', '-target', `${NAMES[arch]}-apple-macos${OLDEST}`],
  ...(isMac ? [] : ['-nostdlibinc', '-isystem', `${HERE}/include`]),
]

/** @param {string} arch @returns {Cross} */
const crossOf = (arch) =>
  new Cross({
    build: `build-darwin-${arch}`,
    platforms: 'native|posix|darwin',
    command: compilerOf(arch),
    flags: ['-Isrc', '-fno-common', '-Wno-pass-failed', '-Wno-empty-translation-unit', '-MMD'],
    without: WITHOUT,
  })

/** @param {string[]} files  objects, or one addon @returns {string[]} what they leave undefined */
const wantedBy = (files) =>
  [...new Set(outputOf([isMac ? 'nm' : 'llvm-nm', '-u', '-j', ...files]).match(/^_\S+$/gm))].sort()

/** @returns {string} LLVM's linker, which Debian has under its version's name alone */
const linker = () =>
  ['/usr/bin/ld64.lld', '/usr/bin/ld64.lld-14'].find((file) => fs.existsSync(file)) ?? 'ld64.lld'

/** @param {string} arch @param {string[]} objects @param {string} file  an addon, or the library */
function link(arch, objects, file) {
  const host = wantedBy(objects).filter((name) => HOST.test(name))
  const isAddon = file.endsWith('.node')
  const named = isAddon ? [] : ['-install_name', `@rpath/${path.basename(file)}`]
  if (isMac) {
    const allowed = host.map((name) => `-Wl,-U,${name}`)
    const kind = [isAddon ? '-bundle' : '-dynamiclib', ...named]
    run([...compilerOf(arch), ...kind, '-Wl,-dead_strip', ...allowed, '-o', file, ...objects])
    return
  }
  run([
    linker(),
    ...['-arch', NAMES[arch], '-platform_version', 'macos', OLDEST, OLDEST],
    ...[isAddon ? '-bundle' : '-dylib', ...named],
    ...['-dead_strip', '-adhoc_codesign', `-L${HERE}`, '-lSystem'],
    ...host.flatMap((name) => ['-U', name]),
    ...['-o', file, ...objects],
  ])
}

const MAGIC = { image: 0xfeedfacf, signature: 0xfade0cc0, directory: 0xfade0c02 }
const LC_CODE_SIGNATURE = 0x1d
const SHA256 = 2

/**
 * Does the signature of a linked file hold? macOS kills a process whose pages are not those that were signed. The layouts are those of
 * mach-o/loader.h (in the file's byte order) and of Apple's cs_blobs.h (big-endian).
 *
 * @param {string} file
 * @returns {boolean}
 */
function isSigned(file) {
  try {
    return holds(fs.readFileSync(path.resolve(ROOT, file)))
  } catch {
    return false // it is missing, or ends too early
  }
}

/** @param {Buffer} bytes  of a linked file @returns {boolean} */
function holds(bytes) {
  if (bytes.readUInt32LE(0) !== MAGIC.image) return false
  let signature
  for (let at = 32, left = bytes.readUInt32LE(16); left > 0; left--) {
    if (bytes.readUInt32LE(at) === LC_CODE_SIGNATURE) {
      const from = bytes.readUInt32LE(at + 8)
      signature = bytes.subarray(from, from + bytes.readUInt32LE(at + 12))
    }
    at += bytes.readUInt32LE(at + 4)
  }
  if (signature === undefined || signature.readUInt32BE(0) !== MAGIC.signature) return false
  if (signature.byteOffset + signature.length !== bytes.byteOffset + bytes.length) return false // something was added
  const blobs = Array.from({ length: signature.readUInt32BE(8) }, (_, i) =>
    signature.subarray(signature.readUInt32BE(16 + 8 * i)),
  )
  const directory = blobs.find((blob) => blob.readUInt32BE(0) === MAGIC.directory)
  if (directory === undefined || directory[37] !== SHA256) return false
  const [hashes, count, limit] = [16, 28, 32].map((at) => directory.readUInt32BE(at))
  const [width, page] = [directory[36], 2 ** directory[39]]
  if (count !== Math.ceil(limit / page) || limit !== signature.byteOffset - bytes.byteOffset) {
    return false
  }
  return Array.from({ length: count }, (_, i) => i).every((i) => {
    const signed = bytes.subarray(i * page, Math.min((i + 1) * page, limit))
    const hash = createHash('sha256').update(signed).digest()
    return hash.equals(directory.subarray(hashes + i * width, hashes + (i + 1) * width))
  })
}

/** @param {string} file  an addon @param {string} arch @returns {string[]} what is wrong with it */
function faultsOf(file, arch) {
  if (!isMac && !isSigned(file)) return [`${file} is not signed, or was changed after that`]
  const text = outputOf([isMac ? 'objdump' : 'llvm-objdump', '--macho', '--private-headers', file])
  const libraries = [...text.matchAll(/cmd LC_LOAD_(?:WEAK_)?DYLIB[^]*?name (\S+)/g)].map(
    (each) => each[1],
  )
  return [
    ...(/\b(BUNDLE|DYLIB)\b/.test(text) ? [] : ['is neither a bundle nor a library']),
    ...(new RegExp(`\\b${arch === 'arm64' ? 'ARM64' : 'X86_64'}\\b`).test(text)
      ? []
      : [`is not for ${arch}`]),
    ...(new RegExp(`minos ${OLDEST}\\b`).test(text) ? [] : [`is not for macOS ${OLDEST}`]),
    ...libraries
      .filter((name) => name !== '/usr/lib/libSystem.B.dylib')
      .map((name) => `needs ${name}`),
  ].map((what) => `${file} ${what}`)
}

/** Files that lie in a folder named after their platform, as in prebuilds/. @param {string[]} files */
function check(files) {
  if (files.length === 0) throw new Error('which files?')
  const faults = files.flatMap((file) =>
    faultsOf(
      path.resolve(file),
      path.dirname(path.resolve(file)).endsWith('arm64') ? 'arm64' : 'x64',
    ),
  )
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

/** @throws where a tool is missing */
function checkTools() {
  const tools = isMac ? ['clang', 'nm', 'objdump'] : ['clang', linker(), 'llvm-nm', 'llvm-objdump']
  const lacking = tools.filter((name) => !runs(name))
  if (lacking.length === 0) return
  const how = isMac ? 'xcode-select --install' : 'on Debian: apt-get install clang lld llvm'
  throw new Error(`${lacking.join(', ')} missing; ${how}`)
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      out: { type: 'string' },
      addons: { type: 'boolean', default: false },
      check: { type: 'boolean' },
    },
  })
  if (values.check) return check(positionals)
  const [arch, ...names] = positionals
  if (!Object.hasOwn(NAMES, arch ?? '')) throw new Error('which architecture, arm64 or x64?')
  const products = names.length > 0 ? names : ['samebytes', 'samebytes_math', 'libsamebytes']
  checkTools()
  const cross = crossOf(arch)
  const folder = values.out ?? cross.tool.build
  await cross.compile(products)
  fs.mkdirSync(folder, { recursive: true })
  const files = products.map((name) =>
    path.join(folder, name === 'libsamebytes' ? 'libsamebytes.dylib' : `${name}.node`),
  )
  products.forEach((name, i) => {
    link(arch, cross.objectsOf(name), files[i])
  })
  if (values.addons) {
    const flags = ['-O2', '-Wall', '-Wextra', '-Isrc', '-std=gnu11']
    const linked = (objects, _, file) => link(arch, objects, file)
    files.push(...ADDONS.flatMap((each) => cross.othersOf(each, flags, linked)))
  }
  const faults = files.flatMap((file) => faultsOf(file, arch))
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

start('darwin', main)
