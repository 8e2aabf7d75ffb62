'use strict'
const assert = require('node:assert/strict')
const { backend, empty, memory, ones, parseNpz, setMemoryLimit, tidy, toNpyBytes, zeros } = require('samebytes')
const { childJson, fails, isPage, needs, skip } = require('../setup')

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
    const central = Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.of(20, 0), both, length, Buffer.alloc(14), name])
    const end = Buffer.alloc(22)
    end.write('PK\x05\x06', 'latin1')
    end.writeUInt16LE(1, 8)
    end.writeUInt16LE(1, 10)
    end.writeUInt32LE(central.length, 12)
    end.writeUInt32LE(local.length, 16)
    const file = parseNpz(Buffer.concat([local, central, end]))
    setMemoryLimit(total() + MIB)
    if (backend() === 'native') fails(() => file.get('a'), RangeError, 'ERR_MEMORY', /setMemoryLimit/)
    await assert.rejects(file.load('a'), { code: 'ERR_MEMORY' })
    setMemoryLimit(Infinity)
    const t = await file.load('a')
    assert.equal(t.size, 4 * MIB)
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

describe('tensors that nobody holds, in a loop that waits for turns', function () {
  needs('a Node of its own')
  this.timeout(120000)

  // a quarter of the limit may be held, so that half of it must have been collected each time
  for (const [what, n, rounds] of [['16 KiB', 2 ** 12, 60000], ['1 MiB', 2 ** 18, 2000], ['16 MiB', 2 ** 22, 150]]) {
    it(`of ${what} are collected before they are all of the limit`, async () => {
      assert.equal(await childJson(`
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
        main()`), 0)
    })
  }
})

describe('a loop that makes tensors and never waits', function () {
  needs('a Node of its own')

  const warned = async round => (await childJson(`
    const { tidy, zeros } = require('samebytes')
    const told = []
    process.on('warning', ({ name, message }) => told.push(name + ': ' + message))
    const kept = []
    ${round}
    setTimeout(() => console.log(JSON.stringify(told)), 1)`, { flags: ['--no-warnings'] }))

  it('is told of tidy once, where they come to 256 MiB', async () => {
    const told = await warned('for (let i = 0; i < 600; i++) zeros([2 ** 18])')
    if (backend() === 'native') return assert.deepEqual(told, []) // V8 frees buffers in the middle of a turn
    assert.equal(told.length, 1)
    assert.match(told[0], /^SamebytesWarning: tensors grew by \d+ MiB within one turn of the event loop, .*tidy\(/)
  })

  it('is not told where they are given back, are few, or turns are between', async () => {
    assert.deepEqual(await warned('for (let i = 0; i < 600; i++) tidy(() => { zeros([2 ** 18]) })'), [])
    assert.deepEqual(await warned('for (let i = 0; i < 600; i++) zeros([2 ** 18]).dispose()'), [])
    assert.deepEqual(await warned('for (let i = 0; i < 8; i++) kept.push(zeros([2 ** 24]))'), [])
    assert.deepEqual(await warned('const next = i => { zeros([2 ** 18]); if (i < 600) setImmediate(next, i + 1) }; next(0)'), [])
  })
})
