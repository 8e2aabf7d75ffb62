'use strict'
// Public, in Node: tensors written to files.

const fs = require('node:fs')
const { backend } = require('../backend/calls')
const { optionsOf } = require('../base/validate')
const { checkSignal } = require('../base/signals')
const { countStaged } = require('../backend/storage')
const { beginUse, endUse } = require('../copy/async')
const { TemporaryFile, isRestricted } = require('./atomic-write')
const { pathOf, extensionOf } = require('./paths')
const { systemError } = require('./system-errors')
const { OF_SAVING, CHUNK, transferOptions, replaces, rejection, callback } = require('./transfers')
const writers = require('./writers')

const { TensorPiece, ChecksummedTensor, LatePiece, contentOf, lateOf, withPart, sizeOf } = writers

/** @import { AnyTensor } from '../base/types' */
/** @typedef {import('../base/signals').Signal} Signal */
/** @typedef {import('./transfers').SaveOptions} SaveOptions */
/** @typedef {import('./transfers').Transfer} Transfer */
/** @typedef {import('./writers').Tensors} Tensors */
/** @typedef {import('./writers').Piece} Piece */
/** @typedef {InstanceType<typeof LatePiece>} Late */

const AHEAD = 2 ** 25 // bytes of tensors that come together, where no one has more

/** Gives tensors that come late, by their names @typedef {(names: string[]) => Promise<import('../tensor/tensor').Tensor[]>} Come */

/**
 * A buffer for copies of parts: of tensors whose checksum is needed, because others may write to them between the checksum and the
 * write, and of those whose bytes may move.
 *
 * @param {Piece[]} pieces
 * @returns {Uint8Array} as long as the longest such part; empty if there is none
 */
function copyBuffer(pieces) {
  const copied = pieces.filter((piece) => piece instanceof ChecksummedTensor || mayMove(piece))
  return new Uint8Array(copied.reduce((n, piece) => Math.max(n, Math.min(CHUNK, sizeOf(piece))), 0))
}

/**
 * A part as it is written.
 *
 * @param {Uint8Array} part
 * @param {Uint8Array} own  the copyBuffer
 * @param {boolean} isCopied  others may write to it, or it may move
 * @returns {Uint8Array}
 */
function stableBytes(part, own, isCopied) {
  if (!isCopied) return part
  own.set(part)
  return own.subarray(0, part.length)
}

/**
 * @param {string} file
 * @param {Piece[]} pieces
 * @param {boolean} replace  what is there
 */
function writeSync(file, pieces, replace) {
  const temporary = new TemporaryFile(file)
  try {
    const own = copyBuffer(pieces)
    for (const piece of pieces) {
      const summed = piece instanceof ChecksummedTensor ? piece : undefined
      for (let at = 0, n = sizeOf(piece); at < n;) {
        at += withPart(piece, at, Math.min(CHUNK, n - at), (part) => {
          const bytes = stableBytes(part, own, summed !== undefined)
          const count = fs.writeSync(temporary.fd, bytes)
          summed?.add(bytes.subarray(0, count))
          return count
        })
      }
      if (summed !== undefined) fs.writeSync(temporary.fd, summed.sum(), 0, 4, summed.at)
    }
    if (!isRestricted()) fs.fdatasyncSync(temporary.fd) // else O_DSYNC did it at each write
    temporary.publish(replace)
    temporary.syncFolder()
    temporary.close()
  } catch (error) {
    temporary.discard()
    throw systemError(error, file)
  }
}

/**
 * @param {string} file
 * @param {Piece[]} pieces
 * @param {Transfer} options
 * @param {Come} [come]
 */
async function writeAsync(file, pieces, { signal, onProgress, replace }, come) {
  const held = pieces.map(contentOf).filter((piece) => piece instanceof TensorPiece)
  for (const piece of held) piece.check()
  for (const piece of held) {
    beginUse(piece.layout.storage, 0)
    piece.isHeld = true
  }
  try {
    checkSignal(signal) // runs the caller's code, which cannot change the pieces any more
    const temporary = new TemporaryFile(file)
    try {
      await writeInto(temporary.fd, pieces, signal, onProgress, come)
      if (!isRestricted()) await callback((done) => fs.fdatasync(temporary.fd, done))
      checkSignal(signal)
      temporary.publish(replace)
      temporary.syncFolder()
      temporary.close()
    } catch (error) {
      temporary.discard()
      throw error
    }
  } catch (error) {
    throw rejection(error, signal, file)
  } finally {
    for (const piece of held) endUse(piece.layout.storage, 0)
  }
}

/**
 * @param {number} fd
 * @param {Piece[]} pieces
 * @param {Signal | undefined} signal
 * @param {Function | undefined} onProgress
 * @param {Come} [come]
 */
async function writeInto(fd, pieces, signal, onProgress, come) {
  const total = pieces.reduce((n, piece) => n + sizeOf(piece), 0)
  let done = 0
  const own = copyBuffer(pieces)
  for (const [i, piece] of pieces.entries()) {
    const late = lateOf(piece)
    if (late !== null && late.content === null && come !== undefined) {
      // the next tensors: several where they are small
      /** @type {Late[]} */
      const group = []
      for (let k = i, nbytes = 0; k < pieces.length; k++) {
        const next = lateOf(pieces[k])
        if (next === null) continue
        nbytes += next.nbytes
        if (group.length > 0 && nbytes > AHEAD) break
        group.push(next)
      }
      const tensors = await come(group.map(({ name }) => name))
      group.forEach((each, k) => each.come(tensors[k]))
    }
    for (let at = 0, n = sizeOf(piece); at < n;) {
      const count = await withPart(piece, at, Math.min(CHUNK, n - at), async (part) => {
        const moves = mayMove(piece)
        const bytes = stableBytes(part, own, moves || piece instanceof ChecksummedTensor)
        if (moves) countStaged(part.length)
        const count = await callback((done) => fs.write(fd, bytes, 0, bytes.length, null, done))
        if (piece instanceof ChecksummedTensor) piece.add(bytes.subarray(0, count))
        return count
      })
      at += count
      done += count
      checkSignal(signal)
      onProgress?.({ done, total })
    }
    if (piece instanceof ChecksummedTensor) fs.writeSync(fd, piece.sum(), 0, 4, piece.at)
    late?.end()
  }
}

/**
 * Whether the bytes may move while the system reads them: WASM memory grows, and a buffer may be transferred away and freed.
 *
 * @param {Piece} piece
 */
function mayMove(piece) {
  const what = piece instanceof ChecksummedTensor ? piece : contentOf(piece)
  return (
    what instanceof LatePiece ||
    (what instanceof TensorPiece && !backend.isFixed(what.layout.storage))
  )
}

/** A file's pieces, by its extension @type {Record<string, (given: any, metadata: unknown) => Piece[]>} */
const piecesOf = {
  '.npy': (t) => writers.npyPieces(writers.tensorGiven(t)),
  '.npz': (tensors) => writers.npzPieces(writers.npzEntriesOf(tensors)),
  '.safetensors': (tensors, metadata) =>
    writers.safetensorsPieces(writers.entriesOf(tensors), writers.metadataOf(metadata)),
}

/** What the options of saving may name. @param {string} extension @param {string[]} names  for all files */
const optionsFor = (extension, names) =>
  extension === '.safetensors' ? ['metadata', ...names] : names

/** @param {string} extension @param {string} where  the function @param {unknown} path @param {unknown} given  tensors @param {unknown} opts */
async function saveAs(extension, where, path, given, opts) {
  const file = pathOf(path)
  const options = transferOptions(opts, optionsFor(extension, OF_SAVING), where)
  await writeAsync(file, piecesOf[extension](given, options.metadata), options)
}

/** @param {string} extension @param {string} where  the function @param {unknown} path @param {unknown} given  tensors @param {unknown} opts */
function saveAsSync(extension, where, path, given, opts) {
  const file = pathOf(path)
  const { metadata, ifExists } = optionsOf(opts, optionsFor(extension, ['ifExists']), where)
  const isReplaced = replaces(ifExists)
  writeSync(file, piecesOf[extension](given, metadata), isReplaced)
}

/**
 * Writes a .npy file: without a name first, with what the disk's cache holds written out, then under this one, so that
 * nobody sees half a file and who maps the old one keeps it. The tensor is busy meanwhile.
 *
 * @param {string | URL} path
 * @param {AnyTensor} t
 * @param {Omit<SaveOptions, 'metadata'>} [opts]
 * @returns {Promise<void>}
 * @throws {TypeError} ERR_ARGUMENT · ERR_IO, ERR_NOT_FOUND, with errno and path · the signal's reason · as rejections
 * @see NumPy save
 * @example
 * const write = (path, t) => saveNpy(path, t, { onProgress: ({ done, total }) => console.log(done / total) })
 */
async function saveNpy(path, t, opts) {
  return saveAs('.npy', 'saveNpy', path, t, opts)
}

/**
 * Writes an .npz file, as saveNpy does.
 *
 * @param {string | URL} path
 * @param {AnyTensor | Tensors} tensors  by name; one alone is called arr_0, as by NumPy
 * @param {Omit<SaveOptions, 'metadata'>} [opts]
 * @returns {Promise<void>}
 * @throws as saveNpy
 * @see NumPy savez
 * @example
 * const write = (path, a, b) => saveNpz(path, { a, b })
 */
async function saveNpz(path, tensors, opts) {
  return saveAs('.npz', 'saveNpz', path, tensors, opts)
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
async function saveSafetensors(path, tensors, opts) {
  return saveAs('.safetensors', 'saveSafetensors', path, tensors, opts)
}

/**
 * saveNpy at once.
 *
 * @param {string | URL} path
 * @param {AnyTensor} t
 * @param {{ ifExists?: 'replace' | 'error' | undefined }} [opts]
 * @throws as saveNpy
 * @example
 * const write = (path, t) => saveNpySync(path, t, { ifExists: 'error' })
 */
function saveNpySync(path, t, opts) {
  saveAsSync('.npy', 'saveNpySync', path, t, opts)
}

/**
 * saveNpz at once.
 *
 * @param {string | URL} path
 * @param {AnyTensor | Tensors} tensors
 * @param {{ ifExists?: 'replace' | 'error' | undefined }} [opts]
 * @throws as saveNpz
 * @example
 * const write = (path, a, b) => saveNpzSync(path, { a, b })
 */
function saveNpzSync(path, tensors, opts) {
  saveAsSync('.npz', 'saveNpzSync', path, tensors, opts)
}

/**
 * saveSafetensors at once.
 *
 * @param {string | URL} path
 * @param {Tensors} tensors
 * @param {{ metadata?: Record<string, string> | undefined, ifExists?: 'replace' | 'error' | undefined }} [opts]
 * @throws as saveSafetensors
 * @example
 * const write = (path, weight) => saveSafetensorsSync(path, { weight })
 */
function saveSafetensorsSync(path, tensors, opts) {
  saveAsSync('.safetensors', 'saveSafetensorsSync', path, tensors, opts)
}

/**
 * Writes a file whose name says how: .npy (a tensor), .npz or .safetensors (tensors by name; one alone is called arr_0 in an .npz).
 *
 * @param {string | URL} path
 * @param {AnyTensor | Tensors} tensors
 * @param {SaveOptions} [opts]
 * @returns {Promise<void>}
 * @throws as saveNpy, or saveSafetensors with that extension · ERR_UNSUPPORTED another extension
 * @example
 * const write = (path, weight) => save(path, { weight }, { signal: AbortSignal.timeout(60000) })
 */
async function save(path, tensors, opts) {
  const extension = extensionOf(pathOf(path), ['.npy', '.npz', '.safetensors'])
  const where = { '.npy': 'saveNpy', '.npz': 'saveNpz' }[extension] ?? 'saveSafetensors'
  return saveAs(extension, where, path, tensors, opts)
}

/**
 * Writes tensors that are there one after the other, as saveNpz or saveSafetensors does.
 *
 * @param {string} path  its extension says which
 * @param {{ name: string, dtype: string, shape: readonly number[] }[]} specs
 * @param {Come} come
 * @param {SaveOptions} opts
 * @returns {Promise<void>}
 */
async function saveLate(path, specs, come, opts) {
  const extension = extensionOf(path, ['.npz', '.safetensors'])
  const options = transferOptions(opts, optionsFor(extension, OF_SAVING), 'save')
  /** @type {[string, Late][]} */
  const entries = specs.map(({ name, dtype, shape }) => [name, new LatePiece(name, dtype, shape)])
  const pieces =
    extension === '.npz'
      ? writers.npzPieces(entries)
      : writers.safetensorsPieces(entries, writers.metadataOf(options.metadata))
  return writeAsync(path, pieces, options, come)
}

module.exports = {
  saveLate,
  saveNpy,
  saveNpz,
  saveSafetensors,
  saveNpySync,
  saveNpzSync,
  saveSafetensorsSync,
  save,
}
