'use strict'
// Files and segments that somebody makes shorter while they are mapped with a guard, and rings: whatever is called then, this process
// goes on; and who read what was cut off says so: what was given has no zeros in it that nobody wrote.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const s = require('samebytes')
const { npyOf, zip, safetensors, gguf } = require('../../files')

const { SharedRing, SharedTensor, empty } = s
const PAGE = 4096
const BYTE = 7 // of which everything is full
const FULL = (n) => Buffer.alloc(n, BYTE)

let folder
let peer
let count = 0 // names: none is used twice, as the other process may still be at it

function before() {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'truncate-'))
  // Another process, which makes the files of the folder `hot` shorter and whole again, as fast as it can.
  fs.mkdirSync(path.join(folder, 'hot'))
  const source = `
    const fs = require('node:fs')
    const path = require('node:path')
    const hot = process.argv[1]
    const random = n => Math.floor(Math.random() * n)
    for (const parent = process.ppid; process.ppid === parent;) {
      for (const name of fs.readdirSync(hot)) {
        try {
          const file = fs.readFileSync(path.join(hot, name), 'utf8')
          const whole = fs.readFileSync(file)
          if (whole.length === 0) continue
          for (let i = 0; i < 20; i++) {
            fs.truncateSync(file, random(3) ? random(whole.length) : 0)
            const fd = fs.openSync(file, 'r+')
            for (let at = 0; at < whole.length; at += 1000) fs.writeSync(fd, whole, at, Math.min(1000, whole.length - at), at)
            fs.closeSync(fd)
          }
        } catch {}
      }
    }`
  const { LD_PRELOAD, ...env } = process.env // a sanitizer's runtime is for the addon
  peer = spawn(process.execPath, ['-e', source, path.join(folder, 'hot')], { env, stdio: 'ignore' })
}

function after() {
  peer.kill('SIGKILL')
  fs.rmSync(folder, { recursive: true, force: true })
}

/** What is mapped: { t, file, dispose }, from a file or segment of n bytes of data. */
const WAYS = {
  openNpy: (r, n) =>
    file('a.npy', npyOf('|u1', `(${n},)`, FULL(n)), (at) => s.openNpy(at, guarded(r))),
  openNpz: (r, n) =>
    file('a.npz', zip([['a.npy', npyOf('|u1', `(${n},)`, FULL(n))]]), (at) =>
      s.openNpz(at, guarded(r)).get('a'),
    ),
  openSafetensors: (r, n) =>
    file(
      'a.safetensors',
      safetensors({ a: { dtype: 'U8', shape: [n], data_offsets: [0, n] } }, FULL(n)),
      (at) => s.openSafetensors(at, guarded(r)).get('a'),
    ),
  openGguf: (r, n) =>
    file('a.gguf', gguf([], [['a', [n], 24, 0]], FULL(n)), (at) =>
      s.openGguf(at, guarded(r)).get('a'),
    ),
  openRaw: (r, n) =>
    file('a.raw', FULL(n), (at) => s.openRaw(at, [n], { dtype: 'uint8', ...guarded(r) })),
  'SharedTensor.open': (r, n) =>
    file('b.npy', npyOf('|u1', `(${n},)`, FULL(n)), (at) => {
      const { tensor } = SharedTensor.open(at, guarded(r))
      return tensor
    }),
  'SharedTensor.create'(r, n) {
    const shared = SharedTensor.create(`sb-hostile-${process.pid}-t${count++}`, [n], {
      dtype: 'uint8',
      guard: true,
    })
    shared.tensor.fill(BYTE)
    return { t: shared.tensor, file: shared.path, shared }
  },
}
const guarded = (r) => ({ guard: true, mode: r.pick(['r', 'r+', 'c']) })

function file(name, bytes, open) {
  const at = path.join(folder, `${count++}-${name}`)
  fs.writeFileSync(at, bytes)
  return { t: open(at), file: at }
}

const saved = async (fn, name) => {
  const at = path.join(folder, name)
  fs.rmSync(at, { force: true })
  await fn(at)
  return fs.readFileSync(at)
}

/** What reads all: each gives bytes in which there are as many of ours as the tensor has. */
const READS = {
  clone: (t) => t.clone().bytes,
  copyFrom: (t) => empty([t.numel], 'uint8').copyFrom(t).bytes,
  'copyFrom, cast': (t) =>
    empty([t.numel], 'float64').copyFrom(t).astype('uint8', { casting: 'unsafe' }).bytes,
  'copyFrom, scaled': (t) =>
    empty([t.numel], 'float32').copyFrom(t, { scale: 1 }).astype('uint8', { casting: 'unsafe' })
      .bytes,
  copyFromAsync: async (t) =>
    (await empty([t.numel], { dtype: 'uint8', shared: true }).copyFromAsync(t)).bytes,
  toAsync: async (t) => (await t.toAsync('uint8', { copy: true })).bytes,
  contiguous: (t) => t.slice('::-1').contiguous().bytes,
  toArray: (t) => Buffer.from(t.toArray()),
  tolist: (t) => Buffer.from(t.view([1, t.numel]).tolist()[0]),
  JSON: (t) => Buffer.from(JSON.parse(JSON.stringify(t))),
  iteration: (t) => Buffer.from([...t]),
  accessor: (t) => {
    const a = t.accessor()
    return Uint8Array.from({ length: t.numel }, (_, i) => a.get(i))
  },
  concat: (t) => s.concat([t, t]).bytes,
  stack: (t) => s.stack([t, t]).bytes,
  tile: (t) => t.tile([2]).bytes,
  repeat: (t) => t.repeat(2).bytes,
  roll: (t) => t.roll(5).bytes,
  take: (t) => t.take(s.arange(t.numel, { dtype: 'int64' })).bytes,
  shareMemory: (t) => t.shareMemory().bytes,
  asarray: (t) => s.asarray(t, { copy: true }).bytes,
  tensor: (t) => s.tensor(t).bytes,
  __dlpack__: (t) => s.fromDlpack(t).clone().bytes,
  share: (t) => s.fromShared(s.share(t)).clone().bytes,
  toImageData: (t) =>
    t
      .narrow(0, 0, t.numel & ~3)
      .view([1, t.numel >> 2, 4])
      .toImageData().data,
  toNpyBytes: (t) => s.toNpyBytes(t),
  toNpzBytes: (t) => s.toNpzBytes({ a: t }),
  toSafetensorsBytes: (t) => s.toSafetensorsBytes({ a: t }),
  saveNpy: (t) => saved((at) => s.saveNpy(at, t), 'c.npy'),
  saveNpySync: (t) => saved((at) => s.saveNpySync(at, t), 'c.npy'),
  saveNpz: (t) => saved((at) => s.saveNpz(at, { a: t }), 'c.npz'),
  saveNpzSync: (t) => saved((at) => s.saveNpzSync(at, { a: t }), 'c.npz'),
  saveSafetensors: (t) => saved((at) => s.saveSafetensors(at, { a: t }), 'c.safetensors'),
  saveSafetensorsSync: (t) => saved((at) => s.saveSafetensorsSync(at, { a: t }), 'c.safetensors'),
}

/** Others: what they give is looked at by nobody. */
const USES = {
  get: (t, r) => t.get(r.next(t.numel)),
  'the last one': (t) => t.at(-1),
  text: (t) => `${t} ${Object.prototype.toString.call(t)}`,
  arrayEqual: (t) => s.arrayEqual(t, t.narrow(0, 0, t.numel)),
  allClose: (t) => s.allClose(t, t.slice('::-1')),
  data: (t) => t.data.reduce((a, b) => a + b, 0),
  bytes: (t) => t.bytes.at(-1),
  toBlob: (t) => s.fromBlob(t.toBlob()).clone(),
  fromBlob: (t) => s.fromBlob(t.data).clone(),
  fill: (t) => t.fill(BYTE),
  set: (t) => t.set(BYTE, t.numel - 1),
  setBytes: (t) => t.setBytes(FULL(t.numel)),
  copyInto: (t) => t.copyFrom(s.full([1], BYTE, 'uint8')),
  overlapping: (t) => t.narrow(0, 1, t.numel - 1).copyFrom(t.narrow(0, 0, t.numel - 1)),
  wait: (t, r, shared) => shared?.wait(0, 1, { timeout: 1 }),
  notify: (t, r, shared) => shared?.notify(0),
  'take by it': (t) => s.arange(300).take(t),
  'repeat by it': (t) => s.arange(t.numel).repeat(t),
}

/** Is every byte of a tensor of n there, besides a header? */
const countOf = (bytes) => {
  let n = 0
  for (const byte of bytes) if (byte === BYTE) n++
  return n
}

async function cut(program, r) {
  const n = PAGE * r.between(2, 6) + r.next(PAGE)
  const way = r.pick(Object.keys(WAYS))
  const { t, file: at, shared } = WAYS[way](r, n)
  const name = r.next(3) ? r.pick(Object.keys(READS)) : r.pick(Object.keys(USES))
  const what = `${name} of ${way}`
  const isHot = r.rarely(4)
  try {
    if (r.rarely(4)) program.call(`${what}, before`, () => t.clone())
    const end = fs.readFileSync(at).indexOf(FULL(n)) + n // of the data; a directory may follow
    const missing = r.next(2) ? 0 : r.next(Math.floor((end - 1) / PAGE) * PAGE + 1) // the data's last page goes, at least
    if (isHot) fs.writeFileSync(path.join(folder, 'hot', 'one'), at)
    else if (r.next(3)) fs.truncateSync(at, missing)
    for (let round = isHot ? 20 : 1; round > 0; round--) {
      const { value: bytes, error } = await program.later(what, async () =>
        (READS[name] ?? USES[name])(t, r, shared),
      )
      if (!isHot && name === 'saveNpy') fs.truncateSync(at, missing)
      const isOver =
        error !== undefined &&
        ![
          'ERR_IO',
          'ERR_READ_ONLY',
          'ERR_DTYPE',
          'ERR_SHAPE',
          'ERR_UNSUPPORTED',
          'ERR_BOUNDS',
          'ERR_ARGUMENT',
          'ERR_MEMORY',
        ].includes(error.code)
      if (isOver) program.fail(`${what}: ${error.stack}`)
      if (
        error === undefined &&
        name in READS &&
        countOf(bytes) < (name === 'toImageData' ? n & ~3 : n)
      ) {
        if (!isHot) {
          program.fail(
            `${what}: ${n - countOf(bytes)} of ${n} bytes are not what the file had; it was cut off at ${missing}, and nothing was said`,
          )
        }
      }
    }
  } finally {
    fs.rmSync(path.join(folder, 'hot', 'one'), { force: true })
    t.dispose()
    shared?.dispose()
    fs.rmSync(at, { force: true })
  }
}

async function ring(program, r) {
  const name = `sb-hostile-${process.pid}-r${count++}`
  const made = SharedRing.create(name, [r.pick([1, 1000, 5000])], {
    slots: r.between(1, 4),
    dtype: 'uint8',
  })
  const opened = SharedRing.open(name)
  const all = [made, opened]
  const deeds = {
    count: (on) => on.count,
    write: (on) => on.write(1),
    next: (on) => on.next().fill(2),
    commit: (on) => on.commit(),
    intact: (on) => on.intact(r.next(3)),
    read: (on) => {
      const frames = on.read({ signal: AbortSignal.timeout(5) })
      return frames.next().then(({ value }) => value?.tensor.clone())
    },
    open: () => {
      all.push(SharedRing.open(name))
    },
    dispose: (on) => {
      if (all.length > 2) on.dispose()
    },
  }
  program.isOwn = (error) => ['AbortError', 'TimeoutError'].includes(error.name)
  const steps = r.between(4, 16)
  const when = r.next(steps)
  for (let i = 0; i < steps; i++) {
    if (i === when) {
      const at = r.pick([made.path, made.controlPath])
      program.trace(`  ${at} becomes shorter`)
      fs.truncateSync(at, r.pick([0, 1, 64, 100, 128, 200]))
    }
    const deed = r.pick(Object.keys(deeds))
    const on = r.pick(all)
    await program.later(`ring: ${deed}`, async () => deeds[deed](on))
  }
  for (const each of all) program.call('ring: dispose', () => each.dispose())
  SharedRing.unlink(name)
}

async function run(program) {
  const { r } = program
  for (let i = program.long ? 40 : 12; i > 0; i--) {
    await (r.rarely(6) ? ring(program, r) : cut(program, r))
  }
}

module.exports = { backends: ['native'], programs: 30, before, after, run }
