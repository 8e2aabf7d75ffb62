'use strict'
// Builds the addons for Windows on x64, by mingw's GCC, on any system: build-win32/samebytes.node, samebytes_math.node, and with `test`
// samebytes_test.node. What is compiled, and how, is in binding.gyp, which node-gyp itself cannot build by mingw.
//
//   node scripts/windows.js [--out FOLDER] [--addons] [samebytes samebytes_math samebytes_test]
//
// --addons: those of ADDONS as well, which know our headers alone, in build-win32/.
//
// Functions of Node-API are looked up in the running program as an addon is loaded, whatever that is called: an import table
// would name node.exe, and the addon would not load in Electron, Bun or Deno.

const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { Cross, ROOT, outputOf, run, runs, start } = require('./cross')

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
const WITHOUT =
  /^(-flto.*|-fno-lto|-fPIC|-fno-semantic-interposition|-std=.*|-isystem|<\(node_root_dir\).*)$/
const LINK = [
  '-shared',
  '-s',
  '-static-libgcc',
  '-Wl,--exclude-all-symbols',
  '-Wl,--dynamicbase,--high-entropy-va,--nxcompat',
  '-Wl,--no-insert-timestamp,--disable-auto-image-base', // which would be of the time, and of the path
]

const ADDONS = ['test/peers/addon', 'test/peers/dlpack', 'examples/addon']

/** GCC and its binutils, under the system's name, or on Windows as well without it. @param {string} name @returns {string} */
function toolOf(name) {
  const names = [`x86_64-w64-mingw32-${name}`, ...(process.platform === 'win32' ? [name] : [])]
  const found = names.find(runs)
  if (found !== undefined) return found
  throw new Error(
    `${names.join(' or ')} is missing; on Debian: apt-get install gcc-mingw-w64-x86-64, on Windows: MSYS2 or w64devkit`,
  )
}

/** @param {string} gcc */
const crossOf = (gcc) =>
  new Cross({
    build: BUILD,
    platforms: 'native|win32',
    command: [gcc],
    flags: FLAGS,
    without: WITHOUT,
  })

/** @param {string[]} objects @returns {string[]} functions of the host that they call */
function wantedBy(objects) {
  const names = outputOf([toolOf('nm'), '-u', ...objects]).match(/\b(napi_|node_api_)\w+/g)
  return [...new Set(names)].sort()
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

/** @param {string} gcc @param {string[]} objects @param {string} name @param {string} file  the addon @param {string[]} [flags] */
function link(gcc, objects, name, file, flags = []) {
  const source = `${BUILD}/${name}_host.c`
  fs.writeFileSync(path.join(ROOT, source), thunks(wantedBy(objects)))
  const compiled = ['-O2', '-Wall', '-Wextra', '-Isrc', '-std=gnu11']
  run([gcc, ...compiled, ...LINK, '-o', file, ...objects, source, ...flags])
}

// ---- What was linked ----

const LIBRARIES = /^(kernel32|msvcrt|ucrtbase|api-ms-win-crt-[\w-]+)\.dll$/i // one of the two C libraries, as GCC was built for it

/** @param {string} file  an addon @returns {string[]} what is wrong with it */
function faultsOf(file) {
  const objdump = toolOf('objdump')
  const tool = (/** @type {string} */ option) => outputOf([objdump, option, file])
  const imports = [...tool('-p').matchAll(/DLL Name: (\S+)/g)]
    .map(([, name]) => name)
    .filter((name) => !LIBRARIES.test(name))
  const moves = tool('-d').match(/vmov(dqa|dqa32|dqa64|aps|apd)\s.*%[yz]mm.*\(.*/g) ?? []
  return [
    ...imports.map((name) => `${file} imports ${name}`),
    ...moves.slice(0, 5).map((move) => `${file} moves as if aligned: ${move}`),
  ]
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      out: { type: 'string', default: BUILD },
      addons: { type: 'boolean', default: false },
    },
  })
  const products = positionals.length > 0 ? positionals : ['samebytes', 'samebytes_math']
  const gcc = toolOf('gcc')
  const cross = crossOf(gcc)
  fs.mkdirSync(values.out, { recursive: true })
  await cross.compile(products)
  const files = products.map((name) => path.resolve(values.out, `${name}.node`))
  products.forEach((name, i) => {
    link(gcc, cross.objectsOf(name), name, files[i])
  })
  if (values.addons) {
    const flags = ['-O2', '-Wall', '-Wextra', '-Isrc', '-std=gnu11', '-DNAPI_EXTERN=']
    const linked = (objects, name, file) => link(gcc, objects, name, file, ['-lpthread', '-static'])
    files.push(...ADDONS.flatMap((folder) => cross.othersOf(folder, flags, linked)))
  }
  const faults = files.flatMap(faultsOf)
  if (faults.length > 0) throw new Error(faults.join('\n'))
}

start('windows', main)
