'use strict'
const assert = require('node:assert/strict')
const { empty, flush, fromBlob, full, tensor, tidy, zeros } = require('samebytes')
const {
  child,
  childJson,
  collectAll,
  collectUntil,
  fails,
  nativeOnly,
  skipWithout,
  turn,
} = require('../setup')

/** A float32 [4] over memory that stays, with a deleter that notes its calls. */
function withDeleter(deleter) {
  const kept = full([4], 3, { shared: true })
  const calls = []
  const t = fromBlob(kept.dataPtr, [4], {
    dtype: 'float32',
    deleter: (...args) => {
      assert.equal(args.length === 1 && kept.isDisposed, false) // kept lives as long as the deleter
      calls.push(args)
      deleter?.(...args)
    },
  })
  return { kept, calls, t, address: kept.dataPtr }
}

describe('deleters', function () {
  nativeOnly()

  it('run once, on a later turn, with the original address', async () => {
    const { t, calls, address } = withDeleter()
    t.dispose()
    assert.deepEqual(calls, [])
    await flush()
    assert.deepEqual(calls, [[address]])
    t.dispose()
    await flush()
    assert.equal(calls.length, 1)
  })

  it('get the address that was given, whatever the float32 offset', async () => {
    const kept = full([8], 3, { shared: true })
    const calls = []
    const t = fromBlob(kept.dataPtr, [2], {
      dtype: 'float32',
      offset: 5,
      deleter: (address) => calls.push(address),
    })
    t.dispose()
    await flush()
    assert.deepEqual(calls, [kept.dataPtr])
  })

  it('never run inside a samebytes call', async () => {
    let inside = false
    const { t, calls } = withDeleter(() => assert.equal(inside, false))
    inside = true
    t.dispose()
    for (let i = 0; i < 100; i++) zeros([1000]).fill(1).clone()
    globalThis.gc()
    inside = false
    assert.deepEqual(calls, [])
    await flush()
    assert.equal(calls.length, 1)
  })

  it('wait for the last view', async () => {
    const { t, calls } = withDeleter()
    const a = t.slice('1:')
    const b = a.view([3, 1])
    t.dispose()
    await flush()
    a.dispose()
    await flush()
    assert.deepEqual(calls, [])
    b.dispose()
    await flush()
    assert.equal(calls.length, 1)
  })

  for (const [name, use] of Object.entries({
    get: (t) => t.get(1),
    set: (t) => t.set(5, 1),
    item: (t) => t.select(0, 0).item(),
    toArray: (t) => t.toArray(),
    toString: (t) => t.toString(),
    fill: (t) => t.fill(1),
    clone: (t) => t.clone(),
    copyFrom: (t) => t.copyFrom([1, 2, 3, 4]),
  })) {
    it(`are not held up by ${name}, which exposes no buffer`, async () => {
      const { t, calls } = withDeleter()
      tidy(() => {
        use(t)
      })
      t.dispose()
      await flush()
      assert.equal(calls.length, 1)
    })
  }

  it('wait for the last data that anybody holds', async () => {
    const { t, calls } = withDeleter()
    let data = t.data
    t.dispose()
    await collectAll()
    assert.equal(calls.length, 0)
    assert.deepEqual([...data], [3, 3, 3, 3])
    data = null
    assert.equal(await collectUntil(() => calls.length > 0), true)
    await flush()
    assert.equal(calls.length, 1)
  })

  it('run for a float32 tensor that was collected without dispose', async () => {
    let calls
    ;(() => {
      ;({ calls } = withDeleter())
    })()
    assert.equal(await collectUntil(() => calls.length > 0), true)
    assert.equal(calls.length, 1)
  })

  it('may use samebytes, dispose and make tensors with deleters', async () => {
    const results = []
    const second = withDeleter()
    const { t } = withDeleter((address) => {
      results.push(tensor([1, 2]).clone().toArray())
      second.t.dispose()
    })
    t.dispose()
    await flush()
    await flush()
    assert.deepEqual(results, [[1, 2]])
    assert.equal(second.calls.length, 1)
  })

  it('that throw become a process warning, and the others run', async () => {
    const warnings = []
    const note = (warning) => warnings.push(warning)
    process.on('warning', note)
    try {
      const first = withDeleter(() => {
        throw new Error('from the deleter')
      })
      const second = withDeleter()
      first.t.dispose()
      second.t.dispose()
      await flush()
      await turn()
      await turn()
      assert.equal(first.calls.length, 1)
      assert.equal(second.calls.length, 1)
      assert.ok(
        warnings.some((warning) =>
          /from the deleter/.test(`${warning.message} ${warning.stack} ${warning.detail}`),
        ),
        `warnings: ${warnings.map(String)}`,
      )
    } finally {
      process.off('warning', note)
    }
  })

  it('run for 10,000 tensors, each once', async () => {
    const kept = empty([4], { shared: true })
    let count = 0
    for (let i = 0; i < 10000; i++) {
      fromBlob(kept.dataPtr, [4], { dtype: 'float32', deleter: () => count++ }).dispose()
    }
    await flush()
    assert.equal(count, 10000)
    await flush()
    assert.equal(count, 10000)
  })

  it('work for a Float32Array too, with a bigint', async () => {
    const calls = []
    const t = fromBlob(new Float32Array(4), [4], { deleter: (address) => calls.push(address) })
    const view = t.slice('1:')
    t.dispose()
    await flush()
    assert.deepEqual(calls, [])
    view.dispose()
    await flush()
    assert.equal(calls.length, 1)
    assert.equal(typeof calls[0], 'bigint')
  })

  it('are not run where fromBlob refused', async () => {
    const kept = empty([4], { shared: true })
    const calls = []
    const opts = { dtype: 'float32', nbytes: 16, deleter: (address) => calls.push(address) }
    fails(() => fromBlob(kept.dataPtr, [5], opts), RangeError, 'ERR_BOUNDS')
    fails(() => fromBlob(kept.dataPtr + 2n, [1], opts), RangeError, 'ERR_ALIGNMENT')
    globalThis.gc()
    await flush()
    assert.deepEqual(calls, [])
  })

  it('must be functions', () => {
    const kept = empty([4], { shared: true })
    for (const deleter of [5, 'f', {}, true]) {
      fails(
        () => fromBlob(kept.dataPtr, [4], { dtype: 'float32', deleter }),
        TypeError,
        'ERR_ARGUMENT',
      )
    }
  })

  it('do not run after their environment has ended, and do not stop it from ending', async () => {
    const { code, stdout, stderr } = await child(`
      const { empty, fromBlob } = require('samebytes')
      const kept = empty([4], { shared: true })
      const t = fromBlob(kept.dataPtr, [4], { dtype: 'float32', deleter: () => console.log('ran') })
      process.on('exit', () => console.log('exit', t.size))
      globalThis.held = [t, t.data]
    `)
    assert.equal(code, 0, stderr)
    assert.equal(stdout, 'exit 4\n')
  })

  it('that are due when the process ends do not crash it', async () => {
    const { code, stderr } = await child(`
      const { empty, fromBlob } = require('samebytes')
      const kept = empty([4], { shared: true })
      for (let i = 0; i < 100; i++) fromBlob(kept.dataPtr, [4], { dtype: 'float32', deleter () {} }).dispose()
      process.exit(0)
    `)
    assert.equal(code, 0, stderr)
  })
})

describe('flush', () => {
  it('resolves at once where nothing is due', async () => {
    assert.equal(await flush(), undefined)
  })

  it('is there in WASM, where a deleter runs for a Float32Array', async function () {
    skipWithout(this, 'the WebAssembly build')
    const calls = await childJson(
      `
      const { fromBlob, flush } = require('samebytes')
      const calls = []
      const t = fromBlob(new Float32Array(4), [4], { deleter: address => calls.push(String(address)) })
      t.dispose()
      const early = calls.length
      flush().then(() => console.log(JSON.stringify([early, calls])))
    `,
      { env: { SAMEBYTES_BACKEND: 'wasm' } },
    )
    assert.deepEqual(calls, [0, ['0']])
  })
})
