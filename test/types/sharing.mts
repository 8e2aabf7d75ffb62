// Tensors between processes and threads. Compiled only.
import { SharedTensor, type CreateOptions, type Descriptor, type Frame, type RingOptions, type SegmentInfo, SharedRing, type Tensor, type Token, cuda, fromShared, share, zeros } from 'samebytes'
import { is, type Owned } from './equal.mjs'

is<SharedTensor<'float32'>>()(SharedTensor.create('a', [2, 3]))
is<SharedTensor<'uint8'>>()(SharedTensor.create('a', 4, 'uint8'))
const made = SharedTensor.create(null, [2], { dtype: 'int64', format: 'raw', sealed: true, mode: 0o600, ifExists: 'replace', persist: true })
is<SharedTensor<'int64'>>()(made)
is<Tensor<'int64'>>()(made.tensor)
is<Owned<BigInt64Array>>()(made.tensor.data)
is<string | null>()(made.name)
is<string>()(made.path)
is<number>()(made.fd)
is<boolean>()(made.isSealed)
made.dispose()

is<SharedTensor<'int32'>>()(SharedTensor.open('a', { dtype: 'int32', format: 'raw', shape: [2], offset: 1, mode: 'r' }))
is<SharedTensor<'int32'>>()(SharedTensor.open({ fd: 3 }, 'int32'))
is<Descriptor<'int64'>>()(made.descriptor)
is<SharedTensor<'int64'>>()(SharedTensor.open(made.descriptor))
is<SharedTensor<any>>()(SharedTensor.open('a'))
is<SharedTensor<any>>()(SharedTensor.open('a', { mode: 'c' }))
is<SharedTensor<any>>()(SharedTensor.open({ fd: 3 }, { guard: true, dtype: undefined }))
declare const descriptor: Descriptor
is<SharedTensor<any>>()(SharedTensor.open(descriptor))
is<SharedTensor<any>>()(SharedTensor.open(descriptor, { mode: 'r' }))
is<SharedTensor<'float32'>>()(SharedTensor.create('a', 2, { ifExists: 'open' }))
SharedTensor.open(made.descriptor).tensor.fill(1)
is<SegmentInfo[]>()(SharedTensor.list())
is<string[]>()(SharedTensor.sweep())
is<void>()(SharedTensor.unlink('a'))

const options: CreateOptions<'float64'> = { dtype: 'float64' }
is<SharedTensor<'float64'>>()(SharedTensor.create('a', [1], options))

const token = share(zeros([2], { dtype: 'int8', shared: true }), { uses: 2 })
is<Token<'int8'>>()(token)
is<Tensor<'int8'>>()(fromShared(token))
is<Tensor<'int8'>>()(fromShared(token, { shared: 'sab' }))
is<Tensor<'int8'>[]>()([token].map(fromShared))
declare const named: Token<'int8'>
is<Tensor<'int8'>>()(fromShared(named))
declare const posted: Token
is<Tensor<any>>()(fromShared(posted))
is<Tensor<'int8'>>()(fromShared<'int8'>(posted))
declare const message: any
is<Tensor<any>>()(fromShared(message))
is<Tensor<'int8'>>()(fromShared<'int8'>(message))
is<Token<any>>()(share(fromShared(posted)))
// @ts-expect-error The token says another dtype.
fromShared<'int16'>(token)
declare const cudaToken: Awaited<ReturnType<typeof cuda.share<'float16'>>>
is<Promise<Tensor<'float16'>>>()(cuda.open(cudaToken))
is<Promise<Tensor<any>>>()(cuda.open('{}'))
is<Promise<Tensor<'float16'>>>()(cuda.open<'float16'>('{}'))
// @ts-expect-error it is native memory's own buffer unless told
fromShared(share(made.tensor), { shared: true })

// @ts-expect-error no such format
SharedTensor.create('a', [1], { format: 'npz' })
// @ts-expect-error a name or null
SharedTensor.create(undefined, [1])
// @ts-expect-error made by create and open only
new SharedTensor()

const waited = made.wait(0, 5n, { timeout: 10, signal: new AbortController().signal })
is<Promise<'ok' | 'not-equal' | 'timed-out'>>()(waited)
is<number>()(made.notify(0, 1))

const ring = SharedRing.create('a', [2, 3], { slots: 4, dtype: 'uint8', ifExists: 'open', mode: 0o600, persist: true })
is<SharedRing<'uint8'>>()(ring)
is<SharedRing<'float32'>>()(SharedRing.create('a', 3, { slots: 4 }))
is<Tensor<'uint8'>>()(ring.next())
is<number>()(ring.commit())
is<number>()(ring.commit({ tag: 1n }) + ring.commit({ tag: Date.now() }))
is<number>()(ring.write([[1, 2, 3], [4, 5, 6]], { casting: 'unsafe', tag: 2n }))
is<number>()(ring.count)
is<number>()(SharedRing.create('a', [2, 3], { slots: 4, readers: 2 }).readers)
is<Promise<Tensor<'uint8'>>>()(ring.nextAsync({ timeout: 1, signal: new AbortController().signal }))
is<Promise<number>>()(ring.writeAsync([[1, 2, 3], [4, 5, 6]], { casting: 'unsafe', timeout: 1 }))
is<boolean>()(ring.intact(3))
is<string>()(ring.controlPath)
is<ReadonlyArray<number>>()(ring.shape)
for await (const frame of ring.read({ from: 0, signal: new AbortController().signal })) is<Frame<'uint8'>>()(frame)
is<SharedRing<'bfloat16'>>()(SharedRing.open('a', 'bfloat16'))
is<SharedRing<any>>()(SharedRing.open('a'))
is<SharedRing<any>>()(SharedRing.open('a', {}))
is<void>()(SharedRing.unlink('a'))
const ringOptions: RingOptions<'int16'> = { slots: 1, dtype: 'int16' }
is<SharedRing<'int16'>>()(SharedRing.create('a', [], ringOptions))

// @ts-expect-error slots are needed
SharedRing.create('a', [1], {})
// @ts-expect-error made by create and open only
new SharedRing()
