'use strict'
// Builds the addons for Windows on x64, by mingw: build-win32/samebytes.node, samebytes_math.node, and with `test`
// samebytes_test.node. What is compiled, and how, is in binding.gyp, which node-gyp itself cannot build by mingw.
//
//   node scripts/windows.js [--out FOLDER] [--addons] [samebytes samebytes_math samebytes_test]
//
// --addons: those of ADDONS as well, which know our headers alone, in build-win32/.
//
// Functions of Node-API are looked up in the running program as an addon is loaded, whatever that is called: an import table
// would name node.exe, and the addon would not load in Electron, Bun or Deno.

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { runInNewContext } = require('node:vm')

const ROOT = path.join(__dirname, '..')
const TOOL = 'x86_64-w64-mingw32-'
const BUILD = 'build-win32'

// GCC aligns the stack for 16 bytes there, and moves 32 as if it were aligned for them (GCC's bug 54412). What GetProcAddress returns
// is a pointer to a function, and mingw's isnan and isfinite narrow what they do not use.
const FLAGS = [
  '-Isrc',
  '-std=gnu11',
  '-DNAPI_EXTERN=',
  '-D__USE_MINGW_ANSI_STDIO=1',
  '-Wa,-muse-unaligned-vector-move',
  '-Wno-pedantic',
  '-Wno-float-conversion',
  '-MMD',
]
const NOT_HERE =
  /^(-flto.*|-fno-lto|-fPIC|-fno-semantic-interposition|-std=.*|-isystem|<\(node_root_dir\).*)$/
const LINK = [
  '-shared',
  '-s',
  '-static-libgcc',
  '-Wl,--exclude-all-symbols',
  '-Wl,--dynamicbase,--high-entropy-va,--nxcompat,--no-insert-timestamp',
]

const ADDONS = ['test/peers/addon', 'test/peers/dlpack', 'examples/addon']

/** @param {string} folder @returns {any} its binding.gyp */
const project = (folder) =>
  runInNewContext(
    `(${fs.readFileSync(path.join(ROOT, folder, 'binding.gyp'), 'utf8').replace(/^\s*#.*$/gm, '')})`,
  )

const gyp = project('.')

/**
 * @param {string} text  with gyp's variables
 * @returns {string[]} what stands for it
 */
function expanded(text) {
  const named = /^<@\((\w+)\)$/.exec(text)
  if (named !== null) return gyp.variables[named[1]].flatMap(expanded)
  const run = /^<!@?\(node -p "(.*)"\)$/.exec(text)
  if (run === null) return [text]
  const program = run[1]
    .replace(/<\((\w+)\)/g, (_, name) => gyp.variables[name])
    .replace(/\^\(native\|posix\|linux\)/, '^(native|win32)')
  return execFileSync(process.execPath, ['-p', program], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split(' ')
}

/** @param {string} name @returns {any} a target of binding.gyp */
const targetOf = (name) => gyp.targets.find((/** @type {any} */ each) => each.target_name === name)

/** @param {any} target @returns {string[]} */
function flagsOf(target) {
  const all = [...gyp.target_defaults.cflags, '-O3']
  const kept = all.filter((flag) => !(target['cflags!'] ?? []).includes(flag))
  const defines = [...gyp.target_defaults.defines, ...(target.defines ?? [])].map(
    (text) => `-D${text}`,
  )
  return [...kept, ...(target.cflags ?? []), ...gyp.target_defaults.cflags_c]
    .filter((flag) => !NOT_HERE.test(flag))
    .concat(defines)
}

/** @param {string} name @returns {string[]} the target's and those that it needs */
const withNeeded = (name) => [name, ...(targetOf(name).dependencies ?? []).flatMap(withNeeded)]

/** @returns {string} the folder of Node-API's headers */
function headers() {
  const major = process.versions.node.split('.')[0]
  const beside = path.join(path.dirname(fs.realpathSync(process.execPath)), '..', 'include', 'node')
  return (
    [
      beside,
      path.join(ROOT, 'node_modules', '.cache', `node-headers-${major}`, 'include', 'node'),
    ].find((folder) => fs.existsSync(path.join(folder, 'node_api.h'))) ?? beside
  )
}

/** @param {string[]} products  targets of binding.gyp @returns {string} what make builds them by */
function makefile(products) {
  const hash = expanded(gyp.variables.build_hash)[0]
  const targets = [...new Set(products.flatMap(withNeeded))]
  const rules = targets.map((name) => {
    const target = targetOf(name)
    const told = `${BUILD}/${name}.flags`
    const flags = [
      '-isystem',
      headers(),
      ...flagsOf(target).map((flag) => flag.replace('<(build_hash)', hash)),
      ...FLAGS,
    ]
      .map(quoted)
      .join(' ')
    write(path.join(ROOT, told), flags)
    return target.sources
      .flatMap(expanded)
      .map((/** @type {string} */ source) => {
        const object = objectOf(name, source)
        return `${object}: ${source} ${told}\n\t@mkdir -p $(dir $@)\n\t@${TOOL}gcc ${flags} -c ${source} -o $@\n`
      })
      .join('')
  })
  const objects = targets.map(
    (name) =>
      `${name} = ${targetOf(name)
        .sources.flatMap(expanded)
        .map((/** @type {string} */ source) => objectOf(name, source))
        .join(' ')}\n`,
  )
  return `${objects.join('')}all: ${products
    .map((name) =>
      withNeeded(name)
        .map((each) => `$(${each})`)
        .join(' '),
    )
    .join(' ')}\n${rules.join('')}-include $(shell find ${BUILD} -name '*.d')\n`
}

/** @param {string} target @param {string} source */
const objectOf = (target, source) => `${BUILD}/${target}/${source.replace(/\.c$/, '.o')}`

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`

/** @param {string[]} objects @returns {string[]} functions of the host that they call */
function wantedBy(objects) {
  const text = execFileSync(`${TOOL}nm`, ['-u', ...objects], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  return [...new Set(text.match(/\b(napi_|node_api_)\w+/g))].sort()
}

/**
 * @param {string[]} names  functions of the host
 * @returns {string} a C file that defines each as a jump to where the host has it
 */
function thunks(names) {
  return `/* Made by scripts/windows.js. */
#include "platform/win32.h"

static const char *const names[] = {
${names.map((name) => `    "${name}",\n`).join('')}};

void *sb__host[${names.length}];

${names.map((name, i) => `__asm__(".text\\n.globl ${name}\\n.def ${name}; .scl 2; .type 32; .endef\\n${name}: jmp *sb__host+${8 * i}(%rip)");\n`).join('')}
BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved);

/* A host that lacks a function gets no addon. Finalizers may run after the last environment has gone, so the code stays. */
BOOL WINAPI DllMain(HINSTANCE module, DWORD reason, void *reserved) {
  HMODULE pinned = NULL;
  (void)reserved;
  if (reason != DLL_PROCESS_ATTACH) return TRUE;
  for (int i = 0; i < ${names.length}; i++) {
    sb__host[i] = sb__win32_host(names[i]);
    if (!sb__host[i]) return FALSE;
  }
  return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                            (const wchar_t *)(void *)module, &pinned);
}
`
}

/** @param {string} name @param {string} file  the addon */
function link(name, file) {
  const objects = withNeeded(name).flatMap((each) =>
    targetOf(each)
      .sources.flatMap(expanded)
      .map((/** @type {string} */ source) => objectOf(each, source)),
  )
  const source = path.join(BUILD, `${name}_host.c`)
  fs.writeFileSync(path.join(ROOT, source), thunks(wantedBy(objects)))
  run([
    `${TOOL}gcc`,
    '-O2',
    '-Wall',
    '-Wextra',
    '-Isrc',
    '-std=gnu11',
    ...LINK,
    '-o',
    file,
    ...objects,
    source,
  ])
}

/** Builds the addons of another binding.gyp. @param {string} folder @returns {string[]} their files */
function otherAddons(folder) {
  const { targets, target_defaults: common = {} } = project(folder)
  return targets.map((/** @type {any} */ target) => {
    const name = target.target_name
    const begin = path.join(BUILD, name)
    const defines = [...(common.defines ?? []), ...(target.defines ?? [])]
    const flags = ['-O2', '-Wall', '-Wextra', '-Isrc', '-isystem', headers(), '-std=gnu11']
    const objects = target.sources.map((/** @type {string} */ source) => {
      const object = `${begin}_${path.basename(source, '.c')}.o`
      const from = path.join(folder, source)
      const given = ['NAPI_EXTERN=', ...defines].map((each) => `-D${each}`)
      run([`${TOOL}gcc`, ...flags, ...given, '-c', from, '-o', object])
      return object
    })
    fs.writeFileSync(path.join(ROOT, `${begin}_host.c`), thunks(wantedBy(objects)))
    const file = path.join(ROOT, `${begin}.node`)
    const parts = [...objects, `${begin}_host.c`, '-lpthread']
    run([`${TOOL}gcc`, ...flags, ...LINK, '-static', '-o', file, ...parts])
    return file
  })
}

// ---- What was linked ----

const LIBRARIES = /^(kernel32|msvcrt)\.dll$/i

/** @param {string} file  an addon @returns {string[]} what is wrong with it */
function faultsOf(file) {
  const tool = (/** @type {string} */ option) =>
    execFileSync(`${TOOL}objdump`, [option, file], { encoding: 'utf8', maxBuffer: 2 ** 30 })
  const imports = [...tool('-p').matchAll(/DLL Name: (\S+)/g)]
    .map(([, name]) => name)
    .filter((name) => !LIBRARIES.test(name))
  const moves = tool('-d').match(/vmov(dqa|dqa32|dqa64|aps|apd)\s.*%[yz]mm.*\(.*/g) ?? []
  return [
    ...imports.map((name) => `${file} imports ${name}`),
    ...moves.slice(0, 5).map((move) => `${file} moves as if aligned: ${move}`),
  ]
}

/** @param {string[]} command */
function run([name, ...args]) {
  const { status, error } = spawnSync(name, args, { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${name} failed (${error?.message ?? status})`)
}

/** Writes a file unless it has that text: make goes by times. @param {string} file @param {string} text */
function write(file, text) {
  if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) fs.writeFileSync(file, text)
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      out: { type: 'string', default: BUILD },
      addons: { type: 'boolean', default: false },
    },
  })
  const products = positionals.length > 0 ? positionals : ['samebytes', 'samebytes_math']
  const folder = path.join(ROOT, BUILD)
  fs.mkdirSync(folder, { recursive: true })
  fs.mkdirSync(values.out, { recursive: true })
  fs.writeFileSync(path.join(folder, 'Makefile'), makefile(products))
  run(['make', '-f', `${BUILD}/Makefile`, '-j', String(os.availableParallelism()), 'all'])
  const files = products.map((name) => path.resolve(values.out, `${name}.node`))
  products.forEach((name, i) => {
    link(name, files[i])
  })
  if (values.addons) files.push(...ADDONS.flatMap(otherAddons))
  const faults = files.flatMap(faultsOf)
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

try {
  main()
} catch (error) {
  console.error(`windows: ${/** @type {Error} */ (error).message}`)
  process.exitCode = 1
}
