'use strict'
// Compiles binding.gyp's targets by another compiler than node-gyp's, for another system: what is compiled, and how, is in binding.gyp. For
// windows.js and darwin.js.

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { runInNewContext } = require('node:vm')

const ROOT = path.join(__dirname, '..')

/**
 * A compiler and its system.
 *
 * @typedef {object} Tool
 * @property {string} build  the folder of objects
 * @property {string} platforms  of the files in src/platform, as a regular expression
 * @property {string[]} command  the compiler
 * @property {string[]} flags  beside binding.gyp's
 * @property {RegExp} without  flags of binding.gyp's that it does not know, or that are not for this system
 */

/** @param {string} folder @returns {any} its binding.gyp */
const gypOf = (folder) =>
  runInNewContext(
    `(${fs.readFileSync(path.join(ROOT, folder, 'binding.gyp'), 'utf8').replace(/^\s*#.*$/gm, '')})`,
  )

const gyp = gypOf('.')

/** @param {string} name @returns {any} a target of binding.gyp */
const targetOf = (name) => gyp.targets.find((/** @type {any} */ each) => each.target_name === name)

/** @param {string} name @returns {string[]} the target's and those that it needs */
const withNeeded = (name) => [name, ...(targetOf(name).dependencies ?? []).flatMap(withNeeded)]

/** Compiles for one system. */
class Cross {
  /** @param {Tool} tool */
  constructor(tool) {
    this.tool = tool
  }

  /** @param {string} text  with gyp's variables @returns {string[]} what stands for it */
  #expanded(text) {
    const named = /^<@\((\w+)\)$/.exec(text)
    if (named !== null) {
      return gyp.variables[named[1]].flatMap((/** @type {string} */ each) => this.#expanded(each))
    }
    const program = /^<!@?\(node -p "(.*)"\)$/
      .exec(text)?.[1]
      .replace(/<\((\w+)\)/g, (_, name) => gyp.variables[name])
      .replace('^(native|posix|linux|darwin)', `^(${this.tool.platforms})`)
    if (program === undefined) return [text]
    return execFileSync(process.execPath, ['-p', program], { cwd: ROOT, encoding: 'utf8' })
      .trim()
      .split(' ')
  }

  /** @param {any} target @returns {string[]} */
  #flagsOf(target) {
    const { flags, without } = this.tool
    const all = [...gyp.target_defaults.cflags, '-O3']
    const kept = all.filter((flag) => !(target['cflags!'] ?? []).includes(flag))
    const defines = [...gyp.target_defaults.defines, ...(target.defines ?? [])]
    return [...kept, ...(target.cflags ?? []), ...gyp.target_defaults.cflags_c]
      .filter((flag) => !without.test(flag))
      .concat(
        defines.map((text) => `-D${text}`),
        flags,
      )
  }

  /** @param {string} target @returns {string[]} its objects, and those that it needs */
  objectsOf(target) {
    return withNeeded(target).flatMap((name) =>
      this.#sourcesOf(name).map((source) => this.#objectOf(name, source)),
    )
  }

  /** @param {string} target @returns {string[]} */
  #sourcesOf(target) {
    return targetOf(target).sources.flatMap((/** @type {string} */ each) => this.#expanded(each))
  }

  /** @param {string} target @param {string} source */
  #objectOf(target, source) {
    return `${this.tool.build}/${target}/${source.replace(/\.c$/, '.o')}`
  }

  /** @param {string[]} products @returns {string} what make builds their objects by */
  #makefile(products) {
    const { build, command } = this.tool
    const hash = this.#expanded(gyp.variables.build_hash)[0]
    const rules = [...new Set(products.flatMap(withNeeded))].flatMap((name) => {
      const told = `${build}/${name}.flags`
      const flags = ['-isystem', headers(), ...this.#flagsOf(targetOf(name))]
        .map((flag) => quoted(flag.replace('<(build_hash)', hash)))
        .join(' ')
      write(path.join(ROOT, told), flags) // an object is made anew where its flags have changed
      return this.#sourcesOf(name).map(
        (source) =>
          `${this.#objectOf(name, source)}: ${source} ${told}\n\t@mkdir -p $(dir $@)\n\t@${command.join(' ')} ${flags} -c ${source} -o $@\n`,
      )
    })
    const all = products.flatMap((name) => this.objectsOf(name))
    return `all: ${all.join(' ')}\n${rules.join('')}-include $(shell find ${build} -name '*.d')\n`
  }

  /** @param {string[]} products  targets of binding.gyp, whose objects are compiled */
  compile(products) {
    const file = `${this.tool.build}/Makefile`
    fs.mkdirSync(path.join(ROOT, this.tool.build), { recursive: true })
    fs.writeFileSync(path.join(ROOT, file), this.#makefile(products))
    run(['make', '-f', file, '-j', String(os.availableParallelism()), 'all'])
  }
}

/** @returns {string} the folder of Node-API's headers */
function headers() {
  const major = process.versions.node.split('.')[0]
  const beside = path.join(path.dirname(fs.realpathSync(process.execPath)), '..', 'include', 'node')
  return (
    [
      beside,
      path.join(ROOT, 'node_modules', '.cache', `node-headers-${major}`, 'include', 'node'),
    ].find((folder) => fs.existsSync(path.join(folder, 'node_api.h'))) ?? beside
  )
}

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`

/** Writes a file unless it has that text: make goes by times. @param {string} file @param {string} text */
function write(file, text) {
  if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) fs.writeFileSync(file, text)
}

/** @param {string[]} command */
function run([name, ...args]) {
  const { status, error } = spawnSync(name, args, { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${name} failed (${error?.message ?? status})`)
}

/** What a tool prints. @param {string[]} command @returns {string} */
function outputOf([name, ...args]) {
  return execFileSync(name, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 30 })
}

/** Runs a script's main function, whose error ends it. @param {string} name @param {() => void} main */
function start(name, main) {
  try {
    main()
  } catch (error) {
    console.error(`${name}: ${/** @type {Error} */ (error).message}`)
    process.exitCode = 1
  }
}

module.exports = { Cross, ROOT, gypOf, headers, outputOf, run, start }
