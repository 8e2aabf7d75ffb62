'use strict'
// Files at URLs, of nginx: every format, with ranges and without, beside the same files on a disk.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const zlib = require('node:zlib')
const samebytes = require('samebytes')
const {
  arange,
  backend,
  empty,
  memory,
  fetchGguf,
  fetchNpy,
  fetchNpz,
  fetchSafetensors,
  parseGguf,
  parseNpy,
  parseNpz,
  parseSafetensors,
  SharedTensor,
  toNpyBytes,
  toNpzBytes,
  toSafetensorsBytes,
  zeros,
} = samebytes
const { needs, skipWithout } = require('../setup')
const { crc32, npyOf, safetensors, zip, floats, gguf } = require('../files')
const { npyFiles, safetensorsFiles, ggufFiles, npzFiles } = require('../corpora')
const { opened, plans } = require('../../js/remote/formats')
const { openingOf } = require('../../js/remote/options')
const { startNginx } = require('./nginx')

const FORMATS = {
  safetensors: { open: fetchSafetensors, parse: parseSafetensors },
  gguf: { open: fetchGguf, parse: parseGguf },
  npz: { open: fetchNpz, parse: parseNpz },
}

/** What an error says. */
const said = ({ code, message }) => `${code}: ${message}`

/** All of a file that is in memory, by name: a tensor's dtype, shape and values, or what is wrong. */
async function allOf(file, get) {
  const all = {}
  for (const name of file.keys()) {
    try {
      const t = await get(name)
      all[name] = [
        t.dtype,
        [...t.shape],
        JSON.stringify(t.toArray(), (_, v) => (typeof v === 'bigint' ? `${v}n` : v)),
      ]
    } catch (error) {
      all[name] = said(error)
    }
  }
  return all
}

/** What comes of bytes: from memory, and from a URL. */
async function verdictOf(open, use) {
  let file
  try {
    file = await open()
    return file.keys === undefined
      ? [file.dtype, [...file.shape], file.toArray()]
      : [file.size, await allOf(file, (name) => use(file, name))]
  } catch (error) {
    return said(error)
  } finally {
    file?.close?.()
  }
}

describe('files at URLs', function () {
  needs('nginx')
  let server
  before(async () => {
    server = await startNginx()
  })
  after(() => server?.stop())

  /** @param {string} name @param {Uint8Array} bytes */
  const at = (name, bytes) => server.write(name, bytes)
  const whole = (url) => url.replace(server.url, `${server.url}/whole`)

  const rows = {
    ...Object.fromEntries(
      Object.keys(FORMATS).map((format) => [
        format,
        {
          ...{ safetensors: safetensorsFiles, gguf: ggufFiles, npz: npzFiles }[format](),
          ...FORMATS[format],
        },
      ]),
    ),
    npy: { ...npyFiles(), open: fetchNpy, parse: parseNpy },
  }
  for (const [format, { plain, bad, open, parse }] of Object.entries(rows)) {
    const under = (folder) => (url) => url.replace(server.url, `${server.url}/${folder}`)
    for (const [way, urlOf] of [
      ['by ranges', (url) => url],
      ['whole, of a server without ranges', whole],
      ['of one without ranges that names no length', under('untold')],
      ['of one that refuses ranges', under('refusing')],
    ]) {
      it(`gives what is in a .${format}, ${way}`, async () => {
        const bytes = plain()
        const url = urlOf(at(`plain.${format}`, bytes))
        const expected = await verdictOf(
          () => parse(bytes),
          (file, name) => file.get(name),
        )
        assert.deepEqual(
          await verdictOf(
            () => open(url),
            (file, name) => file.load(name),
          ),
          expected,
        )
        assert.notEqual(typeof expected, 'string')
      })

      it(`says of a bad .${format} what is said of its bytes in memory, ${way}`, async () => {
        for (const [what, bytes] of Object.entries(bad)) {
          const url = urlOf(at(`bad.${format}`, bytes))
          const expected = await verdictOf(
            () => parse(bytes),
            (file, name) => file.get(name),
          )
          assert.deepEqual(
            await verdictOf(
              () => open(url),
              (file, name) => file.load(name),
            ),
            expected,
            what,
          )
        }
      })
    }

    it(`says of every beginning of a .${format} what is said of it in memory`, async () => {
      const bytes = plain()
      for (let n = 0; n < bytes.length; n += 7) {
        const part = bytes.subarray(0, n)
        const url = at(`part-${n}.${format}`, part)
        const expected = await verdictOf(
          () => parse(part),
          (file, name) => file.get(name),
        )
        assert.deepEqual(
          await verdictOf(
            () => open(url),
            (file, name) => file.load(name),
          ),
          expected,
          `${n} bytes`,
        )
      }
    })
  }

  it('reads a header by one request of 512 KiB, and no more of a large file', async () => {
    const file = path.join(server.root, 'sparse.safetensors')
    const size = 10 * 2 ** 30
    fs.writeFileSync(
      file,
      safetensors({
        a: { dtype: 'U8', shape: [size], data_offsets: [0, size] },
        b: { dtype: 'F32', shape: [2], data_offsets: [size, size + 8] },
      }),
    )
    const begin = fs.statSync(file).size
    fs.truncateSync(file, begin + size)
    fs.appendFileSync(file, floats(1, 2))
    await server.requests()
    const opened = await fetchSafetensors(`${server.url}/sparse.safetensors`)
    assert.deepEqual((await opened.info('a')).shape, [size])
    assert.deepEqual((await opened.load('b')).toArray(), [1, 2])
    opened.close()
    assert.deepEqual(
      (await server.requests(2)).map(({ status, range, sent }) => [status, range, sent]),
      [
        [206, 'bytes=0-524287', 524288],
        [206, `bytes=${begin + size}-${begin + size + 7}`, 8],
      ],
    )
  })

  it('asks for more where a header is longer than that', async () => {
    const names = Object.fromEntries(
      Array.from({ length: 12000 }, (_, i) => [
        `a tensor with quite a long name, number ${i}`,
        { dtype: 'U8', shape: [1], data_offsets: [i, i + 1] },
      ]),
    )
    const url = at(
      'long.safetensors',
      safetensors(names, Buffer.from(Array.from({ length: 12000 }, (_, i) => i & 255))),
    )
    for (const each of [url, whole(url)]) {
      const file = await fetchSafetensors(each)
      assert.equal(file.size, 12000)
      assert.deepEqual(
        (await file.load('a tensor with quite a long name, number 11999')).toArray(),
        [11999 & 255],
      )
      file.close()
    }
  })

  describe('requests', () => {
    const tensors = () => ({
      a: arange(200000),
      b: arange(100000).astype('int32'),
      c: arange(300000),
      d: arange(10),
    })
    let url
    before(() => {
      url = at('four.safetensors', toSafetensorsBytes(tensors()))
    })

    /** The ranges of the requests since the last time, without the first one. */
    const ranges = async (n) => (await server.requests(n)).map(({ range }) => range)

    it('are one for neighbours that are asked for at once, and none for what came with the header', async () => {
      const file = await fetchSafetensors(url)
      const infos = await Promise.all(['a', 'b', 'c', 'd'].map((name) => file.info(name)))
      await ranges(1)
      const loaded = await Promise.all(['c', 'a', 'b', 'd'].map((name) => file.load(name)))
      assert.deepEqual(
        loaded.map((t) => t.toArray()),
        ['c', 'a', 'b', 'd'].map((name) => tensors()[name].toArray()),
      )
      const end = Math.max(...infos.map(({ byteOffset, nbytes }) => byteOffset + nbytes))
      assert.deepEqual(await ranges(1), [`bytes=524288-${end - 1}`])
      file.close()
    })

    it('leave out what lies far between', async () => {
      const size = 2 ** 20
      const parts = ['x', 'y', 'z'].map((name, i) => [
        name,
        { dtype: 'U8', shape: [size], data_offsets: [i * size, (i + 1) * size] },
      ])
      const far = at(
        'far.safetensors',
        safetensors(Object.fromEntries(parts), Buffer.alloc(3 * size, 7)),
      )
      const file = await fetchSafetensors(far)
      const [x, z] = await Promise.all(['x', 'z'].map((name) => file.info(name)))
      await server.requests(1)
      await Promise.all([file.load('z'), file.load('x')])
      assert.deepEqual(
        (await ranges(2)).sort(),
        [
          `bytes=${z.byteOffset}-${z.byteOffset + size - 1}`,
          `bytes=524288-${x.byteOffset + size - 1}`,
        ].sort(),
      )
      file.close()
    })

    it('are one for all tensors of a server without ranges', async () => {
      const file = await fetchSafetensors(whole(url))
      await server.requests(1)
      const all = await file.loadAll()
      assert.deepEqual(Object.keys(all), [...file.keys()])
      for (const [name, t] of Object.entries(tensors())) {
        assert.deepEqual(all[name].toArray(), t.toArray())
      }
      assert.equal((await server.requests(1)).length, 1)
      file.close()
    })
  })

  describe('where tensors go', () => {
    it('into tensors of the caller, in any layout and cast, counted', async () => {
      const values = arange(2 * 300 * 400)
        .astype('float32')
        .reshape(2, 300, 400)
      for (const dtype of ['float32', 'bfloat16', 'float16']) {
        const url = at('cast.safetensors', toSafetensorsBytes({ a: values.astype(dtype) }))
        const expected = values.astype(dtype).astype('float32').toArray()
        const file = await fetchSafetensors(url)
        const own = await file.load('a', { dtype: 'float32' })
        assert.equal(own.dtype, 'float32')
        assert.deepEqual(own.toArray(), expected)
        const straight = empty([2, 300, 400])
        const before = memory()
        assert.equal(await file.load('a', { out: straight }), straight)
        const after = memory()
        assert.equal(
          after.staged.bytes - before.staged.bytes,
          values.size * (dtype === 'float32' ? 4 : 2),
        )
        assert.equal(
          (after.copied.load?.bytes ?? 0) - (before.copied.load?.bytes ?? 0),
          dtype === 'float32' ? 0 : values.nbytes,
        )
        assert.deepEqual(straight.toArray(), expected)
        const turned = empty([400, 2, 300]).permute([1, 2, 0])
        await file.load('a', { out: turned })
        assert.deepEqual(turned.toArray(), expected)
        const stepped = zeros([2, 300, 800]).slice(':', ':', '::2')
        await file.load('a', { out: stepped })
        assert.deepEqual(stepped.toArray(), expected)
        file.close()
      }
    })

    it('from arrays in Fortran order and with the bytes of numbers the other way around', async () => {
      const data = Buffer.concat(
        [1, 2, 3, 4, 5, 6].map((x) => {
          const b = Buffer.alloc(4)
          b.writeFloatBE(x)
          return b
        }),
      )
      const bytes = npyOf('>f4', '(2, 3)', data, 'True')
      const url = at('big.npy', bytes)
      const expected = parseNpy(bytes)
      const t = await fetchNpy(url)
      assert.deepEqual([t.toArray(), [...t.strides]], [expected.toArray(), [...expected.strides]])
      const out = empty([2, 3], { dtype: 'float64' })
      assert.equal(await fetchNpy(url, { out }), out)
      assert.deepEqual(out.toArray(), expected.toArray())
    })

    it('into SharedTensors', async function () {
      skipWithout(this, 'the addon')
      const shared = SharedTensor.create(null, [1000], { sealed: true })
      const file = await fetchSafetensors(
        at('shared.safetensors', toSafetensorsBytes({ a: arange(1000).astype('float32') })),
      )
      await file.loadAll({ out: { a: shared.tensor } })
      assert.deepEqual(shared.tensor.toArray(), arange(1000).toArray())
      shared.dispose()
      file.close()
    })

    it('and deflated arrays of an .npz as they are inflated', async () => {
      const array = toNpyBytes(arange(300000).astype('float32'))
      const bytes = zip([
        [
          'a.npy',
          zlib.deflateRawSync(array),
          { method: 8, unpacked: array.length, crc: crc32(array) },
        ],
        ['b.npy', toNpyBytes(arange(3))],
      ])
      for (const url of [at('deflated.npz', bytes), whole(at('deflated.npz', bytes))]) {
        const file = await fetchNpz(url)
        const out = empty([300000], { dtype: 'float64' })
        const steps = []
        const [a, b, again] = await Promise.all([
          file.load('a', { onProgress: (step) => steps.push(step) }),
          file.load('b'),
          file.load('a', { out }),
        ])
        assert.deepEqual(a.toArray(), arange(300000).toArray())
        assert.deepEqual(again.toArray(), a.toArray())
        assert.deepEqual(b.toArray(), [0, 1, 2])
        const { deflated } = await file.info('a')
        assert.deepEqual(steps.at(-1), { done: deflated, total: deflated })
        file.close()
      }
    })

    it('are refused before anything is read', async () => {
      const file = await fetchSafetensors(
        at(
          'small.safetensors',
          toSafetensorsBytes({ a: arange(4).astype('float32'), b: arange(3) }),
        ),
      )
      const code = async (name, opts) =>
        file.load(name, opts).then(
          () => 'none',
          (error) => error.code,
        )
      assert.equal(await code('a', { out: empty([5]) }), 'ERR_SHAPE')
      assert.equal(await code('a', { out: empty([4], { dtype: 'int32' }) }), 'ERR_CAST')
      assert.equal(await code('a', { dtype: 'uint8' }), 'ERR_CAST')
      assert.equal(await code('a', { dtype: 'float65' }), 'ERR_DTYPE')
      assert.equal(await code('a', { out: empty([4]), dtype: 'float64' }), 'ERR_DTYPE')
      assert.equal(await code('a', { out: 5 }), 'ERR_ARGUMENT')
      assert.equal(await code('a', { signal: 5 }), 'ERR_ARGUMENT')
      await assert.rejects(file.load('a', { typ: 'int8' }), {
        code: 'ERR_ARGUMENT',
        message: 'load has no option "typ"; dtype was expected',
      })
      await assert.rejects(file.loadAll({ onprogress: () => {} }), {
        code: 'ERR_ARGUMENT',
        message: 'loadAll has no option "onprogress"; onProgress was expected',
      })
      assert.equal(await code('a', { onProgress: 5 }), 'ERR_ARGUMENT')
      assert.equal(await code('x'), 'ERR_NOT_FOUND')
      assert.equal(await code(5), 'ERR_ARGUMENT')
      await assert.rejects(
        fetchSafetensors(at('small.safetensors', toSafetensorsBytes({ a: arange(4) })), {
          mode: 'r+',
        }),
        { code: 'ERR_ARGUMENT', message: /^fetchSafetensors has no option "mode"; / },
      )
      const out = empty([4])
      const first = file.load('a', { out })
      assert.equal(await code('a', { out }), 'ERR_BUSY')
      await first
      assert.deepEqual(out.toArray(), [0, 1, 2, 3])
      await file.load('a', { out })
      file.close()
      assert.equal(await code('a'), 'ERR_DISPOSED')
    })

    it('into parts of one tensor at once, which may not overlap', async () => {
      const file = await fetchSafetensors(
        at(
          'parts.safetensors',
          toSafetensorsBytes({ a: arange(4), b: arange(4, 8), none: arange(0) }),
        ),
      )
      const all = zeros([8], { dtype: 'int32' })
      await file.loadAll({
        out: { a: all.slice('4:'), b: all.slice(':4').flip(0), none: all.slice('2:2') },
      })
      assert.deepEqual(all.toArray(), [7, 6, 5, 4, 0, 1, 2, 3])
      const [first, ...overlapping] = ['2:6', ':4', '3:7', '4:'].map((part) =>
        file.load('a', { out: all.slice(part) }),
      )
      assert.throws(() => all.fill(0), { code: 'ERR_BUSY' })
      await Promise.all([
        first,
        ...overlapping.map((load) => assert.rejects(load, { code: 'ERR_BUSY' })),
      ])
      const copied = all.copyFromAsync(zeros([8], { dtype: 'int32' }))
      await Promise.all([
        copied,
        ...['4:', ':4'].map((part) =>
          assert.rejects(file.load('a', { out: all.slice(part) }), { code: 'ERR_BUSY' }),
        ),
      ])
      all.fill(0)
      file.close()
    })

    it('are bytes where a type is none of ours, and are not cast then', async () => {
      const file = await fetchGguf(
        at('q.gguf', gguf([], [['q', [64, 2], 2, 0]], Buffer.alloc(96, 9))),
      )
      assert.deepEqual(
        [(await file.load('q')).dtype, [...(await file.load('q')).shape]],
        ['uint8', [2, 36]],
      )
      await assert.rejects(file.load('q', { dtype: 'float32' }), {
        code: 'ERR_DTYPE',
        message: /Q4_0/,
      })
      file.close()
    })
  })

  it('tells progress, and ends by a signal, an error of the caller or close()', async () => {
    const url = at(
      'steps.safetensors',
      toSafetensorsBytes({ a: zeros([2 ** 20]), b: zeros([2 ** 20]) }),
    )
    const file = await fetchSafetensors(url)
    const steps = []
    await file.loadAll({ onProgress: (step) => steps.push(step) })
    assert.deepEqual(steps.at(-1), { done: 2 ** 23, total: 2 ** 23 })
    assert.ok(steps.length > 2 && steps.every(({ done }, i) => i === 0 || done > steps[i - 1].done))
    const reason = new Error('enough')
    const stop = new AbortController()
    await assert.rejects(
      file.load('b', { signal: stop.signal, onProgress: () => stop.abort(reason) }),
      (error) => error === reason,
    )
    await assert.rejects(
      file.load('b', { signal: AbortSignal.abort(reason) }),
      (error) => error === reason,
    )
    await assert.rejects(
      file.load('b', {
        onProgress() {
          throw reason
        },
      }),
      (error) => error === reason,
    )
    await assert.rejects(
      fetchSafetensors(url, { signal: AbortSignal.abort(reason) }),
      (error) => error === reason,
    )
    const out = zeros([2 ** 20])
    await assert.rejects(
      file.loadAll({ out: { b: out }, signal: AbortSignal.abort(reason) }),
      (error) => error === reason,
    )
    const [gone, kept] = await Promise.allSettled([
      file.load('a', {
        onProgress() {
          throw reason
        },
      }),
      file.load('b'),
    ])
    assert.equal(gone.reason, reason)
    assert.equal(kept.value.size, 2 ** 20)
    const pending = file.load('b', { out, onProgress: () => file.close() })
    await assert.rejects(pending, { code: 'ERR_DISPOSED' })
    out.fill(1) // is not busy any more
  })

  it('tells all of loadAll, also of what came with the header, and of what is deflated', async () => {
    const array = toNpyBytes(arange(3000).astype('float64'))
    const packed = zlib.deflateRawSync(array)
    const files = {
      'short.safetensors': [
        fetchSafetensors,
        toSafetensorsBytes({ a: arange(10), b: zeros([0]), c: arange(10) }),
        80,
      ],
      'empty.safetensors': [fetchSafetensors, toSafetensorsBytes({ a: zeros([0]) }), 0],
      'short.npz': [
        fetchNpz,
        zip([
          ['a.npy', packed, { method: 8, unpacked: array.length, crc: crc32(array) }],
          ['b.npy', Buffer.from(toNpyBytes(arange(3)))],
        ]),
        packed.length + 12,
      ],
    }
    for (const [name, [open, bytes, total]] of Object.entries(files)) {
      const file = await open(at(name, Buffer.from(bytes)))
      const steps = []
      await file.loadAll({ onProgress: (step) => steps.push(step) })
      assert.deepEqual(
        steps.filter(({ done }) => done === total),
        [{ done: total, total }],
        name,
      )
      file.close()
    }
  })

  it('keeps nothing of an .npz but its directory', async () => {
    const url = at(
      'members.npz',
      zip(
        Array.from({ length: 40 }, (_, i) => [`m${i}.npy`, Buffer.from(toNpyBytes(arange(20000)))]),
      ),
    )
    const opening = openingOf({})
    await opened(new URL(url), opening, true, async (source) => {
      const plan = await plans.npz(source, opening)
      const { length } = source.known.parts
      for (const name of ['m0', 'm3']) {
        await plan.info(name)
        assert.equal((await plan.load(name, {})).get(19999), 19999)
      }
      await assert.rejects(plan.load('m1', { out: empty([5]) }), { code: 'ERR_SHAPE' })
      assert.equal(source.known.parts.length, length)
      plan.close()
    })
  })

  it("loads many at once, without a warning of Node's", async () => {
    const warnings = []
    const warned = (warning) => warnings.push(warning.message)
    process.on('warning', warned)
    try {
      const file = await fetchSafetensors(
        at(
          'many.safetensors',
          toSafetensorsBytes(
            Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`t${i}`, arange(10000)])),
          ),
        ),
      )
      assert.equal(Object.keys(await file.loadAll()).length, 40)
      const { signal } = new AbortController()
      await Promise.all([...file.keys()].map((name) => file.load(name, { signal })))
      file.close()
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual(warnings, [])
    } finally {
      process.off('warning', warned)
    }
  })

  it('gives back the memory of what was not read', async () => {
    const url = at('memory.safetensors', toSafetensorsBytes({ a: zeros([2 ** 18]) }))
    const file = await fetchSafetensors(url)
    const { tensors } = memory()
    for (let i = 0; i < 3; i++) {
      await assert.rejects(
        file.load('a', {
          dtype: 'float64',
          onProgress() {
            throw new Error('no')
          },
        }),
        /no/,
      )
    }
    assert.ok(memory().tensors <= tensors) // others may be collected meanwhile
    file.close()
  })

  it('takes URLs and paths for what they are', async () => {
    const url = at('name.npy', toNpyBytes(arange(3)))
    assert.deepEqual((await fetchNpy(new URL(url))).toArray(), [0, 1, 2])
    assert.deepEqual((await fetchNpy(`${url}#here`)).toArray(), [0, 1, 2])
    await assert.rejects(
      fetchNpy('http://user:secret@localhost/a.npy'),
      (error) => error.code === 'ERR_ARGUMENT' && !/secret/.test(error.message),
    )
    for (const given of [
      'http://',
      'name.npy',
      '/name.npy',
      'httpx://localhost/a.npy',
      'file:///name.npy',
      new URL('ftp://localhost/a.npy'),
      new URL('file:///name.npy'),
      5,
      undefined,
      null,
      { href: url },
      [url],
    ]) {
      for (const [name, fetching] of Object.entries({
        fetchNpy,
        fetchNpz,
        fetchSafetensors,
        fetchGguf,
      })) {
        await assert.rejects(
          fetching(given),
          {
            name: 'TypeError',
            code: 'ERR_ARGUMENT',
            message: new RegExp(
              `^url is .*; a URL of http: or https: was expected, ${name.replace('fetch', 'open')} takes a path$`,
            ),
          },
          `${name} ${given}`,
        )
      }
    }
    for (const name of [
      'openNpy',
      'openNpz',
      'openSafetensors',
      'openGguf',
      'load',
      'openRaw',
      'saveNpySync',
      'saveNpy',
      'createNpy',
    ]) {
      const other =
        name === 'load'
          ? 'fetchSafetensors'
          : name.startsWith('open') && name !== 'openRaw'
            ? name.replace('open', 'fetch')
            : null // no other function writes there, or reads raw bytes
      for (const given of [
        url,
        `${url}?secret`,
        new URL(`${url}?secret`),
        url.replace('http', 'HTTPS'),
      ]) {
        const second = {
          openRaw: undefined,
          createNpy: [3],
          saveNpy: arange(3),
          saveNpySync: arange(3),
        }[name]
        await assert.rejects(
          async () => samebytes[name](given, second, name === 'openRaw' ? 'int8' : undefined),
          (error) =>
            error.code === 'ERR_ARGUMENT' &&
            error.message.startsWith('path is a URL of http') &&
            (other === null
              ? error.message.endsWith('a path or file: URL was expected')
              : error.message.includes(`a path or file: URL was expected, ${other}`)) &&
            !/secret/.test(error.message),
          `${name} ${given}`,
        )
      }
    }
    if (backend() === 'native') {
      assert.throws(() => samebytes.openNpy('httpx://localhost/a.npy'), { code: 'ERR_NOT_FOUND' })
    }
    await assert.rejects(fetchNpy(`${url}.not`), { code: 'ERR_NOT_FOUND', status: 404 })
    await assert.rejects(fetchNpy(url, { caches: true }), {
      code: 'ERR_UNSUPPORTED',
      message: /Cache API.*{ fetch }/,
    })
    for (const opts of [
      { fetch: 5 },
      { caches: 5 },
      { retries: -1 },
      { idleTimeout: 0 },
      { idleTimeout: 'x' },
      5,
    ]) {
      await assert.rejects(
        fetchNpy(url, opts),
        (error) => /^ERR_(ARGUMENT|BOUNDS)$/.test(error.code),
        JSON.stringify(opts),
      )
    }
  })

  it('copies nothing but what it counts', async () => {
    const file = await fetchSafetensors(
      at('count.safetensors', toSafetensorsBytes({ a: zeros([1000]) })),
    )
    const before = memory().copied
    await file.load('a')
    assert.deepEqual(memory().copied, before)
    file.close()
  })

  it('reads an .npz by its end, and each array by its own header', async () => {
    const bytes = Buffer.from(toNpzBytes({ a: arange(300000).astype('float64'), b: arange(10) }))
    const file = await fetchNpz(at('two.npz', bytes))
    const [{ range }] = await server.requests(1).then((all) => all.slice(-1))
    assert.equal(range, 'bytes=-524288')
    assert.deepEqual((await file.load('b')).toArray(), arange(10).toArray())
    assert.deepEqual((await file.load('a')).toArray(), arange(300000).toArray())
    file.close()
  })
})
