'use strict'
// Compiles binding.gyp's targets without node-gyp, for windows.js and darwin.js: what is compiled, and how, is in binding.gyp. It takes a
// compiler, and neither make nor a shell, so that it runs on the systems that it compiles for too.

const { execFileSync, spawn, spawnSync } = require('node:child_process')
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
    const env = { ...process.env, CC: this.tool.command.join(' ') }
    return execFileSync(process.execPath, ['-p', program], { cwd: ROOT, encoding: 'utf8', env })
      .split(/\s/)
      .filter(Boolean)
  }

  /** @param {any} target @returns {string[]} */
  #flagsOf(target) {
    const { flags, without } = this.tool
    const all = [...gyp.target_defaults.cflags, '-O3']
    const kept = all.filter((flag) => !(target['cflags!'] ?? []).includes(flag))
    const defines = [...gyp.target_defaults.defines, ...(target.defines ?? [])]
    return [...kept, ...(target.cflags ?? []), ...gyp.target_defaults.cflags_c]
      .flatMap((flag) => this.#expanded(flag))
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

  /** @param {string} name @returns {{ object: string, source: string, told: string, command: string[] }[]} what makes its objects */
  #jobsOf(name) {
    const { build, command } = this.tool
    const hash = this.#expanded(gyp.variables.build_hash)[0]
    const told = `${build}/${name}.flags`
    const flags = ['-isystem', headers(), ...this.#flagsOf(targetOf(name))].map((flag) =>
      flag.replace('<(build_hash)', hash),
    )
    write(path.join(ROOT, told), [...command, ...flags].join(' ')) // an object is made anew where its flags have changed
    return this.#sourcesOf(name).map((source) => {
      const object = this.#objectOf(name, source)
      return { object, source, told, command: [...command, ...flags, '-c', source, '-o', object] }
    })
  }

  /** Compiles what is out of date, as many files at once as there are processors. @param {string[]} products  targets of binding.gyp */
  async compile(products) {
    fs.mkdirSync(path.join(ROOT, this.tool.build), { recursive: true })
    const jobs = [...new Set(products.flatMap(withNeeded))]
      .flatMap((name) => this.#jobsOf(name))
      .filter(({ object, source, told }) => isOlder(object, [source, told, ...includedBy(object)]))
      .values()
    const failed = /** @type {string[]} */ ([])
    const work = async () => {
      for (const { object, source, command } of jobs) {
        fs.mkdirSync(path.join(ROOT, path.dirname(object)), { recursive: true })
        const [name, ...args] = command
        const compiler = spawn(name, args, { cwd: ROOT, stdio: 'inherit' })
        const status = await new Promise((resolve) => {
          compiler.once('error', (error) => resolve(error.message)).once('close', resolve)
        })
        if (status !== 0) failed.push(`${source} does not compile: ${name}, ${status}`)
      }
    }
    await Promise.all(Array.from({ length: os.availableParallelism() }, work))
    if (failed.length > 0) throw new Error(failed.join('\n'))
  }

  /**
   * Compiles and links addons that have a binding.gyp of their own, as other people's have.
   *
   * @param {string} folder
   * @param {string[]} flags
   * @param {(objects: string[], name: string, file: string) => void} link
   * @returns {string[]} their files, in the folder of objects
   */
  othersOf(folder, flags, link) {
    const { build, command } = this.tool
    const { targets, target_defaults: common = {} } = gypOf(folder)
    return targets.map((/** @type {any} */ target) => {
      const name = target.target_name
      const defines = [...(common.defines ?? []), ...(target.defines ?? [])]
      const objects = target.sources.map((/** @type {string} */ source) => {
        const object = `${build}/${name}_${path.basename(source, '.c')}.o`
        const given = [...flags, '-isystem', headers(), ...defines.map((each) => `-D${each}`)]
        run([...command, ...given, '-c', `${folder}/${source}`, '-o', object])
        return object
      })
      const file = path.resolve(ROOT, build, `${name}.node`)
      link(objects, name, file)
      return file
    })
  }
}

/** @param {string} file @param {string[]} others @returns {boolean} whether it is missing, or one of the others is newer or missing */
function isOlder(file, others) {
  const [time, ...times] = [file, ...others].map(
    (each) => fs.statSync(path.join(ROOT, each), { throwIfNoEntry: false })?.mtimeMs,
  )
  return time === undefined || times.some((each) => each === undefined || each > time)
}

/** @param {string} object @returns {string[]} the headers that it was made of, as the compiler noted them; none at first */
function includedBy(object) {
  const file = path.join(ROOT, object.replace(/\.o$/, '.d'))
  if (!fs.existsSync(file)) return []
  const text = fs.readFileSync(file, 'utf8').replaceAll('\\\n', ' ')
  return text.slice(text.indexOf(': ') + 2).match(/\S+/g) ?? []
}

/** @returns {string} the folder of Node-API's headers: npm_config_nodedir's, those of the package node-api-headers, or Node.js' own */
function headers() {
  const { npm_config_nodedir: told } = process.env
  const found = [
    ...(told ? [path.join(told, 'include', 'node')] : []),
    path.join(ROOT, 'node_modules', 'node-api-headers', 'include'),
    path.join(path.dirname(fs.realpathSync(process.execPath)), '..', 'include', 'node'),
  ].find((folder) => fs.existsSync(path.join(folder, 'node_api.h')))
  if (found === undefined) {
    throw new Error(
      "Node-API's headers are missing; npm install node-api-headers, or npm_config_nodedir=FOLDER",
    )
  }
  return found.replaceAll('\\', '/')
}

/** Writes a file unless it has that text: objects go by times. @param {string} file @param {string} text */
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

/** Does a program run? @param {string} name */
const runs = (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0

/** Runs a script's main function, whose error ends it. @param {string} name @param {() => Promise<void>} main */
function start(name, main) {
  main().catch((error) => {
    console.error(`${name}: ${error.message}`)
    process.exitCode = 1
  })
}

module.exports = { Cross, ROOT, outputOf, run, runs, start }
