'use strict'
// Values that nobody expects, for any argument; and values as they should be that do something when they are looked at.

const vm = require('node:vm')
const { types } = require('node:util')
const { Generator, Tensor, alloc, empty, fromBlob, share, tensor, zeros } = require('samebytes')
const { disposed, detached, wrongFor } = require('../wrong')

const KINDS = [
  'integer',
  'integral',
  'number',
  'integers',
  'counts',
  'shape',
  'dtype',
  'word',
  'boolean',
  'function',
  'tensor',
  'tensors',
  'out',
  'generator',
  'signal',
  'factor',
  'value',
  'values',
  'bytes',
  'tensorsByName',
  'textsByName',
  'slice',
  'object',
  'token',
  'descriptor',
  'capsule',
  'disposable',
  'options',
]
const NUMBERS = [
  0,
  -0,
  1,
  -1,
  2,
  3,
  0.5,
  -1.5,
  NaN,
  Infinity,
  -Infinity,
  255,
  256,
  65535,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 32 + 1,
  2 ** 40,
  2 ** 52,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 63,
  2 ** 64,
  1e308,
  5e-324,
  -(2 ** 31),
  -(2 ** 53),
]
const BIGINTS = [
  0n,
  1n,
  -1n,
  2n ** 31n,
  2n ** 53n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n,
  -(2n ** 63n),
  2n ** 4000n,
]
const TEXTS = [
  '',
  ' ',
  '0',
  '1:',
  '::-1',
  '...',
  'constructor',
  '__proto__',
  'float32',
  'cpu',
  'cuda:0',
  'a\0b',
  '\ud800',
  'é'.repeat(300),
  'x'.repeat(70000),
  '[1]',
  './x',
  'a/b',
  '{"samebytes":1}',
]
const WORDS = [
  'dtype',
  'device',
  'shape',
  'strides',
  'offset',
  'order',
  'dynamism',
  'shared',
  'casting',
  'copy',
  'out',
  'axis',
  'scale',
  'bias',
  'signal',
  'generator',
  'owner',
  'deleter',
  'borrowed',
  'transfer',
  'readOnly',
  'nbytes',
  'dimOrder',
  'mode',
  'guard',
  'ifExists',
  'uses',
  'ptr',
  'data',
  'length',
  'byteLength',
  'byteOffset',
  'buffer',
  'name',
  'code',
  'width',
  'height',
  'start',
  'stop',
  'step',
  'toJSON',
  'valueOf',
  'metadata',
  'onProgress',
  'slots',
  'timeout',
  'aborted',
  'reason',
  '0',
  '1',
  '2',
]

/** Node sets these of each error of a file call, and ends the process where a setter throws. */
const NODES = new Set(['errno', 'code', 'syscall', 'path', 'dest'])

const realm = vm.createContext({})
const resizable = (nbytes, maxByteLength, Buffer = ArrayBuffer) =>
  new Buffer(nbytes, { maxByteLength })
const arrays = [
  Uint8Array,
  Int16Array,
  Int32Array,
  Uint32Array,
  BigInt64Array,
  Float32Array,
  Float64Array,
  Uint8ClampedArray,
]

/** The same from another realm. */
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
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return new (vm.runInContext(
      value.constructor.name === 'Buffer' ? 'Uint8Array' : value.constructor.name,
      realm,
    ))(value)
  }
  if (typeof value === 'function') {
    return vm.runInContext('f => (...args) => f(...args)', realm)(value)
  }
  if (isPlain(value)) {
    return Object.assign(
      vm.runInContext('({})', realm),
      Object.fromEntries(Object.entries(value).map(([key, x]) => [key, foreign(x)])),
    )
  }
  return value
}

// A record. A Proxy is none, whatever it is of, nor is a capsule: Object.create of an External ends the process in Node 24 and later.
const isPlain = (value) =>
  value !== null &&
  typeof value === 'object' &&
  !types.isProxy(value) &&
  !types.isExternal(value) &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** A list of a length that it has no entries for. */
function sparse(length, ...entries) {
  const list = [...entries]
  list.length = length
  return list
}

/** A buffer that others may make longer or shorter, and views of it. */
function elastic(r) {
  const Buffer = r.pick([ArrayBuffer, SharedArrayBuffer])
  const buffer = resizable(64, 256, Buffer)
  const Type = r.pick(arrays)
  const made = r.either(
    () => new Type(buffer),
    () => new Type(buffer, 8, 2),
    () => new Type(buffer, 16),
    () => buffer,
    () => new DataView(buffer, 8),
    () => new DataView(buffer, 0, 32),
  )
  r.either(
    () => {},
    () => (Buffer === ArrayBuffer ? buffer.resize(r.pick([0, 7, 12, 24, 32])) : buffer.grow(200)),
    () => (Buffer === ArrayBuffer ? buffer.resize(256) : buffer.grow(256)),
    () => {
      if (Buffer === ArrayBuffer) setImmediate(() => buffer.resize(0))
    },
  )
  return made
}

/** One of test/wrong.js. */
const wrong = (r) => r.pick(wrongFor({ kind: r.pick(KINDS) }, r.pick([[1], [2, 3]]))).make()

/** Tensors that are unlike others. */
const TENSORS = [
  () => zeros([1]).expand(2 ** 20),
  () => zeros([1, 1]).expand(2 ** 40, 2 ** 12),
  () => zeros([0, 2 ** 40]),
  () => zeros(new Array(64).fill(1)),
  () => zeros([]),
  () => disposed(),
  () => detached(),
  () => fromBlob(new Float32Array(6), [2, 3], { readOnly: true }),
  () => zeros([8]).unfold(0, 4, 1),
  () => zeros([2, 3], { dynamism: 'unbound' }),
  () => zeros([2, 3], { shared: 'sab' }),
  () => zeros([2, 3], { shared: true }),
  () => fromBlob(new Float32Array(resizable(24, 64)), [2, 3]),
  () => fromBlob(new Float32Array(resizable(24, 64, SharedArrayBuffer)), [2, 3]),
  () => tensor([1, 2, 3], 'complex64'),
  () => zeros([6], 'bool').slice('::-1'),
  () => new Proxy(zeros([2, 3]), {}),
  () => Object.create(zeros([2, 3])),
  () => Object.create(Tensor.prototype),
  () => zeros([1]).expand(2 ** 22, 1),
]

/**
 * @param {ReturnType<import('./random').drawing>} r
 * @param {any} right  what was expected
 * @param {(r: any, right: any) => any} [again]  draws entries of lists
 */
function strange(r, right, again = strange) {
  const inner = () => again(r, right, () => r.pick(NUMBERS))
  if (Array.isArray(right) && r.next(2)) return strangeList(r, right, inner)
  return r.either(
    () => strangeList(r, right, inner),
    () => strangeList(r, right, inner),
    () => r.pick(NUMBERS),
    () => r.pick(BIGINTS),
    () => r.pick(TEXTS),
    () => Symbol('strange'),
    () => wrong(r),
    () => wrong(r),
    () => elastic(r),
    () => elastic(r),
    () => r.pick(TENSORS)(),
    () => r.pick(TENSORS)(),
    () => foreign(right),
    () => foreign(right),
    () =>
      vm.runInContext(
        r.pick([
          'new Float32Array(6)',
          '[1, 2, 3]',
          '({ dtype: "float32" })',
          'new Map()',
          'new ArrayBuffer(24)',
          'new SharedArrayBuffer(24)',
          '() => 1',
          'new Proxy([], {})',
          'new Error("x")',
          'new Date()',
        ]),
        realm,
      ),
    () => ({ ...right, [r.pick(WORDS)]: inner() }),
    () => ({ [r.pick(WORDS)]: inner(), [r.pick(WORDS)]: inner() }),
    () => Object.create(isPlain(right) || Array.isArray(right) ? right : null),
    () => Object.freeze(isPlain(right) ? { ...right } : Array.isArray(right) ? [...right] : [1]),
    () =>
      new Map([
        ['a', inner()],
        [inner(), right],
      ]),
    () => new Set([right, inner()]),
    () =>
      (function () {
        return arguments
      })(1, inner()),
    () => {
      const { proxy, revoke } = Proxy.revocable(Array.isArray(right) ? [] : {}, {})
      revoke()
      return proxy
    },
    () => new (r.pick(arrays))(r.pick([0, 1, 6, 1000])),
    () => alloc(r.pick([0, 1, 64])).subarray(r.next(2)),
    () => zeros([2, 3]).toBlob(),
    () => ({ ...zeros([2, 3]).toBlob(), [r.pick(WORDS)]: inner() }),
    () => share(zeros([2], { shared: 'sab' })),
    () => new Generator(1),
    () => Promise.resolve(right),
    () => AbortSignal.abort(),
    () => empty([3], r.dtype()).data,
  )
}

/** Lists that are not what they seem, or of more than there is room for. */
const strangeList = (r, right, inner) =>
  r.either(
    () => sparse(r.pick([2 ** 32 - 1, 2 ** 31, 2 ** 26, 70]), ...(r.next(2) ? [inner()] : [])),
    () => sparse(r.pick([2 ** 32 - 1, 2 ** 31, 2 ** 26, 70]), new Float32Array(2)),
    () => Array.from({ length: r.between(0, 4) }, inner),
    () => [right, right, right],
    () => {
      const list = [right]
      list.push(list)
      return list
    },
    () => new Array(2 ** r.between(14, 20)).fill(r.pick([[0.5, 2.5], 1, [[1]], undefined])),
    () =>
      new Proxy([new Float32Array(2)], {
        get: (list, key) =>
          key === 'length' ? r.pick([2 ** 32 - 1, 2 ** 53 - 1, 2 ** 40]) : Reflect.get(list, key),
      }),
    () => [new Float32Array(3), new Float32Array(2)],
  )

/** Puts what `make` makes of what is there in n places of the arguments: an argument, an option, or an entry of a list. */
function replaced(r, args, n, make) {
  if (args.length === 0) return n === 0 ? [] : [make(undefined)]
  const list = [...args]
  for (const i of r.shuffle([...list.keys()]).slice(0, n)) {
    const right = list[i]
    const deeper = r.next(2) && (isPlain(right) || (Array.isArray(right) && right.length > 0))
    if (!deeper) list[i] = make(right)
    else if (Array.isArray(right)) list[i] = right.with(r.next(right.length), make(right[0]))
    else {
      const key = r.rarely(5)
        ? r.pick(WORDS)
        : 'signal' in right && r.next(2)
          ? 'signal'
          : r.pick([...Object.keys(right), 'dtype'])
      list[i] = { ...right, [key]: make(right[key]) }
    }
  }
  return list
}

/**
 * Prototypes that everything has get a property, until what is returned is called.
 *
 * @param {() => any} act  what a getter or setter does
 */
function polluted(r, act) {
  const where = r.pick([
    Object.prototype,
    Object.prototype,
    Array.prototype,
    Object.getPrototypeOf(Uint8Array.prototype),
    Function.prototype,
    Number.prototype,
    String.prototype,
    ArrayBuffer.prototype,
  ])
  const key = r.pick(WORDS)
  if (NODES.has(key)) return () => {}
  const old = Object.getOwnPropertyDescriptor(where, key)
  if (old !== undefined) return () => {}
  const value = r.pick([1, -1, 'x', null, [], {}, NaN, true, act])
  Object.defineProperty(
    where,
    key,
    r.next(2)
      ? { value, configurable: true, writable: true }
      : {
          get: () => {
            act()
            return value
          },
          set: act,
          configurable: true,
        },
  )
  return () => {
    delete where[key]
  }
}

/**
 * What was expected, but that reading it runs act.
 *
 * @param {() => void} act
 */
function acting(r, right, act) {
  if (right instanceof AbortSignal) return actingSignal(r, right, act)
  if (typeof right === 'function') {
    return r.either(
      () =>
        (...args) => {
          act()
          return right(...args)
        },
      () => () => act(),
      () => new Proxy(right, traps(act)),
    )
  }
  if (Tensor.isTensor(right) || ArrayBuffer.isView(right)) {
    const own = r.pick(
      Tensor.isTensor(right)
        ? [
            'device',
            'dtype',
            'shape',
            'strides',
            'offset',
            'size',
            'data',
            'bytes',
            'nbytes',
            'isDisposed',
            'owner',
            'base',
            'constructor',
            'clone',
            'contiguous',
            'dispose',
            'toString',
            'length',
            '__dlpack__',
            '__dlpack_device__',
          ]
        : [
            'length',
            'byteLength',
            'byteOffset',
            'buffer',
            'constructor',
            'subarray',
            'slice',
            'BYTES_PER_ELEMENT',
            'name',
          ],
    )
    const old = right[own]
    return Object.defineProperty(right, own, {
      get() {
        act()
        return old
      },
      configurable: true,
    })
  }
  if (Array.isArray(right)) {
    return r.either(
      () => new Proxy(right, traps(act)),
      () => right.map((x, i) => (i === r.next(right.length) ? acting(r, x, act) : x)),
      () =>
        right.reduce(
          (list, x, i) =>
            Object.defineProperty(list, i, {
              get() {
                act()
                return x
              },
              enumerable: true,
            }),
          [],
        ),
      () =>
        (function* () {
          for (const x of right) {
            act()
            yield x
          }
        })(),
      () => ({
        [Symbol.iterator]: () => ({
          i: 0,
          next() {
            act()
            return { value: right[this.i], done: this.i++ >= right.length }
          },
          return() {
            act()
            return {}
          },
        }),
      }),
      () => ({
        length: right.length,
        [Symbol.iterator]: () => {
          act()
          return right.values()
        },
      }),
      () => new Species(act, right),
    )
  }
  if (isPlain(right)) {
    return r.either(
      () => new Proxy(right, traps(act)),
      () =>
        Object.defineProperties(
          {},
          Object.fromEntries(
            Object.entries(right).map(([key, x]) => [
              key,
              {
                enumerable: true,
                get() {
                  act()
                  return x
                },
              },
            ]),
          ),
        ),
      () => {
        const key = r.pick([...Object.keys(right), ...WORDS])
        return Object.defineProperty({ ...right }, key, {
          enumerable: true,
          get() {
            act()
            return right[key]
          },
        })
      },
    )
  }
  return r.either(
    () => ({
      valueOf() {
        act()
        return right
      },
      toString() {
        act()
        return String(right)
      },
    }),
    () => ({
      [Symbol.toPrimitive]() {
        act()
        return right
      },
    }),
    () =>
      Object.defineProperty(() => right, 'length', {
        get() {
          act()
          return 1
        },
      }),
    () => new Proxy({}, traps(act)),
    () => ({
      get ptr() {
        act()
        return right
      },
      get data() {
        act()
        return new Float32Array(6)
      },
      get shape() {
        act()
        return [2, 3]
      },
      get dtype() {
        act()
        return 'float32'
      },
      then: undefined,
    }),
  )
}

/** A list whose kind of list is said by act. */
class Species extends Array {
  constructor(act, list) {
    super()
    if (typeof act !== 'function') return
    this.push(...list)
    Object.defineProperty(this, 'constructor', {
      get() {
        act()
        return {
          get [Symbol.species]() {
            act()
            return Array
          },
        }
      },
    })
  }
}

/** Each of them acts, then does what it should. */
const traps = (act) =>
  Object.fromEntries(
    [
      'get',
      'has',
      'ownKeys',
      'getOwnPropertyDescriptor',
      'getPrototypeOf',
      'apply',
      'construct',
      'set',
    ].map((name) => [
      name,
      (...args) => {
        act()
        return Reflect[name](...args)
      },
    ]),
  )

/** A signal, or what looks like one, of which one member acts. */
function actingSignal(r, signal, act) {
  const name = r.pick([
    'aborted',
    'reason',
    'addEventListener',
    'removeEventListener',
    'removeEventListener',
    'throwIfAborted',
  ])
  const controller = new AbortController()
  if (r.next(2)) setImmediate(() => controller.abort())
  const member = ['aborted', 'reason'].includes(name)
    ? {
        get() {
          act()
          return Reflect.get(AbortSignal.prototype, name, controller.signal)
        },
      }
    : {
        value: (...args) => {
          act()
          return AbortSignal.prototype[name].apply(controller.signal, args)
        },
      }
  const made = r.next(4)
    ? controller.signal
    : {
        aborted: false,
        reason: undefined,
        addEventListener() {},
        removeEventListener() {},
        throwIfAborted() {},
      }
  return Object.defineProperty(made, name, { ...member, configurable: true })
}

module.exports = { WORDS, acting, foreign, isPlain, polluted, replaced, strange }
