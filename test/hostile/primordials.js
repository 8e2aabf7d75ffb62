'use strict'
// JavaScript's own functions, one by one, and hostile ones in their place.
//
//   places()                    what can be replaced: [{ group, name, ... }]
//   replaced(place, hostile)    replaces one; returns what puts it back
//
// hostile(original, self, args, isNew) is called instead of the function, getter, setter or constructor. Within
// it, what it calls is the original.

const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect

const prototypeOf = value => getPrototypeOf(value)
const typed = prototypeOf(Uint8Array)
const TYPED = ['Uint8Array', 'Uint8ClampedArray', 'Int8Array', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'BigInt64Array', 'BigUint64Array', 'Float16Array', 'Float32Array', 'Float64Array']
const CLASSES = ['Array', 'ArrayBuffer', 'SharedArrayBuffer', 'DataView', 'Map', 'WeakMap', 'Set', 'WeakSet', 'WeakRef', 'FinalizationRegistry', 'Promise', 'Number', 'BigInt', 'String', 'Boolean', 'Symbol', 'RegExp', 'Date', 'Error', 'TypeError', 'RangeError', 'Proxy', 'AbortSignal', 'EventTarget', 'TextDecoder', 'TextEncoder', 'Buffer']
const SPACES = ['Reflect', 'JSON', 'Math', 'Atomics']
const FUNCTIONS = ['structuredClone', 'queueMicrotask', 'setTimeout', 'setImmediate', 'clearTimeout', 'isNaN', 'parseInt', 'performance']

/** Fields of records, options and descriptors: what a program may put on Object.prototype. */
const FIELDS = ['get', 'set', 'value', 'writable', 'length', 'storage', 'dtype', 'shape', 'strides', 'offset', 'size', 'flags', 'data', 'rare', 'capacity', 'owner', 'order', 'extra', 'handle', 'watch',
  'windows', 'base', 'records', 'busy', 'written', 'guarded', 'fixed', 'device', 'pinned', 'deleter', 'group', 'block', 'buffer', 'byteOffset', 'byteLength', 'nbytes', 'address', 'claims', 'kind', 'count', 'made',
  'tensors', 'storages', 'bytes', 'used', 'start', 'left', 'next', 'buffers', 'addresses', 'name', 'itemsize', 'index', 'Type', 'code', 'message', 'a', 'b', 'f64', 'i32', 'i64', 'scale', 'bias', 'axis', 'casting',
  'copy', 'shared', 'dynamism', 'pinMemory', 'signal', 'then', 'constructor', 'toJSON', 'raw', 'stop', 'step', 'width', 'height', 'slots', 'rows', 'window', 'probe', 'way', 'tensor', 'layout', 'live']

/** What a hostile setter returns that leaves nothing where something was to be. */
const SWALLOWED = Symbol('swallowed')

/** [group, name, object] of all objects whose own properties are taken. */
function objects () {
  const list = []
  const add = (group, name, object) => { if (object !== undefined && object !== null) list.push([group, name, object]) }
  for (const name of CLASSES) {
    const Class = globalThis[name]
    if (typeof Class !== 'function') continue
    add(name, name, Class)
    add(name, `${name}.prototype`, Class.prototype)
  }
  add('Object', 'Object', Object)
  add('Object', 'Object.prototype', Object.prototype)
  add('Function', 'Function.prototype', Function.prototype)
  for (const name of SPACES) add(name, name, globalThis[name])
  add('typed arrays', '%TypedArray%', typed)
  add('typed arrays', '%TypedArray%.prototype', typed.prototype)
  for (const name of TYPED) {
    const Class = globalThis[name]
    if (Class === undefined) continue
    add('typed arrays', name, Class)
    add('typed arrays', `${name}.prototype`, Class.prototype)
  }
  const iterators = { Array: [][Symbol.iterator](), Map: new Map()[Symbol.iterator](), Set: new Set()[Symbol.iterator](), String: ''[Symbol.iterator](), RegExpString: ''.matchAll(/x/g) }
  for (const [name, iterator] of Object.entries(iterators)) add('iterators', `%${name}IteratorPrototype%`, prototypeOf(iterator))
  add('iterators', '%IteratorPrototype%', prototypeOf(prototypeOf(iterators.Array)))
  const generator = function * () {}
  add('iterators', '%GeneratorPrototype%', prototypeOf(generator.prototype))
  add('Promise', '%AsyncFunctionPrototype%', prototypeOf(async () => {}))
  add('WebAssembly', 'WebAssembly', WebAssembly)
  for (const name of ['Memory', 'Instance', 'Module', 'Table', 'Global']) add('WebAssembly', `WebAssembly.${name}.prototype`, WebAssembly[name]?.prototype)
  add('process', 'process', typeof process === 'undefined' ? undefined : { emitWarning: process.emitWarning, __of: process })
  return list
}

/** @returns {{ group: string, name: string, object: object, key: PropertyKey, part: 'value' | 'get' | 'set' | 'field' }[]} */
function places () {
  const list = []
  for (let [group, name, object] of objects()) {
    const keys = group === 'process' ? ['emitWarning', 'on', 'nextTick', 'constrainedMemory'] : ownKeys(object)
    if (group === 'process') object = process
    for (const key of keys) {
      const found = getOwnPropertyDescriptor(object, key) ?? (group === 'process' ? { value: object[key], writable: true, configurable: true } : undefined)
      if (found === undefined || (!found.configurable && !found.writable)) continue
      const title = `${name}${typeof key === 'symbol' ? `[${key.description}]` : `.${key}`}`
      if (typeof found.value === 'function') list.push({ group, name: title, object, key, part: 'value' })
      else if (found.configurable) {
        if (found.get !== undefined) list.push({ group, name: `get ${title}`, object, key, part: 'get' })
        if (found.set !== undefined) list.push({ group, name: `set ${title}`, object, key, part: 'set' })
      }
    }
  }
  for (const name of [...CLASSES, ...TYPED, ...SPACES, ...FUNCTIONS, 'Object', 'Function']) {
    if (globalThis[name] !== undefined) list.push({ group: 'globals', name: `globalThis.${name}`, object: globalThis, key: name, part: typeof globalThis[name] === 'function' ? 'value' : 'field' })
  }
  for (const name of ['Array', 'ArrayBuffer', 'SharedArrayBuffer', 'Uint8Array', 'Float32Array', 'Map', 'Promise', 'Error']) {
    list.push({ group: 'Symbol.hasInstance', name: `${name}[Symbol.hasInstance]`, object: globalThis[name], key: Symbol.hasInstance, part: 'value' })
  }
  for (let i = 0; i < 24; i++) list.push({ group: 'Array.prototype[i]', name: `Array.prototype[${i}]`, object: Array.prototype, key: String(i), part: 'field' })
  for (const i of [64, 72, 73, 128, 255]) list.push({ group: 'Array.prototype[i]', name: `Array.prototype[${i}]`, object: Array.prototype, key: String(i), part: 'field' })
  for (let i = 0; i < 4; i++) list.push({ group: 'Object.prototype', name: `Object.prototype[${i}]`, object: Object.prototype, key: String(i), part: 'field' })
  for (const name of FIELDS) if (!Object.hasOwn(Object.prototype, name)) list.push({ group: 'Object.prototype', name: `Object.prototype.${name}`, object: Object.prototype, key: name, part: 'field' })
  for (const name of ['get', 'set', 'value', 'length', 'then', 'buffer', 'slice', 'storage']) {
    list.push({ group: 'Function', name: `Function.prototype.${name}, new`, object: Function.prototype, key: name, part: 'field' })
  }
  return list.filter(({ object, key, part }) => part !== 'field' || Object.getOwnPropertyDescriptor(object, key)?.configurable !== false)
}

/**
 * @param {ReturnType<typeof places>[number]} place
 * @param {(original: any, self: any, args: any[], isNew: boolean) => any} hostile
 * @returns {(() => void) | null} puts the original back; null: it cannot be replaced here
 */
function replaced ({ object, key, part }, hostile) {
  const before = getOwnPropertyDescriptor(object, key)
  const original = part === 'field' ? before?.value : before === undefined ? object[key] : before[part]
  let inside = false
  /** A function in its place, which is itself while the hostile one runs. */
  function evil (...args) {
    if (inside) return new.target ? construct(original, args) : call(this, args)
    inside = true
    try {
      return hostile(original, this, args, new.target !== undefined)
    } finally {
      inside = false
    }
  }
  const call = (self, args) => typeof original === 'function' ? apply(original, self, args) : undefined
  let now
  if (part === 'value') {
    if (typeof original === 'function') {
      for (const name of ownKeys(original)) { // statics, prototype and name
        const own = getOwnPropertyDescriptor(original, name)
        try { defineProperty(evil, name, own) } catch {}
      }
    }
    now = { value: evil, writable: true, configurable: true, enumerable: before?.enumerable ?? false }
  } else if (part === 'get') {
    now = { get () { return apply(evil, this, []) }, set: before.set, configurable: true, enumerable: before.enumerable }
  } else if (part === 'set') {
    now = { get: before.get, set (value) { apply(evil, this, [value]) }, configurable: true, enumerable: before.enumerable }
  } else {
    now = {
      configurable: true,
      enumerable: false,
      get () { return inside ? undefined : apply(evil, this, []) },
      set (value) { // else as if there were none, but that it was seen
        if (!inside && apply(evil, this, [value]) === SWALLOWED) return
        try { defineProperty(this, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true }) } catch {}
      }
    }
  }
  const plain = { __proto__: null }
  for (const name of ownKeys(now)) plain[name] = now[name]
  try {
    if (!defineProperty(object, key, plain)) return null
  } catch {
    return null
  }
  return () => {
    if (before === undefined) delete object[key]
    else defineProperty(object, key, { __proto__: null, ...before })
  }
}

module.exports = { SWALLOWED, places, replaced }
