// Which dtype functions along axes give. Compiled only.
import { tensor, zeros, type Tensor } from 'samebytes'
import { all, argmax, bincount, countNonzero, cumulativeSum, diff, logSumExp, max, mean, median, min, normalize, prod, quantile, softmax, std, sum, var as variance, vectorNorm } from 'samebytes/math'
import { is } from './equal.mjs'

const bytes = zeros([2, 3], 'uint8')
const halves = zeros([2, 3], 'float16')
const pairs = zeros([2], 'complex64')
declare const any: Tensor<any>

is<Tensor<'uint64'>>()(sum(bytes))
is<Tensor<'int64'>>()(prod(zeros([2], 'bool'), { axis: 0, keepdims: true }))
is<Tensor<'float16'>>()(sum(halves, { axis: [0, 1] }))
is<Tensor<'float64'>>()(sum(bytes, { dtype: 'float64' }))
is<Tensor<'float64'>>()(sum(bytes, 'float64'))
is<Tensor<'int32'>>()(sum(bytes, { out: zeros([], 'int32'), casting: 'unsafe' }))
is<Tensor<any>>()(sum(any))
is<Tensor<'float32'>>()(mean(bytes))
is<Tensor<'complex64'>>()(mean(pairs))
is<Tensor<'float16'>>()(std(halves, { correction: 1 }))
is<Tensor<'float32'>>()(variance(bytes))
is<Tensor<'uint8'>>()(min(bytes, { axis: 0 }))
is<Tensor<'float16'>>()(max(halves))
is<Tensor<'bool'>>()(all(bytes, { axis: null }))
is<Tensor<'int32'>>()(argmax(halves, { axis: 1 }))
is<Tensor<'int64'>>()(countNonzero(bytes, { dtype: 'int64' }))
is<Tensor<'uint64'>>()(cumulativeSum(bytes, { axis: 0, includeInitial: true }))
is<Tensor<'uint8'>>()(diff(bytes))
is<Tensor<'int32'>>()(bincount(bytes))
is<Tensor<'int64'>>()(bincount(bytes, { dtype: 'int64', minlength: 3 }))
is<Tensor<'float64'>>()(bincount(bytes, { weights: halves }))
is<Tensor<'float32'>>()(bincount(bytes, { weights: [1, 2], dtype: 'float32' }))
is<Tensor<'int64'>>()(bincount(bytes, 'int64'))
is<Tensor<'uint8'>>()(diff(bytes, { prepend: 0, append: bytes }))
is<Tensor<'complex64'>>()(diff(pairs, { prepend: [0, 1] }))
is<Tensor<'int64'>>()(diff(zeros([2], 'int64'), { append: 1n }))
is<Tensor<'float32'>>()(softmax(bytes))
is<Tensor<'float16'>>()(softmax(halves, { axis: 0 }))
is<Tensor<'float64'>>()(softmax(halves, { out: zeros([2, 3], 'float64') }))
is<Tensor<'float32'>>()(logSumExp(zeros([2], 'bool')))
is<Tensor<'float32'>>()(vectorNorm(pairs, { ord: Infinity }))
is<Tensor<'complex64'>>()(normalize(pairs))
is<Tensor<'float32'>>()(median(zeros([2], 'int64'), { axis: 0 }))
is<Tensor<'float16'>>()(quantile(halves, [0.1, 0.9], { method: 'nearest' }))
is<Tensor<'float16'>>()(quantile(halves, tensor([0.5])))

// @ts-expect-error an index is int32 or int64
argmax(halves, { dtype: 'float32' })
// @ts-expect-error there is no such method
quantile(halves, 0.5, { method: 'weibull' })
// @ts-expect-error a list is no axis of argmax
argmax(halves, { axis: [0] })
// @ts-expect-error a list is no scalar of real numbers
diff(bytes, { prepend: [0, 1] })
// @ts-expect-error max takes no dtype
max(halves, { dtype: 'float32' })
