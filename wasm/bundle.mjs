// Bundles js/ for browsers: dist/samebytes.mjs, which finds its modules beside it, and dist/samebytes-inline.mjs,
// which has them inside; that of the parsers both have inside. Both export what js/index.js does, as bindings that come alive with init(). Beside each stands
// its module of samebytes/module (samebytes-module.mjs, samebytes-inline-module.mjs), which imports it, of samebytes/inspect, and of samebytes/math.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const MODULES = { plain: 'samebytes.wasm', shared: 'samebytes-shared.wasm' }
const MATH_MODULES = { plain: 'samebytes-math.wasm', shared: 'samebytes-math-shared.wasm' }
const ALGORITHM_MODULES = { plain: 'samebytes-algorithms.wasm', shared: 'samebytes-algorithms-shared.wasm' }

/** For wasm-modules.browser.js. */
const PARSERS = JSON.stringify(readFileSync(join(ROOT, 'dist', 'samebytes-parsers.wasm')).toString('hex'))

/** What users import, by name; init and SamebytesError are there from the start. */
function publicApi (file) {
  process.env.SAMEBYTES_BACKEND = 'wasm'
  const { init, SamebytesError, ...api } = createRequire(import.meta.url)(`../js/${file}`)
  return api
}

/**
 * @param {string} places  the source text of { plain, shared }
 * @param {string[]} lent  files of js/ that samebytes/math uses of this bundle, without .js
 */
function entry (names, places, imports, lent) {
  return `
import { init as start } from './backend/init.browser.js'
import { arrive, early } from './backend/deferred-exports.browser.js'
import { SamebytesError } from './base/errors.js'
${imports}const places = ${places}
export { SamebytesError }
${names.map(name => `export let ${name} = early('${name}')`).join('\n')}
export async function init (options) {
  await start(options, places)
  const api = require('./index.js')
  arrive(api)
  ${names.map(name => `${name} = api.${name}`).join('\n  ')}
}
Object.defineProperty(init, 'name', { value: 'init', configurable: true })
const files = { ${lent.map(file => `'${file}': () => require('./${file}')`).join(', ')} }
Object.defineProperty(init, Symbol.for('samebytes.parts'), { value: { early, files } })
`
}

/** The same for samebytes/math, which is loaded at the first call, or by its init. One of the names is `var`; some are objects of functions. */
function mathEntry (api, places, imports, page) {
  const names = Object.keys(api)
  const early = name => typeof api[name] === 'object' ? `earlyIn('${name}', ${JSON.stringify(Object.keys(api[name]))})` : `early('${name}', find, refusal)`
  return `
import { init as start } from './${page}'
import { lend } from 'lent'
${imports}const { early, files } = start[Symbol.for('samebytes.parts')]
lend(files)
const { failure } = require('./base/errors.js')
const { isReady, load, offer } = require('./backend/init-math.browser.js')
const places = ${places}
offer(places)
let api = null
function find () {
  if (api === null && isReady()) {
    api = require('./math.js')
    ${names.map(name => `$${name} = api.${name}`).join('\n    ')}
  }
  return api
}
const refusal = name => failure('ERR_UNSUPPORTED', name + ' was used before samebytes/math is ready; await its init(), or init({ math: true }) of samebytes, first')
const earlyIn = (name, names) => Object.fromEntries(names.map(each => [each, early(each, () => find()?.[name] ?? null, () => refusal(name + '.' + each))]))
${names.map(name => `let $${name} = ${early(name)}`).join('\n')}
export { ${names.map(name => `$${name} as ${name}`).join(', ')} }
export async function init () {
  await start()
  await load(places)
  find()
}
Object.defineProperty(init, 'name', { value: 'init', configurable: true })
`
}

function places (modules, text, isInside) {
  return `{ ${Object.entries(modules).map(([kind, file]) => `${kind}: () => ${text(file)}`).join(', ')}, isInside: ${isInside} }`
}

const beside = file => `new URL('./${file}', import.meta.url)`
const inside = file => `bytesOf('${readFileSync(join(ROOT, 'dist', file)).toString('base64')}')`

/** Files of js/ that have another one for browsers. */
const forBrowsers = {
  name: 'for browsers',
  setup ({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const other = join(resolveDir, `${path}.browser.js`)
      return existsSync(other) ? { path: other } : undefined
    })
  }
}

/** In place of js/model/internals.js: there is one instance, the bundle's beside it, and init is called once. */
const ofPage = page => `
import { Tensor } from './${page}'
export const instance = () => Tensor[Symbol.for('samebytes.instance')]
`

/** @param {string} page  the bundle whose instance it uses */
const besides = page => ({
  name: 'beside the other bundle',
  setup ({ onResolve, onLoad }) {
    onResolve({ filter: /\/internals$/ }, () => ({ path: page, namespace: 'instance' }))
    onLoad({ filter: /./, namespace: 'instance' }, () => ({ contents: ofPage(page) }))
    onResolve({ filter: /./, namespace: 'instance' }, ({ path }) => ({ path, external: true }))
    onResolve({ filter: /^onnxruntime-web$/ }, ({ path }) => ({ path, external: true }))
  }
})

const LENT = `
let files
module.exports = { lend (given) { files = given }, of: name => files[name]() }
`

/**
 * Takes all but the files of arithmetic from the other bundle, when they are first used.
 *
 * @param {Set<string>} lent  gets what is taken
 * @param {string} page  the other bundle
 */
const lends = (lent, page) => ({
  name: 'of the other bundle',
  setup ({ onResolve, onLoad }) {
    onResolve({ filter: /^lent$/ }, () => ({ path: 'lent', namespace: 'lent' }))
    onResolve({ filter: /./ }, ({ path, resolveDir, namespace }) => {
      if (path === `./${page}`) return { path, external: true }
      if (namespace === 'lent') return undefined
      const file = relative(join(ROOT, 'js'), join(resolveDir, path)).split(sep).join('/').replace(/\.js$/, '')
      if (file === 'runtime/wasm-modules') return { path: join(ROOT, 'js', 'backend', 'init-math.browser.js') }
      if (/^(math$|math\/|backend\/((init-)?math(\.browser)?|wasm-side|algorithms|reductions|indexing)$|runtime\/base64)/.test(file)) return undefined
      lent.add(file)
      return { path: file, namespace: 'lent' }
    })
    onLoad({ filter: /./, namespace: 'lent' }, ({ path }) => ({ contents: path === 'lent' ? LENT : `module.exports = require('lent').of('${path}')` }))
  }
})

async function bundle (name, contents, plugins) {
  await build({
    stdin: { contents, resolveDir: join(ROOT, 'js'), sourcefile: 'entry.mjs' },
    outfile: join(ROOT, 'dist', name),
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    define: { 'globalThis.SAMEBYTES_PARSERS': PARSERS },
    legalComments: 'none',
    logLevel: 'warning',
    plugins
  })
}

const ofInspect = "import { memoryMap, serveMap, mapElement, trace, untrace } from './inspect.js'\nexport { memoryMap, serveMap, mapElement, trace, untrace }"
const ofModule = "import { Module } from './module.js'\nexport { Module }"
for (const [name, where] of [['samebytes', beside], ['samebytes-inline', inside]]) {
  const isInside = where === inside
  const imports = isInside ? "import { bytesOf } from './runtime/base64.browser.js'\n" : ''
  const lent = new Set()
  const placesOfMath = `{ math: ${places(MATH_MODULES, where, isInside)}, algorithms: ${places(ALGORITHM_MODULES, where, isInside)} }`
  await bundle(`${name}-math.mjs`, mathEntry(publicApi('math.js'), placesOfMath, imports, `${name}.mjs`), [lends(lent, `${name}.mjs`)])
  await bundle(`${name}.mjs`, entry(Object.keys(publicApi('index.js')), places(MODULES, where, isInside), imports, [...lent].sort()), [forBrowsers])
  await bundle(`${name}-module.mjs`, ofModule, [forBrowsers, besides(`${name}.mjs`)])
  await bundle(`${name}-inspect.mjs`, ofInspect, [forBrowsers, besides(`${name}.mjs`)])
}
