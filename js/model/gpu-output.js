'use strict'
// An output that onnxruntime-web keeps in a buffer of WebGPU.

const { instance } = require('./internals')

/** required by the constructor */
const KEY = Symbol('samebytes/module')

const MAP_READ_COPY_DST = 1 | 8 // GPUBufferUsage
const MAP_MODE_READ = 1

/** Keeps a session open for its outputs on the GPU: onnxruntime frees with a session what disposing its tensors needs. */
class SessionHold {
  /** outputs that were not released */
  count = 0
  /** what the last output calls @type {(() => void) | null} */
  close = null

  /**
   * Closes the session, now or when its last output was released.
   *
   * @param {() => Promise<void>} close
   * @returns {Promise<void>} waits for no output
   */
  async end(close) {
    if (this.count === 0) return close()
    this.close = () => {
      close().catch(() => {})
    } // nobody is there to be told
  }

  drop() {
    if (--this.count > 0 || this.close === null) return
    this.close()
    this.close = null
  }
}

/** What is released with an output. source: pinned. @typedef {{ theirs: any, nbytes: number, hold: SessionHold, source: GpuOutput | null }} Held */

/** bytes of outputs that were not released */
let inUse = 0

/** Releases outputs that nobody holds. */
const registry = new FinalizationRegistry(release)

/** @param {Held} held */
function release({ theirs, nbytes, hold, source }) {
  inUse -= nbytes
  theirs.dispose()
  if (source !== null) gpuOutputs.unpin(source)
  hold.drop()
}

/**
 * What runs do with outputs, which programs cannot.
 *
 * @typedef {object} Access
 * @property {(theirs: any, ort: any, hold: SessionHold, source: GpuOutput | null) => GpuOutput} of  theirs: onnxruntime's tensor; source: an input that has the same bytes,
 *   which are kept until both were released
 * @property {(value: any) => value is GpuOutput} isOne
 * @property {(it: GpuOutput) => any} living  onnxruntime's tensor; throws ERR_DISPOSED
 * @property {(it: GpuOutput) => any} pinned  likewise, of one that is pinned and may have been disposed since
 * @property {(it: GpuOutput) => void} pin  keeps it until unpin
 * @property {(it: GpuOutput) => void} unpin
 */
/** @type {Access} */
let gpuOutputs

/** what a property or a method was used on @type {(it: any) => GpuOutput} */
let own

/**
 * A result on the GPU, of a module that was loaded with `preferredOutputLocation: 'gpu-buffer'`. As an input it is read where it is, by modules
 * over the same onnxruntime. It belongs to the caller, and is released when it is disposed or collected.
 */
class GpuOutput {
  #theirs
  #ort
  /** @type {Held} */
  #held
  /** makes the collector see how large it is (runtime/ballast.js) @type {ArrayBuffer | null} */
  #ballast
  #isDisposed = false
  /** pending calls that read it */
  #uses = 0

  static {
    own = (it) => instance().receiver('GPU output', (each) => #theirs in each)(it)
    gpuOutputs = {
      of: (theirs, ort, hold, source) => new GpuOutput(KEY, theirs, ort, hold, source),
      isOne: /** @returns {value is GpuOutput} */ (value) =>
        value !== null && typeof value === 'object' && #theirs in value,
      living(it) {
        if (it.#isDisposed) {
          throw instance().failure('ERR_DISPOSED', 'the output on the GPU was disposed')
        }
        return it.#theirs
      },
      pinned: (it) => it.#theirs,
      pin(it) {
        it.#uses++
      },
      unpin(it) {
        it.#uses--
        it.#free()
      },
    }
  }

  /**
   * @param {symbol} key
   * @param {any} theirs  onnxruntime's tensor
   * @param {any} ort
   * @param {SessionHold} hold
   * @param {GpuOutput | null} source
   * @private
   */
  constructor(key, theirs, ort, hold, source) {
    if (key !== KEY) {
      throw instance().failure('ERR_ARGUMENT', 'outputs on a GPU are made by a run of a model')
    }
    this.#theirs = theirs
    this.#ort = ort
    const nbytes = nbytesOfOutput(theirs) ?? 0
    this.#held = { theirs, nbytes, hold, source }
    this.#ballast = instance().ballastOf(nbytes, () => inUse)
    inUse += nbytes
    hold.count++
    if (source !== null) gpuOutputs.pin(source)
    registry.register(this, this.#held, this)
  }

  /** Where it is: 'gpu-buffer'. @returns {string} */
  get location() {
    return 'gpu-buffer'
  }
  /** @returns {string} */
  get dtype() {
    return own(this).#theirs.type
  }
  /** A copy. @returns {number[]} */
  get shape() {
    return [...own(this).#theirs.dims]
  }
  /** Was dispose called? @returns {boolean} */
  get isDisposed() {
    return own(this).#isDisposed
  }
  /** WebGPU's buffer, of onnxruntime's device (`ort.env.webgpu.device`). @returns {any} a GPUBuffer @throws ERR_DISPOSED */
  get gpuBuffer() {
    return gpuOutputs.living(own(this)).gpuBuffer
  }

  /**
   * Copies it into a tensor of the CPU's memory, counted; it stays where it is, and is kept until then where it is disposed meanwhile.
   *
   * @param {'cpu'} [device]
   * @returns {Promise<import('../tensor/tensor').Tensor>} a new tensor
   * @throws ERR_DISPOSED · {TypeError} ERR_DTYPE, ERR_ARGUMENT · ERR_DEVICE another device, or WebGPU failed; each as a rejection
   */
  async toAsync(device = 'cpu') {
    const { countCopy, failure, fromBlob, show } = instance()
    if (device !== 'cpu') {
      throw failure('ERR_DEVICE', `device is ${show(device)}; outputs on a GPU go to 'cpu'`)
    }
    const theirs = gpuOutputs.living(own(this))
    const { type, dims, gpuBuffer } = theirs
    const nbytes = nbytesOfOutput(theirs)
    if (nbytes === null) {
      throw failure('ERR_DTYPE', `the output is of ${show(type)}, which samebytes has no dtype for`)
    }
    let bytes
    gpuOutputs.pin(this)
    try {
      bytes = await readBuffer(await this.#ort.env.webgpu.device, gpuBuffer, nbytes)
    } catch (cause) {
      const said = /** @type {any} */ (cause)?.message ?? cause
      throw Object.assign(
        failure('ERR_DEVICE', `the output could not be read from the GPU: ${said}`),
        { cause },
      )
    } finally {
      gpuOutputs.unpin(this)
    }
    countCopy('toAsync', nbytes)
    return fromBlob(bytes, [...dims], /** @type {any} */ (type))
  }

  /** Releases the GPU's memory, once no pending call reads it. Again: nothing. */
  dispose() {
    if (own(this).#isDisposed) return
    this.#isDisposed = true
    this.#free()
  }

  #free() {
    if (!this.#isDisposed || this.#uses > 0) return
    registry.unregister(this)
    if (this.#ballast !== null) instance().keepSpare(this.#ballast)
    this.#ballast = null
    release(this.#held)
  }
}

/**
 * @param {any} theirs  onnxruntime's tensor
 * @returns {number | null} null: samebytes has no such dtype
 */
function nbytesOfOutput({ type, dims }) {
  const { dtypes, itemsizes } = instance()
  const itemsize = itemsizes[dtypes.findIndex(({ name }) => name === type)]
  if (itemsize === undefined) return null
  return dims.reduce(
    (/** @type {number} */ n, /** @type {number} */ extent) => n * extent,
    itemsize,
  )
}

/**
 * @param {any} device  a GPUDevice
 * @param {any} buffer  a GPUBuffer of it
 * @param {number} nbytes
 * @returns {Promise<Uint8Array>}
 */
async function readBuffer(device, buffer, nbytes) {
  if (nbytes === 0) return new Uint8Array(0)
  const size = Math.ceil(nbytes / 4) * 4 // WebGPU copies words
  const staging = device.createBuffer({ size, usage: MAP_READ_COPY_DST })
  try {
    const refusal = copying(device, buffer, staging, size)
    const [error] = await Promise.all([refusal, staging.mapAsync(MAP_MODE_READ)])
    if (error !== null) throw error // else these were zeros
    return new Uint8Array(staging.getMappedRange()).slice(0, nbytes)
  } finally {
    staging.destroy()
  }
}

/**
 * Begins to copy from one buffer to another.
 *
 * @param {any} device  of both
 * @param {any} from
 * @param {any} to
 * @param {number} size  in bytes
 * @returns {Promise<any>} the GPUError by which the device refuses it; null: it does not
 */
function copying(device, from, to, size) {
  device.pushErrorScope('validation')
  let refusal
  try {
    const encoder = device.createCommandEncoder()
    encoder.copyBufferToBuffer(from, 0, to, 0, size)
    device.queue.submit([encoder.finish()])
  } finally {
    refusal = device.popErrorScope()
  }
  return refusal
}

Object.freeze(gpuOutputs)

module.exports = { GpuOutput, SessionHold, gpuOutputs }
