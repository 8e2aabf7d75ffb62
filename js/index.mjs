// The same instance for import as for require.
export {
  init, Tensor, Scope, SamebytesError, tensor, empty, zeros, ones, full, fromBytes, fromBlob, forBlob, clone,
  concat, stack, arrayEqual, allClose,
  rand, randn, randint, manualSeed, Generator,
  scalarTensor, arange, linspace, eye, asarray,
  emptyLike, zerosLike, onesLike, fullLike, randLike, randnLike, randintLike,
  emptyStrided, zerosStrided, onesStrided, fullStrided, randStrided, randnStrided, randintStrided,
  parseNpy, parseNpz, parseSafetensors, parseGguf, alloc, cuda, hostRegister,
  toNpyBytes, toNpzBytes, toSafetensorsBytes,
  openNpy, openNpz, openSafetensors, openGguf, openRaw, createNpy, createSafetensors, saveNpy, saveNpz,
  saveSafetensors, saveNpySync, saveNpzSync, saveSafetensorsSync, save, load,
  sharesMemory, share, fromShared, unshare, SharedTensor, SharedRing, pythonPath, fromDlpack, toOrt, fromOrt, canCast, promoteTypes, finfo, iinfo, dtypes, tidy, scope, keep, dispose, memory, setMemoryLimit, flush, backend, wasmMemory
} from './index.js'

/** @typedef {import('./backend/init.js').InitOptions} InitOptions */
/** @template {DtypeName} [D=any] @typedef {import('./sharing/tokens.js').Token<D>} Token */
/** @template {DtypeName} [D=any] @typedef {import('./sharing/shared-tensor.js').Descriptor<D>} Descriptor */
/** @template {DtypeName} [D=any] @typedef {import('./sharing/shared-tensor.js').CreateOptions<D>} CreateOptions */
/** @template {DtypeName} [D=any] @typedef {import('./sharing/shared-tensor.js').OpenOptions<D>} OpenOptions */
/** @typedef {import('./index.js').SegmentInfo} SegmentInfo */
/** @template {DtypeName} [D=any] @typedef {import('./index.js').RingOptions<D>} RingOptions */
/** @template {DtypeName} [D=any] @typedef {import('./index.js').Frame<D>} Frame */
/** @typedef {import('./files/tensor-file.js').TensorFile} TensorFile */
/** @typedef {import('./index.js').TensorInfo} TensorInfo */
/** @typedef {import('./index.js').Tensors} Tensors */
/** @typedef {import('./index.js').SaveOptions} SaveOptions */
/** @typedef {import('./base/types.js').DtypeName} DtypeName */
/** @typedef {import('./base/types.js').Shape} Shape */
/** @typedef {import('./base/types.js').Value} Value */
/** @typedef {import('./base/types.js').Casting} Casting */
/** @typedef {import('./base/types.js').Dynamism} Dynamism */
/** @typedef {import('./base/types.js').Order} Order */
/** @typedef {import('./base/types.js').DeviceName} DeviceName */
/** @typedef {import('./base/types.js').MemoryFormat} MemoryFormat */
/** @typedef {import('./base/types.js').SliceSpec} SliceSpec */
/** @typedef {import('./base/types.js').TensorData} TensorData */
/** @typedef {import('./base/types.js').CopySource} CopySource */
/** @typedef {import('./base/types.js').Image} Image */
/** @typedef {import('./base/types.js').Unsigned} Unsigned */
/** @typedef {import('./base/types.js').Signed} Signed */
/** @typedef {import('./base/types.js').Floating} Floating */
/** @typedef {import('./base/types.js').Complex} Complex */
/** @typedef {import('./base/types.js').BlobRecord} BlobRecord */
/** @typedef {import('./base/types.js').Capsule} Capsule */
/** @typedef {import('./base/types.js').DlpackOptions} DlpackOptions */
/** @typedef {import('./base/types.js').DlpackSource} DlpackSource */
/** @typedef {import('./index.js').CudaStream} CudaStream */
/** @typedef {import('./index.js').CudaEvent} CudaEvent */
/** @typedef {import('./index.js').DeviceProperties} DeviceProperties */
/** @typedef {import('./index.js').MemoryStats} MemoryStats */
/** @typedef {import('./base/types.js').CudaArrayInterface} CudaArrayInterface */
/** @typedef {import('./base/types.js').CopyOptions} CopyOptions */
/** @typedef {import('./base/types.js').CopyAsyncOptions} CopyAsyncOptions */
/** @typedef {import('./base/types.js').CloseOptions} CloseOptions */
/** @typedef {import('./base/types.js').EqualOptions} EqualOptions */
/** @typedef {import('./base/types.js').FloatInfo} FloatInfo */
/** @template {DtypeName} D @typedef {import('./base/types.js').DtypeOf<D>} DtypeOf */
/** @template {DtypeName} D @typedef {import('./base/types.js').ValueOf<D>} ValueOf */
/** @template {DtypeName} D @typedef {import('./base/types.js').DataOf<D>} DataOf */
/** @template {DtypeName} D @typedef {import('./base/types.js').InputOf<D>} InputOf */
/** @template {DtypeName} D @typedef {import('./base/types.js').NestedOf<D>} NestedOf */
/** @typedef {import('./base/types.js').Elements} Elements */
/** @typedef {import('./base/types.js').Arrays} Arrays */
/** @typedef {import('./base/types.js').Rank} Rank */
/** @template V @typedef {import('./base/types.js').NestedArray<V>} NestedArray */
/** @template {DtypeName} D @template R @typedef {import('./base/types.js').NestedAs<D, R>} NestedAs */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').DrawOptions<D>} DrawOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').BytesOptions<D>} BytesOptions */
/** @template {DtypeName} [D=any] @typedef {import('./sharing/cuda-ipc.js').VramDescriptor<D>} VramDescriptor */
/** @template {DtypeName} D @typedef {import('./base/types.js').PartOf<D>} PartOf */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').Accessor<D>} Accessor */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').AccessorOptions<D>} AccessorOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').IntegerInfo<D>} IntegerInfo */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').Blob<D>} Blob */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').MakeOptions<D>} MakeOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').RandomOptions<D>} RandomOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').LinspaceOptions<D>} LinspaceOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').EyeOptions<D>} EyeOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').AsarrayOptions<D>} AsarrayOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').BlobOptions<D>} BlobOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').ViewOptions<D>} ViewOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').ResultOptions<D>} ResultOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').ToOptions<D>} ToOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').ToAsyncOptions<D>} ToAsyncOptions */
/** @template {DtypeName} [D=any] @typedef {import('./base/types.js').AxisOptions<D>} AxisOptions */
/** @template A @template B @typedef {import('./base/types.js').Promote<A, B>} Promote */
/** @typedef {import('./index.js').Memory} Memory */
/** @template {DtypeName} [D=any] @typedef {import('./tensor/blob.js').BlobBuilder<D>} BlobBuilder */
