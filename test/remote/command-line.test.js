'use strict'
// `samebytes info`, `show` and `convert` of URLs: what they say is what they say of the same files on a disk, and no more is fetched than that.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const zlib = require('node:zlib')
const { arange, memory, toNpyBytes, toNpzBytes, toSafetensorsBytes } = require('samebytes')
const { convertFile } = require('../../js/cli/convert')
const { openLocated, locate } = require('../../js/cli/open')
const { saveLate } = require('../../js/files/save')
const { crc32, floats, gguf, npyOf, safetensors, zip } = require('../files')
const { cli, folder } = require('../cli/cli')
const { needs } = require('../setup')
const { honest, rangeOf, startHostile } = require('./hostile-server')
const { startNginx } = require('./nginx')

const FIRST = 2 ** 19 // bytes of the first request

describe('the command line, of URLs', function () {
  needs('nginx')
  const at = folder()
  let server
  before(async () => {
    server = await startNginx()
  })
  after(() => server?.stop())

  /** Puts a file on the disk and on the server. @returns {{ file: string, url: string }} */
  function put(name, bytes) {
    fs.mkdirSync(path.dirname(at(name)), { recursive: true })
    fs.writeFileSync(at(name), bytes)
    return { file: at(name), url: server.write(name, bytes) }
  }

  /** What a command says of a file and of its URL, which is the same; the requests for that. */
  async function same(args, { file, url }) {
    const told = (given, name) =>
      cli(args.map((arg) => arg.replace('FILE', given))).then(({ stdout, stderr, code }) => ({
        code,
        stdout: stdout.replaceAll(given, name),
        stderr: stderr.replaceAll(given, name),
      }))
    await server.requests()
    const [expected, found] = await Promise.all([told(file, 'FILE'), told(url, 'FILE')])
    assert.deepEqual(found, expected)
    return { ...expected, ranges: (await server.requests()).map(({ range }) => range) }
  }

  const array = toNpyBytes(arange(100).astype('int16'))
  const FILES = {
    'a.safetensors': toSafetensorsBytes(
      { a: arange(12).reshape(3, 4), 'layer.0:b': arange(5).astype('bfloat16') },
      { metadata: { format: 'pt' } },
    ),
    'a.gguf': gguf([], [['q', [64, 2], 2, 0]], Buffer.alloc(96, 9)),
    'a.npz': zip([
      ['a.npy', Buffer.from(toNpyBytes(arange(3)))],
      [
        'd.npy',
        zlib.deflateRawSync(array),
        { method: 8, unpacked: array.length, crc: crc32(array) },
      ],
      ['text.npy', Buffer.from(npyOf('<U3', '(1,)', Buffer.alloc(12)))],
    ]),
    'a.npy': toNpyBytes(arange(6).reshape(2, 3)),
    'fortran.npy': npyOf(
      '<f4',
      '(2000, 2)',
      floats(...Array.from({ length: 4000 }, (_, i) => i)),
      'True',
    ),
    'samples.raw': Buffer.from(Int16Array.from({ length: 5 }, (_, i) => i).buffer),
  }
  for (const [name, bytes] of Object.entries(FILES)) {
    it(`says of ${name} what it says of it on a disk`, async () => {
      const place = put(name, Buffer.from(bytes))
      await same(['info', 'FILE', '--json'], place)
      await same(
        ['show', 'FILE', ...(name.endsWith('.raw') ? ['--dtype', 'int16', '-3:'] : [])],
        place,
      )
    })
  }

  it('knows a tensor behind the first colon of the path, whatever is in its name', async () => {
    const place = put('colons.safetensors', toSafetensorsBytes({ 'a:b': arange(3) }))
    assert.match((await same(['show', 'FILE:a:b'], place)).stdout, /int32 \[3\]/)
    assert.match(
      (await same(['show', 'FILE:a:c'], place)).stderr,
      /has no tensor "a:c"; did you mean a:b\?/,
    )
    for (const [colon, code] of [
      ['%3A', 0],
      [':', 1],
    ]) {
      assert.equal((await cli(['show', `${place.url}?key=x${colon}y:a:b`])).code, code, colon)
    }
  })

  describe('fetches only what it shows:', () => {
    const ROW = 2 ** 12 // bytes
    const rows = 1000
    let large
    before(() => {
      const nbytes = rows * ROW
      const header = Object.fromEntries(
        ['a', 'b'].map((name, i) => [
          name,
          { dtype: 'F32', shape: [rows, ROW / 4], data_offsets: [i * nbytes, (i + 1) * nbytes] },
        ]),
      )
      large = put(
        'large.safetensors',
        safetensors(
          header,
          Buffer.from(Float32Array.from({ length: nbytes / 2 }, (_, i) => i % 1000).buffer),
        ),
      )
    })

    /** Bytes of the ranges behind the first request. */
    const sizes = (ranges) =>
      ranges
        .slice(1)
        .map((range) => {
          const [from, last] = range.match(/\d+/g).map(Number)
          return last - from + 1
        })
        .sort((x, y) => x - y)

    it('a header', async () => {
      const { ranges } = await same(['info', 'FILE'], large)
      assert.deepEqual(ranges, [`bytes=0-${FIRST - 1}`])
    })

    it('a table, where there is too much for more', async () => {
      assert.equal((await same(['show', 'FILE'], large)).ranges.length, 1)
    })

    it('the rows at both ends of a large tensor', async () => {
      assert.deepEqual(sizes((await same(['show', 'FILE:b'], large)).ranges), [3 * ROW, 3 * ROW])
    })

    it('the rows of a slice', async () => {
      for (const [slice, n] of [
        ['700', 1],
        ['-5:', 5],
        [':-998', 2],
      ]) {
        assert.deepEqual(
          sizes((await same(['show', 'FILE:b', `${slice},:4`], large)).ranges),
          [n * ROW],
          slice,
        )
      }
      assert.deepEqual(sizes((await same(['show', 'FILE:b', '10:10'], large)).ranges), [])
      assert.deepEqual(sizes((await same(['show', 'FILE:b', '1000,0'], large)).ranges), [])
      assert.deepEqual(sizes((await same(['show', 'FILE:b', '..., :4'], large)).ranges), [
        rows * ROW,
      ])
    })

    it('one tensor that is converted', async () => {
      await server.requests()
      const { code } = await cli(['convert', `${large.url}:b`, at('b.npy')])
      assert.equal(code, 0)
      assert.deepEqual(sizes((await server.requests()).map(({ range }) => range)), [rows * ROW])
    })
  })

  it("converts as from a disk, with the file's metadata", async () => {
    const { file, url } = put('convert.safetensors', Buffer.from(FILES['a.safetensors']))
    for (const [to, ...options] of [['x.safetensors'], ['x.npz', '--dtype', 'float32']]) {
      const expected = await cli(['convert', file, at(`disk-${to}`), ...options])
      const found = await cli(['convert', url, at(`web-${to}`), ...options])
      assert.deepEqual(found, { ...expected, stdout: expected.stdout.replace('disk', 'web') })
      assert.ok(fs.readFileSync(at(`web-${to}`)).equals(fs.readFileSync(at(`disk-${to}`))))
    }
  })

  it('converts one large tensor after the other, and small ones together', async () => {
    const [large, small] = [17 * 2 ** 20, 4096] // bytes
    let nbytes = 0
    const header = safetensors(
      Object.fromEntries(
        Array.from({ length: 50 }, (_, i) => {
          const n = i < 3 ? large : small
          nbytes += n
          return [`t${i}`, { dtype: 'U8', shape: [n], data_offsets: [nbytes - n, nbytes] }]
        }),
      ),
    )
    const size = header.length + nbytes
    let most = 0
    const hostile = await startHostile((request, response) => {
      const [from, end] = rangeOf(request, size)
      const { v8, native, wasm } = memory().bytes
      most = Math.max(most, v8 + native + wasm - before)
      response.writeHead(206, {
        'content-range': `bytes ${from}-${end - 1}/${size}`,
        'content-length': end - from,
      })
      response.write(header.subarray(from, end))
      response.end(Buffer.alloc(end - Math.min(end, Math.max(from, header.length)), 7))
    })
    const { v8, native, wasm } = memory().bytes
    const before = v8 + native + wasm
    try {
      await convertFile(hostile.url, at('late.safetensors'), {})
    } finally {
      hostile.close()
    }
    assert.equal(fs.statSync(at('late.safetensors')).size % 64, 0)
    assert.ok(hostile.asked.length <= 6, hostile.asked.join(' '))
    assert.ok(most < 2 * large, `${most} bytes`)
    fs.rmSync(at('late.safetensors'))
  })

  it('leaves nothing where the server ends in the middle of it', async () => {
    const bytes = Buffer.from(toSafetensorsBytes({ a: arange(2 ** 18), b: arange(2 ** 18) }))
    const hostile = await startHostile((request, response) =>
      rangeOf(request, bytes.length)[0] === 0
        ? honest(bytes, request, response)
        : response.writeHead(404).end(),
    )
    const { code, stderr } = await cli(['convert', hostile.url, at('half.npz')])
    hostile.close()
    assert.equal(code, 1)
    assert.match(stderr, /status 404 \(ERR_NOT_FOUND\)/)
    assert.equal(fs.existsSync(at('half.npz')), false)
    for (const t of [arange(4), arange(3).astype('float32')]) {
      await assert.rejects(
        saveLate(at('half.npz'), [{ name: 'a', dtype: 'int32', shape: [3] }], async () => [t], {}),
        { code: 'ERR_STALE' },
      )
    }
    assert.equal(fs.existsSync(at('half.npz')), false)
  })

  it('reads an index as one file', async () => {
    const one = put('m/one.safetensors', Buffer.from(toSafetensorsBytes({ a: arange(3) })))
    server.write('m/two.safetensors', Buffer.from(toSafetensorsBytes({ b: arange(5) })))
    server.write(
      'm/model.safetensors.index.json',
      Buffer.from(
        JSON.stringify({
          metadata: { total_size: 64 },
          weight_map: { a: 'one.safetensors', b: 'two.safetensors' },
        }),
      ),
    )
    const { stdout } = await cli([
      'info',
      `${path.posix.dirname(one.url)}/model.safetensors.index.json`,
    ])
    assert.match(
      stdout,
      /safetensors, 32 B, 2 tensors\n {2}total_size: 64[^]*a +int32 +\[3\][^]*b +int32 +\[5\]/,
    )
  })

  it('tells the progress of all that is fetched as one', async () => {
    const { url } = put(
      'progress.npz',
      Buffer.from(toNpzBytes({ a: arange(3), b: arange(100000) })),
    )
    const steps = []
    const file = await openLocated(locate(url, true), { onProgress: (step) => steps.push(step) })
    await file.fetch(file.names, () => null)
    assert.deepEqual(steps.at(-1), { done: 4 * 100003, total: 4 * 100003 })
    assert.ok(steps.every(({ done }, i) => i === 0 || done >= steps[i - 1].done))
    file.close()
  })

  it('says what the server answered, without what may be secret', async () => {
    const { code, stdout, stderr } = await cli(['info', `${server.url}/none.npy?key=secret`])
    assert.deepEqual([code, stdout], [1, ''])
    assert.equal(
      stderr,
      `samebytes info: ${server.url}/none.npy: the server answered with status 404 (ERR_NOT_FOUND)\n`,
    )
    const known = await cli([
      'info',
      `${put('known.npy', Buffer.from(FILES['a.npy'])).url}?key=secret`,
    ])
    assert.match(known.stdout, /known\.npy {2}npy/)
    const bad = put('bad.safetensors', Buffer.from(FILES['a.safetensors']).fill(0, 20, 30))
    assert.match((await same(['show', 'FILE'], bad)).stderr, /FILE: byte .*ERR_FORMAT/)
    assert.match(
      (await cli(['show', 'https://user:pass@localhost/a.npy'])).stderr,
      /a user or a password.*ERR_ARGUMENT/,
    )
  })
})
