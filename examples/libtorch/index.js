'use strict'
// LibTorch and JavaScript on the same bytes: a blob is assigned to an output by a copy, then part of it through a view,
// then without any copy; and a layer writes into an output that was made beforehand.
const samebytes = require('samebytes')
const torch = require('./build/Release/blobs.node')

const { memory, ones, sharesMemory, tensor, zeros } = samebytes
torch.open(samebytes)

const blob = torch.blob(6).reshape(2, 3) // a std::vector's bytes, which LibTorch had by from_blob
const output = zeros([2, 3])
torch.assign(output, blob)
console.log(`copied by LibTorch: ${output}`)

const wide = zeros([2, 6])
torch.assign(wide.slice('...', '::2'), blob)
console.log(`every other column: ${wide}`)

blob.set(60, 0, 0)
console.log(
  `without a copy: ${torch.transposed(blob)}, the same bytes: ${sharesMemory(torch.transposed(blob), blob)}`,
)

const weight = tensor([
  [1, 0, 0],
  [0, -1, 0],
])
const result = zeros([2, 2])
const address = result.dataPtr
torch.layer(output, weight, ones([2]), result)
console.log(`relu(x · wᵀ + 1): ${result}, in place: ${result.dataPtr === address}`)
console.log(`copied by samebytes: ${JSON.stringify(memory().copied)}`)
