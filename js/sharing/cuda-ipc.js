'use strict'
// GPU memory in other processes: descriptors that JSON can carry, and tensors of them. Native back end only; js/interop/cuda.js
// has these functions as its own. Who is asked and how memory is mapped is C's (src/node/peers.c, src/cuda/share.c).

const { arraySlice } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, integer, integers, shapeOf, optionsOf } = require('../base/validate')
const { Storage, passing } = require('../backend/storage')
const { dtypeOf, dtypes } = require('../backend/dtypes')
const { layoutWithin } = require('../layout/layouts')
const { Tensor, tensorOf, wrap } = require('../tensor/tensor')

const { backend, READ_ONLY } = ffi
const { addon } = /** @type {any} */ (backend) // undefined on WASM

/** @import { AnyTensor, DtypeName } from '../base/types' */
/** @typedef {InstanceType<typeof Storage>} Stored */

const VERSION = 1

function checkNative () {
  if (backend.isWasm) throw failure('ERR_UNSUPPORTED', 'CUDA needs the native addon; this is the WASM back end')
}

/**
 * What cuda.share() gives: plain data, for JSON, a pipe, or an environment variable. Its fields are not meant to be changed.
 *
 * @typedef {object} VramDescriptor
 * @property {'vram'} samebytes
 * @property {number} version
 * @property {string} socket  who answers for it: processes of the same user, of the same machine and network namespace, reach it
 * @property {string} token  nobody guesses it
 * @property {string} uuid  of the GPU
 * @property {number} generation
 * @property {number} offset  bytes of the first element, from the allocation's start
 * @property {number} nbytes  from the lowest byte that the tensor reaches to the highest one
 * @property {DtypeName} dtype
 * @property {number[]} shape  elements
 * @property {number[]} strides  elements
 * @property {boolean} readOnly
 * @property {'none' | 'exporter'} lease  'exporter': the memory is good for as long as the process that shared it lives
 */

/**
 * A descriptor of a tensor on a GPU, for `cuda.open` in another process and for `samebytes_cuda.open` in Python
 * (`pythonPath`): both have the same bytes then, and nothing is copied. The tensor's memory is kept until the descriptor is used
 * up or taken back, also when the tensor is disposed meanwhile. Who opens it sees all work that was given to the
 * tensor's stream before.
 *
 * Memory made with `{ device, shared: true }` is freed when the last process that has it lets it go: it outlives this one.
 * Other memory goes by the driver's older handles (`lease` is 'exporter'): this process keeps it until whoever opened it closes
 * it or ends, and with this process it ends. Whoever opens a tensor can reach what lies in the same allocation (2 MiB of small
 * tensors); `shared: 'own'` gives a tensor one of its own. A read-only tensor is read-only there as well, by agreement: nothing
 * forces the other process.
 *
 * @param {AnyTensor} t  on a GPU
 * @param {object} [opts]
 * @param {number} [opts.uses]  how often it can be opened, 1 unless told
 * @returns {Promise<VramDescriptor>}
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS uses below 1, ERR_MEMORY · ERR_DEVICE the tensor is on the CPU (SharedTensor
 * has memory for other processes there) · ERR_UNSUPPORTED memory that the driver does not share, as of memory pools · ERR_DISPOSED ·
 * ERR_IO · ERR_UNSUPPORTED also on WASM; as rejections
 * @see CUDA cuMemExportToShareableHandle, cuIpcGetMemHandle
 * @example
 * const d = cuda.isAvailable() && await cuda.share(zeros([2], { device: 'cuda:0', shared: true }))
 * if (d) console.log((await cuda.open(d)).shape)
 */
async function share (t, opts) {
  checkNative()
  tensorOf(t)
  const { uses: given } = optionsOf(opts)
  const uses = given === undefined ? 1 : integer('uses', given)
  if (uses < 1) throw failure('ERR_BOUNDS', `uses is ${uses}; it is at least 1`)
  const layout = Tensor.attachedOf(t)
  const { storage, shape, strides, offset, flags, dtype, size } = layout
  const { extra } = storage
  if (extra === null || extra.device < 0) throw failure('ERR_DEVICE', 'the tensor is on the CPU; SharedTensor makes memory for other processes there')
  const { name, itemsize } = dtypes[dtype]
  const { low: lowest, high: highest } = size === 0 ? { low: 0, high: -1 } : ffi.extent(layout)
  const readOnly = (flags & READ_ONLY) !== 0
  const nbytes = (highest - lowest + 1) * itemsize
  const made = addon.vramShare(extra.handle, size === 0 ? 0 : (offset + lowest) * itemsize, nbytes, uses, readOnly)
  ffi.check()
  extra.stays = true // resize must not leave the others behind
  return {
    samebytes: 'vram',
    version: VERSION,
    socket: made.socket,
    token: made.token,
    uuid: made.uuid.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    generation: made.generation,
    offset: made.offset - lowest * itemsize,
    nbytes,
    dtype: name,
    shape: arraySlice(shape),
    strides: arraySlice(strides),
    readOnly,
    lease: made.lease
  }
}

/**
 * The tensor that a descriptor stands for, over the same bytes as where it was shared: what one process writes, the others read.
 * A use of the descriptor is taken. The GPU is found by its UUID, whatever number CUDA_VISIBLE_DEVICES gives it here.
 *
 * @param {VramDescriptor | string} d  what `cuda.share` or Python's `samebytes_cuda.share` gave, or its JSON
 * @returns {Promise<Tensor>}
 * @throws {TypeError} ERR_ARGUMENT no descriptor, ERR_DTYPE · {RangeError} ERR_SHAPE, ERR_BOUNDS, ERR_ALIGNMENT it makes no sense, ERR_MEMORY ·
 * ERR_STALE used up, taken back, or changed · ERR_NOT_FOUND the process that shared it has ended, and nobody here had opened it ·
 * ERR_DEVICE its GPU is not seen here · ERR_UNSUPPORTED of another version; or with a lease, of this very process · ERR_FORMAT,
 * ERR_IO; as rejections
 * @see CUDA cuMemImportFromShareableHandle, cuIpcOpenMemHandle
 * @example
 * const t = cuda.isAvailable() && zeros([2], { device: 'cuda:0', shared: true })
 * if (t) console.log((await cuda.open(JSON.stringify(await cuda.share(t)))).device)
 */
async function open (d) {
  checkNative()
  const given = partsOf(d)
  const { dtype, shape, strides, offset, nbytes } = given
  const below = lowestOf(shape, strides) * dtype.itemsize
  const first = offset + below // of the bytes that were shared
  layoutWithin(new Storage(passing, null, null, 0, nbytes), given, -below, 0) // what makes no sense takes no use
  /** @type {{ storage: Stored, flags: number }} */
  const { storage, flags } = await new Promise((resolve, reject) => {
    addon.vramOpen(given.socket, given.token, given.uuid, given.generation, first, nbytes, () => {
      try {
        ffi.check()
        resolve(taken())
      } catch (error) {
        reject(error)
      }
    })
    ffi.check()
  })
  return wrap(layoutWithin(storage, given, -below, flags))
}

/** What the frame says of an opened descriptor. */
function taken () {
  const [handle, address, nbytes, readOnly] = [0, 1, 2, 4].map(ffi.result)
  const storage = /** @type {any} */ (backend).hold(handle, address, nbytes)
  storage.extra.stays = true
  return { storage, flags: readOnly !== 0 ? READ_ONLY : 0 }
}

/**
 * Takes back what nobody has opened yet: `cuda.open` of the descriptor is ERR_STALE from now on. What was opened stays.
 *
 * @param {VramDescriptor | string} d
 * @throws {TypeError} ERR_ARGUMENT no descriptor · ERR_STALE used up or taken back already, or of another process
 * @example
 * const d = cuda.isAvailable() && await cuda.share(zeros([2], { device: 'cuda:0' }))
 * if (d) cuda.unshare(d)
 */
function unshare (d) {
  checkNative()
  const { socket, token } = partsOf(d)
  addon.vramUnshare(socket, token)
  ffi.check()
}

/**
 * A descriptor's fields, each read once; nothing of it is believed but that it is no accident.
 *
 * @param {unknown} d
 */
function partsOf (d) {
  const { samebytes, version, socket, token, uuid, generation, offset, nbytes, dtype, shape, strides } = /** @type {VramDescriptor} */ (typeof d === 'string' ? parsed(d) : d ?? {})
  if (samebytes !== 'vram') throw failure('ERR_ARGUMENT', `d is ${show(d)}; what cuda.share() gave was expected`)
  if (version !== VERSION) throw failure('ERR_UNSUPPORTED', `the descriptor has version ${show(version)}; this is ${VERSION}`)
  const digits = typeof uuid === 'string' ? uuid.replaceAll('-', '') : ''
  if (typeof socket !== 'string' || !/^@[ -~]{1,60}$/.test(socket) || typeof token !== 'string' || !/^[0-9a-f]{32}$/.test(token) || !/^[0-9a-f]{32}$/.test(digits)) {
    throw failure('ERR_ARGUMENT', 'the descriptor has no socket, no token, or no uuid; what cuda.share() gave was expected')
  }
  const parts = {
    socket,
    token,
    uuid: digits,
    generation: counted('generation', generation),
    offset: counted('offset', offset),
    nbytes: counted('nbytes', nbytes),
    dtype: dtypeOf(dtype),
    shape: shapeOf(shape),
    strides: integers('strides', strides)
  }
  if (parts.shape.length !== parts.strides.length) throw failure('ERR_SHAPE', `the descriptor has ${parts.shape.length} extents and ${parts.strides.length} strides`)
  return parts
}

/** @param {string} text */
function parsed (text) {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    throw failure('ERR_ARGUMENT', 'the descriptor is text that is no JSON')
  }
}

/**
 * @param {string} name
 * @param {unknown} value
 * @returns {number}
 */
function counted (name, value) {
  const n = integer(name, value)
  if (n < 0) throw failure('ERR_BOUNDS', `${name} is ${n}; it is at least 0`)
  return n
}

/**
 * The lowest element from the first one.
 *
 * @param {number[]} shape
 * @param {number[]} strides
 */
function lowestOf (shape, strides) {
  if (shape.includes(0)) return 0
  return strides.reduce((sum, stride, d) => sum + Math.min(0, stride * (shape[d] - 1)), 0)
}

module.exports = { share, open, unshare }
