'use strict'
const assert = require('node:assert/strict')
const { backend, empty, full, memory, tensor, zeros } = require('samebytes')
const { generator, skipWithout } = require('../setup')
const { SAMPLES } = require('../tables')

// DESIGN.md, section 4: small tensors live together until somebody asks for their address.
describe('small tensors', () => {
  for (const { dtype, values } of SAMPLES) {
    it(`of ${dtype} keep their values and their views when data is asked for`, () => {
      const t = tensor(values, [2, 3], { dtype })
      const row = t.select(0, 1)
      const reversed = t.slice('::-1', '::-1')
      const { data } = t
      assert.equal(data.byteLength, t.nbytes)
      assert.deepEqual(t.toArray(), [values.slice(0, 3), values.slice(3)])
      assert.deepEqual(row.toArray(), values.slice(3))
      row.set(values[0], 2)
      assert.deepEqual(t.get(1, 2), values[0])
      assert.deepEqual(reversed.get(0, 0), values[0])
      t.set(values[1], 1, 0)
      assert.deepEqual(row.get(0), values[1])
    })
  }

  it('share float32 with data taken through a view, both ways', () => {
    const t = tensor([1, 2, 3, 4])
    const early = t.slice(':2')
    const late = t.slice('2:')
    const data = late.data
    data[0] = 30
    assert.equal(t.get(2), 30)
    early.set(10, 0)
    assert.equal(t.data[0], 10)
    t.fill(5)
    assert.deepEqual([...data], [5, 5])
    assert.deepEqual([...early.data], [5, 5])
    if (backend() === 'native') {
      assert.equal(late.data.buffer, t.data.buffer)
      assert.equal(early.data.buffer, t.data.buffer)
    }
  })

  it('share float32 with data taken through a view whose base is disposed', () => {
    const t = tensor([1, 2, 3, 4])
    const v = t.slice('1:3')
    const w = t.slice('2:')
    t.dispose()
    v.data[1] = 30
    assert.deepEqual(w.toArray(), [30, 4])
    assert.deepEqual([...w.data], [30, 4])
  })

  it('never show a neighbour through data.buffer', function () {
    skipWithout(this, 'buffers of their own')
    const secret = Array.from({ length: 64 }, () => full([4], 1234.5))
    const t = tensor([1, 2, 3, 4])
    const more = Array.from({ length: 64 }, () => full([4], 1234.5))
    const { buffer } = t.data
    assert.ok(buffer.byteLength < 256, `${buffer.byteLength} bytes for 16`)
    const words = new Float32Array(buffer, 0, buffer.byteLength >> 2)
    assert.equal(words.includes(1234.5), false)
    const buffers = new Set([...secret, ...more, t].map((small) => small.data.buffer))
    assert.equal(buffers.size, 129)
  })

  it('are promoted once, by data, bytes or dataPtr, and not by use', function () {
    skipWithout(this, 'buffers of their own')
    for (const expose of [(t) => t.data, (t) => t.bytes, (t) => t.dataPtr]) {
      const t = tensor([1, 2])
      const v = t.slice('1:')
      const before = memory().promoted
      t.fill(3)
      t.set(1, 0)
      t.toArray()
      v.clone()
      t.toString()
      assert.equal(memory().promoted, before)
      expose(t)
      assert.equal(memory().promoted, before + 1)
      expose(t)
      expose(v)
      assert.equal(memory().promoted, before + 1)
    }
    const before = memory().promoted
    const large = zeros([100000])
    assert.equal(large.data.length, 100000)
    assert.equal(memory().promoted, before)
  })

  it('keep the address that dataPtr told', () => {
    const t = tensor([1, 2, 3, 4])
    const address = t.dataPtr
    for (let i = 0; i < 2000; i++) empty([8]).fill(i)
    assert.equal(t.dataPtr, address)
    assert.equal(t.slice('1:').dataPtr, address + 4n)
    if (backend() === 'native') assert.equal(t.data.buffer, t.data.buffer)
  })

  it('never show through another when slots are reused: 200,000 random steps', () => {
    const { next } = generator(7)
    const live = []
    let serial = 1
    function check({ t, n, value }) {
      const got = t.toArray()
      assert.equal(got.length, n)
      assert.ok(
        got.every((x) => x === value),
        `a tensor of ${value} shows ${got}`,
      )
    }
    for (let step = 0; step < 200000; step++) {
      const what = next(10)
      if (live.length < 20 || (what < 4 && live.length < 300)) {
        const n = 1 + next(40)
        const value = serial++ % 16777216
        const t = empty([n]).fill(value)
        if (next(20) === 0) assert.equal(t.data[n - 1], value)
        live.push({ t, n, value })
      } else if (what < 6) {
        const [gone] = live.splice(next(live.length), 1)
        if (next(4) === 0) check(gone)
        gone.t.dispose()
      } else if (what === 6) {
        // a view takes its base's place
        const entry = live[next(live.length)]
        const view = entry.t.slice('::-1')
        entry.t.dispose()
        entry.t = view
      } else {
        check(live[next(live.length)])
      }
    }
    live.forEach(check)
  })

  it('of many sizes do not overlap: each keeps its own int16', () => {
    const all = Array.from({ length: 600 }, (_, i) => full([1 + i * 3], i, 'int16'))
    all.forEach((t, i) => assert.ok(t.data.every((x) => x === i)))
    const again = Array.from({ length: 600 }, (_, i) =>
      full([1 + ((i * 7) % 900)], 1000 + i, 'int16'),
    )
    all.forEach((t, i) => assert.equal(t.get(-1), i))
    again.forEach((t, i) => assert.equal(t.get(-1), 1000 + i))
  })
})
