'use strict'
// The public package: names only. What they do is in the files that they come from.

const { SamebytesError, failure } = require('./errors')
const { traceIfAsked } = require('./host')
const { later, laterFile, readAll } = require('./later')
const host = require('./host')
const { stats, counts, budget, countedBytes } = require('./storage')
const { show } = require('./validate')
const ffi = require('./ffi')
const { Tensor } = require('./tensor')
const { tensor, empty, zeros, ones, full, scalarTensor, fromBytes, clone, sharesMemory, canCast } = require('./make')
const { fromBlob, forBlob } = require('./blob')
const { Generator, manualSeed, rand, randn, randint } = require('./random')
const { dtypes: dtypeList } = require('./dtypes')
const lifetime = require('./lifetime')
const { Scope, keep } = require('./lifetime')
const { exported } = require('./loans')

const { backend: engine } = ffi

/** @type {typeof import('./typeinfo').promoteTypes} */
const promoteTypes = later(() => require('./typeinfo').promoteTypes)
/** @type {typeof import('./typeinfo').finfo} */
const finfo = later(() => require('./typeinfo').finfo)
/** @type {typeof import('./typeinfo').iinfo} */
const iinfo = later(() => require('./typeinfo').iinfo)
/** @type {typeof import('./combine').concat} */
const concat = later(() => require('./combine').concat)
/** @type {typeof import('./combine').stack} */
const stack = later(() => require('./combine').stack)
/** @type {typeof import('./combine').arrayEqual} */
const arrayEqual = later(() => require('./combine').arrayEqual)
/** @type {typeof import('./combine').allClose} */
const allClose = later(() => require('./combine').allClose)
/** @type {typeof import('./like').emptyLike} */
const emptyLike = later(() => require('./like').emptyLike)
/** @type {typeof import('./like').zerosLike} */
const zerosLike = later(() => require('./like').zerosLike)
/** @type {typeof import('./like').onesLike} */
const onesLike = later(() => require('./like').onesLike)
/** @type {typeof import('./like').fullLike} */
const fullLike = later(() => require('./like').fullLike)
/** @type {typeof import('./like').randLike} */
const randLike = later(() => require('./like').randLike)
/** @type {typeof import('./like').randnLike} */
const randnLike = later(() => require('./like').randnLike)
/** @type {typeof import('./like').randintLike} */
const randintLike = later(() => require('./like').randintLike)
/** @type {typeof import('./strided').emptyStrided} */
const emptyStrided = later(() => require('./strided').emptyStrided)
/** @type {typeof import('./strided').zerosStrided} */
const zerosStrided = later(() => require('./strided').zerosStrided)
/** @type {typeof import('./strided').onesStrided} */
const onesStrided = later(() => require('./strided').onesStrided)
/** @type {typeof import('./strided').fullStrided} */
const fullStrided = later(() => require('./strided').fullStrided)
/** @type {typeof import('./strided').randStrided} */
const randStrided = later(() => require('./strided').randStrided)
/** @type {typeof import('./strided').randnStrided} */
const randnStrided = later(() => require('./strided').randnStrided)
/** @type {typeof import('./strided').randintStrided} */
const randintStrided = later(() => require('./strided').randintStrided)
/** @type {typeof import('./sequences').arange} */
const arange = later(() => require('./sequences').arange)
/** @type {typeof import('./sequences').linspace} */
const linspace = later(() => require('./sequences').linspace)
/** @type {typeof import('./sequences').eye} */
const eye = later(() => require('./sequences').eye)
/** @type {typeof import('./asarray').asarray} */
const asarray = later(() => require('./asarray').asarray)

/** @type {typeof import('./dlpack').fromDlpack} */
const fromDlpack = later(() => require('./dlpack').fromDlpack)

/** @type {typeof import('./init').init} */
const init = later(() => require('./init').init)
/** @type {typeof import('./share').share} */
const share = later(() => require('./share').share)
/** @type {typeof import('./share').fromShared} */
const fromShared = later(() => require('./share').fromShared)
/** @type {typeof import('./share').unshare} */
const unshare = later(() => require('./share').unshare)
/** @type {typeof import('./ort').toOrt} */
const toOrt = later(() => require('./ort').toOrt)
/** @type {typeof import('./ort').fromOrt} */
const fromOrt = later(() => require('./ort').fromOrt)

// What samebytes/module needs of the package beyond its public names; a page's bundle of it finds them here.
const instance = laterFile(() => require('./instance'))
Object.defineProperty(Tensor, Symbol.for('samebytes.instance'), { get: () => instance().instance() })

// Classes that are read when they are first asked for, by the getters below the exports: here are their names and types.
/** A tensor in memory that other processes see, with what names it to them: made by SharedTensor.create and SharedTensor.open. */
const SharedTensor = /** @type {typeof import('./shared-tensor').SharedTensor} */ (/** @type {unknown} */ (undefined))
/** Frames that one process writes and others read: made by SharedRing.create and SharedRing.open. */
const SharedRing = /** @type {typeof import('./shared-ring').SharedRing} */ (/** @type {unknown} */ (undefined))

/** @type {typeof import('./formats').parseNpy} */
const parseNpy = later(() => require('./formats').parseNpy)
/** @type {typeof import('./formats').parseNpz} */
const parseNpz = later(() => require('./formats').parseNpz)
/** @type {typeof import('./formats').parseSafetensors} */
const parseSafetensors = later(() => require('./formats').parseSafetensors)
/** @type {typeof import('./formats').parseGguf} */
const parseGguf = later(() => require('./formats').parseGguf)
/** @type {typeof import('./writers').toNpyBytes} */
const toNpyBytes = later(() => require('./writers').toNpyBytes)
/** @type {typeof import('./writers').toNpzBytes} */
const toNpzBytes = later(() => require('./writers').toNpzBytes)
/** @type {typeof import('./writers').toSafetensorsBytes} */
const toSafetensorsBytes = later(() => require('./writers').toSafetensorsBytes)
/** @type {typeof import('./files').openNpy} */
const openNpy = later(() => require('./files').openNpy)
/** @type {typeof import('./files').openNpz} */
const openNpz = later(() => require('./files').openNpz)
/** @type {typeof import('./files').openSafetensors} */
const openSafetensors = later(() => require('./files').openSafetensors)
/** @type {typeof import('./files').openGguf} */
const openGguf = later(() => require('./files').openGguf)
/** @type {typeof import('./files').openRaw} */
const openRaw = later(() => require('./files').openRaw)
/** @type {typeof import('./files').createNpy} */
const createNpy = later(() => require('./files').createNpy)
/** @type {typeof import('./files').createSafetensors} */
const createSafetensors = later(() => require('./files').createSafetensors)
/** @type {typeof import('./files').saveNpy} */
const saveNpy = later(() => require('./files').saveNpy)
/** @type {typeof import('./files').saveNpz} */
const saveNpz = later(() => require('./files').saveNpz)
/** @type {typeof import('./files').saveSafetensors} */
const saveSafetensors = later(() => require('./files').saveSafetensors)
/** @type {typeof import('./files').saveNpySync} */
const saveNpySync = later(() => require('./files').saveNpySync)
/** @type {typeof import('./files').saveNpzSync} */
const saveNpzSync = later(() => require('./files').saveNpzSync)
/** @type {typeof import('./files').saveSafetensorsSync} */
const saveSafetensorsSync = later(() => require('./files').saveSafetensorsSync)
/** @type {typeof import('./files').save} */
const save = later(() => require('./files').save)
/** @type {typeof import('./files').load} */
const load = later(() => require('./files').load)
/** @type {typeof import('./formats').alloc} */
const alloc = later(() => require('./formats').alloc)

/**
 * Folder of the Python module `samebytes_cuda`, for PYTHONPATH: GPU memory that Node and Python have together. null in browsers.
 *
 * @type {string | null}
 * @example
 * pythonPath === null || pythonPath.endsWith('python') // true
 */
const pythonPath = host.pythonPath

/** @type {typeof import('./cuda').hostRegister} */
const hostRegister = later(() => require('./cuda').hostRegister)

/** @typedef {typeof import('./cuda')} CudaFile */
const cudaFile = laterFile(() => require('./cuda'))

/**
 * CUDA devices, where an NVIDIA driver is there: `cuda.whyNot()` says what is missing. The driver is looked for when
 * something here is called, or a tensor is made on a device.
 *
 * @type {Readonly<Pick<CudaFile, 'isAvailable' | 'whyNot' | 'deviceCount' | 'properties' | 'synchronize' | 'memoryStats' | 'emptyCache' | 'Stream' | 'Event' | 'share' | 'open' | 'unshare'>>}
 */
const cuda = Object.freeze(Object.defineProperties(/** @type {any} */ ({}), Object.fromEntries(
  ['isAvailable', 'whyNot', 'deviceCount', 'properties', 'synchronize', 'memoryStats', 'emptyCache', 'Stream', 'Event', 'share', 'open', 'unshare'].map(name => {
    const get = () => named(name, /** @type {any} */ (cudaFile())[name])
    return [name, { get, enumerable: true }]
  })
)))

// The words of the types, for programs in TypeScript.
/** @typedef {import('./share').Token} Token */
// @ts-ignore The name of a constant as well, as a class' would be.
/** @template {DtypeName} [D=any] @typedef {import('./shared-tensor').SharedTensor<D>} SharedTensor */
// @ts-ignore likewise
/** @template {DtypeName} [D=any] @typedef {import('./shared-ring').SharedRing<D>} SharedRing */
/** @typedef {import('./shared-tensor').Descriptor} Descriptor */
/** @template {DtypeName} [D=any] @typedef {import('./shared-tensor').CreateOptions<D>} CreateOptions */
/** @template {DtypeName} [D=any] @typedef {import('./shared-tensor').OpenOptions<D>} OpenOptions */
/** @typedef {import('./segments').SegmentInfo} SegmentInfo */
/** @template {DtypeName} [D=any] @typedef {import('./shared-ring').RingOptions<D>} RingOptions */
/** @template {DtypeName} [D=any] @typedef {import('./shared-ring').Frame<D>} Frame */
/** @typedef {import('./formats').TensorFile} TensorFile */
/** @typedef {import('./formats').TensorInfo} TensorInfo */
/** @typedef {import('./writers').Tensors} Tensors */
/** @typedef {import('./files').SaveOptions} SaveOptions */
/** @typedef {import('./init').InitOptions} InitOptions */
/** @typedef {import('./types').DtypeName} DtypeName */
/** @typedef {import('./types').Shape} Shape */
/** @typedef {import('./types').Value} Value */
/** @typedef {import('./types').Casting} Casting */
/** @typedef {import('./types').Dynamism} Dynamism */
/** @typedef {import('./types').Order} Order */
/** @typedef {import('./types').DeviceName} DeviceName */
/** @typedef {import('./types').MemoryFormat} MemoryFormat */
/** @typedef {import('./types').SliceSpec} SliceSpec */
/** @typedef {import('./types').TensorData} TensorData */
/** @typedef {import('./types').CopySource} CopySource */
/** @typedef {import('./types').Image} Image */
/** @typedef {import('./types').Unsigned} Unsigned */
/** @typedef {import('./types').Signed} Signed */
/** @typedef {import('./types').Floating} Floating */
/** @typedef {import('./types').Complex} Complex */
/** @typedef {import('./types').BlobRecord} BlobRecord */
/** @typedef {import('./types').Capsule} Capsule */
/** @typedef {import('./types').DlpackOptions} DlpackOptions */
/** @typedef {import('./types').DlpackSource} DlpackSource */
/** @typedef {import('./cuda').Stream} CudaStream */
/** @typedef {import('./cuda').Event} CudaEvent */
/** @typedef {import('./cuda').DeviceProperties} DeviceProperties */
/** @typedef {import('./cuda').MemoryStats} MemoryStats */
/** @typedef {import('./types').CudaArrayInterface} CudaArrayInterface */
/** @typedef {import('./types').CopyOptions} CopyOptions */
/** @typedef {import('./types').CopyAsyncOptions} CopyAsyncOptions */
/** @typedef {import('./types').CloseOptions} CloseOptions */
/** @typedef {import('./types').EqualOptions} EqualOptions */
/** @typedef {import('./types').FloatInfo} FloatInfo */
/** @template {DtypeName} D @typedef {import('./types').DtypeOf<D>} DtypeOf */
/** @template {DtypeName} D @typedef {import('./types').ValueOf<D>} ValueOf */
/** @template {DtypeName} D @typedef {import('./types').DataOf<D>} DataOf */
/** @template {DtypeName} D @typedef {import('./types').InputOf<D>} InputOf */
/** @template {DtypeName} D @typedef {import('./types').NestedOf<D>} NestedOf */
/** @template {DtypeName} D @typedef {import('./types').PartOf<D>} PartOf */
/** @template {DtypeName} [D=any] @typedef {import('./types').Accessor<D>} Accessor */
/** @template {DtypeName} [D=any] @typedef {import('./types').AccessorOptions<D>} AccessorOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types').IntegerInfo<D>} IntegerInfo */
/** @template {DtypeName} [D=any] @typedef {import('./types').Blob<D>} Blob */
/** @template {DtypeName} [D=any] @typedef {import('./types').MakeOptions<D>} MakeOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types').RandomOptions<D>} RandomOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types').LinspaceOptions<D>} LinspaceOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types').EyeOptions<D>} EyeOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types').AsarrayOptions<D>} AsarrayOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types').BlobOptions<D>} BlobOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types').ViewOptions<D>} ViewOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types').ResultOptions<D>} ResultOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types').ToOptions<D>} ToOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types').ToAsyncOptions<D>} ToAsyncOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types').AxisOptions<D>} AxisOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types').RollOptions<D>} RollOptions */
/** @template A @template B @typedef {import('./types').Promote<A, B>} Promote */
/** @template {DtypeName} [D=any] @typedef {import('./blob').BlobBuilder<D>} BlobBuilder */

/**
 * Which back end does the work: the same calls give the same bits on each.
 *
 * @returns {'native' | 'wasm' | 'wasm-shared'}
 * @throws nothing
 * @example
 * ['native', 'wasm', 'wasm-shared'].includes(backend()) // true
 */
function backend () {
  return /** @type {'native' | 'wasm' | 'wasm-shared'} */ (engine.name)
}

/**
 * A WebAssembly.Memory, of the type that the program's own declarations have for it.
 *
 * @typedef {typeof globalThis extends { WebAssembly: { Memory: { prototype: infer M } } } ? M : import('./wasm').WasmMemory} LinearMemory
 */

/**
 * The WebAssembly.Memory in which dataPtr is an address; its buffer is another one after it grows.
 *
 * @returns {LinearMemory | undefined} undefined on native
 * @throws nothing
 * @example
 * (wasmMemory() === undefined) === (backend() === 'native') // true
 */
function wasmMemory () {
  return /** @type {any} */ ('memory' in engine ? engine.memory : undefined)
}

/**
 * Runs a function and disposes every tensor made inside but what it returns (also inside arrays and
 * objects) or keeps. Synchronous: a returned promise throws.
 *
 * @template R
 * @param {() => R} fn
 * @returns {R} what fn returned
 * @throws {TypeError} ERR_ARGUMENT no function, or a promise · what fn throws; all is disposed then
 * @see TensorFlow.js tidy
 * @example
 * tidy(() => zeros([2, 3]).T.contiguous()).shape // [3, 2]
 */
function tidy (fn) {
  return lifetime.tidy(fn, Tensor.isTensor)
}

/**
 * Runs an asynchronous function with a scope; what it tracks is disposed at the end, but for what is
 * returned or kept.
 *
 * @template R
 * @param {(scope: InstanceType<typeof Scope>) => Promise<R> | R} fn
 * @returns {Promise<R>} what fn returned
 * @throws {TypeError} ERR_ARGUMENT no function · what fn throws, as rejections; all is disposed then
 * @example
 * const t = await scope(async s => s.track(ones([2])).clone())
 * t.toArray() // [1, 1]
 */
function scope (fn) {
  return lifetime.scope(fn, Tensor.isTensor)
}

/**
 * Disposes each tensor of a list.
 *
 * @param {readonly Tensor[] | Tensor} list
 * @throws {TypeError} ERR_ARGUMENT; nothing is disposed then
 * @example
 * const t = zeros([2])
 * dispose([t, ones([2])])
 * t.isDisposed // true
 */
function dispose (list) {
  const all = Tensor.isTensor(list) ? [list] : Array.isArray(list) ? list : null
  if (all === null || !all.every(Tensor.isTensor)) throw failure('ERR_ARGUMENT', `dispose was given ${show(list)}; a tensor or an array of them was expected`)
  for (const t of all) t.dispose()
}

/**
 * @typedef {object} Memory
 * @property {number} tensors  neither disposed nor known to be collected
 * @property {number} storages  blocks of bytes behind them
 * @property {Record<'v8' | 'native' | 'mapped' | 'shared' | 'pinned' | 'cuda' | 'wasm', number>} bytes
 * @property {Record<string, { count: number, bytes: number }>} copied  by the function that copied
 * @property {{ count: number, bytes: number }} staged  temporary copies: overlap, the caller's bytes in WASM
 * @property {number} promoted  small tensors whose bytes got a buffer of their own
 * @property {number} grown  times that WASM memory grew; where threads share it: that this one noticed
 * @property {number} inFlight  copies that are pending, uses of tokens that nobody has taken yet, and device memory that is kept for others
 * @property {number} exported  loans of this thread's tensors that native code has
 * @property {number} deleterErrors  deleters that threw
 */

/**
 * What is alive and what was copied, as plain numbers. What V8 owns is counted until it is known to be
 * collected: small tensors by the block that they share.
 *
 * @returns {Memory} a snapshot
 * @throws nothing
 * @example
 * const { count } = memory().copied.clone ?? { count: 0 }
 * zeros([2]).clone()
 * memory().copied.clone.count - count // 1
 */
function memory () {
  const lent = exported() // first: what came back is let go of
  engine.sweep()
  let tensors = 0
  let storages = 0
  for (const row of counts.values()) {
    tensors += row.tensors
    storages += row.storages
  }
  const { v8, sab } = countedBytes()
  const { heap, inFlight, mapped, pinned, cuda: there } = ffi.totals()
  const bytes = { v8, native: 0, mapped, shared: sab, pinned, cuda: there, wasm: 0 }
  bytes[engine.isWasm ? 'wasm' : 'native'] = heap
  return {
    tensors,
    storages,
    bytes,
    copied: Object.fromEntries(Object.entries(stats.copied).map(([reason, row]) => [reason, { ...row }])),
    staged: { ...stats.staged },
    promoted: stats.promoted,
    grown: stats.grown,
    inFlight: stats.inFlight + inFlight + ffi.sharedVram(),
    exported: lent,
    deleterErrors: stats.deleterErrors
  }
}

/**
 * Sets how many bytes tensors may take together: what they own, whoever allocated it, but not the caller's bytes. A
 * request beyond it is ERR_MEMORY; what exists stays.
 *
 * @param {number} nbytes  Infinity for no limit; without a call it is the container's memory, else the machine's
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS below 0
 * @example
 * setMemoryLimit(2 ** 34)
 */
function setMemoryLimit (nbytes) {
  if (typeof nbytes !== 'number' || Number.isNaN(nbytes)) throw failure('ERR_ARGUMENT', `nbytes is ${show(nbytes)}; a number was expected`)
  if (nbytes < 0) throw failure('ERR_BOUNDS', `nbytes is ${nbytes}; 0 or more was expected`)
  budget.limit = nbytes
  budget.isKnown = true
}

/**
 * Waits until deleters that are due have run.
 *
 * @returns {Promise<void>}
 * @throws nothing
 * @example
 * await flush()
 */
function flush () {
  return engine.flush()
}

/** The names of all dtypes, in C's order; frozen. @type {readonly DtypeName[]} */
const dtypes = Object.freeze(dtypeList.map(d => d.name))

module.exports = {
  init,
  Tensor,
  Scope,
  SamebytesError,
  tensor,
  empty,
  zeros,
  ones,
  full,
  fromBytes,
  fromBlob,
  forBlob,
  rand,
  randn,
  randint,
  manualSeed,
  Generator,
  scalarTensor,
  arange,
  linspace,
  eye,
  asarray,
  emptyLike,
  zerosLike,
  onesLike,
  fullLike,
  randLike,
  randnLike,
  randintLike,
  emptyStrided,
  zerosStrided,
  onesStrided,
  fullStrided,
  randStrided,
  randnStrided,
  randintStrided,
  clone,
  concat,
  stack,
  arrayEqual,
  allClose,
  sharesMemory,
  share,
  fromShared,
  unshare,
  // @ts-ignore likewise
  SharedTensor,
  // @ts-ignore likewise
  SharedRing,
  parseNpy,
  parseNpz,
  parseSafetensors,
  parseGguf,
  toNpyBytes,
  toNpzBytes,
  toSafetensorsBytes,
  openNpy,
  openNpz,
  openSafetensors,
  openGguf,
  openRaw,
  createNpy,
  createSafetensors,
  saveNpy,
  saveNpz,
  saveSafetensors,
  saveNpySync,
  saveNpzSync,
  saveSafetensorsSync,
  save,
  load,
  alloc,
  pythonPath,
  cuda,
  hostRegister,
  fromDlpack,
  toOrt,
  fromOrt,
  canCast,
  promoteTypes,
  finfo,
  iinfo,
  dtypes,
  tidy,
  scope,
  keep,
  dispose,
  memory,
  setMemoryLimit,
  flush,
  backend,
  wasmMemory
}

/**
 * What is read late has no name of its own, and bundlers and minifiers give the others another.
 *
 * @template {Function} F
 * @param {string} name
 * @param {F} value
 * @returns {F}
 */
function named (name, value) {
  if (value.name !== name) Object.defineProperty(value, 'name', { value: name, configurable: true })
  return value
}

for (const [name, value] of Object.entries(module.exports)) {
  if (typeof value === 'function') named(name, value)
}

const sharedTensor = laterFile(() => require('./shared-tensor'))
const sharedRing = laterFile(() => require('./shared-ring'))
Object.defineProperties(module.exports, {
  SharedTensor: { get: () => named('SharedTensor', sharedTensor().SharedTensor), enumerable: true },
  SharedRing: { get: () => named('SharedRing', sharedRing().SharedRing), enumerable: true }
})

readAll()
traceIfAsked()
