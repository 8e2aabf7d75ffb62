'use strict'
// Module over onnxruntime-node's JavaScript, where the C library could run the same: strings, other providers and other systems need it.
const { nativeOnly } = require('../setup')

describe("samebytes/module over onnxruntime-node's binding", function () {
  nativeOnly()
  let told
  before(function () {
    told = process.env.SAMEBYTES_ONNXRUNTIME
    process.env.SAMEBYTES_ONNXRUNTIME = 'binding'
  })
  after(() => {
    if (told === undefined) delete process.env.SAMEBYTES_ONNXRUNTIME
    else process.env.SAMEBYTES_ONNXRUNTIME = told
  })
  for (const file of ['../api/module.test.js', '../api/module-node.test.js']) {
    delete require.cache[require.resolve(file)]
    require(file)
  }
})
