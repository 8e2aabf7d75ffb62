'use strict'
// The packages @nats-io/*, which users install beside samebytes.

const { failure } = require('../base/errors')

/** Found ones by name. @type {Map<string, any>} */
const found = new Map()

/** Each by a literal name: bundlers and tracers of files (@vercel/nft) follow no other. @type {Record<string, () => any>} */
const required = {
  'transport-node': () => require('@nats-io/transport-node'),
  jetstream: () => require('@nats-io/jetstream'),
  services: () => require('@nats-io/services'),
  // @ts-ignore A file of the package, without declarations.
  'transport-node/lib/node_transport.js': () =>
    require('@nats-io/transport-node/lib/node_transport.js'),
}

/**
 * @param {'transport-node' | 'jetstream' | 'services' | 'transport-node/lib/node_transport.js'} name  after '@nats-io/'
 * @returns {any} what the package exports
 * @throws ERR_UNSUPPORTED if it is not installed
 */
function peer(name) {
  const [folder] = name.split('/')
  try {
    if (!found.has(name)) found.set(name, required[name]())
    return found.get(name)
  } catch (error) {
    if (/** @type {any} */ (error)?.code !== 'MODULE_NOT_FOUND') throw error
    throw failure(
      'ERR_UNSUPPORTED',
      `@nats-io/${folder} is not installed; npm install @nats-io/${folder}`,
    )
  }
}

module.exports = { peer }
