'use strict'
// cuda.share, cuda.open, cuda.unshare: GPU memory in other processes, by descriptors that may be sent as JSON. Native back end only. C has the
// protocol and maps the memory (src/cuda/ipc_server.c, src/cuda/share.c).

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, integer, integers, shapeOf, optionsOf } = require('../base/validate')
const { Storage, passing } = require('../backend/storage')
const { dtypeOf, dtypes } = require('../backend/dtypes')
const { layoutWithin } = require('../layout/layouts')
const { Tensor, tensorOf, wrap } = require('../tensor/tensor')

const { backend, READ_ONLY } = ffi
const { addon } = /** @type {any} */ (backend) // undefined on WASM

/** @import { DtypeName } from '../base/types' */
/** @template {DtypeName} [D=any] @typedef {import('../tensor/tensor').Tensor<D>} TensorOf */
/** @typedef {InstanceType<typeof Storage>} Stored */

const VERSION = 1
const HEX = /^[0-9a-f]{32}$/

function checkNative() {
  if (backend.isWasm) {
    throw failure('ERR_UNSUPPORTED', 'CUDA needs the native addon; this is the WASM back end')
  }
}

/**
 * The result of cuda.share(): plain data, to be sent as JSON by a pipe, an environment variable or the like, unchanged.
 *
 * @template {DtypeName} [D=any]
 * @typedef {object} VramDescriptor
 * @property {'vram'} samebytes
 * @property {number} version
 * @property {string} socket  of the sharing process, for processes of the same user, machine and network namespace
 * @property {string} token  128 random bits
 * @property {string} uuid  of the GPU
 * @property {number} generation
 * @property {number} offset  bytes of the first element, from the allocation's start
 * @property {number} nbytes  from the lowest byte that the tensor reaches to the highest one
 * @property {D} dtype
 * @property {number[]} shape  elements
 * @property {number[]} strides  elements
 * @property {boolean} readOnly
 * @property {'none' | 'exporter'} lease  'exporter': the memory is valid only as long as the process that shared it lives
 */

/**
 * A descriptor of a tensor on a GPU, for `cuda.open` in another process and for `samebytes_cuda.open` in Python (`pythonPath`): both
 * processes then use the same bytes, without a copy. The descriptor keeps the memory until it is used up or taken back, also after
 * the tensor is disposed. A process that opens it sees all work that was queued on the tensor's stream before.
 *
 * Memory made with `{ device, shared: true }` lives until the last process has released it, also after this one has ended. Other
 * memory is shared by the driver's older handles (`lease` is 'exporter'): this process keeps it until all processes that opened it
 * have closed it, and it is freed when this process ends. A process that opens a tensor can access all of its allocation (2 MiB
 * for small tensors); `shared: 'own'` gives a tensor an allocation of its own. A read-only tensor is read-only in the other
 * process as well, which nothing enforces.
 *
 * @template {DtypeName} D
 * @param {TensorOf<D>} t  on a GPU
 * @param {{ uses?: number | undefined }} [opts]  uses: how often it can be opened, 1 unless told
 * @returns {Promise<VramDescriptor<D>>}
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS uses below 1, ERR_MEMORY · ERR_DEVICE the tensor is on the CPU (SharedTensor
 * has memory for other processes there) · ERR_UNSUPPORTED memory that the driver does not share, as of memory pools · ERR_DISPOSED ·
 * ERR_IO · ERR_UNSUPPORTED also on WASM; as rejections
 * @see CUDA cuMemExportToShareableHandle, cuIpcGetMemHandle
 * @example
 * const d = cuda.isAvailable() && await cuda.share(zeros([2], { device: 'cuda:0', shared: true }))
 * if (d) console.log((await cuda.open(d)).shape)
 */
async function share(t, opts) {
  checkNative()
  tensorOf(t)
  const { uses = 1 } = optionsOf(opts, ['uses'], 'cuda.share')
  if (integer('uses', uses) < 1) throw failure('ERR_BOUNDS', `uses is ${uses}; it is at least 1`)
  const layout = Tensor.attachedOf(t)
  const { storage, shape, strides, offset, flags, dtype, size } = layout
  const { optional } = storage
  if (optional === null || optional.device < 0) {
    throw failure(
      'ERR_DEVICE',
      'the tensor is on the CPU; SharedTensor makes memory for other processes there',
    )
  }
  const { name, itemsize } = dtypes[dtype]
  const { low: lowest, high: highest } = size === 0 ? { low: 0, high: -1 } : ffi.extent(layout)
  const readOnly = (flags & READ_ONLY) !== 0
  const nbytes = (highest - lowest + 1) * itemsize
  const made = addon.vramShare(
    optional.handle,
    size === 0 ? 0 : (offset + lowest) * itemsize,
    nbytes,
    uses,
    readOnly,
  )
  ffi.check()
  optional.stays = true // resize must not move it away from the other processes
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
    shape: shape.slice(),
    strides: strides.slice(),
    readOnly,
    lease: made.lease,
  }
}

/**
 * A tensor over the bytes that a descriptor stands for: what one process writes, the others see. Uses the descriptor once. The GPU is
 * found by its UUID, because CUDA_VISIBLE_DEVICES may number it differently here.
 *
 * @template {DtypeName} [D=any]
 * @param {VramDescriptor<D> | string} d  what `cuda.share` or Python's `samebytes_cuda.share` gave, or its JSON
 * @returns {Promise<TensorOf<D>>}
 * @throws {TypeError} ERR_ARGUMENT no descriptor, ERR_DTYPE · {RangeError} ERR_SHAPE, ERR_BOUNDS, ERR_ALIGNMENT of a wrong descriptor, ERR_MEMORY ·
 * ERR_STALE used up, taken back, or changed · ERR_NOT_FOUND the process that shared it has ended, and this one had not opened it ·
 * ERR_DEVICE its GPU is not visible here · ERR_UNSUPPORTED another version; or a lease of this same process · ERR_FORMAT,
 * ERR_IO; as rejections
 * @see CUDA cuMemImportFromShareableHandle, cuIpcOpenMemHandle
 * @example
 * const t = cuda.isAvailable() && zeros([2], { device: 'cuda:0', shared: true })
 * if (t) console.log((await cuda.open(JSON.stringify(await cuda.share(t)))).device)
 */
async function open(d) {
  checkNative()
  const given = partsOf(d)
  const { dtype, shape, strides, offset, nbytes } = given
  const below = lowestOf(shape, strides) * dtype.itemsize
  const first = offset + below // byte of the allocation
  layoutWithin(new Storage(passing, null, null, 0, nbytes), given, -below, 0) // checks the descriptor before it is used
  /** @type {{ storage: Stored, flags: number }} */
  const { storage, flags } = await new Promise((resolve, reject) => {
    addon.vramOpen(given.socket, given.token, given.uuid, given.generation, first, nbytes, () => {
      try {
        ffi.check()
        const [handle, address, size, readOnly] = [0, 1, 2, 4].map(ffi.result)
        const storage = /** @type {any} */ (backend).hold(handle, address, size)
        storage.optional.stays = true
        resolve({ storage, flags: readOnly !== 0 ? READ_ONLY : 0 })
      } catch (error) {
        reject(error)
      }
    })
    ffi.check()
  })
  return wrap(layoutWithin(storage, given, -below, flags))
}

/**
 * Takes back a descriptor's unused uses: `cuda.open` of it throws ERR_STALE from now on. Tensors that were opened stay.
 *
 * @param {VramDescriptor | string} d
 * @throws {TypeError} ERR_ARGUMENT no descriptor · ERR_STALE used up or taken back already, or of another process
 * @example
 * const d = cuda.isAvailable() && await cuda.share(zeros([2], { device: 'cuda:0' }))
 * if (d) cuda.unshare(d)
 */
function unshare(d) {
  checkNative()
  const { socket, token } = partsOf(d)
  addon.vramUnshare(socket, token)
  ffi.check()
}

/**
 * Reads a descriptor's fields, each once, and checks their types. layoutWithin and the sharing process check the rest: it may be forged.
 *
 * @param {unknown} d
 */
function partsOf(d) {
  const {
    samebytes,
    version,
    socket,
    token,
    uuid,
    generation,
    offset,
    nbytes,
    dtype,
    shape,
    strides,
  } = /** @type {VramDescriptor} */ (typeof d === 'string' ? parsed(d) : (d ?? {}))
  if (samebytes !== 'vram') {
    throw failure('ERR_ARGUMENT', `d is ${show(d)}; what cuda.share() gave was expected`)
  }
  if (version !== VERSION) {
    throw failure(
      'ERR_UNSUPPORTED',
      `the descriptor has version ${show(version)}; this is ${VERSION}`,
    )
  }
  const digits = typeof uuid === 'string' ? uuid.replaceAll('-', '') : ''
  if (!isLike(socket, /^@[ -~]{1,60}$/) || !isLike(token, HEX) || !HEX.test(digits)) {
    throw failure(
      'ERR_ARGUMENT',
      'the descriptor has no socket, no token, or no uuid; what cuda.share() gave was expected',
    )
  }
  const parts = {
    socket,
    token,
    uuid: digits,
    generation: notNegative('generation', generation),
    offset: notNegative('offset', offset),
    nbytes: notNegative('nbytes', nbytes),
    dtype: dtypeOf(dtype),
    shape: shapeOf(shape),
    strides: integers('strides', strides),
  }
  if (parts.shape.length !== parts.strides.length) {
    throw failure(
      'ERR_SHAPE',
      `the descriptor has ${parts.shape.length} extents and ${parts.strides.length} strides`,
    )
  }
  return parts
}

/** @param {unknown} value @param {RegExp} pattern */
const isLike = (value, pattern) => typeof value === 'string' && pattern.test(value)

/** @param {string} text */
function parsed(text) {
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
function notNegative(name, value) {
  const n = integer(name, value)
  if (n < 0) throw failure('ERR_BOUNDS', `${name} is ${n}; it is at least 0`)
  return n
}

/**
 * The lowest element that strides reach, from the first element.
 *
 * @param {number[]} shape
 * @param {number[]} strides
 */
function lowestOf(shape, strides) {
  if (shape.includes(0)) return 0
  return strides.reduce((sum, stride, d) => sum + Math.min(0, stride * (shape[d] - 1)), 0)
}

module.exports = { share, open, unshare }
