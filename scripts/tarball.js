'use strict'
// What is in a tarball that npm packed, and what of two is not the same: for releases, and for who builds a published package again.
//
//   node scripts/tarball.js ONE.tgz OTHER.tgz    names the files that differ; nothing where all bytes and modes are the same
//
// Tarballs whose files are the same may differ themselves, where other versions of npm packed them.

const { execFileSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const hashOf = (file, algorithm = 'sha256', encoding = 'hex') =>
  createHash(algorithm).update(fs.readFileSync(file)).digest(encoding)

/** Gives a folder with what is in a tarball to a function, for as long as it runs. */
function unpacked(tarball, use) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-tarball-'))
  try {
    execFileSync('tar', ['-xzpf', path.resolve(tarball), '-C', scratch])
    return use(path.join(scratch, 'package'))
  } finally {
    fs.rmSync(scratch, { recursive: true })
  }
}

/** @returns {Map<string, { bytes: number, mode: number, sha256: string }>} by name */
function filesOf(tarball) {
  return unpacked(tarball, (folder) => {
    const names = fs
      .readdirSync(folder, { recursive: true })
      .filter((name) => !fs.statSync(path.join(folder, name)).isDirectory())
      .sort()
    return new Map(
      names.map((name) => {
        const file = path.join(folder, name)
        const { size, mode } = fs.statSync(file)
        return [name, { bytes: size, mode: mode & 0o7777, sha256: hashOf(file) }]
      }),
    )
  })
}

/** @returns {string[]} what of two tarballs is not the same, in sentences */
function differencesOf(one, other) {
  const [a, b] = [filesOf(one), filesOf(other)]
  const names = [...new Set([...a.keys(), ...b.keys()])].sort()
  return names.flatMap((name) => {
    if (!b.has(name)) return [`${name} is in the first alone`]
    if (!a.has(name)) return [`${name} is in the second alone`]
    if (a.get(name).sha256 !== b.get(name).sha256) return [`${name} has other bytes`]
    return a.get(name).mode === b.get(name).mode ? [] : [`${name} has another mode`]
  })
}

function main(args) {
  if (args.length !== 2) throw new Error('node scripts/tarball.js ONE.tgz OTHER.tgz')
  const found = differencesOf(...args)
  for (const line of found) console.log(line)
  if (found.length > 0) process.exitCode = 1
}

module.exports = { hashOf, unpacked, filesOf, differencesOf }

if (require.main === module) main(process.argv.slice(2))
