'use strict'
// A layout: which elements of a storage a tensor has, and in which order.

const { rootless } = require('../base/records')
const { itemsizes } = require('./dtypes')
const { Storage, Group } = require('./storage')

// Flags of a Layout. C gets READ_ONLY alone.
const READ_ONLY = 1
const CONTIGUOUS = 2 // known to be row-major without gaps
const STRIDED = 4 // known not to be
const STATIC = 8 // no resize
const UNBOUND = 16 // a resize may move it
const INHERITED = READ_ONLY | STATIC | UNBOUND // by views

/** Shape, strides and dtype over a storage. Nobody changes these fields once it is made. */
class Layout {
  /**
   * @param {Storage} storage
   * @param {number} dtype  as C numbers it
   * @param {number[]} shape  elements; layouts may share the list, so nobody changes it
   * @param {number[]} strides  elements; likewise
   * @param {number} offset  elements from the storage's first byte
   * @param {number} size  elements
   * @param {number} flags
   */
  constructor(storage, dtype, shape, strides, offset, size, flags) {
    this.storage = storage
    this.dtype = dtype
    this.shape = shape
    this.strides = strides
    this.offset = offset
    this.size = size
    this.flags = flags
    /** the typed array that the caller got last @type {any} */
    this.data = null
    /** @type {OptionalLayoutFields | null} */
    this.optional = null
    /** what the caller got of shape and strides; null: nothing yet @type {readonly number[] | null} */
    this.frozenShape = null
    /** @type {readonly number[] | null} */
    this.frozenStrides = null
  }

  /** Bytes of its elements. */
  get nbytes() {
    return this.size * itemsizes[this.dtype]
  }
  /** Elements that a resize in place may use. */
  get capacity() {
    return this.optional === null || this.optional.capacity < 0 ? this.size : this.optional.capacity
  }
  set capacity(n) {
    if (n !== this.capacity) (this.optional ??= new OptionalLayoutFields()).capacity = n
  }
  /** The caller's object, of a tensor made from a blob record; of others the storage has it. @type {unknown} */
  get owner() {
    return this.optional === null ? undefined : this.optional.owner
  }
  set owner(owner) {
    if (owner !== this.owner) (this.optional ??= new OptionalLayoutFields()).owner = owner
  }
  /** Order of the axes in memory, kept by a resize: strides do not give it where an axis has less than two elements. @type {number[] | null} */
  get order() {
    return this.optional === null ? null : this.optional.order
  }
  set order(order) {
    if (order !== this.order) (this.optional ??= new OptionalLayoutFields()).order = order
  }
  /** As `data`, over a guarded mapping: each use checks that its bytes are still there. @type {any} */
  get guardedData() {
    return this.optional === null ? null : this.optional.guardedData
  }
  set guardedData(data) {
    ;(this.optional ??= new OptionalLayoutFields()).guardedData = data
  }
}

rootless(Layout)

/** Fields that few layouts have: in Layout itself they would take 24 bytes of each. */
class OptionalLayoutFields {
  capacity = -1 // the layout's size
  /** @type {unknown} */
  owner = undefined
  /** @type {any} */
  guardedData = null
  /** @type {number[] | null} */
  order = null
}

rootless(OptionalLayoutFields)

/** The storage of layouts that have no bytes yet. */
const nothing = new Storage(new Group('js'), null, new ArrayBuffer(0), 0, 0)

module.exports = { Layout, nothing, READ_ONLY, CONTIGUOUS, STRIDED, STATIC, UNBOUND, INHERITED }
