// What esbuild makes one file of: WASM inside, nothing beside it.
import { init, backend, tensor } from 'samebytes/inline'
await init()
const t = tensor([1, 2, 3, 4], [2, 2]).T
console.log(backend(), JSON.stringify(t.toArray()))
