// CommonJS in a bundle for browsers. The names are taken before init, as programs do.
const { init, tensor, Tensor, Scope, dtypes } = require('samebytes')

async function main () {
  const codes = [() => tensor([1]), () => new Scope(), () => dtypes.length, () => Tensor.isTensor(1)].map(codeOf)
  await init()
  const t = tensor([1, 2])
  const is = [t instanceof Tensor, Tensor.isTensor(t), new Scope() instanceof Scope, dtypes.includes('bfloat16')]
  return { codes, is, values: t.toArray() }
}

function codeOf (use) {
  try {
    return use()
  } catch ({ code }) {
    return code
  }
}

window.result = main()
