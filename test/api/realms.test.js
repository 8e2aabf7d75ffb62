'use strict'
// The same program where a page or a service has changed its JavaScript: polyfills, SES, another realm's arrays, values on Object.prototype.
const assert = require('node:assert/strict')
const { childJson, needs } = require('../setup')

/** What most programs do. Prints a line of JSON. ARRAYS: where Float32Array and its like come from. */
const PROGRAM = `
  async function main ({ Array, ArrayBuffer, Float32Array, Int16Array, Uint8Array, Map }) {
    const sb = require('samebytes')
    const math = require('samebytes/math')
    const list = t => [t.dtype, t.shape, t.tolist?.() ?? t.toArray()]
    const bytes = new Float32Array([1, 2, 3, 4, 5, 6])
    const t = sb.fromBlob(bytes, [2, 3])
    const found = {}
    const refused = fn => { try { return fn() } catch (error) { return error.code } }
    found.views = [t.T, t.slice(':', { start: -1, step: -1 }), t.permute(1, 0), t.reshape([3, 2]), t.narrow(1, 1, 2), t.expand([2, 2, 3])].map(list)
    t.set(9, 0, 0)
    found.same = bytes[0]
    bytes[0] = 1
    found.made = [sb.tensor([[1, 2], [3, 4]]), sb.zeros([2]), sb.full([2], 3, { dtype: 'int16' }), sb.arange(3), sb.linspace(0, 1, 3), sb.eye(2), sb.tensor(new Int16Array([1, 2])), sb.tensor(Array.from([1, 2]))].map(list)
    found.copies = [sb.empty([2, 3]).copyFrom(t), sb.empty([2, 3]).copyFrom([[1, 2, 3], [4, 5, 6]]), t.to('float64'), t.clone(), sb.concat([t, t], { axis: 1 }), sb.stack([t, t]), t.take([1, 0], { axis: 1 }), t.roll(1)].map(list)
    found.text = [String(t), JSON.stringify(t.shape)]
    found.elements = [t.get(1, 2), t.accessor().get(0, 1), [...t.data].length]
    found.npy = list(sb.parseNpy(sb.toNpyBytes(t)))
    found.npz = [...sb.parseNpz(sb.toNpzBytes({ a: t, b: sb.ones([2]) }))].map(([name, each]) => [name, list(each)])
    found.safetensors = list(sb.parseSafetensors(sb.toSafetensorsBytes({ w: t }, { metadata: { from: 'a test' } })).get('w'))
    found.math = [math.add(t, 1), math.multiply(t, t), math.sum(t, { axis: 0 }), math.matmul(t, t.T), math.sort(t, { axis: 1, descending: true }), math.softmax(sb.zeros([2]), { axis: 0 }), math.where(math.greater(t, 3), t, 0), math.mean(t), math.argmax(t, { axis: 1 }), math.cumulativeSum(t, { axis: 0 })].map(list)
    found.later = list(await math.addAsync(t, t))
    found.copiedLater = list(await sb.empty([2, 3]).copyFromAsync(t))
    found.shared = list(sb.fromShared(structuredClone(sb.share(sb.full([2], 5, { shared: true })))))
    found.blob = list(sb.fromBlob(t.toBlob()))
    found.memory = typeof sb.memory().tensors
    found.refusals = [() => t.get(5, 5), () => sb.zeros([-1]), () => sb.zeros([2], { dtyp: 'int8' }), () => sb.parseNpy(new Uint8Array(3)), () => sb.fromBlob(new ArrayBuffer(3), [1]), () => math.add(t, 'x')].map(refused)
    process.stdout.write(JSON.stringify(found) + '\\n')
  }
`
const OWN = 'main(globalThis).catch(error => { console.error(error); process.exitCode = 1 })'

const REALMS = {
  'core-js that was loaded before': { before: "require('core-js')" },
  'core-js that is loaded after': { after: "require('core-js')" },
  'SES, locked down before': {
    before: "require('ses'); lockdown({ errorTaming: 'unsafe', consoleTaming: 'unsafe' })",
  },
  'SES, locked down after': {
    after: "require('ses'); lockdown({ errorTaming: 'unsafe', consoleTaming: 'unsafe' })",
  },
  'values on Object.prototype under the names of options': {
    after: polluted([
      'device',
      'dtype',
      'shape',
      'strides',
      'axis',
      'axes',
      'out',
      'casting',
      'shared',
      'deleter',
      'order',
      'keepdims',
      'copy',
      'mode',
      'metadata',
      'descending',
      'readonly',
      'where',
      'initial',
      'dynamism',
      'storageOffset',
      'scale',
      'transfer',
    ]),
  },
  'values on Object.prototype under the names of fields': {
    after: polluted([
      'storage',
      'offset',
      'size',
      'flags',
      'watch',
      'base',
      'stays',
      'busy',
      'written',
      'guarded',
      'fixed',
      'pinned',
      'optional',
      'capacity',
      'owner',
      'frozenShape',
      'claims',
      'kind',
      'group',
      'block',
      'address',
      'nbytes',
      'float32',
      'int8',
      'w',
      'a',
    ]),
  },
}

/** @param {string[]} names @returns {string} a program that gives every object these */
function polluted(names) {
  return `for (const name of ${JSON.stringify(names)}) Object.defineProperty(Object.prototype, name, { value: 'polluted', writable: true, configurable: true, enumerable: true })`
}

/** Calls each function of test/signatures.js whose options may be left out, with values on Object.prototype under the names of its options, one by one. */
function OPTIONS() {
  const signatures = './test/signatures' // by a name, which bundlers of pages do not follow: this is the text of a program
  const { FUNCTIONS, METHODS, MATH, sample, validOf } = require(signatures)
  const samebytes = require('samebytes')
  const math = require('samebytes/math')
  const plain = Object.prototype
  const told = (value) =>
    JSON.stringify(value, (_, each) =>
      typeof each === 'bigint'
        ? String(each)
        : samebytes.Tensor.isTensor(each)
          ? [each.dtype, each.shape, each.toArray()]
          : each,
    )
  const outcome = (call, isEmpty) => {
    try {
      const result = call()
      if (isEmpty) return `${result.dtype} [${result.shape}]` // elements are whatever was there
      return result instanceof Promise ? result.catch(() => {}) && 'a promise' : `${told(result)}`
    } catch (error) {
      return `${error.code} ${error.message}`
    }
  }
  const wrong = []
  let count = 0
  const rows = [
    [FUNCTIONS, (name) => samebytes[name]],
    [METHODS, (name, on) => on[name]],
    [MATH, (name) => math[name]],
  ].flatMap(([table, of]) =>
    Object.entries(table).map(([name, row]) => ({ name, of, args: row.args ?? row })),
  )
  for (const { name, of, args } of rows) {
    const at = Array.isArray(args) ? args.findIndex(({ kind }) => kind === 'options') : -1
    if (at < 0) continue
    const call = (last) => {
      const on = sample()
      return of(name, on).apply(on, [...args.slice(0, at).map(validOf), ...last])
    }
    const isEmpty = name.startsWith('empty')
    for (const last of [[], [{}], ...('dtype' in args[at].keys ? [['float32']] : [])]) {
      const wanted = outcome(() => call(last), isEmpty)
      if (/^(ERR|undefined)/.test(wanted) || outcome(() => call(last), isEmpty) !== wanted) continue // it needs options, or draws
      for (const key of new Set([
        ...Object.keys(args[at].keys),
        'signal',
        'out',
        'dtype',
        'axis',
        'device',
      ])) {
        plain[key] = 'polluted'
        const found = outcome(() => call(last), isEmpty)
        delete plain[key]
        if (found !== wanted) wrong.push(`${name}, ${key}: ${found}`)
        count++
      }
    }
  }
  process.stdout.write(JSON.stringify({ count, wrong }) + '\n')
}

describe('a program', () => {
  needs('a Node of its own')

  /** @type {any} */
  let wanted
  before(async () => {
    wanted = await childJson(PROGRAM + OWN)
    assert.deepEqual(wanted.refusals, [
      'ERR_BOUNDS',
      'ERR_SHAPE',
      'ERR_ARGUMENT',
      'ERR_FORMAT',
      'ERR_DTYPE',
      'ERR_ARGUMENT',
    ])
    assert.deepEqual(wanted.npy, [
      'float32',
      [2, 3],
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
    ])
  })

  for (const [name, { before = '', after = '' }] of Object.entries(REALMS)) {
    it(`does the same under ${name}`, async () => {
      assert.deepEqual(
        await childJson(`${before}\n${PROGRAM}\nrequire('samebytes'); ${after}\n${OWN}`),
        wanted,
      )
    })
  }

  it('does the same with arrays of another realm, as in Jest', async () => {
    assert.deepEqual(
      await childJson(`${PROGRAM}
      const realm = require('node:vm').createContext({})
      const names = ['Array', 'ArrayBuffer', 'Float32Array', 'Int16Array', 'Uint8Array', 'Map']
      main(Object.fromEntries(names.map(name => [name, require('node:vm').runInContext(name, realm)]))).catch(error => { console.error(error); process.exitCode = 1 })`),
      wanted,
    )
  })
})

describe('functions with options', () => {
  needs('a Node of its own')

  it('take none of them from Object.prototype, whatever its name', async () => {
    const { count, wrong } = await childJson(`(${OPTIONS})()`)
    assert.deepEqual(wrong, [])
    assert.ok(count > 2000, `${count} calls`)
  })
})
