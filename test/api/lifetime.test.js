'use strict'
const assert = require('node:assert/strict')
const { runInNewContext } = require('node:vm')
const {
  backend,
  empty,
  fromBlob,
  full,
  keep,
  memory,
  scope,
  Scope,
  sharesMemory,
  tensor,
  tidy,
  zeros,
  dispose,
  ones,
} = require('samebytes')
const {
  childJson,
  collectAll,
  collectUntil,
  fails,
  isWasm,
  quietMemory,
  refuses,
  settledMemory,
  skipWithout,
  turn,
} = require('../setup')

describe('dispose', () => {
  it('ends a float32 tensor; doing it again does nothing', () => {
    const t = zeros([2])
    assert.equal(t.isDisposed, false)
    assert.equal(t.dispose(), undefined)
    assert.equal(t.isDisposed, true)
    t.dispose()
    assert.equal(t.isDisposed, true)
  })

  it('refuses lists with anything else, and disposes nothing of them then: holes, and entries that change', () => {
    const t = zeros([2])
    const changing = new Proxy([t, t], {
      get: (list, key) =>
        key === '1'
          ? {
              dispose() {
                throw new Error('called')
              },
            }
          : list[key],
    })
    for (const list of [
      [t, undefined],
      [t, {}],
      Array(2 ** 31),
      Object.assign([t], { length: 2 }),
      changing,
    ]) {
      refuses(() => dispose(list), 'ERR_ARGUMENT')
    }
    assert.equal(t.isDisposed, false)
    dispose([t, t])
    assert.equal(t.isDisposed, true)
  })

  it('is what Symbol.dispose calls', () => {
    const t = zeros([2])
    t[Symbol.dispose]()
    assert.equal(t.isDisposed, true)
  })

  const uses = {
    get: (t) => t.get(0, 0),
    set: (t) => t.set(1, 0, 0),
    item: (t) => t.item(),
    toArray: (t) => t.toArray(),
    tolist: (t) => t.tolist(),
    data: (t) => t.data,
    bytes: (t) => t.bytes,
    dataPtr: (t) => t.dataPtr,
    fill: (t) => t.fill(1),
    zero: (t) => t.zero(),
    'copyFrom, as target': (t) => t.copyFrom(1),
    'copyFrom, as source': (t) => zeros([2, 2]).copyFrom(t),
    'tensor, as source': (t) => tensor(t),
    clone: (t) => t.clone(),
    contiguous: (t) => t.contiguous(),
    astype: (t) => t.astype('float64'),
    slice: (t) => t.slice(0),
    select: (t) => t.select(0, 0),
    narrow: (t) => t.narrow(0, 0, 1),
    permute: (t) => t.permute([1, 0]),
    transpose: (t) => t.transpose(0, 1),
    T: (t) => t.T,
    reshape: (t) => t.reshape([4]),
    view: (t) => t.view([4]),
    'view to another dtype': (t) => t.view('int32'),
    unfold: (t) => t.unfold(0, 1, 1),
    'sharesMemory, first': (t) => sharesMemory(t, zeros([1])),
    'sharesMemory, second': (t) => sharesMemory(zeros([1]), t),
  }
  for (const [name, use] of Object.entries(uses)) {
    it(`makes ${name} of a float32 tensor and of its views throw`, () => {
      const t = zeros([2, 2])
      if (name !== 'item') use(zeros([2, 2])) // not refused for another reason
      t.dispose()
      fails(() => use(t), Error, 'ERR_DISPOSED')
      const view = zeros([2, 2]).slice('::1')
      view.dispose()
      fails(() => use(view), Error, 'ERR_DISPOSED')
      const blob = fromBlob(new Float32Array(4), [2, 2])
      blob.dispose()
      fails(() => use(blob), Error, 'ERR_DISPOSED')
    })
  }

  it('leaves what data gave readable and writable, for float32', () => {
    const t = tensor([1, 2, 3])
    const { data } = t
    t.dispose()
    if (backend() === 'native') {
      const others = Array.from({ length: 500 }, () => full([3], 9))
      assert.deepEqual([...data], [1, 2, 3])
      data[0] = 5
      assert.ok(others.every((other) => other.get(0) === 9))
    } else {
      assert.equal(t.isDisposed, true)
    }
  })

  it('of a blob leaves the Float32Array alone', () => {
    const source = new Float32Array([1, 2])
    const t = fromBlob(source)
    t.dispose()
    assert.deepEqual([...source], [1, 2])
  })

  it('in any order of views and base keeps the other int32 elements', () => {
    for (let round = 0; round < 100; round++) {
      const t = tensor([1, 2, 3, 4], 'int32')
      const views = [t.slice('1:'), t.view([2, 2]), t.slice('::-1')]
      const [a, b, c] = views
      if (round % 2) t.dispose()
      a.dispose()
      full([4], 7, 'int32')
      assert.deepEqual(b.toArray(), [
        [1, 2],
        [3, 4],
      ])
      b.dispose()
      full([4], 7, 'int32')
      assert.deepEqual(c.toArray(), [4, 3, 2, 1])
      c.dispose()
      t.dispose()
    }
  })
})

describe('tidy', () => {
  it('disposes what was made inside, and keeps the float32 tensor returned', () => {
    let inside
    const before = zeros([1])
    const result = tidy(() => {
      inside = [zeros([2]), before.slice(':'), tensor([1]).clone()]
      return inside[0].fill(3).view([2, 1])
    })
    assert.deepEqual(
      inside.map((t) => t.isDisposed),
      [true, true, true],
    )
    assert.equal(before.isDisposed, false)
    assert.deepEqual(result.toArray(), [[3], [3]])
  })

  it('keeps what is returned inside arrays and objects, at any depth', () => {
    const made = []
    const make = (value) => {
      const t = tensor(value)
      made.push(t)
      return t
    }
    const result = tidy(() => {
      make(9)
      return { a: make(1), list: [make(2), { deep: [[make(3)]] }], other: 'text', none: null }
    })
    assert.equal(result.a.item(), 1)
    assert.equal(result.list[0].item(), 2)
    assert.equal(result.list[1].deep[0][0].item(), 3)
    assert.deepEqual(
      made.map((t) => t.isDisposed),
      [true, false, false, false],
    )
  })

  class Batch {
    #hidden
    constructor(make) {
      this.data = make(1)
      this[Symbol('mask')] = make(2)
      this.again = { list: [make(3)] }
      Object.defineProperty(this, 'lazy', {
        enumerable: true,
        get: () => {
          throw new Error('run')
        },
      })
      this.#hidden = keep(make(4))
      Object.defineProperty(this, 'silent', { value: keep(make(5)) })
    }

    get hidden() {
      return this.#hidden
    }
    get late() {
      throw new Error('run')
    }
  }
  class Rows extends Array {}
  class Named extends Map {}

  /** Results that hold what make gives for 1, 2, 3, … @type {Record<string, (make: (value: number) => any) => any>} */
  const HOLDERS = {
    'an object of a class, without running getters': (make) => new Batch(make),
    'an object of a class of another realm': (make) =>
      Object.assign(runInNewContext('new (class Batch {})()'), { t: make(1) }),
    'a plain object of another realm': (make) =>
      Object.assign(runInNewContext('({})'), { t: make(1) }),
    'an array of another realm': (make) => {
      const list = runInNewContext('[]')
      list.push([make(1)])
      return list
    },
    'an array without a prototype': (make) => Object.setPrototypeOf([make(1)], null),
    'a Map of another realm': (make) =>
      runInNewContext('new Map()').set(make(1), { deep: make(2) }),
    'a Set of another realm': (make) => runInNewContext('new Set()').add(make(1)),
    'an Error': (make) =>
      Object.assign(new RangeError('with a tensor'), { tensor: make(1), more: [make(2)] }),
    "an Error's cause": (make) => new Error('', { cause: make(1) }),
    'what an AggregateError has': (make) =>
      new AggregateError([new TypeError('', { cause: { t: make(1) } }), make(2)], '', {
        cause: make(3),
      }),
    'what a SuppressedError has': (make) =>
      Object.defineProperties(new Error(''), {
        error: { value: make(1) },
        suppressed: { value: make(2) },
      }),
    'what errors of another realm have': (make) =>
      runInNewContext('(a, b) => new AggregateError([a], "", { cause: b })')(make(1), make(2)),
    'named properties of a plain array': (make) =>
      Object.assign([1, make(1)], { mask: make(2), [Symbol('more')]: [make(3)] }),
    'an empty array': (make) => Object.assign([], { mask: make(1) }),
    'an array with holes': (make) => {
      // eslint-disable-next-line no-sparse-arrays
      const list = [, make(1), , [, make(2)]]
      return list
    },
    'long arrays': (make) => [make(1), ...new Array(300).fill(0), [make(2), ...new Array(300)]],
    'an Error of another realm': (make) =>
      Object.assign(runInNewContext('new Error()'), { tensor: make(1) }),
    'an array of a class': (make) => Object.assign(Rows.of(make(1)), { mask: make(2) }),
    'a Map of a class': (make) => Object.assign(new Named([[make(1), make(2)]]), { mask: make(3) }),
    'a function': (make) => Object.assign(() => 0, { weights: make(1) }),
    'an object without a prototype': (make) => Object.assign(Object.create(null), { t: make(1) }),
    'an object that stands behind another': (make) => new Proxy(new Batch(make), {}),
  }
  for (const [title, hold] of Object.entries(HOLDERS)) {
    it(`keeps what is in ${title}: int32, in tidy and in scope`, async () => {
      for (const run of [
        (fn) => tidy(() => fn((value) => value)),
        (fn) => scope((s) => fn((t) => s.track(t))),
      ]) {
        const made = []
        let lost
        await run((track) => {
          lost = [track(tensor(8, 'int32')), track(zeros([2]))]
          return hold((value) => {
            made.push(track(tensor(value, 'int32')))
            return made.at(-1)
          })
        })
        assert.deepEqual(
          made.map((t) => t.item()),
          made.map((_, i) => i + 1),
        )
        assert.deepEqual(
          lost.map((t) => t.isDisposed),
          [true, true],
        )
        for (const t of made) t.dispose()
      }
    })
  }

  it('disposes float32 tensors that only getters, private fields and properties that are not enumerable give', () => {
    const made = []
    const make = (value) => {
      made.push(tensor(value))
      return made.at(-1)
    }
    class Own {
      #t = make(1)
      get t() {
        return this.#t
      }
    }
    const run = () => {
      throw new Error('run')
    }
    tidy(() => [
      new Own(),
      Object.defineProperty({}, 't', { value: make(2) }),
      {
        get t() {
          return made[2]
        },
        u: [make(3)].length,
      },
      Object.defineProperty(new Error(''), 'other', { value: make(4) }),
      Object.defineProperties(new Error(''), { cause: { get: run }, errors: { get: run } }),
      Object.defineProperty([], 'name', { get: run, enumerable: true }),
      new (class extends Error {
        get cause() {
          return run()
        }
      })(),
    ])
    assert.deepEqual(
      made.map((t) => t.isDisposed),
      [true, true, true, true],
    )
  })

  it('looks through large float32 data beside a tensor: a typed array, a list of numbers', () => {
    const { list, numbers, t } = tidy(() => ({
      numbers: new Float32Array(2 ** 24),
      list: Array.from({ length: 2 ** 20 }, (_, i) => i),
      t: tensor(3),
      late: zeros([1]).item(),
    }))
    assert.deepEqual([list.length, numbers.length, t.item()], [2 ** 20, 2 ** 24, 3])
  })

  it('returns what fn returns: numbers, undefined, and objects that contain themselves', () => {
    assert.equal(
      tidy(() => 5),
      5,
    )
    assert.equal(
      tidy(() => {}),
      undefined,
    )
    const loop = tidy(() => {
      const o = { t: tensor(4) }
      o.self = o
      o.list = [o]
      return o
    })
    assert.equal(loop.self.list[0].t.item(), 4)
  })

  it('hands a result of an inner tidy to the outer one', () => {
    let inner
    tidy(() => {
      inner = tidy(() => zeros([2]))
      assert.equal(inner.isDisposed, false)
    })
    assert.equal(inner.isDisposed, true)
  })

  it('leaves alone what keep was given, through nested tidies', () => {
    let kept
    tidy(() =>
      tidy(() => {
        const t = tensor([1, 2])
        kept = keep(t)
        assert.equal(kept, t)
      }),
    )
    assert.equal(kept.isDisposed, false)
    assert.deepEqual(kept.toArray(), [1, 2])
  })

  it('disposes and passes an exception on', () => {
    let inside
    const reason = new Error('mine')
    assert.throws(
      () =>
        tidy(() => {
          inside = zeros([2])
          throw reason
        }),
      (error) => error === reason,
    )
    assert.equal(inside.isDisposed, true)
    let outer
    tidy(() => {
      outer = zeros([1])
      assert.equal(
        tidy(() => 1),
        1,
      )
      assert.equal(outer.isDisposed, false)
    })
    assert.equal(outer.isDisposed, true)
    const after = zeros([1])
    assert.equal(after.isDisposed, false)
  })

  it('refuses a promise and a function that is async, and goes on working', async () => {
    let inside
    refuses(() =>
      tidy(async () => {
        inside = zeros([2])
      }),
    )
    assert.equal(inside.isDisposed, true)
    refuses(() => tidy(() => Promise.resolve(1)))
    await turn()
    const t = zeros([1])
    await turn()
    assert.equal(t.isDisposed, false)
    assert.equal(
      tidy(() => 1),
      1,
    )
  })

  it('refuses what is no function', () => {
    for (const fn of [undefined, null, 5, 'f', {}, zeros([1])]) {
      refuses(() => tidy(fn), 'ERR_ARGUMENT')
    }
  })

  it('brings the count of tensors back', () => {
    const before = settledMemory().tensors
    tidy(() => {
      for (let i = 0; i < 100; i++) zeros([3]).slice('1:').clone()
      assert.ok(memory().tensors >= before)
    })
    assert.ok(memory().tensors <= before)
  })

  it('knows views that methods make inside: a float32 result of copyFrom, reshape and contiguous', () => {
    const t = zeros([2, 3])
    const made = []
    tidy(() => {
      made.push(t.T, t.T.reshape([6]), t.T.contiguous(), t.astype('int8', { casting: 'unsafe' }))
    })
    assert.deepEqual(
      made.map((m) => m.isDisposed),
      [true, true, true, true],
    )
    assert.equal(t.isDisposed, false)
  })

  it('does not dispose a float32 tensor that contiguous() or copyFrom() of an outer one gives back', () => {
    const t = zeros([2, 3])
    tidy(() => {
      t.contiguous().copyFrom(1)
    })
    assert.equal(t.isDisposed, false)
    assert.deepEqual(t.toArray(), [
      [1, 1, 1],
      [1, 1, 1],
    ])
  })
})

describe('Scope and scope', () => {
  it('dispose what was tracked, and nothing else', () => {
    const s = new Scope()
    const a = zeros([1])
    assert.equal(s.track(a), a)
    const b = s.track(a.slice(':'))
    const c = zeros([1])
    s[Symbol.dispose]()
    assert.deepEqual([a.isDisposed, b.isDisposed, c.isDisposed], [true, true, false])
    s[Symbol.dispose]()
  })

  it('leave alone what keep was given', () => {
    const s = new Scope()
    const a = s.track(zeros([1]))
    keep(a)
    s[Symbol.dispose]()
    assert.equal(a.isDisposed, false)
  })

  it('refuse to track what is no tensor', () => {
    for (const bad of [undefined, null, 5, {}, new Float32Array(2)]) {
      refuses(() => new Scope().track(bad), 'ERR_ARGUMENT')
    }
  })

  it('scope(async) disposes after the last await and keeps what is returned', async () => {
    const made = []
    const result = await scope(async (s) => {
      made.push(s.track(zeros([1])))
      await turn()
      assert.equal(made[0].isDisposed, false)
      made.push(s.track(tensor([1, 2])), s.track(tensor(3)))
      return { list: [made[1]] }
    })
    assert.deepEqual(
      made.map((t) => t.isDisposed),
      [true, false, true],
    )
    assert.deepEqual(result.list[0].toArray(), [1, 2])
  })

  it('scope disposes and passes a rejection on', async () => {
    let inside
    const reason = new Error('mine')
    await assert.rejects(
      scope(async (s) => {
        inside = s.track(zeros([1]))
        await turn()
        throw reason
      }),
      (error) => error === reason,
    )
    assert.equal(inside.isDisposed, true)
  })

  it("two scopes at once do not take each other's tensors", async () => {
    const seen = []
    const work = async (wait) =>
      scope(async (s) => {
        const t = s.track(zeros([1]))
        for (let i = 0; i < wait; i++) await turn()
        seen.push(t.isDisposed)
        return t
      })
    const [a, b] = await Promise.all([work(1), work(5)])
    assert.deepEqual(seen, [false, false])
    assert.equal(a.isDisposed || b.isDisposed, false)
  })
})

describe('what a scope leaves', () => {
  const reason = new Error('mine')
  const throwing = () => {
    throw reason
  }
  const mine = (error) => error === reason

  /** fn must leave as many tensors as there were, and so many more. */
  async function leaves(more, fn) {
    const before = settledMemory().tensors
    await fn()
    const left = memory().tensors - before
    assert.ok(left <= more, `${left} tensors more, ${more} expected`)
  }

  it('is nothing where Proxies in the result throw: tidy, nested tidy, scope', async () => {
    const made = []
    const make = () => {
      const t = zeros([4])
      made.push(t)
      return t
    }
    const bad = (t) => ({ b: new Proxy({}, { ownKeys: throwing }), a: t })
    await leaves(0, async () => {
      assert.throws(() => tidy(() => bad(make())), mine)
      assert.throws(
        () =>
          tidy(() => {
            make()
            return tidy(() => [make(), bad(make())])
          }),
        mine,
      )
      assert.throws(
        () =>
          tidy(() => ({
            get then() {
              make()
              return throwing()
            },
          })),
        mine,
      )
      assert.throws(
        () =>
          tidy(() => {
            make()
            return new Proxy({}, { ownKeys: throwing })
          }),
        mine,
      )
      assert.throws(
        () =>
          tidy(() => {
            make()
            return new Proxy({ a: 1 }, { getOwnPropertyDescriptor: throwing })
          }),
        mine,
      )
      assert.throws(
        () =>
          tidy(() => {
            make()
            return { list: new Map([[1, bad(make())]]) }
          }),
        mine,
      )
      await assert.rejects(
        scope(async (s) => bad(s.track(make()))),
        mine,
      )
      await assert.rejects(
        scope((s) => [s.track(make()), new Set([bad(s.track(make()))])]),
        mine,
      )
    })
    assert.equal(made.length, 12)
    assert.ok(made.every((t) => t.isDisposed))
    assert.equal(tidy(() => zeros([1])).isDisposed, false) // and scopes go on working
    const outside = zeros([1])
    assert.equal(outside.isDisposed, false)
  })

  it('is what keep was given, whatever is thrown: in nested tidies, by the result, by the function', async () => {
    const kept = []
    const make = () => {
      const t = full([2], 7)
      kept.push(keep(t))
      return t
    }
    await leaves(5, async () => {
      assert.throws(
        () =>
          tidy(() => {
            make()
            zeros([1])
            throwing()
          }),
        mine,
      )
      assert.throws(
        () =>
          tidy(() =>
            tidy(() => {
              make()
              zeros([1])
              throwing()
            }),
          ),
        mine,
      )
      assert.throws(
        () =>
          tidy(() => {
            make()
            zeros([1])
            return new Proxy({}, { ownKeys: throwing })
          }),
        mine,
      )
      await assert.rejects(
        scope(async (s) => {
          s.track([make(), zeros([1])])
          await turn()
          throwing()
        }),
        mine,
      )
      await assert.rejects(
        scope((s) => {
          s.track(make())
          s.track(zeros([1]))
          return new Proxy({}, { ownKeys: throwing })
        }),
        mine,
      )
    })
    for (const t of kept) assert.deepEqual(t.toArray(), [7, 7])
  })

  it('is right where tensors are disposed of by hand inside', async () => {
    await leaves(2, async () => {
      const t = tidy(() => {
        const a = zeros([2])
        const b = a.slice('1:').fill(4)
        a.dispose()
        const c = zeros([3])
        c.dispose()
        c.dispose()
        return { b, c }
      })
      assert.equal(t.c.isDisposed, true)
      assert.deepEqual(t.b.toArray(), [4])
      const u = await scope(async (s) => {
        const [a, b] = s.track([zeros([2]), full([2], 3)])
        a.dispose()
        await turn()
        return [a, b]
      })
      assert.equal(u[0].isDisposed, true)
      assert.deepEqual(u[1].toArray(), [3, 3])
    })
  })

  it('does not come to harm where one dispose throws: the others go', async () => {
    const made = []
    const make = () => {
      const t = zeros([1])
      made.push(t)
      return t
    }
    await leaves(3, async () => {
      assert.throws(
        () =>
          tidy(() => {
            make()
            make().dispose = throwing
            make()
          }),
        mine,
      )
      const s = new Scope()
      s.track([make(), make(), make()])[1].dispose = throwing
      assert.throws(() => s.dispose(), mine)
      await assert.rejects(
        scope((s) => {
          s.track([make(), make(), make()])[1].dispose = throwing
        }),
        mine,
      )
    })
    assert.deepEqual(
      made.map((t) => t.isDisposed),
      [true, false, true, true, false, true, true, false, true],
    )
  })

  it("is the function's own error, where a dispose throws as well; the others go", async () => {
    const made = []
    const make = () => {
      const t = zeros([1])
      made.push(t)
      return t
    }
    const ends = () => {
      throw new RangeError('fn')
    }
    await leaves(1, () =>
      assert.throws(
        () =>
          tidy(() => {
            make()
            make().dispose = throwing
            make()
            ends()
          }),
        /^RangeError: fn$/,
      ),
    )
    await leaves(1, () =>
      assert.rejects(
        scope((s) => {
          s.track([make(), make(), make()])[1].dispose = throwing
          ends()
        }),
        /^RangeError: fn$/,
      ),
    )
    assert.deepEqual(
      made.map((t) => t.isDisposed),
      [true, false, true, true, false, true],
    )
  })

  it('is what a result has at a depth of 100,000, and as keys of a Map', async () => {
    await leaves(3, () => {
      const deep = tidy(() => {
        let list = [full([1], 5)]
        for (let i = 0; i < 100_000; i++) list = [list]
        return list
      })
      let inner = deep
      while (Array.isArray(inner)) inner = inner[0]
      assert.deepEqual(inner.toArray(), [5])
      const map = tidy(() => new Map([[ones([1]), { t: ones([2]) }]]))
      assert.deepEqual(
        [...map].map(([key, { t }]) => [key.isDisposed, t.isDisposed]),
        [[false, false]],
      )
    })
  })

  it('is nothing of tidies in getters of options, in iterators and in each other', async () => {
    await leaves(1, () => {
      const t = tidy(() =>
        zeros([2]).copyFrom(
          (function* () {
            yield tidy(() => zeros([3]).fill(5).get(1))
            yield tidy(() => full([1], 6)).item()
          })(),
          {
            get scale() {
              return tidy(() => zeros([1]).fill(2).item())
            },
          },
        ),
      )
      assert.deepEqual(t.toArray(), [10, 12])
    })
  })

  it('is one float32 tensor of 200,000 that an inner tidy hands out, more than a call has arguments', async () => {
    await leaves(1, () => {
      const t = tidy(() => tidy(() => Array.from({ length: 200000 }, () => empty([1])))[0].fill(8))
      assert.deepEqual(t.toArray(), [8])
      const s = new Scope()
      s.track(Array.from({ length: 200000 }, () => t))
      s.dispose()
      assert.equal(t.isDisposed, true)
    })
  })

  it('refuses tensors after its end, and the wrong things in a list leave all untracked', () => {
    const s = new Scope()
    const t = zeros([1])
    refuses(() => s.track([t, 5]), 'ERR_ARGUMENT')
    s.dispose()
    assert.equal(t.isDisposed, false)
    refuses(() => s.track(t), 'ERR_DISPOSED')
  })
})

describe('collection', () => {
  it('frees float32 tensors that nobody disposed, 64 KiB each', async () => {
    const kinds = memory().bytes
    const total = () => Object.values(memory().bytes).reduce((a, b) => a + b, 0)
    const before = Object.values(kinds).reduce((a, b) => a + b, 0)
    ;(() => {
      for (let i = 0; i < 64; i++) zeros([16384])
    })()
    assert.ok(
      await collectUntil(() => total() <= before + (1 << 20)),
      'the bytes are still counted',
    )
  })

  it('keeps the int32 base of a view that is still held', async () => {
    const view = (() => tensor(new Int32Array(5000).map((_, i) => i)).slice('4990:'))()
    await collectAll()
    empty([5000], 'int32').fill(-1)
    assert.deepEqual(view.toArray(), [4990, 4991, 4992, 4993, 4994, 4995, 4996, 4997, 4998, 4999])
  })

  it('takes small int32 tensors that were dropped among others that are held or disposed of, and only these', async () => {
    const bytes = () => memory().bytes[isWasm ? 'wasm' : 'v8']
    const before = (await quietMemory()).bytes[isWasm ? 'wasm' : 'v8']
    const held = []
    ;(() => {
      for (let i = 0; i < 6400; i++) {
        const t = full([4], i, 'int32')
        if (i % 400 === 7) held.push([i, t])
        else if (i % 2) t.dispose()
      }
    })()
    const most = before + (isWasm ? 2 ** 14 : 2 ** 18 + 2 ** 15) // of 100 KB and 400 KB: each keeps 31 others in linear memory, natively four blocks
    assert.ok(
      await collectUntil(() => bytes() <= most),
      `${bytes() - before} bytes are counted for 16 tensors`,
    )
    const others = Array.from({ length: 6400 }, () => full([4], -1, 'int32'))
    for (const [i, t] of held) assert.deepEqual(t.toArray(), [i, i, i, i])
    for (const [, t] of held) t.dispose()
    await collectAll()
    const more = Array.from({ length: 6400 }, () => full([4], -2, 'int32'))
    assert.ok(others.every((t) => t.get(3) === -1) && more.every((t) => t.get(0) === -2))
  })

  it('comes in time for float32 tensors of 64 bytes and 1 KiB that nobody disposes of, where a program lets it', async function () {
    skipWithout(this, 'a Node of its own')
    skipWithout(this, 'memory that grows')
    for (const n of [16, 256]) {
      const most = await childJson(`
        const { memory, ones } = require('samebytes')
        const held = []
        async function main () {
          let most = 0
          for (let i = 0; i < 3000000; i++) {
            const t = ones([${n}])
            if (i % 30000 === 0) held.push(t)
            if (i % 100 === 0) await new Promise(resolve => setImmediate(resolve))
            if (i % 10000 === 0) most = Math.max(most, memory().tensors)
          }
          if (held.some(t => t.get(${n - 1}) !== 1)) throw new Error('a tensor that is held was taken')
          console.log(JSON.stringify(most))
        }
        main()`)
      assert.ok(most < 400000, `of ${n} elements ${most} are there`)
    }
  })
})
