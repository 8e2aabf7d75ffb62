'use strict'
// Where a package's pages lead to. In the sources no page says where the repository is: a release writes that into what it packs, and
// publishes nothing whose links would lead nowhere.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

/** What Markdown and HTML lead to, after what stands before it. */
const LINK = /(\]\(\s*<?|\b(?:src|href)=["']|^ {0,3}\[[^\]\n]+\]:\s*<?)([^)\s>"']+)/gm
const CODE = /(```[^]*?```|`[^`\n]*`)/

/** @returns {string} the text with another target for each link outside of code */
function withLinks (text, change) {
  const part = text => text.replace(LINK, (all, before, target) => before + change(target))
  return text.split(CODE).map((text, i) => i % 2 === 0 ? part(text) : text).join('')
}

/** @returns {string[]} */
function linksOf (text) {
  const found = []
  withLinks(text, target => found.push(target) && target)
  return found
}

/** @returns {{ name: string, anchor: string } | null} a file of the repository; null: an address, or a place on the page itself */
function fileOf (target, page) {
  const [name, anchor] = target.split('#')
  if (name === '' || /^(\w+:|\/\/)/.test(name)) return null
  return { name: path.posix.join(path.posix.dirname(page), name), anchor: anchor === undefined ? '' : `#${anchor}` }
}

/**
 * Makes addresses of a page's relative links.
 *
 * @param {string} text
 * @param {string} page  its name in the repository
 * @param {(name: string) => string | null} addressOf  null: the link may stay
 */
function withAddresses (text, page, addressOf) {
  return withLinks(text, target => {
    const file = fileOf(target, page)
    const address = file && addressOf(file.name)
    return address === null ? target : address + file.anchor
  })
}

// ---- What a release writes ----

const fieldsOf = repository => ({ homepage: `${repository}#readme`, repository: { type: 'git', url: `git+${repository}.git` }, bugs: { url: `${repository}/issues` } })

/** @returns {string[]} what npm would pack of a folder, as it lies there */
function packedOf (folder) {
  const { status, stdout, stderr } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'], { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (status !== 0) throw new Error(`npm pack --dry-run failed:\n${stdout}${stderr}`)
  return JSON.parse(stdout)[0].files.map(file => file.path)
}

function kindOf (file) {
  if (fs.statSync(file).isDirectory()) return 'tree'
  return /\.(png|svg|jpe?g|gif|webp)$/.test(file) ? 'raw' : 'blob'
}

/** Writes a file again, unless nothing changes. @param {(text: string) => string} change */
function edit (file, change) {
  const old = fs.readFileSync(file, 'utf8')
  const text = change(old)
  if (text !== old) fs.writeFileSync(file, text)
}

/**
 * Writes into package.json, README.md and the other pages of a checkout where the repository is. README is npm's page: all its links become
 * addresses. Those of other pages do where the package lacks what they lead to. A link to what does not exist stays as it is.
 */
function addAddresses (folder, { repository, tag }) {
  edit(path.join(folder, 'package.json'), text => {
    const { private: isPrivate, license, ...rest } = JSON.parse(text)
    const { name, version, description, keywords, ...others } = rest
    return JSON.stringify({ name, version, description, keywords, ...fieldsOf(repository), license, ...others }, null, 2) + '\n'
  })
  const packed = new Set(packedOf(folder))
  for (const page of [...packed].filter(name => name.endsWith('.md'))) {
    const addressOf = name => {
      const file = path.join(folder, name)
      if (!fs.existsSync(file) || (page !== 'README.md' && packed.has(name))) return null
      return `${repository}/${kindOf(file)}/${tag}/${name}`
    }
    edit(path.join(folder, page), text => withAddresses(text, page, addressOf))
  }
}

// ---- What may be published ----

/** Fields of package.json that npm's page shows, and that let it be published. */
function complaintsOfFields (root, { repository, version }) {
  const found = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  const expected = { version, private: undefined, ...fieldsOf(repository) }
  return Object.keys(expected)
    .filter(key => JSON.stringify(found[key]) !== JSON.stringify(expected[key]))
    .map(key => `package.json has ${JSON.stringify(found[key]) ?? 'none'} as ${key}, and not ${JSON.stringify(expected[key]) ?? 'none'}`)
}

const anchorOf = heading => heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-')

function anchorsOf (text) {
  const headings = text.replace(/```[^]*?```/g, '').matchAll(/^#+ +(.*)$/gm)
  return new Set([...headings].map(([, heading]) => anchorOf(heading)))
}

/** Is there a file, and in it what an anchor names? @param {string} anchor  with its #, or empty */
function isThere (file, anchor) {
  if (!fs.existsSync(file)) return false
  return anchor === '' || !file.endsWith('.md') || anchorsOf(fs.readFileSync(file, 'utf8')).has(anchor.slice(1))
}

/** Does an address in the repository lead to what its tag has? A folder is a tree there, a picture raw. */
function isTagged (address, { repository, tag, sources }) {
  const [, kind, at, name, anchor] = /^\/(\w+)\/([^/]+)\/([^#]+)(.*)$/.exec(address.slice(repository.length)) ?? []
  if (name === undefined || at !== tag) return false
  const file = path.join(sources, name)
  return isThere(file, anchor) && kindOf(file) === kind
}

function isGood (target, page, root, options) {
  if (target.startsWith('#')) return isThere(path.join(root, page), target)
  if (target.startsWith(`${options.repository}/`)) return isTagged(target, options)
  const file = fileOf(target, page)
  if (file === null) return target.startsWith('https://')
  return page !== 'README.md' && isThere(path.join(root, file.name), file.anchor)
}

function complaintsOfPage (page, root, options) {
  const text = fs.readFileSync(path.join(root, page), 'utf8')
  return linksOf(text).filter(target => !isGood(target, page, root, options)).map(target => `${page} leads to ${target}`)
}

/**
 * What keeps a package from being published: its fields, and links that lead nowhere. On npm's page, README.md, those to files of the
 * package do so too.
 *
 * @param {string} root  the package, unpacked, or the checkout that it is made of
 * @param {{ repository: string, tag: string, version: string, sources: string }} options  sources: a folder that has what the tag has
 * @returns {string[]}
 */
function complaintsOfPackage (root, options) {
  const pages = ['README.md', 'CHANGELOG.md', ...fs.readdirSync(path.join(root, 'docs')).filter(name => name.endsWith('.md')).sort().map(name => `docs/${name}`)]
  return [...complaintsOfFields(root, options), ...pages.flatMap(page => complaintsOfPage(page, root, options))]
}

module.exports = { edit, withAddresses, addAddresses, linksOf, complaintsOfPackage }
