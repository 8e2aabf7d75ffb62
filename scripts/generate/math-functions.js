'use strict'
// The texts of js/math/functions.js, which has a function for each row of src/math/ops.def, of their asynchronous forms, and of the entry files.

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
  where: 'where(tensor([true, false]), tensor([1, 2]), 0).toArray() // [1, 0]',
}

/** Of functions that the array API has not, where they are from. */
const SOURCES = {
  erf: 'PyTorch special.erf',
  gelu: 'PyTorch gelu',
  relu: 'PyTorch relu',
  sigmoid: 'PyTorch sigmoid',
  silu: 'PyTorch silu',
}

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
  CHOICE: 'all dtypes.',
}

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())

/** @returns {{ name: string, js: string, count: number, domain: string, result: string, accuracy: string, text: string }[]} the rows of ops.def */
function readRows() {
  const text = fs.readFileSync(LIST, 'utf8')
  const rows = [
    ...text.matchAll(
      /^OP\((\w+),\s*(\d),\s*(\w+),\s*(\w+),\s*(\w+(?:\([\d.]+\))?),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)/gm,
    ),
  ]
  if (rows.length !== text.split(/^OP\(/m).length - 1) {
    throw new Error(`${LIST} has rows that ${__filename} cannot read`)
  }
  return rows.map(([, name, count, domain, result, accuracy, quoted]) => ({
    name,
    js: camel(name),
    count: Number(count),
    domain,
    result,
    accuracy,
    text: quoted
      .split('"')
      .filter((_, i) => i % 2 === 1)
      .join(''),
  }))
}

// ---- Types: one for all functions that take and give the same ----

const RESULT = 'E extends DtypeName = never, O extends DtypeName = never'

/** The result, of the operands' dtype. */
function resultOf({ domain, result }, dtype) {
  const asked = domain === 'CHOICE' ? dtype : `Or<E, ${dtype}>`
  if (result === 'BOOL') return "Tensor<Or<O, 'bool'>>"
  if (result === 'PART') return `Tensor<Or<O, RealOf<${asked}>>>`
  return `Tensor<Or<O, ${domain === 'FLOAT' || domain === 'DIVISION' ? `Floated<${asked}>` : `Or<E, ${dtype}>`}>>`
}

/**
 * The signatures of a row.
 *
 * @param {string} options  their type
 * @param {(result: string) => string} given  what is given of a result
 */
function signaturesOf(row, options, given) {
  const of = (templates, params, dtype) =>
    `<${templates}, ${RESULT}>(${params}, opts?: ${options}<E, O> | NameOf<E>): ${given(resultOf(row, dtype))}`
  const [one, two] = ['D extends DtypeName', 'A extends DtypeName, B extends DtypeName']
  if (row.name === 'clip') {
    const bounds = 'OfOne<D, Tensor<D>> | InputOf<D> | null'
    const bound = (dtype) => `InputOf<D> | Tensor<${dtype}> | null | undefined` // of one that is no tensor nothing is inferred, and it has D
    return [
      of(one, `x: Tensor<D>, min?: ${bounds}, max?: ${bounds}`, 'D'),
      of(
        `${one}, A extends DtypeName = D, B extends DtypeName = D`,
        `x: Tensor<D>, min: ${bound('A')}, max?: ${bound('B')}`,
        'Promote<Promote<D, A>, B>',
      ),
    ]
  }
  if (row.count === 1) return [of(one, 'x: Tensor<D>', 'D')]
  const before = row.name === 'where' ? 'condition: AnyTensor | boolean, ' : ''
  return [
    ...(row.result === 'BOOL'
      ? []
      : [of(one, `${before}x1: Tensor<D>, x2: OfOne<D, Tensor<D>>`, 'D')]),
    of(two, `${before}x1: Tensor<A>, x2: Tensor<B>`, 'Promote<A, B>'),
    of(one, `${before}x1: Tensor<D>, x2: InputOf<D>`, 'D'),
    of(one, `${before}x1: InputOf<D>, x2: Tensor<D>`, 'D'),
    ...(row.name === 'where'
      ? [of('V extends Value', `${before}x1: V, x2: V`, 'DtypeOfValue<V>')]
      : []),
  ]
}

/** Names of types, each after the first function that has it. */
class Types {
  /** By their text. @type {Map<string, string>} */
  all = new Map()

  nameOf(text, js) {
    if (!this.all.has(text)) this.all.set(text, `${js[0].toUpperCase()}${js.slice(1)}`)
    return this.all.get(text)
  }
}

const MEET = 'Dtypes are promoted as by promoteTypes.'
const SCALAR = "A scalar takes the tensor's dtype, and has to fit it."
const COMPARED =
  "A scalar is compared by value; beside floats it is rounded to the tensor's dtype first, and has to fit it."

/** What is said of a row's operands beside each other. */
function operandsOf({ name, count, domain, result }) {
  if (name === 'where') return [MEET, SCALAR, 'Two scalars have the dtype that full gives them.']
  if (name === 'clip') return [MEET]
  if (count === 1) return []
  return [
    ...(result === 'BOOL' ? [] : [MEET]),
    domain === 'EQUALITY' || domain === 'ORDER' ? COMPARED : SCALAR,
  ]
}

/** Names and words of a row's parameters. */
function paramsOf({ name, count }) {
  const opts = [
    'opts',
    "dtype: operands are converted to it first · out: gets the result, and is returned · casting: of the result to out's dtype",
  ]
  if (name === 'where') {
    return [
      ['condition', 'what is not zero counts as true'],
      ['x2', 'all three are broadcast'],
      opts,
    ]
  }
  if (name === 'clip') {
    return [
      ['min', "a scalar takes x's dtype, and has to fit it; undefined or null: there is no bound"],
      ['max', 'likewise; the three are broadcast'],
      opts,
    ]
  }
  return count === 1 ? [opts] : [['x2', 'the two are broadcast'], opts]
}

const THROWS =
  '{RangeError} ERR_SHAPE, ERR_MEMORY · {TypeError} ERR_ARGUMENT, ERR_DTYPE, ERR_CAST a scalar, or the result, does not fit · ERR_UNSUPPORTED a tensor is on a device · as copyFrom, of out'

/** A row's type, with the words that all functions of the type have. */
const typeOf = (row) =>
  [
    ...operandsOf(row).flatMap((words) => [words, '']),
    ...paramsOf(row).map(([name, words]) => `@param ${name}  ${words}`),
    `@throws ${THROWS}`,
    '@typedef {{',
    ...signaturesOf(row, 'MathOptions', (result) => result).map((text) => `  ${text}`),
    '}}',
  ].join('\n')

/** @param {string} text @returns {string} in a comment */
const comment = (text) => `/**\n${text.replace(/^(?=.)/gm, ' * ').replace(/^$/gm, ' *')}\n */`

// ---- js/math/functions.js ----

function wordsOf({ text, domain, accuracy, result }) {
  const sentence = `${text[0].toUpperCase()}${text.slice(1)}`
  const exact = accuracy === 'EXACT' ? '' : ` ${accuracyOf(accuracy)}`
  const begins = /^x\d? [^a-z]|^-/.test(text)
    ? 'Computes '
    : /^(x|e|log)\d?\b/.test(text)
      ? 'Gives '
      : ''
  return [
    begins === '' ? `${sentence}.` : `${begins}${text}.`,
    '',
    `Takes ${DOMAINS[domain]}${result === 'PART' ? ' The parts of complex numbers are floats.' : ''}${exact}`,
  ]
}

/** What the list calls each accuracy. */
function accuracyOf(accuracy) {
  const [, kind, units] = /^(ULP|CLOSE)\(([\d.]+)\)$/.exec(accuracy) ?? []
  if (units === undefined) throw new Error(`${__filename} does not know the accuracy ${accuracy}`)
  return `float32 is ${kind === 'ULP' ? 'correctly rounded' : 'at most 0.501 units in the last place off'}, float64 less than ${units}${kind === 'ULP' ? ' units in the last place off' : ''}.`
}

/** The call behind a function, and its operands. */
function callOf({ name, count }) {
  if (name === 'where') return ['choices.where(', 'condition, x1, x2']
  if (name === 'clip') return ['choices.clip(', 'x, min, max']
  return count === 1 ? [`unary(ops.${name}, `, 'x'] : [`binary(ops.${name}, `, 'x1, x2']
}

function functionOf(row, type) {
  const example = EXAMPLES[row.name]
  if (example === undefined) throw new Error(`${row.name} has no example in ${__filename}`)
  const [call, operands] = callOf(row)
  const words = [
    ...wordsOf(row),
    '',
    `@type {${type}}`,
    `@see ${SOURCES[row.name] ?? `array API ${row.name}`}`,
    '@example',
    example,
  ]
  return `${comment(words.join('\n'))}\nconst ${row.js} = /** @type {Body} */ ((${operands}, opts) => ${call}${operands}, opts))`
}

function mathFunctions() {
  const rows = readRows()
  const types = new Types()
  const functions = rows.map((row) => functionOf(row, types.nameOf(typeOf(row), row.js)))
  return `'use strict'
// Made from src/math/ops.def by \`npm run generate\`: a function for each row.

const { ops } = require('./calls/calls')
const { unary, binary } = require('./elementwise')
const choices = require('./choices')

/** @import { Tensor } from '../tensor/tensor' */
/** @import { AnyTensor, DtypeName, DtypeOfValue, Floated, InputOf, MathOptions, NameOf, OfOne, Or, Promote, RealOf, Value } from '../base/types' */

/** A function as it is written below: what it calls checks the arguments. @typedef {(...given: any[]) => any} Body */

${[...types.all].map(([text, name]) => comment(`${text} ${name}`)).join('\n\n')}

${functions.join('\n\n')}

module.exports = {
  ${rows.map(({ js }) => js).join(',\n  ')}
}
`
}

// ---- js/math/async.js ----

/** What a function of a namespace is called in a file that has others as well. */
const constantIn = (name, js) => `${name}${js[0].toUpperCase()}${js.slice(1)}`

/** An example's call, of a promise. */
function awaited(example, js) {
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
function examplesIn(file) {
  const text = fs.readFileSync(file, 'utf8')
  return Object.fromEntries(
    [...text.matchAll(/^ \* @example\n \* (.*)\n \*\/\n(?:function|const) (\w+)/gm)].map(
      ([, example, name]) => [name, example],
    ),
  )
}

/** A type of options, or of what may stand in their place, with signal. */
const withSignal = (type) =>
  type.replace(
    /^(.*?)((?: \| (?:NameOf<E>|Axes|number))*)$/,
    '$1 & { signal?: Signal | undefined }$2',
  )

/** The type of the asynchronous form of each function of a file of js/math, by its name there, from its comment. */
function laterTypesIn(file) {
  const text = fs.readFileSync(path.join(ROOT, 'js', 'math', `${file}.js`), 'utf8')
  const own = new Map(
    [...FILES, ...NAMESPACES].flatMap((each) =>
      [
        ...fs
          .readFileSync(path.join(ROOT, 'js', 'math', `${each}.js`), 'utf8')
          .matchAll(/@typedef .*?(\w+(?:Options|Name|Place))(?= |$)/gm),
      ].map(([, name]) => [name, each]),
    ),
  )
  const placed = (type) =>
    type.replace(/\b\w+(?:Options|Name|Place)\b/g, (name) =>
      own.has(name) ? `import('./${own.get(name)}').${name}` : name,
    )
  const found = {}
  for (const [, comment, name] of text.matchAll(
    /^\/\*\*\n((?: \*(?!\/).*\n)+) \*\/\n(?:function|const) (\w+)/gm,
  )) {
    const templates = [
      ...comment.matchAll(/@template \{([^}]+)\} (?:(\w+)|\[(\w+)=([\w']+)\])$/gm),
    ].map(([, of, plain, optional, value]) =>
      plain ? `${plain} extends ${of}` : `${optional} extends ${of} = ${value}`,
    )
    const params = [...comment.matchAll(/@param \{(.*)\} (?:(\w+)|\[(\w+)\])(?: |$)/gm)].map(
      ([, type, name, optional]) => ({
        name: name ?? optional,
        mark: optional ? '?' : '',
        type: type.replace('Image | Canvas', 'Image | Canvas | Frame'),
      }),
    )
    const [, result] = /@returns \{(.*)\}/.exec(comment) ?? []
    const options = params.at(-1)
    const isRest = options?.type.startsWith('...') === true // operands, then options
    if (options?.name !== 'opts' && !isRest) continue
    if (isRest) {
      Object.assign(options, {
        name: `...${options.name}`,
        type: `${options.type.slice(3).replace(/\)$/, ' & { signal?: Signal | undefined })')}[]`,
      })
    } else {
      for (const param of params) {
        if (param === options || param.name === 'axis') param.type = withSignal(param.type)
      }
    }
    const generic = templates.length === 0 ? '' : `<${templates.join(', ')}>`
    found[name] = placed(
      `${generic}(${params.map(({ name, mark, type }) => `${name}${mark}: ${type}`).join(', ')}) => Promise<${result}>`,
    )
  }
  return found
}

function mathLater() {
  const types = new Types()
  const typeOf = (row) =>
    types.nameOf(
      signaturesOf(row, 'LaterOptions', (result) => `Promise<${result}>`).join('; '),
      `${row.js}Async`,
    )
  const entry = (js, type, example, of, shown = js, constant = js) => `/**
 * ${shown} without blocking the event loop: on other threads where no operand's memory can move, else in turns of the loop.${PICTURED.includes(js) ? '\n * Takes a VideoFrame as well: pictures are copied into a tensor first, as by copyFromAsync.' : ''}
 *
 * @type {${type}}
 * @throws as ${shown}, as rejections · ERR_BUSY a tensor is in use, or is being written · the signal's reason
 * @example
 * ${awaited(example, js)}
 */
const ${constant}Async = ${PICTURED.includes(js) ? `ofPictures(offload(${of})${js === 'crop' ? '' : ', true'})` : `offload(${of})`}`
  const entries = readRows().map((row) =>
    entry(row.js, typeOf(row), EXAMPLES[row.name], `functions.${row.js}`),
  )
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
    for (const js of namesIn(name)) {
      entries.push(
        entry(
          js,
          typesOf[js],
          examples[js],
          `${name}.${js}`,
          `${name}.${js}`,
          constantIn(name, js),
        ),
      )
    }
  }
  return `'use strict'
// Made by \`npm run generate\`: each function of samebytes/math without blocking the event loop.

const { offload } = require('./offload')
const { ofPictures } = require('./pictures')
const functions = require('./functions')
${[
  ...otherNames()
    .filter(([, names]) => names.some(isDeferred))
    .map(([name]) => name),
  ...NAMESPACES,
]
  .map((name) => `const ${camel(name)} = require('./${name}')`)
  .join('\n')}

/** @import { Tensor } from '../tensor/tensor' */
/** @import { AnyTensor, Axes, Canvas, Casting, DtypeName, DtypeOfValue, Floated, Frame, Image, InputOf, LaterOptions, NameOf, OfOne, Or, Promote, RealOf, Signal, Summed, TensorData, Value } from '../base/types' */

${[...types.all].map(([text, name]) => `/** @typedef {{ ${text} }} ${name} */`).join('\n')}

${entries.join('\n\n')}

module.exports = {
  ${[
    ...laterNames(),
    ...NAMESPACES.map(
      (name) =>
        `${name}: {\n    ${namesIn(name)
          .map((each) => `${each}Async: ${constantIn(name, each)}Async`)
          .join(',\n    ')}\n  }`,
    ),
  ].join(',\n  ')}
}
`
}

/** Functions whose result's shape follows from elements, or that read elements in JavaScript: there is nothing to defer. */
const AT_ONCE = [
  'median',
  'quantile',
  'nonzero',
  'index',
  'indexPut',
  'maskedSelect',
  'maskedFill',
  'uniqueAll',
  'uniqueCounts',
  'uniqueInverse',
  'uniqueValues',
  'bincount',
  'nms',
]

/** Functions that take pictures of the web. */
const PICTURED = ['resize', 'letterbox', 'crop']
const isDeferred = (name) => !AT_ONCE.includes(name)

const laterNames = () =>
  [
    ...readRows().map(({ js }) => js),
    ...otherNames().flatMap(([, names]) =>
      names.filter(isDeferred).map((name) => name.split(':')[0]),
    ),
  ].map((js) => `${js}Async`)

// ---- The entry files ----

/** Files of js/math whose exports are public, functions.js apart. */
const FILES = [
  'reductions',
  'softmax',
  'norms',
  'quantiles',
  'indexing',
  'order',
  'images',
  'boxes',
  'fft',
  'signals',
  'matrices',
  'statistics',
  'interpolation',
  'nans',
]

/** Files of js/math that are exported as an object each. */
const NAMESPACES = ['linalg']

/** Functions that the standard has in a namespace as well. */
const ALSO = { linalg: ['matmul', 'outer', 'tensordot', 'vecdot'] }

/** @param {string} name  of a file of js/math @returns {string[]} what it exports */
const namesIn = (name) =>
  /module\.exports = \{([^}]*)\}/
    .exec(fs.readFileSync(path.join(ROOT, 'js', 'math', `${name}.js`), 'utf8'))[1]
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)

/** @returns {[string, string[]][]} files apart from functions.js, and names */
function otherNames() {
  return FILES.map((name) => [name, namesIn(name)])
}

/** @returns {[string, string[]][]} files and names */
function publicNames() {
  return [
    ['math/calls/init', ['init']],
    ['math/functions', readRows().map(({ js }) => js)],
    ...otherNames().map(([name, names]) => [`math/${name}`, names]),
    ['math/async', laterNames()],
  ]
}

const MADE = '// Made by `npm run generate`.'

/** @param {string[]} names @returns {string} lines of at most 140 characters */
function lines(names) {
  const out = ['']
  for (const name of names) {
    if (out[out.length - 1].length + name.length > 130) out.push('')
    out[out.length - 1] += `${out[out.length - 1] === '' ? '  ' : ' '}${name},`
  }
  return out.join('\n').slice(0, -1)
}

function mathEntry() {
  const files = publicNames()
  return `'use strict'
// samebytes/math: arithmetic. ${MADE.slice(3)}

${files.map(([file, names]) => `const {\n${lines(names)}\n} = require('./${file}')`).join('\n')}
${NAMESPACES.map((name) => `const ${name} = { ...require('./math/${name}'), ${ALSO[name].join(', ')}, ...require('./math/async').${name}, ${ALSO[name].map((each) => `${each}Async`).join(', ')} } // Node knows what can be imported where exports are plain names`).join('\n')}

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
${lines([...publicNames().flatMap(([, names]) => names.map((name) => name.split(':')[0])), ...NAMESPACES])}
} from './math.js'
`

module.exports = { AT_ONCE, mathFunctions, mathLater, mathEntry, mathModule, readRows }
