'use strict'
// Generates tokens with a model whose cache is in a mapped file. Each run writes one token's keys and values where the others' are, and copies nothing; a
// program that is started again goes on where the last one was.
//
//   node examples/generation/index.js [FILE] [TOKENS]
//
// FILE is made if it is not there; without one it is in the temporary folder.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { createSafetensors, memory, openSafetensors, zeros } = require('samebytes')
const { Module } = require('samebytes/module')
const { argmax } = require('samebytes/math')
const { NAMES, ROOM, SHAPE, WORDS, makeModel } = require('./model')

async function main(file, count) {
  if (!fs.existsSync(file)) {
    const specs = Object.fromEntries(
      NAMES.map((name) => [name, { dtype: 'float32', shape: SHAPE }]),
    )
    createSafetensors(file, { ...specs, said: { dtype: 'int32', shape: [ROOM + 1] } }).dispose()
  }
  const opened = openSafetensors(file, { mode: 'r+' })
  const said = opened.get('said') // how many tokens there are, and which
  const past = {}
  const present = {}
  for (const name of NAMES) past[`past_${name}`] = present[`present_${name}`] = opened.get(name)

  const module = await Module.load(makeModel())
  const scores = zeros([1, 1, WORDS], { shared: true })
  const [token, last] = [
    zeros([1, 1], { dtype: 'int64', shared: true }),
    zeros([1], { dtype: 'int32', shared: true }),
  ]
  const total = zeros([], { dtype: 'int32', shared: true })
  const options = { outputs: { scores, ...present }, inPlace: true }

  const from = said.get(0)
  for (let at = from; at < Math.min(from + count, ROOM); at++) {
    token.set(BigInt(at === 0 ? 1 : said.get(at)), 0, 0)
    last.set(at, 0)
    total.set(at + 1)
    await module.run({ token, last, total, ...past }, options)
    said.set(argmax(scores).item(), at + 1)
    said.set(at + 1, 0)
  }
  const tokens = Array.from({ length: said.get(0) }, (_, i) => said.get(i + 1))
  console.log(`tokens ${tokens.join(' ')}`)
  console.log(`copied ${memory().copied.run?.bytes ?? 0} bytes`)
  await module.dispose()
  opened.dispose()
}

const [file = path.join(os.tmpdir(), 'samebytes-cache.safetensors'), count = '8'] =
  process.argv.slice(2)
main(file, Number(count))
