// The same functions for import as for require.
export { TensorBus, TensorService, tensors, serve, transport } from './nats.js'
