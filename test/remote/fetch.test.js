'use strict'
// A fetch of the caller's that does what no fetch does: typed errors, an end, and nothing read that is not there.
const assert = require('node:assert/strict')
const { arange, fetchSafetensors, toSafetensorsBytes } = require('samebytes')
const { rangeOf } = require('./hostile-server')

const PATIENT = { retries: 1, idleTimeout: 1e9 } // a busy machine is no silent server
const SILENT = { idleTimeout: 200 }
const SIZE = 2 ** 18

describe("a fetch of the caller's", function () {
  const bytes = Buffer.from(toSafetensorsBytes({ a: arange(SIZE).astype('float32') }))
  const URL_OF_NONE = 'http://none.invalid/a.safetensors'

  /** An answer as it should be, whose body is other. */
  function answer(options, body) {
    const [from, end] = rangeOf(options, bytes.length)
    return {
      status: 206,
      headers: new Headers({ 'content-range': `bytes ${from}-${end - 1}/${bytes.length}` }),
      body: body(bytes.subarray(from, end)),
    }
  }
  const streamOf = (...pieces) =>
    new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece)
        controller.close()
      },
    })

  async function read(fetch, options = {}) {
    const file = await fetchSafetensors(URL_OF_NONE, { ...PATIENT, ...options, fetch })
    const a = await file.load('a')
    file.close()
    return a.get(SIZE - 1)
  }

  const NONSENSE = {
    'what is no Response': [() => 5, 'ERR_ARGUMENT'],
    'headers that are no text': [
      () => ({ status: 206, headers: { get: () => 5 } }),
      'ERR_ARGUMENT',
    ],
    'headers that are undefined': [() => ({ status: 206, headers: { get() {} } }), 'ERR_ARGUMENT'],
    'a body that is no stream': [(_, options) => answer(options, (part) => part), 'ERR_ARGUMENT'],
    'a body that is read elsewhere': [
      (_, options) =>
        answer(options, (part) => {
          const body = streamOf(part)
          body.getReader()
          return body
        }),
      'ERR_ARGUMENT',
    ],
    'no body': [(_, options) => answer(options, () => null), 'ERR_IO'],
    'pieces that are no bytes': [
      (_, options) => answer(options, () => streamOf('text')),
      'ERR_FORMAT',
    ],
    'pieces that are empty, without an end': [
      (_, options) =>
        answer(
          options,
          () => new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(0)) }),
        ),
      'ERR_IO',
    ],
    'a reader that gives nothing': [
      (_, options) =>
        answer(options, () => ({
          getReader: () => ({
            read() {},
            cancel() {
              throw new Error('no')
            },
          }),
        })),
      'ERR_ARGUMENT',
    ],
    'a reader without buffers that gives nothing': [
      (_, options) =>
        answer(options, () => ({
          getReader(mode) {
            if (mode !== undefined) throw new TypeError('no')
            return { read() {}, cancel() {} }
          },
        })),
      'ERR_ARGUMENT',
    ],
    'a stream that gives no reader': [
      (_, options) =>
        answer(options, () => ({
          getReader() {
            throw new Error('no')
          },
        })),
      'ERR_IO',
    ],
    'a Response whose status throws': [
      () => ({
        get status() {
          throw new Error('no')
        },
      }),
      'ERR_IO',
    ],
    'headers that throw': [
      () => ({
        status: 206,
        headers: {
          get() {
            throw new Error('no')
          },
        },
      }),
      'ERR_IO',
    ],
    'headers once, and nothing the next time': [
      () => ({
        status: 206,
        n: 0,
        get headers() {
          return this.n++ === 0 ? new Headers() : undefined
        },
      }),
      'ERR_UNSUPPORTED',
    ],
    'a reader that never gives anything': [
      (_, options) =>
        answer(options, () => ({
          getReader: () => ({
            read: () => new Promise(() => {}),
            cancel: () => new Promise(() => {}),
          }),
        })),
      'ERR_IO',
    ],
    'an error without text': [
      async () => {
        throw Object.create(null)
      },
      'ERR_IO',
    ],
    'an error whose text throws': [
      async () => {
        throw Object.defineProperty(new Error('no'), 'message', {
          get() {
            throw new Error('no')
          },
        })
      },
      'ERR_IO',
    ],
    'an error at once': [
      () => {
        throw new TypeError('no')
      },
      'ERR_IO',
    ],
    'a promise that never settles': [() => new Promise(() => {}), 'ERR_IO'],
  }
  for (const [what, [fetch, code]] of Object.entries(NONSENSE)) {
    it(`that gives ${what} is ${code}`, () =>
      assert.rejects(read(fetch, code === 'ERR_IO' ? SILENT : {}), { code }))
  }

  it('is not believed about the length of its pieces', async () => {
    class Liar extends Uint8Array {
      get length() {
        return 2 ** 30
      }
      subarray() {
        return /** @type {any} */ ({ length: 2 ** 30 })
      }
    }
    assert.equal(
      await read((_, options) => answer(options, (part) => streamOf(new Liar(part)))),
      SIZE - 1,
    )
  })

  it('that knows no signal is not waited for, and what it gives later is cancelled', async () => {
    const stop = new AbortController()
    const reason = new Error('enough')
    let give
    const opening = fetchSafetensors(URL_OF_NONE, {
      fetch: () =>
        new Promise((resolve) => {
          give = resolve
          stop.abort(reason)
        }),
      signal: stop.signal,
    })
    await assert.rejects(opening, (error) => error === reason)
    await new Promise((resolve) =>
      give({ status: 206, headers: new Headers(), body: { cancel: resolve } }),
    )
  })

  it('has the body cancelled of an answer that is refused', async () => {
    let give
    const cancelled = new Promise((resolve) => {
      give = resolve
    })
    await assert.rejects(
      read(() => ({
        status: 404,
        headers: new Headers(),
        body: new ReadableStream({ cancel: give }),
      })),
      { code: 'ERR_NOT_FOUND' },
    )
    await cancelled
  })
})
