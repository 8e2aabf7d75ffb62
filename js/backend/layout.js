'use strict'
// A layout: which elements of a storage a tensor has, and in which order.

const { ArrayBuffer, rootless } = require('../base/primordials')
const { Storage, Group } = require('./storage')

// Flags of a Layout; C is told of the first only.
const READ_ONLY = 1
const CONTIGUOUS = 2 // known to be row-major without gaps
const STRIDED = 4 // known not to be
const STATIC = 8 // no resize
const UNBOUND = 16 // a resize may move it
const INHERITED = READ_ONLY | STATIC | UNBOUND // by views

/** Layout over a storage: a plain object, never changed after it was made. */
class Layout {
  /**
   * @param {Storage} storage
   * @param {number} dtype  as C numbers it
   * @param {number[]} shape  elements; not to be changed, may be shared between layouts
   * @param {number[]} strides  elements; likewise
   * @param {number} offset  elements from the storage's first byte
   * @param {number} size  elements
   * @param {number} flags
   */
  constructor (storage, dtype, shape, strides, offset, size, flags) {
    this.storage = storage
    this.dtype = dtype
    this.shape = shape
    this.strides = strides
    this.offset = offset
    this.size = size
    this.flags = flags
    /** the typed array given out last @type {any} */
    this.data = null
    /** what few layouts have @type {Rare | null} */
    this.rare = null
  }

  /** Elements that a resize may reach in place. */
  get capacity () { return this.rare === null || this.rare.capacity < 0 ? this.size : this.rare.capacity }
  set capacity (n) { if (n !== this.capacity) (this.rare ??= new Rare()).capacity = n }
  /** Of a tensor made from a record; else undefined: the storage knows. @type {unknown} */
  get owner () { return this.rare === null ? undefined : this.rare.owner }
  set owner (owner) { if (owner !== this.owner) (this.rare ??= new Rare()).owner = owner }
  /** Of axes in memory, after a resize: strides of axes with one or no element do not tell it. @type {number[] | null} */
  get order () { return this.rare === null ? null : this.rare.order }
  set order (order) { if (order !== this.order) (this.rare ??= new Rare()).order = order }
  /** In place of data, over bytes that have to be looked after first. @type {any} */
  get guardedData () { return this.rare === null ? null : this.rare.guardedData }
  set guardedData (data) { (this.rare ??= new Rare()).guardedData = data }
}

rootless(Layout)

/** Beside each layout, these would take 24 of its bytes. */
class Rare {
  capacity = -1 // the layout's size
  /** @type {unknown} */
  owner = undefined
  /** @type {any} */
  guardedData = null
  /** @type {number[] | null} */
  order = null
}

rootless(Rare)

/** no bytes: what a layout without a storage is over */
const nothing = new Storage(new Group('js'), null, new ArrayBuffer(0), 0, 0)

module.exports = { Layout, nothing, READ_ONLY, CONTIGUOUS, STRIDED, STATIC, UNBOUND, INHERITED }
