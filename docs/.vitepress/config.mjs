// The site: README.md and the pages of docs/, with examples that run in the page.
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { defineConfig } from 'vitepress'
import { GROUPS } from './pages.mjs'
import { examplesOf } from './examples.mjs'

const HERE = dirname(fileURLToPath(import.meta.url))
const ROOT = join(HERE, '..', '..')
const VUE = join(HERE, '..', 'node_modules', 'vue')
const DIST = join(HERE, 'dist')
const BUNDLES = ['samebytes-inline.mjs', 'samebytes-inline-math.mjs']

/**
 * Allows the site's own files, and the inline scripts that VitePress writes, by their hashes. Vue and Shiki style elements.
 *
 * @param {string} html
 */
function withPolicy(html) {
  const hashes = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([^]*?)<\/script>/g)].map(
    ([, code]) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`,
  )
  const policy = `default-src 'none'; script-src 'self' ${hashes.join(' ')}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'`
  return html.replace(
    '<meta charset="utf-8">',
    `$&\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`,
  )
}

/** @param {any} md  markdown-it: examples that can run in a page get an editor and a button */
function withExamples(md) {
  const fence = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, i, options, env, self) => {
    const shown = fence(tokens, i, options, env, self)
    const code = examplesOf(relative(ROOT, env.realPath ?? env.path)).get(tokens[i].map[0] + 1)
    if (code === undefined) return shown
    return `<Example source="${Buffer.from(code).toString('base64')}">${shown}</Example>`
  }
}

/** What the frame of examples loads: its program, and samebytes with its modules of WebAssembly inside. */
async function writeFrame() {
  const out = join(DIST, 'frame')
  mkdirSync(out, { recursive: true })
  for (const name of BUNDLES) copyFileSync(join(ROOT, 'dist', name), join(out, name))
  copyFileSync(join(HERE, 'frame', 'frame.html'), join(out, 'frame.html'))
  await build({
    configFile: false,
    root: join(HERE, 'frame'),
    logLevel: 'warn',
    build: {
      outDir: out,
      emptyOutDir: false,
      lib: { entry: 'frame.mjs', formats: ['iife'], name: 'frame', fileName: () => 'frame.js' },
    },
  })
}

export default defineConfig({
  title: 'samebytes',
  description: 'Tensors whose bytes are shared, not copied',
  lang: 'en',
  srcDir: ROOT,
  srcExclude: readdirSync(ROOT)
    .filter((name) => !['docs', 'README.md'].includes(name))
    .map((name) => (name.endsWith('.md') ? name : `${name}/**`)),
  rewrites: { 'README.md': 'index.md', 'docs/README.md': 'docs/index.md' },
  outDir: DIST,
  cacheDir: join(HERE, 'cache'),
  cleanUrls: false,
  metaChunk: true,
  ignoreDeadLinks: [/^(\.\.?\/)+(examples|test|src|js|CONTRIBUTING|CHANGELOG|python)/],
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  transformHtml: withPolicy,
  markdown: { config: withExamples, languageAlias: { gyp: 'python' } },
  vite: { resolve: { alias: [{ find: /^vue(?=$|\/)/, replacement: VUE }] } }, // README.md is outside of docs/
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guides', link: '/docs/' },
      { text: 'JavaScript', link: '/docs/api' },
      { text: 'C', link: '/docs/c-api' },
    ],
    sidebar: GROUPS,
  },
  buildEnd: writeFrame,
})
