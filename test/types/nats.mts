// Tensors over NATS. Compiled only.
import { tensor, zeros, type Tensor } from 'samebytes'
import { Module } from 'samebytes/module'
import { serve, tensors, type BusStats, type ObjectInfo, type Received, type RequestOptions, type TensorBus, type TensorService, type TensorSubscription } from 'samebytes/nats'
import { is } from './equal.mjs'

declare const connection: unknown
const bus = tensors(connection, { maxBytes: 2 ** 20, maxPending: undefined })
is<TensorBus>()(bus)
is<BusStats>()(bus.stats())
is<'in-place' | 'client'>()(bus.stats().transport)
is<string | undefined>()(bus.stats().clientVersion)
const x = zeros([2, 3], 'int8')
type Boxes = { boxes: Tensor<'float32'>, scores: Tensor<'float32'> }

// ---- Messages ----

is<Promise<void>>()(bus.publish('cam.1', x, { stream: true, id: 'a' }))
is<Promise<void>>()(bus.publish('cam.1', { a: x, b: tensor([1]) }))
// @ts-expect-error An array is no tensor.
bus.publish('cam.1', [1, 2])

const frames = bus.subscribe('cam.*')
is<TensorSubscription<Tensor<any>>>()(frames)
for await (const { tensor: frame, tensors: none, lost, reply } of frames) {
  is<Tensor<any>>()(frame)
  is<undefined>()(none)
  is<number>()(lost)
  is<string | undefined>()(reply)
}
for await (const { tensor: frame } of bus.subscribe<Tensor<'uint8'>>('cam.*')) is<ReturnType<Uint8Array['slice']>>()(frame.data)
for await (const { tensor: frame } of bus.subscribe('cam.*', { out: x })) is<Tensor<'int8'>>()(frame)
for await (const { tensor: none, tensors: found } of bus.subscribe<Boxes>('boxes', { onError: (error, subject) => { is<string>()(error.message + subject) } })) {
  is<undefined>()(none)
  is<Tensor<'float32'> | undefined>()(found?.boxes)
}
is<Promise<IteratorResult<Received<Tensor<any>>, undefined>>>()(frames.next())

// ---- Requests and services ----

is<Promise<Tensor<any>>>()(bus.request('models.vit', x))
is<Promise<Tensor<'float32'>>>()(bus.request<Tensor<'float32'>>('models.vit', x, { deadline: 2000, attempts: 4 }))
is<Promise<Boxes>>()(bus.request<Boxes>('models.yolo', { image: x }))
is<Promise<Tensor<'int8'>>>()(bus.request('models.vit', x, { out: x }))
const options: RequestOptions = { attempts: 2, method: 'encode', signal: AbortSignal.timeout(1) }
bus.request('models.vit', x, options)
// @ts-expect-error A text is no tensor.
bus.request('models.vit', 'x')
// @ts-expect-error There is no such option.
bus.request('models.vit', x, { timeout: 5 })

is<Promise<TensorService>>()(bus.serve(value => { is<Tensor<any>>()(value); return value.clone() }, 'copies', { batch: { max: 16, wait: 2 } }))
is<Promise<TensorService>>()(bus.serve(async (value: Tensor<'uint8'>, { method }) => { is<string | undefined>()(method); return { a: value, b: value } }, 'copies'))
is<Promise<TensorService>>()(serve((value: Boxes) => value.scores, 'scores', { bus }))
is<Promise<TensorService>>()(serve(await Module.load('model.onnx'), 'models.vit', { bus, maxQueued: 8 }))
// @ts-expect-error A number is no answer.
bus.serve(value => value.size, 'sizes')

// ---- Files in the object store ----

const store = await bus.store('weights', { create: false })
is<Promise<ObjectInfo>>()(store.put('a.npy', x))
is<Promise<Tensor<any>>>()(store.get('a.npy'))
is<Promise<Tensor<'bfloat16'>>>()(store.get('a.npy', { dtype: 'bfloat16' }))
is<Promise<Record<string, Tensor<any>>>>()(store.get('a.safetensors', { maxBytes: 2 ** 30 }))
is<Promise<Record<string, Tensor<any>>>>()(store.get('a.npz'))
is<Promise<Tensor<'int8'>>>()(store.get('a.npy', { out: x }))
is<Promise<{ a: Tensor<'int8'> }>>()(store.get('a.safetensors', { out: { a: x } }))
is<Promise<ObjectInfo>>()(store.get('a.safetensors', { out: { file: 'a.safetensors' }, resume: 'a.resume' }))
is<Promise<any>>()(store.get(String(connection)))
is<Promise<ObjectInfo[]>>()(store.list())
