// What esbuild leaves the package out of.
import { backend, tensor } from 'samebytes'
console.log(backend(), JSON.stringify(tensor([1, 2, 3, 4], [2, 2]).T.toArray()))
