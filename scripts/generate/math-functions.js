'use strict'
// js/math/functions.js: a function for each row of src/math/ops.def, with its types, its words and an example.

const fs = require('node:fs')
const path = require('node:path')

const ROOT = path.join(__dirname, '..', '..')
const LIST = path.join(ROOT, 'src', 'math', 'ops.def')

/** An example of each function, by its name in C. Each one runs in the tests. */
const EXAMPLES = {
  abs: 'abs(tensor([-1.5, 2])).toArray() // [1.5, 2]',
  acos: 'acos(tensor([1])).toArray() // [0]',
  acosh: 'acosh(tensor([1])).toArray() // [0]',
  add: 'add(tensor([1, 2]), tensor([3, 4])).toArray() // [4, 6]',
  asin: 'asin(tensor([0])).toArray() // [0]',
  asinh: 'asinh(tensor([0])).toArray() // [0]',
  atan: 'atan(tensor([0])).toArray() // [0]',
  atan2: 'atan2(tensor([0, 0]), tensor([1, 2])).toArray() // [0, 0]',
  atanh: 'atanh(tensor([0])).toArray() // [0]',
  bitwise_and: "bitwiseAnd(tensor([6], 'uint8'), 3).toArray() // [2]",
  bitwise_invert: "bitwiseInvert(tensor([1], 'uint8')).toArray() // [254]",
  bitwise_left_shift: "bitwiseLeftShift(tensor([1, 3], 'uint8'), 2).toArray() // [4, 12]",
  bitwise_or: "bitwiseOr(tensor([6], 'uint8'), 1).toArray() // [7]",
  bitwise_right_shift: "bitwiseRightShift(tensor([-4], 'int8'), 1).toArray() // [-2]",
  bitwise_xor: "bitwiseXor(tensor([6], 'uint8'), 3).toArray() // [5]",
  ceil: 'ceil(tensor([1.2, -1.2])).toArray() // [2, -1]',
  clip: 'clip(tensor([-1, 0.5, 2]), 0, 1).toArray() // [0, 0.5, 1]',
  conj: "conj(tensor([[1, 2]], [1], 'complex64')).toArray() // [[1, -2]]",
  copysign: 'copysign(tensor([1, 2]), tensor([-3, 4])).toArray() // [-1, 2]',
  cos: 'cos(tensor([0])).toArray() // [1]',
  cosh: 'cosh(tensor([0])).toArray() // [1]',
  divide: "divide(tensor([1, 3], 'int32'), 2).toArray() // [0.5, 1.5]",
  equal: 'equal(tensor([1, 2]), 2).toArray() // [false, true]',
  erf: 'erf(tensor([0])).toArray() // [0]',
  exp: 'exp(tensor([0, 1])).toArray() // [1, 2.7182817459106445]',
  expm1: 'expm1(tensor([0])).toArray() // [0]',
  floor: 'floor(tensor([1.8, -1.2])).toArray() // [1, -2]',
  floor_divide: "floorDivide(tensor([7, -7], 'int32'), 2).toArray() // [3, -4]",
  gelu: 'gelu(tensor([0])).toArray() // [0]',
  greater: 'greater(tensor([1, 2, 3]), 2).toArray() // [false, false, true]',
  greater_equal: 'greaterEqual(tensor([1, 2, 3]), 2).toArray() // [false, true, true]',
  hypot: 'hypot(tensor([3]), tensor([4])).toArray() // [5]',
  imag: "imag(tensor([[1, 2]], [1], 'complex64')).toArray() // [2]",
  isfinite: 'isfinite(tensor([1, Infinity, NaN])).toArray() // [true, false, false]',
  isinf: 'isinf(tensor([1, Infinity, NaN])).toArray() // [false, true, false]',
  isnan: 'isnan(tensor([1, Infinity, NaN])).toArray() // [false, false, true]',
  less: 'less(tensor([1, 2, 3]), 2).toArray() // [true, false, false]',
  less_equal: 'lessEqual(tensor([1, 2, 3]), 2).toArray() // [true, true, false]',
  log: 'log(tensor([1])).toArray() // [0]',
  log10: 'log10(tensor([1, 1000])).toArray() // [0, 3]',
  log1p: 'log1p(tensor([0])).toArray() // [0]',
  log2: 'log2(tensor([1, 8])).toArray() // [0, 3]',
  logaddexp: 'logaddexp(tensor([-Infinity]), tensor([1])).toArray() // [1]',
  logical_and: 'logicalAnd(tensor([true, true]), tensor([true, false])).toArray() // [true, false]',
  logical_not: 'logicalNot(tensor([true, false])).toArray() // [false, true]',
  logical_or: 'logicalOr(tensor([true, false]), tensor([false, false])).toArray() // [true, false]',
  logical_xor: 'logicalXor(tensor([true, true]), tensor([true, false])).toArray() // [false, true]',
  maximum: 'maximum(tensor([1, NaN]), tensor([2, 0])).toArray() // [2, NaN]',
  minimum: 'minimum(tensor([1, NaN]), tensor([2, 0])).toArray() // [1, NaN]',
  multiply: 'multiply(tensor([1, 2]), 3).toArray() // [3, 6]',
  negative: 'negative(tensor([1, -2])).toArray() // [-1, 2]',
  nextafter: 'nextafter(tensor([0]), 1).toArray() // [1.401298464324817e-45]',
  not_equal: 'notEqual(tensor([1, 2]), 2).toArray() // [true, false]',
  positive: 'positive(tensor([1, -2])).toArray() // [1, -2]',
  pow: 'pow(tensor([2, 3]), 2).toArray() // [4, 9]',
  real: "real(tensor([[1, 2]], [1], 'complex64')).toArray() // [1]",
  reciprocal: 'reciprocal(tensor([2, 4])).toArray() // [0.5, 0.25]',
  relu: 'relu(tensor([-1, 2])).toArray() // [0, 2]',
  remainder: "remainder(tensor([7, -7], 'int32'), 3).toArray() // [1, 2]",
  round: 'round(tensor([0.5, 1.5, 2.4])).toArray() // [0, 2, 2]',
  sigmoid: 'sigmoid(tensor([0])).toArray() // [0.5]',
  sign: 'sign(tensor([-3, 0, 2])).toArray() // [-1, 0, 1]',
  signbit: 'signbit(tensor([-1, -0, 2])).toArray() // [true, true, false]',
  silu: 'silu(tensor([0])).toArray() // [0]',
  sin: 'sin(tensor([0])).toArray() // [0]',
  sinh: 'sinh(tensor([0])).toArray() // [0]',
  sqrt: 'sqrt(tensor([4, 9])).toArray() // [2, 3]',
  square: 'square(tensor([2, 3])).toArray() // [4, 9]',
  subtract: 'subtract(tensor([3, 4]), tensor([1, 2])).toArray() // [2, 2]',
  tan: 'tan(tensor([0])).toArray() // [0]',
  tanh: 'tanh(tensor([0])).toArray() // [0]',
  trunc: 'trunc(tensor([1.8, -1.8])).toArray() // [1, -1]',
  where: 'where(tensor([true, false]), tensor([1, 2]), 0).toArray() // [1, 0]'
}

/** Of functions that the array API has not, where they are from. */
const SOURCES = { erf: 'PyTorch special.erf', gelu: 'PyTorch gelu', relu: 'PyTorch relu', sigmoid: 'PyTorch sigmoid', silu: 'PyTorch silu' }

/** Which dtypes a domain is for. */
const DOMAINS = {
  NUMBER: 'integers, which wrap, floats and complex numbers.',
  REAL: 'integers, which wrap, and floats.',
  DIVISION: 'floats and complex numbers; integers give float32.',
  FLOAT: 'floats; integers give float32.',
  WHOLE: 'floats; integers stay as they are.',
  NEAREST: 'floats and complex numbers; integers stay as they are.',
  POWER: 'integers, which wrap, and floats.',
  TEST: 'integers, floats and complex numbers.',
  BITS: 'bool and integers.',
  INTEGER: 'integers.',
  LOGIC: 'all dtypes: what is not zero counts as true.',
  EQUALITY: 'all dtypes, compared by value.',
  ORDER: 'all dtypes but complex ones, compared by value.',
  CHOICE: 'all dtypes.'
}

const camel = name => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())

/** @returns {{ name: string, js: string, count: number, domain: string, result: string, accuracy: string, text: string }[]} the rows of ops.def */
function readRows () {
  const text = fs.readFileSync(LIST, 'utf8')
  const rows = [...text.matchAll(/^OP\((\w+),\s*(\d),\s*(\w+),\s*(\w+),\s*(\w+(?:\([\d.]+\))?),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)/gm)]
  if (rows.length !== text.split(/^OP\(/m).length - 1) throw new Error(`${LIST} has rows that ${__filename} cannot read`)
  return rows.map(([, name, count, domain, result, accuracy, quoted]) => ({
    name, js: camel(name), count: Number(count), domain, result, accuracy, text: quoted.split('"').filter((_, i) => i % 2 === 1).join('')
  }))
}

const OPTIONS = ' * @param {MathOptions<E, O> | NameOf<E>} [opts]'
const SHARED = {
  options: '  dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out\'s dtype',
  throws: ' * @throws {RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out'
}

/** The result's dtype, of the operands' one. */
function resultOf ({ domain, result }, dtype) {
  const asked = domain === 'CHOICE' ? dtype : `Or<E, ${dtype}>`
  if (result === 'BOOL') return "Tensor<Or<O, 'bool'>>"
  if (result === 'PART') return `Tensor<Or<O, RealOf<${asked}>>>`
  return `Tensor<Or<O, ${domain === 'FLOAT' || domain === 'DIVISION' ? `Floated<${asked}>` : `Or<E, ${dtype}>`}>>`
}

/**
 * One comment: templates of dtypes, [name, type, words] of parameters, the result.
 *
 * @param {string[]} words  lines
 */
function comment (words, templates, params, returns, rest, isOverload = true) {
  return ['/**', ...words.map(line => line === '' ? ' *' : ` * ${line}`), ' *',
    ...templates.map(name => ` * @template {DtypeName} ${name}`),
    ' * @template {DtypeName} [E=never]', ' * @template {DtypeName} [O=never]',
    ...isOverload ? [' * @overload'] : [],
    ...params.map(([name, type, more = '']) => ` * @param {${type}} ${name}${more && `  ${more}`}`),
    `${OPTIONS}${rest.length > 1 ? SHARED.options : ''}`,
    ` * @returns {${returns}}`,
    ...rest, ' */'].join('\n')
}

function wordsOf ({ text, domain, accuracy, result }) {
  const sentence = `${text[0].toUpperCase()}${text.slice(1)}`
  const exact = accuracy === 'EXACT' ? '' : ` ${accuracyOf(accuracy)}`
  const begins = /^x\d? [^a-z]|^-/.test(text) ? 'Computes ' : /^(x|e|log)\d?\b/.test(text) ? 'Gives ' : ''
  return [begins === '' ? `${sentence}.` : `${begins}${text}.`, '', `Takes ${DOMAINS[domain]}${result === 'PART' ? ' The parts of complex numbers are floats.' : ''}${exact}`]
}

/** What the list calls each accuracy. */
function accuracyOf (accuracy) {
  const [, kind, units] = /^(ULP|CLOSE)\(([\d.]+)\)$/.exec(accuracy) ?? []
  if (units === undefined) throw new Error(`${__filename} does not know the accuracy ${accuracy}`)
  return `float32 is ${kind === 'ULP' ? 'correctly rounded' : 'at most 0.501 units in the last place off'}, float64 less than ${units}${kind === 'ULP' ? ' units in the last place off' : ''}.`
}

const body = (js, names, call) => [
  '/**', ...names.map(name => ` * @param {any} ${name}`), ' * @param {any} [opts]', ' * @returns {any}', ' */',
  `function ${js} (${names.join(', ')}, opts) {`, `  return ${call}`, '}'].join('\n')

function unary (row, last) {
  const one = resultOf(row, 'D')
  return [comment(wordsOf(row), ['D'], [['x', 'Tensor<D>']], one, last), body(row.js, ['x'], `unary(ops.${row.name}, x, opts)`)]
}

const MEET = ['Dtypes are promoted as by promoteTypes.']
const SCALAR = ['A scalar takes the tensor\'s dtype, and has to fit it.']
const COMPARED = ['A scalar is compared by value; beside floats it is rounded to the tensor\'s dtype first, and has to fit it.']
const AGAIN = [' * @throws as with one dtype']

function binary (row, last) {
  const isBool = row.result === 'BOOL'
  const beside = row.domain === 'EQUALITY' || row.domain === 'ORDER' ? COMPARED : SCALAR
  return [
    ...isBool ? [] : [comment(wordsOf(row), ['D'], [['x1', 'Tensor<D>'], ['x2', 'OfOne<D, Tensor<D>>', 'the two are broadcast']], resultOf(row, 'D'), last)],
    comment(isBool ? wordsOf(row) : MEET, ['A', 'B'], [['x1', 'Tensor<A>'], ['x2', 'Tensor<B>', ...isBool ? ['the two are broadcast'] : []]], resultOf(row, 'Promote<A, B>'), isBool ? last : AGAIN),
    comment(beside, ['D'], [['x1', 'Tensor<D>'], ['x2', 'InputOf<D>']], resultOf(row, 'D'), AGAIN),
    comment(beside, ['D'], [['x1', 'InputOf<D>'], ['x2', 'Tensor<D>']], resultOf(row, 'D'), AGAIN),
    body(row.js, ['x1', 'x2'], `binary(ops.${row.name}, x1, x2, opts)`)
  ]
}

/** What bounds of clip are, and the dtype in which they meet x: of a bound that is no tensor nothing is inferred, and it has D. */
const boundOf = name => `Tensor<${name}> | InputOf<D> | null | undefined`
const CLIPPED = 'Promote<Promote<D, A>, B>'

/** Those whose arguments are their own. */
const OWN = {
  where (row, last) {
    const condition = ['condition', 'AnyTensor | boolean']
    const told = [...condition, 'what is not zero counts as true']
    return [
      comment(wordsOf(row), ['D'], [told, ['x1', 'Tensor<D>'], ['x2', 'OfOne<D, Tensor<D>>', 'all three are broadcast']], resultOf(row, 'D'), last),
      comment(MEET, ['A', 'B'], [condition, ['x1', 'Tensor<A>'], ['x2', 'Tensor<B>']], resultOf(row, 'Promote<A, B>'), AGAIN),
      comment(SCALAR, ['D'], [condition, ['x1', 'Tensor<D>'], ['x2', 'InputOf<D>']], resultOf(row, 'D'), AGAIN),
      comment(SCALAR, ['D'], [condition, ['x1', 'InputOf<D>'], ['x2', 'Tensor<D>']], resultOf(row, 'D'), AGAIN),
      comment(['Two scalars have the dtype that full gives them.'], ['V'], [condition, ['x1', 'V'], ['x2', 'V']], 'Tensor<Or<O, Or<E, DtypeOfValue<V>>>>', AGAIN).replace('{DtypeName} V', '{Value} V'),
      body('where', ['condition', 'x1', 'x2'], 'choices.where(condition, x1, x2, opts)')
    ]
  },
  clip (row, last) {
    const bound = 'a scalar takes x\'s dtype, and has to fit it; undefined or null: there is no bound'
    return [
      comment(wordsOf(row), ['D'], [['x', 'Tensor<D>'], ['[min]', 'OfOne<D, Tensor<D>> | InputOf<D> | null', bound], ['[max]', 'OfOne<D, Tensor<D>> | InputOf<D> | null', 'likewise; the three are broadcast']], resultOf(row, 'D'), last),
      comment(MEET, ['D', '[A=D]', '[B=D]'], [['x', 'Tensor<D>'], ['min', boundOf('A')], ['[max]', boundOf('B')]], resultOf(row, CLIPPED), AGAIN),
      body('clip', ['x', 'min', 'max'], 'choices.clip(x, min, max, opts)')
    ]
  }
}

function functionOf (row) {
  const example = EXAMPLES[row.name]
  if (example === undefined) throw new Error(`${row.name} has no example in ${__filename}`)
  const last = [SHARED.throws, ` * @see ${SOURCES[row.name] ?? `array API ${row.name}`}`, ' * @example', ` * ${example}`]
  const parts = OWN[row.name]?.(row, last) ?? (row.count === 1 ? unary(row, last) : binary(row, last))
  return parts.join('\n')
}

function mathFunctions () {
  const rows = readRows()
  return `'use strict'
// Made from src/math/ops.def by \`npm run generate\`: a function for each row.

const { ops } = require('../backend/math')
const { unary, binary } = require('./elementwise')
const choices = require('./choices')

/** @import { Tensor } from '../tensor/tensor' */
/** @import { AnyTensor, DtypeName, DtypeOfValue, Floated, InputOf, MathOptions, NameOf, OfOne, Or, Promote, RealOf, Value } from '../base/types' */

${rows.map(functionOf).join('\n\n')}

module.exports = {
  ${rows.map(({ js }) => js).join(',\n  ')}
}
`
}

// ---- Their asynchronous forms ----

const GENERICS = '<D extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>'
const PAIRS = '<A extends DtypeName, B extends DtypeName, E extends DtypeName = never, O extends DtypeName = never>'
const LAST = 'opts?: LaterOptions<E, O> | NameOf<E>'

/** The signatures of a row's asynchronous form. */
function laterType (row) {
  const promise = dtype => `Promise<${resultOf(row, dtype)}>`
  const one = (params, given = GENERICS, dtype = 'D') => `${given}(${params}, ${LAST}): ${promise(dtype)}`
  const pair = (before = '') => [
    ...row.result === 'BOOL' ? [] : [one(`${before}x1: Tensor<D>, x2: OfOne<D, Tensor<D>>`)],
    one(`${before}x1: Tensor<A>, x2: Tensor<B>`, PAIRS, 'Promote<A, B>'),
    one(`${before}x1: Tensor<D>, x2: InputOf<D>`), one(`${before}x1: InputOf<D>, x2: Tensor<D>`)]
  if (row.name === 'where') {
    const values = one('condition: AnyTensor | boolean, x1: V, x2: V', GENERICS.replace('D extends DtypeName', 'V extends Value'), 'DtypeOfValue<V>')
    return [...pair('condition: AnyTensor | boolean, '), values]
  }
  if (row.name === 'clip') {
    const bounds = type => `x: Tensor<D>, min?: ${type}, max?: ${type}`
    const three = GENERICS.replace('DtypeName, ', 'DtypeName, A extends DtypeName = D, B extends DtypeName = D, ')
    return [one(bounds('OfOne<D, Tensor<D>> | InputOf<D> | null')), one(`x: Tensor<D>, min: ${boundOf('A')}, max?: ${boundOf('B')}`, three, CLIPPED)]
  }
  return row.count === 1 ? [one('x: Tensor<D>')] : pair()
}

/** What a function of a namespace is called in a file that has others as well. */
const constantIn = (name, js) => `${name}${js[0].toUpperCase()}${js.slice(1)}`

/** An example's call, of a promise. */
function awaited (example, js) {
  const name = js === 'var' ? 'variance' : js
  const start = example.indexOf(`${name}(`)
  let end = start + name.length
  const before = example.slice(0, start)
  const [space] = /\w+\.$/.exec(before) ?? ['']
  let depth = 0
  do {
    depth += { '(': 1, ')': -1 }[example[end]] ?? 0
    end++
  } while (depth > 0)
  return `${before.slice(0, before.length - space.length)}(await ${space}${js}Async${example.slice(start + name.length, end)})${example.slice(end)}`
}

/** The examples of a file's functions, by name. */
function examplesIn (file) {
  const text = fs.readFileSync(file, 'utf8')
  return Object.fromEntries([...text.matchAll(/^ \* @example\n \* (.*)\n \*\/\nfunction (\w+)/gm)].map(([, example, name]) => [name, example]))
}

/** The type of the asynchronous form of each function of a file of js/math, by its name there, from its comment. */
function laterTypesIn (file) {
  const text = fs.readFileSync(path.join(ROOT, 'js', 'math', `${file}.js`), 'utf8')
  const own = new Map([...FILES, ...NAMESPACES].flatMap(each => [...fs.readFileSync(path.join(ROOT, 'js', 'math', `${each}.js`), 'utf8').matchAll(/@typedef .*?(\w+(?:Options|Name|Place))(?= |$)/gm)].map(([, name]) => [name, each])))
  const placed = type => type.replace(/\b\w+(?:Options|Name|Place)\b/g, name => own.has(name) ? `import('./${own.get(name)}').${name}` : name)
  const found = {}
  for (const [, comment, name] of text.matchAll(/^\/\*\*\n((?: \*(?!\/).*\n)+) \*\/\nfunction (\w+)/gm)) {
    const templates = [...comment.matchAll(/@template \{([^}]+)\} (?:(\w+)|\[(\w+)=([\w']+)\])$/gm)].map(([, of, plain, optional, value]) => plain ? `${plain} extends ${of}` : `${optional} extends ${of} = ${value}`)
    const params = [...comment.matchAll(/@param \{(.*)\} (?:(\w+)|\[(\w+)\])(?: |$)/gm)].map(([, type, name, optional]) => ({ name: name ?? optional, mark: optional ? '?' : '', type: type.replace('Image | Canvas', 'Image | Canvas | Frame') }))
    const [, result] = /@returns \{(.*)\}/.exec(comment) ?? []
    const options = params.at(-1)
    const isRest = options?.type.startsWith('...') === true // operands, then options
    if (options?.name !== 'opts' && !isRest) continue
    const [given, asked] = options.type.split(' | NameOf<E>')
    if (isRest) Object.assign(options, { name: `...${options.name}`, type: `${given.slice(3).replace(/\)$/, ' & { signal?: Signal | undefined })')}[]` })
    else options.type = `${given} & { signal?: Signal | undefined }${asked === undefined ? '' : ' | NameOf<E>'}`
    const generic = templates.length === 0 ? '' : `<${templates.join(', ')}>`
    found[name] = placed(`${generic}(${params.map(({ name, mark, type }) => `${name}${mark}: ${type}`).join(', ')}) => Promise<${result}>`)
  }
  return found
}

function mathLater () {
  const types = new Map() // by their text
  const typeOf = row => {
    const text = laterType(row).join('; ')
    if (!types.has(text)) types.set(text, `${row.js[0].toUpperCase()}${row.js.slice(1)}Async`)
    return types.get(text)
  }
  const entry = (js, type, example, of, shown = js, constant = js) => `/**
 * ${shown} without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.${PICTURED.includes(js) ? '\n * Takes a VideoFrame as well: pictures are copied into a tensor first, as by copyFromAsync.' : ''}
 *
 * @type {${type}}
 * @throws as ${shown}, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * ${awaited(example, js)}
 */
const ${constant}Async = ${PICTURED.includes(js) ? `ofPictures(later(${of})${js === 'crop' ? '' : ', true'})` : `later(${of})`}`
  const entries = readRows().map(row => entry(row.js, typeOf(row), EXAMPLES[row.name], `functions.${row.js}`))
  for (const [name, names] of otherNames()) {
    const examples = examplesIn(path.join(ROOT, 'js', 'math', `${name}.js`))
    const typesOf = laterTypesIn(name)
    for (const each of names.filter(isDeferred)) {
      const [js, local = each] = each.split(': ')
      entries.push(entry(js, typesOf[local], examples[local], `${camel(name)}.${js}`))
    }
  }
  for (const name of NAMESPACES) {
    const examples = examplesIn(path.join(ROOT, 'js', 'math', `${name}.js`))
    const typesOf = laterTypesIn(name)
    for (const js of namesIn(name)) entries.push(entry(js, typesOf[js], examples[js], `${name}.${js}`, `${name}.${js}`, constantIn(name, js)))
  }
  return `'use strict'
// Made by \`npm run generate\`: each function of samebytes/math without blocking the event loop.

const { later } = require('./later')
const { ofPictures } = require('./pictures')
const functions = require('./functions')
${[...otherNames().filter(([, names]) => names.some(isDeferred)).map(([name]) => name), ...NAMESPACES].map(name => `const ${camel(name)} = require('./${name}')`).join('\n')}

/** @import { Tensor } from '../tensor/tensor' */
/** @import { AnyTensor, Canvas, Casting, DtypeName, DtypeOfValue, Floated, Frame, Image, InputOf, LaterOptions, NameOf, OfOne, Or, Promote, RealOf, Signal, Summed, TensorData, Value } from '../base/types' */

${[...types].map(([text, name]) => `/** @typedef {{ ${text} }} ${name} */`).join('\n')}

${entries.join('\n\n')}

module.exports = {
  ${[...laterNames(), ...NAMESPACES.map(name => `${name}: {\n    ${namesIn(name).map(each => `${each}Async: ${constantIn(name, each)}Async`).join(',\n    ')}\n  }`)].join(',\n  ')}
}
`
}

/** Functions whose result's shape follows from elements, or that read elements in JavaScript: there is nothing to defer. */
const AT_ONCE = ['median', 'quantile', 'nonzero', 'index', 'indexPut', 'maskedSelect', 'maskedFill', 'uniqueAll', 'uniqueCounts', 'uniqueInverse',
  'uniqueValues', 'bincount', 'nms']

/** Functions that take pictures of the web. */
const PICTURED = ['resize', 'letterbox', 'crop']
const isDeferred = name => !AT_ONCE.includes(name)

const laterNames = () => [...readRows().map(({ js }) => js), ...otherNames().flatMap(([, names]) => names.filter(isDeferred).map(name => name.split(':')[0]))].map(js => `${js}Async`)

// ---- The entry files ----

/** Files of js/math whose exports are public, functions.js apart. */
const FILES = ['reductions', 'softmax', 'norms', 'quantiles', 'indexing', 'order', 'images', 'boxes', 'fft', 'signals', 'matrices', 'statistics', 'interpolation', 'nans']

/** Files of js/math that are exported as an object each. */
const NAMESPACES = ['linalg']

/** Functions that the standard has in a namespace as well. */
const ALSO = { linalg: ['matmul', 'outer', 'tensordot', 'vecdot'] }

/** @param {string} name  of a file of js/math @returns {string[]} what it exports */
const namesIn = name => /module\.exports = \{([^}]*)\}/.exec(fs.readFileSync(path.join(ROOT, 'js', 'math', `${name}.js`), 'utf8'))[1].split(',').map(each => each.trim()).filter(Boolean)

/** @returns {[string, string[]][]} files apart from functions.js, and names */
function otherNames () {
  return FILES.map(name => [name, namesIn(name)])
}

/** @returns {[string, string[]][]} files and names */
function publicNames () {
  return [['backend/init-math', ['init']], ['math/functions', readRows().map(({ js }) => js)], ...otherNames().map(([name, names]) => [`math/${name}`, names]), ['math/async', laterNames()]]
}

const MADE = '// Made by `npm run generate`.'

/** @param {string[]} names @returns {string} lines of at most 140 characters */
function lines (names) {
  const out = ['']
  for (const name of names) {
    if (out[out.length - 1].length + name.length > 130) out.push('')
    out[out.length - 1] += `${out[out.length - 1] === '' ? '  ' : ' '}${name},`
  }
  return out.join('\n').slice(0, -1)
}

function mathEntry () {
  const files = publicNames()
  return `'use strict'
// samebytes/math: arithmetic. ${MADE.slice(3)}

${files.map(([file, names]) => `const {\n${lines(names)}\n} = require('./${file}')`).join('\n')}
${NAMESPACES.map(name => `const ${name} = { ...require('./math/${name}'), ${ALSO[name].join(', ')}, ...require('./math/async').${name}, ${ALSO[name].map(each => `${each}Async`).join(', ')} } // Node knows what can be imported where exports are plain names`).join('\n')}

/** @template {import('./base/types').DtypeName} [D=any] @template {import('./base/types').DtypeName} [O=any] @typedef {import('./base/types').MathOptions<D, O>} MathOptions */
/** @typedef {import('./math/images').LetterboxPlace} LetterboxPlace */
/** @template D @typedef {import('./math/fft').SpectrumName<D>} SpectrumName */
/** @template D @typedef {import('./math/fft').SignalName<D>} SignalName */

module.exports = {
  ${[...files.flatMap(([, names]) => names), ...NAMESPACES].join(',\n  ')}
}

// One is \`var\`, which no function can be called, and bundlers rename all.
/** @param {Record<string, any>} functions */
function nameAll (functions) {
  for (const [name, fn] of Object.entries(functions)) {
    if (typeof fn === 'object') nameAll(fn)
    else Object.defineProperty(fn, 'name', { value: name, configurable: true })
  }
}
nameAll(module.exports)
`
}

const mathModule = () => `// The same functions for import as for require. ${MADE.slice(3)}
export {
${lines([...publicNames().flatMap(([, names]) => names.map(name => name.split(':')[0])), ...NAMESPACES])}
} from './math.js'
`

module.exports = { AT_ONCE, mathFunctions, mathLater, mathEntry, mathModule, readRows }
