'use strict'
// A release in one command: docs/releasing.md.
//
//   node .ci/release.js VERSION --repository URL [--remote NAME] [--dry-run]
//
// VERSION       what CHANGELOG.md has as its newest heading
// --repository  where the sources are, https://HOST/OWNER/NAME: the package's repository, homepage and bugs, and where its README leads to.
//               It is nowhere in the sources
// --remote      the remote that gets the commit and the tag; otherwise origin
// --dry-run     everything but publishing, committing, tagging and pushing. At the tag of a release: makes its tarball anew
//
// It is published when two builds in two folders gave the same bytes, and the tests of the package have passed. Until then nothing is changed.

const { spawnSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { findCompiler } = require('./cuda.js')
const { SUMS, SBOM } = require('./provenance.js')

const ROOT = path.dirname(__dirname)
const OUT = path.join('build', 'release') // of the checkout; what is left of a release
const USAGE = 'node .ci/release.js VERSION --repository URL [--remote NAME] [--dry-run]; docs/releasing.md explains it'

class Refusal extends Error {}

// ---- Commands ----

/** Runs a command to its end. @returns {string} what it wrote to stdout, without the last end of line */
function run (folder, command, ...args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (error !== undefined) throw error
  if (status !== 0) throw new Refusal(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)
  return stdout.trimEnd()
}

const git = (...args) => run(ROOT, 'git', ...args)

/** @returns {string | null}  null where git fails */
function gitOrNull (...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  return status === 0 ? stdout.trimEnd() : null
}

const say = text => console.log(`release: ${text}`)

// ---- What is asked for, and whether it can be ----

function optionsOf (args) {
  let parsed
  try {
    parsed = parseArgs({ args, allowPositionals: true, options: { repository: { type: 'string' }, remote: { type: 'string', default: 'origin' }, 'dry-run': { type: 'boolean', default: false } } })
  } catch (error) {
    throw Object.assign(new Refusal(`${error.message}\n${USAGE}`), { status: 2 })
  }
  const { positionals: [version, ...rest], values: { repository, remote, 'dry-run': isDry } } = parsed
  if (version === undefined || rest.length > 0) throw Object.assign(new Refusal(USAGE), { status: 2 })
  return { version, repository: repository?.replace(/\/+$/, '').replace(/\.git$/, ''), remote, isDry, tag: `v${version}` }
}

/** The newest version of a changelog. @returns {{ version: string, isDated: boolean, isEmpty: boolean } | null} */
function newestOf (changelog) {
  const found = /^## (\S+) ?(.*)\n([^]*?)(?=^## |(?![^]))/m.exec(changelog)
  return found && { version: found[1], isDated: /^\((unreleased|\d{4}-\d\d-\d\d)\)$/.test(found[2]), isEmpty: !/^\S/m.test(found[3]) }
}

/** @returns {string[]} all that is wrong, in sentences */
function complaintsOf ({ version, repository, remote, isDry, tag }) {
  const wrong = []
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) wrong.push(`${version} is no version such as 1.2.3 or 1.2.3-rc.1`)
  if (repository === undefined) wrong.push('no address of the repository: --repository https://HOST/OWNER/NAME. The package\'s page has its links from there')
  else if (!/^https:\/\/[\w.-]+\.\w+(\/[\w.~-]+){2,}$/.test(repository)) wrong.push(`${repository} is no address of a repository, https://HOST/OWNER/NAME`)
  const dirty = git('status', '--porcelain')
  if (dirty !== '') wrong.push(`the working tree is not clean:\n${dirty}`)
  const newest = newestOf(fs.readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8'))
  if (newest?.version !== version) wrong.push(`CHANGELOG.md has ${newest?.version ?? 'no version'} as its newest heading: what is new in ${version} stands under "## ${version} (unreleased)"`)
  else if (!newest.isDated) wrong.push(`the heading in CHANGELOG.md shall be "## ${version} (unreleased)", or have the date of the release, (2030-01-31)`)
  else if (newest.isEmpty) wrong.push(`CHANGELOG.md says nothing of ${version}`)
  const tagged = gitOrNull('rev-parse', '--verify', '--quiet', `${tag}^{commit}`)
  if (tagged !== null && !(isDry && tagged === git('rev-parse', 'HEAD'))) wrong.push(`the tag ${tag} exists${isDry ? ', elsewhere: git checkout it to make its tarball anew' : ''}`)
  if (!isDry && gitOrNull('remote', 'get-url', remote) === null) wrong.push(`there is no remote ${remote} (--remote)`)
  if (!findCompiler() && process.env.NVCC !== '0') wrong.push('no nvcc: the package would have no device code for GPUs. NVCC says where it is, NVCC=0 that there shall be none')
  return wrong
}

/** Does this CI offer provenance, npm's word on which commit was built? GitHub's and GitLab's do. */
const offersProvenance = () => Boolean(process.env.ACTIONS_ID_TOKEN_REQUEST_URL || process.env.SIGSTORE_ID_TOKEN)

/** @returns {string[]} npm's arguments */
function publishing (tarball, version) {
  return ['publish', tarball, '--access', 'public', ...(version.includes('-') ? ['--tag', 'next'] : []), ...(offersProvenance() ? ['--provenance'] : [])]
}

// ---- The commit ----

const VERSIONS = [
  ['package.json', /^( {2}"version": ")[^"]+/m],
  ['package-lock.json', /^( {2}(?: {4})?"version": ")[^"]+/gm, 2],
  ['js/base/version.js', /(version: ')[^']+/],
  ['python/samebytes/__init__.py', /^(__version__ = ')[^']+/m],
  ['src/samebytes.h', /^(#define SB_VERSION ")[^"]+/m],
  ['docs/c-api.md', /^(#define SB_VERSION ")[^"]+/m]
]

function edit (file, change) {
  const old = fs.readFileSync(file, 'utf8')
  const text = change(old)
  if (text !== old) fs.writeFileSync(file, text)
}

/** Writes the version wherever it stands, and the date into the changelog. */
function bump (folder, version, date) {
  for (const [name, pattern, count = 1] of VERSIONS) {
    edit(path.join(folder, name), text => {
      let left = count // the lock file goes on with other packages' versions
      return text.replace(pattern, (all, before) => left-- > 0 ? before + version : all)
    })
  }
  edit(path.join(folder, 'CHANGELOG.md'), text => text.replace(`## ${version} (unreleased)\n`, `## ${version} (${date})\n`))
}

/** Makes the commit of the release in a clone, where there is anything to change. @returns {string} its hash */
function makeCommit (folder, { version }) {
  run(ROOT, 'git', 'clone', '--quiet', '--no-tags', ROOT, folder)
  run(folder, 'git', 'checkout', '--quiet', '--detach', git('rev-parse', 'HEAD'))
  bump(folder, version, new Date().toISOString().slice(0, 10))
  if (run(folder, 'git', 'status', '--porcelain') !== '') {
    const who = ['user.name', 'user.email'].flatMap(key => ['-c', `${key}=${gitOrNull('config', key) ?? ''}`])
    run(folder, 'git', ...who, 'commit', '--quiet', '--all', '--message', `release: ${version}`)
  }
  return run(folder, 'git', 'rev-parse', 'HEAD')
}

// ---- Addresses ----

/**
 * Makes addresses of a page's relative links.
 *
 * @param {string} text
 * @param {string} page  its name in the repository
 * @param {(name: string) => string | null} addressOf  null: the link may stay
 */
function withAddresses (text, page, addressOf) {
  const change = part => part.replace(/\]\(([^)\s]+)\)/g, (all, target) => {
    const [name, anchor] = target.split('#')
    if (name === '' || /^\w+:/.test(name)) return all
    const address = addressOf(path.posix.join(path.posix.dirname(page), name))
    return address === null ? all : `](${address}${anchor === undefined ? '' : `#${anchor}`})`
  })
  return text.split(/(```[^]*?```|`[^`\n]*`)/).map((part, i) => i % 2 === 0 ? change(part) : part).join('')
}

/** Writes into package.json, README.md and docs/ of a folder where the repository is. The README is npm's page: all its links are addresses. */
function addAddresses (folder, { repository, tag }) {
  edit(path.join(folder, 'package.json'), text => {
    const { private: isPrivate, license, ...rest } = JSON.parse(text)
    const { name, version, description, keywords, ...others } = rest
    const where = { homepage: `${repository}#readme`, repository: { type: 'git', url: `git+${repository}.git` }, bugs: { url: `${repository}/issues` } }
    return JSON.stringify({ name, version, description, keywords, ...where, license, ...others }, null, 2) + '\n'
  })
  const [{ files }] = JSON.parse(run(folder, 'npm', 'pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'))
  const packed = new Set(files.map(file => file.path))
  const addressOf = name => {
    const isFolder = fs.statSync(path.join(folder, name)).isDirectory()
    const kind = isFolder ? 'tree' : /\.(png|svg|jpe?g|gif)$/.test(name) ? 'raw' : 'blob'
    return `${repository}/${kind}/${tag}/${name}`
  }
  for (const page of [...packed].filter(name => name.endsWith('.md'))) {
    edit(path.join(folder, page), text => withAddresses(text, page, name => page !== 'README.md' && packed.has(name) ? null : addressOf(name)))
  }
}

// ---- Building ----

/** The tarball of a commit, from a folder that has nothing else in it. */
function pack (folder, from, commit, options) {
  run(ROOT, 'git', 'clone', '--quiet', '--no-tags', '--no-checkout', from, folder)
  run(folder, 'git', 'checkout', '--quiet', '--detach', commit)
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  addAddresses(folder, options)
  run(folder, 'npm', 'pack', '--ignore-scripts=false', '--loglevel=error') // whatever a user's .npmrc says
  return path.join(folder, `samebytes-${options.version}.tgz`)
}

const hashOf = (file, algorithm, encoding) => createHash(algorithm).update(fs.readFileSync(file)).digest(encoding)

/** Builds twice. @returns {{ folder: string, tarball: string }} the first one */
function packTwice (scratch, commit, options) {
  const from = path.join(scratch, 'commit')
  const [first, second] = ['one', path.join('another-place', 'two')].map(name => {
    const folder = path.join(scratch, name)
    say(`building ${options.version}, and packing it`)
    return { folder, tarball: pack(folder, from, commit, options) }
  })
  if (hashOf(first.tarball, 'sha256', 'hex') !== hashOf(second.tarball, 'sha256', 'hex')) {
    const [a, b] = [first, second].map(({ folder }) => fs.readFileSync(path.join(folder, SUMS), 'utf8').split('\n'))
    const names = a.filter(line => !b.includes(line)).map(line => line.split('  ')[1])
    throw new Refusal(`two builds of the same sources differ in ${names.join(', ') || 'files that are no binaries'}`)
  }
  return first
}

// ---- All of it ----

function keep ({ folder, tarball }) {
  const out = path.join(ROOT, OUT)
  fs.rmSync(out, { recursive: true, force: true })
  fs.mkdirSync(out, { recursive: true })
  for (const file of [tarball, path.join(folder, SUMS), path.join(folder, SBOM)]) fs.copyFileSync(file, path.join(out, path.basename(file)))
  return path.join(OUT, path.basename(tarball))
}

function main () {
  process.umask(0o022) // modes of files are packed
  const options = optionsOf(process.argv.slice(2))
  const { version, remote, isDry, tag } = options
  const wrong = complaintsOf(options)
  if (wrong.length > 0) throw new Refusal(`refused; nothing was done:\n${wrong.map(text => `  - ${text.replaceAll('\n', '\n    ')}`).join('\n')}`)

  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-release-'))
  try {
    const head = git('rev-parse', 'HEAD')
    const branch = gitOrNull('symbolic-ref', '--short', '--quiet', 'HEAD')
    const commit = makeCommit(path.join(scratch, 'commit'), options)
    if (commit !== head && branch === null) throw new Refusal(`${version} takes a commit (version, date), and this is no branch`)
    if (commit !== head && offersProvenance()) throw new Refusal(`provenance is of the commit that the CI runs on, which lacks version or date of ${version}: commit these first`)

    const built = packTwice(scratch, commit, options)
    say('two builds gave the same bytes; testing the package')
    run(built.folder, process.execPath, 'test/pack/run.js', '--tarball', built.tarball)
    const tarball = keep(built)
    say(`${tarball} is ready; sha256 ${hashOf(tarball, 'sha256', 'hex')}, integrity sha512-${hashOf(tarball, 'sha512', 'base64')}`)

    const publish = publishing(path.resolve(ROOT, tarball), version)
    const targets = [...(commit === head ? [] : [`${commit}:refs/heads/${branch}`]), `refs/tags/${tag}`]
    if (isDry) {
      say(`a dry run: without --dry-run, npm ${publish.join(' ')}, then ${commit === head ? '' : `the commit "release: ${version}" and `}the tag ${tag}, and a push of that to ${remote}`)
      return
    }
    if (commit !== head) {
      git('fetch', '--quiet', path.join(scratch, 'commit'), 'HEAD')
      git('push', '--quiet', '--dry-run', remote, targets[0]) // what cannot be pushed should not be published
    }
    // It may ask for a one-time password.
    if (spawnSync('npm', publish, { cwd: ROOT, stdio: 'inherit' }).status !== 0) throw new Refusal('npm publish failed; nothing was committed, tagged or pushed')
    say(`published ${version}`)
    if (commit !== head) git('merge', '--quiet', '--ff-only', commit)
    git('tag', '--annotate', '--message', `samebytes ${version}`, tag, commit)
    if (gitOrNull('push', '--quiet', '--atomic', remote, ...targets) === null) throw new Refusal(`it is published, but could not be pushed: git push --atomic ${remote} ${targets.join(' ')}`)
    say(`${tag} is pushed to ${remote}`)
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true })
  }
}

module.exports = { bump, newestOf, publishing, withAddresses }

if (require.main === module) {
  try {
    main()
  } catch (error) {
    console.error(error instanceof Refusal ? `release: ${error.message}` : error)
    process.exitCode = error.status ?? 1
  }
}
