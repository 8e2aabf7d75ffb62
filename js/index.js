'use strict'
// The public names of samebytes.

const { SamebytesError } = require('./base/errors')
if (globalThis.process?.getBuiltinModule?.('node:v8')?.startupSnapshot?.isBuildingSnapshot?.()) {
  throw new SamebytesError(
    'samebytes does not load while Node builds a startup snapshot: load it in the function for v8.startupSnapshot.setDeserializeMainFunction',
    'ERR_UNSUPPORTED',
  )
}
const { functionsOf, lazyFile, readAll } = require('./runtime/lazy')
const { pythonPath: pythonFolder } = require('./runtime/host')
const { backend, wasmMemory, memory, setMemoryLimit, flush } = functionsOf(() =>
  require('./backend/memory'),
)
const { Tensor } = require('./tensor/tensor')
const {
  tensor,
  empty,
  zeros,
  ones,
  full,
  scalarTensor,
  fromBytes,
  clone,
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
} = require('./tensor/creation')
const { fromBlob, forBlob } = require('./tensor/blob')
const { Generator, manualSeed, rand, randn, randint } = require('./tensor/random')
const { dtypes: dtypeList } = require('./backend/dtypes')
const { Scope, keep } = require('./layout/lifetime')
const { tidy, scope, dispose } = functionsOf(() => require('./tensor/scopes'))
const { traceIfAsked } = require('./inspect/autostart')

const { canCast, promoteTypes, isdtype, finfo, iinfo } = functionsOf(() =>
  require('./tensor/dtype-info'),
)
const {
  concat,
  stack,
  broadcastShapes,
  broadcastArrays,
  meshgrid,
  arrayEqual,
  allClose,
  sharesMemory,
} = functionsOf(() => require('./tensor/combine'))
const { moveaxis, tril, triu, takeAlongAxis } = functionsOf(() => require('./tensor/rearrange'))
const { arange, linspace, eye } = functionsOf(() => require('./tensor/sequences'))
const { asarray } = functionsOf(() => require('./tensor/asarray'))

const { fromDlpack } = functionsOf(() => require('./interop/dlpack'))

const { init } = functionsOf(() => require('./backend/init'))
const { share, fromShared, unshare } = functionsOf(() => require('./sharing/tokens'))
const { toOrt, fromOrt } = functionsOf(() => require('./interop/onnxruntime'))

// The types of classes that are loaded at first use, by the getters below the exports.
/** A tensor in memory shared with other processes: made by SharedTensor.create and SharedTensor.open. */
const SharedTensor = /** @type {typeof import('./sharing/shared-tensor').SharedTensor} */ (
  /** @type {unknown} */ (undefined)
)
/** Frames that one process writes and others read: made by SharedRing.create and SharedRing.open. */
const SharedRing = /** @type {typeof import('./sharing/shared-ring').SharedRing} */ (
  /** @type {unknown} */ (undefined)
)

const { parseNpy, parseNpz, parseSafetensors, parseGguf, alloc } = functionsOf(() =>
  require('./files/parse'),
)
const { toNpyBytes, toNpzBytes, toSafetensorsBytes } = functionsOf(() => require('./files/writers'))
const { fetchNpy, fetchNpz, fetchSafetensors, fetchGguf } = functionsOf(() =>
  require('./remote/fetch'),
)
const { openNpy, openNpz, openSafetensors, openGguf, openRaw, createNpy, createSafetensors } =
  functionsOf(() => require('./files/files'))
const { saveNpy, saveNpz, saveSafetensors, saveNpySync, saveNpzSync, saveSafetensorsSync } =
  functionsOf(() => require('./files/files'))
const { save, load } = functionsOf(() => require('./files/files'))

/**
 * The folder of the Python package `samebytes`, for `pip install` and for PYTHONPATH. null in browsers.
 *
 * @type {string | null}
 * @example
 * pythonPath === null || pythonPath.endsWith('python') // true
 */
const pythonPath = pythonFolder

const { hostRegister } = functionsOf(() => require('./interop/host-register'))

const cudaFile = lazyFile(() => require('./backend/cuda'))
const cudaIpcFile = lazyFile(() => require('./sharing/cuda-ipc'))

/**
 * CUDA devices, if there is an NVIDIA driver; else `cuda.whyNot()` says what is missing. The driver is loaded at the first call of a function
 * here, or when a tensor is made on a device.
 *
 * @type {Readonly<Cuda>}
 */
const cuda = /** @type {any} */ ({})
const ofCuda = ['isAvailable', 'whyNot', 'deviceCount', 'properties', 'synchronize', 'memoryStats']
for (const [file, names] of /** @type {[() => any, string[]][]} */ ([
  [cudaFile, [...ofCuda, 'emptyCache', 'Stream', 'Event']],
  [cudaIpcFile, ['share', 'open', 'unshare']],
])) {
  for (const name of names) {
    Object.defineProperty(cuda, name, { get: () => named(name, file()[name]), enumerable: true })
  }
}
Object.freeze(cuda)

// Types for programs in TypeScript.
/** @template {DtypeName} [D=any] @typedef {import('./sharing/tokens').Token<D>} Token */
// @ts-ignore The name of a constant as well, as a class' would be.
/** @template {DtypeName} [D=any] @typedef {import('./sharing/shared-tensor').SharedTensor<D>} SharedTensor */
// @ts-ignore likewise
/** @template {DtypeName} [D=any] @typedef {import('./sharing/shared-ring').SharedRing<D>} SharedRing */
/** @template {DtypeName} [D=any] @typedef {import('./sharing/shared-tensor').Descriptor<D>} Descriptor */
/** @template {DtypeName} [D=any] @typedef {import('./sharing/shared-tensor').CreateOptions<D>} CreateOptions */
/** @template {DtypeName} [D=any] @typedef {import('./sharing/shared-tensor').OpenOptions<D>} OpenOptions */
/** @typedef {import('./sharing/segments').SegmentInfo} SegmentInfo */
/** @template {DtypeName} [D=any] @typedef {import('./sharing/shared-ring').RingOptions<D>} RingOptions */
/** @template {DtypeName} [D=any] @typedef {import('./sharing/shared-ring').Frame<D>} Frame */
/** @typedef {import('./files/tensor-file').TensorFile} TensorFile */
/** @typedef {import('./files/entries').TensorInfo} TensorInfo */
/** @typedef {import('./remote/remote-file').RemoteFile} RemoteFile */
/** @typedef {import('./remote/options').RemoteOptions} RemoteOptions */
/** @template {DtypeName} [D=any] @typedef {import('./remote/options').LoadOptions<D>} LoadOptions */
/** @typedef {import('./files/writers').Tensors} Tensors */
/** @typedef {import('./files/transfers').SaveOptions} SaveOptions */
/** @typedef {import('./backend/init').InitOptions} InitOptions */
/** @typedef {import('./backend/memory').Memory} Memory */
/** @typedef {import('./backend/memory').LinearMemory} LinearMemory */
/** @typedef {import('./base/errors').ErrorCode} ErrorCode */
/** @typedef {import('./base/types').DtypeName} DtypeName */
/** @typedef {import('./base/types').Shape} Shape */
/** @typedef {import('./base/types').Value} Value */
/** @typedef {import('./base/types').Casting} Casting */
/** @typedef {import('./base/types').Dynamism} Dynamism */
/** @typedef {import('./base/types').Order} Order */
/** @typedef {import('./base/types').DeviceName} DeviceName */
/** @typedef {import('./base/types').MemoryFormat} MemoryFormat */
/** @typedef {import('./base/types').SliceSpec} SliceSpec */
/** @typedef {import('./base/types').TensorData} TensorData */
/** @typedef {import('./base/types').CopySource} CopySource */
/** @typedef {import('./base/types').Image} Image */
/** @typedef {import('./base/types').Unsigned} Unsigned */
/** @typedef {import('./base/types').Signed} Signed */
/** @typedef {import('./base/types').Floating} Floating */
/** @typedef {import('./base/types').Complex} Complex */
/** @typedef {import('./base/types').BlobRecord} BlobRecord */
/** @typedef {import('./base/types').Capsule} Capsule */
/** @typedef {import('./base/types').DlpackOptions} DlpackOptions */
/** @typedef {import('./base/types').DlpackSource} DlpackSource */
/** @typedef {import('./base/types').Cuda} Cuda */
/** @typedef {import('./backend/cuda').Stream} CudaStream */
/** @typedef {import('./backend/cuda').Event} CudaEvent */
/** @typedef {import('./backend/cuda').DeviceProperties} DeviceProperties */
/** @typedef {import('./backend/cuda').MemoryStats} MemoryStats */
/** @typedef {import('./base/types').CudaArrayInterface} CudaArrayInterface */
/** @typedef {import('./base/types').CopyOptions} CopyOptions */
/** @typedef {import('./base/types').CopyAsyncOptions} CopyAsyncOptions */
/** @typedef {import('./base/types').CloseOptions} CloseOptions */
/** @typedef {import('./base/types').EqualOptions} EqualOptions */
/** @typedef {import('./base/types').FloatInfo} FloatInfo */
/** @template {DtypeName} D @typedef {import('./base/types').DtypeOf<D>} DtypeOf */
/** @template {DtypeName} D @typedef {import('./base/types').ValueOf<D>} ValueOf */
/** @template {DtypeName} D @template {ArrayBufferLike} [B=any] @typedef {import('./base/types').DataOf<D, B>} DataOf */
/** @template S @typedef {import('./base/types').BufferOf<S>} BufferOf */
/** @template {DtypeName} D @typedef {import('./base/types').InputOf<D>} InputOf */
/** @template {DtypeName} D @typedef {import('./base/types').NestedOf<D>} NestedOf */
/** @typedef {import('./base/types').Elements} Elements */
/** @typedef {import('./base/types').Arrays} Arrays */
/** @typedef {import('./base/types').Rank} Rank */
/** @template V @typedef {import('./base/types').NestedArray<V>} NestedArray */
/** @template {DtypeName} D @template R @typedef {import('./base/types').NestedAs<D, R>} NestedAs */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').DrawOptions<D>} DrawOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').BytesOptions<D>} BytesOptions */
/** @template {DtypeName} [D=any] @typedef {import('./sharing/cuda-ipc').VramDescriptor<D>} VramDescriptor */
/** @template {DtypeName} D @typedef {import('./base/types').PartOf<D>} PartOf */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').Accessor<D>} Accessor */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').AccessorOptions<D>} AccessorOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').IntegerInfo<D>} IntegerInfo */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').Blob<D>} Blob */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').MakeOptions<D>} MakeOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').TensorOptions<D>} TensorOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').RandomOptions<D>} RandomOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').LinspaceOptions<D>} LinspaceOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').EyeOptions<D>} EyeOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').AsarrayOptions<D>} AsarrayOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').BlobOptions<D>} BlobOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').ViewOptions<D>} ViewOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').ResultOptions<D>} ResultOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').ToOptions<D>} ToOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').ToAsyncOptions<D>} ToAsyncOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').AxisOptions<D>} AxisOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').RollOptions<D>} RollOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').AlongOptions<D>} AlongOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types').TriangleOptions<D>} TriangleOptions */
/** @typedef {import('./base/types').GridOptions} GridOptions */
/** @typedef {import('./base/types').DtypeKind} DtypeKind */
/** @template A @template B @typedef {import('./base/types').Promote<A, B>} Promote */
/** @template D @template M @typedef {import('./base/types').Or<D, M>} Or */
/** @template D @typedef {import('./base/types').Floated<D>} Floated */
/** @template D @typedef {import('./base/types').Summed<D>} Summed */
/** @template D @typedef {import('./base/types').RealOf<D>} RealOf */
/** @template V @typedef {import('./base/types').DtypeOfValue<V>} DtypeOfValue */
/** @template {DtypeName} [D=any] @typedef {import('./tensor/blob').BlobBuilder<D>} BlobBuilder */

/** The names of all dtypes, in C's order; frozen. @type {readonly DtypeName[]} */
const dtypes = Object.freeze(dtypeList.map((d) => d.name))

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
  moveaxis,
  tril,
  triu,
  takeAlongAxis,
  broadcastShapes,
  broadcastArrays,
  meshgrid,
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
  fetchNpy,
  fetchNpz,
  fetchSafetensors,
  fetchGguf,
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
  isdtype,
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
  wasmMemory,
}

/**
 * Sets a function's name: functions that are loaded late have none, and bundlers rename the others.
 *
 * @template {Function} F
 * @param {string} name
 * @param {F} value
 * @returns {F}
 */
function named(name, value) {
  if (value.name !== name) Object.defineProperty(value, 'name', { value: name, configurable: true })
  return value
}

for (const [name, value] of Object.entries(module.exports)) {
  if (typeof value === 'function') named(name, value)
}

const sharedTensor = lazyFile(() => require('./sharing/shared-tensor'))
const sharedRing = lazyFile(() => require('./sharing/shared-ring'))
Object.defineProperties(module.exports, {
  SharedTensor: { get: () => named('SharedTensor', sharedTensor().SharedTensor), enumerable: true },
  SharedRing: { get: () => named('SharedRing', sharedRing().SharedRing), enumerable: true },
})

readAll()
traceIfAsked()
