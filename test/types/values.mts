// What a tensor gives and takes, by dtype. Compiled only, with and without Float16Array in the lib.
import { zeros, tensor, Tensor, type DtypeName, type NestedOf, type ValueOf, type DataOf } from 'samebytes'
import { is, type Equal, type Expect, type Owned } from './equal.mjs'

// ---- Elements and arrays ----

type Half = typeof globalThis extends { Float16Array: { prototype: infer A } } ? A : Uint16Array

export type Elements = [
  Expect<Equal<ValueOf<'bool'>, boolean>>,
  Expect<Equal<ValueOf<'uint8' | 'int8' | 'int16' | 'uint16' | 'int32' | 'uint32'>, number>>,
  Expect<Equal<ValueOf<'int64' | 'uint64'>, bigint>>,
  Expect<Equal<ValueOf<'float16' | 'bfloat16' | 'float32' | 'float64' | 'float8_e4m3fn' | 'float8_e5m2'>, number>>,
  Expect<Equal<ValueOf<'complex64' | 'complex128'>, [number, number]>>,
  Expect<Equal<ValueOf<any>, any>>
]
export type Arrays = [
  Expect<Equal<DataOf<'bool'>, Owned<Uint8Array>>>,
  Expect<Equal<DataOf<'uint8'>, Owned<Uint8Array>>>,
  Expect<Equal<DataOf<'int8'>, Owned<Int8Array>>>,
  Expect<Equal<DataOf<'int16'>, Owned<Int16Array>>>,
  Expect<Equal<DataOf<'uint16'>, Owned<Uint16Array>>>,
  Expect<Equal<DataOf<'int32'>, Owned<Int32Array>>>,
  Expect<Equal<DataOf<'uint32'>, Owned<Uint32Array>>>,
  Expect<Equal<DataOf<'int64'>, Owned<BigInt64Array>>>,
  Expect<Equal<DataOf<'uint64'>, Owned<BigUint64Array>>>,
  Expect<Equal<DataOf<'float16'>, Owned<Half>>>,
  Expect<Equal<DataOf<'bfloat16'>, Owned<Uint16Array>>>,
  Expect<Equal<DataOf<'float32'>, Owned<Float32Array>>>,
  Expect<Equal<DataOf<'float64'>, Owned<Float64Array>>>,
  Expect<Equal<DataOf<'complex64'>, Owned<Float32Array>>>,
  Expect<Equal<DataOf<'complex128'>, Owned<Float64Array>>>,
  Expect<Equal<DataOf<'float8_e4m3fn' | 'float8_e5m2'>, Owned<Uint8Array>>>,
  Expect<Equal<DataOf<any>, any>>
]

// ---- A tensor of a known dtype ----

const f32 = zeros([2, 2])
is<Tensor<'float32'>>()(f32)
is<'float32'>()(f32.dtype)
is<'float32'>()(f32.type)
is<readonly number[]>()(f32.shape)
is<readonly number[]>()(f32.strides)
is<readonly number[]>()(f32.dims)
zeros(f32.shape).expand(f32.shape)
is<Owned<Float32Array>>()(f32.data)
is<number>()(f32.item())
is<number>()(f32.get(0, 0))
is<number | Tensor<'float32'>>()(f32.at(0))
for (const row of f32) is<number | Tensor<'float32'>>()(row)
const rows: number[][] = f32.toArray()
const list: number[] = f32.tolist()
is<number>()(f32.toArray<0>())
is<number[][]>()(f32.toArray<2>())
is<number[][]>()(f32.tolist<2>())
is<bigint[][][]>()(zeros([1, 1, 1], 'int64').toArray<3>())
is<NestedOf<'float32'>>()(f32.toArray())
const inner: number | undefined = f32.toArray<2>()[0]?.[1]
function listed<D extends DtypeName> (t: Tensor<D>): NestedOf<D> { return t.toArray() }
function row0<D extends DtypeName> (t: Tensor<D>): ValueOf<D>[] { return t.toArray<1>() }
const row: Tensor<'float32'> = f32.at(0)
const element: number = f32.at(0, 0)
is<number[][][]>()(f32.toArray<number[][][]>())
f32.set(1, 0, 0)
f32.set(1n, 0, 0) // where it fits
f32.fill(true)
is<Tensor<'float32'>>()(f32.fill(1).zero().copyFrom([1, 2]))
is<(...index: number[]) => number>()(f32.accessor().get)
f32.accessor({ dtype: 'float32', ndim: 2 }).set(1, 0, 0)
is<'float32'>()(f32.toBlob().dtype)
is<bigint>()(f32.dataPtr)

const i64 = zeros([2], 'int64')
is<bigint>()(i64.item())
is<Owned<BigInt64Array>>()(i64.data)
i64.set(1n, 0)
i64.set(1, 0)
const bigs: bigint[] = i64.toArray()

const b = zeros([2], 'bool')
is<boolean>()(b.get(0))
is<Owned<Uint8Array>>()(b.data)
b.set(true, 0)

const c = zeros([2], 'complex64')
is<[number, number]>()(c.get(0))
is<Owned<Float32Array>>()(c.data)
c.set([1, 2], 0)
c.fill(1)

is<Owned<Half>>()(zeros([2], 'float16').data)

// ---- A tensor of whatever dtype ----

declare const t: Tensor
is<Tensor<any>>()(t)
is<DtypeName>()(t.dtype)
is<any>()(t.data)
is<any>()(t.item())
t.data[0] = t.item() + t.get(0)
t.toArray()[0][0].toFixed()
is<any[][]>()(t.toArray<2>())
for (const part of t) part.slice(0)
t.set(1n, 0)
t.fill([1, 2])
const anything: Tensor = f32
const something: Tensor<'float32'> = t
const either: Tensor<'float32'> | Tensor<'float64'> = f32 as Tensor<'float32'> | Tensor<'float64'>
is<number>()(either.item())
declare const unknown: unknown
if (Tensor.isTensor(unknown)) is<Tensor>()(unknown)
declare const dtype: DtypeName
is<number | bigint | boolean | [number, number]>()(zeros([1], dtype).item())

// ---- One of several dtypes ----

const several: Tensor<'float32' | 'float64'> = f32
const whatever: Tensor<DtypeName> = several
const known: Tensor<DtypeName>[] = [f32, i64, b, c]
is<'float32' | 'float64'>()(several.dtype)
is<Owned<Float32Array | Float64Array>>()(several.data)
several.fill(1).set(1, 0, 0)
function mean (t: Tensor<'float32' | 'float64'>): number { return t.item() }
mean(f32)
mean(t)
function norm<D extends 'float32' | 'float64'> (t: Tensor<D>): Tensor<D> { return t.clone() }
is<Tensor<'float32'>>()(norm(f32))
// @ts-expect-error It is of neither.
mean(i64)
// @ts-expect-error It may be of the other.
const single: Tensor<'float32'> = several

// ---- What must not compile ----

// @ts-expect-error The constructor is nobody's.
void new Tensor()
// @ts-expect-error It is not even with arguments.
void new Tensor(Symbol('key'), {}, undefined)
// @ts-expect-error Typed arrays have no foo.
void f32.data.foo
// @ts-expect-error A bigint is no number.
const number: number = i64.item()
// @ts-expect-error A number is no bigint.
const bigint: bigint = f32.get(0, 0)
// @ts-expect-error Elements are numbers.
const texts: string[] = f32.toArray()
// @ts-expect-error They are bigints here.
const numbers: number[] = i64.toArray()
// @ts-expect-error A string is no element.
f32.set('1', 0, 0)
// @ts-expect-error A pair is an element of complex tensors only.
f32.set([1, 2], 0, 0)
// @ts-expect-error Likewise.
f32.fill([1, 2])
// @ts-expect-error An index is a number.
f32.get('0')
// @ts-expect-error A shape is not changed by its list.
f32.shape.push(9)
// @ts-expect-error Nor are strides.
f32.strides[0] = 9
// @ts-expect-error dtypes are not assigned.
f32.dtype = 'float64'
// @ts-expect-error Nor is data.
f32.data = new Float32Array(4)
// @ts-expect-error A tensor of float64 is none of float32.
const narrower: Tensor<'float32'> = zeros([2], 'float64')
// @ts-expect-error There is no such dtype.
type Wrong = Tensor<'float33'>
// @ts-expect-error The accessor is for the tensor's dtype.
f32.accessor({ dtype: 'float64' })
// @ts-expect-error There is no such option.
f32.accessor({ rank: 2 })
// @ts-expect-error There is no such method.
f32.matmul(f32)
void [tensor, rows, list, inner, listed, row0, row, element, bigs, anything, something, number, bigint, texts, numbers, narrower, 0 as unknown as Wrong]
