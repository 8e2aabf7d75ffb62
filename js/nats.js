'use strict'
// samebytes/nats: tensors over NATS. Needs @nats-io/transport-node, for services @nats-io/services, and for what is stored @nats-io/jetstream.

const { TensorBus, tensors, serve } = require('./nats/bus')
const { TensorService } = require('./nats/serve')
const { TensorStore } = require('./nats/store')
const { TensorSubscription } = require('./nats/subscription')
const { connect, isInPlace } = require('./nats/transport')

/** @typedef {import('./nats/batches').Value} Value */
/** @typedef {import('./nats/bus').BusStats} BusStats */
/** @typedef {import('./nats/publish').PublishOptions} PublishOptions */
/** @template {Value} [R=Value] @typedef {import('./nats/request').RequestOptions<R>} RequestOptions */
/** @typedef {import('./nats/serve').ServeOptions} ServeOptions */
/** @typedef {import('./nats/serve').ServiceStats} ServiceStats */
/** @template {Value} [T=Value] @typedef {import('./nats/subscription').SubscribeOptions<T>} SubscribeOptions */
/** @template {Value} [T=import('./tensor/tensor').Tensor] @typedef {import('./nats/subscription').Received<T>} Received */
/** @typedef {import('./nats/store').StoreOptions} StoreOptions */
/** @typedef {import('./nats/store').PutOptions} PutOptions */
/** @typedef {import('./nats/store').GetOptions} GetOptions */
/** @typedef {import('./nats/store-meta').ObjectInfo} ObjectInfo */

/** The client's connections without copies. */
const transport = { connect, isInPlace }

module.exports = {
  TensorBus,
  TensorService,
  TensorStore,
  TensorSubscription,
  tensors,
  serve,
  transport,
}
