'use strict'
// A service that classifies pictures.
//
//   node examples/classifier-service/index.js [--port 8080] [--model model.onnx --labels labels.txt]
//
//   curl --data-binary @picture.jpg http://localhost:8080/classify

const fs = require('node:fs')
const { parseArgs } = require('node:util')
const { classifier } = require('./classifier')
const { model, labels } = require('./model')
const { serve } = require('./service')

async function main() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8080' },
      model: { type: 'string' },
      labels: { type: 'string' },
    },
  })
  if ((values.model === undefined) !== (values.labels === undefined)) {
    throw new Error('--model and --labels come together')
  }
  const names =
    values.labels === undefined ? labels : fs.readFileSync(values.labels, 'utf8').trim().split('\n')
  const service = await serve(await classifier(values.model ?? model(), names), Number(values.port))
  console.log(
    `  ${service.url}/classify takes pictures: curl --data-binary @picture.jpg ${service.url}/classify`,
  )
  console.log(`  ${service.url}/stats says what it costs; Ctrl+C ends it`)
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => service.close().then(() => process.exit(0)))
  }
}

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 1
})
