'use strict'
// samebytes nats: put, get and serve, each a process.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { execFile, spawn } = require('node:child_process')
const { once } = require('node:events')
const { connect, nkeys } = require('@nats-io/transport-node')
const { ones, openSafetensors, rand, saveSafetensorsSync } = require('samebytes')
const { tensors } = require('samebytes/nats')
const { ADD } = require('../models')
const { needs, skipWithout } = require('../setup')
const { makeCertificates } = require('./certificates')
const { startServer } = require('./server')

const PROGRAM = path.join(__dirname, '..', '..', 'js', 'cli', 'samebytes.js')

describe('NATS: the command line', () => {
  needs('nats-server')
  let server, folder, connection
  before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-nats-cli-'))
    server = await startServer({ jetstream: true })
    connection = await connect({ servers: server.url })
  })
  after(async () => {
    await connection?.close()
    await server?.stop()
    if (folder) fs.rmSync(folder, { recursive: true, force: true })
  })

  const args = (...given) => [PROGRAM, 'nats', ...given, '--server', server.url]
  const run = (...given) =>
    new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        args(...given),
        { cwd: folder },
        (error, stdout, stderr) => resolve({ code: error ? child.exitCode : 0, stdout, stderr }),
      )
    })

  it('puts a file and gets it back', async () => {
    saveSafetensorsSync(path.join(folder, 'a.safetensors'), { w: rand([100, 100]) })
    const put = await run('put', 'a.safetensors')
    assert.equal(put.code, 0, put.stderr)
    assert.match(put.stderr, /a\.safetensors .*SHA-256=/)
    const got = await run('get', 'a.safetensors', 'b.safetensors')
    assert.equal(got.code, 0, got.stderr)
    assert.deepEqual(
      fs.readFileSync(path.join(folder, 'b.safetensors')),
      fs.readFileSync(path.join(folder, 'a.safetensors')),
    )
    assert.deepEqual(openSafetensors(path.join(folder, 'b.safetensors')).get('w').shape, [100, 100])
  })

  it('says what is not there', async () => {
    const got = await run('get', 'none.npy')
    assert.equal(got.code, 1)
    assert.match(got.stderr, /none\.npy.*ERR_NOT_FOUND/)
    assert.equal(fs.existsSync(path.join(folder, 'none.npy')), false)
    const wrong = await run('srve')
    assert.equal(wrong.code, 2)
    assert.match(wrong.stderr, /did you mean serve\?/)
  })

  it('says that a server is not there', async () => {
    const child = execFile(process.execPath, [
      PROGRAM,
      'nats',
      'get',
      'a.npy',
      '--server',
      '127.0.0.1:1',
    ])
    const [code] = await once(child, 'exit')
    assert.equal(code, 1)
  })

  it('connects over TLS, as a user with a password or an NKEY', async function () {
    skipWithout(this, 'openssl')
    saveSafetensorsSync(path.join(folder, 'b.safetensors'), { w: rand([10, 10]) })
    makeCertificates(folder, ['server', 'client'])
    const pair = nkeys.createUser()
    fs.writeFileSync(path.join(folder, 'user.seed'), `${Buffer.from(pair.getSeed())}\n`)
    const file = (name) => path.join(folder, `${name}.pem`)
    const config = `tls { cert_file: "${file('server')}", key_file: "${file('server-key')}", ca_file: "${file('ca')}", verify: true }
authorization { users = [{ user: worker, password: secret }, { nkey: ${pair.getPublicKey()} }] }`
    const safe = await startServer({ config, jetstream: true })
    const tls = ['--tlsca', 'ca.pem', '--tlscert', 'client.pem', '--tlskey', 'client-key.pem']
    const put = (given, env) =>
      new Promise((resolve) => {
        const child = execFile(
          process.execPath,
          [PROGRAM, 'nats', 'put', 'b.safetensors', '--server', `localhost:${safe.port}`, ...given],
          { cwd: folder, env: { ...process.env, ...env } },
          (error, stdout, stderr) => resolve([error ? child.exitCode : 0, stderr]),
        )
      })
    try {
      for (const [given, env, code, said] of [
        [[...tls, '--user', 'worker'], { NATS_PASSWORD: 'secret' }, 0, /SHA-256=/],
        [tls, { NATS_USER: 'worker', NATS_PASSWORD: 'secret' }, 0, /SHA-256=/],
        [[...tls, '--nkey', 'user.seed'], {}, 0, /SHA-256=/],
        [[...tls, '--user', 'worker'], { NATS_PASSWORD: 'wrong' }, 1, /Authorization Violation/],
        [[...tls, '--nkey', 'none.seed'], {}, 1, /none\.seed/],
        [['--tlscert', 'client.pem'], {}, 2, /--tlscert and --tlskey belong together/],
        [['--user', 'a', '--nkey', 'user.seed'], {}, 2, /--user and --nkey name a user each/],
      ]) {
        const got = await put(given, env)
        assert.equal(got[0], code, got[1])
        assert.match(got[1], said)
      }
    } finally {
      await safe.stop()
    }
  })

  it('serves a model', async () => {
    fs.writeFileSync(path.join(folder, 'add.onnx'), ADD)
    const service = spawn(process.execPath, args('serve', 'add.onnx', 'models.add'), {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const said = once(service.stderr, 'data')
    assert.match(String((await said)[0]), /add\.onnx answers models\.add/)
    const { c } = await tensors(connection).request('models.add', {
      a: ones([2, 3]),
      b: ones([2, 3]),
    })
    assert.deepEqual(c.toArray(), [
      [2, 2, 2],
      [2, 2, 2],
    ])
    service.kill('SIGINT')
    assert.deepEqual(await once(service, 'exit'), [0, null])
  })
})
