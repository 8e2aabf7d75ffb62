'use strict'
// samebytes nats: models as services, and files in the object store.

const fs = require('node:fs')
const path = require('node:path')
const { failure } = require('../base/errors')
const { integer } = require('../base/validate')
const { withFileName } = require('../files/system-errors')
const { peer } = require('../nats/peers')
const { UsageError, didYouMean } = require('./arguments')
const { note, plain, size, styled, progress } = require('./output')

/** @typedef {import('./arguments').Given} Given */
/** @typedef {Record<string, any>} Values */

const DEFAULT_SERVER = '127.0.0.1:4222'
const DEFAULT_BUCKET = 'tensors'

/** Subcommands: what is behind their names, at least and at most. @type {Record<string, { run: (values: Values, operands: string[]) => Promise<void>, count: [number, number], operands: string }>} */
const subcommands = {
  serve: { run: serveModel, count: [2, 2], operands: 'MODEL SUBJECT' },
  put: { run: putFile, count: [1, 2], operands: 'FILE [NAME]' },
  get: { run: getFile, count: [1, 2], operands: 'NAME [FILE]' },
}

/** @param {Given} given */
async function nats({ values, operands: [what, ...rest] }) {
  const found = Object.hasOwn(subcommands, what) ? subcommands[what] : undefined
  if (found === undefined) {
    throw new UsageError(
      `there is no samebytes nats ${plain(what)}${didYouMean(what, Object.keys(subcommands))}`,
    )
  }
  const [least, most] = found.count
  if (rest.length < least || rest.length > most) {
    throw new UsageError(
      `samebytes nats ${what} takes ${found.operands}; ${rest.length} operands were given`,
    )
  }
  await found.run(values, rest)
}

/** Who connects, for the client. @param {Values} values */
function identityOf({ user = process.env.NATS_USER, creds, nkey }) {
  const { credsAuthenticator, nkeyAuthenticator } = peer('transport-node')
  const given = Object.entries({ user: user || undefined, creds, nkey })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => `--${name}`)
  if (given.length > 1) {
    throw new UsageError(`${given.join(' and ')} name a user each; one of them was expected`)
  }
  if (creds !== undefined) return { authenticator: credsAuthenticator(readContent(creds)) }
  if (nkey !== undefined) {
    return { authenticator: nkeyAuthenticator(Buffer.from(readContent(nkey).toString().trim())) }
  }
  return user ? { user, pass: process.env.NATS_PASSWORD ?? '' } : {}
}

/** @param {Values} values @returns {{ tls?: Record<string, string> }} */
function tlsOf({ tlsca, tlscert, tlskey }) {
  if ((tlscert === undefined) !== (tlskey === undefined)) {
    throw new UsageError('--tlscert and --tlskey belong together')
  }
  const files = Object.entries({ ca: tlsca, cert: tlscert, key: tlskey }).filter(
    ([, file]) => file !== undefined,
  )
  return files.length === 0
    ? {}
    : { tls: Object.fromEntries(files.map(([name, file]) => [name, readContent(file).toString()])) }
}

/** @param {string} file @throws ERR_IO · ERR_NOT_FOUND */
const readContent = (file) => withFileName(file, () => fs.readFileSync(file))

/** @param {Values} values @param {(connection: any) => Promise<void>} use */
async function withConnection(values, use) {
  const { transport } = require('../nats')
  const servers = String(values.server ?? process.env.NATS_URL ?? DEFAULT_SERVER).split(',')
  const options = { servers, name: 'samebytes', ...identityOf(values), ...tlsOf(values) }
  let connection
  try {
    connection = await transport.connect(options)
  } catch (/** @type {any} */ error) {
    throw failure(
      'ERR_DISCONNECTED',
      `no connection to ${plain(servers.join(', '))}: ${plain(String(error?.message ?? error))}`,
    )
  }
  try {
    await use(connection)
  } finally {
    await connection.close()
  }
}

/** @param {string} name @param {string | undefined} text @param {number} least */
function integerOption(name, text, least) {
  if (text === undefined) return undefined
  const n = Number(text)
  if (!/^\d+$/.test(text) || n < least) {
    throw new UsageError(
      `--${name} is ${JSON.stringify(plain(text))}; a whole number of at least ${least} was expected`,
    )
  }
  return integer(name, n)
}

// ---- serve ----

/** @param {Values} values @param {string[]} operands */
async function serveModel(values, [file, subject]) {
  const { Module } = require('../module')
  const { tensors } = require('../nats')
  const max = integerOption('batch', values.batch, 1)
  const wait = integerOption('wait', values.wait, 0)
  const batch = max === undefined ? undefined : { max, wait }
  const module = await Module.load(file)
  await withConnection(values, async (connection) => {
    const options = { batch, queue: values.queue }
    const service = await tensors(connection).serve(module, subject, options)
    note(`${plain(path.basename(file))} answers ${plain(subject)}; Ctrl-C ends it`)
    await new Promise((resolve) => {
      // until Ctrl-C, or the connection ends for good
      for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, resolve)
      connection.closed().then(resolve)
    })
    await service.drain()
  })
}

// ---- put, get ----

/** @param {Values} values @param {(store: any, onProgress: any) => Promise<string>} transfer  gives what is printed */
function withStore(values, transfer) {
  const { tensors } = require('../nats')
  return withConnection(values, async (connection) => {
    const store = await tensors(connection).store(values.bucket ?? DEFAULT_BUCKET)
    const { onProgress, end } = progress()
    note(await transfer(store, onProgress).finally(end))
  })
}

/** @param {Values} values @param {string[]} operands */
async function putFile(values, [file, name = path.basename(file)]) {
  await withStore(values, async (store, onProgress) => {
    const { size: nbytes, digest } = await store.put(name, { file }, { onProgress })
    return `${plain(name)} ${size(nbytes)} ${styled('dim', plain(digest), process.stderr)}`
  })
}

/** @param {Values} values @param {string[]} operands */
async function getFile(values, [name, file = path.basename(name)]) {
  await withStore(values, async (store, onProgress) => {
    await store.get(name, { out: { file }, onProgress })
    return `${plain(file)} is written`
  })
}

module.exports = { nats }
