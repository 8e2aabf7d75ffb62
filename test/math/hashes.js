'use strict'
// Hashes of what each function of arithmetic makes of fixed inputs: bit patterns, special values and moderate numbers of each dtype.
// hashes.json has those that every back end and instruction set gives.
//
//   node test/math/hashes.js           prints them as this back end has them
//   node test/math/hashes.js --write   writes the list anew
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { dtypes, empty, fromBytes, tensor } = require('samebytes')
const { generator } = require('../setup')
const { math, rows } = require('./load')

const LIST = path.join(__dirname, 'hashes.json')
const COUNT = 6007 // elements: no whole number of vectors, groups, tiles or blocks
const LINES = 31 // of what is reduced along columns
/** Arguments of float32 whose results stand in lists. */
const EXCEPTIONS = [
  ...fs
    .readFileSync(path.join(__dirname, '..', '..', 'src', 'math', 'functions32.h'), 'utf8')
    .matchAll(/\{(0x[0-9a-f]{8}), 0x[0-9a-f]{8}\}/g),
].map(([, bits]) => Number(bits))
const SPECIAL = [
  0,
  -0,
  1,
  -1,
  0.5,
  -0.5,
  2,
  3,
  1e30,
  -1e30,
  1e-40,
  -1e-40,
  131072,
  2 ** 24,
  NaN,
  Infinity,
  -Infinity,
]
const REDUCTIONS = [
  'sum',
  'prod',
  'mean',
  'var',
  'std',
  'min',
  'max',
  'any',
  'all',
  'countNonzero',
  'argmin',
  'argmax',
]

/** Any bit patterns, and of floats and complex numbers as many special and moderate values. */
function operand(dtype, seed) {
  const { next, pick } = generator(seed)
  const { itemsize } = empty([], dtype)
  const bytes = new Uint8Array(COUNT * itemsize).map(() => (next(9) ? next(256) : 0))
  if (dtype === 'bool') {
    return fromBytes(
      bytes.map((byte) => byte & 1),
      [COUNT],
      dtype,
    )
  }
  const given = fromBytes(bytes, [COUNT], dtype)
  const moderate = () =>
    next(3) ? (next(2 ** 30) / 2 ** 30 - 0.5) * pick([4, 40, 400]) : pick(SPECIAL)
  const value = /^complex/.test(dtype)
    ? () => [moderate(), moderate()]
    : /int/.test(dtype)
      ? () => next(12)
      : moderate
  const part = tensor(Array.from({ length: COUNT >> 1 }, value), [COUNT >> 1], {
    dtype: /^complex/.test(dtype) ? 'complex128' : 'float64',
  })
  given.slice(`:${COUNT - 1}:2`).copyFrom(part, { casting: 'unsafe' })
  if (dtype === 'float32') {
    given
      .slice(`:${EXCEPTIONS.length}`)
      .copyFrom(
        fromBytes(new Uint8Array(Uint32Array.from(EXCEPTIONS).buffer), [EXCEPTIONS.length], dtype),
      )
  }
  return given
}

const hash = ({ dtype, bytes }) =>
  `${dtype} ${createHash('sha256').update(bytes).digest('hex').slice(0, 10)}`

/** What a function makes of a dtype; undefined: it has no such numbers. */
function made(compute) {
  try {
    return hash(compute())
  } catch (error) {
    if (error.code !== 'ERR_DTYPE') throw error
    return undefined
  }
}

/** @returns {Record<string, Record<string, string>>} dtypes and hashes of results by function and dtype */
function hashes() {
  const found = {}
  const add = (name, dtype, compute) => {
    const result = made(compute)
    if (result !== undefined) (found[name] ??= {})[dtype] = result
  }
  for (const dtype of dtypes) {
    const [x, y, z] = [1, 2, 3].map((seed) => operand(dtype, seed))
    const condition = operand('bool', 4)
    for (const { js, domain, count } of rows) {
      const given = domain === 'CHOICE' ? [condition, x, y] : [x, y, z].slice(0, count)
      add(js, dtype, () => math[js](...given))
    }
    const table = x.slice(`:${COUNT - (COUNT % LINES)}`).view([LINES, -1])
    for (const name of REDUCTIONS) {
      add(`${name}, all`, dtype, () => math[name](x))
      for (const axis of [0, 1]) {
        add(`${name}, axis ${axis}`, dtype, () => math[name](table, { axis }))
      }
    }
    for (const name of ['cumulativeSum', 'cumulativeProd']) add(name, dtype, () => math[name](x))
  }
  return found
}

module.exports = { LIST, hashes }

if (require.main === module) {
  const lines = Object.entries(hashes()).map(
    ([name, found]) => `  ${JSON.stringify(name)}: ${JSON.stringify(found)}`,
  )
  const text = `{\n${lines.join(',\n')}\n}\n`
  if (process.argv[2] === '--write') fs.writeFileSync(LIST, text)
  else process.stdout.write(text)
}
