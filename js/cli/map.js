'use strict'
// samebytes map: runs a program with a map of its memory, on a page or in a file.

const fs = require('node:fs')
const path = require('node:path')
const { failure } = require('../base/errors')
const { run } = require('../inspect/serve')
const { UsageError } = require('./arguments')
const { plain, note } = require('./output')

const MOST_PORT = 65535
const KNOWN = ['.html', '.htm', '.json', '.txt']
const TYPESCRIPT = /\.([cm]?ts|tsx)$/i
const LOADER =
  /^(-r|--require|--import|--loader|--experimental-(loader|strip-types|transform-types))\b/

/**
 * @param {import('./arguments').Given} given
 * @returns {Promise<number | void>} nothing: what the program says is its exit status
 */
async function map({ values: { port, open, snapshot }, operands: [script, ...args] }) {
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && port <= MOST_PORT)) {
    throw new UsageError(`--port is ${JSON.stringify(plain(port))}; 0 to ${MOST_PORT} was expected`)
  }
  if (snapshot !== undefined && !KNOWN.includes(path.extname(snapshot).toLowerCase())) {
    throw new UsageError(
      `${plain(snapshot)} ends in none of ${KNOWN.join(', ')}, which say how the map is written`,
    )
  }
  if (!fs.existsSync(script)) throw failure('ERR_NOT_FOUND', `${script}: there is no such program`)
  const runsTypeScript = /** @type {any} */ (process.features).typescript && !/x$/i.test(script) // it never runs .tsx
  const loads = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)].some(
    (option) => LOADER.test(option),
  ) // something that might
  if (TYPESCRIPT.test(script) && !runsTypeScript && !loads) {
    throw failure(
      'ERR_UNSUPPORTED',
      `${script} is TypeScript, which Node.js ${process.versions.node} does not run by itself (22.18 and later run .ts). Compile it and map the .js file, or name a loader: NODE_OPTIONS='--import tsx' samebytes map ${script}`,
    )
  }
  const folder = path.dirname(path.resolve(snapshot ?? '.'))
  if (!fs.existsSync(folder)) throw failure('ERR_NOT_FOUND', `${folder}: there is no such folder`)
  try {
    await run(script, args, { port: Number(port ?? 0), open, snapshot, print: note })
  } catch (/** @type {any} */ error) {
    const isOurs = String(error?.message).startsWith('the map could not be served')
    if (error?.code === 'ERR_IO' && isOurs) throw error
    console.error(error) // the program's own, with its stack
    return 1
  }
}

module.exports = { map }
