// Views keep the dtype, copies have the one that is asked for. Compiled only.
import {
  zeros, clone, empty, full, ones, zerosLike, concat, stack, arrayEqual, allClose, sharesMemory, moveaxis, tril, triu, takeAlongAxis, broadcastShapes, broadcastArrays, meshgrid, canCast, promoteTypes, isdtype, finfo, iinfo, dtypes, tidy, scope, Scope,
  keep, dispose, memory, flush, backend, manualSeed, arange, linspace, eye, rand, randn, randint, SamebytesError,
  fromDlpack, type Capsule, type Tensor, type DtypeName, type Memory, type Promote, type FloatInfo
} from 'samebytes'
import { is, type Equal, type Expect } from './equal.mjs'

const i8 = zeros([2, 3], 'int8')
const f32 = zeros([2, 3])
type I8 = Tensor<'int8'>

// ---- Views ----

is<I8>()(i8.slice(0, '1:', null, { start: 1, step: -1 }))
is<I8>()(i8.select(0, 1))
is<I8>()(i8.narrow(0, 0, 1))
is<I8>()(i8.permute(1, 0))
is<I8>()(i8.permute([1, 0]))
is<I8>()(i8.transpose(0, 1))
is<I8>()(i8.T)
is<I8>()(i8.mT)
is<I8>()(i8.reshape(3, -1))
is<I8>()(i8.reshape([3, 2], { copy: false }))
is<I8>()(i8.view([3, 2]))
is<I8>()(i8.view({ strides: [1, 2] }))
is<Tensor<'uint8'>>()(i8.view('uint8'))
is<Tensor<'uint8'>>()(i8.view({ dtype: 'uint8' }))
is<Tensor<'uint8'>>()(i8.view([6], { dtype: 'uint8', offset: 0 }))
is<I8>()(i8.unfold(0, 1, 1))
is<I8>()(i8.squeeze().squeeze(0).squeeze([0, 1]))
is<I8>()(i8.unsqueeze(0).unsqueeze([0, -1]))
is<I8>()(i8.moveaxis(0, -1).moveaxis([0, 1], [1, 0]))
is<I8>()(i8.expand(2, 3).broadcastTo([2, 2, 3]))
is<I8>()(i8.flip().flip([0]))
is<I8>()(i8.diagonal())
is<I8>()(i8.asStrided([2], [1]))
is<I8[]>()(i8.split(1))
is<I8[]>()(i8.chunk(2))
is<I8[]>()(i8.unbind())
is<I8>()(i8.resize(1, 3))
is<I8>()(i8.setData(new Int8Array(6)))
is<I8>()(i8.setData(i8))
is<Tensor<any> | undefined>()(i8.base)

// ---- Copies ----

is<I8>()(i8.clone())
is<Tensor<'float32'>>()(i8.clone('float32'))
is<Tensor<'float32'>>()(i8.clone({ dtype: 'float32' }))
is<Tensor<'float32'>>()(i8.clone({ out: f32 }))
is<Tensor<'float64'>>()(i8.astype('float64', { casting: 'safe' }))
is<I8>()(i8.contiguous())
is<Tensor<'float32'>>()(i8.contiguous({ out: f32 }))
is<I8>()(i8.toMemoryFormat('channels_last'))
is<I8>()(i8.to('cpu'))
is<I8>()(i8.to('cuda:0', { copy: true }))
is<Tensor<'float32'>>()(i8.to('float32'))
is<Tensor<'float32'>>()(i8.to({ dtype: 'float32', device: 'cpu' }))
is<Tensor<'float32'>>()(i8.to('cpu', { dtype: 'float32' }))
is<I8>()(i8.to({ device: 'cpu' }))
is<I8>()(i8.cpu())
is<I8>()(i8.cuda(1))
is<Promise<Tensor<'float32'>>>()(i8.toAsync('float32', { signal: new AbortController().signal }))
is<Promise<I8>>()(i8.toAsync('cpu'))
is<Promise<I8>>()(i8.cpuAsync())
is<Promise<I8>>()(i8.cudaAsync(0))
is<I8>()(i8.shareMemory())
is<Capsule>()(i8.__dlpack__())
is<Capsule>()(i8.__dlpack__({ maxVersion: [1, 0], copy: true, dlDevice: i8.__dlpack_device__(), stream: null }))
is<[type: number, id: number]>()(i8.__dlpack_device__())
is<Tensor>()(fromDlpack(i8.__dlpack__()))
is<Tensor>()(fromDlpack({ __dlpack__: options => i8.__dlpack__(options), __dlpack_device__: () => i8.__dlpack_device__() }))
is<I8>()(fromDlpack(i8))
is<I8>()(fromDlpack(i8, { copy: true }))
is<Tensor>()(fromDlpack(i8.__dlpack__(), { copy: false }))
// @ts-expect-error a number is no capsule
fromDlpack(1)
// @ts-expect-error the version has two parts
i8.__dlpack__({ maxVersion: 1 })
is<I8>()(i8.tile(2))
is<Tensor<'int16'>>()(i8.tile([2], 'int16'))
is<I8>()(i8.repeat(2, { axis: 0 }))
is<I8>()(i8.repeat(zeros([2], 'int32')))
is<I8>()(i8.roll(1, 0))
is<Tensor<'int16'>>()(i8.roll(1, { dtype: 'int16' }))
is<I8>()(i8.take([0, 1], 0))
is<I8>()(i8.take(new BigInt64Array(1)))
is<I8>()(i8.copyFrom(f32, { casting: 'unsafe', scale: [1, 2, 3], axis: 1 }))
is<Promise<I8>>()(i8.copyFromAsync([[1, 2, 3]], { scale: 2 }))
is<I8>()(i8.copyFrom(f32, { scale: f32, bias: i8, axis: 0 }))
i8.copyFrom({ data: new Uint8ClampedArray(4), width: 1, height: 1 })
is<number>()(i8.toImageData().width)

// ---- Several ----

is<I8>()(concat([i8, i8]))
is<I8>()(concat(i8, i8))
is<I8>()(concat(i8, i8, 1))
is<Tensor<'float32'>>()(concat([i8, f32], 1))
is<Tensor<'float32'>>()(concat(i8, f32, 1))
is<Tensor<'float64'>>()(concat(i8, f32, { axis: 1, dtype: 'float64' }))
is<Tensor<'float64'>>()(concat(i8, f32, null, 'float64'))
is<Tensor<'float64'>>()(concat([i8, f32], { dtype: 'float64' }))
is<Tensor<'float64'>>()(concat([i8], 0, { out: zeros([2], 'float64') }))
declare const list: I8[]
is<I8>()(concat(list))
declare const mixed: (I8 | Tensor<'float32'>)[]
is<Tensor<any>>()(concat(mixed))
is<Tensor<any>>()(concat([i8, f32 as Tensor]))
is<I8>()(stack([i8, i8], 1))
is<Tensor<'float32'>>()(stack(i8, f32, -1))
is<Tensor<'float64'>>()(stack(i8, f32, -1, 'float64'))
is<I8>()(moveaxis(i8, 0, [1]))
is<I8>()(tril(i8))
is<I8>()(tril(i8, { k: 1, out: i8 }))
is<Tensor<'int16'>>()(triu(i8, { k: 1, dtype: 'int16' }))
is<Tensor<'int16'>>()(triu(i8, 'int16'))
is<I8>()(takeAlongAxis(i8, zeros([2, 1], 'int32')))
is<Tensor<'float32'>>()(takeAlongAxis(i8, zeros([2, 1], 'int32'), { axis: 0, out: f32 }))
is<Tensor<'float32'>>()(takeAlongAxis(i8, zeros([2, 1], 'int32'), 0, 'float32'))
is<number[]>()(broadcastShapes([2, 1] as const, 3, i8.shape))
is<[I8, Tensor<'float32'>]>()(broadcastArrays(i8, f32))
is<[I8, Tensor<'float32'>]>()(broadcastArrays([i8, f32]))
is<[I8, Tensor<'float32'>]>()(meshgrid(i8, f32))
is<[I8, Tensor<'float32'>]>()(meshgrid(i8, f32, { indexing: 'ij' }))
is<[I8, Tensor<'float32'>]>()(meshgrid([i8, f32], { indexing: 'xy' }))
declare const some: I8[]
is<I8[]>()(broadcastArrays(...some))
is<I8[]>()(meshgrid(some))
is<I8[]>()(meshgrid(...some, { indexing: 'ij' }))
is<[I8, Tensor<'float32'>, I8]>()(meshgrid(i8, f32, i8, { indexing: 'ij' }))
is<[I8, Tensor<'float32'>, I8]>()(broadcastArrays(i8, f32, i8))
is<Tensor<'int8' | 'float32'>[]>()(broadcastArrays(i8, f32, i8, i8))
is<boolean>()(arrayEqual(i8, f32, { equalNaN: true }))
is<boolean>()(arrayEqual([i8, f32, f32]))
is<boolean>()(allClose(i8, f32, { rtol: 0 }))
is<boolean>()(allClose([i8, f32], { atol: 0 }))
is<boolean>()(sharesMemory(i8, i8.T))
is<boolean>()(sharesMemory([i8, i8.T]))

// ---- Dtypes ----

is<'float32'>()(promoteTypes('int64', 'float32'))
is<'float64'>()(promoteTypes('uint64', 'int8'))
export type Promotions = [
  Expect<Equal<Promote<'int8' | 'int16', 'uint8'>, 'int16'>>,
  Expect<Equal<Promote<any, 'uint8'>, any>>
]
declare const dtype: DtypeName
is<DtypeName>()(promoteTypes(dtype, dtype))
is<boolean>()(canCast('int8', dtype, 'safe'))
is<boolean>()(canCast(i8, 'float32'))
is<boolean>()(isdtype(dtype, 'real floating'))
is<boolean>()(isdtype('int8', ['bool', 'integral', dtype] as const))
is<readonly DtypeName[]>()(dtypes)
is<FloatInfo>()(finfo('complex64'))
is<number>()(finfo(f32).eps)
is<number>()(iinfo('int8').max)
is<bigint>()(iinfo('int64').max)
is<number>()(iinfo(i8).min)
is<'int8'>()(iinfo('int8').dtype)

// ---- Lifetime and the rest ----

is<I8>()(tidy(() => i8.T))
is<{ a: I8 }>()(tidy(() => ({ a: i8 })))
is<Promise<I8>>()(scope(async s => s.track(i8)))
is<I8>()(keep(i8))
dispose([i8, f32])
dispose(i8)
using s = new Scope()
is<I8[]>()(s.track([i8]))
using u = zeros([2])
is<Tensor<'float32'>>()(u)
is<Memory>()(memory())
is<number>()(memory().bytes.v8)
is<Promise<void>>()(flush())
is<'native' | 'wasm' | 'wasm-shared'>()(backend())
is<bigint>()(manualSeed(1).seed)
is<string>()(new SamebytesError('text', 'ERR_BUSY').message)

// ---- In functions over any dtype ----

export function made<D extends DtypeName> (dtype: D, like: Tensor): Tensor<D>[] {
  return [
    empty([2], dtype), empty([2], { dtype }), zeros([2], dtype), zeros([2], { dtype, shared: true }), ones([2], dtype), ones([2], { dtype }),
    full([2], 1, dtype), full([2], true, { dtype }), zerosLike(like, { dtype }),
    arange(5, dtype), arange(0, 5, { dtype }), arange(0, 5, 1, { dtype }), linspace(0, 1, 5, { dtype }), linspace(0, 1, 5, dtype), eye(3, { dtype }), eye(3, 3, dtype),
    like.astype(dtype), like.to(dtype), like.to({ dtype, copy: true }), like.to(dtype, { casting: 'unsafe' }), like.to('cpu', { dtype })
  ]
}
export function moved<D extends DtypeName> (dtype: D, like: Tensor): Promise<Tensor<D>>[] {
  return [like.toAsync(dtype), like.toAsync({ dtype }), like.toAsync('cpu', { dtype })]
}
export function kept<D extends DtypeName> (a: Tensor<D>, b: Tensor<D>, rest: Tensor<D>[]): Tensor<D>[] {
  return [
    concat(a, b), concat(a, b, 1), concat(a, b, a, { axis: 0 }), concat(a, b, a, b), stack(a, b), stack(a, b, a), stack(a, b, a, b, -1),
    concat([a, b]), concat([a, b], 1), concat(rest), concat([a, ...rest], { axis: 0 }), stack([a, b]), stack(rest, -1), stack([a, ...rest]),
    zerosLike(a), clone(a), a.to('cpu'), a.clone(), a.contiguous(), a.slice(0), ...a.rows(), a.take([0]), a.copyFrom(b), a.setData(b),
    moveaxis(a, 0, 1), a.moveaxis(0, 1), a.unsqueeze([0, 1]), tril(a), triu(a, { k: 1 }), takeAlongAxis(a, b, { axis: 0 }), fromDlpack(a), ...broadcastArrays(a, b), ...meshgrid(a, b)
  ]
}
export function drawn<D extends 'float32' | 'float64'> (dtype: D): Tensor<D>[] { return [rand([2], { dtype }), rand([2], dtype), randn([2], { dtype })] }
export function drawnIntegers<D extends 'int8' | 'int64'> (dtype: D): Tensor<D>[] { return [randint(0, 5, [2], { dtype }), randint(0n, 5n, [2], dtype)] }
export function average<D extends 'float32' | 'float64'> (list: readonly Tensor<D>[]): Tensor<D> { return stack(list) }
is<Tensor<'float32'>>()(average([f32, f32]))
declare const either: Tensor<'int8'> | Tensor<'uint8'>
declare const eitherOf: Tensor<'int8' | 'uint8'>
is<Tensor<any>>()(concat([either].map(t => t)))
is<Tensor<'int8' | 'uint8' | 'int16'>>()(stack([eitherOf, eitherOf]))
declare const perhaps: DtypeName | undefined
is<Tensor<DtypeName>>()(zeros([2], perhaps))
is<Tensor<'int8' | 'float32'>>()(zeros([2], f32.ndim > 1 ? 'int8' : 'float32'))
declare const wanted: DtypeName | { device: 'cpu' }
i8.to(wanted)
// @ts-expect-error There is no such dtype.
i8.to('int7')
// @ts-expect-error They are of int8.
export const wider: Tensor<'int16'> = concat([i8, i8])

// ---- What must not compile ----

// @ts-expect-error There is no such kind.
isdtype('int8', 'integer')
// @ts-expect-error There is no such word.
meshgrid(i8, { indexing: 'ji' })
// @ts-expect-error It is no tensor.
broadcastArrays(i8, 3)
// @ts-expect-error A list is no tensor.
takeAlongAxis(i8, [0])
// @ts-expect-error There is no such option.
tril(i8, { diagonal: 1 })
// @ts-expect-error The axes' places are needed.
i8.moveaxis(0)

// @ts-expect-error There is no such dtype.
i8.astype('float33')
// @ts-expect-error There is no such dtype or device.
i8.to('gpu')
// @ts-expect-error There is no such option.
i8.to('cpu', { kopie: true })
// @ts-expect-error There is no such option.
i8.clone({ type: 'int8' })
// @ts-expect-error There is no such rule.
i8.clone({ casting: 'loose' })
// @ts-expect-error There is no such option.
i8.view([6], { stride: [1] })
// @ts-expect-error There is no such option.
i8.reshape([6], { kopie: true })
// @ts-expect-error Axes are numbers.
i8.permute('1', '0')
// @ts-expect-error A slice has no end.
i8.slice({ end: 1 })
// @ts-expect-error Bytes of another dtype.
i8.setData(new Float32Array(6))
// @ts-expect-error A tensor of another dtype.
i8.setData(f32)
// @ts-expect-error There is no such format.
i8.isContiguous('channels_first')
// @ts-expect-error There is no such option.
i8.copyFrom(f32, { scales: 2 })
// @ts-expect-error copyFrom takes no signal.
i8.copyFrom(f32, { signal: new AbortController().signal })
// @ts-expect-error A string is no source.
i8.copyFrom('1')
// @ts-expect-error A list of numbers is no list of tensors.
concat([1, 2])
// @ts-expect-error There is no such option.
concat([i8, i8], { along: 1 })
// @ts-expect-error stack has an axis of its own.
stack([i8, i8], null)
// @ts-expect-error There is no such option.
arrayEqual(i8, i8, { equalNan: true })
// @ts-expect-error There is no such dtype.
promoteTypes('int8', 'int7')
// @ts-expect-error finfo is for floats.
finfo('int8')
// @ts-expect-error iinfo is for integers.
iinfo('float32')
// @ts-expect-error There is no such dtype.
canCast('int8', 'int7')
// @ts-expect-error A number is not kept.
keep(1)
// @ts-expect-error Nor tracked.
s.track(1)
// @ts-expect-error The names are nobody's to change.
dtypes.push('int8')
