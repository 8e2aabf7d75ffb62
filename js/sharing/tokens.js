'use strict'
// share, fromShared, unshare: tensors for other threads. A token is posted by postMessage; the bytes stay in place.

const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, boolean, integer, integers, shapeOf, optionsOf } = require('../base/validate')
const {
  byteLengthOf,
  dtypeOfArray,
  isArrayBuffer,
  isGone,
  isSharedArrayBuffer,
  partsOfArray,
} = require('../base/buffers')
const { Storage, countCopy, passing } = require('../backend/storage')
const { dtypeOf, dtypes } = require('../backend/dtypes')
const { denseLayout, layoutOverBytes, layoutWithin } = require('../layout/layouts')
const { Tensor, tensorOf, wrap } = require('../tensor/tensor')
const { version } = require('../base/version')

const { backend, READ_ONLY, STATIC, UNBOUND } = ffi

/** @import { DtypeName } from '../base/types' */
/** @template {DtypeName} [D=any] @typedef {import('../tensor/tensor').Tensor<D>} TensorOf */
/** @typedef {InstanceType<typeof Storage>} Stored */

/**
 * The result of share(): plain data for postMessage and structuredClone. Its fields are private.
 *
 * @template {DtypeName} [D=any]
 * @typedef {object} Token
 * @property {string} samebytes  the package's version
 * @property {boolean} isCopy  it carries a copy: bytes of its own, which no other thread sees
 * @property {'parcel' | 'buffer' | 'copy'} kind  a native storage, sent by key; a SharedArrayBuffer, sent itself; or a copy in an ArrayBuffer
 * @property {number | string} home  of a key: the process' id, or the name of the WebAssembly memory
 * @property {number} key
 * @property {SharedArrayBuffer | ArrayBuffer} [buffer]
 * @property {Int32Array} [left]  of a buffer: the uses left, in shared memory
 * @property {import('../backend/wasm-shared').ThreadGroup} [group]  for init({ from }) in a worker of a page
 * @property {D} dtype
 * @property {number[]} shape  elements
 * @property {number[]} strides  elements
 * @property {number} byteOffset  of the first element, in the storage
 * @property {number} flags
 */

/**
 * A token for another thread: post it, and `fromShared` there makes a tensor over the same bytes. The token keeps the bytes alive
 * for its number of uses, also after the tensor is disposed or this thread ends. Unused tokens count in `memory().inFlight`
 * (except those of SharedArrayBuffers, which are collected with their tokens); `unshare` takes one back.
 *
 * The memory must be shared: of tensors made with `{ shared: true }` or `'sab'`, by `shareMemory()`, over a SharedArrayBuffer or an
 * address; with `init({ shared: true })` in a page, of all tensors that samebytes allocated. Any tensor goes by `copy: true`: the token
 * carries a copy of its elements, row-major, counted in `memory().copied.share`. Each clone has its own; `[token.buffer]` as the list of
 * postMessage's transferred objects moves it instead of copying it once more.
 *
 * @template {DtypeName} D
 * @param {TensorOf<D>} t
 * @param {{ uses?: number | undefined, copy?: boolean | undefined }} [opts]  uses: how often it can be taken, 1 unless told; nothing
 * limits those of a copy. copy: carry a copy; default: false
 * @returns {Token<D>}
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS uses below 1, ERR_MEMORY · ERR_UNSUPPORTED the memory is V8's or
 * the caller's (shareMemory() copies), or belongs to one thread as in a page without shared memory (copy: true) · ERR_DETACHED
 * @see PyTorch torch.multiprocessing, Web postMessage
 * @example
 * const token = share(zeros([2], { shared: 'sab' }), { uses: 2 })
 * const there = fromShared(structuredClone(token)) // in a worker, say
 * fromShared(token).set(1, 0)
 * there.toArray() // [1, 0]
 */
function share(t, opts) {
  tensorOf(t)
  const { uses = 1, copy } = optionsOf(opts, ['uses', 'copy'], 'share')
  if (integer('uses', uses) < 1) throw failure('ERR_BOUNDS', `uses is ${uses}; it is at least 1`)
  const isCopied = boolean('copy', copy)
  const layout = Tensor.attachedOf(t)
  if (isCopied) return tokenOfCopy(layout)
  const { storage, shape, strides, offset, flags, dtype } = layout
  const at = offset * dtypes[dtype].itemsize
  const { group } = backend
  /** @type {Token} one literal: spreads took a third of the time */
  const token = {
    samebytes: version,
    isCopy: false,
    kind: 'parcel',
    home: 0,
    key: 0,
    dtype: dtypes[dtype].name,
    shape: shape.slice(),
    strides: strides.slice(),
    byteOffset: at,
    flags: flags & (READ_ONLY | STATIC | UNBOUND),
  }
  if (group !== null) token.group = group
  if (storage.kind !== 'native' && isSharedArrayBuffer(storage.buffer)) {
    // native memory is sent by key, even if this thread has a SharedArrayBuffer over it
    token.kind = 'buffer'
    token.byteOffset = at + storage.byteOffset
    token.buffer = /** @type {SharedArrayBuffer} */ (storage.buffer)
    token.left = new Int32Array(new SharedArrayBuffer(4)) // common to all clones of the token
    token.left[0] = Math.min(uses, 2 ** 31 - 1)
    return token
  }
  const holder = sharableStorage(storage)
  if (holder !== storage) token.byteOffset = at + Number(storage.address) - Number(holder.address)
  token.home = group === null ? (processId ??= ffi.home()) : group.name
  token.key = ffi.sendStorage(holder, uses)
  if (holder.optional !== null) holder.optional.stays = true // resize must not move it away from the other threads
  return token
}

/**
 * A token with a copy of a layout's elements.
 *
 * @param {InstanceType<typeof ffi.Layout>} layout
 * @returns {Token}
 */
function tokenOfCopy(layout) {
  const { dtype, flags } = layout
  const { itemsize, name } = dtypes[dtype]
  const shape = layout.shape.slice()
  const nbytes = layout.size * itemsize
  const buffer = newBuffer(nbytes)
  ffi.copy(layoutOverBytes({ buffer, byteOffset: 0, byteLength: nbytes }, dtype, shape), layout, 0)
  countCopy('share', nbytes)
  const { strides } = denseLayout(dtype, shape)
  return {
    samebytes: version,
    isCopy: true,
    kind: 'copy',
    home: 0,
    key: 0,
    buffer,
    dtype: name,
    shape,
    strides: strides.slice(),
    byteOffset: 0,
    flags: flags & (STATIC | UNBOUND),
  }
}

/** @param {number} nbytes */
function newBuffer(nbytes) {
  try {
    return new ArrayBuffer(nbytes)
  } catch {
    throw failure('ERR_MEMORY', `${nbytes} bytes for a copy could not be allocated`)
  }
}

/** ffi.home(), once asked for @type {number | undefined} */
let processId

/**
 * The storage whose handle is sent: this one or its base.
 *
 * @param {Stored} storage
 * @returns {Stored} with a handle
 * @throws ERR_UNSUPPORTED the memory belongs to one thread
 */
function sharableStorage(storage) {
  let holder = storage
  while (holder.optional !== null && holder.optional.base !== null) holder = holder.optional.base
  if (holder.kind === 'wasm' && backend.name === 'wasm') {
    throw failure(
      'ERR_UNSUPPORTED',
      'this WASM memory belongs to one thread: init({ shared: true }) in a cross-origin isolated page makes one that workers can have as well; shareMemory() copies one tensor into a SharedArrayBuffer, where the page has them, and share(t, { copy: true }) sends a copy anywhere',
    )
  }
  if (holder.optional === null || holder.optional.handle === 0) {
    throw failure(
      'ERR_UNSUPPORTED',
      "the tensor's memory belongs to this thread; shareMemory() copies it into memory that can be shared, and share(t, { copy: true }) sends a copy",
    )
  }
  return holder
}

/**
 * A tensor over the bytes that a token stands for: what one thread writes, the other sees. Uses the token once. In Node, `data` over
 * native memory (`{ shared: true }`, mapped files, segments, addresses) has an ArrayBuffer of this thread; with
 * `{ shared: 'sab' }` it has a SharedArrayBuffer over the same bytes, on which threads of this process can call Atomics.wait and
 * notify. That buffer can be posted further, and keeps the bytes until no thread has it. Other tokens have SharedArrayBuffers already.
 *
 * @template {DtypeName} [D=any]
 * @param {Token<D>} token
 * @param {{ shared?: 'sab' | undefined } | number} [opts]  shared needs Node 22.23.3, 24.16, 26.1 or newer where the memory is native; a
 * number, which `tokens.map(fromShared)` passes, says nothing
 * @returns {TensorOf<D>}
 * @throws {TypeError} ERR_ARGUMENT no token · ERR_STALE used up, taken back, or of another process · ERR_UNSUPPORTED of
 * another version, of memory that this thread has not joined (init({ from: token })), or where the runtime makes no
 * SharedArrayBuffer over native memory: the token can still be taken without · {RangeError} ERR_BOUNDS, ERR_MEMORY
 * @see Node-API node_api_create_external_sharedarraybuffer
 * @example
 * const t = zeros([2], { shared: 'sab' })
 * sharesMemory(t, fromShared(share(t))) // true
 */
function fromShared(token, opts) {
  const { shared } =
    typeof opts === 'number' ? optionsOf(undefined) : optionsOf(opts, ['shared'], 'fromShared')
  if (shared !== undefined && shared !== 'sab') {
    throw failure('ERR_ARGUMENT', `shared is ${show(shared)}; 'sab' was expected`)
  }
  const given = partsOf(token)
  const nbytes =
    given.kind === 'parcel'
      ? ffi.sentBytes(given.key)
      : byteLengthOf(/** @type {ArrayBufferLike} */ (given.buffer))
  const layout = layoutWithin(
    new Storage(passing, null, null, 0, nbytes),
    given,
    given.byteOffset,
    given.flags,
  ) // checks the token before it is used
  layout.storage =
    given.kind === 'parcel'
      ? ffi.receiveStorage(given.key, shared === 'sab')
      : receivedBuffer(given)
  return wrap(layout)
}

/**
 * Takes back a token's unused uses: `fromShared` of it throws ERR_STALE from now on. One that carries a copy has nothing to take back. It may be a module's.
 *
 * @param {Token | { kind: 'module', methods: { key: number }[] }} token
 * @throws {TypeError} ERR_ARGUMENT no token · ERR_STALE used up or taken back already
 * @example
 * const token = share(zeros([2], { shared: 'sab' }))
 * unshare(token)
 */
function unshare(token) {
  if (/** @type {any} */ (token)?.kind === 'module') {
    for (const { key } of /** @type {any} */ (token).methods) {
      ffi.takeBackStorage(integer('key', key))
    }
    return
  }
  const { kind, key, left } = partsOf(token)
  if (kind === 'copy') return
  if (kind === 'parcel') ffi.takeBackStorage(key)
  else if (Atomics.exchange(/** @type {Int32Array} */ (left), 0, 0) <= 0) throw usedUp()
}

/**
 * Reads a token's fields, each once, and checks their types. C and layoutWithin check the rest: a token may be forged.
 *
 * @param {unknown} token
 */
function partsOf(token) {
  const fields = /** @type {Token} */ (token !== null && typeof token === 'object' ? token : {})
  const { samebytes, kind } = fields
  if (
    typeof samebytes !== 'string' ||
    (kind !== 'parcel' && kind !== 'buffer' && kind !== 'copy')
  ) {
    throw failure('ERR_ARGUMENT', `token is ${show(token)}; what share() gave was expected`)
  }
  const { home, key, buffer, left, dtype, shape, strides, byteOffset, flags } = fields
  if (samebytes !== version) {
    throw failure(
      'ERR_UNSUPPORTED',
      `the token is from samebytes ${samebytes}; this is ${version}, and both have to be the same`,
    )
  }
  const parts = {
    kind,
    key: integer('key', key),
    buffer,
    left,
    dtype: dtypeOf(dtype),
    shape: shapeOf(shape),
    strides: integers('strides', strides),
    byteOffset: integer('byteOffset', byteOffset),
    flags: integer('flags', flags) & (READ_ONLY | STATIC | UNBOUND),
  }
  if (kind === 'parcel') checkOrigin(home)
  else if (kind === 'copy') {
    if (!isArrayBuffer(buffer)) {
      throw failure(
        'ERR_ARGUMENT',
        'the token has no ArrayBuffer with its copy; what share() gave was expected',
      )
    }
    if (isGone(buffer)) {
      throw failure('ERR_STALE', "the token's copy was transferred to another thread")
    }
  } else if (!isSharedArrayBuffer(buffer)) {
    throw failure(
      'ERR_ARGUMENT',
      'the token has no SharedArrayBuffer; what share() gave was expected',
    )
  } else if (!isCounter(left, buffer)) {
    throw failure(
      'ERR_ARGUMENT',
      'the token has no count of its uses that all its clones have; what share() gave was expected',
    )
  }
  return parts
}

/**
 * Is it a counter as share makes it? One that is not shared would let every clone be used.
 *
 * @param {unknown} left
 * @param {SharedArrayBuffer} bytes  the tensor's
 */
function isCounter(left, bytes) {
  if (dtypeOfArray(left) !== 'int32') return false
  const { buffer, length } = partsOfArray(left)
  return (
    length === 1 && isSharedArrayBuffer(buffer) && byteLengthOf(buffer) === 4 && buffer !== bytes
  )
}

/** @param {unknown} given */
function checkOrigin(given) {
  if (backend.group !== null) {
    if (given !== backend.group.name) {
      throw failure(
        'ERR_UNSUPPORTED',
        'the token is of memory that this thread has not joined; a worker calls init({ from: token }) first',
      )
    }
  } else if (backend.isWasm) {
    throw failure(
      'ERR_UNSUPPORTED',
      'the token is of shared memory, and this thread has one of its own; a worker calls init({ from: token }) first',
    )
  } else if (given !== (processId ??= ffi.home())) {
    throw failure('ERR_STALE', 'the token was made by another process')
  }
}

/** @param {{ kind: string, buffer?: ArrayBufferLike, left?: Int32Array }} parts */
function receivedBuffer({ kind, buffer, left }) {
  const whole = /** @type {ArrayBufferLike} */ (buffer)
  const uses = /** @type {Int32Array} */ (left)
  for (let isTaken = kind !== 'buffer'; !isTaken;) {
    const now = Atomics.load(uses, 0)
    if (now <= 0) throw usedUp()
    isTaken = Atomics.compareExchange(uses, 0, now, now - 1) === now
  }
  return backend.adopt(whole, 0, byteLengthOf(whole), whole)
}

const usedUp = () => failure('ERR_STALE', 'the token was used up or taken back, or is none')

module.exports = { share, fromShared, unshare }
