'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { childJson, needs } = require('../setup')

// Every function and method that takes a tensor is given one whose bytes are gone. It may succeed only if it touched none of
// them: a mapping knows whether anybody did.
const PRELUDE = (folder) => `
  const fs = require('node:fs')
  const samebytes = require('samebytes')
  const { Tensor, tensor, openRaw, openNpy } = samebytes
  const ffi = require('./js/backend/calls')
  const { FUNCTIONS, METHODS, sample, tokens, validOf } = require('./test/signatures')
  const folder = ${JSON.stringify(folder)}
  let made = 0
  const newPath = extension => folder + '/' + made++ + extension

  /** The same over a guarded mapping, whose file gets shorter when cut() is called. */
  function guarded (t, exposed) {
    const file = newPath('.raw')
    fs.writeFileSync(file, t.contiguous().bytes)
    const u = openRaw(file, t.shape, { dtype: t.dtype, mode: 'r+', guard: true })
    if (exposed) u.data
    return { u, kept: u.view(u.shape), storage: Tensor.layoutOf(u).storage, cut (size = 0) { fs.truncateSync(file, size) } }
  }
  /** Did nobody touch what is gone? */
  const isUntouched = storage => { try { ffi.checkIntact(storage); return true } catch { return false } }

  /** What call comes to: 'untouched' (whatever else), ERR_IO, or what is wrong. */
  async function judged (storage, call) {
    try {
      const result = await call()
      if (typeof result?.samebytes === 'string') samebytes.unshare(result)
      if (isUntouched(storage)) return 'untouched'
      return /the bytes are gone|not hashed/.test(typeof result === 'string' ? result : '') ? 'ERR_IO' : 'succeeded with bytes that are gone' // for who looks at values
    } catch (error) {
      if (error.code === 'ERR_IO') return 'ERR_IO'
      return isUntouched(storage) && error.code !== undefined ? 'untouched' : error.stack
    }
  }
  const main = async body => { process.stdout.write(JSON.stringify(await body())) }
`

describe('a guarded file that is made shorter, in every argument', function () {
  needs('the addon')
  needs('mapped files that change')

  let folder
  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-everything-'))
  })
  afterEach(() => {
    fs.rmSync(folder, { recursive: true, force: true })
  })
  const program = (source) => childJson(PRELUDE(folder) + source)

  for (const exposed of [false, true]) {
    it(`makes each function and method fail that touches it${exposed ? ', after its data was given out' : ''}`, async () => {
      const said = await program(`main(async () => {
        /** Ways to put a guarded tensor in a value's place: [label, tensor, value with another in its place]. */
        function * places (value, label) {
          if (Tensor.isTensor(value)) {
            if (value.size > 0) yield [label, value, other => other]
          } else if (Array.isArray(value) && value.length > 0 && value.every(Tensor.isTensor)) {
            for (const [i, t] of value.entries()) yield [label + '[' + i + ']', t, other => value.with ? value.with(i, other) : Object.assign([...value], { [i]: other })]
          } else if (value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
            for (const [key, t] of Object.entries(value)) if (Tensor.isTensor(t)) yield [label + '.' + key, t, other => ({ ...value, [key]: other })]
          }
        }
        /** A valid value of an argument, a tensor where a list may be one. */
        const given = argument => argument.kind === 'values' && Array.isArray(validOf(argument)) ? tensor(validOf(argument)) : validOf(argument)
        const symbols = new Map([['[iterator]', Symbol.iterator], ['[dispose]', Symbol.dispose ?? 'dispose'], ['[inspect]', Symbol.for('nodejs.util.inspect.custom')], ['[toPrimitive]', Symbol.toPrimitive]])
        const verdicts = {}
        const use = result => typeof result?.next === 'function' ? [...result] : result
        const calls = Object.entries(FUNCTIONS).map(([name, args]) => [name, args, null, (self, values) => samebytes[name](...values)])
        for (const [name, { args, make = sample }] of Object.entries(METHODS)) {
          const key = symbols.get(name) ?? name
          calls.push([name, args, make, (self, values) => use(self[key](...values))])
        }
        calls.push(['accessor.get', [], sample, self => self.accessor().get(1, 1)], ['accessor.set', [], sample, self => self.accessor().set(1, 1, 1)])
        for (const key of Reflect.ownKeys(Tensor.prototype)) {
          const { get } = Object.getOwnPropertyDescriptor(Tensor.prototype, key)
          if (get) calls.push(['get ' + String(key), [], sample, self => self[key]])
        }
        for (const [name, args, make, call] of calls) {
          for (let i = make === null ? 0 : -1; i < args.length; i++) {
            for (const [label, t, put] of places(i < 0 ? make() : given(args[i]), i < 0 ? 'this' : 'argument ' + i)) {
              for (const optional of [true, false]) {
                const { u, kept, storage, cut } = guarded(t, ${exposed})
                const values = args.map((argument, j) => j === i ? put(u) : given(argument))
                if (!optional) while (values.length > 0 && values.length - 1 !== i && args[values.length - 1].optional) values.pop()
                const self = i < 0 ? u : make?.()
                cut()
                verdicts[name + ' ' + label + (optional ? '' : ', short')] = await judged(storage, () => call(self, values))
                for (const t of [u, kept]) t.dispose()
              }
            }
          }
        }
        for (const token of tokens) { try { samebytes.unshare(token) } catch {} }
        return verdicts
      })`)
      const all = Object.entries(said)
      assert.deepEqual(
        all.filter(([, verdict]) => verdict !== 'untouched' && verdict !== 'ERR_IO'),
        [],
      )
      // What has to be among those that touch bytes, so that this is a test at all.
      for (const name of [
        'get this',
        'at this',
        'set this',
        'toArray this',
        'toString this',
        'clone this',
        'copyFrom this',
        'copyFrom argument 0',
        'copyFromAsync argument 0',
        'setBytes this',
        'fill this',
        'take this',
        'toImageData this',
        'concat argument 0[1]',
        'stack argument 0[0]',
        'arrayEqual argument 1',
        'allClose argument 0',
        'toNpyBytes argument 0',
        'toNpzBytes argument 0.a',
        'toSafetensorsBytes argument 0.a',
        'tensor argument 0',
        'accessor.get this',
        'accessor.set this',
        'shareMemory this',
        'get Symbol(Symbol.toStringTag) this',
      ]) {
        assert.equal(said[name], 'ERR_IO', name)
      }
      assert.ok(all.length > 250, `${all.length} calls`)
    })
  }

  it('is saved by nothing: no file has the name, whether the bytes are asked for or were zeros by then', async () => {
    const said = await program(`main(async () => {
      const ones = samebytes.ones([3 * 4096])
      const ways = {
        saveNpy: ['.npy', t => t],
        saveNpySync: ['.npy', t => t],
        saveNpz: ['.npz', t => ({ a: samebytes.zeros([2]), t })],
        saveNpzSync: ['.npz', t => ({ a: samebytes.zeros([2]), t })],
        saveSafetensors: ['.safetensors', t => ({ a: samebytes.zeros([2]), t })],
        saveSafetensorsSync: ['.safetensors', t => ({ a: samebytes.zeros([2]), t })],
        save: ['.npz', t => ({ t })]
      }
      const { write, writeSync } = fs
      const verdicts = {}
      for (const [name, [extension, given]] of Object.entries(ways)) {
        for (const when of ['before', 'while it is written']) {
          for (const old of [false, true]) {
            const { u, storage, cut } = guarded(ones, true)
            const { data } = u
            const file = newPath(extension)
            if (old) fs.writeFileSync(file, 'old')
            /** Somebody else meets the hole before the system does. */
            const meet = () => { cut(4096); data[2 * 4096] }
            if (when === 'before') cut(4096)
            else Object.assign(fs, { write: (...args) => { meet(); return write(...args) }, writeSync: (...args) => { meet(); return writeSync(...args) } })
            const verdict = await judged(storage, () => samebytes[name](file, given(u)))
            Object.assign(fs, { write, writeSync })
            verdicts[name + ' ' + when + (old ? ' over an old one' : '')] = [verdict, fs.existsSync(file) ? fs.readFileSync(file, 'latin1').slice(0, 9) : null]
            u.dispose()
          }
        }
      }
      return [verdicts, fs.readdirSync(folder).filter(name => name.endsWith('.tmp'))]
    })`)
    const [verdicts, drafts] = said
    assert.equal(Object.keys(verdicts).length, 28)
    for (const [name, verdict] of Object.entries(verdicts)) {
      assert.deepEqual(verdict, ['ERR_IO', name.endsWith('over an old one') ? 'old' : null], name)
    }
    assert.deepEqual(drafts, [])
  })

  it('is ERR_IO to single elements where data was given out and the hole was met by somebody else', async () => {
    const said = await program(`main(async () => {
      const verdicts = []
      for (const use of [t => t.get(0), t => t.set(1, 0), t => t.toArray(), t => t.accessor().get(0), t => t.data, t => t.bytes]) {
        const { u, cut } = guarded(samebytes.ones([3 * 4096]), true)
        const { data } = u
        const before = [u.get(0), u.data === data, u.accessor().get(9)]
        cut(4096)
        const met = data[2 * 4096] // element 0 is still there
        let code = 'nothing thrown'
        try { use(u) } catch (error) { code = error.code }
        verdicts.push([before, met, code])
      }
      return verdicts
    })`)
    assert.deepEqual(said, Array(6).fill([[1, true, 1], 0, 'ERR_IO']))
  })

  it('is ERR_IO to a model that is fed with it, writes to it, or is made of it', async () => {
    const said = await program(`main(async () => {
      const { Module } = require('./js/model/module')
      const { DOUBLE } = require('./test/models')
      const n = 3 * 1024
      const ones = samebytes.ones([n])
      const module = await Module.load(DOUBLE)
      const verdicts = []
      for (const use of [t => module.forward(t), async t => { module.setOutput('y', t); try { await module.forward(ones) } finally { module.setOutput('y', null) } }]) {
        const { u, storage, cut } = guarded(ones, false)
        cut(4096)
        verdicts.push(await judged(storage, () => use(u)))
      }
      const after = (await module.forward(ones))[0].get(n - 1)
      const { u, storage, cut } = guarded(samebytes.fromBlob(Uint8Array.from(DOUBLE)), false)
      cut()
      verdicts.push(await judged(storage, () => Module.load(u)))
      return [verdicts, after]
    })`)
    assert.deepEqual(said, [['ERR_IO', 'ERR_IO', 'ERR_IO'], 2])
  })

  it('is ERR_IO to tensors that are made over its data, also when the first one is gone', async () => {
    const said = await program(`main(async () => {
      const verdicts = []
      const over = [data => samebytes.fromBlob(data), data => samebytes.fromBlob(data.subarray(1024)), data => samebytes.fromBlob(data.buffer, [2, 1536], 'float32'), data => samebytes.asarray(data)]
      for (const make of over) {
        for (const use of [t => samebytes.toNpzBytes({ t }), t => t.clone(), t => t.toArray()]) {
          const { u, kept, cut } = guarded(samebytes.ones([3 * 1024]), true)
          const { data } = u
          for (const t of [u, kept]) t.dispose()
          const t = make(data)
          data[1024] = 5
          const same = [...t.reshape([-1]).slice(':2048').toArray()].includes(5)
          cut(4096)
          verdicts.push([same, await judged(Tensor.layoutOf(t).storage, () => use(t))])
        }
      }
      return verdicts
    })`)
    assert.deepEqual(said, Array(12).fill([true, 'ERR_IO']))
  })
})
