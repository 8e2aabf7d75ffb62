'use strict'
// The users of docs/machines.md, as a server has them, by password, NKEY or JWT, over TLS: each may do its part, and no more.

const assert = require('node:assert/strict')
const { randomBytes } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { jetstream, jetstreamManager } = require('@nats-io/jetstream')
const { connect, credsAuthenticator, nkeyAuthenticator, nkeys } = require('@nats-io/transport-node')
const { ones } = require('samebytes')
const { tensors } = require('samebytes/nats')
const { needs } = require('../setup')
const { makeCertificates } = require('./certificates')
const { startServer } = require('./server')

const PAGE = fs.readFileSync(path.join(__dirname, '..', '..', 'docs', 'machines.md'), 'utf8')
const NAMES = ['camera', 'caller', 'worker']
const HAS_STREAMS = ['passwords', 'NKEYs'] // with JWTs JetStream wants an account of the system as well

/** A part of the page's configurations. */
const part = (pattern) => pattern.exec(PAGE)[0]
const TLS = part(/^tls \{.*\}$/m)
/** Permissions that a sentence of the page gives to a user, besides. */
const more = (pattern) =>
  pattern
    .exec(PAGE)[1]
    .match(/"[^"]+"/g)
    .join(', ')
const USERS = part(/^authorization \{[^]*?^\}/m)
  .replace('publish: ["_INBOX.>"]', `publish: ["_INBOX.>", ${more(/workers publish to (.*?),/)}]`)
  .replace('subscribe: ["models.>"', `subscribe: [${more(/and subscribe to (.*?);/)}, "models.>"`)
const OPERATOR = part(/^operator: [^]*?^resolver_preload .*$/m)

/** What a user may publish and subscribe to. */
function permissionsOf(name) {
  const [, publish, subscribe] = new RegExp(
    `user: ${name},.*publish: (\\[.*?\\]), subscribe: (\\[.*?\\])`,
  ).exec(USERS)
  return { pub: { allow: JSON.parse(publish) }, sub: { allow: JSON.parse(subscribe) } }
}

const byName = (of) => Object.fromEntries(NAMES.map((name) => [name, of(name)]))
const variables = (values) =>
  Object.entries(values)
    .map(([name, value]) => `${name.toUpperCase()}: "${value}"`)
    .join('\n')

/** @returns {{ config: string, options: Record<string, object>, wrong: object }} with passwords */
function passwords() {
  const secrets = byName(() => randomBytes(9).toString('hex'))
  return {
    config: `${variables(secrets)}\n${USERS}`,
    options: byName((user) => ({ user, pass: secrets[user] })),
    wrong: { user: 'camera', pass: 'wrong' },
  }
}

/** The same with `nkey: $CAMERA` in place of name and password, as the page says. */
function keys() {
  const pairs = byName(() => nkeys.createUser())
  const users = USERS.replace(/user: \w+, password: (\$\w+)/g, 'nkey: $1')
  assert.equal(users.includes('password'), false)
  return {
    config: `${variables(byName((name) => pairs[name].getPublicKey()))}\n${users}`,
    options: byName((name) => ({ authenticator: nkeyAuthenticator(pairs[name].getSeed()) })),
    wrong: { authenticator: nkeyAuthenticator(nkeys.createUser().getSeed()) },
  }
}

/** A JWT as NATS has them. */
function tokenOf(signer, subject, name, nats) {
  const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    jti: randomBytes(16).toString('hex'),
    iat: Math.floor(Date.now() / 1000),
    iss: signer.getPublicKey(),
    name,
    sub: subject.getPublicKey(),
    nats: { ...nats, version: 2 },
  }
  const text = `${encoded({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encoded(claims)}`
  return `${text}.${Buffer.from(signer.sign(Buffer.from(text))).toString('base64url')}`
}

/** The page's configuration with an operator, who signs accounts, which sign users. */
function tokens(folder) {
  const [operator, account] = [nkeys.createOperator(), nkeys.createAccount()]
  const limits = {
    subs: -1,
    conn: -1,
    leaf: -1,
    imports: -1,
    exports: -1,
    data: -1,
    payload: -1,
    wildcards: true,
  }
  fs.writeFileSync(
    path.join(folder, 'operator.jwt'),
    tokenOf(operator, operator, 'operator', { type: 'operator' }),
  )
  const config = OPERATOR.replace('operator.jwt', path.join(folder, 'operator.jwt'))
    .replace('ACCOUNT_JWT', tokenOf(operator, account, 'models', { type: 'account', limits }))
    .replace('ACCOUNT', account.getPublicKey())
  const credentials = (signer, name) => {
    const user = nkeys.createUser()
    const token = tokenOf(signer, user, name, {
      type: 'user',
      subs: -1,
      data: -1,
      payload: -1,
      ...permissionsOf(name),
    })
    const file = `-----BEGIN NATS USER JWT-----\n${token}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${Buffer.from(user.getSeed())}\n------END USER NKEY SEED------\n`
    return { authenticator: credsAuthenticator(Buffer.from(file)) }
  }
  return {
    config,
    options: byName((name) => credentials(account, name)),
    wrong: credentials(nkeys.createAccount(), 'camera'),
  }
}

for (const [what, make] of Object.entries({ passwords, NKEYs: keys, JWTs: tokens })) {
  describe(`NATS: users with ${what}, as the guide has them`, () => {
    needs('nats-server')
    needs('openssl')
    let server
    let folder
    let options
    let wrong
    const connections = []
    const pem = (name) => path.join(folder, `${name}.pem`)
    before(async function () {
      folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-nats-'))
      makeCertificates(folder, ['server', 'client'])
      const made = make(folder)
      ;({ options, wrong } = made)
      server = await startServer({
        jetstream: HAS_STREAMS.includes(what),
        config: `${TLS.replace(/"([\w-]+\.pem)"/g, `"${folder}/$1"`)}\n${made.config}`,
      })
    })
    afterEach(async () => {
      for (const each of connections.splice(0)) await each.close()
    })
    after(async () => {
      await server?.stop()
      if (folder) fs.rmSync(folder, { recursive: true, force: true })
    })

    const connectWith = (given) =>
      connect({
        servers: `localhost:${server.port}`,
        maxReconnectAttempts: 0,
        tls: { caFile: pem('ca'), certFile: pem('client'), keyFile: pem('client-key') },
        ...given,
      })
    const as = async (name) => {
      const connection = await connectWith(options[name])
      connections.push(connection)
      return tensors(connection)
    }
    const codeOf = (promise) =>
      promise.then(
        () => 'none',
        (error) => error.code,
      )

    it('let callers ask and workers serve, by bytes and by shared memory', async () => {
      const [worker, caller] = [await as('worker'), await as('caller')]
      const service = await worker.serve((x) => x.clone(), 'models.copies')
      for (const n of [4, 2 ** 17]) {
        assert.deepEqual((await caller.request('models.copies', ones([n]))).shape, [n])
      }
      await service.drain()
    })

    if (HAS_STREAMS.includes(what)) {
      it('let workers take what callers put into a stream', async () => {
        const [worker, caller] = [await as('worker'), await as('caller')]
        const { streams, consumers } = await jetstreamManager(worker.connection)
        await streams.add({ name: 'JOBS', subjects: ['models.jobs'], retention: 'workqueue' })
        await consumers.add('JOBS', { durable_name: 'workers', ack_policy: 'explicit' })
        await caller.publish('models.jobs', ones([4]), { stream: 'JOBS' })
        const message = await (
          await jetstream(worker.connection).consumers.get('JOBS', 'workers')
        ).next()
        assert.equal(message.headers.get('Tensor-Shape'), '4')
        assert.equal(await message.ackAck(), true)
        assert.equal((await streams.info('JOBS')).state.messages, 0)
      })
    }

    it('let cameras publish, and refuse what is not their part', async () => {
      const [camera, caller] = [await as('camera'), await as('caller')]
      await camera.publish('cam.1', ones([4]))
      assert.equal(await codeOf(camera.publish('models.copies', ones([4]))), 'ERR_REMOTE')
      assert.equal(await codeOf(caller.publish('cam.1', ones([4]))), 'ERR_REMOTE')
      assert.equal(await codeOf(camera.request('models.copies', ones([4]))), 'ERR_REMOTE')
    })

    it('let nobody serve what is not their part: serve rejects, and nothing of it remains', async () => {
      const [worker, camera, caller] = [await as('worker'), await as('camera'), await as('caller')]
      const refusal = {
        name: 'SamebytesError',
        code: 'ERR_REMOTE',
        remoteCode: 'PERMISSIONS_VIOLATION',
        message:
          /^the server allows no service of \S+: Permissions Violation for Subscription to "/,
      }
      for (const [bus, subject] of [
        [worker, 'other.copies'],
        [camera, 'cam.1'],
        [caller, 'models.copies'],
      ]) {
        await assert.rejects(
          bus.serve((x) => x.clone(), subject),
          refusal,
        )
      }
      assert.equal(await codeOf(caller.request('models.copies', ones([4]))), 'ERR_NO_RESPONDERS')
      const service = await worker.serve((x) => x.clone(), 'models.copies') // the connection serves what it may
      assert.deepEqual((await caller.request('models.copies', ones([4]))).shape, [4])
      await service.drain()
    })

    it('let nobody in who is not among them, or whose certificate the CA has not signed', async () => {
      await assert.rejects(connectWith(wrong), { name: 'AuthorizationError' })
      await assert.rejects(connectWith({}), { name: 'AuthorizationError' })
      await assert.rejects(
        connectWith({ ...options.camera, tls: { caFile: pem('ca') }, timeout: 2000 }),
      ) // by the server's alert or, where the client misses it, in time
    })
  })
}
