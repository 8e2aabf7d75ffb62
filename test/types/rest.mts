// What the other files leave out: properties, lifetime, the package itself. Compiled only.
import { init, zeros, memory, setMemoryLimit, wasmMemory, share, fromShared, unshare, hostRegister, pythonPath, Scope, Generator, SamebytesError, type Arrays, type DeviceName, type Dynamism, type Elements, type ErrorCode, type InitOptions, type NestedArray, type NestedAs, type Rank, type Token, type Tensor, type VramDescriptor } from 'samebytes'
import { init as initInline } from 'samebytes/inline'
import { Module } from 'samebytes/module'
import { include, library } from 'samebytes/native'
import { is } from './equal.mjs'

const t = zeros([2, 3], 'int16')
is<number>()(t.byteOffset + t.size + t.numel + t.itemsize + t.capacity + t.nbytes + t.ndim)
is<number[]>()(t.dimOrder)
is<Dynamism>()(t.dynamism)
is<DeviceName>()(t.device)
is<boolean>()(t.isView || t.isReadOnly || t.isShared || t.isPinned || t.isDisposed)
is<Tensor<'int16'>>()(t.setBytes(Uint8Array.of(1, 0)))
JSON.stringify(t.toJSON())
is<string>()(t.toString())
is<string>()(`${t}`)
for (const row of t) void row
for (const row of t.rows()) is<Tensor<'int16'>>()(row)
t[Symbol.dispose]()
is<void>()(t.dispose())

const options: InitOptions = { shared: 'auto' }
is<Promise<void>>()(init(options))
is<Promise<void>>()(initInline())
const token: Token = share(zeros([2], { shared: true }))
is<Tensor<any>>()(fromShared(token))
unshare(token)
is<void>()(setMemoryLimit(2 ** 30))
is<number>()(memory().copied.clone?.bytes ?? 0)
const heap: ArrayBufferLike | undefined = wasmMemory()?.buffer
const scope = new Scope()
scope[Symbol.dispose]()
is<bigint>()(new Generator(1).seed)
declare const error: unknown
if (error instanceof SamebytesError) is<ErrorCode>()(error.code)
function advice (error: unknown): string {
  const { code } = error as { code?: ErrorCode }
  switch (code) {
    case 'ERR_NOT_FOUND': return 'train first'
    // @ts-expect-error There is no such code.
    case 'ERR_NOT_FUOND': return 'never'
    default: return code ?? 'no error of samebytes'
  }
}
is<string>()(advice(error))
is<string | null>()(pythonPath)
const f32 = zeros([2])
is<Tensor<'float32'>>()(f32.pinMemory())
is<Tensor<'float32'>>()(hostRegister(f32))
is<Promise<Tensor<'float32'>>>()(f32.ready())
is<string | undefined>()(f32.__cudaArrayInterface__?.typestr)
is<string>()(include)
is<string | null>()(library)

declare const module: Module
is<boolean>()(module.isDisposed)
module.getOutput(0)
module.meta('forward')
await module[Symbol.asyncDispose]()

// ---- What must not compile ----

// @ts-expect-error A limit is a number.
setMemoryLimit(1n)
// @ts-expect-error There is no such option.
init({ share: true })
// @ts-expect-error There is no such word.
init({ shared: 'yes' })
// @ts-expect-error A tensor is no token.
fromShared(t)
// @ts-expect-error Nor here.
unshare(t)
// @ts-expect-error A shape is no tensor.
hostRegister([2])
// @ts-expect-error It tells, and is not told.
t.isReadOnly = true
// @ts-expect-error Bytes are no numbers.
t.setBytes([1, 2])
// @ts-expect-error A name or a number.
module.getOutput({})

// Types that programs name.
is<bigint>()(null! as Elements['int64'])
is<Uint8Array>()(null! as Arrays['bool'])
is<number[][]>()(null! as NestedAs<'float32', 2>)
const lists: NestedArray<number> = [[1], [2]]
const axes: Rank = 2
const sent: Token<'int8'> | VramDescriptor<'int8'> = share(zeros([2], 'int8'))

export { heap, lists, axes, sent }
