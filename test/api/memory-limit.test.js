'use strict'
const assert = require('node:assert/strict')
const math = require('samebytes/math')
const {
  arange,
  backend,
  empty,
  ones,
  parseNpz,
  setMemoryLimit,
  tidy,
  toNpyBytes,
  zeros,
} = require('samebytes')
const { budget } = require('../../js/backend/storage')
const { childJson, fails, isPage, needs, restoresLimit, settledMemory, skip } = require('../setup')

const MIB = 2 ** 20
const total = () => Object.values(settledMemory().bytes).reduce((a, b) => a + b)

describe('setMemoryLimit', () => {
  restoresLimit(budget)

  it('refuses what goes beyond it, names request and limit, and leaves all as it was', () => {
    const t = ones([MIB], 'uint8')
    const before = settledMemory() // what is garbage may be collected before memory is refused
    const limit = total() + MIB
    setMemoryLimit(limit)
    for (const make of [empty, zeros]) {
      fails(
        () => make([2 * MIB], 'uint8'),
        RangeError,
        'ERR_MEMORY',
        new RegExp(`^${2 * MIB} bytes were asked for.*${limit}`),
      )
      fails(
        () => make([2 * MIB], { dtype: 'uint8', shared: true }),
        RangeError,
        'ERR_MEMORY',
        /setMemoryLimit/,
      )
      fails(
        () => make([2 * MIB], { dtype: 'uint8', shared: 'sab' }),
        RangeError,
        'ERR_MEMORY',
        /setMemoryLimit/,
      )
    }
    fails(() => t.astype('float64'), RangeError, 'ERR_MEMORY', /setMemoryLimit/)
    assert.deepEqual(settledMemory(), before)
    const half = empty([MIB / 2], 'uint8').fill(7)
    assert.equal(half.get(5) + t.get(5), 8)
    half.dispose()
    t.dispose()
  })

  it('refuses what a deflated member of an .npz would be inflated to', async function () {
    if (isPage) skip(this, 'zlib deflates here')
    const { crc32, deflateRawSync } = require('node:zlib')
    if (crc32 === undefined) skip(this, 'zlib has no crc32')
    const npy = tidy(() => Buffer.from(toNpyBytes(zeros([4 * MIB], 'uint8'))))
    const packed = deflateRawSync(npy)
    const both = Buffer.alloc(22) // from the version on, as both headers of a member have it
    both.writeUInt16LE(20, 0)
    both.writeUInt16LE(8, 4)
    both.writeUInt32LE(crc32(npy), 10)
    both.writeUInt32LE(packed.length, 14)
    both.writeUInt32LE(npy.length, 18)
    const name = Buffer.from('a.npy')
    const length = Buffer.of(name.length, 0, 0, 0)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), both, length, name, packed])
    const central = Buffer.concat([
      Buffer.from('PK\x01\x02'),
      Buffer.of(20, 0),
      both,
      length,
      Buffer.alloc(14),
      name,
    ])
    const end = Buffer.alloc(22)
    end.write('PK\x05\x06', 'latin1')
    end.writeUInt16LE(1, 8)
    end.writeUInt16LE(1, 10)
    end.writeUInt32LE(central.length, 12)
    end.writeUInt32LE(local.length, 16)
    const file = parseNpz(Buffer.concat([local, central, end]))
    setMemoryLimit(total() + MIB)
    if (backend() === 'native') {
      fails(() => file.get('a'), RangeError, 'ERR_MEMORY', /setMemoryLimit/)
    }
    await assert.rejects(file.load('a'), { code: 'ERR_MEMORY' })
    setMemoryLimit(Infinity)
    const t = await file.load('a')
    assert.equal(t.size, 4 * MIB)
    t.dispose()
  })

  it('counts what is in use, not what was allocated', () => {
    setMemoryLimit(total() + 8 * MIB)
    for (let i = 0; i < 40; i++) {
      tidy(() => {
        empty([4 * MIB], 'uint8').fill(1)
      })
    }
    fails(() => empty([9 * MIB], 'uint8'), RangeError, 'ERR_MEMORY')
  })

  it('holds for small tensors, too', () => {
    const kept = []
    setMemoryLimit(total() + MIB)
    fails(
      () => {
        for (;;) kept.push(ones([64], 'uint8'))
      },
      RangeError,
      'ERR_MEMORY',
      /setMemoryLimit/,
    )
    assert.ok(kept.length > 1000 && kept.every((t) => t.get(63) === 1), `${kept.length} were made`)
    for (const t of kept) t.dispose()
  })

  it('takes no other numbers and nothing else', () => {
    fails(() => setMemoryLimit(-1), RangeError, 'ERR_BOUNDS', /nbytes is -1/)
    for (const wrong of [NaN, undefined, null, '1', 1n, {}]) {
      fails(() => setMemoryLimit(wrong), TypeError, 'ERR_ARGUMENT', /nbytes/)
    }
  })

  it('is the memory of the machine where nobody sets it', async () => {
    const code = await childJson(`
      const { empty } = require('samebytes')
      let code = 'none'
      try { empty([2 * require('node:os').totalmem()], 'uint8') } catch (error) { code = [error.code, /setMemoryLimit|4 GiB/.test(error.message)] }
      console.log(JSON.stringify(code))
    `)
    assert.deepEqual(code, ['ERR_MEMORY', true])
  })
})

describe('memory that a call takes for itself', function () {
  restoresLimit(budget)

  const N = 2 ** 19 + 1 // a prime's multiple: tables and a convolution of twice as many elements
  const calls = {
    'fft, of tables': () => [math.fft, [ones([N], 'complex64')], empty([N], 'complex64')],
    'fftn, of a tensor between': () => [
      math.fftn,
      [ones([1024, 1024], 'complex64')],
      empty([1024, 1024], 'complex64'),
    ],
    'resize, of weights': () => [
      math.resize,
      [ones([1, 1, 2, 2 ** 20]), [2, 2 ** 20 - 1]],
      empty([1, 1, 2, 2 ** 20 - 1]),
    ],
    'sort, of a line': () => [math.sort, [ones([2 ** 20])], empty([2 ** 20])],
    'softmax, of a line': () => [math.logSoftmax, [ones([2 ** 20])], empty([2 ** 20])],
    'matmul, of a copy that overlaps': () => {
      const a = ones([1024, 1024])
      return [math.matmul, [a, a], a]
    },
    'matmul, of integers that wrap before they are in a wider out': () => [
      math.matmul,
      [ones([2 ** 20, 2], 'int8').T, ones([2 ** 20, 3], 'int8')],
      empty([2, 3], 'int32'),
    ],
    'add, of a copy that overlaps': () => {
      const a = ones([2 ** 21])
      return [math.add, [a.narrow(0, 0, 2 ** 20), a.narrow(0, 1, 2 ** 20)], a.narrow(0, 1, 2 ** 20)]
    },
  }
  for (const [name, make] of Object.entries(calls)) {
    it(`counts against the limit: ${name}`, () =>
      tidy(() => {
        const [fn, args, out] = make()
        out.fill(7)
        const before = total()
        setMemoryLimit(before + 2 ** 20)
        fails(
          () => fn(...args, { out }),
          RangeError,
          'ERR_MEMORY',
          /^\d+ bytes were asked for; \d+ of the limit of \d+ are in use \(setMemoryLimit\)/,
        )
        const left = total() - before
        assert.ok(left < 2 ** 16, `${left} bytes are left`) // settling takes a group of small tensors
        setMemoryLimit(Infinity)
        assert.ok(
          math
            .equal(out, out.dtype === 'complex64' ? [7, 0] : 7)
            .toArray()
            .flat()
            .every(Boolean),
          'out was written',
        )
        setMemoryLimit(total() + 2 ** 27)
        fn(...args, { out })
      }))
  }

  it('counts against it where indices are taken, and where a copy overlaps', () =>
    tidy(() => {
      const t = arange(2 ** 20)
      const indices = zeros([2 ** 19], 'int32')
      const out = empty([2 ** 19])
      setMemoryLimit(total() + 2 ** 20)
      fails(() => t.take(indices, { out }), RangeError, 'ERR_MEMORY', /setMemoryLimit/)
      fails(
        () => t.narrow(0, 1, 2 ** 20 - 1).copyFrom(t.narrow(0, 0, 2 ** 20 - 1)),
        RangeError,
        'ERR_MEMORY',
        /setMemoryLimit/,
      )
      assert.equal(t.get(5), 5)
    }))

  it('finds what was freed since, before it refuses', () =>
    tidy(() => {
      const x = ones([N], 'complex64')
      const out = empty([N], 'complex64')
      setMemoryLimit(total() + 2 ** 27)
      for (let i = 0; i < 8; i++) empty([2 ** 26], 'uint8').dispose()
      math.fft(x, { out })
      assert.equal(out.get(0)[0], N)
    }))

  it('counts where the call runs on another thread', async () => {
    const x = ones([N], { dtype: 'complex64', shared: true })
    const out = empty([N], { dtype: 'complex64', shared: true }).fill(7)
    setMemoryLimit(total() + 2 ** 20)
    await assert.rejects(math.fftAsync(x, { out }), {
      code: 'ERR_MEMORY',
      message: /setMemoryLimit/,
    })
    assert.equal(out.get(5)[0], 7)
    setMemoryLimit(total() + 2 ** 27)
    for (let i = 0; i < 8; i++) empty([2 ** 26], 'uint8').dispose()
    await math.fftAsync(x, { out })
    assert.equal(out.get(0)[0], N)
    const t = zeros([2 ** 20], { shared: true })
    setMemoryLimit(total() + 2 ** 20)
    await assert.rejects(t.narrow(0, 1, 2 ** 20 - 1).copyFromAsync(t.narrow(0, 0, 2 ** 20 - 1)), {
      code: 'ERR_MEMORY',
      message: /setMemoryLimit/,
    })
    for (const each of [x, out, t]) each.dispose()
  })
})

describe('tensors that nobody holds, in a loop that waits for turns', function () {
  needs('a Node of its own')

  // a quarter of the limit may be held, so that half of it must have been collected each time
  for (const [what, n, rounds] of [
    ['16 KiB', 2 ** 12, 60000],
    ['1 MiB', 2 ** 18, 2000],
    ['16 MiB', 2 ** 22, 150],
  ]) {
    it(`of ${what} are collected before they are all of the limit`, async () => {
      assert.equal(
        await childJson(`
        const { setMemoryLimit, zeros } = require('samebytes')
        setMemoryLimit(2 ** 28)
        const kept = zeros([2 ** 24])
        async function main () {
          for (let i = 0; i < ${rounds}; i++) {
            zeros([${n}])
            await new Promise(resolve => setImmediate(resolve))
          }
          console.log(kept.get(0))
        }
        main()`),
        0,
      )
    })
  }
})
