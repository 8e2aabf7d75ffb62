'use strict'
// Wrong values in every place of every public function: a typed error that names the argument, and nothing has changed.
const assert = require('node:assert/strict')
const vm = require('node:vm')
const samebytes = require('samebytes')
const { Tensor, memory, tensor, zeros } = samebytes
const { FUNCTIONS, REFUSED, OF_FILES, METHODS, sample, sampleOver, tokens, validOf } = require('../signatures')
const { skipWithout } = require('../setup')
const { detached, disposed, otherPackage, wrongFor } = require('../wrong')

const CLASSES = { ERR_ARGUMENT: TypeError, ERR_DTYPE: TypeError, ERR_CAST: TypeError, ERR_SHAPE: RangeError, ERR_BOUNDS: RangeError, ERR_MEMORY: RangeError, ERR_ALIGNMENT: RangeError }
const FULL = process.env.SAMEBYTES_FULL === '1'

const isClass = value => typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))
const exported = Object.keys(samebytes).filter(name => typeof samebytes[name] === 'function' && !isClass(samebytes[name]))
const descriptors = Object.getOwnPropertyDescriptors(Tensor.prototype)
const keys = Reflect.ownKeys(descriptors).filter(key => key !== 'constructor')
const SYMBOLS = new Map([[Symbol.iterator, '[iterator]'], [Symbol.dispose, '[dispose]'], [Symbol.for('nodejs.util.inspect.custom'), '[inspect]'], [Symbol.for('Symbol.dispose'), '[dispose]']])
const nameOf = key => SYMBOLS.get(key) ?? String(key)
const methods = keys.filter(key => typeof descriptors[key].value === 'function')
const ABOUT_THE_CLASS = [Symbol.for('@jest/serializableProperties'), '__samebytes__']
const getters = keys.filter(key => descriptors[key].get && !ABOUT_THE_CLASS.includes(key))

/** What a call comes to: { result } or { error }, after it settled. */
async function outcome (call) {
  try {
    const result = await call()
    if (typeof result?.samebytes === 'string') tokens.push(result)
    return { result }
  } catch (error) {
    return { error }
  }
}

const alive = () => {
  const { tensors, storages } = memory()
  return { tensors, storages }
}

/** All that can be seen of a tensor. */
function seen (t) {
  const { shape, strides, offset, dtype, capacity, dynamism, isReadOnly } = t
  return JSON.stringify({ shape, strides, offset, dtype, capacity, dynamism, isReadOnly, values: t.toJSON() })
}

/** What a result has, without what is different each time. */
function shown (value) {
  if (Tensor.isTensor(value)) return { shape: value.shape, strides: value.strides, dtype: value.dtype, values: value.toArray() }
  if (Array.isArray(value)) return value.map(shown)
  return value !== null && typeof value === 'object' ? Object.keys(value).sort() : typeof value === 'function' ? 'a function' : value
}

function throwAway (value) {
  for (const t of Array.isArray(value) ? value : [value]) if (Tensor.isTensor(t)) t.dispose()
}

/** Every call with one wrong value: { label, name, codes, args }. */
function * wrongCalls (args) {
  for (const [i, argument] of args.entries()) {
    const right = validOf(argument)
    const put = value => args.map((each, k) => k === i ? value : validOf(each))
    for (const { label, make, codes } of wrongFor(argument, right)) {
      yield { label: `${argument.name || `argument ${i}`} is ${label}`, name: argument.name, codes, args: () => put(make()) }
    }
    for (const [key, option] of Object.entries(argument.keys ?? {})) {
      for (const { label, make, codes } of wrongFor({ ...option, optional: true }, validOf(option))) {
        yield { label: `option ${key} is ${label}`, name: option.name || key, codes, args: () => put({ ...validOf(argument), [key]: make() }) }
      }
    }
  }
}

/** The error is ours, of a code that fits, and says which argument. */
function checkError (error, { label, name, codes }) {
  const { code } = error ?? {}
  if (codes.includes('a plain TypeError') && error instanceof TypeError) return
  assert.equal(typeof code, 'string', `${label}: ${error?.stack ?? String(error)}`)
  assert.ok(codes.includes(code), `${label}: ${code} is none of ${codes}: ${error.stack}`)
  assert.ok(error instanceof (CLASSES[code] ?? samebytes.SamebytesError), `${label}: ${error.stack}`)
  const said = /DISPOSED|DETACHED|READ_ONLY|OVERLAP|MEMORY/.test(code) ? '' : name
  assert.match(error.message, new RegExp(said === '' ? '\\S{3}' : `(^|[^a-z])(${said})`, 'i'), `${label}: the message does not name ${name}`)
}

/**
 * Makes all wrong calls of a row.
 *
 * @param {{ args: object[], refused?: string[] }} row
 * @param {(args: unknown[], on?: any) => unknown} call
 * @param {() => any} [make]  what it is called on
 */
async function refusesAll ({ args }, call, make) {
  const on = make?.()
  const before = on && seen(on)
  const problems = []
  for (const wrong of wrongCalls(args)) {
    const list = wrong.args()
    const counts = alive()
    const { result, error } = await outcome(() => call(list, on))
    try {
      assert.ok(error !== undefined, `${wrong.label}: nothing was thrown; the result was ${Tensor.isTensor(result) ? 'a tensor' : String(result)}`)
      checkError(error, wrong)
      const now = alive()
      assert.ok(now.tensors <= counts.tensors, `${wrong.label}: ${now.tensors - counts.tensors} tensors were left`)
      assert.ok(now.storages <= counts.storages, `${wrong.label}: ${now.storages - counts.storages} storages were left`)
      if (on) assert.equal(seen(on), before, wrong.label)
    } catch (problem) {
      problems.push(problem.message)
      if (on && seen(on) !== before) break // one step further, all would differ
      if (problems.length > 20) break
    }
  }
  assert.equal(problems.length, 0, problems.join('\n'))
}

/** A value as another realm makes it. */
const realm = vm.createContext({})
function foreign (value) {
  if (Array.isArray(value)) return value.reduce((list, x) => { list.push(foreign(x)); return list }, vm.runInContext('[]', realm))
  if (ArrayBuffer.isView(value)) {
    const Type = vm.runInContext(value.constructor.name, realm)
    return value.buffer instanceof SharedArrayBuffer ? new Type(value.buffer, value.byteOffset, value.length) : new Type(value)
  }
  if (value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
    return Object.assign(vm.runInContext('({})', realm), Object.fromEntries(Object.entries(value).map(([key, x]) => [key, foreign(x)])))
  }
  return value
}

/** Lists and options whose every read runs act. */
function sly (value, act) {
  const isPlain = Array.isArray(value) || (value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype)
  return isPlain ? new Proxy(value, { get (target, key) { act(); return Reflect.get(target, key) } }) : value
}

/** Uses the library, and so the frame, in the middle of a call. */
function busy () {
  const t = zeros([3, 4]).fill(9)
  t.T.clone().slice('::-1').copyFrom(tensor([1, 2, 3]))
  try { zeros([-1]) } catch {}
  t.dispose()
}

/** Right values: as they are, of another realm, read through Proxies that use the library or throw. */
async function acceptsRight ({ args, refused, random }, call, make = () => undefined) {
  const list = () => args.map(validOf)
  const run = async args => outcome(() => call(args, make()))
  const plain = await run(list())
  if (refused) {
    assert.ok(refused.includes(plain.error?.code), plain.error?.stack)
    return
  }
  assert.ok(!plain.error, plain.error?.stack)
  const other = await run(list().map(foreign))
  assert.ok(!other.error, `of another realm: ${other.error?.stack}`)
  if (!random) assert.deepEqual(shown(other.result), shown(plain.result))
  for (let i = 0; i < args.length; i++) {
    const used = await run(list().map((value, k) => k === i ? sly(value, busy) : value))
    assert.ok(!used.error, `argument ${i} that uses the library: ${used.error?.stack}`)
    if (!random) assert.deepEqual(shown(used.result), shown(plain.result))
    const mine = new Error('mine')
    const counts = alive()
    const thrown = await run(list().map((value, k) => k === i ? sly(value, () => { throw mine }) : value))
    if (thrown.error) {
      assert.equal(thrown.error, mine, `argument ${i} that throws: ${thrown.error.stack}`)
      assert.ok(alive().tensors <= counts.tensors + (make() ? 2 : 0) + args.length * 3)
    }
  }
}

describe('the table of public functions', () => {
  it('has a row for each one, and no others', () => {
    assert.deepEqual(exported.filter(name => !FUNCTIONS[name] && !OF_FILES.includes(name)), [], 'exported functions without a row in test/signatures.js')
    assert.deepEqual(methods.map(nameOf).filter(name => !METHODS[name]), [], 'methods without a row in test/signatures.js')
    assert.deepEqual(Object.keys(FUNCTIONS).filter(name => !exported.includes(name)), [])
    assert.deepEqual(Object.keys(METHODS).filter(name => !methods.map(nameOf).includes(name)), [])
  })
})

describe('wrong values', function () {
  this.timeout(FULL ? 600000 : 60000)

  after(() => {
    for (const token of tokens) {
      try { samebytes.unshare(token) } catch {} // taken, or taken back
    }
    assert.equal(memory().inFlight, 0)
  })

  for (const name of exported.filter(name => FUNCTIONS[name])) {
    const row = { args: FUNCTIONS[name], refused: REFUSED[name], random: /^rand/.test(name) || name === 'empty' || name.startsWith('emptyL') || name.startsWith('emptyS') }
    const call = args => samebytes[name](...args)
    it(`of ${name} are refused, and leave nothing behind`, () => refusesAll(row, call))
    it(`of ${name}: right ones work, of every realm and through Proxies`, function () {
      if (name === 'init') skipWithout(this, 'another init')
      return acceptsRight(row, call)
    })
  }

  for (const key of methods) {
    const name = nameOf(key)
    if (!METHODS[name]) continue
    const row = METHODS[name]
    const { make = sample, lazy } = row
    const call = (args, on) => lazy ? [...on[key](...args)] : on[key](...args)
    it(`of Tensor.prototype.${name} are refused, and change nothing`, () => refusesAll(row, call, make))
    it(`of Tensor.prototype.${name}: right ones work, of every realm and through Proxies`, () => acceptsRight(row, call, make))

    it(`Tensor.prototype.${name} of a tensor that is disposed, detached, read-only, none, or another package's`, async () => {
      const args = () => row.args.map(validOf)
      const gone = disposed()
      const late = await outcome(() => call(args(), gone))
      if (!row.onDisposed) assert.ok(['ERR_DISPOSED', ...row.refused ?? []].includes(late.error?.code), late.error?.stack ?? 'nothing was thrown')
      const without = await outcome(() => call(args(), detached()))
      if (without.error && !row.make) assert.ok(['ERR_DETACHED', ...row.refused ?? []].includes(without.error.code), without.error.stack)
      for (const fake of [{}, null, undefined, Tensor.prototype, Object.create(Tensor.prototype), new Proxy(sample(), {}), otherPackage().zeros([2, 3])]) {
        const { error } = await outcome(() => lazy ? [...Tensor.prototype[key].apply(fake, args())] : Tensor.prototype[key].apply(fake, args()))
        if (row.delegates && !error) continue
        if (row.refused?.includes(error?.code)) continue
        assert.equal(error?.code, 'ERR_ARGUMENT', `${String(fake && fake.constructor?.name)}: ${error?.stack ?? 'nothing was thrown'}`)
        assert.match(error.message, fake ? /^a method or property of tensors was used on an object; a tensor was expected/ : /^a method was called without its tensor; /)
      }
      const source = Float32Array.of(1, 2, 3, 4, 5, 6)
      const sealed = samebytes.fromBlob(source, [2, 3], { readOnly: true })
      const { error } = await outcome(() => call(args(), sealed))
      if (row.writes) assert.equal(error?.code, 'ERR_READ_ONLY')
      assert.deepEqual([...source], [1, 2, 3, 4, 5, 6])
    })

    it(`Tensor.prototype.${name} is safe where reading its arguments disposes of the tensor, detaches or resizes it`, async () => {
      for (let i = 0; i < row.args.length; i++) {
        for (const what of ['dispose', 'detach', 'resize']) {
          const source = Float32Array.of(1, 2, 3, 4, 5, 6)
          const on = make === sample ? sampleOver(source) : make()
          let done = false
          const act = () => {
            if (done) return
            done = true
            if (what === 'dispose') on.dispose()
            else if (what === 'resize') on.resize(on.shape.map((n, d) => d ? n : Math.max(n - 1, 0)))
            else structuredClone(source, { transfer: [source.buffer] })
          }
          const args = row.args.map((argument, k) => k === i ? sly(validOf(argument), act) : validOf(argument))
          const { error, result } = await outcome(() => call(args, on))
          if (error) {
            const expected = { dispose: ['ERR_DISPOSED'], detach: ['ERR_DETACHED'], resize: ['ERR_SHAPE', 'ERR_BOUNDS'] }[what]
            assert.ok([...expected, ...row.refused ?? []].includes(error.code), `argument ${i}, ${what}: ${error.stack}`)
          } else {
            if (what === 'dispose' && done && !on.isDisposed) assert.fail('it came back')
            throwAway(result)
          }
        }
      }
    })
  }

  for (const key of getters) {
    it(`Tensor.prototype.${String(key)} of what is no tensor, or none any more, is refused`, async () => {
      const own = { isDisposed: true, 'Symbol(Symbol.toStringTag)': 'Tensor(disposed)' }
      if (String(key) in own) assert.equal(disposed()[key], own[String(key)])
      else assert.throws(() => disposed()[key], { code: 'ERR_DISPOSED' })
      if (key === Symbol.toStringTag) return
      for (const fake of [{}, Tensor.prototype, ...key === 'bytes' ? [] : [otherPackage().zeros([2, 3])]]) { // bytes are the data's
        assert.throws(() => descriptors[key].get.call(fake), { name: 'TypeError', code: 'ERR_ARGUMENT', message: /a tensor was expected/ })
      }
      const { error } = await outcome(() => detached()[key])
      if (error) assert.ok(['ERR_DETACHED', 'ERR_SHAPE', 'ERR_UNSUPPORTED'].includes(error.code), error.stack)
    })
  }
})
