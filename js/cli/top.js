'use strict'
// samebytes top: this machine's shared memory, live. Nothing is written: rings are read by their control words.

const fs = require('node:fs')
const { setTimeout: wait } = require('node:timers/promises')
const { SharedTensor } = require('..')
const { headerOf } = require('./segments')
const { brief, note, print, printJson, shapeText, size, styled, table } = require('./output')

/** @typedef {import('../sharing/segments').SegmentInfo} SegmentInfo */
/**
 * @typedef {object} Row
 * @property {string} name
 * @property {'ring' | 'tensor' | 'raw'} kind
 * @property {number} nbytes  of the segment; of a ring, of both
 * @property {string | null} dtype
 * @property {number[] | null} shape
 * @property {number} owner  process that made it
 * @property {boolean} isAlive
 * @property {number | null} writer  process that writes the ring
 * @property {number | null} frames  committed
 * @property {number | null} perSecond  of them, since the last look
 * @property {{ pid: number, lag: number }[] | null} readers  of a ring whose writer waits for them; lag: frames that each still needs
 * @property {number[]} holders  processes that have it mapped, as far as this user may see
 */

const PERIOD_MS = 1000
const MAGICS = [0x31676e69722d6273n, 0x32676e69722d6273n] // 'sb-ring1', 'sb-ring2'
const [SLOTS, WRITER, READERS, COUNT, FIRST, PLACE, NEXT] = [1, 3, 5, 8, 16, 4, 2] // as in src/ipc/ring.h
const MOST_READERS = 1024
const PID_SHIFT = 42n

/** How rows are sorted, and the key for it. @type {Record<string, { key: string, of: (row: Row) => number | string }>} */
const SORTS = {
  name: { key: 'n', of: ({ name }) => name },
  size: { key: 's', of: ({ nbytes }) => -nbytes },
  rate: { key: 'r', of: ({ perSecond }) => -(perSecond ?? -1) },
  holders: { key: 'h', of: ({ holders }) => -holders.length }
}

/** Processes by the inode of a segment that they have mapped: who made it has it by no name. @returns {Map<number, number[]>} */
function findHolders () {
  const found = new Map()
  for (const pid of fs.readdirSync('/proc').filter(name => /^\d+$/.test(name)).map(Number)) {
    let maps
    try {
      maps = fs.readFileSync(`/proc/${pid}/maps`, 'utf8')
    } catch {
      continue // another user's, or it has ended
    }
    for (const inode of new Set([...maps.matchAll(/^\S+ \S+ \S+ \S+ (\d+) +\/dev\/shm\//gm)].map(([, digits]) => Number(digits)))) {
      if (pid !== process.pid) found.set(inode, [...found.get(inode) ?? [], pid])
    }
  }
  return found
}

/** @param {string} path @returns {number} -1: it is gone */
function inodeOf (path) {
  try {
    return fs.lstatSync(path).ino
  } catch {
    return -1
  }
}

/** @param {(i: number) => bigint} word @param {number} length  in words @param {bigint} count */
function readersOf (word, length, count) {
  const first = FIRST + Number(word(SLOTS))
  const places = Math.min(Number(word(READERS)), MOST_READERS)
  const readers = []
  for (let at = first; at < first + PLACE * places && at + NEXT < length; at += PLACE) {
    if (word(at) === 0n) continue
    const lag = count - word(at + NEXT)
    readers.push({ pid: Number(word(at) >> PID_SHIFT), lag: lag > 0n ? Number(lag) : 0 })
  }
  return readers
}

/** A ring's writer, count and readers by its control words; null: it is none. @param {string} name */
function wordsOf (name) {
  try {
    const shared = SharedTensor.open(`${name}.control`, { mode: 'r' })
    try {
      const word = (/** @type {number} */ i) => BigInt(shared.tensor.get(i))
      const [magic, writer, count] = [0, WRITER, COUNT].map(word)
      if (!MAGICS.includes(magic)) return null
      const readers = magic === MAGICS[1] ? readersOf(word, shared.tensor.shape[0], count) : null
      return { writer: writer === 0n ? null : Number(writer >> PID_SHIFT), frames: Number(count), readers }
    } finally {
      shared.tensor.dispose()
      shared.dispose()
    }
  } catch {
    return null // there are none, or they are gone
  }
}

/** @param {string} filter @param {Map<string, number>} before  counts @param {number} seconds since then @returns {Row[]} */
function look (filter, before, seconds) {
  const segments = SharedTensor.list()
  const sizes = new Map(segments.map(({ name, nbytes }) => [name, nbytes]))
  const holders = findHolders()
  const isPart = (/** @type {string} */ name) => name.endsWith('.control') && sizes.has(name.slice(0, -'.control'.length))
  return segments.filter(({ name }) => name.includes(filter) && !isPart(name)).map(({ name, path, nbytes, pid, isAlive }) => {
    const { dtype, shape } = headerOf(name)
    const words = sizes.has(`${name}.control`) ? wordsOf(name) : null
    const old = before.get(name)
    return {
      name,
      kind: words !== null ? 'ring' : dtype === null ? 'raw' : 'tensor',
      nbytes: nbytes + (words === null ? 0 : sizes.get(`${name}.control`) ?? 0),
      dtype,
      shape,
      owner: pid,
      isAlive,
      writer: words?.writer ?? null,
      frames: words?.frames ?? null,
      perSecond: words === null || old === undefined || seconds === 0 ? null : (words.frames - old) / seconds,
      readers: words?.readers ?? null,
      holders: holders.get(inodeOf(path)) ?? []
    }
  })
}

/** @param {Row[]} rows @param {string} sort */
function sorted (rows, sort) {
  const { of } = SORTS[sort]
  return rows.sort((a, b) => of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : a.name < b.name ? -1 : 1)
}

/** @param {Row[]} rows */
function tableOf (rows) {
  const cells = rows.map(({ name, kind, nbytes, dtype, shape, owner, isAlive, writer, frames, perSecond, readers, holders }) => [
    brief(name), kind, size(nbytes), dtype ?? '', shape === null ? '' : shapeText(shape), `${owner}${isAlive ? '' : ' dead'}`,
    writer === null ? '' : String(writer), frames === null ? '' : String(frames), perSecond === null ? '' : perSecond.toFixed(1),
    readers === null ? '' : readers.map(({ pid, lag }) => `${pid}:${lag}`).join(' '), holders.join(' ')
  ])
  /** @param {string} cell */
  const style = cell => cell.endsWith(' dead') ? /** @type {const} */ ('red') : null
  return table([{ title: 'name' }, { title: 'kind' }, { title: 'size', isNumber: true }, { title: 'dtype' }, { title: 'shape' }, { title: 'owner', style },
    { title: 'writer', isNumber: true }, { title: 'frames', isNumber: true }, { title: 'per second', isNumber: true }, { title: 'lags' }, { title: 'held by' }], cells)
}

/**
 * Keys of a terminal: what sorts, and what ends it.
 *
 * @param {(sort: string) => void} onSort
 * @returns {{ ended: Promise<true>, stop: () => void }}
 */
function followKeys (onSort) {
  const { stdin } = process
  const hasKeys = stdin.isTTY === true
  /** @type {(value: true) => void} */
  let end
  const ended = new Promise(resolve => { end = resolve })
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => { end(true) })
  /** @param {Buffer} data */
  const onKey = data => {
    const key = String(data)
    if (key === 'q' || key === '\x03') end(true)
    const found = Object.entries(SORTS).find(([, { key: k }]) => k === key)
    if (found !== undefined) onSort(found[0])
  }
  if (hasKeys) stdin.setRawMode(true).on('data', onKey)
  return {
    ended,
    stop: () => {
      if (hasKeys) stdin.setRawMode(false).off('data', onKey).pause()
    }
  }
}

/** @param {import('./arguments').Given} given */
async function top ({ values: { json, once, sort: by = 'name', filter = '' } }) {
  let sort = String(by)
  const isLive = !json && !once && process.stdout.isTTY === true
  /** @type {Map<string, number>} */
  let before = new Map()
  let at = performance.now()
  /** @param {number} seconds */
  const rowsNow = seconds => sorted(look(String(filter), before, seconds), sort)
  if (json) return printJson(rowsNow(0))
  const keys = isLive ? followKeys(key => { sort = key }) : null
  try {
    for (;;) {
      const now = performance.now()
      const rows = rowsNow((now - at) / 1000)
      if (isLive) process.stdout.write('\x1b[H\x1b[2J')
      if (rows.length === 0) note('there are no shared segments')
      else print(tableOf(rows))
      if (keys === null) return
      note(styled('dim', `sorted by ${sort}; ${Object.entries(SORTS).map(([name, { key }]) => `${key} ${name}`).join(', ')}, q quit`, process.stderr))
      before = new Map(rows.filter(({ frames }) => frames !== null).map(({ name, frames }) => [name, Number(frames)]))
      at = now
      if (await Promise.race([keys.ended, wait(PERIOD_MS, false, { ref: true })])) return
    }
  } finally {
    keys?.stop()
  }
}

module.exports = { top, SORTS: Object.keys(SORTS) }
