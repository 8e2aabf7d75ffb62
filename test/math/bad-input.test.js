'use strict'
// Wrong values in every place of every function: a typed error that names the argument, and nothing has changed.
const assert = require('node:assert/strict')
const { ones, tensor, zeros } = require('samebytes')
const { MATH, inMath, isAlias, namesIn, ofMath, validOf } = require('../signatures')
const { acceptsRight, readsFirst, refusesAll } = require('../refusals')
const { fails } = require('../setup')
const { math, needsMath, rows } = require('./load')

/** Functions that take an axis alone in the place of options. */
const ALONG = [
  'sum',
  'prod',
  'mean',
  'std',
  'var',
  'min',
  'max',
  'any',
  'all',
  'countNonzero',
  'argmax',
  'argmin',
  'cumulativeSum',
  'cumulativeProd',
  'softmax',
  'logSoftmax',
  'logSumExp',
  'median',
  'quantile',
  'sort',
  'argsort',
  'topK',
  'vecdot',
  'cosineSimilarity',
  'oneHot',
  'nansum',
  'nanprod',
  'nanmean',
  'nanvar',
  'nanstd',
  'nanmin',
  'nanmax',
]

describe('wrong values of arithmetic', function () {
  needsMath()

  it('each row of the list is a function', () => {
    assert.deepEqual(
      rows.filter(({ js }) => typeof math[js] !== 'function'),
      [],
    )
  })

  it('each function has its own name', () => {
    assert.deepEqual(
      namesIn(math).filter((name) => inMath(math, name).name !== name.split('.').at(-1)),
      [],
    )
  })

  it('each other function has a row in test/signatures.js, but asynchronous ones', () => {
    const own = rows.map(({ js }) => js).concat('init')
    assert.deepEqual(
      Object.keys(MATH).sort(),
      namesIn(math)
        .filter((name) => !own.includes(name) && !name.endsWith('Async') && !isAlias(math, name))
        .sort(),
    )
  })

  const functions = rows.map((row) => [row.js, ofMath(row)]).concat(Object.entries(MATH))
  for (const [name, args] of functions) {
    const call = (list) => inMath(math, name)(...list)
    it(`of ${name} are refused, and leave nothing behind`, () => refusesAll({ args }, call))
    it(`of ${name}: right ones work, of every realm and through Proxies`, () =>
      acceptsRight({ args }, call))
    const afterAxis = (list) => [
      ...list.slice(0, args.length - 1),
      undefined,
      list[args.length - 1],
    ]
    if (ALONG.includes(name)) {
      it(`of ${name} are refused after an axis as well`, () =>
        refusesAll({ args }, (list) => call(afterAxis(list))))
    }
    for (const form of [name, `${name}Async`]) {
      const fn = inMath(math, form)
      if (fn === undefined) continue
      it(`of ${form}: what reading right ones runs changes nothing`, () =>
        readsFirst(
          { args },
          (list) => fn(...list),
          (one, out) => math.add(one, one, { out }),
        ))
      if (ALONG.includes(name)) {
        it(`of ${form}: nor does it after an axis`, () =>
          readsFirst(
            { args },
            (list) => fn(...afterAxis(list)),
            (one, out) => math.add(one, one, { out }),
          ))
      }
    }

    const at = args.findIndex(({ kind }) => kind === 'options')
    if (at < 0) continue
    it(`of ${name}: options that it has not are refused, with those that it has`, () => {
      const withOptions = (options) =>
        call(args.map((each, i) => (i === at ? options : validOf(each))))
      fails(
        () => withOptions({ nothing: 0 }),
        TypeError,
        'ERR_ARGUMENT',
        /^there is no option "nothing"; /,
      )
      try {
        withOptions({ ...validOf(args[at]), nothing: 0 })
      } catch ({ message }) {
        const wanted = Object.keys(args[at].keys)
        assert.deepEqual(
          message
            .replace(/^.*"; | was expected$/g, '')
            .split(/, | or /)
            .sort(),
          wanted.length === 0 ? ['none'] : wanted.sort(),
        )
      }
      assert.ok(withOptions({ ...validOf(args[at]), nothing: undefined }))
    })
  }
})

describe('options of arithmetic', () => {
  needsMath()

  const x = tensor([
    [1, 2],
    [3, 4],
  ])
  const refused = (call, message) =>
    assert.throws(call, { name: 'TypeError', code: 'ERR_ARGUMENT', message })

  it('of asynchronous forms have signal as well', async () => {
    await assert.rejects(math.addAsync(x, x, { singal: 1 }), {
      code: 'ERR_ARGUMENT',
      message: 'there is no option "singal"; signal was expected',
    })
    await assert.rejects(math.sumAsync(x, { nothing: 1 }), {
      code: 'ERR_ARGUMENT',
      message:
        'there is no option "nothing"; axis, keepdims, dtype, out, casting or signal was expected',
    })
  })

  it('have the names that NumPy and PyTorch give them in the error, and those that were mistyped', () => {
    for (const name of ['dim', 'dims', 'axes', 'Axis', 'axs']) {
      refused(() => math.sum(x, { [name]: 0 }), `there is no option "${name}"; axis was expected`)
    }
    for (const name of ['keepdim', 'keepDims', 'keep_dims', 'keepDim']) {
      refused(
        () => math.max(x, { axis: 0, [name]: true }),
        `there is no option "${name}"; keepdims was expected`,
      )
    }
    for (const name of ['ddof', 'unbiased', 'Correction']) {
      refused(
        () => math.std(x, { [name]: 1, axis: 0 }),
        `there is no option "${name}"; correction was expected`,
      )
    }
    refused(
      () => math.exp(x, { dtpye: 'float64' }),
      'there is no option "dtpye"; dtype was expected',
    )
    refused(
      () => math.sum(x, { ddof: 1 }),
      'there is no option "ddof"; axis, keepdims, dtype, out or casting was expected',
    )
    refused(
      () => math.add(x, x, { where: x }),
      'there is no option "where"; dtype, out or casting was expected',
    )
    refused(() => math.vectorNorm(x, { p: 1 }), 'there is no option "p"; ord was expected')
    refused(() => math.nonzero(x, { axis: 0 }), 'there is no option "axis"; dtype was expected')
    refused(
      () => math.resize(x, [1, 1], { mode: 'bicubic' }),
      'there is no option "mode"; method was expected',
    )
    for (const name of ['fill', 'color']) {
      refused(
        () => math.letterbox(x, [4, 4], { [name]: 0 }),
        `there is no option "${name}"; value was expected`,
      )
    }
    for (const name of ['constant_values', 'constantValues']) {
      refused(
        () => math.pad(x, 1, { [name]: 9 }),
        `there is no option "${name}"; value was expected`,
      )
    }
    for (const name of ['idxs', 'labels']) {
      refused(
        () => math.nms(zeros([1, 4]), zeros([1]), { [name]: zeros([1], 'int32') }),
        `there is no option "${name}"; classes was expected`,
      )
    }
    refused(
      () => math.nms(zeros([1, 4]), zeros([1]), { maxOutputSize: 1 }),
      'there is no option "maxOutputSize"; limit was expected',
    )
    refused(() => math.hann(4, { sym: false }), 'there is no option "sym"; periodic was expected')
    refused(
      () => math.sort(x, { kind: 'stable' }),
      'there is no option "kind"; stable was expected',
    )
    refused(
      () => math.add(x, x, { signal: new AbortController().signal }),
      /^there is no option "signal"; /,
    )
  })

  it('are an axis, where a function has one and a number means nothing else', async () => {
    const given = {
      topK: [x, 1],
      quantile: [x, 0.5],
      vecdot: [x, x],
      cosineSimilarity: [x, x],
      oneHot: [tensor([0, 1], 'int32'), 2],
    }
    const result = (value) => value.values ?? value
    for (const name of ALONG) {
      const args = given[name] ?? [x]
      for (const axis of [0, -1]) {
        const wanted = result(math[name](...args, { axis })).toArray()
        assert.deepEqual(result(math[name](...args, axis)).toArray(), wanted, name)
        const later = math[`${name}Async`]
        if (later !== undefined) {
          assert.deepEqual(result(await later(...args, axis)).toArray(), wanted, name)
        } // median and quantile have none
      }
    }
    assert.equal(math.mean(x, [0, 1]).item(), math.mean(x).item())
    assert.deepEqual(
      math.linalg.cross(ones([3, 2]), ones([3, 2]), 0).toArray(),
      math.linalg.cross(ones([3, 2]), ones([3, 2]), { axis: 0 }).toArray(),
    )
    for (const name of ['cumulativeSum', 'softmax', 'sort', 'argmax']) {
      refused(() => math[name](x, [0]), 'axis is an array; an integer was expected')
    }
    for (const axis of [2, 0.5, [0, 2]]) {
      assert.throws(() => math.sum(x, axis), { name: 'RangeError', code: 'ERR_BOUNDS' })
    }
  })

  it('follow an axis, once', async () => {
    const y = tensor([
      [1, 2, 3],
      [5, 4, 6],
    ])
    const of = {
      topK: [{ largest: false }, y, 2],
      quantile: [{ method: 'lower', keepdims: true }, y, 0.3],
      vecdot: ['float64', y, y],
      cosineSimilarity: [{ eps: 50 }, y, y],
      oneHot: [{ dtype: 'float64' }, tensor([0, 1], 'int32'), 3],
      cumulativeSum: [{ includeInitial: true }, y],
      cumulativeProd: [{ includeInitial: true }, y],
      sort: [{ descending: true }, y],
      argsort: [{ descending: true }, y],
      softmax: ['float64', y],
      logSoftmax: [{ dtype: 'float64' }, y],
      std: [{ correction: 1 }, y],
      nanvar: [{ correction: 1, keepdims: true }, y],
    }
    const shown = (value) => `${(value.values ?? value).dtype} ${value.values ?? value}`
    for (const name of ALONG) {
      const [opts, ...before] = of[name] ?? [{ keepdims: true }, y]
      const fields = typeof opts === 'string' ? { dtype: opts } : opts
      const wanted = shown(math[name](...before, { axis: 0, ...fields }))
      assert.notEqual(wanted, shown(math[name](...before, 0)), name)
      assert.equal(shown(math[name](...before, 0, opts)), wanted, name)
      assert.equal(shown(math[name](...before, undefined, { axis: 0, ...fields })), wanted, name)
      refused(
        () => math[name](...before, 0, { ...fields, axis: 0 }),
        'axis is an argument, and an option as well; one of them was expected',
      )
      refused(
        () => math[name](...before, { axis: 0 }, opts),
        /^axis is .*; an axis was expected before options$/,
      )
      refused(() => math[name](...before, 0, { nothing: 1 }), /^there is no option "nothing"; /)
      const later = math[`${name}Async`]
      if (later === undefined) continue
      const signal = new AbortController().signal
      assert.equal(shown(await later(...before, 0, opts)), wanted, name)
      assert.equal(shown(await later(...before, 0, { ...fields, signal })), wanted, name)
      assert.equal(
        shown(await later(...before, { axis: 0, ...fields, signal }, undefined)),
        wanted,
        name,
      )
      await assert.rejects(
        later(...before, 0, { ...fields, signal: AbortSignal.abort() }),
        { name: 'AbortError' },
        name,
      )
    }
    const read = []
    assert.deepEqual(
      math
        .sum(
          y,
          [0, 1],
          new Proxy(
            { keepdims: true },
            {
              get: (target, key) => {
                read.push(key)
                return target[key]
              },
            },
          ),
        )
        .toArray(),
      [[21]],
    )
    assert.equal(read.filter((key) => key === 'keepdims').length, 1)
    assert.deepEqual(
      math
        .sum(
          y,
          0,
          new (class {
            get keepdims() {
              return true
            }
          })(),
        )
        .toArray(),
      [[6, 6, 9]],
    )
  })

  it('are no other number, and no tensor', () => {
    refused(() => math.diff(x, 2), 'options is 2; { n: 2 } was expected')
    refused(() => math.vectorNorm(x, 1), 'options is 1; { ord: 1 } was expected')
    refused(() => math.exp(x, 0), 'options is 0; an object or a dtype was expected')
    for (const name of ['add', 'maximum']) {
      refused(
        () => math[name](x, x, zeros([2, 2])),
        'options is a tensor of float32 and shape [2, 2]; { out } was expected',
      )
    }
    refused(
      () => math.max(x, x),
      'options is a tensor of float32 and shape [2, 2]; { out }, or a function of two tensors as maximum is, was expected',
    )
    refused(
      () => math.bincount(zeros([2], 'uint8'), x),
      /^options is a tensor .*; \{ weights \} was expected$/,
    )
    refused(() => math.tensordot(x, x, [[0], [1]]), 'options is an array; { axes } was expected')
    for (const name of ['resize', 'letterbox']) {
      refused(() => math[name](x, 32), 'size is 32; [height, width] was expected')
    }
  })

  it('may be inherited, by objects that inherit other names too', () => {
    class Options {
      get axis() {
        return 0
      }
    }
    assert.deepEqual(math.sum(x, new Options()).toArray(), [4, 6])
    assert.deepEqual(math.sum(x, Object.create({ axis: 0, nothing: 1 })).toArray(), [4, 6])
    assert.deepEqual(math.sum(x, Object.assign(Object.create(null), { axis: 0 })).toArray(), [4, 6])
  })

  it('of asynchronous forms have signal as well', async () => {
    const { signal } = new AbortController()
    assert.deepEqual((await math.sumAsync(x, { signal, axis: 0 })).toArray(), [4, 6])
    await assert.rejects(math.sumAsync(x, { signal, dim: 0 }), {
      code: 'ERR_ARGUMENT',
      message: 'there is no option "dim"; axis was expected',
    })
    Object.defineProperty(Object.prototype, 'nothing', { value: true, configurable: true }) // eslint-disable-line no-extend-native
    try {
      await assert.rejects(math.sumAsync(x, { nothing: 3 }), {
        code: 'ERR_ARGUMENT',
        message: /^there is no option "nothing"/,
      })
    } finally {
      delete Object.prototype.nothing
    }
    await assert.rejects(math.vectorNormAsync(x, 1), {
      code: 'ERR_ARGUMENT',
      message: 'options is 1; { ord: 1 } was expected',
    })
    await assert.rejects(math.addAsync(x, x, x), {
      code: 'ERR_ARGUMENT',
      message: /^options is a tensor/,
    })
    await assert.rejects(math.addAsync(x, x, null), {
      code: 'ERR_ARGUMENT',
      message: /^options is null/,
    })
  })

  it('of an asynchronous form may tell their names by functions that compute', async () => {
    const names = new Proxy(
      { axis: 0 },
      {
        ownKeys(target) {
          math.add(x, 1, { out: y })
          return Reflect.ownKeys(target)
        },
      },
    )
    const y = zeros([2, 2])
    assert.deepEqual((await math.sumAsync(x, names)).toArray(), [4, 6])
    assert.deepEqual(y.toArray(), [
      [2, 3],
      [4, 5],
    ])
    const late = math.sumAsync(x, names)
    y.fill(0)
    await late
    assert.deepEqual(y.toArray(), [
      [0, 0],
      [0, 0],
    ])
  })

  it('of an asynchronous form compute at once, whatever is asked of them', async () => {
    const y = zeros([2, 2])
    const seen = new Set()
    const traps = Object.fromEntries(
      ['get', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf'].map((name) => [
        name,
        (...args) => {
          math.add(x, 1, { out: y })
          assert.equal(y.get(1, 1), 5, name)
          y.fill(0)
          seen.add(name)
          return Reflect[name](...args)
        },
      ]),
    )
    assert.deepEqual((await math.sumAsync(x, new Proxy({ axis: 0 }, traps))).toArray(), [4, 6])
    assert.deepEqual(
      (await math.linalg.invAsync(x, new Proxy({ casting: 'unsafe' }, traps))).shape,
      [2, 2],
    )
    assert.ok(seen.has('get') && seen.has('ownKeys'))
    assert.equal(math.add(x, x).get(0, 0), 2)
    const frozen = Object.freeze({ axis: 0, out: zeros([2]) })
    assert.equal(await math.sumAsync(x, frozen), frozen.out)
  })
})
