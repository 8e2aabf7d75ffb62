'use strict'
// SAMEBYTES_TRACE=1: reports, when a thread ends, the tensors that were neither disposed nor collectable, by call site.

const v8 = require('node:v8')
const vm = require('node:vm')
const { isMainThread, threadId } = require('node:worker_threads')
const { instance } = require('../model/internals')
const { trace } = require('./map')
const { aliveNow } = require('./trace')
const { shownSite } = require('./system')
const { texts, many, safe } = require('./text')

const MOST = 50 // lines

/** Collects garbage, with or without --expose-gc. */
function collect() {
  try {
    if (typeof globalThis.gc !== 'function') v8.setFlagsFromString('--expose-gc')
    const gc = globalThis.gc ?? vm.runInNewContext('gc')
    for (let round = 0; round < 3; round++) gc()
  } catch {} // then garbage is in the report as well
}

/** @returns {string[]} lines; none if no tensor is left */
function report() {
  const { Tensor, dtypes } = instance()
  collect()
  /** @type {Map<string, { count: number, bytes: number, storages: Set<unknown>, what: string, where: string }>} */
  const rows = new Map()
  const seen = new Set()
  let total = 0
  const alive = aliveNow()
  for (const { tensor, note } of alive) {
    const { storage, dtype, shape } = Tensor.layoutOf(tensor)
    const site = note.site === null ? null : shownSite(note.site)
    const where = site === null ? '(unknown)' : `${site.file}:${site.line}:${site.column}`
    const what = `${dtypes[dtype].name} [${shape.join(', ')}]${site?.call ? `, ${site.call}` : ''}`
    const key = `${where} ${what}`
    const row = rows.get(key) ?? { count: 0, bytes: 0, storages: new Set(), what, where }
    rows.set(key, row)
    row.count++
    if (!row.storages.has(storage)) row.bytes += storage.nbytes
    row.storages.add(storage)
    if (!seen.has(storage)) total += storage.nbytes
    seen.add(storage)
  }
  if (alive.length === 0) return []
  const all = [...rows.values()].sort(
    (a, b) => b.bytes - a.bytes || b.count - a.count || (a.where < b.where ? -1 : 1),
  )
  const thread = isMainThread ? '' : ` of worker ${threadId}`
  const lines = [
    `samebytes: ${many(alive.length, 'tensor')}${thread} ${alive.length === 1 ? 'was' : 'were'} alive at exit, on ${texts.bytes(total)}`,
  ]
  for (const { count, bytes, what, where } of all.slice(0, MOST)) {
    lines.push(safe(`  ${count} × ${what}, on ${texts.bytes(bytes)}: ${where}`))
  }
  if (all.length > MOST) lines.push(`  and ${many(all.length - MOST, 'place')} more`)
  return lines
}

/** Traces from now on, and reports when this thread ends. */
function start() {
  trace()
  process.on('exit', () => {
    const lines = report()
    if (lines.length === 0) return
    const text = lines.join('\n') + '\n'
    try {
      if (isMainThread) require('node:fs').writeSync(2, text)
      else process.stderr.write(text)
    } catch {} // stderr is closed
  })
}

module.exports = { start }
