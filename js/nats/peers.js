'use strict'
// The packages @nats-io/*, which users install beside samebytes.

const { failure } = require('../base/errors')

/** Found ones by name. @type {Map<string, any>} */
const found = new Map()

/**
 * @param {'transport-node' | 'jetstream' | 'services' | 'transport-node/lib/node_transport.js'} name  after '@nats-io/'
 * @returns {any} what the package exports
 * @throws ERR_UNSUPPORTED if it is not installed
 */
function peer (name) {
  const before = found.get(name)
  if (before !== undefined) return before
  const [folder] = name.split('/')
  try {
    const exported = require(`@nats-io/${name}`)
    found.set(name, exported)
    return exported
  } catch (error) {
    if (/** @type {any} */ (error)?.code !== 'MODULE_NOT_FOUND') throw error
    throw failure('ERR_UNSUPPORTED', `@nats-io/${folder} is not installed; npm install @nats-io/${folder}`)
  }
}

module.exports = { peer }
