'use strict'
// samebytes/nats: tensors over NATS. Needs @nats-io/transport-node, and for what is stored @nats-io/jetstream and @nats-io/obj.

const { TensorBus, tensors, serve } = require('./nats/bus')
const { TensorService } = require('./nats/serve')

module.exports = { TensorBus, TensorService, tensors, serve }
