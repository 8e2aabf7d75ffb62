import { fromBlob, memory } from 'samebytes'

const samples = new Float32Array([1, 2, 3, 4, 5, 6]) // bytes that you already have
const matrix = fromBlob(samples, [2, 3]) // a tensor over them: nothing is copied

matrix.T.set(60, 2, 1) // the transpose is a view of the same bytes
console.log(samples[5]) // 60
console.log(matrix) // prints like PyTorch

const left = matrix.slice('...', ':2') // the first two columns, also a view
left.fill(0)
console.log(samples) // Float32Array(6) [ 0, 0, 3, 0, 0, 60 ]

const own = matrix.clone() // a copy, because you asked for one:
own.fill(7) // matrix and samples stay as they are,
console.log(memory().copied) // and samebytes has counted it
