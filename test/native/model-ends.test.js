'use strict'
// How processes and workers end while models load and run by onnxruntime's C library. test/model-ends has the programs, and runs them many times.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { needs } = require('../setup')
const { launch } = require('../model-ends/launch')
const { CASES } = require('../model-ends/cases')

describe('programs that end while models load and run', function () {
  needs("onnxruntime's library")
  let folder
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-model-ends-'))
  })
  after(() => {
    if (folder !== undefined) fs.rmSync(folder, { recursive: true })
  })

  for (const name of Object.keys(CASES)) {
    it(name, async () => {
      for (const seed of [0, 1]) assert.equal(await launch(name, seed, folder), '', `seed ${seed}`)
    })
  }
})
