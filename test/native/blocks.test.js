'use strict'
const assert = require('node:assert/strict')
const { empty, full, memory, sharesMemory, tensor, zeros } = require('samebytes')
const { dtypes } = require('../../js/backend/dtypes')
const { backend, check } = require('../../js/backend/calls')
const { Tensor } = require('../../js/tensor/tensor')
const { childJson, fails, nativeOnly } = require('../setup')

const BLOCK = 4096 // js/backend/native.js: what one touch adds
const LARGEST = 1024 // bytes of a tensor that is cut from one
const IN_HEAP = 64 // bytes of a tensor whose data is a typed array without a buffer, until somebody needs that

describe('blocks of small tensors', function () {
  nativeOnly()
  const options = { env: { SAMEBYTES_BACKEND: 'native' } }

  it('have no memory until one of their float32 tensors is touched, each block its own', async () => {
    const bytes = await childJson(
      `
      const { empty, memory } = require('samebytes')
      const counted = [memory().bytes.v8]
      const count = () => counted.push(memory().bytes.v8)
      const tensors = Array.from({ length: 1000 }, () => empty([4, 4]))
      count()
      for (const t of tensors) { t.shape; t.slice('1:'); t.T; t.view([16]); t.isContiguous(); t.nbytes }
      count()
      tensors[0].fill(1)
      count()
      for (let i = 0; i < 64; i++) tensors[i].fill(i) // 64 slots of 64 bytes: the same block
      count()
      tensors[64].set(1, 0, 0)
      count()
      tensors[999].get(0, 0)
      count()
      for (const t of tensors) t.fill(3)
      count()
      console.log(JSON.stringify(counted.map(n => n - counted[0])))
    `,
      options,
    )
    assert.deepEqual(bytes, [0, 0, 0, BLOCK, BLOCK, 2 * BLOCK, 3 * BLOCK, 16 * BLOCK])
  })

  for (const [name, touch] of Object.entries({
    get: 't.get(0)',
    set: 't.set(1, 0)',
    'set of float64': "t.view('float64').set(1, 0)",
    fill: 't.fill(1)',
    zero: 't.zero()',
    toArray: 't.toArray()',
    toString: 'String(t)',
    'copyFrom, as target': 't.copyFrom(t2048)',
    'copyFrom, as source': 't2048.copyFrom(t)',
    zeros: 'zeros([16])',
  })) {
    it(`get it with ${name}: one block, for float32`, async () => {
      const added = await childJson(
        `
        const { empty, memory, zeros } = require('samebytes')
        const t2048 = empty([2048]).fill(0).slice(':16')
        const t = empty([16])
        const before = memory().bytes.v8
        ${touch}
        console.log(JSON.stringify(memory().bytes.v8 - before))
      `,
        options,
      )
      assert.equal(added, BLOCK)
    })
  }

  it('use slots of tensors that were disposed of, touched or not, again: no more memory for 100,000 float32', async () => {
    const counted = await childJson(
      `
      const { empty, memory } = require('samebytes')
      const first = Array.from({ length: 64 }, (_, i) => empty([4, 4]).fill(i))
      const counted = [memory().bytes.v8]
      first.forEach(t => t.dispose())
      for (let round = 0; round < 1500; round++) {
        const again = Array.from({ length: 64 }, (_, i) => empty([16]).fill(round * 64 + i))
        again.forEach((t, i) => { if (t.get(15) !== round * 64 + i) throw new Error('lost'); t.dispose() })
      }
      counted.push(memory().bytes.v8)
      for (let i = 0; i < 100000; i++) { const t = empty([16]); t.dispose() }
      empty([16]).fill(1)
      counted.push(memory().bytes.v8)
      console.log(JSON.stringify(counted.map(n => n - counted[0])))
    `,
      options,
    )
    assert.deepEqual(counted, [0, 0, 0])
  })

  it('do not use the slot of a float32 tensor again that was exposed: its bytes have left it', async () => {
    const counted = await childJson(
      `
      const { empty, memory } = require('samebytes')
      const t = empty([16]).fill(7)
      const counted = [memory().bytes.v8]
      const { data } = t
      counted.push(memory().bytes.v8)
      t.dispose()
      counted.push(memory().bytes.v8)
      for (let i = 0; i < 1000; i++) empty([16]).fill(i).dispose()
      if (!data.every(x => x === 7)) throw new Error('overwritten')
      console.log(JSON.stringify(counted.map(n => n - counted[0])))
    `,
      options,
    )
    assert.deepEqual(counted, [0, 64, 0])
  })

  describe('promotion', () => {
    const cases = {
      zeros: [(n) => zeros([n], 'uint8'), 0],
      'zeros in a slot that was used': [
        (n) => {
          full([n], 255, 'uint8').dispose()
          return zeros([n], 'uint8')
        },
        0,
      ],
      fill: [(n) => empty([n], 'uint8').fill(9), 9],
      full: [(n) => full([n], 8, 'uint8'), 8],
      zero: [(n) => full([n], 8, 'uint8').zero(), 0],
      set: [
        (n) => {
          const t = empty([n], 'uint8')
          for (let i = 0; i < n; i++) t.set(6, i)
          return t
        },
        6,
      ],
      'copyFrom of a number': [(n) => empty([n], 'uint8').copyFrom(5), 5],
      'copyFrom of a tensor': [(n) => empty([n], 'uint8').copyFrom(full([n], 4, 'uint8')), 4],
      setBytes: [(n) => empty([n], 'uint8').setBytes(new Uint8Array(n).fill(3)), 3],
      tensor: [(n) => tensor(new Uint8Array(n).fill(2)), 2],
      'a view': [
        (n) => {
          const t = empty([n], 'uint8')
          t.slice('::-1').fill(1)
          return t
        },
        1,
      ],
    }
    for (const [name, [make, value]] of Object.entries(cases)) {
      it(`moves what ${name} wrote to aligned memory: uint8 of sizes around the borders`, () => {
        for (const n of [1, 2, 63, 64, 65, 127, 128, 129, 1023, LARGEST, LARGEST + 1, 2048]) {
          const t = make(n)
          const before = memory().promoted
          const { data } = t
          assert.equal(memory().promoted - before, n <= LARGEST ? 1 : 0, `${n} bytes`)
          assert.equal(data.length, n)
          assert.ok(
            data.every((x) => x === value),
            `${n} bytes: ${data}`,
          )
          assert.equal(t.dataPtr % (n <= IN_HEAP ? 16n : 64n), 0n, `${n} bytes`)
          assert.equal(t.get(n - 1), value)
          const other = make(n)
          assert.equal(other.dataPtr % 64n, 0n, `${n} bytes without data`)
          assert.ok(
            other.data.every((x) => x === value),
            `${n} bytes: ${other.data}`,
          )
        }
      })
    }

    it('moves what get, toArray and toString saw of uninitialised uint8 memory', () => {
      for (const look of [
        (t) => t.toArray(),
        (t) => Array.from({ length: t.size }, (_, i) => t.get(i)),
        (t) => {
          String(t)
          return t.toArray()
        },
      ]) {
        for (const n of [1, 63, 64, 65, 1023, 1024]) {
          full([n], 77, 'uint8').dispose()
          const t = empty([n], 'uint8')
          const seen = look(t)
          assert.deepEqual([...t.data], seen)
        }
      }
    })

    it('of tensors without elements gives none: float32', () => {
      const t = empty([0])
      const before = memory().bytes.v8
      assert.equal(t.data.length, 0)
      assert.equal(t.dataPtr, 0n)
      t.fill(1)
      t.dispose()
      assert.ok(memory().bytes.v8 <= before)
    })

    it('counts the bytes and gives them back: 1024 of float32', async () => {
      const counted = await childJson(
        `
        const { empty, memory } = require('samebytes')
        const t = empty([256])
        const counted = [memory().bytes.v8]
        t.data
        counted.push(memory().bytes.v8)
        t.slice('1:').dispose()
        t.dispose()
        counted.push(memory().bytes.v8)
        console.log(JSON.stringify(counted.map(n => n - counted[0])))
      `,
        options,
      )
      assert.deepEqual(counted, [0, 1024, 0])
    })
  })

  describe('of at most 64 bytes', () => {
    it('give data that has no buffer yet, float32: 10,000 of them', async () => {
      const added = await childJson(
        `
        const { empty, memory } = require('samebytes')
        const tensors = Array.from({ length: 10000 }, () => empty([16]))
        const counted = [[process.memoryUsage().arrayBuffers, memory().bytes.v8]]
        const count = () => counted.push([process.memoryUsage().arrayBuffers, memory().bytes.v8])
        const arrays = tensors.map(t => t.data)
        count()
        if (tensors.some((t, i) => t.data !== arrays[i])) throw new Error('another array')
        tensors.forEach(t => t.dataPtr)
        count()
        console.log(JSON.stringify(counted.map(numbers => numbers.map((n, i) => n - counted[0][i]))))
      `,
        options,
      )
      assert.deepEqual(
        added.map(([, counted]) => counted),
        [0, 640000, 640000],
      )
      assert.ok(added[1][0] < 10000, `${added[1][0]} bytes of buffers`)
      assert.ok(added[2][0] >= 640000, `${added[2][0]} bytes of buffers`)
    })

    it('share them with data whatever needs the buffer, float32, with collections in between', async () => {
      const wrong = await childJson(
        `
        const { empty, tensor } = require('samebytes')
        const source = tensor([7, 7, 7, 7])
        const uses = {
          fill: t => t.fill(7),
          copyFrom: t => t.copyFrom(source),
          set: t => { for (let i = 0; i < 4; i++) t.set(7, i) },
          bytes: t => t.bytes.set(source.bytes),
          buffer: (t, data) => new Float32Array(data.buffer).fill(7),
          view: t => t.view([2, 2]).data.fill(7),
          part: t => { t.slice(':2').data.fill(7); t.slice('2:').fill(7) },
          address: t => { if (t.dataPtr === 0n) throw new Error('none'); t.fill(7) },
          blob: t => { t.toBlob(); t.data.fill(7) }
        }
        const wrong = []
        for (const [name, use] of Object.entries(uses)) {
          for (const touch of [t => t, t => t.fill(1)]) {
            const t = touch(empty([4]))
            const { data } = t
            gc()
            use(t, data)
            gc()
            if (t.data !== data || data.buffer !== t.view([2, 2]).data.buffer || String(t.toArray()) !== String([...data]) || Math.round(data[3]) !== 7) wrong.push(name)
          }
        }
        console.log(JSON.stringify(wrong))
      `,
        { ...options, flags: ['--expose-gc'] },
      )
      assert.deepEqual(wrong, [])
    })

    it('keep every bit: float32 and float64 NaNs with a payload', () => {
      for (const [dtype, bits, words] of [
        ['float32', 'uint32', [0x7fa00001, 0xffc12345]],
        ['float64', 'uint64', [0x7ff4000000000001n, 0xfff8123456789abcn]],
      ]) {
        const t = empty([2], dtype)
        t.view(bits).copyFrom(tensor(words, { dtype: bits }))
        assert.equal(t.data.length, 2)
        assert.deepEqual(t.view(bits).toArray(), words)
      }
    })

    it("are ERR_DETACHED once data's buffer was transferred away, before anything else asked for it: float32", () => {
      const uses = [
        (t) => t.data,
        (t) => t.bytes,
        (t) => t.dataPtr,
        (t) => t.fill(1),
        (t) => t.get(0),
        (t) => t.set(1, 0),
        (t) => t.toArray(),
        (t) => t.clone(),
        (t) => t.toBlob(),
        (t) => t.view([2, 2]).data,
        (t) => sharesMemory(t, zeros([1])),
        (t) => zeros([4]).copyFrom(t),
      ]
      for (const use of uses) {
        const t = full([4], 5)
        const { data } = t
        const there = structuredClone(data.buffer, { transfer: [data.buffer] })
        assert.deepEqual([...new Float32Array(there)], [5, 5, 5, 5])
        fails(() => use(t), Error, 'ERR_DETACHED')
        fails(() => use(t), Error, 'ERR_DETACHED')
        t.dispose()
      }
    })

    it('do not go by what the caller calls the buffer of data: float32', () => {
      const t = empty([4])
      const { data } = t
      Object.defineProperty(data, 'buffer', { value: new ArrayBuffer(64) })
      t.fill(3)
      assert.deepEqual([...data], [3, 3, 3, 3])
      t.view([2, 2]).data.fill(4)
      assert.deepEqual([...data], [4, 4, 4, 4])
    })

    it('get their buffer whichever way the back end is asked: float32', () => {
      const { index, Type } = dtypes.find((row) => row?.name === 'float32')
      const ways = {
        address: (storage) => backend.addressOf(storage),
        buffer: (storage) => backend.bufferOf(storage, check),
        promotion: (storage) => backend.promote(storage),
        window: (storage) => backend.window(storage, index, Type, check),
      }
      for (const [name, ask] of Object.entries(ways)) {
        const t = full([4], 5)
        const { data } = t
        const { storage } = Tensor.layoutOf(t)
        ask(storage)
        assert.equal(storage.block, null, name)
        assert.equal(storage.buffer, data.buffer, name)
        t.fill(6)
        assert.deepEqual([...data], [6, 6, 6, 6], name)
      }
    })

    it('count their bytes until they are disposed of, with and without a buffer: float32', async () => {
      const counted = await childJson(
        `
        const { empty, memory } = require('samebytes')
        const t = empty([16])
        const u = empty([16])
        const counted = []
        const count = () => counted.push(memory().bytes.v8)
        count()
        const arrays = [t.data, u.data]
        count()
        u.dataPtr
        t.dispose()
        count()
        u.dispose()
        count()
        if (arrays[0].length + arrays[1].length !== 32) throw new Error('gone')
        console.log(JSON.stringify(counted.map(n => n - counted[0])))
      `,
        options,
      )
      assert.deepEqual(counted, [0, 128, 64, 0])
    })
  })

  it('end where they do: 200 float64 tensors of every size to the border keep their values', () => {
    const sizes = [1, 7, 8, 9, 63, 64, 65, 127, 128, 129]
    const all = Array.from({ length: 200 }, (_, i) => full([sizes[i % 10]], i, 'float64'))
    all.forEach((t, i) =>
      assert.ok(
        t.toArray().every((x) => x === i),
        `tensor ${i}`,
      ),
    )
    all.forEach((t, i) => {
      if (i % 2) t.data.fill(-i)
    })
    all.forEach((t, i) =>
      assert.ok(
        t.toArray().every((x) => x === (i % 2 ? -i : i)),
        `tensor ${i}`,
      ),
    )
  })
})
