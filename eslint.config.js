'use strict'

const globals = require('globals')
const neostandard = require('neostandard')

// What programs can replace does not run between a check and its use: js/base/primordials.js has what does. Files that handle bytes,
// addresses and lengths, and those that pass layouts on.
const BYTES = ['js/{backend,layout,copy,tensor,math}/*.js', 'js/base/{buffers,validate}.js', 'js/runtime/lazy.js', 'js/files/{allocate,byte-source,entries,parsers,parsers-module}.js', 'js/sharing/{tokens,waits,futex}.js']
const OTHERS = ['js/backend/{cuda,init,init-options,memory,select,*.browser}.js', 'js/layout/{print,lifetime}.js', 'js/tensor/{asarray,dtype-info,random,scopes,sequences}.js']
const METHODS = 'push|pop|shift|unshift|splice|slice|map|filter|every|some|find|findIndex|findLast|forEach|reduce|concat|fill|subarray|copyWithin|sort|reverse|flat|flatMap|entries|values|keys|with|toSpliced|join|includes|indexOf|' +
  'get|set|has|delete|add|deref|register|unregister|apply|bind|call'
const OWN = 'Reflect|Atomics|Object|counts|backend|ffi|path|t|this' // functions of ours, and of the frozen copies
const HOLDERS = 'storage|block|holder|parts|token|given|made|from|to|old|parsers' // objects of ours that have a buffer
const primordials = {
  files: BYTES,
  ignores: OTHERS,
  rules: {
    'no-restricted-syntax': ['error',
      { selector: 'ForOfStatement', message: 'It asks %ArrayIteratorPrototype%.next: a loop over indices does not.' },
      { selector: ':matches(VariableDeclarator, AssignmentExpression, Property, ArrayPattern) > ArrayPattern, :function > ArrayPattern', message: 'It asks an iterator: take entries by their index.' },
      { selector: ':matches(CallExpression, NewExpression, ArrayExpression) > SpreadElement', message: 'It asks an iterator: Reflect.apply, or arrayConcat of primordials.js.' },
      { selector: `CallExpression[callee.type="MemberExpression"][callee.property.name=/^(${METHODS})$/]:not([callee.object.name=/^(${OWN})$/]):not([callee.object.type="ThisExpression"]):not([callee.object.property.name=/^(due|spareWatches)$/]):not([callee.object.callee.name=/^(make|cuda)$/])`, message: 'Programs may replace it: primordials.js has it.' },
      { selector: `MemberExpression[property.name=/^(buffer|byteOffset|byteLength)$/]:not([object.type="ThisExpression"]):not([object.name=/^(${HOLDERS})$/]):not([object.property.name=/^(storage|addon)$/])`, message: 'Of a typed array programs may replace it: bufferOf, byteOffsetOf, nbytesOf of primordials.js, or partsOfArray.' },
      { selector: 'NewExpression[callee.name="Array"], CallExpression[callee.object.name="Array"][callee.property.name!="isArray"]', message: 'Its holes are filled by setters of Array.prototype: arrayOf, or newList, of primordials.js.' }
    ],
    'no-restricted-globals': ['error', ...['Array', 'ArrayBuffer', 'Atomics', 'BigInt', 'DataView', 'FinalizationRegistry', 'JSON', 'Map', 'Math', 'Number', 'Object', 'Promise', 'Reflect', 'Set', 'SharedArrayBuffer', 'WeakMap', 'WeakRef', 'WeakSet', 'structuredClone',
      'BigInt64Array', 'BigUint64Array', 'Float32Array', 'Float64Array', 'Int8Array', 'Int16Array', 'Int32Array', 'Uint8Array', 'Uint8ClampedArray', 'Uint16Array', 'Uint32Array'].map(name => ({ name, message: 'Programs may replace it: primordials.js has it.' }))]
  }
}

module.exports = [
  { ignores: ['build/', 'build-asan/', 'dist/', 'types/', 'prebuilds/', 'coverage/'] },
  ...neostandard({ env: ['mocha'] }),
  ...neostandard({ env: ['browser'], files: ['examples/browser/*.mjs'] }),
  {
    files: ['test/**/*.js', 'test/**/*.mjs'],
    languageOptions: { globals: { gc: 'readonly' } }
  },
  {
    files: ['**/*.js'],
    languageOptions: { sourceType: 'commonjs' }
  },
  {
    files: ['test/browser/**', 'test/setup.js'],
    languageOptions: { globals: globals.browser }
  },
  {
    files: ['test/bundlers/app/**'],
    languageOptions: { globals: { window: 'readonly', location: 'readonly', crossOriginIsolated: 'readonly', Worker: 'readonly', addEventListener: 'readonly', postMessage: 'readonly', expect: 'readonly' } }
  },
  {
    files: ['test/bundlers/app/{react,src,vitest,vitest-failing}/*.js'],
    languageOptions: { sourceType: 'module' }
  },
  primordials,
  {
    files: ['js/**/*.js', 'js/**/*.mjs'],
    plugins: { samebytes: { rules: { layers: require('./scripts/layers') } } },
    rules: { 'samebytes/layers': 'error' }
  }
]
