'use strict'
// What others could have made up: tokens, records, descriptors, capsules, the headers of segments and of rings. Nothing here claims a
// raw address: who gives one vouches for it. Each is refused, or is a tensor within bytes that are there.

const fs = require('node:fs')
const s = require('samebytes')
const corpora = require('../../corpora')
const { npyOf } = require('../../files')
const { NAMES, clean, isNative } = require('../calls')
const { strange } = require('../values')
const { Bystanders, used } = require('../witness')

const { SharedRing, SharedTensor, Tensor } = s
const SMALL = [0, 1, 2, 3, -1, 2 ** 31, 2 ** 32, 2 ** 53]

/** One field of it, or a few, are something else. */
function mutated(r, object, left = []) {
  const copy = { ...object }
  for (const key of r
    .shuffle(Object.keys(copy).filter((key) => !left.includes(key)))
    .slice(0, r.pick([1, 1, 2, 4]))) {
    const old = copy[key]
    copy[key] = r.either(
      () => strange(r, old),
      () =>
        typeof old === 'number'
          ? old + r.pick([1, -1, 2 ** 32, 8, 64, -64])
          : Array.isArray(old)
            ? [...old, 2]
            : r.pick(SMALL),
      () =>
        typeof old === 'bigint'
          ? old + r.pick([1n, -1n, 1n << 32n])
          : Array.isArray(old)
            ? old.map((x) => (r.next(2) ? x : r.pick(SMALL)))
            : old,
      () => undefined,
      () => {
        delete copy[key]
        return undefined
      },
    )
    if (copy[key] === undefined && r.next(2)) delete copy[key]
  }
  return copy
}

const DEEDS = {
  token(program, r) {
    const t = s.zeros([4, 3], { shared: r.pick(['sab', true]), dtype: r.dtype() })
    const token = s.share(t, { uses: r.pick([1, 3]) })
    const forged = r.either(
      () => mutated(r, token),
      () => mutated(r, structuredClone(token)),
      () => Object.create(token),
      () => new Proxy(token, {}),
      () => JSON.parse(JSON.stringify(token, (key, x) => (typeof x === 'bigint' ? Number(x) : x))),
    )
    const { value } = program.call('fromShared of a forged token', () =>
      s.fromShared(forged, r.pick([undefined, {}, 3])),
    )
    if (Tensor.isTensor(value)) used(program, 'fromShared of a forged token', value)
    program.call('unshare of a forged token', () => s.unshare(forged))
    program.call('unshare', () => s.unshare(token))
    program.call('fromShared of a used token', () => s.fromShared(token))
  },
  record(program, r) {
    const base = s.full([64], 1, r.dtype())
    const t = r.either(
      () => base,
      () => base.narrow(0, 8, 16),
      () => base.view([8, 8]).T,
    )
    const record = t.toBlob()
    const forged = mutated(r, record, ['ptr'])
    // Its own record, changed in place, stands for the bytes that it was made of; a copy would claim an address.
    const inPlace = tried(() => Object.assign(record, forged))
    if (inPlace === undefined) return
    for (const key of Object.keys(record)) {
      if (!(key in forged) && key !== 'ptr') tried(() => delete record[key])
    }
    const { value } = program.call('fromBlob of a changed record', () => s.fromBlob(record))
    if (!Tensor.isTensor(value)) return
    used(program, 'fromBlob of a changed record', value)
  },
  descriptor(program, r) {
    if (!isNative) return
    const name = r.next(2) ? NAMES[0] : null
    const made = SharedTensor.create(name, [3, 5], {
      dtype: r.dtype(),
      ...(name === null ? {} : { ifExists: 'replace', guard: r.next(2) === 1 }),
    })
    const { value } = program.call('SharedTensor.open of a forged descriptor', () =>
      SharedTensor.open(mutated(r, made.descriptor)),
    )
    shown(program, 'a forged descriptor', value)
    made.dispose()
    clean()
  },
  capsule(program, r) {
    const t = s.full([6], 2)
    const capsule = isNative ? t.__dlpack__(r.pick([undefined, { maxVersion: [1, 0] }])) : {}
    const forged = r.either(
      () => ({ __dlpack__: () => strange(r, capsule), __dlpack_device__: () => [1, 0] }),
      () => ({ __dlpack__: () => capsule, __dlpack_device__: () => strange(r, [1, 0]) }),
      () => ({
        __dlpack__() {
          s.fromDlpack(capsule)
          return capsule
        },
        __dlpack_device__: () => [1, 0],
      }),
      () => capsule,
      () => strange(r, capsule),
      () => new Proxy(capsule, {}),
    )
    for (let i = 0; i < 2; i++) {
      const { value } = program.call('fromDlpack of a forged capsule', () => s.fromDlpack(forged))
      if (Tensor.isTensor(value)) used(program, 'fromDlpack of a forged capsule', value)
      if (r.next(2)) t.dispose()
    }
  },
  ort(program, r) {
    const x = mutated(r, {
      type: 'float32',
      dims: [2, 3],
      data: new Float32Array(6),
      location: 'cpu',
    })
    const { value } = program.call('fromOrt of what was made up', () => s.fromOrt(x))
    if (Tensor.isTensor(value)) used(program, 'fromOrt', value)
  },
  'header of a segment'(program, r) {
    if (!isNative) return
    const made = SharedTensor.create(NAMES[0], [r.between(1, 60)], {
      dtype: 'uint8',
      format: 'raw',
      ifExists: 'replace',
    })
    const { plain, bad } = corpora.npyFiles()
    const bytes = Buffer.from(
      r.either(
        plain,
        () => r.pick(Object.values(bad)),
        () =>
          npyOf(
            r.pick(['<f4', '|u1', '<i8', '<c16', '>f2']),
            `(${r.pick([0, 1, 7, 1000, 2 ** 40])}, ${r.pick([1, 3, 2 ** 31])})`,
            Buffer.alloc(r.next(200)),
          ),
      ),
    )
    if (r.next(2) && bytes.length > 0) bytes[r.next(Math.min(bytes.length, 100))] = r.next(256)
    fs.writeFileSync(made.path, bytes)
    const { value } = program.call('SharedTensor.open of a forged header', () =>
      SharedTensor.open(NAMES[0], { guard: true }),
    )
    shown(program, 'a forged header', value)
    made.dispose()
  },
  async 'words of a ring'(program, r) {
    if (!isNative) return
    const ring = SharedRing.create(NAMES[1], [5], {
      slots: r.between(1, 4),
      dtype: 'uint8',
      ifExists: 'replace',
    })
    ring.write(1)
    const fd = fs.openSync(ring.controlPath, 'r+')
    const words = new BigUint64Array(1)
    for (let n = r.between(1, 6); n > 0; n--) {
      words[0] = r.pick([
        0n,
        1n,
        2n,
        3n,
        2n ** 31n,
        2n ** 32n - 1n,
        2n ** 53n,
        2n ** 63n,
        2n ** 64n - 1n,
        BigInt(r.uint32()),
      ])
      fs.writeSync(fd, new Uint8Array(words.buffer), 0, 8, 128 + 8 * r.next(24))
    }
    if (r.rarely(3)) fs.writeSync(fd, r.bytes(20), 0, 20, r.next(128))
    fs.closeSync(fd)
    program.isOwn = (error) => ['AbortError', 'TimeoutError'].includes(error.name)
    const { value: opened } = program.call('SharedRing.open of forged words', () =>
      SharedRing.open(NAMES[1]),
    )
    for (const on of [ring, ...(opened === undefined ? [] : [opened])]) {
      program.call('ring: count', () => on.count)
      program.call('ring: next', () => on.next().fill(1))
      program.call('ring: commit', () => on.commit())
      program.call('ring: write', () => on.write(2))
      program.call('ring: intact', () => on.intact(r.pick([0, 1, 2 ** 31, 2 ** 53 - 1])))
      const { value } = await program.later('ring: read', () =>
        on
          .read({ from: r.pick([undefined, 0, 1, 2 ** 40]), signal: AbortSignal.timeout(3) })
          .next(),
      )
      if (value?.value !== undefined) used(program, 'ring: read', value.value.tensor)
      on.dispose()
    }
    SharedRing.unlink(NAMES[1])
  },
}

/** What a segment shows, if it could be opened. */
function shown(program, what, shared) {
  if (shared === undefined) return
  const { value: t } = program.call(`${what}: its tensor`, () => shared.tensor)
  if (t !== undefined) used(program, what, t)
  shared.dispose()
}

const tried = (fn) => {
  try {
    return fn()
  } catch {}
}

async function run(program) {
  const { r } = program
  s.setMemoryLimit(2 ** 26)
  const others = new Bystanders(r)
  for (let i = program.long ? 200 : 40; i > 0; i--) {
    program.isOwn = (error) =>
      error instanceof TypeError &&
      /revoked|proxy|Receiver must be|private member/i.test(error.message)
    await DEEDS[r.pick(Object.keys(DEEDS))](program, r)
    if (r.rarely(10)) others.check(program, 'what is forged')
  }
  others.check(program, 'in the end')
  others.dispose()
  clean()
}

module.exports = {
  backends: ['native', 'wasm', 'wasm-shared'],
  programs: 24,
  run,
  flags: () => ['--max-old-space-size=256'],
}
