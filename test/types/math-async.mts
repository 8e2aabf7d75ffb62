// Asynchronous arithmetic: what its promises give. Compiled only.
import { tensor, type Tensor } from 'samebytes'
import { addAsync, clipAsync, lessAsync, softmaxAsync, sqrtAsync, sumAsync, varAsync, whereAsync } from 'samebytes/math'
import { is } from './equal.mjs'

const a = tensor([1], 'int32')
const b = tensor([1], 'float64')
const { signal } = new AbortController()

is<Promise<Tensor<'int32'>>>()(addAsync(a, a, { signal }))
is<Promise<Tensor<'float64'>>>()(addAsync(a, b))
is<Promise<Tensor<'int32'>>>()(addAsync(a, 1))
is<Promise<Tensor<'float64'>>>()(addAsync(a, a, { out: b, signal }))
is<Promise<Tensor<'float32'>>>()(sqrtAsync(a))
is<Promise<Tensor<'float64'>>>()(sqrtAsync(a, 'float64'))
is<Promise<Tensor<'bool'>>>()(lessAsync(a, 3, { signal }))
is<Promise<Tensor<'int32'>>>()(clipAsync(a, 0, null, { signal }))
is<Promise<Tensor<'float64'>>>()(clipAsync(a, 0, b, { signal }))
is<Promise<Tensor<'float64'>>>()(clipAsync(a, b))
is<Promise<Tensor<'int32'>>>()(whereAsync(true, a, 0))
is<Promise<Tensor<'int64'>>>()(sumAsync(a, { axis: [0], keepdims: true, signal }))
is<Promise<Tensor<'float64'>>>()(varAsync(b, { correction: 1 }))
is<Promise<Tensor<'float32'>>>()(softmaxAsync(a, { axis: 0, signal }))
is<Promise<Tensor<'float64'>>>()(sumAsync(a, 'float64'))
is<Promise<Tensor<'int64'>>>()(sumAsync(a, 0, { keepdims: true, signal }))

// @ts-expect-error an axis is a number
void sumAsync(a, { axis: 'x' })
// @ts-expect-error
void addAsync(a, a, { signal: 3 })
