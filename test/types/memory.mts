// What wasmMemory() gives goes to WebAssembly.instantiate as it is.
import { wasmMemory } from 'samebytes'

const memory: WebAssembly.Memory = wasmMemory()
export const instance = (bytes: ArrayBuffer) => WebAssembly.instantiate(bytes, { env: { memory: wasmMemory() } })
export const size: number = memory.buffer.byteLength

// @ts-expect-error It is a memory, no buffer.
export const buffer: ArrayBuffer = wasmMemory()
