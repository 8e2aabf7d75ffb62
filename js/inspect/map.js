'use strict'
// Takes the memory map, as plain data: regions of bytes, the tensors on each, what else uses the bytes, and copies.

const { instance } = require('../model/internals')
const tracing = require('./trace')
const threads = require('./threads')
const { aliveNow, storageNote, roles, files, copies, sends, untraced } = require('./trace')
const { shownSite, nameOfFile, programName, pid } = require('./system')

/** @typedef {InstanceType<typeof import('../backend/storage').Storage>} Storage */
/** @typedef {import('./sites').Site} Site */
/** @typedef {import('../tensor/tensor').Tensor} Tensor */

/** @typedef {'v8' | 'js' | 'sab' | 'native' | 'wasm' | 'file' | 'shm' | 'foreign' | 'dlpack' | 'pinned' | 'cuda'} Kind */

/**
 * What uses a region's bytes besides this thread's tensors. object: the caller's buffer; file, shm: a mapped file or segment;
 * native: addons that pinned the bytes, count times; threads: other threads, by a token; record: count blob records; operation:
 * count pending operations; device: the GPU whose memory it is.
 *
 * @typedef {{ kind: 'object' | 'file' | 'shm' | 'native' | 'threads' | 'record' | 'operation' | 'device', name: string, count: number }} Owner
 */

/**
 * Tensors of one region that have the same dtype, shape, strides, flags and site. Only their first elements differ.
 *
 * @typedef {object} MappedTensors
 * @property {number} id  the oldest tensor's number
 * @property {number} count
 * @property {string} dtype
 * @property {number} itemsize  bytes
 * @property {number[]} shape
 * @property {number[]} strides  elements
 * @property {number} size  elements
 * @property {number[]} starts  bytes from the region's start to each first element; a sample where there are many
 * @property {[number, number]} reach  bytes from the first element's start to the lowest byte (0 or negative), and to the end of the highest
 * @property {boolean} isView
 * @property {boolean} isReadOnly
 * @property {number} exposed  tensors whose `data` was read
 * @property {Site | null} site  the line and the function that made them; null: not known
 * @property {string | null} thread  whose tensors they are; null: this thread's
 */

/**
 * A block of bytes. Equal regions are one row, with their count.
 *
 * @typedef {object} Region
 * @property {number} id  the oldest region's number
 * @property {number} count
 * @property {Kind} kind
 * @property {number} nbytes  bytes of one region
 * @property {string | null} address  hexadecimal; null: not known, or count is above 1
 * @property {string} device
 * @property {Owner[]} owners
 * @property {Site | null} site  the line and the function that made its first tensor; null: not known
 * @property {MappedTensors[]} tensors  the oldest first
 * @property {number} more  tensors that are left out: the smallest, where rows exceed the limit
 */

/** @typedef {{ count: number, bytes: number, sites: { site: Site | null, count: number, bytes: number }[] }} Copied */

/**
 * @typedef {object} MemoryMap
 * @property {1} format  version of this data structure
 * @property {string} samebytes  the package's version
 * @property {string} backend
 * @property {string} program
 * @property {number} pid  0 in pages
 * @property {{ tensors: number, regions: number, bytes: number, untraced: number }} totals  untraced: tensors made before trace(), which are on no map
 * @property {Region[]} regions  the largest first
 * @property {{ regions: number, tensors: number, bytes: number }} more  the smallest regions, which are left out
 * @property {Record<string, Copied>} copied  by the function that copied. Counts are since the start, sites since trace()
 * @property {Copied} staged  temporary copies
 * @property {Record<string, Copied>} sent  over NATS, in messages or in a host's shared memory
 * @property {import('../index').Memory} memory
 */

const MOST_STARTS = 128 // in one row of tensors
const MOST_ROWS = 10 // rows of tensors on all regions, as a multiple of the limit

/** Sites as they are shown, and their text @type {WeakMap<Site, { site: Site, text: string }>} */
const shownSites = new WeakMap()

/** @param {Site | null} site */
function shown(site) {
  if (site === null) return { site, text: '' }
  let known = shownSites.get(site)
  if (known === undefined) {
    const made = shownSite(site)
    shownSites.set(site, (known = { site: made, text: JSON.stringify(made) }))
  }
  return known
}

/** Follows a storage to the one that owns its bytes. @param {Storage} storage */
function rootOf(storage) {
  let root = storage
  while (root.optional !== null && root.optional.base !== null) root = root.optional.base
  return root
}

/** @param {Storage} storage */
const fileOf = (storage) => files.get(storage) ?? files.get(rootOf(storage))

/**
 * Finds the block of bytes that a storage is part of. Positions count within a space: the memory of the process or of a device, on WASM one
 * ArrayBuffer. A storage whose block is not known is a space of its own.
 *
 * @param {Storage} storage
 * @param {string} device
 * @returns {{ space: unknown, begin: number, end: number, at: number }} at: the storage's first byte
 */
function blockOf(storage, device) {
  const { ffi, byteLengthOf } = instance()
  const { kind, buffer, address, nbytes, byteOffset } = storage
  const space = device === 'cpu' ? 'memory' : device // a device's addresses may equal the host's
  const alone = { space: storage, begin: 0, end: nbytes, at: 0 }
  const root = rootOf(storage)
  const file = fileOf(storage)
  if (file !== undefined && address !== null) {
    return { space, begin: file.begin, end: file.end, at: address }
  }
  if (root !== storage && root.address !== null && address !== null) {
    const begin = Math.min(root.address, address)
    const end = Math.max(root.address + root.nbytes, address + nbytes)
    return { space, begin, end, at: address }
  }
  if ((kind === 'js' || kind === 'sab') && buffer !== null) {
    const length = byteLengthOf(buffer)
    if (length < byteOffset + nbytes || length === 0) return alone // the buffer was transferred, or shrunk, or is empty
    if (ffi.backend.isWasm) return { space: buffer, begin: 0, end: length, at: byteOffset }
    const at = ffi.backend.addressOf(storage)
    return at === 0 ? alone : { space, begin: at - byteOffset, end: at - byteOffset + length, at }
  }
  return address === null || nbytes === 0
    ? alone
    : { space, begin: address, end: address + nbytes, at: address }
}

/** @param {Storage} storage @returns {Kind} */
function kindOf(storage) {
  const file = fileOf(storage)
  if (file !== undefined) return nameOfFile(file).kind
  if (storage.optional !== null && storage.optional.pinned) return 'pinned'
  const others = roles.get(storage)
  if (others?.has('dlpack')) return 'dlpack'
  return others?.has('foreign') ? 'foreign' : storage.kind
}

/** @param {unknown} owner  the caller's object; no getter of it may run */
function nameOfOwner(owner) {
  const { dtypeOfArray, isArrayBuffer, isSharedArrayBuffer, Tensor } = instance()
  if (typeof Buffer === 'function' && Buffer.isBuffer(owner)) return 'Buffer'
  if (Tensor.isTensor(owner)) return 'Tensor'
  if (isArrayBuffer(owner)) return 'ArrayBuffer'
  if (isSharedArrayBuffer(owner)) return 'SharedArrayBuffer'
  const dtype = dtypeOfArray(owner)
  if (dtype !== undefined) return `${dtype} array`
  return ArrayBuffer.isView(owner) ? 'DataView' : typeof owner
}

/**
 * @param {Storage[]} members
 * @param {string} device
 * @returns {Owner[]}
 */
function ownersOf(members, device) {
  const all = instance().pinned() // has no array methods
  /** @type {Map<string, Owner>} */
  const found = new Map()
  /** @param {Owner['kind']} kind @param {string} name */
  const add = (kind, name, count = 1) => {
    const owner = found.get(`${kind} ${name}`)
    if (owner === undefined) found.set(`${kind} ${name}`, { kind, name, count })
    else if (kind !== 'threads') owner.count += count
  }
  if (device !== 'cpu') add('device', device)
  const file = members.map(fileOf).find((each) => each !== undefined)
  if (file !== undefined) {
    const { kind, name } = nameOfFile(file)
    add(kind, file.writes ? name : `${name} (private)`)
  }
  const objects = new Set()
  for (const storage of members) {
    const { optional, owner } = storage
    if (owner !== undefined && owner !== null) objects.add(owner)
    for (const role of roles.get(storage) ?? []) {
      if (role === 'sent') add('threads', 'a token was given')
      if (role === 'received') add('threads', 'of another thread')
    }
    let held = 0
    for (let i = 0; i < all.length; i++) if (all[i] === storage) held++
    if (held > 0) add('native', 'native code', held)
    if (optional === null) continue
    const live = optional.records?.live ?? 0
    if (live > 0) add('record', 'toBlob', live)
    const use = optional.written > 0 ? 'written' : 'read'
    if (optional.busy > 0) add('operation', use, optional.busy)
  }
  for (const owner of objects) add('object', nameOfOwner(owner))
  return [...found.values()]
}

/**
 * @param {any} layout
 * @param {number} itemsize
 * @returns {[number, number]}
 */
function reachOf({ shape, strides, size }, itemsize) {
  if (size === 0) return [0, 0]
  let [low, high] = [0, itemsize]
  for (let d = 0; d < shape.length; d++) {
    const far = (shape[d] - 1) * strides[d] * itemsize
    if (far < 0) low += far
    else high += far
  }
  return [low, high]
}

const PLACED = 768 // bytes of V8's heap that one Placed and its site take

/** at: position of the storage's first byte @typedef {{ tensor: Tensor, note: import('./trace').Note, layout: any, at: number }} Placed */
/** @typedef {{ begin: number, end: number, storages: Storage[], tensors: Placed[] }} MemoryBlock */

/**
 * Calls the class' getter, because a program may define a property of that name on the tensor.
 *
 * @param {Tensor} tensor
 * @param {string} name
 * @returns {any}
 */
const get = (tensor, name) => Reflect.get(instance().Tensor.prototype, name, tensor)

/**
 * Groups tensors into regions: blocks of bytes that overlap become one. Sets each tensor's `at`.
 *
 * @param {Placed[]} list
 */
function regionsOf(list) {
  /** @type {Map<Storage, MemoryBlock & { at: number }>} */
  const blocks = new Map()
  /** @type {Map<unknown, MemoryBlock[]>} */
  const spaces = new Map()
  for (const placed of list) {
    const { storage } = placed.layout
    let block = blocks.get(storage)
    if (block === undefined) {
      const { space, ...rest } = blockOf(storage, get(placed.tensor, 'device'))
      block = { ...rest, storages: [storage], tensors: [] }
      blocks.set(storage, block)
      const others = spaces.get(space) ?? []
      others.push(block)
      spaces.set(space, others)
    }
    placed.at = block.at
    block.tensors.push(placed)
  }
  /** @type {(MemoryBlock & { hasAddress: boolean })[]} */
  const regions = []
  for (const [space, several] of spaces) {
    several.sort((a, b) => a.begin - b.begin || b.end - a.end)
    /** @type {MemoryBlock | null} */
    let open = null
    for (const block of several) {
      if (open !== null && block.begin < open.end) {
        open.end = Math.max(open.end, block.end)
        open.storages.push(...block.storages)
        for (const placed of block.tensors) open.tensors.push(placed)
      } else {
        open = block
        regions.push(Object.assign(block, { hasAddress: typeof space === 'string' }))
      }
    }
  }
  return regions
}

/**
 * Merges equal tensors of one region into rows.
 *
 * @param {Placed[]} list
 * @param {number} begin
 * @returns {MappedTensors[]}
 */
function rowsOf(list, begin) {
  const { dtypes } = instance()
  /** @type {Map<string, MappedTensors>} */
  const rows = new Map()
  list.sort((a, b) => a.note.number - b.note.number)
  for (const { tensor, note, layout, at } of list) {
    const { name: dtype, itemsize } = dtypes[layout.dtype]
    const { shape, strides, size } = layout
    const isView = get(tensor, 'isView')
    const isReadOnly = get(tensor, 'isReadOnly')
    const { site, text } = shown(note.site)
    const key = `${dtype} ${shape} ${strides} ${isView} ${isReadOnly} ${text}`
    const start = at - begin + layout.offset * itemsize
    const data = layout.data ?? layout.guardedData
    const exposed = data !== null && data.length > 0 ? 1 : 0
    const row = rows.get(key)
    if (row === undefined) {
      rows.set(key, {
        id: note.number,
        count: 1,
        dtype,
        itemsize,
        shape: [...shape],
        strides: [...strides],
        size,
        starts: [start],
        reach: reachOf(layout, itemsize),
        isView,
        isReadOnly,
        exposed,
        site,
        thread: null,
      })
    } else {
      row.count++
      row.exposed += exposed
      const step = Math.ceil(row.count / MOST_STARTS) // spreads the sample
      if (row.starts.length < MOST_STARTS) row.starts.push(start)
      else if (row.count % step === 0) row.starts[row.count % MOST_STARTS] = start
    }
  }
  return [...rows.values()]
}

/**
 * Merges equal regions into one, with their count.
 *
 * @param {Region[]} regions
 */
function gathered(regions) {
  /** @type {Map<string, Region>} */
  const known = new Map()
  for (const region of regions) {
    const tensors = region.tensors.map((row) => ({ ...row, id: 0 }))
    const key = JSON.stringify({ ...region, id: 0, address: null, tensors })
    const first = known.get(key)
    if (first === undefined) known.set(key, region)
    else Object.assign(first, { count: first.count + 1, address: null })
  }
  return [...known.values()]
}

/**
 * Cuts long lists of tensors to the largest. Each region keeps at least one.
 *
 * @param {Region[]} regions
 * @param {number} limit
 */
function shorten(regions, limit) {
  let left = MOST_ROWS * limit
  for (const region of regions) {
    const most = Math.max(1, Math.min(limit, left))
    const { tensors } = region
    if (tensors.length > most) {
      tensors.sort((a, b) => b.size * b.itemsize - a.size * a.itemsize || a.id - b.id)
      region.more = tensors.splice(most).reduce((n, row) => n + row.count, 0)
      tensors.sort((a, b) => a.id - b.id)
    }
    left -= tensors.length
  }
}

/** @param {Map<Site | null, { count: number, bytes: number }> | undefined} sites */
function sitesOf(sites) {
  return [...(sites ?? [])]
    .map(([site, row]) => ({ site: shown(site).site, ...row }))
    .sort((a, b) => b.bytes - a.bytes || b.count - a.count)
}

/**
 * @param {Record<string, { count: number, bytes: number }>} rows
 * @param {Map<string, Parameters<typeof sitesOf>[0]>} sites
 * @returns {Record<string, Copied>}
 */
const withSites = (rows, sites) =>
  Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [name, { ...row, sites: sitesOf(sites.get(name)) }]),
  )

/** @param {Region} region */
const totalOf = ({ nbytes, count }) => nbytes * count

/**
 * Starts recording which lines make tensors and copies, for the map and the report at exit. Tensors made before are on neither. In
 * Node importing samebytes/inspect calls it. Making a tensor then takes microseconds longer. A second call does nothing.
 *
 * @throws ERR_UNSUPPORTED in a page before init() is done
 * @example
 * trace()
 */
function trace() {
  tracing.trace()
  threads.open(takeMap)
}

/**
 * Stops what trace() started and drops what was recorded. Tensors cost what they did before.
 *
 * @throws nothing
 * @example
 * untrace()
 */
function untrace() {
  threads.close()
  tracing.untrace()
}

/**
 * @param {number} limit  rows of regions
 * @returns {MemoryMap}
 */
function takeMap(limit) {
  trace()
  const { memory, Tensor, version, ffi, checkHeap } = instance()
  const now = memory()
  const alive = aliveNow()
  checkHeap(alive.length * PLACED, () => `a map of ${alive.length} tensors`)
  const list = alive.map((each) => ({ ...each, layout: Tensor.layoutOf(each.tensor), at: 0 }))
  const regions = regionsOf(list)
    .map(({ begin, end, hasAddress, storages, tensors }) => {
      const notes = storages
        .map((storage) => storageNote(storage, null))
        .sort((a, b) => a.number - b.number)
      const device = get(tensors[0].tensor, 'device')
      const largest = storages.reduce((a, b) => (b.nbytes > a.nbytes ? b : a))
      return /** @type {Region} */ ({
        id: notes[0].number,
        count: 1,
        kind: device === 'cpu' ? kindOf(largest) : 'cuda',
        nbytes: end - begin,
        address: hasAddress ? `0x${begin.toString(16)}` : null,
        device,
        owners: ownersOf(storages, device),
        site: shown(notes[0].site).site,
        tensors: rowsOf(tensors, begin),
        more: 0,
      })
    })
    .sort((a, b) => a.id - b.id)
  const rows = gathered(regions).sort((a, b) => totalOf(b) - totalOf(a) || a.id - b.id)
  const rest = rows.splice(limit)
  const bytes = regions.reduce((sum, { nbytes }) => sum + nbytes, 0)
  shorten(rows, limit)
  return {
    format: 1,
    samebytes: version,
    backend: ffi.backend.name,
    program: programName(),
    pid,
    totals: { tensors: list.length, regions: regions.length, bytes, untraced: untraced() },
    regions: rows,
    more: {
      regions: rest.reduce((sum, { count }) => sum + count, 0),
      tensors: rest.reduce(
        (sum, { count, tensors }) => sum + count * tensors.reduce((n, row) => n + row.count, 0),
        0,
      ),
      bytes: rest.reduce((sum, row) => sum + totalOf(row), 0),
    },
    copied: withSites(now.copied, copies),
    staged: { ...now.staged, sites: sitesOf(copies.get('staged')) },
    sent: withSites(now.sent, sends),
    memory: now,
  }
}

module.exports = { takeMap, trace, untrace }
