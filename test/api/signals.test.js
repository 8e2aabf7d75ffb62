'use strict'
// Callers' signals that do what no AbortSignal does: every promise settles, nothing is uncaught, and nothing stays in use.
const assert = require('node:assert/strict')
const { needs } = require('../setup')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { Tensor, fromBlob, load, memory, ones, saveNpy, saveNpz, zeros } = require('samebytes')

const THROWN = new Error('thrown by the signal')
const REASON = new Error('the reason')
const ignore = () => {}

/** What has all that a signal has, and does what over says. */
function signalWith(over) {
  const signal = {
    aborted: false,
    reason: REASON,
    addEventListener: ignore,
    removeEventListener: ignore,
  }
  return Object.defineProperties(signal, Object.getOwnPropertyDescriptors(over))
}

/** What it says when it is asked, the last one for ever after. */
function saying(...answers) {
  let asked = 0
  return () => answers[Math.min(asked++, answers.length - 1)]
}

const fails = () => {
  throw THROWN
}
const inTurn = (answer) => ({
  get aborted() {
    return answer()
  },
})

/** [what it does, the signal, what the promise is rejected with; undefined: it is not] */
const SIGNALS = [
  ['throws when its listener is removed', () => signalWith({ removeEventListener: fails })],
  ['never tells', () => signalWith({})],
  [
    'keeps its listeners, and calls them late',
    () => {
      const kept = []
      setTimeout(() => {
        for (const listener of kept) listener()
      }, 200).unref()
      return signalWith({ addEventListener: (_, listener) => kept.push(listener) })
    },
  ],
  [
    'throws when it is asked',
    () =>
      signalWith({
        get aborted() {
          throw THROWN
        },
      }),
    THROWN,
  ],
  [
    'throws when it is asked why',
    () =>
      signalWith({
        aborted: true,
        get reason() {
          throw THROWN
        },
      }),
    THROWN,
  ],
  ['is aborted for no reason', () => signalWith({ aborted: true, reason: undefined }), 'nothing'],
  ['is aborted for a reason that is NaN', () => signalWith({ aborted: true, reason: NaN }), 'NaN'],
  ['is aborted once', () => signalWith(inTurn(saying(true, false))), REASON],
  [
    'changes its reason',
    () => {
      const reasons = saying(REASON, new Error('another'))
      return signalWith({
        aborted: true,
        get reason() {
          return reasons()
        },
      })
    },
    REASON,
  ],
]

/** The same, of what is only seen where somebody listens. */
const LISTENED = [
  ['throws when it is listened to', () => signalWith({ addEventListener: fails }), THROWN],
  [
    'calls its listener at once',
    () => signalWith({ addEventListener: (_, listener) => listener() }),
    REASON,
  ],
  [
    'calls its listener at once, twice, and throws',
    () =>
      signalWith({
        addEventListener(_, listener) {
          listener()
          listener()
          throw THROWN
        },
        removeEventListener: fails,
      }),
    REASON,
  ],
]

/** What it was rejected with, as the tables say it. */
async function outcome(promise) {
  try {
    await promise
  } catch (error) {
    return error === undefined ? 'nothing' : Number.isNaN(error) ? 'NaN' : error
  }
}

const storageOf = (t) => Tensor.layoutOf(t).storage

/** As many tensors as said claim each, and nobody uses it. */
function areFree(storages, claims) {
  assert.equal(memory().inFlight, 0)
  for (const storage of storages) {
    assert.deepEqual(
      [Math.max(0, storage.claims), storage.optional?.busy ?? 0, storage.optional?.written ?? 0],
      [claims, 0, 0],
    )
  }
}

const HOMES = {
  'of their own': () => [zeros([700, 300]), ones([700, 300])],
  'that other threads see': () => [
    zeros([700, 300], { shared: true }),
    ones([700, 300], { shared: true }),
  ],
  'of a SharedArrayBuffer': () => [
    zeros([700, 300], { shared: 'sab' }),
    ones([700, 300], { shared: 'sab' }),
  ],
  "of the caller's": () => [
    fromBlob(new Float32Array(210000), [700, 300]),
    fromBlob(new Float32Array(210000).fill(1), [700, 300]),
  ],
}

describe('a signal', () => {
  needs('a Node of its own')

  it('keeps no listener of a call that it has ended, whose work may never settle', async () => {
    const { getEventListeners } = require('node:events')
    const { signalOf, unlessAborted } = require('../../js/base/signals')
    const controller = new AbortController()
    const settled = unlessAborted(signalOf(controller.signal), new Promise(ignore)).catch(
      (error) => error,
    )
    assert.equal(getEventListeners(controller.signal, 'abort').length, 1)
    controller.abort(REASON)
    assert.equal(await settled, REASON)
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  })
})

describe("copyFromAsync with a signal of the caller's own", () => {
  needs('a Node of its own')
  for (const [home, make] of Object.entries(HOMES)) {
    const isListened = home === 'that other threads see' || home.startsWith('of a Shared')
    for (const [what, signal, rejected] of [...SIGNALS, ...LISTENED]) {
      it(`that ${what}, for float32 bytes ${home}`, async () => {
        const [dst, src] = make()
        const storages = [storageOf(dst), storageOf(src)]
        const settled = await outcome(dst.copyFromAsync(src, { signal: signal() }))
        const isSeen =
          rejected === undefined ||
          SIGNALS.some(([name]) => name === what) ||
          (isListened && settled !== undefined)
        assert.equal(settled, isSeen ? rejected : undefined)
        if (settled === undefined) assert.deepEqual([dst.get(0, 0), dst.get(699, 299)], [1, 1])
        dst.fill(3) // ERR_BUSY, were it still in use
        src.resize(699, 300)
        areFree(storages, 1)
      })
    }

    for (const part of ['aborted', 'addEventListener', 'removeEventListener', 'reason']) {
      it(`whose ${part} disposes both tensors, for float32 bytes ${home}`, async () => {
        const [dst, src] = make()
        const storages = [storageOf(dst), storageOf(src)]
        const dispose = () => {
          dst.dispose()
          src.dispose()
        }
        const over =
          part === 'aborted'
            ? {
                get aborted() {
                  dispose()
                  return false
                },
              }
            : part === 'reason'
              ? {
                  aborted: true,
                  get reason() {
                    dispose()
                    return REASON
                  },
                }
              : { [part]: dispose }
        const settled = await outcome(dst.copyFromAsync(src, { signal: signalWith(over) }))
        assert.ok(
          [undefined, REASON].includes(settled) || settled.code === 'ERR_DISPOSED',
          String(settled),
        )
        dispose()
        areFree(storages, 0)
      })
    }
  }

  it('that takes the bytes away when it is asked again is ERR_DETACHED', async () => {
    for (let times = 1; times < 4; times++) {
      const buffer = new ArrayBuffer(1200000)
      const src = fromBlob(buffer, [300000], 'float32')
      const dst = zeros([300000])
      let asked = 0
      const signal = signalWith({
        get aborted() {
          if (++asked === times) structuredClone(buffer, { transfer: [buffer] })
          return false
        },
      })
      assert.equal((await outcome(dst.copyFromAsync(src, { signal })))?.code, 'ERR_DETACHED')
      dst.fill(1)
      assert.equal(memory().inFlight, 0)
    }
  })

  it('that resizes and fills when it is asked finds both in use', async () => {
    const [dst, src] = [zeros([300000]), ones([300000])]
    const codes = []
    let asked = 0
    const signal = signalWith({
      get aborted() {
        if (asked++ === 0) return false // nothing was looked at yet
        try {
          dst.fill(5)
        } catch ({ code }) {
          codes.push(code)
        }
        try {
          src.resize(3)
        } catch ({ code }) {
          codes.push(code)
        }
        return false
      },
    })
    assert.equal(await outcome(dst.copyFromAsync(src, { signal })), undefined)
    assert.ok(asked > 1)
    assert.deepEqual(codes, new Array(2 * (asked - 1)).fill('ERR_BUSY'))
    assert.equal(dst.get(299999), 1)
  })
})

describe("saving and loading with a signal of the caller's own", () => {
  needs('a Node of its own')
  let folder
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-'))
  })
  after(() => fs.rmSync(folder, { recursive: true, force: true }))

  for (const [what, signal, rejected] of SIGNALS) {
    it(`that ${what}`, async () => {
      const file = path.join(folder, 'a.npy')
      const t = ones([3, 5])
      for (const run of [
        () => saveNpy(file, t, { signal: signal() }),
        () => saveNpz(path.join(folder, 'a.npz'), { t }, { signal: signal() }),
      ]) {
        assert.equal(await outcome(run()), rejected)
        t.fill(1)
      }
      await saveNpy(file, t)
      const left = fs.readdirSync(folder)
      assert.equal(
        await outcome(
          load(file, { signal: signal() }).then((loaded) => {
            loaded.dispose()
          }),
        ),
        rejected,
      )
      assert.deepEqual(fs.readdirSync(folder), left)
      areFree([storageOf(t)], 1)
    })
  }

  it('that resizes the tensor: what is written is whole', async () => {
    const t = ones([40, 3])
    const codes = []
    const signal = signalWith({
      get aborted() {
        try {
          t.resize(4, 3)
        } catch ({ code }) {
          codes.push(code)
        }
        return false
      },
    })
    for (const [name, save] of [
      ['b.npy', (file) => saveNpy(file, t, { signal })],
      ['b.npz', (file) => saveNpz(file, { t }, { signal })],
    ]) {
      const file = path.join(folder, name)
      await save(file)
      const found = await load(file)
      assert.deepEqual(
        (name === 'b.npy' ? found : found.get('t')).toArray(),
        ones([40, 3]).toArray(),
      )
    }
    assert.ok(codes.length >= 4 && codes.every((code) => code === 'ERR_BUSY'), String(codes))
  })

  it('that throws while a member is inflated', async () => {
    const zlib = require('node:zlib')
    const { toNpyBytes } = require('samebytes')
    const file = path.join(folder, 'deflated.npz')
    const array = Buffer.from(toNpyBytes(zeros([2 ** 20])))
    fs.writeFileSync(file, zipOf('a.npy', array, zlib.deflateRawSync(array), crcOf(array)))
    assert.deepEqual((await load(file)).get('a').shape, [2 ** 20])
    let asks = 0
    await load(file, {
      signal: signalWith({
        get aborted() {
          asks++
          return false
        },
      }),
    })
    for (let n = 1; n <= asks; n++) {
      let asked = 0
      const signal = signalWith({
        get aborted() {
          if (++asked === n) throw THROWN
          return false
        },
      })
      assert.equal(await outcome(load(file, { signal })), THROWN, `at ${n} of ${asks}`)
    }
    assert.equal(memory().inFlight, 0)
  })
})

/** CRC-32, bit by bit. */
function crcOf(bytes) {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let k = 0; k < 8; k++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1
  }
  return ~crc >>> 0
}

/** A zip of one deflated member. */
function zipOf(name, bytes, packed, crc) {
  const common = Buffer.alloc(26)
  common.writeUInt16LE(20, 0)
  common.writeUInt16LE(8, 4)
  common.writeUInt32LE(crc, 10)
  common.writeUInt32LE(packed.length, 14)
  common.writeUInt32LE(bytes.length, 18)
  common.writeUInt16LE(name.length, 22)
  const head = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed])
  const entry = Buffer.concat([
    Buffer.from('PK\x01\x02\x14\x00'),
    common,
    Buffer.alloc(14),
    Buffer.from(name),
  ])
  const end = Buffer.alloc(18)
  end.writeUInt16LE(1, 4)
  end.writeUInt16LE(1, 6)
  end.writeUInt32LE(entry.length, 8)
  end.writeUInt32LE(head.length, 12)
  return Buffer.concat([head, entry, Buffer.from('PK\x05\x06'), end])
}

describe('iterables whose return() throws', () => {
  needs('a Node of its own')
  it('do not hide what was wrong', async () => {
    const { tensor, toNpzBytes } = require('samebytes')
    const bad = () => ({
      [Symbol.iterator]: () => ({
        next: () => ({ done: false, value: [1, zeros([1])] }),
        return: fails,
      }),
    })
    assert.throws(() => toNpzBytes(bad()), { code: 'ERR_ARGUMENT' })
    await assert.rejects(saveNpz(path.join(os.tmpdir(), 'never.npz'), bad()), {
      code: 'ERR_ARGUMENT',
    })
    assert.throws(
      () => tensor([[1, 2], { [Symbol.iterator]: fails }]),
      (error) => error === THROWN,
    )
  })
})
