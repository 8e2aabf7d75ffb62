'use strict'
const assert = require('node:assert/strict')
const { cuda } = require('samebytes')
const { skipWithout } = require('../setup')
const { cli } = require('../cli/cli')

describe('samebytes doctor and CUDA', function () {
  it('names the devices', async () => {
    const { code, stdout, stderr } = await cli(['doctor', '--json'])
    const { findings } = JSON.parse(stdout)
    assert.equal(code, findings.some(({ state }) => state === 'broken') ? 1 : 0, stderr)
    for (let i = 0; i < cuda.deviceCount(); i++) {
      const { name, major, minor } = cuda.properties(i)
      const { state, text } = findings.find(({ about }) => about === `cuda:${i}`)
      assert.equal(state, 'ok')
      assert.ok(text.startsWith(`${name}, ${major}.${minor}, `), text)
    }
    assert.equal(
      findings.filter(({ about }) => about.startsWith('cuda:')).length,
      cuda.deviceCount(),
    )
  })

  it('says why there is none', async function () {
    skipWithout(this, 'the WebAssembly build')
    const { code, stdout } = await cli(['doctor', '--json'], {
      env: { SAMEBYTES_LIBCUDA: '/no such driver' },
    })
    const { state, text, advice } = JSON.parse(stdout).findings.find(
      ({ about }) => about === 'CUDA',
    )
    assert.deepEqual([code, state], [0, 'missing'])
    assert.match(text, /no such driver/)
    assert.match(advice, /NVIDIA/)
  })
})
