'use strict'
// Every public function and method with a valid call, and of what kind each argument is. test/api/bad-input-table.test.js
// puts wrong values in each place; a function without a row fails it.
//
// An argument: { kind, name (that messages use), valid (a value, or a function that makes one), optional, isScalar (no tensor is right),
// allow (labels of wrong values that are right here), keys (of options) }. One that is optional may be undefined.
const samebytes = require('samebytes')
const { Generator, backend, fromBlob, share, tensor, zeros } = samebytes
const { floats, gguf, npyOf, placed, safetensors, zip } = require('./files')

const arg =
  (kind) =>
  (name, valid, more = {}) => ({ kind, name, valid, ...more })

const integer = arg('integer') // any safe integer that the function takes
const axis = (name = 'axis', valid = 0, more) =>
  arg('axis')(name, valid, { outside: [2, -3, 2 ** 53 - 1, -(2 ** 53 - 1)], ...more })
const axes = (name = 'axis', valid = [0], more) =>
  arg('integers')(name, valid, { orOne: true, ...more })
const integers = arg('integers')
const shape = (valid = [2, 3], more) => arg('shape')('shape', valid, { orOne: true, ...more })
const dtype = (name = 'dtype', valid = 'float64', more) => arg('dtype')(name, valid, more)
const word = arg('word') // one of a few
const flag = arg('boolean')
const number = arg('number') // any, also fractions
const fn = arg('function')
const t = (
  name = 'tensor',
  make = () =>
    tensor([
      [1, 2, 3],
      [4, 5, 6],
    ]),
  more,
) => arg('tensor')(name, make, more)
const value = (valid = 1, more) => arg('value')('value', valid, more) // one element
const values = (name, valid, more) => arg('values')(name, valid, more) // numbers, nested lists, typed arrays
const bytes = arg('bytes')
const any = (valid, more) => arg('any')('', valid, more)
const integral = arg('integral') // a safe integer or a bigint
const optional = true

/** A right value for an argument, a new one each time. */
const validOf = ({ valid }) => (typeof valid === 'function' ? valid() : valid)

const options = (keys, more) => ({
  kind: 'options',
  name: 'options',
  valid: () => Object.fromEntries(Object.entries(keys).map(([key, each]) => [key, validOf(each)])),
  keys,
  optional,
  ...more,
})

/** Options in whose place a number, or a list, is the axis. */
const orAxis = (keys) => options(keys, { allow: ['a number', '[]', 'a list'] })

const casting = word('casting', 'unsafe')
const dynamism = word('dynamism', 'unbound')
const order = word('order', 'F')
const device = word('device', 'cpu')
/** every token that was made, to be taken back at the end @type {any[]} */
const tokens = []
function newToken() {
  const token = share(zeros([2], { shared: true }))
  tokens.push(token)
  return token
}

/** What onnxruntime's looks like. */
class OrtTensor {
  constructor(type, data, dims) {
    Object.assign(this, { type, dims, location: 'cpu' })
    Object.defineProperty(this, 'data', { value: data, configurable: true })
  }

  dispose() {}
}

const shared = word('shared', false, { allow: ['true'] })
const made = { dtype: dtype(), device, dynamism, order, shared }
const makers = options(made)
const generator = arg('generator')('generator', () => new Generator(1))
const drawn = options({ ...made, generator })
const out = (make = () => zeros([2, 3])) => arg('out')('out', make)
const result = (make, keys) =>
  options({ dtype: dtype('dtype', 'float32'), casting, out: out(make), ...keys })
const shapeOnly = { allow: ['a tensor over a detached buffer'] } // its bytes are not looked at
const shapesOnly = { allow: [...shapeOnly.allow, 'a list with a tensor over a detached buffer'] }
const like = options({ dtype: dtype(), device, dynamism, shared })
const drawnLike = options({ dtype: dtype(), device, dynamism, shared, generator })
const sixty = () => Float32Array.of(1, 2, 3, 4, 5, 6)
const indices = (name = 'index') =>
  arg('index')(name, 1, { outside: [2, -3, 2 ** 53 - 1, -(2 ** 53 - 1)] })

const writes = true
const copying = {
  casting,
  scale: arg('factor')('scale', 2),
  bias: arg('factor')('bias', 1),
  axis: axis('axis', 0, { outside: [] }),
}
const signal = arg('signal')('signal', () => new AbortController().signal)
const source = values('src', () => [
  [1, 2, 3],
  [4, 5, 6],
])

/** Exported functions: arguments. */
const FUNCTIONS = {
  tensor: [
    values('data', () => [
      [1, 2, 3],
      [4, 5, 6],
    ]),
    shape([2, 3], { optional, orOptions: true }),
    options({ ...made, casting }),
  ],
  empty: [shape(), makers],
  zeros: [shape(), makers],
  ones: [shape(), makers],
  full: [shape(), value(), makers],
  fromBytes: [
    bytes('bytes', () => new Uint8Array(48)),
    shape([2, 3], { optional, allow: ['null'] }),
    options({ ...made, copy: word('copy', 'if-needed', { allow: ['true'] }) }, { optional: false }),
  ],
  fromBlob: [
    bytes('source|address', sixty),
    shape([2, 3], { optional, orOptions: true }),
    options({
      dtype: dtype('dtype', 'float32'),
      strides: integers('strides', [3, 1]),
      dimOrder: integers('dimOrder', [0, 1]),
      offset: integer('offset', 0),
      nbytes: integer('nbytes', 24),
      deleter: fn('deleter', () => () => {}),
      borrowed: flag('borrowed', false),
      transfer: flag('transfer', false),
      readOnly: flag('readOnly', false),
      dynamism,
      device,
    }),
  ],
  forBlob: [any(sixty), any([2, 3]), any('float32')], // judged by makeTensor
  rand: [shape(), drawn],
  randn: [shape(), options({ dtype: dtype('dtype', 'float32'), device, generator, out: out() })],
  randint: [
    integral('low', 0),
    integral('high', 9),
    shape(),
    options({ ...made, dtype: dtype('dtype', 'int64'), generator }),
  ],
  manualSeed: [integral('seed', 1)],
  scalarTensor: [value(), makers],
  arange: [
    number('start', 1, { allow: ['a bigint'] }),
    number('options|stop', 7, { allow: ['a bigint'], optional }),
    number('options|step', 2, { allow: ['a bigint'], optional }),
    makers,
  ],
  linspace: [number('start', 1), number('stop', 7), integer('num', 3, { outside: [-1] }), makers],
  eye: [
    integer('n', 3, { outside: [-1] }),
    integer('options|m', 3, { optional, outside: [-1] }),
    makers,
  ],
  asarray: [
    values(
      'data',
      () => [
        [1, 2, 3],
        [4, 5, 6],
      ],
      { allow: ['an ArrayBuffer'] },
    ),
    options({ dtype: dtype(), device, dynamism, order, copy: flag('copy', true) }),
  ],
  emptyLike: [t('tensor', undefined, shapeOnly), like],
  zerosLike: [t('tensor', undefined, shapeOnly), like],
  onesLike: [t('tensor', undefined, shapeOnly), like],
  fullLike: [t('tensor', undefined, shapeOnly), value(), like],
  randLike: [t('tensor', undefined, shapeOnly), drawnLike],
  randnLike: [t('tensor', undefined, shapeOnly), drawnLike],
  randintLike: [
    t('tensor', undefined, shapeOnly),
    integral('low', 0),
    integral('high', 9),
    options({ ...drawnLike.keys, dtype: dtype('dtype', 'int64') }),
  ],
  emptyStrided: [shape(), integers('strides', [3, 1]), like],
  zerosStrided: [shape(), integers('strides', [3, 1]), like],
  onesStrided: [shape(), integers('strides', [3, 1]), like],
  fullStrided: [shape(), integers('strides', [3, 1]), value(), like],
  randStrided: [shape(), integers('strides', [3, 1]), drawnLike],
  randnStrided: [shape(), integers('strides', [3, 1]), drawnLike],
  randintStrided: [
    integral('low', 0),
    integral('high', 9),
    shape(),
    integers('strides', [3, 1]),
    options({ ...drawnLike.keys, dtype: dtype('dtype', 'int64') }),
  ],
  clone: [t(), options({ dtype: dtype(), casting })],
  concat: [
    arg('tensors')('', () => [tensor([[1, 2, 3]]), tensor([[4, 5, 6]])]),
    axis('axis', 0, { optional, allow: ['null'] }),
    result(),
  ],
  stack: [
    arg('tensors')('', () => [tensor([1, 2, 3]), tensor([4, 5, 6])]),
    axis('axis', 0, { optional }),
    result(),
  ],
  moveaxis: [t('x', undefined, shapeOnly), axes('source'), axes('destination', [1])],
  tril: [t('x'), options({ ...result().keys, k: integer('k', 1) })],
  triu: [t('x'), options({ ...result().keys, k: integer('k', 1) })],
  takeAlongAxis: [
    t('x'),
    t('indices', () =>
      tensor(
        [
          [1, 0, 1],
          [0, 0, -1],
        ],
        'int32',
      ),
    ),
    axis('axis', 0, { optional, orOptions: true }),
    result(),
  ],
  broadcastShapes: [shape([2, 1]), shape([3])],
  broadcastArrays: [arg('tensors')('', () => [zeros([2, 1]), zeros([3])], shapesOnly)],
  meshgrid: [
    arg('tensors')('', () => [tensor([1, 2, 3]), tensor([4, 5])], shapesOnly),
    options({ indexing: word('indexing', 'ij') }),
  ],
  arrayEqual: [
    t('argument 0|entry 0|tensors were given'),
    t('argument 1'),
    options({ equalNaN: flag('equalNaN', true) }),
  ],
  allClose: [
    t('argument 0|entry 0|tensors were given'),
    t('argument 1'),
    options({
      rtol: number('rtol', 0.1),
      atol: number('atol', 0.1),
      equalNaN: flag('equalNaN', true),
    }),
  ],
  sharesMemory: [t(), t()],
  share: [
    t('t', () => zeros([2], { shared: true })),
    options({ uses: integer('uses', 2, { outside: [0, -1] }) }),
  ],
  fromShared: [
    arg('token')('token', newToken),
    options({ shared: word('shared', undefined) }, { allow: ['a number'] }),
  ],
  unshare: [arg('token')('token', newToken)],
  parseNpy: [
    bytes('byte', () => placed(npyOf('<f4', '(2,)', floats(1, 2)))),
    options({ dtype: dtype('dtype', 'float32') }),
  ],
  parseNpz: [bytes('byte', () => placed(zip([]))), options({ dtype: dtype('dtype', 'float32') })],
  parseSafetensors: [bytes('byte', () => placed(safetensors('{}')))],
  parseGguf: [bytes('byte', () => placed(gguf([], [])))],
  toNpyBytes: [t('t')],
  toNpzBytes: [arg('tensorsByName')('tensors', () => ({ a: zeros([2]) }), { allow: ['a tensor'] })],
  toSafetensorsBytes: [
    arg('tensorsByName')('tensors', () => ({ a: zeros([2]) })),
    options({ metadata: arg('textsByName')('metadata', () => ({ a: 'b' })) }),
  ],
  alloc: [integer('n', 16, { outside: [-1] })],
  hostRegister: [t('t')],
  fromDlpack: [arg('capsule')('x', () => zeros([2, 3])), options({ copy: flag('copy', true) })],
  toOrt: [t('t'), arg('object')('ort', () => ({ Tensor: OrtTensor }))],
  fromOrt: [arg('object')('x', () => new OrtTensor('float32', new Float32Array(6), [2, 3]))],
  init: [
    options({
      shared: word('shared', 'auto', { allow: ['true'] }),
      initialMemory: number('initialMemory', 2 ** 21, { outside: [0, -1, 2 ** 33] }),
      maximumMemory: number('maximumMemory', 2 ** 22, { outside: [0, -1, 2 ** 33] }),
      from: arg('object')('from', () => ({})),
    }),
  ],
  canCast: [dtype(), dtype(), word('casting', 'safe', { optional })],
  isdtype: [dtype(), arg('kind')('kind', 'numeric')],
  promoteTypes: [dtype(), dtype()],
  finfo: [dtype('dtype', 'float32')],
  iinfo: [dtype('dtype', 'int8')],
  tidy: [fn('tidy', () => () => {})],
  scope: [fn('scope', () => () => {})],
  keep: [arg('object')('keep', () => zeros([1]))],
  dispose: [arg('disposable')('dispose', () => zeros([1]))],
  memory: [],
  flush: [],
  setMemoryLimit: [arg('limit')('nbytes', 2 ** 40)],
  backend: [],
  wasmMemory: [],
}

/** What right calls are refused with where there is no CUDA. */
const REFUSED = { hostRegister: ['ERR_UNSUPPORTED'] }

/** What takes a path or a URL: test/native/files.test.js and test/remote give it wrong values, because right ones need files. */
const OF_FILES = [
  'fetchNpy',
  'fetchNpz',
  'fetchSafetensors',
  'fetchGguf',
  'openNpy',
  'openNpz',
  'openSafetensors',
  'openGguf',
  'openRaw',
  'createNpy',
  'createSafetensors',
  'saveNpy',
  'saveNpz',
  'saveSafetensors',
  'saveNpySync',
  'saveNpzSync',
  'saveSafetensorsSync',
  'save',
  'load',
]

/** Functions whose right calls need files or other processes: the names of their options, and a call that reads these first. */
const MORE = {
  openNpy: {
    keys: ['mode', 'guard', 'dtype'],
    call: (opts) => samebytes.openNpy('none.npy', opts),
  },
  openNpz: {
    keys: ['mode', 'guard', 'dtype'],
    call: (opts) => samebytes.openNpz('none.npz', opts),
  },
  openSafetensors: {
    keys: ['mode', 'guard'],
    call: (opts) => samebytes.openSafetensors('none.safetensors', opts),
  },
  openGguf: { keys: ['mode', 'guard'], call: (opts) => samebytes.openGguf('none.gguf', opts) },
  openRaw: {
    keys: ['mode', 'guard', 'dtype', 'byteOffset'],
    call: (opts) => samebytes.openRaw('none.bin', [2], opts),
  },
  createNpy: {
    keys: ['dtype', 'order', 'ifExists'],
    call: (opts) => samebytes.createNpy('/none/a.npy', [2], opts),
  },
  createSafetensors: {
    keys: ['metadata', 'ifExists'],
    call: (opts) => samebytes.createSafetensors('/none/a.safetensors', {}, opts),
  },
  saveNpy: {
    keys: ['signal', 'onProgress', 'ifExists'],
    call: (opts) => samebytes.saveNpy('/none/a.npy', zeros([2]), opts),
  },
  saveNpz: {
    keys: ['signal', 'onProgress', 'ifExists'],
    call: (opts) => samebytes.saveNpz('/none/a.npz', { a: zeros([2]) }, opts),
  },
  saveSafetensors: {
    keys: ['metadata', 'signal', 'onProgress', 'ifExists'],
    call: (opts) => samebytes.saveSafetensors('/none/a.safetensors', { a: zeros([2]) }, opts),
  },
  saveNpySync: {
    keys: ['ifExists'],
    call: (opts) => samebytes.saveNpySync('/none/a.npy', zeros([2]), opts),
  },
  saveNpzSync: {
    keys: ['ifExists'],
    call: (opts) => samebytes.saveNpzSync('/none/a.npz', { a: zeros([2]) }, opts),
  },
  saveSafetensorsSync: {
    keys: ['metadata', 'ifExists'],
    call: (opts) => samebytes.saveSafetensorsSync('/none/a.safetensors', { a: zeros([2]) }, opts),
  },
  load: {
    keys: ['dtype', 'signal', 'onProgress'],
    call: (opts) => samebytes.load('none.npy', opts),
  },
  fetchNpy: {
    keys: ['fetch', 'caches', 'signal', 'retries', 'idleTimeout', 'dtype', 'out', 'onProgress'],
    call: (opts) => samebytes.fetchNpy('http://127.0.0.1:9/a', { retries: 0, ...opts }),
  },
  fetchNpz: {
    keys: ['fetch', 'caches', 'signal', 'retries', 'idleTimeout', 'dtype'],
    call: (opts) => samebytes.fetchNpz('http://127.0.0.1:9/a', { retries: 0, ...opts }),
  },
  fetchSafetensors: {
    keys: ['fetch', 'caches', 'signal', 'retries', 'idleTimeout'],
    call: (opts) => samebytes.fetchSafetensors('http://127.0.0.1:9/a', { retries: 0, ...opts }),
  },
  fetchGguf: {
    keys: ['fetch', 'caches', 'signal', 'retries', 'idleTimeout'],
    call: (opts) => samebytes.fetchGguf('http://127.0.0.1:9/a', { retries: 0, ...opts }),
  },
  'SharedTensor.create': {
    keys: ['dtype', 'format', 'sealed', 'mode', 'ifExists', 'persist', 'guard'],
    call: (opts) => samebytes.SharedTensor.create('a/b', [2], opts),
  },
  'SharedTensor.open': {
    keys: ['dtype', 'format', 'mode', 'shape', 'offset', 'guard'],
    call: (opts) => samebytes.SharedTensor.open('samebytes-there-is-none', opts),
  },
  'SharedRing.create': {
    keys: ['dtype', 'slots', 'readers', 'mode', 'ifExists', 'persist'],
    call: (opts) => samebytes.SharedRing.create('a/b', [2], opts),
  },
  'SharedRing.open': {
    keys: ['dtype'],
    call: (opts) => samebytes.SharedRing.open('samebytes-there-is-none', opts),
  },
  memoryMap: {
    keys: ['format', 'limit'],
    call: (opts) => inspect().memoryMap(opts),
    untrace: () => inspect().untrace(),
  },
  serveMap: {
    keys: ['port', 'limit'],
    call: async (opts) => (await inspect().serveMap(opts)).close(),
  },
  mapElement: { keys: ['limit'], call: (opts) => inspect().mapElement(opts) },
  ...(backend() === 'native' && {
    'cuda.share': { keys: ['uses'], call: (opts) => samebytes.cuda.share(zeros([2]), opts) },
    wait: {
      keys: ['timeout', 'signal'],
      call: (opts) =>
        withShared(
          samebytes.SharedTensor.create(`samebytes-options-${process.pid}`, [2], {
            dtype: 'int32',
            ifExists: 'replace',
          }),
          (shared) => shared.wait(0, 1, opts),
        ),
    },
    nextAsync: {
      keys: ['timeout', 'signal'],
      call: (opts) => withShared(newRing(), (ring) => ring.nextAsync(opts)),
    },
    writeAsync: {
      keys: ['timeout', 'signal', 'casting', 'scale', 'bias', 'axis', 'tag'],
      call: (opts) => withShared(newRing(), (ring) => ring.writeAsync([1], opts)),
    },
    write: {
      keys: ['casting', 'scale', 'bias', 'axis', 'tag'],
      call: (opts) => withShared(newRing(), (ring) => ring.write([1], opts)),
    },
    commit: {
      keys: ['tag'],
      call: (opts) =>
        withShared(newRing(), (ring) => {
          ring.next()
          return ring.commit(opts)
        }),
    },
    read: {
      keys: ['from', 'signal'],
      call: (opts) => withShared(newRing(), (ring) => ring.read(opts)),
    },
  }),
}

const newRing = () =>
  samebytes.SharedRing.create(`samebytes-options-${process.pid}`, [1], {
    slots: 2,
    ifExists: 'replace',
  })

/** @param {any} shared  a SharedTensor or a ring @param {(shared: any) => unknown} use */
async function withShared(shared, use) {
  try {
    return await use(shared)
  } finally {
    shared.constructor.unlink(shared.name)
    shared.dispose()
  }
}

/** The inspector, which notes lines from its loading on. */
const inspect = () => require(['samebytes', 'inspect'].join('/')) // bundles of the tests leave it out

/** Methods: arguments; make: the tensor that has them; writes: it may not be read-only; delegates: to another
 * method of the same tensor, whoever made it. */
const METHODS = {
  setBytes: { args: [bytes('bytes', () => new Uint8Array(24))], writes },
  get: { args: [indices(), arg('index')('index', 1, { outside: [3, -4] })] },
  at: { args: [indices(), arg('index')('index', 1, { outside: [3, -4], optional })] },
  set: { args: [value(), indices(), arg('index')('index', 1, { outside: [3, -4] })], writes },
  item: { args: [], make: () => tensor([[5]]) },
  toArray: { args: [] },
  tolist: { args: [], delegates: true },
  toJSON: { args: [], delegates: true },
  accessor: {
    args: [
      options({ dtype: dtype('dtype', 'float32'), ndim: integer('ndim', 2, { outside: [1, -1] }) }),
    ],
  },
  '[iterator]': { args: [], lazy: true },
  '[toPrimitive]': { args: [] },
  slice: { args: [arg('slice')('slice 0|step', '1:'), arg('slice')('slice 1|step', 1)] },
  select: { args: [axis(), arg('index')('index', 1, { outside: [2, -3] })] },
  narrow: {
    args: [
      axis(),
      integer('start', 1, { outside: [3, -3] }),
      integer('length', 1, { outside: [2, -1] }),
    ],
  },
  permute: { args: [integers('order', [1, 0])] },
  transpose: { args: [axis('a', 0), axis('b', 1)] },
  reshape: {
    args: [
      shape([3, 2], { inferred: true }),
      options({ copy: flag('copy', true) }, { name: 'options|shape' }),
    ],
  },
  view: {
    args: [
      shape([2, 2], { optional, orOptions: true, inferred: true }),
      options({
        strides: integers('strides', [1, 2]),
        dimOrder: integers('dimOrder', [1, 0]),
        dtype: dtype('dtype', 'int32'),
        offset: integer('offset', 1, { outside: [-1, 6] }),
      }),
    ],
  },
  unfold: {
    args: [axis(), integer('size', 1, { outside: [3, -1] }), integer('step', 1, { outside: [0] })],
  },
  squeeze: { args: [axes('axis', [0], { optional })], make: () => zeros([1, 3]) },
  unsqueeze: { args: [axes('axis', [0, 2], { outside: [3, -4] })] },
  moveaxis: { args: [axes('source'), axes('destination', [1])] },
  expand: { args: [shape([4, 2, 3], { inferred: true })] },
  broadcastTo: { args: [shape([4, 2, 3], { inferred: true })], delegates: true },
  flip: { args: [axes('axis', [0], { optional })] },
  diagonal: {
    args: [
      integer('offset', 1, { optional }),
      axis('axis1', 0, { optional }),
      axis('axis2', 1, { optional }),
    ],
  },
  asStrided: {
    args: [
      shape([2, 2]),
      integers('strides', [1, 1]),
      integer('offset', 1, { optional, outside: [-1, 6] }),
    ],
  },
  split: { args: [axes('size', [1, 1], { name: 'sizes?' }), axis('axis', 0, { optional })] },
  chunk: { args: [integer('n', 2, { outside: [0, -1] }), axis('axis', 0, { optional })] },
  rows: { args: [], lazy: true },
  unbind: { args: [axis('axis', 0, { optional })] },
  isContiguous: {
    args: [word('memoryFormat', 'channels_last', { optional })],
    make: () => zeros([1, 1, 1, 1]),
  },
  toMemoryFormat: {
    args: [word('memoryFormat', 'channels_last')],
    make: () => zeros([1, 2, 2, 2]),
  },
  resize: { args: [shape([3, 2])] },
  setData: { args: [arg('tensor')('source', () => zeros([6]), { allow: ['a typed array'] })] },
  clone: { args: [options({ dtype: dtype('dtype', 'float32'), casting, out: out() })] },
  astype: { args: [dtype('dtype', 'float32'), options({ casting, out: out() })] },
  contiguous: { args: [options({ out: out() })] },
  to: {
    args: [
      arg('dtype')('', 'float32', { orOptions: true }),
      options({ casting, copy: flag('copy', true), out: out() }),
    ],
  },
  cpu: { args: [options({ copy: flag('copy', true), dtype: dtype() })], delegates: true },
  cuda: { args: [integer('index', 0, { optional })], refused: ['ERR_DEVICE', 'ERR_UNSUPPORTED'] },
  toAsync: {
    args: [
      arg('dtype')('', 'float64', { orOptions: true }),
      options({ casting, copy: flag('copy', true), signal }),
    ],
  },
  cpuAsync: { args: [options({ copy: flag('copy', true), signal })], delegates: true },
  cudaAsync: {
    args: [integer('index', 0, { optional })],
    refused: ['ERR_DEVICE', 'ERR_UNSUPPORTED'],
  },
  pinMemory: { args: [], refused: ['ERR_UNSUPPORTED'] },
  ready: { args: [] },
  shareMemory: { args: [] },
  tile: { args: [axes('reps', [2, 1], { negative: false }), result(() => zeros([4, 3]))] },
  repeat: {
    args: [arg('counts')('repeats', () => [2, 1]), result(() => zeros([3, 3]), { axis: axis() })],
  },
  roll: { args: [axes('shift', [1]), axes('axis', [0], { optional, allow: ['null'] }), result()] },
  take: {
    args: [
      arg('counts')('indices', () => [1, 0]),
      axis('axis', 0, { optional, allow: ['null'] }),
      result(),
    ],
  },
  toImageData: {
    args: [
      options({
        min: any(0),
        max: any(255),
        colormap: any([
          [0, 0, 0],
          [255, 255, 255],
        ]),
      }),
    ],
    make: () =>
      tensor(
        [
          [1, 2],
          [4, 5],
        ],
        'uint8',
      ),
  },
  toBlob: { args: [] },
  __dlpack__: {
    args: [
      options({
        maxVersion: integers('maxVersion', [1, 0], { allow: ['null'] }),
        copy: flag('copy', false, { allow: ['null'] }),
        dlDevice: integers('dlDevice', [1, 0], { allow: ['null'] }),
        stream: any(null),
      }),
    ],
    refused: backend() === 'native' ? undefined : ['ERR_UNSUPPORTED'],
  },
  __dlpack_device__: { args: [] },
  copyFrom: { args: [source, options(copying)], writes },
  copyFromAsync: { args: [source, options({ ...copying, signal })], writes },
  fill: { args: [value()], writes },
  zero: { args: [], writes },
  dispose: { args: [], onDisposed: true },
  '[dispose]': { args: [], onDisposed: true, delegates: true },
  toString: { args: [] },
  '[inspect]': { args: [], onDisposed: true, delegates: true },
}

/** Functions of `cuda`, for tensors of a device: test/cuda/bad-input.test.js. */
const onDevice = t('t', () => zeros([2, 3], { device: 'cuda:0', shared: true }), {
  codes: ['ERR_DEVICE'],
})
const deviceOrNumber = arg('deviceOrNumber')('device', 'cuda:0', { optional })
const descriptor = arg('descriptor')('(the )?d(escriptor)?', () => ({ ...DESCRIPTOR }))
const DESCRIPTOR = {
  samebytes: 'vram',
  version: 1,
  socket: '@samebytes-vram-0-0',
  token: '0'.repeat(32),
  uuid: '00000000-0000-0000-0000-000000000000',
  generation: 1,
  offset: 0,
  nbytes: 24,
  dtype: 'float32',
  shape: [2, 3],
  strides: [3, 1],
  readOnly: false,
  lease: 'none',
}
const CUDA = {
  isAvailable: [],
  whyNot: [],
  deviceCount: [],
  properties: [deviceOrNumber],
  synchronize: [deviceOrNumber],
  memoryStats: [deviceOrNumber],
  emptyCache: [],
  share: [onDevice, options({ uses: integer('uses', 1, { outside: [0, -1] }) })],
  open: [descriptor],
  unshare: [descriptor],
}

const scalars = ['a number', 'true', 'a bigint']

/** A function of samebytes/math, of its row in src/math/ops.def. */
function ofMath({ name, count, domain }) {
  const isBits = domain === 'BITS' || domain === 'INTEGER'
  const make = () =>
    tensor(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      isBits ? 'int32' : 'float32',
    )
  const opts = options({
    dtype: dtype('dtype', isBits ? 'int64' : 'float64'),
    casting,
    out: out(() => zeros([2, 3])),
  })
  const bound = (name) => t(name, make, { optional, allow: [...scalars, 'null'] })
  if (name === 'where') {
    return [
      t('condition', () => tensor([true, false, true]), { allow: ['true'] }),
      t('x1', make, { allow: scalars }),
      t('x2', make, { allow: scalars }),
      opts,
    ]
  }
  if (name === 'clip') return [t('x', make), bound('min'), bound('max'), opts]
  return count === 1
    ? [t('x', make), opts]
    : [t('x1', make, { allow: scalars }), t('x2', make, { allow: scalars }), opts]
}

const matrix = () =>
  tensor([
    [1, 2, 3],
    [4, 5, 6],
  ])
const keepdims = flag('keepdims', true)
const reducing = (make, keys) =>
  orAxis({
    axis: axes('axis', [0], { optional, allow: ['null'] }),
    keepdims,
    casting,
    out: out(make),
    ...keys,
  })
const reduction = (make, keys) => [t('x', matrix), reducing(make, keys)]
const along = axis('axis', 0, { optional, allow: ['null'] })
const toFloats = { dtype: dtype('dtype', 'float64') }
const counts = { dtype: dtype('dtype', 'int64') }
const position = [
  t('x', matrix),
  reducing(() => zeros([1, 3], 'int64'), { axis: along, ...counts }),
]
const cumulative = [
  t('x', matrix),
  orAxis({
    axis: axis('axis', 1),
    ...toFloats,
    includeInitial: flag('includeInitial', true),
    casting,
    out: out(() => zeros([2, 4])),
  }),
]

const entry = (i, valid) =>
  arg('slice')(`entry ${i}|step`, () => valid, {
    allow: ['[]', '[1]'],
    codes: ['ERR_DTYPE', 'ERR_SHAPE'],
  })

const norm = word('norm', 'ortho')
const elements = integer('n', 3, { outside: [0, -1] })
const spectrum = (make) => ({ norm, casting, dtype: dtype('dtype', 'complex128'), out: out(make) })
const signal32 = (make) => ({ norm, casting, dtype: dtype('dtype', 'float64'), out: out(make) })
const lineOf = (keys) => [t('x', matrix), options({ n: elements, axis: axis('axis', 1), ...keys })]
const axesAlong = axes('axis', [0, 1], { optional, allow: ['null'] })
const planeOf = (keys) => [
  t('x', matrix),
  options({ s: integers('s', [2, 3], { optional, allow: ['null'] }), axes: axesAlong, ...keys }),
]
const two = () => zeros([2, 2], 'complex64')
const three = () => zeros([2, 3], 'complex64')
const wave = () => tensor([[1, 2, 3, 4, 5, 6, 7, 8]])
const four = integer('nFft', 4, { outside: [0, -1] })
const step = integer('hopLength', 2, { outside: [0, -1] })
const frame = {
  hopLength: step,
  winLength: integer('winLength', 4, { outside: [0, -1] }),
  window: t('window', () => tensor([1, 2, 2, 1])),
  center: flag('center', true),
  normalized: flag('normalized', true),
  casting,
}

const pair = (name, valid) => arg('integers')(name, valid)
const resizing = {
  axes: pair('axes', [0, 1]),
  channels: integer('channels', undefined),
  alpha: flag('alpha', false),
  method: word('method', 'nearest'),
  antialias: flag('antialias', false),
  scale: arg('factor')('scale', 2),
  bias: arg('factor')('bias', 1),
  axis: axis('axis', 0, { outside: [] }),
  dtype: dtype('dtype', 'float32'),
  casting,
}
const box = () => tensor([[0, 0, 1, 2]])
const place = { scale: [1, 1], padding: [0, 0], size: [2, 3] }

const square = () =>
  tensor([
    [2, 1],
    [1, 3],
  ])
const toNumber = () => zeros([])
const written = (make) => ({ casting, out: out(make) })
const accuracy = word('accuracy', 'precise')
const product = (make) => options({ accuracy, ...toFloats, ...written(make) })
const found = [t('x', matrix), options(counts)]
const ofSquare = (make) => [t('x', square), options(written(make))]

/** The functions of samebytes/math that are no row of ops.def; those of linalg by their whole names. */
const MATH = {
  sum: reduction(() => zeros([1, 3]), toFloats),
  prod: reduction(() => zeros([1, 3]), toFloats),
  mean: reduction(() => zeros([1, 3]), toFloats),
  var: reduction(() => zeros([1, 3]), { ...toFloats, correction: number('correction', 1) }),
  std: reduction(() => zeros([1, 3]), { ...toFloats, correction: number('correction', 1) }),
  min: reduction(() => zeros([1, 3])),
  max: reduction(() => zeros([1, 3])),
  any: reduction(() => zeros([1, 3], 'bool')),
  all: reduction(() => zeros([1, 3], 'bool')),
  countNonzero: reduction(() => zeros([1, 3], 'int64'), counts),
  argmin: position,
  argmax: position,
  cumulativeSum: cumulative,
  cumulativeProd: cumulative,
  softmax: [t('x', matrix), orAxis({ axis: axis(), ...toFloats, casting, out: out() })],
  logSoftmax: [t('x', matrix), orAxis({ axis: axis(), ...toFloats, casting, out: out() })],
  logSumExp: reduction(() => zeros([1, 3]), toFloats),
  vectorNorm: [
    t('x', matrix),
    options({
      axis: axes('axis', [0], { optional, allow: ['null'] }),
      keepdims,
      ord: number('ord', 3),
      ...toFloats,
      out: out(() => zeros([1, 3])),
    }),
  ],
  normalize: [
    t('x', matrix),
    options({
      axis: axes('axis', [0], { optional, allow: ['null'] }),
      ord: number('ord', 1),
      eps: number('eps', 0.5),
      out: out(),
    }),
  ],
  median: [
    t('x', matrix),
    orAxis({
      axis: axes('axis', [0], { optional, allow: ['null'] }),
      keepdims,
      out: out(() => zeros([1, 3])),
    }),
  ],
  quantile: [
    t('x', matrix),
    arg('factor')('q', () => [0.25, 0.5]),
    orAxis({
      axis: axes('axis', [0], { optional, allow: ['null'] }),
      keepdims,
      method: word('method', 'lower'),
      out: out(() => zeros([2, 1, 3])),
    }),
  ],
  nonzero: [t('x', matrix), options({ dtype: dtype('dtype', 'int64') })],
  index: [t('t', matrix), entry(0, [1, 0]), entry(1, [2, 0])],
  indexPut: [t('t', matrix), entry(0, [1, 0]), value(7)],
  maskedSelect: [
    t('t', matrix),
    t('mask', () =>
      tensor([
        [true, false, true],
        [false, true, false],
      ]),
    ),
    options({ dtype: dtype('dtype', 'float32'), out: out(() => zeros([3])), casting }),
  ],
  maskedFill: [
    t('t', matrix),
    t('mask', () => tensor([true, false, true])),
    value(7),
    options({ out: out(), casting }),
  ],
  resize: [
    t('x', matrix),
    pair('size', [1, 2]),
    options({ ...resizing, out: out(() => zeros([1, 2])) }),
  ],
  crop: [
    t('x', matrix),
    pair('box', [0, 0, 1, 2]),
    options({ axes: pair('axes', [0, 1]), channels: integer('channels', undefined) }),
  ],
  letterbox: [
    t('x', matrix),
    pair('size', [4, 4]),
    options({
      ...resizing,
      value: number('value', 1),
      align: word('align', 'end'),
      out: out(() => zeros([4, 4])),
    }),
  ],
  pad: [
    t('x', matrix),
    any(1),
    options({
      mode: word('mode', 'edge'),
      value: value(7, { isScalar: true }),
      casting,
      out: out(() => zeros([4, 5])),
    }),
  ],
  nms: [
    t('boxes', box),
    t('scores', () => zeros([1])),
    options({
      iouThreshold: number('iouThreshold', 0.5),
      scoreThreshold: number('scoreThreshold', -1),
      limit: integer('limit', 1),
      classes: t('classes', () => zeros([1], 'int32')),
      dtype: dtype('dtype', 'int64'),
    }),
  ],
  iou: [t('boxes1', box), t('boxes2', box), options({ casting, out: out(() => zeros([1, 1])) })],
  unletterbox: [
    t('boxes', box),
    any(() => place),
    options({ clip: flag('clip', true), casting, out: out(() => zeros([1, 4])) }),
  ],
  oneHot: [
    t('indices', () => zeros([2], 'int32')),
    integer('n', 3),
    orAxis({ axis: axis('axis', 1), dtype: dtype('dtype', 'float32'), out: out() }),
  ],
  fft: lineOf(spectrum(three)),
  ifft: lineOf(spectrum(three)),
  rfft: lineOf(spectrum(two)),
  irfft: lineOf(signal32()),
  hfft: lineOf(signal32()),
  ihfft: lineOf(spectrum(two)),
  fftn: planeOf(spectrum(three)),
  ifftn: planeOf(spectrum(three)),
  fft2: planeOf(spectrum(three)),
  ifft2: planeOf(spectrum(three)),
  rfftn: planeOf(spectrum(two)),
  irfftn: planeOf(signal32()),
  rfft2: planeOf(spectrum(two)),
  irfft2: planeOf(signal32()),
  fftfreq: [
    elements,
    options({
      d: number('d', 0.5),
      dtype: dtype('dtype', 'float64'),
      casting,
      out: out(() => zeros([3])),
    }),
  ],
  rfftfreq: [
    elements,
    options({
      d: number('d', 0.5),
      dtype: dtype('dtype', 'float64'),
      casting,
      out: out(() => zeros([2])),
    }),
  ],
  fftshift: [t('x', matrix), options({ axes: axesAlong, out: out() })],
  ifftshift: [t('x', matrix), options({ axes: axesAlong, out: out() })],
  hann: [
    elements,
    options({
      periodic: flag('periodic', false),
      dtype: dtype('dtype', 'float64'),
      casting,
      out: out(() => zeros([3])),
    }),
  ],
  hamming: [
    elements,
    options({
      periodic: flag('periodic', false),
      dtype: dtype('dtype', 'float64'),
      casting,
      out: out(() => zeros([3])),
    }),
  ],
  stft: [
    t('x', wave),
    options(
      {
        nFft: { ...four, optional: false },
        ...frame,
        padMode: word('padMode', 'constant'),
        onesided: flag('onesided', true),
        axis: axis('axis', 1),
        out: out(() => zeros([1, 3, 5], 'complex64')),
      },
      { optional: false },
    ),
  ],
  istft: [
    t('x', () =>
      tensor([
        [
          [1, 2, 3],
          [0, 1, 0],
          [1, 1, 1],
        ],
      ]),
    ),
    options({
      nFft: four,
      ...frame,
      length: integer('length', 4, { outside: [0, -1] }),
      out: out(() => zeros([1, 4])),
    }),
  ],
  melFilterbank: [
    options({
      sampleRate: number('sampleRate', 8),
      nFft: four,
      nMels: integer('nMels', 2, { outside: [0, -1] }),
      fMin: number('fMin', 0),
      fMax: number('fMax', 4),
      norm: word('norm', 'slaney', { allow: ['null'] }),
      scale: word('scale', 'htk'),
      dtype: dtype('dtype', 'float64'),
      casting,
      out: out(() => zeros([2, 3])),
    }),
  ],
  logMelSpectrogram: [
    t('x', wave),
    options({
      sampleRate: number('sampleRate', 8),
      nFft: four,
      hopLength: step,
      nMels: integer('nMels', 2, { outside: [0, -1] }),
      filters: t('filters', () =>
        tensor([
          [1, 0, 0],
          [0, 1, 1],
        ]),
      ),
      out: out(() => zeros([1, 2, 4])),
    }),
  ],
  diff: [
    t('x', matrix),
    options({
      axis: axis('axis', 1),
      n: integer('n', 1),
      prepend: t('prepend', () => zeros([2, 1]), { allow: scalars }),
      append: t('append', () => zeros([2, 1]), { allow: scalars }),
      casting,
      out: out(() => zeros([2, 4])),
    }),
  ],
  sort: [
    t('x', matrix),
    orAxis({
      axis: axis(),
      descending: flag('descending', true),
      stable: flag('stable', true),
      ...written(),
    }),
  ],
  argsort: [
    t('x', matrix),
    orAxis({
      axis: axis(),
      descending: flag('descending', true),
      stable: flag('stable', true),
      ...counts,
      ...written(() => zeros([2, 3], 'int64')),
    }),
  ],
  topK: [
    t('x', matrix),
    integer('k', 1, { outside: [3, -1] }),
    orAxis({
      axis: axis(),
      largest: flag('largest', false),
      sorted: flag('sorted', false),
      ...counts,
    }),
  ],
  searchsorted: [
    values('x1', () => tensor([1, 2, 3])),
    values('x2', matrix),
    options({
      side: word('side', 'right'),
      sorter: values('sorter', () => [0, 1, 2]),
      ...counts,
      ...written(() => zeros([2, 3], 'int64')),
    }),
  ],
  isin: [
    values('x1', matrix),
    values('x2', matrix),
    options({ invert: flag('invert', true), ...written(() => zeros([2, 3], 'bool')) }),
  ],
  uniqueAll: found,
  uniqueCounts: found,
  uniqueInverse: found,
  uniqueValues: [t('x', matrix), options({})],
  bincount: [
    t('x', () => tensor([0, 1, 1], 'int32')),
    options({
      weights: values('weights', () => [1, 2, 3]),
      minlength: integer('minlength', 3, { outside: [-1] }),
      ...toFloats,
      ...written(() => zeros([3], 'float64')),
    }),
  ],
  histogram: [
    t('x', matrix),
    options({
      bins: any(() => [0, 1, 2]),
      range: any(() => [0, 1]),
      weights: values('weights', matrix),
      density: flag('density', true),
      ...toFloats,
    }),
  ],
  digitize: [
    t('x', matrix),
    values('bins', () => [1, 2, 3]),
    options({ right: flag('right', true), ...counts, ...written(() => zeros([2, 3], 'int64')) }),
  ],
  cov: [
    t('x', matrix),
    options({
      y: t('y', matrix),
      rowvar: flag('rowvar', true),
      correction: number('correction', 1),
      fweights: values('fweights', () => [1, 2, 3]),
      aweights: values('aweights', () => [1, 2, 3]),
      ...toFloats,
      ...written(() => zeros([4, 4])),
    }),
  ],
  corrcoef: [
    t('x', matrix),
    options({
      y: t('y', matrix),
      rowvar: flag('rowvar', true),
      ...toFloats,
      ...written(() => zeros([4, 4])),
    }),
  ],
  interp: [
    t('x', matrix),
    values('xp', () => [1, 2, 3]),
    values('fp', () => [1, 2, 3]),
    options({
      left: number('left', 1),
      right: number('right', 1),
      period: number('period', 4),
      ...toFloats,
      ...written(),
    }),
  ],
  convolve: [
    values('a', () => tensor([1, 2])),
    values('v', () => tensor([1, 2, 3])),
    options({ mode: word('mode', 'same'), ...toFloats, ...written(() => zeros([3])) }),
  ],
  nansum: reduction(() => zeros([1, 3]), toFloats),
  nanprod: reduction(() => zeros([1, 3]), toFloats),
  nanmean: reduction(() => zeros([1, 3]), toFloats),
  nanvar: reduction(() => zeros([1, 3]), { ...toFloats, correction: number('correction', 1) }),
  nanstd: reduction(() => zeros([1, 3]), { ...toFloats, correction: number('correction', 1) }),
  nanmin: reduction(() => zeros([1, 3])),
  nanmax: reduction(() => zeros([1, 3])),
  matmul: [t('x1', matrix), t('x2', () => zeros([3, 4])), product(() => zeros([2, 4]))],
  vecdot: [
    t('x1', matrix),
    t('x2', matrix),
    orAxis({ axis: axis(), accuracy, ...toFloats, ...written(() => zeros([3])) }),
  ],
  tensordot: [
    t('x1', matrix),
    t('x2', () => zeros([3, 4])),
    options({
      axes: integer('axes', 1, { outside: [3, -1] }),
      accuracy,
      ...toFloats,
      ...written(() => zeros([2, 4])),
    }),
  ],
  outer: [
    t('x1', () => tensor([1, 2])),
    t('x2', () => tensor([1, 2, 3])),
    options({ ...toFloats, ...written() }),
  ],
  einsum: [
    word('equation', 'ij,ij->j'),
    t('operand 0|equation|options', matrix),
    t('operand 1|equation|options', matrix),
    { ...product(() => zeros([3])), name: 'options|operand 2' },
  ],
  cosineSimilarity: [
    t('x1', matrix),
    t('x2', matrix),
    orAxis({ axis: axis(), eps: number('eps', 0.5), ...written(() => zeros([3])) }),
  ],
  'linalg.cross': [
    t('x1', matrix),
    t('x2', matrix),
    orAxis({ axis: axis('axis', 1), ...toFloats, ...written() }),
  ],
  'linalg.matrixPower': [t('x', square), integer('n', 2), options(written(square))],
  'linalg.trace': [
    t('x', matrix),
    options({ offset: integer('offset', 1), ...toFloats, ...written(toNumber) }),
  ],
  'linalg.vectorNorm': [
    t('x', matrix),
    options({
      axis: axes('axis', [0], { optional, allow: ['null'] }),
      keepdims,
      ord: number('ord', 3),
      ...toFloats,
      out: out(() => zeros([1, 3])),
    }),
  ],
  'linalg.matrixNorm': [
    t('x', matrix),
    options({ ord: number('ord', 1), keepdims, out: out(() => zeros([1, 1])) }),
  ],
  'linalg.matrixRank': [
    t('x', matrix),
    options({ rtol: number('rtol', 0.5), ...counts, out: out(() => zeros([], 'int64')) }),
  ],
  'linalg.det': ofSquare(toNumber),
  'linalg.slogdet': [t('x', square), options({})],
  'linalg.inv': ofSquare(square),
  'linalg.solve': [t('x1', square), t('x2', () => zeros([2, 3])), options(written())],
  'linalg.cholesky': [t('x', square), options({ upper: flag('upper', true), ...written(square) })],
  'linalg.qr': [t('x', matrix), options({ mode: word('mode', 'complete') })],
  'linalg.eigh': [t('x', square), options({})],
  'linalg.eigvalsh': ofSquare(() => zeros([2])),
  'linalg.svd': [t('x', matrix), options({ fullMatrices: flag('fullMatrices', false) })],
  'linalg.svdvals': [t('x', matrix), options(written(() => zeros([2])))],
  'linalg.pinv': [
    t('x', matrix),
    options({ rtol: number('rtol', 0.5), ...written(() => zeros([3, 2])) }),
  ],
}

/** A function of samebytes/math by its whole name; undefined: there is none. */
const inMath = (math, name) => name.split('.').reduce((of, key) => of?.[key], math)

/** Is it, in a namespace, a function that is also outside of it? */
const isAlias = (math, name) =>
  name.includes('.') && inMath(math, name) === math[name.split('.')[1]]

/** Names as rows have them: of functions, also of those in objects, such as linalg.det. */
const namesIn = (math) =>
  Object.entries(math).flatMap(([name, value]) =>
    typeof value === 'function' ? [name] : Object.keys(value).map((key) => `${name}.${key}`),
  )

/** What a method without a make of its own is called on; over bytes of the caller, who may take them away. */
const sample = () =>
  tensor([
    [1, 2, 3],
    [4, 5, 6],
  ])
const sampleOver = (array) => fromBlob(array, [2, 3])

module.exports = {
  CUDA,
  FUNCTIONS,
  MORE,
  MATH,
  inMath,
  isAlias,
  namesIn,
  ofMath,
  REFUSED,
  OF_FILES,
  METHODS,
  sample,
  sampleOver,
  tokens,
  validOf,
}
