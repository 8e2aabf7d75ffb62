'use strict'
// Public calls, drawn at random: test/signatures.js has the table of functions and of the tensor's methods; here is the rest of
// what is public, in rows of the same kind, and how a call of a row is made.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const samebytes = require('samebytes')
const math = require('samebytes/math')
const { npyFiles, npzFiles, safetensorsFiles, ggufFiles } = require('../corpora')
const { placed } = require('../files')
const { readRows } = require('../../scripts/generate/math-functions')
const {
  FUNCTIONS,
  MATH,
  METHODS,
  inMath,
  ofMath,
  sample,
  tokens,
  validOf,
} = require('../signatures')

const { Generator, Scope, SharedRing, SharedTensor, Tensor, backend, tensor, zeros } = samebytes
const isNative = backend() === 'native'

const SYMBOLS = new Map([
  ['[iterator]', Symbol.iterator],
  ['[dispose]', Symbol.dispose ?? Symbol.for('Symbol.dispose')],
  ['[inspect]', Symbol.for('nodejs.util.inspect.custom')],
  ['[toPrimitive]', Symbol.toPrimitive],
])
const GETTERS = Object.entries(Object.getOwnPropertyDescriptors(Tensor.prototype))
  .filter(([, { get }]) => get)
  .map(([name]) => name)

// Not drawn: what waits for all that is due, what says nothing in Node, and what counts for all that follows.
const LEFT_OUT = ['flush', 'init', 'manualSeed', 'setMemoryLimit']

/** An argument of a row here: its valid value, and the fields of options. */
const options = (keys) => ({
  kind: 'options',
  keys: Object.fromEntries(
    Object.entries(keys).map(([key, valid]) => [key, { kind: 'any', valid }]),
  ),
  valid: () =>
    Object.fromEntries(Object.entries(keys).map(([key, valid]) => [key, validOf({ valid })])),
})
const any = (valid) => ({ kind: 'any', valid })
const noop = () => {}

/** Names of shared memory that are this process' own. */
const NAMES = ['a', 'b'].map((letter) => `sb-hostile-${process.pid}-${letter}`)
/** Files of this process. */
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'calls-'))
process.on('exit', () => {
  clean()
  fs.rmSync(folder, { recursive: true, force: true })
})
const at = (name) => path.join(folder, name)

/** Segments that this process made, under whatever name. */
function clean() {
  if (!isNative) return
  for (const { name, pid } of SharedTensor.list()) {
    if (pid === process.pid) {
      try {
        SharedTensor.unlink(name)
      } catch {}
    }
  }
}

const FILES = {
  'a.npy': () => npyFiles().plain(),
  'a.npz': () => npzFiles().plain(),
  'a.safetensors': () => safetensorsFiles().plain(),
  'a.gguf': () => ggufFiles().plain(),
  'a.raw': () => Buffer.alloc(4096, 7),
}
const made = () => ({ a: zeros([2, 3]), b: tensor([1, 2, 3]) })
const newShared = () => SharedTensor.create(null, [4], { dtype: 'int32' })
const newRing = () => SharedRing.create(NAMES[1], [3], { slots: 2, ifExists: 'replace' })
const fileOf = { a: made }
const saving = () =>
  options({
    metadata: () => ({ a: 'b' }),
    signal: () => new AbortController().signal,
    onProgress: () => noop,
    ifExists: 'replace',
  })

/** name → [arguments, what it is called on, how]. */
const MORE = {
  // what any tensor may be asked for
  ...Object.fromEntries(
    Object.entries({
      toArray: (t) => t.toArray(),
      text: (t) => String(t),
      JSON: (t) => JSON.stringify(t),
      bytes: (t) => t.bytes,
      clone: (t) => t.clone(),
      'for of': (t) => {
        const all = t[Symbol.iterator]()
        for (let i = 0; i < 100 && !all.next().done;) i++
      },
      tag: (t) => Object.prototype.toString.call(t),
      T: (t) => t.T.flip(),
    }).map(([name, use]) => [
      `${name} of a tensor`,
      [[any(sample)], null, (t) => Tensor.isTensor(t) && use(t)],
    ]),
  ),
  'new Generator': [[any(1n)], null, (seed) => new Generator(seed)],
  'Generator.advance': [[any(1)], () => new Generator(1), (n, on) => on.manualSeed(n)],
  'Scope.track': [[any(() => zeros([2]))], () => new Scope(), (t, on) => on.track(t)],
  'Scope.keep': [[any(() => zeros([2]))], () => new Scope(), (t, on) => on.keep(t)],
  accessor: [
    [any(1), any(1)],
    () =>
      tensor([
        [1, 2, 3],
        [4, 5, 6],
      ]).accessor(),
    (i, j, on) => {
      on.set(on.get(i, j), i, j)
    },
  ],
  'TensorFile.get': [
    [any('b')],
    () => samebytes.parseSafetensors(placed(safetensorsFiles().plain())),
    (name, on) => {
      on.info(name)
      on.has(name)
      return on.get(name)
    },
  ],
  'TensorFile.load': [
    [any('a')],
    () => samebytes.parseNpz(placed(npzFiles().deflated())),
    (name, on) => on.load(name),
  ],
  ...Object.fromEntries(
    [
      ['parseNpy', 'a.npy'],
      ['parseNpz', 'a.npz'],
      ['parseSafetensors', 'a.safetensors'],
      ['parseGguf', 'a.gguf'],
    ].map(([name, file]) => [
      `${name} of a file`,
      [
        [any(() => placed(FILES[file]()))],
        null,
        (bytes) => {
          const found = samebytes[name](bytes)
          return Tensor.isTensor(found) ? found : [...found].map(([, t]) => t)
        },
      ],
    ]),
  ),
  // files; where there are none in WASM, that is an error
  openNpy: [
    [any(() => at('a.npy')), options({ mode: 'r+', guard: true })],
    null,
    samebytes.openNpy,
  ],
  openNpz: [[any(() => at('a.npz')), options({ mode: 'c', guard: true })], null, samebytes.openNpz],
  openSafetensors: [
    [any(() => at('a.safetensors')), options({ mode: 'r', guard: true })],
    null,
    samebytes.openSafetensors,
  ],
  openGguf: [
    [any(() => at('a.gguf')), options({ mode: 'r', guard: true })],
    null,
    samebytes.openGguf,
  ],
  openRaw: [
    [
      any(() => at('a.raw')),
      any([16]),
      options({ dtype: 'float32', byteOffset: 64, mode: 'r+', guard: false }),
    ],
    null,
    samebytes.openRaw,
  ],
  createNpy: [
    [any(() => at('b.npy')), any([2, 3]), options({ dtype: 'int16', ifExists: 'replace' })],
    null,
    samebytes.createNpy,
  ],
  createSafetensors: [
    [
      any(() => at('b.safetensors')),
      any(() => ({ a: { dtype: 'float32', shape: [2, 3] } })),
      options({ metadata: () => ({ a: 'b' }), ifExists: 'replace' }),
    ],
    null,
    samebytes.createSafetensors,
  ],
  ...Object.fromEntries(
    ['saveNpy', 'saveNpySync'].map((name) => [
      name,
      [[any(() => at('c.npy')), any(sample), saving()], null, samebytes[name]],
    ]),
  ),
  ...Object.fromEntries(
    ['saveNpz', 'saveNpzSync', 'saveSafetensors', 'saveSafetensorsSync'].map((name) => [
      name,
      [
        [
          any(() => at(`c.${name.includes('Npz') ? 'npz' : 'safetensors'}`)),
          any(fileOf.a),
          saving(),
        ],
        null,
        samebytes[name],
      ],
    ]),
  ),
  save: [[any(() => at('d.npz')), any(made), saving()], null, samebytes.save],
  load: [
    [
      any(() => at('a.npy')),
      options({ signal: () => new AbortController().signal, onProgress: () => noop }),
    ],
    null,
    samebytes.load,
  ],
  // segments and rings
  'SharedTensor.create': [
    [
      any(NAMES[0]),
      any([2, 3]),
      options({
        dtype: 'int32',
        format: 'npy',
        sealed: false,
        mode: 0o600,
        ifExists: 'replace',
        persist: false,
        guard: true,
      }),
    ],
    null,
    (...args) => SharedTensor.create(...args),
  ],
  'SharedTensor.open': [
    [
      any(() => newShared().descriptor),
      options({ shape: () => [4], dtype: 'int32', format: 'npy', mode: 'r+', guard: true }),
    ],
    null,
    (...args) => SharedTensor.open(...args),
  ],
  'SharedTensor.unlink': [[any(NAMES[0])], null, (...args) => SharedTensor.unlink(...args)],
  'SharedTensor.list': [[], null, () => SharedTensor.list()],
  'SharedTensor.wait': [
    [any(0), any(0), options({ timeout: 1, signal: () => new AbortController().signal })],
    newShared,
    (i, expected, opts, on) => on.wait(i, expected, opts),
  ],
  'SharedTensor.notify': [[any(0), any(1)], newShared, (i, n, on) => on.notify(i, n)],
  'SharedTensor.tensor': [
    [],
    newShared,
    (on) => [on.toJSON(), on.tensor.toArray(), on.path, on.fd, on.dispose()],
  ],
  'SharedRing.create': [
    [
      any(NAMES[1]),
      any(() => [3]),
      options({ slots: 2, dtype: 'float32', mode: 0o600, ifExists: 'replace', persist: false }),
    ],
    null,
    (...args) => SharedRing.create(...args),
  ],
  'SharedRing.open': [
    [any(() => newRing().name), options({ dtype: 'float32' })],
    null,
    (...args) => SharedRing.open(...args),
  ],
  'SharedRing.write': [
    [any(() => [1, 2, 3]), options({ scale: 2, bias: 1, axis: 0 })],
    newRing,
    (value, opts, on) => on.write(value, opts),
  ],
  'SharedRing.next': [[], newRing, (on) => [on.next().fill(1), on.commit(), on.count]],
  'SharedRing.intact': [[any(0)], newRing, (i, on) => on.intact(i)],
  'SharedRing.read': [
    [options({ from: 0, signal: () => new AbortController().signal })],
    newRing,
    async (opts, on) => {
      on.write([1, 2, 3])
      const { value } = await on.read(opts).next()
      return value?.tensor.clone()
    },
  ],
  'cuda.properties': [[any(0)], null, (n) => samebytes.cuda.properties(n)],
  'cuda.open': [
    [any(() => ({ samebytes: 'vram', version: 1 }))],
    null,
    (d) => samebytes.cuda.open(d),
  ],
}

/** Calls of samebytes/math, asynchronous forms as well. */
const MATH_CALLS = readRows()
  .map((row) => [row.js, ofMath(row)])
  .concat(Object.entries(MATH))
  .flatMap(([name, args]) =>
    [name, `${name}Async`]
      .filter((each) => typeof inMath(math, each) === 'function')
      .map((each) => ({
        name: `math.${each}`,
        args,
        make: null,
        invoke: (list) => inMath(math, each)(...list),
      })),
  )

/** Every call there is: { name, args, make (what it is called on), invoke (args, on) }. */
const CALLS = [
  ...Object.entries(FUNCTIONS)
    .filter(([name]) => !LEFT_OUT.includes(name))
    .map(([name, args]) => ({
      name,
      args,
      make: null,
      invoke: (list) => samebytes[name](...list),
    })),
  ...MATH_CALLS,
  ...Object.entries(METHODS).map(([name, { args, make = sample }]) => ({
    name: `Tensor.${name}`,
    args,
    make,
    invoke:
      name === '[iterator]'
        ? (list, on) => [...on]
        : name === 'rows'
          ? (list, on) => [...on.rows()]
          : (list, on) => on[SYMBOLS.get(name) ?? name](...list),
  })),
  ...GETTERS.map((name) => ({
    name: `get Tensor.${name}`,
    args: [],
    make: sample,
    invoke: (list, on) => on[name],
  })),
  ...Object.entries(MORE)
    .filter(([name]) => isNative || !/^(Shared|open|create)/.test(name))
    .map(([name, [args, make, call]]) => ({
      name,
      args,
      make,
      invoke:
        make === null
          ? (list) => call(...list)
          : (list, on) => call(...args.map((_, i) => list[i]), on),
    })),
]

const GETS = CALLS.filter(({ name }) => name.startsWith('get '))
const OTHERS = CALLS.filter(({ name }) => !name.startsWith('get '))

const LATER = CALLS.filter(({ name }) => /Async|wait|load|save/.test(name))

/** One of them; more often what takes arguments, and what goes on after it returned. */
const drawn = (r) => r.pick(r.rarely(10) ? GETS : r.rarely(4) ? LATER : OTHERS)

/** The files that calls open, as they should be. */
function writeFiles() {
  for (const [name, bytes] of Object.entries(FILES)) fs.writeFileSync(at(name), bytes())
}

/** Each call once, so that no file of the package is read while prototypes are not what they should be. */
async function warm() {
  writeFiles()
  for (const { args, make, invoke } of CALLS) {
    try {
      await invoke(args.map(validOf), make?.())
    } catch {}
  }
  dropTokens()
  clean()
}

/** Tokens that calls made are taken back: so many may be in flight. */
function dropTokens() {
  for (const token of tokens.splice(0)) {
    try {
      samebytes.unshare(token)
    } catch {}
  }
}

module.exports = {
  CALLS,
  FILES,
  NAMES,
  at,
  clean,
  drawn,
  dropTokens,
  isNative,
  validOf,
  warm,
  writeFiles,
}
