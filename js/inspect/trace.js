'use strict'
// Notes who makes tensors and copies, from trace() on: it listens to backend/events.js.

const { instance } = require('../model/internals')
const { siteHere } = require('./sites')
const { fileOf } = require('./system')

/** @typedef {import('./sites').Site} Site */
/** @typedef {import('../tensor/tensor').Tensor} Tensor */
/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @typedef {{ number: number, site: Site | null, ref: WeakRef<Tensor> | null }} Note ref: null on native, where the addon has it */
/** @typedef {Map<Site | null, { count: number, bytes: number }>} Sites */

const PRUNE_FROM = 4096 // notes from which on those of dead tensors are removed

let isOn = false
let made = 0
let seenStorages = 0
/** tensors that existed before trace() */
let before = 0
let pruneAt = PRUNE_FROM
/** Of tensors that may be alive, by the addon's watch or, without it, by number; oldest first @type {Map<number, Note>} */
const notes = new Map()
/** @type {WeakMap<object, number>} */
let numbers = new WeakMap()
/** @type {WeakMap<Storage, { number: number, site: Site | null }>} */
let storages = new WeakMap()
/** Who else has a storage, as far as events told @type {WeakMap<Storage, Set<string>>} */
const roles = new WeakMap()
/** @typedef {{ path: string, key: string, writes: boolean, begin: number, end: number }} MappedFile begin, end: addresses of all of it */

/** Of mappings, and of storages that are parts of them @type {WeakMap<Storage, MappedFile>} */
const files = new WeakMap()
/** Sites that copied, by reason @type {Map<string, Sites>} */
const copies = new Map()
/** Sites that sent, by way @type {Map<string, Sites>} */
const sends = new Map()

/**
 * @param {Storage} storage
 * @param {Site | null} site
 */
function storageNote(storage, site) {
  let note = storages.get(storage)
  if (note === undefined) storages.set(storage, (note = { number: ++seenStorages, site }))
  return note
}

/**
 * Notes a tensor. Its constructor is still running, and must not fail because of this.
 *
 * @param {Tensor} t
 */
function noteTensor(t) {
  try {
    const { ffi, Tensor } = instance()
    const { addon } = /** @type {any} */ (ffi.backend)
    const number = ++made
    const site = siteHere(noteTensor)
    storageNote(Tensor.layoutOf(t).storage, site)
    numbers.set(t, number)
    if (addon !== undefined) {
      const id = addon.watch(t, 0)
      if (id >= 0) notes.set(id, { number, site, ref: null })
    } else {
      notes.set(number, { number, site, ref: new WeakRef(t) })
    }
    if (notes.size > pruneAt) {
      aliveNow()
      pruneAt = Math.max(PRUNE_FROM, 2 * notes.size)
    }
  } catch {} // no memory or no stack left: the tensor is not on the map
}

/**
 * @param {number} key
 * @param {Note} note
 * @returns {Tensor | undefined} undefined: it was collected
 */
function livingTensor(key, note) {
  const t =
    note.ref !== null
      ? note.ref.deref()
      : /** @type {any} */ (instance().ffi.backend).addon.watched(key)
  return t !== undefined && numbers.get(t) === note.number ? t : undefined
}

/** Tensors that were neither disposed nor collected, oldest first. @returns {{ tensor: Tensor, note: Note }[]} */
function aliveNow() {
  const { addon } = /** @type {any} */ (instance().ffi.backend)
  /** @type {{ tensor: Tensor, note: Note }[]} */
  const found = []
  for (const [key, note] of notes) {
    const tensor = livingTensor(key, note)
    if (tensor !== undefined && !tensor.isDisposed) {
      found.push({ tensor, note })
      continue
    }
    notes.delete(key)
    if (tensor !== undefined && addon !== undefined) addon.unwatch(key)
  }
  return addon === undefined ? found : found.sort((a, b) => a.note.number - b.note.number) // the numbers of watches are reused
}

/**
 * @param {Map<string, Sites>} all
 * @param {string} reason
 * @param {number} bytes
 */
function noteSite(all, reason, bytes) {
  try {
    const site = siteHere(noteSite)
    const known = all.get(reason) ?? new Map()
    all.set(reason, known)
    const row = known.get(site) ?? { count: 0, bytes: 0 }
    row.count++
    row.bytes += bytes
    known.set(site, row)
  } catch {}
}

/** @type {import('../backend/storage').Listener} */
const listener = {
  made: noteTensor,
  copied: (reason, bytes) => noteSite(copies, reason, bytes),
  sent: (way, bytes) => noteSite(sends, way, bytes),
  shared(storage, role) {
    const known = roles.get(storage) ?? new Set()
    roles.set(storage, known.add(role))
  },
  mapped(storage, fd, writes) {
    const file = fileOf(fd)
    const begin = /** @type {number} */ (storage.address)
    if (file !== null) files.set(storage, { ...file, writes, begin, end: begin + storage.nbytes })
  },
  divided(part, whole) {
    const file = files.get(whole)
    if (file !== undefined) files.set(part, file)
  },
}

/** Starts noting. @throws ERR_UNSUPPORTED in a page before init() is done */
function trace() {
  if (isOn) return
  const { events, memory } = instance()
  isOn = true
  before = memory().tensors
  events.listener = listener
}

/** Stops noting, and forgets what was noted. */
function untrace() {
  if (!isOn) return
  isOn = false
  const { events, ffi } = instance()
  events.listener = null
  const { addon } = /** @type {any} */ (ffi.backend)
  if (addon !== undefined) {
    for (const [key, note] of notes) if (livingTensor(key, note) !== undefined) addon.unwatch(key)
  }
  notes.clear()
  copies.clear()
  sends.clear()
  numbers = new WeakMap()
  storages = new WeakMap()
  made = seenStorages = before = 0
  pruneAt = PRUNE_FROM
}

/** @returns {number} tensors that existed before trace() */
const untraced = () => before

module.exports = { trace, untrace, untraced, aliveNow, storageNote, roles, files, copies, sends }
