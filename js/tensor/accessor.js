'use strict'
// tensor.accessor(): fast access to single elements. Does once what get and set of the tensor do at every call.

const { bufferOf, byteOffsetOf, lengthOf, nbytesOf } = require('../base/buffers')
const { rootless } = require('../base/records')
const ffi = require('../backend/calls')
const { failure } = require('../base/errors')
const { show, integer, inside, wrongCount } = require('../base/validate')
const { busy } = require('../copy/async')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { scalarFor } = require('../layout/values')
const { readOnly } = require('../layout/layouts')
const { codecs, windowFor, load, store, read, write } = require('../layout/elements')

const { backend, READ_ONLY } = ffi

/** @typedef {InstanceType<typeof ffi.Layout>} Layout */
/** @import { Value, Accessor } from '../base/types' */
/** @typedef {(tensor: object) => Layout | null} LayoutOf the layout that a tensor has now; null: disposed */

const NONE = new Uint8Array(0)

/** Finds and checks the elements' memory for the accessor classes below. */
class Access {
  /**
   * @param {object} tensor
   * @param {Layout} layout  of the tensor
   * @param {LayoutOf} layoutOf
   */
  constructor(tensor, layout, layoutOf) {
    this.tensor = tensor
    this.layout = layout
    this.layoutOf = layoutOf
    this.storage = layout.storage
    this.codec = codecs[layout.dtype]
    /** a typed array over the storage; null: the runtime makes none @type {any} */
    this.window = null
    /** the window's last byte; empty: the window must be made again. A Uint8Array whatever the dtype, so that V8 sees one type */
    this.probe = NONE
    /** the storage's block of small tensors when the window was made @type {object | null} */
    this.block = null
    /** index of the first element in the window */
    this.start = layout.offset
    const { shape, strides } = layout
    /** number of axes; 0: none, or more than four */
    this.rank = shape.length > 4 ? 0 : shape.length
    this.n0 = shape[0]
    this.n1 = shape[1]
    this.n2 = shape[2]
    this.n3 = shape[3]
    this.s0 = strides[0]
    this.s1 = strides[1]
    this.s2 = strides[2]
    this.s3 = strides[3]
  }

  // The place of an element in the window, by one index, two, three, four, or any number of them.

  /** @param {number} i */
  at1(i) {
    return this.start + inside(i, this.n0, 0) * this.s0
  }

  /** @param {number} i @param {number} j */
  at2(i, j) {
    return this.start + inside(i, this.n0, 0) * this.s0 + inside(j, this.n1, 1) * this.s1
  }

  /** @param {number} i @param {number} j @param {number} k */
  at3(i, j, k) {
    return (
      this.start +
      inside(i, this.n0, 0) * this.s0 +
      inside(j, this.n1, 1) * this.s1 +
      inside(k, this.n2, 2) * this.s2
    )
  }

  /** @param {number} i @param {number} j @param {number} k @param {number} l */
  at4(i, j, k, l) {
    return (
      this.start +
      inside(i, this.n0, 0) * this.s0 +
      inside(j, this.n1, 1) * this.s1 +
      inside(k, this.n2, 2) * this.s2 +
      inside(l, this.n3, 3) * this.s3
    )
  }

  /** @param {number[]} index */
  at(index) {
    const { shape, strides } = this.layout
    if (index.length !== shape.length) throw wrongCount(index.length, shape.length)
    return index.reduce((at, i, d) => at + inside(i, shape[d], d) * strides[d], this.start)
  }

  /** Makes the window again where memory moved. */
  check() {
    // Typed arrays over a transferred or shrunk buffer, or over WebAssembly memory that grew, have no elements.
    const isCurrent =
      this.probe[0] !== undefined &&
      this.storage.block === this.block &&
      this.layoutOf(this.tensor) === this.layout
    if (!isCurrent) this.renew()
  }

  renew() {
    const { storage, layout } = this
    const now = this.layoutOf(this.tensor)
    if (now === null) throw failure('ERR_DISPOSED', 'the tensor was disposed')
    if (now !== layout) {
      throw failure(
        'ERR_STALE',
        'the tensor was resized, or got other bytes, after the accessor was made',
      )
    }
    ffi.checkAttached(storage)
    const { Type, itemsize } = dtypes[layout.dtype]
    const window = backend.canView(storage, Type) ? windowFor(storage, layout.dtype) : null
    this.window = window
    this.probe =
      window === null || lengthOf(window) === 0
        ? NONE
        : new Uint8Array(
            /** @type {ArrayBuffer} */ (bufferOf(window)),
            byteOffsetOf(window) + nbytesOf(window) - 1,
            1,
          )
    this.block = storage.block
    this.start = layout.offset + (window === null ? 0 : backend.windowOffset(storage) / itemsize)
  }

  /** check() before a write. */
  checkWritable() {
    this.check()
    if (this.layout.flags & READ_ONLY) throw readOnly(this.storage)
    const { optional } = this.storage
    if (optional !== null && optional.busy > 0) throw busy('tensor')
  }

  /**
   * @param {number} at
   * @returns {any}
   */
  load(at) {
    return this.window !== null ? load(this.window, at, this.codec) : read(this.layout, at)
  }

  /**
   * @param {number} at
   * @param {any} value  a primitive, or a pair as scalarFor gives it
   */
  store(at, value) {
    if (this.window !== null && store(this.window, at, this.codec, value)) return
    write(
      this.layout,
      at - this.start + this.layout.offset,
      scalarFor(value, dtypes[this.layout.dtype]),
    )
  }

  /**
   * Reads an object's getters now, before bounds and memory are checked.
   *
   * @param {any} value
   */
  scalar(value) {
    return typeof value === 'object' ? scalarFor(value, dtypes[this.layout.dtype]) : value
  }
}

rootless(Access)

/** Access over a guarded mapping, whose file may get shorter: checks after each access. */
class GuardedAccess extends Access {
  /** @param {number} at @override */
  load(at) {
    const value = super.load(at)
    ffi.checkIntact(this.storage)
    return value
  }

  /** @param {number} at @param {any} value @override */
  store(at, value) {
    super.store(at, value)
    ffi.checkIntact(this.storage)
  }
}

/** what an accessor's method was called on @type {(it: any, name: string, rank: number) => Access} */
let accessOf

class AccessorBase {
  #access

  /** @param {Access} access */
  constructor(access) {
    this.#access = access
  }

  static {
    // of a method called without its object, as after `const { get } = t.accessor()`, or on another one
    accessOf = (it, name, rank) => {
      if (typeof it !== 'object' || it === null || !(#access in it) || it.#access.rank !== rank) {
        throw failure(
          'ERR_ARGUMENT',
          `${name} was called without its accessor; accessor.${name}(...) was expected`,
        )
      }
      return it.#access
    }
  }
}

// One class for each number of axes, so that V8 compiles a fixed number of arguments instead of a rest array.

class Accessor1 extends AccessorBase {
  /** @param {number} i */
  get(i) {
    const access = accessOf(this, 'get', 1)
    if (arguments.length !== 1) throw wrongCount(arguments.length, 1)
    access.check()
    return access.load(access.at1(i))
  }

  /** @param {Value} value @param {number} i */
  set(value, i) {
    const access = accessOf(this, 'set', 1)
    if (arguments.length !== 2) throw wrongCount(arguments.length - 1, 1)
    const scalar = access.scalar(value)
    access.checkWritable()
    access.store(access.at1(i), scalar)
  }
}

class Accessor2 extends AccessorBase {
  /** @param {number} i @param {number} j */
  get(i, j) {
    const access = accessOf(this, 'get', 2)
    if (arguments.length !== 2) throw wrongCount(arguments.length, 2)
    access.check()
    return access.load(access.at2(i, j))
  }

  /** @param {Value} value @param {number} i @param {number} j */
  set(value, i, j) {
    const access = accessOf(this, 'set', 2)
    if (arguments.length !== 3) throw wrongCount(arguments.length - 1, 2)
    const scalar = access.scalar(value)
    access.checkWritable()
    access.store(access.at2(i, j), scalar)
  }
}

class Accessor3 extends AccessorBase {
  /** @param {number} i @param {number} j @param {number} k */
  get(i, j, k) {
    const access = accessOf(this, 'get', 3)
    if (arguments.length !== 3) throw wrongCount(arguments.length, 3)
    access.check()
    return access.load(access.at3(i, j, k))
  }

  /** @param {Value} value @param {number} i @param {number} j @param {number} k */
  set(value, i, j, k) {
    const access = accessOf(this, 'set', 3)
    if (arguments.length !== 4) throw wrongCount(arguments.length - 1, 3)
    const scalar = access.scalar(value)
    access.checkWritable()
    access.store(access.at3(i, j, k), scalar)
  }
}

class Accessor4 extends AccessorBase {
  /** @param {number} i @param {number} j @param {number} k @param {number} l */
  get(i, j, k, l) {
    const access = accessOf(this, 'get', 4)
    if (arguments.length !== 4) throw wrongCount(arguments.length, 4)
    access.check()
    return access.load(access.at4(i, j, k, l))
  }

  /** @param {Value} value @param {number} i @param {number} j @param {number} k @param {number} l */
  set(value, i, j, k, l) {
    const access = accessOf(this, 'set', 4)
    if (arguments.length !== 5) throw wrongCount(arguments.length - 1, 4)
    const scalar = access.scalar(value)
    access.checkWritable()
    access.store(access.at4(i, j, k, l), scalar)
  }
}

class AccessorN extends AccessorBase {
  /** @param {...number} index */
  get(...index) {
    const access = accessOf(this, 'get', 0)
    access.check()
    return access.load(access.at(index))
  }

  /** @param {Value} value @param {...number} index */
  set(value, ...index) {
    const access = accessOf(this, 'set', 0)
    const scalar = access.scalar(value)
    access.checkWritable()
    access.store(access.at(index), scalar)
  }
}

const CLASSES = [AccessorN, Accessor1, Accessor2, Accessor3, Accessor4]

/**
 * @param {object} tensor
 * @param {Layout} layout
 * @param {LayoutOf} layoutOf
 * @param {{ dtype?: unknown, ndim?: unknown }} wanted  what the caller relies on
 * @returns {Accessor}
 */
function accessorOf(tensor, layout, layoutOf, { dtype, ndim }) {
  const { name } = dtypes[layout.dtype]
  const { length } = layout.shape
  if (dtype !== undefined && dtypeOf(dtype).name !== name) {
    throw failure('ERR_DTYPE', `dtype is ${show(dtype)}; the tensor's is ${name}`)
  }
  if (ndim !== undefined && integer('ndim', ndim, 'ERR_SHAPE') !== length) {
    throw failure('ERR_SHAPE', `ndim is ${show(ndim)}; the tensor has ${length} axes`)
  }
  const access = new (ffi.isGuarded(layout.storage) ? GuardedAccess : Access)(
    tensor,
    layout,
    layoutOf,
  )
  return new CLASSES[access.rank](access)
}

module.exports = { accessorOf }
