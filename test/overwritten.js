'use strict'
// Parses bytes that are overwritten meanwhile: for a process of its own, which whoever started it ends, because it may never come back.
const fileCalls = require('../js/backend/file-calls')
const inModule = require('../js/files/parsers-module')
const { Worker } = require('node:worker_threads')
const { alloc, backend, parseGguf, parseNpy, parseNpz, parseSafetensors } = require('samebytes')
const { u32, u64, npyOf, safetensors, text, gguf, zip, floats } = require('./files')
const { npyFiles, safetensorsFiles, ggufFiles, npzFiles } = require('./corpora')

const MANY = 200
const list = (make) => Array.from({ length: MANY }, (_, i) => make(i))

/** by format: a file, what is done with it, bytes that are written over its own, how late (log2) */
const FORMATS = {
  npy: [
    () => npyOf('<f4', '(2, 3)', floats(1, 2, 3, 4, 5, 6), 'False', 3),
    (bytes) => parseNpy(bytes).toArray(),
    '{}(),:\'" \n0189<>|fiuV\0\xff\xc3',
    8,
  ],
  safetensors: [
    () => {
      // Names with escapes and characters of several bytes, which differ at their ends.
      const names = list(
        (i) => `"é${'\\u0041\\ud83d\\ude00é'.repeat((i % 7) + 1)}${(i * 7) % MANY}"`,
      )
      const fields = names.map(
        (name, i) =>
          `${name}:{"dtype":"U8","shape":[1],"data_offsets":[${MANY - 1 - i},${MANY - i}]}`,
      )
      return safetensors(
        `{"__metadata__":{${names.map((name) => `${name}:${name}`)}},${fields}}`,
        Buffer.alloc(MANY),
      )
    },
    (bytes) => used(parseSafetensors(bytes)),
    '{}[],:" \\u019dDF\0\xff\xc3\xed',
    18,
  ],
  gguf: [
    () =>
      gguf(
        [
          ...list((i) => [`k${i}`, 8, text(`é${i}`)]),
          ...list((i) => [
            `a${i}`,
            9,
            Buffer.concat([
              u32(i % 2 ? 8 : 9),
              u64(2),
              ...(i % 2 ? [text('é'), text('')] : [u32(0), u64(1), Buffer.of(1), u32(7), u64(0)]),
            ]),
          ]),
        ],
        list((i) => [`w${(i * 7) % MANY}`, [2], 0, 32 * i]),
        Buffer.alloc(32 * MANY),
      ),
    (bytes) => used(parseGguf(bytes)),
    '\0\x01\x02\x04\x08\x09\x20\x7f\x80\xff',
    18,
  ],
  npz: [
    () =>
      zip([
        ...list((i) => [`é${i}.npy`, npyOf('<f4', '(2,)', floats(1, 2))]),
        ['d.npy', npzFiles().packed, { method: 8, unpacked: 136, crc: 0 }],
        ['note', Buffer.from('hi')],
      ]),
    (bytes) => used(parseNpz(bytes)),
    "\0\x01\x08\x4b\x50\xff{}(),'",
    18,
  ],
}

/** All that a file object says. */
function used(file) {
  const said = [file.metadata, file.size]
  const names = [...file.keys()]
  for (let i = 0; i < names.length; i += 50) {
    try {
      said.push(file.info(names[i]), file.get(names[i]).dtype)
    } catch (error) {
      if (!/^ERR_/.test(error.code)) throw error
    }
  }
  return said
}

/** What the other thread does: in each round, some time after it began, it writes other bytes, and leaves them there. */
const WRITER = `
  const { workerData: { shared, at, file, alphabet, delay, state } } = require('node:worker_threads')
  const bytes = new Uint8Array(shared, at, file.length)
  const codes = Buffer.from(alphabet, 'latin1')
  let seed = 1
  const next = n => (seed = Math.imul(seed, 1664525) + 1013904223 >>> 0, Math.floor(seed / 2 ** 32 * n))
  for (let last = 0, round; (round = Atomics.load(state, 0)) >= 0;) {
    if (round === last) continue
    last = round
    const from = next(file.length)
    for (let n = next(2 ** next(delay)); n > 0; n--) Atomics.load(state, 0)
    bytes.fill(codes[next(codes.length)], from, from + 1 + next(2 ** next(16)))
    Atomics.add(state, 1, 1)
  }
`

/**
 * Parses so many times. Prints { read, refused, wrong, seen } as JSON: how often it went well and was refused, what was thrown without a
 * code, how often the other thread wrote.
 *
 * @param {string} format  of FORMATS
 * @param {number} rounds
 */
function race(format, rounds) {
  const [make, use, alphabet, delay] = FORMATS[format]
  const file = Uint8Array.from(make())
  const bytes =
    backend() === 'wasm-shared'
      ? alloc(file.length)
      : new Uint8Array(new SharedArrayBuffer(file.length))
  bytes.set(file)
  use(bytes) // it is a good one
  const state = new Int32Array(new SharedArrayBuffer(8)) // the round, -1: the end; how many of them the other thread saw
  const worker = new Worker(WRITER, {
    eval: true,
    workerData: { shared: bytes.buffer, at: bytes.byteOffset, file, alphabet, delay, state },
  })
  const found = { read: 0, refused: 0, wrong: [] }
  Atomics.store(state, 0, rounds + 1)
  while (Atomics.load(state, 1) === 0) Atomics.wait(state, 1, 0, 1) // it is there
  for (let i = 1; i <= rounds; i++) {
    bytes.set(file)
    Atomics.store(state, 0, i)
    try {
      use(bytes)
      found.read++
    } catch (error) {
      if (/^ERR_[A-Z_]+$/.test(error.code) && error.constructor.name !== 'NodeError') {
        found.refused++
      } else found.wrong.push(error.stack)
    }
  }
  Atomics.store(state, 0, -1)
  worker.once('exit', () => {
    console.log(JSON.stringify({ ...found, wrong: found.wrong.slice(0, 3), seen: state[1] }))
  })
}

const SMALL = {
  npy: [
    npyFiles,
    (bytes) => {
      const t = parseNpy(bytes)
      return [t.dtype, t.shape]
    },
  ],
  safetensors: [safetensorsFiles, (bytes) => said(parseSafetensors(bytes))],
  gguf: [ggufFiles, (bytes) => said(parseGguf(bytes))],
  npz: [npzFiles, (bytes) => said(parseNpz(bytes))],
}
const said = (file) => [file.metadata, ...[...file.keys()].map((name) => file.info(name))]
const textOf = (value) =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part))

/**
 * The same without another thread: all bytes become others just as a parser is called, for each of its calls. Prints what is said of a good file,
 * and what is said then, or the code, as JSON.
 *
 * @param {string} format
 */
function atOnce(format) {
  const [files, use] = SMALL[format]
  const file = files().plain()
  const bytes =
    backend() === 'wasm-shared'
      ? alloc(file.length)
      : new Uint8Array(new SharedArrayBuffer(file.length))
  let calls = 0
  let which = 0
  const [owner, { parse }] = backend() === 'native' ? [fileCalls, fileCalls] : [inModule, inModule]
  owner.parse = (...args) => {
    if (++calls === which) bytes.fill(255)
    return parse(...args)
  }
  bytes.set(file)
  const expected = textOf(use(bytes))
  const found = []
  for (const all = calls; which < all;) {
    which++
    calls = 0
    bytes.set(file)
    try {
      found.push(textOf(use(bytes)))
    } catch (error) {
      found.push(error.code ?? error.stack)
    }
  }
  console.log(JSON.stringify({ expected, found }))
}

module.exports = { atOnce, race }
