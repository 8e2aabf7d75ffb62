'use strict'
// Servers that change files, break off, lie or do nothing: typed errors, bounded memory and time, and what can be gone on with is gone on with.
const assert = require('node:assert/strict')
const http = require('node:http')
const {
  arange,
  empty,
  memory,
  fetchNpz,
  fetchSafetensors,
  toNpzBytes,
  toSafetensorsBytes,
} = require('samebytes')
const { transportOf } = require('../../js/remote/transport')
const { needs, skipWithout } = require('../setup')
const { safetensors } = require('../files')
const { startHostile, rangeOf, honest } = require('./hostile-server')

const PATIENT = { retries: 2, idleTimeout: 1e9 } // a busy machine is no silent server
const SILENT = { retries: 1, idleTimeout: 300 }
const SIZE = 2 ** 18 // elements: two thirds of the bytes come after the first request
/** The first byte that a range asks for. */
const begin = (range) => Number(/\d+/.exec(range)[0])

const bytesOf = (add) =>
  Buffer.from(
    toSafetensorsBytes({
      a: arange(SIZE).astype('float32').reshape(SIZE),
      b: arange(SIZE, 2 * SIZE + add)
        .astype('float32')
        .slice(`:${SIZE}`),
    }),
  )

describe('servers', function () {
  const bytes = bytesOf(0)
  let server
  afterEach(() => server?.close())

  /** @param {(request: any, response: any, n: number) => void} answer  n: requests before */
  const start = async (answer) => {
    let n = 0
    server?.close()
    server = await startHostile((request, response) => answer(request, response, n++))
    return server
  }

  /** Opens a file and reads all of it. */
  async function all(options = {}) {
    const file = await fetchSafetensors(server.url, { ...PATIENT, ...options })
    try {
      return await file.loadAll()
    } finally {
      file.close()
    }
  }

  const isRight = ({ a, b }) =>
    assert.deepEqual([a.get(SIZE - 1), b.get(0), b.get(SIZE - 1)], [SIZE - 1, SIZE, 2 * SIZE - 1])

  describe('that change a file', () => {
    const changes = {
      'answer If-Range with the whole of it': (request, response) => {
        assert.equal(request.headers['if-range'], '"1"')
        response.writeHead(200, { etag: '"2"', 'content-length': bytes.length })
        response.end(bytes)
      },
      'ignore If-Range, and have another ETag': (request, response) =>
        honest(bytes, request, response, { etag: '"2"' }),
      'have another size': (request, response) => honest(bytes.subarray(0, -4), request, response),
      'have another date': (request, response) =>
        honest(bytes, request, response, {
          etag: [],
          'last-modified': 'Thu, 26 Nov 2026 10:00:01 GMT',
        }),
      'have no such range any more': (request, response) =>
        response.writeHead(416, { 'content-range': 'bytes */100' }).end('no'),
    }
    for (const [what, change] of Object.entries(changes)) {
      it(`and ${what}`, async () => {
        const isDated = what.endsWith('date')
        await start((request, response, n) =>
          n === 0
            ? honest(
                bytes,
                request,
                response,
                isDated ? { etag: [], 'last-modified': 'Thu, 26 Nov 2026 10:00:00 GMT' } : {},
              )
            : change(request, response),
        )
        await assert.rejects(all(), { code: 'ERR_STALE' })
      })
    }

    it('but only call its ETag weak', async () => {
      await start((request, response, n) =>
        honest(bytes, request, response, n === 0 ? {} : { etag: 'W/"1"' }),
      )
      isRight(await all())
    })
  })

  describe('that break off', () => {
    it('are asked for the rest', async () => {
      await start((request, response) => {
        const [from, end] = rangeOf(request, bytes.length)
        response.writeHead(206, {
          'content-range': `bytes ${from}-${end - 1}/${bytes.length}`,
          'content-length': end - from,
          etag: '"1"',
        })
        response.write(bytes.subarray(from, Math.min(end, from + 400000)), () => response.destroy())
      })
      isRight(await all())
      assert.ok(
        server.asked.length > 4 &&
          server.asked.every((range, i) => i === 0 || begin(range) > begin(server.asked[i - 1])),
        server.asked.join(' '),
      )
    })

    it('give less than they said, or less than was asked for', async () => {
      await start((request, response) => {
        const [from, end] = rangeOf(request, bytes.length)
        const less = Math.min(end, from + 300000)
        response.writeHead(206, {
          'content-range': `bytes ${from}-${less - 1}/${bytes.length}`,
          'transfer-encoding': 'chunked',
          etag: '"1"',
        })
        response.end(bytes.subarray(from, less - from > 150000 ? less - 100000 : less))
      })
      isRight(await all())
    })

    it('for good are ERR_IO after so many attempts', async () => {
      await start((request, response, n) =>
        n === 0 ? honest(bytes, request, response) : response.destroy(),
      )
      await assert.rejects(all(), { code: 'ERR_IO', message: /127\.0\.0\.1/ })
      assert.equal(server.asked.length, 4)
    })

    it('and answer nothing useful for a while are asked again', async () => {
      await start((request, response, n) => {
        if (n % 3 === 0) response.writeHead(503, { 'retry-after': '0' }).end()
        else if (n % 3 === 1) response.destroy()
        else honest(bytes, request, response)
      })
      isRight(await all())
    })

    it('while a piece is used have it used first', async () => {
      await start((request, response) => {
        response.writeHead(206, { 'content-length': 10 })
        response.write('12345', () => response.destroy())
      })
      const answer = await transportOf(undefined)(
        server.url,
        {},
        new AbortController().signal,
        'here',
      )
      let isUsed = false
      const pumped = answer.pump(
        () =>
          new Promise((resolve) => {
            answer.response.once('close', () =>
              setImmediate(() => {
                isUsed = true
                resolve()
              }),
            )
          }),
      )
      await assert.rejects(pumped, () => isUsed)
    })

    it('leave a tensor of the caller with what came, and usable', async () => {
      await start((request, response, n) =>
        n === 0 ? honest(bytes, request, response) : response.destroy(),
      )
      const file = await fetchSafetensors(server.url, PATIENT)
      const out = empty([SIZE])
      await assert.rejects(file.load('b', { out }), { code: 'ERR_IO' })
      out.fill(0)
      file.close()
    })
  })

  describe('that lie', () => {
    const lies = {
      'another beginning': [
        (from, end) => `bytes ${from + 1}-${end - 1}/${bytes.length}`,
        'ERR_FORMAT',
      ],
      'an end before the beginning': [
        (from, end) => `bytes ${end}-${from}/${bytes.length}`,
        'ERR_FORMAT',
      ],
      'an end behind the file': [
        (from, end) => `bytes ${from}-${bytes.length}/${bytes.length}`,
        'ERR_FORMAT',
      ],
      'numbers that are none': [() => 'bytes 0x0-1e3/10', 'ERR_FORMAT'],
      'numbers beyond 2^53': [
        () => 'bytes 0-99999999999999999999/999999999999999999999',
        'ERR_FORMAT',
      ],
      'no size': [(from, end) => `bytes ${from}-${end - 1}/*`, 'ERR_UNSUPPORTED'],
      nothing: [() => undefined, 'ERR_UNSUPPORTED'],
    }
    for (const [what, [range, code]] of Object.entries(lies)) {
      it(`about the range: ${what}`, async () => {
        await start((request, response) => {
          const [from, end] = rangeOf(request, bytes.length)
          const header = range(from, end)
          response.writeHead(206, header === undefined ? {} : { 'content-range': header })
          response.end(bytes.subarray(from, end))
        })
        await assert.rejects(all(), { code })
        assert.equal(server.asked.length, 1)
      })
    }

    it('with more bytes than they said', async () => {
      await start((request, response) => {
        const [from, end] = rangeOf(request, bytes.length)
        response.writeHead(206, {
          'content-range': `bytes ${from}-${end - 1}/${bytes.length}`,
          'transfer-encoding': 'chunked',
        })
        response.write(bytes.subarray(from, end))
        let isOver = false
        response.on('close', () => {
          isOver = true
        })
        const more = () => {
          if (!isOver) response.write(Buffer.alloc(65536), () => setImmediate(more))
        }
        more()
      })
      const file = await fetchSafetensors(server.url, PATIENT).catch((error) => error)
      if (file.code === undefined) await assert.rejects(file.load('b'), { code: 'ERR_FORMAT' })
      else assert.equal(file.code, 'ERR_FORMAT')
    })

    it('with a file without an end', async () => {
      await start((request, response) => {
        response.writeHead(200, { 'transfer-encoding': 'chunked' })
        let isOver = false
        response.on('close', () => {
          isOver = true
        })
        const more = () => {
          if (!isOver) response.write(Buffer.alloc(65536), () => setImmediate(more))
        }
        more()
      })
      await assert.rejects(all(), { code: 'ERR_UNSUPPORTED' })
    })

    it('with a header without an end: no more is read than a header may have', async () => {
      const size = 2 ** 40
      const head = Buffer.alloc(8)
      head.writeBigUInt64LE(200_000_000n)
      await start((request, response) => {
        const [from, end] = rangeOf(request, size)
        response.writeHead(206, {
          'content-range': `bytes ${from}-${end - 1}/${size}`,
          'content-length': end - from,
        })
        response.end(Buffer.concat([head, Buffer.alloc(end - from - 8, '{')]))
      })
      await assert.rejects(all(), { code: 'ERR_FORMAT', message: /^byte 0: / })
      assert.equal(server.asked.length, 1)
    })

    it('about the size of a tensor: no memory is taken that they have no bytes for', async () => {
      const size = 2 ** 50
      const header = safetensors({ a: { dtype: 'U8', shape: [size], data_offsets: [0, size] } })
      const file = Buffer.concat([header, Buffer.alloc(2 ** 19 - header.length)])
      await start((request, response) => {
        response.writeHead(206, {
          'content-range': `bytes 0-${file.length - 1}/${header.length + size}`,
          'content-length': file.length,
        })
        response.end(file)
      })
      const opened = await fetchSafetensors(server.url, PATIENT)
      await assert.rejects(opened.load('a'), { code: 'ERR_MEMORY' })
      opened.close()
    })

    it('in headers without an end', async () => {
      await start((request, response) => {
        const { socket } = response
        socket.write('HTTP/1.1 206 Partial Content\r\n')
        const more = () => {
          if (!socket.destroyed) {
            socket.write(`x: ${'y'.repeat(4096)}\r\n`, () => setImmediate(more))
          }
        }
        more()
      })
      await assert.rejects(all(), { code: 'ERR_IO' })
      assert.equal(server.asked.length, 1)
    })
  })

  it('that want to speak something else are ERR_IO', async () => {
    await start((request, response) =>
      response.socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
      ),
    )
    await assert.rejects(all({ retries: 0 }), { code: 'ERR_IO' })
  })

  it('are not read further than somebody waits', async () => {
    const long = Buffer.from(
      toSafetensorsBytes({
        a: arange(SIZE).astype('float32'),
        b: arange(2 ** 20).astype('float32'),
      }),
    )
    const stop = new AbortController()
    let closed
    const isClosed = new Promise((resolve) => {
      closed = resolve
    })
    await start((request, response, n) => {
      if (n === 0) return honest(long, request, response)
      const [from, end] = rangeOf(request, long.length)
      response.writeHead(206, {
        'content-range': `bytes ${from}-${end - 1}/${long.length}`,
        'content-length': end - from,
        etag: '"1"',
      })
      response.write(long.subarray(from, 2 ** 21)) // and never more
      response.on('close', closed)
    })
    const file = await fetchSafetensors(server.url, PATIENT)
    const b = assert.rejects(file.load('b', { signal: stop.signal }), { name: 'AbortError' })
    const a = await file.load('a', { onProgress: () => stop.abort() })
    assert.equal(a.get(SIZE - 1), SIZE - 1)
    await Promise.all([b, isClosed])
    file.close()
  })

  it('are asked nothing after close(), also where that is called by onProgress of what came with the header', async () => {
    await start((request, response) => honest(bytes, request, response))
    const file = await fetchSafetensors(server.url, PATIENT)
    await assert.rejects(file.load('a', { onProgress: () => file.close() }), {
      code: 'ERR_DISPOSED',
    })
    assert.equal(server.asked.length, 1)
  })

  describe('that are odd, but have the file', () => {
    const npz = Buffer.from(
      toNpzBytes({
        a: arange(SIZE).astype('float32'),
        b: arange(SIZE, 2 * SIZE).astype('float32'),
      }),
    )
    const [small, smallNpz] = [toSafetensorsBytes, toNpzBytes].map((toBytes) =>
      Buffer.from(toBytes({ a: arange(3), b: arange(7) })),
    )
    const isSmall = ({ a, b }) =>
      assert.deepEqual(
        [a.toArray(), b.toArray()],
        [
          [0, 1, 2],
          [0, 1, 2, 3, 4, 5, 6],
        ],
      )
    const byFetch = { 'by node:http': {}, 'by fetch': { fetch } }

    /** Sends the file whole, and does not say how long it is. */
    const chunked = (file, response) => {
      response.writeHead(200, { etag: '"1"', 'transfer-encoding': 'chunked' })
      for (let at = 0; at < file.length; at += 100000) {
        response.write(file.subarray(at, at + 100000))
      }
      response.end()
    }
    const lastOf = (request) => Number(/(\d*)$/.exec(request.headers.range)[0])

    for (const [way, how] of Object.entries(byFetch)) {
      describe(way, () => {
        if ('fetch' in how) needs('fetch from servers')
        for (const [format, open, file] of [
          ['safetensors', fetchSafetensors, small],
          ['npz', fetchNpz, smallNpz],
        ]) {
          for (const size of [true, false]) {
            it(`answer 416 to a range beyond the file, ${size ? 'with' : 'without'} its size: .${format}`, async () => {
              await start((request, response) => {
                const { range } = request.headers
                if (range === undefined) {
                  return response.writeHead(200, { 'content-length': file.length }).end(file)
                }
                if (range.startsWith('bytes=-') || lastOf(request) >= file.length) {
                  return response
                    .writeHead(416, size ? { 'content-range': `bytes */${file.length}` } : {})
                    .end('no such range')
                }
                honest(file, request, response)
              })
              const opened = await open(server.url, { ...PATIENT, ...how })
              isSmall(await opened.loadAll())
              assert.equal(server.asked.length, 2)
              assert.equal(server.asked[1], size ? `bytes=0-${file.length - 1}` : undefined)
            })
          }
        }

        it(`answer 416 to the end of a file, as ranges from the end are unknown to them`, async () => {
          await start((request, response) =>
            request.headers.range.startsWith('bytes=-')
              ? response.writeHead(416, { 'content-range': `bytes */${npz.length}` }).end()
              : honest(npz, request, response),
          )
          const file = await fetchNpz(server.url, { ...PATIENT, ...how })
          isRight(await file.loadAll())
          assert.equal(server.asked[1], `bytes=${npz.length - 2 ** 19}-${npz.length - 1}`)
        })

        it(`have no ranges, and do not say how long the file is`, async () => {
          await start((request, response) => chunked(bytes, response))
          isRight(await all(how))
          assert.equal(server.asked.length, 2)
          await start((request, response) => chunked(npz, response))
          const file = await fetchNpz(server.url, { ...PATIENT, ...how })
          isRight(await file.loadAll())
          for (const empty of [
            Buffer.alloc(0),
            small.subarray(0, -1),
            bytes.subarray(0, 2 ** 19),
          ]) {
            await start((request, response) => chunked(empty, response))
            await assert.rejects(all(how), { code: 'ERR_FORMAT' })
          }
        })

        it(`do so, and break off at first`, async () => {
          await start((request, response, n) => {
            if (n % 2 === 1) return chunked(bytes, response)
            response.writeHead(200, { 'transfer-encoding': 'chunked', etag: '"1"' })
            response.write(bytes.subarray(0, 700000), () => response.destroy())
          })
          isRight(await all(how))
        })

        it(`do so, and make the file shorter`, async () => {
          await start((request, response, n) =>
            chunked(n === 0 ? bytes : bytes.subarray(0, -4), response),
          )
          await assert.rejects(all({ ...how, retries: 0 }), { code: 'ERR_IO' })
        })

        for (const [what, more] of Object.entries({
          'one byte': () => 1,
          'all to the end': (from, end, length) => length - end,
        })) {
          for (const isSaid of [true, false]) {
            it(`send ${what} more than their Content-Range, ${isSaid ? 'and say how much' : 'chunked'}`, async () => {
              for (const [file, open, check] of [
                [bytes, fetchSafetensors, isRight],
                [npz, fetchNpz, isRight],
                [small, fetchSafetensors, isSmall],
                [smallNpz, fetchNpz, isSmall],
              ]) {
                await start((request, response) => {
                  if (request.headers.range === undefined) {
                    return response
                      .writeHead(200, { etag: '"1"', 'content-length': file.length })
                      .end(file)
                  }
                  const [from, end] = rangeOf(request, file.length)
                  const body = Buffer.concat([file, Buffer.alloc(1, 7)]).subarray(
                    from,
                    end + Math.max(1, more(from, end, file.length)),
                  )
                  response.writeHead(206, {
                    'content-range': `bytes ${from}-${end - 1}/${file.length}`,
                    etag: '"1"',
                    ...(isSaid
                      ? { 'content-length': body.length }
                      : { 'transfer-encoding': 'chunked' }),
                  })
                  response.end(body)
                })
                const opened = await open(server.url, { ...PATIENT, ...how })
                check(await opened.loadAll())
                assert.deepEqual(
                  server.asked.slice(1).filter((range) => range !== undefined),
                  [],
                )
              }
            })
          }
        }

        it(`send the whole file as every range`, async () => {
          for (const isSaid of [true, false]) {
            await start((request, response) => {
              const { range } = request.headers
              const [from, end] = rangeOf(request, bytes.length)
              const head =
                range === undefined
                  ? {}
                  : { 'content-range': `bytes ${from}-${end - 1}/${bytes.length}` }
              response.writeHead(range === undefined ? 200 : 206, {
                ...head,
                etag: '"1"',
                ...(isSaid || range === undefined
                  ? { 'content-length': bytes.length }
                  : { 'transfer-encoding': 'chunked' }),
              })
              response.end(bytes)
            })
            isRight(await all(how))
          }
        })

        it(`begin to do so when the header was read`, async () => {
          await start((request, response, n) => {
            const [from, end] = rangeOf(request, bytes.length)
            if (n === 0) return honest(bytes, request, response)
            response.writeHead(request.headers.range === undefined ? 200 : 206, {
              'content-range': `bytes ${from}-${end - 1}/${bytes.length}`,
              etag: '"1"',
              'content-length': bytes.length,
            })
            response.end(bytes)
          })
          isRight(await all(how))
          await start((request, response, n) => {
            const [from, end] = rangeOf(request, bytes.length)
            if (n === 0) return honest(bytes, request, response)
            response.writeHead(206, {
              'content-range': `bytes ${from}-${end - 1}/${bytes.length}`,
              etag: '"1"',
              'transfer-encoding': 'chunked',
            })
            response.end(bytes)
          })
          await assert.rejects(all(how), { code: 'ERR_FORMAT' })
        })
      })
    }
  })

  it('that compress are refused', async () => {
    await start((request, response) => {
      assert.equal(request.headers['accept-encoding'] ?? 'identity', 'identity')
      honest(bytes, request, response, { 'content-encoding': 'gzip' })
    })
    await assert.rejects(all(), { code: 'ERR_UNSUPPORTED', message: /gzip/ })
  })

  it('that refuse are ERR_IO with the status, at once', async () => {
    for (const [status, code] of [
      [401, 'ERR_IO'],
      [403, 'ERR_IO'],
      [404, 'ERR_NOT_FOUND'],
      [410, 'ERR_NOT_FOUND'],
      [204, 'ERR_IO'],
      [500, 'ERR_IO'],
    ]) {
      await start((request, response) => response.writeHead(status).end())
      await assert.rejects(all(), { code, status })
      assert.equal(server.asked.length, status === 500 ? 3 : 1)
      server.close()
    }
  })

  describe('that are slow', () => {
    it('end by the idle limit where nothing comes', async () => {
      await start(() => {})
      await assert.rejects(all(SILENT), { code: 'ERR_IO', message: /idleTimeout/ })
      assert.equal(server.asked.length, 2)
    })

    it('end by it where it drips', async () => {
      await start((request, response) => {
        const [from, end] = rangeOf(request, bytes.length)
        response.writeHead(206, {
          'content-range': `bytes ${from}-${end - 1}/${bytes.length}`,
          'content-length': end - from,
        })
        let at = from
        const timer = setInterval(() => response.write(bytes.subarray(at, ++at)), 20)
        response.on('close', () => clearInterval(timer))
      })
      await assert.rejects(all(SILENT), { code: 'ERR_IO', message: /idleTimeout/ })
      assert.equal(server.asked.length, 2)
    })

    it('end by it where each of many answers has one byte', async () => {
      await start((request, response) => {
        const [from] = rangeOf(request, bytes.length)
        setTimeout(
          () =>
            response
              .writeHead(206, {
                'content-range': `bytes ${from}-${from}/${bytes.length}`,
                'content-length': 1,
              })
              .end(bytes.subarray(from, from + 1)),
          100,
        )
      })
      await assert.rejects(all(SILENT), { code: 'ERR_IO', message: /idleTimeout/ })
      assert.ok(server.asked.length < 20, `${server.asked.length} requests`)
    })

    it('end by a signal while the next attempt is waited for', async () => {
      const stop = new AbortController()
      const reason = new Error('enough')
      await start((request, response) => {
        response.writeHead(503, { 'retry-after': '30' }).end()
        setTimeout(() => stop.abort(reason), 50)
      })
      await assert.rejects(all({ signal: stop.signal }), (error) => error === reason)
    })
  })

  describe('that redirect', () => {
    for (const [to, code] of [
      ['file:///etc/passwd', 'ERR_UNSUPPORTED'],
      ['data:,x', 'ERR_UNSUPPORTED'],
      ['ftp://localhost/a', 'ERR_UNSUPPORTED'],
      ['//user:secret@localhost:1/a', 'ERR_UNSUPPORTED'],
      ['http://[', 'ERR_FORMAT'],
      [undefined, 'ERR_FORMAT'],
      ['/a.safetensors', 'ERR_IO'],
    ]) {
      it(`to ${to}`, async () => {
        await start((request, response) =>
          response.writeHead(302, to === undefined ? {} : { location: to }).end(),
        )
        await assert.rejects(all(), { code })
        assert.ok(server.asked.length <= 11)
      })
    }

    it('are followed once, and again when the place is not valid any more', async () => {
      const paths = []
      let valid = 1
      await start((request, response) => {
        paths.push(request.url)
        if (request.url === '/a.safetensors') {
          response.writeHead(302, { location: `/signed?key=${valid}` }).end()
        } else if (request.url !== `/signed?key=${valid}`) response.writeHead(403).end()
        else honest(bytes, request, response)
      })
      const file = await fetchSafetensors(server.url, PATIENT)
      await file.load('b')
      assert.deepEqual(paths, ['/a.safetensors', '/signed?key=1', '/signed?key=1'])
      valid = 2
      await file.load('b')
      assert.deepEqual(paths.slice(3), ['/signed?key=1', '/a.safetensors', '/signed?key=2'])
      file.close()
    })

    it('are asked again when nobody is there any more', async () => {
      const edge = await startHostile((request, response) => honest(bytes, request, response))
      let isGone = false
      await start((request, response) =>
        isGone
          ? honest(bytes, request, response)
          : response.writeHead(302, { location: edge.url }).end(),
      )
      const file = await fetchSafetensors(server.url, PATIENT)
      edge.close()
      isGone = true
      await file.load('b')
      file.close()
    })
  })

  it("are asked by the caller's fetch", async function () {
    skipWithout(this, 'fetch from servers')
    await start((request, response) =>
      request.headers.authorization === 'Bearer x'
        ? honest(bytes, request, response)
        : response.writeHead(401).end(),
    )
    await assert.rejects(all({ fetch: (url, options) => fetch(url, options) }), {
      code: 'ERR_IO',
      status: 401,
    })
    const seen = []
    isRight(
      await all({
        fetch(url, options) {
          seen.push(url)
          return fetch(url, {
            ...options,
            headers: { ...options.headers, authorization: 'Bearer x' },
          })
        },
      }),
    )
    assert.ok(seen.every((url) => url === server.url))
    await assert.rejects(all({ fetch: () => ({}) }), { code: 'ERR_ARGUMENT' })
    const cause = new Error('no proxy')
    await assert.rejects(
      all({
        fetch: async () => {
          throw cause
        },
      }),
      (error) => error.code === 'ERR_IO' && error.cause === cause,
    )
  })

  it('by fetch give the same errors', async function () {
    skipWithout(this, 'fetch from servers')
    const given = { fetch: (url, options) => fetch(url, options) }
    await start((request, response, n) =>
      honest(bytes, request, response, n === 0 ? {} : { etag: '"2"' }),
    )
    await assert.rejects(all(given), { code: 'ERR_STALE' })
    server.close()
    await start((request, response, n) =>
      n === 0 ? honest(bytes, request, response) : response.destroy(),
    )
    await assert.rejects(all(given), { code: 'ERR_IO' })
    server.close()
    await start(() => {})
    await assert.rejects(all({ ...given, ...SILENT, retries: 0 }), {
      code: 'ERR_IO',
      message: /idleTimeout/,
    })
    server.close()
    const stop = new AbortController()
    await start(() => stop.abort())
    await assert.rejects(all({ ...given, signal: stop.signal }), { name: 'AbortError' })
  })

  it('that break off in the end of an .npz are asked again', async () => {
    const npz = Buffer.from(toNpzBytes({ a: arange(10) }))
    await start((request, response, n) =>
      n === 0 ? response.destroy() : honest(npz, request, response),
    )
    const file = await fetchNpz(server.url, PATIENT)
    assert.deepEqual((await file.load('a')).toArray(), arange(10).toArray())
    file.close()
  })

  it('that nobody listens on', async () => {
    const closed = await new Promise((resolve) => {
      const one = http.createServer().listen(0, '127.0.0.1', () => {
        const { port } = one.address()
        one.close(() => resolve(port))
      })
    })
    await assert.rejects(fetchSafetensors(`http://127.0.0.1:${closed}/a`, { retries: 0 }), {
      code: 'ERR_IO',
      message: /ECONNREFUSED/,
    })
  })

  it('leave nothing behind', () => {
    assert.equal(memory().inFlight ?? 0, 0)
  })
})
