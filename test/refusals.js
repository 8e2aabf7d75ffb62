'use strict'
// Calls with wrong values in every place, and with right ones of every kind: what the rows of test/signatures.js are for.
const assert = require('node:assert/strict')
const vm = require('node:vm')
const samebytes = require('samebytes')
const { Tensor, memory, tensor, zeros } = samebytes
const { tokens, validOf } = require('./signatures')
const { wrongFor } = require('./wrong')

const CLASSES = {
  ERR_ARGUMENT: TypeError,
  ERR_DTYPE: TypeError,
  ERR_CAST: TypeError,
  ERR_SHAPE: RangeError,
  ERR_BOUNDS: RangeError,
  ERR_MEMORY: RangeError,
  ERR_ALIGNMENT: RangeError,
}

/** What a call comes to: { result } or { error }, after it settled. */
async function outcome(call) {
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
function seen(t) {
  const { shape, strides, offset, dtype, capacity, dynamism, isReadOnly } = t
  return JSON.stringify({
    shape,
    strides,
    offset,
    dtype,
    capacity,
    dynamism,
    isReadOnly,
    values: t.toJSON(),
  })
}

/** What a result has, without what is different each time. */
function shown(value) {
  if (Tensor.isTensor(value)) {
    return {
      shape: value.shape,
      strides: value.strides,
      dtype: value.dtype,
      values: value.toArray(),
    }
  }
  if (Array.isArray(value)) return value.map(shown)
  return value !== null && typeof value === 'object'
    ? Object.keys(value).sort()
    : typeof value === 'function'
      ? 'a function'
      : value
}

/** Every call with one wrong value: { label, name, codes, args }. */
function* wrongCalls(args) {
  for (const [i, argument] of args.entries()) {
    const right = validOf(argument)
    const put = (value) => args.map((each, k) => (k === i ? value : validOf(each)))
    for (const { label, make, codes } of wrongFor(argument, right)) {
      yield {
        label: `${argument.name || `argument ${i}`} is ${label}`,
        name: argument.name,
        codes,
        args: () => put(make()),
      }
    }
    for (const [key, option] of Object.entries(argument.keys ?? {})) {
      for (const { label, make, codes } of wrongFor(
        { ...option, optional: true },
        validOf(option),
      )) {
        yield {
          label: `option ${key} is ${label}`,
          name: option.name || key,
          codes,
          args: () => put({ ...validOf(argument), [key]: make() }),
        }
      }
    }
  }
}

/** The error is ours, of a code that fits, and says which argument. */
function checkError(error, { label, name, codes }) {
  const { code } = error ?? {}
  if (codes.includes('a plain TypeError') && error instanceof TypeError) return
  assert.equal(typeof code, 'string', `${label}: ${error?.stack ?? String(error)}`)
  assert.ok(codes.includes(code), `${label}: ${code} is none of ${codes}: ${error.stack}`)
  assert.ok(
    error instanceof (CLASSES[code] ?? samebytes.SamebytesError),
    `${label}: ${error.stack}`,
  )
  const said = /DISPOSED|DETACHED|READ_ONLY|OVERLAP|MEMORY/.test(code) ? '' : name
  assert.match(
    error.message,
    new RegExp(said === '' ? '\\S{3}' : `(^|[^a-z])(${said})`, 'i'),
    `${label}: the message does not name ${name}`,
  )
}

/**
 * Makes all wrong calls of a row.
 *
 * @param {{ args: object[], refused?: string[] }} row
 * @param {(args: unknown[], on?: any) => unknown} call
 * @param {() => any} [make]  what it is called on
 */
async function refusesAll({ args }, call, make) {
  const on = make?.()
  const before = on && seen(on)
  const problems = []
  for (const wrong of wrongCalls(args)) {
    const list = wrong.args()
    const counts = alive()
    const { result, error } = await outcome(() => call(list, on))
    try {
      assert.ok(
        error !== undefined,
        `${wrong.label}: nothing was thrown; the result was ${Tensor.isTensor(result) ? 'a tensor' : String(result)}`,
      )
      checkError(error, wrong)
      const now = alive()
      assert.ok(
        now.tensors <= counts.tensors,
        `${wrong.label}: ${now.tensors - counts.tensors} tensors were left`,
      )
      assert.ok(
        now.storages <= counts.storages,
        `${wrong.label}: ${now.storages - counts.storages} storages were left`,
      )
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
function foreign(value) {
  if (Array.isArray(value)) {
    return value.reduce(
      (list, x) => {
        list.push(foreign(x))
        return list
      },
      vm.runInContext('[]', realm),
    )
  }
  if (ArrayBuffer.isView(value)) {
    const Type = vm.runInContext(value.constructor.name, realm)
    return value.buffer instanceof SharedArrayBuffer
      ? new Type(value.buffer, value.byteOffset, value.length)
      : new Type(value)
  }
  if (
    value !== null &&
    typeof value === 'object' &&
    Object.getPrototypeOf(value) === Object.prototype
  ) {
    return Object.assign(
      vm.runInContext('({})', realm),
      Object.fromEntries(Object.entries(value).map(([key, x]) => [key, foreign(x)])),
    )
  }
  return value
}

/** Lists and options whose every read runs act. */
function sly(value, act) {
  const isPlain =
    Array.isArray(value) ||
    (value !== null &&
      typeof value === 'object' &&
      Object.getPrototypeOf(value) === Object.prototype)
  return isPlain
    ? new Proxy(value, {
        get(target, key) {
          act()
          return Reflect.get(target, key)
        },
      })
    : value
}

/** Uses the library, and so the frame, in the middle of a call. */
function busy() {
  const t = zeros([3, 4]).fill(9)
  t.T.clone()
    .slice('::-1')
    .copyFrom(tensor([1, 2, 3]))
  try {
    zeros([-1])
  } catch {}
  t.dispose()
}

/** Right values: as they are, of another realm, read through Proxies that use the library or throw. */
async function acceptsRight({ args, refused, random }, call, make = () => undefined) {
  const list = () => args.map(validOf)
  const run = async (args) => outcome(() => call(args, make()))
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
    const used = await run(list().map((value, k) => (k === i ? sly(value, busy) : value)))
    assert.ok(!used.error, `argument ${i} that uses the library: ${used.error?.stack}`)
    if (!random) assert.deepEqual(shown(used.result), shown(plain.result))
    const mine = new Error('mine')
    const counts = alive()
    const thrown = await run(
      list().map((value, k) =>
        k === i
          ? sly(value, () => {
              throw mine
            })
          : value,
      ),
    )
    if (thrown.error) {
      assert.equal(thrown.error, mine, `argument ${i} that throws: ${thrown.error.stack}`)
      assert.ok(alive().tensors <= counts.tensors + (make() ? 2 : 0) + args.length * 3)
    }
  }
}

const isPlain = (value) =>
  value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype
const mapped = (value, fn) =>
  Array.isArray(value)
    ? value.map(fn)
    : Object.fromEntries(Object.entries(value).map(([key, x]) => [key, fn(x)]))

/** Ways to run act where a value is read, on each level of lists and options. */
const READS = {
  'a Proxy': (value, act) =>
    new Proxy(
      value,
      Object.fromEntries(
        ['get', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf'].map((trap) => [
          trap,
          (...args) => {
            act()
            return Reflect[trap](...args)
          },
        ]),
      ),
    ),
  getters: (value, act) =>
    Object.defineProperties(
      Array.isArray(value) ? [] : {},
      Object.fromEntries(
        Object.entries(value).map(([key, x]) => [
          key,
          {
            enumerable: true,
            configurable: true,
            get() {
              act()
              return x
            },
          },
        ]),
      ),
    ),
  'inherited getters': (value, act) =>
    Array.isArray(value) ? READS.getters(value, act) : Object.create(READS.getters(value, act)),
  iterables: (value, act) =>
    Array.isArray(value)
      ? (function* () {
          for (const x of value) {
            act()
            yield x
          }
        })()
      : READS.getters(value, act),
}

function readBy(how, value, act) {
  if (ArrayBuffer.isView(value)) {
    const proto = Object.getPrototypeOf(value)
    for (const key of ['length', 'constructor', 'buffer', Symbol.iterator]) {
      Object.defineProperty(value, key, {
        configurable: true,
        get() {
          act()
          return Reflect.get(proto, key, value)
        },
      })
    }
    return value
  }
  if (!Array.isArray(value) && !isPlain(value)) return value
  return READS[how](
    mapped(value, (x) => readBy(how === 'inherited getters' ? 'getters' : how, x, act)),
    act,
  ) // lists and records have entries of their own
}

/** Lists and options that nobody else has. */
const anew = (value) => (Array.isArray(value) || isPlain(value) ? mapped(value, anew) : value)

/** Takes all out of lists and options. */
function empty(value) {
  if (!Array.isArray(value) && !isPlain(value)) return
  Object.values(value).forEach(empty)
  if (Array.isArray(value)) value.length = 0
  else for (const key of Object.keys(value)) delete value[key]
}

/** Every tensor in arguments, lists and options. */
const tensorsIn = (value) =>
  Tensor.isTensor(value)
    ? [value]
    : Array.isArray(value) || isPlain(value)
      ? Object.values(value).flatMap(tensorsIn)
      : []

/** All that a result has, in plain values. */
function wholly(value) {
  if (Tensor.isTensor(value)) return shown(value)
  if (ArrayBuffer.isView(value)) return [...value]
  return Array.isArray(value) || isPlain(value) ? mapped(value, wholly) : typeof value
}

/**
 * What the caller's code does while a call reads its arguments: `compute` uses the library, whose results have to be there at once and stay;
 * `grow` grows WebAssembly's memory, so that all views of it are stale; `dispose` ends the tensors that the call was given.
 */
const ACTS = {
  compute({ kept, compute }) {
    const one = tensor([
      [1, 2],
      [3, 4],
    ])
    const sum = zeros([2, 2])
    compute(one, sum)
    assert.deepEqual(
      sum.toArray(),
      [
        [2, 4],
        [6, 8],
      ],
      'a call in the midst of another one did not compute at once',
    )
    one.T.slice('::-1').copyFrom(tensor([5, 6]))
    kept.push(sum)
  },
  grow({ kept }) {
    samebytes.wasmMemory()?.grow(1)
    kept.push(
      tensor([
        [2, 4],
        [6, 8],
      ]),
    )
  },
  dispose({ given }) {
    for (const t of given) t.dispose()
  },
}

/**
 * A call whose arguments run code as they are read has the result that it has without, or is refused because that code disposed of what it needs.
 *
 * @param {{ args: object[], refused?: string[], random?: boolean }} row
 * @param {(args: unknown[], on?: any) => unknown} call
 * @param {(one: any, out: any) => void} compute  writes one + one
 * @param {() => any} [make]  what it is called on
 */
async function readsFirst({ args, refused, random }, call, compute, make = () => undefined) {
  const plain = await outcome(() => call(args.map(validOf), make()))
  if (plain.error) {
    assert.ok(refused?.includes(plain.error.code), plain.error.stack)
    return
  }
  const wanted = wholly(plain.result)
  const later = args.map(validOf).map(anew)
  const pending = call(later, make())
  if (typeof pending?.then === 'function') later.forEach(empty) // which is too late to be seen
  const settled = await outcome(() => pending)
  if (!random) assert.deepEqual(wholly(settled.result), wanted)
  for (const [i, argument] of args.entries()) {
    for (const key of [null, ...Object.keys(argument.keys ?? {})]) {
      for (const how of Object.keys(READS)) {
        for (const [what, act] of Object.entries(ACTS)) {
          if (how !== 'a Proxy' && what === 'grow') continue // memory that never shrinks
          if (how === 'inherited getters' && (key !== null || argument.kind !== 'options')) continue
          const on = make()
          const list = args.map(validOf)
          const about = {
            kept: [],
            given: [...tensorsIn(list), on].filter(Tensor.isTensor),
            compute,
          }
          let reads = 0
          const once = () => {
            if (reads++ < (what === 'grow' ? 1 : 3)) act(about)
          }
          list[i] =
            key === null
              ? readBy(how, list[i], once)
              : { ...list[i], [key]: readBy(how, list[i][key], once) }
          const { result, error } = await outcome(() => call(list, on))
          if (reads === 0) continue
          const label = `${argument.name || `argument ${i}`}${key === null ? '' : `, option ${key}`}: ${how} that ${what}s`
          for (const t of about.kept) {
            assert.deepEqual(
              t.toArray(),
              [
                [2, 4],
                [6, 8],
              ],
              label,
            )
          }
          for (const t of about.kept) t.dispose()
          if (error === undefined) {
            if (!random && !(what === 'dispose' && about.given.includes(result))) {
              assert.deepEqual(wholly(result), wanted, label)
            }
          } else if (what === 'dispose') {
            assert.equal(
              error.code,
              how === 'iterables' && error.code !== 'ERR_DISPOSED'
                ? 'ERR_ARGUMENT'
                : 'ERR_DISPOSED',
              `${label}: ${error.stack}`,
            )
          } else {
            assert.ok(
              how === 'iterables' && error.code === 'ERR_ARGUMENT',
              `${label}: ${error.stack}`,
            ) // most lists are no iterables
          }
          for (const t of [...about.given, ...tensorsIn(result)]) t.dispose()
        }
      }
    }
  }
}

module.exports = { acceptsRight, outcome, readsFirst, refusesAll, sly }
