// What wasmMemory() gives goes to WebAssembly.instantiate as it is.
import { wasmMemory } from 'samebytes'

const memory: WebAssembly.Memory | undefined = wasmMemory()
export const instance = (bytes: ArrayBuffer) => memory && WebAssembly.instantiate(bytes, { env: { memory } })

// @ts-expect-error On native there is none.
export const size: number = wasmMemory().buffer.byteLength
