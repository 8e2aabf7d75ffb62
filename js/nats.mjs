// The same functions for import as for require.
export { TensorBus, tensors, transport } from './nats.js'
