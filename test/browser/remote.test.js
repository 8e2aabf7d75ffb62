'use strict'
/* global caches, fetch, location */
const assert = require('node:assert/strict')
const samebytes = require('samebytes')
const {
  arange,
  empty,
  fetchGguf,
  fetchNpy,
  fetchNpz,
  fetchSafetensors,
  parseGguf,
  parseNpy,
  parseNpz,
  parseSafetensors,
  toNpyBytes,
  toSafetensorsBytes,
  zeros,
} = samebytes
const { counted, rejects } = require('./counted')
const { npyFiles, safetensorsFiles, ggufFiles, npzFiles } = require('../corpora')
const { safetensors, zip } = require('../files')

const N = 2 ** 18 // float32: two thirds of such a file come after the first request
const ROWS = {
  safetensors: [fetchSafetensors, parseSafetensors, safetensorsFiles],
  gguf: [fetchGguf, parseGguf, ggufFiles],
  npz: [fetchNpz, parseNpz, npzFiles],
}
let puts = 0

/** Puts a file on the server. @returns {Promise<string>} its URL */
async function put(bytes, name = 'weights.safetensors') {
  const url = `${location.origin}/weights/${Math.random()}-${puts++}/${name}`
  await fetch(url, { method: 'PUT', body: Uint8Array.from(bytes) })
  return url
}

/** The same file at a host that is another one to a page. */
const elsewhere = (url) => url.replace('127.0.0.1', 'localhost')

/** The requests for it since the last time. */
async function asked(url) {
  const [bare] = url.replace('localhost', '127.0.0.1').split('?')
  return (await fetch(bare, { method: 'POST' })).json()
}

const ranges = async (url) => (await asked(url)).map(({ method, range }) => `${method} ${range}`)

const values = (from) => arange(from, from + N).astype('float32')
const two = () => toSafetensorsBytes({ a: values(0), b: values(N) })

/** All of a file, by name. */
async function allOf(file, get) {
  const all = {}
  for (const name of file.keys()) {
    const t = await get(name)
    all[name] = [t.dtype, [...t.shape], String(t.toArray())]
  }
  return all
}

describe('files at URLs, in pages', () => {
  for (const [format, [open, parse, files]] of Object.entries(ROWS)) {
    it(`are .${format}, by ranges and whole`, async () => {
      const bytes = files().plain()
      const url = await put(bytes, `plain.${format}`)
      const expected = await allOf(parse(bytes), (name) => parse(bytes).get(name))
      for (const each of [url, `${url}?whole`, new URL(url), elsewhere(`${url}?cors=exposed`)]) {
        const file = await open(each)
        assert.deepEqual(await allOf(file, (name) => file.load(name)), expected)
        file.close()
      }
    })
  }

  it('are .npy, and deflated arrays of an .npz, which the browser inflates', async () => {
    const bytes = npyFiles().plain()
    assert.deepEqual(
      (await fetchNpy(await put(bytes, 'a.npy'))).toArray(),
      parseNpy(bytes).toArray(),
    )
    const array = Uint8Array.from(toNpyBytes(values(0)))
    const deflated = new Uint8Array(
      await new Response(
        new Blob([array]).stream().pipeThrough(new CompressionStream('deflate-raw')),
      ).arrayBuffer(),
    )
    const { crc32 } = require('../files')
    const file = await fetchNpz(
      await put(
        zip([['a.npy', deflated, { method: 8, unpacked: array.length, crc: crc32(array) }]]),
        'a.npz',
      ),
    )
    assert.equal((await file.info('a')).deflated, deflated.length)
    assert.deepEqual((await file.load('a')).toArray(), values(0).toArray())
    file.close()
  })

  it('are read in part: the header by one request, a tensor by its range, into memory that is there', async () => {
    const url = await put(two())
    const file = await fetchSafetensors(url)
    const { byteOffset, nbytes } = await file.info('b')
    assert.deepEqual(await ranges(url), ['GET bytes=0-524287'])
    const out = zeros([N])
    const steps = []
    const { result, copied, staged } = await counted(() =>
      file.load('b', { out, onProgress: (step) => steps.push(step) }),
    )
    assert.equal(result, out)
    assert.deepEqual([copied, staged], [{}, [1, nbytes]])
    assert.deepEqual(out.toArray(), values(N).toArray())
    assert.deepEqual(steps.at(-1), { done: nbytes, total: nbytes })
    assert.deepEqual(await ranges(url), [`GET bytes=${byteOffset}-${byteOffset + nbytes - 1}`])
    const [half, both] = await Promise.all([file.load('a', { dtype: 'float16' }), file.loadAll()])
    assert.deepEqual(
      [half.dtype, half.get(2048), both.a.get(7), both.b.get(7)],
      ['float16', 2048, 7, N + 7],
    )
    file.close()
  })

  it('end by a signal', async () => {
    const reason = new Error('enough')
    const file = await fetchSafetensors(await put(two()))
    const stop = new AbortController()
    await assert.rejects(
      file.load('b', { signal: stop.signal, onProgress: () => stop.abort(reason) }),
      (error) => error === reason,
    )
    await assert.rejects(
      fetchSafetensors(await put(two()), { signal: AbortSignal.abort(reason) }),
      (error) => error === reason,
    )
    assert.equal((await file.load('b')).get(1), N + 1)
    file.close()
  })

  it('may be an index of several', async () => {
    const url = await put(two(), 'one.safetensors')
    const index = url.replace('one.safetensors', 'model.safetensors.index.json')
    await fetch(index, {
      method: 'PUT',
      body: JSON.stringify({ weight_map: { b: 'one.safetensors' } }),
    })
    const file = await fetchSafetensors(index)
    assert.deepEqual([[...file.keys()], (await file.load('b')).get(0)], [['b'], N])
    file.close()
  })

  it('are changed meanwhile, or are not there', async () => {
    const url = await put(two())
    const file = await fetchSafetensors(`${url}?etag=1`, {
      fetch: (url, options) =>
        fetch(
          url.replace('etag=1', options.headers.range === 'bytes=0-524287' ? 'etag=1' : 'etag=2'),
          options,
        ),
    })
    await rejects(file.load('b'), 'ERR_STALE')
    assert.equal((await asked(url))[1].ifRange, '"1"')
    await rejects(fetchSafetensors(`${url}.not`), 'ERR_NOT_FOUND', /404/)
  })

  it("are asked for by the caller's fetch", async () => {
    const url = await put(two())
    const file = await fetchSafetensors(url, {
      fetch: (url, options) =>
        fetch(url, { ...options, headers: { ...options.headers, authorization: 'Bearer x' } }),
    })
    await file.load('b')
    file.close()
    assert.deepEqual(
      (await asked(url)).map(({ authorization }) => authorization),
      ['Bearer x', 'Bearer x'],
    )
  })

  describe('of other hosts', () => {
    const once = { retries: 0 }

    it('are read without a request beforehand where a page may, also from their end', async () => {
      const url = elsewhere(await put(two()))
      const file = await fetchSafetensors(`${url}?cors=exposed&etag=1`)
      assert.equal((await file.load('b')).get(1), N + 1)
      assert.deepEqual(
        (await ranges(url)).map((line) => line.split(' ')[0]),
        ['GET', 'GET'],
      )
      const array = elsewhere(await put(npzFiles().plain(), 'a.npz'))
      assert.ok((await fetchNpz(`${array}?cors=exposed`)).size > 0)
      assert.deepEqual(
        (await ranges(array)).map((line) => line.split(' ')[0]),
        ['GET'],
      )
    })

    it('that a page may not read are ERR_IO, which says what the host has to send', async () => {
      await rejects(
        fetchSafetensors(elsewhere(await put(two())), once),
        'ERR_IO',
        /localhost.*Access-Control-Allow-Origin/,
      )
    })

    it('that do not show their ranges are ERR_UNSUPPORTED, and readable where they send files whole', async () => {
      const url = elsewhere(await put(two()))
      await rejects(
        fetchSafetensors(`${url}?cors=bare`),
        'ERR_UNSUPPORTED',
        /Access-Control-Expose-Headers/,
      )
      assert.equal((await ranges(url)).length, 1) // another attempt would bring the same
      const file = await fetchSafetensors(`${url}?cors=bare&whole`)
      assert.equal((await file.load('b')).get(1), N + 1)
      file.close()
    })

    it("whose answers the caller's fetch leaves opaque are ERR_UNSUPPORTED", async () => {
      const url = await put(two())
      const opaque = async (url, options) =>
        Object.defineProperties(await fetch(url, options), {
          status: { value: 0 },
          type: { value: 'opaque' },
        }) // isolated pages get none
      await rejects(fetchSafetensors(url, { fetch: opaque }), 'ERR_UNSUPPORTED', /'opaque'.*'cors'/)
    })
  })

  describe('with { caches: true }', () => {
    const options = { caches: true }
    afterEach(() => caches.delete('samebytes'))

    /** Reads a file with an object of its own: 512 KiB with the header, and 1.5 MiB. */
    async function readAll(url, more = {}) {
      const file = await fetchSafetensors(url, { ...options, ...more })
      const { a, b } = await file.loadAll()
      assert.deepEqual([a.get(0), a.get(N - 1), b.get(0), b.get(N - 1)], [0, N - 1, N, 2 * N - 1])
      file.close()
    }

    it('are read once: the second time only the header is asked for', async () => {
      const url = await put(two())
      const { copied } = await counted(() => readAll(`${url}?etag=1`))
      assert.deepEqual(copied, { caches: [2, two().length - 2 ** 19] })
      assert.equal((await asked(url)).length, 2)
      await readAll(`${url}?etag=1`)
      assert.deepEqual(await ranges(url), ['GET bytes=0-524287'])
      assert.equal((await (await caches.open('samebytes')).keys()).length, 2)
    })

    it('are asked for what is missing', async () => {
      const url = await put(two())
      await readAll(`${url}?etag=1`)
      await asked(url)
      const cache = await caches.open('samebytes')
      const [first] = await cache.keys()
      const [, from, end] = /(\d+)-(\d+)$/.exec(first.url)
      await cache.delete(first)
      await readAll(`${url}?etag=1`)
      assert.deepEqual(await ranges(url), ['GET bytes=0-524287', `GET bytes=${from}-${end - 1}`])
    })

    it('are read anew where they were changed, and nothing is left of the old ones', async () => {
      const url = await put(two())
      const change = (n) => ({ fetch: (url, options) => fetch(`${url}?etag=${n}`, options) })
      await readAll(url, change(1))
      await asked(url)
      await readAll(url, change(2))
      assert.equal((await asked(url)).length, 2)
      const keys = (await (await caches.open('samebytes')).keys()).map(({ url }) =>
        decodeURIComponent(url),
      )
      assert.ok(keys.length > 0 && keys.every((key) => key.includes('"2"')), keys.join())
    })

    it('are not kept where nothing tells one version from the other', async () => {
      const url = await put(two())
      await readAll(url)
      await readAll(url)
      assert.equal((await asked(url)).length, 4)
      assert.deepEqual(await (await caches.open('samebytes')).keys(), [])
    })

    it('are read where nothing can be kept', async () => {
      const url = await put(two())
      const { put: own } = Cache.prototype
      Cache.prototype.put = async () => {
        throw new DOMException('full', 'QuotaExceededError')
      }
      try {
        await readAll(`${url}?etag=1`)
      } finally {
        Cache.prototype.put = own
      }
      assert.equal((await asked(url)).length, 2)
    })
  })

  it('paths are refused, with what is possible', async () => {
    for (const name of ['Npy', 'Npz', 'Safetensors', 'Gguf']) {
      const message = `open${name} needs Node; fetch${name} reads a file at a URL, parse${name} takes its bytes`
      for (const given of ['model.safetensors', new URL('/model.safetensors', location.href)]) {
        assert.throws(() => samebytes[`open${name}`](given), { code: 'ERR_UNSUPPORTED', message })
      }
    }
    assert.throws(() => samebytes.openRaw('model.bin'), {
      code: 'ERR_UNSUPPORTED',
      message: /fetchSafetensors, fetchNpy and their like/,
    })
    await rejects(
      samebytes.load('model.npy'),
      'ERR_UNSUPPORTED',
      /fetchSafetensors, fetchNpy and their like/,
    )
  })

  it('URLs are relative to the page', async () => {
    const bytes = toNpyBytes(arange(3))
    const { href, pathname } = new URL(await put(bytes, 'relative.npy'), location.href)
    const file = href.slice(new URL('.', href).href.length)
    for (const given of [href, pathname, new URL(href)]) {
      assert.deepEqual((await fetchNpy(given)).toArray(), [0, 1, 2])
    }
    const base = globalThis.document?.head.appendChild(
      Object.assign(document.createElement('base'), { href: new URL('.', href).href }),
    )
    if (base === undefined) return
    try {
      assert.deepEqual((await fetchNpy(file)).toArray(), [0, 1, 2]) // as fetch does it
    } finally {
      base.remove()
    }
    await rejects(fetchNpy('file:///a.npy'), 'ERR_ARGUMENT', /openNpy takes a path/)
  })

  it('headers that lie are refused, and no memory is taken for what is not there', async () => {
    const url = await put(
      safetensors({ a: { dtype: 'U8', shape: [2 ** 40], data_offsets: [0, 2 ** 40] } }),
    )
    await rejects(fetchSafetensors(url), 'ERR_FORMAT')
    assert.equal(empty([0]).size, 0)
  })
})
