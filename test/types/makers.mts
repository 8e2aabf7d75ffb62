// Which dtype the functions that make tensors give. Compiled only.
import {
  tensor, empty, zeros, ones, full, scalarTensor, fromBytes, fromBlob, forBlob, arange, linspace, eye, asarray,
  rand, randn, randint, Generator, emptyLike, zerosLike, onesLike, fullLike, randLike, randnLike, randintLike,
  emptyStrided, zerosStrided, onesStrided, fullStrided, randStrided, randnStrided, randintStrided, clone,
  type Tensor, type MakeOptions, type BlobBuilder, type BlobOptions, type DtypeName
} from 'samebytes'
import { is } from './equal.mjs'

// ---- Of a shape ----

is<Tensor<'float32'>>()(empty([2, 3]))
is<Tensor<'float32'>>()(zeros(4))
is<Tensor<'uint8'>>()(zeros([2], 'uint8'))
is<Tensor<'uint8'>>()(zeros([2], { dtype: 'uint8' }))
is<Tensor<'float32'>>()(zeros([2], { shared: true, order: 'F', dynamism: 'static', device: 'cpu' }))
is<Tensor<'float32'>>()(zeros([2], {}))
is<Tensor<'bool'>>()(ones([2], { dtype: 'bool', shared: 'sab' }))
const shape = [2, 3] as const
zeros(shape)
is<Tensor<'float32'>>()(full([2], 1))
is<Tensor<'int64'>>()(full([2], 1n))
is<Tensor<'bool'>>()(full([2], true))
is<Tensor<'complex64'>>()(full([2], [1, 2]))
is<Tensor<'int8'>>()(full([2], 1n, 'int8'))
is<Tensor<'float32'>>()(scalarTensor(1))
is<Tensor<'int64'>>()(scalarTensor(1n))
is<Tensor<'float16'>>()(scalarTensor(1, { dtype: 'float16' }))
is<Tensor<'float32'>>()(eye(2))
is<Tensor<'int8'>>()(eye(2, 3, { k: 1, dtype: 'int8' }))
is<Tensor<'int8'>>()(eye(2, 'int8'))
declare const options: MakeOptions
is<Tensor<any>>()(zeros([2], options))
declare const half: MakeOptions<'float16'>
is<Tensor<'float16'>>()(zeros([2], half))
declare const dtype: DtypeName
is<Tensor<DtypeName>>()(zeros([2], dtype))
declare const some: 'int8' | 'uint8'
is<Tensor<'int8' | 'uint8'>>()(zeros([2], some))

// ---- Of values ----

is<Tensor<'float32'>>()(tensor(1))
is<Tensor<'float32'>>()(tensor([1, 2]))
is<Tensor<'float32'>>()(tensor([[1, 2], [3, 4]]))
is<Tensor<'float32'>>()(tensor([]))
is<Tensor<'int64'>>()(tensor(1n))
is<Tensor<'int64'>>()(tensor([[1n]]))
is<Tensor<'bool'>>()(tensor(true))
is<Tensor<'bool'>>()(tensor([true, false]))
is<Tensor<'bool'>>()(tensor(new Set([true])))
is<Tensor<'float32'>>()(tensor([1, 2] as const))
is<Tensor<'int16'>>()(tensor(new Int16Array(2)))
is<Tensor<'uint8'>>()(tensor(new Uint8ClampedArray(2)))
is<Tensor<'uint64'>>()(tensor(new BigUint64Array(2)))
is<Tensor<'int16'>>()(tensor([new Int16Array(2), new Int16Array(2)]))
is<Tensor<'int64'>>()(tensor([[new BigInt64Array(2)], [new BigInt64Array(2)]]))
is<Tensor<'uint8'>>()(tensor(new Set([new Uint8ClampedArray(2), new Uint8Array(2)])))
is<Tensor<'int16'>>()(tensor([new Int16Array(2), zeros([2], 'int16')]))
is<Tensor<any>>()(tensor([new Int16Array(2), new Int8Array(2)]))
is<Tensor<'float64'>>()(tensor([new Float64Array(2), [1, 2]]))
is<Tensor<any>>()(tensor([new Int16Array(2), [1, 2]]))
is<Tensor<'int16'>>()(asarray([new Int16Array(2)]))
is<Tensor<'int16'>>()(tensor(new Int16Array(4), [2, 2]))
is<Tensor<'int16'>>()(tensor(new Int16Array(4), null))
is<Tensor<'float64'>>()(tensor(new Int16Array(4), [2, 2], 'float64'))
is<Tensor<'float64'>>()(tensor([1, 2], 'float64'))
is<Tensor<'float64'>>()(tensor([1, 2], { dtype: 'float64' }))
is<Tensor<'complex64'>>()(tensor([[1, 2]], { dtype: 'complex64' }))
is<Tensor<'float32'>>()(tensor([1, 2], { shared: true }))
is<Tensor<'int8'>>()(tensor(zeros([2], 'int8')))
is<Tensor<'int8'>>()(tensor([zeros([2], 'int8'), zeros([2], 'int8')]))
is<Tensor<'complex64'>>()(tensor([[zeros([2], 'complex64')]]))
is<Tensor<'int64'>>()(tensor(new Set([tensor(1n)])))
is<Tensor<any>>()(tensor([zeros([2], 'int8'), zeros([2], 'int16')]))
is<Tensor<any>>()(tensor([zeros([2]) as Tensor]))
is<Tensor<any>>()(tensor([zeros([], 'int8'), 1]))
is<Tensor<'float32'>>()(tensor([zeros([]), 1]))
is<Tensor<'float64'>>()(tensor([zeros([2], 'int8')], 'float64'))
is<Tensor<any>>()(tensor(zeros([2]) as Tensor))
declare const json: any
is<Tensor<any>>()(tensor(json))
is<Tensor<'int8'>>()(tensor(json, 'int8'))
is<Tensor<'int16'>>()(fromBytes(new Uint8Array(4), [2], 'int16'))
is<Tensor<'int16'>>()(fromBytes(new ArrayBuffer(4), [2], { dtype: 'int16', order: 'F' }))
is<Tensor<'int16'>>()(fromBytes(new ArrayBuffer(4), 'int16'))
is<Tensor<'int16'>>()(fromBytes(new ArrayBuffer(4), null, 'int16'))
is<Tensor<'float32'>>()(fromBytes(new Uint8Array(4), { dtype: 'float32', copy: 'if-needed' }))
is<Tensor<'float32'>>()(fromBytes(new Uint8Array(4), [1], { dtype: 'float32', copy: false }))

// ---- Over bytes ----

is<Tensor<'float64'>>()(fromBlob(new Float64Array(4)))
is<Tensor<'float64'>>()(fromBlob(new Float64Array(4), [2, 2]))
is<Tensor<'float64'>>()(fromBlob(new Float64Array(4), [2, 2], { offset: 0, readOnly: true }))
is<Tensor<'float16'>>()(fromBlob(new Uint8Array(4), 'float16'))
is<Tensor<'complex64'>>()(fromBlob(new Float32Array(4), [2], 'complex64'))
is<Tensor<'int32'>>()(fromBlob(new ArrayBuffer(4), { dtype: 'int32' }))
is<Tensor<'int32', SharedArrayBuffer>>()(fromBlob(new SharedArrayBuffer(4), [1], 'int32'))
is<Tensor<'int32'>>()(fromBlob(0x1000n, [2], { dtype: 'int32', borrowed: true }))
is<Tensor<'int32'>>()(fromBlob(0x1000, [2], { dtype: 'int32', deleter: (address: bigint) => { void address } }))
is<Tensor<'int8'>>()(fromBlob(zeros([2], 'int8').toBlob()))
is<Tensor<'float32'>>()(fromBlob({ ptr: 0x1000n, shape: [2], dtype: 'float', owner: {} } as const))
is<Tensor<'int64'>>()(fromBlob({ ptr: 0x1000n, shape: [2], dtype: 'int64' } as const, { borrowed: true }))
declare const blob: BlobOptions
is<Tensor<any>>()(fromBlob(0x1000n, [2], blob))
is<Tensor<'float32'>>()(forBlob(new Float32Array(4), [2, 2]).strides([1, 2]).readOnly().makeTensor())
is<Tensor<'int8'>>()(forBlob(new ArrayBuffer(4)).offset(0).dtype('int8').owner({}).makeTensor())
is<BlobBuilder<'float32'>>()(forBlob(new Float32Array(4), [4]).transfer())
is<Tensor<'int8'>>()(forBlob(0x1000n, [4], 'int8').nbytes(4).borrowed().makeTensor())
is<Tensor<'uint16'>>()(asarray(new Uint16Array(4)))
is<Tensor<'uint16'>>()(asarray(zeros([2], 'uint16'), { copy: true }))
is<Tensor<'float32'>>()(asarray([1, 2]))
is<Tensor<'int8'>>()(asarray(new ArrayBuffer(4), 'int8'))

// ---- Sequences, random numbers ----

is<Tensor<'int32'>>()(arange(5))
is<Tensor<'int32'>>()(arange(-1, 5, 2))
is<Tensor<'float32'>>()(arange(0, 1, 0.25))
is<Tensor<'int64'>>()(arange(5n))
is<Tensor<'int64'>>()(arange(0n, 5))
is<Tensor<'uint8'>>()(arange(5, 'uint8'))
is<Tensor<'uint8'>>()(arange(0, 5, { dtype: 'uint8' }))
declare const n: number
is<Tensor<'int32' | 'float32'>>()(arange(n))
is<Tensor<'float64'>>()(arange(n, { dtype: 'float64' }))
is<Tensor<'float32'>>()(linspace(0, 1, 5))
is<Tensor<'float64'>>()(linspace(0, 1, 5, { endpoint: false, dtype: 'float64' }))
is<Tensor<'float32'>>()(rand([2], { generator: new Generator(1) }))
is<Tensor<'float64'>>()(rand([2], { out: zeros([2], 'float64') }))
is<Tensor<'float32'>>()(randn([2], { out: zeros([2]), generator: new Generator(1) }))
is<Tensor<'uint8'>>()(randint(0, 2, [2], { out: zeros([2], 'uint8') }))
is<Tensor<'float16'>>()(randn([2], 'float16'))
is<Tensor<'int32'>>()(randint(0, 10, [2]))
is<Tensor<'int64'>>()(randint(0n, 10n, [2]))
is<Tensor<'uint8'>>()(randint(0, 10, [2], 'uint8'))

// ---- Like, strided, clone ----

const i8 = zeros([2], 'int8')
is<Tensor<'int8'>>()(emptyLike(i8))
is<Tensor<'int8'>>()(zerosLike(i8, { order: 'F' }))
is<Tensor<'float64'>>()(onesLike(i8, 'float64'))
is<Tensor<'int8'>>()(fullLike(i8, 1))
is<Tensor<'complex64'>>()(fullLike(i8, [1, 2], 'complex64'))
is<Tensor<'float64'>>()(randLike(i8, { dtype: 'float64', generator: new Generator(1) }))
is<Tensor<'float32'>>()(randnLike(zeros([2])))
is<Tensor<'int8'>>()(randintLike(i8, 0, 10))
is<Tensor<any>>()(zerosLike(i8 as Tensor))
is<Tensor<'float32'>>()(emptyStrided([2], [1]))
is<Tensor<'int8'>>()(zerosStrided([2], [1], 'int8'))
is<Tensor<'int8'>>()(onesStrided([2], [1], { dtype: 'int8' }))
is<Tensor<'bool'>>()(fullStrided([2], [1], true))
is<Tensor<'float32'>>()(randStrided([2], [1]))
is<Tensor<'float64'>>()(randnStrided([2], [1], 'float64'))
is<Tensor<'int64'>>()(randintStrided(0n, 10n, [2], [1]))
is<Tensor<'int8'>>()(clone(i8))
is<Tensor<'float32'>>()(clone(i8, { dtype: 'float32', casting: 'safe' }))

// ---- What must not compile ----

// @ts-expect-error A shape is no string.
zeros('x')
// @ts-expect-error Nor a list of strings.
zeros(['2'])
// @ts-expect-error A shape is needed.
zeros()
// @ts-expect-error There is no such dtype.
zeros([2], { dtype: 'float33' })
// @ts-expect-error Likewise.
zeros([2], 'float33')
// @ts-expect-error There is no such option.
zeros([2], { dtpye: 'float32' })
// @ts-expect-error There is no such word.
zeros([2], { order: 'K' })
// @ts-expect-error There is no such word.
zeros([2], { dynamism: 'dynamic' })
// @ts-expect-error There is no such device.
zeros([2], { device: 'tpu' })
// @ts-expect-error Extents are no bigints.
zeros([2n])
// @ts-expect-error A string is no data.
tensor('1')
// @ts-expect-error Nor is a list of strings.
tensor(['1'])
// @ts-expect-error Nor nothing.
tensor(null)
// @ts-expect-error There is no such option.
tensor([1], [1], { type: 'int8' })
// @ts-expect-error There is no such dtype.
tensor([1], 'int7')
// @ts-expect-error A dtype is needed.
fromBytes(new Uint8Array(4), [2])
// @ts-expect-error It is needed among options as well.
fromBytes(new Uint8Array(4), [2], { order: 'F' })
// @ts-expect-error A list has no bytes.
fromBlob([1, 2])
// @ts-expect-error There is no such option.
fromBlob(new Float32Array(2), [2], { readonly: true })
// @ts-expect-error A deleter is a function.
fromBlob(0x1000n, [2], { dtype: 'int32', deleter: 1 })
// @ts-expect-error There is no such setter.
forBlob(new Float32Array(2)).readonly()
// @ts-expect-error There is no such dtype.
forBlob(new ArrayBuffer(4)).dtype('int7')
// @ts-expect-error A generator makes random numbers.
zeros([2], { generator: new Generator(1) })
// @ts-expect-error Only floating dtypes are drawn so.
rand([2], 'int8')
// @ts-expect-error Only integers are drawn so.
randint(0, 2, [2], 'float32')
// @ts-expect-error A seed is no string.
void new Generator('1')
// @ts-expect-error A shape is no tensor.
zerosLike([2])
// @ts-expect-error A pair is a complex number.
fullLike(i8, [1, 2])
// @ts-expect-error The number of elements is needed.
linspace(0, 1)
// @ts-expect-error linspace has no k.
linspace(0, 1, 2, { k: 1 })

// ---- What a result is assigned to does not ask for a dtype ----

// @ts-expect-error It is of float32.
export const asked: Tensor<'float64'> = zeros([2])
// @ts-expect-error likewise
export const ids = (n: number): Tensor<'int64'> => zeros([n])
// @ts-expect-error likewise
export const overFloats: Tensor<'float64'> = fromBlob(new Float32Array(2))
// @ts-expect-error It is of int32.
export const range: Tensor<'float64'> = arange(3)
// @ts-expect-error It is of float32.
export const list: Tensor<'int64'> = tensor([1, 2])
// @ts-expect-error likewise
export const drawn: Tensor<'float64'> = randn([2])
// @ts-expect-error likewise
export const filled: Tensor<'float64'> = full([2], 1)
// @ts-expect-error likewise
export const spaced: Tensor<'float64'> = linspace(0, 1, 3)
// @ts-expect-error likewise
export const identity: Tensor<'float64'> = eye(2)
// @ts-expect-error likewise
export const array: Tensor<'float64'> = asarray([1])
// @ts-expect-error likewise
export const cloned: Tensor<'float64'> = clone(tensor([1]))
declare function mean (t: Tensor<'float32'> | Tensor<'float64'>): number
mean(zeros([2]))
mean(randn([2]))
mean(zeros([2], 'float64'))
