'use strict'
// JavaScript's own functions are replaced, one or two at a time, while random calls run: what is in their place throws, lies, takes
// bytes away, calls the library. Errors may be of any kind then; but this process goes on, nothing that had no part in it
// changes, and the library works as before once they are back.

const fs = require('node:fs')
const path = require('node:path')
const { arrayEqual, fromBlob, setMemoryLimit, tensor, zeros } = require('samebytes')
const { clean, drawn, dropTokens, validOf, warm, writeFiles } = require('../calls')
const { Bystanders } = require('../witness')

const LIST = path.join(__dirname, '..', 'primordials.js')
const { places, replaced } = fs.existsSync(LIST) ? require(LIST) : {}
const LIES = [undefined, null, NaN, -1, 0, 1, 2 ** 31, 2 ** 53, 1e308, 'x', true, [], [1e9, 1e9], {}, new Float64Array(3), new ArrayBuffer(8), () => 7, 10n ** 30n, Symbol('lie')]
const MOST = 2000 // times that a replaced function is hostile in one call

const { apply, construct } = Reflect
const { isView } = ArrayBuffer
const transfer = buffer => structuredClone(buffer, { transfer: [buffer] })
const bufferOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), 'buffer').get

/** What a program may do at any time. */
function act (r, state, self, args) {
  const all = [self, ...args]
  switch (r.next(7)) {
    case 0: return state.on?.dispose?.()
    case 1: return transfer(state.source.buffer)
    case 2: return state.elastic.resize(0)
    case 3: return zeros([3, 4]).fill(9).T.clone()
    case 4: return state.on?.resize?.(1, 1)
    case 5: for (const value of all) if (isView(value)) transfer(apply(bufferOf, value, [])); return undefined
    default: for (const value of all) if (Array.isArray(value)) for (let i = 0; i < value.length && i < 4; i++) value[i] = 2 ** 30
  }
}

function grouped (all) {
  const groups = new Map()
  for (const place of all) groups.set(place.group, [...groups.get(place.group) ?? [], place])
  return groups
}

async function run (program) {
  const { r } = program
  writeFiles()
  setMemoryLimit(2 ** 26)
  const others = new Bystanders(r)
  const groups = [...grouped(places()).values()] // few have many
  program.isOwn = () => true
  for (let step = program.long ? 60 : 25; step > 0; step--) {
    const state = { running: false, source: new Float32Array(6).fill(2), elastic: new ArrayBuffer(24, { maxByteLength: 64 }), on: undefined }
    const chosen = Array.from({ length: r.pick([1, 1, 2]) }, () => r.pick(r.pick(groups)))
    let left = MOST
    const hostile = (original, self, args, isNew) => {
      const pass = () => typeof original !== 'function' ? original : isNew ? construct(original, args) : apply(original, self, args)
      if (!state.running || left-- <= 0) return pass()
      const what = r.next(5)
      if (what === 0) throw new program.Thrown('replaced')
      if (what === 1) return r.pick(LIES)
      if (what < 4) try { act(r, state, self, args) } catch {}
      return pass()
    }
    const undo = []
    for (const place of chosen) {
      const back = replaced(place, hostile)
      if (back !== null) undo.unshift(back)
    }
    program.trace(chosen.map(({ name }) => name).join(' and '))
    const promises = []
    try {
      for (let i = 0; i < 6; i++) {
        const { name, args, make, invoke } = drawn(r)
        const list = args.map(validOf)
        state.on = r.next(2) && make?.name === 'sample' ? fromBlob(r.next(2) ? state.source : new Float32Array(state.elastic), [2, 3]) : make?.()
        program.call(name, () => {
          state.running = true
          try {
            promises.push(invoke(list, state.on))
          } finally {
            state.running = false
          }
        })
      }
    } catch { // making them met a buffer that is gone
    } finally {
      for (const back of undo) back()
    }
    for (const promise of promises) if (promise instanceof Promise) promise.catch(() => {})
    const t = tensor([[1, 2], [3, 4]])
    if (!arrayEqual(t.T.clone(), tensor([[1, 3], [2, 4]]))) program.fail(`afterwards a transpose is another one: ${chosen.map(({ name }) => name)}`)
    if (r.rarely(4)) others.check(program, chosen.map(({ name }) => name).join(' and '))
  }
  others.check(program, 'in the end')
  others.dispose()
  dropTokens()
  clean()
}

module.exports = {
  backends: ['native', 'wasm', 'wasm-shared'],
  programs: 30,
  missing: () => places === undefined ? 'test/hostile/primordials.js, the list of what can be replaced, is not there' : '',
  before () {
    process.on('unhandledRejection', () => {}) // a promise may get lost on its way into our list
    return warm()
  },
  run
}
