'use strict'
const assert = require('node:assert/strict')
const { backend, empty, fromBlob, memory, tensor, zeros } = require('samebytes')
const { copied, quietMemory, settledMemory } = require('../setup')

describe('memory', () => {
  it('reports plain numbers under the names that the contract lists', () => {
    const m = memory()
    assert.deepEqual(Object.keys(m.bytes).sort(), [
      'cuda',
      'mapped',
      'native',
      'pinned',
      'shared',
      'v8',
      'wasm',
    ])
    for (const name of ['tensors', 'storages', 'promoted', 'grown', 'inFlight']) {
      assert.ok(Number.isSafeInteger(m[name]) && m[name] >= 0, name)
    }
    for (const value of Object.values(m.bytes)) assert.ok(Number.isSafeInteger(value) && value >= 0)
    for (const value of [m.staged, ...Object.values(m.copied)]) {
      assert.ok(Number.isSafeInteger(value.count) && Number.isSafeInteger(value.bytes))
    }
    assert.equal(m.inFlight, 0)
    assert.equal(m.bytes.cuda, 0)
  })

  it('is a snapshot: changing it changes nothing', () => {
    memory().bytes.v8 = -5
    memory().copied.clone = { count: 1e9, bytes: 1e9 }
    assert.notEqual(memory().bytes.v8, -5)
    assert.notEqual(memory().copied.clone?.count, 1e9)
  })

  it('counts float32 tensors, views included, until they are disposed', () => {
    const before = settledMemory().tensors
    const t = zeros([4])
    const v = t.slice('1:')
    assert.equal(memory().tensors, before + 2)
    t.dispose()
    assert.equal(memory().tensors, before + 1)
    v.dispose()
    assert.equal(memory().tensors, before)
    v.dispose()
    assert.equal(memory().tensors, before)
  })

  it('counts the bytes of a large float32 tensor where they are', async () => {
    const kind = backend() === 'native' ? 'v8' : 'wasm'
    const before = (await quietMemory()).bytes[kind]
    const t = zeros([512, 512])
    const grown = memory().bytes[kind] - before
    assert.ok(grown >= 1048576 && grown < 1048576 + 65536, `${grown} bytes for 1 MiB`)
    t.dispose()
    assert.ok(memory().bytes[kind] - before < 65536)
  })

  it('counts the bytes of shared float32 memory and gives them back', async () => {
    const kinds = (m) => m.bytes.native + m.bytes.shared + m.bytes.wasm
    const before = kinds(await quietMemory())
    const t = empty([512, 512], { shared: true })
    const v = t.slice('1:')
    assert.ok(kinds(memory()) - before >= 1048576)
    t.dispose()
    assert.ok(kinds(memory()) - before >= 1048576)
    v.dispose()
    assert.ok(kinds(memory()) - before < 65536)
  })

  it('does not count the bytes of a Float32Array that it adopted', () => {
    const source = new Float32Array(1 << 18)
    const total = (m) => Object.values(m.bytes).reduce((a, b) => a + b, 0)
    const before = total(memory())
    const t = fromBlob(source)
    assert.ok(total(memory()) - before < 65536)
    assert.equal(t.size, 1 << 18)
  })

  describe('copied', () => {
    const t = () =>
      tensor([
        [1, 2, 3],
        [4, 5, 6],
      ])
    const cases = [
      [
        'tensor of a list',
        () => () =>
          tensor([
            [1, 2],
            [3, 4],
          ]),
        { tensor: { count: 1, bytes: 16 } },
      ],
      [
        'tensor of a Float64Array as float32',
        () => {
          const source = new Float64Array(4)
          return () => tensor(source, 'float32')
        },
        { tensor: { count: 1, bytes: 16 } },
      ],
      [
        'clone',
        () => {
          const a = t()
          return () => a.clone()
        },
        { clone: { count: 1, bytes: 24 } },
      ],
      [
        'clone as float64',
        () => {
          const a = t()
          return () => a.clone({ dtype: 'float64' })
        },
        { clone: { count: 1, bytes: 48 } },
      ],
      [
        'clone of a narrow view',
        () => {
          const a = t().narrow(1, 0, 1)
          return () => a.clone()
        },
        { clone: { count: 1, bytes: 8 } },
      ],
      [
        'astype',
        () => {
          const a = t()
          return () => a.astype('float16')
        },
        { astype: { count: 1, bytes: 12 } },
      ],
      [
        'contiguous, where it must',
        () => {
          const a = t().T
          return () => a.contiguous()
        },
        { contiguous: { count: 1, bytes: 24 } },
      ],
      [
        'contiguous, where it need not',
        () => {
          const a = t()
          return () => a.contiguous()
        },
        {},
      ],
      [
        'reshape, where it must',
        () => {
          const a = t().T
          return () => a.reshape([6])
        },
        { reshape: { count: 1, bytes: 24 } },
      ],
      [
        'reshape, where it need not',
        () => {
          const a = t()
          return () => a.reshape([6])
        },
        {},
      ],
      [
        'copyFrom a tensor',
        () => {
          const a = t()
          const b = t()
          return () => a.copyFrom(b)
        },
        { copyFrom: { count: 1, bytes: 24 } },
      ],
      [
        'copyFrom a broadcast row',
        () => {
          const a = t()
          const b = a.clone().select(0, 0)
          return () => a.copyFrom(b)
        },
        { copyFrom: { count: 1, bytes: 24 } },
      ],
      [
        'copyFrom twice',
        () => {
          const a = t()
          const b = t()
          return () => a.copyFrom(b).copyFrom(b)
        },
        { copyFrom: { count: 2, bytes: 48 } },
      ],
      [
        'fromBlob',
        () => {
          const source = new Float32Array(4)
          return () => fromBlob(source)
        },
        {},
      ],
      [
        'views',
        () => {
          const a = t()
          return () => [
            a.T,
            a.slice('1:'),
            a.select(0, 0),
            a.narrow(0, 0, 1),
            a.permute([1, 0]),
            a.transpose(0, 1),
            a.view([6]),
            a.unfold(1, 2, 1),
            a.view('int32'),
          ]
        },
        {},
      ],
      [
        'reading and writing',
        () => {
          const a = t()
          return () => [
            a.get(0, 0),
            a.set(1, 0, 0),
            a.toArray(),
            a.toString(),
            a.fill(1),
            a.zero(),
            a.T.toArray(),
          ]
        },
        {},
      ],
      [
        'data and bytes',
        () => {
          const a = t()
          return () => [a.data, a.bytes, a.dataPtr, a.select(0, 1).data]
        },
        {},
      ],
      [
        'refused copies',
        () => {
          const a = t()
          const b = zeros([7])
          return () => {
            try {
              a.copyFrom(b)
            } catch {}
          }
        },
        {},
      ],
    ]
    for (const [name, prepare, expected] of cases) {
      it(`${name}: ${JSON.stringify(expected)}, for float32`, () => {
        assert.deepEqual(copied(prepare()).copies, expected)
      })
    }
  })
})
