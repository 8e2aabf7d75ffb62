'use strict'
// Files in Node: mapped as tensors, written, read. In browsers files.browser.js takes this file's place.

const { arrayJoin, lengthOf, nbytesOf, newList, rootless } = require('../base/primordials')
const fs = require('node:fs')
const path = require('node:path')
const { fileURLToPath } = require('node:url')
const { getSystemErrorName } = require('node:util')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, boolean, integer, optionsOf, isOptions, shapeOf, oneOf } = require('../base/validate')
const { Extra, countStaged } = require('../backend/storage')
const { dtypeOf } = require('../backend/dtypes')
const { denseLayout } = require('../layout/layouts')
const { Tensor, wrap } = require('../tensor/tensor')
const { newName, log, onNextTurn } = require('../runtime/host')
const { signalOf, checkSignal } = require('../base/signals')
const formats = require('./formats')
const writers = require('./writers')

const { backend, Layout, READ_ONLY, GUARDS } = ffi
const { Summed, whatOf, withPart, sizeOf } = writers

/** @import { AnyTensor, DtypeName, Shape } from '../base/types' */
/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @typedef {import('./formats').Source} Source */
/** @typedef {import('./formats').TensorFile} TensorFile */
/** @typedef {import('./formats').TensorInfo} TensorInfo */
/** @typedef {import('./formats').Member} Member */
/** @typedef {import('./writers').Tensors} Tensors */
/** @typedef {import('./writers').Piece} Piece */
/** @typedef {import('../base/signals').Signal} Signal */

const SWEEP = 256 // mappings between two looks at which of them were collected
const CHUNK = 2 ** 24 // bytes that are written or read at a time
const PART = 2 ** 18 // bytes that are inflated at a time
const MODES = /** @type {const} */ (['r', 'r+', 'c'])
const O_TMPFILE = 0o20000000 // not among Node's constants; the same on all processors that there are binaries for
const IF_EXISTS = /** @type {const} */ (['replace', 'error'])

let mappings = 0

/**
 * @param {unknown} place
 * @returns {string}
 */
function pathOf (place) {
  const given = place instanceof URL && place.protocol === 'file:' ? pathOfUrl(place) : place
  if (typeof given !== 'string' || given === '' || given.includes('\0')) throw failure('ERR_ARGUMENT', `path is ${show(place)}; a path or file: URL was expected`)
  return given
}

/**
 * What the system said, as one of ours: with errno and path.
 *
 * @param {any} error
 * @param {string} file
 */
function systemError (error, file) {
  if (error?.code === 'ERR_ACCESS_DENIED') return Object.assign(forbidden(error, file), { cause: error })
  if (typeof error?.code === 'string' && error.code.startsWith('ERR_') && error.syscall === undefined) {
    return error.errno === undefined ? error : Object.assign(error, { path: file })
  }
  const code = { ENOENT: 'ERR_NOT_FOUND', ENOTDIR: 'ERR_NOT_FOUND', EEXIST: 'ERR_EXISTS' }[/** @type {string} */ (error.code)] ?? 'ERR_IO'
  // Of a draft nobody has heard: the words are of the file that was to be.
  const isDraft = typeof error.path === 'string' && DRAFT.test(path.basename(error.path))
  const message = isDraft ? error.message.replace(/, (\w+) '[^]*$/, (/** @type {string} */ _, /** @type {string} */ call) => `, ${call} '${file}'`) : error.message
  return Object.assign(failure(code, message), { errno: error.errno, path: file, cause: error })
}

const DRAFT = /^\.samebytes-[\w-]+\.tmp$/

/**
 * What Node's permission model refused, with what allows it.
 *
 * @param {any} error  permission and resource say what was missing; links need everything, and say it in words only
 * @param {string} file
 */
function forbidden ({ permission, resource }, file) {
  const flag = { FileSystemRead: '--allow-fs-read', FileSystemWrite: '--allow-fs-write' }[/** @type {string} */ (permission)]
  const folder = path.dirname(path.resolve(file))
  let needs = '--allow-fs-read=* --allow-fs-write=*'
  if (flag !== undefined) needs = `${flag}=${resource || file}`
  if (flag !== undefined && resource && path.basename(resource) !== path.basename(file)) {
    needs = `--allow-fs-read=${folder}/* --allow-fs-write=${folder}/*` // of a draft beside the file
  }
  return Object.assign(failure('ERR_IO', `${file}: the permission model forbids it; ${needs} is needed`), { path: file })
}

/**
 * @template R
 * @param {string} file
 * @param {() => R} fn
 * @returns {R}
 */
function named (file, fn) {
  try {
    return fn()
  } catch (error) {
    throw systemError(error, file)
  }
}

/** @param {URL} url @throws {TypeError} ERR_ARGUMENT another host, an escaped slash */
function pathOfUrl (url) {
  try {
    return fileURLToPath(url)
  } catch (error) {
    throw failure('ERR_ARGUMENT', `path is ${url.href}: ${/** @type {Error} */ (error).message}`)
  }
}

/** @param {number} fd @param {Uint8Array} target @param {number} from */
function readFully (fd, target, from) {
  for (let at = 0; at < target.length;) {
    const n = fs.readSync(fd, target, at, Math.min(target.length - at, 2 ** 30), from + at)
    if (n === 0) throw failure('ERR_FORMAT', `byte ${from + at}: the file ends here; it became shorter while it was read`)
    at += n
  }
}

/** A file that is mapped. Its header is read, not mapped, so that nobody changes it while it is judged. @implements {Source} */
class MappedFile {
  /**
   * @param {string} file
   * @param {{ mode: number, guard: number }} options  mode: of MODES, guard: of ffi.GUARDS
   * @param {string} reason
   * @param {number} [fd]  of the file, where it is open
   */
  constructor (file, { mode, guard }, reason, fd) {
    this.file = file
    this.writes = mode === 1
    this.flags = mode === 0 ? READ_ONLY : 0
    this.reason = reason
    this.first = 4096
    this.size = 0
    /** null: not mapped, as it is empty, or closed @type {Storage | null} */
    this.storage = null
    this.fd = fd ?? named(file, () => fs.openSync(file, (this.writes ? fs.constants.O_RDWR : fs.constants.O_RDONLY) | fs.constants.O_NONBLOCK))
    try {
      const stat = fs.fstatSync(this.fd)
      if (!stat.isFile()) throw failure('ERR_IO', `${file} is no regular file`)
      this.size = stat.size
      if (this.size > 0) this.storage = ffi.mapFile(this.fd, this.size, this.writes, guard)
    } catch (error) {
      this.settle()
      throw systemError(error, file)
    }
    log('mapped %s: %d bytes, mode %s%s', file, this.size, MODES[mode], this.storage !== null && ffi.isGuarded(this.storage) ? ', guarded' : '')
    if (++mappings % SWEEP === 0) backend.sweep() // finalizers wait for the event loop; who opens in a loop does not
  }

  /**
   * @param {number} from
   * @param {number} nbytes
   */
  read (from, nbytes) {
    const bytes = formats.roomFor(nbytes, 'the file')
    if (this.fd >= 0) named(this.file, () => readFully(this.fd, bytes, from))
    else if (nbytes > 0) this.copy(bytes, from)
    return bytes
  }

  /** @param {number} from @param {number} nbytes */
  view (from, nbytes) { return this.read(from, nbytes) }

  /**
   * @param {Uint8Array} target
   * @param {number} from
   */
  copy (target, from) {
    if (this.storage === null) throw failure('ERR_DISPOSED', 'the file was closed')
    const { addon } = /** @type {any} */ (backend)
    ffi.checkIntact(this.storage)
    const n = nbytesOf(target)
    if (!(from >= 0 && from + n <= this.storage.nbytes)) throw failure('ERR_FORMAT', `bytes ${from} to ${from + n} are outside the file of ${this.storage.nbytes}`)
    addon.move(addon.address(target), backend.addressOf(this.storage) + from, n)
    ffi.checkIntact(this.storage)
  }

  /**
   * @param {number} from
   * @param {number} nbytes
   * @param {number} alignment
   */
  place (from, nbytes, alignment) {
    if (this.storage === null) throw failure('ERR_DISPOSED', 'the file was closed')
    return from % alignment === 0 ? ffi.partOf(this.storage, from, nbytes) : null // a mapping begins with a page
  }

  /** What has to be known of it is: the mapping stays. */
  settle () {
    if (this.fd >= 0) fs.closeSync(this.fd)
    this.fd = -1
  }

  close () {
    this.settle()
    if (this.storage !== null) backend.release(this.storage)
    this.storage = null
  }
}

rootless(MappedFile)

/**
 * @param {unknown} opts
 * @returns {{ mode: number, guard: number, dtype: any, byteOffset: any }}
 */
function openOptions (opts) {
  const { mode, guard, dtype, byteOffset } = optionsOf(opts)
  const options = { mode: mode === undefined ? 0 : oneOf('mode', mode, MODES), guard: boolean('guard', guard) ? GUARDS.needed : GUARDS.none, dtype, byteOffset }
  if (dtype !== undefined) dtypeOf(dtype)
  return options
}

/**
 * @template R
 * @param {unknown} place
 * @param {{ mode: number, guard: number }} options
 * @param {string} reason
 * @param {(source: MappedFile) => R} fn
 * @returns {R}
 */
function opened (place, options, reason, fn) {
  const file = pathOf(place)
  if (backend.isWasm) throw failure('ERR_UNSUPPORTED', 'mapping a file needs the native addon; load() reads one, as does parse... of its bytes')
  const source = new MappedFile(file, options, reason)
  try {
    const result = fn(source)
    source.settle()
    if (formats.isFile(result)) formats.rehearse(result)
    return result
  } catch (error) {
    source.close()
    throw error
  }
}

/**
 * The array of a .npy file, mapped: its header is read, its data when it is used. Mode 'r': read-only (what is written through
 * `data` nevertheless stays private); 'r+': writes reach the file; 'c': writes stay private. Who makes the file shorter while it
 * is mapped makes the use of what was cut off end the process, or with `guard: true` fail.
 *
 * @template {DtypeName} [D=any]
 * @param {string | URL} path
 * @param {{ mode?: 'r' | 'r+' | 'c', dtype?: D, guard?: boolean } | D} [opts]  dtype: of an array that NumPy wrote as raw bytes.
 * guard: pages that are cut off read as zeros, and once one was touched each use of the file's tensors is ERR_IO; until then
 * nobody looks, and data that was taken before goes on giving zeros
 * @returns {Tensor<D>} over the file, which is unmapped when nobody uses it. A copy where it is big-endian or not aligned
 * @throws ERR_FORMAT · ERR_NOT_FOUND, ERR_IO, with errno and path · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_UNSUPPORTED in
 * WASM; big-endian in mode 'r+'; guard, where a handler of SIGBUS was installed after ours
 * @see NumPy load(mmap_mode)
 * @example
 * const sum = path => openNpy(path).toArray().reduce((a, b) => a + b)
 */
function openNpy (path, opts) {
  const options = openOptions(opts)
  return opened(path, options, 'openNpy', source => {
    const t = formats.npyTensor(source, options.dtype)
    source.close()
    return t
  })
}

/**
 * The arrays of an .npz file by name, as parseNpz gives them, over the mapped file.
 *
 * @param {string | URL} path
 * @param {{ mode?: 'r' | 'r+' | 'c', dtype?: DtypeName, guard?: boolean } | DtypeName} [opts]  as openNpy; dtype: of arrays that have none
 * @returns {TensorFile}
 * @throws as openNpy
 * @see NumPy load
 * @example
 * const names = path => [...openNpz(path).keys()]
 */
function openNpz (path, opts) {
  const options = openOptions(opts)
  return opened(path, options, 'openNpz', source => formats.npzFile(source, options.dtype))
}

/**
 * The tensors of a .safetensors file by name, over the mapped file.
 *
 * @param {string | URL} path
 * @param {{ mode?: 'r' | 'r+' | 'c', guard?: boolean }} [opts]  as openNpy
 * @returns {TensorFile}
 * @throws as openNpy · ERR_ALIGNMENT from get(), in mode 'r+', where a tensor is not aligned in the file
 * @see safetensors safe_open
 * @example
 * const shapes = path => [...openSafetensors(path)].map(([name, t]) => [name, t.shape])
 */
function openSafetensors (path, opts) {
  return opened(path, openOptions(opts), 'openSafetensors', formats.safetensorsFile)
}

/**
 * The tensors of a .gguf file by name, as parseGguf gives them, over the mapped file.
 *
 * @param {string | URL} path
 * @param {{ mode?: 'r' | 'r+' | 'c', guard?: boolean }} [opts]  as openNpy
 * @returns {TensorFile}
 * @throws as openNpy
 * @see ggml gguf_init_from_file
 * @example
 * const architecture = path => openGguf(path).metadata['general.architecture']
 */
function openGguf (path, opts) {
  return opened(path, openOptions(opts), 'openGguf', formats.ggufFile)
}

/**
 * The bytes of any file as a tensor, mapped.
 *
 * @template {DtypeName} [D=any]
 * @param {string | URL} path
 * @param {Shape | null} [shape]  elements; 1-D over the rest of the file unless told
 * @param {{ dtype?: D, byteOffset?: number, mode?: 'r' | 'r+' | 'c', guard?: boolean } | D} [opts]  dtype is needed
 * @returns {Tensor<D>} over the file, as openNpy
 * @throws {TypeError} ERR_DTYPE · {RangeError} ERR_BOUNDS outside the file, ERR_ALIGNMENT · ERR_NOT_FOUND, ERR_IO · ERR_UNSUPPORTED
 * @see NumPy memmap
 * @example
 * const samples = path => openRaw(path, { dtype: 'int16', byteOffset: 44 })
 */
function openRaw (path, shape, opts) {
  if (opts === undefined && shape !== undefined && shape !== null && isOptions(shape)) [shape, opts] = [undefined, /** @type {any} */ (shape)]
  const options = openOptions(opts)
  const { dtype: name, byteOffset = 0 } = options
  if (name === undefined) throw failure('ERR_DTYPE', 'dtype is needed: a file of raw bytes does not tell what they are')
  const { index, itemsize, kind } = dtypeOf(name)
  const at = integer('byteOffset', byteOffset)
  const extents = shape === undefined || shape === null ? null : shapeOf(shape)
  return opened(path, options, 'openRaw', source => {
    if (at < 0 || at > source.size) throw failure('ERR_BOUNDS', `byteOffset is ${at}; the file has ${source.size} bytes`)
    const bare = denseLayout(index, extents ?? [Math.floor((source.size - at) / itemsize)])
    const nbytes = bare.size * itemsize
    if (nbytes > source.size - at) throw failure('ERR_BOUNDS', `shape [${arrayJoin(bare.shape)}] of ${name} from byte ${at} on needs ${nbytes} bytes; the file has ${source.size}`)
    const alignment = kind === 'COMPLEX' ? itemsize / 2 : itemsize
    const storage = nbytes === 0 ? backend.allocate(0, ffi.check) : source.place(at, nbytes, alignment)
    if (storage === null) throw failure('ERR_ALIGNMENT', `byteOffset is ${at}; ${name} needs a multiple of ${alignment}`)
    const t = wrap(new Layout(storage, index, bare.shape, bare.strides, 0, bare.size, bare.flags | source.flags))
    source.close()
    return t
  })
}

// ---- Writing ----

/** @returns {boolean} whether Node's permission model is on, which has no fsync, fchmod or fchown for anyone */
const isRestricted = () => /** @type {any} */ (process).permission !== undefined

/** A file that is not there under its name until it is whole. */
class Draft {
  /**
   * @param {string} place
   * @param {boolean} [isMapped]  it has a name then, by which others know what is mapped
   */
  constructor (place, isMapped = false) {
    this.file = place
    /** what is there already @type {fs.Stats | null} */
    this.before = null
    try {
      this.file = fs.realpathSync(place) // what a link points to is replaced, not the link
      this.before = fs.statSync(this.file)
    } catch {}
    if (this.before !== null && !this.before.isFile()) throw Object.assign(failure('ERR_IO', `${place} is no regular file`), { path: place })
    this.draft = path.join(path.dirname(this.file), `.samebytes-${newName()}.tmp`)
    /** its folder, while the file has no name; else -1 */
    this.folder = -1
    const mode = this.before === null ? 0o666 : 0o600
    this.fd = isMapped ? -1 : this.unnamed(mode)
    if (this.fd >= 0) return
    const { O_RDWR, O_CREAT, O_EXCL, O_DSYNC } = fs.constants
    const flags = O_RDWR | O_CREAT | O_EXCL | (isRestricted() ? O_DSYNC ?? 0 : 0)
    this.fd = named(place, () => fs.openSync(this.draft, flags, mode))
    this.inherit()
  }

  /**
   * A file without a name, of which nothing is left where this process is killed.
   *
   * @param {number} mode
   * @returns {number} its descriptor; -1: none can be had here, or be given a name later
   */
  unnamed (mode) {
    if (process.platform !== 'linux' || backend.isWasm || isRestricted()) return -1
    const { O_RDONLY, O_RDWR, O_DIRECTORY } = fs.constants
    const place = path.dirname(this.file)
    let fd = -1
    try {
      this.folder = fs.openSync(place, O_RDONLY | O_DIRECTORY)
      fd = fs.openSync(place, O_TMPFILE | O_DIRECTORY | O_RDWR, mode)
      if (fs.fstatSync(fd).isFile() && fs.existsSync(`/proc/self/fd/${fd}`)) return fd // else the runtime left a flag out, or /proc is not there
    } catch {} // not all file systems have such files
    if (fd >= 0) fs.closeSync(fd)
    this.closeFolder()
    return -1
  }

  /** Who may read and write what was there may do so with this, whatever the umask. */
  inherit () {
    if (this.before === null) return
    const { mode, uid, gid } = this.before
    try {
      if (isRestricted()) fs.chownSync(this.draft, uid, gid)
      else fs.fchownSync(this.fd, uid, gid)
    } catch {} // others' files stay theirs only where root saves
    try {
      if (isRestricted()) fs.chmodSync(this.draft, mode & 0o777)
      else fs.fchmodSync(this.fd, mode & 0o777)
    } catch {} // not all file systems have permissions
  }

  /**
   * Gives what has no name one; no link replaces a name that is taken.
   *
   * @param {string} file
   */
  link (file) {
    const errno = ffi.linkFile(this.fd, `/proc/self/fd/${this.folder}/${path.basename(file)}`)
    if (errno === 0) return
    const code = getSystemErrorName(-errno)
    throw Object.assign(new Error(`${code}: link '${file}'`), { code, errno: -errno, syscall: 'link' })
  }

  /** @param {boolean} replace */
  publish (replace) {
    if (this.folder >= 0) {
      try {
        if (this.before === null || !replace) return this.link(this.file)
      } catch (/** @type {any} */ error) {
        if (!replace || error.code !== 'EEXIST') throw error
      }
      this.link(this.draft) // for as long as the next lines take
      this.closeFolder()
      this.inherit()
    }
    if (replace) {
      fs.renameSync(this.draft, this.file)
    } else {
      fs.linkSync(this.draft, this.file)
      fs.unlinkSync(this.draft)
    }
  }

  /** The name is as safe as the bytes; not all file systems can. */
  syncFolder () {
    try {
      const fd = fs.openSync(path.dirname(this.file), 'r')
      try {
        fs.fsyncSync(fd)
      } finally {
        fs.closeSync(fd)
      }
    } catch {}
  }

  closeFolder () {
    if (this.folder >= 0) fs.closeSync(this.folder)
    this.folder = -1
  }

  close () {
    this.closeFolder()
    if (this.fd >= 0) fs.closeSync(this.fd)
    this.fd = -1
  }

  discard () {
    const isNamed = this.folder < 0
    this.close()
    if (!isNamed) return
    try {
      fs.unlinkSync(this.draft)
    } catch {}
  }
}

/**
 * Room for what is written of tensors whose checksum is needed, because others' writes must not come between, and of those whose
 * bytes may leave.
 *
 * @param {Piece[]} pieces
 * @returns {Uint8Array}
 */
const ownBytes = pieces => new Uint8Array(pieces.reduce((n, piece) => piece instanceof Summed || mayLeave(piece) ? Math.max(n, Math.min(CHUNK, sizeOf(piece))) : n, 0))

/**
 * What is written of a part: where a checksum is needed, a copy that nobody else writes to.
 *
 * @param {Piece} piece
 * @param {Uint8Array} part  of it
 * @param {Uint8Array} own  as ownBytes
 * @returns {Uint8Array}
 */
function written (piece, part, own) {
  if (!(piece instanceof Summed)) return part
  own.set(part)
  return own.subarray(0, part.length)
}

/** @param {Piece[]} pieces */
const totalOf = pieces => pieces.reduce((n, piece) => n + sizeOf(piece), 0)

/**
 * @param {string} file
 * @param {Piece[]} pieces
 */
function writeSync (file, pieces) {
  const draft = new Draft(file)
  try {
    const own = ownBytes(pieces)
    for (const piece of pieces) {
      for (let at = 0, n = sizeOf(piece); at < n;) {
        at += withPart(piece, at, Math.min(CHUNK, n - at), part => {
          const bytes = written(piece, part, own)
          const count = fs.writeSync(draft.fd, bytes)
          if (piece instanceof Summed) piece.add(bytes.subarray(0, count))
          return count
        })
      }
      if (piece instanceof Summed) fs.writeSync(draft.fd, piece.sum(), 0, 4, piece.at)
    }
    if (!isRestricted()) fs.fdatasyncSync(draft.fd) // else each write was safe when it returned
    draft.publish(true)
    draft.syncFolder()
    draft.close()
  } catch (error) {
    draft.discard()
    throw systemError(error, file)
  }
}

/**
 * @typedef {object} SaveOptions
 * @property {Record<string, string>} [metadata]  of .safetensors
 * @property {AbortSignal} [signal]  what was there stays then
 * @property {(progress: { done: number, total: number }) => void} [onProgress]  bytes; what it throws ends the transfer
 * @property {'replace' | 'error'} [ifExists]  'error': what is there stays, and that is ERR_EXISTS; 'replace' unless told
 */

/** @typedef {{ metadata: any, signal: Signal | undefined, onProgress: ((progress: { done: number, total: number }) => void) | undefined, replace: boolean }} Transfer */

/**
 * @param {any} opts
 * @returns {Transfer}
 */
function transferOptions (opts) {
  const { metadata, signal, onProgress, ifExists } = optionsOf(opts)
  if (onProgress !== undefined && typeof onProgress !== 'function') throw failure('ERR_ARGUMENT', `onProgress is ${show(onProgress)}; a function was expected`)
  return { metadata, signal: signalOf(signal), onProgress: onProgress && told(onProgress), replace: replaces({ ifExists }) }
}

/** What a caller's function threw, on its way back to the caller. */
class Thrown extends Error {}

/**
 * @param {(progress: { done: number, total: number }) => void} fn
 * @returns {(progress: { done: number, total: number }) => void}
 */
const told = fn => progress => {
  try {
    fn(progress)
  } catch (cause) {
    throw new Thrown('onProgress threw', { cause })
  }
}

/**
 * What a transfer is rejected with.
 *
 * @param {any} error
 * @param {Signal | undefined} signal
 * @param {string} file
 */
function rejection (error, signal, file) {
  if (error instanceof Thrown) return error.cause
  return signal?.isAborted && Object.is(error, signal.reason) ? error : systemError(error, file)
}

/**
 * @param {string} file
 * @param {Piece[]} pieces
 * @param {Transfer} options
 */
async function writeAsync (file, pieces, { signal, onProgress, replace }) {
  const held = newList() // no program sees a storage
  for (let i = 0; i < pieces.length; i++) {
    const piece = whatOf(pieces[i])
    if (Tensor.isTensor(piece)) held[held.length] = Tensor.attachedOf(piece).storage
  }
  for (let i = 0; i < held.length; i++) reading(held[i])
  try {
    checkSignal(signal) // whatever it does, the pieces stay as they are
    const draft = new Draft(file)
    try {
      await writeInto(draft.fd, pieces, signal, onProgress)
      if (!isRestricted()) await settled(done => { fs.fdatasync(draft.fd, done) })
      checkSignal(signal)
      draft.publish(replace)
      draft.syncFolder()
      draft.close()
    } catch (error) {
      draft.discard()
      throw error
    }
  } catch (error) {
    throw rejection(error, signal, file)
  } finally {
    for (let i = 0; i < held.length; i++) doneReading(held[i])
  }
}

/**
 * @param {(done: (error: any, result?: any) => void) => void} start
 * @returns {Promise<any>}
 */
function settled (start) {
  return new Promise((resolve, reject) => { start((error, result) => { error ? reject(error) : resolve(result) }) })
}

/**
 * @param {number} fd
 * @param {Piece[]} pieces
 * @param {Signal | undefined} signal
 * @param {Function | undefined} onProgress
 */
async function writeInto (fd, pieces, signal, onProgress) {
  const total = totalOf(pieces)
  let done = 0
  const own = ownBytes(pieces)
  for (const piece of pieces) {
    for (let at = 0, n = sizeOf(piece); at < n;) {
      const count = await withPart(piece, at, Math.min(CHUNK, n - at), async part => {
        const bytes = written(piece, part, own)
        const stays = mayLeave(piece) ? own.subarray(0, part.length) : bytes
        if (stays !== bytes) {
          stays.set(part)
          countStaged(lengthOf(part))
        }
        const count = await settled(settle => { fs.write(fd, stays, 0, stays.length, null, settle) })
        if (piece instanceof Summed) piece.add(stays.subarray(0, count))
        return count
      })
      at += count
      done += count
      checkSignal(signal)
      onProgress?.({ done, total })
    }
    if (piece instanceof Summed) fs.writeSync(fd, piece.sum(), 0, 4, piece.at)
  }
}

/**
 * May the bytes go elsewhere while the system reads them? WASM memory moves; a buffer may be transferred away, and freed there.
 *
 * @param {Piece} piece
 */
const mayLeave = piece => Tensor.isTensor(piece) && !backend.isFixed(Tensor.layoutOf(piece).storage)

/** @param {Storage} storage  that nobody may write to while it is read */
function reading (storage) {
  if (storage.claims++ === 0) storage.group.count.storages++
  const extra = storage.extra ??= new Extra()
  extra.busy++
}

/** @param {Storage} storage */
function doneReading (storage) {
  const extra = /** @type {Extra} */ (storage.extra)
  extra.busy--
  if (--storage.claims > 0) return
  storage.group.count.storages--
  backend.release(storage)
}

/**
 * @param {unknown} t
 * @param {string} reason
 */
const npyPieces = (t, reason) => writers.npyPieces(writers.tensorGiven(t), reason)
/**
 * @param {unknown} tensors
 * @param {string} reason
 */
const npzPieces = (tensors, reason) => writers.npzPieces(writers.entriesOf(tensors), reason)
/**
 * @param {unknown} tensors
 * @param {unknown} metadata
 * @param {string} reason
 */
const safetensorsPieces = (tensors, metadata, reason) => writers.safetensorsPieces(writers.entriesOf(tensors), writers.metadataOf(metadata), reason)

/**
 * Writes a .npy file: without a name first, with what the disk's cache holds written out, then under this one, so that
 * nobody sees half a file and who maps the old one keeps it. The tensor is busy meanwhile.
 *
 * @param {string | URL} path
 * @param {AnyTensor} t
 * @param {SaveOptions} [opts]
 * @returns {Promise<void>}
 * @throws {TypeError} ERR_ARGUMENT · ERR_IO, ERR_NOT_FOUND, with errno and path · the signal's reason · as rejections
 * @see NumPy save
 * @example
 * const write = (path, t) => saveNpy(path, t, { onProgress: ({ done, total }) => console.log(done / total) })
 */
async function saveNpy (path, t, opts) {
  const file = pathOf(path)
  const options = transferOptions(opts)
  await writeAsync(file, npyPieces(t, 'saveNpy'), options)
}

/**
 * Writes an .npz file, as saveNpy does.
 *
 * @param {string | URL} path
 * @param {Tensors} tensors
 * @param {SaveOptions} [opts]
 * @returns {Promise<void>}
 * @throws as saveNpy
 * @see NumPy savez
 * @example
 * const write = (path, a, b) => saveNpz(path, { a, b })
 */
async function saveNpz (path, tensors, opts) {
  const file = pathOf(path)
  const options = transferOptions(opts)
  await writeAsync(file, npzPieces(tensors, 'saveNpz'), options)
}

/**
 * Writes a .safetensors file, as saveNpy does.
 *
 * @param {string | URL} path
 * @param {Tensors} tensors
 * @param {SaveOptions} [opts]
 * @returns {Promise<void>}
 * @throws as saveNpy · {TypeError} ERR_DTYPE complex128
 * @see safetensors save_file
 * @example
 * const write = (path, weight) => saveSafetensors(path, { weight }, { metadata: { format: 'pt' } })
 */
async function saveSafetensors (path, tensors, opts) {
  const file = pathOf(path)
  const options = transferOptions(opts)
  await writeAsync(file, safetensorsPieces(tensors, options.metadata, 'saveSafetensors'), options)
}

/**
 * saveNpy at once.
 *
 * @param {string | URL} path
 * @param {AnyTensor} t
 * @throws as saveNpy
 * @example
 * const write = (path, t) => saveNpySync(path, t)
 */
function saveNpySync (path, t) {
  writeSync(pathOf(path), npyPieces(t, 'saveNpySync'))
}

/**
 * saveNpz at once.
 *
 * @param {string | URL} path
 * @param {Tensors} tensors
 * @throws as saveNpz
 * @example
 * const write = (path, a, b) => saveNpzSync(path, { a, b })
 */
function saveNpzSync (path, tensors) {
  writeSync(pathOf(path), npzPieces(tensors, 'saveNpzSync'))
}

/**
 * saveSafetensors at once.
 *
 * @param {string | URL} path
 * @param {Tensors} tensors
 * @param {{ metadata?: Record<string, string> }} [opts]
 * @throws as saveSafetensors
 * @example
 * const write = (path, weight) => saveSafetensorsSync(path, { weight })
 */
function saveSafetensorsSync (path, tensors, opts) {
  const { metadata } = optionsOf(opts)
  writeSync(pathOf(path), safetensorsPieces(tensors, metadata, 'saveSafetensorsSync'))
}

/**
 * @param {string} file
 * @param {readonly string[]} known
 */
function extensionOf (file, known) {
  const extension = path.extname(file).toLowerCase()
  if (!known.includes(extension)) throw failure('ERR_UNSUPPORTED', `${file} ends in none of ${known.join(', ')}`)
  return extension
}

/**
 * Writes a file whose name says how: .npy (a tensor), .npz or .safetensors (tensors by name).
 *
 * @param {string | URL} path
 * @param {AnyTensor | Tensors} tensors
 * @param {SaveOptions} [opts]
 * @returns {Promise<void>}
 * @throws as saveNpy · ERR_UNSUPPORTED another extension
 * @example
 * const write = (path, weight) => save(path, { weight }, { signal: AbortSignal.timeout(60000) })
 */
async function save (path, tensors, opts) {
  const extension = extensionOf(pathOf(path), ['.npy', '.npz', '.safetensors'])
  if (extension === '.npy') return saveNpy(path, /** @type {any} */ (tensors), opts)
  return extension === '.npz' ? saveNpz(path, /** @type {any} */ (tensors), opts) : saveSafetensors(path, /** @type {any} */ (tensors), opts)
}

/**
 * @param {unknown} opts
 * @returns {boolean} whether what is there may be replaced
 */
function replaces (opts) {
  const { ifExists } = optionsOf(opts)
  return ifExists === undefined || oneOf('ifExists', ifExists, IF_EXISTS) === 0
}

/**
 * @template R
 * @param {string} file
 * @param {Uint8Array} header
 * @param {number} total
 * @param {boolean} replace
 * @param {(source: MappedFile) => R} fn
 * @returns {R}
 */
function created (file, header, total, replace, fn) {
  if (backend.isWasm) throw failure('ERR_UNSUPPORTED', 'mapping a file needs the native addon; save() writes one')
  if (!Number.isSafeInteger(total)) throw failure('ERR_SHAPE', `${file} would have ${total} bytes, which is more than a file has`)
  const draft = new Draft(file, true)
  try {
    const errno = ffi.reserveFile(draft.fd, total)
    if (errno !== 0) throw Object.assign(failure('ERR_IO', `${total} bytes could not be reserved for ${file} (errno ${errno})`), { errno: -errno })
    fs.writeSync(draft.fd, header, 0, header.length, 0)
    const source = new MappedFile(file, { mode: 1, guard: GUARDS.none }, 'created', draft.fd)
    draft.fd = -1 // the source's now
    try {
      const result = fn(source)
      draft.publish(replace)
      source.settle()
      return result
    } catch (error) {
      source.close()
      throw error
    }
  } catch (error) {
    draft.discard()
    throw systemError(error, file)
  }
}

/**
 * A new .npy file, mapped, all zero: what is written to the tensor is in it. Its space on the disk is reserved.
 *
 * @template {DtypeName} [D='float32']
 * @param {string | URL} path
 * @param {Shape} shape  elements
 * @param {{ dtype?: D, order?: 'C' | 'F', ifExists?: 'replace' | 'error' } | D} [opts]  what exists is replaced unless told;
 * who maps the old file keeps it
 * @returns {Tensor<D>} over the file, as openNpy in mode 'r+'
 * @throws ERR_EXISTS · ERR_IO, ERR_NOT_FOUND, with errno and path · ERR_UNSUPPORTED in WASM · {RangeError} ERR_SHAPE
 * @see NumPy lib.format.open_memmap
 * @example
 * const rows = path => createNpy(path, [1000, 3], { dtype: 'float64' })
 */
function createNpy (path, shape, opts) {
  const file = pathOf(path)
  const { dtype: name = 'float32', order } = optionsOf(opts)
  const replace = replaces(opts)
  const dtype = dtypeOf(name)
  const fortran = order !== undefined && oneOf('order', order, /** @type {const} */ (['C', 'F'])) === 1
  const bare = formats.layoutWithout(dtype, denseLayout(dtype.index, shapeOf(shape)).shape, fortran)
  const header = writers.npyHeader(dtype.name, bare.shape, fortran && bare.shape.length > 1)
  return created(file, header, header.length + bare.size * dtype.itemsize, replace, source => {
    const t = formats.npyTensor(source, dtype.name)
    source.close()
    return t
  })
}

/**
 * A new .safetensors file, mapped, all zero, to copy tensors into.
 *
 * @param {string | URL} path
 * @param {Record<string, { shape: Shape, dtype: DtypeName }>} specs  by name
 * @param {{ metadata?: Record<string, string>, ifExists?: 'replace' | 'error' }} [opts]
 * @returns {TensorFile} as openSafetensors in mode 'r+'
 * @throws as createNpy · {TypeError} ERR_DTYPE complex128
 * @example
 * const layer = path => createSafetensors(path, { weight: { shape: [64, 64], dtype: 'bfloat16' } })
 */
function createSafetensors (path, specs, opts) {
  const file = pathOf(path)
  const { metadata } = optionsOf(opts)
  const replace = replaces(opts)
  if (specs === null || typeof specs !== 'object' || Array.isArray(specs) || Tensor.isTensor(specs)) throw failure('ERR_ARGUMENT', `specs is ${show(specs)}; a record of { shape, dtype } was expected`)
  const list = Object.entries(specs).map(([name, spec]) => {
    if (spec === null || typeof spec !== 'object') throw failure('ERR_ARGUMENT', `specs[${show(name)}] is ${show(spec)}; { shape, dtype } was expected`)
    const dtype = dtypeOf(spec.dtype)
    const { shape, size } = denseLayout(dtype.index, shapeOf(spec.shape))
    return { name, dtype: dtype.name, shape, nbytes: size * dtype.itemsize }
  })
  const { header, total } = writers.safetensorsHeader(list, writers.metadataOf(metadata))
  return created(file, header, total, replace, formats.safetensorsFile)
}

// ---- Reading ----

/** A file that is read, not mapped: headers at once, all else in turns of the event loop. @implements {Source} */
class ReadFile {
  /**
   * @param {number} fd
   * @param {number} size
   * @param {Transfer} options
   */
  constructor (fd, size, { signal, onProgress }) {
    this.fd = fd
    this.size = size
    this.signal = signal
    this.onProgress = onProgress
    /** bytes that were read, but for headers */
    this.done = 0
    this.first = 4096
    this.flags = 0
    this.writes = false
    this.owned = true
    this.reason = 'load'
    /** @type {Set<unknown>} */
    this.faults = new Set()
    /** for the tensor that is made next @type {{ from: number, storage: Storage } | null} */
    this.ready = null
  }

  /** @param {number} from @param {number} nbytes */
  read (from, nbytes) {
    if (this.fd < 0) throw failure('ERR_DISPOSED', 'the file was read and closed')
    const bytes = formats.roomFor(nbytes, 'the file')
    readFully(this.fd, bytes, from)
    return bytes
  }

  /** @param {number} from @param {number} nbytes */
  view (from, nbytes) { return this.read(from, nbytes) }

  /** @param {number} from @param {number} nbytes */
  place (from, nbytes) {
    const { ready } = this
    if (ready === null || ready.from !== from || ready.storage.nbytes !== nbytes) return null
    this.ready = null
    return ready.storage
  }

  /** @param {number} n  bytes more that were read: never all, for there are headers */
  step (n) {
    checkSignal(this.signal)
    this.done += n
    this.onProgress?.({ done: this.done, total: this.size })
  }

  /** Gives the event loop a turn. */
  async turn () {
    await new Promise(resolve => { onNextTurn(() => resolve(undefined)) })
    checkSignal(this.signal)
  }

  /** All was read that is needed. */
  end () {
    checkSignal(this.signal)
    this.onProgress?.({ done: this.size, total: this.size })
    checkSignal(this.signal)
  }

  /**
   * @param {Uint8Array} target
   * @param {number} from
   * @returns {Promise<number>} bytes, at least one
   */
  async readSome (target, from) {
    const n = await settled(done => { fs.read(this.fd, target, 0, target.length, from, done) })
    if (n === 0) throw failure('ERR_FORMAT', `byte ${from}: the file ends here; it became shorter while it was read`)
    return n
  }

  /**
   * @param {number} from
   * @param {number} nbytes  few
   */
  async readAll (from, nbytes) {
    const bytes = new Uint8Array(nbytes)
    for (let at = 0; at < nbytes;) {
      const n = await this.readSome(bytes.subarray(at), from + at)
      at += n
      this.step(n)
    }
    return bytes
  }

  /**
   * Reads what a tensor will have.
   *
   * @param {number} from
   * @param {number} nbytes
   */
  async prepare (from, nbytes) {
    if (nbytes === 0) return
    const storage = backend.allocate(nbytes, ffi.check)
    this.ready = { from, storage }
    for (let at = 0; at < nbytes;) {
      const size = Math.min(CHUNK, nbytes - at)
      const window = () => new Uint8Array(/** @type {any} */ (backend.bufferOf(storage, ffi.check)), storage.byteOffset + at, size)
      const target = backend.isWasm ? new Uint8Array(size) : window() // WASM memory may move meanwhile
      const n = await this.readSome(target, from + at)
      if (backend.isWasm) window().set(target)
      at += n
      this.step(n)
    }
  }

  /**
   * Inflates a member of an .npz, which is looked at and becomes a tensor then.
   *
   * @param {Member} member
   */
  async inflate (member) {
    const { at: begin, size } = formats.packedBytes(this, member)
    if (Math.max(size, member.unpacked) <= PART) {
      const packed = await this.readAll(begin, size)
      member.bytes = formats.inflatedNow(this, member, packed) // which takes less time than another thread would
      return
    }
    const most = Math.max(PART / 64, Math.min(CHUNK, Math.ceil(CHUNK * size / member.unpacked))) // becomes CHUNK bytes or so
    const inflation = new Inflation(member, this.signal)
    try {
      for (let at = 0; at < size;) {
        const piece = new Uint8Array(Math.min(most, size - at))
        const n = await this.readSome(piece, begin + at)
        await inflation.add(piece.subarray(0, n))
        if (inflation.isOver) break
        at += n
        this.step(n)
      }
      await inflation.end()
      checkSignal(this.signal)
      member.bytes = inflation.result(this)
    } finally {
      inflation.stream.destroy()
    }
  }

  /** Nothing is read any more. */
  settle () {
    this.fd = -1
    if (this.ready !== null) backend.release(this.ready.storage)
    this.ready = null
  }

  close () {}
}

rootless(ReadFile)

/** A deflated member on its way to what it was, on another thread, a part of PART bytes at a time. */
class Inflation {
  /**
   * @param {Member} member
   * @param {Signal | undefined} signal  ends it after any part
   */
  constructor (member, signal) {
    this.member = member
    this.bytes = formats.roomOf(member)
    /** bytes that came, of which there may be too many */
    this.n = 0
    this.crc = 0
    /** @type {Error | null} */
    this.fault = null
    this.stream = require('node:zlib').createInflateRaw({ chunkSize: Math.max(64, Math.min(member.unpacked + 1, PART)) })
    this.stream.on('data', part => {
      this.n += part.length
      if (this.n > this.bytes.length || signal?.look()) {
        this.stream.destroy()
      } else {
        this.bytes.set(part, this.n - part.length)
        this.crc = formats.crc32(part, this.crc)
      }
    })
    /** nothing comes any more @type {Promise<void>} */
    this.over = new Promise(resolve => {
      this.stream.on('error', error => { this.fault = error })
      for (const event of ['end', 'error', 'close']) this.stream.on(event, () => resolve())
    })
  }

  /** Whatever else is added will not be looked at: that was the end, or wrong, or too much, or the signal fired. */
  get isOver () { return this.stream.destroyed || this.stream.readableEnded }

  /**
   * @param {Uint8Array} packed
   * @returns {Promise<void>} that they were inflated
   */
  add (packed) {
    return Promise.race([this.over, new Promise(resolve => { this.stream.write(packed, () => resolve(undefined)) })])
  }

  /** Nothing is added any more. */
  end () {
    this.stream.end()
    return this.over
  }

  /** @param {Source} source @returns {Source} of the bytes that the member has */
  result (source) {
    const { member, bytes, n, fault } = this
    if (fault !== null) throw formats.badMember(member, fault.message)
    if (n > bytes.length) throw formats.badMember(member, formats.TOO_MANY)
    return formats.inflatedBytes(source, member, bytes.subarray(0, n), this.crc)
  }
}

/** @type {Record<string, (source: any, dtype?: string) => TensorFile>} */
const FILES = { '.npz': formats.npzFile, '.safetensors': formats.safetensorsFile, '.gguf': formats.ggufFile }

/**
 * @param {ReadFile} source
 * @param {string} extension
 * @param {DtypeName | undefined} dtype
 * @param {AnyTensor[]} made  is given the tensors
 */
async function ownTensors (source, extension, dtype, made) {
  if (extension === '.npy') {
    const { entry } = formats.npyEntry(source, '', dtype)
    await source.prepare(entry.begin, entry.nbytes)
    const t = formats.npyTensor(source, dtype)
    made.push(t)
    return t
  }
  const file = FILES[extension](source, dtype)
  const members = extension === '.npz' ? formats.membersOf(file) : null
  for (const name of file.keys()) {
    const { done } = source
    try {
      const member = members?.get(name)
      if (member?.method === 8) await source.inflate(member)
      const { byteOffset, nbytes, deflated } = /** @type {TensorInfo} */ (file.info(name))
      if (deflated === undefined) await source.prepare(byteOffset, nbytes)
      made.push(/** @type {AnyTensor} */ (file.get(name)))
    } catch (error) {
      if (!source.faults.has(error)) throw error // else get() throws it, and the other members are as good as without this one
    }
    if (source.done === done) await source.turn() // nothing but headers was read
  }
  return file
}

/**
 * What load gives, by the path's extension; any where that is known only when it runs.
 *
 * @template {string | URL} P
 * @typedef {P extends `${string}.npy` ? Tensor : P extends `${string}.npz` | `${string}.safetensors` | `${string}.gguf` ? TensorFile : any} Loaded
 */

/**
 * Reads the tensors of a .npy, .npz, .safetensors or .gguf file into memory of their own. Arrays in an .npz that are none of
 * ours, such as Python objects and text, do not keep the others from being read: `get` of such a one throws why.
 *
 * @template {string | URL} P
 * @param {P} path  whose extension says what it is
 * @param {{ dtype?: DtypeName, signal?: AbortSignal, onProgress?: (progress: { done: number, total: number }) => void }} [opts]
 * dtype: of arrays in .npy and .npz that NumPy wrote as raw bytes
 * @returns {Promise<Loaded<P>>} a tensor of a .npy, else a file object
 * @throws ERR_FORMAT · ERR_NOT_FOUND, ERR_IO, with errno and path · ERR_UNSUPPORTED another extension · {RangeError} ERR_MEMORY · the signal's
 * reason · as rejections
 * @see PyTorch load, NumPy load
 * @example
 * const weight = async path => (await load(path)).get('weight')
 */
async function load (path, opts) {
  const file = pathOf(path)
  const extension = extensionOf(file, ['.npy', '.npz', '.safetensors', '.gguf'])
  const { dtype } = optionsOf(opts)
  if (dtype !== undefined) dtypeOf(dtype)
  const options = transferOptions(opts)
  const { signal } = options
  checkSignal(signal)
  const fd = named(file, () => fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK))
  try {
    const stat = fs.fstatSync(fd)
    if (!stat.isFile()) throw failure('ERR_IO', `${file} is no regular file`)
    const source = new ReadFile(fd, stat.size, options)
    /** @type {AnyTensor[]} */
    const made = []
    try {
      const loaded = await ownTensors(source, extension, dtype, made)
      source.end()
      return /** @type {any} */ (loaded)
    } catch (error) {
      for (const t of made) t.dispose()
      throw error
    } finally {
      source.settle()
    }
  } catch (error) {
    throw rejection(error, signal, file)
  } finally {
    fs.closeSync(fd)
  }
}

module.exports = { openNpy, openNpz, openSafetensors, openGguf, openRaw, createNpy, createSafetensors, saveNpy, saveNpz, saveSafetensors, saveNpySync, saveNpzSync, saveSafetensorsSync, save, load, MappedFile, systemError, named, MODES }
