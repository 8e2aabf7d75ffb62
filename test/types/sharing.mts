// Tensors between processes. Compiled only.
import { SharedTensor, type CreateOptions, type Descriptor, type SegmentInfo, type Tensor } from 'samebytes'
import { is } from './equal.mjs'

is<SharedTensor<'float32'>>()(SharedTensor.create('a', [2, 3]))
is<SharedTensor<'uint8'>>()(SharedTensor.create('a', 4, 'uint8'))
const made = SharedTensor.create(null, [2], { dtype: 'int64', format: 'raw', sealed: true, mode: 0o600, ifExists: 'replace', persist: true })
is<SharedTensor<'int64'>>()(made)
is<Tensor<'int64'>>()(made.tensor)
is<BigInt64Array>()(made.tensor.data)
is<string | null>()(made.name)
is<string>()(made.path)
is<number>()(made.fd)
is<boolean>()(made.isSealed)
is<Descriptor>()(made.descriptor)
made.dispose()

is<SharedTensor<'int32'>>()(SharedTensor.open('a', { dtype: 'int32', format: 'raw', shape: [2], offset: 1, mode: 'r' }))
is<SharedTensor<'int32'>>()(SharedTensor.open({ fd: 3 }, 'int32'))
SharedTensor.open(made.descriptor).tensor.fill(1)
is<SegmentInfo[]>()(SharedTensor.list())
is<string[]>()(SharedTensor.sweep())
is<void>()(SharedTensor.unlink('a'))

const options: CreateOptions<'float64'> = { dtype: 'float64' }
is<SharedTensor<'float64'>>()(SharedTensor.create('a', [1], options))

// @ts-expect-error no such format
SharedTensor.create('a', [1], { format: 'npz' })
// @ts-expect-error a name or null
SharedTensor.create(undefined, [1])
// @ts-expect-error made by create and open only
new SharedTensor()
