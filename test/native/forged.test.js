'use strict'
const assert = require('node:assert/strict')
const path = require('node:path')
const { childJson, nativeOnly, ROOT } = require('../setup')

const BINARY = path.resolve(
  process.env.SAMEBYTES_BINARY ?? path.join(ROOT, 'build', 'Release', 'samebytes.node'),
)

// The frame as a broken or hostile caller leaves it, in a process of its own. Addresses are the one thing
// that JavaScript vouches for: those here are 0 or of a buffer with guards around it.
const PRELUDE = `
  const FILES = ['map_file', 'reserve_file', 'file_hold', 'lock_file', 'segment_new', 'link_file'] // whoever gives a descriptor vouches for it as well
  const addon = require(${JSON.stringify(BINARY)})
  const { frame: at, head: bits, rows, errors, maxDims } = JSON.parse(addon.tables)
  const names = rows.slice(0, -1).map(([name]) => name)
  const signatures = Object.fromEntries(rows.slice(0, -1))
  const f = new Float64Array(addon.frame)
  const words = new Int32Array(addon.frame)
  const longs = new BigInt64Array(addon.frame)
  const guarded = Buffer.alloc(3072, 0xAA)
  const inner = guarded.subarray(1024, 2048)
  const address = addon.address(inner)
  const field = (slot, name) => at.OPERANDS + slot * at.SIZE_OF_OPERAND + at[name]
  const long = (i, x) => { longs[i] = BigInt(x) } // of its lower 64 bits
  const set = (slot, fields) => {
    const head = 2 * field(slot, 'HEAD')
    for (const [name, value] of Object.entries(fields)) {
      if (name in bits) words[head] = (words[head] & ~(255 << bits[name])) | (value & 255) << bits[name]
      else if (name === 'OFFSET' || name === 'NUMEL') long(field(slot, name), value)
      else f[field(slot, name)] = value
    }
  }
  const axes = (slot, shape, strides) => shape.forEach((extent, d) => {
    long(field(slot, 'AXES') + 2 * d, extent)
    long(field(slot, 'AXES') + 2 * d + 1, strides[d])
  })
  /** a float32 [4, 4] over the inner bytes */
  function sound (slot) {
    set(slot, { HANDLE: 0, ADDRESS: address, NBYTES: 1024, DTYPE: 11, NDIM: 2, OFFSET: 0, FLAGS: 0, NUMEL: 16, WIDE: 1 })
    axes(slot, [4, 4], [4, 1])
  }
  /** numbers, integers, lists (their count first) and scalars as a row's signature wants them */
  function give (name, values) {
    let i = 0
    let k = at.ARGS
    for (const c of signatures[name].split('>')[0]) {
      if (c === 'n') f[k++] = Number(values[i++])
      if (c === 'i') long(k++, values[i++])
      if (c === 's') for (let end = k + 3; k < end;) f[k++] = values[i++]
      if (c !== 'l') continue
      const count = values[i++]
      words[2 * k] = count
      words[2 * k++ + 1] = 1 // its entries have 64 bits
      for (let n = 0; n < Math.min(count, 320); n++) long(k++, values[i++] ?? 0)
    }
  }
  function call (name) {
    f[at.STATUS] = -77
    words[2 * at.ROW] = typeof name === 'string' ? names.indexOf(name) : name
    addon.call()
    const status = f[at.STATUS]
    if (!Number.isInteger(status) || status < 0 || status >= errors.length) throw new Error('status ' + status)
    return status === 0 ? 'OK' : 'ERR_' + errors[status - 1][0]
  }
  function intact () {
    if (!guarded.subarray(0, 1024).every(x => x === 0xAA) || !guarded.subarray(2048).every(x => x === 0xAA)) throw new Error('guards were overwritten')
  }
  const say = value => { intact(); console.log(JSON.stringify(value)) }
  const operands = name => [...signatures[name].split('>')[0]].filter(c => 'vtw'.includes(c)).length
`

const run = (source) => childJson(PRELUDE + source, { env: { SAMEBYTES_BACKEND: 'native' } })

describe('a forged frame', function () {
  nativeOnly()

  it('with a row that is none is ERR_ARGUMENT', async () => {
    const codes = await run(`
      for (let i = 0; i < 4; i++) sound(i)
      say([names.length, names.length + 1, 1000, 1e9, 4294967295, -1, -(2 ** 31), 2 ** 31 - 1].map(row => call(row)))
    `)
    assert.deepEqual(codes, new Array(8).fill('ERR_ARGUMENT'))
  })

  it('with a sound float32 operand works: the tests below start from it', async () => {
    const codes = await run(`
      const codes = {}
      for (const [name, args] of Object.entries({
        permute: [2, 1, 0], transpose: [0, 1], select: [0, 1], narrow: [0, 1, 2], reshape: [1, 16], view: [1, 16], unfold: [0, 2, 1],
        view_dtype: [5], is_contiguous: [], shares_memory: [], copy: [1], copy_values: [], fill: [3, 1.5, 0], dense_like: [11], as_strided: [1, 4, 1, 2, -1, 0, 0]
      })) {
        for (let i = 0; i < 4; i++) sound(i)
        give(name, args)
        codes[name] = call(name)
      }
      say(codes)
    `)
    for (const [name, code] of Object.entries(codes)) assert.equal(code, 'OK', name)
  })

  it("with garbage in an operand's field sets a status for every row", async () => {
    const codes = await run(`
      const wrong = { DTYPE: [-1, 17, 99, 255], NDIM: [-1, 65, 128, 255], OFFSET: [-1, 2 ** 53 + 2, 2 ** 61, 2 ** 62, 2 ** 63, 2n ** 63n - 1n, 256, 241],
        NBYTES: [NaN, -1, 0.5, 1e300, 0, 63], ADDRESS: [NaN, -1, 0.5, 1e300, 2 ** 60, -Infinity, address + 1], HANDLE: [NaN, -1, 0.5, 1, 2 ** 24, 2 ** 53, 1e300, Infinity] }
      const found = {}
      for (const name of names.filter(name => operands(name) > 0)) {
        for (let slot = 0; slot < operands(name); slot++) {
          for (const [key, values] of Object.entries(wrong)) {
            for (const value of values) {
              for (let i = 0; i < 4; i++) sound(i)
              f.fill(0, at.ARGS, at.ARGS + 640)
              set(slot, { [key]: value })
              const code = call(name)
              ;(found[key] ??= {})[code] = true
            }
          }
        }
      }
      say(Object.fromEntries(Object.entries(found).map(([key, codes]) => [key, Object.keys(codes).sort()])))
    `)
    assert.deepEqual(codes, {
      DTYPE: ['ERR_ARGUMENT'],
      NDIM: ['ERR_ARGUMENT'],
      OFFSET: ['ERR_BOUNDS'],
      NBYTES: ['ERR_ARGUMENT', 'ERR_BOUNDS'],
      ADDRESS: ['ERR_ALIGNMENT', 'ERR_ARGUMENT'],
      HANDLE: ['ERR_STALE'],
    })
  })

  it('with bytes outside a storage is refused by copy_bytes', async () => {
    const codes = await run(`
      const big = 2 ** 53
      const places = [[0, 0, 1025], [1, 0, 1024], [0, 1, 1024], [1024, 0, 1], [0, 1024, 1], [-1, 0, 4], [0, -1, 4], [0, 0, -1], [big, 0, 1], [0, big, 1],
        [big, big, big], [0, 0, big], [1025, 0, 0], [NaN, 0, 1], [0, 0.5, 1], [0, 0, 1e300]]
      const codes = {}
      for (const place of [[0, 512, 512], [1, 0, 1023], [1024, 1024, 0], ...places]) {
        for (let i = 0; i < 2; i++) sound(i)
        f.set(place, at.ARGS)
        codes[place] = call('copy_bytes')
      }
      const lost = [0, 1].map(slot => {
        for (let i = 0; i < 2; i++) sound(i)
        f.set([0, 0, 4], at.ARGS)
        set(slot, { ADDRESS: 0 })
        return call('copy_bytes')
      })
      say({ codes, lost })
    `)
    const inside = ['0,512,512', '1,0,1023', '1024,1024,0']
    for (const [place, code] of Object.entries(codes.codes)) {
      assert.ok(
        inside.includes(place) ? code === 'OK' : ['ERR_BOUNDS', 'ERR_ARGUMENT'].includes(code),
        `${place}: ${code}`,
      )
    }
    assert.deepEqual(codes.lost, ['ERR_BOUNDS', 'ERR_BOUNDS'])
  })

  it('with extents and strides that leave the bytes is refused by every row', async () => {
    const codes = await run(`
      const found = {}
      const shapes = [[-1, 4], [17, 16], [2 ** 53, 2 ** 53], [2 ** 32, 2 ** 32], [2 ** 63, 1], [2n ** 63n - 1n, 1], [-(2 ** 40), -(2 ** 40)]]
      const strides = [[2 ** 53, 1], [-4, 1], [1000, 1], [2 ** 62, 1], [2 ** 63, 1], [-(2 ** 52), 2 ** 52], [85, -1]]
      const layouts = [...shapes.map(shape => [shape, [16, 1]]), ...strides.map(strides => [[4, 4], strides])]
      for (const name of names.filter(name => operands(name) > 0)) {
        for (let slot = 0; slot < operands(name); slot++) {
          for (const [shape, strides] of layouts) {
            for (let i = 0; i < 4; i++) sound(i)
            f.fill(0, at.ARGS, at.ARGS + 640)
            axes(slot, shape, strides)
            const code = call(name)
            if (code === 'OK') throw new Error(name + ' took ' + [shape, strides])
            found[code] = true
          }
        }
      }
      say(Object.keys(found).sort())
    `)
    assert.deepEqual(codes, ['ERR_BOUNDS', 'ERR_SHAPE'])
  })

  it('with lists whose counts or entries are none is refused', async () => {
    const codes = await run(`
      const found = []
      const lists = names.filter(name => signatures[name].includes('l') && name !== 'fail_allocation')
      const refused = (name, count, entries) => {
        for (let i = 0; i < 4; i++) sound(i)
        const first = signatures[name][0] === 'n' ? [11] : []
        give(name, [...first, count, ...entries, count, ...entries, count, ...entries, 0, 0])
        const code = call(name)
        if (code === 'OK') throw new Error(name + ' took a list of ' + [count, entries])
        found.push(code)
      }
      for (const name of lists) {
        for (const count of [-2, 65, 320, 321, 1e9, 2 ** 31 - 1, -(2 ** 31)]) refused(name, count, new Array(Math.min(Math.max(count, 0), 320)).fill(1))
        const count = name === 'slice' ? 5 : 2
        for (const entry of [2n ** 62n, 2n ** 63n - 1n, -(2n ** 63n), -(2n ** 62n), 2n ** 53n + 1n]) refused(name, count, new Array(count).fill(entry))
      }
      say([lists.length >= 6, [...new Set(found)].sort()])
    `)
    assert.equal(codes[0], true)
    for (const code of codes[1]) assert.match(code, /^ERR_(ARGUMENT|SHAPE|BOUNDS)$/)
  })

  it('with a list that is left out where one is needed is refused or empty', async () => {
    const codes = await run(`
      const codes = {}
      for (const name of names.filter(name => signatures[name].includes('l'))) {
        for (let i = 0; i < 4; i++) sound(i)
        give(name, new Array(8).fill(-1))
        codes[name] = call(name)
      }
      say(codes)
    `)
    for (const [name, code] of Object.entries(codes)) {
      assert.match(code, /^(OK|ERR_(ARGUMENT|SHAPE|BOUNDS|DTYPE))$/, name)
    }
  })

  it('with a scalar, a casting or a dtype that is none is refused', async () => {
    const codes = await run(`
      const codes = []
      const attempt = (name, ...args) => {
        for (let i = 0; i < 4; i++) sound(i)
        f.fill(0, at.ARGS, at.ARGS + 640)
        give(name, [...args, 0, 0])
        codes.push(call(name))
      }
      for (const kind of [-1, 5, NaN, 0.5, 1e9]) attempt('fill', kind, 0)
      for (const casting of [NaN, 0.5]) attempt('copy', casting)
      for (const dtype of [-1, 17, 99, 2 ** 31 - 1, -(2 ** 31)]) { attempt('view_dtype', dtype); attempt('dense_like', dtype); attempt('dense', dtype, 1, 4); attempt('can_cast', dtype, 1, 1); attempt('can_cast', 1, dtype, 1) }
      attempt('dense', NaN, 1, 4)
      set(0, { FLAGS: 1 })
      sound(1)
      f.set([3, 1], at.ARGS)
      codes.push(call('fill'))
      say(codes)
    `)
    assert.equal(codes.pop(), 'ERR_READ_ONLY')
    assert.equal(codes.length, 33)
    for (const code of codes) assert.match(code, /^(OK|ERR_(ARGUMENT|DTYPE|CAST|ALIGNMENT))$/)
    assert.equal(codes.slice(0, 7).includes('OK'), false)
  })

  it('with stale, forged and foreign handles is ERR_STALE, and drops nothing', async () => {
    const codes = await run(`
      const fresh = () => { f[at.ARGS] = 1024; if (call('storage_new') !== 'OK') throw new Error('none'); return f[at.RESULTS] }
      const [kept, gone] = [fresh(), fresh()]
      const use = handle => { sound(0); set(0, { HANDLE: handle, ADDRESS: 8 }); f.set([3, 2.5], at.ARGS); return call('fill') }
      const drop = handle => { f[at.ARGS] = handle; return call('storage_drop') }
      const codes = { kept: use(kept), drop: drop(gone), stale: use(gone), again: drop(gone) }
      const reused = fresh() // the same slot, another generation
      codes.reused = [use(reused), use(gone), drop(gone), reused !== gone]
      const forged = [kept + 1, kept + 2 ** 24, kept - 2 ** 24, kept + 0.5, -kept, 2 ** 53 - 1, 2 ** 53, 2 ** 52 + kept, 1, 2 ** 24 - 1, 0x1FFFFFFF000000, NaN, Infinity].filter(h => h !== reused && h !== 0)
      codes.forged = [...new Set(forged.map(use))]
      codes.dropped = [...new Set(forged.map(drop))].sort()
      codes.wrap = [use(kept), use(reused)]
      codes.end = [drop(kept), drop(reused), drop(kept)]
      call('totals')
      codes.storages = f[at.RESULTS]
      say(codes)
    `)
    assert.deepEqual(codes, {
      kept: 'OK',
      drop: 'OK',
      stale: 'ERR_STALE',
      again: 'ERR_STALE',
      reused: ['OK', 'ERR_STALE', 'ERR_STALE', true],
      forged: ['ERR_STALE'],
      dropped: ['ERR_ARGUMENT', 'ERR_STALE'],
      wrap: ['OK', 'OK'],
      end: ['OK', 'OK', 'ERR_STALE'],
      storages: 0,
    })
  })

  it('with 40,000 random fillings ends no process and writes nowhere else', async () => {
    const counts = await run(`
      let seed = 12345
      const next = n => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor(seed / 4294967296 * n) }
      const values = [0, 1, 2, 3, 4, 5, 8, 16, 63, 64, 65, 255, 256, 257, 320, 321, -1, -2, -4, -64, 0.5, NaN, Infinity, -Infinity, 1e300, 2 ** 31, 2 ** 31 - 1, -(2 ** 31), 2 ** 32,
        2 ** 40, 2 ** 52, 2 ** 53, -(2 ** 53), 2 ** 53 + 2, 2 ** 63, -(2 ** 63), 5e-324]
      const small = [0, 1, 2, 3, 4, 5, 8, 16, -1, -4]
      const wholes = values.filter(Number.isInteger)
      const whole = () => next(4) ? small[next(small.length)] : wholes[next(wholes.length)]
      const any = () => next(4) ? small[next(small.length)] : values[next(values.length)]
      const callable = names.map((name, i) => [name, i]).filter(([name]) => ![...FILES, 'fail_allocation', 'storage_new'].includes(name) && !/^(cuda|pinned)_/.test(name)).map(([, i]) => i)
      const counts = {}
      for (let i = 0; i < 40000; i++) {
        for (let slot = 0; slot < 4; slot++) {
          sound(slot)
          set(slot, { DTYPE: next(8) ? next(17) : any(), NDIM: next(8) ? next(4) : any(), OFFSET: whole(), FLAGS: next(8) ? 0 : any(), HANDLE: next(16) ? 0 : any(), WIDE: next(4) })
          if (!next(8)) set(slot, { ADDRESS: 0 })
          if (!next(4)) set(slot, { NBYTES: next(1025) })
          for (let d = 0; d < 4; d++) {
            if (next(3)) long(field(slot, 'AXES') + 2 * d, whole())
            if (next(3)) long(field(slot, 'AXES') + 2 * d + 1, whole())
          }
        }
        const row = callable[next(callable.length)]
        for (let k = 0; k < 12; k++) {
          if (next(2)) f[at.ARGS + k] = any()
          else long(at.ARGS + k, whole())
        }
        if (next(4)) give(names[row], Array.from({ length: 12 }, whole))
        if (['hash', 'array_equal', 'all_close'].includes(names[row])) { // what repeats its elements without end would be read without end: JavaScript sees to that
          for (let slot = 0; slot < 4; slot++) for (let d = 0; d < 4; d++) longs[field(slot, 'AXES') + 2 * d] = BigInt.asIntN(64, longs[field(slot, 'AXES') + 2 * d]) > 64n ? 64n : longs[field(slot, 'AXES') + 2 * d]
        }
        const code = call(row)
        counts[code] = (counts[code] ?? 0) + 1
        if (i % 1000 === 0) intact()
      }
      say(counts)
    `)
    assert.ok(counts.OK > 1000, JSON.stringify(counts))
    assert.ok(counts.ERR_ARGUMENT > 1000 && counts.ERR_BOUNDS > 100, JSON.stringify(counts))
  })

  it('and calls of the addon with the wrong arguments end no process', async () => {
    const alive = await run(`
      const bad = [undefined, null, -1, NaN, 1e300, 'x', {}, [], Symbol('s'), 5n, () => 1, new Uint8Array(0)]
      for (const x of bad) {
        for (const name of ['call', 'address', 'locate', 'unwatch', 'buffer']) addon[name](x)
        addon.move(0, 0, 0)
        addon.wrap(0, 0, x)
        addon.watch({}, 0)
        addon[typeof x === 'function' ? 'due' : 'sweep']()
      }
      const id = addon.watch({}, 0)
      addon.unwatch(id)
      addon.unwatch(id)
      addon.buffer(id)
      say(f[at.STATUS] > 0)
    `)
    assert.equal(alive, true)
  })
})
