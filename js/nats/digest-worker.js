'use strict'
// The thread that hashes what lies in shared memory: it makes tensors of the tokens that it is sent. Their bytes go through a buffer of its
// own, which stays in the processor's cache.

const { createHash } = require('node:crypto')
const { parentPort } = require('node:worker_threads')
const { Tensor } = require('../tensor/tensor')
const { fromShared } = require('../sharing/tokens')
const { itemsizes } = require('../backend/dtypes')
const { copyOut } = require('../files/native-bytes')

const own = new Uint8Array(2 ** 18)

/** @typedef {{ bytes: Uint8Array } | { tensor: import('../tensor/tensor').Tensor }} Section */
/** @typedef {{ hash: import('node:crypto').Hash, sections: Section[], at: number }} Job at: bytes of the first section that are hashed */

/** @type {Map<number, Job>} */
const jobs = new Map()

/** @param {Section} section */
const sizeOf = section => 'bytes' in section ? section.bytes.length : section.tensor.size * itemsizes[Tensor.layoutOf(section.tensor).dtype]

/** @param {Section} section @param {number} from @param {number} nbytes  no more than own has @returns {Uint8Array} */
function bytesOf (section, from, nbytes) {
  if ('bytes' in section) return section.bytes.subarray(from, from + nbytes)
  const bytes = own.subarray(0, nbytes)
  copyOut(Tensor.attachedOf(section.tensor), from, bytes)
  return bytes
}

/** Hashes bytes more of the sections. @param {Job} job @param {number} nbytes */
function advance (job, nbytes) {
  for (let left = nbytes; left > 0;) {
    const [section] = job.sections
    const n = Math.min(left, own.length, sizeOf(section) - job.at)
    job.hash.update(bytesOf(section, job.at, n))
    job.at += n
    left -= n
    if (job.at === sizeOf(section)) leave(job)
  }
}

/** The first section was hashed. @param {Job} job */
function leave (job) {
  const section = job.sections.shift()
  if (section !== undefined && 'tensor' in section) section.tensor.dispose()
  job.at = 0
}

/** @param {number} id */
function drop (id) {
  const job = jobs.get(id)
  jobs.delete(id)
  if (job !== undefined) for (let i = job.sections.length; i > 0; i--) leave(job)
}

/** @type {Record<string, (message: any) => void>} */
const actions = {
  open ({ id }) { jobs.set(id, { hash: createHash('sha256'), sections: [], at: 0 }) },
  bytes ({ id, bytes }) { jobs.get(id)?.sections.push({ bytes }) },
  token ({ id, token }) {
    const tensor = fromShared(token)
    const job = jobs.get(id)
    if (job === undefined) tensor.dispose()
    else job.sections.push({ tensor })
  },
  advance ({ id, nbytes }) {
    const job = jobs.get(id)
    if (job !== undefined) advance(job, nbytes)
  },
  end ({ id }) {
    const job = jobs.get(id)
    if (job === undefined) return
    const digest = job.hash.digest('base64url')
    drop(id)
    parentPort?.postMessage({ id, digest })
  },
  drop ({ id }) { drop(id) }
}

parentPort?.on('message', message => {
  try {
    actions[message.action](message)
  } catch (/** @type {any} */ error) {
    drop(message.id)
    parentPort?.postMessage({ id: message.id, fault: { code: error?.code ?? 'ERR_IO', message: String(error?.message) } }) // a clone has no code
  }
})
