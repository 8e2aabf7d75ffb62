// A service that classifies pictures: sharp decodes what came, one pass normalises it into what the model reads, and the five likeliest
// labels go back. Each of two slots has tensors that are made once; requests wait for one of them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import sharp from 'sharp'
import { fromBlob, memory, zeros, type Tensor } from 'samebytes'
import { softmax, topK } from 'samebytes/math'
import { Module } from 'samebytes/module'

const SIDE = 32
const LABELS = ['apple', 'bear', 'chair', 'dolphin', 'elm', 'fox', 'girl', 'house', 'iris', 'jar']
const MEAN = [0.485, 0.456, 0.406]
const DEVIATION = [0.229, 0.224, 0.225]
const SCALE = DEVIATION.map(d => 1 / (255 * d))
const BIAS = MEAN.map((m, i) => -m / DEVIATION[i]!)

interface Label { label: string, probability: number }

interface Slot {
  input: Tensor<'float32'>
  rows: Tensor<'float32'> // the input's bytes as rows of pixels
  logits: Tensor<'float32'>
}

interface Model {
  inputs: { images: Tensor<'float32'> }
  outputs: { logits: Tensor<'float32'> }
}

class Classifier {
  readonly #model: Module<Model>
  readonly #free: Slot[]
  readonly #waiting: ((slot: Slot) => void)[] = []

  constructor (model: Module<Model>, slots: number) {
    this.#model = model
    this.#free = Array.from({ length: slots }, () => {
      const input = zeros([1, 3, SIDE, SIDE])
      return { input, rows: input.permute(0, 2, 3, 1), logits: zeros([1, LABELS.length]) }
    })
  }

  async classify (picture: Buffer): Promise<Label[]> {
    const { data, info } = await sharp(picture).removeAlpha().resize(SIDE, SIDE, { fit: 'fill' }).raw().toBuffer({ resolveWithObject: true })
    const slot = await this.#take()
    try {
      slot.rows.copyFrom(fromBlob(data, [info.height, info.width, info.channels]), { scale: SCALE, bias: BIAS, axis: 3 })
      await this.#model.run({ images: slot.input }, { outputs: { logits: slot.logits } })
      return likeliest(slot.logits.select(0, 0), 5)
    } finally {
      this.#give(slot)
    }
  }

  async #take (): Promise<Slot> {
    return this.#free.pop() ?? new Promise<Slot>(resolve => this.#waiting.push(resolve))
  }

  #give (slot: Slot): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free.push(slot)
    else next(slot)
  }
}

function likeliest (logits: Tensor<'float32'>, count: number): Label[] {
  const { values, indices } = topK(softmax(logits), count)
  return indices.toArray<1>().map((i, k) => ({ label: LABELS[i]!, probability: values.get(k) }))
}

async function bodyOf (request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function answer (classifier: Classifier, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const body = JSON.stringify(await classifier.classify(await bodyOf(request)))
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(body)
  } catch (error) {
    response.writeHead(400).end(String(error))
  }
}

// ---- What the answers should be ----

interface Weights { kernels: number[], bias: number[], linear: number[] }

/** The model by loops: a convolution of stride 2, the mean of what is above 0 in each plane, a linear layer. */
function expected ({ kernels, bias, linear }: Weights, pixels: Uint8Array): Label[] {
  const at = (y: number, x: number, c: number): number =>
    y < 0 || x < 0 || y >= SIDE || x >= SIDE ? 0 : (pixels[(y * SIDE + x) * 3 + c]! / 255 - MEAN[c]!) / DEVIATION[c]!
  const means = bias.map((b, f) => {
    let sum = 0
    for (let y = 0; y < SIDE; y += 2) {
      for (let x = 0; x < SIDE; x += 2) {
        let value = b
        for (let c = 0; c < 3; c++) {
          for (let k = 0; k < 9; k++) value += kernels[(f * 3 + c) * 9 + k]! * at(y + Math.floor(k / 3) - 1, x + k % 3 - 1, c)
        }
        sum += Math.max(value, 0)
      }
    }
    return sum / (SIDE / 2) ** 2
  })
  const logits = LABELS.map((_, i) => means.reduce((sum, mean, f) => sum + mean * linear[f * LABELS.length + i]!, 0))
  const powers = logits.map(x => Math.exp(x - Math.max(...logits)))
  const sum = powers.reduce((a, b) => a + b, 0)
  return powers.map((power, i) => ({ label: LABELS[i]!, probability: power / sum }))
    .sort((a, b) => b.probability - a.probability)
    .slice(0, 5)
}

/** A picture that is already as large as the model wants it, so that nothing depends on how sharp resizes. */
function picture (seed: number): Uint8Array {
  return Uint8Array.from({ length: SIDE * SIDE * 3 }, (_, i) => (i * (seed + 3) + (i >> 4) * seed * 11) % 256)
}

const weights: Weights = JSON.parse(readFileSync('classifier.json', 'utf8'))
const model = await Module.load<Model>('classifier.onnx')
const classifier = new Classifier(model, 2)
const server = createServer((request, response) => { void answer(classifier, request, response) }).listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
assert.ok(address !== null && typeof address === 'object')
const url = `http://127.0.0.1:${address.port}/`

const before = memory()
await Promise.all(Array.from({ length: 12 }, async (_, seed) => {
  const pixels = picture(seed)
  const png = await sharp(pixels, { raw: { width: SIDE, height: SIDE, channels: 3 } }).png().toBuffer()
  const response = await fetch(url, { method: 'POST', body: png })
  const text = await response.text()
  assert.equal(response.status, 200, text)
  const labels: Label[] = JSON.parse(text)
  const wanted = expected(weights, pixels)
  assert.deepEqual(labels.map(l => l.label), wanted.map(l => l.label))
  labels.forEach((l, i) => assert.ok(Math.abs(l.probability - wanted[i]!.probability) < 1e-5, `${seed}: ${l.label} ${l.probability}`))
}))
const refused = await fetch(url, { method: 'POST', body: 'no picture' })
assert.equal(refused.status, 400)
const { copied } = memory()
assert.equal(copied['copyFrom']?.count, 12)
assert.deepEqual(Object.keys(copied), ['copyFrom'])
assert.deepEqual(before.copied, {})
server.close()
await model.dispose()
