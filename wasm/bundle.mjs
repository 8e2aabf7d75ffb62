// Bundles js/ for browsers: dist/samebytes.mjs, which finds its modules beside it, and dist/samebytes-inline.mjs,
// which has them inside; that of the parsers both have inside. Both export what js/index.js does, as bindings that come alive with init(). Beside each stands
// its module of samebytes/module (samebytes-module.mjs, samebytes-inline-module.mjs), which imports it, and of samebytes/inspect.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const MODULES = { plain: 'samebytes.wasm', shared: 'samebytes-shared.wasm' }

/** For wasm-modules.browser.js. */
const PARSERS = JSON.stringify(readFileSync(join(ROOT, 'dist', 'samebytes-parsers.wasm')).toString('hex'))

/** What users import; init and SamebytesError are there from the start. */
function publicNames () {
  process.env.SAMEBYTES_BACKEND = 'wasm'
  const api = createRequire(import.meta.url)('../js/index.js')
  return Object.keys(api).filter(name => name !== 'init' && name !== 'SamebytesError')
}

/** @param {string} places  the source text of { plain, shared } */
function entry (names, places, imports) {
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
`
}

function places (text, isInside) {
  return `{ ${Object.entries(MODULES).map(([kind, file]) => `${kind}: () => ${text(file)}`).join(', ')}, isInside: ${isInside} }`
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
  await bundle(`${name}.mjs`, entry(publicNames(), places(where, isInside), imports), [forBrowsers])
  await bundle(`${name}-module.mjs`, ofModule, [forBrowsers, besides(`${name}.mjs`)])
  await bundle(`${name}-inspect.mjs`, ofInspect, [forBrowsers, besides(`${name}.mjs`)])
}
