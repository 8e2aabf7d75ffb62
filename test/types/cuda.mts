// CUDA: devices, streams, pinned memory.
import { cuda, empty, fromBlob, hostRegister, memory, zeros } from 'samebytes'
import type { CudaArrayInterface, CudaEvent, CudaStream, DeviceProperties, MemoryStats, Tensor } from 'samebytes'
import { is } from './equal.mjs'

is<boolean>()(cuda.isAvailable())
is<string>()(cuda.whyNot())
is<number>()(cuda.deviceCount())
is<DeviceProperties>()(cuda.properties('cuda:1'))
is<number>()(cuda.properties(0).totalMemory)
is<MemoryStats>()(cuda.memoryStats())
cuda.synchronize(0)
cuda.emptyCache()
// @ts-expect-error A device has another name.
cuda.properties('gpu')

const stream: CudaStream = new cuda.Stream('cuda:0')
const event: CudaEvent = new cuda.Event().record(stream).record(1n).record()
is<bigint>()(stream.handle)
is<boolean>()(event.isDone)
is<Promise<void>>()(stream.wait(event).finished())
is<Promise<void>>()(event.finished())

const t = zeros([2], { dtype: 'int8', device: 'cuda' })
is<Tensor<'int8'>>()(t.copyFrom(t, { stream }).copyFrom(1, { stream: 2n }))
const registered = hostRegister(empty([2], { dtype: 'int8', pinMemory: true }))
is<Tensor<'int8'>>()(registered)
is<Tensor<'int8'>>()(t.cpu().pinMemory())
is<Promise<Tensor<'int8'>>>()(t.ready())
is<CudaArrayInterface | undefined>()(t.__cudaArrayInterface__)
is<number>()(memory().bytes.cuda)
fromBlob(0n, [0], { dtype: 'int8', device: 'cuda:3', borrowed: true })
// @ts-expect-error A stream is none.
t.copyFrom(1, { stream: 'default' })
