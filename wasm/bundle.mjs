// Bundles js/ for browsers: dist/samebytes.mjs, which finds its modules beside it, and dist/samebytes-inline.mjs,
// which has them inside. Both export what js/index.js does, as bindings that come alive with init().
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const MODULES = { plain: 'samebytes.wasm', shared: 'samebytes-shared.wasm' }

/** What users import; init and SamebytesError are there from the start. */
function publicNames () {
  process.env.SAMEBYTES_BACKEND = 'wasm'
  const api = createRequire(import.meta.url)('../js/index.js')
  return Object.keys(api).filter(name => name !== 'init' && name !== 'SamebytesError')
}

/** @param {string} places  the source text of { plain, shared } */
function entry (names, places) {
  return `
import { init as start } from './init.browser.js'
import { arrive, early } from './early.browser.js'
import { SamebytesError } from './errors.js'
const places = ${places}
export { SamebytesError }
${names.map(name => `export let ${name} = early('${name}')`).join('\n')}
export async function init (options) {
  await start(options, places)
  const api = require('./index.js')
  arrive(api)
  ${names.map(name => `${name} = api.${name}`).join('\n  ')}
}
`
}

function places (text) {
  return `{ ${Object.entries(MODULES).map(([kind, file]) => `${kind}: () => ${text(file)}`).join(', ')} }`
}

const beside = file => `new URL('./${file}', import.meta.url)`
const inside = file => `Uint8Array.from(atob('${readFileSync(join(ROOT, 'dist', file)).toString('base64')}'), c => c.charCodeAt(0))`

/** Files of js/ that have another one for browsers. */
const forBrowsers = {
  name: 'for browsers',
  setup ({ onResolve }) {
    onResolve({ filter: /^\.\/(host|backend|init|files)$/ }, ({ path, resolveDir }) => ({ path: join(resolveDir, `${path}.browser.js`) }))
  }
}

async function bundle (name, where) {
  await build({
    stdin: { contents: entry(publicNames(), places(where)), resolveDir: join(ROOT, 'js'), sourcefile: 'entry.mjs' },
    outfile: join(ROOT, 'dist', name),
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [forBrowsers]
  })
}

await bundle('samebytes.mjs', beside)
await bundle('samebytes-inline.mjs', inside)
