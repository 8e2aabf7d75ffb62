'use strict'
// Random allocations up to the limits of memory: no two live storages share a byte, none ends beyond memory, what was written at
// both ends stays, and what does not fit is ERR_MEMORY. Large ones are touched at their ends only, so that 4 GiB of linear
// memory cost a few MiB.

const s = require('samebytes')

const KIB = 2 ** 10
const MIB = 2 ** 20
const GIB = 2 ** 30
const MOST_TOUCHED = 2 * MIB // bytes that are written or copied as a whole, but in long runs

/** Bytes at both ends of [n] of uint8. */
const places = (n) =>
  [...new Set([0, 1, 7, n >> 1, n - 8, n - 2, n - 1])].filter((i) => i >= 0 && i < n)

class Allocations {
  constructor(program) {
    this.program = program
    this.isWasm = s.backend() !== 'native'
    /** { t, begin, end (of its storage), mark } */
    this.live = []
    this.mark = 0
    this.most = program.long ? 256 * MIB : MOST_TOUCHED
    this.limit = 4 * GIB
  }

  /** A call that may be refused, for want of memory only. */
  make(what, fn) {
    const { value, error } = this.program.call(what, fn)
    if (error !== undefined && error.code !== 'ERR_MEMORY') {
      this.program.fail(`${what}: ${error.stack}`)
    }
    return value ?? null
  }

  /** Writes both ends; false: not even the block that a small tensor is cut from could be had. */
  put(t, mark) {
    return places(t.numel).every((i) => this.make('set', () => t.set(mark, i) ?? t) !== null)
  }

  add(t, what) {
    if (t === null) return
    const n = t.numel
    const one = { t, begin: NaN, end: NaN, mark: (++this.mark & 127) | 128 }
    // On native an address takes a small tensor out of its block: some stay there.
    if (this.isWasm || this.program.r.next(2)) {
      const at = this.make('dataPtr', () => t.dataPtr)
      if (at === null) return t.dispose()
      one.begin = Number(at)
      one.end = one.begin + n
    }
    this.live.push(one)
    this.check(one, what)
    this.remark(one)
  }

  /** Where it lies is nobody else's. */
  check(one, what) {
    const { begin, end } = one
    if (Number.isNaN(begin) || end === begin) return
    if (begin <= 0) this.program.fail(`${what}: the address is ${begin}`)
    if (this.isWasm && end > s.wasmMemory().buffer.byteLength) {
      this.program.fail(
        `${what}: [${begin}, ${end}) ends beyond memory of ${s.wasmMemory().buffer.byteLength} bytes`,
      )
    }
    for (const other of this.live) {
      if (other !== one && other.begin < end && begin < other.end) {
        this.program.fail(
          `${what}: [${begin}, ${end}) overlaps [${other.begin}, ${other.end}), which is alive`,
        )
      }
    }
  }

  /** Marks it; what cannot be marked is let go, since nothing is known of its bytes. */
  remark(one) {
    if (this.put(one.t, one.mark)) return
    this.live.splice(this.live.indexOf(one), 1)
    one.t.dispose()
  }

  /** What was written is still there. */
  intact({ t, mark, begin, end }, what) {
    for (const i of places(t.numel)) {
      const value = this.make('get', () => t.get(i))
      if (value !== null && value !== mark) {
        this.program.fail(
          `${what}: byte ${i} of ${t.numel} is ${value}, not ${mark} [${begin}, ${end})`,
        )
      }
    }
  }

  take() {
    const { r } = this.program
    return this.live[r.next(this.live.length)]
  }

  drop(one, isDisposed) {
    this.live.splice(this.live.indexOf(one), 1)
    this.intact(one, 'before it goes')
    if (isDisposed) one.t.dispose()
  }
}

/** What may happen; each is given the state, r, and bytes. */
const DEEDS = {
  empty: (all, r, n) =>
    all.add(
      all.make(`empty(${n})`, () => s.empty([n], 'uint8')),
      `empty(${n})`,
    ),
  unbound: (all, r, n) =>
    all.add(
      all.make(`empty(${n}), unbound`, () => s.empty([n], { dtype: 'uint8', dynamism: 'unbound' })),
      `empty(${n}), unbound`,
    ),
  zeros(all, r, n) {
    if (n > all.most) return
    const t = all.make(`zeros(${n})`, () => s.zeros([n], 'uint8'))
    if (t !== null) all.intact({ t, mark: 0 }, `zeros(${n})`)
    all.add(t, `zeros(${n})`)
  },
  clone(all) {
    const one = all.take()
    if (one.t.numel > all.most) return
    const t = all.make('clone', () => one.t.clone())
    if (t !== null) all.intact({ ...one, t }, 'the clone')
    all.add(t, 'clone')
  },
  view(all, r) {
    const one = all.take()
    const n = one.t.numel
    if (n === 0) return
    const from = r.next(Math.min(n, 64))
    const length = r.size(n - from)
    const view = all.make('narrow', () => one.t.narrow(0, from, length))
    if (r.next(2)) one.t.dispose() // the view has the bytes now
    one.t = view
    all.remark(one)
  },
  resize(all, r, n) {
    const one = all.take()
    const { t, mark } = one
    const before = t.numel
    if (n > all.most || before > all.most || t.dynamism !== 'unbound') return
    if (all.make(`resize(${before} to ${n})`, () => t.resize(n)) === null) return
    for (const i of places(before)) {
      if (i < n && all.make('get', () => t.get(i)) !== mark) {
        all.program.fail(`resize(${before} to ${n}): byte ${i} is ${t.get(i)}, not ${mark}`)
      }
    }
    if (!Number.isNaN(one.begin)) {
      const at = Number(all.make('dataPtr', () => t.dataPtr) ?? NaN) // another storage
      if (at !== one.begin) Object.assign(one, { begin: at, end: at + n })
      else one.end = Math.max(one.end, at + n)
      all.check(one, 'resize')
    }
    all.remark(one)
  },
  data(all) {
    // small tensors of the native back end get a buffer of their own
    const one = all.take()
    if (one.t.numel > all.most) return
    const data = all.make('data', () => one.t.data)
    for (const i of places(data?.length ?? 0)) {
      if (data[i] !== one.mark) all.program.fail(`data: byte ${i} is ${data[i]}, not ${one.mark}`)
    }
  },
  copy(all, r) {
    const [one, other] = [all.take(), all.take()]
    const n = Math.min(one.t.numel, other.t.numel, all.most)
    if (n === 0) return
    if (
      all.make('copyFrom', () => one.t.narrow(0, 0, n).copyFrom(other.t.narrow(0, 0, n))) === null
    ) {
      return
    }
    all.remark(one)
  },
  concat(all) {
    const list = [all.take(), all.take(), all.take()]
    const n = list.reduce((sum, { t }) => sum + t.numel, 0)
    if (n > all.most) return
    all.add(
      all.make(`concat(${n})`, () => s.concat(list.map(({ t }) => t))),
      'concat',
    )
  },
  intact: (all) => {
    all.intact(all.take(), 'in between')
  },
  dispose: (all) => {
    all.drop(all.take(), true)
  },
  forget: (all) => {
    all.drop(all.take(), false)
  },
}
const NEED_ONE = Object.keys(DEEDS).filter((name) => !['empty', 'unbound', 'zeros'].includes(name))

function run(program) {
  const { r } = program
  const all = new Allocations(program)
  if (!all.isWasm) {
    s.setMemoryLimit((all.limit = r.pick([1, 16, 64, program.long ? 2048 : 256]) * MIB))
  }
  const largest = r.pick([4 * KIB, 256 * KIB, 16 * MIB, all.limit / 8, all.limit / 2])
  const most = r.pick([8, 40, 120])
  const steps = program.long ? 2000 : 400
  for (let step = 0; step < steps; step++) {
    // Now memory fills, now it is given back.
    const filling = step % 100 < 70
    const wanted =
      all.live.length >= most || !filling
        ? ['dispose', 'dispose', 'forget', ...Object.keys(DEEDS)]
        : ['empty', 'empty', 'unbound', ...Object.keys(DEEDS)]
    const deed = r.pick(wanted)
    if (all.live.length === 0 && NEED_ONE.includes(deed)) continue
    DEEDS[deed](
      all,
      r,
      r.rarely(20) ? r.pick([0, 1, largest]) : r.next(3) ? r.size(largest) : r.next(largest),
    )
    if (r.rarely(150)) globalThis.gc()
  }
  while (all.live.length > 0) all.drop(all.live[0], true)
}

module.exports = { backends: ['native', 'wasm', 'wasm-shared'], programs: 24, heavy: true, run }
