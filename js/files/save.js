'use strict'
// Public, in Node: tensors written to files.

const { lengthOf, newList } = require('../base/primordials')
const fs = require('node:fs')
const { backend } = require('../backend/calls')
const { optionsOf } = require('../base/validate')
const { checkSignal } = require('../base/signals')
const { Extra, countStaged } = require('../backend/storage')
const { Tensor } = require('../tensor/tensor')
const { Draft, isRestricted } = require('./atomic-write')
const { pathOf, extensionOf } = require('./paths')
const { systemError } = require('./system-errors')
const { CHUNK, transferOptions, rejection, settled } = require('./transfers')
const writers = require('./writers')

const { Summed, whatOf, withPart, sizeOf } = writers

/** @import { AnyTensor } from '../base/types' */
/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @typedef {import('../base/signals').Signal} Signal */
/** @typedef {import('./transfers').SaveOptions} SaveOptions */
/** @typedef {import('./transfers').Transfer} Transfer */
/** @typedef {import('./writers').Tensors} Tensors */
/** @typedef {import('./writers').Piece} Piece */

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

module.exports = { saveNpy, saveNpz, saveSafetensors, saveNpySync, saveNpzSync, saveSafetensorsSync, save }
