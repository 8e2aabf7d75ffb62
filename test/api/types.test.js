'use strict'
// The declarations, compiled as programs see them: test/types/*.mts and .cts. What must not compile is marked there.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { execFile } = require('node:child_process')
const { dtypes, promoteTypes } = require('samebytes')
const { ROOT, skipWithout } = require('../setup')

const TSC = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
const FOLDER = path.join(ROOT, 'test', 'types')

/** What programs may have around them: new runtimes, old ones, no browser. */
const SURROUNDINGS = {
  'lib esnext and dom': { target: 'esnext', lib: ['esnext', 'dom'] },
  'lib es2022 and dom': { target: 'es2022', lib: ['es2022', 'dom'] },
  'lib es2022 and the types of Node.js': { target: 'es2022', lib: ['es2022'], types: ['node'] }
}

/** Runs tsc; resolves to what it says. */
function tsc (args) {
  return new Promise(resolve => {
    execFile(process.execPath, [TSC, ...args], { cwd: ROOT, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
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

describe('types', function () {
  this.timeout(300_000)
  let scratch

  before(async function () {
    skipWithout(this, 'declarations')
    scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-types-'))
    const link = path.join(scratch, 'node_modules', 'samebytes')
    fs.mkdirSync(link, { recursive: true })
    for (const name of ['package.json', 'js']) fs.cpSync(path.join(ROOT, name), path.join(link, name), { recursive: true })
    assert.equal(await tsc(['--project', ROOT, '--outDir', path.join(link, 'types')]), '')
    for (const name of fs.readdirSync(FOLDER)) fs.copyFileSync(path.join(FOLDER, name), path.join(scratch, name))
    fs.writeFileSync(path.join(scratch, 'promotions.mts'), promotions())
  })

  after(() => { if (scratch) fs.rmSync(scratch, { recursive: true, force: true }) })

  for (const [title, { target, lib, types = [] }] of Object.entries(SURROUNDINGS)) {
    it(`compile with ${title}, and what must not compile does not`, async () => {
      const project = path.join(scratch, 'tsconfig.json')
      fs.writeFileSync(project, JSON.stringify({
        compilerOptions: {
          noEmit: true,
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: false,
          module: 'nodenext',
          target,
          lib,
          types,
          typeRoots: [path.join(ROOT, 'node_modules', '@types')]
        },
        include: ['*.mts', '*.cts']
      }))
      assert.equal(await tsc(['--project', project]), '')
    })
  }
})
