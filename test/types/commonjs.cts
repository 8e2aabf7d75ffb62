// The same declarations through require. Compiled only.
import samebytes = require('samebytes')
import native = require('samebytes/native')

const { zeros, tensor, fromBlob } = samebytes
const t: samebytes.Tensor<'int8'> = zeros([2], 'int8')
const data: Int8Array = t.data
const n: number = t.item()
const big: bigint = tensor([1n]).item()
const f64: samebytes.Tensor<'float64'> = fromBlob(new Float64Array(4), [2, 2]).T
const options: samebytes.MakeOptions<'uint8'> = { dtype: 'uint8', order: 'F' }
const u8: samebytes.Tensor<'uint8'> = zeros([2], options)
const name: samebytes.DtypeName = u8.dtype

// @ts-expect-error A bigint is no number.
const wrong: number = tensor([1n]).item()
// @ts-expect-error There is no such dtype.
zeros([2], { dtype: 'float33' })
// @ts-expect-error The constructor is nobody's.
void new samebytes.Tensor()

const include: string = native.include
const library: string | null = native.library
const { exported }: samebytes.Memory = samebytes.memory()

export = { t, data, n, big, f64, name, wrong, include, library, exported }
