'use strict'
// The memory map as lines of text.

const { coverage } = require('./coverage')

/** @typedef {import('./map').MemoryMap} MemoryMap */
/** @typedef {import('./map').Region} Region */
/** @typedef {import('./map').MappedTensors} MappedTensors */
/** @typedef {import('./sites').Site} Site */

const CELLS = 40 // of a bar
const BLOCKS = [' ', '\u2591', '\u2592', '\u2593', '\u2588'] // none, up to a third, up to two, less than all, all

/** @param {number} n @returns {string} in binary units, or bytes where they are few */
function bytes (n) {
  if (n < 1024) return `${n} B`
  let i = 0
  for (n /= 1024; n >= 1023.95 && i < 5; i++) n /= 1024
  return `${n.toFixed(n < 9.95 ? 1 : 0)} ${['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'][i]}B`
}

/** @param {number} n @param {string} what */
const many = (n, what) => `${n} ${what}${n === 1 ? '' : 's'}`

// eslint-disable-next-line no-control-regex -- what a terminal would obey is what must go
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** @param {string} name  of a file or the like: whatever is in it, it stays on its line and says nothing to a terminal */
const safe = name => name.replace(CONTROL, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** @param {Site | null} site */
const place = site => site === null ? '' : safe(`${site.call === '' ? '' : `${site.call} at `}${site.file}:${site.line}`)

/** @param {MappedTensors} row @param {number} nbytes */
function bar (row, nbytes) {
  return coverage(CELLS, nbytes, row).map(share => BLOCKS[share <= 0 ? 0 : share >= 1 ? 4 : 1 + Math.floor(share * 2.9999)]).join('')
}

/** @param {readonly number[]} shape @param {readonly number[]} strides */
function isRowMajor (shape, strides) {
  let next = 1
  for (let d = shape.length - 1; d >= 0; d--) {
    if (shape[d] !== 1 && strides[d] !== next) return false
    next *= shape[d]
  }
  return true
}

/** @param {MappedTensors} row @returns {string} */
function describeTensors (row) {
  const { count, dtype, shape, strides, isReadOnly, exposed, site } = row
  const words = [`${count > 1 ? `${count} × ` : ''}${dtype} [${shape.join(', ')}]`]
  if (!isRowMajor(shape, strides)) words.push(`strides [${strides.join(', ')}]`)
  if (row.thread !== null) words.push(row.thread)
  if (isReadOnly) words.push('read-only')
  if (exposed > 0) words.push(exposed === count ? 'data taken' : `data taken of ${exposed}`)
  if (site !== null) words.push(place(site))
  return words.join(' · ')
}

/** @type {Record<import('./map').Owner['kind'], (name: string, count: number) => string>} */
const OWNERS = {
  object: (name, count) => `the caller's ${name}${count > 1 ? ` × ${count}` : ''}`,
  file: name => `file ${name}`,
  shm: name => `shared memory ${name}`,
  native: (name, count) => `lent to native code${count > 1 ? ` × ${count}` : ''}`,
  threads: name => `threads: ${name}`,
  record: (name, count) => many(count, 'blob record'),
  operation: name => `a pending operation (${name})`,
  device: name => `device ${name}`
}

/** @param {import('./map').Owner} owner */
const describeOwner = ({ kind, name, count }) => safe(OWNERS[kind](name, count))

/** @param {Region} region */
function regionLines (region) {
  const { id, count, kind, nbytes, owners, tensors, more } = region
  const head = [`#${id}`, `${count > 1 ? `${count} × ` : ''}${bytes(nbytes)}`, kind, ...owners.map(describeOwner)].join(' · ')
  return [head, ...tensors.map(row => `  \u2595${bar(row, nbytes)}\u258f ${describeTensors(row)}`), ...(more > 0 ? [`  and ${many(more, 'tensor')} more`] : [])]
}

/** @type {Record<string, string>} */
const WAYS = { message: 'in messages', host: 'in shared memory of the host' }

/** @param {string} reason @param {import('./map').Copied} copied */
function copyLines (reason, { count, bytes: n, sites }) {
  const lines = [`  ${reason}: ${count} ×, ${bytes(n)}`]
  for (const { site, count, bytes: n } of sites.slice(0, 5)) {
    if (site !== null) lines.push(`    ${safe(`${site.file}:${site.line}`)}: ${count} ×, ${bytes(n)}`)
  }
  return lines
}

/**
 * @param {MemoryMap} map
 * @returns {string}
 */
function textOf (map) {
  const { backend, program, totals, regions, more, copied, staged, sent } = map
  const lines = [`samebytes memory map · ${safe(program)} · ${backend} · ${many(totals.tensors, 'tensor')} on ${many(totals.regions, 'block')} of ${bytes(totals.bytes)}`]
  if (totals.untraced > 0) lines.push(`${many(totals.untraced, 'tensor')} that there were before are not on it`)
  for (const region of regions) lines.push('', ...regionLines(region))
  if (more.regions > 0) lines.push('', `and ${many(more.regions, 'block')} of ${bytes(more.bytes)} more, with ${many(more.tensors, 'tensor')}`)
  const reasons = Object.entries(copied).filter(([, { count }]) => count > 0).sort(([a, x], [b, y]) => y.bytes - x.bytes || (a < b ? -1 : 1))
  if (reasons.length > 0 || staged.count > 0) lines.push('', 'copies')
  for (const [reason, row] of reasons) lines.push(...copyLines(reason, row))
  if (staged.count > 0) lines.push(...copyLines('staged on the way', staged))
  const ways = Object.entries(sent)
  if (ways.length > 0) lines.push('', 'sent over NATS')
  for (const [way, row] of ways) lines.push(...copyLines(WAYS[way], row))
  return lines.join('\n') + '\n'
}

module.exports = { textOf, bytes, safe, place, many, describeOwner }
