'use strict'
const assert = require('node:assert/strict')
const { empty, memory, ones, setMemoryLimit, tidy, zeros } = require('samebytes')
const { childJson, fails } = require('../setup')

const MIB = 2 ** 20
const total = () => Object.values(memory().bytes).reduce((a, b) => a + b)

describe('setMemoryLimit', () => {
  afterEach(() => setMemoryLimit(Infinity))

  it('refuses what goes beyond it, names request and limit, and leaves all as it was', () => {
    const t = ones([MIB], 'uint8')
    const limit = total() + MIB
    setMemoryLimit(limit)
    const before = memory()
    for (const make of [empty, zeros]) {
      fails(() => make([2 * MIB], 'uint8'), RangeError, 'ERR_MEMORY', new RegExp(`^${2 * MIB} bytes were asked for.*${limit}`))
      fails(() => make([2 * MIB], { dtype: 'uint8', shared: true }), RangeError, 'ERR_MEMORY', /setMemoryLimit/)
      fails(() => make([2 * MIB], { dtype: 'uint8', shared: 'sab' }), RangeError, 'ERR_MEMORY', /setMemoryLimit/)
    }
    fails(() => t.astype('float64'), RangeError, 'ERR_MEMORY', /setMemoryLimit/)
    assert.deepEqual(memory(), before)
    const half = empty([MIB / 2], 'uint8').fill(7)
    assert.equal(half.get(5) + t.get(5), 8)
    half.dispose()
    t.dispose()
  })

  it('counts what is in use, not what was allocated', () => {
    setMemoryLimit(total() + 8 * MIB)
    for (let i = 0; i < 40; i++) tidy(() => { empty([4 * MIB], 'uint8').fill(1) })
    fails(() => empty([9 * MIB], 'uint8'), RangeError, 'ERR_MEMORY')
  })

  it('holds for small tensors, too', () => {
    const kept = []
    setMemoryLimit(total() + MIB)
    fails(() => { for (;;) kept.push(ones([64], 'uint8')) }, RangeError, 'ERR_MEMORY', /setMemoryLimit/)
    assert.ok(kept.length > 1000 && kept.every(t => t.get(63) === 1), `${kept.length} were made`)
    for (const t of kept) t.dispose()
  })

  it('takes no other numbers and nothing else', () => {
    fails(() => setMemoryLimit(-1), RangeError, 'ERR_BOUNDS', /nbytes is -1/)
    for (const wrong of [NaN, undefined, null, '1', 1n, {}]) fails(() => setMemoryLimit(wrong), TypeError, 'ERR_ARGUMENT', /nbytes/)
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
