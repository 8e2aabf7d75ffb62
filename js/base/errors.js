'use strict'
// The errors that samebytes throws. Codes and classes come from C's list.

/** The `code` of errors: C's list, then what is of samebytes/nats alone; a test compares both. @typedef {'ERR_ARGUMENT' | 'ERR_SHAPE' | 'ERR_DTYPE' | 'ERR_BOUNDS' | 'ERR_CAST' | 'ERR_DISPOSED' | 'ERR_DETACHED' | 'ERR_STALE' | 'ERR_BUSY' | 'ERR_READ_ONLY' | 'ERR_ALIGNMENT' | 'ERR_OVERLAP' | 'ERR_MEMORY' | 'ERR_DEVICE' | 'ERR_UNSUPPORTED' | 'ERR_FORMAT' | 'ERR_NOT_FOUND' | 'ERR_MODEL' | 'ERR_IO' | 'ERR_EXISTS' | 'ERR_CUDA_CONTEXT_LOST' | 'ERR_NO_RESPONDERS' | 'ERR_TIMEOUT' | 'ERR_BUSY_REMOTE' | 'ERR_DISCONNECTED' | 'ERR_TOO_LARGE' | 'ERR_REMOTE' | 'ERR_CHECKSUM'} ErrorCode */

/**
 * What samebytes throws where JavaScript has no class of its own for it; `code` is stable.
 *
 * @example
 * new SamebytesError('no such thing', 'ERR_UNSUPPORTED').code // 'ERR_UNSUPPORTED'
 */
class SamebytesError extends Error {
  /**
   * @param {string} message
   * @param {ErrorCode} code  such as 'ERR_DISPOSED'
   */
  constructor(message, code) {
    super(message)
    /** Stable, such as 'ERR_DISPOSED'; messages are not. @type {ErrorCode} */
    this.code = code
  }
}
Object.defineProperty(SamebytesError, 'name', { value: 'SamebytesError', configurable: true }) // bundlers give it another
Object.defineProperty(SamebytesError.prototype, 'name', {
  value: 'SamebytesError',
  configurable: true,
  writable: true,
})

/** @type {Record<string, ErrorConstructor | typeof SamebytesError>} */
const classes = {
  ERR_ARGUMENT: TypeError,
  ERR_BOUNDS: RangeError,
  ERR_MEMORY: RangeError,
  ERR_UNSUPPORTED: SamebytesError,
}

/**
 * Learns C's list of errors: [code without ERR_, class name], in the order of its numbers.
 *
 * @param {[string, string][]} list
 * @returns {ErrorCode[]} codes by status number; no error has the first
 */
function learnErrors(list) {
  /** @type {Record<string, ErrorConstructor | typeof SamebytesError>} */
  const known = { TypeError, RangeError, SamebytesError }
  /** @type {any[]} */
  const codes = ['OK']
  for (const [code, name] of list) {
    classes['ERR_' + code] = known[name]
    codes.push('ERR_' + code)
  }
  return codes
}

/** Control characters, changes of direction, lone surrogates, line and paragraph separators. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const SHORT = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/**
 * One line of visible characters for messages, terminals and logs; others are escaped: text from outside, such as names in files or what a
 * server says, may have them.
 *
 * @param {string} text
 * @returns {string}
 */
function plain(text) {
  return text.replace(UNSEEN, (c) => {
    const code = /** @type {number} */ (c.codePointAt(0))
    return (
      SHORT.get(c) ??
      (code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`)
    )
  })
}

/**
 * Makes an error with its code; the class is the one of C's list. Its stack begins at the caller's line.
 *
 * @param {ErrorCode} code
 * @param {string} message  names the argument, what was given and what was expected; characters that nobody sees are escaped
 * @returns {Error & { code: string }}
 */
function failure(code, message) {
  const Class = /** @type {any} */ (classes[code] ?? SamebytesError)
  const text = plain(message)
  const error = withLimit(0, () => new Class(text, code)) // startAtCaller captures the stack
  if (Class !== SamebytesError) error.code = code
  return startAtCaller(error)
}

// ---- Stacks ----

const MORE = 30 // frames of ours at most, above the program's

/**
 * Calls a function with another Error.stackTraceLimit, in vain where Error is frozen.
 *
 * @template R
 * @param {number} limit
 * @param {() => R} fn
 * @returns {R}
 */
function withLimit(limit, fn) {
  const { stackTraceLimit: usual } = /** @type {any} */ (Error)
  if (!(usual > 0)) return fn()
  try {
    Reflect.set(Error, 'stackTraceLimit', limit)
    return fn()
  } finally {
    Reflect.set(Error, 'stackTraceLimit', usual)
  }
}

/**
 * Leaves our frames out of an error's stack when that is read, and not before: making the text takes long, and runs the program's
 * prepareStackTrace.
 *
 * @template {Error} E
 * @param {E} error
 * @returns {E} the error; where it came from a callback and is thrown on by an async function, its stack is that function's
 */
function startAtCaller(error) {
  const { captureStackTrace: capture } = /** @type {any} */ (Error)
  if (capture === undefined) return error
  /** the text begins with name and message; prepareStackTrace is given this, and expects an Error @type {any} */
  let holder = { __proto__: error, name: error.name, message: error.message, stack: undefined }
  const { stackTraceLimit: limit } = /** @type {any} */ (Error)
  withLimit(limit + MORE, () => capture(holder, startAtCaller))
  /** @type {unknown[] | undefined} */
  let read
  delete error.stack // defining it anew would read it first
  Object.defineProperty(
    error,
    'stack',
    /** @type {PropertyDescriptor} */ ({
      __proto__: null,
      get() {
        read ??= [withoutOwn(holder.stack, limit)]
        holder = undefined
        return read[0]
      },
      set(value) {
        read = [value]
        holder = undefined
      },
      configurable: true,
    }),
  )
  return error
}

/** Frames without a file of the program: functions of the engine and of Node, which called ours or were called by them. */
const BUILT_IN =
  /\(<anonymous>\)$|\(index \d+\)$|node:internal\/|\[native code\]$|^[^@]*@self-hosted:/

/**
 * @param {unknown} stack
 * @param {number} limit  of frames
 * @returns {unknown} from the first frame of the program on; whole where it has none
 */
function withoutOwn(stack, limit) {
  own ??= ownPlace()
  if (own === '' || typeof stack !== 'string') return stack
  const lines = stack.split('\n')
  const at = lines.findIndex((line) => /^\s+at /.test(line))
  const first = Math.max(at, 0) // V8's begin with the message
  const from = lines.findIndex(
    (line, i) => i >= first && line !== '' && !line.includes(own) && !BUILT_IN.test(line),
  )
  const frames = lines.slice(Math.max(from, first))
  return [...lines.slice(0, first), ...(limit > 0 ? frames.slice(0, limit) : frames)].join('\n')
}

/** What names of our files begin with in stacks; '': a bundler put them into the program's own. @type {string} */
let own

/** @returns {string} */
function ownPlace() {
  const folder = typeof __dirname === 'string' ? /^.*[\\/]js[\\/](?=base$)/.exec(__dirname) : null
  const url = /\w+:\/\/[^\s()]*\/samebytes(?=[\w-]*\.mjs\b)/
  return (folder ?? url.exec(String(new Error().stack)))?.[0] ?? ''
}

module.exports = { SamebytesError, learnErrors, failure, startAtCaller, plain, UNSEEN }
