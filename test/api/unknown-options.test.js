'use strict'
// An option that a function does not have is refused, by the function's name, with the one that was probably meant: passed over in silence, it
// would leave a result of another dtype, a file that was replaced, a ring without its readers.
const assert = require('node:assert/strict')
const samebytes = require('samebytes')
const { MORE, FUNCTIONS, METHODS, sample, validOf } = require('../signatures')
const { isPage } = require('../setup')

const SYMBOLS = { '[iterator]': Symbol.iterator, '[inspect]': Symbol.for('nodejs.util.inspect.custom') }

/** What answers for a function that only passes its options on. */
const BEHIND = { cpu: 'to', cpuAsync: 'toAsync', write: 'copyFrom' }

const isOptions = ({ kind }) => kind === 'options'

/** Calls by name: { keys, call (options) }. */
const CALLS = Object.fromEntries([
  ...Object.entries(FUNCTIONS).filter(([, args]) => args.some(isOptions)).map(([name, args]) => [name, { args, call: list => samebytes[name](...list) }]),
  ...Object.entries(METHODS).filter(([, { args }]) => args.some(isOptions)).map(([name, { args, make = sample }]) => [name, { args, call: list => make()[SYMBOLS[name] ?? name](...list) }])
].map(([name, { args, call }]) => {
  const at = args.findIndex(isOptions)
  return [name, { keys: Object.keys(args[at].keys), call: opts => call(args.map((each, i) => i === at ? opts : validOf(each))) }]
}))

/** @param {() => unknown} call @returns {Promise<any>} what it throws or rejects with */
async function errorOf (call) {
  try {
    await call()
  } catch (error) {
    return error
  }
}

function check (name, { keys, call }) {
  it(`of ${name}`, async () => {
    const label = BEHIND[name] ?? name
    const wrong = await errorOf(() => call({ nothing: 0 }))
    assert.equal(wrong?.code, 'ERR_ARGUMENT', wrong?.stack ?? 'nothing was thrown')
    assert.ok(wrong instanceof TypeError)
    const [, listed] = wrong.message.match(new RegExp(`^(?:.*: )?${label.replaceAll('.', '\\.')} has no option "nothing"; (.*) was expected$`)) ?? assert.fail(wrong.message)
    assert.deepEqual(keys.filter(key => !listed.split(/, | or /).includes(key)), [], listed)
    for (const key of keys.filter(key => key.length > 1)) {
      const { message } = await errorOf(() => call({ [`${key}x`]: 1 })) ?? {}
      assert.ok(message?.endsWith(`${label} has no option "${key}x"; ${key} was expected`), message)
    }
    const inherited = Object.create({ nothing: 0 })
    for (const harmless of [{ nothing: undefined }, inherited]) assert.ok(!/nothing/.test((await errorOf(() => call(harmless)))?.message))
  })
}

describe('options that there are not', () => {
  after(() => { if (!isPage) MORE.memoryMap.untrace() })

  for (const [name, each] of Object.entries(CALLS)) check(name, each)
  if (!isPage) for (const [name, each] of Object.entries(MORE)) check(name, each)

  it('have the name that others give them in the error', () => {
    assert.throws(() => samebytes.zeros([2], { type: 'int32' }), { message: 'zeros has no option "type"; dtype was expected' })
    assert.throws(() => samebytes.concat([samebytes.zeros([2])], { dim: 0 }), { message: 'concat has no option "dim"; axis was expected' })
    assert.throws(() => samebytes.zeros([2]).take([0], { axes: 0 }), { message: 'take has no option "axes"; axis was expected' })
    assert.throws(() => samebytes.meshgrid(samebytes.zeros([2]), { dtype: 'int8' }), { message: 'meshgrid has no option "dtype"; indexing was expected' })
  })
})
