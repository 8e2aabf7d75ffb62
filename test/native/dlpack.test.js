'use strict'
const assert = require('node:assert/strict')
const { Worker } = require('node:worker_threads')
const {
  empty,
  flush,
  fromBlob,
  fromDlpack,
  memory,
  sharesMemory,
  tensor,
  zeros,
} = require('samebytes')
const {
  childJson,
  collectAll,
  collectUntil,
  copied,
  fails,
  can,
  generator,
  nativeOnly,
  refuses,
  settledMemory,
  turn,
} = require('../setup')
const { addonOf } = require('../tools')

const NEW = { maxVersion: [1, 0] }
const dims = (...list) => BigInt64Array.from(list, BigInt)

const PEER = addonOf('test/peers/dlpack', 'dlpack_peer')
const peer = can('the addon') ? require(PEER) : null

/** A float32 [2, 3] of the peer's: bytes 0, 1, 2, …, and whatever spec says. */
const give = (spec) => peer.give({ shape: dims(2, 3), strides: dims(3, 1), ndim: 2, ...spec })
/** The bytes of its elements, in logical order. */
function bytesOf(t) {
  const out = zeros(t.shape, t.dtype)
  const list = [...out.copyFrom(t).bytes]
  out.dispose()
  return list
}

/** Until the loans of this thread are down to so many. */
async function untilExported(n) {
  for (let i = 0; i < 1000 && memory().exported !== n; i++) await turn()
  assert.equal(memory().exported, n)
}

describe('__dlpack__', () => {
  nativeOnly()

  it('gives another addon the float32 bytes of a tensor, with shape and strides', async () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    const { result: capsule, copies } = copied(() => t.T.slice('1:').__dlpack__(NEW))
    assert.deepEqual(copies, {})
    assert.equal(memory().exported, 1)
    const { id, address, ...rest } = peer.take(capsule)
    assert.deepEqual(rest, {
      versioned: 1,
      major: 1,
      minor: 2,
      flags: 0,
      code: 2,
      bits: 32,
      lanes: 1,
      ndim: 2,
      deviceType: 1,
      deviceId: 0,
      byteOffset: 0,
      shape: [2, 2],
      strides: [1, 3],
    })
    assert.equal(address, t.dataPtr + 4n)
    assert.equal(peer.element(id, 1, 60), 3) // written there, read here
    assert.equal(t.get(0, 2), 60)
    t.set(50, 1, 1)
    assert.equal(peer.element(id, 3), 50)
    peer.free(id)
    await untilExported(0)
  })

  it('is legacy without maxVersion, and where a consumer knows none from 1.0 on', async () => {
    const t = tensor([1, 2])
    for (const opts of [undefined, {}, { maxVersion: null }, { maxVersion: [0, 8] }]) {
      const { id, versioned, strides } = peer.take(t.__dlpack__(opts))
      assert.equal(versioned, 0)
      assert.deepEqual(strides, [1])
      peer.free(id)
    }
    for (const maxVersion of [
      [1, 0],
      [1, 9],
      [2, 0],
    ]) {
      const { id, versioned, major } = peer.take(t.__dlpack__({ maxVersion }))
      assert.deepEqual([versioned, major], [1, 1])
      peer.free(id)
    }
    await untilExported(0)
  })

  it("holds V8's bytes, past dispose and collection, until they are freed", async () => {
    const { id } = (() => {
      const t = empty([64, 64]).fill(7)
      const taken = peer.take(t.__dlpack__(NEW))
      t.dispose()
      return taken
    })()
    await collectAll()
    for (let i = 0; i < 200; i++) zeros([64, 64]).fill(1)
    assert.equal(peer.element(id, 0), 7)
    assert.equal(peer.element(id, 4095), 7)
    const { storages } = memory()
    peer.free(id)
    await untilExported(0)
    assert.ok(memory().storages < storages)
  })

  it('keeps what a tensor over an address has to keep', async () => {
    let gone = false
    const registry = new FinalizationRegistry(() => {
      gone = true
    })
    const taken = (() => {
      const owner = { bytes: zeros([4], { shared: true }).fill(3) }
      registry.register(owner)
      return peer.take(
        fromBlob(owner.bytes.dataPtr, [4], { dtype: 'float32', owner }).__dlpack__(NEW),
      )
    })()
    await collectAll()
    assert.equal(gone, false)
    assert.equal(peer.element(taken.id, 3), 3)
    peer.free(taken.id)
    assert.equal(await collectUntil(() => gone), true)
  })

  it("marks V8's buffer, so that nobody transfers it away", async () => {
    const t = empty([2048]).fill(5)
    const { id } = peer.take(t.__dlpack__(NEW))
    try {
      structuredClone(t.data, { transfer: [t.data.buffer] })
    } catch {} // Node 20 copies, later versions throw
    assert.equal(t.get(0), 5)
    assert.equal(peer.element(id, 2047), 5)
    peer.free(id)
    await untilExported(0)
    const shrinks = fromBlob(new Float32Array(new ArrayBuffer(16, { maxByteLength: 64 })))
    refuses(() => shrinks.__dlpack__(NEW), 'ERR_UNSUPPORTED')
    const { id: copy } = peer.take(shrinks.__dlpack__({ ...NEW, copy: true }))
    peer.free(copy)
  })

  it('can be freed on another thread', async () => {
    for (const make of [
      () => empty([8]).fill(1),
      () => zeros([8], { shared: true }),
      () => zeros([8], { shared: 'sab' }),
      () => fromBlob(new Float32Array(8)),
    ]) {
      const { id } = peer.take(make().__dlpack__(NEW))
      assert.equal(memory().exported, 1)
      peer.free(id, true)
      await untilExported(0)
    }
  })

  it('is freed when its capsule is collected unused', async () => {
    const t = zeros([4], { shared: true })
    const before = memory().exported
    ;(() => {
      t.__dlpack__(NEW)
      t.__dlpack__()
    })()
    assert.equal(memory().exported, before + 2)
    assert.equal(await collectUntil(() => memory().exported === before), true)
  })

  it('with copy: true gives bytes that nobody else sees, dense and writable', () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ]).flip()
    for (const opts of [{ copy: true }, { copy: true, ...NEW }]) {
      const { result: capsule, copies } = copied(() => t.__dlpack__(opts))
      assert.deepEqual(copies, { __dlpack__: { count: 1, bytes: 24 } })
      const { id, flags, strides, address } = peer.take(capsule)
      assert.equal(flags, opts.maxVersion && 2)
      assert.deepEqual(strides, [3, 1])
      assert.notEqual(address, t.dataPtr)
      assert.equal(peer.element(id, 0, 99), 6)
      assert.equal(t.get(0, 0), 6)
      peer.free(id, true)
    }
    assert.equal(memory().exported, 0)
    for (const copy of [false, null]) peer.free(peer.take(t.__dlpack__({ ...NEW, copy })).id)
  })

  it('says that a tensor is read-only, or refuses where it cannot be said', () => {
    const t = fromBlob(Float32Array.of(1, 2), [2], { readOnly: true })
    const { id, flags } = peer.take(t.__dlpack__(NEW))
    assert.equal(flags, 1)
    peer.free(id)
    fails(() => t.__dlpack__(), Error, 'ERR_READ_ONLY', /copy: true/)
    peer.free(peer.take(t.__dlpack__({ copy: true })).id)
    assert.equal(fromDlpack(t.__dlpack__(NEW)).isReadOnly, true)
    assert.equal(fromDlpack(t).isReadOnly, true)
  })

  for (const dtype of ['bool', 'float8_e4m3fn', 'float8_e5m2']) {
    it(`of ${dtype} is refused in a legacy capsule, and right in one of 1.x`, () => {
      const t = zeros([3], dtype)
      fails(() => t.__dlpack__(), TypeError, 'ERR_DTYPE', /view\('uint8'\)/)
      fails(() => t.__dlpack__({ copy: true }), TypeError, 'ERR_DTYPE')
      peer.free(peer.take(t.view('uint8').__dlpack__()).id)
      const { id, code, bits } = peer.take(t.__dlpack__(NEW))
      assert.deepEqual([code, bits], [{ bool: 6, float8_e4m3fn: 10, float8_e5m2: 12 }[dtype], 8])
      peer.free(id)
    })
  }

  it('of negative strides is refused in a legacy capsule: PyTorch 1 would end the process', () => {
    const t = tensor([1, 2, 3]).flip()
    fails(() => t.__dlpack__(), Error, 'ERR_UNSUPPORTED', /negative/)
    const { id, strides, address } = peer.take(t.__dlpack__(NEW))
    assert.deepEqual(strides, [-1])
    assert.equal(address, t.dataPtr)
    assert.equal(peer.element(id, -2), 1)
    peer.free(id)
    assert.equal(memory().exported, 0)
  })

  it('of no elements holds nothing; of no axes it is one element', () => {
    for (const opts of [undefined, NEW]) {
      const { id, address, shape } = peer.take(zeros([2, 0]).slice('::-1').__dlpack__(opts))
      assert.deepEqual([address, shape], [0n, [2, 0]])
      assert.equal(memory().exported, 0)
      peer.free(id)
      const one = peer.take(tensor(5).__dlpack__(opts))
      assert.deepEqual([one.ndim, one.shape], [0, []])
      assert.equal(peer.element(one.id, 0), 5)
      peer.free(one.id)
    }
  })

  it('refuses other devices, streams and words', () => {
    const t = zeros([2])
    fails(() => t.__dlpack__({ dlDevice: [2, 0] }), Error, 'ERR_DEVICE', /dlDevice/)
    fails(() => t.__dlpack__({ dlDevice: [1] }), TypeError, 'ERR_ARGUMENT', /dlDevice/)
    fails(() => t.__dlpack__({ stream: 1 }), TypeError, 'ERR_ARGUMENT', /stream/)
    fails(() => t.__dlpack__({ maxVersion: [-1, 0] }), RangeError, 'ERR_BOUNDS', /maxVersion/)
    fails(() => t.__dlpack__({ maxVersion: 1 }), TypeError, 'ERR_ARGUMENT', /maxVersion/)
    fails(() => t.__dlpack__({ copy: 'yes' }), TypeError, 'ERR_ARGUMENT', /copy/)
    assert.deepEqual(t.__dlpack_device__(), [1, 0])
    peer.free(peer.take(t.__dlpack__({ dlDevice: [1, 0], stream: null, copy: null })).id)
  })

  it('is one capsule, which goes to no other thread', () => {
    const capsule = zeros([2]).__dlpack__(NEW)
    assert.throws(() => structuredClone(capsule), { name: 'DataCloneError' })
    peer.free(peer.take(capsule).id)
    assert.equal(peer.take(capsule), 'used')
  })
})

describe('fromDlpack', () => {
  nativeOnly()

  for (const versioned of [true, false]) {
    it(`reads and writes another addon's bytes, ${versioned ? '1.x' : 'legacy'}, and frees them once`, async () => {
      const before = settledMemory().storages
      const [capsule, id] = give({ versioned, byteOffset: 8n, strides: dims(1, 2) })
      const { result: t, copies } = copied(() => fromDlpack(capsule))
      assert.deepEqual(copies, {})
      assert.deepEqual(
        [t.dtype, t.shape, t.strides, t.isReadOnly],
        ['float32', [2, 3], [1, 2], false],
      )
      assert.deepEqual(
        bytesOf(t),
        [
          8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30,
          31,
        ],
      )
      t.fill(0)
      assert.equal(peer.byte(id, 8), 0)
      assert.equal(peer.byte(id, 32), 32)
      peer.byte(id, 8 + 2, 0x80) // 2^-126 * 2^… of a float32: any that is not 0
      assert.notEqual(t.get(0, 0), 0)
      const view = t.T
      t.dispose()
      assert.equal(peer.calls(id), 0)
      view.dispose()
      assert.equal(peer.calls(id), 1)
      assert.equal(memory().storages, before)
    })
  }

  it('frees when tensor and typed arrays were collected, however dropped', async () => {
    const [capsule, id] = give()
    ;(() => {
      fromDlpack(capsule).slice(0).data[0] = 1
    })()
    assert.equal(await collectUntil(() => peer.calls(id) === 1), true)
    const [, unused] = give()
    assert.equal(await collectUntil(() => peer.calls(unused) === 1), true)
    assert.equal(peer.calls(id), 1)
  })

  it('takes objects with __dlpack__, asks for 1.x, and looks at their device first', () => {
    const asked = []
    const object = {
      __dlpack_device__() {
        asked.push(this === object)
        return [1, 0]
      },
      __dlpack__(opts) {
        asked.push(this === object, opts)
        return give()[0]
      },
    }
    fromDlpack(object).dispose()
    assert.deepEqual(asked, [true, true, { maxVersion: [1, 2] }])
    fromDlpack({ __dlpack__: () => give({ versioned: false })[0] }).dispose()
    fromDlpack({
      __dlpack_device__: () => [3, 0],
      __dlpack__: () => give({ deviceType: 3 })[0],
    }).dispose()
    for (const device of [[8, 0], [-1, 0], undefined, null]) {
      fails(
        () =>
          fromDlpack({
            __dlpack_device__: () => device,
            __dlpack__() {
              assert.fail('asked for')
            },
          }),
        Error,
        'ERR_DEVICE',
        /device/,
      )
    }
    for (const device of [[1], 'cpu', [1.5, 0]]) {
      refuses(
        () => fromDlpack({ __dlpack_device__: () => device, __dlpack__: () => give()[0] }),
        'ERR_ARGUMENT',
        'ERR_BOUNDS',
      )
    }
    const mine = new Error('mine')
    assert.throws(
      () =>
        fromDlpack({
          __dlpack__() {
            throw mine
          },
        }),
      mine,
    )
    for (const wrong of [undefined, null, 5, {}, peer]) {
      fails(() => fromDlpack({ __dlpack__: () => wrong }), TypeError, 'ERR_ARGUMENT', /capsule/)
    }
  })

  it('takes a capsule once', () => {
    const [capsule, id] = give()
    const t = fromDlpack(capsule)
    fails(() => fromDlpack(capsule), Error, 'ERR_STALE', /used/)
    assert.equal(peer.take(capsule), 'used')
    t.dispose()
    assert.equal(peer.calls(id), 1)
    const [other] = give()
    peer.free(peer.take(other).id)
    fails(() => fromDlpack(other), Error, 'ERR_STALE')
  })

  it('leaves a capsule that it refuses to whoever can use it', () => {
    const [capsule, id] = give({ code: 3 })
    fails(() => fromDlpack(capsule), TypeError, 'ERR_DTYPE', /code 3/)
    fails(() => fromDlpack(capsule), TypeError, 'ERR_DTYPE')
    assert.equal(peer.calls(id), 0)
    peer.free(peer.take(capsule).id)
    assert.equal(peer.calls(id), 1)
  })

  it("of the same thread's own capsule is the same storage", async () => {
    const t = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
    const back = fromDlpack(t.slice(1, '1:').__dlpack__())
    assert.deepEqual([back.toArray(), back.offset], [[5, 6], 4])
    assert.ok(sharesMemory(t, back))
    await untilExported(0) // nothing is lent
    t.dispose()
    back.set(50, 0)
    assert.deepEqual(back.toArray(), [50, 6])
    const sent = tensor([1, 2], { shared: true })
    assert.equal(fromDlpack(sent.flip().__dlpack__(NEW)).dataPtr, sent.dataPtr + 4n)
    await untilExported(0)
  })

  it('of a tensor is a tensor over the same bytes', () => {
    const t = tensor([1, 2, 3])
    const again = fromDlpack(t)
    again.set(9, 1)
    assert.equal(t.get(1), 9)
    t.dispose()
    assert.deepEqual(again.toArray(), [1, 9, 3])
    fails(() => fromDlpack(t), Error, 'ERR_DISPOSED')
  })

  it("copies with copy: true, counts that, and frees the producer's at once", () => {
    const before = settledMemory().storages
    const [capsule, id] = give({ strides: dims(1, 2) })
    const { result: t, copies } = copied(() => fromDlpack(capsule, { copy: true }))
    assert.deepEqual(copies, { fromDlpack: { count: 1, bytes: 24 } })
    assert.equal(peer.calls(id), 1)
    assert.deepEqual([t.shape, t.strides, t.isReadOnly], [[2, 3], [1, 2], false])
    assert.deepEqual(bytesOf(t).slice(0, 4), [0, 1, 2, 3])
    t.dispose()
    assert.equal(memory().storages, before)
    const sealed = fromBlob(Float32Array.of(1, 2), { readOnly: true })
    const { result: own, copies: counted } = copied(() => fromDlpack(sealed, { copy: true }))
    assert.deepEqual(counted, { fromDlpack: { count: 1, bytes: 8 } })
    assert.equal(own.isReadOnly, false)
    own.set(9, 0)
    assert.equal(sealed.get(0), 1)
  })

  it('never copies with copy: false, and asks the producer for that', () => {
    const t = tensor([1, 2])
    const { result, copies } = copied(() => fromDlpack(t, { copy: false }))
    assert.deepEqual(copies, {})
    assert.equal(result.dataPtr, t.dataPtr)
    const asked = []
    const object = {
      __dlpack__(opts) {
        asked.push(opts)
        return give()[0]
      },
    }
    for (const opts of [{ copy: false }, { copy: true }, { copy: undefined }]) {
      fromDlpack(object, opts).dispose()
    }
    assert.deepEqual(asked, [
      { maxVersion: [1, 2], copy: false },
      { maxVersion: [1, 2] },
      { maxVersion: [1, 2] },
    ])
    const refusal = new Error('it needs a copy')
    assert.throws(
      () =>
        fromDlpack(
          {
            __dlpack__({ copy }) {
              if (copy === false) throw refusal
            },
          },
          { copy: false },
        ),
      refusal,
    )
    for (const copy of [null, 1, 'true']) {
      fails(() => fromDlpack(object, { copy }), TypeError, 'ERR_ARGUMENT', /copy is/)
    }
    assert.equal(asked.length, 3)
  })

  it('refuses externals of others, and whatever looks like one', () => {
    for (const kind of [0, 1, 2]) {
      const forged = peer.forge(kind)
      fails(() => fromDlpack(forged), TypeError, 'ERR_ARGUMENT', /capsule/)
      assert.equal(peer.take(forged), 'foreign')
    }
    for (const x of [{}, [], new ArrayBuffer(8), peer, () => 1, 1, 'x', null, undefined]) {
      fails(() => fromDlpack(x), TypeError, 'ERR_ARGUMENT', /x is/)
    }
  })

  it('takes what is unusual and right', () => {
    const unusual = {
      'no deleter': [{ deleter: false }, [2, 3]],
      'no strides': [{ strides: null }, [2, 3]],
      'a later minor version': [{ minor: 7 }, [2, 3]],
      'repeated elements': [{ shape: dims(1000000, 3), strides: dims(0, 1) }, [1000000, 3]],
      'walking back': [{ strides: dims(-3, 1), byteOffset: 12n }, [2, 3]],
      'no elements and no bytes': [{ shape: dims(0, 3), isNull: true }, [0, 3]],
      'no axes and no lists': [{ ndim: 0, shape: null, strides: null }, []],
      'pinned memory': [{ deviceType: 3 }, [2, 3]],
      'another number of the CPU': [{ deviceId: 3 }, [2, 3]],
      '64 axes': [
        {
          ndim: 64,
          shape: dims(...new Array(64).fill(1)),
          strides: dims(...new Array(64).fill(9)),
        },
        new Array(64).fill(1),
      ],
    }
    for (const [what, [spec, shape]] of Object.entries(unusual)) {
      for (const versioned of [true, false]) {
        const [capsule, id] = give({ versioned, ...spec })
        const t = fromDlpack(capsule)
        assert.deepEqual(t.shape, shape, what)
        t.dispose()
        assert.equal(peer.calls(id), spec.deleter === false ? 0 : 1, what)
      }
    }
  })

  const HUGE = 2n ** 63n - 1n
  const wrong = {
    'rank -1': [{ ndim: -1 }, 'ERR_SHAPE'],
    'rank 65': [{ ndim: 65 }, 'ERR_SHAPE'],
    'rank 1000': [{ ndim: 1000 }, 'ERR_SHAPE'],
    'no shape': [{ shape: null }, 'ERR_ARGUMENT'],
    'no data': [{ isNull: true }, 'ERR_ARGUMENT'],
    'a negative extent': [{ shape: dims(2, -3) }, 'ERR_SHAPE'],
    'extents that overflow': [
      { shape: new BigInt64Array([HUGE, HUGE]), strides: null },
      'ERR_SHAPE',
    ],
    'an extent that overflows in bytes': [{ shape: new BigInt64Array([HUGE, 1n]) }, 'ERR_SHAPE'],
    'a stride that overflows': [{ strides: new BigInt64Array([HUGE, 1n]) }, 'ERR_BOUNDS'],
    'a stride out of memory': [{ strides: new BigInt64Array([2n ** 55n, 1n]) }, 'ERR_SHAPE'],
    'a stride out of what JavaScript counts': [
      { strides: new BigInt64Array([2n ** 52n, 1n]) },
      'ERR_BOUNDS',
    ],
    'a stride below address 0': [{ strides: new BigInt64Array([-(2n ** 55n), 1n]) }, 'ERR_BOUNDS'],
    'an offset that overflows': [{ byteOffset: -8n }, 'ERR_BOUNDS'],
    'an address that is not aligned': [{ moved: 2 }, 'ERR_ALIGNMENT'],
    'an offset that is not aligned': [{ byteOffset: 1n }, 'ERR_ALIGNMENT'],
    'an opaque dtype': [{ code: 3 }, 'ERR_DTYPE'],
    'an unknown dtype': [{ code: 200 }, 'ERR_DTYPE'],
    'no bits': [{ bits: 0 }, 'ERR_DTYPE'],
    '4 bits': [{ bits: 4, code: 1 }, 'ERR_DTYPE'],
    'no lanes': [{ lanes: 0 }, 'ERR_DTYPE'],
    '2 lanes': [{ lanes: 2 }, 'ERR_DTYPE'],
    'a CUDA device': [{ deviceType: 2 }, 'ERR_DEVICE'],
    'an unknown device': [{ deviceType: 99 }, 'ERR_DEVICE'],
  }
  for (const [what, [spec, ...codes]] of Object.entries(wrong)) {
    it(`refuses ${what}, and its deleter runs once, when the capsule is collected`, async () => {
      const ids = []
      for (const versioned of [true, false]) {
        const before = settledMemory().storages
        const [capsule, id] = give({ versioned, ...spec })
        refuses(() => fromDlpack(capsule), ...codes)
        assert.equal(memory().storages, before)
        ids.push(id)
      }
      assert.equal(await collectUntil(() => ids.every((id) => peer.calls(id) > 0)), true)
      await collectAll()
      assert.deepEqual(
        ids.map((id) => peer.calls(id)),
        [1, 1],
      )
    })
  }

  for (const major of [0, 2, 77]) {
    it(`refuses DLPack ${major}.0, whose fields may be anything`, async () => {
      const [capsule, id] = give({ major, ndim: 12345, shape: null })
      fails(() => fromDlpack(capsule), Error, 'ERR_UNSUPPORTED', new RegExp(`${major}\\.0`))
      peer.free(peer.take(capsule).id)
      assert.equal(peer.calls(id), 1)
    })
  }

  it('of 3,000 random capsules refuses or reads each, and every deleter runs once', async () => {
    const { next, pick } = generator(20261122)
    const ids = []
    const odd = () => pick([0n, 1n, -1n, 2n, 3n, -2n, 5n, 2n ** 31n, HUGE, -HUGE - 1n, 2n ** 60n])
    const counts = { read: 0, refused: 0 }
    for (let i = 0; i < 3000; i++) {
      const small = Array.from({ length: 4 }, () => BigInt(next(3)))
      const spec = {
        nbytes: 4096,
        versioned: next(2) === 0,
        ndim: next(5),
        shape: BigInt64Array.from(small),
        strides: BigInt64Array.from(small, () => BigInt(next(9) - 2)),
        byteOffset: 2048n,
      }
      for (let n = next(3); n > 0; n--) {
        const key = pick([
          'ndim',
          'code',
          'bits',
          'lanes',
          'deviceType',
          'major',
          'flags',
          'shape',
          'strides',
          'isNull',
          'byteOffset',
        ])
        if (key === 'shape' || key === 'strides') {
          if (next(3) === 0) spec[key] = null
          else if (spec[key] !== null) spec[key][next(4)] = odd()
        } else if (key === 'isNull') spec.isNull = true
        else if (key === 'byteOffset') spec.byteOffset = pick([0n, 1n, 4n, 2050n, -1n, HUGE, 1024n])
        else {
          spec[key] = {
            ndim: () => next(70) - 3,
            code: () => next(20),
            bits: () => pick([0, 1, 4, 8, 16, 32, 64, 128]),
            lanes: () => next(3),
            deviceType: () => next(20) - 1,
            major: () => next(3),
            flags: () => next(8),
          }[key]()
        }
      }
      if (i % 500 === 499) await turn()
      const [capsule, id] = peer.give(spec)
      ids.push(id)
      let t
      try {
        t = fromDlpack(capsule)
      } catch (error) {
        assert.match(
          error.code,
          /^ERR_(SHAPE|BOUNDS|DTYPE|DEVICE|ARGUMENT|ALIGNMENT|UNSUPPORTED)$/,
          error.stack,
        )
        counts.refused++
        peer.free(peer.take(capsule).id)
        continue
      }
      counts.read++
      if (t.size > 0 && t.size < 4096 && isInside(t, id, spec)) t.toArray()
      t.dispose()
    }
    await flush()
    assert.deepEqual(
      ids.filter((id) => peer.calls(id) !== 1),
      [],
    )
    assert.ok(counts.read > 500 && counts.refused > 500, JSON.stringify(counts))
  })

  /** Does a tensor lie in the bytes that the peer really has? Where it says otherwise, nobody can know. */
  function isInside(t, id, { byteOffset, strides, nbytes }) {
    let low = byteOffset
    let high = byteOffset
    for (const [d, n] of t.shape.entries()) {
      const reach = BigInt((n - 1) * t.strides[d] * t.itemsize)
      if (reach < 0n) low += reach
      else high += reach
    }
    return low >= 0n && high + BigInt(t.itemsize) <= BigInt(nbytes)
  }
})

describe('capsules and threads', () => {
  nativeOnly()

  /** Runs a worker to its end; what it posted. */
  function work(source) {
    return new Promise((resolve, reject) => {
      const posted = []
      const worker = new Worker(
        `
        const { parentPort } = require('node:worker_threads')
        const { fromDlpack, zeros, tensor, memory } = require('samebytes')
        const peer = require(${JSON.stringify(PEER)})
        ${source}
      `,
        { eval: true },
      )
      worker.on('message', (message) => posted.push(message))
      worker.on('error', reject)
      worker.on('exit', () => resolve(posted))
    })
  }

  it('a deleter that runs after its environment has ended frees, and tells nobody', async () => {
    const [v8, shared, copy] = (
      await work(`
      const v8 = peer.take(tensor([1, 2, 3]).__dlpack__({ maxVersion: [1, 0] })).id
      const shared = peer.take(tensor([4, 5, 6], { shared: true }).__dlpack__({ maxVersion: [1, 0] })).id
      const copy = peer.take(tensor([7, 8, 9]).__dlpack__({ copy: true })).id
      parentPort.postMessage([v8, shared, copy])
    `)
    )[0]
    assert.equal(peer.element(shared, 2), 6) // native memory stays as long as it is held
    assert.equal(peer.element(copy, 2), 9)
    const { bytes } = memory()
    peer.free(v8)
    peer.free(shared, true)
    peer.free(copy)
    assert.equal(memory().bytes.native, bytes.native - 24)
    assert.equal(memory().exported, 0)
  })

  it('a capsule that nobody used is freed with its environment', async () => {
    const [id] = await work(
      'globalThis.kept = peer.give({ shape: new BigInt64Array([2n]) }); parentPort.postMessage(kept[1])',
    )
    assert.equal(peer.calls(id), 1)
  })

  it('a tensor of a capsule is freed with its environment, on its thread', async () => {
    const [id] = await work(`
      const [capsule, id] = peer.give({ shape: new BigInt64Array([2n]) })
      globalThis.kept = fromDlpack(capsule)
      kept.data[0] = 1
      parentPort.postMessage(id)
    `)
    assert.equal(peer.calls(id), 1)
    assert.equal(peer.wasFreedHere(id), false)
  })

  it('a terminated worker leaves what it lent to native code to be freed by others', async () => {
    const worker = new Worker(
      `
      const { parentPort } = require('node:worker_threads')
      const { tensor } = require('samebytes')
      const peer = require(${JSON.stringify(PEER)})
      const ids = []
      for (let i = 0; i < 20; i++) ids.push(peer.take(tensor([i], { shared: i % 2 === 0 }).__dlpack__({ maxVersion: [1, 0] })).id)
      parentPort.postMessage(ids)
      for (;;);
    `,
      { eval: true },
    )
    const ids = await new Promise((resolve, reject) =>
      worker.on('message', resolve).on('error', reject),
    )
    const ended = new Promise((resolve) => worker.on('exit', resolve))
    await worker.terminate()
    await ended
    for (const [i, id] of ids.entries()) {
      if (i % 2 === 0) assert.equal(peer.element(id, 0), i)
      peer.free(id, i % 3 === 0)
    }
  })
})

describe('capsules over and over', () => {
  nativeOnly()

  it('100,000 exports and imports of both kinds leave memory flat', async () => {
    const result = await childJson(
      `
      const { empty, fromDlpack, memory, zeros } = require('samebytes')
      const peer = require(${JSON.stringify(PEER)})
      const turn = () => new Promise(resolve => setImmediate(resolve))
      const kept = [empty([4, 4]).fill(2), zeros([4, 4], { shared: true }).fill(2)]
      async function cycles (n) {
        for (let i = 0; i < n; i++) {
          const t = kept[i & 1]
          if (peer.use(t.__dlpack__(i & 2 ? undefined : { maxVersion: [1, 0] })) !== 2) throw new Error('bytes')
          const u = fromDlpack(peer.quick())
          if (u.get(3, 3) !== 0) throw new Error('bytes')
          u.dispose()
          if (i % 500 === 499) await turn()
          if (i % 5000 === 4999) globalThis.gc()
        }
        for (let i = 0; i < 20; i++) { globalThis.gc(); await turn() }
      }
      ;(async () => {
        await cycles(20000)
        const before = process.memoryUsage().rss
        await cycles(100000)
        const { exported, storages, tensors } = memory()
        console.log(JSON.stringify({ grown: (process.memoryUsage().rss - before) / 2 ** 20, exported, storages, tensors }))
      })()
    `,
      {
        flags: ['--expose-gc'],
        env: {
          ASAN_OPTIONS: [process.env.ASAN_OPTIONS, 'quarantine_size_mb=8']
            .filter(Boolean)
            .join(':'),
        },
      },
    )
    // 100,000 structs, loans and cells that stayed would be 60 MB, under a sanitizer more.
    assert.ok(result.grown < 30, `${result.grown} MiB more than before`)
    assert.deepEqual([result.exported, result.storages, result.tensors], [0, 2, 2])
  })
})
