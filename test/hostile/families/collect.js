'use strict'
// Bytes whose holder is collected: whatever way they came in, they are what they were as long as somebody can read them, or reading
// them is refused. Linear memory is scribbled on as soon as it is free.

const { MessageChannel, receiveMessageOnPort } = require('node:worker_threads')
const {
  alloc,
  asarray,
  backend,
  empty,
  forBlob,
  fromBlob,
  fromDlpack,
  fromOrt,
  fromShared,
  parseGguf,
  parseNpy,
  parseNpz,
  parseSafetensors,
  setMemoryLimit,
  share,
  toNpyBytes,
  zeros,
} = require('samebytes')
const { npyOf, zip, safetensors, gguf } = require('../../files')

const isNative = backend() === 'native'
const turn = () => new Promise((resolve) => setImmediate(resolve))
const bytesOf = (t) => Uint8Array.from(t.contiguous().bytes)

// ---- Who holds the bytes at first: each fills uint8 of n elements ----

const HOLDERS = {
  empty: (n, r) => empty([n], 'uint8'),
  unbound: (n) => empty([n], { dtype: 'uint8', dynamism: 'unbound' }),
  float32: (n) =>
    empty([Math.ceil(n / 4)], 'float32')
      .view('uint8')
      .narrow(0, 0, n),
  view: (n) => empty([n + 64], 'uint8').narrow(0, 64, n),
  clone: (n) => zeros([n], 'uint8').clone(),
  shared: (n) => empty([n], { dtype: 'uint8', shared: true }),
  moved: (n) => {
    const t = empty([Math.max(n >> 1, 1)], { dtype: 'uint8', dynamism: 'unbound' })
    t.data // eslint-disable-line no-unused-expressions
    t.resize(n)
    return t
  },
}

/** A structured clone, as another thread would have posted it: the same bytes where they are shared. */
function posted(array) {
  const { port1, port2 } = new MessageChannel()
  try {
    port1.postMessage(array)
    return receiveMessageOnPort(port2).message
  } finally {
    port1.close()
  }
}

// ---- What is taken of it: [an object over bytes, where they begin, how many] ----

const PARTS = {
  data: (t, r) => [t.data, 0, t.numel],
  bytes: (t) => [t.bytes, 0, t.numel],
  'a part of data'(t, r) {
    const from = r.next(t.numel)
    const n = r.between(1, t.numel - from)
    return [t.data.subarray(from, from + n), from, n]
  },
  'a part of bytes'(t, r) {
    const from = r.next(t.numel)
    return [t.bytes.subarray(from).subarray(0), from, t.numel - from]
  },
  'another array'(t, r) {
    const { buffer, byteOffset } = t.data
    const from = r.next(t.numel)
    return [new Uint8Array(buffer, byteOffset + from, t.numel - from), from, t.numel - from]
  },
  'a wider array'(t) {
    const { buffer, byteOffset } = t.data
    const from = -byteOffset & 7
    const n = Math.floor((t.numel - from) / 8)
    return n <= 0 ? PARTS.data(t) : [new Float64Array(buffer, byteOffset + from, n), from, 8 * n]
  },
  'a DataView'(t) {
    const { buffer, byteOffset } = t.data
    return [new DataView(buffer, byteOffset, t.numel), 0, t.numel]
  },
  'a Buffer'(t, r) {
    const { buffer, byteOffset } = t.bytes
    const from = r.next(t.numel)
    return [Buffer.from(buffer, byteOffset + from, t.numel - from), from, t.numel - from]
  },
  "a view's data"(t, r) {
    const from = r.next(t.numel)
    return [t.narrow(0, from, t.numel - from).data, from, t.numel - from]
  },
  'the data of a view of another dtype': (t) =>
    t.numel % 2 || t.isView ? PARTS.bytes(t) : [t.view('uint16').data, 0, t.numel],
  'data that was posted': (t) =>
    t.data.buffer instanceof SharedArrayBuffer ? [posted(t.data), 0, t.numel] : PARTS.data(t),
  'a part of data that was posted'(t, r) {
    const from = r.next(t.numel)
    return t.data.buffer instanceof SharedArrayBuffer
      ? [posted(t.data.subarray(from)), from, t.numel - from]
      : PARTS.data(t)
  },
  'the whole buffer'(t) {
    const { buffer } = t.data
    return isNative && t.data.byteOffset === 0 ? [buffer, -1, buffer.byteLength] : PARTS.bytes(t) // -1: other bytes follow
  },
}

// ---- Ways in: each gives a tensor over the part's bytes, or several ----

const WAYS = {
  fromBlob: (part) => fromBlob(part),
  'fromBlob with a shape': (part, n) => fromBlob(part, [n], 'uint8'),
  'fromBlob with an offset': (part, n) => fromBlob(part, [n - 1], { dtype: 'uint8', offset: 1 }),
  'fromBlob with an owner': (part, n) => fromBlob(part, [n], { dtype: 'uint8', owner: {} }),
  forBlob: (part, n) => forBlob(part, [n], 'uint8').makeTensor(),
  asarray: (part, n) =>
    ArrayBuffer.isView(part) && !(part instanceof DataView) ? asarray(part) : fromBlob(part),
  setData: (part, n) =>
    part instanceof Uint8Array ? zeros([n], 'uint8').setData(part) : fromBlob(part),
  fromOrt: (part, n) =>
    part instanceof Uint8Array && !Buffer.isBuffer(part)
      ? fromOrt({ type: 'uint8', dims: [n], data: part, location: 'cpu', dispose() {} })
      : fromBlob(part),
  'fromBlob twice': (part) => fromBlob(fromBlob(part).data),
  'fromBlob of a part of it': (part, n) =>
    fromBlob(fromBlob(part, [n], 'uint8').bytes.subarray(n >> 1)),
}

const FILES = {
  parseNpy: (bytes, n) => [npyOf('|u1', `(${n},)`, bytes), (at) => parseNpy(at)],
  parseNpz: (bytes, n) => [
    zip([['a.npy', npyOf('|u1', `(${n},)`, bytes)]]),
    (at) => parseNpz(at).get('a'),
  ],
  parseSafetensors: (bytes, n) => [
    safetensors({ a: { dtype: 'U8', shape: [n], data_offsets: [0, n] } }, bytes),
    (at) => parseSafetensors(at).get('a'),
  ],
  parseGguf: (bytes, n) => [gguf([], [['a', [n], 24, 0]], bytes), (at) => parseGguf(at).get('a')],
}

const elementwise = (fn) => (t) => (t.dtype === 'uint8' ? fn(t) : READS.itself(t))

/** What is read later of tensors and what is made of them: { [name]: (t) => a function that gives the bytes }. */
const READS = {
  itself: (t) => () => bytesOf(t),
  'a view of it': (t) => {
    const view = t.view([t.numel])
    return () => bytesOf(view)
  },
  'its data': (t) =>
    isNative
      ? (
          (data) => () =>
            Uint8Array.from(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
        )(t.data)
      : () => bytesOf(t), // in WASM data keeps nothing
  'its accessor': elementwise((t) => {
    const [a, length] = [t.accessor(), t.numel]
    return () => Uint8Array.from({ length }, (_, i) => a.get(i))
  }),
  'its record': (t) => {
    const record = t.toBlob()
    return () => bytesOf(fromBlob(record))
  },
  'a record of its view': (t) => {
    const record = t.view([t.numel]).toBlob()
    return () => bytesOf(fromBlob(record))
  },
  'its capsule': (t) => {
    if (!isNative) return () => bytesOf(t)
    const capsule = t.__dlpack__()
    return () => bytesOf(fromDlpack(capsule))
  },
  'what is over its capsule': (t) => {
    const u = isNative ? fromDlpack(t.__dlpack__()) : t
    return () => bytesOf(u)
  },
  'its capsule, its buffer transferred away'(t) {
    if (!isNative) return () => bytesOf(t)
    const capsule = t.__dlpack__()
    try {
      t.data.buffer.transfer?.()
    } catch {} // it cannot be transferred
    return () => bytesOf(fromDlpack(capsule))
  },
  'its iterator': elementwise((t) => {
    const i = t[Symbol.iterator]()
    return () => Uint8Array.from(i)
  }),
  'its elements': elementwise((t) => () => Uint8Array.from(t.toArray())),
  'its file': (t) => () => bytesOf(parseNpy(toNpyBytes(t))),
}

/** What shares bytes beyond its thread. */
function viaToken(t, r) {
  const token = share(t, { uses: 1 })
  return () => bytesOf(fromShared(r.next(2) ? structuredClone(token) : token))
}

/** Everything that is free is written to: what still reads it sees that. */
async function scribble(sizes, kept) {
  for (let i = 0; i < 3; i++) {
    globalThis.gc()
    await turn()
  }
  for (const size of sizes.flatMap((n) => [n, n + 64, n + 200, 2 * n])) {
    for (let i = 0; i < 6; i++) {
      const t = empty([size], 'uint8').fill(0xee)
      t.data[0] = 0xee
      kept.push(t)
    }
  }
}

/** Builds what is read later, out of sight: nothing of it is on this frame's stack. */
function prepare(program, r, n, what) {
  const holder = r.pick(Object.keys(HOLDERS))
  const part = r.pick(Object.keys(PARTS))
  const way = r.pick([...Object.keys(WAYS), ...Object.keys(FILES)])
  const read = r.pick(Object.keys(READS))
  what.text = `${read} of ${way} of ${part} of ${holder}, ${n} bytes`
  return program.call(what.text, () => {
    const wanted = Uint8Array.from(r.bytes(n), (x) => x % 200)
    if (holder === 'shared' && r.rarely(3)) {
      const t = HOLDERS.shared(n).copyFrom(wanted)
      what.text = `a token of a shared tensor, ${n} bytes`
      return { later: viaToken(t, r), wanted }
    }
    if (way in FILES) {
      const [file, parse] = FILES[way](Buffer.from(wanted), n)
      let place
      if (r.next(2)) place = alloc(file.length + 64).subarray(0, file.length)
      else {
        const t = HOLDERS[holder](file.length)
        place = t.bytes
        if (r.next(2)) place = new Uint8Array(place.buffer, place.byteOffset, place.byteLength)
      }
      place.set(file)
      return { later: READS[read](parse(place)), wanted }
    }
    const t = HOLDERS[holder](n).copyFrom(wanted)
    const [bytes, from, count] = PARTS[part](t, r)
    const made = WAYS[way](bytes, count)
    const shown = bytesOf(made) // all of it, but what a shape or an offset left out
    if (from >= 0 && Buffer.from(wanted.subarray(from)).indexOf(shown) < 0) {
      program.fail(`${what.text}: other bytes than the source's at once`)
    }
    return { later: READS[read](made), wanted: shown }
  })
}

async function run(program) {
  const { r } = program
  setMemoryLimit(2 ** 28)
  const kept = []
  const pending = []
  for (let i = program.long ? 24 : 10; i > 0; i--) {
    const n = r.pick([2, 16, 60, 64, 100, 1000, 4000, 5000, 70000])
    const what = {}
    const { value } = prepare(program, r, n, what)
    if (value !== undefined) pending.push({ ...value, ...what, n })
  }
  const copies = Array.from({ length: 2 }, () => copying(r))
  const sizes = [...new Set(pending.map(({ n }) => n))]
  for (let round = 0; round < 2; round++) await scribble(sizes, kept)
  for (const { later, wanted, text } of pending) {
    const { value: found, error } = program.call(text, later)
    if (
      error !== undefined &&
      !['ERR_STALE', 'ERR_DETACHED', 'ERR_DISPOSED', 'ERR_MEMORY'].includes(error.code)
    ) {
      program.fail(`${text}: ${error.stack}`)
    }
    if (found !== undefined && Buffer.compare(found, wanted) !== 0) {
      const i = found.findIndex((x, k) => x !== wanted[k])
      program.fail(`${text}: byte ${i} of ${wanted.length} is ${found[i]}, not ${wanted[i]}`)
    }
  }
  for (const copy of copies) await copy(program)
  for (const t of kept) t.dispose()
}

/** A copy off the event loop, whose source nobody has any more. */
function copying(r) {
  const n = 300000
  const target = empty([n], { dtype: 'uint8', shared: r.next(2) === 1 })
  const value = r.between(1, 200)
  const promise = target.copyFromAsync(
    r.either(
      () => empty([n], 'uint8').fill(value),
      () => empty([n], 'uint8').fill(value).data,
      () =>
        empty([n + 9], 'uint8')
          .fill(value)
          .bytes.subarray(9),
      () => empty([n], { dtype: 'uint8', shared: true }).fill(value),
    ),
  )
  promise.catch(() => {})
  return async (program) => {
    const { value: done } = await program.later('copyFromAsync of what nobody has', () => promise)
    if (done !== undefined && !target.bytes.every((x) => x === value)) {
      program.fail('copyFromAsync of what nobody has: other bytes')
    }
    target.dispose()
  }
}

module.exports = {
  backends: ['native', 'wasm', 'wasm-shared'],
  programs: 24,
  each: 8,
  run,
  flags: (seed) =>
    [[], ['--gc-interval=500'], ['--gc-interval=80']][Math.floor((seed - 1) / 8) % 3],
}
