'use strict'
// The JavaScript of docs/gpu.md, which other machines cannot run.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { ROOT } = require('../setup')
const { blocksOf, missing, programs } = require('../docs/blocks')
const { runScript } = require('../docs/run-blocks')

describe('docs/gpu.md', function () {
  let folder

  before(() => {
    folder = fs.mkdtempSync(path.join(ROOT, 'build', 'docs-'))
  }) // in the package, so that it finds itself
  after(() => {
    fs.rmSync(folder, { recursive: true, force: true })
  })

  for (const { line, source, printed } of programs(
    blocksOf('docs/gpu.md').filter((block) => block.language === 'js'),
  )) {
    it(`the block of line ${line} runs, and prints what it says`, async () => {
      const { code, stdout, output } = await runScript(source, `gpu-${line}`, folder)
      assert.equal(code, 0, output)
      assert.equal(missing(printed, stdout), null, `this was not printed; what was:\n${stdout}`)
    })
  }
})
