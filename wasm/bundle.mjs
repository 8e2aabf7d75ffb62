// Bundles js/ for browsers: dist/samebytes.mjs, which finds its modules beside it, and dist/samebytes-inline.mjs,
// which has them inside; that of the parsers both have inside. Both export what js/index.js does, as bindings that come alive with init(). Beside each stands
// its module of samebytes/module (samebytes-module.mjs, samebytes-inline-module.mjs), which imports it, the same without onnxruntime-web's import
// (samebytes-module-bare.mjs, samebytes-inline-module-bare.mjs), of samebytes/inspect, and of samebytes/math.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, transform } from 'esbuild'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const MODULES = { plain: 'samebytes.wasm', shared: 'samebytes-shared.wasm' }
const MATH_MODULES = { plain: 'samebytes-math.wasm', shared: 'samebytes-math-shared.wasm' }
const ALGORITHM_MODULES = {
  plain: 'samebytes-algorithms.wasm',
  shared: 'samebytes-algorithms-shared.wasm',
}

/** For wasm-modules.browser.js. */
const PARSERS = JSON.stringify(
  readFileSync(join(ROOT, 'dist', 'samebytes-parsers.wasm')).toString('hex'),
)

/** What users import, by name; init and SamebytesError are there from the start. */
function publicApi(file) {
  process.env.SAMEBYTES_BACKEND = 'wasm'
  const { init, SamebytesError, ...api } = createRequire(import.meta.url)(`../js/${file}`)
  return api
}

/** @returns {Set<string>} those of functions, also in objects such as linalg */
const namesOf = (api) =>
  new Set(
    Object.entries(api).flatMap(([name, value]) => [
      name,
      ...(typeof value === 'object' && value !== null ? Object.keys(value) : []),
    ]),
  )

/**
 * Files that a program has in its bundle only where it imports one of their names, by name.
 *
 * @returns {Record<string, string>}
 */
function partsOf(index) {
  const parts = {
    SharedTensor: 'sharing/shared-tensor',
    SharedRing: 'sharing/shared-ring',
    cuda: 'sharing/cuda-ipc',
  }
  for (const [, names, file] of index.matchAll(
    /^const \{([^}]+)\} =\s+functionsOf\(\(\) =>\s+require\('\.\/(.+)'\),?\s*\)$/gm,
  )) {
    if (!ALWAYS.includes(file)) for (const name of names.match(/\w+/g)) parts[name] = file
  }
  return parts
}

/** Most programs need these, or tensors do. */
const ALWAYS = ['backend/init', 'backend/memory', 'tensor/scopes']
const PUBLIC = namesOf({ ...publicApi('index.js'), ...publicApi('math.js') })
const PARTS = partsOf(readFileSync(join(ROOT, 'js', 'index.js'), 'utf8'))

/**
 * Names are bound by calls that bundlers may leave out, with the files behind them; index.js finds those that are there. The bundles
 * beside this one get its files from `init`, those of PARTS where they import one of their names.
 *
 * @param {string} places  the source text of { plain, shared }
 * @param {string[]} lent  files of js/ that samebytes/math uses of this bundle, without .js
 */
function entry(names, places, imports, lent) {
  const bound = names.map((name) => {
    const file = PARTS[name]
    const load = file === undefined ? '' : `, '${file}', () => require('./${file}')`
    return `export let ${name} = /* @__PURE__ */ bind('${name}', real => { ${name} = real }${load})`
  })
  return `
import { init as start } from './backend/init.browser.js'
import { arrive, early } from './backend/deferred-exports.browser.js'
import { SamebytesError } from './base/errors.js'
import { add, of } from 'parts'
${imports}const places = ${places}
const bound = []
function bind (name, assign, file, load) {
  bound.push([name, assign])
  if (load !== undefined) add(file, load)
  return early(name)
}
export { SamebytesError }
${bound.join('\n')}
export async function init (options) {
  await start(options, places)
  const api = require('./index.js')
  arrive(api)
  for (const [name, assign] of bound) assign(api[name])
}
Object.defineProperty(init, 'name', { value: 'init', configurable: true })
const files = { ${[...lent.filter((file) => !isPart(file)), 'model/internals'].map((file) => `'${file}': () => require('./${file}')`).join(', ')} }
Object.defineProperty(init, Symbol.for('samebytes.parts'), { value: { early, fileOf: name => files[name]?.() ?? of(name), bundles: [new Error()] } })
`
}

const PART_FILES = `
const files = new Map()
module.exports = { add (file, load) { files.set(file, load) }, of: file => files.get(file)() }
`

const isPart = (file) => Object.values(PARTS).includes(file)

/** Has js/index.js and js/model/internals.js find the files of PARTS where a program has them. */
const apart = {
  name: 'parts',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^parts$/ }, () => ({ path: 'parts', namespace: 'parts' }))
    onResolve({ filter: /^\.\.?\// }, ({ path, importer, resolveDir }) => {
      const file = relative(join(ROOT, 'js'), join(resolveDir, path)).split(sep).join('/')
      return /[\\/](index|internals)\.js$/.test(importer) && isPart(file)
        ? { path: file, namespace: 'parts' }
        : undefined
    })
    onLoad({ filter: /./, namespace: 'parts' }, ({ path }) => ({
      contents: path === 'parts' ? PART_FILES : `module.exports = require('parts').of('${path}')`,
    }))
  },
}

/** The same for samebytes/math, which is loaded at the first call, or by its init. One of the names is `var`; some are objects of functions. */
function mathEntry(api, places, imports, page) {
  const names = Object.keys(api)
  const early = (name) =>
    typeof api[name] === 'object'
      ? `earlyIn('${name}', ${JSON.stringify(Object.keys(api[name]))})`
      : `early('${name}', find, refusal)`
  return `
import { init as start, concat } from './${page}'
import { lend } from 'lent'
${imports}const { early, fileOf, bundles } = start[Symbol.for('samebytes.parts')]
bundles.push(new Error())
lend(fileOf, concat) // named, so that its file is there
const { failure } = require('./base/errors.js')
const { isReady, load, offer } = require('./math/calls/init.browser.js')
const places = ${places}
offer(places)
let api = null
function find () {
  if (api === null && isReady()) {
    api = require('./math.js')
    ${names.map((name) => `$${name} = api.${name}`).join('\n    ')}
  }
  return api
}
const refusal = name => failure('ERR_UNSUPPORTED', name + ' was used before samebytes/math is ready; await its init(), or init({ math: true }) of samebytes, first')
const earlyIn = (name, names) => Object.fromEntries(names.map(each => [each, early(each, () => find()?.[name] ?? null, () => refusal(name + '.' + each))]))
${names.map((name) => `let $${name} = ${early(name)}`).join('\n')}
export { ${names.map((name) => `$${name} as ${name}`).join(', ')} }
export async function init () {
  await start()
  await load(places)
  find()
}
Object.defineProperty(init, 'name', { value: 'init', configurable: true })
`
}

function places(modules, text, isInside) {
  return `{ ${Object.entries(modules)
    .map(([kind, file]) => `${kind}: () => ${text(file)}`)
    .join(', ')}, isInside: ${isInside} }`
}

const beside = (file) => `new URL('./${file}', import.meta.url)`
const inside = (file) =>
  `bytesOfBase64('${readFileSync(join(ROOT, 'dist', file)).toString('base64')}')`

const FUNCTION = /^((?:async )?)function (\w+)(\([^]*?\n\}\n)/gm // from the first column to the first column
const ARROW = /^const (\w+) = \/\*\* @type \{Body\} \*\/ \((\(.*\)) => (.*)\)$/gm // of math/functions.js
const OTHERWISE = { variance: 'var' }

/**
 * Makes public functions methods, which keep their names in stacks: minified functions have others, and Firefox does not know of the
 * property `name`. Those of files that are loaded at first use get theirs from js/runtime/lazy.js.
 *
 * @type {import('esbuild').Plugin}
 */
const named = {
  name: 'names in stacks',
  setup({ onLoad }) {
    onLoad(
      {
        filter:
          /[\\/]js[\\/](tensor[\\/](creation|blob|random)|layout[\\/]lifetime|math[\\/]\w+)\.js$/,
        namespace: 'file',
      },
      ({ path }) => ({
        contents: readFileSync(path, 'utf8')
          .replace(FUNCTION, (text, before, local, rest) => {
            const name = OTHERWISE[local] ?? local
            return PUBLIC.has(name)
              ? `const { ${name}: ${local} } = { ${before}${name} ${rest.slice(0, -1)} }\n`
              : text
          })
          .replace(ARROW, 'const { $1 } = { $1 $2 { return $3 } }'),
      }),
    )
  },
}

/** Files of js/ that have another one for browsers. */
const forBrowsers = {
  name: 'for browsers',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const other = join(resolveDir, `${path}.browser.js`)
      return existsSync(other) ? { path: other } : undefined
    })
  },
}

/** In place of js/model/internals.js: there is one instance, the bundle's beside it, and init is called once. */
const ofPage = (page) => `
import { init, toOrt } from './${page}'
export const { bundles, fileOf } = init[Symbol.for('samebytes.parts')]
bundles.push(new Error())
export const instance = () => toOrt && fileOf('model/internals').instance() // toOrt's file is there
`

/** @param {string} page  the bundle whose instance it uses */
const besides = (page) => ({
  name: 'beside the other bundle',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/internals$/ }, () => ({ path: page, namespace: 'instance' }))
    onLoad({ filter: /./, namespace: 'instance' }, () => ({ contents: ofPage(page) }))
    onResolve({ filter: /./, namespace: 'instance' }, ({ path }) => ({ path, external: true }))
    onResolve({ filter: /^onnxruntime-web$/ }, ({ path }) => ({ path, external: true }))
  },
})

/** In place of onnxruntime-web, which bundlers take along wherever it is imported. */
const withoutOrt = {
  name: 'without onnxruntime-web',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^onnxruntime-web$/ }, () => ({ path: 'none', namespace: 'none' }))
    onLoad({ filter: /./, namespace: 'none' }, () => ({
      contents: "throw new Error('samebytes/module/bare imports none')",
    }))
  },
}

const LENT = `
let fileOf
module.exports = { lend (given) { fileOf = given }, of: name => fileOf(name) }
`

/**
 * Takes all but the files of arithmetic from the other bundle, when they are first used.
 *
 * @param {Set<string>} lent  gets what is taken
 * @param {string} page  the other bundle
 */
const lends = (lent, page) => ({
  name: 'of the other bundle',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^lent$/ }, () => ({ path: 'lent', namespace: 'lent' }))
    onResolve({ filter: /./ }, ({ path, resolveDir, namespace }) => {
      if (path === `./${page}`) return { path, external: true }
      if (namespace === 'lent') return undefined
      const file = relative(join(ROOT, 'js'), join(resolveDir, path))
        .split(sep)
        .join('/')
        .replace(/\.js$/, '')
      if (file === 'runtime/wasm-modules') {
        return { path: join(ROOT, 'js', 'math', 'calls', 'init.browser.js') }
      }
      if (/^(math$|math\/|runtime\/base64)/.test(file)) return undefined
      lent.add(file)
      return { path: file, namespace: 'lent' }
    })
    onLoad({ filter: /./, namespace: 'lent' }, ({ path }) => ({
      contents: path === 'lent' ? LENT : `module.exports = require('lent').of('${path}')`,
    }))
  },
})

const PURE = '/*@__PURE__*/'
const MARK = '"is&pure&&"+' // as long, so that the map stays right

/** Marks what bundlers may leave out where nothing uses it: esbuild minifies such comments away, and does not say so of the files of CommonJS that it wraps. */
const marked = (text) =>
  text
    .replaceAll(/^(var \w+ = )(?=__commonJS\()/gm, `$1${MARK}`)
    .replaceAll('/* @__PURE__ */ ', MARK)

/** Minified; a map beside it, which the inline ones go without, names the files of js/, which are in the package, and has the text of other modules. */
async function bundle(name, contents, plugins) {
  const outfile = join(ROOT, 'dist', name)
  const {
    outputFiles: [map, { text }],
  } = await build({
    stdin: { contents, resolveDir: join(ROOT, 'js'), sourcefile: 'entry.mjs' },
    outfile,
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    define: { 'globalThis.SAMEBYTES_PARSERS': PARSERS },
    sourcemap: 'external',
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [named, ...plugins],
  })
  const mapped = `${marked(text)}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(map.text).toString('base64')}`
  const small = await transform(mapped, {
    minify: true,
    format: 'esm',
    target: 'es2022',
    sourcemap: 'external',
    legalComments: 'none',
    logLevel: 'warning',
  })
  const hasMap = !name.includes('-inline')
  writeFileSync(
    outfile,
    small.code.replaceAll(MARK, PURE) + (hasMap ? `//# sourceMappingURL=${name}.map\n` : ''),
  )
  if (!hasMap) return
  const { sources, sourcesContent, ...others } = JSON.parse(small.map)
  const texts = sources.map((source, i) =>
    existsSync(join(ROOT, 'dist', source)) ? null : sourcesContent[i],
  )
  writeFileSync(`${outfile}.map`, JSON.stringify({ ...others, sources, sourcesContent: texts }))
}

const ofInspect =
  "import { memoryMap, serveMap, mapElement, trace, untrace } from './inspect.js'\nexport { memoryMap, serveMap, mapElement, trace, untrace }"
const ofModule = "import { Module } from './module.js'\nexport { Module }"
for (const [name, where] of [
  ['samebytes', beside],
  ['samebytes-inline', inside],
]) {
  const isInside = where === inside
  const imports = isInside ? "import { bytesOfBase64 } from './runtime/base64.browser.js'\n" : ''
  const lent = new Set()
  const placesOfMath = `{ math: ${places(MATH_MODULES, where, isInside)}, algorithms: ${places(ALGORITHM_MODULES, where, isInside)} }`
  await bundle(
    `${name}-math.mjs`,
    mathEntry(publicApi('math.js'), placesOfMath, imports, `${name}.mjs`),
    [lends(lent, `${name}.mjs`)],
  )
  await bundle(
    `${name}.mjs`,
    entry(
      Object.keys(publicApi('index.js')),
      places(MODULES, where, isInside),
      imports,
      [...lent].sort(),
    ),
    [apart, forBrowsers],
  )
  await bundle(`${name}-module.mjs`, ofModule, [forBrowsers, besides(`${name}.mjs`)])
  await bundle(`${name}-module-bare.mjs`, ofModule, [
    withoutOrt,
    forBrowsers,
    besides(`${name}.mjs`),
  ])
  await bundle(`${name}-inspect.mjs`, ofInspect, [forBrowsers, besides(`${name}.mjs`)])
}
