'use strict'
// The @example of each public function and method runs, and gives what it says behind `//`.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { inspect } = require('node:util')
const samebytes = require('samebytes')
const math = require('samebytes/math')
const { budget } = require('../../js/backend/storage')
const { ROOT, isPage, needs, restoresLimit, skipWithout } = require('../setup')

const FOLDER = path.join(ROOT, 'js')
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor

/** The comments of a file, each with the line of code that follows it and the lines of its @example. */
function commentsOf(file) {
  const text = fs.readFileSync(path.join(FOLDER, file), 'utf8')
  const found = []
  for (const match of text.matchAll(/^ *\/\*\*\n((?: *\*(?: .*)?\n)*?) *\*\/\n/gm)) {
    const lines = match[1]
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/^ *\* ?/, ''))
    const at = lines.indexOf('@example')
    const after = text.slice(match.index + match[0].length)
    found.push({
      file,
      lines,
      code: after.slice(0, after.indexOf('\n')).trim(),
      example: at < 0 ? null : lines.slice(at + 1),
    })
  }
  return found
}

// inspect.js would see the tensors of all tests that come after: memory-map.test.js runs its examples, test/math those of arithmetic.
const files = fs
  .readdirSync(FOLDER)
  .flatMap((name) =>
    name.includes('.')
      ? [name]
      : fs.readdirSync(path.join(FOLDER, name)).map((file) => `${name}/${file}`),
  )
const comments = files
  .filter((name) => name.endsWith('.js') && !/^(inspect|cli|math)\b/.test(name))
  .sort()
  .flatMap(commentsOf)
const examples = comments.filter(({ example }) => example !== null)

/** `expression // value` is checked by check(value of the expression, 'value'); other lines stay. */
function programOf(lines) {
  return lines
    .map((line) => {
      const match = /^(?!const |let |\/\/)(.+?) \/\/ (.+)$/.exec(line)
      return match === null ? line : `check(${match[1]}, ${JSON.stringify(match[2])})`
    })
    .join('\n')
}

/** A value in the words of an example: as console.log prints it, or with lists as people write them. */
function wordsOf(value) {
  const printed = inspect(value, { breakLength: Infinity, depth: 8 })
  return [printed, printed.replace(/\[ /g, '[').replace(/ \]/g, ']')]
}

async function run(lines) {
  let checked = 0
  const check = (value, words) => {
    assert.ok(wordsOf(value).includes(words), `${words} was said, ${wordsOf(value)[0]} came`)
    checked++
  }
  await new AsyncFunction('check', 'math', ...Object.keys(samebytes), programOf(lines))(
    check,
    math,
    ...Object.values(samebytes),
  )
  return checked
}

describe('examples', () => {
  restoresLimit(budget)

  it('are found, and say what they give', async () => {
    assert.ok(examples.length > 125, `${examples.length} examples`)
    let checked = 0
    for (const { file, example } of examples) {
      if (file !== 'backend/init.js' || !isPage) checked += await run(example)
    }
    assert.ok(checked > 115, `${checked} values`)
  })

  it('fail where a value is another one', async () => {
    await assert.rejects(
      run(['zeros([2]).toArray() // [0, 1]']),
      /\[0, 1\] was said, \[ 0, 0 \] came/,
    )
    await assert.rejects(run(['nothing()']), ReferenceError)
  })

  for (const { file, code, example } of examples) {
    it(`${file}: ${code.replace(/ \{.*/, '')}`, async function () {
      if (file === 'backend/init.js') skipWithout(this, 'another init')
      await run(example)
    })
  }
})

// ---- Everything public is explained ----

/** Where a function or method is defined: the comments above lines that begin with its name. */
function commentsAbove(file, start) {
  const chains = comments.filter((comment) => comment.file === file)
  const at = chains.findIndex(({ code }) => start.test(code))
  if (at < 0) return null
  // Overloads have a comment each; a comment above another comment is one of them.
  let first = at
  while (first > 0 && chains[first - 1].code === '/**') first--
  return chains.slice(first, at + 1).flatMap(({ lines }) => lines)
}

const DEFINITIONS = /^(?:async )?(?:function\*? |class )(\w+)/

/** Functions whose files are read when they are first called: { name: file }. */
const LAZY = lazyIn('index.js')
for (const [name, file] of Object.entries(lazyIn('files/files.js'))) {
  if (LAZY[name] === 'files/files.js') LAZY[name] = file
}

function lazyIn(from) {
  const text = fs.readFileSync(path.join(FOLDER, from), 'utf8')
  return Object.fromEntries(
    [
      ...text.matchAll(/const \{([^}]+)\} =\s+functionsOf\(\(\) =>\s+require\('([./\w-]+)'\)/g),
    ].flatMap(([, names, file]) =>
      names
        .match(/\w+/g)
        .map((name) => [name, `${path.posix.join(path.posix.dirname(from), file)}.js`]),
    ),
  )
}

function fileOf(name) {
  if (LAZY[name]) return LAZY[name]
  const found = comments.find(
    ({ code, file }) =>
      DEFINITIONS.exec(code)?.[1] === name &&
      (samebytes[name] === require(path.join(FOLDER, file))[name] || file === 'index.js'),
  )
  return found?.file
}

/** Public members: [title, file, start of the defining line, kind]. */
function members(Class, file, title) {
  const list = []
  for (const [name, property] of Object.entries(
    Object.getOwnPropertyDescriptors(Class.prototype),
  )) {
    if (name === 'constructor') continue
    if (property.get) {
      list.push([`${title}.${name}`, file, new RegExp(`^get ${name}\\(`), 'getter'])
    } else if (typeof property.value === 'function') {
      list.push([`${title}.${name}`, file, new RegExp(`^(?:async |\\*)?${name}\\(`), 'method'])
    }
  }
  return list
}

describe('documentation', () => {
  needs("the package's sources")
  const functions = Object.entries(samebytes)
    .filter(([, value]) => typeof value === 'function')
    .map(([name]) => name)

  for (const name of functions) {
    it(`explains ${name}`, () => {
      const file = fileOf(name)
      assert.ok(file, `${name} has no comment`)
      const isClass = /^class /.test(Function.prototype.toString.call(samebytes[name]))
      const lines = commentsAbove(file, new RegExp(`^(?:async )?(?:function |class )${name}\\b`))
      assert.match(lines[0], /^[^@].{8}/, `${name} begins with what it does`)
      const tags = isClass ? ['@example'] : ['@throws', '@example']
      if (name === 'Tensor') return
      for (const tag of tags) {
        assert.ok(
          lines.some((line) => line.startsWith(tag)),
          `${name} has ${tag}`,
        )
      }
    })
  }

  const builder = samebytes.forBlob(new Float32Array(1)).constructor
  const all = [
    ...members(samebytes.Tensor, 'tensor/tensor.js', 'Tensor'),
    ...members(samebytes.Generator, 'tensor/random.js', 'Generator'),
    ...members(samebytes.Scope, 'layout/lifetime.js', 'Scope').filter(
      ([title]) => title !== 'Scope.end',
    ),
    ...members(builder, 'tensor/blob.js', 'BlobBuilder'),
    ...(isPage ? [] : members(samebytes.SharedTensor, 'sharing/shared-tensor.js', 'SharedTensor')),
    ...(isPage ? [] : members(samebytes.SharedRing, 'sharing/shared-ring.js', 'SharedRing')),
  ]
  for (const [title, file, start, kind] of all) {
    it(`explains ${title}`, () => {
      const text = fs.readFileSync(path.join(FOLDER, file), 'utf8').split('\n')
      const at = text.findIndex((line) => start.test(line.trim()))
      assert.ok(at > 0, `${title} is not found in ${file}`)
      if (kind === 'getter' && /^ *\/\*\* .* \*\/$/.test(text[at - 1])) {
        assert.match(text[at - 1], /@returns \{/)
        return
      }
      const lines = commentsAbove(file, start)
      assert.ok(lines, `${title} has no comment`)
      assert.match(lines[0], /^[^@].{8}/)
      const isQuiet = title === 'Tensor.dispose' || title === 'Tensor.toStringTag'
      for (const tag of isQuiet ? ['@example'] : ['@throws', '@example']) {
        assert.ok(
          lines.some((line) => line.startsWith(tag)),
          `${title} has ${tag}`,
        )
      }
    })
  }
})
