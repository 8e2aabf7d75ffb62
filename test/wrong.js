'use strict'
// Wrong values for every kind of argument of test/signatures.js: [label, value], or [label, make] where each use
// needs a new one. What a label says is allowed where a row allows it.
const { Tensor, fromBlob, zeros } = require('samebytes')
const { anotherCopy } = require('./setup')

const NOTHING = [
  ['undefined', undefined],
  ['null', null],
]
const OTHER = [
  ['a string', 'x'],
  ['an empty string', ''],
  ['true', true],
  ['a bigint', 1n],
  ['a symbol', Symbol('s')],
  ['a function', () => 1],
  ['a class', Map],
]
const OBJECTS = [
  ['an object', {}],
  ['an object without a prototype', Object.create(null)],
  ['a Date', new Date(0)],
  ['a Map', new Map()],
  ['an error', new Error('x')],
  ['a promise', Promise.resolve(1)],
  ['valueOf', { valueOf: () => 1 }],
  ['toString', { toString: () => '1' }],
  ['toPrimitive', { [Symbol.toPrimitive]: () => 1 }],
  ['Number', Object(1)],
]
const LISTS = [
  ['[]', []],
  ['[1]', [1]],
  ['a nested list', [[1]]],
  ['a typed array', Float32Array.of(1)],
  ['an ArrayBuffer', new ArrayBuffer(8)],
]
const NO_INTEGERS = [
  ['NaN', NaN],
  ['1.5', 1.5],
  ['-0.5', -0.5],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
  ['2^53', 2 ** 53],
  ['-2^53', -(2 ** 53)],
  ['1e308', 1e308],
]

/** Lists whose length or entries are not what they seem. */
const LIES = [2 ** 53, 2 ** 32 - 1, -1, NaN, 1.5, '2'].map((length) => [
  `a Proxy of length ${String(length)}`,
  new Proxy([1, 2], { get: (list, key) => (key === 'length' ? length : Reflect.get(list, key)) }),
])

/** In place of one entry of a list that is right, each of what is no integer. */
function spoiled(right) {
  const list = [...right]
  if (list.length === 0) list.push(0)
  const wrong = [...NOTHING, ...OTHER, ...OBJECTS, ...NO_INTEGERS, ['a list', [1]]]
  const each = wrong.map(([label, value]) => [
    `an entry that is ${label}`,
    [...list.slice(0, -1), value],
  ])
  const hole = [...list]
  delete hole[list.length - 1]
  const sparse = []
  sparse.length = 2 ** 32 - 1
  return [
    ...each,
    ['a hole', hole],
    ['four billion holes', sparse],
    ['65 entries', new Array(65).fill(1)],
    ...LIES,
  ]
}

const disposed = () => {
  const t = zeros([2, 3])
  t.dispose()
  return t
}

const detached = () => {
  const source = new Float32Array(6)
  const t = fromBlob(source, [2, 3])
  structuredClone(source, { transfer: [source.buffer] })
  return t
}

/** A second copy of the package, which knows nothing of the first: on WASM, where copies share nothing. */
let other
function otherPackage() {
  const backend = process.env.SAMEBYTES_BACKEND
  process.env.SAMEBYTES_BACKEND = 'wasm'
  try {
    return (other ??= anotherCopy())
  } finally {
    if (backend === undefined) delete process.env.SAMEBYTES_BACKEND
    else process.env.SAMEBYTES_BACKEND = backend
  }
}

/** What looks like a tensor and is none. */
const FAKES = [
  ['a tensor of another copy of the package', () => otherPackage().zeros([2, 3])],
  [
    'an object with the prototype of tensors',
    () => Object.create(Tensor.prototype),
    ['ERR_ARGUMENT', 'a plain TypeError'],
  ],
  ['the prototype of tensors', () => Tensor.prototype, ['ERR_ARGUMENT', 'a plain TypeError']],
  [
    'a Proxy of a tensor',
    () => new Proxy(zeros([2, 3]), {}),
    ['ERR_ARGUMENT', 'a plain TypeError'],
  ],
  [
    "an object with a tensor's properties",
    () => ({
      shape: [2, 3],
      dtype: 'float32',
      data: new Float32Array(6),
      strides: [3, 1],
      size: 6,
    }),
  ],
]
const GONE = [
  ['a disposed tensor', disposed, ['ERR_DISPOSED']],
  ['a tensor over a detached buffer', detached, ['ERR_DETACHED']],
]

const made = (list) => list.map(([label, make, codes]) => [label, { make }, codes])
const plain = [...NOTHING, ...OTHER, ...OBJECTS]
const noNumbers = [...plain, ...LISTS]

const INTEGER = ['ERR_ARGUMENT', 'ERR_BOUNDS', 'ERR_SHAPE']
const ragged = [[1, 2], [3]]
let deep = [1]
for (let i = 0; i < 70; i++) deep = [deep]

/** kind → [codes that may come, wrong values (of the argument)] */
const KINDS = {
  integer: [INTEGER, () => [...noNumbers, ...NO_INTEGERS]],
  axis: [INTEGER, () => [...noNumbers, ...NO_INTEGERS]],
  index: [INTEGER, () => [...noNumbers, ...NO_INTEGERS]],
  integral: [
    ['ERR_ARGUMENT', 'ERR_BOUNDS'],
    () => [...noNumbers.filter(([label]) => label !== 'a bigint'), ...NO_INTEGERS],
  ],
  number: [['ERR_ARGUMENT', 'ERR_BOUNDS', 'ERR_SHAPE'], () => noNumbers],
  limit: [['ERR_ARGUMENT', 'ERR_BOUNDS'], () => [...noNumbers, ['NaN', NaN], ['-1', -1]]],
  integers: [
    INTEGER,
    ({ right }) => [
      ...plain,
      ['a Set', new Set([1])],
      ['a nested list', [[1]]],
      ...spoiled(right),
      ...NO_INTEGERS,
    ],
  ],
  counts: [
    [...INTEGER, 'ERR_DTYPE', 'ERR_MEMORY'],
    ({ right }) => [
      ...plain.filter(([label]) => label !== 'a Map'),
      ['a nested list', [[1]]],
      ...spoiled(right).filter(
        ([label]) => !label.startsWith('65') && label !== 'an entry that is a bigint',
      ),
    ],
  ],
  shape: [
    ['ERR_ARGUMENT', 'ERR_SHAPE', 'ERR_BOUNDS', 'ERR_MEMORY'],
    ({ right, inferred }) => [
      ...plain,
      ['a Set', new Set([1])],
      ['a nested list', [[1]]],
      ...spoiled(right),
      ...NO_INTEGERS,
      ...(inferred
        ? [['[-2, 3]', [-2, 3]]]
        : [
            ['[-1, 3]', [-1, 3]],
            ['-1', -1],
          ]),
      ['2^53 squared', [2 ** 53 - 1, 2 ** 53 - 1]],
      ['2^64 elements', [2 ** 32, 2 ** 32]],
    ],
  ],
  dtype: [
    ['ERR_DTYPE', 'ERR_ARGUMENT'],
    () => [
      ...noNumbers,
      ['a number', 1],
      ['a name of Object.prototype', 'constructor'],
      ['__proto__', '__proto__'],
      ['float', 'float'],
      ['Float32', 'Float32'],
    ],
  ],
  word: [
    ['ERR_ARGUMENT', 'ERR_DEVICE', 'ERR_UNSUPPORTED'],
    () => [...noNumbers, ['a number', 1], ['constructor', 'constructor']],
  ],
  kind: [
    ['ERR_ARGUMENT'],
    () => [
      ...noNumbers.filter(([label]) => label !== '[]'),
      ['a number', 1],
      ['constructor', 'constructor'],
      ['__proto__', '__proto__'],
      ['a list with another word', ['bool', 'floating']],
    ],
  ],
  boolean: [
    ['ERR_ARGUMENT'],
    () => [...noNumbers.filter(([label]) => label !== 'true'), ['0', 0], ['1', 1]],
  ],
  function: [
    ['ERR_ARGUMENT'],
    () => [
      ...noNumbers.filter(([label]) => label !== 'a function' && label !== 'a class'),
      ['1', 1],
    ],
  ],
  tensor: [
    ['ERR_ARGUMENT', 'ERR_DTYPE'],
    () => [...noNumbers, ['a number', 1], ...made(FAKES), ...made(GONE)],
  ],
  tensors: [
    ['ERR_ARGUMENT'],
    () => [
      ...noNumbers,
      ['a number', 1],
      ...made(FAKES),
      ...made(GONE),
      ...made(
        [...FAKES, ...GONE].map(([label, make, codes]) => [
          `a list with ${label}`,
          () => [zeros([2, 3]), make()],
          codes,
        ]),
      ),
      ['a list with null', [null]],
      ...LIES,
    ],
  ],
  out: [
    ['ERR_ARGUMENT'],
    () => [
      ['null', null],
      ...OTHER,
      ...OBJECTS,
      ...LISTS,
      ['a number', 1],
      ...made(FAKES),
      ...made([
        ...GONE,
        [
          'a read-only tensor',
          () => fromBlob(new Float32Array(6), [2, 3], { readOnly: true }),
          ['ERR_READ_ONLY', 'ERR_SHAPE'],
        ],
        ['a tensor of another shape', () => zeros([7, 7]), ['ERR_SHAPE']],
        [
          'a tensor whose elements share bytes',
          () => zeros([1]).expand(2, 3),
          ['ERR_OVERLAP', 'ERR_SHAPE'],
        ],
      ]),
    ],
  ],
  generator: [
    ['ERR_ARGUMENT'],
    () => [
      ['null', null],
      ...OTHER,
      ...OBJECTS,
      ...LISTS,
      ['a number', 1],
      ...made([['a generator of another copy', () => new (otherPackage().Generator)(1)]]),
    ],
  ],
  signal: [
    ['ERR_ARGUMENT'],
    () => [['null', null], ...OTHER, ...OBJECTS, ...LISTS, ['a number', 1]],
  ],
  factor: [
    ['ERR_ARGUMENT', 'ERR_SHAPE'],
    () => [
      ...plain.filter(([label]) => label !== 'a Map'),
      ['an entry that is a string', ['1', '2']],
      ['a nested list', [[1], [2]]],
      ['a hole', [1, undefined]],
    ],
  ],
  value: [
    ['ERR_ARGUMENT', 'ERR_CAST'],
    () => [
      ...NOTHING,
      ...OTHER.filter(([label]) => label !== 'true' && label !== 'a bigint'),
      ...OBJECTS,
      ...LISTS,
    ],
  ],
  values: [
    ['ERR_ARGUMENT', 'ERR_SHAPE', 'ERR_CAST', 'ERR_DTYPE', 'ERR_MEMORY'],
    () => [
      ...NOTHING,
      ...OTHER.filter(([label]) => label !== 'true' && label !== 'a bigint'),
      ...OBJECTS.filter(([label]) => label !== 'a Map'),
      ['an ArrayBuffer', new ArrayBuffer(8)],
      ['a ragged list', ragged],
      ['a list 70 deep', deep],
      ['a hole', [1, , 2]], // eslint-disable-line no-sparse-arrays
      ['an entry that is a symbol', [1, Symbol('s')]],
      ['an entry that is null', [null]],
      ['a list of strings', ['1', '2']],
      ...LIES,
      ...made(FAKES),
      ...made(GONE),
    ],
  ],
  bytes: [
    [
      'ERR_ARGUMENT',
      'ERR_SHAPE',
      'ERR_BOUNDS',
      'ERR_DETACHED',
      'ERR_FORMAT',
      'ERR_DTYPE',
      'ERR_UNSUPPORTED',
      'ERR_ALIGNMENT',
    ],
    () => [
      ...NOTHING,
      ...OTHER.filter(([label]) => label !== 'a bigint'), // an address is the caller's to vouch for
      ...OBJECTS,
      ['a list', [1, 2, 3]],
      ['a tensor', zeros([6])],
      ['too few', new Float32Array(1)],
      ...made([
        [
          'a detached array',
          () => {
            const source = new Float32Array(6)
            structuredClone(source, { transfer: [source.buffer] })
            return source
          },
          ['ERR_DETACHED'],
        ],
      ]),
    ],
  ],
  tensorsByName: [
    ['ERR_ARGUMENT', 'ERR_DISPOSED', 'ERR_DETACHED'],
    () => [
      ['undefined', undefined],
      ['null', null],
      ['a number', 1],
      ['a string', 'x'],
      ['a tensor', zeros([1])],
      ['a record of numbers', { a: 1 }],
      ['a list of numbers', [1]],
      ['entries without a name', [[1, zeros([1])]]],
      ['half a surrogate', [['\ud800', zeros([1])]]],
      [
        'a name twice',
        [
          ['a', zeros([1])],
          ['a', zeros([1])],
        ],
      ],
    ],
  ],
  textsByName: [
    ['ERR_ARGUMENT'],
    () => [
      ['null', null],
      ['a number', 1],
      ['a list', ['x']],
      ['a record of numbers', { a: 1 }],
    ],
  ],
  slice: [
    ['ERR_ARGUMENT', 'ERR_BOUNDS', 'ERR_UNSUPPORTED'],
    () => [
      ['undefined', undefined],
      ...OTHER,
      ['a Date', new Date(0)],
      ['a Map', new Map()],
      ...LISTS,
      ...NO_INTEGERS,
      ['1:2:3:4', '1:2:3:4'],
      ['::0', '::0'],
      ['1e3:', '1e3:'],
      ['a range from a string', { start: '1' }],
      ['a range to NaN', { stop: NaN }],
      ['a range by 0', { step: 0 }],
      ['a range by a bigint', { step: 1n }],
      ['2^53:', '9007199254740992:'],
      ['far', '99999999999999999999999:'],
    ],
  ],
  object: [
    ['ERR_ARGUMENT'],
    () => [
      ...NOTHING,
      ...OTHER.filter(([label]) => !/function|class/.test(label)),
      ['a number', 1],
    ],
  ],
  token: [
    ['ERR_ARGUMENT'],
    () => [
      ...NOTHING,
      ...OTHER,
      ...OBJECTS,
      ...LISTS,
      ['a number', 1],
      ...made(FAKES),
      ['a tensor', zeros([2])],
    ],
  ],
  descriptor: [
    ['ERR_ARGUMENT'],
    () => [
      ...NOTHING,
      ...OTHER,
      ...OBJECTS,
      ...LISTS,
      ['a number', 1],
      ...made(FAKES),
      ['a tensor', zeros([2])],
      ['JSON of a number', '1'],
      ['JSON of null', 'null'],
    ],
  ],
  deviceOrNumber: [
    ['ERR_ARGUMENT', 'ERR_BOUNDS', 'ERR_DEVICE'],
    () => [
      ...noNumbers,
      ...NO_INTEGERS,
      ['-1', -1],
      ['64', 64],
      ['cpu', 'cpu'],
      ['cuda:64', 'cuda:64'],
      ['CUDA:0', 'CUDA:0'],
    ],
  ],
  capsule: [
    ['ERR_ARGUMENT', 'ERR_UNSUPPORTED'],
    () => [...noNumbers, ['a number', 1], ...made(FAKES.slice(1)), ...made(GONE)],
  ],
  disposable: [
    ['ERR_ARGUMENT'],
    () => [...NOTHING, ...OTHER, ['an object', {}], ['a number', 1], ['a list with null', [null]]],
  ],
  options: [
    ['ERR_ARGUMENT'],
    () => [
      ['null', null],
      ['a number', 7],
      ['true', true],
      ['a bigint', 1n],
      ['a symbol', Symbol('s')],
      ['a function', () => 1],
      ['[]', []],
      ['a list', [1, 2]],
    ],
  ],
  any: [[], () => []],
}

/**
 * @param {object} argument  a row's
 * @param {unknown} right  its valid value
 * @returns {{ label: string, make: () => unknown, codes: string[] }[]}
 */
function wrongFor(argument, right) {
  const { kind, optional, allow = [], outside = [], orOptions = false, codes: more = [] } = argument
  const [codes, list] = KINDS[kind]
  const isAllowed = ([label, value]) =>
    allow.includes(label) ||
    (optional && value === undefined) ||
    (orOptions && typeof value === 'object' && !Array.isArray(value))
  const about =
    kind === 'integers' || kind === 'shape'
      ? { right: Array.isArray(right) ? right : [right], inferred: argument.inferred }
      : { right: Array.isArray(right) ? right : [1] }
  const wrong = list(about).filter((each) => !isAllowed(each))
  const all = [...wrong, ...outside.map((n) => [String(n), n])]
  return all.map(([label, value, own]) => ({
    label,
    make:
      value !== null &&
      typeof value === 'object' &&
      typeof value.make === 'function' &&
      Object.keys(value).length === 1
        ? value.make
        : () => value,
    codes: own ?? [...codes, ...more, ...(orOptions ? ['ERR_DTYPE'] : [])],
  }))
}

module.exports = { wrongFor, disposed, detached, otherPackage }
