'use strict'
// Calls of all kinds while one function of JavaScript's is hostile: node primordials-child.js <seed> <rounds> <group>...
//
// Standard output: a line before each place, so that who started this knows where it died; lines with what was found, as
// JSON. What must not happen: a private object or block is shown, something that is no Error of ours or of the hostile function's is
// thrown, the process dies.
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const samebytes = require('samebytes')
const engine = require('../../js/backend/select')
const ffi = require('../../js/backend/calls')
const stores = require('../../js/backend/storage')
const { generator } = require('../setup')
const { SWALLOWED, places, replaced } = require('./primordials')

const { writeSync } = fs
const { getPrototypeOf, ownKeys, getOwnPropertyDescriptor, apply, construct } = Reflect
const { isArray } = Array

const { stringify } = JSON
const { isView } = ArrayBuffer
const transferred = structuredClone
const turn = setImmediate
const Later = Promise
const { Tensor } = samebytes
const bufferOf = getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), 'buffer').get
const lengthOf = getOwnPropertyDescriptor(ArrayBuffer.prototype, 'byteLength').get
const resize = ArrayBuffer.prototype.resize
const { layoutOf } = Tensor

const [seed, rounds, ...groups] = process.argv.slice(2)
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-hostile-'))
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
process.on('unhandledRejection', () => {})

// ---- What is private ----

/** classes of the library's own whose objects nobody is shown */
const INTERNAL = new Map([[ffi.Layout.prototype, 'a Layout'], [stores.Storage.prototype, 'a Storage'], [stores.Group.prototype, 'a Group'], [stores.OptionalFields.prototype, 'an Extra'], [getPrototypeOf(engine), 'the back end']])
const isPrivateBlock = buffer => {
  if (engine.isWasm) return false // linear memory is everybody's
  return buffer === engine.frameBuffer || apply(lengthOf, buffer, []) === 4096 + 64
}
const frameBuffer = engine.isWasm ? null : apply(bufferOf, engine.frame.f64, [])

/** @returns {string | null} what of it nobody may see */
function secret (value, depth) {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return null
  let prototype
  try { prototype = getPrototypeOf(value) } catch { return null }
  if (prototype === null && isArray(value)) return 'a list of the library\'s own'
  const known = INTERNAL.get(prototype)
  if (known !== undefined) return known
  if (value === frameBuffer) return 'the frame'
  if (isView(value)) {
    let buffer
    try { buffer = apply(bufferOf, value, []) } catch { return null }
    if (buffer === frameBuffer) return 'a view of the frame'
    try {
      if (!engine.isWasm && isPrivateBlock(buffer)) return 'a block that many tensors are in'
    } catch {}
    return null
  }
  if (world.shapes.has(value)) return 'a layout\'s own shape or strides'
  if (depth > 0 && typeof value === 'object') {
    let keys
    try { keys = ownKeys(value) } catch { return null }
    for (let i = 0; i < keys.length && i < 24; i++) {
      let own
      try { own = getOwnPropertyDescriptor(value, keys[i]) } catch { continue }
      if (own === undefined || !('value' in own)) continue
      const found = secret(own.value, depth - 1)
      if (found !== null) return `${found}, in ${String(keys[i])}`
    }
  }
  return null
}

// ---- What the program has ----

/** what the calls of one round work on */
let world = { shapes: new Set(), buffers: [], tensors: [], resizable: null }

function newWorld () {
  const { zeros, tensor, fromBlob, empty } = samebytes
  const resizable = new ArrayBuffer(64, { maxByteLength: 256 })
  const floats = new Float32Array(16).fill(3)
  const w = {
    a: zeros([4, 4]),
    b: tensor([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]),
    five: zeros([1, 2, 1, 2, 1]),
    ints: tensor([3, 1, 2], 'int32'),
    longs: tensor([3n, 1n, 2n]),
    complex: zeros([2], 'complex64'),
    large: empty([70, 70]),
    over: fromBlob(floats, [4, 4]),
    shrinking: fromBlob(resizable, [4, 4], 'float32'),
    shared: zeros([4, 4], { shared: true }),
    sab: zeros([4, 4], { shared: 'sab' }),
    unbound: zeros([2], { dynamism: 'unbound' }),
    floats,
    resizable
  }
  w.tensors = [w.a, w.b, w.five, w.ints, w.longs, w.complex, w.large, w.over, w.shrinking, w.shared, w.sab, w.unbound]
  w.buffers = [resizable, floats.buffer]
  w.shapes = new Set()
  for (const t of w.tensors) {
    const { shape, strides } = layoutOf(t)
    w.shapes.add(shape)
    w.shapes.add(strides)
  }
  w.acc = w.a.accessor()
  w.record = w.b.toBlob()
  return w
}

const { fromBlob, fromBytes, tensor, zeros, ones, full, empty, concat, stack, broadcastShapes, broadcastArrays, meshgrid, tril, takeAlongAxis, arrayEqual, allClose, sharesMemory, arange, rand, share, fromShared, memory, parseNpy, parseNpz, parseSafetensors, toNpyBytes, toNpzBytes, toSafetensorsBytes, loadNpy } = samebytes
const npy = toNpyBytes(tensor([[1, 2], [3, 4]]))
const npz = toNpzBytes({ x: tensor([1, 2]), y: tensor([3n]) })
const tensors = toSafetensorsBytes({ x: tensor([1, 2]), y: tensor([3n]) }, { metadata: { a: 'b' } })
const file = path.join(folder, 'x.npy')
fs.writeFileSync(file, npy)

/** public calls, which may throw @type {[string, (w: any) => any][]} */
const CALLS = [
  ['zeros', () => zeros([3, 3])],
  ['zeros of 5 axes', () => zeros([1, 3, 2, 1, 1], 'int16')],
  ['empty', () => empty([5]).data],
  ['empty, larger', () => empty([100]).data],
  ['empty, much larger', () => empty([5000])],
  ['full', () => full([2, 2], 7, 'int64')],
  ['ones', () => ones([2, 2], { order: 'F' })],
  ['tensor', () => tensor([[1, 2], [3, 4]])],
  ['tensor of bigints', () => tensor([1n, 2n])],
  ['tensor of booleans', () => tensor([true, false])],
  ['tensor of pairs', () => tensor([[1, 2], [3, 4]], 'complex64')],
  ['tensor of floats', w => tensor(w.floats)],
  ['tensor of a Set', () => tensor(new Set([1, 2, 3]))],
  ['get', w => w.a.get(1, 2)],
  ['get of 5 axes', w => w.five.get(0, 1, 0, 1, 0)],
  ['get, complex', w => w.complex.get(1)],
  ['get, shrinking', w => w.shrinking.get(3, 3)],
  ['get, shared', w => w.shared.get(3, 3)],
  ['set', w => w.a.set(5, 1, 2)],
  ['set, bigint', w => w.longs.set(5n, 1)],
  ['at', w => w.b.at(1)],
  ['accessor', w => { w.acc.set(2, 1, 1); return w.acc.get(1, 1) }],
  ['new accessor', w => w.five.accessor().get(0, 1, 0, 1, 0)],
  ['T', w => w.a.T],
  ['slice', w => w.b.slice('1:3', '::-1')],
  ['slice of an object', w => w.b.slice({ start: 1 })],
  ['select', w => w.b.select(0, 1)],
  ['permute', w => w.five.permute([4, 3, 2, 1, 0])],
  ['moveaxis', w => w.five.moveaxis([0, 1], [-1, 0])],
  ['unsqueeze', w => w.b.unsqueeze([0, -1])],
  ['reshape', w => w.b.T.reshape([2, 8])],
  ['view', w => w.b.view([2, 8])],
  ['view of dtype', w => w.b.view('int32')],
  ['asStrided', w => w.b.asStrided([2, 2], [4, 1])],
  ['expand', w => w.ints.expand([5, 3])],
  ['broadcastTo', w => w.ints.broadcastTo(2, 3)],
  ['split', w => w.b.split([1, 3])],
  ['chunk', w => w.b.chunk(2)],
  ['unbind', w => w.b.unbind()],
  ['shape', w => [w.b.shape, w.b.strides, w.five.shape, w.b.dimOrder]],
  ['data', w => w.b.data.length],
  ['data of a view', w => w.b.slice('1:2').data],
  ['data, shrinking', w => w.shrinking.data],
  ['bytes', w => w.b.bytes],
  ['setBytes', w => w.b.setBytes(new Uint8Array(64))],
  ['dataPtr', w => w.b.dataPtr],
  ['fill', w => w.a.fill(3)],
  ['fill, shrinking', w => w.shrinking.fill(3)],
  ['fill, complex', w => w.complex.fill([1, 2])],
  ['copyFrom', w => w.a.copyFrom(w.b)],
  ['copyFrom, over', w => w.over.copyFrom(w.shrinking)],
  ['copyFrom, transposed', w => w.over.T.copyFrom(w.shrinking)],
  ['copyFrom, shared', w => w.shared.copyFrom(w.sab)],
  ['copyFrom of floats', w => w.a.copyFrom(w.floats)],
  ['copyFrom of a list', w => w.ints.copyFrom([1, 2, 3])],
  ['copyFrom of rows', w => w.a.copyFrom([new Float32Array(4), new Float32Array(4), new Float32Array(4), new Float32Array(4)])],
  ['copyFrom, scaled', w => w.a.copyFrom(w.b, { scale: [1, 2, 3, 4], bias: 1, axis: 0 })],
  ['copyFrom of an image', () => zeros([2, 2, 3], 'uint8').copyFrom({ data: new Uint8ClampedArray(16), width: 2, height: 2 })],
  ['toImageData', () => zeros([2, 2, 4], 'uint8').toImageData()],
  ['clone', w => w.b.clone()],
  ['astype', w => w.b.astype('float64')],
  ['contiguous', w => w.b.T.contiguous()],
  ['toArray', w => w.b.toArray()],
  ['toArray of 5 axes', w => w.five.toArray()],
  ['toJSON', w => stringify(w.longs)],
  ['toString', w => String(w.b) + String(w.complex) + String(w.longs)],
  ['inspect', w => w.b[Symbol.for('nodejs.util.inspect.custom')](2, {}, v => `${v}`)],
  ['toStringTag', w => w.b[Symbol.toStringTag]],
  ['iteration', w => { for (const row of w.b) row.dispose() }],
  ['item', w => w.ints.slice('1:2').item()],
  ['concat', w => concat([w.a, w.b])],
  ['concat of arguments', w => concat(w.a, w.b, 1)],
  ['broadcastShapes', () => broadcastShapes([2, 1], 3)],
  ['broadcastArrays', w => broadcastArrays(w.ints, w.ints.view([3, 1]))],
  ['meshgrid', w => meshgrid(w.ints, w.ints)],
  ['tril', w => tril(w.b, { k: -1 })],
  ['takeAlongAxis', w => takeAlongAxis(w.a, zeros([4, 2], 'int32'))],
  ['stack', w => stack([w.a, w.b, w.over])],
  ['tile', w => w.b.tile([2, 1])],
  ['repeat', w => w.ints.repeat([1, 2, 3])],
  ['repeat of each', w => w.ints.repeat(2)],
  ['take', w => w.b.take([0, 2], { axis: 0 })],
  ['take by tensor', w => w.b.take(w.ints)],
  ['roll', w => w.b.roll([1, 2], [0, 1])],
  ['roll, flat', w => w.b.roll(3)],
  ['arrayEqual', w => arrayEqual(w.a, w.b)],
  ['allClose', w => allClose(w.a, w.over)],
  ['sharesMemory', w => sharesMemory(w.a, w.b)],
  ['resize', w => w.a.resize([2, 2])],
  ['resize, unbound', w => w.unbound.resize([3000])],
  ['setData', w => w.a.setData(w.floats)],
  ['arange', () => arange(5)],
  ['rand', () => rand([3])],
  ['fromBlob', w => fromBlob(w.floats)],
  ['fromBlob of a buffer', w => fromBlob(w.resizable, [2, 2], { dtype: 'float32', offset: 1, strides: [2, 1] })],
  ['fromBlob of a record', w => fromBlob(w.record)],
  ['fromBlob of data', w => fromBlob(w.b.data)],
  ['fromBlob, transfer', () => fromBlob(new ArrayBuffer(32), [8], { dtype: 'float32', transfer: true })],
  ['fromBytes', () => fromBytes(new Uint8Array(16), [4], 'float32')],
  ['fromBytes, askew', () => fromBytes(new Uint8Array(new ArrayBuffer(17), 1), [4], 'float32')],
  ['toBlob', w => w.b.toBlob()],
  ['share', w => fromShared(share(w.shared))],
  ['share of a SharedArrayBuffer', w => fromShared(share(w.sab))],
  ['memory', () => memory()],
  ['parseNpy', () => parseNpy(npy)],
  ['parseNpz', () => parseNpz(npz).get('x')],
  ['parseSafetensors', () => parseSafetensors(tensors).get('y')],
  ['toNpyBytes', w => toNpyBytes(w.b)],
  ['toNpzBytes', w => toNpzBytes({ x: w.b })],
  ['toSafetensorsBytes', w => toSafetensorsBytes({ x: w.b, y: w.longs })],
  ['dispose', w => w.large.dispose()],
  ['a refusal', w => w.b.reshape([3, 3])],
  ['another', () => zeros([-1])],
  ['a lost write', w => w.ints.set(1.5, 0)]
]
if (!engine.isWasm) {
  CALLS.push(['__dlpack__', w => samebytes.fromDlpack(w.b.__dlpack__({ maxVersion: [1, 0] }))], ['loadNpy', () => loadNpy?.(file)], ['openNpy', () => samebytes.openNpy?.(file)])
}
/** Node's own reads ask a typed array for its length again and again, and end the process where answers differ */
const BY_NODE = new Set(['loadNpy', 'openNpy'])
/** these settle later */
const LATER = [
  ['copyFromAsync', w => w.large.copyFromAsync(w.large.clone())],
  ['copyFromAsync, shared', w => w.shared.copyFromAsync(w.sab)],
  ['copyFromAsync, over', w => w.over.copyFromAsync(w.shrinking, { scale: 2 })]
]

// ---- Hostile functions ----

const MOST = 200 // hostile calls in one round; then they let everything pass
const LIES = [undefined, null, NaN, -1, 0, 1, 2 ** 31, 2 ** 53, 1e308, 'x', true, [], [1e9, 1e9, 1e9], {}, new Float64Array(3), new ArrayBuffer(8), () => 7, 10n ** 30n, Symbol('x')]

class Hostile extends Error {}

const random = generator(Number(seed))
let here = ''
let found = 0

const reported = new Set()

function report (text) {
  const at = /\/js\/([\w.-]+:\d+)/.exec(new Error('here').stack)?.[1] ?? 'somewhere'
  const line = stringify({ place: here.replace(/ \w+ \d+$/, ''), text, at })
  if (reported.has(line) || found++ > 200) return
  reported.add(line)
  writeSync(1, `${line}\n`)
}

/** Something that a program may do at any time. */
function act (self, args) {
  switch (random.next(9)) {
    case 0: try { apply(resize, world.resizable, [0]) } catch {} break
    case 1: {
      const buffer = world.buffers[random.next(world.buffers.length)]
      try { transferred(buffer, { transfer: [buffer] }) } catch {}
      break
    }
    case 2: world.tensors[random.next(world.tensors.length)].dispose?.()
      break
    case 3: samebytes.zeros([3, 4]).fill(9).T.clone().slice('::-1')
      break
    case 4: try { samebytes.empty([-1]) } catch {} break
    case 5: try { samebytes.wasmMemory?.()?.grow(1) } catch {} break
    case 6: if (!isSync) break // it may be Node's own
      for (const value of [self, ...args]) { // whatever it is over
        try {
          const buffer = isView(value) ? apply(bufferOf, value, []) : value
          if (!isPrivateBlock(buffer)) transferred(buffer, { transfer: [buffer] })
        } catch {}
      }
      break
    case 7: try { world.over.T.copyFrom([1, 2, 3, 4]) } catch {} break
    default: for (const value of [self, ...args]) { // lists that are shown get other entries
      if (isArray(value) && !Object.isFrozen(value)) for (let i = 0; i < value.length && i < 4; i++) if (typeof value[i] === 'number') value[i] = 2 ** 30
    }
  }
}

/** @param {string} mode */
function hostileOf (mode, place) {
  let calls = 0
  const spy = (self, args) => {
    const shown = secret(self, 1)
    if (shown !== null) report(`this is ${shown}`)
    for (let i = 0; i < args.length && i < 8; i++) {
      const other = secret(args[i], 1)
      if (other !== null) report(`argument ${i} is ${other}`)
    }
  }
  return (original, self, args, isNew) => {
    const pass = () => typeof original !== 'function' ? original : isNew ? construct(original, args) : apply(original, self, args)
    if (!running || ++calls > MOST || !(isSync || isOurs())) return pass()
    spy(self, args)
    if (mode === 'spy') return pass()
    if (mode === 'throw') throw new Hostile('hostile')
    if (mode === 'act') {
      act(self, args)
      const result = pass()
      act(self, args)
      return result
    }
    if (mode === 'lie') {
      if (place.part === 'field' && args.length > 0) return random.next(2) === 0 ? SWALLOWED : undefined
      const lie = LIES[random.next(LIES.length)]
      return isNew && (typeof lie !== 'object' || lie === null) ? {} : lie
    }
    return [pass, () => LIES[random.next(LIES.length)], () => { act(self, args); return pass() }][random.next(3)]()
  }
}

/** now and then hostile functions let pass what is not the library's: between calls */
let running = false
let isSync = true

const OURS = path.join(__dirname, '..', '..', 'js') + path.sep

/** Node runs between turns, and ends the process where its own lists change. */
const isOurs = () => apply(includes, new TypeError('here').stack, [OURS])
const { includes } = String.prototype

/** @param {any} error */
function judge (name, error) {
  if (error instanceof Hostile) return
  let isError = false
  try { isError = error instanceof Error || Object.prototype.toString.call(error) === '[object Error]' } catch {}
  if (!isError && (typeof error === 'symbol' || error === undefined || error === null || typeof error !== 'object')) report(`${name} threw ${String(error)}`)
}

const settled = promise => new Later(resolve => {
  let isDone = false
  const done = error => { if (!isDone) { isDone = true; resolve(error) } }
  let n = 0
  const wait = () => { if (++n > 20) done(undefined); else turn(wait) }
  wait()
  try { promise.then(() => done(undefined), done) } catch { done(undefined) }
})

async function main () {
  const all = places().filter(place => groups.length === 0 || groups.includes(place.group))
  for (const place of all) {
    for (let round = 0; round < Number(rounds); round++) {
      for (const mode of ['spy', 'throw', 'lie', 'act', 'mixed']) {
        if (mode === 'spy' && round > 0) continue
        here = `${place.name} ${mode} ${round}`
        writeSync(1, `${here}\n`)
        world = newWorld()
        const back = replaced(place, hostileOf(mode, place))
        if (back === null) break
        const pending = []
        const thrown = []
        try {
          for (let i = 0; i < CALLS.length; i++) {
            if (place.group === 'typed arrays' && BY_NODE.has(CALLS[i][0])) continue
            running = true
            try {
              CALLS[i][1](world)
            } catch (error) {
              running = false
              thrown.push([CALLS[i][0], error])
            }
            running = false
          }
          if (round === 0 && (mode === 'mixed' || mode === 'act')) {
            for (let i = 0; i < LATER.length; i++) {
              running = true
              let promise
              try {
                promise = LATER[i][1](world)
              } catch (error) {
                running = false
                thrown.push([LATER[i][0], error])
              }
              running = false
              pending.push(promise)
            }
          }
          running = place.group !== 'Promise' && place.key !== 'Promise' && place.key !== 'then' // await itself asks those
          isSync = false
          for (let i = 0; i < pending.length; i++) await settled(pending[i])
          isSync = true
          running = false
        } finally {
          running = false
          back()
        }
        if (mode !== 'lie' && mode !== 'mixed') for (const [name, error] of thrown) judge(name, error) // lies may be what is thrown
        check()
      }
    }
  }
  writeSync(1, 'done\n')
}

/** The library works as before. */
function check () {
  const t = samebytes.tensor([[1, 2], [3, 4]]).T.clone()
  if (stringify(t.toArray()) !== '[[1,3],[2,4]]') report(`afterwards a transpose is ${stringify(t.toArray())}`)
  const z = samebytes.zeros([5])
  if (stringify(z.toArray()) !== '[0,0,0,0,0]') report(`afterwards zeros are ${stringify(z.toArray())}`)
  t.dispose()
  z.dispose()
}

main().catch(error => { writeSync(1, `${stringify({ place: here, text: String(error.stack) })}\n`); process.exitCode = 3 })
