// The same instance for import as for require.
export {
  Tensor, Scope, SamebytesError, tensor, empty, zeros, ones, full, fromBytes, fromBlob, clone,
  sharesMemory, canCast, dtypes, tidy, scope, keep, dispose, memory, flush, backend, wasmMemory
} from './index.js'
