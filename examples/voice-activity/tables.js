'use strict'
// The evidence: addresses, copies, times.

const { backend, fromBlob, wasmMemory } = require('samebytes')
const { median } = require('./compare')
const { table } = require('./terminal')
const { CONTEXT, HOP } = require('./constants')

const REASONS = {
  // of memory().copied, in words
  tensor: 'samebytes, the number 16000 into `sr`',
}
const group = (n) => n.toLocaleString('en-US')

/**
 * Who is at which address. `same` tells whether each pair is at one: by `dataPtr`, and by what
 * JavaScript itself says about the typed arrays, the same buffer and the same place in it.
 */
function addressTable({ bytes, recording, pcm, windows, count, outputs, states }) {
  const middle = count >> 1
  const start = pcm.narrow(0, middle * HOP, 1)
  const window = windows.narrow(0, middle, 1)
  const output = outputs[middle]
  const [state] = states
  const pairs = [
    ['Buffer of the file', bytes, 'tensor `recording`', recording],
    [`sample ${group(middle * HOP)} of \`pcm\``, start, `window ${middle}, fed as it is`, window],
    [`tensor \`probabilities[${middle}]\``, output.tensor, 'ort.Tensor `output`', output.ort.data],
    ['tensor `state`', state.tensor, 'ort.Tensor `stateN`', state.ort.data],
  ]
  const apart = pairs.filter(
    ([, a, , b]) => addressOf(a) !== addressOf(b) || !startTogether(arrayOf(a), arrayOf(b)),
  )
  const rows = pairs.map(([one, a, other, b]) => [
    one,
    other,
    addressOf(a) === addressOf(b) ? addressOf(a) : `${addressOf(a)} and ${addressOf(b)}`,
  ])
  return {
    same: apart.length === 0,
    lines: table(['bytes of', 'are the bytes of', 'address'], rows),
  }
}

function startTogether(a, b) {
  return a.buffer === b.buffer && a.byteOffset === b.byteOffset
}

function arrayOf(x) {
  return ArrayBuffer.isView(x) ? x : x.data
}

/** Where the first byte of a tensor or of a typed array is, as hexadecimal. */
function addressOf(x) {
  if (backend() === 'native') return hex((ArrayBuffer.isView(x) ? fromBlob(x) : x).dataPtr)
  const { buffer, byteOffset } = arrayOf(x)
  return buffer === wasmMemory().buffer ? `WASM ${hex(byteOffset)}` : `JS buffer + ${byteOffset}`
}

function hex(address) {
  return '0x' + address.toString(16).padStart(8, '0')
}

/** What was copied: by samebytes, by reason, and for contrast by the plain loop. */
function copyTable(copies, inLoop, windows) {
  const rows = Object.entries(copies).map(([reason, { count, bytes }]) => [
    REASONS[reason] ?? reason,
    count,
    bytes,
  ])
  return table(
    ['what', 'copies', 'bytes'],
    [
      ...rows,
      [`samebytes, in ${group(windows)} windows`, inLoop.count, inLoop.bytes],
      [
        'the plain loop, in as many',
        windows,
        windows * (CONTEXT + HOP) * Float32Array.BYTES_PER_ELEMENT,
      ],
    ].map(([what, ...numbers]) => [what, ...numbers.map(group)]),
    [1, 2],
  )
}

/** How `memory().copied` grew from one look to the next: { reason: { count, bytes } }. */
function copiedSince(before, after) {
  const copies = {}
  for (const [reason, { count, bytes }] of Object.entries(after)) {
    const was = before[reason] ?? { count: 0, bytes: 0 }
    if (count > was.count) copies[reason] = { count: count - was.count, bytes: bytes - was.bytes }
  }
  return copies
}

/** All reasons together. */
function sum(copies) {
  const total = { count: 0, bytes: 0 }
  for (const { count, bytes } of Object.values(copies)) {
    total.count += count
    total.bytes += bytes
  }
  return total
}

/** Both times, and what may be concluded from them. */
function timeTable({ ours, plain }) {
  const row = (name, times) => [
    name,
    ...[median(times), Math.min(...times), Math.max(...times)].map(microseconds),
  ]
  const differences = ours.map((time, i) => plain[i] - time)
  const agree = differences.every((d) => d > 0)
    ? 'less'
    : differences.every((d) => d < 0)
      ? 'more'
      : null
  const percent = Math.abs((100 * median(differences)) / median(plain))
  return [
    ...table(
      ['loop', `median of ${ours.length} passes`, 'least', 'most'],
      [row('samebytes', ours), row('plain', plain)],
      [1, 2, 3],
    ),
    '',
    agree && percent >= 0.5
      ? `  ${percent.toFixed(1)} % ${agree} time than the plain loop's, in each of ${ours.length} passes`
      : `  no difference beyond the noise of ${ours.length} passes`,
  ]
}

/**
 * What each way of hearing takes: { name: { held: { most, each }, copied, times } }; copied counts bytes a window, times are
 * milliseconds a window.
 */
function savingTable(ways) {
  return table(
    ['loop', 'new buffers a window', 'held at most', 'samples copied', 'time a window'],
    Object.entries(ways).map(([name, { held, copied, times }]) => [
      name,
      size(held.each),
      size(held.most),
      size(copied),
      microseconds(median(times)),
    ]),
    [1, 2, 3, 4],
  )
}

function size(bytes) {
  return bytes < 1024
    ? `${Math.round(bytes)} B`
    : bytes < 1024 * 1024
      ? `${(bytes / 1024).toFixed(1)} KiB`
      : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}

function microseconds(ms) {
  return `${(ms * 1000).toFixed(1)} µs`
}

module.exports = { addressTable, copiedSince, copyTable, savingTable, size, sum, timeTable }
