'use strict'
// An index of several .safetensors at URLs, of nginx, read as one file.
const assert = require('node:assert/strict')
const { arange, full, fetchSafetensors, toSafetensorsBytes, zeros } = require('samebytes')
const { safetensors } = require('../files')
const { childJson, needs } = require('../setup')
const { startHostile, honest } = require('./hostile-server')
const { startNginx } = require('./nginx')

describe('an index of several files at a URL', function () {
  needs('nginx')
  let server
  before(async () => {
    server = await startNginx()
  })
  after(() => server?.stop())

  const indexAt = (name, weightMap, more = {}) =>
    server.write(
      name,
      Buffer.from(JSON.stringify({ metadata: { total_size: 44 }, weight_map: weightMap, ...more })),
    )
  const asked = async (count) =>
    (await server.requests(count)).map(({ uri }) => uri).filter((uri) => uri.includes('/model-'))

  function written(folder) {
    server.write(
      `${folder}/model-1.safetensors`,
      toSafetensorsBytes({ a: arange(6).reshape(2, 3), b: full([4], 7, 'int8') }),
    )
    server.write(`${folder}/model-2.safetensors`, toSafetensorsBytes({ c: zeros([4]) }))
    return indexAt(`${folder}/model.safetensors.index.json`, {
      a: 'model-1.safetensors',
      b: 'model-1.safetensors',
      c: 'model-2.safetensors',
    })
  }

  it('reads as one file; a file is opened once, when one of its tensors is asked for', async () => {
    const file = await fetchSafetensors(written('several'))
    try {
      assert.deepEqual(
        [[...file.keys()], file.size, file.has('c'), file.metadata],
        [['a', 'b', 'c'], 3, true, { total_size: 44 }],
      )
      assert.deepEqual(await asked(1), []) // the index
      const [a, b] = await Promise.all([file.load('a'), file.load('b', { dtype: 'float32' })])
      assert.deepEqual(
        [a.toArray(), b.dtype, b.toArray()],
        [
          [
            [0, 1, 2],
            [3, 4, 5],
          ],
          'float32',
          [7, 7, 7, 7],
        ],
      )
      assert.deepEqual([...new Set(await asked(1))], ['/several/model-1.safetensors'])
      assert.deepEqual((await file.info('c')).shape, [4])
      const all = await file.loadAll()
      assert.deepEqual(Object.keys(all), ['a', 'b', 'c'])
      await assert.rejects(file.load('d'), { code: 'ERR_NOT_FOUND' })
    } finally {
      file.close()
    }
    await assert.rejects(file.load('a'), { code: 'ERR_DISPOSED' })
  })

  it('tries a file again that was not there, and says what a file lacks', async () => {
    const url = indexAt('later/model.safetensors.index.json', {
      a: 'part.safetensors',
      z: 'part.safetensors',
    })
    const file = await fetchSafetensors(new URL(url))
    await assert.rejects(file.load('a'), { code: 'ERR_NOT_FOUND' })
    server.write('later/part.safetensors', toSafetensorsBytes({ a: arange(2) }))
    assert.deepEqual((await file.load('a')).toArray(), [0, 1])
    await assert.rejects(file.load('z'), { code: 'ERR_FORMAT', message: /"z".*part\.safetensors/ })
    const pending = file.load('a')
    file.close()
    await assert.rejects(pending, { code: 'ERR_DISPOSED' })
  })

  describe('of many files', () => {
    const names = Array.from({ length: 20 }, (_, i) => `t${i}`)
    const index = Buffer.from(
      JSON.stringify({
        weight_map: Object.fromEntries(names.map((name) => [name, `${name}.safetensors`])),
      }),
    )
    let hostile
    afterEach(() => hostile.close())

    /** @param {(name: string, request: any, response: any) => void} answer  to requests for a file */
    async function start(answer) {
      hostile = await startHostile((request, response) => {
        const name = /t\d+/.exec(request.url)?.[0]
        if (name === undefined) honest(index, request, response)
        else answer(name, request, response)
      })
      return hostile.url.replace('a.safetensors', 'm.index.json')
    }

    it('asks for four at once', async () => {
      /** answers that are held back @type {(() => void)[]} */
      const held = []
      let most = 0
      let more = () => {}
      const url = await start((name, request, response) => {
        held.push(() =>
          honest(
            Buffer.from(toSafetensorsBytes({ [name]: zeros([2 ** 17 + 64]) })),
            request,
            response,
          ),
        )
        most = Math.max(most, held.length)
        more()
      })
      const file = await fetchSafetensors(url)
      const state = { isOver: false }
      const all = file.loadAll().finally(() => {
        state.isOver = true
        more()
      })
      while (!state.isOver) {
        if (held.length === 0) {
          await new Promise((resolve) => {
            more = () => resolve(undefined)
          })
        }
        for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve)) // others may come
        held.shift()?.()
      }
      assert.deepEqual(Object.keys(await all), names)
      assert.ok(most <= 8, `${most}`) // four for headers, four for tensors
      file.close()
    })

    it('of a server that does not answer is left by close() and by a signal', async () => {
      const url = await start(() => {})
      const file = await fetchSafetensors(url, { idleTimeout: 1e9 })
      const reason = new Error('enough')
      const stop = new AbortController()
      const loads = names.slice(0, 5).map((name) => file.load(name, { signal: stop.signal }))
      setImmediate(() => stop.abort(reason))
      for (const load of loads) await assert.rejects(load, (error) => error === reason)
      const more = names.map((name) => assert.rejects(file.load(name), { code: 'ERR_DISPOSED' }))
      setImmediate(() => file.close())
      await Promise.all(more)
    })

    it('says nothing of what may be secret', async () => {
      const url = await start((name, request, response) =>
        honest(Buffer.from(toSafetensorsBytes({ x: zeros([1]) })), request, response),
      )
      const file = await fetchSafetensors(`${url}?token=secret`)
      await assert.rejects(
        file.load('t0'),
        (error) => error.code === 'ERR_FORMAT' && !error.message.includes('secret'),
      )
      file.close()
    })
  })

  it('takes files beside it alone, and no index that is none', async () => {
    for (const name of [
      '../secret.safetensors',
      '/secret.safetensors',
      'http://127.0.0.1:1/a.safetensors',
      '//127.0.0.1:1/a',
      'file:///etc/passwd',
      'data:,',
      5,
      null,
      {},
    ]) {
      await assert.rejects(
        fetchSafetensors(indexAt('bad/x.index.json', { a: name })),
        { code: 'ERR_FORMAT', message: /beside it/ },
        String(name),
      )
    }
    for (const text of [
      '',
      '[]',
      'null',
      '{}',
      '{"weight_map": []}',
      '{"weight_map": 5}',
      '{"weight_map": {}, "metadata": 5}',
      '{"weight_map"',
      '\xff',
    ]) {
      await assert.rejects(
        fetchSafetensors(server.write('bad/y.index.json', Buffer.from(text, 'latin1'))),
        { code: 'ERR_FORMAT' },
        text,
      )
    }
    const none = await fetchSafetensors(
      server.write(
        'bad/z.index.json',
        Buffer.from('{"weight_map": {"__proto__": "a.safetensors"}}'),
      ),
    )
    assert.deepEqual([none.size, [...none.keys()]], [1, ['__proto__']])
    none.close()
    await assert.rejects(
      fetchSafetensors(server.write('bad/large.index.json', Buffer.alloc(2 ** 24 + 1, ' '))),
      { code: 'ERR_FORMAT', message: /bytes; an index has/ },
    )
  })

  describe("where V8's heap is small", function () {
    needs('a Node of its own')

    /** What becomes of it in a program whose heap has so many MiB for old objects. */
    const inSmallHeap = (url, use, size = 96) =>
      childJson(
        `
      const { fetchSafetensors } = require('samebytes')
      async function run (url) {
        const file = await fetchSafetensors(url)
        ${use}
      }
      run(${JSON.stringify(url)}).then(told => ({ told }), ({ code, message }) => ({ code, message })).then(told => console.log(JSON.stringify(told)))
    `,
        { flags: [`--max-old-space-size=${size}`] },
      )

    /** An index of so many tensors. */
    const indexOf = (count, nameOf, fileOf) =>
      Buffer.from(
        `{"weight_map":{${Array.from({ length: count }, (_, i) => `"${nameOf(i)}":"${fileOf(i)}"`).join()}}}`,
      )

    it('an index is counted before it is parsed', async () => {
      const short = server.write(
        'heap/short.index.json',
        indexOf(
          500000,
          (i) => `t${i.toString(36)}`,
          () => 'a',
        ),
      )
      const many = server.write(
        'heap/many.index.json',
        indexOf(
          300000,
          (i) => `t${i}`,
          (i) => `f${i}`,
        ),
      )
      for (const url of [short, many]) {
        const { code, message } = await inSmallHeap(url, 'return file.size')
        assert.equal(code, 'ERR_MEMORY', message)
        assert.match(
          message,
          /^\d+ bytes of the runtime's heap are needed and \d+ are available: an index of \d+ bytes/,
        )
      }
      const fits = server.write(
        'heap/fits.index.json',
        indexOf(
          100000,
          (i) => `t${i}`,
          (i) => `f${i}`,
        ),
      )
      assert.deepEqual(await inSmallHeap(fits, 'return file.size'), { told: 100000 })
    })

    it('loadAll is counted before it begins, and some of the tensors can be loaded', async () => {
      const count = 60000
      const header = {}
      for (let i = 0; i < count; i++) {
        header[`t${i}`] = { dtype: 'U8', shape: [1], data_offsets: [i, i + 1] }
      }
      const url = server.write('heap/many.safetensors', safetensors(header, Buffer.alloc(count, 7)))
      const { code, message } = await inSmallHeap(
        url,
        'return Object.keys(await file.loadAll()).length',
      )
      assert.equal(code, 'ERR_MEMORY', message)
      assert.match(message, /60000 loads at once/)
      assert.deepEqual(
        await inSmallHeap(url, "return [file.size, (await file.load('t59999')).get(0)]"),
        { told: [count, 7] },
      )
    })
  })
})
