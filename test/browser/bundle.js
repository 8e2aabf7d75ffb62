'use strict'
// The test files as one ES module for pages, built in memory: { code, map }.
const fs = require('node:fs')
const path = require('node:path')
const { build } = require('esbuild')

const ROOT = path.join(__dirname, '..', '..')
/** where the repository is, for the tests in pages; the test server takes it off again */
const AS_SEEN = '/samebytes'

/** Test files, from the repository's root on. */
function testFiles() {
  return ['test/api', 'test/math', 'test/browser'].flatMap((folder) =>
    fs
      .readdirSync(path.join(ROOT, folder))
      .filter((name) => name.endsWith('.test.js'))
      .sort()
      .map((name) => `${folder}/${name}`),
  )
}

/** { [file]: () => void }: each is evaluated when the page asks for it. */
function listOf(files) {
  const lines = files.map((file) => `'${file}': () => require('./${file}')`)
  return `export const files = {\n  ${lines.join(',\n  ')}\n}\n`
}

/** What is another file in pages. */
const inPages = (files) => ({
  name: 'in pages',
  setup({ onResolve, onLoad }) {
    const here = (name) => ({ path: path.join(__dirname, name) })
    onResolve({ filter: /^\/(dist|second)\// }, ({ path }) => ({ path, external: true }))
    onResolve({ filter: /^samebytes$/ }, () => here('samebytes.js'))
    onResolve({ filter: /^samebytes\/module$/ }, () => here('module.js'))
    onResolve({ filter: /^samebytes\/math$/ }, () => here('math.js'))
    onResolve({ filter: /^onnxruntime-node$/ }, () => here('onnxruntime.js'))
    onResolve({ filter: /^node:/ }, ({ path }) =>
      here(`node/${path.slice(5).replace('/', '-')}.js`),
    )
    onResolve({ filter: /^\.\.\/\.\.\/js\// }, ({ path }) =>
      here(path.endsWith('/storage') ? 'budget.js' : 'internals.js'),
    )
    onResolve({ filter: /\/another-copy$/ }, () => here('another-copy.js'))
    onResolve({ filter: /^tests$/ }, () => ({ path: 'tests', namespace: 'list' }))
    onLoad({ filter: /./, namespace: 'list' }, () => ({
      contents: listOf(files),
      resolveDir: ROOT,
    }))
    onLoad({ filter: /[\\/](test|scripts)[\\/][^\\/]*[\\/]?[^\\/]*\.js$/ }, ({ path: file }) => ({
      contents: withPlace(file),
    }))
  },
})

/** A module of the tests, or of scripts/ that they use, with the names that Node gives it. */
function withPlace(file) {
  const text = fs.readFileSync(file, 'utf8')
  const seen = path.posix.join(AS_SEEN, path.relative(ROOT, file).split(path.sep).join('/'))
  const names = `const __filename = ${JSON.stringify(seen)}, __dirname = ${JSON.stringify(path.posix.dirname(seen))};`
  return text.startsWith("'use strict'\n")
    ? `'use strict';${names}${text.slice("'use strict'".length)}`
    : text
}

async function bundle(files) {
  const { outputFiles } = await build({
    entryPoints: [path.join(__dirname, 'page.mjs')],
    inject: [path.join(__dirname, 'node', 'globals.mjs')],
    outfile: path.join(ROOT, 'tests.mjs'), // not written
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    define: { global: 'globalThis' },
    sourcemap: 'external',
    legalComments: 'none',
    logLevel: 'error',
    nodePaths: process.env.NODE_PATH?.split(path.delimiter) ?? [],
    plugins: [inPages(files)],
  })
  const textOf = (end) => outputFiles.find(({ path }) => path.endsWith(end)).text
  return { code: textOf('.mjs'), map: textOf('.map') }
}

module.exports = { AS_SEEN, ROOT, bundle, testFiles }
