'use strict'
// Values as they should be, which do something when they are looked at: they throw, take bytes away, dispose and resize tensors of the
// same call, call the library again. Each call returns or throws a typed error or what the callback threw, its promise settles, and
// what has no part in it stays as it was.

const { Tensor, fromBlob, setMemoryLimit, tensor, zeros } = require('samebytes')
const { clean, drawn, dropTokens, validOf, warm, writeFiles } = require('../calls')
const { acting, isPlain, replaced } = require('../values')
const { Bystanders, finished, used } = require('../witness')

/** All that a call has, also in its options and lists. */
function* parts(value, depth = 0) {
  if (value === null || typeof value !== 'object') return
  if (Tensor.isTensor(value) || ArrayBuffer.isView(value)) yield value
  else if (depth < 2 && (Array.isArray(value) || isPlain(value))) {
    for (const each of Object.values(value)) yield* parts(each, depth + 1)
  }
}

const tried = (fn) => {
  try {
    return fn()
  } catch {}
}

/** What a callback may do; all: tensors and arrays of the call that it is part of. */
const ACTS = {
  throw: (program) => {
    throw new program.Thrown('mine')
  },
  'throw nothing': () => {
    // eslint-disable-next-line no-throw-literal
    throw undefined
  },
  detach(program, all) {
    for (const each of all) {
      const { buffer } = tried(() => (Tensor.isTensor(each) ? each.data : each)) ?? {}
      tried(() => buffer.transfer?.() ?? structuredClone(buffer, { transfer: [buffer] }))
    }
  },
  dispose: (program, all) => {
    for (const t of all) tried(() => t.dispose())
  },
  resize: (program, all) => {
    for (const t of all) tried(() => t.resize(t.shape.map((n) => program.r.next(n + 2))))
  },
  'set data': (program, all) => {
    for (const t of all) tried(() => t.setData(zeros([1], t.dtype)))
  },
  'use the library'() {
    const t = zeros([3, 4]).fill(9)
    t.T.clone()
      .slice('::-1')
      .copyFrom(tensor([1, 2, 3]))
    tried(() => zeros([-1]))
    tried(() => tensor([[1], [2, 3]]))
    t.dispose()
  },
  'make the same call': (program, all, again) => {
    tried(again)?.catch?.(() => {})
  },
  'allocate much': () => {
    tried(() => zeros([2 ** 20], 'float64'))?.dispose()
  },
  collect: () => {
    globalThis.gc()
  },
  'write through data': (program, all) => {
    for (const t of all) tried(() => (Tensor.isTensor(t) ? t.data : t).fill(1))
  },
}

async function run(program) {
  const { r } = program
  writeFiles()
  setMemoryLimit(2 ** 26)
  const others = new Bystanders(r)
  program.isOwn = (error) =>
    error === undefined ||
    error.name === 'AbortError' ||
    (error instanceof TypeError && /proxy|Receiver must be|private member/i.test(error.message))
  for (let step = program.long ? 300 : 60; step > 0; step--) {
    const { name, args, make, invoke } = drawn(r)
    // Over bytes of the caller, who may take them away; else its own.
    const on =
      make === null
        ? undefined
        : r.next(2) && make.name === 'sample'
          ? fromBlob(new Float32Array(6).fill(2), [2, 3])
          : make()
    const right = args.map(validOf)
    const all = [...parts(right), ...parts([on])]
    const deed = r.rarely(4) ? 'throw' : r.pick(Object.keys(ACTS))
    let left = r.pick([1, 1, 3, 20]) // times that it acts
    let skip = r.pick([0, 0, 0, 1, 2, 5])
    const act = () => {
      if (skip-- > 0 || left-- <= 0) return
      program.trace(`  ${deed}`)
      ACTS[deed](program, all, () => invoke(right, on))
    }
    const list = replaced(r, right, r.pick([1, 1, 2]), (each) => acting(r, each, act))
    const isActing = Tensor.isTensor(on) && r.rarely(4)
    if (isActing) acting(r, on, act)
    await finished(program, `${name} (${deed})`, () => invoke(list, on), on)
    if (isActing) used(program, `${name} (${deed}), its tensor`, on)
    if (r.rarely(20)) others.check(program, name)
  }
  others.check(program, 'in the end')
  others.dispose()
  dropTokens()
  clean()
}

module.exports = {
  backends: ['native', 'wasm', 'wasm-shared'],
  programs: 60,
  before: warm,
  run,
  flags: () => ['--max-old-space-size=512'],
}
