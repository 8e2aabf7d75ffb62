'use strict'
// Other versions of NATS' client than that of devDependencies, from npm: package.json allows them, and the tests of messages, services and the store pass with them.
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { HANG_MS } = require('../hang')
const { needs } = require('../setup')

const ROOT = path.join(__dirname, '..', '..')
const FILES = ['messages', 'publish', 'serve', 'store', 'subscribe', 'transport', 'ways']
const SERVICES = '3.0.0-25'
const SETS = [
  { title: '3.0.2', node: '3.0.2', jetstream: '3.0.2' },
  { title: '3.3.1', node: '3.3.1', jetstream: '3.3.1' },
  {
    title: '3.1.0 beside another version of jetstream',
    node: '3.1.0',
    jetstream: '3.0.2',
    files: ['publish', 'store', 'store-failures', 'transport'],
  },
  {
    title: 'the newest 3.x',
    node: '3',
    jetstream: '3',
    services: '>=3.0.0-25',
    files: FILES.filter((name) => name !== 'transport'),
  }, // whose insides may be others
]

/** @param {string} program @param {string[]} words @param {import('node:child_process').SpawnSyncOptions} options */
function run(program, words, options) {
  const { status, stdout, stderr, error } = spawnSync(program, words, {
    encoding: 'utf8',
    timeout: HANG_MS,
    ...options,
  })
  assert.equal(status, 0, `${error ?? ''}${stdout}${stderr}`.slice(-6000))
  return stdout
}

describe("NATS: the client's packages", () => {
  needs('nats-server')
  needs('npm')
  let scratch
  before(() => {
    scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-nats-')))
  })
  after(() => {
    if (scratch) fs.rmSync(scratch, { recursive: true, force: true })
  })

  SETS.forEach(({ title, node, jetstream, services = SERVICES, files = FILES }, i) =>
    describe(title, () => {
      let folder
      const envOf = () => ({
        ...process.env,
        SAMEBYTES_NATS_CLIENT: folder,
        NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --require=${path.join(__dirname, 'other-client.js')}`,
      })

      it('are installed beside samebytes', () => {
        folder = path.join(scratch, `${i}`)
        const {
          name,
          version,
          peerDependencies,
          peerDependenciesMeta,
        } = require('../../package.json')
        fs.mkdirSync(path.join(folder, 'samebytes'), { recursive: true })
        fs.writeFileSync(
          path.join(folder, 'samebytes', 'package.json'),
          JSON.stringify({ name, version, peerDependencies, peerDependenciesMeta }),
        )
        fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }')
        const wanted = [
          `transport-node@${node}`,
          `jetstream@${jetstream}`,
          `obj@${jetstream}`,
          `services@${services}`,
        ].map((each) => `@nats-io/${each}`)
        run(
          'npm',
          [
            'install',
            '--install-links',
            '--ignore-scripts',
            '--no-audit',
            '--no-fund',
            '--loglevel=error',
            './samebytes',
            ...wanted,
          ],
          { cwd: folder },
        )
      })

      it('send in place where the version is known, and `bus.stats()` says so', () => {
        const program = `
        const { transport, tensors } = require('samebytes/nats')
        const { startServer } = require('./test/nats/server')
        ;(async () => {
          const server = await startServer()
          const told = []
          for (const connect of [transport.connect, require('@nats-io/transport-node').connect]) {
            const connection = await connect({ servers: server.url })
            told.push(tensors(connection).stats())
            await connection.close()
          }
          await server.stop()
          console.log(JSON.stringify(told))
        })()`
        const { version: clientVersion } = JSON.parse(
          fs.readFileSync(
            path.join(folder, 'node_modules', '@nats-io', 'transport-node', 'package.json'),
            'utf8',
          ),
        )
        const isKnown = /^3\.[0-4]\.\d+$/.test(clientVersion)
        assert.deepEqual(
          JSON.parse(run(process.execPath, ['-e', program], { cwd: ROOT, env: envOf() })),
          [
            { transport: isKnown ? 'in-place' : 'client', clientVersion },
            { transport: 'client', clientVersion },
          ],
        )
      })

      it(`pass the tests of ${files.join(', ')}`, () => {
        const words = [
          require.resolve('mocha/bin/mocha.js'),
          '--reporter',
          'dot',
          ...files.map((name) => `test/nats/${name}.test.js`),
        ]
        const passed = Number(
          /(\d+) passing/.exec(run(process.execPath, words, { cwd: ROOT, env: envOf() }))?.[1],
        )
        assert.ok(passed >= 20, `${passed}`)
      })
    }),
  )
})
