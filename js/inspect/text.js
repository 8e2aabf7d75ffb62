'use strict'
// The memory map as lines of text.

const { textsOf } = require('./client-texts')
const { coverage } = require('./coverage')

/** @typedef {import('./map').MemoryMap} MemoryMap */
/** @typedef {import('./map').Region} Region */
/** @typedef {import('./map').MappedTensors} MappedTensors */

const texts = textsOf()

const CELLS = 40 // of a bar
const BLOCKS = [' ', '\u2591', '\u2592', '\u2593', '\u2588'] // none, up to a third, up to two, less than all, all

/** @param {number} n @param {string} what */
const many = (n, what) => `${n} ${what}${n === 1 ? '' : 's'}`

/** Before something, where there are several. @param {number} n */
const times = (n) => (n > 1 ? `${n} × ` : '')

// eslint-disable-next-line no-control-regex -- what a terminal would obey is what must go
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** @param {string} name  of a file or the like: whatever is in it, it stays on its line and says nothing to a terminal */
const safe = (name) =>
  name.replace(CONTROL, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** @param {MappedTensors} row @param {number} nbytes  of its region */
function tensorsLine(row, nbytes) {
  const { count, dtype, shape, strides, thread, isReadOnly, exposed, site } = row
  const bar = coverage(CELLS, nbytes, row).map(
    (share) => BLOCKS[share <= 0 ? 0 : share >= 1 ? 4 : 1 + Math.floor(share * 2.9999)],
  )
  const words = [`${times(count)}${dtype} [${shape.join(', ')}]`]
  if (!texts.isRowMajor(row)) words.push(`strides [${strides.join(', ')}]`)
  if (thread !== null) words.push(thread)
  if (isReadOnly) words.push('read-only')
  if (exposed > 0) words.push(exposed === count ? 'data taken' : `data taken of ${exposed}`)
  const call = site?.call ? `${site.call} at ` : ''
  if (site !== null) words.push(safe(`${call}${texts.where(site)}`))
  return `  \u2595${bar.join('')}\u258f ${words.join(' · ')}`
}

/** @type {Record<import('./map').Owner['kind'], (name: string, count: number) => string>} */
const OWNERS = {
  object: (name, count) => `the caller's ${name}${count > 1 ? ` × ${count}` : ''}`,
  file: (name) => `file ${name}`,
  shm: (name) => `shared memory ${name}`,
  native: (name, count) => `lent to native code${count > 1 ? ` × ${count}` : ''}`,
  threads: (name) => `threads: ${name}`,
  record: (name, count) => many(count, 'blob record'),
  operation: (name) => `a pending operation (${name})`,
  device: (name) => `device ${name}`,
}

/** @param {Region} region */
function regionLines({ id, count, kind, nbytes, owners, tensors, more }) {
  const others = owners.map(({ kind, name, count }) => safe(OWNERS[kind](name, count)))
  const lines = [[`#${id}`, `${times(count)}${texts.bytes(nbytes)}`, kind, ...others].join(' · ')]
  for (const row of tensors) lines.push(tensorsLine(row, nbytes))
  if (more > 0) lines.push(`  and ${many(more, 'tensor')} more`)
  return lines
}

/** @type {Record<string, string>} */
const WAYS = { message: 'in messages', host: 'in shared memory of the host' }

/** @param {string} reason @param {import('./map').Copied} copied */
function copyLines(reason, { count, bytes, sites }) {
  const lines = [`  ${reason}: ${count} ×, ${texts.bytes(bytes)}`]
  for (const { site, count, bytes } of sites.slice(0, 5)) {
    const said = `${count} ×, ${texts.bytes(bytes)}`
    if (site !== null) lines.push(`    ${safe(texts.where(site))}: ${said}`)
  }
  return lines
}

/**
 * @param {MemoryMap} map
 * @returns {string}
 */
function mapText(map) {
  const { backend, program, totals, regions, more, copied, staged, sent } = map
  const all = `${many(totals.tensors, 'tensor')} on ${many(totals.regions, 'block')} of ${texts.bytes(totals.bytes)}`
  const lines = [`samebytes memory map · ${safe(program)} · ${backend} · ${all}`]
  if (totals.untraced > 0) {
    lines.push(`${many(totals.untraced, 'tensor')} that there were before are not on it`)
  }
  for (const region of regions) lines.push('', ...regionLines(region))
  if (more.regions > 0) {
    const blocks = `${many(more.regions, 'block')} of ${texts.bytes(more.bytes)}`
    lines.push('', `and ${blocks} more, with ${many(more.tensors, 'tensor')}`)
  }
  const reasons = Object.entries(copied)
    .filter(([, { count }]) => count > 0)
    .sort(([a, x], [b, y]) => y.bytes - x.bytes || (a < b ? -1 : 1))
  if (reasons.length > 0 || staged.count > 0) lines.push('', 'copies')
  for (const [reason, row] of reasons) lines.push(...copyLines(reason, row))
  if (staged.count > 0) lines.push(...copyLines('staged on the way', staged))
  const ways = Object.entries(sent)
  if (ways.length > 0) lines.push('', 'sent over NATS')
  for (const [way, row] of ways) lines.push(...copyLines(WAYS[way], row))
  return lines.join('\n') + '\n'
}

module.exports = { mapText, texts, safe, many }
