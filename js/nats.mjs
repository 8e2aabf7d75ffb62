// The same functions for import as for require.
export {
  TensorBus,
  TensorService,
  TensorStore,
  TensorSubscription,
  tensors,
  serve,
  transport,
} from './nats.js'
