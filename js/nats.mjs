// The same functions for import as for require.
export { TensorBus, tensors } from './nats.js'
