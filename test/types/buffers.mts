// Bytes for others: what is over an ArrayBuffer says so, from TypeScript 5.7 on; older compilers know no difference.
import { fromBlob, stack, toNpyBytes, toNpzBytes, toSafetensorsBytes, zeros, type BufferOf, type DataOf, type DtypeName, type Tensor } from 'samebytes'
import { add } from 'samebytes/math'
import type { Equal, Expect } from './equal.mjs'

const t = zeros([4])
const bytes = zeros([4], 'uint8')
const parts: BlobPart[] = [toNpyBytes(t), toNpzBytes({ t }), toSafetensorsBytes({ t }), t.data, bytes.data, bytes.bytes, t.slice('1:').data, add(t, 1).data]
void new Blob([...parts, toNpyBytes(t)])
void new Response(toNpyBytes(t))
void new Response(bytes.data)
void crypto.subtle.digest('SHA-256', toNpyBytes(t))
void crypto.subtle.digest('SHA-256', t.bytes)
void fetch('https://example.invalid', { method: 'PUT', body: toSafetensorsBytes({ t }) })
export const play = (buffer: AudioBuffer, sound: Tensor<'float32'>): void => {
  buffer.copyToChannel(sound.data, 0)
  buffer.copyToChannel(sound.select(0, 1).data, 1)
}
export const send = (channel: RTCDataChannel, socket: WebSocket): void => {
  channel.send(t.bytes)
  socket.send(t.bytes)
}
void new ImageData(zeros([4, 4, 4], 'uint8').toImageData().data, 4)

// Of whatever dtype, and in functions over tensors.
void new Blob([(t as Tensor).data])
export const blobOf = (some: Tensor<'float32' | 'int16'>): Blob => new Blob([some.data])
export const fileOf = <D extends DtypeName>(some: Tensor<D>): Blob => new Blob([some.bytes])
let next = zeros([2])
next = add(next, 1)
next = next.reshape([2, 1])

// Over a SharedArrayBuffer, which a program may say; all functions take such tensors.
type Owned = ReturnType<Uint8Array['slice']>
/** Older libraries take a SharedArrayBuffer for an ArrayBuffer. */
type Shared = SharedArrayBuffer extends ArrayBuffer ? Owned : Uint8Array
type IsOwned<A> = A extends Owned ? true : false
const shared = fromBlob(new SharedArrayBuffer(4), [4], 'uint8')
export type Checks = [
  Expect<Equal<BufferOf<SharedArrayBuffer>, SharedArrayBuffer>>,
  Expect<Equal<BufferOf<number[]>, any>>,
  Expect<Equal<typeof shared, Tensor<'uint8', SharedArrayBuffer>>>,
  Expect<Equal<typeof shared.data, Shared>>,
  Expect<Equal<IsOwned<typeof shared.data>, IsOwned<Shared>>>,
  Expect<Equal<IsOwned<ReturnType<typeof shared.reshape>['bytes']>, IsOwned<Shared>>>,
  Expect<Equal<IsOwned<DataOf<'uint8'>>, true>>,
  Expect<Equal<IsOwned<DataOf<'uint8', SharedArrayBuffer>>, IsOwned<Shared>>>,
  Expect<Equal<typeof bytes.data, Owned>>
]
const any: Tensor = shared
const one: Tensor<'uint8'> = shared
const list: Tensor<'uint8' | 'float32', ArrayBufferLike>[] = [shared, t]
add(shared, any)
stack(list).set(1, 0)
bytes.copyFrom(shared).setData(shared.data)
one.set(1, 0)
