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

/** @typedef {import('./init.js').InitOptions} InitOptions */
/** @typedef {import('./share.js').Token} Token */
/** @typedef {import('./shared-tensor.js').Descriptor} Descriptor */
/** @template {DtypeName} [D=any] @typedef {import('./shared-tensor.js').CreateOptions<D>} CreateOptions */
/** @template {DtypeName} [D=any] @typedef {import('./shared-tensor.js').OpenOptions<D>} OpenOptions */
/** @typedef {import('./index.js').SegmentInfo} SegmentInfo */
/** @template {DtypeName} [D=any] @typedef {import('./index.js').RingOptions<D>} RingOptions */
/** @template {DtypeName} [D=any] @typedef {import('./index.js').Frame<D>} Frame */
/** @typedef {import('./formats.js').TensorFile} TensorFile */
/** @typedef {import('./index.js').TensorInfo} TensorInfo */
/** @typedef {import('./index.js').Tensors} Tensors */
/** @typedef {import('./index.js').SaveOptions} SaveOptions */
/** @typedef {import('./types.js').DtypeName} DtypeName */
/** @typedef {import('./types.js').Shape} Shape */
/** @typedef {import('./types.js').Value} Value */
/** @typedef {import('./types.js').Casting} Casting */
/** @typedef {import('./types.js').Dynamism} Dynamism */
/** @typedef {import('./types.js').Order} Order */
/** @typedef {import('./types.js').DeviceName} DeviceName */
/** @typedef {import('./types.js').MemoryFormat} MemoryFormat */
/** @typedef {import('./types.js').SliceSpec} SliceSpec */
/** @typedef {import('./types.js').TensorData} TensorData */
/** @typedef {import('./types.js').CopySource} CopySource */
/** @typedef {import('./types.js').Image} Image */
/** @typedef {import('./types.js').Unsigned} Unsigned */
/** @typedef {import('./types.js').Signed} Signed */
/** @typedef {import('./types.js').Floating} Floating */
/** @typedef {import('./types.js').Complex} Complex */
/** @typedef {import('./types.js').BlobRecord} BlobRecord */
/** @typedef {import('./types.js').Capsule} Capsule */
/** @typedef {import('./types.js').DlpackOptions} DlpackOptions */
/** @typedef {import('./types.js').DlpackSource} DlpackSource */
/** @typedef {import('./index.js').CudaStream} CudaStream */
/** @typedef {import('./index.js').CudaEvent} CudaEvent */
/** @typedef {import('./index.js').DeviceProperties} DeviceProperties */
/** @typedef {import('./index.js').MemoryStats} MemoryStats */
/** @typedef {import('./types.js').CudaArrayInterface} CudaArrayInterface */
/** @typedef {import('./types.js').CopyOptions} CopyOptions */
/** @typedef {import('./types.js').CopyAsyncOptions} CopyAsyncOptions */
/** @typedef {import('./types.js').CloseOptions} CloseOptions */
/** @typedef {import('./types.js').EqualOptions} EqualOptions */
/** @typedef {import('./types.js').FloatInfo} FloatInfo */
/** @template {DtypeName} D @typedef {import('./types.js').DtypeOf<D>} DtypeOf */
/** @template {DtypeName} D @typedef {import('./types.js').ValueOf<D>} ValueOf */
/** @template {DtypeName} D @typedef {import('./types.js').DataOf<D>} DataOf */
/** @template {DtypeName} D @typedef {import('./types.js').InputOf<D>} InputOf */
/** @template {DtypeName} D @typedef {import('./types.js').NestedOf<D>} NestedOf */
/** @template {DtypeName} D @typedef {import('./types.js').PartOf<D>} PartOf */
/** @template {DtypeName} [D=any] @typedef {import('./types.js').Accessor<D>} Accessor */
/** @template {DtypeName} [D=any] @typedef {import('./types.js').AccessorOptions<D>} AccessorOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types.js').IntegerInfo<D>} IntegerInfo */
/** @template {DtypeName} [D=any] @typedef {import('./types.js').Blob<D>} Blob */
/** @template {DtypeName} [D=any] @typedef {import('./types.js').MakeOptions<D>} MakeOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types.js').RandomOptions<D>} RandomOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types.js').LinspaceOptions<D>} LinspaceOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types.js').EyeOptions<D>} EyeOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types.js').AsarrayOptions<D>} AsarrayOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types.js').BlobOptions<D>} BlobOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types.js').ViewOptions<D>} ViewOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types.js').ResultOptions<D>} ResultOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types.js').ToOptions<D>} ToOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types.js').ToAsyncOptions<D>} ToAsyncOptions */
/** @template {DtypeName} [D=any] @typedef {import('./types.js').AxisOptions<D>} AxisOptions */
/** @template A @template B @typedef {import('./types.js').Promote<A, B>} Promote */
/** @typedef {import('./index.js').Memory} Memory */
/** @template {DtypeName} [D=any] @typedef {import('./blob.js').BlobBuilder<D>} BlobBuilder */
