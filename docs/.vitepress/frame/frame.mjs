// Runs an example in a sandboxed frame, and shows what it prints. The frame has no origin: the page around it sends the texts of samebytes'
// bundles, which are imported from blobs.
import { inspect } from 'node-inspect-extracted'
import { drawing } from './drawing.mjs'

/** What an example imports, by name. @type {Record<string, any>} */
const modules = {}

const tell = (message) => parent.postMessage({ ...message, height: heightNow() }, '*')
const heightNow = () => document.documentElement.scrollHeight

/** @param {string} text @returns {string} a URL of a module */
const moduleUrl = (text) => URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))

/** @param {string[]} texts  of samebytes and samebytes/math */
async function load([main, math]) {
  const url = moduleUrl(main)
  modules.samebytes = await import(/* @vite-ignore */ url)
  await modules.samebytes.init()
  const beside = math.replaceAll(/(["'])\.\/samebytes-inline\.mjs\1/g, JSON.stringify(url))
  modules['samebytes/math'] = await import(/* @vite-ignore */ moduleUrl(beside))
  await modules['samebytes/math'].init()
}

/** `import` as `const … = modules[…]`: the names of imports become parts of a pattern. @param {string} code */
const withoutImports = (code) =>
  code
    .replaceAll(
      /^import\s+\{([^}]*)\}\s+from\s+'([^']+)'/gm,
      (_, names, from) => `const {${names.replaceAll(/\sas\s/g, ': ')}} = require('${from}')`,
    )
    .replaceAll(/^import\s+\*\s+as\s+(\w+)\s+from\s+'([^']+)'/gm, "const $1 = require('$2')")

/** @param {string} name */
function required(name) {
  if (Object.hasOwn(modules, name)) return modules[name]
  throw new Error(`examples here have samebytes and samebytes/math; there is no ${name}`)
}

/** @param {string} text @param {string} [kind]  a class of elements */
function addText(text, kind = '') {
  const pre = document.createElement('pre')
  pre.className = kind
  pre.textContent = text
  document.body.append(pre)
}

/** @param {unknown[]} values  of one call of console.log */
function print(values) {
  addText(values.map((each) => (typeof each === 'string' ? each : wordsOf(each))).join(' '))
  for (const each of values) {
    const shown = drawing(modules.samebytes, each)
    if (shown !== null) document.body.append(shown)
  }
}

/** @param {unknown} value */
const wordsOf = (value) => inspect(value, { breakLength: 100, depth: 8 })

/** Lines `expression // value` of the reference print what they give. @param {string} code */
const withPrints = (code) =>
  code.includes('console.log')
    ? code
    : code.replaceAll(
        /^(?!const |let |\/\/|import |for |if |\s|\})(.+?) \/\/ .+$/gm,
        'console.log($1)',
      )

/** @param {string} code */
async function run(code) {
  document.body.replaceChildren()
  const names = { ...modules['samebytes/math'], ...modules.samebytes }
  const isReference = !/\b(import|require)\b/.test(code)
  const given = {
    require: required,
    console: { ...console, log: (...values) => print(values) },
    ...(isReference ? { math: modules['samebytes/math'], ...names } : {}),
  }
  const text = withPrints(withoutImports(code))
  const url = moduleUrl(
    `export default async ({ ${Object.keys(given).join(', ')} }) => {\n${text}\n}`,
  )
  try {
    const { default: program } = await import(/* @vite-ignore */ url)
    await program(given)
    if (document.body.childElementCount === 0) addText('It prints nothing.')
  } catch (error) {
    const code = error?.code === undefined ? '' : ` [${error.code}]`
    addText(`${error?.name ?? 'Error'}${code}: ${error?.message ?? error}`, 'failed')
  } finally {
    URL.revokeObjectURL(url)
  }
}

addEventListener('message', async ({ source, data }) => {
  if (source !== parent) return
  if (data?.modules !== undefined) {
    try {
      await load(data.modules)
    } catch (error) {
      addText(String(error), 'failed')
    }
    tell({ isReady: true })
  } else if (typeof data?.code === 'string') {
    await run(data.code)
    tell({ hasEnded: true, text: document.body.innerText })
  }
})

tell({ isThere: true })
