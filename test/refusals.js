'use strict'
// Calls with wrong values in every place, and with right ones of every kind: what the rows of test/signatures.js are for.
const assert = require('node:assert/strict')
const vm = require('node:vm')
const samebytes = require('samebytes')
const { Tensor, memory, tensor, zeros } = samebytes
const { tokens, validOf } = require('./signatures')
const { wrongFor } = require('./wrong')

const CLASSES = { ERR_ARGUMENT: TypeError, ERR_DTYPE: TypeError, ERR_CAST: TypeError, ERR_SHAPE: RangeError, ERR_BOUNDS: RangeError, ERR_MEMORY: RangeError, ERR_ALIGNMENT: RangeError }

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

module.exports = { acceptsRight, outcome, refusesAll, sly }
