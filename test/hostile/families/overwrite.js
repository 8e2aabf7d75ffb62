'use strict'
// Another thread overwrites, all the time, what is being read: files in shared memory that parsers look at, mapped files, headers and
// control words of segments and rings, operands of copies. Each call ends, with a typed error or with bytes that are in there.

const { Worker } = require('node:worker_threads')
const { once } = require('node:events')
const fs = require('node:fs')
const s = require('samebytes')
const m = require('samebytes/math')
const corpora = require('../../corpora')
const { safetensors } = require('../../files')
const { NAMES, at, isNative } = require('../calls')
const { Bystanders, used } = require('../witness')

const { SharedRing, SharedTensor, Tensor } = s
const READERS = {
  Npy: corpora.npyFiles,
  Npz: corpora.npzFiles,
  Safetensors: corpora.safetensorsFiles,
  Gguf: corpora.ggufFiles,
}
const EXTENSIONS = { Npy: 'npy', Npz: 'npz', Safetensors: 'safetensors', Gguf: 'gguf' }

/** What the other thread does until it is told to stop: puts one of these texts in place, or a few bytes of any kind. */
const OVERWRITES = `
  const { parentPort, workerData: { variants, bytes, file, stop, seed } } = require('node:worker_threads')
  const fs = require('node:fs')
  let random = seed
  const next = n => {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0
    return Math.floor(random / 2 ** 32 * n)
  }
  const pick = list => list[next(list.length)]
  const fd = file === undefined ? -1 : fs.openSync(file, 'r+')
  const size = bytes?.length ?? fs.fstatSync(fd).size
  const own = Buffer.alloc(size)
  const put = (from, n) => { if (bytes === undefined) fs.writeSync(fd, own, from, n, from); else bytes.set(own.subarray(from, from + n), from) }
  parentPort.postMessage('ready')
  while (Atomics.load(stop, 0) === 0) {
    const put1 = (from, byte) => { own[from] = byte; put(from, 1) }
    const one = () => next(8) ? next(size) : next(Math.min(size, 64))
    const byte = () => next(8) ? pick([0, 1, 34, 44, 92, 117, 123, 125, 0xc3, 0xe2, 0xed, 0xf0, 0xff, 0x80]) : next(256)
    const place = variant => { own.set(variant.subarray(0, size)); put(0, Math.min(size, variant.length)) }
    if (variants.length > 0) place(variants[0])
    // Another text for a moment; or a byte here and there, and back again: what was looked at once is another thing the next time.
    if (next(5) === 0) {
      if (variants.length > 0) place(pick(variants))
      for (let n = next(20); n > 0; n--) put1(one(), byte())
      const turn = Atomics.load(stop, 1)
      while (Atomics.load(stop, 0) === 0 && Atomics.load(stop, 1) - turn < 3) continue // it stays so, whatever the other one is at
    } else {
      for (let n = next(100000); n > 0 && Atomics.load(stop, 0) === 0; n--) {
        const from = one()
        const old = own[from]
        put1(from, byte())
        put1(from, old)
      }
    }
  }
`

/** Runs fn while another thread overwrites. */
async function against(program, { variants = [], bytes, file }, fn) {
  const stop = new Int32Array(new SharedArrayBuffer(8)) // told to stop; rounds of fn
  const worker = new Worker(OVERWRITES, {
    eval: true,
    workerData: { variants, bytes, file, stop, seed: program.r.uint32() },
  })
  const ended = once(worker, 'exit')
  await once(worker, 'message')
  try {
    await fn(() => {
      Atomics.add(stop, 1, 1)
    })
  } finally {
    Atomics.store(stop, 0, 1)
    await ended
  }
}

/** Files of a format; first one that is as it should be. */
function variantsOf(format, r) {
  const { plain, bad } = READERS[format]()
  const good = [plain()]
  if (format === 'Safetensors') {
    // long texts take their time
    const name = (i) => `${i}${'é\\u00e9\\ud83d\\ude00'.repeat(30)}`
    const entries = Array.from(
      { length: 80 },
      (_, i) => `"${name('')}${i}":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`,
    )
    good.push(safetensors(`{"__metadata__":{"${name(1)}":"${name(2)}"},${entries}}`))
  }
  return [r.pick(good), ...Object.values(bad).filter((bytes) => bytes.length < 3000)]
}

/** All that a file object tells, and its tensors. */
function looked(program, what, found) {
  if (found === undefined) return
  if (Tensor.isTensor(found)) return used(program, what, found)
  program.call(`${what}: metadata`, () =>
    JSON.stringify(found.metadata, (key, x) => (typeof x === 'bigint' ? String(x) : x)),
  )
  const { value: names = [] } = program.call(`${what}: keys`, () => [...found.keys()])
  for (const name of names) {
    program.call(`${what}: info`, () => found.info(name))
    const { value: t } = program.call(`${what}: get`, () => found.get(name))
    if (t !== undefined) used(program, what, t)
  }
  program.call(`${what}: close`, () => found.close())
}

async function parsed(program, r, rounds) {
  const format = r.pick(Object.keys(READERS))
  const variants = variantsOf(format, r)
  const size = variants[0].length
  const bytes = r.next(2)
    ? new Uint8Array(new SharedArrayBuffer(size))
    : s.empty([size], { dtype: 'uint8', shared: 'sab' }).bytes
  await against(program, { variants, bytes }, (next) => {
    for (let i = 0; i < rounds; i++, next()) {
      looked(
        program,
        `parse${format}`,
        program.call(`parse${format}`, () => s[`parse${format}`](bytes)).value,
      )
    }
  })
}

async function mapped(program, r, rounds) {
  const format = r.pick(Object.keys(READERS))
  const variants = variantsOf(format, r)
  const file = at(`hot.${EXTENSIONS[format]}`)
  fs.writeFileSync(file, variants[0])
  await against(program, { variants, file }, async (next) => {
    for (let i = 0; i < rounds / 4; i++, next()) {
      const mode = r.pick(['r', 'r+', 'c'])
      looked(
        program,
        `open${format}`,
        program.call(`open${format}`, () =>
          s[`open${format}`](file, { mode, guard: r.next(2) === 1 }),
        ).value,
      )
      const { value } = await program.later('load', () => s.load(file))
      if (value !== undefined) looked(program, 'load', value)
    }
  })
}

async function segments(program, r, rounds) {
  const shared = SharedTensor.create(NAMES[0], [20, 20], { ifExists: 'replace' })
  await against(program, { variants: variantsOf('Npy', r), file: shared.path }, (next) => {
    for (let i = 0; i < rounds / 2; i++, next()) {
      const { value } = program.call('SharedTensor.open', () =>
        SharedTensor.open(NAMES[0], { guard: r.next(2) === 1 }),
      )
      if (value === undefined) continue
      const { value: tensor } = program.call('SharedTensor.tensor', () => value.tensor)
      if (tensor !== undefined) used(program, 'SharedTensor.open', tensor)
      program.call('SharedTensor.notify', () => value.notify(r.next(100)))
      tensor?.dispose()
      value.dispose()
    }
  })
  shared.dispose()
  SharedTensor.unlink(NAMES[0])
}

async function rings(program, r, rounds) {
  const made = SharedRing.create(NAMES[1], [50], { slots: 3, dtype: 'uint8', ifExists: 'replace' })
  program.isOwn = (error) => ['AbortError', 'TimeoutError'].includes(error.name)
  await against(program, { file: r.next(4) ? made.controlPath : made.path }, async (next) => {
    for (let i = 0; i < rounds / 10; i++, next()) {
      const { value: opened } = program.call('SharedRing.open', () => SharedRing.open(NAMES[1]))
      for (const on of [made, ...(opened === undefined ? [] : [opened])]) {
        program.call('ring: write', () => on.write(r.next(200)))
        program.call('ring: next', () => on.next().fill(1))
        program.call('ring: commit', () => on.commit())
        program.call('ring: count', () => on.count)
        program.call('ring: intact', () => on.intact(r.next(5)))
        const { value: frame } = await program.later('ring: read', () =>
          on
            .read({ signal: AbortSignal.timeout(3), from: r.pick([undefined, 0, on.count]) })
            .next()
            .catch((error) => {
              if (!program.isOwn(error)) throw error
            }),
        )
        if (frame?.value !== undefined) used(program, 'ring: read', frame.value.tensor)
      }
      opened?.dispose()
    }
  })
  made.dispose()
  SharedRing.unlink(NAMES[1])
}

/** Operands that change while they are read: what is taken from elsewhere is from there. */
async function operands(program, r, rounds) {
  const n = r.pick([8, 100, 5000])
  const dtype = r.pick(['int32', 'int64', 'float32', 'uint8', 'bool', 'float16', 'complex64'])
  const hot = s.zeros([n], { dtype, shared: 'sab' })
  const source = s.full([50], 5, 'int32')
  const fives = (what) => (t) => {
    if (Tensor.isTensor(t)) {
      for (const x of t.toArray().flat(3)) {
        if (x !== 5) program.fail(`${what}: ${x} was taken from a tensor of fives`)
      }
    }
  }
  const uses = {
    take: () => fives('take')(source.take(hot)),
    repeat: () => fives('repeat')(source.narrow(0, 0, 1).repeat(hot.narrow(0, 0, 1))),
    'repeat of each': () => fives('repeat')(s.full([n], 5).repeat(hot)),
    copyFrom: () => s.empty([n], r.dtype()).copyFrom(hot, { casting: 'unsafe' }),
    scaled: () =>
      s.empty([n]).copyFrom(hot.astype('float32', { casting: 'unsafe' }), {
        scale: hot.data,
        bias: hot.data,
        axis: 0,
      }),
    into: () => hot.copyFrom(s.ones([n], 'int8'), { casting: 'unsafe' }),
    concat: () => s.concat([hot, hot]),
    arrayEqual: () => s.arrayEqual(hot, hot.clone()),
    allClose: () => s.allClose(hot, hot),
    toArray: () => hot.toArray(),
    text: () => String(hot),
    accessor: () => hot.accessor().get(0),
    bytes: () => s.parseNpy(s.toNpyBytes(hot)),
    npz: () => s.toNpzBytes({ hot }),
    safetensors: () => dtype === 'complex64' || s.toSafetensorsBytes({ hot }),
    setData: () => s.zeros([n], dtype).setData(hot),
    tensor: () => s.tensor(hot.data),
    fromBlob: () => s.fromBlob(hot.data).clone(),
    async: () => hot.copyFromAsync(s.zeros([n], dtype)),
    shape: () => s.zeros(hot.data),
    permute: () => source.permute(hot.data),
    slice: () => source.narrow(0, hot.get(0), 1),
    sort: () => m.sort(hot, { out: hot }),
    'sort of others': () => m.sort(s.arange(n, dtype), { out: hot, casting: 'unsafe' }),
    argsort: () => m.argsort(hot),
    topK: () => m.topK(hot, n >> 1),
    uniqueAll: () => m.uniqueAll(hot),
    searchsorted: () => m.searchsorted(hot, hot, { sorter: dtype === 'int32' ? hot : undefined }),
    bincount: () => m.bincount(hot, { weights: dtype === 'uint8' ? hot : undefined }),
    oneHot: () => m.oneHot(hot, 100),
    matmul: () => m.matmul(hot, hot.unsqueeze(0).permute([1, 0])),
    fft: () => m.fft(hot),
    resize: () => m.resize(hot.reshape([2, n / 2]), [3, 5], { scale: hot.narrow(0, 0, 1) }),
    nms: () =>
      m.nms(hot.reshape([n / 4, 4]), hot.narrow(0, 0, n / 4), {
        classes: dtype === 'int32' ? hot.narrow(0, 0, n / 4) : undefined,
      }),
    svd: () => m.linalg.svd(hot.narrow(0, 0, 8).reshape([4, 2])),
    eigh: () => m.linalg.eigh(hot.narrow(0, 0, 4).reshape([2, 2])),
    solve: () =>
      m.linalg.solve(hot.narrow(0, 0, 4).reshape([2, 2]), hot.narrow(0, 0, 2), {
        out: hot.narrow(0, 0, 2),
        casting: 'unsafe',
      }),
  }
  const { byteOffset, byteLength, buffer } = hot.bytes
  await against(
    program,
    {
      variants: [
        new Uint8Array(byteLength),
        Uint8Array.from({ length: byteLength }, (_, i) => (i % 4 === 0 ? r.next(50) : 0)),
      ],
      bytes: new Uint8Array(buffer, byteOffset, byteLength),
    },
    async (next) => {
      for (let i = 0; i < rounds; i++, next()) {
        const name = r.pick(Object.keys(uses))
        await program.later(`${name} of ${dtype} that changes`, async () => uses[name]())
      }
    },
  )
}

async function run(program) {
  const { r } = program
  s.setMemoryLimit(2 ** 27)
  const others = new Bystanders(r)
  const rounds = program.long ? 2000 : 300
  for (let i = 0; i < 2; i++) {
    await r.pick([parsed, parsed, operands, ...(isNative ? [mapped, segments, rings] : [])])(
      program,
      r,
      rounds,
    )
  }
  others.check(program, 'in the end')
  others.dispose()
}

module.exports = { backends: ['native', 'wasm', 'wasm-shared'], programs: 12, run }
