'use strict'
// Which test files run where: by `npm test`, in .ci/run, or only in a part of .ci/full. Names are from test/ on.
//
// The back ends are one library in C, compiled twice, under the same JavaScript. They differ in memory: where it lies, how it grows, who
// sees it; in kernels, which have other instructions; and in how arguments and files get there. `npm test` runs everything natively but LATER,
// and ON_WASM on WebAssembly. .ci/run has LATER as well, and on WebAssembly half of what NATIVE_ONLY and NOT_SHARED do not name, others in each tree;
// Chromium runs nearly all of it. In browsers, test/browser/run.js leaves out what the lists say, but with --all.

const fs = require('node:fs')
const path = require('node:path')

const BACKENDS = ['native', 'wasm', 'wasm-shared']

/** Left to .ci/run natively: what stands beside the library, programs in other languages, and programs of many seconds whose subject other tests have as well. */
const LATER = [
  // the library's own pages, types and texts
  'api/loader.test.js', // files of the package that are read in the middle of a call, by a loader that takes bytes away
  'api/memory-map.test.js', // programs whose memory is shown
  'api/printed.test.js', // texts beside PyTorch's; api/to-string has some of them
  'api/types.test.js', // programs in TypeScript
  'native/docs-blocks.test.js', // programs in docs/
  // programs that fill their memory, fail or are killed
  'api/endless.test.js', // lists without an end
  'api/memory-limit.test.js', // a limit that is reached again and again; on WebAssembly npm test has it
  'native/no-memory.test.js', // calls that find no memory, one by one
  'native/parsers.test.js', // files whose bytes are drawn; api/formats refuses what parsers refuse
  'api/heap.test.js', // processes whose heap is small
  'cuda/failures.test.js', // calls of the driver that fail, one by one
  'native/model-failures.test.js', // calls of onnxruntime's library that fail, one by one
  'native/bad-files.test.js', // files that lie; api/formats refuses what parsers refuse
  'native/files.test.js', // disks that are full and saves that are killed; api/formats and remote/formats read and write files
  'native/rewritten.test.js', // files that other processes write while they are mapped
  'cuda/examples.test.js', // the examples, on the fake driver
  'cuda/vram.test.js', // programs in Python and Node that share memory of the fake driver
  'native/copy-from-async.test.js', // threads that fail; api/copy-from-async has the rest
  'native/levels.test.js', // copies at each level of instructions, in processes of their own; .ci/run has the kernels' own tests
  'native/gc-large.test.js', // 4 GB are written; native/gc has small ones
  'native/ring-kills.test.js', // processes that are killed; ring-readers has one
  'native/workers-many.test.js', // 60 workers; native/worker has eight
  'native/shared-tensor-processes.test.js', // processes that are killed while they share; shared-tensor has one that ends
  'nats/killed.test.js', // servers and replicas that fail; CI runs it for longer
  'nats/store-failures.test.js', // servers that fail under the object store
  'nats/transport.test.js', // the transport's own ways; nats/messages and nats/host send by it
  'remote/shards.test.js', // weights in many files; remote/formats has one
  'native/guard.test.js', // files that shrink while each function reads them; native/guard-everything has one call of each
  // the command line; cli/doctor stays
  ...['convert', 'files', 'hostile', 'map', 'segments', 'usage'].map(
    (name) => `cli/${name}.test.js`,
  ),
  'nats/command-line.test.js',
  'remote/command-line.test.js',
  // hundreds of drawn cases beside NumPy, of what others have some of
  'api/combine-numpy.test.js',
  'api/formats-many.test.js', // a million entries
  'api/formats-write.test.js',
  'math/algorithms-module.test.js',
  'math/reductions.test.js',
  // programs in other languages, and examples
  ...[
    'array-interface',
    'dlpack-python',
    'example-pool',
    'example-ring',
    'example-service',
    'libtorch',
    'python-package',
    'ring-c',
    'shared-tensor-python',
  ].map((name) => `native/${name}.test.js`),
]

/** Left to parts of .ci/full. */
const IN_A_PART = ['nats/clients.test.js'] // the tests of NATS again, with four other versions of its client

/** What `npm test` runs on WebAssembly: memory, its growth, what is staged there, parsers, and where the back ends differ. */
const ON_WASM = [
  ...[
    'detach',
    'formats',
    'from-blob',
    'fuzz',
    'holders',
    'memory-limit',
    'memory',
    'share',
    'staged',
    'wasm-border',
    'wasm-growth',
  ].map((name) => `api/${name}.test.js`),
  'math/hashes.test.js',
]

/** Left out on wasm and wasm-shared. */
const NATIVE_ONLY = [
  // layouts: numbers, and no memory
  ...[
    'as-strided',
    'diagonal',
    'dim-order',
    'expand',
    'flip',
    'memory-format',
    'moveaxis',
    'permute',
    'reshape',
    'slice',
    'split',
    'squeeze',
    'transpose',
    'unfold',
  ],
  // V8's heap, its own functions, and texts
  ...['endless', 'errors', 'heap', 'log', 'own-properties', 'printed', 'to-string', 'version'],
  // dtypes, options, and values as NumPy has them
  ...[
    'combine-numpy',
    'finfo',
    'formats-write',
    'isdtype',
    'make-options',
    'numpy',
    'options',
    'promote-types',
    'promotion',
    'types',
  ],
  // programs: those of the command line, pages that show memory, examples, neighbours
  ...[
    'docs',
    'examples',
    'jest',
    'loader',
    'memory-map',
    'module-node',
    'module-web',
    'neighbours',
    'npm-neighbours',
  ],
]
  .map((name) => `api/${name}.test.js`)
  .concat([
    ...[
      'convert',
      'doctor',
      'files',
      'map',
      'hostile',
      'memory-map-server',
      'segments',
      'usage',
    ].map((name) => `cli/${name}.test.js`),
    'remote/command-line.test.js',
    // arithmetic: each function has the same hash on every back end (math/hashes)
    ...[
      'accuracy',
      'bad-input',
      'boxes',
      'images',
      'indexing',
      'linalg',
      'matrices',
      'numpy',
      'order',
      'quantile',
      'scalars',
      'signals',
      'softmax',
      'special-values',
    ].map((name) => `math/${name}.test.js`),
  ])

/** Left out on wasm-shared: kernels and parsers, which are the same as on wasm, and what uses memory as there. */
const NOT_SHARED = [
  'accessor',
  'arange',
  'asarray',
  'bad-input-table',
  'cast',
  'combine',
  'compare',
  'copy-from-async',
  'elements',
  'executorch-traps',
  'eye',
  'fill',
  'for-blob',
  'formats',
  'fuzz',
  'get-set',
  'huge',
  'like',
  'linspace',
  'make',
  'out',
  'overwritten',
  'program',
  'random',
  'scalar-tensor',
  'scale',
  'strided',
  'tile',
  'to',
  'to-array',
]
  .map((name) => `api/${name}.test.js`)
  .concat([
    ...['algorithms-module', 'async', 'norms', 'reductions'].map((name) => `math/${name}.test.js`),
  ])

/** Left out in pages: numbers beside NumPy's for many seconds. The same WebAssembly has computed them in Node, and math/hashes.test.js is short. */
const NOT_IN_PAGES = ['math/reductions.test.js', 'math/softmax.test.js', 'math/statistics.test.js']

/** Run in Chromium's isolated page only, with the files above; Firefox runs neither without --all. */
const IN_ONE_PAGE = ['math/hashes.test.js']

/** Run when no other file does. */
const ALONE = [
  // they remove what dead processes left in /dev/shm, and others leave some on purpose
  'cli/segments.test.js',
  'native/shared-tensor-processes.test.js',
  // deadlines of 3 seconds
  ...(process.env.SAMEBYTES_FULL === '1' ? ['nats/killed.test.js'] : []),
]

/** Folders by back end, the longest first: others fill the time that is left. */
const FOLDERS = {
  native: ['native', 'cuda', 'nats', 'remote', 'cli', 'api', 'math'],
  wasm: ['remote', 'cli', 'api', 'math'],
  'wasm-shared': ['api', 'math', 'wasm-shared'],
}

/** Which run is the first to have a file: 'test', 'ci' or 'full'. @param {string} name  from test/ on @param {string} backend */
function firstRunOf(name, backend) {
  if (backend === 'native') {
    return IN_A_PART.includes(name) ? 'full' : LATER.includes(name) ? 'ci' : 'test'
  }
  if (NATIVE_ONLY.includes(name) || (backend === 'wasm-shared' && NOT_SHARED.includes(name))) {
    return 'full'
  }
  return backend === 'wasm' && ON_WASM.includes(name) ? 'test' : 'ci'
}

/** Of files every m-th from the n-th on, for 'n/m'. @param {string[]} files @param {string} [slice] */
function sliceOf(files, slice = '1/1') {
  const [n, m] = slice.split('/').map(Number)
  if (!(n >= 1 && n <= m)) throw new Error(`--slice is n/m, the n-th of m parts, not ${slice}`)
  return files.filter((_, i) => i % m === n - 1)
}

/**
 * @param {string[]} backends
 * @param {string[]} filters  parts of paths; none: all
 * @param {'all' | 'test' | 'ci'} which  'ci': what .ci/run has beside `npm test`
 * @param {string} [slice]
 * @returns {{ title: string, backend: string, needs: string | null, files: string[], isAlone: boolean }[]}  needs: what lackOf() knows
 */
function suitesOf(backends, filters, which, slice) {
  for (const name of [
    ...ALONE,
    ...LATER,
    ...IN_A_PART,
    ...ON_WASM,
    ...NATIVE_ONLY,
    ...NOT_SHARED,
    ...NOT_IN_PAGES,
    ...IN_ONE_PAGE,
  ]) {
    if (!fs.existsSync(path.join(__dirname, name))) {
      throw new Error(`test/plan.js: there is no test/${name}`)
    }
  }
  return backends
    .flatMap((backend) =>
      FOLDERS[backend].map((folder) => {
        const names = fs
          .readdirSync(path.join(__dirname, folder), { recursive: true })
          .filter((name) => /\.test\.m?js$/.test(name))
          .sort()
          .map((name) => `${folder}/${name}`)
        const wanted = names.filter(
          (name) =>
            (filters.length === 0 || filters.some((part) => `test/${name}`.includes(part))) &&
            (which === 'all' || firstRunOf(name, backend) === which),
        )
        const isOnDevice = folder === 'cuda' && process.env.SAMEBYTES_TEST_CUDA === '1'
        const title =
          folder === 'cuda'
            ? `test/cuda on ${isOnDevice ? 'a device' : 'the fake driver'}`
            : `test/${folder} on ${backend}`
        const needsDriver = folder === 'cuda' && !isOnDevice
        return {
          title,
          backend,
          needs: needsDriver
            ? 'the fake driver'
            : backend === 'native'
              ? null
              : 'the WebAssembly build',
          files: sliceOf(wanted, slice).map((name) => path.join(__dirname, name)),
          isAlone: isOnDevice,
        }
      }),
    )
    .filter((suite) => suite.files.length > 0)
}

module.exports = {
  ALONE,
  BACKENDS,
  IN_ONE_PAGE,
  LATER,
  NATIVE_ONLY,
  NOT_IN_PAGES,
  NOT_SHARED,
  sliceOf,
  suitesOf,
}
