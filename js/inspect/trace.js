'use strict'
// Notes who makes tensors and copies, from trace() on. Before it, tensors cost nothing more: the constructor checks lifetime.tracking
// in any case, for tidy, and copies are counted in a plain object.

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
/** Who else has a storage, as far as the wrapped functions saw it @type {WeakMap<Storage, Set<string>>} */
const roles = new WeakMap()
/** @typedef {{ path: string, key: string, writes: boolean, begin: number, end: number }} MappedFile begin, end: addresses of all of it */

/** Of mappings, and of storages that are parts of them @type {WeakMap<Storage, MappedFile>} */
const files = new WeakMap()
/** Sites that copied, by reason @type {Map<string, Sites>} */
const copies = new Map()
/** Sites that sent, by way @type {Map<string, Sites>} */
const sends = new Map()
/** Put back what trace() replaced @type {(() => void)[]} */
const undo = []

/**
 * @param {Storage} storage
 * @param {Site | null} site
 */
function storageNote (storage, site) {
  let note = storages.get(storage)
  if (note === undefined) {
    note = { number: ++seenStorages, site }
    storages.set(storage, note)
  }
  return note
}

/**
 * Notes a tensor. Its constructor is still running, and must not fail because of this.
 *
 * @param {Tensor} t
 */
function noteTensor (t) {
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
    if (notes.size > pruneAt) prune()
  } catch {} // no memory or no stack left: the tensor is not on the map
}

function prune () {
  aliveNow()
  pruneAt = Math.max(PRUNE_FROM, 2 * notes.size)
}

/**
 * @param {number} key
 * @param {Note} note
 * @returns {Tensor | undefined} undefined: it was collected
 */
function tensorOf (key, note) {
  const { ffi } = instance()
  const t = note.ref !== null ? note.ref.deref() : /** @type {any} */ (ffi.backend).addon.watched(key)
  return t !== undefined && numbers.get(t) === note.number ? t : undefined
}

/** Tensors that were neither disposed nor collected, oldest first. @returns {{ tensor: Tensor, note: Note }[]} */
function aliveNow () {
  const { addon } = /** @type {any} */ (instance().ffi.backend)
  /** @type {{ tensor: Tensor, note: Note }[]} */
  const found = []
  for (const [key, note] of notes) {
    const tensor = tensorOf(key, note)
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
 * @param {Storage} storage
 * @param {string} role
 */
function addRole (storage, role) {
  const known = roles.get(storage)
  if (known === undefined) roles.set(storage, new Set([role]))
  else known.add(role)
}

/**
 * Wraps an object's method, so that each result is told.
 *
 * @param {any} object
 * @param {string} name
 * @param {(result: any, args: any[]) => void} tell  must not throw
 */
function tellOf (object, name, tell) {
  const original = object[name]
  const own = Object.hasOwn(object, name)
  object[name] = function (/** @type {any[]} */ ...args) {
    const result = original.apply(this, args)
    tell(result, args)
    return result
  }
  undo.push(() => {
    if (own) object[name] = original
    else delete object[name]
  })
}

/**
 * Makes a row of counters note who adds to it.
 *
 * @param {{ count: number, bytes: number }} row
 * @param {Map<string, Sites>} known  where it is noted
 * @param {string} reason
 */
function watchRow (row, known, reason) {
  let { bytes } = row
  Object.defineProperty(row, 'bytes', {
    get: () => bytes,
    set: next => {
      noteSite(known, reason, next - bytes)
      bytes = next
    },
    enumerable: true,
    configurable: true
  })
  return row
}

/** @param {{ count: number, bytes: number }} row */
function unwatchRow (row) {
  Object.defineProperty(row, 'bytes', { value: row.bytes, writable: true, enumerable: true, configurable: true })
}

/**
 * Makes counters by name note who adds to them.
 *
 * @param {'copied' | 'sent'} name  of them in stats
 * @param {Map<string, Sites>} known
 */
function watchRows (name, known) {
  const { stats } = instance()
  const rows = stats[name]
  for (const [reason, row] of Object.entries(rows)) watchRow(row, known, reason)
  stats[name] = new Proxy(rows, { set: (all, reason, row) => Reflect.set(all, reason, watchRow(row, known, String(reason))) })
  undo.push(() => {
    stats[name] = rows
    for (const row of Object.values(rows)) unwatchRow(row)
  })
}

/**
 * @param {Map<string, Sites>} all
 * @param {string} reason
 * @param {number} bytes
 */
function noteSite (all, reason, bytes) {
  try {
    const site = siteHere(noteSite)
    let known = all.get(reason)
    if (known === undefined) all.set(reason, known = new Map())
    const row = known.get(site) ?? { count: 0, bytes: 0 }
    row.count++
    row.bytes += bytes
    known.set(site, row)
  } catch {}
}

/** Starts noting. @throws ERR_UNSUPPORTED in a page before init() is done */
function trace () {
  if (isOn) return
  const { ffi, fileCalls, lifetime, stats, memory } = instance()
  isOn = true
  before = memory().tensors

  // The constructor reports every tensor from now on; tidy goes on setting the flag.
  let tidies = lifetime.tracking.on
  Object.defineProperty(lifetime.tracking, 'on', { get: () => true, set: value => { tidies = value }, configurable: true, enumerable: true })
  undo.push(() => { Object.defineProperty(lifetime.tracking, 'on', { value: tidies, writable: true, configurable: true, enumerable: true }) })
  tellOf(lifetime, 'made', (_, [t]) => noteTensor(t))

  watchRows('copied', copies)
  watchRows('sent', sends)
  const { staged } = stats
  watchRow(staged, copies, 'staged')
  undo.push(() => unwatchRow(staged))

  tellOf(ffi, 'sendStorage', (_, [storage]) => addRole(storage, 'sent'))
  tellOf(ffi, 'receiveStorage', storage => addRole(storage, 'received'))
  /** @type {any} */ const backend = ffi.backend
  if (backend.addon === undefined) return
  tellOf(fileCalls, 'mapFile', (storage, [fd, , writes]) => {
    const file = fileOf(fd)
    if (file !== null) files.set(storage, { ...file, writes, begin: storage.address, end: storage.address + storage.nbytes })
  })
  tellOf(backend, 'partOf', (storage, [whole]) => {
    const file = files.get(whole)
    if (file !== undefined) files.set(storage, file)
  })
  tellOf(ffi, 'takeCapsule', ({ storage }) => { if (!storages.has(storage)) addRole(storage, 'dlpack') }) // else samebytes exported it
  tellOf(backend, 'wrap', storage => addRole(storage, 'foreign'))
  backend.sweep = () => {
    for (const id of backend.addon.sweep()) {
      instance().counts.delete(id)
      notes.delete(id)
    }
  }
  undo.push(() => { delete backend.sweep })
}

/** Stops noting, and forgets what was noted. */
function untrace () {
  if (!isOn) return
  isOn = false
  for (const put of undo.splice(0).reverse()) put()
  const { addon } = /** @type {any} */ (instance().ffi.backend)
  if (addon !== undefined) for (const [key, note] of notes) if (tensorOf(key, note) !== undefined) addon.unwatch(key)
  notes.clear()
  copies.clear()
  sends.clear()
  numbers = new WeakMap()
  storages = new WeakMap()
  made = seenStorages = before = 0
  pruneAt = PRUNE_FROM
}

/** @returns {boolean} */
const isTracing = () => isOn

/** @returns {number} tensors that were made since trace() */
const generation = () => made

/** @returns {number} tensors that existed before trace() */
const untraced = () => before

module.exports = { trace, untrace, isTracing, generation, untraced, aliveNow, storageNote, rolesOf: (/** @type {Storage} */ s) => roles.get(s), fileOfStorage: (/** @type {Storage} */ s) => files.get(s), copies, sends }
