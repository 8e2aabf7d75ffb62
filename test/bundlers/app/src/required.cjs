// CommonJS in a bundle for browsers. The names are taken before init, as programs do.
const { init, tensor, Tensor, Scope, dtypes } = require('samebytes')
const {
  linalg: { cross },
  sum,
} = require('samebytes/math')
const { memoryMap } = require('samebytes/inspect')

async function main() {
  const codes = [
    () => tensor([1]),
    () => new Scope(),
    () => dtypes.length,
    () => Tensor.isTensor(1),
    () => sum([1]),
    () => cross([1], [1]),
  ].map(codeOf)
  await init({ math: true })
  const t = tensor([1, 2])
  const is = [
    t instanceof Tensor,
    Tensor.isTensor(t),
    new Scope() instanceof Scope,
    dtypes.includes('bfloat16'),
  ]
  return {
    codes,
    is,
    values: t.toArray(),
    sum: sum(t).item(),
    crossed: cross(tensor([1, 0, 0]), tensor([0, 1, 0])).toArray(),
    map: typeof memoryMap(),
  }
}

function codeOf(use) {
  try {
    return use()
  } catch ({ code }) {
    return code
  }
}

window.result = main()
