'use strict'
// The declarations, compiled as programs see them: test/types/*.mts and .cts. What must not compile is marked there.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { FOLDER, declared } = require('../declarations')
const { skipWithout } = require('../setup')

let ts // the compiler, which is large

/**
 * What an editor knows of every public name: `concat`, `Tensor.at`, and so on.
 *
 * @param {string} folder  of the declarations
 * @returns {{ name: string, signatures: { text: string, isExplained: boolean }[], isExplained: boolean }[]}
 */
function publicNames (folder) {
  const files = ['index', 'module', 'interop/native-paths'].map(name => path.join(folder, `${name}.d.mts`))
  const { NodeNext } = ts.ModuleKind
  const program = ts.createProgram(files, { module: NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, target: ts.ScriptTarget.ES2023, skipLibCheck: true, types: [] })
  const checker = program.getTypeChecker()
  const isExplained = entry => ts.displayPartsToString(entry.getDocumentationComment(checker)).trim() !== ''
  const isIgnored = symbol => symbol.getJsDocTags(checker).some(({ name }) => name === 'ignore')
  const isOurs = symbol => symbol.declarations?.some(declaration => declaration.getSourceFile().fileName.startsWith(folder)) ?? false
  const found = []
  const look = (name, given) => {
    const symbol = given.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(given) : given
    const declaration = symbol.valueDeclaration
    if (declaration === undefined || isIgnored(symbol) || name === 'SamebytesError.name') return // a type, or not for users
    const type = checker.getTypeOfSymbolAtLocation(symbol, declaration)
    const signatures = type.getCallSignatures().map(signature => ({ text: checker.signatureToString(signature), isExplained: isExplained(signature) }))
    found.push({ name, signatures, isExplained: signatures.length > 0 || isExplained(symbol) })
    if (!(symbol.flags & ts.SymbolFlags.Class)) return
    const members = [...checker.getDeclaredTypeOfSymbol(symbol).getProperties(), ...type.getProperties()]
    for (const member of members) {
      const isHidden = member.name === 'prototype' || member.name.includes('#')
      if (!isHidden && isOurs(member)) look(`${name}.${member.name.replace(/^__@(\w+)@\d+$/, '[$1]')}`, member)
    }
  }
  for (const file of files) {
    for (const symbol of checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)))) look(symbol.name, symbol)
  }
  return found
}

/** What no program names: JavaScript does, or other programs' code. */
const UNNAMED = ['Tensor.uncloneable', 'Tensor.__samebytes__', 'Tensor.[INSPECT]', 'Tensor.[iterator]', 'Tensor.[toStringTag]', 'Tensor.[DISPOSE]', 'Scope.[DISPOSE]', 'TensorFile.[iterator]', 'TensorFile.[INSPECT]']

describe('types', function () {
  this.timeout(300_000)
  let programs

  before(async function () {
    skipWithout(this, 'declarations')
    programs = await declared()
  })

  after(() => { programs?.dispose() })

  it('compile with all of the newest library, and what must not compile does not', async () => {
    assert.equal(await programs.complaints({ target: 'esnext', lib: ['esnext', 'dom'] }), '')
  })

  describe('as an editor shows them', () => {
    let names

    before(() => {
      ts = require('typescript')
      names = publicNames(programs.types)
    })

    it('explain every public name, and every overload', () => {
      assert.ok(names.length > 200, `${names.length} names`)
      const silent = names.flatMap(({ name, signatures, isExplained }) => [
        ...(isExplained ? [] : [name]),
        ...signatures.filter(signature => !signature.isExplained).map(({ text }) => `${name} ${text}`)
      ])
      assert.deepEqual(silent, [])
    })

    it('have a test for every public name', () => {
      const text = fs.readdirSync(FOLDER).map(name => fs.readFileSync(path.join(FOLDER, name), 'utf8').replace(/^ *\/\/.*$/gm, '')).join('\n')
      const isTested = name => new RegExp(`\\b${name.split('.').pop().replace(/\W/g, '')}\\b`).test(text)
      assert.deepEqual(names.map(({ name }) => name).filter(name => !isTested(name) && !UNNAMED.includes(name)), [])
    })
  })
})
