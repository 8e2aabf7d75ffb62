'use strict'
// SharedTensor: tensors in memory that other processes share. segments.js has the segments and their names; it is loaded at first use.

const { isAbsolute, sep } = require('node:path')
const ffi = require('../backend/calls')
const fileCalls = require('../backend/file-calls')
const { failure } = require('../base/errors')
const { systemError } = require('../files/system-errors')
const { lazyFile } = require('../runtime/lazy')
const { show, receiver, boolean, integer, optionsOf, shapeOf, oneOf } = require('../base/validate')
const { dtypeOf } = require('../backend/dtypes')
const { denseLayout } = require('../layout/layouts')
const { Tensor: TensorClass, wrap } = require('../tensor/tensor')

const { backend, Layout, GUARDS } = ffi

/** @import { DtypeName, NameOf, Shape, Or, Signal } from '../base/types' */
/** @template {DtypeName} [D=any] @typedef {import('../tensor/tensor').Tensor<D>} Tensor */
/** @typedef {import('./segments').SegmentInfo} SegmentInfo */
/** @typedef {InstanceType<typeof import('./segments').Segment>} Segment */

const KEY = Symbol('samebytes shared tensor')
const FORMATS = /** @type {const} */ (['npy', 'raw'])
const IF_EXISTS = /** @type {const} */ (['error', 'open', 'replace'])
const MODES = /** @type {const} */ (['r', 'r+', 'c'])

const ATTEMPTS = 16 // to open what is there or make it
const OF_CREATE = ['dtype', 'format', 'sealed', 'mode', 'ifExists', 'persist', 'guard'] // options
const PARTS = /** @type {const} */ (['mode', 'guard', 'dtype', 'shape', 'format', 'offset'])

const segments = lazyFile(() => require('./segments'))
const waits = lazyFile(() => require('./waits'))
const writers = lazyFile(() => require('../files/writers'))
const npy = lazyFile(() => require('../files/npy'))
const entries = lazyFile(() => require('../files/entries'))

/**
 * Plain data with which another process opens the same segment.
 *
 * @template {DtypeName} [D=any]
 * @typedef {object} Descriptor
 * @property {string} path  `/dev/shm/NAME`, on Windows a file in the user's folder; of a sealed segment `/proc/PID/fd/N`, or that of a file of Windows, valid as long as that process has it open
 * @property {string | null} name
 * @property {string} id  device and inode, which differ from those of a later segment with the same path
 * @property {'npy' | 'raw'} format
 * @property {D} dtype
 * @property {number[]} shape  elements
 * @property {number} offset  elements from the first byte; raw only, else 0
 */

/**
 * @template {DtypeName} [D=any]
 * @typedef {object} CreateOptions
 * @property {D | undefined} [dtype]  'float32' unless told
 * @property {'npy' | 'raw' | undefined} [format]  'npy' unless told: the segment is a .npy file; 'raw': the elements alone
 * @property {boolean | undefined} [sealed]  true goes with name null
 * @property {number | undefined} [mode]  permissions, 0o600 unless told; umask is not applied. On Windows it does nothing: segments are the user's alone
 * @property {'error' | 'open' | 'replace' | undefined} [ifExists]  'error' unless told. 'open': opens an existing segment of this dtype and shape, which
 *   `sweep` leaves as long as this process has it;
 *   'replace': the name gets the new segment, and processes that have the old one mapped keep it
 * @property {boolean | undefined} [persist]  `sweep` leaves it
 * @property {boolean | undefined} [guard]  as of openNpy: if another process makes the segment shorter, its use throws ERR_IO instead of ending this process.
 *   Unless told, on for segments that are not sealed
 */

/**
 * @template {DtypeName} [D=any]
 * @typedef {object} OpenOptions
 * @property {Shape | undefined} [shape]  elements. raw: 1-D over all bytes unless told; npy: must be the file's
 * @property {D | undefined} [dtype]  raw: required; npy: must be the file's, or names the dtype of what NumPy stores as raw bytes (bfloat16)
 * @property {'npy' | 'raw' | undefined} [format]  'npy' unless told
 * @property {number | undefined} [offset]  elements from the segment's first byte; raw only
 * @property {'r' | 'r+' | 'c' | undefined} [mode]  'r+' unless told. 'r': read-only, needs no write permission; 'c': copy-on-write, writes stay private
 * @property {boolean | undefined} [guard]  as of openNpy: if another process makes the segment shorter, its use throws ERR_IO instead of ending this process.
 *   Unless told, on for segments that are not sealed
 */

/**
 * open's arguments, checked.
 *
 * @typedef {object} Wanted
 * @property {number} mode  index of MODES
 * @property {number} guard  one of GUARDS
 * @property {number} format  index of FORMATS
 * @property {DtypeName | undefined} dtype
 * @property {number[] | undefined} shape
 * @property {number | undefined} offset
 * @property {string | undefined} id
 */

/**
 * A segment, and how to make a tensor of it.
 *
 * @typedef {object} Plan
 * @property {Segment} segment
 * @property {string | null} name
 * @property {string} path
 * @property {Descriptor} descriptor
 * @property {() => Tensor} make
 */

/** what a shared tensor's method was called on @type {(it: any) => SharedTensor} */
let own

/**
 * A tensor in memory shared with other processes: POSIX shared memory, opened by name or by descriptor. Made by
 * `SharedTensor.create` and `SharedTensor.open`. In Node, with the native addon.
 *
 * @template {DtypeName} [D=any]
 * @see POSIX shared memory, Python multiprocessing.shared_memory
 * @example
 * const doubled = name => {
 *   const { tensor } = SharedTensor.open(name)
 *   return tensor.copyFrom(tensor, { scale: 2 })
 * }
 */
class SharedTensor {
  /** null: disposed @type {Plan | null} */
  #plan
  /** for name, path and descriptor, also after dispose @type {Plan} */
  #known
  /** @type {Tensor | null} */
  #tensor = null
  /** pending waits, which dispose ends @type {InstanceType<typeof import('./waits').Waits> | null} */
  #waits = null

  /**
   * @param {symbol} key  that only samebytes has
   * @param {Plan} plan
   * @private
   */
  constructor(key, plan) {
    if (key !== KEY) {
      throw failure(
        'ERR_ARGUMENT',
        'shared tensors are made by SharedTensor.create() and SharedTensor.open()',
      )
    }
    this.#plan = plan
    this.#known = plan
  }

  static {
    own = receiver('shared tensor', (it) => #plan in it, 'shared')
  }

  /** @param {unknown} it  what a method was called on */
  static #open(it) {
    const plan = own(it).#plan
    if (plan === null) throw failure('ERR_DISPOSED', 'the shared tensor was disposed')
    return plan
  }

  /**
   * Creates a zeroed segment. Its memory is reserved: too little space is an error here, not a crash later. A name appears once the
   * segment is complete, and stays after the process ends, until `unlink` or another process' `sweep`. Without a name the segment is
   * sealed: nobody can change its length, and it is freed with the last process that has it open.
   *
   * @template {DtypeName} [D=never]
   * @param {string | null} name  as for shm_open, with or without the slash; null: sealed, opened by descriptor
   * @param {Shape} shape  elements
   * @param {CreateOptions<D> | NameOf<D>} [opts]
   * @returns {SharedTensor<Or<D, 'float32'>>}
   * @throws ERR_EXISTS · {RangeError} ERR_MEMORY not enough space, with errno · ERR_IO, with errno and path · {TypeError}
   * ERR_ARGUMENT, ERR_DTYPE · {RangeError} ERR_SHAPE · ERR_UNSUPPORTED in WASM
   * @see POSIX shm_open, Linux memfd_create
   * @example
   * const frames = () => SharedTensor.create('frames', [8, 480, 640, 3], { dtype: 'uint8', ifExists: 'replace' })
   */
  static create(name, shape, opts) {
    return newShared(name, shape, opts)
  }

  /**
   * Opens an existing segment, or any .npy file. The header is read, not mapped, and checked against the segment's size, so that other
   * processes cannot make this one read outside. If a process makes an unsealed segment shorter, use of the missing bytes throws
   * ERR_IO, or with `guard: false` ends this process.
   *
   * @template {DtypeName} [D=never]
   * @param {string | { fd: number } | Descriptor<D>} where  a name; a path (with a slash after its first character); an open
   *   file, which stays the caller's; a `descriptor`
   * @param {OpenOptions<D> | NameOf<D>} [opts]
   * @returns {SharedTensor<Or<D, any>>}
   * @throws ERR_NOT_FOUND · ERR_FORMAT · ERR_STALE the descriptor's path is another segment now · ERR_IO, with errno and
   * path · {TypeError} ERR_ARGUMENT, ERR_DTYPE · {RangeError} ERR_SHAPE, ERR_BOUNDS outside the segment · ERR_UNSUPPORTED
   * @see POSIX shm_open
   * @example
   * const samples = () => SharedTensor.open('samples', { format: 'raw', dtype: 'int32' }).tensor
   */
  static open(where, opts) {
    const location = locationOf(where)
    const given = optionsOf(opts, PARTS, 'SharedTensor.open')
    const { known } = location
    const parts = PARTS.map((key) => {
      const { [key]: value = known[key] } = given
      return [key, value]
    })
    const wanted = wantedOf(Object.fromEntries(parts), known.id)
    const { checkPlatform, openSegment, pathOfDescriptor, segmentOfDescriptor } = segments()
    checkPlatform()
    const segment =
      location.fd === null
        ? openSegment(location.path, wanted, location.name === null)
        : segmentOfDescriptor(location.fd, wanted)
    const isOfProcess = location.fd !== null || /^\/(proc|dev\/fd)\//.test(location.path) // that process may end before this one
    return finished(
      segment,
      location.name,
      isOfProcess ? pathOfDescriptor(segment) : location.path,
      wanted,
    )
  }

  /**
   * Removes a name: the segment cannot be opened by it any more; processes that have it open keep it.
   *
   * @param {string} name
   * @throws ERR_NOT_FOUND · ERR_IO, with errno and path · {TypeError} ERR_ARGUMENT · ERR_UNSUPPORTED in WASM
   * @see POSIX shm_unlink
   * @example
   * const gone = () => SharedTensor.unlink('frames')
   */
  static unlink(name) {
    const { nameOf, unlink } = segments()
    unlink(nameOf(name))
  }

  /**
   * The named segments that any process made with SharedTensor.
   *
   * @returns {SegmentInfo[]}
   * @throws ERR_IO · ERR_UNSUPPORTED in WASM
   * @example
   * const bytes = () => SharedTensor.list().reduce((sum, { nbytes }) => sum + nbytes, 0)
   */
  static list() {
    return segments().list()
  }

  /**
   * Removes names whose processes have ended, of this user, except those made with `persist`: nobody has the segment who created it, or opened
   * it with `ifExists: 'open'`, and of a ring nobody writes it, or has a place as a reader. The memory is freed when no process has the segment open
   * any more.
   *
   * @returns {string[]} the removed names
   * @throws ERR_IO · ERR_UNSUPPORTED in WASM
   * @example
   * const left = () => SharedTensor.sweep()
   */
  static sweep() {
    return segments().sweep()
  }

  /**
   * The name, without a slash.
   *
   * @returns {string | null} null: sealed, or opened by descriptor or by a path elsewhere
   * @throws nothing
   * @example
   * const isAnonymous = s => s.name === null
   */
  get name() {
    return own(this).#known.name
  }

  /**
   * A path by which other processes of this machine open it, for example with np.load; of a sealed segment it is valid until this is disposed.
   *
   * @returns {string}
   * @throws nothing
   * @example
   * const command = s => `python3 -c "import numpy as np; print(np.load(r'${s.path}', mmap_mode='r+'))"`
   */
  get path() {
    return own(this).#known.path
  }

  /**
   * The file descriptor, for `stdio` of a child process; closed when this is disposed.
   *
   * @returns {number}
   * @throws ERR_DISPOSED
   * @example
   * const options = s => ({ stdio: ['inherit', 'inherit', 'inherit', s.fd] }) // the child's descriptor 3
   */
  get fd() {
    return SharedTensor.#open(this).segment.fd
  }

  /**
   * Is it sealed, so that nobody can make it shorter? Memory of large pages (hugetlbfs) is not, whatever its seals: the system may have
   * no pages for it.
   *
   * @returns {boolean}
   * @throws ERR_DISPOSED
   * @example
   * const trusted = fd => SharedTensor.open({ fd }).isSealed
   */
  get isSealed() {
    return fileCalls.isSealed(SharedTensor.#open(this).segment.fd)
  }

  /**
   * Plain data with which `open` in another process finds the same segment; may be sent as JSON.
   *
   * @returns {Descriptor<D>}
   * @throws nothing
   * @example
   * const send = (child, s) => child.send(s.descriptor)
   */
  get descriptor() {
    const { descriptor } = own(this).#known
    return { ...descriptor, shape: descriptor.shape.slice() }
  }

  /**
   * The tensor; the same object until it is disposed. Disposing this object does not dispose it.
   *
   * @returns {Tensor<D>} over the segment's bytes
   * @throws ERR_DISPOSED
   * @example
   * const sum = name => SharedTensor.open(name).tensor.data.reduce((a, b) => a + b, 0)
   */
  get tensor() {
    const { make } = SharedTensor.#open(this)
    if (this.#tensor === null || this.#tensor.isDisposed) this.#tensor = make()
    return this.#tensor
  }

  /**
   * The tensor's layout, whose words other processes can wait on.
   *
   * @param {SharedTensor} shared  what a method was called on
   * @throws ERR_READ_ONLY
   */
  static #words(shared) {
    if (!SharedTensor.#open(shared).segment.writes) {
      throw failure(
        'ERR_READ_ONLY',
        "the segment was not opened in mode 'r+': a word may be a private copy, and nobody can wait on it",
      )
    }
    return TensorClass.attachedOf(shared.tensor)
  }

  /**
   * Waits, off the event loop, until notify is called for an element, by this process, another one, or any program that uses the kernel's
   * futex on the element's address. As with Atomics.wait the element is compared first, so that no change is missed: change
   * it, then notify. Of 64 bits only the lower half is compared and waited on. A pending wait keeps the process and the bytes alive;
   * each takes a sleeping thread, of which there may be 1024. If the segment is made shorter and the element is gone, the wait is
   * rejected within a second.
   *
   * @param {number} index  of an element, as in `tensor.data`
   * @param {number | bigint} expected  the element's expected value
   * @param {{ timeout?: number | undefined, signal?: Signal | undefined }} [opts]  timeout: milliseconds, no limit unless told
   * @returns {Promise<'ok' | 'not-equal' | 'timed-out'>} 'ok': notified, or woken for another reason: read the element
   *   again, as after any futex. 'not-equal': the element had another value when the wait began
   * @throws ERR_DISPOSED now or meanwhile · {TypeError} ERR_DTYPE no integers of 32 or 64 bits · {TypeError} ERR_CAST, ERR_ARGUMENT ·
   * {RangeError} ERR_BOUNDS · {RangeError} ERR_MEMORY too many at a time · ERR_READ_ONLY · ERR_IO the segment was made shorter ·
   * ERR_UNSUPPORTED · the signal's reason · as rejections
   * @see JavaScript Atomics.waitAsync, Linux futex
   * @example
   * const changed = async (shared, last) => {
   *   while (shared.tensor.get(0) === last) await shared.wait(0, last)
   * }
   */
  async wait(index, expected, opts) {
    const layout = SharedTensor.#words(this)
    this.#waits ??= new (waits().Waits)()
    return this.#waits.wait(layout, index, expected, opts)
  }

  /**
   * Wakes threads, of any process, that wait on an element.
   *
   * @param {number} index  of an element, as in `tensor.data`
   * @param {number} [n]  at most; all unless told
   * @returns {number} threads woken
   * @throws ERR_DISPOSED · {TypeError} ERR_DTYPE, ERR_ARGUMENT · {RangeError} ERR_BOUNDS · ERR_READ_ONLY · ERR_IO the segment was made
   * shorter · ERR_UNSUPPORTED
   * @see JavaScript Atomics.notify
   * @example
   * const publish = (shared, value) => {
   *   shared.tensor.set(value, 0)
   *   return shared.notify(0)
   * }
   */
  notify(index, n) {
    return waits().notify(SharedTensor.#words(this), index, n)
  }

  /**
   * The descriptor, for JSON.stringify.
   *
   * @returns {Descriptor<D>}
   * @throws nothing
   * @example
   * const text = s => JSON.stringify(s)
   */
  toJSON() {
    return own(this).descriptor
  }

  /**
   * Closes the file descriptor and ends waits. Tensors that were taken stay mapped, and a name stays. A second dispose does nothing.
   *
   * @throws nothing
   * @example
   * const tensorOf = name => {
   *   const s = SharedTensor.open(name)
   *   const t = s.tensor
   *   s.dispose()
   *   return t
   * }
   */
  dispose() {
    own(this).#waits?.end()
    this.#plan?.segment.close()
    this.#plan = null
    this.#tensor = null
  }
}
if (Symbol.dispose !== undefined) {
  Object.defineProperty(SharedTensor.prototype, Symbol.dispose, {
    value: SharedTensor.prototype.dispose,
    configurable: true,
    writable: true,
  })
}

/**
 * Creates a segment, as SharedTensor.create.
 *
 * @param {string | null} name
 * @param {Shape} shape
 * @param {unknown} [opts]  CreateOptions
 * @param {boolean} [isPart]  of a ring: others become owners once segments.complete() was called
 * @returns {SharedTensor<any>}
 */
function newShared(name, shape, opts, isPart = false) {
  const {
    dtype: type = 'float32',
    format,
    sealed,
    mode,
    ifExists,
    persist,
    guard,
  } = optionsOf(opts, OF_CREATE, 'SharedTensor.create')
  const dtype = dtypeOf(type)
  const wanted = wantedOf({ dtype: dtype.name, shape: shapeOf(shape), format, guard })
  const isSealed = sealed === undefined ? name === null : boolean('sealed', sealed)
  const which = ifExists === undefined ? 0 : oneOf('ifExists', ifExists, IF_EXISTS)
  const permissions = permissionsOf(mode)
  const stays = boolean('persist', persist)
  const {
    FOLDER,
    nameOf,
    pathOf,
    pathOfDescriptor,
    pause,
    checkPlatform,
    checkFree,
    newSegment,
    publish,
    openOwned,
  } = segments()
  const called = name === null ? null : nameOf(name)
  if (isSealed !== (called === null)) {
    throw failure(
      'ERR_ARGUMENT',
      isSealed
        ? 'a sealed segment has no name: name is null'
        : 'a segment without a name is sealed',
    )
  }
  const bare = denseLayout(dtype.index, wanted.shape ?? [])
  const header = wanted.format === 0 ? writers().npyHeader(dtype.name, bare.shape, false) : null
  const total = (header === null ? 0 : header.length) + bare.size * dtype.itemsize
  if (total === 0) {
    throw failure('ERR_SHAPE', 'a raw segment without elements has no bytes that could be mapped')
  }
  checkPlatform()
  const label = called === null ? FOLDER : pathOf(called)
  if (which === 0 && called !== null) checkFree(called) // before memory is reserved
  for (let tries = 0; ; tries++) {
    // other processes may make and remove it meanwhile
    if (which === 1 && called !== null) {
      const there = unless('ERR_NOT_FOUND', () => openOwned(called, wanted))
      if (there !== undefined) return finished(there, called, label, wanted)
    }
    const segment = newSegment(isSealed, permissions, header, total, label, wanted.guard)
    const path = called === null ? pathOfDescriptor(segment) : label
    const made = finished(segment, called, path, wanted)
    try {
      if (called !== null) {
        publish(segment, called, { replace: which === 2, persist: stays, isPart })
      }
      return made
    } catch (error) {
      segment.close()
      if (which !== 1 || tries === ATTEMPTS || codeOf(error) !== 'ERR_EXISTS') throw error
      pause(tries)
    }
  }
}

/**
 * Opens a segment as `ifExists: 'open'` does, of any shape.
 *
 * @param {string} name
 * @param {DtypeName | undefined} dtype
 * @returns {SharedTensor<any>}
 */
function openOwned(name, dtype) {
  const wanted = wantedOf({ dtype })
  return finished(segments().openOwned(name, wanted), name, segments().pathOf(name), wanted)
}

/**
 * @param {Record<string, any>} given
 * @param {string} [id]
 * @returns {Wanted}
 */
function wantedOf({ mode, guard, dtype, shape, format, offset }, id) {
  const wanted = {
    mode: mode === undefined ? 1 : oneOf('mode', mode, MODES),
    guard:
      guard === undefined ? GUARDS.wanted : boolean('guard', guard) ? GUARDS.needed : GUARDS.none,
    format: format === undefined ? 0 : oneOf('format', format, FORMATS),
    dtype: dtype === undefined ? undefined : dtypeOf(dtype).name,
    shape: shape === undefined ? undefined : shapeOf(shape),
    offset: offset === undefined ? undefined : integer('offset', offset),
    id,
  }
  if (wanted.format === 0 && offset !== undefined && offset !== 0) {
    throw failure(
      'ERR_ARGUMENT',
      `offset is ${show(offset)}; a .npy says itself where its data begins`,
    )
  }
  if (wanted.format === 1 && dtype === undefined) {
    throw failure('ERR_DTYPE', 'dtype is needed: raw bytes do not tell what they are')
  }
  if (wanted.shape !== undefined) denseLayout(dtypeOf(wanted.dtype ?? 'uint8').index, wanted.shape) // checks the shape before anything is opened
  return wanted
}

/**
 * @param {unknown} where
 * @returns {{ path: string, name: string | null, fd: number | null, known: Record<string, any> }}
 */
function locationOf(where) {
  const { nameOf, nameOfPath, pathOf } = segments()
  if (typeof where === 'string') {
    if (where.indexOf('/', 1) < 0 && where.indexOf(sep, 1) < 0) {
      return { path: pathOf(nameOf(where)), name: nameOf(where), fd: null, known: {} }
    }
    if (where.includes('\0')) {
      throw failure('ERR_ARGUMENT', `path is ${show(where)}; a path has no character 0`)
    }
    const location = isAbsolute(where) ? where : process.cwd() + sep + where // the descriptor is for processes with other working directories
    return { path: location, name: nameOfPath(location), fd: null, known: {} }
  }
  if (where === null || typeof where !== 'object') throw wrongLocation(where)
  const { fd, path, name, id, format, dtype, shape, offset } = /** @type {any} */ (where)
  if (fd !== undefined) {
    if (integer('fd', fd) < 0 || fd > 2 ** 31 - 1) {
      throw failure('ERR_BOUNDS', `fd is ${fd}; an open file was expected`)
    }
    return { path: '', name: null, fd, known: {} }
  }
  if (typeof path !== 'string' || typeof id !== 'string') throw wrongLocation(where)
  const known = { id, format, dtype, shape, offset }
  return name === null || name === undefined
    ? { ...locationOf(path), known }
    : { path: pathOf(nameOf(name)), name: nameOf(name), fd: null, known }
}

/** @param {unknown} where */
function wrongLocation(where) {
  return failure(
    'ERR_ARGUMENT',
    `where is ${show(where)}; a name, a path, { fd } or a descriptor was expected`,
  )
}

/** @param {unknown} error @returns {string | undefined} */
const codeOf = (error) => /** @type {any} */ (error)?.code

/**
 * Calls fn. Returns undefined where it throws an error with this code.
 *
 * @template R
 * @param {string} code
 * @param {() => R} fn
 * @returns {R | undefined}
 */
function unless(code, fn) {
  try {
    return fn()
  } catch (error) {
    if (codeOf(error) !== code) throw error
  }
}

/**
 * @param {Segment} segment
 * @param {string | null} name
 * @param {string} path
 * @param {Wanted} wanted
 * @returns {SharedTensor}
 */
function finished(segment, name, path, wanted) {
  // @ts-expect-error The constructor is private to everybody else.
  return new SharedTensor(KEY, planned(segment, name, path, wanted))
}

/**
 * @param {Segment} segment  closed if this fails
 * @param {string | null} name
 * @param {string} path
 * @param {Wanted} wanted
 * @returns {Plan}
 */
function planned(segment, name, path, wanted) {
  try {
    const { id } = segment
    if (wanted.id !== undefined && wanted.id !== id) {
      throw failure(
        'ERR_STALE',
        `${path} is another segment than the descriptor's: that one was removed or replaced`,
      )
    }
    const { dtype, shape, make } =
      wanted.format === 0 ? npyPlan(segment, wanted) : rawPlan(segment, wanted)
    const format = FORMATS[wanted.format]
    const { offset = 0 } = wanted
    const descriptor = { path, name, id, format, dtype, shape, offset }
    return { segment, name, path, descriptor, make }
  } catch (error) {
    segment.close()
    throw systemError(error, path)
  }
}

/**
 * @param {Segment} segment
 * @param {Wanted} wanted
 * @returns {{ dtype: DtypeName, shape: number[], make: () => Tensor }}
 */
function npyPlan(segment, wanted) {
  const { readArrayHeader } = npy()
  const { dtypeAndShape, tensorFromEntry } = entries()
  const { entry, how } = readArrayHeader(segment, '', wanted.dtype)
  const { dtype, shape } = dtypeAndShape(entry)
  if (wanted.shape !== undefined && String(wanted.shape) !== String(shape)) {
    throw failure(
      'ERR_SHAPE',
      `shape is [${wanted.shape.join(', ')}]; the segment's is [${shape.join(', ')}]`,
    )
  }
  const make = () => tensorFromEntry(segment, entry, how)
  return { dtype: dtype.name, shape: shape.slice(), make }
}

/**
 * @param {Segment} segment
 * @param {Wanted} wanted
 * @returns {{ dtype: DtypeName, shape: number[], make: () => Tensor }}
 */
function rawPlan(segment, { dtype: name, shape, offset = 0 }) {
  const { index, itemsize, kind } = dtypeOf(name)
  const at = offset * itemsize
  if (segment.size === 0) {
    throw failure(
      'ERR_FORMAT',
      'the segment has no bytes: who makes it has not given it a length yet',
    )
  }
  if (at < 0 || at > segment.size) {
    throw failure(
      'ERR_BOUNDS',
      `offset is ${offset} of ${itemsize} bytes; the segment has ${segment.size} bytes`,
    )
  }
  const bare = denseLayout(index, shape ?? [Math.floor((segment.size - at) / itemsize)])
  const nbytes = bare.size * itemsize
  if (nbytes > segment.size - at) {
    throw failure(
      'ERR_BOUNDS',
      `shape [${bare.shape.join(', ')}] of ${name} from byte ${at} on needs ${nbytes} bytes; the segment has ${segment.size}`,
    )
  }
  const make = () => {
    const storage =
      nbytes === 0
        ? backend.allocate(0, ffi.check)
        : segment.storageAt(at, nbytes, kind === 'COMPLEX' ? itemsize / 2 : itemsize)
    return wrap(
      new Layout(
        /** @type {any} */ (storage),
        index,
        bare.shape,
        bare.strides,
        0,
        bare.size,
        bare.flags | segment.flags,
      ),
    )
  }
  return { dtype: /** @type {DtypeName} */ (name), shape: bare.shape.slice(), make }
}

/** @param {unknown} mode */
function permissionsOf(mode) {
  const permissions = mode === undefined ? 0o600 : integer('mode', mode)
  if (permissions < 0 || permissions > 0o777) {
    throw failure('ERR_BOUNDS', `mode is ${permissions}; permissions are 0o000 to 0o777`)
  }
  return permissions
}

module.exports = { SharedTensor, newShared, openOwned, permissionsOf, unless, codeOf }
