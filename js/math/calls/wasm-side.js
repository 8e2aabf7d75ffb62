'use strict'
// WebAssembly modules over the memory of the main one, whose functions they call: arithmetic's, and that of algorithms. Of each, each thread
// has an instance with data, a stack and a table of its own, in a storage that its environment claims until it ends: C frees it then. No tensor is
// over it, and JavaScript never drops it.

const { failure } = require('../../base/errors')
const { compile } = require('../../runtime/wasm-modules')

const STACK = 131072 // bytes; tiles and what calls them take some 60 KB
const ALIGNMENT = 64 // of the data, and of the stack's end

/** @param {'math' | 'algorithms'} name */
const another = (name) =>
  failure(
    'ERR_FORMAT',
    `the module is not the one for ${name === 'math' ? 'arithmetic' : name} (samebytes-${name}.wasm)`,
  )

/**
 * What the module wants, of its section dylink.0: two bytes of head, then numbers in LEB128.
 *
 * @param {import('../../base/types').WasmModule} module
 * @param {'math' | 'algorithms'} name
 */
function needsOf(module, name) {
  const section = WebAssembly.Module.customSections(/** @type {any} */ (module), 'dylink.0')[0]
  if (section === undefined) throw another(name)
  const bytes = new Uint8Array(section)
  let at = 2
  const next = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]
      value |= (byte & 127) << shift
      if (byte < 128) return value
    }
  }
  const nbytes = next()
  const alignment = 2 ** next()
  if (alignment > ALIGNMENT) {
    throw failure(
      'ERR_FORMAT',
      `the module's data is aligned to ${alignment} bytes; at most ${ALIGNMENT} are possible`,
    )
  }
  return { nbytes, functions: next() }
}

/**
 * Memory that this thread's environment claims until it ends.
 *
 * @param {import('../../backend/wasm').Backend} backend
 * @param {number} nbytes
 * @returns {number} its address
 * @throws {RangeError} ERR_MEMORY
 */
function claim(backend, nbytes) {
  const address = backend.exports.sb__alloc_aligned(nbytes) >>> 0
  if (address === 0) {
    throw failure('ERR_MEMORY', `${nbytes} bytes could not be allocated in WASM memory`)
  }
  backend.renewIfBeyond(address + nbytes)
  return address
}

/**
 * Makes this thread's instance.
 *
 * @param {import('../../backend/wasm').Backend} backend
 * @param {'math' | 'algorithms'} name
 * @returns {{ tables: any, call: (row: number) => void }} its lists, and its calls by the call buffer
 * @throws {RangeError} ERR_MEMORY · ERR_UNSUPPORTED the module is not there · ERR_FORMAT it is another one
 */
function openSide(backend, name) {
  const module = compile(
    backend.group === null ? `samebytes-${name}.wasm` : `samebytes-${name}-shared.wasm`,
  )
  const { nbytes, functions } = needsOf(module, name)
  const callName = `sb_${name}_call`
  if (
    !WebAssembly.Module.exports(/** @type {any} */ (module)).some(({ name }) => name === callName)
  ) {
    throw another(name)
  }
  const place = claim(backend, STACK + nbytes + ALIGNMENT)
  const data = Math.ceil((place + STACK) / ALIGNMENT) * ALIGNMENT
  new Uint8Array(backend.current(), data, nbytes).fill(0) // what the module does not initialise is 0
  const number = (/** @type {number} */ value, mutable = false) =>
    new WebAssembly.Global({ value: 'i32', mutable }, value)
  /** @type {any} */
  const env = {
    memory: backend.memory,
    __memory_base: number(data),
    __stack_pointer: number(data, true),
    __indirect_function_table: new WebAssembly.Table({ element: 'anyfunc', initial: functions }),
  }
  const wanted = WebAssembly.Module.imports(/** @type {any} */ (module))
  for (let i = 0; i < wanted.length; i++) {
    const { name, kind } = wanted[i]
    if (kind === 'function') env[name] = backend.exports[name]
  }
  try {
    const { exports } = new WebAssembly.Instance(/** @type {any} */ (module), { env })
    const { [`sb_${name}_tables`]: tables, [callName]: call } = /** @type {any} */ (exports)
    return { tables: JSON.parse(backend.textAt(tables())), call }
  } catch (error) {
    backend.exports.sb__free_aligned(place)
    if (!(error instanceof WebAssembly.LinkError)) throw error
    throw failure('ERR_FORMAT', `samebytes-${name}.wasm is not of this build: ${error.message}`)
  }
}

/**
 * Makes this thread's instance for arithmetic.
 *
 * @param {import('../../backend/wasm').Backend} backend
 * @returns {{ tables: any, algorithms: () => any, call: (row: number) => void, start: (row: number, done: () => void) => void }} its lists; those of
 *   algorithms, whose instance is made for the first call of this; calls by the call buffer, arithmetic's rows before those of algorithms; there are no threads
 * @throws {RangeError} as openSide; so does `algorithms`
 */
function openMath(backend) {
  const { tables, call: callMath } = openSide(backend, 'math')
  const count = tables.exports.length - 1
  /** @type {ReturnType<typeof openSide> | null} */
  let algorithms = null
  const open = () => (algorithms ??= openSide(backend, 'algorithms'))
  const call = (/** @type {number} */ row) => {
    if (row < count) {
      callMath(row)
      return
    }
    const { call: callAlgorithm } = open()
    callAlgorithm(row - count)
  }
  return { tables, algorithms: () => open().tables, call, start: call }
}

module.exports = { openMath }
