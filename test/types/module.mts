// samebytes/module and onnxruntime's tensors. Compiled only.
import { fromOrt, openSafetensors, tensor, toOrt, unshare, zeros, type Tensor } from 'samebytes'
import { Module, type ModelValue, type RunOptions, type ValueInfo } from 'samebytes/module'
import { is, type Owned } from './equal.mjs'

class OrtTensor {
  constructor (readonly type: string, readonly data: unknown, readonly dims: readonly number[]) {}
  readonly location = 'cpu'
}

const t = zeros([2, 3])
is<OrtTensor>()(toOrt(t, { Tensor: OrtTensor }))
is<Tensor>()(fromOrt(new OrtTensor('float32', new Float32Array(6), [2, 3])))
is<Tensor<'int64'>>()(fromOrt({ type: 'int64', dims: [1], data: new BigInt64Array(1), location: 'cpu' }))
// @ts-expect-error There is no Tensor in it.
toOrt(t, {})
// @ts-expect-error No tensor.
fromOrt(new Float32Array(2))

const module = await Module.load('model.onnx', { executionProviders: ['cpu'], ort: {} })
await Module.load({ encode: new Uint8Array(4), decode: new URL('file:///model.onnx'), third: tensor([1], 'uint8') })
const names: string[] = module.methodNames
const { name, version, reason }: { name: 'library' | 'binding', version: string | null, reason: string } = module.runtime
await Module.load('model.onnx', { runtime: 'library', thread: 'never', concurrency: 2, weights: openSafetensors('w.safetensors'), prepack: 'shared' })
// @ts-expect-error None of its words.
await Module.load('model.onnx', { runtime: 'cpu' })
await module.run([], { inPlace: true })
const [first]: ValueInfo[] = module.inputs
const shape: (number | string | null)[] | null | undefined = first?.shape
const list: ModelValue[] = [t, 1, 2n, true, 'text', [1, 2], [[1], [2]], new Float32Array(3)]
const options: RunOptions = { method: 'encode', outputs: { y: t }, signal: new AbortController().signal }
is<Tensor>()((await module.run(list, options))[0])
is<Record<string, Tensor>>()(await module.run({ a: t, b: undefined }, { outputs: [t, null], method: undefined }))
const [y]: Tensor[] = await module.forward(t, 1)
is<[Tensor, ...Tensor[]]>()(await module.forward(t, 1))
is<Record<string, Tensor>>()(await module.execute('encode', { a: t }))
is<Tensor>()(module.getOutput())
is<Tensor>()(module.getOutput('y'))

// What is known of a model by name.
interface Classifier {
  inputs: { image: Tensor<'uint8'>, data: Tensor<'float32'> }
  outputs: { logits: Tensor<'float32'>, label: string[] }
}
const classifier = await Module.load<Classifier>('model.onnx')
const image = zeros([2], 'uint8')
const token = classifier.share({ uses: 2 })
is<Module<Classifier>>()(Module.fromShared(token))
unshare(token)
const { logits, label } = await classifier.forward({ image, data: [1, 2] })
is<Tensor<'float32'>>()(logits)
is<string[]>()(label)
is<Owned<Float32Array>>()((await classifier.run({ image, data: new Float32Array(2) }, { outputs: ['logits'] })).logits.data)
is<Tensor<'float32'> | string[]>()((await classifier.forward(image, t))[0]) // with `data` as an input's name as well
is<string[]>()(classifier.getOutput('label'))
is<Tensor<'float32'> | string[]>()(classifier.getOutput(1))
const encoded = await classifier.execute<{ outputs: { code: Tensor<'int8'> } }>('encode', { x: 1 })
is<Tensor<'int8'>>()(encoded.code)
const some = await classifier.run({ image }, { outputs: ['logits'] })
is<Tensor<'float32'>>()(some.logits)
// @ts-expect-error It was not asked for.
void some.label
is<string[]>()((await classifier.run({ image }, { outputs: { logits: tensor([1, 2]) } })).label)
is<string[]>()((await classifier.run({ image }, { outputs: [tensor([1, 2]), null] })).label)
is<Tensor>()((await module.run({ a: t }, { outputs: ['z'] })).z)
const wanted: string[] = ['z']
is<Tensor | undefined>()((await module.run({ a: t }, { outputs: wanted }))['z'])
const chosen: RunOptions<Classifier> = { outputs: ['label'], method: 'forward' }
await classifier.run({ image }, chosen)
// @ts-expect-error There is no such output.
await classifier.run({ image }, { outputs: ['scores'] })
// @ts-expect-error It is of another dtype.
await classifier.run({ image }, { outputs: { logits: image } })
// @ts-expect-error There is no such output.
await classifier.run({ image }, { outputs: { scores: t } })
classifier.setInput('image', image)
classifier.setInput('data', [1, 2])
classifier.setInput('data', null)
classifier.setInput(0, image)
classifier.setInput('x', image, 'encode')
// @ts-expect-error There is no such input.
classifier.setInput('picture', image)
// @ts-expect-error It is of another dtype.
classifier.setInput('image', t)
classifier.setOutput('logits', t)
classifier.setOutput('logits', null)
classifier.setOutput(0, t)
classifier.setOutput('code', image, 'encode')
// @ts-expect-error There is no such output.
classifier.setOutput('scores', t)
// @ts-expect-error It is of another dtype.
classifier.setOutput('logits', image)
// @ts-expect-error There is no such input.
await classifier.forward({ picture: image })
// @ts-expect-error It is of another dtype.
await classifier.forward({ image: t })
// @ts-expect-error There is no such output.
void (await classifier.forward({ image })).scores
module.setInput(0, 1, 'encode')
module.setOutput('y', null)
const disposed: Promise<void> = module.dispose()
await module[Symbol.asyncDispose]()
{
  await using other = await Module.load('model.onnx')
  is<Module>()(other)
  const same: Module = await Module.load<{ inputs: { x: Tensor<'int8'> }, outputs: { y: Tensor<'int8'> } }>('model.onnx')
  is<Module>()(same)
}

// @ts-expect-error An output is a tensor.
module.setOutput('y', new Float32Array(2))
// @ts-expect-error A symbol is no value.
module.setInput(0, Symbol('x'))
// @ts-expect-error The constructor is nobody's.
void new Module()

export { names, name, version, reason, shape, disposed, y }
