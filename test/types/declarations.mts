// What a program's own declarations name (`declaration: true`): each type can be inferred from what it exports. Compiled only.
import * as samebytes from 'samebytes'
import { concat, cuda, fromBlob, openSafetensors, openNpy, parseGguf, share, SharedRing, SharedTensor, tidy, zeros, type Frame, type Tensor } from 'samebytes'
import { memoryMap, serveMap } from 'samebytes/inspect'
import * as math from 'samebytes/math'
import { Module } from 'samebytes/module'

type Int8 = Tensor<'int8'>

export const nested = () => zeros([2]).toArray()
export const matrix = (t: Int8) => t.toArray<2>()
export const rows = (t: Tensor) => [...t.rows()]
export const part = (t: Tensor<'complex64'>) => t.at(0)
export const half = (t: Tensor<'float16'>) => t.data
export const blob = (t: Int8) => t.toBlob()
export const accessor = (t: Int8) => t.accessor()
export const viewed = (t: Int8) => t.view({ dtype: 'uint8' })
export const cast = (t: Int8) => t.to('float32')
export const later = async (t: Int8) => await t.toAsync('float32')
export const joined = (t: Int8, other: Tensor<'uint8'>) => concat([t, other])
export const kept = () => tidy(() => zeros([2], 'uint16'))
export const capsule = (t: Int8) => t.__dlpack__()
export const cudaArray = (t: Int8) => t.__cudaArrayInterface__

export const token = (t: Int8) => share(t)
export const segment = () => SharedTensor.create('x', [2])
export const ring = () => SharedRing.create('x', [2], { dtype: 'uint8', slots: 3 })
export const frame = (f: Frame<'uint8'>) => f
export const descriptor = () => cuda.share(zeros([2]))

export const file = () => openSafetensors('x')
export const tensors = () => [...openSafetensors('x')]
export const mapped = () => openNpy('x', { dtype: 'float32' })
export const parsed = () => parseGguf(new Uint8Array(3))
export const loaded = () => samebytes.load('x.npy')

export const model = () => Module.load('x')
export const inputs = async () => (await Module.load('x')).inputs
export const results = async (m: Module<{ outputs: { y: Int8 } }>) => await m.forward({})

export const map = () => memoryMap()
export const server = () => serveMap()
export const counters = () => samebytes.memory()
export const linear = () => samebytes.wasmMemory()
export const device = () => cuda.properties(0)
export const stream = () => new cuda.Stream()
export const everything = { ...samebytes, cuda, fromBlob }

type Floating = 'float32' | 'float64'

export const scored = <D extends Floating>(x: Tensor<D>) => math.divide(math.subtract(x, math.mean(x, { axis: 0 })), math.std(x, { axis: 0 }))
export const summed = <D extends samebytes.DtypeName>(x: Tensor<D>) => math.sum(x)
export const length = <D extends samebytes.DtypeName>(x: Tensor<D>) => math.abs(x)
export const chosen = <V extends number | bigint>(x: V) => math.where(zeros([2], 'bool'), x, x)
export const spectrum = <D extends Floating>(x: Tensor<D>) => math.rfft(x)
export const counted = (x: Int8) => math.bincount(x)

export class Slot {
  input = zeros([2])
  readonly token = share(this.input)
  values = this.input.toArray()
}
