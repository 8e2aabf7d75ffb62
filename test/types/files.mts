// Tensors in files and in the bytes of files. Compiled only.
import {
  zeros, parseNpy, parseNpz, parseSafetensors, parseGguf, toNpyBytes, toNpzBytes, toSafetensorsBytes, fetchNpy, fetchNpz, fetchSafetensors, fetchGguf, openNpy, openNpz, openSafetensors,
  openGguf, openRaw, createNpy, createSafetensors, saveNpy, saveNpz, saveSafetensors, saveNpySync, saveNpzSync, saveSafetensorsSync,
  save, load, alloc, type DtypeName, type RemoteFile, type SaveOptions, type Tensor, type TensorFile, type TensorInfo, type Tensors
} from 'samebytes'
import { is, type Owned } from './equal.mjs'

const t = zeros([2], 'int8')
const bytes = new Uint8Array(8)
const url = new URL('file:///x.npy')

// ---- Bytes ----

is<Tensor<any>>()(parseNpy(bytes))
is<Tensor<any>>()(parseNpy(bytes, {}))
is<Tensor<any>>()(parseNpy(bytes, { dtype: undefined }))
is<Tensor<'bfloat16'>>()(parseNpy(bytes.buffer, 'bfloat16'))
is<Tensor<'bfloat16'>>()(parseNpy(bytes, { dtype: 'bfloat16' }))
is<TensorFile>()(parseNpz(bytes, { dtype: 'bfloat16' }))
is<TensorFile>()(parseSafetensors(bytes))
is<TensorFile>()(parseGguf(new DataView(bytes.buffer)))
toNpyBytes(t).byteLength.toFixed()
toNpzBytes({ a: t, b: zeros([2]) }).byteLength.toFixed()
toNpzBytes(t).byteLength.toFixed()
toSafetensorsBytes(new Map([['a', t]]), { metadata: { made: 'here' } }).byteLength.toFixed()
const many: Tensors = [['a', t]]
is<Uint8Array>()(alloc(8))

// ---- Files ----

is<Tensor<any>>()(openNpy('x.npy'))
is<Tensor<any>>()(openNpy('x.npy', { mode: 'c' }))
is<Tensor<any>>()(openNpy('x.npy', { mode: 'r+', guard: true, dtype: undefined }))
is<Tensor<'float16'>>()(openNpy('x.npy', 'float16'))
is<Tensor<'float16'>>()(openNpy(url, { dtype: 'float16', mode: 'r+', guard: true }))
is<TensorFile>()(openNpz('x.npz', 'bfloat16'))
is<TensorFile>()(openSafetensors(url, { mode: 'c' }))
is<TensorFile>()(openGguf('x.gguf'))
is<TensorFile>()(openSafetensors(String(url)))
const remote = fetchSafetensors('https://example.org/x.safetensors', { retries: 2 })
is<Promise<RemoteFile>>()(remote)
is<Promise<Tensor<'float16'>>>()(remote.then(file => file.load('a', { dtype: 'float16', out: t })))
is<Promise<Record<string, Tensor<any>>>>()(remote.then(file => file.loadAll({ out: { a: t } })))
is<Promise<RemoteFile>>()(fetchNpz(url, { dtype: 'float32' }))
is<Promise<RemoteFile>>()(fetchGguf('x.gguf'))
is<Promise<Tensor<any>>>()(fetchNpy(String(url)))
is<Promise<Tensor<'float16'>>>()(fetchNpy(new URL('http://localhost/x.npy'), { dtype: 'float16', out: t }))
is<Tensor<'uint8'>>()(openRaw('x.bin', [2, 4], 'uint8'))
is<Tensor<'uint8'>>()(openRaw('x.bin', null, { dtype: 'uint8', byteOffset: 4, mode: 'r' }))
is<Tensor<'float32'>>()(createNpy('x.npy', [2, 3]))
is<Tensor<'float32'>>()(createNpy('x.npy', [2, 3], { order: 'F' }))
is<Tensor<'int8'>>()(createNpy('x.npy', [2, 3], 'int8'))
is<Tensor<'int16'>>()(createNpy(url, 4, { dtype: 'int16', order: 'F', ifExists: 'error' }))
is<TensorFile>()(createSafetensors('x.safetensors', { a: { shape: [2], dtype: 'int8' } }, { metadata: {}, ifExists: 'replace' }))
const options: SaveOptions = { signal: new AbortController().signal, onProgress: ({ done, total }) => { is<number>()(done + total) } }
is<Promise<void>>()(saveNpy('x.npy', t, options))
is<Promise<void>>()(saveNpz('x.npz', many))
is<Promise<void>>()(saveSafetensors(url, { a: t }, { metadata: { made: 'here' } }))
is<Promise<void>>()(save('x.npy', t))
is<Promise<void>>()(save('x.npz', many, options))
is<void>()(saveNpySync('x.npy', t))
is<void>()(saveNpySync('x.npy', t, { ifExists: 'error' }))
is<void>()(saveNpzSync('x.npz', { a: t }, { ifExists: 'error' }))
is<void>()(saveNpzSync('x.npz', { a: t }))
is<void>()(saveSafetensorsSync('x.safetensors', many, { metadata: {} }))
is<Promise<Tensor<any>>>()(load('a.npy'))
is<Promise<Tensor<any>>>()(load('a.npy', { signal: new AbortController().signal }))
is<Promise<Tensor<'bfloat16'>>>()(load('a.npy', { dtype: 'bfloat16' }))
is<Promise<TensorFile>>()(load('a.npz', { dtype: 'bfloat16' }))
is<Promise<TensorFile>>()(load('a.npz'))
is<Promise<TensorFile>>()(load('a.safetensors', { signal: new AbortController().signal }))
is<Promise<TensorFile>>()(load('a.gguf'))
is<Promise<any>>()(load(String(url)))
is<Promise<any>>()(load(url, { dtype: 'bfloat16', onProgress: ({ done }) => { void done } }))

// ---- What is in them ----

const file = openSafetensors('x.safetensors')
is<Tensor<any>>()(file.get('a'))
is<Owned<Float32Array>>()(file.get('a').to('float32').data)
is<Tensor<any> | undefined>()(file.find('a'))
is<Promise<Tensor<any>>>()(file.load('a'))
is<boolean>()(file.has('a') && file.size > 0)
is<string[]>()([...file.keys()])
is<TensorInfo>()(file.info('a'))
is<DtypeName>()(file.info('a').dtype)
for (const [name, tensor] of file) {
  is<string>()(name)
  is<Tensor<any>>()(tensor)
}
is<void>()(file.close())
is<void>()(file.dispose())

// ---- What must not compile ----

// @ts-expect-error A path is no number.
openNpy(1)
// @ts-expect-error There is no such mode.
openNpy('x.npy', { mode: 'w' })
// @ts-expect-error There is no such dtype.
openRaw('x.bin', null, 'int7')
// @ts-expect-error A shape is needed.
createNpy('x.npy')
// @ts-expect-error There is no such word.
createNpy('x.npy', [2], { ifExists: 'open' })
// @ts-expect-error Tensors have a dtype.
createSafetensors('x.safetensors', { a: { shape: [2] } })
// @ts-expect-error A .npy has one tensor.
saveNpySync('x.npy', { a: t })
// @ts-expect-error metadata is of .safetensors
void saveNpz('x.npz', { a: t }, { metadata: { a: 'b' } })
// @ts-expect-error Tensors have names.
saveNpzSync('x.npz', [t])
// @ts-expect-error There is no such option.
void saveNpy('x.npy', t, { compress: true })
// @ts-expect-error Numbers are no tensors.
toNpzBytes({ a: 1 })
// @ts-expect-error A string has no bytes.
parseNpy('x')
// @ts-expect-error There is no such dtype.
parseNpy(bytes, 'int7')
