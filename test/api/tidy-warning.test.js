'use strict'
const assert = require('node:assert/strict')
const { backend } = require('samebytes')
const { childJson, needs } = require('../setup')

describe('a loop that makes tensors and never waits', function () {
  needs('a Node of its own')

  const warned = async (round) =>
    await childJson(
      `
    const { tidy, zeros } = require('samebytes')
    const told = []
    process.on('warning', ({ name, message }) => told.push(name + ': ' + message))
    const kept = []
    ${round}
    setTimeout(() => console.log(JSON.stringify(told)), 1)`,
      { flags: ['--no-warnings'] },
    )

  it('is told of tidy once, where they come to 256 MiB', async () => {
    const told = await warned('for (let i = 0; i < 600; i++) zeros([2 ** 18])')
    if (backend() === 'native') return assert.deepEqual(told, []) // V8 frees buffers in the middle of a turn
    assert.equal(told.length, 1)
    assert.match(
      told[0],
      /^SamebytesWarning: tensors grew by \d+ MiB within one turn of the event loop, .*tidy\(/,
    )
  })

  it('is not told where they are given back, are few, or turns are between', async () => {
    assert.deepEqual(
      await warned('for (let i = 0; i < 600; i++) tidy(() => { zeros([2 ** 18]) })'),
      [],
    )
    assert.deepEqual(await warned('for (let i = 0; i < 600; i++) zeros([2 ** 18]).dispose()'), [])
    assert.deepEqual(await warned('for (let i = 0; i < 8; i++) kept.push(zeros([2 ** 24]))'), [])
    assert.deepEqual(
      await warned(
        'const next = i => { zeros([2 ** 18]); if (i < 600) setImmediate(next, i + 1) }; next(0)',
      ),
      [],
    )
  })
})
