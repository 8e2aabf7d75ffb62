'use strict'

const fs = require('node:fs')
const path = require('node:path')

const ROOT = path.join(__dirname, '..', '..')

/**
 * Writes files whose text has changed. With `--check` it names them instead, and the process fails.
 *
 * @param {Record<string, () => string>} files  what makes the text of each, in the order of writing
 * @param {string} command  writes them
 */
function write(files, command) {
  const isCheck = process.argv.includes('--check')
  for (const [file, make] of Object.entries(files)) {
    const place = path.join(ROOT, file)
    const text = make()
    const there = fs.existsSync(place) ? fs.readFileSync(place, 'utf8') : ''
    if (text === there) continue
    if (isCheck) {
      console.error(`${file} is stale; ${command} writes it anew`)
      process.exitCode = 1
    } else {
      fs.writeFileSync(place, text)
      console.log(`${file}: ${text.split('\n').length} lines`)
    }
  }
}

module.exports = { write }
