'use strict'
// Files: what opening one costs, and saving beside dd of the same bytes. Disks are what they are: the ratio counts.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { full, openNpy, openSafetensors, saveNpy, saveNpySync } = require('samebytes')
const { ROOT, inFreshProcess, median } = require('./measure')

const TENSORS = 400
const MiB = 2 ** 20

let folder // removed with the process
function at(name) {
  if (folder === undefined) {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-bench-'))
    process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
  }
  return path.join(folder, name)
}

/** 1 GiB of 400 tensors, as a header and a hole: nobody reads the data. */
function weights() {
  const file = at('weights.safetensors')
  if (fs.existsSync(file)) return file
  const n = Math.floor((1024 * MiB) / TENSORS / 256) * 256 // bytes of each
  const entries = Array.from({ length: TENSORS }, (_, i) => [
    `model.layers.${i >> 3}.part.${i & 7}.weight`,
    { dtype: 'F32', shape: [64, n / 256], data_offsets: [i * n, (i + 1) * n] },
  ])
  const text = JSON.stringify(Object.fromEntries(entries))
  const header = Buffer.from(text + ' '.repeat(-text.length & 63) + ' '.repeat(56))
  const size = Buffer.alloc(8)
  size.writeBigUInt64LE(BigInt(header.length))
  fs.writeFileSync(file, Buffer.concat([size, header]))
  fs.truncateSync(file, 8 + header.length + TENSORS * n)
  return file
}

/** Median of fn's times. @param {(round: number) => number} fn  ns */
const times = (rounds, fn) => median(Array.from({ length: rounds }, (_, i) => fn(i)))

function timed(fn) {
  const start = process.hrtime.bigint()
  fn()
  return Number(process.hrtime.bigint() - start)
}

function opening({ quick }) {
  const file = weights()
  return (
    times(quick ? 50 : 500, () => {
      let opened
      const time = timed(() => {
        opened = openSafetensors(file)
      })
      opened.close()
      return time
    }) / 1e6
  )
}

/**
 * Time of what is done with tensors of a file that was just opened, by name: with each for the first time, or alone with one, when the
 * processor's caches have other things; V8 has compiled it before. The clock is read once before: what reading it costs there is not the
 * tensor's.
 */
const justOpened =
  (alone, fn) =>
  ({ quick }) => {
    const file = weights()
    const round = (i, alone) => {
      const opened = openSafetensors(file)
      const names = [...opened.keys()]
      const wanted = alone ? [names[i % names.length]] : names
      const [name] = wanted
      process.hrtime.bigint()
      const time = alone
        ? timed(() => fn(opened, name))
        : timed(() => {
            for (const each of names) fn(opened, each)
          })
      for (const each of wanted) opened.get(each).dispose()
      opened.close()
      return time / wanted.length
    }
    times(20, (i) => round(i, false))
    return times(quick ? 50 : 500, (i) => round(i, alone))
  }

const view = (opened, name) => opened.get(name)
const lookup = {
  what: 'a look into a Map, there',
  measure: justOpened(true, (opened, name) => opened.has(name)),
}

function openingNpy({ quick }) {
  const file = at('open.npy')
  saveNpySync(file, full([1000, 1000], 1))
  return (
    times(quick ? 200 : 2000, () => {
      let t
      const time = timed(() => {
        t = openNpy(file)
      })
      t.dispose()
      return time
    }) / 1e3
  )
}

/**
 * MiB that opening adds in a fresh process. Before: what has happened there. V8's optimising compiler runs for the first
 * time when some function of Node's has run often enough; where that is during the opening, its code counts as well.
 */
const resident = (before) => () =>
  inFreshProcess(`
  const { openSafetensors } = require(${JSON.stringify(path.join(ROOT, 'js'))})
  const { normalize } = require('node:path')
  ${before}
  const before = process.memoryUsage.rss()
  const opened = openSafetensors(${JSON.stringify(weights())})
  process.stdout.write(String((process.memoryUsage.rss() - before) / 2 ** 20))
  opened.close()`)
const OPTIMISED = 'for (let i = 0; i < 2e5; i++) normalize("/a/b/../c")'

/** Saves and dd's in turn, once for all rows of a size. */
const saved = new Map()
async function saving(quick) {
  if (saved.has(quick)) return saved.get(quick)
  const [rounds, nbytes] = quick ? [3, 64 * MiB] : [5, 1024 * MiB]
  const t = full([nbytes / 4], 1)
  const [source, target] = [at('source'), at('target')]
  fs.writeFileSync(source, t.bytes)
  const seen = { dd: [], sync: [], async: [] }
  for (let round = -1; round < rounds; round++) {
    // one to warm up
    for (const kind of Object.keys(seen)) {
      fs.rmSync(target, { force: true })
      execFileSync('sync')
      const start = process.hrtime.bigint()
      if (kind === 'dd') {
        execFileSync('dd', [`if=${source}`, `of=${target}`, 'bs=4M', 'conv=fdatasync'], {
          stdio: 'ignore',
        })
      } else if (kind === 'sync') saveNpySync(target, t)
      else await saveNpy(target, t)
      if (round >= 0) seen[kind].push(Number(process.hrtime.bigint() - start) / 1e6)
    }
  }
  for (const file of [source, target]) fs.rmSync(file)
  const medians = Object.fromEntries(
    Object.entries(seen).map(([kind, values]) => [kind, median(values)]),
  )
  saved.set(quick, medians)
  return medians
}

const dd = {
  what: 'dd bs=4M conv=fdatasync',
  measure: async ({ quick }) => (await saving(quick)).dd,
}
const save = (what, kind) => ({
  what,
  unit: 'ms',
  limit: { ratio: 1.25 },
  measure: async ({ quick }) => (await saving(quick))[kind],
  yardstick: dd,
})

const rows = [
  {
    what: 'open a safetensors of 1 GiB, 400 tensors',
    unit: 'ms',
    limit: { value: 5 },
    measure: opening,
  },
  {
    what: 'its resident memory, in a bare process',
    unit: 'MiB',
    limit: { value: 5 },
    measure: resident(''),
  },
  {
    what: 'the same, where V8 has optimised something before',
    unit: 'MiB',
    limit: { value: 5 },
    measure: resident(OPTIMISED),
  },
  {
    what: 'the first view of each of its tensors',
    unit: 'ns',
    limit: { value: 1000 },
    measure: justOpened(false, view),
  },
  {
    what: 'one alone, right after opening',
    unit: 'ns',
    limit: { value: 1000 },
    measure: justOpened(true, view),
    yardstick: lookup,
  },
  { what: 'open a mapped .npy', unit: 'µs', limit: { value: 100 }, measure: openingNpy },
  save('save 1 GiB with fdatasync: saveNpySync', 'sync'),
  save('save 1 GiB with fdatasync: saveNpy', 'async'),
]

module.exports = { title: 'Files', rows }
