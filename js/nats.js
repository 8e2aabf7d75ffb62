'use strict'
// samebytes/nats: tensors over NATS. Needs @nats-io/transport-node, and for what is stored @nats-io/jetstream and @nats-io/obj.

const { TensorBus, tensors, serve } = require('./nats/bus')
const { TensorService } = require('./nats/serve')
const { connect, isInPlace } = require('./nats/transport')

/** The client's connections without copies. */
const transport = { connect, isInPlace }

module.exports = { TensorBus, TensorService, tensors, serve, transport }
