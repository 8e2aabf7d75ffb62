'use strict'
// Where a tensor's bytes go as they come: as they are, or, where the tensor has another dtype, order or layout, through a buffer of elements.

const ffi = require('../backend/calls')
const fileCalls = require('../backend/file-calls')
const { failure } = require('../base/errors')
const {
  countCopy,
  countStaged,
  isOnDevice,
  nameOfDevice,
  deviceOfStorage,
} = require('../backend/storage')
const { dtypes, dtypeOf } = require('../backend/dtypes')
const { isSameShape, subLayout } = require('../layout/layouts')
const { Tensor, wrap } = require('../tensor/tensor')
const { layoutWithout, widthOf } = require('../files/entries')
const { copyIn } = require('../files/native-bytes')

const { backend, Layout, READ_ONLY } = ffi

/** @typedef {InstanceType<typeof Layout>} LayoutOf */
/** @typedef {import('../backend/dtypes').Dtype} Dtype */
/** @typedef {import('../tensor/tensor').Tensor} TensorOf */

const BUFFER = 2 ** 18 // bytes of elements that are converted at once
const SAME_KIND = 1 // of castings

/**
 * A tensor in a file.
 *
 * @typedef {object} Wanted
 * @property {string} name
 * @property {Dtype} dtype
 * @property {boolean} isForeign  bytes of a type that is none of ours
 * @property {string} type  what the format calls it
 * @property {number[]} shape
 * @property {boolean} fortran
 * @property {boolean} swapped
 * @property {number} begin  byte of the file
 * @property {number} nbytes
 */

/**
 * Where the tensor is to go: what the caller gave, or memory of its own.
 *
 * @param {Wanted} wanted
 * @param {{ out: TensorOf | undefined, dtype: Dtype | undefined }} how
 * @returns {BytesTarget}
 */
function targetFor(wanted, { out, dtype }) {
  const { dtype: from, shape, fortran, swapped } = wanted
  const layout = out === undefined ? null : Tensor.attachedOf(out)
  if (layout !== null) checkOut(layout, shape, dtype)
  const to = layout === null ? (dtype ?? from) : dtypes[layout.dtype]
  checkCast(wanted, to)
  const bare = layoutWithout(to, shape, fortran)
  const target =
    layout ??
    new Layout(
      backend.allocate(bare.size * to.itemsize, ffi.check),
      to.index,
      bare.shape,
      bare.strides,
      0,
      bare.size,
      bare.flags & ~READ_ONLY,
    )
  const isDense = target.shape.every((n, d) => n === 1 || target.strides[d] === bare.strides[d])
  const isAsItIs = isDense && to === from && !swapped
  const own = layout === null ? target : null
  return isAsItIs
    ? new BytesTarget(target, own, out)
    : new ElementsTarget(wanted, target, own, out, isDense)
}

/** @param {LayoutOf} layout @param {readonly number[]} shape @param {Dtype | undefined} dtype */
function checkOut(layout, shape, dtype) {
  if (isOnDevice(layout.storage)) {
    throw failure(
      'ERR_DEVICE',
      `out is on ${nameOfDevice(deviceOfStorage(layout.storage))}; a tensor in memory of the CPU was expected`,
    )
  }
  if (!isSameShape(layout.shape, shape)) {
    throw failure(
      'ERR_SHAPE',
      `out has shape [${layout.shape.join(', ')}]; the tensor in the file has [${shape.join(', ')}]`,
    )
  }
  if (dtype !== undefined && dtype.index !== layout.dtype) {
    throw failure('ERR_DTYPE', `out is ${dtypes[layout.dtype].name}; dtype is ${dtype.name}`)
  }
}

/** @param {Pick<Wanted, 'name' | 'dtype' | 'isForeign' | 'type'>} wanted @param {Dtype} to */
function checkCast({ name, dtype, isForeign, type }, to) {
  if (to === dtype) return
  if (isForeign) {
    throw failure(
      'ERR_DTYPE',
      `${JSON.stringify(name)} is of ${type}, which is none of samebytes' own; it comes as uint8 alone`,
    )
  }
  if (!ffi.canCast(dtype.index, to.index, SAME_KIND)) {
    throw failure(
      'ERR_CAST',
      `${JSON.stringify(name)} is ${dtype.name}, which does not cast to ${to.name} under casting 'same_kind'`,
    )
  }
}

/** Bytes that are written where they belong. */
class BytesTarget {
  /** @param {LayoutOf} layout @param {LayoutOf | null} own  the same where nobody else has it @param {TensorOf | undefined} out */
  constructor(layout, own, out) {
    this.layout = layout
    this.own = own
    this.out = out
    this.at = 0
  }

  /** @param {Uint8Array} bytes */
  write(bytes) {
    copyIn(this.layout, this.at, bytes)
    this.at += bytes.length
  }

  /** All bytes came. @returns {TensorOf} */
  finish() {
    countStaged(this.at)
    const made = this.out ?? wrap(/** @type {LayoutOf} */ (this.own))
    this.own = null
    return made
  }

  /** It ended without; after finish it does nothing. */
  discard() {
    if (this.own !== null) backend.release(this.own.storage)
    this.own = null
  }
}

/** Bytes that become elements of another dtype, order or layout. */
class ElementsTarget extends BytesTarget {
  /** @param {Wanted} wanted @param {LayoutOf} layout @param {LayoutOf | null} own @param {TensorOf | undefined} out @param {boolean} isDense  in the file's order */
  constructor({ dtype, shape, fortran, swapped }, layout, own, out, isDense) {
    super(isDense ? flat(layout) : fortran ? reversed(layout) : layout, own, out)
    this.dtype = dtype
    this.swapped = swapped
    this.done = 0 // elements
    this.held = 0 // bytes in the buffer
    const size = shape.reduce((n, extent) => n * extent, dtype.itemsize)
    const { index } = dtypeOf('uint8')
    const nbytes = Math.min(BUFFER, Math.max(size, dtype.itemsize))
    try {
      this.buffer = new Layout(
        backend.allocate(nbytes, ffi.check),
        index,
        [nbytes],
        [1],
        0,
        nbytes,
        0,
      )
    } catch (error) {
      this.discard()
      throw error
    }
  }

  /** @override @param {Uint8Array} bytes */
  write(bytes) {
    const { buffer } = this
    for (let at = 0; at < bytes.length;) {
      const part = bytes.subarray(at, at + buffer.size - this.held)
      copyIn(buffer, this.held, part)
      this.held += part.length
      this.at += part.length
      at += part.length
      if (this.held === buffer.size) this.convert()
    }
  }

  /** Converts what is in the buffer. */
  convert() {
    const { dtype, buffer } = this
    const { storage } = buffer
    if (this.swapped) fileCalls.swapBytes(storage, widthOf(dtype))
    const n = this.held / dtype.itemsize
    for (const { start, extents, offset } of boxes(this.layout.shape, this.done, this.done + n)) {
      const { shape, strides, size } = ffi.dense(dtype.index, extents)
      const given = new Layout(storage, dtype.index, shape, strides, offset, size, 0)
      ffi.copy(subLayout(this.layout, start, extents), given, SAME_KIND)
    }
    this.done += n
    this.held = 0
  }

  /** @override */
  finish() {
    if (this.held > 0) this.convert()
    countCopy('load', this.done * dtypes[this.layout.dtype].itemsize)
    const made = super.finish()
    this.discard()
    return made
  }

  /** @override */
  discard() {
    super.discard()
    if (this.buffer !== undefined) backend.release(this.buffer.storage)
    this.buffer = /** @type {any} */ (undefined)
  }
}

/** All elements on one axis. @param {LayoutOf} layout  dense */
const flat = ({ storage, dtype, offset, size, flags }) =>
  new Layout(storage, dtype, [size], [1], offset, size, flags)

/** @param {LayoutOf} layout */
const reversed = ({ storage, dtype, shape, strides, offset, size, flags }) =>
  new Layout(storage, dtype, [...shape].reverse(), [...strides].reverse(), offset, size, flags)

/**
 * Elements that follow each other in row-major order, as boxes.
 *
 * @param {readonly number[]} shape
 * @param {number} from
 * @param {number} end
 * @param {number} [offset]  of the first box
 * @returns {Generator<{ start: number[], extents: number[], offset: number }>} offset: elements before the box
 */
function* boxes(shape, from, end, offset = 0) {
  if (shape.length === 0) {
    yield { start: [], extents: [], offset }
    return
  }
  const [, ...rest] = shape
  const row = rest.reduce((n, extent) => n * extent, 1)
  for (let at = from; at < end;) {
    const first = Math.floor(at / row)
    const inRow = at - first * row
    const here = offset + at - from
    const count = inRow === 0 ? Math.floor((end - at) / row) : 0
    const next = count > 0 ? at + count * row : Math.min(end, (first + 1) * row)
    if (count > 0) {
      yield { start: [first, ...rest.map(() => 0)], extents: [count, ...rest], offset: here }
    } else {
      for (const box of boxes(rest, inRow, inRow + next - at, here)) {
        yield { ...box, start: [first, ...box.start], extents: [1, ...box.extents] }
      }
    }
    at = next
  }
}

module.exports = { targetFor, checkOut, checkCast, SAME_KIND }
