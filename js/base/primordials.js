'use strict'
// JavaScript's own functions as they were when the package was read: `const { Math, arrayPush } = require('./primordials')`.
//
// Programs may replace any of them by functions that detach a buffer between a check and its use, or that keep objects of ours. So files
// that handle bytes, addresses and lengths use the functions here, and no syntax that calls a replaceable one: no `for...of` over arrays,
// no `[a, b] = list`, no `f(...list)`, no `list.map(...)`. The linter refuses these there (eslint.config.js).
//
// Assigning to an index that an array does not have yet calls a setter of Array.prototype, if a program has put one there. `arrayOf` makes
// lists that have their entries from the start; `newList` makes one that may grow, without a prototype. For the same reason classes whose
// fields are assigned do not inherit from Object.prototype (`rootless`).

const { freeze, setPrototypeOf, getPrototypeOf, getOwnPropertyDescriptor } = Object
const { apply } = Reflect
const call = Function.prototype.call

/**
 * The function with `this` as its first argument.
 *
 * @param {any} fn
 * @returns {any}
 */
const uncurried = fn => apply(call.bind, call, [fn])

/**
 * A getter as a function of the object.
 *
 * @param {object} of
 * @param {PropertyKey} name
 * @returns {any} undefined: this runtime has none
 */
function getter (of, name) {
  const get = getOwnPropertyDescriptor(of, name)?.get
  return get === undefined ? undefined : uncurried(get)
}

/**
 * Makes a class inherit nothing from Object.prototype.
 *
 * @template {Function} C
 * @param {C} Class
 * @returns {C} the same
 */
function rootless (Class) {
  setPrototypeOf(Class.prototype, null)
  return Class
}

const from = Array.from.bind(Array)

/**
 * Array.from({ length: n }, (_, i) => fn(i)), without replaceable functions.
 *
 * @template T
 * @param {number} n
 * @param {(i: number) => T} fn
 * @returns {T[]}
 */
function arrayOf (n, fn) {
  if (n === 2) return [fn(0), fn(1)] // literals take a tenth of the time
  if (n === 1) return [fn(0)]
  if (n === 3) return [fn(0), fn(1), fn(2)]
  if (n === 4) return [fn(0), fn(1), fn(2), fn(3)]
  return from(/** @type {any} */ ({ __proto__: null, length: n }), (/** @type {unknown} */ _, /** @type {number} */ i) => fn(i))
}

/** An empty array without a prototype: `list[list.length] = x` calls no setter. @returns {any[]} */
const newList = () => setPrototypeOf([], null)

/**
 * @template T
 * @param {readonly T[]} list
 * @param {number} [start]  from 0 on
 * @param {number} [end]  likewise; there may be less
 * @returns {T[]}
 */
function arraySlice (list, start = 0, end = list.length) {
  const n = (end < list.length ? end : list.length) - start
  if (n === 2) return [list[start], list[start + 1]]
  if (n === 1) return [list[start]]
  if (n === 3) return [list[start], list[start + 1], list[start + 2]]
  if (n === 4) return [list[start], list[start + 1], list[start + 2], list[start + 3]]
  return n > 0 ? arrayOf(n, i => list[start + i]) : []
}

/**
 * @template T, R
 * @param {readonly T[]} list
 * @param {(value: T, i: number) => R} fn
 * @returns {R[]}
 */
function arrayMap (list, fn) {
  const n = list.length
  if (n === 2) return [fn(list[0], 0), fn(list[1], 1)]
  if (n === 1) return [fn(list[0], 0)]
  return arrayOf(n, i => fn(list[i], i))
}

/**
 * Both lists, one after the other.
 *
 * @template T
 * @param {readonly T[]} a
 * @param {readonly T[]} b
 * @returns {T[]}
 */
const arrayConcat = (a, b) => arrayOf(a.length + b.length, i => i < a.length ? a[i] : b[i - a.length])

/**
 * @template T
 * @param {readonly T[]} list
 * @param {(value: T, i: number) => unknown} fn
 * @returns {boolean}
 */
function arrayEvery (list, fn) {
  for (let i = 0; i < list.length; i++) if (!fn(list[i], i)) return false
  return true
}

/**
 * @template T
 * @param {readonly T[]} list
 * @param {(value: T, i: number) => unknown} fn
 * @returns {boolean}
 */
function arraySome (list, fn) {
  for (let i = 0; i < list.length; i++) if (fn(list[i], i)) return true
  return false
}

/**
 * @template T
 * @param {readonly T[]} list
 * @param {(value: T, i: number) => unknown} fn
 * @returns {T | undefined}
 */
function arrayFind (list, fn) {
  for (let i = 0; i < list.length; i++) if (fn(list[i], i)) return list[i]
}

/**
 * @template T
 * @param {readonly T[]} list
 * @param {unknown} value
 * @returns {number} -1: it is not there
 */
function arrayIndexOf (list, value) {
  for (let i = 0; i < list.length; i++) if (list[i] === value) return i
  return -1
}

/** @param {readonly unknown[]} list @param {unknown} value */
const arrayIncludes = (list, value) => arrayIndexOf(list, value) >= 0

/**
 * @param {ArrayLike<number>} list
 * @returns {number}
 */
function sumOf (list) {
  let sum = 0
  for (let i = 0; i < list.length; i++) sum += list[i]
  return sum
}

/**
 * @param {readonly unknown[]} list  of numbers or texts
 * @param {string} [between]
 * @returns {string}
 */
function arrayJoin (list, between = ', ') {
  let text = ''
  for (let i = 0; i < list.length; i++) text += i === 0 ? `${list[i]}` : `${between}${list[i]}`
  return text
}

/** @type {<T>(list: T[], value: T) => number} */
const arrayPush = uncurried(Array.prototype.push)
/** @type {<T>(list: T[]) => T} undefined: it is empty */
const arrayPop = uncurried(Array.prototype.pop)
/** @type {<T>(list: T[]) => T | undefined} */
const arrayShift = uncurried(Array.prototype.shift)

// ---- Typed arrays ----

const typed = getPrototypeOf(Uint8Array.prototype)
/** @typedef {Uint8Array | Uint16Array | Int32Array | Float32Array | Float64Array | BigInt64Array | BigUint64Array} Typed */

/** @type {(array: unknown) => ArrayBufferLike} */
const bufferOf = getter(typed, 'buffer')
/** @type {(array: unknown) => number} */
const byteOffsetOf = getter(typed, 'byteOffset')
/** @type {(array: unknown) => number} bytes; 0: detached */
const nbytesOf = getter(typed, 'byteLength')
/** @type {(array: unknown) => number} */
const lengthOf = getter(typed, 'length')
/** @type {(value: unknown) => string | undefined} */
const tagOf = getter(typed, Symbol.toStringTag)
/** @type {(array: any, source: ArrayLike<any>, at?: number) => void} */
const typedSet = uncurried(typed.set)
/** @type {(array: any, value: any, start?: number, end?: number) => void} */
const typedFill = uncurried(typed.fill)
/** @type {(array: any, value: any, from?: number) => number} */
const typedIndexOf = uncurried(typed.indexOf)
/** @type {(array: unknown) => unknown} */
const typedValues = uncurried(typed.values)

/**
 * subarray, which does not look up the array's class.
 *
 * @param {Uint8Array} bytes
 * @param {number} start  from 0 on
 * @param {number} [end]  inside
 * @returns {Uint8Array<ArrayBuffer>}
 */
function bytesFrom (bytes, start, end = lengthOf(bytes)) {
  return new Bytes(/** @type {ArrayBuffer} */ (bufferOf(bytes)), byteOffsetOf(bytes) + start, end - start)
}

/**
 * A copy of some bytes.
 *
 * @param {Uint8Array} bytes
 * @param {number} [start]
 * @param {number} [end]
 * @returns {Uint8Array<ArrayBuffer>}
 */
function bytesCopied (bytes, start = 0, end = lengthOf(bytes)) {
  const copy = new Bytes(end - start)
  typedSet(copy, bytesFrom(bytes, start, end))
  return copy
}

const Bytes = Uint8Array

// ---- Texts of numbers ----

/** @type {(x: number, digits: number) => string} */
const toExponential = uncurried(Number.prototype.toExponential)
/** @type {(x: number, digits: number) => string} */
const toPrecision = uncurried(Number.prototype.toPrecision)
/** @type {(text: string, at: number) => number} */
const charCodeAt = uncurried(String.prototype.charCodeAt)

// ---- Buffers ----

const shared = typeof SharedArrayBuffer === 'undefined' ? undefined : SharedArrayBuffer.prototype
const { isView } = ArrayBuffer

/** For `instanceof`: programs may define ArrayBuffer[Symbol.hasInstance], but cannot reach this function. @type {any} */
const AnyArrayBuffer = function () {}
AnyArrayBuffer.prototype = ArrayBuffer.prototype

const toNumber = Number
const toBigInt = BigInt

module.exports = {
  rootless,
  arrayOf,
  newList,
  uncurried,
  getter,
  arrayPush,
  arrayPop,
  arrayShift,
  arraySlice,
  arrayMap,
  arrayConcat,
  arrayEvery,
  arraySome,
  arrayFind,
  arrayIndexOf,
  arrayIncludes,
  arrayJoin,
  sumOf,
  bufferOf,
  byteOffsetOf,
  nbytesOf,
  lengthOf,
  tagOf,
  typedSet,
  typedFill,
  typedIndexOf,
  typedValues,
  toExponential,
  toPrecision,
  charCodeAt,
  bytesFrom,
  bytesCopied,
  isView,
  AnyArrayBuffer,
  /** @type {(buffer: unknown) => number} */
  lengthOfBuffer: getter(ArrayBuffer.prototype, 'byteLength'),
  /** @type {((buffer: unknown) => number) | undefined} */
  lengthOfShared: shared && getter(shared, 'byteLength'),
  /** @type {((buffer: unknown) => boolean) | undefined} */
  resizableOf: getter(ArrayBuffer.prototype, 'resizable'),
  /** @type {((buffer: unknown) => ArrayBuffer) | undefined} */
  transferred: 'transfer' in ArrayBuffer.prototype ? uncurried(ArrayBuffer.prototype.transfer) : undefined,
  /** @type {(view: unknown) => ArrayBufferLike} */
  bufferOfView: getter(DataView.prototype, 'buffer'),
  /** @type {(view: unknown) => number} */
  byteOffsetOfView: getter(DataView.prototype, 'byteOffset'),
  /** @type {(view: unknown) => number} */
  nbytesOfView: getter(DataView.prototype, 'byteLength'),
  /** @type {(memory: unknown) => ArrayBuffer} */
  bufferOfMemory: typeof WebAssembly === 'undefined' ? undefined : getter(WebAssembly.Memory.prototype, 'buffer'),

  /** @type {<K, V>(map: Map<K, V>, key: K) => V | undefined} */
  mapGet: uncurried(Map.prototype.get),
  /** @type {<K, V>(map: Map<K, V>, key: K, value: V) => unknown} */
  mapSet: uncurried(Map.prototype.set),
  /** @type {<K>(map: Map<K, any>, key: K) => boolean} */
  mapDelete: uncurried(Map.prototype.delete),
  /** @type {<K, V>(map: Map<K, V>, fn: (value: V, key: K) => void) => void} */
  mapForEach: uncurried(Map.prototype.forEach),
  /** @type {(map: Map<any, any>) => void} */
  clearMap: uncurried(Map.prototype.clear),
  /** @type {(map: Map<any, any>) => number} */
  sizeOfMap: getter(Map.prototype, 'size'),
  /** @type {<V>(set: Set<V>, value: V) => unknown} */
  setAdd: uncurried(Set.prototype.add),
  /** @type {<V>(set: Set<V>, value: V) => boolean} */
  setDelete: uncurried(Set.prototype.delete),
  /** @type {<V>(set: Set<V>, fn: (value: V) => void) => void} */
  setForEach: uncurried(Set.prototype.forEach),
  /** @type {<K extends WeakKey, V>(map: WeakMap<K, V>, key: K) => V | undefined} */
  weakMapGet: uncurried(WeakMap.prototype.get),
  /** @type {<K extends WeakKey, V>(map: WeakMap<K, V>, key: K, value: V) => unknown} */
  weakMapSet: uncurried(WeakMap.prototype.set),
  /** @type {<V extends WeakKey>(set: WeakSet<V>, value: V) => boolean} */
  weakSetHas: uncurried(WeakSet.prototype.has),
  /** @type {<V extends WeakKey>(set: WeakSet<V>, value: V) => unknown} */
  weakSetAdd: uncurried(WeakSet.prototype.add),
  /** @type {(registry: FinalizationRegistry<any>, target: WeakKey, held: unknown, token?: WeakKey) => void} */
  register: uncurried(FinalizationRegistry.prototype.register),
  /** @type {(registry: FinalizationRegistry<any>, token: WeakKey) => void} */
  unregister: uncurried(FinalizationRegistry.prototype.unregister),
  clone: typeof structuredClone === 'function' ? structuredClone : undefined,

  // Under the originals' names, so that a line at the top of a file is all that changes.
  Math: freeze({ abs: Math.abs, ceil: Math.ceil, floor: Math.floor, fround: Math.fround, hypot: Math.hypot, log2: Math.log2, max: Math.max, min: Math.min, random: Math.random, round: Math.round, sign: Math.sign, sqrt: Math.sqrt, trunc: Math.trunc }),
  Number: freeze(Object.assign((/** @type {unknown} */ x) => toNumber(x), { MAX_SAFE_INTEGER: Number.MAX_SAFE_INTEGER, isFinite: Number.isFinite, isInteger: Number.isInteger, isNaN: Number.isNaN, isSafeInteger: Number.isSafeInteger })),
  BigInt: freeze(Object.assign((/** @type {any} */ x) => toBigInt(x), { asIntN: BigInt.asIntN, asUintN: BigInt.asUintN })),
  Object: freeze({ assign: Object.assign, create: Object.create, defineProperty: Object.defineProperty, entries: Object.entries, freeze, fromEntries: Object.fromEntries, getOwnPropertyDescriptor, getPrototypeOf, hasOwn: Object.hasOwn, is: Object.is, keys: Object.keys, prototype: Object.prototype, setPrototypeOf, values: Object.values }),
  Reflect: freeze({ apply, getOwnPropertyDescriptor: Reflect.getOwnPropertyDescriptor, getPrototypeOf: Reflect.getPrototypeOf, ownKeys: Reflect.ownKeys }),
  JSON: freeze({ parse: JSON.parse, stringify: JSON.stringify }),
  Atomics: freeze({ add: Atomics.add, compareExchange: Atomics.compareExchange, exchange: Atomics.exchange, load: Atomics.load, notify: Atomics.notify, store: Atomics.store, sub: Atomics.sub, wait: Atomics.wait }),
  Array: freeze({ isArray: Array.isArray }),
  ArrayBuffer,
  BigInt64Array,
  BigUint64Array,
  DataView,
  FinalizationRegistry,
  Float32Array,
  Float64Array,
  Int32Array,
  Int8Array,
  Int16Array,
  Map,
  Promise,
  Set,
  /** undefined in some pages @type {SharedArrayBufferConstructor} */
  SharedArrayBuffer: /** @type {any} */ (typeof SharedArrayBuffer === 'undefined' ? undefined : SharedArrayBuffer),
  Uint8Array,
  Uint8ClampedArray,
  Uint16Array,
  Uint32Array,
  WeakMap,
  WeakRef,
  WeakSet
}
