'use strict'
// docs/api.md: what the package exports, from the JSDoc of js/ by way of TypeScript's compiler, so that signatures are those that
// users' editors show.

const path = require('node:path')
const ts = require('typescript')

const ROOT = path.join(__dirname, '..', '..')

const INTRODUCTION = `# Reference: JavaScript

<!-- Made from the sources by \`npm run docs\`. -->

What \`samebytes\` and its subpaths export. Every example runs, and gives what stands behind \`//\`. *Throws* names codes: each error is a
\`SamebytesError\` with a \`code\`, or a \`TypeError\` or \`RangeError\` with one where the class is named.
`

/** Of classes: for the package's own use, and hidden at run time. */
const OURS = ['layoutOf', 'attachedOf', 'writableOf', 'uncloneable', '__samebytes__']

/** Functions by the file that they are in; what is in none of these comes last. */
const TITLES = {
  make: 'Making tensors',
  sequences: 'Making tensors',
  asarray: 'Making tensors',
  like: 'Tensors like others',
  strided: 'Tensors with strides',
  random: 'Random numbers',
  blob: 'Over bytes that exist',
  combine: 'Putting together, comparing',
  typeinfo: 'dtypes',
  share: 'Sharing',
  dlpack: 'Sharing',
  ort: 'Sharing',
  parse: 'Files of bytes',
  writers: 'Writing files',
  open: 'Files',
  create: 'Files',
  save: 'Files',
  load: 'Files',
  lifetime: 'Lifetime and counters',
  index: 'Lifetime and counters',
  init: 'In pages',
  cuda: 'GPUs'
}

function apiPage () {
  const { exports } = require(path.join(ROOT, 'package.json'))
  const entries = Object.entries(exports).map(([name, to]) => [path.posix.join('samebytes', name), entryOf(to)]).filter(([, file]) => file !== undefined)
  const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(path.join(ROOT, 'tsconfig.json'), ts.sys.readFile).config, ts.sys, ROOT)
  const files = entries.map(([, file]) => path.join(ROOT, file))
  const program = ts.createProgram(files, { ...options, noEmit: true, declaration: false, emitDeclarationOnly: false })
  const writer = writerOf(program.getTypeChecker())
  const parts = [INTRODUCTION]
  const known = new Map()
  for (const [i, [name]] of entries.entries()) {
    const symbol = program.getTypeChecker().getSymbolAtLocation(program.getSourceFile(files[i]))
    parts.push(...writer.module(name, symbol, known))
  }
  return `${parts.join('\n').replace(/\n{3,}/g, '\n\n').trimEnd()}\n`
}

/** The ES module in js/ that Node gets. */
function entryOf (to) {
  const file = to?.node?.import?.default ?? to?.import?.default
  return typeof file === 'string' && /^\.\/js\/.*\.m?js$/.test(file) ? file : undefined
}

/** @param {ts.TypeChecker} checker */
function writerOf (checker) {
  const { SymbolFlags, TypeFormatFlags } = ts
  const FLAGS = TypeFormatFlags.NoTruncation | TypeFormatFlags.OmitParameterModifiers | TypeFormatFlags.UseAliasDefinedOutsideCurrentScope

  const resolved = symbol => symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const shortened = text => text.replace(/import\("[^"]*"\)\./g, '').replaceAll('Tensor<any>', 'Tensor').replaceAll('<ArrayBufferLike>', '')
  const textOf = parts => ts.displayPartsToString(parts)

  function fileOf (symbol) {
    const [declaration] = symbol.declarations ?? []
    return declaration === undefined ? '' : path.basename(declaration.getSourceFile().fileName).replace(/\.m?js$/, '')
  }

  function module (title, symbol, known) {
    const groups = new Map() // of functions, by title
    const [classes, spaces, values, types] = [[], [], [], []]
    for (const exported of checker.getExportsOfModule(symbol)) {
      const target = valueOf(exported)
      const name = exported.name
      if (known.has(`${title} ${name}`) || name === 'default') continue
      known.set(`${title} ${name}`, true)
      if (target.flags & SymbolFlags.Class) classes.push([name, target])
      else if (!(target.flags & SymbolFlags.Value)) types.push([name, target])
      else {
        const type = typeOf(target)
        const built = type.getConstructSignatures()
        if (built.length > 0 && type.getProperty('prototype') !== undefined) {
          const instance = built[0].getReturnType()
          classes.push([name, instance.symbol ?? target])
        } else if (type.getCallSignatures().length > 0) {
          const [group, source] = documented(name, target)
          if (!groups.has(group)) groups.set(group, [])
          groups.get(group).push([name, source])
        } else if (isNamespace(type)) spaces.push([name, type])
        else values.push([name, target])
      }
    }
    const parts = [`# \`${title}\`\n`]
    for (const group of new Set([...Object.values(TITLES), ...groups.keys()])) {
      if (!groups.has(group)) continue
      if (groups.size > 1) parts.push(`## ${group}\n`)
      for (const [name, target] of groups.get(group)) parts.push(callable(name, target, '###'))
    }
    for (const [name, target] of classes) parts.push(...classPage(name, target))
    for (const [name, type] of spaces) parts.push(...namespace(name, type))
    if (values.length > 0) {
      parts.push('## Values\n')
      for (const [name, target] of values) parts.push(value(name, target))
    }
    if (types.length > 0) parts.push('## Types\n', ...types.map(([name, target]) => typeEntry(name, target)))
    return parts
  }

  /** An object of functions, as `cuda` is. */
  function isNamespace (type) {
    const properties = type.getProperties()
    return (type.flags & ts.TypeFlags.Object) !== 0 && properties.length > 0 && properties.every(inPackage) && properties.some(each => signaturesOf(each).length > 0)
  }

  function namespace (name, type) {
    const parts = [`## \`${name}\`\n`]
    const inside = []
    for (const member of type.getProperties()) {
      const its = typeOf(member)
      const [built] = its.getConstructSignatures()
      if (built !== undefined) inside.push(...classPage(`${name}.${member.name}`, built.getReturnType().symbol ?? member))
      else if (its.getCallSignatures().length > 0) parts.push(callable(member.name, member, '###', `${name}.`))
      else parts.push(property(`${name}.${member.name}`, member))
    }
    return [...parts, ...inside]
  }

  function typeOf (symbol) {
    return checker.getTypeOfSymbolAtLocation(symbol, symbol.valueDeclaration ?? symbol.declarations[0])
  }

  function valueOf (exported) {
    return resolved(exported)
  }

  /** Functions that are read late are variables of a function's type: their words are where that one is. */
  function documented (name, target) {
    let source = target
    if (target.getDocumentationComment(checker).length === 0 || signaturesOf(target)[0]?.getDeclaration()?.kind === ts.SyntaxKind.JSDocSignature) {
      const declaration = signaturesOf(target)[0]?.getDeclaration()
      source = declaration?.symbol?.name === name ? declaration.symbol : target
    }
    return [TITLES[fileOf(source)] ?? 'Others', source]
  }

  const signaturesOf = symbol => typeOf(symbol).getCallSignatures()

  function written (name, signature) {
    const text = checker.signatureToString(signature, undefined, FLAGS)
    return shortened(`${name}${text}`)
  }

  /** The overloads that have words: each signature with those of its own. */
  function callable (name, symbol, level, prefix = '') {
    const signatures = signaturesOf(symbol)
    const heads = [...new Set(signatures.map(signature => written(prefix + name, signature)))]
    const parts = [`${level} \`${prefix}${name}\`\n`, `\`\`\`ts\n${heads.join('\n')}\n\`\`\`\n`]
    const said = new Set()
    for (const signature of signatures) {
      const words = textOf(signature.getDocumentationComment(checker)).trim()
      const tags = tagged(signature.getJsDocTags())
      const key = words + JSON.stringify(tags)
      if (said.has(key)) continue
      said.add(key)
      parts.push(body(words, tags, signature))
    }
    return parts.join('\n')
  }

  /** JSDoc's tags: { param: [[name, words]], returns, throws: [], see: [], example } */
  function tagged (tags) {
    const result = { params: [], returns: '', throws: [], see: [], examples: [] }
    for (const { name, text } of tags) {
      const words = textOf(text ?? []).trim()
      if (name === 'param') {
        const [, param, rest] = /^(\S+)\s*([^]*)$/.exec(words) ?? [null, words, '']
        if (rest) result.params.push([param, rest])
      } else if (name === 'returns' || name === 'return') result.returns = words
      else if (name === 'throws' && words !== 'nothing') result.throws.push(words)
      else if (name === 'see') result.see.push(words)
      else if (name === 'example') result.examples.push(words)
    }
    return result
  }

  function body (words, { params, returns, throws, see, examples }) {
    const parts = []
    if (words) parts.push(`${plain(words)}\n`)
    if (params.length > 0) parts.push(`${params.map(([name, text]) => `- \`${name}\`: ${plain(text.replace(/\s*\n\s*/g, ' '))}`).join('\n')}\n`)
    if (returns) parts.push(`*Returns* ${plain(returns)}\n`)
    if (throws.length > 0) parts.push(`*Throws* ${plain(throws.join(' · ').replace(/\{(\w+)\} /g, '$1 '))}\n`)
    if (see.length > 0) parts.push(`*See* ${plain(see.join(', '))}\n`)
    for (const example of examples) parts.push(`\`\`\`js\n${example}\n\`\`\`\n`)
    return parts.join('\n')
  }

  function classPage (name, symbol) {
    const declaration = symbol.valueDeclaration ?? symbol.declarations[0]
    const instance = checker.getDeclaredTypeOfSymbol(symbol)
    const parts = [`## Class \`${name}\`\n`, body(textOf(symbol.getDocumentationComment(checker)), tagged(symbol.getJsDocTags(checker)))]
    const statics = symbol.valueDeclaration === undefined ? [] : checker.getPropertiesOfType(checker.getTypeOfSymbolAtLocation(symbol, declaration))
    const constructed = symbol.valueDeclaration === undefined ? [] : checker.getTypeOfSymbolAtLocation(symbol, declaration).getConstructSignatures()
    const isPublicly = constructed.length > 0 && !isPrivate(constructed[0].getDeclaration()) && name !== 'Tensor' && constructed[0].getDeclaration() !== undefined
    if (isPublicly) {
      const heads = constructed.map(signature => shortened(`new ${name}${checker.signatureToString(signature, undefined, FLAGS)}`))
      parts.push(`\`\`\`ts\n${heads.join('\n')}\n\`\`\`\n`, body(textOf(constructed[0].getDocumentationComment(checker)), tagged(constructed[0].getJsDocTags())))
    }
    for (const [members, prefix] of [[statics, `${name}.`], [checker.getPropertiesOfType(instance), '']]) {
      for (const member of members) {
        const [first] = member.declarations ?? []
        if (first === undefined || member.name === 'prototype' || OURS.includes(member.name.replace(/^__(?=__)/, '').replace(/^_(?=__)/, '')) || member.name.startsWith('#') || member.name.startsWith('__#') || isPrivate(first)) continue
        if (!first.getSourceFile().fileName.startsWith(path.join(ROOT, 'js'))) continue // Error's own
        const title = symbolName(member.name)
        if (member.flags & SymbolFlags.Method) parts.push(callable(title, member, '###', prefix))
        else parts.push(property(prefix + title, member))
      }
    }
    return parts
  }

  /** With the number that the compiler gave a symbol in this run left out. */
  const symbolName = name => name.startsWith('__@') ? `[Symbol.${/^__@(\w+?)@/.exec(name)?.[1] ?? name}]` : name

  function isPrivate (declaration) {
    return declaration !== undefined && ((ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Private) !== 0 ||
      ts.getJSDocTags(declaration).some(tag => ['private', 'internal'].includes(tag.tagName.text)))
  }

  function property (name, symbol) {
    const type = shortened(checker.typeToString(typeOf(symbol), undefined, FLAGS))
    const words = textOf(symbol.getDocumentationComment(checker)).trim()
    return `### \`${name}\`\n\n\`\`\`ts\n${name}: ${type}\n\`\`\`\n\n${body(words, tagged(symbol.getJsDocTags(checker)))}`
  }

  function value (name, symbol) {
    const type = shortened(checker.typeToString(typeOf(symbol), undefined, FLAGS))
    return `### \`${name}\`\n\n\`\`\`ts\n${name}: ${type}\n\`\`\`\n\n${body(textOf(symbol.getDocumentationComment(checker)), tagged(symbol.getJsDocTags(checker)))}`
  }

  /** Types are shown as they are written, followed to where they are. */
  function typeEntry (name, symbol) {
    const target = origin(symbol)
    const type = checker.getDeclaredTypeOfSymbol(target)
    const properties = type.isUnion() || (type.flags & ts.TypeFlags.Object) === 0 ? [] : type.getProperties()
    const isRecord = properties.length > 0 && type.getCallSignatures().length === 0 && properties.every(each => inPackage(each))
    const words = textOf(target.getDocumentationComment(checker)).trim()
    const parts = [`### \`${name}\`\n`]
    if (words) parts.push(`${plain(words)}\n`)
    if (isRecord) {
      for (const each of properties) {
        const isOptional = each.flags & SymbolFlags.Optional ? '?' : ''
        const text = shortened(checker.typeToString(checker.getNonOptionalType(typeOf(each)), undefined, FLAGS))
        const said = textOf(each.getDocumentationComment(checker)).replace(/\s*\n\s*/g, ' ').trim()
        parts.push(`- \`${symbolName(each.name)}${isOptional}: ${text}\`${said ? `  ${plain(said)}` : ''}`)
      }
      parts.push('')
    } else {
      const text = shortened(checker.typeToString(type, undefined, FLAGS | TypeFormatFlags.InTypeAlias))
      parts.push(`\`\`\`ts\ntype ${name} = ${text}\n\`\`\`\n`)
    }
    return parts.join('\n')
  }

  const inPackage = symbol => (symbol.declarations ?? []).every(declaration => declaration.getSourceFile().fileName.startsWith(path.join(ROOT, 'js')))

  /** `typedef {import('./types.js').Shape} Shape` says what it is elsewhere. */
  function origin (symbol) {
    const type = checker.getDeclaredTypeOfSymbol(symbol)
    return type.aliasSymbol ?? symbol
  }

  return { module }
}

/** What is no code must not be read as markup. */
function plain (text) {
  return text.split('`').map((part, i) => i % 2 === 1 ? part : part.replace(/</g, '&lt;').replace(/\*/g, '\\*')).join('`')
}

module.exports = { apiPage }
