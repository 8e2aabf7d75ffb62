'use strict'
// Files at https URLs, of nginx with a certificate by a CA that only the tests know.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const https = require('node:https')
const os = require('node:os')
const path = require('node:path')
const { Readable } = require('node:stream')
const { arange, fetchNpy, fetchSafetensors, toNpyBytes, toSafetensorsBytes } = require('samebytes')
const { makeCertificates } = require('../nats/certificates')
const { cli } = require('../cli/cli')
const { needs } = require('../setup')
const { startNginx } = require('./nginx')

const N = 2 ** 18 // float32: two thirds of such a file come after the first request

describe('files at https URLs', function () {
  needs('nginx')
  needs('openssl')
  let folder
  let ca
  let server
  let url
  before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-tls-'))
    makeCertificates(folder, ['server'])
    const read = (name) => fs.readFileSync(path.join(folder, name), 'utf8')
    ca = read('ca.pem')
    server = await startNginx({
      tls: { cert: read('server.pem'), key: read('server-key.pem') },
      config: `location /moved/ { rewrite ^/moved/(.*)$ /$1 redirect; }
        location /down/ { return 302 http://127.0.0.1:9/a.npy; }`,
    })
    url = server.write(
      'two.safetensors',
      Buffer.from(
        toSafetensorsBytes({
          a: arange(N).astype('float32'),
          b: arange(N, 2 * N).astype('float32'),
        }),
      ),
    )
    server.write('a.npy', Buffer.from(toNpyBytes(arange(3))))
  })
  after(async () => {
    await server?.stop()
    if (folder) fs.rmSync(folder, { recursive: true, force: true })
  })

  /** A fetch that trusts the CA, by node:https. */
  const trusting = (url, { headers, signal }) =>
    new Promise((resolve, reject) => {
      https
        .get(url, { headers, signal, ca }, (response) =>
          resolve(
            new Response(Readable.toWeb(response), {
              status: response.statusCode,
              headers: response.headers,
            }),
          ),
        )
        .on('error', reject)
    })

  /** Whether all of the file came. */
  async function isRight(file) {
    const { a, b } = await file.loadAll()
    assert.deepEqual([a.get(N - 1), b.get(0), b.get(N - 1)], [N - 1, N, 2 * N - 1])
    file.close()
  }

  it('of a server that nobody here knows are ERR_IO at once', async () => {
    await assert.rejects(
      fetchSafetensors(url),
      (error) =>
        error.code === 'ERR_IO' &&
        /certificate/.test(error.message) &&
        error.cause instanceof Error,
    )
    let n = 0
    await assert.rejects(
      fetchSafetensors(url, {
        fetch: (url, options) => {
          n++
          return fetch(url, options)
        },
      }),
      { code: 'ERR_IO', message: /certificate/ },
    )
    assert.equal(n, 1)
  })

  it('are read where NODE_EXTRA_CA_CERTS names its CA', async () => {
    const unknown = await cli(['info', url])
    assert.deepEqual([unknown.code, unknown.stdout], [1, ''])
    assert.match(unknown.stderr, /certificate.*\(ERR_IO\)/)
    const { code, stdout, stderr } = await cli(['show', `${url}:b`, '-1'], {
      env: { NODE_EXTRA_CA_CERTS: path.join(folder, 'ca.pem') },
    })
    assert.deepEqual([code, stderr], [0, ''])
    assert.ok(stdout.includes(String(2 * N - 1)), stdout)
  })

  it("are read by a fetch of the caller's that knows it", async () => {
    await isRight(await fetchSafetensors(url, { fetch: trusting }))
  })

  describe('where the process knows it', () => {
    const { options } = https.globalAgent
    before(() => {
      options.ca = ca
    })
    after(() => {
      delete options.ca
    })

    it('are read, also of another place', async () => {
      await isRight(await fetchSafetensors(url))
      await isRight(await fetchSafetensors(url.replace('/two', '/moved/two')))
    })

    it('are not read without TLS, wherever the server sends us', async () => {
      await assert.rejects(fetchNpy(`${server.url}/down/a.npy`), {
        code: 'ERR_UNSUPPORTED',
        message: /redirected to a URL of http:; https: was expected/,
      })
    })
  })
})
