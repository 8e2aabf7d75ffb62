'use strict'
// Programs of other systems, from npm packages, which are kept in node_modules/.cache.
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const CACHE = path.join(__dirname, '..', 'node_modules', '.cache')
const HOW = '--no-save --no-package-lock --ignore-scripts --force --no-audit --no-fund'.split(' ')

/** @param {string} name  of the package @param {string} version @param {string} file  in it @returns {string} its path */
function fromNpm(name, version, file) {
  const place = path.join(CACHE, `${path.basename(name)}-${version}`)
  const found = path.join(place, 'node_modules', name, file)
  if (fs.existsSync(found)) return found
  fs.mkdirSync(place, { recursive: true })
  const command = ['install', '--prefix', place, ...HOW, `${name}@${version}`]
  const { status, stderr } = spawnSync('npm', command, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${command.join(' ')} failed (${status})\n${stderr}`)
  return found
}

module.exports = { fromNpm }
