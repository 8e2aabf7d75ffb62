'use strict'
// An ESLint rule for js/: a file imports from its own folder and from those below, and no files import each other in a
// circle, lazily or not. Types in comments are not imports.
const fs = require('node:fs')
const path = require('node:path')

const JS = path.join(__dirname, '..', 'js')

/** Folders, the lowest first; '' are the entry files. */
const ORDER = [
  'base',
  'runtime',
  'backend',
  'layout',
  'copy',
  'tensor',
  'math/calls',
  'math',
  'files',
  'remote',
  'interop',
  'sharing',
  'model',
  'nats',
  'inspect',
  '',
  'cli',
]

/** @param {string} file */
const folderOf = (file) => path.relative(JS, file).split(path.sep).slice(0, -1).join('/')

/** @param {string} from @param {string} name @returns {string | null} the file of js/ that is imported; null: another one */
function resolved(from, name) {
  if (!/^\.\.?(\/|$)/.test(name)) return null
  const place = path.resolve(path.dirname(from), name)
  const file = [place, `${place}.js`, path.join(place, 'index.js')].find(
    (each) => fs.existsSync(each) && fs.statSync(each).isFile(),
  )
  return file !== undefined && file.startsWith(JS + path.sep) ? file : null
}

/** What files import, as far as they were asked about. @type {Map<string, string[]>} */
const known = new Map()

/** @param {string} file */
function importsOf(file) {
  if (!known.has(file)) {
    const code = fs.readFileSync(file, 'utf8').replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '')
    const names = [...code.matchAll(/(?:\brequire\(|\bimport\(|\bfrom )'(\.[^']*)'/g)].map(
      ([, name]) => name,
    )
    known.set(
      file,
      names.flatMap((name) => resolved(file, name) ?? []),
    )
  }
  return /** @type {string[]} */ (known.get(file))
}

/** The way from one file to another; null: there is none. @param {string} from @param {string} to @returns {string[] | null} */
function wayTo(from, to, seen = new Set()) {
  if (from === to) return [from]
  if (seen.has(from)) return null
  seen.add(from)
  for (const next of importsOf(from)) {
    const way = wayTo(next, to, seen)
    if (way !== null) return [from, ...way]
  }
  return null
}

module.exports = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      upward: '{{ from }}/ may not import from {{ to }}/, which is above it.',
      unknown: '{{ from }}/ has no place among the folders of scripts/layers.js.',
      circle: 'A circle: {{ way }}.',
    },
  },
  create(context) {
    const file = context.filename
    const from = folderOf(file)
    /** @param {import('estree').Node} node @param {unknown} name */
    const look = (node, name) => {
      const to = typeof name === 'string' ? resolved(file, name) : null
      if (to === null) return
      const [above, below] = [folderOf(to), from].map((folder) => ORDER.indexOf(folder))
      if (below < 0) context.report({ node, messageId: 'unknown', data: { from } })
      else if (above > below) {
        context.report({
          node,
          messageId: 'upward',
          data: { from: `js/${from}`, to: `js/${folderOf(to)}` },
        })
      }
      const way = wayTo(to, file)
      if (way !== null) {
        context.report({
          node,
          messageId: 'circle',
          data: { way: [file, ...way].map((each) => path.relative(JS, each)).join(' → ') },
        })
      }
    }
    return {
      CallExpression(node) {
        if (node.callee.name === 'require') look(node, node.arguments[0]?.value)
      },
      ImportExpression(node) {
        look(node, node.source.value)
      },
      ImportDeclaration(node) {
        look(node, node.source.value)
      },
      ExportNamedDeclaration(node) {
        if (node.source) look(node, node.source.value)
      },
      ExportAllDeclaration(node) {
        look(node, node.source.value)
      },
    }
  },
}
