'use strict'
// Tensors for other threads of the process or page: a token crosses by postMessage, the bytes stay where they are.

const { Atomics, Int32Array, Math, Number, SharedArrayBuffer, arraySlice } = require('../base/primordials')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, integer, integers, shapeOf, optionsOf } = require('../base/validate')
const { byteLengthOf, dtypeOfArray, isSharedArrayBuffer, partsOfArray } = require('../base/buffers')
const { Storage, passing } = require('../backend/storage')
const { dtypeOf, dtypes } = require('../backend/dtypes')
const { layoutWithin } = require('../layout/layouts')
const { Tensor, tensorOf, wrap } = require('../tensor/tensor')
const { version } = require('../base/version')

const { backend, READ_ONLY, STATIC, UNBOUND } = ffi

/** @import { AnyTensor, DtypeName } from '../base/types' */
/** @typedef {InstanceType<typeof Storage>} Stored */

/**
 * What share() gives: plain data for postMessage and structuredClone. Its fields are not meant to be read.
 *
 * @typedef {object} Token
 * @property {string} samebytes  the package's version
 * @property {'parcel' | 'buffer'} kind  a native storage by its key, or a SharedArrayBuffer itself
 * @property {number | string} home  where a key means something: the process, or the shared memory
 * @property {number} key
 * @property {SharedArrayBuffer} [buffer]
 * @property {Int32Array} [left]  uses of a buffer that are left
 * @property {import('../backend/wasm-shared').ThreadGroup} [group]  for init({ from }) in a worker of a page
 * @property {DtypeName} dtype
 * @property {number[]} shape  elements
 * @property {number[]} strides  elements
 * @property {number} byteOffset  of the first element, in the storage
 * @property {number} flags
 */

/**
 * A token of a tensor for another thread: post it, and `fromShared` makes a tensor over the same bytes of it there. The
 * bytes stay alive for as many takers as were asked for, also when the tensor is disposed or this thread ends
 * meanwhile; what was not taken shows in `memory().inFlight` (but of a SharedArrayBuffer, which is collected with its
 * tokens), and `unshare` takes it back.
 *
 * Memory can leave its thread where it is shared: tensors made with `{ shared: true }` or `'sab'`, by `shareMemory()`,
 * over a SharedArrayBuffer or an address; with `init({ shared: true })` in a page, all tensors whose bytes are samebytes'.
 *
 * @param {AnyTensor} t
 * @param {object} [opts]
 * @param {number} [opts.uses]  takers, 1 unless told
 * @returns {Token}
 * @throws {TypeError} ERR_ARGUMENT · {RangeError} ERR_BOUNDS uses below 1, ERR_MEMORY · ERR_UNSUPPORTED the memory is V8's or
 * the caller's (shareMemory() copies), or belongs to one thread as in a page without shared memory · ERR_DETACHED
 * @see PyTorch torch.multiprocessing, Web postMessage
 * @example
 * const token = share(zeros([2], { shared: 'sab' }), { uses: 2 })
 * const there = fromShared(structuredClone(token)) // in a worker, say
 * fromShared(token).set(1, 0)
 * there.toArray() // [1, 0]
 */
function share (t, opts) {
  tensorOf(t)
  const { uses: given } = optionsOf(opts)
  const uses = given === undefined ? 1 : integer('uses', given)
  if (uses < 1) throw failure('ERR_BOUNDS', `uses is ${uses}; it is at least 1`)
  const layout = Tensor.attachedOf(t)
  const { storage, shape, strides, offset, flags, dtype } = layout
  const at = offset * dtypes[dtype].itemsize
  const { group } = backend
  /** @type {Token} one literal, without spreads: they took a third of the time */
  const token = { samebytes: version, kind: 'parcel', home: 0, key: 0, dtype: dtypes[dtype].name, shape: arraySlice(shape), strides: arraySlice(strides), byteOffset: at, flags: flags & (READ_ONLY | STATIC | UNBOUND) }
  if (group !== null) token.group = group
  if (storage.kind !== 'native' && isSharedArrayBuffer(storage.buffer)) { // native memory goes by its key, whatever buffer this thread has
    token.kind = 'buffer'
    token.byteOffset = at + storage.byteOffset
    token.buffer = /** @type {SharedArrayBuffer} */ (storage.buffer)
    token.left = usesLeft(uses)
    return token
  }
  const holder = holderOf(storage)
  if (holder !== storage) token.byteOffset = at + Number(storage.address) - Number(holder.address)
  token.home = group === null ? (home ??= ffi.home()) : group.name
  token.key = ffi.sendStorage(holder, uses)
  if (holder.extra !== null) holder.extra.stays = true // resize must not leave the takers behind
  return token
}

/** of this process, once it is known @type {number | undefined} */
let home

/**
 * @param {number} uses
 * @returns {Int32Array} that all clones of a token have together
 */
function usesLeft (uses) {
  const left = new Int32Array(new SharedArrayBuffer(4))
  left[0] = Math.min(uses, 2 ** 31 - 1)
  return left
}

/**
 * @param {Stored} storage
 * @returns {Stored} with a handle, which other threads may hold as well
 */
function holderOf (storage) {
  let holder = storage
  while (holder.extra !== null && holder.extra.base !== null) holder = holder.extra.base
  if (holder.kind === 'wasm' && backend.name === 'wasm') {
    throw failure('ERR_UNSUPPORTED', 'this WASM memory belongs to one thread: init({ shared: true }) in a cross-origin isolated page makes one that workers can have as well; so does shareMemory() for one tensor')
  }
  if (holder.extra === null || holder.extra.handle === 0) {
    throw failure('ERR_UNSUPPORTED', "the tensor's memory belongs to this thread; shareMemory() copies it into memory that can be shared")
  }
  return holder
}

/**
 * A tensor of a token, over the same bytes as the one that was shared: what one thread writes, the other sees. In Node
 * the `data` of native memory (`{ shared: true }`, mapped files, segments, addresses) has an ArrayBuffer of this thread's
 * own; with `{ shared: 'sab' }` it has a SharedArrayBuffer over the same bytes, which Atomics.wait takes: threads of this
 * process that take it so wake each other, whatever they call it. It can be posted on, and holds the bytes until every
 * thread that has it let it go. Other tokens are of SharedArrayBuffers already.
 *
 * @param {Token} token
 * @param {{ shared?: 'sab' } | number} [opts]  shared needs Node 22.23.3, 24.16, 26.1 or newer where the memory is native; a
 * number, which `tokens.map(fromShared)` passes, says nothing
 * @returns {Tensor}
 * @throws {TypeError} ERR_ARGUMENT no token · ERR_STALE used up, taken back, or of another process · ERR_UNSUPPORTED of
 * another version, of memory that this thread has not joined (init({ from: token })), or where the runtime makes no
 * SharedArrayBuffer over native memory: the token can still be taken without · {RangeError} ERR_BOUNDS, ERR_MEMORY
 * @see Node-API node_api_create_external_sharedarraybuffer
 * @example
 * const t = zeros([2], { shared: 'sab' })
 * sharesMemory(t, fromShared(share(t))) // true
 */
function fromShared (token, opts) {
  const { shared } = typeof opts === 'number' ? {} : optionsOf(opts)
  if (shared !== undefined && shared !== 'sab') throw failure('ERR_ARGUMENT', `shared is ${show(shared)}; 'sab' was expected`)
  const given = partsOf(token)
  const nbytes = given.kind === 'buffer' ? byteLengthOf(/** @type {SharedArrayBuffer} */ (given.buffer)) : ffi.sentBytes(given.key)
  const layout = layoutWithin(new Storage(passing, null, null, 0, nbytes), given, given.byteOffset, given.flags) // a wrong token takes nothing
  layout.storage = given.kind === 'buffer' ? receivedBuffer(given) : ffi.receiveStorage(given.key, shared === 'sab')
  return wrap(layout)
}

/**
 * Takes back what nobody has taken yet: `fromShared` of the token is ERR_STALE from now on.
 *
 * @param {Token} token
 * @throws {TypeError} ERR_ARGUMENT no token · ERR_STALE used up or taken back already
 * @example
 * const token = share(zeros([2], { shared: 'sab' }))
 * unshare(token)
 */
function unshare (token) {
  const { kind, key, left } = partsOf(token)
  if (kind === 'parcel') ffi.takeBackStorage(key)
  else if (Atomics.exchange(/** @type {Int32Array} */ (left), 0, 0) <= 0) throw usedUp()
}

/**
 * A token's fields, each read once; nothing of it is believed but that it is no accident.
 *
 * @param {unknown} token
 */
function partsOf (token) {
  if (token === null || typeof token !== 'object') throw failure('ERR_ARGUMENT', `token is ${show(token)}; what share() gave was expected`)
  const { samebytes, kind } = /** @type {Token} */ (token)
  if (typeof samebytes !== 'string' || (kind !== 'parcel' && kind !== 'buffer')) throw failure('ERR_ARGUMENT', `token is ${show(token)}; what share() gave was expected`)
  const { home, key, buffer, left, dtype, shape, strides, byteOffset, flags } = /** @type {Token} */ (token)
  if (samebytes !== version) throw failure('ERR_UNSUPPORTED', `the token is from samebytes ${samebytes}; this is ${version}, and both have to be the same`)
  const parts = {
    kind,
    key: integer('key', key),
    buffer,
    left,
    dtype: dtypeOf(dtype),
    shape: shapeOf(shape),
    strides: integers('strides', strides),
    byteOffset: integer('byteOffset', byteOffset),
    flags: integer('flags', flags) & (READ_ONLY | STATIC | UNBOUND)
  }
  if (kind === 'parcel') checkHome(home)
  else if (!isSharedArrayBuffer(buffer)) throw failure('ERR_ARGUMENT', 'the token has no SharedArrayBuffer; what share() gave was expected')
  else if (!isCounter(left, buffer)) throw failure('ERR_ARGUMENT', 'the token has no count of its uses that all its clones have; what share() gave was expected')
  return parts
}

/**
 * Is it what usesLeft makes? One that clones do not have together would be used without end.
 *
 * @param {unknown} left
 * @param {SharedArrayBuffer} bytes  the tensor's
 */
function isCounter (left, bytes) {
  if (dtypeOfArray(left) !== 'int32') return false
  const { buffer, length } = partsOfArray(left)
  return length === 1 && isSharedArrayBuffer(buffer) && byteLengthOf(buffer) === 4 && buffer !== bytes
}

/** @param {unknown} given */
function checkHome (given) {
  if (backend.group !== null) {
    if (given !== backend.group.name) throw failure('ERR_UNSUPPORTED', 'the token is of memory that this thread has not joined; a worker calls init({ from: token }) first')
  } else if (backend.isWasm) {
    throw failure('ERR_UNSUPPORTED', 'the token is of shared memory, and this thread has one of its own; a worker calls init({ from: token }) first')
  } else if (given !== (home ??= ffi.home())) {
    throw failure('ERR_STALE', 'the token was made by another process')
  }
}

/** @param {{ buffer?: SharedArrayBuffer, left?: Int32Array }} parts */
function receivedBuffer ({ buffer, left }) {
  const uses = /** @type {Int32Array} */ (left)
  for (let now = Atomics.load(uses, 0); ;) { // takes one, where there is one
    if (now <= 0) throw usedUp()
    const before = Atomics.compareExchange(uses, 0, now, now - 1)
    if (before === now) break
    now = before
  }
  const whole = /** @type {SharedArrayBuffer} */ (buffer)
  return backend.adopt(whole, 0, byteLengthOf(whole), whole)
}

function usedUp () {
  return failure('ERR_STALE', 'the token was used up or taken back, or is none')
}

module.exports = { share, fromShared, unshare }
