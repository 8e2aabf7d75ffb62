// samebytes/module and onnxruntime's tensors. Compiled only.
import { fromOrt, tensor, toOrt, zeros, type Tensor } from 'samebytes'
import { Module, type ModelValue, type RunOptions, type ValueInfo } from 'samebytes/module'
import { is } from './equal.mjs'

class OrtTensor {
  constructor (readonly type: string, readonly data: unknown, readonly dims: readonly number[]) {}
  readonly location = 'cpu'
}

const t = zeros([2, 3])
toOrt(t, { Tensor: OrtTensor })
is<Tensor>()(fromOrt(new OrtTensor('float32', new Float32Array(6), [2, 3])))
// @ts-expect-error There is no Tensor in it.
toOrt(t, {})
// @ts-expect-error No tensor.
fromOrt(new Float32Array(2))

const module = await Module.load('model.onnx', { executionProviders: ['cpu'], ort: {} })
await Module.load({ encode: new Uint8Array(4), decode: new URL('file:///model.onnx'), third: tensor([1], 'uint8') })
const names: string[] = module.methodNames
const [first]: ValueInfo[] = module.inputs
const shape: (number | string | null)[] | null | undefined = first?.shape
const list: ModelValue[] = [t, 1, 2n, true, 'text', [1, 2], [[1], [2]], new Float32Array(3)]
const options: RunOptions = { method: 'encode', outputs: { y: t }, signal: new AbortController().signal }
await module.run(list, options)
await module.run({ a: t, b: undefined }, { outputs: [t, null], method: undefined })
await module.forward(t, 1)
await module.execute('encode', { a: t })
module.setInput(0, 1, 'encode')
module.setOutput('y', null)
const disposed: Promise<void> = module.dispose()
await module[Symbol.asyncDispose]()
{
  await using other = await Module.load('model.onnx')
  is<Module>()(other)
}

// @ts-expect-error An output is a tensor.
module.setOutput('y', new Float32Array(2))
// @ts-expect-error A symbol is no value.
module.setInput(0, Symbol('x'))
// @ts-expect-error The constructor is nobody's.
void new Module()

export { names, shape, disposed }
