'use strict'
const assert = require('node:assert/strict')
const { empty, full, tensor, tidy } = require('samebytes')
const { SAMPLES } = require('../tables')

// Small tensors lie side by side: what is written to the ends of one must not show in the others.
describe('neighbours in memory', () => {
  for (const { dtype, itemsize, values } of SAMPLES) {
    it(`keep their ${dtype} values when the first and last element of one are written and read`, () => {
      const per = 64 / itemsize // elements that fill a slot of 64 bytes
      for (const n of [1, per - 1, per, per + 1, 2 * per]) {
        if (n < 1) continue
        const three = Array.from({ length: 3 }, () => full([n], values[1], dtype))
        const [left, middle, right] = three
        const others = () => [...left.toArray(), ...right.toArray()]
        const untouched = new Array(2 * n).fill(values[1])
        for (const value of [values[2], values[5]]) {
          middle.set(value, 0)
          middle.set(value, n - 1)
          middle.set(value, -1)
          middle.set(value, -n)
          assert.deepEqual([middle.get(0), middle.get(-1)], [value, value])
          assert.deepEqual(others(), untouched)
          middle.fill(value)
          tidy(() => {
            for (const ends of ['::-1', ':1', '-1:']) middle.slice(ends).fill(value)
          }) // a view would hold the slot
          assert.deepEqual(others(), untouched)
          tidy(() => {
            middle.copyFrom(tensor(new Array(n).fill(value), { dtype }))
          })
          middle.zero()
          assert.deepEqual(others(), untouched)
        }
        for (const t of three) t.dispose()
      }
    })
  }

  it('keep their uint8 values at every size from 1 to 200', () => {
    for (let n = 1; n <= 200; n++) {
      const all = Array.from({ length: 5 }, (_, i) => empty([n], 'uint8').fill(i + 1))
      all[2].set(99, n - 1)
      all[2].set(98, 0)
      tidy(() => {
        all[1].slice('-1:').fill(97)
      })
      all[3].zero()
      for (const i of [0, 4]) {
        assert.ok(
          all[i].toArray().every((x) => x === i + 1),
          `size ${n}, tensor ${i}`,
        )
      }
      assert.equal(all[2].get(-1), n === 1 ? 98 : 99)
      assert.equal(all[1].get(-1), 97)
      assert.ok(
        all[1]
          .toArray()
          .slice(0, -1)
          .every((x) => x === 2),
        `size ${n}`,
      )
      for (const t of all) t.dispose()
    }
  })
})
