'use strict'
// Pages have test/browser/another-copy.js in this file's place.
const fs = require('node:fs')
const path = require('node:path')
const vm = require('node:vm')
const { createRequire } = require('node:module')

const INDEX = path.join(__dirname, '..', 'js', 'index.js')

/**
 * The package once more, with modules of its own, also those that are read later; Node's modules from outside.
 *
 * @param {object} [context]  of node:vm, for globals of its own
 */
function anotherCopy(context) {
  const modules = new Map()
  const load = (file) => {
    if (!modules.has(file)) {
      const module = { exports: {} }
      modules.set(file, module)
      const outer = createRequire(file)
      const require = (name) => (name.startsWith('.') ? load(outer.resolve(name)) : outer(name))
      const wrapper = vm.compileFunction(
        fs.readFileSync(file, 'utf8'),
        ['module', 'exports', 'require', '__filename', '__dirname'],
        { filename: file, parsingContext: context },
      )
      wrapper(module, module.exports, require, file, path.dirname(file))
    }
    return modules.get(file).exports
  }
  return load(INDEX)
}

module.exports = { anotherCopy }
