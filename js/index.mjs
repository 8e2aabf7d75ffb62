// The same instance for import as for require.
export {
  init, Tensor, Scope, SamebytesError, tensor, empty, zeros, ones, full, fromBytes, fromBlob, forBlob, clone,
  concat, stack, arrayEqual, allClose, moveaxis, tril, triu, takeAlongAxis, broadcastShapes, broadcastArrays, meshgrid,
  rand, randn, randint, manualSeed, Generator,
  scalarTensor, arange, linspace, eye, asarray,
  emptyLike, zerosLike, onesLike, fullLike, randLike, randnLike, randintLike,
  emptyStrided, zerosStrided, onesStrided, fullStrided, randStrided, randnStrided, randintStrided,
  parseNpy, parseNpz, parseSafetensors, parseGguf, alloc, cuda, hostRegister,
  toNpyBytes, toNpzBytes, toSafetensorsBytes,
  fetchNpy, fetchNpz, fetchSafetensors, fetchGguf, openNpy, openNpz, openSafetensors, openGguf, openRaw, createNpy, createSafetensors, saveNpy, saveNpz,
  saveSafetensors, saveNpySync, saveNpzSync, saveSafetensorsSync, save, load,
  sharesMemory, share, fromShared, unshare, SharedTensor, SharedRing, pythonPath, fromDlpack, toOrt, fromOrt, canCast, promoteTypes, isdtype, finfo, iinfo, dtypes, tidy, scope, keep, dispose, memory, setMemoryLimit, flush, backend, wasmMemory
} from './index.js'
