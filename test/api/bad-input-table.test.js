'use strict'
// Wrong values in every place of every public function: a typed error that names the argument, and nothing has changed.
const assert = require('node:assert/strict')
const samebytes = require('samebytes')
const { Tensor, memory } = samebytes
const {
  FUNCTIONS,
  REFUSED,
  OF_FILES,
  METHODS,
  sample,
  sampleOver,
  tokens,
  validOf,
} = require('../signatures')
const { skipWithout } = require('../setup')
const { acceptsRight, outcome, readsFirst, refusesAll, sly } = require('../refusals')
const { detached, disposed, otherPackage } = require('../wrong')

const isClass = (value) =>
  typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))
const exported = Object.keys(samebytes).filter(
  (name) => typeof samebytes[name] === 'function' && !isClass(samebytes[name]),
)
const descriptors = Object.getOwnPropertyDescriptors(Tensor.prototype)
const keys = Reflect.ownKeys(descriptors).filter((key) => key !== 'constructor')
const SYMBOLS = new Map([
  [Symbol.iterator, '[iterator]'],
  [Symbol.dispose, '[dispose]'],
  [Symbol.toPrimitive, '[toPrimitive]'],
  [Symbol.for('nodejs.util.inspect.custom'), '[inspect]'],
  [Symbol.for('Symbol.dispose'), '[dispose]'],
])
const nameOf = (key) => SYMBOLS.get(key) ?? String(key)
const methods = keys.filter((key) => typeof descriptors[key].value === 'function')
const ABOUT_THE_CLASS = [Symbol.for('@jest/serializableProperties'), '__samebytes__']
const getters = keys.filter((key) => descriptors[key].get && !ABOUT_THE_CLASS.includes(key))

function throwAway(value) {
  for (const t of Array.isArray(value) ? value : [value]) if (Tensor.isTensor(t)) t.dispose()
}

/** Without arithmetic, which this file does not load. */
const addTwice = (one, out) => out.copyFrom(one, { scale: 2 })

describe('the table of public functions', () => {
  it('has a row for each one, and no others', () => {
    assert.deepEqual(
      exported.filter((name) => !FUNCTIONS[name] && !OF_FILES.includes(name)),
      [],
      'exported functions without a row in test/signatures.js',
    )
    assert.deepEqual(
      methods.map(nameOf).filter((name) => !METHODS[name]),
      [],
      'methods without a row in test/signatures.js',
    )
    assert.deepEqual(
      Object.keys(FUNCTIONS).filter((name) => !exported.includes(name)),
      [],
    )
    assert.deepEqual(
      Object.keys(METHODS).filter((name) => !methods.map(nameOf).includes(name)),
      [],
    )
  })
})

describe('wrong values', function () {
  after(() => {
    for (const token of tokens) {
      try {
        samebytes.unshare(token)
      } catch {} // taken, or taken back
    }
    assert.equal(memory().inFlight, 0)
  })

  for (const name of exported.filter((name) => FUNCTIONS[name])) {
    const row = {
      args: FUNCTIONS[name],
      refused: REFUSED[name],
      random:
        /^rand/.test(name) ||
        ['alloc', 'empty'].includes(name) ||
        name.startsWith('emptyL') ||
        name.startsWith('emptyS'),
    }
    const call = (args) => samebytes[name](...args)
    it(`of ${name} are refused, and leave nothing behind`, () => refusesAll(row, call))
    it(`of ${name}: right ones work, of every realm and through Proxies`, function () {
      if (name === 'init') skipWithout(this, 'another init')
      return acceptsRight(row, call)
    })
    it(`of ${name}: what reading right ones runs changes nothing`, function () {
      if (name === 'init') skipWithout(this, 'another init')
      return readsFirst(row, call, addTwice)
    })
  }

  for (const key of methods) {
    const name = nameOf(key)
    if (!METHODS[name]) continue
    const row = METHODS[name]
    const { make = sample, lazy } = row
    const call = (args, on) => (lazy ? [...on[key](...args)] : on[key](...args))
    it(`of Tensor.prototype.${name} are refused, and change nothing`, () =>
      refusesAll(row, call, make))
    it(`of Tensor.prototype.${name}: right ones work, of every realm and through Proxies`, () =>
      acceptsRight(row, call, make))
    it(`of Tensor.prototype.${name}: what reading right ones runs changes nothing`, () =>
      readsFirst(row, call, addTwice, make))

    it(`Tensor.prototype.${name} of a tensor that is disposed, detached, read-only, none, or another package's`, async () => {
      const args = () => row.args.map(validOf)
      const gone = disposed()
      const late = await outcome(() => call(args(), gone))
      if (!row.onDisposed) {
        assert.ok(
          ['ERR_DISPOSED', ...(row.refused ?? [])].includes(late.error?.code),
          late.error?.stack ?? 'nothing was thrown',
        )
      }
      const without = await outcome(() => call(args(), detached()))
      if (without.error && !row.make) {
        assert.ok(
          ['ERR_DETACHED', ...(row.refused ?? [])].includes(without.error.code),
          without.error.stack,
        )
      }
      for (const fake of [
        {},
        null,
        undefined,
        Tensor.prototype,
        Object.create(Tensor.prototype),
        new Proxy(sample(), {}),
        otherPackage().zeros([2, 3]),
      ]) {
        const { error } = await outcome(() =>
          lazy
            ? [...Tensor.prototype[key].apply(fake, args())]
            : Tensor.prototype[key].apply(fake, args()),
        )
        if (row.delegates && !error) continue
        if (row.refused?.includes(error?.code)) continue
        assert.equal(
          error?.code,
          'ERR_ARGUMENT',
          `${String(fake && fake.constructor?.name)}: ${error?.stack ?? 'nothing was thrown'}`,
        )
        assert.match(
          error.message,
          fake
            ? /^a method or property of tensors was used on an object; a tensor was expected/
            : /^a method was called without its tensor; /,
        )
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
            else if (what === 'resize') {
              on.resize(on.shape.map((n, d) => (d ? n : Math.max(n - 1, 0))))
            } else structuredClone(source, { transfer: [source.buffer] })
          }
          const args = row.args.map((argument, k) =>
            k === i ? sly(validOf(argument), act) : validOf(argument),
          )
          const { error, result } = await outcome(() => call(args, on))
          if (error) {
            const expected = {
              dispose: ['ERR_DISPOSED'],
              detach: ['ERR_DETACHED'],
              resize: ['ERR_SHAPE', 'ERR_BOUNDS'],
            }[what]
            assert.ok(
              [...expected, ...(row.refused ?? [])].includes(error.code),
              `argument ${i}, ${what}: ${error.stack}`,
            )
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
      for (const fake of [
        {},
        Tensor.prototype,
        ...(key === 'bytes' ? [] : [otherPackage().zeros([2, 3])]),
      ]) {
        // bytes are the data's
        assert.throws(() => descriptors[key].get.call(fake), {
          name: 'TypeError',
          code: 'ERR_ARGUMENT',
          message: /a tensor was expected/,
        })
      }
      const { error } = await outcome(() => detached()[key])
      if (error) {
        assert.ok(
          ['ERR_DETACHED', 'ERR_SHAPE', 'ERR_UNSUPPORTED'].includes(error.code),
          error.stack,
        )
      }
    })
  }
})
