'use strict'
// What the package says of the binaries in it: prebuilds/SHA256SUMS, for `sha256sum --check`, and prebuilds/sbom.cdx.json (CycloneDX),
// with the tools that made them. Neither has a time or a place, so that the same sources and tools give the same bytes.
//
//   node scripts/provenance.js    writes both from what is in prebuilds and dist

const { createHash } = require('node:crypto')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const ROOT = path.dirname(__dirname)
const SUMS = 'prebuilds/SHA256SUMS'
const SBOM = 'prebuilds/sbom.cdx.json'

/** Of prebuilds/ and dist/, what is packed and was built. @returns {string[]} relative to the folder, sorted */
function binariesOf(folder) {
  const inside = (name) =>
    fs.readdirSync(path.join(folder, name), { recursive: true }).map((file) => `${name}/${file}`)
  return [...inside('prebuilds'), ...inside('dist')]
    .filter((name) => /\.(node|so\.1|fatbin|ptx|wasm|mjs)$/.test(name))
    .sort()
}

function sumsOf(folder) {
  return binariesOf(folder)
    .map(
      (name) =>
        `${createHash('sha256')
          .update(fs.readFileSync(path.join(folder, name)))
          .digest('hex')}  ${name}\n`,
    )
    .join('')
}

const MINGW = 'x86_64-w64-mingw32-gcc' // whose version has no second number

/** What a program says of itself: the last number with dots in its first line that has one, and that line. */
function versionOf(name, command = name, args = ['--version']) {
  const { error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (error !== undefined) throw error
  const description = `${stdout}\n${stderr}`
    .split('\n')
    .find((line) => /\d\.\d/.test(line))
    .trim()
  return { name, version: description.match(/\d+(\.\d+)+/g).at(-1), description }
}

/** @returns {{ name: string, version: string, description?: string }[]} the compiler first */
function tools() {
  const has = (name) => fs.existsSync(path.join(ROOT, 'prebuilds', name))
  const compiler = (process.env.CC || 'gcc').split(' ').at(-1)
  const found = [
    versionOf(path.basename(compiler), compiler),
    versionOf('binutils', 'ld'),
    versionOf('emscripten', 'emcc'),
    { name: 'node', version: process.versions.node },
    ...['node-gyp', 'esbuild', 'typescript'].map((name) => ({
      name,
      version: require(path.join(ROOT, 'node_modules', name, 'package.json')).version,
    })),
  ]
  if (has('linux-arm64')) {
    found.push(
      versionOf('aarch64-linux-gnu-gcc'),
      versionOf('aarch64-linux-gnu-binutils', 'aarch64-linux-gnu-ld'),
    )
  }
  if (has('linux-x64-musl')) found.push(versionOf('musl', '/lib/ld-musl-x86_64.so.1', []))
  if (has('win32-x64')) {
    found.push(
      {
        name: MINGW,
        version: spawnSync(MINGW, ['-dumpversion'], { encoding: 'utf8' }).stdout.trim(),
      },
      versionOf('x86_64-w64-mingw32-binutils', 'x86_64-w64-mingw32-ld'),
    )
  }
  if (has('darwin-arm64')) found.push(versionOf('clang'), versionOf('lld', 'ld.lld'))
  if (has('cuda')) {
    found.push({
      name: 'nvcc',
      version: JSON.parse(
        fs.readFileSync(path.join(ROOT, 'prebuilds', 'cuda', 'manifest.json'), 'utf8'),
      ).compiler,
    })
  }
  return found
}

function sbom() {
  const { name, version, description, license } = require(path.join(ROOT, 'package.json'))
  const ref = `pkg:npm/${name}@${version}`
  const built = tools()
  const licensed = (expression) => [{ expression }]
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'build' }],
      component: {
        'bom-ref': ref,
        type: 'library',
        name,
        version,
        description,
        licenses: licensed(license),
        purl: ref,
      },
    },
    // No packages, but what compilers link of their own.
    components: [
      {
        type: 'library',
        name: 'libgcc',
        version: built[0].version,
        description: 'parts of it, in the addons and in libsamebytes',
        licenses: licensed('GPL-3.0-or-later WITH GCC-exception-3.1'),
      },
      {
        type: 'library',
        name: 'emscripten-system-libraries',
        version: built[2].version,
        description: 'parts of its musl and compiler-rt, in the WebAssembly modules',
        licenses: licensed('MIT AND Apache-2.0 WITH LLVM-exception'),
      },
    ],
    dependencies: [{ ref, dependsOn: [] }],
    formulation: [{ components: built.map((tool) => ({ type: 'application', ...tool })) }],
  }
}

function main() {
  fs.writeFileSync(path.join(ROOT, SBOM), JSON.stringify(sbom(), null, 2) + '\n')
  fs.writeFileSync(path.join(ROOT, SUMS), sumsOf(ROOT))
}

module.exports = { SUMS, SBOM, sumsOf }

if (require.main === module) main()
