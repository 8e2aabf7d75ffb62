'use strict'
// An option that a function does not have is refused, by the function's name, with the one that was probably meant: passed over in silence, it
// would leave a result of another dtype, a file that was replaced, a ring without its readers.
const assert = require('node:assert/strict')
const samebytes = require('samebytes')
const { MORE, FUNCTIONS, METHODS, sample, tokens, validOf } = require('../signatures')
const { isPage, skipWithout } = require('../setup')

const SYMBOLS = {
  '[iterator]': Symbol.iterator,
  '[inspect]': Symbol.for('nodejs.util.inspect.custom'),
}

const isOptions = ({ kind }) => kind === 'options'

/** Calls by name: { keys, call (options) }. */
const CALLS = Object.fromEntries(
  [
    ...Object.entries(FUNCTIONS)
      .filter(([, args]) => args.some(isOptions))
      .map(([name, args]) => [name, { args, call: (list) => samebytes[name](...list) }]),
    ...Object.entries(METHODS)
      .filter(([, { args }]) => args.some(isOptions))
      .map(([name, { args, make = sample }]) => [
        name,
        { args, call: (list) => make()[SYMBOLS[name] ?? name](...list) },
      ]),
  ].map(([name, { args, call }]) => {
    const at = args.findIndex(isOptions)
    return [
      name,
      {
        keys: Object.keys(args[at].keys),
        call: (opts) => call(args.map((each, i) => (i === at ? opts : validOf(each)))),
      },
    ]
  }),
)

/** @param {() => unknown} call @returns {Promise<any>} what it throws or rejects with */
async function errorOf(call) {
  try {
    await call()
  } catch (error) {
    return error
  }
}

const SHARED = ['wait', 'nextAsync', 'writeAsync', 'write', 'commit', 'read'] // methods of what has a name

function check(name, { keys, call }) {
  it(`of ${name}`, async function () {
    if (SHARED.includes(name)) skipWithout(this, 'shared memory with a name')
    const wrong = await errorOf(() => call({ nothing: 0 }))
    assert.equal(wrong?.code, 'ERR_ARGUMENT', wrong?.stack ?? 'nothing was thrown')
    assert.ok(wrong instanceof TypeError)
    const [, listed] =
      wrong.message.match(
        new RegExp(
          `^(?:.*: )?${name.replaceAll('.', '\\.')} has no option "nothing"; (.*) was expected$`,
        ),
      ) ?? assert.fail(wrong.message)
    assert.deepEqual(
      keys.filter((key) => !listed.split(/, | or /).includes(key)),
      [],
      listed,
    )
    for (const key of keys.filter((key) => key.length > 1)) {
      const { message } = (await errorOf(() => call({ [`${key}x`]: 1 }))) ?? {}
      assert.ok(message?.endsWith(`${name} has no option "${key}x"; ${key} was expected`), message)
    }
    const others = ['owner', ...(name === 'init' ? ['wasm', 'math', 'algorithms'] : [])] // which may be anything; where pages find their modules
    for (const key of listed.split(/, | or /).filter((key) => !others.includes(key))) {
      const error = await errorOf(() => call({ [key]: Symbol('wrong') }))
      assert.ok(
        [
          'ERR_ARGUMENT',
          'ERR_DTYPE',
          'ERR_DEVICE',
          ...(isPage ? ['ERR_UNSUPPORTED'] : []),
        ].includes(error?.code),
        `${key} is passed over: ${error?.stack}`,
      )
    }
    const inherited = Object.create({ nothing: 0 })
    for (const harmless of [{ nothing: undefined }, inherited]) {
      const error = await errorOf(async () => {
        const result = await call(harmless)
        if (name === 'share') tokens.push(result)
      })
      assert.ok(!/nothing/.test(error?.message))
    }
  })
}

describe('options that there are not', () => {
  after(() => {
    for (const token of tokens.splice(0)) {
      try {
        samebytes.unshare(token)
      } catch {} // taken, or taken back
    }
    assert.equal(samebytes.memory().inFlight, 0)
    if (!isPage) MORE.memoryMap.untrace()
  })

  for (const [name, each] of Object.entries(CALLS)) check(name, each)
  if (!isPage) for (const [name, each] of Object.entries(MORE)) check(name, each)

  it('are refused beside the argument that says the same', async () => {
    const t = samebytes.tensor([
      [1, 2],
      [3, 4],
    ])
    const twice = [
      () => samebytes.concat([t, t], 0, { axis: 1 }),
      () => samebytes.stack([t, t], 1, { axis: 1 }),
      () => samebytes.takeAlongAxis(t, samebytes.zeros([2, 2], 'int32'), 0, { axis: 1 }),
      () => t.take([0], 0, { axis: 1 }),
      () => t.roll(1, 0, { axis: 1 }),
      () => t.take([0], null, { axis: 1 }),
      () => t.to('float32', { dtype: 'float64' }),
      () => t.to('cpu', { device: 'cpu' }),
      () => t.to({ dtype: 'float64' }, { copy: true }),
      () => t.to(t, { copy: true }),
      () => t.toAsync('float32', { dtype: 'float64' }),
      () => t.toAsync('cpu', { device: 'cpu' }),
      () => t.toAsync({ dtype: 'float64' }, { copy: true }),
      () => t.cpu({ device: 'cpu' }),
      () => t.cpuAsync({ device: 'cpu' }),
      () => t.cuda(0, { device: 'cpu' }),
      () => t.cudaAsync(0, { device: 'cpu' }),
      () => t.astype('float64', { dtype: 'int8' }),
      () => t.astype('float64', 'int8'),
    ]
    for (const call of twice) {
      assert.equal((await errorOf(call))?.code, 'ERR_ARGUMENT', String(call))
    }
    assert.throws(twice[0], {
      message: 'axis is an argument of concat, and an option as well; one of them was expected',
    })
    assert.throws(twice[6], {
      message: 'target is "float32", and the option dtype "float64"; one of them was expected',
    })
    const harmless = { axis: undefined, dtype: undefined, device: undefined }
    assert.deepEqual(
      [
        samebytes.concat([t, t], 0, harmless).shape,
        samebytes.concat([t, t], harmless).shape,
        t.to('cpu', harmless),
        t.cpu(harmless),
        t.to('float64', { copy: true }).dtype,
      ],
      [[4, 2], [4, 2], t, t, 'float64'],
    )
    assert.deepEqual(
      [
        t.cpu('float64').dtype,
        t.cpu({ copy: true }) === t,
        (await t.cpuAsync({ dtype: 'int8', casting: 'unsafe' })).dtype,
      ],
      ['float64', false, 'int8'],
    )
  })

  it('have the name that others give them in the error', () => {
    assert.throws(() => samebytes.zeros([2], { type: 'int32' }), {
      message: 'zeros has no option "type"; dtype was expected',
    })
    assert.throws(() => samebytes.concat([samebytes.zeros([2])], { dim: 0 }), {
      message: 'concat has no option "dim"; axis was expected',
    })
    assert.throws(() => samebytes.zeros([2]).take([0], { axes: 0 }), {
      message: 'take has no option "axes"; axis was expected',
    })
    assert.throws(() => samebytes.meshgrid(samebytes.zeros([2]), { dtype: 'int8' }), {
      message: 'meshgrid has no option "dtype"; indexing was expected',
    })
    for (const make of ['zeros', 'rand', 'arange', 'eye']) {
      assert.throws(() => samebytes[make](2, { casting: 'unsafe' }), {
        code: 'ERR_ARGUMENT',
        message: new RegExp(`^${make} has no option "casting"`),
      })
    }
    assert.throws(
      () => samebytes.fromBytes(new Uint8Array(4), { dtype: 'int8', casting: 'unsafe' }),
      { code: 'ERR_ARGUMENT' },
    )
    assert.deepEqual(
      samebytes.tensor(Float32Array.of(1.5), { dtype: 'int8', casting: 'unsafe' }).toArray(),
      [1],
    )
  })
})
