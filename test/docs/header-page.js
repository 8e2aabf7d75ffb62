'use strict'
// docs/c-api.md: src/samebytes.h as a page. What stands between two blank lines is an entry: its comment, and the declaration below.

const fs = require('node:fs')
const path = require('node:path')

const HEADER = path.join(__dirname, '..', '..', 'src', 'samebytes.h')

const INTRODUCTION = `# Reference: C

<!-- Made from src/samebytes.h by \`npm run docs\`. -->

The functions of \`samebytes.h\`. Programs link \`libsamebytes\`; addons for Node link to nothing and call the same functions through
the table that \`samebytes_napi.h\` finds for them: [writing-an-addon.md](writing-an-addon.md). \`require('samebytes/native').include\` is
the folder of the headers. \`samebytes_dlpack.h\` and \`samebytes_torch.h\` explain themselves.
`

/** Words before an explanation that stand in the comments' first column. */
const LABEL = /^(Errors|Source|Returns|Notes?|Cost|Bits|Threads|Result) +(.*)$/

function headerPage() {
  const parts = [INTRODUCTION]
  for (const chunk of chunks(fs.readFileSync(HEADER, 'utf8'))) {
    const { comment, code } = split(chunk)
    const section = /^---- (.*?) ----\n?/.exec(comment)
    if (section !== null) {
      parts.push(`## ${section[1].replace(/:.*/, '')}\n`)
      const rest = comment.slice(section[0].length).trim()
      const more = /: (.*)/.exec(section[1])
      if (more) parts.push(`${more[1][0].toUpperCase()}${more[1].slice(1)}.\n`)
      if (rest) parts.push(explained(rest))
    } else if (comment.startsWith('samebytes:')) {
      parts.push(explained(comment))
    } else if (comment !== '' && code !== '') {
      parts.push(`### \`${nameOf(code)}\`\n`, explained(comment))
    }
    if (code !== '') parts.push(`\`\`\`c\n${code}\n\`\`\`\n`)
  }
  return parts.join('\n').replace(/\n{3,}/g, '\n\n')
}

/** The header's text between blank lines outside braces, without what only the compiler needs. */
function chunks(text) {
  const list = []
  let lines = []
  let depth = 0
  let isComment = false
  for (const line of text.replace(/^#ifdef __cplusplus\n[^]*?\n#endif$/gm, '').split('\n')) {
    if (line === '' && depth === 0 && !isComment) {
      list.push(lines.join('\n'))
      lines = []
      continue
    }
    lines.push(line)
    const bare = line.replace(/\/\*.*?\*\//g, '').replace(/"[^"]*"/g, '')
    if (isComment) isComment = !bare.includes('*/')
    else if (bare.includes('/*')) isComment = true
    else depth += (bare.match(/\{/g)?.length ?? 0) - (bare.match(/\}/g)?.length ?? 0)
  }
  list.push(lines.join('\n'))
  return list
    .map((chunk) => chunk.replace(/^#ifndef SAMEBYTES_H\n#define SAMEBYTES_H$/m, '').trim())
    .filter((chunk) => chunk !== '' && !/^#(if|endif|include)|^extern "C"|^\}$/.test(chunk))
}

/** The words of a leading comment, and the declaration: of a function that is defined here, its head alone. */
function split(chunk) {
  const match = /^\/\*([^]*?)\*\/\n?/.exec(chunk)
  const comment =
    match === null
      ? ''
      : match[1]
          .split('\n')
          .map((line) => line.replace(/^ \* ?/, ''))
          .join('\n')
          .trim()
  let code = match === null ? chunk : chunk.slice(match[0].length)
  code = code
    .replace(/^(static inline [^{;]*?) \{[^]*?^\}/gm, '$1;')
    .replace(/^SB_CHECKED /gm, '')
    .replace(/^SB_API /gm, '')
  return { comment, code: code.trim() }
}

function nameOf(code) {
  const patterns = [
    /^#\s*define (\w+)/,
    /\(\*(\w+)\)\(/,
    /\b(sb_\w+)\(/,
    /^(?:typedef )?(?:enum|struct) (\w+)/,
    /(\w+);/,
  ]
  for (const pattern of patterns) {
    const match = pattern.exec(code)
    if (match !== null) return match[1]
  }
  throw new Error(`no name in ${code}`)
}

/** A comment's words as Markdown: paragraphs, lists of parameters, what a label says. */
function explained(comment) {
  const blocks = []
  for (const paragraph of comment.split(/\n\s*\n/)) {
    for (const line of paragraph.split('\n')) {
      const label = LABEL.exec(line)
      const parameter = /^ {2}(\S+(?: \S+)*) {2,}(.*)$/.exec(line)
      const isNew = blocks.length === 0 || line === paragraph.split('\n')[0]
      if (label !== null) blocks.push(`**${label[1]}** ${escaped(label[2])}`)
      else if (parameter !== null) blocks.push(`- \`${parameter[1]}\`: ${escaped(parameter[2])}`)
      else if (isNew) blocks.push(escaped(line.trim()))
      else blocks[blocks.length - 1] += ` ${escaped(line.trim())}`
    }
  }
  return blocks
    .map((block, i) =>
      block.startsWith('- ') && blocks[i + 1]?.startsWith('- ') ? block : `${block}\n`,
    )
    .join('\n')
}

/** What is no code must not be read as markup. */
function escaped(text) {
  return text
    .split('`')
    .map((part, i) => (i % 2 === 1 ? part : part.replace(/</g, '&lt;').replace(/\*/g, '\\*')))
    .join('`')
}

module.exports = { headerPage }
