'use strict'
// The declarations, compiled as programs see them: test/types/*.mts and .cts. What must not compile is marked there.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { execFile } = require('node:child_process')
const { dtypes, promoteTypes } = require('samebytes')
const { ROOT, skipWithout } = require('../setup')

let ts // the compiler, which is large

const TSC = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
const FOLDER = path.join(ROOT, 'test', 'types')

/** What programs may have around them: new runtimes, old ones, no browser. */
const SURROUNDINGS = {
  'lib esnext and dom': { target: 'esnext', lib: ['esnext', 'dom'] },
  'lib es2022 and dom': { target: 'es2022', lib: ['es2022', 'dom'] },
  'lib es2022 and the types of Node.js': { target: 'es2022', lib: ['es2022'], types: ['node'] },
}

/** Runs tsc; resolves to what it says. */
const tsc = (args) => run([TSC, ...args])

/** Runs a program of Node's; resolves to what it says. */
function run(args) {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      resolve(error === null ? '' : stdout + stderr || String(error))
    })
  })
}

/** Every pair of dtypes, as promoteTypes has it at run time. */
function promotions() {
  const lines = [
    "import type { Promote } from 'samebytes'",
    "import type { Equal, Expect } from './equal.mjs'",
    'export type Pairs = [',
  ]
  for (const a of dtypes) {
    for (const b of dtypes) {
      lines.push(`  Expect<Equal<Promote<'${a}', '${b}'>, '${promoteTypes(a, b)}'>>,`)
    }
  }
  lines.push(
    ']',
    `export type Names = Expect<Equal<import('samebytes').DtypeName, ${dtypes.map((name) => `'${name}'`).join(' | ')}>>`,
  )
  return lines.join('\n')
}

/**
 * What an editor knows of every public name: `concat`, `Tensor.at`, and so on.
 *
 * @param {string} folder  of the declarations
 * @param {string[]} entries  its files, without .d.mts
 * @returns {{ name: string, signatures: { text: string, isExplained: boolean, isPromise: boolean }[], isExplained: boolean }[]}
 */
function publicNames(folder, entries) {
  const files = entries.map((name) => path.join(folder, `${name}.d.mts`))
  const { NodeNext } = ts.ModuleKind
  const program = ts.createProgram(files, {
    module: NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    skipLibCheck: true,
    types: [],
  })
  const checker = program.getTypeChecker()
  const ours = folder.replaceAll(path.sep, '/') // as TypeScript has the names of files
  const isExplained = (entry) =>
    ts.displayPartsToString(entry.getDocumentationComment(checker)).trim() !== ''
  const isIgnored = (symbol) => symbol.getJsDocTags(checker).some(({ name }) => name === 'ignore')
  const isOurs = (symbol) =>
    symbol.declarations?.some((declaration) =>
      declaration.getSourceFile().fileName.startsWith(ours),
    ) ?? false
  const found = []
  const look = (name, given) => {
    const symbol = given.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(given) : given
    const declaration = symbol.valueDeclaration
    if (declaration === undefined || isIgnored(symbol) || name === 'SamebytesError.name') return // a type, or not for users
    const type = checker.getTypeOfSymbolAtLocation(symbol, declaration)
    const signatures = type.getCallSignatures().map((signature) => ({
      text: checker.signatureToString(signature),
      isExplained: isExplained(signature),
      isPromise: signature.getReturnType().symbol?.name === 'Promise',
    }))
    found.push({ name, signatures, isExplained: signatures.length > 0 || isExplained(symbol) })
    if (!(symbol.flags & ts.SymbolFlags.Class)) return
    const members = [
      ...checker.getDeclaredTypeOfSymbol(symbol).getProperties(),
      ...type.getProperties(),
    ]
    for (const member of members) {
      const isHidden = member.name === 'prototype' || member.name.includes('#')
      if (!isHidden && isOurs(member)) {
        look(`${name}.${member.name.replace(/^__@(\w+)@\d+$/, '[$1]')}`, member)
      }
    }
  }
  for (const file of files) {
    for (const symbol of checker.getExportsOfModule(
      checker.getSymbolAtLocation(program.getSourceFile(file)),
    )) {
      look(symbol.name, symbol)
    }
  }
  return found
}

/** What no program names: JavaScript does, or other programs' code. */
const UNNAMED = [
  'Tensor.uncloneable',
  'Tensor.__samebytes__',
  'Tensor.[INSPECT]',
  'Tensor.[iterator]',
  'Tensor.[toPrimitive]',
  'Tensor.[toStringTag]',
  'Tensor.[DISPOSE]',
  'Scope.[DISPOSE]',
  'TensorFile.[iterator]',
  'TensorFile.[INSPECT]',
  'RemoteFile.[INSPECT]',
]

describe('types', function () {
  let scratch

  before(async function () {
    skipWithout(this, 'declarations')
    scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-types-'))
    const link = path.join(scratch, 'node_modules', 'samebytes')
    fs.mkdirSync(link, { recursive: true })
    for (const name of ['package.json', 'js']) {
      fs.cpSync(path.join(ROOT, name), path.join(link, name), { recursive: true })
    }
    assert.equal(await tsc(['--project', ROOT, '--outDir', path.join(link, 'types')]), '')
    assert.equal(
      await run([path.join(ROOT, 'scripts', 'declarations.js'), path.join(link, 'types')]),
      '',
    )
    for (const name of fs.readdirSync(FOLDER)) {
      fs.copyFileSync(path.join(FOLDER, name), path.join(scratch, name))
    }
    fs.writeFileSync(path.join(scratch, 'promotions.mts'), promotions())
  })

  after(() => {
    if (scratch) fs.rmSync(scratch, { recursive: true, force: true })
  })

  for (const [title, { target, lib, types = [] }] of Object.entries(SURROUNDINGS)) {
    it(`compile with ${title}, and what must not compile does not`, async () => {
      const project = path.join(scratch, 'tsconfig.json')
      fs.writeFileSync(
        project,
        JSON.stringify({
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
            typeRoots: [path.join(ROOT, 'node_modules', '@types')],
          },
          include: ['*.mts', '*.cts'],
          exclude: lib.includes('dom') ? [] : ['memory.mts', 'buffers.mts'], // they name what Node's types leave to those of the DOM
        }),
      )
      assert.equal(await tsc(['--project', project]), '')
    })
  }

  describe('as an editor shows them', () => {
    let names

    before(() => {
      ts = require('typescript')
      names = publicNames(path.join(scratch, 'node_modules', 'samebytes', 'types'), [
        'index',
        'module',
        'interop/native-paths',
      ])
    })

    it('explain every public name, and every overload', () => {
      assert.ok(names.length > 200, `${names.length} names`)
      const silent = names.flatMap(({ name, signatures, isExplained }) => [
        ...(isExplained ? [] : [name]),
        ...signatures
          .filter((signature) => !signature.isExplained)
          .map(({ text }) => `${name} ${text}`),
      ])
      assert.deepEqual(silent, [])
    })

    it('explain every signature of samebytes/math, that of an asynchronous form by its name', () => {
      const functions = publicNames(path.join(scratch, 'node_modules', 'samebytes', 'types'), [
        'math',
      ]).filter(({ name }) => !name.endsWith('Async'))
      assert.ok(functions.length > 150, `${functions.length} functions`)
      assert.deepEqual(
        functions
          .filter(({ signatures }) => !signatures.every(({ isExplained }) => isExplained))
          .map(({ name }) => name),
        [],
      )
    })

    it('say by their names what blocks: x computes and xAsync does not block; x waits and xSync blocks', () => {
      const all = [
        ...names,
        ...publicNames(path.join(scratch, 'node_modules', 'samebytes', 'types'), [
          'math',
          'inspect',
          'nats',
        ]),
      ]
      const functions = new Map(
        all
          .filter(({ signatures }) => signatures.length > 0)
          .map(({ name, signatures }) => [name, signatures.map(({ isPromise }) => isPromise)]),
      )
      const wrong = []
      for (const [name, promises] of functions) {
        const [, base, ending] = /^(.*?)(Async|Sync)?$/.exec(name)
        const twin = ending === undefined ? undefined : functions.get(base)
        if (new Set(promises).size !== 1) wrong.push(`${name} gives promises and values`)
        if (ending !== undefined && promises[0] !== (ending === 'Async')) {
          wrong.push(`${name} ${promises[0] ? 'gives a promise' : 'blocks'}`)
        }
        if (ending !== undefined && twin?.[0] !== (ending === 'Sync')) {
          wrong.push(
            `${name} stands beside ${twin === undefined ? 'nothing' : `${base}, which ${twin[0] ? 'gives a promise' : 'blocks'}`}`,
          )
        }
      }
      assert.ok(functions.size > 400, `${functions.size} functions`)
      assert.deepEqual(wrong, [])
    })

    it('have a test for every public name', () => {
      const text = fs
        .readdirSync(FOLDER)
        .map((name) => fs.readFileSync(path.join(FOLDER, name), 'utf8').replace(/^ *\/\/.*$/gm, ''))
        .join('\n')
      const isTested = (name) =>
        new RegExp(`\\b${name.split('.').pop().replace(/\W/g, '')}\\b`).test(text)
      assert.deepEqual(
        names.map(({ name }) => name).filter((name) => !isTested(name) && !UNNAMED.includes(name)),
        [],
      )
    })
  })
})
