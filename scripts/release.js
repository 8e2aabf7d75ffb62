'use strict'
// A release in one command: docs/releasing.md.
//
//   node scripts/release.js VERSION [--remote NAME] [--dry-run]
//
// VERSION    what CHANGELOG.md has as its newest heading
// --remote   the remote that gets the commit and the tag; otherwise origin
// --dry-run  everything but publishing, committing, tagging and pushing. At the tag of a release: makes its tarball anew
//
// It is published when two builds in two folders gave the same bytes, and the tests of the package have passed. Until then nothing is changed.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { findCompiler } = require('./cuda.js')
const { SUMS, SBOM } = require('./provenance.js')
const { sizesOfPackage } = require('./sizes.js')
const { hashOf, unpacked, filesOf, differencesOf } = require('./tarball.js')

const ROOT = path.dirname(__dirname)
const OUT = path.join('build', 'release') // of the checkout; what is left of a release
const WHEELS = path.join('build', 'wheels') // of a clone
const USAGE =
  'node scripts/release.js VERSION [--remote NAME] [--dry-run]; docs/releasing.md explains it'

class Refusal extends Error {}

// ---- Commands ----

/** Runs a command to its end. @returns {string} what it wrote to stdout, without the last end of line */
function run(folder, command, ...args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (error !== undefined) throw error
  if (status !== 0) throw new Refusal(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)
  return stdout.trimEnd()
}

const listed = (lines) => lines.map((text) => `  - ${text.replaceAll('\n', '\n    ')}`).join('\n')

const git = (...args) => run(ROOT, 'git', ...args)

/** @returns {string | null}  null where git fails */
function gitOrNull(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  return status === 0 ? stdout.trimEnd() : null
}

/** @param {(text: string) => string} change */
function edit(file, change) {
  fs.writeFileSync(file, change(fs.readFileSync(file, 'utf8')))
}

const say = (text) => console.log(`release: ${text}`)

// ---- What is asked for, and whether it can be ----

function optionsOf(args) {
  let parsed
  try {
    parsed = parseArgs({
      args,
      allowPositionals: true,
      options: {
        remote: { type: 'string', default: 'origin' },
        'dry-run': { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw Object.assign(new Refusal(`${error.message}\n${USAGE}`), { status: 2 })
  }
  const {
    positionals: [version, ...rest],
    values: { remote, 'dry-run': isDry },
  } = parsed
  if (version === undefined || rest.length > 0) {
    throw Object.assign(new Refusal(USAGE), { status: 2 })
  }
  return { version, remote, isDry, tag: `v${version}` }
}

/** The newest version of a changelog. @returns {{ version: string, isDated: boolean, text: string } | null}  text: what stands under its heading */
function newestOf(changelog) {
  const found = /^## (\S+) ?(.*)\n([^]*?)(?=^## |(?![^]))/m.exec(changelog)
  return (
    found && {
      version: found[1],
      isDated: /^\((unreleased|\d{4}-\d\d-\d\d)\)$/.test(found[2]),
      text: found[3].trim(),
    }
  )
}

/** @returns {string[]} all that is wrong, in sentences */
function complaintsOf({ version, remote, isDry, tag }) {
  const wrong = []
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) {
    wrong.push(`${version} is no version such as 1.2.3 or 1.2.3-rc.1`)
  }
  const { repository } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
  if (!/^git\+https:\/\/\S+\.git$/.test(repository?.url)) {
    wrong.push(
      `package.json has ${JSON.stringify(repository) ?? 'none'} as repository; "url": "git+https://HOST/OWNER/NAME.git" was expected: npm's page has the links of README.md from there`,
    )
  }
  const dirty = git('status', '--porcelain')
  if (dirty !== '') wrong.push(`the working tree is not clean:\n${dirty}`)
  const newest = newestOf(fs.readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8'))
  if (newest?.version !== version) {
    wrong.push(
      `CHANGELOG.md has ${newest?.version ?? 'no version'} as its newest heading: what is new in ${version} stands under "## ${version} (unreleased)"`,
    )
  } else if (!newest.isDated) {
    wrong.push(
      `the heading in CHANGELOG.md shall be "## ${version} (unreleased)", or have the date of the release, (2030-01-31)`,
    )
  } else if (newest.text === '') wrong.push(`CHANGELOG.md says nothing of ${version}`)
  const tagged = gitOrNull('rev-parse', '--verify', '--quiet', `${tag}^{commit}`)
  if (tagged !== null && !(isDry && tagged === git('rev-parse', 'HEAD'))) {
    wrong.push(
      `the tag ${tag} exists${isDry ? ', elsewhere: git checkout it to make its tarball anew' : ''}`,
    )
  }
  if (!isDry && gitOrNull('remote', 'get-url', remote) === null) {
    wrong.push(`there is no remote ${remote} (--remote)`)
  }
  if (!findCompiler() && process.env.NVCC !== '0') {
    wrong.push(
      'no nvcc: the package would have no device code for GPUs. NVCC says where it is, NVCC=0 that there shall be none',
    )
  }
  return wrong
}

/** Does this CI offer provenance, npm's word on which commit was built? GitHub's and GitLab's do. */
const offersProvenance = () =>
  Boolean(process.env.ACTIONS_ID_TOKEN_REQUEST_URL || process.env.SIGSTORE_ID_TOKEN)

/** @returns {string[]} npm's arguments */
function publishing(tarball, version) {
  return [
    'publish',
    tarball,
    '--access',
    'public',
    ...(version.includes('-') ? ['--tag', 'next'] : []),
    ...(offersProvenance() ? ['--provenance'] : []),
  ]
}

// ---- The commit ----

const VERSIONS = [
  ['package.json', /^( {2}"version": ")[^"]+/m],
  ['package-lock.json', /^( {2}(?: {4})?"version": ")[^"]+/gm, 2],
  ['js/base/version.js', /(version: ')[^']+/],
  ['python/samebytes/__init__.py', /^(__version__ = ')[^']+/m],
  ['src/samebytes.h', /^(#define SB_VERSION ")[^"]+/m],
  ['docs/c-api.md', /^(#define SB_VERSION ")[^"]+/m],
]

/** Writes the version wherever it stands, and the date into the changelog. */
function bump(folder, version, date) {
  for (const [name, pattern, count = 1] of VERSIONS) {
    edit(path.join(folder, name), (text) => {
      let left = count // the lock file goes on with other packages' versions
      return text.replace(pattern, (all, before) => (left-- > 0 ? before + version : all))
    })
  }
  edit(path.join(folder, 'CHANGELOG.md'), (text) =>
    text.replace(`## ${version} (unreleased)\n`, `## ${version} (${date})\n`),
  )
}

/** Makes the commit of the release in a clone, where there is anything to change. @returns {string} its hash */
function makeCommit(folder, { version }) {
  run(ROOT, 'git', 'clone', '--quiet', '--no-tags', ROOT, folder)
  run(folder, 'git', 'checkout', '--quiet', '--detach', git('rev-parse', 'HEAD'))
  bump(folder, version, new Date().toISOString().slice(0, 10))
  if (run(folder, 'git', 'status', '--porcelain') !== '') {
    const who = ['user.name', 'user.email'].flatMap((key) => [
      '-c',
      `${key}=${gitOrNull('config', key) ?? ''}`,
    ])
    run(folder, 'git', ...who, 'commit', '--quiet', '--all', '--message', `release: ${version}`)
  }
  return run(folder, 'git', 'rev-parse', 'HEAD')
}

// ---- Building ----

// What a build must not depend on.
const HERE = { TZ: 'UTC', LC_ALL: 'C' }
const ELSEWHERE = { TZ: 'Pacific/Chatham', LC_ALL: 'C.UTF-8' }

/**
 * The tarball of a commit, and Python's wheels, from a folder that has nothing else in it.
 *
 * @param {Record<string, string>} env  besides this process's
 */
function pack(folder, commit, options, env) {
  run(ROOT, 'git', 'clone', '--quiet', '--no-tags', '--no-checkout', options.sources, folder)
  run(folder, 'git', 'checkout', '--quiet', '--detach', commit)
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  edit(path.join(folder, 'package.json'), (text) => text.replace('  "private": true,\n', ''))
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  run(folder, 'env', ...assignments, 'npm', 'pack', '--ignore-scripts=false', '--loglevel=error') // whatever a user's .npmrc says
  fs.mkdirSync(path.join(folder, WHEELS))
  const wheels = run(
    folder,
    'env',
    ...assignments,
    'python3',
    'python/backend.py',
    WHEELS,
    '--all',
  ).split('\n')
  return {
    tarball: path.join(folder, `samebytes-${options.version}.tgz`),
    wheels: wheels.map((name) => path.join(folder, WHEELS, name)),
  }
}

/** Builds twice, in other folders, at other times, in other surroundings. @returns {{ folder: string, tarball: string, wheels: string[] }} the first one */
function packTwice(scratch, commit, options) {
  const temporary = path.join(scratch, 'temporary')
  fs.mkdirSync(temporary)
  const builds = [
    ['one', HERE],
    [path.join('another-place', 'two'), { ...ELSEWHERE, TMPDIR: temporary }],
  ]
  const [first, second] = builds.map(([name, env]) => {
    const folder = path.join(scratch, name)
    say(`building ${options.version}, and packing it`)
    return { folder, ...pack(folder, commit, options, env) }
  })
  if (hashOf(first.tarball) !== hashOf(second.tarball)) {
    const differences = differencesOf(first.tarball, second.tarball)
    throw new Refusal(
      `two builds of the same sources are not the same:\n${listed(differences.length > 0 ? differences : ['all files are, but not the tarball'])}`,
    )
  }
  const other = first.wheels
    .filter((wheel, i) => hashOf(wheel) !== hashOf(second.wheels[i]))
    .map((wheel) => path.basename(wheel))
  if (other.length > 0) {
    throw new Refusal(`two builds of the same sources gave other wheels:\n${listed(other)}`)
  }
  return first
}

// ---- What a person wants to see before it is published ----

const section = (title, lines) => `${title}\n${lines.map((line) => line && `  ${line}`).join('\n')}`

function describeTarball(tarball) {
  const file = path.join(ROOT, tarball)
  const files = [...filesOf(file).values()]
  const bytes = files.reduce((sum, { bytes }) => sum + bytes, 0)
  return [
    `${fs.statSync(file).size} bytes, with ${files.length} files of ${bytes} bytes`,
    `sha256 ${hashOf(file)}`,
    `integrity sha512-${hashOf(file, 'sha512', 'base64')}`,
  ]
}

function describeWheels() {
  const out = path.join(ROOT, OUT)
  return fs
    .readdirSync(out)
    .filter((name) => name.endsWith('.whl'))
    .sort()
    .map((name) => `${hashOf(path.join(out, name))}  ${name}`)
}

/** What publish does, in its order. @param {string[]} command  of npm */
function describeSteps(command, { branch, isNew }, { version, remote, tag }) {
  return [
    `npm ${command.join(' ')}, to ${run(ROOT, 'npm', 'config', 'get', 'registry')}`,
    ...(isNew
      ? [`the commit "release: ${version}", with the version and the day, on ${branch}`]
      : []),
    `the tag ${tag}, and a push to ${remote}`,
  ]
}

function reportOf(tarball, command, made, options) {
  const file = path.join(ROOT, tarball)
  const old = JSON.parse(git('show', 'HEAD:package.json')).version
  const changelog = newestOf(fs.readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8')).text.split(
    '\n',
  )
  const sizes = unpacked(file, (folder) => sizesOfPackage(file, folder)).map(({ text }) => text)
  const sums = fs
    .readFileSync(path.join(ROOT, OUT, path.basename(SUMS)), 'utf8')
    .trimEnd()
    .split('\n')
  return [
    `Version: ${options.version}${old === options.version ? '' : `, after ${old}`}`,
    section('What is new:', changelog),
    section('Sizes:', sizes),
    section('Hashes of the binaries and bundles (SHA-256):', sums),
    section(`${tarball}:`, describeTarball(tarball)),
    section('Wheels beside it, which nothing publishes:', describeWheels()),
    section('A release publishes it:', describeSteps(command, made, options)),
  ].join('\n\n')
}

// ---- All of it ----

function keep({ folder, tarball, wheels }) {
  const out = path.join(ROOT, OUT)
  fs.rmSync(out, { recursive: true, force: true })
  fs.mkdirSync(out, { recursive: true })
  for (const file of [tarball, ...wheels, path.join(folder, SUMS), path.join(folder, SBOM)]) {
    fs.copyFileSync(file, path.join(out, path.basename(file)))
  }
  return path.join(OUT, path.basename(tarball))
}

/** The commit of the release. It is in no branch yet. @returns {{ head: string, branch: string | null, commit: string, isNew: boolean }} */
function commitOf(options) {
  const { version, sources } = options
  const head = git('rev-parse', 'HEAD')
  const branch = gitOrNull('symbolic-ref', '--short', '--quiet', 'HEAD')
  const commit = makeCommit(sources, options)
  const isNew = commit !== head
  if (isNew && branch === null) {
    throw new Refusal(`${version} takes a commit (version, date), and this is no branch`)
  }
  if (isNew && offersProvenance()) {
    throw new Refusal(
      `provenance is of the commit that the CI runs on, which lacks version or date of ${version}: commit these first`,
    )
  }
  return { head, branch, commit, isNew }
}

/** @returns {string} the tarball, which may be published; it lies in the checkout */
function build(scratch, commit, options) {
  const built = packTwice(scratch, commit, options)
  say('two builds gave the same bytes; testing the package')
  run(built.folder, process.execPath, 'test/pack/run.js', '--tarball', built.tarball)
  return keep(built)
}

/** @param {string[]} command  of npm */
function publish(command, { branch, commit, isNew }, { version, remote, tag, sources }) {
  const targets = [...(isNew ? [`${commit}:refs/heads/${branch}`] : []), `refs/tags/${tag}`]
  if (isNew) {
    git('fetch', '--quiet', sources, 'HEAD')
    git('push', '--quiet', '--dry-run', remote, targets[0]) // what cannot be pushed should not be published
  }
  // It may ask for a one-time password.
  if (spawnSync('npm', command, { cwd: ROOT, stdio: 'inherit' }).status !== 0) {
    throw new Refusal('npm publish failed; nothing was committed, tagged or pushed')
  }
  say(`published ${version}`)
  if (isNew) git('merge', '--quiet', '--ff-only', commit)
  git('tag', '--annotate', '--message', `samebytes ${version}`, tag, commit)
  if (gitOrNull('push', '--quiet', '--atomic', remote, ...targets) === null) {
    throw new Refusal(
      `it is published, but could not be pushed: git push --atomic ${remote} ${targets.join(' ')}`,
    )
  }
  say(`${tag} is pushed to ${remote}`)
}

function main() {
  process.umask(0o022) // modes of files are packed
  const options = optionsOf(process.argv.slice(2))
  const wrong = complaintsOf(options)
  if (wrong.length > 0) throw new Refusal(`refused; nothing was done:\n${listed(wrong)}`)

  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-release-'))
  try {
    options.sources = path.join(scratch, 'commit')
    const made = commitOf(options)
    const tarball = build(scratch, made.commit, options)
    const command = publishing(`./${tarball}`, options.version)
    console.log(`\n${reportOf(tarball, command, made, options)}\n`)
    if (options.isDry) say('this was a dry run: nothing is published, committed, tagged or pushed')
    else publish(command, made, options)
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true })
  }
}

module.exports = { bump, newestOf, publishing }

if (require.main === module) {
  try {
    main()
  } catch (error) {
    console.error(error instanceof Refusal ? `release: ${error.message}` : error)
    process.exitCode = error.status ?? 1
  }
}
