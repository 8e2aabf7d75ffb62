'use strict'
// What tsc writes, for all compilers and programs:
// - Types that one file has from another are re-exported, where JSDoc can only declare them again: a program's own declarations
//   (`declaration: true`) can name a type only by the one that was declared first.
// - An entry that exports `var` is written as a namespace, which `import` knows only as a whole, and exports it twice.
// - A constant whose type is a list of signatures (those of js/math/functions.js) is written as a function: where a program writes arguments, editors
//   show the words of the signature, and none of the constant's. Each has the words of the constant and of its type.
// - Typed arrays are no generics before TypeScript 5.7. One over an ArrayBuffer is what slice gives: all versions read that.
//
//   node scripts/declarations.js FOLDER    changes the declarations there

const fs = require('node:fs')
const path = require('node:path')

const ENTRIES = ['index', 'module', 'inspect', 'math', 'nats', 'onnxruntime']

const TYPE = /^(export )?type (\w+)(?:<.*>)? = import\("([^"]+)"\)\.(\w+)(?:<[\w, ]+>)?;$/
const VALUE = /^export const (\w+): typeof import\("([^"]+)"\)\.\1;$/
const TYPEDEF = /^\/\*\* (?:@template .*)?@typedef .*\*\/$/
const ARRAY =
  /\b((?:Big)?(?:Uint|Int|Float)\d+(?:Clamped)?Array)<(ArrayBuffer|ArrayBufferLike|any)>/g

const LINES = '(?: \\*(?!/).*\\n)*' // of a comment
const LIST = new RegExp(
  `^/\\*\\*\\n(${LINES}?) \\* @typedef \\{\\{\\n((?: \\* {3}<.*\\n)+) \\* \\}\\} (\\w+)\\n \\*/\\n`,
  'gm',
)
const LISTED = new RegExp(
  `^(/\\*\\*\\n${LINES}?) \\* @type \\{(\\w+)\\}\\n(${LINES} \\*/\\n)export const (\\w+): \\2;\\n`,
  'gm',
)
const ALIAS = new RegExp(
  `^(?:/\\*\\*\\n${LINES} \\*/\\n)?export type (\\w+) = \\{\\n(?: {4}<.*\\n)+\\};\\n`,
  'gm',
)

/**
 * @param {string} text  of a .d.ts
 * @returns {string} with functions in place of constants whose type is a list of signatures in a comment of many lines
 */
function overloaded(text) {
  const types = new Map()
  return text
    .replace(LIST, (_, words, signatures, type) => {
      types.set(type, { words, signatures: signatures.match(/<.*/g) })
      return ''
    })
    .replace(LISTED, (whole, before, type, after, name) => {
      const { words, signatures } = types.get(type) ?? {}
      return (
        signatures
          ?.map((signature) => `${before}${words}${after}export function ${name}${signature};\n`)
          .join('') ?? whole
      )
    })
    .replace(ALIAS, (whole, type) => (types.has(type) ? '' : whole))
}

/**
 * @param {string} text  of a .d.ts
 * @returns {string} with imports and exports in place of constants and types that are other files'
 */
function reexported(text) {
  const lines = text.split('\n').filter((line) => !TYPEDEF.test(line))
  const values = new Set(lines.map((line) => VALUE.exec(line)?.[1]))
  return lines
    .map((line) => {
      const [, value, file] = VALUE.exec(line) ?? []
      if (value !== undefined) return `export { ${value} } from "${file}";`
      const [, isExported, name, from, type] = TYPE.exec(line) ?? []
      if (name === undefined) return line
      if (values.has(name)) return '' // a class, which is a value as well
      const imported = `import type { ${type === name ? name : `${type} as ${name}`} } from "${from}";`
      return isExported === undefined ? imported : `${imported}\nexport type { ${name} };` // else a list exports it
    })
    .join('\n')
}

/**
 * @param {string} text  of a .d.ts or .d.mts
 * @returns {string} with `export { variance as var }` among its own exports
 */
function unfolded(text) {
  return text
    .replace(/^declare namespace _exports \{\n((?: .*\n)*)\}\n/gm, (_, lines) =>
      lines.replace(/^ +/gm, ''),
    )
    .replace('export = _exports;\n', '')
    .replace('export { _var as var };\n', '')
}

/** @param {string} folder */
function rewrite(folder) {
  for (const file of fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((each) => each.endsWith('.d.ts'))) {
    const at = path.join(folder, file)
    fs.writeFileSync(
      at,
      reexported(overloaded(fs.readFileSync(at, 'utf8'))).replace(ARRAY, (_, name, buffer) =>
        buffer === 'ArrayBuffer' ? `ReturnType<${name}["slice"]>` : name,
      ),
    )
  }
  for (const name of ENTRIES) {
    const [required, imported] = ['d.ts', 'd.mts'].map((kind) =>
      path.join(folder, `${name}.${kind}`),
    )
    fs.writeFileSync(required, unfolded(fs.readFileSync(required, 'utf8')))
    fs.writeFileSync(
      imported,
      `${unfolded(fs.readFileSync(imported, 'utf8'))}export type * from "./${name}.js";\n`,
    )
  }
}

rewrite(process.argv[2])
