// The same instance for import as for require.
export {
  Tensor, Scope, SamebytesError, tensor, empty, zeros, ones, full, fromBytes, fromBlob, forBlob, clone,
  concat, stack, arrayEqual, allClose,
  rand, randn, randint, manualSeed, Generator,
  scalarTensor, arange, linspace, eye, asarray,
  emptyLike, zerosLike, onesLike, fullLike, randLike, randnLike, randintLike,
  emptyStrided, zerosStrided, onesStrided, fullStrided, randStrided, randnStrided, randintStrided,
  sharesMemory, canCast, promoteTypes, finfo, iinfo, dtypes, tidy, scope, keep, dispose, memory, setMemoryLimit, flush, backend, wasmMemory
} from './index.js'
