'use strict'
// samebytes/nats: tensors over NATS. Needs @nats-io/transport-node, for services @nats-io/services, and for what is stored @nats-io/jetstream.

const { TensorBus, tensors, serve } = require('./nats/bus')
const { TensorService } = require('./nats/serve')
const { TensorStore } = require('./nats/store')
const { TensorSubscription } = require('./nats/subscription')
const { connect, isInPlace } = require('./nats/transport')

/** The client's connections without copies. */
const transport = { connect, isInPlace }

module.exports = { TensorBus, TensorService, TensorStore, TensorSubscription, tensors, serve, transport }
