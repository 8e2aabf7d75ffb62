'use strict'
// Call sites: the first frame of the stack that is not samebytes' own, and the function of samebytes that it called. No code of the
// program runs meanwhile, so a tensor's constructor may ask.

const { frameOf } = require('./frames')
const { isOwn } = require('./system')

/** @typedef {{ file: string, line: number, column: number, call: string }} Site call: of samebytes, '' where it is not known */

const DEPTHS = [8, 40] // frames: most sites are among the first few, and each frame costs

/** All sites, each once @type {Map<string, Site>} */
const sites = new Map()

/** Taken now, because programs replace it @type {((holder: object, from: Function) => void) | undefined} */
const capture = /** @type {any} */ (Error).captureStackTrace

/**
 * @param {string} file
 * @param {number} line
 * @param {number} column
 * @param {string} call
 */
function siteOf(file, line, column, call) {
  const key = `${line}:${column}:${call}:${file}`
  let site = sites.get(key)
  if (site === undefined) sites.set(key, (site = { file, line, column, call }))
  return site
}

/** What plain gave, by name @type {Map<string, string>} */
const plains = new Map()

/** A function's own name. @param {string} name  as stacks have it: `get T`, `Tensor.slice`, `async load`, in Firefox `async*load` */
function plain(name) {
  const known = plains.get(name)
  if (known !== undefined) return known
  const bare = name.replace(/^(?:.*\*|async |new |get |set )+/, '').replace(/^.*[.#]/, '')
  const found = bare.replace(/^\[Symbol\.|\]$/g, '')
  plains.set(name, found)
  return found
}

/** V8 calls functions without a name `<anonymous>`, `<computed>` and the like; Firefox `outer/<`, `held/list[1]`, by where they stand. @param {string} name */
const isName = (name) => name !== '' && !/[/<]/.test(name)

/**
 * The site among V8's frames: a prepareStackTrace.
 *
 * @param {unknown} holder
 * @param {any[]} frames
 * @returns {Site | null}
 */
function siteOfFrames(holder, frames) {
  let call = ''
  for (const frame of frames) {
    const file = frame.getScriptNameOrSourceURL() ?? frame.getFileName()
    if (typeof file !== 'string' || file === '' || file.startsWith('node:')) continue
    if (!isOwn(file)) {
      return siteOf(file, frame.getLineNumber() ?? 0, frame.getColumnNumber() ?? 0, call)
    }
    const name = frame.getFunctionName() ?? ''
    if (isName(name)) call = plain(name)
  }
  return null
}

/**
 * The site in a stack's text: other engines give it, and V8 too if the program has its own prepareStackTrace.
 *
 * @param {string} text
 * @returns {Site | null}
 */
function siteOfText(text) {
  let call = ''
  for (const line of text.split('\n')) {
    const frame = frameOf(line)
    if (frame === null || frame.file.startsWith('node:')) continue
    if (!isOwn(frame.file)) return siteOf(frame.file, frame.line, frame.column, call)
    if (isName(frame.name)) call = plain(frame.name)
  }
  return null
}

/**
 * @param {Function} from  that is on the stack: its frame and those above are left out
 * @returns {Site | null} null: only samebytes is on the stack, or it is not known
 */
function siteHere(from) {
  const Class = /** @type {any} */ (Error)
  if (capture === undefined) return siteOfText(String(new Error().stack))
  const { prepareStackTrace, stackTraceLimit } = Class
  try {
    Class.prepareStackTrace = siteOfFrames
    for (const depth of DEPTHS) {
      Class.stackTraceLimit = depth
      const holder = { /** @type {unknown} */ stack: null }
      capture(holder, from)
      const { stack } = holder
      const site =
        typeof stack === 'string'
          ? siteOfText(stack)
          : (/** @type {Site | null | undefined} */ (stack) ?? null) // Bun makes null undefined
      if (site !== null) return site
    }
    return null
  } catch {
    return null // Error is frozen, or the stack is full
  } finally {
    Class.prepareStackTrace = prepareStackTrace
    Class.stackTraceLimit = stackTraceLimit
  }
}

module.exports = { siteHere }
