/// <reference lib="esnext.disposable" preserve="true" />
'use strict'
// samebytes/module: the class Module, which runs models with onnxruntime over the bytes of tensors.

const { instance } = require('./internals')
const {
  runtimeOf,
  modelOf,
  openSession,
  close,
  runsOf,
  sharedRuntime,
  sharedSession,
} = require('./sessions')
const { slotsOf, slotOf, namesOf, readOf, operandOf, targetOf } = require('./signature')
const { Run } = require('./run')
const { SessionHold } = require('./gpu-output')

/** @typedef {import('../tensor/tensor').Tensor} Tensor */
/** @typedef {import('./gpu-output').GpuOutput} GpuOutput */
/** @typedef {import('./signature').ValueInfo} ValueInfo */
/** @typedef {import('./run').Method} Method */
/** @typedef {import('./sessions').RuntimeInfo} RuntimeInfo */

/**
 * A value for an input. Tensors and typed arrays of the input's dtype are read in place. Numbers, booleans and lists are copied into a
 * tensor of the input's dtype, with leading axes of one element if the input has more axes.
 *
 * @typedef {Tensor | number | bigint | boolean | string | readonly any[] | ArrayBufferView | GpuOutput | { type: string, dims: readonly number[], data: any, location: string }} ModelValue
 */

/** A result. @typedef {Tensor | GpuOutput | import('../base/types').NestedArray<string>} ModelResult */

/**
 * What a program knows of a model: by name, what goes in and what comes out. `{ outputs: { label: string[] } }` has an output of strings.
 *
 * @typedef {{ inputs?: object, outputs?: object }} ModelSignature
 */
/** A value of which no tensor of another dtype is one. @typedef {number | bigint | boolean | string | readonly any[] | (ArrayBufferView & { readonly BYTES_PER_ELEMENT: number }) | GpuOutput | { type: string, dims: readonly number[], data: any, location: string, dtype?: undefined }} OtherValue */
/** Inputs by name. @template M @typedef {import('../base/types').IsAny<M> extends true ? Readonly<Record<string, ModelValue | undefined>> : M extends { inputs: infer I } ? { readonly [K in keyof I]?: I[K] | OtherValue | undefined } : Readonly<Record<string, ModelValue | undefined>>} InputsOf */
/** Results by name; tensors where nothing is known. @template M @typedef {import('../base/types').IsAny<M> extends true ? Record<string, Tensor> : M extends { outputs: infer O } ? O : Record<string, Tensor>} OutputsOf */
/** Results by index. @template M @typedef {[OutputsOf<M>[keyof OutputsOf<M>], ...OutputsOf<M>[keyof OutputsOf<M>][]]} ResultsOf */

/** @typedef {string | URL | ArrayBufferLike | ArrayBufferView | Tensor} ModelSource a URL (also as a string that begins with a scheme, such as https:), a path (in pages a URL), or bytes */

/**
 * Options of onnxruntime's sessions, as it names them, and these of ours.
 *
 * @typedef {object} ModuleOptions
 * @property {any} [ort]  the onnxruntime to use; else, in Node, the C library of onnxruntime-node, or what is installed of onnxruntime-node and onnxruntime-web
 * @property {'auto' | 'library' | 'binding' | undefined} [runtime]  what runs models: onnxruntime-node's C library, off JavaScript's thread, or onnxruntime's JavaScript, on it. 'auto', the default,
 *   takes the library where it knows each option; `module.runtime` tells which, and why
 * @property {'auto' | 'always' | 'never' | undefined} [thread]  where the library runs: 'auto', the default, on another thread unless the last eight runs with these shapes took less than 0.1 ms each;
 *   'never': on JavaScript's thread, where no buffer need be marked or staged
 * @property {any} [weights]  tensors by name (a file of tensors, a Map or an object) in the place of the model's weights of these names, which the session reads where they are: in mapped files and other
 *   memory of C; other tensors are copied once, counted in `memory().copied.load`. Each external weight of the model has to be there. The library alone
 * @property {'each' | 'shared' | 'none' | undefined} [prepack]  who has the copies of weights that kernels want laid out otherwise: 'each', the default, every session; 'shared', all that are loaded over the
 *   same `weights`; 'none', nobody: kernels take the weights as they are, and floats may differ in their last bits. The library alone
 * @property {number | undefined} [concurrency]  runs of this module at a time, 1 unless told. More than one overlap on the library alone
 */
/** @typedef {ModuleOptions & { [option: string]: unknown }} SessionOptions */

/**
 * @template [M=any] what is known of the model
 * @typedef {object} RunOptions
 * @property {string | undefined} [method]  'forward' unless told
 * @property {readonly (keyof OutputsOf<M> | Tensor | null | undefined)[] | { readonly [K in keyof OutputsOf<M>]?: OutputsOf<M>[K] | null | undefined } | undefined} [outputs]  tensors to write results
 *   into, by index or by name; or names: only these outputs are computed
 * @property {boolean | undefined} [inPlace]  lets one tensor be an output and the input that the model makes it of, where the graph says that this is safe: past and present keys, or values, of a
 *   GroupQueryAttention whose past nothing else reads; false unless told. Other outputs over an input's bytes are ERR_OVERLAP. The library alone
 * @property {import('../base/types').Signal | undefined} [signal]  rejects the call. A run of the library that has begun ends with the node in progress, and its tensors are busy until then; another
 *   goes on to its end
 */

/**
 * What share() gives: plain data for postMessage and structuredClone. Its fields are private.
 *
 * @template {ModelSignature} [M=any]
 * @typedef {object} ModuleToken
 * @property {string} samebytes  the package's version
 * @property {'module'} kind
 * @property {number} home  the process
 * @property {{ name: string, key: number, source: unknown }[]} methods
 * @property {'auto' | 'always' | 'never'} thread
 * @property {number} concurrency
 * @property {M} [signature]  never there: what is known of the model
 */

/** @type {typeof Symbol.asyncDispose} */
const ASYNC_DISPOSE = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')

const OF_RUN = ['method', 'outputs', 'signal', 'inPlace']

/** required by the constructor */
const KEY = Symbol('samebytes/module')

/**
 * @param {any} value
 * @returns {value is Record<string, unknown>} is it a plain object, of any realm?
 */
function isRecord(value) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const prototype = Object.getPrototypeOf(value)
  return (
    prototype === null ||
    (Object.getPrototypeOf(prototype) === null && typeof value.location !== 'string')
  )
}

/** what a module's method was called on @type {(it: any) => Module} */
let own

/** @param {(() => void)[]} list  gets what resolves the promise @returns {Promise<void>} */
const waitIn = (list) =>
  new Promise((resolve) => {
    list.push(resolve)
  })

/**
 * A model's methods, run by onnxruntime. Inputs are read and given outputs are written in the tensors' own bytes; what onnxruntime cannot read or write there
 * is copied and counted. Calls begin in order, each with the inputs and outputs set when it was made.
 *
 * The bytes of a call's inputs and outputs are kept until it settles (dispose frees nothing), and are busy: samebytes' writers, resize
 * and setData throw ERR_BUSY. An output of a pending call cannot be given to another call.
 *
 * Results belong to the caller: later runs write only into tensors that they are given. Given outputs are returned as the same
 * tensors, resized if the output's shape differs and they have room.
 *
 * @template {ModelSignature} [M=any] what 'forward' takes and gives: Module<{ inputs: { x: Tensor<'float32'> }, outputs: { y: Tensor<'float32'> } }>
 */
class Module {
  /** @type {Map<string, Method>} */
  #methods
  /** resolvers of calls that wait for their turn @type {(() => void)[]} */
  #waiting = []
  /** calls that have not settled */
  #pending = 0
  /** calls that may begin at once */
  #free
  /** @type {RuntimeInfo} */
  #runtime
  #concurrency
  /** resolvers of dispose calls that wait for those @type {(() => void)[]} */
  #idle = []
  /** @type {Promise<void> | null} */
  #ending = null

  static {
    own = (it) => instance().receiver('module', (each) => #methods in each)(it)
  }

  /**
   * @param {symbol} key
   * @param {Map<string, Method>} methods
   * @param {RuntimeInfo} runtime
   * @param {number} concurrency
   * @private
   */
  constructor(key, methods, runtime, concurrency) {
    if (key !== KEY) throw instance().failure('ERR_ARGUMENT', 'modules are made by Module.load')
    this.#methods = methods
    this.#runtime = runtime
    this.#free = this.#concurrency = concurrency
  }

  /**
   * Loads one model as method 'forward', or several as methods named by a record's keys.
   *
   * @template {ModelSignature} [M=any]
   * @param {ModelSource | Record<string, ModelSource>} source  bytes stay the caller's, who does not change them until the promise settles
   * @param {SessionOptions} [sessionOptions]
   * @returns {Promise<Module<M>>}
   * @throws {TypeError} ERR_ARGUMENT · ERR_FORMAT not a model · ERR_NOT_FOUND no such file, or a weight or a file of weights that is missing · ERR_DTYPE, {RangeError} ERR_SHAPE a weight of another dtype or shape · ERR_IO ·
   *   ERR_UNSUPPORTED no onnxruntime, or not with these options, or a model that was prepacked for another; each as a rejection, and nothing stays loaded
   * @see ExecuTorch Module::load, Module::load_method
   */
  static async load(source, sessionOptions) {
    const { failure, Tensor } = instance()
    const isOne = !isRecord(source) || Tensor.isTensor(source)
    const sources = isOne ? [['forward', source]] : Object.entries(source)
    if (sources.length === 0) {
      throw failure(
        'ERR_ARGUMENT',
        'source is an object without methods; a path, URL or bytes, or a record of them by method, was expected',
      )
    }
    const models = sources.map(([name, each]) => modelOf(isOne ? 'source' : `source.${name}`, each))
    const { runtime, concurrency } = await runtimeOf(sessionOptions)
    /** @type {Map<string, Method>} */
    const methods = new Map()
    try {
      for (const [i, [name]] of sources.entries()) {
        const own = { ...runtime } // one model may need the binding, another not
        const session = await openSession(models[i], own)
        methods.set(String(name), methodOver(String(name), session, own))
      }
    } catch (error) {
      for (const { session } of methods.values()) await close(session)
      throw error
    }
    const infos = [...methods.values()].map((method) => method.runtime.info)
    const info = infos.find(({ name }) => name === 'binding') ?? infos[0]
    return new Module(KEY, methods, info, concurrency)
  }

  /**
   * A token for another thread of the process: post it, and `Module.fromShared` there makes a module over the same sessions, whose weights are in memory once. Each module has inputs, outputs and an
   * order of its own; a session is released with the last of them. An unused token keeps the sessions; `unshare` takes it back.
   *
   * @param {{ uses?: number | undefined }} [options]  uses: how often it can be taken; 1 unless told
   * @returns {ModuleToken<M>}
   * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS uses below 1 · ERR_DISPOSED · ERR_UNSUPPORTED onnxruntime's JavaScript runs the model (`runtime`)
   */
  share(options) {
    const module = own(this)
    Module.#methodOf(module, module.methodNames[0])
    const { failure, optionsOf, show, version, ffi } = instance()
    const { uses = 1 } = optionsOf(options, ['uses'], 'share')
    if (!Number.isInteger(uses)) {
      throw failure('ERR_ARGUMENT', `uses is ${show(uses)}; an integer was expected`)
    }
    if (uses < 1) throw failure('ERR_BOUNDS', `uses is ${uses}; it is at least 1`)
    const { name, reason } = module.#runtime
    if (name !== 'library') {
      throw failure('ERR_UNSUPPORTED', `share takes onnxruntime's library: ${reason}`)
    }
    const list = [...module.#methods.values()]
    return {
      samebytes: version,
      kind: 'module',
      home: ffi.home(),
      methods: list.map(({ name: title, session }) => ({
        name: title,
        key: session.share(uses),
        source: session.source,
      })),
      thread: list[0].runtime.thread,
      concurrency: module.#concurrency,
    }
  }

  /**
   * A module over the sessions of another thread's, with the same methods. Uses the token once.
   *
   * @template {ModelSignature} [M=any]
   * @param {ModuleToken<M>} token
   * @returns {Module<M>}
   * @throws {TypeError} ERR_ARGUMENT no token of a module's · ERR_STALE used up, taken back, or of another process · ERR_UNSUPPORTED of another version, or this thread cannot use the library
   */
  static fromShared(token) {
    const { runtime, concurrency, methods } = sharedBy(token)
    return new Module(KEY, methods, runtime.info, concurrency)
  }

  /** Names of the methods, in the order of loading; a copy. @returns {string[]} */
  get methodNames() {
    return [...own(this).#methods.keys()]
  }
  /** The inputs of 'forward'; a copy. @returns {ValueInfo[]} @throws ERR_NOT_FOUND there is no 'forward' */
  get inputs() {
    return own(this).meta().inputs
  }
  /** The outputs of 'forward'; a copy. @returns {ValueInfo[]} @throws ERR_NOT_FOUND there is no 'forward' */
  get outputs() {
    return own(this).meta().outputs
  }
  /**
   * What runs the models: onnxruntime's C library or its JavaScript, its version, and why it is not the library.
   *
   * @returns {RuntimeInfo} a copy
   */
  get runtime() {
    return { ...own(this).#runtime }
  }
  /** Was dispose called? Never throws. @returns {boolean} */
  get isDisposed() {
    return own(this).#ending !== null
  }

  /**
   * The inputs and outputs of a method.
   *
   * @param {string} [method]
   * @returns {{ inputs: ValueInfo[], outputs: ValueInfo[] }} copies
   * @throws ERR_NOT_FOUND · {TypeError} ERR_ARGUMENT
   * @see ExecuTorch Module::method_meta
   */
  meta(method) {
    const { inputs, outputs } = Module.#methodOf(this, method)
    return { inputs: inputs.map((slot) => slot.info), outputs: outputs.map((slot) => slot.info) }
  }

  /**
   * Runs a method once. Inputs that are missing or undefined are those of setInput.
   *
   * @overload
   * @param {readonly (ModelValue | undefined)[]} [inputs]  by index
   * @param {RunOptions<M>} [options]
   * @returns {Promise<ResultsOf<M>>} an array of results; given outputs are the same tensors, written in place, or copied into, counted, by an onnxruntime that cannot
   * @throws {TypeError} ERR_DTYPE, ERR_CAST, ERR_ARGUMENT · {RangeError} ERR_SHAPE too many inputs, another shape, not contiguous, an output without room; ERR_BOUNDS ·
   *   ERR_NOT_FOUND · ERR_BUSY · ERR_OVERLAP an output over an input's bytes · ERR_READ_ONLY, ERR_DISPOSED, ERR_DETACHED ·
   *   ERR_DEVICE an output on the GPU for a module without WebGPU · ERR_MODEL onnxruntime failed, its error is the cause · the signal's reason; each as a rejection
   * @see ExecuTorch Module::execute, onnxruntime InferenceSession.run
   */
  /**
   * Runs a method once, with inputs and results by name, for some of its outputs.
   *
   * @template {keyof OutputsOf<M>} K
   * @overload
   * @param {InputsOf<M>} inputs  by name
   * @param {RunOptions<M> & { outputs: readonly K[] }} options  outputs: names
   * @returns {Promise<Pick<OutputsOf<M>, K>>} a record of these results
   */
  /**
   * Runs a method once, with inputs and results by name.
   *
   * @overload
   * @param {InputsOf<M>} inputs  by name
   * @param {RunOptions<M>} [options]
   * @returns {Promise<OutputsOf<M>>} a record of results
   */
  /**
   * @param {any} [inputs]
   * @param {RunOptions} [options]
   * @returns {Promise<any>}
   */
  run(inputs = [], options = undefined) {
    return Module.#call(this, undefined, undefined, inputs, options)
  }

  /**
   * Runs 'forward'.
   *
   * @overload
   * @param {...(ModelValue | undefined)} values  by index
   * @returns {Promise<ResultsOf<M>>} as run
   * @throws as run
   * @see ExecuTorch Module::forward
   */
  /**
   * Runs 'forward', with inputs and results by name.
   *
   * @overload
   * @param {InputsOf<M>} inputs  by name
   * @returns {Promise<OutputsOf<M>>}
   */
  /**
   * @param {...any} values
   * @returns {Promise<any>}
   */
  forward(...values) {
    return Module.#call(this, 'forward', values)
  }

  /**
   * Runs a method.
   *
   * @template {ModelSignature} [N=any] the method's
   * @overload
   * @param {string} method
   * @param {...(ModelValue | undefined)} values  by index
   * @returns {Promise<ResultsOf<N>>} as run
   * @throws as run
   * @see ExecuTorch Module::execute
   */
  /**
   * Runs a method, with inputs and results by name.
   *
   * @template {ModelSignature} [N=any] the method's
   * @overload
   * @param {string} method
   * @param {InputsOf<N>} inputs  by name
   * @returns {Promise<OutputsOf<N>>}
   */
  /**
   * @param {string} method
   * @param {...any} values
   * @returns {Promise<any>}
   */
  execute(method, ...values) {
    return Module.#call(this, method ?? null, values)
  }

  /**
   * Sets an input for later calls, until it is set again; a call's own value has precedence. Of a tensor the module keeps its own view, with
   * the current shape: dispose, resize and setData of the tensor have no effect, but writes to its bytes do. Other values are
   * converted to a tensor now.
   *
   * @template {keyof InputsOf<M>} K
   * @overload
   * @param {K} name
   * @param {Exclude<InputsOf<M>[K], undefined> | null} value  null: unsets it
   * @returns {void}
   * @throws as run, of this value
   * @see ExecuTorch Module::set_input
   */
  /**
   * The same by index, or of another method.
   *
   * @overload
   * @param {number} index
   * @param {ModelValue | null} value  null: unsets it
   * @param {string} [method]
   * @returns {void}
   */
  /**
   * The same by name, of another method.
   *
   * @overload
   * @param {string} name
   * @param {ModelValue | null} value  null: unsets it
   * @param {string} method
   * @returns {void}
   */
  /**
   * @param {any} nameOrIndex
   * @param {any} value
   * @param {string} [method]
   */
  setInput(nameOrIndex, value, method) {
    const found = Module.#methodOf(this, method)
    const slot = slotOf(found.inputs, nameOrIndex, 'input')
    if (value === undefined) {
      const text = `${slot.title} is undefined; a value was expected, or null for none`
      throw instance().failure('ERR_ARGUMENT', text)
    }
    const given = value === null ? undefined : givenOf(slot, value)
    if (this.#ending !== null) {
      // code of the value has disposed the module
      forget(given)
      Module.#methodOf(this, method)
    }
    forget(found.given[slot.index])
    found.given[slot.index] = given
  }

  /**
   * Sets the tensor that later calls write an output into, until it is set again. Only one pending call can write into it.
   *
   * @template {keyof OutputsOf<M>} K
   * @overload
   * @param {K} name
   * @param {Extract<OutputsOf<M>[K], Tensor> | null} tensor  row-major contiguous, of the output's dtype; null: each call makes a new tensor
   * @returns {void}
   * @throws as run, of this output
   * @see ExecuTorch Module::set_output
   */
  /**
   * The same by index, or of another method.
   *
   * @overload
   * @param {number} index
   * @param {Tensor | null} tensor
   * @param {string} [method]
   * @returns {void}
   */
  /**
   * The same by name, of another method.
   *
   * @overload
   * @param {string} name
   * @param {Tensor | null} tensor
   * @param {string} method
   * @returns {void}
   */
  /**
   * @param {any} nameOrIndex
   * @param {any} tensor
   * @param {string} [method]
   */
  setOutput(nameOrIndex, tensor, method) {
    const found = Module.#methodOf(this, method)
    const slot = slotOf(found.outputs, nameOrIndex, 'output')
    if (tensor !== null) targetOf(slot, tensor)
    found.targets[slot.index] = tensor ?? undefined
  }

  /**
   * An output of a method's last successful run. The module keeps results until the next run.
   *
   * @template {number | string} [K=number]
   * @param {K} [nameOrIndex]  0 unless told
   * @param {string} [method]
   * @returns {K extends keyof OutputsOf<M> ? OutputsOf<M>[K] : ResultsOf<M>[number]}
   * @throws ERR_NOT_FOUND no such output, or no run yet · {RangeError} ERR_BOUNDS · {TypeError} ERR_ARGUMENT · ERR_DISPOSED
   * @see ExecuTorch Module::get_output
   */
  getOutput(nameOrIndex = /** @type {any} */ (0), method = undefined) {
    const { failure } = instance()
    const { name, outputs, results } = Module.#methodOf(this, method)
    const slot = slotOf(outputs, nameOrIndex, 'output')
    if (results === null) {
      throw failure('ERR_NOT_FOUND', `${slot.title}: no run of '${name}' has ended well yet`)
    }
    const result = results[slot.index]
    if (result === undefined) {
      const text = `${slot.title}: the last run of '${name}' was not asked for it`
      throw failure('ERR_NOT_FOUND', text)
    }
    return result
  }

  /**
   * Releases the sessions, after pending calls have settled; one with outputs on the GPU when the last of these is disposed or collected.
   * Later calls throw ERR_DISPOSED. Results stay valid.
   *
   * @returns {Promise<void>} the same promise each time
   * @throws nothing
   */
  dispose() {
    try {
      own(this)
    } catch (error) {
      return Promise.reject(error)
    }
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end() {
    if (this.#pending > 0) await waitIn(this.#idle)
    for (const method of this.#methods.values()) {
      for (const given of method.given.splice(0)) forget(given)
      method.targets = []
      method.results = null
      await method.hold.end(() => close(method.session))
    }
  }

  /**
   * @param {unknown} it  what a method was called on
   * @param {unknown} name
   * @returns {Method} of a module that is not disposed
   */
  static #methodOf(it, name = 'forward') {
    const { failure, show } = instance()
    const module = own(it)
    if (module.#ending !== null) throw failure('ERR_DISPOSED', 'the module was disposed')
    if (typeof name !== 'string') {
      throw failure('ERR_ARGUMENT', `method is ${show(name)}; a name was expected`)
    }
    const method = module.#methods.get(name)
    if (method === undefined) {
      throw failure(
        'ERR_NOT_FOUND',
        `there is no method ${show(name)}; methods are ${namesOf(/** @type {any} */ ([...module.#methods.values()]))}`,
      )
    }
    return method
  }

  /**
   * Garbage is collected in a later turn of the event loop. onnxruntime-web ends a run without one, so it comes here.
   *
   * @template T
   * @param {Promise<T>} pending
   */
  static async #withTurn(pending) {
    const { ffi, onNextTurn } = instance()
    try {
      return await pending
    } finally {
      if (ffi.backend.isWasm) await new Promise((resolve) => onNextTurn(() => resolve(undefined)))
    }
  }

  /**
   * Makes a call and waits for its turn and its end.
   *
   * @param {any} it  what a method was called on
   * @param {unknown} name
   * @param {any[] | undefined} list  arguments of forward and execute; undefined: run's arguments follow
   * @param {any} [inputs]
   * @param {any} [options]
   */
  static async #call(it, name, list, inputs, options) {
    const module = own(it)
    /** @type {import('../base/signals').Signal | undefined} */
    let signal
    let outputs
    let inPlace = false
    if (list === undefined) ({ name, outputs, signal, inPlace } = runOptions(inputs, options))
    else inputs = list.length === 1 && isRecord(list[0]) ? list[0] : list
    const method = Module.#methodOf(module, name)
    const values = valuesOf(method, inputs)
    const { targets, wanted } = targetsOf(method, outputs)
    if (signal !== undefined) instance().checkSignal(signal)
    const pairs = inPlace ? pairsOf(method) : null
    const run = new Run(method, values, targets, wanted, pairs) // the last step that may run code of the caller's
    if (module.#ending !== null) Module.#methodOf(module, name)
    run.pin()
    module.#pending++
    try {
      if (module.#free > 0) module.#free--
      else await waitIn(module.#waiting)
      if (signal !== undefined) instance().checkSignal(signal)
      const results = await Module.#withTurn(run.perform(signal, module.#pending === 1))
      method.results = results
      if (!Array.isArray(inputs)) {
        return Object.fromEntries(wanted.map((i) => [method.outputs[i].name, results[i]]))
      }
      return wanted === method.all && wanted.length === results.length
        ? results.slice()
        : wanted.map((i) => results[i])
    } finally {
      run.unpin()
      const next = module.#waiting.shift()
      if (next === undefined) module.#free++
      else next()
      if (--module.#pending === 0) for (const resolve of module.#idle.splice(0)) resolve()
    }
  }

  /** What `await using` calls: dispose(). */
  async [ASYNC_DISPOSE]() {
    return own(this).dispose()
  }
}

/**
 * @param {string} name
 * @param {any} session
 * @param {import('./sessions').Runtime} runtime
 * @returns {Method}
 */
function methodOver(name, session, runtime) {
  const inputs = slotsOf('input', session.inputNames, session.inputMetadata)
  const outputs = slotsOf('output', session.outputNames, session.outputMetadata)
  for (const slot of outputs) slot.isInput = session.inputNames.includes(slot.name)
  return {
    name,
    session,
    runtime,
    library: runsOf(session, runtime),
    abilities: null,
    hold: new SessionHold(),
    inputs,
    outputs,
    all: outputs.filter(({ isTensor }) => isTensor).map(({ index }) => index),
    given: [],
    targets: [],
    results: null,
  }
}

/**
 * @param {Method} method
 * @returns {Map<string, string>} inputs that may have an output's bytes, by the output
 */
function pairsOf({ session, runtime }) {
  const { name, reason } = runtime.info
  if (name !== 'library') {
    throw instance().failure('ERR_UNSUPPORTED', `inPlace takes onnxruntime's library: ${reason}`)
  }
  return session.pairs()
}

/**
 * What a token of a module's stands for. Its fields are read once; they may be forged.
 *
 * @param {any} token
 */
function sharedBy(token) {
  const { failure, show, version, ffi } = instance()
  const { samebytes, kind, home, methods: given, thread, concurrency } = token ?? {}
  if (typeof samebytes !== 'string' || kind !== 'module' || !Array.isArray(given)) {
    throw failure(
      'ERR_ARGUMENT',
      `token is ${show(token)}; what a module's share() gave was expected`,
    )
  }
  if (samebytes !== version) {
    throw failure(
      'ERR_UNSUPPORTED',
      `the token is from samebytes ${samebytes}; this is ${version}, and both have to be the same`,
    )
  }
  if (home !== ffi.home()) throw failure('ERR_STALE', 'the token was made by another process')
  const list = given.map((/** @type {any} */ each) => [
    String(each?.name),
    Number(each?.key),
    each?.source,
  ])
  const runtime = sharedRuntime(thread, concurrency)
  /** @type {Map<string, Method>} */
  const methods = new Map()
  try {
    for (const [name, key, source] of list) {
      const session = sharedSession(/** @type {number} */ (key), source, runtime)
      methods.set(
        /** @type {string} */ (name),
        methodOver(/** @type {string} */ (name), session, runtime),
      )
    }
  } catch (error) {
    for (const { session } of methods.values()) close(session)
    throw error
  }
  return { runtime, concurrency, methods }
}

/**
 * A value for setInput, exempt from scopes; of a tensor, a view that the caller cannot dispose.
 *
 * @param {import('./signature').Slot} slot
 * @param {unknown} value
 * @returns {Tensor | import('./signature').Strings | GpuOutput}
 */
function givenOf(slot, value) {
  const { Tensor, keep } = instance()
  const read = readOf(slot, value)
  if (!Tensor.isTensor(read)) return read
  try {
    operandOf(slot, read)
    return keep(read === value ? read.view() : read)
  } catch (error) {
    if (read !== value) read.dispose()
    throw error
  }
}

/** @param {Tensor | import('./signature').Strings | GpuOutput | undefined} given */
function forget(given) {
  if (instance().Tensor.isTensor(given)) given.dispose()
}

/**
 * Reads the arguments of run.
 *
 * @param {unknown} inputs
 * @param {unknown} options
 */
function runOptions(inputs, options) {
  const { failure, show, signalOf, optionsOf } = instance()
  if (!Array.isArray(inputs) && !isRecord(inputs)) {
    throw failure(
      'ERR_ARGUMENT',
      `inputs is ${show(inputs)}; an array or a record of values was expected`,
    )
  }
  if (options === undefined) {
    return { name: undefined, outputs: undefined, signal: undefined, inPlace: false }
  }
  if (!isRecord(options)) {
    throw failure('ERR_ARGUMENT', `options is ${show(options)}; an object was expected`)
  }
  const { method, outputs, signal, inPlace } = optionsOf(options, OF_RUN, 'run')
  if (inPlace !== undefined && typeof inPlace !== 'boolean') {
    throw failure('ERR_ARGUMENT', `inPlace is ${show(inPlace)}; true or false was expected`)
  }
  return { name: method, outputs, signal: signalOf(signal), inPlace: inPlace === true }
}

/**
 * @param {Method} method
 * @param {readonly unknown[] | Record<string, unknown>} inputs
 * @returns {unknown[]} by index; undefined: use setInput's
 */
function valuesOf(method, inputs) {
  if (Array.isArray(inputs)) {
    return listed(inputs, method.inputs, `inputs were given; '${method.name}' takes`)
  }
  /** @type {unknown[]} */
  const values = []
  for (const [key, value] of Object.entries(inputs)) {
    const { index } = slotOf(method.inputs, key, 'input')
    if (value !== undefined) values[index] = value
  }
  return values
}

/**
 * @param {readonly unknown[]} given  its length is not trusted
 * @param {import('./signature').Slot[]} slots
 * @param {string} but  for the message
 * @returns {any[]} its entries, each read once
 */
function listed(given, slots, but) {
  const { failure, show } = instance()
  const { length } = given
  if (!(length <= slots.length)) {
    throw failure('ERR_SHAPE', `${show(length)} ${but} ${slots.length}: ${namesOf(slots)}`)
  }
  const list = []
  for (let i = 0; i < length; i++) list.push(given[i])
  return list
}

/**
 * @param {Method} method
 * @param {any} outputs  of a call's options
 * @returns {{ targets: (Tensor | undefined)[], wanted: number[] }}
 */
function targetsOf(method, outputs) {
  const { failure, show } = instance()
  const targets = method.targets.slice()
  const { all } = method
  if (outputs === undefined) return { targets: method.targets, wanted: all }
  const indexOf = (/** @type {string} */ name) => slotOf(method.outputs, name, 'output').index
  if (Array.isArray(outputs)) {
    const list = listed(outputs, method.outputs, `outputs were given; '${method.name}' has`)
    if (list.length > 0 && list.every((each) => typeof each === 'string')) {
      return { targets, wanted: [...new Set(list)].map(indexOf) }
    }
    for (const [i, t] of list.entries()) if (t !== undefined) targets[i] = t ?? undefined
  } else if (isRecord(outputs)) {
    for (const [key, t] of Object.entries(outputs)) {
      if (t !== undefined) targets[indexOf(key)] = /** @type {any} */ (t) ?? undefined
    }
  } else {
    throw failure(
      'ERR_ARGUMENT',
      `outputs is ${show(outputs)}; tensors in an array or a record, or names, were expected`,
    )
  }
  return { targets, wanted: all }
}

module.exports = { Module }
