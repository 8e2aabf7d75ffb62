// Which dtype arithmetic gives. Compiled only.
import { tensor, zeros, type Tensor } from 'samebytes'
import * as math from 'samebytes/math'
import { abs, add, bitwiseAnd, clip, divide, equal, exp, isnan, less, letterbox, logicalNot, multiply, nms, nonzero, real, sqrt, unletterbox, where, type LetterboxPlace } from 'samebytes/math'
import { is } from './equal.mjs'

const bytes = zeros([2], 'uint8')
const whole = zeros([2], 'int32')
const wide = zeros([2], 'int64')
const single = zeros([2], 'float32')
const double = zeros([2], 'float64')
const complex = zeros([2], 'complex64')

// ---- Dtypes meet ----

is<Tensor<'float32'>>()(add(single, single))
is<Tensor<'float64'>>()(add(single, double))
is<Tensor<'int32'>>()(multiply(bytes, whole))
is<Tensor<'float32'>>()(add(single, 1))
is<Tensor<'int64'>>()(add(wide, 1n))

// ---- Products ----

is<Tensor<'int32'>>()(math.matmul(bytes, whole))
is<Tensor<'int32'>>()(math.matmul(bytes, bytes, { dtype: 'int32' }))
is<Tensor<'int32'>>()(math.matmul(bytes, bytes, 'int32'))
is<Tensor<'float32'>>()(math.matmul(bytes, bytes, { accuracy: 'precise', dtype: 'int32', out: single, casting: 'unsafe' }))
is<Tensor<'int64'>>()(math.vecdot(bytes, bytes, { axis: 0, dtype: 'int64' }))
is<Tensor<'uint8'>>()(math.vecdot(bytes, bytes, { axis: 0 }))
is<Tensor<'int16'>>()(math.outer(bytes, bytes, { dtype: 'int16' }))
is<Tensor<'float64'>>()(math.tensordot(bytes, bytes, { axes: 1, dtype: 'float64' }))
is<Tensor<'int16'>>()(math.linalg.cross(bytes, bytes, { dtype: 'int16' }))
is<Tensor<'int32'>>()(await math.matmulAsync(bytes, bytes, { dtype: 'int32' }))
is<Tensor>()(math.einsum('i,i', bytes, bytes, { dtype: 'int32' }))
// @ts-expect-error no dtype
math.matmul(bytes, bytes, { dtype: 'int' })
is<Tensor<'complex64'>>()(add(complex, [0, 1]))
is<Tensor<'uint8'>>()(add(2, bytes))
is<Tensor<'uint8'>>()(bitwiseAnd(bytes, 1))

// ---- Floats, bools, parts ----

is<Tensor<'float32'>>()(exp(bytes))
is<Tensor<'float64'>>()(sqrt(double))
is<Tensor<'float32'>>()(divide(whole, 2))
is<Tensor<'bool'>>()(less(single, 1))
is<Tensor<'bool'>>()(equal(single, wide))
is<Tensor<'bool'>>()(isnan(single))
is<Tensor<'bool'>>()(logicalNot(bytes))
is<Tensor<'float32'>>()(abs(complex))
is<Tensor<'float32'>>()(real(complex))

// ---- Options ----

is<Tensor<'float64'>>()(add(bytes, 0.5, { dtype: 'float64' }))
is<Tensor<'float64'>>()(add(bytes, 0.5, 'float64'))
is<Tensor<'float64'>>()(add(single, single, { out: double }))
is<Tensor<'int32'>>()(exp(single, { out: whole, casting: 'unsafe' }))

// ---- Choices ----

is<Tensor<'float32'>>()(clip(single, 0, 1))
is<Tensor<'float32'>>()(clip(single, null, single))
is<Tensor<'float64'>>()(clip(single, 0, double))
is<Tensor<'float64'>>()(clip(whole, single, zeros([2], 'float64')))
is<Tensor<'int32'>>()(clip(bytes, whole))
is<Tensor<'int32'>>()(clip(bytes, null, whole))
is<Tensor<'int64'>>()(clip(bytes, whole, wide))
is<Tensor<'float32'>>()(clip(bytes, single, 1, 'float32'))
is<Tensor<'float64'>>()(clip(bytes, whole, 1, { out: double }))
is<Tensor<any>>()(clip(single, double as Tensor, 1))
is<Tensor<'float32'>>()(where(less(single, 0), single, 0))
is<Tensor<'float64'>>()(where(less(single, 0), single, double))

// ---- Indices and places ----

is<Tensor<'int32'>>()(nonzero(single)[0]) // an axis there always is
is<Tensor<'int64'>>()(nonzero(single, { dtype: 'int64' })[0])
is<Tensor<'int32'>>()(nms(single, single, { iouThreshold: 0.5, classes: whole }))
is<Tensor<'int64'>>()(nms(single, single, { dtype: 'int64' }))
const place: LetterboxPlace = letterbox(bytes, [4, 4])
is<Tensor<'float64'>>()(unletterbox(double, place))
is<Tensor<'float32'>>()(letterbox(bytes, [4, 4], { dtype: 'float32' }).image)

// ---- What is refused ----

// @ts-expect-error no tensor
add(1, 2)
// @ts-expect-error a list is no tensor
exp([1, 2])
// @ts-expect-error there is no such option
exp(single, { dtpye: 'float64' })
// @ts-expect-error a list is no bound
clip(single, [0], double)
// @ts-expect-error a text is no dtype
add(single, 1, 'float')
// @ts-expect-error strings are no numbers
add(single, '1')

// @ts-expect-error a name of nothing
math.nothing(tensor([1]))
