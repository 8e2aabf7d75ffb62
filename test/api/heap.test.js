'use strict'
// What is made of JavaScript's objects has room in V8's heap, or is refused: programs of their own, with small heaps.
const assert = require('node:assert/strict')
const { childJson, needs } = require('../setup')

/** what each function gave, or its error, in a program whose heap has so many MiB for old objects */
const inSmallHeap = (source, size = 64) =>
  childJson(
    `
  const samebytes = require('samebytes')
  const { concat, full, parseGguf, parseSafetensors, Scope, tensor, toNpzBytes, zeros } = samebytes
  const lying = (length, entry, list = []) => new Proxy(list, { get: (of, key) => key === 'length' ? length : typeof key === 'symbol' ? of[key] : entry })
  const holes = first => { const list = [first]; list.length = 2 ** 32 - 1; return list }
  const told = []
  function attempt (fn) {
    try {
      const made = fn()
      told.push(made?.length ?? typeof made)
    } catch (error) {
      told.push({ code: error.code, message: error.message })
    }
  }
  ${source}
  if (zeros([100, 2]).toArray().length !== 100) throw new Error('it does not go on')
  console.log(JSON.stringify(told))
`,
    { flags: [`--max-old-space-size=${size}`] },
  )

/** Each was refused, with what is needed and what there is. */
function areRefused(told, count) {
  assert.equal(told.length, count)
  for (const each of told) {
    assert.equal(each.code, 'ERR_MEMORY', JSON.stringify(each))
    const [, needed, available] =
      /^(\d+) bytes of the runtime's heap are needed and (\d+) are available/.exec(each.message) ??
      assert.fail(each.message)
    assert.ok(Number(needed) > Number(available) && Number(available) < 2 ** 26, each.message)
  }
}

describe('a program with a heap of 64 MiB', function () {
  needs('a Node of its own')

  it('nested arrays that have no room are refused with both numbers, and the program goes on', async () => {
    areRefused(
      await inSmallHeap(`
      const shapes = [[2 ** 25], [2 ** 21, 1], [2 ** 20, 3], [2 ** 20, 1, 1]]
      for (const dtype of ['uint8', 'float32', 'int64', 'complex64']) {
        for (const shape of shapes) attempt(() => zeros([1], dtype).expand(...shape).toArray())
      }
      attempt(() => JSON.stringify(full([1], -(2n ** 62n), 'int64').expand(2 ** 20)))
      attempt(() => zeros([2 ** 20]).repeat(zeros([1], 'int64').expand(2 ** 22)))
    `),
      18,
    )
  })

  it('nested arrays that have are made, though little room is left', async () => {
    assert.deepEqual(
      await inSmallHeap(`
      attempt(() => zeros([1], 'uint8').expand(5000000).toArray())
      attempt(() => full([1], 0.5).expand(500000, 1).toArray())
      attempt(() => full([1], 2n ** 60n, 'int64').expand(1200000).toArray())
      attempt(() => full([1], [0.5, 0.25]).expand(500000).toArray())
    `),
      [5000000, 500000, 1200000, 500000],
    )
  })

  it('text of files counts twice: one character above U+00FF makes a string twice as wide', async () => {
    const told = await inSmallHeap(`
      const u64 = n => { const bytes = Buffer.alloc(8); bytes.writeBigUInt64LE(BigInt(n)); return bytes }
      const u32 = n => Buffer.from(Uint32Array.of(n).buffer)
      const wide = n => Buffer.concat([Buffer.from('Ā'), Buffer.alloc(n - 2, 65)])
      const header = Buffer.concat([Buffer.from('{"__metadata__":{'), ...Array.from({ length: 40 }, (_, i) => Buffer.concat([Buffer.from((i ? ',' : '') + '"k' + i + '":"'), wide(2 ** 20), Buffer.from('"')])), Buffer.from('}}')])
      attempt(() => parseSafetensors(Buffer.concat([u64(header.length), header])).metadata)
      const pairs = Array.from({ length: 40 }, (_, i) => { const key = Buffer.from('k' + i); return Buffer.concat([u64(key.length), key, u32(8), u64(2 ** 20), wide(2 ** 20)]) })
      attempt(() => parseGguf(Buffer.concat([Buffer.from('GGUF'), u32(3), u64(0), u64(40), ...pairs])).metadata)
    `)
    areRefused(told, 2)
  })

  it('garbage is no reason to refuse', async () => {
    assert.deepEqual(
      await inSmallHeap(`
      for (let i = 0; i < 12; i++) attempt(() => zeros([1], 'uint8').expand(3000000).toArray())
    `),
      new Array(12).fill(3000000),
    )
  })

  it('lists become tensors of 16 times their bytes', async () => {
    assert.deepEqual(
      await inSmallHeap(`
      const pairs = new Array(2 ** 20).fill([0.5, 2.5])
      attempt(() => tensor(pairs, 'complex128').get(2 ** 20 - 1))
      attempt(() => zeros([2 ** 20], 'complex64').copyFrom(pairs).get(7))
      attempt(() => zeros([2]).take(new Array(2 ** 20).fill(1)).shape)
      attempt(() => zeros([2 ** 20]).repeat(new Array(2 ** 20).fill(1), { axis: 0 }).shape)
    `),
      [2, 2, 1, 1],
    )
  })

  it('is refused again and again where little is left: V8 would end a process that collects in vain', async () => {
    const codes = await inSmallHeap(
      `
      const t = zeros([1]).expand(2 ** 22, 1)
      const kept = Array.from({ length: 300000 }, (_, i) => [i, {}])
      for (let i = 0; i < 40; i++) attempt(() => zeros([2, 3]).copyFrom([[1, 2, 3], t]))
      if (kept.length !== 300000) throw new Error('it is not kept')
    `,
      256,
    )
    assert.deepEqual(
      codes.map(({ code }) => code),
      new Array(40).fill('ERR_MEMORY'),
    )
  })

  it('views, text, and what a file says are refused where they have no room', async () => {
    areRefused(
      await inSmallHeap(`
      attempt(() => zeros([1]).expand(2 ** 20, 2, 3).unbind())
      attempt(() => zeros([1]).expand(2 ** 20, 2).split(1))
      attempt(() => zeros([1]).expand(2 ** 20, 2).split(new Array(2 ** 20).fill(1)))
      attempt(() => zeros([1]).expand(2 ** 20).chunk(2 ** 20))
      attempt(() => String(full([1], [0.125, 3.25]).expand(6, 6, 6, 6, 6, 6, 5)))
      const n = 3900000
      const gguf = Buffer.alloc(49 + 8 * n) // one pair: a list of empty texts
      gguf.write('GGUF')
      gguf.writeUInt32LE(3, 4)
      gguf.writeBigUInt64LE(1n, 16)
      gguf.writeBigUInt64LE(1n, 24)
      gguf.write('k', 32)
      gguf.writeUInt32LE(9, 33)
      gguf.writeUInt32LE(8, 37)
      gguf.writeBigUInt64LE(BigInt(n), 41)
      attempt(() => parseGguf(gguf).metadata.k)
      let header = ''
      for (let i = 0; i < 200000; i++) header += (i ? ',' : '{') + '"' + i + '":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}'
      header += '}'
      const safetensors = Buffer.alloc(8 + header.length)
      safetensors.writeUInt32LE(header.length)
      safetensors.write(header, 8)
      attempt(() => parseSafetensors(safetensors))
    `),
      7,
    )
  })

  it('text of a quarter of a million values has room', async () => {
    const [length] = await inSmallHeap(
      "attempt(() => String(full([1], 1, 'int32').expand(6, 6, 6, 6, 6, 6)))",
    )
    assert.ok(length > 6 ** 6)
  })

  it('iterables that do not end are refused, whatever they give', async () => {
    areRefused(
      await inSmallHeap(`
      const giving = make => ({ * [Symbol.iterator] () { for (let i = 0; ; i++) yield make(i) } })
      const t = zeros([1])
      attempt(() => tensor(giving(() => 1.5)))
      attempt(() => tensor(giving(i => [i, i + 0.5])))
      attempt(() => tensor(giving(() => new Array(500).fill(1.5))))
      attempt(() => t.take(giving(() => 0)))
      attempt(() => t.copyFrom(1, { scale: giving(() => 0.5), axis: 0 }))
      attempt(() => toNpzBytes(giving(i => [String(i), t])))
    `),
      6,
    )
  })

  it('lists of four billion entries, said or sparse, are refused before they are made', async () => {
    const told = await inSmallHeap(`
      const row = new Float32Array(2)
      const t = zeros([2])
      const many = zeros([1]).expand(2 ** 32 - 1, 2)
      const wide = zeros([1], 'complex64').expand(2 ** 32 - 1)
      const none = zeros([0])
      attempt(() => t.copyFrom(holes(row)))
      attempt(() => t.copyFrom(lying(2 ** 32 - 1, row)))
      attempt(() => many.copyFrom(holes(row)))
      attempt(() => many.copyFrom(lying(2 ** 32 - 1, row)))
      attempt(() => wide.copyFrom(holes(1)))
      attempt(() => tensor(holes(1)))
      attempt(() => concat(holes(none)))
      attempt(() => concat(lying(2 ** 32 - 1, none)))
      attempt(() => samebytes.arrayEqual(lying(2 ** 53, none)))
      attempt(() => new Scope().track(lying(2 ** 32 - 1, none)))
      attempt(() => new Scope().track(holes(none)))
      attempt(() => toNpzBytes(holes(['a', t])))
      attempt(() => samebytes.fromOrt({ type: 'float32', dims: holes(1), data: new Float32Array(1), location: 'cpu' }))
    `)
    const codes = told.map(({ code }) => code)
    const memory = 'ERR_MEMORY'
    assert.deepEqual(codes, [
      memory,
      memory,
      memory,
      memory,
      memory,
      memory,
      'ERR_ARGUMENT',
      memory,
      memory,
      memory,
      'ERR_ARGUMENT',
      'ERR_ARGUMENT',
      'ERR_SHAPE',
    ])
  })

  it("that is a worker's, too", async () => {
    const told = await childJson(`
      const { Worker } = require('node:worker_threads')
      const worker = new Worker(\`
        const { parentPort } = require('node:worker_threads')
        const { zeros } = require('samebytes')
        const told = []
        for (const n of [2 ** 25, 2 ** 23, 2 ** 21, 2]) {
          try {
            told.push(zeros([1], 'uint8').expand(n).toArray().length)
          } catch (error) {
            told.push(error.code)
          }
        }
        parentPort.postMessage(told)
      \`, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 32 } })
      worker.on('message', told => console.log(JSON.stringify(told)))
    `)
    assert.deepEqual(told, ['ERR_MEMORY', 'ERR_MEMORY', 2 ** 21, 2])
  })
})

describe('what V8 keeps for young objects is no room for old ones', function () {
  needs('a Node of its own')

  const TRIED = `
    const told = [2 ** 25, 2 ** 23, 2 ** 21, 2].map(n => { // 256, 64, 16 MiB and nothing
      try {
        return require('samebytes').zeros([1], 'uint8').expand(n).toArray().length
      } catch (error) {
        return error.code
      }
    })`
  const REFUSED = ['ERR_MEMORY', 'ERR_MEMORY', 2 ** 21, 2]

  for (const flags of [
    ['--max-old-space-size=64', '--max-semi-space-size=128'],
    ['--max_old_space_size=64', '--max_semi_space_size=2'],
    ['--max-old-space-size=4000', '--max-old-space-size=64'],
    ['--max-heap-size=80'],
  ]) {
    it(`by ${flags.join(' ')}`, async () => {
      assert.deepEqual(
        await childJson(`${TRIED}; console.log(JSON.stringify(told))`, { flags }),
        REFUSED,
      )
    })
  }

  it('by NODE_OPTIONS', async () => {
    assert.deepEqual(
      await childJson(`${TRIED}; console.log(JSON.stringify(told))`, {
        env: { NODE_OPTIONS: '--max-old-space-size=64' },
      }),
      REFUSED,
    )
  })

  for (const [what, options, flags] of [
    ['that sees no flags', { execArgv: [] }, ['--max-old-space-size=64']],
    [
      'that sees no flags, and has much for young objects',
      { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 64 } },
      ['--max-semi-space-size=128'],
    ],
    [
      'with little for young objects',
      { resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 3 } },
      [],
    ],
  ]) {
    it(`in a worker ${what}`, async () => {
      const told = await childJson(
        `
        const { Worker } = require('node:worker_threads')
        const worker = new Worker(${JSON.stringify(`${TRIED}; require('node:worker_threads').parentPort.postMessage(told)`)}, { eval: true, env: {}, ...${JSON.stringify(options)} })
        worker.on('message', told => console.log(JSON.stringify(told)))
        worker.on('error', error => console.log(JSON.stringify(error.code)))
      `,
        { flags },
      )
      assert.deepEqual(told, REFUSED)
    })
  }
})

describe('a runtime that does not tell how large its heap may be', () => {
  needs('a Node of its own')
  it('gets no more than 2 GiB of nested arrays', async () => {
    const message = await childJson(`
      require('node:v8').getHeapStatistics = () => ({})
      const { zeros } = require('samebytes')
      if (zeros([1], 'uint8').expand(2 ** 18).toArray().length !== 2 ** 18) throw new Error('nothing is made')
      try { zeros([1], 'uint8').expand(2 ** 26, 1).toArray() } catch ({ message }) { console.log(JSON.stringify(message)) }
    `)
    assert.match(
      message,
      /^\d+ bytes of the runtime's heap are needed and 2147483648 are available: /,
    )
  })
})
