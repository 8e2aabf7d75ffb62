'use strict'

// docs/bundlers.md as data: the files that it names and the commands that it shows, by section.

const fs = require('node:fs')
const path = require('node:path')

const GUIDE = path.join(__dirname, '..', '..', 'docs', 'bundlers.md')

/**
 * @returns {Record<string, { files: Record<string, string>, commands: string[], policy?: string }>} by heading; what
 * comes before the first one is under ''
 */
function readGuide() {
  const sections = {}
  for (const part of fs.readFileSync(GUIDE, 'utf8').split(/^## /m)) {
    const title = part.startsWith('# ') ? '' : part.slice(0, part.indexOf('\n'))
    sections[title] = sectionOf(part)
  }
  return sections
}

function sectionOf(text) {
  const section = { files: {}, commands: [] }
  for (const [, language, code] of text.matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
    if (language === 'sh') section.commands.push(code)
    else if (language === 'js') section.files[/^\/\/ (\S+)\n/.exec(code)[1]] = code
    else section.policy = code.trim()
  }
  return section
}

module.exports = { readGuide }
