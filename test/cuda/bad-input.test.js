'use strict'
// Wrong values in every place of every function of `cuda`: a typed error that names the argument, and nothing is left. The functions
// of tensors are in test/api/bad-input-table.test.js.
const assert = require('node:assert/strict')
const { cuda, memory } = require('samebytes')
const { quietMemory, skipWithout } = require('../setup')
const { CUDA, validOf } = require('../signatures')
const { wrongFor } = require('../wrong')

const functions = Object.keys(cuda).filter(
  (name) =>
    typeof cuda[name] === 'function' &&
    !/^class\b/.test(Function.prototype.toString.call(cuda[name])),
)

/** Every call with one wrong value, also in an option. */
function* wrongCalls(args) {
  for (const [i, argument] of args.entries()) {
    const put = (value) => args.map((each, k) => (k === i ? value : validOf(each)))
    for (const { label, make, codes } of wrongFor(argument, validOf(argument))) {
      yield {
        label: `${argument.name} is ${label}`,
        name: argument.name,
        codes,
        list: () => put(make()),
      }
    }
    for (const [key, option] of Object.entries(argument.keys ?? {})) {
      for (const { label, make, codes } of wrongFor(
        { ...option, optional: true },
        validOf(option),
      )) {
        yield {
          label: `option ${key} is ${label}`,
          name: key,
          codes,
          list: () => put({ ...validOf(argument), [key]: make() }),
        }
      }
    }
  }
}

describe('functions of cuda', function () {
  it('have a row each in test/signatures.js', () => {
    assert.deepEqual(functions.sort(), Object.keys(CUDA).sort())
  })

  for (const name of functions) {
    it(`${name} refuses wrong values, and leaves nothing behind`, async function () {
      skipWithout(this, 'the WebAssembly build')
      await quietMemory()
      const { inFlight, storages } = memory()
      for (const { label, name: called, codes, list } of wrongCalls(CUDA[name])) {
        const args = list()
        const { error } = await Promise.resolve()
          .then(() => cuda[name](...args))
          .then(
            () => ({}),
            (error) => ({ error }),
          )
        if (codes.includes('a plain TypeError') && error instanceof TypeError) continue
        assert.ok(codes.includes(error?.code), `${label}: ${error?.stack ?? 'nothing was thrown'}`)
        if (!/DISPOSED|DETACHED/.test(error.code)) {
          assert.match(error.message, new RegExp(`(^|[^a-z])(${called})`, 'i'), label)
        }
      }
      assert.equal(memory().inFlight, inFlight)
      const q = await quietMemory()
      assert.ok(q.storages <= storages, `${q.storages} ${storages}`)
    })
  }

  it('take right values', async () => {
    for (const name of functions) {
      if (name === 'open' || name === 'unshare') continue
      const result = await cuda[name](...CUDA[name].map(validOf))
      if (name === 'share') cuda.unshare(result)
    }
  })

  it('know nothing of a descriptor that nobody gave', async () => {
    const [d] = CUDA.open.map(validOf)
    await assert.rejects(cuda.open(d), { code: 'ERR_DEVICE' }) // of a GPU that is not here
    await assert.rejects(cuda.open({ ...d, uuid: cuda.properties().uuid }), {
      code: 'ERR_NOT_FOUND',
    })
    assert.throws(() => cuda.unshare(d), { code: 'ERR_STALE' })
    for (const lie of [
      {
        get samebytes() {
          throw new Error('mine')
        },
      },
      new Proxy(d, {
        get() {
          throw new Error('mine')
        },
      }),
    ]) {
      await assert.rejects(cuda.open(lie), /mine/)
      assert.throws(() => cuda.unshare(lie), /mine/)
    }
  })
})
