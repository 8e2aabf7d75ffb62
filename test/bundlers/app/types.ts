// A page's program in TypeScript, without Node's types.
import { init, tensor, share, fromShared, type Token } from 'samebytes'
import { linalg, softmax, sum } from 'samebytes/math'
import * as inline from 'samebytes/inline'
import { softmax as inlineSoftmax } from 'samebytes/inline/math'

await init({ wasm: new URL('https://example.com/samebytes.wasm'), shared: 'auto', math: true, algorithms: false })
const t = tensor([1, 2], 'float32')
const token: Token = share(t)
await inline.init({ from: token, math: true })
export const data: Float32Array = t.data
export const shape: readonly number[] = fromShared(token).shape
export const make: typeof tensor = inline.tensor
export const total: number = sum(t).item()
export const crossed: readonly number[] = linalg.cross(t, t).shape
export const later: Promise<typeof t> = linalg.crossAsync(t, t)
export const probabilities: typeof softmax = inlineSoftmax
