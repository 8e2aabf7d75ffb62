'use strict'
// Device code: src/cuda/*.cu to build/cuda/<module>.fatbin and .ptx, and a manifest with the hash of its sources.
//
//   node scripts/cuda.js build           what nvcc makes; without nvcc, or where nothing has changed, nothing
//   node scripts/cuda.js check [FOLDER]  does the device code in a folder match the sources? Without any there is nothing to say
//   node scripts/cuda.js copy FOLDER     what was built, if it matches; nothing where nothing was
//
// <module>.fatbin has machine code for the GPUs below, compressed; drivers as new as nvcc take it. <module>.ptx is for older
// drivers and newer GPUs: nvcc cannot write an old version of PTX, so its version line is lowered, and ptxas checks that the text
// keeps to that version. Machine code is made from the same text, so that both compute the same.
//
// NVCC names the compiler, NVCC=0 says that there is none. SAMEBYTES_CUDA_ARCHS=90 builds for one GPU, for trying things out.

const crypto = require('crypto')
const fs = require('fs')
const os = require('os')
const path = require('path')
const { execFile, execFileSync } = require('child_process')

const root = path.dirname(__dirname)
const folder = path.join(root, 'build', 'cuda')
const modules = ['copy', 'cast', 'random']
const architectures = ['75', '80', '90', '100', '120']
const VERSION = '6.3' // CUDA 10.0; the lowest that knows sm_75
const LOWEST = '75'
const flags = ['-O3', '-fmad=false', '--std=c++17', '-frandom-seed=1', '-Isrc']

// Every file that a module is made of: what stands in quotation marks and is there, from file to file.
function sourcesOf(module) {
  const found = new Set()
  const add = (name) => {
    if (found.has(name) || !fs.existsSync(path.join(root, name))) return
    found.add(name)
    for (const [, inner] of fs
      .readFileSync(path.join(root, name), 'utf8')
      .matchAll(/"([\w/]+\.(?:h|inc|def))"/g)) {
      add(`src/${inner}`)
    }
  }
  add(`src/cuda/${module}.cu`)
  return [...found].sort()
}

// Of all sources, and of this file, which has the flags.
function hashOfSources() {
  const hash = crypto.createHash('sha256')
  const names = new Set(modules.flatMap(sourcesOf))
  for (const name of [...names].sort().concat('scripts/cuda.js')) {
    hash
      .update(`${name}\n`)
      .update(fs.readFileSync(path.join(root, name)))
      .update('\n')
  }
  return hash.digest('hex')
}

const filesOf = () => modules.flatMap((module) => [`${module}.fatbin`, `${module}.ptx`])
const hashOf = (file) => crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex')

function findCompiler() {
  const { NVCC, CUDA_HOME, CUDA_PATH, PATH } = process.env
  if (NVCC === '0') return undefined
  const folders = [CUDA_HOME, CUDA_PATH].filter(Boolean).map((home) => path.join(home, 'bin'))
  folders.push(
    ...(PATH || '').split(path.delimiter).filter(Boolean),
    '/usr/local/cuda/bin',
    '/opt/cuda/bin',
  )
  const candidates = NVCC ? [NVCC] : folders.map((place) => path.join(place, 'nvcc'))
  return candidates.find((file) => fs.existsSync(file))
}

// At most as many at a time as there are processors.
let running = 0
const waiting = []
async function run(file, args) {
  while (running >= os.availableParallelism()) await new Promise((resolve) => waiting.push(resolve))
  running++
  try {
    return await new Promise((resolve, reject) => {
      execFile(file, args, { cwd: root, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
        if (error) {
          reject(new Error(`${path.basename(file)} ${args.join(' ')}\n${stderr || error.message}`))
        } else resolve(stdout)
      })
    })
  } finally {
    running--
    waiting.shift()?.()
  }
}

// Text that drivers of VERSION take: without comments, and without hints that a later version brought. Names of static functions have
// two hashes, in which nvcc puts the folder that it ran in: the same sources shall give the same text in all.
function lowered(text) {
  const none = '0'.repeat(8) // as long as a hash: lengths are in the names
  const placeless = text.replace(
    /(_INTERNAL_)[0-9a-f]{8}(_\d+_\w+?_cu_)[0-9a-f]{8}/g,
    (all, start, source) => start + none + source + none,
  )
  const lines = placeless.replace(/^\.version .*$/m, `.version ${VERSION}`).split('\n')
  return (
    lines.filter((line) => !/^\s*(\/\/.*|\.pragma "used_bytes_mask.*)?$/.test(line)).join('\n') +
    '\n'
  )
}

async function buildModule(nvcc, module, known, scratch) {
  const tools = path.dirname(fs.realpathSync(nvcc))
  const file = (ending) => path.join(scratch, module + ending)
  await run(nvcc, [
    ...flags,
    '-ptx',
    `-arch=compute_${LOWEST}`,
    `src/cuda/${module}.cu`,
    '-o',
    file('.nvcc'),
  ])
  fs.writeFileSync(file('.ptx'), lowered(fs.readFileSync(file('.nvcc'), 'latin1')), 'latin1')
  const images = await Promise.all(
    known.map(async (architecture) => {
      const image = file(`.${architecture}.cubin`)
      await run(path.join(tools, 'ptxas'), [
        '-O3',
        `-arch=sm_${architecture}`,
        file('.ptx'),
        '-o',
        image,
      ])
      return `--image3=kind=elf,sm=${architecture},file=${image}`
    }),
  )
  await run(path.join(tools, 'fatbinary'), [
    '--create',
    file('.fatbin'),
    '-64',
    '--compress-all',
    '--compress-mode',
    'size',
    ...images,
  ])
}

async function build() {
  const nvcc = findCompiler()
  if (!nvcc) return
  const manifest = path.join(folder, 'manifest.json')
  const wanted = (process.env.SAMEBYTES_CUDA_ARCHS || architectures.join()).split(',')
  const compiler = /release [\d.]+, V([\d.]+)/.exec(
    execFileSync(nvcc, ['--version'], { encoding: 'utf8' }),
  )?.[1]
  const listed = execFileSync(nvcc, ['--list-gpu-code'], { encoding: 'utf8' })
  const known = wanted.filter((architecture) => listed.includes(`sm_${architecture}\n`))
  if (!known.includes(LOWEST)) known.unshift(LOWEST) // it is what checks the text
  const about = { sources: hashOfSources(), compiler, architectures: known, ptx: VERSION }
  if (fs.existsSync(manifest)) {
    const { files, ...old } = JSON.parse(fs.readFileSync(manifest, 'utf8'))
    const whole = Object.keys(files).every((name) => fs.existsSync(path.join(folder, name)))
    if (whole && JSON.stringify(old) === JSON.stringify(about)) return
  }
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-cuda-'))
  try {
    await Promise.all(modules.map((module) => buildModule(nvcc, module, known, scratch)))
    fs.mkdirSync(folder, { recursive: true })
    fs.rmSync(manifest, { force: true }) // it is written last: half of a build counts for nothing
    const files = {}
    for (const name of filesOf()) {
      fs.copyFileSync(path.join(scratch, name), path.join(folder, name))
      files[name] = hashOf(path.join(folder, name))
    }
    fs.writeFileSync(manifest, JSON.stringify({ ...about, files }, null, 2) + '\n')
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true })
  }
}

// Is there any device code in a folder?
const has = (place) =>
  [...filesOf(), 'manifest.json'].some((name) => fs.existsSync(path.join(place, name)))

// What is wrong with the device code in a folder, in sentences.
function complaints(place) {
  const manifest = path.join(place, 'manifest.json')
  if (!has(place)) return []
  if (!fs.existsSync(manifest)) return [`${place} has no manifest.json`]
  const { sources, files } = JSON.parse(fs.readFileSync(manifest, 'utf8'))
  const wrong = []
  if (sources !== hashOfSources()) {
    wrong.push(`${place} was made from other sources: bash scripts/build cuda`)
  }
  for (const name of filesOf()) {
    const file = path.join(place, name)
    if (!fs.existsSync(file)) wrong.push(`${file} is missing`)
    else if (hashOf(file) !== files[name]) wrong.push(`${file} is not what the manifest lists`)
  }
  return wrong
}

function check(place = folder) {
  const wrong = complaints(place)
  for (const line of wrong) console.error(line)
  if (wrong.length) process.exitCode = 1
  else console.log(has(place) ? `${place} matches its sources` : `${place}: no device code`)
}

function copy(to) {
  check()
  if (process.exitCode || !has(folder)) return
  fs.mkdirSync(to, { recursive: true })
  for (const name of [...filesOf(), 'manifest.json']) {
    fs.copyFileSync(path.join(folder, name), path.join(to, name))
  }
}

module.exports = { complaints, sourcesOf, modules, findCompiler }

if (require.main === module) {
  const [command, place] = process.argv.slice(2)
  if (command === 'build') {
    build().catch((error) => {
      console.error(error.message)
      process.exitCode = 1
    })
  } else if (command === 'check') {
    check(place)
  } else if (command === 'copy' && place) {
    copy(place)
  } else {
    console.error('usage: node scripts/cuda.js build | check [FOLDER] | copy FOLDER')
    process.exitCode = 2
  }
}
