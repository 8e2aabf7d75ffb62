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

/** Members for the package's own use, which nobody else should see. */
const OURS = [
  'layoutOf',
  'attachedOf',
  'writableOf',
  'uncloneable',
  '__samebytes__',
  'Generator.advance',
  'cuda.Stream.holderOf',
  'cuda.Event.holderOf',
  'Scope.end',
  'SamebytesError.name',
]

/** Types whose fields are not for readers. */
const OPAQUE = ['Token']

/** The symbols that JavaScript and its runtimes call by; others are for test runners and consoles. */
const WELL_KNOWN = ['iterator', 'asyncIterator', 'dispose', 'asyncDispose', 'toStringTag']

/** The functions of `samebytes` in the order of the page. Each of them has a heading; the page is not made where one is missing. */
const SECTIONS = {
  samebytes: {
    'Making tensors':
      'tensor empty zeros ones full scalarTensor arange linspace eye asarray fromBytes clone',
    'Tensors like others': 'emptyLike zerosLike onesLike fullLike randLike randnLike randintLike',
    'Tensors with strides':
      'emptyStrided zerosStrided onesStrided fullStrided randStrided randnStrided randintStrided',
    'Random numbers': 'rand randn randint manualSeed',
    'Over bytes that exist': 'fromBlob forBlob',
    'Putting together': 'concat stack',
    'Axes, triangles, indices': 'moveaxis tril triu takeAlongAxis',
    Broadcasting: 'broadcastShapes broadcastArrays meshgrid',
    Comparing: 'arrayEqual allClose sharesMemory',
    Dtypes: 'canCast promoteTypes isdtype finfo iinfo',
    'Files at URLs': 'fetchNpy fetchNpz fetchSafetensors fetchGguf',
    'Files, mapped': 'openNpy openNpz openSafetensors openGguf openRaw createNpy createSafetensors',
    'Files, read and written':
      'load save saveNpy saveNpz saveSafetensors saveNpySync saveNpzSync saveSafetensorsSync',
    'Bytes of files':
      'parseNpy parseNpz parseSafetensors parseGguf toNpyBytes toNpzBytes toSafetensorsBytes alloc',
    'Sharing with threads': 'share fromShared unshare',
    'Other libraries': 'fromDlpack toOrt fromOrt hostRegister',
    'Lifetime and counters': 'tidy keep scope dispose memory setMemoryLimit flush',
    'Back ends': 'init backend wasmMemory',
  },
  'samebytes/math': {
    'Making ready': 'init',
    'Arithmetic, element by element':
      'add subtract multiply divide floorDivide remainder negative positive abs sign square reciprocal sqrt pow hypot maximum minimum clip where ceil floor trunc round copysign nextafter real imag conj',
    'Exponentials, trigonometry, activations':
      'exp expm1 log log1p log2 log10 logaddexp sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf sigmoid relu silu gelu',
    'Comparisons, logic, bits':
      'equal notEqual less lessEqual greater greaterEqual isfinite isinf isnan signbit logicalAnd logicalOr logicalXor logicalNot bitwiseAnd bitwiseOr bitwiseXor bitwiseInvert bitwiseLeftShift bitwiseRightShift',
    Reductions:
      'sum prod mean var std median quantile min max argmin argmax any all countNonzero cumulativeSum cumulativeProd diff',
    'Reductions without NaN': 'nansum nanprod nanmean nanvar nanstd nanmin nanmax',
    'Histograms, covariances, interpolation': 'histogram digitize cov corrcoef interp',
    'Softmax and norms': 'softmax logSoftmax logSumExp vectorNorm normalize',
    'Elements at indices': 'index indexPut maskedSelect maskedFill nonzero',
    'Order and sets':
      'sort argsort topK searchsorted isin uniqueAll uniqueCounts uniqueInverse uniqueValues bincount',
    'Products of matrices': 'matmul vecdot tensordot outer einsum cosineSimilarity',
    'Images and boxes': 'resize letterbox unletterbox crop pad nms iou oneHot',
    'Fourier transforms':
      'fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn fftfreq rfftfreq fftshift ifftshift',
    Signals: 'stft istft hann hamming melFilterbank logMelSpectrogram convolve',
  },
}

function apiPage() {
  const { exports } = require(path.join(ROOT, 'package.json'))
  const entries = Object.entries(exports)
    .map(([name, to]) => [path.posix.join('samebytes', name), entryOf(to)])
    .filter(
      ([, file], i, all) =>
        file !== undefined && all.findIndex(([, other]) => other === file) === i,
    ) // samebytes/module/bare is samebytes/module
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(path.join(ROOT, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    ROOT,
  )
  const files = entries.map(([, file]) => path.join(ROOT, file))
  const program = ts.createProgram(files, {
    ...options,
    noEmit: true,
    declaration: false,
    emitDeclarationOnly: false,
  })
  const writer = writerOf(program)
  const parts = [INTRODUCTION]
  const known = new Map()
  for (const [i, [name]] of entries.entries()) {
    const checker = program.getTypeChecker()
    const symbol = checker.getSymbolAtLocation(program.getSourceFile(files[i]))
    if (checker.getExportsOfModule(symbol).length === 0) continue // samebytes/onnxruntime: it is imported for what it does
    parts.push(...writer.module(name, symbol, known))
  }
  return `${parts
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()}\n`
}

/** The ES module in js/ that Node gets. */
function entryOf(to) {
  const file = to?.node?.import?.default ?? to?.import?.default
  return typeof file === 'string' && /^\.\/js\/.*\.m?js$/.test(file) ? file : undefined
}

/** What is said of all functions that do what another one does, asynchronously. */
const FORMS = `Each takes what the function without \`Async\` takes, and \`signal\` among the options, and gives a promise of what that one gives, with the same bits.
[Without blocking](arithmetic.md#without-blocking-the-event-loop) has the rules.
`

/** Names of functions that have their name from another one. */
const formsOf = (functions) =>
  [...functions.keys()].filter(
    (name) => name.endsWith('Async') && functions.has(name.slice(0, -'Async'.length)),
  )

/** @param {string} text  of a type @returns {string} without Tensor's second parameter where that is any */
function withoutBuffers(text) {
  for (let at = text.indexOf('Tensor<'); at >= 0; at = text.indexOf('Tensor<', at + 1)) {
    let end = at + 'Tensor<'.length
    for (let depth = 1; depth > 0; end++) {
      depth += text[end] === '<' ? 1 : text[end] === '>' && text[end - 1] !== '=' ? -1 : 0
    }
    if (text.slice(at, end).endsWith(', any>')) {
      text = `${text.slice(0, end - ', any>'.length)}>${text.slice(end)}`
    }
  }
  return text
}

/** @param {ts.Program} program */
function writerOf(program) {
  const checker = program.getTypeChecker()
  const { SymbolFlags, TypeFormatFlags } = ts
  const FLAGS =
    TypeFormatFlags.NoTruncation |
    TypeFormatFlags.OmitParameterModifiers |
    TypeFormatFlags.UseAliasDefinedOutsideCurrentScope

  const resolved = (symbol) =>
    symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const shortened = (text) =>
    withoutUndefined(
      withoutBuffers(text.replace(/import\("[^"]*"\)\./g, ''))
        .replaceAll('Tensor<D, B>', 'Tensor<D>')
        .replace(
          '[B] extends [ArrayBuffer] ? Uint8Array<ArrayBuffer> : Uint8Array',
          'DataOf<"uint8", B>',
        )
        .replace(/\bAnyTensor\b|\bTensor<any>/g, 'Tensor')
        .replaceAll('<ArrayBufferLike>', '')
        .replace(/\bkeyof Elements\b/g, 'DtypeName'),
    )
  const textOf = (parts) => ts.displayPartsToString(parts)

  function module(title, symbol, known) {
    const functions = new Map()
    const [classes, spaces, values, types] = [[], [], [], []]
    for (const exported of [...checker.getExportsOfModule(symbol), ...typesBeside(symbol)]) {
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
          functions.set(name, documented(name, target))
        } else if (isNamespace(type)) spaces.push([name, type])
        else values.push([name, target])
      }
    }
    const parts = []
    const forms = title === 'samebytes/math' ? formsOf(functions) : []
    for (const name of forms) functions.delete(name)
    for (const [section, names] of sectionsOf(title, functions)) {
      if (section !== '') parts.push(`## ${section}\n`)
      for (const name of names) parts.push(callable(name, functions.get(name), '###'))
    }
    if (forms.length > 0) {
      parts.push(
        `## Asynchronous forms\n\n${FORMS}\n${forms.map((name) => `\`${name}\``).join(', ')}\n`,
      )
    }
    for (const [name, target] of classes) parts.push(...classPage(name, target))
    for (const [name, type] of spaces) parts.push(...namespace(name, type))
    if (values.length > 0) {
      parts.push('## Values\n')
      for (const [name, target] of values) parts.push(property(name, target))
    }
    if (types.length > 0) {
      const inOrder = types.sort(([a], [b]) => (a < b ? -1 : 1))
      parts.push('## Types\n', ...inOrder.map(([name, target]) => typeEntry(name, origin(target))))
    }
    for (const [name] of [...types, ...classes]) shown.add(name)
    parts.push(...helpers(parts))
    return [`# \`${title}\`\n`, ...contents(title, functions, classes, spaces), ...parts]
  }

  /** Types of the CommonJS file beside an ES module, which its declarations re-export (scripts/declarations.js). */
  function typesBeside(symbol) {
    const file = program.getSourceFile(
      symbol.valueDeclaration?.fileName.replace(/\.mjs$/, '.js') ?? '',
    )
    const beside = file && checker.getSymbolAtLocation(file)
    return beside && beside !== symbol
      ? checker
          .getExportsOfModule(beside)
          .filter((each) => (resolved(each).flags & SymbolFlags.Value) === 0)
      : []
  }

  /** The headings of a module and what is under each. */
  function sectionsOf(title, functions) {
    if (!Object.hasOwn(SECTIONS, title)) return [['', [...functions.keys()]]]
    const sections = Object.entries(SECTIONS[title]).map(([section, names]) => [
      section,
      names.split(' '),
    ])
    const listed = sections.flatMap(([, names]) => names)
    const stray = [...functions.keys()]
      .filter((name) => !listed.includes(name))
      .concat(listed.filter((name) => !functions.has(name)))
    if (stray.length > 0) {
      throw new Error(`SECTIONS of ${__filename} and the exports differ: ${stray.join(', ')}`)
    }
    return sections
  }

  function contents(title, functions, classes, spaces) {
    if (!Object.hasOwn(SECTIONS, title)) return []
    const lines = sectionsOf(title, functions).map(
      ([section, names]) =>
        `- ${linkTo(section)}: ${names.map((name) => `\`${name}\``).join(', ')}`,
    )
    const inside = [
      ...classes.map(([name]) => `Class \`${name}\``),
      ...spaces.map(([name]) => `\`${name}\``),
    ]
    return [`${lines.join('\n')}\n- ${inside.map(linkTo).join(', ')}\n`]
  }

  const linkTo = (heading) =>
    `[${heading}](#${heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replace(/ /g, '-')})`

  /** Types that the page's signatures name and the package does not export: each once, and those that they name in turn. */
  function helpers(parts) {
    const entries = new Map()
    const texts = [...parts]
    for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
      const code = [...text.matchAll(/```ts\n([^]*?)```|^- `([^`]+)`/gm)]
        .map(([, block, line]) => (block ?? line).replace(/"[^"]*"/g, ''))
        .join('\n')
      for (const [name] of code.matchAll(/\b[A-Z]\w+\b/g)) {
        if (shown.has(name) || !typedefs().has(name)) continue
        shown.add(name)
        const entry = typeEntry(name, typedefs().get(name), true)
        entries.set(name, entry)
        texts.push(entry)
      }
    }
    if (entries.size === 0) return []
    return [
      '## Types named above\n',
      'Not exported themselves.\n',
      ...[...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry),
    ]
  }

  const shown = new Set() // types that have an entry, of all modules

  let byName = null
  /** The types that files of js/ define, by name. */
  function typedefs() {
    if (byName !== null) return byName
    byName = new Map()
    for (const file of program.getSourceFiles()) {
      const symbol =
        file.fileName.startsWith(path.join(ROOT, 'js')) && checker.getSymbolAtLocation(file)
      if (!symbol) continue
      for (const each of checker.getExportsOfModule(symbol)) {
        const target = resolved(each)
        if ((target.flags & SymbolFlags.TypeAlias) !== 0 && origin(target) === target) {
          byName.set(each.name, target)
        }
      }
    }
    return byName
  }

  /** An object of functions, as `cuda` is. */
  function isNamespace(type) {
    const properties = type.getProperties()
    return (
      (type.flags & ts.TypeFlags.Object) !== 0 &&
      properties.length > 0 &&
      properties.every(inPackage) &&
      properties.some((each) => signaturesOf(each).length > 0)
    )
  }

  function namespace(name, type) {
    const parts = [`## \`${name}\`\n`]
    const inside = []
    const forms = formsOf(new Map(type.getProperties().map((member) => [member.name, member])))
    for (const member of type.getProperties()) {
      if (forms.includes(member.name)) continue
      const its = typeOf(member)
      const [built] = its.getConstructSignatures()
      if (built !== undefined) {
        inside.push(...classPage(`${name}.${member.name}`, built.getReturnType().symbol ?? member))
      } else if (its.getCallSignatures().length > 0) {
        parts.push(callable(member.name, member, '###', `${name}.`))
      } else parts.push(property(`${name}.${member.name}`, member))
    }
    if (forms.length > 0) {
      parts.push(
        `### Asynchronous forms of \`${name}\`\n\n${forms.map((form) => `\`${name}.${form}\``).join(', ')}\n`,
      )
    }
    return [...parts, ...inside]
  }

  function typeOf(symbol) {
    return checker.getTypeOfSymbolAtLocation(
      symbol,
      symbol.valueDeclaration ?? symbol.declarations[0],
    )
  }

  function valueOf(exported) {
    return resolved(exported)
  }

  /** Functions that are read late are variables of a function's type: their words are where that one is. */
  function documented(name, target) {
    let source = target
    if (
      target.getDocumentationComment(checker).length === 0 ||
      signaturesOf(target)[0]?.getDeclaration()?.kind === ts.SyntaxKind.JSDocSignature
    ) {
      const declaration = signaturesOf(target)[0]?.getDeclaration()
      source = declaration?.symbol?.name === name ? declaration.symbol : target
    }
    return source
  }

  const signaturesOf = (symbol) => typeOf(symbol).getCallSignatures()

  function written(name, signature) {
    let text = checker.signatureToString(signature, undefined, FLAGS)
    for (const parameter of signature.parameters) text = asSaid(text, parameter)
    return shortened(`${name}${text}`)
  }

  /** Of overloads in classes the compiler's text has neither `?` nor `...`, of others the type of one element after `...`. */
  function asSaid(text, parameter) {
    const declaration = parameter.valueDeclaration ?? parameter.declarations?.[0]
    if (declaration === undefined || !ts.isJSDocParameterTag(declaration)) return text
    const { name } = parameter
    const isRest = declaration.typeExpression?.type.kind === ts.SyntaxKind.JSDocVariadicType
    const isOptional = declaration.isBracketed
    const [, before, type, after] =
      new RegExp(`^(.*?[(,] ?)(?:\\.\\.\\.)?${name}\\??: (.*)$`)
        .exec(text)
        ?.flatMap((part, i) => (i === 2 ? split(part) : [part])) ?? []
    if (before === undefined) return text
    if (!isRest) return `${before}${name}${isOptional ? '?' : ''}: ${type}${after}`
    const element = type.replace(/ \| undefined$/, '')
    const list = element.endsWith('[]')
      ? element
      : /[|&]|=>/.test(element)
        ? `(${element})[]`
        : `${element}[]`
    return `${before}...${name}: ${list}${after}`
  }

  /** The overloads that have words: each signature with those of its own. */
  function callable(name, symbol, level, prefix = '') {
    const signatures = signaturesOf(symbol)
    const heads = [...new Set(signatures.map((signature) => written(prefix + name, signature)))]
    const parts = [`${level} \`${prefix}${name}\`\n`, `\`\`\`ts\n${heads.join('\n')}\n\`\`\`\n`]
    const type = typedefOf(signatures[0])
    if (type !== undefined) {
      const constant = constantOf(symbol)
      const [own, its] = [constant.getJsDocTags(checker), tagsAsGiven(type.tags)].map(tagged)
      const both = Object.fromEntries(
        Object.keys(own).map((key) => [key, own[key].concat(its[key])]),
      )
      const words = ts.getTextOfJSDocComment(type.comment)
      parts.push(
        body(textOf(constant.getDocumentationComment(checker)), both),
        ...(words ? [`${plain(words)}\n`] : []),
      )
      return parts.join('\n')
    }
    const said = new Set() // of an overload only what those before it do not say
    for (const signature of signatures) {
      const words = textOf(signature.getDocumentationComment(checker)).trim()
      const { params, returns, throws, see, examples } = tagsOf(signature)
      const isNew = (key) => !said.has(key) && said.add(key)
      const own = {
        params: params.filter((param) => isNew(param.join(' '))),
        returns: isNew(returns) ? returns : '',
        throws: throws.filter((text) => isNew(text) && !text.startsWith('as with ')),
        see: see.filter(isNew),
        examples: examples.filter(isNew),
      }
      const text = body(isNew(words) ? words : '', own)
      if (text) parts.push(text)
    }
    return parts.join('\n')
  }

  /** The compiler gives none of an overload: they stand in the same comment. */
  function tagsOf(signature) {
    const tags = tagged(signature.getJsDocTags())
    const declaration = signature.getDeclaration()
    if (declaration?.kind !== ts.SyntaxKind.JSDocSignature) return tags
    const comment = declaration.parent.parent
    return tagged(
      tagsAsGiven([
        ...(comment.tags ?? []),
        ...(declaration.parameters ?? []),
        ...(declaration.type !== undefined ? [declaration.type] : []),
      ]),
    )
  }

  /** Tags of a comment in the form in which the compiler gives those of a symbol. */
  function tagsAsGiven(tags) {
    const text = (tag) => ts.getTextOfJSDocComment(tag.comment) ?? ''
    return tags.map((tag) => ({
      name: tag.tagName.text,
      text: [
        {
          text: ts.isJSDocParameterTag(tag)
            ? `${tag.name.getText()} ${text(tag)}`
            : ts.isJSDocThrowsTag(tag) && tag.typeExpression
              ? `${tag.typeExpression.getText()} ${text(tag)}`
              : ts.isJSDocSeeTag(tag) && tag.name
                ? `${tag.name.getText()} ${text(tag)}`
                : text(tag),
          kind: 'text',
        },
      ],
    }))
  }

  /** The constant behind a name that a file takes from another and exports. */
  function constantOf(symbol) {
    const [declaration] = symbol.declarations
    return ts.isShorthandPropertyAssignment(declaration)
      ? resolved(checker.getShorthandAssignmentValueSymbol(declaration))
      : symbol
  }

  /** The comment that a signature is written in, where that defines a type: what is said there is said of all functions of the type. */
  function typedefOf(signature) {
    const type = ts.findAncestor(signature?.getDeclaration(), ts.isJSDocTypedefTag)
    return type?.typeExpression !== undefined && ts.isTypeLiteralNode(type.typeExpression.type)
      ? type.parent
      : undefined
  }

  /** JSDoc's tags: { param: [[name, words]], returns, throws: [], see: [], example } */
  function tagged(tags) {
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

  function body(words, { params, returns, throws, see, examples }) {
    const parts = []
    if (words) parts.push(`${plain(words)}\n`)
    if (params.length > 0) {
      parts.push(
        `${params.map(([name, text]) => `- \`${name}\`: ${plain(text.replace(/\s*\n\s*/g, ' '))}`).join('\n')}\n`,
      )
    }
    if (returns) parts.push(`*Returns* ${plain(returns)}\n`)
    if (throws.length > 0) {
      parts.push(`*Throws* ${plain(throws.join(' · ').replace(/\{(\w+)\} /g, '$1 '))}\n`)
    }
    if (see.length > 0) parts.push(`*See* ${plain(see.join(', '))}\n`)
    for (const example of examples) parts.push(`\`\`\`js\n${example}\n\`\`\`\n`)
    return parts.join('\n')
  }

  function classPage(name, symbol) {
    const declaration = symbol.valueDeclaration ?? symbol.declarations[0]
    const instance = checker.getDeclaredTypeOfSymbol(symbol)
    const parts = [
      `## Class \`${name}\`\n`,
      body(textOf(symbol.getDocumentationComment(checker)), tagged(symbol.getJsDocTags(checker))),
    ]
    const statics =
      symbol.valueDeclaration === undefined
        ? []
        : checker.getPropertiesOfType(checker.getTypeOfSymbolAtLocation(symbol, declaration))
    const constructed =
      symbol.valueDeclaration === undefined
        ? []
        : checker.getTypeOfSymbolAtLocation(symbol, declaration).getConstructSignatures()
    const isPublicly =
      constructed.length > 0 &&
      !isPrivate(constructed[0].getDeclaration()) &&
      name !== 'Tensor' &&
      constructed[0].getDeclaration() !== undefined
    if (isPublicly) {
      const heads = constructed.map((signature) =>
        shortened(`new ${name}${checker.signatureToString(signature, undefined, FLAGS)}`),
      )
      parts.push(
        `\`\`\`ts\n${heads.join('\n')}\n\`\`\`\n`,
        body(
          textOf(constructed[0].getDocumentationComment(checker)),
          tagged(constructed[0].getJsDocTags()),
        ),
      )
    }
    for (const [members, prefix] of [
      [statics, `${name}.`],
      [checker.getPropertiesOfType(instance), ''],
    ]) {
      for (const member of members) {
        const [first] = member.declarations ?? []
        if (
          first === undefined ||
          member.name === 'prototype' ||
          isHidden(member, name) ||
          isPrivate(first)
        ) {
          continue
        }
        if (!first.getSourceFile().fileName.startsWith(path.join(ROOT, 'js'))) continue // Error's own
        const title = symbolName(member.name)
        if (member.flags & SymbolFlags.Method) parts.push(callable(title, member, '###', prefix))
        else parts.push(property(prefix + title, member))
      }
    }
    return parts
  }

  /** With the number that the compiler gave a symbol in this run left out. */
  const symbolName = (name) =>
    name.startsWith('__@') ? `[Symbol.${/^__@(\w+?)@/.exec(name)?.[1] ?? name}]` : name

  /** Private, of the package's own, or a symbol that only tools know. */
  function isHidden({ name }, owner) {
    const plain = name.replace(/^__(?=__)/, '').replace(/^_(?=__)/, '')
    const [, symbol] = /^__@(\w+?)@/.exec(name) ?? []
    return (
      OURS.includes(plain) ||
      OURS.includes(`${owner}.${plain}`) ||
      name.startsWith('#') ||
      name.startsWith('__#') ||
      (symbol !== undefined && !WELL_KNOWN.includes(symbol))
    )
  }

  function isPrivate(declaration) {
    return (
      declaration !== undefined &&
      ((ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Private) !== 0 ||
        ts
          .getJSDocTags(declaration)
          .some((tag) => ['private', 'internal'].includes(tag.tagName.text)))
    )
  }

  function property(name, symbol) {
    const type = shortened(checker.typeToString(typeOf(symbol), undefined, FLAGS))
    const words = textOf(symbol.getDocumentationComment(checker)).trim()
    return `### \`${name}\`\n\n\`\`\`ts\n${name}: ${type}\n\`\`\`\n\n${body(words, tagged(symbol.getJsDocTags(checker)))}`
  }

  /** Types are shown as they are written; those that compute others by their words alone, where the package does not export them or they are long. */
  function typeEntry(name, symbol, isHelper = false) {
    const type = checker.getDeclaredTypeOfSymbol(symbol)
    const words = textOf(symbol.getDocumentationComment(checker)).trim()
    const parts = [`### \`${name}\`\n`]
    if (words) {
      parts.push(
        `${plain(/^\w+:/.test(words) ? words : words[0].toUpperCase() + words.slice(1))}\n`,
      )
    }
    if (OPAQUE.includes(name)) return parts.join('\n')
    const properties =
      type.isUnion() || (type.flags & ts.TypeFlags.Object) === 0
        ? []
        : type.getProperties().filter((each) => !isHidden(each, name))
    const isRecord =
      properties.length > 0 &&
      type.getCallSignatures().length === 0 &&
      properties.every((each) => inPackage(each))
    if (isRecord) {
      for (const each of properties) {
        const isOptional = each.flags & SymbolFlags.Optional ? '?' : ''
        const text = checker.typeToString(typeOf(each), undefined, FLAGS)
        const said = textOf(each.getDocumentationComment(checker))
          .replace(/\s*\n\s*/g, ' ')
          .trim()
        parts.push(
          `- \`${shortened(`${symbolName(each.name)}${isOptional}: ${text}`)}\`${said ? `  ${plain(said)}` : ''}`,
        )
      }
      parts.push('')
    } else {
      const text = textOfType(type)
      const isComputed = /\bextends\b|\bOrList\b/.test(text) && (isHelper || text.length > 120)
      if (!words || !isComputed) {
        parts.push(`\`\`\`ts\ntype ${name}${parametersOf(symbol)} = ${text}\n\`\`\`\n`)
      }
    }
    return parts.join('\n')
  }

  /** Names by name, whatever they were written with. */
  function textOfType(type) {
    if (type.isUnion() && type.types.every((each) => each.isStringLiteral())) {
      return type.types.map((each) => checker.typeToString(each)).join(' | ')
    }
    return shortened(checker.typeToString(type, undefined, FLAGS | TypeFormatFlags.InTypeAlias))
  }

  function parametersOf(symbol) {
    const [declaration] = symbol.declarations ?? []
    const names =
      declaration === undefined
        ? []
        : ts.getEffectiveTypeParameterDeclarations(declaration).map(({ name }) => name.text)
    return names.length > 0 ? `<${names.join(', ')}>` : ''
  }

  const inPackage = (symbol) =>
    (symbol.declarations ?? []).every((declaration) =>
      declaration.getSourceFile().fileName.startsWith(path.join(ROOT, 'js')),
    )

  /** `typedef {import('./types.js').Shape} Shape` says what it is elsewhere. */
  function origin(symbol) {
    const type = symbol.declarations?.find(ts.isJSDocTypedefTag)?.typeExpression?.type
    const target =
      type !== undefined && ts.isImportTypeNode(type) && type.qualifier !== undefined
        ? checker.getSymbolAtLocation(type.qualifier)
        : undefined
    return target === undefined ? symbol : origin(resolved(target))
  }

  return { module }
}

/** A type at the start of a text, and what stands behind it. */
function split(text) {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    if ('([{<'.includes(text[i])) depth++
    else if (')]}'.includes(text[i]) || (text[i] === '>' && text[i - 1] !== '=')) depth--
    if (depth < 0 || (depth === 0 && ',;'.includes(text[i]))) {
      return [text.slice(0, i), text.slice(i)]
    }
  }
  return [text, '']
}

/** What is optional may be undefined: `?` says so. */
function withoutUndefined(text) {
  const at = text.indexOf('?: ')
  if (at < 0) return text
  const [type, rest] = split(text.slice(at + 3))
  const bare = withoutUndefined(type)
    .replace(/;? ?\| undefined ?$/, '')
    .replace(/^\((\([^()]*\) => [\w ]+)\)$/, '$1')
  return `${text.slice(0, at + 3)}${bare}${withoutUndefined(rest)}`
}

/** What is no code must not be read as markup. */
function plain(text) {
  return text
    .split('`')
    .map((part, i) => (i % 2 === 1 ? part : part.replace(/</g, '&lt;').replace(/\*/g, '\\*')))
    .join('`')
}

module.exports = { apiPage }
