'use strict'
// The declarations as they are now, and test/types/*.mts and .cts beside them, in a folder of their own.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { execFile } = require('node:child_process')
const { dtypes, promoteTypes } = require('samebytes')
const { ROOT } = require('./setup')

const TSC = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
const FOLDER = path.join(ROOT, 'test', 'types')

/** Runs tsc; resolves to what it says. */
const tsc = args => run([TSC, ...args])

/** Runs a program of Node's; resolves to what it says. */
function run (args) {
  return new Promise(resolve => {
    execFile(process.execPath, args, { cwd: ROOT, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      resolve(error === null ? '' : stdout + stderr || String(error))
    })
  })
}

/** Every pair of dtypes, as promoteTypes has it at run time. */
function promotions () {
  const lines = ["import type { Promote } from 'samebytes'", "import type { Equal, Expect } from './equal.mjs'", 'export type Pairs = [']
  for (const a of dtypes) for (const b of dtypes) lines.push(`  Expect<Equal<Promote<'${a}', '${b}'>, '${promoteTypes(a, b)}'>>,`)
  lines.push(']', `export type Names = Expect<Equal<import('samebytes').DtypeName, ${dtypes.map(name => `'${name}'`).join(' | ')}>>`)
  return lines.join('\n')
}

/**
 * Makes the folder: types is that of the declarations; complaints() compiles the programs with a target, and the libraries and types around them,
 * and resolves to what the compiler says; dispose() removes it.
 */
async function declared () {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-types-'))
  const link = path.join(scratch, 'node_modules', 'samebytes')
  const types = path.join(link, 'types')
  fs.mkdirSync(link, { recursive: true })
  for (const name of ['package.json', 'js']) fs.cpSync(path.join(ROOT, name), path.join(link, name), { recursive: true })
  assert.equal(await tsc(['--project', ROOT, '--outDir', types]), '')
  assert.equal(await run([path.join(ROOT, '.ci', 'declarations.js'), types]), '')
  for (const name of fs.readdirSync(FOLDER)) fs.copyFileSync(path.join(FOLDER, name), path.join(scratch, name))
  fs.writeFileSync(path.join(scratch, 'promotions.mts'), promotions())
  const complaints = ({ target, lib, types = [] }) => {
    const project = path.join(scratch, 'tsconfig.json')
    fs.writeFileSync(project, JSON.stringify({
      compilerOptions: {
        noEmit: true,
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        module: 'nodenext',
        target,
        lib,
        types,
        typeRoots: [path.join(ROOT, 'node_modules', '@types')]
      },
      include: ['*.mts', '*.cts'],
      exclude: lib.includes('dom') ? [] : ['memory.mts'] // it names WebAssembly, which Node's types leave to those of the DOM
    }))
    return tsc(['--project', project])
  }
  return { types, complaints, dispose: () => fs.rmSync(scratch, { recursive: true, force: true }) }
}

module.exports = { FOLDER, declared }
