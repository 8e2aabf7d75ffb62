'use strict'
// The code blocks of README.md and docs/, and what directives.txt says of each:
//
//   == docs/page.md · Heading above the block        the first block below it; `· 2` behind it: the second
//   -- before                  code that runs before the block, and is no part of it: up to the next line of these
//   -- after                   code that runs after it: what it should have done
//   -- names frames camera     of shared memory: each run has others, so that runs do not meet
//   -- continues               goes on where the page's last block of this language ends
//   -- browser                 runs in browsers: test/browser/docs.js
//   -- not run: REASON         the reason is one of REASONS
//
// `console.log(…) // words`, or words in comments on the lines below, are what is printed, in this order.

const fs = require('node:fs')
const path = require('node:path')

const ROOT = path.join(__dirname, '..', '..')

/** Pages whose blocks run elsewhere. */
const ELSEWHERE = {
  'docs/bundlers.md': 'test/bundlers/run.js',
  'docs/api.md': 'test/api/examples.test.js',
  'docs/c-api.md': 'test/native/docs-blocks.test.js', // declarations: the header is compiled with every C block
}

const REASONS = [
  /^needs (a GPU|nats-py|three servers|WebGPU)\b/,
  /^a picture of bytes\b/,
  /^what is printed\b/,
  /^a part of (test|examples)\/\S+/,
]

const LANGUAGES = [
  'js',
  'mjs',
  'cjs',
  'ts',
  'py',
  'python',
  'c',
  'cpp',
  'sh',
  'json',
  'html',
  'gyp',
  'text',
]

/** @returns {string[]} relative to the root */
function pages() {
  return [
    'README.md',
    ...fs
      .readdirSync(path.join(ROOT, 'docs'))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => `docs/${name}`),
  ]
}

/** By place. @type {Map<string, Said>} */
const directives = directivesOf(fs.readFileSync(path.join(__dirname, 'directives.txt'), 'utf8'))

/**
 * @typedef {{ before: string, after: string, continues: boolean, browser: boolean, names: string[], reason: string | null }} Said
 * @typedef {{ page: string, line: number, language: string, code: string } & Said} Block
 * @param {string} page
 * @returns {Block[]}
 */
function blocksOf(page) {
  return parse(fs.readFileSync(path.join(ROOT, page), 'utf8'), page, directives)
}

/** @param {string} text  of a page @param {string} page @param {Map<string, Said>} said @returns {Block[]} */
function parse(text, page, said) {
  const lines = text.split('\n')
  const blocks = []
  const unused = new Set([...said.keys()].filter((place) => place.startsWith(`${page} · `)))
  let heading = ''
  let count = 0
  for (let i = 0; i < lines.length; i++) {
    const title = /^#+ (.*)$/.exec(lines[i])
    const fence = /^( *)```(.*)$/.exec(lines[i])
    if (title !== null) {
      heading = title[1]
      count = 0
    } else if (fence !== null) {
      const from = i++
      while (lines[i].trim() !== '```') i++
      const code =
        lines
          .slice(from + 1, i)
          .map((line) => line.slice(fence[1].length))
          .join('\n') + '\n'
      const place = `${page} · ${heading}${++count > 1 ? ` · ${count}` : ''}`
      unused.delete(place)
      blocks.push({
        page,
        line: from + 1,
        language: fence[2].trim(),
        code,
        ...(said.get(place) ?? fresh()),
      })
    }
  }
  if (unused.size > 0) throw new Error(`no such block: ${[...unused].join(', ')}`)
  return blocks
}

/** @param {string} text  of directives.txt */
function directivesOf(text) {
  const all = new Map()
  for (const section of text.split(/^== /m).slice(1)) {
    const [head, ...list] = section.split(/^-- /m)
    const said = fresh()
    for (const words of list) note(said, words.trimEnd(), head.trim())
    all.set(head.trim(), said)
  }
  return all
}

/** @returns {Said} */
function fresh() {
  return { before: '', after: '', continues: false, browser: false, names: [], reason: null }
}

function note(said, words, where) {
  const [, kind, rest] =
    /^(\S+?):?(?:\s([^]*))?$/.exec(words.replace(/^not run: /, 'not-run: ')) ?? []
  if (kind === 'before' || kind === 'after') said[kind] += `${rest}\n`
  else if (kind === 'names') said.names.push(...rest.split(' '))
  else if (kind === 'continues' && rest === undefined) said.continues = true
  else if (kind === 'browser' && rest === undefined) said.browser = true
  else if (kind === 'not-run' && rest) said.reason = rest
  else throw new Error(`${where}: unknown: ${words}`)
}

/**
 * Blocks of one language as programs: those that continue others are one with them.
 *
 * @param {Block[]} blocks
 * @returns {{ page: string, line: number, source: string, printed: string[] }[]}
 */
function programs(blocks) {
  const list = []
  for (const block of blocks) {
    const source = `${block.before}${block.code}`
    if (!block.continues) {
      list.push({
        page: block.page,
        line: block.line,
        source: '',
        after: '',
        names: [],
        printed: [],
      })
    }
    const last = list.at(-1)
    if (last === undefined) throw new Error(`${block.page}:${block.line} continues nothing`)
    last.source += source
    last.after += block.after
    last.names.push(...block.names)
    last.printed.push(...printedOf(block.code))
  }
  return list.map(({ after, names, ...rest }) => ({
    ...rest,
    source: names.reduce(renamed, rest.source + after),
  }))
}

const renamed = (source, name) =>
  source.replace(
    new RegExp(`(?<=['"/])${name}(?=['".-])`, 'g'),
    `samebytes-docs-${process.pid}-${name}`,
  )

/** What a block says that it prints. */
function printedOf(code) {
  const printed = []
  let isBelow = false // a call that prints: comments on the lines below are words, too
  for (const line of code.split('\n')) {
    const call = /^\s*(?:console\.log|print)\(.*\)(?:\s*(?:\/\/|#) (.+))?$/.exec(line)
    const below = /^\s*(?:\/\/|#) (.*)$/.exec(line)
    if (call !== null) {
      if (call[1] !== undefined) printed.push(call[1])
      isBelow = call[1] === undefined
    } else if (below !== null && isBelow) printed.push(below[1])
    else isBelow = false
  }
  return printed.map((words) => words.trim()).filter((words) => words !== '')
}

/** The first words that were not printed in their turn, or null. */
function missing(printed, output) {
  const plain = (text) => text.replace(/\s+/g, ' ')
  const text = plain(output)
  let at = 0
  for (const words of printed) {
    const found = text.indexOf(plain(words), at)
    if (found < 0) return words
    at = found + plain(words).length
  }
  return null
}

module.exports = {
  ELSEWHERE,
  LANGUAGES,
  REASONS,
  ROOT,
  blocksOf,
  directivesOf,
  missing,
  pages,
  parse,
  printedOf,
  programs,
}
